/*
 * Shared by curves and maps: colours and sizes, round values along axes, titles.
 */
#include "author/picture/plot/plot.h"

#include <exemplar/author/base.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

ex_colour exi_plot_ink(void) {
    return ex_colour_grey(38);
}

ex_colour exi_plot_quiet(void) {
    return ex_colour_grey(104);
}

ex_colour exi_plot_faint(void) {
    return ex_colour_grey(148);
}

/* ---- numbers ---- */

const char *ex_tick_text(char buffer[EX_TICK_SIZE], double value) {
    static const char minus[] = "\xE2\x88\x92";
    /* Sums of steps have rounding errors in their last digits. */
    const double size = fabs(value);
    const double grain = size > 0 ? pow(10, floor(log10(size)) - 5) : 1;
    if (grain >= 1e-300)
        value = grain < 1 ? round(value / grain) / round(1 / grain) : round(value / grain) * grain;
    const int sign = value < 0 ? (int)sizeof minus - 1 : 0;
    memcpy(buffer, minus, (size_t)sign);
    ex_format_double(buffer + sign, fabs(value));
    return buffer;
}

bool exi_plot_is_degrees(const exi_plot_axis *axis) {
    static const char *const words[] = {"\xC2\xB0", "deg", "degree", "degrees"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(axis->unit, words[i]) == 0)
            return true;
    /* Joints are read in degrees, and few projects name the unit. */
    const double range = axis->axis.max - axis->axis.min;
    return axis->unit[0] == '\0' && range >= 30 && range <= 720 && fmod(range, 5) == 0;
}

int ex_ticks(double low, double high, int most, bool degrees, double values[EX_TICK_MAX]) {
    static const double turns[] = {1, 2, 5, 10, 15, 30, 45, 60, 90, 180, 360};
    static const double tens[] = {1, 2, 2.5, 5, 10};
    const int turn_count = (int)(sizeof turns / sizeof turns[0]), ten_count = (int)(sizeof tens / sizeof tens[0]);
    most = most < 2 ? 2 : most > EX_TICK_MAX ? EX_TICK_MAX : most;
    const double wanted = (high - low) / most;
    if (!(wanted > 0 && isfinite(wanted)))
        return 0;
    double step = 0;
    for (int i = 0; degrees && step == 0 && i < turn_count; i++)
        if (turns[i] >= wanted)
            step = turns[i];
    const double power = pow(10, floor(log10(wanted)));
    for (int i = 0; step == 0 && i < ten_count; i++)
        if (tens[i] * power >= wanted * (1 - 1e-9))
            step = tens[i] * power;
    int count = 0;
    for (double i = ceil(low / step - 1e-9); i * step <= high + 1e-9 * step && count < EX_TICK_MAX; i++)
        values[count++] = i * step;
    return count;
}

double exi_plot_place(const exi_plot_axis *axis, double value, double from, double to) {
    return from + (to - from) * (value - axis->low) / (axis->high - axis->low);
}

/* ---- titles ---- */

static void append(char *text, size_t size, const char *more) {
    const size_t length = strlen(text);
    snprintf(text + length, size - length, "%s", more);
}

static bool is_plotted(const exi_plot *p, int number) {
    return p->axes[0].number == number || (p->axis_count == 2 && p->axes[1].number == number);
}

/* "layer arm · wrist 0 · gender 0 · 8 of 20 examples …" */
static void describe(const exi_plot *p, char *text, size_t size) {
    const ex_weigher *weigher = ex_rig_weigher(p->rig, p->layer);
    char number[EX_TICK_SIZE];
    const double *at = p->slice;
    text[0] = '\0';
    append(text, size, "layer ");
    append(text, size, ex_rig_layer_name(p->rig, p->layer));
    if (p->drawn_count < p->example_count) {
        const bool full = p->drawn_count == p->most;
        char words[80];
        snprintf(words, sizeof words, " \xC2\xB7 %d of %d examples, %s", p->drawn_count, p->example_count,
                 full ? "those with the largest weights" : "the others have no weight here");
        append(text, size, words);
    }
    for (int a = 0; a < ex_weigher_axis_count(weigher); a++) {
        const int input = ex_rig_layer_input(p->rig, p->layer, a);
        const ex_axis axis = ex_rig_input_axis(p->rig, input);
        if (axis.kind == EX_AXIS_SCALAR && !is_plotted(p, a)) {
            append(text, size, " \xC2\xB7 ");
            append(text, size, ex_rig_input_name(p->rig, input));
            append(text, size, " ");
            append(text, size, ex_tick_text(number, *at));
        }
        at += ex_axis_width(&axis);
    }
}

void exi_plot_title(const exi_plot *p, ex_canvas *canvas, exi_labels *labels, double left) {
    char text[1200], fitted[EX_LABEL_SIZE];
    const double room = ex_canvas_width(canvas) - left - 12;
    ex_lettering type = {.size = EXI_PLOT_TITLE_SIZE, .colour = exi_plot_ink()};
    snprintf(text, sizeof text, p->axis_count == 1 ? "Weights along %s" : "Weights over %s and %s", p->axes[0].name,
             p->axis_count == 2 ? p->axes[1].name : "");
    exi_label_place place = {left, 27, EX_ACROSS_LEFT, EX_ALONG_BASELINE};
    exi_labels_draw(labels, canvas, &place, 1, &type, ex_label_fit(fitted, text, type.size, room));
    describe(p, text, sizeof text);
    type.size = EXI_PLOT_TEXT_SIZE;
    type.colour = exi_plot_quiet();
    place.y = 45;
    exi_labels_draw(labels, canvas, &place, 1, &type, ex_label_fit(fitted, text, type.size, room));
}

/* ---- axes ---- */

/* "elbow (deg)" */
static const char *axis_title(const exi_plot_axis *axis, double room, char fitted[EX_LABEL_SIZE]) {
    char text[600];
    snprintf(text, sizeof text, axis->unit[0] ? "%s (%s)" : "%s%s", axis->name, axis->unit);
    return ex_label_fit(fitted, text, EXI_PLOT_TEXT_SIZE + 1, room);
}

static ex_colour value_colour(const exi_plot_axis *axis, double value) {
    const double slack = 1e-9 * (axis->high - axis->low);
    return value < axis->axis.min - slack || value > axis->axis.max + slack ? exi_plot_faint() : exi_plot_quiet();
}

static int find_ticks(const exi_plot_axis *axis, double room, double each, double values[EX_TICK_MAX]) {
    return ex_ticks(axis->low, axis->high, (int)(room / each), exi_plot_is_degrees(axis), values);
}

void exi_plot_axis_below(const exi_plot_axis *axis, ex_canvas *canvas, exi_labels *labels, ex_box box, bool name) {
    double values[EX_TICK_MAX];
    char text[EX_TICK_SIZE], fitted[EX_LABEL_SIZE];
    const int count = find_ticks(axis, box.x1 - box.x0, 42, values);
    for (int i = 0; i < count; i++) {
        const double x = exi_plot_place(axis, values[i], box.x0, box.x1);
        const ex_lettering type = {.size = EXI_PLOT_SMALL_SIZE, .colour = value_colour(axis, values[i])};
        const exi_label_place place = {x, box.y1 + 7, EX_ACROSS_MIDDLE, EX_ALONG_TOP};
        if (exi_labels_draw(labels, canvas, &place, 1, &type, ex_tick_text(text, values[i])))
            ex_draw_line(canvas, x, box.y1, x, box.y1 + 3.5, &(ex_pen){ex_colour_grey(150), 0.8, 0, 0});
    }
    const ex_lettering type = {.size = EXI_PLOT_TEXT_SIZE + 1, .colour = exi_plot_ink()};
    const exi_label_place place = {(box.x0 + box.x1) / 2, box.y1 + 25, EX_ACROSS_MIDDLE, EX_ALONG_TOP};
    if (name)
        exi_labels_draw(labels, canvas, &place, 1, &type, axis_title(axis, box.x1 - box.x0, fitted));
}

void exi_plot_axis_left(const exi_plot_axis *axis, ex_canvas *canvas, exi_labels *labels, ex_box box, bool name) {
    double values[EX_TICK_MAX], widest = 0;
    char text[EX_TICK_SIZE], fitted[EX_LABEL_SIZE];
    const int count = find_ticks(axis, box.y1 - box.y0, 30, values);
    for (int i = 0; i < count; i++) {
        const double y = exi_plot_place(axis, values[i], box.y1, box.y0);
        const ex_lettering type = {.size = EXI_PLOT_SMALL_SIZE, .colour = value_colour(axis, values[i])};
        const exi_label_place place = {box.x0 - 7, y, EX_ACROSS_RIGHT, EX_ALONG_CENTRE};
        const double width = ex_text_width(ex_tick_text(text, values[i])) * type.size;
        widest = width > widest ? width : widest;
        if (exi_labels_draw(labels, canvas, &place, 1, &type, text))
            ex_draw_line(canvas, box.x0 - 3.5, y, box.x0, y, &(ex_pen){ex_colour_grey(150), 0.8, 0, 0});
    }
    const ex_lettering type = {.size = EXI_PLOT_TEXT_SIZE + 1, .colour = exi_plot_ink(), .degrees = -90};
    const double x = box.x0 - 7 - widest - 9;
    const exi_label_place place = {x > 16 ? x : 16, (box.y0 + box.y1) / 2, EX_ACROSS_MIDDLE, EX_ALONG_BASELINE};
    if (name)
        exi_labels_draw(labels, canvas, &place, 1, &type, axis_title(axis, box.y1 - box.y0, fitted));
}
