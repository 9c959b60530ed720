/*
 * Nodes of a mixture: places spread over the surface, each farthest from those before it along the edges of the mesh. A
 * vertex follows its four nearest nodes, with shares (1 - d / d_5)^2 of their distances d; d_5 is that of the fifth, so
 * that a node fades out before another takes its place.
 *
 * A node's place in a form is the mean of the vertices that follow it, and its turn the mean rotation of the triangles
 * there, on their branch. Two nodes are joined by an edge if they carry the same vertices, with a weight of as much
 * area, over the square of their distance.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "author/base/array.h"
#include "author/trajectory/mixture/mixture.h"
#include "author/trajectory/sets.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"
#include "runtime/pose/matrix.h"

#define MOST         160  /* nodes */
#define VERTICES     16   /* a node has at least this many */
#define WEAKEST_EDGE 0.03 /* of the strongest edge of one of its nodes */

enum { NEAREST = EX_NODE_SHARES + 1 };

/* ---- distances along edges ---- */

typedef struct visit {
    double distance;
    int vertex, node;
} visit;

typedef struct walk {
    const ex_between *between;
    int *link_starts, *link_ends; /* [vertex_count + 1], [2 link_count]: the vertices that links lead to */
    double *link_lengths;
    visit *heap;
    size_t count, capacity;
} walk;

static bool before(const visit *a, const visit *b) {
    if (a->distance != b->distance)
        return a->distance < b->distance;
    return a->vertex != b->vertex ? a->vertex < b->vertex : a->node < b->node;
}

static bool push(walk *w, visit item) {
    visit *grown = exi_array_grow(w->heap, &w->capacity, w->count + 1, sizeof *w->heap);
    if (!grown)
        return false;
    w->heap = grown;
    size_t at = w->count++;
    for (; at > 0 && before(&item, &grown[(at - 1) / 2]); at = (at - 1) / 2)
        grown[at] = grown[(at - 1) / 2];
    grown[at] = item;
    return true;
}

static visit pop(walk *w) {
    const visit first = w->heap[0], last = w->heap[--w->count];
    size_t at = 0;
    for (size_t child = 1; child < w->count; child = 2 * at + 1) {
        child += child + 1 < w->count && before(&w->heap[child + 1], &w->heap[child]);
        if (!before(&w->heap[child], &last))
            break;
        w->heap[at] = w->heap[child];
        at = child;
    }
    if (w->count > 0)
        w->heap[at] = last;
    return first;
}

static double length(const ex_between *b, int u, int v) {
    double d[3];
    exi_subtract(b->start + 3 * (size_t)u, b->start + 3 * (size_t)v, d);
    return sqrt(exi_dot3(d, d));
}

static bool open_walk(const ex_between *b, walk *w) {
    const size_t n = (size_t)b->vertex_count, links = 2 * (size_t)b->link_count;
    *w = (walk){.between = b,
                .link_starts = calloc(n + 1, sizeof *w->link_starts),
                .link_ends = exi_array_allocate(links, sizeof *w->link_ends),
                .link_lengths = exi_array_allocate(links, sizeof *w->link_lengths)};
    if (!w->link_starts || !w->link_ends || !w->link_lengths)
        return false;
    for (size_t i = 0; i < links; i++)
        w->link_starts[b->links[i / 2].vertices[i % 2] + 1]++;
    for (size_t v = 0; v < n; v++)
        w->link_starts[v + 1] += w->link_starts[v];
    for (size_t i = links; i-- > 0;) {
        const int *ends = b->links[i / 2].vertices, place = --w->link_starts[ends[i % 2] + 1];
        w->link_ends[place] = ends[1 - i % 2];
        w->link_lengths[place] = length(b, ends[0], ends[1]);
    }
    /* each start has moved to the begin of its own: start v is now where v + 1 was; shift back */
    memmove(w->link_starts, w->link_starts + 1, n * sizeof *w->link_starts);
    w->link_starts[n] = (int)links;
    return true;
}

static void close_walk(walk *w) {
    free(w->heap);
    free(w->link_lengths);
    free(w->link_ends);
    free(w->link_starts);
}

/* Visits the neighbours of a vertex. */
static bool go_on(walk *w, visit from, const double *least) {
    const ex_between *b = w->between;
    bool done = true;
    for (int k = b->triangle_starts[from.vertex]; done && k < b->triangle_starts[from.vertex + 1]; k++) {
        const int *corners = b->triangles + 3 * (size_t)(b->triangle_list[k] / 3), own = b->triangle_list[k] % 3;
        for (int i = 1; done && i < 3; i++) {
            const int to = corners[(own + i) % 3];
            const double distance = from.distance + length(b, from.vertex, to);
            if (!least || distance < least[to])
                done = push(w, (visit){distance, to, from.node});
        }
    }
    for (int k = w->link_starts[from.vertex]; done && k < w->link_starts[from.vertex + 1]; k++) {
        const double distance = from.distance + w->link_lengths[k];
        if (!least || distance < least[w->link_ends[k]])
            done = push(w, (visit){distance, w->link_ends[k], from.node});
    }
    return done;
}

/* ---- choosing ---- */

/* Lowers the distances to the nearest node by those of another one. */
static bool spread(walk *w, int node, double *least) {
    w->count = 0;
    bool done = push(w, (visit){0, node, 0});
    while (done && w->count > 0) {
        const visit at = pop(w);
        if (at.distance >= least[at.vertex])
            continue;
        least[at.vertex] = at.distance;
        done = go_on(w, at, least);
    }
    return done;
}

static bool choose(walk *w, int count, int *chosen) {
    const ex_between *b = w->between;
    const size_t n = (size_t)b->vertex_count;
    double *least = exi_array_allocate(n, sizeof *least), farthest = -1;
    bool done = least != NULL;
    for (size_t v = 0; done && v < n; v++) {
        double d[3];
        least[v] = INFINITY;
        exi_subtract(b->start + 3 * v, b->centre, d);
        if (exi_dot3(d, d) > farthest) {
            farthest = exi_dot3(d, d);
            chosen[0] = (int)v;
        }
    }
    for (int k = 0; done && k < count; k++) {
        if (k > 0) {
            size_t next = 0;
            for (size_t v = 1; v < n; v++)
                next = least[v] > least[next] ? v : next;
            chosen[k] = (int)next;
        }
        done = spread(w, chosen[k], least);
    }
    free(least);
    return done;
}

/* Finds the NEAREST nodes of every vertex: nodes and distances [vertex_count][NEAREST], found [vertex_count]. */
static bool find_nearest(walk *w, int count, const int *chosen, uint16_t *nodes, double *distances, int *found) {
    bool done = true;
    w->count = 0;
    for (int k = 0; done && k < count; k++)
        done = push(w, (visit){0, chosen[k], k});
    while (done && w->count > 0) {
        const visit at = pop(w);
        uint16_t *own = nodes + (size_t)at.vertex * NEAREST;
        int *have = &found[at.vertex];
        bool known = *have == NEAREST;
        for (int i = 0; !known && i < *have; i++)
            known = own[i] == at.node;
        if (known)
            continue;
        own[*have] = (uint16_t)at.node;
        distances[(size_t)at.vertex * NEAREST + (size_t)(*have)++] = at.distance;
        done = go_on(w, at, NULL);
    }
    return done;
}

static void set_shares(const uint16_t *nodes, const double *distances, int found, uint16_t *own, float *shares) {
    const int count = found < EX_NODE_SHARES ? found : EX_NODE_SHARES;
    const double end = found == NEAREST ? distances[EX_NODE_SHARES] : 2 * distances[count - 1];
    double parts[EX_NODE_SHARES] = {0}, sum = 0;
    for (int i = 0; i < count; i++) {
        const double part = end > 0 ? 1 - distances[i] / end : 1;
        parts[i] = part * part;
        sum += parts[i];
    }
    for (int i = 0; i < EX_NODE_SHARES; i++) {
        own[i] = i < count ? nodes[i] : nodes[0];
        shares[i] = (float)(sum > 0 ? parts[i] / sum : i == 0);
    }
}

static bool share_out(walk *w, int count, const int *chosen, uint16_t *nodes, float *shares) {
    const size_t n = (size_t)w->between->vertex_count;
    uint16_t *nearest = exi_array_allocate(n * NEAREST, sizeof *nearest);
    double *distances = exi_array_allocate(n * NEAREST, sizeof *distances);
    int *found = calloc(n, sizeof *found);
    const bool done = nearest && distances && found && find_nearest(w, count, chosen, nearest, distances, found);
    for (size_t v = 0; done && v < n; v++)
        set_shares(nearest + v * NEAREST, distances + v * NEAREST, found[v], nodes + v * EX_NODE_SHARES,
                   shares + v * EX_NODE_SHARES);
    free(found);
    free(distances);
    free(nearest);
    return done;
}

/* ---- places and turns ---- */

/* Area of a vertex; one without any counts a little, so that no node is without vertices. */
static double area_of(const ex_between *b, size_t v) {
    return b->vertex_areas[v] + 1e-9 * b->size * b->size + 1e-30;
}

static void find_places(const ex_between *b, const ex_mixture *m, const double *form, float *places) {
    double sums[EX_NODE_MAX][4] = {{0}};
    for (size_t v = 0; v < (size_t)b->vertex_count; v++)
        for (size_t i = v * EX_NODE_SHARES; i < (v + 1) * EX_NODE_SHARES; i++) {
            const double weight = area_of(b, v) * (double)m->shares[i];
            double *sum = sums[m->nodes[i]];
            for (int c = 0; c < 3; c++)
                sum[c] += weight * form[3 * v + (size_t)c];
            sum[3] += weight;
        }
    for (int k = 0; k < m->node_count; k++)
        for (int c = 0; c < 3; c++)
            places[3 * k + c] = (float)(sums[k][3] > 0 ? sums[k][c] / sums[k][3] : 0);
}

typedef struct turning {
    double matrix[12], vector[3], weight;
} turning;

static void find_turns(const ex_between *b, const ex_mixture *m, float *turns) {
    turning sums[EX_NODE_MAX] = {{{0}, {0}, 0}};
    for (size_t t = 0; t < (size_t)b->triangle_count; t++) {
        const double *vector = b->turns + 3 * t;
        double r[3][3];
        if (b->areas[t] == 0)
            continue;
        exi_turn_matrix(vector, r);
        for (int k = 0; k < 3; k++) {
            const size_t v = (size_t)b->triangles[3 * t + (size_t)k];
            for (size_t i = v * EX_NODE_SHARES; i < (v + 1) * EX_NODE_SHARES; i++) {
                const double weight = b->areas[t] * (double)m->shares[i];
                turning *sum = &sums[m->nodes[i]];
                sum->weight += weight;
                for (int c = 0; c < 9; c++)
                    sum->matrix[c / 3 * 4 + c % 3] += weight * r[c / 3][c % 3];
                for (int c = 0; c < 3; c++)
                    sum->vector[c] += weight * vector[c];
            }
        }
    }
    for (int k = 0; k < m->node_count; k++) {
        double rotation[3][3], stretch[3][3], vector[3] = {0, 0, 0};
        if (sums[k].weight > 0) {
            exi_polar(sums[k].matrix, rotation, stretch);
            exi_turn_vector(rotation, vector);
            for (int c = 0; c < 3; c++)
                sums[k].vector[c] /= sums[k].weight;
            exi_turn_nearest(vector, sums[k].vector);
        }
        for (int c = 0; c < 3; c++)
            turns[3 * k + c] = (float)vector[c];
    }
}

/* ---- edges ---- */

/* Area that two nodes carry together [node_count][node_count]. */
static void find_common(const ex_between *b, const ex_mixture *m, double *common) {
    for (size_t v = 0; v < (size_t)b->vertex_count; v++) {
        const uint16_t *nodes = m->nodes + v * EX_NODE_SHARES;
        const float *shares = m->shares + v * EX_NODE_SHARES;
        for (int i = 0; i < EX_NODE_SHARES; i++)
            for (int k = 0; k < i; k++)
                if (nodes[i] != nodes[k]) {
                    const double part = area_of(b, v) * (double)shares[i] * (double)shares[k];
                    common[nodes[i] * m->node_count + nodes[k]] += part;
                    common[nodes[k] * m->node_count + nodes[i]] += part;
                }
    }
}

typedef struct edge {
    double common, square; /* and the squared distance of the nodes */
    int nodes[2];
} edge;

static int compare_edges(const void *a, const void *b) {
    const edge *x = a, *y = b;
    if (x->common != y->common)
        return x->common > y->common ? -1 : 1;
    if (x->square != y->square)
        return x->square < y->square ? -1 : 1;
    return x->nodes[0] != y->nodes[0] ? x->nodes[0] - y->nodes[0] : x->nodes[1] - y->nodes[1];
}

/* Keeps strong edges, and those that connect what is apart without them: edges are sorted, the strongest first, then
 * those of nodes that carry nothing together, by their distance. Returns their number. */
static int keep_edges(const ex_mixture *m, const double *common, edge *edges, int count) {
    double strongest[EX_NODE_MAX] = {0};
    int sets[EX_NODE_MAX], kept = 0;
    for (int i = 0; i < m->node_count; i++) {
        sets[i] = i;
        for (int k = 0; k < m->node_count; k++)
            strongest[i] = fmax(strongest[i], common[i * m->node_count + k]);
    }
    qsort(edges, (size_t)count, sizeof *edges, compare_edges);
    for (int e = 0; e < count; e++) {
        const int *nodes = edges[e].nodes;
        const bool apart = exi_set_of(sets, nodes[0]) != exi_set_of(sets, nodes[1]);
        const double goal = WEAKEST_EDGE * fmin(strongest[nodes[0]], strongest[nodes[1]]);
        if (!apart && !(edges[e].common > 0 && edges[e].common >= goal))
            continue;
        exi_sets_join(sets, nodes[0], nodes[1]);
        edges[kept++] = edges[e];
    }
    return kept;
}

static bool find_edges(const ex_between *b, ex_mixture *m) {
    const int count = m->node_count, pairs = count * (count - 1) / 2;
    double *common = calloc((size_t)count * (size_t)count, sizeof *common);
    edge *edges = exi_array_allocate((size_t)pairs, sizeof *edges);
    int made = 0;
    double mean = 0;
    for (int i = 0; common && edges && i < count; i++)
        for (int k = 0; k < i; k++) {
            double d[3];
            for (int c = 0; c < 3; c++)
                d[c] = (double)m->places[3 * i + c] - (double)m->places[3 * k + c];
            edges[made++] = (edge){0, exi_dot3(d, d), {k, i}};
        }
    if (common && edges) {
        find_common(b, m, common);
        for (int e = 0; e < made; e++)
            edges[e].common = common[edges[e].nodes[0] * count + edges[e].nodes[1]];
        made = keep_edges(m, common, edges, made);
    }
    uint16_t *ends = exi_array_allocate(2 * (size_t)made, sizeof *ends);
    float *weights = exi_array_allocate((size_t)made, sizeof *weights);
    m->edges = ends;
    m->edge_weights = weights;
    const bool done = common && edges && ends && weights;
    for (int pass = 0; done && pass < 2; pass++) /* weights with the mean 1 */
        for (int e = 0; e < made; e++) {
            const double weight = fmax(edges[e].common, 1e-6 * edges[0].common + 1e-30) /
                                  (edges[e].square + 1e-12 * b->size * b->size + 1e-30);
            mean += pass == 0 ? weight / made : 0;
            ends[2 * e] = (uint16_t)edges[e].nodes[0];
            ends[2 * e + 1] = (uint16_t)edges[e].nodes[1];
            weights[e] = (float)fmax(weight / (mean > 0 ? mean : 1), 1e-6);
        }
    m->edge_count = done ? made : 0;
    free(edges);
    free(common);
    return done;
}

/* ---- entry points ---- */

void exi_mixture_release(ex_mixture *m) {
    for (int j = 0; m->correctors && j < m->corrector_count; j++)
        free((void *)m->correctors[j]);
    const void *const arrays[] = {m->places, m->turns,      m->edges, m->edge_weights, m->nodes,
                                  m->shares, m->correctors, m->terms, m->curves};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free((void *)arrays[i]);
    *m = (ex_mixture){0};
}

ex_result exi_nodes_find(const ex_betweens *betweens, ex_mixture *m, ex_error *error) {
    const ex_between *b = betweens->first;
    const size_t n = (size_t)b->vertex_count, examples = (size_t)betweens->example_count;
    const int count = b->vertex_count / VERTICES < 1      ? 1
                      : b->vertex_count / VERTICES > MOST ? MOST
                                                          : b->vertex_count / VERTICES;
    const size_t numbers = 3 * (size_t)count;
    walk w = {0};
    int chosen[MOST];
    float *places = calloc((1 + examples) * numbers, sizeof *places),
          *turns = calloc(examples * numbers, sizeof *turns);
    uint16_t *nodes = exi_array_allocate(n * EX_NODE_SHARES, sizeof *nodes);
    float *shares = exi_array_allocate(n * EX_NODE_SHARES, sizeof *shares);
    *m = (ex_mixture){.node_count = count, .places = places, .turns = turns, .nodes = nodes, .shares = shares};
    bool done = places && turns && nodes && shares && open_walk(b, &w) && choose(&w, count, chosen) &&
                share_out(&w, count, chosen, nodes, shares);
    close_walk(&w);
    if (done) {
        find_places(b, m, b->start, places);
        for (size_t k = 0; k < examples; k++)
            if (betweens->items[k]) {
                find_places(b, m, betweens->items[k]->aligned, places + (1 + k) * numbers);
                find_turns(betweens->items[k], m, turns + k * numbers);
            }
        done = find_edges(b, m);
    }
    return done ? EX_OK : ex_error_memory(error, "the nodes of a mixture", n * 100);
}
