/*
 * Mixtures: exact at every corner, as rigid as the rigid forms between them and far more than straight lines, smooth
 * across the border of the simplex, the same numbers with any threads; small meshes, many examples, failing memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "author/trajectory/mixture/mixture.h"
#include "support/bars.h"
#include "support/fail_alloc.h"

enum { MOST = 1200 /* numbers of a form */, EXAMPLES = 3 };

/* A bar, and bends of it about two axes. */
typedef struct bends {
    bent_bar bar;
    double forms[EXAMPLES][MOST];
    const double *examples[EXAMPLES];
    ex_trajectories_def def;
    ex_betweens *betweens;
    ex_mixture mixture;
    exi_mixer *mixer;
    double ratios[4];
} bends;

static void bend(bends *b, int example, double degrees, double about) {
    const double axis[3] = {1, 0, 0}, origin[3] = {0, 0, 0};
    double points[MOST];
    bent_bar turned = b->bar;
    bar_bend(&b->bar, 6, degrees, points);
    turned.points = points;
    bar_screw(&turned, axis, origin, about, 0, b->forms[example]);
    b->examples[example] = b->forms[example];
}

static ex_betweens *must_open(const ex_trajectories_def *def) {
    const ex_betweens_def several = {.vertex_count = def->vertex_count,
                                     .triangle_count = def->triangle_count,
                                     .triangles = def->triangles,
                                     .reference = def->reference,
                                     .example_count = def->example_count,
                                     .examples = def->examples};
    ex_betweens *made;
    ex_error error;
    if (ex_betweens_create(&several, &made, &error) != EX_OK)
        fail_msg("%s", error.text);
    return made;
}

static const float overlaps[EXAMPLES * EXAMPLES] = {1, 0.8F, 0.7F, 0.8F, 1, 0.6F, 0.7F, 0.6F, 1};

static void open_mixer(bends *b) {
    const double *aligned[EXAMPLES] = {NULL};
    for (int k = 0; k < b->def.example_count; k++)
        aligned[k] = b->betweens->items[k] ? b->betweens->items[k]->aligned : NULL;
    const exi_mixer_def def = {.mixture = &b->mixture,
                               .vertex_count = b->def.vertex_count,
                               .example_count = b->def.example_count,
                               .reference = b->def.reference,
                               .examples = aligned,
                               .overlaps = b->def.example_count == EXAMPLES ? overlaps : NULL};
    assert_true(exi_mixer_create(&def, &b->mixer));
}

static void open_bends(bends *b, int pieces, int count) {
    ex_error error;
    memset(b, 0, sizeof *b);
    b->bar = bar_make(pieces, 6, 0, 0);
    assert_true(3 * b->bar.vertex_count <= MOST);
    bend(b, 0, 80, 0);
    bend(b, 1, 100, 90);
    bend(b, 2, 60, 200);
    b->def = (ex_trajectories_def){.vertex_count = b->bar.vertex_count,
                                   .triangle_count = b->bar.triangle_count,
                                   .triangles = b->bar.triangles,
                                   .reference = b->bar.points,
                                   .example_count = count,
                                   .examples = b->examples,
                                   .options = ex_trajectory_options_default()};
    b->betweens = must_open(&b->def);
    if (exi_mixture_fit(&b->def, b->betweens, &b->mixture, b->ratios, &error) != EX_OK)
        fail_msg("%s", error.text);
    open_mixer(b);
}

static void close_bends(bends *b) {
    exi_mixer_destroy(b->mixer);
    exi_mixture_release(&b->mixture);
    ex_betweens_destroy(b->betweens);
    bar_free(&b->bar);
}

/* The form without its screw. */
static void form_at(const bends *b, const double *weights, double *form) {
    double counted[EXAMPLES], correctors[EX_MIXTURE_CORRECTOR_MAX], shares[EXAMPLES + 1];
    double *work = malloc(exi_mixer_work_size(b->mixer) * sizeof *work);
    assert_non_null(work);
    exi_mixer_weigh(b->mixer, weights, counted, correctors, shares);
    exi_mixer_form(b->mixer, counted, form, work);
    for (int j = 0; j < b->mixture.corrector_count; j++)
        for (int i = 0; i < 3 * b->def.vertex_count; i++)
            form[i] += correctors[j] * (double)b->mixture.correctors[j][i];
    free(work);
}

static double farthest(const double *a, const double *b, int count) {
    double most = 0;
    for (int i = 0; i < count; i++)
        most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

static void corners_are_exact(void **state) {
    (void)state;
    bends b;
    open_bends(&b, 24, 3);
    for (int corner = 0; corner <= 3; corner++) {
        double weights[EXAMPLES] = {0}, form[MOST];
        if (corner > 0)
            weights[corner - 1] = 1;
        form_at(&b, weights, form);
        const double *wanted = corner > 0 ? b.betweens->items[corner - 1]->aligned : b.bar.points;
        assert_true(farthest(form, wanted, 3 * b.bar.vertex_count) < 1e-9);
    }
    close_bends(&b);
}

/* Percentiles of stretch, up to 99 of 100, of the mixture, the rigid form and straight lines. */
static void measure(const bends *b, const double *weights, double *own, double *rigid, double *linear) {
    double form[MOST], work_form[MOST];
    exi_mixed mixed;
    ex_stretch stretch;
    assert_true(exi_mixed_create(b->betweens, &mixed));
    exi_mixed_set(b->betweens, weights, &mixed);
    mixed.between.screw = (ex_screw){{0}, {0}};
    double *work = malloc(exi_between_work_size(&mixed.between) * sizeof *work);
    assert_non_null(work);
    form_at(b, weights, form);
    assert_int_equal(ex_between_stretch(&mixed.between, 1, form, &stretch, NULL, NULL), EX_OK);
    assert_int_equal(stretch.flipped, 0);
    *own = stretch.percentiles[2];
    exi_between_rigid(&mixed.between, 1, 60, work_form, work);
    assert_int_equal(ex_between_stretch(&mixed.between, 1, work_form, &stretch, NULL, NULL), EX_OK);
    *rigid = stretch.percentiles[2];
    assert_int_equal(ex_between_stretch(&mixed.between, 1, mixed.between.aligned, &stretch, NULL, NULL), EX_OK);
    *linear = stretch.percentiles[2];
    free(work);
    exi_mixed_release(&mixed);
}

static void mixtures_are_rigid(void **state) {
    (void)state;
    static const double weights[][EXAMPLES] = {
        {1.0 / 3, 1.0 / 3, 1.0 / 3}, {0.5, 0.5, 0}, {0, 0.5, 0.5},     {0.25, 0.25, 0.25}, {0.9, 0.1, 0},
        {0.07, 0.13, 0.41},          {0.6, 0, 0.3}, {0.2, 0.45, 0.11}, {0, 0.35, 0}};
    bends b;
    open_bends(&b, 24, 3);
    assert_true(b.mixture.corrector_count > 0);
    for (size_t i = 0; i < sizeof weights / sizeof *weights; i++) {
        double own, rigid, linear;
        measure(&b, weights[i], &own, &rigid, &linear);
        if (!(own <= 2 * rigid + 0.002 && own <= linear / 3))
            fail_msg("mixture %d: %g, rigid %g, linear %g", (int)i, own, rigid, linear);
    }
    close_bends(&b);
}

static void two_forms_are_rigid(void **state) {
    (void)state;
    bends b;
    open_bends(&b, 24, 1);
    for (int t = 1; t < 20; t++) {
        const double weight = t / 20.0;
        double own, rigid, linear;
        measure(&b, &weight, &own, &rigid, &linear);
        if (!(own <= 2 * rigid + 0.002 && own <= linear / 3))
            fail_msg("at %g: %g, rigid %g, linear %g", weight, own, rigid, linear);
    }
    close_bends(&b);
}

/* Slopes on either side of a point where the weights leave the simplex agree, and nothing runs away beyond it. */
static void borders_are_smooth(void **state) {
    (void)state;
    static const double points[][EXAMPLES] = {{0.5, 0.5, 0}, {0, 0.4, 0.2}, {0.3, 0.3, 0.4},
                                              {1, 0, 0},     {1.4, 0, 0},   {0, 1.3, 1.2}};
    static const double ways[][EXAMPLES] = {{1, 0.5, 0.2}, {-1, 0.2, 0.1}, {0.7, 0.3, 0.2}, {0.3, 0.4, 0.1}};
    const double step = 1e-4;
    bends b;
    open_bends(&b, 24, 3);
    for (size_t p = 0; p < sizeof points / sizeof *points; p++)
        for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
            double forms[5][MOST], most = 0, jump = 0;
            for (int s = -2; s <= 2; s++) {
                double weights[EXAMPLES];
                for (int k = 0; k < EXAMPLES; k++)
                    weights[k] = points[p][k] + s * step * ways[w][k];
                form_at(&b, weights, forms[s + 2]);
            }
            for (int i = 0; i < 3 * b.bar.vertex_count; i++) {
                const double before = forms[2][i] - forms[1][i], after = forms[3][i] - forms[2][i];
                most = fmax(most, fabs(after));
                jump = fmax(jump, fabs(after - before));
            }
            assert_true(jump < 0.01 * most + 1e-9);
        }
    const double both[EXAMPLES] = {1, 1, 0}, below[EXAMPLES] = {-0.3, 0.8, 0.2};
    double form[MOST];
    form_at(&b, both, form);
    assert_true(farthest(form, b.bar.points, 3 * b.bar.vertex_count) < 12);
    form_at(&b, below, form);
    assert_true(farthest(form, b.bar.points, 3 * b.bar.vertex_count) < 12);
    close_bends(&b);
}

static void reversed(void *context, int count, int grain, ex_task_body body, void *of) {
    (void)context;
    for (int end = count; end > 0; end -= grain)
        body(of, end > grain ? end - grain : 0, end);
}

static void tasks_change_nothing(void **state) {
    (void)state;
    const ex_tasks tasks = {.run = reversed};
    bends b;
    ex_mixture other = {0};
    double ratios[4];
    open_bends(&b, 16, 2);
    b.def.tasks = &tasks;
    assert_int_equal(exi_mixture_fit(&b.def, b.betweens, &other, ratios, NULL), EX_OK);
    assert_int_equal(other.corrector_count, b.mixture.corrector_count);
    const size_t size = 3 * (size_t)b.bar.vertex_count * sizeof(float);
    for (int j = 0; j < other.corrector_count; j++)
        assert_memory_equal(other.correctors[j], b.mixture.correctors[j], size);
    exi_mixture_release(&other);
    close_bends(&b);
}

/* A single triangle, and a mesh without any. */
static void small_meshes_work(void **state) {
    (void)state;
    const double start[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0}, end[9] = {0, 0, 0, 0, 1, 0, -1, 0, 0};
    const double *examples[3] = {end, NULL, start};
    const int triangle[3] = {0, 1, 2};
    for (int i = 0; i < 4; i++) {
        const int triangles = i % 2, count = 2 + i / 2; /* the third is a second example to mix with */
        ex_trajectories_def def = {.vertex_count = 3,
                                   .triangle_count = triangles,
                                   .triangles = triangle,
                                   .reference = start,
                                   .example_count = count,
                                   .examples = examples,
                                   .options = ex_trajectory_options_default()};
        ex_betweens *betweens = must_open(&def);
        ex_mixture mixture = {0};
        double ratios[4];
        assert_int_equal(exi_mixture_fit(&def, betweens, &mixture, ratios, NULL), EX_OK);
        assert_int_equal(mixture.node_count, count == 2 ? 0 : 1);
        exi_mixture_release(&mixture);
        ex_betweens_destroy(betweens);
    }
}

/* Many examples: a bounded number of samples and terms, all corners among them. */
static void plans_are_bounded(void **state) {
    (void)state;
    enum { MANY = 40 };
    bent_bar bar = bar_make(4, 6, 0, 0);
    static double forms[MANY][MOST];
    const double *examples[MANY];
    for (int k = 0; k < MANY; k++) {
        bar_bend(&bar, 6, 3 * k + 3, forms[k]);
        examples[k] = k == 7 ? NULL : forms[k];
    }
    const ex_trajectories_def def = {.vertex_count = bar.vertex_count,
                                     .triangle_count = bar.triangle_count,
                                     .triangles = bar.triangles,
                                     .reference = forms[7],
                                     .example_count = MANY,
                                     .examples = examples};
    ex_betweens *betweens = must_open(&def);
    exi_plan plan;
    bool seen[MANY] = {false};
    assert_int_equal(exi_plan_create(betweens, &plan, NULL), EX_OK);
    assert_in_range(plan.sample_count, MANY, 400);
    assert_in_range(plan.term_count, MANY, EX_MIXTURE_TERM_MAX);
    for (int a = 0; a < plan.sample_count; a++) {
        double sum = 0;
        for (int k = 0; k < MANY; k++) {
            const double weight = plan.samples[a * MANY + k];
            assert_true(weight >= 0);
            seen[k] = seen[k] || weight > 0;
            sum += weight;
        }
        assert_true(sum <= 1 + 1e-12);
    }
    for (int k = 0; k < MANY; k++)
        assert_int_equal(seen[k], k != 7);
    for (int t = 0; t < plan.term_count; t++) {
        const ex_mixture_term *term = &plan.terms[t];
        assert_true(term->corners[0] < term->corners[1]);
        assert_true(term->corners[2] < 0 || term->corners[1] < term->corners[2]);
    }
    exi_plan_release(&plan);
    ex_betweens_destroy(betweens);
    bar_free(&bar);
}

static ex_result fit_once(void *context) {
    bends *b = context;
    ex_mixture mixture = {0};
    double ratios[4];
    const ex_result result = exi_mixture_fit(&b->def, b->betweens, &mixture, ratios, NULL);
    exi_mixture_release(&mixture);
    return result;
}

static void survives_failing_memory(void **state) {
    (void)state;
    bends b;
    open_bends(&b, 4, 1);
    b.def.options.corrector_count = 1;
    assert_true(fail_alloc_sweep(fit_once, &b) > 30);
    close_bends(&b);
}

static bool stop(void *user, const char *stage, double fraction) {
    (void)stage;
    int *left = user;
    return fraction < 0.5 || (*left)-- > 0;
}

static void can_be_stopped(void **state) {
    (void)state;
    int left = 0;
    const ex_progress progress = {.report = stop, .user = &left};
    bends b;
    open_bends(&b, 4, 1);
    b.def.progress = &progress;
    assert_int_not_equal(fit_once(&b), EX_OK);
    close_bends(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(corners_are_exact),       cmocka_unit_test(mixtures_are_rigid),
        cmocka_unit_test(two_forms_are_rigid),     cmocka_unit_test(borders_are_smooth),
        cmocka_unit_test(tasks_change_nothing),    cmocka_unit_test(small_meshes_work),
        cmocka_unit_test(plans_are_bounded),       cmocka_unit_test(can_be_stopped),
        cmocka_unit_test(survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
