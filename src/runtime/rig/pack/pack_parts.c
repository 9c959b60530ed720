/*
 * Skeleton, skin and stencils in their packed form: in the layout of glTF if viewers read them too, and rows of
 * stencils without the SIMD layout of this build.
 */
#include "runtime/refine/stencils.h"
#include "runtime/rig/pack/pack.h"

#include <string.h>

/* ---- skeleton ---- */

void exi_pack_joints(const ex_rig *rig, void *out) {
    const ex_skeleton *skeleton = exi_rig_part(rig, rig->skeleton);
    const uint32_t *names = exi_rig_at(rig, rig->joint_names);
    exi_pack_joint *joints = out;
    for (int j = 0; j < rig->counts.joints; j++)
        joints[j] = (exi_pack_joint){
            .name = names[j], .parent = ex_skeleton_parent(skeleton, j), .rest = ex_skeleton_rest(skeleton, j)};
}

/* Converts three rows of four to four columns of four. */
void exi_pack_inverse_binds(const ex_skeleton *skeleton, float *out) {
    for (int j = 0; j < ex_skeleton_joint_count(skeleton); j++, out += 16) {
        float m[12];
        ex_skeleton_inverse_bind(skeleton, j, m);
        for (int c = 0; c < 4; c++) {
            for (int r = 0; r < 3; r++)
                out[4 * c + r] = m[4 * r + c];
            out[4 * c + 3] = c == 3;
        }
    }
}

/* ---- skin ---- */

void exi_pack_skin(const ex_rig *rig, int set, uint16_t *joints, float *weights) {
    const ex_skin *skin = exi_rig_part(rig, rig->skin);
    const uint32_t *sources =
        rig->counts.flags & EXI_RIG_SEAMS ? exi_rig_at(rig, exi_rig_levels(rig)[0].sources) : NULL;
    uint32_t own_joints[EX_INFLUENCE_MAX];
    float own_weights[EX_INFLUENCE_MAX];
    for (int s = 0; s < rig->counts.splits; s++) {
        const int count = ex_skin_influences(skin, sources ? (int)sources[s] : s, own_joints, own_weights);
        for (int i = 0; i < 4 && 4 * set + i < count; i++) {
            if (joints)
                joints[4 * (size_t)s + (size_t)i] = (uint16_t)own_joints[4 * set + i];
            else
                weights[4 * (size_t)s + (size_t)i] = own_weights[4 * set + i];
        }
    }
}

/* ---- stencils ---- */

uint64_t exi_pack_stencils_size(const ex_stencils *stencils, int level) {
    const uint64_t weights = (uint64_t)ex_stencils_weight_count(stencils, level);
    return sizeof(exi_pack_stencils) + ((uint64_t)ex_stencils_vertex_count(stencils, level) + 1) * sizeof(int32_t) +
           weights *
               (sizeof(int32_t) + sizeof(float) + (ex_stencils_has_tangents(stencils, level) ? 2 * sizeof(float) : 0));
}

void exi_pack_stencil_rows(const ex_stencils *stencils, int level, void *out) {
    const exi_pack_stencils head = {.vertex_count = ex_stencils_vertex_count(stencils, level),
                                    .weight_count = ex_stencils_weight_count(stencils, level),
                                    .has_tangents = ex_stencils_has_tangents(stencils, level)};
    memcpy(out, &head, sizeof head);
    int *offsets = (int *)(void *)((char *)out + sizeof head);
    int *indices = offsets + head.vertex_count + 1;
    float *weights = (float *)(void *)(indices + head.weight_count);
    exi_stencils_read_floats(stencils, level, offsets, indices, weights,
                             head.has_tangents ? weights + head.weight_count : NULL);
}
