/*
 * The reference animations that a rig is learned from: pairs of caches, opened, checked against each other, and read
 * one frame at a time. Frames are counted over all references.
 */
#include "author/drive/learn/references.h"

#include "author/base/array.h"

#include <limits.h>
#include <math.h>
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

ex_result ex_drive_check_pair(const ex_cache_reader *driver, const char *driver_path, const ex_cache_reader *driven,
                              const char *driven_path, ex_error *error) {
    if (!driver || !driven || !driver_path || !driven_path)
        return exi_misuse_error(error, __func__, "no caches, or no paths");
    const int counts[2] = {ex_cache_get_info(driver).frame_count, ex_cache_get_info(driven).frame_count};
    if (ex_cache_number(driver, 0) < 0 || ex_cache_number(driven, 0) < 0)
        return EX_OK;
    for (int f = 0; f < counts[0] || f < counts[1]; f++) {
        const int one = f < counts[0] ? ex_cache_number(driver, f) : INT_MAX;
        const int other = f < counts[1] ? ex_cache_number(driven, f) : INT_MAX;
        if (one != other)
            return ex_error_set(error, EX_ERROR_DATA,
                                "'%s' has no partner, because '%s' has no frame %d: give files that belong together "
                                "the same number, and move those without a partner to another folder",
                                ex_cache_path(one < other ? driver : driven, f),
                                one < other ? driven_path : driver_path, one < other ? one : other);
    }
    return EX_OK;
}

ex_result ex_drive_read_frame(ex_cache_reader *reader, const char *path, int frame, float *positions, ex_error *error) {
    const ex_result result = ex_cache_read(reader, frame, positions, error);
    const size_t count = 3 * (size_t)ex_cache_get_info(reader).vertex_count;
    for (size_t i = 0; result == EX_OK && i < count; i++)
        if (!(fabsf(positions[i]) < 1e18F))
            return ex_error_set(error, EX_ERROR_DATA, "%s: in frame %d, vertex %zu (counting from 0) is too far away",
                                path, frame + 1, i / 3);
    return result;
}

static ex_result open_pair(exi_references *refs, const ex_drive_reference *from, exi_reference *item, ex_error *error) {
    ex_result result =
        ex_drive_open_cache(from->driver, "driver", refs->driver_count, refs->driver, &item->driver, error);
    if (result == EX_OK)
        result = ex_drive_open_cache(from->driven, "driven", refs->driven_count, refs->driven, &item->driven, error);
    if (result == EX_OK)
        result = ex_drive_check_pair(item->driver, from->driver, item->driven, from->driven, error);
    if (result != EX_OK)
        return result;
    const int frames = ex_cache_get_info(item->driver).frame_count,
              others = ex_cache_get_info(item->driven).frame_count;
    if (frames != others)
        return ex_error_set(error, EX_ERROR_DATA,
                            "'%s' has %d frames but '%s' has %d: each frame of the driver needs its driven form",
                            from->driver, frames, from->driven, others);
    if (frames > INT_MAX - refs->frame_count)
        return ex_error_set(error, EX_ERROR_LIMIT, "the references have more than %d frames together", INT_MAX);
    item->first = refs->frame_count;
    item->frame_count = frames;
    item->from = from;
    item->database = from->database;
    refs->frame_count += frames;
    return EX_OK;
}

ex_result exi_references_open(exi_references *refs, const ex_learn_def *def, ex_error *error) {
    *refs = (exi_references){.driver_count = def->driver->vertex_count,
                             .driven_count = def->driven->vertex_count,
                             .driver = def->driver,
                             .driven = def->driven,
                             .driven_scale = def->driven_scale > 0 ? def->driven_scale : 1};
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

ex_result exi_references_read(const exi_references *refs, int frame, float *driver, float *driven, ex_error *error) {
    const exi_reference *item = exi_references_of(refs, frame);
    ex_result result = EX_OK;
    if (driver)
        result = ex_drive_read_frame(item->driver, item->from->driver, frame - item->first, driver, error);
    if (result == EX_OK && driven)
        result = ex_drive_read_frame(item->driven, item->from->driven, frame - item->first, driven, error);
    for (size_t i = 0; result == EX_OK && driven && refs->driven_scale != 1 && i < 3 * (size_t)refs->driven_count; i++)
        driven[i] = (float)(refs->driven_scale * (double)driven[i]);
    return result;
}
