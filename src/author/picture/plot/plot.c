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
    char title[600], text[700];
    snprintf(title, sizeof title, p->axis_count == 1 ? "Weights along %s" : "Weights over %s and %s", p->axes[0].name,
             p->axis_count == 2 ? p->axes[1].name : "");
    snprintf(text, sizeof text, "%s of %d of the %d examples of the layer %s.",
             p->axis_count == 1 ? "Curves" : "Contour maps", p->drawn_count, p->example_count,
             ex_rig_layer_name(p->rig, p->layer));
    return ex_canvas_create_svg(p->width, p->height, white, title, text, canvas, error);
}

static ex_result draw(exi_plot *p, bool svg, ex_canvas **canvas, ex_error *error) {
    ex_result result = exi_plot_choose(p, p->axis_count == 1 ? EX_PLOT_CURVE_MAX : EX_PLOT_MAP_MAX, error);
    if (result != EX_OK)
        return result;
    find_size(p);
    result = open_canvas(p, svg, canvas, error);
    if (result != EX_OK)
        return result;
    if (p->axis_count == 1)
        p->axes[0].count = EXI_PLOT_CURVE_SAMPLES;
    else
        exi_plot_maps_resolve(p);
    result = exi_plot_sample(p, error);
    if (result == EX_OK)
        result = (p->axis_count == 1 ? exi_plot_curves_draw : exi_plot_maps_draw)(p, *canvas, error);
    if (result == EX_OK)
        result = ex_canvas_result(*canvas, error);
    if (result != EX_OK) {
        ex_canvas_destroy(*canvas);
        *canvas = NULL;
    }
    return result;
}

ex_result exi_plot_make(const ex_plot_def *def, bool svg, ex_canvas **canvas, ex_plot_info *info, ex_error *error) {
    exi_plot plot;
    *canvas = NULL;
    ex_result result = exi_plot_open(&plot, def, error);
    if (result != EX_OK)
        return result;
    result = draw(&plot, svg, canvas, error);
    if (result == EX_OK && info) {
        *info = (ex_plot_info){.axis_count = plot.axis_count,
                               .axes = {plot.axes[0].input, plot.axes[1].input},
                               .drawn_count = plot.drawn_count,
                               .example_count = plot.example_count,
                               .width = plot.width,
                               .height = plot.height};
    }
    exi_plot_close(&plot);
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
