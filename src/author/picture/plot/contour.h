/*
 * contour.h - lines of equal value over a grid of numbers. Private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_PICTURE_PLOT_CONTOUR_H
#define EXEMPLAR_AUTHOR_PICTURE_PLOT_CONTOUR_H

#include <stdbool.h>

/* Lines in coordinates of the grid: column and row, 0 to width - 1 and height - 1. Line r is points [starts[r],
 * starts[r + 1]); a closed one does not repeat its first point. */
typedef struct exi_contour {
    double (*points)[2];
    int *starts; /* [line_count + 1] */
    bool *closed;
    int line_count;
} exi_contour;

/* The lines at a level over values [height][width]; at least 2 of either. Along every line, higher values lie on the
 * same side. false without memory. Numbers that are not finite count as below. Free in any case. */
bool exi_contour_find(const float *values, int width, int height, double level, exi_contour *contour);
/* The outlines of all that is above the level, closed along the border of the grid too. */
bool exi_contour_region(const float *values, int width, int height, double level, exi_contour *contour);
void exi_contour_free(exi_contour *contour);

/* Leaves out points of a line whose absence moves it by no more than the tolerance; the first and the last stay.
 * Returns how many are left. */
int exi_simplify(double (*points)[2], int count, double tolerance);
/* The same for all lines. */
void exi_contour_simplify(exi_contour *contour, double tolerance);

#endif
