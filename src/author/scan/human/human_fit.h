/*
 * human_fit.h - the work of carrying a template to scans; private to src/author/scan/human.
 *
 *   human_fit.c   figures and poses
 *   human_seek.c  limbs that were not found
 */
#ifndef EXEMPLAR_AUTHOR_SCAN_HUMAN_HUMAN_FIT_H
#define EXEMPLAR_AUTHOR_SCAN_HUMAN_HUMAN_FIT_H

#include "author/base/arena.h"
#include "author/mesh/mesh_search.h"
#include "author/scan/human/human.h"

/* A point of the template that is to come to a place. */
typedef struct exi_fit_match {
    int vertices[3];
    double shares[3];
    bool plane; /* counts along the normal only */
    double target[3], normal[3];
    double weight;
} exi_fit_match;

/* A scan while the template is carried to it. */
typedef struct exi_fit_one {
    const struct exi_human_work *fit;
    exi_human_scan *scan;
    exi_search surface;
    exi_fit_match *matches;
    int match_count;
    double (*starts)[4]; /* [joint_count]: rotations */
    double (*rotations)[9], (*posed)[3];
    double (*vertices)[3]; /* [vertex_count] */
    double (*normals)[3];  /* [vertex_count] */
    double (*rows)[3];     /* [unknowns + figure_count] */
    double *along;         /* likewise */
    double (*moved)[3];    /* [figure_count][joint_count]: derivatives of the joints' places */
    /* Normal equations of the pose [unknowns], its products with the figure, and those of the figure. */
    double *matrix, *right, *diagonal;
    double *mixed; /* [figure_count][unknowns] */
    double *figure_matrix, *figure_right;
    bool found; /* a limb, posed anew */
    ex_result result;
    ex_error error;
} exi_fit_one;

/* All scans. */
typedef struct exi_human_work {
    const exi_human *human;
    exi_arena arena;
    exi_fit_one *ones;
    int scan_count, unknowns, joint_count, vertex_count, figure_count;
    double (*rest)[3], (*places)[3];
    double (*usual)[3]; /* [joint_count]: places without figures */
    int stride;
    bool by_anchors; /* true at first: scans count by their anchors only, so that limbs find their places */
    double reach;
    double *figure, *change; /* [figure_count] */
    ex_error *error;
} exi_human_work;

/* Looks for limbs that were not found: a leg or arm of which the scan shows little where it is posed. Returns true if
 * one is posed anew. */
bool exi_fit_seek(exi_fit_one *o);

#endif
