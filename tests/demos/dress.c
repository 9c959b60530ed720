/*
 * dress.c - simulates a garment on the motion of any body, for bodies.py and for hand.
 *
 *   dress ROOM SUBSTEPS free|pinned GROUP BODY.obj GARMENT.obj [BODY.pc2 GARMENT.pc2]…
 *
 * The garment is cut out of the faces of BODY.obj in GROUP, ROOM metres wider, and written to GARMENT.obj. Each cache
 * of the body begins with the form of BODY.obj; the garment's cache gets as many frames. The cloth is that of the demo
 * `shirt`, farther from the body: the edges of a body's mesh are long, and only vertices are kept out of it.
 */
#include "demos/garment/dress.h"
#include "common/array.h"
#include "demos/garment/cloth.h"

#include <exemplar/author/cache.h>
#include <exemplar/author/formats.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct take {
    ex_cache_reader *body;
    ex_cache_writer *garment;
    int body_count, garment_count;
    float *form; /* [the larger number of vertices][3] */
} take;

static ex_result move(void *user, int frame, double *driver, ex_error *error) {
    take *t = user;
    const ex_result result = ex_cache_read(t->body, frame, t->form, error);
    for (int i = 0; result == EX_OK && i < 3 * t->body_count; i++)
        driver[i] = (double)t->form[i];
    return result;
}

static ex_result write(void *user, int frame, const double *driver, const double *driven, ex_error *error) {
    take *t = user;
    (void)frame;
    (void)driver;
    for (int i = 0; i < 3 * t->garment_count; i++)
        t->form[i] = (float)driven[i];
    return ex_cache_write(t->garment, t->form, error);
}

static ex_result create(take *t, const char *path, double *frame_time, ex_error *error) {
    const int frames = ex_cache_get_info(t->body).frame_count;
    double *times = array_allocate((size_t)frames, sizeof *times);
    if (!times)
        return ex_error_memory(error, "times", 0);
    for (int f = 0; f < frames; f++)
        times[f] = ex_cache_time(t->body, f);
    *frame_time = frames > 1 ? (times[frames - 1] - times[0]) / (frames - 1) : 1.0 / 30;
    const ex_result result = ex_cache_create(path, t->garment_count, frames, times, NULL, &t->garment, error);
    free(times);
    return result;
}

static ex_result simulate(const exi_cloth_def *def, const char *from, const char *to, ex_error *error) {
    take t = {.body_count = def->driver->vertex_count, .garment_count = def->cloth->vertex_count};
    const int larger = t.body_count > t.garment_count ? t.body_count : t.garment_count;
    exi_cloth_play play = {.cloth = *def, .move = move, .frame = write, .user = &t};
    t.form = array_allocate(3 * (size_t)larger, sizeof *t.form);
    ex_result result = t.form ? ex_cache_open(from, &t.body, error) : ex_error_memory(error, "a frame", 0);
    if (result == EX_OK && ex_cache_get_info(t.body).vertex_count != t.body_count)
        result = ex_error_set(error, EX_ERROR_DATA, "'%s' has other vertices than the body", from);
    if (result == EX_OK)
        result = create(&t, to, &play.cloth.frame_time, error);
    if (result == EX_OK) {
        play.end = ex_cache_get_info(t.body).frame_count;
        result = exi_cloth_simulate(&play, error);
    }
    const bool keep = result == EX_OK;
    const ex_result finished = ex_cache_finish(t.garment, keep, keep ? error : NULL);
    ex_cache_close(t.body);
    free(t.form);
    return keep ? finished : result;
}

static ex_result dress(char **words, int count, ex_error *error) {
    exi_dress_def cut = exi_dress_def_default();
    exi_cloth_def cloth = exi_cloth_def_default();
    ex_mesh *body = NULL, *triangles = NULL, *garment = NULL;
    bool *worn = NULL, *pinned = NULL;
    ex_result result = ex_mesh_read(words[4], &body, error);
    if (result == EX_OK) {
        triangles = exi_dress_triangles(body);
        worn = array_allocate((size_t)body->face_count, sizeof *worn);
        result = triangles && worn ? EX_OK : ex_error_memory(error, "the body", 0);
    }
    if (result == EX_OK) {
        exi_dress_group(body, words[3], worn);
        cut.body = body;
        cut.worn = worn;
        cut.room = atof(words[0]);
        result = exi_dress_make(&cut, &garment, error);
    }
    if (result == EX_OK)
        result = ex_mesh_write(words[5], garment, error);
    if (result == EX_OK && strcmp(words[2], "pinned") == 0) {
        pinned = array_allocate((size_t)garment->vertex_count, sizeof *pinned);
        if (!pinned || exi_dress_top(garment, pinned) < 0)
            result = ex_error_memory(error, "the garment", 0);
    }
    cloth.cloth = garment;
    cloth.driver = triangles;
    cloth.pinned = pinned;
    cloth.substeps = atoi(words[1]);
    cloth.thickness = 0.007;
    cloth.bend = 2e-5;
    cloth.bent = 0.5;
    cloth.friction = 0.8;
    cloth.drag = 10;
    for (int i = 6; result == EX_OK && i + 1 < count; i += 2)
        result = simulate(&cloth, words[i], words[i + 1], error);
    ex_mesh_destroy(body);
    ex_mesh_destroy(triangles);
    ex_mesh_destroy(garment);
    free(worn);
    free(pinned);
    return result;
}

int main(int argc, char **argv) {
    ex_error error = {.result = EX_OK};
    if (argc < 7 || argc % 2 == 0) {
        fprintf(stderr,
                "usage: dress ROOM SUBSTEPS free|pinned GROUP BODY.obj GARMENT.obj [BODY.pc2 GARMENT.pc2]...\n");
        return 2;
    }
    if (dress(argv + 1, argc - 1, &error) != EX_OK) {
        fprintf(stderr, "dress: %s\n", error.text);
        return 1;
    }
    return 0;
}
