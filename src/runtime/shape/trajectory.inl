/*
 * Paths of single vertices (trajectory warping): the mean of a turn, R~(w) = integral of R(s w) over s in [0, 1]
 * (equation 7), its inverse, and the curves of correctors. Common subset of C and CUDA.
 *
 * With W the matrix of the cross product by w and z = |w|^2:
 *
 *   R(w)     = I + (sin |w| / |w|) W + a W^2      a = (1 - cos |w|) / z
 *   R~(w)    = I + a W + b W^2                    b = (1 - sin |w| / |w|) / z
 *   R~(w)^-1 = I - 1/2 W + c W^2                  c = (1 - h cot h) / z, h = |w| / 2
 *
 * a and b are entire functions of z: they need no root, no quotient and no threshold near zero. In float they are
 * polynomials of degree 7 in z / 16 - 1 (minimax of the error of R~(w) v, found by Lawson's iteration) for |w| up to
 * 5.65, which is beyond EX_TURN_MAX; longer ones, which occur only in blends, use sine and cosine in double. Error of
 * R~(w) v in float: below 4e-7 |v| for |w| <= 5.65 and 1e-6 |v| beyond; measured in
 * tests/runtime/shape/test_trajectory.c.
 */
#ifndef EXI_TRAJECTORY_INL
#define EXI_TRAJECTORY_INL

#include "runtime/base/functions.inl"

#include <exemplar/shape.h>

/* ---- in double ---- */

/* a, b and sin |w| / |w| for any z >= 0. Turns of more than 1e5 radians, beyond the range of sine and cosine, count as
 * infinite: only the part of R~ along w remains. */
EXI_CALL void exi_turn_factors(double z, double *a, double *b, double *sinc) {
    if (z < 0.01) {
        *sinc = 1.0 - z * (1.0 / 6.0 - z * (1.0 / 120.0 - z * (1.0 / 5040.0 - z * (1.0 / 362880.0))));
        *a = 0.5 - z * (1.0 / 24.0 - z * (1.0 / 720.0 - z * (1.0 / 40320.0 - z * (1.0 / 3628800.0))));
        *b = 1.0 / 6.0 - z * (1.0 / 120.0 - z * (1.0 / 5040.0 - z * (1.0 / 362880.0 - z * (1.0 / 39916800.0))));
        return;
    }
    *a = *sinc = 0.0;
    if (z < 1e10) {
        const double angle = sqrt(z);
        double sine, cosine;
        exi_sin_cos(0.5 * angle, &sine, &cosine);
        *sinc = 2.0 * sine * cosine / angle;
        *a = 2.0 * sine * sine / z;
    }
    *b = (1.0 - *sinc) / z;
}

/* out = v + p (w x v) + q (w x (w x v)). out may be v. */
EXI_INLINE void exi_turn_combine(const double w[3], const double v[3], double p, double q, double out[3]) {
    const double x = w[1] * v[2] - w[2] * v[1], y = w[2] * v[0] - w[0] * v[2], z = w[0] * v[1] - w[1] * v[0];
    const double xx = w[1] * z - w[2] * y, yy = w[2] * x - w[0] * z, zz = w[0] * y - w[1] * x;
    out[0] = v[0] + (p * x + q * xx);
    out[1] = v[1] + (p * y + q * yy);
    out[2] = v[2] + (p * z + q * zz);
}

EXI_INLINE double exi_turn_square(const double w[3]) {
    return w[0] * w[0] + w[1] * w[1] + w[2] * w[2];
}

/* R(w) v */
EXI_INLINE void exi_turn_apply(const double w[3], const double v[3], double out[3]) {
    double a, b, sinc;
    exi_turn_factors(exi_turn_square(w), &a, &b, &sinc);
    exi_turn_combine(w, v, sinc, a, out);
}

/* R~(w) v */
EXI_INLINE void exi_turn_mean(const double w[3], const double v[3], double out[3]) {
    double a, b, sinc;
    exi_turn_factors(exi_turn_square(w), &a, &b, &sinc);
    exi_turn_combine(w, v, a, b, out);
}

/* R~(w)^-1 v for |w| < 2 pi: z c = 1 - h cot h with h = |w| / 2. */
EXI_INLINE void exi_turn_mean_inverse(const double w[3], const double v[3], double out[3]) {
    const double z = exi_turn_square(w);
    double c = 1.0 / 12.0 + z * (1.0 / 720.0 + z * (1.0 / 30240.0 + z * (1.0 / 1209600.0)));
    if (z >= 0.01) {
        const double half = 0.5 * sqrt(z);
        double sine, cosine;
        exi_sin_cos(half, &sine, &cosine);
        c = (1.0 - half * cosine / sine) / z;
    }
    exi_turn_combine(w, v, -0.5, c, out);
}

/* The amount q(s) of a corrector (exemplar/shape.h): (1 - s) r(s), where r is a polynomial in 2s - 1; outside [0, 1],
 * the value that keeps s q(s) on its tangent. */
EXI_INLINE double exi_corrector_amount(const float curve[EX_CURVE_SIZE], double s) {
    const double inside = s > 0.0 ? (s < 1.0 ? s : 1.0) : 0.0, t = 2.0 * inside - 1.0;
    double r = 0.0;
    for (int i = EX_CURVE_SIZE; i-- > 0;)
        r = r * t + (double)curve[i];
    return s > 1.0 ? (1.0 - s) / s * r : (1.0 - inside) * r;
}

/* ---- in float ---- */

#define EXI_TURN_FAR 32.0f /* largest z of the polynomials */

/* Their coefficients, constant first. */
#define EXI_TURN_DEGREE 7
#define EXI_TURN_A                                                                                                     \
    {                                                                                                                  \
        0.103352726f, -0.197953045f, 0.139897734f, -0.0478029735f, 0.00959535502f, -0.00126988313f, 0.000120049735f,   \
            -8.19792967e-06f                                                                                           \
    }
#define EXI_TURN_B                                                                                                     \
    {                                                                                                                  \
        0.07432504f, -0.0598111972f, 0.0252757352f, -0.00617206935f, 0.000968188629f, -0.000105471481f,                \
            8.46550302e-06f, -4.95528298e-07f                                                                          \
    }

/* For turns up to 3.24 radians, z <= 10.5, as most are: shorter polynomials, in z itself. */
#define EXI_TURN_NEAR 10.5f
#define EXI_TURN_NEAR_A                                                                                                \
    { 0.49999997f, -0.0416665599f, 0.00138880499f, -2.47736734e-05f, 2.7104366e-07f, -1.73026915e-09f }
#define EXI_TURN_NEAR_B                                                                                                \
    { 0.166666254f, -0.0083327638f, 0.0001981573f, -2.70567489e-06f, 2.05385611e-08f }

EXI_INLINE void exi_turn_factors_far(float z, float *a, float *b) {
    double exact_a, exact_b, sinc;
    exi_turn_factors((double)z, &exact_a, &exact_b, &sinc);
    *a = (float)exact_a;
    *b = (float)exact_b;
}

/* R~(w) v, one vertex at a time, for GPUs; trajectory.c has the SIMD version. */
EXI_INLINE void exi_turn_mean_float(const float w[3], const float v[3], float out[3]) {
    const float as[] = EXI_TURN_A, bs[] = EXI_TURN_B;
    const float z = w[0] * w[0] + w[1] * w[1] + w[2] * w[2], t = z * (2.0f / EXI_TURN_FAR) - 1.0f;
    float a = as[EXI_TURN_DEGREE], b = bs[EXI_TURN_DEGREE];
    for (int i = EXI_TURN_DEGREE; i-- > 0;) {
        a = a * t + as[i];
        b = b * t + bs[i];
    }
    if (z > EXI_TURN_FAR)
        exi_turn_factors_far(z, &a, &b);
    const float x = w[1] * v[2] - w[2] * v[1], y = w[2] * v[0] - w[0] * v[2], c = w[0] * v[1] - w[1] * v[0];
    const float xx = w[1] * c - w[2] * y, yy = w[2] * x - w[0] * c, zz = w[0] * y - w[1] * x;
    out[0] = v[0] + (a * x + b * xx);
    out[1] = v[1] + (a * y + b * yy);
    out[2] = v[2] + (a * c + b * zz);
}

#endif
