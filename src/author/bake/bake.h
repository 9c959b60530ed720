/*
 * bake.h - types and functions shared by the files that bake; private to authoring and the tool.
 *
 * A bake describes the file to be written: a rest mesh at one level, morph targets, a skin of few influences, and for
 * every frame a weight per target and a local transform per joint. describe.c makes it from the rig's examples,
 * decompose.c adds targets for what these leave, bound.c brings weights between 0 and 1, thin.c chooses keys, and
 * bake_scene.c writes it with the normals of bake_normals.c. frames.c evaluates rig and file and compares them
 * (docs/guides/bake.md).
 */
#ifndef EXEMPLAR_AUTHOR_BAKE_BAKE_H
#define EXEMPLAR_AUTHOR_BAKE_BAKE_H

#include "runtime/base/result.h"

#include <exemplar/author/bake.h>
#include <exemplar/author/mesh.h>
#include <exemplar/author/scene.h>

/* Limit on the number of targets if the caller asks for no number. */
#define EXI_BAKE_TARGETS 64

/* A morph target: the vertices of the level that it moves, and by how much. */
typedef struct exi_bake_target {
    char *name;
    int count;
    uint32_t *vertices; /* [count], ascending */
    float *deltas;      /* [count][3] */
} exi_bake_target;

/* One property of one joint over the frames, or all weights. The file holds the values at the keys. */
typedef struct exi_bake_channel {
    int joint; /* -1: the weights */
    ex_scene_path path;
    int width;
    float *values; /* [frame_count][width]; NULL, and so are keys, if all are the usual one */
    float *usual;  /* [width]: the value if the file has no channel */
    double reach;  /* metres a vertex moves per unit of error, about; 1 for weights, which use extents of targets */
    int key_count; /* 0: the channel is omitted */
    int *keys;     /* [key_count]: frames, ascending */
} exi_bake_channel;

typedef struct exi_bake {
    const ex_rig *rig;
    const ex_motion *motion;
    ex_bake_options options;
    ex_error *error;
    bool *muted; /* [layer_count] */
    int level, vertex_count, joint_count, frame_count;
    double size;
    float *rest;   /* [vertex_count][3] */
    ex_skin *skin; /* skin of the file; NULL: none */
    ex_skin *full; /* the same with all influences; NULL if none were dropped */
    bool exact;    /* true if rest, targets and skin reproduce the rig completely */
    int unused_count;
    int target_count;
    size_t target_capacity;
    exi_bake_target *targets;
    float *weights;       /* [frame_count][target_count] */
    float *rest_weights;  /* [target_count]: weights at which the file shows the rig at rest; NULL: zeros */
    ex_transform *locals; /* [frame_count][joint_count] */
    float *times;         /* [frame_count]: seconds since the first frame */
    int channel_count;
    exi_bake_channel *channels;
} exi_bake;

/* ---- skin.c ---- */

/* Makes the skin of the level, once with all influences and once with only the largest. */
ex_result exi_bake_make_skin(exi_bake *bake);

/* ---- describe.c, describe_targets.c ---- */

/* Fills in rest mesh, times and joints; with own_targets, also the rig's own targets and their weights. */
ex_result exi_bake_describe(exi_bake *bake, bool own_targets);
/* Adds an empty target of that name. NULL without memory, with a sentence. */
exi_bake_target *exi_bake_add_target(exi_bake *bake, const char *name);
/* Fills a target from deltas [vertex_count][3], leaving out vertices that do not move. */
ex_result exi_bake_fill_target(exi_bake *bake, exi_bake_target *target, const float *deltas);
/* Fills targets, weights and unused_count from the rig's layers. example_weights [frame_count][ex_rig_example_count].
 */
ex_result exi_bake_describe_targets(exi_bake *bake, const double *example_weights);
/* Refines positions, or differences of positions, from the cage [vertices of the rig][3] to the level. */
ex_result exi_bake_refine(const exi_bake *bake, const float *control, float *refined);

/* ---- frames.c ---- */

/* Scratch memory of a visit, not shared with other visits. */
typedef struct exi_bake_room {
    float *form;         /* [vertex_count][3] */
    double *loose;       /* [vertex_count][3] */
    float *matrices;     /* [joint_count][12] */
    void *skeleton;      /* scratch of ex_skeleton_evaluate */
    void *palette_room;  /* memory for a linear palette */
    ex_palette *palette; /* set by exi_bake_pose; NULL without a skin */
} exi_bake_room;

/* The rig's form that a visit is given. */
typedef enum exi_bake_truth {
    EXI_BAKE_NOTHING,
    EXI_BAKE_POSED,   /* positions as evaluated */
    EXI_BAKE_UNPOSED, /* positions before the skeleton poses them */
} exi_bake_truth;

/* Called for frames in any order, from several threads at once. Must write only what belongs to its frame. */
typedef void (*exi_bake_visit)(void *context, int index, int frame, const float *truth, exi_bake_room *room);

/* Visits frames[0…count), or all frames if frames is NULL. `what` names the work in progress reports, which run from
 * fraction `begin` to `end`. */
typedef struct exi_bake_walk {
    const int *frames;
    int count;
    exi_bake_truth truth;
    exi_bake_visit visit;
    void *context;
    const char *what;
    double begin, end;
} exi_bake_walk;
ex_result exi_bake_walk_frames(const exi_bake *bake, const exi_bake_walk *walk);

/* Computes the palette of the joints' transforms [joint_count], in the room. */
void exi_bake_pose(const exi_bake *bake, const ex_transform *locals, exi_bake_room *room);
/* Computes the file's form at rest with weights [target_count]; the second poses it with the room's palette. */
void exi_bake_form(const exi_bake *bake, const float *weights, float *form);
void exi_bake_skin_form(const ex_skin *skin, const exi_bake_room *room, int vertex_count, float *form);

/* Compares the file with the rig, and its skin with the full skin, at every frame. */
ex_result exi_bake_measure(const exi_bake *bake, const float *weights, const ex_transform *locals,
                           ex_bake_error *total);
ex_result exi_bake_measure_influences(const exi_bake *bake, ex_bake_error *influences);

/* The error of one frame, and of all frames together. */
typedef struct exi_bake_miss {
    double largest, squares;
    int vertex;
} exi_bake_miss;
exi_bake_miss exi_bake_compare(const float *a, const float *b, int vertex_count);
ex_bake_error exi_bake_gather(const exi_bake_miss *misses, int frame_count, int vertex_count);

/* ---- decompose.c ---- */

/* Adds targets for what rest, targets and skin leave: exactly `wanted`, or, if 0, until no vertex is off by more than
 * tolerance, up to EXI_BAKE_TARGETS in all. Adds fewer if fewer leave nothing. */
ex_result exi_bake_decompose(exi_bake *bake, int wanted, double tolerance);

/* ---- bound.c ---- */

/* Brings all weights between 0 and 1, and changes rest and targets to match. */
ex_result exi_bake_bound_weights(exi_bake *bake);

/* ---- channels.c, thin.c ---- */

/* Makes channels with a key at every frame. A constant channel gets one key, or none if it is at rest. */
ex_result exi_bake_make_channels(exi_bake *bake);
/* Interpolates a channel's value [width] at a frame from its keys. */
void exi_bake_channel_at(const exi_bake *bake, const exi_bake_channel *channel, int frame, float *value);
/* Chooses keys of one channel so that its values stay within `room`, in metres; 0: all keys, unless the channel is
 * constant. extents [target_count]: the distance each target moves a vertex; value [width]: scratch memory. */
void exi_bake_choose_keys(const exi_bake *bake, exi_bake_channel *channel, double room, const double *extents,
                          float *value);
/* Drops keys of all channels as long as no vertex moves by more than options.thin. */
ex_result exi_bake_thin(exi_bake *bake);
/* Computes weights and transforms from the keys, [frame_count] rows each. */
void exi_bake_play(const exi_bake *bake, float *weights, ex_transform *locals);

/* ---- bake_normals.c ---- */

/* Normals of the file at rest, and with a target. */
typedef struct exi_bake_normals {
    const exi_bake *bake;
    ex_normals *tables; /* of the groups; NULL without faces */
    void *scratch;
    int split_count, group_count;
    int *groups;      /* [split_count] */
    int *vertices;    /* [group_count], non-decreasing */
    int *splits;      /* [group_count]: the first split vertex of each */
    float *rest;      /* [split_count][3]: at rest */
    float *positions; /* [group_count][3]: scratch memory */
    float *from, *to; /* [group_count][3]: normals of the faces at rest, and of the form taken */
} exi_bake_normals;

/* Computes the normals at rest. Close it after a failure too. */
ex_result exi_bake_normals_open(exi_bake_normals *n, const exi_bake *bake);
void exi_bake_normals_close(exi_bake_normals *n);
/* Gives them to a mesh of the level. */
ex_result exi_bake_normals_give(const exi_bake_normals *n, ex_mesh *mesh);
/* Takes a form [vertex_count][3], and returns how it changes the normals of a primitive made from that mesh,
 * [p->vertex_count][3]. NULL without memory; release with free. */
void exi_bake_normals_take(exi_bake_normals *n, const float *form);
float *exi_bake_normals_changes(const exi_bake_normals *n, const ex_scene_primitive *p);

/* ---- bake_scene.c ---- */

ex_result exi_bake_make_scene(const exi_bake *bake, const char *name, ex_scene **scene);

#endif
