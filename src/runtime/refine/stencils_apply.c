/*
 * Refined positions and normals (stencils_kernel.c): the public function.
 */
#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/base/rows.h"
#include "runtime/refine/stencils.h"

#include <string.h>

static void run_batches(void *context, int begin, int end) {
    exi_stencils_run(context, begin, end);
}

static void copy_control(const ex_refine *refine, int count, size_t stride, float *to) {
    for (int v = 0; v < count; v++, to += 4) {
        memcpy(to, (const char *)refine->control + (size_t)v * stride, 3 * sizeof(float));
        to[3] = 0;
    }
}

static void copy_level_0(const ex_refine *refine, int count, size_t stride, size_t out_stride) {
    for (int v = 0; v < count && refine->positions; v++)
        memcpy((char *)refine->positions + (size_t)v * out_stride, (const char *)refine->control + (size_t)v * stride,
               3 * sizeof(float));
}

size_t ex_stencils_scratch_size(const ex_stencils *stencils) {
    return ((size_t)stencils->control_count + 1) * 4 * sizeof(float);
}

void ex_stencils_apply(const ex_stencils *stencils, const ex_refine *refine, const ex_tasks *tasks, void *scratch) {
    if (!stencils || !refine || !refine->control || !scratch || !ex_stencils_has(stencils, refine->level) ||
        (refine->normals && !ex_stencils_has_tangents(stencils, refine->level))) {
        exi_misuse(__func__, "no stencils, control vertices or scratch, or a level or normals that are not there");
        return;
    }
    if (!exi_rows_fit(refine->control, refine->control_stride, 12) ||
        !exi_rows_fit(refine->positions, refine->position_stride, 12) ||
        !exi_rows_fit(refine->normals, refine->normal_stride, 12) || !exi_rows_fit(scratch, 0, 0)) {
        exi_misuse(__func__, EXI_ROWS_MISUSE);
        return;
    }
    const size_t stride = refine->control_stride ? refine->control_stride : 12;
    const size_t position_stride = refine->position_stride ? refine->position_stride : 12;
    if (refine->level == 0) {
        copy_level_0(refine, stencils->control_count, stride, position_stride);
        return;
    }
    const exi_stencil_table *table = exi_stencils_table(stencils, refine->level);
    const uintptr_t block = (uintptr_t)stencils;
    copy_control(refine, stencils->control_count, stride, scratch);
    exi_stencil_pass pass = {.batches = (const exi_stencil_batch *)(block + (uintptr_t)table->batches),
                             .vertices = (const uint32_t *)(block + (uintptr_t)table->vertices),
                             .support = (const uint32_t *)(block + (uintptr_t)table->support),
                             .weights = (const float *)(block + (uintptr_t)table->weights),
                             .tangents = (const float *)(block + (uintptr_t)table->tangents),
                             .control = scratch,
                             .positions = refine->positions,
                             .normals = refine->normals,
                             .position_stride = position_stride,
                             .normal_stride = refine->normal_stride ? refine->normal_stride : 12};
    exi_run(tasks, table->batch_count, 1024 / EXI_BATCH_SHARED, run_batches, &pass);
}
