/*
 * How the layers of two rigs differ: spaces, weighers, and the examples themselves.
 */
#include "author/project/difference.h"

#include "author/formats/array.h"
#include "author/project/skeleton.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WHERE_SIZE 256

static const char *layer_name(const ex_rig *rig, int layer, int index) {
    (void)layer;
    return ex_rig_layer_name(rig, index);
}

static const char *axis_name(const ex_rig *rig, int layer, int index) {
    return ex_rig_input_name(rig, ex_rig_layer_input(rig, layer, index));
}

static const char *example_name(const ex_rig *rig, int layer, int index) {
    return ex_rig_example_name(rig, layer, index);
}

/* A layer of each rig, what its weigher was made from, and which axes and examples belong together. */
typedef struct side {
    const ex_rig *rig;
    int layer;
    ex_weigher_def def;
    ex_axis *axes;
    ex_pseudo *pseudos;
} side;

typedef struct pair {
    exi_comparison *c;
    side a, b;
    int *axes, *examples; /* of a: which one of b */
    char where[WHERE_SIZE];
} pair;

static bool open_side(side *s, const ex_rig *rig, int layer) {
    const ex_weigher *weigher = ex_rig_weigher(rig, layer);
    *s = (side){.rig = rig, .layer = layer};
    s->axes = exi_array_allocate((size_t)ex_weigher_axis_count(weigher), sizeof *s->axes);
    s->pseudos = exi_array_allocate((size_t)ex_weigher_pseudo_count(weigher), sizeof *s->pseudos);
    if (!s->axes || !s->pseudos)
        return false;
    ex_weigher_describe(weigher, &s->def, s->axes, s->pseudos);
    return true;
}

static void close_side(side *s) {
    free(s->axes);
    free(s->pseudos);
}

/* ---- axes ---- */

static void describe_axis(const side *s, int axis, char *text, size_t size) {
    static const char *const kinds[] = {"", "a rotation", "a swing", "a twist"};
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

/* Axes that read the same in words differ in digits beyond those. */
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

static bool sources_apart(const pair *p, int a, int b) {
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

static void compare_axes(pair *p) {
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

static void describe_weigher(const ex_weigher_def *d, char *text, size_t size) {
    if (d->kind == EX_WEIGHER_CARDINAL)
        snprintf(text, size, "cardinal (%s, %s, radius %g, ridge %g)", ex_kernel_name(d->kernel),
                 d->linear ? "linear" : "constant", d->radius, d->ridge);
    else if (d->kind == EX_WEIGHER_SHEPARD)
        snprintf(text, size, "shepard (power %g)", d->power);
    else if (d->kind == EX_WEIGHER_NEAREST)
        snprintf(text, size, "nearest (%d neighbours%s)", d->neighbours, d->paper_form ? ", form of the paper" : "");
    else
        snprintf(text, size, "%s", ex_weigher_kind_name(d->kind));
}

static void compare_weighers(const pair *p) {
    const ex_weigher_def *a = &p->a.def, *b = &p->b.def;
    bool apart = a->kind != b->kind;
    if (!apart && a->kind == EX_WEIGHER_CARDINAL)
        apart = a->kernel != b->kernel || a->linear != b->linear || exi_apart(p->c, a->radius, b->radius) ||
                exi_apart(p->c, a->ridge, b->ridge);
    else if (!apart && a->kind == EX_WEIGHER_SHEPARD)
        apart = exi_apart(p->c, a->power, b->power);
    else if (!apart && a->kind == EX_WEIGHER_NEAREST)
        apart = a->neighbours != b->neighbours || a->paper_form != b->paper_form;
    if (!apart)
        return;
    char first[120], second[120];
    describe_weigher(a, first, sizeof first);
    describe_weigher(b, second, sizeof second);
    exi_difference_add(p->c, "weigher", p->where, 0, 0, "the weigher is %s in the first and %s in the second", first,
                       second);
}

/* ---- places ---- */

static int axis_start(const side *s, int axis) {
    int start = 0;
    for (int i = 0; i < axis; i++)
        start += ex_axis_width(&s->axes[i]);
    return start;
}

/* The largest difference of a coordinate over the axes that both have; *name is that of the axis. Rotations that differ
 * by a sign are one. */
static double points_apart(const pair *p, const double *a, const double *b, const char **name) {
    double largest = 0;
    for (int i = 0; a && b && i < p->a.def.axis_count; i++) {
        const int k = p->axes[i];
        if (k < 0 || p->a.axes[i].kind != p->b.axes[k].kind)
            continue;
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

static void compare_place(const pair *p, int a, int b) {
    const char *axis = "";
    const double apart = points_apart(p, ex_weigher_point(ex_rig_weigher(p->a.rig, p->a.layer), a),
                                      ex_weigher_point(ex_rig_weigher(p->b.rig, p->b.layer), b), &axis);
    if (apart > p->c->tolerance)
        exi_difference_add(p->c, "example", p->where, apart, 0, "example '%s' stands elsewhere: by %g along '%s'",
                           example_name(p->a.rig, p->a.layer, a), apart, axis);
}

static void compare_pseudos(const pair *p) {
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
            exi_difference_add(p->c, "pseudo", p->where, 0, 0,
                               "pseudo-example %d has given weights in one of them and a place it is from in the other",
                               i);
        else if (largest > p->c->tolerance)
            exi_difference_add(p->c, "pseudo", p->where, largest, 0, "pseudo-example %d differs by %g", i, largest);
    }
}

/* ---- examples ---- */

static void compare_deltas(const pair *p, int a, int b, const char *name) {
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

static void compare_shifts(const pair *p, int a, int b, const char *name) {
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
                               "example '%s' brings a skeleton of its own in the %s alone", name,
                               first ? "first" : "second");
        else if (s.largest > p->c->tolerance)
            exi_difference_add(p->c, "example", p->where, s.largest, s.rms,
                               "the skeleton of example '%s' differs, joint '%s' the most: by %.3g m", name,
                               exi_joint_name(ex_rig_skeleton(p->a.rig), s.vertex, &text), s.largest);
    }
    free(x);
    free(y);
}

static void compare_images(const pair *p, int a, int b, const char *name) {
    const ex_texture first = ex_rig_texture(p->a.rig, ex_rig_layer_texture(p->a.rig, p->a.layer));
    const ex_texture second = ex_rig_texture(p->b.rig, ex_rig_layer_texture(p->b.rig, p->b.layer));
    if (first.width != second.width || first.height != second.height)
        return; /* said of the texture */
    const unsigned char *x = ex_rig_example_image(p->a.rig, p->a.layer, a);
    const unsigned char *y = ex_rig_example_image(p->b.rig, p->b.layer, b);
    const size_t count = 4 * (size_t)first.width * (size_t)first.height;
    int largest = 0;
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        const int apart = abs(x[i] - y[i]);
        largest = apart > largest ? apart : largest;
        sum += apart;
    }
    if (largest / 255.0 > p->c->tolerance)
        exi_difference_add(p->c, "example", p->where, largest / 255.0, sum / (double)count / 255,
                           "the image of example '%s' differs by at most %d of 255, %.3g on average", name, largest,
                           sum / (double)count);
}

static void compare_examples(pair *p) {
    const bool pixels = ex_rig_layer_domain(p->a.rig, p->a.layer) == EX_DOMAIN_PIXELS;
    const bool vertices = ex_rig_vertex_count(p->a.rig) == ex_rig_vertex_count(p->b.rig);
    const int joints = ex_rig_joint_count(p->a.rig);
    p->examples = exi_difference_match(p->c, &(exi_named){.what = "example",
                                                          .where = p->where,
                                                          .name = example_name,
                                                          .layers = {p->a.layer, p->b.layer},
                                                          .counts = {p->a.def.example_count, p->b.def.example_count}});
    for (int i = 0; p->axes && p->examples && i < p->a.def.example_count; i++) {
        const int k = p->examples[i];
        const char *name = example_name(p->a.rig, p->a.layer, i);
        if (k < 0)
            continue;
        compare_place(p, i, k);
        if (pixels) {
            compare_images(p, i, k, name);
            continue;
        }
        if (vertices)
            compare_deltas(p, i, k, name);
        if (joints > 0 && joints == ex_rig_joint_count(p->b.rig))
            compare_shifts(p, i, k, name);
    }
}

/* ---- layers ---- */

static void compare_layer(exi_comparison *c, int a, int b) {
    pair p = {.c = c};
    snprintf(p.where, sizeof p.where, "layer '%.200s'", ex_rig_layer_name(c->a, a));
    const bool opened_a = open_side(&p.a, c->a, a), opened_b = open_side(&p.b, c->b, b);
    if (!opened_a || !opened_b) {
        c->failed = true;
    } else if (ex_rig_layer_domain(c->a, a) != ex_rig_layer_domain(c->b, b)) {
        exi_difference_add(c, "layer", p.where, 0, 0, "it is of pixels in one of them and of forms in the other");
    } else {
        compare_axes(&p);
        compare_weighers(&p);
        compare_examples(&p);
        if (p.axes)
            compare_pseudos(&p);
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
