/*
 * Files of the demos of cloth, for a garment that moves briefly and is simulated roughly: caches of both motions, and a
 * project of the keys. Also the use of driven cloth in a simulation (DrivenShape, section 4.2): as a start, and as a
 * guide.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "demos/demos.h"
#include "demos/garment/garment.h"
#include "support/check.h"
#include "support/scratch.h"

enum { FRAMES = 5, KEYS = 3 };

/* A sleeve, its files, and their rig. */
typedef struct written {
    exi_garment garment;
    ex_rig *rig;
    int calls; /* of the progress */
    void *scratch;
    float *driver, *driven; /* for a moment */
    double *form;
} written;

static bool count_calls(void *user, const char *what, double fraction) {
    assert_true(strlen(what) > 0 && fraction >= 0 && fraction <= 1);
    ++*(int *)user;
    return true;
}

static ex_rig *build(const char *name) {
    ex_project *project = NULL;
    ex_rig *rig = NULL;
    assert_int_equal(ex_project_read(scratch_path(name), &project, NULL), EX_OK);
    assert_int_equal(ex_project_build(project, NULL, &rig, NULL), EX_OK);
    ex_project_destroy(project);
    return rig;
}

static int set_up(void **state) {
    static written w;
    const ex_progress progress = {count_calls, &w.calls};
    if (scratch_set_up(state) != 0 || exi_sleeve_make(&w.garment, NULL) != EX_OK)
        return -1;
    w.garment.key_count = KEYS;
    w.garment.cloth.substeps = 4;
    w.garment.cloth.search = 4;
    w.garment.frame_counts[GARMENT_TRAINING] = FRAMES;
    w.garment.frame_counts[GARMENT_UNSEEN] = 1;
    if (exi_garment_write(&w.garment, 0, scratch_path("."), &progress, NULL, NULL) != EX_OK)
        return -1;
    const size_t count = (size_t)w.garment.driven->vertex_count;
    w.rig = build("sleeve.json");
    w.scratch = malloc(ex_rig_scratch_size(w.rig, NULL, 1));
    w.driver = malloc(12 * (size_t)w.garment.driver->vertex_count);
    w.driven = malloc(12 * count);
    w.form = malloc(24 * count);
    *state = &w;
    return w.scratch && w.driver && w.driven && w.form ? 0 : -1;
}

static int tear_down(void **state) {
    written *w = *state;
    free(w->scratch);
    free(w->driver);
    free(w->driven);
    free(w->form);
    ex_rig_destroy(w->rig);
    exi_garment_free(&w->garment);
    return scratch_tear_down(state);
}

static void files_of_a_garment(void **state) {
    static const char *const names[] = {"driver_train.pc2", "driven_train.pc2", "driver_unseen.pc2",
                                        "driven_unseen.pc2"};
    written *w = *state;
    assert_true(w->calls > FRAMES + 1);
    for (int i = 0; i < 4; i++) {
        ex_cache_reader *reader = NULL;
        assert_int_equal(ex_cache_open(scratch_path(names[i]), &reader, NULL), EX_OK);
        const ex_cache_info info = ex_cache_get_info(reader);
        assert_int_equal(info.frame_count, i < 2 ? FRAMES : 1);
        assert_int_equal(info.vertex_count, (i % 2 ? w->garment.driven : w->garment.driver)->vertex_count);
        assert_near(info.step, i < 2 ? 1 / GARMENT_FPS : 0, 1e-6);
        ex_cache_close(reader);
    }
    ex_rig_driver driver;
    assert_true(ex_rig_get_driver(w->rig, &driver, NULL));
    assert_near(driver.thickness, w->garment.cloth.thickness, 1e-9);
    assert_int_equal(ex_rig_example_count(w->rig), KEYS);
    assert_int_equal(ex_rig_vertex_count(w->rig), w->garment.driven->vertex_count);
    ex_error error = {.result = EX_OK};
    assert_int_not_equal(exi_garment_write(&w->garment, 0, scratch_path("nowhere"), NULL, NULL, &error), EX_OK);
    assert_non_null(strstr(error.text, "nowhere"));
}

/* ---- driven cloth handed to the simulation ---- */

/* The rig's form for a form of the arm. */
static const double *drive(written *w, const double *driver) {
    for (int i = 0; i < 3 * w->garment.driver->vertex_count; i++)
        w->driver[i] = (float)driver[i];
    ex_rig_evaluate(w->rig, &(ex_pose){.driver = w->driver}, &(ex_output){.positions = w->driven}, NULL, w->scratch);
    for (int i = 0; i < 3 * w->garment.driven->vertex_count; i++)
        w->form[i] = (double)w->driven[i];
    return w->form;
}

typedef struct leading {
    written *written;
    double aside;       /* metres: offset of the guide from the driven form */
    double off, moved;  /* mean distance from it in the last frame, and from the start */
    const double *from; /* the start */
    int frames;
} leading;

static const double *lead(void *user, int frame, const double *driver) {
    leading *l = user;
    double *form = (double *)drive(l->written, driver);
    (void)frame;
    for (int v = 0; v < l->written->garment.driven->vertex_count; v++)
        form[3 * v + 1] += l->aside;
    return form;
}

static double mean_distance(const double *a, const double *b, int count) {
    double sum = 0;
    for (int v = 0; v < count; v++) {
        const double d[3] = {a[3 * v] - b[3 * v], a[3 * v + 1] - b[3 * v + 1], a[3 * v + 2] - b[3 * v + 2]};
        sum += sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    }
    return sum / count;
}

static ex_result measure(void *user, int frame, const double *driver, const double *driven, ex_error *error) {
    leading *l = user;
    const int count = l->written->garment.driven->vertex_count;
    (void)error;
    if (frame == 0)
        assert_memory_equal(driven, l->from, 24 * (size_t)count); /* the first frame is the start */
    l->off = mean_distance(driven, lead(l, frame, driver), count);
    l->moved = mean_distance(driven, l->from, count);
    l->frames++;
    return EX_OK;
}

/* Starts at the rig's form of the first frame, without the second of draping: the cloth stays with the rig's forms of
 * later frames, and a stiffer guide keeps it nearer to a form. */
static void driven_cloth_starts_and_leads(void **state) {
    static const double stiffness[] = {0, 300, 3000, 30000};
    written *w = *state;
    const size_t bytes = 24 * (size_t)w->garment.driven->vertex_count;
    double *driver = malloc(24 * (size_t)w->garment.driver->vertex_count), *start = malloc(bytes), last = INFINITY;
    assert_true(driver && start);
    w->garment.pose(&w->garment, GARMENT_TRAINING, 0, 1, driver);
    memcpy(start, drive(w, driver), bytes);
    for (int i = 0; i < 4; i++) {
        leading l = {.written = w, .aside = i ? 0.01 : 0, .from = start};
        w->garment.cloth.target = stiffness[i];
        exi_garment_play play = {
            .motion = GARMENT_TRAINING, .start = start, .guide = i ? lead : NULL, .frame = measure, .user = &l};
        assert_int_equal(exi_garment_simulate(&w->garment, &play, NULL), EX_OK);
        assert_int_equal(l.frames, FRAMES);
        print_message("led with %g/s^2: %.2f mm off, moved by %.2f mm\n", stiffness[i], 1000 * l.off, 1000 * l.moved);
        if (i == 0)
            assert_true(l.off < l.moved / 2);
        else
            assert_true(l.off < last);
        last = i ? l.off : INFINITY;
    }
    free(start);
    free(driver);
}

/* Demos that simulate differ from the others. */
static void the_table(void **state) {
    (void)state;
    int garments = 0;
    for (int i = 0; i < ex_demo_count; i++) {
        assert_int_equal(1,
                         (ex_demos[i].write != NULL) + (ex_demos[i].garment != NULL) + (ex_demos[i].session != NULL));
        garments += ex_demos[i].garment != NULL;
    }
    assert_int_equal(garments, 3);
    assert_int_equal(exi_demo_write(&ex_demos[0], scratch_path("."), NULL, NULL), EX_OK);
    ex_rig_destroy(build("blob.json"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_of_a_garment),
        cmocka_unit_test(driven_cloth_starts_and_leads),
        cmocka_unit_test(the_table),
    };
    return cmocka_run_group_tests_name("demos.garment_files", tests, set_up, tear_down);
}
