/*
 * Learning a driven rig from a bar that bends and its sleeve: choice of keys, their errors, databases, and every
 * reference that cannot be learned from.
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

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FRAMES = 24 };

/* A definition and the paths that it points to. */
typedef struct lesson {
    ex_learn_def def;
    ex_drive_reference references[2];
    char paths[4][300];
} lesson;

static const char *keep(lesson *l, int which, const char *name) {
    snprintf(l->paths[which], sizeof l->paths[which], "%s", scratch_path(name));
    return l->paths[which];
}

static void open_lesson(lesson *l, int keys) {
    memset(l, 0, sizeof *l);
    l->def = (ex_learn_def){.driver = drive_driver_mesh(),
                            .driven = drive_driven_mesh(),
                            .driver_name = "body",
                            .reference_count = 1,
                            .references = l->references,
                            .key_count = keys,
                            .options = ex_drive_options_default()};
    l->def.options.frames = 1;
    l->references[0] = (ex_drive_reference){.driver = keep(l, 0, "b.pc2"), .driven = keep(l, 1, "s.pc2")};
}

static void close_lesson(lesson *l) {
    ex_mesh_destroy((ex_mesh *)(uintptr_t)l->def.driver);
    ex_mesh_destroy((ex_mesh *)(uintptr_t)l->def.driven);
}

static ex_learned *learn(const lesson *l, ex_rig **rig) {
    ex_error error = {.result = EX_OK};
    ex_learned *learned = NULL;
    if (ex_drive_learn(&l->def, rig, &learned, &error) != EX_OK)
        fail_msg("%s", error.text);
    return learned;
}

/* ---- pairs ---- */

static void write_numbered(const char *pattern, const int *numbers, int count) {
    static const char text[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    for (int i = 0; i < count; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s_%04d.obj", pattern, numbers[i]);
        scratch_write(name, text, strlen(text));
    }
}

/* Checks the caches of two names; returns the result. */
static ex_result check_pair(const char *one, const char *other, ex_error *error) {
    ex_cache_reader *readers[2] = {NULL, NULL};
    assert_int_equal(ex_cache_open(scratch_path(one), &readers[0], error), EX_OK);
    assert_int_equal(ex_cache_open(scratch_path(other), &readers[1], error), EX_OK);
    const ex_result result = ex_drive_check_pair(readers[0], one, readers[1], other, error);
    ex_cache_close(readers[0]);
    ex_cache_close(readers[1]);
    return result;
}

static void test_numbers_of_a_pair(void **state) {
    (void)state;
    ex_error error = {.result = EX_OK};
    write_numbered("a", (const int[]){1, 2, 5}, 3);
    write_numbered("same", (const int[]){1, 2, 5}, 3);
    write_numbered("gap", (const int[]){1, 3, 5}, 3);
    write_numbered("more", (const int[]){1, 2, 5, 7}, 4);
    write_numbered("later", (const int[]){1001, 1002, 1005}, 3);
    drive_write_motion("none.pc2", NULL, 0, 3);
    assert_int_equal(check_pair("a.obj", "same.obj", &error), EX_OK);
    assert_int_equal(check_pair("a.obj", "none.pc2", &error), EX_OK);
    assert_int_equal(check_pair("a.obj", "gap.obj", &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "a_0002.obj' has no partner, because 'gap.obj' has no frame 2");
    assert_int_equal(check_pair("gap.obj", "a.obj", &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "a_0002.obj' has no partner, because 'gap.obj' has no frame 2");
    assert_int_equal(check_pair("a.obj", "more.obj", &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "more_0007.obj' has no partner, because 'a.obj' has no frame 7");
    assert_int_equal(check_pair("later.obj", "a.obj", &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "a_0001.obj' has no partner, because 'later.obj' has no frame 1");
}

/* ---- units and places ---- */

/* Moves every form of a cache, and then multiplies it. */
static void rewrite(const char *name, const char *as, const double by[3], double scale) {
    ex_error error = {.result = EX_OK};
    ex_cache_reader *reader = NULL;
    ex_cache_writer *writer = NULL;
    double times[FRAMES];
    assert_int_equal(ex_cache_open(scratch_path(name), &reader, &error), EX_OK);
    const ex_cache_info info = ex_cache_get_info(reader);
    float *form = malloc((size_t)info.vertex_count * 3 * sizeof *form);
    for (int f = 0; f < FRAMES; f++)
        times[f] = f / 24.0;
    if (ex_cache_create(scratch_path(as), info.vertex_count, FRAMES, times, NULL, &writer, &error) != EX_OK)
        fail_msg("%s", error.text);
    for (int f = 0; f < FRAMES; f++) {
        assert_int_equal(ex_cache_read(reader, f, form, &error), EX_OK);
        for (int i = 0; i < 3 * info.vertex_count; i++)
            form[i] = (float)(scale * ((double)form[i] + by[i % 3]));
        assert_int_equal(ex_cache_write(writer, form, &error), EX_OK);
    }
    assert_int_equal(ex_cache_finish(writer, true, &error), EX_OK);
    ex_cache_close(reader);
    free(form);
}

/* Writes a straight bar that twists, and a skirt around it: the sleeve, up to twelve times as wide. */
static void write_skirt(const char *driver, const char *driven) {
    ex_error error = {.result = EX_OK};
    ex_cache_writer *writers[2] = {NULL, NULL};
    static const double times[3] = {0, 1, 2};
    assert_int_equal(ex_cache_create(scratch_path(driver), DRIVE_DRIVER_COUNT, 3, times, NULL, &writers[0], &error),
                     EX_OK);
    assert_int_equal(ex_cache_create(scratch_path(driven), DRIVE_DRIVEN_COUNT, 3, times, NULL, &writers[1], &error),
                     EX_OK);
    for (int f = 0; f < 3; f++) {
        float forms[2][3 * DRIVE_DRIVEN_COUNT];
        const drive_pose pose = {.twist = 30 * f, .wrinkle = 1};
        drive_form(&pose, forms[0], forms[1]);
        for (int v = 0; v < DRIVE_DRIVEN_COUNT; v++) {
            const float wide = 1 + 16 * fmaxf(0, forms[1][3 * v] - 0.15F);
            forms[1][3 * v + 1] *= wide;
            forms[1][3 * v + 2] *= wide;
        }
        for (int i = 0; i < 2; i++)
            assert_int_equal(ex_cache_write(writers[i], forms[i], &error), EX_OK);
    }
    for (int i = 0; i < 2; i++)
        assert_int_equal(ex_cache_finish(writers[i], true, &error), EX_OK);
}

static void change_mesh(const ex_mesh *mesh, const double by[3], double scale) {
    for (int i = 0; i < 3 * mesh->vertex_count; i++)
        mesh->positions[i] = scale * (mesh->positions[i] + by[i % 3]);
}

static void check_kind(const lesson *l, const char *kind, const char *word) {
    ex_error error = {.result = EX_OK};
    ex_rig *rig = NULL;
    assert_int_equal(ex_drive_learn(&l->def, &rig, NULL, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, word);
    assert_non_null(error.kind);
    assert_string_equal(error.kind, kind);
    assert_null(rig);
}

/* Powers of ten are found wherever the origin is: at an end of the bar, inside it, on its skin, beside it, far away.
 * With the right scale, the same frames are chosen as before. */
static void test_units(void **state) {
    (void)state;
    static const double origins[][3] = {{0, 0, 0}, {-0.5, 0, 0}, {-0.5, -0.1, 0}, {-0.4, 0.3, 0.2}, {20, 3, -10}};
    drive_write_motion("b0.pc2", "s0.pc2", 0, FRAMES);
    for (size_t o = 0; o < sizeof origins / sizeof origins[0]; o++) {
        int frames[4] = {0};
        for (int i = 0; i < 7; i++) {
            const int power = (const int[]){0, -3, -2, -1, 1, 2, 3}[i];
            lesson l;
            ex_rig *rig;
            char word[100];
            rewrite("b0.pc2", "b.pc2", origins[o], 1);
            rewrite("s0.pc2", "s.pc2", origins[o], pow(10, power));
            open_lesson(&l, 4);
            change_mesh(l.def.driver, origins[o], 1);
            change_mesh(l.def.driven, origins[o], pow(10, power));
            if (power != 0) {
                snprintf(word, sizeof word, "about %.0f times too %s for", pow(10, abs(power)),
                         power > 0 ? "large" : "small");
                check_kind(&l, "driven_unit", word);
                snprintf(word, sizeof word, "multiply its positions by %g,", pow(10, -power));
                check_kind(&l, "driven_unit", word);
            }
            change_mesh(l.def.driven, (const double[]){0, 0, 0}, pow(10, -power));
            l.def.driven_scale = pow(10, -power);
            ex_learned *learned = learn(&l, &rig);
            for (int k = 0; k < 4; k++) {
                assert_true(power == 0 || learned->frames[k] == frames[k]);
                frames[k] = learned->frames[k];
            }
            assert_true(learned->error < 0.02);
            ex_learned_free(learned);
            ex_rig_destroy(rig);
            close_lesson(&l);
        }
    }
}

/* A ring of a hundredth of the driver's size is in its place; a sleeve beside the bar is not, unless it may be. */
static void test_places(void **state) {
    (void)state;
    static const double none[3] = {0, 0, 0}, aside[3] = {0, 0.8, 0}, near[3] = {0, 0.1, 0};
    lesson l;
    ex_rig *rig = NULL;
    ex_error error = {.result = EX_OK};
    drive_pose poses[FRAMES];
    for (int f = 0; f < FRAMES; f++) {
        poses[f] = drive_motion(0, f, FRAMES);
        poses[f].turn = poses[f].along = 0;
    }
    drive_write("b0.pc2", "s0.pc2", poses, FRAMES);
    rewrite("b0.pc2", "b.pc2", none, 1);
    rewrite("s0.pc2", "s.pc2", aside, 1);
    open_lesson(&l, 3);
    check_kind(&l, "driven_far", "is nowhere near");
    l.def.any_fit = true;
    assert_int_equal(ex_drive_learn(&l.def, &rig, NULL, &error), EX_OK);
    ex_rig_destroy(rig);
    l.def.any_fit = false;
    rewrite("s0.pc2", "s.pc2", near, 1);
    assert_int_equal(ex_drive_learn(&l.def, &rig, NULL, &error), EX_OK);
    ex_rig_destroy(rig);
    close_lesson(&l);
    /* the first end of the bar stays at the origin: a small sleeve lies on it, elsewhere than it should be */
    rewrite("s0.pc2", "s.pc2", (const double[]){-0.5, 0, 0}, 0.01);
    open_lesson(&l, 3);
    change_mesh(l.def.driven, (const double[]){-0.5, 0, 0}, 0.01);
    check_kind(&l, "driven_far", "is about 100 times too small, and not where");
    l.def.any_fit = true;
    assert_int_equal(ex_drive_learn(&l.def, &rig, NULL, &error), EX_OK);
    ex_rig_destroy(rig);
    close_lesson(&l);
    /* a sleeve of the right size that touches the bar's end from outside */
    rewrite("s0.pc2", "s.pc2", (const double[]){0.45, 0, 0}, 1);
    open_lesson(&l, 3);
    check_kind(&l, "driven_far", "is not where");
    close_lesson(&l);
    /* loose clothes are far away on all sides, and no translation helps */
    write_skirt("b.pc2", "s.pc2");
    open_lesson(&l, 2);
    if (ex_drive_learn(&l.def, &rig, NULL, &error) != EX_OK)
        fail_msg("%s", error.text);
    ex_rig_destroy(rig);
    close_lesson(&l);
    /* a mesh in another unit than its cache */
    rewrite("b0.pc2", "b.pc2", none, 1);
    rewrite("s0.pc2", "s.pc2", none, 1);
    open_lesson(&l, 3);
    change_mesh(l.def.driven, none, 100);
    check_kind(&l, "mesh_unit", "has the driven mesh 0.01 times as large as its mesh file");
    change_mesh(l.def.driven, none, 0.01);
    change_mesh(l.def.driver, none, 0.01);
    check_kind(&l, "mesh_unit", "has the driver mesh 1e+02 times as large as its mesh file");
    l.def.driven_scale = -1;
    assert_int_equal(ex_drive_learn(&l.def, &rig, NULL, &error), EX_ERROR_ARGUMENT);
    assert_sentence(&error, EX_ERROR_ARGUMENT, "the scale of driven forms is -1");
    close_lesson(&l);
}

/* ---- choice of frames ---- */

/* Areas around vertices of the straight bar: those in its middle have two strips, those at its ends one and a sector of
 * the cap, the ends' centres a third of a cap; all strips have the same area, and so have all sectors. */
static double area_of(int vertex) {
    const double half = 3.14159265358979323846 / DRIVE_SIDES;
    const double strip = 2 * 0.1 * sin(half) * 0.1, sector = 0.1 * 0.1 * sin(half) * cos(half);
    const int ring = vertex / DRIVE_SIDES;
    if (vertex >= DRIVE_RINGS * DRIVE_SIDES)
        return DRIVE_SIDES * sector / 3;
    return ring > 0 && ring < DRIVE_RINGS - 1 ? strip : strip / 2 + 2 * sector / 3;
}

static double squares(const float *a, const float *b) {
    double sum = 0;
    for (int i = 0; i < 3 * DRIVE_DRIVER_COUNT; i++)
        sum += area_of(i / 3) * ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
    return sum;
}

/* Farthest first, by brute force, without a moving frame. */
static void test_farthest_first(void **state) {
    (void)state;
    enum { KEYS = 5 };
    static float forms[FRAMES][3 * DRIVE_DRIVER_COUNT], rest[3 * DRIVE_DRIVER_COUNT];
    drive_pose poses[FRAMES];
    int expected[KEYS] = {0};
    for (int f = 0; f < FRAMES; f++) {
        poses[f] = drive_motion(0, f + 5, FRAMES);
        drive_form(&poses[f], forms[f], NULL);
    }
    drive_form(&(drive_pose){.wrinkle = 1}, rest, NULL);
    drive_write("b.pc2", "s.pc2", poses, FRAMES);
    for (int f = 1; f < FRAMES; f++)
        expected[0] = squares(forms[f], rest) < squares(forms[expected[0]], rest) ? f : expected[0];
    for (int k = 1; k < KEYS; k++) {
        double most = -1;
        for (int f = 0; f < FRAMES; f++) {
            double least = INFINITY;
            for (int j = 0; j < k; j++)
                least = fmin(least, squares(forms[f], forms[expected[j]]));
            if (least > most) {
                most = least;
                expected[k] = f;
            }
        }
    }
    lesson l;
    ex_rig *rig;
    open_lesson(&l, KEYS);
    l.def.options.frame = EX_WHOLE_FRAME_NONE;
    ex_learned *learned = learn(&l, &rig);
    assert_int_equal(learned->key_count, KEYS);
    for (int k = 0; k < KEYS; k++)
        assert_int_equal(learned->frames[k], expected[k]);
    assert_int_equal(learned->frame_count, 1);
    char name[24];
    snprintf(name, sizeof name, "frame_%03d", expected[1] + 1);
    assert_string_equal(ex_rig_example_name(rig, 0, 1), name);
    ex_learned_free(learned);
    ex_rig_destroy(rig);
    close_lesson(&l);
}

/* The driver's place and heading do not matter. */
static void test_global_motion_changes_no_choice(void **state) {
    (void)state;
    drive_pose poses[FRAMES];
    int frames[2][6];
    for (int still = 0; still < 2; still++) {
        lesson l;
        ex_rig *rig;
        for (int f = 0; f < FRAMES; f++) {
            poses[f] = drive_motion(1, f, FRAMES);
            if (still)
                poses[f].turn = poses[f].along = 0;
        }
        drive_write("b.pc2", "s.pc2", poses, FRAMES);
        open_lesson(&l, 6);
        ex_learned *learned = learn(&l, &rig);
        assert_int_equal(learned->key_count, 6);
        memcpy(frames[still], learned->frames, sizeof frames[still]);
        ex_learned_free(learned);
        ex_rig_destroy(rig);
        close_lesson(&l);
    }
    assert_memory_equal(frames[0], frames[1], sizeof frames[0]);
}

/* ---- errors ---- */

static void test_more_keys_explain_more(void **state) {
    (void)state;
    double before = INFINITY;
    drive_write_motion("b.pc2", "s.pc2", 0, FRAMES);
    for (int keys = 2; keys <= 8; keys *= 2) {
        lesson l;
        ex_rig *rig;
        open_lesson(&l, keys);
        ex_learned *learned = learn(&l, &rig);
        assert_true(learned->error < before);
        assert_true(learned->error < 0.7 * learned->nearest);
        before = learned->error;
        ex_learned_free(learned);
        ex_rig_destroy(rig);
        close_lesson(&l);
    }
    assert_true(before < 0.02);
}

/* The errors after each key mostly fall, and stop at the requested one; the last is that of the rig. */
static void test_until_and_worst(void **state) {
    (void)state;
    lesson l;
    ex_rig *rig;
    drive_write_motion("b.pc2", "s.pc2", 0, FRAMES);
    open_lesson(&l, 20);
    l.def.choice = EX_KEY_CHOICE_WORST;
    l.def.until = 0.006;
    l.def.options.residual = EX_RESIDUAL_NONE;
    ex_learned *learned = learn(&l, &rig);
    assert_in_range(learned->key_count, 3, 16);
    for (int k = 0; k + 1 < learned->key_count; k++)
        assert_true(learned->mean_error[k] >= 0.006);
    assert_true(learned->mean_error[learned->key_count - 1] < 0.006);
    assert_true(learned->mean_error[learned->key_count - 1] < 0.5 * learned->mean_error[0]);
    assert_near(learned->error, learned->mean_error[learned->key_count - 1], 1e-12);
    ex_learned_free(learned);
    ex_rig_destroy(rig);
    l.def.choice = EX_KEY_CHOICE_FARTHEST;
    l.def.until = 0;
    l.def.key_count = 3;
    learned = learn(&l, &rig);
    assert_int_equal(learned->key_count, 3);
    assert_true(learned->mean_error[0] < 0); /* not measured */
    ex_learned_free(learned);
    ex_rig_destroy(rig);
    close_lesson(&l);
}

static void test_given_frames_come_first(void **state) {
    (void)state;
    lesson l;
    ex_rig *rig;
    const int given[] = {7, 3};
    drive_write_motion("b.pc2", "s.pc2", 0, FRAMES);
    open_lesson(&l, 4);
    l.def.given = given;
    l.def.given_count = 2;
    ex_learned *learned = learn(&l, &rig);
    assert_int_equal(learned->key_count, 4);
    assert_int_equal(learned->frames[0], 7);
    assert_int_equal(learned->frames[1], 3);
    ex_learned_free(learned);
    ex_rig_destroy(rig);
    close_lesson(&l);
}

static void test_fewer_frames_than_keys(void **state) {
    (void)state;
    lesson l;
    ex_rig *rig;
    drive_pose poses[6];
    for (int f = 0; f < 6; f++)
        poses[f] = drive_motion(0, 4 * (f % 3), 12);
    drive_write("b.pc2", "s.pc2", poses, 6);
    open_lesson(&l, 12);
    ex_learned *learned = learn(&l, &rig);
    assert_int_equal(learned->key_count, 3); /* the others are alike */
    assert_true(learned->nearest < 1e-5);    /* for every frame is a key, or like one */
    ex_learned_free(learned);
    ex_rig_destroy(rig);
    drive_write("b.pc2", "s.pc2", poses, 1);
    learned = learn(&l, &rig);
    assert_int_equal(learned->key_count, 1);
    ex_learned_free(learned);
    ex_rig_destroy(rig);
    close_lesson(&l);
}

/* Options that are not given are chosen, and the result is no worse than the simplest. */
static void test_frames_and_residual_are_chosen(void **state) {
    (void)state;
    double errors[2];
    drive_write_motion("b.pc2", "s.pc2", 0, FRAMES);
    for (int open = 0; open < 2; open++) {
        lesson l;
        ex_rig *rig;
        open_lesson(&l, 5);
        if (open)
            l.def.options.frames = -1;
        ex_learned *learned = learn(&l, &rig);
        assert_true(learned->residual < EX_RESIDUAL_COUNT);
        assert_true(learned->frame_count >= 1);
        errors[open] = learned->error;
        ex_learned_free(learned);
        ex_rig_destroy(rig);
        close_lesson(&l);
    }
    assert_true(errors[1] <= 1.001 * errors[0]);
}

static void test_databases(void **state) {
    (void)state;
    lesson l;
    ex_rig *rig;
    drive_pose poses[FRAMES];
    drive_write_motion("b.pc2", "s.pc2", 0, FRAMES);
    for (int f = 0; f < FRAMES; f++) {
        poses[f] = drive_motion(0, f, FRAMES);
        poses[f].wrinkle = 3;
    }
    drive_write("c.pc2", "t.pc2", poses, FRAMES);
    open_lesson(&l, 3);
    l.def.database_axis = "looseness";
    l.def.reference_count = 2;
    l.references[0].database = 1;
    l.references[1] =
        (ex_drive_reference){.driver = keep(&l, 2, "c.pc2"), .driven = keep(&l, 3, "t.pc2"), .database = 3};
    ex_learned *learned = learn(&l, &rig);
    assert_int_equal(learned->key_count, 6);
    for (int k = 0; k < 3; k++) {
        assert_true(learned->frames[k] < FRAMES);
        assert_int_equal(learned->frames[3 + k], learned->frames[k] + FRAMES);
    }
    assert_true(ex_rig_input_find(rig, "looseness") >= 0);
    ex_learned_free(learned);
    ex_rig_destroy(rig);
    close_lesson(&l);
}

/* ---- refusals ---- */

static void refuse(lesson *l, ex_result result, const char *word) {
    ex_error error = {.result = EX_OK};
    ex_rig *rig = NULL;
    ex_learned *learned = NULL;
    assert_int_equal(ex_drive_learn(&l->def, &rig, &learned, &error), result);
    assert_sentence(&error, result, word);
    assert_null(rig);
    assert_null(learned);
}

/* Damages a number of a PC2 file. */
static void spoil(const char *name, int frame, int vertex, int vertices) {
    size_t size;
    char *bytes = scratch_read(name, &size);
    const float nan = NAN;
    memcpy(bytes + 32 + 12 * ((size_t)frame * (size_t)vertices + (size_t)vertex), &nan, sizeof nan);
    scratch_write(name, bytes, size);
    free(bytes);
}

static void test_refusals(void **state) {
    (void)state;
    lesson l;
    drive_pose poses[FRAMES];
    drive_write_motion("b.pc2", "s.pc2", 0, FRAMES);
    open_lesson(&l, 4);
    const lesson good = l;
    l.references[0].driven = keep(&l, 3, "missing.pc2");
    refuse(&l, EX_ERROR_FILE, "missing.pc2");

    l = good;
    l.def.references = l.references;
    l.def.driver = l.def.driven;
    ((ex_mesh *)(uintptr_t)l.def.driven)->vertex_count--;
    refuse(&l, EX_ERROR_DATA, "90 vertices, but the driver mesh has 107");
    l.def.driver = good.def.driver;
    refuse(&l, EX_ERROR_DATA, "108 vertices, but the driven mesh has 107");
    ((ex_mesh *)(uintptr_t)l.def.driven)->vertex_count++;

    drive_write_motion("b.pc2", NULL, 0, FRAMES - 1);
    refuse(&l, EX_ERROR_DATA, "23 frames");
    drive_write_motion("b.pc2", NULL, 0, FRAMES);

    spoil("s.pc2", 17, 5, DRIVE_DRIVEN_COUNT);
    refuse(&l, EX_ERROR_DATA, "s.pc2: in frame 18, vertex 5");
    drive_write_motion(NULL, "s.pc2", 0, FRAMES);
    spoil("b.pc2", 3, 80, DRIVE_DRIVER_COUNT);
    refuse(&l, EX_ERROR_DATA, "b.pc2: in frame 4, vertex 80");

    size_t size;
    drive_write_motion("b.pc2", NULL, 0, FRAMES);
    char *bytes = scratch_read("b.pc2", &size);
    scratch_write("b.pc2", bytes, size - 700);
    free(bytes);
    refuse(&l, EX_ERROR_DATA, "23 of 24 frames");

    for (int f = 0; f < FRAMES; f++) {
        poses[f] = drive_motion(0, 7, FRAMES);
        poses[f].turn = 9 * f; /* moved, and still one form */
    }
    drive_write("b.pc2", "s.pc2", poses, FRAMES);
    refuse(&l, EX_ERROR_DATA, "no keys to choose");

    drive_write_motion("b.pc2", "s.pc2", 0, FRAMES);
    l.def.given = (const int[]){3, 24};
    l.def.given_count = 2;
    refuse(&l, EX_ERROR_ARGUMENT, "there is no frame 25: the references have frames 1 to 24");
    l.def.given = (const int[]){3, 3};
    refuse(&l, EX_ERROR_DATA, "frame 4 is given twice");
    l.def.given_count = 0;

    l.def.key_count = 0;
    refuse(&l, EX_ERROR_ARGUMENT, "keys can be chosen");
    l.def.key_count = 4;
    l.def.until = -1;
    refuse(&l, EX_ERROR_ARGUMENT, "the error to reach");
    l.def.until = 0;
    l.def.reference_count = 2;
    l.references[1] = l.references[0];
    l.references[1].database = 1;
    refuse(&l, EX_ERROR_ARGUMENT, "several databases");
    l.def.reference_count = 1;
    l.def.options.frame_group = "uper";
    refuse(&l, EX_ERROR_DATA, "did you mean 'upper'");
    close_lesson(&l);
}

/* ---- progress, memory ---- */

typedef struct watch {
    double last;
    int calls, most;
    bool backwards;
} watch;

/* Says no once, at one of the calls that report a choice of keys. */
typedef struct veto {
    int calls, at;
} veto;

static bool on_choice(void *user, const char *doing, double part) {
    veto *v = user;
    (void)part;
    return strcmp(doing, "choosing keys") != 0 || v->calls++ != v->at;
}

static bool on_progress(void *user, const char *doing, double part) {
    watch *w = user;
    assert_non_null(doing);
    w->backwards |= part < w->last - 1e-9 || part > 1 + 1e-9;
    w->last = part;
    return ++w->calls < w->most;
}

static void test_progress_and_stopping(void **state) {
    (void)state;
    lesson l;
    watch w = {.most = 1 << 30};
    ex_rig *rig;
    drive_write_motion("b.pc2", "s.pc2", 0, FRAMES);
    open_lesson(&l, 3);
    l.def.options.frames = -1;
    l.def.choice = EX_KEY_CHOICE_WORST;
    l.def.progress = &(ex_progress){on_progress, &w};
    ex_learned_free(learn(&l, &rig));
    ex_rig_destroy(rig);
    assert_false(w.backwards);
    assert_near(w.last, 1, 1e-9);
    const int total = w.calls;
    for (int most = 1; most < total; most += 23) {
        w = (watch){.most = most};
        refuse(&l, EX_ERROR_FILE, "stopped");
    }
    for (int at = 0; at < 2; at++) {
        veto v = {.at = at};
        l.def.progress = &(ex_progress){on_choice, &v};
        refuse(&l, EX_ERROR_FILE, "stopped");
    }
    close_lesson(&l);
}

static void ignore_seconds(void *user, double seconds) {
    (void)user;
    (void)seconds;
}

/* The estimate takes no progress back, and can be stopped: the first calls after the frames are its own. */
static void test_progress_of_the_estimate(void **state) {
    (void)state;
    const ex_learn_estimate estimate = {ignore_seconds, NULL};
    lesson l;
    watch w = {.most = 1 << 30};
    ex_rig *rig;
    drive_write_motion("b.pc2", "s.pc2", 0, FRAMES);
    open_lesson(&l, 3);
    l.def.estimate = &estimate;
    l.def.progress = &(ex_progress){on_progress, &w};
    ex_learned_free(learn(&l, &rig));
    ex_rig_destroy(rig);
    assert_false(w.backwards);
    assert_near(w.last, 1, 1e-9);
    for (int most = FRAMES; most < FRAMES + 3; most++) {
        w = (watch){.most = most};
        refuse(&l, EX_ERROR_FILE, "stopped");
        assert_int_equal(w.calls, most);
    }
    close_lesson(&l);
}

static ex_result attempt(void *context) {
    ex_rig *rig = NULL;
    ex_learned *learned = NULL;
    ex_error error;
    const ex_result result = ex_drive_learn(&((const lesson *)context)->def, &rig, &learned, &error);
    ex_learned_free(learned);
    ex_rig_destroy(rig);
    return result;
}

typedef struct told {
    int count;
    double seconds;
} told;

static void note_seconds(void *user, double seconds) {
    told *t = user;
    t->count++;
    t->seconds = seconds;
}

/* The estimate grows with the work, and is right within a factor of 20 on a machine with other work. */
static void test_time_is_estimated(void **state) {
    (void)state;
    told few = {0}, many = {0};
    const ex_learn_estimate estimates[2] = {{note_seconds, &few}, {note_seconds, &many}};
    lesson l;
    ex_rig *rig;
    drive_write_motion("b.pc2", "s.pc2", 0, FRAMES);
    open_lesson(&l, 2);
    l.def.estimate = &estimates[0];
    ex_learned_free(learn(&l, &rig));
    ex_rig_destroy(rig);
    l.def.key_count = 16;
    l.def.options.frames = -1;
    l.def.choice = EX_KEY_CHOICE_WORST;
    l.def.estimate = &estimates[1];
    struct timespec start, end;
    timespec_get(&start, TIME_UTC);
    ex_learned_free(learn(&l, &rig));
    timespec_get(&end, TIME_UTC);
    ex_rig_destroy(rig);
    const double seconds = (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
    assert_int_equal(few.count, 1);
    assert_int_equal(many.count, 1);
    assert_true(few.seconds > 0 && many.seconds > 3 * few.seconds);
    if (!(many.seconds > seconds / 20 && many.seconds < 20 * seconds))
        fail_msg("%g s were estimated, but it took %g s", many.seconds, seconds);
    close_lesson(&l);
}

static void test_memory_runs_out(void **state) {
    (void)state;
    lesson l;
    drive_write_motion("b.pc2", "s.pc2", 0, 4);
    open_lesson(&l, 2);
    l.def.choice = EX_KEY_CHOICE_WORST;
    assert_true(fail_alloc_sweep(attempt, &l) > 40);
    close_lesson(&l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_of_a_pair),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_farthest_first),
        cmocka_unit_test(test_global_motion_changes_no_choice),
        cmocka_unit_test(test_more_keys_explain_more),
        cmocka_unit_test(test_until_and_worst),
        cmocka_unit_test(test_given_frames_come_first),
        cmocka_unit_test(test_fewer_frames_than_keys),
        cmocka_unit_test(test_frames_and_residual_are_chosen),
        cmocka_unit_test(test_databases),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_progress_and_stopping),
        cmocka_unit_test(test_progress_of_the_estimate),
        cmocka_unit_test(test_time_is_estimated),
        cmocka_unit_test(test_memory_runs_out),
    };
    return cmocka_run_group_tests(tests, scratch_set_up, scratch_tear_down);
}
