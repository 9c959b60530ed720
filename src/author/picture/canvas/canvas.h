/*
 * canvas.h - one drawing surface with two back ends: pixels (PNG) and SVG. Private to authoring.
 *
 * Units are points of the picture, x to the right and y down from the upper left corner; pixels have a scale, so that
 * the same drawing can be made once and twice as fine. Drawing cannot fail: what goes wrong (memory) is kept, drawing
 * after it does nothing, and whoever takes the result is told. The same calls give the same bytes. One thread at a
 * time.
 *
 * A path is built by exi_canvas_move, _line, _curve, _close and the shapes, and ends with the fill or the stroke that
 * uses it. Coverage is computed, not sampled: exact areas for fills, distances from the line for strokes; colours are
 * mixed in linear light.
 *
 * Text is drawn with our own strokes (font.c) in SVG too, not as <text>: its width is then the same everywhere, and
 * labels that were placed beside each other stay so in any viewer; each is named by an aria-label for those who read.
 */
#ifndef EXEMPLAR_AUTHOR_PICTURE_CANVAS_CANVAS_H
#define EXEMPLAR_AUTHOR_PICTURE_CANVAS_CANVAS_H

#include "author/base/colour.h"

#include <exemplar/author/image.h>

typedef struct exi_canvas exi_canvas;

/* Left, top, right, bottom. */
typedef struct exi_box {
    double x0, y0, x1, y1;
} exi_box;

/* Lines have round ends and joins. */
typedef struct exi_pen {
    exi_colour colour;
    double width;     /* points */
    double dash, gap; /* points; 0: unbroken */
} exi_pen;

typedef enum exi_across { EXI_LEFT, EXI_MIDDLE, EXI_RIGHT } exi_across;
typedef enum exi_along { EXI_BASELINE, EXI_CENTRE, EXI_TOP, EXI_BOTTOM } exi_along;

typedef struct exi_type {
    double size; /* points, as fonts count: capitals are 0.7 of it high */
    exi_colour colour;
    exi_across across;
    exi_along along; /* CENTRE: of capitals and figures */
    double degrees;  /* turned clockwise about the anchor */
    bool bold;       /* as wide as not */
    exi_colour halo; /* drawn under the letters where its alpha is not 0 */
} exi_type;

typedef enum exi_marker {
    EXI_MARKER_DOT,
    EXI_MARKER_RING,
    EXI_MARKER_SQUARE,
    EXI_MARKER_DIAMOND,
    EXI_MARKER_TRIANGLE,
    EXI_MARKER_CROSS
} exi_marker;

/* ---- surfaces ---- */

/* The most points along one side, and the most pixels a point may have. */
#define EXI_CANVAS_MAX 16384
#define EXI_SCALE_MAX  16

/* Pixels: a new image of the background's colour; taken out by exi_canvas_take_image, which ends the canvas. */
ex_result exi_canvas_create_image(double width, double height, double scale, exi_colour background, exi_canvas **canvas,
                                  ex_error *error);
/* Pixels: drawn onto an image of the caller's, which stays the caller's. */
ex_result exi_canvas_create_over(ex_image *image, double scale, exi_canvas **canvas, ex_error *error);
/* SVG, with what the picture is called and what it shows, for readers; either may be NULL. */
ex_result exi_canvas_create_svg(double width, double height, exi_colour background, const char *title,
                                const char *description, exi_canvas **canvas, ex_error *error);
void exi_canvas_destroy(exi_canvas *canvas);

/* Whether anything went wrong so far. */
ex_result exi_canvas_result(const exi_canvas *canvas, ex_error *error);
/* The image, the caller's; and the SVG text (release with free), ended by NUL. Both end the canvas, also where they
 * fail. */
ex_result exi_canvas_take_image(exi_canvas *canvas, ex_image **image, ex_error *error);
ex_result exi_canvas_take_text(exi_canvas *canvas, char **text, size_t *size, ex_error *error);
/* The same as a file: a PNG, or SVG text where that is what the canvas holds. Ends the canvas, too. */
ex_result exi_canvas_write(exi_canvas *canvas, const char *path, ex_error *error);

double exi_canvas_width(const exi_canvas *canvas);
double exi_canvas_height(const exi_canvas *canvas);
/* Pixels in a point; 0 for SVG. */
double exi_canvas_scale(const exi_canvas *canvas);

/* From now on only what is inside is drawn; NULL: everything. Does not nest. */
void exi_canvas_clip(exi_canvas *canvas, const exi_box *box);

/* ---- paths ---- */

void exi_canvas_move(exi_canvas *canvas, double x, double y);
void exi_canvas_line(exi_canvas *canvas, double x, double y);
/* Cubic, by its two inner control points and its end. */
void exi_canvas_curve(exi_canvas *canvas, double x1, double y1, double x2, double y2, double x, double y);
void exi_canvas_close(exi_canvas *canvas);
/* Whole outlines added to the path, clockwise as seen. */
void exi_canvas_add_box(exi_canvas *canvas, exi_box box);
void exi_canvas_add_circle(exi_canvas *canvas, double x, double y, double radius);

/* Inside is where outlines wind around a point; outlines of one path that overlap must run the same way. */
void exi_canvas_fill(exi_canvas *canvas, exi_colour colour);
void exi_canvas_stroke(exi_canvas *canvas, const exi_pen *pen);

/* ---- shapes (shapes.c) ---- */

void exi_draw_line(exi_canvas *canvas, double x0, double y0, double x1, double y1, const exi_pen *pen);
void exi_draw_polyline(exi_canvas *canvas, const double (*points)[2], int count, bool closed, const exi_pen *pen);
void exi_draw_box(exi_canvas *canvas, exi_box box, exi_colour fill);
void exi_draw_frame(exi_canvas *canvas, exi_box box, const exi_pen *pen);
/* Filled with the pen's colour; RING and CROSS are lines of the pen's width. */
void exi_draw_marker(exi_canvas *canvas, exi_marker marker, double x, double y, double radius, const exi_pen *pen);
/* A line with a filled head of so many points at its end. */
void exi_draw_arrow(exi_canvas *canvas, double x0, double y0, double x1, double y1, double head, const exi_pen *pen);
/* Parallel lines inside rings of points (even-odd): ring r is points [starts[r], starts[r + 1]). */
void exi_draw_hatch(exi_canvas *canvas, const double (*points)[2], const int *starts, int ring_count, double degrees,
                    double spacing, const exi_pen *pen);
/* Stretched into the box; between pixels it is blended where it is enlarged, and averaged where it is reduced. */
void exi_draw_image(exi_canvas *canvas, const ex_image *image, exi_box box);

/* ---- text (font.c, text.c) ---- */

/* UTF-8. What the font has not is drawn as its base letter, or as an empty box. */
void exi_draw_text(exi_canvas *canvas, double x, double y, const exi_type *type, const char *text);
/* How wide a line of text is at a size of 1. */
double exi_text_width(const char *text);
/* What exi_draw_text would cover. */
exi_box exi_text_box(double x, double y, const exi_type *type, const char *text);

/* Every text that was drawn, in order, and its box: for tests that look whether any two overlap. */
int exi_canvas_text_count(const exi_canvas *canvas);
exi_box exi_canvas_text(const exi_canvas *canvas, int index, const char **text);

#endif
