/* Differences between meshes: distances worked by hand, and each attribute of a mesh changed alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <exemplar/author/formats.h>

#include "support/check.h"
#include "support/meshes.h"

static ex_mesh *parse(const char *text) {
    ex_mesh *mesh = NULL;
    ex_error error = {0};
    if (ex_obj_parse(text, strlen(text), "test", &mesh, &error) != EX_OK)
        fail_msg("%s", error.text);
    return mesh;
}

static ex_mesh_difference compare_texts(const char *a, const char *b, double tolerance) {
    ex_mesh *first = parse(a), *second = parse(b);
    const ex_mesh_difference d = ex_mesh_compare(first, second, tolerance);
    ex_mesh_destroy(first);
    ex_mesh_destroy(second);
    return d;
}

static void same(void **state) {
    (void)state;
    const ex_mesh_difference d = compare_texts(obj_with_everything, obj_with_everything, 0);
    assert_true(ex_mesh_difference_none(&d));
    assert_true(d.first_face == -1 && d.measured && d.moved_count == 0 && d.farthest == 0 && d.rms == 0);
    ex_mesh *empty = ex_mesh_create();
    assert_non_null(empty);
    const ex_mesh_difference nothing = ex_mesh_compare(empty, empty, 0);
    assert_true(ex_mesh_difference_none(&nothing));
    assert_int_equal(nothing.farthest_vertex, -1);
    ex_mesh_destroy(empty);
}

/* Distances 0, 5, 2 and 0; RMS is the root of 29/4. */
static void distances(void **state) {
    (void)state;
    const char *a = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 2 1 2\nf 1 2 3\n",
               *b = "v 0 0 0\nv 1 3 4\nv 0 1 -2\nv 2 1 2\nf 1 2 3\n";
    ex_mesh_difference d = compare_texts(a, b, 0);
    assert_false(ex_mesh_difference_none(&d));
    assert_int_equal(d.moved_count, 2);
    assert_int_equal(d.farthest_vertex, 1);
    assert_near(d.farthest, 5, 1e-15);
    assert_near(d.rms, sqrt(29.0 / 4), 1e-15);
    assert_near(d.size, 3, 1e-15);
    assert_int_equal(d.first_face, -1);
    d = compare_texts(a, b, 2);
    assert_int_equal(d.moved_count, 1);
    d = compare_texts(a, b, 5);
    assert_int_equal(d.moved_count, 0);
    assert_true(ex_mesh_difference_none(&d));
    /* Neither too large nor too small to square. */
    d = compare_texts("v 0 0 0\nv 0 0 0\n", "v 3e200 4e200 0\nv 0 0 0\n", 0);
    assert_near(d.farthest / 5e200, 1, 1e-15);
    assert_near(d.rms / (5e200 / sqrt(2)), 1, 1e-15);
    d = compare_texts("v 0 0 0\nv 0 0 0\n", "v 3e-200 4e-200 0\nv 0 0 0\n", 0);
    assert_near(d.rms / (5e-200 / sqrt(2)), 1, 1e-15);
    assert_int_equal(d.moved_count, 1);
}

#define SQUARE "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"

static void faces(void **state) {
    (void)state;
    ex_mesh_difference d = compare_texts(SQUARE "f 1 2 3\nf 1 3 4\n", SQUARE "f 1 2 3\nf 3 4 1\n", 1);
    assert_int_equal(d.first_face, 1);
    assert_true(d.measured && !ex_mesh_difference_none(&d));
    d = compare_texts(SQUARE "f 1 2 3 4\n", SQUARE "f 1 2 3\n", 1);
    assert_int_equal(d.first_face, 0);
    d = compare_texts(SQUARE "f 1 2 3\n", SQUARE "f 1 2 3\nf 1 3 4\n", 1);
    assert_int_equal(d.first_face, 1);
    d = compare_texts(SQUARE, "v 0 0 0\n", 1);
    assert_true(!d.measured && d.first_face == -1 && !ex_mesh_difference_none(&d));
}

/* Each pair differs in one attribute; numbering alone does not make a difference. */
static void what_corners_and_faces_carry(void **state) {
    (void)state;
    const char *base = SQUARE "vt 0 0\nvt 1 0\nvn 0 0 1\nvn 0 1 0\ng a\nusemtl m\nf 1/1/1 2/2/1 3/1/1\n";
    const struct {
        const char *text;
        size_t field; /* 0: none */
    } others[] = {
        {base, 0},
        {SQUARE "vt 9 9\nvt 1 0\nvt 0 0\nvn 0 0 1\ng a\nusemtl m\nf 1/3/1 2/2/1 3/3/1\n", 0},
        {SQUARE "vt 0 0\nvt 1 0\nvn 0 0 1\ng a\nusemtl m\nf 1/1/1 2/2/1 3/2/1\n",
         offsetof(ex_mesh_difference, texcoords)},
        {SQUARE "vn 0 0 1\ng a\nusemtl m\nf 1//1 2//1 3//1\n", offsetof(ex_mesh_difference, texcoords)},
        {SQUARE "vt 0 0\nvt 1 0\nvn 0 0 1\nvn 0 1 0\ng a\nusemtl m\nf 1/1/1 2/2/1 3/1/2\n",
         offsetof(ex_mesh_difference, normals)},
        {SQUARE "vt 0 0\nvt 1 0\nvn 0 0 1\ng b\nusemtl m\nf 1/1/1 2/2/1 3/1/1\n", offsetof(ex_mesh_difference, groups)},
        {SQUARE "vt 0 0\nvt 1 0\nvn 0 0 1\ng a\nf 1/1/1 2/2/1 3/1/1\n", offsetof(ex_mesh_difference, materials)},
        {SQUARE "vt 0 0\nvt 1 0\nvn 0 0 1\ng a\nusemtl m\nf 1/1/1 2/2/1 3/1/1\nt corner 1/1/0 0 2\n",
         offsetof(ex_mesh_difference, tags)},
    };
    static const size_t fields[] = {offsetof(ex_mesh_difference, colours),   offsetof(ex_mesh_difference, texcoords),
                                    offsetof(ex_mesh_difference, normals),   offsetof(ex_mesh_difference, groups),
                                    offsetof(ex_mesh_difference, materials), offsetof(ex_mesh_difference, tags)};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const ex_mesh_difference d = compare_texts(base, others[i].text, 1e-9);
        for (size_t f = 0; f < sizeof fields / sizeof *fields; f++)
            if (*((const bool *)((const char *)&d + fields[f])) != (fields[f] == others[i].field))
                fail_msg("text %zu, field %zu", i, f);
        assert_int_equal(ex_mesh_difference_none(&d), others[i].field == 0);
    }
}

static void tags_and_colours(void **state) {
    (void)state;
    const char *tagged = SQUARE "f 1 2 3 4\nt crease 2/1/0 0 1 2\nt name 0/0/1 a\n";
    const char *others[] = {SQUARE "f 1 2 3 4\nt crease 2/1/0 0 1 2.5\nt name 0/0/1 a\n",
                            SQUARE "f 1 2 3 4\nt crease 2/1/0 1 0 2\nt name 0/0/1 a\n",
                            SQUARE "f 1 2 3 4\nt crease 2/1/0 0 1 2\nt name 0/0/1 b\n",
                            SQUARE "f 1 2 3 4\nt crease 2/1/0 0 1 2\nt same 0/0/1 a\n"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const ex_mesh_difference d = compare_texts(tagged, others[i], 0.1);
        assert_true(d.tags && !ex_mesh_difference_none(&d));
    }
    ex_mesh_difference d = compare_texts(tagged, others[0], 0.5);
    assert_false(d.tags);
    d = compare_texts("v 0 0 0 1 0 0\n", "v 0 0 0 0.5 0 0\n", 0);
    assert_true(d.colours);
    d = compare_texts("v 0 0 0 1 0 0\n", "v 0 0 0 0.5 0 0\n", 0.5);
    assert_false(d.colours);
    d = compare_texts("v 0 0 0 1 0 0\n", "v 0 0 0\n", 0.5);
    assert_true(d.colours);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same),
        cmocka_unit_test(distances),
        cmocka_unit_test(faces),
        cmocka_unit_test(what_corners_and_faces_carry),
        cmocka_unit_test(tags_and_colours),
    };
    return cmocka_run_group_tests_name("author.mesh.difference", tests, NULL, NULL);
}
