/*
 * Draws a sheet around its forms: the panel, the area beyond the range, names of examples, arrows of pseudo-examples,
 * axes and a legend. Forms are placed on whole pixels, so that they are copied as rendered; everything else is in
 * points, about 220 along the longer side of a form's cell.
 */
#include "author/picture/plot/plot.h"
#include "author/picture/sheet/slice.h"

#include "runtime/base/result.h"

#include <exemplar/author/picture.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MARGIN 22.0
#define TOP    62.0
#define BELOW  56.0 /* values, name */
#define LEGEND 28.0
#define NOTE   20.0 /* a line on weights */

#define RING 3.6 /* radius of the mark of such a form */

#define NAME_GAP   4.0  /* between a form and its name */
#define NAME_ROOM  14.0 /* for a name and the space below it */
#define NAME_LINE  12.0 /* from a line of it to the next */
#define NAME_SHIFT 12.0 /* to the side, if an arrow comes from below */

typedef struct drawing {
    const exi_slice *sheet;
    double scale;      /* pixels per point */
    int left, top;     /* of the panel, in pixels */
    int width, height; /* of the picture */
    ex_canvas *canvas;
    exi_labels labels;
} drawing;

static ex_colour example_ink(void) {
    return ex_colour_hex(0x2f4a62);
}

static ex_colour pseudo_ink(void) {
    return ex_colour_hex(0x4a6f9c);
}

/* ---- positions ---- */

static ex_box cell_pixels(const drawing *d, int column, int row) {
    const exi_slice *s = d->sheet;
    const double x = d->left + column * s->cell_width, y = d->top + (s->axes[1].count - 1 - row) * s->cell_height;
    return (ex_box){x, y, x + s->cell_width, y + s->cell_height};
}

static ex_box in_points(const drawing *d, ex_box box) {
    return (ex_box){box.x0 / d->scale, box.y0 / d->scale, box.x1 / d->scale, box.y1 / d->scale};
}

static ex_box cell_box(const drawing *d, int column, int row) {
    return in_points(d, cell_pixels(d, column, row));
}

static ex_box panel_pixels(const drawing *d) {
    const ex_box first = cell_pixels(d, 0, 0);
    const ex_box last = cell_pixels(d, d->sheet->axes[0].count - 1, d->sheet->axes[1].count - 1);
    return (ex_box){first.x0, last.y0, last.x1, first.y1};
}

/* Finds the first and the last value inside the range. */
static void find_range(const exi_slice *s, int axis, int range[2]) {
    const exi_slice_axis *a = &s->axes[axis];
    const double slack = 1e-6 * (a->axis.max - a->axis.min);
    range[0] = 0;
    range[1] = a->count - 1;
    while (axis < s->axis_count && range[0] < range[1] && a->values[range[0]] < a->axis.min - slack)
        range[0]++;
    while (axis < s->axis_count && range[1] > range[0] && a->values[range[1]] > a->axis.max + slack)
        range[1]--;
}

static ex_box range_pixels(const drawing *d) {
    int columns[2], rows[2];
    find_range(d->sheet, 0, columns);
    find_range(d->sheet, 1, rows);
    const ex_box low = cell_pixels(d, columns[0], rows[0]), high = cell_pixels(d, columns[1], rows[1]);
    return (ex_box){low.x0, high.y0, high.x1, low.y1};
}

static bool has_beyond(const drawing *d) {
    const ex_box panel = panel_pixels(d), range = range_pixels(d);
    return panel.x0 < range.x0 || panel.x1 > range.x1 || panel.y0 < range.y0 || panel.y1 > range.y1;
}

static bool has_title(const exi_slice *s) {
    return !s->def->title || s->def->title[0] != '\0';
}

static bool has_legend(const drawing *d) {
    return has_beyond(d) || d->sheet->example_count + d->sheet->pseudo_count > 0;
}

static bool has_note(const exi_slice *s) {
    return s->outside_count > 0 && !s->def->unmarked;
}

/* Returns the position of a value along an axis, in columns or rows; linear between them, and beyond the last. */
static double find_place(const exi_slice_axis *a, double value) {
    if (a->count == 1)
        return 0;
    int i = 0;
    while (i < a->count - 2 && value > a->values[i + 1])
        i++;
    return i + (value - a->values[i]) / (a->values[i + 1] - a->values[i]);
}

static void place_of(const drawing *d, const double values[2], double at[2]) {
    const exi_slice *s = d->sheet;
    at[0] = (d->left + (find_place(&s->axes[0], values[0]) + 0.5) * s->cell_width) / d->scale;
    at[1] = (d->top + (s->axes[1].count - 1 - find_place(&s->axes[1], values[1])) * s->cell_height) / d->scale +
            (s->head + s->picture_height / 2.0) / d->scale;
}

/* ---- below the forms ---- */

static ex_result draw_ground(const drawing *d, ex_image **image, ex_error *error) {
    ex_canvas *canvas = NULL;
    const ex_colour white = ex_colour_grey(255);
    ex_result result = ex_canvas_create_image(d->width, d->height, 1, white, &canvas, error);
    if (result != EX_OK)
        return result;
    if (has_beyond(d)) {
        ex_draw_box(canvas, panel_pixels(d), ex_colour_hex(0xf1f3f5));
        ex_draw_box(canvas, range_pixels(d), white);
    }
    for (int i = 0; i < exi_slice_cell_count(d->sheet); i++) {
        ex_box box = cell_pixels(d, i % d->sheet->axes[0].count, i / d->sheet->axes[0].count);
        box.y0 += d->sheet->head;
        box.y1 = box.y0 + d->sheet->picture_height;
        ex_draw_image(canvas, d->sheet->cells[i].picture, box);
    }
    return ex_canvas_take_image(canvas, image, error);
}

/* ---- above them ---- */

static void draw_frames(drawing *d) {
    const ex_box panel = in_points(d, panel_pixels(d));
    ex_draw_frame(d->canvas, panel, &(ex_pen){ex_colour_grey(196), 0.9, 0, 0});
    if (has_beyond(d))
        ex_draw_frame(d->canvas, in_points(d, range_pixels(d)), &(ex_pen){ex_colour_grey(140), 1.0, 4, 4});
}

/* Kinds of cells are shown by the form's colour, and pseudo-examples by a dashed line around the form; if it has a
 * texture, by a frame. */
static void draw_cell_frame(drawing *d, const exi_cell *cell, ex_box box) {
    const ex_box inner = {box.x0 + 4, box.y0 + 4, box.x1 - 4, box.y1 - 4};
    if (d->sheet->texture < 0 && !d->sheet->looks) {
        if (cell->kind == EXI_CELL_PSEUDO &&
            !exi_outline_draw(d->canvas, cell->picture, box.x0, box.y0 + d->sheet->head / d->scale, d->scale,
                              &(ex_pen){pseudo_ink(), 1.3, 5, 4}))
            d->labels.failed = true;
        return;
    }
    if (cell->kind == EXI_CELL_EXAMPLE)
        ex_draw_frame(d->canvas, inner, &(ex_pen){ex_colour_hex(0x6f9fd8), 1.6, 0, 0});
    else if (cell->kind == EXI_CELL_PSEUDO)
        ex_draw_frame(d->canvas, inner, &(ex_pen){pseudo_ink(), 1.3, 5, 4});
}

static bool is_named(const exi_cell *cell) {
    return cell->kind == EXI_CELL_EXAMPLE || cell->kind == EXI_CELL_PSEUDO;
}

/* Returns the line after the last with visible pixels; 0 if there are none. */
static int end_line(const ex_image *image) {
    size_t count = 4 * (size_t)image->width * (size_t)image->height;
    while (count > 0 && image->pixels[count - 1] == 0)
        count -= 4;
    return (int)((count + 4 * (size_t)image->width - 1) / (4 * (size_t)image->width));
}

/* Returns the position of a row's names: just below the lowest of the named forms. */
static double find_name_line(const drawing *d, int row) {
    const exi_slice *s = d->sheet;
    int end = 0;
    for (int column = 0; column < s->axes[0].count; column++) {
        const exi_cell *cell = &s->cells[row * s->axes[0].count + column];
        const int below = is_named(cell) ? end_line(cell->picture) : 0;
        end = below > end ? below : end;
    }
    return cell_box(d, 0, row).y0 + (s->head + end) / d->scale + NAME_GAP;
}

/* Draws a line of a name: at its place, beside an arrow, or at the bottom of the cell. */
static void name_line(drawing *d, const exi_cell *cell, ex_box box, double line, double bottom, const char *text) {
    char fitted[EX_LABEL_SIZE];
    const ex_lettering type = {.size = EXI_PLOT_TEXT_SIZE,
                               .colour = cell->kind == EXI_CELL_EXAMPLE ? example_ink() : pseudo_ink(),
                               .halo = ex_colour_faded(ex_colour_grey(255), 0.8)};
    const double x = (box.x0 + box.x1) / 2;
    const exi_label_place places[] = {{x, line, EX_ACROSS_MIDDLE, EX_ALONG_TOP},
                                      {x - NAME_SHIFT, line, EX_ACROSS_MIDDLE, EX_ALONG_TOP},
                                      {x + NAME_SHIFT, line, EX_ACROSS_MIDDLE, EX_ALONG_TOP},
                                      {x, bottom, EX_ACROSS_MIDDLE, EX_ALONG_BASELINE},
                                      {x, box.y0 + 7, EX_ACROSS_MIDDLE, EX_ALONG_TOP}};
    const int first = line + NAME_ROOM > box.y1 ? 3 : 0; /* a form as high as its cell */
    exi_labels_draw(&d->labels, d->canvas, places + first, 5 - first, &type,
                    ex_label_fit(fitted, text, type.size, box.x1 - box.x0 - EXI_NAME_MARGIN));
}

static void name_cell(drawing *d, const exi_cell *cell, ex_box box, double line) {
    char name[EXI_NAME_SIZE], values[EXI_NAME_SIZE], text[2 * EXI_NAME_SIZE + 2];
    exi_cell_name(d->sheet, cell, name, values);
    const bool second = d->sheet->two_lines && values[0];
    /* The whole name stays above its values. */
    const double last = box.y1 - 7, first = second ? last - NAME_LINE : last;
    if (second && line + NAME_LINE + NAME_ROOM > box.y1)
        line = box.y1 - NAME_LINE - NAME_ROOM;
    snprintf(text, sizeof text, "%s%s%s", name, values[0] && !second ? " " : "", second ? "" : values);
    name_line(d, cell, box, line, first, text);
    if (second)
        name_line(d, cell, box, line + NAME_LINE, last, values);
}

/* Draws an arrow from the point a pseudo-example borrows from to its form. */
static void draw_arrow(drawing *d, const exi_cell *cell) {
    double from[2], to[2];
    place_of(d, cell->from, from);
    place_of(d, cell->values, to);
    const double x = from[0] - to[0], y = from[1] - to[1], length = sqrt(x * x + y * y);
    if (length < 12)
        return;
    const double shorter = d->sheet->cell_width < d->sheet->cell_height ? d->sheet->cell_width : d->sheet->cell_height;
    double back = 0.4 * shorter / d->scale / length;
    back = back > 0.45 ? 0.45 : back;
    const ex_pen halo = {ex_colour_faded(ex_colour_grey(255), 0.75), 4.5, 0, 0}, pen = {pseudo_ink(), 1.5, 0, 0};
    ex_draw_arrow(d->canvas, from[0], from[1], to[0] + x * back, to[1] + y * back, 9, &halo);
    ex_draw_arrow(d->canvas, from[0], from[1], to[0] + x * back, to[1] + y * back, 9, &pen);
    ex_draw_mark(d->canvas, EX_MARK_DOT, from[0], from[1], 3.4, &pen);
    const int steps = (int)ceil(length / 6);
    for (int i = 0; i <= steps; i++) {
        const double t = (1 - back) * i / steps, px = from[0] - t * x, py = from[1] - t * y;
        exi_labels_take(&d->labels, (ex_box){px - 4, py - 4, px + 4, py + 4});
    }
}

/* "bent_80 -2.05" */
static const char *far_text(const exi_slice *s, const exi_far *far, char *text, size_t size) {
    snprintf(text, size, "%s %s%.2f", ex_rig_example_name(s->rig, far->layer, far->example),
             far->weight < 0 ? "\xE2\x88\x92" : "", fabs(far->weight));
    return text;
}

static void draw_ring(drawing *d, double x, double y) {
    ex_draw_mark(d->canvas, EX_MARK_DOT, x, y, RING + 1, &(ex_pen){ex_colour_grey(255), 0, 0, 0});
    ex_draw_mark(d->canvas, EX_MARK_RING, x, y, RING, &(ex_pen){exi_plot_quiet(), 1.1, 0, 0});
}

/* Marks a form with a weight outside the bounds: a ring in the corner, and the weight beside it if there is room. */
static void mark_cell(drawing *d, const exi_cell *cell, ex_box box) {
    char text[300], fitted[EX_LABEL_SIZE];
    const double x = box.x0 + 10, y = box.y0 + 10;
    const ex_lettering type = {
        .size = EXI_PLOT_SMALL_SIZE, .colour = exi_plot_quiet(), .halo = ex_colour_faded(ex_colour_grey(255), 0.8)};
    const exi_label_place place = {x + 8, y, EX_ACROSS_LEFT, EX_ALONG_CENTRE};
    draw_ring(d, x, y);
    exi_labels_take(&d->labels, (ex_box){x - RING, y - RING, x + RING, y + RING});
    exi_labels_draw(
        &d->labels, d->canvas, &place, 1, &type,
        ex_label_fit(fitted, far_text(d->sheet, &cell->far, text, sizeof text), type.size, box.x1 - x - 14));
}

static void draw_cells(drawing *d) {
    const exi_slice *s = d->sheet;
    const int columns = s->axes[0].count;
    for (int i = 0; i < exi_slice_cell_count(s); i++)
        if (is_named(&s->cells[i]))
            draw_cell_frame(d, &s->cells[i], cell_box(d, i % columns, i / columns));
    for (int i = 0; i < exi_slice_cell_count(s); i++)
        if (s->cells[i].kind == EXI_CELL_PSEUDO && s->cells[i].has_from)
            draw_arrow(d, &s->cells[i]);
    for (int i = 0; i < exi_slice_cell_count(s); i++)
        if (has_note(s) && exi_outside(s->cells[i].far.weight) > 0)
            mark_cell(d, &s->cells[i], cell_box(d, i % columns, i / columns));
    /* Names come last, so that they avoid the arrows. */
    for (int i = 0; i < exi_slice_cell_count(s); i++)
        if (is_named(&s->cells[i]))
            name_cell(d, &s->cells[i], cell_box(d, i % columns, i / columns), find_name_line(d, i / columns));
}

/* ---- around them ---- */

static void draw_ticks(drawing *d, int axis, ex_box panel, double *room) {
    const exi_slice *s = d->sheet;
    const exi_slice_axis *a = &s->axes[axis];
    int range[2];
    char text[128];
    find_range(s, axis, range);
    for (int i = 0; i < a->count; i++) {
        const ex_box box = axis == 0 ? cell_box(d, i, 0) : cell_box(d, 0, i);
        const double x = (box.x0 + box.x1) / 2, y = (box.y0 + box.y1) / 2;
        const ex_lettering type = {.size = EXI_PLOT_TEXT_SIZE,
                                   .colour = i < range[0] || i > range[1] ? exi_plot_faint() : exi_plot_quiet()};
        const exi_label_place below = {x, panel.y1 + 8, EX_ACROSS_MIDDLE, EX_ALONG_TOP};
        const exi_label_place beside = {panel.x0 - 8, y, EX_ACROSS_RIGHT, EX_ALONG_CENTRE};
        const ex_pen pen = {ex_colour_grey(150), 0.9, 0, 0};
        exi_value_text(text, a, a->values[i]);
        *room = ex_text_width(text) * type.size > *room ? ex_text_width(text) * type.size : *room;
        if (!exi_labels_draw(&d->labels, d->canvas, axis == 0 ? &below : &beside, 1, &type, text))
            continue;
        if (axis == 0)
            ex_draw_line(d->canvas, x, panel.y1, x, panel.y1 + 4, &pen);
        else
            ex_draw_line(d->canvas, panel.x0 - 4, y, panel.x0, y, &pen);
    }
}

static void draw_axes(drawing *d) {
    const exi_slice *s = d->sheet;
    const ex_box panel = in_points(d, panel_pixels(d));
    char fitted[EX_LABEL_SIZE];
    double room = 0, left = 0;
    ex_lettering type = {.size = EXI_PLOT_TEXT_SIZE + 2, .colour = exi_plot_ink()};
    draw_ticks(d, 0, panel, &room);
    const exi_label_place below = {(panel.x0 + panel.x1) / 2, panel.y1 + 26, EX_ACROSS_MIDDLE, EX_ALONG_TOP};
    exi_labels_draw(&d->labels, d->canvas, &below, 1, &type,
                    ex_label_fit(fitted, s->axes[0].name, type.size, panel.x1 - panel.x0));
    if (s->axis_count == 1)
        return;
    draw_ticks(d, 1, panel, &left);
    type.degrees = -90;
    const double x = panel.x0 - 8 - left - 9;
    const exi_label_place beside = {x > 14 ? x : 14, (panel.y0 + panel.y1) / 2, EX_ACROSS_MIDDLE, EX_ALONG_BASELINE};
    exi_labels_draw(&d->labels, d->canvas, &beside, 1, &type,
                    ex_label_fit(fitted, s->axes[1].name, type.size, panel.y1 - panel.y0));
}

/* Lists the values of axes outside the sheet: of all, or of those that are not at rest. */
static void describe(const drawing *d, bool all, char *text, size_t size) {
    const exi_slice *s = d->sheet;
    size_t length = 0;
    text[0] = '\0';
    for (int i = 0; i < ex_rig_input_count(s->rig); i++) {
        const ex_axis axis = ex_rig_input_axis(s->rig, i);
        exi_slice_axis other = {.unit = "", .axis = axis};
        char value[128];
        double at = axis.rest;
        if (axis.kind != EX_AXIS_SCALAR || i == s->axes[0].input || i == s->axes[1].input)
            continue;
        if (s->def->pose)
            ex_rig_get_input(s->rig, i, s->def->pose, &at);
        if (!all && at == axis.rest)
            continue;
        length += (size_t)snprintf(text + length, size - length, "%s%s %s", length > 0 ? " \xC2\xB7 " : "",
                                   ex_rig_input_name(s->rig, i), exi_value_text(value, &other, at));
        if (length >= size)
            return;
    }
    if (!all)
        snprintf(text + length, size - length, "%s",
                 length > 0 ? " \xC2\xB7 all others at rest" : "all other axes at rest");
}

static void draw_title(drawing *d) {
    const exi_slice *s = d->sheet;
    char text[1200], fitted[EX_LABEL_SIZE];
    const double left = in_points(d, panel_pixels(d)).x0, room = ex_canvas_width(d->canvas) - left - 12;
    ex_lettering type = {.size = EXI_PLOT_TITLE_SIZE, .colour = exi_plot_ink()};
    if (s->def->title)
        snprintf(text, sizeof text, "%s", s->def->title);
    else
        snprintf(text, sizeof text, "Forms %s %s%s%s", s->axis_count == 1 ? "along" : "over", s->axes[0].name,
                 s->axis_count == 2 ? " and " : "", s->axes[1].name);
    exi_label_place place = {left, 27, EX_ACROSS_LEFT, EX_ALONG_BASELINE};
    exi_labels_draw(&d->labels, d->canvas, &place, 1, &type, ex_label_fit(fitted, text, type.size, room));
    type.size = EXI_PLOT_TEXT_SIZE;
    describe(d, true, text, sizeof text);
    if (strcmp(ex_label_fit(fitted, text, type.size, room), text) != 0)
        describe(d, false, text, sizeof text);
    type.colour = exi_plot_quiet();
    place.y = 46;
    exi_labels_draw(&d->labels, d->canvas, &place, 1, &type, ex_label_fit(fitted, text, type.size, room));
}

static void draw_legend(drawing *d) {
    const exi_slice *s = d->sheet;
    const struct {
        bool shown;
        const char *text;
        ex_colour colour;
    } entries[] = {{s->example_count > 0, "example", ex_colour_hex(0x6f9fd8)},
                   {s->pseudo_count > 0, "pseudo-example, from where it was taken", ex_colour_hex(0xcfdeee)},
                   {s->texture < 0 && !s->looks, "between", ex_colour_hex(0xd9b8a0)},
                   {has_beyond(d), "beyond the range", ex_colour_hex(0xf1f3f5)}};
    const ex_box panel = in_points(d, panel_pixels(d));
    const ex_lettering type = {.size = EXI_PLOT_TEXT_SIZE, .colour = exi_plot_quiet(), .along = EX_ALONG_CENTRE};
    const double y = panel.y1 + 58;
    double x = panel.x0;
    if (!has_legend(d))
        return;
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        const double width = 17 + ex_text_width(entries[i].text) * type.size;
        const exi_label_place place = {x + 17, y, EX_ACROSS_LEFT, EX_ALONG_CENTRE};
        if (!entries[i].shown || !exi_labels_draw(&d->labels, d->canvas, &place, 1, &type, entries[i].text))
            continue;
        const ex_box box = {x, y - 5.5, x + 11, y + 5.5};
        ex_draw_box(d->canvas, box, entries[i].colour);
        if (i == 1)
            ex_draw_frame(d->canvas, box, &(ex_pen){pseudo_ink(), 1.0, 2.6, 1.8});
        if (i == 3)
            ex_draw_frame(d->canvas, box, &(ex_pen){ex_colour_grey(140), 0.9, 2, 2});
        x += width + 22;
    }
}

/* Says below the legend what the rings mean, and where the weight farthest outside is. */
static void draw_note(drawing *d) {
    const exi_slice *s = d->sheet;
    const ex_box panel = in_points(d, panel_pixels(d));
    const exi_cell *cell = &s->cells[s->farthest];
    const double x = panel.x0, y = panel.y1 + 58 + (has_legend(d) ? NOTE : 0);
    char text[800], far[300], values[2][128], fitted[EX_LABEL_SIZE];
    const ex_lettering type = {.size = EXI_PLOT_TEXT_SIZE, .colour = exi_plot_quiet(), .along = EX_ALONG_CENTRE};
    if (!has_note(s))
        return;
    snprintf(text, sizeof text, "a weight below \xE2\x88\x92%g or above %g; farthest: %s at %s %s%s%s%s%s",
             -EXI_OUTSIDE_LOW, EXI_OUTSIDE_HIGH, far_text(s, &cell->far, far, sizeof far), s->axes[0].name,
             exi_value_text(values[0], &s->axes[0], cell->values[0]), s->axis_count == 2 ? ", " : "",
             s->axis_count == 2 ? s->axes[1].name : "", s->axis_count == 2 ? " " : "",
             s->axis_count == 2 ? exi_value_text(values[1], &s->axes[1], cell->values[1]) : "");
    draw_ring(d, x + 5.5, y);
    const exi_label_place place = {x + 17, y, EX_ACROSS_LEFT, EX_ALONG_CENTRE};
    exi_labels_draw(&d->labels, d->canvas, &place, 1, &type,
                    ex_label_fit(fitted, text, type.size, ex_canvas_width(d->canvas) - x - 25));
}

/* ---- all of it ---- */

static double widest_value(const exi_slice_axis *a) {
    double widest = 0;
    char text[128];
    for (int i = 0; i < a->count; i++) {
        const double width = ex_text_width(exi_value_text(text, a, a->values[i])) * EXI_PLOT_TEXT_SIZE;
        widest = width > widest ? width : widest;
    }
    return widest;
}

static ex_result lay_out(drawing *d, ex_error *error) {
    const exi_slice *s = d->sheet;
    d->scale = s->scale;
    const double beside = s->axis_count == 2 ? widest_value(&s->axes[1]) + 34 : 0;
    d->left = (int)ceil((MARGIN + beside) * d->scale);
    d->top = (int)ceil((has_title(s) ? TOP : MARGIN) * d->scale);
    const double width = d->left + (double)s->axes[0].count * s->cell_width + ceil(MARGIN * d->scale);
    const double note = has_note(s) ? has_legend(d) ? NOTE : LEGEND : 0, legend = has_legend(d) ? LEGEND : 0;
    const double height = d->top + (double)s->axes[1].count * s->cell_height + ceil((BELOW + legend + note) * d->scale);
    if (width > EX_CANVAS_MAX || height > EX_CANVAS_MAX)
        return ex_error_set(
            error, EX_ERROR_LIMIT,
            "a sheet of %.0f by %.0f pixels is too large: at most %d per side; ask for smaller or fewer forms", width,
            height, EX_CANVAS_MAX);
    d->width = (int)width;
    d->height = (int)height;
    return EX_OK;
}

ex_result exi_slice_measure(const exi_slice *s, ex_error *error) {
    drawing d = {.sheet = s};
    return lay_out(&d, error);
}

ex_result exi_slice_draw(const exi_slice *s, ex_image **image, ex_error *error) {
    drawing d = {.sheet = s};
    *image = NULL;
    ex_result result = lay_out(&d, error);
    if (result == EX_OK)
        result = draw_ground(&d, image, error);
    if (result == EX_OK)
        result = ex_canvas_create_over(*image, d.scale, &d.canvas, error);
    if (result == EX_OK) {
        d.labels.bounds = (ex_box){0, 0, ex_canvas_width(d.canvas), ex_canvas_height(d.canvas)};
        draw_frames(&d);
        if (has_title(s))
            draw_title(&d);
        draw_axes(&d);
        draw_legend(&d);
        draw_note(&d);
        draw_cells(&d);
        result = ex_canvas_result(d.canvas, error);
        if (result == EX_OK && d.labels.failed)
            result = ex_error_memory(error, "the labels of a sheet", 0);
    }
    exi_labels_free(&d.labels);
    ex_canvas_destroy(d.canvas);
    if (result != EX_OK) {
        ex_image_destroy(*image);
        *image = NULL;
    }
    return result;
}
