/*
 * Layout of an untangler: one block without pointers, and its scratch. Private to cross.c, untangle.c and untangler.c.
 */
#ifndef EXI_SETTLE_UNTANGLER_H
#define EXI_SETTLE_UNTANGLER_H

#include "runtime/settle/closest.h"

struct ex_untangler {
    uint64_t size;
    int32_t vertex_count, triangle_count;
    uint64_t triangles; /* [triangle_count][3] uint32_t */
    uint64_t tree;
    uint64_t ring;  /* [vertex_count + 1] uint32_t: start of each vertex's neighbours in: */
    uint64_t rings; /* uint32_t */
    /* in the scratch */
    uint64_t fit;
    uint64_t best;    /* [vertex_count][3] float: the form with the fewest crossings so far */
    uint64_t homes;   /* [vertex_count][4] float: where vertices were, and how far they may move */
    uint64_t moves;   /* [vertex_count] exi_move */
    uint64_t spread;  /* [vertex_count][3] float: moves of vertices and those around them */
    uint64_t active;  /* [vertex_count] unsigned char: 1 if the vertex was ever moved */
    uint64_t scratch; /* bytes */
};

/* A sum of weighted moves. */
typedef struct exi_move {
    float sum[3], weight;
} exi_move;

/* A form of the garment. */
typedef struct exi_cloth {
    const ex_untangler *untangler;
    const char *positions;
    size_t stride;
    const ex_bounds *fit;
    const unsigned char *active; /* NULL: all vertices */
} exi_cloth;

/* A place where an edge goes through a triangle. */
typedef struct exi_pierced {
    uint32_t edge[2], other; /* the edge, and the third corner of its triangle */
    uint32_t face[3];
    double t;         /* along the edge */
    double weight[3]; /* in the face */
} exi_pierced;

typedef void exi_on_pierced(void *context, const exi_pierced *pierced);

static inline const float *exi_cloth_at(const exi_cloth *cloth, uint32_t vertex) {
    return (const float *)(const void *)(cloth->positions + (size_t)vertex * cloth->stride);
}

/* Returns the number of pairs of triangles that cross and share no vertex, of which at least one has an active corner.
 * Calls `on` (or NULL) for every place where an edge of one goes through the other. The order depends on the tree. */
int exi_cross_find(const exi_cloth *cloth, exi_on_pierced *on, void *context);

#endif
