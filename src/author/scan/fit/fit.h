/*
 * fit.h - the inside of ex_kinematics_fit: the unknowns, their order, and the solver; private to authoring.
 *
 * Unknowns are columns. Those of all scans ("shared"): three for the local position of every free site, sites in the
 * order of a walk through the tree (so that the sites beyond a joint are one range); then translations (three) and axes
 * (two: steps along a basis of the plane perpendicular to the axis). Those of one scan ("pose"): the rotations of
 * joints, leaves first and the base last, three for a ball and one for a hinge; then the base's position. In that
 * order, eliminating a joint couples only joints above it, which are coupled already.
 */
#ifndef EXEMPLAR_AUTHOR_SCAN_FIT_FIT_H
#define EXEMPLAR_AUTHOR_SCAN_FIT_FIT_H

#include "author/base/arena.h"
#include "author/scan/kinematics/kinematics.h"

/* The unknowns. Rotations of hinges are angles in radians, in angles; those of other joints are quaternions. */
typedef struct exi_fit_state {
    double (*translations)[3]; /* [joint] */
    double (*axes)[3];         /* [joint] */
    double (*locals)[3];       /* [site] */
    double (*bases)[3];        /* [scan] */
    double (*turns)[4];        /* [scan][joint] */
    double *angles;            /* [scan][joint] */
} exi_fit_state;

/* A sighting as used by the fit; sorted by scan, then by the walk. */
typedef struct exi_fit_mark {
    int scan, site, joint;
    int source;   /* its number in the def */
    bool active;  /* true if it counts; false while its site has no place */
    double at[3]; /* observed */
    double weight;
} exi_fit_mark;

/* The unknowns of one scan. */
typedef struct exi_fit_scan {
    int begin, end;  /* range of marks */
    int pose_count;  /* number of unknowns */
    int base_column; /* of the base's position, or -1 */
    bool reference;  /* true if its base is held near its start */
    bool hopeless;   /* true if too little is seen to determine a pose */
    bool fitted;     /* true if its pose has been found, at least roughly */
    bool waiting;    /* true if it waits until bones are known from other scans */
    double cost;     /* of its marks */
} exi_fit_scan;

typedef struct exi_fit {
    const ex_kin_fit_def *def;
    const ex_kinematics *kinematics;
    ex_error *error;
    exi_arena arena;
    int joint_count, site_count, scan_count, mark_count;
    exi_fit_mark *marks;
    exi_fit_scan *scans;
    exi_fit_state now, next, begin;
    /* the tree */
    int *walk;     /* [joint]: its position in a walk, parents first, subtrees together */
    int *walk_end; /* [joint]: end of its subtree */
    int *order;    /* [joint]: the joint at a position of the walk */
    int depth;     /* number of joints on the longest chain */
    /* columns */
    bool *held;         /* [scan][joint]: true if the rotation is fixed */
    double *turn_holds; /* [scan][joint]: squared weight that holds a rotation at its start; 0: none */
    bool *open;         /* [scan][joint]: true if its rotation is undetermined and therefore has this weight */
    bool *open_translations, *open_axes;        /* [joint] */
    int *pose_columns;                          /* [scan][joint], or -1 */
    int *translation_columns, *axis_columns;    /* [joint], among the shared columns after the sites', or -1 */
    int *translation_owners, *axis_owners;      /* [joint]: the joint that owns the values, up to mirroring; may be the
                                                   joint itself */
    bool *mirrored_translation, *mirrored_axis; /* [joint]: true if the owner's values are mirrored for it */
    int *site_columns;                          /* [site], or -1 */
    bool *placed;                               /* [site]: true if its local position is known */
    bool *tied; /* [site]: true if its local position follows translations so that it stays where the reference shows
                   it */
    bool all_sites; /* true: every placed site has columns, seen or not */
    int kin_count, shared_count, pose_most;
    /* weights */
    double *site_weights;                                     /* [site] */
    double *site_widths;                                      /* [site]: width of the loss, metres */
    double hold_translation, hold_axis, hold_site, hold_base; /* squared weights that hold unknowns at their start */
    double *preferences;           /* [joint]: squared weight of a translation along its own axis */
    double (*extra_hold)[9];       /* [joint]: for undetermined directions of its translation */
    double *extra_axis;            /* [joint]: for its axis */
    bool base_free;                /* true if the reference's base may turn and move */
    bool base_moves;               /* true if it may move */
    double noise;                  /* metres: typical distance of a marker from its prediction */
    bool *apart;                   /* [joint]: true if its bone is found apart from its twin's, though drawn to it */
    struct exi_fit_person *person; /* the prior on bones; NULL: none */
    /* work */
    int chunk_count, local_most;
    struct exi_fit_chunk *chunks;
    double *shared_matrix, *shared_right, *shared_diagonal; /* [shared][shared], [shared] */
    double *factors; /* [scan][pose_most][pose_most]: factors of the scans' own matrices; and [scan][pose_most]
                        right-hand sides */
    double *rights;
    double (*reference_turns)[9]; /* [joint]: the reference's rotations */
    double lambda;
    int iteration_count;
} exi_fit;

/* Cost and weight of a squared distance: Geman and McClure's c^2 r^2 / (c^2 + r^2), whose pull falls off as 1/r^3. */
static inline double exi_loss(double r_sq, double width, double *weight) {
    if (!(width < 1e30)) {
        *weight = 1;
        return r_sq;
    }
    const double c = width * width, k = c / (c + r_sq);
    *weight = k * k;
    return r_sq * k;
}

/* fit_problem.c: memory and the constant parts; then columns, depending on what is locked now. */
ex_result exi_fit_open(exi_fit *f, const ex_kin_fit_def *def, ex_error *error);
void exi_fit_close(exi_fit *f);
void exi_fit_lay_out(exi_fit *f, bool kinematics, bool sites);
bool exi_fit_make_state(exi_fit *f, exi_fit_state *state);
void exi_fit_copy_state(const exi_fit *f, const exi_fit_state *from, exi_fit_state *to);

/* fit_model.c: the frames of a scan, rotations as matrices; derivatives of a mark; steps. */
typedef struct exi_fit_frames {
    double (*rotations)[9]; /* [joint] */
    double (*places)[3];
    double (*turning)[3];    /* [joint]: a hinge's axis in the world */
    double (*tilting)[2][3]; /* [joint]: a hinge's rotation vector, in the world, for each of its axis's two steps */
} exi_fit_frames;
bool exi_fit_make_frames(exi_arena *arena, int joint_count, exi_fit_frames *frames);
void exi_fit_frame(const exi_fit *f, const exi_fit_state *state, int scan, exi_fit_frames *frames);
void exi_fit_predict(const exi_fit *f, const exi_fit_state *state, const exi_fit_frames *frames, int site,
                     double at[3]);
/* Derivatives of a site's predicted position: columns and their three numbers each. Sites' columns are separate; their
 * numbers are the joint's rotation. */
typedef struct exi_fit_rows {
    int pose_count, kin_count;
    int *pose_columns, *kin_columns;
    double (*pose)[3], (*kin)[3];
} exi_fit_rows;
bool exi_fit_make_rows(exi_arena *arena, const exi_fit *f, exi_fit_rows *rows);
void exi_fit_derive(const exi_fit *f, const exi_fit_state *state, const exi_fit_frames *frames, int scan, int site,
                    const double at[3], bool kinematics, exi_fit_rows *rows);
/* Computes two directions perpendicular to a. */
void exi_fit_across(const double a[3], double b[2][3]);
/* next = now plus a step of the shared unknowns, or of a scan's. */
void exi_fit_step_shared(exi_fit *f, const double *step);
void exi_fit_step_pose(exi_fit *f, int scan, const double *step);
/* q = the rotation by the vector w (radians). */
void exi_fit_turn(const double w[3], double q[4]);

/* fit_dense.c: the upper triangle of A = J^T J, J [n] columns of `rows`, a stride apart. */
void exi_fit_squares(const double *jacobian, size_t stride, int n, int rows, double *a);
/* A = U^T U for the upper triangle, rows first. If a diagonal entry shrinks to `least` of diagonal [n] or
 * below, its unknown is dropped: its solution is 0. */
void exi_cholesky(double *a, int n, const double *diagonal, double least);
void exi_cholesky_solve(const double *u, int n, double *x);
/* Solves U^T y = x only. */
void exi_cholesky_forward(const double *u, int n, double *x);
void exi_cholesky_backward(const double *u, int n, double *x);

/* fit_normal.c: the normal equations at `now`, with poses eliminated. A chunk is one thread's work memory. */
typedef struct exi_fit_chunk {
    exi_fit_frames frames;
    exi_fit_rows rows;
    double *matrix, *right, *diagonal; /* [shared][shared], [shared], [shared] */
    double *coupled;                   /* [pose][local columns] */
    double *product, *local_right;     /* [local columns][local columns] */
    int *locals;                       /* [local columns]: shared columns */
    int *range_begins, *range_ends;    /* [pose]: range of the local columns of sites in a row */
    double *step;                      /* [pose] */
} exi_fit_chunk;
/* Sums over scans at `now`, without priors; then with them. */
void exi_fit_sum(exi_fit *f);
/* Sums at `now`; leaves the reduced matrix and right-hand side, with priors, in shared_matrix and shared_right. */
void exi_fit_reduce(exi_fit *f);
/* Solves, and computes `next` from `now` and the step. */
void exi_fit_advance(exi_fit *f);
/* Returns the cost of a state, over all scans and priors; sets scans[].cost. */
double exi_fit_cost(exi_fit *f, const exi_fit_state *state);
double exi_fit_scan_cost(exi_fit *f, const exi_fit_state *state, exi_fit_chunk *chunk, int scan);
/* The same for one scan's pose: computes the normal matrix [pose][pose] and right-hand side at `now`; returns its
 * cost. */
double exi_fit_pose_normal(exi_fit *f, exi_fit_chunk *chunk, int scan, double lambda);

/* fit_priors.c: priors of a scan's pose, and of the shared unknowns; their costs in a state. */
void exi_fit_add_holds(const exi_fit *f, int scan, double *v, double *b, int n);
double exi_fit_hold_cost(const exi_fit *f, const exi_fit_state *state, int scan);
void exi_fit_add_priors(exi_fit *f);
double exi_fit_prior_cost(const exi_fit *f, const exi_fit_state *state);

/* fit_person.c: bones of a usual person as a prior. */
typedef struct exi_fit_person exi_fit_person;
bool exi_fit_open_person(exi_fit *f);
void exi_fit_add_person(exi_fit *f);
double exi_fit_person_cost(const exi_fit *f, const exi_fit_state *state);
/* Finds the reference's turns from the neutral pose and the size again, from the bones in `now`. */
void exi_fit_person_turns(exi_fit *f);
/* Returns how far a hinge is turned beyond its range in a scan, radians, negative below; and the weight of its
 * square. */
double exi_fit_beyond(const exi_fit *f, const exi_fit_state *state, int scan, int j, double *weight);
double exi_fit_person_scale(const exi_fit *f);
/* Returns the variance of a sighting in units of which priors are weighed, square metres. */
double exi_fit_person_variance(const exi_fit *f);
void exi_fit_person_neutral(const exi_fit *f, int j, double q[4]);
/* Sets the range of a hinge, degrees from the reference, if it has one. */
void exi_fit_person_range(const exi_fit *f, int j, double *least, double *most);
/* Returns the largest variance of a bone or axis after the fit, in units of its variance before: near 1 if the markers
 * say nothing. covariance [3][3] or [2][2], square metres or radians. */
double exi_fit_person_looseness(const exi_fit *f, int j, bool axis, const double *covariance);

/* fit_solve.c: Levenberg-Marquardt over everything that is free, or over the pose of a scan. Returns the cost. */
double exi_fit_solve(exi_fit *f, int iterations, double tolerance, const char *what, double from, double to);
double exi_fit_solve_pose(exi_fit *f, exi_fit_chunk *chunk, int scan, int iterations);

/* fit.c: takes state and poses for nearly right; weights of 1, and priors and the loss for that noise. */
void exi_fit_begin_again(exi_fit *f, double noise);

/* fit_start.c: starting poses, found joint by joint. */
ex_result exi_fit_start(exi_fit *f);
/* Restarts scans that fit badly compared with the others, also from other scans' poses. */
ex_result exi_fit_restart(exi_fit *f);
/* Finds poses of waiting scans from the others' bones; afterwards none waits. */
void exi_fit_wake(exi_fit *f);

/* fit_sites.c: places sites where the reference shows them. */
ex_result exi_fit_place_reference(exi_fit *f);
/* Places sites without a place from the scans that see them, and moves those that most scans see more than `limit`
 * metres away. */
ex_result exi_fit_replace_sites(exi_fit *f, double limit);
/* Activates the marks whose site has a place. */
void exi_fit_activate(exi_fit *f);

/* fit_open.c: holds undetermined rotations and ignores their marks; holds undetermined shared unknowns by priors. The
 * result lists them. */
void exi_fit_find_open_poses(exi_fit *f);
bool exi_fit_find_open_shared(exi_fit *f, double sigma); /* true if any are new */
ex_result exi_fit_list_open(exi_fit *f, ex_kin_fit *out);

#endif
