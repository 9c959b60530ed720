/*
 * Layout of weighted sums of affine matrices, for skins and mixtures of paths: a vertex has four influences; a matrix
 * is three rows of four floats, padded to four rows with zeros. So its address is one shift away from its index, and it
 * lies in one cache line.
 */
#ifndef EXI_INFLUENCE_H
#define EXI_INFLUENCE_H

/* Influences of a vertex in a sum, and floats of a matrix. */
enum { EXI_SHORT = 4, EXI_MATRIX_FLOATS = 16 };

#endif
