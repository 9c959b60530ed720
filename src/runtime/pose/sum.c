/*
 * Matrices that move vertices, in float: sums over a vertex's influences, for a block of vertices (skin.h).
 *
 * Linear: kernels.h.
 *
 * Dual quaternion (Kavan et al. 2008; dual.inl): four vertices side by side, since the side of a rotation is a product
 * with another rotation of the same vertex. The matrix of the sum is computed and, if joints stretch, multiplied with
 * the linear sum of the stretches, so that later steps do not depend on the method.
 */
#include "runtime/pose/dual.inl"
#include "runtime/pose/kernels.h"

/* ---- linear ---- */

/* Stores the matrices of four vertices. */
static inline void store_matrices(const exi_quad m[12], float *to) {
    EXI_WRITE_OUT
    for (int i = 0; i < 12; i++)
        exi_quad_store(to + EXI_QUAD_LANES * i, m[i]);
}

/* Sums all influences of vertices v to v + 3; `place` is the first long one. A separate function, so that data of the
 * usual case need never be in memory. */
static void sum_long(const exi_skin_tables *t, const float *affine, int v, int place, float *m) {
    exi_quad rows[EXI_QUAD_LANES][3];
    EXI_WRITE_OUT
    for (int lane = 0; lane < EXI_QUAD_LANES; lane++)
        exi_sum_four(affine, t->joints + EXI_SHORT * ((size_t)v + (size_t)lane),
                     t->weights + EXI_SHORT * ((size_t)v + (size_t)lane), rows[lane]);
    for (; place < t->long_count && t->long_vertices[place] < v + EXI_QUAD_LANES; place++)
        for (uint32_t i = t->long_starts[place]; i < t->long_starts[place + 1]; i++)
            exi_add_matrix(affine + EXI_MATRIX_FLOATS * (size_t)t->long_joints[i], exi_quad_splat(t->long_weights[i]),
                           rows[t->long_vertices[place] - v]);
    exi_quad entries[12];
    exi_turn_round(rows, entries);
    store_matrices(entries, m);
}

static void sum_linear(const exi_skin_tables *t, const float *affine, int v, int count, int place, float *m) {
    int next = place < t->long_count ? t->long_vertices[place] : INT32_MAX - EXI_QUAD_LANES;
    for (const int end = v + count; v < end; v += EXI_QUAD_LANES, m += EXI_GROUP_FLOATS) {
        if (next < v + EXI_QUAD_LANES) {
            sum_long(t, affine, v, place, m);
            while (place < t->long_count && t->long_vertices[place] < v + EXI_QUAD_LANES)
                place++;
            next = place < t->long_count ? t->long_vertices[place] : INT32_MAX - EXI_QUAD_LANES;
            continue;
        }
        exi_quad entries[12];
        exi_sum_group(affine, t->joints + EXI_SHORT * (size_t)v, t->weights + EXI_SHORT * (size_t)v, entries);
        store_matrices(entries, m);
    }
}

/* ---- dual quaternion ---- */

static inline exi_quad dot4(const exi_quad a[4], const exi_quad b[4]) {
    return exi_quad_madd(a[3], b[3], exi_quad_madd(a[2], b[2], exi_quad_madd(a[1], b[1], exi_quad_mul(a[0], b[0]))));
}

/* Loads influence i of four vertices: rotations and dual parts, transposed. */
static inline void load_duals(const float *duals, const uint16_t *joints, int i, exi_quad dual[8]) {
    EXI_WRITE_OUT
    for (int lane = 0; lane < EXI_QUAD_LANES; lane++) {
        const float *d = duals + 8 * (size_t)joints[EXI_SHORT * lane + i];
        dual[lane] = exi_quad_load(d);
        dual[4 + lane] = exi_quad_load(d + 4);
    }
    exi_quad_transpose(dual);
    exi_quad_transpose(dual + 4);
}

/* Sums the first four influences. exi_dual_add explains the choice of sides. */
static inline void sum_four_duals(const float *duals, float least, const uint16_t *joints, const float *four_weights,
                                  exi_quad pivot[8], exi_quad sum[8]) {
    const exi_quad side = exi_quad_splat(least), zero = exi_quad_splat(0);
    exi_quad weights[EXI_SHORT], dual[8];
    EXI_WRITE_OUT
    for (int lane = 0; lane < EXI_QUAD_LANES; lane++)
        weights[lane] = exi_quad_load(four_weights + EXI_SHORT * lane);
    exi_quad_transpose(weights);
    load_duals(duals, joints, 0, pivot);
    EXI_WRITE_OUT
    for (int c = 0; c < 8; c++)
        sum[c] = exi_quad_mul(pivot[c], weights[0]);
    EXI_WRITE_OUT
    for (int i = 1; i < EXI_SHORT; i++) {
        load_duals(duals, joints, i, dual);
        const exi_quad against = exi_quad_sub(zero, weights[i]);
        const exi_quad weight = exi_quad_pick(dot4(dual, pivot), side, weights[i], against);
        EXI_WRITE_OUT
        for (int c = 0; c < 8; c++)
            sum[c] = exi_quad_madd(dual[c], weight, sum[c]);
    }
}

/* Adds the fifth and further influences of long vertices to sums [8][4] in memory. */
static void add_long_duals(const exi_skin_tables *t, const float *duals, float least, int v, int place, float *sums) {
    for (; place < t->long_count && t->long_vertices[place] < v + EXI_QUAD_LANES; place++) {
        const int vertex = t->long_vertices[place];
        const float *pivot = duals + 8 * (size_t)t->joints[EXI_SHORT * (size_t)vertex];
        double more[8] = {0};
        for (uint32_t i = t->long_starts[place]; i < t->long_starts[place + 1]; i++)
            exi_dual_add(duals + 8 * (size_t)t->long_joints[i], pivot, least, (double)t->long_weights[i], more);
        EXI_WRITE_OUT
        for (int c = 0; c < 8; c++)
            sums[EXI_QUAD_LANES * c + vertex - v] += (float)more[c];
    }
}

/* exi_dual_matrix for four sums. */
static inline void dual_matrix(const exi_quad sum[8], exi_quad m[12]) {
    const exi_quad scale = exi_quad_inverse_root(dot4(sum, sum)), one = exi_quad_splat(1), two = exi_quad_splat(2);
    exi_quad q[4], p[3], d[4]; /* p = 2 q */
    EXI_WRITE_OUT
    for (int i = 0; i < 4; i++) {
        q[i] = exi_quad_mul(sum[i], scale);
        d[i] = exi_quad_mul(exi_quad_mul(sum[4 + i], scale), two);
    }
    EXI_WRITE_OUT
    for (int i = 0; i < 3; i++)
        p[i] = exi_quad_mul(q[i], two);
    EXI_WRITE_OUT
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        m[4 * i + i] = exi_quad_msub(q[j], p[j], exi_quad_msub(q[k], p[k], one));
        m[4 * i + j] = exi_quad_msub(q[3], p[k], exi_quad_mul(q[i], p[j]));
        m[4 * i + k] = exi_quad_madd(q[3], p[j], exi_quad_mul(q[i], p[k]));
        m[4 * i + 3] =
            exi_quad_madd(q[3], d[i], exi_quad_msub(d[3], q[i], exi_quad_msub(q[k], d[j], exi_quad_mul(q[j], d[k]))));
    }
}

/* Multiplies rigid by m, in place. */
static inline void multiply(const exi_quad rigid[12], float *m) {
    EXI_WRITE_OUT
    for (int c = 0; c < 4; c++) {
        exi_quad column[3];
        EXI_WRITE_OUT
        for (int r = 0; r < 3; r++)
            column[r] = exi_quad_load(m + EXI_QUAD_LANES * (4 * r + c));
        EXI_WRITE_OUT
        for (int r = 0; r < 3; r++) {
            exi_quad sum = exi_quad_mul(rigid[4 * r], column[0]);
            sum = exi_quad_madd(rigid[4 * r + 1], column[1], sum);
            sum = exi_quad_madd(rigid[4 * r + 2], column[2], sum);
            exi_quad_store(m + EXI_QUAD_LANES * (4 * r + c), c == 3 ? exi_quad_add(sum, rigid[4 * r + 3]) : sum);
        }
    }
}

/* exi_dual_settle for four sums. */
static inline void settle(const exi_quad pivot[8], exi_quad sum[8]) {
    const exi_quad length_sq = dot4(sum, sum), least = exi_quad_splat(EXI_DUAL_LEAST);
    EXI_WRITE_OUT
    for (int c = 0; c < 8; c++)
        sum[c] = exi_quad_pick(length_sq, least, sum[c], pivot[c]);
}

/* If the palette is stretched, m holds the sums of the stretches. */
static void sum_duals(const exi_skin_tables *t, const ex_palette *palette, int v, int count, int place, float *m) {
    const float *duals = exi_palette_duals(palette), least = palette->side;
    const bool stretched = palette->stretched != 0;
    for (const int end = v + count; v < end; v += EXI_QUAD_LANES, m += EXI_GROUP_FLOATS) {
        exi_quad pivot[8], sum[8], rigid[12];
        sum_four_duals(duals, least, t->joints + EXI_SHORT * (size_t)v, t->weights + EXI_SHORT * (size_t)v, pivot, sum);
        if (place < t->long_count && t->long_vertices[place] < v + EXI_QUAD_LANES) {
            float sums[8 * EXI_QUAD_LANES];
            EXI_WRITE_OUT
            for (int c = 0; c < 8; c++)
                exi_quad_store(sums + EXI_QUAD_LANES * c, sum[c]);
            add_long_duals(t, duals, least, v, place, sums);
            EXI_WRITE_OUT
            for (int c = 0; c < 8; c++)
                sum[c] = exi_quad_load(sums + EXI_QUAD_LANES * c);
            while (place < t->long_count && t->long_vertices[place] < v + EXI_QUAD_LANES)
                place++;
        }
        settle(pivot, sum);
        dual_matrix(sum, rigid);
        if (stretched)
            multiply(rigid, m);
        else
            store_matrices(rigid, m);
    }
}

/* ---- entry point ---- */

int exi_skin_sum(const exi_skin_tables *t, const ex_palette *palette, int v, int count, int place, float *m) {
    const bool dual = palette->method == EX_SKINNING_DUAL_QUATERNION;
    if (!dual || palette->stretched)
        sum_linear(t, exi_palette_affine(palette), v, count, place, m);
    if (dual)
        sum_duals(t, palette, v, count, place, m);
    while (place < t->long_count && t->long_vertices[place] < v + count)
        place++;
    return place;
}
