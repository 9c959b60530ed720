/*
 * A layer's trajectories: its examples as forms over the mesh's triangles, and the paths found from them or taken from
 * a rig.
 */
#include "author/project/build/project_trajectories.h"

#include "author/base/array.h"
#include "runtime/base/result.h"

#include <exemplar/author/files.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

int exi_layer_reference(const ex_project_layer *layer) {
    int k = layer->example_count - 1;
    while (k >= 0 && !layer->examples[k].reference)
        k--;
    return k;
}

/* ---- the definition ---- */

static ex_result no_memory(const exi_project_trajectories *p, ex_error *error) {
    return ex_error_memory(error, "the trajectories", 24 * (size_t)p->def.vertex_count);
}

/* Fills in triangles as vertex indices. */
static ex_result take_triangles(exi_project_trajectories *p, const ex_mesh *mesh, ex_error *error) {
    int *corners = NULL, count = 0;
    ex_result result = ex_mesh_triangulate(mesh, &corners, &count, error);
    if (result != EX_OK)
        return result;
    int *triangles = exi_arena_allocate(&p->arena, 3 * (size_t)count, sizeof *triangles);
    for (size_t i = 0; triangles && i < 3 * (size_t)count; i++)
        triangles[i] = mesh->corners[corners[i]];
    free(corners);
    p->def.triangles = triangles;
    p->def.triangle_count = count;
    return triangles ? EX_OK : no_memory(p, error);
}

ex_result exi_project_trajectories_open(exi_project_trajectories *p, const exi_project_trajectories_source *source,
                                        ex_error *error) {
    const size_t examples = (size_t)source->example_count, count = 3 * (size_t)source->mesh->vertex_count;
    *p = (exi_project_trajectories){.def = {.vertex_count = source->mesh->vertex_count,
                                            .reference = source->mesh->positions,
                                            .example_count = source->example_count,
                                            .names = source->names}};
    const double **forms = exi_arena_allocate(&p->arena, examples, sizeof *forms);
    p->def.examples = forms;
    p->form = exi_arena_allocate(&p->arena, count, sizeof *p->form);
    for (size_t k = 0; k < examples; k++) {
        if (!forms || !p->form)
            return no_memory(p, error);
        if ((int)k == source->reference)
            continue;
        double *form = exi_arena_allocate(&p->arena, count, sizeof *form);
        forms[k] = form;
        if (!form)
            return no_memory(p, error);
        for (size_t i = 0; i < count; i++) {
            if (!isfinite(source->deltas[k][i]))
                return ex_error_set(
                    error, EX_ERROR_DATA,
                    "vertex %zu (counting from 0) of '%s' is too far away for a float once it is measured", i / 3,
                    source->names[k]);
            form[i] = source->mesh->positions[i] + (double)source->deltas[k][i];
        }
    }
    return take_triangles(p, source->mesh, error);
}

void exi_project_trajectories_close(exi_project_trajectories *p) {
    if (p->entry)
        exi_kept_paths_release(p->kept, p->entry);
    else
        ex_trajectories_destroy(p->found);
    ex_mesh_destroy(p->mesh);
    exi_arena_free(&p->arena);
    exi_arena_free(&p->rig_arena);
    *p = (exi_project_trajectories){0};
}

/* ---- found ---- */

/* Reads the segments of the layer's file, for faces and for their triangles: a face of n corners has n - 2. */
static ex_result take_segments(exi_project_trajectories *p, const ex_project_view *view, const ex_project_layer *layer,
                               const ex_mesh *mesh, ex_error *error) {
    int *faces = exi_arena_allocate(&p->arena, (size_t)mesh->face_count, sizeof *faces);
    int *segments = exi_arena_allocate(&p->arena, (size_t)p->def.triangle_count, sizeof *segments);
    char *path = ex_path_join(view->path, layer->trajectory.segments);
    ex_result result =
        faces && segments && path ? exi_segments_read(path, mesh->face_count, faces, error) : no_memory(p, error);
    free(path);
    if (result != EX_OK)
        return result;
    for (int f = 0, t = 0; f < mesh->face_count; f++)
        for (int c = mesh->face_offsets[f] + 2; c < mesh->face_offsets[f + 1]; c++)
            segments[t++] = faces[f];
    p->face_segments = faces;
    p->def.options.segments = segments;
    return EX_OK;
}

/* Finds the paths of the definition, or takes those that were kept. */
static ex_result find(exi_project_trajectories *p, ex_kept_paths *kept, ex_error *error) {
    if (!kept)
        return ex_trajectories_create(&p->def, &p->found, error);
    const exi_paths_key key = exi_paths_key_of(&p->def);
    p->kept = kept;
    p->entry = exi_kept_paths_find(kept, &key);
    if (p->entry) {
        p->found = exi_kept_entry_paths(p->entry);
        return EX_OK;
    }
    const ex_result result = ex_trajectories_create(&p->def, &p->found, error);
    if (result == EX_OK)
        p->entry = exi_kept_paths_add(kept, &key, p->found);
    return result;
}

ex_result exi_project_trajectories_find(exi_project_trajectories *p, const ex_project_view *view,
                                        const ex_project_layer *layer, const ex_mesh *mesh,
                                        const exi_path_search *search, ex_error *error) {
    p->def.options = *layer->trajectory.options;
    p->def.tasks = search->tasks;
    p->def.progress = search->progress;
    ex_result result = layer->trajectory.segments
                           ? ex_error_within(error, take_segments(p, view, layer, mesh, error), "segments")
                           : EX_OK;
    if (result == EX_OK)
        result = find(p, search->kept, error);
    p->def.tasks = NULL;
    p->def.progress = NULL;
    return result;
}

/* ---- taken from a rig ---- */

static bool take_path(exi_project_trajectories *p, const ex_rig *rig, int layer, int k, ex_trajectory *path) {
    const size_t count = 3 * (size_t)p->def.vertex_count;
    *path = ex_rig_example_trajectory(rig, layer, k);
    float *turns = exi_arena_allocate(&p->arena, count, sizeof *turns);
    const float **correctors = exi_arena_allocate(&p->arena, (size_t)path->corrector_count, sizeof *correctors);
    if (!turns || !correctors)
        return false;
    path->turns = ex_rig_example_turns(rig, layer, k, turns) ? turns : NULL;
    path->correctors = correctors;
    for (int j = 0; j < path->corrector_count; j++) {
        float *values = exi_arena_allocate(&p->arena, count, sizeof *values);
        correctors[j] = values;
        if (!values)
            return false;
        ex_rig_example_corrector(rig, layer, k, j, values);
    }
    return true;
}

/* Takes the layer's mixture; its other arrays are the rig's. */
static bool take_mixture(exi_project_trajectories *p, const ex_rig *rig, int layer, ex_mixture *mixture) {
    *mixture = ex_rig_layer_mixture(rig, layer);
    const float **correctors = exi_arena_allocate(&p->arena, (size_t)mixture->corrector_count, sizeof *correctors);
    for (int j = 0; correctors && j < mixture->corrector_count; j++) {
        float *values = exi_arena_allocate(&p->arena, 3 * (size_t)p->def.vertex_count, sizeof *values);
        correctors[j] = values;
        if (!values)
            return false;
        ex_rig_layer_corrector(rig, layer, j, values);
    }
    mixture->correctors = correctors;
    return correctors;
}

ex_result exi_project_trajectories_take(exi_project_trajectories *p, const ex_rig *rig, int layer, ex_error *error) {
    const size_t examples = (size_t)p->def.example_count;
    ex_trajectory *paths = exi_arena_allocate(&p->arena, examples, sizeof *paths);
    float *overlaps = exi_arena_allocate(&p->arena, examples * examples, sizeof *overlaps);
    if (!paths || !overlaps)
        return no_memory(p, error);
    for (int k = 0; k < p->def.example_count; k++)
        if (p->def.examples[k] && !take_path(p, rig, layer, k, &paths[k]))
            return no_memory(p, error);
    const float *held = ex_rig_layer_overlaps(rig, layer);
    for (size_t i = 0; i < examples * examples; i++)
        overlaps[i] = held ? held[i] : i % (examples + 1) == 0 ? 1.0F : 0.0F;
    p->taken = (ex_trajectories){.example_count = p->def.example_count,
                                 .trajectories = paths,
                                 .overlaps = overlaps,
                                 .segments = ex_rig_layer_segments(rig, layer)};
    ex_rig_layer_centre(rig, layer, p->taken.centre);
    return take_mixture(p, rig, layer, &p->taken.mixture) ? EX_OK : no_memory(p, error);
}

/* Reads the mode from the note; the other options are not needed once the paths are found. */
static ex_result take_mode(exi_project_trajectories *p, const ex_rig *rig, int layer, ex_error *error) {
    json_t *note = NULL;
    ex_error ignored = {0};
    ex_result result = exi_project_trajectories_note_read(rig, &note, &ignored);
    const char *mode = json_string_value(json_object_get(json_object_get(note, ex_rig_layer_name(rig, layer)), "mode"));
    p->def.options = ex_trajectory_options_default();
    if (mode && strcmp(mode, ex_trajectory_mode_name(EX_TRAJECTORY_PAPER)) == 0)
        p->def.options.mode = EX_TRAJECTORY_PAPER;
    json_decref(note);
    return result == EX_ERROR_MEMORY ? ex_error_memory(error, "a note", 0) : EX_OK;
}

/* Copies the rig's names and differences into the arena. */
static ex_result open_rig(exi_project_trajectories *p, exi_arena *arena, const ex_rig *rig, int layer, ex_mesh *mesh,
                          ex_error *error) {
    const int count = ex_weigher_example_count(ex_rig_weigher(rig, layer));
    const size_t numbers = 3 * (size_t)mesh->vertex_count;
    const char **names = exi_arena_allocate(arena, (size_t)count, sizeof *names);
    const float **deltas = exi_arena_allocate(arena, (size_t)count, sizeof *deltas);
    for (int k = 0; names && deltas && k < count; k++) {
        float *delta = exi_arena_allocate(arena, numbers, sizeof *delta);
        if (!delta)
            return ex_error_memory(error, "the trajectories", numbers * sizeof *delta);
        ex_rig_example_delta(rig, layer, k, delta);
        deltas[k] = delta;
        names[k] = ex_rig_example_name(rig, layer, k);
    }
    if (!names || !deltas)
        return ex_error_memory(error, "the trajectories", (size_t)count * sizeof *deltas);
    return exi_project_trajectories_open(
        p,
        &(exi_project_trajectories_source){.mesh = mesh,
                                           .example_count = count,
                                           .names = names,
                                           .reference = ex_rig_layer_reference(rig, layer),
                                           .deltas = deltas},
        error);
}

typedef struct rig_paths {
    ex_rig_trajectories shown; /* first */
    exi_project_trajectories paths;
} rig_paths;

static ex_result open_rig_paths(exi_project_trajectories *p, const ex_rig *rig, int layer, ex_error *error) {
    exi_arena arena = {0};
    ex_mesh *mesh = NULL;
    ex_result result = ex_rig_to_mesh(rig, NULL, &mesh, error);
    if (result == EX_OK)
        result = open_rig(p, &arena, rig, layer, mesh, error);
    p->mesh = mesh;
    p->rig_arena = arena;
    if (result == EX_OK)
        result = take_mode(p, rig, layer, error);
    return result == EX_OK ? exi_project_trajectories_take(p, rig, layer, error) : result;
}

ex_result ex_rig_trajectories_open(const ex_rig *rig, int layer, ex_rig_trajectories **trajectories, ex_error *error) {
    *trajectories = NULL;
    if (layer < 0 || layer >= ex_rig_layer_count(rig) || ex_rig_layer_domain(rig, layer) != EX_DOMAIN_TRAJECTORY)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "the rig has no layer %d of trajectories", layer + 1);
    rig_paths *made = calloc(1, sizeof *made);
    if (!made)
        return ex_error_memory(error, "trajectories", sizeof *made);
    const ex_result result = open_rig_paths(&made->paths, rig, layer, error);
    made->shown = (ex_rig_trajectories){.def = made->paths.def, .found = made->paths.taken};
    if (result == EX_OK)
        *trajectories = &made->shown;
    else
        ex_rig_trajectories_close(&made->shown);
    return result;
}

void ex_rig_trajectories_close(ex_rig_trajectories *trajectories) {
    if (trajectories)
        exi_project_trajectories_close(&((rig_paths *)trajectories)->paths);
    free(trajectories);
}

/* ---- evaluation at weights ---- */

bool exi_project_trajectories_add(const exi_project_trajectories *p, const double *weights, const float *mask,
                                  double *sum) {
    if (!ex_trajectories_form(p->found ? p->found : &p->taken, &p->def, weights, -1, p->form))
        return false;
    for (size_t i = 0; i < 3 * (size_t)p->def.vertex_count; i++)
        sum[i] += (mask ? (double)mask[i / 3] : 1) * (p->form[i] - p->def.reference[i]);
    return true;
}
