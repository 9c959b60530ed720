/*
 * Triangles that cross: pairs by hand, random pairs against edges that pierce, meshes against all pairs, and the same
 * answer wherever the mesh is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <exemplar/author/mesh.h>

#include "author/mesh/cross.h"

static uint64_t random_state = 2463534242u;

static double random_number(void) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (double)(random_state >> 11) * 0x1p-53;
}

/* Turns and shifts a point; the same for the same number. */
static void move_point(int motion, const double in[3], double out[3]) {
    double a = motion * 0.7, b = motion * 1.3;
    double x = cos(a) * in[0] - sin(a) * in[1], y = sin(a) * in[0] + cos(a) * in[1], z = in[2];
    out[0] = cos(b) * x - sin(b) * z + motion;
    out[1] = y - 2 * motion;
    out[2] = sin(b) * x + cos(b) * z + 0.5 * motion;
}

/* In both orders, with corners in every order, in several places. */
static void check_pair(double a[3][3], double b[3][3], bool expected, const char *what) {
    static const int orders[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}, {1, 0, 2}, {0, 2, 1}};
    for (int motion = 0; motion < 5; motion++)
        for (int order = 0; order < 36; order++) {
            double p[3][3], q[3][3];
            for (int i = 0; i < 3; i++) {
                move_point(motion, a[orders[order / 6][i]], p[i]);
                move_point(motion, b[orders[order % 6][i]], q[i]);
            }
            if (exi_triangles_cross(p, q, 1e-9) != expected || exi_triangles_cross(q, p, 1e-9) != expected)
                fail_msg("%s: order %d, motion %d", what, order, motion);
        }
}

static void tells_pairs_apart(void **state) {
    (void)state;
    double flat[3][3] = {{0, 0, 0}, {4, 0, 0}, {0, 4, 0}};
    static const struct {
        const char *what;
        double other[3][3];
        bool cross;
    } cases[] = {
        {"through the middle", {{1, 1, -1}, {1, 1, 1}, {2, 1, 1}}, true},
        {"through an edge", {{-1, 1, -1}, {-1, 1, 1}, {1, 1, 0.1}}, true},
        {"through a corner of its own", {{1, 1, 0}, {2, 1, 1}, {1, 2, -1}}, true},
        {"through the plane, beside the triangle", {{3, 3, -1}, {3, 3, 1}, {4, 3, 1}}, false},
        {"above, parallel", {{0, 0, 1}, {4, 0, 1}, {0, 4, 1}}, false},
        {"above, tilted", {{0, 0, 1}, {4, 0, 1}, {0, 4, 2}}, false},
        {"standing on it with a corner", {{1, 1, 0}, {1, 2, 1}, {2, 1, 1}}, false},
        {"standing on it with an edge", {{1, 1, 0}, {2, 1, 0}, {1, 1, 1}}, false},
        {"standing on its edge", {{1, 0, 0}, {2, 0, 0}, {1, 0, 1}}, false},
        {"hinged at its edge", {{0, 0, 0}, {4, 0, 0}, {0, -1, 3}}, false},
        {"touching its corner with a corner", {{0, 0, 0}, {-1, 0, 1}, {-1, 0, -1}}, false},
        {"in its plane, overlapping", {{1, 1, 0}, {5, 1, 0}, {1, 5, 0}}, true},
        {"in its plane, inside", {{0.5, 0.5, 0}, {1, 0.5, 0}, {0.5, 1, 0}}, true},
        {"in its plane, the same", {{0, 0, 0}, {4, 0, 0}, {0, 4, 0}}, true},
        {"in its plane, a star", {{-1, 1, 0}, {3, 1, 0}, {1, -1, 0}}, true},
        {"in its plane, apart", {{5, 5, 0}, {6, 5, 0}, {5, 6, 0}}, false},
        {"in its plane, apart along one edge only", {{2.1, 2.1, 0}, {4, 2.5, 0}, {3, 4, 0}}, false},
        {"in its plane, at its edge", {{0, 0, 0}, {4, 0, 0}, {0, -4, 0}}, false},
        {"in its plane, at its corner", {{4, 0, 0}, {5, 0, 0}, {4, -1, 0}}, false},
        {"a needle through it", {{1, 1, -1}, {1, 1, 1}, {1, 1, 0.5}}, false},
        {"a point in it", {{1, 1, 0}, {1, 1, 0}, {1, 1, 0}}, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double other[3][3];
        memcpy(other, cases[i].other, sizeof other);
        check_pair(flat, other, cases[i].cross, cases[i].what);
    }
}

/* Six times the signed volume of a tetrahedron. */
static double volume(const double a[3], const double b[3], const double c[3], const double d[3]) {
    double u[3], v[3], w[3];
    for (int i = 0; i < 3; i++) {
        u[i] = b[i] - a[i];
        v[i] = c[i] - a[i];
        w[i] = d[i] - a[i];
    }
    return u[0] * (v[1] * w[2] - v[2] * w[1]) + u[1] * (v[2] * w[0] - v[0] * w[2]) + u[2] * (v[0] * w[1] - v[1] * w[0]);
}

static bool edge_pierces(const double p[3], const double q[3], double t[3][3]) {
    if (volume(t[0], t[1], t[2], p) * volume(t[0], t[1], t[2], q) > 0)
        return false;
    double a = volume(p, q, t[0], t[1]), b = volume(p, q, t[1], t[2]), c = volume(p, q, t[2], t[0]);
    return (a > 0 && b > 0 && c > 0) || (a < 0 && b < 0 && c < 0);
}

/* In general position two triangles meet exactly if an edge of one pierces the other. */
static void agrees_with_piercing_edges(void **state) {
    (void)state;
    int crossing = 0;
    for (int trial = 0; trial < 100000; trial++) {
        double a[3][3], b[3][3];
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++) {
                a[i][k] = random_number();
                b[i][k] = random_number();
            }
        bool expected = false;
        for (int i = 0; i < 3; i++)
            expected = expected || edge_pierces(a[i], a[(i + 1) % 3], b) || edge_pierces(b[i], b[(i + 1) % 3], a);
        if (exi_triangles_cross(a, b, 0) != expected)
            fail_msg("pair %d", trial);
        crossing += expected;
    }
    assert_in_range(crossing, 10000, 90000);
}

/* ---- meshes ---- */

/* Triangles over given points; release with free_triangles. */
static ex_mesh make_triangles(double *positions, int vertex_count, int *corners, int count) {
    int *offsets = malloc(((size_t)count + 1) * sizeof *offsets);
    assert_non_null(offsets);
    for (int i = 0; i <= count; i++)
        offsets[i] = 3 * i;
    return (ex_mesh){.vertex_count = vertex_count,
                     .positions = positions,
                     .face_count = count,
                     .face_offsets = offsets,
                     .corner_count = 3 * count,
                     .corners = corners};
}

static int count_crossings(const ex_mesh *mesh, const float *positions) {
    int count = -1;
    assert_int_equal(ex_mesh_count_self_intersections(mesh, positions, &count, NULL), EX_OK);
    return count;
}

/* A wide tetrahedron and a narrow one that is pushed into it. */
static void counts_interlocked_tetrahedra(void **state) {
    (void)state;
    double positions[8][3] = {{0, 0, 0}, {4, 0, 0}, {0, 4, 0}, {1, 1, 4}};
    int corners[24] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3};
    for (int i = 0; i < 12; i++)
        corners[12 + i] = corners[i] + 4;
    /* The second one far away: no crossing. */
    for (int v = 0; v < 4; v++)
        for (int k = 0; k < 3; k++)
            positions[4 + v][k] = positions[v][k] + (k == 0 ? 10 : 0);
    ex_mesh mesh = make_triangles(positions[0], 8, corners, 8);
    assert_int_equal(count_crossings(&mesh, NULL), 0);
    /* Only its tip, a narrow one, comes up through the base, inside it: its three sides cross that one face. */
    const double tip[4][3] = {{1, 1, -1}, {1.5, 1, -1}, {1, 1.5, -1}, {1.1, 1.1, 0.5}};
    memcpy(positions[4], tip, sizeof tip);
    assert_int_equal(count_crossings(&mesh, NULL), 3);
    /* In through the base at (0.5, 1, 0) and out through the side x = z / 4 at z = 2/7: three crossings at each. */
    const double through[4][3] = {{2, 1, -1}, {2.1, 1, -1}, {2, 1.1, -1}, {-1, 1, 1}};
    memcpy(positions[4], through, sizeof through);
    assert_int_equal(count_crossings(&mesh, NULL), 6);
    free(mesh.face_offsets);
}

static void passes_over_neighbours(void **state) {
    (void)state;
    /* The second triangle is folded through the first, but they share a vertex. */
    double positions[5][3] = {{0, 0, 0}, {4, 0, 0}, {0, 4, 0}, {2, 1, 1}, {2, 1, -1}};
    int corners[6] = {0, 1, 2, 0, 3, 4};
    ex_mesh mesh = make_triangles(positions[0], 5, corners, 2);
    assert_int_equal(count_crossings(&mesh, NULL), 0);
    free(mesh.face_offsets);
}

/* Random triangles of mixed sizes in a unit cube, three vertices each. */
static ex_mesh make_soup(int count, double *positions, int *corners) {
    for (int t = 0; t < count; t++) {
        double size = t % 10 == 0 ? 0.8 : 0.15, centre[3];
        for (int k = 0; k < 3; k++)
            centre[k] = random_number();
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++)
                positions[9 * t + 3 * i + k] = centre[k] + size * (random_number() - 0.5);
        for (int i = 0; i < 3; i++)
            corners[3 * t + i] = 3 * t + i;
    }
    return make_triangles(positions, 3 * count, corners, count);
}

static void agrees_with_all_pairs(void **state) {
    (void)state;
    enum { COUNT = 600 };
    static double positions[COUNT * 9];
    static float moved[COUNT * 9], stretched[COUNT * 9];
    static int corners[COUNT * 3];
    ex_mesh mesh = make_soup(COUNT, positions, corners);
    int expected = 0;
    for (int i = 0; i < COUNT; i++)
        for (int j = 0; j < i; j++) {
            double a[3][3], b[3][3];
            memcpy(a, positions + 9 * i, sizeof a);
            memcpy(b, positions + 9 * j, sizeof b);
            expected += exi_triangles_cross(a, b, 0);
        }
    assert_in_range(expected, 100, COUNT * COUNT / 4);
    assert_int_equal(count_crossings(&mesh, NULL), expected);
    for (int motion = 0; motion < 6; motion++) {
        for (int v = 0; v < 3 * COUNT; v++) {
            double out[3];
            move_point(motion, positions + 3 * v, out);
            for (int k = 0; k < 3; k++) {
                moved[3 * v + k] = (float)out[k];
                stretched[3 * v + k] = (float)(out[k] * 1000);
            }
        }
        assert_int_equal(count_crossings(&mesh, moved), expected);
        assert_int_equal(count_crossings(&mesh, stretched), expected);
    }
    free(mesh.face_offsets);
}

/* A grid over the unit square, of quads, bent by a function. */
enum { SIDE = 40 };
typedef struct grid {
    double positions[(SIDE + 1) * (SIDE + 1) * 3];
    int offsets[SIDE * SIDE + 1];
    int corners[SIDE * SIDE * 4];
    ex_mesh mesh;
} grid;

static void make_grid(grid *g) {
    for (int i = 0; i <= SIDE; i++)
        for (int j = 0; j <= SIDE; j++) {
            double *p = g->positions + 3 * (i * (SIDE + 1) + j);
            p[0] = (double)i / SIDE;
            p[1] = (double)j / SIDE;
            p[2] = 0;
        }
    for (int f = 0; f < SIDE * SIDE; f++) {
        int v = f / SIDE * (SIDE + 1) + f % SIDE;
        const int quad[4] = {v, v + SIDE + 1, v + SIDE + 2, v + 1};
        memcpy(g->corners + 4 * f, quad, sizeof quad);
        g->offsets[f] = 4 * f;
    }
    g->offsets[SIDE * SIDE] = 4 * SIDE * SIDE;
    g->mesh = (ex_mesh){.vertex_count = (SIDE + 1) * (SIDE + 1),
                        .positions = g->positions,
                        .face_count = SIDE * SIDE,
                        .face_offsets = g->offsets,
                        .corner_count = 4 * SIDE * SIDE,
                        .corners = g->corners};
}

/* Rolled up short of a full turn it is clean; closed, it touches itself along a seam without sharing vertices and is
 * still clean; folded flat onto itself, each triangle lies in others; curled with its end through its side, it
 * crosses. */
static void knows_seams_from_folds(void **state) {
    (void)state;
    static grid g;
    static float moved[(SIDE + 1) * (SIDE + 1) * 3];
    static const double turns[] = {0.9, 1.0};
    make_grid(&g);
    assert_int_equal(count_crossings(&g.mesh, NULL), 0);
    for (int roll = 0; roll < 2; roll++)
        for (int motion = 0; motion < 4; motion++) {
            for (int v = 0; v < g.mesh.vertex_count; v++) {
                const double *p = g.positions + 3 * v;
                double angle = 2 * 3.14159265358979323846 * turns[roll] * p[0], bent[3], out[3];
                bent[0] = cos(angle);
                bent[1] = sin(angle);
                bent[2] = p[1];
                move_point(motion, bent, out);
                for (int k = 0; k < 3; k++)
                    moved[3 * v + k] = (float)out[k];
            }
            assert_int_equal(count_crossings(&g.mesh, moved), 0);
        }
    /* The far half lifted and slid back through the near one at a slope. */
    for (int v = 0; v < g.mesh.vertex_count; v++) {
        const double *p = g.positions + 3 * v;
        double over = p[0] - 0.5;
        moved[3 * v] = (float)(over <= 0 ? p[0] : 0.5 - 0.9 * over);
        moved[3 * v + 1] = (float)p[1];
        moved[3 * v + 2] = (float)(over <= 0 ? 0 : 0.3 * sin(4 * 3.14159265358979 * over + 0.01));
    }
    int count = count_crossings(&g.mesh, moved);
    assert_in_range(count, SIDE, 8 * SIDE);
    for (int v = 0; v < g.mesh.vertex_count; v++)
        if (g.positions[3 * v] > 0.5)
            moved[3 * v + 2] = 0;
    assert_true(count_crossings(&g.mesh, moved) > SIDE * SIDE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_pairs_apart),
        cmocka_unit_test(agrees_with_piercing_edges),
        cmocka_unit_test(counts_interlocked_tetrahedra),
        cmocka_unit_test(passes_over_neighbours),
        cmocka_unit_test(agrees_with_all_pairs),
        cmocka_unit_test(knows_seams_from_folds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
