/*
 * surfaces.h - surfaces for the tests of trees, fits on them, and answers found by examining every triangle in
 * double.
 */
#ifndef EXEMPLAR_TESTS_SURFACES_H
#define EXEMPLAR_TESTS_SURFACES_H

#include "bench/ball.h"
#include "support/check.h"

#include <exemplar/settle.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct surface {
    const char *name;
    ex_tree_def def;
    float *positions;
    uint32_t *triangles;
} surface;

static inline surface surface_open(const char *name, int vertices, int triangles) {
    surface s = {.name = name};
    s.positions = calloc((size_t)vertices * 3 + 1, sizeof *s.positions);
    s.triangles = calloc((size_t)triangles * 3 + 1, sizeof *s.triangles);
    s.def = (ex_tree_def){
        .vertex_count = vertices, .positions = s.positions, .triangle_count = triangles, .triangles = s.triangles};
    return s;
}

static inline void surface_close(surface *s) {
    free(s->positions);
    free(s->triangles);
}

/* Closed, 12 size^2 triangles. */
static inline surface surface_ball(int size) {
    surface s = surface_open("ball", exi_ball_vertex_count(size), exi_ball_triangle_count(size));
    exi_ball_vertices(size, s.positions);
    exi_ball_triangles(size, s.triangles);
    return s;
}

/* Triangles of all sizes anywhere. */
static inline surface surface_soup(int count, uint64_t seed) {
    surface s = surface_open("soup", 3 * count, count);
    for (int t = 0; t < count; t++) {
        const double size = pow(10, random_between(&seed, -4, 0));
        double middle[3];
        for (int c = 0; c < 3; c++)
            middle[c] = random_between(&seed, -1, 1);
        for (int i = 0; i < 9; i++)
            s.positions[9 * t + i] = (float)(middle[i % 3] + size * random_between(&seed, -1, 1));
        for (int i = 0; i < 3; i++)
            s.triangles[3 * t + i] = (uint32_t)(3 * t + i);
    }
    return s;
}

/* Points, lines, slivers, repeated corners and the same triangle again and again, next to proper ones. */
static inline surface surface_degenerate(int count, uint64_t seed) {
    surface s = surface_soup(count, seed);
    s.name = "degenerate";
    for (int t = 0; t < count; t++) {
        float *p = s.positions + 9 * t;
        switch (t % 7) {
        case 0: /* a point */
            memcpy(p + 3, p, 12);
            memcpy(p + 6, p, 12);
            break;
        case 1: /* two corners coincide */
            memcpy(p + 6, p + 3, 12);
            break;
        case 2: /* one vertex twice */
            s.triangles[3 * t + 2] = s.triangles[3 * t];
            break;
        case 3: /* a line */
            for (int c = 0; c < 3; c++)
                p[6 + c] = 0.25f * p[c] + 0.75f * p[3 + c];
            break;
        case 4: /* a sliver */
            for (int c = 0; c < 3; c++)
                p[6 + c] = p[c] + 1e-6f * (float)(c + 1);
            break;
        case 5: /* the one before last, reversed */
            for (int i = 0; i < 3; i++)
                s.triangles[3 * t + i] = s.triangles[3 * (t - 3) + 2 - i];
            break;
        default:
            break;
        }
    }
    return s;
}

/* A fan of many triangles around one edge, crossed by another. */
static inline surface surface_fan(int count) {
    surface s = surface_open("fan", 2 + count, count);
    s.positions[2] = -1;
    s.positions[5] = 1;
    for (int t = 0; t < count; t++) {
        float *p = s.positions + 3 * (2 + t);
        p[0] = (float)cos(6.2831853 * t / count);
        p[1] = (float)sin(6.2831853 * t / count);
        p[2] = (float)(t % 5 - 2) * 0.3f;
        s.triangles[3 * t + 1] = 1;
        s.triangles[3 * t + 2] = (uint32_t)(2 + t);
    }
    return s;
}

/* size x size squares of the plane z = 0, from 0 to size. */
static inline surface surface_grid(int size) {
    const int row = size + 1;
    surface s = surface_open("grid", row * row, 2 * size * size);
    for (int v = 0; v < row * row; v++) {
        s.positions[3 * v] = (float)(v % row);
        s.positions[3 * v + 1] = (float)(v / row);
    }
    for (int f = 0; f < size * size; f++) {
        const int first = f / size * row + f % size;
        const int corners[6] = {first, first + 1, first + row + 1, first, first + row + 1, first + row};
        for (int i = 0; i < 6; i++)
            s.triangles[6 * f + i] = (uint32_t)corners[i];
    }
    return s;
}

enum { SURFACE_KINDS = 6 };

static inline surface surface_of_kind(int kind) {
    switch (kind) {
    case 0:
        return surface_ball(4);
    case 1:
        return surface_soup(200, 1);
    case 2:
        return surface_degenerate(210, 2);
    case 3:
        return surface_fan(60);
    case 4:
        return surface_grid(8);
    default: {
        surface s = surface_soup(1, 9);
        s.name = "single";
        return s;
    }
    }
}

/* ---- fits ---- */

static inline ex_tree *tree_of(const ex_tree_def *def) {
    ex_tree *tree = NULL;
    ex_error error = {.result = EX_OK};
    if (ex_tree_create(def, NULL, &tree, &error) != EX_OK)
        fail_msg("%s", error.text);
    return tree;
}

/* Ends with free(*memory). */
static inline const ex_bounds *fit_of(const ex_tree *tree, const float *positions, void **memory) {
    const size_t size = ex_bounds_size(tree);
    *memory = malloc(size);
    memset(*memory, 0xA5, size);
    return ex_bounds_fit(tree, positions, 0, *memory, NULL);
}

/* A tree and a fit of one form; the tree is not needed afterwards. */
static inline const ex_bounds *fit_whole(const ex_tree_def *def, void **memory) {
    ex_tree *tree = tree_of(def);
    const ex_bounds *fit = fit_of(tree, def->positions, memory);
    ex_tree_destroy(tree);
    return fit;
}

/* ---- one triangle, in double ---- */

static inline void corners_of(const ex_tree_def *def, int t, double corners[3][3]) {
    for (int i = 0; i < 3; i++)
        for (int c = 0; c < 3; c++)
            corners[i][c] = (double)def->positions[3 * def->triangles[3 * t + i] + (uint32_t)c];
}

static inline double inner(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void outer(const double a[3], const double b[3], double out[3]) {
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static inline void between(const double a[3], const double b[3], double out[3]) {
    for (int c = 0; c < 3; c++)
        out[c] = b[c] - a[c];
}

#endif
