/*
 * Distances between points of a space, measured on features: the values of an axis after scaling, and after swing or
 * twist have been extracted. Scalars come first, one number each, already scaled; then the rotations in the order of
 * their axes: a unit quaternion (whole, twist), or a unit direction (swing). Common subset of C and CUDA.
 *
 * For unit quaternions |q - q'| |q + q'| = 2 sin(angle/2), independent of the sign of either and without trigonometry;
 * for unit directions |a - a'| = 2 sin(angle/2). Both are distances in a Euclidean embedding (q q^T; the sphere), which
 * keeps positive definite kernels positive definite.
 */
#ifndef EXI_METRIC_INL
#define EXI_METRIC_INL

#include "runtime/base/functions.inl"

/* Measure of a rotation axis. */
typedef struct exi_rotation_metric {
    double width; /* 4: quaternion, 3: direction */
    double scale;
} exi_rotation_metric;

EXI_INLINE double exi_rotation_distance(const double *a, const double *b, int width, bool angular) {
    double minus = 0.0, plus = 0.0;
    EXI_ROLLED for (int i = 0; i < width; i++) {
        minus += (a[i] - b[i]) * (a[i] - b[i]);
        plus += (a[i] + b[i]) * (a[i] + b[i]);
    }
    if (!angular)
        return width == 4 ? sqrt(minus * plus) : sqrt(minus);
    const double half_turn = 3.14159265358979323846;
    if (width == 3)
        return 2.0 * exi_angle(sqrt(minus), sqrt(plus)) / half_turn;
    double small = minus < plus ? minus : plus, large = minus < plus ? plus : minus;
    return 4.0 * exi_angle(sqrt(small), sqrt(large)) / half_turn;
}

/* angular: true to measure rotations by their angle as a fraction of a half turn, not by the chord. */
EXI_INLINE double exi_distance(const double *a, const double *b, int scalar_count, const exi_rotation_metric *rotations,
                               int rotation_count, bool angular) {
    double sum = 0.0;
    EXI_ROLLED for (int i = 0; i < scalar_count; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
    const double *qa = a + scalar_count, *qb = b + scalar_count;
    EXI_ROLLED for (int i = 0; i < rotation_count; i++) {
        int width = (int)rotations[i].width;
        double d = exi_rotation_distance(qa, qb, width, angular) * rotations[i].scale;
        sum += d * d;
        qa += width;
        qb += width;
    }
    return sqrt(sum);
}

#endif
