/*
 * Text: glyphs set one after the other and drawn with a pen. On pixels, horizontal text is fitted to the rows: the
 * baseline and the heights of small letters and capitals fall onto whole rows; otherwise bars that should be one row
 * thick would be two grey ones. Widths are unchanged, so that measuring holds for every back end.
 */
#include "author/picture/canvas/canvas_surface.h"

#include "author/base/array.h"
#include "author/picture/canvas/font.h"

#include <exemplar/author/base.h>

#include <math.h>
#include <string.h>

/* Mapping from coordinates of the font to those of the canvas. */
typedef struct setting {
    double x, y; /* start of the baseline */
    double unit; /* points per unit of the font */
    double cosine, sine;
    double small, capital; /* heights of small letters and capitals in points */
    double descent;
} setting;

double ex_text_width(const char *text) {
    double width = 0;
    for (const exi_glyph *g = exi_font_next(&text); g; g = exi_font_next(&text))
        width += g->left + g->width + g->right;
    return width / EXI_FONT_EM;
}

/* Interpolates heights linearly between the fitted ones. */
static double fitted(const setting *s, double y) {
    if (y <= 0)
        return y * s->descent / EXI_FONT_DESCENT;
    if (y <= EXI_FONT_SMALL)
        return y * s->small / EXI_FONT_SMALL;
    return s->small + (y - EXI_FONT_SMALL) * (s->capital - s->small) / (EXI_FONT_CAPITAL - EXI_FONT_SMALL);
}

static void place(const setting *s, const double p[2], double out[2]) {
    const double u = p[0] * s->unit, v = fitted(s, p[1]);
    out[0] = s->x + u * s->cosine + v * s->sine;
    out[1] = s->y + u * s->sine - v * s->cosine;
}

static void curve(ex_canvas *canvas, const setting *s, const double a[2], const double b[2], const double to[2]) {
    double p[2], q[2], r[2];
    place(s, a, p);
    place(s, b, q);
    place(s, to, r);
    ex_canvas_curve(canvas, p[0], p[1], q[0], q[1], r[0], r[1]);
}

/* Reads one command of a glyph's path: a letter and its two or four numbers. */
static const char *read_word(const char *path, char *letter, double numbers[4]) {
    while (*path == ' ')
        path++;
    *letter = *path ? *path++ : '\0';
    const int count = *letter == 'Q' ? 4 : 2;
    for (int i = 0; *letter && i < count; i++) {
        while (*path == ' ')
            path++;
        if (!ex_parse_double(&path, path + strlen(path), &numbers[i]))
            *letter = '\0';
    }
    return path;
}

static void add_dot(ex_canvas *canvas, const setting *s, const double at[2]) {
    const double r = 0.3;
    for (int i = 0; i < 5; i++) {
        const double corner[2] = {at[0] + (i == 1 || i == 2 ? r : -r), at[1] + (i == 2 || i == 3 ? r : -r)};
        double out[2];
        place(s, corner, out);
        (i == 0 ? ex_canvas_move : ex_canvas_line)(canvas, out[0], out[1]);
    }
}

static void add_glyph(ex_canvas *canvas, const setting *s, const exi_glyph *glyph, double left) {
    const double k = 0.58; /* a little fuller than an ellipse's 0.5523 */
    double at[2] = {0, 0}, n[4] = {0, 0, 0, 0}, out[2];
    char letter;
    for (const char *path = read_word(glyph->path, &letter, n); letter; path = read_word(path, &letter, n)) {
        const int last = letter == 'Q' ? 2 : 0;
        const double to[2] = {n[last] + left, n[last + 1]}, dx = to[0] - at[0], dy = to[1] - at[1];
        if (letter == 'M' || letter == 'L') {
            place(s, to, out);
            (letter == 'M' ? ex_canvas_move : ex_canvas_line)(canvas, out[0], out[1]);
        } else if (letter == 'D') {
            add_dot(canvas, s, to);
        } else if (letter == 'V') {
            curve(canvas, s, (double[]){at[0], at[1] + k * dy}, (double[]){to[0] - k * dx, to[1]}, to);
        } else if (letter == 'H') {
            curve(canvas, s, (double[]){at[0] + k * dx, at[1]}, (double[]){to[0], to[1] - k * dy}, to);
        } else {
            const double cx = n[0] + left, cy = n[1];
            curve(canvas, s, (double[]){at[0] + (cx - at[0]) * 2 / 3, at[1] + (cy - at[1]) * 2 / 3},
                  (double[]){to[0] + (cx - to[0]) * 2 / 3, to[1] + (cy - to[1]) * 2 / 3}, to);
        }
        at[0] = to[0];
        at[1] = to[1];
    }
}

static void add_text(ex_canvas *canvas, const setting *s, const char *text) {
    double left = 0;
    for (const exi_glyph *g = exi_font_next(&text); g; g = exi_font_next(&text)) {
        add_glyph(canvas, s, g, left + g->left);
        left += g->left + g->width + g->right;
    }
}

/* Computes the start of the text relative to its anchor, before it is turned. */
static void find_offset(const ex_lettering *type, const char *text, double offset[2]) {
    const double width = ex_text_width(text) * type->size;
    const double capital = EXI_FONT_CAPITAL / EXI_FONT_EM * type->size;
    offset[0] = type->across == EX_ACROSS_LEFT ? 0 : type->across == EX_ACROSS_MIDDLE ? -width / 2 : -width;
    offset[1] = type->along == EX_ALONG_BASELINE ? 0
                : type->along == EX_ALONG_CENTRE ? capital / 2
                : type->along == EX_ALONG_TOP    ? capital
                                                 : -EXI_FONT_DESCENT / EXI_FONT_EM * type->size;
}

static setting settle(const ex_canvas *canvas, double x, double y, const ex_lettering *type, const char *text) {
    const double angle = type->degrees * 3.14159265358979323846 / 180;
    double offset[2];
    find_offset(type, text, offset);
    setting s = {.unit = type->size / EXI_FONT_EM, .cosine = cos(angle), .sine = sin(angle)};
    s.x = x + offset[0] * s.cosine - offset[1] * s.sine;
    s.y = y + offset[0] * s.sine + offset[1] * s.cosine;
    s.small = EXI_FONT_SMALL * s.unit;
    s.capital = EXI_FONT_CAPITAL * s.unit;
    s.descent = EXI_FONT_DESCENT * s.unit;
    const double scale = canvas->scale;
    if (scale > 0 && type->degrees == 0 && s.capital * scale < 40) {
        s.y = (floor(s.y * scale) + 0.5) / scale;
        s.small = floor(s.small * scale + 0.5) / scale;
        s.capital = floor(s.capital * scale + 0.5) / scale;
        s.descent = floor(s.descent * scale + 0.5) / scale;
    }
    return s;
}

ex_box ex_text_box(double x, double y, const ex_lettering *type, const char *text) {
    const double angle = type->degrees * 3.14159265358979323846 / 180, c = cos(angle), s = sin(angle);
    double offset[2];
    find_offset(type, text, offset);
    const double width = ex_text_width(text) * type->size;
    const double above = 15.9 / EXI_FONT_EM * type->size, below = 4.9 / EXI_FONT_EM * type->size;
    ex_box box = {INFINITY, INFINITY, -INFINITY, -INFINITY};
    for (int corner = 0; corner < 4; corner++) {
        const double u = offset[0] + (corner & 1 ? width : 0), v = offset[1] + (corner & 2 ? below : -above);
        const double px = x + u * c - v * s, py = y + u * s + v * c;
        box.x0 = px < box.x0 ? px : box.x0;
        box.y0 = py < box.y0 ? py : box.y0;
        box.x1 = px > box.x1 ? px : box.x1;
        box.y1 = py > box.y1 ? py : box.y1;
    }
    return box;
}

static void note(ex_canvas *canvas, ex_box box, const char *text) {
    exi_canvas_text_record *grown =
        exi_array_grow(canvas->texts, &canvas->text_capacity, canvas->text_count + 1, sizeof *canvas->texts);
    char *copy = grown ? exi_text_copy(text, strlen(text)) : NULL;
    if (grown)
        canvas->texts = grown;
    if (!copy) {
        canvas->result = EX_ERROR_MEMORY;
        return;
    }
    canvas->texts[canvas->text_count++] = (exi_canvas_text_record){box, copy};
}

void ex_draw_text(ex_canvas *canvas, double x, double y, const ex_lettering *type, const char *text) {
    if (!*text || !(type->size > 0))
        return;
    const setting s = settle(canvas, x, y, type, text);
    /* A pen thinner than a pixel would only be paler. */
    double width = (type->bold ? EXI_FONT_STROKE_BOLD : EXI_FONT_STROKE) * s.unit;
    if (canvas->scale > 0 && width * canvas->scale < 1.1)
        width = 1.1 / canvas->scale;
    if (type->halo.alpha > 0) {
        add_text(canvas, &s, text);
        ex_canvas_stroke(canvas, &(ex_pen){.colour = type->halo, .width = width + 0.26 * type->size});
    }
    add_text(canvas, &s, text);
    canvas->label = text;
    ex_canvas_stroke(canvas, &(ex_pen){.colour = type->colour, .width = width});
    canvas->label = NULL;
    note(canvas, ex_text_box(x, y, type, text), text);
}
