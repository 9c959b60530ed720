/*
 * Untangles a garment, and puts it over others (runtime/settle). A garment below is a sheet that is settled on like the
 * driver, so its triangles must face outwards. Most meshes do; others are turned here, each connected part as a whole,
 * by the side on which the driver is: over the triangles of a part, with area vectors n and the closest points y of the
 * driver to their middles x, it faces outwards if
 *
 *     sum of n . (x - y) / |x - y|
 *
 * is positive.
 */
#include "author/drive/apply/wear.h"

#include "author/base/array.h"
#include "author/drive/learn/references.h"
#include "runtime/base/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* In metres: distance to a garment below, if the rig has no thickness, and depth from which a vertex is left alone. */
static const float over_gap = 0.002F, over_reach = 0.05F;

/* ---- triangles ---- */

static ex_result triangles_of(const ex_mesh *mesh, uint32_t **triangles, int *count, ex_error *error) {
    int *corners = NULL;
    const ex_result result = ex_mesh_triangulate(mesh, &corners, count, error);
    if (result != EX_OK)
        return result;
    uint32_t *made = exi_array_allocate(3 * (size_t)*count, sizeof *made);
    for (size_t i = 0; made && i < 3 * (size_t)*count; i++)
        made[i] = (uint32_t)mesh->corners[corners[i]];
    free(corners);
    *triangles = made;
    return made ? EX_OK : ex_error_memory(error, "triangles", 3 * (size_t)*count * sizeof *made);
}

static uint32_t part_of(uint32_t *parts, uint32_t v) {
    while (parts[v] != v)
        v = parts[v] = parts[parts[v]];
    return v;
}

/* Adds the vote of a triangle to its part. */
static void vote(const ex_bounds *fit, const float *form, const uint32_t *corner, double *votes) {
    double p[3][3], e[3], f[3], out[3];
    float middle[3];
    ex_closest closest;
    for (int i = 0; i < 3; i++)
        for (int c = 0; c < 3; c++)
            p[i][c] = (double)form[3 * (size_t)corner[i] + (size_t)c];
    for (int c = 0; c < 3; c++) {
        e[c] = p[1][c] - p[0][c];
        f[c] = p[2][c] - p[0][c];
        middle[c] = (float)((p[0][c] + p[1][c] + p[2][c]) / 3);
    }
    if (!ex_bounds_closest(fit, middle, INFINITY, &closest))
        return;
    double length = 0;
    for (int c = 0; c < 3; c++) {
        out[c] = (double)middle[c] - (double)closest.point[c];
        length += out[c] * out[c];
    }
    const double n[3] = {e[1] * f[2] - e[2] * f[1], e[2] * f[0] - e[0] * f[2], e[0] * f[1] - e[1] * f[0]};
    if (length > 0)
        *votes += (n[0] * out[0] + n[1] * out[1] + n[2] * out[2]) / sqrt(length);
}

ex_result ex_drive_turn_outwards(const ex_drive_sheet *sheet, const ex_bounds *driver, uint32_t *triangles,
                                 ex_error *error) {
    if (!sheet || !driver || !triangles || !sheet->positions)
        return exi_misuse_error(error, __func__, "no sheet, driver or triangles");
    const size_t n = (size_t)sheet->vertex_count, count = (size_t)sheet->triangle_count;
    uint32_t *parts = exi_array_allocate(n, sizeof *parts);
    double *votes = calloc(n + 1, sizeof *votes);
    if (parts && votes) {
        for (uint32_t v = 0; v < n; v++)
            parts[v] = v;
        for (size_t i = 0; i < 3 * count; i++)
            parts[part_of(parts, triangles[i])] = part_of(parts, triangles[i / 3 * 3]);
        for (size_t t = 0; t < count; t++)
            vote(driver, sheet->positions, triangles + 3 * t, &votes[part_of(parts, triangles[3 * t])]);
        for (size_t t = 0; t < count; t++)
            if (votes[part_of(parts, triangles[3 * t])] < 0) {
                const uint32_t kept = triangles[3 * t + 1];
                triangles[3 * t + 1] = triangles[3 * t + 2];
                triangles[3 * t + 2] = kept;
            }
    }
    const bool good = parts && votes;
    free(parts);
    free(votes);
    return good ? EX_OK : ex_error_memory(error, "parts of a garment", n * 12);
}

/* ---- opening ---- */

static ex_result open_settler(exi_wear *w, ex_error *error) {
    const ex_settler_def def = {.driver_count = w->driver.driver.vertex_count,
                                .driver_positions = w->driver.driver.reference,
                                .triangle_count = w->driver.triangle_count,
                                .triangles = w->driver.triangles,
                                .vertex_count = w->vertex_count,
                                .bind_count = w->driver.bind_count,
                                .binds = w->driver.binds,
                                .vertex_binds = w->driver.vertex_binds};
    const ex_result result = ex_settler_create(&def, NULL, &w->settler, error);
    if (result != EX_OK)
        return result;
    w->settler_scratch = exi_array_allocate(ex_settler_scratch_size(w->settler), 1);
    w->gaps = exi_array_allocate((size_t)w->vertex_count, sizeof *w->gaps);
    w->copy = exi_array_allocate((size_t)w->vertex_count, 3 * sizeof *w->copy);
    return w->settler_scratch && w->gaps && w->copy
               ? EX_OK
               : ex_error_memory(error, "settling", ex_settler_scratch_size(w->settler));
}

static ex_result open_untangler(exi_wear *w, ex_error *error) {
    ex_mesh *mesh = NULL;
    uint32_t *triangles = NULL;
    float *form = NULL;
    int count = 0;
    ex_result result = ex_rig_to_mesh(w->def->rig, NULL, &mesh, error);
    if (result == EX_OK)
        result = triangles_of(mesh, &triangles, &count, error);
    if (result == EX_OK) {
        form = exi_array_allocate((size_t)w->vertex_count, 3 * sizeof *form);
        for (size_t i = 0; form && i < 3 * (size_t)w->vertex_count; i++)
            form[i] = (float)mesh->positions[i];
        const ex_untangler_def def = {
            .vertex_count = w->vertex_count, .positions = form, .triangle_count = count, .triangles = triangles};
        result = form ? ex_untangler_create(&def, NULL, &w->untangler, error)
                      : ex_error_memory(error, "a form", (size_t)w->vertex_count * 12);
    }
    if (result == EX_OK) {
        w->untangler_scratch = exi_array_allocate(ex_untangler_scratch_size(w->untangler), 1);
        if (!w->untangler_scratch)
            result = ex_error_memory(error, "untangling", ex_untangler_scratch_size(w->untangler));
    }
    free(form);
    free(triangles);
    ex_mesh_destroy(mesh);
    return result;
}

/* Reads a frame of a garment below, in the rig's unit. */
static ex_result read_layer(const exi_wear *w, exi_wear_layer *l, int frame, ex_error *error) {
    return exi_take_read(l->reader, l->path, l->first + frame, w->def->driven_scale, l->form, error);
}

/* Turns the triangles outwards and makes the settler. fit: memory for the driver's fit. */
static ex_result make_layer(exi_wear *w, exi_wear_layer *l, uint32_t *triangles, int count, const float *driver,
                            ex_error *error) {
    const ex_tree_def of_driver = {.vertex_count = w->driver.driver.vertex_count,
                                   .positions = driver,
                                   .triangle_count = w->driver.triangle_count,
                                   .triangles = w->driver.triangles};
    const ex_drive_sheet sheet = {l->vertex_count, l->form, count};
    ex_tree *tree = NULL;
    void *memory = NULL;
    ex_result result = ex_tree_create(&of_driver, NULL, &tree, error);
    if (result == EX_OK && !(memory = exi_array_allocate(ex_bounds_size(tree), 1)))
        result = ex_error_memory(error, "the driver", ex_bounds_size(tree));
    if (result == EX_OK)
        result = ex_drive_turn_outwards(&sheet, ex_bounds_fit(tree, driver, 0, memory, NULL), triangles, error);
    free(memory);
    ex_tree_destroy(tree);
    const ex_settler_def def = {.driver_count = l->vertex_count,
                                .driver_positions = l->form,
                                .triangle_count = count,
                                .triangles = triangles,
                                .vertex_count = w->vertex_count,
                                .open = true};
    if (result == EX_OK)
        result = ex_settler_create(&def, NULL, &l->settler, error);
    if (result != EX_OK)
        return result;
    l->scratch = exi_array_allocate(ex_settler_scratch_size(l->settler), 1);
    l->state = calloc(ex_settler_state_size(l->settler) + 1, 1);
    return l->scratch && l->state ? EX_OK : ex_error_memory(error, "settling", ex_settler_scratch_size(l->settler));
}

/* frame_count: frames in use, of those that the driver's cache has. A garment made for all of them, or for those in
 * use, is fine. driver: memory for a frame, the one of the garment's first frame. */
static ex_result open_layer(exi_wear *w, exi_wear_layer *l, const ex_apply_over *over, int frame_count,
                            ex_cache_reader *reader, float *driver, ex_error *error) {
    const int driver_frames = ex_cache_get_info(reader).frame_count;
    uint32_t *triangles = NULL;
    int count = 0;
    l->path = over->cache;
    l->vertex_count = over->mesh->vertex_count;
    ex_result result =
        ex_drive_open_cache(over->cache, "garment below", l->vertex_count, over->mesh, &l->reader, error);
    if (result == EX_OK) {
        const int frames = ex_cache_get_info(l->reader).frame_count;
        l->first = frames == frame_count ? 0 : w->def->first;
        if (frames != frame_count && frames != driver_frames)
            result = ex_error_set(error, EX_ERROR_DATA,
                                  "'%s' has %d frames, of which %d are used, but '%s' has %d: make "
                                  "both for the same animation",
                                  w->def->driver, driver_frames, frame_count, over->cache, frames);
    }
    if (result == EX_OK && !(l->form = exi_array_allocate((size_t)l->vertex_count, 3 * sizeof(float))))
        result = ex_error_memory(error, "a garment", (size_t)l->vertex_count * 12);
    if (result == EX_OK)
        result = triangles_of(over->mesh, &triangles, &count, error);
    if (result == EX_OK)
        result = read_layer(w, l, -l->first, error);
    if (result == EX_OK)
        result = exi_take_read(reader, w->def->driver, w->def->first - l->first, w->def->driver_scale, driver, error);
    if (result == EX_OK)
        result = make_layer(w, l, triangles, count, driver, error);
    free(triangles);
    return result;
}

static ex_result open_layers(exi_wear *w, int frame_count, ex_error *error) {
    const ex_apply_def *def = w->def;
    const int n = w->driver.driver.vertex_count;
    ex_cache_reader *reader = NULL;
    float *driver = exi_array_allocate((size_t)n, 3 * sizeof *driver);
    w->layers = calloc((size_t)def->over_count, sizeof *w->layers);
    ex_result result =
        driver && w->layers ? EX_OK : ex_error_memory(error, "the driver", (size_t)n * 3 * sizeof *driver);
    if (result == EX_OK)
        result = ex_drive_open_cache(def->driver, "driver", n, NULL, &reader, error);
    for (int i = 0; result == EX_OK && i < def->over_count; i++) {
        w->layer_count = i + 1;
        result = open_layer(w, &w->layers[i], &def->overs[i], frame_count, reader, driver, error);
    }
    ex_cache_close(reader);
    free(driver);
    return result;
}

ex_result exi_wear_open(exi_wear *w, const ex_apply_def *def, int frame_count, bool report, ex_error *error) {
    *w = (exi_wear){.def = def, .vertex_count = ex_rig_vertex_count(def->rig), .counts = report};
    ex_rig_get_driver(def->rig, &w->driver, w->binds);
    w->push = w->driver.push && !def->unsettled;
    ex_result result = EX_OK;
    if (def->untangle || (report && !def->brief))
        result = open_untangler(w, error);
    if (result == EX_OK && (def->untangle || def->over_count > 0))
        result = open_settler(w, error);
    if (result == EX_OK && def->over_count > 0 && frame_count > 0)
        result = open_layers(w, frame_count, error);
    return result;
}

void exi_wear_close(exi_wear *w) {
    for (int i = 0; i < w->layer_count; i++) {
        ex_cache_close(w->layers[i].reader);
        ex_settler_destroy(w->layers[i].settler);
        free(w->layers[i].form);
        free(w->layers[i].scratch);
        free(w->layers[i].state);
    }
    ex_untangler_destroy(w->untangler);
    ex_settler_destroy(w->settler);
    free(w->untangler_scratch);
    free(w->settler_scratch);
    free(w->gaps);
    free(w->copy);
    free(w->layers);
}

/* ---- frames ---- */

int exi_wear_count(const exi_wear *w, const float *form) {
    return w->untangler ? ex_untangler_count(w->untangler, form, 0, w->def->tasks, w->untangler_scratch) : -1;
}

/* Distances that vertices keep from the driver: what they have, but at most the thickness, and at least 0. */
static void find_gaps(exi_wear *w, const float *driver, const float *form) {
    ex_settler_measure(w->settler, driver, form, 0, NULL, NULL, w->gaps, w->def->tasks, w->settler_scratch);
    for (int v = 0; v < w->vertex_count; v++) {
        const float most = w->push ? w->driver.thickness : 0;
        w->gaps[v] = w->gaps[v] > most ? most : w->gaps[v] > 0 ? w->gaps[v] : 0;
    }
}

/* Pushes what is not deeper than `reach` out of a garment below; 0: no limit. Returns the number of vertices inside. */
static int settle_on(const exi_wear *w, const exi_wear_layer *l, float reach, float *form) {
    ex_settled settled;
    const ex_settle_job job = {.driver = l->form,
                               .driven = form,
                               .push = true,
                               .thickness = w->driver.thickness > 0 ? w->driver.thickness : over_gap,
                               .reach = reach,
                               .tasks = w->def->tasks,
                               .settled = &settled};
    ex_settle(l->settler, &job, l->state, l->scratch);
    return settled.inside;
}

/* Counts the vertices inside a garment below, at any depth: settling counts only what it pushes. */
static int count_on(const exi_wear *w, const exi_wear_layer *l, const float *form) {
    memcpy(w->copy, form, (size_t)w->vertex_count * 3 * sizeof *form);
    return settle_on(w, l, 0, w->copy);
}

/* Puts the form over the garments below, from the innermost outwards, and out of the driver in the end. */
static void cover(exi_wear *w, const float *driver, float *form, exi_worn *worn) {
    worn->covered = worn->covered_before = w->counts ? 0 : -1;
    for (int i = 0; i < w->layer_count; i++) {
        if (w->counts)
            worn->covered_before += count_on(w, &w->layers[i], form);
        settle_on(w, &w->layers[i], over_reach, form);
    }
    const ex_settle_job job = {
        .driver = driver, .driven = form, .push = w->push, .gaps = w->gaps, .tasks = w->def->tasks};
    if (w->push)
        ex_settle(w->settler, &job, NULL, w->settler_scratch);
    for (int i = 0; w->counts && i < w->layer_count; i++)
        worn->covered += count_on(w, &w->layers[i], form);
}

ex_result exi_wear_frame(exi_wear *w, int frame, const float *driver, float *form, exi_worn *worn, ex_error *error) {
    ex_result result = EX_OK;
    *worn = (exi_worn){-1, -1, -1, -1};
    for (int i = 0; result == EX_OK && i < w->layer_count; i++)
        result = read_layer(w, &w->layers[i], frame, error);
    if (result != EX_OK)
        return result;
    if (w->settler)
        find_gaps(w, driver, form);
    if (w->def->untangle) {
        const ex_untangle_job job = {.positions = form,
                                     .settler = w->push ? w->settler : NULL,
                                     .driver = driver,
                                     .gaps = w->gaps,
                                     .settler_scratch = w->settler_scratch,
                                     .tasks = w->def->tasks};
        const ex_untangled untangled = ex_untangle(w->untangler, &job, w->untangler_scratch);
        worn->crossings_before = untangled.before;
        worn->crossings = untangled.after;
    } else if (w->untangler) {
        worn->crossings_before = worn->crossings = exi_wear_count(w, form);
    }
    if (w->layer_count > 0) {
        cover(w, driver, form, worn);
        worn->crossings = exi_wear_count(w, form);
    }
    return EX_OK;
}
