/*
 * Edits of calm weighers of many points are updates of what the block holds. They agree with a solve of the new
 * definition to 1e-9, whatever the sequence of edits. Layouts that the update does not cover are solved: then they
 * agree bit for bit. That is also how these tests tell one from the other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/spaces.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 160, NUMBERS = 8, PROBES = 25 };

/* Axes are scalars, then at most one rotation. */
typedef struct layer {
    ex_weigher_def def;
    ex_axis axes[5];
    int scalars, dimension;
    double points[MOST * NUMBERS];
    ex_pseudo pseudos[2];
    double at[2 * NUMBERS];
    uint64_t random;
} layer;

static const double zeros[MOST];

static void random_point(layer *l, double *point) {
    for (int a = 0; a < l->scalars; a++)
        point[a] = random_between(&l->random, 0, 1 + a);
    if (l->dimension > l->scalars)
        turn_about(random_between(&l->random, -1, 1), random_between(&l->random, -1, 1), 1,
                   random_between(&l->random, 0, 180), point + l->scalars);
}

static void open_layer(layer *l, int scalars, bool rotation, bool rest, int count, uint64_t seed) {
    *l = (layer){.def = ex_weigher_def_default(), .scalars = scalars, .random = seed};
    for (int a = 0; a < scalars; a++)
        l->axes[a] = ex_axis_scalar(0, 1 + a, 0);
    if (rotation)
        l->axes[scalars] = ex_axis_rotation(EX_AXIS_ROTATION, NULL);
    l->dimension = scalars + (rotation ? 4 : 0);
    for (int i = 0; i < count; i++)
        random_point(l, l->points + i * l->dimension);
    if (rotation)
        l->at[scalars + 3] = 1;
    l->pseudos[0] = (ex_pseudo){.at = l->at, .weights = zeros};
    l->def.kind = EX_WEIGHER_CALM;
    l->def.axes = l->axes;
    l->def.axis_count = scalars + rotation;
    l->def.points = l->points;
    l->def.example_count = count;
    l->def.pseudos = l->pseudos;
    l->def.pseudo_count = rest;
}

/* Returns true if all weights are the same bit for bit. */
static bool compare(layer *l, const ex_weigher *edited) {
    ex_weigher_def def;
    ex_axis axes[5];
    ex_pseudo pseudos[2];
    double point[NUMBERS], one[MOST], other[MOST];
    bool same = true;
    ex_weigher_describe(edited, &def, axes, pseudos);
    ex_weigher *afresh = weigher_of(&def);
    for (int i = 0; i < PROBES; i++) {
        random_point(l, point);
        if (i % 5 == 0)
            memcpy(point, ex_weigher_point(edited, i % def.example_count), (size_t)l->dimension * sizeof *point);
        ex_weigher_evaluate(edited, point, one);
        ex_weigher_evaluate(afresh, point, other);
        assert_row_near(one, other, def.example_count, 1e-9);
        same = same && memcmp(one, other, (size_t)def.example_count * sizeof *one) == 0;
    }
    ex_weigher_destroy(afresh);
    return same;
}

/* Replaces *w by an edited one. Returns true if that was an update. */
static bool edit(layer *l, ex_weigher **w, const ex_edit *edits, int count) {
    ex_weigher *edited = NULL;
    ex_error error = {0};
    if (ex_weigher_edit(*w, edits, count, NULL, &edited, &error) != EX_OK)
        fail_msg("%s", error.text);
    ex_weigher_destroy(*w);
    *w = edited;
    return !compare(l, edited);
}

static ex_edit random_edit(layer *l, const ex_weigher *w, double *at) {
    const int count = ex_weigher_example_count(w), bits = (int)(random_bits(&l->random) % 1000);
    static const ex_edit_kind kinds[] = {EX_EDIT_MOVE_EXAMPLE, EX_EDIT_ADD_EXAMPLE, EX_EDIT_REMOVE_EXAMPLE};
    random_point(l, at);
    return (ex_edit){
        .kind = count > MOST - 4 ? EX_EDIT_REMOVE_EXAMPLE : kinds[bits % 3], .index = bits % count, .at = at};
}

static void sequences_agree_with_solves(void **state) {
    (void)state;
    int updates = 0, edits = 0;
    for (int round = 0; round < 24; round++) {
        layer l;
        double at[NUMBERS];
        open_layer(&l, 1 + round % 4, round % 3 == 1, round % 2, 45 + 4 * round, (uint64_t)round + 5);
        l.def.overshoot = round % 8 == 6 ? 0 : round % 8 == 7 ? 0.02 : 0.1;
        l.def.linear = round % 5 != 3;
        ex_weigher *w = weigher_of(&l.def);
        for (int i = 0; i < 20; i++, edits++) {
            const ex_edit e = random_edit(&l, w, at);
            updates += edit(&l, &w, &e, 1);
        }
        ex_weigher_destroy(w);
    }
    assert_true(updates > edits * 3 / 4);
}

/* Several edits at once, and rest that moves, goes and comes. */
static void edits_together_and_rest(void **state) {
    (void)state;
    layer l;
    double at[3][NUMBERS];
    open_layer(&l, 3, true, true, 90, 41);
    ex_weigher *w = weigher_of(&l.def);
    for (int i = 0; i < 10; i++) {
        ex_edit edits[3];
        for (int k = 0; k < 3; k++)
            edits[k] = random_edit(&l, w, at[k]);
        edits[1].index %= 80;
        edits[2].index %= 80;
        assert_true(edit(&l, &w, edits, 3));
    }
    random_point(&l, at[0]);
    assert_true(edit(&l, &w, &(ex_edit){.kind = EX_EDIT_MOVE_PSEUDO, .at = at[0], .weights = zeros}, 1));
    assert_true(edit(&l, &w, &(ex_edit){.kind = EX_EDIT_REMOVE_PSEUDO}, 1));
    assert_int_equal(ex_weigher_pseudo_count(w), 0);
    assert_true(edit(&l, &w, &(ex_edit){.kind = EX_EDIT_ADD_PSEUDO, .at = at[0], .weights = zeros}, 1));
    assert_true(edit(&l, &w, &(ex_edit){.kind = EX_EDIT_REMOVE_EXAMPLE, .index = 2}, 1));
    ex_weigher_destroy(w);
}

/* An example is dragged through another: near it, past it, away. */
static void crowded_points_agree(void **state) {
    (void)state;
    for (int round = 0; round < 80; round++) {
        layer l;
        double at[NUMBERS];
        open_layer(&l, 1 + round % 3, round % 2, round % 2, 40 + round, (uint64_t)round + 90);
        l.def.overshoot = round % 4 == 3 ? 1 : 0.1;
        ex_weigher *w = weigher_of(&l.def);
        static const double gaps[] = {1e-1, 1e-2, 1e-3, 1e-4, 1e-5, -1e-5, -1e-3, 0.2};
        for (int i = 0; i < 8; i++) {
            memcpy(at, ex_weigher_point(w, 9), (size_t)l.dimension * sizeof *at);
            at[0] += gaps[i];
            edit(&l, &w, &(ex_edit){.kind = EX_EDIT_MOVE_EXAMPLE, .index = 4, .at = at}, 1);
        }
        ex_weigher_destroy(w);
    }
}

/* Points at one place are refused, as by a solve. */
static void same_place_is_refused(void **state) {
    (void)state;
    layer l;
    ex_error error;
    ex_weigher *edited;
    open_layer(&l, 2, false, false, 50, 3);
    for (int round = 0; round < 2; round++) {
        l.def.overshoot = round ? 0 : 0.1;
        ex_weigher *w = weigher_of(&l.def);
        const ex_edit e = {.kind = EX_EDIT_MOVE_EXAMPLE, .index = 7, .at = l.points + 2 * 20};
        assert_int_equal(ex_weigher_edit(w, &e, 1, NULL, &edited, &error), EX_ERROR_SINGULAR);
        assert_non_null(strstr(error.text, "example 8 and example 21 are at the same place"));
        assert_null(edited);
        ex_weigher_destroy(w);
    }
}

/* The ends of a held axis follow the points. */
static void limits_follow(void **state) {
    (void)state;
    layer l;
    open_layer(&l, 2, false, false, 50, 17);
    for (int limit = 0; limit < EX_LIMIT_COUNT; limit++) {
        l.axes[0].limit = (ex_limit)limit;
        ex_weigher *w = weigher_of(&l.def);
        const double at[] = {3, 0.5}, beyond[] = {9, 0.5};
        assert_true(edit(&l, &w, &(ex_edit){.kind = EX_EDIT_ADD_EXAMPLE, .at = at}, 1));
        ex_weigher_def def;
        ex_axis axes[2];
        double one[MOST], other[MOST];
        ex_weigher_describe(w, &def, axes, NULL);
        ex_weigher *afresh = weigher_of(&def);
        ex_weigher_evaluate(w, beyond, one);
        ex_weigher_evaluate(afresh, beyond, other);
        assert_row_near(one, other, 51, 1e-9);
        ex_weigher_destroy(afresh);
        ex_weigher_destroy(w);
    }
}

/* Whatever the update does not cover is solved, bit for bit. */
static void the_rest_is_solved(void **state) {
    (void)state;
    layer l;
    double at[NUMBERS], from[NUMBERS], given[MOST] = {0.5};
    for (int round = 0; round < 5; round++) {
        open_layer(&l, 3, false, round == 1 || round == 2, round == 0 ? 20 : 50, 23);
        random_point(&l, at);
        random_point(&l, from);
        if (round == 1)
            l.pseudos[0].weights = given;
        if (round == 2) {
            l.pseudos[1] = (ex_pseudo){.at = at, .from = from};
            l.def.pseudo_count = 2;
        }
        for (int i = 0; round == 3 && i < 50; i++) /* flat: the third axis follows the second */
            l.points[3 * i + 2] = l.points[3 * i + 1];
        ex_weigher *w = weigher_of(&l.def);
        ex_edit edits[12];
        double place[12][NUMBERS];
        const int count = round == 4 ? 12 : 1;
        for (int i = 0; i < count; i++) {
            random_point(&l, place[i]);
            place[i][2] = round == 3 ? place[i][1] : place[i][2];
            edits[i] = (ex_edit){.kind = EX_EDIT_MOVE_EXAMPLE, .index = i, .at = place[i]};
        }
        assert_false(edit(&l, &w, edits, count));
        ex_weigher_destroy(w);
    }
}

static ex_result edit_and_drop(void *context) {
    layer *l = context;
    ex_weigher *w = NULL, *edited = NULL;
    ex_error error;
    ex_result result = ex_weigher_create(&l->def, NULL, &w, &error);
    const ex_edit e = {.kind = EX_EDIT_REMOVE_EXAMPLE, .index = 3};
    if (result == EX_OK)
        result = ex_weigher_edit(w, &e, 1, NULL, &edited, &error);
    ex_weigher_destroy(w);
    ex_weigher_destroy(edited);
    return result;
}

static void memory_is_released(void **state) {
    (void)state;
    layer l;
    open_layer(&l, 2, true, true, 40, 9);
    assert_true(fail_alloc_sweep(edit_and_drop, &l) >= 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sequences_agree_with_solves),
        cmocka_unit_test(edits_together_and_rest),
        cmocka_unit_test(crowded_points_agree),
        cmocka_unit_test(same_place_is_refused),
        cmocka_unit_test(limits_follow),
        cmocka_unit_test(the_rest_is_solved),
        cmocka_unit_test(memory_is_released),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
