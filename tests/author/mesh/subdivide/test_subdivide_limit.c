/*
 * Limit points and normals: the B-spline where the mesh is regular; the same limit from every level, with any
 * sharpness; levels that converge to it; the sphere's symmetry. (tests/oracle/limit_oracle.py decomposes the matrices
 * of rings.)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <exemplar/author/formats.h>
#include <exemplar/author/mesh.h>

#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ex_mesh *parse(const char *text) {
    ex_mesh *mesh = NULL;
    ex_error error = {.result = EX_OK};
    if (ex_obj_parse(text, strlen(text), "test", &mesh, &error) != EX_OK)
        fail_msg("%s", error.text);
    return mesh;
}

static ex_mesh *refine(const ex_mesh *mesh, ex_scheme scheme, int levels, int level) {
    ex_subdivide_def def = {.scheme = scheme, .levels = levels, .limit = level == EX_LEVEL_LIMIT};
    ex_subdivision *s = NULL;
    ex_mesh *out = NULL;
    ex_error error = {.result = EX_OK};
    if (ex_mesh_subdivide(mesh, &def, &s, &error) != EX_OK)
        fail_msg("%s", error.text);
    assert_int_equal(ex_subdivision_mesh(s, mesh, level, &out, NULL), EX_OK);
    ex_subdivision_destroy(s);
    return out;
}

static double distance(const double *a, const double *b) {
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}

/* ---- against the B-spline ---- */

enum { SIDE = 8 };

static double height(int x, int y) {
    return 0.3 * sin(1.7 * x) + 0.2 * cos(2.3 * y + x);
}

/* Uniform cubic B-spline and its derivative at distance t from a knot. */
static double spline(double t) {
    t = fabs(t);
    return t < 1 ? 2 / 3.0 - t * t + t * t * t / 2 : t < 2 ? (2 - t) * (2 - t) * (2 - t) / 6 : 0;
}

static double slope(double t) {
    double a = fabs(t), s = a < 1 ? -2 * a + 1.5 * a * a : a < 2 ? -(2 - a) * (2 - a) / 2 : 0;
    return t < 0 ? -s : s;
}

static void test_spline(void **state) {
    (void)state;
    char text[8192];
    size_t used = 0;
    for (int v = 0; v < SIDE * SIDE; v++)
        used += (size_t)snprintf(text + used, sizeof text - used, "v %d %d %.9f\n", v % SIDE, v / SIDE,
                                 height(v % SIDE, v / SIDE));
    for (int f = 0; f < (SIDE - 1) * (SIDE - 1); f++) {
        int a = f / (SIDE - 1) * SIDE + f % (SIDE - 1) + 1;
        used += (size_t)snprintf(text + used, sizeof text - used, "f %d %d %d %d\n", a, a + 1, a + SIDE + 1, a + SIDE);
    }
    ex_mesh *mesh = parse(text);
    for (int levels = 0; levels <= 3; levels++) {
        ex_mesh *limit = refine(mesh, EX_SCHEME_CATMULL_CLARK, levels, EX_LEVEL_LIMIT);
        int inside = 0;
        for (int v = 0; v < limit->vertex_count; v++) {
            /* Linear precision: x and y of the surface are the parameters. */
            const double *p = limit->positions + 3 * v, *n = limit->normals + 3 * v;
            const double low = 1 - 1e-5, high = SIDE - 2 + 1e-5;
            if (p[0] < low || p[0] > high || p[1] < low || p[1] > high)
                continue;
            double z = 0, zx = 0, zy = 0;
            for (int i = 0; i < SIDE * SIDE; i++) {
                double u = p[0] - i % SIDE, w = p[1] - (double)(i / SIDE), h = height(i % SIDE, i / SIDE);
                z += spline(u) * spline(w) * h;
                zx += slope(u) * spline(w) * h;
                zy += spline(u) * slope(w) * h;
            }
            double length = sqrt(zx * zx + zy * zy + 1);
            assert_near(p[2], z, 1e-6);
            assert_near(n[0], -zx / length, 2e-6);
            assert_near(n[1], -zy / length, 2e-6);
            assert_near(n[2], 1 / length, 2e-6);
            inside++;
        }
        int expected = ((SIDE - 3) << levels) + 1;
        assert_int_equal(inside, expected * expected);
        ex_mesh_destroy(limit);
    }
    ex_mesh_destroy(mesh);
}

/* ---- any sharpness ---- */

static const char *const tags[] = {
    "",
    "t crease 2/1/0 0 1 1.5\n",                           /* a dart that fades */
    "t crease 2/1/0 0 1 10\n",                            /* one that stays */
    "t crease 3/1/0 2 0 5 2.7\n",                         /* a crease that fades */
    "t crease 3/1/0 2 0 5 10\n",                          /* one that stays */
    "t crease 3/2/0 2 0 5 0.4 3.2\n",                     /* two that fade at different times */
    "t crease 2/1/0 0 1 2.2\nt crease 3/1/0 3 0 5 10\n",  /* a corner that becomes a crease */
    "t crease 2/1/0 0 1 2.2\nt crease 3/1/0 3 0 5 0.7\n", /* corner, dart, smooth */
    "t corner 1/1/0 0 1.6\n",                             /* a corner that fades */
    "t corner 1/1/0 0 10\n",
    "t corner 1/1/0 0 0.3\nt crease 3/1/0 1 0 4 1.2\n",
    "t interpolateboundary 1/0/0 1\n",
};
enum { TAGS = sizeof tags / sizeof tags[0] };

/* A fan of `spokes` around vertex 0, spokes 1 to n, with quads between them (far corners from n + 1 on) or triangles;
 * open: without the last face. */
static ex_mesh *make_fan(int spokes, bool quads, bool open, const char *tag) {
    char text[8192];
    uint64_t random = (uint64_t)(spokes + 100 * quads + 1000 * open);
    size_t used = (size_t)snprintf(text, sizeof text, "v 0.03 -0.02 0.4\n");
    for (int ring = 0; ring < 1 + quads; ring++)
        for (int i = 0; i < spokes; i++) {
            double angle = (i + 0.5 * ring) * 6.2831853 / spokes,
                   radius = (1 + 0.4 * ring) * random_between(&random, 0.9, 1.1);
            used += (size_t)snprintf(text + used, sizeof text - used, "v %.6f %.6f %.6f\n", radius * cos(angle),
                                     radius * sin(angle), random_between(&random, -0.1, 0.1));
        }
    for (int i = 0; i < spokes - open; i++) {
        int next = (i + 1) % spokes + 2;
        used +=
            (size_t)(quads ? snprintf(text + used, sizeof text - used, "f 1 %d %d %d\n", i + 2, spokes + i + 2, next)
                           : snprintf(text + used, sizeof text - used, "f 1 %d %d\n", i + 2, next));
    }
    snprintf(text + used, sizeof text - used, "%s", tag);
    return parse(text);
}

/* The limit of a vertex of the cage is the same from levels 0, 1, 2 and 3, and so is its normal, if it has one that
 * does not depend on the direction of approach: not at corners, nor at creases with more faces on one side. */
static void test_same_from_every_level(void **state) {
    (void)state;
    int compared = 0;
    for (int scheme = 0; scheme < 2; scheme++)
        for (int spokes = 5; spokes <= 9; spokes++)
            for (int open = 0; open < 2; open++)
                for (int t = 0; t < TAGS; t++) {
                    ex_mesh *mesh = make_fan(spokes, scheme == EX_SCHEME_CATMULL_CLARK, open, tags[t]);
                    ex_mesh *limits[4];
                    for (int level = 0; level < 4; level++)
                        limits[level] = refine(mesh, (ex_scheme)scheme, level, EX_LEVEL_LIMIT);
                    for (int v = 0; v < mesh->vertex_count; v++)
                        for (int level = 0; level < 3; level++) {
                            assert_near(distance(limits[level]->positions + 3 * v, limits[3]->positions + 3 * v), 0,
                                        2e-6);
                            if (t < 6 && v == 0 && (t != 4 || spokes == 6) && (t < 2 || !open))
                                assert_near(distance(limits[level]->normals + 3 * v, limits[3]->normals + 3 * v), 0,
                                            2e-5);
                            compared++;
                        }
                    for (int level = 0; level < 4; level++)
                        ex_mesh_destroy(limits[level]);
                    ex_mesh_destroy(mesh);
                }
    assert_true(compared > 3000);
}

static const char house[] =
    "v 0 0 0\nv 2 0 0\nv 2 2 0\nv 1 3 0\nv 0 2 0\nv 0 0 2\nv 2 0 2\nv 2 2 2\nv 1 3 2\nv 0 2 2\n"
    "f 5 4 3 2 1\nf 6 7 8 9 10\nf 2 3 8 7\nf 3 4 9 8\nf 4 5 10 9\nf 5 1 6 10\nt crease 3/1/0 3 4 9 1.5\n";

/* Levels that are all on the limit: each equals, to the bit, the limit of a subdivision to that level. */
static void test_all_levels(void **state) {
    (void)state;
    ex_mesh *mesh = parse(house), *level, *limit;
    for (int scheme = 0; scheme < EX_SCHEME_COUNT; scheme++) {
        const ex_subdivide_def all = {.scheme = (ex_scheme)scheme, .levels = 3, .limit = true, .all = true};
        ex_subdivision *s;
        assert_int_equal(ex_mesh_subdivide(mesh, &all, &s, NULL), EX_OK);
        assert_true(ex_stencils_on_limit(s->stencils));
        assert_int_equal(ex_stencils_vertex_count(s->stencils, EX_LEVEL_LIMIT), s->levels[3].vertex_count);
        for (int i = 1; i <= 3; i++) {
            assert_int_equal(ex_subdivision_mesh(s, mesh, i, &level, NULL), EX_OK);
            limit = refine(mesh, (ex_scheme)scheme, i, EX_LEVEL_LIMIT);
            const size_t size = 3 * (size_t)limit->vertex_count * sizeof(double);
            assert_int_equal(level->vertex_count, limit->vertex_count);
            assert_memory_equal(level->positions, limit->positions, size);
            assert_memory_equal(level->normals, limit->normals, size);
            ex_mesh_destroy(level);
            ex_mesh_destroy(limit);
        }
        ex_subdivision_destroy(s);
        const ex_subdivide_def usual = {.scheme = (ex_scheme)scheme, .levels = 1, .limit = true};
        assert_int_equal(ex_mesh_subdivide(mesh, &usual, &s, NULL), EX_OK);
        assert_false(ex_stencils_on_limit(s->stencils));
        ex_subdivision_destroy(s);
        const ex_subdivide_def none = {.scheme = (ex_scheme)scheme, .limit = true, .all = true};
        assert_int_equal(ex_mesh_subdivide(mesh, &none, &s, NULL), EX_ERROR_ARGUMENT);
    }
    ex_mesh_destroy(mesh);
}

/* The same for cages that are not of quads: from level 0 the limit has to use level 1. And a vertex with two edges has
 * a normal. */
static void test_polygons(void **state) {
    (void)state;
    static const char *const cages[] = {
        house,
        "v 0 0 2\nv 0 -2 0\nv 2 0 0\nv 0 2 0\nv -2 0 0\nf 1 2 3\nf 1 3 4\nf 1 4 5\nf 1 5 2\nf 5 4 3 2\n",
        "v 0 0 0\nv 1 0 0\nv 0.5 0.2 0.1\nv 0.4 1 0\nv 0.4 -1 0\nf 1 3 2 4\nf 2 3 1 5\n",
    };
    for (int i = 0; i < 3; i++) {
        ex_mesh *mesh = parse(cages[i]), *limits[3];
        for (int level = 0; level < 3; level++)
            limits[level] = refine(mesh, EX_SCHEME_CATMULL_CLARK, level, EX_LEVEL_LIMIT);
        for (int v = 0; v < mesh->vertex_count; v++)
            for (int level = 0; level < 2; level++) {
                const double *n = limits[level]->normals + 3 * v;
                assert_near(distance(limits[level]->positions + 3 * v, limits[2]->positions + 3 * v), 0, 2e-6);
                assert_near(n[0] * n[0] + n[1] * n[1] + n[2] * n[2], 1, 1e-5);
                assert_near(distance(n, limits[2]->normals + 3 * v), 0, 2e-5);
            }
        if (i == 2)
            assert_true(limits[0]->normals[3 * 2 + 2] > 0.9);
        for (int level = 0; level < 3; level++)
            ex_mesh_destroy(limits[level]);
        ex_mesh_destroy(mesh);
    }
}

/* Levels converge to the limit: the distance is finally at least halved per level. */
static void test_convergence(void **state) {
    (void)state;
    for (int scheme = 0; scheme < 2; scheme++)
        for (int t = 0; t < TAGS; t++) {
            ex_mesh *mesh = make_fan(6, scheme == EX_SCHEME_CATMULL_CLARK, t % 2, tags[t]);
            ex_mesh *limit = refine(mesh, (ex_scheme)scheme, 0, EX_LEVEL_LIMIT);
            double before = INFINITY;
            for (int level = 3; level <= 6; level++) {
                ex_mesh *out = refine(mesh, (ex_scheme)scheme, level, level);
                double worst = 0;
                for (int v = 0; v < mesh->vertex_count; v++) {
                    double away = distance(out->positions + 3 * v, limit->positions + 3 * v);
                    worst = away > worst ? away : worst;
                }
                assert_true(worst < 0.66 * before);
                before = worst;
                ex_mesh_destroy(out);
            }
            assert_true(before < 2e-2);
            ex_mesh_destroy(limit);
            ex_mesh_destroy(mesh);
        }
}

/* Limit normals next to those of the faces five levels down. */
static void test_normals_of_fine_levels(void **state) {
    (void)state;
    for (int scheme = 0; scheme < 2; scheme++)
        for (int spokes = 3; spokes <= 8; spokes++)
            for (int open = 0; open < 2; open++) {
                ex_mesh *mesh = make_fan(spokes, scheme == EX_SCHEME_CATMULL_CLARK, open && spokes > 3, "");
                ex_mesh *limit = refine(mesh, (ex_scheme)scheme, 6, EX_LEVEL_LIMIT);
                ex_normals *normals = NULL;
                ex_normals_def def = {limit->vertex_count, limit->face_count, limit->face_offsets, limit->corners,
                                      EX_NORMAL_BY_ANGLE};
                assert_int_equal(ex_normals_create(&def, NULL, &normals, NULL), EX_OK);
                size_t count = 3 * (size_t)limit->vertex_count;
                float *positions = malloc(count * sizeof(float)), *out = malloc(count * sizeof(float));
                void *scratch = malloc(ex_normals_scratch_size(normals));
                for (size_t i = 0; i < count; i++)
                    positions[i] = (float)limit->positions[i];
                ex_normals_compute(normals, positions, 0, out, 0, NULL, scratch);
                double mean = 0;
                for (int v = 0; v < limit->vertex_count; v++) {
                    const double fine[3] = {(double)out[3 * v], (double)out[3 * v + 1], (double)out[3 * v + 2]};
                    double away = distance(fine, limit->normals + 3 * v);
                    mean += away / limit->vertex_count;
                    if (v == 0)
                        assert_near(away, 0, 0.12);
                }
                assert_near(mean, 0, 0.02);
                free(positions);
                free(out);
                free(scratch);
                ex_normals_destroy(normals);
                ex_mesh_destroy(limit);
                ex_mesh_destroy(mesh);
            }
}

/* An icosahedron by Loop: all limit points on a shell, cage vertices equally far out with radial normals. */
static void test_icosahedron(void **state) {
    (void)state;
    const double g = 1.6180339887498949;
    char text[2048];
    size_t used = 0;
    for (int i = 0; i < 12; i++) {
        double a = i % 2 ? 1 : -1, b = i / 2 % 2 ? g : -g;
        const double p[3][3] = {{0, a, b}, {a, b, 0}, {b, 0, a}};
        used += (size_t)snprintf(text + used, sizeof text - used, "v %.15f %.15f %.15f\n", p[i / 4][0], p[i / 4][1],
                                 p[i / 4][2]);
    }
    ex_mesh *points = parse(text);
    for (int a = 0; a < 12; a++)
        for (int b = 0; b < 12; b++)
            for (int c = 0; c < 12; c++) {
                const double *p = points->positions + 3 * a, *q = points->positions + 3 * b,
                             *r = points->positions + 3 * c;
                double volume = p[0] * (q[1] * r[2] - q[2] * r[1]) - p[1] * (q[0] * r[2] - q[2] * r[0]) +
                                p[2] * (q[0] * r[1] - q[1] * r[0]);
                if (a < b && a < c && distance(p, q) < 2.1 && distance(q, r) < 2.1 && distance(r, p) < 2.1 &&
                    volume > 0)
                    used += (size_t)snprintf(text + used, sizeof text - used, "f %d %d %d\n", a + 1, b + 1, c + 1);
            }
    ex_mesh *mesh = parse(text);
    assert_int_equal(mesh->face_count, 20);
    ex_mesh *limit = refine(mesh, EX_SCHEME_LOOP, 3, EX_LEVEL_LIMIT);
    double shortest = INFINITY, longest = 0;
    for (int v = 0; v < limit->vertex_count; v++) {
        const double *p = limit->positions + 3 * v, *n = limit->normals + 3 * v;
        double radius = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]),
               out = (p[0] * n[0] + p[1] * n[1] + p[2] * n[2]) / radius;
        shortest = radius < shortest ? radius : shortest;
        longest = radius > longest ? radius : longest;
        assert_true(out > (v < 12 ? 1 - 1e-6 : 0.995));
    }
    assert_true(longest / shortest < 1.04);
    ex_mesh_destroy(limit);
    ex_mesh_destroy(mesh);
    ex_mesh_destroy(points);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spline),      cmocka_unit_test(test_same_from_every_level),
        cmocka_unit_test(test_all_levels),  cmocka_unit_test(test_polygons),
        cmocka_unit_test(test_convergence), cmocka_unit_test(test_normals_of_fine_levels),
        cmocka_unit_test(test_icosahedron),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
