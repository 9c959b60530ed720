/*
 * Layout of ex_normals, a block without pointers, and the two passes of a computation (normals_kernel.c).
 *
 * Faces and vertices go by units of 16, so that any width of registers divides them. By area, faces are also listed as
 * quads, the last unit filled up with its last face: a triangle a b c is the quad a b c a, whose diagonals c - a and
 * a - b have the same product. It begins with its least vertex, so that a triangle and its reverse have the same
 * diagonals and cancel. A larger face is one of its corners' triangles there, and is done again singly. Vertices
 * are listed by fours: `rounds` for each four, a round being one face for each of them; there are as many as the most
 * faces around one of the four, rounded up to a multiple of four. Vertices with fewer faces add one without area.
 */
#ifndef EXI_NORMALS_H
#define EXI_NORMALS_H

#include <exemplar/refine.h>

/* Entry of a vertex for one face, by angle: the face, and the vertex's neighbours along its outline. */
typedef struct exi_normals_gather {
    uint32_t face, next, previous;
} exi_normals_gather;

/* Faces or vertices of a unit; vertices of a list of rounds, and rounds that are added together. */
enum { EXI_NORMALS_UNIT = 16, EXI_NORMALS_FOUR = 4 };

/* Flags of a unit of faces: some have the last vertex, which has nothing after it that could be read with it; some have
 * more than four corners. */
enum { EXI_NORMALS_LAST = 1, EXI_NORMALS_LARGE = 2 };

struct ex_normals {
    uint64_t size;
    int32_t vertex_count, face_count, corner_count, by_angle;
    int32_t face_units, reserved;
    uint64_t face_offsets; /* [face_count + 1] uint32_t */
    uint64_t corners;      /* [corner_count] uint32_t */
    uint64_t quads;        /* by area: [16 face_units][4] uint32_t; `corners` itself if all faces are quads */
    uint64_t flags;        /* by area: [face_units] unsigned char */
    uint64_t
        gather_starts; /* by area: [fours of vertices + 1] uint32_t, rounds; by angle [vertex_count + 1] uint32_t */
    uint64_t gathers;  /* by area: [rounds][4] uint32_t, 4 times the face; by angle: exi_normals_gather */
};

static inline void *exi_normals_at(const void *block, uint64_t offset) {
    return (void *)((uintptr_t)block + (uintptr_t)offset);
}

/* Units that hold a number of faces or vertices. */
static inline int exi_normals_units(int count) {
    return count / EXI_NORMALS_UNIT + (count % EXI_NORMALS_UNIT != 0);
}

/* A computation: input, output, and what the first pass leaves for the second. */
typedef struct exi_normals_pass {
    const ex_normals *normals;
    const char *positions;
    size_t stride, out_stride;
    char *out;
    float (*areas)[4]; /* [16 face_units] area vectors, by angle: unit normals; one more without area */
} exi_normals_pass;

/* Units of faces from begin to end; then units of vertices, by area or by angle. */
void exi_normals_faces(const exi_normals_pass *pass, int begin, int end);
void exi_normals_by_area(const exi_normals_pass *pass, int begin, int end);
void exi_normals_by_angle(const exi_normals_pass *pass, int begin, int end);

#endif
