/*
 * Editing a space gives, bit for bit, the weigher of its new definition; the old one is unchanged. And a weigher's own
 * description makes the same weigher again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/check.h"
#include "support/spaces.h"

#include <math.h>
#include <string.h>

enum { EXAMPLES = 7, PROBES = 60 };

static void open_space(sample_space *s) {
    sample_space_mixed(s, EXAMPLES, 60);
    uint64_t random = 61;
    double at[SPACE_NUMBERS], from[SPACE_NUMBERS];
    for (int i = 0; i < 2; i++) {
        sample_space_point(s, 1, &random, at);
        sample_space_point(s, 1, &random, from);
        sample_space_add_pseudo(s, at, from);
    }
}

/* Same counts, places and weights to the bit, inside and outside. */
static void assert_same(const ex_weigher *a, const ex_weigher *b, const sample_space *s) {
    const int examples = ex_weigher_example_count(a), pseudos = ex_weigher_pseudo_count(a);
    assert_int_equal(ex_weigher_get_kind(b), ex_weigher_get_kind(a));
    assert_int_equal(ex_weigher_example_count(b), examples);
    assert_int_equal(ex_weigher_pseudo_count(b), pseudos);
    assert_int_equal(ex_weigher_dimension(b), ex_weigher_dimension(a));
    const size_t point_size = (size_t)s->dimension * sizeof(double);
    for (int i = 0; i < examples + pseudos; i++)
        assert_memory_equal(ex_weigher_point(a, i), ex_weigher_point(b, i), point_size);
    uint64_t random = 62;
    for (int i = 0; i < PROBES; i++) {
        double point[SPACE_NUMBERS], one[SPACE_POINTS], other[SPACE_POINTS];
        sample_space_point(s, i % 2 ? 1 : 30, &random, point);
        ex_weigher_evaluate(a, point, one);
        ex_weigher_evaluate(b, point, other);
        assert_memory_equal(one, other, (size_t)examples * sizeof *one);
    }
}

static ex_weigher *edited_of(const ex_weigher *weigher, const ex_edit *edits, int count) {
    ex_weigher *edited = NULL;
    ex_error error = {0};
    if (ex_weigher_edit(weigher, edits, count, NULL, &edited, &error) != EX_OK)
        fail_msg("%s", error.text);
    return edited;
}

/* The edit of the old space against a weigher made from the expected space; all kinds. */
static void compare(const sample_space *before, const ex_edit *edits, int count, const sample_space *after) {
    static const ex_weigher_kind kinds[] = {EX_WEIGHER_CARDINAL, EX_WEIGHER_SHEPARD, EX_WEIGHER_NEAREST,
                                            EX_WEIGHER_GAUSSIAN};
    for (int kind = 0; kind < 4; kind++)
        for (int kernel = 0; kernel < (kind == 0 ? EX_KERNEL_COUNT : 1); kernel++) {
            ex_weigher_def old_def = before->def, new_def = after->def;
            old_def.kind = new_def.kind = kinds[kind];
            old_def.kernel = new_def.kernel = (ex_kernel)kernel;
            old_def.power = new_def.power = 3;
            old_def.neighbours = new_def.neighbours = 4;
            ex_weigher *weigher = weigher_of(&old_def), *same = weigher_of(&old_def);
            ex_weigher *edited = edited_of(weigher, edits, count), *afresh = weigher_of(&new_def);
            assert_same(afresh, edited, before);
            assert_same(same, weigher, before); /* the old one has not changed */
            ex_weigher_destroy(weigher);
            ex_weigher_destroy(same);
            ex_weigher_destroy(edited);
            ex_weigher_destroy(afresh);
        }
}

static double place[SPACE_NUMBERS], source[SPACE_NUMBERS];

static int choose_places(void **state) {
    (void)state;
    sample_space s;
    open_space(&s);
    uint64_t random = 63;
    sample_space_point(&s, 1, &random, place);
    sample_space_point(&s, 1, &random, source);
    return 0;
}

static void examples_move_come_and_go(void **state) {
    (void)state;
    sample_space before, after;
    open_space(&before);
    const size_t size = (size_t)before.dimension * sizeof(double);
    open_space(&after);
    memcpy(after.points + 3 * after.dimension, place, size);
    compare(&before, &(ex_edit){.kind = EX_EDIT_MOVE_EXAMPLE, .index = 3, .at = place}, 1, &after);

    open_space(&after);
    memcpy(after.points + EXAMPLES * after.dimension, place, size);
    after.def.example_count++;
    compare(&before, &(ex_edit){.kind = EX_EDIT_ADD_EXAMPLE, .at = place}, 1, &after);

    for (int gone = 0; gone < EXAMPLES; gone++) {
        open_space(&after);
        memmove(after.points + gone * after.dimension, after.points + (gone + 1) * after.dimension,
                (size_t)(EXAMPLES - 1 - gone) * size);
        after.def.example_count--;
        compare(&before, &(ex_edit){.kind = EX_EDIT_REMOVE_EXAMPLE, .index = gone}, 1, &after);
    }
}

static void pseudo_examples_move_come_and_go(void **state) {
    (void)state;
    sample_space before, after;
    open_space(&before);
    const size_t size = (size_t)before.dimension * sizeof(double);
    open_space(&after);
    memcpy(after.at + after.dimension, place, size);
    compare(&before, &(ex_edit){.kind = EX_EDIT_MOVE_PSEUDO, .index = 1, .at = place}, 1, &after);

    memcpy(after.from + after.dimension, source, size);
    compare(&before, &(ex_edit){.kind = EX_EDIT_MOVE_PSEUDO, .index = 1, .at = place, .from = source}, 1, &after);

    static const double row[EXAMPLES] = {0.5, 0.5, 0, 0, 1, -1, 0};
    open_space(&after);
    after.pseudos[0] = (ex_pseudo){.at = place, .weights = row};
    compare(&before, &(ex_edit){.kind = EX_EDIT_MOVE_PSEUDO, .index = 0, .at = place, .weights = row}, 1, &after);

    open_space(&after);
    sample_space_add_pseudo(&after, place, source);
    compare(&before, &(ex_edit){.kind = EX_EDIT_ADD_PSEUDO, .at = place, .from = source}, 1, &after);

    open_space(&after);
    after.pseudos[0] = after.pseudos[1];
    after.def.pseudo_count = 1;
    compare(&before, &(ex_edit){.kind = EX_EDIT_REMOVE_PSEUDO, .index = 0}, 1, &after);
    open_space(&after);
    after.def.pseudo_count = 1;
    compare(&before, &(ex_edit){.kind = EX_EDIT_REMOVE_PSEUDO, .index = 1}, 1, &after);
}

/* Given weights lose the removed example's and keep their sum; an added example has no weight. */
static void given_weights_follow_the_examples(void **state) {
    (void)state;
    static const double row[EXAMPLES] = {0.5, 0.25, 0, 0, 1, -0.75, 0};
    sample_space before, after;
    open_space(&before);
    before.pseudos[1] = (ex_pseudo){.at = before.at + before.dimension, .weights = row};
    const size_t size = (size_t)before.dimension * sizeof(double);

    after = before;
    after.def.axes = after.axes;
    after.def.points = after.points;
    after.def.pseudos = after.pseudos;
    memmove(after.points + after.dimension, after.points + 2 * after.dimension, (EXAMPLES - 2) * size);
    after.def.example_count--;
    double rest[EXAMPLES - 1] = {0.5, 0, 0, 1, -0.75, 0}; /* without number 1, from 0.75 to the sum of 1 */
    for (int i = 0; i < EXAMPLES - 1; i++)
        rest[i] *= 1 / 0.75;
    after.pseudos[1].weights = rest;
    compare(&before, &(ex_edit){.kind = EX_EDIT_REMOVE_EXAMPLE, .index = 1}, 1, &after);

    after = before;
    after.def.axes = after.axes;
    after.def.points = after.points;
    after.def.pseudos = after.pseudos;
    memcpy(after.points + EXAMPLES * after.dimension, place, size);
    after.def.example_count++;
    double longer[EXAMPLES + 1] = {0};
    memcpy(longer, row, sizeof row);
    after.pseudos[1].weights = longer;
    compare(&before, &(ex_edit){.kind = EX_EDIT_ADD_EXAMPLE, .at = place}, 1, &after);
}

/* Several at once are the same as one after the other, in all meaningful orders. */
static void edits_follow_each_other(void **state) {
    (void)state;
    sample_space s;
    open_space(&s);
    static double row[EXAMPLES + 1] = {0, 1, 0, 0, 0, 0, 0, 0};
    double other[SPACE_NUMBERS];
    uint64_t random = 64;
    sample_space_point(&s, 1, &random, other);
    const ex_edit edits[] = {
        {.kind = EX_EDIT_ADD_PSEUDO, .at = place, .from = source},
        {.kind = EX_EDIT_ADD_EXAMPLE, .at = source},
        {.kind = EX_EDIT_REMOVE_EXAMPLE, .index = 2},
        {.kind = EX_EDIT_REMOVE_PSEUDO, .index = 0},
        {.kind = EX_EDIT_MOVE_PSEUDO, .index = 1, .at = place, .weights = row},
        {.kind = EX_EDIT_MOVE_EXAMPLE, .index = EXAMPLES - 1, .at = other},
        {.kind = EX_EDIT_REMOVE_EXAMPLE, .index = 0},
    };
    enum { COUNT = sizeof edits / sizeof *edits };
    ex_weigher *start = weigher_of(&s.def), *all = edited_of(start, edits, COUNT), *step = edited_of(start, NULL, 0);
    assert_same(start, step, &s);
    for (int i = 0; i < COUNT; i++) {
        ex_weigher *next = edited_of(step, &edits[i], 1);
        ex_weigher_destroy(step);
        step = next;
    }
    assert_int_equal(ex_weigher_example_count(all), EXAMPLES - 1);
    assert_int_equal(ex_weigher_pseudo_count(all), 2);
    assert_same(step, all, &s);
    ex_weigher_destroy(start);
    ex_weigher_destroy(all);
    ex_weigher_destroy(step);
}

static void wrong_edits_are_refused(void **state) {
    (void)state;
    sample_space s;
    open_space(&s);
    double bad[SPACE_NUMBERS];
    memcpy(bad, place, sizeof bad);
    bad[4] = NAN;
    const struct {
        ex_edit edit;
        ex_result result;
        const char *word;
    } cases[] = {
        {{.kind = EX_EDIT_MOVE_EXAMPLE, .index = EXAMPLES, .at = place}, EX_ERROR_ARGUMENT, "no example 7"},
        {{.kind = EX_EDIT_MOVE_EXAMPLE, .index = -1, .at = place}, EX_ERROR_ARGUMENT, "no example -1"},
        {{.kind = EX_EDIT_REMOVE_EXAMPLE, .index = EXAMPLES}, EX_ERROR_ARGUMENT, "no example 7"},
        {{.kind = EX_EDIT_MOVE_PSEUDO, .index = 2, .at = place}, EX_ERROR_ARGUMENT, "no pseudo-example 2"},
        {{.kind = EX_EDIT_REMOVE_PSEUDO, .index = -1}, EX_ERROR_ARGUMENT, "no pseudo-example -1"},
        {{.kind = EX_EDIT_MOVE_EXAMPLE, .index = 0}, EX_ERROR_ARGUMENT, "place"},
        {{.kind = EX_EDIT_ADD_EXAMPLE}, EX_ERROR_ARGUMENT, "place"},
        {{.kind = EX_EDIT_ADD_PSEUDO, .from = source}, EX_ERROR_ARGUMENT, "place"},
        {{.kind = EX_EDIT_ADD_PSEUDO, .at = place}, EX_ERROR_ARGUMENT, "borrow"},
        {{.kind = EX_EDIT_ADD_PSEUDO, .at = place, .from = source, .weights = place}, EX_ERROR_ARGUMENT, "borrow"},
        {{.kind = (ex_edit_kind)77, .at = place}, EX_ERROR_ARGUMENT, "77"},
        {{.kind = (ex_edit_kind)-1, .at = place}, EX_ERROR_ARGUMENT, "-1"},
        {{.kind = EX_EDIT_FALLOFF, .falloff = place}, EX_ERROR_ARGUMENT, "no falloffs"},
        {{.kind = EX_EDIT_MOVE_EXAMPLE, .at = bad}, EX_ERROR_DATA, "example 1"},
        {{.kind = EX_EDIT_MOVE_EXAMPLE, .index = 2, .at = s.points}, EX_ERROR_SINGULAR, "example 3"},
        {{.kind = EX_EDIT_MOVE_PSEUDO, .index = 1, .at = s.points}, EX_ERROR_SINGULAR, "pseudo-example 2"},
    };
    ex_weigher *weigher = weigher_of(&s.def);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ex_weigher *edited = weigher;
        ex_error error = {0};
        assert_int_equal(ex_weigher_edit(weigher, &cases[i].edit, 1, NULL, &edited, &error), cases[i].result);
        assert_null(edited);
        assert_sentence(&error, cases[i].result, cases[i].word);
        assert_int_equal(ex_weigher_edit(weigher, &cases[i].edit, 1, NULL, &edited, NULL), cases[i].result);
    }
    ex_weigher_destroy(weigher);
    s.def.example_count = 1;
    s.def.pseudo_count = 0;
    weigher = weigher_of(&s.def);
    ex_weigher *edited = NULL;
    ex_error error = {0};
    ex_edit last = {.kind = EX_EDIT_REMOVE_EXAMPLE};
    assert_int_equal(ex_weigher_edit(weigher, &last, 1, NULL, &edited, &error), EX_ERROR_ARGUMENT);
    assert_sentence(&error, EX_ERROR_ARGUMENT, "last example");
    ex_weigher_destroy(weigher);
    s.def = (ex_weigher_def){.kind = EX_WEIGHER_DIRECT, .axes = &s.axes[1], .axis_count = 1, .example_count = 1};
    weigher = weigher_of(&s.def);
    assert_int_equal(ex_weigher_edit(weigher, &last, 1, NULL, &edited, &error), EX_ERROR_ARGUMENT);
    assert_sentence(&error, EX_ERROR_ARGUMENT, "direct");
    ex_weigher_destroy(weigher);
}

/* Described and made again: the same, to the bit. */
static void describes_what_it_was_made_from(void **state) {
    (void)state;
    static const double row[EXAMPLES] = {0, 0, 0.5, 0.5, 0, 0, 0};
    for (int kind = 0; kind < EX_WEIGHER_COUNT; kind++) {
        if (ex_weigher_kind_info((ex_weigher_kind)kind)->is_driven) /* test_convex_space.c, test_kinds.c */
            continue;
        sample_space s;
        open_space(&s);
        s.pseudos[1] = (ex_pseudo){.at = s.at + s.dimension, .weights = row};
        s.def.kind = (ex_weigher_kind)kind;
        s.def.kernel = EX_KERNEL_WENDLAND;
        s.def.linear = false;
        s.def.radius = 1.25;
        s.def.ridge = 1e-7;
        s.def.power = 3;
        s.def.neighbours = 3;
        s.def.paper_form = true;
        s.axes[1].scale = 0.02;
        s.axes[1].clamp = true;
        turn_about(3, 1, 2, 77, s.axes[0].rest_rotation);
        if (kind == EX_WEIGHER_DIRECT) {
            s.def.axes = &s.axes[1];
            s.def.axis_count = s.def.example_count = 1;
            s.def.pseudo_count = 0;
            s.def.points = NULL;
        }
        ex_weigher *weigher = weigher_of(&s.def);
        ex_weigher_def def;
        ex_axis axes[4];
        ex_pseudo pseudos[2];
        ex_weigher_describe(weigher, &def, axes, pseudos);
        assert_int_equal(def.kind, kind);
        assert_int_equal(def.example_count, s.def.example_count);
        assert_int_equal(def.pseudo_count, s.def.pseudo_count);
        assert_int_equal(def.axis_count, s.def.axis_count);
        assert_null(def.names);
        if (kind == EX_WEIGHER_CARDINAL)
            assert_true(def.kernel == EX_KERNEL_WENDLAND && !def.linear && def.radius == 1.25 && def.ridge == 1e-7);
        if (kind == EX_WEIGHER_SHEPARD)
            assert_true(def.power == 3);
        if (kind == EX_WEIGHER_NEAREST)
            assert_true(def.neighbours == 3 && def.paper_form);
        for (int i = 0; i < def.axis_count; i++) {
            const ex_axis *axis = &s.def.axes[i];
            assert_true(axes[i].kind == axis->kind && axes[i].scale == axis->scale && axes[i].clamp == axis->clamp);
            assert_true(axes[i].min == axis->min && axes[i].max == axis->max && axes[i].rest == axis->rest);
        }
        ex_weigher *again = weigher_of(&def);
        if (kind != EX_WEIGHER_DIRECT) {
            assert_ptr_equal(def.points, ex_weigher_point(weigher, 0));
            assert_null(pseudos[0].weights);
            assert_memory_equal(pseudos[0].from, s.from, (size_t)s.dimension * sizeof(double));
            assert_null(pseudos[1].from);
            assert_memory_equal(pseudos[1].weights, row, sizeof row);
            assert_same(weigher, again, &s);
        }
        ex_weigher_describe(weigher, &def, NULL, NULL);
        assert_null(def.axes);
        ex_weigher_destroy(weigher);
        ex_weigher_destroy(again);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(examples_move_come_and_go),         cmocka_unit_test(pseudo_examples_move_come_and_go),
        cmocka_unit_test(given_weights_follow_the_examples), cmocka_unit_test(edits_follow_each_other),
        cmocka_unit_test(wrong_edits_are_refused),           cmocka_unit_test(describes_what_it_was_made_from),
    };
    return cmocka_run_group_tests(tests, choose_places, NULL);
}
