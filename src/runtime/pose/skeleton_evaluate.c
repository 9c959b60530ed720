/*
 * Evaluating a skeleton: from local transforms to world matrices, parents first, and to the matrices that skinning
 * uses,
 *
 *     world_j = world_parent T_j R_j S_j,     matrix_j = world_j bind_j^-1.
 *
 * Shifts d_j move where joints are in the bound mesh: bind_j becomes translate(d_j) bind_j. Seen from its parent, a
 * joint is then elsewhere by bind_parent^-1 (d_j - d_parent), the linear part alone, and that is added to its local
 * translation, whatever the pose. A root has no parent to be seen from; the mesh's space is carried to the world by
 * what carries it there at rest, rest_world bind^-1.
 */
#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"
#include "runtime/pose/matrix.h"
#include "runtime/pose/skeleton.h"
#include "runtime/pose/transform.h"

#include <string.h>

typedef struct tables {
    const int32_t *parents;
    const ex_transform *rest;
    const double (*rest_worlds)[12];
    const double (*inverse_binds)[12];
    const double (*centres)[3];
    const ex_transform *locals; /* or NULL */
    const float *shifts;        /* or NULL */
    double (*worlds)[12];       /* scratch */
} tables;

static void read_shift(const tables *t, int joint, double shift[3]) {
    for (int c = 0; c < 3; c++) {
        double value = t->shifts && joint >= 0 ? (double)t->shifts[3 * (size_t)joint + (size_t)c] : 0.0;
        shift[c] = fabs(value) <= EXI_MATRIX_MOST ? value : 0.0;
    }
}

/* What the shifts of a joint and its parent add to the joint's local translation. */
static void read_offset(const tables *t, int joint, double offset[3]) {
    double own[3], above[3];
    const int parent = t->parents[joint];
    read_shift(t, joint, own);
    read_shift(t, parent, above);
    for (int c = 0; c < 3; c++)
        offset[c] = own[c] - above[c];
    if (parent >= 0) {
        exi_matrix_turn(t->inverse_binds[parent], offset, offset);
    } else {
        exi_matrix_turn(t->inverse_binds[joint], offset, offset);
        exi_matrix_turn(t->rest_worlds[joint], offset, offset);
    }
}

/* False where the result is not usable. */
static bool find_world(const tables *t, int joint, const ex_transform *transform, double world[12]) {
    exi_local local;
    exi_local_read(transform, &t->rest[joint], &local);
    if (t->shifts) {
        double offset[3];
        read_offset(t, joint, offset);
        for (int c = 0; c < 3; c++)
            local.translation[c] += offset[c];
    }
    exi_matrix_compose(local.translation, local.rotation, local.scale, world);
    if (t->parents[joint] >= 0)
        exi_matrix_multiply(t->worlds[t->parents[joint]], world, world);
    return exi_matrix_usable(world);
}

static void write_joint(const tables *t, int joint, const ex_skeleton_output *output) {
    double shift[3], inverse[12], matrix[12], turned[3];
    read_shift(t, joint, shift);
    memcpy(inverse, t->inverse_binds[joint], sizeof inverse);
    exi_matrix_turn(inverse, shift, turned);
    for (int c = 0; c < 3; c++)
        inverse[4 * c + 3] -= turned[c];
    exi_matrix_multiply(t->worlds[joint], inverse, matrix);
    if (output->matrices)
        exi_matrix_to_floats(matrix, output->matrices + 12 * (size_t)joint);
    if (output->worlds)
        exi_matrix_to_floats(t->worlds[joint], output->worlds + 12 * (size_t)joint);
    for (int c = 0; output->centres && c < 3; c++)
        output->centres[3 * (size_t)joint + (size_t)c] = (float)(t->centres[joint][c] + shift[c]);
}

size_t ex_skeleton_scratch_size(const ex_skeleton *skeleton) {
    return (size_t)skeleton->joint_count * 12 * sizeof(double);
}

void ex_skeleton_evaluate(const ex_skeleton *skeleton, const ex_skeleton_input *input, const ex_skeleton_output *output,
                          void *scratch) {
    if (!skeleton || !output || !scratch) {
        exi_misuse(__func__, "no skeleton, output or scratch");
        return;
    }
    const int32_t *order = exi_skeleton_at(skeleton, skeleton->order);
    const tables t = {.parents = exi_skeleton_at(skeleton, skeleton->parents),
                      .rest = exi_skeleton_at(skeleton, skeleton->rest),
                      .rest_worlds = exi_skeleton_at(skeleton, skeleton->rest_worlds),
                      .inverse_binds = exi_skeleton_at(skeleton, skeleton->inverse_binds),
                      .centres = exi_skeleton_at(skeleton, skeleton->bind_centres),
                      .locals = input ? input->locals : NULL,
                      .shifts = input ? input->shifts : NULL,
                      .worlds = scratch};
    for (int i = 0; i < skeleton->joint_count; i++) {
        const int j = order[i];
        if (!find_world(&t, j, t.locals ? &t.locals[j] : &t.rest[j], t.worlds[j]) &&
            !find_world(&t, j, &t.rest[j], t.worlds[j]))
            memcpy(t.worlds[j], t.rest_worlds[j], sizeof t.worlds[j]);
        write_joint(&t, j, output);
    }
}
