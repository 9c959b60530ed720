/*
 * Closest points of a cluster of neighbours at once. Each point first looks at one triangle that is probably near (the
 * closest one a frame ago, or in a key), which bounds how far away the answer can be; the boxes of those bounds
 * together make a region, and one way down the tree gathers the blocks that reach into it. Every point then asks the
 * boxes of these few, and looks at those that may hold something nearer. The answers are those of ex_fit_closest to the
 * bit: which blocks are looked at does not matter, as long as none is left out that holds the answer (closest.c).
 *
 * A question alone waits for its own intermediate results, and for branches that cannot be foretold. So the work goes
 * in stages over all points, four at a time, and with next to no branches: what is to be looked at becomes a queue, and
 * of what is found a point keeps the lowest key, the bits of the squared distance before the triangle's number, which
 * is the order that ex_fit_closest has too.
 *
 * Points that know nothing search on their own, and so do all where the region is too large: where neighbours are none.
 */
#include "runtime/settle/settler.h"

enum { GATHERED = 48, MARKS = 24, QUEUED = EXI_CLUSTER * GATHERED };

/* Blocks that reach into a region: their numbers, and their boxes, as offsets of floats in the nodes. */
typedef struct gathering {
    uint32_t block[GATHERED + 4], box[GATHERED + 4];
    int count;
} gathering;

typedef struct region {
    exi_quad low[3], high[3]; /* four parts of it, in the lanes */
} region;

/* A pair to be looked at. */
typedef struct pair {
    uint16_t point, block;
} pair;

typedef struct candidate {
    uint32_t triangle, point;
} candidate;

static inline exi_vector load_points(float (*points)[3], int first) {
    exi_quad v[3];
    exi_quad_load_triples(points[first], v);
    return (exi_vector){v[0], v[1], v[2]};
}

/* A key orders by distance, then by number; 0 is none, so that a distance of 0 is the least there is above. */
static inline void make_keys(exi_quad distance_sq, const uint32_t *triangles, uint64_t keys[4]) {
    exi_quad_keys(exi_quad_max(distance_sq, exi_quad_splat(FLT_MIN)), exi_quad_splat(FLT_MAX), triangles, keys);
}

/* ---- known triangles ---- */

static inline exi_vector corner_of(const exi_view *view, const uint32_t *triangles, int corner) {
    exi_quad m[4];
    EXI_WRITE_OUT
    for (int i = 0; i < 4; i++) {
        const uint32_t vertex = view->corners[3 * (size_t)triangles[i] + (size_t)corner];
        m[i] = exi_quad_load_three(view->positions + 3 * (size_t)vertex);
    }
    exi_quad_transpose(m);
    return (exi_vector){m[0], m[1], m[2]};
}

/* Four points and a triangle for each; numbers of a point stand in the rows of exi_near from first on. */
static inline void answer_four(const exi_view *view, exi_vector q, const uint32_t *triangles, int first, exi_near *near,
                               uint64_t *keys) {
    const exi_answer a =
        exi_closest_of(corner_of(view, triangles, 0), corner_of(view, triangles, 1), corner_of(view, triangles, 2), q);
    exi_quad_store(near->distance_sq + first, a.distance_sq);
    exi_quad_store(near->u + first, a.u);
    exi_quad_store(near->v + first, a.v);
    exi_quad_store(near->away[0] + first, a.point.x);
    exi_quad_store(near->away[1] + first, a.point.y);
    exi_quad_store(near->away[2] + first, a.point.z);
    exi_quad_store(near->along + first, a.along);
    make_keys(a.distance_sq, triangles, keys);
}

/* The key of the closest triangle of all; that of one is known, or 0. */
static uint64_t search(const exi_view *view, const float point[3], uint64_t known) {
    ex_closest best = {.triangle = -1, .distance_sq = FLT_MAX};
    if (known) {
        best.triangle = (int)(uint32_t)known;
        best.distance_sq = exi_tree_key_near(known);
    }
    uint32_t block;
    uint64_t keys[4];
    exi_fit_search(view->fit, point, &best, &block);
    if (best.triangle < 0)
        return 0;
    const uint32_t found = (uint32_t)best.triangle, triangles[4] = {found, found, found, found};
    make_keys(exi_quad_splat(best.distance_sq), triangles, keys);
    return keys[0];
}

/* What the triangles are that points know, with keys; those that know none, or one that is not finite, search. */
static void look_first(const exi_view *view, float (*points)[3], int count, exi_near *near, uint64_t *keys) {
    for (int first = 0; first < count; first += 4) {
        uint32_t triangles[4];
        bool known = true;
        for (int i = 0; i < 4; i++) {
            const uint32_t t = near->triangle[first + i];
            known = known && t < view->triangle_count;
            triangles[i] = t < view->triangle_count ? t : 0;
        }
        answer_four(view, load_points(points, first), triangles, first, near, keys + first);
        for (int i = first; i < first + 4; i++)
            known = known && keys[i];
        for (int i = first; !known && i < first + 4; i++) {
            if (near->triangle[i] < view->triangle_count && keys[i])
                continue;
            near->triangle[i] = EXI_NO_TRIANGLE; /* so that the rest is found out in the end */
            keys[i] = search(view, points[i], 0);
            near->distance_sq[i] = keys[i] ? exi_tree_key_near(keys[i]) : 0;
        }
    }
}

/* Where another triangle than the first was found, the rest of what is asked about it. */
static void look_again(const exi_view *view, float (*points)[3], int count, exi_near *near, const uint64_t *keys) {
    int changed[EXI_CLUSTER + 4], changes = 0;
    for (int i = 0; i < count; i++) {
        changed[changes] = i;
        changes += keys[i] != 0 && (uint32_t)keys[i] != near->triangle[i];
        near->triangle[i] = keys[i] ? (uint32_t)keys[i] : EXI_NO_TRIANGLE;
    }
    for (int k = changes; k % 4; k++)
        changed[k] = changed[changes - 1];
    for (int k = 0; k < changes; k += 4) {
        uint32_t triangles[4];
        uint64_t same[4];
        float of[4][3];
        exi_near four;
        for (int i = 0; i < 4; i++) {
            triangles[i] = near->triangle[changed[k + i]];
            memcpy(of[i], points[changed[k + i]], sizeof of[i]);
        }
        answer_four(view, load_points(of, 0), triangles, 0, &four, same);
        for (int i = 0; i < 4; i++) {
            const int to = changed[k + i];
            near->distance_sq[to] = four.distance_sq[i];
            near->u[to] = four.u[i];
            near->v[to] = four.v[i];
            for (int c = 0; c < 3; c++)
                near->away[c][to] = four.away[c][i];
            near->along[to] = four.along[i];
        }
    }
}

/* ---- the region ---- */

/* Around all points by their distances. Rounded outwards: what lies outside is farther in float arithmetic. */
static region region_of(float (*points)[3], int count, const exi_near *near) {
    region r;
    for (int c = 0; c < 3; c++) {
        r.low[c] = exi_quad_splat(INFINITY);
        r.high[c] = exi_quad_splat(-INFINITY);
    }
    const exi_quad zero = exi_quad_splat(0), outwards = exi_quad_splat(3e-7f);
    for (int first = 0; first < count; first += 4) {
        const exi_vector q = load_points(points, first);
        const exi_quad p[3] = {q.x, q.y, q.z};
        const exi_quad square = exi_quad_max(exi_quad_load(near->distance_sq + first), exi_quad_splat(1e-36f));
        const exi_quad reach =
            exi_quad_mul(exi_quad_mul(square, exi_quad_splat(1.000002f)), exi_quad_inverse_root(square));
        for (int c = 0; c < 3; c++) {
            const exi_quad far = exi_quad_madd(outwards, exi_quad_with_sign(p[c], zero), reach);
            r.low[c] = exi_quad_min(r.low[c], exi_quad_sub(p[c], far));
            r.high[c] = exi_quad_max(r.high[c], exi_quad_add(p[c], far));
        }
    }
    for (int c = 0; c < 3; c++) {
        r.low[c] = exi_quad_min(exi_quad_min(exi_quad_lane0(r.low[c]), exi_quad_lane1(r.low[c])),
                                exi_quad_min(exi_quad_lane2(r.low[c]), exi_quad_lane3(r.low[c])));
        r.high[c] = exi_quad_max(exi_quad_max(exi_quad_lane0(r.high[c]), exi_quad_lane1(r.high[c])),
                                 exi_quad_max(exi_quad_lane2(r.high[c]), exi_quad_lane3(r.high[c])));
    }
    return r;
}

/* False where there are too many. */
static bool gather(const ex_fit *fit, const region *r, gathering *g) {
    const exi_fit_node *nodes = exi_tree_at(fit, fit->nodes);
    uint32_t stack[EXI_TREE_STACK];
    int height = 1, count = 0;
    stack[0] = 0;
    while (height > 0) {
        const uint32_t number = stack[--height];
        const exi_fit_node *node = &nodes[number];
        exi_quad apart = exi_quad_sub(exi_quad_load(node->box[0]), r->high[0]);
        apart = exi_quad_max(apart, exi_quad_sub(r->low[0], exi_quad_load(node->box[3])));
        for (int c = 1; c < 3; c++) {
            apart = exi_quad_max(apart, exi_quad_sub(exi_quad_load(node->box[c]), r->high[c]));
            apart = exi_quad_max(apart, exi_quad_sub(r->low[c], exi_quad_load(node->box[3 + c])));
        }
        const uint32_t bits = exi_quad_at_most(apart, exi_quad_splat(0));
        if (count > GATHERED - 4)
            return false;
        EXI_WRITE_OUT
        for (uint32_t i = 0; i < 4; i++) {
            const uint32_t child = node->child[i], hit = bits >> i & 1, is_block = child >> 31;
            stack[height] = child;
            height += (int)(hit & ~is_block);
            g->block[count] = child & ~EXI_TREE_BLOCK;
            g->box[count] = number * (uint32_t)(sizeof *node / sizeof(float)) + i;
            count += (int)(hit & is_block);
        }
    }
    g->count = count;
    return true;
}

/* ---- what is near ---- */

/* The blocks that may hold something as near, of every point. */
static int queue_up(const ex_fit *fit, const gathering *g, float (*points)[3], int count, const exi_near *near,
                    pair *queue) {
    const float *boxes = exi_tree_at(fit, fit->nodes);
    const exi_quad zero = exi_quad_splat(0);
    int length = 0;
    for (int first = 0; first < count; first += 4) {
        const exi_vector q = load_points(points, first);
        const exi_quad best = exi_quad_load(near->distance_sq + first);
        for (int from = 0; from < g->count; from += MARKS) {
            const int to = from + MARKS < g->count ? from + MARKS : g->count;
            exi_quad marks = zero, mark = exi_quad_splat(1);
            for (int k = from; k < to; k++) {
                const float *box = boxes + g->box[k];
                const exi_vector low = {exi_quad_sub(exi_quad_splat(box[0]), q.x),
                                        exi_quad_sub(exi_quad_splat(box[4]), q.y),
                                        exi_quad_sub(exi_quad_splat(box[8]), q.z)};
                const exi_vector high = {exi_quad_sub(q.x, exi_quad_splat(box[12])),
                                         exi_quad_sub(q.y, exi_quad_splat(box[16])),
                                         exi_quad_sub(q.z, exi_quad_splat(box[20]))};
                const exi_vector d = {exi_quad_max(exi_quad_max(low.x, high.x), zero),
                                      exi_quad_max(exi_quad_max(low.y, high.y), zero),
                                      exi_quad_max(exi_quad_max(low.z, high.z), zero)};
                marks = exi_quad_add(marks, exi_quad_pick(exi_v_dot(d, d), best, zero, mark));
                mark = exi_quad_add(mark, mark);
            }
            float numbers[4];
            exi_quad_store(numbers, marks);
            for (int i = 0; i < 4 && first + i < count; i++) {
                uint32_t bits = (uint32_t)numbers[i];
                while (bits) {
                    queue[length++] = (pair){(uint16_t)(first + i), (uint16_t)(from + exi_lowest_bit(bits))};
                    bits &= bits - 1;
                }
            }
        }
    }
    return length;
}

/*
 * Of the blocks, the triangles that may be as near. With x the closest point known, e from it to the point, d = |e|, a
 * triangle whose corners p_i are all behind the plane through x across e, and all ahead of x on the way to their mean
 * c, by h at least, is no nearer than (d^2 + h^2)^1/2:
 *
 *     e . (p_i - x) <= 0,    c . (p_i - x) >= h |c|
 *
 * Where a body bulges that is all of them but the one that is known; each costs a fifth of its closest point. Room is
 * left for rounding: `scale` is the size of the numbers.
 */
static int sift(const exi_view *view, const gathering *g, float (*points)[3], const exi_near *near, const pair *queue,
                int length, candidate *candidates) {
    const exi_fit_block *blocks = exi_tree_at(view->fit, view->fit->blocks);
    const exi_quad zero = exi_quad_splat(0), one = exi_quad_splat(1);
    const float slack = 2e-6f * view->scale;
    int count = 0;
    for (int k = 0; k < length; k++) {
        const int i = queue[k].point;
        const exi_fit_block *block = &blocks[g->block[queue[k].block]];
        const float distance = sqrtf(near->distance_sq[i]);
        const exi_vector e = {exi_quad_splat(-near->away[0][i]), exi_quad_splat(-near->away[1][i]),
                              exi_quad_splat(-near->away[2][i])};
        const exi_vector q = {exi_quad_splat(points[i][0]), exi_quad_splat(points[i][1]), exi_quad_splat(points[i][2])};
        const exi_vector x = exi_v_subtract(q, e);
        const exi_vector p0 = exi_v_subtract(exi_v_load(block->corner[0]), x);
        const exi_vector p1 = exi_v_subtract(exi_v_load(block->corner[1]), x);
        const exi_vector p2 = exi_v_subtract(exi_v_load(block->corner[2]), x);
        const exi_vector c = {exi_quad_add(exi_quad_add(p0.x, p1.x), p2.x),
                              exi_quad_add(exi_quad_add(p0.y, p1.y), p2.y),
                              exi_quad_add(exi_quad_add(p0.z, p1.z), p2.z)};
        const exi_quad height = exi_quad_max(exi_quad_max(exi_v_dot(e, p0), exi_v_dot(e, p1)), exi_v_dot(e, p2));
        const exi_quad ahead = exi_quad_min(exi_quad_min(exi_v_dot(c, p0), exi_v_dot(c, p1)), exi_v_dot(c, p2));
        const exi_quad least = exi_quad_splat(4 * distance * (slack + 1e-6f * distance) + slack * slack);
        const exi_quad signed_sq = exi_quad_mul(ahead, exi_quad_with_sign(ahead, zero));
        const exi_quad above = exi_quad_pick(height, exi_quad_splat(distance * slack), one, zero);
        const exi_quad beside = exi_quad_pick(exi_quad_mul(least, exi_v_dot(c, c)), signed_sq, one, zero);
        const uint32_t out = exi_quad_at_most(exi_quad_add(above, beside), zero);
        EXI_WRITE_OUT
        for (int lane = 0; lane < 4; lane++) {
            const uint32_t triangle = block->triangle[lane];
            candidates[count] = (candidate){triangle, (uint32_t)i};
            count += !(out >> lane & 1) & (triangle != near->triangle[i]);
        }
    }
    return count;
}

/* The candidates' distances, four at a time, with a key for each. */
static void compare(const exi_view *view, float (*points)[3], candidate *candidates, int count, uint64_t *keys) {
    for (int k = count; k % 4; k++)
        candidates[k] = candidates[count - 1];
    for (int k = 0; k < count; k += 4) {
        exi_quad of[4];
        uint32_t triangles[4];
        uint64_t found[4];
        EXI_WRITE_OUT
        for (int i = 0; i < 4; i++) {
            triangles[i] = candidates[k + i].triangle;
            of[i] = exi_quad_load_three(points[candidates[k + i].point]);
        }
        exi_quad_transpose(of);
        const exi_vector q = {of[0], of[1], of[2]};
        const exi_answer a = exi_closest_of(corner_of(view, triangles, 0), corner_of(view, triangles, 1),
                                            corner_of(view, triangles, 2), q);
        make_keys(a.distance_sq, triangles, found);
        for (int i = 0; i < 4; i++) {
            uint64_t *key = &keys[candidates[k + i].point];
            *key = exi_tree_lower(*key - 1, found[i] - 1) + 1; /* 0, none, is the largest */
        }
    }
}

void exi_near_cluster(const exi_view *view, float (*points)[3], int count, exi_near *near) {
    bool missing[EXI_CLUSTER];
    int whole = -1;
    for (int i = 0; i < count; i++) {
        missing[i] = !exi_finite3(points[i]);
        whole = missing[i] ? whole : i;
    }
    if (whole < 0 || view->triangle_count == 0) {
        for (int i = 0; i < count; i++)
            near->triangle[i] = EXI_NO_TRIANGLE;
        return;
    }
    float kept[EXI_CLUSTER][3];
    memcpy(kept, points, sizeof kept);
    for (int i = 0; i < EXI_CLUSTER; i++)
        if (i >= count || missing[i]) {
            memcpy(kept[i], points[whole], sizeof kept[i]);
            near->triangle[i] = near->triangle[whole];
        }
    uint64_t keys[EXI_CLUSTER];
    look_first(view, kept, count, near, keys);
    const region r = region_of(kept, count, near);
    gathering g;
    pair queue[QUEUED];
    candidate candidates[4 * QUEUED + 4];
    if (keys[whole] && gather(view->fit, &r, &g)) {
        const int length = queue_up(view->fit, &g, kept, count, near, queue);
        compare(view, kept, candidates, sift(view, &g, kept, near, queue, length, candidates), keys);
    } else if (keys[whole]) {
        for (int i = 0; i < count; i++)
            keys[i] = search(view, kept[i], keys[i]);
    }
    look_again(view, kept, count, near, keys);
    for (int i = 0; i < count; i++)
        if (missing[i])
            near->triangle[i] = EXI_NO_TRIANGLE;
}
