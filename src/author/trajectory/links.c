/*
 * Components and their links. The gradients of triangles do not determine where one component is relative to another,
 * nor where a vertex without triangles is. So every component is linked to its nearest neighbour, then the resulting
 * groups to theirs, until all are connected (Boruvka's tree of nearest vertices). The distance of two vertices is the
 * largest that they have in any form: feet that touch at the start, but not later, are no neighbours. Between two
 * components there are up to LINKS links, spread over the region where they are near each other: between vertices u of
 * the smaller and the nearest vertices of the other. The goal of a link is the difference of its ends, rotated like the
 * triangles around them and interpolated like their stretch: R^t ((1 - t) d_start + t R^-1 d_end).
 *
 * Triangles without area also hold pieces together by links: their edges between vertices that would be in different
 * pieces without them. Edges within a piece add nothing, and a link along a long one would only pull at the few
 * triangles at its ends.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "author/base/array.h"
#include "author/trajectory/sets.h"
#include "author/trajectory/surface.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#define LINKS      16  /* between two components */
#define CANDIDATES 256 /* nearest pairs that the links are chosen from */
#define LEAF       8

/* ---- components ---- */

/* Finds the connected pieces of the vertices, numbered by their first vertex: pieces [vertex_count]. flat_too: also
 * across triangles without area. Returns their number, or -1 without memory. */
static int find_pieces(const ex_between *b, bool flat_too, int *pieces) {
    int *parents = exi_array_allocate((size_t)b->vertex_count, sizeof *parents), count = 0;
    if (!parents)
        return -1;
    for (int v = 0; v < b->vertex_count; v++)
        parents[v] = v;
    for (int t = 0; t < b->triangle_count; t++) {
        if (b->areas[t] == 0 && !flat_too)
            continue;
        exi_sets_join(parents, b->triangles[3 * t], b->triangles[3 * t + 1]);
        exi_sets_join(parents, b->triangles[3 * t], b->triangles[3 * t + 2]);
    }
    for (int v = 0; v < b->vertex_count; v++) { /* a root is the smallest index of its piece, so it comes first */
        const int root = exi_set_of(parents, v);
        pieces[v] = root == v ? count++ : pieces[root];
    }
    free(parents);
    return count;
}

/* ---- a tree of vertices ---- */

typedef struct node {
    double low[3], high[3];
    int begin, end; /* of `order` */
    int left;       /* the other is left + 1; -1: a leaf */
    int label;      /* label of all vertices in it; -1: several */
} node;

typedef struct vertex_tree {
    const double *points;        /* at the start */
    const double *const *others; /* [other_count] the same vertices in other forms, some of them NULL */
    int other_count;
    int *order;
    node *nodes;
    int node_count;
} vertex_tree;

typedef struct keyed {
    double key;
    int item;
} keyed;

static int compare_keyed(const void *a, const void *b) {
    const keyed *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->item < y->item ? -1 : x->item > y->item;
}

static void bound(vertex_tree *tree, node *n) {
    for (int i = 0; i < 3; i++) {
        n->low[i] = n->high[i] = tree->points[3 * tree->order[n->begin] + i];
        for (int k = n->begin + 1; k < n->end; k++) {
            const double x = tree->points[3 * tree->order[k] + i];
            n->low[i] = x < n->low[i] ? x : n->low[i];
            n->high[i] = x > n->high[i] ? x : n->high[i];
        }
    }
}

/* Sorts along the longest side and halves, until leaves are small. */
static bool build(vertex_tree *tree, int count) {
    keyed *keys = exi_array_allocate((size_t)count, sizeof *keys);
    if (!keys)
        return false;
    tree->nodes[0] = (node){.begin = 0, .end = count, .left = -1, .label = -1};
    tree->node_count = 1;
    for (int i = 0; i < tree->node_count; i++) {
        node *n = &tree->nodes[i];
        bound(tree, n);
        if (n->end - n->begin <= LEAF)
            continue;
        int axis = 0;
        for (int k = 1; k < 3; k++)
            axis = n->high[k] - n->low[k] > n->high[axis] - n->low[axis] ? k : axis;
        for (int k = n->begin; k < n->end; k++)
            keys[k] = (keyed){tree->points[3 * tree->order[k] + axis], tree->order[k]};
        qsort(keys + n->begin, (size_t)(n->end - n->begin), sizeof *keys, compare_keyed);
        for (int k = n->begin; k < n->end; k++)
            tree->order[k] = keys[k].item;
        const int middle = n->begin + (n->end - n->begin) / 2;
        n->left = tree->node_count;
        tree->nodes[tree->node_count++] = (node){.begin = n->begin, .end = middle, .left = -1, .label = -1};
        tree->nodes[tree->node_count++] = (node){.begin = middle, .end = n->end, .left = -1, .label = -1};
    }
    free(keys);
    return true;
}

static void label(vertex_tree *tree, const int *labels) {
    for (int i = tree->node_count - 1; i >= 0; i--) {
        node *n = &tree->nodes[i];
        if (n->left >= 0) {
            const int a = tree->nodes[n->left].label;
            n->label = a == tree->nodes[n->left + 1].label ? a : -1;
            continue;
        }
        n->label = labels[tree->order[n->begin]];
        for (int k = n->begin + 1; k < n->end; k++)
            n->label = labels[tree->order[k]] == n->label ? n->label : -1;
    }
}

static double box_distance(const node *n, const double p[3]) {
    double square = 0;
    for (int i = 0; i < 3; i++) {
        const double d = p[i] < n->low[i] ? n->low[i] - p[i] : p[i] > n->high[i] ? p[i] - n->high[i] : 0;
        square += d * d;
    }
    return square;
}

/* Returns the square of the largest distance of two vertices in any form. */
static double distance_of(const vertex_tree *tree, int u, int v) {
    double d[3], most = 0;
    for (int k = -1; k < tree->other_count; k++) {
        const double *points = k < 0 ? tree->points : tree->others[k];
        if (!points)
            continue;
        exi_subtract(points + 3 * v, points + 3 * u, d);
        const double square = exi_dot3(d, d);
        most = square > most ? square : most;
    }
    return most;
}

/* Returns the vertex nearest to `vertex` with the label `want`, or, if want < 0, not `other`; -1 if none is nearer than
 * *square. Boxes are those at the start, which no distance is below. */
static int nearest(const vertex_tree *tree, const int *labels, int vertex, int want, int other, double *square) {
    const double *p = tree->points + 3 * vertex;
    int stack[128], depth = 0, found = -1;
    stack[depth++] = 0;
    while (depth) {
        const node *n = &tree->nodes[stack[--depth]];
        if (n->label >= 0 && (want >= 0 ? n->label != want : n->label == other))
            continue;
        if (box_distance(n, p) >= *square)
            continue;
        if (n->left >= 0) { /* looks at the nearer one first */
            const bool right = box_distance(&tree->nodes[n->left + 1], p) < box_distance(&tree->nodes[n->left], p);
            stack[depth++] = n->left + (right ? 0 : 1);
            stack[depth++] = n->left + (right ? 1 : 0);
            continue;
        }
        for (int k = n->begin; k < n->end; k++) {
            const int v = tree->order[k];
            if (want >= 0 ? labels[v] != want : labels[v] == other)
                continue;
            const double distance = distance_of(tree, vertex, v);
            if (distance < *square) {
                *square = distance;
                found = v;
            }
        }
    }
    return found;
}

/* ---- links ---- */

typedef struct linking {
    ex_between *between;
    const double *const *others; /* [other_count] forms besides the start */
    int other_count;
    vertex_tree tree;
    int *first, *members; /* [component_count + 1] offsets into [vertex_count]: the vertices of each component */
    size_t capacity;
    keyed *candidates; /* [vertex_count] */
    double weight;
} linking;

static bool add_link(linking *l, int a, int b, int group, double weight) {
    ex_between *between = l->between;
    exi_link *grown =
        exi_array_grow(between->links, &l->capacity, (size_t)between->link_count + 1, sizeof *between->links);
    if (!grown)
        return false;
    between->links = grown;
    exi_link *link = &between->links[between->link_count++];
    *link = (exi_link){.vertices = {a, b}, .group = group, .weight = weight};
    return true;
}

/* Picks, of the nearest pairs, those farthest from each other, starting with the nearest pair. */
static bool spread_links(linking *l, int from, int to) {
    ex_between *b = l->between;
    const int begin = l->first[from], end = l->first[from + 1];
    const int group = b->link_count;
    int count = end - begin, chosen[LINKS], chosen_count = 0;
    for (int i = 0; i < count; i++) {
        double square = INFINITY;
        nearest(&l->tree, b->components, l->members[begin + i], to, -1, &square);
        l->candidates[i] = (keyed){square, l->members[begin + i]};
    }
    qsort(l->candidates, (size_t)count, sizeof *l->candidates, compare_keyed);
    count = count < CANDIDATES ? count : CANDIDATES;
    double gaps[CANDIDATES];
    for (int i = 0; i < count; i++)
        gaps[i] = INFINITY;
    for (int next = 0; chosen_count < LINKS && chosen_count < count;) {
        chosen[chosen_count++] = l->candidates[next].item;
        gaps[next] = -1;
        double widest = -1;
        const double *p = b->start + 3 * l->candidates[next].item;
        for (int i = 0; i < count; i++) {
            double d[3];
            exi_subtract(b->start + 3 * l->candidates[i].item, p, d);
            const double gap = exi_dot3(d, d);
            gaps[i] = gap < gaps[i] ? gap : gaps[i];
            if (gaps[i] > widest) {
                widest = gaps[i];
                next = i;
            }
        }
    }
    for (int i = 0; i < chosen_count; i++) {
        double square = INFINITY;
        const int other = nearest(&l->tree, b->components, chosen[i], to, -1, &square);
        if (!add_link(l, chosen[i], other, group, l->weight * LINKS / chosen_count))
            return false;
    }
    return true;
}

/* The nearest pair of vertices between a group and any other; one per group. */
typedef struct bridge {
    double square;
    int from, to;
} bridge;

/* One round: joins every group except the largest to its nearest neighbour. groups: [component_count] parents. */
static bool join_nearest(linking *l, int *groups, int *labels, bridge *bridges) {
    ex_between *b = l->between;
    int *sizes = calloc((size_t)b->component_count + 1, sizeof *sizes), largest = 0;
    if (!sizes)
        return false;
    for (int v = 0; v < b->vertex_count; v++)
        sizes[labels[v] = exi_set_of(groups, b->components[v])]++;
    for (int c = 0; c < b->component_count; c++) {
        largest = sizes[c] > sizes[largest] ? c : largest;
        bridges[c] = (bridge){INFINITY, -1, -1};
    }
    free(sizes);
    label(&l->tree, labels);
    for (int v = 0; v < b->vertex_count; v++) {
        if (labels[v] == largest)
            continue;
        bridge *best = &bridges[labels[v]];
        const int found = nearest(&l->tree, labels, v, -1, labels[v], &best->square);
        if (found >= 0)
            *best = (bridge){best->square, v, found};
    }
    label(&l->tree, b->components);
    for (int c = 0; c < b->component_count; c++) {
        if (bridges[c].from < 0)
            continue;
        int from = b->components[bridges[c].from], to = b->components[bridges[c].to];
        if (exi_set_of(groups, from) == exi_set_of(groups, to))
            continue;
        exi_sets_join(groups, from, to);
        const bool turned = l->first[from + 1] - l->first[from] > l->first[to + 1] - l->first[to];
        if (!spread_links(l, turned ? to : from, turned ? from : to))
            return false;
    }
    return true;
}

static void list_members(linking *l) {
    ex_between *b = l->between;
    for (int v = 0; v < b->vertex_count; v++)
        l->first[b->components[v] + 1]++;
    for (int c = 0; c < b->component_count; c++)
        l->first[c + 1] += l->first[c];
    for (int v = 0; v < b->vertex_count; v++)
        l->members[l->first[b->components[v]]++] = v;
    for (int c = b->component_count; c > 0; c--)
        l->first[c] = l->first[c - 1];
    l->first[0] = 0;
}

static bool link_components(linking *l) {
    ex_between *b = l->between;
    const size_t n = (size_t)b->vertex_count, c = (size_t)b->component_count;
    int *labels = exi_array_allocate(n, sizeof *labels), *groups = exi_array_allocate(c, sizeof *groups);
    bridge *bridges = exi_array_allocate(c, sizeof *bridges);
    l->tree = (vertex_tree){.points = b->start,
                            .others = l->others,
                            .other_count = l->other_count,
                            .order = exi_array_allocate(n, sizeof(int)),
                            .nodes = exi_array_allocate(n + 8, sizeof(node))};
    l->first = calloc(c + 2, sizeof *l->first);
    l->members = exi_array_allocate(n, sizeof *l->members);
    l->candidates = exi_array_allocate(n, sizeof *l->candidates);
    bool done =
        labels && groups && bridges && l->tree.order && l->tree.nodes && l->first && l->members && l->candidates;
    if (done) {
        for (int v = 0; v < b->vertex_count; v++)
            l->tree.order[v] = v;
        for (int k = 0; k < b->component_count; k++)
            groups[k] = k;
        list_members(l);
        done = build(&l->tree, b->vertex_count);
    }
    for (bool apart = true; done && apart;) {
        done = join_nearest(l, groups, labels, bridges);
        apart = false;
        for (int k = 0; done && k < b->component_count; k++)
            apart = apart || exi_set_of(groups, k) != 0;
    }
    free(l->candidates);
    free(l->members);
    free(l->first);
    free(l->tree.nodes);
    free(l->tree.order);
    free(bridges);
    free(groups);
    free(labels);
    return done;
}

/* Mean diagonal entry of the Laplacian; weights of links are a fraction of it. */
static double mean_diagonal(const ex_between *b) {
    double sum = 0;
    for (int t = 0; t < b->triangle_count; t++)
        for (int k = 0; k < 3; k++)
            sum += b->areas[t] * exi_dot3(b->slopes + 9 * t + 3 * k, b->slopes + 9 * t + 3 * k);
    return sum > 0 ? sum / b->vertex_count : 1;
}

static bool link_flat(linking *l) {
    ex_between *b = l->between;
    int *pieces = exi_array_allocate((size_t)b->vertex_count, sizeof *pieces);
    bool done = pieces && find_pieces(b, false, pieces) >= 0;
    for (int t = 0; done && t < b->triangle_count; t++)
        for (int k = 0; done && k < 3 && b->areas[t] == 0; k++) {
            const int u = b->triangles[3 * t + k], v = b->triangles[3 * t + (k + 1) % 3];
            done = pieces[u] == pieces[v] || add_link(l, u, v, b->link_count, 0.1 * l->weight);
        }
    free(pieces);
    return done;
}

ex_result exi_surface_link(ex_between *b, const double *const *others, int other_count, ex_error *error) {
    linking l = {.between = b, .others = others, .other_count = other_count, .weight = 0.3 * mean_diagonal(b)};
    b->component_count = find_pieces(b, true, b->components);
    bool done = b->component_count >= 0 && link_flat(&l);
    if (done && b->component_count > 1)
        done = link_components(&l);
    if (!done)
        return ex_error_memory(error, "links between components", (size_t)b->vertex_count * sizeof(node));
    return EX_OK;
}

void exi_surface_link_ends(ex_between *b) {
    for (int begin = 0; begin < b->link_count;) {
        double turn[3][3];
        const int end = exi_link_group(b, begin, 1, NULL, turn);
        for (; begin < end; begin++) {
            exi_link *link = &b->links[begin];
            const int *v = link->vertices;
            double d[3];
            exi_subtract(b->start + 3 * v[0], b->start + 3 * v[1], link->start);
            exi_subtract(b->aligned + 3 * v[0], b->aligned + 3 * v[1], d);
            exi_apply_transpose(turn, d, link->end);
        }
    }
}
