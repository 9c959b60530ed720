/*
 * find.h - shared by the steps of finding markers; private to src/author/scan.
 *
 *   find.c        entry point; joins the finds of several views
 *   find_graph.c  neighbours, areas and edges of a mesh
 *   find_skin.c   colour of the skin around every vertex, and each vertex's distance from it
 *   find_spots.c  extremes, clusters of similar colour, and the choice of markers
 *   find_place.c  position and shape of a cluster
 *   found.c       found/NAME.csv
 */
#ifndef EXEMPLAR_AUTHOR_SCAN_FIND_FIND_H
#define EXEMPLAR_AUTHOR_SCAN_FIND_FIND_H

#include "runtime/base/result.h"

#include <exemplar/author/scan.h>

/* State of a vertex. */
enum {
    EXI_FIND_LONE, /* no face, or not finite: ignored */
    EXI_FIND_EDGE, /* on the edge of the scan, not just of a hole of a sample or two */
    EXI_FIND_INNER
};

/* A marker in one view, before views are joined. */
typedef struct exi_spot_found {
    ex_found_marker marker;
    double normal[3];
    double weight; /* number of vertices covered, more if they are close together: a measure of how squarely it was
                      seen */
} exi_spot_found;

/* One mesh in work. Arrays have vertex_count entries unless stated otherwise. */
typedef struct exi_finder {
    const ex_mesh *mesh;
    ex_find_options options; /* no field is 0, except perhaps the threshold */
    int view;
    int vertex_count;

    int *starts;         /* [vertex_count + 1] */
    int *others;         /* neighbours of vertex v: from starts[v] to starts[v + 1], ascending */
    unsigned char *rims; /* parallel to others: true if the edge to it has a face on one side only */
    unsigned char *states;
    float *areas;        /* square metres: each face gives its corners equal parts */
    float (*normals)[3]; /* sums of the faces' normals */

    float (*colours)[3];   /* OKLab */
    float (*residuals)[3]; /* colour minus that of the skin around */
    float *strengths;      /* their lengths */

    int *queue;           /* of vertices */
    int *stamps, stamp;   /* number of the last growth that visited the vertex */
    unsigned char *taken; /* true if in a cluster that has been judged */

    exi_spot_found *spots;
    int spot_count;
    size_t spot_capacity;
} exi_finder;

/* A vertex's position, and a test that it is valid. */
static inline const double *exi_find_position(const exi_finder *f, int v) {
    return f->mesh->positions + 3 * (size_t)v;
}

/* Fills starts to normals. DATA if the mesh is too coarse to show a marker. */
ex_result exi_find_graph(exi_finder *f, ex_error *error);
/* Fills colours to strengths. */
ex_result exi_find_skin(exi_finder *f, ex_error *error);
/* Fills spots. */
ex_result exi_find_spots(exi_finder *f, ex_error *error);

/* Measures a cluster: the first `count` vertices of the queue, which have the stamp `stamp` and differ from the skin by
 * the colour `reference`. Returns false if it is not a marker: not round, not isolated, too near the edge. */
bool exi_find_place(exi_finder *f, int count, int stamp, const double reference[3], exi_spot_found *spot);
/* Returns the component of a vertex's residual along the reference, as a fraction of it, and the squared distance to
 * the side. */
double exi_find_share(const exi_finder *f, int v, const double reference[3], double *aside_sq);

#endif
