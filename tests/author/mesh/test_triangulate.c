/* Polygons into triangles: n - 2 of them, each corner used, areas that add up, none reversed; whatever the shape. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <exemplar/author/mesh.h>

/* A mesh of one face over its own vertices, in the caller's memory. */
static ex_mesh one_face(double (*points)[3], int *offsets, int *corners, int count) {
    for (int i = 0; i < count; i++)
        corners[i] = i;
    offsets[0] = 0;
    offsets[1] = count;
    return (ex_mesh){.vertex_count = count,
                     .positions = points[0],
                     .face_count = 1,
                     .face_offsets = offsets,
                     .corner_count = count,
                     .corners = corners};
}

static int *triangulate(double (*points)[3], int count) {
    int offsets[2];
    int *corners = malloc((size_t)count * sizeof *corners), *triangles, triangle_count;
    assert_non_null(corners);
    ex_mesh mesh = one_face(points, offsets, corners, count);
    assert_int_equal(ex_mesh_triangulate(&mesh, &triangles, &triangle_count, NULL), EX_OK);
    assert_int_equal(triangle_count, count - 2);
    free(corners);
    for (int i = 0; i < 3 * triangle_count; i++)
        assert_in_range(triangles[i], 0, count - 1);
    return triangles;
}

/* Every edge of the face belongs to one triangle, every other edge to two, once in each direction: the triangles are a
 * surface with the face's border, whatever the positions. */
static void check_topology(const int *triangles, int count) {
    int *balance = calloc((size_t)count * (size_t)count, sizeof *balance);
    assert_non_null(balance);
    for (int t = 0; t < count - 2; t++)
        for (int i = 0; i < 3; i++) {
            int a = triangles[3 * t + i], b = triangles[3 * t + (i + 1) % 3];
            assert_int_not_equal(a, b);
            balance[a * count + b]++;
            balance[b * count + a]--;
        }
    for (int a = 0; a < count; a++)
        for (int b = 0; b < count; b++) {
            int expected = b == (a + 1) % count ? 1 : a == (b + 1) % count ? -1 : 0;
            assert_int_equal(balance[a * count + b], expected);
        }
    free(balance);
}

static double area_xy(double (*p)[3], int a, int b, int c) {
    return ((p[b][0] - p[a][0]) * (p[c][1] - p[a][1]) - (p[b][1] - p[a][1]) * (p[c][0] - p[a][0])) / 2;
}

/* For a face in the plane of x and y that runs counterclockwise: no triangle turned over, none flat, none too large. */
static void check_plane(double (*points)[3], int count) {
    double whole = 0, sum = 0;
    for (int i = 1; i + 1 < count; i++)
        whole += area_xy(points, 0, i, i + 1);
    assert_true(whole > 0);
    int *triangles = triangulate(points, count);
    check_topology(triangles, count);
    for (int t = 0; t < count - 2; t++) {
        double area = area_xy(points, triangles[3 * t], triangles[3 * t + 1], triangles[3 * t + 2]);
        assert_true(area > 0);
        sum += area;
    }
    assert_true(fabs(sum - whole) < 1e-9 * whole);
    free(triangles);
}

static void check_quad(double points[4][3], int diagonal) {
    int *triangles = triangulate(points, 4);
    check_topology(triangles, 4);
    int uses = 0;
    for (int i = 0; i < 6; i++)
        uses += triangles[i] == diagonal;
    free(triangles);
    assert_int_equal(uses, 2);
}

static void cuts_quads_along_the_better_diagonal(void **state) {
    (void)state;
    check_quad((double[4][3]){{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}}, 0);     /* a square: the first */
    check_quad((double[4][3]){{0, 0, 0}, {3, 1, 0}, {4, 4, 0}, {1, 3, 0}}, 1);     /* the shorter */
    check_quad((double[4][3]){{0, 0, 0}, {4, -1, 0}, {1, 0, 0}, {4, 1, 0}}, 0);    /* an arrow: inside */
    check_quad((double[4][3]){{4, -1, 0}, {1, 0, 0}, {4, 1, 0}, {0, 0, 0}}, 1);    /* the same, turned */
    check_quad((double[4][3]){{0, 0, 0}, {1, 0, 1}, {1.1, 1.1, 0}, {0, 1, 1}}, 1); /* a saddle: the shorter */
    check_quad((double[4][3]){{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}}, 0);     /* a point */
    check_quad((double[4][3]){{1e200, 0, 0}, {0, 1e200, 0}, {-1e200, 0, 0}, {0, -1e200, 0}}, 0);
}

static void cuts_faces_worked_out_by_hand(void **state) {
    (void)state;
    double l_shape[6][3] = {{0, 0, 0}, {2, 0, 0}, {2, 1, 0}, {1, 1, 0}, {1, 2, 0}, {0, 2, 0}};
    check_plane(l_shape, 6);
    double midpoint[5][3] = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {2, 2, 0}, {0, 2, 0}};
    check_plane(midpoint, 5);
    double comb[10][3] = {{0, 0, 0},   {5, 0, 0}, {5, 3, 0},   {4, 1, 0}, {3, 3, 0},
                          {2.5, 1, 0}, {2, 3, 0}, {1.5, 1, 0}, {1, 3, 0}, {0, 3, 0}};
    check_plane(comb, 10);
    /* A square hole in a square, joined to the outside by a bridge that is walked twice. */
    double hole[10][3] = {{0, 0, 0}, {3, 0, 0}, {3, 3, 0}, {0, 3, 0}, {0, 0, 0},
                          {1, 1, 0}, {1, 2, 0}, {2, 2, 0}, {2, 1, 0}, {1, 1, 0}};
    check_plane(hole, 10);
}

static uint64_t random_state = 12345;

static double random_number(void) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (double)(random_state >> 11) * 0x1p-53;
}

/* Stars around a point, with rays of random lengths, and then the same in any orientation in space. */
static void cuts_random_concave_faces(void **state) {
    (void)state;
    for (int trial = 0; trial < 300; trial++) {
        double points[60][3], turned[60][3];
        int count = 5 + (int)(random_number() * 55);
        for (int i = 0; i < count; i++) {
            double angle = 2 * 3.14159265358979 * (i + 0.8 * random_number()) / count, ray = 0.05 + random_number();
            points[i][0] = ray * cos(angle);
            points[i][1] = ray * sin(angle);
            points[i][2] = 0;
        }
        check_plane(points, count);
        double c = cos(trial), s = sin(trial), c2 = cos(2.0 * trial), s2 = sin(2.0 * trial);
        for (int i = 0; i < count; i++) {
            double x = c * points[i][0] - s * points[i][1], y = s * points[i][0] + c * points[i][1];
            turned[i][0] = 100 + c2 * x;
            turned[i][1] = y;
            turned[i][2] = -7 + s2 * x;
        }
        int *triangles = triangulate(turned, count);
        for (int t = 0; t < count - 2; t++)
            assert_true(area_xy(points, triangles[3 * t], triangles[3 * t + 1], triangles[3 * t + 2]) > -1e-9);
        check_topology(triangles, count);
        free(triangles);
    }
}

/* Not planar, self-crossing, on a line, at a point, not finite: a surface all the same. */
static void cuts_what_is_no_polygon(void **state) {
    (void)state;
    for (int trial = 0; trial < 400; trial++) {
        double points[40][3];
        int count = 5 + trial % 36;
        for (int i = 0; i < count; i++)
            for (int k = 0; k < 3; k++) {
                double value = random_number();
                points[i][k] = trial % 5 == 0   ? floor(4 * value)
                               : trial % 5 == 1 ? i * (k + 1)
                               : trial % 5 == 2 ? 3
                               : trial % 5 == 3 ? (value < 0.1 ? NAN : value * 1e300)
                                                : value;
            }
        int *triangles = triangulate(points, count);
        check_topology(triangles, count);
        free(triangles);
    }
}

/* ---- the plain algorithm ---- */

/* A ring of corners in the plane, and those that bend inwards. */
typedef struct ring {
    double (*points)[3];
    int next[64], previous[64];
    bool inward[64], gone[64];
    int count;
} ring;

static double bend(const ring *r, int i) {
    return area_xy(r->points, r->previous[i], i, r->next[i]);
}

static bool same_place(const double *a, const double *b) {
    return a[0] == b[0] && a[1] == b[1];
}

static bool plain_ear(const ring *r, int i) {
    const int a = r->previous[i], c = r->next[i];
    if (!(bend(r, i) > 0))
        return false;
    for (int k = 0; k < r->count; k++) {
        const double *p = r->points[k];
        if (r->gone[k] || !r->inward[k] || same_place(p, r->points[a]) || same_place(p, r->points[i]) ||
            same_place(p, r->points[c]))
            continue;
        if (area_xy(r->points, a, i, k) >= 0 && area_xy(r->points, i, c, k) >= 0 && area_xy(r->points, c, a, k) >= 0)
            return false;
    }
    return true;
}

/* Goes round, cuts off the next ear, or the flattest corner if there is none, and looks at all corners each time. */
static void cut_plainly(double (*points)[3], int count, int *triangles) {
    ring r = {.points = points, .count = count};
    for (int i = 0; i < count; i++) {
        r.next[i] = (i + 1) % count;
        r.previous[i] = (i + count - 1) % count;
    }
    for (int i = 0; i < count; i++)
        r.inward[i] = !(bend(&r, i) > 0);
    for (int left = count, at = 0; left > 2; left--) {
        int chosen = at, missed = 0;
        for (; missed < left && !plain_ear(&r, chosen); missed++)
            chosen = r.next[chosen];
        const bool forced = missed == left;
        for (int i = at, k = 0; forced && k < left; i = r.next[i], k++)
            chosen = fabs(bend(&r, i)) < fabs(bend(&r, chosen)) ? i : chosen;
        const int before = r.previous[chosen], after = r.next[chosen];
        *triangles++ = before;
        *triangles++ = chosen;
        *triangles++ = after;
        r.next[before] = after;
        r.previous[after] = before;
        r.gone[chosen] = true;
        for (int i = 0; i < count; i++)
            r.inward[i] = !r.gone[i] && (forced || r.inward[i]) && !(bend(&r, i) > 0);
        at = r.next[after];
    }
}

/* Whole coordinates, few enough to meet, to lie on lines and to cross: nothing is rounded. */
static void cuts_as_the_plain_algorithm(void **state) {
    (void)state;
    static double points[64][3];
    static int expected[3 * 62];
    unsigned seed = 1;
    for (int round = 0; round < 3000; round++) {
        const int count = 5 + round % 60;
        const unsigned side = round % 3 == 0 ? 6 : 50;
        double whole = 0;
        for (int i = 0; i < count; i++)
            for (int k = 0; k < 2; k++) {
                seed = seed * 1664525u + 1013904223u;
                const double turn = 6.283185307179586 * i / count, reach = 20 + (double)(seed >> 16) / 65536.0 * 20;
                points[i][k] = round % 3 == 2 ? floor(k == 0 ? reach * cos(turn) : reach * sin(turn))
                                              : (double)((seed >> 16) % side);
            }
        for (int i = 1; i + 1 < count; i++)
            whole += area_xy(points, 0, i, i + 1);
        /* A polygon that runs clockwise is looked at from behind. */
        for (int i = 0; whole < 0 && i < count; i++)
            points[i][0] = -points[i][0];
        if (whole == 0)
            continue;
        int *triangles = triangulate(points, count);
        cut_plainly(points, count, expected);
        assert_memory_equal(triangles, expected, 3 * (size_t)(count - 2) * sizeof *expected);
        free(triangles);
    }
}

/* Two arms of a spiral, and a polygon that crosses itself everywhere. Testing all corners against all would take
 * minutes. */
static void cuts_faces_of_very_many_corners(void **state) {
    (void)state;
    const int count = 100000;
    double(*points)[3] = calloc((size_t)count, sizeof *points);
    assert_non_null(points);
    for (int i = 0; i < count; i++) {
        const double turn = 40.0 * (i < count / 2 ? i : count - i) / (count / 2),
                     reach = turn + (i < count / 2 ? 1 : 2);
        points[i][0] = reach * cos(turn);
        points[i][1] = reach * sin(turn);
    }
    free(triangulate(points, count));
    unsigned seed = 7;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) {
            seed = seed * 1664525u + 1013904223u;
            points[i][k] = seed >> 8;
        }
    free(triangulate(points, count / 4));
    free(points);
}

static void keeps_faces_in_order(void **state) {
    (void)state;
    double points[6][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {-1, 0.5, 0}, {2, 2, 2}};
    int offsets[4] = {0, 3, 7, 12}, corners[12] = {5, 1, 2, 3, 2, 1, 0, 0, 1, 2, 3, 4};
    ex_mesh mesh = {.vertex_count = 6,
                    .positions = points[0],
                    .face_count = 3,
                    .face_offsets = offsets,
                    .corner_count = 12,
                    .corners = corners};
    int *triangles, count;
    assert_int_equal(ex_mesh_triangulate(&mesh, &triangles, &count, NULL), EX_OK);
    assert_int_equal(count, 6);
    const int expected[9] = {0, 1, 2, 3, 4, 5, 3, 5, 6};
    assert_memory_equal(triangles, expected, sizeof expected);
    for (int i = 9; i < 18; i++)
        assert_in_range(triangles[i], 7, 11);
    free(triangles);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cuts_quads_along_the_better_diagonal),
        cmocka_unit_test(cuts_faces_worked_out_by_hand),
        cmocka_unit_test(cuts_random_concave_faces),
        cmocka_unit_test(cuts_what_is_no_polygon),
        cmocka_unit_test(cuts_as_the_plain_algorithm),
        cmocka_unit_test(cuts_faces_of_very_many_corners),
        cmocka_unit_test(keeps_faces_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
