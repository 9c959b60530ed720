/*
 * subdivide.h - shared by the files of subdivision: the connectivity of a level, rings around vertices, rows of
 * weights; private to authoring.
 *
 *   subdivide_topology.c   edges, opposite half-edges, the next level's faces
 *   subdivide_mend.c       faces that are no surface
 *   subdivide_tags.c       sharpness, holes and boundaries from tags
 *   subdivide_rules.c      weights of a level's vertices over those of the level before
 *   subdivide_limit.c      weights of limit points and tangents over a level's vertices
 *   subdivide_rows.c       the same over the vertices of the cage
 *   subdivide_texcoords.c  texture coordinates of the next level
 *   subdivide_size.c       the size of the result, before it is made
 *   subdivide.c            runs all steps
 *
 * A half-edge is named by the corner that it leaves: it runs from the corner's vertex to that of the face's next
 * corner.
 */
#ifndef EXEMPLAR_AUTHOR_MESH_SUBDIVIDE_SUBDIVIDE_H
#define EXEMPLAR_AUTHOR_MESH_SUBDIVIDE_SUBDIVIDE_H

#include <exemplar/author/mesh.h>

/* An edge or a vertex of this sharpness or more stays sharp for ever. */
#define EXI_SHARP_FOREVER 10.0

/* Connectivity of one level; all arrays by malloc. */
typedef struct exi_topology {
    int vertex_count, face_count, corner_count, edge_count;
    int *face_offsets;        /* [face_count + 1] */
    int *corners;             /* [corner_count] vertices */
    int *corner_faces;        /* [corner_count] */
    int *corner_edges;        /* [corner_count] edge of the half-edge */
    int *opposites;           /* [corner_count] the half-edge that runs back along the same edge; -1 on a boundary */
    int *edge_corners;        /* [edge_count] the first of its half-edges */
    int *vertex_corners;      /* [vertex_count] corner at which a walk around the vertex begins; -1 without faces */
    double *edge_sharpness;   /* [edge_count] */
    double *vertex_sharpness; /* [vertex_count] */
    unsigned char *holes;     /* [face_count] true for faces that are refined but left out of the result */
    int *face_sources;        /* [face_count] face of the mesh that each comes from */
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

/* Parts of a level that are no surface. */
typedef struct exi_faults {
    int repeated_count;   /* corners at which a face has a vertex again */
    int edge_count;       /* edges of more than two faces, or of two that run the same way: boundaries of all of them */
    int edge_vertices[2]; /* of the first such edge */
} exi_faults;

/* Fills in the rest, up to vertex_corners, from the faces (offsets, corners and counts). Sets pinched [vertex_count],
 * unless NULL, where several fans meet, and faults. If corners are repeated, the faces must be mended first, and
 * connected again. */
ex_result exi_topology_connect(exi_topology *t, unsigned char *pinched, exi_faults *faults, ex_error *error);

/* Releases what connecting made. */
void exi_topology_disconnect(exi_topology *t);

/* Changes the faces of a cage that was connected so that they are a surface, as far as possible, and disconnects it.
 * Counts in mends, other than edges that stay sharp. Results: MEMORY. */
ex_result exi_topology_mend(exi_topology *t, ex_subdivision_mends *mends, ex_error *error);

/* Kinds of what is mended. */
typedef enum exi_mend {
    EXI_MEND_TURNED,
    EXI_MEND_REPEATED,
    EXI_MEND_DUPLICATE,
    EXI_MEND_SHARP,
    EXI_MEND_KINDS
} exi_mend;

/* Writes a sentence, without an end, that says how many there are, the first, and what was done. False: none. */
enum { EXI_MEND_SIZE = 240 };
bool exi_mend_describe(const ex_subdivision_mends *mends, exi_mend kind, char text[EXI_MEND_SIZE]);

/* Makes faces, edges and sharpness of the next level. child_sharpness [edge_count][2]: at the corner that the edge's
 * first half-edge leaves, then at the other end; vertex_sharpness [vertex_count]. */
ex_result exi_topology_refine(const exi_topology *t, ex_scheme scheme, const double *child_sharpness,
                              const double *vertex_sharpness, exi_topology *child, ex_error *error);
ex_result exi_topology_refine_texcoords(const exi_topology *t, ex_scheme scheme, exi_topology *child, ex_error *error);

/* Settings from tags, other than sharpness. */
typedef struct exi_subdivide_rules {
    ex_scheme scheme;
    bool chaikin;          /* sharpness evens out along creases as it decreases */
    bool smooth_triangles; /* Catmull-Clark's own weights next to triangles */
} exi_subdivide_rules;

/* Reads sharpness and holes of the cage, which must be connected already. */
ex_result exi_subdivide_read_tags(const ex_mesh *mesh, ex_boundary boundary, exi_topology *t,
                                  exi_subdivide_rules *rules, ex_error *error);

/* ---- the size ---- */

/* About what a subdivision will have. */
typedef struct exi_subdivide_size {
    double vertices; /* of the last level */
    double bytes;    /* of all levels in a rig */
    double crowded;  /* those that large faces and vertices of many faces add */
} exi_subdivide_size;

/* Estimates the size from counts alone, in time linear in the mesh. The mesh must be valid. False without memory. */
bool exi_subdivide_measure(const ex_mesh *mesh, const ex_subdivide_def *def, exi_subdivide_size *size);

/* ---- rings ---- */

/* The neighbourhood of a vertex, counter-clockwise. Spokes are its edges, sectors the faces between them. A closed ring
 * has as many sectors as spokes, an open one has one more spoke. Arrays have room for most_spokes. */
typedef struct exi_ring {
    int vertex;
    int spoke_count, sector_count;
    bool closed;
    int *spokes;                                     /* vertices at the far ends */
    int *edges;                                      /* of the spokes */
    int *sectors;                                    /* corners at the vertex */
    double sharpness, child_sharpness;               /* of the vertex, and on the next level */
    double *spoke_sharpness, *child_spoke_sharpness; /* of the edges, and of their halves at this vertex */
    double *weights[2];                              /* scratch memory for spoke weights */
} exi_ring;

bool exi_ring_allocate(exi_ring *ring, int most_spokes);
void exi_ring_free(exi_ring *ring);
/* Walks around v. Copies sharpness from t; exi_ring_sharpen computes that of the next level. */
void exi_ring_read(exi_ring *ring, const exi_topology *t, int v);
/* Computes the ring's child sharpnesses from its own. */
void exi_ring_sharpen(exi_ring *ring, bool chaikin);

/* Weights of the next level's vertex: of the vertex, of the sectors' face centres (all the same), and of each spoke. */
typedef struct exi_vertex_mask {
    double vertex, sector;
    double *spokes;
} exi_vertex_mask;
exi_vertex_mask exi_vertex_rule(const exi_subdivide_rules *rules, const exi_ring *ring);

/* Fraction of the midpoint rule, in [0, 1], for the next level's vertex on an edge; the rest is the smooth rule. */
double exi_edge_rule(const exi_subdivide_rules *rules, double sharpness, double child_a, double child_b);

/* ---- rows ---- */

/* Rows of weights over control vertices. */
typedef struct exi_rows {
    int vertex_count;
    bool too_many; /* true if appending failed because of more than 2^31 - 1 weights */
    size_t count, capacity;
    int *offsets, *indices;
    double *weights;
    double *tangents; /* [..][2] or NULL */
} exi_rows;

/* Accumulates a row: a dense array, and a list of its entries that are not 0. */
typedef struct exi_row_sum {
    const exi_rows *source; /* NULL: the vertices are the control vertices */
    double (*sums)[3];      /* [control_count], 0 between rows */
    int *used, used_count;
    unsigned char *is_used;
} exi_row_sum;

bool exi_row_sum_allocate(exi_row_sum *sum, int control_count);
void exi_row_sum_free(exi_row_sum *sum);
/* Adds vertex v of the source level, with a weight for each of the three numbers. */
void exi_row_sum_add(exi_row_sum *sum, int v, double weight, double tangent_1, double tangent_2);

bool exi_rows_allocate(exi_rows *rows, int vertex_count, bool tangents);
void exi_rows_free(exi_rows *rows);
/* Appends the row and clears the sum. False without memory or beyond 2^31 weights. */
bool exi_rows_append(exi_rows *rows, exi_row_sum *sum);

/* Appends the next level's rows, in order; also fills child_sharpness and child_vertex_sharpness
 * (exi_topology_refine). */
bool exi_subdivide_level(const exi_topology *t, const exi_subdivide_rules *rules, exi_row_sum *sum, exi_rows *out,
                         double *child_sharpness, double *child_vertex_sharpness);
/* Appends limit points and tangents of the first vertex_count vertices. */
bool exi_subdivide_limit(const exi_topology *t, const exi_subdivide_rules *rules, int vertex_count, exi_row_sum *sum,
                         exi_rows *out);

#endif
