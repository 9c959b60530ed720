/*
 * dress.h - drivers with a driven form on them, settled by one call, and signed distances found by examining every
 * triangle in double: the sign is from the winding number, which is independent of normals.
 */
#ifndef EXEMPLAR_TESTS_DRESS_H
#define EXEMPLAR_TESTS_DRESS_H

#include "surfaces.h"

/* Squared distance to a triangle: the least over its features, sampled finely enough. */
static inline double dress_square(const double q[3], double p[3][3]) {
    double best = (double)INFINITY, ab[3], ac[3], n[3], aq[3];
    for (int i = 0; i < 3; i++) {
        double e[3], to[3], away = 0;
        between(p[i], p[(i + 1) % 3], e);
        between(p[i], q, to);
        const double length = inner(e, e);
        double t = length > 0 ? inner(e, to) / length : 0;
        t = t < 0 ? 0 : t > 1 ? 1 : t;
        for (int c = 0; c < 3; c++)
            away += (to[c] - t * e[c]) * (to[c] - t * e[c]);
        best = away < best ? away : best;
    }
    between(p[0], p[1], ab);
    between(p[0], p[2], ac);
    between(p[0], q, aq);
    outer(ab, ac, n);
    bool inside = inner(n, n) > 0;
    for (int i = 0; i < 3 && inside; i++) {
        double e[3], to[3], side[3];
        between(p[i], p[(i + 1) % 3], e);
        between(p[i], q, to);
        outer(e, to, side);
        inside = inner(side, n) >= 0;
    }
    const double plane = inside ? inner(aq, n) * inner(aq, n) / inner(n, n) : best;
    return plane < best ? plane : best;
}

/* The solid angle of a triangle (A. van Oosterom and J. Strackee, 1983). */
static inline double dress_angle(const double q[3], double p[3][3]) {
    double a[3], b[3], c[3], ab[3];
    between(q, p[0], a);
    between(q, p[1], b);
    between(q, p[2], c);
    outer(a, b, ab);
    const double la = sqrt(inner(a, a)), lb = sqrt(inner(b, b)), lc = sqrt(inner(c, c));
    return 2 * atan2(inner(ab, c), la * lb * lc + inner(a, b) * lc + inner(a, c) * lb + inner(b, c) * la);
}

/* The signed distance of a point to a closed surface, or to those of its triangles that `seen` names. */
static inline double dress_distance(const ex_tree_def *def, const float q[3], const bool *seen) {
    const double point[3] = {(double)q[0], (double)q[1], (double)q[2]};
    double best = (double)INFINITY, turns = 0;
    for (int t = 0; t < def->triangle_count; t++) {
        double p[3][3];
        corners_of(def, t, p);
        if (seen && !seen[t])
            continue;
        const double one = dress_square(point, p);
        best = one < best ? one : best;
        turns += dress_angle(point, p);
    }
    return turns > 6.2831853 ? -sqrt(best) : sqrt(best);
}

/* A closed box with `parts` x `parts` squares on each side. */
static inline surface surface_box(int parts, double x, double y, double z) {
    surface s = surface_open("box", exi_ball_vertex_count(parts), exi_ball_triangle_count(parts));
    const int row = parts + 1;
    const double half[3] = {x / 2, y / 2, z / 2};
    exi_ball_triangles(parts, s.triangles);
    for (int v = 0; v < s.def.vertex_count; v++) {
        const int side = v / (row * row), i = v % row, j = v / row % row;
        double p[3];
        p[side % 3] = side < 3 ? -1 : 1;
        p[(side + 1) % 3] = 2.0 * i / parts - 1;
        p[(side + 2) % 3] = 2.0 * j / parts - 1;
        for (int c = 0; c < 3; c++)
            s.positions[3 * v + c] = (float)(p[c] * half[c]);
    }
    return s;
}

/* Reverses sides of the box that face inwards, and merges vertices at the same place. */
static inline void surface_weld(surface *s) {
    for (int t = 0; t < s->def.triangle_count; t++) {
        double p[3][3], ab[3], ac[3], n[3];
        corners_of(&s->def, t, p);
        between(p[0], p[1], ab);
        between(p[0], p[2], ac);
        outer(ab, ac, n);
        if (inner(n, p[0]) < 0) {
            const uint32_t swapped = s->triangles[3 * t + 1];
            s->triangles[3 * t + 1] = s->triangles[3 * t + 2];
            s->triangles[3 * t + 2] = swapped;
        }
        for (int i = 0; i < 3; i++) {
            uint32_t v = 0;
            while (memcmp(s->positions + 3 * v, s->positions + 3 * s->triangles[3 * t + i], 12) != 0)
                v++;
            s->triangles[3 * t + i] = v;
        }
    }
}

static inline surface surface_welded_ball(int size) {
    surface s = surface_ball(size);
    surface_weld(&s);
    return s;
}

/* ---- settlers ---- */

static inline ex_settler_def settler_def(const surface *s, int vertex_count) {
    return (ex_settler_def){.driver_count = s->def.vertex_count,
                            .driver_positions = s->positions,
                            .triangle_count = s->def.triangle_count,
                            .triangles = s->triangles,
                            .vertex_count = vertex_count};
}

static inline ex_settler *settler_of(const ex_settler_def *def) {
    ex_settler *settler = NULL;
    ex_error error = {.result = EX_OK};
    if (ex_settler_create(def, NULL, &settler, &error) != EX_OK)
        fail_msg("%s", error.text);
    return settler;
}

/* One frame, with scratch that holds garbage. */
static inline ex_settled settle_once(const ex_settler *settler, const ex_settle_job *job, void *state) {
    const size_t size = ex_settler_scratch_size(settler);
    char *scratch = malloc(size + 1);
    memset(scratch, 0xA5, size + 1);
    ex_settled settled;
    ex_settle_job counted = *job;
    counted.settled = &settled;
    ex_settle(settler, &counted, state, scratch);
    assert_true(scratch[size] == (char)0xA5);
    free(scratch);
    return settled;
}

static inline void measure_once(const ex_settler *settler, const float *driver, const float *driven,
                                uint32_t *triangles, float *places, float *distances) {
    void *scratch = malloc(ex_settler_scratch_size(settler));
    ex_settler_measure(settler, driver, driven, 0, triangles, places, distances, NULL, scratch);
    free(scratch);
}

/* A settler with one key: the driven form on the present surface. */
static inline ex_settler *settler_with_key(const surface *s, int count, const float *driven, bool gaps) {
    ex_settler_def def = settler_def(s, count);
    ex_settler *bare = settler_of(&def);
    uint32_t *triangles = malloc((size_t)count * sizeof *triangles);
    float *places = malloc(2 * (size_t)count * sizeof *places), *distances = malloc((size_t)count * sizeof *distances);
    measure_once(bare, s->positions, driven, triangles, places, distances);
    ex_settler_destroy(bare);
    def.key_count = 1;
    def.key_triangles = triangles;
    def.key_places = places;
    def.key_gaps = gaps ? distances : NULL;
    ex_settler *settler = settler_of(&def);
    free(triangles);
    free(places);
    free(distances);
    return settler;
}

/* x turned by an angle about (1, 2, 2) / 3, and moved. */
static inline void move_rigidly(const float *from, int count, double angle, const double by[3], float *to) {
    const double k[3] = {1 / 3.0, 2 / 3.0, 2 / 3.0}, s = sin(angle), c = cos(angle);
    for (int v = 0; v < count; v++) {
        const double x[3] = {(double)from[3 * v], (double)from[3 * v + 1], (double)from[3 * v + 2]};
        double across[3];
        outer(k, x, across);
        for (int i = 0; i < 3; i++)
            to[3 * v + i] = (float)(x[i] * c + across[i] * s + k[i] * inner(k, x) * (1 - c) + by[i]);
    }
}

#endif
