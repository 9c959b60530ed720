/*
 * motion_finding.h - principal forms that are being found: shared by motion_forms.c and motion_merge.c.
 */
#ifndef EXEMPLAR_AUTHOR_DRIVE_MOTION_MOTION_FINDING_H
#define EXEMPLAR_AUTHOR_DRIVE_MOTION_MOTION_FINDING_H

#include "author/drive/motion/drive_motion.h"

typedef struct exi_motion_finding {
    size_t numbers;       /* of a form */
    int rows;             /* forms wanted, and spare ones */
    float *basis;         /* [rows][numbers] */
    double *coefficients; /* [frames][rows] */
    double *products;     /* [rows][rows]: sums over frames of products of two coefficients */
    double left;          /* sum over frames of the squared length of u - mean */
} exi_motion_finding;

/* Finds the basis from centred rows. */
ex_result exi_motion_find_basis(exi_motion_learner *l, exi_motion_finding *f, const exi_motion_rows *rows);
/* Adds the coefficients [rows] of a frame to the products. */
void exi_motion_add_frame(exi_motion_finding *f, const double *coefficients);
/* Finds mean, basis, coefficients and products from the principal forms of each reference. */
ex_result exi_motion_merge(exi_motion_learner *l, exi_motion_finding *f);

#endif
