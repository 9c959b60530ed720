/*
 * One joint of a palette: its matrix for skinning, or its decomposition into a stretch about the joint's centre and a
 * rigid motion (palette.c has the equations). Common subset of C and CUDA.
 */
#ifndef EXI_PALETTE_INL
#define EXI_PALETTE_INL

#include "runtime/pose/dual.inl"
#include "runtime/pose/matrix.inl"
#include "runtime/pose/polar.inl"

/* Stretches nearer to the identity than this are rounding errors of the rotation; the first stage is then skipped. */
#define EXI_STRETCH_NOTED 1e-6
/* Limit of usable numbers: beyond it, squares of cofactors would overflow float and give NaN. */
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

/* True if the matrix is rigid to rounding, as most joints are: they need no decomposition. */
EXI_INLINE bool exi_palette_rigid(const double m[12]) {
    for (int r = 0; r < 3; r++)
        for (int c = r; c < 3; c++)
            if (!(fabs(exi_dot3(m + 4 * r, m + 4 * c) - (r == c)) <= EXI_STRETCH_NOTED))
                return false;
    return exi_matrix_determinant(m) > 0;
}

/* The rigid motion R (x - c) + M c as a dual quaternion, with R as the unit quaternion q; `moved` is M c. */
EXI_INLINE void exi_palette_motion(const double q[4], const double centre[3], const double moved[3], float dual[8]) {
    double d[4], to[3], turned[3];
    exi_rotate(q, centre, turned);
    exi_subtract(moved, turned, to);
    exi_dual_part(q, to, d);
    for (int i = 0; i < 4; i++) {
        dual[i] = (float)q[i];
        dual[4 + i] = (float)d[i];
    }
}

/* The same with R as a matrix. */
EXI_INLINE void exi_palette_dual(const double rotation[3][3], const double centre[3], const double moved[3],
                                 float dual[8]) {
    double q[4];
    exi_quaternion_of(rotation, q);
    exi_palette_motion(q, centre, moved, dual);
}

/* A given rotation; one that is zero or not finite counts as none. */
EXI_INLINE void exi_palette_given(const float turn[4], double q[4]) {
    for (int i = 0; i < 4; i++)
        q[i] = (double)turn[i];
    if (exi_normalise(q, 4))
        return;
    for (int i = 0; i < 4; i++)
        q[i] = (double)(i == 3);
}

/* A rotation only, with a zero dual part. */
EXI_INLINE void exi_palette_turn(const double rotation[3][3], float dual[8]) {
    double q[4];
    exi_quaternion_of(rotation, q);
    for (int i = 0; i < 4; i++) {
        dual[i] = (float)q[i];
        dual[4 + i] = 0;
    }
}

/* The rotation of a rigid matrix. */
EXI_INLINE void exi_palette_linear(const double m[12], double rotation[3][3]) {
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            rotation[r][c] = m[4 * r + c];
}

/* Decomposes a matrix that is not rigid: affine holds the matrix on input and the stretch on output. Returns the
 * stretch's largest difference from the identity. The matrix is passed in memory, so that the caller can free its
 * registers. */
EXI_CALL double exi_palette_stretch(float affine[12], double x, double y, double z, float dual[8]) {
    const double centre[3] = {x, y, z};
    double m[12], rotation[3][3], stretch[3][3], n[12], moved[3], largest = 0;
    exi_matrix_from_floats(affine, m);
    exi_matrix_move(m, centre, moved);
    exi_polar_of(m, rotation, stretch);
    exi_palette_dual((const double(*)[3])rotation, centre, moved, dual);
    for (int r = 0; r < 3; r++) {
        n[4 * r + 3] = centre[r] - exi_dot3(stretch[r], centre);
        for (int c = 0; c < 3; c++) {
            const double difference = fabs(stretch[r][c] - (r == c));
            n[4 * r + c] = stretch[r][c];
            largest = difference > largest ? difference : largest;
        }
    }
    exi_matrix_to_floats(n, affine);
    return largest;
}

/* The rotation of a matrix that is not rigid. */
EXI_CALL void exi_palette_stretched_turn(const float matrix[12], float dual[8]) {
    double m[12], rotation[3][3], stretch[3][3];
    exi_matrix_from_floats(matrix, m);
    exi_polar_of(m, rotation, stretch);
    exi_palette_turn((const double(*)[3])rotation, dual);
}

/* Dual quaternion: decomposes one joint's matrix. True if its stretch differs from the identity. */
EXI_INLINE bool exi_palette_apart(const double m[12], const double centre[3], float affine[12], float dual[8]) {
    if (!exi_palette_rigid(m)) {
        exi_matrix_to_floats(m, affine);
        return exi_palette_stretch(affine, centre[0], centre[1], centre[2], dual) > EXI_STRETCH_NOTED;
    }
    double rotation[3][3], moved[3];
    exi_palette_linear(m, rotation);
    exi_matrix_move(m, centre, moved);
    exi_palette_dual((const double(*)[3])rotation, centre, moved, dual);
    for (int i = 0; i < 12; i++)
        affine[i] = (float)(i % 5 == 0);
    return false;
}

/* Linear: the rotation of a joint's matrix, which is given as floats too. */
EXI_INLINE void exi_palette_rotation(const double m[12], const float matrix[12], float dual[8]) {
    if (!exi_palette_rigid(m)) {
        exi_palette_stretched_turn(matrix, dual);
        return;
    }
    double rotation[3][3];
    exi_palette_linear(m, rotation);
    exi_palette_turn((const double(*)[3])rotation, dual);
}

/* exi_palette_apart with a given rotation R: the stretch is R^-1 M, which needs no decomposition. It moves the centre c
 * to scale * c. */
EXI_INLINE bool exi_palette_apart_by(const float turn[4], const double m[12], const double centre[3], double scale,
                                     float affine[12], float dual[8]) {
    const double kept[3] = {scale * centre[0], scale * centre[1], scale * centre[2]};
    double q[4], back[4], n[12], moved[3], largest = 0;
    exi_palette_given(turn, q);
    exi_conjugate(q, back);
    for (int c = 0; c < 3; c++) {
        const double column[3] = {m[c], m[4 + c], m[8 + c]};
        double stretch[3];
        exi_rotate(back, column, stretch);
        for (int r = 0; r < 3; r++) {
            n[4 * r + c] = stretch[r];
            largest = fmax(largest, fabs(stretch[r] - (r == c)));
        }
    }
    exi_matrix_move(m, centre, moved);
    exi_palette_motion(q, kept, moved, dual);
    const bool stretched = largest > EXI_STRETCH_NOTED;
    for (int r = 0; r < 3; r++)
        n[4 * r + 3] = kept[r] - exi_dot3(n + 4 * r, centre);
    for (int i = 0; i < 12 && !stretched; i++)
        n[i] = (double)(i % 5 == 0);
    exi_matrix_to_floats(n, affine);
    return stretched;
}

/* Linear: a given rotation. */
EXI_INLINE void exi_palette_rotation_by(const float turn[4], float dual[8]) {
    double q[4];
    exi_palette_given(turn, q);
    for (int i = 0; i < 4; i++) {
        dual[i] = (float)q[i];
        dual[4 + i] = 0;
    }
}

#endif
