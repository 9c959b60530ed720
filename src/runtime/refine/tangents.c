/*
 * Tangents of split vertices: t(s) = sum over the triangles around s of angle(s, f) unit(project(T(f))), normalised. T
 * is the direction in which u grows on a triangle with edges e1, e2 and texture edges (u1, v1), (u2, v2),
 *
 *     T = (e1 v2 - e2 v1) / d,   d = u1 v2 - u2 v1,
 *
 * and project removes the component along the vertex's normal, from T and from the edges between which the angle is
 * measured (M. S. Mikkelsen, "Simulation of wrinkled surfaces revisited", 2008, whose convention glTF names).
 *
 * Sign: that convention has v upwards, glTF downwards, and y of a normal map points up in the image, towards smaller v
 * in glTF. So the sign is +1 if d, measured with v downwards, is negative: the texture is seen from the front as it was
 * painted; and -1 if it is mirrored. If triangles of both kinds meet at one split vertex, those with the larger sum of
 * angles decide, and the others are left out, because their T would cancel the sum.
 *
 * The first pass computes T of all triangles, the second all split vertices: each adds up its own triangles in order,
 * so the result does not depend on how the work is cut.
 */
#include "runtime/base/functions.inl"
#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/base/rows.h"
#include "runtime/base/vector.h"
#include "runtime/refine/corners.h"

#include <exemplar/refine.h>

/* T of a triangle is parallel to e1 * first + e2 * second. */
typedef struct slope {
    uint32_t corners[3]; /* vertices */
    float first, second; /* the larger is 1; both are 0 if texture coordinates are unusable */
    float sign;
} slope;

/* Entry of a split vertex for one triangle. */
typedef struct gather {
    uint32_t triangle, next, previous; /* the other two are vertices */
} gather;

struct ex_tangents {
    uint64_t size;
    int32_t vertex_count, split_count, triangle_count, padding;
    uint64_t sources;        /* [split_count] uint32_t */
    uint64_t slopes;         /* [triangle_count] slope */
    uint64_t gather_offsets; /* [split_count + 1] uint32_t */
    uint64_t gathers;        /* [triangle_count * 3] gather */
};

static void *at(const void *block, uint64_t offset) {
    return (void *)((uintptr_t)block + (uintptr_t)offset);
}

/* ---- creation ---- */

static ex_result check_def(const ex_tangents_def *def, ex_error *error) {
    if (def->vertex_count < 0 || def->split_count < 0 || def->triangle_count < 0)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "a count of the tangents is negative");
    if (!def->split_source && def->split_count != def->vertex_count)
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "there are %d texture coordinates for %d vertices, but no table that assigns them",
                            def->split_count, def->vertex_count);
    if ((def->split_count > 0 && !def->texcoords) || (def->triangle_count > 0 && !def->triangles))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "texture coordinates or triangles are missing");
    if (def->triangle_count > INT32_MAX / 3)
        return ex_error_set(error, EX_ERROR_LIMIT, "there are %d triangles; tangents support at most %d",
                            def->triangle_count, INT32_MAX / 3);
    for (int s = 0; s < def->split_count && def->split_source; s++)
        if (def->split_source[s] >= (uint32_t)def->vertex_count)
            return ex_error_set(error, EX_ERROR_DATA,
                                "split vertex %d (counting from 0) refers to vertex %lu, but there are %d", s,
                                (unsigned long)def->split_source[s], def->vertex_count);
    for (int t = 0; t < def->triangle_count; t++)
        for (int c = 0; c < 3; c++)
            if (def->triangles[3 * (size_t)t + (size_t)c] >= (uint32_t)def->split_count)
                return ex_error_set(error, EX_ERROR_DATA,
                                    "triangle %d (counting from 0) refers to split vertex %lu, but there are %d", t,
                                    (unsigned long)def->triangles[3 * (size_t)t + (size_t)c], def->split_count);
    return EX_OK;
}

/* Below this fraction of its own terms, d is rounding error of the texture coordinates. */
#define FLAT 1e-7

static void find_slope(const float *a, const float *b, const float *c, slope *to) {
    const double u1 = (double)b[0] - (double)a[0], v1 = (double)b[1] - (double)a[1];
    const double u2 = (double)c[0] - (double)a[0], v2 = (double)c[1] - (double)a[1];
    const double d = u1 * v2 - u2 * v1, terms = fabs(u1 * v2) + fabs(u2 * v1);
    to->first = to->second = to->sign = 0;
    if (!(fabs(d) > FLAT * terms)) /* also if one is NaN */
        return;
    const double largest = fabs(v1) > fabs(v2) ? fabs(v1) : fabs(v2), scale = d < 0 ? -1 / largest : 1 / largest;
    to->first = (float)(v2 * scale);
    to->second = (float)(-v1 * scale);
    to->sign = d < 0 ? 1 : -1;
}

static void fill(ex_tangents *t, const ex_tangents_def *def) {
    uint32_t *sources = at(t, t->sources), *starts = at(t, t->gather_offsets);
    slope *slopes = at(t, t->slopes);
    gather *gathers = at(t, t->gathers);
    for (int s = 0; s < t->split_count; s++)
        sources[s] = def->split_source ? def->split_source[s] : (uint32_t)s;
    for (size_t f = 0; f < (size_t)t->triangle_count; f++) {
        const uint32_t *corners = def->triangles + 3 * f;
        for (int c = 0; c < 3; c++) {
            slopes[f].corners[c] = sources[corners[c]];
            starts[corners[c]]++;
        }
        find_slope(def->texcoords + 2 * (size_t)corners[0], def->texcoords + 2 * (size_t)corners[1],
                   def->texcoords + 2 * (size_t)corners[2], &slopes[f]);
    }
    /* Counts become ends; filling from the back turns them into starts, with triangles in order. */
    for (int s = 0; s < t->split_count; s++)
        starts[s + 1] += starts[s];
    for (size_t f = (size_t)t->triangle_count; f-- > 0;)
        for (int c = 2; c >= 0; c--)
            gathers[--starts[def->triangles[3 * f + (size_t)c]]] =
                (gather){.triangle = (uint32_t)f,
                         .next = slopes[f].corners[c < 2 ? c + 1 : 0],
                         .previous = slopes[f].corners[c > 0 ? c - 1 : 2]};
}

ex_result ex_tangents_create(const ex_tangents_def *def, const ex_allocator *allocator, ex_tangents **tangents,
                             ex_error *error) {
    if (!def || !tangents)
        return exi_misuse_error(error, __func__, "no definition, or no pointer for the tangents");
    *tangents = NULL;
    ex_result result = check_def(def, error);
    if (result != EX_OK)
        return result;
    ex_tangents head = {
        .vertex_count = def->vertex_count, .split_count = def->split_count, .triangle_count = def->triangle_count};
    exi_size total = {.bytes = sizeof head};
    head.sources = exi_size_add(&total, (size_t)head.split_count, sizeof(uint32_t), EXI_ALIGN);
    head.slopes = exi_size_add(&total, (size_t)head.triangle_count, sizeof(slope), EXI_ALIGN);
    head.gather_offsets = exi_size_add(&total, (size_t)head.split_count + 1, sizeof(uint32_t), EXI_ALIGN);
    head.gathers = exi_size_add(&total, 3 * (size_t)head.triangle_count, sizeof(gather), EXI_ALIGN);
    head.size = total.bytes;
    if (total.overflow)
        return ex_error_set(error, EX_ERROR_LIMIT, "the tangents are too large for this machine's memory");
    ex_tangents *made = exi_block_create(allocator, total.bytes);
    if (!made)
        return ex_error_memory(error, "the tangents", total.bytes);
    *made = head;
    fill(made, def);
    *tangents = made;
    return EX_OK;
}

void ex_tangents_destroy(ex_tangents *tangents) {
    exi_block_destroy(tangents);
}

int ex_tangents_split_count(const ex_tangents *tangents) {
    return tangents->split_count;
}

/* ---- computation ---- */

typedef struct pass {
    const ex_tangents *tangents;
    const char *positions, *normals;
    size_t position_stride, normal_stride, out_stride;
    char *out;
    float (*directions)[4]; /* [triangle_count] unit T, or 0 0 0; and its sign */
} pass;

static inline const float *row(const char *rows, size_t stride, uint32_t i) {
    return (const float *)(const void *)(rows + (size_t)i * stride);
}

static inline void edge(const float *from, const float *to, double out[3]) {
    for (int c = 0; c < 3; c++)
        out[c] = (double)to[c] - (double)from[c];
}

static void project(const double n[3], double v[3]) {
    const double along = exi_dot3(v, n);
    for (int c = 0; c < 3; c++)
        v[c] -= along * n[c];
}

static void run_triangles(void *context, int begin, int end) {
    const pass *p = context;
    const slope *slopes = at(p->tangents, p->tangents->slopes);
    for (int f = begin; f < end; f++) {
        const slope *s = &slopes[f];
        const float *o = row(p->positions, p->position_stride, s->corners[0]);
        double e1[3], e2[3], t[3];
        edge(o, row(p->positions, p->position_stride, s->corners[1]), e1);
        edge(o, row(p->positions, p->position_stride, s->corners[2]), e2);
        for (int c = 0; c < 3; c++)
            t[c] = e1[c] * (double)s->first + e2[c] * (double)s->second;
        const bool sound = exi_unit3(t);
        for (int c = 0; c < 3; c++)
            p->directions[f][c] = sound ? (float)t[c] : 0;
        p->directions[f][3] = s->sign;
    }
}

/* Returns the angle between a and b, in [0, pi]; from sine and cosine, which is accurate for needles too. */
static double angle_between(const double a[3], const double b[3]) {
    double across[3];
    exi_cross(a, b, across);
    return exi_corner(sqrt(exi_dot3(across, across)), exi_dot3(a, b));
}

/* Makes the axis farthest from n perpendicular to n. */
static void any_perpendicular(const double n[3], double t[3]) {
    int farthest = 0;
    for (int c = 0; c < 3; c++) {
        farthest = fabs(n[c]) < fabs(n[farthest]) ? c : farthest;
        t[c] = 0;
    }
    t[farthest] = 1;
    project(n, t);
    exi_normalise(t, 3);
}

/* If T leaves the normal by less than this, the difference is rounding error (T is stored in floats), and so is its
 * direction. */
#define ALONG_SQ 1e-12

/* Contribution of a triangle, in double, for unusual cases: T scaled to the angle, and the angle. A zero normal removes
 * nothing. */
static exi_quad weigh_triangle(const pass *p, const float *o, const gather *g, const double n[3]) {
    const float *direction = p->directions[g->triangle];
    double t[3] = {(double)direction[0], (double)direction[1], (double)direction[2]}, a[3], b[3];
    edge(o, row(p->positions, p->position_stride, g->next), a);
    edge(o, row(p->positions, p->position_stride, g->previous), b);
    project(n, t);
    project(n, a);
    project(n, b);
    const double length_sq = exi_dot3(t, t);
    if (!(length_sq > ALONG_SQ))
        return exi_quad_splat(0);
    const double angle = angle_between(a, b), factor = angle / sqrt(length_sq);
    const float lanes[4] = {(float)(factor * t[0]), (float)(factor * t[1]), (float)(factor * t[2]), (float)angle};
    return exi_quad_load(lanes);
}

static inline void project_four(const exi_quad n[3], exi_quad v[3]) {
    const exi_quad along = exi_corner_dot(v, n);
    for (int c = 0; c < 3; c++)
        v[c] = exi_quad_msub(along, n[c], v[c]);
}

/* If T leaves the normal by less than half, doubles are needed: float subtraction would lose digits. */
#define FLAT_SQ 0.25f

/* Adds up to four triangles around a split vertex, in float if they are usual, to sums [0]; mirrored ones to [1]. */
static inline void add_four(const pass *p, const float *o, const gather *g, int count, const double n[3],
                            const exi_quad n4[3], exi_quad sums[2]) {
    enum { STEP = sizeof(gather) / sizeof(uint32_t) };
    exi_quad t[4], a[3], b[3], size_sq;
    float sizes[EXI_QUAD_LANES], lengths_sq[EXI_QUAD_LANES];
    EXI_WRITE_OUT
    for (int lane = 0; lane < EXI_QUAD_LANES; lane++)
        t[lane] = exi_quad_load(p->directions[g[lane < count ? lane : 0].triangle]);
    exi_quad_transpose(t);
    exi_corner_edges(p->positions, p->position_stride, o, &g->next, STEP, count, a);
    exi_corner_edges(p->positions, p->position_stride, o, &g->previous, STEP, count, b);
    project_four(n4, t);
    project_four(n4, a);
    project_four(n4, b);
    const exi_quad angle = exi_corner_angles(a, b, &size_sq), length_sq = exi_corner_dot(t, t);
    const exi_quad factor = exi_quad_mul(angle, exi_quad_inverse_root(length_sq));
    EXI_WRITE_OUT
    for (int c = 0; c < 3; c++)
        t[c] = exi_quad_mul(t[c], factor);
    t[3] = angle;
    exi_quad_transpose(t); /* now one triangle each */
    exi_quad_store(sizes, size_sq);
    exi_quad_store(lengths_sq, length_sq);
    EXI_WRITE_OUT
    for (int lane = 0; lane < EXI_QUAD_LANES; lane++) {
        if (lane >= count)
            break;
        if (!(sizes[lane] > EXI_CORNER_LEAST && sizes[lane] < EXI_CORNER_MOST && lengths_sq[lane] > FLAT_SQ))
            t[lane] = weigh_triangle(p, o, g + lane, n);
        if (p->directions[g[lane].triangle][3] < 0)
            sums[1] = exi_quad_add(sums[1], t[lane]);
        else
            sums[0] = exi_quad_add(sums[0], t[lane]);
    }
}

static void run_splits(void *context, int begin, int end) {
    const pass p = *(const pass *)context;
    const uint32_t *sources = at(p.tangents, p.tangents->sources), *starts = at(p.tangents, p.tangents->gather_offsets);
    const gather *gathers = at(p.tangents, p.tangents->gathers);
    for (int s = begin; s < end; s++) {
        const float *normal = row(p.normals, p.normal_stride, sources[s]);
        const float *o = row(p.positions, p.position_stride, sources[s]);
        double n[3] = {(double)normal[0], (double)normal[1], (double)normal[2]};
        exi_quad n4[3], sums[2] = {exi_quad_splat(0), exi_quad_splat(0)};
        float both[2][4];
        if (!exi_unit3(n))
            n[0] = n[1] = n[2] = 0;
        for (int c = 0; c < 3; c++)
            n4[c] = exi_quad_splat((float)n[c]);
        for (uint32_t i = starts[s]; i < starts[s + 1]; i += EXI_QUAD_LANES)
            add_four(&p, o, gathers + i, (int)(starts[s + 1] - i), n, n4, sums);
        exi_quad_store(both[0], sums[0]);
        exi_quad_store(both[1], sums[1]);
        const int side = both[1][3] > both[0][3];
        double t[3] = {(double)both[side][0], (double)both[side][1], (double)both[side][2]};
        project(n, t); /* remove what rounding to float left along the normal */
        if (!exi_unit3(t))
            any_perpendicular(n, t);
        float *to = (float *)(void *)(p.out + (size_t)s * p.out_stride);
        for (int c = 0; c < 3; c++)
            to[c] = (float)t[c];
        to[3] = side ? -1 : 1;
    }
}

size_t ex_tangents_scratch_size(const ex_tangents *tangents) {
    return ((size_t)tangents->triangle_count + 1) * sizeof(float[4]);
}

void ex_tangents_compute(const ex_tangents *tangents, const ex_tangents_job *job, const ex_tasks *tasks,
                         void *scratch) {
    if (!tangents || !job || !job->positions || !job->normals || !job->out || !scratch) {
        exi_misuse(__func__, "no tangents, positions, normals or scratch, or no pointer for the result");
        return;
    }
    if (!exi_rows_fit(job->positions, job->position_stride, 12) ||
        !exi_rows_fit(job->normals, job->normal_stride, 12) || !exi_rows_fit(job->out, job->out_stride, 16) ||
        !exi_rows_fit(scratch, 0, 0)) {
        exi_misuse(__func__, EXI_ROWS_MISUSE);
        return;
    }
    pass p = {.tangents = tangents,
              .positions = (const char *)job->positions,
              .normals = (const char *)job->normals,
              .position_stride = job->position_stride ? job->position_stride : 12,
              .normal_stride = job->normal_stride ? job->normal_stride : 12,
              .out_stride = job->out_stride ? job->out_stride : 16,
              .out = (char *)job->out,
              .directions = scratch};
    exi_run(tasks, tangents->triangle_count, 1024, run_triangles, &p);
    exi_run(tasks, tangents->split_count, 1024, run_splits, &p);
}
