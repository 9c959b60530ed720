/*
 * trajectory.h - shared by the files of this room: rotations in double, the surface between two forms, and one of the
 * two modes of finding trajectories. Private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_TRAJECTORY_TRAJECTORY_H
#define EXEMPLAR_AUTHOR_TRAJECTORY_TRAJECTORY_H

#include <exemplar/author/trajectory.h>

#include "author/solve/solve.h"
#include "author/trajectory/facings.h"

/* ---- rotations (rotations.c); matrices are [3][3], rows first; exi_polar is in pose/matrix.h ---- */

/* R(w): the matrix of the rotation vector w. */
void exi_turn_matrix(const double w[3], double r[3][3]);
/* Returns a rotation vector of r, at most pi long. */
void exi_turn_vector(const double r[3][3], double w[3]);
/* Replaces w by the vector of the same rotation that is nearest to `near`; 0 stays 0. */
void exi_turn_nearest(double w[3], const double near[3]);
/* out = m x, and m^T x. */
void exi_apply(double m[3][3], const double x[3], double out[3]);
void exi_apply_transpose(double m[3][3], const double x[3], double out[3]);
/* R~(w), equation 7: the mean of R(s w) over s in [0, 1]; a series near zero. */
void exi_mean_turn(const double w[3], double r[3][3]);
/* Solves d = R~(w) v for v, where |w| is at most EX_TURN_MAX: equation 23. */
void exi_mean_turn_invert(const double w[3], const double d[3], double v[3]);
/* Derivative of R~(w) v by w: column a is the derivative by w[a]. */
void exi_mean_turn_derivative(const double w[3], const double v[3], double derivative[3][3]);
/* Moves a point along a screw to time t. */
void exi_screw_point(const ex_screw *screw, const double centre[3], double t, const double point[3], double moved[3]);

/* ---- the surface between two forms ---- */

typedef struct exi_link {
    int vertices[2]; /* of different components, or of a triangle without area */
    int group;       /* links between the same two components form a group, and are consecutive */
    double weight;
    double start[3], end[3]; /* difference of the two vertices at the start, and at the end rotated back to the start */
} exi_link;

struct ex_between {
    int vertex_count, triangle_count;
    int *triangles;  /* [triangle_count][3] */
    double *start;   /* [vertex_count][3] */
    double *end;     /* as given */
    double *aligned; /* the end, moved back onto the start by the inverse of the screw at time 1 */
    double size;     /* diagonal of the start's bounding box */
    double thin;     /* triangles of less area, in squares of their longest side, count as having none */
    ex_screw screw;
    double centre[3]; /* the start's centroid, weighted by area */
    int iterations;
    const ex_tasks *tasks;

    /* per triangle; 0 0 0 for those without area, which have links instead */
    double *areas;   /* [triangle_count] */
    double *slopes;  /* [triangle_count][3][3]: the gradient of a field is the sum over corners of value times slope */
    double *normals; /* [triangle_count][3] of the start */
    double *turns;   /* [triangle_count][3]: rotation vectors from start to aligned end, on one branch */
    double *stretches; /* [triangle_count][6]: stretch S, xx yy zz xy xz yz */
    double *planes;    /* [triangle_count][5]: in the triangle's plane: slopes of corners 1 and 2, and its area */
    double *strains;   /* [triangle_count][3]: S in the plane: xx xy yy */
    double *frames;    /* [triangle_count][2][3]: the directions of that plane at the start */
    int *neighbours;   /* [triangle_count][3]: across the edge that starts at corner k, or -1 */
    exi_flats flats;   /* the same of the start, as local steps read it */

    double *vertex_areas; /* [vertex_count]: a third of the area of its triangles */
    int *triangle_starts; /* [vertex_count + 1] offsets into triangle_list: the triangles of a vertex */
    int *triangle_list;   /* [3 * triangle_count], as 3 * triangle + corner */
    int *components;      /* [vertex_count] */
    int component_count;
    exi_link *links;
    int link_count;
    exi_factor *factor; /* of the Laplacian with the links, with one vertex held */
    double held;        /* the weight by which that vertex is held */
    bool borrowed;      /* true: the factor belongs to another in-between with the same start */
};

/* Creates an in-between from the start of `like`, whose factor it uses: it must be destroyed first. */
ex_result exi_between_create_like(const ex_between_def *def, const ex_between *like, ex_between **between,
                                  ex_error *error);

/* Creates an in-between whose components are linked where they are near each other in all of these forms, [other_count]
 * of [vertex_count][3] or NULL, and at the start. */
ex_result exi_between_create_among(const ex_between_def *def, const double *const *others, int other_count,
                                   ex_between **between, ex_error *error);

/* Computes the form in the frame of the start, that is, without the screw; the rigid one with that many steps. work:
 * exi_between_work_size doubles, for three forms, the facings, the goals and the solver. */
void exi_between_poisson(const ex_between *between, double t, double *positions, double *work);
void exi_between_rigid(const ex_between *between, double t, int steps, double *positions, double *work);
size_t exi_between_work_size(const ex_between *between);
/* Returns the goals in the work memory, which a rigid form leaves there. */
exi_goal *exi_between_goals(const ex_between *between, double *work);
/* Rigid forms of up to EXI_TOGETHER in-betweens that share a factor: it is read once for all. The same bits. */
#define EXI_TOGETHER 4
void exi_between_rigid_several(const ex_between *const *betweens, int count, double t, int steps,
                               double *const *positions, double *const *work);

/* The steps of those (facings.c, rigid.c), for code that minimises the same energy over other unknowns. */
bool exi_flats_create(const ex_between *between, exi_flats *flats);
void exi_flats_free(exi_flats *flats);
/* Bytes of the goals of all triangles, and of the facings, which are scratch memory of a step. */
size_t exi_goals_size(const ex_between *between);
size_t exi_facings_size(const ex_between *between);
/* Computes what time t asks of the triangles. */
void exi_goals_set(const ex_between *between, double t, exi_goal *goals);
/* Replaces `right` by the pull of the triangles, each towards the rotation that suits the form, so that the next global
 * step changes the form by L^-1 right. */
void exi_local_step(const ex_between *between, const exi_goal *goals, const double *form, void *facings, double *right);
/* Adds the pull of the links. If form is NULL, the rotations are those of the triangles at time t, and the pull is the
 * links' full goal: a right-hand side. */
void exi_links_pull(const ex_between *between, double t, const double *form, double *right);
/* Computes the rotation of the group of links that begins at `first`. Returns the end of the group. */
int exi_link_group(const ex_between *between, int first, double t, const double *form, double rotation[3][3]);
/* Replaces the right-hand side right [vertex_count][3] by its form; or a change of the right-hand side by the change of
 * the form. */
void exi_between_solve(const ex_between *between, double *right, double *work);
void exi_between_solve_change(const ex_between *between, double *right, double *work);
/* The same for up to EXI_TOGETHER changes, each with separate work memory. */
void exi_between_solve_changes(const ex_between *between, int count, double *const *rights, double *const *work);
/* Nesterov's momentum: how far to look beyond a step, in steps. uphill: the sum of (at - now) (now - last), with `at`
 * the point the step was taken from; above 0, momentum starts again. */
double exi_further(double uphill, double *momentum);
void exi_between_polynomial(const ex_between *between, double t, const double *forms, double *positions);
/* Applies the screw at time t to a form in the frame of the start. */
void exi_between_move(const ex_between *between, double t, double *positions);

/* ---- finding; guided mode is in mixture/ ---- */

/* Paper mode, all examples at once, since they share segments: betweens [example_count], NULL for the reference. Sets
 * turns, bases, segments, triangle_segments and fits. */
ex_result exi_paper_fit(const ex_trajectories_def *def, ex_between *const *betweens, ex_trajectories *trajectories,
                        ex_error *error);

#endif
