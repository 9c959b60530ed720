/*
 * Sets of examples of a gaussian weigher against weighers with only those examples; and the ridge that rises if
 * falloffs make the system singular, with the point that causes it.
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

enum { EXAMPLES = 36, SETS = 12, WORDS = 2, PSEUDOS = 3 };

/* 36 examples, so that a set takes two words; pseudo-examples of every kind; a falloff each. */
typedef struct set_space {
    sample_space s;
    double falloffs[(EXAMPLES + PSEUDOS) * 4], places[PSEUDOS + 1][SPACE_NUMBERS], given[EXAMPLES], zeros[EXAMPLES];
    uint32_t sets[SETS][WORDS];
} set_space;

static void open_space(set_space *x) {
    uint64_t random = 120;
    memset(x, 0, sizeof *x);
    sample_space_mixed(&x->s, EXAMPLES, 121);
    x->s.def.kind = EX_WEIGHER_GAUSSIAN;
    for (int i = 0; i < (EXAMPLES + PSEUDOS) * 4; i++)
        x->falloffs[i] = random_between(&random, 0.3, 0.6);
    for (int i = 0; i < PSEUDOS + 1; i++)
        sample_space_point(&x->s, 1, &random, x->places[i]);
    for (int i = 0; i < EXAMPLES; i++)
        x->given[i] = random_between(&random, -1, 1);
    x->s.pseudos[0] = (ex_pseudo){.at = x->places[0], .weights = x->zeros};
    x->s.pseudos[1] = (ex_pseudo){.at = x->places[1], .from = x->places[PSEUDOS]};
    x->s.pseudos[2] = (ex_pseudo){.at = x->places[2], .weights = x->given};
    x->s.def.pseudo_count = PSEUDOS;
    for (int i = 0; i < SETS; i++)
        for (int k = 0; k < EXAMPLES; k++) {
            /* all; one; another one; the rest at random */
            bool in = i == 0 || (i == 1 && k == 35) || (i == 2 && k == 0) || (i > 2 && random_bits(&random) % 4 == 0);
            x->sets[i][k / 32] |= (uint32_t)in << (k % 32);
        }
    x->s.def.falloffs = x->falloffs;
    x->s.def.sets = x->sets[0];
    x->s.def.set_count = SETS;
}

static bool has(const set_space *x, int set, int example) {
    return (x->sets[set][example / 32] >> (example % 32) & 1) != 0;
}

/* A weigher over the examples of one set. Returns their number. */
static int alone(const set_space *x, int set, ex_weigher **weigher) {
    static double points[EXAMPLES * SPACE_NUMBERS], falloffs[(EXAMPLES + PSEUDOS) * 4], given[EXAMPLES];
    const int d = x->s.dimension;
    int count = 0;
    for (int k = 0; k < EXAMPLES; k++)
        if (has(x, set, k)) {
            memcpy(points + count * d, x->s.points + k * d, (size_t)d * sizeof *points);
            memcpy(falloffs + count * 4, x->falloffs + k * 4, 4 * sizeof *falloffs);
            given[count++] = x->given[k];
        }
    memcpy(falloffs + count * 4, x->falloffs + EXAMPLES * 4, PSEUDOS * 4 * sizeof *falloffs);
    ex_pseudo pseudos[PSEUDOS];
    memcpy(pseudos, x->s.pseudos, sizeof pseudos);
    pseudos[2].weights = given;
    ex_weigher_def def = x->s.def;
    def.points = points;
    def.falloffs = falloffs;
    def.pseudos = pseudos;
    def.example_count = count;
    def.sets = NULL;
    def.set_count = 0;
    *weigher = weigher_of(&def);
    return count;
}

static void sets_are_weighers_of_their_own(void **state) {
    (void)state;
    static set_space x;
    open_space(&x);
    ex_weigher *weigher = weigher_of(&x.s.def), *own[SETS];
    int counts[SETS], total = 0;
    for (int i = 0; i < SETS; i++)
        total += counts[i] = alone(&x, i, &own[i]);
    assert_int_equal(ex_weigher_set_weight_count(weigher), total);
    assert_true(counts[0] == EXAMPLES && counts[1] == 1 && counts[2] == 1);
    uint64_t random = 122;
    for (int q = 0; q < 30; q++) {
        double point[SPACE_NUMBERS], weights[EXAMPLES], whole[EXAMPLES], set_weights[SETS * EXAMPLES + 1],
            *next = set_weights;
        sample_space_point(&x.s, 1, &random, point);
        if (q < 4)
            memcpy(point, x.places[q], sizeof point);
        set_weights[total] = -77;
        ex_weigher_evaluate_sets(weigher, point, weights, set_weights);
        ex_weigher_evaluate(weigher, point, whole);
        assert_memory_equal(weights, whole, sizeof weights);
        assert_row_near(set_weights, whole, EXAMPLES, 1e-12); /* the first set is all of them */
        for (int i = 0; i < SETS; i++) {
            double expected[EXAMPLES];
            ex_weigher_evaluate(own[i], point, expected);
            assert_row_near(next, expected, counts[i], 1e-11);
            next += counts[i];
        }
        assert_near(set_weights[total], -77, 0);
        double again[SETS * EXAMPLES];
        ex_weigher_evaluate_sets(weigher, point, NULL, again);
        assert_memory_equal(again, set_weights, (size_t)total * sizeof *again);
    }
    ex_weigher_destroy(weigher);
    for (int i = 0; i < SETS; i++)
        ex_weigher_destroy(own[i]);
}

/* The default falloff is the layer's, in its sets too: a set of all examples gives the same as without sets. */
static void sets_share_the_default(void **state) {
    (void)state;
    static set_space x;
    open_space(&x);
    x.s.def.falloffs = NULL;
    x.s.def.set_count = 1;
    ex_weigher *weigher = weigher_of(&x.s.def);
    x.s.def.set_count = 0;
    ex_weigher *plain = weigher_of(&x.s.def);
    assert_int_equal(ex_weigher_set_weight_count(plain), 0);
    uint64_t random = 123;
    for (int q = 0; q < 20; q++) {
        double point[SPACE_NUMBERS], weights[EXAMPLES], set_weights[EXAMPLES], expected[EXAMPLES];
        sample_space_point(&x.s, 1, &random, point);
        ex_weigher_evaluate_sets(weigher, point, NULL, set_weights);
        ex_weigher_evaluate(plain, point, expected);
        assert_row_near(set_weights, expected, EXAMPLES, 1e-12);
        ex_weigher_evaluate_sets(plain, point, weights, NULL); /* no sets: nothing to write */
        assert_memory_equal(weights, expected, sizeof weights);
    }
    ex_weigher_destroy(weigher);
    ex_weigher_destroy(plain);
    x.s.def.kind = EX_WEIGHER_SHEPARD; /* which has no sets */
    x.s.def.set_count = SETS;
    weigher = weigher_of(&x.s.def);
    double weights[EXAMPLES], expected[EXAMPLES];
    assert_int_equal(ex_weigher_set_weight_count(weigher), 0);
    ex_weigher_evaluate(weigher, x.places[3], expected);
    ex_weigher_evaluate_sets(weigher, x.places[3], weights, NULL);
    assert_memory_equal(weights, expected, sizeof weights);
    ex_weigher_destroy(weigher);
}

/* More points than evaluation keeps kernels of at a time (128). */
enum { MANY = 140, FEW = 4 };

static ex_weigher_def many_of(const double *points, const double *falloffs, int examples, const ex_pseudo *pseudos,
                              int pseudo_count) {
    static ex_axis axis;
    axis = ex_axis_scalar(0, 1, 0);
    ex_weigher_def def = ex_weigher_def_default();
    def.kind = EX_WEIGHER_GAUSSIAN;
    def.axes = &axis;
    def.axis_count = 1;
    def.points = points;
    def.falloffs = falloffs;
    def.example_count = examples;
    def.pseudos = pseudos;
    def.pseudo_count = pseudo_count;
    return def;
}

/* A set of a few and a set of all, of which `examples` are examples and the others pseudo-examples. */
static void check_many_points(int examples, const int chosen[FEW]) {
    static double points[MANY], falloffs[MANY], zeros[MANY], ones[MANY], weights[2][MANY], set_weights[FEW + MANY];
    static ex_pseudo pseudos[MANY];
    const int pseudo_count = MANY - examples, words = (examples + 31) / 32;
    uint32_t sets[2 * ((MANY + 31) / 32)] = {0};
    double few_points[FEW], few_falloffs[MANY], expected[FEW];
    for (int i = 0; i < MANY; i++) {
        points[i] = i;
        falloffs[i] = 0.4 + 0.002 * (i % 23);
        ones[i] = 1;
    }
    for (int i = 0; i < pseudo_count; i++)
        pseudos[i] = (ex_pseudo){.at = points + examples + i, .weights = i % 2 == 0 ? zeros : ones};
    for (int i = 0; i < FEW; i++) {
        sets[chosen[i] / 32] |= (uint32_t)1 << (chosen[i] % 32);
        few_points[i] = points[chosen[i]];
        few_falloffs[i] = falloffs[chosen[i]];
    }
    for (int i = 0; i < examples; i++)
        sets[words + i / 32] |= (uint32_t)1 << (i % 32);
    memcpy(few_falloffs + FEW, falloffs + examples, (size_t)pseudo_count * sizeof *falloffs);
    ex_weigher_def def = many_of(points, falloffs, examples, pseudos, pseudo_count);
    def.sets = sets;
    def.set_count = 2;
    ex_weigher *weigher = weigher_of(&def);
    def = many_of(few_points, few_falloffs, FEW, pseudos, pseudo_count);
    ex_weigher *few = weigher_of(&def);
    static const double queries[] = {3.2, 100.3, 118.5, 126.4, 127.5, 128.1, 127, 129.2, 138.7, 139};
    for (int q = 0; q < 10; q++) {
        ex_weigher_evaluate_sets(weigher, &queries[q], weights[0], set_weights);
        ex_weigher_evaluate(weigher, &queries[q], weights[1]);
        ex_weigher_evaluate(few, &queries[q], expected);
        assert_row_near(weights[0], weights[1], examples, 1e-12);
        assert_row_near(set_weights + FEW, weights[1], examples, 1e-12);
        assert_row_near(set_weights, expected, FEW, 1e-12);
    }
    ex_weigher_destroy(weigher);
    ex_weigher_destroy(few);
}

/* Examples to the end and one pseudo-example, or pseudo-examples on both sides of the start of new kernels. */
static void many_points(void **state) {
    (void)state;
    check_many_points(139, (const int[]){3, 126, 127, 128});
    check_many_points(121, (const int[]){3, 100, 118, 120});
}

/* ---- the ridge ---- */

static ex_axis unit_axis;

static ex_weigher_def line_of(const double *points, const double *falloffs, int count) {
    unit_axis = ex_axis_scalar(0, 1, 0);
    ex_weigher_def def = ex_weigher_def_default();
    def.kind = EX_WEIGHER_GAUSSIAN;
    def.axes = &unit_axis;
    def.axis_count = 1;
    def.points = points;
    def.falloffs = falloffs;
    def.example_count = count;
    return def;
}

static double condition_of(const ex_weigher *weigher) {
    double condition = 0;
    assert_int_equal(ex_weigher_condition(weigher, NULL, &condition, NULL), EX_OK);
    return condition;
}

/* The falloff in the middle at which the determinant vanishes: it changes its sign in between. */
static const double singular_points[] = {0, 0.5, 0.97}, singular_falloffs[] = {0.56, 0.975036320707799, 0.69};

static void a_ridge_rises_and_names_the_point(void **state) {
    (void)state;
    ex_weigher_def def = line_of(singular_points, singular_falloffs, 3);
    ex_weigher *weigher = weigher_of(&def);
    ex_ridge ridge = ex_weigher_get_ridge(weigher);
    assert_true(ridge.ridge >= 1e-12 && ridge.ridge < 1e-6);
    assert_true(ridge.condition > 1e14);
    assert_int_equal(ridge.point, 1);
    assert_near(ridge.falloff, singular_falloffs[1], 0);
    assert_true(condition_of(weigher) <= EX_CONDITION_LIMIT);
    ex_weigher_def back;
    ex_weigher_describe(weigher, &back, NULL, NULL);
    assert_true(back.ridge == 0); /* as requested */
    ex_weigher_destroy(weigher);
    def.ridge = ridge.ridge / 10; /* it is the first that is enough */
    weigher = weigher_of(&def);
    assert_true(condition_of(weigher) > EX_CONDITION_LIMIT);
    ridge = ex_weigher_get_ridge(weigher);
    assert_true(ridge.ridge == def.ridge && ridge.point == -1 && ridge.falloff == 0 && ridge.condition > 1e14);
    ex_weigher_destroy(weigher);
    /* On either side of it, the system is sound and exact. */
    for (int side = 0; side < 2; side++) {
        const double falloffs[] = {0.56, side ? 1.3 : 0.8, 0.69};
        def = line_of(singular_points, falloffs, 3);
        weigher = weigher_of(&def);
        assert_true(ex_weigher_get_ridge(weigher).ridge == 0);
        for (int i = 0; i < 3; i++) {
            double weights[3], expected[3] = {0};
            expected[i] = 1;
            ex_weigher_evaluate(weigher, &singular_points[i], weights);
            assert_row_near(weights, expected, 3, 1e-12);
        }
        ex_weigher_destroy(weigher);
    }
}

/* Only points that cannot be told apart are considered, and of them the one that reaches beyond its neighbour. */
static void the_one_to_blame(void **state) {
    (void)state;
    const double points[] = {0, 0.1, 0.101, 0.5, 0.9};
    double widened[] = {0.05, 2, 2, 0.1, 0.05};
    ex_weigher_def def = line_of(points, widened, 5);
    ex_weigher *weigher = weigher_of(&def);
    ex_ridge ridge = ex_weigher_get_ridge(weigher);
    assert_true(ridge.ridge == 0); /* ill-conditioned, but not yet beyond the limit */
    ex_weigher_destroy(weigher);
    const double closer[] = {0, 0.1, 0.100002, 0.5, 0.9};
    def = line_of(closer, widened, 5);
    widened[2] = 2.0000001; /* slightly wider, so that it is the cause, and not because of its order */
    weigher = weigher_of(&def);
    ridge = ex_weigher_get_ridge(weigher);
    assert_true(ridge.ridge > 0);
    assert_int_equal(ridge.point, 2);
    assert_near(ridge.falloff, 2.0000001, 0);
    ex_weigher_destroy(weigher);
    /* A pair far away reaches farther beyond each other, but is not involved. */
    const double innocent[] = {30, 0, 30.1, 0.5, 0.97}, reaches[] = {0.4, 0.56, 0.4, 0.975036320707799, 0.69};
    def = line_of(innocent, reaches, 5);
    weigher = weigher_of(&def);
    ridge = ex_weigher_get_ridge(weigher);
    assert_true(ridge.ridge > 0);
    assert_int_equal(ridge.point, 3);
    ex_weigher_destroy(weigher);
}

/* A metric reaches as far as in its widest direction; pseudo-examples can be the cause as well. */
static void metrics_and_pseudo_examples_to_blame(void **state) {
    (void)state;
    const ex_axis axes[2] = {ex_axis_scalar(0, 1, 0), ex_axis_scalar(0, 1, 0)};
    const double points[][2] = {{0, 0}, {1, 0}}, at[2] = {1, 1e-6}, zeros[2] = {0, 0};
    /* Eigenvalues 1/4 and 25 along the diagonals: it reaches 2. */
    const double metrics[][2][2] = {{{0, 0}, {0, 0}}, {{4, 0}, {0, 4}}, {{12.625, 12.375}, {12.375, 12.625}}};
    const double falloffs[][2] = {{0.3, 0.3}, {0, 0}, {50, 50}}; /* with a metric, no falloff is used */
    const ex_pseudo pseudo = {.at = at, .weights = zeros};
    ex_weigher_def def = line_of(points[0], falloffs[0], 2);
    def.axes = axes;
    def.axis_count = 2;
    def.pseudos = &pseudo;
    def.pseudo_count = 1;
    double all[3][2][2];
    memcpy(all, metrics, sizeof all);
    memcpy(all[1], all[2], sizeof all[1]);
    for (int i = 0; i < 4; i++)
        all[1][i / 2][i % 2] *= 1.0000001; /* slightly narrower than the pseudo-example */
    def.metrics = all[0][0];
    ex_weigher *weigher = weigher_of(&def);
    const ex_ridge ridge = ex_weigher_get_ridge(weigher);
    assert_true(ridge.ridge > 0);
    assert_int_equal(ridge.point, 2);
    assert_near(ridge.falloff, 2, 1e-12);
    ex_weigher_destroy(weigher);
}

/* (Phi + ridge I) X = F by hand for two points. */
static void a_given_ridge_is_taken(void **state) {
    (void)state;
    const double points[] = {0, 1}, falloffs[] = {0.8, 0.5}, r = 0.25;
    const double a = exp(-0.5 / 0.64), b = exp(-0.5 / 0.25);
    ex_weigher_def def = line_of(points, falloffs, 2);
    def.ridge = r;
    ex_weigher *weigher = weigher_of(&def);
    double weights[2];
    ex_weigher_evaluate(weigher, &points[0], weights); /* phi = 1, b */
    const double determinant = (1 + r) * (1 + r) - a * b;
    assert_near(weights[0], ((1 + r) - a * b) / determinant, 1e-14);
    assert_near(weights[1], (b * (1 + r) - b) / determinant, 1e-14);
    assert_near(condition_of(weigher), (1 + r + a) * (1 + r + a) / determinant, 1e-13);
    const ex_ridge ridge = ex_weigher_get_ridge(weigher);
    assert_true(ridge.ridge == r && ridge.point == -1);
    assert_near(ridge.condition, (1 + a) * (1 + a) / (1 - a * b), 1e-13);
    ex_weigher_destroy(weigher);
}

/* Three that cannot be solved together are solved in pairs, and then there is no cause to name; and the other way
 * round. */
static void sets_have_ridges_of_their_own(void **state) {
    (void)state;
    const double points[] = {0, 0.5, 0.97, 3}, falloffs[] = {0.56, 0.975036320707799, 0.69, 0.2};
    const uint32_t pairs[] = {3, 5, 6, 8}, with_triple[] = {3, 7, 8};
    ex_weigher_def def = line_of(points, falloffs, 4);
    def.sets = pairs;
    def.set_count = 4;
    ex_weigher *weigher = weigher_of(&def);
    ex_ridge ridge = ex_weigher_get_ridge(weigher);
    assert_true(ridge.ridge == 0 && ridge.point == -1 && ridge.condition < 1e3 && ridge.condition > 1);
    assert_true(condition_of(weigher) > 1e3); /* all together have theirs */
    double set_weights[8];
    for (int i = 0; i < 4; i++) { /* exact in every set */
        static const double expected[4][8] = {
            {1, 0, 1, 0, 0, 0, 0, 0}, {0, 1, 0, 0, 1, 0, 0, 0}, {0, 0, 0, 1, 0, 1, 0, 0}, {0, 0, 0, 0, 0, 0, 1, 0}};
        static const bool in[4][7] = {
            {1, 1, 1, 1, 0, 0, 1}, {1, 1, 0, 0, 1, 1, 1}, {0, 0, 1, 1, 1, 1, 1}, {0, 0, 0, 0, 0, 0, 1}};
        ex_weigher_evaluate_sets(weigher, &points[i], NULL, set_weights);
        for (int k = 0; k < 7; k++)
            if (in[i][k])
                assert_near(set_weights[k], expected[i][k], i == 3 || k < 6 ? 1e-12 : 1e-9);
    }
    ex_weigher_destroy(weigher);
    def.sets = with_triple;
    def.set_count = 3;
    weigher = weigher_of(&def);
    ridge = ex_weigher_get_ridge(weigher);
    assert_true(ridge.ridge > 0 && ridge.point == 1 && ridge.condition > 1e14);
    ex_weigher_destroy(weigher);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_are_weighers_of_their_own),
        cmocka_unit_test(sets_share_the_default),
        cmocka_unit_test(many_points),
        cmocka_unit_test(a_ridge_rises_and_names_the_point),
        cmocka_unit_test(the_one_to_blame),
        cmocka_unit_test(metrics_and_pseudo_examples_to_blame),
        cmocka_unit_test(a_given_ridge_is_taken),
        cmocka_unit_test(sets_have_ridges_of_their_own),
    };
    return cmocka_run_group_tests_name("runtime.weigh.gaussian_sets", tests, NULL, NULL);
}
