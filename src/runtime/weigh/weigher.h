/*
 * The inside of a weigher: one block, a head and tables of doubles behind it at offsets, no pointers, so that a rig can
 * hold it, a file store it and a GPU receive it as it is. The head's counts determine every offset, which is how a
 * stored weigher is checked.
 */
#ifndef EXI_WEIGHER_H
#define EXI_WEIGHER_H

#include "runtime/weigh/metric.inl"

#include <exemplar/weigh.h>

/* SUM_1: the weights' sum is put back to 1 after evaluation (growing kernels). ANGULAR: rotations are measured by their
 * angle, not by the chord. METRICS: some point of a gaussian weigher has a metric. */
enum {
    EXI_WEIGHER_LINEAR = 1,
    EXI_WEIGHER_PAPER_FORM = 2,
    EXI_WEIGHER_SUM_1 = 4,
    EXI_WEIGHER_ANGULAR = 8,
    EXI_WEIGHER_METRICS = 16
};

struct ex_weigher {
    uint64_t size; /* of the whole block in bytes */
    uint32_t kind, kernel, flags;
    int32_t axis_count, dimension, scalar_count, rotation_count, feature_count;
    int32_t example_count, pseudo_count, neighbours, set_count;
    uint64_t set_weight_count; /* examples of all sets together */
    uint64_t set_square_count; /* the sum of the squares of their sizes */
    double radius, ridge, power;
    /* byte offsets of tables, in the order in which they stand */
    uint64_t axes;      /* [axis_count] exi_axis_record */
    uint64_t rotations; /* [rotation_count] exi_rotation_metric */
    uint64_t sets;      /* uint32_t: [set_count][words], [set_count] sizes, [set_weight_count] examples, 0 to fill up */
    uint64_t points;    /* [example_count + pseudo_count][dimension] */
    uint64_t pseudo_from;  /* [pseudo_count][dimension]; zeros where weights were given */
    uint64_t pseudo_given; /* [pseudo_count]: 1 where weights were given */
    uint64_t pseudo_rows;  /* [pseudo_count][example_count]: the weights that hold at each pseudo-example */
    uint64_t features;     /* [example_count + pseudo_count][feature_count] */
    uint64_t own;          /* the kind's own tables */
};

/* An ex_axis in doubles alone: no padding, so that equal definitions give equal bytes. A driver's max is its width. */
typedef struct exi_axis_record {
    double kind, min, max, rest, rest_rotation[4], about[3];
    double scale;      /* as given, 0 for the default */
    double true_scale; /* with the default put in */
    double clamp;
} exi_axis_record;

static inline int exi_point_count(const ex_weigher *w) {
    return w->example_count + w->pseudo_count;
}
static inline const double *exi_table(const ex_weigher *w, uint64_t offset) {
    return (const double *)(const void *)((const char *)w + offset);
}
static inline double *exi_table_mut(ex_weigher *w, uint64_t offset) {
    return (double *)(void *)((char *)w + offset);
}
static inline const exi_axis_record *exi_axes(const ex_weigher *w) {
    return (const exi_axis_record *)(const void *)exi_table(w, w->axes);
}
static inline const double *exi_features(const ex_weigher *w, int point) {
    return exi_table(w, w->features) + (size_t)point * (size_t)w->feature_count;
}
/* The distance that the weigher measures between two rows of features. */
static inline double exi_feature_distance(const ex_weigher *w, const double *a, const double *b) {
    return exi_distance(a, b, w->scalar_count, (const exi_rotation_metric *)(const void *)exi_table(w, w->rotations),
                        w->rotation_count, (w->flags & EXI_WEIGHER_ANGULAR) != 0);
}

/* space.c: axes checked and recorded, points turned into features. */
ex_result exi_axis_check(const ex_axis *axis, int index, ex_error *error);
exi_axis_record exi_axis_store(const ex_axis *axis, bool angular);
ex_axis exi_axis_restore(const exi_axis_record *record);
/* Whether two axes of one name can share an input: both numbers or both rotations, and the same rest. */
bool exi_axis_is_same_input(const ex_axis *a, const ex_axis *b);
/* Copies a point, with non-finite scalars at rest, zero quaternions the identity, quaternions of length 1, limits kept.
 */
void exi_point_clean(const ex_weigher *w, const double *point, double *clean);
void exi_point_features(const ex_weigher *w, const double *clean, double *features);
/* The most numbers that a point of EX_AXIS_MAX axes can have, or one of a driver and a scalar axis: what evaluation
 * keeps on the stack. */
#define EXI_FEATURE_MAX (4 * EX_AXIS_MAX + 1)
_Static_assert(EX_CONVEX_MAX + 1 <= EXI_FEATURE_MAX, "a driver's point must fit on the stack");

static inline bool exi_is_rotation(ex_axis_kind kind) {
    return kind == EX_AXIS_ROTATION || kind == EX_AXIS_SWING || kind == EX_AXIS_TWIST;
}
/* Features that an axis takes: none for a driver, whose distances only its own weigher knows. */
static inline int exi_feature_width(ex_axis_kind kind) {
    return kind == EX_AXIS_SCALAR ? 1 : kind == EX_AXIS_DRIVER ? 0 : kind == EX_AXIS_SWING ? 3 : 4;
}

/*
 * A kind of weigher (docs/adding-a-weigher.md).
 * check: parameters of the definition that only this kind has. own_count: doubles in its own tables, NULL for none.
 * solve: fills them when everything before `own` is there; refuses points at one place. evaluate: features of the query
 * to weights; NULL for a kind without points, whose weights are the cleaned point.
 */
typedef struct exi_weigher_kind {
    bool has_points; /* direct has none */
    bool angular;    /* measures rotations by angle (shepard, nearest), not by chord (what keeps kernels definite) */
    ex_result (*check)(const ex_weigher_def *def, ex_error *error);
    size_t (*own_count)(const ex_weigher *w);
    ex_result (*solve)(ex_weigher *w, const char *const *names, const ex_allocator *allocator, ex_error *error);
    void (*evaluate)(const ex_weigher *w, const double *features, double *weights);
} exi_weigher_kind;

extern const exi_weigher_kind exi_weigher_cardinal, exi_weigher_direct, exi_weigher_shepard, exi_weigher_nearest,
    exi_weigher_gaussian, exi_weigher_convex;

/* cardinal.c: see ex_weigher_condition. */
ex_result exi_cardinal_condition(const ex_weigher *w, const ex_allocator *allocator, double *condition,
                                 ex_error *error);

/* convex.c: weights at a cleaned point; state and scratch may be NULL. Whether its own tables are sound. And edits,
 * which change the width of its axis (convex_edit.c). */
void exi_convex_evaluate(const ex_weigher *w, const double *clean, double *weights, void *state, void *scratch);
/* Scratch that is enough for any weigher of so many examples, whatever their databases. */
size_t exi_convex_scratch_size(int example_count);
bool exi_convex_is_sound(const ex_weigher *w);
ex_result exi_convex_edit(const ex_weigher *w, const ex_edit *edits, int edit_count, const ex_allocator *allocator,
                          ex_weigher **edited, ex_error *error);

/* gaussian.c: the parameters that every point has of its own, and the sets: counted into a head, given back, copied
 * from a definition; and the evaluation of sets. weights may be NULL. */
void exi_gaussian_head(ex_weigher *head, const ex_weigher_def *def);
void exi_gaussian_describe(const ex_weigher *w, ex_weigher_def *def);
void exi_gaussian_store(ex_weigher *w, const ex_weigher_def *def);
void exi_gaussian_evaluate_sets(const ex_weigher *w, const double *features, double *weights, double *set_weights);
/* gaussian_solve.c: what holds at pseudo-example `pseudo` in every set [set_weight_count], before the solve. */
void exi_gaussian_set_drawn(ex_weigher *w, int pseudo, const double *set_weights);
ex_result exi_gaussian_condition(const ex_weigher *w, const ex_allocator *allocator, double *condition,
                                 ex_error *error);

/* Words that the examples of one set take; all sets of a weigher; whether an example is in a set. */
static inline size_t exi_set_words(int example_count) {
    return ((size_t)example_count + 31) / 32;
}
static inline const uint32_t *exi_weigher_sets(const ex_weigher *w) {
    return (const uint32_t *)(const void *)exi_table(w, w->sets);
}
static inline bool exi_set_has(const uint32_t *set, int example) {
    return (set[example / 32] >> (example % 32) & 1) != 0;
}

/* Points nearer than this part of the largest distance between any two are at one place. */
#define EXI_ONE_PLACE 1e-9
/* The sentence for points i and j that are. names may be NULL. */
ex_result exi_same_place(const ex_weigher *w, const char *const *names, int i, int j, ex_error *error);
/* The distance of each point to its nearest other one, in nearest [n] (1 for a single point), and all of them
 * [n][n]; refuses points at one place. */
ex_result exi_measure_places(const ex_weigher *w, const char *const *names, double *distances, double *nearest,
                             ex_error *error);
/* "example 'bent'", "pseudo-example 2". names may be NULL. */
void exi_point_text(const char *const *names, int example_count, int point, char *text, size_t size);
/* Looks at every pair: the whole solve of kinds that keep nothing. */
ex_result exi_check_places(ex_weigher *w, const char *const *names, const ex_allocator *allocator, ex_error *error);

/* weights = sum over points of share[i] of point i, where a pseudo-example's share goes to its row. */
void exi_spread_share(const ex_weigher *w, int point, double share, double *weights);

/* Sets every offset from the counts; false where the size overflows. */
bool exi_weigher_layout(ex_weigher *w);

/* Whether a weigher that came from a file (`size` bytes, aligned to 8) is sound. */
ex_result exi_weigher_validate(const ex_weigher *w, size_t size, ex_error *error);

#endif
