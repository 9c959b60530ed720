/*
 * raster.h - what the parts of the pixel back end share. Private to this folder.
 */
#ifndef EXEMPLAR_AUTHOR_PICTURE_CANVAS_RASTER_H
#define EXEMPLAR_AUTHOR_PICTURE_CANVAS_RASTER_H

#include "author/picture/canvas/canvas_surface.h"

/* The part of the image that a path may touch, in pixels: [x0, x1) by [y0, y1). */
typedef struct exi_area {
    int x0, y0, x1, y1;
} exi_area;

/* ---- raster_path.c ---- */

/* The canvas's path as lines in pixels, in canvas->flat; every piece ends with a row that is no number. */
void exi_raster_flatten(ex_canvas *canvas);
/* Where those lines with so much around them, and the clip, and the image meet; canvas->rows gets room for it and so
 * many columns more, filled with the value. False where they do not meet, or without memory. */
bool exi_raster_find(ex_canvas *canvas, double around, int extra, float value, exi_area *area);
/* From 0 to most; what is no number is 0. */
int exi_raster_limited(double value, int most);
/* The part [t[0], t[1]] of the line from p to q that comes within so much of the area; false: none. */
bool exi_raster_clip_line(const exi_area *area, double reach, const double p[2], const double q[2], double t[2]);

/* ---- raster_image.c ---- */

/* Puts so much of a colour in linear light over a pixel. */
void exi_raster_blend(unsigned char *pixel, const double linear[3], double cover);
void exi_raster_linear(ex_colour colour, double linear[3]);
/* How much of the pixel that begins at `from` lies between low and high. */
double exi_raster_overlap(double from, double low, double high);
/* The part of a pixel that the clip leaves. */
double exi_raster_clip(const ex_canvas *canvas, int x, int y);
void exi_raster_draw_image(ex_canvas *canvas, const ex_image *image, ex_box box);

#endif
