/*
 * One joint of a palette: its matrix as skinning reads it, and taken apart into a stretch about the joint's centre and
 * a rigid motion (palette.c has the equations). Common subset of C and CUDA.
 */
#ifndef EXI_PALETTE_INL
#define EXI_PALETTE_INL

#include "runtime/pose/dual.inl"
#include "runtime/pose/matrix.inl"
#include "runtime/pose/polar.inl"

/* Stretches nearer to the identity than this are rounding of the rotation; then the first stage is left out. */
#define EXI_STRETCH_NOTED 1e-6
/* Numbers beyond this are not used: squares of cofactors would leave the range of float and come back as no number. */
#define EXI_PALETTE_MOST 1e12

/* A matrix that is not usable counts as the identity. */
EXI_INLINE void exi_palette_matrix(const float from[12], double m[12]) {
    bool usable = true;
    for (int i = 0; i < 12; i++)
        usable = usable && fabs((double)from[i]) <= EXI_PALETTE_MOST;
    for (int i = 0; i < 12; i++)
        m[i] = usable ? (double)from[i] : (double)(i % 5 == 0);
}

/* from is NULL for the origin. */
EXI_INLINE void exi_palette_centre(const float *from, double centre[3]) {
    for (int c = 0; c < 3; c++) {
        const double value = from ? (double)from[c] : 0.0;
        centre[c] = fabs(value) <= EXI_PALETTE_MOST ? value : 0.0;
    }
}

/* Most joints are rigid to rounding, and need no decomposition. */
EXI_INLINE bool exi_palette_rigid(const double m[12]) {
    for (int r = 0; r < 3; r++)
        for (int c = r; c < 3; c++)
            if (!(fabs(exi_dot3(m + 4 * r, m + 4 * c) - (r == c)) <= EXI_STRETCH_NOTED))
                return false;
    return exi_matrix_determinant(m) > 0;
}

/* The others', by value: what has an address is not in a GPU's registers. */
typedef struct exi_palette_parts {
    double rotation[3][3], stretch[3][3];
} exi_palette_parts;

EXI_RARE exi_palette_parts exi_palette_polar(double a, double b, double c, double d, double e, double f, double g,
                                             double h, double i) {
    const double m[12] = {a, b, c, 0, d, e, f, 0, g, h, i, 0};
    exi_palette_parts parts;
    exi_polar_of(m, parts.rotation, parts.stretch);
    return parts;
}

EXI_INLINE exi_palette_parts exi_palette_split(const double m[12]) {
    if (!exi_palette_rigid(m))
        return exi_palette_polar(m[0], m[1], m[2], m[4], m[5], m[6], m[8], m[9], m[10]);
    exi_palette_parts parts;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            parts.rotation[r][c] = m[4 * r + c];
            parts.stretch[r][c] = r == c;
        }
    return parts;
}

/* Takes one joint's matrix apart. Returns the largest difference of its stretch from the identity. */
EXI_INLINE double exi_palette_apart(const double m[12], const double centre[3], float affine[12], float dual[8]) {
    double q[4], d[4], to[3], n[12], turned[3], largest = 0;
    const exi_palette_parts parts = exi_palette_split(m);
    exi_quaternion_of(parts.rotation, q);
    exi_matrix_move(m, centre, to);
    exi_rotate(q, centre, turned);
    for (int r = 0; r < 3; r++) {
        to[r] -= turned[r];
        n[4 * r + 3] = centre[r] - exi_dot3(parts.stretch[r], centre);
        for (int c = 0; c < 3; c++) {
            const double difference = fabs(parts.stretch[r][c] - (r == c));
            n[4 * r + c] = parts.stretch[r][c];
            largest = difference > largest ? difference : largest;
        }
    }
    exi_dual_part(q, to, d);
    exi_matrix_to_floats(n, affine);
    for (int i = 0; i < 4; i++) {
        dual[i] = (float)q[i];
        dual[4 + i] = (float)d[i];
    }
    return largest;
}

/* The rotation of a matrix alone, with a dual part of nothing. */
EXI_INLINE void exi_palette_rotation(const double m[12], float dual[8]) {
    double q[4];
    const exi_palette_parts parts = exi_palette_split(m);
    exi_quaternion_of(parts.rotation, q);
    for (int i = 0; i < 4; i++) {
        dual[i] = (float)q[i];
        dual[4 + i] = 0;
    }
}

#endif
