/*
 * One joint of a skeleton: computes its world matrix from its local transform and its parent's world matrix, and the
 * matrix for skinning (skeleton_evaluate.c has the equations). Parents come first; joints of one depth do not depend on
 * each other. Common subset of C and CUDA.
 */
#ifndef EXI_JOINT_INL
#define EXI_JOINT_INL

#include "runtime/pose/local.inl"
#include "runtime/pose/matrix.inl"
#include "runtime/pose/skeleton.h"

/* Tables of a skeleton, its input, and the world matrices it writes. */
typedef struct exi_joints {
    const int32_t *parents;
    const ex_transform *rest;
    const double *rest_worlds;   /* [joint_count][12] */
    const double *inverse_binds; /* [joint_count][12] */
    const double *centres;       /* [joint_count][3] */
    const ex_transform *locals;  /* or NULL */
    const float *shifts;         /* or NULL */
    double *worlds;              /* [joint_count][12] */
    const exi_turn_tables *tables;
    double scale;
    double *turns; /* [joint_count][4]: turns from rest, in the world; or NULL */
} exi_joints;

/*
 * A quaternion q and its opposite are the same rotation, but a joint at +170 degrees and one at -190 are blended with
 * their neighbours differently. A joint takes the shorter arc from rest: a quaternion with w below this is negated. 0
 * would make half a turn, which is common in poses, a matter of the last bit, and a motion that goes on from 179 to 181
 * degrees would jump there. So the sign that the pose gives counts between 151 and 209 degrees from rest.
 */
#define EXI_TURN_SIDE (-0.25)

EXI_INLINE exi_joints exi_joints_of(const ex_skeleton *s, const ex_transform *locals, const float *shifts,
                                    double *worlds, double *turns) {
    exi_joints t;
    t.parents = (const int32_t *)exi_skeleton_at(s, s->parents);
    t.rest = (const ex_transform *)exi_skeleton_at(s, s->rest);
    t.rest_worlds = (const double *)exi_skeleton_at(s, s->rest_worlds);
    t.inverse_binds = (const double *)exi_skeleton_at(s, s->inverse_binds);
    t.centres = (const double *)exi_skeleton_at(s, s->bind_centres);
    t.locals = locals;
    t.shifts = shifts;
    t.worlds = worlds;
    t.tables = (const exi_turn_tables *)exi_skeleton_at(s, s->turns);
    t.scale = s->scale;
    t.turns = turns;
    return t;
}

EXI_INLINE void exi_joint_shift(const exi_joints *t, int joint, double shift[3]) {
    for (int c = 0; c < 3; c++) {
        const double value = t->shifts && joint >= 0 ? (double)t->shifts[3 * (size_t)joint + (size_t)c] : 0.0;
        shift[c] = fabs(value) <= EXI_MATRIX_MOST ? value : 0.0;
    }
}

/* Change of a joint's local translation by the shifts of the joint and its parent. */
EXI_INLINE void exi_joint_offset(const exi_joints *t, int joint, double offset[3]) {
    double own[3], above[3];
    const int parent = t->parents[joint];
    exi_joint_shift(t, joint, own);
    exi_joint_shift(t, parent, above);
    for (int c = 0; c < 3; c++)
        offset[c] = own[c] - above[c];
    exi_matrix_turn(t->inverse_binds + 12 * (size_t)(parent >= 0 ? parent : joint), offset, offset);
    if (parent < 0)
        exi_matrix_turn(t->rest_worlds + 12 * (size_t)joint, offset, offset);
}

/* The matrix of a transform relative to the parent. */
EXI_INLINE void exi_joint_local(const exi_joints *t, int joint, const ex_transform *transform, double local[12]) {
    exi_local read;
    exi_local_read(transform, &t->rest[joint], &read);
    if (t->shifts) {
        double offset[3];
        exi_joint_offset(t, joint, offset);
        for (int c = 0; c < 3; c++)
            read.translation[c] += offset[c];
    }
    exi_matrix_compose(read.translation, read.rotation, read.scale, local);
}

/* The turn of a transform from rest, in the world if all other joints are at rest. */
EXI_INLINE void exi_joint_turn(const exi_joints *t, int joint, const ex_transform *transform, double turn[4]) {
    exi_local read;
    exi_local_read(transform, &t->rest[joint], &read);
    exi_quaternion_multiply(t->tables[joint].before, read.rotation, turn);
    exi_quaternion_multiply(turn, t->tables[joint].after, turn);
    for (int i = 0; i < 4 && !(turn[3] > EXI_TURN_SIDE); i++)
        turn[i] = -turn[i];
}

/* The same in the world, after those of its ancestors, in place. */
EXI_INLINE void exi_joint_turn_follow(const exi_joints *t, int joint, double turn[4]) {
    if (t->parents[joint] >= 0)
        exi_quaternion_multiply(t->turns + 4 * (size_t)t->parents[joint], turn, turn);
}

/* First stage of a joint, independent of other joints. */
EXI_INLINE void exi_joint_begin(const exi_joints *t, int joint, double local[12]) {
    exi_joint_local(t, joint, t->locals ? &t->locals[joint] : &t->rest[joint], local);
}

/* Computes the world matrix from that, in place. Returns false if it is not usable. */
EXI_INLINE bool exi_joint_follow(const exi_joints *t, int joint, double world[12]) {
    const int parent = t->parents[joint];
    if (parent >= 0)
        exi_matrix_multiply(t->worlds + 12 * (size_t)parent, world, world);
    return exi_matrix_usable(world);
}

/* The turn of a joint at rest: that of its parent, or none if it is at rest in the world. */
EXI_INLINE void exi_joint_turn_rest(const exi_joints *t, int joint, bool follows) {
    const int parent = follows ? t->parents[joint] : -1;
    for (int i = 0; t->turns && i < 4; i++)
        t->turns[4 * (size_t)joint + (size_t)i] =
            parent >= 0 ? t->turns[4 * (size_t)parent + (size_t)i] : (double)(i == 3);
}

/* A joint that would go too far takes its rest relative to its parent; if that goes too far, its rest in the world. */
EXI_CALL void exi_joint_rest(exi_joints t, int joint) {
    double world[12];
    exi_joint_local(&t, joint, &t.rest[joint], world);
    const bool usable = exi_joint_follow(&t, joint, world);
    for (size_t i = 0; i < 12; i++)
        t.worlds[12 * (size_t)joint + i] = usable ? world[i] : t.rest_worlds[12 * (size_t)joint + i];
    exi_joint_turn_rest(&t, joint, usable);
}

/* Second stage, after the parent's second stage: turns the first stage's matrix into the world matrix, in place, and
 * stores it in its table. */
EXI_INLINE void exi_joint_finish(const exi_joints *t, int joint, double world[12]) {
    double *table = t->worlds + 12 * (size_t)joint;
    if (exi_joint_follow(t, joint, world)) {
        for (int i = 0; i < 12; i++)
            table[i] = world[i];
        if (t->turns) {
            double *turn = t->turns + 4 * (size_t)joint;
            exi_joint_turn(t, joint, t->locals ? &t->locals[joint] : &t->rest[joint], turn);
            exi_joint_turn_follow(t, joint, turn);
        }
        return;
    }
    exi_joint_rest(*t, joint);
    for (int i = 0; i < 12; i++)
        world[i] = table[i];
}

/* Skinning matrix of a joint. */
EXI_INLINE void exi_joint_matrix(const exi_joints *t, int joint, const double world[12], float matrix[12]) {
    double shift[3], inverse[12], turned[3], product[12];
    for (size_t i = 0; i < 12; i++)
        inverse[i] = t->inverse_binds[12 * (size_t)joint + i];
    if (t->shifts) {
        exi_joint_shift(t, joint, shift);
        exi_matrix_turn(inverse, shift, turned);
        for (int c = 0; c < 3; c++)
            inverse[4 * c + 3] -= turned[c];
    }
    exi_matrix_multiply(world, inverse, product);
    exi_matrix_to_floats(product, matrix);
}

/* Rotation of that matrix. */
EXI_INLINE void exi_joint_rotation(const exi_joints *t, int joint, float rotation[4]) {
    double q[4];
    exi_quaternion_multiply(t->turns + 4 * (size_t)joint, t->tables[joint].bound, q);
    for (int i = 0; i < 4; i++)
        rotation[i] = (float)q[i];
}

/* Position of a joint in the bound mesh. */
EXI_INLINE void exi_joint_centre(const exi_joints *t, int joint, float centre[3]) {
    double shift[3];
    exi_joint_shift(t, joint, shift);
    for (int c = 0; c < 3; c++)
        centre[c] = (float)(t->centres[3 * (size_t)joint + (size_t)c] + shift[c]);
}

#endif
