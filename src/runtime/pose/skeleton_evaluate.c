/*
 * Evaluation of a skeleton: computes world matrices from local transforms, parents first, and the matrices for
 * skinning,
 *
 *     world_j = world_parent T_j R_j S_j,     matrix_j = world_j bind_j^-1.
 *
 * Shifts d_j move joints in the bound mesh: bind_j becomes translate(d_j) bind_j. Relative to its parent, a joint then
 * moves by bind_parent^-1 (d_j - d_parent), with the linear part only; this is added to its local translation at every
 * pose. A root has no parent: its shift is transformed from the mesh's space to the world as at rest, by rest_world
 * bind^-1. Turns are products of the same rotations as quaternions (skeleton_turns.c).
 */
#include "runtime/base/result.h"
#include "runtime/pose/joint.inl"

size_t ex_skeleton_scratch_size(const ex_skeleton *skeleton) {
    return exi_is_given(skeleton, __func__, "no skeleton") ? (size_t)skeleton->joint_count * 16 * sizeof(double) : 0;
}

void ex_skeleton_evaluate(const ex_skeleton *skeleton, const ex_skeleton_input *input, const ex_skeleton_output *output,
                          void *scratch) {
    if (!skeleton || !output || !scratch) {
        exi_misuse(__func__, "no skeleton, output or scratch");
        return;
    }
    if ((uintptr_t)scratch % _Alignof(double) != 0) {
        exi_misuse(__func__, "scratch that is not aligned as malloc does");
        return;
    }
    const int32_t *order = exi_skeleton_at(skeleton, skeleton->order);
    double *worlds = scratch, *turns = output->turns ? worlds + 12 * (size_t)skeleton->joint_count : NULL;
    const exi_joints t =
        exi_joints_of(skeleton, input ? input->locals : NULL, input ? input->shifts : NULL, worlds, turns);
    for (int i = 0; i < skeleton->joint_count; i++) {
        const int j = order[i];
        double world[12];
        exi_joint_begin(&t, j, world);
        exi_joint_finish(&t, j, world);
        if (output->matrices)
            exi_joint_matrix(&t, j, world, output->matrices + 12 * (size_t)j);
        if (output->worlds)
            exi_matrix_to_floats(world, output->worlds + 12 * (size_t)j);
        if (output->centres)
            exi_joint_centre(&t, j, output->centres + 3 * (size_t)j);
        if (turns)
            exi_joint_rotation(&t, j, output->turns + 4 * (size_t)j);
    }
}
