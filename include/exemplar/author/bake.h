/*
 * exemplar/author/bake.h - baking: writes a rig in motion to files that play without Exemplar.
 *
 * Point caches (PC2, MDD, Alembic, numbered OBJ) hold every vertex at every frame, as evaluated. A baked .glb is
 * standard glTF: morph targets, a skin of at most four influences, and animation of joints and weights. It is exact for
 * layers at rest, linear skinning and no refinement. For anything else it is the closest such file, and the error is
 * measured at every frame. Times in the .glb start at the motion's first frame.
 */
#ifndef EXEMPLAR_AUTHOR_BAKE_H
#define EXEMPLAR_AUTHOR_BAKE_H

#include <exemplar/author/base.h>
#include <exemplar/author/clip.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Distance of vertices from their correct positions, in metres, over all frames. */
typedef struct ex_bake_error {
    double largest, rms;
    int frame, vertex; /* of the largest error */
} ex_bake_error;

/* Evaluates the frames of a point cache in place of ex_rig_evaluate_many, for example on a GPU. */
typedef struct ex_bake_evaluator {
    /* Evaluates the next `count` frames, at most frame_most, following those of the last call. *positions
     * [count][vertices of the level][3] belong to the evaluator until it is called again. */
    ex_result (*evaluate)(void *user, int count, const ex_pose *poses, const float **positions, ex_error *error);
    void *user;
    int frame_most; /* at least 1 */
} ex_bake_evaluator;

/* Target error of a .glb if error_most is 0, as a fraction of the form's size. */
#define EX_BAKE_ERROR 1e-4

/* Options of baking. */
typedef struct ex_bake_options {
    int level;             /* 0: the cage; a level; or EX_LEVEL_LIMIT */
    int influence_most;    /* of the skin in the file; 0: the default, 4 */
    int target_count;      /* number of morph targets, chosen by a truncated decomposition of what the motion needs; 0:
                              the rig's examples unchanged if that is exact, else as many as bring the error below
                              error_most, at most 64 */
    double thin;           /* metres: keys are dropped while no vertex moves farther than this; 0: a key at every
                              frame */
    double error_most;     /* metres: baking fails if the error is larger; 0: no limit */
    const ex_tasks *tasks; /* optional */
    const ex_progress *progress;        /* optional; returning false stops */
    const char *name;                   /* of the animation in a .glb; NULL: "motion" */
    const bool *muted;                  /* [layer_count], optional */
    const ex_bake_evaluator *evaluator; /* for point caches, optional; it must honour level and muted itself. NULL: the
                                           runtime */
} ex_bake_options;

/* Report on a baked file: its contents and its error. */
typedef struct ex_bake_report {
    bool exact; /* true if the file equals the rig, apart from influences and thinning */
    int frame_count, target_count;
    int unused_count;               /* examples that get no weight in this motion: they are not in the file */
    int influence_most;             /* of the rig's skin */
    ex_bake_error influences;       /* error from dropping influences alone */
    ex_bake_error total;            /* error of the file against the rig */
    double size;                    /* largest side of the mesh (the height of a standing form), for comparison */
    long key_count, key_count_full; /* keys of all channels: kept, and before thinning */
} ex_bake_report;

/* Returns the reason why a .glb of this rig at this level is not exact, as the end of a sentence; NULL if it is exact.
 * muted [layer_count] may be NULL. */
EX_API const char *ex_bake_inexact(const ex_rig *rig, const bool *muted, int level);

/* Returns ex_bake_report.size before baking: the largest side of the mesh's bounding box before any layer, in metres.
 * -1 without memory. */
EX_API double ex_bake_size(const ex_rig *rig);

/* Bakes a motion to a standard .glb file. Results: DATA (the error exceeds error_most; the message says by how much),
 * FILE, MEMORY, LIMIT. report may be NULL. */
EX_API ex_result ex_bake_glb(const ex_rig *rig, const ex_motion *motion, const char *path,
                             const ex_bake_options *options, ex_bake_report *report, ex_error *error);

/* Bakes a motion to a point cache, frame by frame, vertices in source order. The path's extension selects the format:
 * .pc2, .mdd, or .obj (NAME_0001.obj, …). Uses options->level, tasks, progress, muted, evaluator. */
EX_API ex_result ex_bake_cache(const ex_rig *rig, const ex_motion *motion, const char *path,
                               const ex_bake_options *options, ex_error *error);

#ifdef __cplusplus
}
#endif
#endif
