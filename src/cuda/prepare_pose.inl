/*
 * Posing an instance: the skeleton from local transforms to what skinning uses, as ex_skeleton_evaluate and
 * ex_palette_make do it, and inputs as ex_rig_get_input reads them.
 *
 * A thread takes one joint from its local transform to its part of the palette and keeps its matrices in registers all
 * the way: joints stand sorted by depth, so that a team takes as many of them as it has threads, and within those goes
 * from depth to depth, a product of two matrices each time. Nothing else waits for a parent.
 */
#ifndef EXI_CUDA_PREPARE_POSE_INL
#define EXI_CUDA_PREPARE_POSE_INL

#include "cuda/block.h"
#include "cuda/team.h"
#include "runtime/pose/joint.inl"
#include "runtime/pose/palette.inl"
#include "runtime/pose/reading.inl"
#include "runtime/rig/records.h"

/* The numbers of an input, 1 or 4, as ex_rig_get_input gives them. */
EXI_INLINE void exi_gpu_input(const exi_gpu *g, const exi_gpu_job *j, int instance, int input, double *value) {
    const exi_input_record *record = &g->inputs[input];
    const int kind = (int)record->axis.kind;
    if (record->joint >= 0) {
        const ex_transform *rests = (const ex_transform *)exi_skeleton_at(g->skeleton, g->skeleton->rest);
        const ex_transform *rest = rests + record->joint, *local = rest;
        const ex_reading reading = exi_input_reading(record);
        if (j->joints)
            local = j->joints + (size_t)instance * (size_t)g->joints + (size_t)record->joint;
        if (reading.kind != EX_READING_NONE)
            exi_reading_value(&reading, rest, local, value);
        return;
    }
    if (kind == EX_AXIS_DRIVER) { /* a form is no number */
        *value = 0;
        return;
    }
    const float *dials =
        j->inputs ? j->inputs + (size_t)instance * (size_t)g->pose_size + (size_t)record->offset : NULL;
    if (kind == EX_AXIS_SCALAR) {
        *value = dials ? (double)*dials : record->axis.rest;
        return;
    }
    for (int i = 0; i < 4; i++)
        value[i] = dials ? (double)dials[i] : record->axis.rest_rotation[i];
}

/* The joints' places follow the examples' weights: sum over examples of weight times shift. */
EXI_INLINE void exi_gpu_shift(const exi_gpu *g, const exi_gpu_job *j, int instance, exi_team team, float *shifts) {
    const float *weights = j->work.weights + (size_t)instance * (size_t)g->examples;
    const int count = 3 * g->joints;
    for (int c = team.lane; c < count; c += team.lanes) {
        float sum = 0;
        for (int i = 0; i < g->shift_count; i++) {
            const float weight = weights[g->shift_examples[i]];
            if (weight != 0)
                sum += weight * g->shifts[(size_t)i * (size_t)count + (size_t)c];
        }
        shifts[c] = sum;
    }
}

/* One joint's matrix for skinning, through floats as on the CPU: what counts as usable and as rigid is the same. */
EXI_INLINE void exi_gpu_matrix(const exi_joints *t, int joint, const double world[12], float palette[12]) {
    float matrix[12];
    double m[12];
    exi_joint_matrix(t, joint, world, matrix);
    exi_palette_matrix(matrix, m);
    exi_matrix_to_floats(m, palette);
}

/* What becomes of that matrix: its rotation beside it, or taken apart. */
EXI_INLINE void exi_gpu_apart(const exi_gpu *g, const exi_gpu_job *j, int instance, const exi_joints *t, int joint) {
    const size_t place = (size_t)instance * (size_t)g->joints + (size_t)joint;
    float *palette = j->work.palette + 12 * place, *dual = j->work.duals + 8 * place, at[3];
    double m[12], centre[3];
    exi_matrix_from_floats(palette, m);
    if (g->skinning == EX_SKINNING_LINEAR) {
        exi_palette_rotation(m, palette, dual);
        return;
    }
    exi_joint_centre(t, joint, at);
    exi_palette_centre(at, centre);
    if (exi_palette_apart(m, centre, palette, dual))
        EXI_TEAM_MARK(&j->work.stretched[instance]);
}

/* Shifts, world matrices, palette; nothing where the instance is not skinned. work.weights are there. */
EXI_INLINE void exi_gpu_pose(const exi_gpu *g, const exi_gpu_job *j, int instance, exi_team team) {
    if (!j->skinned || !g->skin_joints)
        return;
    const size_t first = (size_t)instance * (size_t)g->joints;
    float *shifts = g->shift_count > 0 ? j->work.shifts + 3 * first : NULL;
    const exi_joints t =
        exi_joints_of(g->skeleton, j->joints ? j->joints + first : NULL, shifts, j->work.worlds + 12 * first);
    if (team.lane == 0)
        j->work.stretched[instance] = 0;
    if (shifts) {
        exi_gpu_shift(g, j, instance, team, shifts);
        EXI_TEAM_SYNC(team);
    }
    for (int begin = 0, depth = 0; begin < g->joints; begin += team.lanes) {
        const int end = begin + team.lanes, place = begin + team.lane;
        const int joint = place < g->joints ? g->depth_joints[place] : -1;
        double world[12];
        if (joint >= 0)
            exi_joint_begin(&t, joint, world);
        while (depth < g->depth_count && g->depth_starts[depth] < end) {
            const int until = g->depth_starts[depth + 1];
            if (joint >= 0 && place >= g->depth_starts[depth] && place < until)
                exi_joint_finish(&t, joint, world);
            EXI_TEAM_SYNC(team);
            if (until > end) /* goes on among the next */
                break;
            depth++;
        }
        if (joint >= 0)
            exi_gpu_matrix(&t, joint, world, j->work.palette + 12 * (first + (size_t)joint));
    }
    /* Apart from the above, which would otherwise have to keep its registers beside these. The same thread has the same
     * joint. */
    if (g->skinning != EX_SKINNING_LINEAR || g->offset_starts[EX_FRAME_SKINNED])
        for (int place = team.lane; place < g->joints; place += team.lanes)
            exi_gpu_apart(g, j, instance, &t, g->depth_joints[place]);
    EXI_TEAM_SYNC(team);
}

#endif
