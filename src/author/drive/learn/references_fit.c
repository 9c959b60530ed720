/*
 * Checks that a driven mesh is in the unit of its driver, and near it. Sizes alone do not tell: a ring is a hundredth
 * of a body. A garment wraps the driver's surface, at a distance far below its own size D. With its positions p
 * multiplied by s, the misfit is
 *
 *     m(s) = median over vertices of distance(s p, driver) / (s D)
 *
 * It is 0.02 for a sleeve on an arm, and 0.1 to 1000 if its unit is off by ten or more: too large, and the distance
 * grows with the size; too small, and the clothes shrink to the origin, which they then miss by many times their size.
 * A unit is wrong if a power of ten makes the misfit much smaller, and small. Anything worn also touches the driver
 * somewhere: a tenth of its vertices is near, and half of it no farther away than its own size. Medians over a few
 * frames of each pair of caches are judged.
 */
#include "author/drive/learn/references.h"

#include "author/base/array.h"

#include <exemplar/settle.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FRAME_MAX = 9, VERTEX_MAX = 400, POWER_MAX = 3, SCALE_COUNT = 2 * POWER_MAX + 1 };

/* A misfit below this is never suspected. A better unit divides it by more than this, and leaves less than this. */
static const double close_fit = 0.06, better = 3, good_fit = 0.1;
/* Half of the vertices are at most this many sizes of the driven form away. */
static const double far_fit = 1;
/* The nearest tenth of the vertices is at most this part of the driver's size away. */
static const double near_part = 0.15;
/* Edges of a mesh and of its forms in a cache differ by less than this factor. */
static const double edge_factor = 5;

typedef struct fitter {
    const exi_references *refs;
    uint32_t *triangles; /* [triangle_count][3] of the driver */
    int triangle_count;
    ex_tree *tree;
    void *memory;           /* of the bounds */
    float *driver, *driven; /* one frame */
    ex_error *error;
} fitter;

typedef struct judged {
    double misfits[SCALE_COUNT][FRAME_MAX];
    double near[FRAME_MAX];     /* distance of the nearest tenth, in sizes of the driver */
    double edges[2][FRAME_MAX]; /* length of all edges of driver and driven, over that of their meshes */
} judged;

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts values and returns the one that this part of them stays below. */
static double quantile(double *values, int count, double part) {
    qsort(values, (size_t)count, sizeof *values, compare);
    return values[(int)(part * (count - 1))];
}

static double size_of(const float *positions, int count) {
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        double low = INFINITY, high = -INFINITY;
        for (int v = 0; v < count; v++) {
            const double x = (double)positions[3 * (size_t)v + (size_t)i];
            low = x < low ? x : low;
            high = x > high ? x : high;
        }
        sum += (high - low) * (high - low);
    }
    return sqrt(sum);
}

/* Length of all edges of the faces: of a form, or of the mesh itself. */
static double edge_length(const ex_mesh *mesh, const float *form) {
    double sum = 0;
    for (int f = 0; f < mesh->face_count; f++)
        for (int c = mesh->face_offsets[f]; c < mesh->face_offsets[f + 1]; c++) {
            const int next = c + 1 < mesh->face_offsets[f + 1] ? c + 1 : mesh->face_offsets[f];
            const size_t a = 3 * (size_t)mesh->corners[c], b = 3 * (size_t)mesh->corners[next];
            double square = 0;
            for (size_t i = 0; i < 3; i++) {
                const double d =
                    form ? (double)form[a + i] - (double)form[b + i] : mesh->positions[a + i] - mesh->positions[b + i];
                square += d * d;
            }
            sum += sqrt(square);
        }
    return sum;
}

/* ---- one frame ---- */

/* Distances of evenly spread vertices, multiplied by the scale, from the driver. Returns their number. */
static int find_distances(const ex_bounds *fit, const float *driven, int count, double scale,
                          double distances[VERTEX_MAX]) {
    const int used = count < VERTEX_MAX ? count : VERTEX_MAX;
    for (int i = 0; i < used; i++) {
        const float *p = driven + 3 * (size_t)((long long)i * count / used);
        const float point[3] = {(float)(scale * (double)p[0]), (float)(scale * (double)p[1]),
                                (float)(scale * (double)p[2])};
        ex_closest closest;
        distances[i] = ex_bounds_closest(fit, point, INFINITY, &closest) ? sqrt((double)closest.distance_sq) : INFINITY;
    }
    return used;
}

/* False if the forms have no size to compare with. */
static bool judge_frame(const fitter *f, int at, judged *made) {
    const exi_references *refs = f->refs;
    const ex_bounds *fit = ex_bounds_fit(f->tree, f->driver, 0, f->memory, NULL);
    const double sizes[2] = {size_of(f->driver, refs->driver_count), size_of(f->driven, refs->driven_count)};
    double distances[VERTEX_MAX];
    if (!fit || !(sizes[0] > 0) || !(sizes[1] > 0))
        return false;
    for (int k = 0; k < SCALE_COUNT; k++) {
        const double scale = pow(10, k - POWER_MAX);
        const int count = find_distances(fit, f->driven, refs->driven_count, scale, distances);
        made->misfits[k][at] = quantile(distances, count, 0.5) / (scale * sizes[1]);
        if (k == POWER_MAX)
            made->near[at] = quantile(distances, count, 0.1) / sizes[0];
    }
    made->edges[0][at] = edge_length(refs->driver, f->driver) / edge_length(refs->driver, NULL);
    made->edges[1][at] = edge_length(refs->driven, f->driven) / edge_length(refs->driven, NULL);
    return true;
}

/* ---- a pair of caches ---- */

static ex_result wrong_unit(const fitter *f, const exi_reference *item, int power) {
    const bool large = power < 0;
    const ex_result result = ex_error_set(
        f->error, EX_ERROR_DATA,
        "'%s' is about %.0f times too %s for '%s': multiply its positions by %g, if its unit is another",
        item->from->driven, pow(10, abs(power)), large ? "large" : "small", item->from->driver, pow(10, power));
    return ex_error_kind(f->error, result, "driven_unit");
}

static ex_result decide(const fitter *f, const exi_reference *item, judged *made, int count) {
    double misfits[SCALE_COUNT];
    int best = POWER_MAX;
    for (int i = 0; i < 2; i++) {
        const double edges = quantile(made->edges[i], count, 0.5);
        if (edges > edge_factor || edges < 1 / edge_factor)
            return ex_error_kind(
                f->error,
                ex_error_set(f->error, EX_ERROR_DATA,
                             "'%s' has the %s mesh %.2g times as large as its mesh file: give a mesh in the unit of "
                             "the cache",
                             i ? item->from->driven : item->from->driver, i ? "driven" : "driver", edges),
                "driven_far");
    }
    for (int k = 0; k < SCALE_COUNT; k++) {
        misfits[k] = quantile(made->misfits[k], count, 0.5);
        if (misfits[k] < misfits[best])
            best = k;
    }
    const double misfit = misfits[POWER_MAX];
    if (misfit > close_fit && better * misfits[best] < misfit && misfits[best] < good_fit)
        return wrong_unit(f, item, best - POWER_MAX);
    const double away = quantile(made->near, count, 0.5);
    if (away > near_part || misfit > far_fit)
        return ex_error_kind(f->error,
                             ex_error_set(f->error, EX_ERROR_DATA,
                                          "'%s' is nowhere near '%s', but %.2g times %s size away: export both from "
                                          "one scene, in the same space and unit",
                                          item->from->driven, item->from->driver, away > near_part ? away : misfit,
                                          away > near_part ? "the driver's" : "its own"),
                             "driven_far");
    return EX_OK;
}

static ex_result check_pair(const fitter *f, const exi_reference *item) {
    static const judged none;
    judged made = none;
    const int count = item->frame_count < FRAME_MAX ? item->frame_count : FRAME_MAX;
    for (int i = 0; i < count; i++) {
        const int frame = item->first + (int)((2LL * i + 1) * item->frame_count / (2LL * count));
        const ex_result result = exi_references_read(f->refs, frame, f->driver, f->driven, f->error);
        if (result != EX_OK)
            return result;
        if (!judge_frame(f, i, &made))
            return EX_OK;
    }
    return decide(f, item, &made, count);
}

/* ---- entry point ---- */

static ex_result open_fitter(fitter *f) {
    const ex_mesh *mesh = f->refs->driver;
    int *corners = NULL;
    ex_result result = ex_mesh_triangulate(mesh, &corners, &f->triangle_count, f->error);
    if (result != EX_OK || f->triangle_count == 0) {
        free(corners);
        return result;
    }
    f->driver = exi_array_allocate((size_t)f->refs->driver_count, 3 * sizeof(float));
    f->driven = exi_array_allocate((size_t)f->refs->driven_count, 3 * sizeof(float));
    f->triangles = exi_array_allocate((size_t)f->triangle_count, 3 * sizeof *f->triangles);
    if (!f->driver || !f->driven || !f->triangles) {
        free(corners);
        return ex_error_memory(f->error, "the driver's triangles", 12 * (size_t)f->triangle_count);
    }
    for (size_t i = 0; i < 3 * (size_t)f->triangle_count; i++)
        f->triangles[i] = (uint32_t)mesh->corners[corners[i]];
    free(corners);
    for (size_t i = 0; i < 3 * (size_t)mesh->vertex_count; i++)
        f->driver[i] = (float)mesh->positions[i];
    result = ex_tree_create(&(ex_tree_def){.vertex_count = mesh->vertex_count,
                                           .positions = f->driver,
                                           .triangle_count = f->triangle_count,
                                           .triangles = f->triangles},
                            NULL, &f->tree, f->error);
    f->memory = result == EX_OK ? malloc(ex_bounds_size(f->tree)) : NULL;
    if (result == EX_OK && !f->memory)
        result = ex_error_memory(f->error, "the driver's triangles", ex_bounds_size(f->tree));
    return result;
}

ex_result exi_references_check_fit(const exi_references *refs, ex_error *error) {
    fitter f = {.refs = refs, .error = error};
    ex_result result = open_fitter(&f);
    for (int i = 0; f.memory && result == EX_OK && i < refs->count; i++)
        result = check_pair(&f, &refs->items[i]);
    free(f.memory);
    ex_tree_destroy(f.tree);
    free(f.triangles);
    free(f.driver);
    free(f.driven);
    return result;
}
