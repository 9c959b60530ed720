/*
 * Reads PNG files of any kind with libpng, as red green blue alpha of 8 bits.
 *
 * The bytes are used unchanged: chunks about gamma and colour profiles are ignored, as glTF requires for textures and
 * as every painting program writes sRGB. The header is read here first, so that a file that claims more pixels than its
 * bytes could or should hold is refused before any memory is allocated. On errors libpng leaves by longjmp; everything
 * that must survive that is in one struct, and until then only libpng allocates.
 */
#include "author/base/array.h"
#include "author/formats/foreign.h"
#include "runtime/base/result.h"

#include <exemplar/author/files.h>
#include <exemplar/author/image.h>

#include <png.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Signature, then the first chunk: length, "IHDR", 13 bytes, checksum. */
enum { SIGNATURE_SIZE = 8, HEAD_SIZE = SIGNATURE_SIZE + 8 + 13 + 4 };

/* Deflate expands one byte to at most this many. */
enum { MOST_EXPANSION = 1032 };

typedef struct reader {
    const unsigned char *at, *end;
    const char *name;
    uint32_t width, height;
    unsigned char *pixels; /* all rows; or one, if the pixels are only looked at */
    bool looks, opaque;
    bool out_of_memory;
    char reason[128]; /* from libpng */
    ex_error *error;
} reader;

/* ---- callbacks of libpng ---- */

static void take_bytes(png_structp png, png_bytep bytes, size_t size) {
    reader *r = png_get_io_ptr(png);
    if (size > (size_t)(r->end - r->at))
        png_error(png, "the file ends too early");
    memcpy(bytes, r->at, size);
    r->at += size;
}

static png_voidp take_memory(png_structp png, png_alloc_size_t size) {
    reader *r = png_get_mem_ptr(png);
    void *memory = malloc(size);
    r->out_of_memory = r->out_of_memory || !memory;
    return memory;
}

static void give_memory(png_structp png, png_voidp memory) {
    (void)png;
    free(memory);
}

static void leave(png_structp png, png_const_charp reason) {
    reader *r = png_get_error_ptr(png);
    snprintf(r->reason, sizeof r->reason, "%s", reason);
    png_longjmp(png, 1);
}

static void stay_silent(png_structp png, png_const_charp reason) {
    (void)png;
    (void)reason;
}

/* ---- the header ---- */

static uint32_t big_endian(const unsigned char *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static ex_result refuse(const reader *r, const char *what) {
    return ex_error_set(r->error, EX_ERROR_FORMAT, "%s: %s: export the picture as PNG again", r->name, what);
}

static ex_result no_memory(const reader *r) {
    return ex_error_set(r->error, EX_ERROR_MEMORY, "%s: not enough memory for %lu x %lu pixels", r->name,
                        (unsigned long)r->width, (unsigned long)r->height);
}

/* Refuses to fill much memory from a small file. */
static ex_result check_density(const reader *r, size_t size) {
    const uint64_t pixels = (uint64_t)r->width * r->height;
    if (r->looks || pixels <= EX_IMAGE_PIXELS_SURE || pixels / EX_IMAGE_PIXELS_PER_BYTE <= size)
        return EX_OK;
    return ex_error_set(r->error, EX_ERROR_LIMIT,
                        "%s: has %lu x %lu pixels in %zu bytes, and would take %.0f MB of memory; a file of more than "
                        "%d pixels needs a byte for every %d of them: make the picture smaller",
                        r->name, (unsigned long)r->width, (unsigned long)r->height, size, (double)pixels * 4 / 1e6,
                        EX_IMAGE_PIXELS_SURE, EX_IMAGE_PIXELS_PER_BYTE);
}

/* Bits per pixel by colour type; 0 for an unknown type. */
static uint32_t pixel_bits(unsigned kind, unsigned depth) {
    static const unsigned char channels[] = {1, 0, 3, 1, 2, 0, 4};
    return kind < sizeof channels ? (uint32_t)channels[kind] * depth : 0;
}

static ex_result read_head(reader *r) {
    const size_t size = (size_t)(r->end - r->at);
    if (size < SIGNATURE_SIZE || png_sig_cmp(r->at, 0, SIGNATURE_SIZE) != 0)
        return refuse(r, "is not a PNG file");
    const unsigned char *chunk = r->at + SIGNATURE_SIZE;
    if (size < HEAD_SIZE || memcmp(chunk + 4, "IHDR", 4) != 0)
        return refuse(r, "is a damaged PNG file whose header is missing or cut short");
    const uint32_t width = r->width = big_endian(chunk + 8), height = r->height = big_endian(chunk + 12);
    if (width == 0 || height == 0)
        return refuse(r, "is a PNG file without pixels");
    if (width > EX_IMAGE_MAX || height > EX_IMAGE_MAX)
        return ex_error_set(r->error, EX_ERROR_LIMIT, "%s: has %lu x %lu pixels; at most %d per side can be read",
                            r->name, (unsigned long)width, (unsigned long)height, EX_IMAGE_MAX);
    if ((uint64_t)width * height > EX_IMAGE_PIXELS)
        return ex_error_set(r->error, EX_ERROR_LIMIT,
                            "%s: has %lu x %lu pixels; at most %d in all can be read: make the picture smaller",
                            r->name, (unsigned long)width, (unsigned long)height, EX_IMAGE_PIXELS);
    const uint32_t bits = pixel_bits(chunk[17], chunk[16]);
    if (bits == 0)
        return refuse(r, "is a damaged PNG file with an unknown kind of colour");
    if (((uint64_t)width * bits + 7) / 8 * height / MOST_EXPANSION > size)
        return refuse(r, "is a damaged PNG file that has far too few bytes for its size in pixels");
    return check_density(r, size);
}

/* ---- the pixels ---- */

/* Reads the rows of each pass as the file has them, into one row. Leaves by longjmp. */
static void look_at_rows(png_structp png, png_infop info, reader *r) {
    const bool passes = png_get_interlace_type(png, info) != PNG_INTERLACE_NONE;
    r->opaque = true;
    for (int pass = 0; pass < (passes ? PNG_INTERLACE_ADAM7_PASSES : 1); pass++) {
        const int width = passes ? PNG_PASS_COLS((int)r->width, pass) : (int)r->width;
        const int height = passes ? PNG_PASS_ROWS((int)r->height, pass) : (int)r->height;
        for (int y = 0; width > 0 && y < height; y++) {
            png_read_row(png, r->pixels, NULL);
            for (size_t x = 0; x < (size_t)width; x++)
                r->opaque = r->opaque && r->pixels[4 * x + 3] == 255;
        }
    }
}

/* Leaves by longjmp if the file is invalid. */
static void read_rows(png_structp png, png_infop info, reader *r) {
    png_set_user_limits(png, EX_IMAGE_MAX, EX_IMAGE_MAX);
    /* Ignores all chunks except those that pixels need: header, palette, transparency, data, end. */
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
    png_read_info(png, info);
    png_set_expand(png);
    png_set_scale_16(png);
    png_set_gray_to_rgb(png);
    png_set_add_alpha(png, 0xFF, PNG_FILLER_AFTER);
    const int pass_count = r->looks ? 0 : png_set_interlace_handling(png);
    png_read_update_info(png, info);
    const size_t row_size = 4 * (size_t)r->width;
    if (png_get_rowbytes(png, info) != row_size)
        png_error(png, "rows of an unexpected length");
    if (r->looks)
        look_at_rows(png, info, r);
    for (int pass = 0; pass < pass_count; pass++)
        for (size_t y = 0; y < r->height; y++)
            png_read_row(png, r->pixels + y * row_size, NULL);
    png_read_end(png, NULL);
}

/* No variable here changes after setjmp, so none needs to be volatile. */
static bool read_all(png_structp png, png_infop info, reader *r) {
    if (setjmp(png_jmpbuf(png)))
        return false;
    read_rows(png, info, r);
    return true;
}

static ex_result read_pixels(reader *r) {
    png_structp png =
        png_create_read_struct_2(PNG_LIBPNG_VER_STRING, r, leave, stay_silent, r, take_memory, give_memory);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    bool done = false;
    if (info) {
        png_set_read_fn(png, r, take_bytes);
        done = read_all(png, info, r);
    }
    png_destroy_read_struct(&png, &info, NULL);
    /* libpng continues without chunks that it considers unimportant. */
    if (r->out_of_memory)
        return no_memory(r);
    if (!done)
        return ex_error_set(r->error, EX_ERROR_FORMAT,
                            "%s: is a damaged PNG file (%s): export the picture as PNG again", r->name, r->reason);
    return EX_OK;
}

/* ---- entry points ---- */

/* Reads the file with memory that belongs to the image, or with a row of its own. */
static ex_result read_png(reader *r, ex_image **image) {
    unsigned char *row = NULL;
    ex_result result = read_head(r);
    if (result != EX_OK)
        return result;
    if (r->looks)
        r->pixels = row = exi_array_allocate(r->width, 4);
    else if ((*image = ex_image_create((int)r->width, (int)r->height)) != NULL)
        r->pixels = (*image)->pixels;
    result = r->pixels ? read_pixels(r) : no_memory(r);
    free(row);
    return result;
}

ex_result ex_image_parse(const void *bytes, size_t size, const char *name, ex_image **image, ex_error *error) {
    *image = NULL;
    bytes = bytes ? bytes : "";
    reader r = {.at = bytes, .end = (const unsigned char *)bytes + size, .name = name, .error = error};
    const ex_result result = read_png(&r, image);
    if (result != EX_OK) {
        ex_image_destroy(*image);
        *image = NULL;
    }
    return exi_foreign_explain(error, result, EXI_CONTENT_IMAGE, name, ".png", bytes, size);
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
    reader r = {.at = (unsigned char *)bytes,
                .end = (unsigned char *)bytes + size,
                .name = path,
                .looks = true,
                .error = error};
    result = read_png(&r, NULL);
    if (result == EX_OK)
        *facts = (ex_image_facts){(int)r.width, (int)r.height, r.opaque};
    result = exi_foreign_explain(error, result, EXI_CONTENT_IMAGE, path, ".png", bytes, size);
    free(bytes);
    return result;
}
