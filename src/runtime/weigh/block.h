/*
 * Layout of a weigher: one block with a head and tables of doubles at offsets, without pointers, so that a rig can hold
 * it, a file can store it and a GPU can receive it unchanged. The head's counts determine every offset, which is how a
 * stored weigher is checked. Common subset of C and CUDA.
 */
#ifndef EXI_WEIGHER_BLOCK_H
#define EXI_WEIGHER_BLOCK_H

#include "runtime/weigh/metric.inl"

#include <exemplar/weigh.h>

/* SUM_1: scale the weights to a sum of 1 after evaluation (growing kernels). ANGULAR: measure rotations by their angle,
 * not by the chord. METRICS: some point of a gaussian weigher has a metric. LIMITS: some axis holds or fades. */
enum {
    EXI_WEIGHER_LINEAR = 1,
    EXI_WEIGHER_PAPER_FORM = 2,
    EXI_WEIGHER_SUM_1 = 4,
    EXI_WEIGHER_ANGULAR = 8,
    EXI_WEIGHER_METRICS = 16,
    EXI_WEIGHER_LIMITS = 32
};

struct ex_weigher {
    uint64_t size; /* of the whole block in bytes */
    uint32_t kind, kernel, flags;
    int32_t axis_count, dimension, scalar_count, rotation_count, feature_count;
    int32_t example_count, pseudo_count, neighbours, set_count;
    uint64_t set_weight_count; /* examples of all sets together */
    uint64_t set_square_count; /* the sum of the squares of their sizes */
    double radius, ridge, power;
    /* byte offsets of tables, in memory order */
    uint64_t axes;         /* [axis_count] exi_axis_record */
    uint64_t rotations;    /* [rotation_count] exi_rotation_metric */
    uint64_t sets;         /* uint32_t: [set_count][words], [set_count] sizes, [set_weight_count] examples, padded with
                              0 */
    uint64_t points;       /* [example_count + pseudo_count][dimension] */
    uint64_t pseudo_from;  /* [pseudo_count][dimension]; zeros if weights were given */
    uint64_t pseudo_given; /* [pseudo_count]: 1 if weights were given */
    uint64_t pseudo_rows;  /* [pseudo_count][example_count]: the weights at each pseudo-example */
    uint64_t features;     /* [example_count + pseudo_count][feature_count] */
                           /* here: parameters without a field above, a double each (exi_own_parameters) */
    uint64_t own;          /* the kind's own tables */
};

/* An ex_axis in doubles only: no padding, so that equal definitions give equal bytes. max of a driver is its width. */
typedef struct exi_axis_record {
    double kind, min, max, rest, rest_rotation[4], about[3];
    double scale;      /* as given, 0 for the default */
    double true_scale; /* with the default filled in */
    double ends;       /* 1 if it clamps, plus 2 times its ex_limit */
} exi_axis_record;

EXI_INLINE bool exi_axis_clamps(const exi_axis_record *axis) {
    return ((int)axis->ends & 1) != 0;
}
EXI_INLINE ex_limit exi_axis_limit(const exi_axis_record *axis) {
    return (ex_limit)((int)axis->ends >> 1);
}

EXI_INLINE int exi_point_count(const ex_weigher *w) {
    return w->example_count + w->pseudo_count;
}
EXI_INLINE const double *exi_table(const ex_weigher *w, uint64_t offset) {
    return (const double *)(const void *)((const char *)w + offset);
}
EXI_INLINE double *exi_table_mut(ex_weigher *w, uint64_t offset) {
    return (double *)(void *)((char *)w + offset);
}
EXI_INLINE const exi_axis_record *exi_axes(const ex_weigher *w) {
    return (const exi_axis_record *)(const void *)exi_table(w, w->axes);
}
EXI_INLINE const double *exi_features(const ex_weigher *w, int point) {
    return exi_table(w, w->features) + (size_t)point * (size_t)w->feature_count;
}
/* The parameters of the kind's table that have no field in the head, in order (kinds.c). A kind without points has no
 * features before them. */
EXI_INLINE double *exi_own_parameters(const ex_weigher *w) {
    double *features = exi_table_mut((ex_weigher *)(uintptr_t)w, w->features);
    const bool has_points = w->pseudo_from > w->points;
    return features + (has_points ? (size_t)exi_point_count(w) * (size_t)w->feature_count : 0);
}
/* Distance of two rows of features, as this weigher measures it. */
EXI_INLINE double exi_feature_distance(const ex_weigher *w, const double *a, const double *b) {
    return exi_distance(a, b, w->scalar_count, (const exi_rotation_metric *)(const void *)exi_table(w, w->rotations),
                        w->rotation_count, (w->flags & EXI_WEIGHER_ANGULAR) != 0);
}

/* Maximum length of a point with EX_AXIS_MAX axes, or with a driver and a scalar axis: kept on the stack by
 * evaluation. */
#define EXI_FEATURE_MAX (4 * EX_AXIS_MAX + 1)

EXI_INLINE bool exi_is_rotation(ex_axis_kind kind) {
    return kind == EX_AXIS_ROTATION || kind == EX_AXIS_SWING || kind == EX_AXIS_TWIST;
}
/* Number of features of an axis: none for a driver, whose distances only its own weigher knows. */
EXI_INLINE int exi_feature_width(ex_axis_kind kind) {
    return kind == EX_AXIS_SCALAR ? 1 : kind == EX_AXIS_DRIVER ? 0 : kind == EX_AXIS_SWING ? 3 : 4;
}

/* Words of one set of examples; of all sets of a weigher; true if an example is in a set. */
EXI_INLINE size_t exi_set_words(int example_count) {
    return ((size_t)example_count + 31) / 32;
}
EXI_INLINE const uint32_t *exi_weigher_sets(const ex_weigher *w) {
    return (const uint32_t *)(const void *)exi_table(w, w->sets);
}
EXI_INLINE bool exi_set_has(const uint32_t *set, int example) {
    return (set[example / 32] >> (example % 32) & 1) != 0;
}

#endif
