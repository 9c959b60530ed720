/*
 * Builds that find maps: those that are up to date are kept, whatever the clock says; steps of a build, taken one by
 * one, give the files of one process.
 */
#define _XOPEN_SOURCE 700

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <exemplar/author/formats.h>

#include "support/check.h"
#include "support/scanned.h"
#include "support/scratch.h"

/* ---- maps that are there ---- */

/* Sets the last change to that many seconds ago, and a fraction of one. */
static void make_older(const char *name, int seconds, long nanoseconds) {
    struct timespec now;
    assert_int_equal(timespec_get(&now, TIME_UTC), TIME_UTC);
    const struct timespec then = {.tv_sec = now.tv_sec - seconds, .tv_nsec = nanoseconds};
    assert_int_equal(utimensat(AT_FDCWD, scratch_path(name), (const struct timespec[]){then, then}, 0), 0);
}

/* Moves all vertices of a scan by a tenth of a millimetre. */
static void change_scan(const char *name) {
    ex_mesh *mesh = NULL;
    ex_error error = {0};
    if (ex_ply_read(scratch_path(name), &mesh, &error) != EX_OK)
        fail_msg("%s", error.text);
    for (int v = 0; v < mesh->vertex_count; v++)
        mesh->positions[3 * v + 2] += 1e-4;
    if (ex_ply_write(scratch_path(name), mesh, EX_PLY_LITTLE_ENDIAN, &error) != EX_OK)
        fail_msg("%s", error.text);
    ex_mesh_destroy(mesh);
}

/* Builds, and returns the number of maps that were kept. */
static int count_kept(const scanned *s, const ex_scan_build_options *options) {
    ex_scan_built *built = scanned_build(s, options);
    const int count = built->kept_count;
    ex_scan_built_destroy(built);
    return count;
}

static void test_kept(void **state) {
    (void)state;
    static const char *const from[] = {"scan.json", "fit.json",          "stand.ply",        "bent.ply",
                                       "cage.obj",  "template/cage.obj", "template/body.glb"};
    for (int lend = 0; lend < 2; lend++) {
        scanned_def def = scanned_one;
        scanned s;
        def.options = lend ? "" : "\"lend\": false, ";
        scanned_open(&s, &def);
        assert_int_equal(count_kept(&s, &scanned_as_is), 0);
        ex_scan_built *built = scanned_build(&s, &scanned_as_is);
        assert_int_equal(built->kept_count, 2);
        assert_true(built->scans[0].hit > 0.9 && built->scans[1].rms > 0.001); /* measured nevertheless */
        ex_scan_built_destroy(built);
        assert_int_equal(count_kept(&s, &(ex_scan_build_options){.keep_cage = true, .force = true}), 0);
        /* Times do not matter: maps of a machine whose clock is slow, or copied. */
        make_older("maps/stand.ply", 1000, 0);
        make_older("maps/bent.ply", 1000, 0);
        assert_int_equal(count_kept(&s, &scanned_as_is), 2);
        /* A scan that has changed; maps that it lends to are made again too. */
        change_scan("bent.ply");
        assert_int_equal(count_kept(&s, &scanned_as_is), lend ? 0 : 1);
        /* The same with a clock that is slow: the size is the same, so only the bytes tell. */
        change_scan("bent.ply");
        make_older("maps/stand.ply", 50, 0);
        make_older("maps/bent.ply", 50, 0);
        assert_int_equal(count_kept(&s, &scanned_as_is), lend ? 0 : 1);
        /* Settings, the pose and the cage, though the maps are newer. */
        s.session->noise *= 2;
        assert_int_equal(count_kept(&s, &scanned_as_is), 0);
        s.fitted->poses[1].translation[0] += 1e-6;
        assert_int_equal(count_kept(&s, &scanned_as_is), lend ? 0 : 1);
        if (!lend)
            assert_int_equal(count_kept(&s, NULL), 0);
        /* A map made by hand is kept as long as it is newer than everything. */
        ex_displacement_map *map = NULL;
        assert_int_equal(count_kept(&s, &scanned_as_is), lend ? 2 : 0);
        assert_int_equal(ex_displacement_map_read(scratch_path("maps/bent.ply"), &map, NULL), EX_OK);
        assert_int_equal(ex_displacement_map_write(scratch_path("maps/bent.ply"), map, NULL), EX_OK);
        ex_displacement_map_destroy(map);
        assert_int_equal(count_kept(&s, &scanned_as_is), 2);
        for (int i = 0; i < 7; i++)
            make_older(from[i], 100, 0);
        make_older("maps/bent.ply", 50, 500);
        assert_int_equal(count_kept(&s, &scanned_as_is), 2);
        for (int i = 0; i < 7; i++) {
            if (i == 5) /* it becomes cage.obj, which has not changed */
                continue;
            make_older(from[i], 10, 0);
            /* A scan that lends counts too. */
            const bool counts = i != 2 || lend;
            assert_int_equal(count_kept(&s, &scanned_as_is), counts ? 1 : 2);
            make_older(from[i], 100, 0);
            if (counts) { /* it was made again, with its stamp */
                assert_int_equal(ex_displacement_map_read(scratch_path("maps/bent.ply"), &map, NULL), EX_OK);
                assert_int_equal(ex_displacement_map_write(scratch_path("maps/bent.ply"), map, NULL), EX_OK);
                ex_displacement_map_destroy(map);
                make_older("maps/bent.ply", 50, 500);
            }
        }
        scanned_close(&s);
    }
}

/* ---- in pieces ---- */

/* Takes the steps of a build one by scanned_one, scans from the last to the first. */
static void build_pieces(const scanned *s, bool measure) {
    ex_scan_built_destroy(scanned_build(s, &(ex_scan_build_options){.keep_cage = true, .step = EX_SCAN_BUILD_CAGE}));
    for (int step = measure ? EX_SCAN_BUILD_MEASURE : EX_SCAN_BUILD_MAP; step <= EX_SCAN_BUILD_MAP; step++)
        for (int i = s->session->scan_count - 1; i >= 0; i--) {
            bool scans[3] = {false};
            scans[i] = true;
            ex_scan_built_destroy(
                scanned_build(s, &(ex_scan_build_options){.step = (ex_scan_build_step)step, .scans = scans}));
        }
}

/* Removes maps, and those that were measured. */
static void remove_maps(void) {
    static const char *const names[] = {"stand.left", "stand.right", "bent.left", "bent.right",
                                        "both.left",  "both.right",  "stand",     "bent"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[64];
        snprintf(path, sizeof path, "maps/%s.ply", names[i]);
        remove(scratch_path(path));
        snprintf(path, sizeof path, "measured/%s.ply", names[i]);
        remove(scratch_path(path));
    }
}

/* Moves the part of a scan beyond an x far away: on the left, if `side` is 1. */
static void move_side(const char *name, double side, double from) {
    ex_mesh *mesh = NULL;
    ex_error error = {0};
    if (ex_ply_read(scratch_path(name), &mesh, &error) != EX_OK)
        fail_msg("%s", error.text);
    for (int v = 0; v < mesh->vertex_count; v++)
        mesh->positions[3 * v + 2] += side * mesh->positions[3 * v] > from ? 3 : 0;
    if (ex_ply_write(scratch_path(name), mesh, EX_PLY_LITTLE_ENDIAN, &error) != EX_OK)
        fail_msg("%s", error.text);
    ex_mesh_destroy(mesh);
}

/* Steps of a build give the files of one process, and its notes: a scan shows nothing of one of its parts. */
static void test_pieces(void **state) {
    (void)state;
    static const char *const names[] = {"maps/stand.left.ply",
                                        "maps/stand.right.ply",
                                        "maps/bent.left.ply",
                                        "changes/bent.left.ply",
                                        "base.ply",
                                        "cage.obj",
                                        "body.json"};
    enum { COUNT = sizeof names / sizeof *names };
    for (int measure = 0; measure < 2; measure++) {
        scanned s;
        char *bytes[COUNT];
        size_t sizes[COUNT];
        scanned_open(&s, &scanned_shared);
        move_side("bent.ply", -1, -0.1);
        ex_scan_built *built = scanned_build(&s, &scanned_as_is);
        assert_int_equal(built->left_count, 1);
        assert_string_equal(built->left_out[0].text,
                            "scan 'bent' is left out of part 'right': it shows nothing of it near the template");
        for (int i = 0; i < COUNT; i++)
            bytes[i] = scratch_read(names[i], &sizes[i]);
        remove_maps();
        build_pieces(&s, measure);
        ex_scan_built *joined = scanned_build(&s, &scanned_as_is);
        assert_int_equal(joined->kept_count, 5);
        assert_int_equal(joined->left_count, 1);
        assert_string_equal(joined->left_out[0].text, built->left_out[0].text);
        assert_memory_equal(joined->scans, built->scans, 3 * sizeof *built->scans);
        for (int i = 0; i < COUNT; i++) {
            size_t size;
            char *now = scratch_read(names[i], &size);
            assert_int_equal(size, sizes[i]);
            assert_memory_equal(now, bytes[i], size);
            free(now);
            free(bytes[i]);
        }
        ex_scan_built_destroy(joined);
        ex_scan_built_destroy(built);
        remove_maps();
        scanned_close(&s);
    }
}

/* A bone that no scan shows is refused at the end, since a piece knows one scan alone. */
static void test_unseen_in_pieces(void **state) {
    (void)state;
    scanned s;
    scanned_open(&s, &scanned_one);
    move_side("stand.ply", 1, 0.3);
    ex_mesh *mesh = NULL;
    ex_error error = {0};
    if (ex_ply_read(scratch_path("bent.ply"), &mesh, &error) != EX_OK)
        fail_msg("%s", error.text);
    for (int v = 0; v < mesh->vertex_count; v++)
        mesh->positions[3 * v + 2] += mesh->positions[3 * v] > 0.3 || mesh->positions[3 * v + 1] > 1.2 ? 3 : 0;
    if (ex_ply_write(scratch_path("bent.ply"), mesh, EX_PLY_LITTLE_ENDIAN, &error) != EX_OK)
        fail_msg("%s", error.text);
    ex_mesh_destroy(mesh);
    build_pieces(&s, true);
    scanned_refuse(&s, &scanned_as_is, EX_ERROR_DATA, "no scan of part 'arm' shows the bone of 'tip.L'");
    remove_maps();
    scanned_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_kept, scratch_set_up, scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_pieces, scratch_set_up, scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_unseen_in_pieces, scratch_set_up, scratch_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
