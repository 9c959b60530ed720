/*
 * exemplar/author/bake.h - baking: a rig in motion as files that play without Exemplar.
 *
 * Point caches (PC2, MDD, numbered OBJ) hold every vertex at every frame, as evaluation gives it. A baked .glb is
 * standard glTF: morph targets, a skin of at most four influences, and animation of joints and weights. It is exact for
 * layers at rest, linear skinning and no refinement; for anything else it is the nearest such file, and how near is
 * measured at every frame. Its times count from the motion's first frame.
 */
#ifndef EXEMPLAR_AUTHOR_BAKE_H
#define EXEMPLAR_AUTHOR_BAKE_H

#include <exemplar/author/base.h>
#include <exemplar/author/clip.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How far vertices are from where they should be, in metres, over all frames. */
typedef struct ex_bake_error {
    double largest, rms;
    int frame, vertex; /* of the largest */
} ex_bake_error;

/* What evaluates the frames of a point cache in place of ex_rig_evaluate_many: a GPU, say. */
typedef struct ex_bake_evaluator {
    /* Some frames after those of the last call: at most frame_most. *positions [count][vertices of the level][3] belong
     * to the evaluator, until it is called again. */
    ex_result (*evaluate)(void *user, int count, const ex_pose *poses, const float **positions, ex_error *error);
    void *user;
    int frame_most; /* at least 1 */
} ex_bake_evaluator;

/* How near a .glb is brought where error_most is 0: part of the form's size. */
#define EX_BAKE_ERROR 1e-4

typedef struct ex_bake_options {
    int level;             /* 0: the cage; a level; EX_LEVEL_LIMIT */
    int influence_most;    /* of the skin in the file; 0: 4 */
    int target_count;      /* morph targets in all, chosen by a truncated decomposition of what the motion needs; 0: the
                              rig's examples as they are where that is exact, else as many as bring the error below
                              error_most, at most 64 */
    double thin;           /* keys are left out while no vertex moves farther than this, in metres; 0: every frame has
                              its key */
    double error_most;     /* refuse beyond this, in metres; 0: never */
    const ex_tasks *tasks; /* or NULL */
    const ex_progress *progress;        /* or NULL */
    const bool *muted;                  /* [layer_count] or NULL */
    const ex_bake_evaluator *evaluator; /* of point caches; it sees to level and muted itself. NULL: the runtime */
} ex_bake_options;

typedef struct ex_bake_report {
    bool exact; /* but for influences and thinning the file is the rig */
    int frame_count, target_count;
    int unused_count;               /* examples that the motion gives no weight: they are not in the file */
    int influence_most;             /* of the rig's skin */
    ex_bake_error influences;       /* what leaving influences out costs, by itself */
    ex_bake_error total;            /* the file against the rig */
    double size;                    /* the largest side of the mesh, a standing form's height, to compare with */
    long key_count, key_count_full; /* keys of all channels, kept and before thinning */
} ex_bake_report;

/* The reason why a .glb of this rig at this level is not exact, as the end of a sentence; NULL where it is. muted
 * [layer_count], or NULL. */
EX_API const char *ex_bake_inexact(const ex_rig *rig, const bool *muted, int level);

/* ex_bake_report.size before anything is baked: the largest side of the mesh's box before any layer, in metres. -1
 * without memory. */
EX_API double ex_bake_size(const ex_rig *rig);

/* Writes a standard .glb. Results: DATA (the error is beyond error_most: by how much), FILE, MEMORY, LIMIT. report may
 * be NULL. */
EX_API ex_result ex_bake_glb(const ex_rig *rig, const ex_motion *motion, const char *path,
                             const ex_bake_options *options, ex_bake_report *report, ex_error *error);

/* Writes a point cache, by the name's end .pc2, .mdd, or .obj (NAME_0001.obj, …), frame after frame, in source order.
 * Uses options->level, tasks, progress, muted, evaluator. */
EX_API ex_result ex_bake_cache(const ex_rig *rig, const ex_motion *motion, const char *path,
                               const ex_bake_options *options, ex_error *error);

#ifdef __cplusplus
}
#endif
#endif
