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
 * Boxes are tested by slabs, (plane - origin) / d, widened on both sides by 2^-20 m, with m the largest coordinate of
 * the form relative to the origin. Sheared corners are off by at most 6 roundings of m, t by one, slabs by 4: that is
 * 11 * 2^-24 m. So a box is never missed, nor entered behind t, if it holds a triangle that is hit at t, and the answer
 * does not depend on the tree.
 */
#include "runtime/base/result.h"
#include "runtime/settle/tree.h"

/* A component of the direction smaller than this fraction of the largest moves the ray by less than the slack. */
#define FLATTEST 0x1p-30f

typedef struct beam {
    exi_quad origin[3], inverse[3], before[3], behind[3]; /* by axis; the last two widen slabs, in t */
    exi_quad shear[2];
    exi_quad near;
    int axes[3];     /* x, y, z of the sheared ray */
    int near_row[3]; /* of a node's box: low or high */
    double depth;    /* 1 / dz */
    float nearest;   /* t_min, in lengths of the scaled direction */
    double scale;    /* t in lengths of the direction divided by t in lengths of the scaled one */
} beam;

/* ---- the ray ---- */

static double power_of_two(int exponent) {
    const uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

/* Returns the exponent of a number that is neither 0 nor infinite; denormal floats are normal as doubles. */
static int exponent_of(double a) {
    uint64_t bits;
    memcpy(&bits, &a, sizeof bits);
    return (int)(bits >> 52 & 2047) - 1023;
}

/* Returns the largest coordinate of the form relative to the origin. */
static float farthest(const ex_bounds *fit, const float origin[3]) {
    float most = 0;
    for (int c = 0; c < 3; c++) {
        const float low = fabsf(fit->low[c] - origin[c]), high = fabsf(fit->high[c] - origin[c]);
        most = low > most ? low : most;
        most = high > most ? high : most;
    }
    return most;
}

/* Returns false if the ray certainly hits nothing; else *far is its end in lengths of the scaled direction. */
static bool aim(const ex_bounds *fit, const ex_ray *ray, beam *b, float *far) {
    const float *d = ray->direction;
    float largest = 0, unit[3];
    int z = 0;
    bool finite = fit->low[0] <= fit->high[0];
    for (int c = 0; c < 3; c++) {
        finite = finite && fabsf(d[c]) <= FLT_MAX && fabsf(ray->origin[c]) < EXI_TREE_LARGEST;
        z = fabsf(d[c]) > largest ? c : z;
        largest = fabsf(d[c]) > largest ? fabsf(d[c]) : largest;
    }
    if (!finite || !(largest > 0) || !(ray->t_min <= ray->t_max) || !(ray->t_max >= 0))
        return false;
    const int exponent = exponent_of((double)largest);
    const double shrink = power_of_two(-exponent), stretch = power_of_two(exponent);
    const float wide = 0x1p-20f * farthest(fit, ray->origin);
    for (int c = 0; c < 3; c++) {
        unit[c] = (float)((double)d[c] * shrink);
        const float size = fabsf(unit[c]) > FLATTEST ? fabsf(unit[c]) : FLATTEST;
        b->near_row[c] = signbit(unit[c]) ? 3 + c : c;
        b->origin[c] = exi_quad_splat(ray->origin[c]);
        b->inverse[c] = exi_quad_splat(copysignf(1 / size, unit[c]));
        b->before[c] = exi_quad_splat(-wide / size);
        b->behind[c] = exi_quad_splat(wide / size);
    }
    b->axes[0] = (z + 1) % 3;
    b->axes[1] = (z + 2) % 3;
    b->axes[2] = z;
    for (int i = 0; i < 2; i++)
        b->shear[i] = exi_quad_splat(unit[b->axes[i]] / unit[z]);
    b->depth = 1.0 / (double)unit[z];
    b->scale = shrink;
    const double begin = (double)ray->t_min * stretch, end = (double)ray->t_max * stretch;
    b->nearest = !(begin > 0) ? 0 : begin < (double)FLT_MAX ? (float)begin : FLT_MAX;
    b->near = exi_quad_splat(b->nearest);
    *far = end < (double)FLT_MAX ? (float)end : FLT_MAX;
    return b->nearest <= *far;
}

/* ---- boxes ---- */

/* Computes keys of four boxes: the distance at which the ray enters each, if that is before it leaves the box or
 * ends. */
static inline void enter(const beam *b, const exi_fit_node *node, exi_quad far, uint64_t keys[4]) {
    exi_quad in[3], out[3];
    for (int c = 0; c < 3; c++) {
        const int row = b->near_row[c];
        const exi_quad front = exi_quad_sub(exi_quad_load(node->box[row]), b->origin[c]);
        const exi_quad back = exi_quad_sub(exi_quad_load(node->box[2 * c + 3 - row]), b->origin[c]);
        in[c] = exi_quad_madd(front, b->inverse[c], b->before[c]);
        out[c] = exi_quad_madd(back, b->inverse[c], b->behind[c]);
    }
    exi_quad_keys(exi_quad_max(exi_quad_max(in[0], in[1]), exi_quad_max(in[2], b->near)),
                  exi_quad_min(exi_quad_min(out[0], out[1]), exi_quad_min(out[2], far)), node->child, keys);
}

/* ---- triangles ---- */

/* Four triangles sheared onto the ray: [corner] x y, and z before shearing. */
typedef struct sheared {
    exi_quad x[3], y[3], z[3];
} sheared;

static inline sheared shear(const beam *b, const exi_fit_block *block) {
    sheared s;
    const int x = b->axes[0], y = b->axes[1], z = b->axes[2];
    for (int i = 0; i < 3; i++) {
        s.z[i] = exi_quad_sub(exi_quad_load(block->corner[i][z]), b->origin[z]);
        s.x[i] = exi_quad_msub(b->shear[0], s.z[i], exi_quad_sub(exi_quad_load(block->corner[i][x]), b->origin[x]));
        s.y[i] = exi_quad_msub(b->shear[1], s.z[i], exi_quad_sub(exi_quad_load(block->corner[i][y]), b->origin[y]));
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

/* Exact except for the quotients; false if the ray misses or sees the triangle edge-on. */
static bool meet(const beam *b, const float x[3], const float y[3], const float z[3], double *u, double *v, double *t) {
    const double ax = (double)x[0], ay = (double)y[0], bx = (double)x[1], by = (double)y[1], cx = (double)x[2],
                 cy = (double)y[2];
    const double wa = cx * by - cy * bx, wb = ax * cy - ay * cx, wc = bx * ay - by * ax, sum = wa + wb + wc;
    if (((wa < 0 || wb < 0 || wc < 0) && (wa > 0 || wb > 0 || wc > 0)) || sum == 0)
        return false;
    *u = wb / sum;
    *v = wc / sum;
    *t = (wa * (double)z[0] + wb * (double)z[1] + wc * (double)z[2]) / sum * b->depth;
    return true;
}

/* Finds the nearest hit of a block between the start of the ray and hit->t; among equal hits the lower triangle. */
static inline bool look(const beam *b, const exi_fit_block *block, ex_hit *hit) {
    const sheared s = shear(b, block);
    const unsigned bits = candidates(&s);
    if (!bits)
        return false;
    float x[3][4], y[3][4], z[3][4];
    for (int i = 0; i < 3; i++) {
        exi_quad_store(x[i], s.x[i]);
        exi_quad_store(y[i], s.y[i]);
        exi_quad_store(z[i], s.z[i]);
    }
    bool found = false;
    for (int k = 0; k < EXI_TREE_LEAF; k++) {
        const int triangle = (int)block->triangle[k];
        double u, v, exact;
        if (!(bits >> k & 1) || !meet(b, (float[]){x[0][k], x[1][k], x[2][k]}, (float[]){y[0][k], y[1][k], y[2][k]},
                                      (float[]){z[0][k], z[1][k], z[2][k]}, &u, &v, &exact))
            continue;
        const float t = (float)exact;
        if (t < b->nearest || t > hit->t || (t == hit->t && hit->triangle >= 0 && triangle >= hit->triangle))
            continue;
        *hit = (ex_hit){.triangle = triangle, .u = (float)u, .v = (float)v, .t = t};
        found = true;
    }
    return found;
}

/* ---- the search ---- */

/* hit->t is the ray's end at first, and never infinite, since the boxes of missing children are. */
static void search(const ex_bounds *fit, const beam *b, bool any, ex_hit *hit) {
    const exi_fit_node *nodes = exi_tree_at(fit, fit->nodes);
    const exi_fit_block *blocks = exi_tree_at(fit, fit->blocks);
    uint64_t stack[EXI_TREE_STACK], keys[4], key = 0;
    int height = 0;
    exi_quad far = exi_quad_splat(hit->t);
    for (;;) {
        const uint32_t child = (uint32_t)key;
        if (child & EXI_TREE_BLOCK) {
            if (look(b, &blocks[child & ~EXI_TREE_BLOCK], hit)) {
                if (any)
                    return;
                far = exi_quad_splat(hit->t);
            }
            key = 0;
        } else {
            enter(b, &nodes[child], far, keys);
            height = exi_tree_push(stack, height, keys, &key);
        }
        if (key)
            continue;
        do {
            if (height == 0)
                return;
            key = stack[--height];
        } while (exi_tree_key_near(key) > hit->t);
    }
}

bool ex_bounds_ray(const ex_bounds *fit, const ex_ray *ray, ex_hit *hit) {
    if (!fit || !ray || !hit)
        return exi_misuse(__func__, "no fit or ray, or no pointer for the hit");
    beam b;
    *hit = (ex_hit){.triangle = -1};
    if (aim(fit, ray, &b, &hit->t))
        search(fit, &b, false, hit);
    hit->t = hit->triangle >= 0 ? (float)((double)hit->t * b.scale) : 0;
    return hit->triangle >= 0;
}

bool ex_bounds_blocked(const ex_bounds *fit, const ex_ray *ray) {
    if (!fit || !ray)
        return exi_misuse(__func__, "no fit or ray");
    beam b;
    ex_hit hit = {.triangle = -1};
    if (aim(fit, ray, &b, &hit.t))
        search(fit, &b, true, &hit);
    return hit.triangle >= 0;
}
