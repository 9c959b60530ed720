/*
 * Layout of ex_normals, a block without pointers, and the two passes of a computation (normals_kernel.c).
 */
#ifndef EXI_NORMALS_H
#define EXI_NORMALS_H

#include <exemplar/refine.h>

/* Entry of a vertex for one face, by angle: the face, and the vertex's neighbours along its outline. */
typedef struct exi_normals_gather {
    uint32_t face, next, previous;
} exi_normals_gather;

struct ex_normals {
    uint64_t size;
    int32_t vertex_count, face_count, corner_count, by_angle;
    int32_t quads, reserved; /* 1: every face has four corners */
    uint64_t face_offsets;   /* [face_count + 1] uint32_t */
    uint64_t corners;        /* [corner_count] uint32_t */
    uint64_t gather_offsets; /* [vertex_count + 1] uint32_t */
    uint64_t
        gathers; /* [corner_count] exi_normals_gather; by area uint32_t, the face only: a third of the memory traffic */
};

static inline void *exi_normals_at(const void *block, uint64_t offset) {
    return (void *)((uintptr_t)block + (uintptr_t)offset);
}

/* A computation: input, output, and what the first pass leaves for the second. */
typedef struct exi_normals_pass {
    const ex_normals *normals;
    const char *positions;
    size_t stride, out_stride;
    char *out;
    float (*areas)[4]; /* [face_count] area vectors, by angle: unit normals */
} exi_normals_pass;

/* The faces 4 begin to 4 end; the vertices begin to end, by area or by angle. */
void exi_normals_faces(const exi_normals_pass *pass, int begin, int end);
void exi_normals_by_area(const exi_normals_pass *pass, int begin, int end);
void exi_normals_by_angle(const exi_normals_pass *pass, int begin, int end);

#endif
