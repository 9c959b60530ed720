/*
 * Angles of corners, four side by side: against atan2 for every opening from a needle to a straight line, in any of the
 * four lanes, and with sizes below which an angle is meaningless.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/refine/corners.h"
#include "support/check.h"

#include <math.h>

/* Two edges of random lengths, the second turned from the first by an angle in a random plane. */
static void make_corner(uint64_t *random, double angle, float a[3], float b[3]) {
    double u[3], w[3], along = 0, size_u = 0, size_w = 0;
    for (int c = 0; c < 3; c++) {
        u[c] = random_between(random, -1, 1);
        w[c] = random_between(random, -1, 1);
        size_u += u[c] * u[c];
    }
    for (int c = 0; c < 3; c++)
        along += u[c] * w[c] / size_u;
    for (int c = 0; c < 3; c++) {
        w[c] -= along * u[c];
        size_w += w[c] * w[c];
    }
    const double first = random_between(random, 0.01, 10), second = random_between(random, 0.01, 10);
    for (int c = 0; c < 3; c++) {
        const double along_u = u[c] / sqrt(size_u), along_w = w[c] / sqrt(size_w);
        a[c] = (float)(first * along_u);
        b[c] = (float)(second * (cos(angle) * along_u + sin(angle) * along_w));
    }
}

static double angle_of(const float a[3], const float b[3]) {
    const double x = (double)a[1] * (double)b[2] - (double)a[2] * (double)b[1];
    const double y = (double)a[2] * (double)b[0] - (double)a[0] * (double)b[2];
    const double z = (double)a[0] * (double)b[1] - (double)a[1] * (double)b[0];
    const double along = (double)a[0] * (double)b[0] + (double)a[1] * (double)b[1] + (double)a[2] * (double)b[2];
    return atan2(sqrt(x * x + y * y + z * z), along);
}

static void measure(float edges[2][4][3], float angles[4], float sizes[4]) {
    exi_quad quads[2][3], size_sq;
    for (int e = 0; e < 2; e++)
        for (int c = 0; c < 3; c++) {
            const float lanes[4] = {edges[e][0][c], edges[e][1][c], edges[e][2][c], edges[e][3][c]};
            quads[e][c] = exi_quad_load(lanes);
        }
    exi_quad_store(angles, exi_corner_angles(quads[0], quads[1], &size_sq));
    exi_quad_store(sizes, size_sq);
}

static void angles_are_those_of_atan2(void **state) {
    (void)state;
    enum { STEPS = 4000 };
    const double pi = 3.14159265358979323846;
    uint64_t random = 5;
    for (int i = 0; i < STEPS; i++) {
        float edges[2][4][3], angles[4], sizes[4], alone[4];
        for (int lane = 0; lane < 4; lane++)
            make_corner(&random, pi * (i + 0.25 * lane) / STEPS, edges[0][lane], edges[1][lane]);
        measure(edges, angles, sizes);
        for (int lane = 0; lane < 4; lane++) {
            assert_near((double)angles[lane], angle_of(edges[0][lane], edges[1][lane]), 6e-7);
            assert_true(sizes[lane] > EXI_CORNER_LEAST && sizes[lane] < EXI_CORNER_MOST);
        }
        /* The same corner with other neighbours: the same bits. */
        for (int lane = 0; lane < 3; lane++)
            for (int c = 0; c < 3; c++) {
                edges[0][lane][c] = edges[0][3][c];
                edges[1][lane][c] = edges[1][3][c];
            }
        measure(edges, alone, sizes);
        for (int lane = 0; lane < 4; lane++)
            assert_true(alone[lane] == angles[3]);
    }
}

static void by_hand(void **state) {
    (void)state;
    float edges[2][4][3] = {{{1, 0, 0}, {2, 0, 0}, {0, 3, 0}, {1, 1, 0}},
                            {{0, 2, 0}, {4, 0, 0}, {0, -1, 0}, {0, 0, 0}}};
    float angles[4], sizes[4];
    measure(edges, angles, sizes);
    assert_near((double)angles[0], 1.57079632679, 1e-7);
    assert_near((double)angles[1], 0, 1e-12);
    assert_near((double)angles[2], 3.14159265359, 2e-7);
    assert_near((double)sizes[1], 64, 0);
    assert_false(sizes[3] > EXI_CORNER_LEAST);
    for (int c = 0; c < 3; c++) {
        edges[0][0][c] *= 1e9f;
        edges[1][1][c] *= 1e-20f;
        edges[0][2][c] = NAN;
    }
    edges[1][0][1] = 1e9f;
    measure(edges, angles, sizes);
    assert_false(sizes[0] < EXI_CORNER_MOST);
    assert_false(sizes[1] > EXI_CORNER_LEAST);
    assert_false(sizes[2] > EXI_CORNER_LEAST);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(angles_are_those_of_atan2), cmocka_unit_test(by_hand)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
