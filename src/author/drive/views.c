/*
 * Driver vertices that regions look at when they weigh the keys (DrivenShape, equation 1, for a part of the driver):
 * those around the region's frame, weighted by a bell exp(-(g/(look s))^2 / 2) of the distance g along the driver, and,
 * with a small weight, all others, which tell apart keys that are alike nearby. A few hundred vertices, spread as the
 * weights are, tell as much as all.
 */
#include "author/drive/drive.h"
#include "runtime/base/result.h"

#include <math.h>

enum { NODE_SAMPLES = 300, WHOLE_SAMPLES = 2000 };

bool exi_drive_plan_add_view(exi_drive_plan *made, int frame, int most) {
    uint32_t *vertices = exi_arena_allocate(&made->arena, (size_t)most, sizeof *vertices);
    float *weights = exi_arena_allocate(&made->arena, (size_t)most, sizeof *weights);
    if (!vertices || !weights)
        return false;
    const int count = exi_graph_sample(&made->graph, made->order, made->room_two, most, vertices, weights);
    made->views[made->view_count++] =
        (ex_region){.frame = frame, .count = count, .vertices = vertices, .weights = weights};
    return true;
}

static ex_result no_memory(ex_error *error) {
    return ex_error_memory(error, "what regions look at", 8 * (size_t)WHOLE_SAMPLES);
}

double exi_drive_plan_importance(const exi_drive_plan *made, const ex_drive_options *o, int vertex) {
    return made->graph.areas[vertex] * (o->driver_weights ? (double)o->driver_weights[vertex] : 1);
}

ex_result exi_drive_plan_look_whole(exi_drive_plan *made, int frame, const ex_drive_options *o, ex_error *error) {
    made->views = exi_arena_allocate(&made->arena, 1, sizeof *made->views);
    for (int v = 0; v < made->graph.vertex_count; v++)
        made->room_two[v] = exi_drive_plan_importance(made, o, v);
    return made->views && exi_drive_plan_add_view(made, frame, WHOLE_SAMPLES) ? EX_OK : no_memory(error);
}

ex_result exi_drive_plan_look_nodes(exi_drive_plan *made, const exi_nodes *nodes, const ex_drive_options *o,
                                    ex_error *error) {
    const exi_graph *g = &made->graph;
    made->views = exi_arena_allocate(&made->arena, (size_t)nodes->count, sizeof *made->views);
    if (!made->views)
        return no_memory(error);
    for (int f = 0; f < nodes->count; f++) {
        double sum = 0;
        exi_graph_distances(g, &nodes->vertices[f], 1, made->room, NULL);
        for (int v = 0; v < g->vertex_count; v++) {
            const double x = made->room[v] / (o->look * nodes->spacing);
            made->room_two[v] = exi_drive_plan_importance(made, o, v) * (exp(-x * x / 2) + o->whole);
            sum += made->room_two[v];
        }
        /* All vertices nearby may have been given the weight 0. */
        for (int v = 0; !(sum > 0) && v < g->vertex_count; v++)
            made->room_two[v] = exi_drive_plan_importance(made, o, v);
        if (!exi_drive_plan_add_view(made, f, NODE_SAMPLES))
            return no_memory(error);
    }
    return EX_OK;
}
