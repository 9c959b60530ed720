/*
 * Builds the graph of a scan's mesh: neighbours along the edges of faces, the area of each vertex, and the edge of the
 * scan. Faces much larger than a marker bridge gaps that the scanner did not see, and are ignored. The rim of a hole of
 * a sample or two is not an edge. Time and memory are linear in the number of corners.
 */
#include "author/base/array.h"
#include "author/scan/find/find.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_finite(const exi_finder *f, int v) {
    const double *p = exi_find_position(f, v);
    const float *c = f->mesh->colours + 3 * (size_t)v;
    return isfinite(p[0]) && isfinite(p[1]) && isfinite(p[2]) && isfinite(c[0]) && isfinite(c[1]) && isfinite(c[2]);
}

/* True if a face counts: valid vertices, and no edge longer than the limit. */
static bool is_face(const exi_finder *f, int face, double longest_sq) {
    const int begin = f->mesh->face_offsets[face], end = f->mesh->face_offsets[face + 1];
    for (int c = begin; c < end; c++) {
        const int a = f->mesh->corners[c], b = f->mesh->corners[c + 1 < end ? c + 1 : begin];
        if (!is_finite(f, a) || !is_finite(f, b))
            return false;
        const double *p = exi_find_position(f, a), *q = exi_find_position(f, b);
        const double x = p[0] - q[0], y = p[1] - q[1], z = p[2] - q[2];
        if (!(x * x + y * y + z * z <= longest_sq))
            return false;
    }
    return true;
}

static void add_face(exi_finder *f, int face) {
    const int begin = f->mesh->face_offsets[face], end = f->mesh->face_offsets[face + 1];
    const double *o = exi_find_position(f, f->mesh->corners[begin]);
    double sum[3] = {0};
    for (int c = begin + 1; c + 1 < end; c++) {
        const double *p = exi_find_position(f, f->mesh->corners[c]), *q = exi_find_position(f, f->mesh->corners[c + 1]);
        const double a[3] = {p[0] - o[0], p[1] - o[1], p[2] - o[2]}, b[3] = {q[0] - o[0], q[1] - o[1], q[2] - o[2]};
        sum[0] += (a[1] * b[2] - a[2] * b[1]) / 2;
        sum[1] += (a[2] * b[0] - a[0] * b[2]) / 2;
        sum[2] += (a[0] * b[1] - a[1] * b[0]) / 2;
    }
    const double area = sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]) / (end - begin);
    for (int c = begin; c < end; c++) {
        const int v = f->mesh->corners[c];
        f->areas[v] += (float)area;
        for (int k = 0; k < 3; k++)
            f->normals[v][k] += (float)(sum[k] / (end - begin));
        f->states[v] = EXI_FIND_INNER;
    }
}

/* Lists both directions of every face's edges, sorted by one end and then, stably, by the other: *from and *to
 * [*count]. */
static bool list_edges(exi_finder *f, const unsigned char *there, int **from, int **to, size_t *count) {
    const ex_mesh *mesh = f->mesh;
    const size_t n = (size_t)f->vertex_count;
    size_t total = 0;
    for (int i = 0; i < mesh->face_count; i++)
        total += there[i] ? 2 * (size_t)(mesh->face_offsets[i + 1] - mesh->face_offsets[i]) : 0;
    int *first = exi_array_allocate(total, sizeof *first), *second = exi_array_allocate(total, sizeof *second);
    int *other_first = exi_array_allocate(total, sizeof *first),
        *other_second = exi_array_allocate(total, sizeof *first);
    size_t *places = calloc(n + 1, sizeof *places);
    const bool good = first && second && other_first && other_second && places;
    size_t at = 0;
    for (int i = 0; good && i < mesh->face_count; i++) {
        const int begin = mesh->face_offsets[i], end = mesh->face_offsets[i + 1];
        for (int c = begin; there[i] && c < end; c++) {
            const int a = mesh->corners[c], b = mesh->corners[c + 1 < end ? c + 1 : begin];
            first[at] = a, second[at++] = b;
            first[at] = b, second[at++] = a;
        }
    }
    for (int pass = 0; good && pass < 2; pass++) {
        const int *key = pass == 0 ? second : other_first;
        memset(places, 0, (n + 1) * sizeof *places);
        for (size_t e = 0; e < total; e++)
            places[key[e] + 1]++;
        for (size_t v = 0; v < n; v++)
            places[v + 1] += places[v];
        for (size_t e = 0; e < total; e++) {
            const size_t place = places[key[e]]++;
            if (pass == 0)
                other_first[place] = first[e], other_second[place] = second[e];
            else
                first[place] = other_first[e], second[place] = other_second[e];
        }
    }
    free(other_first);
    free(other_second);
    free(places);
    *from = first;
    *to = second;
    *count = total;
    return good;
}

/* Turns sorted edges into lists of neighbours; an edge that appears once has one face. */
static void link_vertices(exi_finder *f, const int *from, const int *to, size_t count) {
    size_t used = 0, e = 0;
    for (int v = 0; v < f->vertex_count; v++) {
        f->starts[v] = (int)used;
        while (e < count && from[e] == v) {
            size_t same = e;
            while (same < count && from[same] == v && to[same] == to[e])
                same++;
            if (to[e] != v) {
                f->rims[used] = same - e == 1;
                f->others[used++] = to[e];
            }
            e = same;
        }
    }
    f->starts[f->vertex_count] = (int)used;
}

/* Marks vertices on edges of the scan. A connected run of edge no longer than `least` is a pinhole. */
static void mark_edges(exi_finder *f, double least) {
    for (int v = 0; v < f->vertex_count; v++) {
        if (f->stamps[v])
            continue;
        int count = 0;
        double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
        f->stamps[v] = 1;
        f->queue[count++] = v;
        for (int i = 0; i < count; i++) {
            const int u = f->queue[i];
            const double *p = exi_find_position(f, u);
            for (int e = f->starts[u]; e < f->starts[u + 1]; e++) {
                const int w = f->others[e];
                if (f->rims[e] && !f->stamps[w]) {
                    f->stamps[w] = 1;
                    f->queue[count++] = w;
                }
            }
            for (int k = 0; k < 3; k++) {
                low[k] = p[k] < low[k] ? p[k] : low[k];
                high[k] = p[k] > high[k] ? p[k] : high[k];
            }
        }
        const double x = high[0] - low[0], y = high[1] - low[1], z = high[2] - low[2];
        for (int i = 0; count > 1 && x * x + y * y + z * z > least * least && i < count; i++)
            f->states[f->queue[i]] = EXI_FIND_EDGE;
    }
    memset(f->stamps, 0, (size_t)f->vertex_count * sizeof *f->stamps);
}

ex_result exi_find_graph(exi_finder *f, ex_error *error) {
    const ex_mesh *mesh = f->mesh;
    const size_t n = (size_t)f->vertex_count;
    const double longest = 1.5 * f->options.size;
    unsigned char *there = exi_array_allocate((size_t)mesh->face_count, 1);
    int *from = NULL, *to = NULL, there_count = 0, whole_count = 0;
    size_t count = 0;
    f->states = calloc(n + 1, 1);
    f->areas = calloc(n + 1, sizeof *f->areas);
    f->normals = calloc(n + 1, sizeof *f->normals);
    f->starts = exi_array_allocate(n + 1, sizeof *f->starts);
    f->queue = exi_array_allocate(n, sizeof *f->queue);
    f->stamps = calloc(n + 1, sizeof *f->stamps);
    bool good = there && f->states && f->areas && f->normals && f->starts && f->queue && f->stamps;
    for (int i = 0; good && i < mesh->face_count; i++) {
        there[i] = is_face(f, i, longest * longest);
        there_count += there[i];
        whole_count += there[i] || is_face(f, i, INFINITY);
        if (there[i])
            add_face(f, i);
    }
    good = good && list_edges(f, there, &from, &to, &count);
    if (good) {
        f->others = exi_array_allocate(count, sizeof *f->others);
        f->rims = exi_array_allocate(count, 1);
        good = f->others && f->rims;
    }
    if (good) {
        link_vertices(f, from, to, count);
        mark_edges(f, 1.25 * f->options.size);
    }
    free(there);
    free(from);
    free(to);
    if (!good)
        return ex_error_memory(error, "a scan's neighbours", 4 * count * sizeof *from);
    if (there_count < whole_count / 2 || (there_count == 0 && whole_count > 0))
        return ex_error_set(error, EX_ERROR_DATA,
                            "most of its faces are longer than %g mm, but markers are %g mm across: is it in metres, "
                            "and fine enough to show them?",
                            1000 * longest, 1000 * f->options.size);
    return EX_OK;
}
