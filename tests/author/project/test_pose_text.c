/*
 * Poses in words: tables of what is read and what is refused.
 */
#include "projects.h"

static ex_rig *rig;

static int set_up(void **state) {
    if (scratch_set_up(state) != 0)
        return -1;
    write_square("m.obj", 0, 0, 0, 0);
    rig = build_text("{'exemplar': 1, 'mesh': 'm.obj', 'layers': [{'name': 'l', 'space': [\n"
                     "{'name': 'elbow', 'min': 0, 'max': 140, 'rest': 20}, {'name': 'shoulder', 'rotation': 'full'},\n"
                     "{'name': 'größe/1', 'min': 0, 'max': 1}],\n"
                     "'examples': [{'name': 'e', 'mesh': 'm.obj', 'at': {}}]}]}");
    return 0;
}

static int tear_down(void **state) {
    ex_rig_destroy(rig);
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
        double pose[6];
        ex_error error;
        ex_rig_rest_pose(rig, pose);
        if (ex_pose_set(rig, cases[i].text, pose, &error) != EX_OK)
            fail_msg("%s: %s", cases[i].text, error.text);
        for (int k = 0; k < 6; k++)
            if (!(fabs(pose[k] - cases[i].pose[k]) < 1e-15))
                fail_msg("%s: number %d is %g", cases[i].text, k, pose[k]);
    }
}

static void refuses_others(void **state) {
    (void)state;
    const struct {
        const char *text, *words;
    } cases[] = {
        {"elbow", "'elbow': a pose is given as axis=value"},
        {"", "axis=value"},
        {"=5", "axis=value"},
        {"elbow=", "elbow=: a number is needed here"},
        {"elbow=x", "elbow=x: a number"},
        {"elbow=5 ", "a number"},
        {"elbow= 5", "a number"},
        {"elbow=5,5", "a number"},
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
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double before[6] = {1, 2, 3, 4, 5, 6};
        double pose[6];
        memcpy(pose, before, sizeof pose);
        ex_error error = {0};
        if (ex_pose_set(rig, cases[i].text, pose, &error) != EX_ERROR_DATA || !strstr(error.text, cases[i].words))
            fail_msg("%s: '%s'", cases[i].text, error.text);
        assert_memory_equal(pose, before, sizeof pose);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_assignments),
        cmocka_unit_test(refuses_others),
    };
    return cmocka_run_group_tests_name("author.project.pose_text", tests, set_up, tear_down);
}
