/*
 * Mixtures before any vertex: weights brought back and bounded shares by hand and against their formulas, their slopes
 * on both sides of every border, terms, and the nodes against an evaluation in double.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/base/affine.h"
#include "runtime/shape/mixture.h"
#include "runtime/shape/mixture_pose.inl"
#include "support/check.h"
#include "support/mixtures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VERTICES = 30 };

typedef struct mixing {
    float mesh[3 * VERTICES];
    mixed_layer layer;
    exi_trajectories *paths;
    void *room;
} mixing;

/* turn: factor of the nodes' turns. */
static void open_turned(mixing *m, int parts, uint64_t seed, float turn) {
    uint64_t random = seed;
    for (int i = 0; i < 3 * VERTICES; i++)
        m->mesh[i] = (float)random_between(&random, -1, 1);
    mixed_layer_open(&m->layer, m->mesh, VERTICES, 0, parts, seed);
    for (int e = 0; e < MIXED_EXAMPLES; e++)
        for (int i = 0; i < MIXED_NODES * 3; i++)
            m->layer.turns[e][i / 3][i % 3] *= turn;
    const ex_layer_trajectory *t = &m->layer.def.trajectory;
    const exi_trajectories_def def = {.vertex_count = VERTICES,
                                      .example_count = MIXED_EXAMPLES,
                                      .trajectories = t->examples,
                                      .reference = t->reference,
                                      .overlaps = t->overlaps,
                                      .mixture = t->mixture};
    ex_error error = {0};
    if (exi_trajectories_create(&def, NULL, &m->paths, &error) != EX_OK)
        fail_msg("%s", error.text);
    m->room = malloc(exi_mixture_room_size(m->paths) + 1);
}

static void open(mixing *m, int parts, uint64_t seed) {
    open_turned(m, parts, seed, 1);
}

static void close(mixing *m) {
    exi_block_destroy(m->paths);
    mixed_layer_close(&m->layer);
    free(m->room);
}

/* Weights from -0.5 to 1.5, or of the simplex. */
static void draw_weights(uint64_t *random, bool inside, double *weights) {
    double sum = random_between(random, 0, 1);
    for (int k = 0; k < MIXED_EXAMPLES; k++) {
        weights[k] = inside ? random_between(random, 0, 1) : random_between(random, -0.5, 1.5);
        sum += weights[k];
    }
    for (int k = 0; inside && k < MIXED_EXAMPLES; k++)
        weights[k] /= sum;
}

static void weights_by_hand(void **state) {
    (void)state;
    mixing m;
    open(&m, MIXED_REFERENCE, 1);
    /* no overlaps: every weight for itself; that of the reference does not count */
    const double weights[4] = {1, 3, -0.5, 2};
    assert_near(exi_mixture_weight(m.paths, weights, 0), 1, 0);
    assert_near(exi_mixture_weight(m.paths, weights, 1), 0, 0);
    assert_near(exi_mixture_weight(m.paths, weights, 2), -0.5, 0);
    const double beyond = 4 / 2.05 - 1; /* pos(2) = 2^2 / (2 + 1/20) */
    assert_near(exi_mixture_weight(m.paths, weights, 3), 2 / (1 + beyond * beyond / (beyond + 0.25)), 1e-15);
    double shares[5], bounded[5];
    const double fade = exi_mixture_shares(m.paths, (double[4]){1, 9, -0.5, 1}, shares, bounded);
    assert_row_near(shares, ((double[5]){-0.5, 1, 0, -0.5, 1}), 5, 0);
    /* psi(-1/2) = -1/6; the sum of psi is 5/3 */
    assert_row_near(bounded, ((double[5]){-0.1, 0.6, 0, -0.1, 0.6}), 5, 1e-15);
    assert_near(fade, 1 / (1 + 8 * 0.25), 1e-15);
    assert_near(exi_mixture_term(&(ex_mixture_term){{1, 3, -1}, 3}, bounded), 4 * 0.6 * -0.1 * 0.7 * 0.7 * 0.7, 1e-15);
    assert_near(exi_mixture_term(&(ex_mixture_term){{0, 1, 4}, 0}, bounded), 27 * -0.1 * 0.6 * 0.6, 1e-15);
    close(&m);
}

static void weights_are_as_the_formula_has_them(void **state) {
    (void)state;
    uint64_t random = 2;
    for (int parts = 0; parts < 4; parts++) {
        mixing m;
        open(&m, (parts & 1 ? MIXED_OVERLAPS : 0) | (parts & 2 ? MIXED_REFERENCE : 0), 3);
        for (int round = 0; round < 200; round++) {
            double weights[4], back[4], shares[5], bounded[5], own[4], own_shares[5], own_bounded[5];
            draw_weights(&random, round % 2, weights);
            const double fade = plain_mixture_weights(&m.layer.def, weights, back, shares, bounded);
            for (int k = 0; k < 4; k++) {
                own[k] = exi_mixture_weight(m.paths, weights, k);
                if (round % 2 && k != m.paths->reference) /* those of the simplex stay */
                    assert_true(own[k] == weights[k]);
            }
            assert_near(exi_mixture_shares(m.paths, own, own_shares, own_bounded), fade, 1e-14);
            assert_row_near(own, back, 4, 1e-14);
            assert_row_near(own_shares, shares, 5, 1e-14);
            assert_row_near(own_bounded, bounded, 5, 1e-14);
            double sum = 0;
            for (int i = 0; i < 5; i++) {
                sum += own_bounded[i];
                assert_true(own_bounded[i] >= -0.25);
            }
            assert_near(sum, 1, 1e-14);
        }
        close(&m);
    }
}

/* Everything that evaluation uses: weights, shares, bounded shares, the fade. */
static void all_of(const mixing *m, const double *weights, double out[15]) {
    for (int k = 0; k < 4; k++)
        out[k] = exi_mixture_weight(m->paths, weights, k);
    out[14] = exi_mixture_shares(m->paths, out, out + 4, out + 9);
}

/* Slopes on both sides of the borders of the simplex, where a weight is 0 or the sum of positive weights, times
 * overlaps, is 1. */
static void slopes_have_no_step(void **state) {
    (void)state;
    uint64_t random = 4;
    mixing m;
    open(&m, MIXED_OVERLAPS, 5);
    for (int round = 0; round < 300; round++) {
        double at[4], along[4], sides[3][15];
        const double h = 1e-6;
        draw_weights(&random, true, at);
        for (int k = 0; k < 4; k++)
            along[k] = random_between(&random, -1, 1);
        if (round % 3 == 0)
            at[round % 4] = 0;
        double over = 0;
        for (int k = 0; k < 4; k++)
            over += (round % 3 == 1 ? (double)m.layer.overlaps[round % 4][k] : 1) * at[k];
        for (int k = 0; round % 3 > 0 && k < 4; k++)
            at[k] /= over;
        for (int side = 0; side < 3; side++) {
            double weights[4];
            for (int k = 0; k < 4; k++)
                weights[k] = at[k] + (side - 1) * h * along[k];
            all_of(&m, weights, sides[side]);
        }
        for (int i = 0; i < 15; i++)
            assert_near((sides[2][i] - sides[1][i]) / h, (sides[1][i] - sides[0][i]) / h, 2e-4);
    }
    close(&m);
}

static void nodes_are_as_the_formula_has_them(void **state) {
    (void)state;
    uint64_t random = 6;
    for (int parts = 0; parts < 6; parts++) { /* the last with turns of several revolutions */
        const double slack = parts < 4 ? 1 : 8;
        mixing m;
        open_turned(&m, (parts & 1 ? MIXED_OVERLAPS : 0) | (parts & 2 ? MIXED_REFERENCE : 0) | MIXED_CORRECTORS, 7,
                    parts < 4 ? 1 : 6);
        for (int round = 0; round < 60; round++) {
            double weights[4] = {0}, back[4], shares[5], bounded[5], turns[MIXED_NODES][9], places[MIXED_NODES][3];
            float floats[16] = {0};
            exi_trajectory path = {0};
            if (round < 4)
                weights[round] = 1;
            else
                draw_weights(&random, round % 2, weights);
            const double *own = exi_mixture_weigh(m.paths, weights, m.room, floats);
            exi_mixture_open(m.paths, m.room, &path);
            const double fade = plain_mixture_weights(&m.layer.def, weights, back, shares, bounded);
            assert_row_near(own, back, 4, 1e-14);
            plain_mixture_nodes(&m.layer.def, back, shares, turns, places);
            for (int n = 0; n < MIXED_NODES; n++)
                for (int r = 0; r < 3; r++) {
                    const float *row = path.matrices + EXI_MATRIX_FLOATS * n + 4 * r;
                    double place = (double)row[3] + (double)m.layer.places[0][n][r];
                    for (int c = 0; c < 3; c++) {
                        assert_near((double)row[c], turns[n][3 * r + c] - (r == c), slack * 1e-6);
                        place += (double)row[c] * (double)m.layer.places[0][n][c];
                    }
                    assert_near(place, places[n][r], slack * 3e-6);
                    if (round < 4 && round != m.paths->reference) /* exact at the examples */
                        assert_near(place, (double)m.layer.places[1 + round][n][r], 1e-6);
                }
            for (int j = 0; j < MIXED_COUNT; j++) {
                double amount = 0;
                for (int t = 0; t < MIXED_TERMS; t++)
                    amount += fade * (double)m.layer.curves[j][t] * exi_mixture_term(&m.layer.terms[t], bounded);
                assert_near((double)floats[m.paths->form_count - MIXED_COUNT + j], amount, 1e-6);
                if (round < 4)
                    assert_true(floats[m.paths->form_count - MIXED_COUNT + j] == 0);
            }
        }
        close(&m);
    }
}

/* One node moves everything, and needs no edges. */
static void a_single_node(void **state) {
    (void)state;
    mixing m;
    open(&m, 0, 8);
    exi_block_destroy(m.paths);
    ex_mixture one = m.layer.def.trajectory.mixture;
    const float places[5][3] = {{1, 2, 3}, {4, 5, 6}, {0, 0, 1}, {0, 1, 0}, {1, 0, 0}};
    const float turns[4][3] = {{0, 0, 1.5707964F}, {0}, {0}, {0}};
    one.node_count = 1;
    one.edge_count = 0;
    one.places = places[0];
    one.turns = turns[0];
    memset(m.layer.nodes, 0, 4 * VERTICES * sizeof *m.layer.nodes);
    const exi_trajectories_def def = {.vertex_count = VERTICES,
                                      .example_count = MIXED_EXAMPLES,
                                      .trajectories = m.layer.trajectories,
                                      .reference = -1,
                                      .mixture = one};
    assert_int_equal(exi_trajectories_create(&def, NULL, &m.paths, NULL), EX_OK);
    free(m.room);
    m.room = malloc(exi_mixture_room_size(m.paths));
    const float *rows = exi_mixture_at_example(m.paths, 0, m.room);
    /* a quarter turn about z, then (1, 2, 3) lies at (4, 5, 6) */
    const double expected[12] = {-1, -1, 0, 6, 1, -1, 0, 4, 0, 0, 0, 3};
    for (int i = 0; i < 12; i++)
        assert_near((double)rows[i], expected[i], 1e-6);
    close(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_by_hand),     cmocka_unit_test(weights_are_as_the_formula_has_them),
        cmocka_unit_test(slopes_have_no_step), cmocka_unit_test(nodes_are_as_the_formula_has_them),
        cmocka_unit_test(a_single_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
