/*
 * Failing memory while a project with layers of offsets is read, built, unpacked and checked: the result says so, and
 * nothing leaks (checked by valgrind).
 */
#include "author/project/projects.h"

#include "support/arms.h"
#include "support/fail_alloc.h"

static const char text[] =
    "{'exemplar': 1, 'mesh': 'rest.obj', 'skeleton': 'arm.glb', 'layers': [\n"
    "{'name': 'one', 'shape': 'offsets', 'participation': 'moved', 'space': [{'name': 'elbow', 'joint': 'fore', "
    "'angle': "
    "'z', 'min': 0, 'max': 140}], 'weigh': {'kind': 'gaussian', 'ridge': 0.001}, 'examples': [{'name': 'a', 'mesh': "
    "'a.obj', 'at': {'elbow': 90}, 'falloff': {'elbow': 60}}, {'name': 'b', 'mesh': 'b.obj', 'at': {'elbow': 40}}, "
    "{'name': 'c', 'mesh': 'c.obj', 'at': {}, 'muted': true}], 'mask': {'joints': ['fore', 'hand']}},\n"
    "{'name': 'two', 'shape': 'offsets', 'frame': 'skinned', 'protect': true, 'space': [{'name': 'd', 'min': 0, 'max': "
    "1}], 'weigh': {'kind': 'gaussian', 'falloff': 0.5}, 'examples': [{'name': 'a', 'mesh': 'b.obj', 'at': {'d': "
    "1}}, "
    "{'name': 'b', 'mesh': 'a.obj', 'at': {'d': 0.5}, 'metric': [[4]]}]}]}";

static int set_up(void **state) {
    if (scratch_set_up(state) != 0)
        return -1;
    double positions[3 * ARM_VERTICES];
    arm_form(1, 0.2, positions);
    arm_write_mesh("rest.obj", positions);
    for (int i = 0; i < 30; i++)
        positions[3 * i + 90] += 0.01;
    arm_write_mesh("a.obj", positions);
    arm_form(1, 0.21, positions);
    arm_write_mesh("b.obj", positions);
    arm_write_scene("arm.glb", arm_scene(1));
    return 0;
}

/* jansson reports a text without memory as a wrong one: its own allocations do not fail here. */
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

static ex_result unpack_once(void *context) {
    ex_error error = {0};
    return ex_project_unpack(context, scratch_path("unpacked"), "p", true, &error);
}

static ex_result check_once(void *context) {
    ex_check *check = NULL;
    ex_error error = {0};
    const ex_check_options options = {.sample_count = 8};
    ex_result result = ex_project_check(context, &options, &check, &error);
    assert_int_equal(check != NULL, result == EX_OK);
    for (int i = 0; check && i < check->finding_count; i++)
        if (check->findings[i].severity == EX_SEVERITY_ERROR)
            fail_msg("%s", check->findings[i].text);
    ex_check_destroy(check);
    return result;
}

static void every_allocation(void **state) {
    (void)state;
    char *json = with_quotes(text);
    assert_true(fail_alloc_sweep(parse_once, json) > 50);
    free(json);
    ex_project *project = parse_project(text);
    assert_true(fail_alloc_sweep(build_once, project) > 200);
    assert_true(fail_alloc_sweep(check_once, project) > 200);
    ex_rig *rig = build_project(project);
    assert_true(fail_alloc_sweep(unpack_once, rig) > 100);
    ex_rig_destroy(rig);
    ex_project_destroy(project);
}

/* Separate, on few vertices: it solves the space dozens of times. */
static void choosing_falloffs(void **state) {
    (void)state;
    write_square("square.obj", 0, 0, 0, 0);
    write_square("lifted.obj", 0, 0, 0, 1);
    ex_project *project = parse_project(
        "{'exemplar': 1, 'mesh': 'square.obj', 'layers': [{'name': 'l', 'space': [{'name': 'd', 'min': 0, 'max': 1}], "
        "'weigh': {'kind': 'gaussian', 'falloff': 'auto'}, 'shape': 'offsets', 'examples': [{'name': 'a', 'mesh': "
        "'lifted.obj', 'at': {'d': 1}}, {'name': 'b', 'mesh': 'lifted.obj', 'at': {'d': 0.5}}]}]}");
    assert_true(fail_alloc_sweep(build_once, project) > 100);
    assert_true(fail_alloc_sweep(check_once, project) > 100);
    ex_project_destroy(project);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation), cmocka_unit_test(choosing_falloffs)};
    return cmocka_run_group_tests_name("author.project.memory_offsets", tests, set_up, scratch_tear_down);
}
