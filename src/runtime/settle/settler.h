/*
 * The inside of a settler: one block without pointers. Driven vertices stand in it in an order of its own: those bound
 * to one set of triangles together, and of those neighbours together, in clusters that are asked about at once. Where
 * the text below says "vertex", it is one of the driver; "place" is the number of a driven vertex in that order.
 */
#ifndef EXI_SETTLE_SETTLER_H
#define EXI_SETTLE_SETTLER_H

#include "runtime/settle/closest.h"

enum {
    EXI_CLUSTER = 16,   /* driven vertices that are asked about at once */
    EXI_KEY_MAX = 1024, /* a row for each is kept on the stack */
    EXI_PUSHES = 16     /* the most moves of a driven vertex out of the driver */
};

/* "No triangle": no set has as many. */
#define EXI_NO_TRIANGLE UINT32_MAX

/* A set of triangles that driven vertices see, with its tree. Its triangles have numbers of their own. */
typedef struct exi_settler_set {
    uint64_t tree;
    uint64_t triangles; /* [triangle_count] uint32_t: as the driver numbers them, ascending */
    uint64_t corners;   /* [triangle_count][3] uint32_t */
    uint64_t fit;       /* in the scratch */
    int32_t triangle_count;
    int32_t reserved;
} exi_settler_set;

typedef struct exi_cluster {
    int32_t first, count; /* places */
    int32_t set, reserved;
} exi_cluster;

/* Large, and 0 times a weight of 0. */
#define EXI_GAP_UNKNOWN 1e30f

/* Where a driven vertex was in a key. */
typedef struct exi_bound {
    uint32_t corner[3]; /* of the triangle that was closest */
    uint32_t triangle;  /* as its set numbers it; EXI_NO_TRIANGLE: not in that set */
    float u, v;
    float gap; /* or EXI_GAP_UNKNOWN */
    uint32_t reserved;
} exi_bound;

struct ex_settler {
    uint64_t size;
    int32_t driver_count, triangle_count, vertex_count, key_count, set_count, cluster_count, used_count, reserved;
    uint64_t triangles;  /* [triangle_count][3] uint32_t */
    uint64_t incident;   /* [driver_count + 1] uint32_t: where the triangles of a vertex begin in: */
    uint64_t incidences; /* [3 triangle_count] uint32_t */
    uint64_t chords;     /* [driver_count][4] uint32_t: two pairs of vertices (carry.c) */
    uint64_t used;       /* [used_count] uint32_t: vertices of triangles that were closest in a key */
    uint64_t sets;       /* [set_count] exi_settler_set */
    uint64_t clusters;   /* [cluster_count] exi_cluster */
    uint64_t order;      /* [vertex_count] uint32_t: the driven vertex at each place */
    uint64_t bounds;     /* [key_count][vertex_count] exi_bound, by place */
    uint64_t motions;    /* in the scratch: [driver_count] exi_motion */
    uint64_t tallies;    /* in the scratch: [cluster_count] ex_settled */
    uint64_t scratch;    /* bytes */
};

/* ---- near.c ---- */

/* The form of a set that is asked. */
typedef struct exi_view {
    const ex_bounds *fit;
    const float *positions;  /* [driver_count][3] */
    const uint32_t *corners; /* of the set */
    uint32_t triangle_count;
    float scale; /* the largest number among the positions */
} exi_view;

/* The closest points of a cluster; arrays, so that four are worked on at once. */
typedef struct exi_near {
    uint32_t triangle[EXI_CLUSTER]; /* as the set numbers them; EXI_NO_TRIANGLE: none */
    float distance_sq[EXI_CLUSTER], u[EXI_CLUSTER], v[EXI_CLUSTER];
    float away[3][EXI_CLUSTER]; /* from the one asked about to the closest point */
    float along[EXI_CLUSTER];   /* away times the triangle's normal, of any length */
} exi_near;

/*
 * The closest points of `count` points, to the bit those that ex_bounds_closest gives (distances below 1e-19 are
 * equal). near->triangle says where to look first, any number too large: nowhere; the better it is, the quicker. The
 * points are an array of EXI_CLUSTER, those behind count are written to.
 */
void exi_near_cluster(const exi_view *view, float (*points)[3], int count, exi_near *near);

/* ---- side.c ---- */

/* A driver's surface: positions [driver_count][3] of a settler's driver. */
typedef struct exi_driver {
    const ex_settler *settler;
    const float *positions;
} exi_driver;

/* The unit normal of a triangle with these corners; false, and zero, where it has none. */
bool exi_driver_normal(const exi_driver *driver, const uint32_t corner[3], float normal[3]);
/* The pseudo-normal at (u, v) of a triangle, not of unit length. */
void exi_driver_side(const exi_driver *driver, uint32_t triangle, float u, float v, float normal[3]);
/* The signed distance of point i of a cluster, whose closest point is on that triangle (as the driver numbers it). */
float exi_side_distance(const exi_driver *driver, uint32_t triangle, const exi_near *near, int i);

/* ---- carry.c ---- */

/* How a vertex moves from the blended driver to the true one, in one line of a cache: its blended position relative to
 * an origin on the driver, 0; and the rows of its rotation minus 1, each with a component of the displacement behind it
 * (carry.c). Not numbers where it is not known. */
typedef struct exi_motion {
    float row[4][4];
} exi_motion;

typedef struct exi_motions {
    exi_motion *of; /* [driver_count] */
    float origin[3];
    bool whole; /* all that are needed are known */
} exi_motions;

/* chords[4] of every vertex, chosen at creation from the form there. */
void exi_carry_choose(const ex_settler *settler, const float *positions, uint32_t *chords);
/* The motions of `count` vertices: those listed, or all where vertices is NULL. */
void exi_carry_prepare(const ex_settler *settler, const float *blended, const float *driver, const uint32_t *vertices,
                       int count, exi_motions *motions, const ex_tasks *tasks);
/* Whether the motions of a triangle's corners are known. */
static inline bool exi_carry_known(const exi_motions *motions, const uint32_t corner[3]) {
    return isfinite(motions->of[corner[0]].row[0][0]) && isfinite(motions->of[corner[1]].row[0][0]) &&
           isfinite(motions->of[corner[2]].row[0][0]);
}
/* Adds weight times the motion of a point at (u, v) of a triangle; point: relative to the origin, then 1. The sum's
 * rows are to be summed over their four columns yet. */
EXI_KERNEL void exi_carry_add(const exi_motions *motions, const uint32_t corner[3], float u, float v, float weight,
                              exi_quad point, exi_quad sum[3]) {
    const exi_motion *a = &motions->of[corner[0]], *b = &motions->of[corner[1]], *c = &motions->of[corner[2]];
    const float w = 1 - u - v;
    exi_quad at = exi_quad_mul(exi_quad_splat(w), exi_quad_load(a->row[0]));
    at = exi_quad_madd(exi_quad_splat(u), exi_quad_load(b->row[0]), at);
    at = exi_quad_madd(exi_quad_splat(v), exi_quad_load(c->row[0]), at);
    const exi_quad e = exi_quad_mul(exi_quad_splat(weight), exi_quad_sub(point, at));
    EXI_WRITE_OUT
    for (int k = 0; k < 3; k++) {
        exi_quad row = exi_quad_mul(exi_quad_splat(w), exi_quad_load(a->row[1 + k]));
        row = exi_quad_madd(exi_quad_splat(u), exi_quad_load(b->row[1 + k]), row);
        row = exi_quad_madd(exi_quad_splat(v), exi_quad_load(c->row[1 + k]), row);
        sum[k] = exi_quad_madd(e, row, sum[k]);
    }
}
static inline exi_quad exi_carry_from(const exi_motions *motions, const float point[3]) {
    const float from[4] = {point[0] - motions->origin[0], point[1] - motions->origin[1], point[2] - motions->origin[2],
                           1};
    return exi_quad_load(from);
}
/* Moves the point by a sum of motions. */
static inline void exi_carry_apply(const exi_quad sum[3], float point[3]) {
    exi_quad m[4] = {sum[0], sum[1], sum[2], exi_quad_splat(0)};
    float moved[4];
    exi_quad_transpose(m);
    exi_quad_store(moved, exi_quad_add(exi_quad_add(m[0], m[1]), exi_quad_add(m[2], m[3])));
    for (int c = 0; c < 3; c++)
        point[c] += moved[c];
}

/* ---- push.c ---- */

/* The keys of a cluster's vertices. */
typedef struct exi_push_keys {
    const float *weights; /* [vertices][count] of all vertices; NULL: no keys */
    int count;
    const exi_bound *bounds; /* of the cluster's first place in the first key */
    size_t stride;           /* from one key to the next */
    const uint32_t *order;   /* of the cluster's places */
} exi_push_keys;

typedef struct exi_push {
    exi_driver driver;
    exi_push_keys keys;
    exi_view view;             /* of the set */
    const uint32_t *triangles; /* of the set */
    float tolerance, left;     /* lengths: where pushing stops, and from which on a vertex counts as left */
} exi_push;

/* Pushes the points of a cluster ([EXI_CLUSTER]) out to their gaps. near: hints before, closest points of the first
 * positions after. */
void exi_push_cluster(const exi_push *push, float (*points)[3], const float *gaps, int count, exi_near *near,
                      ex_settled *tally);

/* The number of the lowest bit that is set; one is. */
static inline int exi_lowest_bit(uint64_t bits) {
#if defined(__GNUC__)
    return __builtin_ctzll(bits);
#else
    int bit = 0;
    for (; !(bits & 1); bits >>= 1)
        bit++;
    return bit;
#endif
}

/* Whether all three are numbers that count as finite. */
static inline bool exi_finite3(const float *p) {
    return fabsf(p[0]) < EXI_TREE_LARGEST && fabsf(p[1]) < EXI_TREE_LARGEST && fabsf(p[2]) < EXI_TREE_LARGEST;
}

#endif
