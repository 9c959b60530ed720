/*
 * Weights of an instance as the GPU computes them (cuda/prepare_weigh.inl), run here by a team of one thread: every
 * kind of weigher next to ex_rig_evaluate, hit points and ties, numbers that are not finite, muted layers, a replaced
 * weigher; values derived from the weights next to the runtime's: offsets by sets, factors in float and in 16 bit,
 * screws and segments of trajectories.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/check.h"
#include "support/spaces.h"
#include "support/whole_rigs.h"

#include "cuda/lay/lay.h"
#include "cuda/stages/prepare_weigh.inl"
#include "cuda/work.h"
#include "runtime/base/memory.h"
#include "runtime/rig/rig.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INSTANCES = 3, VERTICES = 70 };

/* ---- a rig laid out, and poses ---- */

typedef struct laid {
    const ex_rig *rig;
    exi_gpu head;
    exi_gpu_levels levels;
    exi_gpu_job job;
    void *memory, *work;
    size_t size;
    float *inputs;                 /* [INSTANCES][pose_size] */
    ex_transform *joints;          /* [INSTANCES][joints] */
    bool muted[EXI_GPU_LAYER_MAX]; /* as the job has them */
    double *weights;               /* [INSTANCES][examples]: the runtime's */
} laid;

static void lay(laid *l, const ex_rig *rig) {
    ex_error error;
    memset(l, 0, sizeof *l);
    l->rig = rig;
    if (exi_gpu_lay(rig, NULL, NULL, NULL, &l->memory, &l->size, &l->head, &l->levels, &error) != EX_OK)
        fail_msg("%s", error.text);
    l->job.count = INSTANCES;
    l->work = malloc(exi_gpu_work_lay(&l->head, INSTANCES, NULL, &l->job.work));
    memset(l->work, 0xFF, exi_gpu_work_lay(&l->head, INSTANCES, NULL, &l->job.work));
    exi_gpu_work_lay(&l->head, INSTANCES, l->work, &l->job.work);
    l->inputs = calloc((size_t)l->head.pose_size * INSTANCES + 1, sizeof *l->inputs);
    l->joints = calloc((size_t)l->head.joints * INSTANCES + 1, sizeof *l->joints);
    l->weights = malloc((size_t)l->head.examples * INSTANCES * sizeof *l->weights);
    for (int i = 0; i < INSTANCES * l->head.joints; i++)
        l->joints[i] = ex_skeleton_rest(ex_rig_skeleton(rig), i % l->head.joints);
    l->job.inputs = l->inputs;
    l->job.joints = l->head.joints > 0 ? l->joints : NULL;
}

static void give_back(laid *l) {
    exi_release(NULL, l->memory, l->size);
    free(l->work);
    free(l->inputs);
    free(l->joints);
    free(l->weights);
}

static void mute(laid *l, int layer, bool muted) {
    l->muted[layer] = muted;
    l->job.muted[layer / 32] &= ~(1u << layer % 32);
    l->job.muted[layer / 32] |= (uint32_t)muted << layer % 32;
}

/* Runs the stage and the runtime at the poses, and compares the weights. */
static void weigh_both(laid *l, const ex_weigher *const *weighers) {
    const ex_evaluation evaluation = {.muted = l->muted, .weighers = weighers};
    const exi_team alone = {.lane = 0, .lanes = 1};
    const size_t examples = (size_t)l->head.examples, size = (size_t)l->head.pose_size;
    void *scratch = malloc(ex_rig_scratch_size(l->rig, &evaluation, 1));
    double *inputs = malloc((size + 1) * sizeof *inputs);
    for (int i = 0; i < INSTANCES; i++) {
        for (size_t k = 0; k < size; k++)
            inputs[k] = (double)l->inputs[(size_t)i * size + k];
        const ex_pose pose = {.inputs = inputs,
                              .joints = l->head.joints > 0 ? l->joints + (size_t)i * (size_t)l->head.joints : NULL};
        ex_rig_evaluate(l->rig, &pose, &(ex_output){.weights = l->weights + (size_t)i * examples}, &evaluation,
                        scratch);
        exi_gpu_weigh(&l->head, &l->job, i, alone);
    }
    for (size_t i = 0; i < INSTANCES * examples; i++) {
        const double size_of = fabs(l->weights[i]) > 1 ? fabs(l->weights[i]) : 1;
        assert_near(l->job.work.doubles[i], l->weights[i], 1e-12 * size_of);
        assert_true(l->job.work.weights[i] == (float)l->job.work.doubles[i]);
    }
    free(inputs);
    free(scratch);
}

/* ---- every kind of weigher: a layer each ---- */

enum { KINDS = 26 };

typedef struct kinds_rig {
    sample_space spaces[KINDS];
    ex_layer_def layers[KINDS];
    char names[KINDS][16], axis_names[KINDS][SPACE_NUMBERS][16], example_names[SPACE_POINTS][16];
    const char *axis_list[KINDS][SPACE_NUMBERS], *example_list[SPACE_POINTS];
    float positions[VERTICES][3], delta[VERTICES][3];
    const float *deltas[SPACE_POINTS];
    double falloffs[SPACE_POINTS * SPACE_NUMBERS], metrics[SPACE_POINTS * 4];
    ex_rig_def def;
} kinds_rig;

/* Points that floats can represent, so that they can be hit. */
static void round_points(sample_space *s) {
    for (int i = 0; i < s->def.example_count * s->dimension; i++)
        s->points[i] = (double)(float)s->points[i];
}

/* Five points on a line, on which two can be equally near. */
static void open_line(sample_space *s) {
    sample_space_scalars(s, 1, 5, 3);
    s->axes[0] = ex_axis_scalar(0, 4, 1);
    for (int i = 0; i < 5; i++)
        s->points[i] = i;
}

static void open_kind(kinds_rig *k, int i) {
    sample_space *s = &k->spaces[i];
    double at[SPACE_NUMBERS], from[SPACE_NUMBERS];
    uint64_t random = 17 + (uint64_t)i;
    if (i < 15 || i > 19)
        sample_space_mixed(s, 6 + i % 16, random);
    else if (i == 15)
        sample_space_scalars(s, 2, 9, random);
    else
        open_line(s);
    round_points(s);
    s->def.kind = i < EX_KERNEL_COUNT ? EX_WEIGHER_CARDINAL
                  : i < 11            ? EX_WEIGHER_SHEPARD
                  : i < 14            ? EX_WEIGHER_NEAREST
                  : i < 16            ? EX_WEIGHER_GAUSSIAN
                  : i < 19            ? EX_WEIGHER_NEAREST
                  : i < 20            ? EX_WEIGHER_DIRECT
                  : i < 24            ? EX_WEIGHER_CALM
                  : i < 25            ? EX_WEIGHER_GAUSSIAN
                                      : EX_WEIGHER_CARDINAL;
    s->def.overshoot = i == 21 ? 0 : i == 22 ? 0.02 : 0.1;
    for (int a = 0; i > 22 && a < s->def.axis_count; a++)
        s->axes[a].limit = (ex_limit)((i + a) % EX_LIMIT_COUNT);
    if (i < EX_KERNEL_COUNT)
        s->def.kernel = (ex_kernel)i;
    s->def.power = i == 9 ? 3.5 : 2;
    s->def.neighbours = i == 11 ? 3 : i == 12 ? 4 : i == 17 ? 1 : i > 15 ? 2 : 64;
    s->def.paper_form = i == 12 || i == 16;
    if (i == 14)
        s->def.falloffs = k->falloffs;
    if (i == 15)
        s->def.metrics = k->metrics;
    if (i == 19) { /* direct: one axis per example */
        for (int a = 0; a < 5; a++)
            s->axes[a] = ex_axis_scalar(-1, 3, 0.25);
        s->axes[3].clamp = true;
        s->def.axis_count = s->dimension = 5;
        s->def.points = NULL;
    }
    if ((i < 16 || i > 19) && i % 2 == 0) {
        random += 1000; /* not where the first example was drawn */
        sample_space_point(s, 1, &random, at);
        sample_space_point(s, 1, &random, from);
        sample_space_add_pseudo(s, at, from);
    }
    for (int a = 0; a < s->def.axis_count; a++) {
        snprintf(k->axis_names[i][a], sizeof k->axis_names[i][a], "%d.%d", i, a);
        k->axis_list[i][a] = k->axis_names[i][a];
    }
    snprintf(k->names[i], sizeof k->names[i], "layer %d", i);
    k->layers[i] = (ex_layer_def){.name = k->names[i],
                                  .weigh = s->def,
                                  .axis_names = k->axis_list[i],
                                  .example_names = k->example_list,
                                  .form.deltas = k->deltas};
}

static ex_rig *open_kinds(kinds_rig *k, ex_storage storage) {
    uint64_t random = 5;
    memset(k, 0, sizeof *k);
    for (int v = 0; v < 3 * VERTICES; v++) {
        k->positions[v / 3][v % 3] = (float)random_between(&random, -1, 1);
        k->delta[v / 3][v % 3] = (float)random_between(&random, -1, 1);
    }
    for (int i = 0; i < SPACE_POINTS * SPACE_NUMBERS; i++)
        k->falloffs[i] = i % 5 == 0 ? 0 : random_between(&random, 0.2, 0.8);
    for (int i = 0; i < SPACE_POINTS; i++) {
        const double metric[4] = {9 + i, 2, 2, 12};
        if (i != 3)
            memcpy(k->metrics + (size_t)4 * (size_t)i, metric, sizeof metric);
        snprintf(k->example_names[i], sizeof k->example_names[i], "e%d", i);
        k->example_list[i] = k->example_names[i];
        k->deltas[i] = k->delta[0];
    }
    for (int i = 0; i < KINDS; i++)
        open_kind(k, i);
    k->def = ex_rig_def_default();
    k->def.options.storage = storage;
    k->def.mesh =
        (ex_rig_mesh){.vertex_count = VERTICES, .split_count = VERTICES, .positions = (const float *)k->positions};
    k->def.layers = k->layers;
    k->def.layer_count = KINDS;
    return rig_of(&k->def);
}

/* A point of a space or one of its examples, or numbers that are not finite. Returns the start of the next. */
static float *draw_kind(const kinds_rig *k, int i, double ranges, uint64_t *random, float *inputs) {
    const sample_space *s = &k->spaces[i];
    double point[SPACE_NUMBERS];
    sample_space_point(s, ranges, random, point);
    const int hit = (int)(random_bits(random) % 8);
    if (hit == 0 && s->def.points)
        memcpy(point, s->points + (int)(random_bits(random) % (uint64_t)s->def.example_count) * s->dimension,
               (size_t)s->dimension * sizeof *point);
    if (hit < 4 && i >= 16 && s->def.points)
        point[0] = (double)(random_bits(random) % 17) / 4; /* halves are ties */
    if (hit == 5)
        point[random_bits(random) % (uint64_t)s->dimension] = random_bits(random) % 2 ? NAN : INFINITY;
    if (hit == 6)
        memset(point, 0, sizeof point); /* a zero quaternion is the identity */
    for (int c = 0; c < s->dimension; c++)
        *inputs++ = (float)point[c];
    return inputs;
}

/* A pose of one instance. */
static void draw_kinds(const kinds_rig *k, double ranges, uint64_t *random, float *inputs) {
    for (int i = 0; i < KINDS; i++)
        inputs = draw_kind(k, i, ranges, random, inputs);
}

static void test_kinds(void **state) {
    (void)state;
    kinds_rig *k = malloc(sizeof *k);
    ex_rig *rig = open_kinds(k, EX_STORAGE_FLOAT);
    laid l;
    uint64_t random = 91;
    lay(&l, rig);
    for (int round = 0; round < 40; round++) {
        for (int i = 0; i < INSTANCES; i++)
            draw_kinds(k, round < 30 ? 1.2 : 40, &random, l.inputs + (size_t)i * (size_t)l.head.pose_size);
        for (int m = 0; m < KINDS; m++)
            mute(&l, m, round % 4 == 3 && random_bits(&random) % 2);
        weigh_both(&l, NULL);
        for (int f = 0; f < INSTANCES * l.head.forms; f++) /* layers of forms alone: their weights, in this order */
            assert_true(l.job.work.factors[f] == (float)l.job.work.doubles[f]);
    }
    l.job.inputs = NULL; /* at rest */
    for (int i = 0; i < INSTANCES * l.head.pose_size; i++)
        l.inputs[i] = NAN;
    weigh_both(&l, NULL);
    give_back(&l);
    ex_rig_destroy(rig);
    free(k);
}

/* Data that a rig does not need is not prepared: so each kind alone, too. */
static void test_each_alone(void **state) {
    (void)state;
    kinds_rig *k = malloc(sizeof *k);
    uint64_t random = 92;
    ex_rig_destroy(open_kinds(k, EX_STORAGE_FLOAT));
    for (int i = 0; i < KINDS; i++) {
        laid l;
        k->def.layers = &k->layers[i];
        k->def.layer_count = 1;
        ex_rig *rig = rig_of(&k->def);
        lay(&l, rig);
        assert_true(l.head.lacks & EXI_GPU_SKIN);
        for (int round = 0; round < 8; round++) {
            for (int n = 0; n < INSTANCES; n++)
                draw_kind(k, i, 1.2, &random, l.inputs + (size_t)n * (size_t)l.head.pose_size);
            weigh_both(&l, NULL);
        }
        give_back(&l);
        ex_rig_destroy(rig);
    }
    free(k);
}

/* Layers that share their inputs, so that only muting distinguishes them: it is stored in words of 32 bits. */
static void test_many_layers(void **state) {
    (void)state;
    enum { MANY = 70 };
    kinds_rig *k = malloc(sizeof *k);
    ex_layer_def layers[MANY];
    char names[MANY][24];
    uint64_t random = 93;
    laid l;
    ex_rig_destroy(open_kinds(k, EX_STORAGE_FLOAT));
    for (int i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof names[i], "%d of many", i);
        layers[i] = k->layers[KINDS - 1];
        layers[i].name = names[i];
    }
    k->def.layers = layers;
    k->def.layer_count = MANY;
    ex_rig *rig = rig_of(&k->def);
    lay(&l, rig);
    for (int i = 0; i < INSTANCES; i++)
        draw_kind(k, KINDS - 1, 1, &random, l.inputs + (size_t)i * (size_t)l.head.pose_size);
    for (int round = 0; round < 4; round++) {
        for (int m = 0; m < MANY; m++)
            mute(&l, m, random_bits(&random) % 2);
        weigh_both(&l, NULL);
    }
    give_back(&l);
    ex_rig_destroy(rig);
    free(k);
}

/* Copied over the uploaded one, as an upload does: with pseudo-examples, it is larger. */
static void test_replaced(void **state) {
    (void)state;
    kinds_rig *k = malloc(sizeof *k);
    ex_rig *rig = open_kinds(k, EX_STORAGE_FLOAT);
    const ex_weigher *weighers[KINDS] = {NULL};
    ex_weigher *made[KINDS] = {NULL};
    laid l;
    uint64_t random = 92;
    lay(&l, rig);
    for (int i = 0; i < 16; i++) {
        sample_space *s = &k->spaces[i];
        double at[SPACE_NUMBERS], from[SPACE_NUMBERS];
        for (int p = 0; p < 2; p++) {
            sample_space_point(s, 1, &random, at);
            sample_space_point(s, 1, &random, from);
            sample_space_add_pseudo(s, at, from);
        }
        weighers[i] = made[i] = weigher_of(&s->def);
        memcpy((char *)l.memory + l.head.layers[i].weigher, made[i], (size_t)made[i]->size);
    }
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < INSTANCES; i++)
            draw_kinds(k, 1.2, &random, l.inputs + (size_t)i * (size_t)l.head.pose_size);
        weigh_both(&l, weighers);
    }
    for (int i = 0; i < 16; i++)
        ex_weigher_destroy(made[i]);
    give_back(&l);
    ex_rig_destroy(rig);
    free(k);
}

/* ---- values derived from the weights ---- */

/* Factors of a sum, as in the runtime. */
static void add_factors(const exi_sum *sum, bool is_float, float *factors) {
    for (int i = 0; i < sum->term_count; i++)
        factors[sum->terms[i].end / EXI_TILE_FLOATS - 1] =
            is_float ? sum->terms[i].factor : (float)sum->terms[i].whole * sum->unit;
}

static void check_motion(const exi_gpu_motion *motion, const exi_trajectory *path) {
    assert_true((motion->moves != 0) == path->moves);
    for (int i = 0; path->moves && i < 9; i++)
        assert_true(motion->turn[i] == path->turn[i]);
    for (int c = 0; path->moves && c < 3; c++) {
        assert_true(motion->centre[c] == path->centre[c]);
        assert_true(motion->move[c] == path->move[c]);
    }
}

/* Factors, motions and segments of an instance whose weights are known to agree. */
static void check_forms(const laid *l, int instance) {
    const ex_forms *forms = exi_rig_forms(l->rig);
    const bool is_float = forms->storage == EX_STORAGE_FLOAT;
    const exi_gpu_work *work = &l->job.work;
    const double *weights = work->doubles + (size_t)instance * (size_t)l->head.examples;
    const size_t count = (size_t)forms->example_count;
    float *floats = calloc(count + 1, sizeof *floats), *factors = calloc(count + 1, sizeof *factors);
    exi_term *terms = malloc((count + 1) * sizeof *terms);
    double room[16][3];
    float shifts[16][3];
    for (int i = 0, path = 0; i < l->head.layer_count; i++) {
        const exi_layer_record *layer = &exi_rig_layers(l->rig)[i];
        const exi_trajectories *paths = exi_rig_trajectories_of(l->rig, i);
        for (int k = 0; layer->domain == EX_DOMAIN_FORM && k < layer->example_count; k++)
            floats[layer->first_form + k] = (float)weights[layer->first_example + k];
        if (!paths)
            continue;
        const exi_gpu_trajectory *record = &l->head.paths[path];
        const exi_gpu_motion *motion = &work->motions[instance * l->head.path_count + path++];
        const double *own = weights + layer->first_example;
        const bool moves = exi_trajectories_weigh(paths, own, floats + paths->first_form);
        assert_true((motion->active != 0) == moves);
        if (!moves || exi_trajectories_is_sum(paths))
            continue;
        exi_trajectory opened;
        assert_true(paths->segment_count <= 16);
        exi_trajectories_open(paths, forms, own, floats, terms, room, shifts, &opened);
        add_factors(&opened.turns, is_float, factors);
        add_factors(&opened.velocities, is_float, factors);
        add_factors(&opened.correctors, is_float, factors);
        memset(floats + paths->first_form, 0, (size_t)paths->form_count * sizeof *floats);
        check_motion(motion, &opened);
        const float *appended = work->appended + 3 * (size_t)(instance * l->head.segments + record->first_segment);
        assert_int_equal(record->segment_count, opened.shifts ? paths->segment_count : 0);
        for (int a = 0; a < 3 * record->segment_count; a++)
            assert_near((double)appended[a], (double)shifts[a / 3][a % 3], 1e-6);
    }
    exi_sum sum;
    exi_forms_set_terms(forms, floats, 0, (int)count, false, terms, &sum);
    add_factors(&sum, is_float, factors);
    for (size_t f = 0; f < count; f++)
        assert_true(work->factors[(size_t)instance * count + f] == factors[f]);
    free(floats);
    free(factors);
    free(terms);
}

/* Weights of offsets next to those of the runtime's weighers at the same point. */
static void check_offsets(const laid *l, int instance, const double *inputs) {
    const float *weights = l->job.work.offset_weights + (size_t)instance * (size_t)l->head.offset_weights;
    const ex_pose pose = {.inputs = (double *)(uintptr_t)inputs,
                          .joints = l->joints + (size_t)instance * (size_t)l->head.joints};
    for (int i = 0; i < l->head.layer_count; i++) {
        const exi_layer_record *layer = &exi_rig_layers(l->rig)[i];
        const int32_t *axis_inputs = (const int32_t *)exi_rig_at(l->rig, l->rig->axis_inputs) + layer->first_axis;
        double point[1], own[8], sets[64];
        if (layer->domain != EX_DOMAIN_OFFSETS)
            continue;
        assert_int_equal(layer->axis_count, 1);
        assert_true(layer->weight_count <= 64 && layer->example_count <= 8);
        ex_rig_get_input(l->rig, axis_inputs[0], &pose, point);
        ex_weigher_evaluate_sets(ex_rig_weigher(l->rig, i), point, own, sets);
        for (int k = 0; k < layer->weight_count; k++) {
            const double weight = layer->flags & EXI_LAYER_MOVED ? sets[k] : own[k];
            const float expected = l->muted[i] || fabs(weight) < 1e-12 ? 0.0f : (float)weight;
            assert_near((double)weights[layer->first_weight + k], (double)expected, 1e-7);
            if (expected == 0)
                assert_true(weights[layer->first_weight + k] == 0);
        }
    }
}

static void draw_whole(laid *l, double far, uint64_t *random) {
    for (int i = 0; i < INSTANCES * l->head.pose_size; i++) {
        l->inputs[i] = (float)random_between(random, -0.5 * far, 1.5 * far);
        if (random_bits(random) % 16 == 0)
            l->inputs[i] = NAN;
    }
    for (int i = 0; i < INSTANCES * l->head.joints; i++)
        for (int c = 0; c < 4; c++) {
            l->joints[i].rotation[c] = (float)random_between(random, -1, 1);
            l->joints[i].translation[c % 3] = (float)random_between(random, -1, 1);
            l->joints[i].scale[c % 3] = (float)random_between(random, 0.5, 2);
        }
}

/* All dials of a layer at 0 except the reference's, which has no effect. */
static void draw_reference(laid *l, int layer) {
    for (int c = 0; c < PATHS_EXAMPLES; c++) {
        const int32_t input = l->head.axis_inputs[l->head.layers[layer].first_axis + c];
        for (int i = 0; i < INSTANCES; i++)
            l->inputs[i * l->head.pose_size + l->head.inputs[input].offset] = c == PATHS_REFERENCE;
    }
}

/* Weights are the values of the dials. */
static void weigh_directly(ex_layer_def *layer) {
    static const char *const dials[PATHS_EXAMPLES] = {"a", "b", "c", "d"};
    static const ex_axis axes[PATHS_EXAMPLES] = {{.max = 1}, {.max = 1}, {.max = 1}, {.max = 1}};
    layer->weigh = ex_weigher_def_default();
    layer->weigh.kind = EX_WEIGHER_DIRECT;
    layer->weigh.axes = axes;
    layer->weigh.axis_count = layer->weigh.example_count = PATHS_EXAMPLES;
    layer->axis_names = dials;
}

/* Two more layers of trajectories, which are only sums: one weighed directly, one with correctors. Offsets by sets have
 * a pseudo-example. */
static void check_whole(ex_storage storage) {
    whole_rig *w = malloc(sizeof *w);
    path_layer sums[2];
    ex_layer_def layers[WHOLE_LAYERS + 2];
    static const char *const names[2] = {"sum", "sum with correctors"};
    whole_rig_open(w, VERTICES, WHOLE_ALL);
    memcpy(layers, w->layers, sizeof w->layers);
    for (int i = 0; i < w->def.layer_count; i++)
        if (layers[i].offsets.moved) {
            layers[i].weigh.pseudos = &w->zero;
            layers[i].weigh.pseudo_count = 1;
        }
    for (int i = 0; i < 2; i++) {
        path_layer_open(&sums[i], w->base.positions, VERTICES, i ? PATHS_CORRECTORS | PATHS_OVERLAPS : 0, 5);
        layers[w->def.layer_count + i] = sums[i].def;
        layers[w->def.layer_count + i].name = names[i];
    }
    weigh_directly(&layers[w->def.layer_count]);
    w->def.layers = layers;
    w->def.layer_count += 2;
    w->def.options.storage = storage;
    ex_rig *rig = rig_of(&w->def);
    laid l;
    uint64_t random = 41;
    double inputs[64];
    bool any_sum = false;
    lay(&l, rig);
    assert_true(l.head.pose_size <= 64);
    for (int p = 0; p < l.head.path_count; p++)
        any_sum = any_sum || l.head.paths[p].sum;
    assert_int_equal(l.head.path_count, 3);
    for (int round = 0; round < 24; round++) {
        draw_whole(&l, round == 5 ? 30 : 1, &random); /* out of reach of falloffs */
        if (round == 6)
            draw_reference(&l, l.head.layer_count - 2);
        for (int m = 0; m < l.head.layer_count; m++)
            mute(&l, m, round % 3 == 2 && random_bits(&random) % 2);
        weigh_both(&l, NULL);
        for (int i = 0; i < INSTANCES; i++) {
            for (int k = 0; k < l.head.pose_size; k++)
                inputs[k] = (double)l.inputs[i * l.head.pose_size + k];
            check_forms(&l, i);
            check_offsets(&l, i, inputs);
        }
    }
    assert_true(any_sum);
    give_back(&l);
    ex_rig_destroy(rig);
    for (int i = 0; i < 2; i++)
        path_layer_close(&sums[i]);
    whole_rig_close(w);
    free(w);
}

static void test_whole_float(void **state) {
    (void)state;
    check_whole(EX_STORAGE_FLOAT);
}

static void test_whole_16_bit(void **state) {
    (void)state;
    check_whole(EX_STORAGE_16_BIT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),    cmocka_unit_test(test_each_alone),  cmocka_unit_test(test_many_layers),
        cmocka_unit_test(test_replaced), cmocka_unit_test(test_whole_float), cmocka_unit_test(test_whole_16_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
