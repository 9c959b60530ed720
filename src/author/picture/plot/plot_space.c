/*
 * Resolves a plot's definition: the axes of the layer, their range, and the places of the layer's examples and
 * pseudo-examples in that slice of its space.
 */
#include "author/picture/plot/plot.h"

#include "author/base/array.h"
#include "runtime/base/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the axes ---- */

static int find_number(const exi_plot *p, int input) {
    const int count = ex_weigher_axis_count(ex_rig_weigher(p->rig, p->layer));
    for (int a = 0; a < count; a++)
        if (ex_rig_layer_input(p->rig, p->layer, a) == input)
            return a;
    return -1;
}

/* Uses the layer's own description of an axis: its range may differ from that of another layer with the same input. */
static ex_result open_axis(exi_plot *p, exi_plot_axis *axis, int input, const ex_axis *axes, ex_error *error) {
    *axis = (exi_plot_axis){.input = input, .number = find_number(p, input)};
    axis->name = ex_rig_input_name(p->rig, input);
    axis->unit = ex_rig_input_unit(p->rig, input);
    if (axis->number < 0)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "the layer '%s' does not depend on the axis '%s'",
                            ex_rig_layer_name(p->rig, p->layer), axis->name);
    axis->axis = axes[axis->number];
    if (axis->axis.kind != EX_AXIS_SCALAR)
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "the axis '%s' is a rotation, which has no single value to plot along: name a scalar axis, "
                            "and set the rotation (%s=x30)",
                            axis->name, axis->name);
    for (int a = 0; a < axis->number; a++)
        axis->offset += ex_axis_width(&axes[a]);
    const double beyond = EXI_PLOT_BEYOND * (axis->axis.max - axis->axis.min);
    axis->low = axis->axis.min - beyond;
    axis->high = axis->axis.max + beyond;
    if (!isfinite(axis->low) || !isfinite(axis->high) || !isfinite(axis->high - axis->low))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "the range of the axis '%s' is too large to be plotted",
                            axis->name);
    return EX_OK;
}

static ex_result open_axes(exi_plot *p, const ex_axis *axes, ex_error *error) {
    int inputs[2] = {p->def->axes[0], p->def->axes[1]};
    if (ex_weigher_get_info(ex_rig_weigher(p->rig, p->layer))->is_driven)
        return ex_error_kind(error,
                             ex_error_set(error, EX_ERROR_ARGUMENT,
                                          "the layer '%s' is weighed by a driver, along which nothing can be plotted",
                                          ex_rig_layer_name(p->rig, p->layer)),
                             "plot_of_driver");
    p->axis_count = p->def->axis_count;
    if (p->axis_count == 0) {
        const int count = ex_weigher_axis_count(ex_rig_weigher(p->rig, p->layer));
        for (int a = 0; a < count && p->axis_count < 2; a++)
            if (axes[a].kind == EX_AXIS_SCALAR)
                inputs[p->axis_count++] = ex_rig_layer_input(p->rig, p->layer, a);
        if (p->axis_count == 0)
            return ex_error_set(error, EX_ERROR_ARGUMENT,
                                "the layer '%s' has only rotation axes, so there is nothing to plot along",
                                ex_rig_layer_name(p->rig, p->layer));
    }
    if (p->axis_count == 2 && inputs[0] == inputs[1])
        return ex_error_set(error, EX_ERROR_ARGUMENT, "the axis '%s' is given twice: name two different ones",
                            ex_rig_input_name(p->rig, inputs[0]));
    ex_result result = EX_OK;
    for (int i = 0; i < p->axis_count && result == EX_OK; i++)
        result = open_axis(p, &p->axes[i], inputs[i], axes, error);
    return result;
}

/* ---- the slice ---- */

/* Finds the values of the layer's axes at the plot's pose. */
static ex_result find_slice(exi_plot *p, const ex_axis *axes, ex_error *error) {
    const ex_weigher *weigher = ex_rig_weigher(p->rig, p->layer);
    ex_pose rest = {.inputs = NULL};
    if (!p->def->pose) {
        rest = ex_pose_create(p->rig);
        if (!rest.inputs)
            return ex_error_memory(error, "a pose", 0);
    }
    double *at = p->slice;
    for (int a = 0; a < ex_weigher_axis_count(weigher); a++) {
        ex_rig_get_input(p->rig, ex_rig_layer_input(p->rig, p->layer, a), p->def->pose ? p->def->pose : &rest, at);
        at += ex_axis_width(&axes[a]);
    }
    free(rest.inputs);
    return EX_OK;
}

static bool is_plotted(const exi_plot *p, int number) {
    for (int i = 0; i < p->axis_count; i++)
        if (p->axes[i].number == number)
            return true;
    return false;
}

static bool is_near(const ex_axis *axis, const double *a, const double *b) {
    if (axis->kind == EX_AXIS_SCALAR)
        return fabs(a[0] - b[0]) <= 1e-6 * (axis->max - axis->min);
    double dot = 0, aa = 0, bb = 0;
    for (int i = 0; i < 4; i++) {
        dot += a[i] * b[i];
        aa += a[i] * a[i];
        bb += b[i] * b[i];
    }
    return dot * dot >= (1 - 1e-9) * aa * bb;
}

/* True if all axes that are not plotted have the slice's values. */
static bool is_on_slice(const exi_plot *p, const ex_axis *axes, const double *point) {
    const double *slice = p->slice;
    for (int a = 0; a < ex_weigher_axis_count(ex_rig_weigher(p->rig, p->layer)); a++) {
        if (!is_plotted(p, a) && !is_near(&axes[a], point, slice))
            return false;
        point += ex_axis_width(&axes[a]);
        slice += ex_axis_width(&axes[a]);
    }
    return true;
}

static exi_plot_point place_point(const exi_plot *p, const ex_axis *axes, const double *point) {
    exi_plot_point place = {.placed = true, .on_slice = is_on_slice(p, axes, point)};
    for (int i = 0; i < p->axis_count; i++)
        place.at[i] = point[p->axes[i].offset];
    return place;
}

/* An example of a direct layer is at 1 on its own axis and at 0 on the others. It is in the slice if those are at 0
 * there. */
static exi_plot_point place_direct(const exi_plot *p, int example) {
    exi_plot_point place = {.on_slice = true};
    for (int a = 0; a < p->example_count; a++)
        place.on_slice &= is_plotted(p, a) || p->slice[a] == 0;
    for (int i = 0; i < p->axis_count; i++) {
        place.at[i] = p->axes[i].number == example;
        place.placed |= p->axes[i].number == example;
    }
    return place;
}

static void place_points(exi_plot *p, const ex_axis *axes, const ex_pseudo *pseudos) {
    const ex_weigher *weigher = ex_rig_weigher(p->rig, p->layer);
    for (int k = 0; k < p->example_count; k++) {
        const double *point = ex_weigher_point(weigher, k);
        p->examples[k] = point ? place_point(p, axes, point) : place_direct(p, k);
    }
    for (int k = 0; k < p->pseudo_count; k++) {
        p->pseudos[k] = place_point(p, axes, pseudos[k].at);
        if (pseudos[k].from) {
            const exi_plot_point from = place_point(p, axes, pseudos[k].from);
            p->pseudos[k].has_from = from.on_slice;
            p->pseudos[k].from[0] = from.at[0];
            p->pseudos[k].from[1] = from.at[1];
        }
    }
}

/* ---- all of it ---- */

static ex_result check(const ex_plot_def *def, ex_error *error) {
    if (!def || !def->rig)
        return exi_misuse_error(error, "ex_plot", "no definition or no rig");
    if (ex_rig_layer_count(def->rig) == 0)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "the rig has no layers, so there are no weights to plot");
    if (def->layer < 0 || def->layer >= ex_rig_layer_count(def->rig))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "there is no layer %d to plot: the rig has %d", def->layer,
                            ex_rig_layer_count(def->rig));
    if (def->axis_count < 0 || def->axis_count > 2)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "a plot has one axis or two, not %d", def->axis_count);
    for (int i = 0; i < def->axis_count; i++)
        if (def->axes[i] < 0 || def->axes[i] >= ex_rig_input_count(def->rig))
            return ex_error_set(error, EX_ERROR_ARGUMENT, "there is no axis %d to plot: the rig has %d", def->axes[i],
                                ex_rig_input_count(def->rig));
    if (def->kind_count < 0 || def->kind_count > EX_PLOT_KIND_MAX || (def->kind_count > 0 && !def->kinds))
        return exi_misuse_error(error, "ex_plot", "more kinds than EX_PLOT_KIND_MAX, or none where some are counted");
    const double w = def->width, h = def->height;
    if ((w != 0 && !(w >= EX_PLOT_WIDTH_MIN)) || (h != 0 && !(h >= EX_PLOT_HEIGHT_MIN)))
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "a plot of %g by %g points is too small to read: it needs at least %d by %d", w, h,
                            EX_PLOT_WIDTH_MIN, EX_PLOT_HEIGHT_MIN);
    return EX_OK;
}

ex_result exi_plot_open(exi_plot *p, const ex_plot_def *def, ex_error *error) {
    *p = (exi_plot){.def = def, .count = 1};
    ex_result result = check(def, error);
    if (result != EX_OK)
        return result;
    p->rig = def->rig;
    p->layer = def->layer;
    const ex_weigher *weigher = ex_rig_weigher(p->rig, p->layer);
    p->example_count = ex_weigher_example_count(weigher);
    p->pseudo_count = ex_weigher_pseudo_count(weigher);
    ex_weigher_def described;
    ex_axis *axes = exi_array_allocate((size_t)ex_weigher_axis_count(weigher), sizeof *axes);
    ex_pseudo *pseudos = exi_array_allocate((size_t)p->pseudo_count, sizeof *pseudos);
    p->examples = exi_array_allocate((size_t)p->example_count, sizeof *p->examples);
    p->pseudos = exi_array_allocate((size_t)p->pseudo_count, sizeof *p->pseudos);
    p->slice = exi_array_allocate((size_t)ex_weigher_dimension(weigher), sizeof *p->slice);
    p->peaks = exi_array_allocate((size_t)p->example_count, sizeof *p->peaks);
    p->drawn = exi_array_allocate((size_t)p->example_count, sizeof *p->drawn);
    if (!axes || !pseudos || !p->examples || !p->pseudos || !p->slice || !p->peaks || !p->drawn) {
        result = ex_error_memory(error, "a plot", 0);
    } else {
        ex_weigher_describe(weigher, &described, axes, pseudos);
        result = open_axes(p, axes, error);
        if (result == EX_OK)
            result = find_slice(p, axes, error);
        if (result == EX_OK)
            place_points(p, axes, pseudos);
    }
    free(axes);
    free(pseudos);
    if (result != EX_OK)
        exi_plot_close(p);
    return result;
}

void exi_plot_close(exi_plot *p) {
    free(p->examples);
    free(p->pseudos);
    free(p->slice);
    free(p->peaks);
    free(p->drawn);
    free(p->weights);
    free(p->extremes);
    *p = (exi_plot){.def = NULL};
}
