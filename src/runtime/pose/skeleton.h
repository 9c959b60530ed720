/*
 * Layout of ex_skeleton: one block with a head and tables at offsets, without pointers, so that its `size` bytes can be
 * copied anywhere, also to a GPU.
 */
#ifndef EXI_SKELETON_H
#define EXI_SKELETON_H

#include "runtime/base/functions.inl"

#include <exemplar/pose.h>

struct ex_skeleton {
    uint64_t size;
    int32_t joint_count, reserved;
    double scale;           /* ex_skeleton_scale */
    uint64_t parents;       /* [joint_count] int32_t */
    uint64_t order;         /* [joint_count] int32_t: joints, parents before children */
    uint64_t rest;          /* [joint_count] ex_transform, rotations of length 1 */
    uint64_t rest_worlds;   /* [joint_count][12] double */
    uint64_t inverse_binds; /* [joint_count][12] double */
    uint64_t bind_centres;  /* [joint_count][3] double: position of the joint in the bound mesh */
    uint64_t turns;         /* [joint_count] exi_turn_tables */
    uint64_t name_starts;   /* [joint_count] uint32_t into names */
    uint64_t names;         /* zero-terminated texts */
};

/* Constant quaternions of a joint (skeleton_turns.c). */
typedef struct exi_turn_tables {
    double before[4]; /* rotation of the parent at rest */
    double after[4];  /* inverse of the rotation of the joint at rest */
    double bound[4];  /* rotation of the joint's skinning matrix at rest */
} exi_turn_tables;

EXI_INLINE void *exi_skeleton_at(const ex_skeleton *skeleton, uint64_t offset) {
    return (void *)((uintptr_t)skeleton + (uintptr_t)offset);
}

/* Fills the table of turns from the other tables. */
void exi_skeleton_fill_turns(ex_skeleton *skeleton);

#endif
