/* The similarity between landmarks: exact for exact ones, best for noisy ones, and refused where it is not determined.
 */
#include "support/check.h"

#include <exemplar/author/register.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { COUNT = 7 };

static const double turned[3][3] = {{0.36, 0.48, -0.8}, {-0.8, 0.6, 0}, {0.48, 0.64, 0.6}};

static void make(double points[COUNT][3], double targets[COUNT][3], double scale, double noise) {
    uint64_t state = 5;
    for (int i = 0; i < COUNT; i++) {
        for (int k = 0; k < 3; k++)
            points[i][k] = random_between(&state, -1, 1);
        for (int k = 0; k < 3; k++) {
            targets[i][k] = 0.5 * k + random_between(&state, -noise, noise);
            for (int c = 0; c < 3; c++)
                targets[i][k] += scale * turned[k][c] * points[i][c];
        }
    }
}

static void exact(void **state) {
    (void)state;
    double points[COUNT][3], targets[COUNT][3];
    ex_similarity found;
    make(points, targets, 1.7, 0);
    assert_int_equal(ex_register_align(COUNT, points, targets, NULL, true, &found, NULL), EX_OK);
    assert_near(found.scale, 1.7, 1e-12);
    for (int k = 0; k < 3; k++) {
        assert_row_near(found.rotation[k], turned[k], 3, 1e-12);
        assert_near(found.translation[k], 0.5 * k, 1e-12);
    }
    assert_near(found.rms, 0, 1e-12);
    ex_similarity_apply(&found, COUNT, points);
    for (int i = 0; i < COUNT; i++)
        assert_row_near(points[i], targets[i], 3, 1e-12);
}

static void rigid(void **state) {
    (void)state;
    double points[COUNT][3], targets[COUNT][3];
    ex_similarity found;
    make(points, targets, 1.2, 0);
    assert_int_equal(ex_register_align(COUNT, points, targets, NULL, false, &found, NULL), EX_OK);
    assert_near(found.scale, 1, 0);
    assert_row_near(found.rotation[0], turned[0], 3, 1e-12);
    assert_true(found.rms > 0.1);
}

/* A landmark of weight 0 has no effect; otherwise no small change of the answer is better. */
static void weights(void **state) {
    (void)state;
    double points[COUNT][3], targets[COUNT][3];
    const double some[COUNT] = {1, 1, 1, 1, 0, 1, 1};
    ex_similarity found, best;
    make(points, targets, 1, 0);
    targets[4][0] += 100;
    assert_int_equal(ex_register_align(COUNT, points, targets, some, true, &found, NULL), EX_OK);
    assert_near(found.rms, 0, 1e-12);
    make(points, targets, 1.1, 0.1);
    assert_int_equal(ex_register_align(COUNT, points, targets, NULL, true, &best, NULL), EX_OK);
    for (int change = 0; change < 14; change++) {
        double sum = 0, moved[COUNT][3], q[2] = {cos(1e-3), change % 2 ? sin(1e-3) : -sin(1e-3)};
        found = best;
        if (change < 2)
            found.scale *= change % 2 ? 1.001 : 0.999;
        else if (change < 8)
            found.translation[(change - 2) / 2] += change % 2 ? 1e-3 : -1e-3;
        else
            for (int c = 0; c < 3; c++) {
                const int a = (change - 8) / 2, b = (a + 1) % 3;
                found.rotation[a][c] = q[0] * best.rotation[a][c] - q[1] * best.rotation[b][c];
                found.rotation[b][c] = q[1] * best.rotation[a][c] + q[0] * best.rotation[b][c];
            }
        memcpy(moved, points, sizeof moved);
        ex_similarity_apply(&found, COUNT, moved);
        for (int i = 0; i < COUNT; i++)
            for (int k = 0; k < 3; k++)
                sum += (moved[i][k] - targets[i][k]) * (moved[i][k] - targets[i][k]);
        /* Turned about the origin, the best place differs too, but never to something better. */
        assert_true(sqrt(sum / COUNT) > best.rms);
    }
}

/* Mirrored landmarks are turned, never mirrored. */
static void mirrored(void **state) {
    (void)state;
    double points[COUNT][3], targets[COUNT][3];
    ex_similarity found;
    make(points, targets, 1, 0);
    for (int i = 0; i < COUNT; i++)
        targets[i][0] = -targets[i][0];
    assert_int_equal(ex_register_align(COUNT, points, targets, NULL, true, &found, NULL), EX_OK);
    double cross[3];
    for (int k = 0; k < 3; k++)
        cross[k] = found.rotation[0][(k + 1) % 3] * found.rotation[1][(k + 2) % 3] -
                   found.rotation[0][(k + 2) % 3] * found.rotation[1][(k + 1) % 3];
    assert_row_near(cross, found.rotation[2], 3, 1e-9);
}

static void errors(void **state) {
    (void)state;
    double points[COUNT][3], targets[COUNT][3];
    const double two[COUNT] = {1, 0, 0, 1, 0, 0, 0}, wrong[COUNT] = {1, 1, -1, 1, 1, 1, 1};
    ex_similarity found;
    ex_error error = {0};
    make(points, targets, 1, 0);
    ex_register_align(2, points, targets, NULL, true, &found, &error);
    assert_sentence(&error, EX_ERROR_DATA, "at least 3 landmarks, but there are 2");
    ex_register_align(COUNT, points, targets, two, true, &found, &error);
    assert_sentence(&error, EX_ERROR_DATA, "there are 2");
    ex_register_align(COUNT, points, targets, wrong, true, &found, &error);
    assert_sentence(&error, EX_ERROR_DATA, "weight of landmark 3");
    targets[5][1] = NAN;
    ex_register_align(COUNT, points, targets, NULL, true, &found, &error);
    assert_sentence(&error, EX_ERROR_DATA, "landmark 6");
    for (int i = 0; i < COUNT; i++)
        for (int k = 0; k < 3; k++)
            points[i][k] = targets[i][k] = (k + 1) * (i + 0.1 * i * i);
    ex_register_align(COUNT, points, targets, NULL, true, &found, &error);
    assert_sentence(&error, EX_ERROR_DATA, "one line");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(exact), cmocka_unit_test(rigid), cmocka_unit_test(weights),
                                       cmocka_unit_test(mirrored), cmocka_unit_test(errors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
