/*
 * exemplar/author/trajectory.h - trajectories between forms, and the in-betweens that they follow.
 *
 * In-betweens of two forms over the same triangles can be computed in several ways (ex_between): along straight lines,
 * by Poisson's equation, as rigidly as possible, or by a polynomial through as-rigid-as-possible forms. These methods
 * solve or store a lot; a trajectory (exemplar/shape.h) is a closed form that a rig evaluates. It is found here, with
 * as-rigid-as-possible in-betweens as a guide or by the energies of the trajectory-warping paper. All functions are
 * thread-safe; an ex_between is immutable. Solves are in double, the rotations of triangles in rigid forms in float.
 * Results depend on the input alone, whatever the tasks.
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

/* Methods for in-betweens, with the names that commands use. */
#define EX_BETWEEN_LIST(X)                                                                                             \
    X(EX_BETWEEN_LINEAR, "linear")         /* straight lines */                                                        \
    X(EX_BETWEEN_POISSON, "poisson")       /* gradients R^t ((1 - t) I + t S), joined by least squares */              \
    X(EX_BETWEEN_RIGID, "rigid")           /* as rigid as possible: the rotations are found with the form */           \
    X(EX_BETWEEN_POLYNOMIAL, "polynomial") /* degree 4, through the ends and rigid forms at 1/4, 1/2, 3/4 */

typedef enum ex_between_method {
#define EX_BETWEEN_ENUM(name, text) name,
    EX_BETWEEN_LIST(EX_BETWEEN_ENUM)
#undef EX_BETWEEN_ENUM
        EX_BETWEEN_COUNT
} ex_between_method;

/* Returns the name of a method. */
EX_API const char *ex_between_name(ex_between_method method);

/* Definition of in-betweens: two forms over the same triangles. */
typedef struct ex_between_def {
    int vertex_count;
    int triangle_count;
    const int *triangles; /* [triangle_count][3] vertices */
    const double *start;  /* [vertex_count][3] */
    const double *end;
    int iterations;              /* local and global steps of the rigid form; 0: the default, 30 */
    const ex_tasks *tasks;       /* optional */
    const ex_progress *progress; /* optional; returning false stops */
} ex_between_def;

/* In-betweens of two forms, immutable. */
typedef struct ex_between ex_between;

/*
 * Prepares the in-betweens of two forms: aligns the end rigidly to the start, computes every triangle's rotation and
 * stretch, links components to their neighbours, and factorises. All rotations are on one branch. Triangles without
 * area, and vertices without a triangle, follow their surroundings. Copies the arrays; keeps the pointer to the tasks.
 * Results: ARGUMENT, DATA, MEMORY, LIMIT, and SINGULAR if triangles differ too much for double precision.
 */
EX_API ex_result ex_between_create(const ex_between_def *def, ex_between **between, ex_error *error);
EX_API void ex_between_destroy(ex_between *between);

/* Computes the form at t in [0, 1] by a method, [vertex_count][3], with the alignment interpolated as a screw; at 0 and
 * 1 the ends, bit for bit. Cost: poisson one solve with three right-hand sides; rigid `iterations` of them; polynomial
 * three rigid forms, every time. Results: MEMORY. */
EX_API ex_result ex_between_form(const ex_between *between, ex_between_method method, double t, double *positions,
                                 ex_error *error);

/* Gets the alignment: the screw about `centre` that best takes the start onto the end. */
EX_API void ex_between_screw(const ex_between *between, ex_screw *screw, double centre[3]);

/* Quality of a form at t, compared with each triangle's ideal in-between. */
typedef struct ex_stretch {
    double percentiles[4]; /* of the triangles' stretch: 50, 90, 99, 99.9 */
    int flipped;           /* triangles whose normal is more than a right angle from its direction under R^t */
} ex_stretch;

/* Measures the stretch of a form. positions [vertex_count][3], as from ex_between_form. values [triangle_count],
 * optional: the stretch of each triangle, the largest |sqrt(lambda) - 1| over the eigenvalues of its metric against
 * that of (1 - t) I + t S; 0 for triangles without area. */
EX_API ex_result ex_between_stretch(const ex_between *between, double t, const double *positions, ex_stretch *stretch,
                                    double *values, ex_error *error);

/* ---- in-betweens of several forms ---- */

/* Definition of in-betweens of several forms: a reference, and the examples that are mixed with it. */
typedef struct ex_betweens_def {
    int vertex_count;
    int triangle_count;
    const int *triangles;    /* [triangle_count][3] vertices */
    const double *reference; /* [vertex_count][3] */
    int example_count;
    const double *const
        *examples;               /* [example_count] of [vertex_count][3]; NULL for the reference; one at least is not */
    const char *const *names;    /* [example_count], optional: used in errors */
    int iterations;              /* as in ex_between_def */
    const ex_tasks *tasks;       /* optional */
    const ex_progress *progress; /* optional; returning false stops */
} ex_betweens_def;

/* In-betweens of several forms, immutable. With weights x_k and the reference at the remaining 1 - sum of x_k, a
 * triangle alone would turn by R(sum of x_k w_k) and have the stretch I + sum of x_k (S_k - I), with w_k and S_k those
 * of the in-between of the reference and example k. */
typedef struct ex_betweens ex_betweens;

/* Prepares them, as ex_between_create does for two forms; they share one factor. Results: as there. */
EX_API ex_result ex_betweens_create(const ex_betweens_def *def, ex_betweens **betweens, ex_error *error);
EX_API void ex_betweens_destroy(ex_betweens *betweens);

/* Computes the form at weights [example_count] by a method other than polynomial, [vertex_count][3], with the blended
 * alignment. Weights of the reference do not count. Results: ARGUMENT, MEMORY. */
EX_API ex_result ex_betweens_form(const ex_betweens *betweens, ex_between_method method, const double *weights,
                                  double *positions, ex_error *error);

/* Measures the stretch of a form at those weights, as ex_between_stretch does. */
EX_API ex_result ex_betweens_stretch(const ex_betweens *betweens, const double *weights, const double *positions,
                                     ex_stretch *stretch, double *values, ex_error *error);

/* ---- trajectories ---- */

#define EX_TRAJECTORY_LIST(X)                                                                                          \
    X(EX_TRAJECTORY_GUIDED, "guided") /* follow as-rigid-as-possible forms between all examples */                     \
    X(EX_TRAJECTORY_PAPER, "paper")   /* minimise the energies of the paper, equations 8 to 27 */

/* Ways to find trajectories, with the names that project files use. */
typedef enum ex_trajectory_mode {
#define EX_TRAJECTORY_ENUM(name, text) name,
    EX_TRAJECTORY_LIST(EX_TRAJECTORY_ENUM)
#undef EX_TRAJECTORY_ENUM
        EX_TRAJECTORY_MODE_COUNT
} ex_trajectory_mode;

/* Returns the name of a way to find trajectories. */
EX_API const char *ex_trajectory_mode_name(ex_trajectory_mode mode);

/* Settings for finding trajectories, as a project gives them; nothing here depends on the machine. */
typedef struct ex_trajectory_options {
    ex_trajectory_mode mode;
    int iterations; /* guided: iterations of the rigid in-betweens that a report compares with; paper: maximum number
                       of Gauss-Newton steps. 0: the default, 30 and 10 */

    /* guided */
    int corrector_count; /* correctors of the layer, at most EX_MIXTURE_CORRECTOR_MAX; with one example at most
                            EX_CORRECTOR_MAX are used; -1: the fewest that follow the rigid forms closely */

    /* paper */
    bool without_pose, without_rotation, without_gradient; /* terms left out */
    double pose_weight, rotation_weight, gradient_weight;  /* alpha, beta, gamma relative to those that give the terms'
                                                              Hessians equal norms; 0: the defaults 1, 0.1, 0.05 */
    bool bases;                                            /* true: append bases for segments (equations 26, 27) */
    double segment_angle; /* bandwidth of mean shift over the triangles' rotations, degrees; 0: the default, 20 */
    int root;             /* root segment; -1: the largest of those in the middle */
    const int *segments;  /* [triangle_count] given segments, -1: to be found; NULL: all are found */
} ex_trajectory_options;

/* Returns the defaults. */
EX_API ex_trajectory_options ex_trajectory_options_default(void);

/* Definition of trajectories: a reference form, and the examples they lead to. */
typedef struct ex_trajectories_def {
    int vertex_count;
    int triangle_count;
    const int *triangles;    /* [triangle_count][3] vertices */
    const double *reference; /* [vertex_count][3] */
    int example_count;
    const double *const *examples; /* [example_count] of [vertex_count][3]; NULL for the reference */
    const char *const *names;      /* [example_count], optional: used in errors */
    ex_trajectory_options options;
    const ex_tasks *tasks;       /* optional */
    const ex_progress *progress; /* optional; returning false stops */
} ex_trajectories_def;

/* The trajectories found, ready for an ex_layer_def. */
typedef struct ex_trajectories {
    int example_count;
    ex_trajectory *trajectories; /* [example_count]; with a mixture: only their screws */
    double centre[3];
    float *overlaps; /* [example_count] squared */
    ex_segments segments;
    int *triangle_segments; /* [triangle_count] if there are segments; else NULL */
    ex_mixture mixture;     /* guided; node_count is 0 in paper mode, or if at most one example is not the reference */
    double rigid[4];        /* guided: worst ratio, over the mixtures that were fitted, of a percentile of stretch to
                               the rigid form's */
    struct ex_trajectory_fit {
        int iterations; /* Gauss-Newton steps */
        bool converged;
        double energy[4]; /* weighted energies: total, pose, rotation, gradient */
    } * fits;             /* [example_count]; paper */
} ex_trajectories;

/* Finds the trajectories from the reference to every example. Guided ones keep their form between examples too: all
 * are fitted together, at mixtures from pairs to an equal share of all, and stored as a mixture. A single example has
 * correctors of its own instead. Results: ARGUMENT, DATA (example named), SINGULAR, MEMORY, LIMIT. */
EX_API ex_result ex_trajectories_create(const ex_trajectories_def *def, ex_trajectories **trajectories,
                                        ex_error *error);
EX_API void ex_trajectories_destroy(ex_trajectories *trajectories);

/* Computes the runtime's form at the given weights [example_count], in double: [vertex_count][3]. basis: -1 all; 0 all
 * but segments; k > 0 only the contribution of segment k - 1; each with the screw. def as for creation. Returns false
 * without memory. */
EX_API bool ex_trajectories_form(const ex_trajectories *trajectories, const ex_trajectories_def *def,
                                 const double *weights, int basis, double *positions);

/* ---- the report of `exemplar warp --report` ---- */

#define EX_WARP_TIME_COUNT 5 /* times 0.1, 0.3, 0.5, 0.7, 0.9 */
/* One method at one time, in the report of a warp. */
typedef struct ex_warp_row {
    const char *method; /* a name of EX_BETWEEN_LIST or EX_TRAJECTORY_LIST */
    double t;
    ex_stretch stretch;
    int crossing;    /* pairs of triangles that cross each other */
    double centroid; /* largest distance of a component's centroid from its position in the rigid in-between, as a
                        fraction of the mesh's size */
} ex_warp_row;

/* The report of a warp: every method at every time. */
typedef struct ex_warp_report {
    int row_count; /* methods times EX_WARP_TIME_COUNT */
    ex_warp_row *rows;
    int start_crossing, end_crossing;
    int component_count;
    double bytes; /* per vertex, read by the runtime: of this path, or of the mixture of all */
} ex_warp_report;

/* Measures every method from the reference to one example, including the trajectory. Results: MEMORY. */
EX_API ex_result ex_warp_report_create(const ex_trajectories_def *def, const ex_trajectories *trajectories, int example,
                                       ex_warp_report **report, ex_error *error);
EX_API void ex_warp_report_destroy(ex_warp_report *report);

/* ---- mixtures, as `exemplar warp --report` and `exemplar check` measure them ---- */

/* Stretches below this count as this in ratios: twice as much, 0.006, is still hard to see. */
#define EX_MIXTURE_FLOOR 0.003
/* A mixture is weak if its ratio is above the first, or if it has more folded triangles than the rigid form and the
 * second. */
#define EX_MIXTURE_RATIO_MAX 2.0
#define EX_MIXTURE_FOLD_MAX  3

/* Kinds of measured mixtures, with the names that reports use. */
#define EX_MIXTURE_LIST(X)                                                                                             \
    X(EX_MIXTURE_PATH, "path")     /* the reference and one example */                                                 \
    X(EX_MIXTURE_PAIR, "pair")     /* two examples */                                                                  \
    X(EX_MIXTURE_THIRDS, "thirds") /* a third of each of three poses */                                                \
    X(EX_MIXTURE_ALL, "all")       /* an equal share of all poses */                                                   \
    X(EX_MIXTURE_RANDOM, "random") /* random weights of some poses */                                                  \
    X(EX_MIXTURE_GIVEN, "given")   /* weights of the caller */

typedef enum ex_mixture_kind {
#define EX_MIXTURE_ENUM(name, text) name,
    EX_MIXTURE_LIST(EX_MIXTURE_ENUM)
#undef EX_MIXTURE_ENUM
        EX_MIXTURE_KIND_COUNT
} ex_mixture_kind;

/* Returns the name of a kind of mixture. */
EX_API const char *ex_mixture_kind_name(ex_mixture_kind kind);

/* Things that would mend a weak mixture, with the names that reports use. */
#define EX_MIXTURE_REMEDY_LIST(X)                                                                                      \
    X(EX_MIXTURE_SOUND, "none")            /* nothing to mend */                                                       \
    X(EX_MIXTURE_TO_GUIDED, "guided")      /* guided trajectories instead of the paper's */                            \
    X(EX_MIXTURE_TO_BETWEEN, "between")    /* a pose between two of them: parts turn by more than 150 degrees */       \
    X(EX_MIXTURE_TO_LAYERS, "layers")      /* a layer for each pose: they move different parts */                      \
    X(EX_MIXTURE_TO_CORRECT, "correctors") /* more correctors than were asked for */                                   \
    X(EX_MIXTURE_TO_SCULPT, "example")     /* an example at this mixture */

typedef enum ex_mixture_remedy {
#define EX_MIXTURE_ENUM(name, text) name,
    EX_MIXTURE_REMEDY_LIST(EX_MIXTURE_ENUM)
#undef EX_MIXTURE_ENUM
        EX_MIXTURE_REMEDY_COUNT
} ex_mixture_remedy;

/* Returns the name of a remedy. */
EX_API const char *ex_mixture_remedy_name(ex_mixture_remedy remedy);

/* Options of measuring mixtures. Poses are the reference and the examples. */
typedef struct ex_mixture_options {
    int most;            /* largest number of chosen mixtures, besides random ones; 0: the default, 200 for meshes of up
                            to 30 000 triangles, fewer for larger ones, at least 24 */
    int random_count;    /* random mixtures, if there are three poses or more; default 20 */
    const double *given; /* [given_count][example_count], optional: measured instead of chosen and random ones */
    int given_count;
} ex_mixture_options;

/* Returns the defaults. */
EX_API ex_mixture_options ex_mixture_options_default(void);

/* A measured mixture. */
typedef struct ex_measured_mixture {
    ex_mixture_kind kind;
    int number;            /* in the order of choosing, or of the given ones, from 0 */
    const double *weights; /* [example_count]; 0 for the reference, */
    double rest;           /* which has the rest, 1 minus their sum */
    ex_stretch path;       /* of the trajectories, */
    ex_stretch rigid;      /* of the as-rigid-as-possible form, */
    ex_stretch linear;     /* and of straight lines */
    double ratio;          /* 99th percentile of the path over that of the rigid form, both at least EX_MIXTURE_FLOOR */
    double ratio_999;      /* the same for the 99.9th percentile */
} ex_measured_mixture;

/* Mixtures of some trajectories, compared with as-rigid-as-possible forms. */
typedef struct ex_mixture_report {
    int example_count;
    int mixture_count;
    ex_measured_mixture *mixtures; /* the largest ratio first */
    int candidate_count;           /* chosen from that many, random ones included */
    int weak_count;                /* mixtures beyond EX_MIXTURE_RATIO_MAX or EX_MIXTURE_FOLD_MAX */
    double median;                 /* of the ratios */
    int worst;                     /* the first mixture, or, if its ratio is not weak, the one with the most folds */
    ex_mixture_remedy remedy;      /* for that one */
    double turn;                   /* degrees: of that one's poses, the two between which parts turn farthest; 99 % of
                                      the area turns by less */
    int turned[2];                 /* these two poses: examples, -1 for the reference */
    double *weights;               /* [mixture_count][example_count]: those of the mixtures, in the order of choosing */
} ex_mixture_report;

/*
 * Measures mixtures of all examples. These are chosen, in this order, until there are `most`: midpoints of all pairs of
 * poses, the reference included; the paths from the reference at t = 0.9, 0.1, 0.7, 0.3, 0.95, 0.05, 0.8, 0.2, 0.6,
 * 0.4; thirds of all triples; all other pairs at these times. If there are too many, midpoints get at most a third,
 * paths at most half of the others, thirds at most half of the rest. Up to ten pairs at 1 + 1 are added, of examples
 * that move different parts (overlaps below 0.1): there both motions happen at once. So are an equal share of all, and
 * random ones: uniform weights, in hundredths, of 3, 5 and 8 poses in turn. All of it depends on the numbers of poses
 * and triangles and on the overlaps alone.
 *
 * Cost: a rigid form for each, about 0.1 s for 26 000 triangles on one core; they are spread over def->tasks.
 * Results: ARGUMENT, DATA, MEMORY, LIMIT, SINGULAR, and FILE if def->progress stops it.
 */
EX_API ex_result ex_mixture_report_create(const ex_trajectories_def *def, const ex_trajectories *trajectories,
                                          const ex_mixture_options *options, ex_mixture_report **report,
                                          ex_error *error);
EX_API void ex_mixture_report_destroy(ex_mixture_report *report);

/* True if a mixture is weak. */
EX_API bool ex_mixture_is_weak(const ex_measured_mixture *mixture);

/* Writes a mixture in words: "0.5 kick + 0.3 leap + 0.2 stand". reference: the name of the reference. Examples without
 * a name are numbered from 1. Ends with an ellipsis if text, of that size, has no room for all. Returns text. */
EX_API const char *ex_mixture_words(const ex_trajectories_def *def, const double *weights, const char *reference,
                                    char *text, size_t size);

/* Computes the two forms of a mixture [vertex_count][3], and the stretch of their triangles [triangle_count]. Results:
 * as above. */
EX_API ex_result ex_mixture_forms(const ex_trajectories_def *def, const ex_trajectories *trajectories,
                                  const double *weights, double *path, double *path_values, double *rigid,
                                  double *rigid_values, ex_error *error);

#ifdef __cplusplus
}
#endif
#endif
