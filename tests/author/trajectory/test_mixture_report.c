/*
 * Mixtures of poses: which are chosen, numbers that agree with measuring each form alone, a bad mixture that is found
 * and good ones that are not, remedies, words, tasks, progress, memory.
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

enum { POSE_MOST = 14, NUMBERS = 600 };

/* Bends of a bar, whose trajectories are straight lines: they have no turns, no correctors and no alignment. */
typedef struct bends {
    bent_bar bar;
    double forms[POSE_MOST][NUMBERS];
    const double *examples[POSE_MOST];
    ex_trajectory lines[POSE_MOST];
    float overlaps[POSE_MOST * POSE_MOST];
    ex_trajectories_def def;
    ex_trajectories found;
} bends;

static void bends_open(bends *b, int pieces, const double *degrees, int count) {
    *b = (bends){.bar = bar_make(pieces, 4, 0, 0)};
    assert_true(3 * b->bar.vertex_count <= NUMBERS && count <= POSE_MOST);
    for (int k = 0; k < count; k++) {
        bar_bend(&b->bar, 4, degrees[k], b->forms[k]);
        b->examples[k] = b->forms[k];
    }
    for (int i = 0; i < count * count; i++)
        b->overlaps[i] = 1;
    b->def = (ex_trajectories_def){.vertex_count = b->bar.vertex_count,
                                   .triangle_count = b->bar.triangle_count,
                                   .triangles = b->bar.triangles,
                                   .reference = b->bar.points,
                                   .example_count = count,
                                   .examples = b->examples,
                                   .options = ex_trajectory_options_default()};
    b->found = (ex_trajectories){.example_count = count, .trajectories = b->lines, .overlaps = b->overlaps};
}

static ex_mixture_report *must_report(const bends *b, const ex_mixture_options *options) {
    ex_mixture_report *report;
    ex_error error;
    if (ex_mixture_report_create(&b->def, &b->found, options, &report, &error) != EX_OK)
        fail_msg("%s", error.text);
    return report;
}

/* ---- the choice ---- */

static int count_kind(const ex_mixture_report *report, ex_mixture_kind kind) {
    int count = 0;
    for (int i = 0; i < report->mixture_count; i++)
        count += report->mixtures[i].kind == kind;
    return count;
}

static int count_weight(const ex_mixture_report *report, ex_mixture_kind kind, int example, double weight) {
    int count = 0;
    for (int i = 0; i < report->mixture_count; i++)
        count += report->mixtures[i].kind == kind && fabs(report->mixtures[i].weights[example] - weight) < 1e-12;
    return count;
}

/* All weights are shares of poses, and no two chosen mixtures are equal. */
static void check_shares(const ex_mixture_report *report) {
    const int n = report->example_count;
    for (int i = 0; i < report->mixture_count; i++) {
        const ex_measured_mixture *m = &report->mixtures[i];
        double sum = m->rest;
        assert_true(m->rest >= 0);
        for (int k = 0; k < n; k++) {
            assert_true(m->weights[k] >= 0);
            sum += m->weights[k];
        }
        assert_near(sum, 1, 1e-12);
        for (int j = 0; j < i && m->kind != EX_MIXTURE_RANDOM; j++)
            if (report->mixtures[j].kind != EX_MIXTURE_RANDOM) {
                double most = 0;
                for (int k = 0; k < n; k++)
                    most = fmax(most, fabs(m->weights[k] - report->mixtures[j].weights[k]));
                assert_true(most > 1e-6);
            }
    }
}

static void few_poses_are_measured_throughout(void **state) {
    (void)state;
    static const double times[11] = {0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95};
    const double degrees[4] = {30, 60, -40, 80};
    bends b;
    bends_open(&b, 2, degrees, 1);
    ex_mixture_report *report = must_report(&b, NULL);
    assert_int_equal(report->mixture_count, 11);
    assert_int_equal(report->candidate_count, 11);
    for (int i = 0; i < 11; i++)
        assert_int_equal(count_weight(report, EX_MIXTURE_PATH, 0, times[i]), 1);
    ex_mixture_report_destroy(report);
    bar_free(&b.bar);

    bends_open(&b, 2, degrees, 2); /* a third of each of three poses is an equal share of all */
    report = must_report(&b, NULL);
    check_shares(report);
    assert_int_equal(report->mixture_count, 3 * 11 + 1 + 20);
    ex_mixture_report_destroy(report);
    bar_free(&b.bar);

    bends_open(&b, 2, degrees, 4);
    report = must_report(&b, NULL);
    check_shares(report);
    assert_int_equal(count_kind(report, EX_MIXTURE_PATH), 4 * 11);
    assert_int_equal(count_kind(report, EX_MIXTURE_PAIR), 6 * 11);
    assert_int_equal(count_kind(report, EX_MIXTURE_THIRDS), 10);
    assert_int_equal(count_kind(report, EX_MIXTURE_ALL), 1);
    assert_int_equal(count_kind(report, EX_MIXTURE_RANDOM), 20);
    assert_int_equal(report->mixture_count, report->candidate_count);
    ex_mixture_report_destroy(report);

    b.examples[1] = NULL; /* the reference, given as an example */
    const ex_mixture_options none = {.random_count = 0};
    report = must_report(&b, &none);
    check_shares(report);
    assert_int_equal(report->mixture_count, 6 * 11 + 4 + 1);
    assert_int_equal(count_weight(report, EX_MIXTURE_PAIR, 1, 0), 3 * 11);
    ex_mixture_report_destroy(report);
    bar_free(&b.bar);
}

static void many_poses_are_thinned(void **state) {
    (void)state;
    double degrees[POSE_MOST];
    for (int k = 0; k < POSE_MOST; k++)
        degrees[k] = 10 * (k + 1);
    bends b;
    bends_open(&b, 1, degrees, POSE_MOST); /* 15 poses: 105 pairs, 455 triples */
    ex_mixture_options options = {.most = 120, .random_count = 9};
    ex_mixture_report *report = must_report(&b, &options), *again = must_report(&b, &options);
    check_shares(report);
    assert_int_equal(report->mixture_count, 120 + 1 + 9);
    assert_int_equal(report->candidate_count, 105 + 10 * 14 + 455 + 10 * 91 + 1 + 9);
    assert_int_equal(count_kind(report, EX_MIXTURE_THIRDS), 20);
    int middles = 0, early = 0;
    for (int i = 0; i < report->mixture_count; i++) {
        const ex_measured_mixture *m = &report->mixtures[i];
        assert_memory_equal(m->weights, again->mixtures[i].weights, POSE_MOST * sizeof *m->weights);
        for (int k = 0; k < POSE_MOST; k++) {
            middles += m->weights[k] == 0.5;
            early += m->kind == EX_MIXTURE_PATH && m->weights[k] == 0.9;
        }
    }
    assert_true(middles > 40); /* 40 midpoints; those of two examples count twice */
    assert_int_equal(early, 14);
    ex_mixture_report_destroy(report);
    ex_mixture_report_destroy(again);
    bar_free(&b.bar);
}

/* ---- different parts ---- */

/* Mixtures of two whole examples. */
static int count_together(const ex_mixture_report *report) {
    int count = 0;
    for (int i = 0; i < report->mixture_count; i++) {
        const ex_measured_mixture *m = &report->mixtures[i];
        int ones = 0;
        for (int k = 0; k < report->example_count; k++)
            ones += m->weights[k] == 1;
        count += ones == 2 && m->rest == -1 && m->kind == EX_MIXTURE_PAIR;
    }
    return count;
}

static void different_parts_are_moved_at_once(void **state) {
    (void)state;
    const double degrees[4] = {30, 60, -40, 80};
    const ex_mixture_options none = {.random_count = 0};
    bends b;
    bends_open(&b, 2, degrees, 4);
    b.overlaps[4 * 0 + 1] = 0.05F;
    b.overlaps[4 * 1 + 0] = 0.09F;
    b.overlaps[4 * 2 + 3] = 0.02F; /* the other moves much of the first's part */
    b.overlaps[4 * 3 + 2] = 0.4F;
    ex_mixture_report *report = must_report(&b, &none);
    assert_int_equal(count_together(report), 1);
    assert_int_equal(report->mixture_count, report->candidate_count);
    for (int i = 0; i < report->mixture_count; i++)
        if (report->mixtures[i].rest < 0)
            assert_true(report->mixtures[i].weights[0] == 1 && report->mixtures[i].weights[1] == 1);
    ex_mixture_report_destroy(report);
    bar_free(&b.bar);

    double many[POSE_MOST];
    for (int k = 0; k < POSE_MOST; k++)
        many[k] = 5 * (k + 1);
    bends_open(&b, 1, many, POSE_MOST);
    for (int i = 0; i < POSE_MOST * POSE_MOST; i++)
        b.overlaps[i] = i % (POSE_MOST + 1) == 0;
    const ex_mixture_options few = {.most = 24, .random_count = 0};
    report = must_report(&b, &few);
    assert_int_equal(count_together(report), 10); /* of 91 */
    assert_int_equal(report->mixture_count, 24 + 10 + 1);
    uint64_t seen = 0; /* spread over the examples */
    for (int i = 0; i < report->mixture_count; i++)
        for (int k = 0; k < POSE_MOST; k++)
            if (report->mixtures[i].rest < 0 && report->mixtures[i].weights[k] == 1)
                seen |= (uint64_t)1 << k;
    int examples = 0;
    for (int k = 0; k < POSE_MOST; k++)
        examples += (int)(seen >> k & 1);
    assert_true(examples >= 8);
    ex_mixture_report_destroy(report);
    bar_free(&b.bar);
}

/* A bar of length 24 whose ends bend to arcs: the part beyond x = 22 by one angle, the part before x = 2 by the other.
 */
static void bend_ends(const bent_bar *bar, double far, double near, double *points) {
    for (int v = 0; v < bar->vertex_count; v++) {
        const double *from = bar->points + 3 * v;
        double *to = points + 3 * v;
        const double side = from[0] > 12 ? 1 : -1, angle = from[0] > 12 ? far : near, x = fabs(from[0] - 12);
        const double s = fmax(0, x - 10), a = angle * s / 2, r = angle == 0 ? 0 : 2 / angle;
        to[0] = 12 + side * (fmin(x, 10) + (angle == 0 ? s : r * sin(a)) - from[1] * sin(a));
        to[1] = r * (1 - cos(a)) + from[1] * cos(a);
        to[2] = from[2];
    }
}

static void both_motions_happen(void **state) {
    (void)state;
    bent_bar bar = bar_make(48, 24, 0, 0);
    const size_t numbers = 3 * (size_t)bar.vertex_count;
    double *forms[4]; /* one end, the other, both, and the mixture */
    for (int i = 0; i < 4; i++)
        forms[i] = malloc(numbers * sizeof *forms[i]);
    bend_ends(&bar, 1.2, 0, forms[0]);
    bend_ends(&bar, 0, 1.4, forms[1]);
    bend_ends(&bar, 1.2, 1.4, forms[2]);
    const double *const examples[2] = {forms[0], forms[1]};
    const ex_trajectories_def def = {.vertex_count = bar.vertex_count,
                                     .triangle_count = bar.triangle_count,
                                     .triangles = bar.triangles,
                                     .reference = bar.points,
                                     .example_count = 2,
                                     .examples = examples,
                                     .options = ex_trajectory_options_default()};
    ex_trajectories *found = NULL;
    ex_mixture_report *report = NULL;
    ex_error error;
    if (ex_trajectories_create(&def, &found, &error) != EX_OK ||
        ex_mixture_report_create(&def, found, NULL, &report, &error) != EX_OK)
        fail_msg("%s", error.text);
    assert_true((double)found->overlaps[1] < 0.1 && (double)found->overlaps[2] < 0.1);
    assert_int_equal(count_together(report), 1);
    for (int i = 0; i < report->mixture_count; i++)
        if (report->mixtures[i].rest < 0)
            assert_true(report->mixtures[i].path.percentiles[2] < 0.02 &&
                        report->mixtures[i].rigid.percentiles[2] < 0.001);
    /* Correctors of halves are not faded completely there. If that shows, each example wants its own layer. */
    assert_true(report->mixtures[report->worst].rest >= 0 || report->remedy == EX_MIXTURE_TO_LAYERS);
    assert_true(ex_trajectories_form(found, &def, (const double[]){1, 1}, -1, forms[3]));
    double most = 0;
    for (size_t i = 0; i < numbers; i++)
        most = fmax(most, fabs(forms[3][i] - forms[2][i]));
    assert_true(most < 0.03); /* of a length of 24 */
    ex_mixture_report_destroy(report);
    ex_trajectories_destroy(found);
    for (int i = 0; i < 4; i++)
        free(forms[i]);
    bar_free(&bar);
}

/* ---- the numbers ---- */

static void numbers_are_those_of_the_forms(void **state) {
    (void)state;
    const double degrees[2] = {140, -60};
    bends b;
    bends_open(&b, 8, degrees, 2);
    ex_mixture_report *report = must_report(&b, NULL);
    ex_betweens *betweens;
    const ex_betweens_def def = {.vertex_count = b.def.vertex_count,
                                 .triangle_count = b.def.triangle_count,
                                 .triangles = b.def.triangles,
                                 .reference = b.def.reference,
                                 .example_count = 2,
                                 .examples = b.examples};
    assert_int_equal(ex_betweens_create(&def, &betweens, NULL), EX_OK);
    double form[NUMBERS], last = INFINITY, *ratios = calloc((size_t)report->mixture_count, sizeof *ratios);
    assert_non_null(ratios);
    int weak = 0;
    for (int i = 0; i < report->mixture_count; i++) {
        const ex_measured_mixture *m = &report->mixtures[i];
        ex_stretch stretch;
        /* straight lines, by hand */
        for (int c = 0; c < 3 * b.def.vertex_count; c++)
            form[c] = m->rest * b.bar.points[c] + m->weights[0] * b.forms[0][c] + m->weights[1] * b.forms[1][c];
        assert_int_equal(ex_betweens_stretch(betweens, m->weights, form, &stretch, NULL, NULL), EX_OK);
        for (int p = 0; p < 4; p++)
            assert_near(m->path.percentiles[p], stretch.percentiles[p], 1e-9);
        assert_int_equal(ex_betweens_form(betweens, EX_BETWEEN_RIGID, m->weights, form, NULL), EX_OK);
        assert_int_equal(ex_betweens_stretch(betweens, m->weights, form, &stretch, NULL, NULL), EX_OK);
        assert_memory_equal(&m->rigid.percentiles, &stretch.percentiles, sizeof stretch.percentiles);
        assert_int_equal(ex_betweens_form(betweens, EX_BETWEEN_LINEAR, m->weights, form, NULL), EX_OK);
        assert_int_equal(ex_betweens_stretch(betweens, m->weights, form, &stretch, NULL, NULL), EX_OK);
        assert_memory_equal(&m->linear.percentiles, &stretch.percentiles, sizeof stretch.percentiles);
        assert_near(m->ratio, fmax(m->path.percentiles[2], 0.003) / fmax(m->rigid.percentiles[2], 0.003), 1e-12);
        assert_near(m->ratio_999, fmax(m->path.percentiles[3], 0.003) / fmax(m->rigid.percentiles[3], 0.003), 1e-12);
        assert_true(m->ratio <= last);
        ratios[i] = last = m->ratio;
        weak += ex_mixture_is_weak(m);
    }
    const int n = report->mixture_count;
    assert_near(report->median, (ratios[(n - 1) / 2] + ratios[n / 2]) / 2, 1e-12);
    assert_int_equal(report->weak_count, weak);
    free(ratios);
    ex_betweens_destroy(betweens);
    ex_mixture_report_destroy(report);
    bar_free(&b.bar);
}

/* ---- good and bad ---- */

static void bad_mixtures_are_found(void **state) {
    (void)state;
    const double degrees[2] = {4, 130};
    bends b;
    bends_open(&b, 8, degrees, 2);
    ex_mixture_report *report = must_report(&b, NULL);
    const ex_measured_mixture *worst = &report->mixtures[report->worst];
    assert_true(ex_mixture_is_weak(worst) && report->weak_count > 10);
    assert_true(worst->weights[1] > 0.3 && worst->weights[1] < 0.7); /* straight lines are worst half-way */
    assert_int_equal(report->remedy, EX_MIXTURE_TO_SCULPT);
    ex_mixture_report_destroy(report);
    bar_free(&b.bar);
}

static void good_mixtures_are_not(void **state) {
    (void)state;
    const double degrees[3] = {2, -2, 3}; /* straight lines stretch less than what can be seen */
    bends b;
    bends_open(&b, 8, degrees, 3);
    ex_mixture_report *report = must_report(&b, NULL);
    assert_int_equal(report->weak_count, 0);
    assert_int_equal(report->remedy, EX_MIXTURE_SOUND);
    assert_true(report->mixtures[0].path.percentiles[2] > 1.5 * report->mixtures[0].rigid.percentiles[2]);
    assert_near(report->mixtures[0].ratio, 1, 1e-12);
    ex_mixture_report_destroy(report);
    bar_free(&b.bar);
}

/* A path whose corrector is zero at the times of ex_warp_report and at both ends, and acts between them: its amount is
 * x times (x - 0.1) (x - 0.3) (x - 0.5) (x - 0.7) (x - 0.9) (1 - x). */
static void bad_points_between_samples_are_found(void **state) {
    (void)state;
    const double degrees[1] = {5}, zeros[5] = {-0.8, -0.4, 0, 0.4, 0.8};
    bends b;
    bends_open(&b, 8, degrees, 1);
    float values[NUMBERS], curve[EX_CURVE_SIZE] = {1};
    const float *correctors[1] = {values};
    for (int v = 0; v < b.def.vertex_count; v++)
        for (int i = 0; i < 3; i++)
            values[3 * v + i] = i == 1 ? 10 * (float)(v % 3 - 1) : 0;
    for (int i = 0; i < 5; i++)
        for (int j = i + 1; j >= 0; j--)
            curve[j] = (j > 0 ? curve[j - 1] : 0) - (float)zeros[i] * curve[j];
    b.lines[0] = (ex_trajectory){.corrector_count = 1, .correctors = correctors, .curves = curve};
    ex_mixture_report *report = must_report(&b, NULL);
    for (int i = 0; i < report->mixture_count; i++) {
        const ex_measured_mixture *m = &report->mixtures[i];
        const bool seen =
            fabs(fmod(m->weights[0] + 0.1, 0.2)) < 1e-9 || fabs(fmod(m->weights[0] + 0.1, 0.2)) > 0.2 - 1e-9;
        assert_int_equal(ex_mixture_is_weak(m), !seen);
    }
    assert_int_equal(report->weak_count, 6);
    ex_mixture_report_destroy(report);
    bar_free(&b.bar);
}

static void folds_count_too(void **state) {
    (void)state;
    ex_measured_mixture mixture = {.ratio = 1.9, .path.flipped = 5, .rigid.flipped = 2};
    assert_false(ex_mixture_is_weak(&mixture));
    mixture.path.flipped = 6;
    assert_true(ex_mixture_is_weak(&mixture));
    mixture.path.flipped = 0;
    mixture.ratio = 2.1;
    assert_true(ex_mixture_is_weak(&mixture));
}

static void remedies_suit_the_mixture(void **state) {
    (void)state;
    const double degrees[2] = {100, -100}, far[2] = {170, -170};
    bends b;
    bends_open(&b, 10, degrees, 2);
    ex_mixture_report *report = must_report(&b, NULL);
    assert_int_equal(report->remedy, EX_MIXTURE_TO_SCULPT);
    ex_mixture_report_destroy(report);
    const double half[2] = {0.5, 0.5}, path[2] = {0.5, 0};
    ex_mixture_options options = {.given = half, .given_count = 1};
    b.overlaps[1] = b.overlaps[2] = 0.1F; /* as if they moved different parts */
    report = must_report(&b, &options);
    assert_int_equal(report->remedy, EX_MIXTURE_TO_LAYERS);
    assert_near(report->turn, 100, 0.1); /* the ends turn by half of 200 degrees */
    ex_mixture_report_destroy(report);
    options.given = path;
    b.def.options.corrector_count = 2;
    report = must_report(&b, &options);
    assert_int_equal(report->remedy, EX_MIXTURE_TO_CORRECT);
    ex_mixture_report_destroy(report);
    b.def.options.mode = EX_TRAJECTORY_PAPER;
    report = must_report(&b, &options);
    assert_int_equal(report->remedy, EX_MIXTURE_TO_GUIDED);
    ex_mixture_report_destroy(report);
    bar_free(&b.bar);

    bends_open(&b, 10, far, 2);
    options.given = half;
    report = must_report(&b, &options);
    assert_int_equal(report->remedy, EX_MIXTURE_TO_BETWEEN);
    assert_int_equal(report->turned[0], 0);
    assert_int_equal(report->turned[1], 1);
    ex_mixture_report_destroy(report);
    bar_free(&b.bar);
}

/* ---- the rest ---- */

static void given_weights_are_measured(void **state) {
    (void)state;
    const double degrees[3] = {60, 60, -90}, given[2][3] = {{0.2, 0.7, 0.1}, {0.5, 0, 0.8}};
    bends b;
    bends_open(&b, 4, degrees, 3);
    b.examples[1] = NULL;
    const ex_mixture_options options = {.given = given[0], .given_count = 2, .random_count = 5};
    ex_mixture_report *report = must_report(&b, &options);
    assert_int_equal(report->mixture_count, 2);
    assert_int_equal(count_kind(report, EX_MIXTURE_GIVEN), 2);
    for (int i = 0; i < 2; i++) {
        const ex_measured_mixture *m = &report->mixtures[i];
        assert_near(m->weights[0], given[m->number][0], 0);
        assert_near(m->weights[1], 0, 0);
        assert_near(m->weights[2], given[m->number][2], 0);
        assert_near(m->rest, 1 - given[m->number][0] - given[m->number][2], 1e-15);
    }
    ex_mixture_report_destroy(report);
    bar_free(&b.bar);
}

static void forms_are_those_measured(void **state) {
    (void)state;
    const double degrees[2] = {90, -90}, weights[2] = {0.5, 0.25};
    bends b;
    bends_open(&b, 4, degrees, 2);
    double path[NUMBERS], rigid[NUMBERS], path_values[NUMBERS], rigid_values[NUMBERS], most[2] = {0, 0};
    assert_int_equal(ex_mixture_forms(&b.def, &b.found, weights, path, path_values, rigid, rigid_values, NULL), EX_OK);
    for (int i = 0; i < 3 * b.def.vertex_count; i++)
        assert_near(path[i], 0.25 * b.bar.points[i] + 0.5 * b.forms[0][i] + 0.25 * b.forms[1][i], 1e-12);
    for (int t = 0; t < b.def.triangle_count; t++) {
        most[0] = fmax(most[0], path_values[t]);
        most[1] = fmax(most[1], rigid_values[t]);
    }
    assert_true(most[0] > 2 * most[1]);
    bar_free(&b.bar);
}

static void mixtures_are_said_in_words(void **state) {
    (void)state;
    const double degrees[3] = {10, 20, 30}, some[3] = {0.5, 0, 0.2}, none[3] = {0, 0.25, 0.75},
                 thirds[3] = {1.0 / 3, 1.0 / 3, 0};
    const char *names[3] = {"kick", "leap", "sit"};
    char text[80], small[24], tiny[4];
    bends b;
    bends_open(&b, 1, degrees, 3);
    b.def.names = names;
    assert_string_equal(ex_mixture_words(&b.def, some, "stand", text, sizeof text), "0.5 kick + 0.2 sit + 0.3 stand");
    assert_string_equal(ex_mixture_words(&b.def, none, "stand", text, sizeof text), "0.25 leap + 0.75 sit");
    assert_string_equal(ex_mixture_words(&b.def, thirds, "stand", text, sizeof text),
                        "0.333 kick + 0.333 leap + 0.333 stand");
    assert_string_equal(ex_mixture_words(&b.def, none, "stand", small, sizeof small), "0.25 leap + \xE2\x80\xA6");
    assert_string_equal(ex_mixture_words(&b.def, none, "stand", tiny, sizeof tiny), "\xE2\x80\xA6");
    assert_string_equal(ex_mixture_words(&b.def, none, "stand", tiny, 3), "");
    b.def.names = NULL;
    assert_string_equal(ex_mixture_words(&b.def, some, NULL, text, sizeof text),
                        "0.5 example 1 + 0.2 example 3 + 0.3 reference");
    assert_string_equal(ex_mixture_kind_name(EX_MIXTURE_THIRDS), "thirds");
    assert_string_equal(ex_mixture_remedy_name(EX_MIXTURE_TO_LAYERS), "layers");
    bar_free(&b.bar);
}

static void run_backwards(void *user, int count, int grain, ex_task_body body, void *context) {
    (void)user;
    (void)grain;
    for (int i = count; i-- > 0;)
        body(context, i, i + 1);
}

static void tasks_change_nothing(void **state) {
    (void)state;
    const double degrees[3] = {60, -50, 110};
    const ex_tasks tasks = {run_backwards, NULL};
    bends b;
    bends_open(&b, 3, degrees, 3);
    ex_mixture_report *serial = must_report(&b, NULL);
    b.def.tasks = &tasks;
    ex_mixture_report *spread = must_report(&b, NULL);
    assert_int_equal(serial->mixture_count, spread->mixture_count);
    for (int i = 0; i < serial->mixture_count; i++) {
        assert_int_equal(serial->mixtures[i].number, spread->mixtures[i].number);
        assert_memory_equal(&serial->mixtures[i].path, &spread->mixtures[i].path, sizeof(ex_stretch));
    }
    ex_mixture_report_destroy(serial);
    ex_mixture_report_destroy(spread);
    bar_free(&b.bar);
}

typedef struct watch {
    double last;
    int count, most;
} watch;

static bool watch_report(void *user, const char *what, double fraction) {
    watch *seen = user;
    assert_non_null(what);
    assert_true(fraction >= seen->last && fraction <= 1);
    seen->last = fraction;
    return ++seen->count < seen->most;
}

static void progress_rises_and_stops(void **state) {
    (void)state;
    const double degrees[4] = {60, -50, 110, 20};
    watch seen = {.most = 1000};
    const ex_progress progress = {watch_report, &seen};
    ex_mixture_report *report;
    bends b;
    bends_open(&b, 1, degrees, 4);
    b.def.progress = &progress;
    ex_mixture_report_destroy(must_report(&b, NULL));
    assert_true(seen.count >= 8 && seen.last > 0.8);
    for (int most = 1; most < 6; most += 2) {
        seen = (watch){.most = most};
        assert_int_equal(ex_mixture_report_create(&b.def, &b.found, NULL, &report, NULL), EX_ERROR_FILE);
        assert_null(report);
        assert_int_equal(seen.count, most);
    }
    bar_free(&b.bar);
}

static ex_result report_once(void *context) {
    const bends *b = context;
    ex_mixture_report *report;
    const ex_mixture_options options = {.most = 3, .random_count = 1};
    ex_result result = ex_mixture_report_create(&b->def, &b->found, &options, &report, NULL);
    assert_int_equal(report != NULL, result == EX_OK);
    ex_mixture_report_destroy(report);
    return result;
}

static ex_result make_forms_once(void *context) {
    const bends *b = context;
    const double weights[2] = {0.5, 0.25};
    double path[NUMBERS], rigid[NUMBERS];
    return ex_mixture_forms(&b->def, &b->found, weights, path, NULL, rigid, NULL, NULL);
}

static void memory_runs_out(void **state) {
    (void)state;
    const double degrees[2] = {60, -50};
    bends b;
    bends_open(&b, 1, degrees, 2);
    assert_true(fail_alloc_sweep(report_once, &b) > 60);
    assert_true(fail_alloc_sweep(make_forms_once, &b) > 40);
    bar_free(&b.bar);
}

static void ignore_misuse(const char *function, const char *what) {
    (void)function;
    (void)what;
}

static void wrong_input_is_refused(void **state) {
    (void)state;
    const double degrees[1] = {60};
    const ex_mixture_options negative = {.random_count = -1};
    ex_mixture_report *report;
    ex_error error;
    bends b;
    bends_open(&b, 1, degrees, 1);
    ex_set_misuse_hook(ignore_misuse);
    assert_int_equal(ex_mixture_report_create(NULL, &b.found, NULL, &report, &error), EX_ERROR_ARGUMENT);
    assert_int_equal(ex_mixture_report_create(&b.def, NULL, NULL, &report, &error), EX_ERROR_ARGUMENT);
    assert_int_equal(ex_mixture_report_create(&b.def, &b.found, NULL, NULL, &error), EX_ERROR_ARGUMENT);
    assert_int_equal(ex_mixture_report_create(&b.def, &b.found, &negative, &report, &error), EX_ERROR_ARGUMENT);
    assert_null(report);
    ex_set_misuse_hook(NULL);
    b.examples[0] = NULL;
    assert_int_equal(ex_mixture_report_create(&b.def, &b.found, NULL, &report, &error), EX_ERROR_ARGUMENT);
    ex_mixture_report_destroy(NULL);
    bar_free(&b.bar);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_poses_are_measured_throughout),
        cmocka_unit_test(many_poses_are_thinned),
        cmocka_unit_test(different_parts_are_moved_at_once),
        cmocka_unit_test(both_motions_happen),
        cmocka_unit_test(numbers_are_those_of_the_forms),
        cmocka_unit_test(bad_mixtures_are_found),
        cmocka_unit_test(good_mixtures_are_not),
        cmocka_unit_test(bad_points_between_samples_are_found),
        cmocka_unit_test(folds_count_too),
        cmocka_unit_test(remedies_suit_the_mixture),
        cmocka_unit_test(given_weights_are_measured),
        cmocka_unit_test(forms_are_those_measured),
        cmocka_unit_test(mixtures_are_said_in_words),
        cmocka_unit_test(tasks_change_nothing),
        cmocka_unit_test(progress_rises_and_stops),
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(wrong_input_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
