/*
 * The report of a warp: rows in order, a rigid motion that leaves nothing to report, triangles that cross, numbers that
 * agree with measuring each form alone, bytes, progress, memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <exemplar/author/trajectory.h>

#include "support/bars.h"
#include "support/check.h"
#include "support/fail_alloc.h"

enum { METHODS = EX_BETWEEN_COUNT + 1, GUIDED = EX_BETWEEN_COUNT };

/* A bar, and optionally a loose triangle next to its end, on the way to one example. */
typedef struct warp {
    bent_bar bar;
    double *end;
    int count;
    const double *examples[2];
    const char *names[2];
    ex_trajectories_def def;
    ex_trajectories *trajectories;
} warp;

static void find_trajectories(warp *w) {
    ex_error error;
    w->examples[0] = w->end;
    w->names[0] = "bent";
    w->def.vertex_count = w->bar.vertex_count;
    w->def.triangle_count = w->bar.triangle_count;
    w->def.triangles = w->bar.triangles;
    w->def.reference = w->bar.points;
    w->def.example_count = w->count;
    w->def.examples = w->examples;
    w->def.names = w->names;
    if (ex_trajectories_create(&w->def, &w->trajectories, &error) != EX_OK)
        fail_msg("%s", error.text);
}

/* The triangle is across the bar's far end, at the given height above it. */
static void warp_open(warp *w, int pieces, double above) {
    *w = (warp){.bar = bar_make(pieces, 6, 3, 1), .count = 1};
    const int n = w->bar.vertex_count, t = w->bar.triangle_count;
    double *loose = w->bar.points + 3 * (n - 3);
    const double corners[9] = {5.1, above, 0.1, 5.6, above, 0.1, 5.3, above + 1, 0.1};
    memcpy(loose, corners, sizeof corners);
    for (int i = 0; i < 3; i++)
        w->bar.triangles[3 * (t - 1) + i] = n - 3 + i;
    w->end = calloc(3 * (size_t)n, sizeof *w->end);
    assert_non_null(w->end);
    w->def.options = ex_trajectory_options_default();
}

static void warp_close(warp *w) {
    ex_trajectories_destroy(w->trajectories);
    free(w->end);
    bar_free(&w->bar);
}

static ex_warp_report *must_report(const warp *w) {
    ex_warp_report *report;
    ex_error error;
    if (ex_warp_report_create(&w->def, w->trajectories, 0, &report, &error) != EX_OK)
        fail_msg("%s", error.text);
    return report;
}

static const ex_warp_row *row_of(const ex_warp_report *report, int method, int time) {
    return &report->rows[method * EX_WARP_TIME_COUNT + time];
}

/* The triangle passes through the bar's upper side, 0.5 above its middle, and moves with it. */
static void a_motion_leaves_what_there_was(void **state) {
    (void)state;
    static const char *const names[METHODS] = {"linear", "poisson", "rigid", "polynomial", "guided"};
    static const double times[EX_WARP_TIME_COUNT] = {0.1, 0.3, 0.5, 0.7, 0.9};
    const double axis[3] = {1, 1, -1}, place[3] = {2, 5, 0};
    warp w;
    warp_open(&w, 1, 0.25);
    bar_screw(&w.bar, axis, place, 150, 3, w.end);
    find_trajectories(&w);
    ex_warp_report *report = must_report(&w);
    assert_int_equal(report->row_count, METHODS * EX_WARP_TIME_COUNT);
    assert_int_equal(report->component_count, 2);
    const int crossing = report->start_crossing;
    assert_in_range(crossing, 1, 2); /* the upper side of the one piece is two triangles */
    assert_int_equal(report->end_crossing, crossing);
    for (int m = 0; m < METHODS; m++)
        for (int k = 0; k < EX_WARP_TIME_COUNT; k++) {
            const ex_warp_row *row = row_of(report, m, k);
            assert_string_equal(row->method, names[m]);
            assert_near(row->t, times[k], 0);
            assert_near(row->stretch.percentiles[3], 0, 1e-6);
            assert_int_equal(row->stretch.flipped, 0);
            assert_int_equal(row->crossing, crossing);
            assert_near(row->centroid, 0, 1e-6);
        }
    ex_warp_report_destroy(report);
    warp_close(&w);
}

/* The triangle is lifted out of the bar, or pushed into it. */
static void crossings_of_the_ends(void **state) {
    (void)state;
    for (int into = 0; into < 2; into++) {
        warp w;
        warp_open(&w, 4, into ? 0.7 : 0.25);
        const int n = w.bar.vertex_count;
        memcpy(w.end, w.bar.points, 3 * (size_t)n * sizeof *w.end);
        for (int v = n - 3; v < n; v++)
            w.end[3 * v + 1] += into ? -0.45 : 0.45;
        find_trajectories(&w);
        ex_warp_report *report = must_report(&w);
        assert_int_equal(report->start_crossing > 0, !into);
        assert_int_equal(report->end_crossing > 0, into);
        for (int m = 0; m < METHODS; m++) {
            assert_int_equal(row_of(report, m, 0)->crossing > 0, !into);
            assert_int_equal(row_of(report, m, 4)->crossing > 0, into);
        }
        ex_warp_report_destroy(report);
        warp_close(&w);
    }
}

/* ---- against each form alone ---- */

static void centroid_of(const double *form, int first, int end, double centroid[3]) {
    for (int i = 0; i < 3; i++) {
        centroid[i] = 0;
        for (int v = first; v < end; v++)
            centroid[i] += form[3 * v + i] / (end - first);
    }
}

static double away(const double *a, const double *b, int first, int end) {
    double p[3], q[3];
    centroid_of(a, first, end, p);
    centroid_of(b, first, end, q);
    return sqrt((p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]) + (p[2] - q[2]) * (p[2] - q[2]));
}

static double size_of(const double *points, int count) {
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        double low = points[i], high = points[i];
        for (int v = 1; v < count; v++) {
            low = points[3 * v + i] < low ? points[3 * v + i] : low;
            high = points[3 * v + i] > high ? points[3 * v + i] : high;
        }
        sum += (high - low) * (high - low);
    }
    return sqrt(sum);
}

static void rows_are_what_the_forms_are(void **state) {
    (void)state;
    warp w;
    warp_open(&w, 12, 0.6);
    w.def.options.corrector_count = 2;
    bar_bend(&w.bar, 6, 120, w.end);
    find_trajectories(&w);
    ex_warp_report *report = must_report(&w);
    assert_near(report->bytes, 36, 0); /* the example and two correctors */
    const int n = w.bar.vertex_count;
    const ex_between_def def = {.vertex_count = n,
                                .triangle_count = w.bar.triangle_count,
                                .triangles = w.bar.triangles,
                                .start = w.bar.points,
                                .end = w.end};
    ex_between *between;
    assert_int_equal(ex_between_create(&def, &between, NULL), EX_OK);
    double *form = calloc(3 * (size_t)n, sizeof *form), *rigid = calloc(3 * (size_t)n, sizeof *rigid), farthest = 0;
    assert_true(form && rigid);
    for (int k = 0; k < EX_WARP_TIME_COUNT; k++) {
        const double t = row_of(report, 0, k)->t;
        assert_int_equal(ex_between_form(between, EX_BETWEEN_RIGID, t, rigid, NULL), EX_OK);
        for (int m = 0; m < METHODS; m++) {
            const ex_warp_row *row = row_of(report, m, k);
            ex_stretch stretch;
            if (m == GUIDED)
                ex_trajectories_form(w.trajectories, &w.def, &t, -1, form);
            else
                assert_int_equal(ex_between_form(between, (ex_between_method)m, t, form, NULL), EX_OK);
            assert_int_equal(ex_between_stretch(between, t, form, &stretch, NULL, NULL), EX_OK);
            assert_memory_equal(row->stretch.percentiles, stretch.percentiles, sizeof stretch.percentiles);
            assert_int_equal(row->stretch.flipped, stretch.flipped);
            const double bar = away(form, rigid, 0, n - 3), loose = away(form, rigid, n - 3, n);
            const double expected = (bar > loose ? bar : loose) / size_of(w.bar.points, n);
            assert_near(row->centroid, expected, 1e-12);
            farthest = row->centroid > farthest ? row->centroid : farthest;
        }
    }
    assert_true(farthest > 0.01); /* straight lines bring the loose triangle nearer */
    free(form);
    free(rigid);
    ex_between_destroy(between);
    ex_warp_report_destroy(report);
    warp_close(&w);
}

static void bytes_of_nodes_and_bases(void **state) {
    (void)state;
    warp w;
    warp_open(&w, 2, 0.6);
    w.def.options.corrector_count = 0;
    bar_bend(&w.bar, 6, 60, w.end);
    find_trajectories(&w);
    ex_warp_report *report = must_report(&w);
    assert_near(report->bytes, 12, 0);
    ex_warp_report_destroy(report);
    ex_trajectories_destroy(w.trajectories);
    w.examples[1] = w.bar.points; /* two examples have nodes */
    w.count = 2;
    find_trajectories(&w);
    report = must_report(&w);
    assert_near(report->bytes, 24 + 2 * 12, 0);
    ex_warp_report_destroy(report);
    ex_trajectories_destroy(w.trajectories);
    w.count = 1;
    w.def.options = ex_trajectory_options_default();
    w.def.options.mode = EX_TRAJECTORY_PAPER;
    w.def.options.bases = true; /* two velocities and the number of a segment */
    find_trajectories(&w);
    report = must_report(&w);
    assert_near(report->bytes, 26, 0);
    ex_warp_report_destroy(report);
    warp_close(&w);
}

/* ---- the rest ---- */

typedef struct watch {
    double last;
    int count;
} watch;

static bool watch_report(void *user, const char *what, double fraction) {
    watch *seen = user;
    assert_non_null(what);
    assert_true(fraction >= seen->last && fraction <= 1);
    seen->last = fraction;
    seen->count++;
    return true;
}

static void progress_rises(void **state) {
    (void)state;
    watch seen = {0};
    const ex_progress progress = {watch_report, &seen};
    warp w;
    warp_open(&w, 2, 0.6);
    bar_bend(&w.bar, 6, 60, w.end);
    find_trajectories(&w);
    w.def.progress = &progress;
    ex_warp_report_destroy(must_report(&w));
    assert_true(seen.count >= METHODS * EX_WARP_TIME_COUNT && seen.last > 0.9);
    warp_close(&w);
}

static bool stop_report(void *user, const char *what, double fraction) {
    (void)what;
    (void)fraction;
    return (*(int *)user)-- > 0;
}

static void progress_stops(void **state) {
    (void)state;
    warp w;
    warp_open(&w, 2, 0.6);
    bar_bend(&w.bar, 6, 60, w.end);
    find_trajectories(&w);
    for (int at = 0; at < METHODS * EX_WARP_TIME_COUNT; at += 2) {
        int left = at;
        const ex_progress progress = {stop_report, &left};
        ex_error error = {.result = EX_OK};
        ex_warp_report *report;
        w.def.progress = &progress;
        assert_int_equal(ex_warp_report_create(&w.def, w.trajectories, 0, &report, &error), EX_ERROR_FILE);
        assert_sentence(&error, EX_ERROR_FILE, "stopped");
        assert_null(report);
        assert_int_equal(left, -1); /* asked once, and not again */
    }
    warp_close(&w);
}

static ex_result report_once(void *context) {
    const warp *w = context;
    ex_warp_report *report;
    const ex_result result = ex_warp_report_create(&w->def, w->trajectories, 0, &report, NULL);
    assert_int_equal(report != NULL, result == EX_OK);
    ex_warp_report_destroy(report);
    return result;
}

static void memory_runs_out(void **state) {
    (void)state;
    warp w;
    warp_open(&w, 1, 0.6);
    bar_bend(&w.bar, 6, 60, w.end);
    w.def.options.iterations = 1;
    find_trajectories(&w);
    fail_alloc_sweep(report_once, &w);
    warp_close(&w);
}

static void ignore_misuse(const char *function, const char *what) {
    (void)function;
    (void)what;
}

static void misuse_is_told(void **state) {
    (void)state;
    warp w;
    ex_error error;
    ex_warp_report *report;
    warp_open(&w, 1, 0.6);
    bar_bend(&w.bar, 6, 60, w.end);
    find_trajectories(&w);
    ex_set_misuse_hook(ignore_misuse);
    assert_int_equal(ex_warp_report_create(NULL, w.trajectories, 0, &report, &error), EX_ERROR_ARGUMENT);
    assert_int_equal(ex_warp_report_create(&w.def, NULL, 0, &report, &error), EX_ERROR_ARGUMENT);
    assert_int_equal(ex_warp_report_create(&w.def, w.trajectories, 1, &report, &error), EX_ERROR_ARGUMENT);
    assert_int_equal(ex_warp_report_create(&w.def, w.trajectories, -1, &report, &error), EX_ERROR_ARGUMENT);
    w.examples[0] = NULL; /* the reference */
    assert_int_equal(ex_warp_report_create(&w.def, w.trajectories, 0, &report, &error), EX_ERROR_ARGUMENT);
    assert_null(report);
    ex_set_misuse_hook(NULL);
    ex_warp_report_destroy(NULL);
    warp_close(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_motion_leaves_what_there_was),
        cmocka_unit_test(crossings_of_the_ends),
        cmocka_unit_test(rows_are_what_the_forms_are),
        cmocka_unit_test(bytes_of_nodes_and_bases),
        cmocka_unit_test(progress_rises),
        cmocka_unit_test(progress_stops),
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(misuse_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
