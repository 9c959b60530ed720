/*
 * One call of evaluation: its arguments, and the data that its stages hand on. Private to the room.
 *
 * Stages: weigh (weights of all layers, and the skeleton's palette; a task for a few poses), shape and pose (blend and
 * skin a chunk of vertices for a part of the poses; a task for a few of these), then for each pose settle, refine,
 * normals, tangents and textures: many poses in a task each, few poses one after the other, cut into tasks by the rooms
 * of these stages. All stages of small poses are one task.
 */
#ifndef EXI_RIG_EVALUATE_H
#define EXI_RIG_EVALUATE_H

#include "runtime/rig/drive/drive_evaluate.h"

typedef struct exi_domain exi_domain;

/* Takes memory from *cursor on for a pose's scratch. */
static inline void *exi_scratch_take(uintptr_t *cursor, size_t count, size_t size) {
    void *place = (void *)*cursor;
    *cursor += (count * size + 63) / 64 * 64;
    return place;
}

/* Scratch of one pose. */
typedef struct exi_pose_scratch {
    double *point;                /* [largest_dimension] */
    double *weights;              /* [examples] */
    float *floats;                /* [forms], including those of trajectories: factors of their sum */
    exi_term *terms;              /* the same */
    double *set_weights;          /* [most_weights] of a layer */
    void *own[EX_DOMAIN_COUNT];   /* scratch of the domains; NULL if the rig has no such layers */
    float *control;               /* [vertices][3]: the posed cage, if a refined level is requested */
    float *shifts;                /* [joints][3] */
    float *matrices;              /* [joints][12] */
    float *centres;               /* [joints][3] */
    float *turns;                 /* [joints][4] */
    void *skeleton;               /* ex_skeleton_scratch_size */
    void *palette;                /* ex_palette_size */
    exi_blend blend;              /* terms, and output of the cage */
    const ex_palette *skinned_by; /* NULL: no posing */
    const ex_skin *skin;          /* the skin for that palette: the rig's own, or that of the driver's frames */
    exi_drive_scratch drive;
    bool regional; /* true if the vertices of some layer have individual weights */
} exi_pose_scratch;

typedef struct exi_rig_job {
    const ex_rig *rig;
    const ex_pose *poses;
    const ex_output *outputs;
    const ex_weigher *const *weighers;
    const bool *muted;
    const double *given; /* [examples]: weights to use instead of those of the weighers; or NULL */
    const ex_tasks *tasks;
    int pose_count, chunk_count;
    int pose_parts; /* parts of the poses while they are shaped */
    int lanes;      /* tasks that finish poses; 1: poses are finished one after the other */
    bool whole;     /* true if the same tasks also weigh and shape the poses */
    int level;
    bool split, skinned, settled;
    void *const *states;
    const exi_domain *adding[EX_DOMAIN_COUNT]; /* [adding_count]: domains that add to positions */
    int adding_count;
    exi_pose_scratch *scratch; /* [pose_count] */
    float *boxes;              /* [pose_count][chunk_count][6] */
    void *shared;              /* [lanes][exi_rig_shared_size]: for one stage of one pose at a time */
} exi_rig_job;

/* evaluate_surface.c: everything after the posed cage, for one pose. */
void exi_rig_finish(const exi_rig_job *job, int pose);
/* Bytes of a lane of exi_rig_job.shared, a multiple of 64. */
size_t exi_rig_shared_size(const ex_rig *rig, int level);

/* evaluate_weigh.c: the first stage, for poses begin to end; context: an exi_rig_job. */
void exi_rig_weigh(void *context, int begin, int end);
/* True if the evaluation leaves a layer out. */
bool exi_rig_is_muted(const exi_rig_job *job, int layer);

#endif
