/*
 * Buffers, opened when first used, and their views. Buffers that name the same file share its bytes.
 */
#include "author/formats/gltf/gltf_reader.h"

#include <stdio.h>

/* An earlier buffer of the same file. */
static const exi_gltf_buffer *find_same(const exi_gltf *g, int number, const json_t *uri) {
    for (int i = 0; i < g->buffer_count; i++)
        if (i != number && g->buffers[i].owned &&
            json_equal(json_object_get(json_array_get(g->buffer_list, (size_t)i), "uri"), uri))
            return &g->buffers[i];
    return NULL;
}

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
    if (uri && !json_is_string(uri))
        return exi_gltf_fail(g, EX_ERROR_DATA, where, "uri must be text");
    const exi_gltf_buffer *same = uri ? find_same(g, number, uri) : NULL;
    if (same) {
        buffer->bytes = same->bytes;
        buffer->whole = size = same->whole;
    } else if (uri) {
        unsigned char *owned = NULL;
        result = exi_gltf_open_uri(g, json_string_value(uri), where, &owned, &size);
        if (result != EX_OK)
            return result;
        buffer->owned = owned;
        buffer->bytes = owned;
        buffer->whole = size;
        g->file_size += size;
        g->budget += EXI_GLTF_UNFOLDED_PER_BYTE * size;
    } else {
        if (exi_gltf_is_fallback(json))
            return exi_gltf_fail(g, EX_ERROR_DATA, where,
                                 "has no bytes, only compressed copies of them: bufferViews that use it must be "
                                 "compressed");
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
    return EX_OK;
}

ex_result exi_gltf_bytes(exi_gltf *g, int buffer, size_t offset, size_t size, const char *where,
                         const unsigned char **bytes) {
    if (!g->buffers[buffer].bytes) {
        const ex_result result = open_buffer(g, buffer);
        if (result != EX_OK)
            return result;
    }
    const size_t whole = g->buffers[buffer].size;
    if (offset > whole || size > whole - offset)
        return exi_gltf_fail(g, EX_ERROR_DATA, where, "reaches to byte %zu, but buffer %d has %zu", offset + size,
                             buffer, whole);
    *bytes = g->buffers[buffer].bytes + offset;
    return EX_OK;
}

ex_result exi_gltf_view(exi_gltf *g, int view, const unsigned char **bytes, size_t *size, size_t *stride) {
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
    bool packed = false;
    if (result == EX_OK)
        result = exi_gltf_unpack(g, json, view, &packed);
    if (result != EX_OK)
        return result;
    if (!packed)
        return exi_gltf_bytes(g, buffer, offset, *size, here, bytes);
    if (*size > g->unpacked[view].size)
        return exi_gltf_fail(g, EX_ERROR_DATA, here, "has a byteLength of %zu, but its compressed bytes hold %zu",
                             *size, g->unpacked[view].size);
    *bytes = g->unpacked[view].bytes;
    return EX_OK;
}
