/*
 * Flattens paths into lines in pixels, and finds the part of the image that they may touch.
 */
#include "author/picture/canvas/raster.h"

#include "author/base/array.h"

#include <math.h>

static void put(ex_canvas *c, double x, double y) {
    double(*grown)[2] = exi_array_grow(c->flat, &c->flat_capacity, c->flat_count + 1, sizeof *c->flat);
    if (!grown) {
        c->result = EX_ERROR_MEMORY;
        return;
    }
    c->flat = grown;
    c->flat[c->flat_count][0] = x;
    c->flat[c->flat_count++][1] = y;
}

static void put_curve(ex_canvas *c, const double from[2], const exi_node *n, double s) {
    const double x[4] = {from[0], n[0].x * s, n[1].x * s, n[2].x * s};
    const double y[4] = {from[1], n[0].y * s, n[1].y * s, n[2].y * s};
    /* A cubic lies within (its second differences) / (8 steps^2) of its chords: a tenth of a pixel is invisible. */
    const double bend = fabs(x[0] - 2 * x[1] + x[2]) + fabs(x[1] - 2 * x[2] + x[3]) + fabs(y[0] - 2 * y[1] + y[2]) +
                        fabs(y[1] - 2 * y[2] + y[3]);
    int steps = 6 + (int)sqrt(6 * (bend < 1e6 ? bend : 1e6));
    steps = steps < 400 ? steps : 400;
    for (int i = 1; i <= steps; i++) {
        const double t = (double)i / steps, u = 1 - t;
        const double a = u * u * u, b = 3 * u * u * t, d = 3 * u * t * t, e = t * t * t;
        put(c, a * x[0] + b * x[1] + d * x[2] + e * x[3], a * y[0] + b * y[1] + d * y[2] + e * y[3]);
    }
}

void exi_raster_flatten(ex_canvas *c) {
    double start[2] = {0, 0}, at[2] = {0, 0};
    bool open = false;
    c->flat_count = 0;
    for (size_t i = 0; i < c->node_count && c->result == EX_OK; i++) {
        const exi_node *n = &c->nodes[i];
        if (n->kind == EXI_NODE_MOVE) {
            if (open)
                put(c, NAN, NAN);
            at[0] = start[0] = n->x * c->scale;
            at[1] = start[1] = n->y * c->scale;
            open = false;
            continue;
        }
        if (!open)
            put(c, at[0], at[1]);
        open = true;
        if (n->kind == EXI_NODE_CLOSE) {
            put(c, start[0], start[1]);
            put(c, NAN, NAN);
            open = false;
            at[0] = start[0];
            at[1] = start[1];
            continue;
        }
        if (n->kind == EXI_NODE_CURVE) {
            put_curve(c, at, n, c->scale);
            i += 2;
            n += 2;
        } else {
            put(c, n->x * c->scale, n->y * c->scale);
        }
        at[0] = n->x * c->scale;
        at[1] = n->y * c->scale;
    }
    if (open)
        put(c, NAN, NAN);
}

int exi_raster_limited(double value, int most) {
    return value > 0 ? value < most ? (int)value : most : 0;
}

bool exi_raster_find(ex_canvas *c, double around, int extra, float value, exi_area *a) {
    double box[4] = {INFINITY, INFINITY, -INFINITY, -INFINITY};
    for (size_t i = 0; i < c->flat_count; i++) {
        const double x = c->flat[i][0], y = c->flat[i][1];
        box[0] = x < box[0] ? x : box[0];
        box[1] = y < box[1] ? y : box[1];
        box[2] = x > box[2] ? x : box[2];
        box[3] = y > box[3] ? y : box[3];
    }
    const double s = c->scale;
    const double x0 = c->clip.x0 * s, y0 = c->clip.y0 * s, x1 = c->clip.x1 * s, y1 = c->clip.y1 * s;
    a->x0 = exi_raster_limited(floor(box[0] - around > x0 ? box[0] - around : x0), c->image->width);
    a->y0 = exi_raster_limited(floor(box[1] - around > y0 ? box[1] - around : y0), c->image->height);
    a->x1 = exi_raster_limited(ceil(box[2] + around < x1 ? box[2] + around : x1), c->image->width);
    a->y1 = exi_raster_limited(ceil(box[3] + around < y1 ? box[3] + around : y1), c->image->height);
    if (a->x1 <= a->x0 || a->y1 <= a->y0)
        return false;
    const size_t needed = (size_t)(a->x1 - a->x0 + extra) * (size_t)(a->y1 - a->y0);
    float *grown = exi_array_grow(c->rows, &c->row_capacity, needed, sizeof *c->rows);
    if (!grown) {
        c->result = EX_ERROR_MEMORY;
        return false;
    }
    c->rows = grown;
    for (size_t i = 0; i < needed; i++)
        c->rows[i] = value;
    return true;
}

/* Liang and Barsky: each side of the box limits the part of the line. */
bool exi_raster_clip_line(const exi_area *a, double reach, const double p[2], const double q[2], double t[2]) {
    const double low[2] = {a->x0 - reach, a->y0 - reach}, high[2] = {a->x1 + reach, a->y1 + reach};
    double from = 0, to = 1;
    for (int i = 0; i < 2; i++) {
        const double d = q[i] - p[i];
        if (d == 0) {
            if (p[i] < low[i] || p[i] > high[i])
                return false;
            continue;
        }
        const double enter = ((d > 0 ? low[i] : high[i]) - p[i]) / d, leave = ((d > 0 ? high[i] : low[i]) - p[i]) / d;
        from = enter > from ? enter : from;
        to = leave < to ? leave : to;
    }
    if (from > to)
        return false;
    t[0] = from;
    t[1] = to;
    return true;
}
