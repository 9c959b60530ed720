/*
 * poses.h - matrices, rotations and skins for the tests of skinning, computed in double by formulas other than the
 * library's.
 */
#ifndef EXEMPLAR_TESTS_POSES_H
#define EXEMPLAR_TESTS_POSES_H

#include <exemplar/pose.h>

/* Row-major 3 x 4, the entries of the rotation written out. */
void oracle_matrix(const ex_transform *t, double m[12]);
/* out = a b, by the triple loop over 4 x 4. */
void oracle_multiply(const double a[12], const double b[12], double out[12]);
/* By Gauss-Jordan on 4 x 4. False if a pivot vanishes. */
bool oracle_invert(const double m[12], double out[12]);
void oracle_apply(const double m[12], const double x[3], double out[3]);

/* A turn by degrees about an axis of any length, and a move; scale 1. */
ex_transform turned(double degrees, double x, double y, double z);
ex_transform random_rigid(uint64_t *random, double reach);

/* A random skin whose vertices have 1 to `most` influences; and form, normals of length 1, tangents with signs. */
ex_skin *random_skin(uint64_t *random, int vertex_count, int joint_count, int most);
void random_rows(uint64_t *random, float *rows, int count, int width, bool unit);

/* A palette in its own memory (release with free), from transforms or matrices. */
ex_palette *palette_of(ex_skinning method, int joint_count, const float *matrices, const float *centres, void **memory);

#endif
