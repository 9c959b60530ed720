/*
 * JPEG: files of every kind that libjpeg writes, compared with the pixels they were made from; inks worked out by hand;
 * every error with its sentence; truncation and damage at every byte; many scans; failing memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include <exemplar/author/image.h>

#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/scratch.h"

enum { WIDTH = 53, HEIGHT = 37 };

/* The samples at a place, smooth so that no kind of compression changes them much. */
static int sample(int x, int y, int channel, int channels) {
    if (channels == 1)
        return 40 + 2 * x + y;
    return channel == 0 ? 30 + 3 * x : channel == 1 ? 220 - 4 * y : channel == 2 ? 60 + x + 2 * y : 200 - x - y;
}

typedef struct kind {
    J_COLOR_SPACE given, stored;
    bool progressive, subsampled, arithmetic;
    int restarts; /* rows between restart marks, or 0 */
    int off;      /* most difference of a sample */
} kind;

typedef struct file {
    unsigned char *bytes;
    unsigned long size;
} file;

static file encode(const kind *k, int width, int height) {
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    file made = {0};
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_mem_dest(&jpeg, &made.bytes, &made.size);
    const int channels = k->given == JCS_GRAYSCALE ? 1 : k->given == JCS_CMYK ? 4 : 3;
    jpeg.image_width = (JDIMENSION)width;
    jpeg.image_height = (JDIMENSION)height;
    jpeg.input_components = channels;
    jpeg.in_color_space = k->given;
    jpeg_set_defaults(&jpeg);
    jpeg_set_colorspace(&jpeg, k->stored);
    jpeg_set_quality(&jpeg, 100, TRUE);
    for (int c = 0; c < jpeg.num_components; c++)
        jpeg.comp_info[c].h_samp_factor = jpeg.comp_info[c].v_samp_factor = k->subsampled && c == 0 ? 2 : 1;
    jpeg.arith_code = k->arithmetic;
    jpeg.restart_in_rows = k->restarts;
    if (k->progressive)
        jpeg_simple_progression(&jpeg);
    jpeg_start_compress(&jpeg, TRUE);
    for (int y = 0; y < height; y++) {
        JSAMPLE row[4 * 256];
        JSAMPROW rows = row;
        assert_true(width <= 256);
        for (int x = 0; x < width; x++)
            for (int c = 0; c < channels; c++)
                row[channels * x + c] = (JSAMPLE)sample(x, y, c, channels);
        jpeg_write_scanlines(&jpeg, &rows, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    return made;
}

/* Parses a block of exactly this size, so that the sanitizer and valgrind see reads beyond it. */
static ex_result parse_exactly(const void *bytes, size_t size, ex_image **image, ex_error *error) {
    char *exact = malloc(size > 0 ? size : 1);
    assert_non_null(exact);
    memcpy(exact, bytes, size);
    ex_result result = ex_image_parse(exact, size, "face.jpg", image, error);
    free(exact);
    assert_int_equal(result == EX_OK, *image != NULL);
    return result;
}

static ex_image *must_parse(const file *f) {
    ex_image *image;
    ex_error error;
    if (parse_exactly(f->bytes, f->size, &image, &error) != EX_OK)
        fail_msg("%s", error.text);
    return image;
}

static void assert_refused(const void *bytes, size_t size, ex_result expected, const char *word) {
    ex_image *image;
    ex_error error = {.text = ""};
    assert_int_equal(parse_exactly(bytes, size, &image, &error), expected);
    assert_sentence(&error, expected, word);
    assert_sentence(&error, expected, "face.jpg");
    assert_int_equal(parse_exactly(bytes, size, &image, NULL), expected);
}

/* ---- reading ---- */

/* The colour that a pixel of the file should have; inks as Adobe stores them, where 0 is full. */
static int expected(const kind *k, int x, int y, int c) {
    if (k->given == JCS_GRAYSCALE)
        return sample(x, y, 0, 1);
    if (k->given == JCS_CMYK)
        return (sample(x, y, c, 4) * sample(x, y, 3, 4) + 127) / 255;
    return sample(x, y, c, 3);
}

static void reads_every_kind(void **state) {
    (void)state;
    static const kind kinds[] = {
        {JCS_GRAYSCALE, JCS_GRAYSCALE, .off = 2},
        {JCS_GRAYSCALE, JCS_GRAYSCALE, .progressive = true, .off = 2},
        {JCS_RGB, JCS_YCbCr, .off = 3},
        {JCS_RGB, JCS_YCbCr, .subsampled = true, .off = 8},
        {JCS_RGB, JCS_YCbCr, .progressive = true, .off = 3},
        {JCS_RGB, JCS_YCbCr, .progressive = true, .subsampled = true, .off = 8},
        {JCS_RGB, JCS_YCbCr, .restarts = 1, .off = 3},
        {JCS_RGB, JCS_RGB, .off = 2},
#ifdef D_ARITH_CODING_SUPPORTED
        {JCS_RGB, JCS_YCbCr, .arithmetic = true, .off = 3},
#endif
        {JCS_CMYK, JCS_CMYK, .off = 3},
        {JCS_CMYK, JCS_YCCK, .off = 4},
        {JCS_CMYK, JCS_YCCK, .progressive = true, .off = 4},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const kind *k = &kinds[i];
        file f = encode(k, WIDTH, HEIGHT);
        ex_image *image = must_parse(&f);
        int worst = 0;
        assert_int_equal(image->width, WIDTH);
        assert_int_equal(image->height, HEIGHT);
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++) {
                const unsigned char *pixel = image->pixels + 4 * (y * WIDTH + x);
                for (int c = 0; c < 3; c++) {
                    const int apart = abs(pixel[c] - expected(k, x, y, c));
                    worst = apart > worst ? apart : worst;
                }
                assert_int_equal(pixel[3], 255);
            }
        if (worst > k->off)
            fail_msg("kind %zu is off by %d", i, worst);
        ex_image_facts facts;
        scratch_write("facts.jpg", f.bytes, f.size);
        assert_int_equal(ex_image_measure(scratch_path("facts.jpg"), &facts, NULL), EX_OK);
        assert_true(facts.width == WIDTH && facts.height == HEIGHT && facts.opaque);
        ex_image_destroy(image);
        free(f.bytes);
    }
}

/* Finds a marker's first byte after 0xFF. */
static unsigned char *find_marker(const file *f, int marker) {
    for (unsigned long i = 2; i + 3 < f->size && f->bytes[i] == 0xFF; i += 2 + f->bytes[i + 2] * 256u + f->bytes[i + 3])
        if (f->bytes[i + 1] == marker)
            return f->bytes + i + 1;
    fail_msg("there is no marker %x", (unsigned)marker);
    return NULL;
}

/* Without Adobe's mark, 255 is full ink. */
static void reads_plain_inks(void **state) {
    (void)state;
    const kind k = {.given = JCS_CMYK, .stored = JCS_CMYK};
    file f = encode(&k, WIDTH, HEIGHT);
    memcpy(find_marker(&f, 0xEE) + 3, "Eboda", 5);
    ex_image *image = must_parse(&f);
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        for (int c = 0; c < 3; c++) {
            const int ink = sample(i % WIDTH, i / WIDTH, c, 4), black = sample(i % WIDTH, i / WIDTH, 3, 4);
            assert_in_range(image->pixels[4 * i + c] + 3 - (255 - ink) * (255 - black) / 255, 0, 6);
        }
    ex_image_destroy(image);
    free(f.bytes);
}

/* The name does not matter. */
static void goes_by_first_bytes(void **state) {
    (void)state;
    const kind k = {.given = JCS_RGB, .stored = JCS_YCbCr};
    file f = encode(&k, WIDTH, HEIGHT);
    ex_image *image = NULL;
    assert_int_equal(ex_image_parse(f.bytes, f.size, "photo.png", &image, NULL), EX_OK);
    ex_image_destroy(image);
    free(f.bytes);
}

/* ---- errors ---- */

static void says_what_is_wrong(void **state) {
    (void)state;
    const kind k = {.given = JCS_RGB, .stored = JCS_YCbCr}, soft = {JCS_RGB, JCS_YCbCr, .progressive = true};
    file f = encode(&k, WIDTH, HEIGHT);
    static const char noise[] = "\xFF\xD8\xFF\xE0 a JPEG file, perhaps";
    assert_refused(noise, sizeof noise - 1, EX_ERROR_FORMAT, "damaged JPEG");
    unsigned char *frame = find_marker(&f, 0xC0), *size = frame + 4;
    const struct {
        int height, width;
        ex_result result;
        const char *word;
    } sizes[] = {
        {0, WIDTH, EX_ERROR_FORMAT, "damaged JPEG"},
        {HEIGHT, 0, EX_ERROR_FORMAT, "damaged JPEG"},
        {HEIGHT, 40000, EX_ERROR_LIMIT, "40000 x 37 pixels; at most 32768 per side"},
        {32768, 8193, EX_ERROR_LIMIT, "8193 x 32768 pixels; at most 268435456 in all"},
        {32768, 8192, EX_ERROR_FORMAT, "too few bytes"},
        {HEIGHT * 2, WIDTH, EX_ERROR_FORMAT, "premature end"},
    };
    unsigned char kept[4];
    memcpy(kept, size, 4);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size[0] = (unsigned char)(sizes[i].height >> 8);
        size[1] = (unsigned char)(sizes[i].height & 255);
        size[2] = (unsigned char)(sizes[i].width >> 8);
        size[3] = (unsigned char)(sizes[i].width & 255);
        assert_refused(f.bytes, f.size, sizes[i].result, sizes[i].word);
    }
    /* More bytes than pixels could take, and fewer than a picture of this size has. */
    const size_t padded = 200000;
    unsigned char *large = calloc(1, padded);
    memcpy(size, "\x40\0\x40\0", 4);
    memcpy(large, f.bytes, f.size);
    assert_refused(large, padded, EX_ERROR_LIMIT, "16384 x 16384 pixels in 200000 bytes");
    assert_refused(large, padded, EX_ERROR_LIMIT, "needs a byte for every 64 of them");
    free(large);
    memcpy(size, kept, 4);
    frame[3] = 12; /* bits */
    assert_refused(f.bytes, f.size, EX_ERROR_FORMAT, "do not have 8 bits");
    frame[3] = 8;
    frame[0] = 0xC3; /* lossless */
    assert_refused(f.bytes, f.size, EX_ERROR_FORMAT, "rare kind");
    free(f.bytes);

    /* The last scan again and again. */
    f = encode(&soft, WIDTH, HEIGHT);
    unsigned long last = f.size - 2;
    while (!(f.bytes[last] == 0xFF && f.bytes[last + 1] == 0xDA))
        last--;
    const size_t scan = f.size - 2 - last, total = f.size + 200 * scan;
    unsigned char *many = malloc(total);
    memcpy(many, f.bytes, f.size - 2);
    for (size_t i = 0; i < 200; i++)
        memcpy(many + f.size - 2 + i * scan, f.bytes + last, scan);
    memcpy(many + total - 2, "\xFF\xD9", 2);
    assert_refused(many, total, EX_ERROR_LIMIT, "more than 100 scans");
    free(many);
    free(f.bytes);
}

/* A file cut short is refused, but for the mark at its end, which some programs forget. */
static void notices_truncation(void **state) {
    (void)state;
    for (int progressive = 0; progressive < 2; progressive++) {
        const kind k = {JCS_RGB, JCS_YCbCr, .progressive = progressive, .subsampled = true};
        file f = encode(&k, 21, 13);
        for (unsigned long size = 3; size < f.size; size++) {
            ex_image *image;
            ex_error error = {.text = ""};
            const bool complete = !progressive && size >= f.size - 2;
            const ex_result result = parse_exactly(f.bytes, size, &image, &error);
            if (result == EX_OK && !complete)
                fail_msg("%lu of %lu bytes are taken for a picture", size, f.size);
            if (complete)
                assert_string_equal(error.text, "");
            else
                assert_sentence(&error, EX_ERROR_FORMAT, "export the picture");
            ex_image_destroy(image);
        }
        free(f.bytes);
    }
}

static void survives_damage(void **state) {
    (void)state;
    for (int progressive = 0; progressive < 2; progressive++) {
        const kind k = {JCS_RGB, JCS_YCbCr, .progressive = progressive};
        file f = encode(&k, 21, 13);
        for (unsigned long i = 3; i < f.size; i++)
            for (int bit = 0; bit < 8; bit++) {
                ex_image *image;
                ex_error error = {.text = ""};
                f.bytes[i] = (unsigned char)(f.bytes[i] ^ 1 << bit);
                const ex_result result = parse_exactly(f.bytes, f.size, &image, &error);
                assert_true(result == EX_OK || (error.result == result && error.text[0]));
                ex_image_destroy(image);
                f.bytes[i] = (unsigned char)(f.bytes[i] ^ 1 << bit);
            }
        free(f.bytes);
    }
}

/* ---- without memory ---- */

static ex_result read_with_little_memory(void *context) {
    const file *f = context;
    ex_image *image;
    ex_error error = {.result = EX_OK};
    const ex_result result = ex_image_parse(f->bytes, f->size, "face.jpg", &image, &error);
    if ((result == EX_OK) != (image != NULL) || error.result != result)
        return EX_ERROR_DATA;
    ex_image_destroy(image);
    return result;
}

static void survives_failing_memory(void **state) {
    (void)state;
    const kind k = {.given = JCS_RGB, .stored = JCS_YCbCr};
    file f = encode(&k, 21, 13);
    assert_true(fail_alloc_sweep(read_with_little_memory, &f) >= 3);
    free(f.bytes);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_set_up, scratch_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(reads_every_kind),
        cmocka_unit_test(reads_plain_inks),
        cmocka_unit_test(goes_by_first_bytes),
        cmocka_unit_test(says_what_is_wrong),
        cmocka_unit_test(notices_truncation),
        cmocka_unit_test(survives_damage),
        cmocka_unit_test(survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
