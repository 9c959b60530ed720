/* Thinned scans: few vertices, all of them of the scan, and a surface that stays where it was. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "author/scan/label/label_scans.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 101 };

/* A sheet of a square metre, bent, in squares; shifted by a part of a square. */
static ex_mesh *make_sheet(double shift, bool coloured) {
    ex_mesh *mesh = ex_mesh_create();
    const int squares = (SIDE - 1) * (SIDE - 1);
    mesh->vertex_count = SIDE * SIDE;
    mesh->positions = calloc((size_t)mesh->vertex_count, 3 * sizeof *mesh->positions);
    mesh->colours = coloured ? calloc((size_t)mesh->vertex_count, 3 * sizeof *mesh->colours) : NULL;
    for (int i = 0; i < mesh->vertex_count; i++) {
        double *p = mesh->positions + 3 * (size_t)i;
        p[0] = (i % SIDE + shift) * 0.01;
        p[1] = (double)(i / SIDE) * 0.01;
        p[2] = 0.1 * sin(3 * p[0]);
        if (coloured)
            mesh->colours[3 * i] = (float)p[0];
    }
    mesh->face_count = squares;
    mesh->corner_count = 4 * squares;
    mesh->face_offsets = calloc((size_t)squares + 1, sizeof *mesh->face_offsets);
    mesh->corners = calloc(4 * (size_t)squares, sizeof *mesh->corners);
    for (int f = 0; f < squares; f++) {
        const int at = f / (SIDE - 1) * SIDE + f % (SIDE - 1), corners[4] = {at, at + 1, at + SIDE + 1, at + SIDE};
        mesh->face_offsets[f + 1] = 4 * (f + 1);
        memcpy(mesh->corners + 4 * f, corners, sizeof corners);
    }
    return mesh;
}

static double area_of(const exi_thinned *thin) {
    double area = 0;
    for (int t = 0; t < thin->triangle_count; t++) {
        const double *a = thin->positions[thin->triangles[t][0]], *b = thin->positions[thin->triangles[t][1]],
                     *c = thin->positions[thin->triangles[t][2]];
        const double cross = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
        assert_true(cross > -1e-12); /* the side stays */
        area += 0.5 * cross;
    }
    return area;
}

static void small_meshes_stay(void **state) {
    (void)state;
    ex_mesh *sheet = make_sheet(0, true);
    const ex_mesh *const one = sheet;
    exi_thinned thin;
    ex_error error = {0};
    assert_int_equal(exi_thin(&one, 1, SIDE * SIDE, &thin, &error), EX_OK);
    assert_int_equal(thin.vertex_count, SIDE * SIDE);
    assert_int_equal(thin.triangle_count, 2 * (SIDE - 1) * (SIDE - 1));
    assert_memory_equal(thin.positions, sheet->positions, sizeof(double) * 3 * SIDE * SIDE);
    assert_memory_equal(thin.colours, sheet->colours, sizeof(float) * 3 * SIDE * SIDE);
    exi_thinned_free(&thin);
    ex_mesh_destroy(sheet);
}

static void large_ones_get_few_vertices(void **state) {
    (void)state;
    ex_mesh *sheets[2] = {make_sheet(0, true), make_sheet(0.3, true)};
    exi_thinned thin;
    ex_error error = {0};
    for (int count = 1; count <= 2; count++) {
        assert_int_equal(exi_thin((const ex_mesh *const *)sheets, count, 1500, &thin, &error), EX_OK);
        assert_true(thin.vertex_count <= 1500 && thin.vertex_count > 700);
        for (int v = 0; v < thin.vertex_count; v++) { /* a vertex of the scan, with its colour */
            assert_true(fabs(thin.positions[v][2] - 0.1 * sin(3 * thin.positions[v][0])) < 1e-12);
            assert_true(fabs((double)thin.colours[v][0] - thin.positions[v][0]) < 1e-6);
        }
        if (count == 1)
            assert_true(fabs(area_of(&thin) - 1) < 0.08); /* less half a cell at the rim, and no sheet twice */
        exi_thinned_free(&thin);
    }
    ex_mesh_destroy(sheets[0]);
    ex_mesh_destroy(sheets[1]);
}

static void points_have_no_triangles(void **state) {
    (void)state;
    ex_mesh *sheet = make_sheet(0, false);
    const ex_mesh *const one = sheet;
    exi_thinned thin;
    ex_error error = {0};
    sheet->face_count = sheet->corner_count = 0;
    assert_int_equal(exi_thin(&one, 1, 500, &thin, &error), EX_OK);
    assert_true(thin.vertex_count <= 500 && thin.vertex_count > 200);
    assert_int_equal(thin.triangle_count, 0);
    assert_null(thin.colours);
    exi_thinned_free(&thin);
    ex_mesh_destroy(sheet);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_meshes_stay),
        cmocka_unit_test(large_ones_get_few_vertices),
        cmocka_unit_test(points_have_no_triangles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
