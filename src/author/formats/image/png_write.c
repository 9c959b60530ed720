/*
 * Writes PNG files with libpng: 8 bits, red green blue, with alpha if a pixel needs it. The same pixels give the same
 * bytes: no chunk holds a time or a program name, and compression level and filters are fixed.
 */
#include "author/formats/image/png_writer.h"

#include "author/base/array.h"
#include "runtime/base/result.h"

#include <exemplar/author/files.h>
#include <exemplar/author/image.h>

#include <png.h>

#include <stdlib.h>
#include <string.h>

/* zlib level, 0 to 9. Higher levels hardly make files smaller. */
enum { COMPRESSION_LEVEL = 6 };

/* Everything that must survive a longjmp of libpng. */
typedef struct sheet {
    unsigned char *bytes;
    size_t size, capacity;
} sheet;

/* ---- callbacks of libpng ---- */

static void put_bytes(png_structp png, png_bytep bytes, size_t size) {
    sheet *s = png_get_io_ptr(png);
    unsigned char *grown = exi_array_grow(s->bytes, &s->capacity, s->size + size, 1);
    if (!grown)
        png_error(png, "not enough memory");
    s->bytes = grown;
    memcpy(s->bytes + s->size, bytes, size);
    s->size += size;
}

static void flush_nothing(png_structp png) {
    (void)png;
}

static png_voidp take_memory(png_structp png, png_alloc_size_t size) {
    (void)png;
    return malloc(size);
}

static void give_memory(png_structp png, png_voidp memory) {
    (void)png;
    free(memory);
}

static void leave(png_structp png, png_const_charp reason) {
    (void)reason;
    png_longjmp(png, 1);
}

static void stay_silent(png_structp png, png_const_charp reason) {
    (void)png;
    (void)reason;
}

/* ---- the file ---- */

static bool is_opaque(const ex_image *image) {
    const size_t count = (size_t)image->width * (size_t)image->height;
    for (size_t i = 0; i < count; i++)
        if (image->pixels[4 * i + 3] != 255)
            return false;
    return true;
}

/* Leaves by longjmp if memory runs out. */
static void write_rows(png_structp png, png_infop info, const exi_png *picture) {
    const bool indexed = picture->kind == EXI_PNG_PALETTE;
    png_set_user_limits(png, EX_IMAGE_MAX, EX_IMAGE_MAX);
    png_set_compression_level(png, picture->level);
    /* Neighbouring numbers of colours have nothing in common. */
    png_set_filter(png, PNG_FILTER_TYPE_BASE, indexed ? PNG_FILTER_NONE : PNG_ALL_FILTERS);
    png_set_IHDR(png, info, (png_uint_32)picture->width, (png_uint_32)picture->height, 8, (int)picture->kind,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (indexed) {
        png_color greys[256];
        for (int i = 0; i < 256; i++)
            greys[i].red = greys[i].green = greys[i].blue = (png_byte)i;
        png_set_PLTE(png, info, greys, 256);
    }
    png_write_info(png, info);
    if (picture->kind == EXI_PNG_RGB)
        png_set_filler(png, 0, PNG_FILLER_AFTER);
    for (size_t y = 0; y < (size_t)picture->height; y++)
        png_write_row(png, picture->pixels + y * picture->stride);
    png_write_end(png, info);
}

/* Nothing here changes after setjmp, so nothing needs to be volatile. */
static bool write_all(png_structp png, png_infop info, const exi_png *picture) {
    if (setjmp(png_jmpbuf(png)))
        return false;
    write_rows(png, info, picture);
    return true;
}

ex_result exi_png_encode(const exi_png *picture, unsigned char **bytes, size_t *size, ex_error *error) {
    *bytes = NULL;
    *size = 0;
    sheet s = {0};
    png_structp png =
        png_create_write_struct_2(PNG_LIBPNG_VER_STRING, &s, leave, stay_silent, &s, take_memory, give_memory);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    bool done = false;
    if (info) {
        png_set_write_fn(png, &s, put_bytes, flush_nothing);
        done = write_all(png, info, picture);
    }
    png_destroy_write_struct(&png, &info);
    if (!done) {
        /* With 8-bit rows of a checked size, nothing else can go wrong. */
        free(s.bytes);
        return ex_error_memory(error, "a PNG file", 4 * (size_t)picture->width * (size_t)picture->height);
    }
    *bytes = s.bytes;
    *size = s.size;
    return EX_OK;
}

static bool has_pixels(const ex_image *image) {
    return image && image->pixels && image->width >= 1 && image->height >= 1 && image->width <= EX_IMAGE_MAX &&
           image->height <= EX_IMAGE_MAX;
}

ex_result ex_image_encode(const ex_image *image, unsigned char **bytes, size_t *size, ex_error *error) {
    *bytes = NULL;
    *size = 0;
    if (!has_pixels(image))
        return exi_misuse_error(error, __func__, "no image, or one of no or of too many pixels");
    const exi_png picture = {.width = image->width,
                             .height = image->height,
                             .kind = is_opaque(image) ? EXI_PNG_RGB : EXI_PNG_RGBA,
                             .pixels = image->pixels,
                             .stride = 4 * (size_t)image->width,
                             .level = COMPRESSION_LEVEL};
    return exi_png_encode(&picture, bytes, size, error);
}

ex_result ex_image_write(const char *path, const ex_image *image, ex_error *error) {
    unsigned char *bytes;
    size_t size;
    ex_result result = ex_image_encode(image, &bytes, &size, error);
    if (result != EX_OK)
        return ex_error_within(error, result, "cannot write '%s'", path);
    ex_file_writer writer;
    result = ex_file_open_bulk(&writer, path, error);
    if (result == EX_OK) {
        ex_file_write(&writer, bytes, size);
        result = ex_file_commit(&writer, error);
    }
    free(bytes);
    return result;
}
