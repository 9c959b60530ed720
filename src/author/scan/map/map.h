/*
 * map.h - shared by the files of displacement maps; private to src/author/scan.
 *
 *   map_net.c     the faces of a rig's level, neighbours, and its surface at a pose
 *   map_views.c   prepares the meshes of a scan for rays
 *   map_cast.c    rays from the template to the scan
 *   map_reject.c  removes wrong hits: small separate patches, and folds
 *   map_plate.c   the thin plate of equation 4 as sums over vertices
 *   map_fill.c    the vertices that may change, and the solve
 *   map_rim.c     measures how well filled holes join their surroundings
 *   map_refit.c   the cage through the displaced surface
 *   map_masks.c   parts of a map and their blending
 *   map_file.c    maps in files
 */
#ifndef EXEMPLAR_AUTHOR_SCAN_MAP_MAP_H
#define EXEMPLAR_AUTHOR_SCAN_MAP_MAP_H

#include <exemplar/author/scan_body.h>

/* ---- the level ---- */

/* Vertices are source vertices: without seams. */
typedef struct exi_map_net {
    int vertex_count, face_count;
    int *face_starts;    /* [face_count + 1] */
    int *corners;        /* vertices */
    int *vertex_starts;  /* [vertex_count + 1] */
    int *vertex_corners; /* positions of the vertex in corners, ascending */
    int *corner_faces;   /* the face of each corner */
    int *ring_starts;    /* [vertex_count + 1] */
    int *ring;           /* other vertices of the faces around a vertex, ascending */
} exi_map_net;

/* ARGUMENT: the rig has no level of this number. */
ex_result exi_map_net_make(const ex_rig *rig, int level, exi_map_net *net, ex_error *error);
void exi_map_net_free(exi_map_net *net);

/* Returns the vertex after (step 1) or before (step -1) a corner in its face. */
int exi_map_net_beside(const exi_map_net *net, int corner, int step);

/* Positions and normals [vertex_count][3] at a pose, joints NULL: rest. */
typedef struct exi_map_surface {
    float *positions, *normals;
} exi_map_surface;

ex_result exi_map_surface_make(const ex_rig *rig, int level, const ex_transform *joints, const ex_tasks *tasks,
                               exi_map_surface *surface, ex_error *error);
void exi_map_surface_free(exi_map_surface *surface);

/* Computes positions + displacement * normal for a vertex. */
void exi_map_displace(const exi_map_surface *surface, const ex_displacement_map *map, int vertex, double out[3]);

/* Checks that map and net have the same vertices, and that numbers and states are valid; ARGUMENT or DATA. */
ex_result exi_map_check(const ex_displacement_map *map, int vertex_count, const char *what, ex_error *error);

/* ---- the scan ---- */

typedef struct exi_map_view {
    int vertex_count, triangle_count;
    float *positions;
    uint32_t *triangles;
    float *normals;      /* [vertex_count][3], averaged over several triangles, since a noisy one may face anywhere */
    float *insides;      /* [vertex_count]: 0 at the edge of what was seen, 1 from three rings inside */
    double direction[3]; /* towards the scanner: the mean direction that the view faces; 0 if it faces all ways */
    ex_tree *tree;
    void *memory;
    const ex_bounds *fit;
} exi_map_view;

ex_result exi_map_view_make(const ex_mesh *mesh, int number, double noise, exi_map_view *view, ex_error *error);
void exi_map_view_free(exi_map_view *view);

/* ---- hits ---- */

/* Turns wrong hits into holes: separate patches, then folds. */
ex_result exi_map_reject(const exi_map_net *net, const exi_map_surface *surface, double noise, ex_displacement_map *map,
                         ex_error *error);

/* ---- thin plates ---- */

/* Sums to be minimised: weight (sum of coefficients times displacements - target)^2. */
typedef struct exi_plate {
    int row_count, entry_count;
    size_t row_capacity, entry_capacity;
    int *starts; /* [row_count + 1] */
    double *weights;
    int *vertices; /* [entry_count] */
    double *coefficients;
} exi_plate;

/*
 * Makes one sum for each vertex whose slack is above 0, with the slack as its weight; slacks [vertex_count]. Vertices
 * of state OUTSIDE are ignored. positions [vertex_count][3] give the distances between vertices. Returns false without
 * memory.
 */
bool exi_plate_make(const exi_map_net *net, const float *positions, const unsigned char *states, const double *slacks,
                    exi_plate *plate);
void exi_plate_free(exi_plate *plate);

/* Lending maps [count]. */
typedef struct exi_map_lent {
    const ex_displacement_map *const *maps;
    const double *weights;
    int count;
} exi_map_lent;

/* ex_displacement_map_fill_lent with an existing net and positions; lent NULL: none. */
ex_result exi_map_smooth(ex_displacement_map *map, const exi_map_net *net, const float *positions,
                         const exi_map_lent *lent, const ex_fill_options *options, ex_error *error);

#endif
