/*
 * Turning vectors with the skin: a quarter turn by hand, the blended rotation against quaternions summed in double,
 * with any method of skinning and any number of influences; lists, strides, and joints that do more than turn.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/check.h"
#include "support/poses.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { V = 203, J = 24 };

typedef struct scene {
    ex_skin *skin;
    ex_palette *palette;
    void *memory;
    ex_transform joints[J];
} scene;

static ex_palette *palette_with_rotations(ex_skinning method, int joint_count, const float *matrices, void **memory) {
    *memory = malloc(ex_palette_size(method, joint_count));
    assert_non_null(*memory);
    const ex_palette_def def = {
        .method = method, .joint_count = joint_count, .matrices = matrices, .rotations = method == EX_SKINNING_LINEAR};
    ex_palette *palette = ex_palette_make(&def, *memory);
    assert_non_null(palette);
    return palette;
}

static void open_scene(scene *s, int most, ex_skinning method, double stretch) {
    uint64_t random = 77;
    float matrices[12 * J];
    s->skin = random_skin(&random, V, J, most);
    for (int j = 0; j < J; j++) {
        s->joints[j] = random_rigid(&random, 1);
        for (int c = 0; c < 3; c++)
            s->joints[j].scale[c] = (float)stretch;
        ex_transform_matrix(&s->joints[j], matrices + 12 * j);
    }
    s->palette = palette_with_rotations(method, J, matrices, &s->memory);
}

static void close_scene(scene *s) {
    ex_skin_destroy(s->skin);
    free(s->memory);
}

/* The joints' quaternions of length 1, each with the sign nearest to the heaviest, summed; false if too near the limit
 * to tell. */
static bool blend(const scene *s, int vertex, double q[4]) {
    uint32_t joints[J];
    float weights[J];
    double pivot[4], length = 0;
    const int count = ex_skin_influences(s->skin, vertex, joints, weights);
    memset(q, 0, 4 * sizeof *q);
    for (int i = 0; i < count; i++) {
        double own[4], dot = 0, size = 0;
        for (int c = 0; c < 4; c++) {
            own[c] = (double)s->joints[joints[i]].rotation[c];
            size += own[c] * own[c];
        }
        for (int c = 0; c < 4; c++)
            own[c] /= sqrt(size);
        if (i == 0)
            memcpy(pivot, own, sizeof pivot);
        for (int c = 0; c < 4; c++)
            dot += own[c] * pivot[c];
        if (fabs(dot) < 1e-3)
            return false;
        for (int c = 0; c < 4; c++)
            q[c] += (dot < 0 ? -1 : 1) * (double)weights[i] * own[c];
    }
    for (int c = 0; c < 4; c++)
        length += q[c] * q[c];
    for (int c = 0; c < 4; c++)
        q[c] /= sqrt(length);
    return true;
}

/* One vertex that a joint turns by 90 degrees about z, and one that two turn by 90 and -30: between them, 30. */
static void by_hand(void **state) {
    (void)state;
    const uint32_t joints[] = {0, 0, 1}, starts[] = {0, 1, 3};
    const float weights[] = {1, 0.5F, 0.5F};
    const ex_skin_def def = {
        .vertex_count = 2, .joint_count = 2, .starts = starts, .joints = joints, .weights = weights};
    ex_transform turns[2] = {turned(90, 0, 0, 1), turned(-30, 0, 0, 1)};
    float matrices[24], positions[6] = {5, 6, 7, 0, 0, 0};
    const float vectors[6] = {1, 0, 3, 2, 0, 0};
    const uint32_t vertices[] = {0, 1};
    for (int method = 0; method < EX_SKINNING_COUNT; method++) {
        ex_skin *skin = NULL;
        void *memory;
        double q[4];
        float places[6];
        memcpy(places, positions, sizeof places);
        for (int j = 0; j < 2; j++)
            ex_transform_matrix(&turns[j], matrices + 12 * j);
        assert_int_equal(ex_skin_create(&def, NULL, &skin, NULL), EX_OK);
        const ex_palette *palette = palette_with_rotations((ex_skinning)method, 2, matrices, &memory);
        ex_skin_turn(skin, palette,
                     &(ex_turn_job){.count = 2, .vertices = vertices, .vectors = vectors, .positions = places});
        const double expected[6] = {5, 7, 10, 2 * cos(0.5235987755982988), 1, 0};
        for (int i = 0; i < 6; i++)
            assert_near((double)places[i], expected[i], 1e-6);
        ex_skin_vertex_rotation(skin, palette, 1, q);
        assert_near(fabs(q[3]), cos(0.2617993877991494), 1e-6);
        ex_skin_destroy(skin);
        free(memory);
    }
}

/* Stretches do not matter: a vector is turned, and keeps its length. */
static void rotations_are_blended_as_quaternions(void **state) {
    (void)state;
    static const int influences[] = {1, 4, 9};
    for (int n = 0; n < 12; n++) {
        scene s;
        int compared = 0;
        open_scene(&s, influences[n % 3], n < 6 ? EX_SKINNING_LINEAR : EX_SKINNING_DUAL_QUATERNION,
                   n % 6 < 3 ? 1 : 1.5);
        for (uint32_t v = 0; v < V; v++) {
            double expected[4], q[4], dot = 0, vector[3] = {0.5, -0.25, 2}, m[12], out[3];
            float place[3 * V] = {0}, from[3];
            if (!blend(&s, (int)v, expected))
                continue;
            ex_skin_vertex_rotation(s.skin, s.palette, (int)v, q);
            for (int c = 0; c < 4; c++)
                dot += q[c] * expected[c];
            assert_near(fabs(dot), 1, 1e-6);
            ex_transform turn = ex_transform_identity();
            for (int c = 0; c < 4; c++)
                turn.rotation[c] = (float)expected[c];
            oracle_matrix(&turn, m);
            oracle_apply(m, vector, out);
            for (int c = 0; c < 3; c++)
                from[c] = (float)vector[c];
            ex_skin_turn(s.skin, s.palette,
                         &(ex_turn_job){.count = 1, .vertices = &v, .vectors = from, .positions = place});
            for (int i = 0; i < 3 * V; i++)
                if (i / 3 == (int)v)
                    assert_near((double)place[i], out[i % 3], 1e-5);
                else
                    assert_true(place[i] == 0);
            compared++;
        }
        assert_true(compared > V / 2);
        close_scene(&s);
    }
}

/* All at once, in parts, in another order and with another stride: the same bits. */
static void lists_may_be_cut(void **state) {
    (void)state;
    enum { STRIDE = 5 };
    scene s;
    uint64_t random = 5;
    uint32_t vertices[V];
    float vectors[3 * V], all[3 * V], wide[STRIDE * V];
    open_scene(&s, 9, EX_SKINNING_LINEAR, 1);
    random_rows(&random, vectors, V, 3, false);
    random_rows(&random, all, V, 3, false);
    for (uint32_t v = 0; v < V; v++) {
        vertices[v] = v;
        for (int c = 0; c < STRIDE; c++)
            wide[STRIDE * v + (uint32_t)c] = c < 3 ? all[3 * v + (uint32_t)c] : -8;
    }
    ex_skin_turn(s.skin, s.palette,
                 &(ex_turn_job){.count = V, .vertices = vertices, .vectors = vectors, .positions = all});
    for (int end = V, step = 1; end > 0; end -= step, step = step % 7 + 1) {
        const int begin = end > step ? end - step : 0;
        ex_skin_turn(s.skin, s.palette,
                     &(ex_turn_job){.count = end - begin,
                                    .vertices = vertices + begin,
                                    .vectors = vectors + 3 * begin,
                                    .positions = wide,
                                    .position_stride = STRIDE * sizeof *wide});
    }
    for (int v = 0; v < V; v++) {
        assert_memory_equal(wide + STRIDE * v, all + 3 * v, 3 * sizeof *all);
        assert_true(wide[STRIDE * v + 3] == -8 && wide[STRIDE * v + 4] == -8);
    }
    close_scene(&s);
}

/* Joints that mirror, that flatten, and that are NaN: the vector is finite, and no longer than before. */
static void any_matrix_has_a_rotation(void **state) {
    (void)state;
    static const float wild[][12] = {{-1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0},
                                     {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0},
                                     {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
                                     {NAN, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0},
                                     {0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0}};
    const uint32_t joints[] = {0}, starts[] = {0, 1}, vertex = 0;
    const float weights[] = {1}, vector[3] = {1, 2, 2};
    const ex_skin_def def = {
        .vertex_count = 1, .joint_count = 1, .starts = starts, .joints = joints, .weights = weights};
    ex_skin *skin = NULL;
    assert_int_equal(ex_skin_create(&def, NULL, &skin, NULL), EX_OK);
    for (size_t i = 0; i < sizeof wild / sizeof *wild; i++)
        for (int method = 0; method < EX_SKINNING_COUNT; method++) {
            void *memory;
            float place[3] = {0, 0, 0};
            double sq = 0;
            const ex_palette *palette = palette_with_rotations((ex_skinning)method, 1, wild[i], &memory);
            ex_skin_turn(skin, palette,
                         &(ex_turn_job){.count = 1, .vertices = &vertex, .vectors = vector, .positions = place});
            for (int c = 0; c < 3; c++)
                sq += (double)place[c] * (double)place[c];
            assert_near(sqrt(sq), 3, 1e-5);
            free(memory);
        }
    ex_skin_destroy(skin);
}

static void nothing_happens_without_rotations(void **state) {
    (void)state;
    scene s;
    void *memory;
    const uint32_t vertex = 0;
    const float vector[3] = {1, 1, 1};
    float matrices[12 * J], place[3] = {4, 5, 6};
    open_scene(&s, 4, EX_SKINNING_LINEAR, 1);
    for (int j = 0; j < J; j++)
        ex_transform_matrix(&s.joints[j], matrices + 12 * j);
    const ex_palette *plain = palette_of(EX_SKINNING_LINEAR, J, matrices, NULL, &memory);
    ex_turn_job job = {.count = 1, .vertices = &vertex, .vectors = vector, .positions = place};
    ex_skin_turn(s.skin, plain, &job);
    ex_skin_turn(NULL, s.palette, &job);
    ex_skin_turn(s.skin, NULL, &job);
    ex_skin_turn(s.skin, s.palette, NULL);
    job.position_stride = 13;
    ex_skin_turn(s.skin, s.palette, &job);
    job.position_stride = 8;
    ex_skin_turn(s.skin, s.palette, &job);
    job.position_stride = 0;
    job.count = 0;
    ex_skin_turn(s.skin, s.palette, &job);
    assert_true(place[0] == 4 && place[1] == 5 && place[2] == 6);
    free(memory);
    close_scene(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),
        cmocka_unit_test(rotations_are_blended_as_quaternions),
        cmocka_unit_test(lists_may_be_cut),
        cmocka_unit_test(any_matrix_has_a_rotation),
        cmocka_unit_test(nothing_happens_without_rotations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
