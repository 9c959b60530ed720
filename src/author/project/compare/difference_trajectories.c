/*
 * Differences between the trajectories of two layers: their reference, the components of their paths, and their
 * mixtures. Differences of forms are compared as for any example.
 */
#include "author/project/compare/rig_difference.h"

#include "author/base/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void compare_reference(const exi_layer_pair *p) {
    const int a = ex_rig_layer_reference(p->a.rig, p->a.layer), b = ex_rig_layer_reference(p->b.rig, p->b.layer);
    const char *first = a < 0 ? "the mesh" : ex_rig_example_name(p->a.rig, p->a.layer, a);
    const char *second = b < 0 ? "the mesh" : ex_rig_example_name(p->b.rig, p->b.layer, b);
    if (strcmp(first, second) != 0)
        exi_difference_add(p->c, "trajectory", p->where, 0, 0,
                           "the reference is '%s' in the first and '%s' in the second", first, second);
}

static void compare_segments(const exi_layer_pair *p) {
    const ex_segments a = ex_rig_layer_segments(p->a.rig, p->a.layer);
    const ex_segments b = ex_rig_layer_segments(p->b.rig, p->b.layer);
    if (a.count != b.count)
        exi_difference_add(p->c, "trajectory", p->where, 0, 0, "segments: %d in the first, %d in the second", a.count,
                           b.count);
    else if (a.count > 0 && memcmp(a.parents, b.parents, (size_t)a.count * sizeof *a.parents) != 0)
        exi_difference_add(p->c, "trajectory", p->where, 0, 0, "segments have other parents");
}

/* Compares masks of layers if at least one rig has one. room: [vertex_count] twice. */
static void compare_masks(const exi_layer_pair *p, float *room, size_t count) {
    const bool first = ex_rig_layer_mask(p->a.rig, p->a.layer, room);
    const bool second = ex_rig_layer_mask(p->b.rig, p->b.layer, room + count);
    double largest = 0;
    for (size_t v = 0; (first || second) && v < count; v++) {
        const double apart = fabs((double)room[v] - (double)room[count + v]);
        largest = apart > largest ? apart : largest;
    }
    if (largest > p->c->tolerance)
        exi_difference_add(p->c, "trajectory", p->where, largest, 0, "the mask differs by at most %g", largest);
}

static void compare_path(const exi_layer_pair *p, int a, int b, float *room, size_t count) {
    const ex_trajectory x = ex_rig_example_trajectory(p->a.rig, p->a.layer, a);
    const ex_trajectory y = ex_rig_example_trajectory(p->b.rig, p->b.layer, b);
    const char *name = ex_rig_example_name(p->a.rig, p->a.layer, a);
    ex_rig_example_turns(p->a.rig, p->a.layer, a, room);
    ex_rig_example_turns(p->b.rig, p->b.layer, b, room + 3 * count);
    const exi_spread turns = exi_spread_of(room, room + 3 * count, count);
    if (turns.largest > p->c->tolerance)
        exi_difference_add(p->c, "trajectory", p->where, turns.largest, turns.rms,
                           "the vertices of example '%s' turn differently on their way, by at most %g radians "
                           "(vertex %d)",
                           name, turns.largest, turns.vertex);
    if (x.corrector_count != y.corrector_count)
        exi_difference_add(p->c, "trajectory", p->where, 0, 0,
                           "example '%s' has %d correctors in the first and %d in the second", name, x.corrector_count,
                           y.corrector_count);
    for (int j = 0; j < x.corrector_count && x.corrector_count == y.corrector_count; j++) {
        ex_rig_example_corrector(p->a.rig, p->a.layer, a, j, room);
        ex_rig_example_corrector(p->b.rig, p->b.layer, b, j, room + 3 * count);
        const exi_spread values = exi_spread_of(room, room + 3 * count, count);
        if (values.largest > p->c->tolerance)
            exi_difference_add(p->c, "trajectory", p->where, values.largest, values.rms,
                               "corrector %d of example '%s' differs by at most %g (vertex %d)", j + 1, name,
                               values.largest, values.vertex);
    }
}

/* ---- mixtures ---- */

static bool same_counts(const exi_layer_pair *p, const ex_mixture *a, const ex_mixture *b) {
    const struct {
        const char *what;
        int first, second;
    } counts[] = {{"nodes", a->node_count, b->node_count},
                  {"edges", a->edge_count, b->edge_count},
                  {"correctors", a->corrector_count, b->corrector_count},
                  {"terms", a->term_count, b->term_count}};
    bool same = true;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (counts[i].first != counts[i].second) {
            exi_difference_add(p->c, "trajectory", p->where, 0, 0,
                               "the mixture has %d %s in the first and %d in the second", counts[i].first,
                               counts[i].what, counts[i].second);
            same = false;
        }
    return same;
}

static double largest_of(const float *a, const float *b, size_t count) {
    double largest = 0;
    for (size_t i = 0; i < count; i++) {
        const double apart = fabs((double)a[i] - (double)b[i]);
        largest = apart > largest ? apart : largest;
    }
    return largest;
}

/* Adds a difference of numbers that are not of vertices. */
static void compare_numbers(const exi_layer_pair *p, const char *what, double largest) {
    if (largest > p->c->tolerance)
        exi_difference_add(p->c, "trajectory", p->where, largest, 0, "%s of the mixture differ by at most %g", what,
                           largest);
}

static bool same_bytes(const void *a, const void *b, size_t size) {
    return size == 0 || memcmp(a, b, size) == 0;
}

/* Places and turns of the nodes in the examples that both rigs have. */
static void compare_nodes(const exi_layer_pair *p, const ex_mixture *a, const ex_mixture *b) {
    const size_t row = 3 * (size_t)a->node_count;
    const int first = ex_rig_layer_reference(p->a.rig, p->a.layer);
    double places = largest_of(a->places, b->places, row), turns = 0;
    for (int k = 0; k < p->a.def.example_count; k++) {
        const int other = p->examples[k];
        if (other < 0 || k == first)
            continue;
        places =
            fmax(places, largest_of(a->places + (1 + (size_t)k) * row, b->places + (1 + (size_t)other) * row, row));
        turns = fmax(turns, largest_of(a->turns + (size_t)k * row, b->turns + (size_t)other * row, row));
    }
    compare_numbers(p, "places of nodes", places);
    compare_numbers(p, "turns of nodes, in radians,", turns);
}

static void compare_mixtures(const exi_layer_pair *p, float *room, size_t count) {
    const ex_mixture a = ex_rig_layer_mixture(p->a.rig, p->a.layer), b = ex_rig_layer_mixture(p->b.rig, p->b.layer);
    if (!same_counts(p, &a, &b) || a.node_count == 0)
        return;
    const size_t shares = EX_NODE_SHARES * count, terms = (size_t)a.term_count;
    compare_nodes(p, &a, &b);
    if (!same_bytes(a.edges, b.edges, 2 * (size_t)a.edge_count * sizeof *a.edges))
        exi_difference_add(p->c, "trajectory", p->where, 0, 0, "edges of the mixture join other nodes");
    else
        compare_numbers(p, "weights of edges", largest_of(a.edge_weights, b.edge_weights, (size_t)a.edge_count));
    if (!same_bytes(a.nodes, b.nodes, shares * sizeof *a.nodes))
        exi_difference_add(p->c, "trajectory", p->where, 0, 0, "vertices are moved by other nodes of the mixture");
    else
        compare_numbers(p, "shares of vertices", largest_of(a.shares, b.shares, shares));
    if (!same_bytes(a.terms, b.terms, terms * sizeof *a.terms))
        exi_difference_add(p->c, "trajectory", p->where, 0, 0, "terms of the mixture have other corners or powers");
    else
        compare_numbers(p, "curves of correctors", largest_of(a.curves, b.curves, (size_t)a.corrector_count * terms));
    for (int j = 0; j < a.corrector_count; j++) {
        ex_rig_layer_corrector(p->a.rig, p->a.layer, j, room);
        ex_rig_layer_corrector(p->b.rig, p->b.layer, j, room + 3 * count);
        const exi_spread values = exi_spread_of(room, room + 3 * count, count);
        if (values.largest > p->c->tolerance)
            exi_difference_add(p->c, "trajectory", p->where, values.largest, values.rms,
                               "corrector %d of the mixture differs by at most %g (vertex %d)", j + 1, values.largest,
                               values.vertex);
    }
}

void exi_difference_trajectories(exi_layer_pair *p) {
    const size_t count = (size_t)ex_rig_vertex_count(p->a.rig);
    const int first = ex_rig_layer_reference(p->a.rig, p->a.layer),
              second = ex_rig_layer_reference(p->b.rig, p->b.layer);
    compare_reference(p);
    compare_segments(p);
    if (ex_rig_vertex_count(p->b.rig) != (int)count || !p->examples)
        return;
    float *room = exi_array_allocate(count, 6 * sizeof *room);
    if (!room) {
        p->c->failed = true;
        return;
    }
    compare_masks(p, room, count);
    compare_mixtures(p, room, count);
    for (int k = 0; k < p->a.def.example_count; k++)
        if (p->examples[k] >= 0 && k != first && p->examples[k] != second)
            compare_path(p, k, p->examples[k], room, count);
    free(room);
}
