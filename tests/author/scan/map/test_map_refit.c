/*
 * Refitting: the new cage's limit surface passes through the displaced one at the control points, at rest and at a
 * pose, with boundaries and where the limit masks are singular; zero displacements change nothing.
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

static void must_refit(const ex_rig *rig, const ex_transform *joints, const ex_displacement_map *map,
                       float *positions) {
    ex_error error;
    if (ex_displacement_map_refit(rig, EX_LEVEL_LIMIT, joints, map, positions, &error) != EX_OK)
        fail_msg("%s", error.text);
}

static void goes_through(void **state) {
    (void)state;
    uint64_t seed = 11;
    const double bends[3] = {0, 60, -100};
    for (int i = 0; i < 3; i++) {
        ex_mesh *cage = limb_cage();
        for (int k = 0; k < 3 * cage->vertex_count; k++)
            cage->positions[k] += random_between(&seed, -0.008, 0.008);
        ex_rig *rig = limb_rig(cage, 2);
        ex_transform joints[LIMB_JOINTS];
        limb_bend(bends[i], joints);
        ex_displacement_map *map = limb_map(rig, 0.01);
        float *p, *n, *q, *m, *positions = malloc(3 * (size_t)cage->vertex_count * sizeof *positions);
        assert_non_null(positions);
        must_refit(rig, joints, map, positions);
        limb_surface(rig, joints, &p, &n);
        double moved = 0;
        for (int k = 0; k < 3 * cage->vertex_count; k++) {
            moved += fabs((double)positions[k] - cage->positions[k]);
            cage->positions[k] = (double)positions[k];
        }
        assert_true(moved > 0.1);
        ex_rig *refitted = limb_rig(cage, 2);
        limb_surface(refitted, joints, &q, &m);
        for (int k = 0; k < 3 * cage->vertex_count; k++)
            assert_near((double)q[k], (double)p[k] + (double)map->displacements[k / 3] * (double)n[k], 3e-7);
        free(p);
        free(n);
        free(q);
        free(m);
        free(positions);
        ex_displacement_map_destroy(map);
        ex_rig_destroy(refitted);
        ex_rig_destroy(rig);
        ex_mesh_destroy(cage);
    }
}

static void nothing_displaced(void **state) {
    (void)state;
    ex_mesh *cage = limb_cage();
    ex_rig *rig = limb_rig(cage, 1);
    ex_transform joints[LIMB_JOINTS];
    limb_bend(70, joints);
    ex_displacement_map *map = limb_map(rig, 0);
    float positions[3 * LIMB_RINGS * LIMB_SIDES];
    must_refit(rig, joints, map, positions);
    for (int k = 0; k < 3 * cage->vertex_count; k++)
        assert_near((double)positions[k], cage->positions[k], 1e-6);
    ex_displacement_map_destroy(map);
    ex_rig_destroy(rig);
    ex_mesh_destroy(cage);
}

/* Limit masks of a cube do not see alternating motions of its corners in and out. All corners out by the same: the cube
 * grows, by sqrt(3) d / 3 times what the masks shrink it by. */
static void a_cube(void **state) {
    (void)state;
    static const int faces[24] = {0, 1, 3, 2, 4, 6, 7, 5, 0, 4, 5, 1, 2, 3, 7, 6, 0, 2, 6, 4, 1, 5, 7, 3};
    ex_mesh *cage = ex_mesh_create();
    assert_non_null(cage);
    cage->vertex_count = 8;
    cage->face_count = 6;
    cage->corner_count = 24;
    cage->positions = malloc(24 * sizeof(double));
    cage->corners = malloc(sizeof faces);
    cage->face_offsets = malloc(7 * sizeof(int));
    assert_true(cage->positions && cage->corners && cage->face_offsets);
    memcpy(cage->corners, faces, sizeof faces);
    for (int v = 0; v < 24; v++)
        cage->positions[v] = v / 3 >> (2 - v % 3) & 1 ? 1 : -1;
    for (int f = 0; f <= 6; f++)
        cage->face_offsets[f] = 4 * f;
    ex_rig *rig = limb_rig_of(cage, NULL, NULL, 1);
    float *p, *n, positions[24];
    limb_surface(rig, NULL, &p, &n);
    ex_displacement_map *map = ex_displacement_map_create(ex_rig_level_vertex_count(rig, EX_LEVEL_LIMIT));
    assert_non_null(map);
    for (int turns = 0; turns < 2; turns++) {
        for (int v = 0; v < map->vertex_count; v++) {
            const int bits = v & 7, odd = (bits ^ bits >> 1 ^ bits >> 2) & 1;
            map->displacements[v] = turns && odd ? -0.1F : 0.1F;
        }
        must_refit(rig, NULL, map, positions);
        for (int k = 0; k < 24; k++) {
            const double shrunk = fabs((double)p[k]), grown = (shrunk + 0.1 / sqrt(3)) / shrunk;
            if (turns)
                assert_true(fabs((double)positions[k]) < 3);
            else
                assert_near((double)positions[k], grown * cage->positions[k], 1e-5);
        }
    }
    ex_displacement_map_destroy(map);
    free(p);
    free(n);
    ex_rig_destroy(rig);
    ex_mesh_destroy(cage);
}

static void invalid(void **state) {
    (void)state;
    ex_rig *rig = limb_sheet_rig(2, 1, 1);
    ex_displacement_map *map = ex_displacement_map_create(25), *small = ex_displacement_map_create(9);
    float positions[27];
    ex_error error;
    assert_true(map && small);
    assert_int_equal(ex_displacement_map_refit(rig, 1, NULL, small, positions, &error), EX_ERROR_ARGUMENT);
    assert_sentence(&error, EX_ERROR_ARGUMENT, "9 vertices");
    assert_int_equal(ex_displacement_map_refit(rig, 0, NULL, small, positions, &error), EX_ERROR_ARGUMENT);
    assert_sentence(&error, EX_ERROR_ARGUMENT, "level 0");
    assert_int_equal(ex_displacement_map_refit(rig, 4, NULL, map, positions, &error), EX_ERROR_ARGUMENT);
    assert_sentence(&error, EX_ERROR_ARGUMENT, "level 4");
    map->displacements[20] = INFINITY;
    assert_int_equal(ex_displacement_map_refit(rig, 1, NULL, map, positions, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "vertex 20");
    ex_displacement_map_destroy(map);
    ex_displacement_map_destroy(small);
    ex_rig_destroy(rig);
}

typedef struct attempt_context {
    const ex_rig *rig;
    const ex_displacement_map *map;
} attempt_context;

static ex_result attempt(void *context) {
    const attempt_context *c = context;
    float positions[3 * LIMB_RINGS * LIMB_SIDES];
    ex_error error;
    return ex_displacement_map_refit(c->rig, EX_LEVEL_LIMIT, NULL, c->map, positions, &error);
}

static void memory_runs_out(void **state) {
    (void)state;
    ex_mesh *cage = limb_cage();
    ex_rig *rig = limb_rig(cage, 0);
    ex_displacement_map *map = limb_map(rig, 0.01);
    assert_true(fail_alloc_sweep(attempt, &(attempt_context){rig, map}) > 30);
    ex_displacement_map_destroy(map);
    ex_rig_destroy(rig);
    ex_mesh_destroy(cage);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goes_through), cmocka_unit_test(nothing_displaced), cmocka_unit_test(a_cube),
        cmocka_unit_test(invalid),      cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
