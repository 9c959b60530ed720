/*
 * Parts of a map: finds the vertices that a part covers, and the masks that blend overlapping parts (Allen, Curless,
 * Popovic, section 5.2 and equation 6; its printed form runs from 1/2 to 3/2):
 *
 *     mask = (1 + cos((b / x - 1) pi)) / 2,  scaled to sum to 1 over the parts
 *
 * with b the distance from a vertex to the edge of the part's cover, over the template, and x the width of the overlap.
 * Overlaps vary in width, and end where the other part's b is 0: x = b + b of the other, or with several others the
 * largest. The masks of two parts then sum to 1 without scaling, and the mask of a third begins at 0 where its b does.
 * Both ends of the cosine are flat, so that no edge shows where a part begins. A part without an edge has the other's
 * largest b, minus b there.
 *
 * Distances run along edges and across faces (Dijkstra): at most 8 % too long on squares, for both parts alike.
 */
#include "author/scan/map/map.h"

#include "author/base/array.h"
#include "runtime/base/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the cover of a part ---- */

/* True if one of the words of a group's name is the joint's. */
static bool names_joint(const char *group, const char *joint) {
    const size_t size = strlen(joint);
    for (const char *at = group; (at = strstr(at, joint)) != NULL; at++)
        if ((at == group || at[-1] == ' ') && (at[size] == '\0' || at[size] == ' '))
            return true;
    return false;
}

static ex_result mark_joint(const ex_mesh *mesh, const char *joint, unsigned char *covered, ex_error *error) {
    int found = 0;
    for (int f = 0; mesh->face_groups && f < mesh->face_count; f++) {
        if (mesh->face_groups[f] < 0 || !names_joint(mesh->group_names[mesh->face_groups[f]], joint))
            continue;
        found++;
        for (int c = mesh->face_offsets[f]; c < mesh->face_offsets[f + 1]; c++)
            covered[mesh->corners[c]] = 1;
    }
    return found ? EX_OK
                 : ex_error_set(error, EX_ERROR_DATA,
                                "no face of the template is in a group '%s': each face must be in the group of the "
                                "joint whose bone it belongs to",
                                joint);
}

ex_result ex_displacement_map_covered(const ex_rig *rig, int level, const char *const *joints, int joint_count,
                                      unsigned char *covered, ex_error *error) {
    if (!rig || !covered || (joint_count > 0 && !joints))
        return exi_misuse_error(error, __func__, "no rig, no joints, or no pointer for the answer");
    const size_t count = (size_t)ex_rig_level_vertex_count(rig, level);
    if (count == 0)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "the template has no level %d of subdivision", level);
    float *nowhere = calloc(3 * count, sizeof *nowhere);
    ex_mesh *mesh = NULL;
    ex_result result = nowhere ? ex_rig_to_mesh(rig, &(ex_surface){.level = level, .positions = nowhere}, &mesh, error)
                               : ex_error_memory(error, "the template", 12 * count);
    memset(covered, 0, count);
    for (int i = 0; result == EX_OK && i < joint_count; i++)
        result = mark_joint(mesh, joints[i], covered, error);
    free(nowhere);
    ex_mesh_destroy(mesh);
    return result;
}

/* ---- distances ---- */

/* A heap of vertices by distance, with each one's position in it. */
typedef struct heap {
    int *vertices, *places; /* places -1: never in it; -2: done */
    double *distances;
    int count;
} heap;

static void put(heap *h, int at, int vertex) {
    h->vertices[at] = vertex;
    h->places[vertex] = at;
}

static void sift_up(heap *h, int at) {
    const int vertex = h->vertices[at];
    while (at > 0 && h->distances[vertex] < h->distances[h->vertices[(at - 1) / 2]]) {
        put(h, at, h->vertices[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    put(h, at, vertex);
}

static int take_nearest(heap *h) {
    const int nearest = h->vertices[0], last = h->vertices[--h->count];
    int at = 0;
    for (;;) {
        int child = 2 * at + 1;
        if (child >= h->count)
            break;
        if (child + 1 < h->count && h->distances[h->vertices[child + 1]] < h->distances[h->vertices[child]])
            child++;
        if (h->distances[h->vertices[child]] >= h->distances[last])
            break;
        put(h, at, h->vertices[child]);
        at = child;
    }
    if (h->count > 0)
        put(h, at, last);
    h->places[nearest] = -2;
    return nearest;
}

static double apart(const float *positions, int a, int b) {
    double sum = 0;
    for (size_t c = 0; c < 3; c++) {
        const double step = (double)positions[3 * (size_t)a + c] - (double)positions[3 * (size_t)b + c];
        sum += step * step;
    }
    return sqrt(sum);
}

static void offer(heap *h, int vertex, double distance) {
    if (h->places[vertex] == -2 || !(distance < h->distances[vertex]))
        return;
    h->distances[vertex] = distance;
    if (h->places[vertex] == -1)
        put(h, h->count++, vertex);
    sift_up(h, h->places[vertex]);
}

/* Measures from the vertices of the part that have a neighbour outside it; INFINITY if the part has no edge. */
static void measure_distances(const exi_map_net *net, const float *positions, const unsigned char *covered, heap *h) {
    h->count = 0;
    for (int v = 0; v < net->vertex_count; v++) {
        h->places[v] = -1;
        h->distances[v] = INFINITY;
    }
    for (int v = 0; v < net->vertex_count; v++)
        for (int i = net->ring_starts[v]; covered[v] && i < net->ring_starts[v + 1]; i++)
            if (!covered[net->ring[i]])
                offer(h, v, 0);
    while (h->count > 0) {
        const int v = take_nearest(h);
        for (int i = net->ring_starts[v]; i < net->ring_starts[v + 1]; i++)
            if (covered[net->ring[i]])
                offer(h, net->ring[i], h->distances[v] + apart(positions, v, net->ring[i]));
    }
}

/* ---- masks ---- */

typedef struct blending {
    int part_count;
    const unsigned char *const *covered;
    double *distances; /* [part_count][vertex_count] */
    double *largest;   /* [part_count] largest finite distance */
    int vertex_count;
} blending;

/* Returns the part's distance at a vertex; if it has no edge, the remainder left by the others. */
static double distance_at(const blending *b, int part, int vertex) {
    const double own = b->distances[(size_t)part * (size_t)b->vertex_count + (size_t)vertex];
    if (isfinite(own))
        return own;
    double left = INFINITY;
    for (int p = 0; p < b->part_count; p++) {
        const double other = b->distances[(size_t)p * (size_t)b->vertex_count + (size_t)vertex];
        if (p != part && b->covered[p][vertex] && isfinite(other) && b->largest[p] - other < left)
            left = b->largest[p] - other;
    }
    return isfinite(left) ? left : 1;
}

static double raw_mask(const blending *b, int part, int vertex) {
    const double own = distance_at(b, part, vertex);
    double other = 0;
    bool alone = true;
    for (int p = 0; p < b->part_count; p++)
        if (p != part && b->covered[p][vertex]) {
            const double distance = distance_at(b, p, vertex);
            other = distance > other ? distance : other;
            alone = false;
        }
    if (alone)
        return 1;
    const double x = own + other, pi = 3.14159265358979323846;
    return x > 0 ? (1 + cos((own / x - 1) * pi)) / 2 : 0.5;
}

static void blend(const blending *b, float *const *masks) {
    for (int v = 0; v < b->vertex_count; v++) {
        double total = 0;
        for (int p = 0; p < b->part_count; p++)
            total += b->covered[p][v] ? raw_mask(b, p, v) : 0;
        for (int p = 0; p < b->part_count; p++)
            masks[p][v] = b->covered[p][v] && total > 0 ? (float)(raw_mask(b, p, v) / total) : 0;
    }
}

/* ---- the entry point ---- */

static ex_result make_masks(const exi_map_net *net, const float *positions, blending *b, float *const *masks,
                            ex_error *error) {
    const size_t count = (size_t)net->vertex_count, parts = (size_t)b->part_count;
    heap h = {.vertices = exi_array_allocate(count, sizeof(int)), .places = exi_array_allocate(count, sizeof(int))};
    b->distances = exi_array_allocate(parts * count, sizeof *b->distances);
    b->largest = calloc(parts, sizeof *b->largest);
    const bool good = h.vertices && h.places && b->distances && b->largest;
    for (size_t p = 0; good && p < parts; p++) {
        h.distances = b->distances + p * count;
        measure_distances(net, positions, b->covered[p], &h);
        for (size_t v = 0; v < count; v++)
            if (b->covered[p][v] && isfinite(h.distances[v]) && h.distances[v] > b->largest[p])
                b->largest[p] = h.distances[v];
    }
    if (good)
        blend(b, masks);
    free(h.vertices);
    free(h.places);
    free(b->distances);
    free(b->largest);
    return good ? EX_OK : ex_error_memory(error, "the parts' masks", parts * count * sizeof(double));
}

ex_result ex_displacement_map_masks(const ex_rig *rig, int level, const unsigned char *const *covered, int part_count,
                                    float *const *masks, ex_error *error) {
    if (!rig || !covered || !masks || part_count < 1)
        return exi_misuse_error(error, __func__, "no rig, no parts, or no pointer for the masks");
    exi_map_net net;
    exi_map_surface surface = {0};
    blending b = {.part_count = part_count, .covered = covered};
    ex_result result = exi_map_net_make(rig, level, &net, error);
    b.vertex_count = net.vertex_count;
    if (result == EX_OK)
        result = exi_map_surface_make(rig, level, NULL, NULL, &surface, error);
    if (result == EX_OK)
        result = make_masks(&net, surface.positions, &b, masks, error);
    exi_map_surface_free(&surface);
    exi_map_net_free(&net);
    return result;
}
