/*
 * Converts transforms to matrices, M = T R S, and back. A matrix whose columns are not perpendicular has no such form;
 * it gets the rotation nearest to its columns' directions, found by Newton's iteration X ← (X + X⁻ᵀ)/2 (N. J. Higham,
 * "Computing the polar decomposition", 1986).
 */
#include "author/formats/scene/scene.h"

#include "runtime/base/vector.h"

#include <math.h>
#include <string.h>

enum { POLAR_STEPS = 60 };

/* Columns of a quaternion's rotation; the quaternion is scaled to length 1, and zero is the identity. */
static void rotation_columns(const double rotation[4], double columns[3][3]) {
    double q[4] = {rotation[0], rotation[1], rotation[2], rotation[3]};
    if (!exi_normalise(q, 4)) {
        q[0] = q[1] = q[2] = 0;
        q[3] = 1;
    }
    for (int i = 0; i < 3; i++) {
        double axis[3] = {i == 0, i == 1, i == 2};
        exi_rotate(q, axis, columns[i]);
    }
}

void exi_scene_matrix_from_transform(const ex_scene_transform *transform, double matrix[16]) {
    double columns[3][3];
    rotation_columns(transform->rotation, columns);
    for (int c = 0; c < 3; c++) {
        for (int r = 0; r < 3; r++)
            matrix[4 * c + r] = columns[c][r] * transform->scale[c];
        matrix[4 * c + 3] = 0;
        matrix[12 + c] = transform->translation[c];
    }
    matrix[15] = 1;
}

void exi_scene_matrix_multiply(const double a[16], const double b[16], double out[16]) {
    for (int c = 0; c < 4; c++)
        for (int r = 0; r < 4; r++) {
            double sum = 0;
            for (int k = 0; k < 4; k++)
                sum += a[4 * k + r] * b[4 * c + k];
            out[4 * c + r] = sum;
        }
}

bool exi_scene_matrix_invert(const double m[16], double out[16]) {
    double rows[3][3];
    for (int i = 0; i < 3; i++)
        exi_cross(m + 4 * ((i + 1) % 3), m + 4 * ((i + 2) % 3), rows[i]);
    const double d = exi_dot3(rows[0], m);
    const double sizes = sqrt(exi_dot3(m, m) * exi_dot3(m + 4, m + 4) * exi_dot3(m + 8, m + 8));
    if (!(fabs(d) > 1e-12 * sizes))
        return false;
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++)
            out[4 * c + r] = rows[r][c] / d;
        out[12 + r] = -exi_dot3(rows[r], m + 12) / d;
        out[4 * r + 3] = 0;
    }
    out[15] = 1;
    return true;
}

/* Starts from the largest of the four components, so that no divisor is small. */
static void quaternion_from_columns(double m[3][3], double q[4]) {
    double trace = m[0][0] + m[1][1] + m[2][2];
    if (trace > 0) {
        q[0] = m[1][2] - m[2][1];
        q[1] = m[2][0] - m[0][2];
        q[2] = m[0][1] - m[1][0];
        q[3] = 1 + trace;
    } else {
        int i = m[1][1] > m[0][0] ? 1 : 0;
        i = m[2][2] > m[i][i] ? 2 : i;
        int j = (i + 1) % 3, k = (i + 2) % 3;
        q[i] = 1 + m[i][i] - m[j][j] - m[k][k];
        q[j] = m[i][j] + m[j][i];
        q[k] = m[i][k] + m[k][i];
        q[3] = m[j][k] - m[k][j];
    }
    if (!exi_normalise(q, 4)) {
        q[0] = q[1] = q[2] = 0;
        q[3] = 1;
    }
}

static double determinant(double m[3][3]) {
    double cross[3];
    exi_cross(m[0], m[1], cross);
    return exi_dot3(cross, m[2]);
}

/* Replaces columns of length 0 by directions perpendicular to the others. */
static void complete(double m[3][3], const bool empty[3]) {
    for (int i = 0; i < 3; i++) {
        if (!empty[i])
            continue;
        int j = (i + 1) % 3, k = (i + 2) % 3;
        if (empty[j] && empty[k]) {
            memset(m[i], 0, sizeof m[i]);
            m[i][i] = 1;
        } else {
            double helper[3] = {0, 0, 0};
            const double *one = empty[j] ? m[k] : m[j];
            int smallest = fabs(one[0]) < fabs(one[1]) ? 0 : 1;
            smallest = fabs(one[2]) < fabs(one[smallest]) ? 2 : smallest;
            helper[smallest] = 1;
            exi_cross(empty[j] ? helper : m[j], empty[k] ? helper : m[k], m[i]);
            if (!exi_normalise(m[i], 3))
                m[i][smallest] = 1;
        }
        bool filled[3] = {empty[0], empty[1], empty[2]};
        filled[i] = false;
        complete(m, filled);
        return;
    }
}

/* Finds the rotation nearest to columns of length 1 with a positive determinant. */
static void make_orthogonal(double m[3][3]) {
    for (int step = 0; step < POLAR_STEPS; step++) {
        double cofactors[3][3], d = determinant(m), change = 0;
        if (!(d > 1e-12))
            return;
        for (int i = 0; i < 3; i++)
            exi_cross(m[(i + 1) % 3], m[(i + 2) % 3], cofactors[i]);
        for (int i = 0; i < 3; i++)
            for (int r = 0; r < 3; r++) {
                double next = 0.5 * (m[i][r] + cofactors[i][r] / d);
                change = fabs(next - m[i][r]) > change ? fabs(next - m[i][r]) : change;
                m[i][r] = next;
            }
        if (change < 1e-15)
            return;
    }
}

double exi_scene_matrix_to_transform(const double matrix[16], ex_scene_transform *transform) {
    double columns[3][3], largest = 0;
    bool empty[3];
    for (int c = 0; c < 3; c++) {
        double *column = columns[c];
        for (int r = 0; r < 3; r++) {
            column[r] = matrix[4 * c + r];
            largest = fabs(column[r]) > largest ? fabs(column[r]) : largest;
        }
        double length[3] = {column[0], column[1], column[2]};
        empty[c] = !exi_normalise(column, 3);
        transform->scale[c] = empty[c] ? 0 : exi_dot3(length, column);
        transform->translation[c] = matrix[12 + c];
    }
    complete(columns, empty);
    if (determinant(columns) < 0)
        for (int c = 0; c < 3; c++) {
            /* Negates all three: a mirror has no preferred axis, and this choice changes no direction. */
            transform->scale[c] = -transform->scale[c];
            for (int r = 0; r < 3; r++)
                columns[c][r] = -columns[c][r];
        }
    make_orthogonal(columns);
    quaternion_from_columns(columns, transform->rotation);
    double again[16], worst = 0;
    exi_scene_matrix_from_transform(transform, again);
    for (int i = 0; i < 12; i++)
        worst = fabs(again[i] - matrix[i]) > worst ? fabs(again[i] - matrix[i]) : worst;
    return largest > 0 ? worst / largest : 0;
}
