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
 * somewhere: a tenth of its vertices is near, and half of it no farther away than its own size.
 *
 * Clothes in another space may touch the driver by chance, and then no factor alone makes them fit. If half of the
 * vertices are far away for their size, the misfit is also measured after a translation t that is found by closest
 * points c, t := mean of (c(s p + t) - s p), for s = 1 and for larger ones. It tells clothes that are small and
 * elsewhere from loose ones, which no translation brings near. Smaller factors are not tried: everything fits somewhere
 * if it is small enough.
 *
 * Medians over a few frames of each pair of caches are judged.
 */
#include "author/drive/learn/references.h"

#include "author/base/array.h"

#include <exemplar/settle.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAME_MAX = 9, VERTEX_MAX = 400, POWER_MAX = 3, SCALE_COUNT = 2 * POWER_MAX + 1, MOVES = 12 };

/* A misfit below this is never suspected. A better unit divides it by more than this, and leaves less than this. */
static const double close_fit = 0.06, better = 3, good_fit = 0.1;
/* Half of the vertices are at most this many sizes of the driven form away. */
static const double far_fit = 1;
/* With a misfit above this, the driven form may be elsewhere. */
static const double loose_fit = 0.15;
/* The nearest tenth of the vertices is at most this part of the driver's size away. */
static const double near_part = 0.15;
/* Edges of a mesh and of its forms in a cache differ by less than this factor. */
static const double edge_factor = 5;

typedef struct fitter {
    const ex_mesh *meshes[2]; /* driver, driven */
    uint32_t *triangles;      /* [triangle_count][3] of the driver */
    int triangle_count;
    ex_tree *tree;
    void *memory;           /* of the bounds */
    float *driver, *driven; /* one frame */
    ex_error *error;
} fitter;

typedef struct judged {
    double misfits[SCALE_COUNT][FRAME_MAX];
    double moved[SCALE_COUNT][FRAME_MAX]; /* misfits after a translation; as without one where none was tried */
    double near[FRAME_MAX];               /* distance of the nearest tenth, in sizes of the driver */
    double edges[2][FRAME_MAX];           /* length of all edges of driver and driven, over that of their meshes */
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

/* Box around a form. */
static void find_box(const float *positions, int count, double low[3], double high[3]) {
    for (size_t i = 0; i < 3; i++) {
        low[i] = INFINITY;
        high[i] = -INFINITY;
        for (size_t v = 0; v < (size_t)count; v++) {
            const double x = (double)positions[3 * v + i];
            low[i] = x < low[i] ? x : low[i];
            high[i] = x > high[i] ? x : high[i];
        }
    }
}

/* Diagonal of that box. */
static double size_of(const float *positions, int count) {
    double low[3], high[3], sum = 0;
    find_box(positions, count, low, high);
    for (int i = 0; i < 3; i++)
        sum += (high[i] - low[i]) * (high[i] - low[i]);
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

/* Median distance after the best translation that closest points find from a start. */
static double move_near(const ex_bounds *fit, const float *driven, int count, double scale, const double start[3]) {
    const int used = count < VERTEX_MAX ? count : VERTEX_MAX;
    double t[3] = {start[0], start[1], start[2]}, distances[VERTEX_MAX], least = INFINITY;
    for (int step = 0; step < MOVES; step++) {
        double sums[3] = {0, 0, 0};
        for (int i = 0; i < used; i++) {
            const float *p = driven + 3 * (size_t)((long long)i * count / used);
            float point[3];
            ex_closest closest;
            for (int c = 0; c < 3; c++)
                point[c] = (float)(scale * (double)p[c] + t[c]);
            if (!ex_bounds_closest(fit, point, INFINITY, &closest))
                return INFINITY;
            distances[i] = sqrt((double)closest.distance_sq);
            for (int c = 0; c < 3; c++)
                sums[c] += (double)closest.point[c] - (double)point[c];
        }
        least = fmin(least, quantile(distances, used, 0.5));
        for (int c = 0; c < 3; c++)
            t[c] += sums[c] / used;
    }
    return least;
}

/* Misfits after translations, from where the form is and from the driver's centre. */
static void judge_moved(const fitter *f, const ex_bounds *fit, double size, int at, judged *made) {
    static const double none[3] = {0, 0, 0};
    const int counts[2] = {f->meshes[0]->vertex_count, f->meshes[1]->vertex_count};
    double low[2][3], high[2][3], start[3];
    find_box(f->driver, counts[0], low[0], high[0]);
    find_box(f->driven, counts[1], low[1], high[1]);
    for (int k = POWER_MAX; k < SCALE_COUNT; k++) {
        const double scale = pow(10, k - POWER_MAX);
        for (int c = 0; c < 3; c++)
            start[c] = (low[0][c] + high[0][c]) / 2 - scale * (low[1][c] + high[1][c]) / 2;
        const double least =
            fmin(move_near(fit, f->driven, counts[1], scale, none), move_near(fit, f->driven, counts[1], scale, start));
        made->moved[k][at] = fmin(made->moved[k][at], least / (scale * size));
    }
}

/* False if the forms have no size to compare with. */
static bool judge_frame(const fitter *f, int at, judged *made) {
    const int counts[2] = {f->meshes[0]->vertex_count, f->meshes[1]->vertex_count};
    const ex_bounds *fit = ex_bounds_fit(f->tree, f->driver, 0, f->memory, NULL);
    const double sizes[2] = {size_of(f->driver, counts[0]), size_of(f->driven, counts[1])};
    double distances[VERTEX_MAX];
    if (!fit || !(sizes[0] > 0) || !(sizes[1] > 0))
        return false;
    for (int k = 0; k < SCALE_COUNT; k++) {
        const double scale = pow(10, k - POWER_MAX);
        const int count = find_distances(fit, f->driven, counts[1], scale, distances);
        made->misfits[k][at] = made->moved[k][at] = quantile(distances, count, 0.5) / (scale * sizes[1]);
        if (k == POWER_MAX)
            made->near[at] = quantile(distances, count, 0.1) / sizes[0];
    }
    if (made->misfits[POWER_MAX][at] > loose_fit)
        judge_moved(f, fit, sizes[1], at, made);
    made->edges[0][at] = edge_length(f->meshes[0], f->driver) / edge_length(f->meshes[0], NULL);
    made->edges[1][at] = edge_length(f->meshes[1], f->driven) / edge_length(f->meshes[1], NULL);
    return true;
}

/* ---- judgement ---- */

/* Names for messages: the files of driver and driven forms. */
typedef struct named {
    const char *paths[2];
    const char *mesh, *advice, *kind; /* what the mesh of the right size is, what to do, and the kind of that error */
} named;

static ex_result wrong_unit(const fitter *f, const named *n, int power) {
    const bool large = power < 0;
    const ex_result result =
        ex_error_set(f->error, EX_ERROR_DATA,
                     "'%s' is about %.0f times too %s for '%s': multiply its positions by %g, if its unit is another",
                     n->paths[1], pow(10, abs(power)), large ? "large" : "small", n->paths[0], pow(10, power));
    return ex_error_kind(f->error, result, "driven_unit");
}

static ex_result wrong_mesh(const fitter *f, const named *n, int which, double edges) {
    const ex_result result = ex_error_set(f->error, EX_ERROR_DATA, "'%s' has the %s mesh %.2g times as large as %s: %s",
                                          n->paths[which], which ? "driven" : "driver", edges, n->mesh, n->advice);
    return ex_error_kind(f->error, result, n->kind);
}

/* Clothes that a translation brings much nearer. */
static ex_result wrong_place(const fitter *f, const named *n, int power) {
    char size[40] = "";
    if (power > 0)
        snprintf(size, sizeof size, "about %.0f times too small, and ", pow(10, power));
    const ex_result result = ex_error_set(f->error, EX_ERROR_DATA,
                                          "'%s' is %snot where '%s' is: export both from one scene, in the same space "
                                          "and unit",
                                          n->paths[1], size, n->paths[0]);
    return ex_error_kind(f->error, result, "driven_far");
}

static ex_result decide(const fitter *f, const named *n, judged *made, int count) {
    double misfits[SCALE_COUNT], moved[SCALE_COUNT];
    int best = POWER_MAX, nearest = POWER_MAX;
    for (int i = 0; i < 2; i++) {
        const double edges = quantile(made->edges[i], count, 0.5);
        if (edges > edge_factor || edges < 1 / edge_factor)
            return wrong_mesh(f, n, i, edges);
    }
    for (int k = 0; k < SCALE_COUNT; k++) {
        misfits[k] = quantile(made->misfits[k], count, 0.5);
        moved[k] = quantile(made->moved[k], count, 0.5);
    }
    for (int k = 0; k < SCALE_COUNT; k++) {
        best = misfits[k] < misfits[best] ? k : best;
        nearest = k > POWER_MAX && moved[k] < moved[nearest] ? k : nearest;
    }
    const double misfit = misfits[POWER_MAX];
    if (misfit > close_fit && better * misfits[best] < misfit && misfits[best] < good_fit)
        return wrong_unit(f, n, best - POWER_MAX);
    const double away = quantile(made->near, count, 0.5);
    if (away > near_part || misfit > far_fit)
        return ex_error_kind(f->error,
                             ex_error_set(f->error, EX_ERROR_DATA,
                                          "'%s' is nowhere near '%s', but %.2g times %s size away: export both from "
                                          "one scene, in the same space and unit",
                                          n->paths[1], n->paths[0], away > near_part ? away : misfit,
                                          away > near_part ? "the driver's" : "its own"),
                             "driven_far");
    if (misfit > loose_fit && better * moved[nearest] < misfit && moved[nearest] < close_fit)
        return wrong_place(f, n, nearest - POWER_MAX);
    return EX_OK;
}

static ex_result check_pair(const fitter *f, const exi_references *refs, const exi_reference *item) {
    static const judged none;
    const named n = {
        {item->from->driver, item->from->driven}, "its mesh file", "give a mesh in the unit of the cache", "mesh_unit"};
    judged made = none;
    const int count = item->frame_count < FRAME_MAX ? item->frame_count : FRAME_MAX;
    for (int i = 0; i < count; i++) {
        const int frame = item->first + (int)((2LL * i + 1) * item->frame_count / (2LL * count));
        const ex_result result = exi_references_read(refs, frame, f->driver, f->driven, f->error);
        if (result != EX_OK)
            return result;
        if (!judge_frame(f, i, &made))
            return EX_OK;
    }
    return decide(f, &n, &made, count);
}

/* ---- entry point ---- */

static ex_result open_fitter(fitter *f) {
    const ex_mesh *mesh = f->meshes[0];
    int *corners = NULL;
    ex_result result = ex_mesh_triangulate(mesh, &corners, &f->triangle_count, f->error);
    if (result != EX_OK || f->triangle_count == 0) {
        free(corners);
        return result;
    }
    f->driver = exi_array_allocate((size_t)mesh->vertex_count, 3 * sizeof(float));
    f->driven = exi_array_allocate((size_t)f->meshes[1]->vertex_count, 3 * sizeof(float));
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

static void close_fitter(fitter *f) {
    free(f->memory);
    ex_tree_destroy(f->tree);
    free(f->triangles);
    free(f->driver);
    free(f->driven);
}

ex_result exi_references_check_fit(const exi_references *refs, ex_error *error) {
    fitter f = {.meshes = {refs->driver, refs->driven}, .error = error};
    ex_result result = open_fitter(&f);
    for (int i = 0; f.memory && result == EX_OK && i < refs->count; i++)
        result = check_pair(&f, refs, &refs->items[i]);
    close_fitter(&f);
    return result;
}

ex_result ex_drive_check_fit(const ex_drive_def *def, const ex_drive_key *key, const char *driver_path,
                             const char *driven_path, ex_error *error) {
    if (!def || !def->driver || !def->driven || !key || !key->driver || !key->driven || !driver_path || !driven_path)
        return exi_misuse_error(error, __func__, "no meshes, no forms, or no paths");
    static const judged none;
    const named n = {{driver_path, driven_path}, "the rig has it", "give it in the unit of the rig", "form_unit"};
    fitter f = {.meshes = {def->driver, def->driven}, .error = error};
    judged made = none;
    ex_result result = open_fitter(&f);
    if (result == EX_OK && f.memory) {
        memcpy(f.driver, key->driver, (size_t)def->driver->vertex_count * 3 * sizeof(float));
        memcpy(f.driven, key->driven, (size_t)def->driven->vertex_count * 3 * sizeof(float));
        if (judge_frame(&f, 0, &made))
            result = decide(&f, &n, &made, 1);
    }
    close_fitter(&f);
    return result;
}
