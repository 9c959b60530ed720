/*
 * Comparisons of weighers on one layer: the same points, axes and pseudo-examples solved by other kinds, one panel for
 * each, on one scale. A kind can weigh a layer if its examples are at points, no driver's form weighs it, and, if
 * vertices have their own sets of examples, it solves such sets.
 */
#include "author/picture/plot/plot.h"

#include "author/base/array.h"
#include "runtime/base/result.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Curves beyond these weights are cut, so that one kind that rings does not flatten all others. */
static const double lowest_drawn = -3, highest_drawn = 4;

/* ---- kinds ---- */

static bool can_weigh(const ex_weigher *own, ex_weigher_kind kind) {
    const ex_weigher_info *info = ex_weigher_kind_info(kind);
    return info->has_points && !info->is_driven && (ex_weigher_set_weight_count(own) == 0 || info->has_sets);
}

static void append(char *text, size_t size, const char *more) {
    const size_t length = strlen(text);
    snprintf(text + length, size - length, "%s", more);
}

void exi_plot_kinds_text(const ex_weigher_kind *kinds, int count, char *text, size_t size) {
    text[0] = '\0';
    for (int i = 0; i < count; i++) {
        append(text, size, i == 0 ? "" : i == count - 1 ? " and " : ", ");
        append(text, size, ex_weigher_kind_name(kinds[i]));
    }
}

static ex_result check_kinds(const ex_plot_def *def, const ex_weigher *own, ex_error *error) {
    const char *layer = ex_rig_layer_name(def->rig, def->layer);
    ex_weigher_kind able[EX_WEIGHER_COUNT];
    char text[200];
    int count = 0;
    if (!ex_weigher_get_info(own)->has_points)
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "the layer '%s' is direct: its axes are its weights, so there is nothing to compare",
                            layer);
    for (int kind = 0; kind < ex_weigher_kind_count(); kind++)
        if (can_weigh(own, (ex_weigher_kind)kind))
            able[count++] = (ex_weigher_kind)kind;
    exi_plot_kinds_text(able, count, text, sizeof text);
    for (int i = 0; i < def->kind_count; i++) {
        const char *name = ex_weigher_kind_name(def->kinds[i]);
        if (!can_weigh(own, def->kinds[i]))
            return ex_error_set(error, EX_ERROR_ARGUMENT, "%s cannot weigh the layer '%s': choose from %s", name, layer,
                                text);
        for (int k = 0; k < i; k++)
            if (def->kinds[k] == def->kinds[i])
                return ex_error_set(error, EX_ERROR_ARGUMENT, "the kind %s is given twice: name each once", name);
    }
    return EX_OK;
}

/* ---- weighers ---- */

/* Solves the layer's points by another kind, all parameters at their defaults. */
static ex_result make_weigher(const ex_plot_def *def, const ex_weigher *own, ex_weigher_kind kind, ex_weigher **made,
                              ex_error *error) {
    const int examples = ex_weigher_example_count(own);
    ex_weigher_def described, other = ex_weigher_def_default();
    ex_error why = {.result = EX_OK};
    ex_result result = EX_ERROR_MEMORY;
    ex_axis *axes = exi_array_allocate((size_t)ex_weigher_axis_count(own), sizeof *axes);
    ex_pseudo *pseudos = exi_array_allocate((size_t)ex_weigher_pseudo_count(own), sizeof *pseudos);
    const char **names = exi_array_allocate((size_t)examples, sizeof *names);
    if (axes && pseudos && names) {
        ex_weigher_describe(own, &described, axes, pseudos);
        for (int k = 0; k < examples; k++)
            names[k] = ex_rig_example_name(def->rig, def->layer, k);
        other.kind = kind;
        other.axes = axes;
        other.axis_count = described.axis_count;
        other.example_count = examples;
        other.points = described.points;
        other.pseudos = pseudos;
        other.pseudo_count = described.pseudo_count;
        other.names = names;
        result = ex_weigher_create(&other, NULL, made, &why);
    }
    free(axes);
    free(pseudos);
    free(names);
    if (result == EX_ERROR_MEMORY)
        return ex_error_memory(error, "the weighers of a plot", 0);
    return result == EX_OK
               ? EX_OK
               : ex_error_set(error, result, "%s cannot weigh the layer '%s': %s", ex_weigher_kind_name(kind),
                              ex_rig_layer_name(def->rig, def->layer), why.text);
}

ex_result exi_plot_weighers(const ex_plot_def *def, ex_weigher *made[EX_PLOT_KIND_MAX], ex_error *error) {
    const ex_weigher *own = ex_rig_weigher(def->rig, def->layer);
    ex_result result = check_kinds(def, own, error);
    for (int i = 0; i < EX_PLOT_KIND_MAX; i++)
        made[i] = NULL;
    for (int i = 0; i < def->kind_count && result == EX_OK; i++)
        if (def->kinds[i] != ex_weigher_get_kind(own))
            result = make_weigher(def, own, def->kinds[i], &made[i], error);
    return result;
}

/* ---- panels ---- */

void exi_plot_share_scale(exi_plot *plots, int count) {
    exi_plot all = *plots;
    for (int i = 1; i < count; i++) {
        all.low = plots[i].low < all.low ? plots[i].low : all.low;
        all.high = plots[i].high > all.high ? plots[i].high : all.high;
        all.outer_low = plots[i].outer_low < all.outer_low ? plots[i].outer_low : all.outer_low;
        all.outer_high = plots[i].outer_high > all.outer_high ? plots[i].outer_high : all.outer_high;
    }
    for (int i = 0; i < count; i++) {
        plots[i].low = all.low > lowest_drawn ? all.low : lowest_drawn;
        plots[i].high = all.high < highest_drawn ? all.high : highest_drawn;
        plots[i].outer_low = all.outer_low > lowest_drawn ? all.outer_low : lowest_drawn;
        plots[i].outer_high = all.outer_high < highest_drawn ? all.outer_high : highest_drawn;
    }
}

/* Writes two digits after the point, or one figure less for each power of ten above. */
static const char *weight_text(char buffer[EX_TICK_SIZE], double weight) {
    const double size = fabs(weight) < 1e6 ? fabs(weight) : 1e6;
    snprintf(buffer, EX_TICK_SIZE, "%s%.*f", weight < -0.005 ? "\xE2\x88\x92" : "",
             size < 10    ? 2
             : size < 100 ? 1
                          : 0,
             size);
    return buffer;
}

void exi_plot_head(const exi_plot *p, ex_canvas *canvas, exi_labels *labels, double left, double right, double y) {
    const char *kind = ex_weigher_kind_name(ex_weigher_get_kind(p->weigher));
    char low[EX_TICK_SIZE], high[EX_TICK_SIZE], text[2 * EX_TICK_SIZE + 8], fitted[EX_LABEL_SIZE];
    ex_lettering type = {.size = EXI_PLOT_TEXT_SIZE + 1, .colour = exi_plot_ink(), .bold = true};
    exi_label_place place = {left, y, EX_ACROSS_LEFT, EX_ALONG_BASELINE};
    exi_labels_draw(labels, canvas, &place, 1, &type, ex_label_fit(fitted, kind, type.size, right - left));
    place.x += ex_text_width(kind) * type.size * 1.1 + 10; /* bold letters are wider */
    snprintf(text, sizeof text, "%s to %s", weight_text(low, p->lowest), weight_text(high, p->highest));
    type = (ex_lettering){.size = EXI_PLOT_TEXT_SIZE, .colour = exi_plot_quiet()};
    if (place.x + ex_text_width(text) * type.size <= right)
        exi_labels_draw(labels, canvas, &place, 1, &type, text);
}
