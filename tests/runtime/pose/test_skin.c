/* Making skins: normalisation of weights, their limits, reports, and every error of a definition. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/check.h"
#include "support/failing_allocator.h"
#include "support/poses.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ex_skin *skin_of(const ex_skin_def *def) {
    ex_skin *skin = NULL;
    ex_error error = {0};
    if (ex_skin_create(def, NULL, &skin, &error) != EX_OK)
        fail_msg("%s", error.text);
    return skin;
}

/* Five vertices: one joint; three in the wrong order and twice too heavy; zeros between; a joint named twice; six
 * joints. */
static void weights_by_hand(void **state) {
    (void)state;
    const uint32_t starts[6] = {0, 1, 4, 8, 11, 17};
    const uint32_t joints[17] = {2, 0, 1, 2, 5, 4, 3, 2, 1, 1, 0, 0, 1, 2, 3, 4, 5};
    const float weights[17] = {0.25f, 0.5f, 1, 0.5f, 0, 0.75f, 0, 0.25f, 0.25f, 0.5f, 0.25f, 1, 2, 3, 4, 5, 6};
    ex_skin *skin = skin_of(&(ex_skin_def){5, 6, starts, joints, weights});
    uint32_t j[6];
    float w[6];
    assert_int_equal(ex_skin_vertex_count(skin), 5);
    assert_int_equal(ex_skin_joint_count(skin), 6);
    assert_int_equal(ex_skin_influences(skin, 0, j, w), 1);
    assert_true(j[0] == 2 && w[0] == 1);
    assert_int_equal(ex_skin_influences(skin, 1, j, w), 3);
    assert_true(j[0] == 1 && w[0] == 0.5f && j[1] == 0 && w[1] == 0.25f && j[2] == 2 && w[2] == 0.25f);
    assert_int_equal(ex_skin_influences(skin, 2, j, w), 2);
    assert_true(j[0] == 4 && w[0] == 0.75f && j[1] == 2 && w[1] == 0.25f);
    assert_int_equal(ex_skin_influences(skin, 3, j, w), 2);
    assert_true(j[0] == 1 && w[0] == 0.75f && j[1] == 0 && w[1] == 0.25f);
    assert_int_equal(ex_skin_influences(skin, 4, j, w), 6);
    double sum = 0;
    for (int i = 0; i < 6; i++) {
        assert_int_equal(j[i], 5 - i);
        assert_near((double)w[i], (6 - i) / 21.0, 1e-7);
        sum += (double)w[i];
    }
    assert_near(sum, 1, 0x1p-26);
    assert_int_equal(ex_skin_influences(skin, 4, NULL, NULL), 6);
    ex_skin_info info = ex_skin_get_info(skin);
    assert_int_equal(info.influence_most, 6);
    assert_int_equal(info.long_count, 1);
    assert_int_equal(info.unnormalised_count, 3);
    assert_int_equal(info.worst_vertex, 4);
    assert_near(info.largest_deviation, 20, 1e-12);
    ex_skin_destroy(skin);
}

/* Sums are 1 to half a unit of the heaviest weight, and a skin's own weights make the same skin again, to the bit. */
static void weights_of_weights(void **state) {
    (void)state;
    enum { V = 5000, J = 30, MOST = 9 };
    uint64_t random = 21;
    ex_skin *skin = random_skin(&random, V, J, MOST), *again;
    uint32_t *starts = calloc(V + 1, sizeof *starts), *joints = malloc(V * MOST * sizeof *joints);
    float *weights = malloc(V * MOST * sizeof *weights);
    for (int v = 0; v < V; v++) {
        int count = ex_skin_influences(skin, v, joints + starts[v], weights + starts[v]);
        double sum = 0;
        for (int i = 0; i < count; i++) {
            const float *w = weights + starts[v] + i;
            sum += (double)*w;
            assert_true(i == 0 || w[-1] > *w ||
                        (w[-1] == *w && joints[starts[v] + (uint32_t)i - 1] < joints[starts[v] + (uint32_t)i]));
        }
        assert_near(sum, 1, 0x1p-25);
        starts[v + 1] = starts[v] + (uint32_t)count;
    }
    again = skin_of(&(ex_skin_def){V, J, starts, joints, weights});
    assert_int_equal(ex_skin_get_info(again).unnormalised_count, 0);
    assert_true(ex_skin_get_info(again).largest_deviation <= 0x1p-25);
    for (int v = 0; v < V; v++) {
        uint32_t j[MOST];
        float w[MOST];
        int count = ex_skin_influences(again, v, j, w);
        assert_int_equal(count, starts[v + 1] - starts[v]);
        assert_memory_equal(w, weights + starts[v], (size_t)count * sizeof *w);
        assert_memory_equal(j, joints + starts[v], (size_t)count * sizeof *j);
    }
    ex_skin_destroy(again);
    starts[1] = 2, joints[0] = 3, joints[1] = 1, weights[0] = 0.5f, weights[1] = 0.5f + 0x1p-24f; /* off by a unit */
    again = skin_of(&(ex_skin_def){1, J, starts, joints, weights});
    float kept[2];
    assert_int_equal(ex_skin_influences(again, 0, NULL, kept), 2);
    assert_true(kept[0] == weights[1] && kept[1] == weights[0]);
    free(starts);
    free(joints);
    free(weights);
    ex_skin_destroy(skin);
    ex_skin_destroy(again);
}

/* The same if joints are named twice: the sum of two floats is rounded, so that weights which summed to 1 may no longer
 * do so. */
static void weights_of_joined_weights(void **state) {
    (void)state;
    enum { V = 5000, J = 30, MOST = 9 };
    uint64_t random = 22;
    ex_skin *skin = random_skin(&random, V, J, MOST);
    uint32_t *starts = calloc(V + 1, sizeof *starts), *joints = malloc(V * MOST * sizeof *joints);
    float *weights = malloc(V * MOST * sizeof *weights);
    for (int round = 0; round < 2; round++) {
        for (int v = 0; v < V; v++) {
            int count = ex_skin_influences(skin, v, joints + starts[v], weights + starts[v]);
            starts[v + 1] = starts[v] + (uint32_t)count;
            if (round == 1)
                continue;
            for (uint32_t i = starts[v] + 1; i < starts[v + 1]; i += 3)
                joints[i] = joints[starts[v]];
            weights[starts[v]] = nextafterf(weights[starts[v]], 2); /* about the largest difference that is kept */
        }
        ex_skin *again = skin_of(&(ex_skin_def){V, J, starts, joints, weights});
        for (int v = 0; round == 1 && v < V; v++) {
            uint32_t j[MOST];
            float w[MOST];
            int count = ex_skin_influences(again, v, j, w);
            assert_int_equal(count, starts[v + 1] - starts[v]);
            assert_memory_equal(w, weights + starts[v], (size_t)count * sizeof *w);
            assert_memory_equal(j, joints + starts[v], (size_t)count * sizeof *j);
        }
        ex_skin_destroy(skin);
        skin = again;
    }
    free(starts);
    free(joints);
    free(weights);
    ex_skin_destroy(skin);
}

/* The largest and the smallest weights of a float. */
static void extreme_weights(void **state) {
    (void)state;
    const uint32_t starts[4] = {0, 3, 5, 7}, joints[7] = {0, 1, 1, 0, 1, 0, 1};
    const float weights[7] = {3e38f, 3e38f, 3e38f, 1e-45f, 1e-45f, 1, 1e-30f};
    ex_skin *skin = skin_of(&(ex_skin_def){3, 2, starts, joints, weights});
    uint32_t j[2];
    float w[2];
    assert_int_equal(ex_skin_influences(skin, 0, j, w), 2);
    assert_true(j[0] == 1);
    assert_near((double)w[0], 2 / 3.0, 1e-7);
    assert_int_equal(ex_skin_influences(skin, 1, j, w), 2);
    assert_true(w[0] == 0.5f && w[1] == 0.5f);
    assert_true(ex_skin_influences(skin, 2, j, w) >= 1 && w[0] == 1);
    ex_skin_destroy(skin);
    skin = skin_of(&(ex_skin_def){.joint_count = 1});
    assert_int_equal(ex_skin_get_info(skin).worst_vertex, -1);
    ex_skin_apply(skin, NULL, NULL); /* misuse does nothing */
    ex_skin_destroy(skin);
}

/* ---- errors ---- */

static uint32_t sound_starts[4], sound_joints[6];
static float sound_weights[6];

static ex_skin_def sound(void) {
    memcpy(sound_starts, ((uint32_t[]){0, 2, 4, 6}), sizeof sound_starts);
    memcpy(sound_joints, ((uint32_t[]){0, 1, 1, 2, 2, 0}), sizeof sound_joints);
    for (int i = 0; i < 6; i++)
        sound_weights[i] = 0.5f;
    return (ex_skin_def){3, 3, sound_starts, sound_joints, sound_weights};
}

static void assert_refused(const ex_skin_def *def, ex_result result, const char *word) {
    failing_allocator f;
    failing_allocator_open(&f);
    ex_skin *skin = NULL;
    ex_error error = {0};
    assert_int_equal(ex_skin_create(def, &f.allocator, &skin, &error), result);
    assert_null(skin);
    assert_sentence(&error, result, word);
    assert_int_equal(ex_skin_create(def, &f.allocator, &skin, NULL), result);
    failing_allocator_close(&f);
}

static void wrong_definitions_are_refused(void **state) {
    (void)state;
    ex_skin_def def = sound();
    def.vertex_count = -1;
    assert_refused(&def, EX_ERROR_ARGUMENT, "negative");
    def = sound(), def.joint_count = 0;
    assert_refused(&def, EX_ERROR_ARGUMENT, "no joint");
    def = sound(), def.joint_count = EX_JOINT_MAX + 1;
    assert_refused(&def, EX_ERROR_LIMIT, "at most 65535");
    def = sound(), def.starts = NULL;
    assert_refused(&def, EX_ERROR_ARGUMENT, "missing");
    def = sound(), def.joints = NULL;
    assert_refused(&def, EX_ERROR_ARGUMENT, "missing");
    def = sound(), def.weights = NULL;
    assert_refused(&def, EX_ERROR_ARGUMENT, "missing");
    for (int v = 0; v < 3; v++) {
        char word[96];
        for (int i = 0; i < 2; i++) {
            def = sound(), sound_weights[2 * v + i] = -0.25f;
            snprintf(word, sizeof word, "vertex %d: its weight for joint %u is negative", v, sound_joints[2 * v + i]);
            assert_refused(&def, EX_ERROR_DATA, word);
            def = sound(), sound_weights[2 * v + i] = i ? NAN : INFINITY;
            snprintf(word, sizeof word, "vertex %d: its weight for joint %u is not finite", v, sound_joints[2 * v + i]);
            assert_refused(&def, EX_ERROR_DATA, word);
            def = sound(), sound_joints[2 * v + i] = 3;
            snprintf(word, sizeof word, "vertex %d is moved by joint 3, but joints are numbered 0 to 2", v);
            assert_refused(&def, EX_ERROR_DATA, word);
        }
        def = sound(), sound_weights[2 * v] = sound_weights[2 * v + 1] = 0;
        snprintf(word, sizeof word, "vertex %d: its weights sum to 0", v);
        assert_refused(&def, EX_ERROR_DATA, word);
    }
    def = sound(), sound_starts[1] = 0;
    assert_refused(&def, EX_ERROR_DATA, "vertex 0 is moved by no joint");
    def = sound(), sound_starts[1] = 5;
    assert_refused(&def, EX_ERROR_DATA, "vertex 1: its influences end before they begin");
    static uint32_t many_joints[EX_INFLUENCE_MAX + 1];
    static float many_weights[EX_INFLUENCE_MAX + 1];
    for (int i = 0; i <= EX_INFLUENCE_MAX; i++) {
        many_joints[i] = (uint32_t)i;
        many_weights[i] = 1;
    }
    uint32_t starts[2] = {0, EX_INFLUENCE_MAX + 1};
    def = (ex_skin_def){1, 2000, starts, many_joints, many_weights};
    assert_refused(&def, EX_ERROR_LIMIT, "vertex 0 has 1025 influences; at most 1024");
    starts[1]--;
    ex_skin *skin = skin_of(&def);
    assert_int_equal(ex_skin_influences(skin, 0, NULL, NULL), EX_INFLUENCE_MAX);
    ex_skin_destroy(skin);
}

static ex_result create(void *context, const ex_allocator *allocator) {
    ex_skin *skin = NULL;
    ex_result result = ex_skin_create(context, allocator, &skin, NULL);
    assert_true((result == EX_OK) == (skin != NULL));
    ex_skin_destroy(skin);
    return result;
}

static void one_allocation_and_it_may_fail(void **state) {
    (void)state;
    ex_skin_def def = sound();
    assert_int_equal(failing_allocator_sweep(create, &def), 1);
    ex_skin_destroy(NULL);
}

static void names_of_methods(void **state) {
    (void)state;
    assert_string_equal(ex_skinning_name(EX_SKINNING_LINEAR), "linear");
    assert_string_equal(ex_skinning_name(EX_SKINNING_DUAL_QUATERNION), "dual_quaternion");
    assert_string_equal(ex_skinning_name(EX_SKINNING_COUNT), "unknown");
}

static int misuses;
static void count_misuse(const char *function, const char *what) {
    assert_non_null(strstr(function, "ex_"));
    assert_non_null(what);
    misuses++;
}

/* The first and the last vertex have influences; their neighbours outside are misuse. */
static void only_vertices_have_influences(void **state) {
    (void)state;
    ex_skin *skin = skin_of(&(ex_skin_def){2, 1, (uint32_t[]){0, 1, 2}, (uint32_t[]){0, 0}, (float[]){1, 1}});
    const int before = misuses;
    assert_int_equal(ex_skin_influences(skin, 0, NULL, NULL), 1);
    assert_int_equal(ex_skin_influences(skin, 1, NULL, NULL), 1);
    assert_int_equal(misuses, before);
    assert_int_equal(ex_skin_influences(skin, -1, NULL, NULL), 0);
    assert_int_equal(ex_skin_influences(skin, 2, NULL, NULL), 0);
    assert_int_equal(ex_skin_influences(NULL, 0, NULL, NULL), 0);
    assert_int_equal(misuses, before + 3);
    misuses = before;
    ex_skin_destroy(skin);
}

static int set_up(void **state) {
    (void)state;
    ex_set_misuse_hook(count_misuse);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    ex_set_misuse_hook(NULL);
    return misuses == 1 ? 0 : -1;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_by_hand),
        cmocka_unit_test(weights_of_weights),
        cmocka_unit_test(weights_of_joined_weights),
        cmocka_unit_test(extreme_weights),
        cmocka_unit_test(wrong_definitions_are_refused),
        cmocka_unit_test(one_allocation_and_it_may_fail),
        cmocka_unit_test(names_of_methods),
        cmocka_unit_test(only_vertices_have_influences),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
