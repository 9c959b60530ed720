/*
 * Differences between the layers of two rigs: domains, spaces and weighers.
 */
#include "author/base/array.h"
#include "author/project/domains/project_domain.h"
#include "author/project/skeleton/skeleton.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *layer_name(const ex_rig *rig, int layer, int index) {
    (void)layer;
    return ex_rig_layer_name(rig, index);
}

static const char *axis_name(const ex_rig *rig, int layer, int index) {
    return ex_rig_input_name(rig, ex_rig_layer_input(rig, layer, index));
}

static bool open_side(exi_layer_side *s, const ex_rig *rig, int layer) {
    const ex_weigher *weigher = ex_rig_weigher(rig, layer);
    *s = (exi_layer_side){.rig = rig, .layer = layer};
    s->axes = exi_array_allocate((size_t)ex_weigher_axis_count(weigher), sizeof *s->axes);
    s->pseudos = exi_array_allocate((size_t)ex_weigher_pseudo_count(weigher), sizeof *s->pseudos);
    if (!s->axes || !s->pseudos)
        return false;
    ex_weigher_describe(weigher, &s->def, s->axes, s->pseudos);
    return true;
}

static void close_side(exi_layer_side *s) {
    free(s->axes);
    free(s->pseudos);
}

/* ---- axes ---- */

static void describe_axis(const exi_layer_side *s, int axis, char *text, size_t size) {
    static const char *const kinds[] = {"", "a rotation", "a swing", "a twist", "the form of a driver"};
    static const char *const readings[] = {"", "angle", "rotation", "slide", "stretch"};
    const ex_axis *a = &s->axes[axis];
    const ex_axis_source source = ex_rig_input_source(s->rig, ex_rig_layer_input(s->rig, s->layer, axis));
    int at = a->kind == EX_AXIS_SCALAR
                 ? snprintf(text, size, "%g to %g, rest %g%s", a->min, a->max, a->rest, a->clamp ? ", clamped" : "")
                 : snprintf(text, size, "%s", kinds[a->kind]);
    if (a->kind == EX_AXIS_SWING || a->kind == EX_AXIS_TWIST)
        at += snprintf(text + at, size - (size_t)at, " about %g %g %g", a->about[0], a->about[1], a->about[2]);
    if (a->scale > 0)
        at += snprintf(text + at, size - (size_t)at, ", scale %g", a->scale);
    exi_joint_text joint;
    if (source.joint >= 0)
        snprintf(text + at, size - (size_t)at, ", the %s of joint '%.60s' (%g %g %g)", readings[source.reading.kind],
                 exi_joint_name(ex_rig_skeleton(s->rig), source.joint, &joint), source.reading.about[0],
                 source.reading.about[1], source.reading.about[2]);
}

/* Axes whose words are equal may differ in digits beyond those. */
static bool axes_apart(const exi_comparison *c, const ex_axis *a, const ex_axis *b) {
    bool apart = a->kind != b->kind || a->clamp != b->clamp || exi_apart(c, a->scale, b->scale);
    if (a->kind == EX_AXIS_SCALAR)
        return apart || exi_apart(c, a->min, b->min) || exi_apart(c, a->max, b->max) || exi_apart(c, a->rest, b->rest);
    for (int i = 0; i < 4; i++)
        apart = apart || exi_apart(c, a->rest_rotation[i], b->rest_rotation[i]);
    for (int i = 0; i < 3 && a->kind != EX_AXIS_ROTATION; i++)
        apart = apart || exi_apart(c, a->about[i], b->about[i]);
    return apart;
}

static bool sources_apart(const exi_layer_pair *p, int a, int b) {
    const ex_axis_source x = ex_rig_input_source(p->a.rig, ex_rig_layer_input(p->a.rig, p->a.layer, a));
    const ex_axis_source y = ex_rig_input_source(p->b.rig, ex_rig_layer_input(p->b.rig, p->b.layer, b));
    if ((x.joint < 0) != (y.joint < 0))
        return true;
    if (x.joint < 0)
        return false;
    exi_joint_text s, t;
    bool apart = x.reading.kind != y.reading.kind || exi_apart(p->c, x.reading.unit, y.reading.unit) ||
                 exi_apart(p->c, x.reading.middle, y.reading.middle) ||
                 strcmp(exi_joint_name(ex_rig_skeleton(p->a.rig), x.joint, &s),
                        exi_joint_name(ex_rig_skeleton(p->b.rig), y.joint, &t)) != 0;
    for (int i = 0; i < 3; i++)
        apart = apart || exi_apart(p->c, x.reading.about[i], y.reading.about[i]);
    return apart;
}

static void compare_axes(exi_layer_pair *p) {
    p->axes = exi_difference_match(p->c, &(exi_named){.what = "axis",
                                                      .where = p->where,
                                                      .name = axis_name,
                                                      .layers = {p->a.layer, p->b.layer},
                                                      .counts = {p->a.def.axis_count, p->b.def.axis_count}});
    for (int i = 0; p->axes && i < p->a.def.axis_count; i++) {
        const int k = p->axes[i];
        if (k < 0 || (!axes_apart(p->c, &p->a.axes[i], &p->b.axes[k]) && !sources_apart(p, i, k)))
            continue;
        char first[200], second[200];
        describe_axis(&p->a, i, first, sizeof first);
        describe_axis(&p->b, k, second, sizeof second);
        exi_difference_add(p->c, "axis", p->where, 0, 0, "axis '%s' is %s in the first and %s in the second",
                           axis_name(p->a.rig, p->a.layer, i), first, second);
    }
}

/* ---- weighers ---- */

/* "cardinal (bspline, linear, radius 1, ridge 0)" */
static void describe_weigher(const ex_weigher_def *d, char *text, size_t size) {
    const ex_weigher_info *info = ex_weigher_kind_info(d->kind);
    size_t at = (size_t)snprintf(text, size, "%s", ex_weigher_kind_name(d->kind));
    for (int i = 0; i < info->parameter_count && at < size; i++) {
        at += (size_t)snprintf(text + at, size - at, i == 0 ? " (" : ", ");
        if (at < size)
            at += (size_t)ex_parameter_text(&info->parameters[i], ex_parameter_get(&info->parameters[i], d), text + at,
                                            size - at);
    }
    if (info->parameter_count > 0 && at < size)
        snprintf(text + at, size - at, ")");
}

static void compare_weighers(const exi_layer_pair *p) {
    const ex_weigher_def *a = &p->a.def, *b = &p->b.def;
    const ex_weigher_info *info = ex_weigher_kind_info(a->kind);
    bool apart = a->kind != b->kind;
    for (int i = 0; !apart && i < info->parameter_count; i++) {
        const double x = ex_parameter_get(&info->parameters[i], a), y = ex_parameter_get(&info->parameters[i], b);
        apart = info->parameters[i].type == EX_PARAMETER_NUMBER ? exi_apart(p->c, x, y) : x != y;
    }
    if (!apart)
        return;
    char first[240], second[240];
    describe_weigher(a, first, sizeof first);
    describe_weigher(b, second, sizeof second);
    exi_difference_add(p->c, "weigher", p->where, 0, 0, "the weigher is %s in the first and %s in the second", first,
                       second);
}

/* ---- layers ---- */

/* Compares the frame of offsets, how they are weighed, and if the layer counts. */
static void compare_ways(const exi_layer_pair *p) {
    const ex_offset_frame first = ex_rig_layer_frame(p->a.rig, p->a.layer),
                          second = ex_rig_layer_frame(p->b.rig, p->b.layer);
    const bool moved = ex_rig_layer_moved(p->a.rig, p->a.layer);
    const bool muted = ex_rig_layer_muted(p->a.rig, p->a.layer);
    if (first != second)
        exi_difference_add(p->c, "layer", p->where, 0, 0,
                           "its offsets are in the frame %s in the first and %s in the second",
                           ex_offset_frame_name(first), ex_offset_frame_name(second));
    if (moved != ex_rig_layer_moved(p->b.rig, p->b.layer))
        exi_difference_add(p->c, "layer", p->where, 0, 0,
                           "vertices are weighed among the examples that move them only in the %s",
                           moved ? "first" : "second");
    if (muted != ex_rig_layer_muted(p->b.rig, p->b.layer))
        exi_difference_add(p->c, "layer", p->where, 0, 0, "it is muted only in the %s", muted ? "first" : "second");
}

static void compare_layer(exi_comparison *c, int a, int b) {
    exi_layer_pair p = {.c = c};
    const exi_project_domain *first = exi_project_domains[ex_rig_layer_domain(c->a, a)],
                             *second = exi_project_domains[ex_rig_layer_domain(c->b, b)];
    snprintf(p.where, sizeof p.where, "layer '%.200s'", ex_rig_layer_name(c->a, a));
    const bool opened_a = open_side(&p.a, c->a, a), opened_b = open_side(&p.b, c->b, b);
    if (!opened_a || !opened_b) {
        c->failed = true;
    } else if (first != second) {
        exi_difference_add(c, "layer", p.where, 0, 0, "it holds %s in the first and %s in the second", first->examples,
                           second->examples);
    } else {
        compare_ways(&p);
        compare_axes(&p);
        compare_weighers(&p);
        exi_difference_predictor(&p);
        exi_difference_examples(&p);
        if (first->compare)
            first->compare(&p);
    }
    close_side(&p.a);
    close_side(&p.b);
    free(p.axes);
    free(p.examples);
}

void exi_difference_layers(exi_comparison *c) {
    int *layers = exi_difference_match(c, &(exi_named){.what = "layer",
                                                       .where = "",
                                                       .name = layer_name,
                                                       .counts = {ex_rig_layer_count(c->a), ex_rig_layer_count(c->b)}});
    for (int l = 0; layers && l < ex_rig_layer_count(c->a); l++)
        if (layers[l] >= 0)
            compare_layer(c, l, layers[l]);
    free(layers);
}
