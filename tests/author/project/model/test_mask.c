/* Masks: from a file, from a group of faces, from a colour, and every error. */
#include "author/project/projects.h"

static int set_up(void **state) {
    if (scratch_set_up(state) != 0)
        return -1;
    write_text("m.obj", "v 0 0 0 0 0.25 1\nv 1 0 0 0.5 0 0\nv 1 1 0 1 1 1\nv 0 1 0 0.75 0 0\nv 2 0 0 0 0 0.5\n"
                        "g left\nf 1 2 3\ng right side\nf 1 3 4\ng empty\n");
    write_text("up.obj", "v 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\nv 2 0 1\nf 1 2 3\nf 1 3 4\n");
    write_text("plain.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 2 0 0\nf 1 2 3\nf 1 3 4\n");
    return 0;
}

static ex_result build_with(const char *mesh, const char *mask, ex_rig **rig, ex_error *error) {
    char text[600];
    snprintf(text, sizeof text,
             "{'exemplar': 1, 'mesh': '%s', 'layers': [{'name': 'l', 'space': [{'name': 'a', 'min': 0, 'max': 1}],\n"
             "'weigh': {'kind': 'direct'}, 'examples': [{'name': 'up', 'mesh': 'up.obj'}], 'mask': %s}]}",
             mesh, mask);
    ex_project *project = parse_project(text);
    ex_result result = ex_project_build(project, NULL, rig, error);
    ex_project_destroy(project);
    return result;
}

/* The example lifts every vertex by 1, so that its stored difference is the mask. */
static void check_mask(const char *mask, const double expected[5]) {
    ex_rig *rig = NULL;
    ex_error error;
    if (build_with("m.obj", mask, &rig, &error) != EX_OK)
        fail_msg("%s: %s", mask, error.text);
    float delta[15];
    ex_rig_example_delta(rig, 0, 0, delta);
    for (int v = 0; v < 5; v++) {
        if ((double)delta[3 * v + 2] != expected[v])
            fail_msg("%s: vertex %d has %g", mask, v, (double)delta[3 * v + 2]);
        assert_false(signbit(delta[3 * v]));
    }
    ex_rig_destroy(rig);
}

static void reads_masks(void **state) {
    (void)state;
    write_text("some.txt", "1 0.25\n# 2 1\n  4 1\r\n\n2\t.5 # a half\n1 0.75");
    write_text("none.txt", "");
    check_mask("{'file': 'some.txt'}", (double[]){0, 0.75, 0.5, 0, 1});
    check_mask("{'file': 'none.txt'}", (double[]){0, 0, 0, 0, 0});
    check_mask("{'group': 'left'}", (double[]){1, 1, 1, 0, 0});
    check_mask("{'group': 'right'}", (double[]){1, 0, 1, 1, 0});
    check_mask("{'group': 'side'}", (double[]){1, 0, 1, 1, 0});
    check_mask("{'group': 'right side'}", (double[]){1, 0, 1, 1, 0});
    check_mask("{'colour': 'r'}", (double[]){0, 0.5, 1, 0.75, 0});
    check_mask("{'colour': 'g'}", (double[]){0.25, 0, 1, 0, 0});
    check_mask("{'colour': 'b'}", (double[]){1, 0, 1, 0, 0.5});
}

static void refuses_masks(void **state) {
    (void)state;
    const struct {
        const char *mesh, *file, *mask;
        ex_result result;
        const char *words;
    } cases[] = {
        {"m.obj", "", "{'file': 'missing.txt'}", EX_ERROR_FILE, "missing.txt"},
        {"m.obj", "0 1\nx 1\n", "{'file': 'bad.txt'}", EX_ERROR_FORMAT, "bad.txt:2: a line 'vertex value'"},
        {"m.obj", "0\n", "{'file': 'bad.txt'}", EX_ERROR_FORMAT, "bad.txt:1: "},
        {"m.obj", "0 1 2\n", "{'file': 'bad.txt'}", EX_ERROR_FORMAT, "bad.txt:1: "},
        {"m.obj", "1.5 1\n", "{'file': 'bad.txt'}", EX_ERROR_FORMAT, "bad.txt:1: "},
        {"m.obj", "0 one\n", "{'file': 'bad.txt'}", EX_ERROR_FORMAT, "bad.txt:1: "},
        {"m.obj", "0 nan\n", "{'file': 'bad.txt'}", EX_ERROR_FORMAT, "bad.txt:1: "},
        {"m.obj", "\n\n5 1\n", "{'file': 'bad.txt'}", EX_ERROR_DATA, "bad.txt:3: there is no vertex 5: the mesh has 5"},
        {"m.obj", "-1 1\n", "{'file': 'bad.txt'}", EX_ERROR_DATA, "bad.txt:1: there is no vertex -1"},
        {"m.obj", "0 1.0001\n", "{'file': 'bad.txt'}", EX_ERROR_DATA, "bad.txt:1: 1.0001 is outside [0, 1]"},
        {"m.obj", "0 -0.5\n", "{'file': 'bad.txt'}", EX_ERROR_DATA, "bad.txt:1: -0.5 is outside"},
        {"m.obj", "", "{'group': 'lefd'}", EX_ERROR_DATA, "no group 'lefd'; did you mean 'left'?"},
        {"m.obj", "", "{'group': 'nose'}", EX_ERROR_DATA, "'nose'"},
        {"m.obj", "", "{'group': 'righ'}", EX_ERROR_DATA, "'righ'"},
        {"plain.obj", "", "{'group': 'left'}", EX_ERROR_DATA, "no faces in a group 'left'"},
        {"plain.obj", "", "{'colour': 'r'}", EX_ERROR_DATA, "no vertex colours"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ex_rig *rig = NULL;
        ex_error error = {0};
        write_text("bad.txt", cases[i].file);
        ex_result result = build_with(cases[i].mesh, cases[i].mask, &rig, &error);
        if (result != cases[i].result || !strstr(error.text, cases[i].words) ||
            !strstr(error.text, "layer 'l', mask: "))
            fail_msg("case %zu: result %d, '%s'", i, (int)result, error.text);
        assert_null(rig);
    }
}

static void a_group_without_faces_is_said_to_be_that(void **state) {
    (void)state;
    ex_rig *rig = NULL;
    ex_error error = {0};
    assert_int_equal(build_with("m.obj", "{'group': 'empty'}", &rig, &error), EX_ERROR_DATA);
    assert_null(strstr(error.text, "did you mean 'empty'"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_masks),
        cmocka_unit_test(refuses_masks),
        cmocka_unit_test(a_group_without_faces_is_said_to_be_that),
    };
    return cmocka_run_group_tests_name("author.project.mask", tests, set_up, scratch_tear_down);
}
