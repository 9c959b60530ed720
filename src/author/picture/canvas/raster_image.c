/*
 * Pixels of a canvas: mixing colours, drawing images, and creating surfaces. Colours are mixed in linear light.
 */
#include "author/picture/canvas/raster.h"

#include "runtime/base/result.h"
#include "runtime/shape/srgb.h"

#include <math.h>
#include <stdlib.h>

/* ---- colours ---- */

static unsigned char code_of(double linear) {
    float x = (float)linear;
    if (!(x >= EXI_SRGB_LOWEST))
        return 0;
    return (unsigned char)exi_srgb_encode(x > EXI_SRGB_HIGHEST ? EXI_SRGB_HIGHEST : x);
}

void exi_raster_blend(unsigned char *pixel, const double linear[3], double cover) {
    if (!(cover > 0))
        return;
    if (cover > 1)
        cover = 1;
    const double below = pixel[3] / 255.0 * (1 - cover), alpha = cover + below;
    for (int i = 0; i < 3; i++)
        pixel[i] = code_of((cover * linear[i] + below * (double)exi_srgb_linear[pixel[i]]) / alpha);
    pixel[3] = (unsigned char)(255 * alpha + 0.5);
}

void exi_raster_linear(ex_colour colour, double linear[3]) {
    linear[0] = (double)exi_srgb_linear[colour.red];
    linear[1] = (double)exi_srgb_linear[colour.green];
    linear[2] = (double)exi_srgb_linear[colour.blue];
}

double exi_raster_overlap(double from, double low, double high) {
    const double begin = from > low ? from : low, end = from + 1 < high ? from + 1 : high;
    return end > begin ? end - begin : 0;
}

double exi_raster_clip(const ex_canvas *c, int x, int y) {
    if (!c->clipped)
        return 1;
    return exi_raster_overlap(x, c->clip.x0 * c->scale, c->clip.x1 * c->scale) *
           exi_raster_overlap(y, c->clip.y0 * c->scale, c->clip.y1 * c->scale);
}

/* ---- images ---- */

/* Returns the share of one column or row: the part of pixel `index` that the interval [from, to) of the image
 * covers. */
static double share_of(double from, double to, int index) {
    const double begin = from > index ? from : index, end = to < index + 1 ? to : index + 1;
    return end > begin ? end - begin : 0;
}

/* Returns the mean over the part of the image that one pixel of the canvas covers; at least one pixel of it, so that
 * enlarging blends. */
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

void exi_raster_draw_image(ex_canvas *c, const ex_image *image, ex_box box) {
    const double s = c->scale, x0 = box.x0 * s, y0 = box.y0 * s;
    const double du = image->width / ((box.x1 - box.x0) * s), dv = image->height / ((box.y1 - box.y0) * s);
    const double wu = du > 1 ? du / 2 : 0.5, wv = dv > 1 ? dv / 2 : 0.5;
    const int end_x = exi_raster_limited(ceil(box.x1 * s), c->image->width),
              end_y = exi_raster_limited(ceil(box.y1 * s), c->image->height);
    for (int y = exi_raster_limited(floor(y0), c->image->height); y < end_y; y++) {
        for (int x = exi_raster_limited(floor(x0), c->image->width); x < end_x; x++) {
            const double cover = exi_raster_overlap(x, x0, box.x1 * s) * exi_raster_overlap(y, y0, box.y1 * s) *
                                 exi_raster_clip(c, x, y);
            const double u = (x + 0.5 - x0) * du, v = (y + 0.5 - y0) * dv;
            double linear[3];
            if (cover > 0)
                exi_raster_blend(c->image->pixels + 4 * ((size_t)y * (size_t)c->image->width + (size_t)x), linear,
                                 cover * mean_of(image, u - wu, u + wu, v - wv, v + wv, linear));
        }
    }
}

/* ---- surfaces ---- */

ex_result ex_canvas_create_over(ex_image *image, double scale, ex_canvas **canvas, ex_error *error) {
    *canvas = NULL;
    if (!image || !image->pixels || !(scale > 0 && scale <= EX_CANVAS_SCALE_MAX))
        return exi_misuse_error(error, __func__, "no image, or a scale that is not above 0 or too large");
    ex_canvas *c = exi_canvas_blank(image->width / scale, image->height / scale);
    if (!c)
        return ex_error_memory(error, "a canvas", sizeof *c);
    c->scale = scale;
    c->back = &exi_back_end_raster;
    c->image = image;
    *canvas = c;
    return EX_OK;
}

ex_result ex_canvas_create_image(double width, double height, double scale, ex_colour background, ex_canvas **canvas,
                                 ex_error *error) {
    *canvas = NULL;
    ex_result result = exi_canvas_check(width, height, scale, error);
    if (result != EX_OK)
        return result;
    ex_image *image = ex_image_create((int)(width * scale + 0.5), (int)(height * scale + 0.5));
    if (!image)
        return ex_error_memory(error, "a picture", 4 * (size_t)(width * scale) * (size_t)(height * scale));
    result = ex_canvas_create_over(image, scale, canvas, error);
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

ex_result ex_canvas_take_image(ex_canvas *canvas, ex_image **image, ex_error *error) {
    *image = NULL;
    if (!canvas->owned) {
        ex_canvas_destroy(canvas);
        return exi_misuse_error(error, __func__, "this canvas draws onto an image of the caller, or is not an image");
    }
    const ex_result result = ex_canvas_result(canvas, error);
    if (result == EX_OK) {
        *image = canvas->image;
        canvas->owned = false;
    }
    ex_canvas_destroy(canvas);
    return result;
}
