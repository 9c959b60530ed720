/*
 * Writes animated PNG files (PNG, third edition, 2025: acTL, fcTL and fdAT).
 *
 * The first frame is the picture that programs without animation show. Each later one is drawn over what is there:
 * only the rectangle that changes is stored, and in it the pixels that stay are transparent. So long runs of them are
 * equal, and pack well. With a palette, transparent is number 0.
 *
 * A pixel of a palette keeps its colour while that is nearly as close to the new one as the palette comes. Without
 * that, noise below what can be seen would change pixels all over a form from frame to frame.
 *
 * If a frame lets the background through, "over" could not remove a pixel: rectangles then replace what is there.
 */
#include "author/formats/image/palette.h"
#include "author/formats/image/png_writer.h"

#include "author/base/array.h"
#include "runtime/base/result.h"

#include <exemplar/author/files.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEVEL = 9, CLEAR = 0, DISPOSE_NONE = 0, BLEND_SOURCE = 0, BLEND_OVER = 1 };

/* Slack of a squared distance (palette.c) beyond the least one: up to it, a pixel stays as it is from frame to frame,
 * or takes the colour of its neighbour. About two codes of every channel, and one. */
#define STAY  36
#define ALIKE 8

struct ex_animation {
    ex_animation_def def;
    ex_file_writer writer;
    int frame_count;        /* written */
    uint32_t sequence;      /* of fcTL and fdAT chunks */
    exi_palette palette;    /* its number i is i + 1 in the file */
    unsigned char *canvas;  /* [height][width] numbers, or [height][width][4]: what the viewer has */
    unsigned char *changed; /* the same: the frame with CLEAR where it does not change */
};

typedef struct area {
    int x, y, width, height;
} area;

/* ---- chunks ---- */

static void put_u32(unsigned char *to, uint32_t value) {
    for (int i = 0; i < 4; i++)
        to[i] = (unsigned char)(value >> (24 - 8 * i) & 255);
}

static void put_u16(unsigned char *to, unsigned value) {
    to[0] = (unsigned char)(value >> 8 & 255);
    to[1] = (unsigned char)(value & 255);
}

/* The checksum of PNG (ISO 3309), four bits at a time; starts and ends inverted. */
static uint32_t checksum(uint32_t sum, const unsigned char *bytes, size_t size) {
    static const uint32_t table[16] = {0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC, 0x76DC4190, 0x6B6B51F4,
                                       0x4DB26158, 0x5005713C, 0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C,
                                       0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C};
    for (size_t i = 0; i < size; i++) {
        sum ^= bytes[i];
        sum = sum >> 4 ^ table[sum & 15];
        sum = sum >> 4 ^ table[sum & 15];
    }
    return sum;
}

/* Writes a chunk whose contents are two runs of bytes. */
static void put_chunk(ex_animation *a, const char kind[5], const void *first, size_t first_size, const void *second,
                      size_t second_size) {
    unsigned char head[8], end[4];
    put_u32(head, (uint32_t)(first_size + second_size));
    memcpy(head + 4, kind, 4);
    uint32_t sum = checksum(0xFFFFFFFFu, head + 4, 4);
    sum = checksum(checksum(sum, first, first_size), second, second_size);
    put_u32(end, ~sum);
    ex_file_write(&a->writer, head, sizeof head);
    ex_file_write(&a->writer, first, first_size);
    ex_file_write(&a->writer, second, second_size);
    ex_file_write(&a->writer, end, sizeof end);
}

static void put_start(ex_animation *a) {
    static const unsigned char mark[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
    unsigned char head[13] = {0}, play[8];
    ex_file_write(&a->writer, mark, sizeof mark);
    put_u32(head, (uint32_t)a->def.width);
    put_u32(head + 4, (uint32_t)a->def.height);
    head[8] = 8;
    head[9] = a->def.full ? EXI_PNG_RGBA : EXI_PNG_PALETTE;
    put_chunk(a, "IHDR", head, sizeof head, head, 0);
    put_u32(play, (uint32_t)a->def.frame_count);
    put_u32(play + 4, 0); /* without end */
    put_chunk(a, "acTL", play, sizeof play, play, 0);
    if (!a->def.full) {
        const unsigned char black[3] = {0, 0, 0}, clear[1] = {0};
        put_chunk(a, "PLTE", black, 3, a->palette.colours, 3 * (size_t)a->palette.count);
        put_chunk(a, "tRNS", clear, 1, clear, 0);
    }
}

/* The time of a frame as a fraction of seconds, both 16 bits. */
static void delay_of(double rate, unsigned *part, unsigned *whole) {
    double scale = 1000;
    while (scale > 1 && rate * scale > 65535)
        scale /= 10;
    if (rate == floor(rate))
        scale = 1;
    *part = (unsigned)scale;
    *whole = (unsigned)(rate * scale + 0.5);
}

static void put_control(ex_animation *a, area r, int blend) {
    unsigned char body[26];
    unsigned part, whole;
    delay_of(a->def.rate, &part, &whole);
    put_u32(body, a->sequence++);
    put_u32(body + 4, (uint32_t)r.width);
    put_u32(body + 8, (uint32_t)r.height);
    put_u32(body + 12, (uint32_t)r.x);
    put_u32(body + 16, (uint32_t)r.y);
    put_u16(body + 20, part);
    put_u16(body + 22, whole);
    body[24] = DISPOSE_NONE;
    body[25] = (unsigned char)blend;
    put_chunk(a, "fcTL", body, sizeof body, body, 0);
}

/* Writes the compressed rows of a PNG file in memory, as IDAT for the first frame, else as fdAT. */
static void put_data(ex_animation *a, const unsigned char *bytes, size_t size) {
    for (size_t at = 8; at + 12 <= size;) {
        const size_t length =
            (size_t)bytes[at] << 24 | (size_t)bytes[at + 1] << 16 | (size_t)bytes[at + 2] << 8 | bytes[at + 3];
        if (memcmp(bytes + at + 4, "IDAT", 4) == 0 && a->frame_count == 0) {
            put_chunk(a, "IDAT", bytes + at + 8, length, bytes, 0);
        } else if (memcmp(bytes + at + 4, "IDAT", 4) == 0) {
            unsigned char number[4];
            put_u32(number, a->sequence++);
            put_chunk(a, "fdAT", number, sizeof number, bytes + at + 8, length);
        }
        at += 12 + length;
    }
}

static ex_result put_frame(ex_animation *a, const unsigned char *pixels, area r, int blend, ex_error *error) {
    const size_t bytes_each = a->def.full ? 4 : 1, stride = bytes_each * (size_t)a->def.width;
    const exi_png picture = {.width = r.width,
                             .height = r.height,
                             .kind = a->def.full ? EXI_PNG_RGBA : EXI_PNG_PALETTE,
                             .pixels = pixels + (size_t)r.y * stride + (size_t)r.x * bytes_each,
                             .stride = stride,
                             .level = LEVEL};
    unsigned char *bytes;
    size_t size;
    ex_result result = exi_png_encode(&picture, &bytes, &size, error);
    if (result != EX_OK)
        return result;
    put_control(a, r, blend);
    put_data(a, bytes, size);
    free(bytes);
    return EX_OK;
}

/* ---- frames ---- */

/* True if a number of the file shows a colour nearly as well as the best can. */
static bool will_do(const ex_animation *a, const unsigned char *rgb, unsigned char number, int least, int slack) {
    return number != CLEAR && exi_palette_distance(rgb, a->palette.colours[number - 1]) <= least + slack;
}

/* The number in the file of a pixel's colour: that of the viewer's pixel, or of the pixel to its left, if it will do.
 */
static unsigned char number_of(ex_animation *a, const unsigned char *rgb, unsigned char now, unsigned char left) {
    const int found = exi_palette_find(&a->palette, rgb);
    const int least = exi_palette_distance(rgb, a->palette.colours[found]);
    if (will_do(a, rgb, now, least, STAY))
        return now;
    return will_do(a, rgb, left, least, ALIKE) ? left : (unsigned char)(found + 1);
}

static void widen(area *r, int x, int y) {
    const int right = r->x + r->width, bottom = r->y + r->height;
    if (r->width == 0) {
        *r = (area){x, y, 1, 1};
        return;
    }
    r->x = x < r->x ? x : r->x;
    r->y = y < r->y ? y : r->y;
    r->width = (x + 1 > right ? x + 1 : right) - r->x;
    r->height = (y + 1 > bottom ? y + 1 : bottom) - r->y;
}

/* Puts what changes into `changed`, and the new picture into `canvas`. Returns the rectangle, empty if nothing does. */
static area compare_numbers(ex_animation *a, const ex_image *frame) {
    area r = {0, 0, 0, 0};
    size_t i = 0;
    for (int y = 0; y < a->def.height; y++)
        for (int x = 0; x < a->def.width; x++, i++) {
            const unsigned char number =
                number_of(a, frame->pixels + 4 * i, a->canvas[i], x > 0 ? a->canvas[i - 1] : CLEAR);
            a->changed[i] = number == a->canvas[i] ? CLEAR : number;
            a->canvas[i] = number;
            if (a->changed[i] != CLEAR)
                widen(&r, x, y);
        }
    return r;
}

/* The same with full colours. *clear is true if the frame lets the background through somewhere. */
static area compare_colours(ex_animation *a, const ex_image *frame, bool *clear) {
    area r = {0, 0, 0, 0};
    size_t i = 0;
    *clear = false;
    for (int y = 0; y < a->def.height; y++)
        for (int x = 0; x < a->def.width; x++, i += 4) {
            const unsigned char *pixel = frame->pixels + i;
            *clear = *clear || pixel[3] != 255;
            if (memcmp(pixel, a->canvas + i, 4) == 0) {
                memset(a->changed + i, CLEAR, 4);
                continue;
            }
            memcpy(a->changed + i, pixel, 4);
            memcpy(a->canvas + i, pixel, 4);
            widen(&r, x, y);
        }
    return r;
}

ex_result ex_animation_add(ex_animation *a, const ex_image *frame, ex_error *error) {
    if (!a || !frame || !frame->pixels)
        return exi_misuse_error(error, __func__, "no animation or no frame");
    if (frame->width != a->def.width || frame->height != a->def.height)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "frame %d has %d by %d pixels, but the animation has %d by %d",
                            a->frame_count + 1, frame->width, frame->height, a->def.width, a->def.height);
    if (a->frame_count >= a->def.frame_count)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "the animation has %d frames: there is no room for another",
                            a->def.frame_count);
    const bool first = a->frame_count == 0;
    bool clear = false;
    area r = a->def.full ? compare_colours(a, frame, &clear) : compare_numbers(a, frame);
    if (first)
        r = (area){0, 0, a->def.width, a->def.height};
    else if (r.width == 0)
        r = (area){0, 0, 1, 1};
    const bool replace = first || clear;
    const ex_result result =
        put_frame(a, replace ? a->canvas : a->changed, r, replace ? BLEND_SOURCE : BLEND_OVER, error);
    a->frame_count++;
    return result;
}

/* ---- start and end ---- */

static ex_result check(const ex_animation_def *def, ex_error *error) {
    if (def->width < 1 || def->height < 1 || def->width > EX_IMAGE_MAX || def->height > EX_IMAGE_MAX)
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "an animation cannot have %d by %d pixels: each side must be from 1 to %d", def->width,
                            def->height, EX_IMAGE_MAX);
    if (def->frame_count < 1 || def->frame_count > EX_ANIMATION_FRAME_MAX)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "an animation cannot have %d frames: use 1 to %d",
                            def->frame_count, EX_ANIMATION_FRAME_MAX);
    if (!(def->rate >= EX_ANIMATION_RATE_MIN && def->rate <= EX_ANIMATION_RATE_MAX))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "%g frames per second are not possible: use %g to %d", def->rate,
                            EX_ANIMATION_RATE_MIN, EX_ANIMATION_RATE_MAX);
    if (!def->full && (def->sample_count < 1 || !def->samples))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "a palette needs at least one frame to choose its colours from");
    return EX_OK;
}

void ex_animation_abandon(ex_animation *a) {
    if (!a)
        return;
    ex_file_abandon(&a->writer);
    free(a->canvas);
    free(a->changed);
    free(a);
}

ex_result ex_animation_open(const ex_animation_def *def, const char *path, ex_animation **animation, ex_error *error) {
    if (!def || !path || !animation)
        return exi_misuse_error(error, __func__, "def, path or animation is NULL");
    *animation = NULL;
    ex_result result = check(def, error);
    if (result != EX_OK)
        return result;
    const size_t size = (size_t)def->width * (size_t)def->height, each = def->full ? 4 : 1;
    ex_animation *a = malloc(sizeof *a);
    if (!a)
        return ex_error_memory(error, "an animation", sizeof *a);
    memset(a, 0, sizeof *a);
    a->def = *def;
    a->def.samples = NULL;
    a->canvas = calloc(size, each);
    a->changed = exi_array_allocate(size, each);
    result = a->canvas && a->changed ? EX_OK : ex_error_memory(error, "an animation", 2 * size * each);
    if (result == EX_OK && !def->full)
        result = exi_palette_choose(&a->palette, 255, def->sample_count, def->samples, error);
    if (result == EX_OK)
        result = ex_file_open_bulk(&a->writer, path, error);
    if (result != EX_OK) {
        ex_animation_abandon(a);
        return result;
    }
    put_start(a);
    *animation = a;
    return EX_OK;
}

ex_result ex_animation_close(ex_animation *a, ex_error *error) {
    if (!a)
        return exi_misuse_error(error, __func__, "no animation");
    ex_result result = EX_OK;
    if (a->frame_count < a->def.frame_count) {
        result = ex_error_set(error, EX_ERROR_ARGUMENT, "the animation has %d of %d frames", a->frame_count,
                              a->def.frame_count);
    } else {
        put_chunk(a, "IEND", "", 0, "", 0);
        result = ex_file_commit(&a->writer, error);
    }
    ex_animation_abandon(a);
    return result;
}
