/*
 * Frames of a reference that learning of keys needs. All, if they are few. Of many, evenly spread ones, on which errors
 * are measured, and those that are farthest from each other: the first nearest to the driver's mesh, or those given by
 * hand, and each further one the farthest from its nearest before (DrivenShape, 2.1). Keys that are chosen in the same
 * way from the frames of several references, reduced like this, are nearly as far apart as keys chosen from all frames:
 * farthest-first choice is a composable core-set for the k-centre problem (Malkomes et al. 2015). For one reference
 * they are the same keys.
 */
#include "author/drive/gather/far.h"
#include "author/drive/gather/gather.h"

#include "author/base/array.h"
#include "author/base/progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Forms are alike if they differ by less than this fraction of the driver's size, as a root mean square. That is the
 * precision floats have some tens of sizes away from the origin, and to which a rig is exact. */
static const double alike_part = 1e-5;

double exi_gather_alike(const ex_mesh *driver) {
    const double size = alike_part * ex_mesh_size(driver);
    return size * size;
}

typedef struct choosing {
    const exi_references *refs;
    const exi_reference *item;
    const exi_whole *whole;
    exi_far far;
    int count, most; /* frames chosen, and room */
    int *chosen;     /* [most]: used frames, from 0 */
    float *homes;    /* [most][driver vertices][3] */
    float *driver, *driven, *home;
    ex_error *error;
} choosing;

/* Reads a frame's driver into c->home, in the moving frame of the whole. */
static ex_result read_home(choosing *c, int frame, bool driven) {
    float matrix[12];
    const ex_result result =
        exi_references_read(c->refs, c->item->first + frame, c->driver, driven ? c->driven : NULL, c->error);
    if (result != EX_OK)
        return result;
    ex_driver_place(c->whole->driver, c->driver, matrix);
    exi_whole_back(matrix, c->driver, c->refs->driver_count, c->home);
    return EX_OK;
}

static ex_result measure(void *user, int frame, double *square, int *nearest) {
    choosing *c = user;
    const ex_result result = read_home(c, frame, false);
    *square = INFINITY;
    for (int k = 0; result == EX_OK && k < c->count; k++) {
        const float *key = c->homes + 3 * (size_t)c->refs->driver_count * (size_t)k;
        const double d = exi_form_squares(c->home, key, c->whole->weights, c->refs->driver_count);
        if (d < *square) {
            *square = d;
            *nearest = k;
        }
    }
    return result;
}

static ex_result choose(choosing *c, int frame) {
    const size_t numbers = 3 * (size_t)c->refs->driver_count;
    const exi_far_range all = {0, c->item->frame_count};
    const ex_result result = read_home(c, frame, false);
    if (result != EX_OK)
        return result;
    memcpy(c->homes + numbers * (size_t)c->count, c->home, numbers * sizeof *c->home);
    c->chosen[c->count] = frame;
    exi_far_look(&c->far, &all, 1, frame, c->count, c->count == 0);
    c->count++;
    return EX_OK;
}

static ex_result tell(const exi_gather_keys *how, double part, ex_error *error) {
    return !how->watch || how->watch->go_on(how->watch->user, "reading frames", part) ? EX_OK
                                                                                      : exi_progress_stopped(error);
}

/* The pass over all frames. */
static ex_result sketch_all(choosing *c, const exi_gather_keys *how) {
    const int count = c->item->frame_count;
    for (int f = 0; f < count; f++) {
        ex_result result = read_home(c, f, true);
        if (result == EX_OK) {
            exi_far_sketch(&c->far, f, c->home);
            result = tell(how, 0.8 * (f + 1) / count, c->error);
        }
        if (result != EX_OK)
            return result;
    }
    return EX_OK;
}

static ex_result choose_all(choosing *c, const exi_gather_keys *how) {
    const exi_far_range all = {0, c->item->frame_count};
    const double alike = exi_gather_alike(c->refs->driver);
    int left = c->item->frame_count, nearest = 0;
    ex_result result = EX_OK;
    for (int i = 0; result == EX_OK && i < how->given_count; i++)
        result = choose(c, how->given[i] - c->item->from->first);
    for (int f = 1; f < c->item->frame_count; f++)
        nearest = c->far.from_mesh[f] < c->far.from_mesh[nearest] ? f : nearest;
    if (result == EX_OK && c->count == 0)
        result = choose(c, nearest);
    while (result == EX_OK && c->count < c->most) {
        exi_far_measure by = {.measure = measure, .user = c, .key_count = c->count, .left = left};
        int farthest = 0;
        result = exi_far_find(&c->far, &all, 1, &by, &farthest);
        left = by.left;
        if (result != EX_OK || c->far.high[farthest] <= alike)
            break;
        result = choose(c, farthest);
        if (result == EX_OK)
            result = tell(how, 0.8 + 0.2 * c->count / c->most, c->error);
    }
    return result;
}

/* Joins the frames chosen and the evenly spread ones, rising. */
static ex_result keep(const choosing *c, exi_references *refs, int reference) {
    const int count = c->item->frame_count, first = c->item->from->first;
    uint8_t *marks = calloc((size_t)count, sizeof *marks);
    const size_t room = EXI_GATHER_SPREAD + (size_t)c->count;
    int *frames = exi_array_allocate(room, sizeof *frames), kept = 0;
    uint8_t *spread = exi_array_allocate(room, sizeof *spread);
    if (!marks || !frames || !spread) {
        free(marks);
        free(frames);
        free(spread);
        return ex_error_memory(c->error, "frames", (size_t)count);
    }
    for (int k = 0; k < c->count; k++)
        marks[c->chosen[k]] = 1;
    for (int i = 0; i < EXI_GATHER_SPREAD; i++)
        marks[(2LL * i + 1) * count / (2LL * EXI_GATHER_SPREAD)] = 2;
    for (int f = 0; f < count; f++)
        if (marks[f]) {
            frames[kept] = first + f;
            spread[kept++] = marks[f] == 2;
        }
    free(marks);
    exi_references_keep(refs, reference, frames, spread, kept);
    return EX_OK;
}

ex_result exi_gather_frames(exi_references *refs, int reference, const exi_whole *whole, const exi_gather_keys *how,
                            ex_error *error) {
    choosing c = {.refs = refs, .item = &refs->items[reference], .whole = whole, .error = error};
    const size_t n = (size_t)refs->driver_count;
    if (c.item->frame_count <= EXI_GATHER_SPREAD)
        return EX_OK;
    c.most = how->key_count < EXI_GATHER_FAR ? EXI_GATHER_FAR : how->key_count;
    c.most = c.most < EXI_GATHER_SPREAD ? c.most : EXI_GATHER_SPREAD;
    c.most += how->given_count;
    c.chosen = exi_array_allocate((size_t)c.most, sizeof *c.chosen);
    c.homes = exi_array_allocate((size_t)c.most * n, 3 * sizeof(float));
    c.driver = exi_array_allocate(n, 3 * sizeof(float));
    c.home = exi_array_allocate(n, 3 * sizeof(float));
    c.driven = exi_array_allocate((size_t)refs->driven_count, 3 * sizeof(float));
    ex_result result = c.chosen && c.homes && c.driver && c.home && c.driven
                           ? exi_far_open(&c.far, refs->driver, whole->weights, c.item->frame_count, error)
                           : ex_error_memory(error, "frames", (size_t)c.most * n * 12);
    if (result == EX_OK)
        result = sketch_all(&c, how);
    if (result == EX_OK)
        result = choose_all(&c, how);
    if (result == EX_OK)
        result = keep(&c, refs, reference);
    exi_far_close(&c.far);
    free(c.chosen);
    free(c.homes);
    free(c.driver);
    free(c.home);
    free(c.driven);
    return result;
}
