/*
 * Tables and kernel of the gaussian weigher, shared by evaluation (gaussian.c), the solve (gaussian_solve.c) and the
 * GPU. Common subset of C and CUDA.
 */
#ifndef EXI_GAUSSIAN_INL
#define EXI_GAUSSIAN_INL

#include "runtime/weigh/block.h"

/* Result of the solves. Doubles only, like everything in a block. */
typedef struct exi_ridge_record {
    double own;       /* the ridge of the solve over all examples */
    double ridge;     /* the largest ridge used, see ex_ridge */
    double certainty; /* 1 / condition, 0 if singular: a stored number must be finite */
    double point;     /* to blame, or -1 */
    double falloff;
} exi_ridge_record;

/* The kind's own tables, in this order, with n points, m examples, s scalar axes. */
typedef struct exi_gaussian {
    exi_ridge_record *record;
    double *falloffs;   /* [n][axis_count], as given: 0 for the default */
    double *inverse;    /* [n][axis_count]: 1/falloff of the scalar axes, then scale/falloff of the rotations */
    double *metrics;    /* [n][s][s], as given; NULL if no point has one */
    double *factors;    /* [n][s (s + 1)/2]: rows of U, from the diagonal on, with M = U' U; NULL like metrics */
    double *radial;     /* [n][m] */
    double *set_radial; /* per set with k examples: [k + pseudo_count][k] */
} exi_gaussian;

/* Numbers in the triangle of one point's metric. */
EXI_INLINE size_t exi_factor_size(const ex_weigher *w) {
    return (size_t)w->scalar_count * ((size_t)w->scalar_count + 1) / 2;
}

EXI_INLINE exi_gaussian exi_gaussian_tables(const ex_weigher *w) {
    const size_t n = (size_t)exi_point_count(w), axes = (size_t)w->axis_count, s = (size_t)w->scalar_count;
    const bool metrics = (w->flags & EXI_WEIGHER_METRICS) != 0;
    double *own = exi_table_mut((ex_weigher *)(uintptr_t)w, w->own);
    exi_gaussian t;
    t.record = (exi_ridge_record *)(void *)own;
    t.falloffs = own + sizeof *t.record / sizeof *own;
    t.inverse = t.falloffs + n * axes;
    double *next = t.inverse + n * axes;
    t.metrics = metrics ? next : NULL;
    next += metrics ? n * s * s : 0;
    t.factors = metrics ? next : NULL;
    next += metrics ? n * exi_factor_size(w) : 0;
    t.radial = next;
    t.set_radial = t.radial + n * (size_t)w->example_count;
    return t;
}

/* phi_k at a row of features. 0 beyond the distance at which it becomes negligible. */
EXI_INLINE double exi_gaussian_kernel(const ex_weigher *w, const exi_gaussian *t, const double *features, int k) {
    const int s = w->scalar_count;
    const double *centre = exi_features(w, k), *inverse = t->inverse + (size_t)k * (size_t)w->axis_count;
    double sum = 0;
    if (t->factors) {
        const double *u = t->factors + (size_t)k * exi_factor_size(w);
        EXI_ROLLED for (int a = 0; a < s; a++) {
            double along = 0;
            EXI_ROLLED for (int b = a; b < s; b++) along += *u++ * (features[b] - centre[b]);
            sum += along * along;
        }
    } else {
        EXI_ROLLED for (int a = 0; a < s; a++) {
            double along = (features[a] - centre[a]) * inverse[a];
            sum += along * along;
        }
    }
    const exi_rotation_metric *rotation = (const exi_rotation_metric *)(const void *)exi_table(w, w->rotations);
    features += s;
    centre += s;
    EXI_ROLLED for (int i = 0; i < w->rotation_count; i++) {
        const int width = (int)rotation[i].width;
        double along = exi_rotation_distance(features, centre, width, false) * inverse[s + i];
        sum += along * along;
        features += width;
        centre += width;
    }
    return exi_exp(-0.5 * sum);
}

#endif
