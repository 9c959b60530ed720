/*
 * Skinning: positions, normals and tangents of a range of vertices, moved by a palette.
 *
 *     x' = M x,   n' ~ M^-T n,   t' ~ M t,   M = sum of w_i M_i           (linear)
 *                                            M = G(sum of w_i G_i) N      (dual quaternion; palette.c)
 *
 * Two paths with the same bits. Whatever is asked for goes in blocks: sum.c makes the block's matrices, and each stream
 * is moved by them. What is usual, linear skinning of close arrays with up to four influences, makes and applies
 * matrices in registers, and leaves normals to be scaled to length 1 by a loop of their own: in one loop, the chain
 * from the first load to the last store is longer than the processor looks ahead (9.4 ns a vertex instead of 7.1).
 *
 * The inverse transpose is taken as the matrix of cofactors, r1 x r2, r2 x r0, r0 x r1 of the rows. It exists for every
 * matrix, and costs so little more than M n (7 % of the whole), which is right for rigid joints only, that there is no
 * other path: a joint that begins to scale does not make the shading jump. Where a joint mirrors, the determinant's
 * sign turns normals outward again. Lanes are independent, so the bits do not depend on where a range is cut.
 */
#include "runtime/base/result.h"
#include "runtime/pose/kernels.h"

#include <string.h>

/* Squared lengths outside this are of no use: the surface has collapsed, or numbers have left the range of float. */
#define LENGTH_SQ_LEAST 1e-30f
#define LENGTH_SQ_MOST  1e30f

/* ---- streams ---- */

typedef struct stream {
    const char *in; /* the next entry; NULL: not wanted */
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

/* Up to four entries, whatever lies between them. */
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

/* What follows the three numbers of a tangent. */
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

/* ---- whatever is asked for ---- */

enum move_kind { MOVE_POSITION, MOVE_NORMAL, MOVE_MIRRORED_NORMAL, MOVE_TANGENT };

/* To length 1, or back to what it was where it has no length to speak of. */
static inline void scale_to_one(const exi_quad was[3], exi_quad x[3]) {
    const exi_quad length_sq = exi_quad_dot(x, x), scale = exi_quad_inverse_root(length_sq);
    const exi_quad below = exi_quad_pick(exi_quad_splat(LENGTH_SQ_MOST), length_sq, length_sq, exi_quad_splat(0));
    EXI_WRITE_OUT
    for (int c = 0; c < 3; c++)
        x[c] = exi_quad_pick(below, exi_quad_splat(LENGTH_SQ_LEAST), exi_quad_mul(x[c], scale), was[c]);
}

/* The matrices of `count` vertices, applied to a stream's next entries. `kind` is a constant where this is called. */
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

/* ---- what is usual ---- */

enum { BLOCK_GROUPS = EXI_BLOCK / EXI_QUAD_LANES };

/* Normals on their way, and their squared lengths. */
typedef struct unscaled {
    float normals[BLOCK_GROUPS][3][EXI_QUAD_LANES];
    float lengths_sq[BLOCK_GROUPS][EXI_QUAD_LANES];
} unscaled;

/* Whether one of the four is outside the useful range. */
static bool any_useless(exi_quad least, exi_quad most) {
    float low[EXI_QUAD_LANES], high[EXI_QUAD_LANES];
    bool useless = false;
    exi_quad_store(low, least);
    exi_quad_store(high, most);
    EXI_WRITE_OUT
    for (int lane = 0; lane < EXI_QUAD_LANES; lane++)
        useless = useless || !(low[lane] > LENGTH_SQ_LEAST) || !(high[lane] < LENGTH_SQ_MOST);
    return useless;
}

/* Positions, and normals as far as `made`, of whole groups. `with_normals` is a constant where this is called. Returns
 * whether all normals have a length. */
EXI_KERNEL bool move_groups(const float *affine, const uint16_t *joints, const float *weights, const streams *s,
                            int groups, bool with_normals, unscaled *made) {
    const float *positions = (const float *)(const void *)s->positions.in;
    const float *normals = (const float *)(const void *)s->normals.in;
    float *out = (float *)(void *)s->positions.out;
    exi_quad least = exi_quad_splat(1), most = least;
    for (int g = 0; g < groups; g++) {
        exi_quad m[12], x[3], moved[3];
        exi_sum_group(affine, joints, weights, m);
        exi_quad_load_triples(positions, x);
        exi_move_position(m, x, moved);
        exi_quad_store_triples(out, moved);
        joints += EXI_QUAD_LANES * EXI_SHORT;
        weights += EXI_QUAD_LANES * EXI_SHORT;
        positions += 3 * EXI_QUAD_LANES;
        out += 3 * EXI_QUAD_LANES;
        if (!with_normals)
            continue;
        exi_quad_load_triples(normals, x);
        exi_move_normal(m, x, false, moved);
        const exi_quad length_sq = exi_quad_dot(moved, moved);
        least = exi_quad_min(least, length_sq);
        most = exi_quad_max(most, length_sq);
        EXI_WRITE_OUT
        for (int c = 0; c < 3; c++)
            exi_quad_store(made->normals[g][c], moved[c]);
        exi_quad_store(made->lengths_sq[g], length_sq);
        normals += 3 * EXI_QUAD_LANES;
    }
    return !with_normals || !any_useless(least, most);
}

static void scale_groups(const stream *s, int groups, const unscaled *made, bool all_useful) {
    const float *in = (const float *)(const void *)s->in;
    float *out = (float *)(void *)s->out;
    for (int g = 0; g < groups; g++, in += 3 * EXI_QUAD_LANES, out += 3 * EXI_QUAD_LANES) {
        exi_quad x[3];
        EXI_WRITE_OUT
        for (int c = 0; c < 3; c++)
            x[c] = exi_quad_load(made->normals[g][c]);
        if (all_useful) {
            const exi_quad scale = exi_quad_inverse_root(exi_quad_load(made->lengths_sq[g]));
            EXI_WRITE_OUT
            for (int c = 0; c < 3; c++)
                x[c] = exi_quad_mul(x[c], scale);
        } else {
            exi_quad was[3];
            exi_quad_load_triples(in, was);
            scale_to_one(was, x);
        }
        exi_quad_store_triples(out, x);
    }
}

/* ---- the pass over the blocks ---- */

/* A block that is usual: linear, no tangents, positions and any normals close together, nothing mirrored. */
static bool is_usual(const ex_palette *palette, const streams *s) {
    return palette->method == EX_SKINNING_LINEAR && !palette->mirrored && !s->tangents.in && s->positions.in &&
           is_close(&s->positions) && (!s->normals.in || is_close(&s->normals));
}

static void move_usual(const exi_skin_tables *t, const ex_palette *palette, int v, int groups, const streams *s) {
    const float *affine = exi_palette_affine(palette);
    const uint16_t *joints = t->joints + EXI_SHORT * (size_t)v;
    const float *weights = t->weights + EXI_SHORT * (size_t)v;
    unscaled made;
    if (!s->normals.in) {
        move_groups(affine, joints, weights, s, groups, false, &made);
    } else {
        const bool all_useful = move_groups(affine, joints, weights, s, groups, true, &made);
        scale_groups(&s->normals, groups, &made, all_useful);
    }
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

void ex_skin_apply(const ex_skin *skin, const ex_palette *palette, const ex_skin_job *job) {
    if (!skin || !palette || !job || palette->joint_count != skin->joint_count || job->begin < 0 ||
        job->end > skin->vertex_count) {
        exi_misuse(__func__,
                   "no skin, palette or job, a palette for another number of joints, or vertices out of range");
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
