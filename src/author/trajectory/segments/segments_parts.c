/*
 * Turns clusters of similar rotation into segments: connected parts, by shared vertices, so that parts that meet in a
 * point stay connected. Parts with less than a two-hundredth of the area are merged into the neighbour with the most
 * similar rotations. Given segments are kept unchanged, wherever their triangles lie.
 */
#include "author/base/array.h"
#include "author/trajectory/matrix.h"
#include "author/trajectory/segments/segments.h"
#include "author/trajectory/sets.h"
#include "runtime/base/result.h"

#include <stdlib.h>

#define SMALLEST 0.005 /* as a fraction of the whole area */

typedef struct pair {
    int a, b;
} pair;

typedef struct parts {
    const exi_segments_input *in;
    int count, given; /* given segments are the first parts */
    int *sets;        /* [triangle_count], then [count]: union-find */
    int *triangles;   /* [triangle_count]: part, -1: without area and not given */
    double *areas;    /* [count] */
    double *sums;     /* [count][3 K]: rotations times area */
    pair *pairs;      /* neighbours */
    size_t pair_count, pair_capacity;
} parts;

static int given(const parts *p, int triangle) {
    const int *segments = p->in->options->segments;
    return segments ? segments[triangle] : -1;
}

/* Numbers parts: given ones by their given number, then the others in the order of their first triangles. */
static ex_result number(parts *p, const int *clusters, ex_error *error) {
    const ex_between *b = p->in->any;
    for (int t = 0; t < b->triangle_count; t++) {
        int g = given(p, t);
        if (g < -1 || g >= EX_SEGMENT_MAX)
            return ex_error_set(error, EX_ERROR_DATA,
                                "triangle %d is in segment %d: segments are 0 to %d, or -1 for none", t, g,
                                EX_SEGMENT_MAX - 1);
        p->given = g + 1 > p->given ? g + 1 : p->given;
        p->sets[t] = t;
    }
    for (int v = 0; v < b->vertex_count; v++)
        for (int i = b->triangle_starts[v]; i < b->triangle_starts[v + 1]; i++)
            for (int k = b->triangle_starts[v]; k < i; k++) {
                int t = b->triangle_list[i] / 3, u = b->triangle_list[k] / 3;
                if (clusters[t] >= 0 && clusters[t] == clusters[u] && given(p, t) < 0 && given(p, u) < 0)
                    exi_sets_join(p->sets, t, u);
            }
    p->count = p->given;
    for (int t = 0; t < b->triangle_count; t++)
        if (given(p, t) >= 0)
            p->triangles[t] = given(p, t);
        else if (clusters[t] < 0)
            p->triangles[t] = -1;
        else
            p->triangles[t] = exi_set_of(p->sets, t) == t ? p->count++ : p->triangles[exi_set_of(p->sets, t)];
    return EX_OK;
}

static int compare_pairs(const void *x, const void *y) {
    const pair *p = x, *q = y;
    return p->a != q->a ? (p->a < q->a ? -1 : 1) : (p->b > q->b) - (p->b < q->b);
}

static bool add_pair(parts *p, int a, int b) {
    if (a == b || a < 0 || b < 0)
        return true;
    pair *grown = exi_array_grow(p->pairs, &p->pair_capacity, p->pair_count + 1, sizeof *p->pairs);
    if (!grown)
        return false;
    p->pairs = grown;
    p->pairs[p->pair_count++] = (pair){a < b ? a : b, a < b ? b : a};
    return true;
}

/* Returns a part at one of the vertex's triangles, -1: none has one. */
static int part_at(const parts *p, int vertex) {
    const ex_between *b = p->in->any;
    for (int k = b->triangle_starts[vertex]; k < b->triangle_starts[vertex + 1]; k++)
        if (p->triangles[b->triangle_list[k] / 3] >= 0)
            return p->triangles[b->triangle_list[k] / 3];
    return -1;
}

static bool find_pairs(parts *p) {
    const ex_between *b = p->in->any;
    bool done = true;
    for (int v = 0; v < b->vertex_count; v++)
        for (int k = b->triangle_starts[v] + 1; k < b->triangle_starts[v + 1] && done; k++)
            /* Pairs each with the one before: all parts at a vertex are then connected, if not directly. */
            done = add_pair(p, p->triangles[b->triangle_list[k - 1] / 3], p->triangles[b->triangle_list[k] / 3]);
    for (int i = 0; i < b->link_count && done; i++)
        done = add_pair(p, part_at(p, b->links[i].vertices[0]), part_at(p, b->links[i].vertices[1]));
    if (p->pair_count)
        qsort(p->pairs, p->pair_count, sizeof *p->pairs, compare_pairs);
    return done;
}

/* The sum of rotations of a part: [3 K] numbers. */
static double *sums_of(const parts *p, int part) {
    return p->sums + (size_t)part * 3 * (size_t)p->in->example_count;
}

static void measure(parts *p) {
    const ex_between *b = p->in->any;
    int d = 3 * p->in->example_count;
    for (int t = 0; t < b->triangle_count; t++) {
        int part = p->triangles[t];
        if (part < 0)
            continue;
        p->areas[part] += b->areas[t];
        for (int k = 0; k < d; k++)
            if (p->in->betweens[k / 3])
                sums_of(p, part)[k] += b->areas[t] * p->in->betweens[k / 3]->turns[3 * (size_t)t + (size_t)(k % 3)];
    }
}

static double difference_sq(const parts *p, int a, int b) {
    int d = 3 * p->in->example_count;
    double sum = 0;
    for (int k = 0; k < d; k++) {
        double x = p->areas[a] > 0 ? sums_of(p, a)[k] / p->areas[a] : 0;
        double y = p->areas[b] > 0 ? sums_of(p, b)[k] / p->areas[b] : 0;
        sum += (x - y) * (x - y);
    }
    return sum;
}

/* Merges part a into part b. */
static void give(parts *p, int a, int b) {
    int d = 3 * p->in->example_count;
    p->sets[a] = b;
    p->areas[b] += p->areas[a];
    for (int k = 0; k < d; k++)
        sums_of(p, b)[k] += sums_of(p, a)[k];
}

/* In each round every small part looks for its best neighbour, then joins it: that removes at least half of them. */
static bool give_small_away(parts *p) {
    double whole = 0;
    int *best = exi_array_allocate((size_t)p->count, sizeof *best);
    double *nearest = exi_array_allocate((size_t)p->count, sizeof *nearest);
    bool done = best && nearest;
    for (int i = 0; i < p->count; i++) {
        p->sets[i] = i;
        whole += p->areas[i];
    }
    for (bool again = done; again;) {
        again = false;
        for (int i = 0; i < p->count; i++)
            best[i] = -1;
        for (size_t k = 0; k < p->pair_count; k++) {
            int ends[2] = {exi_set_of(p->sets, p->pairs[k].a), exi_set_of(p->sets, p->pairs[k].b)};
            if (ends[0] == ends[1])
                continue;
            double far_sq = difference_sq(p, ends[0], ends[1]);
            for (int e = 0; e < 2; e++)
                if (p->areas[ends[e]] < SMALLEST * whole && (best[ends[e]] < 0 || far_sq < nearest[ends[e]])) {
                    best[ends[e]] = ends[1 - e];
                    nearest[ends[e]] = far_sq;
                }
        }
        for (int i = p->given; i < p->count; i++) {
            int other = best[i] >= 0 && p->sets[i] == i ? exi_set_of(p->sets, best[i]) : i;
            if (other == i || p->areas[i] >= SMALLEST * whole)
                continue;
            give(p, i, other);
            again = true;
        }
    }
    free(best);
    free(nearest);
    return done;
}

/* Triangles without area join a neighbour. */
static void fill(parts *p) {
    const ex_between *b = p->in->any;
    for (int round = 0; round < 2; round++)
        for (int t = 0; t < b->triangle_count; t++)
            for (int c = 0; c < 3 && p->triangles[t] < 0; c++) {
                p->triangles[t] = part_at(p, b->triangles[3 * (size_t)t + (size_t)c]);
                if (round == 1 && c == 2 && p->triangles[t] < 0)
                    p->triangles[t] = 0;
            }
}

/* Assigns the final numbers: given ones as given, the others in the order of their first triangles. */
static ex_result finish(parts *p, exi_segmentation *s, ex_error *error) {
    const ex_between *b = p->in->any;
    int *numbers = exi_array_allocate((size_t)p->count + 1, sizeof *numbers);
    if (!numbers)
        return ex_error_memory(error, "segments", (size_t)p->count * sizeof *numbers);
    for (int i = 0; i < p->count; i++)
        numbers[i] = i < p->given ? i : -1;
    s->count = p->given;
    for (int t = 0; t < b->triangle_count; t++) {
        int part = p->triangles[t] < 0 ? -1 : exi_set_of(p->sets, p->triangles[t]);
        if (part >= 0 && numbers[part] < 0)
            numbers[part] = s->count++;
        p->triangles[t] = part < 0 ? -1 : numbers[part];
    }
    free(numbers);
    fill(p);
    s->count = s->count > 0 ? s->count : 1;
    if (s->count > EX_SEGMENT_MAX)
        return ex_error_set(error, EX_ERROR_LIMIT,
                            "there are %d segments; at most %d are allowed: a larger segment angle finds fewer",
                            s->count, EX_SEGMENT_MAX);
    s->areas = calloc((size_t)s->count, sizeof *s->areas);
    int *counts = calloc((size_t)s->count, sizeof *counts);
    ex_result result = EX_OK;
    if (!s->areas || !counts)
        result = ex_error_memory(error, "segments", (size_t)s->count * sizeof *s->areas);
    for (int t = 0; t < b->triangle_count && result == EX_OK; t++) {
        s->areas[p->triangles[t]] += b->areas[t];
        counts[p->triangles[t]]++;
    }
    for (int k = 0; k < p->given && result == EX_OK; k++)
        if (counts[k] == 0)
            result =
                ex_error_set(error, EX_ERROR_DATA,
                             "no triangle is in segment %d, but there is a segment %d: number segments without gaps", k,
                             p->given - 1);
    free(counts);
    return result;
}

ex_result exi_segments_parts(const exi_segments_input *in, const int *clusters, exi_segmentation *s, ex_error *error) {
    size_t n = (size_t)in->any->triangle_count;
    parts p = {.in = in, .triangles = s->triangles};
    p.sets = exi_array_allocate(n, sizeof *p.sets);
    if (!p.sets)
        return ex_error_memory(error, "segments", n * sizeof *p.sets);
    ex_result result = number(&p, clusters, error);
    if (result == EX_OK) {
        p.areas = calloc((size_t)p.count + 1, sizeof *p.areas);
        p.sums = calloc((size_t)p.count + 1, 3 * (size_t)in->example_count * sizeof *p.sums);
        bool done = p.areas && p.sums && find_pairs(&p);
        if (done)
            measure(&p);
        /* There are no more parts than triangles, but given numbers may leave gaps. */
        int *sets = done ? exi_array_allocate((size_t)p.count + 1, sizeof *sets) : NULL;
        if (sets) {
            free(p.sets);
            p.sets = sets;
        }
        if (!sets || !give_small_away(&p))
            result = ex_error_memory(error, "segments", (size_t)p.count * sizeof *p.sums);
    }
    if (result == EX_OK)
        result = finish(&p, s, error);
    free(p.sets);
    free(p.areas);
    free(p.sums);
    free(p.pairs);
    return result;
}
