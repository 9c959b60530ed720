/*
 * Checking a project: everything that is wrong or weak before it hurts, with where and how much. Errors are what keeps
 * it from building or makes the result wrong; warnings what will look bad; notes are measurements.
 */
#include "author/project/check.h"

#include "author/project/project.h"
#include "author/project/skeleton.h"
#include "runtime/base/result.h"
#include "runtime/weigh/weigher.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the list of findings ---- */

bool exi_check_add(exi_checker *c, ex_severity severity, const char *kind, const char *where, double value,
                   const char *format, ...) {
    char text[EX_ERROR_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    ex_check *check = c->check;
    ex_finding *findings = realloc(check->findings, ((size_t)check->finding_count + 1) * sizeof *findings);
    char *where_copy = malloc(strlen(where) + 1), *text_copy = malloc(strlen(text) + 1);
    if (findings)
        check->findings = findings;
    if (!findings || !where_copy || !text_copy) {
        free(where_copy);
        free(text_copy);
        c->failed = true;
        return false;
    }
    strcpy(where_copy, where);
    strcpy(text_copy, text);
    findings[check->finding_count++] =
        (ex_finding){.severity = severity, .kind = kind, .where = where_copy, .text = text_copy, .value = value};
    check->error_count += severity == EX_SEVERITY_ERROR;
    check->warning_count += severity == EX_SEVERITY_WARNING;
    return true;
}

void exi_check_failure(exi_checker *c, const char *kind, const char *where, const ex_error *error) {
    if (error->result == EX_ERROR_MEMORY)
        c->failed = true;
    else
        exi_check_add(c, EX_SEVERITY_ERROR, kind, where, 0, "%s", error->text);
}

void ex_check_destroy(ex_check *check) {
    if (!check)
        return;
    for (int i = 0; i < check->finding_count; i++) {
        free((void *)(uintptr_t)check->findings[i].where);
        free((void *)(uintptr_t)check->findings[i].text);
    }
    free(check->findings);
    free(check);
}

/* ---- meshes ---- */

/* Whether the other mesh is the same one with its vertices in another order: `what` of every vertex, sorted, agrees. */
typedef struct sortable {
    double key[3];
} sortable;

static int compare_keys(const void *a, const void *b) {
    const double *x = ((const sortable *)a)->key, *y = ((const sortable *)b)->key;
    for (int i = 0; i < 3; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return 0;
}

/* One key a vertex: its position, or its first texture coordinate and how many faces meet there. */
static sortable *make_keys(const ex_mesh *mesh, bool by_texcoord, double step) {
    sortable *keys = calloc((size_t)mesh->vertex_count + 1, sizeof *keys);
    if (!keys)
        return NULL;
    for (int v = 0; !by_texcoord && v < mesh->vertex_count; v++)
        for (int i = 0; i < 3; i++)
            keys[v].key[i] = floor(mesh->positions[3 * (size_t)v + (size_t)i] / step + 0.5);
    for (int k = 0; by_texcoord && k < mesh->corner_count; k++) {
        sortable *key = &keys[mesh->corners[k]];
        int t = mesh->corner_texcoords[k];
        if (t >= 0 && key->key[2] == 0)
            for (int i = 0; i < 2; i++)
                key->key[i] = floor(mesh->texcoords[2 * (size_t)t + (size_t)i] / step + 0.5);
        key->key[2]++;
    }
    qsort(keys, (size_t)mesh->vertex_count, sizeof *keys, compare_keys);
    return keys;
}

static bool same_keys(exi_checker *c, const ex_mesh *a, const ex_mesh *b, bool by_texcoord, double step) {
    sortable *ka = make_keys(a, by_texcoord, step), *kb = make_keys(b, by_texcoord, step);
    int different = 0;
    for (int v = 0; ka && kb && v < a->vertex_count; v++)
        different += memcmp(&ka[v], &kb[v], sizeof *ka) != 0;
    bool same = ka && kb && different <= a->vertex_count / 100;
    c->failed = c->failed || !ka || !kb;
    free(ka);
    free(kb);
    return same;
}

static const char *repair_hint(exi_checker *c, const ex_mesh *other) {
    const ex_mesh *mesh = c->mesh;
    if (mesh->vertex_count != other->vertex_count || mesh->face_count != other->face_count)
        return "it is another mesh: export it again from the one that the project names";
    if (mesh->corner_texcoords && other->corner_texcoords && same_keys(c, mesh, other, true, 1e-5))
        return "its texture coordinates are the same in another order: the vertices were reordered, and matching them "
               "by "
               "texture coordinate would repair it (export with the order of vertices kept)";
    if (same_keys(c, mesh, other, false, 1e-6 * ex_mesh_size(mesh) + 1e-30))
        return "its positions are the same in another order: the vertices were reordered, and matching them by rest "
               "position would repair it (export with the order of vertices kept)";
    return "neither positions nor texture coordinates agree in another order: export it again from the mesh that the "
           "project names, with the order of vertices kept";
}

/* Its shifts stay in c->shifts. */
static float *measure_example(exi_checker *c, int layer, int k, const ex_mesh *mesh, const float *mask,
                              const char *where) {
    exi_measured measured;
    ex_error error = {0};
    /* A skeleton that cannot be read was reported once; every example again would bury it. */
    if (c->view->skeleton && !c->skeleton && c->view->layers[layer].shape == EX_SHAPE_UNPOSED)
        return NULL;
    if (exi_measure_example(&c->measure, layer, k, mesh, mask, &measured, &error) != EX_OK) {
        exi_check_failure(c, "unmeasured", where, &error);
        return NULL;
    }
    float *delta = measured.delta;
    c->shifts[layer][k] = measured.shifts;
    measured.delta = measured.shifts = NULL;
    exi_measured_free(&measured);
    return delta;
}

/* Reads the example's form; NULL where it cannot be used, which has then been reported. */
static float *check_example(exi_checker *c, int layer, int k, const float *mask, const char *where) {
    const ex_project_example *example = &c->view->layers[layer].examples[k];
    ex_mesh *mesh = NULL;
    ex_error error = {0};
    float *delta = NULL;
    if (exi_project_read_mesh(c->view, example->mesh, &mesh, &error) != EX_OK) {
        exi_check_failure(c, "unreadable", where, &error);
    } else if (ex_mesh_compare_connectivity(c->mesh, mesh, &error) != EX_OK) {
        exi_check_add(c, EX_SEVERITY_ERROR, "connectivity", where, 0, "'%s' (%s): %s; %s", example->name, example->mesh,
                      error.text, repair_hint(c, mesh));
    } else {
        double ratio = ex_mesh_size(mesh) / ex_mesh_size(c->mesh);
        if (ratio > 20 || ratio < 0.05)
            exi_check_add(c, EX_SEVERITY_WARNING, "size", where, ratio,
                          "'%s' (%s) is %.3g times as large as the mesh: is it in another unit than \"unit\" says?",
                          example->name, example->mesh, ratio);
        delta = measure_example(c, layer, k, mesh, mask, where);
        for (size_t i = 0; delta && i < 3 * (size_t)c->mesh->vertex_count; i++)
            if (!isfinite(delta[i])) {
                exi_check_add(c, EX_SEVERITY_ERROR, "not_finite", where, (double)(i / 3),
                              "'%s': vertex %zu is too far away for a float", example->name, i / 3);
                free(delta);
                delta = NULL;
            }
    }
    ex_mesh_destroy(mesh);
    return delta;
}

/* ---- the whole ---- */

/* Reads and checks a layer; its deltas [example_count] stay in c->deltas[index], NULL entries where one is missing. */
static void check_layer(exi_checker *c, int index) {
    const ex_project_layer *layer = &c->view->layers[index];
    char where[64];
    snprintf(where, sizeof where, "layers[%d]", index);
    float **deltas = calloc((size_t)layer->example_count, sizeof *deltas), *mask = NULL;
    float **shifts = calloc((size_t)layer->example_count, sizeof *shifts);
    c->deltas[index] = deltas;
    c->shifts[index] = shifts;
    if (!deltas || !shifts) {
        c->failed = true;
        return;
    }
    bool complete = true;
    ex_error error = {0};
    if (layer->shape == EX_SHAPE_PIXELS) {
        c->done += layer->example_count;
        exi_check_space(c, index, NULL);
        return;
    }
    if (c->mesh && exi_project_read_mask(c->view, layer, c->mesh, c->skeleton, c->skin, &mask, &error) != EX_OK)
        exi_check_failure(c, "mask", where, &error);
    for (int k = 0; k < layer->example_count; k++) {
        char here[64];
        snprintf(here, sizeof here, "layers[%d].examples[%d]", index, k);
        exi_check_progress(c, layer->examples[k].name);
        deltas[k] = c->mesh ? check_example(c, index, k, mask, here) : NULL;
        complete = complete && deltas[k];
        c->done++;
    }
    free(mask);
    exi_check_space(c, index, complete ? (const float *const *)deltas : NULL);
    if (complete && c->mesh &&
        exi_measure_add_layer(&c->measure, index, (const float *const *)deltas, (const float *const *)shifts, &error) ==
            EX_ERROR_MEMORY)
        c->failed = true;
}

/* How far a later layer moves vertices at the pose of an earlier layer's example, the layer's share in c->measure.base.
 */
static double disturbance(exi_checker *c, int later, const double *const *points) {
    const size_t count = 3 * (size_t)c->mesh->vertex_count;
    exi_measure *m = &c->measure;
    double largest_sq = 0;
    memset(m->base, 0, count * sizeof *m->base);
    ex_weigher_evaluate(m->weighers[later], points[later], m->weights);
    for (int k = 0; k < c->view->layers[later].example_count; k++)
        exi_measure_sum(m->base, count, m->weights[k], m->deltas[later][k]);
    for (size_t i = 0; i < count; i += 3) {
        double sq = m->base[i] * m->base[i] + m->base[i + 1] * m->base[i + 1] + m->base[i + 2] * m->base[i + 2];
        largest_sq = sq > largest_sq ? sq : largest_sq;
    }
    return sqrt(largest_sq);
}

/* Sculpts of earlier layers that do not come back, because a later layer moves them. */
static void check_disturbed(exi_checker *c) {
    const double size = c->mesh ? ex_mesh_size(c->mesh) : 0;
    for (int l = 0; size > 0 && l < c->view->layer_count; l++)
        for (int later = l + 1; later < c->view->layer_count; later++)
            for (int k = 0; c->measure.weighers[later] && c->view->layers[l].shape != EX_SHAPE_PIXELS &&
                            k < c->view->layers[l].example_count;
                 k++) {
                const ex_project_example *example = &c->view->layers[l].examples[k];
                double off = disturbance(c, later, example->points) / size;
                char where[64];
                snprintf(where, sizeof where, "layers[%d].examples[%d]", l, k);
                if (off > 1e-4)
                    exi_check_add(
                        c, EX_SEVERITY_WARNING, "disturbed", where, off,
                        "layer '%s' moves the form of '%s' by up to %.2g %% of the mesh's size at its own pose",
                        c->view->layers[later].name, example->name, 100 * off);
            }
}

static void free_rows(const exi_checker *c, float ***rows) {
    for (int l = 0; rows && l < c->view->layer_count; l++) {
        for (int k = 0; rows[l] && k < c->view->layers[l].example_count; k++)
            free(rows[l][k]);
        free(rows[l]);
    }
    free(rows);
}

/* One input is a number or a rotation, and has one rest value, whichever layer names it. */
static void check_inputs(exi_checker *c) {
    for (int l = 0; l < c->view->layer_count; l++)
        for (int i = 0; i < c->view->layers[l].axis_count; i++)
            for (int m = 0; m < l; m++)
                for (int k = 0; k < c->view->layers[m].axis_count; k++) {
                    const ex_project_axis *a = &c->view->layers[l].axes[i], *b = &c->view->layers[m].axes[k];
                    if (strcmp(a->name, b->name) != 0 || exi_axis_is_same_input(&a->axis, &b->axis))
                        continue;
                    char where[64];
                    snprintf(where, sizeof where, "layers[%d].space[%d]", l, i);
                    exi_check_add(c, EX_SEVERITY_ERROR, "axis", where, 0,
                                  "axis '%s' has another kind or rest value here than in layers[%d]", a->name, m);
                }
}

static void check_mesh(exi_checker *c) {
    ex_error error = {0};
    if (exi_project_read_mesh(c->view, c->view->mesh, &c->mesh, &error) != EX_OK) {
        exi_check_failure(c, "unreadable", "mesh", &error);
        return;
    }
    /* As a rig holds it: differences are measured from the rounded mesh. */
    for (size_t i = 0; i < 3 * (size_t)c->mesh->vertex_count; i++) {
        c->mesh->positions[i] = (double)(float)c->mesh->positions[i];
        if (isfinite(c->mesh->positions[i]))
            continue;
        exi_check_add(c, EX_SEVERITY_ERROR, "not_finite", "mesh", (double)(i / 3),
                      "'%s': vertex %zu is too far away for a float", c->view->mesh, i / 3);
        ex_mesh_destroy(c->mesh);
        c->mesh = NULL;
        return;
    }
    if (c->mesh->face_count == 0)
        exi_check_add(c, EX_SEVERITY_WARNING, "no_faces", "mesh", 0, "'%s' has no faces: viewers will show points",
                      c->view->mesh);
}

static void check_skeleton(exi_checker *c) {
    ex_error error = {0};
    if (exi_skeleton_read(c->view, c->mesh, &c->skeleton, &c->skin, &error) != EX_OK)
        exi_check_failure(c, "skeleton", "skeleton", &error);
    else if (exi_project_check_joints(c->view, c->skeleton, &error) != EX_OK)
        exi_check_failure(c, "joint", "skeleton", &error);
}

ex_result ex_project_check(const ex_project *project, const ex_check_options *options, ex_check **check,
                           ex_error *error) {
    *check = NULL;
    exi_checker c = {.view = &project->view,
                     .check = calloc(1, sizeof *c.check),
                     .sample_count = options && options->sample_count > 0 ? options->sample_count : 4096,
                     .progress = options ? options->progress : NULL};
    if (!c.check)
        return exi_error_memory(error, "the check", sizeof *c.check);
    for (int l = 0; l < c.view->layer_count; l++)
        c.total += c.view->layers[l].example_count;
    check_mesh(&c);
    check_inputs(&c);
    c.deltas = calloc((size_t)c.view->layer_count + 1, sizeof *c.deltas);
    c.shifts = calloc((size_t)c.view->layer_count + 1, sizeof *c.shifts);
    c.failed = c.failed || !c.deltas || !c.shifts;
    if (c.mesh && !c.failed)
        check_skeleton(&c);
    if (c.mesh && !c.failed && exi_measure_open(&c.measure, c.view, c.mesh, c.skeleton, c.skin, error) != EX_OK)
        c.failed = true;
    for (int l = 0; !c.failed && l < c.view->layer_count; l++)
        check_layer(&c, l);
    if (!c.failed)
        check_disturbed(&c);
    exi_measure_close(&c.measure);
    free_rows(&c, c.deltas);
    free_rows(&c, c.shifts);
    ex_skin_destroy(c.skin);
    ex_skeleton_destroy(c.skeleton);
    ex_mesh_destroy(c.mesh);
    if (c.failed) {
        ex_check_destroy(c.check);
        return exi_error_memory(error, "the check", 0);
    }
    *check = c.check;
    return EX_OK;
}

void exi_check_progress(exi_checker *c, const char *what) {
    if (c->progress && c->progress->report)
        c->progress->report(c->progress->user, what, (double)c->done / (c->total + 1));
}
