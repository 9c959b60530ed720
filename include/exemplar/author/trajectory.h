/*
 * exemplar/author/trajectory.h - trajectories between forms, and the in-betweens that they follow.
 *
 * Two forms over the same triangles can be joined in several ways (ex_between): along straight lines, by Poisson's
 * equation, as rigidly as possible, by a polynomial through as-rigid-as-possible forms. Those solve or store much; a
 * trajectory (exemplar/shape.h) is a closed form that a rig evaluates. It is found here, guided by as-rigid-as-possible
 * in-betweens or by the energies of the trajectory-warping paper. Everything may be called from any thread; an
 * ex_between is immutable. Solves are double; results depend on the input alone, whatever the tasks.
 */
#ifndef EXEMPLAR_AUTHOR_TRAJECTORY_H
#define EXEMPLAR_AUTHOR_TRAJECTORY_H

#include <exemplar/author/base.h>
#include <exemplar/author/mesh.h>
#include <exemplar/shape.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- in-betweens ---- */

/* Ways from one form to another, with the names that commands use. */
#define EX_BETWEEN_LIST(X)                                                                                             \
    X(EX_BETWEEN_LINEAR, "linear")         /* straight lines */                                                        \
    X(EX_BETWEEN_POISSON, "poisson")       /* gradients R^t ((1 - t) I + t S), put together by least squares */        \
    X(EX_BETWEEN_RIGID, "rigid")           /* as rigid as possible: the rotations are found with the form */           \
    X(EX_BETWEEN_POLYNOMIAL, "polynomial") /* of degree 4, through the ends and rigid forms at 1/4, 1/2, 3/4 */

typedef enum ex_between_method {
#define EX_BETWEEN_ENUM(name, text) name,
    EX_BETWEEN_LIST(EX_BETWEEN_ENUM)
#undef EX_BETWEEN_ENUM
        EX_BETWEEN_COUNT
} ex_between_method;

EX_API const char *ex_between_name(ex_between_method method);

typedef struct ex_between_def {
    int vertex_count;
    int triangle_count;
    const int *triangles; /* [triangle_count][3] vertices */
    const double *start;  /* [vertex_count][3] */
    const double *end;
    int iterations;              /* local and global steps of the rigid form; 0: 30 */
    const ex_tasks *tasks;       /* or NULL */
    const ex_progress *progress; /* or NULL */
} ex_between_def;

typedef struct ex_between ex_between;

/*
 * Aligns the end rigidly to the start, takes every triangle's rotation and stretch, the rotations on one branch, links
 * components to their neighbours, and factorises. Triangles without area, and vertices without a triangle, go along
 * with what is near them. The arrays are copied, the tasks are kept. Results: ARGUMENT, DATA, MEMORY, LIMIT, and
 * SINGULAR where triangles are so unlike each other that double precision does not tell them apart.
 */
EX_API ex_result ex_between_create(const ex_between_def *def, ex_between **between, ex_error *error);
EX_API void ex_between_destroy(ex_between *between);

/* The form at t in [0, 1] by a method, [vertex_count][3], with the alignment interpolated as a screw; at 0 and 1 the
 * ends to the bit. Cost: poisson one solve with three right-hand sides; rigid `iterations` of them; polynomial three
 * rigid forms, every time. Results: MEMORY. */
EX_API ex_result ex_between_form(const ex_between *between, ex_between_method method, double t, double *positions,
                                 ex_error *error);

/* The alignment: the screw about `centre` takes the start onto the end as well as a rigid motion can. */
EX_API void ex_between_screw(const ex_between *between, ex_screw *screw, double centre[3]);

/* What a form at t looks like against the in-between that every triangle by itself would have. */
typedef struct ex_stretch {
    double percentiles[4]; /* of the triangles' stretch: 50, 90, 99, 99.9 */
    int flipped;           /* triangles whose normal is turned by more than a right angle from where R^t brings it */
} ex_stretch;

/* positions [vertex_count][3], as ex_between_form gives them. values [triangle_count], or NULL: the stretch of each,
 * the largest |sqrt(lambda) - 1| over the eigenvalues of its metric against that of (1 - t) I + t S; 0 for triangles
 * without area. */
EX_API ex_result ex_between_stretch(const ex_between *between, double t, const double *positions, ex_stretch *stretch,
                                    double *values, ex_error *error);

/* ---- trajectories ---- */

#define EX_TRAJECTORY_LIST(X)                                                                                          \
    X(EX_TRAJECTORY_GUIDED, "guided") /* follow as-rigid-as-possible in-betweens */                                    \
    X(EX_TRAJECTORY_PAPER, "paper")   /* minimise the energies of the paper, equations 8 to 27 */

typedef enum ex_trajectory_mode {
#define EX_TRAJECTORY_ENUM(name, text) name,
    EX_TRAJECTORY_LIST(EX_TRAJECTORY_ENUM)
#undef EX_TRAJECTORY_ENUM
        EX_TRAJECTORY_MODE_COUNT
} ex_trajectory_mode;

EX_API const char *ex_trajectory_mode_name(ex_trajectory_mode mode);

/* How trajectories are found. What a project says; nothing here depends on the machine. */
typedef struct ex_trajectory_options {
    ex_trajectory_mode mode;
    int iterations; /* guided: of the rigid in-betweens; paper: Gauss-Newton steps at most. 0: 30, and 10 */

    /* guided */
    int corrector_count; /* at most EX_CORRECTOR_MAX; -1: for each example as few as follow the in-betweens closely */
    int turns;           /* whether examples have angular velocities: 1, 0; -1: where there are several examples, whose
                            blends need them */

    /* paper */
    bool without_pose, without_rotation, without_gradient; /* terms left out */
    double pose_weight, rotation_weight, gradient_weight; /* alpha, beta, gamma over those that make the terms' Hessians
                                                             equal in norm; 0: 1, 0.1, 0.05 */
    bool bases;                                           /* appended for segments (equations 26, 27) */
    double segment_angle; /* mean shift's bandwidth over the triangles' rotations, degrees; 0: 20 */
    int root;             /* segment; -1: the largest of those in the middle */
    const int *segments;  /* [triangle_count] given segments, -1: found; or NULL: all are found */
} ex_trajectory_options;

EX_API ex_trajectory_options ex_trajectory_options_default(void);

typedef struct ex_trajectories_def {
    int vertex_count;
    int triangle_count;
    const int *triangles;    /* [triangle_count][3] vertices */
    const double *reference; /* [vertex_count][3] */
    int example_count;
    const double *const *examples; /* [example_count] of [vertex_count][3]; NULL for the one that is the reference */
    const char *const *names;      /* [example_count]: used in errors; or NULL */
    ex_trajectory_options options;
    const ex_tasks *tasks;       /* or NULL */
    const ex_progress *progress; /* or NULL */
} ex_trajectories_def;

/* What was found, ready for an ex_layer_def. */
typedef struct ex_trajectories {
    int example_count;
    ex_trajectory *trajectories; /* [example_count] */
    double centre[3];
    float *overlaps; /* [example_count] squared */
    ex_segments segments;
    int *triangle_segments; /* [triangle_count], where there are segments; else NULL */
    struct ex_trajectory_fit {
        int iterations; /* paper: Gauss-Newton steps */
        bool converged;
        double energy[4]; /* paper: the whole, pose, rotation, gradient, weighted */
        double rigid[4];  /* guided: over the times sampled, the worst ratio of a percentile of stretch to the rigid
                             in-between's */
    } * fits;             /* [example_count] */
} ex_trajectories;

/* Finds them. Results: ARGUMENT, DATA (example named), SINGULAR, MEMORY, LIMIT. */
EX_API ex_result ex_trajectories_create(const ex_trajectories_def *def, ex_trajectories **trajectories,
                                        ex_error *error);
EX_API void ex_trajectories_destroy(ex_trajectories *trajectories);

/* What the runtime will show at the given weights [example_count], in double: [vertex_count][3]. basis: -1 all; 0 the
 * vertices' own pairs and correctors alone; k > 0 what segment k - 1 appends, alone; each with the screw. def as for
 * creation. false without memory. */
EX_API bool ex_trajectories_form(const ex_trajectories *trajectories, const ex_trajectories_def *def,
                                 const double *weights, int basis, double *positions);

/* ---- the report of `exemplar warp --report` ---- */

#define EX_WARP_TIME_COUNT 5 /* 0.1, 0.3, 0.5, 0.7, 0.9 */
typedef struct ex_warp_row {
    const char *method; /* a name of EX_BETWEEN_LIST or EX_TRAJECTORY_LIST */
    double t;
    ex_stretch stretch;
    int crossing;    /* pairs of triangles that cross each other */
    double centroid; /* how far a component's centroid is, at most, from where the rigid in-between has it, as part of
                        the mesh's size */
} ex_warp_row;

typedef struct ex_warp_report {
    int row_count; /* methods times EX_WARP_TIME_COUNT */
    ex_warp_row *rows;
    int start_crossing, end_crossing;
    int component_count;
    double bytes; /* per vertex, that the runtime reads of the trajectory */
} ex_warp_report;

/* Measures every way from the reference to one example, the trajectory among them. Results: MEMORY. */
EX_API ex_result ex_warp_report_create(const ex_trajectories_def *def, const ex_trajectories *trajectories, int example,
                                       ex_warp_report **report, ex_error *error);
EX_API void ex_warp_report_destroy(ex_warp_report *report);

#ifdef __cplusplus
}
#endif
#endif
