/*
 * surfaces.h - checks of a surface of triangles in tests of demos: closed, manifold, in one piece, its volume, and the
 * stretch of its edges in a form.
 */
#ifndef EXEMPLAR_TESTS_SURFACES_H
#define EXEMPLAR_TESTS_SURFACES_H

#include "demos/demos.h"

static inline int compare_edges(const void *a, const void *b) {
    const int *p = a, *q = b;
    return p[0] != q[0] ? (p[0] > q[0]) - (p[0] < q[0]) : (p[1] > q[1]) - (p[1] < q[1]);
}

/* Checks that every edge occurs once in each direction, that there are as many edges as on a sphere, and that all is
 * connected: a surface without a hole, without an edge or a vertex that three pieces share. */
static inline void check_sphere(const ex_mesh *mesh) {
    const size_t count = (size_t)mesh->corner_count;
    int(*edges)[2] = malloc(count * sizeof *edges), (*back)[2] = malloc(count * sizeof *back);
    int *piece = malloc((size_t)mesh->vertex_count * sizeof *piece), merged = 0;
    assert_true(edges && back && piece);
    for (int v = 0; v < mesh->vertex_count; v++)
        piece[v] = v;
    for (int h = 0; h < mesh->corner_count; h++) {
        const int a = mesh->corners[h], b = mesh->corners[h % 3 == 2 ? h - 2 : h + 1];
        edges[h][0] = back[h][1] = a;
        edges[h][1] = back[h][0] = b;
        int p = a, q = b;
        while (piece[p] != p)
            p = piece[p] = piece[piece[p]];
        while (piece[q] != q)
            q = piece[q] = piece[piece[q]];
        merged += p != q;
        piece[p] = q;
    }
    qsort(edges, count, sizeof *edges, compare_edges);
    qsort(back, count, sizeof *back, compare_edges);
    for (size_t i = 1; i < count; i++)
        assert_true(compare_edges(edges[i - 1], edges[i]) < 0);
    assert_memory_equal(edges, back, count * sizeof *edges);
    assert_int_equal(merged, mesh->vertex_count - 1);
    assert_int_equal(2 * mesh->vertex_count - mesh->face_count, 4);
    free(edges);
    free(back);
    free(piece);
}

static inline double volume_of(const ex_mesh *mesh, const double *positions) {
    double volume = 0;
    for (int t = 0; t < mesh->face_count; t++) {
        const double *p = positions + 3 * mesh->corners[3 * t], *q = positions + 3 * mesh->corners[3 * t + 1],
                     *r = positions + 3 * mesh->corners[3 * t + 2];
        volume += (p[0] * (q[1] * r[2] - q[2] * r[1]) + p[1] * (q[2] * r[0] - q[0] * r[2]) +
                   p[2] * (q[0] * r[1] - q[1] * r[0])) /
                  6;
    }
    return volume;
}

static inline double edge_length(const double *positions, int a, int b) {
    const double *p = positions + 3 * a, *q = positions + 3 * b;
    return sqrt((p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]) + (p[2] - q[2]) * (p[2] - q[2]));
}

/* Fraction of the edges that are longer than `most` times their rest length, or shorter than 1 / most. */
static inline double stretched_part(const ex_mesh *rest, const double *positions, double most) {
    int count = 0;
    for (int h = 0; h < rest->corner_count; h++) {
        const int a = rest->corners[h], b = rest->corners[h % 3 == 2 ? h - 2 : h + 1];
        const double ratio = edge_length(positions, a, b) / edge_length(rest->positions, a, b);
        count += ratio > most || ratio < 1 / most;
    }
    return (double)count / rest->corner_count;
}

#endif
