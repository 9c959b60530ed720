/*
 * Plots the report of a warp: over the time from 0 to 1, a curve for each method with the stretch of the worst
 * triangles (99th and 99.9th percentile, on one logarithmic scale), and below, on the same time axis, the number of
 * flipped triangles and of crossing pairs. The trajectory, which is what a rig shows, is drawn heavier.
 */
#include "author/picture/plot/plot.h"

#include "author/picture/canvas/labels.h"
#include "runtime/base/result.h"

#include <exemplar/author/files.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { METHOD_MAX = 16, TIMES = EX_WARP_TIME_COUNT };

#define WIDTH        920.0
#define LEFT         64.0
#define PANEL_WIDTH  348.0
#define PANEL_GAP    36.0
#define PANEL_TOP    92.0
#define PANEL_HEIGHT 280.0
#define TABLE_TOP    (PANEL_TOP + PANEL_HEIGHT + 66)
#define ROW_HEIGHT   18.0
#define SCALE        2.0 /* pixels per point */

/* Limits of the logarithmic scale: nothing below or above them matters. */
#define SMALLEST 1e-6
#define LARGEST  1e3

typedef struct chart {
    const ex_warp_report *report;
    ex_canvas *canvas;
    int method_count;
    double low, high; /* logarithms at the lower and upper edge */
} chart;

static const ex_warp_row *row_of(const chart *c, int method, int time) {
    return &c->report->rows[method * TIMES + time];
}

static ex_box panel(int side) {
    const double x = LEFT + side * (PANEL_WIDTH + PANEL_GAP);
    return (ex_box){x, PANEL_TOP, x + PANEL_WIDTH, PANEL_TOP + PANEL_HEIGHT};
}

static double place_x(int side, double t) {
    return panel(side).x0 + t * PANEL_WIDTH;
}

static double place_y(const chart *c, double stretch) {
    const double value = log10(stretch > SMALLEST ? stretch < LARGEST ? stretch : LARGEST : SMALLEST);
    return panel(0).y1 - PANEL_HEIGHT * (value - c->low) / (c->high - c->low);
}

/* Returns the logarithm of the nearest of 1, 2 and 5 times a power of ten that is not above the value, or, if `up`, not
 * below it. */
static double round_step(double value, bool up) {
    static const double steps[4] = {1, 2, 5, 10};
    const double power = pow(10, floor(log10(value) + 1e-9));
    int i = up ? 0 : 3;
    while (up ? i < 3 && steps[i] * power < value * (1 - 1e-9) : i > 0 && steps[i] * power > value * (1 + 1e-9))
        i += up ? 1 : -1;
    return log10(steps[i] * power);
}

/* Finds the range of all values of both panels, at least a decade. */
static void find_range(chart *c) {
    double low = LARGEST, high = SMALLEST;
    for (int i = 0; i < c->method_count * TIMES; i++)
        for (int p = 2; p < 4; p++) {
            const double value = c->report->rows[i].stretch.percentiles[p];
            low = value < low ? value : low;
            high = value > high ? value : high;
        }
    c->low = round_step(low > SMALLEST ? low : SMALLEST, false);
    c->high = round_step(high < LARGEST ? high : LARGEST, true);
    if (c->high < c->low + 1)
        c->high = c->low + 1;
}

/* ---- drawing ---- */

static void draw_title(const chart *c) {
    char text[200];
    ex_lettering type = {.size = EXI_PLOT_TITLE_SIZE, .colour = exi_plot_ink()};
    ex_draw_text(c->canvas, LEFT, 30, &type, "Stretch along the way");
    type.size = EXI_PLOT_TEXT_SIZE;
    type.colour = exi_plot_quiet();
    snprintf(
        text, sizeof text,
        "%s has %g bytes a vertex \xC2\xB7 %d component%s \xC2\xB7 pairs that cross: %d at the start, %d at the end",
        row_of(c, c->method_count - 1, 0)->method, c->report->bytes, c->report->component_count,
        c->report->component_count == 1 ? "" : "s", c->report->start_crossing, c->report->end_crossing);
    ex_draw_text(c->canvas, LEFT, 50, &type, text);
}

static void draw_times(const chart *c, int side) {
    const ex_box box = panel(side);
    const ex_lettering type = {
        .size = EXI_PLOT_SMALL_SIZE, .colour = exi_plot_quiet(), .across = EX_ACROSS_MIDDLE, .along = EX_ALONG_TOP};
    const ex_pen thin = {ex_colour_grey(232), 0.8, 0, 0};
    char number[EX_TICK_SIZE];
    for (int i = 0; i < TIMES; i++) {
        const double t = row_of(c, 0, i)->t, x = place_x(side, t);
        ex_draw_line(c->canvas, x, box.y0, x, box.y1, &thin);
        ex_draw_text(c->canvas, x, box.y1 + 7, &type, ex_tick_text(number, t));
    }
    ex_draw_text(c->canvas, place_x(side, 1), box.y1 + 7, &type, "t");
}

/* Draws lines at 1, 2 and 5 of each decade; those at 2 and 5 have numbers if there are few decades. */
static void draw_amounts(const chart *c, int side) {
    static const double steps[3] = {1, 2, 5};
    const ex_box box = panel(side);
    const ex_lettering type = {
        .size = EXI_PLOT_SMALL_SIZE, .colour = exi_plot_quiet(), .across = EX_ACROSS_RIGHT, .along = EX_ALONG_CENTRE};
    char number[EX_TICK_SIZE];
    for (double power = floor(c->low); power <= c->high + 1e-9; power++)
        for (int i = 0; i < 3; i++) {
            const double value = steps[i] * pow(10, power), at = log10(value), y = place_y(c, value);
            if (at < c->low - 1e-9 || at > c->high + 1e-9)
                continue;
            ex_draw_line(c->canvas, box.x0, y, box.x1, y, &(ex_pen){ex_colour_grey(i == 0 ? 206 : 236), 0.8, 0, 0});
            if (side == 0 && (i == 0 || c->high - c->low < 3.5))
                ex_draw_text(c->canvas, box.x0 - 8, y, &type, ex_tick_text(number, value));
        }
}

static void draw_curves(const chart *c, int side) {
    for (int m = 0; m < c->method_count; m++) {
        const bool heavy = m == c->method_count - 1;
        const ex_pen pen = {ex_colour_category(m).colour, heavy ? 3 : 1.6, 0, 0};
        double points[TIMES][2];
        for (int i = 0; i < TIMES; i++) {
            points[i][0] = place_x(side, row_of(c, m, i)->t);
            points[i][1] = place_y(c, row_of(c, m, i)->stretch.percentiles[2 + side]);
            ex_draw_mark(c->canvas, EX_MARK_DOT, points[i][0], points[i][1], heavy ? 4.2 : 3, &pen);
        }
        ex_draw_polyline(c->canvas, (const double(*)[2])points, TIMES, false, &pen);
    }
}

/* Draws names at the right, next to the ends of the curves, moved apart if they would touch. False without memory:
 * there is room for METHOD_MAX of them. */
static bool draw_names(const chart *c) {
    const ex_box box = panel(1);
    double centres[METHOD_MAX];
    int order[METHOD_MAX];
    for (int i = 0; i < c->method_count; i++) {
        const double y = place_y(c, row_of(c, i, TIMES - 1)->stretch.percentiles[3]);
        int k = i;
        for (; k > 0 && centres[k - 1] > y; k--) {
            centres[k] = centres[k - 1];
            order[k] = order[k - 1];
        }
        centres[k] = y;
        order[k] = i;
    }
    if (!ex_labels_spread(centres, c->method_count, 17, box.y0 - 4, box.y1 + 4))
        return false;
    for (int i = 0; i < c->method_count; i++) {
        const ex_lettering type = {.size = EXI_PLOT_TEXT_SIZE + 1,
                                   .colour = ex_colour_category(order[i]).colour,
                                   .along = EX_ALONG_CENTRE,
                                   .bold = order[i] == c->method_count - 1};
        ex_draw_text(c->canvas, box.x1 + 12, centres[i], &type, row_of(c, order[i], 0)->method);
    }
    return true;
}

static void draw_panel(const chart *c, int side) {
    static const char *const titles[2] = {"99th percentile of the triangles", "99.9th percentile"};
    const ex_box box = panel(side);
    const ex_lettering type = {.size = EXI_PLOT_TEXT_SIZE + 1, .colour = exi_plot_ink()};
    ex_draw_text(c->canvas, box.x0, box.y0 - 12, &type, titles[side]);
    draw_amounts(c, side);
    draw_times(c, side);
    ex_draw_frame(c->canvas, box, &(ex_pen){ex_colour_grey(196), 0.9, 0, 0});
    draw_curves(c, side);
}

/* Draws numbers under their times, faint if nothing is wrong. */
static void draw_table(const chart *c, int side) {
    static const char *const titles[2] = {"flipped triangles", "pairs of triangles that cross"};
    ex_lettering type = {.size = EXI_PLOT_TEXT_SIZE + 1, .colour = exi_plot_ink()};
    ex_draw_text(c->canvas, panel(side).x0, TABLE_TOP - 22, &type, titles[side]);
    for (int m = 0; m < c->method_count; m++) {
        const double y = TABLE_TOP + m * ROW_HEIGHT;
        type = (ex_lettering){.size = EXI_PLOT_TEXT_SIZE, .along = EX_ALONG_CENTRE, .across = EX_ACROSS_MIDDLE};
        type.bold = m == c->method_count - 1;
        for (int i = 0; i < TIMES; i++) {
            const ex_warp_row *row = row_of(c, m, i);
            const int count = side == 0 ? row->stretch.flipped : row->crossing;
            char text[24];
            snprintf(text, sizeof text, "%d", count);
            type.colour = count > 0 ? exi_plot_ink() : exi_plot_faint();
            ex_draw_text(c->canvas, place_x(side, row->t), y, &type, text);
        }
        if (side == 0)
            continue;
        type.across = EX_ACROSS_LEFT;
        type.colour = ex_colour_category(m).colour;
        ex_draw_text(c->canvas, panel(1).x1 + 12, y, &type, row_of(c, m, 0)->method);
    }
}

static bool draw(const chart *c) {
    draw_title(c);
    for (int side = 0; side < 2; side++) {
        draw_panel(c, side);
        draw_table(c, side);
    }
    return draw_names(c);
}

ex_result ex_warp_report_draw(const ex_warp_report *report, const char *path, ex_error *error) {
    if (!report || !path)
        return exi_misuse_error(error, __func__, "no report or no path");
    chart c = {.report = report, .method_count = report->row_count / TIMES};
    if (c.method_count < 1 || c.method_count > METHOD_MAX)
        return exi_misuse_error(error, __func__, "a report of no methods, or of more than 16");
    find_range(&c);
    const double height = TABLE_TOP + c.method_count * ROW_HEIGHT + 8;
    const ex_colour white = ex_colour_grey(255);
    const bool pixels = ex_path_ends_with(path, ".png");
    const ex_result result =
        pixels ? ex_canvas_create_image(WIDTH, height, SCALE, white, &c.canvas, error)
               : ex_canvas_create_svg(WIDTH, height, white, "Stretch along the way",
                                      "Percentiles of the triangles' stretch over time, flipped triangles and "
                                      "crossing pairs, for every way from one form to the other.",
                                      &c.canvas, error);
    if (result != EX_OK)
        return result;
    if (!draw(&c)) {
        ex_canvas_destroy(c.canvas);
        return ex_error_memory(error, "the picture of a report", 0);
    }
    return ex_canvas_write(c.canvas, path, error);
}
