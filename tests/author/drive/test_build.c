/*
 * Driven rigs from keys, and keys from driven rigs: the keys' forms at their drivers, rigid motions, regions and
 * databases, trajectories, the same rig again from its contents, errors, and failing memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <exemplar/rig_pack.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/sleeves.h"

/* Approximate size of both meshes. */
#define SIZE 2.0

static ex_rig *must_build(const ex_drive_def *def) {
    ex_rig *rig = NULL;
    ex_error error = {0};
    if (ex_drive_build(def, &rig, &error) != EX_OK)
        fail_msg("%s", error.text);
    return rig;
}

static void evaluate(const ex_rig *rig, const float *driver, double database, bool unsettled, float *positions,
                     double *weights) {
    ex_evaluation evaluation = {.unsettled = unsettled};
    void *scratch = malloc(ex_rig_scratch_size(rig, &evaluation, 1));
    assert_non_null(scratch);
    ex_pose pose = {.driver = driver, .inputs = ex_rig_pose_size(rig) > 0 ? &database : NULL};
    ex_rig_evaluate(rig, &pose, &(ex_output){.positions = positions, .weights = weights}, &evaluation, scratch);
    free(scratch);
}

static double distance(const float *a, const float *b, int vertex_count) {
    double farthest = 0;
    for (int i = 0; i < 3 * vertex_count; i++)
        farthest = fabs((double)a[i] - (double)b[i]) > farthest ? fabs((double)a[i] - (double)b[i]) : farthest;
    return farthest;
}

/* Checks the key's form at every key's driver, and at one that is also moved. */
static void check_keys(const sleeve *s, const ex_rig *rig, double tolerance) {
    const int n = s->driver->vertex_count, m = s->driven->vertex_count;
    float *driver = calloc(3 * (size_t)n, sizeof *driver), *driven = calloc(3 * (size_t)m, sizeof *driven);
    float *form = calloc(3 * (size_t)m, sizeof *form);
    assert_true(driver && driven && form);
    for (int k = 0; k < s->def.key_count; k++) {
        double weights[SLEEVE_KEYS], sum = 0;
        evaluate(rig, s->drivers[k], s->keys[k].database, false, form, weights);
        assert_near(distance(form, s->drivens[k], m), 0, tolerance);
        for (int l = 0; l < s->def.key_count; l++) {
            assert_true(weights[l] >= 0);
            sum += weights[l];
        }
        assert_near(sum, 1, 1e-9);
        assert_near(weights[k], 1, 1e-5);
        sleeve_form(s, 30 * k, 0.4 * k + 1.1, 0.3 * k - 0.7, driver, driven);
        evaluate(rig, driver, s->keys[k].database, false, form, NULL);
        assert_near(distance(form, driven, m), 0, tolerance);
    }
    free(driver);
    free(driven);
    free(form);
}

static void test_keys(void **state) {
    (void)state;
    sleeve s;
    sleeve_open(&s, 12, 6);
    s.def.options.push = false;
    for (int frames = 1; frames <= 4; frames += 3)
        for (int one = 0; one < (frames > 1 ? 2 : 1); one++)
            for (ex_residual residual = 0; residual < EX_RESIDUAL_COUNT; residual++) {
                s.def.options.frames = frames;
                s.def.options.one_region = one == 1;
                s.def.options.residual = residual;
                ex_rig *rig = must_build(&s.def);
                check_keys(&s, rig, 1e-5 * SIZE);
                ex_rig_destroy(rig);
            }
    sleeve_close(&s);
}

/* Between two keys the sleeve stays on the arm; and it moves rigidly with it. */
static void test_between(void **state) {
    (void)state;
    sleeve s;
    sleeve_open(&s, 15, 8);
    s.def.options.frames = 4;
    ex_rig *rig = must_build(&s.def);
    const int n = s.driver->vertex_count, m = s.driven->vertex_count;
    float *driver = calloc(3 * (size_t)n, sizeof *driver), *driven = calloc(3 * (size_t)m, sizeof *driven);
    float *form = calloc(3 * (size_t)m, sizeof *form), *moved = calloc(3 * (size_t)m, sizeof *moved);
    for (int degrees = 15; degrees < 90; degrees += 30) {
        sleeve_form(&s, degrees, 0, 0, driver, driven);
        evaluate(rig, driver, 0, false, form, NULL);
        assert_near(distance(form, driven, m), 0, 0.04);
        /* A quarter turn about x, and a long way: y to z, z to -y. */
        for (int v = 0; v < n; v++) {
            const float y = driver[3 * v + 1], z = driver[3 * v + 2];
            driver[3 * v] += 3;
            driver[3 * v + 1] = -z + 1;
            driver[3 * v + 2] = y - 2;
        }
        evaluate(rig, driver, 0, false, moved, NULL);
        for (int v = 0; v < m; v++) {
            assert_near(moved[3 * v], form[3 * v] + 3, 1e-5 * SIZE);
            assert_near(moved[3 * v + 1], -form[3 * v + 2] + 1, 1e-5 * SIZE);
            assert_near(moved[3 * v + 2], form[3 * v + 1] - 2, 1e-5 * SIZE);
        }
    }
    ex_rig_destroy(rig);
    free(driver);
    free(driven);
    free(form);
    free(moved);
    sleeve_close(&s);
}

/* ---- there and back ---- */

static void *pack(const ex_rig *rig, size_t *size) {
    ex_error error = {0};
    *size = ex_rig_pack_size(rig);
    void *bytes = malloc(*size);
    assert_true(*size > 0 && bytes);
    if (ex_rig_pack(rig, bytes, *size, &error) != EX_OK)
        fail_msg("%s", error.text);
    return bytes;
}

/* Opens the rig, compares with its definition, and builds it again: the same rig. */
static void check_round_trip(const sleeve *s) {
    const ex_drive_def *def = &s->def;
    ex_rig *rig = must_build(def);
    ex_drive_set *set = NULL;
    ex_error error = {0};
    if (ex_drive_open(rig, &set, &error) != EX_OK)
        fail_msg("%s", error.text);
    size_t size = 0, again_size = 0;
    void *bytes = pack(rig, &size);
    ex_rig_destroy(rig); /* the set does not need it */
    const ex_drive_def *got = ex_drive_get_def(set);
    const ex_drive_options *a = &def->options, *b = &got->options;
    assert_int_equal(got->key_count, def->key_count);
    assert_string_equal(got->driver_name, def->driver_name);
    assert_int_equal(got->database_axis != NULL, def->database_axis != NULL);
    for (int k = 0; k < def->key_count; k++) {
        assert_string_equal(got->keys[k].name, def->keys[k].name);
        assert_memory_equal(got->keys[k].driver, def->keys[k].driver,
                            3 * (size_t)def->driver->vertex_count * sizeof(float));
        assert_near(distance(got->keys[k].driven, def->keys[k].driven, def->driven->vertex_count), 0, 1e-6 * SIZE);
        if (def->database_axis)
            assert_true(got->keys[k].database == def->keys[k].database);
    }
    assert_true(a->frame == b->frame && a->frames == b->frames && a->fit == b->fit && a->look == b->look &&
                a->whole == b->whole && a->influences == b->influences && a->one_region == b->one_region &&
                a->paths == b->paths && a->push == b->push && a->region_count == b->region_count &&
                a->bind_count == b->bind_count && (a->driver_weights != NULL) == (b->driver_weights != NULL) &&
                (float)a->thickness == (float)b->thickness);
    assert_int_equal(got->driver->face_count, def->driver->face_count);
    assert_memory_equal(got->driver->corners, def->driver->corners, (size_t)def->driver->corner_count * sizeof(int));
    assert_memory_equal(got->driver->face_groups, def->driver->face_groups,
                        (size_t)def->driver->face_count * sizeof(int));
    assert_string_equal(got->driver->group_names[1], def->driver->group_names[1]);
    assert_int_equal(got->driven->face_count, def->driven->face_count);
    ex_rig *again = must_build(got);
    void *again_bytes = pack(again, &again_size);
    assert_int_equal(size, again_size);
    assert_memory_equal(bytes, again_bytes, size);
    check_keys(s, again, 1e-5 * SIZE);
    free(bytes);
    free(again_bytes);
    ex_rig_destroy(again);
    ex_drive_close(set);
}

static void test_round_trip(void **state) {
    (void)state;
    sleeve s;
    sleeve_open(&s, 12, 6);
    ex_drive_options *o = &s.def.options;
    o->push = false;
    check_round_trip(&s);
    o->frames = 1;
    o->frame_group = "lower";
    o->residual = EX_RESIDUAL_CLOSEST;
    check_round_trip(&s);
    /* Everything at once. */
    const int n = s.driver->vertex_count, m = s.driven->vertex_count;
    float *values = calloc((size_t)(3 * n + 2 * m), sizeof *values);
    uint16_t *vertex_binds = calloc((size_t)m, sizeof *vertex_binds);
    const uint32_t triangles[3] = {0, 5, 11};
    const ex_bind bind = {.triangle_count = 3, .triangles = triangles};
    for (int v = 0; v < n; v++) {
        values[v] = v < n / 2 ? 0.25F : 0.1F + 0.001F * (float)v;
        values[n + v] = v < n / 2;
        values[2 * n + v] = v >= n / 3;
    }
    for (int v = 0; v < m; v++) {
        values[3 * n + v] = 0.3F;
        values[3 * n + m + v] = v < m / 2 ? 0 : 0.4F;
        vertex_binds[v] = (uint16_t)(v % 2);
    }
    const ex_drive_region regions[2] = {{values + n, values + 3 * n}, {values + 2 * n, values + 3 * n + m}};
    o->frame_group = NULL;
    o->frames = 3;
    o->driver_weights = values;
    o->region_count = 2;
    o->regions = regions;
    o->bind_count = 1;
    o->binds = &bind;
    o->vertex_binds = vertex_binds;
    o->residual = EX_RESIDUAL_COUNT;
    check_round_trip(&s);
    free(values);
    free(vertex_binds);
    sleeve_close(&s);
}

/* Two databases with the same drivers: each key is at its own place. */
static void test_databases(void **state) {
    (void)state;
    sleeve s;
    sleeve_open(&s, 12, 6);
    s.def.options.push = false;
    s.def.database_axis = "stiffness";
    for (int k = 0; k < SLEEVE_KEYS; k++)
        s.keys[k].database = k % 2 == 0 ? 1.5 : 4;
    memcpy(s.drivers[1], s.drivers[0], 3 * (size_t)s.driver->vertex_count * sizeof(float));
    memcpy(s.drivers[3], s.drivers[2], 3 * (size_t)s.driver->vertex_count * sizeof(float));
    ex_rig *rig = must_build(&s.def);
    const int m = s.driven->vertex_count;
    float *form = calloc(3 * (size_t)m, sizeof *form);
    for (int k = 0; k < SLEEVE_KEYS; k++) {
        evaluate(rig, s.drivers[k], s.keys[k].database, false, form, NULL);
        assert_near(distance(form, s.drivens[k], m), 0, 1e-5 * SIZE);
    }
    free(form);
    ex_drive_set *set = NULL;
    ex_error error = {0};
    assert_int_equal(ex_drive_open(rig, &set, &error), EX_OK);
    assert_string_equal(ex_drive_get_def(set)->database_axis, "stiffness");
    assert_true(ex_drive_get_def(set)->keys[3].database == 4);
    ex_drive_close(set);
    ex_rig_destroy(rig);
    sleeve_close(&s);
}

static void test_paths(void **state) {
    (void)state;
    sleeve s;
    sleeve_open(&s, 12, 6);
    s.def.options.frames = -1;
    s.def.options.paths = true;
    s.def.options.push = false;
    check_round_trip(&s);
    /* Halfway between straight and a right angle, a sleeve without wrinkles is much nearer to one bent by 45 degrees
     * along trajectories than along straight lines. */
    const int n = s.driver->vertex_count, m = s.driven->vertex_count;
    float *driver = calloc(3 * (size_t)n, sizeof *driver), *driven = calloc(3 * (size_t)m, sizeof *driven);
    float *form = calloc(3 * (size_t)m, sizeof *form);
    double off[2];
    s.folds = 0;
    s.def.options.residual = EX_RESIDUAL_NONE;
    s.def.options.frames = 1;
    s.def.key_count = 2;
    for (int k = 0; k < 2; k++)
        sleeve_form(&s, 90 * k, 0, 0, s.drivers[k], s.drivens[k]);
    sleeve_form(&s, 45, 0, 0, driver, driven);
    for (int paths = 0; paths < 2; paths++) {
        s.def.options.paths = paths == 1;
        ex_rig *rig = must_build(&s.def);
        evaluate(rig, driver, 0, true, form, NULL);
        off[paths] = distance(form, driven, m);
        ex_rig_destroy(rig);
    }
    assert_true(off[1] < 0.5 * off[0]);
    free(driver);
    free(driven);
    free(form);
    sleeve_close(&s);
}

/* ---- errors ---- */

static void expect(const ex_drive_def *def, ex_result result, const char *word) {
    ex_rig *rig = NULL;
    ex_error error = {0};
    assert_int_equal(ex_drive_build(def, &rig, &error), result);
    assert_null(rig);
    assert_sentence(&error, result, word);
}

static void test_invalid(void **state) {
    (void)state;
    sleeve s;
    sleeve_open(&s, 12, 6);
    const size_t driver_size = 3 * (size_t)s.driver->vertex_count * sizeof(float);
    memcpy(s.drivers[2], s.drivers[1], driver_size);
    expect(&s.def, EX_ERROR_DATA, "'slight' and 'bent'");
    float *unused = malloc(3 * (size_t)s.driven->vertex_count * sizeof *unused);
    sleeve_form(&s, 30, 2, -1, s.drivers[2], unused); /* the same form, elsewhere */
    expect(&s.def, EX_ERROR_DATA, "'slight' and 'bent'");
    s.drivers[2][10] = NAN;
    expect(&s.def, EX_ERROR_DATA, "vertex 3 of the driver");
    sleeve_form(&s, 60, 2, -1, s.drivers[2], unused);
    s.drivens[3][7] = INFINITY;
    expect(&s.def, EX_ERROR_DATA, "vertex 2 of the driven");
    s.drivens[3][7] = 0;
    s.keys[2].name = "right";
    expect(&s.def, EX_ERROR_ARGUMENT, "right");
    s.keys[2].name = "bent";
    s.def.database_axis = "stiffness";
    s.keys[1].database = NAN;
    expect(&s.def, EX_ERROR_DATA, "stiffness");
    s.def.database_axis = NULL;
    s.def.options.frame = EX_WHOLE_FRAME_JOINT;
    expect(&s.def, EX_ERROR_ARGUMENT, "skeleton");
    s.def.options.frame = EX_WHOLE_FRAME_FIT;
    s.def.options.paths = true;
    expect(&s.def, EX_ERROR_ARGUMENT, "one region");
    free(unused);
    sleeve_close(&s);
}

/* ---- memory ---- */

static ex_result attempt(void *context) {
    const sleeve *s = context;
    ex_rig *rig = NULL;
    ex_drive_set *set = NULL;
    ex_error error;
    ex_result result = ex_drive_build(&s->def, &rig, &error);
    if (result == EX_OK)
        result = ex_drive_open(rig, &set, &error);
    ex_drive_close(set);
    ex_rig_destroy(rig);
    return result;
}

static void test_memory(void **state) {
    (void)state;
    sleeve s;
    sleeve_open(&s, 6, 4);
    s.def.key_count = 2;
    assert_true(fail_alloc_sweep(attempt, &s) > 80);
    sleeve_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys),      cmocka_unit_test(test_between), cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_databases), cmocka_unit_test(test_paths),   cmocka_unit_test(test_invalid),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
