/*
 * bake.h - what the parts of baking share; private to authoring and the tool.
 *
 * A bake is a description of the file that is going to be written: a rest mesh at one level, morph targets, a skin of
 * few influences, and for every frame a weight per target and a local transform per joint. describe.c makes it from
 * the rig's own examples, decompose.c adds targets for what these leave, bound.c brings weights between 0 and 1, thin.c
 * chooses keys, bake_scene.c writes it; frames.c evaluates the rig and the file side by side (docs/baking.md).
 */
#ifndef EXEMPLAR_AUTHOR_BAKE_BAKE_H
#define EXEMPLAR_AUTHOR_BAKE_BAKE_H

#include "runtime/base/result.h"

#include <exemplar/author/bake.h>
#include <exemplar/author/scene.h>

/* The most targets that are added without being asked for. */
#define EXI_BAKE_TARGETS 64

/* A morph target: the vertices of the level that it moves. */
typedef struct exi_bake_target {
    char *name;
    int count;
    uint32_t *vertices; /* [count], ascending */
    float *deltas;      /* [count][3] */
} exi_bake_target;

/* One property of one joint over the frames, or all weights. Of the keys' values the file is made. */
typedef struct exi_bake_channel {
    int joint; /* -1: the weights */
    ex_scene_path path;
    int width;
    float *values; /* [frame_count][width] */
    float *usual;  /* [width] what holds without a channel */
    double reach;  /* metres that a unit of error moves a vertex, about; of weights 1: their extents come in */
    int key_count; /* 0: the channel is left out */
    int *keys;     /* [key_count] frames, rising */
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
    ex_skin *skin; /* of the file; NULL: none */
    ex_skin *full; /* the same with all influences; NULL where none were left out */
    bool exact;    /* rest, targets and skin are all there is */
    int unused_count;
    int target_count;
    size_t target_capacity;
    exi_bake_target *targets;
    float *weights;       /* [frame_count][target_count] */
    float *rest_weights;  /* [target_count], with which the file stands as the rig does at rest; NULL: zeros */
    ex_transform *locals; /* [frame_count][joint_count] */
    float *times;         /* [frame_count] seconds from the first frame on */
    int channel_count;
    exi_bake_channel *channels;
} exi_bake;

/* ---- skin.c ---- */

/* The skin at the level, with all influences and with the heaviest alone. */
ex_result exi_bake_make_skin(exi_bake *bake);

/* ---- describe.c, describe_targets.c ---- */

/* Rest mesh, times, joints; and the rig's own targets with their weights, where wanted. */
ex_result exi_bake_describe(exi_bake *bake, bool own_targets);
/* Room for one more target, named; NULL without memory, with the sentence. */
exi_bake_target *exi_bake_add_target(exi_bake *bake, const char *name);
/* Fills a target from deltas [vertex_count][3]: vertices that do not move are left out. */
ex_result exi_bake_fill_target(exi_bake *bake, exi_bake_target *target, const float *deltas);
/* Fills targets, weights and unused_count from the rig's layers. example_weights [frame_count][ex_rig_example_count].
 */
ex_result exi_bake_describe_targets(exi_bake *bake, const double *example_weights);
/* From the cage [vertices of the rig][3] to the level: positions, or differences of them. */
ex_result exi_bake_refine(const exi_bake *bake, const float *control, float *refined);

/* ---- frames.c ---- */

/* What a visit may write to: memory of its own. */
typedef struct exi_bake_room {
    float *form;         /* [vertex_count][3] */
    double *loose;       /* [vertex_count][3] */
    float *matrices;     /* [joint_count][12] */
    void *skeleton;      /* scratch of ex_skeleton_evaluate */
    void *palette_room;  /* memory for a linear palette */
    ex_palette *palette; /* set by exi_bake_pose; NULL without a skin */
} exi_bake_room;

/* What of the rig a visit looks at. */
typedef enum exi_bake_truth {
    EXI_BAKE_NOTHING,
    EXI_BAKE_POSED,   /* positions as evaluation gives them */
    EXI_BAKE_UNPOSED, /* before the skeleton poses them */
} exi_bake_truth;

/* Called for frames in any order, by several threads at once; writes only what belongs to its frame. */
typedef void (*exi_bake_visit)(void *context, int index, int frame, const float *truth, exi_bake_room *room);

/* Visits frames[0…count), or, where frames is NULL, all. `what` names the work to those who wait, from fraction `begin`
 * to `end`. */
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

/* The palette of some joints' transforms [joint_count], in the room. */
void exi_bake_pose(const exi_bake *bake, const ex_transform *locals, exi_bake_room *room);
/* The file's form at rest with some weights [target_count]; and, with the room's palette, posed. */
void exi_bake_form(const exi_bake *bake, const float *weights, float *form);
void exi_bake_skin_form(const ex_skin *skin, const exi_bake_room *room, int vertex_count, float *form);

/* The file against the rig, and its skin against the whole skin, at every frame. */
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

/* Adds targets for what rest, targets and skin leave: exactly `wanted`, or, with 0, until no vertex is off by more than
 * tolerance, at most EXI_BAKE_TARGETS in all. Fewer where fewer leave nothing. */
ex_result exi_bake_decompose(exi_bake *bake, int wanted, double tolerance);

/* ---- bound.c ---- */

/* Brings all weights between 0 and 1; rest and targets change with them. */
ex_result exi_bake_bound_weights(exi_bake *bake);

/* ---- channels.c, thin.c ---- */

/* Channels with a key for every frame; those that do not change get one key, or none where they are at rest. */
ex_result exi_bake_make_channels(exi_bake *bake);
/* A channel's value [width] at a frame by its keys. */
void exi_bake_channel_at(const exi_bake *bake, const exi_bake_channel *channel, int frame, float *value);
/* Chooses keys of one channel so that its values stay within `room`, in metres; 0: all, unless nothing changes. extents
 * [target_count]: how far each target moves a vertex; value [width]: room for one. */
void exi_bake_choose_keys(const exi_bake *bake, exi_bake_channel *channel, double room, const double *extents,
                          float *value);
/* Leaves out keys of all channels while no vertex moves by more than options.thin. */
ex_result exi_bake_thin(exi_bake *bake);
/* Weights and transforms as the keys give them, each [frame_count] rows. */
void exi_bake_play(const exi_bake *bake, float *weights, ex_transform *locals);

/* ---- bake_scene.c ---- */

ex_result exi_bake_make_scene(const exi_bake *bake, const char *name, ex_scene **scene);

#endif
