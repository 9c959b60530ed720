/*
 * Posing of an instance: from local transforms to the skinning palette, like ex_skeleton_evaluate and ex_palette_make,
 * and inputs as read by ex_rig_get_input.
 *
 * A thread takes a joint and computes its local matrix. Then the team goes from depth to depth, with one thread per
 * column of a joint's world matrix, since most depths have few joints; the first also multiplies its turn. Then each
 * thread takes a joint again, for its part of the palette. Joints that go too far are detected at the end: everything
 * is then done again with checks, by one thread.
 */
#ifndef EXI_CUDA_PREPARE_POSE_INL
#define EXI_CUDA_PREPARE_POSE_INL

#include "cuda/block.h"
#include "cuda/machine.h"
#include "cuda/work.h"
#include "runtime/pose/joint.inl"
#include "runtime/pose/palette.inl"
#include "runtime/pose/reading.inl"
#include "runtime/rig/pack/records.h"

/* Gets the numbers of an input, 1 or 4, like ex_rig_get_input. */
EXI_INLINE void exi_gpu_input(const exi_gpu *g, const exi_gpu_job *j, int instance, int input, double *value) {
    const exi_input_record *record = &g->inputs[input];
    const int kind = EXI_GPU_HAS(g, EXI_GPU_READINGS) ? (int)record->axis.kind : EX_AXIS_SCALAR;
    if (EXI_GPU_HAS(g, EXI_GPU_READINGS) && record->joint >= 0) {
        const ex_transform *rests = (const ex_transform *)exi_skeleton_at(g->skeleton, g->skeleton->rest);
        const ex_transform *rest = rests + record->joint, *local = rest;
        const ex_reading reading = exi_input_reading(record);
        if (j->joints)
            local = j->joints + (size_t)instance * (size_t)g->joints + (size_t)record->joint;
        if (reading.kind != EX_READING_NONE)
            exi_reading_value(&reading, rest, local, value);
        return;
    }
    if (kind == EX_AXIS_DRIVER) { /* a form is not a number */
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

/* Joint positions follow the examples' weights: sum over examples of weight times shift. */
EXI_INLINE void exi_gpu_shift(const exi_gpu *g, const exi_gpu_job *j, int instance, exi_team team, float *shifts) {
    const float *weights = j->work.weights + (size_t)instance * (size_t)g->examples;
    const int count = 3 * g->joints;
    EXI_ROLLED for (int c = team.lane; c < count; c += team.lanes) {
        float sum = 0;
        EXI_ROLLED for (int i = 0; i < g->shift_count; i++) {
            const float weight = weights[g->shift_examples[i]];
            if (weight != 0)
                sum += weight * g->shifts[(size_t)i * (size_t)count + (size_t)c];
        }
        shifts[c] = sum;
    }
}

/* One joint's matrix for skinning, through floats as on the CPU. The test for usable numbers is the same as there,
 * where it is in double, because no float lies between the two bounds. */
EXI_INLINE void exi_gpu_matrix(const exi_joints *t, int joint, const double world[12], float palette[12]) {
    float matrix[12];
    bool usable = true;
    exi_joint_matrix(t, joint, world, matrix);
    for (int i = 0; i < 12; i++)
        usable = usable && fabsf(matrix[i]) <= (float)EXI_PALETTE_MOST;
    for (int i = 0; i < 12; i++)
        palette[i] = usable ? matrix[i] : i % 5 == 0 ? 1.0f : 0.0f;
}

/* Adds the rotation of that matrix, or takes it apart. */
EXI_INLINE void exi_gpu_apart(const exi_gpu *g, const exi_gpu_job *j, int instance, const exi_joints *t, int joint) {
    const size_t place = (size_t)instance * (size_t)g->joints + (size_t)joint;
    float *palette = j->work.palette + 12 * place, *dual = j->work.duals + 8 * place, turn[4], at[3];
    double m[12], centre[3];
    exi_joint_rotation(t, joint, turn);
    if (g->skinning == EX_SKINNING_LINEAR) {
        exi_palette_rotation_by(turn, dual);
        return;
    }
    exi_matrix_from_floats(palette, m);
    exi_joint_centre(t, joint, at);
    exi_palette_centre(at, centre);
    if (exi_palette_apart_by(turn, m, centre, t->scale, palette, dual))
        EXI_TEAM_MARK(&j->work.stretched[instance]);
}

/* First stage of a joint's turn; with its parent, both stages. */
EXI_INLINE void exi_gpu_turn(const exi_joints *t, int joint, bool follows) {
    double *turn = t->turns + 4 * (size_t)joint;
    exi_joint_turn(t, joint, t->locals ? &t->locals[joint] : &t->rest[joint], turn);
    if (follows)
        exi_joint_turn_follow(t, joint, turn);
}

/* Computes the world matrices of all joints one after the other: exi_joint_begin and exi_joint_finish in one loop,
 * which is half the code and saves the kernel ten registers. Passed by value: the caller's copy stays in registers. */
EXI_CALL void exi_gpu_place_slowly(exi_joints t, const int32_t *by_depth, int joints) {
    EXI_ROLLED for (int i = 0; i < joints; i++) {
        const int joint = by_depth[i];
        double *world = t.worlds + 12 * (size_t)joint;
        bool usable = false;
        EXI_ROLLED for (int k = 0; k < 2 && !usable; k++) {
            double own[12];
            const ex_transform *local = k == 0 && t.locals ? &t.locals[joint] : &t.rest[joint];
            exi_joint_local(&t, joint, local, own);
            usable = exi_joint_follow(&t, joint, own);
            if (t.turns && k == 0 && usable)
                exi_gpu_turn(&t, joint, true);
            else
                exi_joint_turn_rest(&t, joint, usable);
            for (int c = 0; c < 12; c++)
                world[c] = usable ? own[c] : t.rest_worlds[12 * (size_t)joint + (size_t)c];
        }
    }
}

/* Computes the palette of a thread's joints; true if all of their world matrices are usable. */
EXI_INLINE bool exi_gpu_fill_palette(const exi_gpu *g, const exi_joints *t, exi_team team, float *palette) {
    bool usable = true;
    EXI_ROLLED for (int joint = team.lane; joint < g->joints; joint += team.lanes) {
        double world[12];
        for (int i = 0; i < 12; i++)
            world[i] = t->worlds[12 * (size_t)joint + (size_t)i];
        usable = usable && exi_matrix_usable(world);
        exi_gpu_matrix(t, joint, world, palette + 12 * (size_t)joint);
    }
    return usable;
}

/* Computes shifts, world matrices and palette; nothing if the instance is not skinned. Needs work.weights. */
EXI_INLINE void exi_gpu_pose(const exi_gpu *g, const exi_gpu_job *j, int instance, exi_team team) {
    if (!EXI_GPU_HAS(g, EXI_GPU_SKIN) || !j->skinned || !g->skin_joints)
        return;
    const size_t first = (size_t)instance * (size_t)g->joints;
    float *shifts = EXI_GPU_HAS(g, EXI_GPU_SHIFTS) && g->shift_count > 0 ? j->work.shifts + 3 * first : NULL;
    float *palette = j->work.palette + 12 * first;
    const bool turns = EXI_GPU_HAS(g, EXI_GPU_TURNS) && exi_gpu_work_turns(g);
    const exi_joints t = exi_joints_of(g->skeleton, j->joints ? j->joints + first : NULL, shifts,
                                       j->work.worlds + 12 * first, turns ? j->work.turns + 4 * first : NULL);
    if (team.lane == 0)
        j->work.stretched[instance] = 0;
    if (shifts) {
        exi_gpu_shift(g, j, instance, team, shifts);
        EXI_TEAM_SYNC(team);
    }
    EXI_ROLLED for (int joint = team.lane; joint < g->joints; joint += team.lanes) {
        double local[12];
        exi_joint_begin(&t, joint, local);
        for (int i = 0; i < 12; i++)
            t.worlds[12 * (size_t)joint + (size_t)i] = local[i];
        if (turns)
            exi_gpu_turn(&t, joint, false);
    }
    EXI_TEAM_SYNC(team);
    EXI_ROLLED for (int depth = 1; depth < g->depth_count; depth++) {
        const int start = g->depth_starts[depth], columns = 4 * (g->depth_starts[depth + 1] - start);
        EXI_ROLLED for (int i = team.lane; i < columns; i += team.lanes) {
            const int joint = g->depth_joints[start + i / 4];
            double *world = t.worlds + 12 * (size_t)joint;
            exi_matrix_multiply_column(t.worlds + 12 * (size_t)t.parents[joint], world, i % 4, world);
            if (turns && i % 4 == 0)
                exi_joint_turn_follow(&t, joint, t.turns + 4 * (size_t)joint);
        }
        EXI_TEAM_SYNC(team);
    }
    EXI_ROLLED for (int again = 1;; again--) {
        const bool usable = exi_gpu_fill_palette(g, &t, team, palette);
        if (again == 0 || !EXI_TEAM_ANY(team, !usable))
            break;
        EXI_TEAM_SYNC(team);
        if (team.lane == 0)
            exi_gpu_place_slowly(t, g->depth_joints, g->joints);
        EXI_TEAM_SYNC(team);
    }
    if (turns)
        EXI_ROLLED for (int joint = team.lane; joint < g->joints; joint += team.lanes)
            exi_gpu_apart(g, j, instance, &t, joint);
    EXI_TEAM_SYNC(team);
}

#endif
