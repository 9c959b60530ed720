/*
 * Parts: areas of joints, and masks of parts that overlap, on a strip by hand, with three parts, with one inside
 * another, with parts that only touch.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/limbs.h"

enum { SQUARES = 10, SIDE = SQUARES + 1, COUNT = SIDE * SIDE, PARTS = 3 };

typedef struct strip {
    ex_rig *rig;
    unsigned char covered[PARTS][COUNT];
    float masks[PARTS][COUNT];
    const unsigned char *covered_list[PARTS];
    float *mask_list[PARTS];
} strip;

/* Rows of a sheet of 10 squares, 1 across. */
static void open_strip(strip *s) {
    memset(s, 0, sizeof *s);
    s->rig = limb_sheet_rig(SQUARES, 1, 0);
    for (int p = 0; p < PARTS; p++) {
        s->covered_list[p] = s->covered[p];
        s->mask_list[p] = s->masks[p];
    }
}

static void cover_rows(strip *s, int part, int first, int last) {
    for (int v = 0; v < COUNT; v++)
        s->covered[part][v] = v / SIDE >= first && v / SIDE <= last;
}

static void must_mask(strip *s, int part_count) {
    ex_error error;
    if (ex_displacement_map_masks(s->rig, 0, s->covered_list, part_count, s->mask_list, &error) != EX_OK)
        fail_msg("%s", error.text);
}

static double wave(double t) {
    return (1 + cos((t - 1) * 3.14159265358979323846)) / 2;
}

/* Rows 3 to 7 belong to both: 0 and 1 at the ends, a cosine between them. */
static void two_parts(void **state) {
    (void)state;
    strip s;
    open_strip(&s);
    cover_rows(&s, 0, 0, 7);
    cover_rows(&s, 1, 3, 9);
    must_mask(&s, 2);
    for (int v = 0; v < COUNT; v++) {
        const int row = v / SIDE;
        const double first = row <= 3 ? 1 : row >= 7 ? 0 : wave((7 - row) / 4.0);
        assert_near((double)s.masks[0][v], row == 10 ? 0 : first, 1e-6);
        assert_near((double)s.masks[1][v], row == 10 ? 0 : 1 - first, 1e-6); /* row 10 belongs to nobody */
    }
    ex_rig_destroy(s.rig);
}

/* Masks sum to 1, and begin with 0 where their part does. */
static void three_parts(void **state) {
    (void)state;
    strip s;
    open_strip(&s);
    cover_rows(&s, 0, 0, 7);
    cover_rows(&s, 1, 3, 10);
    for (int v = 0; v < COUNT; v++) /* columns, across both */
        s.covered[2][v] = v % SIDE >= 4;
    must_mask(&s, 3);
    for (int v = 0; v < COUNT; v++) {
        const int row = v / SIDE, column = v % SIDE;
        assert_near((double)s.masks[0][v] + (double)s.masks[1][v] + (double)s.masks[2][v], 1, 1e-6);
        for (int p = 0; p < PARTS; p++)
            assert_true(s.masks[p][v] >= 0 && (s.covered[p][v] || s.masks[p][v] == 0));
        if (column <= 4)
            assert_near((double)s.masks[2][v], 0, 1e-6);
        if (column <= 4 && row > 3 && row < 7)
            assert_near((double)s.masks[0][v], wave((7 - row) / 4.0), 1e-6);
        if (row >= 7)
            assert_near((double)s.masks[0][v], 0, 1e-6);
    }
    ex_rig_destroy(s.rig);
}

/* A part that is everything, and one inside it that takes over towards its middle. */
static void one_inside_of_another(void **state) {
    (void)state;
    strip s;
    open_strip(&s);
    cover_rows(&s, 0, 0, 10);
    cover_rows(&s, 1, 2, 8);
    must_mask(&s, 2);
    for (int v = 0; v < COUNT; v++) {
        const int row = v / SIDE, inside = row < 5 ? row - 2 : 8 - row;
        assert_near((double)s.masks[1][v], inside <= 0 ? 0 : wave(inside / 3.0), 1e-6);
        assert_near((double)s.masks[0][v] + (double)s.masks[1][v], 1, 1e-6);
    }
    cover_rows(&s, 1, 0, 10); /* two that are everything share */
    must_mask(&s, 2);
    for (int v = 0; v < COUNT; v++)
        assert_near((double)s.masks[0][v], 0.5, 1e-6);
    cover_rows(&s, 0, 0, 5); /* one row in common */
    cover_rows(&s, 1, 5, 10);
    must_mask(&s, 2);
    for (int v = 0; v < COUNT; v++)
        assert_near((double)s.masks[0][v], v / SIDE < 5 ? 1 : v / SIDE > 5 ? 0 : 0.5, 1e-6);
    ex_rig_destroy(s.rig);
}

/* ---- joints ---- */

static void covered_by_joints(void **state) {
    (void)state;
    ex_mesh *cage = limb_cage();
    strcpy(cage->group_names[0], "upper skin");
    ex_rig *rig = limb_rig(cage, 2);
    const int count = ex_rig_level_vertex_count(rig, EX_LEVEL_LIMIT);
    unsigned char *covered = malloc((size_t)count);
    float *p, *n;
    ex_error error;
    assert_non_null(covered);
    limb_surface(rig, NULL, &p, &n);
    static const char *const joints[2] = {"upper", "fore"};
    for (int first = 0; first < 2; first++)
        for (int many = 0; many <= 2 - first; many++) {
            assert_int_equal(ex_displacement_map_covered(rig, EX_LEVEL_LIMIT, joints + first, many, covered, &error),
                             EX_OK);
            for (int v = 0; v < count; v++) {
                const double x = (double)p[3 * v];
                const bool upper = x<0.3001, fore = x> 0.2999;
                assert_int_equal(covered[v], many == 2 || (many == 1 && (first ? fore : upper)));
            }
        }
    static const char *const unknown[1] = {"for"};
    assert_int_equal(ex_displacement_map_covered(rig, EX_LEVEL_LIMIT, unknown, 1, covered, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "'for'");
    assert_int_equal(ex_displacement_map_covered(rig, 9, joints, 1, covered, &error), EX_ERROR_ARGUMENT);
    assert_sentence(&error, EX_ERROR_ARGUMENT, "level 9");
    free(p);
    free(n);
    free(covered);
    ex_rig_destroy(rig);
    ex_mesh_destroy(cage);
}

/* ---- errors ---- */

static ex_result attempt(void *context) {
    strip *s = context;
    ex_error error;
    return ex_displacement_map_masks(s->rig, 0, s->covered_list, 2, s->mask_list, &error);
}

static void memory_runs_out(void **state) {
    (void)state;
    strip s;
    ex_error error;
    open_strip(&s);
    cover_rows(&s, 0, 0, 7);
    assert_true(fail_alloc_sweep(attempt, &s) > 10);
    assert_int_equal(ex_displacement_map_masks(s.rig, 7, s.covered_list, 2, s.mask_list, &error), EX_ERROR_ARGUMENT);
    assert_sentence(&error, EX_ERROR_ARGUMENT, "level 7");
    ex_rig_destroy(s.rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_parts),         cmocka_unit_test(three_parts),     cmocka_unit_test(one_inside_of_another),
        cmocka_unit_test(covered_by_joints), cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
