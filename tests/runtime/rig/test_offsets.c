/*
 * Layers of offsets in a rig: evaluation against a simple evaluation made of the public parts (weigher, dense sum,
 * skin, one vertex's rotation), for both frames, both participations and both methods of skinning; muting; reading
 * back; errors.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/check.h"
#include "support/whole_rigs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VERTICES = 1201, SPARSE_FIRST = 6 };

typedef struct fixture {
    whole_rig w;
    ex_rig *rig;
    ex_pose pose;
} fixture;

static void open_fixture(fixture *f, ex_skinning skinning, int parts) {
    whole_rig_open(&f->w, VERTICES, parts);
    f->w.def.skinning = skinning;
    f->rig = rig_of(&f->w.def);
    f->pose = (ex_pose){.inputs = calloc((size_t)ex_rig_pose_size(f->rig) + 1, sizeof(double)),
                        .joints = calloc((size_t)ex_rig_joint_count(f->rig) + 1, sizeof(ex_transform))};
    ex_rig_rest_pose(f->rig, &f->pose);
}

static void close_fixture(fixture *f) {
    free(f->pose.inputs);
    free(f->pose.joints);
    ex_rig_destroy(f->rig);
    whole_rig_close(&f->w);
}

static void move(fixture *f, uint64_t *random) {
    ex_rig_rest_pose(f->rig, &f->pose);
    for (int i = 0; i < ex_rig_pose_size(f->rig); i++)
        f->pose.inputs[i] = random_between(random, 0, 1);
    for (int j = 0; j < ex_rig_joint_count(f->rig); j++)
        for (int c = 0; c < 4; c++)
            f->pose.joints[j].rotation[c] += (float)random_between(random, -0.6, 0.6);
}

static void evaluate(const fixture *f, const ex_evaluation *evaluation, float *positions, float *box, double *weights) {
    void *scratch = malloc(ex_rig_scratch_size(f->rig, evaluation, 1));
    const ex_output output = {.positions = positions, .box = box, .weights = weights};
    ex_rig_evaluate(f->rig, &f->pose, &output, evaluation, scratch);
    free(scratch);
}

/* The weight of example k for a vertex, by a separate weigher over the examples that move the vertex. */
static double weight_of(const fixture *f, int layer, int k, uint32_t vertex, const double *weights) {
    const ex_layer_def *def = &f->w.layers[layer];
    if (!def->offsets.moved)
        return weights[ex_rig_first_example(f->rig, layer) + k];
    double points[3], own[3] = {0}, at;
    int count = 0, place = -1;
    for (int i = 0; i < 3; i++)
        for (int e = 0; e < def->offsets.examples[i].count; e++)
            if (def->offsets.examples[i].vertices[e] == vertex) {
                place = i == k ? count : place;
                points[count++] = def->weigh.points[i];
            }
    /* The default falloff is the mean over all points of the layer: 0.4, 0.3, 0.3. */
    double falloffs[3] = {1.0 / 3, 1.0 / 3, 1.0 / 3};
    ex_weigher_def alone = def->weigh;
    alone.points = points;
    alone.example_count = count;
    alone.falloffs = falloffs;
    ex_weigher *weigher = NULL;
    ex_error error = {0};
    if (ex_weigher_create(&alone, NULL, &weigher, &error) != EX_OK)
        fail_msg("%s", error.text);
    ex_rig_get_input(f->rig, ex_rig_layer_input(f->rig, layer, 0), &f->pose, &at);
    ex_weigher_evaluate(weigher, &at, own);
    ex_weigher_destroy(weigher);
    return own[place];
}

/* Adds a layer's offsets to sums [vertices][3]. Only every eighth vertex if there are many weighers. */
static void add_layer(const fixture *f, int layer, const double *weights, double (*sums)[3]) {
    const ex_layer_def *def = &f->w.layers[layer];
    for (int k = 0; k < 3; k++)
        for (int e = 0; e < def->offsets.examples[k].count; e++) {
            const uint32_t v = def->offsets.examples[k].vertices[e];
            if (v % 8 != 1)
                continue;
            const double weight = weight_of(f, layer, k, v, weights) * (double)(def->mask ? def->mask[v] : 1);
            for (int c = 0; c < 3; c++)
                sums[v][c] += weight * (double)def->offsets.examples[k].deltas[3 * e + c];
        }
}

static void rotate(const double q[4], const double x[3], double out[3]) {
    out[0] = x[0] + 2 * (q[1] * (q[0] * x[1] - q[1] * x[0]) - q[2] * (q[2] * x[0] - q[0] * x[2]) +
                         q[3] * (q[1] * x[2] - q[2] * x[1]));
    out[1] = x[1] + 2 * (q[2] * (q[1] * x[2] - q[2] * x[1]) - q[0] * (q[0] * x[1] - q[1] * x[0]) +
                         q[3] * (q[2] * x[0] - q[0] * x[2]));
    out[2] = x[2] + 2 * (q[0] * (q[2] * x[0] - q[0] * x[2]) - q[1] * (q[1] * x[2] - q[2] * x[1]) +
                         q[3] * (q[0] * x[1] - q[1] * x[0]));
}

static ex_palette *make_palette(const fixture *f, void **memory, bool rotations) {
    const size_t joints = WHOLE_JOINTS;
    float matrices[WHOLE_JOINTS][12], centres[WHOLE_JOINTS][3], shifts[WHOLE_JOINTS][3] = {{0}};
    float turns[WHOLE_JOINTS][4];
    double *weights = malloc((size_t)ex_rig_example_count(f->rig) * sizeof *weights);
    evaluate(f, NULL, NULL, NULL, weights);
    for (int l = 0, example = 0; l < ex_rig_layer_count(f->rig); l++)
        for (int k = 0; k < ex_weigher_example_count(ex_rig_weigher(f->rig, l)); k++, example++) {
            float own[WHOLE_JOINTS][3];
            if (ex_rig_example_shifts(f->rig, l, k, &own[0][0]))
                for (size_t i = 0; i < 3 * joints; i++)
                    (&shifts[0][0])[i] += (float)weights[example] * (&own[0][0])[i];
        }
    void *scratch = malloc(ex_skeleton_scratch_size(ex_rig_skeleton(f->rig)));
    ex_skeleton_evaluate(
        ex_rig_skeleton(f->rig), &(ex_skeleton_input){.locals = f->pose.joints, .shifts = &shifts[0][0]},
        &(ex_skeleton_output){.matrices = &matrices[0][0], .centres = &centres[0][0], .turns = &turns[0][0]}, scratch);

    free(scratch);
    free(weights);
    *memory = malloc(ex_palette_size(ex_rig_skinning(f->rig), WHOLE_JOINTS));
    return ex_palette_make(&(ex_palette_def){.method = ex_rig_skinning(f->rig),
                                             .joint_count = WHOLE_JOINTS,
                                             .matrices = &matrices[0][0],
                                             .centres = &centres[0][0],
                                             .rotations = rotations,
                                             .turns = &turns[0][0]},
                           *memory);
}

static void box_of(float (*positions)[3], float box[6]) {
    for (int c = 0; c < 3; c++) {
        box[c] = box[3 + c] = positions[0][c];
        for (int v = 1; v < VERTICES; v++) {
            box[c] = positions[v][c] < box[c] ? positions[v][c] : box[c];
            box[3 + c] = positions[v][c] > box[3 + c] ? positions[v][c] : box[3 + c];
        }
    }
}

static void compare_evaluation(ex_skinning skinning) {
    fixture f;
    uint64_t random = 3;
    open_fixture(&f, skinning, WHOLE_ALL & ~(WHOLE_LEVELS | WHOLE_LIMIT | WHOLE_PATHS));
    const int layers = ex_rig_layer_count(f.rig);
    float(*dense)[3] = malloc(VERTICES * sizeof *dense), (*own)[3] = malloc(VERTICES * sizeof *own);
    double(*rest)[3] = malloc(VERTICES * sizeof *rest), (*turned)[3] = malloc(VERTICES * sizeof *turned);
    double *weights = malloc((size_t)ex_rig_example_count(f.rig) * sizeof *weights);
    for (int round = 0; round < 4; round++) {
        if (round > 0)
            move(&f, &random);
        bool muted[16] = {false};
        float box[6], expected_box[6];
        evaluate(&f, NULL, &own[0][0], box, weights);
        memset(rest, 0, VERTICES * sizeof *rest);
        memset(turned, 0, VERTICES * sizeof *turned);
        for (int l = SPARSE_FIRST; l < layers; l++) {
            muted[l] = true;
            add_layer(&f, l, weights, ex_rig_layer_frame(f.rig, l) == EX_OFFSET_FRAME_REST ? rest : turned);
        }
        evaluate(&f, &(ex_evaluation){.muted = muted, .unskinned = true}, &dense[0][0], NULL, NULL);
        void *memory;
        ex_palette *palette = make_palette(&f, &memory, true);
        for (int v = 1; v < VERTICES; v += 8) {
            double m[12], q[4], extra[3];
            ex_skin_vertex_matrix(ex_rig_skin(f.rig), palette, v, m);
            ex_skin_vertex_rotation(ex_rig_skin(f.rig), palette, v, q);
            rotate(q, turned[v], extra);
            for (int r = 0; r < 3; r++) {
                double x = m[4 * r + 3] + extra[r];
                for (int c = 0; c < 3; c++)
                    x += m[4 * r + c] * ((double)dense[v][c] + rest[v][c]);
                assert_near((double)own[v][r], x, 3e-5);
            }
        }
        box_of(own, expected_box);
        assert_memory_equal(box, expected_box, sizeof box);
        float alone[6];
        evaluate(&f, NULL, NULL, alone, NULL);
        assert_memory_equal(alone, expected_box, sizeof alone);
        free(memory);
    }
    free(dense);
    free(own);
    free(rest);
    free(turned);
    free(weights);
    close_fixture(&f);
}

/* Without skinning, offsets in the frame at rest still move vertices, and so the box, with or without positions. */
static void boxes_without_skinning(void **state) {
    (void)state;
    static float positions[VERTICES][3];
    fixture f;
    uint64_t random = 8;
    open_fixture(&f, EX_SKINNING_LINEAR, WHOLE_ALL & ~(WHOLE_LEVELS | WHOLE_LIMIT | WHOLE_PATHS));
    const ex_evaluation evaluation = {.unskinned = true};
    for (int round = 0; round < 2; round++) {
        float box[6], alone[6], expected[6];
        move(&f, &random);
        evaluate(&f, &evaluation, &positions[0][0], box, NULL);
        evaluate(&f, &evaluation, NULL, alone, NULL);
        box_of(positions, expected);
        assert_memory_equal(box, expected, sizeof box);
        assert_memory_equal(alone, expected, sizeof alone);
    }
    close_fixture(&f);
}

static void evaluation_is_that_of_its_parts(void **state) {
    (void)state;
    compare_evaluation(EX_SKINNING_LINEAR);
    compare_evaluation(EX_SKINNING_DUAL_QUATERNION);
}

/* A half turn between two joints: the sum of matrices has no inverse, the rotation is a quarter turn. */
static void a_half_turn_is_turned_by_half(void **state) {
    (void)state;
    static const uint32_t starts[3] = {0, 2, 3}, joints[3] = {0, 1, 1};
    static const float weights[3] = {0.5F, 0.5F, 1};
    const float matrices[2][12] = {{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}, {1, 0, 0, 0, 0, -1, 0, 0, 0, 0, -1, 0}};
    ex_skin *skin = NULL;
    ex_error error;
    ex_skin_def def = {.vertex_count = 2, .joint_count = 2, .starts = starts, .joints = joints, .weights = weights};
    assert_int_equal(ex_skin_create(&def, NULL, &skin, &error), EX_OK);
    for (int method = 0; method < EX_SKINNING_COUNT; method++) {
        void *memory = malloc(ex_palette_size((ex_skinning)method, 2));
        ex_palette *palette = ex_palette_make(
            &(ex_palette_def){
                .method = (ex_skinning)method, .joint_count = 2, .matrices = &matrices[0][0], .rotations = true},
            memory);
        float positions[2][3] = {{5, 6, 7}, {5, 6, 7}};
        const float vectors[2][3] = {{1, 2, 3}, {1, 2, 3}};
        const uint32_t vertices[2] = {0, 1};
        ex_skin_turn(
            skin, palette,
            &(ex_turn_job){.count = 2, .vertices = vertices, .vectors = &vectors[0][0], .positions = &positions[0][0]});
        assert_near((double)positions[0][0], 6, 1e-6);
        assert_near(fabs((double)positions[0][1] - 6), 3, 1e-6); /* y and z change places, one with the other sign */
        assert_near(fabs((double)positions[0][2] - 7), 2, 1e-6);
        assert_true((positions[0][1] - 6) * (positions[0][2] - 7) < 0);
        assert_near((double)positions[1][1], 4, 1e-6);
        assert_near((double)positions[1][2], 4, 1e-6);
        free(memory);
    }
    ex_skin_destroy(skin);
}

static void examples_come_back(void **state) {
    (void)state;
    fixture f;
    open_fixture(&f, EX_SKINNING_LINEAR, WHOLE_ALL);
    float *delta = malloc(VERTICES * 3 * sizeof *delta), *deltas = malloc(VERTICES * 3 * sizeof *deltas);
    uint32_t *vertices = malloc(VERTICES * sizeof *vertices);
    for (int l = SPARSE_FIRST; l < SPARSE_FIRST + WHOLE_SPARSE; l++) {
        const ex_layer_def *def = &f.w.layers[l];
        assert_int_equal(ex_rig_layer_domain(f.rig, l), EX_DOMAIN_OFFSETS);
        assert_int_equal(ex_rig_layer_frame(f.rig, l), l == 7 ? EX_OFFSET_FRAME_SKINNED : EX_OFFSET_FRAME_REST);
        assert_int_equal(ex_rig_layer_moved(f.rig, l), l == 8);
        for (int k = 0; k < 3; k++) {
            const ex_offsets *from = &def->offsets.examples[k];
            const int count = ex_rig_example_offset_count(f.rig, l, k);
            ex_rig_example_offsets(f.rig, l, k, vertices, deltas);
            ex_rig_example_delta(f.rig, l, k, delta);
            int next = 0;
            for (int e = 0; e < from->count; e++) {
                const float mask = def->mask ? def->mask[from->vertices[e]] : 1;
                for (int c = 0; c < 3; c++)
                    assert_true(delta[3 * from->vertices[e] + (uint32_t)c] == from->deltas[3 * e + c] * mask);
                if (mask == 0)
                    continue;
                assert_int_equal(vertices[next], from->vertices[e]);
                assert_true(deltas[3 * next] == from->deltas[3 * e] * mask);
                next++;
            }
            assert_int_equal(count, next);
        }
    }
    assert_int_equal(ex_rig_example_offset_count(f.rig, 0, 0), 0);
    free(delta);
    free(deltas);
    free(vertices);
    close_fixture(&f);
}

static void a_muted_layer_does_not_count(void **state) {
    (void)state;
    fixture f;
    open_fixture(&f, EX_SKINNING_LINEAR, WHOLE_ALL);
    const size_t size = VERTICES * 3 * sizeof(float);
    float *with = malloc(size), *without = malloc(size), *asked = malloc(size);
    bool muted[WHOLE_LAYERS] = {false}, none[WHOLE_LAYERS] = {false};
    uint64_t random = 19;
    move(&f, &random);
    muted[6] = muted[8] = true;
    evaluate(&f, &(ex_evaluation){.muted = none}, with, NULL, NULL);
    evaluate(&f, &(ex_evaluation){.muted = muted}, without, NULL, NULL);
    assert_memory_not_equal(with, without, size);
    f.w.layers[6].muted = f.w.layers[8].muted = true;
    ex_rig_destroy(f.rig);
    f.rig = rig_of(&f.w.def);
    assert_true(ex_rig_layer_muted(f.rig, 6) && !ex_rig_layer_muted(f.rig, 7));
    evaluate(&f, NULL, asked, NULL, NULL);
    assert_memory_equal(asked, without, size);
    evaluate(&f, &(ex_evaluation){.muted = none}, asked, NULL, NULL);
    assert_memory_equal(asked, with, size);
    free(with);
    free(without);
    free(asked);
    close_fixture(&f);
}

static void vertices_of_one_offset_stay_together(void **state) {
    (void)state;
    fixture f;
    whole_rig_open(&f.w, VERTICES, WHOLE_OFFSETS);
    /* Two that are far apart in the mesh, and so in different chunks and tiles. */
    enum { A = 12, B = 1197 };
    memcpy(f.w.base.positions + 3 * B, f.w.base.positions + 3 * A, 12);
    for (int l = 0; l < f.w.def.layer_count; l++) {
        ex_layer_def *layer = &f.w.layers[l];
        for (int k = 0; layer->domain == EX_DOMAIN_FORM && k < layer->weigh.example_count; k++)
            memcpy((float *)(uintptr_t)layer->form.deltas[k] + 3 * B, layer->form.deltas[k] + 3 * A, 12);
        for (int k = 0; layer->domain == EX_DOMAIN_OFFSETS && k < 3; k++) {
            ex_offsets *o = &f.w.offsets[l - f.w.def.layer_count + WHOLE_SPARSE][k];
            int a = 0, b = 0;
            while (o->vertices[a] != A)
                a++;
            while (o->vertices[b] != B)
                b++;
            memcpy((float *)(uintptr_t)o->deltas + 3 * b, o->deltas + 3 * a, 12);
        }
    }
    f.w.base.mask[A] = f.w.base.mask[B] = 0.7F;
    f.rig = rig_of(&f.w.def);
    f.pose = (ex_pose){.inputs = calloc((size_t)ex_rig_pose_size(f.rig), sizeof(double))};
    float *positions = malloc(VERTICES * 3 * sizeof *positions);
    uint64_t random = 23;
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < ex_rig_pose_size(f.rig); i++)
            f.pose.inputs[i] = random_between(&random, -0.2, 1.2);
        evaluate(&f, NULL, positions, NULL, NULL);
        assert_memory_equal(positions + 3 * A, positions + 3 * B, 12);
    }
    free(positions);
    close_fixture(&f);
}

static void wrong_layers_are_refused(void **state) {
    (void)state;
    static const uint32_t wrong[2] = {3, 2}, rising[2] = {1, 2};
    static const float values[6] = {1, 1, 1, 1, 1, NAN};
    for (int i = 0; i < 7; i++) {
        fixture f;
        whole_rig_open(&f.w, 9, WHOLE_OFFSETS);
        const int last = f.w.def.layer_count - 1;
        ex_layer_def *layer = &f.w.layers[last];
        const ex_offsets kept = f.w.offsets[2][1];
        const char *words[7] = {"frame", "gaussian", "offsets", "not forms", "out of order", "not finite", "mask"};
        static const float mask[9] = {2, 0, 0, 0, 0, 0, 0, 0, 0};
        if (i == 0)
            layer->offsets.frame = EX_OFFSET_FRAME_COUNT;
        else if (i == 1)
            layer->weigh.kind = EX_WEIGHER_CARDINAL;
        else if (i == 2)
            layer->offsets.examples = NULL;
        else if (i == 3)
            layer->form.deltas = f.w.layers[0].form.deltas;
        else if (i == 4)
            f.w.offsets[2][1] = (ex_offsets){2, wrong, values};
        else if (i == 5)
            f.w.offsets[2][1] = (ex_offsets){2, rising, values};
        else
            layer->mask = mask;
        ex_rig *rig = NULL;
        ex_error error = {0};
        const ex_result result = ex_rig_create(&f.w.def, NULL, &rig, &error);
        assert_int_not_equal(result, EX_OK);
        assert_sentence(&error, result, words[i]);
        assert_sentence(&error, result, "layer 'moved'");
        f.w.offsets[2][1] = kept;
        whole_rig_close(&f.w);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evaluation_is_that_of_its_parts), cmocka_unit_test(boxes_without_skinning),
        cmocka_unit_test(a_half_turn_is_turned_by_half),   cmocka_unit_test(examples_come_back),
        cmocka_unit_test(a_muted_layer_does_not_count),    cmocka_unit_test(vertices_of_one_offset_stay_together),
        cmocka_unit_test(wrong_layers_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
