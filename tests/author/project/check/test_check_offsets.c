/*
 * Checking layers of offsets: sculpts that later layers disturb, and if protecting them would help; layers that do
 * something at rest; ridges with the pose that causes them; sets; sculpts at one pose, of another order, and made
 * elsewhere.
 */
#include "checks.h"

#include "support/arms.h"

static const char layer_format[] = "{'name': '%s', 'space': [{'name': '%s', 'min': 0, 'max': 1}], 'weigh': {'kind': "
                                   "'gaussian'%s}, 'shape': 'offsets', %s 'examples': [%s]}";

static char *layer(const char *name, const char *axis, const char *weigh, const char *keys, const char *examples) {
    static char texts[4][2000];
    static int next;
    char *text = texts[next++ % 4];
    snprintf(text, 2000, layer_format, name, axis, weigh, keys, examples);
    return text;
}

static char *project(const char *first, const char *second) {
    static char text[5000];
    snprintf(text, sizeof text, "{'exemplar': 1, 'mesh': 'square.obj', 'layers': [%s%s%s]}", first,
             second[0] ? ", " : "", second);
    return text;
}

static int set_up(void **state) {
    if (scratch_set_up(state) != 0)
        return -1;
    write_square("square.obj", 0, 0, 0, 0);
    write_square("one.obj", 1, 0, 0, 0);
    write_square("two.obj", 1, 1, 0, 0);
    write_square("three.obj", 0, 0, 0.5, 0);
    return 0;
}

static void a_sound_one_has_no_warning(void **state) {
    (void)state;
    expect_good(project(layer("a", "x", "", "", "{'name': 'one', 'mesh': 'one.obj', 'at': {'x': 1}}"),
                        layer("b", "y", "", "", "{'name': 'two', 'mesh': 'two.obj', 'at': {'y': 1}}")));
}

/* At x = 0.5 the second layer, of zero at 0 and an example at 1, has e = exp(-1/8), s = exp(-1/2): weights
 * (e - e s) / (1 - s^2) of its lift by 0.5. */
static void finds_what_is_disturbed(void **state) {
    (void)state;
    const char *first = layer("a", "x", "", "", "{'name': 'half', 'mesh': 'one.obj', 'at': {'x': 0.5}}");
    static const char second[] = "{'name': 'whole', 'mesh': 'three.obj', 'at': {'x': 1}}";
    const double e = exp(-0.125), s = exp(-0.5), weight = (e - e * s) / (1 - s * s);
    /* Offset of vertex 2 alone, which the first layer does not move: at x = 1 it does, so vertex 0 is undone there. */
    ex_check *check = check_text(project(first, layer("b", "x", "", "", second)));
    const ex_finding *finding = only(check, "disturbed", EX_SEVERITY_WARNING);
    expect_words(finding, "layers[0].examples[0]", "layer 'b' moves the form of 'half' by up to ");
    expect_words(finding, "layers[0].examples[0]", "\"protect\": true in that layer would prevent this");
    const double first_at_1 = (exp(-0.5 * 1) - exp(-0.5 * 4) * exp(-0.5)) / (1 - exp(-1.0));
    const double lift = 0.5, undone = first_at_1, worst = lift > undone ? lift : undone;
    check_near(finding->value, weight * worst / sqrt(2.0), 1e-6);
    ex_check_destroy(check);
    expect_good(project(first, layer("b", "x", "", "'protect': true,", second)));
    expect_good(project(first, layer("b", "x", "", "'muted': true,", second)));
    /* Protecting does not help if the later layer has an example at exactly that point of its space. */
    check = check_text(
        project(layer("a", "x", "", "", "{'name': 'half', 'mesh': 'one.obj', 'at': {'x': 0.5, 'y': 1}}"),
                layer("b", "y", "", "'protect': true,", "{'name': 'whole', 'mesh': 'three.obj', 'at': {'y': 1}}")));
    expect_words(only(check, "disturbed", EX_SEVERITY_WARNING), "layers[0].examples[0]",
                 "in its space, 'whole' is at the same place; an axis that tells them apart is missing");
    ex_check_destroy(check);
}

/* Alone with the point 1, at rest: exp(-1/2), the falloff of a lone point being 1. */
static void finds_what_is_done_at_rest(void **state) {
    (void)state;
    static const char example[] = "{'name': 'one', 'mesh': 'one.obj', 'at': {'x': 1}}";
    static const char *const keys[] = {"'rest': false,", "'participation': 'moved',"};
    for (int i = 0; i < 2; i++) {
        ex_check *check = check_text(project(layer("a", "x", "", keys[i], example), ""));
        const ex_finding *finding = only(check, "at_rest", EX_SEVERITY_WARNING);
        expect_words(finding, "layers[0]", "'a' moves vertex 0 (counting from 0) by 0.61 m");
        expect_words(finding, "layers[0]", "\"rest\": true would hold it there");
        check_near(finding->value, exp(-0.5) / sqrt(2.0), 1e-6);
        ex_check_destroy(check);
    }
    expect_good(project(layer("a", "x", "", "'participation': 'moved', 'rest': true,", example), ""));
    /* An example at rest is supposed to act there. */
    expect_good(project(layer("a", "x", "", "", "{'name': 'rest', 'mesh': 'one.obj', 'at': {}}"), ""));
}

static void names_the_pose_that_costs_a_ridge(void **state) {
    (void)state;
    static const char examples[] = "{'name': 'one', 'mesh': 'one.obj', 'at': {'x': 1}}, {'name': 'two', 'mesh': "
                                   "'two.obj', 'at': {'x': 0.5}, 'falloff': 900}, {'name': 'three', 'mesh': "
                                   "'three.obj', 'at': {'x': 0.4}, 'falloff': 900}";
    ex_check *check = check_text(project(layer("a", "x", "", "", examples), ""));
    const ex_finding *finding = only(check, "ridge", EX_SEVERITY_WARNING);
    expect_words(finding, "layers[0]", "had to be added, because the points can hardly be told apart");
    assert_true(strstr(finding->text, "cause is example 'two', with a falloff of 900") ||
                strstr(finding->text, "cause is example 'three', with a falloff of 900"));
    assert_true(finding->value > 0);
    assert_int_equal(count_kind(check, "condition", EX_SEVERITY_NOTE, &finding), 1);
    assert_true(finding->value > EX_CONDITION_LIMIT);
    ex_check_destroy(check);
    check = check_text(
        project(layer("a", "x", ", 'ridge': 0.1", "", "{'name': 'one', 'mesh': 'one.obj', 'at': {'x': 1}}"), ""));
    expect_words(only(check, "ridge", EX_SEVERITY_WARNING), "layers[0]",
                 "a ridge of 0.1 is added, and 'one' is missed");
    ex_check_destroy(check);
}

/* Points that are nearly equal, but no vertex is moved by both: as in the rig, each is solved alone. */
static void sets_that_need_no_ridge_are_not_told_of_one(void **state) {
    (void)state;
    char *text = project(layer("a", "x", "", "'participation': 'moved',",
                               "{'name': 'one', 'mesh': 'one.obj', 'at': {'x': 0.5}, 'falloff': 9000}, {'name': "
                               "'three', 'mesh': 'three.obj', 'at': {'x': 0.4}, 'falloff': 9000}"),
                         "");
    ex_check *check = check_text(text);
    const ex_finding *finding = NULL;
    assert_int_equal(count_kind(check, "ridge", EX_SEVERITY_WARNING, NULL), 0);
    assert_int_equal(count_kind(check, "condition", EX_SEVERITY_NOTE, &finding), 1);
    check_near(finding->value, 1, 1e-12);
    ex_check_destroy(check);
    ex_rig *rig = build_text(text);
    assert_true(ex_weigher_get_ridge(ex_rig_weigher(rig, 0)).ridge == 0);
    ex_rig_destroy(rig);
}

static void names_both_sculpts_of_one_pose(void **state) {
    (void)state;
    static const char examples[] = "{'name': 'one', 'mesh': 'one.obj', 'at': {'x': 1}}, {'name': 'two', 'mesh': "
                                   "'two.obj', 'at': {'x': 1}}";
    char *text = project(layer("a", "x", "", "", examples), "");
    ex_check *check = check_text(text);
    expect_words(only(check, "same_place", EX_SEVERITY_ERROR), "layers[0]",
                 "example 'one' and example 'two' are at the same");
    ex_check_destroy(check);
    ex_project *parsed = parse_project(text);
    ex_rig *rig = NULL;
    ex_error error = {0};
    assert_int_equal(ex_project_build(parsed, NULL, &rig, &error), EX_ERROR_SINGULAR);
    assert_non_null(strstr(error.text, "'one' and example 'two'"));
    ex_project_destroy(parsed);
}

static void tells_of_zeros_by_name(void **state) {
    (void)state;
    /* The example of the second layer and the zero at the pose of the first one's are nearly at one point. */
    ex_check *check =
        check_text(project(layer("a", "x", "", "", "{'name': 'e', 'mesh': 'one.obj', 'at': {'x': 0.501}}"),
                           layer("b", "x", "", "'protect': true,",
                                 "{'name': 'f', 'mesh': 'three.obj', 'at': {'x': 0.5}}, {'name': 'g', 'mesh': "
                                 "'three.obj', 'at': {'x': 1}}")));
    expect_words(only(check, "close_examples", EX_SEVERITY_WARNING), "layers[1]",
                 "example 'f' and the zero at the pose of 'e' of layer 'a' are nearly");
    ex_check_destroy(check);
}

static void says_what_falloff_was_chosen(void **state) {
    (void)state;
    static const char examples[] = "{'name': 'one', 'mesh': 'one.obj', 'at': {'x': 1}}, {'name': 'two', 'mesh': "
                                   "'two.obj', 'at': {'x': 0.5}}";
    ex_check *check = check_text(project(layer("a", "x", ", 'falloff': 'auto'", "", examples), ""));
    const ex_finding *finding = only(check, "falloff", EX_SEVERITY_NOTE);
    expect_words(finding, "layers[0].weigh.falloff", "\"auto\" chose ");
    assert_true(finding->value >= 0.125 && finding->value <= 4);
    assert_int_equal(count_kind(check, "leave_one_out", EX_SEVERITY_NOTE, &finding), 2);
    assert_non_null(strstr(finding->text, "its offsets would be predicted with an error of up to"));
    ex_check_destroy(check);
}

static void tells_of_another_order_and_of_many_sets(void **state) {
    (void)state;
    write_text("other.obj", "v 1 1 0\nv 0 0 1\nv 1 0 0\nv 0 1 0\nf 2 3 1 4\n");
    expect_one(project(layer("a", "x", "", "", "{'name': 'one', 'mesh': 'other.obj', 'at': {'x': 1}}"), ""),
               "connectivity", EX_SEVERITY_ERROR, "layers[0].examples[0]", "order");
    /* 7 examples that each move half of 128 vertices, so that every subset but none is a set. */
    enum { COUNT = 7, SETS = 127 };
    char examples[1500] = "", name[40], *text = malloc(20000);
    assert_non_null(text);
    for (int k = -1; k < COUNT; k++) {
        size_t at = 0;
        for (int v = 0; v < SETS + 1; v++)
            at += (size_t)sprintf(text + at, "v %d %d %d\n", v % 16, v / 16, k >= 0 && (v >> k & 1) ? 1 : 0);
        for (int v = 0; v + 17 < SETS + 1; v++)
            at += (size_t)sprintf(text + at, "f %d %d %d\n", v + 1, v + 2, v + 18);
        snprintf(name, sizeof name, "many%d.obj", k + 1);
        write_text(name, text);
        if (k >= 0)
            snprintf(examples + strlen(examples), sizeof examples - strlen(examples),
                     "%s{'name': 'e%d', 'mesh': '%s', 'at': {'x': %d}}", k ? ", " : "", k, name, k + 1);
    }
    snprintf(
        text, 20000,
        "{'exemplar': 1, 'mesh': 'many0.obj', 'layers': [{'name': 'a', 'space': [{'name': 'x', 'min': 0, 'max': 7}], "
        "'weigh': {'kind': 'gaussian'}, 'shape': 'offsets', 'participation': 'moved', 'rest': true, 'examples': "
        "[%s]}]}",
        examples);
    expect_one(text, "sets", EX_SEVERITY_WARNING, "layers[0]", "'a' has 127 sets of examples");
    free(text);
}

static void tells_of_sculpts_that_were_made_elsewhere(void **state) {
    (void)state;
    static const char format[] =
        "{'exemplar': 1, 'mesh': 'rest.obj', 'skeleton': 'arm.glb', 'layers': [{'name': 'l', 'space': [{'name': "
        "'elbow', "
        "'joint': 'fore', 'angle': 'z', 'min': 0, 'max': 140}], 'weigh': {'kind': 'gaussian'}, 'shape': 'offsets', %s "
        "'examples': [{'name': 'bent', 'mesh': '%s', 'at': {'elbow': 100}}]}]}";
    double positions[3 * ARM_VERTICES];
    char text[1000];
    arm_form(1, 0.2, positions);
    arm_write_mesh("rest.obj", positions);
    arm_write_scene("arm.glb", arm_scene(1));
    ex_rig *plain = build_text("{'exemplar': 1, 'mesh': 'rest.obj', 'skeleton': 'arm.glb', 'layers': []}");
    arm_sculpt(plain, (const char *const[]){"joint:fore=z100", NULL}, 0.01, 1, positions);
    arm_write_mesh("bent.obj", positions);
    ex_rig_destroy(plain);
    snprintf(text, sizeof text, format, "", "bent.obj");
    expect_good(text);
    snprintf(text, sizeof text, format, "", "rest.obj");
    ex_check *check = check_text(text);
    expect_words(only(check, "misread", EX_SEVERITY_WARNING), "layers[0].examples[0]", "\"posed\": false");
    ex_check_destroy(check);
    snprintf(text, sizeof text, format, "'posed': false,", "bent.obj");
    check = check_text(text);
    expect_words(only(check, "misread", EX_SEVERITY_WARNING), "layers[0].examples[0]", "should not have \"posed\"");
    ex_check_destroy(check);
}

static void tells_of_sculpts_that_move_nothing(void **state) {
    (void)state;
    static const char examples[] = "{'name': 'one', 'mesh': 'one.obj', 'at': {'x': 1}}, {'name': 'flat', 'mesh': "
                                   "'square.obj', 'at': {'x': 0.5}}";
    ex_check *check = check_text(project(layer("a", "x", "", "", examples), ""));
    expect_words(only(check, "unmoved", EX_SEVERITY_NOTE), "layers[0].examples[1]", "'flat' moves no vertex");
    ex_check_destroy(check);
    check = check_text(
        project(layer("a", "x", "", "'tolerance': 5,", "{'name': 'one', 'mesh': 'one.obj', 'at': {'x': 1}}"), ""));
    expect_words(only(check, "unmoved", EX_SEVERITY_NOTE), "layers[0].examples[0]", "tolerance of 5 m");
    ex_check_destroy(check);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sound_one_has_no_warning),
        cmocka_unit_test(finds_what_is_disturbed),
        cmocka_unit_test(finds_what_is_done_at_rest),
        cmocka_unit_test(names_the_pose_that_costs_a_ridge),
        cmocka_unit_test(sets_that_need_no_ridge_are_not_told_of_one),
        cmocka_unit_test(names_both_sculpts_of_one_pose),
        cmocka_unit_test(tells_of_zeros_by_name),
        cmocka_unit_test(says_what_falloff_was_chosen),
        cmocka_unit_test(tells_of_another_order_and_of_many_sets),
        cmocka_unit_test(tells_of_sculpts_that_were_made_elsewhere),
        cmocka_unit_test(tells_of_sculpts_that_move_nothing),
    };
    return cmocka_run_group_tests_name("author.project.check_offsets", tests, set_up, scratch_tear_down);
}
