/*
 * Polar decomposition of a joint's matrix into rotation and stretch. It is computed from the singular values, L = U
 * diag(s) V^T = (U V^T) (V diag(s) V^T): the usual iterations do not converge if a joint is scaled to zero. Common
 * subset of C and CUDA.
 */
#ifndef EXI_POLAR_INL
#define EXI_POLAR_INL

#include "runtime/base/svd.inl"
#include "runtime/base/vector.h"

/* Swaps two columns if `swap`. */
EXI_INLINE void exi_polar_swap(bool swap, double a[3], double b[3]) {
    for (int i = 0; i < 3; i++) {
        const double x = swap ? b[i] : a[i], y = swap ? a[i] : b[i];
        a[i] = x;
        b[i] = y;
    }
}

/* A unit vector perpendicular to the unit vector u. */
EXI_INLINE void exi_polar_across(const double u[3], double out[3]) {
    const int smallest = fabs(u[0]) <= fabs(u[1]) && fabs(u[0]) <= fabs(u[2]) ? 0 : fabs(u[1]) <= fabs(u[2]) ? 1 : 2;
    double axis[3] = {(double)(smallest == 0), (double)(smallest == 1), (double)(smallest == 2)};
    exi_cross(u, axis, out);
    exi_normalise(out, 3);
}

/* exi_polar (matrix.h). */
EXI_CALL void exi_polar_of(const double m[12], double rotation[3][3], double stretch[3][3]) {
    double us[3][3], v[3][3], s[3], u[3][3], cross[3];
    for (int c = 0; c < 3; c++)
        for (int r = 0; r < 3; r++)
            us[c][r] = m[4 * r + c];
    exi_svd_of(&us[0][0], 3, 3, &v[0][0], s);
    /* Sorts, largest first: swaps the first two, the last two, and the first two again. */
    bool swaps[3];
    EXI_ROLLED for (int k = 0; k < 3; k++) {
        const int i = k == 1;
        const double low = s[i], high = s[i + 1];
        swaps[k] = high > low;
        s[i] = swaps[k] ? high : low;
        s[i + 1] = swaps[k] ? low : high;
        exi_polar_swap(swaps[k], us[i], us[i + 1]);
        exi_polar_swap(swaps[k], v[i], v[i + 1]);
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            rotation[i][j] = i == j;
            stretch[i][j] = 0;
        }
    if (!(s[0] > 0))
        return;
    for (int i = 0; i < 3; i++)
        u[0][i] = us[0][i] / s[0];
    for (int i = 0; i < 3; i++)
        u[1][i] = s[1] > 1e-12 * s[0] ? us[1][i] / s[1] : 0;
    if (!(s[1] > 1e-12 * s[0]))
        exi_polar_across(u[0], u[1]);
    /* The third direction of a rotation follows from the other two; its stretch gets the sign of the determinant. */
    exi_cross(v[0], v[1], cross);
    const double hand = exi_dot3(cross, v[2]) < 0 ? -1 : 1;
    exi_cross(u[0], u[1], u[2]);
    for (int i = 0; i < 3; i++)
        u[2][i] *= hand;
    s[2] = exi_dot3(u[2], us[2]);
    /* Restore the original order, which is the order of the sums. */
    EXI_ROLLED for (int k = 2; k >= 0; k--) {
        const int i = k == 1;
        const double low = s[i], high = s[i + 1];
        s[i] = swaps[k] ? high : low;
        s[i + 1] = swaps[k] ? low : high;
        exi_polar_swap(swaps[k], u[i], u[i + 1]);
        exi_polar_swap(swaps[k], v[i], v[i + 1]);
    }
    EXI_ROLLED for (int i = 0; i < 3; i++) EXI_ROLLED for (int j = 0; j < 3; j++) {
        rotation[i][j] = u[0][i] * v[0][j] + u[1][i] * v[1][j] + u[2][i] * v[2][j];
        stretch[i][j] = v[0][i] * s[0] * v[0][j] + v[1][i] * s[1] * v[1][j] + v[2][i] * s[2] * v[2][j];
    }
}

#endif
