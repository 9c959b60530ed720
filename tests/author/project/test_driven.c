/*
 * Projects that a driver moves: what is built from them, and what comes back.
 */
#include "driven.h"

static sleeve arm;

static int set_up(void **state) {
    if (scratch_set_up(state) != 0)
        return -1;
    sleeve_open(&arm, 9, 8);
    write_driven(&arm);
    return 0;
}

static int tear_down(void **state) {
    sleeve_close(&arm);
    return scratch_tear_down(state);
}

/* The form at a driver's form, unsettled: largest distance from `expected`. */
static double distance_at(const ex_rig *rig, const float *driver, const float *expected) {
    const size_t count = 3 * (size_t)ex_rig_vertex_count(rig);
    float *positions = malloc(count * sizeof *positions);
    void *scratch = malloc(ex_rig_scratch_size(rig, NULL, 1) + 1);
    double largest = 0;
    assert_true(positions && scratch);
    ex_rig_evaluate(rig, &(ex_pose){.driver = driver}, &(ex_output){.positions = positions},
                    &(ex_evaluation){.unsettled = true}, scratch);
    for (size_t i = 0; i < count; i++) {
        const double d = fabs((double)positions[i] - (double)expected[i]);
        largest = d > largest ? d : largest;
    }
    free(positions);
    free(scratch);
    return largest;
}

static void check_keys(const char *text) {
    ex_rig *rig = build_text(text);
    for (int k = 0; k < SLEEVE_KEYS; k++)
        check_near(distance_at(rig, arm.drivers[k], arm.drivens[k]), 0, 1e-5);
    ex_rig_destroy(rig);
}

/* At a key's driver stands the key's form, wherever it was simulated. */
static void test_keys_come_back(void **state) {
    (void)state;
    check_keys(DRIVEN("", "", "unposed", "]"));
    check_keys(DRIVEN(", 'frames': 4", "", "unposed", "]"));
    check_keys(DRIVEN(", 'frames': {'count': 4, 'influences': 2}", ", 'one_region': true", "unposed", "]"));
    check_keys(DRIVEN("", "", "trajectory", "]"));
    check_keys(DRIVEN(", 'frame': {'group': 'upper'}", ", 'driver_weights': {'group': 'lower'}", "unposed", "]"));
}

static ex_rig *build_def(bool paths, int frames) {
    ex_drive_def def = arm.def;
    ex_rig *rig = NULL;
    ex_error error = {0};
    def.options.frames = frames;
    def.options.paths = paths;
    def.driver_name = "body";
    if (ex_drive_build(&def, &rig, &error) != EX_OK)
        fail_msg("%s", error.text);
    return rig;
}

/* What the library makes of keys, a project makes of files, to the bit but for names. */
static void test_same_as_keys(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool paths;
        int frames;
    } cases[] = {{DRIVEN("", "", "unposed", "]"), false, 1},
                 {DRIVEN(", 'frames': 4", "", "unposed", "]"), false, 4},
                 {DRIVEN(", 'frames': 'auto'", "", "unposed", "]"), false, -1},
                 {DRIVEN("", "", "trajectory", "]"), true, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ex_rig *built = build_text(cases[i].text), *keys = build_def(cases[i].paths, cases[i].frames);
        ex_differences *list = NULL;
        assert_int_equal(ex_rig_compare(keys, built, 0, &list, NULL), EX_OK);
        for (int d = 0; d < list->count; d++)
            if (!strstr(list->items[d].text, "is called"))
                fail_msg("case %zu: %s %s", i, list->items[d].where, list->items[d].text);
        ex_differences_destroy(list);
        ex_rig_destroy(built);
        ex_rig_destroy(keys);
    }
}

static void test_round_trips(void **state) {
    (void)state;
    write_text("binds.json", "{\"binds\": [{\"driven\": \"cuff\", \"driver\": \"lower\"}]}");
    check_round_trip(DRIVEN("", "", "unposed", "]"));
    check_round_trip(DRIVEN(", 'frames': {'count': 4, 'fit': 0.5, 'look': 2, 'whole': 0.1, 'influences': 3}",
                            ", 'one_region': true, 'ridge': 1e-6", "unposed",
                            "], 'settle': {'residual': 'closest', 'thickness': 0.01, 'push': false, 'bind': "
                            "'binds.json'}"));
    check_round_trip(DRIVEN("", "", "trajectory", "]"));
    check_round_trip(DRIVEN(", 'frame': 'none'", "", "unposed", "]"));
    check_round_trip(DRIVEN(", 'frame': {'group': 'upper'}, 'frames': 4",
                            ", 'driver_weights': {'group': 'lower'}, 'regions': [{'look': {'group': 'upper'}, 'mask': "
                            "{'group': 'body'}}, {'look': {'group': 'lower'}, 'mask': {'group': 'cuff'}}]",
                            "unposed", "]"));
}

/* A rig made of keys becomes a project that gives it again. */
static void test_keys_unpack(void **state) {
    (void)state;
    for (int paths = 0; paths < 2; paths++) {
        ex_rig *rig = build_def(paths == 1, paths == 1 ? 1 : 4);
        ex_error error = {0};
        ex_project *project = NULL;
        char file[40];
        snprintf(file, sizeof file, "keys%d", paths);
        if (ex_project_unpack(rig, scratch_path(file), "again", false, &error) != EX_OK)
            fail_msg("%s", error.text);
        strcat(file, "/again.json");
        if (ex_project_read(scratch_path(file), &project, &error) != EX_OK)
            fail_msg("%s", error.text);
        ex_rig *again = build_project(project);
        check_same_rig(rig, again);
        ex_project_destroy(project);
        ex_rig_destroy(again);
        ex_rig_destroy(rig);
    }
}

/* A second axis: keys of two databases, chosen between by a dial. */
static void test_database(void **state) {
    (void)state;
    static const char text[] =
        "{'exemplar': 1, 'mesh': 'sleeve.obj', 'driver': {'mesh': 'arm.obj'}, 'layers': [{'name': 'driven', 'space': "
        "[{'name': 'body', 'driver': true}, {'name': 'stiff', 'min': 0, 'max': 1}], 'weigh': {'kind': 'convex'}, "
        "'examples': [{'name': 'a', 'mesh': 'sleeve0.obj', 'at': {'body': 'arm0.obj', 'stiff': 0}}, {'name': 'b', "
        "'mesh': 'sleeve2.obj', 'at': {'body': 'arm2.obj', 'stiff': 0}}, {'name': 'c', 'mesh': 'sleeve0.obj', 'at': "
        "{'stiff': 1, 'body': 'arm0.obj'}}]}]}";
    ex_rig *rig = build_text(text);
    ex_pose pose = ex_pose_create(rig);
    double weights[3];
    void *scratch = malloc(ex_rig_scratch_size(rig, NULL, 1) + 1);
    assert_true(scratch && pose.inputs);
    pose.inputs[0] = 1;
    pose.driver = arm.drivers[0];
    ex_rig_evaluate(rig, &pose, &(ex_output){.weights = weights}, NULL, scratch);
    check_near(weights[0], 0, 1e-6);
    check_near(weights[2], 1, 1e-6);
    free(pose.inputs);
    free(scratch);
    ex_rig_destroy(rig);
    check_round_trip(text);
}

/* A dial on top, sculpted on the bent arm, which the driver's layer counts for. */
#define PUFF                                                                                                           \
    ", {'name': 'puff', 'shape': 'unposed', 'space': [{'name': 'puff', 'min': 0, 'max': 1}], 'examples': [{'name': "   \
    "'flat', 'mesh': 'sleeve1.obj', 'at': {'body': 'arm1.obj', 'puff': 0}}, {'name': 'puffed', 'mesh': 'puffed.obj', " \
    "'at': {'body': 'arm2.obj', 'puff': 1}}]}]"

static void test_layer_on_top(void **state) {
    (void)state;
    const size_t count = 3 * (size_t)arm.driven->vertex_count;
    float *puffed = malloc(count * sizeof *puffed), *positions = malloc(count * sizeof *positions);
    assert_true(puffed && positions);
    for (size_t i = 0; i < count; i++)
        puffed[i] = arm.drivens[2][i] + (i % 3 == 1 ? 0.03F : 0);
    write_form("puffed.obj", arm.driven, puffed);
    ex_rig *rig = build_text(DRIVEN(", 'frames': 4", "", "unposed", PUFF));
    void *scratch = malloc(ex_rig_scratch_size(rig, NULL, 1) + 1);
    assert_non_null(scratch);
    ex_rig_evaluate(rig, &(ex_pose){.inputs = (double[]){1}, .driver = arm.drivers[2]},
                    &(ex_output){.positions = positions}, &(ex_evaluation){.unsettled = true}, scratch);
    for (size_t i = 0; i < count; i++)
        check_near((double)positions[i], (double)puffed[i], 1e-5);
    /* The driver's own examples have no layer before them: the dial at rest leaves them alone. */
    check_near(distance_at(rig, arm.drivers[2], arm.drivens[2]), 0, 1e-5);
    free(scratch);
    free(puffed);
    free(positions);
    ex_rig_destroy(rig);
}

static void test_poses_in_words(void **state) {
    (void)state;
    ex_rig *rig = build_text(DRIVEN("", "", "unposed", "]"));
    ex_pose pose = ex_pose_create(rig);
    char word[300];
    ex_error error = {0};
    const size_t size = 3 * (size_t)arm.driver->vertex_count * sizeof(float);
    snprintf(word, sizeof word, "body=%s", scratch_path("arm3.obj"));
    if (ex_pose_set(rig, word, &pose, &error) != EX_OK)
        fail_msg("%s", error.text);
    assert_memory_equal(pose.driver, arm.drivers[3], size);
    snprintf(word, sizeof word, "body=%s", scratch_path("sleeve.obj"));
    assert_int_equal(ex_pose_set(rig, word, &pose, &error), EX_ERROR_DATA);
    assert_non_null(strstr(error.text, "not a form of the driver 'body'"));
    free(pose.inputs);
    write_text("poses.csv", "body\n1\n");
    ex_pose_table table;
    assert_int_equal(ex_pose_table_read(scratch_path("poses.csv"), rig, &table, &error), EX_ERROR_DATA);
    assert_non_null(strstr(error.text, "drive apply"));
    ex_rig_destroy(rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys_come_back), cmocka_unit_test(test_same_as_keys), cmocka_unit_test(test_round_trips),
        cmocka_unit_test(test_keys_unpack),    cmocka_unit_test(test_database),     cmocka_unit_test(test_layer_on_top),
        cmocka_unit_test(test_poses_in_words),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
