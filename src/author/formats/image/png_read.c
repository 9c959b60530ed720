/*
 * Reads PNG files of any kind with libpng, as red green blue alpha of 8 bits.
 *
 * The bytes are used unchanged: chunks about gamma and colour profiles are ignored, as glTF requires for textures and
 * as every painting program writes sRGB. The header is read here first, so that a file that claims more pixels than its
 * bytes could or should hold is refused before any memory is allocated. On errors libpng leaves by longjmp; everything
 * that must survive that is in one struct, and until then only libpng allocates.
 */
#include "author/base/array.h"
#include "author/formats/image/image_reader.h"
#include "runtime/base/result.h"

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
    exi_image_reader *job;
    const unsigned char *at, *end;
    unsigned char *pixels; /* all rows; or one, if the pixels are only looked at */
    bool out_of_memory;
    char reason[128]; /* from libpng */
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

/* Bits per pixel by colour type; 0 for an unknown type. */
static uint32_t pixel_bits(unsigned kind, unsigned depth) {
    static const unsigned char channels[] = {1, 0, 3, 1, 2, 0, 4};
    return kind < sizeof channels ? (uint32_t)channels[kind] * depth : 0;
}

static ex_result refuse(const exi_image_reader *job, const char *what) {
    return exi_image_refuse(job, what, "PNG");
}

static ex_result read_head(exi_image_reader *job) {
    const unsigned char *chunk = job->bytes + SIGNATURE_SIZE;
    if (job->size < HEAD_SIZE || memcmp(chunk + 4, "IHDR", 4) != 0)
        return refuse(job, "is a damaged PNG file whose header is missing or cut short");
    const uint32_t width = big_endian(chunk + 8), height = big_endian(chunk + 12);
    const ex_result result = exi_image_set_size(job, width, height, "PNG");
    if (result != EX_OK)
        return result;
    const uint32_t bits = pixel_bits(chunk[17], chunk[16]);
    if (bits == 0)
        return refuse(job, "is a damaged PNG file with an unknown kind of colour");
    if (((uint64_t)width * bits + 7) / 8 * height / MOST_EXPANSION > job->size)
        return refuse(job, "is a damaged PNG file that has far too few bytes for its size in pixels");
    return job->looks ? EX_OK : exi_image_check_density(job, EX_IMAGE_PIXELS_PER_BYTE);
}

/* ---- the pixels ---- */

/* Reads the rows of each pass as the file has them, into one row. Leaves by longjmp. */
static void look_at_rows(png_structp png, png_infop info, reader *r) {
    const bool passes = png_get_interlace_type(png, info) != PNG_INTERLACE_NONE;
    r->job->facts.opaque = true;
    for (int pass = 0; pass < (passes ? PNG_INTERLACE_ADAM7_PASSES : 1); pass++) {
        const int width = passes ? PNG_PASS_COLS(r->job->facts.width, pass) : r->job->facts.width;
        const int height = passes ? PNG_PASS_ROWS(r->job->facts.height, pass) : r->job->facts.height;
        for (int y = 0; width > 0 && y < height; y++) {
            png_read_row(png, r->pixels, NULL);
            for (size_t x = 0; x < (size_t)width; x++)
                r->job->facts.opaque = r->job->facts.opaque && r->pixels[4 * x + 3] == 255;
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
    const int pass_count = r->job->looks ? 0 : png_set_interlace_handling(png);
    png_read_update_info(png, info);
    const size_t row_size = 4 * (size_t)r->job->facts.width;
    if (png_get_rowbytes(png, info) != row_size)
        png_error(png, "rows of an unexpected length");
    if (r->job->looks)
        look_at_rows(png, info, r);
    for (int pass = 0; pass < pass_count; pass++)
        for (size_t y = 0; y < (size_t)r->job->facts.height; y++)
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
        return exi_image_no_memory(r->job);
    if (!done)
        return ex_error_set(r->job->error, EX_ERROR_FORMAT,
                            "%s: is a damaged PNG file (%s): export the picture as PNG again", r->job->name, r->reason);
    return EX_OK;
}

/* Reads the file with memory that belongs to the image, or with a row of its own. */
ex_result exi_png_read(exi_image_reader *job) {
    unsigned char *row = NULL;
    reader r = {.job = job, .at = job->bytes, .end = job->bytes + job->size};
    ex_result result = read_head(job);
    if (result != EX_OK)
        return result;
    if (job->looks)
        r.pixels = row = exi_array_allocate((size_t)job->facts.width, 4);
    else if ((job->image = ex_image_create(job->facts.width, job->facts.height)) != NULL)
        r.pixels = job->image->pixels;
    result = r.pixels ? read_pixels(&r) : exi_image_no_memory(job);
    free(row);
    return result;
}
