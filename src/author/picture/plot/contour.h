/*
 * contour.h - contours: lines of equal value over a grid of numbers. Private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_PICTURE_PLOT_CONTOUR_H
#define EXEMPLAR_AUTHOR_PICTURE_PLOT_CONTOUR_H

#include <stdbool.h>

/* Lines in grid coordinates: column and row, 0 to width - 1 and height - 1. Line r is points [starts[r], starts[r +
 * 1]); a closed line does not repeat its first point. */
typedef struct exi_contour {
    double (*points)[2];
    int *starts; /* [line_count + 1] */
    bool *closed;
    int line_count;
} exi_contour;

/* Finds the lines at a level over values [height][width], both at least 2. Higher values lie on the same side along
 * every line. Numbers that are not finite count as below the level. False without memory. Free the contour in any
 * case. */
bool exi_contour_find(const float *values, int width, int height, double level, exi_contour *contour);
/* Finds the outlines of all regions above the level, closed along the border of the grid too. */
bool exi_contour_region(const float *values, int width, int height, double level, exi_contour *contour);
void exi_contour_free(exi_contour *contour);

/* Removes points of a line whose removal moves it by no more than the tolerance; keeps the first and the last. Returns
 * the number of points left. */
int exi_simplify(double (*points)[2], int count, double tolerance);
/* Simplifies all lines. */
void exi_contour_simplify(exi_contour *contour, double tolerance);

#endif
