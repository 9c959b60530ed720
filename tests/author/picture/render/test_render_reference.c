/*
 * Three small pictures against stored ones: 64 by 64 pixels, averaged to 16 by 16. They are compared by a mean
 * difference in codes; and the same comparison detects a camera that is slightly off, a light that is slightly off, and
 * reversed faces. PRINT_PICTURES=1 in the environment prints the values to store.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/pictures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SMALL = 16, PICTURES = 3 };
#define TOLERANCE 0.6

/* clang-format off */
static const unsigned char stored[PICTURES][SMALL * SMALL] = {
#include "author/picture/render/reference.inl"
};
/* clang-format on */

static ex_mesh *ball, *box;
static float *heights;

static int set_up(void **state) {
    (void)state;
    ball = ball_mesh(0.8, -0.5, 0.2, 0.1, 24);
    box = box_mesh((double[]){0.2, -0.6, -0.9}, (double[]){1.4, 0.5, 0.3});
    heights = calloc((size_t)ball->vertex_count, sizeof *heights);
    for (int v = 0; heights && v < ball->vertex_count; v++)
        heights[v] = (float)ball->positions[3 * v];
    return heights ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    free(heights);
    ex_mesh_destroy(ball);
    ex_mesh_destroy(box);
    return 0;
}

/* Three typical pictures: everything at its default; flat with lines on white; a scalar without a ground. */
static ex_render_def describe(int picture, ex_render_item items[2]) {
    items[0] = item_of(ball);
    items[1] = item_of(box);
    items[1].colour[0] = 0.3;
    ex_render_def def = ex_render_def_default();
    def.width = def.height = 64;
    def.items = items;
    def.item_count = 2;
    def.backfaces = true;
    if (picture == 1) {
        def.flat = true;
        def.wireframe = 1;
        def.background = EX_BACKGROUND_WHITE;
        def.camera = (ex_camera){.yaw = -70, .pitch = 35, .zoom = 1};
    } else if (picture == 2) {
        items[0].scalar.values = heights;
        def.ground = false;
        def.background = EX_BACKGROUND_GREY;
        def.camera.yaw = 160;
        def.light_yaw = 30;
    }
    return def;
}

/* The mean lightness of blocks of 4 by 4 pixels. */
static void reduce(const ex_render_def *def, double small[SMALL * SMALL]) {
    ex_image *image = picture_of(def);
    for (int i = 0; i < SMALL * SMALL; i++) {
        double sum = 0;
        for (int k = 0; k < 16; k++)
            sum += light_at(image, 4 * (i % SMALL) + k % 4, 4 * (i / SMALL) + k / 4);
        small[i] = sum / 16;
    }
    ex_image_destroy(image);
}

static double difference(const ex_render_def *def, int picture) {
    double small[SMALL * SMALL], sum = 0;
    reduce(def, small);
    for (int i = 0; i < SMALL * SMALL; i++)
        sum += fabs(small[i] - stored[picture][i]);
    return sum / (SMALL * SMALL);
}

static void print_pictures(void) {
    for (int picture = 0; picture < PICTURES; picture++) {
        ex_render_item items[2];
        ex_render_def def = describe(picture, items);
        double small[SMALL * SMALL];
        reduce(&def, small);
        for (int i = 0; i < SMALL * SMALL; i++)
            printf("%s%d,%s", i == 0 ? "{" : "", (int)(small[i] + 0.5), i % SMALL == SMALL - 1 ? "\n" : " ");
        printf("},\n");
    }
}

static void pictures_are_as_they_were(void **state) {
    (void)state;
    if (getenv("PRINT_PICTURES"))
        print_pictures();
    for (int picture = 0; picture < PICTURES; picture++) {
        ex_render_item items[2];
        ex_render_def def = describe(picture, items);
        double off = difference(&def, picture);
        if (!(off < TOLERANCE))
            fail_msg("picture %d differs by %g codes", picture, off);
    }
}

static void each_mistake_is_found(void **state) {
    (void)state;
    for (int picture = 0; picture < PICTURES; picture++)
        for (int mistake = 0; mistake < 5; mistake++) {
            ex_render_item items[2];
            ex_render_def def = describe(picture, items);
            if (mistake == 0)
                def.camera.yaw += 4;
            if (mistake == 1)
                def.camera.pitch -= 4;
            if (mistake == 2)
                def.camera.zoom = 1.04;
            if (mistake == 3)
                def.light_yaw += 25;
            if (mistake == 4)
                turn_faces(ball);
            double off = difference(&def, picture);
            if (mistake == 4)
                turn_faces(ball);
            if (!(off > 2 * TOLERANCE))
                fail_msg("mistake %d of picture %d is only %g codes", mistake, picture, off);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pictures_are_as_they_were),
        cmocka_unit_test(each_mistake_is_found),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
