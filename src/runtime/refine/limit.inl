/*
 * The unit normal of a limit surface from two tangents, t1 x t2 over its length, for one vertex. Common subset of C and
 * CUDA.
 *
 * In float if that is accurate: the product's squared length in (1e-30, 1e30) and above 1e-8 of |t1|^2 |t2|^2.
 * Otherwise in double: very small and very large forms, and tangents that are parallel or nearly so.
 */
#ifndef EXI_LIMIT_INL
#define EXI_LIMIT_INL

#include "runtime/base/functions.inl"
#include "runtime/base/vector.h"

/* Range of squared lengths for floats; others need doubles. */
#define EXI_SQUARE_LEAST 1e-30f
#define EXI_SQUARE_MOST  1e30f
/* Squared sine of the angle between tangents below which doubles are needed. */
#define EXI_LIMIT_SINE_SQ 1e-8f

/* True if a vector of this squared length, above least_sq, can be normalised in float. False also for NaN. */
EXI_INLINE bool exi_square_is_usual(float length_sq, float least_sq) {
    return (length_sq > EXI_SQUARE_LEAST) & (length_sq < EXI_SQUARE_MOST) & (length_sq > least_sq);
}

/* Computes the normal in double, where float would lose it; 0 0 0 if there is none. */
EXI_INLINE void exi_limit_normal_slowly(const float t1[3], const float t2[3], float normal[3]) {
    double a[3] = {(double)t1[0], (double)t1[1], (double)t1[2]}, b[3] = {(double)t2[0], (double)t2[1], (double)t2[2]};
    double n[3] = {0, 0, 0};
    if (exi_normalise(a, 3) && exi_normalise(b, 3)) {
        exi_cross(a, b, n);
        /* The tangents span no plane, only rounding errors. */
        if (exi_dot3(n, n) < 1e-12 || !exi_normalise(n, 3))
            n[0] = n[1] = n[2] = 0;
    }
    for (int c = 0; c < 3; c++)
        normal[c] = (float)n[c];
}

/* One vertex. stencils_kernel.c repeats this for a tile of vertices, since compilers vectorise the steps only if they
 * are written there. */
EXI_INLINE void exi_limit_normal(const float t1[3], const float t2[3], float normal[3]) {
    const float x = t1[1] * t2[2] - t1[2] * t2[1], y = t1[2] * t2[0] - t1[0] * t2[2], z = t1[0] * t2[1] - t1[1] * t2[0];
    const float length_sq = x * x + y * y + z * z;
    const float least_sq = (t1[0] * t1[0] + t1[1] * t1[1] + t1[2] * t1[2]) *
                           (t2[0] * t2[0] + t2[1] * t2[1] + t2[2] * t2[2]) * EXI_LIMIT_SINE_SQ;
    if (!exi_square_is_usual(length_sq, least_sq)) {
        exi_limit_normal_slowly(t1, t2, normal);
        return;
    }
    const float scale = 1.0f / sqrtf(length_sq);
    normal[0] = x * scale;
    normal[1] = y * scale;
    normal[2] = z * scale;
}

#endif
