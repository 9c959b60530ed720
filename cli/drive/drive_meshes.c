/* Meshes, weights and binds that `drive learn` and `drive gather` read, and the words that both have. */
#include "drive.h"

#include <exemplar/author/base.h>
#include <exemplar/author/formats.h>

#include <float.h>
#include <stdlib.h>
#include <string.h>

/* ---- words ---- */

bool exi_drive_moving_read(const ex_call *call, const char *text, ex_drive_options *options) {
    const char *at = text, *end = text ? at + strlen(text) : NULL;
    int count = 0;
    if (!text || strcmp(text, "auto") == 0)
        return true;
    if (!ex_parse_int(&at, end, &count) || at != end || count < 1 || count > EX_DRIVER_FRAME_MAX) {
        exi_wrong_usage(call->command, "--frames needs a whole number from 1 to %d, or auto, not '%s'",
                        EX_DRIVER_FRAME_MAX, text);
        return false;
    }
    options->frames = count;
    return true;
}

bool exi_drive_frame_read(const ex_call *call, const char *text, bool one, ex_drive_options *options) {
    if (!text || strcmp(text, "fit") == 0)
        return true;
    if (strcmp(text, "none") == 0) {
        options->frame = EX_WHOLE_FRAME_NONE;
        if (one)
            options->frames = 1;
        return true;
    }
    if (strncmp(text, "group:", 6) == 0 && text[6]) {
        options->frame_group = text + 6;
        return true;
    }
    exi_wrong_usage(call->command, "--frame needs fit, group:NAME or none, not '%s'", text);
    return false;
}

bool exi_drive_given_read(const ex_call *call, const char *text, int *frames, int most, int *count) {
    const char *at = text, *end = text ? at + strlen(text) : NULL;
    while (text && at < end) {
        if (*count == most || !ex_parse_int(&at, end, &frames[*count]) || frames[*count] < 1 ||
            (at < end && (*at != ',' || at + 1 == end))) {
            exi_wrong_usage(call->command,
                            "--at needs frames with commas between them, counting from 1, such as 1,37, not '%s'",
                            text);
            return false;
        }
        frames[(*count)++]--; /* the library counts from 0 */
        at += at < end;
    }
    return true;
}

bool exi_drive_meshes_named(const ex_call *call, const char *driver_mesh, const char *driven_mesh,
                            const char *driver_cache, const char *driven_cache) {
    for (int i = 0; i < 2; i++)
        if (!(i ? driven_mesh : driver_mesh) && !ex_cache_needs_mesh(i ? driven_cache : driver_cache)) {
            exi_wrong_usage(call->command, "a cache has no faces: name its mesh with --%s-mesh",
                            i ? "driven" : "driver");
            return false;
        }
    return true;
}

/* ---- files ---- */

/* Reads the named mesh, or that of the first frame of a cache with faces. */
static ex_result read_mesh(const char *path, const char *cache, double scale, ex_mesh **mesh, ex_error *error) {
    ex_cache_reader *reader = NULL;
    ex_result result = path ? ex_mesh_read(path, mesh, error) : ex_cache_open(cache, &reader, error);
    if (result == EX_OK && !path && !(*mesh = ex_mesh_copy(ex_cache_mesh(reader))))
        result = ex_error_memory(error, "the mesh", 0);
    ex_cache_close(reader);
    for (size_t i = 0; result == EX_OK && i < 3 * (size_t)(*mesh)->vertex_count; i++)
        (*mesh)->positions[i] *= scale;
    return result;
}

static ex_result read_weights(const char *text, const ex_mesh *driver, exi_drive_meshes *meshes, ex_error *error) {
    const int count = driver->vertex_count;
    meshes->weights = calloc((size_t)count, sizeof *meshes->weights);
    if (!meshes->weights)
        return ex_error_memory(error, "weights", (size_t)count * sizeof *meshes->weights);
    return strncmp(text, "group:", 6) == 0 ? ex_mask_from_group(driver, text + 6, meshes->weights, error)
                                           : ex_mask_read(text, count, FLT_MAX, meshes->weights, error);
}

ex_result exi_drive_meshes_read(const exi_drive_mesh_words *words, exi_drive_meshes *meshes, ex_drive_options *options,
                                ex_error *error) {
    const ex_gathered_info *info = words->gathered ? ex_gathered_get_info(words->gathered) : NULL;
    ex_result result = EX_OK;
    if (!info)
        result = read_mesh(words->driver_mesh, words->driver_cache, words->driver_scale, &meshes->driver, error);
    if (!info && result == EX_OK)
        result = read_mesh(words->driven_mesh, words->driven_cache, words->driven_scale, &meshes->driven, error);
    const ex_mesh *driver = info ? info->driver : meshes->driver, *driven = info ? info->driven : meshes->driven;
    if (result == EX_OK && words->weights) {
        result = read_weights(words->weights, driver, meshes, error);
        options->driver_weights = meshes->weights;
    }
    if (result == EX_OK && words->bind)
        result = ex_drive_read_binds(words->bind, driver, driven, &meshes->binds, error);
    if (result == EX_OK && meshes->binds) {
        options->bind_count = meshes->binds->bind_count;
        options->binds = meshes->binds->binds;
        options->vertex_binds = meshes->binds->vertex_binds;
    }
    return result;
}

void exi_drive_meshes_close(exi_drive_meshes *meshes) {
    ex_drive_free_binds(meshes->binds);
    ex_mesh_destroy(meshes->driver);
    ex_mesh_destroy(meshes->driven);
    free(meshes->weights);
}
