/*
 * Derivatives of positions by inputs (ex_rig_jacobian), compared with differences of evaluated positions. Positions are
 * floats: a difference over a step of h is off by about 1e-7 of the size divided by h, which is what tolerances are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/characters.h"
#include "support/check.h"
#include "support/displaced.h"
#include "support/failing_allocator.h"
#include "support/paths.h"
#include "support/rigs.h"
#include "support/spaces.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A pose with arrays of its own. */
typedef struct posed {
    ex_pose pose;
    double inputs[64];
    ex_transform joints[8];
} posed;

static void open_pose(const ex_rig *rig, posed *p) {
    assert_true(ex_rig_pose_size(rig) <= 64 && ex_rig_joint_count(rig) <= 8);
    p->pose = (ex_pose){.inputs = p->inputs, .joints = ex_rig_joint_count(rig) ? p->joints : NULL};
    ex_rig_rest_pose(rig, &p->pose);
}

static void evaluate(const ex_rig *rig, const ex_pose *pose, const ex_evaluation *e, float *positions) {
    void *scratch = malloc(ex_rig_scratch_size(rig, e, 1));
    const ex_output output = {.positions = positions};
    assert_non_null(scratch);
    ex_rig_evaluate(rig, pose, &output, e, scratch);
    free(scratch);
}

static int width_of(const ex_rig *rig, int input) {
    const ex_axis axis = ex_rig_input_axis(rig, input);
    return ex_axis_width(&axis);
}

/* Positions after one number of an input has changed. */
static void evaluate_moved(const ex_rig *rig, const posed *p, const ex_evaluation *e, int input, int number, double by,
                           float *positions) {
    posed moved = *p;
    double value[4];
    moved.pose.inputs = moved.inputs;
    moved.pose.joints = p->pose.joints ? moved.joints : NULL;
    ex_rig_get_input(rig, input, &p->pose, value);
    value[number] += by;
    ex_rig_set_input(rig, input, value, &moved.pose);
    evaluate(rig, &moved.pose, e, positions);
}

/* Differences of fourth order beside the derivatives; returns the largest derivative times its range. */
static double compare(const ex_rig *rig, const posed *p, const ex_evaluation *e, double tolerance) {
    const int columns = ex_rig_jacobian_width(rig), level = e ? e->level : 0;
    const size_t count = 3 * (size_t)ex_rig_level_vertex_count(rig, level);
    double *derivatives = malloc(count * (size_t)columns * sizeof *derivatives);
    float *shapes = malloc(4 * count * sizeof *shapes);
    ex_error error = {0};
    double largest = 0;
    assert_true(derivatives && shapes);
    for (size_t i = 0; i < count * (size_t)columns; i++)
        derivatives[i] = NAN;
    if (ex_rig_jacobian(rig, &p->pose, e, derivatives, NULL, &error) != EX_OK)
        fail_msg("%s", error.text);
    for (int input = 0, c = 0; input < ex_rig_input_count(rig); input++)
        for (int k = 0; k < width_of(rig, input); k++, c++) {
            const ex_axis axis = ex_rig_input_axis(rig, input);
            const double size = axis.kind == EX_AXIS_SCALAR ? axis.max - axis.min : 1, h = 0.02 * size;
            for (int s = 0; s < 4; s++)
                evaluate_moved(rig, p, e, input, k, (s < 2 ? 1 : 2) * (s % 2 ? -h : h), shapes + (size_t)s * count);
            for (size_t i = 0; i < count; i++) {
                const double near = (double)shapes[i] - (double)shapes[count + i];
                const double far = (double)shapes[2 * count + i] - (double)shapes[3 * count + i];
                const double expected = (8 * near - far) / (12 * h) * size;
                const double value = derivatives[i * (size_t)columns + (size_t)c] * size;
                largest = fmax(largest, fabs(value));
                if (!(fabs(value - expected) <= tolerance))
                    fail_msg("input %s number %d, coordinate %d: %g, not %g", ex_rig_input_name(rig, input), k, (int)i,
                             value, expected);
            }
        }
    free(shapes);
    free(derivatives);
    return largest;
}

/* A character: joints that examples bring, an elbow that is read and turned, dials, textures, levels. */
static void test_character(void **state) {
    (void)state;
    character c;
    character_open(&c, 9, 6, EX_SKINNING_LINEAR);
    ex_rig *rig = rig_of(&c.def);
    posed p;
    open_pose(rig, &p);
    assert_int_equal(ex_rig_jacobian_width(rig), CHARACTER_INPUTS);
    static const double elbows[] = {0, 35, 100}, sizes[] = {0, 0.4, 1.2};
    for (int i = 0; i < 3; i++) {
        ex_rig_set_input(rig, ex_rig_input_find(rig, "elbow"), &elbows[i], &p.pose);
        ex_rig_set_input(rig, ex_rig_input_find(rig, "size"), &sizes[i], &p.pose);
        p.joints[0].rotation[1] = 0.3F * (float)i;
        p.joints[2].translation[1] = 0.05F * (float)i;
        assert_true(compare(rig, &p, NULL, 3e-5) > 0.5);
        assert_true(compare(rig, &p, &(ex_evaluation){.level = 1}, 3e-5) > 0.5);
        compare(rig, &p, &(ex_evaluation){.level = EX_LEVEL_LIMIT}, 3e-5);
        compare(rig, &p, &(ex_evaluation){.unskinned = true}, 3e-5);
        compare(rig, &p, &(ex_evaluation){.muted = (bool[]){true, false, false}}, 3e-5);
    }
    /* rest is a pose without arrays, too */
    double at_rest[2][9 * 6 * 3 * CHARACTER_INPUTS];
    open_pose(rig, &p);
    assert_int_equal(ex_rig_jacobian(rig, NULL, NULL, at_rest[0], NULL, NULL), EX_OK);
    assert_int_equal(ex_rig_jacobian(rig, &p.pose, NULL, at_rest[1], NULL, NULL), EX_OK);
    assert_memory_equal(at_rest[0], at_rest[1], sizeof at_rest[0]);
    ex_rig_destroy(rig);
    character_close(&c);
}

/* Readings of every kind, two of them from one joint, weigh offsets that are added after posing. */
typedef struct turned_layer {
    ex_layer_def layers[CHARACTER_LAYERS + 1];
    ex_axis axes[5];
    ex_axis_source sources[5];
    double points[4 * 20];
    ex_offsets offsets[4];
    uint32_t vertices[4][30];
    float deltas[4][30 * 3];
} turned_layer;

static void add_turned_layer(character *c, turned_layer *t, ex_axis_kind part, ex_offset_frame frame, bool moved) {
    static const char *const axes[] = {"turn", "nod", "slide", "stretch", "dial"};
    static const char *const names[] = {"a", "b", "c", "d"};
    uint64_t random = 3;
    memset(t, 0, sizeof *t);
    memcpy(t->layers, c->layers, sizeof c->layers);
    t->axes[0] = ex_axis_rotation(part, (double[]){1, 0.3, 0.2});
    t->axes[1] = ex_axis_scalar(-60, 60, 0);
    t->axes[2] = ex_axis_scalar(-1, 1, 0);
    t->axes[3] = ex_axis_scalar(0.5, 1.5, 1);
    t->axes[4] = ex_axis_scalar(0, 1, 0);
    t->sources[0] = (ex_axis_source){
        .joint = 2, .reading = {.kind = EX_READING_ROTATION, .about = {1, 0.3, 0.2}, .part = (int)part}};
    t->sources[1] = (ex_axis_source){.joint = 2, .reading = {.kind = EX_READING_ANGLE, .about = {0, 1, 0.5}}};
    t->sources[2] =
        (ex_axis_source){.joint = 1, .reading = {.kind = EX_READING_SLIDE, .about = {1, 1, 0}, .unit = 0.1}};
    t->sources[3] = (ex_axis_source){.joint = 0, .reading = {.kind = EX_READING_STRETCH, .about = {0, 1, 0}}};
    t->sources[4] = (ex_axis_source){.joint = -1};
    for (int k = 0; k < 4; k++) {
        double *point = t->points + 8 * (ptrdiff_t)k;
        turn_about(1, k, 0.5, 25.0 * k, point);
        point[4] = 20.0 * k - 30;
        point[5] = k % 2 ? 0.5 : -0.3;
        point[6] = 1 + 0.1 * k;
        point[7] = k / 2;
        for (int i = 0; i < 30; i++) {
            t->vertices[k][i] = (uint32_t)(i + 5 * k);
            for (int n = 0; n < 3; n++)
                t->deltas[k][3 * i + n] = (float)random_between(&random, -0.1, 0.1);
        }
        t->offsets[k] = (ex_offsets){30, t->vertices[k], t->deltas[k]};
    }
    ex_layer_def *layer = &t->layers[CHARACTER_LAYERS];
    *layer = (ex_layer_def){.name = "turned",
                            .domain = EX_DOMAIN_OFFSETS,
                            .weigh = ex_weigher_def_default(),
                            .axis_names = axes,
                            .sources = t->sources,
                            .example_names = names,
                            .offsets = {.examples = t->offsets, .frame = frame, .moved = moved}};
    layer->weigh.kind = EX_WEIGHER_GAUSSIAN;
    layer->weigh.axes = t->axes;
    layer->weigh.axis_count = 5;
    layer->weigh.example_count = 4;
    layer->weigh.points = t->points;
    c->def.layers = t->layers;
    c->def.layer_count = CHARACTER_LAYERS + 1;
}

static void test_readings_and_offsets(void **state) {
    (void)state;
    static const ex_axis_kind parts[] = {EX_AXIS_ROTATION, EX_AXIS_SWING, EX_AXIS_TWIST};
    for (int part = 0; part < 3; part++)
        for (int way = 0; way < 4; way++) {
            character c;
            turned_layer t;
            posed p;
            character_open(&c, 9, 6, EX_SKINNING_LINEAR);
            add_turned_layer(&c, &t, parts[part], way & 1 ? EX_OFFSET_FRAME_SKINNED : EX_OFFSET_FRAME_REST, way >= 2);
            ex_rig *rig = rig_of(&c.def);
            open_pose(rig, &p);
            compare(rig, &p, NULL, 4e-5);
            const double elbow = 40, slide = 0.2, stretch = 1.1, dial = 0.6;
            double q[4];
            turn_about(0.5, 1, 0.2, 40, q);
            ex_rig_set_input(rig, ex_rig_input_find(rig, "elbow"), &elbow, &p.pose);
            for (int i = 0; i < 4; i++)
                p.joints[2].rotation[i] = (float)q[i];
            ex_rig_set_input(rig, ex_rig_input_find(rig, "slide"), &slide, &p.pose);
            ex_rig_set_input(rig, ex_rig_input_find(rig, "stretch"), &stretch, &p.pose);
            ex_rig_set_input(rig, ex_rig_input_find(rig, "dial"), &dial, &p.pose);
            assert_true(compare(rig, &p, NULL, 4e-5) > 0.1);
            compare(rig, &p, &(ex_evaluation){.unskinned = true}, 4e-5);
            for (int i = 0; i < 4; i++) /* the same rotation */
                p.joints[2].rotation[i] *= -2;
            compare(rig, &p, NULL, 4e-5);
            ex_rig_destroy(rig);
            character_close(&c);
        }
}

/* Three layers that share axes: a rotation as a dial, a mask, a pseudo-example, a direct layer; 16 bits too. */
static void test_sample_rig(void **state) {
    (void)state;
    for (int storage = 0; storage < EX_STORAGE_COUNT; storage++) {
        sample_rig s;
        posed p;
        uint64_t random = 12;
        sample_rig_open(&s, 40);
        s.def.options.storage = (ex_storage)storage;
        ex_rig *rig = rig_of(&s.def);
        for (int i = 0; i < 5; i++) {
            open_pose(rig, &p);
            sample_rig_pose(&random, 0.8, p.inputs);
            assert_true(compare(rig, &p, NULL, storage == EX_STORAGE_FLOAT ? 4e-4 : 0.1) > 0.01);
        }
        ex_rig_destroy(rig);
        sample_rig_close(&s);
    }
}

static void test_trajectories(void **state) {
    (void)state;
    enum { COUNT = 25 };
    float mesh[COUNT * 3];
    uint64_t random = 8;
    for (int i = 0; i < COUNT * 3; i++)
        mesh[i] = (float)random_between(&random, -1, 1);
    path_layer layer;
    path_layer_open(&layer, mesh, COUNT, PATHS_ALL & ~PATHS_CORRECTORS, 4);
    ex_rig_def def = ex_rig_def_default();
    def.mesh.vertex_count = def.mesh.split_count = COUNT;
    def.mesh.positions = mesh;
    def.layers = &layer.def;
    def.layer_count = 1;
    ex_rig *rig = rig_of(&def);
    posed p;
    open_pose(rig, &p);
    for (double x = 0.2; x < 3; x += 0.7) {
        p.inputs[0] = x;
        assert_true(compare(rig, &p, NULL, 1e-3) > 0.1);
    }
    ex_rig_destroy(rig);
    path_layer_close(&layer);
}

static void test_replaced_weigher(void **state) {
    (void)state;
    character c;
    posed p;
    character_open(&c, 5, 4, EX_SKINNING_LINEAR);
    ex_rig *rig = rig_of(&c.def);
    open_pose(rig, &p);
    p.inputs[0] = 0.3;
    const double at[2] = {60, 0.1};
    const ex_edit edit = {.kind = EX_EDIT_MOVE_EXAMPLE, .index = 1, .at = at};
    ex_weigher *other = NULL;
    assert_int_equal(ex_weigher_edit(ex_rig_weigher(rig, 0), &edit, 1, NULL, &other, NULL), EX_OK);
    const ex_weigher *weighers[CHARACTER_LAYERS] = {other};
    double plain[5 * 4 * 3 * CHARACTER_INPUTS], changed[5 * 4 * 3 * CHARACTER_INPUTS];
    compare(rig, &p, &(ex_evaluation){.weighers = weighers}, 3e-5);
    ex_rig_jacobian(rig, &p.pose, NULL, plain, NULL, NULL);
    ex_rig_jacobian(rig, &p.pose, &(ex_evaluation){.weighers = weighers}, changed, NULL, NULL);
    assert_memory_not_equal(plain, changed, sizeof plain);
    ex_weigher_destroy(other);
    ex_rig_destroy(rig);
    character_close(&c);
}

static int misuses;
static void count_misuse(const char *function, const char *what) {
    (void)function;
    (void)what;
    misuses++;
}

static void test_refusals(void **state) {
    (void)state;
    character c;
    ex_error error = {0};
    double numbers[5 * 4 * 3 * CHARACTER_INPUTS * 2];
    character_open(&c, 5, 4, EX_SKINNING_DUAL_QUATERNION);
    ex_rig *rig = rig_of(&c.def);
    assert_int_equal(ex_rig_jacobian(rig, NULL, NULL, numbers, NULL, &error), EX_ERROR_ARGUMENT);
    assert_sentence(&error, EX_ERROR_ARGUMENT, "linear skinning");
    posed p;
    open_pose(rig, &p);
    compare(rig, &p, &(ex_evaluation){.unskinned = true}, 3e-5); /* but not at rest */
    ex_rig_jacobian(rig, NULL, &(ex_evaluation){.level = 7}, numbers, NULL, &error);
    assert_sentence(&error, EX_ERROR_ARGUMENT, "no level 7");
    ex_rig_jacobian(rig, NULL, &(ex_evaluation){.split = true}, numbers, NULL, &error);
    assert_sentence(&error, EX_ERROR_ARGUMENT, "split");
    ex_set_misuse_hook(count_misuse);
    assert_int_equal(ex_rig_jacobian(NULL, NULL, NULL, numbers, NULL, &error), EX_ERROR_ARGUMENT);
    assert_int_equal(ex_rig_jacobian(rig, NULL, NULL, NULL, NULL, &error), EX_ERROR_ARGUMENT);
    ex_set_misuse_hook(NULL);
    assert_int_equal(misuses, 2);
    ex_rig_destroy(rig);
    character_close(&c);
}

static void test_displaced_levels(void **state) {
    (void)state;
    displaced d;
    ex_error error = {0};
    posed p;
    displaced_open(&d, 3, 2, 2, true);
    d.def.skinning = EX_SKINNING_LINEAR;
    ex_rig *rig = rig_of(&d.def);
    const size_t count = (size_t)ex_rig_level_vertex_count(rig, 2) * 3 * (size_t)ex_rig_jacobian_width(rig);
    double *numbers = malloc(count * sizeof *numbers);
    assert_non_null(numbers);
    ex_rig_jacobian(rig, NULL, &(ex_evaluation){.level = 2}, numbers, NULL, &error);
    assert_sentence(&error, EX_ERROR_ARGUMENT, "mute it");
    open_pose(rig, &p);
    compare(rig, &p, NULL, 1e-4);
    bool muted[DISPLACED_LAYERS];
    for (int l = 0; l < DISPLACED_LAYERS; l++)
        muted[l] = ex_rig_layer_stage(rig, l) == EX_STAGE_SURFACE;
    compare(rig, &p, &(ex_evaluation){.level = 2, .muted = muted}, 1e-4);
    free(numbers);
    ex_rig_destroy(rig);
    displaced_close(&d);
}

static ex_result make_and_drop(void *context, const ex_allocator *allocator) {
    double numbers[5 * 4 * 3 * CHARACTER_INPUTS];
    return ex_rig_jacobian(context, NULL, NULL, numbers, allocator, NULL);
}

static void test_memory(void **state) {
    (void)state;
    character c;
    character_open(&c, 5, 4, EX_SKINNING_LINEAR);
    ex_rig *rig = rig_of(&c.def);
    assert_int_equal(failing_allocator_sweep(make_and_drop, rig), 1);
    ex_rig_destroy(rig);
    character_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_character),  cmocka_unit_test(test_readings_and_offsets),
        cmocka_unit_test(test_sample_rig), cmocka_unit_test(test_trajectories),
        cmocka_unit_test(test_refusals),   cmocka_unit_test(test_replaced_weigher),
        cmocka_unit_test(test_memory),     cmocka_unit_test(test_displaced_levels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
