/*
 * Weights of scans in a body, against a weigher of the same axes; the change of a half turn; rotations mirrored.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "author/scan/build/body_build.h"
#include "support/check.h"

enum { WEIGHED = 12 };

/* The rig's axes: a complete rotation and a hinge. */
static void test_weights(void **state) {
    (void)state;
    uint64_t random = 5;
    char hips[] = "hips", ball[] = "arm.L", hinge[] = "elbow.L", right_ball[] = "arm.R", right_hinge[] = "elbow.R";
    ex_kin_joint joints[5] = {
        {.name = hips, .parent = -1, .freedom = EX_FREEDOM_BASE, .mirror = -1},
        {.name = ball, .parent = 0, .freedom = EX_FREEDOM_BALL, .mirror = -1},
        {.name = hinge, .parent = 1, .freedom = EX_FREEDOM_HINGE, .axis = {0, 0.6, 0.8}, .mirror = -1},
        {.name = right_ball, .parent = 0, .freedom = EX_FREEDOM_BALL, .mirror = 1},
        {.name = right_hinge, .parent = 3, .freedom = EX_FREEDOM_HINGE, .axis = {0, -0.6, -0.8}, .mirror = 2}};
    ex_kinematics kinematics = {.joint_count = 5, .joints = joints};
    char *names[2] = {ball, hinge};
    ex_scan_part part = {.joint_count = 2, .joints = names};
    double rotations[WEIGHED][5][4] = {{{0}}}, points[WEIGHED][5];
    ex_kin_pose poses[WEIGHED];
    int numbers[WEIGHED + 1];
    ex_scan_fitted fitted = {.kinematics = &kinematics, .scan_count = WEIGHED, .poses = poses};
    ex_scan_session session = {.part_count = 1, .parts = &part, .scan_count = WEIGHED + 1};
    exi_body_example examples[WEIGHED + 1];
    exi_body body = {
        .session = &session, .fitted = &fitted, .poses = numbers, .examples = examples, .example_count = WEIGHED + 1};
    for (int i = 0; i < WEIGHED; i++) {
        const double angle = random_between(&random, -150, 150), half = angle * 3.14159265358979323846 / 360;
        double length = 0;
        for (int k = 0; k < 4; k++) {
            rotations[i][1][k] = random_between(&random, -1, 1);
            length += rotations[i][1][k] * rotations[i][1][k];
        }
        for (int k = 0; k < 4; k++)
            points[i][k] = rotations[i][1][k] /= sqrt(length);
        for (int k = 0; k < 3; k++)
            rotations[i][2][k] = sin(half) * joints[2].axis[k];
        rotations[i][2][3] = cos(half);
        points[i][4] = angle;
        poses[i].rotations = rotations[i];
        numbers[i] = i;
        examples[i] = (exi_body_example){i, 0};
    }
    numbers[WEIGHED] = -1; /* a scan without a pose */
    examples[WEIGHED] = (exi_body_example){WEIGHED, -1};
    for (int neighbours = 1; neighbours <= WEIGHED; neighbours += neighbours < 11 ? 5 : 1) {
        ex_axis axes[2] = {ex_axis_rotation(EX_AXIS_ROTATION, NULL), ex_axis_scalar(-180, 180, 0)};
        axes[1].scale = 1.0 / 180;
        ex_weigher_def def = ex_weigher_def_default();
        def.kind = EX_WEIGHER_NEAREST;
        def.axes = axes;
        def.axis_count = 2;
        def.example_count = WEIGHED;
        def.points = points[0];
        def.neighbours = neighbours;
        ex_weigher *weigher = NULL;
        ex_error error = {0};
        if (ex_weigher_create(&def, NULL, &weigher, &error) != EX_OK)
            fail_msg("%s", error.text);
        for (int t = 0; t < 30; t++) {
            double pose[5][4] = {{0, 0, 0, 1}, {0, 0, 0, 1}, {0, 0, 0, 1}, {0, 0, 0, 1}, {0, 0, 0, 1}};
            double expected[WEIGHED], weights[WEIGHED + 1], point[5];
            const double angle = t == 0 ? points[3][4] : random_between(&random, -150, 150);
            double length = 0;
            for (int k = 0; k < 4; k++) {
                pose[1][k] = t == 0 ? points[3][k] : random_between(&random, -1, 1); /* once at a scan itself */
                length += pose[1][k] * pose[1][k];
            }
            for (int k = 0; k < 4; k++)
                point[k] = pose[1][k] /= sqrt(length);
            for (int k = 0; k < 3; k++)
                pose[2][k] = sin(angle * 3.14159265358979323846 / 360) * joints[2].axis[k];
            pose[2][3] = cos(angle * 3.14159265358979323846 / 360);
            point[4] = angle;
            ex_weigher_evaluate(weigher, point, expected);
            const exi_body_part own = {.part = &part};
            exi_scan_weigh(&body, &own, pose, -1, neighbours, weights);
            assert_row_near(weights, expected, WEIGHED, t == 0 ? 1e-6 : 1e-9);
            assert_near(weights[WEIGHED], 0, 0);
            /* The image of the part, in the mirrored pose. */
            double mirrored[5][4] = {{0, 0, 0, 1}, {0, 0, 0, 1}, {0, 0, 0, 1}, {0, 0, 0, 1}, {0, 0, 0, 1}};
            const exi_body_part image = {.part = &part, .mirrored = true};
            memcpy(mirrored[3], (const double[4]){pose[1][0], -pose[1][1], -pose[1][2], pose[1][3]},
                   4 * sizeof(double));
            memcpy(mirrored[4], (const double[4]){pose[2][0], -pose[2][1], -pose[2][2], pose[2][3]},
                   4 * sizeof(double));
            exi_scan_weigh(&body, &image, mirrored, -1, neighbours, weights);
            assert_row_near(weights, expected, WEIGHED, t == 0 ? 1e-6 : 1e-9);
            /* One left out: the same as without it. */
            exi_scan_weigh(&body, &own, pose, 3, neighbours, weights);
            double sum = 0;
            for (int i = 0; i < WEIGHED; i++)
                sum += weights[i];
            assert_near(weights[3], 0, 0);
            assert_near(sum, 1, 1e-12);
        }
        ex_weigher_destroy(weigher);
    }
    /* None is left: all weights are 0. */
    double weights[WEIGHED + 1], pose[5][4] = {{0, 0, 0, 1}, {0, 0, 0, 1}, {0, 0, 0, 1}, {0, 0, 0, 1}, {0, 0, 0, 1}};
    for (int i = 1; i < WEIGHED; i++)
        examples[i].part = -1;
    exi_scan_weigh(&body, &(exi_body_part){.part = &part}, pose, 0, 8, weights);
    for (int i = 0; i <= WEIGHED; i++)
        assert_near(weights[i], 0, 0);
}

static void test_change(void **state) {
    (void)state;
    assert_near(exi_body_change(0), 0, 0);
    assert_near(exi_body_change(0.25), 0.5, 1e-15);
    assert_near(exi_body_change(0.5), 1, 0);
    assert_near(exi_body_change(1), 1, 0);
    double mirrored[4];
    exi_body_mirror_rotation((const double[4]){0.1, 0.2, 0.3, 0.9}, mirrored);
    assert_row_near(mirrored, ((const double[4]){0.1, -0.2, -0.3, 0.9}), 4, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
