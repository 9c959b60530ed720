/*
 * The driver as a graph: shortest paths along edges (Dijkstra), vertex areas, connected pieces, and samples of
 * vertices. Paths along edges are up to a quarter longer than paths across faces, by nearly the same factor everywhere.
 * That does not affect their use here, which is to find the nearest frame.
 */
#include "author/base/array.h"
#include "author/drive/drive.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- edges and areas ---- */

static double edge_length(const float *positions, uint32_t a, uint32_t b) {
    double sum = 0;
    for (int c = 0; c < 3; c++) {
        const double d = (double)positions[3 * a + (uint32_t)c] - (double)positions[3 * b + (uint32_t)c];
        sum += d * d;
    }
    return sqrt(sum);
}

static double triangle_area(const float *positions, const uint32_t *corners) {
    double e[2][3];
    for (int i = 0; i < 2; i++)
        for (uint32_t c = 0; c < 3; c++)
            e[i][c] = (double)positions[3 * corners[i + 1] + c] - (double)positions[3 * corners[0] + c];
    const double x = e[0][1] * e[1][2] - e[0][2] * e[1][1], y = e[0][2] * e[1][0] - e[0][0] * e[1][2],
                 z = e[0][0] * e[1][1] - e[0][1] * e[1][0];
    return sqrt(x * x + y * y + z * z) / 2;
}

static void join(exi_graph *g) {
    for (int t = 0; t < g->triangle_count; t++) {
        const uint32_t *corners = g->triangles + 3 * (size_t)t;
        const double area = triangle_area(g->positions, corners);
        for (int i = 0; i < 3; i++) {
            g->areas[corners[i]] += area / 3;
            g->starts[corners[i] + 1] += 2;
        }
    }
    for (int v = 0; v < g->vertex_count; v++)
        g->starts[v + 1] += g->starts[v];
    int *next = g->heap_place; /* not in use yet */
    memcpy(next, g->starts, (size_t)g->vertex_count * sizeof *next);
    for (int t = 0; t < g->triangle_count; t++)
        for (int i = 0; i < 6; i++) {
            const uint32_t a = g->triangles[3 * (size_t)t + (size_t)(i % 3)];
            const uint32_t b = g->triangles[3 * (size_t)t + (size_t)((i % 3 + 1 + i / 3) % 3)];
            const int at = next[a]++;
            g->ends[at] = (int)b;
            g->lengths[at] = edge_length(g->positions, a, b);
        }
}

static void find_parts(exi_graph *g) {
    int *stack = g->heap;
    for (int v = 0; v < g->vertex_count; v++)
        g->parts[v] = -1;
    for (int v = 0; v < g->vertex_count; v++) {
        if (g->parts[v] >= 0)
            continue;
        int depth = 0;
        g->parts[v] = g->part_count;
        stack[depth++] = v;
        while (depth > 0) {
            const int at = stack[--depth];
            for (int i = g->starts[at]; i < g->starts[at + 1]; i++)
                if (g->parts[g->ends[i]] < 0) {
                    g->parts[g->ends[i]] = g->part_count;
                    stack[depth++] = g->ends[i];
                }
        }
        g->part_count++;
    }
}

bool exi_graph_open(exi_graph *g, exi_arena *arena, const float *positions, int vertex_count, const uint32_t *triangles,
                    int triangle_count) {
    const size_t count = (size_t)vertex_count, entries = 6 * (size_t)triangle_count;
    *g = (exi_graph){.vertex_count = vertex_count,
                     .triangle_count = triangle_count,
                     .positions = positions,
                     .triangles = triangles,
                     .areas = exi_arena_allocate(arena, count, sizeof *g->areas),
                     .starts = exi_arena_allocate(arena, count + 1, sizeof *g->starts),
                     .ends = exi_arena_allocate(arena, entries, sizeof *g->ends),
                     .lengths = exi_arena_allocate(arena, entries, sizeof *g->lengths),
                     .parts = exi_arena_allocate(arena, count, sizeof *g->parts),
                     .heap = exi_arena_allocate(arena, count, sizeof *g->heap),
                     .heap_place = exi_arena_allocate(arena, count, sizeof *g->heap_place)};
    if (!g->areas || !g->starts || !g->ends || !g->lengths || !g->parts || !g->heap || !g->heap_place)
        return false;
    join(g);
    find_parts(g);
    return true;
}

/* ---- shortest paths ---- */

/* A binary heap of vertices by distance; the lower index wins a tie. heap_place is -1 for vertices not in it. */
typedef struct front {
    int *heap, *place, count;
    const double *distances;
} front;

static bool before(const front *f, int a, int b) {
    const double x = f->distances[a], y = f->distances[b];
    return x < y || (x == y && a < b);
}

static void rise(front *f, int at) {
    const int vertex = f->heap[at];
    while (at > 0 && before(f, vertex, f->heap[(at - 1) / 2])) {
        f->heap[at] = f->heap[(at - 1) / 2];
        f->place[f->heap[at]] = at;
        at = (at - 1) / 2;
    }
    f->heap[at] = vertex;
    f->place[vertex] = at;
}

static int take_first(front *f) {
    const int first = f->heap[0], last = f->heap[--f->count];
    int at = 0;
    for (int child = 1; child < f->count; child = 2 * at + 1) {
        if (child + 1 < f->count && before(f, f->heap[child + 1], f->heap[child]))
            child++;
        if (!before(f, f->heap[child], last))
            break;
        f->heap[at] = f->heap[child];
        f->place[f->heap[at]] = at;
        at = child;
    }
    if (f->count > 0) {
        f->heap[at] = last;
        f->place[last] = at;
    }
    f->place[first] = -1;
    return first;
}

static void reach(front *f, double *distances, int vertex, double distance) {
    distances[vertex] = distance;
    if (f->place[vertex] < 0) {
        f->place[vertex] = f->count;
        f->heap[f->count++] = vertex;
    }
    rise(f, f->place[vertex]);
}

void exi_graph_distances(const exi_graph *g, const int *sources, int source_count, double *distances, int *nearest) {
    front f = {.heap = g->heap, .place = g->heap_place, .distances = distances};
    for (int v = 0; v < g->vertex_count; v++) {
        distances[v] = INFINITY;
        f.place[v] = -1;
        if (nearest)
            nearest[v] = -1;
    }
    for (int s = 0; s < source_count; s++)
        if (distances[sources[s]] > 0) {
            reach(&f, distances, sources[s], 0);
            if (nearest)
                nearest[sources[s]] = s;
        }
    while (f.count > 0) {
        const int at = take_first(&f);
        for (int i = g->starts[at]; i < g->starts[at + 1]; i++) {
            const double way = distances[at] + g->lengths[i];
            if (way < distances[g->ends[i]]) {
                reach(&f, distances, g->ends[i], way);
                if (nearest)
                    nearest[g->ends[i]] = nearest[at];
            }
        }
    }
}

/* ---- samples ---- */

typedef struct cell {
    uint64_t code;
    int vertex;
} cell;

static int compare_cells(const void *a, const void *b) {
    const cell *x = a, *y = b;
    return x->code != y->code ? (x->code < y->code ? -1 : 1) : (x->vertex > y->vertex) - (x->vertex < y->vertex);
}

/* Interleaves the bits of the three cell numbers (Morton): an order that visits all of a cube before leaving it. */
static uint64_t interleave(const uint32_t place[3]) {
    uint64_t code = 0;
    for (int bit = 15; bit >= 0; bit--)
        for (int c = 0; c < 3; c++)
            code = code << 1 | (place[c] >> bit & 1);
    return code;
}

bool exi_graph_order(const exi_graph *g, int *order) {
    float low[3] = {0}, high[3] = {0};
    cell *cells = exi_array_allocate((size_t)g->vertex_count, sizeof *cells);
    if (!cells)
        return false;
    for (int v = 0; v < g->vertex_count; v++)
        for (int c = 0; c < 3; c++) {
            const float x = g->positions[3 * (size_t)v + (size_t)c];
            low[c] = v == 0 || x < low[c] ? x : low[c];
            high[c] = v == 0 || x > high[c] ? x : high[c];
        }
    double size = 1e-30;
    for (int c = 0; c < 3; c++)
        size = (double)high[c] - (double)low[c] > size ? (double)high[c] - (double)low[c] : size;
    for (int v = 0; v < g->vertex_count; v++) {
        uint32_t place[3];
        for (int c = 0; c < 3; c++)
            place[c] = (uint32_t)(65535 * (((double)g->positions[3 * (size_t)v + (size_t)c] - (double)low[c]) / size));
        cells[v] = (cell){.code = interleave(place), .vertex = v};
    }
    qsort(cells, (size_t)g->vertex_count, sizeof *cells, compare_cells);
    for (int v = 0; v < g->vertex_count; v++)
        order[v] = cells[v].vertex;
    free(cells);
    return true;
}

/* Insertion sort: lists have a few hundred entries, nearly sorted in runs. */
static void sort_ascending(uint32_t *vertices, float *weights, int count) {
    for (int i = 1; i < count; i++) {
        const uint32_t vertex = vertices[i];
        const float weight = weights[i];
        int at = i;
        for (; at > 0 && vertices[at - 1] > vertex; at--) {
            vertices[at] = vertices[at - 1];
            weights[at] = weights[at - 1];
        }
        vertices[at] = vertex;
        weights[at] = weight;
    }
}

int exi_graph_sample(const exi_graph *g, const int *order, const double *weights, int most, uint32_t *vertices,
                     float *picked) {
    double sum = 0, largest = 0;
    int positive = 0, count = 0;
    for (int v = 0; v < g->vertex_count; v++) {
        sum += weights[v];
        largest = weights[v] > largest ? weights[v] : largest;
    }
    /* Drops weights below a millionth of the largest: they are negligible, and could become 0 as floats. */
    for (int v = 0; v < g->vertex_count; v++)
        positive += weights[v] > 1e-6 * largest;
    if (positive <= most) {
        for (int v = 0; v < g->vertex_count; v++)
            if (weights[v] > 1e-6 * largest) {
                vertices[count] = (uint32_t)v;
                picked[count++] = (float)(weights[v] / sum);
            }
        return count;
    }
    double passed = 0;
    for (int i = 0, taken = 0; i < g->vertex_count && taken < most; i++) {
        int pieces = 0;
        passed += weights[order[i]] / sum;
        while (taken < most && (taken + 0.5) / most <= passed) {
            taken++;
            pieces++;
        }
        if (pieces > 0) {
            vertices[count] = (uint32_t)order[i];
            picked[count++] = (float)((double)pieces / most);
        }
    }
    sort_ascending(vertices, picked, count);
    return count;
}
