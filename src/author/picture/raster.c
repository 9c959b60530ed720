/*
 * Pixels. A fill covers a pixel by the exact area of the outline inside it: along each row, every edge adds its signed
 * height to the pixels right of it, and the running sum is the winding number's mean over the pixel. A stroke covers a
 * pixel by how much of the interval [d - 1/2, d + 1/2] lies in [-w/2, w/2], d being the distance of the pixel's centre
 * from the line: exact for lines along rows and columns, the same for every direction otherwise, and pieces of a line
 * that overlap cover nothing twice. Round ends and joins come with the distance. Colours are mixed in linear light and
 * kept as codes of sRGB.
 */
#include "author/picture/surface.h"

#include "author/formats/array.h"
#include "runtime/base/result.h"
#include "runtime/shape/srgb.h"

#include <math.h>
#include <stdlib.h>

/* The part of the image that a path may touch, in pixels: [x0, x1) by [y0, y1). */
typedef struct area {
    int x0, y0, x1, y1;
} area;

/* ---- colours ---- */

static unsigned char code_of(double linear) {
    float x = (float)linear;
    if (!(x >= EXI_SRGB_LOWEST))
        return 0;
    return (unsigned char)exi_srgb_encode(x > EXI_SRGB_HIGHEST ? EXI_SRGB_HIGHEST : x);
}

/* Puts so much of a colour over a pixel. */
static void blend(unsigned char *pixel, const double linear[3], double cover) {
    if (!(cover > 0))
        return;
    if (cover > 1)
        cover = 1;
    const double below = pixel[3] / 255.0 * (1 - cover), alpha = cover + below;
    for (int i = 0; i < 3; i++)
        pixel[i] = code_of((cover * linear[i] + below * (double)exi_srgb_linear[pixel[i]]) / alpha);
    pixel[3] = (unsigned char)(255 * alpha + 0.5);
}

static void linear_of(exi_colour colour, double linear[3]) {
    linear[0] = (double)exi_srgb_linear[colour.red];
    linear[1] = (double)exi_srgb_linear[colour.green];
    linear[2] = (double)exi_srgb_linear[colour.blue];
}

/* How much of the pixel that begins at `from` lies between low and high. */
static double overlap(double from, double low, double high) {
    const double begin = from > low ? from : low, end = from + 1 < high ? from + 1 : high;
    return end > begin ? end - begin : 0;
}

/* The part of the row's pixel that the clip leaves. */
static double clip_share(const exi_canvas *c, int x, int y) {
    if (!c->clipped)
        return 1;
    return overlap(x, c->clip.x0 * c->scale, c->clip.x1 * c->scale) *
           overlap(y, c->clip.y0 * c->scale, c->clip.y1 * c->scale);
}

/* ---- the path as lines ---- */

static void put(exi_canvas *c, double x, double y) {
    double(*grown)[2] = exi_array_grow(c->flat, &c->flat_capacity, c->flat_count + 1, sizeof *c->flat);
    if (!grown) {
        c->result = EX_ERROR_MEMORY;
        return;
    }
    c->flat = grown;
    c->flat[c->flat_count][0] = x;
    c->flat[c->flat_count++][1] = y;
}

static void put_curve(exi_canvas *c, const double from[2], const exi_node *n, double s) {
    const double x[4] = {from[0], n[0].x * s, n[1].x * s, n[2].x * s};
    const double y[4] = {from[1], n[0].y * s, n[1].y * s, n[2].y * s};
    /* A cubic lies within (its second differences) / (8 steps^2) of its chords: a tenth of a pixel is not seen. */
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

/* Every piece ends with a row that is no number. */
static void flatten(exi_canvas *c) {
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

static int limited(double value, int most) {
    return value > 0 ? value < most ? (int)value : most : 0;
}

/* Where lines with so much around them, and the clip, and the image meet; rows has room for `extra` columns more. */
static bool find_area(exi_canvas *c, double around, int extra, float value, area *a) {
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
    a->x0 = limited(floor(box[0] - around > x0 ? box[0] - around : x0), c->image->width);
    a->y0 = limited(floor(box[1] - around > y0 ? box[1] - around : y0), c->image->height);
    a->x1 = limited(ceil(box[2] + around < x1 ? box[2] + around : x1), c->image->width);
    a->y1 = limited(ceil(box[3] + around < y1 ? box[3] + around : y1), c->image->height);
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

/* ---- fills ---- */

/* A piece of an edge within one row, of signed height d, from column xa to xb; columns are counted from the area. */
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
        const double left = (from + to) / 2 - i; /* of the pixel, left of the piece */
        row[i] += (float)(share * (1 - left));
        row[i + 1] += (float)(share * left);
    }
}

static void add_edge(exi_canvas *c, const area *a, const double p[2], const double q[2]) {
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

static void fill(exi_canvas *c, exi_colour colour) {
    area a;
    double linear[3];
    flatten(c);
    linear_of(colour, linear);
    if (c->result != EX_OK || !find_area(c, 0, 1, 0, &a))
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
                blend(c->image->pixels + 4 * ((size_t)y * (size_t)c->image->width + (size_t)x), linear,
                      colour.alpha * cover * clip_share(c, x, y));
        }
    }
}

/* ---- strokes ---- */

/* Keeps the smaller squared distance of each pixel near the line. */
static void near_line(exi_canvas *c, const area *a, const double p[2], const double q[2], double reach) {
    const int x0 = limited(floor((p[0] < q[0] ? p[0] : q[0]) - reach) - a->x0, a->x1 - a->x0);
    const int x1 = limited(ceil((p[0] > q[0] ? p[0] : q[0]) + reach) - a->x0, a->x1 - a->x0);
    const int y0 = limited(floor((p[1] < q[1] ? p[1] : q[1]) - reach) - a->y0, a->y1 - a->y0);
    const int y1 = limited(ceil((p[1] > q[1] ? p[1] : q[1]) + reach) - a->y0, a->y1 - a->y0);
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

/* A line in pieces of a few pixels: the box around a slanting one is mostly empty. */
static void near_long_line(exi_canvas *c, const area *a, const double p[2], const double q[2], double reach) {
    const double length = hypot(q[0] - p[0], q[1] - p[1]);
    const int pieces = 1 + (int)(length / 16);
    for (int i = 0; i < pieces; i++) {
        const double s = (double)i / pieces, t = (double)(i + 1) / pieces;
        near_line(c, a, (double[]){p[0] + s * (q[0] - p[0]), p[1] + s * (q[1] - p[1])},
                  (double[]){p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1])}, reach);
    }
}

/* The parts of a line that dashes leave; *phase is how far into dash and gap it begins. */
static void near_dashed_line(exi_canvas *c, const area *a, const double p[2], const double q[2], double reach,
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

static void stroke(exi_canvas *c, const exi_pen *pen) {
    area a;
    double linear[3], phase = 0;
    const double half = pen->width * c->scale / 2, reach = half + 0.5;
    const double dash = pen->dash * c->scale, gap = pen->gap * c->scale;
    flatten(c);
    linear_of(pen->colour, linear);
    if (c->result != EX_OK || !find_area(c, reach, 0, INFINITY, &a))
        return;
    for (size_t i = 0; i + 1 < c->flat_count; i++) {
        if (isnan(c->flat[i + 1][0])) {
            i++;
            phase = 0;
        } else if (dash > 0 && gap > 0) {
            near_dashed_line(c, &a, c->flat[i], c->flat[i + 1], reach, dash, gap, &phase);
        } else {
            near_long_line(c, &a, c->flat[i], c->flat[i + 1], reach);
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
            blend(c->image->pixels + 4 * ((size_t)y * (size_t)c->image->width + (size_t)x), linear,
                  pen->colour.alpha * (high - low) * clip_share(c, x, y));
        }
    }
}

/* ---- images ---- */

/* One column's or row's share: the pixels [first, last] of `size` that the interval [from, to) of the image covers. */
static double share_of(double from, double to, int index) {
    const double begin = from > index ? from : index, end = to < index + 1 ? to : index + 1;
    return end > begin ? end - begin : 0;
}

/* Mean over what one pixel of the canvas sees of the image; at least one pixel of it, so that enlarging blends. */
static double mean_of(const ex_image *image, double u0, double u1, double v0, double v1, double linear[3]) {
    double sum[4] = {0, 0, 0, 0}, total = 0;
    for (int v = (int)floor(v0); v < v1; v++) {
        const int row = v < 0 ? 0 : v < image->height ? v : image->height - 1;
        for (int u = (int)floor(u0); u < u1; u++) {
            const int column = u < 0 ? 0 : u < image->width ? u : image->width - 1;
            const unsigned char *pixel = image->pixels + 4 * ((size_t)row * (size_t)image->width + (size_t)column);
            const double share = share_of(u0, u1, u) * share_of(v0, v1, v), alpha = share * pixel[3] / 255;
            for (int i = 0; i < 3; i++)
                sum[i] += alpha * (double)exi_srgb_linear[pixel[i]];
            sum[3] += alpha;
            total += share;
        }
    }
    for (int i = 0; i < 3; i++)
        linear[i] = sum[3] > 0 ? sum[i] / sum[3] : 0;
    return total > 0 ? sum[3] / total : 0;
}

static void draw_image(exi_canvas *c, const ex_image *image, exi_box box) {
    const double s = c->scale, x0 = box.x0 * s, y0 = box.y0 * s;
    const double du = image->width / ((box.x1 - box.x0) * s), dv = image->height / ((box.y1 - box.y0) * s);
    const double wu = du > 1 ? du / 2 : 0.5, wv = dv > 1 ? dv / 2 : 0.5;
    const int end_x = limited(ceil(box.x1 * s), c->image->width), end_y = limited(ceil(box.y1 * s), c->image->height);
    for (int y = limited(floor(y0), c->image->height); y < end_y; y++) {
        for (int x = limited(floor(x0), c->image->width); x < end_x; x++) {
            const double cover = overlap(x, x0, box.x1 * s) * overlap(y, y0, box.y1 * s) * clip_share(c, x, y);
            const double u = (x + 0.5 - x0) * du, v = (y + 0.5 - y0) * dv;
            double linear[3];
            if (cover > 0)
                blend(c->image->pixels + 4 * ((size_t)y * (size_t)c->image->width + (size_t)x), linear,
                      cover * mean_of(image, u - wu, u + wu, v - wv, v + wv, linear));
        }
    }
}

const exi_back_end exi_back_end_raster = {.fill = fill, .stroke = stroke, .image = draw_image};

/* ---- surfaces ---- */

ex_result exi_canvas_create_over(ex_image *image, double scale, exi_canvas **canvas, ex_error *error) {
    *canvas = NULL;
    if (!image || !image->pixels || !(scale > 0 && scale <= EXI_SCALE_MAX))
        return exi_misuse_error(error, __func__, "no image, or a scale that is not above 0 or too large");
    exi_canvas *c = exi_canvas_blank(image->width / scale, image->height / scale);
    if (!c)
        return exi_error_memory(error, "a canvas", sizeof *c);
    c->scale = scale;
    c->back = &exi_back_end_raster;
    c->image = image;
    *canvas = c;
    return EX_OK;
}

ex_result exi_canvas_create_image(double width, double height, double scale, exi_colour background, exi_canvas **canvas,
                                  ex_error *error) {
    *canvas = NULL;
    ex_result result = exi_canvas_check(width, height, scale, error);
    if (result != EX_OK)
        return result;
    ex_image *image = ex_image_create((int)(width * scale + 0.5), (int)(height * scale + 0.5));
    if (!image)
        return exi_error_memory(error, "a picture", 4 * (size_t)(width * scale) * (size_t)(height * scale));
    result = exi_canvas_create_over(image, scale, canvas, error);
    if (result != EX_OK) {
        ex_image_destroy(image);
        return result;
    }
    (*canvas)->owned = true;
    const unsigned char code[4] = {background.red, background.green, background.blue,
                                   (unsigned char)(255 * background.alpha + 0.5)};
    for (size_t i = 0; i < 4 * (size_t)image->width * (size_t)image->height; i++)
        image->pixels[i] = code[i % 4];
    return EX_OK;
}

ex_result exi_canvas_take_image(exi_canvas *canvas, ex_image **image, ex_error *error) {
    *image = NULL;
    if (!canvas->owned) {
        exi_canvas_destroy(canvas);
        return exi_misuse_error(error, __func__, "this canvas draws onto an image of the caller's, or is no image");
    }
    const ex_result result = exi_canvas_result(canvas, error);
    if (result == EX_OK) {
        *image = canvas->image;
        canvas->owned = false;
    }
    exi_canvas_destroy(canvas);
    return result;
}
