/*
 * Regions made by hand. Each looks at the driver vertices that it was given, in the moving frame nearest to their
 * centre, and weighs driven vertices by its mask. The driver's own vertices belong to the regions that look at them;
 * the others belong to the nearest region along the driver.
 */
#include "author/base/array.h"
#include "author/drive/drive.h"
#include "runtime/base/result.h"

#include <math.h>
#include <stdlib.h>

enum { REGION_SAMPLES = 1000 };

static ex_result no_memory(const exi_drive_plan *made, ex_error *error) {
    return ex_error_memory(error, "the regions", 8 * (size_t)made->graph.vertex_count);
}

static ex_result check_values(const float *values, int count, int region, const char *what, ex_error *error) {
    for (int v = 0; v < count; v++)
        if (!(values[v] >= 0) || !isfinite(values[v]))
            return ex_error_set(error, EX_ERROR_DATA, "region %d: %s of vertex %d is %g, which is not 0 or more",
                                region + 1, what, v, (double)values[v]);
    return EX_OK;
}

/* ---- views of regions ---- */

/* Returns the node nearest to the region's centre; 0 if there are none. */
static int nearest_node(const exi_drive_plan *made, const exi_nodes *nodes) {
    const exi_graph *g = &made->graph;
    double middle[3] = {0}, sum = 0, least = INFINITY;
    int best = 0;
    for (int v = 0; v < g->vertex_count; v++) {
        sum += made->room_two[v];
        for (int c = 0; c < 3; c++)
            middle[c] += made->room_two[v] * (double)g->positions[3 * (size_t)v + (size_t)c];
    }
    for (int f = 0; nodes && f < nodes->count; f++) {
        double d = 0;
        for (int c = 0; c < 3; c++) {
            const double x = middle[c] / sum - (double)g->positions[3 * (size_t)nodes->vertices[f] + (size_t)c];
            d += x * x;
        }
        if (d < least) {
            least = d;
            best = f;
        }
    }
    return best;
}

static ex_result look(exi_drive_plan *made, const exi_nodes *nodes, const ex_drive_options *o, int region,
                      ex_error *error) {
    const float *values = o->regions[region].look;
    double sum = 0;
    for (int v = 0; v < made->graph.vertex_count; v++) {
        made->room_two[v] = exi_drive_plan_importance(made, o, v) * (double)values[v];
        sum += made->room_two[v];
    }
    if (!(sum > 0))
        return ex_error_set(error, EX_ERROR_DATA, "region %d looks at no vertex of the driver that has a weight",
                            region + 1);
    return exi_drive_plan_add_view(made, nearest_node(made, nodes), REGION_SAMPLES) ? EX_OK : no_memory(made, error);
}

/* ---- weights of vertices ---- */

typedef struct shares {
    uint32_t *starts;
    uint16_t *places;
    float *weights;
    size_t count;
} shares;

/* Adds a vertex's weights over the regions, scaled to sum to 1. False if they are all 0. */
static bool add_shares(shares *s, const ex_drive_options *o, bool of_driver, int vertex, size_t row) {
    double sum = 0;
    for (int r = 0; r < o->region_count; r++)
        sum += (double)(of_driver ? o->regions[r].look : o->regions[r].mask)[vertex];
    /* Leaves weights that already sum to 1 unchanged, so that an unpacked rig builds the same rig again. */
    const double scale = fabs(sum - 1) < 1e-7 ? 1 : 1 / sum;
    for (int r = 0; sum > 0 && r < o->region_count; r++) {
        const float value = (of_driver ? o->regions[r].look : o->regions[r].mask)[vertex];
        if (value > 0) {
            s->places[s->count] = (uint16_t)r;
            s->weights[s->count++] = (float)((double)value * scale);
        }
    }
    s->starts[row + 1] = (uint32_t)s->count;
    return sum > 0;
}

static void add_one(shares *s, int region, size_t row) {
    s->places[s->count] = (uint16_t)region;
    s->weights[s->count++] = 1;
    s->starts[row + 1] = (uint32_t)s->count;
}

/* Finds the nearest region along the driver for every driver vertex. Sources are the vertices that regions look at. */
static bool find_nearest(exi_drive_plan *made, const ex_drive_options *o, int *regions) {
    const int count = made->graph.vertex_count;
    int *sources = exi_array_allocate((size_t)count, sizeof *sources);
    int *owners = exi_array_allocate((size_t)count, sizeof *owners);
    int source_count = 0;
    for (int v = 0; sources && owners && v < count; v++)
        for (int r = 0; r < o->region_count; r++)
            if (o->regions[r].look[v] > 0) {
                sources[source_count] = v;
                owners[source_count++] = r;
                break;
            }
    if (sources && owners)
        exi_graph_distances(&made->graph, sources, source_count, made->room, regions);
    for (int v = 0; sources && owners && v < count; v++)
        regions[v] = regions[v] >= 0 ? owners[regions[v]] : 0;
    const bool good = sources && owners;
    free(sources);
    free(owners);
    return good;
}

static ex_result share_out(exi_drive_plan *made, const ex_drive_options *o, ex_error *error) {
    const size_t driver_count = (size_t)made->graph.vertex_count, driven_count = (size_t)made->driven_count;
    const size_t rows = driver_count + driven_count, most = rows * (size_t)o->region_count;
    int *nearest = exi_array_allocate(driver_count, sizeof *nearest);
    shares s = {.starts = exi_arena_allocate(&made->arena, rows + 1, sizeof *s.starts),
                .places = exi_arena_allocate(&made->arena, most, sizeof *s.places),
                .weights = exi_arena_allocate(&made->arena, most, sizeof *s.weights)};
    ex_result result =
        nearest && s.starts && s.places && s.weights && find_nearest(made, o, nearest) ? EX_OK : no_memory(made, error);
    for (size_t v = 0; result == EX_OK && v < driven_count; v++)
        if (!add_shares(&s, o, false, (int)v, v))
            result =
                ex_error_set(error, EX_ERROR_DATA,
                             "driven vertex %zu (counting from 0) is in no region: their masks are all 0 there", v);
    for (size_t v = 0; result == EX_OK && v < driver_count; v++)
        if (!add_shares(&s, o, true, (int)v, driven_count + v))
            add_one(&s, nearest[v], driven_count + v);
    free(nearest);
    made->regions = (ex_influences){.starts = s.starts, .places = s.places, .weights = s.weights};
    return result;
}

ex_result exi_drive_plan_look_regions(exi_drive_plan *made, const exi_nodes *nodes, const ex_drive_options *o,
                                      ex_error *error) {
    ex_result result = EX_OK;
    made->views = exi_arena_allocate(&made->arena, (size_t)o->region_count, sizeof *made->views);
    if (!made->views)
        return no_memory(made, error);
    for (int r = 0; result == EX_OK && r < o->region_count; r++) {
        if (!o->regions[r].look || !o->regions[r].mask)
            return exi_misuse_error(error, __func__, "a region needs vertices to look at, and a mask");
        result = check_values(o->regions[r].look, made->graph.vertex_count, r, "the weight", error);
        if (result == EX_OK)
            result = check_values(o->regions[r].mask, made->driven_count, r, "the mask", error);
        if (result == EX_OK)
            result = look(made, nodes, o, r, error);
    }
    if (result == EX_OK)
        result = share_out(made, o, error);
    if (o->region_count == 1) /* it weighs all vertices alike */
        made->regions = (ex_influences){0};
    return result;
}
