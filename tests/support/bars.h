/*
 * bars.h - bars to bend: closed surfaces of a box that is cut finely along its length, and what happens to them.
 */
#ifndef EXEMPLAR_TESTS_BARS_H
#define EXEMPLAR_TESTS_BARS_H

typedef struct bent_bar {
    int vertex_count, triangle_count;
    double *points; /* [vertex_count][3]: x from 0 to length, y and z from -0.5 to 0.5 */
    int *triangles; /* [triangle_count][3], seen from outside counter-clockwise */
    int extra;      /* vertices that the caller asked for besides, at the end, at 0 0 0 */
} bent_bar;

/* `pieces` along its length of that many units; fails the test without memory. Release with bar_free. */
bent_bar bar_make(int pieces, double length, int extra_vertices, int extra_triangles);
void bar_free(bent_bar *bar);

/* The bar bent to an arc of so many degrees in the plane of x and y; points [vertex_count][3]. */
void bar_bend(const bent_bar *bar, double length, double degrees, double *points);

/* Points turned about an axis through a place, and moved along the axis. */
void bar_screw(const bent_bar *bar, const double axis[3], const double place[3], double degrees, double along,
               double *points);

#endif
