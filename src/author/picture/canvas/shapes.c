/*
 * Shapes made of paths: lines, boxes, markers, arrows, hatching. The same for pixels and SVG.
 */
#include "author/picture/canvas/canvas_surface.h"

#include "author/base/array.h"

#include <math.h>
#include <stdlib.h>

void ex_draw_line(ex_canvas *canvas, double x0, double y0, double x1, double y1, const ex_pen *pen) {
    ex_canvas_move(canvas, x0, y0);
    ex_canvas_line(canvas, x1, y1);
    ex_canvas_stroke(canvas, pen);
}

void ex_draw_polyline(ex_canvas *canvas, const double (*points)[2], int count, bool closed, const ex_pen *pen) {
    for (int i = 0; i < count; i++) {
        if (i == 0)
            ex_canvas_move(canvas, points[i][0], points[i][1]);
        else
            ex_canvas_line(canvas, points[i][0], points[i][1]);
    }
    if (closed)
        ex_canvas_close(canvas);
    ex_canvas_stroke(canvas, pen);
}

void ex_draw_box(ex_canvas *canvas, ex_box box, ex_colour fill) {
    ex_canvas_add_box(canvas, box);
    ex_canvas_fill(canvas, fill);
}

void ex_draw_frame(ex_canvas *canvas, ex_box box, const ex_pen *pen) {
    ex_canvas_add_box(canvas, box);
    ex_canvas_stroke(canvas, pen);
}

/* Adds a regular polygon with one corner at `degrees` from the right. */
static void add_polygon(ex_canvas *canvas, double x, double y, double radius, int sides, double degrees) {
    const double pi = 3.14159265358979323846;
    for (int i = 0; i < sides; i++) {
        const double angle = degrees * pi / 180 + 2 * pi * i / sides;
        if (i == 0)
            ex_canvas_move(canvas, x + radius * cos(angle), y + radius * sin(angle));
        else
            ex_canvas_line(canvas, x + radius * cos(angle), y + radius * sin(angle));
    }
    ex_canvas_close(canvas);
}

void ex_draw_mark(ex_canvas *canvas, ex_mark marker, double x, double y, double radius, const ex_pen *pen) {
    switch (marker) {
    case EX_MARK_DOT:
    case EX_MARK_RING:
        ex_canvas_add_circle(canvas, x, y, radius);
        break;
    case EX_MARK_SQUARE:
        add_polygon(canvas, x, y, 1.2 * radius, 4, 45);
        break;
    case EX_MARK_DIAMOND:
        add_polygon(canvas, x, y, 1.3 * radius, 4, 0);
        break;
    case EX_MARK_TRIANGLE:
        add_polygon(canvas, x, y, 1.3 * radius, 3, -90);
        break;
    case EX_MARK_CROSS:
        ex_canvas_move(canvas, x - 0.8 * radius, y - 0.8 * radius);
        ex_canvas_line(canvas, x + 0.8 * radius, y + 0.8 * radius);
        ex_canvas_move(canvas, x - 0.8 * radius, y + 0.8 * radius);
        ex_canvas_line(canvas, x + 0.8 * radius, y - 0.8 * radius);
        break;
    }
    if (marker == EX_MARK_RING || marker == EX_MARK_CROSS)
        ex_canvas_stroke(canvas, pen);
    else
        ex_canvas_fill(canvas, pen->colour);
}

void ex_draw_arrow(ex_canvas *canvas, double x0, double y0, double x1, double y1, double head, const ex_pen *pen) {
    const double length = hypot(x1 - x0, y1 - y0);
    if (!(length > 0))
        return;
    const double dx = (x1 - x0) / length, dy = (y1 - y0) / length;
    head = head < length ? head : length;
    /* The shaft ends inside the head; otherwise its round end would show beyond the tip. */
    if (length > head)
        ex_draw_line(canvas, x0, y0, x1 - 0.8 * head * dx, y1 - 0.8 * head * dy, pen);
    ex_canvas_move(canvas, x1, y1);
    ex_canvas_line(canvas, x1 - head * dx - 0.4 * head * dy, y1 - head * dy + 0.4 * head * dx);
    ex_canvas_line(canvas, x1 - head * dx + 0.4 * head * dy, y1 - head * dy - 0.4 * head * dx);
    ex_canvas_close(canvas);
    ex_canvas_fill(canvas, pen->colour);
}

/* ---- hatching ---- */

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Finds the sorted crossings of the line v = level with the rings, in coordinates turned so that lines run along u. */
static int find_crossings(const double (*points)[2], const int *starts, int ring_count, double cosine, double sine,
                          double level, double *crossings) {
    int count = 0;
    for (int r = 0; r < ring_count; r++) {
        for (int i = starts[r]; i < starts[r + 1]; i++) {
            const double *p = points[i], *q = points[i + 1 < starts[r + 1] ? i + 1 : starts[r]];
            const double pv = p[1] * cosine - p[0] * sine - level, qv = q[1] * cosine - q[0] * sine - level;
            if ((pv < 0) == (qv < 0))
                continue;
            const double pu = p[0] * cosine + p[1] * sine, qu = q[0] * cosine + q[1] * sine;
            crossings[count++] = pu + (qu - pu) * pv / (pv - qv);
        }
    }
    qsort(crossings, (size_t)count, sizeof *crossings, compare);
    return count;
}

void ex_draw_hatch(ex_canvas *canvas, const double (*points)[2], const int *starts, int ring_count, double degrees,
                   double spacing, const ex_pen *pen) {
    const double angle = degrees * 3.14159265358979323846 / 180, cosine = cos(angle), sine = sin(angle);
    const int total = ring_count > 0 ? starts[ring_count] : 0;
    if (total < 3 || !(spacing > 0.01))
        return;
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < total; i++) {
        const double v = points[i][1] * cosine - points[i][0] * sine;
        low = v < low ? v : low;
        high = v > high ? v : high;
    }
    double *crossings = exi_array_allocate((size_t)total, sizeof *crossings);
    if (!crossings) {
        canvas->result = EX_ERROR_MEMORY;
        return;
    }
    /* Lines are at multiples of the spacing, so that hatchings of neighbours continue each other. */
    for (double line = ceil(low / spacing); line * spacing < high; line++) {
        const double v = line * spacing;
        const int count = find_crossings(points, starts, ring_count, cosine, sine, v, crossings);
        for (int i = 0; i + 1 < count; i += 2) {
            ex_canvas_move(canvas, crossings[i] * cosine - v * sine, crossings[i] * sine + v * cosine);
            ex_canvas_line(canvas, crossings[i + 1] * cosine - v * sine, crossings[i + 1] * sine + v * cosine);
        }
    }
    free(crossings);
    ex_canvas_stroke(canvas, pen);
}
