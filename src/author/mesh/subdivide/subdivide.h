/*
 * subdivide.h - what the files of subdivision share: the connectivity of a level, rings around vertices, rows of
 * weights; private to authoring.
 *
 *   subdivide_topology.c   edges, opposite sides, the next level's faces
 *   subdivide_tags.c       sharpness, holes and boundaries from tags
 *   subdivide_rules.c      weights of a level's vertices over those of the level before
 *   subdivide_limit.c      weights of limit points and tangents over a level's vertices
 *   subdivide_rows.c       the same over the vertices of the cage
 *   subdivide_texcoords.c  texture coordinates of the next level
 *   subdivide.c            the way through all of them
 *
 * A half-edge is the corner that it leaves: it runs from the corner's vertex to that of the next corner of the face.
 */
#ifndef EXEMPLAR_AUTHOR_MESH_SUBDIVIDE_SUBDIVIDE_H
#define EXEMPLAR_AUTHOR_MESH_SUBDIVIDE_SUBDIVIDE_H

#include <exemplar/author/mesh.h>

/* Sharpness from which on an edge or a vertex stays sharp for ever. */
#define EXI_SHARP_FOREVER 10.0

/* One level's connectivity; all arrays by malloc. */
typedef struct exi_topology {
    int vertex_count, face_count, corner_count, edge_count;
    int *face_offsets;        /* [face_count + 1] */
    int *corners;             /* [corner_count] vertices */
    int *corner_faces;        /* [corner_count] */
    int *corner_edges;        /* [corner_count] edge of the half-edge */
    int *opposites;           /* [corner_count] the half-edge that runs back along the same edge, -1 on a boundary */
    int *edge_corners;        /* [edge_count] the first of its half-edges */
    int *vertex_corners;      /* [vertex_count] where a walk around the vertex begins, -1 without faces */
    double *edge_sharpness;   /* [edge_count] */
    double *vertex_sharpness; /* [vertex_count] */
    unsigned char *holes;     /* [face_count] faces that are refined and left out */
    int *face_sources;        /* [face_count] faces of the mesh */
    int texcoord_count;
    double *texcoords;     /* [texcoord_count][2] or NULL */
    int *corner_texcoords; /* [corner_count], -1 for none; or NULL */
    int most_spokes;       /* the most edges at a vertex */
} exi_topology;

void exi_topology_free(exi_topology *t);

static inline int exi_next(const exi_topology *t, int corner) {
    int f = t->corner_faces[corner];
    return corner + 1 < t->face_offsets[f + 1] ? corner + 1 : t->face_offsets[f];
}

static inline int exi_previous(const exi_topology *t, int corner) {
    int f = t->corner_faces[corner];
    return corner > t->face_offsets[f] ? corner - 1 : t->face_offsets[f + 1] - 1;
}

/* From faces (offsets, corners and counts are there) to the rest, up to vertex_corners. Names what is not a surface.
 * pinched [vertex_count], or NULL, is set where several fans meet. */
ex_result exi_topology_connect(exi_topology *t, unsigned char *pinched, ex_error *error);

/* Faces, edges and sharpness of the next level; child_sharpness [edge_count][2] at the corner the edge's first
 * half-edge leaves, then at the other end; vertex_sharpness [vertex_count]. */
ex_result exi_topology_refine(const exi_topology *t, ex_scheme scheme, const double *child_sharpness,
                              const double *vertex_sharpness, exi_topology *child, ex_error *error);
ex_result exi_topology_refine_texcoords(const exi_topology *t, ex_scheme scheme, exi_topology *child, ex_error *error);

/* What tags say beside sharpness. */
typedef struct exi_subdivide_rules {
    ex_scheme scheme;
    bool chaikin;          /* sharpness evens out along creases while it goes down */
    bool smooth_triangles; /* Catmull-Clark's own weights beside triangles */
} exi_subdivide_rules;

/* Sharpness and holes of the cage, which has been connected. */
ex_result exi_subdivide_read_tags(const ex_mesh *mesh, ex_boundary boundary, exi_topology *t,
                                  exi_subdivide_rules *rules, ex_error *error);

/* ---- rings ---- */

/* The neighbourhood of a vertex, counter-clockwise: spokes are its edges, sectors the faces between them; a closed ring
 * has as many sectors as spokes, an open one a spoke more. Arrays have room for most_spokes. */
typedef struct exi_ring {
    int vertex;
    int spoke_count, sector_count;
    bool closed;
    int *spokes;                                     /* vertices at the far ends */
    int *edges;                                      /* of the spokes */
    int *sectors;                                    /* corners at the vertex */
    double sharpness, child_sharpness;               /* of the vertex, and one level on */
    double *spoke_sharpness, *child_spoke_sharpness; /* of the edges, and of their halves at this vertex */
    double *weights[2];                              /* room for spoke weights */
} exi_ring;

bool exi_ring_allocate(exi_ring *ring, int most_spokes);
void exi_ring_free(exi_ring *ring);
/* Walks around v; what is sharp comes from t, and one level on from exi_ring_sharpen. */
void exi_ring_read(exi_ring *ring, const exi_topology *t, int v);
/* The child sharpnesses of a ring from its own. */
void exi_ring_sharpen(exi_ring *ring, bool chaikin);

/* The next level's vertex: vertex and sector weights (of the faces' middles, the same for all), and a weight a spoke.
 */
typedef struct exi_vertex_mask {
    double vertex, sector;
    double *spokes;
} exi_vertex_mask;
exi_vertex_mask exi_vertex_rule(const exi_subdivide_rules *rules, const exi_ring *ring);

/* How far the next level's vertex on an edge is its midpoint, in [0, 1]; the rest is the smooth rule. */
double exi_edge_rule(const exi_subdivide_rules *rules, double sharpness, double child_a, double child_b);

/* ---- rows ---- */

/* Rows of weights over control vertices. */
typedef struct exi_rows {
    int vertex_count;
    bool too_many; /* appending failed because more than 2^31 - 1 weights cannot be counted */
    size_t count, capacity;
    int *offsets, *indices;
    double *weights;
    double *tangents; /* [..][2] or NULL */
} exi_rows;

/* The row that is being added up: a dense one, and a list of where it is not 0. */
typedef struct exi_row_sum {
    const exi_rows *source; /* NULL: control vertices stand for themselves */
    double (*sums)[3];      /* [control_count], 0 between rows */
    int *used, used_count;
    unsigned char *is_used;
} exi_row_sum;

bool exi_row_sum_allocate(exi_row_sum *sum, int control_count);
void exi_row_sum_free(exi_row_sum *sum);
/* Adds vertex v of the source level, times a weight for each number. */
void exi_row_sum_add(exi_row_sum *sum, int v, double weight, double tangent_1, double tangent_2);

bool exi_rows_allocate(exi_rows *rows, int vertex_count, bool tangents);
void exi_rows_free(exi_rows *rows);
/* Appends the row and clears the sum; false without memory or beyond 2^31 weights. */
bool exi_rows_append(exi_rows *rows, exi_row_sum *sum);

/* The next level's rows, in order; child_sharpness and child_vertex_sharpness (see exi_topology_refine) are made too.
 */
bool exi_subdivide_level(const exi_topology *t, const exi_subdivide_rules *rules, exi_row_sum *sum, exi_rows *out,
                         double *child_sharpness, double *child_vertex_sharpness);
/* Limit points and tangents of the first vertex_count vertices. */
bool exi_subdivide_limit(const exi_topology *t, const exi_subdivide_rules *rules, int vertex_count, exi_row_sum *sum,
                         exi_rows *out);

#endif
