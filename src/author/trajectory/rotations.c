/*
 * Rotations in double (trajectory.h), by Rodrigues' formula and its mean over the path:
 *
 *   R(w)  = I + A [w]x + B [w]x^2,   A = sin a / a,          B = (1 - cos a) / a^2,   a = |w|      (equation 5)
 *   R~(w) = I + B [w]x + C [w]x^2,   C = (a - sin a) / a^3                                          (equation 7)
 *
 * The factors, and the inverse of R~, are those of the runtime (shape/trajectory.inl); this file turns them into
 * matrices, and adds derivatives.
 */
#include "author/trajectory/trajectory.h"
#include "runtime/base/vector.h"
#include "runtime/pose/matrix.h"
#include "runtime/shape/trajectory.inl"

#include <math.h>

#define TWO_PI 6.283185307179586
#define SMALL  0.01 /* if the squared angle is below this, slopes are series of four terms: exact to 1e-15 */

typedef struct coefficients {
    double a, b, c;          /* A, B, C */
    double slope_b, slope_c; /* derivatives of B and C by the angle, over the angle */
} coefficients;

static coefficients of_turn(const double w[3]) {
    const double x = exi_turn_square(w);
    coefficients k;
    exi_turn_factors(x, &k.b, &k.c, &k.a);
    if (x < SMALL) {
        k.slope_b = -1.0 / 12 + x * (1.0 / 180 - x * (1.0 / 6720 - x * (1.0 / 453600)));
        k.slope_c = -1.0 / 60 + x * (1.0 / 1260 - x * (1.0 / 60480 - x * (1.0 / 4989600)));
    } else {
        k.slope_b = (k.a - 2 * k.b) / x;
        k.slope_c = (k.b - 3 * k.c) / x;
    }
    return k;
}

/* I + first [w]x + second [w]x^2. */
static void compose(const double w[3], double first, double second, double r[3][3]) {
    const double square = exi_dot3(w, w);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            r[i][j] = second * (w[i] * w[j] - (i == j ? square : 0)) + (i == j);
    r[0][1] -= first * w[2];
    r[0][2] += first * w[1];
    r[1][0] += first * w[2];
    r[1][2] -= first * w[0];
    r[2][0] -= first * w[1];
    r[2][1] += first * w[0];
}

void exi_turn_matrix(const double w[3], double r[3][3]) {
    const coefficients k = of_turn(w);
    compose(w, k.a, k.b, r);
}

void exi_mean_turn(const double w[3], double r[3][3]) {
    const coefficients k = of_turn(w);
    compose(w, k.b, k.c, r);
}

void exi_turn_vector(const double r[3][3], double w[3]) {
    double q[4];
    exi_quaternion_of(r, q);
    const double sine = sqrt(exi_dot3(q, q));
    const double factor = sine > 1e-9 ? 2 * exi_angle(sine, q[3]) / sine : 2; /* q[3] is not negative */
    for (int i = 0; i < 3; i++)
        w[i] = factor * q[i];
}

void exi_turn_nearest(double w[3], const double near[3]) {
    const double angle = sqrt(exi_dot3(w, w));
    if (angle < 1e-9)
        return;
    const double k = nearbyint((exi_dot3(near, w) / angle - angle) / TWO_PI);
    for (int i = 0; i < 3; i++)
        w[i] *= 1 + TWO_PI * k / angle;
}

void exi_mean_turn_invert(const double w[3], const double d[3], double v[3]) {
    exi_turn_mean_inverse(w, d, v);
}

/* R~(w) v = v + B w x v + C w x (w x v). */
void exi_mean_turn_derivative(const double w[3], const double v[3], double derivative[3][3]) {
    const coefficients k = of_turn(w);
    double once[3], twice[3];
    exi_cross(w, v, once);
    exi_cross(w, once, twice);
    const double along = exi_dot3(w, v);
    for (int a = 0; a < 3; a++) {
        double e[3] = {a == 0, a == 1, a == 2}, turned[3];
        exi_cross(e, v, turned);
        for (int i = 0; i < 3; i++) /* w x (w x v) = w (w . v) - v (w . w) */
            derivative[i][a] = k.b * turned[i] + k.slope_b * w[a] * once[i] + k.slope_c * w[a] * twice[i] +
                               k.c * (e[i] * along + w[i] * v[a] - 2 * w[a] * v[i]);
    }
}

void exi_apply(double m[3][3], const double x[3], double out[3]) {
    const double a = x[0], b = x[1], c = x[2];
    for (int i = 0; i < 3; i++)
        out[i] = m[i][0] * a + m[i][1] * b + m[i][2] * c;
}

void exi_apply_transpose(double m[3][3], const double x[3], double out[3]) {
    const double a = x[0], b = x[1], c = x[2];
    for (int i = 0; i < 3; i++)
        out[i] = m[0][i] * a + m[1][i] * b + m[2][i] * c;
}

void exi_screw_point(const ex_screw *screw, const double centre[3], double t, const double point[3], double moved[3]) {
    double w[3], arm[3], turn[3][3], mean[3][3], shift[3];
    for (int i = 0; i < 3; i++) {
        w[i] = t * screw->turn[i];
        arm[i] = point[i] - centre[i];
    }
    exi_turn_matrix(w, turn);
    exi_mean_turn(w, mean);
    exi_apply(turn, arm, arm);
    exi_apply(mean, screw->move, shift);
    for (int i = 0; i < 3; i++)
        moved[i] = centre[i] + arm[i] + t * shift[i];
}
