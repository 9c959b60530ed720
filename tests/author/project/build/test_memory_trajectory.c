/*
 * Failing memory while a project with layers of trajectories is read, built, checked and unpacked: the result says so,
 * and nothing leaks (checked by valgrind).
 */
#include "author/project/bars.h"

#include "support/fail_alloc.h"

/* A trajectory that a later layer depends on, with a mask and segments. */
static const char text[] =
    "{'exemplar': 1, 'mesh': 'square.obj', 'layers': [\n"
    "{'name': 'warp', 'space': [{'name': 'd', 'min': 0, 'max': 1}], 'shape': 'trajectory', 'trajectory': "
    "{'iterations': "
    "2, 'correctors': 1}, 'mask': {'file': 'mask.txt'}, 'examples': [{'name': 'r', 'reference': true, "
    "'at': {}}, {'name': 'a', 'mesh': 'a.obj', 'at': {'d': 1}}]},\n"
    "{'name': 'after', 'space': [{'name': 'd', 'min': 0, 'max': 1}], 'weigh': {'kind': 'direct'}, 'examples': "
    "[{'name': 'b', 'mesh': 'b.obj'}]}]}";

static const char paper[] =
    "{'exemplar': 1, 'mesh': 'square.obj', 'layers': [{'name': 'warp', 'space': [{'name': 'd', 'min': 0, 'max': 1}], "
    "'weigh': {'kind': 'direct'}, 'shape': 'trajectory', 'trajectory': {'mode': 'paper', 'iterations': 1, 'bases': "
    "true, 'segments': 'seg.txt'}, 'examples': [{'name': 'a', 'mesh': 'a.obj'}]}]}";

static int set_up(void **state) {
    if (scratch_set_up(state) != 0)
        return -1;
    write_square("square.obj", 0, 0, 0, 0);
    write_square("a.obj", 0, 1, 0.5, 0);
    write_square("b.obj", 0, 0, 0, 1);
    write_text("mask.txt", "0 1\n1 0.5\n2 1\n3 0.25\n");
    write_text("seg.txt", "1 0\n");
    return 0;
}

static ex_result parse_once(void *context) {
    ex_project *project = NULL;
    ex_error error = {0};
    ex_result result = ex_project_parse(context, strlen(context), "p.json", &project, &error);
    assert_int_equal(project != NULL, result == EX_OK);
    ex_project_destroy(project);
    return result;
}

static ex_result build_once(void *context) {
    ex_rig *rig = NULL;
    ex_error error = {0};
    ex_result result = ex_project_build(context, NULL, &rig, &error);
    assert_int_equal(rig != NULL, result == EX_OK);
    ex_rig_destroy(rig);
    return result;
}

static ex_result check_once(void *context) {
    ex_check *check = NULL;
    ex_error error = {0};
    ex_result result =
        ex_project_check(context, &(ex_check_options){.sample_count = 8, .mixture_count = 1}, &check, &error);
    assert_int_equal(check != NULL, result == EX_OK);
    ex_check_destroy(check);
    return result;
}

static ex_result unpack_once(void *context) {
    ex_error error = {0};
    return ex_project_unpack(context, scratch_path("unpacked"), "p", true, &error);
}

static ex_result compare_once(void *context) {
    ex_differences *list = NULL;
    ex_error error = {0};
    ex_result result = ex_rig_compare(context, context, 0, &list, &error);
    ex_differences_destroy(list);
    return result;
}

static ex_result warp_once(void *context) {
    ex_project *project = NULL;
    ex_error error = {0};
    ex_result result = ex_warp_project(context, &project, &error);
    assert_int_equal(project != NULL, result == EX_OK);
    ex_project_destroy(project);
    return result;
}

static void every_allocation(void **state) {
    (void)state;
    static const char *const texts[] = {text, paper};
    for (int i = 0; i < 2; i++) {
        char *json = with_quotes(texts[i]);
        assert_true(fail_alloc_sweep(parse_once, json) > 10);
        free(json);
        ex_project *project = parse_project(texts[i]);
        assert_true(fail_alloc_sweep(build_once, project) > 100);
        assert_true(fail_alloc_sweep(check_once, project) > 100);
        ex_rig *rig = build_project(project);
        assert_true(fail_alloc_sweep(unpack_once, rig) > 30);
        assert_true(fail_alloc_sweep(compare_once, rig) > 5);
        ex_rig_destroy(rig);
        ex_project_destroy(project);
    }
}

/* Mixtures that stretch, and a later layer that corrects one of them. */
static const char weak[] =
    "{'exemplar': 1, 'mesh': 'm.obj', 'layers': [{'name': 'warp', 'space': [{'name': 'a', 'min': 0, 'max': 1}, "
    "{'name': 'b', 'min': 0, 'max': 1}], 'weigh': {'kind': 'direct'}, 'shape': 'trajectory', 'trajectory': {'mode': "
    "'paper', 'iterations': 1, 'terms': ['pose']}, 'examples': [{'name': 'a', 'mesh': 'bent.obj'}, {'name': 'b', "
    "'mesh': 'back.obj'}]}, {'name': 'fix', 'shape': 'offsets', 'space': [{'name': 'a', 'min': 0, 'max': 1}], "
    "'weigh': {'kind': 'calm'}, 'examples': [{'name': 'half', 'mesh': 'bent.obj', 'at': {'a': 0.45}}]}]}";

static void weak_mixtures(void **state) {
    (void)state;
    write_bar("m.obj", 0);
    write_bar("bent.obj", 2.2);
    write_bar("back.obj", -1.4);
    ex_project *project = parse_project(weak);
    ex_check *check = NULL;
    assert_int_equal(ex_project_check(project, NULL, &check, NULL), EX_OK);
    bool found = false;
    for (int i = 0; i < check->finding_count; i++)
        found = found ||
                (strcmp(check->findings[i].kind, "mixture") == 0 && check->findings[i].severity == EX_SEVERITY_WARNING);
    assert_true(found);
    ex_check_destroy(check);
    assert_true(fail_alloc_sweep(check_once, project) > 500);
    ex_project_destroy(project);
}

static void forms_alone(void **state) {
    (void)state;
    char paths[3][600];
    snprintf(paths[0], sizeof paths[0], "%s", scratch_path("square.obj"));
    snprintf(paths[1], sizeof paths[1], "%s", scratch_path("a.obj"));
    snprintf(paths[2], sizeof paths[2], "%s", scratch_path("b.obj"));
    const char *const forms[] = {paths[1], paths[2]};
    ex_warp_def def = {
        .reference = paths[0], .form_count = 2, .forms = forms, .options = ex_trajectory_options_default()};
    assert_true(fail_alloc_sweep(warp_once, &def) > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation), cmocka_unit_test(weak_mixtures),
                                       cmocka_unit_test(forms_alone)};
    return cmocka_run_group_tests_name("author.project.memory_trajectory", tests, set_up, scratch_tear_down);
}
