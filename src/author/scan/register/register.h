/*
 * register.h - shared by the files of registration; private to src/author/scan.
 *
 *   register_align.c   a similarity from landmarks
 *   register_scan.c    a scan as points with normals
 *   register_floor.c   leaves out floors and walls
 *   register_tree.c    nearest points that face the same way
 *   register_shape.c   the template: areas, edges, parts that hang together
 *   register_turn.c    local rotations and scales
 *   register_solve.c   the linear step
 *   register_anchor.c  patches around anchors
 *   register_match.c   closest points in both directions
 *   register_measure.c the result's distances, confidences and counts
 *   register.c         the schedule from stiff to soft
 *
 * Angles are compared by cosines. "Area" weights are square metres of the template's rest form.
 */
#ifndef EXEMPLAR_AUTHOR_SCAN_REGISTER_REGISTER_H
#define EXEMPLAR_AUTHOR_SCAN_REGISTER_REGISTER_H

#include "author/solve/solve.h"

#include <exemplar/author/register.h>

/* ---- points with normals ---- */

/* A point of a surface. */
typedef struct exi_reg_point {
    float at[3];
    float normal[3]; /* length 1 */
} exi_reg_point;

/* The scan, thinned. */
typedef struct exi_reg_scan {
    int count;
    exi_reg_point *points; /* [count] */
    float *areas;          /* [count] square metres that each stands for; of a scan without faces: an estimate */
    signed char *rims;     /* [count]: 1 at the rim of a hole, 0 inside, -1 not known yet */
    double spacing;        /* typical distance to the sixth nearest */
    double area;           /* of all, also of what was left out as too far away */
    double left_out;       /* area of a floor or wall, or too far away */
} exi_reg_scan;

/* Thins the scans to points about `cell` apart, at most `most`. Leaves out what is outside the box low to high. */
ex_result exi_reg_scan_make(const ex_mesh *const *scans, int scan_count, double cell, int most, const double low[3],
                            const double high[3], exi_reg_scan *scan, ex_error *error);
void exi_reg_scan_free(exi_reg_scan *scan);

/* Area of the surface that a point stands for, however many views show it. */
static inline double exi_reg_point_area(const exi_reg_scan *scan) {
    return 0.6 * scan->spacing * scan->spacing;
}

/* A search tree in six dimensions: places, and normals times a length. */
typedef struct exi_reg_tree {
    int count;
    float length;        /* metres that unlike normals count: squared distance |p - q|^2 + length^2 |n - m|^2 */
    int *order;          /* [count] points, leaf after leaf */
    float (*places)[6];  /* [count] in that order */
    int node_count;      /* inner nodes of a complete tree: 2^k - 1 */
    unsigned char *axes; /* [node_count] */
    float *cuts;         /* [node_count] */
    int *starts;         /* [node_count + 2] leaves' first entries */
} exi_reg_tree;

/* Makes a tree; about 40 bytes per point, O(n log n). False without memory. */
bool exi_reg_tree_make(const exi_reg_point *points, int count, double length, exi_reg_tree *tree);
void exi_reg_tree_free(exi_reg_tree *tree);

/* Returns the nearest point by that distance whose place is within reach and whose normal's cosine is above `facing`;
 * or -1. */
int exi_reg_tree_nearest(const exi_reg_tree *tree, const exi_reg_point *point, double reach, double facing);

/* Lists up to `most` points within a distance of place alone, whose normal's cosine is above `facing`. Returns their
 * number. */
int exi_reg_tree_around(const exi_reg_tree *tree, const exi_reg_point *point, double radius, double facing, int most,
                        int *found);

/* ---- the template ---- */

/* Rest form, connectivity and stiffness of the template. */
typedef struct exi_reg_shape {
    int count;
    double (*rest)[3]; /* [count], scaled to the start */
    int triangle_count;
    uint32_t *triangles; /* [triangle_count][3] */
    int *around_starts;  /* [count + 1] */
    int *around;         /* triangles of each vertex */
    double *areas;       /* [count]: a third of each triangle at the vertex; tiny for vertices without faces */
    double area;         /* sum */
    double edge;         /* typical length of an edge: square root of the area per vertex */
    double size;         /* diagonal of the box of the rest form */
    bool *loose;         /* [count]: true for vertices without faces */
    /* Edges, and links between parts, as the lower triangle of a matrix. */
    int *starts, *rows;
    double *values; /* [starts[count]] Laplacian: minus the weight of an edge; on the diagonal the sums */
} exi_reg_shape;

ex_result exi_reg_shape_make(const ex_register_def *def, exi_reg_shape *shape, ex_error *error);
void exi_reg_shape_free(exi_reg_shape *shape);

/* Computes points with normals of a form. Vertices without area get normal 0. */
void exi_reg_shape_points(const exi_reg_shape *shape, const double (*x)[3], exi_reg_point *points);

/* Leaves out floors and walls; points [count]: the template's. reach: how far off the template may be. Returns the
 * number of planes. */
int exi_reg_scan_drop_floors(exi_reg_scan *scan, const exi_reg_shape *shape, const exi_reg_point *points, double reach,
                             double noise);

/* Finds the point of triangle a b c closest to q: shares of the corners. Returns the squared distance. */
double exi_reg_closest(const double a[3], const double b[3], const double c[3], const double q[3], double shares[3]);

/* ---- rotations ---- */

/* Rotation and growth of the surroundings of every vertex. */
typedef struct exi_reg_turns {
    const exi_reg_shape *shape;
    double (*forms)[3];        /* [count] the form whose local shape is kept: the rest form, later a settled one */
    double (*bases)[3][3];     /* [count] rotations at the beginning of the level */
    double (*rotations)[3][3]; /* [count] */
    double *scales;            /* [count] */
    exi_factor *smooth;        /* area + width^2 Laplacian, for corrections of rotations; NULL: not smoothed */
    exi_factor *smooth_scales; /* likewise, wider; NULL: scales stay 1 */
    double *work, *sums;       /* sums [count][9] */
} exi_reg_turns;

/* Starts with rotation 1 and scale 1. */
ex_result exi_reg_turns_make(const exi_reg_shape *shape, exi_reg_turns *turns, ex_error *error);
void exi_reg_turns_free(exi_reg_turns *turns);
/* Keeps the local shape of this form from now on; rotations and scales begin at 1 again. */
void exi_reg_turns_settle(exi_reg_turns *turns, const double (*x)[3]);
/* Sets the widths in metres over which corrections of rotations and scales are averaged; 0: not. The present
 * rotations become the bases. */
ex_result exi_reg_turns_widen(exi_reg_turns *turns, double width, double scale_width, ex_error *error);
/* Finds rotations and scales of a form. */
void exi_reg_turns_find(exi_reg_turns *turns, const double (*x)[3], const ex_tasks *tasks);

/* ---- the linear step ---- */

/* A point of the template that is drawn to a target: by weight |N (u - target)|^2, where u is the point, and N counts
 * motion along the normal fully and across it by the share `across`. */
typedef struct exi_reg_pull {
    int vertices[3];
    double shares[3];
    double target[3];
    double normal[3];
    double weight; /* an area; 0: none */
    double across; /* 0: to a plane, 1: to a point, above 1: to a line along the normal */
} exi_reg_pull;

typedef struct exi_reg_system exi_reg_system;
ex_result exi_reg_system_make(const exi_reg_shape *shape, exi_reg_system **system, ex_error *error);
void exi_reg_system_free(exi_reg_system *system);
/* Sets the pulls (kept by the caller until the last step) and the length below which the template stays rigid. */
ex_result exi_reg_system_set(exi_reg_system *system, double length, const exi_reg_pull *pulls, int count,
                             ex_error *error);
/* Moves x [count][3] to the minimum of
 *   length^2 sum over edges of w |x_i - x_j - (T_i + T_j) (p_i - p_j) / 2|^2 + the pulls,   T = scale rotation. */
void exi_reg_system_step(exi_reg_system *system, const exi_reg_turns *turns, double (*x)[3]);

/* ---- anchors ---- */

/* Vertices around an anchor, that follow it as a rigid patch. */
typedef struct exi_reg_patch {
    int first, count;
} exi_reg_patch;
typedef struct exi_reg_patches {
    int count;
    exi_reg_patch *patches; /* [count] */
    int *vertices;
    double *shares; /* of each patch: sum to 1 */
    int *nearest;   /* [count]: the anchor's vertex with the greatest share */
} exi_reg_patches;

/* Collects the vertices within `radius` of each anchor along the edges. */
ex_result exi_reg_patches_make(const exi_reg_shape *shape, const ex_register_def *def, double radius,
                               exi_reg_patches *patches, ex_error *error);
void exi_reg_patches_free(exi_reg_patches *patches);
/* Number of pulls. */
int exi_reg_patches_size(const exi_reg_patches *patches);
/* Writes the pulls of all anchors: weight is the area that an anchor of the default sigma counts; `doubt` metres: a
 * target farther off than this counts less and less, INFINITY: none does. points [count]: those of x, to pull along
 * the surface only; or NULL. */
void exi_reg_patches_pull(const exi_reg_patches *patches, const ex_register_def *def, const exi_reg_turns *turns,
                          const double (*x)[3], const exi_reg_point *points, double weight, double doubt,
                          exi_reg_pull *pulls);
/* Aims them again after the rotations changed. */
void exi_reg_patches_aim(const exi_reg_patches *patches, const ex_register_def *def, const exi_reg_turns *turns,
                         exi_reg_pull *pulls);
/* Place of an anchor on a form. */
void exi_reg_anchor_at(const ex_register_anchor *anchor, const double (*x)[3], double at[3]);

/* ---- matches ---- */

/* The distance of a match, and the skin that it stands for. */
typedef struct exi_reg_residual {
    double size, area;
} exi_reg_residual;

typedef struct exi_reg_matcher {
    const ex_register_def *def;
    const exi_reg_shape *shape;
    exi_reg_scan *scan;
    const exi_reg_tree *tree;    /* of the scan */
    exi_reg_point *points;       /* [count] the template's */
    exi_reg_tree own;            /* of the template */
    int *forward;                /* [count]: point of the scan, or -1 */
    float *forward_weights;      /* [count]: without the area */
    exi_reg_residual *residuals; /* work [count] */
    double scale;                /* robust scale of the residuals */
    int matched, back_matched;   /* counts */
} exi_reg_matcher;

typedef struct exi_reg_rule {
    double reach;  /* metres */
    double facing; /* least cosine */
    double across; /* of the pulls */
    double floor;  /* least robust scale, metres */
    double back;   /* weight of the scan's points beside that of the template's vertices */
    int back_most; /* number of the scan's points at most */
    int stride;    /* where vertices are dense, every stride-th one is matched */
} exi_reg_rule;

/* Matches a form with the scan; writes at most count + back_most pulls, and returns their number in *pull_count. */
ex_result exi_reg_match(exi_reg_matcher *m, const double (*x)[3], const exi_reg_rule *rule, exi_reg_pull *pulls,
                        int *pull_count, ex_error *error);

/* A point within reach of the template's surface has a vertex within reach and this number of typical edges. */
#define EXI_REG_SLACK 2.5

/* Finds the closest point of the triangles at a vertex of a form; returns its distance. */
double exi_reg_closest_around(const exi_reg_shape *shape, const double (*x)[3], int vertex, const exi_reg_point *point,
                              int vertices[3], double shares[3]);

/* ---- the result ---- */

/* Fills in everything but vertices and seconds. m: after the last match, of out->vertices. */
ex_result exi_reg_measure(exi_reg_matcher *m, const double (*start)[3], const exi_reg_rule *rule, double noise,
                          ex_registered *out, ex_error *error);

#endif
