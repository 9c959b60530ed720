/*
 * Vertex normals of polygons: by hand on a cube and a roof, independent of the triangulation when weighted by angle,
 * the same under rigid motion and any division of the work.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <exemplar/refine.h>

#include "support/check.h"
#include "support/failing_allocator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const float cube[8][3] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1},
                                 {-1, -1, 1},  {1, -1, 1},  {1, 1, 1},  {-1, 1, 1}};
static const int cube_quads[] = {0, 3, 2, 1, 4, 5, 6, 7, 0, 1, 5, 4, 1, 2, 6, 5, 2, 3, 7, 6, 3, 0, 4, 7};
/* The same, split so that corners have one or two triangles of a side. */
static const int cube_triangles[] = {0, 3, 2, 0, 2, 1, 4, 5, 6, 4, 6, 7, 0, 1, 5, 0, 5, 4,
                                     1, 2, 6, 1, 6, 5, 2, 3, 7, 2, 7, 6, 3, 0, 4, 3, 4, 7};

static ex_normals *create(int vertices, int faces, int size, const int *corners, ex_normal_weighting weighting) {
    int offsets[64];
    for (int f = 0; f <= faces; f++)
        offsets[f] = f * size;
    ex_normals *normals = NULL;
    ex_error error = {.result = EX_OK};
    if (ex_normals_create(&(ex_normals_def){vertices, faces, offsets, corners, weighting}, NULL, &normals, &error))
        fail_msg("%s", error.text);
    assert_int_equal(ex_normals_vertex_count(normals), vertices);
    return normals;
}

static void compute(const ex_normals *normals, const float *positions, float *out) {
    void *scratch = malloc(ex_normals_scratch_size(normals));
    ex_normals_compute(normals, positions, 0, out, 0, NULL, scratch);
    free(scratch);
}

static void test_cube(void **state) {
    (void)state;
    for (int k = 0; k < 2; k++)
        for (int cut = 0; cut < 2; cut++) {
            float out[8][3];
            ex_normals *n = cut ? create(8, 12, 3, cube_triangles, (ex_normal_weighting)k)
                                : create(8, 6, 4, cube_quads, (ex_normal_weighting)k);
            compute(n, cube[0], out[0]);
            bool free_of_cuts = k == EX_NORMAL_BY_ANGLE || !cut;
            double worst = 0;
            for (int v = 0; v < 8; v++)
                for (int c = 0; c < 3; c++) {
                    double error = fabs((double)out[v][c] - (double)cube[v][c] / sqrt(3));
                    worst = error > worst ? error : worst;
                }
            if (free_of_cuts)
                assert_near(worst, 0, 1e-7);
            else
                assert_true(worst > 0.1);
            ex_normals_destroy(n);
        }
}

/* A ridge between a face of area 2 and one of area 1 at right angles: by area 2 : 1, by angle 1 : 1. An obtuse angle
 * next to it, for the part of the circle beyond a quarter. */
static void test_by_hand(void **state) {
    (void)state;
    const float points[][3] = {{0, 0, 0}, {1, 0, 0}, {1, 2, 0}, {0, 2, 0}, {1, 0, -1}, {0, 0, -1}};
    const int quads[] = {0, 1, 2, 3, 1, 0, 5, 4};
    float out[6][3];
    ex_normals *n = create(6, 2, 4, quads, EX_NORMAL_BY_AREA);
    compute(n, points[0], out[0]);
    assert_near((double)out[0][2], 2 / sqrt(5), 1e-7);
    assert_near((double)out[0][1], -1 / sqrt(5), 1e-7);
    assert_near((double)out[2][2], 1, 0);
    assert_near((double)out[4][1], -1, 0);
    ex_normals_destroy(n);
    n = create(6, 2, 4, quads, EX_NORMAL_BY_ANGLE);
    compute(n, points[0], out[0]);
    assert_near((double)out[1][2], sqrt(0.5), 1e-7);
    assert_near((double)out[1][1], -sqrt(0.5), 1e-7);
    ex_normals_destroy(n);
    /* A quad of area 5/2 that is no parallelogram, and a triangle of area 1 across its first edge. */
    const float uneven[][3] = {{0, 0, 0}, {2, 0, 0}, {1, 1, 0}, {0, 3, 0}, {0, 0, -1}};
    const int offsets[] = {0, 4, 7}, uneven_corners[] = {0, 1, 2, 3, 1, 0, 4};
    assert_int_equal(
        ex_normals_create(&(ex_normals_def){5, 2, offsets, uneven_corners, EX_NORMAL_BY_AREA}, NULL, &n, NULL), EX_OK);
    compute(n, uneven[0], out[0]);
    assert_near((double)out[0][2], 2.5 / sqrt(7.25), 1e-6);
    assert_near((double)out[0][1], -1 / sqrt(7.25), 1e-6);
    ex_normals_destroy(n);
    /* 120 degrees in the plane z = 0 and 60 in the plane y = 0: 2 : 1. */
    const float obtuse[][3] = {{0, 0, 0}, {1, 0, 0}, {-0.5f, 0.8660254f, 0}, {0.5f, 0, 0.8660254f}};
    const int triangles[] = {0, 1, 2, 0, 3, 1};
    n = create(4, 2, 3, triangles, EX_NORMAL_BY_ANGLE);
    compute(n, obtuse[0], out[0]);
    assert_near((double)out[0][2], 2 / sqrt(5), 1e-6);
    assert_near((double)out[0][1], 1 / sqrt(5), 1e-6);
    ex_normals_destroy(n);
}

/* A strip of quads, of which one is a needle and takes the slow path. Against sums in double. */
static void test_strip(void **state) {
    (void)state;
    enum { QUADS = 13, POINTS = 2 * QUADS + 2 };
    float points[POINTS][3], out[POINTS][3];
    int corners[4 * QUADS];
    for (int i = 0; i <= QUADS; i++)
        for (int side = 0; side < 2; side++) {
            points[2 * i + side][0] = (float)i + 0.3f * (float)side - (i == 6 ? 0.9999f : 0);
            points[2 * i + side][1] = (float)side;
            points[2 * i + side][2] = 0.1f * (float)((i * 7 + side * 3) % 5);
        }
    for (int q = 0; q < QUADS; q++) {
        const int own[4] = {2 * q, 2 * q + 2, 2 * q + 3, 2 * q + 1};
        memcpy(corners + 4 * q, own, sizeof own);
    }
    ex_normals *n = create(POINTS, QUADS, 4, corners, EX_NORMAL_BY_AREA);
    compute(n, points[0], out[0]);
    for (int v = 0; v < POINTS; v++) {
        double sum[3] = {0}, length = 0;
        for (int q = 0; q < QUADS; q++) {
            const int *c = corners + 4 * q;
            double u[3], w[3];
            if (v != c[0] && v != c[1] && v != c[2] && v != c[3])
                continue;
            for (int k = 0; k < 3; k++) {
                u[k] = (double)points[c[2]][k] - (double)points[c[0]][k];
                w[k] = (double)points[c[3]][k] - (double)points[c[1]][k];
            }
            for (int k = 0; k < 3; k++)
                sum[k] += u[(k + 1) % 3] * w[(k + 2) % 3] - u[(k + 2) % 3] * w[(k + 1) % 3];
        }
        for (int k = 0; k < 3; k++)
            length += sum[k] * sum[k];
        for (int k = 0; k < 3; k++)
            assert_near((double)out[v][k], sum[k] / sqrt(length), 1e-6);
    }
    ex_normals_destroy(n);
}

/* Adds to sum the area vector of a face if it has the vertex, times 2 for each time it has it. */
static void add_area(const float (*points)[3], const int *corners, int size, int v, double sum[3]) {
    for (int k = 0; k < size; k++)
        for (int i = 2; i < size && corners[k] == v; i++) {
            double u[3], w[3];
            for (int c = 0; c < 3; c++) {
                u[c] = (double)points[corners[i - 1]][c] - (double)points[corners[0]][c];
                w[c] = (double)points[corners[i]][c] - (double)points[corners[0]][c];
            }
            for (int c = 0; c < 3; c++)
                sum[c] += u[(c + 1) % 3] * w[(c + 2) % 3] - u[(c + 2) % 3] * w[(c + 1) % 3];
        }
}

/* Triangles, quads and hexagons mixed, vertices in many faces and in none, faces with the last vertex, behind which
 * there is nothing to read; with every number of faces around a unit's end. Against sums in double. */
static void test_mixed_faces(void **state) {
    (void)state;
    enum { MOST = 53, POINTS = 37 };
    uint64_t random = 8;
    for (int faces = 1; faces <= MOST; faces++) {
        int offsets[MOST + 1] = {0}, corners[6 * MOST];
        float(*points)[3] = malloc(POINTS * sizeof *points), (*out)[3] = malloc(POINTS * sizeof *out);
        for (int v = 0; v < POINTS; v++)
            for (int c = 0; c < 3; c++)
                points[v][c] = (float)random_between(&random, -1, 1);
        for (int f = 0; f < faces; f++) {
            const int size = faces % 3 == 0 ? 4 : f % 7 == 0 ? 6 : 3 + f % 2;
            offsets[f + 1] = offsets[f] + size;
            for (int k = 0; k < size; k++) /* vertex 3 in many, vertex 5 in none */
                corners[offsets[f] + k] = k == 1 && f % 2 ? 3 : (7 * f + 11 * k + 6) % POINTS;
            for (int k = 0; k < size; k++)
                corners[offsets[f] + k] += corners[offsets[f] + k] == 5 ? 31 : 0;
        }
        ex_normals *n = NULL;
        const ex_normals_def def = {POINTS, faces, offsets, corners, EX_NORMAL_BY_AREA};
        assert_int_equal(ex_normals_create(&def, NULL, &n, NULL), EX_OK);
        compute(n, points[0], out[0]);
        for (int v = 0; v < POINTS; v++) {
            double sum[3] = {0}, length = 0, all = 0;
            for (int f = 0; f < faces; f++) {
                double own[3] = {0};
                add_area((const float(*)[3])points, corners + offsets[f], offsets[f + 1] - offsets[f], v, own);
                for (int c = 0; c < 3; c++)
                    sum[c] += own[c];
                all += sqrt(own[0] * own[0] + own[1] * own[1] + own[2] * own[2]);
            }
            for (int c = 0; c < 3; c++)
                length += sum[c] * sum[c];
            for (int c = 0; c < 3; c++)
                assert_near((double)out[v][c], length > 0 ? sum[c] / sqrt(length) : 0,
                            length > 0 ? 1e-6 + 6e-6 * all / sqrt(length) : 0);
        }
        ex_normals_destroy(n);
        free(points);
        free(out);
    }
}

/* A face and its reverse, begun at any corner: they cancel to the bit. */
static void test_two_sides(void **state) {
    (void)state;
    uint64_t random = 12;
    for (int size = 3; size <= 4; size++)
        for (int start = 0; start < size; start++) {
            float points[4 * 20][3], out[4 * 20][3];
            int corners[2 * 4 * 20];
            for (int v = 0; v < size * 20; v++)
                for (int c = 0; c < 3; c++)
                    points[v][c] = (float)random_between(&random, -1, 1);
            for (int f = 0; f < 20; f++)
                for (int k = 0; k < size; k++) {
                    corners[2 * size * f + k] = size * f + k;
                    corners[2 * size * f + size + k] = size * f + (start + size - k) % size;
                }
            ex_normals *n = create(size * 20, 40, size, corners, EX_NORMAL_BY_AREA);
            compute(n, points[0], out[0]);
            for (int v = 0; v < size * 20; v++)
                assert_true(out[v][0] == 0 && out[v][1] == 0 && out[v][2] == 0);
            ex_normals_destroy(n);
        }
}

/* The same for needles: the third corner is on the line between the others, within rounding. */
static void test_two_sides_of_needles(void **state) {
    (void)state;
    uint64_t random = 3;
    for (int round = 0; round < 2000; round++) {
        static const int corners[] = {0, 1, 2, 1, 0, 2};
        float points[3][3], out[3][3];
        const double t = random_between(&random, 0, 1);
        for (int c = 0; c < 3; c++) {
            const double a = random_between(&random, -1, 1), b = random_between(&random, -1, 1);
            points[0][c] = (float)a;
            points[1][c] = (float)b;
            points[2][c] = (float)((1 - t) * (double)points[0][c] + t * (double)points[1][c]);
        }
        ex_normals *n = create(3, 2, 3, corners, EX_NORMAL_BY_AREA);
        compute(n, points[0], out[0]);
        for (int i = 0; i < 9; i++)
            assert_true(out[i / 3][i % 3] == 0);
        ex_normals_destroy(n);
    }
}

/* Moved far away and made small: the same normals; without extent: zero. */
static void test_places_and_sizes(void **state) {
    (void)state;
    const float scales[] = {1e-12f, 1e-3f, 1, 1e12f};
    float moved[8][3], out[8][3];
    for (int k = 0; k < 2; k++) {
        ex_normals *n = create(8, 6, 4, cube_quads, (ex_normal_weighting)k);
        for (size_t i = 0; i < 4; i++) {
            for (int v = 0; v < 24; v++)
                moved[v / 3][v % 3] = cube[v / 3][v % 3] * scales[i] + 1000 * scales[i];
            compute(n, moved[0], out[0]);
            for (int v = 0; v < 24; v++)
                assert_near((double)out[v / 3][v % 3], (double)cube[v / 3][v % 3] / sqrt(3), 1e-4);
        }
        memset(moved, 0, sizeof moved);
        compute(n, moved[0], out[0]);
        for (int v = 0; v < 24; v++)
            assert_true(out[v / 3][v % 3] == 0);
        moved[3][1] = NAN;
        compute(n, moved[0], out[0]);
        for (int v = 0; v < 24; v++)
            assert_true(out[v / 3][v % 3] == 0);
        ex_normals_destroy(n);
    }
}

static void run_backwards(void *user, int count, int grain, ex_task_body body, void *context) {
    (void)grain;
    for (int end = count, size = *(int *)user; end > 0; end -= size)
        body(context, end > size ? end - size : 0, end);
}

/* A strip of 5000 quads, strided in and out, in pieces. */
static void test_strips(void **state) {
    (void)state;
    enum { QUADS = 5000, VERTICES = 2 * QUADS + 2 };
    int *offsets = malloc((QUADS + 1) * sizeof(int)), *corners = malloc(4 * QUADS * sizeof(int));
    float *positions = calloc(VERTICES * 4, 4), *packed = calloc(VERTICES * 3, 4), *whole = calloc(VERTICES * 5, 4),
          *cut = calloc(VERTICES * 5, 4);
    uint64_t random = 3;
    for (int f = 0; f < QUADS; f++) {
        const int quad[4] = {2 * f, 2 * f + 1, 2 * f + 3, 2 * f + 2};
        memcpy(corners + 4 * f, quad, sizeof quad);
        offsets[f] = 4 * f;
    }
    offsets[QUADS] = 4 * QUADS;
    for (int v = 0; v < VERTICES; v++)
        for (int c = 0; c < 3; c++)
            packed[3 * v + c] = positions[4 * v + c] = (float)random_between(&random, -1, 1);
    for (int k = 0; k < 2; k++) {
        ex_normals *n = NULL;
        ex_normals_def def = {VERTICES, QUADS, offsets, corners, (ex_normal_weighting)k};
        assert_int_equal(ex_normals_create(&def, NULL, &n, NULL), EX_OK);
        void *scratch = malloc(ex_normals_scratch_size(n));
        ex_normals_compute(n, positions, 16, whole, 20, NULL, scratch);
        int size = 777;
        ex_tasks tasks = {run_backwards, &size};
        ex_normals_compute(n, packed, 12, cut, 20, &tasks, scratch);
        assert_memory_equal(whole, cut, VERTICES * 20);
        for (int v = 0; v < VERTICES; v++)
            assert_near((double)(whole[5 * v] * whole[5 * v] + whole[5 * v + 1] * whole[5 * v + 1] +
                                 whole[5 * v + 2] * whole[5 * v + 2]),
                        1, 1e-6);
        free(scratch);
        ex_normals_destroy(n);
    }
    free(offsets);
    free(corners);
    free(positions);
    free(packed);
    free(whole);
    free(cut);
}

static void test_bad_definitions(void **state) {
    (void)state;
    for (int i = 0; i < 8; i++) {
        int offsets[] = {0, 4, 8}, corners[] = {0, 1, 2, 3, 1, 0, 5, 4};
        ex_normals_def def = {6, 2, offsets, corners, EX_NORMAL_BY_AREA};
        ex_result expected = EX_ERROR_DATA;
        const char *word = "face 1";
        switch (i) {
        case 0:
            offsets[0] = 1;
            word = "first face";
            break;
        case 1:
            offsets[2] = 6;
            break;
        case 2:
            corners[6] = 6;
            break;
        case 3:
            corners[6] = -1;
            break;
        case 4:
            def.vertex_count = -1;
            expected = EX_ERROR_ARGUMENT;
            word = "count";
            break;
        case 5:
            def.weighting = EX_NORMAL_WEIGHTING_COUNT;
            expected = EX_ERROR_ARGUMENT;
            word = "weighting";
            break;
        case 6:
            def.corners = NULL;
            expected = EX_ERROR_ARGUMENT;
            word = "corners";
            break;
        default:
            offsets[2] = 3;
            break;
        }
        ex_normals *normals = (ex_normals *)1;
        ex_error error = {.result = EX_OK};
        assert_int_equal(ex_normals_create(&def, NULL, &normals, &error), expected);
        assert_null(normals);
        assert_sentence(&error, expected, word);
    }
    ex_normals *empty = NULL;
    assert_int_equal(ex_normals_create(&(ex_normals_def){.vertex_count = 2}, NULL, &empty, NULL), EX_OK);
    float positions[6] = {0}, out[6] = {1, 1, 1, 1, 1, 1};
    compute(empty, positions, out);
    assert_true(out[0] == 0 && out[5] == 0);
    ex_normals_destroy(empty);
}

static int misuses;
static void count_misuse(const char *function, const char *what) {
    (void)function;
    (void)what;
    misuses++;
}

static void test_misuse(void **state) {
    (void)state;
    ex_set_misuse_hook(count_misuse);
    misuses = 0;
    ex_normals_create(NULL, NULL, NULL, NULL);
    ex_normals_compute(NULL, NULL, 0, NULL, 0, NULL, NULL);
    assert_int_equal(misuses, 2);
    ex_set_misuse_hook(NULL);
    ex_normals_destroy(NULL);
}

/* Nothing is written with a stride or at an address that is not a multiple of four bytes, or with too small a stride.
 */
static void test_unaligned(void **state) {
    (void)state;
    static const struct {
        size_t in, out, shift_in, shift_out, shift_scratch;
    } cases[] = {{13, 0, 0, 0, 0}, {0, 14, 0, 0, 0}, {8, 0, 0, 0, 0}, {0, 4, 0, 0, 0},
                 {0, 0, 1, 0, 0},  {0, 0, 0, 2, 0},  {0, 0, 0, 0, 3}};
    const int offsets[] = {0, 4, 8, 12, 16, 20, 24};
    const ex_normals_def def = {8, 6, offsets, cube_quads, EX_NORMAL_BY_AREA};
    ex_normals *normals = NULL;
    assert_int_equal(ex_normals_create(&def, NULL, &normals, NULL), EX_OK);
    char *scratch = malloc(ex_normals_scratch_size(normals) + 4);
    _Alignas(float) char in[8 * 16] = {0}, out[8 * 16], same[8 * 16];
    memset(out, 0x77, sizeof out);
    memset(same, 0x77, sizeof same);
    ex_set_misuse_hook(count_misuse);
    misuses = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ex_normals_compute(normals, (const float *)(const void *)(in + cases[i].shift_in), cases[i].in,
                           (float *)(void *)(out + cases[i].shift_out), cases[i].out, NULL,
                           scratch + cases[i].shift_scratch);
    ex_set_misuse_hook(NULL);
    assert_int_equal(misuses, sizeof cases / sizeof *cases);
    assert_memory_equal(out, same, sizeof out);
    free(scratch);
    ex_normals_destroy(normals);
}

static ex_result attempt(void *context, const ex_allocator *allocator) {
    ex_normals *normals = NULL;
    ex_result result = ex_normals_create(context, allocator, &normals, NULL);
    ex_normals_destroy(normals);
    return result;
}

static void test_memory(void **state) {
    (void)state;
    int offsets[] = {0, 4, 8, 12, 16, 20, 24};
    ex_normals_def def = {8, 6, offsets, cube_quads, EX_NORMAL_BY_ANGLE};
    assert_int_equal(failing_allocator_sweep(attempt, &def), 1);
    def.weighting = EX_NORMAL_BY_AREA;
    assert_int_equal(failing_allocator_sweep(attempt, &def), 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cube),      cmocka_unit_test(test_strip),
        cmocka_unit_test(test_by_hand),   cmocka_unit_test(test_places_and_sizes),
        cmocka_unit_test(test_strips),    cmocka_unit_test(test_bad_definitions),
        cmocka_unit_test(test_misuse),    cmocka_unit_test(test_unaligned),
        cmocka_unit_test(test_memory),    cmocka_unit_test(test_mixed_faces),
        cmocka_unit_test(test_two_sides), cmocka_unit_test(test_two_sides_of_needles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
