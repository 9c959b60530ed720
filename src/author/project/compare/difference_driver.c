/*
 * Differences between the drivers of two rigs: their meshes, moving frames and settling; forms of the driver at
 * examples; and predictors of layers that follow its motion.
 */
#include "author/project/compare/rig_difference.h"

#include "runtime/weigh/predictor.h"

#include <math.h>
#include <string.h>

static const char where[] = "driver";

static bool same_bytes(const void *a, const void *b, size_t size) {
    return (a == NULL) == (b == NULL) && (!a || memcmp(a, b, size) == 0);
}

static bool same_influences(const ex_influences *a, const ex_influences *b, size_t rows) {
    if (!a->starts || !b->starts)
        return !a->starts && !b->starts;
    return same_bytes(a->starts, b->starts, (rows + 1) * sizeof *a->starts) &&
           same_bytes(a->places, b->places, a->starts[rows] * sizeof *a->places) &&
           same_bytes(a->weights, b->weights, a->starts[rows] * sizeof *a->weights);
}

/* Compares the frames' positions, the vertices they are fitted to, and those they carry. */
static void compare_frames(exi_comparison *c, const ex_rig_driver *a, const ex_rig_driver *b) {
    const int frames = a->driver.frame_count;
    const size_t rows = (size_t)ex_rig_vertex_count(c->a) + (size_t)a->driver.vertex_count;
    if (frames != b->driver.frame_count) {
        exi_difference_add(c, "driver", where, 0, 0, "moving frames: %d in the first, %d in the second", frames,
                           b->driver.frame_count);
        return;
    }
    const size_t entries = a->driver.starts[frames];
    const bool same = same_bytes(a->driver.starts, b->driver.starts, ((size_t)frames + 1) * sizeof(uint32_t)) &&
                      same_bytes(a->driver.vertices, b->driver.vertices, entries * sizeof(uint32_t)) &&
                      same_bytes(a->driver.weights, b->driver.weights, entries * sizeof(float)) &&
                      same_bytes(a->joints, b->joints, (size_t)frames * sizeof(int));
    if (!same)
        exi_difference_add(c, "driver", where, 0, 0,
                           "its moving frames are fitted to other vertices, or follow something else");
    if (ex_rig_vertex_count(c->a) == ex_rig_vertex_count(c->b) && !same_influences(&a->carry, &b->carry, rows))
        exi_difference_add(c, "driver", where, 0, 0, "its moving frames carry other vertices");
}

static void compare_settling(exi_comparison *c, const ex_rig_driver *a, const ex_rig_driver *b) {
    const double thickness = fabs((double)a->thickness - (double)b->thickness);
    if (a->residual != b->residual)
        exi_difference_add(c, "driver", where, 0, 0, "the residual is carried by '%s' in the first, '%s' in the second",
                           ex_residual_name(a->residual), ex_residual_name(b->residual));
    if (a->push != b->push)
        exi_difference_add(c, "driver", where, 0, 0, "only the %s is pushed out of it", a->push ? "first" : "second");
    if (thickness > c->tolerance)
        exi_difference_add(c, "driver", where, thickness, 0, "the thickness differs by %g m", thickness);
    if (a->bind_count != b->bind_count ||
        (a->bind_count > 0 && ex_rig_vertex_count(c->a) == ex_rig_vertex_count(c->b) &&
         !same_bytes(a->vertex_binds, b->vertex_binds, (size_t)ex_rig_vertex_count(c->a) * sizeof *a->vertex_binds)))
        exi_difference_add(c, "driver", where, 0, 0, "vertices are bound to other faces of it");
}

void exi_difference_driver(exi_comparison *c) {
    ex_rig_driver a, b;
    const bool has_a = ex_rig_get_driver(c->a, &a, NULL), has_b = ex_rig_get_driver(c->b, &b, NULL);
    if (has_a != has_b)
        exi_difference_add(c, "driver", "", 0, 0, "driver '%s' is only in the %s", has_a ? a.name : b.name,
                           has_a ? "first" : "second");
    if (!has_a || !has_b)
        return;
    if (strcmp(a.name, b.name) != 0)
        exi_difference_add(c, "driver", where, 0, 0, "'%s' is called '%s' in the second", a.name, b.name);
    if (a.driver.vertex_count != b.driver.vertex_count || a.triangle_count != b.triangle_count) {
        exi_difference_add(c, "driver", where, 0, 0,
                           "%d vertices and %d triangles in the first, %d and %d in the second", a.driver.vertex_count,
                           a.triangle_count, b.driver.vertex_count, b.triangle_count);
    } else {
        const exi_spread moved = exi_spread_of(a.driver.reference, b.driver.reference, (size_t)a.driver.vertex_count);
        if (moved.largest > c->tolerance)
            exi_difference_add(c, "driver", where, moved.largest, moved.rms,
                               "vertex %d (counting from 0) is elsewhere by %.3g m, RMS %.3g m", moved.vertex,
                               moved.largest, moved.rms);
        if (!same_bytes(a.triangles, b.triangles, 3 * (size_t)a.triangle_count * sizeof *a.triangles))
            exi_difference_add(c, "driver", where, 0, 0, "its triangles differ");
        compare_frames(c, &a, &b);
    }
    compare_settling(c, &a, &b);
}

static double larger(double so_far, double difference) {
    return fabs(difference) > so_far ? fabs(difference) : so_far;
}

/* Compares the predictors of two layers that follow motion. */
void exi_difference_predictor(const exi_layer_pair *p) {
    const ex_predictor *x = ex_rig_layer_predictor(p->a.rig, p->a.layer),
                       *y = ex_rig_layer_predictor(p->b.rig, p->b.layer);
    if (!x || !y)
        return; /* compared as kinds of weigher */
    if (x->frame_count != y->frame_count || x->component_count != y->component_count ||
        x->landmark_count != y->landmark_count || x->weight_count != y->weight_count || x->sizes != y->sizes) {
        exi_difference_add(p->c, "weigher", p->where, 0, 0,
                           "its predictor has %d known states and %d components in the first, %d and %d in the second",
                           x->landmark_count, x->component_count, y->landmark_count, y->component_count);
        return;
    }
    const double first[] = {x->step, x->fastest, x->width, x->familiar, x->outside};
    const double second[] = {y->step, y->fastest, y->width, y->familiar, y->outside};
    double largest = 0;
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        largest = larger(largest, first[i] - second[i]);
    for (int i = 0; i < 3; i++)
        largest = larger(largest, (double)x->up[i] - (double)y->up[i]);
    const float *a = (const float *)(const void *)(x + 1), *b = (const float *)(const void *)(y + 1);
    for (size_t i = 0; i < ((size_t)x->size - sizeof *x) / sizeof *a; i++)
        largest = larger(largest, (double)a[i] - (double)b[i]);
    if (largest > p->c->tolerance)
        exi_difference_add(p->c, "weigher", p->where, largest, 0, "numbers of its predictor differ by up to %.3g",
                           largest);
}

void exi_difference_driver_form(exi_layer_pair *p, int a, int b) {
    const float *x = ex_rig_example_driver(p->a.rig, p->a.layer, a),
                *y = ex_rig_example_driver(p->b.rig, p->b.layer, b);
    ex_rig_driver first, second;
    if (!x || !y || !ex_rig_get_driver(p->a.rig, &first, NULL) || !ex_rig_get_driver(p->b.rig, &second, NULL) ||
        first.driver.vertex_count != second.driver.vertex_count)
        return;
    const exi_spread moved = exi_spread_of(x, y, (size_t)first.driver.vertex_count);
    if (moved.largest > p->c->tolerance)
        exi_difference_add(p->c, "example", p->where, moved.largest, moved.rms,
                           "the driver has another form at example '%s': vertex %d (counting from 0) by %.3g m, RMS "
                           "%.3g m",
                           ex_rig_example_name(p->a.rig, p->a.layer, a), moved.vertex, moved.largest, moved.rms);
}
