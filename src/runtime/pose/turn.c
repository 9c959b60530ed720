/*
 * Turning vectors with the skin: position(v) += R(v) vector, where R(v) is the blend of the rotations of the vertex's
 * joints as quaternions (Kavan et al. 2008, the real half of dual.inl), for both skinning methods. Offsets in the frame
 * `skinned` follow a pose this way (Lewis, Cordner, Fong: Pose Space Deformation, 2000, section 4: a deviation in the
 * local frame of the moved vertex), without inverting anything, even at the half turn where blended matrices collapse.
 * Signs of quaternions are those of the pose, so that a frame moves on continuously over half a turn (dual.inl).
 */
#include "runtime/pose/turn.inl"
#include "runtime/base/result.h"
#include "runtime/base/rows.h"
#include "runtime/base/vector.h"
#include "runtime/pose/skin.h"

#include <math.h>
#include <string.h>

/* Sums a vertex's rotations; the result is not of unit length. */
static inline void sum_rotations(const exi_skin_tables *t, const ex_palette *palette, int vertex, float sum[4]) {
    const float *duals = exi_palette_duals(palette), least = palette->side;
    const uint16_t *joints = t->joints + EXI_SHORT * (size_t)vertex;
    const float *weights = t->weights + EXI_SHORT * (size_t)vertex;
    const float *pivot = duals + 8 * (size_t)joints[0];
    for (int i = 0; i < 4; i++)
        sum[i] = weights[0] * pivot[i];
    for (int i = 1; i < EXI_SHORT && weights[i] > 0; i++)
        exi_rotation_add(duals + 8 * (size_t)joints[i], pivot, least, weights[i], sum);
    const bool is_long = t->long_count > 0 && weights[EXI_SHORT - 1] > 0;
    const int place = is_long ? exi_skin_find_long(t, vertex) : t->long_count;
    if (place < t->long_count && t->long_vertices[place] == vertex)
        for (uint32_t i = t->long_starts[place]; i < t->long_starts[place + 1]; i++)
            exi_rotation_add(duals + 8 * (size_t)t->long_joints[i], pivot, least, t->long_weights[i], sum);
    exi_rotation_settle(pivot, 4, sum);
}

static bool fits(const ex_skin *skin, const ex_palette *palette, const char *function) {
    if (skin && palette && palette->joint_count == skin->joint_count && palette->duals != 0)
        return true;
    exi_misuse(function, "no skin or palette, one with another number of joints, or one without rotations");
    return false;
}

void ex_skin_turn(const ex_skin *skin, const ex_palette *palette, const ex_turn_job *job) {
    if (!job || !fits(skin, palette, __func__))
        return;
    if (!exi_rows_fit(job->positions, job->position_stride, 12)) {
        exi_misuse(__func__, EXI_ROWS_MISUSE);
        return;
    }
    const exi_skin_tables t = exi_skin_tables_of(skin);
    const size_t stride = job->position_stride ? job->position_stride : 3 * sizeof(float);
    for (int i = 0; i < job->count; i++) {
        float q[4], turned[3], position[3];
        char *place = (char *)job->positions + stride * (size_t)job->vertices[i];
        sum_rotations(&t, palette, (int)job->vertices[i], q);
        exi_rotation_turn(q, job->vectors + 3 * (size_t)i, turned);
        memcpy(position, place, sizeof position);
        for (int c = 0; c < 3; c++)
            position[c] += turned[c];
        memcpy(place, position, sizeof position);
    }
}

void ex_skin_vertex_rotation(const ex_skin *skin, const ex_palette *palette, int vertex, double rotation[4]) {
    if (!fits(skin, palette, __func__))
        return;
    const exi_skin_tables t = exi_skin_tables_of(skin);
    float q[4];
    sum_rotations(&t, palette, vertex, q);
    for (int i = 0; i < 4; i++)
        rotation[i] = (double)q[i];
    exi_normalise(rotation, 4);
}
