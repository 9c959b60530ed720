/* Numbers at vertices: distances between forms worked by hand, vertices moved by examples, weights of joints. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/pictures.h"
#include "support/whole_rigs.h"

#include <math.h>
#include <stdlib.h>

/* ---- between forms ---- */

static void the_same_vertex_where_faces_are_the_same(void **state) {
    (void)state;
    ex_mesh *a = ball_mesh(1, 0, 0, 0, 12), *b = ball_mesh(1, 3, -4, 0, 12);
    float *values = malloc((size_t)a->vertex_count * sizeof *values);
    bool by_vertex = false;
    assert_int_equal(ex_form_distances(a, b, values, &by_vertex, NULL, NULL), EX_OK);
    assert_true(by_vertex);
    for (int v = 0; v < a->vertex_count; v++)
        assert_near(values[v], 5, 1e-6);
    free(values);
    ex_mesh_destroy(a);
    ex_mesh_destroy(b);
}

/* A ball and a plate next to it, with other faces: each vertex has its distance, far from the origin too. */
static void the_nearest_point_elsewhere(void **state) {
    (void)state;
    ex_mesh *a = ball_mesh(1, 5000, 0, 0, 16), *plate = sheet_mesh(20, 20, 1, 1);
    for (int v = 0; v < plate->vertex_count; v++) {
        plate->positions[3 * v] += 5000;
        plate->positions[3 * v + 2] = 3;
    }
    float *values = malloc((size_t)a->vertex_count * sizeof *values);
    bool by_vertex = true;
    assert_int_equal(ex_form_distances(a, plate, values, &by_vertex, NULL, NULL), EX_OK);
    assert_false(by_vertex);
    for (int v = 0; v < a->vertex_count; v++)
        assert_near(values[v], 3 - a->positions[3 * v + 2], 1e-5);
    ex_mesh points = {.vertex_count = 1, .positions = plate->positions};
    ex_error error = {.result = EX_OK};
    assert_int_equal(ex_form_distances(a, &points, values, NULL, NULL, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "faces");
    free(values);
    ex_mesh_destroy(a);
    ex_mesh_destroy(plate);
}

/* ---- of rigs ---- */

static void of_a_rig(void **state) {
    (void)state;
    whole_rig w;
    whole_rig_open(&w, 30, WHOLE_ALL);
    ex_rig *rig = rig_of(&w.def);
    const int levels[3] = {0, 1, EX_LEVEL_LIMIT};
    float delta[3 * 30];
    int sparse = 0;
    for (int i = 0; i < 3; i++) {
        int count = ex_rig_level_vertex_count(rig, levels[i]);
        float *values = malloc((size_t)count * sizeof *values), *sums = calloc((size_t)count, sizeof *sums);
        /* The weights of all joints add up to 1, at every level. */
        for (int joint = 0; joint < WHOLE_JOINTS; joint++) {
            assert_int_equal(ex_rig_joint_weights(rig, joint, levels[i], values, NULL), EX_OK);
            for (int v = 0; v < count; v++) {
                assert_true(levels[i] != 0 || (values[v] >= 0 && values[v] <= 1));
                sums[v] += values[v];
            }
        }
        for (int v = 0; v < count && levels[i] == 0; v++)
            assert_near(sums[v], 1, 1e-5);
        for (int layer = 0; layer < ex_rig_layer_count(rig); layer++) {
            if (ex_rig_layer_domain(rig, layer) == EX_DOMAIN_PIXELS)
                continue;
            assert_int_equal(ex_rig_example_amounts(rig, layer, 1, levels[i], values, NULL), EX_OK);
            ex_rig_example_delta(rig, layer, 1, delta);
            sparse += ex_rig_layer_domain(rig, layer) == EX_DOMAIN_OFFSETS;
            for (int v = 0; v < count && levels[i] == 0; v++)
                assert_near(values[v],
                            sqrt((double)delta[3 * v] * (double)delta[3 * v] +
                                 (double)delta[3 * v + 1] * (double)delta[3 * v + 1] +
                                 (double)delta[3 * v + 2] * (double)delta[3 * v + 2]),
                            1e-6);
        }
        free(values);
        free(sums);
    }
    assert_int_equal(sparse, 3 * WHOLE_SPARSE);
    float value[1000];
    ex_error error = {.result = EX_OK};
    assert_int_equal(ex_rig_joint_weights(rig, WHOLE_JOINTS, 0, value, &error), EX_ERROR_ARGUMENT);
    assert_sentence(&error, EX_ERROR_ARGUMENT, "joint 6");
    assert_int_equal(ex_rig_joint_weights(rig, 0, 9, value, &error), EX_ERROR_ARGUMENT);
    assert_sentence(&error, EX_ERROR_ARGUMENT, "level 9");
    assert_int_equal(ex_rig_example_amounts(rig, 0, 99, 0, value, &error), EX_ERROR_ARGUMENT);
    assert_sentence(&error, EX_ERROR_ARGUMENT, "example 99");
    ex_rig_destroy(rig);
    whole_rig_close(&w);
}

/* ---- memory ---- */

static ex_mesh *meshes[2];
static ex_rig *small_rig;
static float room[4096];

static ex_result attempt_distances(void *context) {
    (void)context;
    return ex_form_distances(meshes[0], meshes[1], room, NULL, NULL, NULL);
}
static ex_result attempt_amounts(void *context) {
    (void)context;
    return ex_rig_example_amounts(small_rig, 0, 1, EX_LEVEL_LIMIT, room, NULL);
}
static ex_result attempt_weights(void *context) {
    (void)context;
    return ex_rig_joint_weights(small_rig, 1, 1, room, NULL);
}

static void memory_runs_out(void **state) {
    (void)state;
    meshes[0] = ball_mesh(1, 0, 0, 0, 8);
    meshes[1] = sheet_mesh(1, 1, 2, 2);
    whole_rig w;
    whole_rig_open(&w, 12, WHOLE_ALL);
    small_rig = rig_of(&w.def);
    assert_true(fail_alloc_sweep(attempt_distances, NULL) >= 4);
    assert_true(fail_alloc_sweep(attempt_amounts, NULL) >= 3);
    assert_true(fail_alloc_sweep(attempt_weights, NULL) >= 5);
    ex_rig_destroy(small_rig);
    whole_rig_close(&w);
    ex_mesh_destroy(meshes[0]);
    ex_mesh_destroy(meshes[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_vertex_where_faces_are_the_same),
        cmocka_unit_test(the_nearest_point_elsewhere),
        cmocka_unit_test(of_a_rig),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
