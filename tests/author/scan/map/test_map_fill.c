/*
 * Filling holes: equation 4 on a square grid against its own derivatives, linear functions on crooked meshes and at
 * free edges, vertices outside a part, lending, steps, joins of filled holes with their surroundings, errors.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/limbs.h"

static void must_fill(ex_displacement_map *map, const ex_rig *rig, int level, const ex_displacement_map *lender,
                      const ex_fill_options *options) {
    ex_error error;
    if (ex_displacement_map_fill(map, rig, level, lender, options, &error) != EX_OK)
        fail_msg("%s", error.text);
}

static ex_displacement_map *copy_of(const ex_displacement_map *map) {
    ex_displacement_map *copy = ex_displacement_map_create(map->vertex_count);
    assert_non_null(copy);
    memcpy(copy->displacements, map->displacements, (size_t)map->vertex_count * sizeof *map->displacements);
    memcpy(copy->states, map->states, (size_t)map->vertex_count);
    return copy;
}

/* ---- a square grid, level 0 ---- */

enum { SIDE = 17 };

/* Rings from the hole, which is 3 by 3 in the middle. */
static int ring_at(int r, int c) {
    const int dr = abs(r - SIDE / 2) - 1, dc = abs(c - SIDE / 2) - 1, most = dr > dc ? dr : dc;
    return most > 0 ? most : 0;
}

static ex_displacement_map *grid_map(double scale) {
    ex_displacement_map *map = ex_displacement_map_create(SIDE * SIDE);
    assert_non_null(map);
    for (int r = 0; r < SIDE; r++)
        for (int c = 0; c < SIDE; c++) {
            const bool hole = ring_at(r, c) == 0;
            map->states[r * SIDE + c] = hole ? EX_DISPLACEMENT_MAP_FILLED : EX_DISPLACEMENT_MAP_HIT;
            map->displacements[r * SIDE + c] = hole ? 0 : (float)(scale * (sin(0.7 * r) + cos(0.9 * c + 0.3 * r)));
        }
    return map;
}

static double at(const ex_displacement_map *map, int r, int c) {
    return (double)map->displacements[r * SIDE + c];
}

/* Half the derivative of equation 4 with respect to the displacement of a vertex. */
static double derivative(const ex_displacement_map *map, const ex_displacement_map *measured, int r, int c, int ramp,
                         double weight) {
    static const int steps[5][2] = {{0, 0}, {1, 0}, {-1, 0}, {0, 1}, {0, -1}};
    const double kappa = ring_at(r, c) / (ramp + 1.0);
    double sum = kappa * (at(map, r, c) - at(measured, r, c));
    for (int k = 0; k < 5; k++) {
        const int i = r + steps[k][0], j = c + steps[k][1], ring = ring_at(i, j);
        if (ring > ramp)
            continue;
        const double laplacian =
            at(map, i + 1, j) + at(map, i - 1, j) + at(map, i, j + 1) + at(map, i, j - 1) - 4 * at(map, i, j);
        sum += weight * (1 - ring / (ramp + 1.0)) * (k == 0 ? -4 : 1) * laplacian;
    }
    return sum;
}

/* In metres and in millimetres, with squares of any size: the same. */
static void equation_4(void **state) {
    (void)state;
    const struct {
        double size, scale, weight;
        int ramp;
    } cases[] = {{1, 1, 0, 0}, {0.05, 0.001, 0, 3}, {1, 1, 5, 3}, {1, 1, 1, 1}, {1, 1, 1, 5}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ex_rig *rig = limb_sheet_rig(SIDE - 1, cases[i].size, 0);
        ex_displacement_map *measured = grid_map(cases[i].scale), *map = copy_of(measured);
        must_fill(map, rig, 0, NULL, &(ex_fill_options){.ramp = cases[i].ramp, .weight = cases[i].weight});
        const int ramp = cases[i].ramp ? cases[i].ramp : 3;
        const double weight = cases[i].weight > 0 ? cases[i].weight : 1;
        for (int r = 0; r < SIDE; r++)
            for (int c = 0; c < SIDE; c++) {
                const int ring = ring_at(r, c), v = r * SIDE + c;
                assert_int_equal(map->states[v], ring == 0      ? EX_DISPLACEMENT_MAP_FILLED
                                                 : ring <= ramp ? EX_DISPLACEMENT_MAP_FAIRED
                                                                : EX_DISPLACEMENT_MAP_HIT);
                if (ring > ramp)
                    assert_true(map->displacements[v] == measured->displacements[v]);
                else
                    assert_near(derivative(map, measured, r, c, ramp, weight) / cases[i].scale, 0, 1e-5);
            }
        ex_displacement_map_destroy(map);
        ex_displacement_map_destroy(measured);
        ex_rig_destroy(rig);
    }
}

/* ---- linear functions ---- */

/* A crooked flat sheet: inner vertices anywhere within a third of their squares. */
static void linear_stays_linear(void **state) {
    (void)state;
    uint64_t seed = 5;
    for (int crooked = 0; crooked < 2; crooked++) {
        ex_mesh *cage = limb_sheet(12, 1.2);
        for (int v = 0; v < cage->vertex_count && crooked; v++)
            for (int c = 0; c < 2; c++)
                cage->positions[3 * v + c] += random_between(&seed, -0.03, 0.03);
        ex_rig *rig = limb_rig_of(cage, NULL, NULL, 0);
        ex_displacement_map *map = ex_displacement_map_create(cage->vertex_count);
        assert_non_null(map);
        for (int v = 0; v < map->vertex_count; v++) {
            const double *p = cage->positions + 3 * (size_t)v, x = p[0] - 0.6, y = p[1] - 0.6;
            const bool outside = !crooked && p[0] > 0.75;
            /* inside; of the straight sheet also at the edge of the sheet and at that of the part */
            const bool hole = crooked ? x * x + y * y < 0.06
                                      : (p[0] < 0.25 && p[1] > 0.35 && p[1] < 0.65) || (p[0] > 0.55 && p[1] < 0.45);
            map->states[v] = outside ? EX_DISPLACEMENT_MAP_OUTSIDE
                             : hole  ? EX_DISPLACEMENT_MAP_FILLED
                                     : EX_DISPLACEMENT_MAP_HIT;
            map->displacements[v] = outside ? 1000 : hole ? 0 : (float)(0.3 + p[0] - 2 * p[1]);
        }
        const int alone = 11 * 13 + 6; /* a hole with only outside vertices around it */
        if (!crooked) {
            map->states[alone] = EX_DISPLACEMENT_MAP_FILLED;
            map->displacements[alone] = 5;
        }
        must_fill(map, rig, 0, NULL, NULL);
        for (int v = 0; v < map->vertex_count; v++)
            assert_near((double)map->displacements[v],
                        map->states[v] == EX_DISPLACEMENT_MAP_OUTSIDE ? 1000
                        : v == alone && !crooked                      ? 5
                                                 : 0.3 + cage->positions[3 * v] - 2 * cage->positions[3 * v + 1],
                        2e-6);
        ex_displacement_map_destroy(map);
        ex_rig_destroy(rig);
        ex_mesh_destroy(cage);
    }
}

/* A map that shows nothing becomes 0, and one that shows all is unchanged. */
static void all_or_nothing(void **state) {
    (void)state;
    ex_rig *rig = limb_sheet_rig(4, 1, 2);
    ex_displacement_map *map = ex_displacement_map_create(ex_rig_level_vertex_count(rig, EX_LEVEL_LIMIT));
    assert_non_null(map);
    memset(map->states, EX_DISPLACEMENT_MAP_FILLED, (size_t)map->vertex_count);
    must_fill(map, rig, EX_LEVEL_LIMIT, NULL, NULL);
    for (int v = 0; v < map->vertex_count; v++)
        assert_true(map->displacements[v] == 0 && map->states[v] == EX_DISPLACEMENT_MAP_FILLED);
    for (int v = 0; v < map->vertex_count; v++) {
        map->states[v] = EX_DISPLACEMENT_MAP_HIT;
        map->displacements[v] = (float)v;
    }
    must_fill(map, rig, EX_LEVEL_LIMIT, NULL, NULL);
    for (int v = 0; v < map->vertex_count; v++)
        assert_true(map->displacements[v] == (float)v && map->states[v] == EX_DISPLACEMENT_MAP_HIT);
    ex_displacement_map_destroy(map);
    ex_rig_destroy(rig);
}

/* ---- a limb ---- */

/* Makes a hole around every n-th vertex. */
static void make_holes(ex_displacement_map *map, const float *positions, int first, int every, double radius) {
    for (int middle = first; middle < map->vertex_count; middle += every)
        for (int v = 0; v < map->vertex_count; v++) {
            double sum = 0;
            for (int c = 0; c < 3; c++) {
                const double step = (double)positions[3 * v + c] - (double)positions[3 * middle + c];
                sum += step * step;
            }
            if (sum < radius * radius) {
                map->states[v] = EX_DISPLACEMENT_MAP_FILLED;
                map->displacements[v] = 0;
            }
        }
}

typedef struct limb_case {
    ex_mesh *cage;
    ex_rig *rig;
    float *positions, *normals;
    ex_displacement_map *whole;
} limb_case;

static limb_case open_limb(int levels, double noise) {
    limb_case l = {.cage = limb_cage()};
    uint64_t seed = 3;
    l.rig = limb_rig(l.cage, levels);
    l.whole = limb_map(l.rig, 0.004);
    limb_surface(l.rig, NULL, &l.positions, &l.normals);
    for (int v = 0; v < l.whole->vertex_count; v++)
        l.whole->displacements[v] += (float)random_between(&seed, -noise, noise);
    return l;
}

static void close_limb(limb_case *l) {
    ex_displacement_map_destroy(l->whole);
    free(l->positions);
    free(l->normals);
    ex_rig_destroy(l->rig);
    ex_mesh_destroy(l->cage);
}

/* Across the edge of a filled hole the surface turns at most twice as much as before; here, hardly more. */
static void holes_do_not_show(void **state) {
    (void)state;
    for (int noisy = 0; noisy < 2; noisy++) {
        limb_case l = open_limb(3, noisy ? 0.0005 : 0);
        const double radii[3] = {0.012, 0.025, 0.05};
        for (int i = 0; i < 3; i++) {
            ex_displacement_map *map = copy_of(l.whole);
            ex_displacement_map_rim rim;
            ex_error error;
            make_holes(map, l.positions, 100 * i, 977, radii[i]);
            must_fill(map, l.rig, EX_LEVEL_LIMIT, NULL, NULL);
            assert_int_equal(ex_displacement_map_measure_rim(l.rig, EX_LEVEL_LIMIT, NULL, map, l.whole, &rim, &error),
                             EX_OK);
            assert_true(rim.edge_count > 200 && rim.whole_rms > 2);
            assert_true(rim.rms < 1.15 * rim.whole_rms && rim.high < 1.15 * rim.whole_high);
            ex_displacement_map_destroy(map);
        }
        close_limb(&l);
    }
}

/* Another scan lends the missing part, moved and tilted smoothly: all of it comes back. */
static void lending(void **state) {
    (void)state;
    limb_case l = open_limb(2, 0.0005);
    ex_displacement_map *lender = copy_of(l.whole), *map = copy_of(l.whole), *plain;
    for (int v = 0; v < lender->vertex_count; v++)
        lender->displacements[v] += 0.01F;
    make_holes(map, l.positions, 50, 397, 0.035);
    plain = copy_of(map);
    must_fill(map, l.rig, EX_LEVEL_LIMIT, lender, NULL);
    must_fill(plain, l.rig, EX_LEVEL_LIMIT, NULL, NULL);
    int lent = 0;
    double worst = 0;
    for (int v = 0; v < map->vertex_count; v++) {
        assert_near((double)map->displacements[v], (double)l.whole->displacements[v], 1e-6);
        assert_int_equal(map->states[v] == EX_DISPLACEMENT_MAP_LENT, plain->states[v] == EX_DISPLACEMENT_MAP_FILLED);
        lent += map->states[v] == EX_DISPLACEMENT_MAP_LENT;
        const double off = fabs((double)plain->displacements[v] - (double)l.whole->displacements[v]);
        worst = off > worst ? off : worst;
    }
    assert_true(lent > 50 && worst > 1e-3);
    /* a lender with a hole lends nothing there */
    memset(lender->states, EX_DISPLACEMENT_MAP_FILLED, (size_t)lender->vertex_count);
    ex_displacement_map *again = copy_of(l.whole);
    make_holes(again, l.positions, 50, 397, 0.035);
    must_fill(again, l.rig, EX_LEVEL_LIMIT, lender, NULL);
    assert_memory_equal(again->displacements, plain->displacements, (size_t)map->vertex_count * sizeof(float));
    assert_memory_equal(again->states, plain->states, (size_t)map->vertex_count);
    ex_displacement_map_destroy(again);
    ex_displacement_map_destroy(plain);
    ex_displacement_map_destroy(lender);
    ex_displacement_map_destroy(map);
    close_limb(&l);
}

/* Two lenders at different heights, each with a hole that the other does not have: no edge of theirs shows. */
static void two_lenders(void **state) {
    (void)state;
    limb_case l = open_limb(2, 0);
    ex_displacement_map *first = copy_of(l.whole), *second = copy_of(l.whole), *map = copy_of(l.whole);
    const ex_displacement_map *lenders[2] = {first, second};
    const double weights[2] = {1, 3};
    ex_error error;
    for (int v = 0; v < map->vertex_count; v++) {
        first->displacements[v] += 0.02F;
        second->displacements[v] -= 0.01F;
        if (l.positions[3 * v] < 0.25F)
            first->states[v] = EX_DISPLACEMENT_MAP_FILLED;
        if (l.positions[3 * v] > 0.35F)
            second->states[v] = EX_DISPLACEMENT_MAP_FILLED;
    }
    make_holes(map, l.positions, 4 * LIMB_SIDES, 100000, 0.15);
    assert_int_equal(ex_displacement_map_fill_lent(map, l.rig, EX_LEVEL_LIMIT, lenders, weights, 2, NULL, &error),
                     EX_OK);
    int lent = 0;
    for (int v = 0; v < map->vertex_count; v++) {
        assert_near((double)map->displacements[v], (double)l.whole->displacements[v], 2e-6);
        assert_true(map->states[v] != EX_DISPLACEMENT_MAP_FILLED);
        lent += map->states[v] == EX_DISPLACEMENT_MAP_LENT;
    }
    assert_true(lent > 100);
    const double negative[2] = {1, -1};
    assert_int_equal(ex_displacement_map_fill_lent(map, l.rig, EX_LEVEL_LIMIT, lenders, negative, 2, NULL, &error),
                     EX_ERROR_ARGUMENT);
    assert_sentence(&error, EX_ERROR_ARGUMENT, "-1");
    ex_displacement_map_destroy(first);
    ex_displacement_map_destroy(second);
    ex_displacement_map_destroy(map);
    close_limb(&l);
}

/* Steps converge to the solution. */
static void steps(void **state) {
    (void)state;
    limb_case l = open_limb(1, 0);
    ex_displacement_map *solved = copy_of(l.whole);
    make_holes(solved, l.positions, 60, 100000, 0.05);
    must_fill(solved, l.rig, EX_LEVEL_LIMIT, NULL, NULL);
    double before = 1;
    const int counts[3] = {1, 8, 400};
    for (int i = 0; i < 3; i++) {
        ex_displacement_map *map = copy_of(l.whole);
        make_holes(map, l.positions, 60, 100000, 0.05);
        must_fill(map, l.rig, EX_LEVEL_LIMIT, NULL, &(ex_fill_options){.steps = counts[i]});
        double sum = 0;
        for (int v = 0; v < map->vertex_count; v++)
            sum += fabs((double)map->displacements[v] - (double)solved->displacements[v]);
        assert_true(sum < before);
        before = sum;
        ex_displacement_map_destroy(map);
    }
    assert_true(before < 1e-6 && before >= 0);
    ex_displacement_map_destroy(solved);
    close_limb(&l);
}

/* ---- rims by hand ---- */

/* A roof over a sheet: filled on one side of the ridge, the angle there is that between its slopes. */
static void rim_of_a_roof(void **state) {
    (void)state;
    ex_rig *rig = limb_sheet_rig(8, 8, 0);
    ex_displacement_map *map = ex_displacement_map_create(81), *flat = ex_displacement_map_create(81);
    ex_displacement_map_rim rim;
    ex_error error;
    assert_true(map && flat);
    for (int v = 0; v < 81; v++) {
        const int row = v / 9;
        map->displacements[v] = (float)(row < 4 ? row : 8 - row) * 0.5F;
        map->states[v] =
            row < 4 ? EX_DISPLACEMENT_MAP_FILLED : EX_DISPLACEMENT_MAP_HIT; /* rows 3 to 4 are the last filled faces */
        flat->states[v] = EX_DISPLACEMENT_MAP_HIT;
    }
    assert_int_equal(ex_displacement_map_measure_rim(rig, 0, NULL, map, flat, &rim, &error), EX_OK);
    assert_int_equal(rim.edge_count, 8);
    assert_near(rim.rms, 2 * 26.56505117707799, 1e-4);
    assert_near(rim.high, 2 * 26.56505117707799, 1e-4);
    assert_near(rim.whole_rms, 0, 1e-9);
    assert_int_equal(ex_displacement_map_measure_rim(rig, 0, NULL, flat, NULL, &rim, &error), EX_OK);
    assert_int_equal(rim.edge_count, 0);
    ex_displacement_map_destroy(map);
    ex_displacement_map_destroy(flat);
    ex_rig_destroy(rig);
}

/* ---- errors ---- */

static void invalid(void **state) {
    (void)state;
    ex_rig *rig = limb_sheet_rig(2, 1, 1);
    ex_displacement_map *good = ex_displacement_map_create(25), *small = ex_displacement_map_create(24),
                        *broken = ex_displacement_map_create(25), *none = ex_displacement_map_create(25);
    ex_displacement_map_rim rim;
    ex_error error;
    assert_true(good && small && broken && none);
    broken->displacements[7] = NAN;
    none->states[3] = EX_DISPLACEMENT_MAP_STATE_COUNT;
    const struct {
        ex_displacement_map *map, *lender;
        int level;
        ex_fill_options options;
        ex_result result;
        const char *word;
    } cases[] = {
        {small, NULL, 1, {0}, EX_ERROR_ARGUMENT, "24"},
        {good, small, 1, {0}, EX_ERROR_ARGUMENT, "borrow from"},
        {broken, NULL, 1, {0}, EX_ERROR_DATA, "vertex 7"},
        {none, NULL, 1, {0}, EX_ERROR_DATA, "vertex 3"},
        {good, broken, 1, {0}, EX_ERROR_DATA, "borrow from"},
        {good, NULL, 3, {0}, EX_ERROR_ARGUMENT, "level 3"},
        {good, NULL, 1, {.ramp = -1}, EX_ERROR_ARGUMENT, "ramp"},
        {good, NULL, 1, {.weight = -1}, EX_ERROR_ARGUMENT, "weight"},
        {good, NULL, 1, {.weight = NAN}, EX_ERROR_ARGUMENT, "weight"},
        {good, NULL, 1, {.steps = -1}, EX_ERROR_ARGUMENT, "steps"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(
            ex_displacement_map_fill(cases[i].map, rig, cases[i].level, cases[i].lender, &cases[i].options, &error),
            cases[i].result);
        assert_sentence(&error, cases[i].result, cases[i].word);
    }
    assert_int_equal(ex_displacement_map_measure_rim(rig, 1, NULL, small, NULL, &rim, &error), EX_ERROR_ARGUMENT);
    assert_sentence(&error, EX_ERROR_ARGUMENT, "24");
    assert_int_equal(ex_displacement_map_measure_rim(rig, 1, NULL, good, broken, &rim, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "unharmed");
    ex_displacement_map_destroy(good);
    ex_displacement_map_destroy(small);
    ex_displacement_map_destroy(broken);
    ex_displacement_map_destroy(none);
    ex_rig_destroy(rig);
}

typedef struct attempt_context {
    const ex_rig *rig;
    int steps;
} attempt_context;

static ex_result attempt(void *context) {
    const attempt_context *c = context;
    ex_displacement_map map = {.vertex_count = SIDE * SIDE};
    float displacements[SIDE * SIDE] = {0};
    unsigned char states[SIDE * SIDE];
    ex_error error;
    ex_displacement_map_rim rim;
    map.displacements = displacements;
    map.states = states;
    memset(states, EX_DISPLACEMENT_MAP_HIT, sizeof states);
    states[0] = states[150] = EX_DISPLACEMENT_MAP_FILLED;
    ex_result result = ex_displacement_map_fill(&map, c->rig, 0, NULL, &(ex_fill_options){.steps = c->steps}, &error);
    return result == EX_OK ? ex_displacement_map_measure_rim(c->rig, 0, NULL, &map, &map, &rim, &error) : result;
}

static void memory_runs_out(void **state) {
    (void)state;
    attempt_context context = {.rig = limb_sheet_rig(SIDE - 1, 1, 0)};
    assert_true(fail_alloc_sweep(attempt, &context) > 40);
    context.steps = 3;
    assert_true(fail_alloc_sweep(attempt, &context) > 40);
    ex_rig_destroy((ex_rig *)context.rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equation_4),     cmocka_unit_test(linear_stays_linear),
        cmocka_unit_test(all_or_nothing), cmocka_unit_test(holes_do_not_show),
        cmocka_unit_test(lending),        cmocka_unit_test(two_lenders),
        cmocka_unit_test(steps),          cmocka_unit_test(rim_of_a_roof),
        cmocka_unit_test(invalid),        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
