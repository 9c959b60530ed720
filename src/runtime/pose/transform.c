/*
 * Transforms: conversion to a matrix and back (polar decomposition), and interpolation (rotations along the great
 * circle of unit quaternions, Shoemake 1985).
 */
#include "runtime/base/result.h"
#include "runtime/pose/local.inl"
#include "runtime/pose/matrix.h"

ex_transform ex_transform_identity(void) {
    return (ex_transform){.rotation = {0, 0, 0, 1}, .scale = {1, 1, 1}};
}

void ex_transform_matrix(const ex_transform *transform, float matrix[12]) {
    if (!transform || !matrix) {
        exi_misuse(__func__, "no transform, or no pointer for the matrix");
        return;
    }
    const ex_transform rest = ex_transform_identity();
    exi_local local;
    double m[12];
    exi_local_read(transform, &rest, &local);
    exi_matrix_compose(local.translation, local.rotation, local.scale, m);
    exi_matrix_to_floats(m, matrix);
}

double ex_transform_from_matrix(const float matrix[12], ex_transform *transform) {
    if (!matrix || !transform) {
        exi_misuse(__func__, "no matrix, or no pointer for the transform");
        return 0;
    }
    *transform = ex_transform_identity();
    if (!exi_floats_finite(matrix, 12))
        return INFINITY;
    double m[12], rotation[3][3], stretch[3][3], q[4], largest = 0, lost = 0;
    exi_matrix_from_floats(matrix, m);
    const double hand = exi_matrix_determinant(m) < 0 ? -1 : 1;
    for (int r = 0; r < 3; r++)
        m[4 * r] *= hand;
    exi_polar(m, rotation, stretch);
    exi_quaternion_of((const double(*)[3])rotation, q);
    for (int i = 0; i < 4; i++)
        transform->rotation[i] = (float)q[i];
    for (int c = 0; c < 3; c++) {
        double scale = m[c] * rotation[0][c] + m[4 + c] * rotation[1][c] + m[8 + c] * rotation[2][c];
        for (int r = 0; r < 3; r++) {
            double entry = fabs(m[4 * r + c]), difference = fabs(m[4 * r + c] - scale * rotation[r][c]);
            largest = entry > largest ? entry : largest;
            lost = difference > lost ? difference : lost;
        }
        transform->scale[c] = (float)(c == 0 ? hand * scale : scale);
        transform->translation[c] = matrix[4 * c + 3];
    }
    return largest > 0 ? lost / largest : 0;
}

static double sine(double x) {
    double s, c;
    exi_sin_cos(x, &s, &c);
    return s;
}

/* Below this sine of the angle, the arc is a straight line to 1e-8. */
#define LINE_BELOW 1e-4
/* Limit of angles, in quarter turns, for accurate sines. */
#define TIME_MOST 1e4

static void interpolate_rotation(const double a[4], const double b[4], double t, double q[4]) {
    double cosine = 0, plus = 0, minus = 0;
    for (int i = 0; i < 4; i++)
        cosine += a[i] * b[i];
    const double sign = cosine < 0 ? -1 : 1;
    for (int i = 0; i < 4; i++) {
        plus += (a[i] + sign * b[i]) * (a[i] + sign * b[i]);
        minus += (a[i] - sign * b[i]) * (a[i] - sign * b[i]);
    }
    const double angle = 2 * exi_angle(sqrt(minus), sqrt(plus)), across = sine(angle);
    const double from = across > LINE_BELOW ? sine((1 - t) * angle) / across : 1 - t;
    const double to = across > LINE_BELOW ? sine(t * angle) / across : t;
    for (int i = 0; i < 4; i++)
        q[i] = from * a[i] + sign * to * b[i];
    if (!exi_normalise(q, 4))
        for (int i = 0; i < 4; i++)
            q[i] = a[i];
}

ex_transform ex_transform_interpolate(const ex_transform *a, const ex_transform *b, double t) {
    ex_transform between = ex_transform_identity();
    if (!a || !b || !(fabs(t) <= TIME_MOST)) {
        exi_misuse(__func__, "no transforms, or a time that is not within +-10000");
        return between;
    }
    exi_local from, to;
    double q[4];
    exi_local_read(a, &between, &from);
    exi_local_read(b, &between, &to);
    interpolate_rotation(from.rotation, to.rotation, t, q);
    for (int i = 0; i < 3; i++) {
        between.translation[i] = (float)((1 - t) * from.translation[i] + t * to.translation[i]);
        between.scale[i] = (float)((1 - t) * from.scale[i] + t * to.scale[i]);
    }
    for (int i = 0; i < 4; i++)
        between.rotation[i] = (float)q[i];
    return between;
}
