/*
 * Writes a garment's files: both motions simulated into point caches, a rig of a few keys learnt from the training
 * motion (DrivenShape, section 2.1), and the project of the rig. The other motion is not used for learning.
 */
#include "demos/demos.h"
#include "garment.h"

#include "common/array.h"

#include <exemplar/author/files.h>
#include <exemplar/author/formats.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a motion ---- */

/* The caches of a motion while they are written. */
typedef struct caches {
    ex_cache_writer *driver, *driven;
    int driver_count, driven_count; /* numbers of vertices */
    float *positions;               /* [the larger number][3] */
} caches;

static void round_positions(const double *positions, int count, float *out) {
    for (int i = 0; i < 3 * count; i++)
        out[i] = (float)positions[i];
}

static ex_result write_frame(void *user, int frame, const double *driver, const double *driven, ex_error *error) {
    caches *c = user;
    (void)frame;
    round_positions(driver, c->driver_count, c->positions);
    const ex_result result = ex_cache_write(c->driver, c->positions, error);
    if (result != EX_OK)
        return result;
    round_positions(driven, c->driven_count, c->positions);
    return ex_cache_write(c->driven, c->positions, error);
}

static ex_result create_cache(const char *path, int vertex_count, int frame_count, ex_cache_writer **writer,
                              ex_error *error) {
    double *times = array_allocate((size_t)frame_count, sizeof *times);
    if (!path || !times) {
        free(times);
        return ex_error_memory(error, "a cache", 0);
    }
    for (int i = 0; i < frame_count; i++)
        times[i] = i / GARMENT_FPS;
    const ex_result result = ex_cache_create(path, vertex_count, frame_count, times, NULL, writer, error);
    free(times);
    return result;
}

/* paths: of the driver's cache and of the other. */
static ex_result write_motion(const exi_garment *garment, exi_garment_motion motion, char *const paths[2],
                              const ex_progress *progress, ex_error *error) {
    const int frames = garment->frame_counts[motion < GARMENT_MOTIONS ? motion : GARMENT_TRAINING];
    caches c = {.driver_count = garment->driver->vertex_count, .driven_count = garment->driven->vertex_count};
    const int larger = c.driver_count > c.driven_count ? c.driver_count : c.driven_count;
    c.positions = array_allocate(3 * (size_t)larger, sizeof *c.positions);
    ex_result result = c.positions ? EX_OK : ex_error_memory(error, "a frame of a cache", 0);
    if (result == EX_OK)
        result = create_cache(paths[0], c.driver_count, frames, &c.driver, error);
    if (result == EX_OK)
        result = create_cache(paths[1], c.driven_count, frames, &c.driven, error);
    if (result == EX_OK)
        result = exi_garment_simulate(
            garment, &(exi_garment_play){.motion = motion, .frame = write_frame, .user = &c, .progress = progress},
            error);
    ex_cache_writer *const writers[2] = {c.driver, c.driven};
    for (int i = 0; i < 2; i++) {
        const bool keep = result == EX_OK;
        const ex_result finished = ex_cache_finish(writers[i], keep, keep ? error : NULL);
        result = keep ? finished : result;
    }
    free(c.positions);
    return result;
}

/* ---- the rig ---- */

enum { KEYS = 12 };

/* Writes materials.glb, and names it in the project. */
static ex_result write_looks(const exi_garment *garment, const char *directory, ex_error *error) {
    static const char line[] = "\n  \"materials\": \"materials.glb\",", after[] = "\"mesh\": \"mesh.obj\",";
    char name[64], *text = NULL;
    snprintf(name, sizeof name, "%s.json", garment->name);
    char *path = exi_demo_path(directory, "materials.glb"), *project = exi_demo_path(directory, name);
    size_t size = 0;
    ex_result result =
        path && project ? ex_scene_write(path, garment->looks, error) : ex_error_memory(error, "a path", 0);
    if (result == EX_OK)
        result = ex_file_read(project, &text, &size, error);
    const char *found = result == EX_OK ? strstr(text, after) : NULL;
    if (result == EX_OK && !found)
        result = ex_error_set(error, EX_ERROR_DATA, "%s: the project has no mesh", project);
    if (result == EX_OK) {
        const size_t head = (size_t)(found - text) + sizeof after - 1;
        ex_file_writer writer = {0};
        result = ex_file_open(&writer, project, error);
        if (result == EX_OK) {
            ex_file_write(&writer, text, head);
            ex_file_write(&writer, line, sizeof line - 1);
            ex_file_write(&writer, text + head, size - head);
            result = ex_file_commit(&writer, error);
        }
    }
    free(text);
    free(project);
    free(path);
    return result;
}

static ex_result write_project(const exi_garment *garment, const char *directory, char *const paths[2],
                               const ex_progress *progress, const ex_tasks *tasks, ex_error *error) {
    const ex_drive_reference reference = {.driver = paths[0], .driven = paths[1]};
    ex_learn_def def = {.driver = garment->driver,
                        .driven = garment->driven,
                        .driver_name = "body",
                        .reference_count = 1,
                        .references = &reference,
                        .key_count = garment->key_count ? garment->key_count : KEYS,
                        .options = ex_drive_options_default(),
                        .progress = progress,
                        .tasks = tasks};
    ex_rig *rig = NULL;
    ex_learned *learned = NULL;
    def.options.thickness = garment->cloth.thickness;
    if (garment->part_count)
        def.options.frames = garment->part_count;
    ex_result result = ex_drive_learn(&def, &rig, &learned, error);
    if (result == EX_OK)
        result = ex_project_unpack(rig, directory, garment->name, true, error);
    if (result == EX_OK && garment->looks)
        result = write_looks(garment, directory, error);
    ex_learned_free(learned);
    ex_rig_destroy(rig);
    return result;
}

/* A further take, numbered from 1. */
static ex_result write_take(const exi_garment *garment, int take, const char *directory, const ex_progress *progress,
                            ex_error *error) {
    char names[2][32], *paths[2];
    snprintf(names[0], sizeof names[0], "driver_take_%02d.pc2", take);
    snprintf(names[1], sizeof names[1], "driven_take_%02d.pc2", take);
    for (int i = 0; i < 2; i++)
        paths[i] = exi_demo_path(directory, names[i]);
    const ex_result result =
        write_motion(garment, (exi_garment_motion)(GARMENT_MOTIONS + take - 1), paths, progress, error);
    free(paths[0]);
    free(paths[1]);
    return result;
}

ex_result exi_garment_write(const exi_garment *garment, int takes, const char *directory, const ex_progress *progress,
                            const ex_tasks *tasks, ex_error *error) {
    static const char *const names[GARMENT_MOTIONS][2] = {{"driver_train.pc2", "driven_train.pc2"},
                                                          {"driver_unseen.pc2", "driven_unseen.pc2"}};
    char *paths[GARMENT_MOTIONS][2];
    ex_result result = EX_OK;
    for (int m = 0; m < GARMENT_MOTIONS; m++)
        for (int i = 0; i < 2; i++)
            paths[m][i] = exi_demo_path(directory, names[m][i]);
    for (int m = 0; result == EX_OK && m < GARMENT_MOTIONS; m++)
        result = write_motion(garment, (exi_garment_motion)m, paths[m], progress, error);
    for (int take = 1; result == EX_OK && take <= takes; take++)
        result = write_take(garment, take, directory, progress, error);
    if (result == EX_OK)
        result = write_project(garment, directory, paths[GARMENT_TRAINING], progress, tasks, error);
    for (int m = 0; m < GARMENT_MOTIONS; m++)
        for (int i = 0; i < 2; i++)
            free(paths[m][i]);
    return result;
}
