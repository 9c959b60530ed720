/*
 * The energies of the trajectory-warping paper: derivatives against differences, steps, each term alone, results for
 * rigid motion and missing triangles. tests/oracle/paper_oracle.py solves the same energy independently.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "author/trajectory/chains.h"
#include "author/trajectory/paper/paper.h"
#include "support/check.h"
#include "support/fail_alloc.h"

static ex_between *make_between(const tube *t) {
    ex_between_def def = {.vertex_count = t->vertex_count,
                          .triangle_count = t->triangle_count,
                          .triangles = t->triangles,
                          .start = t->start,
                          .end = t->end};
    ex_between *between = NULL;
    assert_int_equal(ex_between_create(&def, &between, NULL), EX_OK);
    return between;
}

/* Four segments by the rings of a tube, a chain, so that two bases are solved for. */
static void find_segments(const tube *t, ex_between **between, exi_segmentation *s) {
    ex_trajectory_options options = ex_trajectory_options_default();
    int *given = calloc((size_t)t->triangle_count, sizeof *given);
    for (int i = 0; i < t->triangle_count; i++)
        given[i] = 4 * i / t->triangle_count;
    options.segments = given;
    options.root = 0;
    exi_segments_input in = {.options = &options, .example_count = 1, .betweens = between, .any = *between};
    assert_int_equal(exi_segments_find(&in, s, NULL), EX_OK);
    free(given);
}

/* ---- derivatives ---- */

static double *unknown(exi_paper *paper, exi_paper_state *state, int u) {
    int n = paper->between->vertex_count;
    if (u >= 6 * n)
        return &state->bases[u - 6 * n];
    return &(u % 6 < 3 ? state->misses : state->turns)[u / 6 * 3 + u % 3];
}

/* The present state moved by `step` along x, or along one unknown if x is NULL; evaluated in the other. */
static exi_paper_state *moved(exi_paper *paper, const double *x, int one, double step) {
    exi_paper_state *from = &paper->states[paper->present], *to = &paper->states[1 - paper->present];
    for (int u = 0; u < exi_paper_size(paper); u++)
        *unknown(paper, to, u) = *unknown(paper, from, u) + (x ? step * x[u] : u == one ? step : 0);
    exi_paper_evaluate(paper, to);
    return to;
}

static bool is_free(const exi_paper *paper, int u) {
    int segment = u / 6 - paper->between->vertex_count;
    return segment < 0 || exi_segments_carried(paper->segments, segment);
}

/* J^T F of one term: every unknown. */
static void check_gradient(exi_paper *paper, int term, double *gradient) {
    double largest = 0;
    exi_paper_gradient(paper, gradient);
    for (int u = 0; u < exi_paper_size(paper); u++)
        largest = fmax(largest, fabs(gradient[u]));
    for (int u = 0; u < exi_paper_size(paper); u++) {
        double after = moved(paper, NULL, u, 1e-5)->total, before = moved(paper, NULL, u, -1e-5)->total;
        double expected = is_free(paper, u) ? (after - before) / 4e-5 : 0;
        if (!(fabs(expected - gradient[u]) <= 1e-6 * largest))
            fail_msg("term %d, unknown %d: %g by differences, %g", term, u, expected, gradient[u]);
    }
}

/* J^T J x of one term: x^T J^T J x = |J x|^2, J x by differences along x. */
static void check_product(exi_paper *paper, int term, double *x, double *y) {
    size_t count =
        (size_t)(term == EXI_PAPER_GRADIENT ? 9 * paper->between->triangle_count : 3 * paper->between->vertex_count);
    double sum = 0, square = 0, *before = calloc(count, sizeof *before);
    uint64_t seed = 7;
    for (int u = 0; u < exi_paper_size(paper); u++)
        x[u] = is_free(paper, u) ? random_between(&seed, -1, 1) : 0;
    exi_paper_apply(paper, x, y);
    for (int u = 0; u < exi_paper_size(paper); u++)
        sum += x[u] * y[u];
    for (int side = 0; side < 2; side++) {
        const exi_paper_state *to = moved(paper, x, 0, side ? 1e-6 : -1e-6);
        const double *residuals[] = {to->misses, to->spins, to->gradients};
        for (size_t k = 0; k < count; k++)
            if (side)
                square += pow((residuals[term][k] - before[k]) / 2e-6, 2);
            else
                before[k] = residuals[term][k];
    }
    assert_near(sum, square, 1e-6 * square);
    free(before);
}

static void check_derivatives(bool bases) {
    tube t = make_tube(9, 5, 1.4, 1.1);
    ex_between *between = make_between(&t);
    exi_segmentation segments = {.count = 0};
    exi_paper paper;
    ex_trajectory_options options = ex_trajectory_options_default();
    uint64_t seed = 5;
    if (bases)
        find_segments(&t, &between, &segments);
    assert_int_equal(exi_paper_create(&paper, &options, between, bases ? &segments : NULL, NULL), EX_OK);
    size_t size = (size_t)exi_paper_size(&paper);
    double *x = calloc(size, sizeof *x), *y = calloc(size, sizeof *y);
    for (int u = 0; u < (int)size; u++)
        *unknown(&paper, &paper.states[0], u) += is_free(&paper, u) ? random_between(&seed, -0.2, 0.2) : 0;
    for (int term = 0; term < EXI_PAPER_TERM_COUNT; term++) {
        for (int k = 0; k < EXI_PAPER_TERM_COUNT; k++)
            paper.weights[k] = k == term;
        exi_paper_evaluate(&paper, &paper.states[0]);
        exi_paper_linearise(&paper, 0);
        check_gradient(&paper, term, x);
        check_product(&paper, term, x, y);
    }
    free(x);
    free(y);
    exi_paper_free(&paper);
    exi_segments_free(&segments);
    ex_between_destroy(between);
    free_tube(&t);
}

static void derivatives_agree_with_differences(void **state) {
    (void)state;
    check_derivatives(false);
}

static void derivatives_of_bases_do_too(void **state) {
    (void)state;
    check_derivatives(true);
}

/* A rigid velocity w x p + c has the curl w in every triangle: equation 11. */
static void curl_of_a_rotation_is_the_rotation(void **state) {
    (void)state;
    tube t = make_tube(4, 5, 0.5, 1);
    ex_between *between = make_between(&t);
    ex_trajectory_options options = ex_trajectory_options_default();
    const double w[3] = {0.3, -1.1, 0.7};
    exi_paper paper;
    assert_int_equal(exi_paper_create(&paper, &options, between, NULL, NULL), EX_OK);
    for (int i = 0; i < t.triangle_count; i++) {
        double curl[3] = {0};
        for (int c = 0; c < 3; c++) {
            const double *p = &t.start[3 * t.triangles[3 * i + c]];
            double v[3] = {w[1] * p[2] - w[2] * p[1] + 5, w[2] * p[0] - w[0] * p[2] + 6, w[0] * p[1] - w[1] * p[0] - 7};
            double m[9];
            exi_paper_curl(&paper, i, c, m);
            for (int k = 0; k < 9; k++)
                curl[k / 3] += m[k] * v[k % 3] * paper.scale;
        }
        assert_row_near(curl, w, 3, 1e-12);
    }
    exi_paper_free(&paper);
    ex_between_destroy(between);
    free_tube(&t);
}

/* ---- steps ---- */

static void steps_go_down(void **state) {
    (void)state;
    tube t = make_tube(21, 10, 1.5707963267948966, 1);
    ex_between *between = make_between(&t);
    ex_trajectory_options options = ex_trajectory_options_default();
    exi_paper paper;
    struct ex_trajectory_fit fit;
    assert_int_equal(exi_paper_create(&paper, &options, between, NULL, NULL), EX_OK);
    assert_non_null(paper.coarse);
    double first = paper.states[paper.present].total, before = first;
    for (int step = 0; step < 4; step++) {
        assert_int_equal(exi_paper_minimise(&paper, 1, &fit, NULL, NULL), EX_OK);
        assert_int_equal(fit.iterations, 1);
        assert_true(fit.energy[0] <= before);
        before = fit.energy[0];
    }
    assert_true(before < 0.1 * first);
    exi_paper_free(&paper);
    assert_int_equal(exi_paper_create(&paper, &options, between, NULL, NULL), EX_OK);
    assert_int_equal(exi_paper_minimise(&paper, 10, &fit, NULL, NULL), EX_OK);
    assert_true(fit.converged && fit.iterations <= 10 && fit.iterations > 0);
    assert_near(fit.energy[0], before, 1e-3 * before);
    assert_near(fit.energy[1] + fit.energy[2] + fit.energy[3], fit.energy[0], 1e-12 * fit.energy[0]);
    exi_paper_free(&paper);
    ex_between_destroy(between);
    free_tube(&t);
}

static void terms_can_be_left_out(void **state) {
    (void)state;
    tube t = make_tube(13, 8, 1.2, 1.2);
    const double *examples[] = {t.end};
    for (int without = 0; without < 8; without++) {
        ex_trajectories_def def = tube_definition(&t, examples);
        ex_trajectories *made = NULL;
        def.options.without_pose = without & 1;
        def.options.without_rotation = without & 2;
        def.options.without_gradient = without & 4;
        assert_int_equal(ex_trajectories_create(&def, &made, NULL), EX_OK);
        for (int term = 0; term < 3; term++)
            assert_true(!(without >> term & 1) || made->fits[0].energy[1 + term] == 0);
        if (without == 0)
            assert_true(made->fits[0].energy[1] > 0 && made->fits[0].energy[2] > 0 && made->fits[0].energy[3] > 0);
        for (int k = 0; k < 3 * t.vertex_count; k++)
            assert_true(isfinite(made->trajectories[0].turns[k]));
        ex_trajectories_destroy(made);
    }
    free_tube(&t);
}

/* A larger weight of a term leaves less of what it measures; 0 means the default 0.1. */
static void weights_weigh(void **state) {
    (void)state;
    tube t = make_tube(9, 6, 1.2, 1.3);
    const double *examples[] = {t.end}, weights[] = {0, 0.1, 1};
    double left[3];
    for (int k = 0; k < 3; k++) {
        ex_trajectories_def def = tube_definition(&t, examples);
        ex_trajectories *made = NULL;
        def.options.rotation_weight = weights[k];
        assert_int_equal(ex_trajectories_create(&def, &made, NULL), EX_OK);
        left[k] = made->fits[0].energy[2] / (k == 2 ? 100 : 1);
        ex_trajectories_destroy(made);
    }
    assert_true(left[0] == left[1]);
    assert_true(left[2] < 0.5 * left[1]);
    free_tube(&t);
}

/* ---- special cases ---- */

/* The alignment takes all of a rigid motion; no turn is left. */
static void rigid_motion_needs_no_turns(void **state) {
    (void)state;
    tube t = make_tube(9, 6, 0, 1);
    for (int v = 0; v < t.vertex_count; v++) {
        double *p = &t.end[3 * v], x = p[0], y = p[1];
        p[0] = cos(2.5) * x - sin(2.5) * y + 10;
        p[1] = sin(2.5) * x + cos(2.5) * y - 3;
    }
    const double *examples[] = {t.end};
    for (int bases = 0; bases < 2; bases++) {
        ex_trajectories_def def = tube_definition(&t, examples);
        ex_trajectories *made = NULL;
        def.options.bases = bases;
        assert_int_equal(ex_trajectories_create(&def, &made, NULL), EX_OK);
        assert_true(made->fits[0].converged);
        assert_int_equal(made->segments.count, bases);
        for (int k = 0; k < 3 * t.vertex_count; k++)
            assert_near(made->trajectories[0].turns[k], 0, 1e-6);
        ex_trajectories_destroy(made);
    }
    free_tube(&t);
}

/* A triangle without area has no effect; a vertex without triangles is not turned. */
static void what_is_no_surface_is_left_alone(void **state) {
    (void)state;
    tube t = make_tube(9, 6, 1, 1);
    const double *start = t.start, *end = t.end;
    size_t n = (size_t)t.vertex_count, m = (size_t)t.triangle_count;
    int *triangles = calloc(3 * m + 3, sizeof *triangles);
    double *more[2] = {calloc(3 * n + 3, sizeof **more), calloc(3 * n + 3, sizeof **more)}, energies[2];
    memcpy(triangles, t.triangles, 3 * m * sizeof *triangles);
    memcpy(&triangles[3 * m], (int[]){0, 1, 1}, 3 * sizeof *triangles);
    for (size_t k = 0; k < 3 * n; k++) {
        more[0][k] = start[k];
        more[1][k] = end[k];
    }
    for (size_t k = 0; k < 3; k++) { /* inside, so that the box around the mesh is unchanged */
        more[0][3 * n + k] = (double[]){1, 0.1, 0}[k];
        more[1][3 * n + k] = (double[]){1, 0.5, 0}[k];
    }
    for (int with = 0; with < 2; with++) {
        const double *examples[] = {with ? more[1] : end};
        ex_trajectories_def def = tube_definition(&t, examples);
        ex_trajectories *made = NULL;
        if (with) {
            def.triangles = triangles;
            def.reference = more[0];
            def.triangle_count++;
            def.vertex_count++;
        }
        def.options.bases = true;
        assert_int_equal(ex_trajectories_create(&def, &made, NULL), EX_OK);
        energies[with] = made->fits[0].energy[0];
        for (size_t k = 0; k < 3 && with; k++)
            assert_true(made->trajectories[0].turns[3 * n + k] == 0);
        ex_trajectories_destroy(made);
    }
    assert_near(energies[1], energies[0], 1e-9 * energies[0]);
    free(triangles);
    free(more[0]);
    free(more[1]);
    free_tube(&t);
}

/* Longer ones are shortened, and keep their direction; the rest is unchanged. */
static void long_turns_are_shortened(void **state) {
    (void)state;
    tube t = make_tube(4, 5, 0.5, 1);
    ex_between *between = make_between(&t);
    ex_trajectory_options options = ex_trajectory_options_default();
    const double turns[6] = {3, 0, -4, 6, 0, -8}, expected[6] = {3, 0, -4, 0.6 * EX_TURN_MAX, 0, -0.8 * EX_TURN_MAX};
    exi_paper paper;
    assert_int_equal(exi_paper_create(&paper, &options, between, NULL, NULL), EX_OK);
    memcpy(paper.states[0].turns, turns, sizeof turns);
    exi_paper_limit(&paper, &paper.states[0]);
    assert_row_near(paper.states[0].turns, expected, 6, 1e-12);
    exi_paper_free(&paper);
    ex_between_destroy(between);
    free_tube(&t);
}

/* Twisted by two turns, the ends would have to turn by more than a path may. */
static void turns_stay_within_their_limit(void **state) {
    (void)state;
    tube t = make_tube(41, 6, 0, 1);
    for (int v = 0; v < t.vertex_count; v++) {
        double *p = &t.end[3 * v], angle = 3.2 * p[0], y = p[1];
        p[1] = cos(angle) * y - sin(angle) * p[2];
        p[2] = sin(angle) * y + cos(angle) * p[2];
    }
    const double *examples[] = {t.end};
    ex_trajectories_def def = tube_definition(&t, examples);
    ex_trajectories *made = NULL;
    double longest = 0;
    assert_int_equal(ex_trajectories_create(&def, &made, NULL), EX_OK);
    for (int v = 0; v < t.vertex_count; v++) {
        const float *w = &made->trajectories[0].turns[3 * v];
        double sum = 0;
        for (int k = 0; k < 3; k++)
            sum += (double)w[k] * (double)w[k];
        longest = fmax(longest, sqrt(sum));
    }
    assert_true(longest <= EX_TURN_MAX && longest > 5);
    ex_trajectories_destroy(made);
    free_tube(&t);
}

/* ---- tasks and memory ---- */

static void run_backwards(void *user, int count, int grain, ex_task_body body, void *context) {
    (void)user;
    (void)grain;
    for (int end = count; end > 0; end -= 7)
        body(context, end > 7 ? end - 7 : 0, end);
}

static void tasks_change_no_bit(void **state) {
    (void)state;
    tube t = make_tube(13, 8, 1.5, 1.1);
    const double *examples[] = {t.end};
    const ex_tasks tasks = {.run = run_backwards};
    ex_trajectories *made[2] = {NULL, NULL};
    for (int k = 0; k < 2; k++) {
        ex_trajectories_def def = tube_definition(&t, examples);
        def.tasks = k ? &tasks : NULL;
        def.options.bases = true;
        def.options.iterations = 2;
        assert_int_equal(ex_trajectories_create(&def, &made[k], NULL), EX_OK);
    }
    assert_true(made[0]->segments.count == made[1]->segments.count && made[0]->segments.count > 1);
    assert_memory_equal(made[0]->trajectories[0].turns, made[1]->trajectories[0].turns,
                        3 * (size_t)t.vertex_count * sizeof(float));
    assert_memory_equal(made[0]->trajectories[0].bases, made[1]->trajectories[0].bases,
                        6 * (size_t)made[0]->segments.count * sizeof(float));
    ex_trajectories_destroy(made[0]);
    ex_trajectories_destroy(made[1]);
    free_tube(&t);
}

typedef struct attempt {
    ex_trajectories_def def;
    ex_between *between;
} attempt;

static ex_result fit_once(void *context) {
    attempt *a = context;
    ex_trajectory trajectory = {.turns = NULL};
    struct ex_trajectory_fit fit = {.iterations = 0};
    ex_trajectories made = {.example_count = 1, .trajectories = &trajectory, .fits = &fit};
    ex_error error = {.text = ""};
    ex_result result = exi_paper_fit(&a->def, &a->between, &made, &error);
    assert_true((error.text[0] != 0) == (result != EX_OK));
    free((void *)trajectory.turns);
    free((void *)trajectory.bases);
    free((void *)made.segments.parents);
    free((void *)made.segments.vertices);
    free(made.triangle_segments);
    return result;
}

static void running_out_of_memory_is_told(void **state) {
    (void)state;
    tube t = make_tube(13, 8, 1.5, 1.1);
    const double *examples[] = {t.end};
    attempt a = {.def = tube_definition(&t, examples), .between = make_between(&t)};
    int *given = calloc((size_t)t.triangle_count, sizeof *given);
    for (int i = 0; i < t.triangle_count; i++)
        given[i] = 4 * i / t.triangle_count;
    a.def.options.segments = given;
    a.def.options.bases = true;
    a.def.options.iterations = 1;
    assert_true(fail_alloc_sweep(fit_once, &a) > 60);
    ex_between_destroy(a.between);
    free(given);
    free_tube(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives_agree_with_differences),
        cmocka_unit_test(derivatives_of_bases_do_too),
        cmocka_unit_test(curl_of_a_rotation_is_the_rotation),
        cmocka_unit_test(steps_go_down),
        cmocka_unit_test(terms_can_be_left_out),
        cmocka_unit_test(weights_weigh),
        cmocka_unit_test(rigid_motion_needs_no_turns),
        cmocka_unit_test(what_is_no_surface_is_left_alone),
        cmocka_unit_test(long_turns_are_shortened),
        cmocka_unit_test(turns_stay_within_their_limit),
        cmocka_unit_test(tasks_change_no_bit),
        cmocka_unit_test(running_out_of_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
