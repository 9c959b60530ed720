/*
 * Matrices of three rows and four columns in double, with the translation in the fourth column; rotations as matrices
 * and quaternions. Common subset of C and CUDA: all indices are known at compile time, so that a GPU keeps matrices in
 * registers.
 */
#ifndef EXI_MATRIX_INL
#define EXI_MATRIX_INL

#include "runtime/base/vector.h"

#include <float.h>

/* Limit of usable numbers: larger ones are refused or read as rest, since their products would overflow a float. */
#define EXI_MATRIX_MOST 1e30

/* The determinant of the linear part. */
EXI_INLINE double exi_matrix_determinant(const double m[12]) {
    double cross[3];
    exi_cross(m + 4, m + 8, cross);
    return exi_dot3(m, cross);
}

/* out = a b. out may be a or b. */
EXI_INLINE void exi_matrix_multiply(const double a[12], const double b[12], double out[12]) {
    double product[12];
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 4; c++)
            product[4 * r + c] =
                a[4 * r] * b[c] + a[4 * r + 1] * b[4 + c] + a[4 * r + 2] * b[8 + c] + (c == 3 ? a[4 * r + 3] : 0.0);
    for (int i = 0; i < 12; i++)
        out[i] = product[i];
}

/* Column c of that product, which needs no other column of b: out may be b. */
EXI_INLINE void exi_matrix_multiply_column(const double a[12], const double b[12], int c, double out[12]) {
    const double x = b[c], y = b[4 + c], z = b[8 + c];
    for (int r = 0; r < 3; r++)
        out[4 * r + c] = a[4 * r] * x + a[4 * r + 1] * y + a[4 * r + 2] * z + (c == 3 ? a[4 * r + 3] : 0.0);
}

/* out = m x, with the linear part only, and with the translation. out may be x. */
EXI_INLINE void exi_matrix_turn(const double m[12], const double x[3], double out[3]) {
    const double a = exi_dot3(m, x), b = exi_dot3(m + 4, x), c = exi_dot3(m + 8, x);
    out[0] = a;
    out[1] = b;
    out[2] = c;
}

EXI_INLINE void exi_matrix_move(const double m[12], const double x[3], double out[3]) {
    exi_matrix_turn(m, x, out);
    for (int i = 0; i < 3; i++)
        out[i] += m[4 * i + 3];
}

/* True if every number is within +-EXI_MATRIX_MOST. */
EXI_INLINE bool exi_matrix_usable(const double m[12]) {
    for (int i = 0; i < 12; i++)
        if (!(fabs(m[i]) <= EXI_MATRIX_MOST))
            return false;
    return true;
}

EXI_INLINE void exi_matrix_from_floats(const float from[12], double m[12]) {
    for (int i = 0; i < 12; i++)
        m[i] = (double)from[i];
}

/* Converts to float; numbers beyond the range of float become the largest ones. */
EXI_INLINE void exi_matrix_to_floats(const double m[12], float to[12]) {
    const double most = (double)FLT_MAX;
    for (int i = 0; i < 12; i++)
        to[i] = m[i] > most ? FLT_MAX : m[i] < -most ? -FLT_MAX : (float)m[i];
}

/* Makes a matrix from scale, unit quaternion and translation. */
EXI_INLINE void exi_matrix_compose(const double translation[3], const double q[4], const double scale[3],
                                   double m[12]) {
    /* exi_rotate of the three axes, without the products by 0 */
    for (int c = 0; c < 3; c++) {
        const int j = (c + 1) % 3, k = (c + 2) % 3;
        const double tj = 2.0 * q[k], tk = -2.0 * q[j];
        m[4 * c + c] = (1.0 + (q[j] * tk - q[k] * tj)) * scale[c];
        m[4 * j + c] = (0.0 + q[3] * tj - q[c] * tk) * scale[c];
        m[4 * k + c] = (0.0 + q[3] * tk + q[c] * tj) * scale[c];
    }
    for (int r = 0; r < 3; r++)
        m[4 * r + 3] = translation[r];
}

/* Quaternion from 4 q_i^2, if that is the largest; i, j, k are in cyclic order. */
EXI_INLINE void exi_quaternion_about(const double rotation[3][3], int i, int j, int k, double q[4]) {
    q[i] = 1 + rotation[i][i] - rotation[j][j] - rotation[k][k];
    q[j] = rotation[j][i] + rotation[i][j];
    q[k] = rotation[k][i] + rotation[i][k];
    q[3] = rotation[k][j] - rotation[j][k];
}

/* The unit quaternion of a rotation, with w not negative: computed from the largest of the four squares 4 w^2, 4 x^2,
 * …, so that no division is by a small number. */
EXI_INLINE void exi_quaternion_of(const double rotation[3][3], double q[4]) {
    const double trace = rotation[0][0] + rotation[1][1] + rotation[2][2];
    double most = trace;
    int largest = 3;
    for (int i = 0; i < 3; i++)
        if (rotation[i][i] > most) {
            most = rotation[i][i];
            largest = i;
        }
    if (largest == 3) {
        q[3] = 1 + trace;
        for (int i = 0; i < 3; i++)
            q[i] = rotation[(i + 2) % 3][(i + 1) % 3] - rotation[(i + 1) % 3][(i + 2) % 3];
    } else if (largest == 0) {
        exi_quaternion_about(rotation, 0, 1, 2, q);
    } else if (largest == 1) {
        exi_quaternion_about(rotation, 1, 2, 0, q);
    } else {
        exi_quaternion_about(rotation, 2, 0, 1, q);
    }
    exi_normalise(q, 4);
    const double side = q[3] < 0 ? -1 : 1;
    for (int i = 0; i < 3; i++)
        q[i] *= side;
    q[3] = fabs(q[3]);
}

#endif
