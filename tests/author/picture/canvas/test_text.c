/*
 * Text: every printable letter leaves ink inside its measured box, at small and large sizes, anchored and turned in
 * every way; widths add up; digits have equal widths; characters that the font lacks.
 */
#include "author/picture/canvas/labels.h"
#include "support/check.h"

#include <exemplar/author/canvas.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SIDE = 160 };

/* The box of the pixels that are not white after drawing a text; all 0 if there are none. */
static ex_box ink_of(double x, double y, const ex_lettering *type, const char *text, double *sum) {
    ex_canvas *canvas = NULL;
    ex_image *image = NULL;
    ex_box box = {SIDE, SIDE, 0, 0};
    assert_int_equal(ex_canvas_create_image(SIDE, SIDE, 1, ex_colour_grey(255), &canvas, NULL), EX_OK);
    ex_draw_text(canvas, x, y, type, text);
    assert_int_equal(exi_canvas_text_count(canvas), *text ? 1 : 0);
    assert_int_equal(ex_canvas_take_image(canvas, &image, NULL), EX_OK);
    *sum = 0;
    for (int v = 0; v < SIDE; v++) {
        for (int u = 0; u < SIDE; u++) {
            const int code = image->pixels[4 * (v * SIDE + u)];
            if (code > 250)
                continue;
            *sum += 255 - code;
            box.x0 = u < box.x0 ? u : box.x0;
            box.y0 = v < box.y0 ? v : box.y0;
            box.x1 = u + 1 > box.x1 ? u + 1 : box.x1;
            box.y1 = v + 1 > box.y1 ? v + 1 : box.y1;
        }
    }
    ex_image_destroy(image);
    return box;
}

static void assert_inside(ex_box inner, ex_box outer, double slack) {
    assert_true(inner.x0 >= outer.x0 - slack && inner.y0 >= outer.y0 - slack && inner.x1 <= outer.x1 + slack &&
                inner.y1 <= outer.y1 + slack);
}

static void every_letter_has_ink_in_its_box(void **state) {
    (void)state;
    for (int size = 9; size <= 20; size += 11) {
        for (int letter = 33; letter < 127; letter++) {
            const char text[2] = {(char)letter, '\0'};
            const ex_lettering type = {.size = size, .colour = ex_colour_grey(0)};
            double sum;
            const ex_box ink = ink_of(70, 80, &type, text, &sum);
            assert_true(sum > 255);
            assert_inside(ink, ex_text_box(70, 80, &type, text), 1.9); /* fitting to rows moves it */
        }
    }
}

/* No two letters look the same, unless they differ only in position. */
static void letters_differ(void **state) {
    (void)state;
    static unsigned char pictures[127][40 * 40];
    for (int letter = 33; letter < 127; letter++) {
        ex_canvas *canvas = NULL;
        ex_image *image = NULL;
        assert_int_equal(ex_canvas_create_image(40, 40, 1, ex_colour_grey(255), &canvas, NULL), EX_OK);
        const char text[2] = {(char)letter, '\0'};
        ex_draw_text(canvas, 10, 28, &(ex_lettering){.size = 20, .colour = ex_colour_grey(0)}, text);
        assert_int_equal(ex_canvas_take_image(canvas, &image, NULL), EX_OK);
        for (int i = 0; i < 40 * 40; i++)
            pictures[letter][i] = image->pixels[4 * i];
        ex_image_destroy(image);
        for (int other = 33; other < letter; other++) {
            int differing = 0;
            for (int i = 0; i < 40 * 40; i++)
                differing += abs(pictures[letter][i] - pictures[other][i]) > 60;
            assert_true(differing >= 4);
        }
    }
}

static void widths_add_up(void **state) {
    (void)state;
    assert_near(ex_text_width(""), 0, 0);
    assert_near(ex_text_width("bend 0.5"), ex_text_width("bend") + ex_text_width(" ") + ex_text_width("0.5"), 1e-12);
    for (int digit = '0'; digit <= '9'; digit++)
        assert_near(ex_text_width((char[]){(char)digit, '\0'}), ex_text_width("8"), 1e-12);
    assert_near(ex_text_width("\xE2\x88\x92"), ex_text_width("+"), 1e-12);
    assert_true(ex_text_width("W") > ex_text_width("i"));
    /* As wide as a common sans-serif face, so that labels look as people expect. */
    assert_near(ex_text_width("The quick brown fox jumps over the lazy dog"), 43 * 0.5, 2.5);
}

/* The ink follows the anchor. */
static void anchors_move_text(void **state) {
    (void)state;
    double sum;
    for (int size = 10; size <= 30; size += 10) {
        ex_lettering type = {.size = size, .colour = ex_colour_grey(0)};
        const double width = ex_text_width("HIM") * size;
        for (int across = EX_ACROSS_LEFT; across <= EX_ACROSS_RIGHT; across++) {
            type.across = (ex_across)across;
            type.along = EX_ALONG_BASELINE;
            const ex_box ink = ink_of(80, 80, &type, "HIM", &sum);
            assert_near((ink.x0 + ink.x1) / 2, 80 + width * (1 - across) / 2, 1);
            assert_near(ink.y1, 80.9 + 0.05 * size, 1);
        }
        type.along = EX_ALONG_CENTRE;
        ex_box ink = ink_of(80, 80, &type, "HIM", &sum);
        assert_near((ink.y0 + ink.y1) / 2, 80, 1.1);
        type.along = EX_ALONG_TOP;
        ink = ink_of(80, 80, &type, "HIM", &sum);
        assert_near(ink.y0, 80 - 0.05 * size, 1.2);
        type.along = EX_ALONG_BOTTOM;
        ink = ink_of(80, 80, &type, "gy", &sum);
        assert_near(ink.y1, 80 + 0.05 * size, 1.6);
    }
}

static void turned_text_stays_in_its_box(void **state) {
    (void)state;
    for (int degrees = -180; degrees <= 180; degrees += 30) {
        const ex_lettering type = {.size = 14,
                                   .colour = ex_colour_grey(0),
                                   .degrees = degrees,
                                   .across = EX_ACROSS_MIDDLE,
                                   .along = EX_ALONG_CENTRE};
        double sum;
        const ex_box ink = ink_of(80, 80, &type, "thickness", &sum);
        assert_inside(ink, ex_text_box(80, 80, &type, "thickness"), 1.5);
        assert_true(sum > 5000);
    }
    const ex_lettering level = {.size = 14, .degrees = 0}, upright = {.size = 14, .degrees = -90};
    const ex_box a = ex_text_box(0, 0, &level, "abc"), b = ex_text_box(0, 0, &upright, "abc");
    assert_near(a.x1 - a.x0, b.y1 - b.y0, 1e-9);
    assert_near(b.y1, 0, 1e-9);
}

static void accents_fall_back(void **state) {
    (void)state;
    static const char *const pairs[][2] = {
        {"caf\xC3\xA9", "cafe"},
        {"\xC3\x84rmel", "Armel"},
        {"\xC5\x82", "l"},
        {"\xC5\xBD", "Z"},
        {"e\xCC\x81", "e"},
        {"\xE2\x80\x99", "'"},
        {"\xC2\xB5m", "um"},
        {"\xC5\xBF", "s"},
        {"\xC3\xBF", "y"},
        {"\xC4\x80", "A"},
        {"a\xC2\xA0"
         "b",
         "a b"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        assert_near(ex_text_width(pairs[i][0]), ex_text_width(pairs[i][1]), 1e-12);
    /* Unknown: a box, once for each character, and for each byte that is none. */
    const double box = ex_text_width("\xE4\xB8\xAD");
    assert_true(box > 0.3);
    assert_near(ex_text_width("\xF0\x9F\x98\x80"), box, 1e-12);
    assert_near(ex_text_width("\xFF\x80"), 2 * box, 1e-12);
    assert_near(ex_text_width("\xC3"), box, 1e-12);
    assert_near(ex_text_width("\x01"), box, 1e-12);
    assert_near(ex_text_width("\xE2\x88"
                              "a"),
                box + ex_text_width("a"), 1e-12);
}

static void halo_is_below(void **state) {
    (void)state;
    double plain, with;
    ex_lettering type = {.size = 20, .colour = ex_colour_grey(0)};
    ink_of(40, 80, &type, "halo", &plain);
    type.halo = ex_colour_grey(255);
    ink_of(40, 80, &type, "halo", &with);
    assert_near(plain, with, 0);
    type.halo = ex_colour_grey(128);
    ink_of(40, 80, &type, "halo", &with);
    assert_true(with > 1.3 * plain);
    type.halo.alpha = 0;
    type.bold = true;
    ink_of(40, 80, &type, "halo", &with);
    assert_true(with > 1.2 * plain);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_letter_has_ink_in_its_box),
        cmocka_unit_test(letters_differ),
        cmocka_unit_test(widths_add_up),
        cmocka_unit_test(anchors_move_text),
        cmocka_unit_test(turned_text_stays_in_its_box),
        cmocka_unit_test(accents_fall_back),
        cmocka_unit_test(halo_is_below),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
