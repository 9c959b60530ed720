/*
 * The reference animations that a rig is learned from: pairs of caches, opened, checked against each other, and read
 * one frame at a time. Frames that are used are counted over all references.
 */
#include "author/drive/learn/references.h"

#include "author/base/array.h"

#include <limits.h>
#include <stdlib.h>

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
    item->first = refs->frame_count;
    item->frame_count = used[0];
    item->number = refs->number_count + from->first;
    item->from = from;
    item->database = from->database;
    refs->frame_count += used[0];
    refs->number_count += frames;
    return EX_OK;
}

ex_result exi_references_open(exi_references *refs, const ex_learn_def *def, ex_error *error) {
    *refs = (exi_references){.driver_count = def->driver->vertex_count,
                             .driven_count = def->driven->vertex_count,
                             .driver = def->driver,
                             .driven = def->driven,
                             .driver_scale = def->driver_scale,
                             .driven_scale = def->driven_scale};
    refs->items = calloc((size_t)def->reference_count, sizeof *refs->items);
    if (!refs->items)
        return ex_error_memory(error, "the references", (size_t)def->reference_count * sizeof *refs->items);
    ex_result result = EX_OK;
    for (int i = 0; result == EX_OK && i < def->reference_count; i++) {
        refs->count = i + 1;
        result = open_pair(refs, &def->references[i], &refs->items[i], error);
    }
    return result;
}

void exi_references_close(exi_references *refs) {
    for (int i = 0; i < refs->count; i++) {
        ex_cache_close(refs->items[i].driver);
        ex_cache_close(refs->items[i].driven);
    }
    free(refs->items);
}

const exi_reference *exi_references_of(const exi_references *refs, int frame) {
    int i = 0;
    while (i + 1 < refs->count && frame >= refs->items[i + 1].first)
        i++;
    return &refs->items[i];
}

double exi_references_time(const exi_references *refs, int frame) {
    const exi_reference *item = exi_references_of(refs, frame);
    const int first = item->from->first;
    return ex_drive_time(item->driver, first + frame - item->first, item->from->rate) -
           ex_drive_time(item->driver, first, item->from->rate);
}

int exi_references_number(const exi_references *refs, int frame) {
    const exi_reference *item = exi_references_of(refs, frame);
    return item->number + frame - item->first;
}

int exi_references_find(const exi_references *refs, int number) {
    for (int i = 0; i < refs->count; i++)
        if (number >= refs->items[i].number && number - refs->items[i].number < refs->items[i].frame_count)
            return refs->items[i].first + number - refs->items[i].number;
    return -1;
}

ex_result exi_references_read(const exi_references *refs, int frame, float *driver, float *driven, ex_error *error) {
    const exi_reference *item = exi_references_of(refs, frame);
    const int in_cache = item->from->first + frame - item->first;
    ex_result result = EX_OK;
    if (driver)
        result = exi_take_read(item->driver, item->from->driver, in_cache, refs->driver_scale, driver, error);
    if (result == EX_OK && driven)
        result = exi_take_read(item->driven, item->from->driven, in_cache, refs->driven_scale, driven, error);
    return result;
}
