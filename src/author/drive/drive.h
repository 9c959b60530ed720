/*
 * drive.h - building a driven rig: how one mesh follows another. Private to authoring.
 *
 *   options.c  options: defaults, names, checks
 *   graph.c    distances along the driver's edges, vertex areas, sampling of vertices
 *   nodes.c    positions of the moving frames, and distances from them to driven vertices
 *   fits.c     driver vertices that each frame is fitted to
 *   carry.c    weights of the frames that move each vertex
 *   views.c    driver vertices that each region looks at
 *   regions.c  regions made by hand
 *   drive_plan.c  puts all of these together
 *   moving_frames.c  takes forms into the moving frames, and back
 *   drive_build.c, drive_trajectories.c  keys to a rig
 *   note.c, open.c          a rig to keys
 *   binds.c                 files of binds
 */
#ifndef EXEMPLAR_AUTHOR_DRIVE_DRIVE_H
#define EXEMPLAR_AUTHOR_DRIVE_DRIVE_H

#include "author/base/arena.h"

#include <exemplar/author/drive.h>

/* ---- options ---- */

/* EX_ERROR_ARGUMENT with a sentence if options are invalid. Does not check counts of vertices and triangles. */
ex_result exi_drive_options_check(const ex_drive_options *options, ex_error *error);

/* Number of moving frames of parts to aim for; 0: only the frame of the whole. */
int exi_drive_frame_count(const ex_drive_options *options);

/* ---- graph ---- */

/* A mesh as a graph of vertices and edges. */
typedef struct exi_graph {
    int vertex_count, triangle_count;
    const float *positions;    /* [vertex_count][3] */
    const uint32_t *triangles; /* [triangle_count][3] */
    double *areas;             /* [vertex_count]: a third of the area of the triangles around */
    int *starts;               /* [vertex_count + 1] */
    int *ends;                 /* [starts[vertex_count]]: neighbours; one that shares two triangles is listed twice */
    double *lengths;           /* likewise */
    int part_count;
    int *parts;             /* [vertex_count]: the connected piece that a vertex belongs to */
    int *heap, *heap_place; /* [vertex_count]: scratch memory of exi_graph_distances */
} exi_graph;

/* Builds the graph in the arena. positions and triangles are not copied and must outlive it. False without memory. */
bool exi_graph_open(exi_graph *graph, exi_arena *arena, const float *positions, int vertex_count,
                    const uint32_t *triangles, int triangle_count);

/* Computes the length of the shortest path along edges from any of the sources to every vertex, INFINITY where there is
 * none. nearest [vertex_count], or NULL: the index of the nearest source, -1 for none. */
void exi_graph_distances(const exi_graph *graph, const int *sources, int source_count, double *distances, int *nearest);

/* Orders the vertices [vertex_count] so that neighbours in the order are near each other. False without memory. */
bool exi_graph_order(const exi_graph *graph, int *order);

/*
 * Samples at most `most` vertices of equal weight. Cuts the sum of weights, along the order, into `most` pieces and
 * takes the middle vertex of each, with the weight of a piece. If no more vertices than that have a weight, takes them
 * all unchanged. vertices and picked have room for `most`. Returns their number; they are ascending.
 */
int exi_graph_sample(const exi_graph *graph, const int *order, const double *weights, int most, uint32_t *vertices,
                     float *picked);

/* ---- nodes ---- */

/* The point of the driver closest to a driven vertex. */
typedef struct exi_foot {
    uint32_t corners[3];
    float shares[3];
    int nearest; /* one of the corners */
} exi_foot;

typedef struct exi_nodes {
    int count;
    int *vertices;  /* [count] vertices of the driver */
    double spacing; /* mean distance from a node to the nearest other one */
} exi_nodes;

/* Finds the foot of each driven vertex, feet [driven_count]: the closest point of the driver's triangles that the
 * vertex is bound to. */
ex_result exi_nodes_feet(const exi_graph *graph, const ex_drive_options *options, const float *driven, int driven_count,
                         exi_foot *feet, ex_error *error);
/* Spreads at most `wanted` nodes over the vertices at which driven ones have their feet. */
bool exi_nodes_spread(const exi_graph *graph, const exi_foot *feet, int driven_count, int wanted, exi_arena *arena,
                      exi_nodes *nodes);

/* ---- the plan ---- */

/* Everything is in its arena. Free it even after a failure. */
typedef struct exi_drive_plan {
    ex_rig_driver driver; /* without its name */
    int view_count;
    ex_region *views;
    ex_influences regions; /* starts NULL: the same as the frames that carry, or there is one region */
    double spacing;        /* of the frames of parts; 0 if there are none */
    int driven_count;
    exi_arena arena;

    /* used while the plan is made */
    exi_graph graph;
    int *order;       /* [driver vertex_count] */
    exi_foot *feet;   /* [driven_count] */
    double *room;     /* [driver vertex_count]: distances */
    double *room_two; /* likewise: weights */
    uint32_t *starts; /* starts of the driver's frames, with spare room */
    uint32_t *vertices;
    float *weights;
    int *joints;
} exi_drive_plan;

/* Makes the plan from the two meshes at rest. joint_count: joints of the rig's skeleton, 0 without one. Results:
 * ARGUMENT, DATA, LIMIT, MEMORY. */
ex_result exi_drive_plan_make(const ex_mesh *driver, const ex_mesh *driven, const ex_drive_options *options,
                              int joint_count, exi_drive_plan *made, ex_error *error);
void exi_drive_plan_free(exi_drive_plan *made);

/* The steps of making a plan; each adds to `made`. */
ex_result exi_drive_plan_fit_whole(exi_drive_plan *made, const ex_mesh *driver, const ex_drive_options *options,
                                   ex_error *error);
ex_result exi_drive_plan_fit_nodes(exi_drive_plan *made, const exi_nodes *nodes, const ex_drive_options *options,
                                   ex_error *error);
ex_result exi_drive_plan_carry(exi_drive_plan *made, const exi_nodes *nodes, const ex_mesh *driven,
                               const float *positions, const ex_drive_options *options, ex_error *error);
ex_result exi_drive_plan_look_whole(exi_drive_plan *made, int frame, const ex_drive_options *options, ex_error *error);
ex_result exi_drive_plan_look_nodes(exi_drive_plan *made, const exi_nodes *nodes, const ex_drive_options *options,
                                    ex_error *error);
ex_result exi_drive_plan_look_regions(exi_drive_plan *made, const exi_nodes *nodes, const ex_drive_options *options,
                                      ex_error *error);

/* Weight of a driver vertex: its area times its given weight. */
double exi_drive_plan_importance(const exi_drive_plan *made, const ex_drive_options *options, int vertex);
/* Adds a view of at most `most` vertices by the weights in room_two, not all 0. views must have room for it. */
bool exi_drive_plan_add_view(exi_drive_plan *made, int frame, int most);
/* Reserves room for frame_count frames of parts and the frame of the whole. False without memory. */
bool exi_drive_plan_reserve(exi_drive_plan *made, int frame_count);

/* ---- carrying ---- */

/* Takes forms into the moving frames, which is how a driven rig stores them. */
typedef struct exi_moving_frames {
    int driven_count, driver_count;
    ex_driver *driver;
    ex_skin *skin;   /* driven vertices, then the driver's */
    float *matrices; /* [frame_count][12] */
    struct exi_frame_link *links;
    void *memory; /* memory of the palette */
    ex_palette *palette;
    float *posed, *rest; /* [driven_count + driver_count][3] */
    double *unposed;     /* likewise */
} exi_moving_frames;

/* Opens with the present rest forms; driven [driven_count][3]. Close it even after a failure. */
ex_result exi_moving_frames_open(exi_moving_frames *carrier, const ex_rig_driver *driver, const float *driven,
                                 int driven_count, ex_error *error);
void exi_moving_frames_close(exi_moving_frames *carrier);

/* Places the frames on a form of the driver. matrices [frame_count][12] are of the frames that follow joints, or NULL;
 * the other frames are fitted. */
void exi_moving_frames_place(exi_moving_frames *carrier, const float *driver, const float *matrices, const int *joints);
/* Fills carrier->unposed, in double: the two forms taken back to where the frames are at rest. */
void exi_moving_frames_unpose(exi_moving_frames *carrier, const float *driven, const float *driver);
/* The inverse, for driven vertices: form [driven_count][3]. */
void exi_moving_frames_pose(const exi_moving_frames *carrier, const double *rest, float *form);

/* Checks the names of the driver and of the axis of databases, which may be NULL. */
ex_result exi_drive_names_check(const char *driver, const char *axis, ex_error *error);

/* ---- notes ---- */

/* Name of the rig's note: JSON text with everything that the rig's tables do not hold. */
#define EXI_DRIVE_NOTE "drive"
struct exi_text;
ex_result exi_drive_note_write(const ex_drive_options *options, const ex_mesh *driver, struct exi_text *text,
                               ex_error *error);
/* Reads options and driver from a rig's note. Allocates in the arena, except for the mesh. */
ex_result exi_drive_note_read(const ex_rig *rig, const ex_rig_driver *driver, exi_arena *arena,
                              ex_drive_options *options, ex_mesh **mesh, ex_error *error);

#endif
