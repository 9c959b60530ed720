/*
 * Rays, watertight (S. Woop, C. Benthin, I. Wald, "Watertight ray/triangle intersection", 2013).
 *
 * The direction is scaled by a power of two so that its largest component, along z, lies in [1, 2). Corners, relative
 * to the origin, are sheared onto the ray: x' = x - z dx/dz, y' = y - z dy/dz. Corners of different triangles at the
 * same place become the same point of the plane, and the ray hits a triangle if it contains that plane's origin:
 *
 *     U = cx by - cy bx,    V = ax cy - ay cx,    W = bx ay - by ax,    all >= 0 or all <= 0
 *
 * For four triangles at a time these are two products and a difference, unfused: the sign is then right or the number
 * 0, and two triangles see their common edge with opposite signs. Triangles that pass are computed again in double.
 * There the products are exact, and a difference of products that nearly cancel is exact too: so signs are exact, and
 * quotients accurate to the last bits. With D = U + V + W:
 *
 *     u = V / D,    v = W / D,    t = (U az + V bz + W cz) / (D dz)
 *
 * Boxes are tested by slabs, plane / d - origin / d, widened on both sides by 2^-20 m, with m the largest coordinate of
 * the origin, or of the form relative to it. Sheared corners are off by at most 6 roundings of m, t by one, slabs by 6:
 * that is 13 * 2^-24 m. So a box is never missed, nor entered behind t, if it holds a triangle that is hit at t, and
 * the answer does not depend on the tree.
 */
#include "runtime/settle/fan.h"

/* A component of the direction smaller than this fraction of the largest moves the ray by less than the slack. */
#define FLATTEST 0x1p-30f

typedef struct beam {
    exi_fan inverse[3], before[3], behind[3]; /* by axis: 1 / d; - origin / d, less and more the width of slabs in t */
    exi_fan near;
    exi_quad origin[3], shear[2]; /* x, y, z of the sheared ray */
    int axes[3];                  /* the same */
    int near_row[3];              /* of a node's box: low or high */
    double depth;                 /* 1 / dz */
    float nearest;                /* t_min, in lengths of the scaled direction */
    double scale;                 /* t in lengths of the direction divided by t in lengths of the scaled one */
} beam;

/* The nearest hit: u = v_part / sum, v = w_part / sum. */
typedef struct found {
    int triangle; /* -1: none */
    float t;
    double v_part, w_part, sum;
} found;

/* ---- the ray ---- */

static inline double power_of_two(int exponent) {
    const uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

/* Returns the exponent of a number that is neither 0 nor infinite; denormal floats are normal as doubles. */
static inline int exponent_of(float a) {
    const int exponent = (int)(exi_float_bits(a) >> 23) - 127;
    if (exponent > -127)
        return exponent;
    const double wide = (double)a;
    uint64_t bits;
    memcpy(&bits, &wide, sizeof bits);
    return (int)(bits >> 52 & 2047) - 1023;
}

/* The direction divided by a power of two, which is no normal float if the direction is very small or large. */
static inline exi_quad scaled(exi_quad direction, int exponent) {
    if (exponent < -126 || exponent > 126) {
        const exi_quad half = exi_quad_mul(direction, exi_quad_splat((float)power_of_two(-exponent / 2)));
        return exi_quad_mul(half, exi_quad_splat((float)power_of_two(-exponent - -exponent / 2)));
    }
    const uint32_t bits = (uint32_t)(127 - exponent) << 23;
    float power;
    memcpy(&power, &bits, sizeof power);
    return exi_quad_mul(direction, exi_quad_splat(power));
}

/* Returns the largest coordinate of the origin, or of the form relative to it. */
static inline float farthest(const ex_bounds *fit, exi_quad origin) {
    const exi_quad zero = exi_quad_splat(0);
    const exi_quad low = exi_quad_with_sign(exi_quad_sub(exi_quad_load_three(fit->low), origin), zero);
    const exi_quad high = exi_quad_with_sign(exi_quad_sub(exi_quad_load_three(fit->high), origin), zero);
    float most[4];
    exi_quad_store(most, exi_quad_max(exi_quad_max(low, high), exi_quad_with_sign(origin, zero)));
    const float two = most[0] > most[1] ? most[0] : most[1];
    return two > most[2] ? two : most[2];
}

/* Returns false if the ray certainly hits nothing; else *far is its end in lengths of the scaled direction. */
static inline bool aim(const ex_bounds *fit, const ex_ray *ray, beam *b, float *far) {
    const exi_quad zero = exi_quad_splat(0), d = exi_quad_load_three(ray->direction),
                   o = exi_quad_load_three(ray->origin);
    const exi_quad d_sizes = exi_quad_with_sign(d, zero), o_sizes = exi_quad_with_sign(o, zero);
    const bool finite = (exi_quad_at_most(d_sizes, exi_quad_splat(FLT_MAX)) &
                         ~exi_quad_at_most(exi_quad_splat(EXI_TREE_LARGEST), o_sizes) &
                         exi_quad_at_most(o_sizes, exi_quad_splat(FLT_MAX))) == 15;
    float sizes[4];
    exi_quad_store(sizes, d_sizes);
    const int two = sizes[1] > sizes[0], z = sizes[2] > sizes[two] ? 2 : two;
    const float largest = sizes[z];
    if (!finite || !(fit->low[0] <= fit->high[0]) || !(largest > 0) || !(ray->t_min <= ray->t_max) ||
        !(ray->t_max >= 0))
        return false;
    const int exponent = exponent_of(largest);
    const double shrink = power_of_two(-exponent), stretch = power_of_two(exponent);
    const exi_quad units = scaled(d, exponent), wide = exi_quad_splat(0x1p-20f * farthest(fit, o));
    const exi_quad inverse =
        exi_quad_div(exi_quad_splat(1), exi_quad_max(exi_quad_with_sign(units, zero), exi_quad_splat(FLATTEST)));
    const exi_quad factor = exi_quad_with_sign(inverse, units), start = exi_quad_mul(o, factor);
    float unit[4], factors[4], before[4], behind[4], shears[4];
    exi_quad_store(unit, units);
    exi_quad_store(factors, factor);
    exi_quad_store(before, exi_quad_sub(exi_quad_msub(wide, inverse, zero), start));
    exi_quad_store(behind, exi_quad_sub(exi_quad_mul(wide, inverse), start));
    exi_quad_store(shears, exi_quad_div(units, exi_quad_splat(unit[z])));
    EXI_WRITE_OUT
    for (int c = 0; c < 3; c++) {
        b->near_row[c] = signbit(unit[c]) ? 3 + c : c;
        b->inverse[c] = exi_fan_splat(factors[c]);
        b->before[c] = exi_fan_splat(before[c]);
        b->behind[c] = exi_fan_splat(behind[c]);
    }
    b->axes[0] = z < 2 ? z + 1 : 0;
    b->axes[1] = z > 0 ? z - 1 : 2;
    b->axes[2] = z;
    for (int i = 0; i < 3; i++)
        b->origin[i] = exi_quad_splat(ray->origin[b->axes[i]]);
    for (int i = 0; i < 2; i++)
        b->shear[i] = exi_quad_splat(shears[b->axes[i]]);
    b->depth = 1.0 / (double)unit[z];
    b->scale = shrink;
    const double begin = (double)ray->t_min * stretch, end = (double)ray->t_max * stretch;
    b->nearest = !(begin > 0) ? 0 : begin < (double)FLT_MAX ? (float)begin : FLT_MAX;
    b->near = exi_fan_splat(b->nearest);
    *far = end < (double)FLT_MAX ? (float)end : FLT_MAX;
    return b->nearest <= *far;
}

/* ---- triangles ---- */

/* Four triangles sheared onto the ray: [corner] x y, and z before shearing. */
typedef struct sheared {
    exi_quad x[3], y[3], z[3];
} sheared;

static inline sheared shear(const beam *b, const exi_fit_block *block) {
    sheared s;
    const int x = b->axes[0], y = b->axes[1], z = b->axes[2];
    EXI_WRITE_OUT
    for (int i = 0; i < 3; i++) {
        s.z[i] = exi_quad_sub(exi_quad_load(block->corner[i][z]), b->origin[2]);
        s.x[i] = exi_quad_msub(b->shear[0], s.z[i], exi_quad_sub(exi_quad_load(block->corner[i][x]), b->origin[0]));
        s.y[i] = exi_quad_msub(b->shear[1], s.z[i], exi_quad_sub(exi_quad_load(block->corner[i][y]), b->origin[1]));
    }
    return s;
}

static inline exi_quad edge(exi_quad ax, exi_quad ay, exi_quad bx, exi_quad by) {
    return exi_quad_sub(exi_quad_mul(ax, by), exi_quad_mul(ay, bx));
}

/* Returns a bit for each triangle that may be hit. */
static inline unsigned candidates(const sheared *s) {
    const exi_quad u = edge(s->x[2], s->y[2], s->x[1], s->y[1]), v = edge(s->x[0], s->y[0], s->x[2], s->y[2]),
                   w = edge(s->x[1], s->y[1], s->x[0], s->y[0]);
    const exi_quad low = exi_quad_min(exi_quad_min(u, v), w), high = exi_quad_max(exi_quad_max(u, v), w);
    return exi_quad_at_most(exi_quad_splat(0), exi_quad_mul(low, high));
}

/* Finds the nearest hit of a block between the start of the ray and best->t; among equal hits the lower triangle. Exact
 * except for the quotient; a triangle seen edge-on is not hit. */
static inline bool look(const beam *b, const exi_fit_block *block, found *best) {
    const sheared s = shear(b, block);
    unsigned bits = candidates(&s);
    if (!bits)
        return false;
    float x[3][4], y[3][4], z[3][4];
    for (int i = 0; i < 3; i++) {
        exi_quad_store(x[i], s.x[i]);
        exi_quad_store(y[i], s.y[i]);
        exi_quad_store(z[i], s.z[i]);
    }
    bool any = false;
    for (; bits; bits &= bits - 1) {
        const int k = exi_lowest_bit(bits), triangle = (int)block->triangle[k];
        const double ax = (double)x[0][k], ay = (double)y[0][k], bx = (double)x[1][k], by = (double)y[1][k],
                     cx = (double)x[2][k], cy = (double)y[2][k];
        const double wa = cx * by - cy * bx, wb = ax * cy - ay * cx, wc = bx * ay - by * ax, sum = wa + wb + wc;
        if (((wa < 0 || wb < 0 || wc < 0) && (wa > 0 || wb > 0 || wc > 0)) || sum == 0)
            continue;
        const double depth = wa * (double)z[0][k] + wb * (double)z[1][k] + wc * (double)z[2][k];
        const float t = (float)(depth / sum * b->depth);
        if (t < b->nearest || t > best->t || (t == best->t && best->triangle >= 0 && triangle >= best->triangle))
            continue;
        *best = (found){.triangle = triangle, .t = t, .v_part = wb, .w_part = wc, .sum = sum};
        any = true;
    }
    return any;
}

/* ---- the search ---- */

/* best->t is the ray's end at first, and never infinite, since the boxes of missing children are. */
EXI_KERNEL void search(const ex_bounds *fit, const beam *b, bool any, found *best) {
    const exi_fit_node *nodes = exi_tree_at(fit, fit->nodes);
    const exi_fit_block *blocks = exi_tree_at(fit, fit->blocks);
    exi_pending pending;
    uint32_t child = 0;
    pending.count = 0;
    exi_fan far = exi_fan_splat(best->t);
    for (;;) {
        if (child & EXI_TREE_BLOCK) {
            if (look(b, &blocks[child & ~EXI_TREE_BLOCK], best)) {
                if (any)
                    return;
                far = exi_fan_splat(best->t);
            }
            child = 0;
        } else {
            const exi_fit_node *node = &nodes[child];
            exi_fan in[3], out[3];
            EXI_WRITE_OUT
            for (int c = 0; c < 3; c++) {
                const int row = b->near_row[c];
                in[c] = exi_fan_madd(exi_fan_load(node->box[row]), b->inverse[c], b->before[c]);
                out[c] = exi_fan_madd(exi_fan_load(node->box[2 * c + 3 - row]), b->inverse[c], b->behind[c]);
            }
            child = exi_pending_add(&pending, exi_fan_max(exi_fan_max(in[0], in[1]), exi_fan_max(in[2], b->near)),
                                    exi_fan_min(exi_fan_min(out[0], out[1]), exi_fan_min(out[2], far)), node->child);
        }
        if (!child)
            child = exi_pending_next(&pending, best->t);
        if (!child)
            return;
    }
}

EXI_ENTRY_OF(bool, exi_ray_find, (const ex_bounds *fit, const ex_ray *ray, bool any, ex_hit *hit),
             (fit, ray, any, hit)) {
    beam b;
    found best = {.triangle = -1};
    if (aim(fit, ray, &b, &best.t))
        search(fit, &b, any, &best);
    *hit = (ex_hit){.triangle = best.triangle};
    if (best.triangle < 0)
        return false;
    hit->u = (float)(best.v_part / best.sum);
    hit->v = (float)(best.w_part / best.sum);
    hit->t = (float)((double)best.t * b.scale);
    return true;
}
