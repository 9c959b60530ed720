/*
 * Reading sound projects: every key, defaults of missing keys, rotations in both notations, axes of other layers.
 * Errors are in test_read_errors.c.
 */
#include "author/project/projects.h"

static const char everything[] =
    "{'exemplar': 1, 'mesh': 'rest.obj', 'up': 'z', 'unit': 'cm', 'layers': [\n"
    " {'name': 'arm',\n"
    "  'space': [{'name': 'elbow', 'unit': '°', 'min': 0, 'max': 140, 'rest': 10, 'scale': 0.5, 'clamp': true},\n"
    "            {'name': 'shoulder', 'rotation': 'full', 'rest': [0, 0, 1, 0], 'scale': 0.25},\n"
    "            {'name': 'wrist', 'unit': 'turn', 'rotation': 'swing', 'about': 'x'},\n"
    "            {'name': 'roll', 'rotation': 'twist', 'about': [0, 2, 0], 'rest': {'y': 90}}],\n"
    "  'weigh': {'kind': 'cardinal', 'kernel': 'gaussian', 'linear': false, 'radius': 2, 'ridge': 0.001},\n"
    "  'shape': 'positions',\n"
    "  'examples': [{'name': 'straight', 'mesh': 'a/straight.obj', 'at': {'elbow': 0, 'wrist': [0, 0, 0, 2]}},\n"
    "               {'name': 'bent', 'mesh': 'b.obj', 'at': {'elbow': 90.5, 'smile': 1, 'shoulder': {'x': 180}}}],\n"
    "  'pseudo': [{'name': 'tame', 'from': {'elbow': 60}, 'at': {'elbow': 75}},\n"
    "             {'weights': {'bent': 0.75, 'straight': 0.25}, 'at': {'elbow': 120, 'smile': 0}}],\n"
    "  'mask': {'file': 'mask.txt'}},\n"
    " {'name': 'face', 'space': [{'name': 'smile', 'min': 1, 'max': 3}, {'name': 'frown', 'min': -3, 'max': -1}],\n"
    "  'weigh': {'kind': 'shepard', 'power': 3},\n"
    "  'examples': [{'name': 'straight', 'mesh': 'c.obj', 'at': {}}], 'mask': {'group': 'head'}},\n"
    " {'name': 'body', 'space': [{'name': 'age', 'min': 0, 'max': 90}],\n"
    "  'weigh': {'kind': 'nearest', 'k': 4, 'form': 'paper'},\n"
    "  'examples': [{'name': 'child', 'mesh': 'd.obj', 'at': {'age': 8}}], 'mask': {'colour': 'g'}, 'pseudo': []},\n"
    " {'name': 'dials', 'space': [{'name': 'one', 'min': 0, 'max': 1}, {'name': 'two', 'min': 0, 'max': 1}],\n"
    "  'weigh': {'kind': 'direct'},\n"
    "  'examples': [{'name': 'x', 'mesh': 'x.obj'}, {'name': 'y', 'mesh': 'y.obj'}]},\n"
    " {'name': 'plain', 'space': [{'name': 'p', 'min': 0, 'max': 1}],\n"
    "  'examples': [{'name': 'x', 'mesh': 'x.obj', 'at': {'p': 1}}]},\n"
    " {'name': 'next', 'space': [{'name': 'p', 'min': 0, 'max': 1}], 'weigh': {'kind': 'nearest', 'form': 'next'},\n"
    "  'examples': [{'name': 'x', 'mesh': 'x.obj', 'at': {'p': 1}}]}]}\n";

static void check_numbers(const double *values, const double *expected, int count) {
    assert_non_null(values);
    for (int i = 0; i < count; i++)
        check_near(values[i], expected[i], 1e-12);
}

static void reads_the_whole(void **state) {
    (void)state;
    ex_project *project = parse_project(everything);
    const ex_project_view *view = ex_project_get(project);
    assert_string_equal(view->path, scratch_path("x.json"));
    assert_string_equal(view->mesh, "rest.obj");
    assert_true(view->z_up);
    assert_true(view->unit == 0.01);
    assert_int_equal(view->layer_count, 6);
    ex_project_destroy(project);
}

static void reads_axes(void **state) {
    (void)state;
    ex_project *project = parse_project(everything);
    const ex_project_layer *arm = &ex_project_get(project)->layers[0];
    assert_string_equal(arm->name, "arm");
    assert_int_equal(arm->axis_count, 4);
    assert_int_equal(arm->dimension, 13);
    const ex_project_axis *axes = arm->axes;
    assert_string_equal(axes[0].name, "elbow");
    assert_string_equal(axes[0].unit, "°");
    assert_int_equal(axes[0].axis.kind, EX_AXIS_SCALAR);
    assert_true(axes[0].axis.min == 0 && axes[0].axis.max == 140 && axes[0].axis.rest == 10);
    assert_true(axes[0].axis.scale == 0.5 && axes[0].axis.clamp);
    assert_int_equal(axes[1].axis.kind, EX_AXIS_ROTATION);
    check_numbers(axes[1].axis.rest_rotation, (double[]){0, 0, 1, 0}, 4);
    assert_true(axes[1].axis.scale == 0.25);
    assert_null(axes[1].unit);
    assert_int_equal(axes[2].axis.kind, EX_AXIS_SWING);
    assert_string_equal(axes[2].unit, "turn");
    check_numbers(axes[2].axis.about, (double[]){1, 0, 0}, 3);
    check_numbers(axes[2].axis.rest_rotation, (double[]){0, 0, 0, 1}, 4);
    assert_true(axes[2].axis.scale == 0);
    assert_int_equal(axes[3].axis.kind, EX_AXIS_TWIST);
    check_numbers(axes[3].axis.about, (double[]){0, 2, 0}, 3);
    check_numbers(axes[3].axis.rest_rotation, (double[]){0, sqrt(0.5), 0, sqrt(0.5)}, 4);
    for (int i = 0; i < 4; i++)
        check_same_axis(&arm->weigh.axes[i], &axes[i].axis);
    /* At rest a dial is at 0, or at the end of its range nearest to 0. */
    const ex_project_layer *face = &ex_project_get(project)->layers[1];
    assert_true(face->axes[0].axis.rest == 1 && face->axes[1].axis.rest == -1);
    assert_false(face->axes[0].axis.clamp);
    ex_project_destroy(project);
}

static void reads_weighers(void **state) {
    (void)state;
    ex_project *project = parse_project(everything);
    const ex_project_layer *layers = ex_project_get(project)->layers;
    const ex_weigher_def *arm = &layers[0].weigh, *face = &layers[1].weigh, *body = &layers[2].weigh;
    assert_int_equal(arm->kind, EX_WEIGHER_CARDINAL);
    assert_int_equal(arm->kernel, EX_KERNEL_GAUSSIAN);
    assert_true(!arm->linear && arm->radius == 2 && arm->ridge == 0.001);
    assert_int_equal(face->kind, EX_WEIGHER_SHEPARD);
    assert_true(face->power == 3);
    assert_int_equal(body->kind, EX_WEIGHER_NEAREST);
    assert_int_equal(body->neighbours, 4);
    assert_true(body->paper_form);
    assert_int_equal(layers[3].weigh.kind, EX_WEIGHER_DIRECT);
    assert_int_equal(layers[4].weigh.kind, EX_WEIGHER_CARDINAL);
    assert_int_equal(layers[4].weigh.kernel, EX_KERNEL_BSPLINE);
    assert_true(layers[4].weigh.linear && layers[4].weigh.radius == 1 && layers[4].weigh.ridge == 0);
    assert_int_equal(layers[5].weigh.neighbours, 8);
    assert_false(layers[5].weigh.paper_form);
    ex_project_destroy(project);
}

static void reads_examples(void **state) {
    (void)state;
    ex_project *project = parse_project(everything);
    const ex_project_layer *layers = ex_project_get(project)->layers, *arm = &layers[0];
    assert_int_equal(arm->example_count, 2);
    assert_int_equal(arm->weigh.example_count, 2);
    assert_string_equal(arm->examples[0].name, "straight");
    assert_string_equal(arm->examples[0].mesh, "a/straight.obj");
    assert_string_equal(arm->weigh.names[1], "bent");
    /* Axes that are not named are at rest; 'smile' is another layer's and does not place the example. */
    const double half = sqrt(0.5);
    const double straight[13] = {0, 0, 0, 1, 0, 0, 0, 0, 2, 0, half, 0, half};
    const double bent[13] = {90.5, 1, 0, 0, 0, 0, 0, 0, 1, 0, half, 0, half};
    check_numbers(arm->examples[0].at, straight, 13);
    check_numbers(arm->examples[1].at, bent, 13);
    check_numbers(arm->weigh.points, straight, 13);
    check_numbers(arm->weigh.points + 13, bent, 13);
    assert_int_equal(layers[3].example_count, 2);
    assert_null(layers[3].examples[0].at);
    assert_null(layers[3].weigh.points);
    ex_project_destroy(project);
}

static void reads_pseudo_examples_and_masks(void **state) {
    (void)state;
    ex_project *project = parse_project(everything);
    const ex_project_layer *layers = ex_project_get(project)->layers, *arm = &layers[0];
    assert_int_equal(arm->pseudo_count, 2);
    assert_int_equal(arm->weigh.pseudo_count, 2);
    assert_true(arm->weigh.pseudos[0].from[0] == 60 && arm->weigh.pseudos[0].at[0] == 75);
    assert_null(arm->weigh.pseudos[0].weights);
    assert_true(arm->weigh.pseudos[1].at[0] == 120);
    assert_null(arm->weigh.pseudos[1].from);
    check_numbers(arm->weigh.pseudos[1].weights, (double[]){0.25, 0.75}, 2);
    assert_int_equal(layers[2].pseudo_count, 0);
    assert_int_equal(arm->mask.kind, EX_MASK_FILE);
    assert_string_equal(arm->mask.source, "mask.txt");
    assert_int_equal(layers[1].mask.kind, EX_MASK_GROUP);
    assert_string_equal(layers[1].mask.source, "head");
    assert_int_equal(layers[2].mask.kind, EX_MASK_COLOUR);
    assert_string_equal(layers[2].mask.source, "g");
    assert_int_equal(layers[3].mask.kind, EX_MASK_NONE);
    ex_project_destroy(project);
}

/* Turns about axes that the earlier turns have moved: x then y is the product q(x) q(y). Worked by hand. */
static void reads_rotations(void **state) {
    (void)state;
    const double h = sqrt(0.5);
    static const char pattern[] =
        "{'exemplar': 1, 'mesh': 'm.obj', 'layers': [{'name': 'a', 'space': [{'name': 'r', 'rotation': 'full'}],\n"
        " 'examples': [{'name': 'e', 'mesh': 'm.obj', 'at': {'r': %s}}]}]}";
    const struct {
        const char *written;
        double q[4];
    } cases[] = {
        {"[0, 0, 0.6, 0.8]", {0, 0, 0.6, 0.8}},
        {"[0, 0, 3, 4]", {0, 0, 3, 4}},
        {"[0, 0, 0, -1]", {0, 0, 0, -1}},
        {"{}", {0, 0, 0, 1}},
        {"{'x': 180}", {1, 0, 0, 0}},
        {"{'x': -90}", {-h, 0, 0, h}},
        {"{'z': 60}", {0, 0, 0.5, sqrt(0.75)}},
        {"{'x': 90, 'y': 90}", {0.5, 0.5, 0.5, 0.5}},
        {"{'y': 90, 'x': 90}", {0.5, 0.5, -0.5, 0.5}},
        {"{'x': 90, 'z': 90}", {0.5, -0.5, 0.5, 0.5}},
        {"{'x': 90, 'y': 90, 'z': 90}", {h, 0, h, 0}},
        {"{'z': 90, 'y': 90, 'x': 90}", {0, h, 0, h}},
        {"{'y': 720}", {0, 0, 0, 1}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        snprintf(text, sizeof text, pattern, cases[i].written);
        ex_project *project = parse_project(text);
        const double *at = ex_project_get(project)->layers[0].examples[0].at;
        for (int c = 0; c < 4; c++)
            if (!(fabs(at[c] - cases[i].q[c]) < 1e-15))
                fail_msg("%s: number %d is %g", cases[i].written, c, at[c]);
        ex_project_destroy(project);
    }
}

static void reads_units_and_ups(void **state) {
    (void)state;
    const struct {
        const char *written;
        double metres;
        bool z_up;
    } cases[] = {{"'unit': 'm'", 1, false},       {"'unit': 'dm'", 0.1, false},  {"'unit': 'cm'", 0.01, false},
                 {"'unit': 'mm'", 0.001, false},  {"'unit': 'km'", 1000, false}, {"'unit': 'in'", 0.0254, false},
                 {"'unit': 'ft'", 0.3048, false}, {"'unit': 2.5", 2.5, false},   {"'unit': 3", 3, false},
                 {"'up': 'z'", 1, true},          {"'up': 'y'", 1, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200];
        snprintf(text, sizeof text, "{'exemplar': 1, %s, 'mesh': 'm.obj', 'layers': []}", cases[i].written);
        ex_project *project = parse_project(text);
        assert_true(ex_project_get(project)->unit == cases[i].metres);
        assert_int_equal(ex_project_get(project)->z_up, cases[i].z_up);
        assert_int_equal(ex_project_get(project)->layer_count, 0);
        ex_project_destroy(project);
    }
}

static void reads_names_of_all_kinds(void **state) {
    (void)state;
    char longest[256];
    memset(longest, 'n', 255);
    longest[255] = 0;
    const char *names[] = {"Ellbogen größer", "a/b\\\\c", "肘", "  ", "time ", "Joint:x", "a.b", longest};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char text[2000];
        snprintf(
            text, sizeof text,
            "{'exemplar': 1, 'mesh': 'm.obj', 'layers': [{'name': '%s', 'space': [{'name': '%s', 'min': 0, 'max': 1}],"
            " 'examples': [{'name': '%s', 'mesh': 'm.obj', 'at': {'%s': 0.5}}]}]}",
            names[i], names[i], names[i], names[i]);
        ex_project *project = parse_project(text);
        assert_true(ex_project_get(project)->layers[0].examples[0].at[0] == 0.5);
        ex_project_destroy(project);
    }
}

/* A direct layer has as many axes as examples. Its points have no reach, so that nothing grows with the cube. */
static void reads_thousands_of_direct_axes(void **state) {
    (void)state;
    enum { AXES = 2500 };
    char *text = malloc(AXES * 120 + 200);
    size_t used = (size_t)sprintf(text, "{\"exemplar\": 1, \"mesh\": \"m.obj\", \"layers\": [{\"name\": \"l\", "
                                        "\"weigh\": {\"kind\": \"direct\"}, \"space\": [");
    for (int i = 0; i < AXES; i++)
        used += (size_t)sprintf(text + used, "%s{\"name\": \"a%d\", \"min\": 0, \"max\": 1}", i > 0 ? ", " : "", i);
    used += (size_t)sprintf(text + used, "], \"examples\": [");
    for (int i = 0; i < AXES; i++)
        used += (size_t)sprintf(text + used, "%s{\"name\": \"e%d\", \"mesh\": \"m.obj\"}", i > 0 ? ", " : "", i);
    used += (size_t)sprintf(text + used, "]}]}");
    ex_project *project = NULL;
    ex_error error = {0};
    if (ex_project_parse(text, used, "many.json", &project, &error) != EX_OK)
        fail_msg("%s", error.text);
    const ex_project_layer *layer = &ex_project_get(project)->layers[0];
    assert_int_equal(layer->example_count, AXES);
    assert_null(layer->weigh.falloffs);
    assert_null(layer->weigh.metrics);
    ex_project_destroy(project);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_the_whole),
        cmocka_unit_test(reads_axes),
        cmocka_unit_test(reads_weighers),
        cmocka_unit_test(reads_examples),
        cmocka_unit_test(reads_pseudo_examples_and_masks),
        cmocka_unit_test(reads_rotations),
        cmocka_unit_test(reads_units_and_ups),
        cmocka_unit_test(reads_names_of_all_kinds),
        cmocka_unit_test(reads_thousands_of_direct_axes),
    };
    return cmocka_run_group_tests_name("author.project.read", tests, scratch_set_up, scratch_tear_down);
}
