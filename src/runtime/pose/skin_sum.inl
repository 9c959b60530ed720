/*
 * Matrices that move the vertices of a block, in float: sums over their influences. Part of skin_kernel.c.
 *
 * A block's matrices are m[12][EXI_BLOCK]: entry by entry, row after row, for all of its vertices.
 *
 * Linear: a matrix is three rows of four floats in one cache line, and a sum takes a load and a multiply-add for each
 * influence and block of registers. Four vertices are then transposed.
 *
 * If no vertex of a block has more than one or two influences, only these are summed. The bits are those of four: the
 * missing ones repeat the first joint with weight 0, so their products are zeros of the sign that the sum has if it is
 * zero.
 *
 * Dual quaternion (Kavan et al. 2008; dual.inl): four vertices side by side, since the side of a rotation is a product
 * with another rotation of the same vertex. The matrix of the sum is computed and, if joints stretch, multiplied with
 * the linear sum of the stretches, so that later steps do not depend on the method.
 */
#include "runtime/base/simd.h"
#include "runtime/pose/dual.inl"
#include "runtime/pose/skin.h"

/* ---- linear ---- */

/* Sums the first `influences` of a vertex, at most four, a constant at the call. */
EXI_KERNEL exi_three sum_short(const float *affine, const uint16_t *joints, const float *weights, int influences) {
    const float *const m[EXI_SHORT] = {
        affine + EXI_MATRIX_FLOATS * (size_t)joints[0], affine + EXI_MATRIX_FLOATS * (size_t)joints[1],
        affine + EXI_MATRIX_FLOATS * (size_t)joints[2], affine + EXI_MATRIX_FLOATS * (size_t)joints[3]};
    return exi_three_sum(m, weights, influences);
}

/* Adds the fifth and further influences of the long vertices among v to v + 3; `place` is the first not before v.
 * Returns the first not before v + 4. */
static int add_long(const exi_skin_tables *t, const float *affine, int v, int place, exi_three sums[EXI_QUAD_LANES]) {
    for (; place < t->long_count && t->long_vertices[place] < v + EXI_QUAD_LANES; place++)
        for (uint32_t i = t->long_starts[place]; i < t->long_starts[place + 1]; i++) {
            exi_three *sum = &sums[t->long_vertices[place] - v];
            *sum = exi_three_added(affine + EXI_MATRIX_FLOATS * (size_t)t->long_joints[i], t->long_weights[i], *sum);
        }
    return place;
}

static void sum_linear(const exi_skin_tables *t, const float *affine, int v, int count, int place, float *m) {
    for (const int end = v + count; v < end; v += EXI_QUAD_LANES, m += EXI_QUAD_LANES) {
        exi_three sums[EXI_QUAD_LANES];
        EXI_WRITE_OUT
        for (int lane = 0; lane < EXI_QUAD_LANES; lane++)
            sums[lane] = sum_short(affine, t->joints + EXI_SHORT * ((size_t)v + (size_t)lane),
                                   t->weights + EXI_SHORT * ((size_t)v + (size_t)lane), EXI_SHORT);
        place = add_long(t, affine, v, place, sums);
        exi_three_transpose(sums);
        EXI_WRITE_OUT
        for (int c = 0; c < 4; c++) {
            exi_quad rows[3];
            exi_three_quads(sums[c], rows);
            EXI_WRITE_OUT
            for (int r = 0; r < 3; r++)
                exi_quad_store(m + EXI_BLOCK * (4 * r + c), rows[r]);
        }
    }
}

/* ---- dual quaternion ---- */

static inline exi_quad dot_rotations(const exi_two a[4], const exi_two b[4]) {
    exi_quad sum = exi_quad_mul(exi_two_first(a[0]), exi_two_first(b[0]));
    EXI_WRITE_OUT
    for (int i = 1; i < 4; i++)
        sum = exi_quad_madd(exi_two_first(a[i]), exi_two_first(b[i]), sum);
    return sum;
}

/* Loads influence i of four vertices, transposed: component c of rotations and dual parts. */
static inline void load_duals(const float *duals, const uint16_t *joints, int i, exi_two dual[4]) {
    EXI_WRITE_OUT
    for (int lane = 0; lane < EXI_QUAD_LANES; lane++)
        dual[lane] = exi_two_load(duals + 8 * (size_t)joints[EXI_SHORT * lane + i]);
    exi_two_transpose(dual);
}

/* Sums the first `influences` of four vertices, a constant at the call. exi_dual_add explains the choice of sides. */
EXI_KERNEL void sum_four_duals(const float *duals, float least, const uint16_t *joints, const float *four_weights,
                               int influences, exi_two sum[4]) {
    const exi_quad side = exi_quad_splat(least), zero = exi_quad_splat(0);
    exi_quad weights[EXI_SHORT];
    exi_two pivot[4], dual[4];
    EXI_WRITE_OUT
    for (int lane = 0; lane < EXI_QUAD_LANES; lane++)
        weights[lane] = exi_quad_load(four_weights + EXI_SHORT * lane);
    exi_quad_transpose(weights);
    load_duals(duals, joints, 0, pivot);
    EXI_WRITE_OUT
    for (int c = 0; c < 4; c++)
        sum[c] = exi_two_mul(pivot[c], weights[0]);
    EXI_WRITE_OUT
    for (int i = 1; i < influences; i++) {
        load_duals(duals, joints, i, dual);
        const exi_quad against = exi_quad_sub(zero, weights[i]);
        const exi_quad weight = exi_quad_pick(dot_rotations(dual, pivot), side, weights[i], against);
        EXI_WRITE_OUT
        for (int c = 0; c < 4; c++)
            sum[c] = exi_two_madd(dual[c], weight, sum[c]);
    }
}

/* Adds the fifth and further influences of the block's long vertices to sums [8][EXI_BLOCK]. */
static void add_long_duals(const exi_skin_tables *t, const float *duals, float least, int v, int count, int place,
                           float *sums) {
    for (; place < t->long_count && t->long_vertices[place] < v + count; place++) {
        const int vertex = t->long_vertices[place];
        const float *pivot = duals + 8 * (size_t)t->joints[EXI_SHORT * (size_t)vertex];
        double more[8] = {0};
        for (uint32_t i = t->long_starts[place]; i < t->long_starts[place + 1]; i++)
            exi_dual_add(duals + 8 * (size_t)t->long_joints[i], pivot, least, (double)t->long_weights[i], more);
        for (int c = 0; c < 8; c++)
            sums[EXI_BLOCK * c + vertex - v] += (float)more[c];
    }
}

static inline exi_wide dot4(const exi_wide a[4], const exi_wide b[4]) {
    return exi_madd(a[3], b[3], exi_madd(a[2], b[2], exi_madd(a[1], b[1], exi_mul(a[0], b[0]))));
}

/* exi_dual_settle for a block. */
static void settle(const exi_skin_tables *t, const float *duals, int v, int count, float *sums) {
    for (int i = 0; i < count; i++) {
        const float *q = sums + i;
        const float length_sq = q[0] * q[0] + q[EXI_BLOCK] * q[EXI_BLOCK] + q[2 * EXI_BLOCK] * q[2 * EXI_BLOCK] +
                                q[3 * EXI_BLOCK] * q[3 * EXI_BLOCK];
        const float *pivot = duals + 8 * (size_t)t->joints[EXI_SHORT * ((size_t)v + (size_t)i)];
        for (int c = 0; c < 8 && !(length_sq > EXI_DUAL_LEAST); c++)
            sums[EXI_BLOCK * c + i] = pivot[c];
    }
}

/* exi_dual_matrix for EXI_WIDTH sums. */
static inline void dual_matrix(const exi_wide sum[8], exi_wide m[12]) {
    const exi_wide scale = exi_inverse_root(dot4(sum, sum)), one = exi_splat(1), two = exi_splat(2);
    exi_wide q[4], p[3], d[4]; /* p = 2 q */
    EXI_WRITE_OUT
    for (int i = 0; i < 4; i++) {
        q[i] = exi_mul(sum[i], scale);
        d[i] = exi_mul(exi_mul(sum[4 + i], scale), two);
    }
    EXI_WRITE_OUT
    for (int i = 0; i < 3; i++)
        p[i] = exi_mul(q[i], two);
    EXI_WRITE_OUT
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        m[4 * i + i] = exi_msub(q[j], p[j], exi_msub(q[k], p[k], one));
        m[4 * i + j] = exi_msub(q[3], p[k], exi_mul(q[i], p[j]));
        m[4 * i + k] = exi_madd(q[3], p[j], exi_mul(q[i], p[k]));
        m[4 * i + 3] = exi_madd(q[3], d[i], exi_msub(d[3], q[i], exi_msub(q[k], d[j], exi_mul(q[j], d[k]))));
    }
}

/* Multiplies rigid by EXI_WIDTH matrices of a block, in place. */
static inline void multiply(const exi_wide rigid[12], float *m) {
    EXI_WRITE_OUT
    for (int c = 0; c < 4; c++) {
        exi_wide column[3];
        EXI_WRITE_OUT
        for (int r = 0; r < 3; r++)
            column[r] = exi_load(m + EXI_BLOCK * (4 * r + c));
        EXI_WRITE_OUT
        for (int r = 0; r < 3; r++) {
            exi_wide sum = exi_mul(rigid[4 * r], column[0]);
            sum = exi_madd(rigid[4 * r + 1], column[1], sum);
            sum = exi_madd(rigid[4 * r + 2], column[2], sum);
            exi_store(m + EXI_BLOCK * (4 * r + c), c == 3 ? exi_add(sum, rigid[4 * r + 3]) : sum);
        }
    }
}

/* The sums of a block, [8][EXI_BLOCK]: rotations, then dual parts. `influences` is a constant at the call. */
EXI_KERNEL void sum_duals_of(const exi_skin_tables *t, const float *duals, float least, int v, int count,
                             int influences, float *sums) {
    for (int i = 0; i < count; i += EXI_QUAD_LANES) {
        exi_two sum[4];
        sum_four_duals(duals, least, t->joints + EXI_SHORT * (size_t)(v + i), t->weights + EXI_SHORT * (size_t)(v + i),
                       influences, sum);
        EXI_WRITE_OUT
        for (int c = 0; c < 4; c++) {
            exi_quad_store(sums + EXI_BLOCK * c + i, exi_two_first(sum[c]));
            exi_quad_store(sums + EXI_BLOCK * (4 + c) + i, exi_two_second(sum[c]));
        }
    }
}

/* If the palette is stretched, m holds the sums of the stretches. */
static void sum_duals(const exi_skin_tables *t, const ex_palette *palette, int v, int count, int place, float *m) {
    const float *duals = exi_palette_duals(palette), least = palette->side;
    float sums[8 * EXI_BLOCK];
    if (exi_skin_most(t, v, count) > 2)
        sum_duals_of(t, duals, least, v, count, EXI_SHORT, sums);
    else
        sum_duals_of(t, duals, least, v, count, 2, sums);
    for (int i = (count + EXI_QUAD_LANES - 1) / EXI_QUAD_LANES * EXI_QUAD_LANES; i % EXI_WIDTH; i++)
        for (int c = 0; c < 8; c++)
            sums[EXI_BLOCK * c + i] = c == 3; /* no turn */
    add_long_duals(t, duals, least, v, count, place, sums);
    const exi_wide zero = exi_splat(0), one = exi_splat(1);
    for (int i = 0; i < count; i += EXI_WIDTH) {
        exi_wide sum[8], rigid[12];
        for (int c = 0; c < 4; c++)
            sum[c] = exi_load(sums + EXI_BLOCK * c + i);
        if (exi_any_above(exi_pick(dot4(sum, sum), exi_splat(EXI_DUAL_LEAST), zero, one), zero))
            settle(t, duals, v + i, count - i < EXI_WIDTH ? count - i : EXI_WIDTH, sums + i);
        EXI_WRITE_OUT
        for (int c = 0; c < 8; c++)
            sum[c] = exi_load(sums + EXI_BLOCK * c + i);
        dual_matrix(sum, rigid);
        if (palette->stretched != 0)
            multiply(rigid, m + i);
        else
            EXI_WRITE_OUT
        for (int e = 0; e < 12; e++)
            exi_store(m + EXI_BLOCK * e + i, rigid[e]);
    }
}

/*
 * Sums the matrices of vertices v to v + count, count at most EXI_BLOCK; entries after the last are undefined. `place`
 * is the first long vertex not before v; returns the first not before v + count.
 */
static int sum_block(const exi_skin_tables *t, const ex_palette *palette, int v, int count, int place, float *m) {
    const bool dual = palette->method == EX_SKINNING_DUAL_QUATERNION;
    if (!dual || palette->stretched)
        sum_linear(t, exi_palette_affine(palette), v, count, place, m);
    if (dual)
        sum_duals(t, palette, v, count, place, m);
    while (place < t->long_count && t->long_vertices[place] < v + count)
        place++;
    return place;
}
