/* Forms that cannot be rendered give a sentence; and memory that runs out at any point leaves nothing behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/pictures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- wrong definitions ---- */

static void no_items(ex_render_def *def, ex_render_item *item) {
    (void)item;
    def->item_count = 0;
}
static void no_width(ex_render_def *def, ex_render_item *item) {
    (void)item;
    def->width = 0;
}
static void huge_size(ex_render_def *def, ex_render_item *item) {
    (void)item;
    def->height = EX_IMAGE_MAX + 1;
}
static void too_many_rays(ex_render_def *def, ex_render_item *item) {
    (void)item;
    def->occlusion = 17;
}
static void odd_samples(ex_render_def *def, ex_render_item *item) {
    (void)item;
    def->samples = 3;
}
static void no_line(ex_render_def *def, ex_render_item *item) {
    (void)item;
    def->wireframe = NAN;
}
static void no_background(ex_render_def *def, ex_render_item *item) {
    (void)item;
    def->background = EX_BACKGROUND_COUNT;
}
static void steep_pitch(ex_render_def *def, ex_render_item *item) {
    (void)item;
    def->camera.pitch = 90.5;
}
static void no_yaw(ex_render_def *def, ex_render_item *item) {
    (void)item;
    def->camera.yaw = NAN;
}
static void wide_angle(ex_render_def *def, ex_render_item *item) {
    (void)item;
    def->camera.angle = 170;
}
static void no_zoom(ex_render_def *def, ex_render_item *item) {
    (void)item;
    def->camera.zoom = 0;
}
static void light_below(ex_render_def *def, ex_render_item *item) {
    (void)item;
    def->light_pitch = -100;
}
static void turned_box(ex_render_def *def, ex_render_item *item) {
    (void)item;
    def->camera.box[1] = 2;
}
static void empty_box(ex_render_def *def, ex_render_item *item) {
    (void)item;
    for (int k = 0; k < 6; k++)
        def->camera.box[k] = 1;
}
static void endless_box(ex_render_def *def, ex_render_item *item) {
    (void)item;
    def->camera.box[4] = INFINITY;
}
static const float one_place[6] = {1, 2, 3, 1, 2, 3}, lost_place[6] = {0, 0, 0, 1, NAN, 1};
static void points_at_one_place(ex_render_def *def, ex_render_item *item) {
    (void)item;
    def->camera.points = one_place;
    def->camera.point_count = 2;
}
static void lost_point(ex_render_def *def, ex_render_item *item) {
    (void)item;
    def->camera.points = lost_place;
    def->camera.point_count = 2;
}
static void no_mesh(ex_render_def *def, ex_render_item *item) {
    (void)def;
    item->mesh = NULL;
}
static ex_mesh lone_vertices = {.vertex_count = 0};
static void no_faces(ex_render_def *def, ex_render_item *item) {
    (void)def;
    item->mesh = &lone_vertices;
}
static float lost[3 * 4096];
static void lost_vertex(ex_render_def *def, ex_render_item *item) {
    (void)def;
    lost[3 * 17 + 1] = NAN;
    item->positions = lost;
}
static float gathered[3 * 4096];
static void one_point(ex_render_def *def, ex_render_item *item) {
    (void)def;
    item->positions = gathered;
}
static void bright_colour(ex_render_def *def, ex_render_item *item) {
    (void)def;
    item->colour[1] = 1.5;
}
static void negative_stripes(ex_render_def *def, ex_render_item *item) {
    (void)def;
    item->stripes = -1;
}
static void no_range(ex_render_def *def, ex_render_item *item) {
    (void)def;
    item->scalar = (ex_render_scalar){.values = gathered, .min = 1, .max = -1};
}
static ex_image no_pixels = {.width = 0, .height = 4};
static int corner_texcoords[4096];
static void empty_texture(ex_render_def *def, ex_render_item *item) {
    (void)def;
    item->texture = &no_pixels;
}

static void wrong_definitions_are_refused(void **state) {
    (void)state;
    static const struct {
        void (*spoil)(ex_render_def *def, ex_render_item *item);
        ex_result result;
        const char *word;
    } cases[] = {
        {no_items, EX_ERROR_ARGUMENT, "nothing"},
        {no_width, EX_ERROR_ARGUMENT, "0 by 64"},
        {huge_size, EX_ERROR_ARGUMENT, "32769"},
        {too_many_rays, EX_ERROR_ARGUMENT, "17"},
        {odd_samples, EX_ERROR_ARGUMENT, "3 samples"},
        {no_line, EX_ERROR_ARGUMENT, "wireframe"},
        {no_background, EX_ERROR_ARGUMENT, "background"},
        {steep_pitch, EX_ERROR_ARGUMENT, "90.5"},
        {no_yaw, EX_ERROR_ARGUMENT, "yaw nan"},
        {wide_angle, EX_ERROR_ARGUMENT, "170"},
        {no_zoom, EX_ERROR_ARGUMENT, "zoom is 0"},
        {light_below, EX_ERROR_ARGUMENT, "-100"},
        {turned_box, EX_ERROR_ARGUMENT, "along y"},
        {empty_box, EX_ERROR_ARGUMENT, "one point"},
        {endless_box, EX_ERROR_ARGUMENT, "inf"},
        {points_at_one_place, EX_ERROR_ARGUMENT, "one point"},
        {lost_point, EX_ERROR_ARGUMENT, "along y"},
        {no_mesh, EX_ERROR_ARGUMENT, "no mesh"},
        {no_faces, EX_ERROR_DATA, "no faces"},
        {lost_vertex, EX_ERROR_DATA, "vertex 17"},
        {one_point, EX_ERROR_DATA, "one point"},
        {bright_colour, EX_ERROR_ARGUMENT, "1.5"},
        {negative_stripes, EX_ERROR_ARGUMENT, "stripes"},
        {no_range, EX_ERROR_ARGUMENT, "1 to -1 is not a range"},
        {empty_texture, EX_ERROR_ARGUMENT, "no pixels"},
    };
    ex_mesh *ball = ball_mesh(1, 0, 0, 0, 12);
    ball->corner_texcoords = corner_texcoords;
    double texcoord[2] = {0, 0};
    ball->texcoords = texcoord;
    ball->texcoord_count = 1;
    for (int i = 0; i < (int)(sizeof cases / sizeof cases[0]); i++) {
        ex_render_item item = item_of(ball);
        ex_render_def def = plain_def(&item, 1);
        cases[i].spoil(&def, &item);
        ex_error error = {.result = EX_OK};
        ex_image *image = (ex_image *)&error;
        assert_int_equal(ex_render(&def, &image, &error), cases[i].result);
        assert_sentence(&error, cases[i].result, cases[i].word);
        assert_null(image);
    }
    ball->corner_texcoords = NULL;
    ball->texcoords = NULL;
    ball->texcoord_count = 0;

    /* The second of two: it is named. And faces with invalid corners. */
    ex_render_item items[2] = {item_of(ball), item_of(&lone_vertices)};
    ex_render_def def = plain_def(items, 2);
    ex_error error = {.result = EX_OK};
    ex_image *image;
    assert_int_equal(ex_render(&def, &image, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "item 1: ");
    int kept = ball->corners[5];
    ball->corners[5] = ball->vertex_count;
    def = plain_def(items, 1);
    assert_int_equal(ex_render(&def, &image, &error), EX_ERROR_DATA);
    ball->corners[5] = kept;
    ex_mesh_destroy(ball);
}

/* Flat forms, faces without area, zero normals: rendered as well as possible. */
static void odd_forms_are_rendered(void **state) {
    (void)state;
    ex_mesh *sheet = sheet_mesh(2, 2, 3, 3);
    for (int k = 0; k < 3; k++)
        memcpy(sheet->positions + 3 * 5, sheet->positions + 3 * 6, 3 * sizeof(double));
    float *normals = calloc((size_t)sheet->vertex_count * 3, sizeof *normals);
    assert_non_null(normals);
    normals[4] = NAN;
    ex_render_item item = item_of(sheet);
    item.normals = normals;
    for (int yaw = 0; yaw < 360; yaw += 45) {
        ex_render_def def = plain_def(&item, 1);
        def.camera.yaw = yaw; /* at 90 it has no width at all */
        def.camera.angle = yaw % 90 ? 50 : 0;
        def.ground = true;
        def.occlusion = 2;
        ex_image_destroy(picture_of(&def));
        def.camera.pitch = yaw % 2 ? 90 : -90;
        ex_image_destroy(picture_of(&def));
    }
    free(normals);
    ex_mesh_destroy(sheet);
}

/* ---- memory ---- */

static ex_result attempt(void *context) {
    ex_image *image = NULL;
    ex_result result = ex_render(context, &image, NULL);
    assert_true((result == EX_OK) == (image != NULL));
    ex_image_destroy(image);
    return result;
}

static void memory_runs_out(void **state) {
    (void)state;
    unsigned char pixels[4][4] = {{255, 0, 0, 255}, {0, 255, 0, 255}, {0, 0, 255, 255}, {255, 255, 0, 128}};
    ex_image texture = {.width = 2, .height = 2, .pixels = pixels[0]};
    ex_mesh *meshes[2] = {ball_mesh(1, 0, 0, 0, 8), sheet_mesh(2, 2, 1, 1)};
    float values[4] = {0, 1, 2, 3};
    float positions[12] = {-1, -1, 0, 1, -1, 0, -1, 1, 0, 1, 1, 0.5f};
    ex_render_item items[3] = {item_of(meshes[0]), item_of(meshes[1]), item_of(meshes[1])};
    items[1].texture = &texture;
    items[2].scalar = (ex_render_scalar){.values = values, .label = "number"};
    items[2].positions = positions;
    ex_render_def def = plain_def(items, 3);
    def.width = def.height = 245; /* several tiles, and a legend */
    def.samples = 1;
    def.wireframe = 1;
    assert_true(fail_alloc_sweep(attempt, &def) > 15);
    for (int i = 0; i < 2; i++)
        ex_mesh_destroy(meshes[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_definitions_are_refused),
        cmocka_unit_test(odd_forms_are_rendered),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
