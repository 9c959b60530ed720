/*
 * Layers over layers: a later layer's example is measured from the result of the earlier layers at its complete pose,
 * so every sculpt comes back at its pose; unpacking and building again changes nothing; check reports what a later
 * layer disturbs.
 */
#include "author/project/projects.h"

/* Layer `low` lifts the square to 1 at a = 1; layer `high` was sculpted at a = 1, b = 1 to 5, and at b = 1 alone to
 * `alone`. */
static const char layers[] = "{'exemplar': 1, 'mesh': 'm.obj', 'layers': [\n"
                             "{'name': 'low', 'space': [{'name': 'a', 'min': 0, 'max': 1}], 'examples': [{'name': 'm', "
                             "'mesh': 'm.obj', 'at': {}},\n"
                             "  {'name': 'up', 'mesh': 'one.obj', 'at': {'a': 1}}]},\n"
                             "{'name': 'high', 'space': [{'name': 'b', 'min': 0, 'max': 1}], 'examples': [{'name': "
                             "'n', 'mesh': 'm.obj', 'at': {}},\n"
                             "  {'name': 'sculpt', 'mesh': 'five.obj', 'at': {'a': 1, 'b': 1}}]}]}";

static double height(const ex_rig *rig, double a, double b) {
    float positions[12];
    double inputs[2] = {a, b};
    evaluate(rig, inputs, positions, NULL);
    for (int v = 1; v < 4; v++)
        assert_true(positions[3 * v + 2] == positions[2]);
    return (double)positions[2];
}

static int set_up(void **state) {
    if (scratch_set_up(state) != 0)
        return 1;
    write_square("m.obj", 0, 0, 0, 0);
    write_square("one.obj", 1, 1, 1, 1);
    write_square("five.obj", 5, 5, 5, 5);
    return 0;
}

static void every_sculpt_comes_back(void **state) {
    (void)state;
    ex_rig *rig = build_text(layers);
    check_near(height(rig, 0, 0), 0, 1e-6);
    check_near(height(rig, 1, 0), 1, 1e-6);
    check_near(height(rig, 1, 1), 5, 1e-6);
    /* The sculpt added 4 to the existing form. */
    check_near(height(rig, 0, 1), 4, 1e-6);
    check_near(height(rig, 0.5, 0.5), 2.5, 1e-6);
    ex_rig_destroy(rig);
}

static void direct_layers_stand_at_their_own_axis(void **state) {
    (void)state;
    /* `grin` of the direct layer is also an axis of the layer before it: at grin = 1 that gives 1 of the 5. */
    ex_rig *rig = build_text(
        "{'exemplar': 1, 'mesh': 'm.obj', 'layers': [{'name': 'low', 'space': [{'name': 'grin', 'min': 0, 'max': 1}], "
        "'examples': [{'name': 'm', 'mesh': 'm.obj', 'at': {}}, {'name': 'up', 'mesh': 'one.obj', 'at': {'grin': "
        "1}}]}, "
        "{'name': 'face', 'weigh': {'kind': 'direct'}, 'space': [{'name': 'grin', 'min': 0, 'max': 1}], 'examples': "
        "[{'name': 'grin', 'mesh': 'five.obj'}]}]}");
    check_near(height(rig, 1, 0), 5, 1e-6);
    float delta[12];
    ex_rig_example_delta(rig, 1, 0, delta);
    check_near((double)delta[2], 4, 1e-6);
    ex_rig_destroy(rig);
}

static void unpacking_changes_no_byte(void **state) {
    (void)state;
    ex_rig *rig = build_text(layers);
    ex_error error = {0};
    if (ex_project_unpack(rig, scratch_path("u"), "x", false, &error) != EX_OK)
        fail_msg("%s", error.text);
    ex_project *project = NULL;
    if (ex_project_read(scratch_path("u/x.json"), &project, &error) != EX_OK)
        fail_msg("%s", error.text);
    ex_rig *again = build_project(project);
    check_same_rig(rig, again);
    ex_rig_destroy(again);
    ex_rig_destroy(rig);
    ex_project_destroy(project);
}

static void check_names_what_is_disturbed(void **state) {
    (void)state;
    /* Both layers read `a`, so at a = 1 the sculpt of the first is moved by the second. */
    ex_project *project = parse_project(
        "{'exemplar': 1, 'mesh': 'm.obj', 'layers': [{'name': 'low', 'space': [{'name': 'a', 'min': 0, 'max': 1}], "
        "'examples': [{'name': 'm', 'mesh': 'm.obj', 'at': {}}, {'name': 'up', 'mesh': 'one.obj', 'at': {'a': 1}}]}, "
        "{'name': 'high', 'space': [{'name': 'a', 'min': 0, 'max': 1}], 'examples': [{'name': 'n', 'mesh': 'm.obj', "
        "'at': {}}, {'name': 'sculpt', 'mesh': 'five.obj', 'at': {'a': 1}}]}]}");
    ex_check *check = NULL;
    assert_int_equal(ex_project_check(project, NULL, &check, NULL), EX_OK);
    int found = 0;
    for (int i = 0; i < check->finding_count; i++)
        if (strcmp(check->findings[i].kind, "disturbed") == 0) {
            found++;
            assert_string_equal(check->findings[i].where, "layers[0].examples[1]");
            assert_int_equal(check->findings[i].severity, EX_SEVERITY_WARNING);
            check_near(check->findings[i].value, 4 / sqrt(2), 1e-6);
        }
    assert_int_equal(found, 1);
    ex_check_destroy(check);
    ex_project_destroy(project);
    project = parse_project(layers);
    assert_int_equal(ex_project_check(project, NULL, &check, NULL), EX_OK);
    for (int i = 0; i < check->finding_count; i++)
        assert_string_not_equal(check->findings[i].kind, "disturbed");
    ex_check_destroy(check);
    ex_project_destroy(project);
}

static void an_example_that_equals_the_mesh_moves_nothing(void **state) {
    (void)state;
    write_square("third.obj", 1.0 / 3, 1.0 / 3, 1.0 / 3, 1.0 / 3);
    ex_rig *rig =
        build_text("{'exemplar': 1, 'mesh': 'third.obj', 'layers': [{'name': 'l', 'space': [{'name': 'a', 'min': 0, "
                   "'max': 1}], 'examples': [{'name': 'e', 'mesh': 'third.obj', 'at': {}}]}]}");
    float delta[12];
    ex_rig_example_delta(rig, 0, 0, delta);
    for (int i = 0; i < 12; i++)
        assert_true(delta[i] == 0);
    ex_rig_destroy(rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_sculpt_comes_back),
        cmocka_unit_test(direct_layers_stand_at_their_own_axis),
        cmocka_unit_test(unpacking_changes_no_byte),
        cmocka_unit_test(check_names_what_is_disturbed),
        cmocka_unit_test(an_example_that_equals_the_mesh_moves_nothing),
    };
    return cmocka_run_group_tests_name("author.project.measure", tests, set_up, scratch_tear_down);
}
