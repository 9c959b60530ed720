/* Projects that a driver moves: building and unpacking them. */
#include "author/project/driven.h"
#include "author/project/posable.h"
#include "support/words.h"

static sleeve arm;

static int set_up(void **state) {
    if (scratch_set_up(state) != 0)
        return -1;
    sleeve_open(&arm, 7, 6);
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

/* At a key's driver the rig gives the key's form, wherever it was simulated. */
static void test_keys_come_back(void **state) {
    (void)state;
    check_keys(DRIVEN("", "", "unposed", "]"));
    check_keys(DRIVEN(", 'frames': 4", "", "unposed", "]"));
    check_keys(DRIVEN(", 'frames': {'count': 4, 'influences': 2}", ", 'one_region': true", "unposed", "]"));
    check_keys(DRIVEN("", "", "trajectory", "]"));
    check_keys(DRIVEN(", 'frame': {'group': 'upper'}", ", 'driver_weights': {'group': 'lower'}", "unposed", "]"));
}

/* Between keys, the driven form at rest is the mixture of the keys' un-posed forms, in double. */
static void test_mixtures_are_those_of_double(void **state) {
    (void)state;
    static const double parts[3][SLEEVE_KEYS] = {{0.5, 0.5}, {0.2, 0.3, 0.5}, {0.6, -0.2, 0.6}};
    ex_rig *rig = build_text(DRIVEN("", "", "trajectory", "]"));
    const size_t count = 3 * (size_t)ex_rig_vertex_count(rig);
    ex_rig_trajectories *paths = NULL;
    ex_error error = {0};
    if (ex_rig_trajectories_open(rig, 0, &paths, &error) != EX_OK)
        fail_msg("%s", error.text);
    assert_true(paths->found.mixture.node_count > 0);
    const size_t driver_count = 3 * (size_t)arm.def.driver->vertex_count;
    const ex_evaluation how = {.unsettled = true, .unskinned = true};
    float *positions = malloc(count * sizeof *positions), *driver = malloc(driver_count * sizeof *driver);
    double *form = malloc(count * sizeof *form), weights[SLEEVE_KEYS], mixed = 0;
    void *scratch = malloc(ex_rig_scratch_size(rig, &how, 1) + 1);
    assert_true(positions && driver && form && scratch);
    for (int i = 0; i < 3; i++) {
        for (size_t c = 0; c < driver_count; c++) {
            double sum = 0;
            for (int k = 0; k < SLEEVE_KEYS; k++)
                sum += parts[i][k] * (double)arm.drivers[k][c];
            driver[c] = (float)sum;
        }
        const ex_output output = {.positions = positions, .weights = weights};
        ex_rig_evaluate(rig, &(ex_pose){.driver = driver}, &output, &how, scratch);
        assert_true(ex_trajectories_form(&paths->found, &paths->def, weights, -1, form));
        for (size_t c = 0; c < count; c++)
            check_near((double)positions[c], form[c], 3e-6);
        for (int k = 0; k < SLEEVE_KEYS; k++)
            mixed = weights[k] > 0.1 && weights[k] < 0.9 ? weights[k] : mixed;
    }
    assert_true(mixed > 0); /* not only at keys */
    free(positions);
    free(driver);
    free(form);
    free(scratch);
    ex_rig_trajectories_close(paths);
    ex_rig_destroy(rig);
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

/* A project builds from files what the library builds from keys, to the bit except for names. */
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
    /* A driver whose numbers do not fit floats, and whose quads are bent: it is split like the floats. */
    check_round_trip("{'unit': 'in', 'exemplar': 1, 'mesh': 'sleeve.obj', 'driver': {'mesh': 'arm2.obj', 'frames': 3}, "
                     "'layers': [{'name': 'driven', 'space': [{'name': 'body', 'driver': true}], 'weigh': {'kind': "
                     "'convex'}, 'examples': [" KEY(1) ", " KEY(3) "]}]}");
    check_round_trip(DRIVEN(", 'frame': {'group': 'upper'}, 'frames': 4",
                            ", 'driver_weights': {'group': 'lower'}, 'regions': [{'look': {'group': 'upper'}, 'mask': "
                            "{'group': 'body'}}, {'look': {'group': 'lower'}, 'mask': {'group': 'cuff'}}]",
                            "unposed", "]"));
}

/* The project would overwrite the binds that it names. */
static void test_a_part_has_the_name(void **state) {
    (void)state;
    write_text("binds.json", "{\"binds\": [{\"driven\": \"cuff\", \"driver\": \"lower\"}]}");
    ex_rig *rig = build_text(DRIVEN("", "", "unposed", "], 'settle': {'push': false, 'bind': 'binds.json'}"));
    ex_error error = {0};
    assert_int_equal(ex_project_unpack(rig, scratch_path("named"), "binds", false, &error), EX_ERROR_DATA);
    assert_non_null(strstr(error.text, "a part of the rig is called 'binds.json'"));
    assert_int_equal(ex_project_unpack(rig, scratch_path("named"), "others", false, &error), EX_OK);
    ex_rig_destroy(rig);
}

/* Rigs that differ only in how they settle; the first difference has the word and the size. */
static void test_settling_is_compared(void **state) {
    (void)state;
    static const struct {
        const char *text, *word;
        double largest;
    } cases[] = {{DRIVEN("", "", "unposed", "], 'settle': {'residual': false}"), "the residual is carried by", 0},
                 {DRIVEN("", "", "unposed", "], 'settle': {'residual': 'closest', 'push': false}"), "is pushed out", 0},
                 {DRIVEN("", "", "unposed", "], 'settle': {'residual': 'closest', 'thickness': 0.25}"),
                  "the thickness differs by", 0.25}};
    ex_rig *rig = build_text(DRIVEN("", "", "unposed", "], 'settle': {'residual': 'closest', 'thickness': 0}"));
    for (int i = 0; i < 3; i++) {
        ex_rig *other = build_text(cases[i].text);
        ex_differences *list = NULL;
        assert_int_equal(ex_rig_compare(rig, other, 1e-7, &list, NULL), EX_OK);
        int found = -1;
        for (int k = 0; k < list->count && found < 0; k++)
            found = strstr(list->items[k].text, cases[i].word) ? k : -1;
        if (found < 0)
            fail_msg("%d differences, none says '%s'", list->count, cases[i].word);
        assert_string_equal(list->items[found].kind, "driver");
        check_near(list->items[found].largest, cases[i].largest, 1e-6);
        ex_differences_destroy(list);
        ex_rig_destroy(other);
    }
    ex_rig_destroy(rig);
}

/* A rig made of keys becomes a project that builds it again. */
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

/* A second axis: keys of two databases, selected by a dial. */
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

/* A dial on top, sculpted on the bent arm, which accounts for the driver's layer. */
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
    /* The driver's own examples have no layer before them: the dial at rest does not affect them. */
    check_near(distance_at(rig, arm.drivers[2], arm.drivens[2]), 0, 1e-5);
    free(scratch);
    free(puffed);
    free(positions);
    ex_rig_destroy(rig);
}

/* The matrix of a joint if the forearm is turned about its x. */
static void joint_matrix(const ex_rig *rig, int joint, double degrees, ex_transform *joints, float matrix[12]) {
    const ex_skeleton *skeleton = ex_rig_skeleton(rig);
    const ex_reading whole = {.kind = EX_READING_ROTATION, .part = EX_AXIS_ROTATION};
    const double half = degrees * (3.14159265358979323846 / 360), turn[4] = {sin(half), 0, 0, cos(half)};
    float matrices[POSABLE_JOINTS][12];
    void *scratch = malloc(ex_skeleton_scratch_size(skeleton) + 1);
    assert_non_null(scratch);
    for (int j = 0; j < POSABLE_JOINTS; j++)
        joints[j] = ex_skeleton_rest(skeleton, j);
    ex_reading_write(&whole, &joints[FOREARM], turn, &joints[FOREARM]);
    ex_skeleton_evaluate(skeleton, &(ex_skeleton_input){.locals = joints},
                         &(ex_skeleton_output){.matrices = &matrices[0][0]}, scratch);
    memcpy(matrix, matrices[joint], sizeof matrices[joint]);
    free(scratch);
}

static void move_form(const float matrix[12], int count, float *form) {
    for (int v = 0; v < count; v++) {
        const float p[3] = {form[3 * v], form[3 * v + 1], form[3 * v + 2]};
        for (int r = 0; r < 3; r++)
            form[3 * v + r] =
                matrix[4 * r] * p[0] + matrix[4 * r + 1] * p[1] + matrix[4 * r + 2] * p[2] + matrix[4 * r + 3];
    }
}

/* The frame is that of a joint, which carried the keys away: only their bend is left. */
static void test_frame_of_a_joint(void **state) {
    (void)state;
    ex_error error = {0};
    static const char text[] =
        "{'exemplar': 1, 'mesh': 'sleeve.obj', 'skeleton': 'posable/skeleton.glb', 'driver': {'mesh': 'arm.obj', "
        "'frame': {'joint': 'forearm'}}, 'layers': [{'name': 'driven', 'space': [{'name': 'body', 'driver': true}], "
        "'weigh': {'kind': 'convex'}, 'examples': [{'name': 'a', 'mesh': 'moved0.obj', 'at': {'body': 'mover0.obj'}}, "
        "{'name': 'b', 'mesh': 'moved1.obj', 'at': {'body': 'mover1.obj'}, 'joints': {'forearm': {'x': 70}}}]}], "
        "'settle': {'push': false, 'residual': 'none'}}";
    ex_rig *posable = posable_rig("a", "b", "c", true);
    if (ex_project_unpack(posable, scratch_path("posable"), "p", false, &error) != EX_OK)
        fail_msg("%s", error.text);
    const size_t drivers = 3 * (size_t)arm.driver->vertex_count, drivens = 3 * (size_t)arm.driven->vertex_count;
    float *driver = malloc(drivers * sizeof *driver), *driven = malloc(drivens * sizeof *driven), matrix[12];
    ex_transform joints[POSABLE_JOINTS];
    assert_true(driver && driven);
    for (int k = 0; k < 2; k++) {
        char name[24];
        sleeve_form(&arm, 40.0 * k, 0, 0, driver, driven);
        joint_matrix(posable, FOREARM, 70.0 * k, joints, matrix);
        move_form(matrix, arm.driver->vertex_count, driver);
        move_form(matrix, arm.driven->vertex_count, driven);
        snprintf(name, sizeof name, "mover%d.obj", k);
        write_form(name, arm.driver, driver);
        snprintf(name, sizeof name, "moved%d.obj", k);
        write_form(name, arm.driven, driven);
    }
    ex_rig *rig = build_text(text);
    float *positions = malloc(drivens * sizeof *positions), *delta = malloc(drivens * sizeof *delta);
    float *bent = malloc(drivens * sizeof *bent), *unused = malloc(drivers * sizeof *unused);
    void *scratch = malloc(ex_rig_scratch_size(rig, NULL, 1) + 1);
    assert_true(positions && delta && bent && unused && scratch);
    ex_rig_evaluate(rig, &(ex_pose){.joints = joints, .driver = driver}, &(ex_output){.positions = positions}, NULL,
                    scratch);
    sleeve_form(&arm, 40, 0, 0, unused, bent);
    ex_rig_example_delta(rig, 0, 1, delta);
    for (size_t i = 0; i < drivens; i++) {
        check_near((double)positions[i], (double)driven[i], 1e-5);
        check_near(arm.driven->positions[i] + (double)delta[i], (double)bent[i], 1e-5);
    }
    free(positions);
    free(delta);
    free(bent);
    free(unused);
    free(scratch);
    free(driver);
    free(driven);
    ex_rig_destroy(rig);
    ex_rig_destroy(posable);
    check_round_trip(text);
}

static void test_poses_in_words(void **state) {
    (void)state;
    ex_rig *rig = build_text(DRIVEN("", "", "unposed", "]"));
    ex_pose pose = ex_pose_create(rig);
    char word[300];
    ex_error error = {0};
    const size_t size = 3 * (size_t)arm.driver->vertex_count * sizeof(float);
    snprintf(word, sizeof word, "body=%s", scratch_path("arm3.obj"));
    if (exi_pose_word(rig, word, &pose, &error) != EX_OK)
        fail_msg("%s", error.text);
    assert_memory_equal(pose.driver, arm.drivers[3], size);
    snprintf(word, sizeof word, "body=%s", scratch_path("sleeve.obj"));
    assert_int_equal(exi_pose_word(rig, word, &pose, &error), EX_ERROR_DATA);
    assert_non_null(strstr(error.text, "not a form of the driver 'body'"));
    free(pose.inputs);
    write_text("poses.csv", "body\n1\n");
    ex_pose_table table;
    assert_int_equal(ex_pose_table_read(scratch_path("poses.csv"), rig, &table, &error), EX_ERROR_DATA);
    assert_non_null(strstr(error.text, "which a table cannot hold"));
    ex_rig_destroy(rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys_come_back),   cmocka_unit_test(test_mixtures_are_those_of_double),
        cmocka_unit_test(test_same_as_keys),     cmocka_unit_test(test_settling_is_compared),
        cmocka_unit_test(test_round_trips),      cmocka_unit_test(test_a_part_has_the_name),
        cmocka_unit_test(test_keys_unpack),      cmocka_unit_test(test_database),
        cmocka_unit_test(test_layer_on_top),     cmocka_unit_test(test_poses_in_words),
        cmocka_unit_test(test_frame_of_a_joint),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
