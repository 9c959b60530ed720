/*
 * Weights along one axis, as in figures 2 and 3 of "Shape by Example": a curve for each example, through 1 at its own
 * place and 0 at the others'. Beyond the range the background is grey and the curves are lighter. Names are at the ends
 * of the curves, moved apart if they would touch; if there are too many, in a legend below. Above the plot, each
 * example's name is at the example's value; examples that are not in this slice have a short mark. A comparison has a
 * panel for each kind of weigher, side by side, with one legend below all.
 */
#include "author/picture/plot/plot.h"

#include "author/base/array.h"
#include "author/picture/plot/contour.h"
#include "runtime/base/result.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Samples: one at each end of the range, and BEYOND of them past it. */
enum { BEYOND = 160, SAMPLES = EXI_PLOT_CURVE_SAMPLES };

static const double line_height = 13.5;
static const double name_height = 12;
static const double name_most = 170; /* points; longer names are truncated */

/* Comparisons: margins beside the panels, between two, and above each for its kind. */
static const double panels_left = 64, panels_right = 20, panel_gap = 16, head_height = 26;
static const double panel_least = 80; /* points; narrower panels cannot be read */

typedef struct chart {
    const exi_plot *plot;
    ex_canvas *canvas;
    exi_labels *labels;
    double left, right; /* of the panel: the picture's own, unless kinds are compared */
    ex_box box;         /* plotting area */
    double low, high;   /* weights at its lower and upper edge */
    bool legend;        /* true if names are in a legend below, not at the curves' ends */
    int legend_columns, legend_rows;
    double legend_width;
    int name_rows;
    int *rows;     /* [example_count + pseudo_count]: row of the name above the plot, -1: none */
    double *spots; /* [example_count + pseudo_count]: middle of the name */
} chart;

static const char *name_of(const chart *c, int drawn) {
    return ex_rig_example_name(c->plot->rig, c->plot->layer, c->plot->drawn[drawn]);
}

static double place_x(const chart *c, double value) {
    return exi_plot_place(&c->plot->axes[0], value, c->box.x0, c->box.x1);
}

static double place_y(const chart *c, double weight) {
    return c->box.y1 - (c->box.y1 - c->box.y0) * (weight - c->low) / (c->high - c->low);
}

static double weight_at(const chart *c, int drawn, int sample) {
    return (double)c->plot->weights[(size_t)drawn * SAMPLES + (size_t)sample];
}

/* ---- layout ---- */

/* Extrapolation beyond the weights' range is shown up to half of that range, in panels up to 15 %. */
static void find_weights(chart *c) {
    const exi_plot *p = c->plot;
    const double low = p->low < 0 ? p->low : 0, high = p->high > 1 ? p->high : 1,
                 more = (p->weigher ? 0.15 : 0.5) * (high - low);
    c->low = p->outer_low > low - more ? p->outer_low : low - more;
    c->high = p->outer_high < high + more ? p->outer_high : high + more;
    c->low = c->low < low ? c->low : low;
    c->high = c->high > high ? c->high : high;
    const double air = 0.05 * (c->high - c->low);
    c->low -= air;
    c->high += air;
}

static double widest_name(const chart *c, double size) {
    double widest = 0;
    for (int i = 0; i < c->plot->drawn_count; i++) {
        const double width = ex_text_width(name_of(c, i)) * size;
        widest = width > widest ? width : widest;
    }
    return widest < name_most ? widest : name_most;
}

static void lay_out_legend(chart *c) {
    const int count = c->plot->drawn_count;
    const double room = c->plot->width - 80; /* of all panels */
    c->legend_width = widest_name(c, EXI_PLOT_SMALL_SIZE) + 40;
    c->legend_columns = (int)(room / c->legend_width);
    c->legend_columns = c->legend_columns < 1 ? 1 : c->legend_columns > count ? count : c->legend_columns;
    c->legend_rows = (count + c->legend_columns - 1) / c->legend_columns;
    const int most = (int)(0.35 * c->plot->height / line_height);
    c->legend_rows = c->legend_rows < most ? c->legend_rows : most;
}

/* Returns the text above the plot: the name of an example, truncated, or "pseudo 1" for a pseudo-example. */
static const char *mark_name(const exi_plot *p, int mark, char buffer[EX_LABEL_SIZE]) {
    char pseudo[32];
    const char *name = pseudo;
    if (mark < p->example_count)
        name = ex_rig_example_name(p->rig, p->layer, mark);
    else
        snprintf(pseudo, sizeof pseudo, "pseudo %d", mark - p->example_count + 1);
    return ex_label_fit(buffer, name, EXI_PLOT_SMALL_SIZE, 120);
}

static const exi_plot_point *mark_point(const exi_plot *p, int mark) {
    return mark < p->example_count ? &p->examples[mark] : &p->pseudos[mark - p->example_count];
}

/* Chooses rows for the names above the plot: examples of the slice first, then its pseudo-examples, then other
 * examples. */
static void lay_out_names(chart *c) {
    const exi_plot *p = c->plot;
    const int most = (int)(0.18 * p->height / name_height);
    exi_labels rows = {.bounds = {c->left + 4, -1e6, c->right - 4, 1e6}};
    const int rounds = c->legend ? 2 : 3; /* the legend already has the names if there are many */
    for (int round = 0; round < rounds; round++) {
        for (int m = 0; m < p->example_count + p->pseudo_count; m++) {
            const exi_plot_point *point = mark_point(p, m);
            char text[EX_LABEL_SIZE];
            if (round == 0)
                c->rows[m] = -1;
            if (!point->placed || round != (m >= p->example_count) + (point->on_slice ? 0 : 2))
                continue;
            const double half = ex_text_width(mark_name(p, m, text)) * EXI_PLOT_SMALL_SIZE / 2 + 3;
            double x = place_x(c, point->at[0]);
            if (x < c->box.x0 - 1 || x > c->box.x1 + 1)
                continue;
            x = x - half < c->left + 4 ? c->left + 4 + half : x + half > c->right - 4 ? c->right - 4 - half : x;
            for (int row = 0; row < most && c->rows[m] < 0; row++) {
                const ex_box box = {x - half, -row - 1, x + half, -row};
                if (!exi_labels_is_free(&rows, box))
                    continue;
                exi_labels_take(&rows, box);
                c->rows[m] = row;
                c->spots[m] = x;
                c->name_rows = row + 1 > c->name_rows ? row + 1 : c->name_rows;
            }
        }
    }
    c->labels->failed |= rows.failed;
    exi_labels_free(&rows);
}

/* Panels have equal widths. Only the first has values to its left. */
static void lay_out_panel(chart *c) {
    const exi_plot *p = c->plot;
    const double step = (p->width - panels_left - panels_right + panel_gap) / p->count;
    find_weights(c);
    c->legend = true;
    c->box.x0 = panels_left + p->number * step;
    c->box.x1 = c->box.x0 + step - panel_gap;
    c->left = p->number == 0 ? 0 : c->box.x0 - panel_gap / 2;
    c->right = p->number == p->count - 1 ? p->width : c->box.x1 + panel_gap / 2;
    lay_out_legend(c);
    c->box.y0 = 62 + head_height;
    c->box.y1 = p->height - 56 - c->legend_rows * line_height - 10;
    lay_out_names(c);
    c->box.y0 += c->name_rows * name_height + 4;
}

static void lay_out(chart *c) {
    const exi_plot *p = c->plot;
    const double widest = widest_name(c, EXI_PLOT_TEXT_SIZE);
    find_weights(c);
    c->right = p->width;
    c->box = (ex_box){64, 62, p->width - 30, p->height - 56};
    /* Names go to the ends if a third of the width is enough for them, and the height for their lines. */
    c->legend = p->drawn_count * line_height > 0.62 * p->height || widest + 30 > 0.33 * p->width;
    if (c->legend) {
        lay_out_legend(c);
        c->box.y1 -= c->legend_rows * line_height + 10;
    } else {
        c->box.x1 = p->width - widest - 42;
    }
    lay_out_names(c);
    c->box.y0 += c->name_rows * name_height + 4;
}

/* ---- ground ---- */

static void draw_ground(chart *c) {
    const exi_plot_axis *axis = &c->plot->axes[0];
    const double x0 = place_x(c, axis->axis.min), x1 = place_x(c, axis->axis.max);
    ex_canvas *canvas = c->canvas;
    double values[EX_TICK_MAX];
    char text[EX_TICK_SIZE];
    ex_draw_box(canvas, (ex_box){c->box.x0, c->box.y0, x0, c->box.y1}, ex_colour_grey(246));
    ex_draw_box(canvas, (ex_box){x1, c->box.y0, c->box.x1, c->box.y1}, ex_colour_grey(246));
    const int count = ex_ticks(c->low, c->high, (int)((c->box.y1 - c->box.y0) / 34), false, values);
    for (int i = 0; i < count; i++) {
        const double y = place_y(c, values[i]);
        const bool rule = fabs(values[i]) < 1e-9 || fabs(values[i] - 1) < 1e-9;
        const ex_lettering type = {.size = EXI_PLOT_SMALL_SIZE, .colour = rule ? exi_plot_ink() : exi_plot_quiet()};
        const exi_label_place place = {c->box.x0 - 7, y, EX_ACROSS_RIGHT, EX_ALONG_CENTRE};
        if (!rule)
            ex_draw_line(canvas, c->box.x0, y, c->box.x1, y, &(ex_pen){ex_colour_grey(228), 0.7, 0, 0});
        if (c->plot->number == 0)
            exi_labels_draw(c->labels, canvas, &place, 1, &type, ex_tick_text(text, values[i]));
    }
    /* Zero and one are always drawn, also between round values. */
    for (int i = 0; i < 2; i++)
        ex_draw_line(canvas, c->box.x0, place_y(c, i), c->box.x1, place_y(c, i),
                     &(ex_pen){ex_colour_grey(150), 0.9, 0, 0});
    for (int i = 0; i < 2; i++)
        ex_draw_line(canvas, i ? x1 : x0, c->box.y0, i ? x1 : x0, c->box.y1, &(ex_pen){ex_colour_grey(196), 0.8, 0, 0});
    exi_plot_axis_below(axis, canvas, c->labels, c->box, true);
    const ex_lettering type = {.size = EXI_PLOT_TEXT_SIZE + 1, .colour = exi_plot_ink(), .degrees = -90};
    const exi_label_place place = {20, (c->box.y0 + c->box.y1) / 2, EX_ACROSS_MIDDLE, EX_ALONG_BASELINE};
    if (c->plot->number == 0)
        exi_labels_draw(c->labels, canvas, &place, 1, &type, "weight");
}

static void draw_marks(chart *c) {
    const exi_plot *p = c->plot;
    ex_canvas *canvas = c->canvas;
    for (int m = 0; m < p->example_count + p->pseudo_count; m++) {
        const exi_plot_point *point = mark_point(p, m);
        const bool pseudo = m >= p->example_count;
        const double x = place_x(c, point->at[0]);
        if (!point->placed || x < c->box.x0 - 1 || x > c->box.x1 + 1)
            continue;
        const ex_pen pen = {ex_colour_grey(point->on_slice ? 176 : 200), 0.7, pseudo ? 2.5 : 0, 3};
        ex_draw_line(canvas, x, c->box.y0 - 4, x, point->on_slice ? c->box.y1 : c->box.y0 + 5, &pen);
        if (c->rows[m] < 0)
            continue;
        char text[EX_LABEL_SIZE];
        const ex_lettering type = {.size = EXI_PLOT_SMALL_SIZE,
                                   .colour =
                                       point->on_slice ? pseudo ? exi_plot_quiet() : exi_plot_ink() : exi_plot_faint()};
        const exi_label_place place = {c->spots[m], c->box.y0 - 8 - c->rows[m] * name_height, EX_ACROSS_MIDDLE,
                                       EX_ALONG_BASELINE};
        exi_labels_draw(c->labels, canvas, &place, 1, &type, mark_name(p, m, text));
    }
}

/* ---- curves ---- */

static void draw_piece(const chart *c, int drawn, int from, int to, const ex_pen *pen) {
    const double step = (c->box.x1 - c->box.x0) / (SAMPLES - 1);
    double points[SAMPLES][2];
    for (int i = from; i <= to; i++) {
        points[i - from][0] = c->box.x0 + i * step;
        points[i - from][1] = place_y(c, weight_at(c, drawn, i));
    }
    const int count = exi_simplify(points, to - from + 1, 0.03);
    ex_draw_polyline(c->canvas, (const double(*)[2])points, count, false, pen);
}

static void draw_curves(const chart *c) {
    const exi_plot *p = c->plot;
    const int first = BEYOND, last = SAMPLES - 1 - BEYOND;
    const double width = p->drawn_count > 12 ? 1.2 : 1.7;
    ex_canvas_clip(c->canvas, &c->box);
    for (int i = 0; i < p->drawn_count; i++) {
        const ex_look look = ex_colour_category(i);
        ex_pen pen = {look.colour, width, look.dash * width, look.gap * width};
        draw_piece(c, i, first, last, &pen);
        pen.colour = ex_colour_paled(pen.colour, 0.6);
        draw_piece(c, i, 0, first, &pen);
        draw_piece(c, i, last, SAMPLES - 1, &pen);
    }
    ex_canvas_clip(c->canvas, NULL);
    /* An example is at 1 of its own curve. Pseudo-examples get an open mark at the foot, and an arrow from the
     * point they borrow from. */
    for (int i = 0; i < p->drawn_count; i++) {
        const exi_plot_point *point = &p->examples[p->drawn[i]];
        const double x = place_x(c, point->at[0]);
        if (!point->placed || !point->on_slice || x < c->box.x0 || x > c->box.x1)
            continue;
        ex_draw_mark(c->canvas, EX_MARK_DOT, x, place_y(c, 1), 5, &(ex_pen){ex_colour_grey(255), 0, 0, 0});
        ex_draw_mark(c->canvas, EX_MARK_DOT, x, place_y(c, 1), 3.6, &(ex_pen){ex_colour_category(i).colour, 0, 0, 0});
    }
    for (int i = 0; i < p->pseudo_count; i++) {
        const exi_plot_point *point = &p->pseudos[i];
        const double x = place_x(c, point->at[0]), y = c->box.y1 - 8;
        if (!point->on_slice || x < c->box.x0 || x > c->box.x1)
            continue;
        const ex_pen pen = {ex_colour_grey(90), 1, 0, 0};
        if (point->has_from)
            ex_draw_arrow(c->canvas, place_x(c, point->from[0]), y, x + (point->from[0] < point->at[0] ? -5 : 5), y, 5,
                          &pen);
        ex_draw_mark(c->canvas, EX_MARK_DOT, x, y, 3.4, &(ex_pen){ex_colour_grey(255), 0, 0, 0});
        ex_draw_mark(c->canvas, EX_MARK_RING, x, y, 3.4, &pen);
    }
}

/* ---- names ---- */

/* Returns the colour of the curve, darkened so that letters are readable on white. */
static ex_colour readable(ex_colour colour) {
    double lab[3];
    ex_colour_to_oklab(colour, lab);
    lab[0] = lab[0] < 0.58 ? lab[0] : 0.58;
    return ex_colour_from_oklab(lab);
}

static ex_result draw_end_names(chart *c, ex_error *error) {
    const exi_plot *p = c->plot;
    double *centres = exi_array_allocate((size_t)p->drawn_count, sizeof *centres);
    if (!centres)
        return ex_error_memory(error, "a plot", (size_t)p->drawn_count * sizeof *centres);
    for (int i = 0; i < p->drawn_count; i++) {
        const double y = place_y(c, weight_at(c, i, SAMPLES - 1));
        centres[i] = y > c->box.y0 ? y < c->box.y1 ? y : c->box.y1 : c->box.y0;
    }
    bool fits;
    if (!exi_labels_spread(centres, p->drawn_count, line_height, c->box.y0 - line_height, c->box.y1 + line_height,
                           &fits)) {
        free(centres);
        return ex_error_memory(error, "a plot", (size_t)p->drawn_count * sizeof *centres);
    }
    for (int i = 0; fits && i < p->drawn_count; i++) {
        char text[EX_LABEL_SIZE];
        const ex_colour colour = ex_colour_category(i).colour;
        const double end = place_y(c, weight_at(c, i, SAMPLES - 1));
        const double y = end > c->box.y0 ? end < c->box.y1 ? end : c->box.y1 : c->box.y0;
        ex_canvas_move(c->canvas, c->box.x1 + 1.5, y);
        ex_canvas_curve(c->canvas, c->box.x1 + 8, y, c->box.x1 + 8, centres[i], c->box.x1 + 15, centres[i]);
        ex_canvas_stroke(c->canvas, &(ex_pen){ex_colour_paled(colour, 0.45), 0.8, 0, 0});
        const ex_lettering type = {.size = EXI_PLOT_TEXT_SIZE, .colour = readable(colour)};
        const exi_label_place place = {c->box.x1 + 19, centres[i], EX_ACROSS_LEFT, EX_ALONG_CENTRE};
        exi_labels_draw(c->labels, c->canvas, &place, 1, &type,
                        ex_label_fit(text, name_of(c, i), EXI_PLOT_TEXT_SIZE, name_most));
    }
    free(centres);
    return EX_OK;
}

static void draw_legend(chart *c) {
    const int room = c->legend_columns * c->legend_rows, count = c->plot->drawn_count;
    const double top = c->plot->height - c->legend_rows * line_height - 6;
    const double left = c->box.x0 - 10;
    for (int i = 0; i < count && i < room; i++) {
        const double x = left + i / c->legend_rows * c->legend_width, y = top + i % c->legend_rows * line_height;
        const ex_look look = ex_colour_category(i);
        const ex_lettering type = {.size = EXI_PLOT_SMALL_SIZE, .colour = exi_plot_ink()};
        char text[EX_LABEL_SIZE], more[32];
        if (i == room - 1 && count > room) {
            snprintf(more, sizeof more, "and %d more", count - room + 1);
            exi_labels_draw(c->labels, c->canvas, &(exi_label_place){x, y, EX_ACROSS_LEFT, EX_ALONG_CENTRE}, 1, &type,
                            more);
            break;
        }
        ex_draw_line(c->canvas, x, y, x + 20, y, &(ex_pen){look.colour, 1.6, look.dash * 1.6, look.gap * 1.6});
        exi_labels_draw(c->labels, c->canvas, &(exi_label_place){x + 26, y, EX_ACROSS_LEFT, EX_ALONG_CENTRE}, 1, &type,
                        ex_label_fit(text, name_of(c, i), EXI_PLOT_SMALL_SIZE, c->legend_width - 34));
    }
}

/* ---- all of it ---- */

void exi_plot_curves_size(const exi_plot *plots, double *width, double *height) {
    *width = plots->weigher ? panels_left + panels_right + plots->count * 290 + (plots->count - 1) * panel_gap : 760;
    *height = plots->drawn_count > 12 ? 560 : 460;
}

static ex_result draw_chart(chart *c, ex_error *error) {
    draw_ground(c);
    draw_marks(c);
    draw_curves(c);
    if (c->legend && c->plot->number == 0)
        draw_legend(c);
    return c->legend ? EX_OK : draw_end_names(c, error);
}

static ex_result draw_panel(const exi_plot *plot, ex_canvas *canvas, exi_labels *labels, ex_error *error) {
    const size_t marks = (size_t)(plot->example_count + plot->pseudo_count);
    chart c = {.plot = plot, .canvas = canvas, .labels = labels};
    ex_result result = EX_OK;
    c.rows = exi_array_allocate(marks, sizeof *c.rows);
    c.spots = exi_array_allocate(marks, sizeof *c.spots);
    if (!c.rows || !c.spots) {
        result = ex_error_memory(error, "a plot", marks * sizeof *c.spots);
    } else {
        (plot->weigher ? lay_out_panel : lay_out)(&c);
        if (plot->weigher && c.box.x1 - c.box.x0 < panel_least)
            result = ex_error_set(error, EX_ERROR_ARGUMENT,
                                  "%d kinds do not fit into %g by %g points: make the picture larger, or leave the "
                                  "size out",
                                  plot->count, plot->width, plot->height);
        if (plot->number == 0)
            exi_plot_title(plot, canvas, labels, 20);
        if (plot->weigher)
            exi_plot_head(plot, canvas, labels, c.box.x0, c.box.x1, 62 + 15);
        if (result == EX_OK)
            result = draw_chart(&c, error);
    }
    free(c.rows);
    free(c.spots);
    return result;
}

ex_result exi_plot_curves_draw(const exi_plot *plots, ex_canvas *canvas, ex_error *error) {
    exi_labels labels = {.bounds = {2, 2, plots->width - 2, plots->height - 2}};
    ex_result result = EX_OK;
    for (int i = 0; i < plots->count && result == EX_OK; i++)
        result = draw_panel(&plots[i], canvas, &labels, error);
    if (result == EX_OK && labels.failed)
        result = ex_error_memory(error, "the labels of a plot", 0);
    exi_labels_free(&labels);
    return result;
}
