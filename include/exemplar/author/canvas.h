/*
 * exemplar/author/canvas.h - one drawing surface with two back ends: pixels (PNG) and SVG.
 *
 * Units are points of the picture, x to the right and y down from the upper left corner. Pixels have a scale, so the
 * same drawing can be made at several resolutions. Drawing calls cannot fail: the first error (out of memory) is kept,
 * later calls do nothing, and taking the result reports the error. The same calls give the same bytes. One thread at a
 * time.
 *
 * A path is built by ex_canvas_move, _line, _curve, _close and the shapes, and ends with the fill or the stroke that
 * uses it. Coverage is computed, not sampled: exact areas for fills, distances from the line for strokes. Colours are
 * mixed in linear light.
 *
 * Text in SVG is drawn with our own strokes too, not as <text>: its width is then the same everywhere, and labels
 * placed next to each other do not collide in any viewer. Each has an aria-label for screen readers.
 */
#ifndef EXEMPLAR_AUTHOR_CANVAS_H
#define EXEMPLAR_AUTHOR_CANVAS_H

#include <exemplar/author/colour.h>
#include <exemplar/author/image.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A drawing surface. */
typedef struct ex_canvas ex_canvas;

/* A box: left, top, right, bottom. */
typedef struct ex_box {
    double x0, y0, x1, y1;
} ex_box;

/* A pen for lines, which have round ends and joins. */
typedef struct ex_pen {
    ex_colour colour;
    double width;     /* points */
    double dash, gap; /* points; 0: solid line */
} ex_pen;

/* Alignment of text at its anchor, horizontally and vertically. */
typedef enum ex_across { EX_ACROSS_LEFT, EX_ACROSS_MIDDLE, EX_ACROSS_RIGHT } ex_across;
typedef enum ex_along { EX_ALONG_BASELINE, EX_ALONG_CENTRE, EX_ALONG_TOP, EX_ALONG_BOTTOM } ex_along;

/* Size, colour and alignment of text. */
typedef struct ex_lettering {
    double size; /* points, as font sizes: capitals are 0.7 of it high */
    ex_colour colour;
    ex_across across;
    ex_along along; /* CENTRE: centre of capitals and figures */
    double degrees; /* clockwise rotation about the anchor */
    bool bold;      /* same width as regular */
    ex_colour halo; /* outline drawn under the letters if its alpha is not 0 */
} ex_lettering;

/* Shapes of marks at points. */
typedef enum ex_mark {
    EX_MARK_DOT,
    EX_MARK_RING,
    EX_MARK_SQUARE,
    EX_MARK_DIAMOND,
    EX_MARK_TRIANGLE,
    EX_MARK_CROSS
} ex_mark;

/* ---- surfaces ---- */

/* Maximum number of points along one side, and of pixels per point. */
#define EX_CANVAS_MAX       16384
#define EX_CANVAS_SCALE_MAX 16

/* Creates a canvas of pixels, filled with the background colour. ex_canvas_take_image returns it and ends the canvas.
 */
EX_API ex_result ex_canvas_create_image(double width, double height, double scale, ex_colour background,
                                        ex_canvas **canvas, ex_error *error);
/* Creates a canvas over the caller's image, which the caller keeps. */
EX_API ex_result ex_canvas_create_over(ex_image *image, double scale, ex_canvas **canvas, ex_error *error);
/* Creates a canvas of SVG. title and description are for screen readers; either may be NULL. */
EX_API ex_result ex_canvas_create_svg(double width, double height, ex_colour background, const char *title,
                                      const char *description, ex_canvas **canvas, ex_error *error);
/* Releases a canvas and its drawing. NULL is fine. */
EX_API void ex_canvas_destroy(ex_canvas *canvas);

/* Returns EX_OK, or the first error. */
EX_API ex_result ex_canvas_result(const ex_canvas *canvas, ex_error *error);
/* Return the image, or the SVG text (release with free), ended by NUL; the caller owns it. Both end the canvas, even on
 * failure. */
EX_API ex_result ex_canvas_take_image(ex_canvas *canvas, ex_image **image, ex_error *error);
EX_API ex_result ex_canvas_take_text(ex_canvas *canvas, char **text, size_t *size, ex_error *error);
/* Writes the result to a file: a PNG, or SVG text if the canvas holds that. Ends the canvas. */
EX_API ex_result ex_canvas_write(ex_canvas *canvas, const char *path, ex_error *error);

/* Return the size in points. */
EX_API double ex_canvas_width(const ex_canvas *canvas);
EX_API double ex_canvas_height(const ex_canvas *canvas);
/* Returns the pixels per point; 0 for SVG. */
EX_API double ex_canvas_scale(const ex_canvas *canvas);

/* Restricts later drawing to the box; NULL: no limit. Does not nest. */
EX_API void ex_canvas_clip(ex_canvas *canvas, const ex_box *box);

/* ---- paths ---- */

/* Start an outline, and add a straight line. */
EX_API void ex_canvas_move(ex_canvas *canvas, double x, double y);
EX_API void ex_canvas_line(ex_canvas *canvas, double x, double y);
/* Adds a cubic curve: two inner control points and the end. */
EX_API void ex_canvas_curve(ex_canvas *canvas, double x1, double y1, double x2, double y2, double x, double y);
/* Closes the outline. */
EX_API void ex_canvas_close(ex_canvas *canvas);
/* Add whole outlines to the path, clockwise as seen. */
EX_API void ex_canvas_add_box(ex_canvas *canvas, ex_box box);
EX_API void ex_canvas_add_circle(ex_canvas *canvas, double x, double y, double radius);

/* Fill or stroke the path, and end it. Nonzero winding: a point is inside if outlines wind around it. Overlapping
 * outlines of one path must run the same way. */
EX_API void ex_canvas_fill(ex_canvas *canvas, ex_colour colour);
EX_API void ex_canvas_stroke(ex_canvas *canvas, const ex_pen *pen);

/* ---- shapes ---- */

/* Draw a line, a chain of lines, a filled box, the frame of a box. */
EX_API void ex_draw_line(ex_canvas *canvas, double x0, double y0, double x1, double y1, const ex_pen *pen);
EX_API void ex_draw_polyline(ex_canvas *canvas, const double (*points)[2], int count, bool closed, const ex_pen *pen);
EX_API void ex_draw_box(ex_canvas *canvas, ex_box box, ex_colour fill);
EX_API void ex_draw_frame(ex_canvas *canvas, ex_box box, const ex_pen *pen);
/* Draws a mark, filled with the pen's colour; RING and CROSS are lines of the pen's width. */
EX_API void ex_draw_mark(ex_canvas *canvas, ex_mark marker, double x, double y, double radius, const ex_pen *pen);
/* Draws a line with a filled head at its end; head: its size in points. */
EX_API void ex_draw_arrow(ex_canvas *canvas, double x0, double y0, double x1, double y1, double head,
                          const ex_pen *pen);
/* Draws parallel lines inside rings of points (even-odd): ring r is points [starts[r], starts[r + 1]). */
EX_API void ex_draw_hatch(ex_canvas *canvas, const double (*points)[2], const int *starts, int ring_count,
                          double degrees, double spacing, const ex_pen *pen);
/* Stretches the image into the box: blends pixels if enlarged, averages them if reduced. */
EX_API void ex_draw_image(ex_canvas *canvas, const ex_image *image, ex_box box);

/* ---- text ---- */

/* Draws a line of UTF-8 text. A character missing from the font is drawn as its base letter, or as an empty box. */
EX_API void ex_draw_text(ex_canvas *canvas, double x, double y, const ex_lettering *type, const char *text);
/* Returns the width of a line of text at size 1. */
EX_API double ex_text_width(const char *text);
/* Returns the box that ex_draw_text would cover. */
EX_API ex_box ex_text_box(double x, double y, const ex_lettering *type, const char *text);

/* Shortens text to fit a width at a size, with … after it if cut. Writes to the buffer and returns it. */
#define EX_LABEL_SIZE 272
EX_API const char *ex_label_fit(char buffer[EX_LABEL_SIZE], const char *text, double size, double width);

/*
 * Spreads labels in one column, each `height` high and wanted at centres[i]: moves the centres so that none overlap and
 * all lie between low and high. Keeps their order and minimises the sum of squared moves. Returns false if they do not
 * fit, or without memory; the centres are then unchanged.
 */
EX_API bool ex_labels_spread(double *centres, int count, double height, double low, double high);

/* ---- axes ---- */

/* Computes round tick values from low to high, at most `most` of them and at most EX_TICK_MAX; returns their number.
 * degrees: true for steps that divide a turn. */
#define EX_TICK_MAX 24
EX_API int ex_ticks(double low, double high, int most, bool degrees, double values[EX_TICK_MAX]);
/* Formats a number for people, with a true minus sign. Writes to the buffer and returns it. */
#define EX_TICK_SIZE 40
EX_API const char *ex_tick_text(char buffer[EX_TICK_SIZE], double value);

#ifdef __cplusplus
}
#endif
#endif
