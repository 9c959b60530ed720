/*
 * exemplar/weigh.h - turn a point in a space into one weight per example.
 *
 * A space is a list of axes. A point is a row of doubles: one for a scalar axis, four (quaternion x y z w) for a
 * rotation axis, one per example for an axis that is the form of a driver mesh. A weigher is an immutable, solved
 * space. Any number of threads may evaluate it at once. An edit makes a new weigher, in microseconds for a dozen
 * examples. Forms are separate (exemplar/shape.h): a weigher knows where examples are, not what they look like.
 */
#ifndef EXEMPLAR_WEIGH_H
#define EXEMPLAR_WEIGH_H

#include <exemplar/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of axis: how an axis measures its input. */
typedef enum ex_axis_kind {
    EX_AXIS_SCALAR,   /* a number: a dial, or an angle in degrees */
    EX_AXIS_ROTATION, /* a whole rotation: q and -q are the same point */
    EX_AXIS_SWING,    /* a rotation without its turn about `about`: the direction in which `about` points */
    EX_AXIS_TWIST,    /* only the turn of a rotation about `about`, on the circle: a full turn is no turn */
    EX_AXIS_DRIVER,   /* the form b of a driver mesh, given by its inner products with the examples' driver forms
                         P_k: sums over vertices of their weight times (P_k - o) . (b - o). The origin o is any form,
                         the same for all examples and best near them. The examples' own points are thus the rows of
                         their Gram matrix. Convex weighers only */
    EX_AXIS_KIND_COUNT
} ex_axis_kind;

/* Behaviour of a weigher beyond its outermost points on an axis, with the words that project files use. A rotation has
 * no outermost points: it is held by coming round, and fades by its distance from the nearest point. */
#define EX_LIMIT_LIST(X)                                                                                               \
    X(EX_LIMIT_KIND, "kind")               /* what its kind does: calm holds, all others extrapolate */                \
    X(EX_LIMIT_HOLD, "hold")               /* the weights stay what they are at the end */                             \
    X(EX_LIMIT_FADE, "fade")               /* all weights fall to 0, within the mean distance of neighbours */         \
    X(EX_LIMIT_EXTRAPOLATE, "extrapolate") /* the weights go on, as the kind's formula says */

typedef enum ex_limit {
#define EX_LIMIT_ENUM(name, text) name,
    EX_LIMIT_LIST(EX_LIMIT_ENUM)
#undef EX_LIMIT_ENUM
        EX_LIMIT_COUNT
} ex_limit;

/* An axis of a space. */
typedef struct ex_axis {
    ex_axis_kind kind;
    double min, max;         /* scalar: the range, max > min; values outside extrapolate unless clamp is set */
    double rest;             /* scalar: the value at rest; a non-finite input reads as this */
    double rest_rotation[4]; /* rotations: the same; a zero quaternion is the identity */
    double about[3];         /* swing and twist: axis of the turn, of any length but zero */
    double scale;            /* distance per unit of difference; 0: the default, which is 1/(max - min) for scalars;
                                for rotations 1/2 per chord 2 sin(angle/2) in cardinal and gaussian weighers, and 1
                                per half turn in shepard and nearest */
    bool clamp;              /* scalar: true to limit the input to [min, max] */
    ex_limit limit;          /* what happens outside of the points on this axis; for kinds with points, not convex */
    int width;               /* driver: numbers in a point, which is the number of examples */
} ex_axis;

/* Returns a scalar axis, unclamped, with the default scale. */
EX_API ex_axis ex_axis_scalar(double min, double max, double rest);
/* Returns a rotation axis of one of the three kinds about the given direction (ignored for whole rotations; NULL is
 * y). */
EX_API ex_axis ex_axis_rotation(ex_axis_kind kind, const double about[3]);
/* Returns a driver axis for example_count examples. At rest it has the form of the first example. */
EX_API ex_axis ex_axis_driver(int example_count);
/* Returns the number of values that an axis takes in a point: 1 or 4; for a driver, one per example. */
EX_API int ex_axis_width(const ex_axis *axis);

/* Kernels of the cardinal weigher, with the names that project files use. r is the distance divided by the radius. */
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

/* Kinds of weigher, with the words that project files use. A kind is one line here and one source file of that name,
 * which describes the kind and its parameters (docs/guides/add-a-weigher.md). Rig files store the number: new kinds go
 * last. */
#define EX_WEIGHER_LIST(X)                                                                                             \
    X(EX_WEIGHER_CARDINAL, cardinal) /* plane plus radial bases, exact at examples, extrapolates */                    \
    X(EX_WEIGHER_DIRECT, direct)     /* the axes are the weights; example i has axis i */                              \
    X(EX_WEIGHER_SHEPARD, shepard)   /* inverse distance to a power, never outside [0, 1] */                           \
    X(EX_WEIGHER_NEAREST, nearest)   /* the k nearest examples; continuous when the set of neighbours changes */       \
    X(EX_WEIGHER_GAUSSIAN, gaussian) /* radial bases, each with its own falloff; exact at examples, 0 far away */      \
    X(EX_WEIGHER_CONVEX, convex)     /* the nearest blend of driver forms, never outside [0, 1] */                     \
    X(EX_WEIGHER_CALM, calm)         /* exact at examples, weights within a bound, holds its ends; does not ring */    \
    X(EX_WEIGHER_MOTION, motion)     /* learned from the motion of a driver (exemplar/predict.h) */

typedef enum ex_weigher_kind {
#define EX_WEIGHER_ENUM(name, word) name,
    EX_WEIGHER_LIST(EX_WEIGHER_ENUM)
#undef EX_WEIGHER_ENUM
        EX_WEIGHER_COUNT
} ex_weigher_kind;

/* Return the names of a kernel, of a kind and of a limit, as project files write them. */
EX_API const char *ex_kernel_name(ex_kernel kernel);
EX_API const char *ex_limit_name(ex_limit limit);
EX_API const char *ex_weigher_kind_name(ex_weigher_kind kind);

/* Maximum number of points of a space, pseudo-examples included: the solve then takes a matrix of 2 GB. */
#define EX_POINT_MAX 16384
/* Maximum size, positive or negative, of a weight given to a pseudo-example. */
#define EX_WEIGHT_MAX 1e6
/* Maximum number of axes of a space, unless its weigher is direct. */
#define EX_AXIS_MAX 256
/* Maximum number of examples of a convex weigher. */
#define EX_CONVEX_MAX 1024
/* Maximum number of examples that a convex weigher blends at once if the caller gives no scratch memory
 * (ex_weigher_evaluate_from). */
#define EX_CONVEX_STACK 64
/* Maximum number of neighbours of a nearest weigher. */
#define EX_NEIGHBOUR_MAX 64
/* The condition number, in the 1-norm, above which a gaussian weigher adds a ridge automatically. */
#define EX_CONDITION_LIMIT 1e9

/*
 * A pseudo-example: at point `at`, the weights are those that the real examples alone give at `from`, or, if `from` is
 * NULL, the given `weights` [example_count]. It reshapes the space and needs no form.
 */
typedef struct ex_pseudo {
    const double *at;
    const double *from;
    const double *weights;
} ex_pseudo;

/* Definition of a weigher: axes, points of the examples, kind and parameters. */
typedef struct ex_weigher_def {
    ex_weigher_kind kind; /* default cardinal */
    const ex_axis *axes;
    int axis_count;    /* 1 to EX_AXIS_MAX */
    int example_count; /* at least 1 */
    int pseudo_count;
    const double *points;     /* [example_count][dimension]; direct: NULL */
    const ex_pseudo *pseudos; /* [pseudo_count]; not for direct */
    const char *const *names; /* [example_count] or NULL: for error messages */

    ex_kernel kernel; /* cardinal; default bspline */
    bool linear;      /* cardinal, calm; default true: a plane over the scalar axes. false: only a constant, so that
                         weights still sum to 1; thin_plate and triharmonic need the plane */
    double radius;    /* cardinal; default 1: factor on every point's radius, which is the distance to its nearest
                         other point (for thin_plate, biharmonic, triharmonic and multiquadric the mean of these, the
                         same for all) */
    double ridge;     /* cardinal; default 0: added to the diagonal with the sign that smooths; above 0, examples are
                         approached, not reached. gaussian; default 0: no ridge if the condition number is within
                         EX_CONDITION_LIMIT, else the ridge that brings it there (ex_weigher_get_ridge). convex;
                         default 0, which means 1e-9: weight of the distances of the single blended examples compared
                         with the distance of the blend; it decides between equally near blends, and examples are
                         still reached */
    double overshoot; /* calm; default 0.1, 0 to 1: how far a weight may leave [0, 1]; below 0.05, weights also slow
                         down at examples, and at 0 they stop there, because no smooth weight within [0, 1] can do
                         otherwise */
    double power;     /* shepard; default 2, above 0 */
    int neighbours;   /* nearest; default 8, 1 to EX_NEIGHBOUR_MAX */
    bool paper_form;  /* nearest; default false. true: threshold at the k-th distance as printed in the paper, not
                         the (k+1)-th; equidistant examples then share equally */

    /* gaussian; points are the examples, then the pseudo-examples */
    const double *falloffs; /* [points][axis_count], or NULL: falloff of each point along each axis, in distances of
                               the space (a difference, or a rotation's chord, times the axis's scale). 0: the
                               default, the mean distance of a point to its nearest other point */
    const double *metrics;  /* [points][scalar axes][scalar axes], or NULL: replaces the falloffs of the scalar axes
                               by r^2 = d' M d for scaled differences d; symmetric and positive definite, or all 0 to
                               use the falloffs */
    const uint32_t *sets;   /* [set_count][(example_count + 31) / 32] words, example k at bit k % 32 of word k / 32:
                               non-empty sets of examples, each solved as if there were no others
                               (ex_weigher_evaluate_sets); or NULL */
    int set_count;
} ex_weigher_def;

/* A solved space, immutable. */
typedef struct ex_weigher ex_weigher;

/* Returns the definition of a cardinal weigher, with every parameter of every kind at its default. */
EX_API ex_weigher_def ex_weigher_def_default(void);
/* Returns the definition of a direct weigher with `count` scalar axes and examples, like blend shapes. The axes [count]
 * remain the caller's. */
EX_API ex_weigher_def ex_weigher_def_direct(const ex_axis *axes, int count);

/* ---- kinds and their parameters ---- */

/* Types of parameter. */
typedef enum ex_parameter_type {
    EX_PARAMETER_NUMBER, /* a double */
    EX_PARAMETER_WHOLE,  /* a whole number: an int */
    EX_PARAMETER_SWITCH, /* a bool */
    EX_PARAMETER_CHOICE  /* one of a few words: an enum, or a bool if there are two */
} ex_parameter_type;

/* A word that a parameter of type CHOICE may have. */
typedef struct ex_parameter_word {
    const char *name; /* as in project files */
    const char *help; /* part of a sentence, for the person who chooses */
} ex_parameter_word;

/*
 * A parameter of a kind of weigher. Everything that reads, writes, shows or edits a parameter uses this description.
 * Values are doubles here, whatever the type: a switch is 0 or 1, a choice is the index of its word.
 */
typedef struct ex_parameter {
    const char *name; /* as in project files and everywhere else */
    const char *help; /* one or two sentences on its effect, for the person who chooses a value */
    ex_parameter_type type;
    size_t offset, size; /* of its field in ex_weigher_def, in bytes */
    double preset;       /* the default */
    double least, most;  /* numbers: the range; most may be INFINITY */
    bool above;          /* numbers: true if least itself is outside the range */
    double usual[2];     /* numbers: range of a slider, from and to. If both are above 0, the slider moves in equal
                            factors (and a least of 0 is still at its end); otherwise, and for whole numbers, in
                            equal steps. to INFINITY: the number of examples */
    const ex_parameter_word *words; /* choices: [word_count] */
    int word_count;
    bool rare; /* true to omit it from written projects when it has its default */
} ex_parameter;

/* Description of a kind of weigher. */
typedef struct ex_weigher_info {
    const char *help;               /* one or two sentences, for the person who chooses a kind */
    const ex_parameter *parameters; /* [parameter_count] */
    int parameter_count;
    bool has_points;    /* true if examples are at points of the space; if false, the axes are the weights */
    bool has_falloffs;  /* true if every point may have its own falloff or metric */
    bool has_sets;      /* true if weights can be solved for sets of examples (ex_weigher_evaluate_sets) */
    bool has_condition; /* true if it solves a system, whose condition number is ex_weigher_condition */
    bool raises_ridge;  /* true if it adds a ridge automatically when that system is nearly singular
                           (ex_weigher_get_ridge) */
    bool is_driven;     /* true if it weighs the form of a driver: one of its axes is EX_AXIS_DRIVER */
    bool is_predicted;  /* true if it weighs the motion of a driver: its layer has a predictor, and its examples have
                           no driver forms */
    bool has_gpu_code;  /* true if ex_cuda_rig_create accepts layers of this kind */
} ex_weigher_info;

/* Returns the description of a kind, which lives as long as the program. Kinds are numbered from 0. For a number that
 * is not a kind, the description has no parameters and all flags false. */
EX_API const ex_weigher_info *ex_weigher_kind_info(ex_weigher_kind kind);
/* Returns the number of kinds. */
EX_API int ex_weigher_kind_count(void);
/* Returns the description of a weigher's kind. */
EX_API const ex_weigher_info *ex_weigher_get_info(const ex_weigher *weigher);

/* Returns the value that a definition has for a parameter. */
EX_API double ex_parameter_get(const ex_parameter *parameter, const ex_weigher_def *def);
/* Sets a parameter of a definition. value must be one that ex_parameter_check allows. */
EX_API void ex_parameter_set(const ex_parameter *parameter, ex_weigher_def *def, double value);
/* Checks a value; the result is ARGUMENT if it is out of range. The error's text is the end of a sentence: "must be
 * above 0". */
EX_API ex_result ex_parameter_check(const ex_parameter *parameter, double value, ex_error *error);
/* Returns the first parameter of def's kind that is out of its range or conflicts with others, or NULL if all are fine.
 * The error's text is the end of a sentence, as above. */
EX_API const ex_parameter *ex_weigher_check_parameters(const ex_weigher_def *def, ex_error *error);
/* Writes a parameter with its value as text: "radius 1", "k 8", "linear" or "not linear", "bspline". Returns what
 * snprintf returns. */
EX_API int ex_parameter_text(const ex_parameter *parameter, double value, char *text, size_t size);

/*
 * Makes a weigher: solves a space. Cost, with n points (pseudo-examples included) and m examples: about n^3/3 + n^2 m
 * multiplications in double; one allocation of about 8 n m bytes that is kept, and scratch of about 8 n (2 n + m) bytes
 * that is not. Copies everything in def. Results: ARGUMENT (a parameter out of range), DATA (a number that is not
 * finite), SINGULAR (two points at the same place, named; or a system without solution), MEMORY, LIMIT.
 */
EX_API ex_result ex_weigher_create(const ex_weigher_def *def, const ex_allocator *allocator, ex_weigher **weigher,
                                   ex_error *error);

/* Releases the weigher. NULL is fine. Not for weighers that belong to a rig. */
EX_API void ex_weigher_destroy(ex_weigher *weigher);

/*
 * Computes the weights [example_count] at a point [dimension]. Cannot fail: a non-finite number reads as the axis's
 * rest value, a zero quaternion as the identity, and scalars are limited to a million ranges from rest. point NULL
 * means rest on all axes. Allocates nothing. Cost: about n (m + distance) multiplications, less if kernels have compact
 * support.
 */
EX_API void ex_weigher_evaluate(const ex_weigher *weigher, const double *point, double *weights);

/* Computes the weights [count][example_count] at many points [count][dimension]: the bits of ex_weigher_evaluate for
 * each. Kinds with scratch memory take what ex_weigher_evaluate has without it. */
EX_API void ex_weigher_evaluate_many(const ex_weigher *weigher, int count, const double *points, double *weights);

/*
 * Computes the weights [example_count] at a point [dimension], as ex_weigher_evaluate does, and their derivatives
 * [example_count][dimension] by each number of the point. A rotation has four numbers, those of its quaternion as
 * given. The quaternion's length does not change weights, so derivatives along it are 0. For the derivative by a small
 * turn (x, y, z, in radians, after the rotation q), multiply by half of the product of the quaternion (x, y, z, 0) and
 * q.
 *
 * Clamps, limits and pseudo-examples are included. A number that is not finite, or that a clamp changes, has the
 * derivative 0; at the end of a clamp it is that of the inside. At an example where weights have a corner (kernel
 * biharmonic; nearest; shepard with a power of 1 or less) it is the mean over both sides. If the neighbours of a
 * nearest weigher change there, it is that of one side. Kinds compute it from their formulas. Only
 * convex takes differences of weights instead, with a step of a millionth of its largest product: its weights are
 * pieces of linear functions of these. point NULL means rest. Allocates nothing. Cost: n m dimension multiplications;
 * convex: 4 dimension evaluations.
 */
EX_API void ex_weigher_gradient(const ex_weigher *weigher, const double *point, double *weights, double *derivatives);
/* The same at many points [count][dimension]: weights [count][example_count] and derivatives
 * [count][example_count][dimension]. */
EX_API void ex_weigher_gradient_many(const ex_weigher *weigher, int count, const double *points, double *weights,
                                     double *derivatives);

/*
 * Computes weights as ex_weigher_evaluate does, with memory that the caller provides. state: a starting point for the
 * search, ex_weigher_state_size bytes that the caller keeps from frame to frame; zeros, or any other bytes, are a valid
 * start; NULL for none. It saves time on smooth paths of points and changes no weight by more than 1e-9. scratch:
 * ex_weigher_scratch_size bytes, aligned to 8, or NULL. Without scratch, a convex weigher blends at most
 * EX_CONVEX_STACK examples, which matters only if it has more. Both sizes are 0 for kinds that need none; for those,
 * this is ex_weigher_evaluate.
 */
EX_API void ex_weigher_evaluate_from(const ex_weigher *weigher, const double *point, double *weights, void *state,
                                     void *scratch);
/* Return the bytes of a state and of scratch memory. */
EX_API size_t ex_weigher_state_size(const ex_weigher *weigher);
EX_API size_t ex_weigher_scratch_size(const ex_weigher *weigher);

/*
 * Returns the squared distance |sum of w_k P_k - b|^2 of a driver form b from a blend of the examples of a convex
 * weigher. With the weights found at that point, it is the squared distance from the hull of the examples. `self` is
 * <b, b>, measured like the point. The rounding error is about 1e-15 times the largest square among b and the examples,
 * so the origin should be near them. Never below 0; 0 for other kinds.
 */
EX_API double ex_weigher_hull_distance_sq(const ex_weigher *weigher, const double *point, double self,
                                          const double *weights);

/*
 * Computes the weights of every set of examples of a gaussian weigher, one set after the other: for each set the
 * weights of its examples, in their order [ex_weigher_set_weight_count]. Within a set, the points of other examples do
 * not count, and pseudo-examples with a source take their weights from the set's own examples. weights may be NULL.
 */
EX_API void ex_weigher_evaluate_sets(const ex_weigher *weigher, const double *point, double *weights,
                                     double *set_weights);
/* Returns the number of examples of all sets together; 0 for other kinds. */
EX_API int ex_weigher_set_weight_count(const ex_weigher *weigher);

/* Kinds of edit. An edit changes a space and no form. */
typedef enum ex_edit_kind {
    EX_EDIT_MOVE_EXAMPLE,   /* moves example `index` to `at` */
    EX_EDIT_ADD_EXAMPLE,    /* adds a last example at `at`; the caller provides its form elsewhere */
    EX_EDIT_REMOVE_EXAMPLE, /* removes example `index`; given weights of pseudo-examples lose that entry and keep
                               their sum if the other entries do not sum to 0 */
    EX_EDIT_MOVE_PSEUDO,    /* moves pseudo-example `index` to `at`, and its source to `from` or `weights` if given */
    EX_EDIT_ADD_PSEUDO,     /* adds a last pseudo-example at `at`, with source `from` or given `weights` */
    EX_EDIT_REMOVE_PSEUDO,  /* removes pseudo-example `index` */
    EX_EDIT_FALLOFF         /* gaussian: sets the falloff of point `index` (examples first) to `falloff` */
    /* A convex weigher supports the first three. Its driver axis is as wide as the number of examples when the edit is
       applied: the `at` of a new example ends with its product with itself, and the other examples use `at` as a
       column. */
} ex_edit_kind;

/* An edit of a space, for ex_weigher_edit. */
typedef struct ex_edit {
    ex_edit_kind kind;
    int index;
    const double *at;      /* [dimension] of this weigher: its axes in order (convex: see above) */
    const double *from;    /* the same */
    const double *weights; /* [example_count] at the time this edit is applied */
    const double *falloff; /* [axis_count] as in ex_weigher_def.falloffs; also for a new example or pseudo-example,
                              where NULL is the default */
} ex_edit;

/* Makes a new weigher: the old one with the edits applied in order. The caller releases it with ex_weigher_destroy. The
 * old weigher does not change. Results and cost are those of ex_weigher_create. For calm weighers of 32 points and
 * more, without pseudo-examples or with one whose given weights are 0, at most 8 points that move or come cost n^2
 * operations, not n^3. Weights then agree to 1e-9; where that is in doubt, the space is solved. */
EX_API ex_result ex_weigher_edit(const ex_weigher *weigher, const ex_edit *edits, int edit_count,
                                 const ex_allocator *allocator, ex_weigher **edited, ex_error *error);

/*
 * Gets the definition that a weigher was made from. Pointers in def and pseudos point into the weigher. axes
 * [axis_count] and pseudos [pseudo_count] are the caller's arrays, or NULL if not needed. names is set to NULL.
 */
EX_API void ex_weigher_describe(const ex_weigher *weigher, ex_weigher_def *def, ex_axis *axes, ex_pseudo *pseudos);

/* Return a weigher's kind, and its numbers of axes, examples and pseudo-examples. */
EX_API ex_weigher_kind ex_weigher_get_kind(const ex_weigher *weigher);
EX_API int ex_weigher_axis_count(const ex_weigher *weigher);
EX_API int ex_weigher_example_count(const ex_weigher *weigher);
EX_API int ex_weigher_pseudo_count(const ex_weigher *weigher);
/* Returns the length of a point: the sum of the axes' widths. */
EX_API int ex_weigher_dimension(const ex_weigher *weigher);
/* Returns the point of example `index`, or of pseudo-example `index - example_count`: [dimension], inside the weigher.
 * Direct: NULL. */
EX_API const double *ex_weigher_point(const ex_weigher *weigher, int index);
/* Returns the distance between two points [dimension] as this weigher measures it. Direct: 0. Convex: along its scalar
 * axis. */
EX_API double ex_weigher_distance(const ex_weigher *weigher, const double *a, const double *b);

/* The ridge of a gaussian weigher; the largest if it has sets. */
typedef struct ex_ridge {
    double ridge;     /* 0: none, examples are reached exactly */
    double condition; /* condition number without the ridge */
    int point;        /* if the ridge was added automatically, the point that made it necessary (examples first);
                         else -1 */
    double falloff;   /* that point's largest falloff, in distances of the space */
} ex_ridge;
/* Returns the ridge that a weigher uses. */
EX_API ex_ridge ex_weigher_get_ridge(const ex_weigher *weigher);

/*
 * Computes the condition number, in the 1-norm, of the system that a cardinal or gaussian weigher solved; 1 for other
 * kinds. Costs as much as the solve: for checks, not for every frame.
 */
EX_API ex_result ex_weigher_condition(const ex_weigher *weigher, const ex_allocator *allocator, double *condition,
                                      ex_error *error);

/* ---- drivers: meshes whose form is an input ---- */

/* Maximum number of moving frames of a driver, and of regions of a layer. */
#define EX_DRIVER_FRAME_MAX 1024

/*
 * A driver and its moving frames (DrivenShape, 2.7). A frame is the rigid motion that brings some vertices of the
 * reference nearest to their current positions, in weighted least squares. The vertices are the whole driver, as in the
 * paper, or a part of it, so that what lies near is carried along. A frame without vertices stays in place, or follows
 * the caller (a joint).
 */
typedef struct ex_driver_def {
    int vertex_count;
    const float *reference;   /* [vertex_count][3] */
    int frame_count;          /* 1 to EX_DRIVER_FRAME_MAX */
    const uint32_t *starts;   /* [frame_count + 1]: frame f is fitted to entries starts[f] to starts[f + 1] */
    const uint32_t *vertices; /* [starts[frame_count]] */
    const float *weights;     /* [starts[frame_count]], above 0 */
} ex_driver_def;

/* A driver mesh with its moving frames, immutable. */
typedef struct ex_driver ex_driver;

/* Makes a driver, in one allocation of 20 bytes per entry. Results: ARGUMENT, DATA (a vertex out of range, a number not
 * finite), LIMIT, MEMORY. */
EX_API ex_result ex_driver_create(const ex_driver_def *def, const ex_allocator *allocator, ex_driver **driver,
                                  ex_error *error);
/* Releases a driver. NULL is fine. */
EX_API void ex_driver_destroy(ex_driver *driver);
/* Return the numbers of vertices and of moving frames. */
EX_API int ex_driver_vertex_count(const ex_driver *driver);
EX_API int ex_driver_frame_count(const ex_driver *driver);

/* Computes the frames' motions from the reference to a form [vertex_count][3], as matrices [frame_count][12] of three
 * rows of four. The identity for frames without vertices, and for those with a vertex that is not finite. About 400 ns
 * per frame and 3 ns per entry. */
EX_API void ex_driver_place(const ex_driver *driver, const float *form, float *matrices);
/* Computes the size of each frame's vertices over that of the reference, sizes [frame_count]: the root of their mean
 * squared distance from their middle. 1 for frames without vertices, and for those with a vertex that is not finite. */
EX_API void ex_driver_sizes(const ex_driver *driver, const float *form, float *sizes);

/* A region's view of the driver: the vertices it looks at, and its moving frame. */
typedef struct ex_region {
    int frame;
    int count;                /* at least 1 */
    const uint32_t *vertices; /* [count] */
    const float *weights;     /* [count], above 0: the metric of its inner products */
} ex_region;

/* Definition of the regions of a layer. */
typedef struct ex_regions_def {
    const ex_driver *driver;
    int region_count; /* 1 to EX_DRIVER_FRAME_MAX */
    const ex_region *regions;
    int key_count;                  /* 1 to EX_CONVEX_MAX */
    const float *const *keys;       /* [key_count] of [vertex_count][3]: forms of the driver */
    const float *const *key_places; /* [key_count] of [frame_count][12], each may be NULL: the frames' motions at the
                                       keys, instead of fitted ones; or NULL */
} ex_regions_def;

/* The keys of a driver as seen by the regions of a layer. Turns a form of the driver into a point on the driver axis of
 * a convex weigher. */
typedef struct ex_regions ex_regions;

/* Makes the regions of a layer, in one allocation of 4 bytes per key, coordinate and vertex in view. Results as above;
 * LIMIT also above 2^27 products of keys with keys, over all regions. */
EX_API ex_result ex_regions_create(const ex_regions_def *def, const ex_allocator *allocator, ex_regions **regions,
                                   ex_error *error);
EX_API void ex_regions_destroy(ex_regions *regions);
/* Gets the keys' own points on the driver axis, [key_count][region_count][key_count]: their Gram matrices. */
EX_API void ex_regions_points(const ex_regions *regions, double *points);
/* Computes the point of a form [vertex_count][3] whose frames are at `matrices`: [region_count][key_count], and the
 * squares of the form itself [region_count] (ex_weigher_hull_distance_sq), which may be NULL. A vertex that is not
 * finite counts as the keys' mean. */
EX_API void ex_regions_measure(const ex_regions *regions, const float *form, const float *matrices, double *point,
                               double *squares);

#ifdef __cplusplus
}
#endif
#endif
