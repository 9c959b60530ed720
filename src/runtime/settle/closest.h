/*
 * Closest points of four triangles, or distances of four boxes, one lane each; used by single queries
 * (closest_kernel.c) and by queries of whole clusters (near_kernel.c). closest_kernel.c explains the method.
 */
#ifndef EXI_SETTLE_CLOSEST_H
#define EXI_SETTLE_CLOSEST_H

#include "runtime/settle/fan.h"

typedef struct exi_vector {
    exi_quad x, y, z;
} exi_vector;

static inline exi_vector exi_v_subtract(exi_vector a, exi_vector b) {
    return (exi_vector){exi_quad_sub(a.x, b.x), exi_quad_sub(a.y, b.y), exi_quad_sub(a.z, b.z)};
}

static inline exi_quad exi_v_dot(exi_vector a, exi_vector b) {
    return exi_quad_madd(a.z, b.z, exi_quad_madd(a.y, b.y, exi_quad_mul(a.x, b.x)));
}

static inline exi_vector exi_v_cross(exi_vector a, exi_vector b) {
    return (exi_vector){exi_quad_msub(a.z, b.y, exi_quad_mul(a.y, b.z)),
                        exi_quad_msub(a.x, b.z, exi_quad_mul(a.z, b.x)),
                        exi_quad_msub(a.y, b.x, exi_quad_mul(a.x, b.y))};
}

static inline exi_vector exi_v_scale(exi_vector a, exi_quad s) {
    return (exi_vector){exi_quad_mul(a.x, s), exi_quad_mul(a.y, s), exi_quad_mul(a.z, s)};
}

/* p + t e */
static inline exi_vector exi_v_along(exi_vector p, exi_quad t, exi_vector e) {
    return (exi_vector){exi_quad_madd(t, e.x, p.x), exi_quad_madd(t, e.y, p.y), exi_quad_madd(t, e.z, p.z)};
}

/* x, y, z from three rows. */
static inline exi_vector exi_v_load(const float (*rows)[4]) {
    return (exi_vector){exi_quad_load(rows[0]), exi_quad_load(rows[1]), exi_quad_load(rows[2])};
}

/* 1 / a; at most 1e37 if a is 0. */
static inline exi_quad exi_v_invert(exi_quad a) {
    return exi_quad_div(exi_quad_splat(1), exi_quad_max(a, exi_quad_splat(1e-37f)));
}

static inline exi_quad exi_v_clamp(exi_quad a, exi_quad low, exi_quad high) {
    return exi_quad_min(exi_quad_max(a, low), high);
}

/* x where a > b, else y. */
static inline exi_vector exi_v_choose(exi_quad a, exi_quad b, exi_vector x, exi_vector y) {
    return (exi_vector){exi_quad_pick(a, b, x.x, y.x), exi_quad_pick(a, b, x.y, y.y), exi_quad_pick(a, b, x.z, y.z)};
}

static inline exi_quad exi_v_into(exi_quad r, exi_quad a, exi_quad b, exi_quad c) {
    return exi_v_clamp(r, exi_quad_min(exi_quad_min(a, b), c), exi_quad_max(exi_quad_max(a, b), c));
}

/* Result for four triangles: coordinates, the closest point relative to the query point, its squared distance. */
typedef struct exi_answer {
    exi_quad u, v, distance_sq;
    exi_vector point;
    exi_quad along; /* the point times the normal, of any length: > 0 if the query point is behind */
} exi_answer;

/* pa, pb, pc: the corners of four triangles. */
static inline exi_answer exi_closest_of(exi_vector pa, exi_vector pb, exi_vector pc, exi_vector q) {
    const exi_quad zero = exi_quad_splat(0), one = exi_quad_splat(1);
    const exi_vector ab = exi_v_subtract(pb, pa), ac = exi_v_subtract(pc, pa), bc = exi_v_subtract(pc, pb);
    const exi_vector a = exi_v_subtract(pa, q), b = exi_v_subtract(pb, q), c = exi_v_subtract(pc, q);
    const exi_quad ab_inverse = exi_v_invert(exi_v_dot(ab, ab));

    /* The three edges. */
    const exi_quad s = exi_v_clamp(exi_quad_msub(exi_v_dot(a, ab), ab_inverse, zero), zero, one);
    const exi_quad t = exi_v_clamp(exi_quad_msub(exi_v_dot(a, ac), exi_v_invert(exi_v_dot(ac, ac)), zero), zero, one);
    const exi_quad r = exi_v_clamp(exi_quad_msub(exi_v_dot(b, bc), exi_v_invert(exi_v_dot(bc, bc)), zero), zero, one);
    const exi_vector on_ab = exi_v_along(a, s, ab), on_ac = exi_v_along(a, t, ac), on_bc = exi_v_along(b, r, bc);
    const exi_quad d_ab = exi_v_dot(on_ab, on_ab), d_ac = exi_v_dot(on_ac, on_ac), d_bc = exi_v_dot(on_bc, on_bc);
    exi_quad nearest = exi_quad_min(d_ab, d_ac);
    exi_quad u = exi_quad_pick(d_ab, d_ac, zero, s), v = exi_quad_pick(d_ab, d_ac, t, zero);
    exi_vector point = exi_v_choose(d_ab, d_ac, on_ac, on_ab);
    u = exi_quad_pick(nearest, d_bc, exi_quad_sub(one, r), u);
    v = exi_quad_pick(nearest, d_bc, r, v);
    point = exi_v_choose(nearest, d_bc, on_bc, point);
    nearest = exi_quad_min(nearest, d_bc);

    /* The foot of the perpendicular. */
    const exi_vector n = exi_v_cross(ab, ac), m = exi_v_scale(n, ab_inverse), across = exi_v_cross(m, a);
    const exi_quad inverse = exi_v_invert(exi_v_dot(n, m));
    const exi_quad foot_u = exi_quad_msub(exi_v_dot(ac, across), inverse, zero);
    const exi_quad foot_v = exi_quad_mul(exi_v_dot(ab, across), inverse);
    const exi_quad foot_w = exi_quad_sub(exi_quad_sub(one, foot_u), foot_v);
    const exi_quad inside = exi_quad_min(exi_quad_min(foot_u, foot_v), foot_w);
    const exi_vector foot = exi_v_along(exi_v_along(a, foot_u, ab), foot_v, ac);
    const exi_quad d_foot = exi_quad_pick(zero, inside, exi_quad_splat(FLT_MAX), exi_v_dot(foot, foot));
    u = exi_quad_pick(nearest, d_foot, foot_u, u);
    v = exi_quad_pick(nearest, d_foot, foot_v, v);
    point = exi_v_choose(nearest, d_foot, foot, point);

    point = (exi_vector){exi_v_into(point.x, a.x, b.x, c.x), exi_v_into(point.y, a.y, b.y, c.y),
                         exi_v_into(point.z, a.z, b.z, c.z)};
    return (exi_answer){u, v, exi_v_dot(point, point), point, exi_v_dot(n, point)};
}

static inline exi_answer exi_closest_four(const exi_fit_block *block, exi_vector q) {
    return exi_closest_of(exi_v_load(block->corner[0]), exi_v_load(block->corner[1]), exi_v_load(block->corner[2]), q);
}

/* Squared distances of four boxes, computed in the steps of exi_v_dot. */
static inline exi_quad exi_box_distances(const float (*box)[4], exi_vector q) {
    const exi_quad zero = exi_quad_splat(0);
    const exi_vector low = exi_v_subtract(exi_v_load(box), q), high = exi_v_subtract(q, exi_v_load(box + 3));
    const exi_vector d = {exi_quad_max(exi_quad_max(low.x, high.x), zero),
                          exi_quad_max(exi_quad_max(low.y, high.y), zero),
                          exi_quad_max(exi_quad_max(low.z, high.z), zero)};
    return exi_v_dot(d, d);
}

/* The same for the children of a node. q: [axis], the point in all lanes. */
static inline exi_fan exi_node_distances(const exi_fit_node *node, const exi_fan q[3]) {
    exi_fan d[3];
    EXI_WRITE_OUT
    for (int c = 0; c < 3; c++)
        d[c] = exi_fan_max(exi_fan_max(exi_fan_sub(exi_fan_load(node->box[c]), q[c]),
                                       exi_fan_sub(q[c], exi_fan_load(node->box[3 + c]))),
                           exi_fan_splat(0));
    return exi_fan_madd(d[2], d[2], exi_fan_madd(d[1], d[1], exi_fan_mul(d[0], d[0])));
}

/* Bits of a node's children whose boxes meet a box, with each of its coordinates in all lanes. */
static inline uint32_t exi_node_meets(const exi_fit_node *node, const exi_fan low[3], const exi_fan high[3]) {
    exi_fan off = exi_fan_splat(-INFINITY);
    EXI_WRITE_OUT
    for (int c = 0; c < 3; c++)
        off = exi_fan_max(off, exi_fan_max(exi_fan_sub(exi_fan_load(node->box[c]), high[c]),
                                           exi_fan_sub(low[c], exi_fan_load(node->box[3 + c]))));
    return exi_fan_at_most(off, exi_fan_splat(0));
}

/* Updates best with the triangles of a block that are nearer, or as near with a lower number. True if there was one.
 * The point stays relative to q. */
static inline bool exi_look(const exi_fit_block *block, exi_vector q, ex_closest *best) {
    const exi_answer found = exi_closest_four(block, q);
    const unsigned bits = exi_quad_at_most(found.distance_sq, exi_quad_splat(best->distance_sq));
    if (!bits)
        return false;
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
        return false;
    exi_quad_store(numbers[0], found.u);
    exi_quad_store(numbers[1], found.v);
    exi_quad_store(numbers[2], found.point.x);
    exi_quad_store(numbers[3], found.point.y);
    exi_quad_store(numbers[4], found.point.z);
    best->u = numbers[0][lane];
    best->v = numbers[1][lane];
    for (int c = 0; c < 3; c++)
        best->point[c] = numbers[2 + c][lane];
    return true;
}

#endif
