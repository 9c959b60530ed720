/*
 * Refined positions and normals: position(v) = sum over k of w_vk control(k), normal(v) = t1 x t2 normalised, where t1
 * and t2 are such sums as well.
 *
 * In a shared batch (stencils.h) the lanes are vertices: a control vertex is loaded once, as three splats, for up to
 * four registers of vertices, and only the weights are streamed, 4 bytes per vertex and control vertex. In a loose
 * batch the lanes are x, y, z, and four vertices are processed side by side. At Catmull-Clark level 5 of a regular 8 x
 * 8 grid (66049 vertices), this took 2.8 ns per vertex on an Arm core, and lanes as x, y, z throughout (as in
 * OpenSubdiv) 8.7.
 */
#include "runtime/base/simd.h"
#include "runtime/refine/limit.inl"
#include "runtime/refine/stencils.h"

/* Registers of weights at a time: those of a block or, in wide sets, of two; four were no faster. */
enum { BLOCK_WIDES = EXI_STENCIL_BLOCK / EXI_WIDTH, BLOCKS = EXI_WIDTH > 4 ? 2 : 1, SIDE_BY_SIDE = 4 };

static inline float *triple(float *first, size_t stride, size_t i) {
    return (float *)(void *)((char *)first + i * stride);
}

/* ---- output from registers ---- */

static inline bool contiguous(const uint32_t *vertices, int count) {
    return vertices[count - 1] - vertices[0] == (uint32_t)count - 1; /* vertices ascend */
}

/* Write the first `count` lanes. */
static inline void store_quad(float *out, size_t stride, const uint32_t *vertices, int count, const exi_quad sums[3]) {
    if (count >= EXI_QUAD_LANES && stride == 3 * sizeof(float) && contiguous(vertices, EXI_QUAD_LANES)) {
        exi_quad_store_triples(out + 3 * (size_t)vertices[0], sums);
        return;
    }
    float lanes[3][EXI_QUAD_LANES];
    EXI_WRITE_OUT
    for (int c = 0; c < 3; c++)
        exi_quad_store(lanes[c], sums[c]);
    for (int i = 0; i < count && i < EXI_QUAD_LANES; i++) {
        float *to = triple(out, stride, vertices[i]);
        to[0] = lanes[0][i];
        to[1] = lanes[1][i];
        to[2] = lanes[2][i];
    }
}

static inline void store_tile(float *out, size_t stride, const uint32_t *vertices, int count, const exi_wide sums[3]) {
#if EXI_WIDTH == 4
    store_quad(out, stride, vertices, count, sums);
#else
    if (count >= EXI_WIDTH && stride == 3 * sizeof(float) && contiguous(vertices, EXI_WIDTH)) {
        exi_store_triples(out + 3 * (size_t)vertices[0], sums[0], sums[1], sums[2]);
        return;
    }
    float lanes[3][EXI_WIDTH];
    EXI_WRITE_OUT
    for (int c = 0; c < 3; c++)
        exi_store(lanes[c], sums[c]);
    for (int i = 0; i < count && i < EXI_WIDTH; i += EXI_QUAD_LANES) {
        const exi_quad quad[3] = {exi_quad_load(lanes[0] + i), exi_quad_load(lanes[1] + i),
                                  exi_quad_load(lanes[2] + i)};
        store_quad(out, stride, vertices + i, count - i, quad);
    }
#endif
}

static inline exi_wide dot(const exi_wide a[3], const exi_wide b[3]) {
    return exi_add(exi_add(exi_mul(a[0], b[0]), exi_mul(a[1], b[1])), exi_mul(a[2], b[2]));
}

/* exi_limit_normal of a register of vertices: the same operations, so the same bits. t[6]: x y z of the first tangent,
 * then of the second. */
static inline void store_normals(const exi_stencil_pass *p, const uint32_t *vertices, int count, const exi_wide t[6]) {
    const exi_wide *a = t, *b = t + 3;
    exi_wide n[3];
    EXI_WRITE_OUT
    for (int c = 0; c < 3; c++) {
        const int next = (c + 1) % 3, last = (c + 2) % 3;
        n[c] = exi_sub(exi_mul(a[next], b[last]), exi_mul(a[last], b[next]));
    }
    const exi_wide length_sq = dot(n, n), zero = exi_splat(0), one = exi_splat(1);
    const exi_wide least_sq = exi_mul(exi_mul(dot(a, a), dot(b, b)), exi_splat(EXI_LIMIT_SINE_SQ));
    /* 1 in lanes that need doubles, also where a number is none */
    exi_wide slow = exi_pick(exi_splat(EXI_SQUARE_MOST), length_sq, zero, one);
    slow = exi_pick(length_sq, exi_splat(EXI_SQUARE_LEAST), slow, one);
    slow = exi_pick(length_sq, least_sq, slow, one);
    float lengths_sq[EXI_WIDTH], scales[EXI_WIDTH];
    exi_store(lengths_sq, length_sq);
    for (int i = 0; i < EXI_WIDTH; i++)
        scales[i] = 1.0f / sqrtf(lengths_sq[i]);
    const exi_wide scale = exi_load(scales);
    exi_wide units[3];
    EXI_WRITE_OUT
    for (int c = 0; c < 3; c++)
        units[c] = exi_mul(n[c], scale);
    store_tile(p->normals, p->normal_stride, vertices, count, units);
    if (!exi_any_above(slow, zero))
        return;
    float lanes[6][EXI_WIDTH], slowly[EXI_WIDTH];
    exi_store(slowly, slow);
    EXI_WRITE_OUT
    for (int c = 0; c < 6; c++)
        exi_store(lanes[c], t[c]);
    for (int i = 0; i < count && i < EXI_WIDTH; i++)
        if (slowly[i] > 0) {
            const float t1[3] = {lanes[0][i], lanes[1][i], lanes[2][i]},
                        t2[3] = {lanes[3][i], lanes[4][i], lanes[5][i]};
            exi_limit_normal_slowly(t1, t2, triple(p->normals, p->normal_stride, vertices[i]));
        }
}

/* Normals of up to EXI_STENCIL_BLOCK vertices, whose tangents are in memory. */
static void store_block_normals(const exi_stencil_pass *p, const uint32_t *vertices, int count,
                                const float lanes[6][EXI_STENCIL_BLOCK]) {
    for (int i = 0; i < count; i += EXI_WIDTH) {
        exi_wide t[6];
        EXI_WRITE_OUT
        for (int c = 0; c < 6; c++)
            t[c] = exi_load(lanes[c] + i);
        store_normals(p, vertices + i, count - i, t);
    }
}

/* ---- shared batches ---- */

/* Positions of whole blocks from `first` on; `blocks` is a constant at the call. */
EXI_KERNEL void block_positions(const exi_stencil_pass *p, const exi_stencil_batch *batch, int first, int blocks) {
    enum { WIDES = BLOCK_WIDES };
    const size_t n = batch->support_count, step = n * EXI_STENCIL_BLOCK;
    const uint32_t *support = p->support + batch->support, *end = support + n;
    const float *weights = p->weights + batch->weights + (size_t)first * step;
    exi_wide sums[SIDE_BY_SIDE][3];
    EXI_WRITE_OUT
    for (int t = 0; t < blocks * WIDES; t++)
        EXI_WRITE_OUT
    for (int c = 0; c < 3; c++)
        sums[t][c] = exi_splat(0.0f);
    for (; support < end; support++, weights += EXI_STENCIL_BLOCK) {
        const float *point = p->control + 4 * (size_t)*support;
        const exi_wide x = exi_splat(point[0]), y = exi_splat(point[1]), z = exi_splat(point[2]);
        EXI_WRITE_OUT
        for (int t = 0; t < blocks * WIDES; t++) {
            exi_wide weight = exi_load(weights + (size_t)(t / WIDES) * step + t % WIDES * EXI_WIDTH);
            sums[t][0] = exi_madd(weight, x, sums[t][0]);
            sums[t][1] = exi_madd(weight, y, sums[t][1]);
            sums[t][2] = exi_madd(weight, z, sums[t][2]);
        }
    }
    const uint32_t *vertices = p->vertices + batch->vertices + first * EXI_STENCIL_BLOCK;
    EXI_WRITE_OUT
    for (int t = 0; t < blocks * WIDES; t++)
        store_tile(p->positions, p->position_stride, vertices + t * EXI_WIDTH,
                   batch->vertex_count - first * EXI_STENCIL_BLOCK - t * EXI_WIDTH, sums[t]);
}

/* Positions of the last block, of `quads` times four vertices from `first` on; quads is a constant at the call. */
EXI_KERNEL void last_positions(const exi_stencil_pass *p, const exi_stencil_batch *batch, int first, int quads) {
    const size_t n = batch->support_count;
    const uint32_t *support = p->support + batch->support, *end = support + n;
    const float *weights = p->weights + batch->weights + (size_t)first * n;
    exi_quad sums[EXI_STENCIL_BLOCK / 4][3];
    EXI_WRITE_OUT
    for (int t = 0; t < quads; t++)
        EXI_WRITE_OUT
    for (int c = 0; c < 3; c++)
        sums[t][c] = exi_quad_splat(0.0f);
    for (; support < end; support++, weights += quads * EXI_QUAD_LANES) {
        const float *point = p->control + 4 * (size_t)*support;
        const exi_quad x = exi_quad_splat(point[0]), y = exi_quad_splat(point[1]), z = exi_quad_splat(point[2]);
        EXI_WRITE_OUT
        for (int t = 0; t < quads; t++) {
            exi_quad weight = exi_quad_load(weights + t * EXI_QUAD_LANES);
            sums[t][0] = exi_quad_madd(weight, x, sums[t][0]);
            sums[t][1] = exi_quad_madd(weight, y, sums[t][1]);
            sums[t][2] = exi_quad_madd(weight, z, sums[t][2]);
        }
    }
    const uint32_t *vertices = p->vertices + batch->vertices + first;
    EXI_WRITE_OUT
    for (int t = 0; t < quads; t++)
        store_quad(p->positions, p->position_stride, vertices + t * EXI_QUAD_LANES,
                   batch->vertex_count - first - t * EXI_QUAD_LANES, sums[t]);
}

static void shared_positions(const exi_stencil_pass *p, const exi_stencil_batch *batch) {
    const int whole = batch->width / EXI_STENCIL_BLOCK;
    int b = 0;
    for (; b + BLOCKS <= whole; b += BLOCKS)
        block_positions(p, batch, b, BLOCKS);
    for (; b < whole && BLOCKS > 1; b++)
        block_positions(p, batch, b, 1);
    switch (batch->width % EXI_STENCIL_BLOCK / EXI_QUAD_LANES) {
    case 1:
        last_positions(p, batch, b * EXI_STENCIL_BLOCK, 1);
        break;
    case 2:
        last_positions(p, batch, b * EXI_STENCIL_BLOCK, 2);
        break;
    case 3:
        last_positions(p, batch, b * EXI_STENCIL_BLOCK, 3);
        break;
    default:
        break;
    }
}

/* Normals of `tiles` registers of vertices from `tile` on, of a whole block; `tiles` is a constant at the call. */
EXI_KERNEL void tile_normals(const exi_stencil_pass *p, const exi_stencil_batch *batch, int block, int tile,
                             int tiles) {
    const size_t n = batch->support_count;
    const uint32_t *support = p->support + batch->support, *end = support + n;
    const float *weights =
        p->tangents + 2 * (batch->weights + (size_t)block * n * EXI_STENCIL_BLOCK) + 2 * tile * EXI_WIDTH;
    exi_wide sums[2][6];
    EXI_WRITE_OUT
    for (int t = 0; t < tiles; t++)
        EXI_WRITE_OUT
    for (int c = 0; c < 6; c++)
        sums[t][c] = exi_splat(0.0f);
    for (; support < end; support++, weights += 2 * EXI_STENCIL_BLOCK) {
        const float *point = p->control + 4 * (size_t)*support;
        const exi_wide x = exi_splat(point[0]), y = exi_splat(point[1]), z = exi_splat(point[2]);
        EXI_WRITE_OUT
        for (int t = 0; t < tiles; t++)
            EXI_WRITE_OUT
        for (int c = 0; c < 2; c++) {
            const exi_wide weight = exi_load(weights + (2 * t + c) * EXI_WIDTH);
            sums[t][3 * c] = exi_madd(weight, x, sums[t][3 * c]);
            sums[t][3 * c + 1] = exi_madd(weight, y, sums[t][3 * c + 1]);
            sums[t][3 * c + 2] = exi_madd(weight, z, sums[t][3 * c + 2]);
        }
    }
    EXI_WRITE_OUT
    for (int t = 0; t < tiles; t++) {
        const int first = block * EXI_STENCIL_BLOCK + (tile + t) * EXI_WIDTH;
        exi_wide tangents[6]; /* in the sums, quads of the first and of the second alternate */
        EXI_WRITE_OUT
        for (int c = 0; c < 3; c++) {
            tangents[c] = exi_even_quads(sums[t][c], sums[t][3 + c]);
            tangents[3 + c] = exi_odd_quads(sums[t][c], sums[t][3 + c]);
        }
        store_normals(p, p->vertices + batch->vertices + first, batch->vertex_count - first, tangents);
    }
}

/* Normals of the last block, of less than EXI_STENCIL_BLOCK vertices. */
static void last_normals(const exi_stencil_pass *p, const exi_stencil_batch *batch, int first) {
    const size_t n = batch->support_count, step = 2 * (size_t)(batch->width - first);
    const uint32_t *support = p->support + batch->support;
    float lanes[6][EXI_STENCIL_BLOCK] = {{0}};
    for (int i = 0; first + i < batch->width; i += EXI_QUAD_LANES) {
        const float *weights = p->tangents + 2 * (batch->weights + (size_t)first * n + (size_t)i);
        exi_quad sums[6];
        EXI_WRITE_OUT
        for (int c = 0; c < 6; c++)
            sums[c] = exi_quad_splat(0.0f);
        for (size_t k = 0; k < n; k++, weights += step) {
            const float *point = p->control + 4 * (size_t)support[k];
            const exi_quad x = exi_quad_splat(point[0]), y = exi_quad_splat(point[1]), z = exi_quad_splat(point[2]);
            EXI_WRITE_OUT
            for (int c = 0; c < 2; c++) {
                const exi_quad weight = exi_quad_load(weights + c * EXI_QUAD_LANES);
                sums[3 * c] = exi_quad_madd(weight, x, sums[3 * c]);
                sums[3 * c + 1] = exi_quad_madd(weight, y, sums[3 * c + 1]);
                sums[3 * c + 2] = exi_quad_madd(weight, z, sums[3 * c + 2]);
            }
        }
        EXI_WRITE_OUT
        for (int c = 0; c < 6; c++)
            exi_quad_store(lanes[c] + i, sums[c]);
    }
    store_block_normals(p, p->vertices + batch->vertices + first, batch->vertex_count - first,
                        (const float(*)[EXI_STENCIL_BLOCK])lanes);
}

static void shared_normals(const exi_stencil_pass *p, const exi_stencil_batch *batch) {
    const int whole = batch->width / EXI_STENCIL_BLOCK;
    for (int b = 0; b < whole; b++) {
        int tile = 0;
        for (; tile + 2 <= BLOCK_WIDES; tile += 2)
            tile_normals(p, batch, b, tile, 2);
        for (; tile < BLOCK_WIDES; tile++)
            tile_normals(p, batch, b, tile, 1);
    }
    if (whole * EXI_STENCIL_BLOCK < batch->width)
        last_normals(p, batch, whole * EXI_STENCIL_BLOCK);
}

/* ---- loose batches ---- */

/* Computes `count` sums of `row` terms side by side; `count` is a constant at the call. Sum i takes support and weights
 * from sum i / together on, so that the two tangents of a vertex can share its support. */
static inline void loose_sums(const float *control, const uint32_t *support, const float *weights, size_t row,
                              int together, int count, float out[][4]) {
    exi_quad sums[4];
    EXI_WRITE_OUT
    for (int i = 0; i < count; i++)
        sums[i] = exi_quad_splat(0.0f);
    for (size_t k = 0; k < row; k++)
        EXI_WRITE_OUT
    for (int i = 0; i < count; i++) {
        const size_t at = (size_t)(i / together) * row + k;
        const float weight = weights[at * (size_t)together + (size_t)(i % together)];
        sums[i] = exi_quad_madd(exi_quad_splat(weight), exi_quad_load(control + 4 * (size_t)support[at]), sums[i]);
    }
    EXI_WRITE_OUT
    for (int i = 0; i < count; i++)
        exi_quad_store(out[i], sums[i]);
}

static void loose_positions(const exi_stencil_pass *p, const exi_stencil_batch *batch) {
    const size_t row = batch->support_count;
    const uint32_t *support = p->support + batch->support, *vertices = p->vertices + batch->vertices;
    const float *weights = p->weights + batch->weights;
    for (int i = 0; i < batch->vertex_count;) {
        float out[4][4];
        const int count = batch->vertex_count - i >= 4 ? 4 : 1;
        if (count == 4)
            loose_sums(p->control, support, weights, row, 1, 4, out);
        else
            loose_sums(p->control, support, weights, row, 1, 1, out);
        for (int j = 0; j < count; j++)
            memcpy(triple(p->positions, p->position_stride, vertices[i + j]), out[j], 3 * sizeof(float));
        i += count;
        support += (size_t)count * row;
        weights += (size_t)count * row;
    }
}

static void loose_normals(const exi_stencil_pass *p, const exi_stencil_batch *batch) {
    const size_t row = batch->support_count;
    const uint32_t *vertices = p->vertices + batch->vertices;
    for (int i = 0; i < batch->vertex_count; i += EXI_STENCIL_BLOCK) {
        const int left = batch->vertex_count - i, count = left < EXI_STENCIL_BLOCK ? left : EXI_STENCIL_BLOCK;
        float lanes[6][EXI_STENCIL_BLOCK] = {{0}};
        for (int j = 0; j < count; j += 2) {
            const size_t begin = (size_t)(i + j) * row;
            const uint32_t *support = p->support + batch->support + begin;
            const float *weights = p->tangents + 2 * (batch->weights + begin);
            float out[4][4] = {{0}};
            if (j + 1 < count)
                loose_sums(p->control, support, weights, row, 2, 4, out);
            else
                loose_sums(p->control, support, weights, row, 2, 2, out);
            for (int axis = 0; axis < 6; axis++)
                for (int k = 0; k < 2; k++)
                    lanes[axis][j + k] = out[2 * k + axis / 3][axis % 3];
        }
        store_block_normals(p, vertices + i, count, (const float(*)[EXI_STENCIL_BLOCK])lanes);
    }
}

/* ---- the pass over the batches ---- */

EXI_ENTRY(exi_stencils_run, (const exi_stencil_pass *pass, int begin, int end), (pass, begin, end)) {
    const exi_stencil_pass p = *pass;
    for (int b = begin; b < end; b++) {
        const exi_stencil_batch batch = p.batches[b];
        if (p.positions && batch.width > 0)
            shared_positions(&p, &batch);
        else if (p.positions)
            loose_positions(&p, &batch);
        if (p.normals && batch.width > 0)
            shared_normals(&p, &batch);
        else if (p.normals)
            loose_normals(&p, &batch);
    }
}
