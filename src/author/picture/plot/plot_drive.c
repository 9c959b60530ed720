/*
 * Plots a driven rig's result for an animation over time, as in figure 1 of DrivenShape: a curve for the weight of each
 * key, in its colour; and below, on the same time axis, the error of every frame next to that of the nearest key and of
 * the blend before settling. Without a simulation to compare with, it shows the driver's distance from what the keys
 * can blend. Frames that are too far are shaded in both.
 */
#include "author/picture/plot/plot.h"

#include "author/base/array.h"
#include "author/picture/canvas/labels.h"
#include "author/picture/plot/contour.h"
#include "runtime/base/result.h"

#include <exemplar/author/drive.h>
#include <exemplar/author/files.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH        920.0
#define HEIGHT       560.0
#define LEFT         64.0
#define RIGHT        740.0
#define UPPER_TOP    72.0
#define UPPER_BOTTOM 300.0
#define LOWER_TOP    348.0
#define LOWER_BOTTOM 510.0
#define SCALE        2.0 /* pixels per point */

enum { NAME_MAX_COUNT = 16, SERIES_MAX = 3 };

typedef struct series {
    const char *name;
    size_t offset; /* of the number in ex_drive_frame */
    bool heavy;
    unsigned colour;
} series;

typedef struct chart {
    const ex_drive_report *report;
    const char *const *names;
    ex_canvas *canvas;
    double start, end; /* seconds at the left and right edge */
    int series_count;
    series series[SERIES_MAX];
    double most; /* millimetres at the upper edge of the lower panel */
    double (*points)[2];
} chart;

static const ex_box upper = {LEFT, UPPER_TOP, RIGHT, UPPER_BOTTOM}, lower = {LEFT, LOWER_TOP, RIGHT, LOWER_BOTTOM};

static double place_x(const chart *c, int frame) {
    const double time = c->report->frames[frame].time;
    return c->end > c->start ? LEFT + (RIGHT - LEFT) * (time - c->start) / (c->end - c->start) : (LEFT + RIGHT) / 2;
}

static double value_of(const chart *c, int s, int frame) {
    double value;
    memcpy(&value, (const char *)&c->report->frames[frame] + c->series[s].offset, sizeof value);
    return 1000 * value;
}

static void add_series(chart *c, const char *name, size_t offset, bool heavy, unsigned colour) {
    c->series[c->series_count++] = (series){.name = name, .offset = offset, .heavy = heavy, .colour = colour};
}

static void choose_series(chart *c) {
    const ex_drive_report *r = c->report;
    if (r->nearest_mean >= 0)
        add_series(c, "nearest key", offsetof(ex_drive_frame, nearest_mean), false, 0x8a8a8a);
    if (r->blend_mean >= 0)
        add_series(c, "before settling", offsetof(ex_drive_frame, blend_mean), false, 0xe08a2c);
    if (r->mean >= 0)
        add_series(c, "this rig", offsetof(ex_drive_frame, mean), true, 0x1f5fa8);
    if (c->series_count == 0 && !r->by_motion)
        add_series(c, "from the keys", offsetof(ex_drive_frame, hull_distance), true, 0x1f5fa8);
    for (int s = 0; s < c->series_count; s++)
        for (int i = 0; i < r->frame_count; i++)
            c->most = value_of(c, s, i) > c->most ? value_of(c, s, i) : c->most;
    c->most = c->most > 0 ? 1.08 * c->most : 1;
}

/* ---- ground ---- */

static void draw_title(const chart *c) {
    const ex_drive_report *r = c->report;
    char text[240];
    ex_lettering type = {.size = EXI_PLOT_TITLE_SIZE, .colour = exi_plot_ink()};
    ex_draw_text(c->canvas, LEFT, 30, &type,
                 r->by_motion ? "Distance from what was learned; 1: as far as its takes are from each other"
                              : "Weights of the keys");
    type.size = EXI_PLOT_TEXT_SIZE;
    type.colour = exi_plot_quiet();
    if (r->by_motion && r->mean >= 0)
        snprintf(text, sizeof text, "mean error %.1f mm, 95 %% below %.1f mm; %d of %d frames are far", 1000 * r->mean,
                 1000 * r->p95, r->far_count, r->frame_count);
    else if (r->by_motion)
        snprintf(text, sizeof text, "%d of %d frames are far", r->far_count, r->frame_count);
    else if (r->mean >= 0)
        snprintf(text, sizeof text, "mean error %.1f mm, 95 %% below %.1f mm; nearest key %.1f mm", 1000 * r->mean,
                 1000 * r->p95, 1000 * r->nearest_mean);
    else
        snprintf(text, sizeof text, "%d frames; keys are %.0f mm apart, %d frames are farther than that from them",
                 r->frame_count, 1000 * r->key_spread, r->far_count);
    ex_draw_text(c->canvas, LEFT, 50, &type, text);
    type.size = EXI_PLOT_TITLE_SIZE;
    type.colour = exi_plot_ink();
    ex_draw_text(c->canvas, LEFT, LOWER_TOP - 12, &type,
                 r->mean >= 0   ? "Mean error of a frame"
                 : r->by_motion ? "Without a simulation to compare with"
                                : "Distance from what the keys can blend");
}

static bool is_far(const ex_drive_report *r, int frame) {
    const ex_drive_frame *f = &r->frames[frame];
    return r->by_motion ? f->unfamiliar > 1 : f->hull_distance > r->key_spread;
}

/* Shades frames that no blend comes near, one band for each run of them. */
static void shade_far(const chart *c) {
    const ex_drive_report *r = c->report;
    for (int i = 0; i < r->frame_count; i++) {
        int end = i;
        while (end < r->frame_count && r->key_count > 1 && is_far(r, end))
            end++;
        if (end == i)
            continue;
        const double x0 = i > 0 ? (place_x(c, i - 1) + place_x(c, i)) / 2 : LEFT;
        const double x1 = end < r->frame_count ? (place_x(c, end - 1) + place_x(c, end)) / 2 : RIGHT;
        ex_draw_box(c->canvas, (ex_box){x0, upper.y0, x1, upper.y1}, ex_colour_hex(0xfbeee6));
        ex_draw_box(c->canvas, (ex_box){x0, lower.y0, x1, lower.y1}, ex_colour_hex(0xfbeee6));
        i = end;
    }
}

static void draw_scale(const chart *c, ex_box box, double most, const char *unit) {
    double values[EX_TICK_MAX];
    char text[EX_TICK_SIZE];
    const ex_lettering type = {
        .size = EXI_PLOT_SMALL_SIZE, .colour = exi_plot_quiet(), .across = EX_ACROSS_RIGHT, .along = EX_ALONG_CENTRE};
    const int count = ex_ticks(0, most, (int)((box.y1 - box.y0) / 34), false, values);
    for (int i = 0; i < count; i++) {
        const double y = box.y1 - (box.y1 - box.y0) * values[i] / most;
        ex_draw_line(c->canvas, box.x0, y, box.x1, y, &(ex_pen){ex_colour_grey(228), 0.7, 0, 0});
        ex_draw_text(c->canvas, box.x0 - 7, y, &type, ex_tick_text(text, values[i]));
    }
    const ex_lettering name = {
        .size = EXI_PLOT_TEXT_SIZE, .colour = exi_plot_ink(), .across = EX_ACROSS_MIDDLE, .degrees = -90};
    ex_draw_text(c->canvas, 22, (box.y0 + box.y1) / 2, &name, unit);
}

static void draw_times(const chart *c) {
    double values[EX_TICK_MAX];
    char text[EX_TICK_SIZE];
    const ex_lettering type = {
        .size = EXI_PLOT_SMALL_SIZE, .colour = exi_plot_quiet(), .across = EX_ACROSS_MIDDLE, .along = EX_ALONG_TOP};
    const int count = c->end > c->start ? ex_ticks(c->start, c->end, 12, false, values) : 0;
    for (int i = 0; i < count; i++) {
        const double x = LEFT + (RIGHT - LEFT) * (values[i] - c->start) / (c->end - c->start);
        ex_draw_line(c->canvas, x, upper.y1, x, upper.y1 + 4, &(ex_pen){ex_colour_grey(150), 0.8, 0, 0});
        ex_draw_line(c->canvas, x, lower.y1, x, lower.y1 + 4, &(ex_pen){ex_colour_grey(150), 0.8, 0, 0});
        ex_draw_text(c->canvas, x, lower.y1 + 8, &type, ex_tick_text(text, values[i]));
    }
    const ex_lettering name = {
        .size = EXI_PLOT_TEXT_SIZE, .colour = exi_plot_ink(), .across = EX_ACROSS_MIDDLE, .along = EX_ALONG_TOP};
    ex_draw_text(c->canvas, (LEFT + RIGHT) / 2, lower.y1 + 24, &name, "seconds");
}

/* ---- curves ---- */

static void draw_curve(const chart *c, const ex_pen *pen) {
    const int frames = c->report->frame_count;
    if (frames == 1) {
        ex_draw_mark(c->canvas, EX_MARK_DOT, c->points[0][0], c->points[0][1], 3, pen);
        return;
    }
    const int count = exi_simplify(c->points, frames, 0.05);
    ex_draw_polyline(c->canvas, (const double(*)[2])c->points, count, false, pen);
}

/* Height of the upper box, for a rig that follows motion: from here on, only known states count. */
static const double farthest = 3;

static void draw_unfamiliar(const chart *c) {
    const ex_drive_report *r = c->report;
    for (int i = 0; i < r->frame_count; i++) {
        const double value = r->frames[i].unfamiliar < farthest ? r->frames[i].unfamiliar : farthest;
        c->points[i][0] = place_x(c, i);
        c->points[i][1] = upper.y1 - (upper.y1 - upper.y0) * value / farthest;
    }
    draw_curve(c, &(ex_pen){ex_colour_hex(0x1f5fa8), 2.4, 0, 0});
}

static void draw_weights(const chart *c) {
    const ex_drive_report *r = c->report;
    for (int k = 0; k < r->key_count; k++) {
        const ex_look look = ex_colour_category(k);
        for (int i = 0; i < r->frame_count; i++) {
            const double weight = r->weights[(size_t)i * (size_t)r->key_count + (size_t)k];
            c->points[i][0] = place_x(c, i);
            c->points[i][1] = upper.y1 - (upper.y1 - upper.y0) * weight / 1.04;
        }
        draw_curve(c, &(ex_pen){look.colour, 1.6, 1.6 * look.dash, 1.6 * look.gap});
    }
}

static void draw_errors(const chart *c) {
    const double spread = 1000 * c->report->key_spread;
    if (c->report->mean < 0 && c->report->key_count > 1 && !c->report->by_motion && spread < c->most) {
        const double y = lower.y1 - (lower.y1 - lower.y0) * spread / c->most;
        const ex_lettering type = {.size = EXI_PLOT_SMALL_SIZE, .colour = exi_plot_quiet(), .along = EX_ALONG_CENTRE};
        ex_draw_line(c->canvas, LEFT, y, RIGHT, y, &(ex_pen){ex_colour_grey(120), 1, 4, 3});
        ex_draw_text(c->canvas, RIGHT + 12, y, &type, "keys apart");
    }
    for (int s = 0; s < c->series_count; s++) {
        for (int i = 0; i < c->report->frame_count; i++) {
            c->points[i][0] = place_x(c, i);
            c->points[i][1] = lower.y1 - (lower.y1 - lower.y0) * value_of(c, s, i) / c->most;
        }
        draw_curve(c, &(ex_pen){ex_colour_hex(c->series[s].colour), c->series[s].heavy ? 2.4 : 1.3, 0, 0});
    }
}

/* Draws the keys right of the weights, each with a piece of its curve; and the names of the errors right of those. */
static void draw_legends(const chart *c) {
    const ex_drive_report *r = c->report;
    const int keys = r->by_motion ? 0 : r->key_count, shown = keys <= NAME_MAX_COUNT ? keys : NAME_MAX_COUNT - 1;
    char text[EX_LABEL_SIZE];
    ex_lettering type = {.size = EXI_PLOT_TEXT_SIZE, .colour = exi_plot_ink(), .along = EX_ALONG_CENTRE};
    for (int k = 0; k < shown; k++) {
        const double y = upper.y0 + 7 + 14.2 * k;
        const ex_look look = ex_colour_category(k);
        ex_draw_line(c->canvas, RIGHT + 12, y, RIGHT + 34, y,
                     &(ex_pen){look.colour, 1.8, 1.8 * look.dash, 1.8 * look.gap});
        ex_draw_text(c->canvas, RIGHT + 40, y, &type,
                     ex_label_fit(text, c->names[k], EXI_PLOT_TEXT_SIZE, WIDTH - RIGHT - 46));
    }
    if (shown < keys) {
        snprintf(text, sizeof text, "and %d more", keys - shown);
        ex_draw_text(c->canvas, RIGHT + 40, upper.y0 + 7 + 14.2 * shown, &type, text);
    }
    for (int s = 0; s < c->series_count; s++) {
        const double y = lower.y0 + 8 + 17 * s;
        ex_draw_line(c->canvas, RIGHT + 12, y, RIGHT + 34, y,
                     &(ex_pen){ex_colour_hex(c->series[s].colour), c->series[s].heavy ? 2.4 : 1.3, 0, 0});
        type.bold = c->series[s].heavy;
        ex_draw_text(c->canvas, RIGHT + 40, y, &type, c->series[s].name);
    }
}

static void draw(const chart *c) {
    shade_far(c);
    draw_title(c);
    draw_scale(c, upper, c->report->by_motion ? farthest : 1.04, c->report->by_motion ? "times" : "weight");
    draw_scale(c, lower, c->most, "mm");
    draw_times(c);
    for (int i = 0; i < 2; i++)
        ex_draw_frame(c->canvas, i ? lower : upper, &(ex_pen){ex_colour_grey(196), 0.9, 0, 0});
    if (c->report->by_motion)
        draw_unfamiliar(c);
    else
        draw_weights(c);
    draw_errors(c);
    draw_legends(c);
}

ex_result ex_drive_report_draw(const ex_drive_report *report, const char *const *names, const char *path,
                               ex_error *error) {
    if (!report || !names || !path || report->frame_count < 1)
        return exi_misuse_error(error, __func__, "no report, no names or no path");
    chart c = {.report = report,
               .names = names,
               .start = report->frames[0].time,
               .end = report->frames[report->frame_count - 1].time,
               .points = exi_array_allocate((size_t)report->frame_count, sizeof *c.points)};
    if (!c.points)
        return ex_error_memory(error, "the picture of a report", (size_t)report->frame_count * sizeof *c.points);
    choose_series(&c);
    const ex_colour white = ex_colour_grey(255);
    const ex_result result =
        ex_path_ends_with(path, ".png")
            ? ex_canvas_create_image(WIDTH, HEIGHT, SCALE, white, &c.canvas, error)
            : ex_canvas_create_svg(WIDTH, HEIGHT, white, "Weights of the keys",
                                   "The weight of each key over time, and below it the error of every frame.",
                                   &c.canvas, error);
    if (result == EX_OK)
        draw(&c);
    free(c.points);
    return result == EX_OK ? ex_canvas_write(c.canvas, path, error) : result;
}
