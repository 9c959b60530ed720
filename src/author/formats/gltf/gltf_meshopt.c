/*
 * Views compressed with meshopt: EXT_meshopt_compression, and KHR_meshopt_compression as far as its codecs are the
 * same. A view is decoded once, when it is first used. Its own buffer only holds a copy for readers without the
 * extension, or nothing at all, and is not opened.
 *
 *   ATTRIBUTES   elements of byteStride bytes; then perhaps a filter, in place: unit vectors (OCTAHEDRAL), quaternions
 *                (QUATERNION), floats as 2^e m (EXPONENTIAL)
 *   TRIANGLES    indices in threes
 *   INDICES      any indices
 */
#include "author/formats/gltf/gltf_reader.h"

#include "author/base/array.h"
#include "author/formats/gltf/meshopt_codecs.h"
#include "runtime/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const extensions[] = {"EXT_meshopt_compression", "KHR_meshopt_compression"};

static const char *find_extension(const json_t *object, json_t **found) {
    for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++)
        if ((*found = json_object_get(json_object_get(object, "extensions"), extensions[i])))
            return extensions[i];
    return NULL;
}

bool exi_gltf_is_fallback(const json_t *buffer) {
    json_t *extension;
    return find_extension(buffer, &extension) && json_is_true(json_object_get(extension, "fallback"));
}

typedef enum packed_mode { ATTRIBUTES, TRIANGLES, INDICES, MODE_COUNT } packed_mode;
typedef enum packed_filter { NONE, OCTAHEDRAL, QUATERNION, EXPONENTIAL, FILTER_COUNT } packed_filter;

/* A compressed view, as the file describes it. */
typedef struct packed {
    const unsigned char *bytes;
    size_t size, count, stride;
    packed_mode mode;
    packed_filter filter;
} packed;

static ex_result choose(const exi_gltf *g, const json_t *object, const char *key, const char *const *words, int count,
                        const char *where, int *chosen) {
    const json_t *value = json_object_get(object, key);
    const char *word = json_string_value(value);
    for (int i = 0; value && i < count; i++)
        if (word && strcmp(word, words[i]) == 0) {
            *chosen = i;
            return EX_OK;
        }
    return !value ? EX_OK
                  : exi_gltf_fail(g, EX_ERROR_DATA, where, "its %s '%.30s' is not known: export without compression",
                                  key, word ? word : "(not a text)");
}

/* The codecs' own rules. */
static ex_result check(const exi_gltf *g, const packed *p, const char *where) {
    const char *wrong = NULL;
    const size_t stride = p->stride;
    if (p->count == 0 || stride == 0)
        wrong = "count or byteStride is missing or 0";
    else if (p->mode == ATTRIBUTES ? stride % 4 != 0 || stride > 256 : stride != 2 && stride != 4)
        wrong = p->mode == ATTRIBUTES ? "byteStride is not a multiple of 4 up to 256" : "byteStride is not 2 or 4";
    else if (p->mode == TRIANGLES && p->count % 3 != 0)
        wrong = "count is not a multiple of 3";
    else if (p->filter != NONE && p->mode != ATTRIBUTES)
        wrong = "only attributes can have a filter";
    else if ((p->filter == OCTAHEDRAL && stride != 4 && stride != 8) || (p->filter == QUATERNION && stride != 8))
        wrong = "byteStride does not fit the filter";
    return wrong ? exi_gltf_fail(g, EX_ERROR_DATA, where, "%s", wrong) : EX_OK;
}

static ex_result read_packed(exi_gltf *g, const json_t *extension, packed *p, const char *where) {
    static const char *const modes[] = {"ATTRIBUTES", "TRIANGLES", "INDICES"};
    static const char *const filters[] = {"NONE", "OCTAHEDRAL", "QUATERNION", "EXPONENTIAL"};
    int mode = -1, filter = NONE, buffer = -1;
    size_t offset = 0;
    *p = (packed){0};
    ex_result result = exi_gltf_get_reference(g, extension, "buffer", g->buffer_count, "buffer", where, &buffer);
    if (result == EX_OK)
        result = exi_gltf_get_size(g, extension, "byteOffset", where, &offset);
    if (result == EX_OK)
        result = exi_gltf_get_size(g, extension, "byteLength", where, &p->size);
    if (result == EX_OK)
        result = exi_gltf_get_size(g, extension, "byteStride", where, &p->stride);
    if (result == EX_OK)
        result = exi_gltf_get_size(g, extension, "count", where, &p->count);
    if (result == EX_OK)
        result = choose(g, extension, "mode", modes, MODE_COUNT, where, &mode);
    if (result == EX_OK)
        result = choose(g, extension, "filter", filters, FILTER_COUNT, where, &filter);
    if (result == EX_OK && (buffer < 0 || mode < 0))
        result = exi_gltf_fail(g, EX_ERROR_DATA, where, "buffer or mode is missing");
    if (result != EX_OK)
        return result;
    p->mode = (packed_mode)mode;
    p->filter = (packed_filter)filter;
    result = check(g, p, where);
    return result == EX_OK ? exi_gltf_bytes(g, buffer, offset, p->size, where, &p->bytes) : result;
}

static bool decode(const packed *p, unsigned char *out) {
    switch (p->mode) {
    case TRIANGLES:
        return exi_meshopt_triangles(p->bytes, p->size, p->count, p->stride, out);
    case INDICES:
        return exi_meshopt_sequence(p->bytes, p->size, p->count, p->stride, out);
    default:
        return exi_meshopt_attributes(p->bytes, p->size, p->count, p->stride, out);
    }
}

static void apply_filter(const packed *p, unsigned char *out) {
    if (p->filter == OCTAHEDRAL)
        exi_meshopt_octahedral(out, p->count, p->stride);
    else if (p->filter == QUATERNION)
        exi_meshopt_quaternion(out, p->count);
    else if (p->filter == EXPONENTIAL)
        exi_meshopt_exponential(out, p->count * (p->stride / 4));
}

/* The codec's name is in the upper half of the first byte, its version in the lower. */
static ex_result explain(const exi_gltf *g, const packed *p, const char *where) {
    static const unsigned names[] = {0xA0, 0xE0, 0xD0}, versions[] = {0, 1, 1};
    const unsigned first = p->size > 0 ? p->bytes[0] : 0;
    if ((first & 0xF0U) == names[p->mode] && (first & 0xFU) > versions[p->mode])
        return exi_gltf_fail(g, EX_ERROR_DATA, where,
                             "is compressed with version %u of a meshopt codec, which is not supported: export with "
                             "EXT_meshopt_compression, or without compression",
                             first & 0xFU);
    return exi_gltf_fail(g, EX_ERROR_DATA, where, "its compressed bytes are damaged: export the file again");
}

ex_result exi_gltf_unpack(exi_gltf *g, const json_t *view, int number, bool *packed_view) {
    json_t *extension;
    packed p;
    char where[EXI_WHERE_SIZE];
    size_t size = 0;
    const char *name = find_extension(view, &extension);
    *packed_view = name != NULL;
    if (!name || g->unpacked[number].bytes)
        return EX_OK;
    snprintf(where, sizeof where, "bufferViews[%d].extensions.%s", number, name);
    ex_result result = read_packed(g, extension, &p, where);
    if (result != EX_OK)
        return result;
    if (!exi_multiply(p.count, p.stride, &size) ||
        size > EXI_GLTF_UNFOLDED_SURE + EXI_GLTF_UNFOLDED_PER_BYTE * g->file_size - g->unpacked_size)
        return exi_gltf_fail(g, EX_ERROR_LIMIT, where,
                             "the file would expand to more than %zu times its size: export without compression",
                             EXI_GLTF_UNFOLDED_PER_BYTE);
    unsigned char *out = exi_array_allocate(size, 1);
    if (!out)
        return exi_gltf_no_memory(g);
    if (!decode(&p, out)) {
        free(out);
        return explain(g, &p, where);
    }
    apply_filter(&p, out);
    g->unpacked[number] = (exi_gltf_buffer){.bytes = out, .size = size, .owned = out};
    g->unpacked_size += size;
    /* A byte becomes a float in an array: four times as much, as in a file that is not compressed. */
    g->budget += 4 * size;
    return EX_OK;
}
