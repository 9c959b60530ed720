/*
 * Edits of projects: each kind changes only its target, a refused one changes nothing, and building afterwards gives
 * the weights that ex_weigher_edit gives without building.
 */
#include "author/project/projects.h"

/* Two layers that share an axis; keys in an unusual order, and an axis of the other layer in a place. */
static const char text[] =
    "{'exemplar': 1, 'mesh': 'm.obj', 'layers': [\n"
    " {'name': 'first', 'space': [{'name': 'a', 'min': 0, 'max': 1}, {'name': 'r', 'rotation': 'full'}],\n"
    "  'weigh': {'kernel': 'gaussian', 'radius': 1.25},\n"
    "  'examples': [{'at': {'other': 0.5, 'a': 0}, 'mesh': 'm.obj', 'name': 'one'},\n"
    "               {'name': 'two', 'mesh': 'b.obj', 'at': {'a': 1}},\n"
    "               {'name': 'three', 'mesh': 'c.obj', 'at': {'a': 0.5, 'r': {'x': 90}}},\n"
    "               {'name': 'four', 'mesh': 'd.obj', 'at': {'a': 0.25, 'r': {'y': 90}}}],\n"
    "  'pseudo': [{'at': {'a': 0.75}, 'from': {'a': 0.6}, 'name': 'p'},\n"
    "             {'weights': {'one': 0.5, 'three': 0.3, 'four': 0.2}, 'at': {'a': 0.3}}]},\n"
    " {'name': 'second', 'space': [{'name': 'other', 'min': 0, 'max': 1}],\n"
    "  'examples': [{'name': 'one', 'mesh': 'm.obj', 'at': {'other': 0}},\n"
    "               {'name': 'two', 'mesh': 'b.obj', 'at': {'other': 1}}]},\n"
    " {'name': 'dial', 'space': [{'name': 'd', 'min': 0, 'max': 1}], 'weigh': {'kind': 'direct'},\n"
    "  'examples': [{'name': 'only', 'mesh': 'b.obj'}]}]}\n";

static int set_up(void **state) {
    if (scratch_set_up(state) != 0)
        return -1;
    write_square("m.obj", 0, 0, 0, 0);
    write_square("b.obj", 1, 0, 0, 0);
    write_square("c.obj", 0, 2, 0, 0);
    write_square("d.obj", 0, 0, 3, 0);
    return 0;
}

static const double place[5] = {0.125, 0, 0, 0.6, 0.8}, source[5] = {0.4, 0.6, 0, 0, 0.8};
static const double given[4] = {0.1, 0, 1, -0.1};

static const ex_edit edits[] = {
    {.kind = EX_EDIT_MOVE_EXAMPLE, .index = 2, .at = place},
    {.kind = EX_EDIT_ADD_EXAMPLE, .at = place},
    {.kind = EX_EDIT_REMOVE_EXAMPLE, .index = 1},
    {.kind = EX_EDIT_REMOVE_EXAMPLE, .index = 2},
    {.kind = EX_EDIT_MOVE_PSEUDO, .index = 0, .at = place},
    {.kind = EX_EDIT_MOVE_PSEUDO, .index = 0, .at = place, .from = source},
    {.kind = EX_EDIT_MOVE_PSEUDO, .index = 0, .at = place, .weights = given},
    {.kind = EX_EDIT_MOVE_PSEUDO, .index = 1, .at = place, .from = source},
    {.kind = EX_EDIT_ADD_PSEUDO, .at = place, .from = source},
    {.kind = EX_EDIT_ADD_PSEUDO, .at = place, .weights = given},
    {.kind = EX_EDIT_REMOVE_PSEUDO, .index = 0},
    {.kind = EX_EDIT_REMOVE_PSEUDO, .index = 1},
};
enum { EDITS = sizeof edits / sizeof *edits };

static void apply(ex_project *project, const ex_edit *edit) {
    ex_error error;
    const bool add = edit->kind == EX_EDIT_ADD_EXAMPLE;
    if (ex_project_edit(project, 0, edit, add ? "new" : NULL, add ? "b.obj" : NULL, &error) != EX_OK)
        fail_msg("edit of kind %d: %s", (int)edit->kind, error.text);
}

/* The written text, in a buffer that the next call reuses. */
static const char *text_of(const ex_project *project) {
    static char buffer[4096];
    assert_int_equal(ex_project_write(project, scratch_path("edited.json"), NULL), EX_OK);
    size_t size;
    char *written = scratch_read("edited.json", &size);
    assert_true(size < sizeof buffer);
    memcpy(buffer, written, size + 1);
    free(written);
    return buffer;
}

static void expect_text(const ex_project *project, const char *expected) {
    char *wanted = with_quotes(expected);
    if (!strstr(text_of(project), wanted))
        fail_msg("%s is not in:\n%s", wanted, text_of(project));
    free(wanted);
}

static const ex_project_layer *first_layer(const ex_project *project) {
    return &ex_project_get(project)->layers[0];
}

static void moves_examples(void **state) {
    (void)state;
    ex_project *project = parse_project(text);
    apply(project, &edits[0]);
    assert_memory_equal(first_layer(project)->examples[2].at, place, sizeof place);
    assert_memory_equal(first_layer(project)->weigh.points + 10, place, sizeof place);
    /* Other keys, their order, and axes of other layers are unchanged. */
    apply(project, &(ex_edit){.kind = EX_EDIT_MOVE_EXAMPLE, .index = 0, .at = place});
    expect_text(project, "{'at': {'other': 0.5, 'a': 0.125, 'r': [0, 0, 0.6, 0.8]}, 'mesh': 'm.obj', 'name': 'one'}");
    ex_project_destroy(project);
}

static void adds_examples(void **state) {
    (void)state;
    ex_project *project = parse_project(text);
    apply(project, &edits[1]);
    const ex_project_layer *layer = first_layer(project);
    assert_int_equal(layer->example_count, 5);
    assert_int_equal(layer->weigh.example_count, 5);
    assert_string_equal(layer->examples[4].name, "new");
    assert_string_equal(layer->examples[4].mesh, "b.obj");
    assert_memory_equal(layer->examples[4].at, place, sizeof place);
    ex_project_destroy(project);
}

static void removes_examples(void **state) {
    (void)state;
    ex_project *project = parse_project(text);
    apply(project, &edits[3]);
    const ex_project_layer *layer = first_layer(project);
    assert_int_equal(layer->example_count, 3);
    assert_string_equal(layer->examples[2].name, "four");
    /* Given weights lose that entry and keep their sum: 0.5 and 0.2 times 1 / 0.7. */
    check_near(layer->weigh.pseudos[1].weights[0], 0.5 / 0.7, 1e-15);
    check_near(layer->weigh.pseudos[1].weights[1], 0, 0);
    check_near(layer->weigh.pseudos[1].weights[2], 0.2 / 0.7, 1e-15);
    /* Removing one that no weight names changes none. */
    apply(project, &(ex_edit){.kind = EX_EDIT_REMOVE_EXAMPLE, .index = 1});
    check_near(first_layer(project)->weigh.pseudos[1].weights[0], 0.5 / 0.7, 1e-15);
    ex_project_destroy(project);
}

static void moves_pseudo_examples(void **state) {
    (void)state;
    ex_project *project = parse_project(text);
    apply(project, &edits[4]);
    const ex_pseudo *pseudo = &first_layer(project)->weigh.pseudos[0];
    assert_memory_equal(pseudo->at, place, sizeof place);
    assert_true(pseudo->from[0] == 0.6);
    apply(project, &edits[5]);
    assert_memory_equal(first_layer(project)->weigh.pseudos[0].from, source, sizeof source);
    expect_text(project, "'name': 'p'");
    apply(project, &edits[6]);
    pseudo = &first_layer(project)->weigh.pseudos[0];
    assert_null(pseudo->from);
    assert_memory_equal(pseudo->weights, given, sizeof given);
    expect_text(project, "'weights': {'one': 0.1, 'three': 1, 'four': -0.1}");
    apply(project, &edits[5]);
    assert_null(first_layer(project)->weigh.pseudos[0].weights);
    ex_project_destroy(project);
}

static void adds_and_removes_pseudo_examples(void **state) {
    (void)state;
    ex_project *project = parse_project(text);
    apply(project, &edits[8]);
    apply(project, &edits[9]);
    const ex_project_layer *layer = first_layer(project);
    assert_int_equal(layer->pseudo_count, 4);
    assert_int_equal(layer->weigh.pseudo_count, 4);
    assert_memory_equal(layer->weigh.pseudos[2].from, source, sizeof source);
    assert_memory_equal(layer->weigh.pseudos[3].weights, given, sizeof given);
    assert_memory_equal(layer->weigh.pseudos[3].at, place, sizeof place);
    apply(project, &(ex_edit){.kind = EX_EDIT_REMOVE_PSEUDO, .index = 2});
    assert_int_equal(first_layer(project)->pseudo_count, 3);
    assert_null(first_layer(project)->weigh.pseudos[2].from);
    /* The first pseudo-example of a layer that has no list of them yet. */
    const double there[1] = {0.5}, half[2] = {0.5, 0.5};
    const ex_edit edit = {.kind = EX_EDIT_ADD_PSEUDO, .at = there, .weights = half};
    assert_int_equal(ex_project_edit(project, 1, &edit, NULL, NULL, NULL), EX_OK);
    assert_int_equal(ex_project_get(project)->layers[1].pseudo_count, 1);
    ex_project_destroy(project);
}

static void building_agrees_with_editing_the_weigher(void **state) {
    (void)state;
    static const double points[4][5] = {
        {0.3, 0, 0, 0, 1}, {0.9, 0.5, 0.5, 0.5, 0.5}, {-0.5, 0, 0.6, 0, 0.8}, {0.125, 0, 0, 0.6, 0.8}};
    ex_project *original = parse_project(text);
    ex_rig *before = build_project(original);
    ex_project_destroy(original);
    for (int i = 0; i < EDITS; i++) {
        ex_project *project = parse_project(text);
        apply(project, &edits[i]);
        ex_rig *after = build_project(project);
        ex_weigher *edited = NULL;
        assert_int_equal(ex_weigher_edit(ex_rig_weigher(before, 0), &edits[i], 1, NULL, &edited, NULL), EX_OK);
        const ex_weigher *built = ex_rig_weigher(after, 0);
        int count = ex_weigher_example_count(edited);
        assert_int_equal(ex_weigher_example_count(built), count);
        assert_int_equal(ex_weigher_pseudo_count(built), ex_weigher_pseudo_count(edited));
        for (int p = 0; p < 4; p++) {
            double a[5], b[5];
            ex_weigher_evaluate(edited, points[p], a);
            ex_weigher_evaluate(built, points[p], b);
            for (int k = 0; k < count; k++)
                if (fabs(a[k] - b[k]) > 1e-12)
                    fail_msg("edit %d, point %d, weight %d: %g and %g", i, p, k, a[k], b[k]);
        }
        ex_weigher_destroy(edited);
        ex_rig_destroy(after);
        ex_project_destroy(project);
    }
    ex_rig_destroy(before);
}

/* Axes with joints: a move writes "at" over what "joints" says, and that stays. */
static const char posed[] =
    "{'exemplar': 1, 'mesh': 'm.obj', 'skeleton': 's.glb', 'layers': [\n"
    " {'name': 'wrist', 'shape': 'unposed', 'space': [{'name': 'x', 'joint': 'hand', 'angle': 'x', 'min': 0, 'max': "
    "90},\n"
    "   {'name': 'y', 'joint': 'hand', 'angle': 'y', 'min': 0, 'max': 90},\n"
    "   {'name': 'z', 'joint': 'hand', 'angle': 'z', 'min': 0, 'max': 90}],\n"
    "  'examples': [{'name': 'one', 'joints': {'hand': {'x': 40, 'y': 30, 'z': 20}, 'toe': {'x': 1}}, 'mesh': "
    "'a.obj',\n"
    "                'at': {}}]},\n"
    " {'name': 'skin', 'shape': 'pixels', 'texture': 'normal', 'space': [{'name': 'd', 'min': 0, 'max': 1}],\n"
    "  'examples': [{'name': 'one', 'image': 'a.png', 'at': {'d': 0}}]}]}\n";

static void moves_posed_examples(void **state) {
    (void)state;
    ex_project *project = parse_project(posed);
    double where[3], turned[3];
    memcpy(where, first_layer(project)->examples[0].at, sizeof where);
    assert_int_equal(first_layer(project)->examples[0].joint_count, 2);
    /* To its present place: three angles of one joint, which written over that joint are no contradiction. */
    apply(project, &(ex_edit){.kind = EX_EDIT_MOVE_EXAMPLE, .index = 0, .at = where});
    assert_memory_equal(first_layer(project)->examples[0].at, where, sizeof where);
    expect_text(project, "'joints': {'hand': {'x': 40, 'y': 30, 'z': 20}, 'toe': {'x': 1}},");
    expect_text(project, "'at': {'x': 45.4");
    assert_int_equal(first_layer(project)->examples[0].joint_count, 2);
    /* Elsewhere, where the angles contradict each other. */
    char before[4096];
    strcpy(before, text_of(project));
    memcpy(turned, where, sizeof turned);
    turned[0] += 30;
    ex_error error = {0};
    const ex_edit edit = {.kind = EX_EDIT_MOVE_EXAMPLE, .index = 0, .at = turned};
    assert_int_equal(ex_project_edit(project, 0, &edit, NULL, NULL, &error), EX_ERROR_DATA);
    assert_non_null(strstr(error.text, "layers[0].examples[0].at.x: 'x' and 'z' both move joint 'hand'"));
    assert_string_equal(text_of(project), before);
    ex_project_destroy(project);
}

static void adds_images_to_layers_of_pixels(void **state) {
    (void)state;
    ex_project *project = parse_project(posed);
    const double there[1] = {0.5};
    const ex_edit edit = {.kind = EX_EDIT_ADD_EXAMPLE, .at = there};
    assert_int_equal(ex_project_edit(project, 1, &edit, "new", "n.png", NULL), EX_OK);
    expect_text(project, "{'name': 'new', 'image': 'n.png', 'at': {'d': 0.5}}");
    assert_string_equal(ex_project_get(project)->layers[1].examples[1].image, "n.png");
    ex_project_destroy(project);
}

/* Points with falloffs, metrics and neither; the layer has a default metric. */
static const char reaching[] =
    "{'exemplar': 1, 'mesh': 'm.obj', 'layers': [{'name': 'reach', 'space': [{'name': 'a', 'min': 0, 'max': 1}, "
    "{'name': 'b', 'min': 0, 'max': 4}], 'weigh': {'kind': 'gaussian', 'metric': [[9, 1], [1, 1]]}, 'shape': "
    "'offsets', 'examples': [{'name': 'off', 'mesh': 'b.obj', 'at': {'a': 1}, 'muted': true}, {'name': 'one', 'mesh': "
    "'b.obj', 'at': {'a': 1}}, {'name': 'two', 'mesh': 'c.obj', 'at': {'b': 2}, 'metric': [[16, -1], [-1, 2]]}, "
    "{'name': 'three', 'mesh': 'd.obj', 'at': {'a': 1, 'b': 4}, 'falloff': 0.5}], 'pseudo': [{'at': {'a': 0.5}, "
    "'from': {'a': 0.7}, 'metric': [[4, 0], [0, 4]]}, {'at': {'b': 1}, 'weights': {'one': 0.5}, 'falloff': {'b': "
    "3}}]}]}";

static void falloffs_are_changed_as_in_the_weigher(void **state) {
    (void)state;
    static const double falloff[2] = {0.375, 0.625};
    for (int point = 0; point < 5; point++) {
        const ex_edit edit = {.kind = EX_EDIT_FALLOFF, .index = point, .falloff = falloff};
        ex_project *project = parse_project(reaching);
        ex_weigher *before = NULL, *expected = NULL, *edited = NULL;
        assert_int_equal(ex_weigher_create(&first_layer(project)->weigh, NULL, &before, NULL), EX_OK);
        assert_int_equal(ex_weigher_edit(before, &edit, 1, NULL, &expected, NULL), EX_OK);
        apply(project, &edit);
        expect_text(project, "'falloff': [0.375, 0.625]");
        assert_int_equal(ex_weigher_create(&first_layer(project)->weigh, NULL, &edited, NULL), EX_OK);
        for (int i = 0; i < 9; i++) {
            const double at[2] = {0.3 * (i % 3), 1.7 * (i / 3)};
            double wanted[3], weights[3], old[3];
            ex_weigher_evaluate(expected, at, wanted);
            ex_weigher_evaluate(edited, at, weights);
            ex_weigher_evaluate(before, at, old);
            for (int k = 0; k < 3; k++)
                if (fabs(weights[k] - wanted[k]) > 1e-12)
                    fail_msg("point %d: weight %d is %g in place of %g", point, k, weights[k], wanted[k]);
            assert_true(i != 4 || fabs(old[point % 3] - weights[point % 3]) > 1e-6);
        }
        ex_weigher_destroy(before);
        ex_weigher_destroy(expected);
        ex_weigher_destroy(edited);
        ex_project_destroy(project);
    }
}

static void refused_falloffs_change_nothing(void **state) {
    (void)state;
    static const double falloff[2] = {0.5, 0.5}, wild[2] = {0.5, NAN}, negative[2] = {0.5, -1};
    const struct {
        ex_edit edit;
        ex_result result;
        const char *words;
    } cases[] = {
        {{.kind = EX_EDIT_FALLOFF, .index = 5, .falloff = falloff}, EX_ERROR_ARGUMENT, "'reach' has no point 5"},
        {{.kind = EX_EDIT_FALLOFF, .index = -1, .falloff = falloff}, EX_ERROR_ARGUMENT, "no point -1"},
        {{.kind = EX_EDIT_FALLOFF}, EX_ERROR_ARGUMENT, "no falloff"},
        {{.kind = EX_EDIT_FALLOFF, .falloff = wild}, EX_ERROR_DATA, "finite"},
        {{.kind = EX_EDIT_FALLOFF, .falloff = negative}, EX_ERROR_DATA, "layers[0].examples[1].falloff[1]"},
    };
    ex_project *project = parse_project(reaching);
    char before[4096];
    strcpy(before, text_of(project));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ex_error error = {0};
        const ex_result result = ex_project_edit(project, 0, &cases[i].edit, NULL, NULL, &error);
        if (result != cases[i].result || !strstr(error.text, cases[i].words))
            fail_msg("case %zu: result %d, '%s'", i, (int)result, error.text);
        assert_string_equal(text_of(project), before);
    }
    ex_project_destroy(project);
    project = parse_project(text);
    ex_error error = {0};
    const ex_edit edit = {.kind = EX_EDIT_FALLOFF, .falloff = falloff};
    assert_int_equal(ex_project_edit(project, 0, &edit, NULL, NULL, &error), EX_ERROR_ARGUMENT);
    assert_non_null(strstr(error.text, "'first' is not gaussian"));
    ex_project_destroy(project);
}

static void refused_edits_change_nothing(void **state) {
    (void)state;
    static const double wild[5] = {0.5, 0, NAN, 0, 1}, no_turn[5] = {0.5, 0, 0, 0, 0}, far[5] = {INFINITY, 0, 0, 0, 1};
    static const double bad_weights[4] = {0, 0, NAN, 1};
    const struct {
        int layer;
        ex_edit edit;
        const char *name, *mesh;
        ex_result result;
        const char *words;
    } cases[] = {
        {-1, {.kind = EX_EDIT_REMOVE_PSEUDO}, NULL, NULL, EX_ERROR_ARGUMENT, "no layer -1"},
        {3, {.kind = EX_EDIT_REMOVE_PSEUDO}, NULL, NULL, EX_ERROR_ARGUMENT, "no layer 3: the project has 3"},
        {0, {.kind = (ex_edit_kind)7, .at = place}, NULL, NULL, EX_ERROR_ARGUMENT, "kind"},
        {0, {.kind = (ex_edit_kind)-1, .at = place}, NULL, NULL, EX_ERROR_ARGUMENT, "kind"},
        {0, {.kind = EX_EDIT_MOVE_EXAMPLE, .index = 0}, NULL, NULL, EX_ERROR_ARGUMENT, "no place"},
        {0, {.kind = EX_EDIT_MOVE_EXAMPLE, .index = 4, .at = place}, NULL, NULL, EX_ERROR_ARGUMENT, "no example 4"},
        {0, {.kind = EX_EDIT_MOVE_EXAMPLE, .index = -1, .at = place}, NULL, NULL, EX_ERROR_ARGUMENT, "no example -1"},
        {0, {.kind = EX_EDIT_REMOVE_EXAMPLE, .index = 4}, NULL, NULL, EX_ERROR_ARGUMENT, "'first' has no example 4"},
        {0, {.kind = EX_EDIT_REMOVE_PSEUDO, .index = 2}, NULL, NULL, EX_ERROR_ARGUMENT, "no pseudo-example 2"},
        {0, {.kind = EX_EDIT_MOVE_PSEUDO, .index = 2, .at = place}, NULL, NULL, EX_ERROR_ARGUMENT, "it has 2"},
        {0, {.kind = EX_EDIT_ADD_PSEUDO, .at = place}, NULL, NULL, EX_ERROR_ARGUMENT, "weights"},
        {0,
         {.kind = EX_EDIT_ADD_PSEUDO, .at = place, .from = place, .weights = given},
         NULL,
         NULL,
         EX_ERROR_ARGUMENT,
         ""},
        {0, {.kind = EX_EDIT_ADD_EXAMPLE, .at = place}, NULL, "b.obj", EX_ERROR_ARGUMENT, "name"},
        {0, {.kind = EX_EDIT_ADD_EXAMPLE, .at = place}, "new", NULL, EX_ERROR_ARGUMENT, "mesh"},
        {0, {.kind = EX_EDIT_ADD_EXAMPLE, .at = place}, "two", "b.obj", EX_ERROR_DATA, "layers[0].examples[4].name"},
        {0, {.kind = EX_EDIT_ADD_EXAMPLE, .at = place}, "", "b.obj", EX_ERROR_DATA, "layers[0].examples[4].name"},
        {0, {.kind = EX_EDIT_ADD_EXAMPLE, .at = place}, "new", "", EX_ERROR_DATA, "layers[0].examples[4].mesh"},
        {0, {.kind = EX_EDIT_ADD_EXAMPLE, .at = place}, "\xff", "b.obj", EX_ERROR_ARGUMENT, "UTF-8"},
        {0, {.kind = EX_EDIT_ADD_EXAMPLE, .at = place}, "new", "\xc3.obj", EX_ERROR_ARGUMENT, "UTF-8"},
        {0, {.kind = EX_EDIT_MOVE_EXAMPLE, .at = wild}, NULL, NULL, EX_ERROR_DATA, "finite"},
        {0, {.kind = EX_EDIT_MOVE_EXAMPLE, .at = far}, NULL, NULL, EX_ERROR_DATA, "finite"},
        {0, {.kind = EX_EDIT_MOVE_EXAMPLE, .at = no_turn}, NULL, NULL, EX_ERROR_DATA, "layers[0].examples[0].at.r"},
        {0, {.kind = EX_EDIT_ADD_PSEUDO, .at = place, .from = wild}, NULL, NULL, EX_ERROR_DATA, "finite"},
        {0, {.kind = EX_EDIT_ADD_PSEUDO, .at = place, .weights = bad_weights}, NULL, NULL, EX_ERROR_DATA, "finite"},
        {2, {.kind = EX_EDIT_MOVE_EXAMPLE, .at = place}, NULL, NULL, EX_ERROR_ARGUMENT, "direct"},
    };
    ex_project *project = parse_project(text);
    char before[4096];
    strcpy(before, text_of(project));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ex_error error = {0};
        ex_result result =
            ex_project_edit(project, cases[i].layer, &cases[i].edit, cases[i].name, cases[i].mesh, &error);
        if (result != cases[i].result || !strstr(error.text, cases[i].words))
            fail_msg("case %zu: result %d, '%s'", i, (int)result, error.text);
        assert_string_equal(text_of(project), before);
        assert_int_equal(first_layer(project)->example_count, 4);
    }
    ex_project_destroy(project);
}

static void the_last_example_stays(void **state) {
    (void)state;
    ex_project *project = parse_project(text);
    const ex_edit edit = {.kind = EX_EDIT_REMOVE_EXAMPLE, .index = 0};
    ex_error error;
    assert_int_equal(ex_project_edit(project, 1, &edit, NULL, NULL, NULL), EX_OK);
    assert_int_equal(ex_project_edit(project, 1, &edit, NULL, NULL, &error), EX_ERROR_DATA);
    assert_non_null(strstr(error.text, "layers[1].examples: a list of at least one example"));
    assert_int_equal(ex_project_get(project)->layers[1].example_count, 1);
    assert_string_equal(ex_project_get(project)->layers[1].examples[0].name, "two");
    ex_project_destroy(project);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moves_examples),
        cmocka_unit_test(adds_examples),
        cmocka_unit_test(removes_examples),
        cmocka_unit_test(moves_pseudo_examples),
        cmocka_unit_test(adds_and_removes_pseudo_examples),
        cmocka_unit_test(moves_posed_examples),
        cmocka_unit_test(adds_images_to_layers_of_pixels),
        cmocka_unit_test(building_agrees_with_editing_the_weigher),
        cmocka_unit_test(falloffs_are_changed_as_in_the_weigher),
        cmocka_unit_test(refused_falloffs_change_nothing),
        cmocka_unit_test(refused_edits_change_nothing),
        cmocka_unit_test(the_last_example_stays),
    };
    return cmocka_run_group_tests_name("author.project.edit", tests, set_up, scratch_tear_down);
}
