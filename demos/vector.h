/*
 * vector.h - three-vectors and quaternions (x y z w) in double, for the demos. Keep the operations and their order: the
 * demos' files must not change by a bit.
 */
#ifndef EXEMPLAR_DEMOS_VECTOR_H
#define EXEMPLAR_DEMOS_VECTOR_H

#include <math.h>
#include <stdbool.h>

static inline void subtract(const double a[3], const double b[3], double out[3]) {
    for (int i = 0; i < 3; i++)
        out[i] = a[i] - b[i];
}

static inline double dot3(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void cross(const double a[3], const double b[3], double out[3]) {
    const double x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2], z = a[0] * b[1] - a[1] * b[0];
    out[0] = x;
    out[1] = y;
    out[2] = z;
}

/* Scales v to length 1; if v is zero, returns false and leaves it alone. Safe from overflow and underflow. */
static inline bool normalise3(double v[3]) {
    const double largest = fmax(fmax(fabs(v[0]), fabs(v[1])), fabs(v[2]));
    double sum = 0;
    if (!(largest > 0) || !isfinite(largest))
        return false;
    for (int i = 0; i < 3; i++)
        sum += (v[i] / largest) * (v[i] / largest);
    if (!isfinite(sum)) /* one is a NaN, which fmax ignores */
        return false;
    const double inverse = 1.0 / sqrt(sum);
    for (int i = 0; i < 3; i++)
        v[i] = v[i] / largest * inverse;
    return true;
}

/* normalise3 for numbers of usual size, with one division instead of seven. */
static inline bool unit3(double v[3]) {
    const double sum = dot3(v, v);
    if (!(sum > 1e-200 && sum < 1e200))
        return normalise3(v);
    const double inverse = 1.0 / sqrt(sum);
    for (int i = 0; i < 3; i++)
        v[i] *= inverse;
    return true;
}

/* out = a b: as rotations, b is applied first. out may be a or b. */
static inline void quaternion_multiply(const double a[4], const double b[4], double out[4]) {
    double v[3];
    const double w = a[3] * b[3] - dot3(a, b);
    cross(a, b, v);
    for (int i = 0; i < 3; i++)
        v[i] = a[3] * b[i] + b[3] * a[i] + v[i];
    for (int i = 0; i < 3; i++)
        out[i] = v[i];
    out[3] = w;
}

#endif
