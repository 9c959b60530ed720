/*
 * Animated PNG: structure of the file, which programs without animation read too; palettes; every error with its
 * sentence; failing memory. tests/cli/animate.py reads frames back with a decoder of its own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include <exemplar/author/image.h>

#include "author/formats/image/palette.h"
#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/scratch.h"

enum { SIDE = 12 };

/* A soft ramp with a square of another colour at x. */
static void paint(ex_image *image, int x) {
    for (int i = 0; i < SIDE * SIDE; i++) {
        unsigned char *p = image->pixels + 4 * (size_t)i;
        const int column = i % SIDE, row = i / SIDE;
        const bool inside = column >= x && column < x + 3 && row >= 4 && row < 7;
        p[0] = (unsigned char)(inside ? 200 : 8 * column);
        p[1] = (unsigned char)(inside ? 40 : 8 * row);
        p[2] = 90;
        p[3] = 255;
    }
}

static size_t find(const char *bytes, size_t size, const char *kind, int number) {
    for (size_t i = 0; i + 4 <= size; i++)
        if (memcmp(bytes + i, kind, 4) == 0 && number-- == 0)
            return i;
    return 0;
}

static uint32_t read_u32(const char *p) {
    const unsigned char *b = (const unsigned char *)p;
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

typedef struct attempt_of {
    ex_image *image;
    bool full;
    int frame_count;
} attempt_of;

static ex_result attempt(void *context) {
    const attempt_of *a = context;
    const ex_image *samples[] = {a->image};
    const ex_animation_def def = {.width = SIDE,
                                  .height = SIDE,
                                  .frame_count = a->frame_count,
                                  .rate = 12.5,
                                  .full = a->full,
                                  .samples = samples,
                                  .sample_count = 1};
    ex_animation *animation;
    paint(a->image, 0);
    ex_result result = ex_animation_open(&def, scratch_path("a.png"), &animation, NULL);
    if (result != EX_OK)
        return result;
    for (int i = 0; result == EX_OK && i < a->frame_count; i++) {
        paint(a->image, i);
        result = ex_animation_add(animation, a->image, NULL);
    }
    if (result != EX_OK) {
        ex_animation_abandon(animation);
        return result;
    }
    return ex_animation_close(animation, NULL);
}

static void test_it_is_also_a_picture(void **state) {
    (void)state;
    for (int full = 0; full < 2; full++) {
        attempt_of a = {.image = ex_image_create(SIDE, SIDE), .full = full, .frame_count = 3};
        assert_int_equal(attempt(&a), EX_OK);
        ex_image *read;
        assert_int_equal(ex_image_read(scratch_path("a.png"), &read, NULL), EX_OK);
        paint(a.image, 0);
        assert_int_equal(read->width, SIDE);
        assert_memory_equal(read->pixels, a.image->pixels, 4 * SIDE * SIDE);
        ex_image_destroy(read);
        ex_image_destroy(a.image);
    }
}

static void test_the_chunks(void **state) {
    (void)state;
    attempt_of a = {.image = ex_image_create(SIDE, SIDE), .frame_count = 3};
    size_t size;
    assert_int_equal(attempt(&a), EX_OK);
    char *bytes = scratch_read("a.png", &size);
    const char *play = bytes + find(bytes, size, "acTL", 0) + 4;
    assert_int_equal(read_u32(play), 3);
    assert_int_equal(read_u32(play + 4), 0);
    /* The square moves by one: the second frame is the rectangle of both its places. */
    const char *control = bytes + find(bytes, size, "fcTL", 1) + 4;
    const uint32_t expected[5] = {1, 4, 3, 0, 4};
    for (int i = 0; i < 5; i++)
        assert_int_equal(read_u32(control + 4 * i), expected[i]);
    /* 1000 / 12500 of a second, nothing removed, drawn over what is there. */
    assert_memory_equal(control + 20, "\x03\xe8\x30\xd4\0\1", 6);
    assert_int_equal(find(bytes, size, "fcTL", 3), 0);
    free(bytes);
    ex_image_destroy(a.image);
}

static void test_a_palette(void **state) {
    (void)state;
    /* As many colours as fit are kept as they are; of more, each is near its own. */
    exi_palette *palette = malloc(sizeof *palette);
    ex_image *image = ex_image_create(64, 64);
    const ex_image *images[] = {image};
    for (int few = 0; few < 2; few++) {
        for (int i = 0; i < 64 * 64; i++) {
            unsigned char *p = image->pixels + 4 * (size_t)i;
            p[0] = (unsigned char)(few ? i % 64 < 32 ? 10 : 250 : 4 * (i % 64));
            p[1] = (unsigned char)(few ? i / 64 < 32 ? 20 : 30 : 4 * (i / 64));
            p[2] = 128;
            p[3] = 255;
        }
        assert_int_equal(exi_palette_choose(palette, 255, 1, images, NULL), EX_OK);
        assert_int_equal(palette->count, few ? 4 : 255);
        int most = 0;
        for (int i = 0; i < 64 * 64; i++) {
            const unsigned char *p = image->pixels + 4 * (size_t)i;
            const int d = exi_palette_distance(p, palette->colours[exi_palette_find(palette, p)]);
            most = d > most ? d : most;
        }
        /* An even grid of 16 by 16 would be off by 8 codes at its corners: 6 * 64. */
        assert_in_range(most, 0, few ? 0 : 700);
    }
    const unsigned char black[3] = {0, 0, 0};
    assert_int_equal(exi_palette_find(palette, black), exi_palette_find(palette, black));
    ex_image_destroy(image);
    free(palette);
}

static void test_errors(void **state) {
    (void)state;
    ex_image *image = ex_image_create(SIDE, SIDE), *other = ex_image_create(SIDE, 1);
    const ex_image *samples[] = {image};
    const ex_animation_def good = {
        .width = SIDE, .height = SIDE, .frame_count = 1, .rate = 10, .samples = samples, .sample_count = 1};
    const struct {
        ex_animation_def def;
        const char *words;
    } bad[] = {
        {{.width = 0, .height = 9, .frame_count = 1, .rate = 1, .full = true}, "0 by 9 pixels"},
        {{.width = 9, .height = 9, .frame_count = 0, .rate = 1, .full = true}, "0 frames"},
        {{.width = 9, .height = 9, .frame_count = 1, .rate = 0, .full = true}, "0 frames per second"},
        {{.width = 9, .height = 9, .frame_count = 1, .rate = 1001, .full = true}, "1001 frames per second"},
        {{.width = 9, .height = 9, .frame_count = 1, .rate = 1}, "at least one frame"},
    };
    ex_animation *animation;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ex_error error = {.result = EX_OK};
        assert_int_equal(ex_animation_open(&bad[i].def, scratch_path("b.png"), &animation, &error), EX_ERROR_ARGUMENT);
        assert_non_null(strstr(error.text, bad[i].words));
        assert_null(animation);
    }
    ex_error error = {.result = EX_OK};
    assert_int_equal(ex_animation_open(&good, scratch_path("no/b.png"), &animation, &error), EX_ERROR_FILE);
    assert_int_equal(ex_animation_open(&good, scratch_path("b.png"), &animation, &error), EX_OK);
    assert_int_equal(ex_animation_add(animation, other, &error), EX_ERROR_ARGUMENT);
    assert_non_null(strstr(error.text, "frame 1 has 12 by 1 pixels"));
    assert_int_equal(ex_animation_close(animation, &error), EX_ERROR_ARGUMENT);
    assert_non_null(strstr(error.text, "0 of 1 frames"));
    assert_int_equal(ex_animation_open(&good, scratch_path("b.png"), &animation, &error), EX_OK);
    assert_int_equal(ex_animation_add(animation, image, &error), EX_OK);
    assert_int_equal(ex_animation_add(animation, image, &error), EX_ERROR_ARGUMENT);
    ex_animation_abandon(animation);
    ex_animation_abandon(NULL);
    /* None of these left a file. */
    assert_int_equal(scratch_entry_count(), 0);
    ex_image_destroy(image);
    ex_image_destroy(other);
}

static void test_failing_memory(void **state) {
    (void)state;
    for (int full = 0; full < 2; full++) {
        attempt_of a = {.image = ex_image_create(SIDE, SIDE), .full = full, .frame_count = 2};
        assert_true(fail_alloc_sweep(attempt, &a) > 5);
        ex_image_destroy(a.image);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_it_is_also_a_picture, scratch_set_up, scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_the_chunks, scratch_set_up, scratch_tear_down),
        cmocka_unit_test(test_a_palette),
        cmocka_unit_test_setup_teardown(test_errors, scratch_set_up, scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_failing_memory, scratch_set_up, scratch_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
