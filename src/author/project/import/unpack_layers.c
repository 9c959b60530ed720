/*
 * Examples as files. A form is written as its base + its difference, in double, so that subtracting the base again and
 * rounding to float restores the difference (measure.h). The base depends on the layers before, at the place that the
 * new project file gives the example: it is computed as building will, from that file as it will be read.
 */
#include "author/base/array.h"
#include "author/project/domains/project_domain.h"
#include "author/project/skeleton/skeleton.h"
#include "runtime/base/result.h"

#include <exemplar/author/formats.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names ---- */

/* Keeps letters, digits and '-', replaces everything else by '_'; a number, in files from 1, keeps names apart. */
exi_file_name exi_file_name_make(const char *prefix, int number, const char *name, const char *ending) {
    exi_file_name out;
    size_t at = (size_t)snprintf(out.text, sizeof out.text, "%.40s_%03d_", prefix, number + 1);
    for (const char *c = name; *c && at < 80; c++)
        out.text[at++] =
            (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') || *c == '-' ? *c : '_';
    snprintf(out.text + at, sizeof out.text - at, "%s", ending);
    return out;
}

static exi_file_name layer_file_name(int layer, const char *ending) {
    exi_file_name out;
    snprintf(out.text, sizeof out.text, "layer%d.%s", layer + 1, ending);
    return out;
}

exi_file_name exi_unpacked_mask_name(int layer) {
    return layer_file_name(layer, "mask.txt");
}

exi_file_name exi_unpacked_segments_name(int layer) {
    return layer_file_name(layer, "segments.txt");
}

exi_file_name exi_unpacked_name(const ex_rig *rig, int layer, int example, exi_unpacked_kind kind) {
    const char *endings[] = {exi_project_domains[ex_rig_layer_domain(rig, layer)]->ending, ".skeleton.glb",
                             ".driver.obj"};
    char prefix[24];
    snprintf(prefix, sizeof prefix, "layer%d", layer + 1);
    return exi_file_name_make(prefix, example, ex_rig_example_name(rig, layer, example), endings[kind]);
}

bool exi_unpacked_has(const ex_rig *rig, int layer, int example, exi_unpacked_kind kind, float *shifts) {
    if (ex_rig_layer_reference(rig, layer) == example)
        return false; /* it is the mesh */
    if (kind == EXI_UNPACKED_DRIVER_FORM)
        return ex_rig_example_driver(rig, layer, example) != NULL;
    return kind != EXI_UNPACKED_BONES ||
           (ex_rig_joint_count(rig) > 0 && ex_rig_example_shifts(rig, layer, example, shifts));
}

/* ---- forms ---- */

static ex_result open_writing(exi_unpacking *w, const ex_project_view *view, const ex_mesh *mesh, ex_error *error) {
    const size_t layers = (size_t)view->layer_count, count = 3 * (size_t)mesh->vertex_count;
    w->form = (ex_mesh){.vertex_count = mesh->vertex_count,
                        .positions = exi_array_allocate(count, sizeof(double)),
                        .face_count = mesh->face_count,
                        .face_offsets = mesh->face_offsets,
                        .corner_count = mesh->corner_count,
                        .corners = mesh->corners};
    w->centres = exi_array_allocate(3 * (size_t)ex_rig_joint_count(w->rig), sizeof *w->centres);
    w->deltas = calloc(layers + 1, sizeof *w->deltas);
    w->shifts = calloc(layers + 1, sizeof *w->shifts);
    w->offsets = calloc(layers + 1, sizeof *w->offsets);
    w->paths = calloc(layers + 1, sizeof *w->paths);
    w->masks = calloc(layers + 1, sizeof *w->masks);
    if (!w->form.positions || !w->centres || !w->deltas || !w->shifts || !w->offsets || !w->paths || !w->masks)
        return ex_error_memory(error, "the examples", count * sizeof(double));
    return exi_measure_open(&w->measure, view, mesh, ex_rig_skeleton(w->rig), ex_rig_skin(w->rig),
                            w->driver.mesh ? &w->driver : NULL, error);
}

static void free_rows(const ex_rig *rig, float ***rows) {
    for (int l = 0; rows && l < ex_rig_layer_count(rig); l++) {
        for (int k = 0; rows[l] && k < ex_weigher_example_count(ex_rig_weigher(rig, l)); k++)
            free(rows[l][k]);
        free(rows[l]);
    }
    free(rows);
}

static void close_writing(exi_unpacking *w) {
    exi_measure_close(&w->measure);
    free_rows(w->rig, w->deltas);
    free_rows(w->rig, w->shifts);
    for (int l = 0; w->offsets && l < ex_rig_layer_count(w->rig); l++) {
        for (int k = 0; w->offsets[l] && k < ex_weigher_example_count(ex_rig_weigher(w->rig, l)); k++)
            exi_offsets_free(&w->offsets[l][k]);
        free(w->offsets[l]);
    }
    free(w->offsets);
    for (int l = 0; w->paths && l < ex_rig_layer_count(w->rig); l++)
        exi_project_trajectories_close(&w->paths[l]);
    free(w->paths);
    for (int l = 0; w->masks && l < ex_rig_layer_count(w->rig); l++)
        free(w->masks[l]);
    free(w->masks);
    free(w->centres);
    free(w->form.positions);
    w->driver.mesh = NULL; /* not owned */
    exi_project_driver_close(&w->driver);
}

/* Copies the layer's differences and shifts from the rig. */
static bool take_rows(exi_unpacking *w, int layer) {
    const size_t count = (size_t)ex_weigher_example_count(ex_rig_weigher(w->rig, layer));
    const size_t joints = (size_t)ex_rig_joint_count(w->rig), vertices = (size_t)ex_rig_vertex_count(w->rig);
    float **deltas = w->deltas[layer] = calloc(count, sizeof *deltas);
    float **shifts = w->shifts[layer] = calloc(count, sizeof *shifts);
    for (size_t k = 0; k < count; k++) {
        if (!deltas || !shifts)
            return false;
        deltas[k] = exi_array_allocate(vertices, 3 * sizeof *deltas[k]);
        shifts[k] = exi_array_allocate(joints, 3 * sizeof *shifts[k]);
        if (!deltas[k] || !shifts[k])
            return false;
        ex_rig_example_delta(w->rig, layer, (int)k, deltas[k]);
        if (!exi_unpacked_has(w->rig, layer, (int)k, EXI_UNPACKED_BONES, shifts[k])) {
            free(shifts[k]);
            shifts[k] = NULL;
        }
    }
    return true;
}

static ex_result write_positions(const exi_unpacking *w, int layer, int k, ex_error *error) {
    const char *path =
        exi_new_folder_add(w->folder, exi_unpacked_name(w->rig, layer, k, EXI_UNPACKED_FILE).text, error);
    return path ? ex_obj_write(path, &w->form, error) : EX_ERROR_MEMORY;
}

static ex_result write_form(exi_unpacking *w, int layer, int k, ex_error *error) {
    exi_measure *m = &w->measure;
    const float *delta = w->deltas[layer][k], *shifts = w->shifts[layer][k];
    if (!exi_measure_base(m, layer, k))
        return ex_error_memory(error, "an example", 24 * (size_t)w->form.vertex_count);
    for (size_t i = 0; i < 3 * (size_t)w->form.vertex_count; i++)
        w->form.positions[i] = m->base[i] + (double)delta[i];
    ex_result result = write_positions(w, layer, k, error);
    if (result != EX_OK || !shifts)
        return result;
    for (size_t i = 0; i < 3 * m->joint_count; i++)
        w->centres[i] = m->joints[i] + (double)shifts[i];
    const char *path =
        exi_new_folder_add(w->folder, exi_unpacked_name(w->rig, layer, k, EXI_UNPACKED_BONES).text, error);
    return path ? exi_skeleton_write_centres(path, m->skeleton, w->centres, error) : EX_ERROR_MEMORY;
}

/* Makes a layer of trajectories count for later layers, as building will. */
static ex_result add_paths(exi_unpacking *w, int layer, ex_error *error) {
    const ex_project_layer *view = &w->measure.view->layers[layer];
    exi_project_trajectories *paths = &w->paths[layer];
    ex_result result = exi_project_trajectories_open(
        paths,
        &(exi_project_trajectories_source){.mesh = w->measure.mesh,
                                           .example_count = view->example_count,
                                           .names = view->weigh.names,
                                           .reference = ex_rig_layer_reference(w->rig, layer),
                                           .deltas = (const float *const *)w->deltas[layer]},
        error);
    if (result == EX_OK)
        result = exi_project_trajectories_take(paths, w->rig, layer, error);
    w->masks[layer] = exi_array_allocate((size_t)ex_rig_vertex_count(w->rig), sizeof **w->masks);
    if (result == EX_OK && !w->masks[layer])
        result = ex_error_memory(error, "a mask", (size_t)ex_rig_vertex_count(w->rig) * sizeof **w->masks);
    if (result != EX_OK)
        return result;
    const bool masked = ex_rig_layer_mask(w->rig, layer, w->masks[layer]);
    return exi_measure_add_trajectories(&w->measure, layer, &view->weigh, paths, masked ? w->masks[layer] : NULL,
                                        (const float *const *)w->shifts[layer], error);
}

ex_result exi_unpack_write_forms(exi_unpacking *w, int layer, ex_error *error) {
    const bool paths = !ex_rig_layer_is_sum(w->rig, layer);
    const int count = ex_weigher_example_count(ex_rig_weigher(w->rig, layer));
    ex_result result = take_rows(w, layer) ? EX_OK
                                           : ex_error_memory(error, "the examples",
                                                             (size_t)count * 12 * (size_t)ex_rig_vertex_count(w->rig));
    for (int k = 0; result == EX_OK && k < count; k++)
        if (ex_rig_layer_reference(w->rig, layer) != k)
            result = write_form(w, layer, k, error);
    if (result == EX_OK && w->measure.view->layers[layer].driven)
        exi_measure_take_driven(&w->measure, layer, w->rig);
    else if (result == EX_OK && paths && layer + 1 < ex_rig_layer_count(w->rig))
        result = add_paths(w, layer, error);
    else if (result == EX_OK && layer + 1 < ex_rig_layer_count(w->rig))
        result = exi_measure_add_layer(&w->measure, layer, &w->measure.view->layers[layer].weigh,
                                       (const float *const *)w->deltas[layer], (const float *const *)w->shifts[layer],
                                       error);
    return result;
}

/* ---- offsets ---- */

/* Copies the layer's offsets from the rig. */
static bool take_offsets(exi_unpacking *w, int layer) {
    const size_t count = (size_t)ex_weigher_example_count(ex_rig_weigher(w->rig, layer));
    ex_offsets *offsets = w->offsets[layer] = calloc(count, sizeof *offsets);
    for (size_t k = 0; offsets && k < count; k++) {
        const int moved = ex_rig_example_offset_count(w->rig, layer, (int)k);
        uint32_t *vertices = exi_array_allocate((size_t)moved, sizeof *vertices);
        float *deltas = exi_array_allocate((size_t)moved, 3 * sizeof *deltas);
        offsets[k] = (ex_offsets){.count = moved, .vertices = vertices, .deltas = deltas};
        if (!vertices || !deltas)
            return false;
        ex_rig_example_offsets(w->rig, layer, (int)k, vertices, deltas);
    }
    return offsets != NULL;
}

/* Writes a sculpt at rest: the vertices with earlier layers applied, plus this example's offsets
 * (measure_offsets.c). */
static ex_result write_sculpt(exi_unpacking *w, int layer, int k, ex_error *error) {
    const exi_measure *m = &w->measure;
    const ex_offsets *offsets = &w->offsets[layer][k];
    if (!exi_measure_base(&w->measure, layer, k))
        return ex_error_memory(error, "an example", 24 * (size_t)w->form.vertex_count);
    for (size_t i = 0; i < 3 * (size_t)w->form.vertex_count; i++)
        w->form.positions[i] = (double)(float)(m->base[i] + (m->turned ? m->turned[i] : 0));
    for (int i = 0; i < offsets->count; i++)
        for (size_t c = 0; c < 3; c++)
            w->form.positions[3 * (size_t)offsets->vertices[i] + c] += (double)offsets->deltas[3 * (size_t)i + c];
    return write_positions(w, layer, k, error);
}

ex_result exi_unpack_write_sculpts(exi_unpacking *w, int layer, ex_error *error) {
    ex_result result = take_offsets(w, layer) ? EX_OK : ex_error_memory(error, "the examples", 0);
    for (int k = 0; result == EX_OK && k < ex_weigher_example_count(ex_rig_weigher(w->rig, layer)); k++)
        result = write_sculpt(w, layer, k, error);
    if (result == EX_OK && layer + 1 < ex_rig_layer_count(w->rig))
        result = exi_measure_add_offsets(&w->measure, layer, &w->measure.view->layers[layer].weigh, w->offsets[layer],
                                         error);
    return result;
}

/* Writes the driver's forms at a layer's examples to files, and keeps them for measuring. */
static ex_result write_drivers(exi_unpacking *w, const ex_project_view *view, int layer, ex_error *error) {
    const size_t count = 3 * (size_t)w->driver.mesh->vertex_count;
    ex_mesh form = *w->driver.mesh;
    form.positions = exi_array_allocate(count, sizeof *form.positions);
    form.face_groups = NULL;
    ex_result result = form.positions ? EX_OK : ex_error_memory(error, "the driver", count * sizeof *form.positions);
    for (int k = 0; result == EX_OK && k < view->layers[layer].example_count; k++) {
        const float *positions = ex_rig_example_driver(w->rig, layer, k);
        const char *name = view->layers[layer].examples[k].driver;
        const char *path = exi_new_folder_add(w->folder, name, error);
        for (size_t i = 0; i < count; i++)
            form.positions[i] = (double)positions[i];
        result = path ? ex_obj_write(path, &form, error) : EX_ERROR_MEMORY;
        if (result == EX_OK)
            result = exi_project_driver_add_form(&w->driver, name, positions, error);
    }
    free(form.positions);
    return result;
}

ex_result exi_unpack_layers(const ex_rig *rig, const ex_project_view *view, const ex_mesh *mesh,
                            const exi_unpacked_driver *driver, exi_new_folder *folder, ex_error *error) {
    exi_unpacking w = {.rig = rig, .folder = folder, .driver = {.view = view, .mesh = driver->mesh}};
    ex_result result = open_writing(&w, view, mesh, error);
    if (result == EX_OK && driver->there && driver->layer >= 0 && !ex_rig_layer_predictor(rig, driver->layer))
        result = write_drivers(&w, view, driver->layer, error);
    for (int l = 0; result == EX_OK && l < ex_rig_layer_count(rig); l++)
        result = exi_project_domains[ex_rig_layer_domain(rig, l)]->write(&w, l, error);
    close_writing(&w);
    return result;
}
