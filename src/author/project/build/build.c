/*
 * Builds a rig from a project: mesh, refined levels, skeleton and skin first, then the layers (build_layers.c).
 */
#include "author/project/build/build.h"

#include "author/formats/rig/rig_gltf.h"
#include "author/project/skeleton/skeleton.h"
#include "runtime/base/result.h"

#include <exemplar/author/files.h>
#include <exemplar/author/formats.h>

#include <stdlib.h>
#include <string.h>

/* ---- meshes of a project ---- */

static void convert(const ex_project_view *view, ex_mesh *mesh) {
    for (int v = 0; v < mesh->vertex_count; v++) {
        double *p = mesh->positions + 3 * (size_t)v;
        double y = view->z_up ? p[2] : p[1], z = view->z_up ? -p[1] : p[2];
        p[0] *= view->unit;
        p[1] = y * view->unit;
        p[2] = z * view->unit;
    }
    for (int n = 0; view->z_up && n < mesh->normal_count; n++) {
        double *p = mesh->normals + 3 * (size_t)n, y = p[1];
        p[1] = p[2];
        p[2] = -y;
    }
}

void exi_project_unconvert(const ex_project_view *view, const float position[3], double out[3]) {
    const double x = (double)position[0], y = (double)position[1], z = (double)position[2];
    out[0] = x / view->unit;
    out[1] = (view->z_up ? -z : y) / view->unit;
    out[2] = (view->z_up ? y : z) / view->unit;
}

ex_result exi_project_read_mesh(const ex_project_view *view, const char *relative, ex_mesh **mesh, ex_error *error) {
    *mesh = NULL;
    char *path = ex_path_join(view->path, relative);
    if (!path)
        return ex_error_memory(error, "a path", strlen(relative));
    ex_result result = ex_mesh_read(path, mesh, error);
    if (result == EX_OK)
        convert(view, *mesh);
    free(path);
    return result;
}

ex_result exi_build_read_form(const exi_building *b, int example, const char *relative, ex_mesh **mesh,
                              ex_error *error) {
    return b->unwritten ? b->unwritten->make_form(b->unwritten->user, example, mesh, error)
                        : ex_error_within(error, exi_project_read_mesh(b->view, relative, mesh, error), "mesh");
}

/* ---- the work ---- */

ex_result exi_build_report(const exi_building *b, const char *what, ex_error *error) {
    const double fraction = (double)b->example_done / (b->example_total + 1);
    return exi_progress_tell(b->options.progress, what, fraction) ? EX_OK : exi_progress_stopped(error);
}

/* The skeleton of a file that is not written yet. */
static ex_result take_skeleton(exi_building *b, ex_error *error) {
    const ex_scene *scene = b->unwritten->skeleton;
    ex_result result = scene ? exi_skeleton_from_scene(scene, 0, &b->skeleton, error) : EX_OK;
    return scene && result == EX_OK ? exi_skin_from_scene(scene, 0, b->mesh, &b->skin, error) : result;
}

static ex_result read_body(exi_building *b, ex_error *error) {
    ex_result result = exi_build_report(b, "mesh", error);
    if (result == EX_OK)
        result = exi_build_read_form(b, -1, b->view->mesh, &b->mesh, error);
    if (result != EX_OK)
        return result;
    result = exi_rig_mesh_make(b->mesh, &b->rig_mesh, error);
    if (result == EX_OK)
        result = exi_rig_mesh_smooth(&b->rig_mesh, error);
    if (result == EX_OK && b->view->subdivide && !b->options.rig.without_levels) {
        result = exi_build_report(b, "subdividing", error);
        if (result == EX_OK)
            result = exi_refinement_make(b->mesh, &b->rig_mesh, &b->view->subdivision, &b->refinement, error);
        if (result == EX_OK)
            exi_build_note_mends(b);
    }
    if (!b->unwritten)
        result = ex_error_within(error, result, "%s", b->view->mesh);
    if (result == EX_OK)
        result =
            b->unwritten ? take_skeleton(b, error) : exi_skeleton_read(b->view, b->mesh, &b->skeleton, &b->skin, error);
    if (result == EX_OK)
        result = exi_project_check_joints(b->view, b->skeleton, error);
    if (result == EX_OK && !b->unwritten)
        result = exi_build_scenes(b, error);
    return result == EX_OK ? exi_build_driver(b, error) : result;
}

/* Makes stencils without levels. They mark a rig whose levels are left out, so that it cannot be packed. NULL if no
 * levels are left out. */
static ex_result note_missing_levels(const exi_building *b, ex_stencils **stencils, ex_error *error) {
    const ex_stencils_def none = {.control_count = b->mesh->vertex_count};
    *stencils = NULL;
    if (!b->view->subdivide || !b->options.rig.without_levels)
        return EX_OK;
    return ex_stencils_create(&none, NULL, stencils, error);
}

/* Texts of the rig's notes. */
typedef struct note_texts {
    exi_text rules, paths, drive;
} note_texts;

static ex_result create(const exi_building *b, const note_texts *texts, ex_rig **rig, ex_error *error) {
    const exi_text *rules = &texts->rules, *paths = &texts->paths, *drive = &texts->drive;
    ex_attachment notes[EXI_RIG_MESH_NOTES + 5];
    ex_rig_def def = ex_rig_def_default();
    memcpy(notes, b->rig_mesh.notes, sizeof b->rig_mesh.notes);
    def.note_count = b->rig_mesh.note_count;
    if (b->view->subdivide)
        notes[def.note_count++] =
            (ex_attachment){.kind = EXI_REFINEMENT_NOTE, .data = rules->bytes, .size = rules->size};
    if (b->path_note)
        notes[def.note_count++] = (ex_attachment){.kind = EXI_PATHS_NOTE, .data = paths->bytes, .size = paths->size};
    if (b->driver.mesh) {
        notes[def.note_count++] = (ex_attachment){.kind = EXI_DRIVE_NOTE, .data = drive->bytes, .size = drive->size};
        def.driver = &b->driver.driving.driver;
    }
    if (b->looks.bytes)
        notes[def.note_count++] = (ex_attachment){EXI_LOOKS_NOTE, b->looks.bytes, b->looks.size};
    if (b->clips.bytes)
        notes[def.note_count++] = (ex_attachment){EXI_CLIPS_NOTE, b->clips.bytes, b->clips.size};
    def.notes = notes;
    def.mesh = b->rig_mesh.mesh;
    def.layers = b->layers;
    def.layer_count = b->view->layer_count;
    def.skeleton = b->skeleton;
    def.skin = b->skin;
    def.skinning = b->view->skinning;
    if (b->refinement.subdivision) {
        def.stencils = b->refinement.subdivision->stencils;
        def.levels = b->refinement.levels;
        def.level = b->view->subdivision.limit ? EX_LEVEL_LIMIT : b->view->subdivision.levels;
    }
    def.options = b->options.rig;
    ex_stencils *missing;
    ex_result result = note_missing_levels(b, &missing, error);
    if (missing)
        def.stencils = missing;
    if (result == EX_OK)
        result = ex_rig_create(&def, NULL, rig, error);
    ex_stencils_destroy(missing);
    return result;
}

static ex_result build(exi_building *b, ex_rig **rig, ex_error *error) {
    note_texts texts = {0};
    ex_result result = read_body(b, error);
    if (result == EX_OK)
        result = exi_measure_open(&b->measure, b->view, b->mesh, b->skeleton, b->skin,
                                  b->driver.mesh ? &b->driver : NULL, error);
    if (result == EX_OK)
        result = exi_build_layers(b, error);
    if (result == EX_OK && b->view->subdivide)
        result = exi_refinement_describe(&b->view->subdivision, &texts.rules, error);
    if (result == EX_OK && b->path_note) {
        exi_json_print(b->path_note, false, &texts.paths);
        result = texts.paths.failed ? ex_error_memory(error, "a note", texts.paths.size) : EX_OK;
    }
    if (result == EX_OK && b->driver.mesh)
        result = exi_drive_note_write(&b->driver.options, b->driver.mesh, &texts.drive, error);
    if (result == EX_OK)
        result = exi_build_report(b, "solving", error);
    if (result == EX_OK)
        result = create(b, &texts, rig, error);
    if (result == EX_OK) {
        exi_build_note_ridges(b, *rig);
        exi_build_note_swings(b, *rig);
    }
    free(texts.rules.bytes);
    free(texts.paths.bytes);
    free(texts.drive.bytes);
    return result;
}

static ex_result build_rig(exi_building *b, ex_rig **rig, ex_error *error) {
    for (int l = 0; l < b->view->layer_count; l++)
        b->example_total +=
            b->view->layers[l].example_count * (b->view->layers[l].trajectory.options ? 1 + EXI_BUILD_PATH_COST : 1);
    ex_result result = build(b, rig, error);
    exi_measure_close(&b->measure);
    exi_build_free_layers(b);
    exi_project_driver_close(&b->driver);
    exi_refinement_free(&b->refinement);
    exi_build_free_scenes(b);
    ex_skin_destroy(b->skin);
    ex_skeleton_destroy(b->skeleton);
    exi_rig_mesh_free(&b->rig_mesh);
    ex_mesh_destroy(b->mesh);
    return result;
}

ex_result ex_project_build(const ex_project *project, const ex_build_options *options, ex_rig **rig, ex_error *error) {
    *rig = NULL;
    ex_error local = {0};
    error = error ? error : &local;
    exi_building b = {.view = &project->view};
    if (options)
        b.options = *options;
    const ex_result result = build_rig(&b, rig, error);
    return project->path[0] ? ex_error_within(error, result, "%s", project->path) : result;
}

ex_result exi_project_try(json_t *root, const exi_unwritten *files, ex_error *error) {
    exi_arena arena = {0};
    ex_project_view view = {0};
    ex_rig *rig = NULL;
    ex_result result = exi_project_interpret(root, "", &arena, &view, error);
    if (result == EX_OK) {
        exi_building b = {.view = &view, .unwritten = files};
        result = build_rig(&b, &rig, error);
    }
    ex_rig_destroy(rig);
    exi_arena_free(&arena);
    return result;
}
