/*
 * cli/figures_chart.h - curves over one axis, for figures: a frame with numbers, examples at their places, names of the
 * curves beside their ends.
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
    double low, high;      /* along the axis */
    double bottom, top;    /* of the values */
    const double *points;  /* where the examples are */
    const double *heights; /* marks at them; NULL: none */
    int point_count;
    exi_curve curves[EXI_CHART_CURVES];
    int curve_count;
    double names; /* points of room for the curves' names, in place of 90; or 0 */
} exi_chart;

/* Where along the axis a sample is. */
double exi_chart_at(const exi_chart *chart, int sample);

/* Writes it as an SVG file. */
ex_result exi_chart_write(exi_figures *figures, const exi_chart *chart, const char *path);

/* Writes a drawing and ends its canvas, which is an SVG's. */
ex_result exi_figures_write_svg(exi_figures *figures, ex_canvas *canvas, const char *path);

#endif
