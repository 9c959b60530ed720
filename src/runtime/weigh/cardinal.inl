/*
 * Tables of the cardinal weigher (cardinal.c). Common subset of C and CUDA.
 */
#ifndef EXI_CARDINAL_INL
#define EXI_CARDINAL_INL

#include "runtime/weigh/block.h"
#include "runtime/weigh/kernels.inl"

/* The kind's own tables, in this order, with n points, m examples, s scalar axes. */
typedef struct exi_cardinal {
    double *inverse_radii; /* [n] */
    double *mean;          /* [s], of the scalar features */
    double *plane;         /* [1 + s][m]: constant, slopes */
    double *radial;        /* [n][m] */
} exi_cardinal;

EXI_INLINE exi_cardinal exi_cardinal_tables(const ex_weigher *w) {
    size_t n = (size_t)exi_point_count(w), m = (size_t)w->example_count, s = (size_t)w->scalar_count;
    exi_cardinal t;
    t.inverse_radii = exi_table_mut((ex_weigher *)(uintptr_t)w, w->own);
    t.mean = t.inverse_radii + n;
    t.plane = t.mean + s;
    t.radial = t.plane + (1 + s) * m;
    return t;
}

/* Kernel value of point j at a row of features. */
EXI_INLINE double exi_cardinal_kernel(const ex_weigher *w, const exi_cardinal *t, const double *features, int j) {
    double r = exi_feature_distance(w, features, exi_features(w, j)) * t->inverse_radii[j];
    return exi_kernel((int)w->kernel, r);
}

#endif
