/*
 * Skinning: moves positions, normals and tangents of a range of vertices with a palette.
 *
 *     x' = M x,   n' ~ M^-T n,   t' ~ M t,   M = sum of w_i M_i           (linear)
 *                                            M = G(sum of w_i G_i) N      (dual quaternion; palette.c)
 *
 * There are two paths with the same bits. The general path works in blocks: skin_sum.inl computes the block's matrices,
 * which then move each stream, EXI_WIDTH vertices at a time. The usual case, linear skinning of packed arrays with up
 * to four influences, processes a block in four short loops: sums, positions and directions of normals, their lengths,
 * unit normals. On a Neoverse-V1, a single loop takes 9.4 ns per vertex instead of 7: the chain from its first load to
 * its last store is longer than the processor's out-of-order window (docs/performance.md). With wider registers the
 * chain is short, and sums are faster in the second loop (3.8 instead of 4.3 ns). There the three rows of a matrix stay
 * together (exi_three): one load, one multiply-add and two shuffles per matrix with AVX-512. Sixteen vertices as lanes,
 * in one loop, were slower there (4.7 instead of 4.0 ns), though they need fewer operations.
 *
 * The inverse transpose is computed as the matrix of cofactors, r1 x r2, r2 x r0, r0 x r1 of the rows. It exists for
 * every matrix and costs little more than M n (7 % of the total), which is right for rigid joints only. So it is always
 * used: shading does not jump when a joint begins to scale. If a joint mirrors, the determinant's sign turns normals
 * outward again. Lanes are independent, so the bits do not depend on where a range is cut.
 */
#include "runtime/pose/skin_sum.inl"

#include <string.h>

/* Range of usable squared lengths: outside it, the surface has collapsed or numbers have left the range of float. */
#define LENGTH_SQ_LEAST 1e-30f
#define LENGTH_SQ_MOST  1e30f

/* ---- streams ---- */

static bool is_close(const exi_stream *s) {
    return s->in_stride == 3 * sizeof(float) && s->out_stride == 3 * sizeof(float);
}

static void go_on(exi_stream *s, int count) {
    if (!s->in)
        return;
    s->in += (size_t)count * s->in_stride;
    s->out += (size_t)count * s->out_stride;
}

/* Loads up to EXI_WIDTH entries with any stride. */
static inline void load_any(const exi_stream *s, int count, exi_wide x[3]) {
    if (s->in_stride == 3 * sizeof(float) && count >= EXI_WIDTH) {
        exi_load_triples((const float *)(const void *)s->in, x);
        return;
    }
    float lanes[3][EXI_WIDTH] = {{0}}, triple[3];
    for (int lane = 0; lane < count && lane < EXI_WIDTH; lane++) {
        memcpy(triple, s->in + (size_t)lane * s->in_stride, sizeof triple);
        EXI_WRITE_OUT
        for (int c = 0; c < 3; c++)
            lanes[c][lane] = triple[c];
    }
    EXI_WRITE_OUT
    for (int c = 0; c < 3; c++)
        x[c] = exi_load(lanes[c]);
}

static inline void store_any(const exi_stream *s, int count, const exi_wide x[3]) {
    if (s->out_stride == 3 * sizeof(float) && count >= EXI_WIDTH) {
        exi_store_triples((float *)(void *)s->out, x[0], x[1], x[2]);
        return;
    }
    float lanes[3][EXI_WIDTH];
    EXI_WRITE_OUT
    for (int c = 0; c < 3; c++)
        exi_store(lanes[c], x[c]);
    for (int lane = 0; lane < count && lane < EXI_WIDTH; lane++) {
        float triple[3] = {lanes[0][lane], lanes[1][lane], lanes[2][lane]};
        memcpy(s->out + (size_t)lane * s->out_stride, triple, sizeof triple);
    }
}

/* Copies the signs of tangents. */
static void copy_signs(const exi_stream *s, int count) {
    for (int v = 0; v < count; v++)
        memmove(s->out + (size_t)v * s->out_stride + 3 * sizeof(float),
                s->in + (size_t)v * s->in_stride + 3 * sizeof(float), sizeof(float));
}

static void grow_box(const exi_stream *s, int count, float box[6]) {
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

static inline exi_wide dot3(const exi_wide a[3], const exi_wide b[3]) {
    return exi_madd(a[2], b[2], exi_madd(a[1], b[1], exi_mul(a[0], b[0])));
}

static inline void cross(const exi_wide a[3], const exi_wide b[3], exi_wide out[3]) {
    out[0] = exi_msub(a[2], b[1], exi_mul(a[1], b[2]));
    out[1] = exi_msub(a[0], b[2], exi_mul(a[2], b[0]));
    out[2] = exi_msub(a[1], b[0], exi_mul(a[0], b[1]));
}

/* Transforms normals by the cofactors; if `mirrored`, a constant at the call, with the sign of the determinant. */
EXI_KERNEL void move_normal(const exi_wide m[12], const exi_wide x[3], bool mirrored, exi_wide out[3]) {
    exi_wide cofactors[3][3];
    cross(m + 4, m + 8, cofactors[0]);
    cross(m + 8, m, cofactors[1]);
    cross(m, m + 4, cofactors[2]);
    EXI_WRITE_OUT
    for (int r = 0; r < 3; r++)
        out[r] = dot3(cofactors[r], x);
    if (!mirrored)
        return;
    const exi_wide zero = exi_splat(0);
    const exi_wide hand = exi_pick(zero, dot3(m, cofactors[0]), exi_splat(-1), exi_splat(1));
    EXI_WRITE_OUT
    for (int r = 0; r < 3; r++)
        out[r] = exi_mul(out[r], hand);
}

/* Scales to unit length, or restores the old value if the length is unusable. */
static inline void scale_to_one(const exi_wide was[3], exi_wide x[3]) {
    const exi_wide length_sq = dot3(x, x), scale = exi_inverse_root(length_sq);
    const exi_wide below = exi_pick(exi_splat(LENGTH_SQ_MOST), length_sq, length_sq, exi_splat(0));
    EXI_WRITE_OUT
    for (int c = 0; c < 3; c++)
        x[c] = exi_pick(below, exi_splat(LENGTH_SQ_LEAST), exi_mul(x[c], scale), was[c]);
}

/* Applies the matrices of `count` vertices to a stream's next entries. `kind` is a constant at the call. */
EXI_KERNEL void move_stream(exi_stream s, const float *matrices, int count, enum move_kind kind) {
    for (; count > 0; count -= EXI_WIDTH, matrices += EXI_WIDTH) {
        exi_wide m[12], x[3], moved[3];
        EXI_WRITE_OUT
        for (int i = 0; i < 12; i++)
            m[i] = exi_load(matrices + EXI_BLOCK * i);
        load_any(&s, count, x);
        EXI_WRITE_OUT
        for (int r = 0; r < 3; r++) {
            const exi_wide *row = m + 4 * r;
            if (kind == MOVE_POSITION)
                moved[r] = exi_madd(row[2], x[2], exi_madd(row[1], x[1], exi_madd(row[0], x[0], row[3])));
            else if (kind == MOVE_TANGENT)
                moved[r] = dot3(row, x);
        }
        if (kind == MOVE_NORMAL || kind == MOVE_MIRRORED_NORMAL)
            move_normal(m, x, kind == MOVE_MIRRORED_NORMAL, moved);
        if (kind != MOVE_POSITION)
            scale_to_one(x, moved);
        store_any(&s, count, moved);
        go_on(&s, EXI_WIDTH);
    }
}

static void move_block(const exi_streams *s, const float *matrices, int count, bool mirrored) {
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

/* Normals of a block before scaling, and their squared lengths, EXI_WIDTH together. */
typedef struct raw_normals {
    float x[3][EXI_WIDTH], length_sq[EXI_WIDTH];
} raw_normals;

/* The direction of normals by the cofactors of four matrices, given by their columns. */
static inline exi_three turn_normals(const exi_three m[4], const exi_three n[3]) {
    exi_three after[3], last[3], cofactors[3];
    EXI_WRITE_OUT
    for (int c = 0; c < 3; c++) {
        after[c] = exi_three_next(m[c]);
        last[c] = exi_three_next(after[c]);
    }
    EXI_WRITE_OUT
    for (int c = 0; c < 3; c++) {
        const int j = (c + 1) % 3, k = (c + 2) % 3;
        cofactors[c] = exi_three_msub(after[k], last[j], exi_three_mul(after[j], last[k]));
    }
    return exi_three_madd(cofactors[2], n[2], exi_three_madd(cofactors[1], n[1], exi_three_mul(cofactors[0], n[0])));
}

/* The sums of a block's vertices: made before, or if `sums` is NULL when they are needed. */
typedef struct block_sums {
    const exi_three *sums;
    const float *affine, *weights;
    const uint16_t *joints;
} block_sums;

EXI_KERNEL exi_three sum_of(const block_sums *b, int v, int influences) {
    return b->sums ? b->sums[v]
                   : sum_short(b->affine, b->joints + EXI_SHORT * v, b->weights + EXI_SHORT * v, influences);
}

/* Positions, and the directions of normals, of whole groups of four. `influences` and `with_normals` are constants at
 * the call. */
EXI_KERNEL void move_groups(const exi_streams *s, int count, block_sums sums, int influences, bool with_normals,
                            raw_normals *made) {
    const float *positions = (const float *)(const void *)s->positions.in;
    const float *normals = (const float *)(const void *)s->normals.in;
    float *out = (float *)(void *)s->positions.out;
    for (int v = 0; v < count; v += EXI_QUAD_LANES) {
        exi_three m[4] = {sum_of(&sums, v, influences), sum_of(&sums, v + 1, influences),
                          sum_of(&sums, v + 2, influences), sum_of(&sums, v + 3, influences)};
        exi_three x[3], n[3];
        exi_three_load_triples(positions + 3 * v, x);
        if (with_normals)
            exi_three_load_triples(normals + 3 * v, n); /* before any store: a load after a store of triples waits */
        exi_three_transpose(m);
        exi_three_store_triples(
            out + 3 * v, exi_three_madd(m[2], x[2], exi_three_madd(m[1], x[1], exi_three_madd(m[0], x[0], m[3]))));
        if (!with_normals)
            continue;
        exi_quad turned[3];
        exi_three_quads(turn_normals(m, n), turned);
        EXI_WRITE_OUT
        for (int c = 0; c < 3; c++)
            exi_quad_store(made[v / EXI_WIDTH].x[c] + v % EXI_WIDTH, turned[c]);
    }
}

/* Computes squared lengths; true if all are usable. Lanes after count are made usable. */
static bool measure_normals(int count, raw_normals *made) {
    const exi_wide zero = exi_splat(0);
    exi_wide least = exi_splat(1), most = least, odd = zero; /* odd: not 0 once a length is not a number */
    for (int v = count; v % EXI_WIDTH; v++)
        for (int c = 0; c < 3; c++)
            made[v / EXI_WIDTH].x[c][v % EXI_WIDTH] = 1;
    for (int v = 0; v < count; v += EXI_WIDTH, made++) {
        const exi_wide x[3] = {exi_load(made->x[0]), exi_load(made->x[1]), exi_load(made->x[2])};
        const exi_wide length_sq = dot3(x, x);
        least = exi_min(least, length_sq);
        most = exi_max(most, length_sq);
        odd = exi_madd(length_sq, zero, odd);
        exi_store(made->length_sq, length_sq);
    }
    const exi_wide one = exi_splat(1), low = exi_splat(LENGTH_SQ_LEAST), high = exi_splat(LENGTH_SQ_MOST);
    const exi_wide good = exi_pick(least, low, exi_pick(high, most, exi_pick(one, odd, one, zero), zero), zero);
    return !exi_any_above(one, good);
}

/* Scales normals to unit length. */
static void scale_normals(const exi_stream *s, int count, const raw_normals *made) {
    exi_stream to = *s;
    for (int v = 0; v < count; v += EXI_WIDTH, made++) {
        const exi_wide scale = exi_inverse_root(exi_load(made->length_sq));
        const exi_wide x[3] = {exi_mul(exi_load(made->x[0]), scale), exi_mul(exi_load(made->x[1]), scale),
                               exi_mul(exi_load(made->x[2]), scale)};
        if (count - v >= EXI_WIDTH)
            exi_store_triples((float *)(void *)s->out + 3 * v, x[0], x[1], x[2]);
        else {
            go_on(&to, v);
            store_any(&to, count - v, x);
        }
    }
}

/* The same; normals that are not usable keep their old value. */
static void scale_or_keep_normals(const exi_stream *s, int count, const raw_normals *made) {
    exi_stream to = *s;
    for (int v = 0; v < count; v += EXI_WIDTH, made++) {
        exi_wide x[3] = {exi_load(made->x[0]), exi_load(made->x[1]), exi_load(made->x[2])}, was[3];
        load_any(&to, count - v, was);
        scale_to_one(was, x);
        store_any(&to, count - v, x);
        go_on(&to, EXI_WIDTH);
    }
}

#if EXI_WIDTH == 4
static void sum_apart(const block_sums *b, int count, int most, exi_three *sums) {
    if (most == 1)
        for (int i = 0; i < count; i++)
            sums[i] = sum_of(b, i, 1);
    else if (most == 2)
        for (int i = 0; i < count; i++)
            sums[i] = sum_of(b, i, 2);
    else
        for (int i = 0; i < count; i++)
            sums[i] = sum_of(b, i, EXI_SHORT);
}
#endif

EXI_KERNEL void move_with(const exi_streams *s, int count, block_sums sums, int influences, raw_normals *made) {
    if (s->normals.in)
        move_groups(s, count, sums, influences, true, made);
    else
        move_groups(s, count, sums, influences, false, made);
}

static void move_usual(const exi_skin_tables *t, const ex_palette *palette, int v, int count, const exi_streams *s) {
    block_sums sums = {.affine = exi_palette_affine(palette),
                       .weights = t->weights + EXI_SHORT * (size_t)v,
                       .joints = t->joints + EXI_SHORT * (size_t)v};
    raw_normals made[EXI_BLOCK / EXI_WIDTH];
    int most = exi_skin_most(t, v, count);
#if EXI_WIDTH == 4
    exi_three apart[EXI_BLOCK];
    sum_apart(&sums, count, most, apart);
    sums.sums = apart;
    most = EXI_SHORT; /* one body for all */
#endif
    if (most == 1)
        move_with(s, count, sums, 1, made);
    else if (most == 2)
        move_with(s, count, sums, 2, made);
    else
        move_with(s, count, sums, EXI_SHORT, made);
    if (!s->normals.in)
        return;
    if (measure_normals(count, made))
        scale_normals(&s->normals, count, made);
    else
        scale_or_keep_normals(&s->normals, count, made);
}

/* ---- the pass over the blocks ---- */

/* True for the usual case: linear, no tangents, packed positions and normals (if any), no mirroring. */
static bool is_usual(const ex_palette *palette, const exi_streams *s) {
    return palette->method == EX_SKINNING_LINEAR && !palette->mirrored && !s->tangents.in && s->positions.in &&
           is_close(&s->positions) && (!s->normals.in || is_close(&s->normals));
}

EXI_ENTRY(exi_skin_move,
          (const exi_skin_tables *tables, const ex_palette *palette, const exi_streams *streams, int begin, int end,
           float *box),
          (tables, palette, streams, begin, end, box)) {
    const exi_skin_tables t = *tables;
    exi_streams s = *streams;
    const bool usual = is_usual(palette, &s);
    int place = exi_skin_find_long(&t, begin);
    for (int v = begin, count; v < end; v += count) {
        count = end - v < EXI_BLOCK ? end - v : EXI_BLOCK;
        const bool is_long = place < t.long_count && t.long_vertices[place] < v + count;
        if (usual && !is_long && count >= EXI_QUAD_LANES) {
            count -= count % EXI_QUAD_LANES;
            move_usual(&t, palette, v, count, &s);
        } else {
            float matrices[12 * EXI_BLOCK];
            place = sum_block(&t, palette, v, count, place, matrices);
            move_block(&s, matrices, count, palette->mirrored != 0);
        }
        if (s.positions.in && box)
            grow_box(&s.positions, count, box);
        go_on(&s.positions, count);
        go_on(&s.normals, count);
        go_on(&s.tangents, count);
    }
}
