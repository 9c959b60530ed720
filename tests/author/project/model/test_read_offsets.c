/*
 * Layers of offsets and gaussian weighers in project files: the values of every key, the places of zeros, muted
 * examples, and the sentences for keys that do not fit.
 */
#include "author/project/projects.h"

static const char sound[] =
    "{'exemplar': 1, 'mesh': 'm.obj', 'unit': 'cm', 'skeleton': 's.glb', 'layers': [\n"
    "{'name': 'form', 'space': [{'name': 'elbow', 'min': 0, 'max': 140}],\n"
    "'examples': [{'name': 'straight', 'mesh': 's.obj', 'at': {}}, {'name': 'bent', 'mesh': 'b.obj', 'at': {'elbow': "
    "90, "
    "'load': 1}}]},\n"
    "{'name': 'arm', 'space': [{'name': 'elbow', 'min': 0, 'max': 140}, {'name': 'turn', 'rotation': 'swing', 'about': "
    "'x'}, {'name': 'load', 'min': 0, 'max': 2, 'scale': 3}],\n"
    "'weigh': {'kind': 'gaussian', 'ridge': 0.5, 'falloff': 2}, 'shape': 'offsets', 'frame': 'skinned',\n"
    "'participation': 'moved', 'rest': true, 'protect': true, 'posed': false, 'tolerance': 5, 'muted': false,\n"
    "'examples': [{'name': 'gone', 'mesh': 'g.obj', 'at': {}, 'muted': true},\n"
    "{'name': 'up', 'mesh': 'u.obj', 'at': {'elbow': 30}, 'falloff': {'elbow': 35, 'turn': 60}},\n"
    "{'name': 'down', 'mesh': 'd.obj', 'at': {'elbow': 100, 'load': 1}, 'metric': [[0.01, 0.1], [0.1, 9]]}],\n"
    "'pseudo': [{'weights': {'up': 1, 'gone': 2, 'down': 1}, 'at': {'elbow': 60}, 'falloff': [1, 0, 3]},\n"
    "{'weights': {}, 'at': {'elbow': 120}}]}]}\n";

static void everything_is_read(void **state) {
    (void)state;
    ex_project *project = parse_project(sound);
    const ex_project_layer *layer = &ex_project_get(project)->layers[1];
    assert_int_equal(layer->domain, EX_DOMAIN_OFFSETS);
    assert_int_equal(layer->offsets.frame, EX_OFFSET_FRAME_SKINNED);
    assert_int_equal(layer->offsets.participation, EX_PARTICIPATION_MOVED);
    assert_true(layer->offsets.rest && layer->offsets.protect && !layer->offsets.posed && !layer->muted &&
                !layer->auto_falloff);
    check_near(layer->offsets.tolerance, 0.05, 1e-15);
    assert_int_equal(layer->weigh.kind, EX_WEIGHER_GAUSSIAN);
    assert_true(layer->weigh.ridge == 0.5);
    assert_int_equal(layer->example_count, 2);
    assert_int_equal(layer->muted_count, 1);
    assert_string_equal(layer->examples[0].name, "up");
    assert_string_equal(layer->weigh.names[1], "down");
    assert_string_equal(layer->muted_examples[0].name, "gone");
    assert_int_equal(layer->examples[0].place, 1);
    assert_int_equal(layer->examples[1].place, 2);
    assert_int_equal(layer->muted_examples[0].place, 0);
    assert_true(layer->weigh.points[0] == 30 && layer->weigh.points[6] == 100);
    /* One number for every axis of every point: the examples', the file's pseudo-examples' and the zeros'. */
    const double *falloffs = layer->weigh.falloffs;
    assert_true(falloffs[0] == 35 * (1.0 / 140) && falloffs[2] == 2);
    check_near(falloffs[1], 2 * sin(3.14159265358979323846 / 6) * 0.5, 1e-15);
    assert_true(falloffs[3] == 2 && falloffs[4] == 2 && falloffs[5] == 2);
    assert_true(falloffs[6] == 1 && falloffs[7] == 2 && falloffs[8] == 3);
    assert_true(falloffs[9] == 2 && falloffs[12] == 2 && falloffs[15] == 2);
    /* In scaled differences: 140 and 1/3 in a unit. */
    const double *metrics = layer->weigh.metrics;
    for (int i = 0; i < 4; i++)
        assert_true(metrics[i] == 0);
    check_near(metrics[4], 0.01 * 140 * 140, 1e-9);
    check_near(metrics[5], 0.1 * 140 / 3, 1e-12);
    assert_true(metrics[5] == metrics[6]);
    check_near(metrics[7], 1, 1e-15);
    /* The muted example's weight went to the others, which keep the sum. */
    assert_true(layer->weigh.pseudos[0].weights[0] == 2 && layer->weigh.pseudos[0].weights[1] == 2);
    assert_true(layer->weigh.pseudos[1].weights[0] == 0 && layer->weigh.pseudos[1].weights[1] == 0);
    ex_project_destroy(project);
}

static void zeros_stand_where_nothing_does(void **state) {
    (void)state;
    ex_project *project = parse_project(sound);
    const ex_project_layer *layer = &ex_project_get(project)->layers[1];
    /* At rest, where 'straight' of the first layer is, too; and at the pose of its 'bent'. */
    assert_int_equal(layer->pseudo_count, 2);
    assert_int_equal(layer->zero_count, 2);
    assert_int_equal(layer->weigh.pseudo_count, 4);
    const ex_pseudo *rest = &layer->weigh.pseudos[2], *bent = &layer->weigh.pseudos[3];
    assert_true(rest->at[0] == 0 && rest->at[4] == 1 && rest->at[5] == 0 && !rest->from);
    assert_true(bent->at[0] == 90 && bent->at[5] == 1);
    for (int k = 0; k < 2; k++)
        assert_true(rest->weights[k] == 0 && bent->weights[k] == 0);
    ex_project_destroy(project);
}

static void count_zeros(const char *keys, const char *first, int expected) {
    char text[1500];
    snprintf(
        text, sizeof text,
        "{'exemplar': 1, 'mesh': 'm.obj', 'layers': [{'name': 'a'%s, 'space': [{'name': 'd', 'min': 0, 'max': 1}], "
        "'examples': [{'name': 'e', 'mesh': 'e.obj', 'at': {'d': 0.25}}, {'name': 'f', 'mesh': 'e.obj', 'at': {'d': "
        "0.5}}]}, {'name': 'b', 'space': [{'name': 'd', 'min': 0, 'max': 1}], 'shape': 'offsets', %s 'examples': "
        "[{'name': 'e', 'mesh': 'e.obj', 'at': {'d': 1}}, {'name': 'f', 'mesh': 'e.obj', 'at': {'d': 0.5}}]}]}",
        first, keys);
    ex_project *project = parse_project(text);
    const ex_project_layer *layer = &ex_project_get(project)->layers[1];
    if (layer->zero_count != expected)
        fail_msg("%s: %d zeros", keys, layer->zero_count);
    assert_true(layer->offsets.tolerance < 0 && layer->offsets.posed);
    ex_project_destroy(project);
}

static void zeros_by_default(void **state) {
    (void)state;
    static const char *const kinds[] = {"cardinal", "shepard", "nearest", "gaussian"};
    for (int k = 0; k < 4; k++) {
        char keys[200];
        snprintf(keys, sizeof keys, "'weigh': {'kind': '%s'},", kinds[k]);
        count_zeros(keys, "", 1);
        snprintf(keys, sizeof keys, "'weigh': {'kind': '%s'}, 'rest': false,", kinds[k]);
        count_zeros(keys, "", 0);
        snprintf(keys, sizeof keys, "'weigh': {'kind': '%s'}, 'protect': true,", kinds[k]);
        count_zeros(keys, "", 2); /* at 0 and 0.25: there is an example at 0.5 */
        count_zeros(keys, ", 'muted': true", 1);
        snprintf(keys, sizeof keys, "'weigh': {'kind': '%s'}, 'pseudo': [{'from': {'d': 0.6}, 'at': {'d': 0}}],",
                 kinds[k]);
        count_zeros(keys, "", 0);
    }
    count_zeros("'weigh': {'kind': 'gaussian'}, 'participation': 'moved',", "", 0);
    count_zeros("'weigh': {'kind': 'gaussian'}, 'participation': 'moved', 'protect': true,", "", 1);
}

static void muting_an_example_of_a_direct_layer_takes_its_axis(void **state) {
    (void)state;
    ex_project *project = parse_project(
        "{'exemplar': 1, 'mesh': 'm.obj', 'layers': [{'name': 'a', 'space': [{'name': 'x', 'min': 0, 'max': 1}, "
        "{'name': "
        "'y', 'min': 0, 'max': 1}, {'name': 'z', 'min': 0, 'max': 1}], 'weigh': {'kind': 'direct'}, 'examples': "
        "[{'name': 'e', 'mesh': 'e.obj'}, {'name': 'f', 'mesh': 'f.obj', 'muted': true}, {'name': 'g', 'mesh': "
        "'g.obj'}]}]}");
    const ex_project_layer *layer = &ex_project_get(project)->layers[0];
    assert_int_equal(layer->axis_count, 2);
    assert_int_equal(layer->dimension, 2);
    assert_int_equal(layer->weigh.axis_count, 2);
    assert_string_equal(layer->axes[1].name, "z");
    assert_string_equal(layer->examples[1].name, "g");
    assert_true(layer->examples[1].points[0][1] == 1 && layer->examples[1].points[0][0] == 0);
    assert_null(layer->muted_examples[0].at);
    ex_project_destroy(project);
}

static void falloffs_are_left_to_building(void **state) {
    (void)state;
    ex_project *project = parse_project(
        "{'exemplar': 1, 'mesh': 'm.obj', 'layers': [{'name': 'a', 'space': [{'name': 'x', 'min': 0, 'max': 2}], "
        "'weigh': {'kind': 'gaussian', 'falloff': 'auto'}, 'examples': [{'name': 'e', 'mesh': 'e.obj', 'at': {}, "
        "'falloff': {'x': 1}}, {'name': 'f', 'mesh': 'f.obj', 'at': {'x': 1}}]}]}");
    const ex_project_layer *layer = &ex_project_get(project)->layers[0];
    assert_true(layer->auto_falloff && layer->weigh.falloffs[0] == 0.5 && layer->weigh.falloffs[1] == 0);
    ex_project_destroy(project);
}

/* ---- errors ---- */

typedef struct change {
    const char *from, *to, *place, *words;
} change;

static const change changes[] = {
    {"'shape': 'offsets', 'frame': 'skinned',", "'frame': 'skinned',", "layers[1].frame: only a layer with",
     "\"offsets\""},
    {"'shape': 'offsets', 'frame': 'skinned',\n'participation': 'moved', 'rest': true, ", "",
     "layers[1].protect: only a layer with", NULL},
    {"'shape': 'offsets', 'frame': 'skinned',\n'participation': 'moved', 'rest': true, 'protect': true, ", "",
     "layers[1].posed: only a layer with", NULL},
    {"'examples': [{'name': 'straight'", "'tolerance': 1, 'examples': [{'name': 'straight'",
     "layers[0].tolerance: only a layer with", NULL},
    {"'examples': [{'name': 'straight'", "'participation': 'layer', 'examples': [{'name': 'straight'",
     "layers[0].participation: only a layer with", NULL},
    {"'examples': [{'name': 'straight'", "'rest': true, 'examples': [{'name': 'straight'",
     "layers[0].rest: only a layer with", NULL},
    {"'skinned'", "'skined'", "layers[1].frame: unknown value \"skined\"", "did you mean \"skinned\"?"},
    {"'skinned'", "'world'", "layers[1].frame: \"rest\" or \"skinned\" is needed here", NULL},
    {", 'skeleton': 's.glb'", "", "layers[1].frame: there is no skin to turn with", "\"skeleton\""},
    {"'moved'", "'all'", "layers[1].participation: \"layer\" or \"moved\" is needed here", NULL},
    {"'kind': 'gaussian', 'ridge': 0.5, 'falloff': 2", "'kind': 'cardinal', 'ridge': 0.5",
     "layers[1].participation: \"moved\" needs", "gaussian"},
    {"'rest': true", "'rest': 1", "layers[1].rest: true or false", NULL},
    {"'protect': true", "'protect': 'yes'", "layers[1].protect: true or false", NULL},
    {"'posed': false", "'posed': null", "layers[1].posed: true or false", NULL},
    {"'muted': false", "'muted': 0", "layers[1].muted: true or false", NULL},
    {"'muted': true", "'muted': 1", "layers[1].examples[0].muted: true or false", NULL},
    {"'tolerance': 5", "'tolerance': -1", "layers[1].tolerance: must not be negative", NULL},
    {"'tolerance': 5", "'tolerance': 'some'", "layers[1].tolerance: a number", NULL},
    {"'examples': [{'name': 'straight', 'mesh': 's.obj', 'at': {}}, {'name': 'bent', ",
     "'examples': [{'name': 'straight', 'muted': true, 'mesh': 's.obj', 'at': {}}, {'name': 'bent', 'muted': true, ",
     "layers[0].examples: all of them are muted", "mute the layer instead"},
    {"'mesh': 'u.obj'", "'mesh': 'u.obj', 'skeleton': 'u.glb'", "layers[1].examples[1].skeleton: ", "\"unposed\""},
    /* falloffs */
    {"{'name': 'elbow', 'min': 0, 'max': 140}],\n",
     "{'name': 'elbow', 'min': 0, 'max': 140}], 'weigh': {'falloff': 1},", "layers[0].weigh.falloff: only weighers of",
     "gaussian"},
    {"{'name': 'elbow', 'min': 0, 'max': 140}],\n",
     "{'name': 'elbow', 'min': 0, 'max': 140}], 'weigh': {'kind': 'shepard', 'metric': 1},",
     "layers[0].weigh.metric: only weighers of", "gaussian"},
    {"'mesh': 's.obj', 'at': {}", "'mesh': 's.obj', 'at': {}, 'falloff': 1",
     "layers[0].examples[0].falloff: only the points of a layer with", "gaussian"},
    {"'mesh': 's.obj', 'at': {}", "'mesh': 's.obj', 'at': {}, 'metric': [[1]]",
     "layers[0].examples[0].metric: only the points of a layer with", "gaussian"},
    {"'falloff': 2", "'falloff': 0", "layers[1].weigh.falloff: a falloff must be above 0", NULL},
    {"'falloff': 2", "'falloff': 'automatic'", "layers[1].weigh.falloff: \"auto\", a number", NULL},
    {"'falloff': 2", "'falloff': true", "layers[1].weigh.falloff: a number, a list", "{\"elbow\": 30}"},
    {"'falloff': 2", "'falloff': [1, 2]",
     "layers[1].weigh.falloff: one number for each axis is needed here: the list has 2, but the space has 3", NULL},
    {"'falloff': 2", "'falloff': [1, 2, -1]", "layers[1].weigh.falloff[2]: a falloff must be above 0", NULL},
    {"'falloff': 2", "'falloff': [1, 2, null]", "layers[1].weigh.falloff[2]: a number", NULL},
    {"'falloff': {'elbow': 35", "'falloff': {'elbow': 0",
     "layers[1].examples[1].falloff.elbow: a falloff must be above", NULL},
    {"'falloff': {'elbow': 35", "'falloff': {'elbow': '35'", "layers[1].examples[1].falloff.elbow: a number", NULL},
    {"'falloff': {'elbow': 35", "'falloff': {'elbo': 35", "layers[1].examples[1].falloff.elbo: this space has no axis",
     "did you mean 'elbow'?"},
    {"'falloff': {'elbow': 35", "'falloff': {'wrist': 35",
     "layers[1].examples[1].falloff.wrist: this space has no axis", NULL},
    {"'muted': true", "'muted': true, 'falloff': -1", "layers[1].examples[0].falloff: a falloff must be above 0", NULL},
    {"'turn': 60", "'turn': 181", "layers[1].examples[1].falloff.turn: rotations are at most 180", NULL},
    {"'falloff': [1, 0, 3]", "'falloff': 'auto'", "layers[1].pseudo[0].falloff: a number, a list", NULL},
    {"[[0.01, 0.1], [0.1, 9]]", "[[0.01, 0.1]]", "layers[1].examples[2].metric: 2 lists of 2 numbers", NULL},
    {"[[0.01, 0.1], [0.1, 9]]", "[[0.01, 0.1], [9]]", "layers[1].examples[2].metric: 2 lists of 2 numbers", NULL},
    {"[[0.01, 0.1], [0.1, 9]]", "[[0.01, 0.1], ['a', 9]]", "layers[1].examples[2].metric[1][0]: a number", NULL},
    {"[[0.01, 0.1], [0.1, 9]]", "[[0.01, 0.1], [0.2, 9]]", "layers[1].examples[2].metric: a metric must be symmetric",
     NULL},
    {"[[0.01, 0.1], [0.1, 9]]", "[[0.01, 1], [1, 9]]",
     "layers[1].examples[2].metric: the matrix is not positive definite", NULL},
    {"[[0.01, 0.1], [0.1, 9]]", "{'scale': [[1, 0], [0, 1]]}", "layers[1].examples[2].metric.scale: unknown key",
     "\"scaled\""},
    {"[[0.01, 0.1], [0.1, 9]]", "{'scaled': [[1, 0]]}", "layers[1].examples[2].metric.scaled: 2 lists", NULL},
    {"'gone': 2", "'gon': 2", "layers[1].pseudo[0].weights.gon: this layer has no example 'gon'", NULL},
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
        if (result != EX_ERROR_DATA || strncmp(error.text, start, strlen(start)) != 0 ||
            (c->words && !strstr(error.text, c->words)))
            fail_msg("%s -> %s: result %d, '%s'", c->from, c->to, (int)result, error.text);
    }
}

static void refuse(const char *layer, const char *words) {
    char text[1000];
    ex_project *project = NULL;
    ex_error error = {0};
    snprintf(text, sizeof text, "{'exemplar': 1, 'mesh': 'm.obj', 'layers': [{'name': 'a', %s}]}", layer);
    assert_int_equal(try_parse(text, &project, &error), EX_ERROR_DATA);
    if (!strstr(error.text, words))
        fail_msg("'%s' is not in '%s'", words, error.text);
}

static void refuses_what_cannot_be(void **state) {
    (void)state;
    refuse("'space': [{'name': 'r', 'rotation': 'full'}], 'weigh': {'kind': 'gaussian', 'metric': [[1]]}, 'examples': "
           "[{'name': 'e', 'mesh': 'e.obj', 'at': {}}]",
           "layers[0].weigh.metric: a metric is for axes that are numbers");
    refuse(
        "'space': [{'name': 'd', 'min': 0, 'max': 1}], 'weigh': {'kind': 'direct'}, 'shape': 'offsets', 'rest': true, "
        "'examples': [{'name': 'e', 'mesh': 'e.obj'}]",
        "layers[0].rest: the axes of a direct layer are its weights");
    refuse("'space': [{'name': 'd', 'min': 0, 'max': 1}], 'weigh': {'kind': 'direct'}, 'shape': 'offsets', 'protect': "
           "true, 'examples': [{'name': 'e', 'mesh': 'e.obj'}]",
           "layers[0].protect: the axes of a direct layer are its weights");
    refuse("'space': [{'name': 'd', 'min': 0, 'max': 1}], 'weigh': {'kind': 'gaussian', 'falloff': 'auto'}, 'shape': "
           "'pixels', 'texture': 'normal', 'examples': [{'name': 'e', 'image': 'e.png', 'at': {}}]",
           "layers[0].weigh.falloff: \"auto\" is for layers of forms");
    refuse(
        "'space': [{'name': 'd', 'min': 0, 'max': 1}, {'name': 'c', 'min': 0, 'max': 1}], 'weigh': {'kind': 'direct'}, "
        "'examples': [{'name': 'e', 'mesh': 'e.obj'}, {'name': 'f', 'mesh': 'e.obj', 'muted': true}, {'name': 'g', "
        "'mesh': 'e.obj'}]",
        "one example per axis, but there are 3 for 2 axes");
}

/* ---- edits ---- */

static void edit(ex_project *project, const ex_edit *what) {
    ex_error error = {0};
    if (ex_project_edit(project, 1, what, "new", "new.obj", &error) != EX_OK)
        fail_msg("%s", error.text);
}

static void edits_find_their_place_in_the_file(void **state) {
    (void)state;
    ex_project *project = parse_project(sound);
    const double at[6] = {33, 0, 0, 0, 1, 0.5}, falloff[3] = {0.1, 0.2, 0.3};
    edit(project, &(ex_edit){.kind = EX_EDIT_MOVE_EXAMPLE, .index = 0, .at = at});
    const ex_project_layer *layer = &ex_project_get(project)->layers[1];
    assert_string_equal(layer->examples[0].name, "up");
    assert_true(layer->examples[0].at[0] == 33 && layer->examples[1].at[0] == 100);
    assert_true(layer->muted_examples[0].at[0] == 0);
    edit(project, &(ex_edit){.kind = EX_EDIT_FALLOFF, .index = 1, .falloff = falloff});
    edit(project, &(ex_edit){.kind = EX_EDIT_FALLOFF, .index = 3, .falloff = falloff});
    layer = &ex_project_get(project)->layers[1];
    assert_memory_equal(layer->weigh.falloffs + 3, falloff, sizeof falloff);
    assert_memory_equal(layer->weigh.falloffs + 9, falloff, sizeof falloff);
    assert_true(layer->weigh.falloffs[6] == 1 && layer->weigh.falloffs[12] == 2);
    edit(project, &(ex_edit){.kind = EX_EDIT_ADD_EXAMPLE, .at = (double[]){130, 0, 0, 0, 1, 0}, .falloff = falloff});
    edit(project, &(ex_edit){.kind = EX_EDIT_REMOVE_EXAMPLE, .index = 0});
    layer = &ex_project_get(project)->layers[1];
    assert_int_equal(layer->example_count, 2);
    assert_string_equal(layer->examples[0].name, "down");
    assert_string_equal(layer->examples[1].name, "new");
    assert_memory_equal(layer->weigh.falloffs + 3, falloff, sizeof falloff);
    ex_error error = {0};
    const ex_edit wrong[] = {{.kind = EX_EDIT_FALLOFF, .index = 0},
                             {.kind = EX_EDIT_FALLOFF, .index = 4, .falloff = (double[]){1, 1, 1}},
                             {.kind = EX_EDIT_FALLOFF, .index = -1, .falloff = (double[]){1, 1, 1}},
                             {.kind = (ex_edit_kind)99, .falloff = (double[]){1, 1, 1}}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(ex_project_edit(project, 1, &wrong[i], NULL, NULL, &error), EX_ERROR_ARGUMENT);
    const ex_edit infinite = {.kind = EX_EDIT_FALLOFF, .falloff = (double[]){1, INFINITY, 1}};
    assert_int_equal(ex_project_edit(project, 1, &infinite, NULL, NULL, &error), EX_ERROR_DATA);
    const ex_edit cardinal = {.kind = EX_EDIT_FALLOFF, .falloff = falloff};
    assert_int_equal(ex_project_edit(project, 0, &cardinal, NULL, NULL, &error), EX_ERROR_ARGUMENT);
    assert_non_null(strstr(error.text, "not gaussian"));
    ex_project_destroy(project);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_read),
        cmocka_unit_test(zeros_stand_where_nothing_does),
        cmocka_unit_test(zeros_by_default),
        cmocka_unit_test(muting_an_example_of_a_direct_layer_takes_its_axis),
        cmocka_unit_test(falloffs_are_left_to_building),
        cmocka_unit_test(names_the_place),
        cmocka_unit_test(refuses_what_cannot_be),
        cmocka_unit_test(edits_find_their_place_in_the_file),
    };
    return cmocka_run_group_tests_name("author.project.read_offsets", tests, scratch_set_up, scratch_tear_down);
}
