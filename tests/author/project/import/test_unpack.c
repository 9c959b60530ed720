/*
 * Unpacking: a rig becomes a project that builds to the same bytes, whatever is in it.
 */
#include "author/project/projects.h"

#include <exemplar/author/files.h>

#include <sys/stat.h>

static int set_up(void **state) {
    if (scratch_set_up(state) != 0)
        return -1;
    write_square("m.obj", 0, 0, 0, 0);
    write_square("up.obj", 1, 2, 3, 4);
    write_square("odd.obj", 0.1 + 0.2, -1.0 / 3, 1e-7, 12345.678);
    write_cube("cube.obj", 1, 0);
    write_cube("tall.obj", 2.3, 1.0 / 3);
    return 0;
}

static void meshes_of_all_kinds(void **state) {
    (void)state;
    const char *project =
        "{'exemplar': 1, 'mesh': '%s', 'layers': [{'name': 'l', 'space': [{'name': 'a', 'min': 0, 'max': "
        "1}], 'examples': [{'name': 'rest', 'mesh': '%s', 'at': {}}, {'name': 'e', 'mesh': '%s', 'at': "
        "{'a': 1}}]}]}";
    write_text("ngons.obj",
               "v 0 0 0\nv 2 0 0.1\nv 3 1 0\nv 1 0.5 0\nv 0 2 0\nv -1 1 0\nv 5 5 5\nvt 0.1 0.7\nvt 0.3 0.2\n"
               "g one two\nf 1 2 3 4 5 6\ns 1\nf 1/1 6/2 5/1 4/2 3/1\nf 3 2 1\n"
               "t crease 2/1/0 0 1 0.30000000000000004\nt name 0/0/1 é/x\n");
    write_text("ngons2.obj", "v 0 0 1\nv 2 0 1.1\nv 3 1 1\nv 1 0.5 0.3\nv 0 2 0.7\nv -1 1 0\nv 5 5 6\n"
                             "f 1 2 3 4 5 6\nf 1 6 5 4 3\nf 3 2 1\n");
    write_text("points.obj", "v 0 0 0\nv 1 2 3\n");
    write_text("points2.obj", "v 0 1e-9 0\nv 1 2 3.5\n");
    write_text("half.obj", "v 0 0 0 1 0 0\nv 1 0 0\nv 0 1 0\nvn 0 3 4\nvn 0 0 0\nf 1//1 2//2 3//1\nf 3 2 1\n");
    write_text("half2.obj", "v 0 0 0\nv 1 0 0\nv 0.1 1 0.7\nf 1 2 3\nf 3 2 1\n");
    const char *pairs[][2] = {{"cube.obj", "tall.obj"},
                              {"ngons.obj", "ngons2.obj"},
                              {"points.obj", "points2.obj"},
                              {"half.obj", "half2.obj"},
                              {"m.obj", "odd.obj"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char text[1000];
        snprintf(text, sizeof text, project, pairs[i][0], pairs[i][0], pairs[i][1]);
        check_round_trip(text);
    }
    check_round_trip("{'exemplar': 1, 'mesh': 'cube.obj', 'layers': []}");
    check_round_trip("{'exemplar': 1, 'mesh': 'cube.obj', 'up': 'z', 'unit': 'in', 'layers': [{'name': 'l', 'space': "
                     "[{'name': 'a', 'min': 0, 'max': 1}], 'weigh': {'kind': 'direct'}, 'examples': [{'name': 'e', "
                     "'mesh': 'tall.obj'}]}]}");
}

static void weighers_of_all_kinds(void **state) {
    (void)state;
    const char *weighers[] = {
        "'kind': 'cardinal'",
        "'kernel': 'multiquadric', 'linear': false, 'radius': 0.30000000000000004, 'ridge': 1e-10",
        "'kind': 'shepard', 'power': 2.5",
        "'kind': 'nearest', 'k': 1",
        "'kind': 'nearest', 'k': 5, 'form': 'paper'",
    };
    for (size_t i = 0; i < sizeof weighers / sizeof *weighers; i++) {
        char text[2000];
        snprintf(text, sizeof text,
                 "{'exemplar': 1, 'mesh': 'm.obj', 'layers': [{'name': 'l', 'space': [\n"
                 "{'name': 'a', 'unit': '°', 'min': -0.1, 'max': 0.7, 'rest': 0.1, 'clamp': true, 'scale': 3},\n"
                 "{'name': 'r', 'rotation': 'full', 'rest': {'x': 10, 'y': 20}, 'scale': 0.7},\n"
                 "{'name': 's', 'rotation': 'swing', 'about': [1, 2, 3]},\n"
                 "{'name': 't', 'rotation': 'twist', 'about': 'z', 'unit': 'turn', 'rest': [0, 0, -1, -1]}],\n"
                 "'weigh': {%s}, 'examples': [{'name': 'a', 'mesh': 'm.obj', 'at': {}},\n"
                 "{'name': 'b', 'mesh': 'up.obj', 'at': {'a': 0.7, 'r': [0.1, 0.2, 0.3, -0.4]}},\n"
                 "{'name': 'c', 'mesh': 'odd.obj', 'at': {'a': -0.1, 't': {'z': 33.3}}},\n"
                 "{'name': 'd', 'mesh': 'odd.obj', 'at': {'s': {'x': -70, 'y': 3, 'z': 11}}}],\n"
                 "'pseudo': [{'from': {'a': 0.3}, 'at': {'a': 0.35, 's': {'y': 100}}},\n"
                 "{'weights': {'c': 0.1, 'a': -0.30000000000000004}, 'at': {'a': 0.2}}]}]}",
                 weighers[i]);
        check_round_trip(text);
    }
}

static void layers_that_share_axes(void **state) {
    (void)state;
    write_text("mask.txt", "0 0.3\n1 1\n2 0.1\n");
    check_round_trip(
        "{'exemplar': 1, 'mesh': 'cube.obj', 'layers': [\n"
        "{'name': 'one', 'space': [{'name': 'a', 'min': 0, 'max': 1, 'unit': 'm'}, {'name': 'b', 'min': 0, 'max': "
        "1}],\n"
        " 'examples': [{'name': 'e', 'mesh': 'cube.obj', 'at': {}}, {'name': 'f', 'mesh': 'tall.obj', 'at': {'b': "
        "1}}],\n"
        " 'mask': {'group': 'top'}},\n"
        "{'name': 'two', 'space': [{'name': 'b', 'min': -2, 'max': 3, 'clamp': true}, {'name': 'c', 'min': 0, 'max': "
        "1}],\n"
        " 'weigh': {'kind': 'shepard'},\n"
        " 'examples': [{'name': 'e', 'mesh': 'tall.obj', 'at': {'a': 1}}, {'name': 'f', 'mesh': 'cube.obj', 'at': "
        "{'c': 1}}],\n"
        " 'mask': {'colour': 'r'}},\n"
        "{'name': 'three', 'space': [{'name': 'c', 'min': 0, 'max': 1}, {'name': 'a', 'min': 0, 'max': 1}],\n"
        " 'weigh': {'kind': 'direct'}, 'mask': {'file': 'mask.txt'},\n"
        " 'examples': [{'name': 'x', 'mesh': 'tall.obj'}, {'name': 'y', 'mesh': 'tall.obj'}]}]}");
}

static void names_of_all_kinds(void **state) {
    (void)state;
    check_round_trip(
        "{'exemplar': 1, 'mesh': 'm.obj', 'layers': [\n"
        "{'name': 'a/b \\\\ ..', 'space': [{'name': '肘/x', 'min': 0, 'max': 1}],\n"
        " 'examples': [{'name': '../../evil', 'mesh': 'm.obj', 'at': {}},\n"
        "              {'name': 'größer als alles andere, und länger als ein Dateiname sein sollte, der nicht "
        "abgeschnitten werden muss', 'mesh': 'up.obj', 'at': {'肘/x': 1}},\n"
        "              {'name': '.._.._evil', 'mesh': 'odd.obj', 'at': {'肘/x': 0.5}}]}]}");
}

/* Tiny numbers next to large ones, numbers that decimals cannot hold or with fewer digits than usual, and signed
 * zeros. */
static void awkward_numbers(void **state) {
    (void)state;
    write_text("n.obj",
               "v 100000 1e-10 0.30000000000000004\nv -0 1e-40 -1e-45\nv 1e-320 33554433 -0.1\nv 1e30 1 16777217\n"
               "v 1 -100000.1 0.7\nf 1 2 3\nf 1 3 4 5\n");
    write_text("n2.obj", "v 100000.0000000001 2e-10 0.3\nv -1e-320 1.1e-40 -0\nv -1e-50 33554432.3 -0.1000000001\n"
                         "v 1.00000001e30 0.99999999 1e-3\nv 1.0000000000000002 -100000.10000000002 1e-30\n"
                         "f 1 2 3\nf 1 3 4 5\n");
    write_text("n.txt", "0 0.3\n1 0.1\n2 0\n3 0.7\n4 0.9999999\n");
    for (int masked = 0; masked < 2; masked++) {
        char text[800];
        snprintf(
            text, sizeof text,
            "{'exemplar': 1, 'mesh': 'n.obj', 'layers': [{'name': 'l', 'space': [{'name': 'a', 'min': 1e-10, 'max': "
            "100000, 'rest': 0.30000000000000004}, {'name': 'b', 'min': -0.0, 'max': 1e-300, 'scale': 1}], 'examples': "
            "[{'name': 'e', 'mesh': 'n2.obj', 'at': {'a': 1e-10, 'b': -0.0}}, {'name': 'f', 'mesh': 'n.obj', 'at': "
            "{'a': "
            "100000}}]%s}]}",
            masked ? ", 'mask': {'file': 'n.txt'}" : "");
        check_round_trip(text);
    }
}

/* Forms whose numbers are all random, over many magnitudes, with masks. */
static void random_forms(void **state) {
    (void)state;
    uint32_t seed = 12345;
    for (int turn = 0; turn < 8; turn++) {
        enum { VERTICES = 60 };
        char texts[3][8000];
        size_t sizes[3] = {0, 0, 0};
        for (int v = 0; v < VERTICES; v++) {
            double numbers[7];
            for (int i = 0; i < 7; i++) {
                seed = seed * 1664525 + 1013904223;
                double sign = seed >> 31 ? -1 : 1, mantissa = 1 + (double)(seed & 0xFFFFFF) / 0x1000000;
                numbers[i] = sign * ldexp(mantissa, (int)(seed >> 24 & 63) - 40);
            }
            for (int f = 0; f < 2; f++) {
                const double *p = numbers + 3 * f;
                /* Every other form is the mesh, moved by little. */
                double step = turn % 2 && f ? 1 : 0;
                sizes[f] += (size_t)snprintf(texts[f] + sizes[f], sizeof texts[f] - sizes[f], "v %.17g %.17g %.17g\n",
                                             p[0] * 1e-9 + step * numbers[0], p[1] + step * numbers[1], p[2]);
            }
            sizes[2] += (size_t)snprintf(texts[2] + sizes[2], sizeof texts[2] - sizes[2], "%d %.17g\n", v,
                                         fabs(numbers[6]) < 1 ? fabs(numbers[6]) : 0.3);
        }
        scratch_write("r.obj", texts[0], sizes[0]);
        scratch_write("s.obj", texts[1], sizes[1]);
        scratch_write("r.txt", texts[2], sizes[2]);
        check_round_trip(
            "{'exemplar': 1, 'mesh': 'r.obj', 'layers': [{'name': 'l', 'space': [{'name': 'a', 'min': 0, 'max': "
            "1}], 'weigh': {'kind': 'direct'}, 'examples': [{'name': 'e', 'mesh': 's.obj'}], 'mask': {'file': "
            "'r.txt'}}, {'name': 'k', 'space': [{'name': 'a', 'min': 0, 'max': 1}], 'weigh': {'kind': "
            "'direct'}, 'examples': [{'name': 'e', 'mesh': 's.obj'}]}]}");
    }
}

static void overwrites_only_when_told(void **state) {
    (void)state;
    ex_rig *rig = build_text("{'exemplar': 1, 'mesh': 'm.obj', 'layers': []}");
    ex_error error;
    assert_int_equal(ex_make_directory(scratch_path("kept"), NULL), EX_OK);
    write_text("kept/mine.json", "mine");
    assert_int_equal(ex_project_unpack(rig, scratch_path("kept"), "mine", false, &error), EX_ERROR_FILE);
    assert_non_null(strstr(error.text, "kept/mine.json exists already"));
    char *text = scratch_read("kept/mine.json", NULL);
    assert_string_equal(text, "mine");
    free(text);
    struct stat status;
    assert_int_not_equal(stat(scratch_path("kept/mesh.obj"), &status), 0);
    /* Another name is no loss; a note is enough. */
    assert_int_equal(ex_project_unpack(rig, scratch_path("kept"), "other", false, &error), EX_OK);
    assert_int_equal(ex_project_unpack(rig, scratch_path("kept"), "mine", true, &error), EX_OK);
    text = scratch_read("kept/mine.json", NULL);
    assert_string_equal(text, "{\"exemplar\": 1, \"mesh\": \"mesh.obj\", \"layers\": []}\n");
    free(text);
    ex_rig_destroy(rig);
}

static void names_a_folder_that_cannot_be(void **state) {
    (void)state;
    ex_rig *rig = build_text("{'exemplar': 1, 'mesh': 'm.obj', 'layers': []}");
    ex_error error;
    write_text("file", "");
    assert_int_equal(ex_project_unpack(rig, scratch_path("file/folder"), "x", false, &error), EX_ERROR_FILE);
    assert_non_null(strstr(error.text, "file"));
    ex_rig_destroy(rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(meshes_of_all_kinds),       cmocka_unit_test(weighers_of_all_kinds),
        cmocka_unit_test(layers_that_share_axes),    cmocka_unit_test(names_of_all_kinds),
        cmocka_unit_test(awkward_numbers),           cmocka_unit_test(random_forms),
        cmocka_unit_test(overwrites_only_when_told), cmocka_unit_test(names_a_folder_that_cannot_be),
    };
    return cmocka_run_group_tests_name("author.project.unpack", tests, set_up, scratch_tear_down);
}
