/*
 * The legend of a scalar: a strip of its colours below the form, round numbers under it, and their meaning above it.
 */
#include "author/picture/render/render.h"

#include <exemplar/author/canvas.h>

#include <stdio.h>

#define STRIP_WIDTH  380.0
#define STRIP_HEIGHT 12.0
#define BELOW        44.0 /* from the strip's upper edge to the picture's lower edge */
#define TEXT_SIZE    17.0
#define ABOVE        34.0 /* above the strip: the meaning of the numbers, and some space to the form */
#define SMALLEST     240  /* pixels of the picture's shorter side */

/* Returns 1, 2 or 5 times a power of ten: at most four steps in the range. */
static double round_step(double range) {
    double power = pow(10, floor(log10(range / 4)));
    for (int i = 0; i < 3; i++) {
        const double factors[3] = {1, 2, 5};
        if (range / (factors[i] * power) <= 4.0001)
            return factors[i] * power;
    }
    return 10 * power;
}

static ex_colour colour_at(const ex_render_scalar *scalar, double t) {
    return scalar->diverging ? ex_colour_diverging(2 * t - 1) : ex_colour_sequential(t);
}

static void draw_strip(ex_canvas *canvas, const exi_stage_item *item, ex_box box) {
    const int steps = 190;
    for (int i = 0; i < steps; i++) {
        /* Each box reaches to the end and the next is drawn over it, so that no background shows between them. */
        ex_box rest = {box.x0 + (box.x1 - box.x0) * i / steps, box.y0, box.x1, box.y1};
        ex_draw_box(canvas, rest, colour_at(&item->source->scalar, (i + 0.5) / steps));
    }
    ex_pen pen = {.colour = ex_colour_grey(90), .width = 0.8};
    ex_draw_frame(canvas, box, &pen);
}

static void draw_numbers(ex_canvas *canvas, const exi_stage_item *item, ex_box box, const ex_lettering *type) {
    double range = item->max - item->min;
    double step = range > 0 ? round_step(range) : 1;
    ex_pen pen = {.colour = ex_colour_grey(60), .width = 1};
    const double first = ceil(item->min / step - 1e-9);
    /* Count the steps: far from 0 a number and the next may be equal. */
    for (int i = 0; i < 6 && (first + i) * step <= item->max + 1e-9 * step; i++) {
        const double k = first + i;
        double x = range > 0 ? box.x0 + (box.x1 - box.x0) * (k * step - item->min) / range : box.x0;
        char text[32];
        snprintf(text, sizeof text, "%g", k == 0 ? 0 : k * step);
        ex_draw_line(canvas, x, box.y1, x, box.y1 + 4, &pen);
        ex_lettering centred = *type;
        centred.across = EX_ACROSS_MIDDLE;
        centred.along = EX_ALONG_TOP;
        ex_draw_text(canvas, x, box.y1 + 8, &centred, text);
        if (!(range > 0))
            break;
    }
}

static int shorter_side(int width, int height) {
    return width < height ? width : height;
}

static double scale_of(int shorter) {
    return shorter / 1000.0 > 0.7 ? shorter / 1000.0 : 0.7;
}

double exi_legend_height(int width, int height) {
    /* In pictures too small to read, it would cover the form. */
    const int shorter = shorter_side(width, height);
    return shorter < SMALLEST ? 0 : (BELOW + ABOVE) * scale_of(shorter);
}

ex_result exi_legend_draw(ex_image *image, const exi_stage_item *item, ex_error *error) {
    const ex_render_scalar *scalar = &item->source->scalar;
    if (!(exi_legend_height(image->width, image->height) > 0))
        return EX_OK;
    double scale = scale_of(shorter_side(image->width, image->height));
    ex_canvas *canvas = NULL;
    ex_result result = ex_canvas_create_over(image, scale, &canvas, error);
    if (result != EX_OK)
        return result;
    double width = ex_canvas_width(canvas), y = ex_canvas_height(canvas) - BELOW;
    double half = (STRIP_WIDTH < 0.7 * width ? STRIP_WIDTH : 0.7 * width) / 2;
    ex_box box = {width / 2 - half, y, width / 2 + half, y + STRIP_HEIGHT};
    ex_lettering type = {.size = TEXT_SIZE,
                         .colour = ex_colour_grey(30),
                         .halo = ex_colour_faded(ex_colour_grey(255), 0.5),
                         .across = EX_ACROSS_MIDDLE,
                         .along = EX_ALONG_BASELINE};
    char title[160] = "";
    if (scalar->label || scalar->unit)
        snprintf(title, sizeof title, "%s%s%s", scalar->label ? scalar->label : "",
                 scalar->label && scalar->unit ? ", " : "", scalar->unit ? scalar->unit : "");
    draw_strip(canvas, item, box);
    draw_numbers(canvas, item, box, &type);
    if (title[0])
        ex_draw_text(canvas, width / 2, y - 8, &type, title);
    result = ex_canvas_result(canvas, error);
    ex_canvas_destroy(canvas);
    return result;
}
