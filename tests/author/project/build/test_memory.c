/*
 * Failing memory at every single allocation of reading, editing, writing, building, unpacking and checking, including
 * those of the JSON library: the result says so, nothing is half done, and nothing leaks (checked by valgrind).
 */
#include "author/project/projects.h"

#include <jansson.h>

#include "support/fail_alloc.h"
#include "support/words.h"

static const char text[] =
    "{'exemplar': 1, 'mesh': 'cube.obj', 'layers': [\n"
    " {'name': 'first', 'space': [{'name': 'a', 'unit': 'm', 'min': 0, 'max': 1}, {'name': 'r', 'rotation': 'swing', "
    "'about': 'x'}],\n"
    "  'examples': [{'name': 'one', 'mesh': 'cube.obj', 'at': {'a': 0.5}}, {'name': 'two', 'mesh': 'tall.obj', 'at': "
    "{'a': "
    "1}}, {'name': 'three', 'mesh': 'tall.obj', 'at': {'r': {'y': 90}}}],\n"
    "  'pseudo': [{'at': {'a': 0.75}, 'from': {'a': 0.6}}, {'weights': {'one': 0.5, 'two': 0.25}, 'at': {'a': 0.3}}],\n"
    "  'mask': {'file': 'mask.txt'}},\n"
    " {'name': 'second', 'space': [{'name': 'd', 'min': 0, 'max': 1}], 'weigh': {'kind': 'direct'},\n"
    "  'examples': [{'name': 'only', 'mesh': 'tall.obj'}], 'mask': {'group': 'top'}},\n"
    " {'name': 'third', 'space': [{'name': 'e', 'min': 0, 'max': 1}], 'weigh': {'kind': 'nearest', 'k': 2},\n"
    "  'examples': [{'name': 'e', 'mesh': 'tall.obj', 'at': {}}], 'mask': {'colour': 'b'}}]}\n";

/* jansson's own functions, without failures. */
static json_malloc_t jansson_allocate;
static json_free_t jansson_release;

static int set_up(void **state) {
    if (scratch_set_up(state) != 0)
        return -1;
    write_cube("cube.obj", 1, 0);
    write_cube("tall.obj", 2.3, 1.0 / 3);
    write_text("mask.txt", "0 0.3\n7 1\n");
    char *json = with_quotes(text);
    write_text("p.json", json);
    free(json);
    /* The library's allocations go through this program's, so that they can fail. */
    json_get_alloc_funcs(&jansson_allocate, &jansson_release);
    json_set_alloc_funcs(malloc, free);
    return 0;
}

static ex_result parse_once(void *context) {
    const bool *tell_apart = context;
    ex_project *project = NULL;
    ex_error error;
    ex_result result = ex_project_read(scratch_path("p.json"), &project, &error);
    assert_int_equal(project != NULL, result == EX_OK);
    ex_project_destroy(project);
    /* jansson reports a text without memory as a wrong one, and the two cannot be told apart. */
    if (!*tell_apart && result == EX_ERROR_FORMAT && strstr(error.text, " near '\""))
        result = EX_ERROR_MEMORY;
    return result;
}

static void reading(void **state) {
    (void)state;
    json_malloc_t allocate;
    json_free_t release;
    json_get_alloc_funcs(&allocate, &release);
    assert_true(fail_alloc_sweep(parse_once, &(bool){false}) > 150);
    json_set_alloc_funcs(jansson_allocate, jansson_release);
    int own = fail_alloc_sweep(parse_once, &(bool){true});
    assert_true(own > 40);
    json_set_alloc_funcs(allocate, release);
}

static ex_result build_once(void *context) {
    ex_rig *rig = NULL;
    ex_error error;
    ex_result result = ex_project_build(context, NULL, &rig, &error);
    assert_int_equal(rig != NULL, result == EX_OK);
    ex_rig_destroy(rig);
    return result;
}

static void building(void **state) {
    (void)state;
    ex_project *project = parse_project(text);
    assert_true(fail_alloc_sweep(build_once, project) > 50);
    ex_project_destroy(project);
}

static ex_result write_once(void *context) {
    return ex_project_write(context, scratch_path("out.json"), NULL);
}

static void writing(void **state) {
    (void)state;
    ex_project *project = parse_project(text);
    int before = scratch_entry_count();
    assert_true(fail_alloc_sweep(write_once, project) > 5);
    assert_int_equal(scratch_entry_count(), before + 1);
    ex_project_destroy(project);
}

static ex_result unpack_once(void *context) {
    return ex_project_unpack(context, scratch_path("unpacked"), "p", true, NULL);
}

static void unpacking(void **state) {
    (void)state;
    /* Few files, because every attempt writes them, and all kinds of values. */
    ex_rig *rig = build_text("{'exemplar': 1, 'mesh': 'cube.obj', 'layers': [{'name': 'first', 'space': [{'name': 'a', "
                             "'unit': 'm', 'min': 0, "
                             "'max': 1, 'clamp': true}, {'name': 'r', 'rotation': 'swing', 'about': 'x', 'scale': 2}], "
                             "'examples': [{'name': "
                             "'one', 'mesh': 'tall.obj', 'at': {'a': 0.5}}], 'pseudo': [{'at': {'a': 0.75}, 'from': "
                             "{'a': 0.6}}, {'weights': "
                             "{'one': 0.5}, 'at': {'a': 0.3}}]}]}");
    assert_true(fail_alloc_sweep(unpack_once, rig) > 100);
    ex_rig_destroy(rig);
}

static ex_result check_once(void *context) {
    ex_check *check = NULL;
    const ex_check_options options = {.sample_count = 8};
    ex_result result = ex_project_check(context, &options, &check, NULL);
    assert_int_equal(check != NULL, result == EX_OK);
    if (check)
        assert_int_equal(check->error_count, 0);
    ex_check_destroy(check);
    return result;
}

static void checking(void **state) {
    (void)state;
    ex_project *project = parse_project(text);
    assert_true(fail_alloc_sweep(check_once, project) > 50);
    ex_project_destroy(project);
}

/* A form of another connectivity is compared in two ways, both of which need memory. */
static ex_result check_faulty_once(void *context) {
    ex_check *check = NULL;
    ex_result result = ex_project_check(context, NULL, &check, NULL);
    if (result == EX_OK) {
        assert_int_equal(check->error_count, 1);
        assert_non_null(strstr(check->findings[0].text, "no other order of its vertices"));
    }
    ex_check_destroy(check);
    return result;
}

static void checking_what_is_wrong(void **state) {
    (void)state;
    write_text("a.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nvt 0 0\nvt 0 1\nf 1/1 2/1 3/2\n");
    write_text("b.obj", "v 0 3 0\nv 1 0 0\nv 1 1 0\nvt 0.5 0\nvt 0 1\nf 2/1 1/1 3/2\n");
    ex_project *project = parse_project(
        "{'exemplar': 1, 'mesh': 'a.obj', 'layers': [{'name': 'l', 'space': [{'name': 'x', 'min': 0, 'max': "
        "1}], 'weigh': {'kind': 'direct'}, 'examples': [{'name': 'e', 'mesh': 'b.obj'}]}]}");
    assert_true(fail_alloc_sweep(check_faulty_once, project) > 20);
    ex_project_destroy(project);
}

typedef struct edit_case {
    ex_project *project;
    ex_edit edit;
    int examples, pseudos; /* numbers before the change */
} edit_case;

static ex_result edit_once(void *context) {
    const edit_case *c = context;
    ex_result result = ex_project_edit(c->project, 0, &c->edit, "new", "new.obj", NULL);
    if (result != EX_OK) {
        assert_int_equal(ex_project_get(c->project)->layers[0].example_count, c->examples);
        assert_int_equal(ex_project_get(c->project)->layers[0].pseudo_count, c->pseudos);
    }
    return result;
}

static void editing(void **state) {
    (void)state;
    static const double at[5] = {0.125, 0, 0.6, 0, 0.8}, weights[3] = {0.1, 0.2, 0.3};
    const ex_edit edits[] = {
        {.kind = EX_EDIT_MOVE_EXAMPLE, .index = 1, .at = at},
        {.kind = EX_EDIT_ADD_EXAMPLE, .at = at},
        {.kind = EX_EDIT_REMOVE_EXAMPLE, .index = 1},
        {.kind = EX_EDIT_MOVE_PSEUDO, .index = 0, .at = at, .weights = weights},
        {.kind = EX_EDIT_ADD_PSEUDO, .at = at, .from = at},
        {.kind = EX_EDIT_ADD_PSEUDO, .at = at, .weights = weights},
        {.kind = EX_EDIT_REMOVE_PSEUDO, .index = 0},
    };
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        edit_case c = {parse_project(text), edits[i], 3, 2};
        assert_true(fail_alloc_sweep(edit_once, &c) > 100);
        const ex_project_layer *layer = &ex_project_get(c.project)->layers[0];
        assert_int_equal(layer->example_count, 3 + (i == 1) - (i == 2));
        assert_int_equal(layer->pseudo_count, 2 + (i == 4 || i == 5) - (i == 6));
        /* No weight was lost on the way. */
        if (i == 5)
            assert_memory_equal(layer->weigh.pseudos[2].weights, weights, sizeof weights);
        if (i == 2)
            check_near(layer->weigh.pseudos[1].weights[0], 0.75, 1e-15);
        ex_project_destroy(c.project);
    }
}

static ex_result set_pose_once(void *context) {
    double inputs[7];
    return exi_pose_word(context, "a=0.5", &(ex_pose){.inputs = inputs}, NULL);
}

static ex_result read_table_once(void *context) {
    ex_pose_table table;
    ex_result result = ex_pose_table_read(scratch_path("t.csv"), context, &table, NULL);
    if (result == EX_OK)
        assert_int_equal(table.pose_count, 40);
    ex_pose_table_free(&table);
    return result;
}

static void posing(void **state) {
    (void)state;
    ex_rig *rig = build_text(text);
    char csv[1000] = "a,time\n";
    for (int i = 0; i < 40; i++)
        strcat(csv, "0.5,1\n");
    write_text("t.csv", csv);
    assert_int_equal(fail_alloc_sweep(set_pose_once, rig), 1);
    assert_true(fail_alloc_sweep(read_table_once, rig) > 4);
    ex_rig_destroy(rig);
}

static ex_result to_mesh_once(void *context) {
    ex_mesh *mesh = NULL;
    ex_result result = ex_rig_to_mesh(context, NULL, &mesh, NULL);
    assert_int_equal(mesh != NULL, result == EX_OK);
    ex_mesh_destroy(mesh);
    return result;
}

static ex_result to_limit_mesh_once(void *context) {
    ex_mesh *mesh = NULL;
    float positions[3 * 8] = {0};
    const ex_surface surface = {.level = EX_LEVEL_LIMIT, .positions = positions};
    ex_result result = ex_rig_to_mesh(context, &surface, &mesh, NULL);
    assert_int_equal(mesh != NULL, result == EX_OK);
    assert_true(!mesh || mesh->face_groups); /* not lost on the way */
    ex_mesh_destroy(mesh);
    return result;
}

static ex_result write_rig_once(void *context) {
    return ex_rig_write(scratch_path("rig.glb"), context, NULL);
}

static ex_result read_rig_once(void *context) {
    (void)context;
    ex_rig *rig = NULL;
    ex_result result = ex_rig_read(scratch_path("rig.glb"), NULL, &rig, NULL);
    ex_rig_destroy(rig);
    return result;
}

static void rigs_and_their_files(void **state) {
    (void)state;
    ex_rig *rig = build_text(text);
    assert_true(fail_alloc_sweep(to_mesh_once, rig) > 20);
    int before = scratch_entry_count();
    assert_true(fail_alloc_sweep(write_rig_once, rig) > 100);
    assert_int_equal(scratch_entry_count(), before + 1);
    assert_true(fail_alloc_sweep(read_rig_once, rig) > 1);
    ex_rig *again = NULL;
    assert_int_equal(ex_rig_read(scratch_path("rig.glb"), NULL, &again, NULL), EX_OK);
    check_same_rig(rig, again);
    ex_rig_destroy(again);
    ex_rig_destroy(rig);
    rig = build_text("{'exemplar': 1, 'mesh': 'cube.obj', 'layers': [], 'subdivide': {'scheme': 'catmull_clark', "
                     "'levels': 0, 'limit': true}}");
    assert_true(fail_alloc_sweep(to_limit_mesh_once, rig) > 10);
    ex_rig_destroy(rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reading),   cmocka_unit_test(building), cmocka_unit_test(writing),
        cmocka_unit_test(unpacking), cmocka_unit_test(checking), cmocka_unit_test(checking_what_is_wrong),
        cmocka_unit_test(editing),   cmocka_unit_test(posing),   cmocka_unit_test(rigs_and_their_files),
    };
    return cmocka_run_group_tests_name("author.project.memory", tests, set_up, scratch_tear_down);
}
