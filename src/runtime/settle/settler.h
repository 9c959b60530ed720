/*
 * Layout of a settler: one block without pointers. It has its own order of driven vertices: those bound to one set of
 * triangles are together, and among them neighbours, in clusters that are queried at once. In the text below, "vertex"
 * is a vertex of the driver; "place" is the index of a driven vertex in that order.
 */
#ifndef EXI_SETTLE_SETTLER_H
#define EXI_SETTLE_SETTLER_H

#include "runtime/settle/tree.h"

enum {
    EXI_CLUSTER = 16,      /* driven vertices that are queried at once */
    EXI_KEY_MAX = 1024,    /* limit, since a row for each key is on the stack */
    EXI_PATCH_BLOCKS = 64, /* of a tree, in a patch of the driver */
    EXI_PUSHES = 16        /* maximum number of moves of a driven vertex out of the driver */
};

/* "No triangle": no set has that many. */
#define EXI_NO_TRIANGLE UINT32_MAX

/* A set of triangles that driven vertices see, with its tree. It numbers its triangles itself. */
typedef struct exi_settler_set {
    uint64_t tree;
    uint64_t triangles; /* [triangle_count] uint32_t: numbers of its triangles in the driver, ascending */
    uint64_t corners;   /* [triangle_count][3] uint32_t */
    uint64_t fit;       /* in the scratch */
    int32_t triangle_count;
    int32_t reserved;
} exi_settler_set;

typedef struct exi_cluster {
    int32_t first, count; /* places */
    int32_t set, reserved;
} exi_cluster;

/* Large, but 0 when multiplied by a weight of 0. */
#define EXI_GAP_UNKNOWN 1e30f

/* Place of a driven vertex on the driver in a key. */
typedef struct exi_bound {
    uint32_t corner[3]; /* of the closest triangle */
    uint32_t triangle;  /* its number in the set; EXI_NO_TRIANGLE: not in that set */
    float u, v;
    float gap; /* or EXI_GAP_UNKNOWN */
    uint32_t reserved;
} exi_bound;

struct ex_settler {
    uint64_t size;
    int32_t driver_count, triangle_count, vertex_count, key_count, set_count, cluster_count, used_count, open;
    int32_t kept_set; /* the set of all triangles, if they are a closed surface: bounds are kept for it; -1: none */
    int32_t patch_count;
    uint64_t patch_starts;   /* [patch_count + 1] uint32_t: start of each patch's vertices in: */
    uint64_t patch_vertices; /* uint32_t */
    uint64_t triangles;      /* [triangle_count][3] uint32_t */
    uint64_t incident;       /* [driver_count + 1] uint32_t: start of each vertex's triangles in: */
    uint64_t incidences;     /* [3 triangle_count] uint32_t */
    uint64_t chords;         /* [driver_count][4] uint32_t: two pairs of vertices (carry.c) */
    uint64_t used;           /* [used_count] uint32_t: vertices of triangles that are closest in some key */
    uint64_t sets;           /* [set_count] exi_settler_set */
    uint64_t clusters;       /* [cluster_count] exi_cluster */
    uint64_t order;          /* [vertex_count] uint32_t: driven vertex at each place */
    uint64_t bounds;         /* [key_count][vertex_count] exi_bound, by place */
    uint64_t motions;        /* in the scratch: [driver_count] exi_motion */
    uint64_t tallies;        /* in the scratch: [cluster_count] ex_settled */
    uint64_t fours;          /* in the scratch: [(patch_count + 3) / 4] exi_patch_four */
    uint64_t scratch;        /* bytes */
};

/* ---- near_kernel.c ---- */

/* The form of a set that is queried. */
typedef struct exi_view {
    const ex_bounds *fit;
    const float *positions;  /* [driver_count][3] */
    const uint32_t *corners; /* of the set */
    uint32_t triangle_count;
    float scale; /* largest absolute coordinate */
} exi_view;

/* Closest points of a cluster; arrays, so that four are processed at once. */
typedef struct exi_near {
    uint32_t triangle[EXI_CLUSTER]; /* numbers in the set; EXI_NO_TRIANGLE: none */
    float distance_sq[EXI_CLUSTER], u[EXI_CLUSTER], v[EXI_CLUSTER];
    float away[3][EXI_CLUSTER]; /* from the query point to the closest point */
    float along[EXI_CLUSTER];   /* dot product of away and the triangle's normal, which has any length */
} exi_near;

/*
 * Finds the closest points of `count` points, bit for bit those of ex_bounds_closest (distances below 1e-19 are equal).
 * near->triangle is a hint where to look first, any number too large for none; the better it is, the faster the search.
 * points is an array of EXI_CLUSTER; those after count are overwritten.
 */
void exi_near_cluster(const exi_view *view, float (*points)[3], int count, exi_near *near);
/* Copies point i of one to point k of another; both may be the same. */
static inline void exi_near_copy(const exi_near *from, int i, exi_near *to, int k) {
    to->triangle[k] = from->triangle[i];
    to->distance_sq[k] = from->distance_sq[i];
    to->u[k] = from->u[i];
    to->v[k] = from->v[i];
    for (int c = 0; c < 3; c++)
        to->away[c][k] = from->away[c][i];
    to->along[k] = from->along[i];
}

/* ---- side.c ---- */

/* A driver's surface: positions [driver_count][3] of a settler's driver. */
typedef struct exi_driver {
    const ex_settler *settler;
    const float *positions;
} exi_driver;

/* Computes the unit normal of a triangle with these corners; false, and zero, if it has none. */
bool exi_driver_normal(const exi_driver *driver, const uint32_t corner[3], float normal[3]);
/* Computes the pseudo-normal at (u, v) of a triangle, not of unit length. */
void exi_driver_side(const exi_driver *driver, uint32_t triangle, float u, float v, float normal[3]);
/* True if (u, v) of a triangle is on an edge that has no other triangle, within rounding. */
bool exi_driver_ends(const exi_driver *driver, uint32_t triangle, float u, float v);
/* Returns the signed distance of point i of a cluster, whose closest point is on that triangle (numbered as in the
 * driver). */
float exi_side_distance(const exi_driver *driver, uint32_t triangle, const exi_near *near, int i);

/* ---- carry.c, carry_kernel.c ---- */

/* Motion of a vertex from the blended driver to the true one, in one cache line: its blended position relative to an
 * origin on the driver, then 0; and the rows of its rotation minus 1, each followed by a component of the displacement
 * (carry.c). NaN if it is unknown. */
typedef struct exi_motion {
    float row[4][4];
} exi_motion;

typedef struct exi_motions {
    exi_motion *of; /* [driver_count] */
    float origin[3];
    bool whole; /* true if all motions that are needed are known */
} exi_motions;

/* Sets chords[4] of every vertex, chosen at creation from the form there. */
void exi_carry_choose(const ex_settler *settler, const float *positions, uint32_t *chords);
/* Computes the motions of `count` vertices: those listed, or all if vertices is NULL. */
void exi_carry_prepare(const ex_settler *settler, const float *blended, const float *driver, const uint32_t *vertices,
                       int count, exi_motions *motions, const ex_tasks *tasks);
/* True if the motions of a triangle's corners are known. */
static inline bool exi_carry_known(const exi_motions *motions, const uint32_t corner[3]) {
    return isfinite(motions->of[corner[0]].row[0][0]) && isfinite(motions->of[corner[1]].row[0][0]) &&
           isfinite(motions->of[corner[2]].row[0][0]);
}

/* ---- patch.c ---- */

/* Cuts a tree's triangles into patches; returns their number, and that of their vertices. marks: [vertex_count]. starts
 * and vertices may be NULL to count only. */
int exi_patch_cut(const ex_tree *tree, uint32_t *marks, uint32_t *starts, uint32_t *vertices, size_t *total);
/* True if every edge of the driver has two triangles, in opposite directions. */
bool exi_patch_closed(const ex_settler *settler);

/* ---- keep_kernel.c ---- */

/* Motions of four patches from the last frame to this one. */
typedef struct exi_patch_four {
    float motion[3][4][4];       /* [row][column][patch] */
    float low[3][4], high[3][4]; /* box in the last frame */
    float cosine[4], sine[4];    /* of half the angle */
    float rest[4];               /* how far a point of it may be from where the motion takes it */
    float own[4], slope[4];      /* it matters within own + slope (bound + motion of the cluster) */
} exi_patch_four;

/* Finds the motions of the patches; false if a position is not finite. */
bool exi_keep_prepare(const ex_settler *settler, const float *from, const float *to, exi_patch_four *fours,
                      const ex_tasks *tasks);
/* Bounds the distances of a cluster's points from those of the points before; 0: unknown. Returns how many
 * of those were known. */
int exi_keep_cluster(const ex_settler *settler, const exi_patch_four *fours, const float (*points)[3],
                     const float *before, const float *least, int count, float *kept);

/* ---- push.c ---- */

/* The keys of a cluster's vertices. */
typedef struct exi_push_keys {
    const float *weights; /* [vertices][count] of all vertices; NULL: no keys */
    int count;
    const exi_bound *bounds; /* of the cluster's first place in the first key */
    size_t stride;           /* distance from one key to the next */
    const uint32_t *order;   /* of the cluster's places */
} exi_push_keys;

typedef struct exi_push {
    exi_driver driver;
    exi_push_keys keys;
    exi_view view;             /* of the set */
    const uint32_t *triangles; /* of the set */
    float tolerance, left;     /* lengths: tolerance at which pushing stops, and distance from which a vertex counts
                                  as left */
    float reach;               /* points deeper inside stay */
} exi_push;

/* Pushes the points of a cluster ([EXI_CLUSTER]) out to their gaps. room: see exi_clear_cluster. near->triangle: hints
 * on input; on output the closest triangles of the first positions, or the hints of points that needed no search.
 * least: lower bounds of the distances of points that are outside, 0 if unknown; better ones on output; may be NULL. */
void exi_push_cluster(const exi_push *push, float (*points)[3], const float *gaps, const float *room, int count,
                      exi_near *near, float *least, ex_settled *tally);

/* ---- clear.c ---- */

/* Returns bits for the points that are outside the driver and farther from it than their gaps, as far as this is seen
 * without a search for each of them. room: distances that the points probably have; 0 if unknown. near->triangle:
 * hints; the closest points of some are found, those with bits in *found. least: raised where more is known; or
 * NULL. */
uint32_t exi_clear_cluster(const exi_push *push, float (*points)[3], const float *gaps, const float *room, int count,
                           exi_near *near, uint32_t *found, float *least);

/* True if all three numbers count as finite. */
static inline bool exi_finite3(const float *p) {
    return fabsf(p[0]) < EXI_TREE_LARGEST && fabsf(p[1]) < EXI_TREE_LARGEST && fabsf(p[2]) < EXI_TREE_LARGEST;
}

#endif
