/*
 * The cage cut into patches for crowds (lay_crowd_cut.c), from which lay_crowd.c makes tables. Private to these two.
 */
#ifndef EXI_CUDA_LAY_CROWD_H
#define EXI_CUDA_LAY_CROWD_H

#include "cuda/lay/lay.h"

/* What laying out works with; arrays in one allocation. */
typedef struct exi_crowd_plan {
    int vertices, patch_count, joints;
    int most;             /* rows of a patch */
    float *positions;     /* [vertices][3] */
    uint32_t *order;      /* [vertices]: owned ones, patch after patch */
    uint32_t *starts;     /* [patch_count + 1] into order */
    uint32_t *row_of;     /* [vertices]: in the patch at hand */
    uint32_t *seen;       /* [vertices]: the patch that a vertex was last seen in, and 1 */
    float *joint_weights; /* [joints]: sums over the patch at hand */
    uint32_t rows[EXI_CROWD_ROWS];
    int owned, row_count;
    bool runs;                           /* patches are runs of vertices */
    const uint32_t *ring_starts, *rings; /* NULL: no normals */
    exi_lay ring_lay;
    void *memory;
    size_t size;
    const ex_allocator *allocator;
} exi_crowd_plan;

/* Positions at rest, room for cuts and, where the rig has normals, the cage's rings. most and rings are the caller's to
 * set before a cut. Close also after failure. */
ex_result exi_crowd_plan_open(const ex_rig *rig, const ex_allocator *allocator, exi_crowd_plan *plan, ex_error *error);
void exi_crowd_plan_close(exi_crowd_plan *plan);
/* Cuts; false where neighbours take more room than the vertices themselves. */
bool exi_crowd_plan_cut(exi_crowd_plan *plan);
/* The rows of a patch; false where there are too many, which no longer happens once the cut is made. */
bool exi_crowd_plan_patch(exi_crowd_plan *plan, int patch);

#endif
