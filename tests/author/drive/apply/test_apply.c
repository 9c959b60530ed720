/*
 * Applying a driven rig to caches: exact at the keys, independent of the driver's place, written completely or not at
 * all; and its report, compared with the same numbers computed here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/check.h"
#include "support/drives.h"
#include "support/fail_alloc.h"
#include "support/scratch.h"

#include <exemplar/author/drive.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS = 5, FRAMES = 12 };

/* Bends from 0 to 110 degrees, and the second and fourth twisted. */
static drive_pose key_pose(int k) {
    return (drive_pose){.bend = 27.5 * k, .twist = k % 2 ? 30 : 0, .turn = 20 * k, .along = 0.1 * k, .wrinkle = 1};
}

static ex_rig *make_rig(int frames, bool push, ex_residual residual) {
    static float driver[KEYS][3 * DRIVE_DRIVER_COUNT], driven[KEYS][3 * DRIVE_DRIVEN_COUNT];
    static const char *const names[KEYS] = {"straight", "some", "half", "more", "bent"};
    ex_drive_key keys[KEYS];
    ex_error error = {.result = EX_OK};
    ex_rig *rig = NULL;
    ex_mesh *driver_mesh = drive_driver_mesh(), *driven_mesh = drive_driven_mesh();
    for (int k = 0; k < KEYS; k++) {
        const drive_pose pose = key_pose(k);
        drive_form(&pose, driver[k], driven[k]);
        keys[k] = (ex_drive_key){.name = names[k], .driver = driver[k], .driven = driven[k]};
    }
    ex_drive_def def = {.driver = driver_mesh,
                        .driven = driven_mesh,
                        .driver_name = "body",
                        .key_count = KEYS,
                        .keys = keys,
                        .options = ex_drive_options_default()};
    def.options.frames = frames;
    def.options.push = push;
    def.options.residual = residual;
    if (ex_drive_build(&def, &rig, &error) != EX_OK)
        fail_msg("%s", error.text);
    ex_mesh_destroy(driver_mesh);
    ex_mesh_destroy(driven_mesh);
    return rig;
}

static ex_drive_report *apply(const ex_apply_def *def) {
    ex_error error = {.result = EX_OK};
    ex_drive_report *report = NULL;
    if (ex_drive_apply(def, &report, &error) != EX_OK)
        fail_msg("%s", error.text);
    return report;
}

static void read_frame(const char *name, int frame, float *form) {
    ex_error error = {.result = EX_OK};
    ex_cache_reader *reader = NULL;
    if (ex_cache_open(scratch_path(name), &reader, &error) != EX_OK ||
        ex_cache_read(reader, frame, form, &error) != EX_OK)
        fail_msg("%s", error.text);
    ex_cache_close(reader);
}

/* ---- the output ---- */

static void test_exact_at_keys(void **state) {
    (void)state;
    const double size = 1.2;
    drive_pose poses[KEYS];
    for (int k = 0; k < KEYS; k++) {
        poses[k] = key_pose(k);
        poses[k].turn = -70; /* not at the key's place */
        poses[k].along = 2;
    }
    drive_write("b.pc2", "s.pc2", poses, KEYS);
    for (int frames = 1; frames <= 8; frames += 7)
        for (ex_residual r = 0; r < EX_RESIDUAL_COUNT; r++) {
            ex_rig *rig = make_rig(frames, false, r);
            char driver[300], output[300], truth[300];
            snprintf(driver, sizeof driver, "%s", scratch_path("b.pc2"));
            snprintf(output, sizeof output, "%s", scratch_path("o.mdd"));
            snprintf(truth, sizeof truth, "%s", scratch_path("s.pc2"));
            ex_drive_report *report =
                apply(&(ex_apply_def){.rig = rig, .driver = driver, .output = output, .truth = truth, .database = NAN});
            for (int k = 0; k < KEYS; k++) {
                float made[3 * DRIVE_DRIVEN_COUNT], right[3 * DRIVE_DRIVEN_COUNT];
                read_frame("o.mdd", k, made);
                read_frame("s.pc2", k, right);
                assert_true(drive_apart(made, right, DRIVE_DRIVEN_COUNT) < 1e-5 * size);
                for (int j = 0; j < KEYS; j++)
                    assert_near(report->weights[k * KEYS + j], j == k, 1e-4);
                assert_true(report->frames[k].hull_distance < 1e-4);
                assert_true(report->frames[k].nearest_mean < 1e-5); /* the key itself */
                assert_true(report->frames[k].blend_mean < 1e-5);
            }
            assert_int_equal(report->far_count, 0);
            ex_drive_report_free(report);
            ex_rig_destroy(rig);
        }
}

static void test_weights_and_global_motion(void **state) {
    (void)state;
    static float made[2][FRAMES][3 * DRIVE_DRIVEN_COUNT];
    ex_rig *rig = make_rig(4, true, EX_RESIDUAL_KEYS);
    drive_pose poses[FRAMES];
    char driver[300], output[300];
    for (int still = 0; still < 2; still++) {
        for (int f = 0; f < FRAMES; f++) {
            poses[f] = drive_motion(3, f, FRAMES);
            if (still)
                poses[f].turn = poses[f].along = 0;
        }
        drive_write("b.pc2", NULL, poses, FRAMES);
        snprintf(driver, sizeof driver, "%s", scratch_path("b.pc2"));
        snprintf(output, sizeof output, "%s", scratch_path("o.pc2"));
        ex_drive_report *report =
            apply(&(ex_apply_def){.rig = rig, .driver = driver, .output = output, .database = NAN});
        for (int f = 0; f < FRAMES; f++) {
            double sum = 0;
            for (int k = 0; k < KEYS; k++) {
                assert_true(report->weights[f * KEYS + k] >= 0);
                sum += report->weights[f * KEYS + k];
            }
            assert_near(sum, 1, 1e-9);
            read_frame("o.pc2", f, made[still][f]);
        }
        ex_drive_report_free(report);
    }
    for (int f = 0; f < FRAMES; f++) {
        const drive_pose there = drive_motion(3, f, FRAMES);
        const double turn = there.turn * 3.14159265358979323846 / 180;
        float moved[3 * DRIVE_DRIVEN_COUNT];
        for (int v = 0; v < DRIVE_DRIVEN_COUNT; v++) {
            const float *q = &made[1][f][3 * v];
            moved[3 * v] = (float)(cos(turn) * (double)q[0] + sin(turn) * (double)q[2] + there.along);
            moved[3 * v + 1] = q[1];
            moved[3 * v + 2] = (float)(-sin(turn) * (double)q[0] + cos(turn) * (double)q[2] + 0.3 * there.along);
        }
        assert_true(drive_apart(moved, made[0][f], DRIVE_DRIVEN_COUNT) < 2e-5);
    }
    ex_rig_destroy(rig);
}

static void test_times_groups_and_kinds(void **state) {
    (void)state;
    ex_rig *rig = make_rig(1, true, EX_RESIDUAL_KEYS);
    char driver[300], output[300];
    float whole[3 * DRIVE_DRIVEN_COUNT], part[3 * DRIVE_DRIVEN_COUNT];
    static const char *const names[] = {"o.pc2", "o.mdd", "o.obj"};
    drive_write_motion("b.mdd", NULL, 2, FRAMES);
    snprintf(driver, sizeof driver, "%s", scratch_path("b.mdd"));
    snprintf(output, sizeof output, "%s", scratch_path("whole.pc2"));
    ex_error error = {.result = EX_OK};
    assert_int_equal(
        ex_drive_apply(&(ex_apply_def){.rig = rig, .driver = driver, .output = output, .database = NAN}, NULL, &error),
        EX_OK);
    for (int i = 0; i < 3; i++) {
        snprintf(output, sizeof output, "%s", scratch_path(names[i]));
        const ex_apply_def def = {.rig = rig, .driver = driver, .output = output, .group = "arm", .database = NAN};
        assert_int_equal(ex_drive_apply(&def, NULL, &error), EX_OK);
        ex_cache_reader *reader = NULL;
        assert_int_equal(ex_cache_open(scratch_path(names[i]), &reader, &error), EX_OK);
        const ex_cache_info info = ex_cache_get_info(reader);
        assert_int_equal(info.frame_count, FRAMES);
        assert_int_equal(info.vertex_count, 5 * DRIVE_SLEEVE_SIDES); /* the upper five rings */
        if (i < 2)
            assert_near(ex_cache_time(reader, 7), 7 / 25.0, 1e-6);
        ex_cache_close(reader);
        read_frame("whole.pc2", 7, whole);
        read_frame(names[i], 7, part);
        assert_true(drive_apart(part, whole + 12 * DRIVE_SLEEVE_SIDES, 5 * DRIVE_SLEEVE_SIDES) < 1e-7);
    }
    ex_mesh *mesh = NULL;
    assert_int_equal(ex_mesh_read(scratch_path("o_0001.obj"), &mesh, &error), EX_OK);
    assert_int_equal(mesh->face_count, 4 * DRIVE_SLEEVE_SIDES);
    ex_mesh_destroy(mesh);
    ex_rig_destroy(rig);
}

/* ---- the measurements ---- */

/* Compares with a truth that is 3 mm off everywhere except for one vertex, which is 2 cm off. */
/* Blocks, times and meshes, which others need to join parts. */
static void test_parts(void **state) {
    (void)state;
    ex_rig *rig = make_rig(1, true, EX_RESIDUAL_NONE);
    drive_pose poses[FRAMES];
    ex_cache_reader *reader = NULL;
    ex_mesh *all = NULL, *part = NULL;
    ex_error error = {.result = EX_OK};
    for (int f = 0; f < FRAMES; f++)
        poses[f] = drive_motion(3, f, FRAMES);
    drive_write("b.pc2", NULL, poses, FRAMES);
    assert_int_equal(ex_cache_open(scratch_path("b.pc2"), &reader, &error), EX_OK);
    assert_int_equal(ex_drive_block(rig, reader, 0), 128);
    for (int f = 0; f < FRAMES; f++) {
        assert_true(ex_drive_time(reader, f, 0) == ex_cache_time(reader, f));
        assert_true(ex_drive_time(reader, f, 29.97) == f / 29.97);
    }
    assert_int_equal(ex_drive_mesh(rig, NULL, &all, &error), EX_OK);
    assert_int_equal(all->vertex_count, DRIVE_DRIVEN_COUNT);
    assert_int_equal(ex_drive_mesh(rig, all->group_names[0], &part, &error), EX_OK);
    assert_true(part->vertex_count > 0 && part->vertex_count < all->vertex_count);
    assert_true(part->face_count > 0 && part->face_count < all->face_count);
    ex_mesh_destroy(part);
    assert_int_equal(ex_drive_mesh(rig, "nowhere", &part, &error), EX_ERROR_DATA);
    assert_null(part);
    ex_mesh_destroy(all);
    ex_cache_close(reader);
    ex_rig_destroy(rig);
}

static void test_errors_are_what_they_are(void **state) {
    (void)state;
    ex_rig *rig = make_rig(1, true, EX_RESIDUAL_KEYS);
    char driver[300], output[300], truth[300];
    double times[FRAMES];
    float form[3 * DRIVE_DRIVEN_COUNT];
    ex_error error = {.result = EX_OK};
    ex_cache_writer *writer = NULL;
    drive_write_motion("b.pc2", NULL, 1, FRAMES);
    snprintf(driver, sizeof driver, "%s", scratch_path("b.pc2"));
    snprintf(output, sizeof output, "%s", scratch_path("o.pc2"));
    snprintf(truth, sizeof truth, "%s", scratch_path("t.pc2"));
    assert_int_equal(
        ex_drive_apply(&(ex_apply_def){.rig = rig, .driver = driver, .output = output, .database = NAN}, NULL, &error),
        EX_OK);
    for (int f = 0; f < FRAMES; f++)
        times[f] = f / 25.0;
    assert_int_equal(ex_cache_create(truth, DRIVE_DRIVEN_COUNT, FRAMES, times, NULL, &writer, &error), EX_OK);
    for (int f = 0; f < FRAMES; f++) {
        read_frame("o.pc2", f, form);
        for (int v = 0; v < DRIVE_DRIVEN_COUNT; v++)
            form[3 * v + f % 3] += v == 11 ? 0.02F : 0.003F;
        assert_int_equal(ex_cache_write(writer, form, &error), EX_OK);
    }
    assert_int_equal(ex_cache_finish(writer, true, &error), EX_OK);
    ex_drive_report *report = apply(&(ex_apply_def){.rig = rig, .driver = driver, .truth = truth, .database = NAN});
    const double mean = (0.003 * (DRIVE_DRIVEN_COUNT - 1) + 0.02) / DRIVE_DRIVEN_COUNT;
    assert_int_equal(report->frame_count, FRAMES);
    assert_int_equal(report->vertex_count, DRIVE_DRIVEN_COUNT);
    for (int f = 0; f < FRAMES; f++) {
        const ex_drive_frame *frame = &report->frames[f];
        assert_near(frame->mean, mean, 1e-6);
        assert_near(frame->p95, 0.003, 1e-6);
        assert_near(frame->worst, 0.02, 1e-6);
        assert_int_equal(frame->worst_vertex, 11);
        assert_true(frame->blend_mean > 0 && frame->nearest_mean > frame->mean);
        assert_near(frame->time, times[f], 1e-6);
        assert_true(frame->hull_distance >= 0);
        assert_true(f == 0 ? frame->driver_jump == 0 : frame->driver_jump > 0 && frame->driver_jump < 0.5);
        assert_true(f == 0 ? frame->driven_jump == 0 : frame->driven_jump > 0 && frame->driven_jump < 0.5);
        assert_true(frame->deepest_after > -1e-4);
    }
    assert_near(report->mean, mean, 1e-6);
    assert_near(report->p95, 0.003, 0.01 * 0.003);
    assert_near(report->vertex_errors[11], 0.02, 1e-6);
    assert_near(report->vertex_errors[40], 0.003, 1e-6);
    assert_true(report->nearest_mean > 2 * report->mean);
    assert_true(report->nearest_p95 > report->nearest_mean);
    ex_drive_report_free(report);
    report = apply(&(ex_apply_def){.rig = rig, .driver = driver, .brief = true, .database = NAN});
    assert_true(report->mean < 0);
    assert_null(report->vertex_errors);
    assert_true(report->frames[3].nearest_mean < 0);
    ex_drive_report_free(report);
    ex_rig_destroy(rig);
}

/* A driver bent the other way, unlike any key, is far; one between keys is not. */
static void test_far_frames(void **state) {
    (void)state;
    ex_rig *rig = make_rig(1, true, EX_RESIDUAL_KEYS);
    char driver[300];
    drive_pose poses[FRAMES];
    for (int f = 0; f < FRAMES; f++)
        poses[f] = (drive_pose){.bend = f < 9 ? 10 * f : -100, .wrinkle = 1};
    drive_write("b.pc2", NULL, poses, FRAMES);
    snprintf(driver, sizeof driver, "%s", scratch_path("b.pc2"));
    ex_drive_report *report = apply(&(ex_apply_def){.rig = rig, .driver = driver, .database = NAN});
    assert_int_equal(report->far_count, 3);
    ex_key_distance distances[KEYS];
    ex_drive_set *set = NULL;
    ex_error error = {.result = EX_OK};
    double spread = 0;
    assert_int_equal(ex_drive_open(rig, &set, &error), EX_OK);
    assert_int_equal(ex_key_distances(ex_drive_get_def(set), distances, &error), EX_OK);
    for (int k = 0; k < KEYS; k++)
        spread += distances[k].distance / KEYS;
    assert_near(report->key_spread, spread, 0.01 * spread);
    ex_drive_close(set);
    for (int f = 0; f < FRAMES; f++)
        assert_true((report->frames[f].hull_distance > report->key_spread) == (f >= 9));
    ex_drive_report_free(report);
    ex_rig_destroy(rig);
}

/* Two databases on the same poses: keys are as far apart as those of one, and the nearest key belongs to the requested
 * database. */
static void test_databases_apart(void **state) {
    (void)state;
    static float form[KEYS][3 * DRIVE_DRIVER_COUNT], cloth[2][KEYS][3 * DRIVE_DRIVEN_COUNT];
    static const char *const names[2][KEYS] = {{"a", "b", "c", "d", "e"}, {"A", "B", "C", "D", "E"}};
    ex_drive_key keys[2 * KEYS];
    drive_pose poses[KEYS];
    char driver[300], truth[300];
    ex_error error = {.result = EX_OK};
    ex_rig *alone = make_rig(1, false, EX_RESIDUAL_NONE), *both = NULL;
    ex_mesh *driver_mesh = drive_driver_mesh(), *driven_mesh = drive_driven_mesh();
    for (int k = 0; k < KEYS; k++) {
        poses[k] = key_pose(k);
        drive_form(&poses[k], form[k], cloth[0][k]);
        memcpy(cloth[1][k], cloth[0][k], sizeof cloth[1][k]);
        for (int v = 0; v < DRIVE_DRIVEN_COUNT; v++)
            cloth[1][k][3 * v + 1] += 0.05F;
        for (int d = 0; d < 2; d++)
            keys[d * KEYS + k] =
                (ex_drive_key){.name = names[d][k], .driver = form[k], .driven = cloth[d][k], .database = 1 + 4 * d};
    }
    ex_drive_def def = {.driver = driver_mesh,
                        .driven = driven_mesh,
                        .driver_name = "body",
                        .database_axis = "stiffness",
                        .key_count = 2 * KEYS,
                        .keys = keys,
                        .options = ex_drive_options_default()};
    def.options.frames = 1;
    def.options.push = false;
    def.options.residual = EX_RESIDUAL_NONE;
    if (ex_drive_build(&def, &both, &error) != EX_OK)
        fail_msg("%s", error.text);
    drive_write("b.pc2", "s.pc2", poses, KEYS);
    snprintf(driver, sizeof driver, "%s", scratch_path("b.pc2"));
    snprintf(truth, sizeof truth, "%s", scratch_path("s.pc2"));
    ex_drive_report *right = apply(&(ex_apply_def){.rig = alone, .driver = driver, .database = NAN});
    for (int d = 0; d < 2; d++) {
        ex_drive_report *report =
            apply(&(ex_apply_def){.rig = both, .driver = driver, .truth = truth, .database = 1 + 4 * d});
        assert_near(report->key_spread, right->key_spread, 1e-6);
        assert_int_equal(report->far_count, 0);
        assert_near(report->nearest_mean, 0.05 * d, 1e-5);
        ex_drive_report_free(report);
    }
    ex_drive_report_free(right);
    ex_mesh_destroy(driver_mesh);
    ex_mesh_destroy(driven_mesh);
    ex_rig_destroy(alone);
    ex_rig_destroy(both);
}

/* ---- refusals, memory ---- */

static void test_refusals(void **state) {
    (void)state;
    ex_rig *rig = make_rig(1, true, EX_RESIDUAL_KEYS);
    char driver[300], output[300], truth[300], short_truth[300];
    drive_write_motion("b.pc2", "s.pc2", 0, FRAMES);
    drive_write_motion(NULL, "short.pc2", 0, FRAMES - 1);
    snprintf(driver, sizeof driver, "%s", scratch_path("b.pc2"));
    snprintf(output, sizeof output, "%s", scratch_path("refused.pc2"));
    snprintf(truth, sizeof truth, "%s", scratch_path("s.pc2"));
    snprintf(short_truth, sizeof short_truth, "%s", scratch_path("short.pc2"));
    size_t size;
    char *bytes = scratch_read("b.pc2", &size);
    const float nan = NAN;
    memcpy(bytes + 32 + 12 * (7 * DRIVE_DRIVER_COUNT + 44), &nan, 4);
    scratch_write("nan.pc2", bytes, size);
    free(bytes);
    char spoiled[300];
    snprintf(spoiled, sizeof spoiled, "%s", scratch_path("nan.pc2"));
    const int before = scratch_entry_count();
    const struct {
        ex_apply_def def;
        ex_result result;
        const char *word;
    } cases[] = {
        {{.rig = rig, .driver = spoiled, .output = output, .database = NAN}, EX_ERROR_DATA, "frame 8, vertex 44"},
        {{.rig = rig, .driver = driver, .output = output, .group = "arms", .database = NAN},
         EX_ERROR_DATA,
         "did you mean 'arm'"},
        {{.rig = rig, .driver = driver, .output = output, .truth = short_truth, .database = NAN}, EX_ERROR_DATA, "11"},
        {{.rig = rig, .driver = driver, .output = output, .database = 2}, EX_ERROR_ARGUMENT, "one database"},
        {{.rig = rig, .driver = driver, .output = "no/folder/x.pc2", .database = NAN}, EX_ERROR_FILE, "x.pc2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ex_error error = {.result = EX_OK};
        ex_drive_report *report = NULL;
        assert_int_equal(ex_drive_apply(&cases[i].def, &report, &error), cases[i].result);
        assert_sentence(&error, cases[i].result, cases[i].word);
        assert_null(report);
        assert_int_equal(scratch_entry_count(), before);
    }
    ex_rig_destroy(rig);
}

static ex_result attempt(void *context) {
    ex_drive_report *report = NULL;
    ex_error error;
    const ex_result result = ex_drive_apply(context, &report, &error);
    ex_drive_report_free(report);
    return result;
}

static void test_memory_runs_out(void **state) {
    (void)state;
    ex_rig *rig = make_rig(1, true, EX_RESIDUAL_KEYS);
    char driver[300], output[300], truth[300];
    drive_write_motion("b.pc2", "s.pc2", 0, 2);
    snprintf(driver, sizeof driver, "%s", scratch_path("b.pc2"));
    snprintf(output, sizeof output, "%s", scratch_path("o.pc2"));
    snprintf(truth, sizeof truth, "%s", scratch_path("s.pc2"));
    ex_apply_def def = {
        .rig = rig, .driver = driver, .output = output, .truth = truth, .group = "arm", .database = NAN};
    assert_true(fail_alloc_sweep(attempt, &def) > 30);
    ex_rig_destroy(rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact_at_keys),
        cmocka_unit_test(test_weights_and_global_motion),
        cmocka_unit_test(test_times_groups_and_kinds),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_errors_are_what_they_are),
        cmocka_unit_test(test_far_frames),
        cmocka_unit_test(test_databases_apart),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_memory_runs_out),
    };
    return cmocka_run_group_tests(tests, scratch_set_up, scratch_tear_down);
}
