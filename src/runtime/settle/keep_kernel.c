/*
 * Distances kept from frame to frame. A driven vertex that was outside at v, at least L away from the driver, and is
 * now at v', is clear without a search if the driver cannot have come near it. The driver is cut into patches
 * (patch.c). A patch has moved by a rigid motion M x = R x + t and a remainder of at most e, so that for every point y
 * of it, with D the distance from v to its box,
 *
 *     |v' - y'| >= |M v - M y| - |v' - M v| - e >= max(L, D) - |v' - M v| - e.
 *
 * The least over all patches is the new L. The side does not change either: on the straight way from (v, y) to
 * (v', y') the distance is never less than cos(a/2) max(L, D) - |v' - M v| - e, with a the angle of R, which is the
 * bound that is used. While it is above 0 the driver, a closed surface, has not passed through the vertex. M is any
 * motion: e is measured, so the bound holds for any two forms, whatever was between them.
 *
 * Patches that cannot lower the bounds of a cluster are told apart first by the boxes and by how far both moved, then
 * by how they moved against each other. All this runs in stages, without branches on what is found.
 */
#include "runtime/base/memory.h"
#include "runtime/settle/closest.h"
#include "runtime/settle/settler.h"

enum { PATCH_VERTICES = 12 * EXI_PATCH_BLOCKS, FOURS = 64 };

/* ---- motions of patches ---- */

static inline float sum_of(exi_quad a) {
    float lanes[4];
    exi_quad_store(lanes, a);
    return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
}

static inline float most_of(exi_quad a) {
    float lanes[4];
    exi_quad_store(lanes, a);
    const float x = lanes[0] > lanes[1] ? lanes[0] : lanes[1], y = lanes[2] > lanes[3] ? lanes[2] : lanes[3];
    return x > y ? x : y;
}

static inline exi_quad root(exi_quad square) {
    const exi_quad a = exi_quad_max(square, exi_quad_splat(1e-36f));
    return exi_quad_mul(a, exi_quad_inverse_root(a));
}

/* The vertices of a patch in both forms, four together; the last one is repeated. */
typedef struct patch_form {
    float from[3][PATCH_VERTICES], to[3][PATCH_VERTICES];
    int count; /* a multiple of 4 */
} patch_form;

static inline void load_four(const float *positions, const uint32_t *at, float (*out)[PATCH_VERTICES], int i) {
    exi_quad m[4];
    EXI_WRITE_OUT
    for (int k = 0; k < 4; k++)
        m[k] = exi_quad_load_three(positions + 3 * (size_t)at[k]);
    exi_quad_transpose(m);
    for (int c = 0; c < 3; c++)
        exi_quad_store(out[c] + i, m[c]);
}

/* The spin that takes the patch from one form to the other, as a unit quaternion, to second order in its angle. */
static void spin_of(const patch_form *f, const float from[3], const float to[3], float q[4]) {
    const exi_quad zero = exi_quad_splat(0);
    exi_quad square[6] = {zero, zero, zero, zero, zero, zero}, turn[3] = {zero, zero, zero};
    for (int i = 0; i < f->count; i += 4) {
        const exi_vector a = {exi_quad_sub(exi_quad_load(f->from[0] + i), exi_quad_splat(from[0])),
                              exi_quad_sub(exi_quad_load(f->from[1] + i), exi_quad_splat(from[1])),
                              exi_quad_sub(exi_quad_load(f->from[2] + i), exi_quad_splat(from[2]))};
        const exi_vector b = {exi_quad_sub(exi_quad_load(f->to[0] + i), exi_quad_splat(to[0])),
                              exi_quad_sub(exi_quad_load(f->to[1] + i), exi_quad_splat(to[1])),
                              exi_quad_sub(exi_quad_load(f->to[2] + i), exi_quad_splat(to[2]))};
        square[0] = exi_quad_madd(a.x, a.x, square[0]);
        square[1] = exi_quad_madd(a.y, a.y, square[1]);
        square[2] = exi_quad_madd(a.z, a.z, square[2]);
        square[3] = exi_quad_madd(a.x, a.y, square[3]);
        square[4] = exi_quad_madd(a.x, a.z, square[4]);
        square[5] = exi_quad_madd(a.y, a.z, square[5]);
        turn[0] = exi_quad_msub(a.z, b.y, exi_quad_madd(a.y, b.z, turn[0]));
        turn[1] = exi_quad_msub(a.x, b.z, exi_quad_madd(a.z, b.x, turn[1]));
        turn[2] = exi_quad_msub(a.y, b.x, exi_quad_madd(a.x, b.y, turn[2]));
    }
    const float xx = sum_of(square[0]), yy = sum_of(square[1]), zz = sum_of(square[2]);
    const float xy = -sum_of(square[3]), xz = -sum_of(square[4]), yz = -sum_of(square[5]);
    const float t[3] = {sum_of(turn[0]), sum_of(turn[1]), sum_of(turn[2])};
    const float a = yy + zz, b = xx + zz, c = xx + yy; /* of inertia */
    const float ca = b * c - yz * yz, cb = a * c - xz * xz, cc = a * b - xy * xy;
    const float ab = xz * yz - xy * c, ac = xy * yz - xz * b, bc = xy * xz - yz * a;
    const float det = a * ca + xy * ab + xz * ac;
    float w[3] = {0, 0, 0};
    if (det > 1e-5f * a * b * c) {
        w[0] = (ca * t[0] + ab * t[1] + ac * t[2]) / det;
        w[1] = (ab * t[0] + cb * t[1] + bc * t[2]) / det;
        w[2] = (ac * t[0] + bc * t[1] + cc * t[2]) / det;
    }
    const float sine_sq = w[0] * w[0] + w[1] * w[1] + w[2] * w[2];
    const float real = 1 + (sine_sq < 1 ? sqrtf(1 - sine_sq) : 0);
    const float inverse = 1 / sqrtf(real * real + sine_sq);
    q[0] = real * inverse;
    for (int i = 0; i < 3; i++)
        q[1 + i] = w[i] * inverse;
}

static void rotation_of(const float q[4], float r[3][3]) {
    const float w = q[0], x = q[1], y = q[2], z = q[3];
    r[0][0] = 1 - 2 * (y * y + z * z);
    r[0][1] = 2 * (x * y - w * z);
    r[0][2] = 2 * (x * z + w * y);
    r[1][0] = 2 * (x * y + w * z);
    r[1][1] = 1 - 2 * (x * x + z * z);
    r[1][2] = 2 * (y * z - w * x);
    r[2][0] = 2 * (x * z - w * y);
    r[2][1] = 2 * (y * z + w * x);
    r[2][2] = 1 - 2 * (x * x + y * y);
}

/* The largest remainder of a vertex. */
static float remainder_of(const patch_form *f, float r[3][3], const float t[3]) {
    exi_quad most = exi_quad_splat(0), unknown = most;
    for (int i = 0; i < f->count; i += 4) {
        exi_quad sum = exi_quad_splat(0);
        EXI_WRITE_OUT
        for (int c = 0; c < 3; c++) {
            exi_quad d = exi_quad_sub(exi_quad_splat(t[c]), exi_quad_load(f->to[c] + i));
            EXI_WRITE_OUT
            for (int k = 0; k < 3; k++)
                d = exi_quad_madd(exi_quad_splat(r[c][k]), exi_quad_load(f->from[k] + i), d);
            sum = exi_quad_madd(d, d, sum);
        }
        most = exi_quad_max(most, sum);
        unknown = exi_quad_madd(sum, exi_quad_splat(0), unknown); /* NaN if a number is not finite */
    }
    return exi_quad_at_most(unknown, exi_quad_splat(0)) == 15 ? sqrtf(most_of(most)) : INFINITY;
}

typedef struct moving {
    const ex_settler *settler;
    const float *from, *to;
    exi_patch_four *fours;
} moving;

static void move_patch(const moving *m, int patch, exi_patch_four *out, int lane) {
    const uint32_t *starts = exi_tree_at(m->settler, m->settler->patch_starts);
    const uint32_t *list = (const uint32_t *)exi_tree_at(m->settler, m->settler->patch_vertices) + starts[patch];
    const int count = (int)(starts[patch + 1] - starts[patch]);
    patch_form f;
    exi_quad sums[6], low[3], high[3];
    for (int c = 0; c < 3; c++) {
        sums[c] = sums[3 + c] = exi_quad_splat(0);
        low[c] = exi_quad_splat(INFINITY);
        high[c] = exi_quad_splat(-INFINITY);
    }
    f.count = (count + 3) / 4 * 4;
    for (int i = 0; i < f.count; i += 4) {
        uint32_t at[4];
        for (int k = 0; k < 4; k++)
            at[k] = list[i + k < count ? i + k : count - 1];
        load_four(m->from, at, f.from, i);
        load_four(m->to, at, f.to, i);
        for (int c = 0; c < 3; c++) {
            const exi_quad a = exi_quad_load(f.from[c] + i);
            sums[c] = exi_quad_add(sums[c], a);
            sums[3 + c] = exi_quad_add(sums[3 + c], exi_quad_load(f.to[c] + i));
            low[c] = exi_quad_min(low[c], a);
            high[c] = exi_quad_max(high[c], a);
        }
    }
    float from[3], to[3], q[4], r[3][3], t[3];
    for (int c = 0; c < 3; c++) {
        from[c] = sum_of(sums[c]) / (float)f.count;
        to[c] = sum_of(sums[3 + c]) / (float)f.count;
    }
    spin_of(&f, from, to, q);
    rotation_of(q, r);
    float sizes = 0, half_sq = 0, moved_sq = 0;
    for (int c = 0; c < 3; c++) {
        t[c] = to[c] - (r[c][0] * from[0] + r[c][1] * from[1] + r[c][2] * from[2]);
        out->high[c][lane] = most_of(high[c]);
        out->low[c][lane] = -most_of(exi_quad_sub(exi_quad_splat(0), low[c]));
        const float half = (out->high[c][lane] - out->low[c][lane]) / 2;
        half_sq += half * half;
        sizes += fabsf(from[c]) + fabsf(to[c]) + fabsf(t[c]) + half;
        for (int k = 0; k < 3; k++)
            out->motion[c][k][lane] = r[c][k];
        out->motion[c][3][lane] = t[c];
        const float moved = to[c] - from[c];
        moved_sq += moved * moved;
    }
    const float rest = remainder_of(&f, r, t) + 4e-6f * sizes; /* for rounding */
    const float sine = sqrtf(q[1] * q[1] + q[2] * q[2] + q[3] * q[3]), slope = q[0] - 2 * sine;
    /* The centroid moves as the patch does; every point of the box is within its diagonal of it. */
    const float own = sqrtf(moved_sq) + 4 * sine * sqrtf(half_sq) + rest;
    out->cosine[lane] = q[0] * (1 - 2e-6f); /* for rounding */
    out->sine[lane] = sine;
    out->rest[lane] = sizes < 1e-3f * EXI_TREE_LARGEST ? rest : INFINITY;
    out->slope[lane] = slope > 0.1f ? 1.00001f / slope : INFINITY;
    out->own[lane] = slope > 0.1f ? own * 1.00001f / slope : INFINITY;
}

static void move_fours(void *context, int begin, int end) {
    const moving *m = context;
    const int count = m->settler->patch_count;
    for (int k = begin; k < end; k++)
        for (int i = 0; i < 4; i++)
            move_patch(m, 4 * k + i < count ? 4 * k + i : count - 1, &m->fours[k], i);
}

EXI_ENTRY_OF(bool, exi_keep_prepare,
             (const ex_settler *settler, const float *from, const float *to, exi_patch_four *fours,
              const ex_tasks *tasks),
             (settler, from, to, fours, tasks)) {
    moving m = {settler, from, to, fours};
    const int count = (settler->patch_count + 3) / 4;
    exi_run(tasks, count, 4, move_fours, &m);
    bool known = true;
    for (int k = 0; k < count; k++)
        for (int i = 0; i < 4; i++)
            known = known && fours[k].rest[i] < EXI_TREE_LARGEST;
    return known;
}

/* ---- bounds of a cluster ---- */

/* A cluster's points, of which some are copies of others. */
typedef struct cluster_form {
    float from[3][EXI_CLUSTER], to[3][EXI_CLUSTER], least[EXI_CLUSTER], kept[EXI_CLUSTER];
    float low[3], high[3];   /* box of from */
    float centre[3], radius; /* of from */
    float by[3], apart;      /* mean of the motions, and how much one differs from it */
    float farthest, moved;   /* largest bound, largest motion */
} cluster_form;

static inline void store_vector(float (*to)[EXI_CLUSTER], int first, exi_vector a) {
    exi_quad_store(to[0] + first, a.x);
    exi_quad_store(to[1] + first, a.y);
    exi_quad_store(to[2] + first, a.z);
}

/* Squared distances from a box to four. */
static inline exi_quad boxes_apart(const exi_patch_four *four, const float low[3], const float high[3]) {
    const exi_quad zero = exi_quad_splat(0);
    exi_quad sum = zero;
    EXI_WRITE_OUT
    for (int c = 0; c < 3; c++) {
        const exi_quad d =
            exi_quad_max(exi_quad_max(exi_quad_sub(exi_quad_load(four->low[c]), exi_quad_splat(high[c])),
                                      exi_quad_sub(exi_quad_splat(low[c]), exi_quad_load(four->high[c]))),
                         zero);
        sum = exi_quad_madd(d, d, sum);
    }
    return sum;
}

/* Bits of the patches that may matter, from how far they and the cluster moved. */
static inline uint32_t may_matter(const exi_patch_four *four, const cluster_form *f) {
    const exi_quad square = boxes_apart(four, f->low, f->high);
    const exi_quad far =
        exi_quad_madd(exi_quad_load(four->slope), exi_quad_splat(f->farthest + f->moved), exi_quad_load(four->own));
    return exi_quad_at_most(exi_quad_mul(far, far), square) ^ 15;
}

/* The same from their motions relative to the cluster. */
static inline uint32_t matters(const exi_patch_four *four, const cluster_form *f) {
    const exi_quad square = boxes_apart(four, f->low, f->high);
    exi_quad sum = exi_quad_splat(0);
    EXI_WRITE_OUT
    for (int c = 0; c < 3; c++) {
        exi_quad d = exi_quad_sub(exi_quad_load(four->motion[c][3]), exi_quad_splat(f->centre[c] + f->by[c]));
        EXI_WRITE_OUT
        for (int k = 0; k < 3; k++)
            d = exi_quad_madd(exi_quad_load(four->motion[c][k]), exi_quad_splat(f->centre[k]), d);
        sum = exi_quad_madd(d, d, sum);
    }
    const exi_quad loss =
        exi_quad_add(exi_quad_madd(exi_quad_load(four->sine), exi_quad_splat(2 * f->radius), root(sum)),
                     exi_quad_add(exi_quad_load(four->rest), exi_quad_splat(f->apart)));
    const exi_quad left = exi_quad_sub(exi_quad_mul(exi_quad_load(four->cosine), root(square)), loss);
    return exi_quad_at_most(exi_quad_splat(f->farthest), left) ^ 15;
}

/* Lowers the bounds by those of one patch. */
static inline void lower(const exi_patch_four *four, int lane, cluster_form *f) {
    const exi_quad zero = exi_quad_splat(0), cosine = exi_quad_splat(four->cosine[lane]);
    const exi_quad rest = exi_quad_splat(four->rest[lane]);
    EXI_WRITE_OUT
    for (int i = 0; i < EXI_CLUSTER; i += 4) {
        const exi_quad v[3] = {exi_quad_load(f->from[0] + i), exi_quad_load(f->from[1] + i),
                               exi_quad_load(f->from[2] + i)};
        exi_quad away = zero, moved = zero;
        EXI_WRITE_OUT
        for (int c = 0; c < 3; c++) {
            const exi_quad out = exi_quad_max(exi_quad_max(exi_quad_sub(exi_quad_splat(four->low[c][lane]), v[c]),
                                                           exi_quad_sub(v[c], exi_quad_splat(four->high[c][lane]))),
                                              zero);
            exi_quad d = exi_quad_sub(exi_quad_splat(four->motion[c][3][lane]), exi_quad_load(f->to[c] + i));
            EXI_WRITE_OUT
            for (int k = 0; k < 3; k++)
                d = exi_quad_madd(exi_quad_splat(four->motion[c][k][lane]), v[k], d);
            away = exi_quad_madd(out, out, away);
            moved = exi_quad_madd(d, d, moved);
        }
        const exi_quad distance = exi_quad_max(exi_quad_load(f->least + i), root(away));
        const exi_quad left = exi_quad_sub(exi_quad_sub(exi_quad_mul(cosine, distance), root(moved)), rest);
        exi_quad_store(f->kept + i, exi_quad_min(exi_quad_load(f->kept + i), left));
    }
}

/* Loads four points of both forms and their bounds. Returns bits of those that have a bound and are finite. */
static inline uint32_t take_four(const float *points, const float *before, const float *least, int i, exi_vector *from,
                                 exi_vector *to, exi_quad *bounds) {
    const exi_quad zero = exi_quad_splat(0), large = exi_quad_splat(EXI_TREE_LARGEST);
    exi_quad a[3], b[3];
    exi_quad_load_triples(before + 3 * i, a);
    exi_quad_load_triples(points + 3 * i, b);
    *bounds = exi_quad_load(least + i);
    *from = (exi_vector){a[0], a[1], a[2]};
    *to = (exi_vector){b[0], b[1], b[2]};
    exi_quad bad = exi_quad_pick(*bounds, zero, zero, large);
    EXI_WRITE_OUT
    for (int c = 0; c < 3; c++) /* sums of sizes, since a maximum may pass over what is not a number */
        bad = exi_quad_add(bad, exi_quad_add(exi_quad_with_sign(a[c], large), exi_quad_with_sign(b[c], large)));
    return exi_quad_at_most(exi_quad_add(bad, exi_quad_with_sign(*bounds, large)),
                            exi_quad_splat(0.9f * EXI_TREE_LARGEST));
}

/* Bits of the points with a bound. */
static uint32_t take_points(const float *points, const float *before, const float *least, cluster_form *f) {
    const int count = EXI_CLUSTER;
    exi_vector from[EXI_CLUSTER / 4], to[EXI_CLUSTER / 4];
    exi_quad bounds[EXI_CLUSTER / 4];
    uint32_t bits = 0;
    for (int i = 0; i < count; i += 4)
        bits |= take_four(points, before, least, i, &from[i / 4], &to[i / 4], &bounds[i / 4]) << i;
    if (!bits)
        return 0;
    const int some = exi_lowest_bit(bits);
    const exi_quad zero = exi_quad_splat(0);
    const uint32_t all = (1u << (count + 3) / 4 * 4) - 1;
    for (int i = 0; i < count; i += 4) {
        store_vector(f->from, i, from[i / 4]);
        store_vector(f->to, i, to[i / 4]);
        exi_quad_store(f->least + i, bounds[i / 4]);
    }
    for (uint32_t left = all & ~bits; left; left &= left - 1) {
        const int i = exi_lowest_bit(left);
        for (int c = 0; c < 3; c++) {
            f->from[c][i] = f->from[c][some];
            f->to[c][i] = f->to[c][some];
        }
        f->least[i] = f->least[some];
    }
    exi_quad farthest = zero, square = zero, apart = zero, by[3];
    float diagonal = 0;
    EXI_WRITE_OUT
    for (int c = 0; c < 3; c++) {
        exi_quad low = exi_quad_splat(INFINITY), high = exi_quad_splat(-INFINITY), sum = zero;
        for (int i = 0; i < count; i += 4) {
            const exi_quad v = exi_quad_load(f->from[c] + i);
            low = exi_quad_min(low, v);
            high = exi_quad_max(high, v);
            sum = exi_quad_add(sum, exi_quad_sub(exi_quad_load(f->to[c] + i), v));
        }
        f->low[c] = -most_of(exi_quad_sub(zero, low));
        f->high[c] = most_of(high);
        f->centre[c] = (f->low[c] + f->high[c]) / 2;
        f->by[c] = sum_of(sum) / (float)((count + 3) / 4 * 4);
        by[c] = exi_quad_splat(f->by[c]);
        diagonal += (f->high[c] - f->low[c]) * (f->high[c] - f->low[c]);
    }
    for (int i = 0; i < count; i += 4) {
        exi_quad whole = zero, part = zero;
        EXI_WRITE_OUT
        for (int c = 0; c < 3; c++) {
            const exi_quad d = exi_quad_sub(exi_quad_load(f->to[c] + i), exi_quad_load(f->from[c] + i));
            const exi_quad e = exi_quad_sub(d, by[c]);
            whole = exi_quad_madd(d, d, whole);
            part = exi_quad_madd(e, e, part);
        }
        square = exi_quad_max(square, whole);
        apart = exi_quad_max(apart, part);
        farthest = exi_quad_max(farthest, exi_quad_load(f->least + i));
    }
    f->radius = 0.50001f * sqrtf(diagonal);
    f->moved = 1.00001f * sqrtf(most_of(square));
    f->apart = 1.00001f * sqrtf(most_of(apart));
    f->farthest = most_of(farthest);
    return bits;
}

EXI_ENTRY_OF(int, exi_keep_cluster,
             (const ex_settler *settler, const exi_patch_four *fours, const float (*points)[3], const float *before,
              const float *least, int count, float *kept),
             (settler, fours, points, before, least, count, kept)) {
    cluster_form f;
    float padded[7][EXI_CLUSTER];
    if (count < EXI_CLUSTER) { /* the last one of a set */
        memset(padded, 0, sizeof padded);
        memcpy(padded[0], before, (size_t)count * 3 * sizeof *before);
        memcpy(padded[3], points, (size_t)count * sizeof *points);
        memcpy(padded[6], least, (size_t)count * sizeof *least);
        before = padded[0];
        points = (const float(*)[3])(const void *)padded[3];
        least = padded[6];
    }
    const uint32_t bits = take_points(points[0], before, least, &f);
    for (int i = 0; i < count; i++)
        kept[i] = 0;
    if (!bits)
        return 0;
    for (int i = 0; i < EXI_CLUSTER; i++)
        f.kept[i] = f.farthest;
    const int four_count = (settler->patch_count + 3) / 4;
    for (int begin = 0; begin < four_count; begin += FOURS) {
        const int end = begin + FOURS < four_count ? begin + FOURS : four_count;
        uint16_t near[FOURS + 1], chosen[4 * FOURS + 4];
        int near_count = 0, chosen_count = 0;
        for (int k = begin; k < end; k++) {
            near[near_count] = (uint16_t)(k - begin);
            near_count += may_matter(&fours[k], &f) != 0;
        }
        for (int n = 0; n < near_count; n++) {
            const uint32_t some = matters(&fours[begin + near[n]], &f);
            EXI_WRITE_OUT
            for (uint32_t i = 0; i < 4; i++) {
                chosen[chosen_count] = (uint16_t)(4 * near[n] + i);
                chosen_count += (int)(some >> i & 1);
            }
        }
        for (int n = 0; n < chosen_count; n++)
            lower(&fours[begin + chosen[n] / 4], chosen[n] % 4, &f);
    }
    for (int i = 0; i < count; i++)
        kept[i] = (bits >> i & 1) && f.kept[i] > 0 ? f.kept[i] : 0;
    int known = 0;
    for (uint32_t left = bits; left; left &= left - 1)
        known++;
    return known;
}
