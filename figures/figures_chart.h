/*
 * figures/figures_chart.h - draws curves over one axis, for figures: a frame with numbers, marks at the examples, and
 * the names of the curves next to their ends.
 */
#ifndef EXEMPLAR_CLI_FIGURES_CHART_H
#define EXEMPLAR_CLI_FIGURES_CHART_H

#include "figures.h"

#include <exemplar/author/canvas.h>

enum { EXI_CHART_CURVES = 8, EXI_CHART_SAMPLES = 401 };

typedef struct exi_curve {
    const char *label;
    double values[EXI_CHART_SAMPLES];
    bool heavy, dashed;
} exi_curve;

typedef struct exi_chart {
    const char *title, *description;
    double low, high;      /* range of the axis */
    double bottom, top;    /* range of the values */
    const double *points;  /* points of the examples */
    const double *heights; /* heights of marks at them; NULL: none */
    int point_count;
    exi_curve curves[EXI_CHART_CURVES];
    int curve_count;
    double names; /* width for the curves' names in points, instead of 90; or 0 */
} exi_chart;

/* Value of the axis at a sample. */
double exi_chart_at(const exi_chart *chart, int sample);

/* Writes the chart as an SVG file. */
ex_result exi_chart_write(exi_figures *figures, const exi_chart *chart, const char *path);

/* Writes an SVG canvas to a file and destroys the canvas. */
ex_result exi_figures_write_svg(exi_figures *figures, ex_canvas *canvas, const char *path);

#endif
