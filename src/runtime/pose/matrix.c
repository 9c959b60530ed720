/*
 * The inverse and the polar decomposition of a matrix (matrix.h).
 */
#include "runtime/pose/matrix.h"

#include "runtime/pose/polar.inl"

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

void exi_polar(const double m[12], double rotation[3][3], double stretch[3][3]) {
    exi_polar_of(m, rotation, stretch);
}
