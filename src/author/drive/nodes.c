/*
 * Positions of the moving frames of parts: nodes at driver vertices that driven ones lie on. Spreads them evenly by
 * repeatedly taking the vertex farthest from the nodes so far. Distances are measured along the driver, so that an arm
 * is far from the side that it hangs beside.
 */
#include "author/base/array.h"
#include "author/drive/drive.h"
#include "runtime/base/result.h"

#include <exemplar/settle.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- feet ---- */

static void set_foot(const uint32_t *corners, const ex_closest *closest, exi_foot *foot) {
    foot->shares[0] = 1 - closest->u - closest->v;
    foot->shares[1] = closest->u;
    foot->shares[2] = closest->v;
    for (int i = 0; i < 3; i++)
        foot->corners[i] = corners[i];
    const int best = foot->shares[1] > foot->shares[0] ? 1 : 0;
    foot->nearest = (int)corners[foot->shares[2] > foot->shares[best] ? 2 : best];
}

/* Finds the feet of the driven vertices of one bind, on the given triangles [count][3]. */
static ex_result find_feet(const exi_graph *g, const uint32_t *triangles, int count, const ex_drive_options *o,
                           int bind, const float *driven, int driven_count, exi_foot *feet, ex_error *error) {
    ex_tree *tree = NULL;
    ex_result result = ex_tree_create(&(ex_tree_def){.vertex_count = g->vertex_count,
                                                     .positions = g->positions,
                                                     .triangle_count = count,
                                                     .triangles = triangles},
                                      NULL, &tree, error);
    void *memory = result == EX_OK ? malloc(ex_bounds_size(tree)) : NULL;
    if (result == EX_OK && !memory)
        result = ex_error_memory(error, "the driver's triangles", ex_bounds_size(tree));
    const ex_bounds *fit = result == EX_OK ? ex_bounds_fit(tree, g->positions, 0, memory, NULL) : NULL;
    for (int v = 0; fit && v < driven_count; v++) {
        ex_closest closest;
        if (o->bind_count > 0 && o->vertex_binds[v] != bind)
            continue;
        if (ex_bounds_closest(fit, driven + 3 * (size_t)v, INFINITY, &closest))
            set_foot(triangles + 3 * (size_t)closest.triangle, &closest, &feet[v]);
        else
            result = ex_error_set(error, EX_ERROR_DATA,
                                  "driven vertex %d is too far away to find its place on the driver", v);
    }
    free(memory);
    ex_tree_destroy(tree);
    return result;
}

static bool is_used(const ex_drive_options *o, int bind, int driven_count) {
    for (int v = 0; v < driven_count; v++)
        if (o->vertex_binds[v] == bind)
            return true;
    return false;
}

ex_result exi_nodes_feet(const exi_graph *g, const ex_drive_options *o, const float *driven, int driven_count,
                         exi_foot *feet, ex_error *error) {
    ex_result result = EX_OK;
    for (int b = 0; result == EX_OK && b < o->bind_count; b++) {
        if (!is_used(o, b, driven_count))
            continue;
        const ex_bind *bind = &o->binds[b];
        uint32_t *triangles = exi_array_allocate(3 * (size_t)bind->triangle_count, sizeof *triangles);
        if (!triangles)
            return ex_error_memory(error, "a bind", 12 * (size_t)bind->triangle_count);
        for (int t = 0; t < bind->triangle_count; t++)
            memcpy(triangles + 3 * (size_t)t, g->triangles + 3 * (size_t)bind->triangles[t], 3 * sizeof *triangles);
        result = find_feet(g, triangles, bind->triangle_count, o, b, driven, driven_count, feet, error);
        free(triangles);
    }
    if (result == EX_OK && (o->bind_count == 0 || is_used(o, o->bind_count, driven_count)))
        result = find_feet(g, g->triangles, g->triangle_count, o, o->bind_count, driven, driven_count, feet, error);
    return result;
}

/* ---- spreading ---- */

/* Returns the candidate farthest from the present nodes. Connected pieces of the driver without a node come first,
 * those with the most driven vertices before others. -1 if all candidates are nodes. */
static int farthest(const exi_graph *g, const int *loads, const int *part_loads, const double *distances) {
    int best = -1;
    for (int v = 0; v < g->vertex_count; v++) {
        if (loads[v] == 0 || !(distances[v] > 0))
            continue;
        const bool both = best >= 0 && isinf(distances[best]) && isinf(distances[v]);
        if (best < 0 || (both ? part_loads[g->parts[v]] > part_loads[g->parts[best]] : distances[v] > distances[best]))
            best = v;
    }
    return best;
}

/* Mean distance between nodes. If no distance is known, the side of a square with a node's share of the area. */
static double mean_spacing(const exi_graph *g, const double *nearest, int count) {
    double sum = 0, area = 0;
    int known = 0;
    for (int i = 0; i < count; i++)
        if (isfinite(nearest[i])) {
            sum += nearest[i];
            known++;
        }
    for (int v = 0; v < g->vertex_count; v++)
        area += g->areas[v];
    return known > 0 ? sum / known : sqrt(area / count);
}

bool exi_nodes_spread(const exi_graph *g, const exi_foot *feet, int driven_count, int wanted, exi_arena *arena,
                      exi_nodes *nodes) {
    const size_t count = (size_t)g->vertex_count;
    nodes->vertices = exi_arena_allocate(arena, (size_t)wanted, sizeof *nodes->vertices);
    nodes->count = 0;
    int *loads = calloc(count, sizeof *loads), *part_loads = calloc((size_t)g->part_count, sizeof *part_loads);
    double *distances = exi_array_allocate(count, sizeof *distances);
    double *from_one = exi_array_allocate(count, sizeof *from_one);
    double *nearest = exi_array_allocate((size_t)wanted, sizeof *nearest);
    const bool good = nodes->vertices && loads && part_loads && distances && from_one && nearest;
    for (int v = 0; good && v < driven_count; v++) {
        loads[feet[v].nearest]++;
        part_loads[g->parts[feet[v].nearest]]++;
    }
    for (size_t v = 0; good && v < count; v++)
        distances[v] = INFINITY;
    while (good && nodes->count < wanted) {
        const int next = farthest(g, loads, part_loads, distances);
        if (next < 0)
            break;
        nearest[nodes->count] = distances[next];
        exi_graph_distances(g, &next, 1, from_one, NULL);
        for (size_t v = 0; v < count; v++)
            distances[v] = from_one[v] < distances[v] ? from_one[v] : distances[v];
        for (int i = 0; i < nodes->count; i++) {
            const double way = from_one[nodes->vertices[i]];
            nearest[i] = way < nearest[i] ? way : nearest[i];
        }
        nodes->vertices[nodes->count++] = next;
    }
    if (good)
        nodes->spacing = mean_spacing(g, nearest, nodes->count);
    free(loads);
    free(part_loads);
    free(distances);
    free(from_one);
    free(nearest);
    return good;
}
