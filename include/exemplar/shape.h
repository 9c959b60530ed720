/*
 * exemplar/shape.h - weighted sums of example forms.
 *
 * ex_forms holds a base form and the examples' differences from it, laid out for the sum: tiles of a few vertices, and
 * within a tile one example after the other, so that a blend streams through memory. It is immutable, and any number of
 * threads may use it. A rig contains one; use it directly if you have your own weights.
 */
#ifndef EXEMPLAR_SHAPE_H
#define EXEMPLAR_SHAPE_H

#include <exemplar/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Number formats for the forms of examples in memory. */
typedef enum ex_storage {
    EX_STORAGE_FLOAT,  /* 12 bytes per vertex and example */
    EX_STORAGE_16_BIT, /* 6 bytes: signed-normalised with one scale per example, summed as integers. With s the sum
                          of |weight| times the example's largest difference, errors are 1e-5 to 2e-5 s, and with n
                          examples at most 1.6e-5 (1 + n) s. Vertices that no example moves stay exactly in place */
    EX_STORAGE_COUNT
} ex_storage;

/* Definition of a base form and of the examples' differences from it. */
typedef struct ex_forms_def {
    int vertex_count;
    int example_count;
    const float *base;          /* [vertex_count][3] */
    const float *const *deltas; /* [example_count] of [vertex_count][3]: example minus base */
    ex_storage storage;
} ex_forms_def;

/* A base form and examples, laid out for blending; immutable. */
typedef struct ex_forms ex_forms;

/* Makes a base form and examples, laid out for blending, in one allocation: 12 bytes per vertex, plus 12 or 6 per
 * vertex and example. Results: ARGUMENT, DATA (gives the numbers of example and vertex), MEMORY, LIMIT. */
EX_API ex_result ex_forms_create(const ex_forms_def *def, const ex_allocator *allocator, ex_forms **forms,
                                 ex_error *error);
EX_API void ex_forms_destroy(ex_forms *forms);

/* Return the numbers of vertices and of examples. */
EX_API int ex_forms_vertex_count(const ex_forms *forms);
EX_API int ex_forms_example_count(const ex_forms *forms);

/*
 * Computes positions = base + sum of weights[k] * delta[k] for every vertex. weights [example_count]; positions
 * [vertex_count] triples, `stride` bytes apart (a multiple of 4, at least 12; 0: 12), at an address that is a multiple
 * of 4; scratch of ex_forms_scratch_size bytes, aligned as malloc does. Otherwise it is misuse, and nothing is written.
 * Allocates nothing. Reads each table once: 12 (or 6) bytes per vertex and example with a non-zero weight.
 */
EX_API void ex_forms_blend(const ex_forms *forms, const float *weights, float *positions, size_t stride,
                           const ex_tasks *tasks, void *scratch);
/* Returns the bytes of scratch for ex_forms_blend. */
EX_API size_t ex_forms_scratch_size(const ex_forms *forms);

/* ---- sparse examples ---- */

/* A sparse example: the vertices that it moves, and their offsets. */
typedef struct ex_offsets {
    int count;
    const uint32_t *vertices; /* [count], ascending */
    const float *deltas;      /* [count][3] */
} ex_offsets;

/* ---- trajectories ---- */

/* Maximum number of correctors per example, and the number of coefficients of a corrector's curve. */
#define EX_CORRECTOR_MAX 7
#define EX_CURVE_SIZE    7
/* Maximum length of a path's angular velocity, in radians: at 2 pi, the path could no longer be made to reach its
 * end. */
#define EX_TURN_MAX 5.6
/* Maximum number of segments for appended bases. */
#define EX_SEGMENT_MAX 1024

/* A rigid motion over the time 0 to 1: x(t) = c + R(t turn) (x - c) + t R~(t turn) move, with the centre c of its
 * layer. R(w) turns by the rotation vector w. R~(w) is the mean turn: the integral of R(s w) for s in [0, 1]. */
typedef struct ex_screw {
    double turn[3]; /* radians */
    double move[3];
} ex_screw;

/* Compute out = R(w) v, out = R~(w) v, and the out for which R~(w) out = v, for |w| < 2 pi; w in radians. In double,
 * for programs that look into trajectories. out may be v. */
EX_API void ex_turn_apply(const double w[3], const double v[3], double out[3]);
EX_API void ex_turn_mean(const double w[3], const double v[3], double out[3]);
EX_API void ex_turn_mean_inverse(const double w[3], const double v[3], double out[3]);

/*
 * Path of the vertices of one example from the mesh (amount 0) to the example (amount 1): trajectory warping, equations
 * 1, 6, 26, and correctors. Within a layer, with weights x_k:
 *
 *     path(v) = screw(mesh(v) + R~(w(v)) u(v) + sum over v's segment and those above it of R~(w_a) u_a
 *                     + sum over k, j of x_k q_kj(s_k) c_kj(v))
 *
 * w, w_a, u, u_a and the two vectors of the screw are sums over the examples with weights x_k (equation 24), and s_k =
 * sum over l of overlap_kl x_l. The displacement velocity u_k is not an input: it is computed so that every vertex
 * reaches its place in the example (equation 23). q(s) = (1 - s) r(s) for s in [0, 1]. r is the polynomial in 2s - 1
 * whose coefficients are the corrector's curve, constant first. Outside [0, 1], s q(s) continues along its tangent.
 */
typedef struct ex_trajectory {
    const float *turns;             /* [vertex_count][3]: angular velocities w, radians, at most EX_TURN_MAX long;
                                       NULL: all zero */
    int corrector_count;            /* 0 to EX_CORRECTOR_MAX */
    const float *const *correctors; /* [corrector_count] of [vertex_count][3]: c */
    const float *curves;            /* [corrector_count][EX_CURVE_SIZE] */
    ex_screw screw;
    const float *bases; /* [segment_count][6]: w_a, u_a of the basis that carries a segment and those below it; zero
                           for a root; or NULL */
} ex_trajectory;

/* Segments: parts of a mesh that are linked like a chain. */
typedef struct ex_segments {
    int count;                /* 0: none; at most EX_SEGMENT_MAX */
    const int *parents;       /* [count], -1: a root */
    const uint16_t *vertices; /* [vertex_count]: segment of each vertex */
} ex_segments;

/* ---- mixtures of paths ---- */

/* Maximum number of nodes, edges, correctors and terms of a mixture, and the number of nodes that move a vertex. */
#define EX_NODE_MAX              256
#define EX_NODE_EDGE_MAX         8192
#define EX_NODE_SHARES           4
#define EX_MIXTURE_CORRECTOR_MAX 64
#define EX_MIXTURE_TERM_MAX      4096

/* A product of shares of corners: 4 s_a s_b (s_a - s_b)^power, or 27 s_a s_b s_c. Corner 0 is the mesh, corner 1 + k is
 * example k. */
typedef struct ex_mixture_term {
    int16_t corners[3]; /* a < b (< c); c is -1 for a pair */
    int16_t power;      /* 0 to 7; 0 for three corners */
} ex_mixture_term;

/*
 * Paths of a layer that keep their form between many examples too. Nodes are places on the surface, each with a
 * rotation per example. Their rotations and the lines between them are blended, and they carry the vertices. With
 * weights x_k of the examples, without the reference:
 *
 * 1. Weights are brought back: x'_k = x_k / lim(sum over l of overlap_kl pos(x_l)). pos(x) is x^2 / (x + 1/20) above 0,
 * and 0 below. lim(o) is 1 up to o = 1, then 1 + d^2 / (d + 1/4) with d = o - 1. Weights that are not negative and sum
 * to at most 1 stay as they are.
 * 2. Shares: s_0 = 1 - sum of x'_k, s_(1 + k) = x'_k. Bounded shares s'_i = psi(s_i) / sum of psi(s), where psi(s) is
 * s, and s / (1 - 4 s) below 0. The fade is f = 1 / (1 + 8 e^2) with e = max(0, sum of x'_k - 1).
 * 3. Amounts of correctors: b_j = f sum over t of curve_jt T_t(s'), with the terms T.
 * 4. Node n turns by R_n = R(sum of x'_k w_kn). Its place is the one that fits the edges best (least squares with their
 *    weights, mean place as in the sum of places). An edge from i to j has the length and direction 1/2 (R_i sum of s_k
 *    R_ik^T (y_jk - y_ik) + R_j sum of s_k R_jk^T (y_jk - y_ik)), with the sums over corners.
 * 5. path(v) = screw(sum over v's nodes of share (R_n (mesh(v) + sum of x'_k d_k(v) - y_0n) + y_n) + sum of b_j
 * c_j(v)).
 *
 * The d_k are not an input: they are computed so that every vertex reaches its place in the example. All of this is
 * smooth in the weights (C1), and exact at the mesh and at the examples.
 */
typedef struct ex_mixture {
    int node_count;            /* 0: the layer has no mixture; at most EX_NODE_MAX */
    const float *places;       /* [1 + example_count][node_count][3]: y, of the nodes in the mesh, then in each example
                                  without its screw; those of the reference are ignored */
    const float *turns;        /* [example_count][node_count][3]: w, rotation vectors from the mesh to the example, in
                                  radians; those of the reference are ignored */
    int edge_count;            /* at most EX_NODE_EDGE_MAX */
    const uint16_t *edges;     /* [edge_count][2]: pairs of nodes; they connect all nodes */
    const float *edge_weights; /* [edge_count], above 0; weights that float cannot use beside the others are raised */
    const uint16_t *nodes;     /* [vertex_count][EX_NODE_SHARES]: the nodes that move a vertex */
    const float *shares;       /* [vertex_count][EX_NODE_SHARES], not negative, sum 1 */
    int corrector_count;       /* 0 to EX_MIXTURE_CORRECTOR_MAX */
    const float *const *correctors; /* [corrector_count] of [vertex_count][3]: c */
    int term_count;                 /* 0 to EX_MIXTURE_TERM_MAX */
    const ex_mixture_term *terms;   /* [term_count] */
    const float *curves;            /* [corrector_count][term_count] */
} ex_mixture;

/* ---- influences ---- */

/* Influences of frames, or of regions, on vertices. */
typedef struct ex_influences {
    const uint32_t *starts; /* [vertices + 1]: vertex v has entries starts[v] to starts[v + 1], at least one */
    const uint16_t *places; /* [starts[vertices]]: frames or regions */
    const float *weights;   /* [starts[vertices]], not negative; sum to 1 at each vertex */
} ex_influences;

#ifdef __cplusplus
}
#endif
#endif
