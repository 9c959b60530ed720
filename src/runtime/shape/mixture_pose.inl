/*
 * Mixtures of paths at a pose, before any vertex (exemplar/shape.h has the formula): weights, shares, amounts of
 * correctors, and the steps of which the places of nodes are made, for one example, corrector, node or edge at a time.
 * Common subset of C and CUDA; mixture_kernel.c has the loops.
 */
#ifndef EXI_MIXTURE_POSE_INL
#define EXI_MIXTURE_POSE_INL

#include "runtime/shape/trajectories.h"
#include "runtime/shape/trajectory.inl"

/* ---- weights ---- */

/* pos(x): x above 0 and 0 below, without a corner. */
EXI_INLINE double exi_mixture_positive(double x) {
    return x > 0.0 ? x * x / (x + 0.05) : 0.0;
}

/* x'_k: the weight of example k, brought back. */
EXI_INLINE double exi_mixture_weight(const exi_trajectories *p, const double *weights, int k) {
    const float *overlaps = (const float *)exi_trajectories_at(p, p->overlaps);
    if (k == p->reference)
        return 0.0;
    double over = exi_mixture_positive(weights[k]);
    if (p->overlaps != 0) {
        over = 0.0;
        EXI_ROLLED for (int l = 0; l < p->example_count; l++) if (l != p->reference) over +=
            (double)overlaps[(size_t)k * (size_t)p->example_count + (size_t)l] * exi_mixture_positive(weights[l]);
    }
    if (!(over > 1.0))
        return weights[k];
    const double d = over - 1.0;
    return weights[k] / (1.0 + d * d / (d + 0.25));
}

/* Computes the shares s [corner_count] and the bounded shares s' from the weights brought back. Returns the fade. */
EXI_INLINE double exi_mixture_shares(const exi_trajectories *p, const double *weights, double *shares,
                                     double *bounded) {
    double sum = 0.0, whole = 0.0;
    EXI_ROLLED for (int k = 0; k < p->example_count; k++) {
        shares[1 + k] = k == p->reference ? 0.0 : weights[k];
        sum += shares[1 + k];
    }
    shares[0] = 1.0 - sum;
    EXI_ROLLED for (int i = 0; i <= p->example_count; i++) {
        bounded[i] = shares[i] < 0.0 ? shares[i] / (1.0 - 4.0 * shares[i]) : shares[i];
        whole += bounded[i];
    }
    EXI_ROLLED for (int i = 0; i <= p->example_count; i++) bounded[i] /= whole;
    const double excess = sum > 1.0 ? sum - 1.0 : 0.0;
    return 1.0 / (1.0 + 8.0 * excess * excess);
}

/* T(s') of a term. */
EXI_INLINE double exi_mixture_term(const ex_mixture_term *term, const double *bounded) {
    const double a = bounded[term->corners[0]], b = bounded[term->corners[1]];
    if (term->corners[2] >= 0)
        return 27.0 * a * b * bounded[term->corners[2]];
    double value = 4.0 * a * b;
    for (int i = 0; i < term->power; i++)
        value *= a - b;
    return value;
}

/* ---- nodes ---- */

/* Factors a and sinc of trajectory.inl for turns of z = |w|^2 up to 40: polynomials in z / 20 - 1 that interpolate at
 * Chebyshev points; their errors are below 1e-13. They have no roots, quotients and branches; sine and cosine take five
 * times as long. */
#define EXI_MIXTURE_NEAR 40.0
EXI_INLINE void exi_mixture_factors(double z, double *a, double *sinc) {
    enum { DEGREE = 11 };
    const double as[DEGREE + 1] = {0.061897419599026046,    -0.1704895787746492,    0.167894069571233,
                                   -0.07610284898946959,    0.019814798291262266,   -0.003360967952832144,
                                   0.0004019369920550563,   -3.577339846997853e-05, 2.4646580924165267e-06,
                                   -1.3544500587555792e-07, 6.1002410816858514e-09, -2.2765972262698951e-10};
    const double sincs[DEGREE + 1] = {-0.2171843183513283,    -0.0103820368146732,    0.5507473234954985,
                                      -0.45030440556221174,   0.16453830333839745,    -0.0355083716789931,
                                      0.005126290457087338,   -0.00053293946196375,   4.1925646686944414e-05,
                                      -2.587321351937323e-06, 1.2928073396274327e-07, -5.293638848285401e-09};
    const double t = z / (EXI_MIXTURE_NEAR / 2) - 1;
    double p = as[DEGREE], q = sincs[DEGREE];
    for (int i = DEGREE; i-- > 0;) {
        p = p * t + as[i];
        q = q * t + sincs[i];
    }
    *a = p;
    *sinc = q;
}

/* The rotation R(w) minus the identity, row after row, from the factors of trajectory.inl. */
EXI_INLINE void exi_mixture_rotation_of(const double w[3], double a, double sinc, double out[9]) {
    const double x = w[0], y = w[1], z = w[2];
    out[0] = -a * (y * y + z * z);
    out[1] = a * x * y - sinc * z;
    out[2] = a * x * z + sinc * y;
    out[3] = a * x * y + sinc * z;
    out[4] = -a * (x * x + z * z);
    out[5] = a * y * z - sinc * x;
    out[6] = a * x * z - sinc * y;
    out[7] = a * y * z + sinc * x;
    out[8] = -a * (x * x + y * y);
}

/* The same with the factors of w. */
EXI_INLINE void exi_mixture_rotation(const double w[3], double out[9]) {
    double a, b, sinc;
    exi_turn_factors(exi_turn_square(w), &a, &b, &sinc);
    exi_mixture_rotation_of(w, a, sinc, out);
}

/* The matrix of a node at `place` whose place in the mesh is `start`: three rows of R - I and of the offset place -
 * start
 * - (R - I) start. turn: R - I. */
EXI_INLINE void exi_mixture_affine(const float turn[9], const float start[3], const float place[3], float out[12]) {
    for (int r = 0; r < 3; r++) {
        double offset = (double)place[r] - (double)start[r];
        for (int c = 0; c < 3; c++) {
            out[4 * r + c] = turn[3 * r + c];
            offset -= (double)turn[3 * r + c] * (double)start[c];
        }
        out[4 * r + 3] = (float)offset;
    }
}

#endif
