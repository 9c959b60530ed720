/*
 * exemplar/maths.h - exp, sine, cosine and angles in double: always the same operations in the same order, so that
 * results do not depend on the C library. For programs that must write the same bytes on every machine; compile those
 * without contraction of products and sums (-ffp-contract=off). Any thread may call these functions; none can fail.
 */
#ifndef EXEMPLAR_MATHS_H
#define EXEMPLAR_MATHS_H

#include <exemplar/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns e^x, relative error below 4e-16. Returns 0 for x below -700, and at most e^700. */
EX_API double ex_exp(double x);

/* Computes sine and cosine of x radians, |x| <= 1e5. The absolute error is below 3e-16 up to |x| = 100 and grows with
 * |x| beyond. */
EX_API void ex_sin_cos(double x, double *sine, double *cosine);

/* Returns the angle in [0, pi/2] of the direction (x, y), both >= 0, like atan2(y, x); relative error below 1e-15. (0,
 * 0) gives 0. */
EX_API double ex_angle(double y, double x);

/* Returns the angle in [0, pi] of the direction (x, y), y >= 0, to weight the corners of faces. Takes a third of the
 * time of ex_angle; relative error below 3e-9. (0, 0) gives 0. */
EX_API double ex_corner(double y, double x);

#ifdef __cplusplus
}
#endif
#endif
