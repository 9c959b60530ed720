/*
 * canvas_surface.h - the path and the clip, shared by both back ends of a canvas, and the interface that each back end
 * implements. Private to this folder.
 */
#ifndef EXEMPLAR_AUTHOR_PICTURE_CANVAS_CANVAS_SURFACE_H
#define EXEMPLAR_AUTHOR_PICTURE_CANVAS_CANVAS_SURFACE_H

#include <exemplar/author/canvas.h>

/* A curve is three nodes: CURVE, CURVE, CURVE. */
typedef enum exi_node_kind { EXI_NODE_MOVE, EXI_NODE_LINE, EXI_NODE_CURVE, EXI_NODE_CLOSE } exi_node_kind;

typedef struct exi_node {
    exi_node_kind kind;
    double x, y;
} exi_node;

typedef struct ex_canvas_text_record {
    ex_box box;
    char *text;
} exi_canvas_text_record;

struct ex_canvas {
    double width, height, scale;
    const struct exi_back_end *back;
    ex_result result; /* first failure */
    exi_node *nodes;
    size_t node_count, node_capacity;
    ex_box clip; /* in points; the whole canvas if none is set */
    bool clipped;
    exi_canvas_text_record *texts;
    size_t text_count, text_capacity;
    const char *label; /* text of the path that is being drawn, or NULL */

    /* pixels */
    ex_image *image;
    bool owned;
    double (*flat)[2]; /* the path as lines, in pixels; a row of NaN ends each piece */
    size_t flat_count, flat_capacity;
    float *rows; /* coverage or distances over the part of the image that is being drawn */
    size_t row_capacity;

    /* SVG */
    char *out;
    size_t out_size, out_capacity;
    int clip_count;
};

typedef struct exi_back_end {
    void (*fill)(ex_canvas *canvas, ex_colour colour);
    void (*stroke)(ex_canvas *canvas, const ex_pen *pen);
    void (*image)(ex_canvas *canvas, const ex_image *image, ex_box box);
    void (*clip)(ex_canvas *canvas);
} exi_back_end;

extern const exi_back_end exi_back_end_raster;
extern const exi_back_end exi_back_end_svg;

/* Returns a canvas without a back end, or NULL without memory. */
ex_canvas *exi_canvas_blank(double width, double height);
/* Checks that sizes are within the limits of a canvas; otherwise fails with a sentence. */
ex_result exi_canvas_check(double width, double height, double scale, ex_error *error);

#endif
