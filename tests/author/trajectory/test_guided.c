/*
 * Guided trajectories: ends exact, rigid motions exact at all times, bent bars as little stretched as the rigid
 * in-betweens, opposite bends that cancel when blended, examples that are the reference or do not move, the same
 * numbers with any threads, and the form that a rig shows.
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
#include <exemplar/rig.h>
#include <exemplar/rig_create.h>

#include "support/bars.h"
#include "support/fail_alloc.h"

#define MOST 600 /* numbers of a form */

static void check_near(double a, double b, double tolerance) {
    if (!(fabs(a - b) <= tolerance))
        fail_msg("%.17g is not within %g of %.17g", a, tolerance, b);
}

static ex_trajectories_def definition(const bent_bar *bar, const double *const *examples, int count) {
    return (ex_trajectories_def){.vertex_count = bar->vertex_count,
                                 .triangle_count = bar->triangle_count,
                                 .triangles = bar->triangles,
                                 .reference = bar->points,
                                 .example_count = count,
                                 .examples = examples,
                                 .options = ex_trajectory_options_default()};
}

static ex_trajectories *must_create(const ex_trajectories_def *def) {
    ex_trajectories *made;
    ex_error error;
    if (ex_trajectories_create(def, &made, &error) != EX_OK)
        fail_msg("%s", error.text);
    return made;
}

static void rigid_motions_are_exact(void **state) {
    (void)state;
    bent_bar bar = bar_make(4, 4, 0, 0);
    double end[MOST], expected[MOST], form[MOST];
    const double axis[3] = {1, 1, 0.2}, place[3] = {30, 2, -9}, *examples[1] = {end};
    bar_screw(&bar, axis, place, 175, 5, end);
    ex_trajectories_def def = definition(&bar, examples, 1);
    ex_trajectories *made = must_create(&def);
    assert_int_equal(made->mixture.corrector_count, 0); /* there is nothing to correct */
    for (int k = 0; k <= 10; k++) {
        const double t = k / 10.0;
        bar_screw(&bar, axis, place, 175 * t, 5 * t, expected);
        assert_true(ex_trajectories_form(made, &def, &t, -1, form));
        for (int i = 0; i < 3 * bar.vertex_count; i++)
            check_near(form[i], expected[i], 1e-5);
    }
    ex_trajectories_destroy(made);
    bar_free(&bar);
}

static void percentiles(const bent_bar *bar, const double *end, double t, const double *form, double out[4]) {
    const ex_between_def def = {.vertex_count = bar->vertex_count,
                                .triangle_count = bar->triangle_count,
                                .triangles = bar->triangles,
                                .start = bar->points,
                                .end = end};
    ex_between *between;
    ex_stretch stretch;
    assert_int_equal(ex_between_create(&def, &between, NULL), EX_OK);
    assert_int_equal(ex_between_stretch(between, t, form, &stretch, NULL, NULL), EX_OK);
    memcpy(out, stretch.percentiles, sizeof stretch.percentiles);
    ex_between_destroy(between);
}

static void follows_the_rigid_form(void **state) {
    (void)state;
    bent_bar bar = bar_make(16, 8, 0, 0);
    double end[MOST], form[MOST], linear[MOST];
    const double *examples[1] = {end};
    bar_bend(&bar, 8, 160, end);
    ex_trajectories_def def = definition(&bar, examples, 1);
    ex_trajectories *made = must_create(&def);
    assert_true(made->rigid[2] <= 1.5 && made->rigid[3] <= 2);
    assert_int_equal(made->mixture.node_count, 0); /* one path needs none */
    assert_in_range(made->trajectories[0].corrector_count, 1, EX_CORRECTOR_MAX);
    assert_null(made->trajectories[0].turns);
    for (int k = 0; k <= 20; k++) {
        const double t = k / 20.0;
        double ours[4], theirs[4];
        for (int i = 0; i < 3 * bar.vertex_count; i++)
            linear[i] = (1 - t) * bar.points[i] + t * end[i];
        assert_true(ex_trajectories_form(made, &def, &t, -1, form));
        percentiles(&bar, end, t, form, ours);
        percentiles(&bar, end, t, linear, theirs);
        assert_true(ours[3] < 0.03 && ours[3] <= 0.25 * theirs[3] + 1e-4);
        for (int i = 0; i < 3 * bar.vertex_count && (k == 0 || k == 20); i++)
            check_near(form[i], k ? end[i] : bar.points[i], 1e-6);
    }
    ex_trajectories_destroy(made);
    bar_free(&bar);
}

/* Overlaps compare fourth powers of lengths, which leave the range of floats at both ends. */
static void overlaps_have_no_scale(void **state) {
    (void)state;
    static const double scales[] = {1, 0x1p60, 0x1p-60};
    float overlap = 0;
    for (size_t s = 0; s < sizeof scales / sizeof *scales; s++) {
        bent_bar bar = bar_make(3, 3, 0, 0);
        double one[MOST], two[MOST];
        const double *examples[2] = {one, two};
        bar_bend(&bar, 3, 40, one);
        bar_bend(&bar, 3, -90, two);
        for (int i = 0; i < 3 * bar.vertex_count; i++) {
            bar.points[i] *= scales[s];
            one[i] *= scales[s];
            two[i] *= scales[s];
        }
        const ex_trajectories_def def = definition(&bar, examples, 2);
        ex_trajectories *made = must_create(&def);
        overlap = s == 0 ? made->overlaps[2] : overlap;
        assert_true(overlap > 0.05F && overlap < 0.95F);
        check_near((double)made->overlaps[2], (double)overlap, 1e-6);
        ex_trajectories_destroy(made);
        bar_free(&bar);
    }
}

/* Half of a bend to one side and half of one to the other: the straight bar, where straight lines would squash it. Each
 * corner of the space is its example. */
static void opposite_bends_cancel(void **state) {
    (void)state;
    bent_bar bar = bar_make(12, 6, 0, 0);
    double left[MOST], right[MOST], form[MOST], farthest = 0, linear = 0;
    const double *examples[2] = {left, right}, half[2] = {0.5, 0.5};
    bar_bend(&bar, 6, 100, left);
    bar_bend(&bar, 6, -100, right);
    ex_trajectories_def def = definition(&bar, examples, 2);
    ex_trajectories *made = must_create(&def);
    check_near(made->overlaps[0], 1, 0);
    assert_true(made->overlaps[1] > 0.9 && made->overlaps[1] <= 1);
    assert_true(ex_trajectories_form(made, &def, half, -1, form));
    for (int i = 0; i < 3 * bar.vertex_count; i++) {
        farthest = fmax(farthest, fabs(form[i] - bar.points[i]));
        linear = fmax(linear, fabs(0.5 * (left[i] + right[i]) - bar.points[i]));
    }
    assert_true(linear > 1);
    assert_true(farthest < 0.05 * linear);
    for (int k = 0; k < 2; k++) {
        const double corner[2] = {k == 0, k == 1};
        assert_true(ex_trajectories_form(made, &def, corner, -1, form));
        for (int i = 0; i < 3 * bar.vertex_count; i++)
            check_near(form[i], examples[k][i], 1e-6);
    }
    ex_trajectories_destroy(made);
    bar_free(&bar);
}

/* An example that is the reference adds nothing, whatever its weight, and one equal to it does not move. All of them
 * may be the reference. */
static void references_add_nothing(void **state) {
    (void)state;
    bent_bar bar = bar_make(8, 6, 0, 0);
    double end[MOST], form[MOST], again[MOST];
    const double *examples[3] = {NULL, end, bar.points}, with[3] = {0.4, 0.6, 0}, without[3] = {0, 0.6, 0},
                 still[3] = {0, 0, 1};
    bar_bend(&bar, 6, 120, end);
    ex_trajectories_def def = definition(&bar, examples, 3);
    ex_trajectories *made = must_create(&def);
    assert_true(made->mixture.node_count > 0);
    assert_true(ex_trajectories_form(made, &def, with, -1, form));
    assert_true(ex_trajectories_form(made, &def, without, -1, again));
    assert_memory_equal(form, again, 3 * (size_t)bar.vertex_count * sizeof *form);
    assert_true(ex_trajectories_form(made, &def, still, -1, form));
    for (int i = 0; i < 3 * bar.vertex_count; i++)
        check_near(form[i], bar.points[i], 1e-6);
    ex_trajectories_destroy(made);
    examples[1] = examples[2] = NULL;
    made = must_create(&def);
    assert_int_equal(made->mixture.node_count, 0);
    assert_true(ex_trajectories_form(made, &def, with, -1, form));
    assert_memory_equal(form, bar.points, 3 * (size_t)bar.vertex_count * sizeof *form);
    ex_trajectories_destroy(made);
    bar_free(&bar);
}

/* A loose triangle, two without area, and a vertex without any; then no triangles at all. Ends are exact, and all
 * numbers finite. */
static void rough_meshes_work(void **state) {
    (void)state;
    bent_bar bar = bar_make(6, 6, 4, 3);
    const int n = bar.vertex_count, t = bar.triangle_count;
    const double loose[12] = {7, 1, 0, 8, 1, 0, 7, 2, 0, -3, 5, 1};
    const int corners[9] = {n - 4, n - 3, n - 2, 0, 0, 1, 2, 3, 3};
    double ends[2][MOST], form[MOST];
    const double *examples[2] = {ends[0], ends[1]}, weights[3][2] = {{1, 0}, {0, 1}, {0.3, 0.3}};
    memcpy(bar.points + 3 * (n - 4), loose, sizeof loose);
    memcpy(bar.triangles + 3 * (t - 3), corners, sizeof corners);
    bar_bend(&bar, 6, 100, ends[0]);
    bar_bend(&bar, 6, -70, ends[1]);
    for (int triangles = t; triangles >= 0; triangles -= t) {
        ex_trajectories_def def = definition(&bar, examples, 2);
        def.triangle_count = triangles;
        ex_trajectories *made = must_create(&def);
        for (int k = 0; k <= 2; k++) {
            assert_true(ex_trajectories_form(made, &def, weights[k], -1, form));
            for (int i = 0; i < 3 * n; i++) {
                assert_true(isfinite(form[i]) && fabs(form[i]) < 50);
                if (k < 2)
                    check_near(form[i], examples[k][i], 1e-6);
            }
        }
        ex_trajectories_destroy(made);
    }
    bar_free(&bar);
}

/* ---- as a rig shows it ---- */

enum { SHOWN = 3 };

static ex_rig *make_rig(const ex_trajectories_def *def, const ex_trajectories *made, float (*deltas)[MOST]) {
    static const char *const names[SHOWN] = {"a", "b", "c"};
    static const ex_axis axes[SHOWN] = {{.max = 1}, {.max = 1}, {.max = 1}};
    float mesh[MOST];
    const float *lines[SHOWN];
    for (int i = 0; i < 3 * def->vertex_count; i++)
        mesh[i] = (float)def->reference[i];
    for (int k = 0; k < SHOWN; k++) {
        lines[k] = deltas[k];
        for (int i = 0; i < 3 * def->vertex_count; i++)
            deltas[k][i] = (float)(def->examples[k][i] - def->reference[i]);
    }
    const ex_layer_def layer = {.name = "l",
                                .domain = EX_DOMAIN_TRAJECTORY,
                                .weigh = ex_weigher_def_direct(axes, SHOWN),
                                .axis_names = names,
                                .example_names = names,
                                .form.deltas = lines,
                                .trajectory = {.examples = made->trajectories,
                                               .reference = -1,
                                               .centre = {made->centre[0], made->centre[1], made->centre[2]},
                                               .overlaps = made->overlaps,
                                               .mixture = made->mixture}};
    ex_rig_def rig_def = ex_rig_def_default();
    rig_def.mesh =
        (ex_rig_mesh){.vertex_count = def->vertex_count, .split_count = def->vertex_count, .positions = mesh};
    rig_def.layers = &layer;
    rig_def.layer_count = 1;
    ex_rig *rig;
    ex_error error;
    if (ex_rig_create(&rig_def, NULL, &rig, &error) != EX_OK)
        fail_msg("%s", error.text);
    return rig;
}

/* Inside the simplex, on its border and beyond it. */
static void rigs_show_the_form(void **state) {
    (void)state;
    static double weights[][SHOWN] = {{0, 0, 0},         {1, 0, 0},        {0.5, 0.5, 0},   {0.2, 0.3, 0.4},
                                      {0.9, 0.05, 0.05}, {0.8, 0.7, 0.02}, {-0.1, 0.4, 0.2}};
    const double axis[3] = {0.3, 1, 0.2}, place[3] = {3, -2, 4};
    bent_bar bar = bar_make(16, 6, 0, 0);
    double ends[SHOWN][MOST], form[MOST];
    const double *examples[SHOWN] = {ends[0], ends[1], ends[2]};
    static float deltas[SHOWN][MOST];
    bar_bend(&bar, 6, 110, ends[0]);
    bar_bend(&bar, 6, -70, ends[1]);
    bar_screw(&bar, axis, place, 50, 2, ends[2]);
    ex_trajectories_def def = definition(&bar, examples, SHOWN);
    ex_trajectories *made = must_create(&def);
    ex_rig *rig = make_rig(&def, made, deltas);
    float *positions = calloc(3 * (size_t)bar.vertex_count, sizeof *positions);
    void *scratch = malloc(ex_rig_scratch_size(rig, NULL, 1) + 1);
    assert_true(positions && scratch);
    for (size_t w = 0; w < sizeof weights / sizeof *weights; w++) {
        ex_rig_evaluate(rig, &(ex_pose){.inputs = weights[w]}, &(ex_output){.positions = positions}, NULL, scratch);
        assert_true(ex_trajectories_form(made, &def, weights[w], -1, form));
        for (int i = 0; i < 3 * bar.vertex_count; i++)
            check_near((double)positions[i], form[i], 2e-5);
    }
    free(scratch);
    free(positions);
    ex_rig_destroy(rig);
    ex_trajectories_destroy(made);
    bar_free(&bar);
}

static void run_backwards(void *user, int count, int grain, ex_task_body body, void *context) {
    (void)user;
    (void)grain;
    for (int i = count; i-- > 0;)
        body(context, i, i + 1);
}

static void tasks_change_nothing(void **state) {
    (void)state;
    const ex_tasks tasks = {run_backwards, NULL};
    bent_bar bar = bar_make(6, 4, 0, 0);
    double left[MOST], right[MOST];
    const double *examples[2] = {left, right};
    bar_bend(&bar, 4, 90, left);
    bar_bend(&bar, 4, -60, right);
    for (int count = 1; count <= 2; count++) {
        ex_trajectories_def def = definition(&bar, examples, count);
        def.options.corrector_count = 2;
        ex_trajectories *one = must_create(&def);
        def.tasks = &tasks;
        ex_trajectories *two = must_create(&def);
        const size_t size = 3 * (size_t)bar.vertex_count * sizeof(float);
        const ex_mixture *a = &one->mixture, *b = &two->mixture;
        const ex_trajectory *path = &one->trajectories[0], *other = &two->trajectories[0];
        assert_int_equal(count == 1 ? path->corrector_count : a->corrector_count, 2);
        if (count == 1) {
            assert_memory_equal(path->correctors[1], other->correctors[1], size);
            assert_memory_equal(path->curves, other->curves, 2 * EX_CURVE_SIZE * sizeof(float));
        } else {
            assert_int_equal(a->term_count, b->term_count);
            assert_memory_equal(a->correctors[1], b->correctors[1], size);
            assert_memory_equal(a->curves, b->curves, 2 * (size_t)a->term_count * sizeof(float));
        }
        ex_trajectories_destroy(one);
        ex_trajectories_destroy(two);
    }
    bar_free(&bar);
}

static void refuses(void **state) {
    (void)state;
    bent_bar bar = bar_make(2, 2, 0, 0);
    double bad[MOST];
    memcpy(bad, bar.points, 3 * (size_t)bar.vertex_count * sizeof *bad);
    bad[4] = INFINITY;
    const double *examples[1] = {bad};
    const char *names[1] = {"leap"};
    ex_trajectories_def def = definition(&bar, examples, 1);
    ex_trajectories *made;
    ex_error error;
    def.names = names;
    assert_int_equal(ex_trajectories_create(&def, &made, &error), EX_ERROR_DATA);
    assert_string_equal(error.text, "leap: vertex 1 (counting from 0) of the end form is not finite");
    def.options.corrector_count = 99;
    assert_int_equal(ex_trajectories_create(&def, &made, &error), EX_ERROR_ARGUMENT);
    def.options.corrector_count = -1;
    def.example_count = 0;
    assert_int_equal(ex_trajectories_create(&def, &made, &error), EX_ERROR_ARGUMENT);
    bar_free(&bar);
}

static ex_result create_once(void *context) {
    ex_trajectories *made;
    const ex_result result = ex_trajectories_create(context, &made, NULL);
    if (result == EX_OK)
        ex_trajectories_destroy(made);
    return result;
}

static void survives_failing_memory(void **state) {
    (void)state;
    bent_bar bar = bar_make(2, 2, 0, 0);
    double end[MOST];
    const double *examples[1] = {end};
    bar_bend(&bar, 2, 60, end);
    ex_trajectories_def def = definition(&bar, examples, 1);
    def.options.corrector_count = 1;
    assert_true(fail_alloc_sweep(create_once, &def) > 30);
    bar_free(&bar);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rigid_motions_are_exact),
        cmocka_unit_test(follows_the_rigid_form),
        cmocka_unit_test(overlaps_have_no_scale),
        cmocka_unit_test(opposite_bends_cancel),
        cmocka_unit_test(references_add_nothing),
        cmocka_unit_test(rough_meshes_work),
        cmocka_unit_test(rigs_show_the_form),
        cmocka_unit_test(tasks_change_nothing),
        cmocka_unit_test(refuses),
        cmocka_unit_test(survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
