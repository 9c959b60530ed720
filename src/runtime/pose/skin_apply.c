/*
 * Skinning: moves positions, normals and tangents of a range of vertices with a palette.
 *
 *     x' = M x,   n' ~ M^-T n,   t' ~ M t,   M = sum of w_i M_i           (linear)
 *                                            M = G(sum of w_i G_i) N      (dual quaternion; palette.c)
 *
 * There are two paths with the same bits. The general path works in blocks: sum.c computes the block's matrices, which
 * then move each stream. The usual case, linear skinning of packed arrays with up to four influences, processes a block
 * in four short loops: sums of rows, positions and directions of normals, their lengths, unit normals. A single loop
 * takes 9.4 ns per vertex instead of 7: the chain from its first load to its last store is longer than the processor's
 * out-of-order window (docs/performance.md).
 *
 * The inverse transpose is computed as the matrix of cofactors, r1 x r2, r2 x r0, r0 x r1 of the rows. It exists for
 * every matrix and costs little more than M n (7 % of the total), which is right for rigid joints only. So it is always
 * used: shading does not jump when a joint begins to scale. If a joint mirrors, the determinant's sign turns normals
 * outward again. Lanes are independent, so the bits do not depend on where a range is cut.
 */
#include "runtime/base/result.h"
#include "runtime/base/rows.h"
#include "runtime/pose/kernels.h"

#include <string.h>

/* Range of usable squared lengths: outside it, the surface has collapsed or numbers have left the range of float. */
#define LENGTH_SQ_LEAST 1e-30f
#define LENGTH_SQ_MOST  1e30f

/* ---- streams ---- */

typedef struct stream {
    const char *in; /* next entry; NULL: not written */
    char *out;
    size_t in_stride, out_stride;
} stream;

typedef struct streams {
    stream positions, normals, tangents;
} streams;

static stream open_stream(const float *in, size_t in_stride, float *out, size_t out_stride, size_t close) {
    if (!in || !out)
        return (stream){0};
    return (stream){(const char *)in, (char *)out, in_stride ? in_stride : close, out_stride ? out_stride : close};
}

static bool is_close(const stream *s) {
    return s->in_stride == 3 * sizeof(float) && s->out_stride == 3 * sizeof(float);
}

static void go_on(stream *s, int count) {
    if (!s->in)
        return;
    s->in += (size_t)count * s->in_stride;
    s->out += (size_t)count * s->out_stride;
}

/* Loads up to four entries with any stride. */
static inline void load_any(const stream *s, int count, exi_quad x[3]) {
    if (s->in_stride == 3 * sizeof(float) && count >= EXI_QUAD_LANES) {
        exi_quad_load_triples((const float *)(const void *)s->in, x);
        return;
    }
    float lanes[3][EXI_QUAD_LANES] = {{0}}, triple[3];
    for (int lane = 0; lane < count && lane < EXI_QUAD_LANES; lane++) {
        memcpy(triple, s->in + (size_t)lane * s->in_stride, sizeof triple);
        EXI_WRITE_OUT
        for (int c = 0; c < 3; c++)
            lanes[c][lane] = triple[c];
    }
    EXI_WRITE_OUT
    for (int c = 0; c < 3; c++)
        x[c] = exi_quad_load(lanes[c]);
}

static inline void store_any(const stream *s, int count, const exi_quad x[3]) {
    if (s->out_stride == 3 * sizeof(float) && count >= EXI_QUAD_LANES) {
        exi_quad_store_triples((float *)(void *)s->out, x);
        return;
    }
    float lanes[3][EXI_QUAD_LANES];
    EXI_WRITE_OUT
    for (int c = 0; c < 3; c++)
        exi_quad_store(lanes[c], x[c]);
    for (int lane = 0; lane < count && lane < EXI_QUAD_LANES; lane++) {
        float triple[3] = {lanes[0][lane], lanes[1][lane], lanes[2][lane]};
        memcpy(s->out + (size_t)lane * s->out_stride, triple, sizeof triple);
    }
}

/* Copies the signs of tangents. */
static void copy_signs(const stream *s, int count) {
    for (int v = 0; v < count; v++)
        memmove(s->out + (size_t)v * s->out_stride + 3 * sizeof(float),
                s->in + (size_t)v * s->in_stride + 3 * sizeof(float), sizeof(float));
}

static void grow_box(const stream *s, int count, float box[6]) {
    for (int v = 0; v < count; v++) {
        float triple[3];
        memcpy(triple, s->out + (size_t)v * s->out_stride, sizeof triple);
        EXI_WRITE_OUT
        for (int c = 0; c < 3; c++) {
            box[c] = triple[c] < box[c] ? triple[c] : box[c];
            box[3 + c] = triple[c] > box[3 + c] ? triple[c] : box[3 + c];
        }
    }
}

/* ---- general path ---- */

enum move_kind { MOVE_POSITION, MOVE_NORMAL, MOVE_MIRRORED_NORMAL, MOVE_TANGENT };

/* Scales to unit length, or restores the old value if the length is unusable. */
static inline void scale_to_one(const exi_quad was[3], exi_quad x[3]) {
    const exi_quad length_sq = exi_quad_dot(x, x), scale = exi_quad_inverse_root(length_sq);
    const exi_quad below = exi_quad_pick(exi_quad_splat(LENGTH_SQ_MOST), length_sq, length_sq, exi_quad_splat(0));
    EXI_WRITE_OUT
    for (int c = 0; c < 3; c++)
        x[c] = exi_quad_pick(below, exi_quad_splat(LENGTH_SQ_LEAST), exi_quad_mul(x[c], scale), was[c]);
}

/* Applies the matrices of `count` vertices to a stream's next entries. `kind` is a constant at the call. */
EXI_KERNEL void move_stream(stream s, const float *matrices, int count, enum move_kind kind) {
    for (; count > 0; count -= EXI_QUAD_LANES, matrices += EXI_GROUP_FLOATS) {
        exi_quad m[12], x[3], moved[3];
        EXI_WRITE_OUT
        for (int i = 0; i < 12; i++)
            m[i] = exi_quad_load(matrices + EXI_QUAD_LANES * i);
        load_any(&s, count, x);
        if (kind == MOVE_POSITION)
            exi_move_position(m, x, moved);
        else if (kind == MOVE_TANGENT)
            exi_move_tangent(m, x, moved);
        else
            exi_move_normal(m, x, kind == MOVE_MIRRORED_NORMAL, moved);
        if (kind != MOVE_POSITION)
            scale_to_one(x, moved);
        store_any(&s, count, moved);
        go_on(&s, EXI_QUAD_LANES);
    }
}

static void move_block(const streams *s, const float *matrices, int count, bool mirrored) {
    if (s->positions.in)
        move_stream(s->positions, matrices, count, MOVE_POSITION);
    if (s->normals.in && mirrored)
        move_stream(s->normals, matrices, count, MOVE_MIRRORED_NORMAL);
    else if (s->normals.in)
        move_stream(s->normals, matrices, count, MOVE_NORMAL);
    if (s->tangents.in) {
        copy_signs(&s->tangents, count);
        move_stream(s->tangents, matrices, count, MOVE_TANGENT);
    }
}

/* ---- usual case ---- */

enum { BLOCK_GROUPS = EXI_BLOCK / EXI_QUAD_LANES };

/* True if one of the four is outside the usable range. */
static bool any_useless(exi_quad least, exi_quad most) {
    float low[EXI_QUAD_LANES], high[EXI_QUAD_LANES];
    bool useless = false;
    exi_quad_store(low, least);
    exi_quad_store(high, most);
    EXI_WRITE_OUT
    for (int lane = 0; lane < EXI_QUAD_LANES; lane++)
        useless = useless | !(low[lane] > LENGTH_SQ_LEAST) | !(high[lane] < LENGTH_SQ_MOST);
    return useless;
}

/* Intermediate data of a block: the rows of its matrices; normals before scaling, and their squared lengths. */
enum { ROWS_FLOATS = 12, NORMALS_FLOATS = 4 * EXI_QUAD_LANES };

static void sum_rows(const float *affine, const uint16_t *joints, const float *weights, int count, float *to) {
    for (int v = 0; v < count; v++, joints += EXI_SHORT, weights += EXI_SHORT, to += ROWS_FLOATS) {
        exi_quad rows[3];
        exi_sum_four(affine, joints, weights, rows);
        EXI_WRITE_OUT
        for (int r = 0; r < 3; r++)
            exi_quad_store(to + 4 * r, rows[r]);
    }
}

/* Positions, and the directions of normals, of whole groups. `with_normals` is a constant at the call. */
EXI_KERNEL void move_groups(const streams *s, int groups, const float *rows, bool with_normals, float *made) {
    const float *positions = (const float *)(const void *)s->positions.in;
    const float *normals = (const float *)(const void *)s->normals.in;
    float *out = (float *)(void *)s->positions.out;
    for (int g = 0; g < groups; g++) {
        exi_quad four[EXI_QUAD_LANES][3], m[12], x[3], n[3], moved[3];
        EXI_WRITE_OUT
        for (int i = 0; i < 3 * EXI_QUAD_LANES; i++)
            four[i / 3][i % 3] = exi_quad_load(rows + 4 * i);
        exi_quad_load_triples(positions, x);
        if (with_normals)
            exi_quad_load_triples(normals, n); /* before any store: a load after a store of triples waits for it */
        exi_turn_round(four, m);
        exi_move_position(m, x, moved);
        exi_quad_store_triples(out, moved);
        rows += EXI_QUAD_LANES * ROWS_FLOATS;
        positions += 3 * EXI_QUAD_LANES;
        out += 3 * EXI_QUAD_LANES;
        if (!with_normals)
            continue;
        exi_move_normal(m, n, false, moved);
        EXI_WRITE_OUT
        for (int c = 0; c < 3; c++)
            exi_quad_store(made + EXI_QUAD_LANES * c, moved[c]);
        normals += 3 * EXI_QUAD_LANES;
        made += NORMALS_FLOATS;
    }
}

/* Computes squared lengths; true if all are usable. */
static bool measure_groups(int groups, float *made) {
    exi_quad least = exi_quad_splat(1), most = least;
    for (int g = 0; g < groups; g++, made += NORMALS_FLOATS) {
        exi_quad x[3];
        EXI_WRITE_OUT
        for (int c = 0; c < 3; c++)
            x[c] = exi_quad_load(made + EXI_QUAD_LANES * c);
        const exi_quad length_sq = exi_quad_dot(x, x);
        least = exi_quad_min(least, length_sq);
        most = exi_quad_max(most, length_sq);
        exi_quad_store(made + EXI_QUAD_LANES * 3, length_sq);
    }
    return !any_useless(least, most);
}

static void scale_groups(const stream *s, int groups, const float *made) {
    float *out = (float *)(void *)s->out;
    for (int g = 0; g < groups; g++, made += NORMALS_FLOATS, out += 3 * EXI_QUAD_LANES) {
        const exi_quad scale = exi_quad_inverse_root(exi_quad_load(made + EXI_QUAD_LANES * 3));
        exi_quad x[3];
        EXI_WRITE_OUT
        for (int c = 0; c < 3; c++)
            x[c] = exi_quad_mul(exi_quad_load(made + EXI_QUAD_LANES * c), scale);
        exi_quad_store_triples(out, x);
    }
}

static void scale_or_keep_groups(const stream *s, int groups, const float *made) {
    const float *in = (const float *)(const void *)s->in;
    float *out = (float *)(void *)s->out;
    for (int g = 0; g < groups; g++, made += NORMALS_FLOATS, in += 3 * EXI_QUAD_LANES, out += 3 * EXI_QUAD_LANES) {
        exi_quad was[3], x[3];
        EXI_WRITE_OUT
        for (int c = 0; c < 3; c++)
            x[c] = exi_quad_load(made + EXI_QUAD_LANES * c);
        exi_quad_load_triples(in, was);
        scale_to_one(was, x);
        exi_quad_store_triples(out, x);
    }
}

/* ---- the pass over the blocks ---- */

/* True for the usual case: linear, no tangents, packed positions and normals (if any), no mirroring. */
static bool is_usual(const ex_palette *palette, const streams *s) {
    return palette->method == EX_SKINNING_LINEAR && !palette->mirrored && !s->tangents.in && s->positions.in &&
           is_close(&s->positions) && (!s->normals.in || is_close(&s->normals));
}

static void move_usual(const exi_skin_tables *t, const ex_palette *palette, int v, int groups, const streams *s) {
    float rows[EXI_BLOCK * ROWS_FLOATS], made[BLOCK_GROUPS * NORMALS_FLOATS];
    sum_rows(exi_palette_affine(palette), t->joints + EXI_SHORT * (size_t)v, t->weights + EXI_SHORT * (size_t)v,
             EXI_QUAD_LANES * groups, rows);
    if (!s->normals.in) {
        move_groups(s, groups, rows, false, made);
        return;
    }
    move_groups(s, groups, rows, true, made);
    if (measure_groups(groups, made))
        scale_groups(&s->normals, groups, made);
    else
        scale_or_keep_groups(&s->normals, groups, made);
}

static void apply(const exi_skin_tables *t, const ex_palette *palette, const ex_skin_job *job, streams s) {
    const bool usual = is_usual(palette, &s);
    int place = exi_skin_find_long(t, job->begin);
    for (int v = job->begin, count; v < job->end; v += count) {
        count = job->end - v < EXI_BLOCK ? job->end - v : EXI_BLOCK;
        const bool is_long = place < t->long_count && t->long_vertices[place] < v + count;
        if (usual && !is_long && count >= EXI_QUAD_LANES) {
            count -= count % EXI_QUAD_LANES;
            move_usual(t, palette, v, count / EXI_QUAD_LANES, &s);
        } else {
            float matrices[BLOCK_GROUPS * EXI_GROUP_FLOATS];
            place = exi_skin_sum(t, palette, v, count, place, matrices);
            move_block(&s, matrices, count, palette->mirrored != 0);
        }
        if (s.positions.in && job->box)
            grow_box(&s.positions, count, job->box);
        go_on(&s.positions, count);
        go_on(&s.normals, count);
        go_on(&s.tangents, count);
    }
}

static bool rows_fit(const ex_skin_job *job) {
    return exi_rows_fit(job->positions, job->position_stride, 12) &&
           exi_rows_fit(job->normals, job->normal_stride, 12) && exi_rows_fit(job->tangents, job->tangent_stride, 16) &&
           exi_rows_fit(job->out_positions, job->out_position_stride, 12) &&
           exi_rows_fit(job->out_normals, job->out_normal_stride, 12) &&
           exi_rows_fit(job->out_tangents, job->out_tangent_stride, 16);
}

void ex_skin_apply(const ex_skin *skin, const ex_palette *palette, const ex_skin_job *job) {
    if (!skin || !palette || !job || palette->joint_count != skin->joint_count || job->begin < 0 ||
        job->end > skin->vertex_count) {
        exi_misuse(__func__,
                   "no skin, palette or job, a palette for another number of joints, or vertices out of range");
        return;
    }
    if (!rows_fit(job)) {
        exi_misuse(__func__, EXI_ROWS_MISUSE);
        return;
    }
    const exi_skin_tables t = exi_skin_tables_of(skin);
    const streams s = {
        .positions =
            open_stream(job->positions, job->position_stride, job->out_positions, job->out_position_stride, 12),
        .normals = open_stream(job->normals, job->normal_stride, job->out_normals, job->out_normal_stride, 12),
        .tangents = open_stream(job->tangents, job->tangent_stride, job->out_tangents, job->out_tangent_stride, 16)};
    apply(&t, palette, job, s);
}
