/* Paint of forms: textures and their seams, colours of vertices, scalars, stripes; and lines along polygons. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/check.h"
#include "support/pictures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The strongest of red, green, blue there: 0, 1, 2; 3 if none dominates. */
static int hue_at(const ex_image *image, int x, int y) {
    int best = 0, sum = 0;
    for (int k = 0; k < 3; k++) {
        sum += channel_at(image, x, y, k);
        best = channel_at(image, x, y, k) > channel_at(image, x, y, best) ? k : best;
    }
    int strongest = channel_at(image, x, y, best);
    return strongest - (sum - strongest) / 2 > 60 ? best : 3;
}

static void fill(unsigned char *pixel, int red, int green, int blue, int alpha) {
    pixel[0] = (unsigned char)red;
    pixel[1] = (unsigned char)green;
    pixel[2] = (unsigned char)blue;
    pixel[3] = (unsigned char)alpha;
}

/* ---- textures ---- */

/* Rows start at the top, texture coordinates at the bottom: upper left red, upper right green, lower left blue, lower
 * right transparent, which shows the clay. */
static void a_texture_stands_upright(void **state) {
    (void)state;
    unsigned char pixels[8 * 8][4];
    for (int i = 0; i < 64; i++) {
        bool right = i % 8 >= 4, low = i / 8 >= 4;
        fill(pixels[i], !right && !low ? 255 : 0, right && !low ? 255 : 0, !right && low ? 255 : 0,
             right && low ? 0 : 255);
    }
    ex_image texture = {.width = 8, .height = 8, .pixels = pixels[0]};
    ex_mesh *sheet = sheet_mesh(2, 2, 1, 1);
    ex_render_item item = item_of(sheet);
    item.texture = &texture;
    ex_render_def def = plain_def(&item, 1);
    ex_image *image = picture_of(&def);
    assert_int_equal(hue_at(image, 20, 20), 0);
    assert_int_equal(hue_at(image, 44, 20), 1);
    assert_int_equal(hue_at(image, 20, 44), 2);
    assert_int_equal(hue_at(image, 44, 44), 3);
    assert_true(light_at(image, 44, 44) > 120);
    /* Repeated: two copies across, and equally from below 0. */
    for (int i = 0; i < sheet->texcoord_count; i++)
        sheet->texcoords[2 * i] = 2 * sheet->texcoords[2 * i] - 7;
    ex_image *again = picture_of(&def);
    assert_int_equal(hue_at(again, 14, 20), 0);
    assert_int_equal(hue_at(again, 26, 20), 1);
    assert_int_equal(hue_at(again, 38, 20), 0);
    assert_int_equal(hue_at(again, 50, 20), 1);
    ex_image_destroy(again);
    ex_image_destroy(image);
    ex_mesh_destroy(sheet);
}

/* Two quads side by side, each with the complete texture, red on its left and green on its right half: right of the
 * seam it is red at once. If texture coordinates were per vertex, one of the two would be reversed. */
static void a_seam_is_sharp(void **state) {
    (void)state;
    unsigned char pixels[64 * 2][4];
    for (int i = 0; i < 128; i++)
        fill(pixels[i], i % 64 < 32 ? 255 : 0, i % 64 < 32 ? 0 : 255, 0, 255);
    ex_image texture = {.width = 64, .height = 2, .pixels = pixels[0]};
    ex_mesh *sheet = sheet_mesh(2, 2, 2, 1);
    double texcoords[4][2] = {{0.02, 0}, {0.98, 0}, {0.98, 1}, {0.02, 1}};
    memcpy(sheet->texcoords, texcoords, sizeof texcoords);
    sheet->texcoord_count = 4;
    for (int c = 0; c < 8; c++)
        sheet->corner_texcoords[c] = c % 4;
    ex_render_item item = item_of(sheet);
    item.texture = &texture;
    ex_render_def def = plain_def(&item, 1);
    ex_image *image = picture_of(&def);
    const int columns[8] = {8, 16, 20, 30, 33, 43, 47, 56}, hues[8] = {0, 0, 1, 1, 0, 0, 1, 1};
    for (int i = 0; i < 8; i++)
        for (int y = 10; y < 54; y += 4)
            assert_int_equal(hue_at(image, columns[i], y), hues[i]);
    /* A corner without a texture coordinate: its triangles are clay. */
    sheet->corner_texcoords[0] = -1;
    ex_image *without = picture_of(&def);
    assert_int_equal(hue_at(without, 9, 50), 3);
    assert_int_equal(hue_at(without, 56, 20), 1);
    ex_image_destroy(without);
    ex_image_destroy(image);
    ex_mesh_destroy(sheet);
}

/* Black and white pixels finer than those of the picture: the mean of their light, with no pattern. */
static void a_fine_texture_is_averaged(void **state) {
    (void)state;
    enum { FINE = 500 };
    unsigned char(*pixels)[4] = malloc(FINE * FINE * 4);
    unsigned char grey[1][4];
    assert_non_null(pixels);
    for (int i = 0; i < FINE * FINE; i++) {
        int code = (i % FINE + i / FINE) % 2 ? 255 : 0;
        fill(pixels[i], code, code, code, 255);
    }
    fill(grey[0], 188, 188, 188, 255); /* half the light of white */
    ex_image fine = {.width = FINE, .height = FINE, .pixels = pixels[0]};
    ex_image plain = {.width = 1, .height = 1, .pixels = grey[0]};
    ex_mesh *sheet = sheet_mesh(2, 2, 3, 3);
    ex_render_item item = item_of(sheet);
    ex_render_def def = plain_def(&item, 1);
    item.texture = &fine;
    ex_image *image = picture_of(&def);
    item.texture = &plain;
    ex_image *expected = picture_of(&def);
    for (int y = 8; y < 56; y++)
        for (int x = 8; x < 56; x++)
            assert_near(light_at(image, x, y), light_at(expected, x, y), 3);
    ex_image_destroy(image);
    ex_image_destroy(expected);
    ex_mesh_destroy(sheet);
    free(pixels);
}

/* ---- colours ---- */

static void vertices_have_colours_where_asked(void **state) {
    (void)state;
    ex_mesh *sheet = sheet_mesh(2, 2, 1, 1);
    const float colours[4][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 0}};
    sheet->colours = malloc(sizeof colours);
    assert_non_null(sheet->colours);
    memcpy(sheet->colours, colours, sizeof colours);
    ex_render_item item = item_of(sheet);
    ex_render_def def = plain_def(&item, 1);
    ex_image *image = picture_of(&def);
    assert_int_equal(hue_at(image, 8, 56), 3);
    ex_image_destroy(image);
    item.vertex_colours = true;
    image = picture_of(&def);
    assert_int_equal(hue_at(image, 8, 56), 0);
    assert_int_equal(hue_at(image, 56, 56), 1);
    assert_int_equal(hue_at(image, 8, 8), 2);
    ex_image_destroy(image);
    ex_mesh_destroy(sheet);
}

/* The colours' lightness follows the numbers, between vertices too; NaN is grey; and a given range is respected. */
static void a_scalar_is_a_scale_of_colours(void **state) {
    (void)state;
    ex_mesh *sheet = sheet_mesh(2, 2, 2, 1);
    float values[6] = {0, 5, 10, 0, 5, 10};
    ex_render_item item = item_of(sheet);
    item.scalar.values = values;
    ex_render_def def = plain_def(&item, 1);
    ex_image *image = picture_of(&def);
    for (int x = 8; x < 56; x += 6)
        assert_true(light_at(image, x + 6 < 56 ? x + 6 : 55, 32) > light_at(image, x, 32));
    ex_image *same = picture_of(&def);
    ex_image_destroy(image);
    item.scalar.min = 5;
    item.scalar.max = 10;
    image = picture_of(&def);
    assert_near(light_at(image, 8, 32), light_at(image, 30, 32), 4);
    assert_true(light_at(image, 30, 32) < light_at(same, 30, 32) - 20);
    ex_image_destroy(image);
    values[0] = values[3] = NAN;
    image = picture_of(&def);
    assert_near(channel_at(image, 12, 32, 0), channel_at(image, 12, 32, 2), 16);
    ex_image_destroy(image);
    /* Equal numbers everywhere are not an error. */
    for (int i = 0; i < 6; i++)
        values[i] = 0;
    item.scalar.min = item.scalar.max = 0;
    image = picture_of(&def);
    ex_image_destroy(image);
    ex_image_destroy(same);
    ex_mesh_destroy(sheet);
}

static bool is_empty_row(const ex_image *image, int y) {
    for (int x = 0; x < image->width; x++)
        if (channel_at(image, x, y, 3) > 0)
            return false;
    return true;
}

/* Number of times that something begins from top to bottom: a form, the words of its legend, the strip. */
static int beginnings(const ex_image *image) {
    int count = 0;
    for (int y = 1; y < image->height; y++)
        count += is_empty_row(image, y - 1) && !is_empty_row(image, y);
    return count;
}

/* The legend is below the form, in pictures that are large enough. */
static void a_scalar_has_a_legend(void **state) {
    (void)state;
    ex_mesh *ball = ball_mesh(1, 0, 0, 0, 16);
    float *values = calloc((size_t)ball->vertex_count, sizeof *values);
    assert_non_null(values);
    for (int v = 0; v < ball->vertex_count; v++)
        values[v] = (float)ball->positions[3 * v + 1] * 12;
    ex_render_item item = item_of(ball);
    item.scalar = (ex_render_scalar){.values = values, .diverging = true, .label = "height", .unit = "mm"};
    ex_render_def def = plain_def(&item, 1);
    const int sizes[][2] = {{64, 64}, {239, 400}, {300, 300}, {500, 250}, {250, 700}, {1000, 1000}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        def.width = sizes[i][0];
        def.height = sizes[i][1];
        for (int angle = 0; angle <= 30; angle += 30) {
            def.camera.angle = angle;
            def.legend = true;
            ex_image *with = picture_of(&def);
            def.legend = false;
            ex_image *without = picture_of(&def);
            assert_int_equal(beginnings(without), 1);
            if (i < 2)
                assert_memory_equal(with->pixels, without->pixels, 4 * (size_t)(def.width * def.height));
            else
                assert_true(beginnings(with) >= 2);
            ex_image_destroy(with);
            ex_image_destroy(without);
        }
    }
    free(values);
    ex_mesh_destroy(ball);
}

/* Ranges in which consecutive numbers are equal, or have no finite difference, are drawn too. */
static void a_legend_has_an_end(void **state) {
    (void)state;
    ex_mesh *ball = ball_mesh(1, 0, 0, 0, 8);
    float *values = calloc((size_t)ball->vertex_count, sizeof *values);
    assert_non_null(values);
    ex_render_item item = item_of(ball);
    ex_render_def def = plain_def(&item, 1);
    def.width = def.height = 250;
    def.legend = true;
    const double ranges[][2] = {{1e16, 1e16 + 4}, {-1e308, 1e308}, {0, 5e-324}, {-1e-300, 1e300}, {7, 7}};
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        item.scalar = (ex_render_scalar){.values = values, .min = ranges[i][0], .max = ranges[i][1]};
        ex_image_destroy(picture_of(&def));
    }
    free(values);
    ex_mesh_destroy(ball);
}

/* Along a row of pixels, the light has two values and little between them; down the diagonal of a stripe it has one. A
 * sheet of 64 pixels has stripes 8.5 pixels apart along a row: 6 times the root of 2. */
static void stripes_are_even(void **state) {
    (void)state;
    ex_mesh *sheet = sheet_mesh(2, 2, 1, 1);
    ex_render_item item = item_of(sheet);
    ex_render_def def = plain_def(&item, 1);
    double depth[3];
    for (int i = 0; i < 3; i++) {
        item.stripes = 0.5 * i;
        ex_image *image = picture_of(&def);
        double low = 255, high = 0, along = 0;
        int changes = 0;
        for (int x = 12; x < 52; x++) {
            const double light = light_at(image, x, 32);
            low = light < low ? light : low;
            high = light > high ? light : high;
        }
        for (int x = 12; x < 52; x++) {
            const double middle = (low + high) / 2;
            changes += (light_at(image, x, 32) > middle) != (light_at(image, x + 1, 32) > middle);
            if (x < 40)
                along = fmax(along, fabs(light_at(image, x, 52 - x) - light_at(image, x + 1, 51 - x)));
        }
        depth[i] = high - low;
        if (i == 0)
            assert_true(depth[0] < 4);
        else
            assert_in_range(changes, 8, 11); /* 40 pixels, two edges in 8.5 */
        assert_true(along < 6);
        ex_image_destroy(image);
    }
    assert_true(depth[1] > 15);
    assert_true(depth[2] > 1.5 * depth[1]);
    ex_mesh_destroy(sheet);
}

/* ---- lines ---- */

/* Along the edges of a quad, not along the diagonal of its triangles; if triangulated, along that too. */
static void lines_follow_polygons(void **state) {
    (void)state;
    ex_mesh *quad = sheet_mesh(2, 2, 1, 1);
    ex_render_item item = item_of(quad);
    ex_render_def def = plain_def(&item, 1);
    for (int cut = 0; cut < 2; cut++) {
        if (cut) {
            const int corners[6] = {0, 1, 3, 0, 3, 2}, offsets[3] = {0, 3, 6};
            free(quad->corners);
            free(quad->face_offsets);
            free(quad->corner_texcoords);
            quad->corner_texcoords = NULL;
            quad->corners = malloc(sizeof corners);
            quad->face_offsets = malloc(sizeof offsets);
            assert_true(quad->corners && quad->face_offsets);
            memcpy(quad->corners, corners, sizeof corners);
            memcpy(quad->face_offsets, offsets, sizeof offsets);
            quad->corner_count = 6;
            quad->face_count = 2;
        }
        def.wireframe = 0;
        ex_image *plain = picture_of(&def);
        def.wireframe = 3;
        ex_image *lines = picture_of(&def);
        assert_true(light_at(lines, 5, 20) < light_at(plain, 5, 20) - 50);
        assert_true(light_at(lines, 44, 58) < light_at(plain, 44, 58) - 50);
        assert_near(light_at(lines, 20, 32), light_at(plain, 20, 32), 1);
        double centre = light_at(plain, 32, 31) - light_at(lines, 32, 31);
        assert_true(cut ? centre > 80 : fabs(centre) < 1);
        ex_image_destroy(plain);
        ex_image_destroy(lines);
    }
    ex_mesh_destroy(quad);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_texture_stands_upright),
        cmocka_unit_test(a_seam_is_sharp),
        cmocka_unit_test(a_fine_texture_is_averaged),
        cmocka_unit_test(vertices_have_colours_where_asked),
        cmocka_unit_test(a_scalar_is_a_scale_of_colours),
        cmocka_unit_test(a_scalar_has_a_legend),
        cmocka_unit_test(a_legend_has_an_end),
        cmocka_unit_test(stripes_are_even),
        cmocka_unit_test(lines_follow_polygons),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
