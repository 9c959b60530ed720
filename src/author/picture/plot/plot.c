/*
 * Plots of a rig's weights: opens the space, chooses and samples examples, and draws pixels or SVG.
 */
#include "author/picture/plot/plot.h"

#include "runtime/base/result.h"

#include <exemplar/author/files.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ex_plot_def ex_plot_def_default(void) {
    return (ex_plot_def){.scale = 1};
}

static void find_size(exi_plot *p) {
    (p->axis_count == 1 ? exi_plot_curves_size : exi_plot_maps_size)(p, &p->width, &p->height);
    if (p->def->width != 0)
        p->width = p->def->width;
    if (p->def->height != 0)
        p->height = p->def->height;
}

static ex_result open_canvas(const exi_plot *p, bool svg, ex_canvas **canvas, ex_error *error) {
    const ex_colour white = ex_colour_grey(255);
    if (!svg)
        return ex_canvas_create_image(p->width, p->height, p->def->scale, white, canvas, error);
    char title[600], text[900], kinds[200];
    exi_plot_kinds_text(p->def->kinds, p->def->kind_count, kinds, sizeof kinds);
    snprintf(title, sizeof title, p->axis_count == 1 ? "Weights along %s" : "Weights over %s and %s", p->axes[0].name,
             p->axis_count == 2 ? p->axes[1].name : "");
    snprintf(text, sizeof text, "%s of %d of the %d examples of the layer %s%s%s.",
             p->axis_count == 1 ? "Curves" : "Contour maps", p->drawn_count, p->example_count,
             ex_rig_layer_name(p->rig, p->layer), p->weigher ? ", weighed by " : "", kinds);
    return ex_canvas_create_svg(p->width, p->height, white, title, text, canvas, error);
}

static int most_examples(const exi_plot *p) {
    return p->axis_count == 1 ? EX_PLOT_CURVE_MAX : p->weigher ? EX_PLOT_COMPARE_MAX : EX_PLOT_MAP_MAX;
}

/* Draws all panels. The first decides on the examples, the size and the number of samples. */
static ex_result draw(exi_plot *plots, bool svg, ex_canvas **canvas, ex_error *error) {
    const int count = plots->count;
    ex_result result = exi_plot_choose(plots, count, most_examples(plots), error);
    if (result != EX_OK)
        return result;
    find_size(plots);
    result = open_canvas(plots, svg, canvas, error);
    if (result != EX_OK)
        return result;
    if (plots->axis_count == 1)
        plots->axes[0].count = EXI_PLOT_CURVE_SAMPLES;
    else
        exi_plot_maps_resolve(plots);
    for (int i = 0; i < count && result == EX_OK; i++) {
        plots[i].width = plots->width;
        plots[i].height = plots->height;
        plots[i].axes[0].count = plots->axes[0].count;
        plots[i].axes[1].count = plots->axes[1].count;
        result = exi_plot_sample(&plots[i], error);
    }
    if (result == EX_OK && plots->weigher)
        exi_plot_share_scale(plots, count);
    if (result == EX_OK)
        result = (plots->axis_count == 1 ? exi_plot_curves_draw : exi_plot_maps_draw)(plots, *canvas, error);
    if (result == EX_OK)
        result = ex_canvas_result(*canvas, error);
    if (result != EX_OK) {
        ex_canvas_destroy(*canvas);
        *canvas = NULL;
    }
    return result;
}

static void describe(const exi_plot *plots, ex_plot_info *info) {
    *info = (ex_plot_info){.axis_count = plots->axis_count,
                           .axes = {plots->axes[0].input, plots->axes[1].input},
                           .drawn_count = plots->drawn_count,
                           .example_count = plots->example_count,
                           .width = plots->width,
                           .height = plots->height};
    for (int i = 0; i < plots->count; i++) {
        info->lows[i] = plots[i].lowest;
        info->highs[i] = plots[i].highest;
    }
}

/* Opens a panel for each kind, or one for the layer as it is; the first is open already. */
static ex_result open_panels(exi_plot *plots, const ex_plot_def *def, ex_weigher *made[EX_PLOT_KIND_MAX],
                             ex_error *error) {
    ex_result result = def->kind_count > 0 ? exi_plot_weighers(def, made, error) : EX_OK;
    for (int i = 1; i < def->kind_count && result == EX_OK; i++)
        result = exi_plot_open(&plots[i], def, error);
    for (int i = 0; i < def->kind_count; i++) {
        plots[i].weigher = made[i] ? made[i] : ex_rig_weigher(def->rig, def->layer);
        plots[i].number = i;
        plots[i].count = def->kind_count;
    }
    return result;
}

ex_result exi_plot_make(const ex_plot_def *def, bool svg, ex_canvas **canvas, ex_plot_info *info, ex_error *error) {
    exi_plot plots[EX_PLOT_KIND_MAX] = {{.def = NULL}};
    ex_weigher *made[EX_PLOT_KIND_MAX] = {NULL};
    *canvas = NULL;
    ex_result result = exi_plot_open(plots, def, error);
    if (result != EX_OK)
        return result;
    result = open_panels(plots, def, made, error);
    if (result == EX_OK)
        result = draw(plots, svg, canvas, error);
    if (result == EX_OK && info)
        describe(plots, info);
    for (int i = 0; i < EX_PLOT_KIND_MAX; i++) {
        exi_plot_close(&plots[i]);
        ex_weigher_destroy(made[i]);
    }
    return result;
}

ex_result ex_plot_image(const ex_plot_def *def, ex_image **image, ex_plot_info *info, ex_error *error) {
    ex_canvas *canvas;
    *image = NULL;
    const ex_result result = exi_plot_make(def, false, &canvas, info, error);
    return result == EX_OK ? ex_canvas_take_image(canvas, image, error) : result;
}

ex_result ex_plot_svg(const ex_plot_def *def, char **text, size_t *size, ex_plot_info *info, ex_error *error) {
    ex_canvas *canvas;
    *text = NULL;
    *size = 0;
    const ex_result result = exi_plot_make(def, true, &canvas, info, error);
    return result == EX_OK ? ex_canvas_take_text(canvas, text, size, error) : result;
}

ex_result ex_plot_write(const ex_plot_def *def, const char *path, ex_plot_info *info, ex_error *error) {
    if (!path)
        return exi_misuse_error(error, __func__, "no path");
    ex_canvas *canvas;
    const ex_result result = exi_plot_make(def, !ex_path_ends_with(path, ".png"), &canvas, info, error);
    return result == EX_OK ? ex_canvas_write(canvas, path, error) : result;
}
