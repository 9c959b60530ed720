/*
 * Weights over two axes: one small contour map for each example, all on one scale, next to each other with the colour
 * scale and the meaning of hatching. plot_map.c draws a map. A comparison has a column for each kind of weigher and a
 * row for each example.
 */
#include "author/picture/plot/plot_maps.h"

#include "author/base/progress.h"
#include "runtime/base/result.h"

#include <math.h>

static const double left = 66, bottom = 56, right = 92; /* margins around the maps */
static const double head = 22, gap = 20;                /* above each map, and between two */

/* A comparison has its kinds above the maps. */
static double top_of(const exi_plot *p) {
    return p->weigher ? 82 : 62;
}

/* ---- layout ---- */

static void side_of(const exi_plot *p, int columns, double *width, double *height) {
    const int rows = (p->drawn_count * p->count + columns - 1) / columns;
    *width = (p->width - left - right - (columns - 1) * gap) / columns;
    *height = (p->height - top_of(p) - bottom - (rows - 1) * gap) / rows - head;
}

/* Chooses the number of columns that makes the maps largest; in a comparison it is the number of kinds. */
static void lay_out(const exi_plot *p, exi_maps *s) {
    double best = -INFINITY;
    const int most = p->weigher ? p->count : p->drawn_count;
    for (int columns = p->weigher ? p->count : 1; columns <= most; columns++) {
        double width, height;
        side_of(p, columns, &width, &height);
        const double smaller = width < height ? width : height;
        if (smaller <= best)
            continue;
        best = smaller;
        s->columns = columns;
        s->rows = (p->drawn_count * p->count + columns - 1) / columns;
        s->width = width;
        s->height = height;
    }
}

void exi_plot_maps_size(const exi_plot *p, double *width, double *height) {
    const int n = p->drawn_count;
    const int suitable = n <= 3 ? n : n <= 4 ? 2 : n <= 6 ? 3 : n <= 12 ? 4 : 6;
    const int columns = p->weigher ? p->count : suitable, rows = (n * p->count + columns - 1) / columns;
    const double side = p->weigher ? 190 : n == 1 ? 380 : n <= 6 ? 220 : n <= 12 ? 190 : 160;
    *width = left + right + columns * side + (columns - 1) * gap;
    *height = top_of(p) + bottom + rows * (side + head) + (rows - 1) * gap;
}

/* One sample per point, and no more than the eye needs. */
void exi_plot_maps_resolve(exi_plot *p) {
    exi_maps s = {.plot = p};
    lay_out(p, &s);
    const double sides[2] = {s.width, s.height};
    for (int i = 0; i < 2; i++)
        p->axes[i].count = sides[i] < 57 ? 57 : sides[i] > 449 ? 449 : (int)sides[i];
}

ex_box exi_maps_box(const exi_maps *s, int index) {
    const int place = exi_maps_place(s, index);
    const double x = left + place % s->columns * (s->width + gap);
    const double y = top_of(s->plot) + place / s->columns * (s->height + head + gap) + head;
    return (ex_box){x, y, x + s->width, y + s->height};
}

/* ---- the scale ---- */

static ex_colour colour_of(const exi_maps *s, double weight) {
    return s->diverging ? ex_colour_diverging(weight / s->limit) : ex_colour_sequential(1 - 0.75 * weight / s->limit);
}

int exi_maps_bands(const exi_maps *s) {
    return 2 * (int)ceil(s->limit * EXI_MAPS_BANDS / s->step - 1e-9);
}

ex_colour exi_maps_colour(const exi_maps *s, int band, bool pale) {
    return ex_colour_paled(colour_of(s, (band + 0.5) * s->step / EXI_MAPS_BANDS), pale ? 0.55 : 0);
}

static void find_scale(exi_maps *s) {
    const exi_plot *p = s->plot;
    const double most = -p->low > p->high ? -p->low : p->high;
    s->limit = most > 2 ? 2 : most > 1 ? most : 1;
    s->diverging = p->low < -0.005;
    const double span = p->high - p->low;
    s->step = span > 12 ? 2 : span > 6 ? 1 : span > 3 ? 0.5 : 0.25;
}

/* ---- the key ---- */

static void draw_scale(exi_maps *s) {
    const exi_plot *p = s->plot;
    const double low = s->diverging ? -s->limit : 0, high = s->limit;
    const ex_box first = exi_maps_box(s, 0);
    const double x = p->width - right + 24, y0 = first.y0;
    const double y1 = y0 + (s->height < 150 ? s->height : 0.5 * s->height + 75);
    const int last = exi_maps_bands(s) / 2;
    /* Draw each over the one below it, as in the maps. */
    for (int band = s->diverging ? -last : 0; band < last; band++) {
        const double from = band * s->step / EXI_MAPS_BANDS > low ? band * s->step / EXI_MAPS_BANDS : low;
        ex_draw_box(s->canvas, (ex_box){x, y0, x + 11, y1 - (y1 - y0) * (from - low) / (high - low)},
                    exi_maps_colour(s, band, false));
    }
    ex_draw_frame(s->canvas, (ex_box){x, y0, x + 11, y1}, &(ex_pen){ex_colour_grey(170), 0.7, 0, 0});
    for (double i = ceil(low / s->step - 1e-9); i * s->step <= high + 1e-9; i++) {
        char text[EX_TICK_SIZE];
        const double y = y1 - (y1 - y0) * (i * s->step - low) / (high - low);
        const ex_lettering type = {.size = EXI_PLOT_SMALL_SIZE, .colour = exi_plot_quiet()};
        const exi_label_place place = {x + 19, y, EX_ACROSS_LEFT, EX_ALONG_CENTRE};
        if (exi_labels_draw(&s->labels, s->canvas, &place, 1, &type, ex_tick_text(text, i * s->step)))
            ex_draw_line(s->canvas, x + 11, y, x + 14.5, y, &(ex_pen){ex_colour_grey(150), 0.8, 0, 0});
    }
    const ex_lettering type = {.size = EXI_PLOT_SMALL_SIZE, .colour = exi_plot_ink()};
    exi_labels_draw(&s->labels, s->canvas, &(exi_label_place){x, y0 - 8, EX_ACROSS_LEFT, EX_ALONG_BASELINE}, 1, &type,
                    "weight");
}

static bool is_hatched(const exi_plot *p) {
    const size_t total = (size_t)p->axes[0].count * (size_t)p->axes[1].count;
    for (size_t i = 0; i < total; i++)
        if (p->extremes[i] > 0)
            return true;
    return false;
}

/* Explains hatching below the scale, if there is any and room for it. The first panel is drawn. */
static void draw_key(exi_maps *s) {
    const exi_plot *p = s->plot;
    static const char *const lines[] = {"a weight", u8"below \u22120.1", "or above 1.1"};
    bool any = false;
    for (int i = 0; i < p->count && !any; i++)
        any = is_hatched(&p[i]);
    const double x = p->width - right + 24;
    double y = exi_maps_box(s, 0).y0 + (s->height < 150 ? s->height : 0.5 * s->height + 75) + 22;
    if (!any || y + 62 > p->height)
        return;
    const ex_box box = {x, y, x + 26, y + 14};
    const double corners[4][2] = {{box.x0, box.y0}, {box.x1, box.y0}, {box.x1, box.y1}, {box.x0, box.y1}};
    ex_draw_hatch(s->canvas, corners, (int[]){0, 4}, 1, -45, 5,
                  &(ex_pen){ex_colour_faded(ex_colour_grey(60), 0.6), 0.6, 0, 0});
    ex_draw_frame(s->canvas, box, &(ex_pen){ex_colour_grey(170), 0.7, 0, 0});
    y += 26;
    for (int i = 0; i < 3; i++, y += 11.5) {
        const ex_lettering type = {.size = 8.8, .colour = exi_plot_quiet()};
        exi_labels_draw(&s->labels, s->canvas, &(exi_label_place){x, y, EX_ACROSS_LEFT, EX_ALONG_BASELINE}, 1, &type,
                        lines[i]);
    }
}

/* ---- all of it ---- */

static ex_result draw_maps(exi_maps *s, ex_error *error) {
    const exi_plot *p = s->plot;
    ex_result result = EX_OK;
    if (p->weigher)
        exi_plot_head(p, s->canvas, &s->labels, exi_maps_box(s, 0).x0, exi_maps_box(s, 0).x1, top_of(p) - 5);
    for (int i = 0; i < p->drawn_count && result == EX_OK; i++) {
        const double part = (double)(p->number * p->drawn_count + i + 1) / (p->count * p->drawn_count);
        result = exi_maps_draw_one(s, i, error);
        if (result == EX_OK && !exi_progress_tell(p->def->progress, "drawing maps", 0.8 + 0.2 * part))
            result = exi_progress_stopped(error);
    }
    return result;
}

ex_result exi_plot_maps_draw(const exi_plot *plots, ex_canvas *canvas, ex_error *error) {
    const exi_plot *p = plots;
    exi_maps s = {.plot = p, .canvas = canvas, .labels = {.bounds = {2, 2, p->width - 2, p->height - 2}}};
    lay_out(p, &s);
    find_scale(&s);
    if (s.width < 40 || s.height < 40)
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "%d maps do not fit into %g by %g points: make the picture larger, or leave the size out",
                            p->drawn_count * p->count, p->width, p->height);
    exi_plot_title(p, canvas, &s.labels, 20);
    ex_result result = EX_OK;
    draw_scale(&s);
    draw_key(&s);
    for (int i = 0; i < p->count && result == EX_OK; i++) {
        s.plot = &plots[i];
        result = draw_maps(&s, error);
    }
    if (result == EX_OK && s.labels.failed)
        result = ex_error_memory(error, "the labels of a plot", 0);
    exi_labels_free(&s.labels);
    return result;
}
