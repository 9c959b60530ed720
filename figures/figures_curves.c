/*
 * figures/figures_curves.c - curves over a space of one axis: the parts of a cardinal basis and the bases themselves
 * (Shape by Example, figures 2 and 3). The library's weighers compute the numbers.
 */
#include "figures_chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Shape by Example, figures 2 and 3 ---- */

enum { POINTS = 3 };
static const double places[POINTS] = {0.15, 0.30, 0.75};

static ex_result create_weigher(const double *points, int count, ex_weigher **weigher, ex_error *error) {
    ex_weigher_def def = ex_weigher_def_default();
    const ex_axis axis = ex_axis_scalar(0, 1, 0);
    def.axes = &axis;
    def.axis_count = 1;
    def.points = points;
    def.example_count = count;
    return ex_weigher_create(&def, NULL, weigher, error);
}

static double weight_at(const ex_weigher *weigher, double x, int example) {
    double weights[16];
    ex_weigher_evaluate(weigher, &x, weights);
    return weights[example];
}

/* The radial basis of an example: a cubic B-spline whose width is the distance to the nearest other example. */
static double radial(int example, double x) {
    double nearest = INFINITY;
    for (int i = 0; i < POINTS; i++)
        if (i != example && fabs(places[i] - places[example]) < nearest)
            nearest = fabs(places[i] - places[example]);
    const double r = fabs(x - places[example]) / nearest, left = r < 2 ? 2 - r : 0;
    return r >= 1 ? left * left * left / 6 : 2.0 / 3 - r * r * (1 - 0.5 * r);
}

/* Solves for the amounts of the radial bases that cancel the residual of the line at the examples: three equations. */
static void solve_radial(const double left[POINTS], double amounts[POINTS]) {
    double m[POINTS][POINTS + 1];
    for (int i = 0; i < POINTS; i++) {
        for (int k = 0; k < POINTS; k++)
            m[i][k] = radial(k, places[i]);
        m[i][POINTS] = left[i];
    }
    for (int i = 0; i < POINTS; i++)
        for (int r = 0; r < POINTS; r++) {
            const double factor = r == i ? 0 : m[r][i] / m[i][i];
            for (int k = 0; r != i && k <= POINTS; k++)
                m[r][k] -= factor * m[i][k];
        }
    for (int i = 0; i < POINTS; i++)
        amounts[i] = m[i][POINTS] / m[i][i];
}

ex_result exi_figure_basis(exi_figures *f, const char *path) {
    static const char *const labels[] = {"A1, the line", "radial, 1", "radial, 2", "radial, 3"};
    ex_weigher *weigher = NULL;
    exi_chart *c = calloc(1, sizeof *c);
    if (!c)
        return ex_error_memory(f->error, "a figure", sizeof *c);
    ex_result result = create_weigher(places, POINTS, &weigher, f->error);
    if (result == EX_OK) {
        *c = (exi_chart){.title = "Parts of a cardinal basis",
                         .description = "The line of the first example, and what its three radial bases add.",
                         .high = 1,
                         .bottom = -0.8,
                         .top = 1.2,
                         .points = places,
                         .point_count = POINTS,
                         .curve_count = 1 + POINTS};
        /* Beyond the support of all radial bases a weight equals its line. */
        const double slope = (weight_at(weigher, 20, 0) - weight_at(weigher, 10, 0)) / 10;
        const double start = weight_at(weigher, 10, 0) - 10 * slope;
        double left[POINTS], amounts[POINTS], worst = 0;
        for (int i = 0; i < POINTS; i++)
            left[i] = (i == 0) - (start + slope * places[i]);
        solve_radial(left, amounts);
        for (int i = 0; i < EXI_CHART_SAMPLES; i++) {
            const double x = exi_chart_at(c, i);
            double sum = c->curves[0].values[i] = start + slope * x;
            for (int k = 0; k < POINTS; k++)
                sum += c->curves[1 + k].values[i] = amounts[k] * radial(k, x);
            worst = fabs(sum - weight_at(weigher, x, 0)) > worst ? fabs(sum - weight_at(weigher, x, 0)) : worst;
        }
        for (int k = 0; k <= POINTS; k++)
            c->curves[k].label = labels[k];
        c->curves[0].heavy = true;
        exi_figures_fact(f, "places of the examples", "0.15, 0.30, 0.75", "%g, %.2f, %g", places[0], places[1],
                         places[2]);
        exi_figures_fact(f, "largest difference of the parts' sum from the library's weight", "",
                         worst < 1e-12 ? "below 1e-12" : "%.1e", worst);
        result = exi_chart_write(f, c, path);
    }
    ex_weigher_destroy(weigher);
    free(c);
    return result;
}

ex_result exi_figure_cardinal(exi_figures *f, const char *path) {
    static const char *const labels[] = {"w1", "w2", "w3", "sum w x"};
    static const double heights[POINTS] = {1.3, 1.75, 1.45};
    ex_weigher *weigher = NULL;
    exi_chart *c = calloc(1, sizeof *c);
    if (!c)
        return ex_error_memory(f->error, "a figure", sizeof *c);
    ex_result result = create_weigher(places, POINTS, &weigher, f->error);
    if (result == EX_OK) {
        *c =
            (exi_chart){.title = "Cardinal bases",
                        .description = "The weights of three examples along one axis, and a coordinate made with them.",
                        .high = 1,
                        .bottom = -0.5,
                        .top = 2,
                        .points = places,
                        .heights = heights,
                        .point_count = POINTS,
                        .curve_count = POINTS + 1};
        for (int i = 0; i < EXI_CHART_SAMPLES; i++)
            for (int k = 0; k < POINTS; k++) {
                c->curves[k].values[i] = weight_at(weigher, exi_chart_at(c, i), k);
                c->curves[POINTS].values[i] += c->curves[k].values[i] * heights[k];
            }
        for (int k = 0; k <= POINTS; k++)
            c->curves[k].label = labels[k];
        c->curves[POINTS].heavy = true;
        result = exi_chart_write(f, c, path);
    }
    ex_weigher_destroy(weigher);
    free(c);
    return result;
}
