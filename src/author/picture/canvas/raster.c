/*
 * The pixel back end. A fill covers a pixel by the exact area of the outline inside it: along each row, every edge adds
 * its signed height to the pixels right of it, and the running sum is the winding number's mean over the pixel. A
 * stroke covers a pixel by the part of the interval [d - 1/2, d + 1/2] that lies in [-w/2, w/2], where d is the
 * distance of the pixel's centre from the line. That is exact for lines along rows and columns, the same for every
 * direction otherwise, and overlapping pieces of a line cover nothing twice. The distance also gives round ends and
 * joins. Colours are mixed in linear light and stored as sRGB codes.
 */
#include "author/picture/canvas/raster.h"

#include <math.h>

/* ---- fills ---- */

/* Adds a piece of an edge within one row, of signed height d, from column xa to xb; columns are relative to the
 * area. */
static void add_piece(float *row, int width, double xa, double xb, double d) {
    if (xa > xb) {
        const double t = xa;
        xa = xb;
        xb = t;
    }
    if (xb <= 0 || xa >= width) {
        row[0] += xb <= 0 ? (float)d : 0;
        return;
    }
    if (xa < 0) {
        const double part = -xa / (xb - xa);
        row[0] += (float)(d * part);
        d -= d * part;
        xa = 0;
    }
    if (xb > width) {
        d *= (width - xa) / (xb - xa);
        xb = width;
    }
    const int last = xb >= width ? width - 1 : (int)xb;
    for (int i = (int)xa; i <= last; i++) {
        const double from = i > xa ? i : xa, to = i + 1 < xb ? i + 1 : xb;
        const double share = xb > xa ? d * (to - from) / (xb - xa) : d;
        const double left = (from + to) / 2 - i; /* part of the pixel left of the piece */
        row[i] += (float)(share * (1 - left));
        row[i + 1] += (float)(share * left);
    }
}

static void add_edge(ex_canvas *c, const exi_area *a, const double p[2], const double q[2]) {
    const double sign = p[1] < q[1] ? 1 : -1;
    const double *top = sign > 0 ? p : q, *bottom = sign > 0 ? q : p;
    const double slope = bottom[1] > top[1] ? (bottom[0] - top[0]) / (bottom[1] - top[1]) : 0;
    const double from = top[1] > a->y0 ? top[1] : a->y0, to = bottom[1] < a->y1 ? bottom[1] : a->y1;
    for (int y = (int)from; y < to; y++) {
        const double begin = from > y ? from : y, end = to < y + 1 ? to : y + 1;
        if (end > begin)
            add_piece(c->rows + (size_t)(y - a->y0) * (size_t)(a->x1 - a->x0 + 1), a->x1 - a->x0,
                      top[0] + slope * (begin - top[1]) - a->x0, top[0] + slope * (end - top[1]) - a->x0,
                      sign * (end - begin));
    }
}

static void fill(ex_canvas *c, ex_colour colour) {
    exi_area a;
    double linear[3];
    exi_raster_flatten(c);
    exi_raster_linear(colour, linear);
    if (c->result != EX_OK || !exi_raster_find(c, 0, 1, 0, &a))
        return;
    size_t first = 0;
    for (size_t i = 0; i + 1 < c->flat_count; i++) {
        const bool ends = isnan(c->flat[i + 1][0]);
        add_edge(c, &a, c->flat[i], ends ? c->flat[first] : c->flat[i + 1]);
        if (ends)
            first = ++i + 1;
    }
    for (int y = a.y0; y < a.y1; y++) {
        const float *row = c->rows + (size_t)(y - a.y0) * (size_t)(a.x1 - a.x0 + 1);
        double sum = 0;
        for (int x = a.x0; x < a.x1; x++) {
            sum += (double)row[x - a.x0];
            const double cover = fabs(sum) < 1 ? fabs(sum) : 1;
            if (cover > 1e-5)
                exi_raster_blend(c->image->pixels + 4 * ((size_t)y * (size_t)c->image->width + (size_t)x), linear,
                                 colour.alpha * cover * exi_raster_clip(c, x, y));
        }
    }
}

/* ---- strokes ---- */

/* Keeps the smaller squared distance of each pixel near the line. */
static void near_line(ex_canvas *c, const exi_area *a, const double p[2], const double q[2], double reach) {
    const int x0 = exi_raster_limited(floor((p[0] < q[0] ? p[0] : q[0]) - reach) - a->x0, a->x1 - a->x0);
    const int x1 = exi_raster_limited(ceil((p[0] > q[0] ? p[0] : q[0]) + reach) - a->x0, a->x1 - a->x0);
    const int y0 = exi_raster_limited(floor((p[1] < q[1] ? p[1] : q[1]) - reach) - a->y0, a->y1 - a->y0);
    const int y1 = exi_raster_limited(ceil((p[1] > q[1] ? p[1] : q[1]) + reach) - a->y0, a->y1 - a->y0);
    const double dx = q[0] - p[0], dy = q[1] - p[1], length_sq = dx * dx + dy * dy;
    for (int y = y0; y < y1; y++) {
        float *row = c->rows + (size_t)y * (size_t)(a->x1 - a->x0);
        for (int x = x0; x < x1; x++) {
            const double vx = x + a->x0 + 0.5 - p[0], vy = y + a->y0 + 0.5 - p[1];
            double t = length_sq > 0 ? (vx * dx + vy * dy) / length_sq : 0;
            t = t > 0 ? t < 1 ? t : 1 : 0;
            const double ex = vx - t * dx, ey = vy - t * dy;
            const float d = (float)(ex * ex + ey * ey);
            row[x] = d < row[x] ? d : row[x];
        }
    }
}

/* Draws a line in pieces of a few pixels, since the box around a slanting line is mostly empty. */
static void near_long_line(ex_canvas *c, const exi_area *a, const double p[2], const double q[2], double reach) {
    const double length = hypot(q[0] - p[0], q[1] - p[1]);
    const int pieces = 1 + (int)(length / 16);
    for (int i = 0; i < pieces; i++) {
        const double s = (double)i / pieces, t = (double)(i + 1) / pieces;
        near_line(c, a, (double[]){p[0] + s * (q[0] - p[0]), p[1] + s * (q[1] - p[1])},
                  (double[]){p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1])}, reach);
    }
}

/* Draws the dashes of a line; *phase is its starting position within dash and gap. */
static void near_dashed_line(ex_canvas *c, const exi_area *a, const double p[2], const double q[2], double reach,
                             double dash, double gap, double *phase) {
    const double length = hypot(q[0] - p[0], q[1] - p[1]);
    double at = 0;
    while (at < length) {
        const bool inside = *phase < dash;
        double step = inside ? dash - *phase : dash + gap - *phase;
        step = step < length - at ? step : length - at;
        if (inside) {
            const double s = at / length, t = (at + step) / length;
            near_long_line(c, a, (double[]){p[0] + s * (q[0] - p[0]), p[1] + s * (q[1] - p[1])},
                           (double[]){p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1])}, reach);
        }
        at += step;
        *phase += step;
        if (*phase >= dash + gap - 1e-9)
            *phase = 0;
    }
}

/* Draws only the part of a line that is near enough to be seen, so that lines far beyond the picture cost no more than
 * others. */
static void near_visible_line(ex_canvas *c, const exi_area *a, const double p[2], const double q[2], double reach,
                              double dash, double gap, double *phase) {
    const double length = hypot(q[0] - p[0], q[1] - p[1]);
    const bool dashed = dash > 0 && gap > 0;
    double t[2] = {1, 1};
    if (exi_raster_clip_line(a, reach + 1, p, q, t)) {
        const double from[2] = {p[0] + t[0] * (q[0] - p[0]), p[1] + t[0] * (q[1] - p[1])};
        const double to[2] = {p[0] + t[1] * (q[0] - p[0]), p[1] + t[1] * (q[1] - p[1])};
        if (dashed) {
            *phase = fmod(*phase + t[0] * length, dash + gap);
            near_dashed_line(c, a, from, to, reach, dash, gap, phase);
        } else {
            near_long_line(c, a, from, to, reach);
        }
    } else {
        t[1] = 0;
    }
    if (dashed)
        *phase = fmod(*phase + (1 - t[1]) * length, dash + gap);
}

static void stroke(ex_canvas *c, const ex_pen *pen) {
    exi_area a;
    double linear[3], phase = 0;
    const double half = pen->width * c->scale / 2, reach = half + 0.5;
    const double dash = pen->dash * c->scale, gap = pen->gap * c->scale;
    exi_raster_flatten(c);
    exi_raster_linear(pen->colour, linear);
    if (c->result != EX_OK || !exi_raster_find(c, reach, 0, INFINITY, &a))
        return;
    for (size_t i = 0; i + 1 < c->flat_count; i++) {
        if (isnan(c->flat[i + 1][0])) {
            i++;
            phase = 0;
        } else {
            near_visible_line(c, &a, c->flat[i], c->flat[i + 1], reach, dash, gap, &phase);
        }
    }
    for (int y = a.y0; y < a.y1; y++) {
        const float *row = c->rows + (size_t)(y - a.y0) * (size_t)(a.x1 - a.x0);
        for (int x = a.x0; x < a.x1; x++) {
            const float square = row[x - a.x0];
            if ((double)square >= reach * reach)
                continue;
            const double d = sqrt((double)square);
            const double low = d - 0.5 > -half ? d - 0.5 : -half, high = d + 0.5 < half ? d + 0.5 : half;
            exi_raster_blend(c->image->pixels + 4 * ((size_t)y * (size_t)c->image->width + (size_t)x), linear,
                             pen->colour.alpha * (high - low) * exi_raster_clip(c, x, y));
        }
    }
}

/* ---- the back end ---- */

const exi_back_end exi_back_end_raster = {.fill = fill, .stroke = stroke, .image = exi_raster_draw_image};
