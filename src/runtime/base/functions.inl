/*
 * exp, log, sin, cos and the angle of a direction, in double: always the same operations in the same order, so that a
 * binary's results do not depend on the C library. Common subset of C and CUDA; sqrt is correctly rounded on both.
 *
 * Errors, each measured in tests/runtime/base/test_functions.c against long double or libm: relative error below 4e-16
 * for exi_exp (|x| <= 700) and exi_log (away from 1; absolute 2e-16 near it), 1e-15 for exi_angle, 3e-9 for exi_corner;
 * absolute error below 3e-16 for exi_sin_cos (|x| <= 100; it grows with |x| beyond).
 */
#ifndef EXI_FUNCTIONS_INL
#define EXI_FUNCTIONS_INL

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* EXI_CALL marks functions that stay out of line on a GPU: rarely used ones, so that other code keeps its registers,
 * and ones called from several places, since code that runs once per pose costs the time to fetch it. */
#if defined(__CUDACC__)
#define EXI_INLINE static __host__ __device__ inline
#define EXI_CALL   static __host__ __device__ __noinline__ __attribute__((unused))
#else
#define EXI_INLINE static inline
#define EXI_CALL   static inline
#endif
/* Loop hints for a GPU: EXI_ROLLED before a loop that must not be unrolled, EXI_UNROLLED before one that must be
 * unrolled completely. */
#if defined(__CUDA_ARCH__)
#define EXI_ROLLED   _Pragma("unroll 1")
#define EXI_UNROLLED _Pragma("unroll")
#else
#define EXI_ROLLED
#define EXI_UNROLLED
#endif

EXI_INLINE double exi_from_bits(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

EXI_INLINE uint64_t exi_to_bits(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Returns e^x: x = k ln 2 + r with |r| <= 0.35, the Taylor series of e^r to r^13 (next term 4e-18), times 2^k. Returns
 * 0 for x below -700, and at most e^700. */
EXI_CALL double exi_exp(double x) {
    if (!(x >= -700.0))
        return 0.0;
    if (x > 700.0)
        x = 700.0;
    const double ln2_high = 6.93147180369123816490e-01, ln2_low = 1.90821492927058770002e-10;
    double k = x * 1.44269504088896338700;
    k = (double)(int)(k < 0 ? k - 0.5 : k + 0.5);
    double r = (x - k * ln2_high) - k * ln2_low;
    double p = 1.0 / 6227020800.0;
    p = p * r + 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = p * r * r + r;
    return (1.0 + p) * exi_from_bits((uint64_t)((int64_t)k + 1023) << 52);
}

/* Returns log x for normal x > 0: x = 2^k m with m in [sqrt 1/2, sqrt 2), log m = 2 artanh s, s = (m - 1)/(m + 1). */
EXI_CALL double exi_log(double x) {
    uint64_t bits = exi_to_bits(x);
    int k = (int)(bits >> 52) - 1023;
    double m = exi_from_bits((bits & 0x000FFFFFFFFFFFFFu) | 0x3FF0000000000000u);
    if (m > 1.41421356237309504880) {
        m *= 0.5;
        k += 1;
    }
    double s = (m - 1.0) / (m + 1.0), z = s * s;
    double p = 1.0 / 23.0;
    p = p * z + 1.0 / 21.0;
    p = p * z + 1.0 / 19.0;
    p = p * z + 1.0 / 17.0;
    p = p * z + 1.0 / 15.0;
    p = p * z + 1.0 / 13.0;
    p = p * z + 1.0 / 11.0;
    p = p * z + 1.0 / 9.0;
    p = p * z + 1.0 / 7.0;
    p = p * z + 1.0 / 5.0;
    p = p * z + 1.0 / 3.0;
    double log_m = 2.0 * s + 2.0 * s * z * p;
    return (double)k * 6.93147180369123816490e-01 + (log_m + (double)k * 1.90821492927058770002e-10);
}

/* sin and cos of x, |x| <= 1e5: x = n pi/2 + r with |r| <= pi/4 (pi/2 in three parts), then both Taylor series. */
EXI_INLINE void exi_sin_cos(double x, double *sine, double *cosine) {
    double n = x * 0.63661977236758134308;
    n = (double)(int64_t)(n < 0 ? n - 0.5 : n + 0.5);
    double r = ((x - n * 1.57079632673412561417e+00) - n * 6.07710050630396597660e-11) - n * 2.02226624879595063154e-21;
    double z = r * r;
    double s = 1.0 / 355687428096000.0;
    s = 1.0 / 1307674368000.0 - s * z;
    s = 1.0 / 6227020800.0 - s * z;
    s = 1.0 / 39916800.0 - s * z;
    s = 1.0 / 362880.0 - s * z;
    s = 1.0 / 5040.0 - s * z;
    s = 1.0 / 120.0 - s * z;
    s = 1.0 / 6.0 - s * z;
    s = r - r * z * s;
    double c = 1.0 / 20922789888000.0;
    c = 1.0 / 87178291200.0 - c * z;
    c = 1.0 / 479001600.0 - c * z;
    c = 1.0 / 3628800.0 - c * z;
    c = 1.0 / 40320.0 - c * z;
    c = 1.0 / 720.0 - c * z;
    c = 1.0 / 24.0 - c * z;
    c = 0.5 - c * z;
    c = 1.0 - z * c;
    switch ((int64_t)n & 3) {
    case 0:
        *sine = s;
        *cosine = c;
        break;
    case 1:
        *sine = c;
        *cosine = -s;
        break;
    case 2:
        *sine = -s;
        *cosine = -c;
        break;
    default:
        *sine = -c;
        *cosine = s;
        break;
    }
}

/* Returns the angle in [0, pi/2] of the direction (x, y), both >= 0: atan2(y, x). Two half-angle steps bring tan below
 * 0.2, then the series of atan to t^25. (0, 0) gives 0. */
EXI_CALL double exi_angle(double y, double x) {
    bool steep = y > x;
    double large = steep ? y : x, small = steep ? x : y;
    if (!(large > 0.0))
        return 0.0;
    double t = small / large;
    t = t / (1.0 + sqrt(1.0 + t * t));
    t = t / (1.0 + sqrt(1.0 + t * t));
    double z = t * t;
    double p = 1.0 / 25.0;
    p = 1.0 / 23.0 - p * z;
    p = 1.0 / 21.0 - p * z;
    p = 1.0 / 19.0 - p * z;
    p = 1.0 / 17.0 - p * z;
    p = 1.0 / 15.0 - p * z;
    p = 1.0 / 13.0 - p * z;
    p = 1.0 / 11.0 - p * z;
    p = 1.0 / 9.0 - p * z;
    p = 1.0 / 7.0 - p * z;
    p = 1.0 / 5.0 - p * z;
    p = 1.0 / 3.0 - p * z;
    double angle = 4.0 * (t - t * z * p);
    return steep ? 1.57079632679489661923 - angle : angle;
}

/* Returns the angle in [0, pi] of the direction (x, y), y >= 0, to weight the corners of faces. One polynomial for all
 * of [0, 1] (relative minimax, found by Lawson's iteration) replaces the two roots and two divisions of exi_angle. Its
 * odd and even powers are summed separately, which halves the chain of dependent operations. (0, 0) gives 0. */
EXI_INLINE double exi_corner(double y, double x) {
    const double side = x < 0.0 ? -x : x;
    const bool steep = y > side;
    const double large = steep ? y : side, small = steep ? side : y;
    if (!(large > 0.0))
        return 0.0;
    const double t = small / large, z = t * t, z2 = z * z;
    double even = 0.010726947482906196, odd = -0.0017539305727683192;
    even = even * z2 + 0.05755211587860713;
    odd = odd * z2 - 0.03080460686611264;
    even = even * z2 + 0.10942031183775623;
    odd = odd * z2 - 0.08377316559896726;
    even = even * z2 + 0.19998266061004524;
    odd = odd * z2 - 0.14261933243628683;
    even = even * z2 + 0.9999999976308551;
    odd = odd * z2 - 0.3333328364293102;
    const double angle = t * (even + z * odd), quarter = steep ? 1.57079632679489661923 - angle : angle;
    return x < 0.0 ? 3.14159265358979323846 - quarter : quarter;
}

#endif
