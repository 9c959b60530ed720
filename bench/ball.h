/*
 * bench/ball.h - the surface and the queries of 'exemplar bench tree', generated identically for us and for the peer,
 * so this is C and C++. A ball with bumps, from the lattice points on a cube's surface, and points near it.
 */
#ifndef EXEMPLAR_BENCH_BALL_H
#define EXEMPLAR_BENCH_BALL_H

#include <math.h>
#include <stdint.h>

/* Pseudo-random numbers in [0, 1), the same everywhere. */
static inline double exi_ball_made_up(unsigned *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / 16777216.0;
}

/* Six sides of size x size squares, each with separate vertices; those on the cube's edges coincide. */
static inline int exi_ball_vertex_count(int size) {
    return 6 * (size + 1) * (size + 1);
}

static inline int exi_ball_triangle_count(int size) {
    return 12 * size * size;
}

static inline void exi_ball_vertices(int size, float *positions) {
    const int row = size + 1;
    for (int v = 0; v < exi_ball_vertex_count(size); v++) {
        const int side = v / (row * row), i = v % row, j = v / row % row;
        double p[3], q[3];
        p[side % 3] = side < 3 ? -1 : 1;
        p[(side + 1) % 3] = 2.0 * i / size - 1;
        p[(side + 2) % 3] = 2.0 * j / size - 1;
        const double length = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
        for (int c = 0; c < 3; c++)
            q[c] = p[c] / length;
        const double radius = 1 + 0.08 * sin(5 * q[0] + 1) * sin(4 * q[1]) * sin(6 * q[2] + 2);
        for (int c = 0; c < 3; c++)
            positions[3 * v + c] = (float)(radius * q[c]);
    }
}

static inline void exi_ball_triangles(int size, uint32_t *triangles) {
    const int row = size + 1;
    for (int f = 0; f < 6 * size * size; f++) {
        const int side = f / (size * size), first = side * row * row + f / size % size * row + f % size;
        const int corners[6] = {first, first + 1, first + row + 1, first, first + row + 1, first + row};
        for (int i = 0; i < 6; i++)
            triangles[6 * f + i] = (uint32_t)corners[i];
    }
}

/* A point within 0.02 of the surface, anywhere on it. */
static inline void exi_ball_point(const float *positions, const uint32_t *triangles, int triangle_count, unsigned *seed,
                                  float point[3]) {
    const int t = (int)(exi_ball_made_up(seed) * triangle_count);
    const double u = exi_ball_made_up(seed), v = exi_ball_made_up(seed) * (1 - u);
    const double away = 1 + 0.04 * (exi_ball_made_up(seed) - 0.5);
    for (int c = 0; c < 3; c++)
        point[c] = (float)(away * ((1 - u - v) * (double)positions[3 * triangles[3 * t] + (unsigned)c] +
                                   u * (double)positions[3 * triangles[3 * t + 1] + (unsigned)c] +
                                   v * (double)positions[3 * triangles[3 * t + 2] + (unsigned)c]));
}

/* The ray of one pixel of width x width; the ball fills most of the picture. */
static inline void exi_ball_ray(int width, int pixel, float origin[3], float direction[3]) {
    const double x = (pixel % width + 0.5) / width - 0.5, y = (pixel / width + 0.5) / width - 0.5;
    const double from[3] = {1.8, 1.2, 2.4}, right[3] = {0.8, 0, -0.6}, up[3] = {-0.223, 0.928, -0.297};
    for (int c = 0; c < 3; c++) {
        origin[c] = (float)from[c];
        direction[c] = (float)(-from[c] / 3.2311 + 0.75 * (x * right[c] + y * up[c]));
    }
}

#endif
