/*
 * Checking: a project for every kind of finding, with its severity, place and number; a sound one has none of them.
 */
#include "checks.h"

static int set_up(void **state) {
    if (scratch_set_up(state) != 0)
        return -1;
    write_square("m.obj", 0, 0, 0, 0);
    write_square("a.obj", 1, 0, 0, 0);
    write_square("b.obj", 0, 1, 0, 0);
    write_square("c.obj", 0, 0, 1, 0);
    return 0;
}

static const char sound[] =
    "{'exemplar': 1, 'mesh': 'm.obj', 'layers': [{'name': 'l', 'space': [{'name': 'x', 'min': 0, 'max': 1},\n"
    "{'name': 'y', 'min': 0, 'max': 1}], 'examples': [{'name': 'm', 'mesh': 'm.obj', 'at': {}},\n"
    "{'name': 'a', 'mesh': 'a.obj', 'at': {'x': 1}}, {'name': 'b', 'mesh': 'b.obj', 'at': {'y': 1}},\n"
    "{'name': 'c', 'mesh': 'c.obj', 'at': {'x': 1, 'y': 1}}]}]}";

static void a_sound_project_has_no_error(void **state) {
    (void)state;
    ex_check *check = check_text(sound);
    assert_int_equal(check->error_count, 0);
    assert_int_equal(check->warning_count, 0);
    const ex_finding *condition = only(check, "condition", EX_SEVERITY_NOTE);
    assert_string_equal(condition->where, "layers[0]");
    assert_true(condition->value >= 1 && condition->value < 1e4);
    assert_int_equal(count_kind(check, "leave_one_out", EX_SEVERITY_NOTE, NULL), 4);
    assert_int_equal(check->finding_count, 6);
    assert_non_null(strstr(only(check, "weights", EX_SEVERITY_NOTE)->text, "inside the range"));
    ex_check_destroy(check);
    ex_check_destroy(NULL);
}

/* Without the corner, the plane through the other three guesses a + b - m there: heights 1 1 0 0 where 0 0 1 0 is. The
 * largest distance of a vertex is 1, and the mesh's diagonal is the root of 2. */
static void measures_what_the_others_would_guess(void **state) {
    (void)state;
    ex_check *check = check_text(sound);
    const ex_finding *last = NULL;
    count_kind(check, "leave_one_out", EX_SEVERITY_NOTE, &last);
    assert_string_equal(last->where, "layers[0].examples[3]");
    assert_non_null(strstr(last->text, "'c'"));
    check_near(last->value, 1 / sqrt(2.0), 1e-9);
    assert_non_null(strstr(last->text, "70.71 %"));
    ex_check_destroy(check);
}

/* On a line, the two remaining examples give a straight line between their forms: at 0, 1 and 3 with heights 0 0, 1 0
 * and 0 4 of two vertices, the others give 1.5 -2, 0 4/3 and 3 0. */
static void measures_each_example(void **state) {
    (void)state;
    write_square("four.obj", 0, 4, 0, 0);
    ex_check *check = check_text(
        "{'exemplar': 1, 'mesh': 'm.obj', 'layers': [{'name': 'l', 'space': [{'name': 'x', 'min': 0, 'max': 3}],\n"
        "'examples': [{'name': 'm', 'mesh': 'm.obj', 'at': {}}, {'name': 'a', 'mesh': 'a.obj', 'at': {'x': 1}},\n"
        "{'name': 'b', 'mesh': 'four.obj', 'at': {'x': 3}}]}]}");
    const double expected[3] = {2, 4.0 / 3, 4};
    int k = 0;
    for (int i = 0; i < check->finding_count; i++)
        if (strcmp(check->findings[i].kind, "leave_one_out") == 0)
            check_near(check->findings[i].value, expected[k++] / sqrt(2.0), 1e-6);
    assert_int_equal(k, 3);
    ex_check_destroy(check);
}

/* Vertices hidden by a mask do not count: with all of vertices 0 to 2 hidden nothing moves, and the guess is right. */
static void measures_behind_the_mask(void **state) {
    (void)state;
    write_text("mask.txt", "3 1\n");
    char text[800];
    snprintf(text, sizeof text, "%.*s, 'mask': {'file': 'mask.txt'}}]}", (int)(strlen(sound) - 3), sound);
    ex_check *check = check_text(text);
    assert_int_equal(check->error_count, 0);
    for (int i = 0; i < check->finding_count; i++)
        if (strcmp(check->findings[i].kind, "leave_one_out") == 0)
            check_near(check->findings[i].value, 0, 1e-12);
    ex_check_destroy(check);
}

static void finds_points_at_one_place(void **state) {
    (void)state;
    const char *weighers[] = {"cardinal", "shepard", "nearest"};
    for (int i = 0; i < 3; i++) {
        char text[800];
        snprintf(
            text, sizeof text,
            "{'exemplar': 1, 'mesh': 'm.obj', 'layers': [{'name': 'l', 'space': [{'name': 'x', 'min': 0, 'max': 1}],\n"
            "'weigh': {'kind': '%s'}, 'examples': [{'name': 'm', 'mesh': 'm.obj', 'at': {}},\n"
            "{'name': 'a', 'mesh': 'a.obj', 'at': {'x': 1}}, {'name': 'b', 'mesh': 'b.obj', 'at': {'x': 1}}],\n"
            "'pseudo': [{'from': {'x': 0.5}, 'at': {'x': 0}}]}]}",
            weighers[i]);
        ex_check *check = check_text(text);
        const ex_finding *finding = NULL;
        assert_int_equal(count_kind(check, "same_place", EX_SEVERITY_ERROR, &finding), 2);
        assert_string_equal(finding->where, "layers[0]");
        assert_non_null(strstr(finding->text, "example 'a' and example 'b' are at the same place"));
        assert_non_null(strstr(check->findings[0].text, "example 'm' and pseudo-example 1"));
        assert_int_equal(check->error_count, 2);
        ex_check_destroy(check);
    }
}

static void finds_points_close_together(void **state) {
    (void)state;
    ex_check *check = check_text(
        "{'exemplar': 1, 'mesh': 'm.obj', 'layers': [{'name': 'l', 'space': [{'name': 'x', 'min': 0, 'max': 10}],\n"
        "'examples': [{'name': 'm', 'mesh': 'm.obj', 'at': {}}, {'name': 'a', 'mesh': 'a.obj', 'at': {'x': 5}},\n"
        "{'name': 'b', 'mesh': 'b.obj', 'at': {'x': 10}}, {'name': 'c', 'mesh': 'c.obj', 'at': {'x': 9.95}}]}]}");
    const ex_finding *finding = only(check, "close_examples", EX_SEVERITY_WARNING);
    assert_non_null(strstr(finding->text, "example 'b' and example 'c'"));
    /* 0.05 of the usual 4.95. */
    check_near(finding->value, 0.05 / 4.95, 1e-9);
    assert_int_equal(check->error_count, 0);
    ex_check_destroy(check);
}

static void finds_a_bad_condition(void **state) {
    (void)state;
    ex_check *check = check_text(
        "{'exemplar': 1, 'mesh': 'm.obj', 'layers': [{'name': 'l', 'space': [{'name': 'x', 'min': 0, 'max': 1}],\n"
        "'weigh': {'kernel': 'gaussian', 'radius': 60}, 'examples': [{'name': 'm', 'mesh': 'm.obj', 'at': {}},\n"
        "{'name': 'a', 'mesh': 'a.obj', 'at': {'x': 0.33}}, {'name': 'b', 'mesh': 'b.obj', 'at': {'x': 0.66}},\n"
        "{'name': 'c', 'mesh': 'c.obj', 'at': {'x': 1}}]}]}");
    const ex_finding *finding = only(check, "condition", EX_SEVERITY_WARNING);
    assert_true(finding->value > 1e8);
    assert_non_null(strstr(finding->text, "\"ridge\""));
    ex_check_destroy(check);
}

/* Two examples in the first tenth of the range: the line through them reaches -9 and 10 at its end. */
static void finds_weights_that_run_wild(void **state) {
    (void)state;
    ex_check *check = check_text(
        "{'exemplar': 1, 'mesh': 'm.obj', 'layers': [{'name': 'l', 'space': [{'name': 'x', 'min': 0, 'max': 1}],\n"
        "'examples': [{'name': 'm', 'mesh': 'm.obj', 'at': {}}, {'name': 'a', 'mesh': 'a.obj', 'at': {'x': 0.1}}]}]}");
    const ex_finding *finding = NULL;
    assert_int_equal(count_kind(check, "weight_range", EX_SEVERITY_WARNING, &finding), 2);
    assert_string_equal(finding->where, "layers[0].examples[1]");
    check_near(finding->value, 10, 0.05);
    assert_non_null(strstr(finding->text, "x=1"));
    assert_non_null(strstr(finding->text, "'a'"));
    for (int i = 0; i < check->finding_count; i++) /* the other one */
        if (strcmp(check->findings[i].kind, "weight_range") == 0 && check->findings[i].value < 0)
            check_near(check->findings[i].value, -9, 0.05);
    /* Calm weights were tried, and hold at the outer example. */
    assert_string_equal(finding->remedy, "calm");
    assert_non_null(strstr(finding->text, "calm weights (\"kind\": \"calm\") would stay from -0.0"));
    check_near(only(check, "weights", EX_SEVERITY_NOTE)->value, 9, 0.05);
    /* Weights leave [-0.5, 1.5] beyond 0.15. */
    const ex_finding *share = only(check, "weight_range", EX_SEVERITY_NOTE);
    check_near(share->value, 0.85, 0.005);
    assert_int_equal(check->warning_count, 2);
    ex_check_destroy(check);
}

static void finds_weights_in_the_space_of_rotations(void **state) {
    (void)state;
    ex_check *check = check_text(
        "{'exemplar': 1, 'mesh': 'm.obj', 'layers': [{'name': 'l', 'space': [{'name': 'r', 'rotation': 'full'},\n"
        "{'name': 'x', 'min': 0, 'max': 1}], 'examples': [{'name': 'm', 'mesh': 'm.obj', 'at': {}},\n"
        "{'name': 'a', 'mesh': 'a.obj', 'at': {'x': 0.1}}]}]}");
    const ex_finding *finding = NULL;
    assert_int_equal(count_kind(check, "weight_range", EX_SEVERITY_WARNING, &finding), 2);
    double x = 0;
    const char *place = strstr(finding->text, " at r=");
    assert_non_null(place);
    assert_non_null(memchr("xyz", place[6], 3));
    assert_int_equal(sscanf(strstr(place, " x="), " x=%lf", &x), 1);
    assert_true(x > 0.9 && x <= 1);
    ex_check_destroy(check);
}

static const char one_example[] =
    "{'exemplar': 1, 'mesh': '%s', 'layers': [{'name': 'l', 'space': [{'name': 'x', 'min': 0, 'max': 1}],\n"
    "'weigh': {'kind': 'direct'}, 'examples': [{'name': 'e', 'mesh': '%s'}]%s}]}";

static ex_check *check_pair(const char *mesh, const char *form, const char *more) {
    char text[600];
    snprintf(text, sizeof text, one_example, mesh, form, more);
    return check_text(text);
}

static void finds_other_connectivity(void **state) {
    (void)state;
    write_text("tex.obj",
               "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 2 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nf 1/1 2/2 3/3\nf 1/1 3/3 4/4\n");
    /* Vertices 0 and 1 exchanged; first with other positions, then with the same. */
    write_text("by_tex.obj", "v 1 0 7\nv 0 0 7\nv 1 1 7\nv 0 2 7\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\n"
                             "f 2/1 1/2 3/3\nf 2/1 3/3 4/4\n");
    write_text("by_place.obj", "v 1 0 0\nv 0 0 0\nv 1 1 0\nv 0 2 0\nf 2 1 3\nf 2 3 4\n");
    write_text("neither.obj", "v 1 0 7\nv 0 0 7\nv 1 1 7\nv 0 2 7\nf 2 1 3\nf 2 3 4\n");
    write_text("other.obj", "v 1 0 0\nv 0 0 0\nv 1 1 0\nf 2 1 3\n");
    const struct {
        const char *form, *words;
    } cases[] = {{"by_tex.obj", "match it by texture coordinates"},
                 {"by_place.obj", "match it by rest position"},
                 {"neither.obj", "no other order of its vertices"},
                 {"other.obj", "it is another mesh"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ex_check *check = check_pair("tex.obj", cases[i].form, "");
        const ex_finding *finding = only(check, "connectivity", EX_SEVERITY_ERROR);
        assert_string_equal(finding->where, "layers[0].examples[0]");
        if (!strstr(finding->text, cases[i].words) || !strstr(finding->text, cases[i].form))
            fail_msg("%s: %s", cases[i].form, finding->text);
        assert_int_equal(check->error_count, 1);
        ex_check_destroy(check);
    }
}

static void finds_files_that_cannot_be_used(void **state) {
    (void)state;
    write_text("broken.obj", "v 0 0\n");
    write_text("far.obj", "v 0 0 0\nv 1 0 0\nv 1 1e39 0\nv 0 1 0\nf 1 2 3 4\n");
    write_text("line.obj", "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\nf 1 1 1\n");
    write_text("points.obj", "v 0 0 0\nv 1 0 0\n");
    const struct {
        const char *mesh, *form, *more, *kind;
        ex_severity severity;
        const char *where, *words;
    } cases[] = {
        {"none.obj", "a.obj", "", "unreadable", EX_SEVERITY_ERROR, "mesh", "none.obj"},
        {"m.obj", "none.obj", "", "unreadable", EX_SEVERITY_ERROR, "layers[0].examples[0]", "none.obj"},
        {"m.obj", "broken.obj", "", "unreadable", EX_SEVERITY_ERROR, "layers[0].examples[0]", "broken.obj:1"},
        {"m.obj", "far.obj", "", "not_finite", EX_SEVERITY_ERROR, "layers[0].examples[0]", "vertex 2"},
        {"far.obj", "a.obj", "", "not_finite", EX_SEVERITY_ERROR, "mesh", "vertex 2"},
        {"m.obj", "a.obj", ", 'mask': {'group': 'g'}", "mask", EX_SEVERITY_ERROR, "layers[0]", "'g'"},
        {"m.obj", "a.obj", ", 'mask': {'file': 'no.txt'}", "mask", EX_SEVERITY_ERROR, "layers[0]", "no.txt"},
        {"line.obj", "line.obj", "", "no_area", EX_SEVERITY_WARNING, "mesh", "line.obj"},
        {"points.obj", "points.obj", "", "no_faces", EX_SEVERITY_WARNING, "mesh", "points.obj"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ex_check *check = check_pair(cases[i].mesh, cases[i].form, cases[i].more);
        const ex_finding *finding = only(check, cases[i].kind, cases[i].severity);
        assert_string_equal(finding->where, cases[i].where);
        if (!strstr(finding->text, cases[i].words))
            fail_msg("case %zu: %s", i, finding->text);
        assert_int_equal(check->finding_count, strcmp(cases[i].form, "far.obj") == 0 ? 2 : 1); /* its size, too */
        ex_check_destroy(check);
    }
}

static void finds_axes_that_contradict_each_other(void **state) {
    (void)state;
    const struct {
        const char *first, *second;
        bool same;
    } cases[] = {
        {"'min': 0, 'max': 1", "'min': 0, 'max': 1, 'rest': 1", false},
        {"'min': 0, 'max': 1", "'min': -5, 'max': 7", true},
        {"'min': 0, 'max': 1", "'rotation': 'full'", false},
        {"'rotation': 'full'", "'rotation': 'full', 'rest': {'x': 90}", false},
        {"'rotation': 'full', 'rest': {'x': 90}", "'rotation': 'twist', 'about': 'x', 'rest': {'x': 90}", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[800];
        snprintf(
            text, sizeof text,
            "{'exemplar': 1, 'mesh': 'm.obj', 'layers': [{'name': 'l', 'space': [{'name': 'x', %s}],\n"
            "'examples': [{'name': 'e', 'mesh': 'm.obj', 'at': {}}]}, {'name': 'k', 'space': [{'name': 'x', %s}],\n"
            "'examples': [{'name': 'e', 'mesh': 'm.obj', 'at': {}}]}]}",
            cases[i].first, cases[i].second);
        ex_check *check = check_text(text);
        assert_int_equal(check->error_count, cases[i].same ? 0 : 1);
        if (!cases[i].same) {
            const ex_finding *finding = only(check, "axis", EX_SEVERITY_ERROR);
            assert_string_equal(finding->where, "layers[1].space[0]");
            assert_non_null(strstr(finding->text, "axis 'x'"));
        }
        /* Building agrees. */
        ex_project *project = parse_project(text);
        ex_rig *rig = NULL;
        assert_int_equal(ex_project_build(project, NULL, &rig, NULL) == EX_OK, cases[i].same);
        ex_rig_destroy(rig);
        ex_project_destroy(project);
        ex_check_destroy(check);
    }
}

static void finds_everything_at_once(void **state) {
    (void)state;
    ex_check *check = check_text(
        "{'exemplar': 1, 'mesh': 'm.obj', 'layers': [{'name': 'l', 'space': [{'name': 'x', 'min': 0, 'max': 1}],\n"
        "'examples': [{'name': 'm', 'mesh': 'none.obj', 'at': {}}, {'name': 'a', 'mesh': 'gone.obj', 'at': {}}],\n"
        "'mask': {'group': 'g'}}, {'name': 'k', 'space': [{'name': 'x', 'min': 0, 'max': 1, 'rest': 1}],\n"
        "'examples': [{'name': 'e', 'mesh': 'm.obj', 'at': {}}]}]}");
    assert_int_equal(count_kind(check, "unreadable", EX_SEVERITY_ERROR, NULL), 2);
    assert_int_equal(count_kind(check, "mask", EX_SEVERITY_ERROR, NULL), 1);
    assert_int_equal(count_kind(check, "same_place", EX_SEVERITY_ERROR, NULL), 1);
    assert_int_equal(count_kind(check, "axis", EX_SEVERITY_ERROR, NULL), 1);
    assert_int_equal(check->error_count, 5);
    ex_check_destroy(check);
}

static bool count_call(void *user, const char *what, double fraction) {
    assert_true(what != NULL && fraction >= 0 && fraction <= 1);
    ++*(int *)user;
    return true;
}

static void looks_at_as_many_points_as_told(void **state) {
    (void)state;
    ex_project *project = parse_project(
        "{'exemplar': 1, 'mesh': 'm.obj', 'layers': [{'name': 'l', 'space': [{'name': 'x', 'min': 0, 'max': 1}],\n"
        "'examples': [{'name': 'm', 'mesh': 'm.obj', 'at': {}}, {'name': 'a', 'mesh': 'a.obj', 'at': {'x': 0.1}}]}]}");
    int calls = 0;
    const ex_progress progress = {count_call, &calls};
    ex_check *check = NULL;
    const ex_check_options options = {.sample_count = 4, .progress = &progress};
    assert_int_equal(ex_project_check(project, &options, &check, NULL), EX_OK);
    /* Of four points, each is a quarter. */
    double share = only(check, "weight_range", EX_SEVERITY_NOTE)->value;
    check_near(share * 4, floor(share * 4 + 0.5), 1e-12);
    assert_int_equal(calls, 3); /* the mesh and two examples */
    ex_check_destroy(check);
    ex_project_destroy(project);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sound_project_has_no_error),
        cmocka_unit_test(measures_what_the_others_would_guess),
        cmocka_unit_test(measures_each_example),
        cmocka_unit_test(measures_behind_the_mask),
        cmocka_unit_test(finds_points_at_one_place),
        cmocka_unit_test(finds_points_close_together),
        cmocka_unit_test(finds_a_bad_condition),
        cmocka_unit_test(finds_weights_that_run_wild),
        cmocka_unit_test(finds_weights_in_the_space_of_rotations),
        cmocka_unit_test(finds_other_connectivity),
        cmocka_unit_test(finds_files_that_cannot_be_used),
        cmocka_unit_test(finds_axes_that_contradict_each_other),
        cmocka_unit_test(finds_everything_at_once),
        cmocka_unit_test(looks_at_as_many_points_as_told),
    };
    return cmocka_run_group_tests_name("author.project.check", tests, set_up, scratch_tear_down);
}
