/*
 * Mirrors: names by a table, counterparts of vertices by hand and on symmetric meshes with random numbering, examples
 * there and back on an arm whose joints are their own counterparts, and failing memory.
 */
#include "author/project/projects.h"

#include "support/arms.h"
#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/words.h"

/* ---- names ---- */

static void test_names(void **state) {
    (void)state;
    static const char *const pairs[][2] = {
        {"LeftArm", "RightArm"},     {"mixamorig:LeftForeArm", "mixamorig:RightForeArm"},
        {"arm_L", "arm_R"},          {"upperarm01.L", "upperarm01.R"},
        {"arm.l.001", "arm.r.001"},  {"l_arm", "r_arm"},
        {"arm-l", "arm-r"},          {"left arm", "right arm"},
        {"arm_left", "arm_right"},   {"armLeft", "armRight"},
        {"LEFT_HAND", "RIGHT_HAND"}, {"L", "R"},
        {"leftArm", "rightArm"},     {"bent_L.x", "bent_R.x"},
    };
    static const char *const central[] = {"spine",  "leftover", "bright", "Copyright", "collar",   "root",
                                          "L1root", "neck01",   "",       "armL",      "Leftover", "öl_é"};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (int side = 0; side < 2; side++) {
            char *name = ex_mirror_name(pairs[i][side]);
            assert_string_equal(name, pairs[i][!side]);
            free(name);
        }
    for (size_t i = 0; i < sizeof central / sizeof *central; i++) {
        char *name = ex_mirror_name(central[i]);
        assert_string_equal(name, central[i]);
        free(name);
    }
}

/* ---- vertices ---- */

static ex_mesh *parse_mesh(const char *text) {
    ex_mesh *mesh = NULL;
    ex_error error = {0};
    if (ex_obj_parse(text, strlen(text), "it.obj", &mesh, &error) != EX_OK)
        fail_msg("%s", error.text);
    return mesh;
}

static void check_map(const ex_mesh *mesh, int plane, double offset, const int *expected) {
    int *map = NULL;
    ex_error error = {0};
    if (ex_mesh_mirror_map(mesh, plane, offset, 0, &map, &error) != EX_OK)
        fail_msg("%s", error.text);
    for (int v = 0; v < mesh->vertex_count; v++) {
        assert_int_equal(map[map[v]], v);
        if (expected)
            assert_int_equal(map[v], expected[v]);
        for (int c = 0; c < 3; c++) {
            const double p = mesh->positions[3 * v + c];
            assert_near(mesh->positions[3 * map[v] + c], c == plane ? 2 * offset - p : p, 1e-4 * ex_mesh_size(mesh));
        }
    }
    free(map);
}

static void test_map_by_hand(void **state) {
    (void)state;
    /* Two squares side by side, and the same about x = 3. */
    ex_mesh *mesh = parse_mesh("v -1 0 0\nv 0 0 0\nv 1 0 0\nv -1 1 0\nv 0 1 0\nv 1 1 0\nf 1 2 5 4\nf 2 3 6 5\n");
    check_map(mesh, 0, 0, (const int[]){2, 1, 0, 5, 4, 3});
    check_map(mesh, 1, 0.5, (const int[]){3, 4, 5, 0, 1, 2});
    for (int v = 0; v < mesh->vertex_count; v++)
        mesh->positions[3 * v] += 3;
    check_map(mesh, 0, 3, (const int[]){2, 1, 0, 5, 4, 3});
    /* Diagonals that all run in one direction are not mirror images of each other: only positions count. */
    ex_mesh *cut =
        parse_mesh("v -1 0 0\nv 0 0 0\nv 1 0 0\nv -1 1 0\nv 0 1 0\nv 1 1 0\nf 1 2 5\nf 1 5 4\nf 2 3 6\nf 2 6 "
                   "5\n");
    check_map(cut, 0, 0, (const int[]){2, 1, 0, 5, 4, 3});
    ex_mesh_destroy(cut);
    /* Likewise if vertices share a place and each has a separate counterpart. */
    cut = parse_mesh("v -1 0 0\nv 0 0 0\nv 1 0 0\nv -1 1 0\nv 0 1 0\nv 1 1 0\nv -1 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 5\nf 7 "
                     "9 4\nf 2 3 6\nf 2 6 5\nf 8 6 9\n");
    check_map(cut, 0, 0, (const int[]){2, 1, 0, 5, 4, 3, 7, 6, 8});
    ex_mesh_destroy(cut);
    ex_mesh_destroy(mesh);
}

/* A closed mouth: upper and lower lip are at the same places, the left ones with the lower lip's vertex first. */
static void test_lips_stay_apart(void **state) {
    (void)state;
    ex_mesh *mesh = parse_mesh("v -1 0 0\nv -1 0 0\nv 0 0 0\nv 0 0 0\nv 1 0 0\nv 1 0 0\n"
                               "v -1 1 0\nv 0 1 0\nv 1 1 0\nv -1 -1 0\nv 0 -1 0\nv 1 -1 0\n"
                               "f 2 3 8 7\nf 3 5 9 8\nf 10 11 4 1\nf 11 12 6 4\n");
    check_map(mesh, 0, 0, (const int[]){5, 4, 2, 3, 1, 0, 8, 7, 6, 11, 10, 9});
    ex_mesh_destroy(mesh);
}

static void test_map_of_any_numbering(void **state) {
    (void)state;
    uint64_t seed = 11;
    double positions[3 * ARM_VERTICES];
    arm_form(1, 0.2, positions);
    for (int turn = 0; turn < 4; turn++) {
        ex_mesh *mesh = arm_mesh(positions);
        int number[ARM_VERTICES];
        for (int v = 0; v < ARM_VERTICES; v++)
            number[v] = v;
        for (int v = ARM_VERTICES - 1; v > 0; v--) {
            const int k = (int)(random_bits(&seed) % (uint64_t)(v + 1)), swap = number[v];
            number[v] = number[k];
            number[k] = swap;
        }
        for (int v = 0; v < ARM_VERTICES; v++)
            for (int c = 0; c < 3; c++) /* not quite symmetric */
                mesh->positions[3 * number[v] + c] = positions[3 * v + c] + random_between(&seed, -1e-5, 1e-5);
        for (int c = 0; c < mesh->corner_count; c++)
            mesh->corners[c] = number[mesh->corners[c]];
        check_map(mesh, 2, 0, NULL);
        check_map(mesh, 0, 1, NULL);
        ex_mesh_destroy(mesh);
    }
}

static void test_no_counterpart(void **state) {
    (void)state;
    ex_mesh *mesh = parse_mesh("v -1 0 0\nv 0 0 0\nv 1.1 0 0\nv -1 1 0\nv 0 1 0\nv 1 1 0\nf 1 2 5 4\nf 2 3 6 5\n");
    int *map = NULL;
    ex_error error = {0};
    assert_int_equal(ex_mesh_mirror_map(mesh, 0, 0, 0, &map, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "2 of 6 vertices have no counterpart");
    assert_non_null(strstr(error.text, "vertex 0 at -1 0 0"));
    assert_null(map);
    assert_int_equal(ex_mesh_mirror_map(mesh, 0, 0, 0.1, &map, &error), EX_OK);
    free(map);
    ex_mesh_destroy(mesh);
}

/* ---- examples ---- */

/* The arm is along x and symmetric about z = 0; its forearm is turned about its bone at rest. */
static const char project_text[] = "{'exemplar': 1, 'mesh': 'rest.obj', 'skeleton': 'arm.glb', 'layers': []}";

static int set_up(void **state) {
    if (scratch_set_up(state) != 0)
        return -1;
    double positions[3 * ARM_VERTICES];
    arm_form(1, 0.2, positions);
    arm_write_mesh("rest.obj", positions);
    arm_write_scene("arm.glb", arm_scene(1));
    return 0;
}

static ex_project *open_project(const char *name, const char *pose) {
    char *quoted = with_quotes(project_text);
    ex_project *project = NULL;
    ex_error error = {0};
    double positions[3 * ARM_VERTICES];
    const char *const words[] = {pose, NULL};
    write_text(name, quoted);
    free(quoted);
    if (ex_project_read(scratch_path(name), &project, &error) != EX_OK)
        fail_msg("%s", error.text);
    ex_rig *rig = build_project(project);
    arm_sculpt(rig, words, 0.02, 9, positions);
    ex_rig_destroy(rig);
    arm_write_mesh("sculpt.obj", positions);
    ex_place at = place_of_words(project, words);
    const ex_sculpt sculpt = {.name = "left", .form = scratch_path("sculpt.obj"), .at = at};
    if (ex_project_add_sculpt(project, &sculpt, NULL, NULL, &error) != EX_OK)
        fail_msg("%s", error.text);
    exi_place_free(&at);
    return project;
}

static void test_there_and_back(void **state) {
    (void)state;
    ex_project *project = open_project("back.json", "joint:fore=x15y25z70");
    ex_error error = {0};
    ex_sculpted made;
    ex_mirrored *mirrored = NULL;
    assert_int_equal(ex_project_add_sculpt(
                         project, &(ex_sculpt){.name = "left", .form = scratch_path("sculpt.obj"), .replace = true},
                         NULL, &made, &error),
                     EX_OK);
    const int there_moved = made.moved_count;
    const double there_largest = made.largest;
    const ex_mirroring there = {.name = "left", .plane = 'z'}, back = {.name = "right", .plane = 'z', .as = "again"};
    int count = 0;
    if (ex_project_mirror(project, &there, NULL, &mirrored, &count, &error) != EX_OK)
        fail_msg("%s", error.text);
    assert_int_equal(count, 1);
    made = mirrored[0].sculpted;
    free(mirrored);
    assert_int_equal(made.layer, 0);
    assert_false(made.new_layer);
    assert_near(made.error, 0, 1e-5 * made.size);
    /* It is the mirrored pose, because nowhere else would the same vertices move as far. */
    assert_int_equal(made.moved_count, there_moved);
    assert_near(made.largest, there_largest, 1e-6);
    const ex_project_layer *layer = &ex_project_get(project)->layers[0];
    assert_int_equal(layer->example_count, 2);
    assert_string_equal(layer->examples[1].name, "right");
    /* Mirrored back it is where the first is, to the last bits. */
    assert_int_equal(ex_project_mirror(project, &back, NULL, &mirrored, &count, &error), EX_ERROR_DATA);
    assert_null(mirrored);
    assert_int_equal(count, 0);
    assert_sentence(&error, EX_ERROR_DATA, "example 'left' of layer 'fore' is already at the mirrored place");
    assert_int_equal(ex_project_mirror(project, &(ex_mirroring){.name = "right", .plane = 'z', .replace = true}, NULL,
                                       NULL, NULL, &error),
                     EX_OK);
    ex_mesh *first = NULL, *again = NULL;
    layer = &ex_project_get(project)->layers[0];
    assert_int_equal(ex_mesh_read(scratch_path("sculpt.obj"), &first, NULL), EX_OK);
    assert_int_equal(ex_mesh_read(scratch_path(layer->examples[0].mesh), &again, NULL), EX_OK);
    assert_string_not_equal(layer->examples[0].mesh, "sculpt.obj");
    const ex_mesh_difference difference = ex_mesh_compare(first, again, 1e-6);
    assert_int_equal(difference.moved_count, 0);
    ex_mesh_destroy(first);
    ex_mesh_destroy(again);
    ex_project_destroy(project);
}

/* The arm is also symmetric about its middle, but its joints are not: the plane is z = 0. */
static void test_plane_is_found(void **state) {
    (void)state;
    ex_project *project = open_project("found.json", "joint:fore=x15y25z70");
    ex_mirrored *mirrored = NULL;
    ex_error error = {0};
    if (ex_project_mirror(project, &(ex_mirroring){.name = "left"}, NULL, &mirrored, NULL, &error) != EX_OK)
        fail_msg("%s", error.text);
    assert_near(fabs(mirrored->normal[2]), 1, 1e-6);
    assert_near(mirrored->offset, 0, 1e-6);
    free(mirrored);
    ex_project_destroy(project);
}

static ex_result try_found(void *context) {
    ex_error error = {0};
    return ex_project_mirror(context, &(ex_mirroring){.name = "left"}, NULL, NULL, NULL, &error);
}

static void test_memory_of_the_plane(void **state) {
    (void)state;
    ex_project *project = open_project("plane.json", "joint:fore=x15y25z70");
    assert_true(fail_alloc_sweep(try_found, project) > 50);
    ex_project_destroy(project);
}

static void test_refused(void **state) {
    (void)state;
    const struct {
        ex_mirroring mirroring;
        ex_result result;
        const char *word;
    } cases[] = {
        {{.plane = 'z'}, EX_ERROR_ARGUMENT, "name an example"},
        {{.name = "left", .plane = 'w'}, EX_ERROR_ARGUMENT, "x, y or z"},
        {{.name = "lefty", .plane = 'z'}, EX_ERROR_DATA, "did you mean 'left'?"},
        {{.name = "left", .layer = "for", .plane = 'z'}, EX_ERROR_DATA, "did you mean 'fore'?"},
        {{.name = "left", .plane = 'x'}, EX_ERROR_DATA, "no counterpart within the tolerance, 0.02 sizes"},
        {{.layer = "fore", .as = "new"}, EX_ERROR_ARGUMENT, "only a single example"},
        {{.name = "left", .as = "left", .plane = 'z'}, EX_ERROR_DATA, "example 'left'"},
        {{.name = "left", .as = "", .plane = 'z'}, EX_ERROR_DATA, "name is not valid"},
        {{.name = "left", .as = "\xE9", .plane = 'z'}, EX_ERROR_DATA, "name is not valid"},
        {{.name = "left", .as = "left", .plane = 'z', .replace = true}, EX_ERROR_DATA, "but is elsewhere"},
    };
    ex_project *project = open_project("refused.json", "joint:fore=x15y25z70");
    const int entries = scratch_entry_count();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ex_error error = {0};
        assert_int_equal(ex_project_mirror(project, &cases[i].mirroring, NULL, NULL, NULL, &error), cases[i].result);
        assert_sentence(&error, cases[i].result, cases[i].word);
        assert_int_equal(scratch_entry_count(), entries);
    }
    ex_project_destroy(project);
}

/* Axes of the left arm whose names show no side, and have no counterparts yet: each gets a new name. */
static void test_axes_without_a_side(void **state) {
    (void)state;
    ex_scene *scene = arm_scene(1);
    strcpy(scene->nodes[ARM_UPPER].name, "a.L"); /* which are shorter */
    strcpy(scene->nodes[ARM_FORE].name, "a.R");
    arm_write_scene("sides.glb", scene);
    char *quoted = with_quotes(
        "{'exemplar': 1, 'mesh': 'rest.obj', 'skeleton': 'sides.glb', 'layers': [{'name': 'arm', 'shape': 'offsets', "
        "'space': [{'name': 'flex', 'joint': 'a.L', 'angle': 'z', 'min': 0, 'max': 90}, {'name': 'turn', 'joint': "
        "'a.L', 'angle': 'x', 'min': 0, 'max': 90}], 'weigh': {'kind': 'gaussian', 'falloff': {'flex': 40, 'turn': "
        "20}}, 'examples': [{'name': 'one', 'mesh': 'rest.obj', 'at': {'turn': 30}}, {'name': 'two', 'mesh': "
        "'rest.obj', "
        "'at': {'turn': 60, 'sway': 0.5}}]}, {'name': 'other', 'space': [{'name': 'sway', 'joint': 'a.L', 'slide': "
        "'y', 'min': 0, 'max': 1}], 'examples': [{'name': 'rest', 'mesh': 'rest.obj', 'at': {'sway': 0}}]}]}");
    write_text("sides.json", quoted);
    free(quoted);
    ex_project *project = NULL;
    ex_error error = {0};
    assert_int_equal(ex_project_read(scratch_path("sides.json"), &project, &error), EX_OK);
    ex_mirrored *made = NULL;
    if (ex_project_mirror(project, &(ex_mirroring){.name = "one", .plane = 'z'}, NULL, &made, NULL, &error) != EX_OK)
        fail_msg("%s", error.text);
    assert_true(made->sculpted.new_layer);
    free(made);
    const ex_project_layer *layer = &ex_project_get(project)->layers[2];
    assert_int_equal(layer->axis_count, 2);
    assert_string_equal(layer->axes[0].name, "a.R");
    assert_string_equal(layer->axes[1].name, "a.R 2");
    assert_true(layer->examples[0].at[0] == 0 && layer->examples[0].at[1] == 30);
    assert_near(layer->weigh.falloffs[0], 40.0 / 90, 1e-15);
    assert_near(layer->weigh.falloffs[1], 20.0 / 90, 1e-15);
    /* An axis of another layer has to have its counterpart. */
    assert_int_equal(ex_project_mirror(project, &(ex_mirroring){.name = "two", .plane = 'z'}, NULL, NULL, NULL, &error),
                     EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "names the axis 'sway' of another layer, but no axis of the project is the");
    ex_project_destroy(project);
}

/* The image of 'turn' exists with the opposite sign, that of 'flex' does not: the new layer has the old axis. */
static void test_axes_that_count_the_other_way(void **state) {
    (void)state;
    static const char *const metrics[] = {"'metric': [[1, 0.1], [0.1, 1]]", "'falloff': [0.5, 0.25]"};
    for (int i = 0; i < 4; i++) {
        char text[1500];
        snprintf(text, sizeof text,
                 "{'exemplar': 1, 'mesh': 'rest.obj', 'skeleton': 'sides.glb', 'layers': [{'name': 'arm', 'shape': "
                 "'offsets', 'space': [{'name': 'flex', 'joint': 'a.L', 'angle': 'z', 'min': 0, 'max': 90}, {'name': "
                 "'turn', 'joint': 'a.L', 'angle': 'x', 'min': 0, 'max': 90}], 'weigh': {'kind': 'gaussian'%s%s}, "
                 "'examples': [{'name': 'one', 'mesh': 'rest.obj', 'at': {'turn': 30}%s%s}]}, {'name': 'other', "
                 "'space': [{'name': 'roll', 'joint': 'a.R', 'angle': 'x', 'min': -90, 'max': 0}], 'examples': "
                 "[{'name': 'rest', 'mesh': 'rest.obj', 'at': {'roll': 0}}]}]}",
                 i < 2 ? ", " : "", i < 2 ? metrics[i] : "", i < 2 ? "" : ", ", i < 2 ? "" : metrics[i - 2]);
        char *quoted = with_quotes(text);
        write_text("ways.json", quoted);
        free(quoted);
        ex_project *project = NULL;
        ex_error error = {0};
        assert_int_equal(ex_project_read(scratch_path("ways.json"), &project, &error), EX_OK);
        const ex_result result =
            ex_project_mirror(project, &(ex_mirroring){.name = "one", .plane = 'z'}, NULL, NULL, NULL, &error);
        if (i % 2 == 0) {
            /* A metric ties the axes' directions to each other. */
            assert_int_equal(result, EX_ERROR_DATA);
            assert_sentence(&error, EX_ERROR_DATA, "\"metric\"");
        } else if (result != EX_OK) {
            fail_msg("%s", error.text);
        } else {
            const ex_project_layer *layer = &ex_project_get(project)->layers[2];
            assert_string_equal(layer->axes[1].name, "roll");
            assert_true(layer->examples[0].at[1] == -30);
            assert_true(layer->weigh.falloffs[0] == 0.5 && layer->weigh.falloffs[1] == 0.25);
        }
        ex_project_destroy(project);
    }
}

/* The counterpart is in metres, the axis in centimetres: so are places and falloffs. */
static void test_axes_of_other_units(void **state) {
    (void)state;
    char *quoted = with_quotes(
        "{'exemplar': 1, 'mesh': 'rest.obj', 'skeleton': 'sides.glb', 'layers': [{'name': 'arm', 'shape': 'offsets', "
        "'space': [{'name': 'push', 'joint': 'a.L', 'slide': 'x', 'metres': 0.01, 'min': 0, 'max': 10}], 'weigh': "
        "{'kind': 'gaussian', 'falloff': {'push': 5}}, 'examples': [{'name': 'one', 'mesh': 'rest.obj', 'at': {'push': "
        "8}, 'falloff': {'push': 4}}]}, {'name': 'other', 'space': [{'name': 'pull', 'joint': 'a.R', 'slide': 'x', "
        "'min': 0, 'max': 0.1}], 'examples': [{'name': 'rest', 'mesh': 'rest.obj', 'at': {'pull': 0}}]}]}");
    write_text("units.json", quoted);
    free(quoted);
    ex_project *project = NULL;
    ex_error error = {0};
    assert_int_equal(ex_project_read(scratch_path("units.json"), &project, &error), EX_OK);
    if (ex_project_mirror(project, &(ex_mirroring){.name = "one", .plane = 'z'}, NULL, NULL, NULL, &error) != EX_OK)
        fail_msg("%s", error.text);
    const ex_project_layer *layer = &ex_project_get(project)->layers[2];
    assert_string_equal(layer->axes[0].name, "pull");
    assert_near(layer->examples[0].at[0], 0.08, 1e-12);
    assert_near(layer->weigh.falloffs[0], 0.4, 1e-12); /* of the example */
    assert_near(layer->weigh.falloffs[1], 0.5, 1e-12); /* of the zero at rest, the layer's */
    ex_project_destroy(project);
}

static ex_result try_mirror(void *context) {
    const ex_mirroring mirroring = {.name = "left", .plane = 'z'};
    ex_error error = {0};
    const ex_result result = ex_project_mirror(context, &mirroring, NULL, NULL, NULL, &error);
    assert_int_equal(ex_project_get(context)->layers[0].example_count, result == EX_OK ? 2 : 1);
    return result;
}

static void test_memory(void **state) {
    (void)state;
    ex_project *project = open_project("memory.json", "joint:fore=x15y25z70");
    assert_true(fail_alloc_sweep(try_mirror, project) > 50);
    ex_project_destroy(project);
}

/* ---- layers and sides ---- */

/* A flat strip along x: a left and a right half, with a layer of dials and morph targets on the left. */
static ex_project *open_strip(const char *name) {
    char text[2000];
    size_t length = 0;
    for (int i = 0; i < 9; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "v %g 0 0\nv %g 1 0\n", i - 4.0, i - 4.0);
    for (int i = 0; i < 8; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "f %d %d %d %d\n", 2 * i + 1, 2 * i + 3,
                                   2 * i + 4, 2 * i + 2);
    write_text("strip.obj", text);
    char *moved = strstr(text, "v 2 0 0");
    memcpy(moved, "v 2 0 1", 7);
    write_text("smile.obj", text);
    write_text("mask.txt", "12 1\n13 0.5\n");
    char *quoted = with_quotes(
        "{'exemplar': 1, 'mesh': 'strip.obj', 'layers': [{'name': 'targets', 'weigh': {'kind': 'direct'}, 'space': "
        "[{'name': 'smile_L', 'min': 0, 'max': 1}], 'examples': [{'name': 'smile_L', 'mesh': 'smile.obj'}]}, {'name': "
        "'lid_L', 'shape': 'offsets', 'mask': {'file': 'mask.txt'}, 'space': [{'name': 'lid_L', 'min': 0, 'max': 1}], "
        "'weigh': {'kind': 'gaussian', 'falloff': {'lid_L': 0.5}}, 'examples': [{'name': 'closed_L', 'mesh': "
        "'smile.obj', 'at': {'lid_L': 1}}, {'name': 'half_L', 'mesh': 'smile.obj', 'at': {'lid_L': 0.5}}], 'pseudo': "
        "[{'name': 'low_L', 'at': {'lid_L': 0.2}, 'weights': {'half_L': 0.1}}, {'at': {'lid_L': 0.8}, 'from': "
        "{'lid_L': 0.7}, 'falloff': {'lid_L': 0.2}}]}]}");
    write_text(name, quoted);
    free(quoted);
    ex_project *project = NULL;
    ex_error error = {0};
    if (ex_project_read(scratch_path(name), &project, &error) != EX_OK)
        fail_msg("%s", error.text);
    return project;
}

static void test_sides(void **state) {
    (void)state;
    ex_project *project = open_strip("strip.json");
    ex_error error = {0};
    ex_mirrored *made = NULL;
    int count = 0;
    if (ex_project_mirror(project, &(ex_mirroring){.from = EX_SIDE_LEFT}, NULL, &made, &count, &error) != EX_OK)
        fail_msg("%s", error.text);
    assert_int_equal(count, 3);
    for (int i = 0; i < count; i++) {
        assert_true(fabs(made[i].normal[0]) == 1 && made[i].offset == 0);
        assert_int_equal(made[i].matched[EX_MATCH_SYMMETRIC], 1);
        assert_int_equal(made[i].matched[EX_MATCH_TOPOLOGY] + made[i].matched[EX_MATCH_NEAREST], 0);
        assert_true(made[i].farthest == 0);
        assert_int_equal(made[i].sculpted.moved_count, 1);
    }
    free(made);
    const ex_project_view *view = ex_project_get(project);
    assert_int_equal(view->layer_count, 3);
    assert_string_equal(view->layers[0].examples[1].name, "smile_R");
    assert_string_equal(view->layers[0].axes[1].name, "smile_R");
    const ex_project_layer *layer = &view->layers[2];
    assert_string_equal(layer->name, "lid_R");
    assert_string_equal(layer->axes[0].name, "lid_R");
    assert_int_equal(layer->example_count, 2);
    assert_int_equal(layer->pseudo_count, 2);
    assert_near(layer->weigh.pseudos[0].weights[1], 0.1, 1e-15);
    assert_near(layer->weigh.pseudos[1].from[0], 0.7, 1e-15);
    float *mask = NULL;
    int vertices = 0;
    assert_int_equal(ex_project_read_mask(project, 2, &mask, &vertices, &error), EX_OK);
    for (int v = 0; v < vertices; v++)
        assert_near(mask[v], v == 4 ? 1 : v == 5 ? 0.5 : 0, 1e-7);
    free(mask);
    ex_mesh *form = NULL;
    assert_int_equal(ex_mesh_read(scratch_path(layer->examples[0].mesh), &form, &error), EX_OK);
    for (int v = 0; v < form->vertex_count; v++)
        assert_near(form->positions[3 * v + 2], v == 4, 1e-6);
    ex_mesh_destroy(form);
    /* All are there now, and the right side has counterparts on the left. */
    assert_int_equal(ex_project_mirror(project, &(ex_mirroring){.from = EX_SIDE_RIGHT}, NULL, NULL, NULL, &error),
                     EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA,
                    "3 examples are already where a mirror image would go: 'smile_L', 'closed_L'");
    ex_project_destroy(project);
}

static ex_result try_sides(void *context) {
    (void)context;
    ex_project *project = NULL;
    ex_error error = {0};
    ex_mirrored *made = NULL;
    int count = 0;
    ex_result result = ex_project_read(scratch_path("few.json"), &project, &error);
    const ex_mirroring mirroring = {.from = EX_SIDE_LEFT};
    if (result == EX_OK)
        result = ex_project_mirror(project, &mirroring, NULL, &made, &count, &error);
    assert_int_equal(count, result == EX_OK ? 3 : 0);
    free(made);
    ex_project_destroy(project);
    return result;
}

static void test_memory_of_sides(void **state) {
    (void)state;
    ex_project_destroy(open_strip("few.json"));
    assert_true(fail_alloc_sweep(try_sides, NULL) > 50);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_map_by_hand),
        cmocka_unit_test(test_lips_stay_apart),
        cmocka_unit_test(test_map_of_any_numbering),
        cmocka_unit_test(test_no_counterpart),
        cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_plane_is_found),
        cmocka_unit_test(test_memory_of_the_plane),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_axes_without_a_side),
        cmocka_unit_test(test_axes_that_count_the_other_way),
        cmocka_unit_test(test_axes_of_other_units),
        cmocka_unit_test(test_sides),
        cmocka_unit_test(test_memory_of_sides),
    };
    return cmocka_run_group_tests(tests, set_up, scratch_tear_down);
}
