/*
 * Differences between the examples and pseudo-examples of two layers: their points, their reach, and their data.
 */
#include "author/base/array.h"
#include "author/project/domains/project_domain.h"
#include "author/project/skeleton/skeleton.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *axis_name(const ex_rig *rig, int layer, int index) {
    return ex_rig_input_name(rig, ex_rig_layer_input(rig, layer, index));
}

static const char *example_name(const ex_rig *rig, int layer, int index) {
    return ex_rig_example_name(rig, layer, index);
}

/* ---- places ---- */

static int axis_start(const exi_layer_side *s, int axis) {
    int start = 0;
    for (int i = 0; i < axis; i++)
        start += ex_axis_width(&s->axes[i]);
    return start;
}

/* Returns the largest difference of a coordinate over the common axes; *name is that of the axis. Rotations that differ
 * by a sign are equal. */
static double points_apart(const exi_layer_pair *p, const double *a, const double *b, const char **name) {
    double largest = 0;
    for (int i = 0; a && b && i < p->a.def.axis_count; i++) {
        const int k = p->axes[i];
        if (k < 0 || p->a.axes[i].kind != p->b.axes[k].kind || p->a.axes[i].kind == EX_AXIS_DRIVER)
            continue; /* forms of a driver are compared as forms */
        const double *x = a + axis_start(&p->a, i), *y = b + axis_start(&p->b, k);
        const int width = ex_axis_width(&p->a.axes[i]);
        double plain = 0, turned = 0;
        for (int n = 0; n < width; n++) {
            plain = fabs(x[n] - y[n]) > plain ? fabs(x[n] - y[n]) : plain;
            turned = fabs(x[n] + y[n]) > turned ? fabs(x[n] + y[n]) : turned;
        }
        const double apart = width == 4 && turned < plain ? turned : plain;
        if (apart > largest) {
            largest = apart;
            *name = axis_name(p->a.rig, p->a.layer, i);
        }
    }
    return largest;
}

static void compare_place(const exi_layer_pair *p, int a, int b) {
    const char *axis = "";
    const double apart = points_apart(p, ex_weigher_point(ex_rig_weigher(p->a.rig, p->a.layer), a),
                                      ex_weigher_point(ex_rig_weigher(p->b.rig, p->b.layer), b), &axis);
    if (apart > p->c->tolerance)
        exi_difference_add(p->c, "example", p->where, apart, 0, "example '%s' is elsewhere, by %g along '%s'",
                           example_name(p->a.rig, p->a.layer, a), apart, axis);
}

static const double *row(const double *table, size_t width, int point) {
    return table ? table + (size_t)point * width : NULL;
}

/* Compares falloffs along an axis, or metrics; a missing table counts as zeros. */
static double rows_apart(const double *a, const double *b, size_t count) {
    double largest = 0;
    for (size_t i = 0; i < count; i++) {
        const double apart = fabs((a ? a[i] : 0) - (b ? b[i] : 0));
        largest = apart > largest ? apart : largest;
    }
    return largest;
}

/* Compares the reach of a point of two weighers with falloffs, if their axes are the same. */
static void compare_reach(const exi_layer_pair *p, const char *kind, const char *name, int a, int b) {
    const ex_weigher_def *x = &p->a.def, *y = &p->b.def;
    size_t n = 0;
    bool same = x->axis_count == y->axis_count && ex_weigher_kind_info(x->kind)->has_falloffs &&
                ex_weigher_kind_info(y->kind)->has_falloffs;
    for (int i = 0; same && i < x->axis_count; i++) {
        same = p->axes[i] == i && x->axes[i].kind == y->axes[i].kind;
        n += x->axes[i].kind == EX_AXIS_SCALAR;
    }
    if (!same)
        return; /* reported for the axes, or the weigher */
    const size_t axes = (size_t)x->axis_count;
    const double falloff = rows_apart(row(x->falloffs, axes, a), row(y->falloffs, axes, b), axes);
    const double metric = rows_apart(row(x->metrics, n * n, a), row(y->metrics, n * n, b), n * n);
    if (falloff > p->c->tolerance)
        exi_difference_add(p->c, kind, p->where, falloff, 0, "the falloff of %s differs by %g", name, falloff);
    if (metric > p->c->tolerance)
        exi_difference_add(p->c, kind, p->where, metric, 0, "the metric of %s differs by %g", name, metric);
}

static void compare_pseudos(const exi_layer_pair *p) {
    const ex_weigher_def *a = &p->a.def, *b = &p->b.def;
    if (a->pseudo_count != b->pseudo_count) {
        exi_difference_add(p->c, "pseudo", p->where, 0, 0, "pseudo-examples: %d in the first, %d in the second",
                           a->pseudo_count, b->pseudo_count);
        return;
    }
    for (int i = 0; i < a->pseudo_count; i++) {
        const ex_pseudo *x = &p->a.pseudos[i], *y = &p->b.pseudos[i];
        const char *axis = "";
        const double at = points_apart(p, x->at, y->at, &axis), from = points_apart(p, x->from, y->from, &axis);
        double weight = 0;
        for (int k = 0; x->weights && y->weights && k < a->example_count && a->example_count == b->example_count; k++) {
            const double apart = fabs(x->weights[k] - y->weights[k]);
            weight = apart > weight ? apart : weight;
        }
        const double largest = at > from ? at > weight ? at : weight : from > weight ? from : weight;
        if ((x->from == NULL) != (y->from == NULL))
            exi_difference_add(
                p->c, "pseudo", p->where, 0, 0,
                "pseudo-example %d is given weights in one of them and borrows those of a place in the other", i + 1);
        else if (largest > p->c->tolerance)
            exi_difference_add(p->c, "pseudo", p->where, largest, 0, "pseudo-example %d differs by %g", i + 1, largest);
        char name[40];
        snprintf(name, sizeof name, "pseudo-example %d", i + 1);
        compare_reach(p, "pseudo", name, a->example_count + i, b->example_count + i);
    }
}

/* ---- examples ---- */

static void compare_deltas(const exi_layer_pair *p, int a, int b, const char *name) {
    const size_t count = (size_t)ex_rig_vertex_count(p->a.rig);
    float *x = exi_array_allocate(3 * count, sizeof *x), *y = exi_array_allocate(3 * count, sizeof *y);
    p->c->failed = p->c->failed || !x || !y;
    if (x && y) {
        ex_rig_example_delta(p->a.rig, p->a.layer, a, x);
        ex_rig_example_delta(p->b.rig, p->b.layer, b, y);
        const exi_spread s = exi_spread_of(x, y, count);
        if (s.largest > p->c->tolerance)
            exi_difference_add(p->c, "example", p->where, s.largest, s.rms,
                               "example '%s' moves vertex %d (counting from 0) differently by %.3g m, RMS %.3g m", name,
                               s.vertex, s.largest, s.rms);
    }
    free(x);
    free(y);
}

static void compare_shifts(const exi_layer_pair *p, int a, int b, const char *name) {
    const size_t joints = (size_t)ex_rig_joint_count(p->a.rig);
    float *x = exi_array_allocate(3 * joints, sizeof *x), *y = exi_array_allocate(3 * joints, sizeof *y);
    p->c->failed = p->c->failed || !x || !y;
    if (x && y) {
        const bool first = ex_rig_example_shifts(p->a.rig, p->a.layer, a, x);
        const bool second = ex_rig_example_shifts(p->b.rig, p->b.layer, b, y);
        const exi_spread s = exi_spread_of(x, y, joints);
        exi_joint_text text;
        if (first != second)
            exi_difference_add(p->c, "example", p->where, s.largest, s.rms,
                               "example '%s' has a skeleton of its own only in the %s", name,
                               first ? "first" : "second");
        else if (s.largest > p->c->tolerance)
            exi_difference_add(p->c, "example", p->where, s.largest, s.rms,
                               "the skeleton of example '%s' differs, joint '%s' the most, by %.3g m", name,
                               exi_joint_name(ex_rig_skeleton(p->a.rig), s.vertex, &text), s.largest);
    }
    free(x);
    free(y);
}

void exi_difference_forms(const exi_layer_pair *p, int a, int b, const char *name) {
    const int joints = ex_rig_joint_count(p->a.rig);
    if (ex_rig_vertex_count(p->a.rig) == ex_rig_vertex_count(p->b.rig))
        compare_deltas(p, a, b, name);
    if (joints > 0 && joints == ex_rig_joint_count(p->b.rig))
        compare_shifts(p, a, b, name);
}

void exi_difference_examples(exi_layer_pair *p) {
    const exi_project_domain *domain = exi_project_domains[ex_rig_layer_domain(p->a.rig, p->a.layer)];
    p->examples = exi_difference_match(p->c, &(exi_named){.what = "example",
                                                          .where = p->where,
                                                          .name = example_name,
                                                          .layers = {p->a.layer, p->b.layer},
                                                          .counts = {p->a.def.example_count, p->b.def.example_count}});
    for (int i = 0; p->axes && p->examples && i < p->a.def.example_count; i++) {
        const int k = p->examples[i];
        const char *name = example_name(p->a.rig, p->a.layer, i);
        char words[200];
        if (k < 0)
            continue;
        compare_place(p, i, k);
        exi_difference_driver_form(p, i, k);
        snprintf(words, sizeof words, "example '%.150s'", name);
        compare_reach(p, "example", words, i, k);
        domain->compare_example(p, i, k, name);
    }
    if (p->axes)
        compare_pseudos(p);
}
