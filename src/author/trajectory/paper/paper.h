/*
 * paper.h - the energies of the trajectory-warping paper (equations 8 to 27) for one example, and their minimisation;
 * private to authoring.
 *
 *   paper_problem.c  constants of the mesh and the example, start values
 *   paper_weights.c  the weights of the terms
 *   paper_energy.c   the energies of a state
 *   paper_linear.c   their derivatives, and blocks of the diagonal
 *   paper_product.c  products with J^T J, right-hand sides
 *   paper_coarse.c   a coarse space, so that conjugate gradients need no more steps on finer meshes
 *   paper_fit.c      Gauss-Newton steps, and the function that runs everything
 *
 * Unknowns. The paper solves for v and w of every vertex. The pose term is close to a hard constraint that is strongly
 * curved in these: steps along its tangent leave it, and plain Gauss-Newton then creeps. Here v is replaced by the miss
 *
 *   z = R~(w) v + sum over appended bases of R~(w_a) v_a - (P1 - P0),    v = R~(w)^-1 (P1 - P0 + z - sum ...)
 *
 * so that the pose term is |z|^2, any w satisfies the pose, and v follows. Energies and minimum are the paper's.
 *
 * Lengths are fractions of the diagonal of the mesh's bounding box. The two kinds of unknowns, v or z and w, then have
 * similar sizes, and nothing depends on the unit of the mesh.
 */
#ifndef EXEMPLAR_AUTHOR_TRAJECTORY_PAPER_PAPER_H
#define EXEMPLAR_AUTHOR_TRAJECTORY_PAPER_PAPER_H

#include "author/trajectory/segments/segments.h"

enum { EXI_PAPER_POSE, EXI_PAPER_ROTATION, EXI_PAPER_GRADIENT, EXI_PAPER_TERM_COUNT };

/* The unknowns, and the quantities that follow from them. */
typedef struct exi_paper_state {
    double *turns;                       /* [vertex_count][3]: w */
    double *misses;                      /* [vertex_count][3]: z */
    double *bases;                       /* [segment_count][6]: w_a, v_a */
    double *sums;                        /* [segment_count][9]: sums of the bases at times 1 and 1/2, and as velocity */
    double *velocities;                  /* [vertex_count][3]: v */
    double *halves;                      /* [vertex_count][3]: displacement at time 1/2, including bases */
    double *gradients;                   /* [triangle_count][9]: residuals of equation 18 */
    double *spins;                       /* [vertex_count][3]: residuals of equation 12 or 27 */
    double energy[EXI_PAPER_TERM_COUNT]; /* unweighted */
    double total;                        /* weighted */
} exi_paper_state;

typedef struct exi_paper {
    const ex_between *between;
    const exi_segmentation *segments;     /* or NULL */
    int segment_count;                    /* 0 without segments */
    double scale;                         /* 1 / size */
    double weights[EXI_PAPER_TERM_COUNT]; /* alpha^2, beta^2, gamma^2; 0: term left out */

    double *targets;  /* [vertex_count][3]: P1 - P0 */
    double *inertias; /* [triangle_count][6]: K^-1 of equation 11, xx yy zz xy xz yz */
    double *goals;    /* [triangle_count][9]: right-hand side of equation 18; 0 for triangles without area */
    double *shares;   /* [vertex_count]: 1 over the number of triangles whose curl a vertex averages; 0: held still */

    exi_paper_state states[2]; /* the present one and the trial one */
    int present;

    /* derivatives at the present state; see paper_linear.c */
    double *maps;        /* [vertex_count][4][9] */
    double *base_maps;   /* [segment_count][4][9] */
    double *curl_self;   /* [vertex_count][9]: W_ii */
    double *curl_sq;     /* [vertex_count][6]: sum over k of W_ki^T W_ki */
    double *slope_sq;    /* [vertex_count]: sum of squared slopes */
    double *blocks;      /* [vertex_count][21]: Cholesky factors of the diagonal's blocks */
    double *base_blocks; /* [segment_count][36]: the same for bases, in the first 21 */
    double damping[3];   /* of z, w and bases */

    /* scratch memory of products */
    double *moves;         /* [vertex_count][3]: residuals of the rotation term */
    double *triangle_work; /* [triangle_count][12] */
    double *vertex_work;   /* [vertex_count][6] */
    double *segment_work;  /* [segment_count][9] */
    double *partial;       /* sums over blocks of items */
    struct exi_coarse *coarse;
} exi_paper;

static inline const exi_paper_state *exi_paper_present(const exi_paper *paper) {
    return &paper->states[paper->present];
}

/* True if a segment's basis is solved for: it has one, and the energies determine it. */
static inline bool exi_paper_solved(const exi_paper *paper, int segment) {
    return exi_segments_carried(paper->segments, segment) && !paper->segments->loose[segment];
}

/* True if a corner's vertex averages the curl of this triangle. */
static inline bool exi_paper_counts(const exi_paper *paper, int triangle, int corner) {
    const ex_between *b = paper->between;
    if (b->areas[triangle] == 0)
        return false;
    return !paper->segment_count || paper->segments->triangles[triangle] ==
                                        paper->segments->vertices[b->triangles[3 * (size_t)triangle + (size_t)corner]];
}

/* ---- paper_problem.c ---- */

/* Sets constants, start values (equations 21, 22; bases from segments) and weights. */
ex_result exi_paper_create(exi_paper *paper, const ex_trajectory_options *options, const ex_between *between,
                           const exi_segmentation *segments, ex_error *error);
void exi_paper_free(exi_paper *paper);

/* Computes the 3x3 matrix -K^-1 [q]_x of a triangle's corner (equation 11), which maps the corner's velocity to its
 * contribution to the triangle's curl. */
void exi_paper_curl(const exi_paper *paper, int triangle, int corner, double w[9]);

/* ---- paper_weights.c ---- */

/* Computes weights from the start values in the first state; by-products: curl_self, curl_sq and slope_sq. */
ex_result exi_paper_balance(exi_paper *paper, const ex_trajectory_options *options, ex_error *error);

/* ---- paper_energy.c ---- */

/* Computes the rest of a state from turns, misses and bases. */
void exi_paper_evaluate(exi_paper *paper, exi_paper_state *state);
/* Shortens turns that are longer than EX_TURN_MAX. */
void exi_paper_limit(const exi_paper *paper, exi_paper_state *state);

/* ---- paper_linear.c, paper_product.c ---- */

/* Number of unknowns of a step: z, w of each vertex, then w_a, v_a of each segment. */
int exi_paper_size(const exi_paper *paper);
/* Computes derivatives at the present state. damping: of each kind of unknown, relative to its mean on the diagonal. */
void exi_paper_linearise(exi_paper *paper, double damping);
/* Half the gradient of the energy: J^T F. */
void exi_paper_gradient(exi_paper *paper, double *gradient);
/* y = (J^T J + damping) x; user is an exi_paper. */
void exi_paper_apply(void *user, const double *x, double *y);
/* z = M^-1 r: blocks of the diagonal, and the coarse space. */
void exi_paper_precondition(void *user, const double *r, double *z);

/* ---- paper_coarse.c ---- */

ex_result exi_coarse_create(exi_paper *paper, ex_error *error);
ex_result exi_coarse_refill(exi_paper *paper, ex_error *error);
/* z += Q (Q^T A Q)^-1 Q^T r. */
void exi_coarse_correct(exi_paper *paper, const double *r, double *z);
void exi_coarse_free(struct exi_coarse *coarse);

/* ---- paper_fit.c ---- */

/* Does at most `most` Gauss-Newton steps from the present state. */
ex_result exi_paper_minimise(exi_paper *paper, int most, struct ex_trajectory_fit *fit, const ex_progress *progress,
                             ex_error *error);

#endif
