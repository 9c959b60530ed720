/*
 * Layers of trajectories in project files: the values of every key, the reference example, and the sentences of
 * errors.
 */
#include "author/project/projects.h"

/* "turns" is a key of 0.1.0, and ignored. */
static const char sound[] =
    "{'exemplar': 1, 'mesh': 'm.obj', 'skeleton': 's.glb', 'layers': [\n"
    "{'name': 'plain', 'space': [{'name': 'd', 'min': 0, 'max': 1}], 'examples': [{'name': 'e', 'mesh': 'e.obj', 'at': "
    "{}}]},\n"
    "{'name': 'guided', 'space': [{'name': 'd', 'min': 0, 'max': 1}], 'shape': 'trajectory',\n"
    "'trajectory': {'mode': 'guided', 'iterations': 12, 'correctors': 3, 'turns': true},\n"
    "'examples': [{'name': 'a', 'mesh': 'a.obj', 'at': {'d': 1}}, {'name': 'r', 'reference': true, 'at': {'d': 0}},\n"
    "{'name': 'gone', 'mesh': 'g.obj', 'at': {'d': 0.5}, 'muted': true}]},\n"
    "{'name': 'paper', 'space': [{'name': 'x', 'min': 0, 'max': 1}, {'name': 'y', 'min': 0, 'max': 1}], 'weigh': "
    "{'kind': 'direct'}, 'shape': 'trajectory',\n"
    "'trajectory': {'mode': 'paper', 'iterations': 7, 'terms': ['gradient', 'pose'], 'weights': {'gradient': 0.5}, "
    "'bases': true, 'segment_angle': 25, 'root': 2, 'segments': 'seg.txt'},\n"
    "'examples': [{'name': 'b', 'mesh': 'b.obj'}, {'name': 'c', 'mesh': 'c.obj', 'reference': false}]}]}\n";

static void everything_is_read(void **state) {
    (void)state;
    ex_project *project = parse_project(sound);
    const ex_project_layer *layers = ex_project_get(project)->layers, *layer = &layers[1];
    assert_null(layers[0].trajectory.options);
    assert_int_equal(layer->domain, EX_DOMAIN_TRAJECTORY);
    assert_int_equal(layer->trajectory.options->mode, EX_TRAJECTORY_GUIDED);
    assert_int_equal(layer->trajectory.options->iterations, 12);
    assert_int_equal(layer->trajectory.options->corrector_count, 3);
    assert_null(layer->trajectory.segments);
    assert_true(!layer->examples[0].reference && layer->examples[1].reference);
    assert_string_equal(layer->examples[1].mesh, "m.obj");
    layer = &layers[2];
    const ex_trajectory_options *o = layer->trajectory.options;
    assert_int_equal(o->mode, EX_TRAJECTORY_PAPER);
    assert_int_equal(o->iterations, 7);
    assert_true(!o->without_pose && o->without_rotation && !o->without_gradient && o->bases);
    assert_true(o->gradient_weight == 0.5 && o->pose_weight == 0 && o->rotation_weight == 0);
    assert_true(o->segment_angle == 25 && o->root == 2 && !o->segments);
    assert_string_equal(layer->trajectory.segments, "seg.txt");
    ex_project_destroy(project);
}

static void nothing_has_to_be_said(void **state) {
    (void)state;
    static const char *const said[] = {"", "'trajectory': {},",
                                       "'trajectory': {'mode': 'guided', 'correctors': 'auto', 'turns': 'auto'},"};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        char text[1000];
        snprintf(text, sizeof text,
                 "{'exemplar': 1, 'mesh': 'm.obj', 'layers': [{'name': 'l', 'space': [{'name': 'd', 'min': 0, 'max': "
                 "1}], 'shape': 'trajectory', %s 'weigh': {'kind': 'direct'}, 'examples': [{'name': 'a', 'mesh': "
                 "'a.obj'}]}]}",
                 said[i]);
        ex_project *project = parse_project(text);
        const ex_trajectory_options *o = ex_project_get(project)->layers[0].trajectory.options;
        assert_int_equal(o->mode, EX_TRAJECTORY_GUIDED);
        assert_true(o->iterations == 0 && o->corrector_count == -1 && o->root == -1);
        ex_project_destroy(project);
    }
}

typedef struct change {
    const char *from, *to, *place;
} change;

static const change changes[] = {
    {"'mode': 'guided'", "'mode': 'guide'", "layers[1].trajectory.mode: unknown value \"guide\"; did you mean"},
    {"'correctors': 3", "'corrector': 3", "layers[1].trajectory.corrector: unknown key; did you mean \"correctors\"?"},
    {"'turns': true", "'bases': true", "layers[1].trajectory.bases: only \"mode\": \"paper\" has this"},
    {"'bases': true", "'turns': true", "layers[2].trajectory.turns: only \"mode\": \"guided\" has this"},
    {"'correctors': 3", "'correctors': 65", "layers[1].trajectory.correctors: a whole number from 0 to 64 or \"auto\""},
    {"'correctors': 3", "'correctors': 'all'", "layers[1].trajectory.correctors: a whole number from 0 to 64"},
    {"'iterations': 12", "'iterations': 0", "layers[1].trajectory.iterations: a whole number from 1 to 1000"},
    {"'terms': ['gradient', 'pose']", "'terms': []", "layers[2].trajectory.terms: a list of at least one"},
    {"'terms': ['gradient', 'pose']", "'terms': 'pose'", "layers[2].trajectory.terms: a list of at least one"},
    {"'terms': ['gradient', 'pose']", "'terms': ['pose', 'poses']",
     "layers[2].trajectory.terms[1]: unknown value \"poses\""},
    {"'terms': ['gradient', 'pose']", "'terms': ['pose', 'pose']",
     "layers[2].trajectory.terms[1]: \"pose\" is already in this list"},
    {"'gradient': 0.5", "'gradient': 0", "layers[2].trajectory.weights.gradient: must be above 0"},
    {"'gradient': 0.5", "'rotation': 0.5", "layers[2].trajectory.weights.rotation: \"terms\" leaves this one out"},
    {"'gradient': 0.5", "'turn': 1", "layers[2].trajectory.weights.turn: unknown key"},
    {"'bases': true", "'bases': 1", "layers[2].trajectory.bases: true or false"},
    {"'segment_angle': 25", "'segment_angle': 0", "layers[2].trajectory.segment_angle: must be above 0"},
    {"'segment_angle': 25", "'segment_angle': 181", "layers[2].trajectory.segment_angle: must be above 0"},
    {"'root': 2", "'root': -1", "layers[2].trajectory.root: a whole number from 0 to 1023"},
    {"'segments': 'seg.txt'", "'segments': [1]", "layers[2].trajectory.segments: a text in quotes"},
    {"'trajectory': {'mode': 'guided'", "'trajectory': 1, 'frame': {'mode': 'guided'",
     "layers[1].trajectory: an object"},
    {"'name': 'plain',", "'name': 'plain', 'trajectory': {},",
     "layers[0].trajectory: only a layer with \"shape\": \"trajectory\" has this"},
    {"'e.obj', 'at'", "'e.obj', 'reference': true, 'at'",
     "layers[0].examples[0].reference: only a layer with \"shape\": \"trajectory\" has a reference"},
    {"'reference': true", "'reference': 1", "layers[1].examples[1].reference: true or false"},
    {"'reference': true", "'reference': true, 'mesh': 'a.obj'",
     "layers[1].examples[1].mesh: the reference is the project's mesh, \"m.obj\""},
    {"'reference': true", "'reference': true, 'skeleton': 's.glb'",
     "layers[1].examples[1].skeleton: the reference is the project's mesh"},
    {"'reference': true", "'mesh': 'm.obj'", "layers[1].examples: the example that is the mesh itself"},
    {"'reference': true", "'reference': true, 'muted': true",
     "layers[1].examples[1].muted: 'r' is the reference, which all others start from"},
    {"'name': 'a', 'mesh': 'a.obj'", "'name': 'a', 'mesh': 'm.obj', 'reference': true",
     "layers[1].examples[1].reference: 'a' is already the reference"},
    {"'name': 'a', 'mesh': 'a.obj'", "'name': 'a', 'mesh': 'a.obj', 'muted': true",
     "layers[1].examples: the reference alone moves nothing"},
    {"'reference': false", "'reference': true", "layers[2].examples[1].reference: in a direct layer no example"},
};

static void names_the_place(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        const change *c = &changes[i];
        const char *at = strstr(sound, c->from);
        char text[4000], start[1200];
        ex_project *project = NULL;
        ex_error error = {0};
        if (!at)
            fail_msg("'%s' does not stand in the sound project", c->from);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - sound), sound, c->to, at + strlen(c->from));
        ex_result result = try_parse(text, &project, &error);
        snprintf(start, sizeof start, "%s: %s", scratch_path("x.json"), c->place);
        if (result != EX_ERROR_DATA || strncmp(error.text, start, strlen(start)) != 0)
            fail_msg("%s -> %s: result %d, '%s'", c->from, c->to, (int)result, error.text);
    }
}

static void a_reference_may_name_the_mesh(void **state) {
    (void)state;
    ex_project *project = parse_project(
        "{'exemplar': 1, 'mesh': 'm.obj', 'layers': [{'name': 'l', 'space': [{'name': 'd', 'min': 0, 'max': 1}], "
        "'shape': 'trajectory', 'examples': [{'name': 'r', 'mesh': 'm.obj', 'reference': true, 'at': {}}, {'name': "
        "'a', 'mesh': 'a.obj', 'at': {'d': 1}}]}]}");
    assert_true(ex_project_get(project)->layers[0].examples[0].reference);
    ex_project_destroy(project);
}

/* Edits change the tree, in which the reference is unchanged. */
static void edits_keep_the_reference(void **state) {
    (void)state;
    ex_project *project = parse_project(sound);
    ex_error error = {0};
    const ex_edit add = {.kind = EX_EDIT_ADD_EXAMPLE, .at = (double[]){0.25}};
    const ex_edit move = {.kind = EX_EDIT_MOVE_EXAMPLE, .index = 1, .at = (double[]){0.1}};
    const ex_edit drop = {.kind = EX_EDIT_REMOVE_EXAMPLE, .index = 1};
    assert_int_equal(ex_project_edit(project, 1, &add, "new", "new.obj", &error), EX_OK);
    assert_int_equal(ex_project_edit(project, 1, &move, NULL, NULL, &error), EX_OK);
    const ex_project_layer *layer = &ex_project_get(project)->layers[1];
    assert_int_equal(layer->example_count, 3);
    assert_true(layer->examples[1].reference && layer->examples[1].at[0] == 0.1);
    assert_int_equal(ex_project_edit(project, 1, &drop, NULL, NULL, &error), EX_ERROR_DATA);
    assert_non_null(strstr(error.text, "the example that is the mesh itself"));
    assert_int_equal(ex_project_get(project)->layers[1].example_count, 3);
    ex_project_destroy(project);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_read),       cmocka_unit_test(nothing_has_to_be_said),
        cmocka_unit_test(names_the_place),          cmocka_unit_test(a_reference_may_name_the_mesh),
        cmocka_unit_test(edits_keep_the_reference),
    };
    return cmocka_run_group_tests_name("author.project.read_trajectory", tests, scratch_set_up, scratch_tear_down);
}
