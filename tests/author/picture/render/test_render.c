/* Rendering: positions of objects in a picture, their lit sides, and their shadows; worked out from the geometry. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "author/picture/render/render.h"
#include "support/check.h"
#include "support/pictures.h"

#include <math.h>

#define PI 3.14159265358979323846
/* Radius of the form in a picture of 64 pixels with a margin of 8 % on either side. */
#define FRAMED_RADIUS (64 * (1 - 2 * 0.08) / 2)

/* ---- positions ---- */

static void a_ball_fills_the_frame(void **state) {
    (void)state;
    /* Far from the origin, where floats alone would be coarse. */
    ex_mesh *ball = ball_mesh(0.01, 700, -300, 20, 96);
    ex_render_item item = item_of(ball);
    for (int perspective = 0; perspective < 2; perspective++) {
        ex_render_def def = plain_def(&item, 1);
        def.camera.angle = perspective ? 40 : 0;
        def.camera.yaw = 77;
        def.camera.pitch = -35;
        ex_image *image = picture_of(&def);
        double x, y, area = covered(image, &x, &y);
        assert_near(area, PI * FRAMED_RADIUS * FRAMED_RADIUS, 0.01 * area);
        assert_near(x, 32, 0.1);
        assert_near(y, 32, 0.1);
        ex_image_destroy(image);
    }
    ex_mesh_destroy(ball);
}

/* Times a power of two, which is exact: the same bytes, with all effects of light. */
static void forms_may_have_any_size(void **state) {
    (void)state;
    const int powers[3] = {0, 90, -90};
    ex_image *images[3];
    for (int i = 0; i < 3; i++) {
        ex_mesh *box = box_mesh((double[]){-1, 0, -0.5}, (double[]){1, 1.5, 0.5});
        for (int k = 0; k < 3 * box->vertex_count; k++)
            box->positions[k] = ldexp(box->positions[k], powers[i]);
        ex_render_item item = item_of(box);
        ex_render_def def = plain_def(&item, 1);
        def.camera.angle = 24;
        def.camera.yaw = 30;
        def.camera.pitch = 10;
        def.occlusion = 4;
        def.ground = true;
        def.wireframe = 1;
        images[i] = picture_of(&def);
        ex_mesh_destroy(box);
    }
    for (int i = 1; i < 3; i++)
        assert_memory_equal(images[0]->pixels, images[i]->pixels, 4 * 64 * 64);
    double x, y;
    assert_true(covered(images[0], &x, &y) > 500);
    for (int i = 0; i < 3; i++)
        ex_image_destroy(images[i]);
}

static void pictures_may_be_wide_or_tall(void **state) {
    (void)state;
    ex_mesh *ball = ball_mesh(1, 0, 0, 0, 64);
    ex_render_item item = item_of(ball);
    const int sizes[3][2] = {{128, 64}, {64, 150}, {1, 1}};
    for (int i = 0; i < 3; i++) {
        ex_render_def def = plain_def(&item, 1);
        def.camera.angle = i == 1 ? 30 : 0;
        def.width = sizes[i][0];
        def.height = sizes[i][1];
        ex_image *image = picture_of(&def);
        double x, y, area = covered(image, &x, &y);
        if (i < 2)
            assert_near(area, PI * FRAMED_RADIUS * FRAMED_RADIUS, 0.02 * area);
        assert_near(x, sizes[i][0] / 2.0, 0.1);
        assert_near(y, sizes[i][1] / 2.0, 0.1);
        ex_image_destroy(image);
    }
    ex_mesh_destroy(ball);
}

/* The eight corners of a box as points frame as the box does, to the byte; and points replace a box. */
static void points_set_the_frame(void **state) {
    (void)state;
    ex_mesh *ball = ball_mesh(1, 0, 0, 0, 24);
    ex_render_item item = item_of(ball);
    ex_render_def def = plain_def(&item, 1);
    const double box[6] = {-3, -2, -2, 1, 2, 2};
    float corners[8][3];
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 3; k++)
            corners[i][k] = (float)box[(i >> k) & 1 ? 3 + k : k];
    for (int angle = 0; angle < 2; angle++) {
        def.camera.angle = 24 * angle;
        for (int k = 0; k < 6; k++)
            def.camera.box[k] = box[k];
        ex_image *by_box = picture_of(&def);
        for (int k = 0; k < 6; k++)
            def.camera.box[k] = 7 * box[k];
        def.camera.points = corners[0];
        def.camera.point_count = 8;
        ex_image *by_points = picture_of(&def);
        assert_memory_equal(by_box->pixels, by_points->pixels, 4 * (size_t)by_box->width * (size_t)by_box->height);
        def.camera.point_count = 0;
        ex_image *unused = picture_of(&def);
        assert_memory_not_equal(by_box->pixels, unused->pixels, 4 * (size_t)by_box->width * (size_t)by_box->height);
        def.camera.points = NULL;
        ex_image_destroy(by_box);
        ex_image_destroy(by_points);
        ex_image_destroy(unused);
    }
    ex_mesh_destroy(ball);
}

static void a_box_and_a_zoom_set_the_frame(void **state) {
    (void)state;
    ex_mesh *ball = ball_mesh(1, 0, 0, 0, 64);
    ex_render_item item = item_of(ball);
    ex_render_def def = plain_def(&item, 1);
    const double box[6] = {-3, -2, -2, 1, 2, 2}; /* the ball fills a quarter of it, right of its middle */
    for (int k = 0; k < 6; k++)
        def.camera.box[k] = box[k];
    double x, y;
    ex_image *image = picture_of(&def);
    double quarter = covered(image, &x, &y);
    assert_near(quarter, PI * FRAMED_RADIUS * FRAMED_RADIUS / 4, 0.02 * quarter);
    assert_near(x, 32 + FRAMED_RADIUS / 2, 0.1);
    assert_near(y, 32, 0.1);
    ex_image_destroy(image);
    def = plain_def(&item, 1);
    def.camera.zoom = 0.5;
    image = picture_of(&def);
    quarter = covered(image, &x, &y);
    assert_near(quarter, PI * FRAMED_RADIUS * FRAMED_RADIUS / 4, 0.02 * quarter);
    ex_image_destroy(image);
    ex_mesh_destroy(ball);
}

/* Columns and rows from the picture's edges to the first that is half covered: left, top, right, bottom. */
static void margins_of(const ex_image *image, int margins[4]) {
    for (int side = 0; side < 4; side++) {
        int found = 64;
        for (int along = 0; along < 64; along++)
            for (int in = 0; in < found; in++) {
                int x = side == 0 ? in : side == 2 ? 63 - in : along, y = side == 1 ? in : side == 3 ? 63 - in : along;
                if (channel_at(image, x, y, 3) > 127)
                    found = in;
            }
        margins[side] = found;
    }
}

/* Two balls of different sizes anywhere in space: margins are even on opposite sides, and one pair is as narrow as
 * allowed. */
static void frames_are_tight(void **state) {
    (void)state;
    uint64_t random = 5;
    for (int trial = 0; trial < 20; trial++) {
        double at[3];
        for (int k = 0; k < 3; k++)
            at[k] = random_between(&random, -3, 3);
        ex_mesh *meshes[2] = {ball_mesh(1, 0, 0, 0, 24), ball_mesh(0.6, at[0], at[1], at[2], 24)};
        ex_render_item items[2] = {item_of(meshes[0]), item_of(meshes[1])};
        ex_render_def def = plain_def(items, 2);
        def.camera.angle = trial % 3 ? 70 : 0;
        def.camera.yaw = random_between(&random, 0, 360);
        def.camera.pitch = random_between(&random, -80, 80);
        ex_image *image = picture_of(&def);
        int margins[4];
        margins_of(image, margins);
        assert_near(margins[0], margins[2], 1);
        assert_near(margins[1], margins[3], 1);
        assert_near(margins[0] < margins[1] ? margins[0] : margins[1], 64 * 0.08, 1);
        ex_image_destroy(image);
        for (int i = 0; i < 2; i++)
            ex_mesh_destroy(meshes[i]);
    }
}

/* A grey ball with a red one next to it, from every side. */
static void angles_go_around(void **state) {
    (void)state;
    ex_mesh *meshes[3] = {ball_mesh(1, 0, 0, 0, 32), ball_mesh(0.4, 2, 0, 0, 24), ball_mesh(0.4, 0, 0, 2, 24)};
    const struct {
        double yaw, pitch;
        int red;     /* which ball */
        double x, y; /* the side of the middle on which it is seen */
    } views[] = {{0, 0, 1, 1, 0},  {180, 0, 1, -1, 0}, {90, 0, 2, -1, 0}, {-90, 0, 2, 1, 0},
                 {0, 90, 2, 0, 1}, {0, -90, 2, 0, -1}, {0, 45, 2, 0, 1},  {90, 0, 1, 0, 0}};
    for (int i = 0; i < (int)(sizeof views / sizeof views[0]); i++) {
        ex_render_item items[2] = {item_of(meshes[0]), item_of(meshes[views[i].red])};
        items[1].colour[0] = 0.9;
        items[1].colour[1] = items[1].colour[2] = 0.1;
        for (int perspective = 0; perspective < 2; perspective++) {
            ex_render_def def = plain_def(items, 2);
            def.camera.yaw = views[i].yaw;
            def.camera.pitch = views[i].pitch;
            def.camera.angle = perspective ? 30 : 0;
            const double box[6] = {-3, -3, -3, 3, 3, 3};
            for (int k = 0; k < 6; k++)
                def.camera.box[k] = box[k];
            ex_image *image = picture_of(&def);
            double x, y;
            assert_true(red_middle(image, &x, &y));
            assert_near((x - 32) * (views[i].x == 0 ? 1 : views[i].x), views[i].x == 0 ? 0 : 16,
                        views[i].x == 0 ? 2 : 9);
            assert_near((y - 32) * (views[i].y == 0 ? 1 : views[i].y), views[i].y == 0 ? 0 : 13,
                        views[i].y == 0 ? 2 : 9);
            ex_image_destroy(image);
        }
    }
    for (int i = 0; i < 3; i++)
        ex_mesh_destroy(meshes[i]);
}

static void a_turn_stays_in_one_frame(void **state) {
    (void)state;
    ex_mesh *box = box_mesh((double[]){-2, -0.5, -0.2}, (double[]){2, 0.5, 0.2});
    ex_render_item item = item_of(box);
    double heights[2] = {0, 0};
    for (int i = 0; i < 12; i++) {
        ex_render_def def = plain_def(&item, 1);
        def.camera.all_around = true;
        def.camera.angle = i % 2 ? 25 : 0;
        def.camera.pitch = 20;
        def.camera.yaw = 30 * i;
        ex_image *image = picture_of(&def);
        for (int k = 0; k < 64; k++)
            assert_int_equal(channel_at(image, k, 0, 3) + channel_at(image, k, 63, 3) + channel_at(image, 0, k, 3) +
                                 channel_at(image, 63, k, 3),
                             0);
        /* Seen from the front and from behind it is as large. */
        double x, y, area = covered(image, &x, &y);
        if (i < 2)
            heights[i] = area;
        if (i == 6 || i == 7)
            assert_near(area, heights[i - 6], 0.01 * area);
        ex_image_destroy(image);
    }
    ex_mesh_destroy(box);
}

/* ---- light ---- */

static void the_lit_side_is_brighter(void **state) {
    (void)state;
    ex_mesh *ball = ball_mesh(1, 0, 0, 0, 48);
    ex_render_item item = item_of(ball);
    ex_render_def def = plain_def(&item, 1);
    const struct {
        double yaw, pitch;
        int x, y; /* position of the lit side */
    } lights[] = {{-60, 0, -1, 0}, {60, 0, 1, 0}, {0, 80, 0, -1}, {0, -80, 0, 1}};
    for (int i = 0; i < 4; i++) {
        def.light_yaw = lights[i].yaw;
        def.light_pitch = lights[i].pitch;
        ex_image *image = picture_of(&def);
        int x = lights[i].x, y = lights[i].y;
        assert_true(light_at(image, 32 + 18 * x, 32 + 18 * y) > light_at(image, 32 - 18 * x, 32 - 18 * y) + 40);
        ex_image_destroy(image);
    }
    ex_mesh_destroy(ball);
}

/* A coarse ball with smooth normals is nowhere much darker than a fine one: its faces cast no shadows on each other
 * where the light grazes them. */
static void coarse_balls_have_no_blocks(void **state) {
    (void)state;
    ex_mesh *balls[2] = {ball_mesh(1, 0, 0, 0, 10), ball_mesh(1, 0, 0, 0, 96)};
    for (int yaw = 0; yaw <= 30; yaw += 30) {
        ex_image *images[2];
        for (int i = 0; i < 2; i++) {
            ex_render_item item = item_of(balls[i]);
            ex_render_def def = plain_def(&item, 1);
            def.width = def.height = 200;
            def.light_yaw = -75;
            def.light_pitch = 0;
            def.camera.yaw = yaw;
            images[i] = picture_of(&def);
        }
        for (int y = 60; y <= 140; y += 5)
            for (int x = 45; x < 155; x++)
                assert_true(light_at(images[0], x, y) > light_at(images[1], x, y) - 5);
        for (int i = 0; i < 2; i++)
            ex_image_destroy(images[i]);
    }
    for (int i = 0; i < 2; i++)
        ex_mesh_destroy(balls[i]);
}

/* A plain wall over many tiles, with everything that is gathered and averaged: no borders. */
static void tiles_do_not_show(void **state) {
    (void)state;
    ex_mesh *wall = sheet_mesh(2, 2, 1, 1);
    ex_render_item item = item_of(wall);
    ex_render_def def = plain_def(&item, 1);
    def.width = 250;
    def.height = 220;
    def.camera.zoom = 2;
    def.occlusion = 4;
    ex_image *image = picture_of(&def);
    for (int y = 0; y + 1 < def.height; y++)
        for (int x = 0; x + 1 < def.width; x++) {
            assert_near(light_at(image, x, y), light_at(image, x + 1, y), 1.01);
            assert_near(light_at(image, x, y), light_at(image, x, y + 1), 1.01);
        }
    ex_image_destroy(image);
    ex_mesh_destroy(wall);
}

/* Straight from above, a ball on the ground, and light from the left at 45 degrees: the shadow of its middle lies one
 * radius to the right. */
static void the_shadow_falls_where_it_must(void **state) {
    (void)state;
    ex_mesh *ball = ball_mesh(1, 0, 0, 0, 48);
    ex_render_item item = item_of(ball);
    for (int side = -1; side <= 1; side += 2) {
        ex_render_def def = plain_def(&item, 1);
        const double box[6] = {-3, -1, -3, 3, 1, 3};
        for (int k = 0; k < 6; k++)
            def.camera.box[k] = box[k];
        def.camera.pitch = 90;
        def.ground = true;
        def.light_yaw = 90 * side;
        def.light_pitch = 45;
        ex_image *image = picture_of(&def);
        double pixel = 2 * FRAMED_RADIUS / 6;
        /* Under the light's middle, just beyond the ball: its shadow reaches from 1 - sqrt 2 to 1 + sqrt 2. */
        int inside = (int)(32 - side * 1.5 * pixel), outside = (int)(32 - side * 2.9 * pixel);
        int other = (int)(32 + side * 1.5 * pixel);
        assert_true(channel_at(image, inside, 32, 3) > 70);
        assert_true(channel_at(image, outside, 32, 3) < 15);
        assert_true(channel_at(image, other, 32, 3) < 15);
        assert_true(channel_at(image, inside, (int)(32 + 1.5 * pixel), 3) < 60);
        ex_image_destroy(image);
    }
    ex_mesh_destroy(ball);
}

/* True if each of the rectangles 2^i by 2^-i of 1 / count holds one of the points of `patterns` patterns from the first
 * on. */
static bool are_even(int first, int patterns, int rays) {
    const int count = patterns * rays;
    bool even = true;
    for (int columns = 1; columns <= count; columns *= 2) {
        bool taken[256] = {false};
        for (int i = 0; i < count; i++) {
            float a, b;
            exi_light_point(first + i / rays, i % rays, rays, &a, &b);
            assert_true(a > 0 && a < 1 && b > 0 && b < 1);
            const int at = (int)(a * (float)columns) + columns * (int)(b * (float)(count / columns));
            even = even && !taken[at];
            taken[at] = true;
        }
    }
    return even;
}

/* Rows of pixels, whose four patterns follow each other, and complete blocks: otherwise rows differ, and shadows on
 * ground seen at a grazing angle have streaks. */
static void rays_are_even_by_pixel_row_and_block(void **state) {
    (void)state;
    for (int rays = 1; rays <= 16; rays *= 2) {
        for (int pattern = 0; pattern < 16; pattern++)
            assert_true(are_even(pattern, 1, rays));
        for (int row = 0; row < 4; row++)
            assert_true(are_even(4 * row, 4, rays));
        assert_true(are_even(0, 16, rays));
    }
}

/* A crevice sees less sky than a plain; and nothing in the open is darker than necessary. */
static void what_sees_less_sky_is_darker(void **state) {
    (void)state;
    ex_mesh *meshes[3] = {box_mesh((double[]){-3, -3, -0.1}, (double[]){3, 3, 0}),
                          box_mesh((double[]){-0.9, -3, 0}, (double[]){-0.3, 3, 1.5}),
                          box_mesh((double[]){0.3, -3, 0}, (double[]){0.9, 3, 1.5})};
    ex_render_item items[3] = {item_of(meshes[0]), item_of(meshes[1]), item_of(meshes[2])};
    ex_render_def def = plain_def(items, 3);
    def.light_yaw = 0;
    def.light_pitch = 0; /* from the eye: hardly any shadow */
    double light[2][2];
    for (int occluded = 0; occluded < 2; occluded++) {
        def.occlusion = occluded ? 16 : 0;
        ex_image *image = picture_of(&def);
        light[occluded][0] = light_at(image, 32, 32);
        light[occluded][1] = light_at(image, 8, 32);
        ex_image_destroy(image);
    }
    assert_true(light[1][0] < light[0][0] - 10);
    assert_true(light[1][1] > light[0][1] - 6);
    for (int i = 0; i < 3; i++)
        ex_mesh_destroy(meshes[i]);
}

/* Faces of a box are flat under smooth shading too; faces of a ball are not, unless flat shading is requested. */
static void edges_stay_hard_and_balls_round(void **state) {
    (void)state;
    ex_mesh *box = box_mesh((double[]){-1, -1, -1}, (double[]){1, 1, 1}), *ball = ball_mesh(1, 0, 0, 0, 8);
    ex_render_item item = item_of(box);
    ex_render_def def = plain_def(&item, 1);
    def.camera.pitch = 30;
    ex_image *image = picture_of(&def);
    assert_near(light_at(image, 24, 40), light_at(image, 40, 48), 2);
    ex_image_destroy(image);
    def.smooth = true;
    image = picture_of(&def);
    assert_true(fabs(light_at(image, 20, 36) - light_at(image, 44, 50)) > 10);
    ex_image_destroy(image);

    /* Across the face of a ball of eight that looks at the eye. */
    item = item_of(ball);
    def = plain_def(&item, 1);
    def.camera.yaw = 22.5;
    double change[2];
    for (int flat = 0; flat < 2; flat++) {
        def.flat = flat == 1;
        image = picture_of(&def);
        change[flat] = fabs(light_at(image, 26, 26) - light_at(image, 38, 26));
        ex_image_destroy(image);
    }
    assert_true(change[1] < 1.5);
    assert_true(change[0] > 6);
    ex_mesh_destroy(box);
    ex_mesh_destroy(ball);
}

/* The same picture if the given normals point out or in. */
static void normals_that_point_inwards_are_turned(void **state) {
    (void)state;
    ex_mesh *ball = ball_mesh(1, 0, 0, 0, 12);
    float normals[3 * 62];
    assert_int_equal(ball->vertex_count, 62);
    ex_render_item item = item_of(ball);
    item.normals = normals;
    ex_render_def def = plain_def(&item, 1);
    ex_image *images[3];
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3 * 62; k++)
            normals[k] = (float)(i == 0 ? ball->positions[k] : i == 1 ? -ball->positions[k] : 0);
        images[i] = picture_of(&def);
    }
    assert_memory_equal(images[0]->pixels, images[1]->pixels, 64 * 64 * 4);
    /* Without normals, each face has its own. */
    def.flat = true;
    ex_image *flat = picture_of(&def);
    assert_memory_equal(images[2]->pixels, flat->pixels, 64 * 64 * 4);
    assert_memory_not_equal(images[2]->pixels, images[0]->pixels, 64 * 64 * 4);
    ex_image_destroy(flat);
    for (int i = 0; i < 3; i++)
        ex_image_destroy(images[i]);
    ex_mesh_destroy(ball);
}

/* Reversed faces are lit all the same, but red if backfaces are shown. */
static void the_back_is_seen_when_asked_for(void **state) {
    (void)state;
    ex_mesh *ball = ball_mesh(1, 0, 0, 0, 24);
    turn_faces(ball);
    ex_render_item item = item_of(ball);
    ex_render_def def = plain_def(&item, 1);
    double x, y;
    ex_image *image = picture_of(&def);
    assert_false(red_middle(image, &x, &y));
    assert_true(light_at(image, 20, 20) > light_at(image, 44, 44) + 20);
    ex_image_destroy(image);
    def.backfaces = true;
    image = picture_of(&def);
    assert_true(red_middle(image, &x, &y));
    ex_image_destroy(image);
    turn_faces(ball);
    image = picture_of(&def);
    assert_false(red_middle(image, &x, &y));
    ex_image_destroy(image);
    ex_mesh_destroy(ball);
}

/* Two flat cones back to back share their tip, with more faces than each corner looks at: the crease between them
 * stays. */
static void keeps_creases_between_very_many_faces(void **state) {
    (void)state;
    enum { FACES = 3000 };
    static double positions[2 * FACES + 1][3];
    static float narrow[2 * FACES + 1][3], normals[6 * FACES][3];
    static int offsets[2 * FACES + 1], corners[6 * FACES];
    for (int i = 0; i < 2 * FACES; i++) {
        const double turn = 2 * 3.14159265358979 * (i % FACES) / FACES;
        const int next = i % FACES + 1 < FACES ? i + 1 : i + 1 - FACES;
        positions[1 + i][0] = cos(turn);
        positions[1 + i][1] = sin(turn);
        positions[1 + i][2] = i < FACES ? -0.1 : 0.1;
        offsets[i + 1] = 3 * (i + 1);
        corners[3 * i] = 0;
        corners[3 * i + 1] = 1 + (i < FACES ? i : next);
        corners[3 * i + 2] = 1 + (i < FACES ? next : i);
    }
    for (int v = 0; v <= 2 * FACES; v++)
        for (int k = 0; k < 3; k++)
            narrow[v][k] = (float)positions[v][k];
    const ex_mesh mesh = {.vertex_count = 2 * FACES + 1,
                          .positions = positions[0],
                          .face_count = 2 * FACES,
                          .face_offsets = offsets,
                          .corner_count = 6 * FACES,
                          .corners = corners};
    const ex_render_item item = {.mesh = &mesh};
    assert_int_equal(exi_corner_normals(&item, narrow[0], false, normals[0], NULL), EX_OK);
    for (int f = 0; f < 2 * FACES; f++)
        assert_near(normals[3 * f][2], f < FACES ? 1 : -1, 1e-4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_creases_between_very_many_faces),
        cmocka_unit_test(a_ball_fills_the_frame),
        cmocka_unit_test(forms_may_have_any_size),
        cmocka_unit_test(pictures_may_be_wide_or_tall),
        cmocka_unit_test(a_box_and_a_zoom_set_the_frame),
        cmocka_unit_test(points_set_the_frame),
        cmocka_unit_test(frames_are_tight),
        cmocka_unit_test(angles_go_around),
        cmocka_unit_test(a_turn_stays_in_one_frame),
        cmocka_unit_test(the_lit_side_is_brighter),
        cmocka_unit_test(coarse_balls_have_no_blocks),
        cmocka_unit_test(tiles_do_not_show),
        cmocka_unit_test(the_shadow_falls_where_it_must),
        cmocka_unit_test(rays_are_even_by_pixel_row_and_block),
        cmocka_unit_test(what_sees_less_sky_is_darker),
        cmocka_unit_test(edges_stay_hard_and_balls_round),
        cmocka_unit_test(normals_that_point_inwards_are_turned),
        cmocka_unit_test(the_back_is_seen_when_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
