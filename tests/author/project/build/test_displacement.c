/*
 * Layers of displacements in projects: a square lifted by hand, units, masks, falloffs by leave-one-out; errors of
 * reading and building; checking; unpacking and building to the same bytes; edits, amounts and differences; failing
 * memory.
 */
#include "author/project/check/checks.h"

#include "support/fail_alloc.h"

#include <exemplar/author/displacement.h>
#include <exemplar/author/picture.h>
#include <exemplar/author/project.h>

enum { REFINED = 25 }; /* a square at level 2 */

/* A square that looks along z, refined twice, and maps over it. */
#define WHOLE(subdivide, mask, weigh, more)                                                                            \
    "{'exemplar': 1, 'mesh': 'square.obj', 'layers': [\n"                                                              \
    "{'name': 'form', 'space': [{'name': 'd', 'min': 0, 'max': 1}], 'weigh': {'kind': 'direct'}, 'examples': "         \
    "[{'name': 'b', 'mesh': 'b.obj'}]},\n"                                                                             \
    "{'name': 'skin', 'space': [{'name': 't', 'min': 0, 'max': 1}], 'weigh': " weigh ", 'shape': 'displacement'" mask  \
    ", 'examples': [{'name': 'none', 'map': 'none.ply', 'at': {'t': 0}}, {'name': 'half', 'map': 'half.ply', 'at': "   \
    "{'t': 0.5}}, {'name': 'full', 'map': 'full.ply', 'at': {'t': 1}}" more "]}], 'subdivide': " subdivide "}"
#define ALL     "{'scheme': 'catmull_clark', 'levels': 2, 'limit': 'all'}"
#define NEAREST "{'kind': 'nearest', 'k': 1}"
static const char plain[] = WHOLE(ALL, "", NEAREST, "");
static const char masked[] = WHOLE(ALL, ", 'mask': {'file': 'mask.txt'}", NEAREST, "");

static void write_map(const char *name, int count, float value, float step) {
    ex_displacement_map *map = ex_displacement_map_create(count);
    ex_error error;
    assert_non_null(map);
    for (int v = 0; v < count; v++) {
        map->displacements[v] = value + step * (float)v;
        map->states[v] = EX_DISPLACEMENT_MAP_HIT;
    }
    if (ex_displacement_map_write(scratch_path(name), map, &error) != EX_OK)
        fail_msg("%s", error.text);
    ex_displacement_map_destroy(map);
}

static int set_up(void **state) {
    if (scratch_set_up(state) != 0)
        return -1;
    write_square("square.obj", 0, 0, 0, 0);
    write_square("b.obj", 0, 0, 0, 1);
    write_map("none.ply", REFINED, 0, 0);
    write_map("half.ply", REFINED, 0.01F, 0.0001F);
    write_map("full.ply", REFINED, 0.02F, -0.0003F);
    write_map("short.ply", 9, 0, 0);
    write_map("large.ply", REFINED, 5, 0);
    write_text("mask.txt", "0 1\n3 0.5 # the others have 0\n24 1\n");
    return 0;
}

static void evaluate_level(const ex_rig *rig, double t, int level, float *positions, float *normals) {
    const ex_evaluation how = {.level = level};
    double inputs[2] = {0, t};
    void *scratch = malloc(ex_rig_scratch_size(rig, &how, 1));
    assert_non_null(scratch);
    ex_rig_evaluate(rig, &(ex_pose){.inputs = inputs}, &(ex_output){.positions = positions, .normals = normals}, &how,
                    scratch);
    free(scratch);
}

static void squares_are_lifted(void **state) {
    (void)state;
    float positions[REFINED][3], normals[REFINED][3];
    ex_rig *rig = build_text(plain);
    assert_int_equal(ex_rig_layer_domain(rig, 1), EX_DOMAIN_DISPLACEMENT);
    assert_int_equal(ex_rig_level_vertex_count(rig, 2), REFINED);
    assert_int_equal(ex_rig_level(rig), 2);
    for (int level = 1; level <= 2; level++) {
        evaluate_level(rig, 1, level, positions[0], normals[0]);
        for (int v = 0; v < ex_rig_level_vertex_count(rig, level); v++) {
            check_near((double)positions[v][2], 0.02 - 0.0003 * v, 1e-7);
            assert_true(normals[v][2] > 0.9F);
        }
    }
    evaluate_level(rig, 1, 0, positions[0], NULL);
    for (int v = 0; v < 4; v++)
        assert_true(positions[v][2] == 0);
    ex_rig_destroy(rig);

    rig = build_text(masked);
    assert_int_equal(ex_rig_layer_displaced(rig, 1, NULL), 3);
    evaluate_level(rig, 1, 2, positions[0], NULL);
    for (int v = 0; v < REFINED; v++)
        check_near((double)positions[v][2],
                   v == 0 || v == 24 ? 0.02 - 0.0003 * v
                   : v == 3          ? 0.5 * (0.02 - 0.0009)
                                     : 0,
                   1e-7);
    ex_rig_destroy(rig);

    /* Maps are in the project's unit; y and z change places. */
    rig = build_text("{'exemplar': 1, 'unit': 'cm', 'up': 'z', 'mesh': 'square.obj', 'layers': [{'name': 'skin', "
                     "'space': [{'name': 'u', 'min': 0, 'max': 1}, {'name': 't', 'min': 0, 'max': 1}], 'weigh': "
                     "{'kind': 'direct'}, 'shape': 'displacement', 'examples': [{'name': 'a', 'map': 'none.ply'}, "
                     "{'name': 'b', 'map': 'full.ply'}]}], 'subdivide': " ALL "}");
    evaluate_level(rig, 1, 2, positions[0], NULL);
    check_near((double)positions[0][1], 0.0002, 1e-9);
    ex_rig_destroy(rig);

    /* Without its levels a rig has the layer and its weights, and nothing to displace. */
    ex_project *project = parse_project(masked);
    ex_error error;
    const ex_build_options options = {.rig = {.without_levels = true}};
    if (ex_project_build(project, &options, &rig, &error) != EX_OK)
        fail_msg("%s", error.text);
    assert_int_equal(ex_rig_layer_displaced(rig, 1, NULL), 0);
    assert_int_equal(ex_rig_pack_size(rig), 0);
    ex_rig_destroy(rig);
    ex_project_destroy(project);
}

static void what_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *words;
    } cases[] = {
        {WHOLE("{'scheme': 'catmull_clark', 'levels': 2, 'limit': true}", "", NEAREST, ""),
         "layers[1].shape: displacements act on a refined surface"},
        {WHOLE("{'scheme': 'catmull_clark', 'levels': 0, 'limit': 'all'}", "", NEAREST, ""), "subdivide.levels"},
        {WHOLE("{'scheme': 'catmull_clark', 'limit': 'some'}", "", NEAREST, ""), "subdivide.limit: true, false or"},
        {WHOLE(ALL, ", 'mask': {'group': 'g'}", NEAREST, ""), "layers[1].mask: a layer of displacements is masked"},
        {WHOLE(ALL, ", 'frame': 'rest'", NEAREST, ""), "frame"},
        {WHOLE(ALL, "", NEAREST, ", {'name': 'x', 'mesh': 'b.obj', 'at': {'t': 0.7}}"), "has a \"map\" instead"},
        {WHOLE(ALL, "", NEAREST, ", {'name': 'x', 'at': {'t': 0.7}}"), "map"},
        {WHOLE(ALL, "", "{'kind': 'convex'}", ""), "layers[1]"},
        {"{'exemplar': 1, 'mesh': 'square.obj', 'layers': [{'name': 'l', 'space': [{'name': 'd', 'min': 0, 'max': "
         "1}], 'weigh': {'kind': 'direct'}, 'examples': [{'name': 'b', 'mesh': 'b.obj', 'map': 'none.ply'}]}]}",
         "layers[0].examples[0].map: only a layer with"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ex_project *project;
        ex_error error = {0};
        if (try_parse(cases[i].text, &project, &error) == EX_OK || !strstr(error.text, cases[i].words))
            fail_msg("case %zu: '%s'", i, error.text);
    }
    static const struct {
        const char *text, *words;
    } builds[] = {
        {WHOLE(ALL, "", NEAREST, ", {'name': 'x', 'map': 'short.ply', 'at': {'t': 0.7}}"),
         "short.ply has 9 vertices, but level 2 of 'square.obj' has 25"},
        {WHOLE(ALL, "", NEAREST, ", {'name': 'x', 'map': 'none at all.ply', 'at': {'t': 0.7}}"), "none at all.ply"},
        {WHOLE(ALL, ", 'mask': {'file': 'mask2.txt'}", NEAREST, ""), "mask"},
    };
    write_text("mask2.txt", "25 1\n");
    for (size_t i = 0; i < sizeof builds / sizeof *builds; i++) {
        ex_project *project = parse_project(builds[i].text);
        ex_rig *rig = NULL;
        ex_error error = {0};
        assert_int_not_equal(ex_project_build(project, NULL, &rig, &error), EX_OK);
        if (!strstr(error.text, builds[i].words))
            fail_msg("build %zu: '%s'", i, error.text);
        ex_project_destroy(project);
    }
}

static void checks(void **state) {
    (void)state;
    expect_good(plain);
    expect_good(masked);
    expect_one(WHOLE(ALL, "", NEAREST, ", {'name': 'x', 'map': 'short.ply', 'at': {'t': 0.7}}"), "map",
               EX_SEVERITY_ERROR, "layers[1].examples[3]", "short.ply has 9 vertices, but level 2 of 'square.obj' has");
    expect_one(WHOLE(ALL, "", NEAREST, ", {'name': 'x', 'map': 'large.ply', 'at': {'t': 0.7}}"), "displacement",
               EX_SEVERITY_WARNING, "layers[1].examples[3]", "'x' displaces by up to 5 m");
    write_text("mask2.txt", "25 1\n");
    expect_one(WHOLE(ALL, ", 'mask': {'file': 'mask2.txt'}", NEAREST, ""), "mask", EX_SEVERITY_ERROR, "layers[1].mask",
               "there is no vertex 25");
    /* Without the middle one, one end replaces it: 0.0076 m, of a square of 1.414 m. */
    ex_check *check = check_text(plain);
    const ex_finding *last = NULL;
    assert_int_equal(count_kind(check, "leave_one_out", EX_SEVERITY_NOTE, &last), 3);
    for (int i = 0; i < check->finding_count; i++)
        if (strcmp(check->findings[i].where, "layers[1].examples[2]") == 0)
            check_near(check->findings[i].value, 0.01 / sqrt(2), 1e-6);
    ex_check_destroy(check);
}

static void round_trips(void **state) {
    (void)state;
    check_round_trip(plain);
    check_round_trip(masked);
    check_round_trip(WHOLE(ALL, "", "{'kind': 'gaussian', 'falloff': 'auto'}", ""));
    check_round_trip(WHOLE(ALL, ", 'muted': true", "{'kind': 'cardinal'}", ""));
}

static void edits(void **state) {
    (void)state;
    ex_project *project = parse_project(plain);
    ex_error error;
    const double at[1] = {0.25};
    const ex_edit edit = {.kind = EX_EDIT_ADD_EXAMPLE, .at = at};
    if (ex_project_edit(project, 1, &edit, "new", "half.ply", &error) != EX_OK)
        fail_msg("%s", error.text);
    const ex_project_layer *layer = &ex_project_get(project)->layers[1];
    assert_int_equal(layer->example_count, 4);
    assert_string_equal(layer->examples[3].map, "half.ply");
    assert_null(layer->examples[3].mesh);
    ex_rig_destroy(build_project(project));
    ex_project_destroy(project);
}

static void pictures_and_differences(void **state) {
    (void)state;
    ex_rig *a = build_text(plain), *b = build_text(masked);
    ex_error error;
    float amounts[REFINED];
    assert_int_equal(ex_rig_example_amounts(a, 1, 2, 2, amounts, &error), EX_OK);
    for (int v = 0; v < REFINED; v++)
        check_near((double)amounts[v], 0.02 - 0.0003 * v, 1e-7);
    assert_int_equal(ex_rig_example_amounts(b, 1, 2, 1, amounts, &error), EX_OK);
    check_near((double)amounts[3], 0.5 * (0.02 - 0.0009), 1e-7);
    assert_true(amounts[4] == 0);

    ex_differences *list = NULL;
    assert_int_equal(ex_rig_compare(a, a, 0, &list, &error), EX_OK);
    assert_int_equal(list->count, 0);
    ex_differences_destroy(list);
    assert_int_equal(ex_rig_compare(a, b, 0, &list, &error), EX_OK);
    assert_int_equal(list->count, 2); /* half and full; none displaces nothing either way */
    assert_non_null(strstr(list->items[1].text, "displaces refined vertex 1"));
    check_near(list->items[1].largest, 0.02 - 0.0003, 1e-7);
    ex_differences_destroy(list);
    ex_rig_destroy(a);
    ex_rig_destroy(b);
}

/* ---- memory ---- */

static ex_result parse_once(void *context) {
    ex_project *project = NULL;
    ex_error error = {0};
    ex_result result = ex_project_parse(context, strlen(context), "p.json", &project, &error);
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

static void building_stops(void **state) {
    (void)state;
    ex_project *project = parse_project(masked);
    check_stops(project);
    ex_project_destroy(project);
}

static void memory(void **state) {
    (void)state;
    char *json = with_quotes(masked);
    assert_true(fail_alloc_sweep(parse_once, json) > 10);
    free(json);
    ex_project *project = parse_project(masked);
    assert_true(fail_alloc_sweep(build_once, project) > 50);
    assert_true(fail_alloc_sweep(check_once, project) > 50);
    ex_rig *rig = build_project(project);
    assert_true(fail_alloc_sweep(unpack_once, rig) > 20);
    assert_true(fail_alloc_sweep(compare_once, rig) > 5);
    ex_rig_destroy(rig);
    ex_project_destroy(project);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(squares_are_lifted),
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(checks),
        cmocka_unit_test(round_trips),
        cmocka_unit_test(edits),
        cmocka_unit_test(pictures_and_differences),
        cmocka_unit_test(building_stops),
        cmocka_unit_test(memory),
    };
    return cmocka_run_group_tests_name("author.project.displacement", tests, set_up, scratch_tear_down);
}
