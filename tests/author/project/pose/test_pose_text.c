/* Poses in words: tables of valid and refused words. */
#include "author/project/posable.h"

#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/words.h"

static ex_rig *rig, *bare; /* with and without a skeleton */

static int set_up(void **state) {
    if (scratch_set_up(state) != 0)
        return -1;
    rig = posable_rig("elbow", "shoulder", "größe/1", true);
    bare = posable_rig("elbow", "shoulder", "größe/1", false);
    return 0;
}

static int tear_down(void **state) {
    ex_rig_destroy(rig);
    ex_rig_destroy(bare);
    return scratch_tear_down(state);
}

static void reads_assignments(void **state) {
    (void)state;
    const double h = sqrt(0.5);
    const struct {
        const char *text;
        double pose[6];
    } cases[] = {
        {"elbow=75", {75, 0, 0, 0, 1, 0}},
        {"elbow=-1.5e2", {-150, 0, 0, 0, 1, 0}},
        {"elbow=.5", {0.5, 0, 0, 0, 1, 0}},
        {"größe/1=0.25", {20, 0, 0, 0, 1, 0.25}},
        {"shoulder=q:0,0,.6,.8", {20, 0, 0, 0.6, 0.8, 0}},
        {"shoulder=q:1,-2,3e0,4", {20, 1, -2, 3, 4, 0}},
        {"shoulder=x180", {20, 1, 0, 0, 0, 0}},
        {"shoulder=x90y90", {20, 0.5, 0.5, 0.5, 0.5, 0}},
        {"shoulder=y90x90", {20, 0.5, 0.5, -0.5, 0.5, 0}},
        {"shoulder=x90y90z90", {20, h, 0, h, 0, 0}},
        {"shoulder=z-90", {20, 0, 0, -h, h, 0}},
        {"shoulder=x45x45", {20, h, 0, 0, h, 0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int posed = 0; posed < 2; posed++) {
            const ex_rig *of = posed ? rig : bare;
            ex_pose pose = ex_pose_create(of);
            ex_error error;
            assert_non_null(pose.inputs);
            if (exi_pose_word(of, cases[i].text, &pose, &error) != EX_OK)
                fail_msg("%s: %s", cases[i].text, error.text);
            for (int k = 0; k < 6; k++)
                if (!(fabs(pose.inputs[k] - cases[i].pose[k]) < 1e-15))
                    fail_msg("%s: number %d is %g", cases[i].text, k, pose.inputs[k]);
            for (int j = 0; posed && j < POSABLE_JOINTS; j++)
                check_turn(rig, &pose, j, (double[]){0, 0, 0, 1});
            free(pose.inputs);
        }
    }
}

static void creates_poses_at_rest(void **state) {
    (void)state;
    ex_pose pose = ex_pose_create(rig), small = ex_pose_create(bare);
    assert_non_null(pose.joints);
    assert_null(small.joints);
    assert_true(pose.inputs[0] == 20 && small.inputs[0] == 20 && pose.inputs[4] == 1);
    for (int j = 0; j < POSABLE_JOINTS; j++) {
        const ex_transform rest = ex_skeleton_rest(ex_rig_skeleton(rig), j);
        assert_memory_equal(&pose.joints[j], &rest, sizeof rest);
    }
    free(pose.inputs);
    free(small.inputs);
}

/* Angles and rotations of joints are relative to rest; the part that an axis does not read is unchanged. */
static void moves_joints(void **state) {
    (void)state;
    const double h = sqrt(0.5), c15 = sqrt((1 + sqrt(0.75)) / 2), s15 = sqrt((1 - sqrt(0.75)) / 2);
    const struct {
        const char *first, *second;
        int joint;
        double turn[4];
    } cases[] = {
        {"bend=90", NULL, FOREARM, {h, 0, 0, h}},
        {"bend=-30", "bend=90", FOREARM, {h, 0, 0, h}},
        {"joint:hand=x180", NULL, HAND, {1, 0, 0, 0}},
        {"joint:hand=q:0,0,3,4", NULL, HAND, {0, 0, 0.6, 0.8}},
        {"joint:hand=x90y90", NULL, HAND, {0.5, 0.5, 0.5, 0.5}},
        {"joint:hand=x90", "joint:hand=y90", HAND, {0, h, 0, h}},
        {"joint:upper arm=z90", NULL, UPPER_ARM, {0, 0, h, h}},
        {"aim=z90", NULL, UPPER_ARM, {0, 0, h, h}},
        /* An axis after the entire joint: y 90 swings x, so bend 30 comes before it; and the other way round. */
        {"joint:forearm=y90", "bend=30", FOREARM, {h * s15, h * c15, -h * s15, h * c15}},
        {"bend=30", "joint:forearm=y90", FOREARM, {0, h, 0, h}},
        /* A swing leaves the twist: y 90 turns first, then z 90. */
        {"joint:upper arm=y90", "aim=z90", UPPER_ARM, {-0.5, 0.5, 0.5, 0.5}},
        {"aim=z90y90", NULL, UPPER_ARM, {0, 0, h, h}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ex_pose pose = ex_pose_create(rig);
        ex_error error;
        if (exi_pose_word(rig, cases[i].first, &pose, &error) != EX_OK ||
            (cases[i].second && exi_pose_word(rig, cases[i].second, &pose, &error) != EX_OK))
            fail_msg("%s, %s: %s", cases[i].first, cases[i].second, error.text);
        for (int j = 0; j < POSABLE_JOINTS; j++)
            check_turn(rig, &pose, j, j == cases[i].joint ? cases[i].turn : (double[]){0, 0, 0, 1});
        assert_true(pose.inputs[0] == 20 && pose.inputs[5] == 0);
        free(pose.inputs);
    }
}

static void refuses_others(void **state) {
    (void)state;
    const struct {
        const char *text, *words;
    } cases[] = {
        {"elbow", "'elbow' is not of the form axis=value"},
        {"", "axis=value"},
        {"=5", "axis=value"},
        {"elbow=", "elbow=: a number is needed after '='"},
        {"elbow=x", "elbow=x: a number"},
        {"elbow=5 ", "elbow=5 : write the number alone: elbow=5"},
        {"elbow= 5", "a number"},
        {"elbow=5,5", "write a decimal point: elbow=5.5"},
        {"elbow=nan", "a number"},
        {"elbow=inf", "a number"},
        {"elbow=1e999", "a number"},
        {"elbow=0x10", "a number"},
        {"elbow=q:0,0,0,1", "a number"},
        {"elbo=5", "no axis 'elbo'; did you mean 'elbow'?"},
        {"knee=5", "no axis 'knee'; its axes are: elbow, shoulder, größe/1"},
        {"shoulder=30", "shoulder=30: a rotation is written"},
        {"shoulder=", "a rotation"},
        {"shoulder=q:0,0,0,0", "a rotation"},
        {"shoulder=q:0,0,1", "a rotation"},
        {"shoulder=q:0,0,0,1,0", "a rotation"},
        {"shoulder=q:0;0;0;1", "a rotation"},
        {"shoulder=q:", "a rotation"},
        {"shoulder=x", "a rotation"},
        {"shoulder=x30w5", "a rotation"},
        {"shoulder=x30 y5", "a rotation"},
        {"shoulder=X30", "a rotation"},
        {"bend=x30", "bend=x30: a number is needed after '='"},
        {"aim=30", "aim=30: a rotation is written"},
        {"joint:hand=30", "joint:hand=30: a rotation is written"},
        {"joint:hand=", "a rotation is written"},
        {"joint:hnad=x1", "no joint 'hnad'; did you mean 'joint:hand'?"},
        {"hand=x1", "no axis 'hand'; did you mean 'joint:hand'?"},
        {"uper arm=x1", "no axis 'uper arm'; did you mean 'joint:upper arm'?"},
        {"joint:elbow=x1", "no joint 'elbow'; did you mean the axis 'elbow'?"},
        {"joint:bend=x1", "no joint 'bend'; did you mean the axis 'bend'?"},
        {"joint:qqqqqq=x1", "no joint 'qqqqqq'; its joints are: upper arm, forearm, hand"},
        {"joint:=x1", "no joint ''; its joints are: upper arm, forearm, hand"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ex_pose before = ex_pose_create(rig), pose = ex_pose_create(rig);
        ex_error error = {0};
        if (exi_pose_word(rig, cases[i].text, &pose, &error) != EX_ERROR_DATA || !strstr(error.text, cases[i].words))
            fail_msg("%s: '%s'", cases[i].text, error.text);
        assert_memory_equal(pose.inputs, before.inputs, POSABLE_INPUTS * sizeof *pose.inputs);
        assert_memory_equal(pose.joints, before.joints, POSABLE_JOINTS * sizeof *pose.joints);
        free(pose.inputs);
        free(before.inputs);
    }
}

static void a_rig_without_skeleton_says_so(void **state) {
    (void)state;
    ex_pose pose = ex_pose_create(bare);
    ex_error error = {0};
    assert_int_equal(exi_pose_word(bare, "joint:hand=x1", &pose, &error), EX_ERROR_DATA);
    assert_string_equal(error.text, "this rig has no skeleton, so it has no joint 'hand'");
    assert_int_equal(exi_pose_word(bare, "hand=x1", &pose, &error), EX_ERROR_DATA);
    assert_string_equal(error.text, "this rig has no axis 'hand'; its axes are: elbow, shoulder, größe/1");
    free(pose.inputs);
}

/* A rotation in words is that rotation, and is written as people type it. */
static void writes_rotations_that_it_reads(void **state) {
    (void)state;
    static const char *const words[] = {
        "x0",       "x30",    "y-120",  "z180",   "x30z-40", "z80x-10",   "y170x160",  "x90y90",     "z45y100", "y0.25",
        "x100y-20", "y1x2z3", "z9y8x7", "x3z2y1", "y12x8z5", "x-90z0.75", "x10y20z30", "z-35x15y65", "y89.5z-3"};
    enum { WORDS = sizeof words / sizeof *words };
    ex_pose pose = ex_pose_create(bare);
    uint64_t random = 3;
    for (int i = 0; i < 1000; i++) {
        char word[80], text[EX_ROTATION_SIZE];
        double q[4], dot = 0, length = 0;
        snprintf(word, sizeof word, "shoulder=%s", words[i < WORDS ? i : 0]);
        assert_int_equal(exi_pose_word(bare, word, &pose, NULL), EX_OK);
        for (int k = 0; k < 4; k++) {
            q[k] = i < WORDS ? pose.inputs[1 + k] : random_between(&random, -1, 1);
            length += q[k] * q[k];
        }
        ex_format_rotation(text, sizeof text, q, 4);
        if (i < WORDS && strcmp(text, words[i]) != 0)
            fail_msg("%s became %s", words[i], text);
        snprintf(word, sizeof word, "shoulder=%s", text);
        assert_int_equal(exi_pose_word(bare, word, &pose, NULL), EX_OK);
        for (int k = 0; k < 4; k++)
            dot += pose.inputs[1 + k] * q[k] / sqrt(length);
        if (!(1 - fabs(dot) < 1e-11)) /* 5e-5 degrees a turn */
            fail_msg("%s is off by %g", text, 1 - fabs(dot));
    }
    free(pose.inputs);
    char cut[6];
    assert_string_equal(ex_format_rotation(cut, sizeof cut, (double[]){0.5, 0.5, 0.5, 0.5}, 4), "x90y9");
}

static ex_result set_once(void *context) {
    ex_pose pose = ex_pose_create(rig);
    if (!pose.inputs)
        return EX_ERROR_MEMORY;
    ex_result result = exi_pose_word(rig, context, &pose, NULL);
    free(pose.inputs);
    return result == EX_ERROR_DATA ? EX_OK : result;
}

static void survives_without_memory(void **state) {
    (void)state;
    assert_int_equal(fail_alloc_sweep(set_once, "joint:hand=x1"), 2);
    assert_int_equal(fail_alloc_sweep(set_once, "joint:foot=x1"), 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_assignments),
        cmocka_unit_test(creates_poses_at_rest),
        cmocka_unit_test(moves_joints),
        cmocka_unit_test(refuses_others),
        cmocka_unit_test(a_rig_without_skeleton_says_so),
        cmocka_unit_test(writes_rotations_that_it_reads),
        cmocka_unit_test(survives_without_memory),
    };
    return cmocka_run_group_tests_name("author.project.pose_text", tests, set_up, tear_down);
}
