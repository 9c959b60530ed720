/*
 * Weights of the moving frames that carry a vertex: of the nodes n_1, n_2, … nearest to it along the driver, at d_1 <=
 * d_2 <= …, the first k have the weights (1 - d_i / d_(k+1))^2. A node fades out before another replaces it, so the
 * weights are smooth over the driver. A driven vertex measures from its foot, which may jump across a gap from one
 * neighbour to the next (from the arm to the side); averaging over the driven mesh keeps it together there.
 */
#include "author/base/array.h"
#include "author/drive/drive.h"
#include "runtime/base/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rounds of averaging over neighbours. */
enum { SMOOTHING = 4 };

/* The nearest nodes found so far for each vertex: rows of `width`, and the number of nodes in each row. */
typedef struct near_list {
    int width, vertex_count;
    int *counts;
    uint16_t *places;
    double *values; /* distances, then weights */
} near_list;

static bool open_list(near_list *n, int vertex_count, int width) {
    const size_t rows = (size_t)vertex_count, entries = rows * (size_t)width;
    *n = (near_list){.width = width,
                     .vertex_count = vertex_count,
                     .counts = calloc(rows + 1, sizeof *n->counts),
                     .places = exi_array_allocate(entries, sizeof *n->places),
                     .values = exi_array_allocate(entries, sizeof *n->values)};
    return n->counts && n->places && n->values;
}

static void close_list(near_list *n) {
    free(n->counts);
    free(n->places);
    free(n->values);
}

/* Inserts a node if it is among the nearest; the lower index wins a tie. */
static void add_near(near_list *n, int vertex, int place, double distance) {
    uint16_t *places = n->places + (size_t)vertex * (size_t)n->width;
    double *values = n->values + (size_t)vertex * (size_t)n->width;
    int at = n->counts[vertex];
    if (at == n->width && !(distance < values[at - 1]))
        return;
    at = at == n->width ? at - 1 : n->counts[vertex]++;
    for (; at > 0 && distance < values[at - 1]; at--) {
        places[at] = places[at - 1];
        values[at] = values[at - 1];
    }
    places[at] = (uint16_t)place;
    values[at] = distance;
}

/* Turns distances into weights. The last node of a full row only marks where the weights reach 0. With too few nodes
 * for that, they reach it one spacing beyond the nearest. */
static void weigh_row(near_list *n, int vertex, double spacing) {
    double *values = n->values + (size_t)vertex * (size_t)n->width, sum = 0;
    int *count = &n->counts[vertex];
    const bool full = *count == n->width && n->width > 1;
    const double end = full ? values[*count - 1] : values[0] + spacing;
    *count -= full;
    for (int i = 0; i < *count; i++) {
        const double x = !(end > 0) ? 1 : values[i] < end ? 1 - values[i] / end : 0;
        values[i] = x * x + 1e-12; /* all at the end of the falloff: equal weights */
        sum += values[i];
    }
    for (int i = 0; i < *count; i++)
        values[i] /= sum;
}

/* ---- distances ---- */

static double foot_distance(const exi_foot *foot, const double *distances) {
    double sum = 0;
    for (int i = 0; i < 3; i++)
        sum += foot->shares[i] > 0 ? (double)foot->shares[i] * distances[foot->corners[i]] : 0;
    return sum;
}

/* Uses straight-line distances for vertices that no path along the driver joins to a node. */
static void add_through_air(near_list *n, int vertex, const float *at, const exi_graph *g, const exi_nodes *nodes) {
    for (int f = 0; f < nodes->count; f++) {
        double sum = 0;
        for (int c = 0; c < 3; c++) {
            const double d = (double)at[c] - (double)g->positions[3 * (size_t)nodes->vertices[f] + (size_t)c];
            sum += d * d;
        }
        add_near(n, vertex, f, sqrt(sum));
    }
}

static void measure(exi_drive_plan *made, const exi_nodes *nodes, const float *driven, near_list *n) {
    const exi_graph *g = &made->graph;
    for (int f = 0; f < nodes->count; f++) {
        exi_graph_distances(g, &nodes->vertices[f], 1, made->room, NULL);
        for (int v = 0; v < made->driven_count; v++) {
            const double d = foot_distance(&made->feet[v], made->room);
            if (isfinite(d))
                add_near(n, v, f, d);
        }
        for (int v = 0; v < g->vertex_count; v++)
            if (isfinite(made->room[v]))
                add_near(n, made->driven_count + v, f, made->room[v]);
    }
    for (int v = 0; v < n->vertex_count; v++) {
        if (n->counts[v] == 0)
            add_through_air(n, v,
                            v < made->driven_count ? driven + 3 * (size_t)v
                                                   : g->positions + 3 * (size_t)(v - made->driven_count),
                            g, nodes);
        weigh_row(n, v, nodes->spacing);
    }
}

/* ---- averaging ---- */

/* Keeps the largest of the dense weights [count], less the next largest, so that none appears or vanishes at once. */
static void keep_heaviest(const double *dense, int count, near_list *n, int vertex) {
    const int most = n->width > 1 ? n->width - 1 : 1;
    double *values = n->values + (size_t)vertex * (size_t)n->width, sum = 0;
    n->counts[vertex] = 0;
    for (int f = 0; f < count; f++)
        if (dense[f] > 0)
            add_near(n, vertex, f, -dense[f]);
    const double next = n->counts[vertex] > most ? -values[most] : 0;
    n->counts[vertex] = n->counts[vertex] > most ? most : n->counts[vertex];
    for (int i = 0; i < n->counts[vertex]; i++) {
        values[i] = -values[i] - next + 1e-12;
        sum += values[i];
    }
    for (int i = 0; i < n->counts[vertex]; i++)
        values[i] /= sum;
}

static void add_row(const near_list *n, int vertex, double factor, double *dense) {
    for (int i = 0; i < n->counts[vertex]; i++) {
        const size_t at = (size_t)vertex * (size_t)n->width + (size_t)i;
        dense[n->places[at]] += factor * n->values[at];
    }
}

/* Averages: half a driven vertex's weights, half the mean of its neighbours. */
static bool smooth(const exi_graph *mesh, int node_count, near_list *n) {
    near_list next;
    double *dense = exi_array_allocate((size_t)node_count, sizeof *dense);
    bool good = open_list(&next, n->vertex_count, n->width) && dense;
    for (int round = 0; good && round < SMOOTHING; round++) {
        for (int v = 0; v < mesh->vertex_count; v++) {
            const int degree = mesh->starts[v + 1] - mesh->starts[v];
            memset(dense, 0, (size_t)node_count * sizeof *dense);
            add_row(n, v, degree > 0 ? 0.5 : 1, dense);
            for (int i = mesh->starts[v]; i < mesh->starts[v + 1]; i++)
                add_row(n, mesh->ends[i], 0.5 / degree, dense);
            keep_heaviest(dense, node_count, &next, v);
        }
        const size_t rows = (size_t)mesh->vertex_count, entries = rows * (size_t)n->width;
        memcpy(n->counts, next.counts, rows * sizeof *n->counts);
        memcpy(n->places, next.places, entries * sizeof *n->places);
        memcpy(n->values, next.values, entries * sizeof *n->values);
    }
    close_list(&next);
    free(dense);
    return good;
}

static bool smooth_driven(exi_drive_plan *made, const exi_nodes *nodes, const ex_mesh *driven, const float *positions,
                          near_list *n, ex_error *error, ex_result *result) {
    exi_arena arena = {0};
    int *corners = NULL, count = 0;
    *result = ex_mesh_triangulate(driven, &corners, &count, error);
    if (*result != EX_OK)
        return true;
    uint32_t *triangles = exi_arena_allocate(&arena, 3 * (size_t)count, sizeof *triangles);
    for (size_t i = 0; triangles && i < 3 * (size_t)count; i++)
        triangles[i] = (uint32_t)driven->corners[corners[i]];
    free(corners);
    exi_graph graph;
    const bool good = triangles && exi_graph_open(&graph, &arena, positions, made->driven_count, triangles, count) &&
                      smooth(&graph, nodes->count, n);
    exi_arena_free(&arena);
    return good;
}

/* ---- the list ---- */

/* Writes floats that sum to 1 as closely as they can: the first, the largest, takes the rounding error. */
static bool write_influences(exi_drive_plan *made, const near_list *n) {
    size_t total = 0, at = 0;
    for (int v = 0; v < n->vertex_count; v++)
        total += (size_t)n->counts[v];
    uint32_t *starts = exi_arena_allocate(&made->arena, (size_t)n->vertex_count + 1, sizeof *starts);
    uint16_t *places = exi_arena_allocate(&made->arena, total, sizeof *places);
    float *weights = exi_arena_allocate(&made->arena, total, sizeof *weights);
    if (!starts || !places || !weights)
        return false;
    for (int v = 0; v < n->vertex_count; v++) {
        const size_t row = (size_t)v * (size_t)n->width, first = at;
        double sum = 0;
        for (int i = 0; i < n->counts[v]; i++) {
            const float weight = (float)n->values[row + (size_t)i];
            /* Negligible weights are left out, but never all of them. */
            if (weight < 1e-6F && i > 0)
                continue;
            places[at] = n->places[row + (size_t)i];
            weights[at++] = weight;
            sum += i > 0 ? (double)weight : 0;
        }
        weights[first] = (float)(1 - sum);
        starts[v + 1] = (uint32_t)at;
    }
    made->driver.carry = (ex_influences){.starts = starts, .places = places, .weights = weights};
    return true;
}

ex_result exi_drive_plan_carry(exi_drive_plan *made, const exi_nodes *nodes, const ex_mesh *driven,
                               const float *positions, const ex_drive_options *o, ex_error *error) {
    const int vertex_count = made->driven_count + made->graph.vertex_count;
    const int width = o->influences < nodes->count ? o->influences + 1 : nodes->count + 1;
    near_list n;
    ex_result result = EX_OK;
    bool good = open_list(&n, vertex_count, width);
    if (good) {
        measure(made, nodes, positions, &n);
        good = smooth_driven(made, nodes, driven, positions, &n, error, &result);
    }
    if (good && result == EX_OK)
        good = write_influences(made, &n);
    close_list(&n);
    return good ? result : ex_error_memory(error, "the influences of moving frames", 12 * (size_t)vertex_count);
}
