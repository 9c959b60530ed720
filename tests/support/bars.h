/* bars.h - bars to bend: closed surfaces of a box that is finely divided along its length, and motions of them. */
#ifndef EXEMPLAR_TESTS_BARS_H
#define EXEMPLAR_TESTS_BARS_H

typedef struct bent_bar {
    int vertex_count, triangle_count;
    double *points; /* [vertex_count][3]: x from 0 to length, y and z from -0.5 to 0.5 */
    int *triangles; /* [triangle_count][3], counter-clockwise from outside */
    int extra;      /* additional vertices that the caller requested, at the end, at 0 0 0 */
} bent_bar;

/* Makes `pieces` along that length; fails the test if out of memory. Release with bar_free. */
bent_bar bar_make(int pieces, double length, int extra_vertices, int extra_triangles);
void bar_free(bent_bar *bar);

/* Bends the bar to an arc of that many degrees in the plane of x and y; points [vertex_count][3]. */
void bar_bend(const bent_bar *bar, double length, double degrees, double *points);

/* Turns points about an axis through a place, and moves them along the axis. */
void bar_screw(const bent_bar *bar, const double axis[3], const double place[3], double degrees, double along,
               double *points);

#endif
