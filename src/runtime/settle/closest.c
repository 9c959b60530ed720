/*
 * The closest point of a form's triangles, four triangles at a time.
 *
 * With a, b, c relative to the point asked about, n = ab x ac and n' = n / |ab|^2, the foot of the perpendicular has
 * the coordinates
 *
 *     u = -ac . (n' x a) / (n . n'),    v = ab . (n' x a) / (n . n')
 *
 * and counts where u, v, 1 - u - v >= 0; on an edge p + t e the closest point is t = clamp(-p.e / e.e, 0, 1). Of these
 * four points of the triangle the nearest is taken, by distances measured from the points themselves: so slivers and
 * triangles without area, where u and v mean little, answer with an edge that is as near. Dividing n by |ab|^2 keeps
 * all products within squares of lengths, so triangles of any size from 1e-18 to 1e18 do.
 *
 * The point is then moved into the box of its own three corners. Rounding is monotonic, so its distance, computed in
 * the same steps as the distance of a box, is never below that of any box around the triangle, to the last bit: no box
 * is left out that the answer needs, and the answer does not depend on the tree.
 */
#include "runtime/base/result.h"
#include "runtime/settle/tree.h"

typedef struct vector {
    exi_quad x, y, z;
} vector;

static inline vector subtract(vector a, vector b) {
    return (vector){exi_quad_sub(a.x, b.x), exi_quad_sub(a.y, b.y), exi_quad_sub(a.z, b.z)};
}

static inline exi_quad dot(vector a, vector b) {
    return exi_quad_madd(a.z, b.z, exi_quad_madd(a.y, b.y, exi_quad_mul(a.x, b.x)));
}

static inline vector cross(vector a, vector b) {
    return (vector){exi_quad_msub(a.z, b.y, exi_quad_mul(a.y, b.z)), exi_quad_msub(a.x, b.z, exi_quad_mul(a.z, b.x)),
                    exi_quad_msub(a.y, b.x, exi_quad_mul(a.x, b.y))};
}

static inline vector scale(vector a, exi_quad s) {
    return (vector){exi_quad_mul(a.x, s), exi_quad_mul(a.y, s), exi_quad_mul(a.z, s)};
}

/* p + t e */
static inline vector along(vector p, exi_quad t, vector e) {
    return (vector){exi_quad_madd(t, e.x, p.x), exi_quad_madd(t, e.y, p.y), exi_quad_madd(t, e.z, p.z)};
}

/* x, y, z from three rows. */
static inline vector load(const float (*rows)[4]) {
    return (vector){exi_quad_load(rows[0]), exi_quad_load(rows[1]), exi_quad_load(rows[2])};
}

/* 1 / a; no more than 1e37 where a is 0. */
static inline exi_quad invert(exi_quad a) {
    return exi_quad_div(exi_quad_splat(1), exi_quad_max(a, exi_quad_splat(1e-37f)));
}

static inline exi_quad clamp(exi_quad a, exi_quad low, exi_quad high) {
    return exi_quad_min(exi_quad_max(a, low), high);
}

/* x where a > b, else y. */
static inline vector choose(exi_quad a, exi_quad b, vector x, vector y) {
    return (vector){exi_quad_pick(a, b, x.x, y.x), exi_quad_pick(a, b, x.y, y.y), exi_quad_pick(a, b, x.z, y.z)};
}

static inline exi_quad into(exi_quad r, exi_quad a, exi_quad b, exi_quad c) {
    return clamp(r, exi_quad_min(exi_quad_min(a, b), c), exi_quad_max(exi_quad_max(a, b), c));
}

/* Four triangles: coordinates, the closest point relative to the point asked about, its squared distance. */
typedef struct answer {
    exi_quad u, v, distance_sq;
    vector point;
} answer;

static inline answer closest_four(const exi_fit_block *block, vector q) {
    const exi_quad zero = exi_quad_splat(0), one = exi_quad_splat(1);
    const vector pa = load(block->corner[0]), pb = load(block->corner[1]), pc = load(block->corner[2]);
    const vector ab = subtract(pb, pa), ac = subtract(pc, pa), bc = subtract(pc, pb);
    const vector a = subtract(pa, q), b = subtract(pb, q), c = subtract(pc, q);
    const exi_quad ab_inverse = invert(dot(ab, ab));

    /* The three edges. */
    const exi_quad s = clamp(exi_quad_msub(dot(a, ab), ab_inverse, zero), zero, one);
    const exi_quad t = clamp(exi_quad_msub(dot(a, ac), invert(dot(ac, ac)), zero), zero, one);
    const exi_quad r = clamp(exi_quad_msub(dot(b, bc), invert(dot(bc, bc)), zero), zero, one);
    const vector on_ab = along(a, s, ab), on_ac = along(a, t, ac), on_bc = along(b, r, bc);
    const exi_quad d_ab = dot(on_ab, on_ab), d_ac = dot(on_ac, on_ac), d_bc = dot(on_bc, on_bc);
    exi_quad nearest = exi_quad_min(d_ab, d_ac);
    exi_quad u = exi_quad_pick(d_ab, d_ac, zero, s), v = exi_quad_pick(d_ab, d_ac, t, zero);
    vector point = choose(d_ab, d_ac, on_ac, on_ab);
    u = exi_quad_pick(nearest, d_bc, exi_quad_sub(one, r), u);
    v = exi_quad_pick(nearest, d_bc, r, v);
    point = choose(nearest, d_bc, on_bc, point);
    nearest = exi_quad_min(nearest, d_bc);

    /* The foot of the perpendicular. */
    const vector n = cross(ab, ac), m = scale(n, ab_inverse), across = cross(m, a);
    const exi_quad inverse = invert(dot(n, m));
    const exi_quad foot_u = exi_quad_msub(dot(ac, across), inverse, zero);
    const exi_quad foot_v = exi_quad_mul(dot(ab, across), inverse);
    const exi_quad foot_w = exi_quad_sub(exi_quad_sub(one, foot_u), foot_v);
    const exi_quad inside = exi_quad_min(exi_quad_min(foot_u, foot_v), foot_w);
    const vector foot = along(along(a, foot_u, ab), foot_v, ac);
    const exi_quad d_foot = exi_quad_pick(zero, inside, exi_quad_splat(FLT_MAX), dot(foot, foot));
    u = exi_quad_pick(nearest, d_foot, foot_u, u);
    v = exi_quad_pick(nearest, d_foot, foot_v, v);
    point = choose(nearest, d_foot, foot, point);

    point = (vector){into(point.x, a.x, b.x, c.x), into(point.y, a.y, b.y, c.y), into(point.z, a.z, b.z, c.z)};
    return (answer){u, v, dot(point, point), point};
}

/* The squared distances of four boxes, in the steps of dot. */
static inline exi_quad box_distances(const exi_fit_node *node, vector q) {
    const exi_quad zero = exi_quad_splat(0);
    const vector low = subtract(load(node->box), q), high = subtract(q, load(node->box + 3));
    const vector d = {exi_quad_max(exi_quad_max(low.x, high.x), zero), exi_quad_max(exi_quad_max(low.y, high.y), zero),
                      exi_quad_max(exi_quad_max(low.z, high.z), zero)};
    return dot(d, d);
}

/* Takes over the triangles of a block that are nearer, or as near with a lower number. */
static inline void look(const exi_fit_block *block, vector q, ex_closest *best) {
    const answer found = closest_four(block, q);
    const unsigned bits = exi_quad_at_most(found.distance_sq, exi_quad_splat(best->distance_sq));
    if (!bits)
        return;
    float distances[4], numbers[5][4];
    exi_quad_store(distances, found.distance_sq);
    int lane = -1;
    for (int i = 0; i < EXI_TREE_LEAF; i++) {
        const int triangle = (int)block->triangle[i];
        if ((bits >> i & 1) &&
            (distances[i] < best->distance_sq ||
             (distances[i] == best->distance_sq && (best->triangle < 0 || triangle < best->triangle)))) {
            best->distance_sq = distances[i];
            best->triangle = triangle;
            lane = i;
        }
    }
    if (lane < 0)
        return;
    exi_quad_store(numbers[0], found.u);
    exi_quad_store(numbers[1], found.v);
    exi_quad_store(numbers[2], found.point.x);
    exi_quad_store(numbers[3], found.point.y);
    exi_quad_store(numbers[4], found.point.z);
    best->u = numbers[0][lane];
    best->v = numbers[1][lane];
    for (int c = 0; c < 3; c++)
        best->point[c] = numbers[2 + c][lane];
}

/* best->distance_sq bounds the search, and is never infinite: boxes of children that are not there are. */
static void search(const ex_fit *fit, vector q, ex_closest *best) {
    const exi_fit_node *nodes = exi_tree_at(fit, fit->nodes);
    const exi_fit_block *blocks = exi_tree_at(fit, fit->blocks);
    uint64_t stack[EXI_TREE_STACK], keys[4], key = 0;
    int height = 0;
    exi_quad limit = exi_quad_splat(best->distance_sq);
    for (;;) {
        const uint32_t child = (uint32_t)key;
        if (child & EXI_TREE_BLOCK) {
            look(&blocks[child & ~EXI_TREE_BLOCK], q, best);
            limit = exi_quad_splat(best->distance_sq);
            key = 0;
        } else {
            const exi_fit_node *node = &nodes[child];
            exi_quad_keys(box_distances(node, q), limit, node->child, keys);
            height = exi_tree_push(stack, height, keys, &key);
        }
        if (key)
            continue;
        do {
            if (height == 0)
                return;
            key = stack[--height];
        } while (exi_tree_key_near(key) > best->distance_sq);
    }
}

bool ex_fit_closest(const ex_fit *fit, const float point[3], float reach, ex_closest *closest) {
    if (!fit || !point || !closest)
        return exi_misuse(__func__, "no fit or point, or nowhere to put the answer");
    ex_closest best = {.triangle = -1, .distance_sq = reach * reach < FLT_MAX ? reach * reach : FLT_MAX};
    bool finite = reach >= 0;
    for (int c = 0; c < 3; c++)
        finite = finite && fabsf(point[c]) < EXI_TREE_LARGEST;
    if (finite) {
        search(fit, (vector){exi_quad_splat(point[0]), exi_quad_splat(point[1]), exi_quad_splat(point[2])}, &best);
        for (int c = 0; c < 3 && best.triangle >= 0; c++)
            best.point[c] += point[c];
    }
    if (best.triangle < 0)
        best = (ex_closest){.triangle = -1};
    *closest = best;
    return best.triangle >= 0;
}
