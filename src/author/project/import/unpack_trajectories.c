/*
 * Other data of a layer of trajectories: how they were found (project_trajectories.h), and, in separate files, the
 * mask, which is not applied to its differences, and the given segments.
 */
#include "author/base/array.h"
#include "author/project/build/project_trajectories.h"
#include "author/project/import/unpack.h"
#include "runtime/base/result.h"

#include <exemplar/author/base.h>
#include <exemplar/author/files.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const json_t *entry_of(const ex_rig *rig, int layer, const json_t *paths) {
    return !ex_rig_layer_is_sum(rig, layer) ? json_object_get(paths, ex_rig_layer_name(rig, layer)) : NULL;
}

/* Returns the layer's mask in *mask, NULL if it has none. Release with free. */
static ex_result take_mask(const ex_rig *rig, int layer, float **mask, ex_error *error) {
    const size_t count = (size_t)ex_rig_vertex_count(rig);
    *mask = exi_array_allocate(count, sizeof **mask);
    if (!*mask)
        return ex_error_memory(error, "a mask", count * sizeof **mask);
    if (ex_rig_layer_mask(rig, layer, *mask))
        return EX_OK;
    free(*mask);
    *mask = NULL;
    return EX_OK;
}

bool exi_unpack_describe_trajectories(const ex_rig *rig, int layer, const json_t *paths, json_t *object) {
    const json_t *entry = entry_of(rig, layer, paths);
    float *mask = NULL;
    if (!entry)
        return true;
    json_t *options = json_deep_copy(entry);
    bool done = options && take_mask(rig, layer, &mask, NULL) == EX_OK;
    if (done && json_object_get(entry, "segments"))
        done = json_object_set_new(options, "segments", json_string(exi_unpacked_segments_name(layer).text)) == 0;
    done = json_object_set_new(object, "trajectory", options) == 0 && done;
    if (done && mask)
        done = json_object_set_new(object, "mask", json_pack("{s:s}", "file", exi_unpacked_mask_name(layer).text)) == 0;
    free(mask);
    return done;
}

ex_result exi_unpack_check_trajectories(const ex_rig *rig, int layer, const json_t *paths, const exi_new_folder *folder,
                                        ex_error *error) {
    const json_t *entry = entry_of(rig, layer, paths);
    float *mask = NULL;
    ex_result result = entry ? take_mask(rig, layer, &mask, error) : EX_OK;
    if (result == EX_OK && mask)
        result = exi_new_folder_check_free(folder, exi_unpacked_mask_name(layer).text, error);
    if (result == EX_OK && json_object_get(entry, "segments"))
        result = exi_new_folder_check_free(folder, exi_unpacked_segments_name(layer).text, error);
    free(mask);
    return result;
}

/* ---- files ---- */

ex_result exi_unpack_write_mask(const float *mask, int vertex_count, const char *path, ex_error *error) {
    ex_file_writer writer;
    ex_result result = ex_file_open(&writer, path, error);
    if (result != EX_OK)
        return result;
    for (int v = 0; v < vertex_count; v++) {
        char line[64];
        int length = snprintf(line, 24, "%d ", v);
        length += ex_format_float(line + length, mask[v]);
        line[length++] = '\n';
        if (mask[v] != 0)
            ex_file_write(&writer, line, (size_t)length);
    }
    return ex_file_commit(&writer, error);
}

static ex_result write_segments(const json_t *list, int face_count, const char *path, ex_error *error) {
    int *segments = exi_array_allocate((size_t)face_count, sizeof *segments);
    bool sound = json_array_size(list) == (size_t)face_count;
    for (int f = 0; segments && sound && f < face_count; f++) {
        const json_t *value = json_array_get(list, (size_t)f);
        sound = json_is_integer(value) && json_integer_value(value) >= -1 && json_integer_value(value) < EX_SEGMENT_MAX;
        segments[f] = sound ? (int)json_integer_value(value) : -1;
    }
    ex_result result =
        !segments ? ex_error_memory(error, "the segments", (size_t)face_count * sizeof *segments)
        : !sound ? ex_error_set(error, EX_ERROR_DATA, "the rig's note about how its trajectories were found is damaged")
                 : exi_segments_write(path, face_count, segments, error);
    free(segments);
    return result;
}

ex_result exi_unpack_write_trajectories(const ex_rig *rig, int layer, const json_t *paths, const ex_mesh *mesh,
                                        exi_new_folder *folder, ex_error *error) {
    const json_t *entry = entry_of(rig, layer, paths), *segments = json_object_get(entry, "segments");
    float *mask = NULL;
    ex_result result = entry ? take_mask(rig, layer, &mask, error) : EX_OK;
    if (result == EX_OK && mask) {
        const char *path = exi_new_folder_add(folder, exi_unpacked_mask_name(layer).text, error);
        result = path ? exi_unpack_write_mask(mask, mesh->vertex_count, path, error) : EX_ERROR_MEMORY;
    }
    if (result == EX_OK && segments) {
        const char *path = exi_new_folder_add(folder, exi_unpacked_segments_name(layer).text, error);
        result = path ? write_segments(segments, mesh->face_count, path, error) : EX_ERROR_MEMORY;
    }
    free(mask);
    return result;
}
