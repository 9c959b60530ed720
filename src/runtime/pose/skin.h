/*
 * Layout of ex_skin and ex_palette: blocks without pointers, tables at offsets.
 *
 * Every vertex has four influences in the first table, heaviest first; missing ones repeat the first joint with weight
 * 0. Vertices with more than four are listed, ascending, and have the others in the second table. The first table has
 * three more vertices that do not exist, so that the last group of four can be read whole.
 */
#ifndef EXI_SKIN_H
#define EXI_SKIN_H

#include "runtime/base/influence.h"

#include <exemplar/pose.h>

struct ex_skin {
    uint64_t size;
    int32_t vertex_count, joint_count, long_count, reserved;
    ex_skin_info info;
    uint64_t joints;        /* [vertex_count + 3][4] uint16_t */
    uint64_t weights;       /* [vertex_count + 3][4] float */
    uint64_t most;          /* [blocks] unsigned char: 1, 2 or 4, not less than the influences of any of 64 vertices */
    uint64_t long_vertices; /* [long_count] int32_t, ascending */
    uint64_t long_starts;   /* [long_count + 1] uint32_t into the next two tables */
    uint64_t long_joints;   /* uint16_t */
    uint64_t long_weights;  /* float */
};

/*
 * Linear: affine holds the matrices. Dual quaternion: duals holds rotations (x y z w) and their dual
 * parts; if `stretched`, affine holds the stretch about the centre, which comes first.
 */
struct ex_palette {
    uint64_t size;
    int32_t method, joint_count;
    int32_t stretched; /* dual quaternion: true if the motion of some joint is not rigid */
    int32_t mirrored;  /* true if some joint mirrors */
    float side;        /* EXI_DUAL_KEPT if the signs of rotations are given, else EXI_DUAL_SIDE (dual.inl) */
    int32_t reserved;
    uint64_t affine; /* [joint_count][EXI_MATRIX_FLOATS] float */
    uint64_t duals;  /* [joint_count][8] float; linear: rotations only, or 0 if they were not requested */
};

/* Addresses of a skin's tables. Separate from ex_skin, since the compiler must assume that outputs may overwrite
 * ex_skin. */
typedef struct exi_skin_tables {
    const uint16_t *joints;
    const float *weights;
    const unsigned char *most;
    const int32_t *long_vertices;
    const uint32_t *long_starts;
    const uint16_t *long_joints;
    const float *long_weights;
    int long_count;
} exi_skin_tables;

static inline exi_skin_tables exi_skin_tables_of(const ex_skin *skin) {
    const uintptr_t block = (uintptr_t)skin;
    return (exi_skin_tables){.joints = (const uint16_t *)(block + (uintptr_t)skin->joints),
                             .weights = (const float *)(block + (uintptr_t)skin->weights),
                             .most = (const unsigned char *)(block + (uintptr_t)skin->most),
                             .long_vertices = (const int32_t *)(block + (uintptr_t)skin->long_vertices),
                             .long_starts = (const uint32_t *)(block + (uintptr_t)skin->long_starts),
                             .long_joints = (const uint16_t *)(block + (uintptr_t)skin->long_joints),
                             .long_weights = (const float *)(block + (uintptr_t)skin->long_weights),
                             .long_count = skin->long_count};
}

static inline const float *exi_palette_affine(const ex_palette *palette) {
    return (const float *)((uintptr_t)palette + (uintptr_t)palette->affine);
}

static inline const float *exi_palette_duals(const ex_palette *palette) {
    return (const float *)((uintptr_t)palette + (uintptr_t)palette->duals);
}

/* The number of vertices moved together. */
enum { EXI_BLOCK = 64 };

/* Returns 1, 2 or 4, not less than the influences of any of the vertices v to v + count, if these are at most four;
 * count is from 1 to EXI_BLOCK. */
static inline int exi_skin_most(const exi_skin_tables *t, int v, int count) {
    const unsigned char first = t->most[v / EXI_BLOCK], last = t->most[(v + count - 1) / EXI_BLOCK];
    return first > last ? first : last;
}

/* An array that is read and written, from the next entry on. */
typedef struct exi_stream {
    const char *in; /* NULL: not written */
    char *out;
    size_t in_stride, out_stride;
} exi_stream;

typedef struct exi_streams {
    exi_stream positions, normals, tangents;
} exi_streams;

/* Moves vertices begin to end, the streams' next entries; grows the box [6], if there is one. */
void exi_skin_move(const exi_skin_tables *tables, const ex_palette *palette, const exi_streams *streams, int begin,
                   int end, float *box);

/* Returns the first place in the list of long vertices that is not before `vertex`. */
int exi_skin_find_long(const exi_skin_tables *tables, int vertex);

#endif
