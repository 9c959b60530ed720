/*
 * One contour map: the colour shows the weight of the example, lines at quarters show it exactly, and hatching marks
 * where any weight of the layer is below -0.1 or above 1.1. The inner frame is the range; everything outside it is
 * paler. Examples are dots, the map's own the darkest; pseudo-examples are open, with an arrow from the point they
 * borrow from.
 */
#include "author/picture/plot/plot_maps.h"

#include "author/picture/plot/contour.h"
#include "runtime/base/result.h"

#include <math.h>

static ex_box range_box(const exi_maps *s, ex_box box) {
    const exi_plot_axis *x = &s->plot->axes[0], *y = &s->plot->axes[1];
    return (ex_box){exi_plot_place(x, x->axis.min, box.x0, box.x1), exi_plot_place(y, y->axis.max, box.y1, box.y0),
                    exi_plot_place(x, x->axis.max, box.x0, box.x1), exi_plot_place(y, y->axis.min, box.y1, box.y0)};
}

/* ---- colours ---- */

/* Maps from the grid of samples to the canvas, and removes points that make no visible difference. */
static void move_onto(const exi_maps *s, exi_contour *c, ex_box box) {
    const int columns = s->plot->axes[0].count, rows = s->plot->axes[1].count;
    for (int i = 0; i < c->starts[c->line_count]; i++) {
        c->points[i][0] = box.x0 + (box.x1 - box.x0) * c->points[i][0] / (columns - 1);
        c->points[i][1] = box.y1 - (box.y1 - box.y0) * c->points[i][1] / (rows - 1);
    }
    exi_contour_simplify(c, 0.04);
}

/* Draws bands of even colour, each over the one below it: fills everything above a level, level after level, so that no
 * seam shows between two. */
static ex_result draw_colours(const exi_maps *s, int index, ex_box box, bool pale, ex_error *error) {
    const int columns = s->plot->axes[0].count, rows = s->plot->axes[1].count;
    const float *weights = s->plot->weights + (size_t)index * (size_t)columns * (size_t)rows;
    const int last = exi_maps_bands(s) / 2;
    ex_draw_box(s->canvas, box, exi_maps_colour(s, -last, pale));
    for (int band = 1 - last; band < last; band++) {
        exi_contour region;
        if (!exi_contour_region(weights, columns, rows, band * s->step / EXI_MAPS_BANDS, &region))
            return ex_error_memory(error, "a map", 0);
        move_onto(s, &region, box);
        for (int i = 0; i < region.line_count; i++) {
            for (int k = region.starts[i]; k < region.starts[i + 1]; k++)
                (k == region.starts[i] ? ex_canvas_move : ex_canvas_line)(s->canvas, region.points[k][0],
                                                                          region.points[k][1]);
            ex_canvas_close(s->canvas);
        }
        ex_canvas_fill(s->canvas, exi_maps_colour(s, band, pale));
        exi_contour_free(&region);
    }
    return EX_OK;
}

/* ---- lines ---- */

static ex_result draw_hatching(const exi_maps *s, ex_box box, ex_error *error) {
    exi_contour region;
    if (!exi_contour_region(s->plot->extremes, s->plot->axes[0].count, s->plot->axes[1].count, 0, &region))
        return ex_error_memory(error, "a map", 0);
    move_onto(s, &region, box);
    const double(*points)[2] = (const double(*)[2])region.points;
    ex_draw_hatch(s->canvas, points, region.starts, region.line_count, -45, 5,
                  &(ex_pen){ex_colour_faded(ex_colour_grey(60), 0.34), 0.6, 0, 0});
    exi_contour_free(&region);
    return EX_OK;
}

/* Finds the point at a distance along a line. */
static void point_along(const double (*points)[2], int count, double distance, double at[2]) {
    int i = 1;
    double step = hypot(points[1][0] - points[0][0], points[1][1] - points[0][1]);
    while (i + 1 < count && distance > step) {
        distance -= step;
        i++;
        step = hypot(points[i][0] - points[i - 1][0], points[i][1] - points[i - 1][1]);
    }
    const double part = step > 0 ? distance < step ? distance / step : 1 : 0;
    at[0] = points[i - 1][0] + part * (points[i][0] - points[i - 1][0]);
    at[1] = points[i - 1][1] + part * (points[i][1] - points[i - 1][1]);
}

/* Labels a line with its value, at the middle of the line, or nearby if that place is taken; short lines get none. */
static void label_line(exi_maps *s, const double (*points)[2], int count, bool closed, ex_box box, double level) {
    (void)closed;
    char text[EX_TICK_SIZE];
    const ex_lettering type = {
        .size = 8.2, .colour = ex_colour_grey(60), .halo = ex_colour_faded(ex_colour_grey(255), 0.72)};
    double length = 0;
    for (int i = 1; i < count; i++)
        length += hypot(points[i][0] - points[i - 1][0], points[i][1] - points[i - 1][1]);
    if (length < (s->plot->drawn_count > 12 ? 80 : 34))
        return;
    ex_tick_text(text, level);
    /* Try places from the middle outwards. */
    for (int k = 0; k < 15; k++) {
        double at[2];
        point_along(points, count, length * (0.5 + (k % 2 ? 1 : -1) * ((k + 1) / 2) / 16.0), at);
        const ex_box around = ex_text_box(
            at[0], at[1], &(ex_lettering){.size = 10, .across = EX_ACROSS_MIDDLE, .along = EX_ALONG_CENTRE}, text);
        const exi_label_place place = {at[0], at[1], EX_ACROSS_MIDDLE, EX_ALONG_CENTRE};
        if (around.x0 > box.x0 + 2 && around.x1 < box.x1 - 2 && around.y0 > box.y0 + 2 && around.y1 < box.y1 - 2 &&
            exi_labels_is_free(&s->labels, around) && exi_labels_draw(&s->labels, s->canvas, &place, 1, &type, text))
            return;
    }
}

/* Called for every line of every level. */
typedef void (*line_action)(exi_maps *s, const double (*points)[2], int count, bool closed, ex_box box, double level);

static ex_result for_lines(exi_maps *s, int index, ex_box box, line_action action, ex_error *error) {
    const int columns = s->plot->axes[0].count, rows = s->plot->axes[1].count;
    const float *weights = s->plot->weights + (size_t)index * (size_t)columns * (size_t)rows;
    const double from = ceil(s->plot->outer_low / s->step), to = floor(s->plot->outer_high / s->step);
    for (double i = from > -40 ? from : -40; i <= (to < 40 ? to : 40); i++) {
        exi_contour c;
        if (!exi_contour_find(weights, columns, rows, i * s->step, &c))
            return ex_error_memory(error, "a map", 0);
        move_onto(s, &c, box);
        for (int k = 0; k < c.line_count; k++)
            action(s, (const double(*)[2])c.points + c.starts[k], c.starts[k + 1] - c.starts[k], c.closed[k], box,
                   i * s->step);
        exi_contour_free(&c);
    }
    return EX_OK;
}

/* Zero and one are stronger, levels below zero are dashed; all are paler beyond the range. */
static void draw_line(exi_maps *s, const double (*points)[2], int count, bool closed, ex_box box, double level) {
    const bool rule = fabs(level) < 1e-9 || fabs(level - 1) < 1e-9;
    ex_pen pen = {ex_colour_faded(ex_colour_grey(48), rule ? 0.4 : 0.25), rule ? 0.95 : 0.6, level < -1e-9 ? 2.2 : 0,
                  2.2};
    const ex_box range = range_box(s, box);
    ex_draw_polyline(s->canvas, points, count, closed, &pen);
    pen.colour.alpha = rule ? 0.75 : 0.35; /* drawn over the other */
    ex_canvas_clip(s->canvas, &range);
    ex_draw_polyline(s->canvas, points, count, closed, &pen);
    ex_canvas_clip(s->canvas, NULL);
}

static ex_result draw_lines(exi_maps *s, int index, ex_box box, ex_error *error) {
    return for_lines(s, index, box, draw_line, error);
}

static ex_result label_lines(exi_maps *s, int index, ex_box box, ex_error *error) {
    return for_lines(s, index, box, label_line, error);
}

/* ---- the range, examples ---- */

static void draw_range(const exi_maps *s, ex_box box) {
    const ex_box range = range_box(s, box);
    ex_draw_frame(s->canvas, range, &(ex_pen){ex_colour_grey(110), 0.8, 0, 0});
    ex_draw_frame(s->canvas, box, &(ex_pen){ex_colour_grey(196), 0.8, 0, 0});
}

static bool locate(const exi_maps *s, ex_box box, const double at[2], double place[2]) {
    place[0] = exi_plot_place(&s->plot->axes[0], at[0], box.x0, box.x1);
    place[1] = exi_plot_place(&s->plot->axes[1], at[1], box.y1, box.y0);
    return place[0] >= box.x0 - 1e-6 && place[0] <= box.x1 + 1e-6 && place[1] >= box.y0 - 1e-6 &&
           place[1] <= box.y1 + 1e-6;
}

static void take_around(exi_maps *s, const double at[2], double radius) {
    exi_labels_take(&s->labels, (ex_box){at[0] - radius, at[1] - radius, at[0] + radius, at[1] + radius});
}

static void draw_pseudos(exi_maps *s, ex_box box) {
    const exi_plot *p = s->plot;
    ex_canvas_clip(s->canvas, &box);
    for (int i = 0; i < p->pseudo_count; i++) {
        const exi_plot_point *point = &p->pseudos[i];
        double at[2], from[2];
        if (!point->on_slice || !locate(s, box, point->at, at))
            continue;
        const ex_pen pen = {ex_colour_grey(50), 0.9, 0, 0};
        if (point->has_from) {
            locate(s, box, point->from, from);
            const double length = hypot(at[0] - from[0], at[1] - from[1]);
            if (length > 5)
                ex_draw_arrow(s->canvas, from[0], from[1], at[0] - 4 * (at[0] - from[0]) / length,
                              at[1] - 4 * (at[1] - from[1]) / length, 5, &pen);
        }
        ex_draw_mark(s->canvas, EX_MARK_DOT, at[0], at[1], 3, &(ex_pen){ex_colour_grey(255), 0, 0, 0});
        ex_draw_mark(s->canvas, EX_MARK_RING, at[0], at[1], 3, &pen);
        take_around(s, at, 4);
    }
    ex_canvas_clip(s->canvas, NULL);
}

/* Draws examples outside the slice first, the map's own last, on top. */
static void draw_examples(exi_maps *s, int own, ex_box box) {
    const exi_plot *p = s->plot;
    /* Many examples would hide the map. */
    const double smaller = p->example_count > 64 ? sqrt(64.0 / p->example_count) : 1;
    for (int round = 0; round < 3; round++) {
        for (int k = 0; k < p->example_count; k++) {
            const exi_plot_point *point = &p->examples[k];
            const bool mine = k == own;
            double at[2];
            if (!point->placed || !locate(s, box, point->at, at) || round != (mine ? 2 : point->on_slice))
                continue;
            const double radius = mine ? 3.8 : (point->on_slice ? 2.6 : 1.8) * smaller;
            const ex_colour colour = ex_colour_grey(mine ? 20 : point->on_slice ? 105 : 165);
            ex_draw_mark(s->canvas, EX_MARK_DOT, at[0], at[1], radius + (mine ? 1.1 : 1.1 * smaller),
                         &(ex_pen){ex_colour_faded(ex_colour_grey(255), 0.9), 0, 0, 0});
            ex_draw_mark(s->canvas, mine && !point->on_slice ? EX_MARK_RING : EX_MARK_DOT, at[0], at[1], radius,
                         &(ex_pen){colour, 1.2, 0, 0});
            take_around(s, at, radius + 1);
        }
    }
}

/* Names the map's own example first, so that it gets its label; then the others of the slice if there are few. */
static void name_examples(exi_maps *s, int own, ex_box box) {
    const exi_plot *p = s->plot;
    const ex_box all = s->labels.bounds;
    s->labels.bounds = box;
    for (int round = 0; round < 2; round++) {
        for (int k = 0; k < p->example_count; k++) {
            const exi_plot_point *point = &p->examples[k];
            const bool mine = k == own;
            double at[2];
            if (!point->placed || !locate(s, box, point->at, at) || (round == 0 ? !mine : mine) ||
                (!mine && (!point->on_slice || p->example_count > 8)))
                continue;
            const char *name = ex_rig_example_name(p->rig, p->layer, k);
            exi_label_place places[EXI_LABEL_AROUND];
            const ex_lettering type = {.size = 8.8,
                                       .colour = mine ? exi_plot_ink() : exi_plot_quiet(),
                                       .bold = mine,
                                       .halo = ex_colour_faded(ex_colour_grey(255), 0.72)};
            exi_labels_around(at[0], at[1], 7, places);
            /* Truncated names would all look alike; the map's own name is above it. */
            if (ex_text_width(name) * type.size <= 0.6 * (box.x1 - box.x0))
                exi_labels_draw(&s->labels, s->canvas, places, EXI_LABEL_AROUND, &type, name);
        }
    }
    s->labels.bounds = all;
}

/* ---- all of it ---- */

ex_result exi_maps_draw_one(exi_maps *s, int index, ex_error *error) {
    const exi_plot *p = s->plot;
    const int own = p->drawn[index], place = exi_maps_place(s, index);
    const ex_box box = exi_maps_box(s, index);
    char text[EX_LABEL_SIZE];
    const ex_box range = range_box(s, box);
    ex_result result = draw_colours(s, index, box, true, error);
    ex_canvas_clip(s->canvas, &range);
    if (result == EX_OK)
        result = draw_colours(s, index, box, false, error);
    ex_canvas_clip(s->canvas, NULL);
    if (result == EX_OK)
        result = draw_hatching(s, box, error);
    if (result == EX_OK)
        result = draw_lines(s, index, box, error);
    if (result != EX_OK)
        return result;
    draw_range(s, box);
    draw_pseudos(s, box);
    draw_examples(s, own, box);
    const ex_lettering type = {.size = EXI_PLOT_TEXT_SIZE, .colour = exi_plot_ink()};
    exi_labels_draw(&s->labels, s->canvas, &(exi_label_place){box.x0, box.y0 - 7, EX_ACROSS_LEFT, EX_ALONG_BASELINE}, 1,
                    &type, ex_label_fit(text, ex_rig_example_name(p->rig, p->layer, own), type.size, s->width));
    name_examples(s, own, box);
    result = label_lines(s, index, box, error);
    /* Values go below the lowest map of a column and left of the first of a row. */
    if (place + s->columns >= p->drawn_count * p->count)
        exi_plot_axis_below(&p->axes[0], s->canvas, &s->labels, box, true);
    if (place % s->columns == 0)
        exi_plot_axis_left(&p->axes[1], s->canvas, &s->labels, box, true);
    return result;
}
