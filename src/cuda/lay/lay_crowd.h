/*
 * Patches of the cage for crowds (lay_crowd_cut.c), from which lay_crowd.c makes tables. Private to these two.
 */
#ifndef EXI_CUDA_LAY_CROWD_H
#define EXI_CUDA_LAY_CROWD_H

#include "cuda/lay/lay.h"

/* Working data of the layout; arrays in one allocation. */
typedef struct exi_crowd_plan {
    int vertices, patch_count, joints;
    int most;             /* maximum rows of a patch */
    float *positions;     /* [vertices][3] */
    uint32_t *order;      /* [vertices]: owned vertices, patch after patch */
    uint32_t *starts;     /* [patch_count + 1] into order */
    uint32_t *row_of;     /* [vertices]: row in the current patch */
    uint32_t *seen;       /* [vertices]: 1 plus the patch in which a vertex was last seen */
    float *joint_weights; /* [joints]: sums over the current patch */
    uint32_t rows[EXI_CROWD_ROWS];
    int owned, row_count;
    bool runs;                           /* true if patches are runs of vertices */
    const uint32_t *ring_starts, *rings; /* NULL: no normals */
    exi_lay ring_lay;
    void *memory;
    size_t size;
    const ex_allocator *allocator;
} exi_crowd_plan;

/* Makes positions at rest, room for cuts and, if the rig has normals, the cage's rings. The caller sets most and rings
 * before a cut. Close it even after failure. */
ex_result exi_crowd_plan_open(const ex_rig *rig, const ex_allocator *allocator, exi_crowd_plan *plan, ex_error *error);
void exi_crowd_plan_close(exi_crowd_plan *plan);
/* Cuts the cage; false if neighbours take more room than the vertices themselves. */
bool exi_crowd_plan_cut(exi_crowd_plan *plan);
/* Finds the rows of a patch; false if there are too many, which cannot happen after the cut. */
bool exi_crowd_plan_patch(exi_crowd_plan *plan, int patch);

#endif
