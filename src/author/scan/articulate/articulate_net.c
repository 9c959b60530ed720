/*
 * Neighbours of vertices: along the edges of faces. Every component but the largest (eyes, teeth) is linked to the
 * nearest vertices of larger ones, so that its weights follow them.
 */
#include "author/base/array.h"
#include "author/scan/articulate/articulation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct links {
    int (*pairs)[2];
    size_t count, capacity;
} links;

static bool link_add(links *l, int a, int b) {
    int(*grown)[2] = exi_array_grow(l->pairs, &l->capacity, l->count + 1, sizeof *grown);
    if (!grown)
        return false;
    l->pairs = grown;
    l->pairs[l->count][0] = a;
    l->pairs[l->count++][1] = b;
    return true;
}

static int find_root(int *parents, int v) {
    while (parents[v] != v)
        v = parents[v] = parents[parents[v]];
    return v;
}

void exi_art_net_free(exi_art_net *net) {
    free(net->starts);
    free(net->others);
    *net = (exi_art_net){0};
}

static bool add_faces(const ex_mesh *mesh, links *l) {
    for (int f = 0; f < mesh->face_count; f++) {
        const int first = mesh->face_offsets[f], size = mesh->face_offsets[f + 1] - first;
        for (int c = 0; c < size; c++)
            if (!link_add(l, mesh->corners[first + c], mesh->corners[first + (c + 1) % size]))
                return false;
    }
    return true;
}

static double distance_sq(const double *p, const double *q) {
    const double d[3] = {p[0] - q[0], p[1] - q[1], p[2] - q[2]};
    return d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
}

/* Links up to SAMPLES vertices of each component to the nearest vertex of a larger one. */
enum { SAMPLES = 12 };
static bool link_components(int count, const double *positions, int *parents, int *sizes, links *l) {
    int *next = exi_array_allocate((size_t)count, sizeof *next); /* lists of members, by root */
    int *heads = exi_array_allocate((size_t)count, sizeof *heads);
    bool good = next && heads;
    int largest = 0, components = 0;
    for (int v = 0; good && v < count; v++) {
        heads[v] = -1;
        sizes[v] = 0;
    }
    for (int v = count - 1; good && v >= 0; v--) {
        const int root = find_root(parents, v);
        next[v] = heads[root];
        heads[root] = v;
        components += sizes[root]++ == 0;
        largest = sizes[root] > sizes[largest] ? root : largest;
    }
    const int samples = components > 256 ? 1 : SAMPLES;
    for (int root = 0; good && root < count; root++) {
        if (heads[root] < 0 || root == largest)
            continue;
        const int stride = sizes[root] > samples ? sizes[root] / samples : 1;
        int k = 0;
        for (int v = heads[root]; v >= 0 && good; v = next[v]) {
            if (k++ % stride != 0)
                continue;
            int best = -1;
            double least = INFINITY;
            for (int u = 0; u < count; u++) {
                const int other = parents[u]; /* flat after find_root of all */
                if (other == root || sizes[other] < sizes[root] || (sizes[other] == sizes[root] && other > root))
                    continue;
                const double d = distance_sq(positions + 3 * (size_t)u, positions + 3 * (size_t)v);
                if (d < least) {
                    least = d;
                    best = u;
                }
            }
            good = best < 0 || link_add(l, v, best);
        }
    }
    free(next);
    free(heads);
    return good;
}

static int compare_ints(const void *a, const void *b) {
    const int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* Sorts links into lists without repetitions. */
static bool make_lists(int count, const links *l, exi_art_net *net) {
    net->starts = calloc((size_t)count + 1, sizeof *net->starts);
    net->others = exi_array_allocate(2 * l->count + 1, sizeof *net->others);
    int *fill = exi_array_allocate((size_t)count + 1, sizeof *fill);
    if (!net->starts || !net->others || !fill) {
        free(fill);
        return false;
    }
    for (size_t i = 0; i < l->count; i++) {
        net->starts[l->pairs[i][0] + 1]++;
        net->starts[l->pairs[i][1] + 1]++;
    }
    for (int v = 0; v < count; v++)
        net->starts[v + 1] += net->starts[v];
    memcpy(fill, net->starts, ((size_t)count + 1) * sizeof *fill);
    for (size_t i = 0; i < l->count; i++) {
        net->others[fill[l->pairs[i][0]]++] = l->pairs[i][1];
        net->others[fill[l->pairs[i][1]]++] = l->pairs[i][0];
    }
    int written = 0;
    for (int v = 0; v < count; v++) {
        const int begin = net->starts[v], end = fill[v];
        qsort(net->others + begin, (size_t)(end - begin), sizeof *net->others, compare_ints);
        net->starts[v] = written;
        for (int i = begin; i < end; i++)
            if (net->others[i] != v && (written == net->starts[v] || net->others[written - 1] != net->others[i]))
                net->others[written++] = net->others[i];
    }
    net->starts[count] = written;
    free(fill);
    return true;
}

ex_result exi_art_net_make(const ex_mesh *mesh, const double *positions, exi_art_net *net, ex_error *error) {
    const int count = mesh->vertex_count;
    links l = {0};
    *net = (exi_art_net){0};
    int *parents = exi_array_allocate((size_t)count, sizeof *parents);
    int *sizes = exi_array_allocate((size_t)count, sizeof *sizes);
    bool good = parents && sizes && add_faces(mesh, &l);
    for (int v = 0; good && v < count; v++)
        parents[v] = v;
    for (size_t i = 0; good && i < l.count; i++)
        parents[find_root(parents, l.pairs[i][0])] = find_root(parents, l.pairs[i][1]);
    for (int v = 0; good && v < count; v++)
        parents[v] = find_root(parents, v);
    good = good && link_components(count, positions, parents, sizes, &l) && make_lists(count, &l, net);
    free(parents);
    free(sizes);
    free(l.pairs);
    if (good)
        return EX_OK;
    exi_art_net_free(net);
    return ex_error_memory(error, "the neighbours of vertices", (size_t)count * 32);
}
