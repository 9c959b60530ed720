/*
 * Segments and appended bases: a planar chain of four rigid links, whose positions are known at all times; segments
 * that are given, completely or in part; roots; trees; errors.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "author/trajectory/chains.h"
#include "author/trajectory/segments/segments.h"
#include "support/check.h"
#include "support/fail_alloc.h"

static ex_trajectories_def chain_definition(const chain *c, const double *const *examples) {
    ex_trajectories_def def = {.vertex_count = c->vertex_count,
                               .triangle_count = c->triangle_count,
                               .triangles = c->triangles,
                               .reference = c->places,
                               .example_count = 1,
                               .examples = examples,
                               .options = ex_trajectory_options_default()};
    def.options.mode = EX_TRAJECTORY_PAPER;
    def.options.bases = true;
    return def;
}

/* Largest distance of the trajectory from the chain, over eleven times. */
static double distance(const chain *c, const ex_trajectories_def *def, const ex_trajectories *made) {
    double form[3 * CHAIN_VERTICES], expected[3 * CHAIN_VERTICES], far = 0;
    for (int k = 0; k <= 10; k++) {
        double t = k / 10.0;
        chain_form(c, t, expected);
        assert_true(ex_trajectories_form(made, def, &t, -1, form));
        for (int i = 0; i < 3 * c->vertex_count; i++)
            far = fmax(far, fabs(form[i] - expected[i]));
    }
    return far;
}

static void chains_are_exact_with_bases_only(void **state) {
    (void)state;
    for (int shared = 0; shared < 2; shared++) {
        chain c = make_chain(shared);
        double end[3 * CHAIN_VERTICES];
        const double *examples[] = {end};
        ex_trajectories *made = NULL;
        chain_form(&c, 1, end);
        ex_trajectories_def def = chain_definition(&c, examples);
        def.options.root = 0; /* which does not move: seen from another link the chain is the same, its motion is not */
        assert_int_equal(ex_trajectories_create(&def, &made, NULL), EX_OK);
        assert_int_equal(made->segments.count, CHAIN_LINKS);
        for (int k = 0; k < CHAIN_LINKS; k++)
            assert_int_equal(made->segments.parents[k], k - 1);
        assert_memory_equal(made->triangle_segments, c.triangle_links, (size_t)c.triangle_count * sizeof(int));
        for (int k = 0; k < 6 * CHAIN_LINKS; k++) { /* w of the parent, w x (joint - joint of the parent) */
            static const double expected[] = {0, 0, 0.9, 0, 0.9 * 1.2, 0, 0, 0, -0.4, 0, -0.4 * 0.9, 0};
            assert_near(made->trajectories[0].bases[k], k < 12 ? 0 : expected[k - 12], 1e-6);
        }
        assert_true(distance(&c, &def, made) < 1e-6);
        ex_trajectories_destroy(made);
        def.options.bases = false;
        assert_int_equal(ex_trajectories_create(&def, &made, NULL), EX_OK);
        assert_int_equal(made->segments.count, 0);
        assert_null(made->trajectories[0].bases);
        assert_true(distance(&c, &def, made) > 0.05);
        ex_trajectories_destroy(made);
    }
}

/* For any small angle, places on the grid of rotations are ints; and progress rises over all examples. */
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

static void tiny_angles_and_progress(void **state) {
    (void)state;
    chain c = make_chain(true);
    double end[3 * CHAIN_VERTICES], half[3 * CHAIN_VERTICES];
    const double *examples[] = {end, half};
    watch seen = {0};
    const ex_progress progress = {watch_report, &seen}, silent = {0};
    ex_trajectories *made = NULL;
    chain_form(&c, 1, end);
    chain_form(&c, 0.5, half);
    ex_trajectories_def def = chain_definition(&c, examples);
    def.example_count = 2;
    def.options.segment_angle = 1e-12;
    def.progress = &silent;
    assert_int_equal(ex_trajectories_create(&def, &made, NULL), EX_OK);
    assert_true(made->segments.count >= CHAIN_LINKS);
    ex_trajectories_destroy(made);
    def.options.bases = false; /* with them no other motion is left */
    def.progress = &progress;
    assert_int_equal(ex_trajectories_create(&def, &made, NULL), EX_OK);
    assert_true(seen.count > 2 && seen.last > 0.5);
    ex_trajectories_destroy(made);
    def.options.segment_angle = NAN;
    assert_int_equal(ex_trajectories_create(&def, &made, NULL), EX_ERROR_ARGUMENT);
}

/* With any root, links stay rigid and hinges closed. */
static void any_root_keeps_links_rigid(void **state) {
    (void)state;
    chain c = make_chain(true);
    double end[3 * CHAIN_VERTICES], form[3 * CHAIN_VERTICES], half = 0.5;
    const double *examples[] = {end};
    chain_form(&c, 1, end);
    for (int root = -1; root < CHAIN_LINKS; root++) {
        ex_trajectories_def def = chain_definition(&c, examples);
        ex_trajectories *made = NULL;
        def.options.root = root;
        assert_int_equal(ex_trajectories_create(&def, &made, NULL), EX_OK);
        int top = root < 0 ? 1 : root; /* of the two in the middle, the larger */
        assert_int_equal(made->segments.parents[top], -1);
        assert_true(ex_trajectories_form(made, &def, &half, -1, form));
        for (int k = 0; k < 3 * c.triangle_count; k++) {
            int a = c.triangles[k], b = c.triangles[k % 3 == 2 ? k - 2 : k + 1];
            double before = 0, after = 0;
            for (int i = 0; i < 3; i++) {
                before += pow(c.places[3 * a + i] - c.places[3 * b + i], 2);
                after += pow(form[3 * a + i] - form[3 * b + i], 2);
            }
            assert_near(after, before, 1e-6);
        }
        ex_trajectories_destroy(made);
    }
}

/* Bases one at a time add up to all of them, next to the vertices' own pairs. */
static void bases_add_up(void **state) {
    (void)state;
    chain c = make_chain(false);
    double end[3 * CHAIN_VERTICES], form[3 * CHAIN_VERTICES], sum[3 * CHAIN_VERTICES] = {0}, t = 0.6;
    const double *examples[] = {end};
    ex_trajectories_def def = chain_definition(&c, examples);
    ex_trajectories *made = NULL;
    def.options.root = 0;
    chain_form(&c, 1, end);
    assert_int_equal(ex_trajectories_create(&def, &made, NULL), EX_OK);
    for (int basis = 0; basis <= CHAIN_LINKS; basis++) {
        assert_true(ex_trajectories_form(made, &def, &t, basis, form));
        for (int i = 0; i < 3 * c.vertex_count; i++)
            sum[i] += form[i] - c.places[i];
    }
    chain_form(&c, t, form);
    for (int i = 0; i < 3 * c.vertex_count; i++)
        assert_near(sum[i], form[i] - c.places[i], 1e-6);
    ex_trajectories_destroy(made);
}

/* Two examples share their segments: one that turns in only one of them is still a segment. */
static void examples_share_segments(void **state) {
    (void)state;
    chain c = make_chain(true);
    double first[3 * CHAIN_VERTICES], second[3 * CHAIN_VERTICES];
    const double *examples[] = {first, NULL, second};
    ex_trajectories_def def = chain_definition(&c, examples);
    ex_trajectories *made = NULL;
    chain_form(&c, 1, first);
    chain_form(&c, 0, second);
    for (int v = 0; v < c.vertex_count; v++) /* the last two links as one */
        if (c.links[v] >= 2) {
            double x = second[3 * v] - c.joints[2], y = second[3 * v + 1];
            second[3 * v] = c.joints[2] + cos(0.7) * x + sin(0.7) * y;
            second[3 * v + 1] = cos(0.7) * y - sin(0.7) * x;
        }
    def.example_count = 3;
    assert_int_equal(ex_trajectories_create(&def, &made, NULL), EX_OK);
    assert_int_equal(made->segments.count, CHAIN_LINKS);
    assert_null(made->trajectories[1].turns);
    assert_true(made->fits[1].converged);
    assert_non_null(made->trajectories[2].bases);
    ex_trajectories_destroy(made);
}

/* ---- given segments ---- */

static void given_segments_replace_and_correct(void **state) {
    (void)state;
    chain c = make_chain(true);
    double end[3 * CHAIN_VERTICES];
    int given[CHAIN_TRIANGLES];
    const double *examples[] = {end};
    chain_form(&c, 1, end);
    ex_trajectories_def def = chain_definition(&c, examples);
    ex_trajectories *made = NULL;
    def.options.segments = given;
    for (int t = 0; t < c.triangle_count; t++) /* all of them: two segments, numbered against the chain */
        given[t] = c.triangle_links[t] < 2;
    assert_int_equal(ex_trajectories_create(&def, &made, NULL), EX_OK);
    assert_int_equal(made->segments.count, 2);
    assert_memory_equal(made->triangle_segments, given, (size_t)c.triangle_count * sizeof(int));
    ex_trajectories_destroy(made);
    for (int t = 0; t < c.triangle_count; t++) /* the last two links are one, the others are found */
        given[t] = c.triangle_links[t] >= 2 ? 0 : -1;
    assert_int_equal(ex_trajectories_create(&def, &made, NULL), EX_OK);
    assert_int_equal(made->segments.count, 3);
    for (int t = 0; t < c.triangle_count; t++)
        assert_int_equal(made->triangle_segments[t], c.triangle_links[t] >= 2 ? 0 : 1 + c.triangle_links[t]);
    ex_trajectories_destroy(made);
}

/* A part that is too small to be found is kept if it is given. */
static void a_small_given_segment_stays(void **state) {
    (void)state;
    tube t = make_tube(21, 12, 0, 1);
    const double *examples[] = {t.end};
    ex_trajectories_def def = tube_definition(&t, examples);
    ex_trajectories *made = NULL;
    int *given = calloc((size_t)t.triangle_count, sizeof *given);
    for (int i = 0; i < t.triangle_count; i++)
        given[i] = i == 100 ? 0 : -1;
    def.options.bases = true;
    def.options.segments = given;
    assert_int_equal(ex_trajectories_create(&def, &made, NULL), EX_OK);
    assert_int_equal(made->segments.count, 2);
    for (int i = 0; i < t.triangle_count; i++)
        assert_int_equal(made->triangle_segments[i], i == 100 ? 0 : 1);
    ex_trajectories_destroy(made);
    free(given);
    free_tube(&t);
}

/* An angle that is larger than any difference finds one segment. */
static void a_wide_angle_finds_one(void **state) {
    (void)state;
    chain c = make_chain(true);
    double end[3 * CHAIN_VERTICES];
    const double *examples[] = {end};
    chain_form(&c, 1, end);
    ex_trajectories_def def = chain_definition(&c, examples);
    ex_trajectories *made = NULL;
    def.options.segment_angle = 180;
    assert_int_equal(ex_trajectories_create(&def, &made, NULL), EX_OK);
    assert_int_equal(made->segments.count, 1);
    assert_int_equal(made->segments.parents[0], -1);
    ex_trajectories_destroy(made);
}

static void what_cannot_be_is_told(void **state) {
    (void)state;
    chain c = make_chain(true);
    double end[3 * CHAIN_VERTICES];
    const double *examples[] = {end};
    static const struct {
        int given, root;
        ex_result result;
        const char *word;
    } cases[] = {
        {2, -1, EX_ERROR_DATA, "gaps"},              /* no triangle in 0 and 1 */
        {EX_SEGMENT_MAX, -1, EX_ERROR_DATA, "1023"}, /* above the limit */
        {-2, -1, EX_ERROR_DATA, "-2"},
        {0, 5, EX_ERROR_ARGUMENT, "root"},
    };
    chain_form(&c, 1, end);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        int given[CHAIN_TRIANGLES];
        ex_trajectories_def def = chain_definition(&c, examples);
        ex_trajectories *made = NULL;
        ex_error error;
        for (int t = 0; t < c.triangle_count; t++)
            given[t] = cases[k].given;
        def.options.segments = given;
        def.options.root = cases[k].root;
        assert_int_equal(ex_trajectories_create(&def, &made, &error), cases[k].result);
        assert_null(made);
        assert_sentence(&error, cases[k].result, cases[k].word);
    }
}

typedef struct attempt {
    exi_segments_input in;
} attempt;

static ex_result find_once(void *context) {
    exi_segmentation s;
    ex_result result = exi_segments_find(&((attempt *)context)->in, &s, NULL);
    exi_segments_free(&s);
    return result;
}

static void running_out_of_memory_is_told(void **state) {
    (void)state;
    chain c = make_chain(false);
    double end[3 * CHAIN_VERTICES];
    ex_between *between = NULL;
    ex_trajectory_options options = ex_trajectory_options_default();
    chain_form(&c, 1, end);
    ex_between_def def = {.vertex_count = c.vertex_count,
                          .triangle_count = c.triangle_count,
                          .triangles = c.triangles,
                          .start = c.places,
                          .end = end};
    assert_int_equal(ex_between_create(&def, &between, NULL), EX_OK);
    attempt a = {.in = {.options = &options, .example_count = 1, .betweens = &between, .any = between}};
    assert_true(fail_alloc_sweep(find_once, &a) > 20);
    ex_between_destroy(between);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains_are_exact_with_bases_only), cmocka_unit_test(tiny_angles_and_progress),
        cmocka_unit_test(any_root_keeps_links_rigid),       cmocka_unit_test(bases_add_up),
        cmocka_unit_test(examples_share_segments),          cmocka_unit_test(given_segments_replace_and_correct),
        cmocka_unit_test(a_small_given_segment_stays),      cmocka_unit_test(a_wide_angle_finds_one),
        cmocka_unit_test(what_cannot_be_is_told),           cmocka_unit_test(running_out_of_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
