/*
 * The connectivity of one level of a subdivided mesh, and of the next.
 *
 * Edges are found by sorting half-edges by their lower and then their higher vertex, with two counting sorts, so that a
 * vertex costs no more than its edges, however many it has. Edges are numbered in that order.
 */
#include "author/base/array.h"
#include "author/mesh/subdivide/subdivide.h"
#include "runtime/base/result.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

void exi_topology_free(exi_topology *t) {
    free(t->face_offsets);
    free(t->corners);
    free(t->corner_faces);
    free(t->corner_edges);
    free(t->opposites);
    free(t->edge_corners);
    free(t->vertex_corners);
    free(t->edge_sharpness);
    free(t->vertex_sharpness);
    free(t->holes);
    free(t->face_sources);
    free(t->texcoords);
    free(t->corner_texcoords);
    *t = (exi_topology){0};
}

static ex_result no_memory(const exi_topology *t, ex_error *error) {
    return ex_error_set(error, EX_ERROR_MEMORY, "not enough memory to subdivide %d faces", t->face_count);
}

/* ---- edges ---- */

static int low_end(const exi_topology *t, int half_edge) {
    int a = t->corners[half_edge], b = t->corners[exi_next(t, half_edge)];
    return a < b ? a : b;
}

static int high_end(const exi_topology *t, int half_edge) {
    int a = t->corners[half_edge], b = t->corners[exi_next(t, half_edge)];
    return a < b ? b : a;
}

/* One stable counting sort of half-edges by one of their ends; counts [vertex_count + 1]. */
static void sort_by(const exi_topology *t, int (*end)(const exi_topology *, int), const int *from, int *to,
                    int *counts) {
    memset(counts, 0, ((size_t)t->vertex_count + 1) * sizeof *counts);
    for (int i = 0; i < t->corner_count; i++)
        counts[end(t, i) + 1]++;
    for (int v = 0; v < t->vertex_count; v++)
        counts[v + 1] += counts[v];
    for (int i = 0; i < t->corner_count; i++) {
        int half_edge = from ? from[i] : i;
        to[counts[end(t, half_edge)]++] = half_edge;
    }
}

/* Makes an edge from the half-edges along it. On a surface there is one, or two in opposite directions; others have no
 * opposites. */
static void join(exi_topology *t, const int *run, int count, exi_faults *faults) {
    const bool fault = count > 2 || (count == 2 && t->corners[run[0]] == t->corners[run[1]]);
    if (fault && faults->edge_count++ == 0) {
        faults->edge_vertices[0] = low_end(t, run[0]);
        faults->edge_vertices[1] = high_end(t, run[0]);
    }
    for (int i = 0; i < count; i++) {
        t->corner_edges[run[i]] = t->edge_count;
        t->opposites[run[i]] = count == 2 && !fault ? run[1 - i] : -1;
    }
    t->edge_corners[t->edge_count++] = run[0];
}

static void find_edges(exi_topology *t, int *work, exi_faults *faults) {
    int *by_high = work, *sorted = work + t->corner_count, *counts = sorted + t->corner_count;
    sort_by(t, high_end, NULL, by_high, counts);
    sort_by(t, low_end, by_high, sorted, counts);
    for (int i = 0; i < t->corner_count;) {
        int end = i + 1;
        while (end < t->corner_count && low_end(t, sorted[end]) == low_end(t, sorted[i]) &&
               high_end(t, sorted[end]) == high_end(t, sorted[i]))
            end++;
        join(t, sorted + i, end - i, faults);
        i = end;
    }
}

/* Counts corners with a vertex that the face has already; last [vertex_count] holds the last face that had it. */
static int count_repeated(const exi_topology *t, int *last) {
    int count = 0;
    memset(last, 0xFF, (size_t)t->vertex_count * sizeof *last);
    for (int c = 0; c < t->corner_count; c++) {
        int f = t->corner_faces[c], v = t->corners[c];
        count += last[v] == f;
        last[v] = f;
    }
    return count;
}

/* ---- walks around vertices ---- */

/* Finds the corners at which walks begin: at the boundary if there is one. faces_at [vertex_count] is scratch. */
static void find_walks(exi_topology *t, int *faces_at, unsigned char *pinched) {
    memset(t->vertex_corners, 0xFF, (size_t)t->vertex_count * sizeof *t->vertex_corners);
    memset(faces_at, 0, (size_t)t->vertex_count * sizeof *faces_at);
    for (int c = t->corner_count - 1; c >= 0; c--) {
        int v = t->corners[c], begin = t->vertex_corners[v];
        faces_at[v]++;
        if (begin < 0 || t->opposites[c] < 0 || t->opposites[begin] >= 0)
            t->vertex_corners[v] = c;
    }
    t->most_spokes = 0;
    for (int v = 0; v < t->vertex_count; v++) {
        int begin = t->vertex_corners[v], met = 0;
        for (int c = begin; c >= 0 && (met == 0 || c != begin); c = t->opposites[exi_previous(t, c)])
            met++;
        if (pinched)
            pinched[v] = met != faces_at[v];
        t->most_spokes = met + 1 > t->most_spokes ? met + 1 : t->most_spokes;
    }
}

void exi_topology_disconnect(exi_topology *t) {
    free(t->corner_faces);
    free(t->corner_edges);
    free(t->opposites);
    free(t->edge_corners);
    free(t->vertex_corners);
    t->corner_faces = t->corner_edges = t->opposites = t->edge_corners = t->vertex_corners = NULL;
    t->edge_count = 0;
}

ex_result exi_topology_connect(exi_topology *t, unsigned char *pinched, exi_faults *faults, ex_error *error) {
    const size_t corners = (size_t)t->corner_count, vertices = (size_t)t->vertex_count;
    t->corner_faces = exi_array_allocate(corners, sizeof *t->corner_faces);
    t->corner_edges = exi_array_allocate(corners, sizeof *t->corner_edges);
    t->opposites = exi_array_allocate(corners, sizeof *t->opposites);
    t->edge_corners = exi_array_allocate(corners, sizeof *t->edge_corners);
    t->vertex_corners = exi_array_allocate(vertices, sizeof *t->vertex_corners);
    int *work = exi_array_allocate(2 * corners + vertices + 1, sizeof *work);
    if (!t->corner_faces || !t->corner_edges || !t->opposites || !t->edge_corners || !t->vertex_corners || !work) {
        free(work);
        return no_memory(t, error);
    }
    for (int f = 0; f < t->face_count; f++)
        for (int c = t->face_offsets[f]; c < t->face_offsets[f + 1]; c++)
            t->corner_faces[c] = f;
    *faults = (exi_faults){.repeated_count = count_repeated(t, work)};
    if (faults->repeated_count == 0) {
        find_edges(t, work, faults);
        find_walks(t, work, pinched);
    }
    free(work);
    return EX_OK;
}

/* ---- the next level ---- */

/* Splits a face into one quad for each corner: the corner, the edge after, the centre, the edge before. */
static void split_into_quads(const exi_topology *t, exi_topology *child) {
    for (int c = 0; c < t->corner_count; c++) {
        int *quad = child->corners + 4 * (size_t)c;
        quad[0] = t->corners[c];
        quad[1] = t->vertex_count + t->corner_edges[c];
        quad[2] = t->vertex_count + t->edge_count + t->corner_faces[c];
        quad[3] = t->vertex_count + t->corner_edges[exi_previous(t, c)];
    }
}

/* Splits a triangle into one for each corner and one in the middle. */
static void split_into_triangles(const exi_topology *t, exi_topology *child) {
    for (int f = 0; f < t->face_count; f++) {
        int *triangles = child->corners + 12 * (size_t)f;
        for (int i = 0; i < 3; i++) {
            int c = 3 * f + i;
            triangles[3 * i] = t->corners[c];
            triangles[3 * i + 1] = t->vertex_count + t->corner_edges[c];
            triangles[3 * i + 2] = t->vertex_count + t->corner_edges[exi_previous(t, c)];
            triangles[9 + i] = triangles[3 * i + 1];
        }
    }
}

/* Returns the parent of a child face: quads come in the order of corners, triangles four per face. */
static int parent_face(const exi_topology *t, ex_scheme scheme, int child) {
    return scheme == EX_SCHEME_LOOP ? child / 4 : t->corner_faces[child];
}

/* An edge between an old vertex and one on an edge is half of that edge; all others are new and smooth. */
static void inherit_sharpness(const exi_topology *t, const double *child_sharpness, const double *vertex_sharpness,
                              exi_topology *child) {
    memcpy(child->vertex_sharpness, vertex_sharpness, (size_t)t->vertex_count * sizeof *vertex_sharpness);
    for (int v = t->vertex_count; v < child->vertex_count; v++)
        child->vertex_sharpness[v] = 0;
    for (int e = 0; e < child->edge_count; e++) {
        int low = low_end(child, child->edge_corners[e]), parent = high_end(child, child->edge_corners[e]);
        parent -= t->vertex_count;
        child->edge_sharpness[e] = 0;
        if (low < t->vertex_count && parent < t->edge_count)
            child->edge_sharpness[e] =
                child_sharpness[2 * (size_t)parent + (t->corners[t->edge_corners[parent]] == low ? 0 : 1)];
    }
}

static bool allocate_child(const exi_topology *t, ex_scheme scheme, exi_topology *child) {
    const size_t corners = (size_t)child->corner_count, faces = (size_t)child->face_count;
    child->face_offsets = exi_array_allocate(faces + 1, sizeof *child->face_offsets);
    child->corners = exi_array_allocate(corners, sizeof *child->corners);
    child->holes = exi_array_allocate(faces, sizeof *child->holes);
    child->face_sources = exi_array_allocate(faces, sizeof *child->face_sources);
    child->vertex_sharpness = exi_array_allocate((size_t)child->vertex_count, sizeof *child->vertex_sharpness);
    if (!child->face_offsets || !child->corners || !child->holes || !child->face_sources || !child->vertex_sharpness)
        return false;
    for (int f = 0; f < child->face_count; f++) {
        int parent = parent_face(t, scheme, f);
        child->face_offsets[f] = f * (scheme == EX_SCHEME_LOOP ? 3 : 4);
        child->holes[f] = t->holes[parent];
        child->face_sources[f] = t->face_sources[parent];
    }
    child->face_offsets[child->face_count] = child->corner_count;
    return true;
}

ex_result exi_topology_refine(const exi_topology *t, ex_scheme scheme, const double *child_sharpness,
                              const double *vertex_sharpness, exi_topology *child, ex_error *error) {
    const bool triangles = scheme == EX_SCHEME_LOOP;
    *child = (exi_topology){0};
    /* No other count exceeds the child's corners. */
    if (t->corner_count > INT_MAX / 16 || t->vertex_count > INT_MAX / 2 || t->texcoord_count > INT_MAX / 2)
        return ex_error_set(error, EX_ERROR_LIMIT, "the next level of %d faces would have too many corners",
                            t->face_count);
    child->vertex_count = t->vertex_count + t->edge_count + (triangles ? 0 : t->face_count);
    child->face_count = triangles ? 4 * t->face_count : t->corner_count;
    child->corner_count = 4 * t->corner_count;
    if (!allocate_child(t, scheme, child))
        return no_memory(child, error);
    if (triangles)
        split_into_triangles(t, child);
    else
        split_into_quads(t, child);
    exi_faults faults; /* those of the cage again */
    ex_result result = exi_topology_connect(child, NULL, &faults, error);
    if (result != EX_OK)
        return result;
    child->edge_sharpness = exi_array_allocate((size_t)child->edge_count, sizeof *child->edge_sharpness);
    if (!child->edge_sharpness)
        return no_memory(child, error);
    inherit_sharpness(t, child_sharpness, vertex_sharpness, child);
    return t->corner_texcoords ? exi_topology_refine_texcoords(t, scheme, child, error) : EX_OK;
}
