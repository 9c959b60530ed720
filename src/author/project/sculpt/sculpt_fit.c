/*
 * Makes the rig give a sculpt back exactly. An example's file is measured without the layers after its own, but the
 * sculptor saw them. At the example's pose, per vertex,
 *
 *     result = y + c(y),
 *
 * where y is the form through the example's own layer, and c the share of later layers there. These are measured from
 * the result of earlier ones, so c depends on y: c = c0 + g y with a number g for each vertex. The file is the y with
 * y + c(y) = sculpt, found by the secant method: two steps, if nothing is rounded. Without later layers, y is the
 * sculpt. In layers of forms at rest, the file has y un-posed.
 */
#include "author/base/array.h"
#include "author/project/sculpt/sculpt.h"
#include "runtime/base/text.h"

#include <exemplar/author/files.h>
#include <exemplar/author/formats.h>

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 8 };
/* Largest distance from the sculpt, in sizes of the mesh, that is left. */
#define CLOSE 1e-6
/* Smallest effect of a form on the result, relative to the form, that can be corrected. */
#define SLOPE_LEAST 0.05

/* ---- units ---- */

void exi_form_to_metres(const ex_project_view *view, const ex_mesh *form, double *out) {
    for (size_t v = 0; v < (size_t)form->vertex_count; v++) {
        const double *p = form->positions + 3 * v;
        out[3 * v] = p[0] * view->unit;
        out[3 * v + 1] = (view->z_up ? p[2] : p[1]) * view->unit;
        out[3 * v + 2] = (view->z_up ? -p[1] : p[2]) * view->unit;
    }
}

/* The reverse, for the file. */
static void from_metres(const ex_project_view *view, const double *in, ex_mesh *form) {
    for (size_t v = 0; v < (size_t)form->vertex_count; v++) {
        const double *p = in + 3 * v;
        double *out = form->positions + 3 * v;
        out[0] = p[0] / view->unit;
        out[1] = (view->z_up ? -p[2] : p[1]) / view->unit;
        out[2] = (view->z_up ? p[1] : p[2]) / view->unit;
    }
}

/* ---- un-posing ---- */

/* Sums the shifts of joints that examples bring, at the pose. shifts [joint_count][3]. */
static bool sum_shifts(const ex_rig *rig, const ex_pose *pose, float *shifts) {
    const size_t count = 3 * (size_t)ex_rig_joint_count(rig);
    double *weights = exi_array_allocate((size_t)ex_rig_example_count(rig), sizeof *weights);
    float *one = exi_array_allocate(count, sizeof *one);
    void *scratch = malloc(ex_rig_scratch_size(rig, NULL, 1) + 1);
    const bool fits = weights && one && scratch;
    memset(shifts, 0, count * sizeof *shifts);
    if (fits)
        ex_rig_evaluate(rig, pose, &(ex_output){.weights = weights}, &(ex_evaluation){.unsettled = true}, scratch);
    for (int l = 0; fits && l < ex_rig_layer_count(rig); l++)
        for (int k = 0; k < ex_weigher_example_count(ex_rig_weigher(rig, l)); k++) {
            const float weight = (float)weights[ex_rig_first_example(rig, l) + k];
            if (weight == 0 || !ex_rig_example_shifts(rig, l, k, one))
                continue;
            for (size_t c = 0; c < count; c++)
                shifts[c] += weight * one[c];
        }
    free(weights);
    free(one);
    free(scratch);
    return fits;
}

/* Un-poses `posed` [vertex_count][3] into rest; where skinning flattens the surface, it tends to `mesh`. */
static bool unpose_skin(const ex_rig *rig, const ex_pose *pose, const float *posed, const float *mesh, double *rest) {
    const ex_skeleton *skeleton = ex_rig_skeleton(rig);
    const size_t joints = (size_t)ex_rig_joint_count(rig);
    const ex_skinning method = ex_rig_skinning(rig);
    float *shifts = exi_array_allocate(3 * joints, sizeof *shifts);
    float *matrices = exi_array_allocate(12 * joints, sizeof *matrices);
    float *centres = exi_array_allocate(3 * joints, sizeof *centres);
    float *turns = exi_array_allocate(4 * joints, sizeof *turns);
    void *scratch = malloc(ex_skeleton_scratch_size(skeleton) + 1);
    void *memory = malloc(ex_palette_size(method, (int)joints));
    const bool fits = shifts && matrices && centres && turns && scratch && memory && sum_shifts(rig, pose, shifts);
    if (fits) {
        ex_skeleton_evaluate(skeleton, &(ex_skeleton_input){.locals = pose->joints, .shifts = shifts},
                             &(ex_skeleton_output){.matrices = matrices, .centres = centres, .turns = turns}, scratch);
        const ex_palette *palette = ex_palette_make(&(ex_palette_def){.method = method,
                                                                      .joint_count = (int)joints,
                                                                      .matrices = matrices,
                                                                      .centres = centres,
                                                                      .turns = turns,
                                                                      .scale = ex_skeleton_scale(skeleton)},
                                                    memory);
        ex_skin_unpose(ex_rig_skin(rig), palette, &(ex_unpose_job){.posed = posed, .rest = mesh, .out = rest});
    }
    free(shifts);
    free(matrices);
    free(centres);
    free(turns);
    free(scratch);
    free(memory);
    return fits;
}

/* Takes the layers that are added after skinning off `posed`, and un-poses the rest of it. */
static ex_result unpose(const exi_fit *f, const double *posed, double *rest, ex_error *error) {
    const exi_amendment *a = f->amendment;
    const ex_project_example *example = exi_example_at(&a->trial.view.layers[f->layer], f->place);
    const size_t count = 3 * (size_t)f->mesh->vertex_count;
    float *with = exi_array_allocate(count, sizeof *with), *without = exi_array_allocate(count, sizeof *without);
    float *base = exi_array_allocate(count, sizeof *base);
    ex_mesh *mesh = NULL;
    exi_counted counted = {.shown = f->layer, .end = f->layer + 1, .without = -1};
    ex_result result = with && without && base ? EX_OK : ex_error_memory(error, "un-posing", count * sizeof *with);
    if (result == EX_OK)
        result = exi_example_evaluate(a->rig, &a->trial.view, example, &counted, with, error);
    counted.before_skin = true;
    if (result == EX_OK)
        result = exi_example_evaluate(a->rig, &a->trial.view, example, &counted, without, error);
    if (result == EX_OK)
        result = ex_rig_to_mesh(a->rig, NULL, &mesh, error);
    if (result == EX_OK) {
        ex_pose pose = exi_example_pose(a->rig, &a->trial.view, example);
        for (size_t i = 0; i < count; i++) {
            with[i] = (float)(posed[i] - ((double)with[i] - (double)without[i]));
            base[i] = (float)mesh->positions[i];
        }
        if (!pose.inputs || !unpose_skin(a->rig, &pose, with, base, rest))
            result = ex_error_memory(error, "un-posing", count * sizeof *with);
        free(pose.inputs);
    }
    ex_mesh_destroy(mesh);
    free(with);
    free(without);
    free(base);
    return result;
}

/* ---- the file ---- */

ex_result exi_fit_form(const exi_fit *f, const double *wanted, ex_error *error) {
    const size_t count = 3 * (size_t)f->mesh->vertex_count;
    if (!f->at_rest || !ex_rig_skin(f->amendment->rig)) {
        from_metres(&f->amendment->trial.view, wanted, f->mesh);
        return EX_OK;
    }
    double *rest = exi_array_allocate(count, sizeof *rest);
    const ex_result result =
        rest ? unpose(f, wanted, rest, error) : ex_error_memory(error, "un-posing", count * sizeof *rest);
    if (result == EX_OK)
        from_metres(&f->amendment->trial.view, rest, f->mesh);
    free(rest);
    return result;
}

/* Gives the example a file for the form and one for the sculpt itself, which `check` compares the result with. So far
 * it has one: of the sculpt, or of the sculpt at rest. */
static ex_result part_files(const exi_fit *f, ex_error *error) {
    exi_amendment *a = f->amendment;
    const ex_project_layer *layer = &a->trial.view.layers[f->layer];
    json_t *entry = json_array_get(json_object_get(exi_amend_layer(a, f->layer), "examples"), (size_t)f->place);
    char name[EXI_NAME_MAX + 16];
    snprintf(name, sizeof name, "%s_%s", exi_example_at(layer, f->place)->name, f->at_rest ? "sculpt" : "below");
    char *file = exi_sculpt_free_file(&a->trial.view, layer->name, name);
    ex_result result = file ? EX_OK : ex_error_memory(error, "a path", 0);
    from_metres(&a->trial.view, a->wanted, f->mesh);
    if (result == EX_OK)
        result = exi_sculpt_write(a, file, f->mesh, error);
    const bool done =
        result != EX_OK || (f->at_rest ? json_object_set_new(entry, "sculpt", json_string(file)) == 0
                                       : json_object_set(entry, "sculpt", json_object_get(entry, "mesh")) == 0 &&
                                             json_object_set_new(entry, "mesh", json_string(file)) == 0);
    free(file);
    if (!done)
        result = ex_error_memory(error, "an example", 0);
    return result == EX_OK ? exi_amend_read(a, error) : result;
}

/* Writes the mesh as the example's file, which this change made, and builds again. */
static ex_result write_again(const exi_fit *f, ex_error *error) {
    exi_amendment *a = f->amendment;
    char *path = ex_path_join(a->trial.path, exi_example_at(&a->trial.view.layers[f->layer], f->place)->mesh);
    ex_result result = path ? ex_obj_write(path, f->mesh, error) : ex_error_memory(error, "a path", 0);
    free(path);
    return result == EX_OK ? exi_amend_build(a, error) : result;
}

/* ---- later layers ---- */

/* The forms of two rounds: y as above, and the share of later layers. [vertex_count][3] each. */
typedef struct rounds {
    double *y, *share, *old_y, *old_share;
} rounds;

static ex_result find_share(const exi_fit *f, double *share, ex_error *error) {
    const exi_amendment *a = f->amendment;
    const ex_project_example *example = exi_example_at(&a->trial.view.layers[f->layer], f->place);
    const size_t count = 3 * (size_t)f->mesh->vertex_count;
    float *all = exi_array_allocate(count, sizeof *all), *up_to = exi_array_allocate(count, sizeof *up_to);
    exi_counted counted = {.shown = f->layer, .end = INT_MAX, .without = -1};
    ex_result result = all && up_to ? EX_OK : ex_error_memory(error, "a form", count * sizeof *all);
    if (result == EX_OK)
        result = exi_example_evaluate(a->rig, &a->trial.view, example, &counted, all, error);
    counted.end = f->layer + 1;
    if (result == EX_OK)
        result = exi_example_evaluate(a->rig, &a->trial.view, example, &counted, up_to, error);
    for (size_t i = 0; result == EX_OK && i < count; i++)
        share[i] = (double)all[i] - (double)up_to[i];
    free(all);
    free(up_to);
    return result;
}

/* Returns the farthest that y + share is from the sculpt. */
static double find_distance(const exi_fit *f, const rounds *r) {
    double most = 0;
    for (size_t i = 0; i < 3 * (size_t)f->mesh->vertex_count; i++) {
        const double off = fabs(f->amendment->wanted[i] - r->share[i] - r->y[i]);
        most = off > most ? off : most;
    }
    return most;
}

/* Returns 1 + g of a vertex; 1 if the last round did not change it, or if the result hardly depends on the form. */
static double slope_at(const rounds *r, size_t v, bool first) {
    double product = 0, square = 0;
    for (size_t c = 3 * v; !first && c < 3 * v + 3; c++) {
        const double step = r->y[c] - r->old_y[c];
        product += step * (r->share[c] - r->old_share[c]);
        square += step * step;
    }
    const double slope = square > 0 ? 1 + product / square : 1;
    return fabs(slope) > SLOPE_LEAST ? slope : 1;
}

static void step(const exi_fit *f, rounds *r, bool first) {
    const size_t vertices = (size_t)f->mesh->vertex_count;
    for (size_t v = 0; v < vertices; v++) {
        const double slope = slope_at(r, v, first);
        for (size_t c = 3 * v; c < 3 * v + 3; c++) {
            const double y = r->y[c];
            r->y[c] += (f->amendment->wanted[c] - r->share[c] - y) / slope;
            r->old_y[c] = y;
            r->old_share[c] = r->share[c];
        }
    }
}

static ex_result correct(const exi_fit *f, rounds *r, ex_error *error) {
    const double close = CLOSE * ex_mesh_size(f->mesh) * f->amendment->trial.view.unit;
    ex_result result = EX_OK;
    for (int round = 0; round < ROUNDS && result == EX_OK; round++) {
        result = find_share(f, r->share, error);
        if (result != EX_OK || find_distance(f, r) <= close)
            break;
        step(f, r, round == 0);
        if (round == 0)
            result = part_files(f, error);
        if (result == EX_OK)
            result = exi_fit_form(f, r->y, error);
        if (result == EX_OK)
            result = write_again(f, error);
    }
    return result;
}

ex_result exi_fit_again(const exi_fit *f, ex_error *error) {
    ex_result result = exi_fit_form(f, f->amendment->wanted, error);
    if (result == EX_OK)
        result = write_again(f, error);
    return result == EX_OK ? exi_fit_later(f, error) : result;
}

ex_result exi_fit_later(const exi_fit *f, ex_error *error) {
    const ex_project_layer *layer = &f->amendment->trial.view.layers[f->layer];
    const size_t count = 3 * (size_t)f->mesh->vertex_count;
    bool built = false;
    for (int k = 0; k < layer->example_count; k++)
        built = built || layer->examples[k].place == f->place;
    if (!built || f->layer + 1 >= f->amendment->trial.view.layer_count)
        return EX_OK;
    rounds r = {.y = exi_array_allocate(count, sizeof *r.y),
                .share = exi_array_allocate(count, sizeof *r.share),
                .old_y = exi_array_allocate(count, sizeof *r.old_y),
                .old_share = exi_array_allocate(count, sizeof *r.old_share)};
    ex_result result = EX_OK;
    if (r.y && r.share && r.old_y && r.old_share) {
        memcpy(r.y, f->amendment->wanted, count * sizeof *r.y);
        result = correct(f, &r, error);
    } else {
        result = ex_error_memory(error, "a form", 4 * count * sizeof *r.y);
    }
    free(r.y);
    free(r.share);
    free(r.old_y);
    free(r.old_share);
    return result;
}
