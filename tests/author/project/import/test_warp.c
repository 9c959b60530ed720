/* Projects from forms alone, findings about trajectories, and differences between two rigs of them. */
#include "author/project/bars.h"
#include "author/project/check/checks.h"

static ex_project *warp(int count, const char *const *names, const char *segments) {
    char paths[4][600];
    const char *forms[3];
    ex_project *project = NULL;
    ex_error error = {0};
    for (int i = 0; i < count; i++)
        snprintf(paths[i], sizeof paths[i], "%s", scratch_path(names[i]));
    for (int i = 1; i < count; i++)
        forms[i - 1] = paths[i];
    const ex_warp_def def = {.reference = paths[0],
                             .form_count = count - 1,
                             .forms = forms,
                             .options = ex_trajectory_options_default(),
                             .segments = segments};
    if (ex_warp_project(&def, &project, &error) != EX_OK)
        fail_msg("%s", error.text);
    return project;
}

static void one_form_runs_along_t(void **state) {
    (void)state;
    ex_project *project = warp(2, (const char *const[]){"m.obj", "a.obj"}, NULL);
    const ex_project_layer *layer = &ex_project_get(project)->layers[0];
    assert_string_equal(layer->name, "warp");
    assert_string_equal(layer->axes[0].name, "t");
    assert_string_equal(layer->examples[0].name, "a");
    assert_true(layer->axes[0].axis.min == 0 && layer->axes[0].axis.max == 1 && layer->axes[0].axis.rest == 0);
    ex_rig *rig = build_project(project);
    assert_int_equal(ex_rig_vertex_count(rig), BAR_VERTICES);
    ex_rig_destroy(rig);
    ex_project_destroy(project);
}

static void several_are_named_after_their_files(void **state) {
    (void)state;
    write_bar("time.obj", 1);
    write_bar("odd=name.x.obj", 1);
    ex_project *project = warp(4, (const char *const[]){"m.obj", "a.obj", "a.obj", "odd=name.x.obj"}, NULL);
    const ex_project_layer *layer = &ex_project_get(project)->layers[0];
    static const char *const names[] = {"a", "a-2", "odd_name.x"};
    for (int k = 0; k < 3; k++) {
        assert_string_equal(layer->axes[k].name, names[k]);
        assert_string_equal(layer->examples[k].name, names[k]);
    }
    ex_project_destroy(project);
    project = warp(3, (const char *const[]){"m.obj", "time.obj", "b.obj"}, NULL);
    assert_string_equal(ex_project_get(project)->layers[0].axes[0].name, "time_");
    ex_project_destroy(project);
}

static void refuse(const char *reference, const char *form, const char *words) {
    char paths[2][600];
    ex_project *project = NULL;
    ex_error error = {0};
    snprintf(paths[0], sizeof paths[0], "%s", scratch_path(reference));
    snprintf(paths[1], sizeof paths[1], "%s", scratch_path(form));
    const char *const forms[] = {paths[1]};
    const ex_warp_def def = {.reference = paths[0], .form_count = 1, .forms = forms};
    assert_int_not_equal(ex_warp_project(&def, &project, &error), EX_OK);
    assert_null(project);
    if (!strstr(error.text, words))
        fail_msg("'%s' is not in '%s'", words, error.text);
}

static void refuses_what_does_not_belong_together(void **state) {
    (void)state;
    ex_project *project = NULL;
    ex_error error = {0};
    write_bar_as("flip.obj", 1, 0, 0, true);
    write_square("square.obj", 0, 0, 0, 0);
    write_text("points.obj", "v 0 0 0\nv 1 0 0\n");
    refuse("m.obj", "flip.obj", "its faces are wound the other way round");
    refuse("m.obj", "square.obj", "4 vertices here and 20 in the mesh");
    refuse("points.obj", "points.obj", "has no faces");
    refuse("m.obj", "missing.obj", "cannot read");
    const ex_warp_def none = {.reference = "m.obj"};
    assert_int_equal(ex_warp_project(&none, &project, &error), EX_ERROR_ARGUMENT);
}

/* ---- checking ---- */

#define PROJECT(how, form)                                                                                             \
    "{'exemplar': 1, 'mesh': 'm.obj', 'layers': [{'name': 'l', 'space': [{'name': 't', 'min': 0, 'max': 1}], "         \
    "'weigh': "                                                                                                        \
    "{'kind': 'direct'}, 'shape': 'trajectory', " how "'examples': [{'name': 'x', 'mesh': '" form "'}]}]}"

static void checking_measures_the_way(void **state) {
    (void)state;
    ex_check *check = check_text(PROJECT("", "a.obj"));
    const ex_finding *found = only(check, "mixture", EX_SEVERITY_NOTE);
    expect_words(found, "layers[0]", "0 are weak");
    assert_true(found->value > 0 && found->value < 2);
    assert_int_equal(check->error_count + check->warning_count, 0);
    ex_check_destroy(check);
    /* Without correctors, the nodes of so small a mesh are not enough. */
    expect_one(PROJECT("'trajectory': {'correctors': 0},", "a.obj"), "mixture", EX_SEVERITY_WARNING, "layers[0]",
               "more \"correctors\"");
    check = check_text(PROJECT("'trajectory': {'mode': 'paper', 'iterations': 1},", "a.obj"));
    expect_words(only(check, "not_converged", EX_SEVERITY_WARNING), "layers[0].examples[0]",
                 "still changing after 1 step");
    expect_words(only(check, "mixture", EX_SEVERITY_WARNING), "layers[0]", "guided");
    assert_int_equal(check->warning_count, 2);
    ex_check_destroy(check);
}

static void checking_sees_what_cannot_turn(void **state) {
    (void)state;
    char text[4000];
    size_t size = 0;
    for (int v = 0; v < BAR_VERTICES; v++) {
        double p[3];
        bar_corner(0, v, p);
        size += (size_t)snprintf(text + size, sizeof text - size, "v %g %g %g\n", p[0], -p[1], p[2]);
    }
    FILE *file = fopen(scratch_path("m.obj"), "r");
    char line[200];
    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        if (line[0] == 'f')
            size += (size_t)snprintf(text + size, sizeof text - size, "%s", line);
    fclose(file);
    write_text("mirror.obj", text);
    ex_check *check = check_text(PROJECT("", "mirror.obj"));
    expect_words(only(check, "inside_out", EX_SEVERITY_WARNING), "layers[0].examples[0]", "its mirror image");
    ex_check_destroy(check);
    write_bar_as("flip.obj", 1, 0, 0, true);
    check = check_text(PROJECT("", "flip.obj"));
    assert_true(check->error_count == 1);
    assert_non_null(strstr(check->findings[0].text, "are wound the other way round"));
    ex_check_destroy(check);
}

static void bases_want_a_chain(void **state) {
    (void)state;
    ex_check *check = check_text(
        PROJECT("'trajectory': {'mode': 'paper', 'iterations': 30, 'bases': true, 'segment_angle': 180},", "t.obj"));
    expect_words(only(check, "no_chain", EX_SEVERITY_WARNING), "layers[0].trajectory",
                 "no segment is the child of another");
    ex_check_destroy(check);
}

/* ---- comparing ---- */

static void differences_of_paths_are_told(void **state) {
    (void)state;
    ex_rig *a = build_text(PROJECT("'trajectory': {'correctors': 1},", "a.obj"));
    ex_rig *b = build_text(PROJECT("'trajectory': {'correctors': 2},", "a.obj"));
    ex_rig *c = build_text(PROJECT("'trajectory': {'mode': 'paper'},", "a.obj"));
    ex_differences *list = NULL;
    ex_error error = {0};
    assert_int_equal(ex_rig_compare(a, b, 1e-6, &list, &error), EX_OK);
    int turns = 0, correctors = 0;
    for (int i = 0; i < list->count; i++)
        correctors += strstr(list->items[i].text, "has 1 correctors in the first and 2 in the second") != NULL;
    ex_differences_destroy(list);
    assert_int_equal(ex_rig_compare(a, c, 1e-6, &list, &error), EX_OK);
    for (int i = 0; i < list->count; i++)
        turns += strstr(list->items[i].text, "turn differently on their way") != NULL;
    assert_true(turns == 1 && correctors == 1);
    ex_differences_destroy(list);
    assert_int_equal(ex_rig_compare(a, a, 0, &list, &error), EX_OK);
    assert_int_equal(list->count, 0);
    ex_differences_destroy(list);
    ex_rig_destroy(a);
    ex_rig_destroy(b);
    ex_rig_destroy(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_form_runs_along_t),
        cmocka_unit_test(several_are_named_after_their_files),
        cmocka_unit_test(refuses_what_does_not_belong_together),
        cmocka_unit_test(checking_measures_the_way),
        cmocka_unit_test(checking_sees_what_cannot_turn),
        cmocka_unit_test(bases_want_a_chain),
        cmocka_unit_test(differences_of_paths_are_told),
    };
    return cmocka_run_group_tests_name("author.project.warp", tests, write_bars, scratch_tear_down);
}
