/*
 * Thin singular value decomposition by one-sided Jacobi rotations (Hestenes 1958): rotates pairs of columns until all
 * are perpendicular; the product of these rotations is V. Common subset of C and CUDA.
 */
#ifndef EXI_SVD_INL
#define EXI_SVD_INL

#include "runtime/base/functions.inl"

/* Two partial sums, so that additions need not wait for each other. */
EXI_INLINE double exi_svd_dot(const double *a, const double *b, int n) {
    double even = 0, odd = 0;
    for (int i = 0; i + 1 < n; i += 2) {
        even += a[i] * b[i];
        odd += a[i + 1] * b[i + 1];
    }
    return n % 2 ? even + odd + a[n - 1] * b[n - 1] : even + odd;
}

EXI_INLINE void exi_svd_turn(double *a, double *b, int n, double c, double s) {
    for (int i = 0; i < n; i++) {
        double x = a[i], y = b[i];
        a[i] = c * x - s * y;
        b[i] = s * x + c * y;
    }
}

/* exi_svd (dense.h). */
EXI_INLINE void exi_svd_of(double *columns, int n, int d, double *v, double *s) {
    for (int i = 0; i < d; i++)
        for (int j = 0; j < d; j++)
            v[(size_t)i * (size_t)d + (size_t)j] = i == j;
    for (int sweep = 0; sweep < 60; sweep++) {
        bool rotated = false;
        EXI_ROLLED for (int i = 0; i < d; i++) EXI_ROLLED for (int j = i + 1; j < d; j++) {
            double *a = columns + (size_t)i * (size_t)n, *b = columns + (size_t)j * (size_t)n;
            double aa = exi_svd_dot(a, a, n), bb = exi_svd_dot(b, b, n), ab = exi_svd_dot(a, b, n);
            if (!(fabs(ab) > 1e-15 * sqrt(aa * bb)) || ab == 0)
                continue;
            double zeta = (bb - aa) / (2.0 * ab);
            double t = (zeta < 0 ? -1.0 : 1.0) / (fabs(zeta) + sqrt(1.0 + zeta * zeta));
            double c = 1.0 / sqrt(1.0 + t * t);
            exi_svd_turn(a, b, n, c, c * t);
            exi_svd_turn(v + (size_t)i * (size_t)d, v + (size_t)j * (size_t)d, d, c, c * t);
            rotated = true;
        }
        if (!rotated)
            break;
    }
    EXI_ROLLED for (int i = 0; i < d; i++) s[i] =
        sqrt(exi_svd_dot(columns + (size_t)i * (size_t)n, columns + (size_t)i * (size_t)n, n));
}

#endif
