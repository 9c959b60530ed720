/*
 * exemplar/author/canvas.h - one drawing surface with two back ends: pixels (PNG) and SVG.
 *
 * Units are points of the picture, x to the right and y down from the upper left corner; pixels have a scale, so that
 * the same drawing can be made once and twice as fine. Drawing cannot fail: what goes wrong (memory) is kept, drawing
 * after it does nothing, and whoever takes the result is told. The same calls give the same bytes. One thread at a
 * time.
 *
 * A path is built by ex_canvas_move, _line, _curve, _close and the shapes, and ends with the fill or the stroke that
 * uses it. Coverage is computed, not sampled: exact areas for fills, distances from the line for strokes; colours are
 * mixed in linear light.
 *
 * Text is drawn with our own strokes in SVG too, not as <text>: its width is then the same everywhere, and
 * labels that were placed beside each other stay so in any viewer; each is named by an aria-label for those who read.
 */
#ifndef EXEMPLAR_AUTHOR_CANVAS_H
#define EXEMPLAR_AUTHOR_CANVAS_H

#include <exemplar/author/colour.h>
#include <exemplar/author/image.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ex_canvas ex_canvas;

/* Left, top, right, bottom. */
typedef struct ex_box {
    double x0, y0, x1, y1;
} ex_box;

/* Lines have round ends and joins. */
typedef struct ex_pen {
    ex_colour colour;
    double width;     /* points */
    double dash, gap; /* points; 0: unbroken */
} ex_pen;

typedef enum ex_across { EX_ACROSS_LEFT, EX_ACROSS_MIDDLE, EX_ACROSS_RIGHT } ex_across;
typedef enum ex_along { EX_ALONG_BASELINE, EX_ALONG_CENTRE, EX_ALONG_TOP, EX_ALONG_BOTTOM } ex_along;

typedef struct ex_lettering {
    double size; /* points, as fonts count: capitals are 0.7 of it high */
    ex_colour colour;
    ex_across across;
    ex_along along; /* CENTRE: of capitals and figures */
    double degrees; /* turned clockwise about the anchor */
    bool bold;      /* as wide as not */
    ex_colour halo; /* drawn under the letters where its alpha is not 0 */
} ex_lettering;

typedef enum ex_mark {
    EX_MARK_DOT,
    EX_MARK_RING,
    EX_MARK_SQUARE,
    EX_MARK_DIAMOND,
    EX_MARK_TRIANGLE,
    EX_MARK_CROSS
} ex_mark;

/* ---- surfaces ---- */

/* The most points along one side, and the most pixels a point may have. */
#define EX_CANVAS_MAX       16384
#define EX_CANVAS_SCALE_MAX 16

/* Pixels: a new image of the background's colour; taken out by ex_canvas_take_image, which ends the canvas. */
EX_API ex_result ex_canvas_create_image(double width, double height, double scale, ex_colour background,
                                        ex_canvas **canvas, ex_error *error);
/* Pixels: drawn onto an image of the caller's, which stays the caller's. */
EX_API ex_result ex_canvas_create_over(ex_image *image, double scale, ex_canvas **canvas, ex_error *error);
/* SVG, with what the picture is called and what it shows, for readers; either may be NULL. */
EX_API ex_result ex_canvas_create_svg(double width, double height, ex_colour background, const char *title,
                                      const char *description, ex_canvas **canvas, ex_error *error);
EX_API void ex_canvas_destroy(ex_canvas *canvas);

/* EX_OK, or what went wrong first. */
EX_API ex_result ex_canvas_result(const ex_canvas *canvas, ex_error *error);
/* The image, the caller's; and the SVG text (release with free), ended by NUL. Both end the canvas, also where they
 * fail. */
EX_API ex_result ex_canvas_take_image(ex_canvas *canvas, ex_image **image, ex_error *error);
EX_API ex_result ex_canvas_take_text(ex_canvas *canvas, char **text, size_t *size, ex_error *error);
/* The same as a file: a PNG, or SVG text where that is what the canvas holds. Ends the canvas, too. */
EX_API ex_result ex_canvas_write(ex_canvas *canvas, const char *path, ex_error *error);

EX_API double ex_canvas_width(const ex_canvas *canvas);
EX_API double ex_canvas_height(const ex_canvas *canvas);
/* Pixels in a point; 0 for SVG. */
EX_API double ex_canvas_scale(const ex_canvas *canvas);

/* From now on only what is inside is drawn; NULL: everything. Does not nest. */
EX_API void ex_canvas_clip(ex_canvas *canvas, const ex_box *box);

/* ---- paths ---- */

EX_API void ex_canvas_move(ex_canvas *canvas, double x, double y);
EX_API void ex_canvas_line(ex_canvas *canvas, double x, double y);
/* Cubic, by its two inner control points and its end. */
EX_API void ex_canvas_curve(ex_canvas *canvas, double x1, double y1, double x2, double y2, double x, double y);
EX_API void ex_canvas_close(ex_canvas *canvas);
/* Whole outlines added to the path, clockwise as seen. */
EX_API void ex_canvas_add_box(ex_canvas *canvas, ex_box box);
EX_API void ex_canvas_add_circle(ex_canvas *canvas, double x, double y, double radius);

/* Inside is where outlines wind around a point; outlines of one path that overlap must run the same way. */
EX_API void ex_canvas_fill(ex_canvas *canvas, ex_colour colour);
EX_API void ex_canvas_stroke(ex_canvas *canvas, const ex_pen *pen);

/* ---- shapes ---- */

EX_API void ex_draw_line(ex_canvas *canvas, double x0, double y0, double x1, double y1, const ex_pen *pen);
EX_API void ex_draw_polyline(ex_canvas *canvas, const double (*points)[2], int count, bool closed, const ex_pen *pen);
EX_API void ex_draw_box(ex_canvas *canvas, ex_box box, ex_colour fill);
EX_API void ex_draw_frame(ex_canvas *canvas, ex_box box, const ex_pen *pen);
/* Filled with the pen's colour; RING and CROSS are lines of the pen's width. */
EX_API void ex_draw_mark(ex_canvas *canvas, ex_mark marker, double x, double y, double radius, const ex_pen *pen);
/* A line with a filled head of so many points at its end. */
EX_API void ex_draw_arrow(ex_canvas *canvas, double x0, double y0, double x1, double y1, double head,
                          const ex_pen *pen);
/* Parallel lines inside rings of points (even-odd): ring r is points [starts[r], starts[r + 1]). */
EX_API void ex_draw_hatch(ex_canvas *canvas, const double (*points)[2], const int *starts, int ring_count,
                          double degrees, double spacing, const ex_pen *pen);
/* Stretched into the box; between pixels it is blended where it is enlarged, and averaged where it is reduced. */
EX_API void ex_draw_image(ex_canvas *canvas, const ex_image *image, ex_box box);

/* ---- text ---- */

/* UTF-8. What the font has not is drawn as its base letter, or as an empty box. */
EX_API void ex_draw_text(ex_canvas *canvas, double x, double y, const ex_lettering *type, const char *text);
/* How wide a line of text is at a size of 1. */
EX_API double ex_text_width(const char *text);
/* What ex_draw_text would cover. */
EX_API ex_box ex_text_box(double x, double y, const ex_lettering *type, const char *text);

/* The text, or as much of it as fits into a width at a size with … after it: into a buffer that is returned. */
#define EX_LABEL_SIZE 272
EX_API const char *ex_label_fit(char buffer[EX_LABEL_SIZE], const char *text, double size, double width);

/*
 * Labels in one column, each `height` high and wanted at centres[i]: moves the centres so that none overlap and all lie
 * between low and high, keeping their order and the sum of squared moves as small as it can be. False where they do not
 * fit, or without memory; the centres are then as they were.
 */
EX_API bool ex_labels_spread(double *centres, int count, double height, double low, double high);

/* ---- axes ---- */

/* Round values from low to high, at most `most` of them and at most EX_TICK_MAX; returns how many. degrees: steps that
 * divide a turn. */
#define EX_TICK_MAX 24
EX_API int ex_ticks(double low, double high, int most, bool degrees, double values[EX_TICK_MAX]);
/* A number for people, with a true minus sign: into a buffer that is returned. */
#define EX_TICK_SIZE 40
EX_API const char *ex_tick_text(char buffer[EX_TICK_SIZE], double value);

#ifdef __cplusplus
}
#endif
#endif
