/*
 * Brings rotations of triangles onto one branch. A rotation vector is one of many: w (1 + 2 pi k / |w|) gives the same
 * rotation at the end, but not half-way. Neighbours should rotate the same way. Triangles are visited along a tree of
 * least differences in rotation (Prim's, from the least rotated of the largest component). Each takes the k that brings
 * it nearest to the triangle that it was reached from; other components are reached over their links.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "author/base/array.h"
#include "author/mesh/half_edges.h"
#include "author/trajectory/surface.h"
#include "runtime/base/functions.inl"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

/* ---- neighbours ---- */

/* Finds triangles that share edges: neighbours[3 t + k] is a triangle, or -1. More than two at an edge are paired. */
bool exi_surface_neighbours(int triangle_count, const int *triangles, int *neighbours) {
    const int count = 3 * triangle_count;
    exi_half_edge *edges = exi_array_allocate((size_t)count, sizeof *edges);
    if (!edges)
        return false;
    for (int i = 0; i < count; i++) {
        edges[i] = exi_half_edge_of(triangles[i], triangles[i % 3 == 2 ? i - 2 : i + 1], i);
        neighbours[i] = -1;
    }
    exi_half_edges_sort(edges, count);
    for (int i = 0, end; i < count; i = end) {
        end = exi_half_edges_end(edges, i, count);
        for (; i + 1 < end; i += 2) {
            neighbours[edges[i].side] = edges[i + 1].side / 3;
            neighbours[edges[i + 1].side] = edges[i].side / 3;
        }
    }
    free(edges);
    return true;
}

/* ---- visits ---- */

/* A heap of triangles to visit, the least difference first; ties by index, so that the order is deterministic. */
typedef struct visit {
    float difference;
    int triangle, from;
} visit;

typedef struct heap {
    visit *items;
    size_t count, capacity;
} heap;

static bool earlier(const visit *a, const visit *b) {
    return a->difference != b->difference ? a->difference < b->difference : a->triangle < b->triangle;
}

static bool push(heap *h, visit item) {
    visit *grown = exi_array_grow(h->items, &h->capacity, h->count + 1, sizeof *h->items);
    if (!grown)
        return false;
    h->items = grown;
    size_t i = h->count++;
    for (; i > 0 && earlier(&item, &h->items[(i - 1) / 2]); i = (i - 1) / 2)
        h->items[i] = h->items[(i - 1) / 2];
    h->items[i] = item;
    return true;
}

static visit pop(heap *h) {
    const visit first = h->items[0], last = h->items[--h->count];
    size_t i = 0;
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= h->count)
            break;
        if (child + 1 < h->count && earlier(&h->items[child + 1], &h->items[child]))
            child++;
        if (!earlier(&h->items[child], &last))
            break;
        h->items[i] = h->items[child];
        i = child;
    }
    if (h->count)
        h->items[i] = last;
    return first;
}

/* Difference of two principal rotations: the sine of half the angle between them. */
static float difference(const float *quaternions, int a, int b) {
    double dot = 0;
    for (int i = 0; i < 4; i++)
        dot += (double)quaternions[4 * a + i] * quaternions[4 * b + i];
    return (float)sqrt(fmax(1 - dot * dot, 0));
}

/* Visits the component of `root`, reached from a triangle of another component, or from none (-1). */
static bool spread(ex_between *b, const float *quaternions, bool *visited, heap *h, int root, int from) {
    static const double none[3] = {0};
    h->count = 0;
    if (!push(h, (visit){0, root, from}))
        return false;
    while (h->count) {
        const visit next = pop(h);
        if (visited[next.triangle])
            continue;
        visited[next.triangle] = true;
        double *turn = b->turns + 3 * next.triangle;
        if (isnan(turn[0])) /* has no rotation */
            memcpy(turn, next.from >= 0 ? b->turns + 3 * next.from : none, 3 * sizeof *turn);
        else if (next.from >= 0)
            exi_turn_nearest(turn, b->turns + 3 * next.from);
        for (int k = 0; k < 3; k++) {
            const int other = b->neighbours[3 * next.triangle + k];
            if (other >= 0 && !visited[other] &&
                !push(h, (visit){difference(quaternions, next.triangle, other), other, next.triangle}))
                return false;
        }
    }
    return true;
}

static int first_triangle(const ex_between *b, int vertex) {
    const int begin = b->triangle_starts[vertex];
    return begin < b->triangle_starts[vertex + 1] ? b->triangle_list[begin] / 3 : -1;
}

/* Follows every link from a visited to an unvisited component. *on: true if there was any. */
static bool follow_links(ex_between *b, const float *quaternions, bool *visited, heap *h, bool *on) {
    bool done = true;
    *on = false;
    for (int l = 0; done && l < b->link_count; l++) {
        const int one = first_triangle(b, b->links[l].vertices[0]), two = first_triangle(b, b->links[l].vertices[1]);
        if (one < 0 || two < 0 || visited[one] == visited[two])
            continue;
        done =
            visited[one] ? spread(b, quaternions, visited, h, two, one) : spread(b, quaternions, visited, h, one, two);
        *on = true;
    }
    return done;
}

typedef struct turned {
    double angle;
    int triangle;
} turned;

static int compare_turned(const void *a, const void *b) {
    const turned *x = a, *y = b;
    if (x->angle != y->angle)
        return x->angle < y->angle ? -1 : 1;
    return x->triangle < y->triangle ? -1 : x->triangle > y->triangle;
}

/* Returns the component with the most vertices, the first of equals. -1 without memory. */
static int largest_component(const ex_between *b) {
    int *counts = calloc((size_t)b->component_count + 1, sizeof *counts), largest = 0;
    if (!counts)
        return -1;
    for (int v = 0; v < b->vertex_count; v++)
        counts[b->components[v]]++;
    for (int c = 1; c < b->component_count; c++)
        largest = counts[c] > counts[largest] ? c : largest;
    free(counts);
    return largest;
}

static bool choose_branches(ex_between *b) {
    const int count = b->triangle_count;
    float *quaternions = exi_array_allocate(4 * (size_t)count, sizeof *quaternions);
    bool *visited = calloc((size_t)count + 1, sizeof *visited);
    turned *order = exi_array_allocate((size_t)count, sizeof *order);
    heap h = {0};
    bool done = quaternions && visited && order && exi_surface_neighbours(count, b->triangles, b->neighbours);
    for (int t = 0; done && t < count; t++) {
        const bool has = !isnan(b->turns[3 * t]);
        const double angle = has ? sqrt(exi_dot3(b->turns + 3 * t, b->turns + 3 * t)) : 0;
        double sine, cosine;
        exi_sin_cos(angle / 2, &sine, &cosine);
        const double factor = angle > 1e-9 ? sine / angle : 0.5;
        for (int i = 0; i < 3; i++)
            quaternions[4 * t + i] = has ? (float)(factor * b->turns[3 * t + i]) : 0;
        quaternions[4 * t + 3] = (float)cosine;
        order[t] = (turned){has ? angle : 10, t}; /* those without a rotation come last */
    }
    if (done)
        qsort(order, (size_t)count, sizeof *order, compare_turned);
    const int largest = largest_component(b);
    done = done && largest >= 0;
    for (int pass = 0; pass < 2; pass++) /* second pass: what no link reached */
        for (int i = 0; done && i < count; i++) {
            const int root = order[i].triangle;
            if (visited[root] || (pass == 0 && b->components[b->triangles[3 * root]] != largest))
                continue;
            done = spread(b, quaternions, visited, &h, root, -1);
            for (bool on = true; done && on;) /* follow links from here, and on from there */
                done = follow_links(b, quaternions, visited, &h, &on);
        }
    free(h.items);
    free(order);
    free(visited);
    free(quaternions);
    return done;
}

/* ---- entry points ---- */

/* Removes neighbours without area: from here on a rotation leans on its neighbours, and these have no facing. */
static void forget_flat_neighbours(ex_between *b) {
    for (int i = 0; i < 3 * b->triangle_count; i++)
        if (b->neighbours[i] >= 0 && b->areas[b->neighbours[i]] == 0)
            b->neighbours[i] = -1;
}

ex_result exi_surface_branch(ex_between *b, ex_error *error) {
    if (!choose_branches(b))
        return ex_error_memory(error, "branches of rotations", 60 * (size_t)b->triangle_count);
    forget_flat_neighbours(b);
    return EX_OK;
}
