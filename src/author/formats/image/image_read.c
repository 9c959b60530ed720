/*
 * Reads image files: chooses the reader by the first bytes of the file, whatever its name ends in, and refuses pictures
 * that are too large. Formats without a reader are named.
 */
#include "author/formats/foreign.h"
#include "author/formats/image/image_reader.h"
#include "runtime/base/result.h"

#include <exemplar/author/files.h>

#include <stdlib.h>
#include <string.h>

/* ---- shared by the readers ---- */

ex_result exi_image_refuse(const exi_image_reader *r, const char *what, const char *format) {
    return ex_error_set(r->error, EX_ERROR_FORMAT, "%s: %s: export the picture as %s again", r->name, what, format);
}

ex_result exi_image_no_memory(const exi_image_reader *r) {
    return ex_error_set(r->error, EX_ERROR_MEMORY, "%s: not enough memory for %d x %d pixels", r->name, r->facts.width,
                        r->facts.height);
}

ex_result exi_image_set_size(exi_image_reader *r, uint32_t width, uint32_t height, const char *format) {
    if (width == 0 || height == 0)
        return ex_error_set(r->error, EX_ERROR_FORMAT, "%s: is a %s file without pixels: export the picture again",
                            r->name, format);
    if (width > EX_IMAGE_MAX || height > EX_IMAGE_MAX)
        return ex_error_set(r->error, EX_ERROR_LIMIT, "%s: has %lu x %lu pixels; at most %d per side can be read",
                            r->name, (unsigned long)width, (unsigned long)height, EX_IMAGE_MAX);
    if ((uint64_t)width * height > EX_IMAGE_PIXELS)
        return ex_error_set(r->error, EX_ERROR_LIMIT,
                            "%s: has %lu x %lu pixels; at most %d in all can be read: make the picture smaller",
                            r->name, (unsigned long)width, (unsigned long)height, EX_IMAGE_PIXELS);
    r->facts.width = (int)width;
    r->facts.height = (int)height;
    return EX_OK;
}

ex_result exi_image_check_density(const exi_image_reader *r, int per_byte) {
    const uint64_t pixels = (uint64_t)r->facts.width * (uint64_t)r->facts.height;
    if (pixels <= EX_IMAGE_PIXELS_SURE || pixels / (uint64_t)per_byte <= r->size)
        return EX_OK;
    return ex_error_set(r->error, EX_ERROR_LIMIT,
                        "%s: has %d x %d pixels in %zu bytes, and would take %.0f MB of memory; a file of more than "
                        "%d pixels needs a byte for every %d of them: make the picture smaller",
                        r->name, r->facts.width, r->facts.height, r->size, (double)pixels * 4 / 1e6,
                        EX_IMAGE_PIXELS_SURE, per_byte);
}

/* ---- entry points ---- */

static bool begins_with(const exi_image_reader *r, const char *start, size_t size) {
    return r->size >= size && memcmp(r->bytes, start, size) == 0;
}

static ex_result read_any(exi_image_reader *r) {
    const bool jpeg = begins_with(r, "\xFF\xD8\xFF", 3);
    ex_result result;
    if (jpeg)
        result = exi_jpeg_read(r);
    else if (begins_with(r, "\x89PNG\r\n\x1A\n", 8))
        result = exi_png_read(r);
    else
        result = ex_error_set(r->error, EX_ERROR_FORMAT,
                              "%s: is not a PNG or JPEG file: export the picture as one of them", r->name);
    if (result != EX_OK) {
        ex_image_destroy(r->image);
        r->image = NULL;
    }
    return exi_foreign_explain(r->error, result, EXI_CONTENT_IMAGE, r->name, jpeg ? ".jpg" : ".png", r->bytes, r->size);
}

ex_result ex_image_parse(const void *bytes, size_t size, const char *name, ex_image **image, ex_error *error) {
    exi_image_reader r = {.bytes = bytes ? bytes : "", .size = size, .name = name, .error = error};
    const ex_result result = read_any(&r);
    *image = r.image;
    return result;
}

ex_result ex_image_read(const char *path, ex_image **image, ex_error *error) {
    *image = NULL;
    char *bytes;
    size_t size;
    ex_result result = ex_file_read(path, &bytes, &size, error);
    if (result != EX_OK)
        return result;
    result = ex_image_parse(bytes, size, path, image, error);
    free(bytes);
    return result;
}

ex_result ex_image_measure(const char *path, ex_image_facts *facts, ex_error *error) {
    *facts = (ex_image_facts){0};
    char *bytes;
    size_t size;
    ex_result result = ex_file_read(path, &bytes, &size, error);
    if (result != EX_OK)
        return result;
    exi_image_reader r = {.bytes = (unsigned char *)bytes, .size = size, .name = path, .looks = true, .error = error};
    result = read_any(&r);
    if (result == EX_OK)
        *facts = r.facts;
    free(bytes);
    return result;
}
