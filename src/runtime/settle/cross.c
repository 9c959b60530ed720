/*
 * Finds the triangles of a garment that cross each other. Two triangles cross if an edge of one goes through the other:
 * its ends are on both sides of the plane, and the line through it passes all three edges on the same side. With
 *
 *     [a b c d] = (b - a) x (c - a) . (d - a),
 *
 * an edge p q goes through a b c if [a b c p] and [a b c q] have different signs, and [p q a b], [p q b c], [p q c a]
 * the same. Triangles that only touch do not cross, nor do neighbours, which share a vertex.
 *
 * Every block of four triangles looks for later blocks that its box meets, and compares them four at a time: boxes,
 * then planes, then the few pairs that are left in double.
 */
#include "runtime/base/vector.h"
#include "runtime/settle/untangler.h"

typedef struct finding {
    const exi_cloth *cloth;
    exi_on_pierced *on;
    void *context;
    int count;
} finding;

/* ---- two triangles ---- */

static double volume(const double a[3], const double b[3], const double c[3], const double d[3]) {
    double ab[3], ac[3], ad[3], n[3];
    exi_subtract(b, a, ab);
    exi_subtract(c, a, ac);
    exi_subtract(d, a, ad);
    exi_cross(ab, ac, n);
    return exi_dot3(n, ad);
}

/* side: of the corners of p, by the plane of q. Returns the number of edges of p that go through q. */
static int pierce(const finding *f, const uint32_t *of_p, double p[3][3], const double side[3], const uint32_t *of_q,
                  double q[3][3]) {
    int count = 0;
    for (int i = 0; i < 3; i++) {
        const int k = (i + 1) % 3;
        if (!((side[i] > 0 && side[k] < 0) || (side[i] < 0 && side[k] > 0)))
            continue;
        const double u = volume(p[i], p[k], q[1], q[2]), v = volume(p[i], p[k], q[2], q[0]),
                     w = volume(p[i], p[k], q[0], q[1]);
        if (!((u > 0 && v > 0 && w > 0) || (u < 0 && v < 0 && w < 0)))
            continue;
        count++;
        if (!f->on)
            continue;
        const double sum = u + v + w;
        const exi_pierced pierced = {.edge = {of_p[i], of_p[k]},
                                     .other = of_p[(i + 2) % 3],
                                     .face = {of_q[0], of_q[1], of_q[2]},
                                     .t = side[i] / (side[i] - side[k]),
                                     .weight = {u / sum, v / sum, w / sum}};
        f->on(f->context, &pierced);
    }
    return count;
}

static bool is_active(const exi_cloth *cloth, const uint32_t *corner) {
    return !cloth->active || cloth->active[corner[0]] || cloth->active[corner[1]] || cloth->active[corner[2]];
}

static void compare(finding *f, uint32_t one, uint32_t other) {
    const uint32_t *triangles = exi_tree_at(f->cloth->untangler, f->cloth->untangler->triangles);
    const uint32_t *a = triangles + 3 * (size_t)one, *b = triangles + 3 * (size_t)other;
    double p[3][3], q[3][3], p_side[3], q_side[3];
    for (int i = 0; i < 9; i++)
        if (a[i / 3] == b[i % 3])
            return;
    if (!is_active(f->cloth, a) && !is_active(f->cloth, b))
        return;
    for (int i = 0; i < 3; i++)
        for (int c = 0; c < 3; c++) {
            p[i][c] = (double)exi_cloth_at(f->cloth, a[i])[c];
            q[i][c] = (double)exi_cloth_at(f->cloth, b[i])[c];
        }
    for (int i = 0; i < 3; i++) {
        p_side[i] = volume(q[0], q[1], q[2], p[i]);
        q_side[i] = volume(p[0], p[1], p[2], q[i]);
    }
    f->count += pierce(f, a, p, p_side, b, q) + pierce(f, b, q, q_side, a, p) > 0;
}

/* ---- blocks ---- */

typedef struct box {
    exi_quad low[3], high[3];
} box;

static inline exi_quad least(exi_quad a) {
    return exi_quad_min(exi_quad_min(exi_quad_lane0(a), exi_quad_lane1(a)),
                        exi_quad_min(exi_quad_lane2(a), exi_quad_lane3(a)));
}

static inline exi_quad most(exi_quad a) {
    return exi_quad_max(exi_quad_max(exi_quad_lane0(a), exi_quad_lane1(a)),
                        exi_quad_max(exi_quad_lane2(a), exi_quad_lane3(a)));
}

/* The boxes of a block's triangles. */
static inline box boxes_of(const exi_fit_block *block) {
    box b;
    EXI_WRITE_OUT
    for (int c = 0; c < 3; c++) {
        const exi_quad p = exi_quad_load(block->corner[0][c]), q = exi_quad_load(block->corner[1][c]),
                       r = exi_quad_load(block->corner[2][c]);
        b.low[c] = exi_quad_min(exi_quad_min(p, q), r);
        b.high[c] = exi_quad_max(exi_quad_max(p, q), r);
    }
    return b;
}

/* Bits of the lanes of b that meet a. */
static inline uint32_t meet(const box *a, const box *b) {
    exi_quad off = exi_quad_splat(-INFINITY);
    EXI_WRITE_OUT
    for (int c = 0; c < 3; c++)
        off = exi_quad_max(off, exi_quad_max(exi_quad_sub(b->low[c], a->high[c]), exi_quad_sub(a->low[c], b->high[c])));
    return exi_quad_at_most(off, exi_quad_splat(0));
}

static inline box lane_of(const exi_fit_block *block, int lane) {
    box b;
    EXI_WRITE_OUT
    for (int c = 0; c < 3; c++) {
        const float p = block->corner[0][c][lane], q = block->corner[1][c][lane], r = block->corner[2][c][lane];
        b.low[c] = exi_quad_splat(fminf(fminf(p, q), r));
        b.high[c] = exi_quad_splat(fmaxf(fmaxf(p, q), r));
    }
    return b;
}

/* Bits of the lanes whose triangles do not have all corners clearly on one side of the plane of a triangle. */
static inline uint32_t reach(const exi_fit_block *block, int lane, const exi_fit_block *others) {
    exi_vector p[3], q[3];
    for (int i = 0; i < 3; i++) {
        p[i] = (exi_vector){exi_quad_splat(block->corner[i][0][lane]), exi_quad_splat(block->corner[i][1][lane]),
                            exi_quad_splat(block->corner[i][2][lane])};
        q[i] = exi_v_subtract(exi_v_load(others->corner[i]), p[0]);
    }
    const exi_vector e = exi_v_subtract(p[1], p[0]), f = exi_v_subtract(p[2], p[0]), n = exi_v_cross(e, f);
    const exi_quad a = exi_v_dot(n, q[0]), b = exi_v_dot(n, q[1]), c = exi_v_dot(n, q[2]), zero = exi_quad_splat(0);
    /* For rounding: 2e-6 (e.e + f.f) |q|. */
    const exi_quad far = exi_quad_max(exi_quad_max(exi_v_dot(q[0], q[0]), exi_v_dot(q[1], q[1])),
                                      exi_quad_max(exi_v_dot(q[2], q[2]), exi_quad_splat(1e-36f)));
    const exi_quad edges = exi_quad_mul(exi_quad_splat(2e-6f), exi_quad_add(exi_v_dot(e, e), exi_v_dot(f, f)));
    const exi_quad room = exi_quad_mul(edges, exi_quad_mul(far, exi_quad_inverse_root(far)));
    const exi_quad above = exi_quad_min(exi_quad_min(a, b), c), below = exi_quad_max(exi_quad_max(a, b), c);
    return exi_quad_at_most(above, room) & exi_quad_at_most(exi_quad_sub(zero, below), room);
}

/* True if the lane's triangle is in no earlier lane. */
static bool is_first(const exi_fit_block *block, int lane) {
    bool first = true;
    for (int i = 0; i < lane; i++)
        first = first && block->triangle[i] != block->triangle[lane];
    return first;
}

static void compare_blocks(finding *f, const exi_fit_block *one, const exi_fit_block *other) {
    const box others = boxes_of(other);
    for (int lane = 0; lane < EXI_TREE_LEAF; lane++) {
        const box mine = lane_of(one, lane);
        uint32_t bits = meet(&mine, &others);
        if (!bits || !is_first(one, lane))
            continue;
        bits &= reach(one, lane, other);
        for (; bits; bits &= bits - 1) {
            const int i = exi_lowest_bit(bits);
            if (is_first(other, i) && (one != other || i > lane))
                compare(f, one->triangle[lane], other->triangle[i]);
        }
    }
}

static bool has_active(const finding *f, const exi_fit_block *block) {
    const uint32_t *triangles = exi_tree_at(f->cloth->untangler, f->cloth->untangler->triangles);
    bool any = !f->cloth->active;
    for (int i = 0; i < EXI_TREE_LEAF && !any; i++)
        any = is_active(f->cloth, triangles + 3 * (size_t)block->triangle[i]);
    return any;
}

/* Compares a block with itself and with all blocks that it meets. Of two blocks the earlier one compares, or the one
 * that is active. */
static void look_around(finding *f, uint32_t number) {
    const ex_bounds *fit = f->cloth->fit;
    const exi_fit_node *nodes = exi_tree_at(fit, fit->nodes);
    const exi_fit_block *blocks = exi_tree_at(fit, fit->blocks);
    const box b = boxes_of(&blocks[number]);
    exi_fan low[3], high[3];
    for (int c = 0; c < 3; c++) {
        float lanes[4];
        exi_quad_store(lanes, least(b.low[c]));
        low[c] = exi_fan_splat(lanes[0]);
        exi_quad_store(lanes, most(b.high[c]));
        high[c] = exi_fan_splat(lanes[0]);
    }
    uint32_t stack[EXI_TREE_STACK] = {0};
    int height = fit->node_count > 0;
    while (height > 0) {
        const exi_fit_node *node = &nodes[stack[--height]];
        for (uint32_t bits = exi_node_meets(node, low, high); bits; bits &= bits - 1) {
            const uint32_t child = node->child[exi_lowest_bit(bits)], other = child & ~EXI_TREE_BLOCK;
            if (!(child & EXI_TREE_BLOCK))
                stack[height++] = child;
            else if (other >= number || !has_active(f, &blocks[other]))
                compare_blocks(f, &blocks[number], &blocks[other]);
        }
    }
}

int exi_cross_find(const exi_cloth *cloth, exi_on_pierced *on, void *context) {
    finding f = {.cloth = cloth, .on = on, .context = context};
    const exi_fit_block *blocks = exi_tree_at(cloth->fit, cloth->fit->blocks);
    for (int32_t k = 0; k < cloth->fit->block_count; k++)
        if (has_active(&f, &blocks[k]))
            look_around(&f, (uint32_t)k);
    return f.count;
}
