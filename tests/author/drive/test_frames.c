/*
 * Frames of a driven mesh: distances along edges by hand, samples, frames spread over a driver, assignment of vertices,
 * regions, errors, and failing memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "author/drive/drive.h"

#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/sleeves.h"

/* ---- by hand ---- */

/* Two unit squares side by side, each split once, and a triangle far away. */
static const float places[] = {0, 0, 0, 1, 0, 0, 2, 0, 0, 0, 1, 0, 1, 1, 0, 2, 1, 0, 9, 0, 0, 9, 1, 0, 9, 0, 1};
static const uint32_t cuts[] = {0, 1, 4, 0, 4, 3, 1, 2, 5, 1, 5, 4, 6, 7, 8};

static void test_ways(void **state) {
    (void)state;
    exi_arena arena = {0};
    exi_graph g;
    double d[9];
    int nearest[9];
    assert_true(exi_graph_open(&g, &arena, places, 9, cuts, 5));
    assert_int_equal(g.part_count, 2);
    assert_int_equal(g.parts[8], 1);
    /* Triangles of area 1/2, a third of each to its corners. */
    const double areas[] = {2, 3, 1, 1, 3, 2, 1, 1, 1};
    for (int v = 0; v < 9; v++)
        assert_near(g.areas[v], areas[v] / 6, 1e-12);
    exi_graph_distances(&g, (int[]){3}, 1, d, NULL);
    const double root = sqrt(2), ways[] = {1, 2, 3, 0, 1, 2};
    for (int v = 0; v < 6; v++)
        assert_near(d[v], ways[v], 1e-12);
    assert_true(isinf(d[6]));
    exi_graph_distances(&g, (int[]){0, 5}, 2, d, nearest);
    const double both[] = {0, 1, 1, 1, 1, 0};
    const int owners[] = {0, 0, 1, 0, 1, 1};
    for (int v = 0; v < 6; v++) {
        assert_near(d[v], both[v], 1e-12);
        assert_int_equal(nearest[v], owners[v]);
    }
    assert_int_equal(nearest[7], -1);
    exi_graph_distances(&g, (int[]){0}, 1, d, NULL);
    assert_near(d[4], root, 1e-12);
    assert_near(d[5], 1 + root, 1e-12); /* by 1 or by 4 */
    exi_arena_free(&arena);
}

static void test_samples(void **state) {
    (void)state;
    exi_arena arena = {0};
    exi_graph g;
    int order[9];
    uint32_t vertices[9];
    float weights[9];
    assert_true(exi_graph_open(&g, &arena, places, 9, cuts, 5));
    assert_true(exi_graph_order(&g, order));
    bool seen[9] = {false};
    for (int i = 0; i < 9; i++)
        seen[order[i]] = true;
    for (int i = 0; i < 9; i++)
        assert_true(seen[i]);
    assert_true(order[6] >= 6 && order[7] >= 6 && order[8] >= 6); /* distant ones come last */
    const double few[] = {0, 0, 3, 0, 1, 0, 0, 0, 0};
    assert_int_equal(exi_graph_sample(&g, order, few, 2, vertices, weights), 2);
    assert_int_equal(vertices[0], 2);
    assert_near(weights[0], 0.75, 1e-7);
    assert_near(weights[1], 0.25, 1e-7);
    /* Nine of equal weight, divided into three. */
    const double all[] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    assert_int_equal(exi_graph_sample(&g, order, all, 3, vertices, weights), 3);
    for (int i = 0; i < 3; i++)
        assert_near(weights[i], 1.0 / 3, 1e-7);
    assert_true(vertices[0] == (uint32_t)order[1] || vertices[0] == (uint32_t)order[4]);
    /* They come sorted, whatever the order. */
    int backwards[9];
    for (int i = 0; i < 9; i++)
        backwards[i] = 8 - i;
    assert_int_equal(exi_graph_sample(&g, backwards, all, 3, vertices, weights), 3);
    assert_true(vertices[0] == 1 && vertices[1] == 4 && vertices[2] == 7);
    /* One with most of the weight stands for most pieces. */
    const double heavy[] = {1, 100, 1, 1, 1, 1, 1, 1, 1};
    const int count = exi_graph_sample(&g, order, heavy, 3, vertices, weights);
    assert_int_equal(count, 1);
    assert_int_equal(vertices[0], 1);
    assert_near(weights[0], 1, 1e-7);
    exi_arena_free(&arena);
}

/* ---- frames ---- */

static void must_make(const sleeve *s, const ex_drive_options *o, exi_drive_plan *d) {
    ex_error error = {0};
    if (exi_drive_plan_make(s->driver, s->driven, o, 3, d, &error) != EX_OK)
        fail_msg("%s", error.text);
}

static void check_influences(const ex_influences *list, int rows, int places_count, int most) {
    for (int v = 0; v < rows; v++) {
        double sum = 0;
        assert_in_range(list->starts[v + 1] - list->starts[v], 1, most);
        for (uint32_t i = list->starts[v]; i < list->starts[v + 1]; i++) {
            assert_true(list->weights[i] > 0);
            assert_true(list->places[i] < places_count);
            for (uint32_t j = list->starts[v]; j < i; j++)
                assert_int_not_equal(list->places[i], list->places[j]);
            sum += (double)list->weights[i];
        }
        assert_near(sum, 1, 1e-6);
    }
}

static void test_spread(void **state) {
    (void)state;
    sleeve s;
    sleeve_open(&s, 21, 8);
    const int rows = s.driver->vertex_count + s.driven->vertex_count;
    for (int frames = 2; frames <= 8; frames *= 2) {
        exi_drive_plan d, again;
        s.def.options.frames = frames;
        s.def.options.influences = 3;
        must_make(&s, &s.def.options, &d);
        assert_int_equal(d.driver.driver.frame_count, frames);
        assert_int_equal(d.view_count, frames);
        assert_null(d.regions.starts);
        assert_int_equal(d.driver.residual, EX_RESIDUAL_NONE);
        check_influences(&d.driver.carry, rows, frames, 3);
        for (int f = 0; f < frames; f++) {
            /* Frames are under the sleeve, and weigh their surroundings most. */
            double middle = 0, sum = 0, look = 0;
            for (uint32_t i = d.driver.driver.starts[f]; i < d.driver.driver.starts[f + 1]; i++) {
                sum += (double)d.driver.driver.weights[i];
                middle += (double)d.driver.driver.weights[i] * s.driver->positions[3 * d.driver.driver.vertices[i]];
            }
            assert_near(sum, 1, 1e-5);
            assert_true(middle > 0.2 && middle < 1.8);
            assert_int_equal(d.views[f].frame, f);
            sum = 0;
            for (int i = 0; i < d.views[f].count; i++) {
                sum += (double)d.views[f].weights[i];
                look += (double)d.views[f].weights[i] * s.driver->positions[3 * d.views[f].vertices[i]];
            }
            assert_near(sum, 1, 1e-5);
            assert_near(look, middle, 0.35);
        }
        must_make(&s, &s.def.options, &again);
        assert_memory_equal(d.driver.carry.weights, again.driver.carry.weights,
                            d.driver.carry.starts[rows] * sizeof(float));
        assert_memory_equal(d.views[0].weights, again.views[0].weights, (size_t)d.views[0].count * sizeof(float));
        exi_drive_plan_free(&again);
        exi_drive_plan_free(&d);
    }
    sleeve_close(&s);
}

/* Two frames at the ends of the sleeve: vertices at an end follow its frame, and weights change evenly between. */
static void test_two_ends(void **state) {
    (void)state;
    sleeve s;
    exi_drive_plan d;
    sleeve_open(&s, 21, 8);
    must_make(&s, &s.def.options, &d);
    double shares[2] = {0};
    for (int side = 0; side < 2; side++) {
        const int v = side == 0 ? 0 : s.driven->vertex_count - 1;
        for (uint32_t i = d.driver.carry.starts[v]; i < d.driver.carry.starts[v + 1]; i++)
            shares[side] += d.driver.carry.places[i] == 0 ? (double)d.driver.carry.weights[i] : 0;
    }
    assert_true(fabs(shares[0] - shares[1]) > 0.5);
    for (int v = 0; v + 8 < s.driven->vertex_count; v++) {
        double own[2] = {0}, next[2] = {0};
        for (uint32_t i = d.driver.carry.starts[v]; i < d.driver.carry.starts[v + 1]; i++)
            own[d.driver.carry.places[i]] = (double)d.driver.carry.weights[i];
        for (uint32_t i = d.driver.carry.starts[v + 8]; i < d.driver.carry.starts[v + 9]; i++)
            next[d.driver.carry.places[i]] = (double)d.driver.carry.weights[i];
        assert_near(own[0], next[0], 0.2);
    }
    exi_drive_plan_free(&d);
    sleeve_close(&s);
}

static void test_whole(void **state) {
    (void)state;
    sleeve s;
    exi_drive_plan d;
    sleeve_open(&s, 12, 6);
    ex_drive_options *o = &s.def.options;
    o->frames = 1;
    must_make(&s, o, &d);
    assert_int_equal(d.driver.driver.frame_count, 1);
    assert_int_equal(d.driver.driver.starts[1], s.driver->vertex_count);
    assert_null(d.driver.carry.starts);
    assert_int_equal(d.view_count, 1);
    assert_int_equal(d.views[0].count, s.driver->vertex_count);
    assert_int_equal(d.driver.residual, EX_RESIDUAL_KEYS);
    exi_drive_plan_free(&d);
    o->frame_group = "upper";
    must_make(&s, o, &d);
    for (uint32_t i = 0; i < d.driver.driver.starts[1]; i++)
        assert_true(s.driver->positions[3 * d.driver.driver.vertices[i]] < 1.2);
    exi_drive_plan_free(&d);
    o->frame = EX_WHOLE_FRAME_NONE;
    o->frames = -1;
    must_make(&s, o, &d);
    assert_int_equal(d.driver.driver.starts[1], 0);
    assert_null(d.driver.joints);
    exi_drive_plan_free(&d);
    o->frame = EX_WHOLE_FRAME_JOINT;
    o->frames = 0;
    o->frame_joint = 2;
    must_make(&s, o, &d);
    assert_int_equal(d.driver.joints[0], 2);
    exi_drive_plan_free(&d);
    /* Frames of parts, but weighed as one: one more frame, which carries nothing. */
    o->frame = EX_WHOLE_FRAME_FIT;
    o->frame_group = NULL;
    o->frames = 3;
    o->one_region = true;
    must_make(&s, o, &d);
    assert_int_equal(d.driver.driver.frame_count, 4);
    assert_int_equal(d.view_count, 1);
    assert_int_equal(d.views[0].frame, 3);
    check_influences(&d.driver.carry, s.driver->vertex_count + s.driven->vertex_count, 3, 4);
    exi_drive_plan_free(&d);
    sleeve_close(&s);
}

/* Weights on the driver exclude vertices; if there are fewer vertices under the sleeve than requested frames, there are
 * fewer frames. */
static void test_weights_and_few(void **state) {
    (void)state;
    sleeve s;
    exi_drive_plan d;
    sleeve_open(&s, 12, 6);
    float *weights = calloc((size_t)s.driver->vertex_count, sizeof *weights);
    for (int v = 0; v < s.driver->vertex_count; v++)
        weights[v] = s.driver->positions[3 * v] < 1 ? 1 : 0;
    s.def.options.driver_weights = weights;
    s.def.options.frames = 1000;
    must_make(&s, &s.def.options, &d);
    assert_in_range(d.driver.driver.frame_count, 10, s.driver->vertex_count);
    for (int r = 0; r < d.view_count; r++)
        for (int i = 0; i < d.views[r].count; i++)
            assert_true(s.driver->positions[3 * d.views[r].vertices[i]] < 1);
    free(weights);
    exi_drive_plan_free(&d);
    sleeve_close(&s);
}

/* Removes a row of faces, so that the arm is in two pieces. */
static void cut(sleeve *s, int row) {
    int kept = 0;
    for (int f = 0; f < s->driver->face_count; f++)
        if (f / 6 != row) {
            memmove(s->driver->corners + 4 * kept, s->driver->corners + 4 * f, 4 * sizeof(int));
            s->driver->face_groups[kept++] = s->driver->face_groups[f];
        }
    s->driver->face_count = kept;
    s->driver->corner_count = 4 * kept;
}

/* The sleeve over both pieces: each has a node, and there is no path from one to the other. */
static void test_pieces(void **state) {
    (void)state;
    sleeve s;
    exi_drive_plan d;
    sleeve_open(&s, 12, 6);
    cut(&s, 5);
    must_make(&s, &s.def.options, &d);
    assert_int_equal(d.driver.driver.frame_count, 2);
    assert_int_equal(d.graph.part_count, 2);
    const int first = (int)d.driver.driver.vertices[0],
              second = (int)d.driver.driver.vertices[d.driver.driver.starts[1]];
    assert_int_not_equal(d.graph.parts[first], d.graph.parts[second]);
    for (int v = 0; v < s.driver->vertex_count; v++) {
        const uint32_t at = d.driver.carry.starts[s.driven->vertex_count + v];
        assert_int_equal(d.driver.carry.starts[s.driven->vertex_count + v + 1], at + 1);
        assert_int_equal(d.driver.carry.places[at], d.graph.parts[v] == d.graph.parts[first] ? 0 : 1);
    }
    exi_drive_plan_free(&d);
    sleeve_close(&s);
}

/* Fewer nodes than pieces: those with most of the sleeve come first. */
static void test_many_pieces(void **state) {
    (void)state;
    sleeve s;
    exi_drive_plan d;
    sleeve_open(&s, 12, 6);
    cut(&s, 8);
    cut(&s, 3);
    must_make(&s, &s.def.options, &d);
    assert_int_equal(d.graph.part_count, 3);
    assert_int_equal(d.graph.parts[d.driver.driver.vertices[0]], 1);
    assert_int_equal(d.graph.parts[d.driver.driver.vertices[d.driver.driver.starts[1]]], 0);
    exi_drive_plan_free(&d);
    sleeve_close(&s);
}

/* The sleeve over one piece: the other has no node, and follows what is nearest through the air. */
static void test_piece_apart(void **state) {
    (void)state;
    sleeve s;
    exi_drive_plan d;
    sleeve_open(&s, 12, 6);
    cut(&s, 1);
    s.def.options.influences = 1;
    must_make(&s, &s.def.options, &d);
    assert_int_equal(d.graph.part_count, 2);
    check_influences(&d.driver.carry, s.driver->vertex_count + s.driven->vertex_count, 2, 1);
    const uint32_t *starts = d.driver.carry.starts + s.driven->vertex_count;
    for (int v = 0; v < 12; v++) /* as the vertex on the other side of the gap */
        assert_int_equal(d.driver.carry.places[starts[v]], d.driver.carry.places[starts[12 + v % 6]]);
    exi_drive_plan_free(&d);
    sleeve_close(&s);
}

static void test_regions(void **state) {
    (void)state;
    sleeve s;
    exi_drive_plan d;
    sleeve_open(&s, 12, 6);
    const int n = s.driver->vertex_count, m = s.driven->vertex_count;
    float *values = calloc((size_t)(2 * n + 2 * m), sizeof *values);
    float *look[2] = {values, values + n}, *mask[2] = {values + 2 * n, values + 2 * n + m};
    for (int v = 0; v < n; v++) {
        look[0][v] = s.driver->positions[3 * v] < 0.5 ? 1 : 0;
        look[1][v] = s.driver->positions[3 * v] > 1.5 ? 2 : 0;
    }
    for (int v = 0; v < m; v++) {
        mask[0][v] = 1;
        mask[1][v] = s.driven->positions[3 * v] > 1 ? 3 : 0;
    }
    const ex_drive_region regions[2] = {{look[0], mask[0]}, {look[1], mask[1]}};
    s.def.options.region_count = 2;
    s.def.options.regions = regions;
    must_make(&s, &s.def.options, &d);
    assert_int_equal(d.view_count, 2);
    assert_int_not_equal(d.views[0].frame, d.views[1].frame);
    check_influences(&d.regions, m + n, 2, 2);
    for (int v = 0; v < m; v++) {
        const uint32_t at = d.regions.starts[v];
        if (s.driven->positions[3 * v] > 1)
            assert_near(d.regions.weights[at + 1], 0.75, 1e-6);
        else
            assert_int_equal(d.regions.starts[v + 1], at + 1);
    }
    for (int v = 0; v < n; v++)
        if (fabs(s.driver->positions[3 * v] - 1) > 0.1)
            assert_int_equal(d.regions.places[d.regions.starts[m + v]], s.driver->positions[3 * v] > 1);
    for (int i = 0; i < d.views[1].count; i++)
        assert_true(s.driver->positions[3 * d.views[1].vertices[i]] > 1.5);
    exi_drive_plan_free(&d);
    mask[0][3] = 0;
    ex_error error;
    assert_int_equal(exi_drive_plan_make(s.driver, s.driven, &s.def.options, 0, &d, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "vertex 3");
    exi_drive_plan_free(&d);
    free(values);
    sleeve_close(&s);
}

/* A vertex that is bound to one end follows it, wherever it is. */
static void test_bound_feet(void **state) {
    (void)state;
    sleeve s;
    exi_drive_plan d;
    sleeve_open(&s, 21, 8);
    uint32_t triangles[16];
    uint16_t *vertices = calloc((size_t)s.driven->vertex_count, sizeof *vertices);
    for (uint32_t t = 0; t < 16; t++)
        triangles[t] = t; /* the first ring of quads */
    const ex_bind bind = {.triangle_count = 16, .triangles = triangles};
    for (int v = 0; v < s.driven->vertex_count; v++)
        vertices[v] = v + 8 < s.driven->vertex_count; /* the last ring is bound to bind 0 */
    s.def.options.bind_count = 1;
    s.def.options.binds = &bind;
    s.def.options.vertex_binds = vertices;
    must_make(&s, &s.def.options, &d);
    for (int v = 0; v < s.driven->vertex_count; v++)
        assert_int_equal(s.driver->positions[3 * d.feet[v].nearest] < 0.15, v + 8 >= s.driven->vertex_count);
    exi_drive_plan_free(&d);
    free(vertices);
    sleeve_close(&s);
}

/* ---- there and back ---- */

static void test_carrier(void **state) {
    (void)state;
    sleeve s;
    exi_drive_plan d;
    exi_moving_frames c;
    ex_error error;
    sleeve_open(&s, 21, 8);
    s.def.options.frames = 4;
    must_make(&s, &s.def.options, &d);
    const int n = s.driver->vertex_count, m = s.driven->vertex_count;
    float *rest = calloc(3 * (size_t)m, sizeof *rest), *form = calloc(3 * (size_t)m, sizeof *form);
    for (int i = 0; i < 3 * m; i++)
        rest[i] = (float)s.driven->positions[i];
    assert_int_equal(exi_moving_frames_open(&c, &d.driver, rest, m, &error), EX_OK);
    for (int k = 0; k < SLEEVE_KEYS; k++) {
        exi_moving_frames_place(&c, s.drivers[k], NULL, NULL);
        exi_moving_frames_unpose(&c, s.drivens[k], s.drivers[k]);
        exi_moving_frames_pose(&c, c.unposed, form);
        for (int i = 0; i < 3 * m; i++)
            assert_near(form[i], s.drivens[k][i], 1e-6);
        /* In its frames the arm is nearly straight, however it is bent. */
        double farthest = 0;
        for (int i = 0; i < 3 * n; i++) {
            const double off = fabs(c.unposed[3 * m + i] - s.driver->positions[i]);
            if (fabs(s.driver->positions[i - i % 3] - 1) < 0.7)
                farthest = off > farthest ? off : farthest;
        }
        assert_true(farthest < (k == 0 ? 1e-5 : 0.1));
    }
    /* A frame attached to a joint goes where it is put. */
    const float there[48] = {1, 0, 0, 5, 0, 1, 0, 0, 0, 0, 1, 0};
    exi_moving_frames_place(&c, s.drivers[0], there, (const int[]){0, -1, -1, -1});
    assert_near(c.matrices[3], 5, 0);
    assert_near(c.matrices[12], 1, 1e-5);
    exi_moving_frames_close(&c);
    exi_drive_plan_free(&d);
    free(rest);
    free(form);
    sleeve_close(&s);
}

/* ---- errors ---- */

static void test_invalid(void **state) {
    (void)state;
    sleeve s;
    sleeve_open(&s, 12, 6);
    const ex_drive_options good = s.def.options;
    float *bad = calloc((size_t)s.driver->vertex_count, sizeof *bad);
    const uint32_t triangle = 100000;
    const ex_bind bind = {.triangle_count = 1, .triangles = &triangle};
    uint16_t *vertex_binds = calloc((size_t)s.driven->vertex_count, sizeof *vertex_binds);
    ex_drive_options cases[16];
    for (int i = 0; i < 16; i++)
        cases[i] = good;
    cases[0].fit = 0;
    cases[1].look = NAN;
    cases[2].whole = -1;
    cases[3].influences = 0;
    cases[4].frames = EX_DRIVER_FRAME_MAX + 1;
    cases[5].thickness = -1;
    cases[6].ridge = INFINITY;
    cases[7].frame = EX_WHOLE_FRAME_NONE; /* with two frames of parts */
    cases[8].paths = true;                /* in two regions */
    cases[9].frame = EX_WHOLE_FRAME_JOINT;
    cases[9].frame_joint = 1; /* without a skeleton */
    cases[10].frame_group = "uper";
    cases[10].frames = 1;
    cases[11].driver_weights = bad; /* all 0 */
    cases[12].bind_count = 1;
    cases[12].binds = &bind;
    cases[12].vertex_binds = vertex_binds;
    cases[13].frame_group = "nothing like it";
    cases[13].one_region = true;
    cases[14].frames = -2;
    cases[15].whole = INFINITY;
    static const char *const words[] = {"fit",      "look",         "whole", "1 to",  "moving frames", "thickness",
                                        "ridge",    "none",         "one",   "joint", "upper",         "weights",
                                        "triangle", "nothing like", "-2",    "whole"};
    for (int i = 0; i < 16; i++) {
        exi_drive_plan d;
        ex_error error = {0};
        const ex_result result = exi_drive_plan_make(s.driver, s.driven, &cases[i], 0, &d, &error);
        assert_int_not_equal(result, EX_OK);
        assert_sentence(&error, i >= 10 && i <= 13 ? EX_ERROR_DATA : EX_ERROR_ARGUMENT, words[i]);
        exi_drive_plan_free(&d);
    }
    /* A driver without faces, one on a line, a vertex that is not a number. */
    exi_drive_plan d;
    ex_error error = {0};
    const int faces = s.driver->face_count, corners = s.driver->corner_count;
    s.driver->face_count = s.driver->corner_count = 0;
    assert_int_equal(exi_drive_plan_make(s.driver, s.driven, &good, 0, &d, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "no faces");
    exi_drive_plan_free(&d);
    s.driver->face_count = faces;
    s.driver->corner_count = corners;
    for (int v = 0; v < s.driver->vertex_count; v++)
        for (int c = 1; c < 3; c++)
            s.driver->positions[3 * v + c] *= 1e-4;
    assert_int_equal(exi_drive_plan_make(s.driver, s.driven, &good, 0, &d, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "on a line");
    exi_drive_plan_free(&d);
    s.driver->positions[7] = NAN;
    assert_int_equal(exi_drive_plan_make(s.driver, s.driven, &good, 0, &d, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "vertex 2 of the driver");
    exi_drive_plan_free(&d);
    free(bad);
    free(vertex_binds);
    sleeve_close(&s);
}

/* ---- memory ---- */

static ex_result attempt(void *context) {
    const sleeve *s = context;
    exi_drive_plan d;
    exi_moving_frames c = {0};
    ex_error error;
    ex_result result = exi_drive_plan_make(s->driver, s->driven, &s->def.options, 0, &d, &error);
    float rest[3 * 48] = {0};
    if (result == EX_OK)
        result = exi_moving_frames_open(&c, &d.driver, rest, s->driven->vertex_count, &error);
    exi_moving_frames_close(&c);
    exi_drive_plan_free(&d);
    return result;
}

static void test_memory(void **state) {
    (void)state;
    sleeve s;
    sleeve_open(&s, 9, 6);
    assert_true(s.driven->vertex_count <= 48);
    assert_true(fail_alloc_sweep(attempt, &s) > 30);
    float look[54], mask[48];
    for (int i = 0; i < 54; i++)
        look[i] = mask[i % 48] = 1;
    const ex_drive_region regions[2] = {{look, mask}, {look, mask}};
    s.def.options.regions = regions;
    s.def.options.region_count = 2;
    assert_true(fail_alloc_sweep(attempt, &s) > 30);
    sleeve_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ways),     cmocka_unit_test(test_samples),     cmocka_unit_test(test_spread),
        cmocka_unit_test(test_two_ends), cmocka_unit_test(test_whole),       cmocka_unit_test(test_weights_and_few),
        cmocka_unit_test(test_pieces),   cmocka_unit_test(test_piece_apart), cmocka_unit_test(test_many_pieces),
        cmocka_unit_test(test_regions),  cmocka_unit_test(test_bound_feet),  cmocka_unit_test(test_carrier),
        cmocka_unit_test(test_invalid),  cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
