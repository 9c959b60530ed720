/*
 * Gaussian weighers described, edited, wrongly defined, with failing memory, and stored: falloffs, metrics and sets
 * follow the points, every mistake has its sentence, and bytes that no definition could have made are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/weigh/gaussian.h"
#include "support/check.h"
#include "support/failing_allocator.h"
#include "support/spaces.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* 33 examples: the removal of one, or an addition to 32, changes the words of a set. Two scalars and a rotation. */
enum { EXAMPLES = 33, PSEUDOS = 2, POINTS = EXAMPLES + PSEUDOS, SETS = 4, MOST = EXAMPLES + 2, AXES = 3, NUMBERS = 6 };

static const char *const names[EXAMPLES] = {"straight", "bent", "fat"};

/* Points into itself. */
typedef struct sample {
    ex_weigher_def def;
    ex_axis axes[AXES];
    double points[MOST][NUMBERS], at[PSEUDOS + 1][NUMBERS], from[NUMBERS];
    double given[MOST], falloffs[MOST + PSEUDOS + 1][AXES], metrics[MOST + PSEUDOS + 1][2][2];
    ex_pseudo pseudos[PSEUDOS + 1];
    uint32_t sets[SETS][2];
} sample;

static void strew(double *point, uint64_t *random) {
    const double angle = random_between(random, 0, 3);
    point[0] = random_between(random, 0, 10);
    point[1] = sin(angle);
    point[2] = point[3] = 0;
    point[4] = cos(angle);
    point[5] = random_between(random, 0, 10);
}

static void open_sample(sample *x) {
    uint64_t random = 140;
    memset(x, 0, sizeof *x);
    x->axes[0] = x->axes[2] = ex_axis_scalar(0, 10, 0);
    x->axes[1] = ex_axis_rotation(EX_AXIS_TWIST, (double[]){1, 0, 0});
    for (int i = 0; i < EXAMPLES; i++) {
        strew(x->points[i], &random);
        x->given[i] = random_between(&random, -1, 1);
    }
    for (int i = 0; i < PSEUDOS; i++)
        strew(x->at[i], &random);
    strew(x->from, &random);
    for (int i = 0; i < POINTS; i++) {
        for (int a = 0; a < AXES; a++)
            x->falloffs[i][a] = i % 5 == 4 ? 0 : random_between(&random, 0.1, 0.3);
        if (i % 4 == 2) {
            x->metrics[i][0][0] = random_between(&random, 20, 60);
            x->metrics[i][1][1] = random_between(&random, 20, 60);
            x->metrics[i][0][1] = x->metrics[i][1][0] = random_between(&random, -15, 15);
        }
    }
    x->pseudos[0] = (ex_pseudo){.at = x->at[0], .weights = x->given};
    x->pseudos[1] = (ex_pseudo){.at = x->at[1], .from = x->from};
    x->sets[0][0] = 0xF00F0071;
    x->sets[0][1] = 1;
    x->sets[1][0] = 1u << 7; /* alone */
    x->sets[2][1] = 1;       /* alone, the last one */
    x->sets[3][0] = 0x00FFFF00;
    x->def = ex_weigher_def_default();
    x->def.kind = EX_WEIGHER_GAUSSIAN;
    x->def.axes = x->axes;
    x->def.axis_count = AXES;
    x->def.example_count = EXAMPLES;
    x->def.pseudo_count = PSEUDOS;
    x->def.points = x->points[0];
    x->def.pseudos = x->pseudos;
    x->def.falloffs = x->falloffs[0];
    x->def.metrics = x->metrics[0][0];
    x->def.sets = x->sets[0];
    x->def.set_count = SETS;
}

/* To the bit, all of them. */
static void assert_same(const ex_weigher *a, const ex_weigher *b) {
    assert_int_equal(a->size, b->size);
    assert_memory_equal(a, b, (size_t)a->size);
}

static ex_weigher *edited_of(const ex_weigher *weigher, const ex_edit *edits, int count) {
    ex_weigher *edited = NULL;
    ex_error error = {0};
    if (ex_weigher_edit(weigher, edits, count, NULL, &edited, &error) != EX_OK)
        fail_msg("%s", error.text);
    return edited;
}

/* The edit of the sample against a newly made weigher. */
static void compare(const ex_edit *edit, const sample *after) {
    static sample before;
    open_sample(&before);
    ex_weigher *weigher = weigher_of(&before.def), *afresh = weigher_of(&after->def);
    ex_weigher *edited = edited_of(weigher, edit, 1);
    assert_same(afresh, edited);
    ex_weigher_destroy(weigher);
    ex_weigher_destroy(afresh);
    ex_weigher_destroy(edited);
}

static void describes_what_it_was_made_from(void **state) {
    (void)state;
    static sample x;
    open_sample(&x);
    ex_weigher *weigher = weigher_of(&x.def);
    ex_weigher_def def;
    ex_axis axes[AXES];
    ex_pseudo pseudos[PSEUDOS];
    ex_weigher_describe(weigher, &def, axes, pseudos);
    assert_int_equal(def.kind, EX_WEIGHER_GAUSSIAN);
    assert_memory_equal(def.falloffs, x.falloffs, POINTS * sizeof x.falloffs[0]);
    assert_memory_equal(def.metrics, x.metrics, POINTS * sizeof x.metrics[0]);
    assert_int_equal(def.set_count, SETS);
    assert_memory_equal(def.sets, x.sets, sizeof x.sets);
    ex_weigher *again = weigher_of(&def), *unchanged = edited_of(weigher, NULL, 0);
    assert_same(weigher, again);
    assert_same(weigher, unchanged);
    ex_weigher_destroy(weigher);
    ex_weigher_destroy(again);
    ex_weigher_destroy(unchanged);
    x.def.metrics = NULL;
    x.def.sets = NULL;
    x.def.set_count = 0;
    x.def.falloffs = NULL;
    x.def.ridge = 0.01;
    weigher = weigher_of(&x.def);
    ex_weigher_describe(weigher, &def, axes, pseudos);
    assert_true(!def.metrics && !def.sets && def.set_count == 0 && def.ridge == 0.01);
    for (int i = 0; i < POINTS * AXES; i++)
        assert_true(def.falloffs[i] == 0);
    again = weigher_of(&def);
    assert_same(weigher, again);
    ex_weigher_destroy(weigher);
    ex_weigher_destroy(again);
}

static void examples_take_their_falloffs_along(void **state) {
    (void)state;
    static sample after;
    uint64_t random = 141;
    double place[NUMBERS], falloff[AXES] = {0.15, 0, 0.25};
    strew(place, &random);
    open_sample(&after);
    memcpy(after.points[3], place, sizeof place);
    compare(&(ex_edit){.kind = EX_EDIT_MOVE_EXAMPLE, .index = 3, .at = place}, &after);

    for (int given = 0; given < 2; given++) { /* between the examples and the pseudo-examples */
        open_sample(&after);
        memcpy(after.points[EXAMPLES], place, sizeof place);
        memmove(after.falloffs[EXAMPLES + 1], after.falloffs[EXAMPLES], PSEUDOS * sizeof after.falloffs[0]);
        memmove(after.metrics[EXAMPLES + 1], after.metrics[EXAMPLES], PSEUDOS * sizeof after.metrics[0]);
        memset(after.falloffs[EXAMPLES], 0, sizeof falloff);
        memset(after.metrics[EXAMPLES], 0, sizeof after.metrics[0]);
        if (given)
            memcpy(after.falloffs[EXAMPLES], falloff, sizeof falloff);
        after.def.example_count++;
        compare(&(ex_edit){.kind = EX_EDIT_ADD_EXAMPLE, .at = place, .falloff = given ? falloff : NULL}, &after);
    }

    static const int gone[] = {0, 7, 31, 32};
    for (int g = 0; g < 4; g++) {
        open_sample(&after);
        const int k = gone[g];
        double sum = 0, left = 0;
        for (int i = 0; i < EXAMPLES; i++)
            sum += after.given[i];
        left = sum - after.given[k];
        memmove(after.given + k, after.given + k + 1, (size_t)(MOST - 1 - k) * sizeof after.given[0]);
        for (int i = 0; i < EXAMPLES; i++)
            after.given[i] *= sum / left;
        memmove(after.points[k], after.points[k + 1], (size_t)(MOST - 1 - k) * sizeof after.points[0]);
        memmove(after.falloffs[k], after.falloffs[k + 1], (size_t)(POINTS - 1 - k) * sizeof after.falloffs[0]);
        memmove(after.metrics[k], after.metrics[k + 1], (size_t)(POINTS - 1 - k) * sizeof after.metrics[0]);
        uint32_t words[SETS];
        int left_sets = 0;
        for (int i = 0; i < SETS; i++) {
            const uint64_t bits = after.sets[i][0] | (uint64_t)after.sets[i][1] << 32, low = ((uint64_t)1 << k) - 1;
            words[left_sets] = (uint32_t)((bits & low) | (bits >> 1 & ~low));
            left_sets += words[left_sets] != 0;
        }
        assert_int_equal(left_sets, k == 7 || k == 32 ? SETS - 1 : SETS);
        after.def.sets = words;
        after.def.set_count = left_sets;
        after.def.example_count--;
        compare(&(ex_edit){.kind = EX_EDIT_REMOVE_EXAMPLE, .index = k}, &after);
    }
}

static void pseudo_examples_take_theirs_along(void **state) {
    (void)state;
    static sample after;
    uint64_t random = 142;
    double place[NUMBERS], falloff[AXES] = {0.15, 0.2, 0.25};
    strew(place, &random);
    open_sample(&after);
    after.pseudos[2] = (ex_pseudo){.at = place, .from = after.from};
    memcpy(after.falloffs[POINTS], falloff, sizeof falloff);
    after.def.pseudo_count++;
    compare(&(ex_edit){.kind = EX_EDIT_ADD_PSEUDO, .at = place, .from = after.from, .falloff = falloff}, &after);

    open_sample(&after);
    after.pseudos[0] = after.pseudos[1];
    memcpy(after.falloffs[EXAMPLES], after.falloffs[EXAMPLES + 1], sizeof falloff);
    memcpy(after.metrics[EXAMPLES], after.metrics[EXAMPLES + 1], sizeof after.metrics[0]);
    after.def.pseudo_count--;
    compare(&(ex_edit){.kind = EX_EDIT_REMOVE_PSEUDO, .index = 0}, &after);

    open_sample(&after);
    after.pseudos[0].at = place;
    compare(&(ex_edit){.kind = EX_EDIT_MOVE_PSEUDO, .index = 0, .at = place}, &after);
}

/* Its metric is removed with it, nobody else's. */
static void a_falloff_changes_alone(void **state) {
    (void)state;
    static sample after;
    static const double falloff[AXES] = {0.4, 0, 0.12};
    static const int points[] = {0, 2, EXAMPLES - 1, EXAMPLES, POINTS - 1};
    for (int i = 0; i < 5; i++) {
        open_sample(&after);
        memcpy(after.falloffs[points[i]], falloff, sizeof falloff);
        memset(after.metrics[points[i]], 0, sizeof after.metrics[0]);
        compare(&(ex_edit){.kind = EX_EDIT_FALLOFF, .index = points[i], .falloff = falloff}, &after);
    }
}

static void edits_follow_each_other(void **state) {
    (void)state;
    static sample x;
    uint64_t random = 143;
    double place[3][NUMBERS];
    static const double falloff[AXES] = {0.2, 0.3, 0.2};
    for (int i = 0; i < 3; i++)
        strew(place[i], &random);
    open_sample(&x);
    const ex_edit edits[] = {
        {.kind = EX_EDIT_REMOVE_EXAMPLE, .index = 7},
        {.kind = EX_EDIT_ADD_PSEUDO, .at = place[0], .from = place[1], .falloff = falloff},
        {.kind = EX_EDIT_ADD_EXAMPLE, .at = place[1]},
        {.kind = EX_EDIT_FALLOFF, .index = EXAMPLES, .falloff = falloff}, /* the first pseudo-example */
        {.kind = EX_EDIT_REMOVE_PSEUDO, .index = 1},
        {.kind = EX_EDIT_ADD_EXAMPLE, .at = place[2], .falloff = falloff},
        {.kind = EX_EDIT_REMOVE_EXAMPLE, .index = 0},
    };
    enum { COUNT = sizeof edits / sizeof *edits };
    ex_weigher *start = weigher_of(&x.def), *all = edited_of(start, edits, COUNT), *step = edited_of(start, NULL, 0);
    for (int i = 0; i < COUNT; i++) {
        ex_weigher *next = edited_of(step, &edits[i], 1);
        ex_weigher_destroy(step);
        step = next;
    }
    assert_same(step, all);
    ex_weigher_def def;
    ex_weigher_describe(all, &def, NULL, NULL);
    assert_int_equal(def.set_count, SETS - 1);
    ex_weigher_destroy(start);
    ex_weigher_destroy(all);
    ex_weigher_destroy(step);
}

static void wrong_edits_are_refused(void **state) {
    (void)state;
    static sample x;
    static const double bad[AXES] = {0.1, -1, 0.1};
    const struct {
        ex_edit edit;
        const char *word;
    } cases[] = {
        {{.kind = EX_EDIT_FALLOFF, .index = POINTS, .falloff = x.falloffs[0]}, "no point 35"},
        {{.kind = EX_EDIT_FALLOFF, .index = -1, .falloff = x.falloffs[0]}, "no point -1"},
        {{.kind = EX_EDIT_FALLOFF, .index = 1}, "no falloff"},
        {{.kind = EX_EDIT_FALLOFF, .index = 1, .falloff = bad}, "example 2: its falloff along axis 1 is -1"},
        {{.kind = (ex_edit_kind)(EX_EDIT_FALLOFF + 1), .at = x.at[0]}, "is not a kind of edit"},
    };
    open_sample(&x);
    ex_weigher *weigher = weigher_of(&x.def);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ex_weigher *edited = weigher;
        ex_error error = {0};
        assert_int_equal(ex_weigher_edit(weigher, &cases[i].edit, 1, NULL, &edited, &error), EX_ERROR_ARGUMENT);
        assert_null(edited);
        assert_sentence(&error, EX_ERROR_ARGUMENT, cases[i].word);
    }
    ex_weigher_destroy(weigher);
}

/* ---- mistakes ---- */

static void negative_falloff(sample *x) {
    x->falloffs[1][2] = -0.5;
}
static void tiny_falloff(sample *x) {
    x->falloffs[1][2] = 1e-200;
}
static void falloff_not_finite(sample *x) {
    x->falloffs[EXAMPLES + 1][0] = INFINITY;
}
static void falloff_not_a_number(sample *x) {
    x->falloffs[5][0] = NAN;
}
static void metric_not_finite(sample *x) {
    x->metrics[2][1][0] = NAN;
}
static void metric_not_symmetric(sample *x) {
    x->metrics[2][1][0] += 1;
}
static void metric_not_definite(sample *x) {
    x->metrics[2][1][0] = x->metrics[2][0][1] = 70;
}
static void metric_negative(sample *x) {
    x->metrics[1][1][1] = -1;
}
static void metric_flat(sample *x) {
    x->metrics[EXAMPLES][0][0] = 4;
}
static void negative_ridge(sample *x) {
    x->def.ridge = -1;
}
static void ridge_not_finite(sample *x) {
    x->def.ridge = INFINITY;
}
static void negative_sets(sample *x) {
    x->def.set_count = -1;
}
static void null_sets(sample *x) {
    x->def.sets = NULL;
}
static void empty_set(sample *x) {
    x->sets[1][0] = 0;
}
static void set_beyond_the_examples(sample *x) {
    x->sets[3][1] = 2;
}
static void one_place(sample *x) {
    memcpy(x->points[2], x->points[0], sizeof x->points[0]);
}

static const struct {
    void (*spoil)(sample *x);
    ex_result result;
    const char *words[2];
} mistakes[] = {
    {negative_falloff, EX_ERROR_ARGUMENT, {"'bent'", "axis 2 is -0.5"}},
    {tiny_falloff, EX_ERROR_ARGUMENT, {"'bent'", "above 0"}},
    {falloff_not_finite, EX_ERROR_DATA, {"pseudo-example 2", "axis 0"}},
    {falloff_not_a_number, EX_ERROR_DATA, {"example 6", "finite"}},
    {metric_not_finite, EX_ERROR_DATA, {"'fat'", "metric"}},
    {metric_not_symmetric, EX_ERROR_ARGUMENT, {"'fat'", "symmetric"}},
    {metric_not_definite, EX_ERROR_ARGUMENT, {"'fat'", "definite"}},
    {metric_negative, EX_ERROR_ARGUMENT, {"'bent'", "definite"}},
    {metric_flat, EX_ERROR_ARGUMENT, {"pseudo-example 1", "definite"}},
    {negative_ridge, EX_ERROR_ARGUMENT, {"ridge -1", "negative"}},
    {ridge_not_finite, EX_ERROR_ARGUMENT, {"ridge", "inf"}},
    {negative_sets, EX_ERROR_ARGUMENT, {"sets", "negative"}},
    {null_sets, EX_ERROR_ARGUMENT, {"sets", "missing"}},
    {empty_set, EX_ERROR_ARGUMENT, {"set 1", "empty"}},
    {set_beyond_the_examples, EX_ERROR_ARGUMENT, {"set 3", "33"}},
    {one_place, EX_ERROR_SINGULAR, {"'straight'", "'fat'"}},
};

static void every_mistake_has_its_sentence(void **state) {
    (void)state;
    static sample x;
    failing_allocator f;
    failing_allocator_open(&f);
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        open_sample(&x);
        x.def.names = names;
        mistakes[i].spoil(&x);
        ex_weigher *weigher = NULL;
        ex_error error = {0};
        assert_int_equal(ex_weigher_create(&x.def, &f.allocator, &weigher, &error), mistakes[i].result);
        assert_null(weigher);
        for (int k = 0; k < 2; k++)
            assert_sentence(&error, mistakes[i].result, mistakes[i].words[k]);
        assert_int_equal(ex_weigher_create(&x.def, &f.allocator, &weigher, NULL), mistakes[i].result);
        failing_allocator_close(&f);
    }
}

/* A given ridge can be wrong: here it is minus the one negative eigenvalue of Phi. */
static void a_ridge_that_makes_it_singular_is_told(void **state) {
    (void)state;
    static const double points[] = {0, 0.5, 0.97}, falloffs[] = {0.56, 1.3, 0.69};
    ex_axis axis = ex_axis_scalar(0, 1, 0);
    ex_weigher_def def = ex_weigher_def_default();
    def.kind = EX_WEIGHER_GAUSSIAN;
    def.axes = &axis;
    def.axis_count = 1;
    def.points = points;
    def.falloffs = falloffs;
    def.example_count = 3;
    def.ridge = 0.030933277248998144;
    ex_weigher *weigher = NULL;
    ex_error error = {0};
    assert_int_equal(ex_weigher_create(&def, NULL, &weigher, &error), EX_ERROR_SINGULAR);
    assert_sentence(&error, EX_ERROR_SINGULAR, "ridge of 0.0309");
    const uint32_t set = 7;
    def.sets = &set;
    def.set_count = 1;
    assert_int_equal(ex_weigher_create(&def, NULL, &weigher, &error), EX_ERROR_SINGULAR);
}

static ex_result create(void *context, const ex_allocator *allocator) {
    ex_weigher *weigher = NULL;
    ex_error error = {0};
    ex_result result = ex_weigher_create(context, allocator, &weigher, &error);
    assert_true((result == EX_OK) == (weigher != NULL));
    if (result != EX_OK)
        assert_sentence(&error, EX_ERROR_MEMORY, "memory");
    ex_weigher_destroy(weigher);
    return result;
}

static ex_result edit(void *context, const ex_allocator *allocator) {
    static const double falloff[AXES] = {0.2, 0.2, 0.2};
    const ex_edit edits[] = {{.kind = EX_EDIT_FALLOFF, .falloff = falloff}, {.kind = EX_EDIT_REMOVE_EXAMPLE}};
    ex_weigher *edited = NULL;
    ex_result result = ex_weigher_edit(context, edits, 2, allocator, &edited, NULL);
    ex_weigher_destroy(edited);
    return result;
}

static ex_result measure(void *context, const ex_allocator *allocator) {
    double condition = 0;
    return ex_weigher_condition(context, allocator, &condition, NULL);
}

static void memory_runs_out(void **state) {
    (void)state;
    static sample x;
    open_sample(&x);
    assert_int_equal(failing_allocator_sweep(create, &x.def), 5); /* block, scratch; for drawn rows: again, and a row */
    ex_weigher *weigher = weigher_of(&x.def);
    assert_int_equal(failing_allocator_sweep(edit, weigher), 6);
    assert_int_equal(failing_allocator_sweep(measure, weigher), 1);
    ex_weigher_destroy(weigher);
    failing_allocator f;
    failing_allocator_open(&f);
    assert_int_equal(ex_weigher_create(&x.def, &f.allocator, &weigher, NULL), EX_OK);
    assert_int_equal(f.live, 1);
    failing_allocator_arm(&f, 1); /* evaluation allocates nothing */
    double weights[EXAMPLES], set_weights[SETS * EXAMPLES];
    ex_weigher_evaluate_sets(weigher, x.points[3], weights, set_weights);
    assert_int_equal(f.made, 0);
    ex_weigher_destroy(weigher);
    failing_allocator_close(&f);
}

/* ---- stored ---- */

static uint32_t *words_of(ex_weigher *w) {
    return (uint32_t *)(void *)exi_table_mut(w, w->sets);
}
static void more_sets(ex_weigher *w) {
    w->set_count++;
}
static void no_sets_but_weights(ex_weigher *w) {
    w->set_count = 0;
}
static void negative_set_count(ex_weigher *w) {
    w->set_count = -1;
}
/* Counts with a matching layout: everything after the sets stays after them, and zeros come at the end. */
static void lay_out_again(ex_weigher *w) {
    const ex_weigher old = *w;
    assert_true(exi_weigher_layout(w));
    memmove((char *)w + w->points, (char *)w + old.points, (size_t)(old.size - old.points));
    memset((char *)w + old.points, 0, (size_t)(w->points - old.points));
}
static void more_set_weights(ex_weigher *w) {
    w->set_weight_count += 2;
    lay_out_again(w);
}
static void more_squares(ex_weigher *w) {
    w->set_square_count++;
    lay_out_again(w);
}
static void empty_set_that_adds_up(ex_weigher *w) { /* its example goes to the next one */
    words_of(w)[2] = 0;
    words_of(w)[4] |= 1u << 7;
    words_of(w)[SETS * 2 + 1] = 0;
    words_of(w)[SETS * 2 + 2] = 2;
    w->set_square_count += 2;
    lay_out_again(w);
}
static void huge_set_weights(ex_weigher *w) {
    w->set_weight_count = UINT64_MAX / 8;
}
static void other_squares(ex_weigher *w) {
    w->set_square_count++;
}
static void moved_member(ex_weigher *w) { /* the first example of the first set */
    words_of(w)[SETS * 2 + SETS] = 5;
}
static void member_far_outside(ex_weigher *w) {
    words_of(w)[SETS * 2 + SETS + 1] = 1u << 30;
}
static void other_size(ex_weigher *w) {
    words_of(w)[SETS * 2]++;
}
static void other_bits(ex_weigher *w) {
    words_of(w)[0] ^= 2;
}
static void swapped_bits(ex_weigher *w) { /* as many as before */
    words_of(w)[0] ^= 3;
}
static void bits_beyond(ex_weigher *w) {
    words_of(w)[1] |= 4;
}
static void emptied_set(ex_weigher *w) {
    words_of(w)[2] = 0;
}
static void blames_nobody(ex_weigher *w) {
    exi_gaussian_tables(w).record->point = POINTS;
}
static void blames_below(ex_weigher *w) {
    exi_gaussian_tables(w).record->point = -2;
}
static void blames_a_half(ex_weigher *w) {
    exi_gaussian_tables(w).record->point = 0.5;
}
static void no_metrics(ex_weigher *w) {
    w->flags = 0;
}
static void other_flags(ex_weigher *w) {
    w->flags |= EXI_WEIGHER_ANGULAR;
}
static void radial_not_finite(ex_weigher *w) {
    exi_gaussian_tables(w).set_radial[3] = NAN;
}
static void other_kind(ex_weigher *w) {
    w->kind = EX_WEIGHER_CARDINAL;
    w->flags = 0;
}
static void ridge_spoilt(ex_weigher *w) {
    w->ridge = NAN;
}

static void hostile_bytes_are_refused(void **state) {
    (void)state;
    static void (*const spoils[])(ex_weigher * w) = {
        more_squares,       empty_set_that_adds_up,
        more_sets,          no_sets_but_weights,
        negative_set_count, more_set_weights,
        huge_set_weights,   other_squares,
        moved_member,       member_far_outside,
        other_size,         other_bits,
        swapped_bits,       bits_beyond,
        emptied_set,        blames_nobody,
        blames_below,       blames_a_half,
        no_metrics,         other_flags,
        radial_not_finite,  other_kind,
        ridge_spoilt,
    };
    static sample x;
    open_sample(&x);
    ex_weigher *weigher = weigher_of(&x.def);
    const size_t size = (size_t)weigher->size;
    ex_weigher *copy = calloc(1, size + 4096);
    assert_non_null(copy);
    assert_int_equal(exi_weigher_validate(weigher, size, NULL), EX_OK);
    for (size_t i = 0; i < sizeof spoils / sizeof *spoils; i++) {
        memcpy(copy, weigher, size);
        spoils[i](copy);
        ex_error error = {0};
        if (exi_weigher_validate(copy, (size_t)copy->size <= size + 4096 ? (size_t)copy->size : size, &error) == EX_OK)
            fail_msg("case %zu passes", i);
        assert_string_equal(error.text, "a stored space is damaged");
    }
    /* Any bytes that pass can be evaluated, described and queried. */
    uint64_t random = 144;
    for (int i = 0; i < 3000; i++) {
        memcpy(copy, weigher, size);
        const size_t at = sizeof *copy + random_bits(&random) % (size - sizeof *copy);
        ((unsigned char *)copy)[at] ^= (unsigned char)(1u << random_bits(&random) % 8);
        if (exi_weigher_validate(copy, size, NULL) != EX_OK)
            continue;
        double weights[EXAMPLES], set_weights[SETS * EXAMPLES];
        ex_weigher_evaluate_sets(copy, x.points[i % EXAMPLES], weights, set_weights);
        ex_weigher_evaluate(copy, NULL, weights);
        const ex_ridge ridge = ex_weigher_get_ridge(copy);
        assert_true(ridge.point >= -1 && ridge.point < POINTS);
    }
    free(copy);
    ex_weigher_destroy(weigher);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(describes_what_it_was_made_from),
        cmocka_unit_test(examples_take_their_falloffs_along),
        cmocka_unit_test(pseudo_examples_take_theirs_along),
        cmocka_unit_test(a_falloff_changes_alone),
        cmocka_unit_test(edits_follow_each_other),
        cmocka_unit_test(wrong_edits_are_refused),
        cmocka_unit_test(every_mistake_has_its_sentence),
        cmocka_unit_test(a_ridge_that_makes_it_singular_is_told),
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(hostile_bytes_are_refused),
    };
    return cmocka_run_group_tests_name("runtime.weigh.gaussian_edit", tests, NULL, NULL);
}
