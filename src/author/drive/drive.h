/*
 * drive.h - how a mesh follows another, while a driven rig is made; private to authoring.
 *
 *   options.c  what can be asked for
 *   graph.c    distances along the driver's edges, areas, the order in which its vertices are sampled
 *   nodes.c    where moving frames stand, and how far driven vertices are from them
 *   fits.c     what frames are fitted to
 *   carry.c    which frames move which vertex
 *   views.c    what regions look at
 *   regions.c  regions made by hand
 *   drive_plan.c  all of these together
 *   moving_frames.c  forms brought into the moving frames, and back
 *   drive_build.c, drive_trajectories.c  keys to a rig
 *   note.c, open.c          a rig to keys
 *   binds.c                 files of binds
 */
#ifndef EXEMPLAR_AUTHOR_DRIVE_DRIVE_H
#define EXEMPLAR_AUTHOR_DRIVE_DRIVE_H

#include "author/base/arena.h"

#include <exemplar/author/drive.h>

/* ---- options ---- */

/* EX_ERROR_ARGUMENT with a sentence where they cannot be. Counts of vertices and triangles are not looked at. */
ex_result exi_drive_options_check(const ex_drive_options *options, ex_error *error);

/* Moving frames of parts that are meant: 0 for none but that of the whole. */
int exi_drive_frame_count(const ex_drive_options *options);

/* ---- graph ---- */

/* A mesh as vertices that edges join. */
typedef struct exi_graph {
    int vertex_count, triangle_count;
    const float *positions;    /* [vertex_count][3] */
    const uint32_t *triangles; /* [triangle_count][3] */
    double *areas;             /* [vertex_count]: a third of the triangles around */
    int *starts;               /* [vertex_count + 1] */
    int *ends;                 /* [starts[vertex_count]]: neighbours; one that two triangles join is there twice */
    double *lengths;           /* likewise */
    int part_count;
    int *parts;             /* [vertex_count]: which of the pieces that hang together */
    int *heap, *heap_place; /* [vertex_count]: room for exi_graph_distances */
} exi_graph;

/* Everything goes into the arena, but positions and triangles, which must stay. False without memory. */
bool exi_graph_open(exi_graph *graph, exi_arena *arena, const float *positions, int vertex_count,
                    const uint32_t *triangles, int triangle_count);

/* The shortest way along edges from any of the sources to every vertex, INFINITY where there is none. nearest
 * [vertex_count], or NULL: the number of the source that is nearest, -1 for none. */
void exi_graph_distances(const exi_graph *graph, const int *sources, int source_count, double *distances, int *nearest);

/* The vertices in an order in which neighbours are near each other [vertex_count]; false without memory. */
bool exi_graph_order(const exi_graph *graph, int *order);

/*
 * At most `most` of the vertices, so that all count alike: the sum of weights, along the order, is cut into as many
 * pieces, and of each the vertex in the middle is taken, with the weight of a piece. Where there are no more with a
 * weight than that, they are taken as they are. vertices and picked have room for `most`; returns how many, ascending.
 */
int exi_graph_sample(const exi_graph *graph, const int *order, const double *weights, int most, uint32_t *vertices,
                     float *picked);

/* ---- nodes ---- */

/* Where a driven vertex is on the driver. */
typedef struct exi_foot {
    uint32_t corners[3];
    float shares[3];
    int nearest; /* of the corners */
} exi_foot;

typedef struct exi_nodes {
    int count;
    int *vertices;  /* [count] of the driver */
    double spacing; /* the mean distance from one to the nearest other */
} exi_nodes;

/* The closest points of the driver's triangles, of those that a vertex is bound to: feet [driven_count]. */
ex_result exi_nodes_feet(const exi_graph *graph, const ex_drive_options *options, const float *driven, int driven_count,
                         exi_foot *feet, ex_error *error);
/* Spreads so many nodes, or fewer, over the vertices at which driven ones have their feet. */
bool exi_nodes_spread(const exi_graph *graph, const exi_foot *feet, int driven_count, int wanted, exi_arena *arena,
                      exi_nodes *nodes);

/* ---- all that the rig needs ---- */

/* Belongs to the arena; to be freed in any case. */
typedef struct exi_drive_plan {
    ex_rig_driver driver; /* but for its name */
    int view_count;
    ex_region *views;
    ex_influences regions; /* starts NULL: as carried, or there is one region */
    double spacing;        /* of the frames of parts; 0 where there are none */
    int driven_count;
    exi_arena arena;

    /* while it is made */
    exi_graph graph;
    int *order;       /* [driver vertex_count] */
    exi_foot *feet;   /* [driven_count] */
    double *room;     /* [driver vertex_count]: distances */
    double *room_two; /* likewise: weights */
    uint32_t *starts; /* of the driver's frames, with room for more */
    uint32_t *vertices;
    float *weights;
    int *joints;
} exi_drive_plan;

/* From the two meshes at rest. joint_count: of the rig's skeleton, 0 without. Results: ARGUMENT, DATA, LIMIT, MEMORY.
 */
ex_result exi_drive_plan_make(const ex_mesh *driver, const ex_mesh *driven, const ex_drive_options *options,
                              int joint_count, exi_drive_plan *made, ex_error *error);
void exi_drive_plan_free(exi_drive_plan *made);

/* Its parts; each adds to `made`. */
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

/* What a vertex of the driver counts for: its area and its given weight. */
double exi_drive_plan_importance(const exi_drive_plan *made, const ex_drive_options *options, int vertex);
/* A view of at most `most` vertices by the weights in room_two, not all 0; views has room for it. */
bool exi_drive_plan_add_view(exi_drive_plan *made, int frame, int most);
/* Room for so many frames of parts, and that of the whole. False without memory. */
bool exi_drive_plan_reserve(exi_drive_plan *made, int frame_count);

/* ---- carrying ---- */

/* Forms in the moving frames: what a driven rig stores. */
typedef struct exi_moving_frames {
    int driven_count, driver_count;
    ex_driver *driver;
    ex_skin *skin;   /* driven vertices, then the driver's */
    float *matrices; /* [frame_count][12] */
    void *memory;    /* of the palette */
    ex_palette *palette;
    float *posed, *rest; /* [driven_count + driver_count][3] */
    double *unposed;     /* likewise */
} exi_moving_frames;

/* The rest forms are what is there already: driven [driven_count][3]. To be closed in any case. */
ex_result exi_moving_frames_open(exi_moving_frames *carrier, const ex_rig_driver *driver, const float *driven,
                                 int driven_count, ex_error *error);
void exi_moving_frames_close(exi_moving_frames *carrier);

/* Places the frames on a form of the driver; matrices [frame_count][12], or NULL: those of frames that go with joints,
 * the others are fitted. */
void exi_moving_frames_place(exi_moving_frames *carrier, const float *driver, const float *matrices, const int *joints);
/* carrier->unposed: the two forms brought back to where the frames are at rest, in double. */
void exi_moving_frames_unpose(exi_moving_frames *carrier, const float *driven, const float *driver);
/* The way out, of driven vertices: form [driven_count][3]. */
void exi_moving_frames_pose(const exi_moving_frames *carrier, const double *rest, float *form);

/* Whether the driver and the axis of databases, which may be NULL, can be called so. */
ex_result exi_drive_names_check(const char *driver, const char *axis, ex_error *error);

/* ---- notes ---- */

/* What a rig's tables do not tell: JSON text. */
#define EXI_DRIVE_NOTE "drive"
struct exi_text;
ex_result exi_drive_note_write(const ex_drive_options *options, const ex_mesh *driver, struct exi_text *text,
                               ex_error *error);
/* Options and driver from a rig's note; what belongs to them goes into the arena, but for the mesh. */
ex_result exi_drive_note_read(const ex_rig *rig, const ex_rig_driver *driver, exi_arena *arena,
                              ex_drive_options *options, ex_mesh **mesh, ex_error *error);

#endif
