/*
 * raster.h - declarations shared by the parts of the pixel back end. Private to this folder.
 */
#ifndef EXEMPLAR_AUTHOR_PICTURE_CANVAS_RASTER_H
#define EXEMPLAR_AUTHOR_PICTURE_CANVAS_RASTER_H

#include "author/picture/canvas/canvas_surface.h"

/* The part of the image that a path may touch, in pixels: [x0, x1) by [y0, y1). */
typedef struct exi_area {
    int x0, y0, x1, y1;
} exi_area;

/* ---- raster_path.c ---- */

/* Flattens the canvas's path into lines in pixels, in canvas->flat; a row of NaN ends each piece. */
void exi_raster_flatten(ex_canvas *canvas);
/* Finds the area where the lines, widened by `around`, meet the clip and the image. Allocates canvas->rows for it with
 * `extra` more columns, and fills it with `value`. False if they do not meet, or without memory. */
bool exi_raster_find(ex_canvas *canvas, double around, int extra, float value, exi_area *area);
/* Clamps to [0, most]; NaN gives 0. */
int exi_raster_limited(double value, int most);
/* Finds the part [t[0], t[1]] of the line from p to q that comes within `reach` of the area; false if there is none. */
bool exi_raster_clip_line(const exi_area *area, double reach, const double p[2], const double q[2], double t[2]);

/* ---- raster_image.c ---- */

/* Blends a colour, in linear light, over a pixel with coverage `cover`. */
void exi_raster_blend(unsigned char *pixel, const double linear[3], double cover);
void exi_raster_linear(ex_colour colour, double linear[3]);
/* Returns how much of the pixel that begins at `from` lies between low and high. */
double exi_raster_overlap(double from, double low, double high);
/* Returns the part of a pixel that lies inside the clip. */
double exi_raster_clip(const ex_canvas *canvas, int x, int y);
void exi_raster_draw_image(ex_canvas *canvas, const ex_image *image, ex_box box);

#endif
