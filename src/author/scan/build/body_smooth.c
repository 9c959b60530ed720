/*
 * Removes the scanner's noise from a map: alternates steps that smooth and steps that undo it for long waves (Taubin),
 * over the vertices that the part covers; noise and vertex spacing determine their number. At 1 mm and vertices 4 mm
 * apart, waves of 16 mm lose nine tenths, waves of 50 mm nothing. Filled holes then look like their surroundings.
 */
#include "author/base/array.h"
#include "author/scan/build/body_build.h"
#include "runtime/base/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Neighbours of each vertex of the level. */
struct exi_body_net {
    int *starts;     /* [vertex_count + 1] */
    int *neighbours; /* in both directions */
    double spacing;  /* mean distance between them at rest, metres */
};

void exi_body_net_free(exi_body_net *net) {
    if (!net)
        return;
    free(net->starts);
    free(net->neighbours);
    free(net);
}

static int order(const void *a, const void *b) {
    const int *x = a, *y = b;
    return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

/* Lists pairs of vertices along faces, each edge once per direction; returns their number. */
static int list_edges(const ex_rig_mesh *mesh, int (*pairs)[2]) {
    int count = 0, kept = 0;
    const uint32_t *corners = mesh->corners;
    for (int f = 0; f < mesh->face_count; corners += mesh->face_sizes[f++])
        for (uint32_t i = 0; i < mesh->face_sizes[f]; i++) {
            const uint32_t a = corners[i], b = corners[(i + 1) % mesh->face_sizes[f]];
            const int from = (int)(mesh->split_source ? mesh->split_source[a] : a);
            const int to = (int)(mesh->split_source ? mesh->split_source[b] : b);
            memcpy(pairs[count++], (const int[2]){from, to}, sizeof *pairs);
            memcpy(pairs[count++], (const int[2]){to, from}, sizeof *pairs);
        }
    qsort(pairs, (size_t)count, sizeof *pairs, order);
    for (int i = 0; i < count; i++) {
        if (i == 0 || memcmp(pairs[i], pairs[i - 1], sizeof *pairs) != 0)
            memmove(pairs[kept++], pairs[i], sizeof *pairs);
    }
    return kept;
}

ex_result exi_body_net_make(exi_body *body, const float *places) {
    const ex_rig_mesh mesh = ex_rig_level_mesh(body->rig, body->level);
    int(*pairs)[2] = exi_array_allocate(2 * (size_t)mesh.corner_count, sizeof *pairs);
    const int count = pairs ? list_edges(&mesh, pairs) : 0;
    exi_body_net *net = calloc(1, sizeof *net);
    double sum = 0;
    body->net = net;
    if (net) {
        net->starts = calloc((size_t)body->vertex_count + 1, sizeof *net->starts);
        net->neighbours = exi_array_allocate((size_t)count, sizeof *net->neighbours);
    }
    if (!pairs || !net || !net->starts || !net->neighbours) {
        free(pairs);
        return ex_error_memory(body->error, "the template's edges", (size_t)mesh.corner_count * 2 * sizeof *pairs);
    }
    for (int i = 0; i < count; i++) {
        const float *a = places + 3 * pairs[i][0], *b = places + 3 * pairs[i][1];
        net->starts[pairs[i][0] + 1] = i + 1;
        net->neighbours[i] = pairs[i][1];
        sum += sqrt(
            (double)((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2])));
    }
    for (int v = 0; v < body->vertex_count; v++)
        net->starts[v + 1] = net->starts[v + 1] > net->starts[v] ? net->starts[v + 1] : net->starts[v];
    net->spacing = count > 0 ? sum / count : 1;
    free(pairs);
    return EX_OK;
}

/* d += by (mean of the neighbours - d) */
static void step(const exi_body_net *net, const ex_displacement_map *map, double by, float *to) {
    for (int v = 0; v < map->vertex_count; v++) {
        double sum = 0;
        int count = 0;
        to[v] = map->displacements[v];
        if (map->states[v] == EX_DISPLACEMENT_MAP_OUTSIDE)
            continue;
        for (int i = net->starts[v]; i < net->starts[v + 1]; i++) {
            if (map->states[net->neighbours[i]] == EX_DISPLACEMENT_MAP_OUTSIDE)
                continue;
            sum += (double)map->displacements[net->neighbours[i]];
            count++;
        }
        if (count > 0)
            to[v] += (float)(by * (sum / count - (double)map->displacements[v]));
    }
}

ex_result exi_body_smooth(const exi_body *body, ex_displacement_map *map) {
    const double noise = body->session->noise / 0.001, near = 0.004 / body->net->spacing;
    const double wanted = 10 * noise * noise * near * near;
    const int steps = wanted < 100 ? (int)(wanted + 0.5) : 100;
    float *other = exi_array_allocate((size_t)map->vertex_count, sizeof *other);
    if (!other)
        return ex_error_memory(body->error, "a map", (size_t)map->vertex_count * sizeof *other);
    for (int i = 0; i < steps; i++) {
        step(body->net, map, 0.5, other);
        memcpy(map->displacements, other, (size_t)map->vertex_count * sizeof *other);
        step(body->net, map, -0.53, other);
        memcpy(map->displacements, other, (size_t)map->vertex_count * sizeof *other);
    }
    free(other);
    return EX_OK;
}
