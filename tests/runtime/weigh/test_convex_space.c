/* Convex weighers described, with several databases, edited, wrongly defined, with failing memory, and stored. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/weigh/weigher.h"
#include "support/check.h"
#include "support/failing_allocator.h"
#include "support/spaces.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS = 8, FORM = 10, ROOM = KEYS + 3 };

static const double stiffness[KEYS] = {2, 0, 5, 0, 2, 0, 2, 5};
static const char *const names[KEYS] = {"stand", "sit", "wave", "jump"};

/* Forms, their products, and a space over the first `count` of them. Points into itself. */
typedef struct sample {
    ex_weigher_def def;
    ex_axis axes[2];
    double forms[ROOM][FORM], values[ROOM];
    double points[ROOM * (ROOM + 1)];
} sample;

static double product(const double *a, const double *b) {
    double sum = 0;
    for (int i = 0; i < FORM; i++)
        sum += a[i] * b[i];
    return sum;
}

/* The point of a form next to the first `count` of the sample's: products, and the value after or before them. */
static void place(const sample *s, int count, const double *form, double value, double *point) {
    const bool scalar = s->def.axis_count == 2, first = scalar && s->axes[0].kind == EX_AXIS_SCALAR;
    for (int i = 0; i < count; i++)
        point[first + i] = product(s->forms[i], form);
    if (scalar)
        point[first ? 0 : count] = value;
}

static void define(sample *s, int count) {
    const int driver = s->def.axis_count == 2 && s->axes[0].kind == EX_AXIS_SCALAR ? 1 : 0;
    s->axes[driver] = ex_axis_driver(count);
    s->def.axes = s->axes;
    s->def.example_count = count;
    for (int i = 0; i < count; i++)
        place(s, count, s->forms[i], s->values[i], s->points + i * (count + s->def.axis_count - 1));
    s->def.points = s->points;
}

static void open_sample(sample *s, bool scalar, bool scalar_first) {
    uint64_t random = 21;
    memset(s, 0, sizeof *s);
    for (int i = 0; i < ROOM * FORM; i++)
        s->forms[i / FORM][i % FORM] = random_between(&random, -1, 1);
    memcpy(s->values, stiffness, sizeof stiffness);
    s->def = ex_weigher_def_default();
    s->def.kind = EX_WEIGHER_CONVEX;
    s->def.axis_count = scalar ? 2 : 1;
    s->axes[scalar_first ? 1 : 0] = ex_axis_driver(KEYS);
    if (scalar)
        s->axes[scalar_first ? 0 : 1] = ex_axis_scalar(0, 5, 2);
    define(s, KEYS);
}

/* ---- databases ---- */

/* Each database alone, as a separate space. */
static void weigh_alone(const sample *s, double value, const double *form, double *weights) {
    sample t;
    int of[KEYS], count = 0;
    open_sample(&t, false, false);
    for (int i = 0; i < KEYS; i++)
        if (s->values[i] == value) {
            memcpy(t.forms[count], s->forms[i], sizeof t.forms[0]);
            of[count++] = i;
        }
    define(&t, count);
    ex_weigher *weigher = weigher_of(&t.def);
    double point[KEYS], own[KEYS];
    place(&t, count, form, 0, point);
    ex_weigher_evaluate(weigher, point, own);
    memset(weights, 0, KEYS * sizeof *weights);
    for (int i = 0; i < count; i++)
        weights[of[i]] = own[i];
    ex_weigher_destroy(weigher);
}

static void between_databases(void **state) {
    (void)state;
    for (int first = 0; first < 2; first++) {
        sample s;
        open_sample(&s, true, first);
        ex_weigher *weigher = weigher_of(&s.def);
        assert_int_equal(ex_weigher_dimension(weigher), KEYS + 1);
        const double *form = s.forms[KEYS + 1];
        double bases[3][KEYS], point[KEYS + 1], weights[KEYS], expected[KEYS];
        static const double at[3] = {0, 2, 5};
        static const struct {
            double value;
            int low, high;
            double part;
        } cases[] = {{0, 0, 0, 0}, {2, 1, 1, 0},   {5, 2, 2, 0},       {-3, 0, 0, 0},
                     {9, 2, 2, 0}, {1, 0, 1, 0.5}, {2.75, 1, 2, 0.25}, {NAN, 1, 1, 0}};
        void *scratch = malloc(ex_weigher_scratch_size(weigher)), *kept = calloc(1, ex_weigher_state_size(weigher));
        for (int i = 0; i < 3; i++)
            weigh_alone(&s, at[i], form, bases[i]);
        for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
            for (int i = 0; i < KEYS; i++)
                expected[i] = (1 - cases[c].part) * bases[cases[c].low][i] + cases[c].part * bases[cases[c].high][i];
            place(&s, KEYS, form, cases[c].value, point);
            ex_weigher_evaluate(weigher, point, weights);
            assert_row_near(weights, expected, KEYS, 1e-12);
            ex_weigher_evaluate_from(weigher, point, weights, kept, scratch);
            assert_row_near(weights, expected, KEYS, 1e-12);
        }
        ex_weigher_evaluate(weigher, NULL, weights); /* the first form, at the middle database, which holds it */
        assert_row_near(weights, ((double[KEYS]){1}), KEYS, 0);
        for (int i = 0; i < KEYS; i++) { /* keys are reached in their database */
            ex_weigher_evaluate(weigher, ex_weigher_point(weigher, i), weights);
            for (int j = 0; j < KEYS; j++)
                assert_near(weights[j], i == j, 1e-12);
        }
        free(scratch);
        free(kept);
        ex_weigher_destroy(weigher);
    }
}

/* The distance of a blend of two databases counts products across them too. */
static void distance_from_any_blend(void **state) {
    (void)state;
    sample s;
    open_sample(&s, true, false);
    ex_weigher *weigher = weigher_of(&s.def);
    double point[KEYS + 1], weights[KEYS], blend[FORM] = {0}, expected = 0;
    const double *form = s.forms[KEYS + 2];
    place(&s, KEYS, form, 3.5, point);
    ex_weigher_evaluate(weigher, point, weights);
    for (int k = 0; k < KEYS; k++)
        for (int i = 0; i < FORM; i++)
            blend[i] += weights[k] * s.forms[k][i];
    for (int i = 0; i < FORM; i++)
        expected += (blend[i] - form[i]) * (blend[i] - form[i]);
    assert_near(ex_weigher_hull_distance_sq(weigher, point, product(form, form), weights), expected, 1e-14);
    ex_weigher_destroy(weigher);
}

static void others_have_no_state(void **state) {
    (void)state;
    static sample_space space;
    sample_space_scalars(&space, 2, 6, 1);
    ex_weigher *weigher = weigher_of(&space.def);
    double weights[6], from[6], point[2] = {0.3, 0.4};
    assert_int_equal(ex_weigher_state_size(weigher), 0);
    assert_int_equal(ex_weigher_scratch_size(weigher), 0);
    ex_weigher_evaluate(weigher, point, weights);
    ex_weigher_evaluate_from(weigher, point, from, NULL, NULL);
    assert_row_near(from, weights, 6, 0);
    assert_near(ex_weigher_hull_distance_sq(weigher, point, 1, weights), 0, 0);
    ex_weigher_destroy(weigher);
}

/* ---- describing and editing ---- */

static void assert_same_bytes(const ex_weigher *a, const ex_weigher *b) {
    assert_int_equal(a->size, b->size);
    assert_memory_equal(a, b, (size_t)a->size);
}

static void a_description_makes_the_same(void **state) {
    (void)state;
    sample s;
    open_sample(&s, true, true);
    s.def.ridge = 1e-7;
    ex_weigher *weigher = weigher_of(&s.def);
    ex_weigher_def def;
    ex_axis axes[2];
    ex_weigher_describe(weigher, &def, axes, NULL);
    assert_int_equal(ex_axis_width(&axes[1]), KEYS);
    assert_true(def.ridge == 1e-7);
    ex_weigher *again = weigher_of(&def);
    assert_same_bytes(weigher, again);
    ex_weigher_destroy(weigher);
    ex_weigher_destroy(again);
}

/* Adds, moves and removes, against the space defined at once. */
static void edits_are_definitions(void **state) {
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        sample s, t;
        open_sample(&s, kind > 0, kind > 1);
        ex_weigher *weigher = weigher_of(&s.def);
        double added[ROOM + 1], moved[ROOM + 1];
        memcpy(&t, &s, sizeof t);
        t.values[KEYS] = 7;
        place(&t, KEYS + 1, t.forms[KEYS], 7, added);
        memcpy(t.forms[2], t.forms[KEYS + 1], sizeof t.forms[2]);
        t.values[2] = 3;
        place(&t, KEYS + 1, t.forms[2], 3, moved);
        const ex_edit edits[] = {{.kind = EX_EDIT_ADD_EXAMPLE, .at = added},
                                 {.kind = EX_EDIT_MOVE_EXAMPLE, .index = 2, .at = moved},
                                 {.kind = EX_EDIT_REMOVE_EXAMPLE, .index = 0},
                                 {.kind = EX_EDIT_REMOVE_EXAMPLE, .index = 3}};
        /* The added one's products with the old third form are no longer used: its row was replaced. */
        memmove(t.forms[0], t.forms[1], KEYS * sizeof t.forms[0]);
        memmove(t.values, t.values + 1, KEYS * sizeof *t.values);
        memmove(t.forms[3], t.forms[4], (KEYS - 4) * sizeof t.forms[0]);
        memmove(t.values + 3, t.values + 4, (KEYS - 4) * sizeof *t.values);
        t.def.axes = t.axes;
        t.def.points = t.points;
        define(&t, KEYS - 1);
        ex_weigher *edited = NULL, *defined = weigher_of(&t.def);
        ex_error error;
        assert_int_equal(ex_weigher_edit(weigher, edits, 4, NULL, &edited, &error), EX_OK);
        assert_same_bytes(edited, defined);
        ex_weigher_destroy(edited);
        ex_weigher_destroy(defined);
        ex_weigher_destroy(weigher);
    }
}

static void wrong_edits(void **state) {
    (void)state;
    sample s;
    open_sample(&s, false, false);
    ex_weigher *weigher = weigher_of(&s.def), *edited = NULL;
    const double nan[KEYS + 1] = {NAN};
    const struct {
        ex_edit edit;
        ex_result result;
        const char *word;
    } cases[] = {
        {{.kind = EX_EDIT_MOVE_EXAMPLE, .index = KEYS, .at = nan}, EX_ERROR_ARGUMENT, "no example 8"},
        {{.kind = EX_EDIT_REMOVE_EXAMPLE, .index = -1}, EX_ERROR_ARGUMENT, "no example -1"},
        {{.kind = EX_EDIT_MOVE_EXAMPLE}, EX_ERROR_ARGUMENT, "no place"},
        {{.kind = EX_EDIT_ADD_PSEUDO, .at = nan, .weights = nan}, EX_ERROR_ARGUMENT, "pseudo-examples"},
        {{.kind = EX_EDIT_FALLOFF, .falloff = nan}, EX_ERROR_ARGUMENT, "falloffs"},
        {{.kind = (ex_edit_kind)99}, EX_ERROR_ARGUMENT, "99"},
        {{.kind = EX_EDIT_ADD_EXAMPLE, .at = nan}, EX_ERROR_DATA, "not finite"},
        {{.kind = EX_EDIT_MOVE_EXAMPLE, .index = 1, .at = (double[KEYS]){1, -1}}, EX_ERROR_DATA, "not a square"},
        {{.kind = EX_EDIT_MOVE_EXAMPLE, .index = 1, .at = (double[KEYS]){100, 1}}, EX_ERROR_DATA, "semi-definite"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ex_error error = {0};
        assert_int_equal(ex_weigher_edit(weigher, &cases[i].edit, 1, NULL, &edited, &error), cases[i].result);
        assert_sentence(&error, cases[i].result, cases[i].word);
        assert_null(edited);
    }
    ex_weigher_destroy(weigher);
    define(&s, 1);
    weigher = weigher_of(&s.def);
    ex_error error = {0};
    assert_int_equal(ex_weigher_edit(weigher, &(ex_edit){.kind = EX_EDIT_REMOVE_EXAMPLE}, 1, NULL, &edited, &error),
                     EX_ERROR_ARGUMENT);
    assert_sentence(&error, EX_ERROR_ARGUMENT, "last example");
    ex_weigher_destroy(weigher);
}

/* ---- errors ---- */

static void expect_refusal(const ex_weigher_def *def, ex_result result, const char *word) {
    ex_weigher *weigher = NULL;
    ex_error error = {0};
    assert_int_equal(ex_weigher_create(def, NULL, &weigher, &error), result);
    assert_sentence(&error, result, word);
    assert_null(weigher);
}

static void wrong_definitions(void **state) {
    (void)state;
    sample s;
    open_sample(&s, true, false);
    s.def.names = names;
    ex_weigher_def def = s.def;
    ex_axis axes[3] = {s.axes[0], s.axes[1], s.axes[1]};
    def.axes = axes;
    def.axis_count = 3;
    expect_refusal(&def, EX_ERROR_ARGUMENT, "one scalar axis");
    def.axis_count = 2;
    axes[1] = ex_axis_rotation(EX_AXIS_ROTATION, NULL);
    expect_refusal(&def, EX_ERROR_ARGUMENT, "one scalar axis");
    axes[1] = ex_axis_driver(KEYS);
    expect_refusal(&def, EX_ERROR_ARGUMENT, "one driver axis");
    axes[0] = axes[1] = s.axes[1];
    expect_refusal(&def, EX_ERROR_ARGUMENT, "one driver axis");
    axes[0] = ex_axis_driver(KEYS + 1);
    expect_refusal(&def, EX_ERROR_ARGUMENT, "9 numbers");
    axes[0] = ex_axis_driver(EX_CONVEX_MAX + 1);
    expect_refusal(&def, EX_ERROR_ARGUMENT, "1025 examples");
    axes[0] = ex_axis_driver(0);
    expect_refusal(&def, EX_ERROR_ARGUMENT, "0 examples");
    def = s.def;
    def.kind = EX_WEIGHER_CARDINAL;
    expect_refusal(&def, EX_ERROR_ARGUMENT, "convex");
    def = s.def;
    def.ridge = -1;
    expect_refusal(&def, EX_ERROR_ARGUMENT, "ridge");
    def.ridge = NAN;
    expect_refusal(&def, EX_ERROR_ARGUMENT, "ridge");
    def = s.def;
    def.pseudo_count = 1;
    def.pseudos = &(ex_pseudo){.at = s.points, .from = s.points};
    expect_refusal(&def, EX_ERROR_ARGUMENT, "pseudo-examples");
    const int width = KEYS + 1;
    const double kept = s.points[2 * width + 3];
    s.points[2 * width + 3] = NAN;
    expect_refusal(&s.def, EX_ERROR_DATA, "'wave'");
    s.points[2 * width + 3] = kept + 1e-3;
    expect_refusal(&s.def, EX_ERROR_DATA, "'jump' and example 'wave'");
    s.points[2 * width + 3] = s.points[3 * width + 2] = 10 * s.points[2 * width + 2] * s.points[3 * width + 3];
    expect_refusal(&s.def, EX_ERROR_DATA, "'jump'");
    s.points[2 * width + 3] = s.points[3 * width + 2] = kept;
    s.points[2 * width + 2] = 1e250;
    expect_refusal(&s.def, EX_ERROR_DATA, "too large");
}

static ex_result create_and_edit(void *context, const ex_allocator *allocator) {
    const sample *s = context;
    ex_weigher *weigher = NULL, *edited = NULL;
    ex_error error;
    ex_result result = ex_weigher_create(&s->def, allocator, &weigher, &error);
    if (result == EX_OK)
        result = ex_weigher_edit(weigher, &(ex_edit){.kind = EX_EDIT_REMOVE_EXAMPLE}, 1, allocator, &edited, &error);
    ex_weigher_destroy(weigher);
    ex_weigher_destroy(edited);
    return result;
}

static void memory_runs_out(void **state) {
    (void)state;
    sample s;
    open_sample(&s, true, false);
    assert_true(failing_allocator_sweep(create_and_edit, &s) >= 4);
}

/* ---- stored ---- */

/* Any number of the kind's own tables changed: refused, or evaluated without access outside. */
static void stored_tables(void **state) {
    (void)state;
    sample s;
    open_sample(&s, true, false);
    ex_weigher *weigher = weigher_of(&s.def);
    const size_t size = (size_t)weigher->size;
    assert_int_equal(exi_weigher_validate(weigher, size, NULL), EX_OK);
    ex_weigher *copy = malloc(size);
    assert_non_null(copy);
    static const double changes[] = {0, -1, 0.5, 1, 3, 1000, 1e300, -1e300, NAN};
    int refused = 0, tried = 0;
    for (size_t at = weigher->own; at < size; at += sizeof(double))
        for (size_t c = 0; c < sizeof changes / sizeof *changes; c++) {
            memcpy(copy, weigher, size);
            memcpy((char *)copy + at, &changes[c], sizeof(double));
            tried++;
            if (exi_weigher_validate(copy, size, NULL) != EX_OK) {
                refused++;
                continue;
            }
            double weights[KEYS], point[KEYS + 1];
            place(&s, KEYS, s.forms[KEYS], 1 + (double)c / 2, point);
            uint32_t kept[8] = {255, 255};
            assert_true(ex_weigher_state_size(copy) <= sizeof kept);
            ex_weigher_evaluate_from(copy, point, weights, kept, NULL);
        }
    assert_true(refused > tried / 10 && refused < tried);
    for (int field = 1; field < 5; field++) { /* of the second database: first, size, matrix, word */
        memcpy(copy, weigher, size);
        exi_table_mut(copy, copy->own)[1 + 5 + field] += 1;
        assert_int_equal(exi_weigher_validate(copy, size, NULL), EX_ERROR_DATA);
    }
    static const double no_example[] = {-1, KEYS, 0.5, NAN};
    for (int i = 0; i < KEYS; i++)
        for (int c = 0; c < 4; c++) {
            memcpy(copy, weigher, size);
            exi_table_mut(copy, copy->own)[1 + 5 * KEYS + i] = no_example[c];
            assert_int_equal(exi_weigher_validate(copy, size, NULL), EX_ERROR_DATA);
        }
    memcpy(copy, weigher, size);
    copy->example_count = EX_CONVEX_MAX + 1;
    assert_int_equal(exi_weigher_validate(copy, size, NULL), EX_ERROR_DATA);
    memcpy(copy, weigher, size);
    ((exi_axis_record *)(void *)exi_table_mut(copy, copy->axes))[0].max = KEYS + 1; /* the driver's width */
    assert_int_equal(exi_weigher_validate(copy, size, NULL), EX_ERROR_DATA);
    free(copy);
    ex_weigher_destroy(weigher);
}

/* A database of one example is valid. */
static void one_example_is_a_database(void **state) {
    (void)state;
    sample s;
    open_sample(&s, true, false);
    s.values[2] = 1;
    define(&s, KEYS);
    ex_weigher *weigher = weigher_of(&s.def);
    assert_int_equal(exi_weigher_validate(weigher, (size_t)weigher->size, NULL), EX_OK);
    double weights[KEYS], point[KEYS + 1];
    place(&s, KEYS, s.forms[KEYS], 1, point);
    ex_weigher_evaluate(weigher, point, weights);
    for (int i = 0; i < KEYS; i++)
        assert_true(weights[i] == (i == 2));
    ex_weigher_destroy(weigher);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(between_databases),     cmocka_unit_test(distance_from_any_blend),
        cmocka_unit_test(others_have_no_state),  cmocka_unit_test(a_description_makes_the_same),
        cmocka_unit_test(edits_are_definitions), cmocka_unit_test(wrong_edits),
        cmocka_unit_test(wrong_definitions),     cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(stored_tables),         cmocka_unit_test(one_example_is_a_database),
    };
    return cmocka_run_group_tests_name("runtime.weigh.convex_space", tests, NULL, NULL);
}
