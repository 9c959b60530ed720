/*
 * Buffers, opened when first used, and their views.
 */
#include "author/formats/gltf/gltf_reader.h"

#include <stdio.h>

static ex_result open_buffer(exi_gltf *g, int number) {
    exi_gltf_buffer *buffer = &g->buffers[number];
    const json_t *json = json_array_get(g->buffer_list, (size_t)number), *uri = json_object_get(json, "uri");
    char where[EXI_WHERE_SIZE];
    snprintf(where, sizeof where, "buffers[%d]", number);
    size_t promised = 0, size = 0;
    if (!json_object_get(json, "byteLength"))
        return exi_gltf_fail(g, EX_ERROR_DATA, where, "byteLength is missing");
    ex_result result = exi_gltf_get_size(g, json, "byteLength", where, &promised);
    if (result != EX_OK)
        return result;
    if (uri) {
        unsigned char *owned = NULL;
        if (!json_is_string(uri))
            return exi_gltf_fail(g, EX_ERROR_DATA, where, "uri must be text");
        result = exi_gltf_open_uri(g, json_string_value(uri), where, &owned, &size);
        if (result != EX_OK)
            return result;
        buffer->owned = owned;
        buffer->bytes = owned;
    } else {
        if (number != 0 || !g->bin)
            return exi_gltf_fail(g, EX_ERROR_DATA, where, "uri is missing, and the file has no binary part for it");
        buffer->bytes = g->bin;
        size = g->bin_size;
    }
    if (promised > size) {
        buffer->bytes = NULL;
        return exi_gltf_fail(g, EX_ERROR_DATA, where, "byteLength is %zu, but there are only %zu bytes", promised,
                             size);
    }
    buffer->size = promised;
    g->budget += uri ? EXI_GLTF_UNFOLDED_PER_BYTE * size : 0;
    return EX_OK;
}

ex_result exi_gltf_view(exi_gltf *g, int view, const char *where, const unsigned char **bytes, size_t *size,
                        size_t *stride) {
    const json_t *json = json_array_get(g->view_list, (size_t)view);
    char here[EXI_WHERE_SIZE];
    snprintf(here, sizeof here, "bufferViews[%d]", view);
    int buffer = -1;
    size_t offset = 0;
    *stride = 0;
    *size = 0;
    ex_result result = exi_gltf_get_reference(g, json, "buffer", g->buffer_count, "buffer", here, &buffer);
    if (result == EX_OK && buffer < 0)
        result = exi_gltf_fail(g, EX_ERROR_DATA, here, "buffer is missing");
    if (result == EX_OK)
        result = exi_gltf_get_size(g, json, "byteOffset", here, &offset);
    if (result == EX_OK)
        result = exi_gltf_get_size(g, json, "byteLength", here, size);
    if (result == EX_OK && *size == 0)
        result = exi_gltf_fail(g, EX_ERROR_DATA, here, "byteLength is missing or 0");
    if (result == EX_OK)
        result = exi_gltf_get_size(g, json, "byteStride", here, stride);
    const json_t *extensions = json_object_get(json, "extensions");
    if (result == EX_OK && (json_object_get(extensions, "EXT_meshopt_compression") ||
                            json_object_get(extensions, "KHR_meshopt_compression")))
        result = exi_gltf_fail(g, EX_ERROR_DATA, here,
                               "is compressed with meshopt, which is not supported: export without compression");
    if (result == EX_OK && !g->buffers[buffer].bytes)
        result = open_buffer(g, buffer);
    if (result != EX_OK)
        return result;
    size_t whole = g->buffers[buffer].size;
    if (offset > whole || *size > whole - offset)
        return exi_gltf_fail(g, EX_ERROR_DATA, here, "reaches to byte %zu, but buffer %d has %zu (%s)", offset + *size,
                             buffer, whole, where);
    *bytes = g->buffers[buffer].bytes + offset;
    return EX_OK;
}
