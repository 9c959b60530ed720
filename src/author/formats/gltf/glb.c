/*
 * The binary container of glTF: a header of 12 bytes, then the JSON part and the binary part, each with its length and
 * kind.
 */
#include "author/formats/gltf/glb.h"

#include "runtime/base/result.h"

#include <exemplar/author/files.h>

static void put_u32(ex_file_writer *writer, size_t value) {
    unsigned char bytes[4];
    for (int i = 0; i < 4; i++)
        bytes[i] = (unsigned char)(value >> (8 * i) & 0xFF);
    ex_file_write(writer, bytes, sizeof bytes);
}

/* Pads the JSON and computes the size of the whole file; UINT64_MAX without memory. */
static uint64_t measure(exi_text *json, size_t bin_size, size_t *padding) {
    while ((12 + 8 + json->size + 8) % 16 != 0 && !json->failed)
        exi_text_add(json, " ", 1);
    *padding = (4 - bin_size % 4) % 4;
    return json->failed ? UINT64_MAX
                        : 12 + 8 + (uint64_t)json->size + (bin_size > 0 ? 8 + (uint64_t)bin_size + *padding : 0);
}

ex_result exi_glb_write(const char *path, exi_text *json, const void *bin, size_t bin_size, const char *advice,
                        ex_error *error) {
    size_t padding = 0;
    const uint64_t total = measure(json, bin_size, &padding);
    if (json->failed)
        return ex_error_memory(error, "the file", json->size + bin_size);
    if (total > UINT32_MAX)
        return ex_error_set(error, EX_ERROR_LIMIT,
                            "%s: the file would take %.1f GB, but a .glb file holds at most 4.3 GB: %s", path,
                            (double)total / 1e9, advice);
    ex_file_writer writer;
    ex_result result = ex_file_open(&writer, path, error);
    if (result != EX_OK)
        return result;
    ex_file_write(&writer, "glTF", 4);
    put_u32(&writer, 2);
    put_u32(&writer, (size_t)total);
    put_u32(&writer, json->size);
    ex_file_write(&writer, "JSON", 4);
    ex_file_write(&writer, json->bytes, json->size);
    if (bin_size > 0) {
        put_u32(&writer, bin_size + padding);
        ex_file_write(&writer, "BIN", 4);
        ex_file_write(&writer, bin, bin_size);
        ex_file_write(&writer, "\0\0\0", padding);
    }
    return ex_file_commit(&writer, error);
}

static void add_u32(exi_text *out, size_t value) {
    unsigned char bytes[4];
    for (int i = 0; i < 4; i++)
        bytes[i] = (unsigned char)(value >> (8 * i) & 0xFF);
    exi_text_add(out, (const char *)bytes, sizeof bytes);
}

void exi_glb_print(exi_text *json, const char *bin, size_t bin_size, exi_text *out) {
    size_t padding = 0;
    const uint64_t total = measure(json, bin_size, &padding);
    if (json->failed || total > UINT32_MAX) {
        out->failed = true;
        return;
    }
    exi_text_add(out, "glTF", 4);
    add_u32(out, 2);
    add_u32(out, (size_t)total);
    add_u32(out, json->size);
    exi_text_add(out, "JSON", 4);
    exi_text_add(out, json->bytes, json->size);
    if (bin_size > 0) {
        add_u32(out, bin_size + padding);
        exi_text_add(out, "BIN", 4);
        exi_text_add(out, bin, bin_size);
        exi_text_add(out, "\0\0\0", padding);
    }
}
