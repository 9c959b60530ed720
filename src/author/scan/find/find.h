/*
 * find.h - what the steps of finding markers share; private to src/author/scan.
 *
 *   find.c        the entry, and joining what several views show
 *   find_graph.c  neighbours, areas and edges of a mesh
 *   find_skin.c   the colour of the skin around every vertex, and how far the vertex's own is from it
 *   find_spots.c  extremes, clusters of similar colour, which of them are markers
 *   find_place.c  where such a cluster is, and how it lies
 *   found.c       found/NAME.csv
 */
#ifndef EXEMPLAR_AUTHOR_SCAN_FIND_FIND_H
#define EXEMPLAR_AUTHOR_SCAN_FIND_FIND_H

#include "runtime/base/result.h"

#include <exemplar/author/scan.h>

/* What a vertex is good for. */
enum {
    EXI_FIND_LONE, /* no face, or a number that is not finite: as if it were not there */
    EXI_FIND_EDGE, /* the scan ends there, and not only for a sample or two */
    EXI_FIND_INNER
};

/* A marker before those of several views are joined. */
typedef struct exi_spot_found {
    ex_found_marker marker;
    double normal[3];
    double weight; /* vertices that it covers, and the more the nearer they are together: how squarely it was seen */
} exi_spot_found;

/* One mesh at work. Arrays have vertex_count entries where nothing else is said. */
typedef struct exi_finder {
    const ex_mesh *mesh;
    ex_find_options options; /* no field 0, but perhaps the threshold */
    int view;
    int vertex_count;

    int *starts;         /* [vertex_count + 1] */
    int *others;         /* neighbours of vertex v: from starts[v] to starts[v + 1], in rising order */
    unsigned char *rims; /* beside others: whether the edge to it has a face on one side only */
    unsigned char *states;
    float *areas;        /* square metres: of each face its corners get equal parts */
    float (*normals)[3]; /* sums of the faces' */

    float (*colours)[3];   /* OKLab */
    float (*residuals)[3]; /* colour less that of the skin around */
    float *strengths;      /* their lengths */

    int *queue;           /* of vertices */
    int *stamps, stamp;   /* which growth came by last */
    unsigned char *taken; /* belongs to a cluster that has been judged */

    exi_spot_found *spots;
    int spot_count;
    size_t spot_capacity;
} exi_finder;

/* A vertex's position, and whether it is one. */
static inline const double *exi_find_position(const exi_finder *f, int v) {
    return f->mesh->positions + 3 * (size_t)v;
}

/* Fills starts to normals. DATA where the mesh is so coarse that no marker can be seen on it. */
ex_result exi_find_graph(exi_finder *f, ex_error *error);
/* Fills colours to strengths. */
ex_result exi_find_skin(exi_finder *f, ex_error *error);
/* Fills spots. */
ex_result exi_find_spots(exi_finder *f, ex_error *error);

/* A cluster: the first `count` vertices of the queue, which have the stamp `stamp` and the colour `reference` away from
 * the skin. False where it is no marker: not round, not alone, too near the edge. */
bool exi_find_place(exi_finder *f, int count, int stamp, const double reference[3], exi_spot_found *spot);
/* How much of the reference a vertex's residual has, and how far it is off to the side, squared. */
double exi_find_share(const exi_finder *f, int v, const double reference[3], double *aside_sq);

#endif
