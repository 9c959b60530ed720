/*
 * Layers of displacements in a rig: by hand on a flat square, against a simple sum in double, at every level, in 16
 * bit, strided, muted, with other weighers, divided into tasks; boxes; errors; packs, false ones, and failing
 * memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/base/checksum.h"
#include "runtime/rig/pack/pack.h"
#include "support/check.h"
#include "support/displaced.h"
#include "support/failing_allocator.h"
#include "support/rigs.h"
#include "support/whole_rigs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EXAMPLES = DISPLACED_LAYERS * DISPLACED_EXAMPLES };

/* Result of evaluation at a level. */
typedef struct surface {
    int count;
    float *positions, *normals;
    float box[6];
    double weights[EXAMPLES];
} surface;

static surface evaluate(const ex_rig *rig, const ex_pose *pose, ex_evaluation how) {
    surface s = {.count = ex_rig_level_vertex_count(rig, how.level)};
    assert_true(s.count > 0);
    s.positions = malloc((size_t)s.count * 3 * sizeof *s.positions);
    s.normals = malloc((size_t)s.count * 3 * sizeof *s.normals);
    void *scratch = malloc(ex_rig_scratch_size(rig, &how, 1));
    assert_true(s.positions && s.normals && scratch);
    ex_rig_evaluate(rig, pose,
                    &(ex_output){.positions = s.positions, .normals = s.normals, .box = s.box, .weights = s.weights},
                    &how, scratch);
    free(scratch);
    return s;
}

static void close_surface(surface *s) {
    free(s->positions);
    free(s->normals);
}

static void assert_same_surface(const surface *a, const surface *b) {
    assert_int_equal(a->count, b->count);
    assert_memory_equal(a->positions, b->positions, (size_t)a->count * 12);
    assert_memory_equal(a->normals, b->normals, (size_t)a->count * 12);
    assert_memory_equal(a->box, b->box, sizeof a->box);
}

/* The dials bend and breath, and the second joint turned. */
typedef struct posing {
    double inputs[2];
    ex_transform joints[2];
} posing;

static ex_pose pose_at(const ex_rig *rig, posing *p, double bend, double breath, float turn) {
    const ex_pose pose = {.inputs = p->inputs, .joints = p->joints};
    ex_rig_rest_pose(rig, &pose);
    p->inputs[0] = bend;
    p->inputs[1] = breath;
    p->joints[1].rotation[0] = turn / 2;
    p->joints[1].rotation[2] = turn;
    return pose;
}

/* ---- by hand ---- */

/* A flat square faces up everywhere, and refining does not bend a plane: displacements are heights. */
static void a_flat_square(void **state) {
    (void)state;
    displaced d;
    displaced_open(&d, 1, 1, 3, false);
    d.def.skin = NULL;
    d.def.skeleton = NULL;
    for (int i = 0; i < 3 * 4; i++)
        d.deltas[1][i] = d.deltas[2][i] = 0;
    ex_rig *rig = rig_of(&d.def);
    assert_int_equal(ex_rig_layer_domain(rig, 1), EX_DOMAIN_DISPLACEMENT);
    assert_int_equal(ex_rig_layer_stage(rig, 1), EX_STAGE_SURFACE);
    assert_int_equal(ex_rig_level(rig), 3);
    posing p;
    for (int level = 0; level <= 3; level++) {
        const ex_pose pose = pose_at(rig, &p, 1, 0.5, 0);
        surface s = evaluate(rig, &pose, (ex_evaluation){.level = level});
        for (int v = 0; v < s.count; v++) {
            const double height = (double)d.maps[2][v] + (double)d.mask[v] * (double)d.maps[4][v];
            assert_near((double)s.positions[3 * v + 1], level ? height : 0, 1e-8);
        }
        close_surface(&s);
    }
    /* All the same height: the square is lifted, and still flat. */
    for (int v = 0; v < d.count; v++) {
        d.maps[2][v] = 0.25F;
        d.mask[v] = 0;
    }
    ex_rig_destroy(rig);
    rig = rig_of(&d.def);
    const ex_pose pose = pose_at(rig, &p, 1, 0, 0);
    surface s = evaluate(rig, &pose, (ex_evaluation){.level = 3}), flat;
    const bool muted[DISPLACED_LAYERS] = {false, true, true};
    flat = evaluate(rig, &pose, (ex_evaluation){.level = 3, .muted = muted});
    for (int v = 0; v < s.count; v++)
        for (int c = 0; c < 3; c++) {
            assert_near((double)s.positions[3 * v + c], (double)flat.positions[3 * v + c] + (c == 1) * 0.25, 1e-7);
            assert_near((double)s.normals[3 * v + c], c == 1, 1e-6);
        }
    assert_near((double)s.box[1], 0.25, 1e-7);
    assert_near((double)s.box[4], 0.25, 1e-7);
    assert_int_equal(ex_rig_layer_displaced(rig, 2, NULL), 0); /* nothing is stored if the mask is 0 */
    close_surface(&s);
    close_surface(&flat);
    ex_rig_destroy(rig);
    displaced_close(&d);
}

/* ---- against plain sums ---- */

static void compare_plainly(const displaced *d, const ex_rig *rig, const ex_pose *pose, int level, double tolerance) {
    surface cage = evaluate(rig, pose, (ex_evaluation){0}), s = evaluate(rig, pose, (ex_evaluation){.level = level});
    double *expected = malloc((size_t)s.count * 3 * sizeof *expected);
    assert_non_null(expected);
    displaced_plainly(d, ex_rig_stencils(rig), level, cage.positions, s.weights, expected, NULL);
    for (int i = 0; i < 3 * s.count; i++)
        assert_near((double)s.positions[i], expected[i], tolerance);
    for (int c = 0; c < 3; c++) {
        float low = s.positions[c], high = s.positions[c];
        for (int v = 0; v < s.count; v++) {
            low = s.positions[3 * v + c] < low ? s.positions[3 * v + c] : low;
            high = s.positions[3 * v + c] > high ? s.positions[3 * v + c] : high;
        }
        assert_true(s.box[c] == low && s.box[3 + c] == high);
    }
    free(expected);
    close_surface(&s);
    close_surface(&cage);
}

static void the_sum_is_right(void **state) {
    (void)state;
    displaced d;
    displaced_open(&d, 4, 3, 3, true);
    for (int storage = 0; storage < EX_STORAGE_COUNT; storage++) {
        d.def.options.storage = (ex_storage)storage;
        ex_rig *rig = rig_of(&d.def);
        posing p;
        for (int i = 0; i < 4; i++) {
            const ex_pose pose = pose_at(rig, &p, 0.3 * i, 1 - 0.27 * i, 0.2F * (float)i);
            for (int level = 1; level <= 3; level++)
                compare_plainly(&d, rig, &pose, level, storage == EX_STORAGE_FLOAT ? 2e-6 : 8e-6);
        }
        ex_rig_destroy(rig);
    }
    displaced_close(&d);
}

/* At an example only its own map counts: the nearest weigher gives all weight to one that is hit. */
static void examples_are_hit(void **state) {
    (void)state;
    displaced d;
    displaced_open(&d, 2, 2, 2, true);
    for (int v = 0; v < d.count; v++)
        d.mask[v] = 1;
    ex_rig *rig = rig_of(&d.def);
    const bool muted[DISPLACED_LAYERS] = {true, true, false}, all[DISPLACED_LAYERS] = {true, true, true};
    posing p;
    const ex_pose pose = pose_at(rig, &p, 0, 0.5, 0.4F);
    surface s = evaluate(rig, &pose, (ex_evaluation){.level = 2, .muted = muted});
    surface bare = evaluate(rig, &pose, (ex_evaluation){.level = 2, .muted = all});
    for (int v = 0; v < s.count; v++)
        for (int c = 0; c < 3; c++) {
            const float expected = bare.positions[3 * v + c] + d.maps[4][v] * bare.normals[3 * v + c];
            assert_near((double)s.positions[3 * v + c], (double)expected, 1e-7);
        }
    close_surface(&s);
    close_surface(&bare);
    ex_rig_destroy(rig);
    displaced_close(&d);
}

/* A level has the same points as those of its vertices at later levels. */
static void levels_agree(void **state) {
    (void)state;
    displaced d;
    displaced_open(&d, 3, 2, 4, true);
    ex_rig *rig = rig_of(&d.def);
    posing p;
    const ex_pose pose = pose_at(rig, &p, 0.4, 0.8, 0.5F);
    surface last = evaluate(rig, &pose, (ex_evaluation){.level = 4});
    for (int level = 1; level < 4; level++) {
        surface s = evaluate(rig, &pose, (ex_evaluation){.level = level});
        for (int i = 0; i < 3 * s.count; i++)
            assert_near((double)s.positions[i], (double)last.positions[i], 2e-6);
        close_surface(&s);
    }
    /* The limit is the last level: all levels are on it. */
    assert_true(ex_stencils_has(ex_rig_stencils(rig), EX_LEVEL_LIMIT));
    surface limit = evaluate(rig, &pose, (ex_evaluation){.level = EX_LEVEL_LIMIT});
    assert_same_surface(&limit, &last);
    close_surface(&limit);
    close_surface(&last);
    ex_rig_destroy(rig);
    d.def.level = EX_LEVEL_LIMIT;
    rig = rig_of(&d.def);
    assert_int_equal(ex_rig_level(rig), 4);
    ex_rig_destroy(rig);
    displaced_close(&d);
}

/* Normals are those of the displaced faces, or of the limit if nothing displaces it. */
static void normals_are_of_what_is_shown(void **state) {
    (void)state;
    displaced d;
    displaced_open(&d, 3, 2, 3, true);
    ex_rig *rig = rig_of(&d.def);
    posing p;
    const ex_pose pose = pose_at(rig, &p, 0.4, 0.8, 0.5F);
    surface s = evaluate(rig, &pose, (ex_evaluation){.level = 3});
    int *offsets = malloc(((size_t)d.levels[2].face_count + 1) * sizeof *offsets);
    assert_non_null(offsets);
    for (int f = 0; f <= d.levels[2].face_count; f++)
        offsets[f] = 4 * f;
    const ex_normals_def def = {.vertex_count = s.count,
                                .face_count = d.levels[2].face_count,
                                .face_offsets = offsets,
                                .corners = (const int *)(const void *)d.levels[2].corners};
    ex_normals *normals;
    assert_int_equal(ex_normals_create(&def, NULL, &normals, NULL), EX_OK);
    float *own = malloc((size_t)s.count * 12);
    void *scratch = malloc(ex_normals_scratch_size(normals));
    assert_true(own && scratch);
    ex_normals_compute(normals, s.positions, 0, own, 0, NULL, scratch);
    for (int i = 0; i < 3 * s.count; i++)
        assert_near((double)s.normals[i], (double)own[i], 2e-6);
    free(scratch);
    free(own);
    free(offsets);
    ex_normals_destroy(normals);
    close_surface(&s);

    const bool muted[DISPLACED_LAYERS] = {false, true, true};
    surface cage = evaluate(rig, &pose, (ex_evaluation){.muted = muted});
    s = evaluate(rig, &pose, (ex_evaluation){.level = 3, .muted = muted});
    double *expected = malloc((size_t)s.count * 6 * sizeof *expected);
    assert_non_null(expected);
    displaced_plainly(&d, ex_rig_stencils(rig), 3, cage.positions, s.weights, expected, expected + 3 * s.count);
    for (int i = 0; i < 3 * s.count; i++) {
        assert_near((double)s.positions[i], expected[i], 2e-6);
        assert_near((double)s.normals[i], expected[3 * s.count + i], 2e-6);
    }
    free(expected);
    close_surface(&s);
    close_surface(&cage);
    ex_rig_destroy(rig);
    displaced_close(&d);
}

/* ---- ways of asking ---- */

static void run_backwards(void *user, int count, int grain, ex_task_body body, void *context) {
    (void)user;
    (void)grain;
    for (int i = count; i-- > 0;)
        body(context, i, i + 1);
}

/* In strides, divided into tasks, without normals, many at once: the same bits. */
static void however_it_is_asked(void **state) {
    (void)state;
    enum { STEP = 7 };
    displaced d;
    displaced_open(&d, 4, 4, 4, true);
    ex_rig *rig = rig_of(&d.def);
    posing p;
    const ex_pose pose = pose_at(rig, &p, 0.7, 0.3, -0.4F);
    const ex_tasks tasks = {.run = run_backwards};
    for (int level = 1; level <= 4; level++) {
        ex_evaluation how = {.level = level};
        surface s = evaluate(rig, &pose, how);
        how.tasks = &tasks;
        surface cut = evaluate(rig, &pose, how);
        assert_same_surface(&s, &cut);
        close_surface(&cut);
        how.tasks = NULL;
        float *wide = malloc((size_t)s.count * STEP * 2 * sizeof *wide), *normals = wide + s.count * STEP;
        void *scratch = malloc(ex_rig_scratch_size(rig, &how, 3));
        assert_true(wide && scratch);
        ex_output strided = {.positions = wide,
                             .position_stride = STEP * sizeof(float),
                             .normals = normals,
                             .normal_stride = STEP * sizeof(float)};
        for (int asked = 0; asked < 2; asked++) { /* needed even if normals are not requested */
            ex_rig_evaluate(rig, &pose, &strided, &how, scratch);
            for (int v = 0; v < s.count; v++) {
                assert_memory_equal(wide + STEP * v, s.positions + 3 * v, 12);
                if (strided.normals)
                    assert_memory_equal(normals + STEP * v, s.normals + 3 * v, 12);
            }
            strided.normals = NULL;
            memset(wide, 0, (size_t)s.count * STEP * sizeof *wide);
        }
        ex_pose poses[3] = {{0}, pose, {0}};
        ex_output outputs[3] = {{.positions = wide + 3 * s.count}, {.positions = wide}, {.weights = s.weights}};
        ex_rig_evaluate_many(rig, 3, poses, outputs, &how, scratch);
        assert_memory_equal(wide, s.positions, (size_t)s.count * 12);
        free(scratch);
        free(wide);
        close_surface(&s);
    }
    ex_rig_destroy(rig);
    displaced_close(&d);
}

static void muting_and_other_weighers(void **state) {
    (void)state;
    displaced d;
    displaced_open(&d, 3, 3, 2, true);
    d.layers[1].muted = true;
    ex_rig *rig = rig_of(&d.def);
    posing p;
    ex_pose pose = pose_at(rig, &p, 0.7, 0.3, 0);
    const bool second[DISPLACED_LAYERS] = {false, true, false}, none[DISPLACED_LAYERS] = {false, false, false};
    surface own = evaluate(rig, &pose, (ex_evaluation){.level = 2});
    surface same = evaluate(rig, &pose, (ex_evaluation){.level = 2, .muted = second});
    surface whole = evaluate(rig, &pose, (ex_evaluation){.level = 2, .muted = none});
    assert_same_surface(&own, &same);
    for (int k = 0; k < DISPLACED_EXAMPLES; k++)
        assert_true(own.weights[DISPLACED_EXAMPLES + k] == 0);
    assert_memory_not_equal(own.positions, whole.positions, (size_t)own.count * 12);
    close_surface(&same);
    close_surface(&whole);
    close_surface(&own);

    /* A replaced weigher is used: direct-like, all weight to the last example wherever the dial is. */
    ex_weigher_def weigh = d.layers[2].weigh;
    static const double points[3] = {5, 6, 0.3};
    weigh.points = points;
    ex_weigher *other;
    ex_error error;
    assert_int_equal(ex_weigher_create(&weigh, NULL, &other, &error), EX_OK);
    const ex_weigher *weighers[DISPLACED_LAYERS] = {NULL, NULL, other};
    surface replaced = evaluate(rig, &pose, (ex_evaluation){.level = 2, .weighers = weighers});
    assert_true(replaced.weights[8] == 1);
    pose = pose_at(rig, &p, 0.7, 1, 0); /* the place of the last example */
    surface there = evaluate(rig, &pose, (ex_evaluation){.level = 2});
    assert_same_surface(&replaced, &there);
    close_surface(&replaced);
    close_surface(&there);
    ex_weigher_destroy(other);
    ex_rig_destroy(rig);
    displaced_close(&d);
}

/* A box without positions contains the displaced surface; the cage's is its own. */
static void boxes_contain(void **state) {
    (void)state;
    displaced d;
    displaced_open(&d, 3, 3, 3, false);
    for (int k = 0; k < DISPLACED_MAPS; k++)
        for (int v = 0; v < d.count; v++)
            d.maps[k][v] = k == 2 ? 2.5F : 0;
    ex_rig *rig = rig_of(&d.def);
    posing p;
    const ex_pose pose = pose_at(rig, &p, 1, 0, 0);
    for (int level = 0; level <= 3; level++) {
        const ex_evaluation how = {.level = level};
        surface s = evaluate(rig, &pose, how);
        void *scratch = malloc(ex_rig_scratch_size(rig, &how, 1));
        float box[6];
        ex_rig_evaluate(rig, &pose, &(ex_output){.box = box}, &how, scratch);
        for (int c = 0; c < 3; c++)
            assert_true(box[c] <= s.box[c] && box[3 + c] >= s.box[3 + c]);
        assert_true(level == 0 ? box[4] < 1 : box[4] > 2.4F && box[4] < 3);
        free(scratch);
        close_surface(&s);
    }
    ex_rig_destroy(rig);
    displaced_close(&d);
}

static void what_is_left_out(void **state) {
    (void)state;
    displaced d;
    displaced_open(&d, 3, 3, 2, true);
    ex_rig *whole = rig_of(&d.def);
    posing p;
    const ex_pose pose = pose_at(whole, &p, 0.7, 0.3, 0.2F);

    d.def.options.without_levels = true;
    ex_rig *rig = rig_of(&d.def);
    assert_int_equal(ex_rig_layer_displaced(rig, 1, NULL), 0);
    surface a = evaluate(rig, &pose, (ex_evaluation){0}), b = evaluate(whole, &pose, (ex_evaluation){0});
    assert_same_surface(&a, &b); /* the cage is not displaced */
    assert_memory_equal(a.weights, b.weights, sizeof a.weights);
    assert_int_equal(ex_rig_pack_size(rig), 0);
    close_surface(&a);
    close_surface(&b);
    ex_rig_destroy(rig);

    d.def.options = (ex_rig_options){.without_normals = true};
    rig = rig_of(&d.def);
    float *positions = malloc((size_t)d.count * 12);
    const ex_evaluation how = {.level = 2};
    void *scratch = malloc(ex_rig_scratch_size(rig, &how, 1));
    assert_true(positions && scratch);
    ex_rig_evaluate(rig, &pose, &(ex_output){.positions = positions}, &how, scratch);
    b = evaluate(whole, &pose, how);
    assert_memory_equal(positions, b.positions, (size_t)d.count * 12);
    close_surface(&b);
    free(scratch);
    free(positions);
    ex_rig_destroy(rig);
    ex_rig_destroy(whole);
    displaced_close(&d);
}

/* ---- contents ---- */

static void what_is_inside(void **state) {
    (void)state;
    displaced d;
    displaced_open(&d, 2, 2, 2, true);
    ex_rig *rig = rig_of(&d.def);
    assert_int_equal(ex_rig_layer_displaced(rig, 0, NULL), 0);
    assert_int_equal(ex_rig_layer_displaced(rig, 1, NULL), d.count);
    uint32_t *vertices = malloc((size_t)d.count * sizeof *vertices);
    float *values = malloc((size_t)d.count * sizeof *values), *delta = malloc((size_t)d.cage->vertex_count * 12);
    assert_true(vertices && values && delta);
    const int count = ex_rig_layer_displaced(rig, 2, vertices);
    assert_int_equal(count, d.count - (d.count + 2) / 3);
    for (int k = 0; k < DISPLACED_EXAMPLES; k++) {
        ex_rig_example_displacements(rig, 2, k, values);
        for (int i = 0; i < count; i++) {
            assert_int_equal(vertices[i] % 3, i % 2 + 1);
            assert_true(values[i] == d.maps[3 + k][vertices[i]] * d.mask[vertices[i]]);
        }
        ex_rig_example_delta(rig, 2, k, delta);
        for (int i = 0; i < 3 * d.cage->vertex_count; i++)
            assert_true(delta[i] == 0);
    }
    free(vertices);
    free(values);
    free(delta);
    ex_rig_destroy(rig);
    displaced_close(&d);
}

static ex_error refused(const ex_rig_def *def, ex_result result) {
    ex_rig *rig;
    ex_error error = {0};
    assert_int_equal(ex_rig_create(def, NULL, &rig, &error), result);
    assert_null(rig);
    return error;
}

static void what_is_refused(void **state) {
    (void)state;
    displaced d;
    displaced_open(&d, 2, 2, 2, true);
    float *map = d.maps[4];
    const float kept = map[5];
    map[5] = NAN;
    ex_error error = refused(&d.def, EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "layer 'ripple': example 'half': the displacement of refined vertex 5");
    map[5] = kept;
    d.mask[7] = 1.5F;
    error = refused(&d.def, EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "mask at vertex 7");
    d.mask[7] = 1;
    map = d.maps[3];
    d.maps[3] = NULL;
    error = refused(&d.def, EX_ERROR_ARGUMENT);
    assert_sentence(&error, EX_ERROR_ARGUMENT, "example 'none' has no displacements");
    d.maps[3] = map;
    d.layers[1].form.deltas = d.layers[0].form.deltas;
    error = refused(&d.def, EX_ERROR_ARGUMENT);
    assert_sentence(&error, EX_ERROR_ARGUMENT, "not forms or joints");
    d.layers[1].form.deltas = NULL;

    /* Refined levels, and a limit next to them: not all are on the limit. */
    ex_subdivision *other;
    const ex_subdivide_def subdivide = {.levels = 2, .limit = true};
    assert_int_equal(ex_mesh_subdivide(d.cage, &subdivide, &other, &error), EX_OK);
    d.def.stencils = other->stencils;
    error = refused(&d.def, EX_ERROR_ARGUMENT);
    assert_sentence(&error, EX_ERROR_ARGUMENT, "lie on the limit surface");
    ex_subdivision_destroy(other);
    d.def.stencils = NULL;
    d.def.level = 0;
    error = refused(&d.def, EX_ERROR_ARGUMENT);
    assert_sentence(&error, EX_ERROR_ARGUMENT, "lie on the limit surface");
    displaced_close(&d);
}

/* ---- files ---- */

static ex_result unpack_with(const char *pack, size_t size, const ex_rig_options *options, ex_rig **rig,
                             ex_error *error) {
    char *copy = malloc(size);
    assert_non_null(copy);
    memcpy(copy, pack, size);
    const ex_result result = ex_rig_unpack(copy, size, options, NULL, rig, error);
    free(copy);
    return result;
}

static void packs_keep_what_they_hold(void **state) {
    (void)state;
    displaced d;
    displaced_open(&d, 3, 2, 3, true);
    ex_rig *rig = rig_of(&d.def), *back;
    size_t size, again_size;
    ex_error error;
    char *pack = pack_of(rig, &size);
    if (unpack_with(pack, size, NULL, &back, &error) != EX_OK)
        fail_msg("%s", error.text);
    assert_same_evaluation(rig, back, 3);
    assert_int_equal(ex_rig_layer_displaced(back, 2, NULL), ex_rig_layer_displaced(rig, 2, NULL));
    char *again = pack_of(back, &again_size);
    assert_int_equal(size, again_size);
    assert_memory_equal(pack, again, size);
    free(again);
    use_rig(back);
    ex_rig_destroy(back);

    const ex_rig_options small = {.storage = EX_STORAGE_16_BIT}, bare = {.without_levels = true};
    d.def.options = small;
    ex_rig *made = rig_of(&d.def);
    assert_int_equal(unpack_with(pack, size, &small, &back, &error), EX_OK);
    assert_same_evaluation(made, back, 2);
    ex_rig_destroy(back);
    ex_rig_destroy(made);
    assert_int_equal(unpack_with(pack, size, &bare, &back, &error), EX_OK);
    assert_int_equal(ex_rig_level_count(back), 0);
    evaluate_everything(back);
    ex_rig_destroy(back);
    free(pack);
    ex_rig_destroy(rig);
    displaced_close(&d);
}

static exi_pack_entry *entry_of(char *pack, ex_section_kind kind, int n) {
    exi_pack_header *header = (exi_pack_header *)(void *)pack;
    exi_pack_entry *entries = (exi_pack_entry *)(void *)(pack + sizeof *header);
    for (uint32_t i = 0; i < header->section_count; i++)
        if (entries[i].kind == (uint32_t)kind && n-- == 0)
            return &entries[i];
    fail_msg("no section %d", (int)kind);
    return NULL;
}

static void seal(char *pack) {
    exi_pack_header *header = (exi_pack_header *)(void *)pack;
    exi_pack_entry *entries = (exi_pack_entry *)(void *)(pack + sizeof *header);
    for (uint32_t i = 0; i < header->section_count; i++)
        entries[i].checksum = exi_checksum(pack + entries[i].offset, (size_t)entries[i].size);
    header->checksum = 0;
    header->checksum = exi_checksum(pack, header->header_size);
}

/* False values with the right checksums. */
static void lies_are_told(void **state) {
    (void)state;
    enum { AGAIN, BEHIND, NO_NUMBER, FEWER, ODD, ANOTHER_LAYER, COUNTS, MORE, DOMAIN, NO_TANGENTS, LIES };
    static const struct {
        ex_result result;
        const char *word;
    } told[LIES] = {
        [AGAIN] = {EX_ERROR_DATA, "displaced vertices"},
        [BEHIND] = {EX_ERROR_DATA, "displaced vertices"},
        [NO_NUMBER] = {EX_ERROR_DATA, "not finite"},
        [FEWER] = {EX_ERROR_FORMAT, "size"},
        [ODD] = {EX_ERROR_FORMAT, "list of displaced"},
        [ANOTHER_LAYER] = {EX_ERROR_FORMAT, "directory"},
        [COUNTS] = {EX_ERROR_DATA, "layers"},
        [MORE] = {EX_ERROR_DATA, "counts"},
        [DOMAIN] = {EX_ERROR_DATA, "layers"},
        [NO_TANGENTS] = {EX_ERROR_DATA, "stencils"},
    };
    displaced d;
    displaced_open(&d, 2, 1, 2, true);
    ex_rig *rig = rig_of(&d.def), *back;
    size_t size;
    char *pack = pack_of(rig, &size), *copy = malloc(size);
    ex_rig_destroy(rig);
    assert_non_null(copy);
    for (int lie = 0; lie < LIES; lie++) {
        memcpy(copy, pack, size);
        exi_pack_entry *list = entry_of(copy, EX_SECTION_DISPLACED, 1);
        uint32_t *vertices = (uint32_t *)(void *)(copy + list->offset);
        float *values = (float *)(void *)(copy + entry_of(copy, EX_SECTION_DISPLACEMENTS, 4)->offset);
        exi_rig_counts *counts = (exi_rig_counts *)(void *)(copy + entry_of(copy, EX_SECTION_COUNTS, 0)->offset);
        exi_layer_record *layers = (exi_layer_record *)(void *)(copy + entry_of(copy, EX_SECTION_LAYERS, 0)->offset);
        switch (lie) {
        case AGAIN:
            vertices[3] = vertices[2];
            break;
        case BEHIND:
            vertices[list->size / 4 - 1] = (uint32_t)d.count;
            break;
        case NO_NUMBER:
            values[1] = INFINITY;
            break;
        case FEWER:
            list->size -= 4;
            break;
        case ODD:
            list->size -= 1;
            break;
        case ANOTHER_LAYER:
            list->index = 0;
            break;
        case COUNTS:
            counts->displacements--;
            break;
        case MORE:
            counts->displacements = counts->examples + 1;
            break;
        case DOMAIN:
            layers[1].domain = EX_DOMAIN_FORM;
            break;
        default: {
            exi_pack_stencils *head =
                (exi_pack_stencils *)(void *)(copy + entry_of(copy, EX_SECTION_STENCILS, 0)->offset);
            head->has_tangents = 0;
        }
        }
        seal(copy);
        ex_error error = {0};
        const ex_result result = unpack_with(copy, size, NULL, &back, &error);
        assert_null(back);
        assert_int_equal(result, told[lie].result);
        assert_sentence(&error, told[lie].result, told[lie].word);
    }
    free(copy);
    free(pack);
    displaced_close(&d);
}

/* Every byte changed, alone, and every truncation: reported, or without effect (padding between sections). */
static void damage_is_told(void **state) {
    (void)state;
    displaced d;
    displaced_open(&d, 1, 1, 1, true);
    d.def.layers = d.layers + 1;
    d.def.layer_count = 1;
    d.def.skin = NULL;
    d.def.skeleton = NULL;
    ex_rig *rig = rig_of(&d.def), *back;
    size_t size, again_size;
    ex_error error;
    char *pack = pack_of(rig, &size);
    ex_rig_destroy(rig);
    for (size_t left = 0; left < size; left++)
        assert_int_not_equal(unpack_with(pack, left, NULL, &back, &error), EX_OK);
    for (size_t i = 0; i < size; i++) {
        pack[i] = (char)(pack[i] ^ 0x10);
        if (unpack_with(pack, size, NULL, &back, &error) == EX_OK) {
            char *again = pack_of(back, &again_size);
            pack[i] = (char)(pack[i] ^ 0x10);
            assert_memory_equal(pack, again, size);
            free(again);
            ex_rig_destroy(back);
            continue;
        }
        pack[i] = (char)(pack[i] ^ 0x10);
    }
    free(pack);
    displaced_close(&d);
}

/* A rig without displacements has the previous format except for one count. */
static void the_format_before_is_read(void **state) {
    (void)state;
    displaced d;
    displaced_open(&d, 2, 1, 2, true);
    d.def.layer_count = 1;
    ex_rig *rig = rig_of(&d.def), *back;
    size_t size;
    ex_error error;
    char *pack = pack_of(rig, &size);
    for (uint32_t format = 3; format <= 5; format++) {
        exi_pack_header *header = (exi_pack_header *)(void *)pack;
        header->format = format;
        entry_of(pack, EX_SECTION_COUNTS, 0)->size = offsetof(exi_rig_counts, displacements);
        seal(pack);
        if (unpack_with(pack, size, NULL, &back, &error) != EX_OK)
            fail_msg("%s", error.text);
        assert_same_evaluation(rig, back, 1);
        ex_rig_destroy(back);
    }
    free(pack);
    ex_rig_destroy(rig);
    displaced_close(&d);
}

/* ---- memory ---- */

static ex_result attempt_create(void *context, const ex_allocator *allocator) {
    ex_rig *rig;
    ex_error error;
    const ex_result result = ex_rig_create(context, allocator, &rig, &error);
    ex_rig_destroy(rig);
    return result;
}

typedef struct packed {
    char *bytes;
    size_t size;
} packed;

static ex_result attempt_unpack(void *context, const ex_allocator *allocator) {
    const packed *p = context;
    ex_rig *rig;
    ex_error error;
    const ex_result result = ex_rig_unpack(p->bytes, p->size, NULL, allocator, &rig, &error);
    ex_rig_destroy(rig);
    return result;
}

static void memory_runs_out(void **state) {
    (void)state;
    displaced d;
    displaced_open(&d, 2, 1, 1, true);
    assert_true(failing_allocator_sweep(attempt_create, &d.def) > 5);
    ex_rig *rig = rig_of(&d.def);
    packed p;
    p.bytes = pack_of(rig, &p.size);
    assert_true(failing_allocator_sweep(attempt_unpack, &p) > 5);
    free(p.bytes);
    ex_rig_destroy(rig);
    displaced_close(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flat_square),
        cmocka_unit_test(the_sum_is_right),
        cmocka_unit_test(examples_are_hit),
        cmocka_unit_test(levels_agree),
        cmocka_unit_test(normals_are_of_what_is_shown),
        cmocka_unit_test(however_it_is_asked),
        cmocka_unit_test(muting_and_other_weighers),
        cmocka_unit_test(boxes_contain),
        cmocka_unit_test(what_is_left_out),
        cmocka_unit_test(what_is_inside),
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(packs_keep_what_they_hold),
        cmocka_unit_test(lies_are_told),
        cmocka_unit_test(damage_is_told),
        cmocka_unit_test(the_format_before_is_read),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
