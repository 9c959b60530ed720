/*
 * Settling on an open sheet, as a garment on another: pushed out only on the wrong side and within reach, never beyond
 * its edge; and gaps of single vertices. The side is checked by the height of the sheet, which is known.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dress.h"

enum { SIZE = 24, COUNT = 2000 };

/* A sheet over the square from 0 to SIZE, which faces up: wavy, but flat at its edge. */
static surface wavy_sheet(void) {
    surface s = surface_grid(SIZE);
    for (int v = 0; v < s.def.vertex_count; v++) {
        const double x = (double)s.positions[3 * v], y = (double)s.positions[3 * v + 1];
        const double edge = fmin(fmin(x, SIZE - x), fmin(y, SIZE - y));
        s.positions[3 * v + 2] = (float)(0.4 * sin(0.7 * x) * cos(0.6 * y) * fmin(fmax(edge / 4 - 0.5, 0), 1));
    }
    return s;
}

/* The height above the sheet, straight down; NAN beside it. */
static double height_over(const surface *s, const float q[3]) {
    for (int t = 0; t < s->def.triangle_count; t++) {
        double p[3][3];
        corners_of(&s->def, t, p);
        const double d = (p[1][0] - p[0][0]) * (p[2][1] - p[0][1]) - (p[1][1] - p[0][1]) * (p[2][0] - p[0][0]);
        const double x = (double)q[0] - p[0][0], y = (double)q[1] - p[0][1];
        const double u = (x * (p[2][1] - p[0][1]) - y * (p[2][0] - p[0][0])) / d;
        const double v = (y * (p[1][0] - p[0][0]) - x * (p[1][1] - p[0][1])) / d;
        if (u >= -1e-9 && v >= -1e-9 && u + v <= 1 + 1e-9)
            return (double)q[2] - p[0][2] - u * (p[1][2] - p[0][2]) - v * (p[2][2] - p[0][2]);
    }
    return (double)NAN;
}

/* The distance, by examining every triangle. */
static double distance_to(const surface *s, const float q[3]) {
    const double point[3] = {(double)q[0], (double)q[1], (double)q[2]};
    double best = (double)INFINITY;
    for (int t = 0; t < s->def.triangle_count; t++) {
        double p[3][3];
        corners_of(&s->def, t, p);
        best = fmin(best, dress_square(point, p));
    }
    return sqrt(best);
}

static void test_sheet(void **state) {
    (void)state;
    surface s = wavy_sheet();
    float driven[3 * COUNT], before[3 * COUNT];
    uint64_t seed = 3;
    for (int v = 0; v < COUNT; v++) {
        driven[3 * v] = (float)random_between(&seed, -3, SIZE + 3);
        driven[3 * v + 1] = (float)random_between(&seed, -3, SIZE + 3);
        driven[3 * v + 2] = (float)random_between(&seed, -2, 1.2);
    }
    memcpy(before, driven, sizeof driven);
    ex_settler_def def = settler_def(&s, COUNT);
    def.open = true;
    ex_settler *settler = settler_of(&def);
    const ex_settle_job job = {
        .driver = s.positions, .driven = driven, .push = true, .thickness = 0.05f, .reach = 0.8f};
    const ex_settled settled = settle_once(settler, &job, NULL);
    int pushed = 0, deep = 0, beside = 0, inside = 0;
    for (int v = 0; v < COUNT; v++) {
        const float *from = before + 3 * v, *to = driven + 3 * v;
        const double height = height_over(&s, from), far = distance_to(&s, from);
        const double edge =
            fmin(fmin((double)from[0], SIZE - (double)from[0]), fmin((double)from[1], SIZE - (double)from[1]));
        const bool stays = memcmp(from, to, 12) == 0;
        if (edge < -1e-3) { /* beside the sheet */
            assert_true(stays);
            beside++;
        } else if (height > 0 && far > 0.05 + 1e-4) {
            assert_true(stays);
        } else if (height < 0 && far > 0.8 + 1e-4) {
            assert_true(stays);
            deep++;
        } else if (edge > 1 && far < 0.8 - 1e-4) { /* well within: nothing of the edge is nearer */
            assert_true(height_over(&s, to) > 0);
            assert_true(distance_to(&s, to) > 0.05 - 1e-3);
            pushed++;
            inside += height < -1e-3;
        }
    }
    assert_true(pushed > 200 && deep > 100 && beside > 100);
    assert_true(settled.inside >= inside && settled.inside <= settled.penetrating);
    assert_int_equal(settled.left, 0);
    ex_settler_destroy(settler);
    surface_close(&s);
}

/* Without reach and open, the same points are pushed: the test above can fail. */
static void test_closed(void **state) {
    (void)state;
    surface s = wavy_sheet();
    float driven[6] = {-1, 5, -0.5f, 5, 5, -1.9f};
    const ex_settler_def def = settler_def(&s, 2);
    ex_settler *settler = settler_of(&def);
    settle_once(settler, &(ex_settle_job){.driver = s.positions, .driven = driven, .push = true}, NULL);
    assert_true(driven[2] != -0.5f && driven[5] > -1);
    ex_settler_destroy(settler);
    surface_close(&s);
}

/* A gap for every vertex; one that is not a number counts as 0. */
static void test_gaps(void **state) {
    (void)state;
    surface s = surface_grid(4);
    const float gaps[4] = {0.1f, 0.2f, -1, NAN};
    float driven[12] = {1.3f, 1.2f, 0.05f, 2.3f, 2.2f, 0.05f, 3.3f, 1.2f, -0.3f, 1.3f, 3.2f, -0.3f};
    const ex_settler_def def = settler_def(&s, 4);
    ex_settler *settler = settler_of(&def);
    settle_once(settler,
                &(ex_settle_job){.driver = s.positions, .driven = driven, .push = true, .thickness = 3, .gaps = gaps},
                NULL);
    assert_near((double)driven[2], 0.1, 1e-5);
    assert_near((double)driven[5], 0.2, 1e-5);
    assert_near((double)driven[8], 0, 1e-5);
    assert_near((double)driven[11], 0, 1e-5);
    ex_settler_destroy(settler);
    surface_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sheet),
        cmocka_unit_test(test_closed),
        cmocka_unit_test(test_gaps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
