/*
 * SVG 1.1: every path as drawn, numbers to a hundredth of a point. Images are embedded as PNG in base64 (RFC 4648), so
 * that a picture is one file.
 */
#include "author/picture/canvas/canvas_surface.h"

#include "author/base/array.h"
#include "runtime/base/result.h"

#include <exemplar/author/base.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- text that grows ---- */

static void put_bytes(ex_canvas *c, const char *bytes, size_t size) {
    char *grown = exi_array_grow(c->out, &c->out_capacity, c->out_size + size + 1, 1);
    if (!grown) {
        c->result = EX_ERROR_MEMORY;
        return;
    }
    c->out = grown;
    memcpy(c->out + c->out_size, bytes, size);
    c->out_size += size;
    c->out[c->out_size] = '\0';
}

static void put(ex_canvas *c, const char *text) {
    put_bytes(c, text, strlen(text));
}

static void put_number(ex_canvas *c, double value) {
    char buffer[32];
    value = floor(value * 100 + 0.5) / 100 + 0.0;
    put_bytes(c, buffer, (size_t)ex_format_double(buffer, value));
}

/* True for characters that turn or hide text, or end a line, and for controls beyond ASCII. */
static bool is_hidden(const unsigned char *t, int extra) {
    if (extra == 0)
        return false;
    if (extra == 1) {
        const int code = (t[0] & 31) << 6 | (t[1] & 63);
        return code < 0xA0 || code == 0xAD || code == 0x61C;
    }
    const int code = (t[0] & 15) << 12 | (t[1] & 63) << 6 | (t[2] & 63);
    if (extra == 2)
        return (code >= 0x200B && code <= 0x200F) || (code >= 0x2028 && code <= 0x202E) ||
               (code >= 0x2060 && code <= 0x206F) || code == 0xFEFF;
    return t[0] == 0xF3 && t[1] == 0xA0; /* tags, U+E0000 on */
}

/* Bytes that are not UTF-8, and control characters, are not allowed in XML, and hidden characters deceive: writes a
 * question mark instead. */
static void put_escaped(ex_canvas *c, const char *text) {
    for (const unsigned char *t = (const unsigned char *)text; *t;) {
        const int extra = *t < 0x80 ? 0 : *t >= 0xC2 && *t < 0xE0 ? 1 : *t >= 0xE0 && *t < 0xF0 ? 2 : 3;
        bool whole = *t < 0x80 ? *t >= 0x20 && *t != 0x7F : *t >= 0xC2 && *t < 0xF5;
        for (int i = 1; whole && i <= extra; i++)
            whole = (t[i] & 0xC0) == 0x80;
        if (!whole || is_hidden(t, extra)) {
            put(c, "?");
            t += whole ? extra + 1 : 1;
            continue;
        }
        if (*t == '&')
            put(c, "&amp;");
        else if (*t == '<')
            put(c, "&lt;");
        else if (*t == '>')
            put(c, "&gt;");
        else if (*t == '"')
            put(c, "&quot;");
        else
            put_bytes(c, (const char *)t, (size_t)extra + 1);
        t += extra + 1;
    }
}

static void put_attribute(ex_canvas *c, const char *name, double value) {
    put(c, " ");
    put(c, name);
    put(c, "=\"");
    put_number(c, value);
    put(c, "\"");
}

static void put_colour(ex_canvas *c, const char *name, ex_colour colour) {
    static const char digits[] = "0123456789abcdef";
    const unsigned char codes[3] = {colour.red, colour.green, colour.blue};
    char hex[8] = "#";
    for (int i = 0; i < 3; i++) {
        hex[1 + 2 * i] = digits[codes[i] >> 4];
        hex[2 + 2 * i] = digits[codes[i] & 15];
    }
    put(c, " ");
    put(c, name);
    put(c, "=\"");
    put(c, hex);
    put(c, "\"");
    if (colour.alpha < 1) {
        put(c, " ");
        put(c, name);
        put(c, "-opacity=\"");
        put_number(c, colour.alpha);
        put(c, "\"");
    }
}

/* ---- paths ---- */

static void put_path(ex_canvas *c) {
    static const char letters[] = "MLCZ";
    put(c, "<path d=\"");
    for (size_t i = 0; i < c->node_count; i++) {
        const exi_node *n = &c->nodes[i];
        const bool repeated = i > 0 && n->kind == EXI_NODE_CURVE && c->nodes[i - 1].kind == EXI_NODE_CURVE;
        put_bytes(c, repeated ? " " : &letters[n->kind], 1);
        if (n->kind == EXI_NODE_CLOSE)
            continue;
        put_number(c, n->x);
        put(c, " ");
        put_number(c, n->y);
    }
    put(c, "\"");
}

static void end_path(ex_canvas *c) {
    if (c->clipped) {
        char buffer[32];
        put(c, " clip-path=\"url(#c");
        put_bytes(c, buffer, (size_t)ex_format_double(buffer, c->clip_count));
        put(c, ")\"");
    }
    if (c->label) {
        put(c, " role=\"img\" aria-label=\"");
        put_escaped(c, c->label);
        put(c, "\"");
    }
    put(c, "/>\n");
}

static void fill(ex_canvas *c, ex_colour colour) {
    put_path(c);
    put_colour(c, "fill", colour);
    end_path(c);
}

static void stroke(ex_canvas *c, const ex_pen *pen) {
    put_path(c);
    put(c, " fill=\"none\"");
    put_colour(c, "stroke", pen->colour);
    put_attribute(c, "stroke-width", pen->width);
    if (pen->dash > 0 && pen->gap > 0) {
        put(c, " stroke-dasharray=\"");
        put_number(c, pen->dash);
        put(c, " ");
        put_number(c, pen->gap);
        put(c, "\"");
    }
    end_path(c);
}

static void put_box(ex_canvas *c, ex_box box) {
    put_attribute(c, "x", box.x0);
    put_attribute(c, "y", box.y0);
    put_attribute(c, "width", box.x1 > box.x0 ? box.x1 - box.x0 : 0);
    put_attribute(c, "height", box.y1 > box.y0 ? box.y1 - box.y0 : 0);
}

static void clip(ex_canvas *c) {
    if (!c->clipped || c->result != EX_OK)
        return;
    char buffer[32];
    c->clip_count++;
    put(c, "<clipPath id=\"c");
    put_bytes(c, buffer, (size_t)ex_format_double(buffer, c->clip_count));
    put(c, "\"><rect");
    put_box(c, c->clip);
    put(c, "/></clipPath>\n");
}

/* ---- images ---- */

static void put_base64(ex_canvas *c, const unsigned char *bytes, size_t size) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size && c->result == EX_OK; i += 3) {
        const unsigned long word = (unsigned long)bytes[i] << 16 |
                                   (i + 1 < size ? (unsigned long)bytes[i + 1] << 8 : 0) |
                                   (i + 2 < size ? bytes[i + 2] : 0);
        const char four[4] = {digits[word >> 18], digits[word >> 12 & 63], i + 1 < size ? digits[word >> 6 & 63] : '=',
                              i + 2 < size ? digits[word & 63] : '='};
        put_bytes(c, four, 4);
    }
}

static void draw_image(ex_canvas *c, const ex_image *image, ex_box box) {
    unsigned char *bytes;
    size_t size;
    if (ex_image_encode(image, &bytes, &size, NULL) != EX_OK) {
        c->result = EX_ERROR_MEMORY;
        return;
    }
    put(c, "<image preserveAspectRatio=\"none\"");
    put_box(c, box);
    put(c, " xlink:href=\"data:image/png;base64,");
    put_base64(c, bytes, size);
    put(c, "\"");
    end_path(c);
    free(bytes);
}

const exi_back_end exi_back_end_svg = {.fill = fill, .stroke = stroke, .image = draw_image, .clip = clip};

/* ---- surfaces ---- */

static void put_element(ex_canvas *c, const char *name, const char *text) {
    if (!text)
        return;
    put(c, "<");
    put(c, name);
    put(c, ">");
    put_escaped(c, text);
    put(c, "</");
    put(c, name);
    put(c, ">\n");
}

ex_result ex_canvas_create_svg(double width, double height, ex_colour background, const char *title,
                               const char *description, ex_canvas **canvas, ex_error *error) {
    *canvas = NULL;
    ex_result result = exi_canvas_check(width, height, 1, error);
    if (result != EX_OK)
        return result;
    ex_canvas *c = exi_canvas_blank(width, height);
    if (!c)
        return ex_error_memory(error, "a canvas", sizeof *c);
    c->back = &exi_back_end_svg;
    put(c, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
           "xmlns:xlink=\"http://www.w3.org/1999/xlink\"");
    put_attribute(c, "width", width);
    put_attribute(c, "height", height);
    put(c, " viewBox=\"0 0 ");
    put_number(c, width);
    put(c, " ");
    put_number(c, height);
    put(c, "\" stroke-linecap=\"round\" stroke-linejoin=\"round\">\n");
    put_element(c, "title", title);
    put_element(c, "desc", description);
    ex_draw_box(c, (ex_box){0, 0, width, height}, background);
    result = ex_canvas_result(c, error);
    if (result != EX_OK)
        ex_canvas_destroy(c);
    else
        *canvas = c;
    return result;
}

ex_result ex_canvas_take_text(ex_canvas *canvas, char **text, size_t *size, ex_error *error) {
    *text = NULL;
    *size = 0;
    if (canvas->back != &exi_back_end_svg) {
        ex_canvas_destroy(canvas);
        return exi_misuse_error(error, __func__, "this canvas has pixels");
    }
    put(canvas, "</svg>\n");
    const ex_result result = ex_canvas_result(canvas, error);
    if (result == EX_OK) {
        *text = canvas->out;
        *size = canvas->out_size;
        canvas->out = NULL;
    }
    ex_canvas_destroy(canvas);
    return result;
}
