/*
 * exemplar/weigh.h - from a point in a space to one weight per example.
 *
 * A space is a list of axes; a point is a row of doubles, one for a scalar axis, four (quaternion x y z w) for an axis
 * that is a rotation, one per example for an axis that is the form of a driver mesh. A weigher is an immutable solved
 * space: it may be evaluated from any number of threads at once, and an edit makes a new one, in microseconds for the
 * usual dozen of examples. Forms live elsewhere (exemplar/shape.h): a weigher knows where examples are, not what they
 * look like.
 */
#ifndef EXEMPLAR_WEIGH_H
#define EXEMPLAR_WEIGH_H

#include <exemplar/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How an axis measures its input. */
typedef enum ex_axis_kind {
    EX_AXIS_SCALAR,   /* a number: a dial, or an angle in degrees */
    EX_AXIS_ROTATION, /* a whole rotation: q and -q are the same point */
    EX_AXIS_SWING,    /* a rotation without its turn about `about`: where that direction points */
    EX_AXIS_TWIST,    /* a rotation's turn about `about` alone, on the circle: a full turn comes back */
    EX_AXIS_DRIVER,   /* the form b of a driver mesh, as its inner products with the examples' driver forms P_k: sums
                         over vertices of their weight times (P_k - o) . (b - o), where the form o is any origin, the
                         same for all and best near the examples. So the examples' own points are the rows of their
                         Gram matrix. Convex weighers only */
    EX_AXIS_KIND_COUNT
} ex_axis_kind;

typedef struct ex_axis {
    ex_axis_kind kind;
    double min, max;         /* scalar: the range, max > min; values outside extrapolate unless clamp is set */
    double rest;             /* scalar: the value at rest, and what a non-finite input reads as */
    double rest_rotation[4]; /* rotations: the same; a zero quaternion is the identity */
    double about[3];         /* swing and twist: the axis turned about, of any length but zero */
    double scale;            /* what a unit of difference counts for in distances; 0: the default, which is
                                1/(max - min) for scalars; for rotations 1/2 per chord 2 sin(angle/2) in cardinal
                                and gaussian weighers, and 1 per half turn in shepard and nearest */
    bool clamp;              /* scalar: limit the input to [min, max] */
    int width;               /* driver: numbers in a point, the number of examples */
} ex_axis;

/* A scalar axis, unclamped, with the default scale. */
EX_API ex_axis ex_axis_scalar(double min, double max, double rest);
/* A rotation axis of one of the three kinds about the given direction (ignored for whole rotations; NULL is y). */
EX_API ex_axis ex_axis_rotation(ex_axis_kind kind, const double about[3]);
/* The form of a driver mesh, beside so many examples. At rest it has the form of the first example. */
EX_API ex_axis ex_axis_driver(int example_count);
/* Numbers that one axis takes in a point: 1 or 4; of a driver, one per example. */
EX_API int ex_axis_width(const ex_axis *axis);

/* Kernels of the cardinal weigher, with the names that project files use. r is the distance over the radius. */
#define EX_KERNEL_LIST(X)                                                                                              \
    X(EX_KERNEL_BSPLINE, "bspline")                           /* cubic B-spline, support 2; the paper's choice */      \
    X(EX_KERNEL_GAUSSIAN, "gaussian")                         /* exp(-r^2/2) */                                        \
    X(EX_KERNEL_WENDLAND, "wendland")                         /* (1 - r/2)^4 (2r + 1), support 2 */                    \
    X(EX_KERNEL_INVERSE_MULTIQUADRIC, "inverse_multiquadric") /* 1/sqrt(1 + r^2) */                                    \
    X(EX_KERNEL_THIN_PLATE, "thin_plate")                     /* r^2 log r */                                          \
    X(EX_KERNEL_BIHARMONIC, "biharmonic")                     /* r */                                                  \
    X(EX_KERNEL_TRIHARMONIC, "triharmonic")                   /* r^3 */                                                \
    X(EX_KERNEL_MULTIQUADRIC, "multiquadric")                 /* sqrt(1 + r^2) */

typedef enum ex_kernel {
#define EX_KERNEL_ENUM(name, text) name,
    EX_KERNEL_LIST(EX_KERNEL_ENUM)
#undef EX_KERNEL_ENUM
        EX_KERNEL_COUNT
} ex_kernel;

/* Kinds of weigher, with the words that project files use. A kind is a line here and a file of that name, which has
 * its parameters and all that is known of it (docs/adding-a-weigher.md). Rig files store the number: new kinds go last.
 */
#define EX_WEIGHER_LIST(X)                                                                                             \
    X(EX_WEIGHER_CARDINAL, cardinal) /* plane plus radial bases, exact at examples, extrapolates */                    \
    X(EX_WEIGHER_DIRECT, direct)     /* the axes are the weights; example i belongs to axis i */                       \
    X(EX_WEIGHER_SHEPARD, shepard)   /* inverse distance to a power, never outside [0, 1] */                           \
    X(EX_WEIGHER_NEAREST, nearest)   /* the k nearest examples, continuous as the set changes */                       \
    X(EX_WEIGHER_GAUSSIAN, gaussian) /* radial bases with a falloff each, exact at examples, 0 far away */             \
    X(EX_WEIGHER_CONVEX, convex)     /* the nearest blend of driver forms, never outside [0, 1] */

typedef enum ex_weigher_kind {
#define EX_WEIGHER_ENUM(name, word) name,
    EX_WEIGHER_LIST(EX_WEIGHER_ENUM)
#undef EX_WEIGHER_ENUM
        EX_WEIGHER_COUNT
} ex_weigher_kind;

EX_API const char *ex_kernel_name(ex_kernel kernel);
EX_API const char *ex_weigher_kind_name(ex_weigher_kind kind);

/* The most points a space may have, pseudo-examples included: the solve then takes a matrix of 2 GB. */
#define EX_POINT_MAX 16384
/* The largest weight, up or down, that may be given to a pseudo-example. */
#define EX_WEIGHT_MAX 1e6
/* The most axes a space may have, other than a direct one. */
#define EX_AXIS_MAX 256
/* The most examples a convex weigher may have. */
#define EX_CONVEX_MAX 1024
/* The most examples that it blends at once where the caller gives no scratch memory (ex_weigher_evaluate_from). */
#define EX_CONVEX_STACK 64
/* The most neighbours a nearest weigher may use. */
#define EX_NEIGHBOUR_MAX 64
/* The condition number, in the 1-norm, above which a gaussian weigher adds a ridge of its own. */
#define EX_CONDITION_LIMIT 1e9

/*
 * A pseudo-example: at point `at`, the weights are those that the real examples alone give at `from`, or, where `from`
 * is NULL, the given `weights` [example_count]. It reshapes the space and costs no form.
 */
typedef struct ex_pseudo {
    const double *at;
    const double *from;
    const double *weights;
} ex_pseudo;

typedef struct ex_weigher_def {
    ex_weigher_kind kind; /* default cardinal */
    const ex_axis *axes;
    int axis_count;    /* 1 to EX_AXIS_MAX */
    int example_count; /* at least 1 */
    int pseudo_count;
    const double *points;     /* [example_count][dimension]; direct: NULL */
    const ex_pseudo *pseudos; /* [pseudo_count]; not for direct */
    const char *const *names; /* [example_count] or NULL: used in errors only */

    ex_kernel kernel; /* cardinal; default bspline */
    bool linear;      /* cardinal; default true: a plane over the scalar axes. false: a constant only, so that weights
                         still sum to 1; thin_plate and triharmonic need the plane */
    double radius;    /* cardinal; default 1: factor on every point's radius, the distance to its nearest other point
                         (their mean, the same for all, for thin_plate, biharmonic, triharmonic, multiquadric) */
    double ridge;     /* cardinal; default 0: added to the diagonal with the sign that smooths; above 0, examples are
                         approached, not reached. gaussian; default 0: none where the system's condition number is
                         within EX_CONDITION_LIMIT, else as much as brings it there (ex_weigher_get_ridge). convex;
                         default 0, which means 1e-9: how much the distances of the blended examples themselves count
                         beside the distance of the blend; decides between blends that are equally near, examples are
                         reached all the same */
    double power;     /* shepard; default 2, above 0 */
    int neighbours;   /* nearest; default 8, 1 to EX_NEIGHBOUR_MAX */
    bool paper_form;  /* nearest; default false: threshold at the k-th distance as printed in the paper, not the
                         (k+1)-th; equidistant examples then share equally */

    /* gaussian; points are the examples, then the pseudo-examples */
    const double *falloffs; /* [points][axis_count], or NULL: how far a point reaches along an axis, in distances of
                               the space (a difference, or a rotation's chord, times the axis's scale). 0: the default,
                               the mean distance of a point to its nearest other one */
    const double *metrics;  /* [points][scalar axes][scalar axes], or NULL: in place of the falloffs of the scalar axes,
                               r^2 = d' M d for scaled differences d; symmetric and positive definite, or all 0 where
                               the falloffs hold */
    const uint32_t *sets; /* [set_count][(example_count + 31) / 32] words, example k at bit k % 32 of word k / 32: sets
                             of examples, not empty, for which weights are solved as if there were no others
                             (ex_weigher_evaluate_sets); or NULL */
    int set_count;
} ex_weigher_def;

typedef struct ex_weigher ex_weigher;

/* A cardinal weigher, with every parameter of every kind at its default. */
EX_API ex_weigher_def ex_weigher_def_default(void);
/* A direct weigher of so many scalar axes and examples, as blend shapes have it. The axes [count] stay the caller's. */
EX_API ex_weigher_def ex_weigher_def_direct(const ex_axis *axes, int count);

/* ---- kinds and their parameters ---- */

typedef enum ex_parameter_type {
    EX_PARAMETER_NUMBER, /* a double */
    EX_PARAMETER_WHOLE,  /* a whole number: an int */
    EX_PARAMETER_SWITCH, /* a bool */
    EX_PARAMETER_CHOICE  /* one of a few words: an enum, or a bool where they are two */
} ex_parameter_type;

typedef struct ex_parameter_word {
    const char *name; /* as in project files */
    const char *help; /* part of a sentence, for who chooses */
} ex_parameter_word;

/*
 * A parameter of a kind of weigher: everything that reads, writes, shows or edits one is made from this. Values are
 * doubles here, whatever the type: a switch is 0 or 1, a choice the index of its word.
 */
typedef struct ex_parameter {
    const char *name; /* as in project files, and everywhere else */
    const char *help; /* a sentence or two on what it does, for who chooses a value */
    ex_parameter_type type;
    size_t offset, size; /* of its field in ex_weigher_def, in bytes */
    double preset;       /* the default */
    double least, most;  /* numbers: the range; most may be INFINITY */
    bool above;          /* numbers: least itself is out of the range */
    double usual[2];     /* numbers: what a slider runs over, from and to, in equal factors where both are above 0 (a
                            least of 0 stands at its end all the same), else, and for whole numbers, in equal steps; to
                            INFINITY: to the number of examples */
    const ex_parameter_word *words; /* choices: [word_count] */
    int word_count;
    bool rare; /* left out of a project that is written where it has its default */
} ex_parameter;

/* What is known of a kind. */
typedef struct ex_weigher_info {
    const char *help;               /* a sentence or two, for who chooses a kind */
    const ex_parameter *parameters; /* [parameter_count] */
    int parameter_count;
    bool has_points;    /* examples stand at points of the space; if not, the axes are the weights */
    bool has_falloffs;  /* every point may have a falloff or a metric of its own */
    bool has_sets;      /* weights can be solved for sets of examples (ex_weigher_evaluate_sets) */
    bool has_condition; /* solves a system, of which ex_weigher_condition tells the condition number */
    bool raises_ridge;  /* adds a ridge by itself where that system can hardly be solved (ex_weigher_get_ridge) */
    bool is_driven;     /* weighs the form of a driver: one of its axes is EX_AXIS_DRIVER */
    bool has_gpu_code;  /* ex_cuda_rig_create takes layers of this kind */
} ex_weigher_info;

/* Kinds are numbered from 0; a number that is none has no parameters, and nothing is true of it. Lives as long as the
 * program. */
EX_API const ex_weigher_info *ex_weigher_kind_info(ex_weigher_kind kind);
EX_API int ex_weigher_kind_count(void);
/* That of a weigher's own kind. */
EX_API const ex_weigher_info *ex_weigher_get_info(const ex_weigher *weigher);

EX_API double ex_parameter_get(const ex_parameter *parameter, const ex_weigher_def *def);
/* The value must be one that ex_parameter_check allows. */
EX_API void ex_parameter_set(const ex_parameter *parameter, ex_weigher_def *def, double value);
/* ARGUMENT where a value is out of the range; the error's text is the end of a sentence: "must be above 0". */
EX_API ex_result ex_parameter_check(const ex_parameter *parameter, double value, ex_error *error);
/* The first parameter of def's kind that is out of its range or does not go with the others; NULL where none is. The
 * error's text is the end of a sentence, as above. */
EX_API const ex_parameter *ex_weigher_check_parameters(const ex_weigher_def *def, ex_error *error);
/* A parameter with its value, for people: "radius 1", "k 8", "linear" or "not linear", "bspline". Returns what snprintf
 * does. */
EX_API int ex_parameter_text(const ex_parameter *parameter, double value, char *text, size_t size);

/*
 * Solves a space. Cost: with n points (pseudo-examples included) and m examples, about n^3/3 + n^2 m multiplications in
 * double; one allocation of about 8 n m bytes that is kept, and scratch of about 8 n (2 n + m) bytes that is not.
 * Everything in def is copied. Results: ARGUMENT (a parameter outside its range), DATA (a number that is not finite),
 * SINGULAR (two points at one place, named; or a system without solution), MEMORY, LIMIT.
 */
EX_API ex_result ex_weigher_create(const ex_weigher_def *def, const ex_allocator *allocator, ex_weigher **weigher,
                                   ex_error *error);

/* Gives the weigher's memory back. NULL is fine. Not for weighers that belong to a rig. */
EX_API void ex_weigher_destroy(ex_weigher *weigher);

/*
 * Weights [example_count] at a point [dimension]. Cannot fail: a non-finite number reads as the axis's rest value, a
 * zero quaternion as the identity, and scalars are limited to a million ranges from rest. point NULL means rest
 * everywhere. Allocates nothing; cost about n (m + distance) multiplications, less where kernels have compact support.
 */
EX_API void ex_weigher_evaluate(const ex_weigher *weigher, const double *point, double *weights);

/*
 * The same with what only the caller can keep. state: where to start from, [ex_weigher_state_size] bytes of the
 * caller's that go from frame to frame; zeros, or anything else, are a valid beginning; NULL for none. It saves time
 * where points follow a smooth path and changes no weight by more than 1e-9. scratch: ex_weigher_scratch_size bytes,
 * aligned to 8, or NULL. A convex weigher that is given none blends EX_CONVEX_STACK examples at most, which matters
 * only where it has more than that. Both sizes are 0 for kinds that need none, for which this is ex_weigher_evaluate.
 */
EX_API void ex_weigher_evaluate_from(const ex_weigher *weigher, const double *point, double *weights, void *state,
                                     void *scratch);
EX_API size_t ex_weigher_state_size(const ex_weigher *weigher);
EX_API size_t ex_weigher_scratch_size(const ex_weigher *weigher);

/*
 * The squared distance |sum of w_k P_k - b|^2 of a driver form b from a blend of the examples of a convex weigher: with
 * the weights found at that point, its distance from the hull of the examples. `self` is <b, b>, measured as the point
 * is. Rounding leaves about 1e-15 times the largest square among b and the examples, which is why the origin should be
 * near them; never below 0. 0 for the other kinds.
 */
EX_API double ex_weigher_hull_distance_sq(const ex_weigher *weigher, const double *point, double self,
                                          const double *weights);

/*
 * The same for every set of examples of a gaussian weigher, one set after the other: weights of its examples, in their
 * order [ex_weigher_set_weight_count]. In each set, the others' points do not count, and pseudo-examples that were
 * drawn from a place are drawn from the set's own examples. weights may be NULL.
 */
EX_API void ex_weigher_evaluate_sets(const ex_weigher *weigher, const double *point, double *weights,
                                     double *set_weights);
/* Examples of all sets together; 0 for other kinds. */
EX_API int ex_weigher_set_weight_count(const ex_weigher *weigher);

/* What can be changed in a space without touching a form. */
typedef enum ex_edit_kind {
    EX_EDIT_MOVE_EXAMPLE,   /* example `index` to `at` */
    EX_EDIT_ADD_EXAMPLE,    /* a new last example at `at`; the caller provides its form elsewhere */
    EX_EDIT_REMOVE_EXAMPLE, /* example `index`; given weights of pseudo-examples lose that entry and keep their sum
                               where the rest of it is not 0 */
    EX_EDIT_MOVE_PSEUDO,    /* pseudo-example `index` to `at`; and its source to `from` or `weights` if given */
    EX_EDIT_ADD_PSEUDO,     /* a new last pseudo-example at `at`, drawn from `from` or given `weights` */
    EX_EDIT_REMOVE_PSEUDO,  /* pseudo-example `index` */
    EX_EDIT_FALLOFF         /* gaussian: the falloff of point `index` (examples first) to `falloff` */
    /* A convex weigher knows the first three. Its driver axis is as wide as it has examples at that edit's turn: a new
       example's `at` ends with its product with itself, and all `at` are read by the others too, as a column. */
} ex_edit_kind;

typedef struct ex_edit {
    ex_edit_kind kind;
    int index;
    const double *at;      /* [dimension] of this weigher: its axes in their order (convex: see above) */
    const double *from;    /* the same */
    const double *weights; /* [example_count] as it is when this edit comes to its turn */
    const double *falloff; /* [axis_count] as in ex_weigher_def.falloffs; also of a new example or pseudo-example, NULL
                              there: the default */
} ex_edit;

/* A new weigher, as the old one after edits in their order; the caller's, to be given back with ex_weigher_destroy. The
 * old one stays as it is. Same results and cost as ex_weigher_create. */
EX_API ex_result ex_weigher_edit(const ex_weigher *weigher, const ex_edit *edits, int edit_count,
                                 const ex_allocator *allocator, ex_weigher **edited, ex_error *error);

/*
 * The definition a weigher was made from. Pointers in def and pseudos point into the weigher; axes [axis_count] and
 * pseudos [pseudo_count] are the caller's arrays, or NULL where not wanted. names is set to NULL.
 */
EX_API void ex_weigher_describe(const ex_weigher *weigher, ex_weigher_def *def, ex_axis *axes, ex_pseudo *pseudos);

EX_API ex_weigher_kind ex_weigher_get_kind(const ex_weigher *weigher);
EX_API int ex_weigher_axis_count(const ex_weigher *weigher);
EX_API int ex_weigher_example_count(const ex_weigher *weigher);
EX_API int ex_weigher_pseudo_count(const ex_weigher *weigher);
/* Numbers in a point: the sum of the axes' widths. */
EX_API int ex_weigher_dimension(const ex_weigher *weigher);
/* Where example `index` is, or pseudo-example `index - example_count`: [dimension], in the weigher. Direct: NULL. */
EX_API const double *ex_weigher_point(const ex_weigher *weigher, int index);
/* The distance that this weigher measures between two points [dimension]. Direct: 0. Convex: that of its scalar axis.
 */
EX_API double ex_weigher_distance(const ex_weigher *weigher, const double *a, const double *b);

/* The ridge of a gaussian weigher, over its sets the largest. */
typedef struct ex_ridge {
    double ridge;     /* 0: none, the examples are reached exactly */
    double condition; /* without it */
    int point;        /* where it was added by itself: the point to blame (examples first), else -1 */
    double falloff;   /* that point's largest falloff, in distances of the space */
} ex_ridge;
EX_API ex_ridge ex_weigher_get_ridge(const ex_weigher *weigher);

/*
 * The condition number, in the 1-norm, of the system a cardinal or gaussian weigher solved; 1 for the other kinds.
 * Costs as much as the solve; for checks, not for frames.
 */
EX_API ex_result ex_weigher_condition(const ex_weigher *weigher, const ex_allocator *allocator, double *condition,
                                      ex_error *error);

/* ---- drivers: meshes whose form is an input ---- */

/* The most moving frames of a driver, and regions of a layer. */
#define EX_DRIVER_FRAME_MAX 1024

/*
 * A driver and its moving frames (DrivenShape, 2.7). A frame is the rigid motion that brings some vertices of the
 * reference nearest to where they are, in the sense of weighted squares: of the whole driver, as in the paper, or of a
 * part, so that what lies near is carried along. One without vertices stays where it is, or goes where the caller says
 * (a joint).
 */
typedef struct ex_driver_def {
    int vertex_count;
    const float *reference;   /* [vertex_count][3] */
    int frame_count;          /* 1 to EX_DRIVER_FRAME_MAX */
    const uint32_t *starts;   /* [frame_count + 1]: frame f is fitted to entries starts[f] to starts[f + 1] */
    const uint32_t *vertices; /* [starts[frame_count]] */
    const float *weights;     /* [starts[frame_count]], above 0 */
} ex_driver_def;

typedef struct ex_driver ex_driver;

/* One allocation, of 20 bytes an entry. Results: ARGUMENT, DATA (a vertex out of range, a number not finite), LIMIT,
 * MEMORY. */
EX_API ex_result ex_driver_create(const ex_driver_def *def, const ex_allocator *allocator, ex_driver **driver,
                                  ex_error *error);
EX_API void ex_driver_destroy(ex_driver *driver);
EX_API int ex_driver_vertex_count(const ex_driver *driver);
EX_API int ex_driver_frame_count(const ex_driver *driver);

/* The frames' motions from the reference to a form [vertex_count][3], as matrices [frame_count][12] of three rows of
 * four. Those of frames without vertices, or with one that is not finite, become the identity. About 150 ns a frame and
 * 6 an entry. */
EX_API void ex_driver_place(const ex_driver *driver, const float *form, float *matrices);

/* How a region looks at the driver: at which vertices, and in which moving frame. */
typedef struct ex_region {
    int frame;
    int count;                /* at least 1 */
    const uint32_t *vertices; /* [count] */
    const float *weights;     /* [count], above 0: the metric of its inner products */
} ex_region;

typedef struct ex_regions_def {
    const ex_driver *driver;
    int view_count; /* one a region: 1 to EX_DRIVER_FRAME_MAX */
    const ex_region *views;
    int key_count;                  /* 1 to EX_CONVEX_MAX */
    const float *const *keys;       /* [key_count] of [vertex_count][3]: forms of the driver */
    const float *const *key_places; /* [key_count] of [frame_count][12], each may be NULL: the frames' motions there, in
                                       place of what is fitted; or NULL */
} ex_regions_def;

/* The keys of a driver as the regions of a layer see them: what turns a form of the driver into a point on the driver
 * axis of a convex weigher. */
typedef struct ex_regions ex_regions;

/* One allocation of 4 bytes a key, coordinate and vertex looked at. Results as above; LIMIT also above 2^27 products of
 * keys with keys, over all regions. */
EX_API ex_result ex_regions_create(const ex_regions_def *def, const ex_allocator *allocator, ex_regions **views,
                                   ex_error *error);
EX_API void ex_regions_destroy(ex_regions *views);
/* The keys' own points on the driver axis, [key_count][view_count][key_count]: their Gram matrices. */
EX_API void ex_regions_points(const ex_regions *views, double *points);
/* The point of a form [vertex_count][3] whose frames are at `matrices`: [view_count][key_count], and the squares of the
 * form itself [view_count] (ex_weigher_hull_distance_sq), which may be NULL. A vertex that is not finite counts as the
 * keys' mean. */
EX_API void ex_regions_measure(const ex_regions *views, const float *form, const float *matrices, double *point,
                               double *squares);

#ifdef __cplusplus
}
#endif
#endif
