/*
 * Three-vectors and quaternions (x y z w) in double. A rotation is a unit quaternion; q and -q are the same one. Common
 * subset of C and CUDA.
 */
#ifndef EXI_VECTOR_H
#define EXI_VECTOR_H

#include "runtime/base/functions.inl"

EXI_INLINE void exi_subtract(const double a[3], const double b[3], double out[3]) {
    for (int i = 0; i < 3; i++)
        out[i] = a[i] - b[i];
}

EXI_INLINE double exi_dot3(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

EXI_INLINE void exi_cross(const double a[3], const double b[3], double out[3]) {
    double x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2], z = a[0] * b[1] - a[1] * b[0];
    out[0] = x;
    out[1] = y;
    out[2] = z;
}

#if defined(__CUDA_ARCH__)
/* Two factors, applied one after the other, that scale four numbers to unit length; second is 0 if they are all zero or
 * not finite. */
typedef struct exi_shortening {
    double first, second;
} exi_shortening;
EXI_CALL exi_shortening exi_shorten(double x, double y, double z, double w) {
    const double largest = fmax(fmax(fabs(x), fabs(y)), fmax(fabs(z), fabs(w)));
    const uint64_t exponent = exi_to_bits(largest) >> 52;
    exi_shortening by;
    by.first = exi_from_bits((exponent < 2045 ? 2046 - exponent : 1) << 52);
    x *= by.first;
    y *= by.first;
    z *= by.first;
    w *= by.first;
    const double sum = x * x + y * y + z * z + w * w;
    by.second = largest > 0 && isfinite(largest) && isfinite(sum) ? rsqrt(sum) : 0;
    return by;
}
#endif

/* Scales v to unit length. Returns false, and leaves v unchanged, if its length is zero or not finite. Safe from
 * overflow and underflow. On a GPU, where a division takes much code, it uses a power of 2 and a reciprocal root, which
 * may differ in the last bits; count must be a constant from 2 to 4 there. */
EXI_INLINE bool exi_normalise(double *v, int count) {
#if defined(__CUDA_ARCH__)
    const exi_shortening by = exi_shorten(v[0], v[1], count > 2 ? v[2] : 0, count > 3 ? v[3] : 0);
    for (int i = 0; i < count && by.second > 0; i++)
        v[i] = v[i] * by.first * by.second;
    return by.second > 0;
#else
    double largest = 0;
    for (int i = 0; i < count; i++)
        largest = fmax(largest, fabs(v[i]));
    if (!(largest > 0) || !isfinite(largest))
        return false;
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += (v[i] / largest) * (v[i] / largest);
    if (!isfinite(sum)) /* one is NaN, which fmax ignores */
        return false;
    double inverse = 1.0 / sqrt(sum);
    for (int i = 0; i < count; i++)
        v[i] = v[i] / largest * inverse;
    return true;
#endif
}

/* exi_normalise for three numbers of usual size, with one division instead of seven; other numbers go to
 * exi_normalise. */
EXI_INLINE bool exi_unit3(double v[3]) {
    const double sum = exi_dot3(v, v);
    if (!(sum > 1e-200 && sum < 1e200))
        return exi_normalise(v, 3);
    const double inverse = 1.0 / sqrt(sum);
    for (int i = 0; i < 3; i++)
        v[i] *= inverse;
    return true;
}

/* out = a b: as rotations, b is applied first. out may be a or b. */
EXI_INLINE void exi_quaternion_multiply(const double a[4], const double b[4], double out[4]) {
    double v[3], w = a[3] * b[3] - exi_dot3(a, b);
    exi_cross(a, b, v);
    for (int i = 0; i < 3; i++)
        v[i] = a[3] * b[i] + b[3] * a[i] + v[i];
    for (int i = 0; i < 3; i++)
        out[i] = v[i];
    out[3] = w;
}

/* The rotation matrix of a unit quaternion, row by row. */
EXI_INLINE void exi_quaternion_matrix(const double q[4], double m[9]) {
    const double x = q[0], y = q[1], z = q[2], w = q[3];
    m[0] = 1 - 2 * (y * y + z * z);
    m[1] = 2 * (x * y - w * z);
    m[2] = 2 * (x * z + w * y);
    m[3] = 2 * (x * y + w * z);
    m[4] = 1 - 2 * (x * x + z * z);
    m[5] = 2 * (y * z - w * x);
    m[6] = 2 * (x * z - w * y);
    m[7] = 2 * (y * z + w * x);
    m[8] = 1 - 2 * (x * x + y * y);
}

/* The inverse of a unit quaternion. */
EXI_INLINE void exi_conjugate(const double q[4], double out[4]) {
    for (int i = 0; i < 3; i++)
        out[i] = -q[i];
    out[3] = q[3];
}

/* v turned by the unit quaternion q. */
EXI_INLINE void exi_rotate(const double q[4], const double v[3], double out[3]) {
    double t[3], u[3];
    exi_cross(q, v, t);
    for (int i = 0; i < 3; i++)
        t[i] *= 2.0;
    exi_cross(q, t, u);
    for (int i = 0; i < 3; i++)
        out[i] = v[i] + q[3] * t[i] + u[i];
}

/* The part of the unit quaternion q that turns about the unit axis; the identity if q reverses that axis. */
EXI_INLINE void exi_twist(const double q[4], const double axis[3], double twist[4]) {
    double along = exi_dot3(q, axis);
    double pair[2] = {along, q[3]};
    if (along * along + q[3] * q[3] < 1e-24 || !exi_normalise(pair, 2)) {
        pair[0] = 0;
        pair[1] = 1;
    }
    for (int i = 0; i < 3; i++)
        twist[i] = axis[i] * pair[0];
    twist[3] = pair[1];
}

#endif
