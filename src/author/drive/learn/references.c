/*
 * The reference animations that a rig is learned from: pairs of caches, opened, checked against each other, and read
 * one frame at a time; or gathered files. Frames that are kept are counted over all references.
 */
#include "author/drive/learn/references.h"
#include "author/drive/gather/gathered.h"
#include "author/drive/gather/gathered_format.h"

#include "author/base/array.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

ex_result ex_drive_open_cache(const char *path, const char *what, int vertex_count, const ex_mesh *mesh,
                              ex_cache_reader **reader, ex_error *error) {
    ex_result result = ex_cache_open(path, reader, error);
    if (result != EX_OK)
        return result;
    const int there = ex_cache_get_info(*reader).vertex_count;
    if (there != vertex_count)
        result = ex_error_set(error, EX_ERROR_DATA,
                              "'%s' has %d vertices, but the %s mesh has %d: they are not the same mesh", path, there,
                              what, vertex_count);
    else if (mesh && ex_cache_mesh(*reader))
        result = ex_error_within(error, ex_mesh_compare_connectivity(mesh, ex_cache_mesh(*reader), error),
                                 "'%s' and the %s mesh differ", path, what);
    if (result == EX_OK)
        return EX_OK;
    ex_cache_close(*reader);
    *reader = NULL;
    return result;
}

static ex_result open_pair(exi_references *refs, const ex_drive_reference *from, exi_reference *item, ex_error *error) {
    ex_result result =
        ex_drive_open_cache(from->driver, "driver", refs->driver_count, refs->driver, &item->driver, error);
    if (result == EX_OK)
        result = ex_drive_open_cache(from->driven, "driven", refs->driven_count, refs->driven, &item->driven, error);
    int used[2] = {0, 0};
    if (result == EX_OK && from->count == 0)
        result = ex_drive_check_pair(item->driver, from->driver, item->driven, from->driven, error);
    if (result == EX_OK)
        result = exi_take_check(item->driver, from->driver, from->first, from->count, from->rate, &used[0], error);
    if (result == EX_OK)
        result = exi_take_check(item->driven, from->driven, from->first, from->count, from->rate, &used[1], error);
    if (result == EX_OK && from->count > 0)
        result = exi_take_check_pair(item->driver, from->driver, item->driven, from->driven, from->first, from->count,
                                     error);
    if (result != EX_OK)
        return result;
    const int frames = ex_cache_get_info(item->driver).frame_count,
              others = ex_cache_get_info(item->driven).frame_count;
    if (used[0] != used[1])
        return ex_error_kind(
            error,
            ex_error_set(error, EX_ERROR_DATA,
                         "'%s' has %d frames but '%s' has %d: each frame of the driver needs its driven form",
                         from->driver, frames, from->driven, others),
            "frames_differ");
    if (frames > INT_MAX - refs->number_count)
        return ex_error_set(error, EX_ERROR_LIMIT, "the references have more than %d frames together", INT_MAX);
    item->frame_count = item->used_count = item->spread_count = used[0];
    item->start = refs->number_count;
    item->from = from;
    item->database = from->database;
    refs->number_count += frames;
    return EX_OK;
}

/* Counts frames over all references. */
static void count_frames(exi_references *refs) {
    refs->frame_count = refs->used_count = 0;
    for (int i = 0; i < refs->count; i++) {
        refs->items[i].first = refs->frame_count;
        refs->frame_count += refs->items[i].frame_count;
        refs->used_count += refs->items[i].used_count;
    }
}

static int count_spread(const uint8_t *spread, int count) {
    int found = 0;
    for (int i = 0; i < count; i++)
        found += spread[i];
    return found;
}

static ex_result start(exi_references *refs, const ex_learn_def *def, ex_error *error) {
    *refs = (exi_references){.driver_count = def->driver->vertex_count,
                             .driven_count = def->driven->vertex_count,
                             .driver = def->driver,
                             .driven = def->driven,
                             .driver_scale = def->driver_scale,
                             .driven_scale = def->driven_scale};
    refs->items = calloc((size_t)def->reference_count, sizeof *refs->items);
    return refs->items ? EX_OK
                       : ex_error_memory(error, "the references", (size_t)def->reference_count * sizeof *refs->items);
}

ex_result exi_references_open(exi_references *refs, const ex_learn_def *def, ex_error *error) {
    ex_result result = start(refs, def, error);
    for (int i = 0; result == EX_OK && i < def->reference_count; i++) {
        refs->count = i + 1;
        result = open_pair(refs, &def->references[i], &refs->items[i], error);
    }
    count_frames(refs);
    return result;
}

ex_result exi_references_from(exi_references *refs, const ex_learn_def *def, ex_gathered *const *files,
                              ex_error *error) {
    ex_result result = start(refs, def, error);
    for (int i = 0; result == EX_OK && i < def->reference_count; i++) {
        const ex_gathered *g = files[i];
        exi_reference *item = &refs->items[i];
        const int frames = g->info.cache_frame_count;
        const bool keys = g->info.method == EX_LEARN_KEYS;
        if (frames > INT_MAX - refs->number_count)
            return ex_error_set(error, EX_ERROR_LIMIT, "the references have more than %d frames together", INT_MAX);
        *item = (exi_reference){.from = &def->references[i],
                                .frame_count = keys ? g->info.kept_count : g->info.count,
                                .used_count = g->info.count,
                                .start = refs->number_count,
                                .database = g->info.database,
                                .kept = g->kept,
                                .spread = g->spread,
                                .spread_count = keys ? count_spread(g->spread, g->info.kept_count) : g->info.count,
                                .forms = g->forms,
                                .gathered = g};
        refs->number_count += frames;
        refs->count = i + 1;
    }
    count_frames(refs);
    return result;
}

void exi_references_keep(exi_references *refs, int reference, int *frames, uint8_t *spread, int count) {
    exi_reference *item = &refs->items[reference];
    item->kept = item->own_kept = frames;
    item->spread = item->own_spread = spread;
    item->frame_count = count;
    item->spread_count = count_spread(spread, count);
    count_frames(refs);
}

void exi_references_close(exi_references *refs) {
    for (int i = 0; i < refs->count; i++) {
        ex_cache_close(refs->items[i].driver);
        ex_cache_close(refs->items[i].driven);
        free(refs->items[i].own_kept);
        free(refs->items[i].own_spread);
    }
    free(refs->items);
}

const exi_reference *exi_references_of(const exi_references *refs, int frame) {
    int i = 0;
    while (i + 1 < refs->count && frame >= refs->items[i + 1].first)
        i++;
    return &refs->items[i];
}

int exi_references_place(const exi_references *refs, int frame) {
    const exi_reference *item = exi_references_of(refs, frame);
    const int i = frame - item->first;
    return item->kept ? item->kept[i] : item->from->first + i;
}

bool exi_references_is_spread(const exi_references *refs, int frame) {
    const exi_reference *item = exi_references_of(refs, frame);
    return !item->spread || item->spread[frame - item->first];
}

double exi_references_share(const exi_references *refs, int frame) {
    const exi_reference *item = exi_references_of(refs, frame);
    return (double)item->used_count / item->spread_count;
}

double exi_references_time(const exi_references *refs, int frame) {
    const exi_reference *item = exi_references_of(refs, frame);
    return ex_drive_time(item->driver, exi_references_place(refs, frame), item->from->rate) -
           ex_drive_time(item->driver, item->from->first, item->from->rate);
}

int exi_references_number(const exi_references *refs, int frame) {
    return exi_references_of(refs, frame)->start + exi_references_place(refs, frame);
}

int exi_references_find(const exi_references *refs, int number) {
    for (int i = 0; i < refs->count; i++) {
        const exi_reference *item = &refs->items[i];
        const int place = number - item->start;
        if (place < 0)
            break;
        if (!item->kept && place >= item->from->first && place - item->from->first < item->frame_count)
            return item->first + place - item->from->first;
        for (int k = 0; item->kept && k < item->frame_count; k++)
            if (item->kept[k] == place)
                return item->first + k;
    }
    return -1;
}

/* Copies a frame of a gathered file. */
static void copy_frame(const exi_references *refs, const exi_reference *item, int frame, float *driver, float *driven) {
    const size_t n = 3 * (size_t)refs->driver_count, m = 3 * (size_t)refs->driven_count;
    const float *forms = item->forms + (size_t)(frame - item->first) * exi_gathered_frame_size(refs);
    if (driver)
        memcpy(driver, forms, n * sizeof *driver);
    if (driven)
        memcpy(driven, forms + n, m * sizeof *driven);
}

ex_result exi_references_read(const exi_references *refs, int frame, float *driver, float *driven, ex_error *error) {
    const exi_reference *item = exi_references_of(refs, frame);
    const int in_cache = exi_references_place(refs, frame);
    ex_result result = EX_OK;
    if (item->forms) {
        copy_frame(refs, item, frame, driver, driven);
        return EX_OK;
    }
    if (driver)
        result = exi_take_read(item->driver, item->from->driver, in_cache, refs->driver_scale, driver, error);
    if (result == EX_OK && driven)
        result = exi_take_read(item->driven, item->from->driven, in_cache, refs->driven_scale, driven, error);
    return result;
}
