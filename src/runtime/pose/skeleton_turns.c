/*
 * Tables for the turns of joints: quaternions whose sign follows the pose (ex_skeleton_output).
 *
 * The world matrix of a joint is a product of its ancestors' rotations, scales and translations. With rotations l_j
 * relative to the parent and a_j the rotation of the parent at rest, the joint turns from rest to the pose by
 *
 *     d_j = d_parent a_j (l_j rest_j^-1) a_j^-1,
 *
 * and the rotation of its skinning matrix is d_j b_j, with b_j the one at rest. Each factor l_j rest_j^-1 gets the sign
 * of the shorter arc (joint.inl). So q_j moves on continuously with the pose, and all of them are near each other at
 * rest. Scales with a sign are part of the rest rotation: diag(-1, -1, 1) is half a turn about z, and diag(1, 1, -1) is
 * that half turn after a reflection through the origin, which commutes with every rotation. Shears, by scales that
 * differ, are left to the stretch (palette.c).
 *
 * The rotation b_j of a matrix L is that of its polar decomposition, or of the one of -L if it mirrors: both are
 * unique, and a mirrored character moves as the character does. The signs of b_j are those nearest to the parent's.
 *
 * The common scale of the matrices is the cube root of their determinants at rest.
 */
#include "runtime/pose/joint.inl"
#include "runtime/pose/matrix.h"

#include <string.h>

static double dot4(const double a[4], const double b[4]) {
    return exi_dot3(a, b) + a[3] * b[3];
}

/* The half turn, or none, that the signs of a scale make. */
static void signs_turn(const double scale[3], double q[4]) {
    bool is_negative[3];
    int count = 0;
    for (int c = 0; c < 3; c++) {
        is_negative[c] = scale[c] < 0;
        count += is_negative[c];
    }
    /* one negative: with a reflection, a half turn about that axis; two: a half turn about the third */
    for (int c = 0; c < 3; c++)
        q[c] = (count == 1 && is_negative[c]) || (count == 2 && !is_negative[c]) ? 1 : 0;
    q[3] = count % 3 == 0 ? 1 : 0;
}

/* The rotation of a matrix, which may mirror. */
static void rotation_of(const double matrix[12], double q[4]) {
    double m[12], rotation[3][3], stretch[3][3];
    const double hand = exi_matrix_determinant(matrix) < 0 ? -1 : 1;
    for (int i = 0; i < 12; i++)
        m[i] = hand * matrix[i];
    exi_polar(m, rotation, stretch);
    exi_quaternion_of((const double(*)[3])rotation, q);
}

/* Scales within this factor of 1 are left to the stretches of the joints; so are scales of joints that differ by more.
 */
static const double scale_near = 2, scale_apart = 1.01;

/* Returns the scale from the smallest and the largest of the joints. */
static double common_scale(double least, double most) {
    const bool same = least > 0 ? most <= scale_apart * least : most < 0 && least >= scale_apart * most;
    return same && (least < 1 / scale_near || least > scale_near) ? least : 1;
}

void exi_skeleton_fill_turns(ex_skeleton *s) {
    const int32_t *parents = exi_skeleton_at(s, s->parents), *order = exi_skeleton_at(s, s->order);
    const ex_transform *rest = exi_skeleton_at(s, s->rest), none = ex_transform_identity();
    const double(*worlds)[12] = exi_skeleton_at(s, s->rest_worlds);
    const double(*inverses)[12] = exi_skeleton_at(s, s->inverse_binds);
    exi_turn_tables *turns = exi_skeleton_at(s, s->turns);
    double least = INFINITY, most = -INFINITY;
    for (int i = 0; i < s->joint_count; i++) {
        const int j = order[i], parent = parents[j];
        exi_turn_tables *own = &turns[j];
        const double *near = turns[parent >= 0 ? parent : order[0]].bound;
        double signs[4], whole[4], matrix[12];
        exi_local local;
        memcpy(own->before, (const double[4]){0, 0, 0, 1}, sizeof own->before);
        if (parent >= 0) {
            exi_conjugate(turns[parent].after, whole); /* without the signs of the parent's own scale */
            exi_local_read(&rest[parent], &none, &local);
            signs_turn(local.scale, signs);
            exi_quaternion_multiply(whole, signs, own->before);
        }
        exi_local_read(&rest[j], &none, &local);
        exi_quaternion_multiply(own->before, local.rotation, whole);
        exi_normalise(whole, 4);
        exi_conjugate(whole, own->after);
        exi_matrix_multiply(worlds[j], inverses[j], matrix);
        const double scale = cbrt(exi_matrix_determinant(matrix));
        least = fmin(least, scale);
        most = fmax(most, scale);
        rotation_of(matrix, own->bound);
        if (i > 0 && dot4(own->bound, near) < 0)
            for (int c = 0; c < 4; c++)
                own->bound[c] = -own->bound[c];
    }
    s->scale = common_scale(least, most);
}
