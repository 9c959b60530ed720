/*
 * The canvas: coverage of half-planes, lines and circles against areas worked by hand, mixing in linear light, clips,
 * dashes, hatching, images; the contents of SVG text; each wrong size with its sentence; failing memory.
 */
#include "support/check.h"
#include "support/fail_alloc.h"

#include <exemplar/author/canvas.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SIDE = 40 };

static ex_canvas *canvas;
static ex_image *image;

/* White, of SIDE by SIDE pixels at a scale of 1. */
static void open_canvas(void) {
    ex_error error = {.result = EX_OK};
    assert_int_equal(ex_canvas_create_image(SIDE, SIDE, 1, ex_colour_grey(255), &canvas, &error), EX_OK);
}

static void take_image(void) {
    assert_int_equal(ex_canvas_take_image(canvas, &image, NULL), EX_OK);
    assert_int_equal(image->width, SIDE);
    assert_int_equal(image->height, SIDE);
}

static int code_at(int x, int y) {
    return image->pixels[4 * (y * image->width + x)];
}

static double decode(double code) {
    const double u = code / 255;
    return u <= 0.04045 ? u / 12.92 : pow((u + 0.055) / 1.055, 2.4);
}

/* Fraction of the pixel that black covers, from its code; and the code of a fraction. */
static double cover_at(int x, int y) {
    return 1 - decode(code_at(x, y));
}

static int code_of(double cover) {
    const double linear = 1 - cover;
    return (int)(255 * (linear <= 0.0031308 ? 12.92 * linear : 1.055 * pow(linear, 1 / 2.4) - 0.055) + 0.5);
}

/* ---- fills ---- */

/* The area of the unit square at (x, y) below the line v = a u + b, by clipping its corners: exact. */
static double area_below(double x, double y, double a, double b) {
    double area = 0;
    const int steps = 4000; /* columns; within one the height is linear but for where it is cut off */
    for (int i = 0; i < steps; i++) {
        const double height = a * (x + (i + 0.5) / steps) + b - y;
        area += height < 0 ? 0 : height > 1 ? 1 : height;
    }
    return 1 - area / steps;
}

static void half_planes_are_exact(void **state) {
    (void)state;
    static const double lines[][2] = {{0, 17.3}, {0.37, 4.1}, {1, 0.25}, {-0.62, 31.7}, {3.7, -40}, {-9, 180.5}};
    for (size_t k = 0; k < sizeof lines / sizeof lines[0]; k++) {
        const double a = lines[k][0], b = lines[k][1];
        open_canvas();
        ex_canvas_move(canvas, -100, a * -100 + b);
        ex_canvas_line(canvas, 200, a * 200 + b);
        ex_canvas_line(canvas, 200, 3000);
        ex_canvas_line(canvas, -100, 3000);
        ex_canvas_close(canvas);
        ex_canvas_fill(canvas, ex_colour_grey(0));
        take_image();
        for (int y = 0; y < SIDE; y++)
            for (int x = 0; x < SIDE; x++)
                assert_near(code_at(x, y), code_of(area_below(x, y, a, b)), 1);
        ex_image_destroy(image);
    }
}

static void boxes_cover_parts_of_pixels(void **state) {
    (void)state;
    open_canvas();
    ex_draw_box(canvas, (ex_box){5.25, 6.5, 9.75, 8}, ex_colour_grey(0));
    take_image();
    const double rows[4] = {0, 0.5, 1, 0}, columns[7] = {0, 0.75, 1, 1, 1, 0.75, 0};
    for (int y = 0; y < 4; y++)
        for (int x = 0; x < 7; x++)
            assert_int_equal(code_at(4 + x, 5 + y), code_of(rows[y] * columns[x]));
    ex_image_destroy(image);
}

static void circles_have_their_area(void **state) {
    (void)state;
    const double pi = 3.14159265358979;
    for (double radius = 0.8; radius < 15; radius += 2.3) {
        double sum = 0;
        open_canvas();
        ex_canvas_add_circle(canvas, 19.6, 20.3, radius);
        ex_canvas_fill(canvas, ex_colour_grey(0));
        take_image();
        for (int y = 0; y < SIDE; y++)
            for (int x = 0; x < SIDE; x++)
                sum += cover_at(x, y);
        assert_near(sum, pi * radius * radius, 0.01 * pi * radius * radius);
        ex_image_destroy(image);
    }
}

/* A hole runs in the other direction; an area wound twice is covered once. */
static void outlines_wind(void **state) {
    (void)state;
    open_canvas();
    ex_canvas_add_box(canvas, (ex_box){4, 4, 30, 30});
    ex_canvas_move(canvas, 10, 10);
    ex_canvas_line(canvas, 10, 20);
    ex_canvas_line(canvas, 20, 20);
    ex_canvas_line(canvas, 20, 10);
    ex_canvas_close(canvas);
    ex_canvas_add_box(canvas, (ex_box){25, 25, 35, 35});
    ex_canvas_fill(canvas, ex_colour_grey(0));
    take_image();
    assert_int_equal(code_at(15, 15), 255);
    assert_int_equal(code_at(7, 7), 0);
    assert_int_equal(code_at(27, 27), 0);
    assert_int_equal(code_at(33, 33), 0);
    assert_int_equal(code_at(37, 5), 255);
    ex_image_destroy(image);
}

/* ---- strokes ---- */

static void lines_along_pixels_are_exact(void **state) {
    (void)state;
    open_canvas();
    ex_draw_line(canvas, 5, 10.5, 30, 10.5, &(ex_pen){ex_colour_grey(0), 1, 0, 0});
    ex_draw_line(canvas, 5, 20, 30, 20, &(ex_pen){ex_colour_grey(0), 1, 0, 0});
    ex_draw_line(canvas, 5, 30.5, 30, 30.5, &(ex_pen){ex_colour_grey(0), 0.25, 0, 0});
    take_image();
    for (int x = 6; x < 29; x++) {
        assert_int_equal(code_at(x, 9), 255);
        assert_int_equal(code_at(x, 10), 0);
        assert_int_equal(code_at(x, 11), 255);
        assert_int_equal(code_at(x, 19), code_of(0.5));
        assert_int_equal(code_at(x, 20), code_of(0.5));
        assert_int_equal(code_at(x, 30), code_of(0.25));
    }
    ex_image_destroy(image);
}

/* In any direction a line covers length times width, apart from its round ends; joins cover nothing twice. */
static void lines_have_their_area(void **state) {
    (void)state;
    for (int degrees = 0; degrees < 180; degrees += 13) {
        const double angle = degrees * 3.14159265 / 180, dx = 15 * cos(angle), dy = 15 * sin(angle), width = 3.2;
        double sum = 0;
        open_canvas();
        ex_canvas_move(canvas, 20 - dx, 20 - dy);
        for (int i = -9; i <= 10; i++)
            ex_canvas_line(canvas, 20 + dx * i / 10, 20 + dy * i / 10);
        ex_canvas_stroke(canvas, &(ex_pen){ex_colour_grey(0), width, 0, 0});
        take_image();
        for (int y = 0; y < SIDE; y++)
            for (int x = 0; x < SIDE; x++)
                sum += cover_at(x, y);
        const double area = 30 * width + 3.14159265 * width * width / 4;
        assert_near(sum, area, 0.02 * area);
        ex_image_destroy(image);
    }
}

static void dashes_leave_gaps(void **state) {
    (void)state;
    open_canvas();
    ex_draw_line(canvas, 2.5, 10.5, 38, 10.5, &(ex_pen){ex_colour_grey(0), 1, 4, 6});
    take_image();
    for (int x = 4; x < 36; x++)
        assert_int_equal(code_at(x, 10), (x - 2) % 10 <= 4 ? code_at(4, 10) : (x - 2) % 10 <= 9 ? code_at(8, 10) : -1);
    assert_int_equal(code_at(4, 10), 0);
    assert_int_equal(code_at(8, 10), 255);
    ex_image_destroy(image);
}

/* ---- mixing, clips ---- */

static void mixes_in_linear_light(void **state) {
    (void)state;
    open_canvas();
    ex_draw_box(canvas, (ex_box){0, 0, 20, 20}, ex_colour_faded(ex_colour_hex(0x000000), 0.5));
    ex_draw_box(canvas, (ex_box){20, 0, 40, 20}, ex_colour_faded(ex_colour_hex(0xFF0000), 0.25));
    take_image();
    assert_int_equal(code_at(5, 5), 188); /* half the light of white */
    const unsigned char *pixel = image->pixels + 4 * (5 * SIDE + 30);
    assert_int_equal(pixel[0], 255);
    assert_int_equal(pixel[1], code_of(0.25));
    assert_int_equal(pixel[3], 255);
    ex_image_destroy(image);
    /* Over nothing, a colour keeps its code and its alpha. */
    assert_int_equal(ex_canvas_create_image(4, 4, 1, ex_colour_faded(ex_colour_grey(255), 0), &canvas, NULL), EX_OK);
    ex_draw_box(canvas, (ex_box){0, 0, 4, 4}, ex_colour_faded(ex_colour_hex(0x0072B2), 0.5));
    assert_int_equal(ex_canvas_take_image(canvas, &image, NULL), EX_OK);
    assert_memory_equal(image->pixels, ((unsigned char[]){0x00, 0x72, 0xB2, 128}), 4);
    ex_image_destroy(image);
}

static void clips_cut(void **state) {
    (void)state;
    open_canvas();
    ex_canvas_clip(canvas, &(ex_box){10, 10, 20.5, 20});
    ex_draw_box(canvas, (ex_box){0, 0, 40, 40}, ex_colour_grey(0));
    ex_canvas_clip(canvas, NULL);
    ex_draw_line(canvas, 0, 30.5, 40, 30.5, &(ex_pen){ex_colour_grey(0), 1, 0, 0});
    take_image();
    assert_int_equal(code_at(9, 15), 255);
    assert_int_equal(code_at(10, 10), 0);
    assert_int_equal(code_at(19, 19), 0);
    assert_int_equal(code_at(20, 15), code_of(0.5));
    assert_int_equal(code_at(15, 20), 255);
    assert_int_equal(code_at(2, 30), 0);
    ex_image_destroy(image);
}

static void what_is_outside_does_no_harm(void **state) {
    (void)state;
    const double far[] = {-1e300, -1e9, 0, 39.99, 1e9, INFINITY, -INFINITY, NAN};
    enum { COUNT = sizeof far / sizeof far[0] };
    open_canvas();
    for (int i = 0; i < COUNT * COUNT; i++) {
        const double x = far[i % COUNT], y = far[i / COUNT];
        ex_canvas_move(canvas, x, y);
        ex_canvas_line(canvas, y, x);
        ex_canvas_curve(canvas, x, x, y, y, 20, 20);
        ex_canvas_close(canvas);
        ex_canvas_fill(canvas, ex_colour_faded(ex_colour_grey(0), 0.01));
        ex_canvas_move(canvas, x, y);
        ex_canvas_line(canvas, 20, 20);
        ex_canvas_stroke(canvas, &(ex_pen){ex_colour_grey(0), 1, 0, 0});
    }
    ex_canvas_close(canvas);
    ex_canvas_fill(canvas, ex_colour_grey(0));
    take_image();
    ex_image_destroy(image);
}

/* ---- shapes ---- */

static void hatching_stays_inside(void **state) {
    (void)state;
    const double points[8][2] = {{5, 5}, {35, 5}, {35, 35}, {5, 35}, {15, 15}, {25, 15}, {25, 25}, {15, 25}};
    open_canvas();
    ex_draw_hatch(canvas, points, (int[]){0, 4, 8}, 2, 0, 2, &(ex_pen){ex_colour_grey(0), 1, 0, 0});
    take_image();
    for (int y = 0; y < SIDE; y++) {
        for (int x = 0; x < SIDE; x++) {
            const bool outside = x < 4 || x > 35 || y < 5 || y > 34 || (x > 15 && x < 24 && y > 15 && y < 24);
            if (outside)
                assert_int_equal(code_at(x, y), 255);
        }
    }
    double sum = 0;
    for (int y = 6; y < 14; y++)
        sum += cover_at(10, y);
    assert_near(sum, 4, 0.05); /* one point of line in two */
    ex_image_destroy(image);
}

static void markers_and_arrows_are_where_they_should_be(void **state) {
    (void)state;
    for (int marker = EX_MARK_DOT; marker <= EX_MARK_CROSS; marker++) {
        open_canvas();
        ex_draw_mark(canvas, (ex_mark)marker, 20, 20, 6, &(ex_pen){ex_colour_grey(0), 1, 0, 0});
        take_image();
        assert_int_equal(code_at(20, 20) < 200, marker != EX_MARK_RING);
        double x_sum = 0, sum = 0;
        for (int y = 0; y < SIDE; y++)
            for (int x = 0; x < SIDE; x++) {
                const bool near = hypot(x - 19.5, y - 19.5) < 9.5;
                assert_true(near || code_at(x, y) == 255);
                sum += cover_at(x, y);
                x_sum += cover_at(x, y) * (x + 0.5);
            }
        assert_true(sum > 10);
        assert_near(x_sum / sum, 20, 0.1);
        ex_image_destroy(image);
    }
    open_canvas();
    ex_draw_arrow(canvas, 4, 20.5, 34, 20.5, 8, &(ex_pen){ex_colour_grey(0), 1, 0, 0});
    ex_draw_arrow(canvas, 4, 4, 4, 4, 8, &(ex_pen){ex_colour_grey(0), 1, 0, 0});
    take_image();
    assert_int_equal(code_at(10, 20), 0);
    assert_int_equal(code_at(10, 21), 255);
    assert_int_equal(code_at(27, 21), 0); /* the head is wider */
    assert_true(code_at(33, 20) < 255 && code_at(35, 20) == 255);
    assert_int_equal(code_at(4, 4), 255);
    ex_image_destroy(image);
}

/* ---- images ---- */

static void images_keep_their_pixels(void **state) {
    (void)state;
    ex_image *small = ex_image_create(3, 2);
    for (int i = 0; i < 24; i++)
        small->pixels[i] = (unsigned char)(i % 4 == 3 ? 255 : i * 10);
    open_canvas();
    ex_draw_image(canvas, small, (ex_box){4, 7, 7, 9});
    ex_draw_image(canvas, small, (ex_box){10, 10, 40, 30});
    ex_draw_image(canvas, small, (ex_box){30, 35, 31, 36});
    take_image();
    for (int y = 0; y < 2; y++)
        for (int x = 0; x < 3; x++)
            assert_memory_equal(image->pixels + 4 * ((7 + y) * SIDE + 4 + x), small->pixels + 4 * (3 * y + x), 4);
    assert_int_equal(code_at(3, 7), 255);
    /* Between pixels of 10 by 10, an enlarged image is blended: at 0.95 and 0.55 of the first, counted from its
     * corner. */
    const unsigned char *p = small->pixels;
    const double u = 0.45, v = 0.05;
    assert_near(decode(code_at(19, 15)),
                (1 - v) * ((1 - u) * decode(p[0]) + u * decode(p[4])) +
                    v * ((1 - u) * decode(p[12]) + u * decode(p[16])),
                0.002);
    double mean = 0;
    for (int i = 0; i < 6; i++)
        mean += decode(small->pixels[4 * i]) / 6;
    assert_near(decode(code_at(30, 35)), mean, 0.003);
    ex_image_destroy(image);
    ex_image_destroy(small);
}

/* ---- SVG ---- */

static int count_of(const char *text, const char *word) {
    int count = 0;
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
        count++;
    return count;
}

static char *draw_svg(size_t *size) {
    char *text = NULL;
    ex_canvas *svg = NULL;
    assert_int_equal(ex_canvas_create_svg(120, 80, ex_colour_grey(255), "a <b> & \"c\" \x01\xFF", "what", &svg, NULL),
                     EX_OK);
    ex_image *small = ex_image_create(2, 2);
    ex_draw_line(svg, 1.5, 2.25, 30.123456, -0.001, &(ex_pen){ex_colour_hex(0xD55E00), 1.5, 2, 3});
    ex_canvas_clip(svg, &(ex_box){10, 10, 50, 50});
    ex_draw_mark(svg, EX_MARK_DOT, 20, 20, 5, &(ex_pen){ex_colour_faded(ex_colour_grey(0), 0.5), 1, 0, 0});
    ex_draw_image(svg, small, (ex_box){0, 0, 10, 10});
    ex_canvas_clip(svg, NULL);
    ex_draw_text(svg, 10, 70, &(ex_lettering){.size = 12, .colour = ex_colour_grey(0)}, "x < \xC3\xA9");
    ex_image_destroy(small);
    assert_int_equal(ex_canvas_take_text(svg, &text, size, NULL), EX_OK);
    assert_int_equal(strlen(text), *size);
    return text;
}

static void svg_says_what_was_drawn(void **state) {
    (void)state;
    size_t size, again_size;
    char *text = draw_svg(&size), *again = draw_svg(&again_size);
    assert_string_equal(text, again);
    assert_int_equal(count_of(text, "<svg "), 1);
    assert_int_equal(count_of(text, "</svg>"), 1);
    assert_non_null(strstr(text, "<title>a &lt;b&gt; &amp; &quot;c&quot; ?"
                                 "?</title>"));
    assert_non_null(strstr(text, "<desc>what</desc>"));
    assert_non_null(strstr(text, "d=\"M1.5 2.25L30.12 0\" fill=\"none\" stroke=\"#d55e00\" stroke-width=\"1.5\" "
                                 "stroke-dasharray=\"2 3\"/>"));
    assert_int_equal(count_of(text, "clip-path=\"url(#c1)\""), 2);
    assert_non_null(strstr(text, "fill=\"#000000\" fill-opacity=\"0.5\""));
    assert_non_null(strstr(text, "xlink:href=\"data:image/png;base64,iVBORw0KGgo"));
    assert_non_null(strstr(text, "aria-label=\"x &lt; \xC3\xA9\""));
    free(text);
    free(again);
}

/* ---- wrong sizes, misuse, memory ---- */

static void wrong_sizes_are_refused(void **state) {
    (void)state;
    static const struct {
        double width, height, scale;
        const char *word;
    } wrong[] = {
        {0, 10, 1, "from 1 to"},     {10, -4, 1, "from 1 to"},       {10, NAN, 1, "from 1 to"},
        {17000, 10, 1, "from 1 to"}, {10, INFINITY, 1, "from 1 to"}, {10, 10, 0, "above 0"},
        {10, 10, NAN, "above 0"},    {10, 10, 17, "at most 16"},     {16000, 10, 4, "above 32768"},
        {10, 10, 0.01, "below 1"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        ex_error error = {.result = EX_OK};
        ex_canvas *none = NULL;
        assert_int_equal(
            ex_canvas_create_image(wrong[i].width, wrong[i].height, wrong[i].scale, ex_colour_grey(0), &none, &error),
            EX_ERROR_ARGUMENT);
        assert_null(none);
        assert_sentence(&error, EX_ERROR_ARGUMENT, wrong[i].word);
    }
}

static void stay_calm(const char *function, const char *what) {
    (void)function;
    (void)what;
}

static void misuse_is_reported(void **state) {
    (void)state;
    ex_set_misuse_hook(stay_calm);
    char *text;
    size_t size;
    open_canvas();
    assert_int_equal(ex_canvas_take_text(canvas, &text, &size, NULL), EX_ERROR_ARGUMENT);
    assert_int_equal(ex_canvas_create_over(NULL, 1, &canvas, NULL), EX_ERROR_ARGUMENT);
    ex_image *mine = ex_image_create(20, 10);
    assert_int_equal(ex_canvas_create_over(mine, 2, &canvas, NULL), EX_OK);
    assert_near(ex_canvas_width(canvas), 10, 0);
    assert_near(ex_canvas_height(canvas), 5, 0);
    ex_draw_box(canvas, (ex_box){0, 0, 10, 5}, ex_colour_grey(7));
    assert_int_equal(mine->pixels[4 * 199], 7);
    assert_int_equal(ex_canvas_take_image(canvas, &image, NULL), EX_ERROR_ARGUMENT);
    ex_image_destroy(mine);
    ex_set_misuse_hook(NULL);
}

static void draw_something(ex_canvas *c) {
    const ex_image small = {.width = 1, .height = 1, .pixels = (unsigned char[]){1, 2, 3, 4}};
    const double points[3][2] = {{0, 0}, {10, 0}, {0, 10}};
    ex_canvas_add_circle(c, 10, 10, 5);
    ex_canvas_fill(c, ex_colour_grey(0));
    ex_draw_hatch(c, points, (int[]){0, 3}, 1, 45, 3, &(ex_pen){ex_colour_grey(0), 1, 0, 0});
    ex_draw_text(c, 0, 20, &(ex_lettering){.size = 12, .colour = ex_colour_grey(0)}, "ab");
    ex_draw_image(c, &small, (ex_box){0, 0, 5, 5});
}

static ex_result attempt_image(void *context) {
    (void)context;
    ex_canvas *c;
    ex_image *result;
    ex_result code = ex_canvas_create_image(30, 30, 1, ex_colour_grey(255), &c, NULL);
    if (code != EX_OK)
        return code;
    draw_something(c);
    code = ex_canvas_take_image(c, &result, NULL);
    ex_image_destroy(result);
    return code;
}

static ex_result attempt_svg(void *context) {
    (void)context;
    ex_canvas *c;
    char *text;
    size_t size;
    ex_result code = ex_canvas_create_svg(30, 30, ex_colour_grey(255), "t", "d", &c, NULL);
    if (code != EX_OK)
        return code;
    draw_something(c);
    code = ex_canvas_take_text(c, &text, &size, NULL);
    free(text);
    return code;
}

static void memory_may_run_out(void **state) {
    (void)state;
    assert_true(fail_alloc_sweep(attempt_image, NULL) > 6);
    assert_true(fail_alloc_sweep(attempt_svg, NULL) > 6);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(half_planes_are_exact),
        cmocka_unit_test(boxes_cover_parts_of_pixels),
        cmocka_unit_test(circles_have_their_area),
        cmocka_unit_test(outlines_wind),
        cmocka_unit_test(lines_along_pixels_are_exact),
        cmocka_unit_test(lines_have_their_area),
        cmocka_unit_test(dashes_leave_gaps),
        cmocka_unit_test(mixes_in_linear_light),
        cmocka_unit_test(clips_cut),
        cmocka_unit_test(what_is_outside_does_no_harm),
        cmocka_unit_test(hatching_stays_inside),
        cmocka_unit_test(markers_and_arrows_are_where_they_should_be),
        cmocka_unit_test(images_keep_their_pixels),
        cmocka_unit_test(svg_says_what_was_drawn),
        cmocka_unit_test(wrong_sizes_are_refused),
        cmocka_unit_test(misuse_is_reported),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
