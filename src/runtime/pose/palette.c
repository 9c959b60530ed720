/*
 * Palettes: joint matrices prepared for a skinning method, and the matrix that moves one vertex.
 *
 * Linear: the matrices unchanged, M = sum of w_i M_i.
 *
 * Dual quaternion: rigid motions can be blended this way, stretches cannot. Each matrix is split into M_i = G_i N_i,
 * where N_i stretches (and shears) about the joint's centre and G_i is rigid: with the polar decomposition R S of the
 * linear part, N x = S (x - c) + c and G x = R (x - c) + M c. A vertex is moved by M = G(sum of w_i G_i) (sum of w_i
 * N_i): first the blend of the stretches, then the blend of the rigid motions (Kavan et al. 2008, section 5.2).
 * Stretching about the centre keeps a centre shared by two joints in place, however they are blended. If the skeleton
 * gives R as a quaternion (skeleton_turns.c), S = R^-1 L is not symmetric where scales shear, and nothing else changes:
 * R stays continuous where the decomposition is ambiguous, at mirrors and at scales of 0, and so does its sign. A scale
 * s that all joints share at rest comes first, N x = S (x - c) + s c and G x = R (x - s c) + M c: otherwise a mesh
 * bound in centimetres would be blended about centres a hundred times as far away as the joints.
 */
#include "runtime/pose/palette.inl"
#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/pose/skin.h"

#include <string.h>

const char *ex_skinning_name(ex_skinning method) {
    static const char *const names[] = {
#define NAME(value, text) text,
        EX_SKINNING_LIST(NAME)
#undef NAME
    };
    return (unsigned)method < (unsigned)EX_SKINNING_COUNT ? names[method] : "unknown";
}

static ex_palette layout(ex_skinning method, int joint_count) {
    ex_palette p = {.method = (int32_t)method, .joint_count = joint_count};
    exi_size total = {.bytes = sizeof p};
    p.affine = exi_size_add(&total, (size_t)joint_count, EXI_MATRIX_FLOATS * sizeof(float), EXI_ALIGN);
    p.duals = exi_size_add(&total, (size_t)joint_count, 8 * sizeof(float), EXI_ALIGN);
    p.size = total.bytes;
    return p;
}

size_t ex_palette_size(ex_skinning method, int joint_count) {
    return (size_t)layout(method, joint_count > 0 ? joint_count : 0).size + EXI_ALIGN;
}

ex_palette *ex_palette_make(const ex_palette_def *def, void *memory) {
    if (!def || !memory || !def->matrices || def->joint_count < 1 || (unsigned)def->method >= EX_SKINNING_COUNT) {
        exi_misuse(__func__, "no definition, matrices or memory, no joint, or an unknown method");
        return NULL;
    }
    ex_palette *p = (ex_palette *)(((uintptr_t)memory + EXI_ALIGN - 1) / EXI_ALIGN * EXI_ALIGN);
    *p = layout(def->method, def->joint_count);
    if (def->method == EX_SKINNING_LINEAR && !def->rotations)
        p->duals = 0;
    p->side = def->turns ? EXI_DUAL_KEPT : EXI_DUAL_SIDE;
    float *affine = (float *)((uintptr_t)p + (uintptr_t)p->affine);
    float *duals = (float *)((uintptr_t)p + (uintptr_t)p->duals);
    for (int j = 0; j < def->joint_count; j++) {
        const float *turn = def->turns ? def->turns + 4 * (size_t)j : NULL;
        double m[12], centre[3];
        float *own = affine + EXI_MATRIX_FLOATS * (size_t)j;
        exi_palette_matrix(def->matrices + 12 * (size_t)j, m);
        memset(own, 0, EXI_MATRIX_FLOATS * sizeof *own);
        if (exi_matrix_determinant(m) < 0)
            p->mirrored = 1;
        if (def->method == EX_SKINNING_LINEAR) {
            exi_matrix_to_floats(m, own);
            if (def->rotations && turn)
                exi_palette_rotation_by(turn, duals + 8 * (size_t)j);
            else if (def->rotations)
                exi_palette_rotation(m, own, duals + 8 * (size_t)j);
            continue;
        }
        exi_palette_centre(def->centres ? def->centres + 3 * (size_t)j : NULL, centre);
        if (turn ? exi_palette_apart_by(turn, m, centre, def->scale != 0 ? def->scale : 1, own, duals + 8 * (size_t)j)
                 : exi_palette_apart(m, centre, own, duals + 8 * (size_t)j))
            p->stretched = 1;
    }
    return p;
}

/* ---- one vertex, in double ---- */

static void add_influence(const ex_palette *palette, int joint, double weight, const float pivot[4], double affine[12],
                          double dual[8]) {
    const float *m = exi_palette_affine(palette) + EXI_MATRIX_FLOATS * (size_t)joint;
    for (int i = 0; i < 12; i++)
        affine[i] += weight * (double)m[i];
    if (pivot)
        exi_dual_add(exi_palette_duals(palette) + 8 * (size_t)joint, pivot, palette->side, weight, dual);
}

void ex_skin_vertex_matrix(const ex_skin *skin, const ex_palette *palette, int vertex, double matrix[12]) {
    if (!skin || !palette || palette->joint_count != skin->joint_count || vertex < 0 || vertex >= skin->vertex_count) {
        exi_misuse(__func__, "no skin or palette, one with another number of joints, or no such vertex");
        return;
    }
    const exi_skin_tables t = exi_skin_tables_of(skin);
    const size_t first = EXI_SHORT * (size_t)vertex;
    const float *pivot = NULL;
    double affine[12] = {0}, dual[8] = {0}, rigid[12];
    if (palette->method == EX_SKINNING_DUAL_QUATERNION)
        pivot = exi_palette_duals(palette) + 8 * (size_t)t.joints[first];
    for (size_t i = first; i < first + EXI_SHORT; i++)
        add_influence(palette, t.joints[i], (double)t.weights[i], pivot, affine, dual);
    const int place = exi_skin_find_long(&t, vertex);
    if (place < t.long_count && t.long_vertices[place] == vertex)
        for (uint32_t i = t.long_starts[place]; i < t.long_starts[place + 1]; i++)
            add_influence(palette, t.long_joints[i], (double)t.long_weights[i], pivot, affine, dual);
    memcpy(matrix, affine, sizeof affine);
    if (!pivot)
        return;
    exi_dual_settle(pivot, dual);
    exi_dual_matrix(dual, rigid);
    if (palette->stretched)
        exi_matrix_multiply(rigid, affine, matrix);
    else
        memcpy(matrix, rigid, sizeof rigid);
}
