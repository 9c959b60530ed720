/*
 * A driven mesh after settling: put over other garments, whichever way their faces look, with penetrations found by
 * examining every triangle; and crossings with itself, beside those that ex_mesh_count_self_intersections finds.
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

enum { KEYS = 4, FRAMES = 6 };

/* Exchanges two vertices, two rings apart, a little further outwards: the faces around them go through each other. */
static void tangle(float *driven) {
    const int v = 3 * DRIVE_SLEEVE_SIDES + 3, next = v + 2 * DRIVE_SLEEVE_SIDES, across = v + DRIVE_SLEEVE_SIDES / 2;
    for (int c = 0; c < 3; c++) {
        const float out = 0.1f * (driven[3 * v + c] - driven[3 * across + c]), kept = driven[3 * v + c];
        driven[3 * v + c] = driven[3 * next + c] + out;
        driven[3 * next + c] = kept + out;
    }
}

/* bound: every vertex of the sleeve sees all triangles of its driver, as a bind. */
static ex_rig *make_bound_rig(bool tangled, bool bound) {
    static float driver[KEYS][3 * DRIVE_DRIVER_COUNT], driven[KEYS][3 * DRIVE_DRIVEN_COUNT];
    ex_drive_key keys[KEYS];
    ex_error error = {.result = EX_OK};
    ex_rig *rig = NULL;
    ex_mesh *driver_mesh = drive_driver_mesh(), *driven_mesh = drive_driven_mesh();
    static const char *const names[KEYS] = {"a", "b", "c", "d"};
    for (int k = 0; k < KEYS; k++) {
        const drive_pose pose = {.bend = 35.0 * k, .twist = k % 2 ? 20 : 0, .wrinkle = 1};
        drive_form(&pose, driver[k], driven[k]);
        if (tangled)
            tangle(driven[k]);
        keys[k] = (ex_drive_key){.name = names[k], .driver = driver[k], .driven = driven[k]};
    }
    ex_drive_def def = {.driver = driver_mesh,
                        .driven = driven_mesh,
                        .driver_name = "body",
                        .key_count = KEYS,
                        .keys = keys,
                        .options = ex_drive_options_default()};
    int *corners = NULL, count = 0;
    assert_int_equal(ex_mesh_triangulate(driver_mesh, &corners, &count, &error), EX_OK);
    uint32_t *triangles = malloc((size_t)count * sizeof *triangles);
    for (int t = 0; t < count; t++)
        triangles[t] = (uint32_t)t;
    const ex_bind bind = {count, triangles};
    static const uint16_t vertex_binds[DRIVE_DRIVEN_COUNT];
    if (bound) {
        def.options.bind_count = 1;
        def.options.binds = &bind;
        def.options.vertex_binds = vertex_binds;
    }
    if (ex_drive_build(&def, &rig, &error) != EX_OK)
        fail_msg("%s", error.text);
    free(corners);
    free(triangles);
    ex_mesh_destroy(driver_mesh);
    ex_mesh_destroy(driven_mesh);
    return rig;
}

static ex_rig *make_rig(bool tangled) {
    return make_bound_rig(tangled, false);
}

static void read_frame(const char *path, int frame, float *form) {
    ex_error error = {.result = EX_OK};
    ex_cache_reader *reader = NULL;
    if (ex_cache_open(path, &reader, &error) != EX_OK || ex_cache_read(reader, frame, form, &error) != EX_OK)
        fail_msg("%s", error.text);
    ex_cache_close(reader);
}

/* ---- by examining every triangle ---- */

static double dot(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* The normal of a face of the sleeve, times 2 its area; the corner p. */
static void face_of(const ex_mesh *mesh, const float *form, const int *triangles, int t, double p[3][3], double n[3]) {
    double e[3], f[3];
    for (int i = 0; i < 3; i++)
        for (int c = 0; c < 3; c++)
            p[i][c] = (double)form[3 * mesh->corners[triangles[3 * t + i]] + c];
    for (int c = 0; c < 3; c++) {
        e[c] = p[1][c] - p[0][c];
        f[c] = p[2][c] - p[0][c];
    }
    for (int c = 0; c < 3; c++)
        n[c] = e[(c + 1) % 3] * f[(c + 2) % 3] - e[(c + 2) % 3] * f[(c + 1) % 3];
}

/* The height of a point over the triangle that it is over, the nearest one; NAN if it is over none. */
static double height_of(const ex_mesh *mesh, const float *form, const int *triangles, int count, const float q[3]) {
    double best = (double)NAN;
    for (int t = 0; t < count; t++) {
        double p[3][3], n[3], to[3];
        bool over = true;
        face_of(mesh, form, triangles, t, p, n);
        const double length = sqrt(dot(n, n));
        for (int i = 0; i < 3; i++) {
            double e[3], side[3];
            for (int c = 0; c < 3; c++) {
                e[c] = p[(i + 1) % 3][c] - p[i][c];
                to[c] = (double)q[c] - p[i][c];
            }
            for (int c = 0; c < 3; c++)
                side[c] = e[(c + 1) % 3] * to[(c + 2) % 3] - e[(c + 2) % 3] * to[(c + 1) % 3];
            over = over && dot(side, n) >= 0;
        }
        const double height = dot(to, n) / length;
        if (over && !(fabs(height) >= fabs(best)))
            best = height;
    }
    return best;
}

/* ---- garments below ---- */

/* A garment below that is the sleeve of the motion, moved outwards by `off` along its normals. */
static void write_inner(const char *path, double off, int frames) {
    ex_mesh *mesh = drive_driven_mesh();
    ex_error error = {.result = EX_OK};
    ex_cache_writer *writer = NULL;
    int *triangles = NULL, count = 0;
    double times[FRAMES];
    for (int f = 0; f < FRAMES; f++)
        times[f] = f / 24.0;
    assert_int_equal(ex_mesh_triangulate(mesh, &triangles, &count, &error), EX_OK);
    assert_int_equal(ex_cache_create(path, DRIVE_DRIVEN_COUNT, frames, times, NULL, &writer, &error), EX_OK);
    for (int f = 0; f < frames; f++) {
        float form[3 * DRIVE_DRIVEN_COUNT];
        double normals[DRIVE_DRIVEN_COUNT][3] = {{0}};
        const drive_pose pose = drive_motion(1, f, FRAMES);
        drive_form(&pose, NULL, form);
        for (int t = 0; t < count; t++) {
            double p[3][3], n[3];
            face_of(mesh, form, triangles, t, p, n);
            for (int i = 0; i < 9; i++)
                normals[mesh->corners[triangles[3 * t + i / 3]]][i % 3] += n[i % 3];
        }
        for (int v = 0; v < DRIVE_DRIVEN_COUNT; v++)
            for (int c = 0; c < 3; c++)
                form[3 * v + c] += (float)(off * normals[v][c] / sqrt(dot(normals[v], normals[v])));
        assert_int_equal(ex_cache_write(writer, form, &error), EX_OK);
    }
    assert_int_equal(ex_cache_finish(writer, true, &error), EX_OK);
    free(triangles);
    ex_mesh_destroy(mesh);
}

static void reverse_faces(ex_mesh *mesh) {
    for (int f = 0; f < mesh->face_count; f++)
        for (int a = mesh->face_offsets[f], b = mesh->face_offsets[f + 1] - 1; a < b; a++, b--) {
            const int kept = mesh->corners[a];
            mesh->corners[a] = mesh->corners[b];
            mesh->corners[b] = kept;
        }
}

/* Counts vertices inside by more than 0.1 mm, over a triangle, in all frames. */
static int count_inside(const ex_mesh *mesh, const char *inner, const char *outer) {
    ex_error error = {.result = EX_OK};
    int *triangles = NULL, count = 0, inside = 0;
    assert_int_equal(ex_mesh_triangulate(mesh, &triangles, &count, &error), EX_OK);
    for (int f = 0; f < FRAMES; f++) {
        float below[3 * DRIVE_DRIVEN_COUNT], form[3 * DRIVE_DRIVEN_COUNT];
        read_frame(inner, f, below);
        read_frame(outer, f, form);
        for (int v = 0; v < DRIVE_DRIVEN_COUNT; v++) {
            const double height = height_of(mesh, below, triangles, count, form + 3 * v);
            inside += height < -1e-4 && height > -0.02;
        }
    }
    free(triangles);
    return inside;
}

static void test_over(void **state) {
    (void)state;
    ex_rig *rig = make_rig(false);
    ex_mesh *mesh = drive_driven_mesh(), *reversed = drive_driven_mesh();
    char driver[300], inner[300], bare[300], output[300], other[300];
    reverse_faces(reversed);
    drive_write_motion("b.pc2", NULL, 1, FRAMES);
    snprintf(driver, sizeof driver, "%s", scratch_path("b.pc2"));
    snprintf(inner, sizeof inner, "%s", scratch_path("inner.pc2"));
    snprintf(bare, sizeof bare, "%s", scratch_path("bare.pc2"));
    snprintf(output, sizeof output, "%s", scratch_path("over.pc2"));
    snprintf(other, sizeof other, "%s", scratch_path("other.pc2"));
    write_inner(inner, 0.003, FRAMES);
    ex_error error = {.result = EX_OK};
    ex_drive_report *report = NULL;
    ex_apply_over over = {inner, mesh};
    ex_apply_def def = {.rig = rig, .driver = driver, .output = bare, .database = NAN};
    assert_int_equal(ex_drive_apply(&def, NULL, &error), EX_OK);
    def.output = output;
    def.overs = &over;
    def.over_count = 1;
    assert_int_equal(ex_drive_apply(&def, &report, &error), EX_OK);
    const int before = count_inside(mesh, inner, bare), after = count_inside(mesh, inner, output);
    int told_before = 0, told_after = 0;
    for (int f = 0; f < FRAMES; f++) {
        told_before += report->frames[f].covered_before;
        told_after += report->frames[f].covered;
        assert_true(report->frames[f].deepest_after > -1e-4);
    }
    assert_true(before > 100 && told_before > 100);
    assert_true(after * 20 <= before && told_after * 20 <= told_before);
    ex_drive_report_free(report);
    /* Whichever way its faces look. */
    over.mesh = reversed;
    def.output = other;
    assert_int_equal(ex_drive_apply(&def, NULL, &error), EX_OK);
    assert_true(count_inside(mesh, inner, other) * 20 <= before);
    /* Another number of frames, and of vertices. */
    write_inner(inner, 0.003, FRAMES - 1);
    assert_int_equal(ex_drive_apply(&def, NULL, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "has 5");
    ex_mesh *wrong = drive_driver_mesh();
    over.mesh = wrong;
    assert_int_equal(ex_drive_apply(&def, NULL, &error), EX_ERROR_DATA);
    ex_mesh_destroy(wrong);
    ex_mesh_destroy(mesh);
    ex_mesh_destroy(reversed);
    ex_rig_destroy(rig);
}

/* A garment below that is 7 cm farther out: too deep to be pushed, but inside, and counted before and after. Vertices
 * whose nearest place is its hem are left alone and not counted. */
static void test_deep(void **state) {
    (void)state;
    ex_rig *rig = make_rig(false);
    ex_mesh *mesh = drive_driven_mesh();
    char driver[300], inner[300], bare[300], output[300];
    drive_write_motion("b.pc2", NULL, 1, FRAMES);
    snprintf(driver, sizeof driver, "%s", scratch_path("b.pc2"));
    snprintf(inner, sizeof inner, "%s", scratch_path("inner.pc2"));
    snprintf(bare, sizeof bare, "%s", scratch_path("bare.pc2"));
    snprintf(output, sizeof output, "%s", scratch_path("over.pc2"));
    write_inner(inner, 0.07, FRAMES);
    ex_error error = {.result = EX_OK};
    ex_drive_report *report = NULL;
    const ex_apply_over over = {inner, mesh};
    ex_apply_def def = {.rig = rig, .driver = driver, .output = bare, .database = NAN};
    assert_int_equal(ex_drive_apply(&def, NULL, &error), EX_OK);
    def.output = output;
    def.overs = &over;
    def.over_count = 1;
    for (int brief = 0; brief < 2; brief++) {
        def.brief = brief > 0;
        assert_int_equal(ex_drive_apply(&def, &report, &error), EX_OK);
        for (int f = 0; f < FRAMES; f++) {
            float a[3 * DRIVE_DRIVEN_COUNT], b[3 * DRIVE_DRIVEN_COUNT];
            read_frame(bare, f, a);
            read_frame(output, f, b);
            assert_memory_equal(a, b, sizeof a);
            assert_true(report->frames[f].covered > DRIVE_DRIVEN_COUNT / 2);
            assert_int_equal(report->frames[f].covered, report->frames[f].covered_before);
        }
        ex_drive_report_free(report);
    }
    ex_mesh_destroy(mesh);
    ex_rig_destroy(rig);
}

/* A driver in another unit, and only some of its frames: the garment below has as many, or all. */
static void test_scaled_part(void **state) {
    (void)state;
    ex_rig *rig = make_bound_rig(false, true);
    ex_mesh *mesh = drive_driven_mesh();
    char driver[300], large[300], inner[300], output[300], other[300];
    drive_write_motion("b.pc2", NULL, 1, FRAMES);
    snprintf(driver, sizeof driver, "%s", scratch_path("b.pc2"));
    snprintf(large, sizeof large, "%s", scratch_path("large.pc2"));
    snprintf(inner, sizeof inner, "%s", scratch_path("inner.pc2"));
    snprintf(output, sizeof output, "%s", scratch_path("over.pc2"));
    snprintf(other, sizeof other, "%s", scratch_path("other.pc2"));
    write_inner(inner, 0.003, FRAMES);
    ex_error error = {.result = EX_OK};
    ex_cache_writer *writer = NULL;
    double times[FRAMES] = {0, 0.04, 0.08, 0.12, 0.16, 0.2};
    assert_int_equal(ex_cache_create(large, DRIVE_DRIVER_COUNT, FRAMES, times, NULL, &writer, &error), EX_OK);
    for (int f = 0; f < FRAMES; f++) {
        float form[3 * DRIVE_DRIVER_COUNT];
        read_frame(driver, f, form);
        for (int i = 0; i < 3 * DRIVE_DRIVER_COUNT; i++)
            form[i] *= 64;
        assert_int_equal(ex_cache_write(writer, form, &error), EX_OK);
    }
    assert_int_equal(ex_cache_finish(writer, true, &error), EX_OK);
    const ex_apply_over over = {inner, mesh};
    ex_apply_def def = {.rig = rig,
                        .driver = driver,
                        .output = output,
                        .overs = &over,
                        .over_count = 1,
                        .untangle = true,
                        .first = 2,
                        .database = NAN};
    assert_int_equal(ex_drive_apply(&def, NULL, &error), EX_OK);
    def.driver = large;
    def.driver_scale = 1.0 / 64;
    def.output = other;
    assert_int_equal(ex_drive_apply(&def, NULL, &error), EX_OK);
    for (int f = 0; f < FRAMES - 2; f++) {
        float a[3 * DRIVE_DRIVEN_COUNT], b[3 * DRIVE_DRIVEN_COUNT];
        read_frame(output, f, a);
        read_frame(other, f, b);
        assert_memory_equal(a, b, sizeof a);
    }
    /* Over frames 3 to 6 of the garment, not 1 to 4. */
    int *triangles = NULL, count = 0, inside = 0;
    assert_int_equal(ex_mesh_triangulate(mesh, &triangles, &count, &error), EX_OK);
    for (int f = 0; f < FRAMES - 2; f++) {
        float below[3 * DRIVE_DRIVEN_COUNT], form[3 * DRIVE_DRIVEN_COUNT];
        read_frame(inner, f + 2, below);
        read_frame(output, f, form);
        for (int v = 0; v < DRIVE_DRIVEN_COUNT; v++) {
            const double height = height_of(mesh, below, triangles, count, form + 3 * v);
            inside += height < -1e-4 && height > -0.02;
        }
    }
    assert_true(inside <= 20);
    free(triangles);
    ex_mesh_destroy(mesh);
    ex_rig_destroy(rig);
}

/* ---- crossings ---- */

static void test_untangle(void **state) {
    (void)state;
    ex_rig *rig = make_rig(true);
    ex_mesh *mesh = drive_driven_mesh();
    char driver[300], truth[300], bare[300], output[300];
    drive_pose poses[FRAMES];
    for (int f = 0; f < FRAMES; f++)
        poses[f] = (drive_pose){.bend = 5 + 20.0 * f, .twist = 3, .wrinkle = 1};
    drive_write("b.pc2", "s.pc2", poses, FRAMES);
    snprintf(driver, sizeof driver, "%s", scratch_path("b.pc2"));
    snprintf(truth, sizeof truth, "%s", scratch_path("s.pc2"));
    snprintf(bare, sizeof bare, "%s", scratch_path("bare.pc2"));
    snprintf(output, sizeof output, "%s", scratch_path("loose.pc2"));
    ex_error error = {.result = EX_OK};
    ex_drive_report *report = NULL, *loose = NULL;
    ex_apply_def def = {.rig = rig, .driver = driver, .truth = truth, .output = bare, .database = NAN};
    assert_int_equal(ex_drive_apply(&def, &report, &error), EX_OK);
    def.output = output;
    def.untangle = true;
    assert_int_equal(ex_drive_apply(&def, &loose, &error), EX_OK);
    int before = 0, after = 0, truths = 0;
    for (int f = 0; f < FRAMES; f++) {
        float form[3 * DRIVE_DRIVEN_COUNT];
        int count = 0;
        read_frame(bare, f, form);
        assert_int_equal(ex_mesh_count_self_intersections(mesh, form, &count, &error), EX_OK);
        assert_int_equal(report->frames[f].crossings, count);
        assert_int_equal(loose->frames[f].crossings_before, count);
        before += count;
        read_frame(output, f, form);
        assert_int_equal(ex_mesh_count_self_intersections(mesh, form, &count, &error), EX_OK);
        assert_int_equal(loose->frames[f].crossings, count);
        assert_true(count <= loose->frames[f].crossings_before);
        after += count;
        read_frame(truth, f, form);
        assert_int_equal(ex_mesh_count_self_intersections(mesh, form, &count, &error), EX_OK);
        assert_int_equal(report->frames[f].truth_crossings, count);
        truths += count;
        assert_int_equal(report->frames[f].covered, -1);
        assert_true(loose->frames[f].deepest_after > -1e-4);
    }
    assert_true(before > 50 && after * 10 <= before);
    assert_int_equal(truths, 0);
    ex_drive_report_free(report);
    ex_drive_report_free(loose);
    ex_mesh_destroy(mesh);
    ex_rig_destroy(rig);
}

/* ---- memory ---- */

static ex_result attempt(void *context) {
    ex_error error;
    return ex_drive_apply(context, NULL, &error);
}

static void test_memory_runs_out(void **state) {
    (void)state;
    ex_rig *rig = make_rig(false);
    ex_mesh *mesh = drive_driven_mesh();
    char driver[300], inner[300], output[300];
    drive_write_motion("b.pc2", NULL, 1, FRAMES);
    snprintf(driver, sizeof driver, "%s", scratch_path("b.pc2"));
    snprintf(inner, sizeof inner, "%s", scratch_path("inner.pc2"));
    snprintf(output, sizeof output, "%s", scratch_path("o.pc2"));
    write_inner(inner, 0.003, FRAMES);
    const ex_apply_over over = {inner, mesh};
    ex_apply_def def = {.rig = rig,
                        .driver = driver,
                        .output = output,
                        .untangle = true,
                        .overs = &over,
                        .over_count = 1,
                        .database = NAN};
    assert_true(fail_alloc_sweep(attempt, &def) > 30);
    ex_mesh_destroy(mesh);
    ex_rig_destroy(rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_over),
        cmocka_unit_test(test_deep),
        cmocka_unit_test(test_scaled_part),
        cmocka_unit_test(test_untangle),
        cmocka_unit_test(test_memory_runs_out),
    };
    return cmocka_run_group_tests(tests, scratch_set_up, scratch_tear_down);
}
