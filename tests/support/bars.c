#include "support/bars.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

static int add_quad(int *triangles, int at, int a, int b, int c, int d) {
    const int quad[6] = {a, b, c, a, c, d};
    memcpy(triangles + 3 * at, quad, sizeof quad);
    return at + 2;
}

bent_bar bar_make(int pieces, double length, int extra_vertices, int extra_triangles) {
    static const double corners[4][2] = {{-0.5, -0.5}, {0.5, -0.5}, {0.5, 0.5}, {-0.5, 0.5}};
    bent_bar made = {.vertex_count = 4 * (pieces + 1) + extra_vertices, .extra = extra_vertices};
    made.points = calloc(3 * (size_t)made.vertex_count, sizeof *made.points);
    made.triangles = calloc(3 * (size_t)(8 * pieces + 4 + extra_triangles), sizeof *made.triangles);
    assert_non_null(made.points);
    assert_non_null(made.triangles);
    for (int i = 0; i <= pieces; i++)
        for (int k = 0; k < 4; k++) {
            double *p = made.points + 3 * (4 * i + k);
            p[0] = length * i / pieces;
            p[1] = corners[k][0];
            p[2] = corners[k][1];
        }
    int count = add_quad(made.triangles, 0, 3, 2, 1, 0);
    for (int i = 0; i < pieces; i++)
        for (int k = 0; k < 4; k++)
            count =
                add_quad(made.triangles, count, 4 * i + k, 4 * i + (k + 1) % 4, 4 * i + 4 + (k + 1) % 4, 4 * i + 4 + k);
    made.triangle_count = add_quad(made.triangles, count, 4 * pieces, 4 * pieces + 1, 4 * pieces + 2, 4 * pieces + 3);
    return made;
}

void bar_free(bent_bar *bar) {
    free(bar->points);
    free(bar->triangles);
    memset(bar, 0, sizeof *bar);
}

void bar_bend(const bent_bar *bar, double length, double degrees, double *points) {
    const double angle = degrees * PI / 180, radius = angle != 0 ? length / angle : 0;
    for (int v = 0; v < bar->vertex_count; v++) {
        const double *p = bar->points + 3 * v;
        const double a = angle * p[0] / length, r = radius - p[1];
        points[3 * v] = angle != 0 ? r * sin(a) : p[0];
        points[3 * v + 1] = angle != 0 ? radius - r * cos(a) : p[1];
        points[3 * v + 2] = p[2];
    }
}

void bar_screw(const bent_bar *bar, const double axis[3], const double place[3], double degrees, double along,
               double *points) {
    const double length = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
    const double c = cos(degrees * PI / 180), s = sin(degrees * PI / 180);
    for (int v = 0; v < bar->vertex_count; v++) {
        double n[3], d[3], dot = 0;
        for (int i = 0; i < 3; i++) {
            n[i] = axis[i] / length;
            d[i] = bar->points[3 * v + i] - place[i];
            dot += n[i] * d[i];
        }
        for (int i = 0; i < 3; i++) {
            const int j = (i + 1) % 3, k = (i + 2) % 3;
            points[3 * v + i] =
                place[i] + c * d[i] + s * (n[j] * d[k] - n[k] * d[j]) + (1 - c) * dot * n[i] + along * n[i];
        }
    }
}
