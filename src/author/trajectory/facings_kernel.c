/*
 * The local step of as-rigid-as-possible forms (rigid.c has the energy), EXI_LANES triangles at a time.
 *
 * In the plane of a triangle at the start, with P = [dx/du dx/dv] S_t (3 x 2), the nearest rotation is P (P^T
 * P)^(-1/2), in closed form. It leans by COUPLING towards each neighbour's, both relative to R^t. Differences of places
 * and the root are in double, the rest in float. Nothing is fused, so that all sets give the same bits.
 */
#include "author/base/lanes.h"
#include "author/trajectory/facings.h"

#include <string.h>

#define UPRIGHT 0.34F /* cosine of 70 degrees */

enum { LANES = EXI_LANES };

EXI_KERNEL exi_oct times(exi_oct a, exi_oct b) {
    return exi_oct_mul(a, b);
}
EXI_KERNEL exi_oct plus(exi_oct a, exi_oct b) {
    return exi_oct_add(a, b);
}
/* a b + c d, a b - c d, a b + c d + e f */
EXI_KERNEL exi_oct two(exi_oct a, exi_oct b, exi_oct c, exi_oct d) {
    return plus(times(a, b), times(c, d));
}
EXI_KERNEL exi_oct cross(exi_oct a, exi_oct b, exi_oct c, exi_oct d) {
    return exi_oct_sub(times(a, b), times(c, d));
}
EXI_KERNEL exi_oct three(exi_oct a, exi_oct b, exi_oct c, exi_oct d, exi_oct e, exi_oct f) {
    return plus(two(a, b, c, d), times(e, f));
}

/* Rows of eight lanes from quads of x y z and anything; and back, with 0. */
EXI_KERNEL void to_rows(exi_quad lanes[LANES], exi_oct rows[3]) {
    exi_quad_transpose(lanes);
    exi_quad_transpose(lanes + 4);
    EXI_WRITE_OUT
    for (int i = 0; i < 3; i++)
        rows[i] = exi_oct_of(lanes[i], lanes[4 + i]);
}
EXI_KERNEL void to_lanes(const exi_oct rows[3], exi_quad lanes[LANES]) {
    EXI_WRITE_OUT
    for (int i = 0; i < 3; i++) {
        lanes[i] = exi_oct_low(rows[i]);
        lanes[4 + i] = exi_oct_high(rows[i]);
    }
    lanes[3] = lanes[7] = exi_quad_splat(0);
    exi_quad_transpose(lanes);
    exi_quad_transpose(lanes + 4);
}

/* ---- rotations ---- */

/* p, q = [p q] G^(-1/2), G being their products. In double: of triangles that are nearly a line, little is left. */
EXI_KERNEL void straighten(exi_oct p[3], exi_oct q[3]) {
    exi_eight x[3], y[3];
    EXI_WRITE_OUT
    for (int i = 0; i < 3; i++) {
        x[i] = exi_oct_widen(p[i]);
        y[i] = exi_oct_widen(q[i]);
    }
    exi_eight xx = exi_eight_multiply(x[0], x[0]), yy = exi_eight_multiply(y[0], y[0]);
    exi_eight xy = exi_eight_multiply(x[0], y[0]);
    EXI_WRITE_OUT
    for (int i = 1; i < 3; i++) {
        xx = exi_eight_add(xx, exi_eight_multiply(x[i], x[i]));
        yy = exi_eight_add(yy, exi_eight_multiply(y[i], y[i]));
        xy = exi_eight_add(xy, exi_eight_multiply(x[i], y[i]));
    }
    const exi_eight whole = exi_eight_multiply(xx, yy), zero = exi_eight_fill(0);
    const exi_eight least = exi_eight_multiply(exi_eight_fill(1e-28), whole);
    const exi_eight determinant = exi_eight_subtract(whole, exi_eight_multiply(xy, xy));
    const exi_eight s = exi_eight_root(exi_eight_pick(determinant, least, determinant, least));
    const exi_eight trace = exi_eight_add(exi_eight_add(xx, yy), exi_eight_add(s, s));
    const exi_eight size = exi_eight_multiply(s, exi_eight_root(trace));
    const exi_eight scale = exi_eight_pick(size, zero, exi_eight_divide(exi_eight_fill(1), size), zero);
    const exi_eight a = exi_eight_multiply(exi_eight_add(yy, s), scale);
    const exi_eight c = exi_eight_multiply(exi_eight_add(xx, s), scale);
    const exi_eight b = exi_eight_multiply(exi_eight_subtract(zero, xy), scale);
    EXI_WRITE_OUT
    for (int i = 0; i < 3; i++) {
        p[i] = exi_oct_round(exi_eight_add(exi_eight_multiply(a, x[i]), exi_eight_multiply(b, y[i])));
        q[i] = exi_oct_round(exi_eight_add(exi_eight_multiply(b, x[i]), exi_eight_multiply(c, y[i])));
    }
}

/* Edges of triangles, from corner 0. */
EXI_KERNEL void find_edges(const exi_flat *flat, const double *form, exi_oct first[3], exi_oct second[3]) {
    exi_quad to_first[LANES], to_second[LANES];
    EXI_WRITE_OUT
    for (int l = 0; l < LANES; l++) {
        const int *c = flat->corners[l];
        const exi_four origin = exi_four_load_three(form + c[0]);
        to_first[l] = exi_four_round(exi_four_subtract(exi_four_load_three(form + c[1]), origin));
        to_second[l] = exi_four_round(exi_four_subtract(exi_four_load_three(form + c[2]), origin));
    }
    to_rows(to_first, first);
    to_rows(to_second, second);
}

EXI_KERNEL void find_normal(const exi_oct p[3], const exi_oct q[3], exi_oct n[3]) {
    n[0] = cross(p[1], q[2], p[2], q[1]);
    n[1] = cross(p[2], q[0], p[0], q[2]);
    n[2] = cross(p[0], q[1], p[1], q[0]);
}

/* Nothing in the energy keeps a triangle from folding over: it is as rigid then. One that has turned by more than 70
 * degrees from R^t is drawn back to it. */
EXI_KERNEL void unfold(exi_oct frame[3][3], exi_oct p[3], exi_oct q[3]) {
    exi_oct n[3];
    find_normal(p, q, n);
    const exi_oct cosine = three(n[0], frame[2][0], n[1], frame[2][1], n[2], frame[2][2]);
    const exi_oct upright = exi_oct_fill(UPRIGHT);
    EXI_WRITE_OUT
    for (int i = 0; i < 3; i++) {
        p[i] = exi_oct_pick(upright, cosine, frame[0][i], p[i]);
        q[i] = exi_oct_pick(upright, cosine, frame[1][i], q[i]);
    }
}

/* Stores the rotations that take the frames to p, q and their normal. */
EXI_KERNEL void keep_turns(exi_oct frame[3][3], const exi_oct p[3], const exi_oct q[3], exi_facing *f) {
    exi_oct n[3];
    find_normal(p, q, n);
    EXI_WRITE_OUT
    for (int i = 0; i < 3; i++) {
        exi_oct row[3];
        exi_quad lanes[LANES];
        EXI_WRITE_OUT
        for (int j = 0; j < 3; j++)
            row[j] = three(p[i], frame[0][j], q[i], frame[1][j], n[i], frame[2][j]);
        to_lanes(row, lanes);
        EXI_WRITE_OUT
        for (int l = 0; l < LANES; l++)
            exi_quad_store(f->turns[l] + 4 * i, lanes[l]);
    }
}

static void rotate(const exi_flat *flat, const exi_goal *goal, const double *form, exi_facing *f, exi_slope *slope) {
    exi_oct first[3], second[3], p[3], q[3], frame[3][3];
    find_edges(flat, form, first, second);
    const exi_oct s[3] = {exi_oct_load(goal->s[0]), exi_oct_load(goal->s[1]), exi_oct_load(goal->s[2])};
    EXI_WRITE_OUT
    for (int i = 0; i < 3; i++) {
        const exi_oct du = two(exi_oct_load(flat->slopes[0]), first[i], exi_oct_load(flat->slopes[2]), second[i]);
        const exi_oct dv = two(exi_oct_load(flat->slopes[1]), first[i], exi_oct_load(flat->slopes[3]), second[i]);
        exi_oct_store(slope->du[i], du);
        exi_oct_store(slope->dv[i], dv);
        p[i] = two(du, s[0], dv, s[1]);
        q[i] = two(du, s[1], dv, s[2]);
    }
    straighten(p, q);
    EXI_WRITE_OUT
    for (int k = 0; k < 3; k++)
        EXI_WRITE_OUT
    for (int i = 0; i < 3; i++)
        frame[k][i] = exi_oct_load(goal->frame[k][i]);
    unfold(frame, p, q);
    EXI_WRITE_OUT
    for (int i = 0; i < 3; i++) {
        exi_oct_store(slope->p[i], p[i]);
        exi_oct_store(slope->q[i], q[i]);
    }
    keep_turns(frame, p, q, f);
}

/* ---- pulls ---- */

/* Leans the planes of triangles towards where their neighbours' rotations would take them. The result is nearly
 * orthogonal: one step of Newton's iteration for the polar factor, B (3 I - B^T B) / 2, makes it so. */
EXI_KERNEL void lean(const exi_facings_step *step, const exi_flat *flat, const exi_goal *goal, exi_oct p[3],
                     exi_oct q[3]) {
    static const float none[12] = {0};
    const int mask = step->flats->ring - 1;
    const exi_oct coupling = exi_oct_fill(EXI_COUPLING), scale = exi_oct_load(flat->scale);
    exi_quad sums[3][LANES];
    for (int l = 0; l < LANES; l++) {
        const float *turns[3];
        EXI_WRITE_OUT
        for (int k = 0; k < 3; k++) {
            const int other = flat->others[l][k];
            turns[k] = other < 0 ? none : step->facings[(other / LANES) & mask].turns[other % LANES];
        }
        EXI_WRITE_OUT
        for (int i = 0; i < 3; i++)
            sums[i][l] = exi_quad_add(exi_quad_add(exi_quad_load(turns[0] + 4 * i), exi_quad_load(turns[1] + 4 * i)),
                                      exi_quad_load(turns[2] + 4 * i));
    }
    EXI_WRITE_OUT
    for (int i = 0; i < 3; i++) {
        exi_oct sum[3];
        to_rows(sums[i], sum);
        const exi_oct x = three(sum[0], exi_oct_load(goal->frame[0][0]), sum[1], exi_oct_load(goal->frame[0][1]),
                                sum[2], exi_oct_load(goal->frame[0][2]));
        const exi_oct y = three(sum[0], exi_oct_load(goal->frame[1][0]), sum[1], exi_oct_load(goal->frame[1][1]),
                                sum[2], exi_oct_load(goal->frame[1][2]));
        p[i] = times(plus(p[i], times(coupling, x)), scale);
        q[i] = times(plus(q[i], times(coupling, y)), scale);
    }
    const exi_oct half = exi_oct_fill(0.5F), more = exi_oct_fill(1.5F);
    const exi_oct pp = exi_oct_sub(more, times(half, three(p[0], p[0], p[1], p[1], p[2], p[2])));
    const exi_oct qq = exi_oct_sub(more, times(half, three(q[0], q[0], q[1], q[1], q[2], q[2])));
    const exi_oct pq = times(half, three(p[0], q[0], p[1], q[1], p[2], q[2]));
    EXI_WRITE_OUT
    for (int i = 0; i < 3; i++) {
        const exi_oct x = p[i], y = q[i];
        p[i] = cross(pp, x, pq, y);
        q[i] = cross(qq, y, pq, x);
    }
}

/* Adds a pull, x y z 0, to a vertex. Loads are of the size of the stores before them, which pass them on. */
EXI_KERNEL void add_to(double *at, exi_pair low, exi_pair high) {
    exi_pair_store(at, exi_pair_add(exi_pair_load(at), low));
    exi_pair_store_one(at + 2, exi_pair_add(exi_pair_load_one(at + 2), high));
}

static void pull(const exi_facings_step *step, const exi_flat *flat, const exi_goal *goal, const exi_slope *slope) {
    exi_oct p[3], q[3], first[3], second[3];
    exi_quad on_first[LANES], on_second[LANES];
    EXI_WRITE_OUT
    for (int i = 0; i < 3; i++) {
        p[i] = exi_oct_load(slope->p[i]);
        q[i] = exi_oct_load(slope->q[i]);
    }
    lean(step, flat, goal, p, q);
    const exi_oct s[3] = {exi_oct_load(goal->s[0]), exi_oct_load(goal->s[1]), exi_oct_load(goal->s[2])};
    const exi_oct area = exi_oct_load(flat->area);
    EXI_WRITE_OUT
    for (int i = 0; i < 3; i++) { /* area ([p q] S_t - gradient), times the slopes */
        const exi_oct u = times(area, exi_oct_sub(two(p[i], s[0], q[i], s[1]), exi_oct_load(slope->du[i])));
        const exi_oct v = times(area, exi_oct_sub(two(p[i], s[1], q[i], s[2]), exi_oct_load(slope->dv[i])));
        first[i] = two(u, exi_oct_load(flat->slopes[0]), v, exi_oct_load(flat->slopes[1]));
        second[i] = two(u, exi_oct_load(flat->slopes[2]), v, exi_oct_load(flat->slopes[3]));
    }
    to_lanes(first, on_first);
    to_lanes(second, on_second);
    const exi_pair zero = exi_pair_fill(0);
    EXI_WRITE_OUT
    for (int l = 0; l < LANES; l++) { /* corner 0 has the opposite of the other two */
        const int *c = flat->corners[l];
        const exi_pair low[2] = {exi_pair_low(on_first[l]), exi_pair_low(on_second[l])};
        const exi_pair high[2] = {exi_pair_high(on_first[l]), exi_pair_high(on_second[l])};
        add_to(step->right + c[0], exi_pair_subtract(zero, exi_pair_add(low[0], low[1])),
               exi_pair_subtract(zero, exi_pair_add(high[0], high[1])));
        add_to(step->right + c[1], low[0], high[0]);
        add_to(step->right + c[2], low[1], high[1]);
    }
}

static void clear(double *right, int *cleared, int count) {
    if (count > *cleared) {
        memset(right + 3 * (size_t)*cleared, 0, 3 * (size_t)(count - *cleared) * sizeof *right);
        *cleared = count;
    }
}

EXI_ENTRY(exi_facings_run, (const exi_facings_step *step), (step)) {
    const exi_flats *flats = step->flats;
    const int mask = flats->ring - 1, slope_mask = flats->slope_ring - 1;
    int pulled = 0, cleared = 0;
    for (int g = 0; g < flats->group_count; g++) {
        rotate(&flats->groups[g], &step->goals[g], step->form, &step->facings[g & mask], &step->slopes[g & slope_mask]);
        for (; pulled < flats->pulled[g]; pulled++) {
            clear(step->right, &cleared, flats->reached[pulled]);
            pull(step, &flats->groups[pulled], &step->goals[pulled], &step->slopes[pulled & slope_mask]);
        }
    }
    clear(step->right, &cleared, step->vertex_count);
}
