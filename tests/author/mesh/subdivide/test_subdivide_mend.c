/*
 * Subdivision of meshes that are no surface: reversed, repeated and degenerate faces give the same as the mesh without
 * these faults; edges of three faces stay sharp; any faces at all can be subdivided.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <exemplar/author/formats.h>
#include <exemplar/author/mesh.h>

#include "author/mesh/subdivide/subdivide.h"
#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/meshes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const ex_scheme schemes[] = {EX_SCHEME_CATMULL_CLARK, EX_SCHEME_LOOP, EX_SCHEME_BILINEAR};

#define POINTS "v -1 -1 -1\nv 1 -1 -1\nv 1 1 -1\nv -1 1 -1\nv -1 -1 1\nv 1 -1 1\nv 1 1 1\nv -1 1 1\n"
#define PLACES "vt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\n"
static const char *const faces[6] = {"f 1/1 4/2 3/3 2/4\n", "f 5/1 6/2 7/3 8/4\n", "f 1/1 2/2 6/3 5/4\n",
                                     "f 2/1 3/2 7/3 6/4\n", "f 3/1 4/2 8/3 7/4\n", "f 4/1 1/2 5/3 8/4\n"};
static const char *const reversed[6] = {"f 1/1 2/4 3/3 4/2\n", "f 5/1 8/4 7/3 6/2\n", "f 1/1 5/4 6/3 2/2\n",
                                        "f 2/1 6/4 7/3 3/2\n", "f 3/1 7/4 8/3 4/2\n", "f 4/1 8/4 5/3 1/2\n"};

static ex_mesh *parse(const char *text) {
    ex_mesh *mesh = NULL;
    ex_error error = {.result = EX_OK};
    if (ex_obj_parse(text, strlen(text), "test", &mesh, &error) != EX_OK)
        fail_msg("%s", error.text);
    return mesh;
}

/* A cube with the faces of these bits reversed, and more faces after them. */
static ex_mesh *cube(unsigned bits, const char *more) {
    char text[2000] = POINTS PLACES;
    for (int f = 0; f < 6; f++)
        strcat(text, bits >> f & 1 ? reversed[f] : faces[f]);
    strcat(text, more);
    return parse(text);
}

static ex_subdivision *subdivide(const ex_mesh *mesh, ex_scheme scheme, int levels) {
    ex_subdivide_def def = {.scheme = scheme, .levels = levels, .limit = true};
    ex_subdivision *s = NULL;
    ex_error error = {.result = EX_OK};
    if (ex_mesh_subdivide(mesh, &def, &s, &error) != EX_OK)
        fail_msg("%s", error.text);
    return s;
}

/* All levels and the limit are the same to the bit. */
static void assert_same(const ex_mesh *clean, const ex_mesh *broken, ex_scheme scheme, ex_subdivision_mends *mends) {
    ex_subdivision *s = subdivide(clean, scheme, 2), *t = subdivide(broken, scheme, 2);
    for (int level = 1; level <= 3; level++) {
        ex_mesh *a = NULL, *b = NULL;
        const int at = level == 3 ? EX_LEVEL_LIMIT : level;
        assert_int_equal(ex_subdivision_mesh(s, clean, at, &a, NULL), EX_OK);
        assert_int_equal(ex_subdivision_mesh(t, broken, at, &b, NULL), EX_OK);
        assert_int_equal(a->vertex_count, b->vertex_count);
        assert_int_equal(a->face_count, b->face_count);
        assert_true(meshes_are_same(a, b));
        ex_mesh_destroy(a);
        ex_mesh_destroy(b);
    }
    assert_int_equal(s->levels[0].face_count, t->levels[0].face_count);
    assert_memory_equal(s->levels[0].corners, t->levels[0].corners, (size_t)s->levels[0].corner_count * sizeof(int));
    const ex_subdivision_mends none = {0};
    assert_memory_equal(&s->mends, &none, sizeof none);
    *mends = t->mends;
    ex_subdivision_destroy(s);
    ex_subdivision_destroy(t);
}

static int bit_count(unsigned bits) {
    int count = 0;
    for (; bits; bits &= bits - 1)
        count++;
    return count;
}

static void turns_the_smaller_number_of_faces(void **state) {
    (void)state;
    for (unsigned bits = 0; bits < 64; bits++) {
        const int count = bit_count(bits);
        /* The greater number decides; if there is none, the first face. */
        const bool out = count > 3 || (count == 3 && bits & 1);
        const unsigned wrong = out ? ~bits & 63 : bits;
        ex_mesh *clean = cube(out ? 63 : 0, ""), *broken = cube(bits, "");
        for (int i = 0; i < 3; i++) {
            ex_subdivision_mends mends;
            assert_same(clean, broken, schemes[i], &mends);
            assert_int_equal(mends.turned_count, bit_count(wrong));
            for (int f = 0; f < 6 && wrong; f++)
                if (wrong >> f & 1) {
                    assert_int_equal(mends.turned_face, f);
                    break;
                }
            assert_int_equal(mends.repeated_count + mends.duplicate_count + mends.sharp_count, 0);
        }
        ex_mesh_destroy(clean);
        ex_mesh_destroy(broken);
    }
}

/* Each part has a majority of its own. */
static void looks_at_parts(void **state) {
    (void)state;
    ex_mesh *mesh = parse("v 0 0 0\nv 1 0 0\nv 2 0 0\nv 3 0 0\nv 0 1 0\nv 1 1 0\nv 2 1 0\nv 3 1 0\nv 9 0 0\nv 9 1 0\n"
                          "v 9 2 0\nf 1 2 6 5\nf 6 7 3 2\nf 3 4 8 7\nf 11 10 9\n");
    ex_subdivision *s = subdivide(mesh, EX_SCHEME_CATMULL_CLARK, 1);
    assert_int_equal(s->mends.turned_count, 1);
    assert_int_equal(s->mends.turned_face, 1);
    assert_int_equal(s->levels[0].corners[4], 5);
    assert_int_equal(s->levels[0].corners[5], 1);
    assert_int_equal(s->levels[0].corners[12], 10);
    ex_subdivision_destroy(s);
    ex_mesh_destroy(mesh);
}

static void leaves_out_what_is_twice_or_has_no_area(void **state) {
    (void)state;
    static const struct {
        const char *more;
        int repeated, duplicates, first;
    } cases[] = {
        {"f 1/1 4/2 3/3 2/4\n", 0, 1, 6}, /* the same */
        {"f 3/1 4/2 1/3 2/4\nf 3/1 4/2 1/3 2/4\nf 1/1 2/2 6/3 5/4\n", 0, 3,
         6},                          /* the other way round, from elsewhere */
        {"f 1/1 1/2 2/3\n", 1, 0, 6}, /* a vertex twice in a row */
        {"f 1/1 2/2 2/3 1/4\nf 3/1 3/2 3/3\n", 2, 0, 6},
        {"f 1/1 2/2 1/3 3/4\n", 1, 0, 6}, /* there and back */
        {"f 1/1 7/1 1/1 7/1\nf 5/1 6/2 7/3 8/4\n", 1, 1, 7},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (int i = 0; i < 3; i++) {
            ex_mesh *clean = cube(0, ""), *broken = cube(0, cases[k].more);
            ex_subdivision_mends mends;
            assert_same(clean, broken, schemes[i], &mends);
            assert_int_equal(mends.repeated_count, cases[k].repeated);
            assert_int_equal(mends.duplicate_count, cases[k].duplicates);
            assert_int_equal(cases[k].duplicates ? mends.duplicate_face : mends.repeated_face, cases[k].first);
            assert_int_equal(mends.turned_count + mends.sharp_count, 0);
            ex_mesh_destroy(clean);
            ex_mesh_destroy(broken);
        }
    /* A quad with a corner twice is a triangle. */
    ex_mesh *clean = parse("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3\nf 1 3 4\n");
    ex_mesh *broken = parse("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 2 3\nf 1 3 4 4 1\n");
    for (int i = 0; i < 3; i++) {
        ex_subdivision_mends mends;
        assert_same(clean, broken, schemes[i], &mends);
        assert_int_equal(mends.repeated_count, 2);
        assert_int_equal(mends.repeated_face, 0);
    }
    ex_mesh_destroy(clean);
    ex_mesh_destroy(broken);
}

/* A sheet of two sides that is closed all around is a surface, as it always was. */
static void keeps_sheets_of_two_sides(void **state) {
    (void)state;
    ex_mesh *mesh = parse("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\nf 4 3 2 1\n");
    ex_subdivision *s = subdivide(mesh, EX_SCHEME_CATMULL_CLARK, 1);
    assert_int_equal(s->levels[0].face_count, 2);
    assert_int_equal(s->mends.duplicate_count, 0);
    ex_subdivision_destroy(s);
    ex_mesh_destroy(mesh);
}

/* Three squares at one edge: its points are shared and stay on it, on every level and in the limit. */
static void keeps_edges_of_three_faces_sharp(void **state) {
    (void)state;
    static const char fan[] = "v 0 0 0\nv 0 4 0\nv 4 0 0\nv 4 4 0\nv -4 0 0\nv -4 4 0\nv 0 0 4\nv 0 4 4\n"
                              "f 1 3 4 2\nf 1 2 6 5\nf 1 2 8 7\n";
    ex_mesh *mesh = parse(fan);
    for (int i = 0; i < 3; i++) {
        ex_subdivision *s = subdivide(mesh, schemes[i], 3);
        assert_int_equal(s->mends.sharp_count, 1);
        assert_int_equal(s->mends.sharp_edge[0], 0);
        assert_int_equal(s->mends.sharp_edge[1], 1);
        for (int level = 1; level <= 4; level++) {
            ex_mesh *out;
            assert_int_equal(ex_subdivision_mesh(s, mesh, level == 4 ? EX_LEVEL_LIMIT : level, &out, NULL), EX_OK);
            int on_edge = 0;
            for (int v = 0; v < out->vertex_count; v++) {
                const double *p = out->positions + 3 * (size_t)v;
                on_edge += p[0] == 0 && p[2] == 0;
                assert_true(p[0] == 0 || p[2] == 0 || schemes[i] == EX_SCHEME_LOOP);
            }
            assert_int_equal(on_edge, (1 << (level == 4 ? 3 : level)) + 1);
            for (int v = 0; v < 2; v++)
                assert_row_near(out->positions + 3 * v, mesh->positions + 3 * v, 3, 0);
            ex_mesh_destroy(out);
        }
        ex_subdivision_destroy(s);
    }
    ex_mesh_destroy(mesh);
}

/* A strip with half a turn has an edge at which its faces cannot agree. */
static void keeps_the_edge_of_a_moebius_strip(void **state) {
    (void)state;
    ex_mesh *mesh = parse("v 0 0 0\nv 0 0 1\nv 2 0 0\nv 2 0 1\nv 1 2 0\nv 1 2 1\nf 1 3 4 2\nf 3 5 6 4\nf 5 2 1 6\n");
    ex_subdivision *s = subdivide(mesh, EX_SCHEME_CATMULL_CLARK, 2);
    assert_int_equal(s->mends.sharp_count, 1);
    assert_int_equal(s->levels[2].face_count, 48);
    ex_subdivision_destroy(s);
    ex_mesh_destroy(mesh);
}

/* Any faces at all: points that are all the same stay there. */
static void takes_any_faces(void **state) {
    (void)state;
    uint32_t seed = 25;
    for (int round = 0; round < 300; round++) {
        char text[4000] = "";
        int size = 0;
        for (int v = 0; v < 8; v++)
            size += snprintf(text + size, sizeof text - (size_t)size, "v 1 2 3\n");
        seed = seed * 1664525u + 1013904223u;
        const int count = 1 + (int)(seed >> 28);
        for (int f = 0; f < count; f++) {
            size += snprintf(text + size, sizeof text - (size_t)size, "f");
            seed = seed * 1664525u + 1013904223u;
            const int corners = 3 + (int)(seed >> 30);
            for (int c = 0; c < corners; c++) {
                seed = seed * 1664525u + 1013904223u;
                size += snprintf(text + size, sizeof text - (size_t)size, " %d", 1 + (int)(seed >> 29));
            }
            size += snprintf(text + size, sizeof text - (size_t)size, "\n");
        }
        ex_mesh *mesh = parse(text), *out;
        ex_subdivision *s = subdivide(mesh, schemes[round % 3], 2);
        assert_int_equal(ex_subdivision_mesh(s, mesh, EX_LEVEL_LIMIT, &out, NULL), EX_OK);
        for (int v = 0; v < out->vertex_count; v++)
            assert_row_near(out->positions + 3 * (size_t)v, ((double[]){1, 2, 3}), 3, 1e-5);
        ex_mesh_destroy(out);
        ex_subdivision_destroy(s);
        ex_mesh_destroy(mesh);
    }
}

static void says_what_it_did(void **state) {
    (void)state;
    char text[EXI_MEND_SIZE];
    ex_subdivision_mends mends = {0};
    for (int i = 0; i < EXI_MEND_KINDS; i++)
        assert_false(exi_mend_describe(&mends, (exi_mend)i, text));
    mends = (ex_subdivision_mends){1, 7, 2, 8, 3, 9, 1, {4, 5}};
    assert_true(exi_mend_describe(&mends, EXI_MEND_TURNED, text));
    assert_string_equal(text, "face 7 (counting from 0) runs against its neighbours: subdividing turns it round");
    assert_true(exi_mend_describe(&mends, EXI_MEND_REPEATED, text));
    assert_string_equal(text,
                        "2 faces, the first is face 8 (counting from 0), have a vertex more than once: subdividing "
                        "merges their corners there, or leaves them out");
    assert_true(exi_mend_describe(&mends, EXI_MEND_DUPLICATE, text));
    assert_string_equal(text, "3 faces, the first is face 9 (counting from 0), have the same vertices as others: "
                              "subdividing leaves them out");
    assert_true(exi_mend_describe(&mends, EXI_MEND_SHARP, text));
    assert_string_equal(text,
                        "the edge between vertices 4 and 5 (counting from 0) has more than two faces, or two that "
                        "cannot face the same way: subdividing keeps it sharp");
    mends.sharp_count = 2147483647;
    mends.sharp_edge[0] = mends.sharp_edge[1] = 2147483647;
    assert_true(exi_mend_describe(&mends, EXI_MEND_SHARP, text));
    assert_non_null(strstr(text, "subdividing keeps them sharp")); /* it fits */
}

static ex_result subdivide_with_little_memory(void *context) {
    ex_subdivide_def def = {.scheme = EX_SCHEME_CATMULL_CLARK, .levels = 1};
    ex_subdivision *s = NULL;
    ex_error error = {.result = EX_OK};
    const ex_result result = ex_mesh_subdivide(context, &def, &s, &error);
    if ((result == EX_OK) != (s != NULL) || error.result != result)
        return EX_ERROR_DATA;
    ex_subdivision_destroy(s);
    return result;
}

static void survives_failing_memory(void **state) {
    (void)state;
    ex_mesh *mesh = cube(5, "f 1/1 1/2 2/3\nf 1/1 2/2 6/3 5/4\n");
    assert_true(fail_alloc_sweep(subdivide_with_little_memory, mesh) >= 20);
    ex_mesh_destroy(mesh);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turns_the_smaller_number_of_faces),
        cmocka_unit_test(looks_at_parts),
        cmocka_unit_test(leaves_out_what_is_twice_or_has_no_area),
        cmocka_unit_test(keeps_sheets_of_two_sides),
        cmocka_unit_test(keeps_edges_of_three_faces_sharp),
        cmocka_unit_test(keeps_the_edge_of_a_moebius_strip),
        cmocka_unit_test(takes_any_faces),
        cmocka_unit_test(says_what_it_did),
        cmocka_unit_test(survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
