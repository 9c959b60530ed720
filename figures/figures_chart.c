/* figures/figures_chart.c - draws curves over one axis as SVG. */
#include "figures_chart.h"

#include <exemplar/author/files.h>

#include <math.h>
#include <stdlib.h>

double exi_chart_at(const exi_chart *c, int sample) {
    return c->low + (c->high - c->low) * sample / (EXI_CHART_SAMPLES - 1);
}

#define WIDTH  680.0
#define HEIGHT 380.0
#define NAMES  90.0

static ex_box frame_of(const exi_chart *c) {
    return (ex_box){52, 18, WIDTH - (c->names > 0 ? c->names : NAMES), 332};
}

static double place_x(const exi_chart *c, double x) {
    const ex_box frame = frame_of(c);
    return frame.x0 + (x - c->low) / (c->high - c->low) * (frame.x1 - frame.x0);
}

static double place_y(const exi_chart *c, double y) {
    const ex_box frame = frame_of(c);
    return frame.y1 - (y - c->bottom) / (c->top - c->bottom) * (frame.y1 - frame.y0);
}

static void draw_grid(const exi_chart *c, ex_canvas *canvas) {
    const ex_box frame = frame_of(c);
    double ticks[EX_TICK_MAX];
    char number[EX_TICK_SIZE];
    const ex_pen thin = {ex_colour_grey(232), 0.8, 0, 0}, zero = {ex_colour_grey(170), 1, 0, 0};
    ex_lettering type = {.size = 11, .colour = ex_colour_grey(104), .across = EX_ACROSS_MIDDLE, .along = EX_ALONG_TOP};
    int count = ex_ticks(c->low, c->high, 6, false, ticks);
    for (int i = 0; i < count; i++) {
        ex_draw_line(canvas, place_x(c, ticks[i]), frame.y0, place_x(c, ticks[i]), frame.y1, &thin);
        ex_draw_text(canvas, place_x(c, ticks[i]), frame.y1 + 8, &type, ex_tick_text(number, ticks[i]));
    }
    type.across = EX_ACROSS_RIGHT;
    type.along = EX_ALONG_CENTRE;
    count = ex_ticks(c->bottom, c->top, 7, false, ticks);
    for (int i = 0; i < count; i++) {
        const double y = place_y(c, ticks[i]);
        ex_draw_line(canvas, frame.x0, y, frame.x1, y, fabs(ticks[i]) < 1e-9 ? &zero : &thin);
        ex_draw_text(canvas, frame.x0 - 8, y, &type, ex_tick_text(number, ticks[i]));
    }
    ex_draw_frame(canvas, frame, &(ex_pen){ex_colour_grey(196), 0.9, 0, 0});
}

static void draw_points(const exi_chart *c, ex_canvas *canvas) {
    const ex_box frame = frame_of(c);
    const ex_pen dots = {ex_colour_grey(120), 0.9, 2, 3}, ink = {ex_colour_grey(38), 1, 0, 0};
    for (int i = 0; i < c->point_count; i++) {
        const double x = place_x(c, c->points[i]);
        ex_draw_line(canvas, x, frame.y0, x, frame.y1, &dots);
        if (c->heights)
            ex_draw_mark(canvas, EX_MARK_DOT, x, place_y(c, c->heights[i]), 4, &ink);
    }
}

/* Names are at the right, next to the ends of their curves. */
static void draw_curves(const exi_chart *c, ex_canvas *canvas) {
    const ex_box frame = frame_of(c);
    double centres[EXI_CHART_CURVES];
    int order[EXI_CHART_CURVES];
    double(*line)[2] = malloc(EXI_CHART_SAMPLES * sizeof *line);
    if (!line)
        return;
    ex_canvas_clip(canvas, &frame);
    for (int k = 0; k < c->curve_count; k++) {
        const ex_look look = ex_colour_category(k);
        for (int i = 0; i < EXI_CHART_SAMPLES; i++) {
            line[i][0] = place_x(c, exi_chart_at(c, i));
            line[i][1] = place_y(c, c->curves[k].values[i]);
        }
        const ex_pen pen = {look.colour, c->curves[k].heavy ? 2.8 : 1.8, c->curves[k].dashed ? 6 : 0,
                            c->curves[k].dashed ? 5 : 0};
        ex_draw_polyline(canvas, (const double(*)[2])line, EXI_CHART_SAMPLES, false, &pen);
        order[k] = k;
    }
    ex_canvas_clip(canvas, NULL);
    free(line);
    /* Sort from the lowest up: the spreading requires that order. */
    for (int i = 1; i < c->curve_count; i++)
        for (int k = i; k > 0 && c->curves[order[k]].values[EXI_CHART_SAMPLES - 1] >
                                     c->curves[order[k - 1]].values[EXI_CHART_SAMPLES - 1];
             k--) {
            const int swap = order[k];
            order[k] = order[k - 1];
            order[k - 1] = swap;
        }
    for (int i = 0; i < c->curve_count; i++) {
        const double y = place_y(c, c->curves[order[i]].values[EXI_CHART_SAMPLES - 1]);
        centres[i] = y < frame.y0 ? frame.y0 : y > frame.y1 ? frame.y1 : y;
    }
    ex_labels_spread(centres, c->curve_count, 17, frame.y0 - 4, frame.y1 + 4);
    for (int i = 0; i < c->curve_count; i++) {
        const ex_look look = ex_colour_category(order[i]);
        const ex_lettering type = {.size = 12, .colour = look.colour, .along = EX_ALONG_CENTRE, .bold = true};
        ex_draw_text(canvas, frame.x1 + 10, centres[i], &type, c->curves[order[i]].label);
    }
}

ex_result exi_figures_write_svg(exi_figures *f, ex_canvas *canvas, const char *path) {
    char *text = NULL;
    size_t size = 0;
    ex_result result = ex_canvas_take_text(canvas, &text, &size, f->error);
    ex_file_writer writer;
    if (result == EX_OK)
        result = ex_file_open(&writer, path, f->error);
    if (result == EX_OK) {
        ex_file_write(&writer, text, size);
        result = ex_file_commit(&writer, f->error);
    }
    free(text);
    return result;
}

ex_result exi_chart_write(exi_figures *f, const exi_chart *c, const char *path) {
    ex_canvas *canvas = NULL;
    ex_result result =
        ex_canvas_create_svg(WIDTH, HEIGHT, ex_colour_grey(255), c->title, c->description, &canvas, f->error);
    if (result != EX_OK)
        return result;
    draw_grid(c, canvas);
    draw_curves(c, canvas);
    draw_points(c, canvas);
    return exi_figures_write_svg(f, canvas, path);
}
