/*
 * Vertex normals of polygons, gathered: n(v) = sum over the faces around v of c(v, f) a(f), over its length, with a(f)
 * the area vector of the face, half the sum of p_i x p_(i+1) (M. E. Newell), and c = 1 (by area) or the angle at the
 * vertex over |a| (by angle; G. Thuermer and C. A. Wuethrich, "Computing vertex normals from polygonal facets", 1998).
 *
 * First all area vectors, then all vertices: every vertex adds up its own faces, in the order of the faces, so nothing
 * depends on how the work was cut and nothing is written twice.
 */
#include "runtime/base/functions.inl"
#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <exemplar/refine.h>

#include <string.h>

/* What a vertex takes from one face: the face, and its neighbours along the face's outline. */
typedef struct gather {
    uint32_t face, next, previous;
} gather;

struct ex_normals {
    uint64_t size;
    int32_t vertex_count, face_count, corner_count, by_angle;
    uint64_t face_offsets;   /* [face_count + 1] uint32_t */
    uint64_t corners;        /* [corner_count] uint32_t */
    uint64_t gather_offsets; /* [vertex_count + 1] uint32_t */
    uint64_t gathers;        /* [corner_count] gather */
};

static void *at(const void *block, uint64_t offset) {
    return (void *)((uintptr_t)block + (uintptr_t)offset);
}

/* ---- making ---- */

static ex_result check_def(const ex_normals_def *def, ex_error *error) {
    if (def->vertex_count < 0 || def->face_count < 0 || (unsigned)def->weighting >= EX_NORMAL_WEIGHTING_COUNT)
        return exi_error(error, EX_ERROR_ARGUMENT, "a count is negative, or the weighting is unknown");
    if (def->face_count > 0 && (!def->face_offsets || !def->corners))
        return exi_error(error, EX_ERROR_ARGUMENT, "offsets or corners are missing");
    if (def->face_count > 0 && def->face_offsets[0] != 0)
        return exi_error(error, EX_ERROR_DATA, "the corners of the first face do not begin at 0");
    for (int f = 0; f < def->face_count; f++) {
        if (def->face_offsets[f] > INT32_MAX - 3 || def->face_offsets[f + 1] < def->face_offsets[f] + 3)
            return exi_error(error, EX_ERROR_DATA, "face %d (counting from 0) has fewer than 3 corners", f);
        for (int c = def->face_offsets[f]; c < def->face_offsets[f + 1]; c++)
            if (def->corners[c] < 0 || def->corners[c] >= def->vertex_count)
                return exi_error(error, EX_ERROR_DATA,
                                 "face %d (counting from 0) refers to vertex %d, but there are %d", f, def->corners[c],
                                 def->vertex_count);
    }
    return EX_OK;
}

static void fill(ex_normals *n, const ex_normals_def *def) {
    uint32_t *face_offsets = at(n, n->face_offsets), *corners = at(n, n->corners);
    uint32_t *starts = at(n, n->gather_offsets);
    gather *gathers = at(n, n->gathers);
    for (int f = 0; f < n->face_count; f++)
        face_offsets[f + 1] = (uint32_t)def->face_offsets[f + 1];
    for (int c = 0; c < n->corner_count; c++) {
        corners[c] = (uint32_t)def->corners[c];
        starts[corners[c]]++;
    }
    /* Counts become ends; filling from the back makes them beginnings, with faces in their order. */
    for (int v = 0; v < n->vertex_count; v++)
        starts[v + 1] += starts[v];
    for (int f = n->face_count - 1; f >= 0; f--) {
        const uint32_t begin = face_offsets[f], end = face_offsets[f + 1];
        for (uint32_t c = end; c-- > begin;)
            gathers[--starts[corners[c]]] = (gather){.face = (uint32_t)f,
                                                     .next = corners[c + 1 < end ? c + 1 : begin],
                                                     .previous = corners[c > begin ? c - 1 : end - 1]};
    }
}

ex_result ex_normals_create(const ex_normals_def *def, const ex_allocator *allocator, ex_normals **normals,
                            ex_error *error) {
    if (!def || !normals) {
        exi_misuse(__func__, "no definition, or nowhere to put the normals");
        return EX_ERROR_ARGUMENT;
    }
    *normals = NULL;
    ex_result result = check_def(def, error);
    if (result != EX_OK)
        return result;
    ex_normals head = {.vertex_count = def->vertex_count,
                       .face_count = def->face_count,
                       .corner_count = def->face_count > 0 ? def->face_offsets[def->face_count] : 0,
                       .by_angle = def->weighting == EX_NORMAL_BY_ANGLE};
    exi_size total = {.bytes = sizeof head};
    head.face_offsets = exi_size_add(&total, (size_t)head.face_count + 1, sizeof(uint32_t), EXI_ALIGN);
    head.corners = exi_size_add(&total, (size_t)head.corner_count, sizeof(uint32_t), EXI_ALIGN);
    head.gather_offsets = exi_size_add(&total, (size_t)head.vertex_count + 1, sizeof(uint32_t), EXI_ALIGN);
    head.gathers = exi_size_add(&total, (size_t)head.corner_count, sizeof(gather), EXI_ALIGN);
    head.size = total.bytes;
    if (total.overflow)
        return exi_error(error, EX_ERROR_LIMIT, "the normals are too large for this machine's memory");
    ex_normals *made = exi_block_create(allocator, total.bytes);
    if (!made)
        return exi_error_memory(error, "the normals", total.bytes);
    *made = head;
    fill(made, def);
    *normals = made;
    return EX_OK;
}

void ex_normals_destroy(ex_normals *normals) {
    exi_block_destroy(normals);
}

int ex_normals_vertex_count(const ex_normals *normals) {
    return normals->vertex_count;
}

/* ---- computing ---- */

typedef struct pass {
    const ex_normals *normals;
    const char *positions;
    size_t stride, out_stride;
    char *out;
    float (*areas)[4]; /* [face_count] area vectors, by angle: unit normals */
} pass;

static inline const float *position(const pass *p, uint32_t v) {
    return (const float *)(const void *)(p->positions + (size_t)v * p->stride);
}

/* Differences from the first corner: far from the origin nothing else keeps its digits. In double, but kept as float:
 * areas of faces below 1e-22 or beyond 1e19 across are lost, and with them normals by area. */
static void run_faces(void *context, int begin, int end) {
    const pass *p = context;
    const uint32_t *offsets = at(p->normals, p->normals->face_offsets), *corners = at(p->normals, p->normals->corners);
    for (int f = begin; f < end; f++) {
        const uint32_t first = offsets[f], last = offsets[f + 1];
        const float *o = position(p, corners[first]), *a = position(p, corners[first + 1]);
        double area[3] = {0, 0, 0}, u[3], w[3], term[3];
        for (int c = 0; c < 3; c++)
            u[c] = (double)a[c] - (double)o[c];
        for (uint32_t i = first + 2; i < last; i++) {
            const float *b = position(p, corners[i]);
            for (int c = 0; c < 3; c++)
                w[c] = (double)b[c] - (double)o[c];
            exi_cross(u, w, term);
            for (int c = 0; c < 3; c++) {
                area[c] += term[c];
                u[c] = w[c];
            }
        }
        if (p->normals->by_angle && !exi_normalise(area, 3))
            area[0] = area[1] = area[2] = 0;
        for (int c = 0; c < 3; c++)
            p->areas[f][c] = (float)area[c];
    }
}

/* The angle at v between its two neighbours, in [0, pi]; atan2 of sine and cosine, exact for needles too. */
static double angle_at(const float *v, const float *next, const float *previous) {
    double a[3], b[3], across[3];
    for (int c = 0; c < 3; c++) {
        a[c] = (double)next[c] - (double)v[c];
        b[c] = (double)previous[c] - (double)v[c];
    }
    exi_cross(a, b, across);
    double sine = sqrt(exi_dot3(across, across)), cosine = exi_dot3(a, b);
    return cosine >= 0 ? exi_angle(sine, cosine) : 3.14159265358979323846 - exi_angle(sine, -cosine);
}

static void run_vertices(void *context, int begin, int end) {
    const pass *p = context;
    const uint32_t *starts = at(p->normals, p->normals->gather_offsets);
    const gather *gathers = at(p->normals, p->normals->gathers);
    for (int v = begin; v < end; v++) {
        double sum[3] = {0, 0, 0};
        for (uint32_t i = starts[v]; i < starts[v + 1]; i++) {
            const gather g = gathers[i];
            double factor = 1.0;
            if (p->normals->by_angle)
                factor = angle_at(position(p, (uint32_t)v), position(p, g.next), position(p, g.previous));
            for (int c = 0; c < 3; c++)
                sum[c] += factor * (double)p->areas[g.face][c];
        }
        if (!exi_normalise(sum, 3))
            sum[0] = sum[1] = sum[2] = 0;
        float *to = (float *)(void *)(p->out + (size_t)v * p->out_stride);
        for (int c = 0; c < 3; c++)
            to[c] = (float)sum[c];
    }
}

size_t ex_normals_scratch_size(const ex_normals *normals) {
    return ((size_t)normals->face_count + 1) * sizeof(float[4]);
}

void ex_normals_compute(const ex_normals *normals, const float *positions, size_t stride, float *out, size_t out_stride,
                        const ex_tasks *tasks, void *scratch) {
    if (!normals || !positions || !out || !scratch) {
        exi_misuse(__func__, "no normals, positions or scratch, or nowhere to put the result");
        return;
    }
    pass p = {.normals = normals,
              .positions = (const char *)positions,
              .stride = stride ? stride : 12,
              .out = (char *)out,
              .out_stride = out_stride ? out_stride : 12,
              .areas = scratch};
    exi_run(tasks, normals->face_count, 1024, run_faces, &p);
    exi_run(tasks, normals->vertex_count, 1024, run_vertices, &p);
}
