/*
 * PNG: files of every kind of colour, depth and interlacing, assembled here byte by byte; colours taken as they are;
 * every error with its sentence; truncation and damage at every byte; round trips; failing memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <exemplar/author/image.h>

#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/scratch.h"

/* ---- files made by hand ---- */

enum { FILE_MAX = 1 << 16, GREY = 0, RGB = 2, PALETTE = 3, GREY_ALPHA = 4, RGBA = 6, MOST_COLOURS = 256 };

typedef struct png {
    unsigned char bytes[FILE_MAX];
    size_t size;
} png;

static void put(png *p, const void *bytes, size_t size) {
    assert_true(p->size + size <= FILE_MAX);
    memcpy(p->bytes + p->size, bytes, size);
    p->size += size;
}

static void put_u32(png *p, uint32_t value) {
    const unsigned char bytes[4] = {(unsigned char)(value >> 24), (unsigned char)(value >> 16 & 255),
                                    (unsigned char)(value >> 8 & 255), (unsigned char)(value & 255)};
    put(p, bytes, 4);
}

/* The checksum of PNG, bit by bit. */
static uint32_t checksum(const unsigned char *bytes, size_t size) {
    uint32_t sum = 0xFFFFFFFFu;
    for (size_t i = 0; i < size; i++) {
        sum ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            sum = sum & 1 ? sum >> 1 ^ 0xEDB88320u : sum >> 1;
    }
    return ~sum;
}

static void put_chunk(png *p, const char *kind, const void *bytes, size_t size) {
    put_u32(p, (uint32_t)size);
    const size_t start = p->size;
    put(p, kind, 4);
    put(p, bytes, size);
    put_u32(p, checksum(p->bytes + start, size + 4));
}

static void put_head(png *p, uint32_t width, uint32_t height, int depth, int kind, int interlaced) {
    p->size = 0;
    put(p, "\x89PNG\r\n\x1A\n", 8);
    png body = {.size = 0};
    put_u32(&body, width);
    put_u32(&body, height);
    const unsigned char rest[5] = {(unsigned char)depth, (unsigned char)kind, 0, 0, (unsigned char)interlaced};
    put(&body, rest, 5);
    put_chunk(p, "IHDR", body.bytes, body.size);
}

/* Rows in a deflate block of the kind that is not compressed, in two chunks, and the end. */
static void put_rows(png *p, const unsigned char *rows, size_t size) {
    assert_true(size < 65536);
    png data = {.size = 0};
    const unsigned char head[7] = {0x78, 1, 1, size & 255, (unsigned char)(size >> 8), ~size & 255, ~size >> 8 & 255};
    put(&data, head, 7);
    put(&data, rows, size);
    uint32_t a = 1, b = 0;
    for (size_t i = 0; i < size; i++) {
        a = (a + rows[i]) % 65521;
        b = (b + a) % 65521;
    }
    put_u32(&data, b << 16 | a);
    const size_t first = data.size / 3;
    put_chunk(p, "IDAT", data.bytes, first);
    put_chunk(p, "IDAT", data.bytes + first, data.size - first);
    put_chunk(p, "IEND", "", 0);
}

static int channels_of(int kind) {
    return kind == RGB ? 3 : kind == GREY_ALPHA ? 2 : kind == RGBA ? 4 : 1;
}

/* The pixels of one pass, which starts at x0, y0 with steps dx, dy, as rows of samples of any depth. */
static size_t pack_pass(const int *samples, int width, int height, int channels, int depth, const int pass[4],
                        unsigned char *rows) {
    size_t size = 0;
    for (int y = pass[1]; y < height && pass[0] < width; y += pass[3]) {
        rows[size++] = 0; /* no filter */
        int bits = 0;
        for (int x = pass[0]; x < width; x += pass[2])
            for (int c = 0; c < channels; c++) {
                const int sample = samples[(y * width + x) * channels + c];
                for (int bit = depth - 1; bit >= 0; bit--, bits++) {
                    if (bits % 8 == 0)
                        rows[size++] = 0;
                    rows[size - 1] = (unsigned char)(rows[size - 1] | (sample >> bit & 1) << (7 - bits % 8));
                }
            }
    }
    return size;
}

static void put_samples(png *p, const int *samples, int width, int height, int channels, int depth, bool interlaced) {
    static const int whole[4] = {0, 0, 1, 1};
    static const int passes[7][4] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
                                     {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};
    static unsigned char rows[FILE_MAX];
    size_t size = 0;
    for (int i = 0; i < (interlaced ? 7 : 1); i++)
        size += pack_pass(samples, width, height, channels, depth, interlaced ? passes[i] : whole, rows + size);
    put_rows(p, rows, size);
}

/* ---- reading ---- */

/* Parses a block of exactly this size, so that the sanitizer and valgrind see reads beyond it. */
static ex_result parse_exactly(const void *bytes, size_t size, ex_image **image, ex_error *error) {
    char *exact = malloc(size > 0 ? size : 1);
    assert_non_null(exact);
    memcpy(exact, bytes, size);
    ex_result result = ex_image_parse(exact, size, "face.png", image, error);
    free(exact);
    assert_int_equal(result == EX_OK, *image != NULL);
    return result;
}

static ex_image *must_parse(const png *p) {
    ex_image *image;
    ex_error error;
    if (parse_exactly(p->bytes, p->size, &image, &error) != EX_OK)
        fail_msg("%s", error.text);
    return image;
}

/* Facts that need no memory for the pixels are those of the pixels. */
static void check_facts(const png *p, const ex_image *image) {
    ex_image_facts facts;
    ex_error error;
    bool opaque = true;
    for (int i = 0; i < image->width * image->height; i++)
        opaque = opaque && image->pixels[4 * i + 3] == 255;
    scratch_write("facts.png", p->bytes, p->size);
    if (ex_image_measure(scratch_path("facts.png"), &facts, &error) != EX_OK)
        fail_msg("%s", error.text);
    assert_int_equal(facts.width, image->width);
    assert_int_equal(facts.height, image->height);
    assert_int_equal(facts.opaque, opaque);
}

/* A sample as 8 bits: the same fraction of the full range, rounded. */
static int as_8_bits(int sample, int depth) {
    const int full = (1 << depth) - 1;
    return (sample * 255 * 2 + full) / (2 * full);
}

static void reads_every_kind(void **state) {
    (void)state;
    static const int kinds[][2] = {{GREY, 1}, {GREY, 2},    {GREY, 4},       {GREY, 8},        {GREY, 16},
                                   {RGB, 8},  {RGB, 16},    {PALETTE, 1},    {PALETTE, 2},     {PALETTE, 4},
                                   {RGBA, 8}, {PALETTE, 8}, {GREY_ALPHA, 8}, {GREY_ALPHA, 16}, {RGBA, 16}};
    enum { WIDTH = 21, HEIGHT = 13 };
    uint64_t random = 7;
    static png p;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int variant = 0; variant < 4; variant++) {
            const bool interlaced = variant & 1, transparent = variant & 2;
            const int kind = kinds[k][0], depth = kinds[k][1], channels = channels_of(kind);
            /* A palette may be shorter than its depth allows. */
            const int colours = kind == PALETTE && depth == 8 ? 200 : 1 << depth;
            int samples[WIDTH * HEIGHT * 4];
            for (int i = 0; i < WIDTH * HEIGHT * channels; i++)
                samples[i] = (int)(random_bits(&random) >> 40) % colours;
            put_head(&p, WIDTH, HEIGHT, depth, kind, interlaced);
            unsigned char palette[MOST_COLOURS * 3], alphas[MOST_COLOURS];
            for (int i = 0; i < MOST_COLOURS * 3; i++)
                palette[i] = (unsigned char)(random_bits(&random) >> 40 & 255);
            for (int i = 0; i < MOST_COLOURS; i++)
                alphas[i] = (unsigned char)(random_bits(&random) >> 40 & 255);
            const int alpha_count = colours - 1; /* those without are opaque */
            if (kind == PALETTE)
                put_chunk(&p, "PLTE", palette, 3 * (size_t)colours);
            if (transparent && kind == PALETTE)
                put_chunk(&p, "tRNS", alphas, (size_t)alpha_count);
            /* The other kinds without alpha have one transparent colour: that of pixel 5. */
            const int *key = samples + 5 * channels;
            unsigned char key_bytes[6];
            for (int c = 0; c < channels && c < 3; c++) {
                key_bytes[2 * c] = (unsigned char)(key[c] >> 8);
                key_bytes[2 * c + 1] = (unsigned char)(key[c] & 255);
            }
            const bool keyed = transparent && (kind == GREY || kind == RGB);
            if (keyed)
                put_chunk(&p, "tRNS", key_bytes, 2 * (size_t)channels);
            put_samples(&p, samples, WIDTH, HEIGHT, channels, depth, interlaced);

            ex_image *image = must_parse(&p);
            assert_int_equal(image->width, WIDTH);
            assert_int_equal(image->height, HEIGHT);
            for (int i = 0; i < WIDTH * HEIGHT; i++) {
                const int *s = samples + i * channels;
                int expected[4];
                for (int c = 0; c < 3; c++)
                    expected[c] = kind == PALETTE ? palette[3 * s[0] + c]
                                                  : as_8_bits(s[kind == RGB || kind == RGBA ? c : 0], depth);
                expected[3] = kind == GREY_ALPHA || kind == RGBA ? as_8_bits(s[channels - 1], depth)
                              : keyed && memcmp(s, key, (size_t)channels * sizeof *s) == 0 ? 0
                              : transparent && kind == PALETTE && s[0] < alpha_count       ? alphas[s[0]]
                                                                                           : 255;
                for (int c = 0; c < 4; c++)
                    if (image->pixels[4 * i + c] != expected[c])
                        fail_msg("kind %d, %d bits, variant %d: channel %d of pixel %d is %d, not %d", kind, depth,
                                 variant, c, i, image->pixels[4 * i + c], expected[c]);
            }
            check_facts(&p, image);
            ex_image_destroy(image);
        }
}

/* A file whose colours are marked linear, or of an invalid profile, or that has a damaged note: its bytes are taken as
 * they are. */
static void takes_colours_as_they_are(void **state) {
    (void)state;
    static const unsigned char row[] = {0, 10, 128, 250, 0, 77, 255};
    static png p;
    for (int variant = 0; variant < 4; variant++) {
        put_head(&p, 2, 1, 8, RGB, 0);
        if (variant == 1)
            put_chunk(&p, "gAMA", "\0\1\x86\xA0", 4); /* 1.0 */
        if (variant == 2)
            put_chunk(&p, "iCCP", "profile\0\0nonsense", 17);
        if (variant == 3) {
            put_chunk(&p, "tEXt", "Author\0me", 9);
            p.bytes[p.size - 1] ^= 1;
        }
        put_rows(&p, row, sizeof row);
        put(&p, "what stands behind the end", 26);
        ex_image *image = must_parse(&p);
        const unsigned char expected[8] = {10, 128, 250, 255, 0, 77, 255, 255};
        assert_memory_equal(image->pixels, expected, 8);
        ex_image_destroy(image);
    }
}

/* ---- errors ---- */

static void assert_refused(const png *p, ex_result expected, const char *word) {
    ex_image *image;
    ex_error error = {.text = ""};
    assert_int_equal(parse_exactly(p->bytes, p->size, &image, &error), expected);
    assert_sentence(&error, expected, word);
    assert_sentence(&error, expected, "face.png");
    assert_int_equal(parse_exactly(p->bytes, p->size, &image, NULL), expected);
}

static void says_what_is_wrong(void **state) {
    (void)state;
    static const unsigned char row[] = {0, 1, 2, 3, 0, 4, 5, 6};
    static png p;
    p.size = 0;
    assert_refused(&p, EX_ERROR_FORMAT, "not a PNG");
    static const struct {
        const char *start, *word;
    } others[] = {
        {"RIFF\x24\1\1\1WEBPVP8 ", "this is a WebP image; an image is read from .png or .jpg. Save it as PNG"},
        {"\1\1\1\x1C"
         "ftypavif",
         "this is an AVIF image;"},
        {"\1\1\1\x1C"
         "ftypheic",
         "this is a HEIC image;"},
        {"\xABKTX 20\xBB\r\n\x1A\n", "this is a KTX2 texture;"},
        {"DDS |", "this is a DDS texture;"},
        {"GIF89a", "this is a GIF image;"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        p.size = 0;
        put(&p, others[i].start, strlen(others[i].start));
        assert_refused(&p, EX_ERROR_FORMAT, others[i].word);
    }
    p.size = 0;
    put(&p, "\x89PNG\r\n\x1A\n", 8);
    put_chunk(&p, "IEND", "", 0);
    put_chunk(&p, "IEND", "", 0);
    put_chunk(&p, "IEND", "", 0);
    assert_refused(&p, EX_ERROR_FORMAT, "head");

    static const struct {
        uint32_t width, height;
        int depth, kind, interlaced;
        ex_result result;
        const char *word;
    } heads[] = {
        {0, 2, 8, RGB, 0, EX_ERROR_FORMAT, "without pixels"},
        {2, 0, 8, RGB, 0, EX_ERROR_FORMAT, "without pixels"},
        {EX_IMAGE_MAX + 1, 1, 8, RGB, 0, EX_ERROR_LIMIT, "32769 x 1 "},
        {1, EX_IMAGE_MAX + 1, 1, GREY, 0, EX_ERROR_LIMIT, "32768"},
        {0xFFFFFFFFu, 0xFFFFFFFFu, 8, RGB, 0, EX_ERROR_LIMIT, "4294967295 x 4294967295"},
        {EX_IMAGE_MAX, EX_IMAGE_MAX / 4 + 1, 16, RGBA, 0, EX_ERROR_LIMIT, "32768 x 8193 pixels; at most 268435456 in"},
        {EX_IMAGE_MAX, EX_IMAGE_MAX / 4, 16, RGBA, 0, EX_ERROR_FORMAT, "too few bytes"},
        {EX_IMAGE_MAX, EX_IMAGE_MAX / 4, 1, PALETTE, 1, EX_ERROR_FORMAT, "too few bytes"},
        {EX_IMAGE_MAX, EX_IMAGE_MAX / 4, 8, 5, 0, EX_ERROR_FORMAT, "kind of colour"},
        {EX_IMAGE_MAX, EX_IMAGE_MAX / 4, 8, 7, 0, EX_ERROR_FORMAT, "kind of colour"},
        {EX_IMAGE_MAX, EX_IMAGE_MAX / 4, 0, RGB, 0, EX_ERROR_FORMAT, "kind of colour"},
        {1, 2, 3, RGB, 0, EX_ERROR_FORMAT, "damaged"},
        {1, 2, 16, PALETTE, 0, EX_ERROR_FORMAT, "damaged"},
        {1, 2, 8, PALETTE, 0, EX_ERROR_FORMAT, "PLTE"},
        {1, 2, 8, RGB, 9, EX_ERROR_FORMAT, "damaged"},
        {1, 3, 8, RGB, 0, EX_ERROR_FORMAT, "damaged"},   /* a row too few */
        {400, 2, 8, RGB, 0, EX_ERROR_FORMAT, "damaged"}, /* rows too short */
    };
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        put_head(&p, heads[i].width, heads[i].height, heads[i].depth, heads[i].kind, heads[i].interlaced);
        put_rows(&p, row, sizeof row);
        assert_refused(&p, heads[i].result, heads[i].word);
    }
    /* As many bytes as deflate may need for one colour, far fewer than a picture has. */
    static const unsigned char more[40000];
    put_head(&p, 16384, 16384, 1, GREY, 0);
    put_rows(&p, row, sizeof row);
    put(&p, more, sizeof more);
    assert_refused(&p, EX_ERROR_LIMIT, "16384 x 16384 pixels in 40");
    assert_refused(&p, EX_ERROR_LIMIT,
                   "would take 1074 MB of memory; a file of more than 67108864 pixels needs a byte");
    /* 8192 pixels squared are read from any file: this one is refused for its rows. */
    put_head(&p, 8192, 8192, 1, GREY, 0);
    put_rows(&p, row, sizeof row);
    put(&p, more, sizeof more);
    assert_refused(&p, EX_ERROR_FORMAT, "damaged");
    put_head(&p, 1, 2, 8, RGB, 0);
    put_rows(&p, row, sizeof row);
    ex_image_destroy(must_parse(&p));
    p.bytes[p.size - 13] ^= 1; /* the checksum of the data */
    assert_refused(&p, EX_ERROR_FORMAT, "CRC");

    ex_image *image;
    ex_error error;
    assert_int_equal(ex_image_read(scratch_path("none.png"), &image, &error), EX_ERROR_FILE);
    assert_null(image);
    assert_sentence(&error, EX_ERROR_FILE, "none.png");
}

/* An image with every kind of row that filters meet. */
static ex_image *sample(int width, int height, bool opaque) {
    ex_image *image = ex_image_create(width, height);
    assert_non_null(image);
    uint64_t random = 5;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            unsigned char *pixel = image->pixels + 4 * (y * width + x);
            for (int c = 0; c < 4; c++)
                pixel[c] = y % 3 == 0   ? (unsigned char)(random_bits(&random) >> 40 & 255)
                           : y % 3 == 1 ? (unsigned char)(x * (c + 1) & 255)
                                        : (unsigned char)(y & 255);
            if (opaque)
                pixel[3] = 255;
        }
    return image;
}

static void survives_damage(void **state) {
    (void)state;
    ex_image *image = sample(9, 7, false), *read;
    unsigned char *bytes;
    size_t size;
    ex_error error;
    assert_int_equal(ex_image_encode(image, &bytes, &size, &error), EX_OK);
    for (size_t cut = 0; cut < size; cut++) {
        error.text[0] = '\0';
        assert_int_equal(parse_exactly(bytes, cut, &read, &error), EX_ERROR_FORMAT);
        assert_sentence(&error, EX_ERROR_FORMAT, "face.png");
    }
    for (size_t at = 0; at < size; at++)
        for (int bit = 0; bit < 8; bit++) {
            bytes[at] = (unsigned char)(bytes[at] ^ (1 << bit));
            /* Checksums detect every change except in the end's, which is not read. */
            ex_result result = parse_exactly(bytes, size, &read, NULL);
            assert_true(result != EX_OK || memcmp(read->pixels, image->pixels, 9 * 7 * 4) == 0);
            assert_true(result != EX_OK || at >= size - 12);
            ex_image_destroy(read);
            bytes[at] = (unsigned char)(bytes[at] ^ (1 << bit));
        }
    free(bytes);
    ex_image_destroy(image);
}

/* ---- writing ---- */

static void writes_what_it_reads(void **state) {
    (void)state;
    static const int sizes[][2] = {{1, 1}, {1, 40}, {40, 1}, {301, 97}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int opaque = 0; opaque < 2; opaque++) {
            const int width = sizes[i][0], height = sizes[i][1];
            ex_image *image = sample(width, height, opaque), *read;
            ex_error error;
            assert_int_equal(ex_image_write(scratch_path("out.png"), image, &error), EX_OK);
            assert_int_equal(ex_image_read(scratch_path("out.png"), &read, &error), EX_OK);
            assert_int_equal(read->width, width);
            assert_int_equal(read->height, height);
            assert_memory_equal(read->pixels, image->pixels, 4 * (size_t)width * (size_t)height);
            ex_image_destroy(read);
            /* The same bytes each time, in a file or not; 8 bits; alpha only if it is needed; three chunks. */
            size_t size, file_size;
            unsigned char *bytes;
            char *file = scratch_read("out.png", &file_size);
            assert_int_equal(ex_image_encode(image, &bytes, &size, &error), EX_OK);
            assert_int_equal(size, file_size);
            assert_memory_equal(bytes, file, size);
            assert_int_equal(bytes[24], 8);
            assert_int_equal(bytes[25], opaque ? RGB : RGBA);
            assert_memory_equal(bytes + 37, "IDAT", 4);
            assert_memory_equal(bytes + size - 8, "IEND", 4);
            free(bytes);
            free(file);
            ex_image_destroy(image);
        }
    assert_int_equal(scratch_entry_count(), 1);
}

static int misuses;
static void count_misuse(const char *function, const char *what) {
    (void)function;
    (void)what;
    misuses++;
}

static void refuses_to_write_what_cannot_be_read(void **state) {
    (void)state;
    unsigned char pixel[4] = {0}, *bytes;
    size_t size;
    ex_image wrong[] = {
        {0, 1, pixel}, {1, -1, pixel}, {EX_IMAGE_MAX + 1, 1, pixel}, {1, EX_IMAGE_MAX + 1, pixel}, {1, 1, NULL}};
    ex_error error;
    misuses = 0;
    ex_set_misuse_hook(count_misuse);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(ex_image_encode(&wrong[i], &bytes, &size, &error), EX_ERROR_ARGUMENT);
        assert_null(bytes);
    }
    assert_int_equal(ex_image_write(scratch_path("out.png"), NULL, &error), EX_ERROR_ARGUMENT);
    assert_sentence(&error, EX_ERROR_ARGUMENT, "out.png");
    ex_set_misuse_hook(NULL);
    assert_int_equal(misuses, 6);
    ex_image *image = sample(1, 1, true);
    assert_int_equal(ex_image_write(scratch_path("none/out.png"), image, &error), EX_ERROR_FILE);
    assert_sentence(&error, EX_ERROR_FILE, "none/out.png");
    ex_image_destroy(image);
    assert_int_equal(scratch_entry_count(), 0);
}

static void makes_images(void **state) {
    (void)state;
    static const int wrong[][2] = {{0, 1}, {1, 0}, {-1, 5}, {EX_IMAGE_MAX + 1, 1}, {1, EX_IMAGE_MAX + 1}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_null(ex_image_create(wrong[i][0], wrong[i][1]));
    ex_image *image = ex_image_create(3, 5);
    assert_int_equal(image->width, 3);
    assert_int_equal(image->height, 5);
    for (int i = 0; i < 60; i++)
        assert_int_equal(image->pixels[i], 0);
    ex_image_destroy(image);
    ex_image_destroy(NULL);
}

/* ---- without memory ---- */

static ex_result read_and_write_with_little_memory(void *context) {
    (void)context;
    ex_image *image;
    ex_error error = {.result = EX_OK};
    ex_result result = ex_image_read(scratch_path("in.png"), &image, &error);
    if ((result == EX_OK) != (image != NULL) || error.result != result)
        return EX_ERROR_DATA;
    if (result == EX_OK)
        result = ex_image_write(scratch_path("out.png"), image, &error);
    ex_image_destroy(image);
    ex_image_facts facts;
    if (result == EX_OK)
        result = ex_image_measure(scratch_path("in.png"), &facts, &error);
    return result;
}

/* libpng does not keep data that it does not need for the pixels either. */
static void survives_failing_memory(void **state) {
    (void)state;
    static png p;
    int counts[2];
    for (int notes = 0; notes < 2; notes++) {
        put_head(&p, 3, 1, 8, PALETTE, 0);
        if (notes) {
            put_chunk(&p, "gAMA", "\0\0\xB1\x8F", 4);
            put_chunk(&p, "tEXt", "Author\0me", 9);
            put_chunk(&p, "zzZz", "a chunk that nobody knows", 25);
        }
        put_chunk(&p, "PLTE", "abcdef", 6);
        put_chunk(&p, "tRNS", "\x80", 1);
        put_rows(&p, (const unsigned char *)"\0\1\0\1", 4);
        scratch_write("in.png", p.bytes, p.size);
        scratch_write("out.png", "", 0); /* takes one more allocation if it is new */
        counts[notes] = fail_alloc_sweep(read_and_write_with_little_memory, NULL);
    }
    assert_true(counts[0] >= 20);
    assert_int_equal(counts[1], counts[0]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_set_up, scratch_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(reads_every_kind),         cmocka_unit_test(takes_colours_as_they_are),
        TEST(says_what_is_wrong),       cmocka_unit_test(survives_damage),
        TEST(writes_what_it_reads),     TEST(refuses_to_write_what_cannot_be_read),
        cmocka_unit_test(makes_images), TEST(survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
