/*
 * Skinning a range of vertices: checks, and the arrays as streams for the kernel (skin_kernel.c).
 */
#include "runtime/base/result.h"
#include "runtime/base/rows.h"
#include "runtime/pose/skin.h"

static exi_stream open_stream(const float *in, size_t in_stride, float *out, size_t out_stride, size_t close) {
    if (!in || !out)
        return (exi_stream){0};
    return (exi_stream){(const char *)in, (char *)out, in_stride ? in_stride : close, out_stride ? out_stride : close};
}

static bool rows_fit(const ex_skin_job *job) {
    return exi_rows_fit(job->positions, job->position_stride, 12) &&
           exi_rows_fit(job->normals, job->normal_stride, 12) && exi_rows_fit(job->tangents, job->tangent_stride, 16) &&
           exi_rows_fit(job->out_positions, job->out_position_stride, 12) &&
           exi_rows_fit(job->out_normals, job->out_normal_stride, 12) &&
           exi_rows_fit(job->out_tangents, job->out_tangent_stride, 16);
}

void ex_skin_apply(const ex_skin *skin, const ex_palette *palette, const ex_skin_job *job) {
    if (!skin || !palette || !job || palette->joint_count != skin->joint_count || job->begin < 0 ||
        job->end > skin->vertex_count) {
        exi_misuse(__func__,
                   "no skin, palette or job, a palette for another number of joints, or vertices out of range");
        return;
    }
    if (!rows_fit(job)) {
        exi_misuse(__func__, EXI_ROWS_MISUSE);
        return;
    }
    const exi_skin_tables t = exi_skin_tables_of(skin);
    const exi_streams s = {
        .positions =
            open_stream(job->positions, job->position_stride, job->out_positions, job->out_position_stride, 12),
        .normals = open_stream(job->normals, job->normal_stride, job->out_normals, job->out_normal_stride, 12),
        .tangents = open_stream(job->tangents, job->tangent_stride, job->out_tangents, job->out_tangent_stride, 16)};
    exi_skin_move(&t, palette, &s, job->begin, job->end, job->box);
}
