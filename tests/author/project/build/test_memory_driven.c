/*
 * Failing memory while a project that a driver moves is read, built, checked and unpacked: the result says so, and
 * nothing leaks (checked by valgrind).
 */
#include "author/project/driven.h"

#include "support/fail_alloc.h"
#include "support/tubes.h"
#include "support/words.h"

/* Regions, weights, binds, and a later layer; few vertices. */
static const char text[] = DRIVEN(
    ", 'frames': 2",
    ", 'driver_weights': {'file': 'w.txt'}, 'regions': [{'look': {'group': 'upper'}, 'mask': {'group': "
    "'body'}}, {'look': {'group': 'lower'}, 'mask': {'group': 'cuff'}}]",
    "unposed",
    ", {'name': 'puff', 'shape': 'unposed', 'space': [{'name': 'puff', 'min': 0, 'max': 1}], 'weigh': {'kind': "
    "'shepard'}, 'examples': [{'name': 'flat', 'mesh': 'sleeve1.obj', 'at': {'body': 'arm1.obj', 'puff': 0}}]}], "
    "'settle': {'bind': 'binds.json', 'push': false}");

/* As few files as possible: each is written once per allocation. */
static const char small[] =
    "{'exemplar': 1, 'mesh': 'sleeve.obj', 'driver': {'mesh': 'arm.obj', 'frames': 2}, 'layers': [{'name': 'driven', "
    "'space': [{'name': 'body', 'driver': true}], 'weigh': {'kind': 'convex', 'driver_weights': {'file': 'w.txt'}}, "
    "'examples': [" KEY(0) "]}], 'settle': {'bind': 'binds.json'}}";

/* A layer that follows motion, and a later one. */
static const char motion[] =
    "{'exemplar': 1, 'mesh': 'sleeve.obj', 'driver': {'mesh': 'arm.obj', 'frames': 2}, 'layers': [{'name': 'driven', "
    "'space': [{'name': 'body', 'driver': true}], 'weigh': {'kind': 'motion', 'predictor': 'tube.predictor'}, "
    "'examples': [{'name': 'a', 'mesh': 'sleeve0.obj'}, {'name': 'b', 'mesh': 'sleeve1.obj'}, {'name': 'c', 'mesh': "
    "'sleeve2.obj'}, {'name': 'd', 'mesh': 'sleeve3.obj'}, {'name': 'e', 'mesh': 'sleeve.obj'}]}, {'name': 'puff', "
    "'space': [{'name': 'puff', 'min': 0, 'max': 1}], 'weigh': {'kind': 'shepard'}, 'examples': [{'name': 'flat', "
    "'mesh': 'sleeve1.obj', 'at': {'puff': 0}}]}]}";

static void write_predictor(void) {
    driven_tube *tube = driven_tube_make(TUBE_FRAMES, EX_RESIDUAL_NONE, false);
    ex_predictor *predictor = driven_tube_follow(tube);
    assert_int_equal(ex_predictor_write(scratch_path("tube.predictor"), predictor, NULL), EX_OK);
    ex_predictor_destroy(predictor);
    free(tube);
}

static int set_up(void **state) {
    sleeve arm;
    if (scratch_set_up(state) != 0)
        return -1;
    sleeve_open(&arm, 6, 3);
    write_driven(&arm);
    sleeve_close(&arm);
    write_text("w.txt", "0 1\n1 2.5\n4 1\n9 1\n13 1\n17 1\n");
    write_text("binds.json", "{\"binds\": [{\"driven\": \"cuff\", \"driver\": \"lower\"}]}");
    write_predictor();
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
    ex_result result = ex_project_check(context, &(ex_check_options){.sample_count = 8}, &check, &error);
    assert_int_equal(check != NULL, result == EX_OK);
    ex_check_destroy(check);
    return result;
}

static ex_result unpack_once(void *context) {
    ex_error error = {0};
    return ex_project_unpack(context, scratch_path("unpacked"), "p", true, &error);
}

static ex_result pose_once(void *context) {
    ex_error error = {0};
    char word[300];
    ex_pose pose = ex_pose_create(context);
    if (!pose.inputs)
        return EX_ERROR_MEMORY;
    snprintf(word, sizeof word, "body=%s", scratch_path("arm1.obj"));
    ex_result result = exi_pose_word(context, word, &pose, &error);
    free(pose.inputs);
    return result;
}

static void every_allocation(void **state) {
    (void)state;
    char *json = with_quotes(text);
    assert_true(fail_alloc_sweep(parse_once, json) > 10);
    free(json);
    ex_project *project = parse_project(text);
    assert_true(fail_alloc_sweep(build_once, project) > 100);
    assert_true(fail_alloc_sweep(check_once, project) > 100);
    ex_rig *rig = build_text(small);
    assert_true(fail_alloc_sweep(unpack_once, rig) > 30);
    assert_true(fail_alloc_sweep(pose_once, rig) > 5);
    ex_rig_destroy(rig);
    ex_project_destroy(project);
}

static void every_allocation_with_a_predictor(void **state) {
    (void)state;
    char *json = with_quotes(motion);
    assert_true(fail_alloc_sweep(parse_once, json) > 10);
    free(json);
    ex_project *project = parse_project(motion);
    assert_true(fail_alloc_sweep(build_once, project) > 100);
    assert_true(fail_alloc_sweep(check_once, project) > 100);
    ex_rig *rig = build_text(motion);
    assert_true(fail_alloc_sweep(unpack_once, rig) > 30);
    ex_rig_destroy(rig);
    ex_project_destroy(project);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation),
                                       cmocka_unit_test(every_allocation_with_a_predictor)};
    return cmocka_run_group_tests_name("author.project.memory_driven", tests, set_up, scratch_tear_down);
}
