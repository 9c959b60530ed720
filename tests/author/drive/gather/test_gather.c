/*
 * Learning in two stages: a rig learned from gathered files has the bytes of one learned from the caches, for keys and
 * motion, for one reference and three, short and long ones, in whatever order they were gathered and with whatever
 * tasks. Frames that are kept, and what cannot be done from a file.
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
#include "support/swings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONG = 560, NAME_SIZE = 300 };

static void run_backwards(void *user, int count, int grain, ex_task_body body, void *context) {
    (void)user;
    (void)grain;
    for (int i = count - 1; i >= 0; i--)
        body(context, i, i + 1);
}
static const ex_tasks backwards = {run_backwards, NULL};

/* ---- learning ---- */

typedef struct packed {
    void *bytes;
    size_t size;
    ex_learned *learned;
} packed;

static packed learn(const ex_learn_def *def) {
    ex_error error = {.result = EX_OK};
    ex_rig *rig = NULL;
    packed made = {0};
    if (ex_drive_learn(def, &rig, &made.learned, &error) != EX_OK)
        fail_msg("%s", error.text);
    made.size = ex_rig_pack_size(rig);
    made.bytes = malloc(made.size);
    assert_int_equal(ex_rig_pack(rig, made.bytes, made.size, &error), EX_OK);
    ex_rig_destroy(rig);
    return made;
}

static void free_packed(packed *made) {
    free(made->bytes);
    ex_learned_free(made->learned);
}

static ex_gather_def gather_def(const ex_learn_def *def, int reference) {
    return (ex_gather_def){.driver = def->driver,
                           .driven = def->driven,
                           .reference = def->references[reference],
                           .database_axis = def->database_axis,
                           .method = def->method,
                           .key_count = def->key_count,
                           .form_count = def->form_count,
                           .driver_scale = def->driver_scale,
                           .driven_scale = def->driven_scale,
                           .any_fit = def->any_fit,
                           .options = def->options,
                           .tasks = def->tasks};
}

typedef struct files {
    char paths[4][NAME_SIZE];
    const char *list[4];
    ex_learn_def def;
} files;

static void name_files(files *f, const ex_learn_def *def) {
    for (int i = 0; i < def->reference_count; i++) {
        char name[32];
        snprintf(name, sizeof name, "%d.gathered", i);
        snprintf(f->paths[i], NAME_SIZE, "%s", scratch_path(name));
        f->list[i] = f->paths[i];
    }
    f->def = *def;
    f->def.driver = f->def.driven = NULL;
    f->def.references = NULL;
    f->def.gathered_count = def->reference_count;
    f->def.reference_count = 0;
    f->def.gathered = f->list;
}

/* Gathers the references of a definition, the last one first, and makes the definition that learns from the files. */
static void gather(files *f, const ex_learn_def *def) {
    name_files(f, def);
    for (int i = def->reference_count - 1; i >= 0; i--) {
        ex_error error = {.result = EX_OK};
        const ex_gather_def one = gather_def(def, i);
        if (ex_drive_gather(&one, f->paths[i], &error) != EX_OK)
            fail_msg("%s", error.text);
    }
}

static void assert_same(const packed *a, const packed *b) {
    assert_int_equal(a->size, b->size);
    assert_memory_equal(a->bytes, b->bytes, a->size);
    assert_int_equal(a->learned->key_count, b->learned->key_count);
    for (int k = 0; k < a->learned->key_count; k++)
        assert_int_equal(a->learned->frames[k], b->learned->frames[k]);
    assert_true(a->learned->error == b->learned->error && a->learned->nearest == b->learned->nearest &&
                a->learned->left_out == b->learned->left_out && a->learned->form_error == b->learned->form_error);
}

/* From the caches, and from files with other tasks in both stages. */
static void check_stages(ex_learn_def *def) {
    packed made[2];
    files f;
    made[0] = learn(def);
    def->tasks = &backwards;
    gather(&f, def);
    made[1] = learn(&f.def);
    def->tasks = NULL;
    assert_same(&made[0], &made[1]);
    for (int i = 0; i < 2; i++)
        free_packed(&made[i]);
}

static void make_keys(swing_lesson *l) {
    l->def.method = EX_LEARN_KEYS;
    l->def.key_count = 7;
    l->def.options.frames = -1;
}

static const int shorts[3] = {60, 40, 50}, longs[3] = {LONG, 60, LONG - 20};

static void keys_have_the_same_bytes(void **context) {
    (void)context;
    for (int i = 0; i < 6; i++) {
        swing_lesson l;
        swing_open(&l, i % 2 ? 3 : 1, i / 2 ? longs : shorts);
        make_keys(&l);
        l.references[0].first = 3;
        l.references[0].count = (i / 2 ? longs : shorts)[0] - 10;
        l.references[0].rate = 30;
        if (i >= 2)
            l.def.options.frames = 4;
        if (i >= 4) {
            l.def.choice = EX_KEY_CHOICE_WORST;
            l.def.until = 1e-4;
            l.def.key_count = 5;
        }
        check_stages(&l.def);
        swing_close(&l);
    }
}

static void databases_have_the_same_bytes(void **context) {
    (void)context;
    swing_lesson l;
    swing_open(&l, 3, longs);
    make_keys(&l);
    l.def.options.frames = 4;
    l.def.database_axis = "stiffness";
    l.references[0].database = l.references[2].database = 1;
    l.references[1].database = 3;
    check_stages(&l.def);
    swing_close(&l);
}

static void motion_has_the_same_bytes(void **context) {
    (void)context;
    static const int few[3] = {40, 30, 35}, many[3] = {530, 40, 30};
    for (int i = 0; i < 4; i++) {
        swing_lesson l;
        swing_open(&l, i % 2 ? 3 : 1, i / 2 ? many : few);
        check_stages(&l.def);
        swing_close(&l);
    }
}

/* ---- content ---- */

static void many_frames_are_reduced(void **context) {
    (void)context;
    for (int motion = 0; motion < 2; motion++) {
        swing_lesson l;
        files f;
        ex_gathered *opened = NULL;
        ex_error error = {.result = EX_OK};
        swing_open(&l, 1, longs);
        if (!motion)
            make_keys(&l);
        gather(&f, &l.def);
        assert_int_equal(ex_gathered_open(f.paths[0], &opened, &error), EX_OK);
        const ex_gathered_info *info = ex_gathered_get_info(opened);
        assert_int_equal(info->method, motion ? EX_LEARN_MOTION : EX_LEARN_KEYS);
        assert_int_equal(info->count, LONG);
        assert_int_equal(info->cache_frame_count, LONG);
        assert_string_equal(info->driver_path, l.paths[0]);
        assert_true(info->driver_bytes == 32 + 12LL * LONG * DRIVE_DRIVER_COUNT);
        assert_int_equal(info->driver->vertex_count, DRIVE_DRIVER_COUNT);
        assert_int_equal(info->driven->vertex_count, DRIVE_DRIVEN_COUNT);
        assert_int_equal(info->driven->group_count, l.def.driven->group_count);
        assert_false(ex_mesh_compare(info->driven, l.def.driven, 0).groups);
        assert_int_equal(ex_mesh_compare(info->driven, l.def.driven, 0).moved_count, 0);
        if (motion) {
            assert_int_equal(info->kept_count, LONG);
            assert_int_equal(info->form_count, 2 * 8 + 16);
            assert_true(info->left > 0 && info->left < 1e-5);
        } else {
            assert_in_range(info->kept_count, 513, 512 + 64);
        }
        ex_gathered_close(opened);
        swing_close(&l);
    }
}

/* Keys chosen by the distances of all frames, as one who holds them all would choose: the same frames. */
static void farthest_frames_are_those_of_all_frames(void **context) {
    (void)context;
    enum { KEYS = 9, NUMBERS = 3 * DRIVE_DRIVER_COUNT };
    static float homes[LONG][NUMBERS];
    static double nearest[LONG];
    swing_lesson l;
    ex_driver *whole = NULL;
    ex_error error = {.result = EX_OK};
    swing_open(&l, 1, longs);
    make_keys(&l);
    l.def.key_count = KEYS;
    l.def.options.frame = EX_WHOLE_FRAME_FIT;
    packed made = learn(&l.def);
    ex_drive_key keys[LONG] = {0};
    ex_drive_def def = {.driver = l.def.driver, .driven = l.def.driven, .keys = keys, .options = l.def.options};
    assert_int_equal(ex_drive_whole(l.def.driver, &l.def.options, &whole, &error), EX_OK);
    ex_driver_destroy(whole);
    /* distances to the mesh and to each other, by ex_key_distances for pairs */
    for (int f = 0; f < LONG; f++) {
        const drive_pose pose = swing_at(0, f / 25.0);
        drive_form(&pose, homes[f], NULL);
    }
    ex_key_distance d[2];
    def.key_count = 1;
    int first = 0;
    for (int f = 0; f < LONG; f++) {
        keys[0].driver = homes[f];
        assert_int_equal(ex_key_distances(&def, d, &error), EX_OK);
        nearest[f] = d[0].from_mesh;
        first = nearest[f] < nearest[first] ? f : first;
    }
    assert_int_equal(made.learned->key_count, KEYS);
    assert_int_equal(made.learned->frames[0], first);
    def.key_count = 2;
    for (int k = 0; k < KEYS; k++) {
        int farthest = 0;
        for (int f = 0; f < LONG; f++) {
            keys[0].driver = homes[f];
            keys[1].driver = homes[made.learned->frames[k]];
            assert_int_equal(ex_key_distances(&def, d, &error), EX_OK);
            nearest[f] = k == 0 || d[0].distance < nearest[f] ? d[0].distance : nearest[f];
            farthest = nearest[f] > nearest[farthest] ? f : farthest;
        }
        if (k + 1 < KEYS)
            assert_true(nearest[made.learned->frames[k + 1]] > nearest[farthest] * (1 - 1e-5));
    }
    free_packed(&made);
    swing_close(&l);
}

/* Frames given by hand must be in the file. */
static void given_frames_are_kept(void **context) {
    (void)context;
    static const int wanted[2] = {215, LONG + 5};
    swing_lesson l;
    files f;
    ex_error error = {.result = EX_OK};
    ex_rig *rig = NULL;
    swing_open(&l, 2, longs);
    make_keys(&l);
    l.def.given_count = 2;
    l.def.given = wanted;
    packed direct = learn(&l.def);
    gather(&f, &l.def);
    assert_int_equal(ex_drive_learn(&f.def, &rig, NULL, &error), EX_ERROR_ARGUMENT);
    assert_sentence(&error, EX_ERROR_ARGUMENT, "does not hold frame 216: gather it again with --at 216");
    ex_gather_def one = gather_def(&l.def, 0);
    one.given_count = 1;
    one.given = wanted;
    assert_int_equal(ex_drive_gather(&one, f.paths[0], &error), EX_OK);
    packed made = learn(&f.def);
    assert_same(&direct, &made);
    assert_int_equal(made.learned->frames[0], wanted[0]);
    one.given = &(const int){LONG};
    assert_int_equal(ex_drive_gather(&one, f.paths[0], &error), EX_ERROR_ARGUMENT);
    assert_sentence(&error, EX_ERROR_ARGUMENT, "there is no frame 561 to keep");
    free_packed(&direct);
    free_packed(&made);
    swing_close(&l);
}

/* Principal forms of references, merged, are those of all frames: the error that they leave is the same, and the forms
 * that the rig makes. */
static void merged_forms_are_those_of_all_frames(void **context) {
    (void)context;
    static const int mixed[3] = {LONG, 90, 70}, few[3] = {500, 90, 70};
    swing_lesson l;
    swing_open(&l, 3, few);
    packed plain = learn(&l.def);
    swing_close(&l);
    /* the same frames of the first take, but cut from a longer one that is reduced */
    swing_open(&l, 3, mixed);
    l.references[0].count = 540;
    packed merged = learn(&l.def);
    assert_near(merged.learned->form_error, plain.learned->form_error, 0.02 * plain.learned->form_error);
    assert_near(merged.learned->left_out, plain.learned->left_out, 0.1 * plain.learned->left_out);
    assert_near(merged.learned->error, plain.learned->error, 0.1 * plain.learned->error);
    free_packed(&plain);
    free_packed(&merged);
    swing_close(&l);
}

/* ---- failures ---- */

static void refuse_def(const ex_learn_def *def, ex_result result, const char *word) {
    ex_error error = {.result = EX_OK};
    ex_rig *rig = NULL;
    assert_int_equal(ex_drive_learn(def, &rig, NULL, &error), result);
    assert_sentence(&error, result, word);
    assert_null(rig);
}

static void files_that_do_not_go_together_are_named(void **context) {
    (void)context;
    swing_lesson l;
    files f;
    ex_error error = {.result = EX_OK};
    swing_open(&l, 2, shorts);
    make_keys(&l);
    gather(&f, &l.def);
    f.list[1] = f.paths[0];
    refuse_def(&f.def, EX_ERROR_DATA, "is given twice");
    f.list[1] = f.paths[1];
    for (int i = 0; i < 7; i++) {
        static const char *const words[7] = {"1.gathered' was gathered with another driver mesh than",
                                             "1.gathered' was gathered with another driven mesh than",
                                             "another --frame than",
                                             "another choice of --weights than",
                                             "another --driven-scale than",
                                             "another name in --database than",
                                             "--method keys, and"};
        float weights[DRIVE_DRIVER_COUNT];
        ex_mesh *driver = ex_mesh_copy(l.def.driver), *driven = ex_mesh_copy(l.def.driven);
        ex_gather_def one = gather_def(&l.def, 1);
        driver->positions[0] += i == 0 ? 1e-3 : 0;
        driven->positions[0] += i == 1 ? 1e-3 : 0;
        one.driver = driver;
        one.driven = driven;
        one.any_fit = true;
        for (int v = 0; v < DRIVE_DRIVER_COUNT; v++)
            weights[v] = v < 40 ? 1 : 2;
        if (i == 2)
            one.options.frame_group = "lower";
        if (i == 3)
            one.options.driver_weights = weights;
        if (i == 4)
            one.driven_scale = 1.01;
        if (i == 5)
            one.database_axis = "other";
        if (i == 6) {
            one.method = EX_LEARN_MOTION;
            one.options.frames = 4;
        }
        assert_int_equal(ex_drive_gather(&one, f.paths[1], &error), EX_OK);
        refuse_def(&f.def, EX_ERROR_DATA, words[i]);
        ex_mesh_destroy(driver);
        ex_mesh_destroy(driven);
    }
    f.def.gathered_count = 1;
    f.def.method = EX_LEARN_MOTION;
    refuse_def(&f.def, EX_ERROR_ARGUMENT, "was gathered with --method keys, not motion");
    swing_close(&l);
}

static void more_forms_than_gathered_are_refused(void **context) {
    (void)context;
    swing_lesson l;
    files f;
    swing_open(&l, 1, longs);
    gather(&f, &l.def);
    f.def.form_count = 9;
    refuse_def(&f.def, EX_ERROR_ARGUMENT, "was gathered for at most 8 forms: gather it again with --forms 9");
    f.def.form_count = 5;
    packed made = learn(&f.def);
    assert_int_equal(made.learned->form_count, 5);
    free_packed(&made);
    swing_close(&l);
}

static ex_result attempt_gather(void *context) {
    ex_error error = {.result = EX_OK};
    return ex_drive_gather(context, scratch_path("m.gathered"), &error);
}

static ex_result attempt_learn(void *context) {
    ex_error error = {.result = EX_OK};
    ex_rig *rig = NULL;
    const ex_result result = ex_drive_learn(context, &rig, NULL, &error);
    assert_true(result == EX_OK || !rig);
    ex_rig_destroy(rig);
    return result;
}

static void memory_may_run_out(void **context) {
    (void)context;
    for (int motion = 0; motion < 2; motion++) {
        static const int counts[1] = {18};
        swing_lesson l;
        files f;
        swing_open(&l, 1, counts);
        if (!motion)
            make_keys(&l);
        l.def.key_count = 2;
        l.def.form_count = 3;
        l.def.options.frames = motion ? 2 : 1;
        l.def.options.residual = EX_RESIDUAL_NONE;
        ex_gather_def one = gather_def(&l.def, 0);
        assert_true(fail_alloc_sweep(attempt_gather, &one) > 20);
        gather(&f, &l.def);
        assert_true(fail_alloc_sweep(attempt_learn, &f.def) > 20);
        swing_close(&l);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_have_the_same_bytes),
        cmocka_unit_test(databases_have_the_same_bytes),
        cmocka_unit_test(motion_has_the_same_bytes),
        cmocka_unit_test(many_frames_are_reduced),
        cmocka_unit_test(farthest_frames_are_those_of_all_frames),
        cmocka_unit_test(given_frames_are_kept),
        cmocka_unit_test(merged_forms_are_those_of_all_frames),
        cmocka_unit_test(files_that_do_not_go_together_are_named),
        cmocka_unit_test(more_forms_than_gathered_are_refused),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, scratch_set_up, scratch_tear_down);
}
