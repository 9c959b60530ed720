/*
 * Builds a rig from keys: pairs of a driver's form and the driven form on it (DrivenShape, 2.1), taken into the
 * driver's moving frames (2.7). For each key the rig stores the difference between that driven form and the mesh.
 */
#include "author/drive/drive_build.h"
#include "author/base/array.h"
#include "runtime/base/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static ex_result no_memory(const exi_drive_building *b, ex_error *error) {
    const size_t vertices = (size_t)b->def->driver->vertex_count + (size_t)b->def->driven->vertex_count;
    return ex_error_memory(error, "the keys", 36 * vertices * (size_t)b->def->key_count);
}

/* ---- checks ---- */

static ex_result check_form(const float *form, int vertex_count, const char *which, const char *key, ex_error *error) {
    for (size_t i = 0; i < 3 * (size_t)vertex_count; i++)
        if (!isfinite(form[i]) || fabsf(form[i]) > 1e18F)
            return ex_error_set(error, EX_ERROR_DATA, "key '%s': vertex %zu of the %s is not finite, or too far away",
                                key, i / 3, which);
    return EX_OK;
}

static ex_result check(const ex_drive_def *def, ex_error *error) {
    if (!def || !def->driver || !def->driven || !def->driver_name || !def->driver_name[0] || def->key_count < 1 ||
        !def->keys)
        return exi_misuse_error(error, __func__, "a driven rig needs two meshes, a name for the driver and a key");
    if (def->key_count > EX_CONVEX_MAX)
        return ex_error_set(error, EX_ERROR_LIMIT, "a driven rig has at most %d keys, not %d", EX_CONVEX_MAX,
                            def->key_count);
    const ex_result named = exi_drive_names_check(def->driver_name, def->database_axis, error);
    if (named != EX_OK)
        return named;
    for (int k = 0; k < def->key_count; k++) {
        const ex_drive_key *key = &def->keys[k];
        if (!key->name || !key->driver || !key->driven)
            return exi_misuse_error(error, __func__, "a key needs a name and both forms");
        ex_result result = check_form(key->driver, def->driver->vertex_count, "driver", key->name, error);
        if (result == EX_OK)
            result = check_form(key->driven, def->driven->vertex_count, "driven form", key->name, error);
        if (result == EX_OK && def->database_axis && !isfinite(key->database))
            result = ex_error_set(error, EX_ERROR_DATA, "key '%s': its position on the axis '%s' is not finite",
                                  key->name, def->database_axis);
        if (result != EX_OK)
            return result;
    }
    return EX_OK;
}

/* Refuses two keys of one database whose drivers differ only by a motion of the whole: they cannot be told apart. */
static ex_result check_different(const exi_drive_building *b, ex_error *error) {
    const ex_drive_def *def = b->def;
    const size_t first = 3 * (size_t)def->driven->vertex_count, count = 3 * (size_t)def->driver->vertex_count;
    const double least = 1e-6 * ex_mesh_size(def->driver);
    for (int k = 1; k < def->key_count; k++)
        for (int l = 0; l < k; l++) {
            size_t i = 0;
            if (def->database_axis && def->keys[k].database != def->keys[l].database)
                continue;
            while (i < count && fabs(b->unposed[k][first + i] - b->unposed[l][first + i]) <= least)
                i++;
            if (i == count)
                return ex_error_set(error, EX_ERROR_DATA,
                                    "the driver has the same form in keys '%s' and '%s': leave one of them out",
                                    def->keys[l].name, def->keys[k].name);
        }
    return EX_OK;
}

/* ---- keys ---- */

static bool open_lists(exi_drive_building *b) {
    const size_t keys = (size_t)b->def->key_count;
    b->names = exi_arena_allocate(&b->arena, keys, sizeof *b->names);
    b->forms = exi_arena_allocate(&b->arena, keys, sizeof *b->forms);
    b->deltas = exi_arena_allocate(&b->arena, keys, sizeof *b->deltas);
    b->databases = exi_arena_allocate(&b->arena, keys, sizeof *b->databases);
    b->unposed = exi_arena_allocate(&b->arena, keys, sizeof *b->unposed);
    return b->names && b->forms && b->deltas && b->databases && b->unposed;
}

static ex_result bring_back(exi_drive_building *b, ex_error *error) {
    const ex_drive_def *def = b->def;
    const size_t driven = 3 * (size_t)def->driven->vertex_count;
    const size_t all = driven + 3 * (size_t)def->driver->vertex_count;
    if (!open_lists(b))
        return no_memory(b, error);
    for (int k = 0; k < def->key_count; k++) {
        const ex_drive_key *key = &def->keys[k];
        float *delta = exi_arena_allocate(&b->arena, driven, sizeof *delta);
        b->unposed[k] = exi_arena_allocate(&b->arena, all, sizeof **b->unposed);
        if (!delta || !b->unposed[k])
            return no_memory(b, error);
        exi_moving_frames_place(&b->carrier, key->driver, NULL, NULL);
        exi_moving_frames_unpose(&b->carrier, key->driven, key->driver);
        memcpy(b->unposed[k], b->carrier.unposed, all * sizeof **b->unposed);
        for (size_t i = 0; i < driven; i++)
            delta[i] = (float)(b->unposed[k][i] - b->driven->positions[i]);
        b->names[k] = key->name;
        b->forms[k] = key->driver;
        b->deltas[k] = delta;
        b->databases[k] = key->database;
    }
    return check_different(b, error);
}

/* ---- the rig ---- */

static ex_axis database_axis(const exi_drive_building *b) {
    double low = b->databases[0], high = low;
    for (int k = 1; k < b->def->key_count; k++) {
        low = b->databases[k] < low ? b->databases[k] : low;
        high = b->databases[k] > high ? b->databases[k] : high;
    }
    return ex_axis_scalar(low, high > low ? high : low + 1, b->databases[0]);
}

static ex_result create(exi_drive_building *b, ex_rig **rig, ex_error *error) {
    const ex_drive_def *def = b->def;
    const ex_axis axes[2] = {ex_axis_driver(def->key_count), database_axis(b)};
    const char *axis_names[2] = {def->driver_name, def->database_axis};
    ex_attachment notes[EXI_RIG_MESH_NOTES + 1];
    ex_rig_def r = ex_rig_def_default();
    ex_layer_def *layer = &b->layer;
    layer->name = "driven";
    layer->weigh = ex_weigher_def_default();
    layer->weigh.kind = EX_WEIGHER_CONVEX;
    layer->weigh.axes = axes;
    layer->weigh.axis_count = def->database_axis ? 2 : 1;
    layer->weigh.example_count = def->key_count;
    layer->weigh.points = def->database_axis ? b->databases : NULL;
    layer->weigh.ridge = def->options.ridge;
    layer->axis_names = axis_names;
    layer->example_names = b->names;
    layer->form.deltas = b->deltas;
    layer->driven.keys = b->forms;
    layer->driven.view_count = b->driving.view_count;
    layer->driven.views = b->driving.views;
    layer->driven.regions = b->driving.regions;
    b->driving.driver.name = def->driver_name;
    memcpy(notes, b->rig_mesh.notes, sizeof b->rig_mesh.notes);
    r.note_count = b->rig_mesh.note_count;
    notes[r.note_count++] = (ex_attachment){.kind = EXI_DRIVE_NOTE, .data = b->note.bytes, .size = b->note.size};
    r.notes = notes;
    r.mesh = b->rig_mesh.mesh;
    r.layers = layer;
    r.layer_count = 1;
    r.driver = &b->driving.driver;
    return ex_rig_create(&r, NULL, rig, error);
}

static ex_result build(exi_drive_building *b, ex_rig **rig, ex_error *error) {
    const ex_drive_def *def = b->def;
    ex_result result = exi_drive_plan_make(def->driver, def->driven, &def->options, 0, &b->driving, error);
    if (result != EX_OK)
        return result;
    b->driven = ex_mesh_copy(def->driven);
    if (!b->driven)
        return no_memory(b, error);
    result = exi_rig_mesh_make(b->driven, &b->rig_mesh, error);
    if (result == EX_OK)
        result = exi_rig_mesh_smooth(&b->rig_mesh, error);
    result = ex_error_within(error, result, "driven mesh");
    if (result == EX_OK)
        result = exi_moving_frames_open(&b->carrier, &b->driving.driver, b->rig_mesh.positions, b->driven->vertex_count,
                                        error);
    if (result == EX_OK)
        result = bring_back(b, error);
    if (result == EX_OK && def->options.paths)
        result = exi_drive_build_trajectories(b, error);
    if (result == EX_OK)
        result = exi_drive_note_write(&def->options, def->driver, &b->note, error);
    return result == EX_OK ? create(b, rig, error) : result;
}

ex_result ex_drive_build(const ex_drive_def *def, ex_rig **rig, ex_error *error) {
    *rig = NULL;
    ex_error local = {0};
    error = error ? error : &local;
    ex_result result = check(def, error);
    if (result != EX_OK)
        return result;
    exi_drive_building b = {.def = def, .layer = {.domain = EX_DOMAIN_FORM, .trajectory.reference = -1}};
    result = build(&b, rig, error);
    ex_trajectories_destroy(b.paths);
    exi_moving_frames_close(&b.carrier);
    exi_rig_mesh_free(&b.rig_mesh);
    ex_mesh_destroy(b.driven);
    exi_drive_plan_free(&b.driving);
    exi_arena_free(&b.arena);
    free(b.note.bytes);
    return result;
}
