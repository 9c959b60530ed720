/*
 * Matrices in double (matrix.h). The polar decomposition comes from the singular values, L = U diag(s) V^T = (U V^T)
 * (V diag(s) V^T): the iterations that are usual for it do not converge where a joint is scaled to nothing.
 */
#include "runtime/pose/matrix.h"

#include "runtime/base/dense.h"
#include "runtime/base/vector.h"

#include <float.h>
#include <string.h>

double exi_matrix_determinant(const double m[12]) {
    double cross[3];
    exi_cross(m + 4, m + 8, cross);
    return exi_dot3(m, cross);
}

void exi_matrix_multiply(const double a[12], const double b[12], double out[12]) {
    double product[12];
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 4; c++)
            product[4 * r + c] =
                a[4 * r] * b[c] + a[4 * r + 1] * b[4 + c] + a[4 * r + 2] * b[8 + c] + (c == 3 ? a[4 * r + 3] : 0.0);
    memcpy(out, product, sizeof product);
}

bool exi_matrix_invert(const double m[12], double out[12]) {
    double columns[3][3]; /* of the inverse, times the determinant */
    exi_cross(m + 4, m + 8, columns[0]);
    exi_cross(m + 8, m, columns[1]);
    exi_cross(m, m + 4, columns[2]);
    double determinant = exi_dot3(m, columns[0]);
    double lengths = sqrt(exi_dot3(m, m)) * sqrt(exi_dot3(m + 4, m + 4)) * sqrt(exi_dot3(m + 8, m + 8));
    if (!(fabs(determinant) > 1e-12 * lengths))
        return false;
    double moved[3] = {m[3], m[7], m[11]};
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++)
            out[4 * r + c] = columns[c][r] / determinant;
        out[4 * r + 3] = -exi_dot3(out + 4 * r, moved);
    }
    return true;
}

void exi_matrix_turn(const double m[12], const double x[3], double out[3]) {
    double turned[3] = {exi_dot3(m, x), exi_dot3(m + 4, x), exi_dot3(m + 8, x)};
    memcpy(out, turned, sizeof turned);
}

void exi_matrix_move(const double m[12], const double x[3], double out[3]) {
    exi_matrix_turn(m, x, out);
    for (int i = 0; i < 3; i++)
        out[i] += m[4 * i + 3];
}

bool exi_matrix_usable(const double m[12]) {
    for (int i = 0; i < 12; i++)
        if (!(fabs(m[i]) <= EXI_MATRIX_MOST))
            return false;
    return true;
}

void exi_matrix_from_floats(const float from[12], double m[12]) {
    for (int i = 0; i < 12; i++)
        m[i] = (double)from[i];
}

void exi_matrix_to_floats(const double m[12], float to[12]) {
    const double most = (double)FLT_MAX;
    for (int i = 0; i < 12; i++)
        to[i] = m[i] > most ? FLT_MAX : m[i] < -most ? -FLT_MAX : (float)m[i];
}

void exi_matrix_compose(const double translation[3], const double q[4], const double scale[3], double m[12]) {
    for (int c = 0; c < 3; c++) {
        double axis[3] = {c == 0, c == 1, c == 2}, turned[3];
        exi_rotate(q, axis, turned);
        for (int r = 0; r < 3; r++)
            m[4 * r + c] = turned[r] * scale[c];
    }
    for (int r = 0; r < 3; r++)
        m[4 * r + 3] = translation[r];
}

/* From the largest of the four squares 4 w^2, 4 x^2, …, so that nothing is divided by a small number. */
void exi_quaternion_of(const double rotation[3][3], double q[4]) {
    const double trace = rotation[0][0] + rotation[1][1] + rotation[2][2];
    int largest = 3;
    for (int i = 0; i < 3; i++)
        if (rotation[i][i] > (largest == 3 ? trace : rotation[largest][largest]))
            largest = i;
    if (largest == 3) {
        q[3] = 1 + trace;
        for (int i = 0; i < 3; i++)
            q[i] = rotation[(i + 2) % 3][(i + 1) % 3] - rotation[(i + 1) % 3][(i + 2) % 3];
    } else {
        const int i = largest, j = (i + 1) % 3, k = (i + 2) % 3;
        q[i] = 1 + rotation[i][i] - rotation[j][j] - rotation[k][k];
        q[j] = rotation[j][i] + rotation[i][j];
        q[k] = rotation[k][i] + rotation[i][k];
        q[3] = rotation[k][j] - rotation[j][k];
    }
    exi_normalise(q, 4);
    for (int i = 0; i < 4 && q[3] < 0; i++)
        q[i] = i < 3 ? -q[i] : q[i];
    q[3] = fabs(q[3]);
}

/* The places of three numbers, largest first. */
static void sort_down(const double s[3], int order[3]) {
    for (int i = 0; i < 3; i++)
        order[i] = i;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2 - i; j++)
            if (s[order[j + 1]] > s[order[j]]) {
                int t = order[j];
                order[j] = order[j + 1];
                order[j + 1] = t;
            }
}

/* A unit vector perpendicular to the unit vector u. */
static void perpendicular(const double u[3], double out[3]) {
    int smallest = fabs(u[0]) <= fabs(u[1]) && fabs(u[0]) <= fabs(u[2]) ? 0 : fabs(u[1]) <= fabs(u[2]) ? 1 : 2;
    double axis[3] = {smallest == 0, smallest == 1, smallest == 2};
    exi_cross(u, axis, out);
    exi_normalise(out, 3);
}

void exi_polar(const double m[12], double rotation[3][3], double stretch[3][3]) {
    double us[3][3], v[3][3], s[3], u[3][3], cross[3];
    int order[3];
    for (int c = 0; c < 3; c++)
        for (int r = 0; r < 3; r++)
            us[c][r] = m[4 * r + c];
    exi_svd(&us[0][0], 3, 3, &v[0][0], s);
    sort_down(s, order);
    const int a = order[0], b = order[1], c = order[2];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            rotation[i][j] = i == j;
    memset(stretch, 0, 9 * sizeof(double));
    if (!(s[a] > 0))
        return;
    for (int i = 0; i < 3; i++)
        u[a][i] = us[a][i] / s[a];
    for (int i = 0; i < 3; i++)
        u[b][i] = s[b] > 1e-12 * s[a] ? us[b][i] / s[b] : 0;
    if (!(s[b] > 1e-12 * s[a]))
        perpendicular(u[a], u[b]);
    /* The third direction of a rotation follows from the others; its stretch then has the sign of the determinant. */
    exi_cross(v[a], v[b], cross);
    const double hand = exi_dot3(cross, v[c]) < 0 ? -1 : 1;
    exi_cross(u[a], u[b], u[c]);
    for (int i = 0; i < 3; i++)
        u[c][i] *= hand;
    s[c] = exi_dot3(u[c], us[c]);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            rotation[i][j] = u[0][i] * v[0][j] + u[1][i] * v[1][j] + u[2][i] * v[2][j];
            stretch[i][j] = v[0][i] * s[0] * v[0][j] + v[1][i] * s[1] * v[1][j] + v[2][i] * s[2] * v[2][j];
        }
}
