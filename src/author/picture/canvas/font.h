/*
 * font.h - our stroke font: letters as pen paths. Private to this folder.
 */
#ifndef EXEMPLAR_AUTHOR_PICTURE_CANVAS_FONT_H
#define EXEMPLAR_AUTHOR_PICTURE_CANVAS_FONT_H

/* Metrics of the font; y points up from the baseline. */
#define EXI_FONT_EM          20.0
#define EXI_FONT_CAPITAL     14.0
#define EXI_FONT_SMALL       10.0
#define EXI_FONT_DESCENT     4.0
#define EXI_FONT_STROKE      1.85
#define EXI_FONT_STROKE_BOLD 2.7

/*
 * A glyph: its strokes from x = 0 to width, and the space on either side. The path is a list of commands, each a letter
 * and numbers: M x y begins a stroke; L x y is a line; V and H x y are quarters of a rounded ellipse that begin
 * vertically or horizontally; Q cx cy x y is a quadratic curve; D x y is a dot, a little wider than the pen.
 */
typedef struct exi_glyph {
    double left, width, right;
    const char *path;
} exi_glyph;

/* Returns the glyph of the character at *text and advances *text past it; NULL at the end. */
const exi_glyph *exi_font_next(const char **text);

#endif
