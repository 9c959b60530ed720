/*
 * cli/figures_curves.c - figures that are curves over a space of one axis: the parts of a cardinal basis and the bases
 * themselves (Shape by Example, figures 2 and 3), and Shepard's interpolant (Pose space, figure 4). The numbers are
 * those of the library's own weighers.
 */
#include "figures.h"

#include "author/formats/file.h"
#include "author/picture/labels.h"
#include "author/picture/plot.h"
#include "runtime/base/result.h"
#include "runtime/weigh/kernels.inl"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- a chart ---- */

enum { CURVES = 8, SAMPLES = 401 };

typedef struct curve {
    const char *label;
    double values[SAMPLES];
    bool heavy, dashed;
} curve;

typedef struct chart {
    const char *title, *description;
    double low, high;      /* along the axis */
    double bottom, top;    /* of the values */
    const double *points;  /* where the examples are */
    const double *heights; /* marks at them; NULL: none */
    int point_count;
    curve curves[CURVES];
    int curve_count;
} chart;

static double chart_at(const chart *c, int sample) {
    return c->low + (c->high - c->low) * sample / (SAMPLES - 1);
}

#define WIDTH  680.0
#define HEIGHT 380.0
static const exi_box frame = {52, 18, 590, 332};

static double place_x(const chart *c, double x) {
    return frame.x0 + (x - c->low) / (c->high - c->low) * (frame.x1 - frame.x0);
}

static double place_y(const chart *c, double y) {
    return frame.y1 - (y - c->bottom) / (c->top - c->bottom) * (frame.y1 - frame.y0);
}

static void draw_grid(const chart *c, exi_canvas *canvas) {
    double ticks[EXI_TICK_MAX];
    char number[EXI_NUMBER_SIZE];
    const exi_pen thin = {exi_colour_grey(232), 0.8, 0, 0}, zero = {exi_colour_grey(170), 1, 0, 0};
    exi_type type = {.size = 11, .colour = exi_colour_grey(104), .across = EXI_MIDDLE, .along = EXI_TOP};
    int count = exi_plot_ticks(c->low, c->high, 6, false, ticks);
    for (int i = 0; i < count; i++) {
        exi_draw_line(canvas, place_x(c, ticks[i]), frame.y0, place_x(c, ticks[i]), frame.y1, &thin);
        exi_draw_text(canvas, place_x(c, ticks[i]), frame.y1 + 8, &type, exi_plot_number(number, ticks[i]));
    }
    type.across = EXI_RIGHT;
    type.along = EXI_CENTRE;
    count = exi_plot_ticks(c->bottom, c->top, 7, false, ticks);
    for (int i = 0; i < count; i++) {
        const double y = place_y(c, ticks[i]);
        exi_draw_line(canvas, frame.x0, y, frame.x1, y, fabs(ticks[i]) < 1e-9 ? &zero : &thin);
        exi_draw_text(canvas, frame.x0 - 8, y, &type, exi_plot_number(number, ticks[i]));
    }
    exi_draw_frame(canvas, frame, &(exi_pen){exi_colour_grey(196), 0.9, 0, 0});
}

static void draw_points(const chart *c, exi_canvas *canvas) {
    const exi_pen dots = {exi_colour_grey(120), 0.9, 2, 3}, ink = {exi_colour_grey(38), 1, 0, 0};
    for (int i = 0; i < c->point_count; i++) {
        const double x = place_x(c, c->points[i]);
        exi_draw_line(canvas, x, frame.y0, x, frame.y1, &dots);
        if (c->heights)
            exi_draw_marker(canvas, EXI_MARKER_DOT, x, place_y(c, c->heights[i]), 4, &ink);
    }
}

/* Names stand at the right, beside the ends of their curves. */
static void draw_curves(const chart *c, exi_canvas *canvas) {
    double centres[CURVES];
    int order[CURVES];
    double(*line)[2] = malloc(SAMPLES * sizeof *line);
    if (!line)
        return;
    exi_canvas_clip(canvas, &frame);
    for (int k = 0; k < c->curve_count; k++) {
        const exi_look look = exi_colour_category(k);
        for (int i = 0; i < SAMPLES; i++) {
            line[i][0] = place_x(c, chart_at(c, i));
            line[i][1] = place_y(c, c->curves[k].values[i]);
        }
        const exi_pen pen = {look.colour, c->curves[k].heavy ? 2.8 : 1.8, c->curves[k].dashed ? 6 : 0,
                             c->curves[k].dashed ? 5 : 0};
        exi_draw_polyline(canvas, (const double(*)[2])line, SAMPLES, false, &pen);
        order[k] = k;
    }
    exi_canvas_clip(canvas, NULL);
    free(line);
    /* From the lowest up, as the spreading wants them in order. */
    for (int i = 1; i < c->curve_count; i++)
        for (int k = i; k > 0 && c->curves[order[k]].values[SAMPLES - 1] > c->curves[order[k - 1]].values[SAMPLES - 1];
             k--) {
            const int swap = order[k];
            order[k] = order[k - 1];
            order[k - 1] = swap;
        }
    for (int i = 0; i < c->curve_count; i++) {
        const double y = place_y(c, c->curves[order[i]].values[SAMPLES - 1]);
        centres[i] = y < frame.y0 ? frame.y0 : y > frame.y1 ? frame.y1 : y;
    }
    exi_labels_spread(centres, c->curve_count, 17, frame.y0 - 4, frame.y1 + 4);
    for (int i = 0; i < c->curve_count; i++) {
        const exi_look look = exi_colour_category(order[i]);
        const exi_type type = {.size = 12, .colour = look.colour, .along = EXI_CENTRE, .bold = true};
        exi_draw_text(canvas, frame.x1 + 10, centres[i], &type, c->curves[order[i]].label);
    }
}

static ex_result write_chart(exi_figures *f, const chart *c, const char *path) {
    exi_canvas *canvas = NULL;
    char *text = NULL;
    size_t size = 0;
    ex_result result =
        exi_canvas_create_svg(WIDTH, HEIGHT, exi_colour_grey(255), c->title, c->description, &canvas, f->error);
    if (result != EX_OK)
        return result;
    draw_grid(c, canvas);
    draw_curves(c, canvas);
    draw_points(c, canvas);
    result = exi_canvas_take_text(canvas, &text, &size, f->error);
    exi_file_writer writer;
    if (result == EX_OK)
        result = exi_file_open(&writer, path, f->error);
    if (result == EX_OK) {
        exi_file_write(&writer, text, size);
        result = exi_file_commit(&writer, f->error);
    }
    free(text);
    return result;
}

/* ---- Shape by Example, figures 2 and 3 ---- */

enum { POINTS = 3 };
static const double places[POINTS] = {0.15, 0.30, 0.75};

static ex_result create_weigher(ex_weigher_kind kind, const double *points, int count, ex_weigher **weigher,
                                ex_error *error) {
    ex_weigher_def def = ex_weigher_def_default();
    const ex_axis axis = ex_axis_scalar(0, 1, 0);
    def.kind = kind;
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

/* The radial basis of an example: a cubic B-spline, as wide as it is far to the nearest other. */
static double radial(int example, double x) {
    double nearest = INFINITY;
    for (int i = 0; i < POINTS; i++)
        if (i != example && fabs(places[i] - places[example]) < nearest)
            nearest = fabs(places[i] - places[example]);
    return exi_kernel(EX_KERNEL_BSPLINE, fabs(x - places[example]) / nearest);
}

/* How much of each radial basis makes up for what the line leaves at the examples: three equations. */
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
    chart *c = calloc(1, sizeof *c);
    if (!c)
        return exi_error_memory(f->error, "a figure", sizeof *c);
    ex_result result = create_weigher(EX_WEIGHER_CARDINAL, places, POINTS, &weigher, f->error);
    if (result == EX_OK) {
        *c = (chart){.title = "Parts of a cardinal basis",
                     .description = "The line of the first example, and what its three radial bases add.",
                     .high = 1,
                     .bottom = -0.8,
                     .top = 1.2,
                     .points = places,
                     .point_count = POINTS,
                     .curve_count = 1 + POINTS};
        /* Beyond the reach of all radial bases a weight is its line. */
        const double slope = (weight_at(weigher, 20, 0) - weight_at(weigher, 10, 0)) / 10;
        const double start = weight_at(weigher, 10, 0) - 10 * slope;
        double left[POINTS], amounts[POINTS], worst = 0;
        for (int i = 0; i < POINTS; i++)
            left[i] = (i == 0) - (start + slope * places[i]);
        solve_radial(left, amounts);
        for (int i = 0; i < SAMPLES; i++) {
            const double x = chart_at(c, i);
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
        result = write_chart(f, c, path);
    }
    ex_weigher_destroy(weigher);
    free(c);
    return result;
}

ex_result exi_figure_cardinal(exi_figures *f, const char *path) {
    static const char *const labels[] = {"w1", "w2", "w3", "sum w x"};
    static const double heights[POINTS] = {1.3, 1.75, 1.45};
    ex_weigher *weigher = NULL;
    chart *c = calloc(1, sizeof *c);
    if (!c)
        return exi_error_memory(f->error, "a figure", sizeof *c);
    ex_result result = create_weigher(EX_WEIGHER_CARDINAL, places, POINTS, &weigher, f->error);
    if (result == EX_OK) {
        *c = (chart){.title = "Cardinal bases",
                     .description = "The weights of three examples along one axis, and a coordinate made with them.",
                     .high = 1,
                     .bottom = -0.5,
                     .top = 2,
                     .points = places,
                     .heights = heights,
                     .point_count = POINTS,
                     .curve_count = POINTS + 1};
        for (int i = 0; i < SAMPLES; i++)
            for (int k = 0; k < POINTS; k++) {
                c->curves[k].values[i] = weight_at(weigher, chart_at(c, i), k);
                c->curves[POINTS].values[i] += c->curves[k].values[i] * heights[k];
            }
        for (int k = 0; k <= POINTS; k++)
            c->curves[k].label = labels[k];
        c->curves[POINTS].heavy = true;
        result = write_chart(f, c, path);
    }
    ex_weigher_destroy(weigher);
    free(c);
    return result;
}

/* ---- Pose space, figure 4 ---- */

ex_result exi_figure_shepard(exi_figures *f, const char *path) {
    enum { LINE = 6 };
    static const double points[LINE] = {0.15, 0.29, 0.43, 0.57, 0.71, 0.85};
    ex_weigher *weigher = NULL;
    chart *c = calloc(1, sizeof *c);
    if (!c)
        return exi_error_memory(f->error, "a figure", sizeof *c);
    ex_result result = create_weigher(EX_WEIGHER_SHEPARD, points, LINE, &weigher, f->error);
    if (result == EX_OK) {
        *c = (chart){.title = "Shepard's interpolant",
                     .description = "Six points on a straight line, and the curve through them.",
                     .low = -0.6,
                     .high = 1.6,
                     .top = 1,
                     .points = points,
                     .heights = points,
                     .point_count = LINE,
                     .curve_count = 1};
        for (int i = 0; i < SAMPLES; i++)
            for (int k = 0; k < LINE; k++)
                c->curves[0].values[i] += weight_at(weigher, chart_at(c, i), k) * points[k];
        c->curves[0].label = "Shepard";
        c->curves[0].heavy = true;
        double far = 0;
        for (int k = 0; k < LINE; k++)
            far += weight_at(weigher, 1e5, k) * points[k];
        exi_figures_fact(f, "value far from the data, of data whose mean is 0.5", "the mean", "%.4f", far);
        result = write_chart(f, c, path);
    }
    ex_weigher_destroy(weigher);
    free(c);
    return result;
}
