/*
 * The canvas: paths, the clip, and the list of drawn texts; pixels and SVG are in raster.c and svg.c.
 */
#include "author/picture/canvas/canvas_surface.h"
#include "author/picture/canvas/labels.h"

#include "author/base/array.h"
#include "runtime/base/result.h"

#include <exemplar/author/files.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

ex_canvas *exi_canvas_blank(double width, double height) {
    ex_canvas *canvas = calloc(1, sizeof *canvas);
    if (canvas) {
        canvas->width = width;
        canvas->height = height;
        canvas->clip = (ex_box){0, 0, width, height};
    }
    return canvas;
}

ex_result exi_canvas_check(double width, double height, double scale, ex_error *error) {
    if (!(width >= 1 && width <= EX_CANVAS_MAX && height >= 1 && height <= EX_CANVAS_MAX))
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "a picture cannot have %g by %g points: each side must be from 1 to %d", width, height,
                            EX_CANVAS_MAX);
    if (!(scale > 0 && scale <= EX_CANVAS_SCALE_MAX))
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "a scale of %g pixels per point is not possible: it must be above 0 and at most %d", scale,
                            EX_CANVAS_SCALE_MAX);
    if (width * scale < 1 || height * scale < 1 || width * scale > EX_IMAGE_MAX || height * scale > EX_IMAGE_MAX)
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "a picture of %g by %g points at %g pixels per point has a side below 1 or above %d pixels",
                            width, height, scale, EX_IMAGE_MAX);
    return EX_OK;
}

void ex_canvas_destroy(ex_canvas *canvas) {
    if (!canvas)
        return;
    for (size_t i = 0; i < canvas->text_count; i++)
        free(canvas->texts[i].text);
    free(canvas->texts);
    free(canvas->nodes);
    free(canvas->flat);
    free(canvas->rows);
    free(canvas->out);
    if (canvas->owned)
        ex_image_destroy(canvas->image);
    free(canvas);
}

ex_result ex_canvas_result(const ex_canvas *canvas, ex_error *error) {
    if (canvas->result == EX_OK)
        return EX_OK;
    return ex_error_set(error, canvas->result, "not enough memory for the picture");
}

static ex_result write_text(ex_canvas *canvas, const char *path, ex_error *error) {
    char *text;
    size_t size;
    ex_result result = ex_canvas_take_text(canvas, &text, &size, error);
    if (result != EX_OK)
        return result;
    ex_file_writer writer;
    result = ex_file_open_bulk(&writer, path, error);
    if (result == EX_OK) {
        ex_file_write(&writer, text, size);
        result = ex_file_commit(&writer, error);
    }
    free(text);
    return result;
}

ex_result ex_canvas_write(ex_canvas *canvas, const char *path, ex_error *error) {
    if (ex_canvas_scale(canvas) == 0)
        return write_text(canvas, path, error);
    ex_image *image;
    ex_result result = ex_canvas_take_image(canvas, &image, error);
    if (result == EX_OK)
        result = ex_image_write(path, image, error);
    ex_image_destroy(image);
    return result;
}

double ex_canvas_width(const ex_canvas *canvas) {
    return canvas->width;
}

double ex_canvas_height(const ex_canvas *canvas) {
    return canvas->height;
}

double ex_canvas_scale(const ex_canvas *canvas) {
    return canvas->scale;
}

void ex_canvas_clip(ex_canvas *canvas, const ex_box *box) {
    canvas->clipped = box != NULL;
    canvas->clip = (ex_box){0, 0, canvas->width, canvas->height};
    if (box) {
        ex_box *c = &canvas->clip;
        c->x0 = box->x0 > c->x0 ? box->x0 : c->x0;
        c->y0 = box->y0 > c->y0 ? box->y0 : c->y0;
        c->x1 = box->x1 < c->x1 ? box->x1 : c->x1;
        c->y1 = box->y1 < c->y1 ? box->y1 : c->y1;
    }
    if (canvas->back->clip)
        canvas->back->clip(canvas);
}

/* ---- paths ---- */

static void add_node(ex_canvas *canvas, exi_node_kind kind, double x, double y) {
    exi_node *grown =
        exi_array_grow(canvas->nodes, &canvas->node_capacity, canvas->node_count + 1, sizeof *canvas->nodes);
    if (!grown) {
        canvas->result = EX_ERROR_MEMORY;
        return;
    }
    canvas->nodes = grown;
    /* Clamp points far outside, and NaN, to a distance beyond any picture, so that sums of coordinates stay finite. */
    const double far = 1e6;
    x = x > -far ? x < far ? x : far : -far;
    y = y > -far ? y < far ? y : far : -far;
    canvas->nodes[canvas->node_count++] = (exi_node){kind, x, y};
}

void ex_canvas_move(ex_canvas *canvas, double x, double y) {
    add_node(canvas, EXI_NODE_MOVE, x, y);
}

void ex_canvas_line(ex_canvas *canvas, double x, double y) {
    add_node(canvas, canvas->node_count > 0 ? EXI_NODE_LINE : EXI_NODE_MOVE, x, y);
}

void ex_canvas_curve(ex_canvas *canvas, double x1, double y1, double x2, double y2, double x, double y) {
    if (canvas->node_count == 0)
        ex_canvas_move(canvas, x1, y1);
    add_node(canvas, EXI_NODE_CURVE, x1, y1);
    add_node(canvas, EXI_NODE_CURVE, x2, y2);
    add_node(canvas, EXI_NODE_CURVE, x, y);
}

void ex_canvas_close(ex_canvas *canvas) {
    if (canvas->node_count > 0)
        add_node(canvas, EXI_NODE_CLOSE, 0, 0);
}

void ex_canvas_add_box(ex_canvas *canvas, ex_box box) {
    ex_canvas_move(canvas, box.x0, box.y0);
    ex_canvas_line(canvas, box.x1, box.y0);
    ex_canvas_line(canvas, box.x1, box.y1);
    ex_canvas_line(canvas, box.x0, box.y1);
    ex_canvas_close(canvas);
}

void ex_canvas_add_circle(ex_canvas *canvas, double x, double y, double r) {
    const double k = 0.5522847498 * r; /* a cubic through the middle of the quarter */
    ex_canvas_move(canvas, x + r, y);
    ex_canvas_curve(canvas, x + r, y + k, x + k, y + r, x, y + r);
    ex_canvas_curve(canvas, x - k, y + r, x - r, y + k, x - r, y);
    ex_canvas_curve(canvas, x - r, y - k, x - k, y - r, x, y - r);
    ex_canvas_curve(canvas, x + k, y - r, x + r, y - k, x + r, y);
    ex_canvas_close(canvas);
}

void ex_canvas_fill(ex_canvas *canvas, ex_colour colour) {
    if (canvas->result == EX_OK && canvas->node_count > 0 && colour.alpha > 0)
        canvas->back->fill(canvas, colour);
    canvas->node_count = 0;
}

void ex_canvas_stroke(ex_canvas *canvas, const ex_pen *pen) {
    if (canvas->result == EX_OK && canvas->node_count > 0 && pen->colour.alpha > 0 && pen->width > 0)
        canvas->back->stroke(canvas, pen);
    canvas->node_count = 0;
}

void ex_draw_image(ex_canvas *canvas, const ex_image *image, ex_box box) {
    if (canvas->result == EX_OK && image && box.x1 > box.x0 && box.y1 > box.y0)
        canvas->back->image(canvas, image, box);
}

/* ---- drawn texts ---- */

int exi_canvas_text_count(const ex_canvas *canvas) {
    return (int)canvas->text_count;
}

ex_box exi_canvas_text(const ex_canvas *canvas, int index, const char **text) {
    if (text)
        *text = canvas->texts[index].text;
    return canvas->texts[index].box;
}
