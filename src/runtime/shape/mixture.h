/*
 * Mixtures of paths (exemplar/shape.h has the formula): making their tables, and their nodes at a pose. trajectories.h
 * has the tables, trajectory_kernel.c the pass over the vertices.
 */
#ifndef EXI_MIXTURE_H
#define EXI_MIXTURE_H

#include "runtime/base/memory.h"
#include "runtime/shape/trajectory.h"

/* ---- creation ---- */

/* Checks a definition's mixture, if it has one. Results: ARGUMENT, DATA, LIMIT. */
ex_result exi_mixture_check(const exi_trajectories_def *def, ex_error *error);

/* Sets counts, and the offsets of tables without vertices, or of those with an entry per vertex; adds them to the
 * size. */
void exi_mixture_lay(const exi_trajectories_def *def, exi_mixture *mixture, exi_size *total);
void exi_mixture_lay_vertices(const exi_trajectories_def *def, exi_mixture *mixture, size_t padded_count,
                              exi_size *total);

/* Fills the tables. Results: MEMORY. */
ex_result exi_mixture_fill(const exi_trajectories_def *def, exi_trajectories *paths, const ex_allocator *allocator,
                           ex_error *error);

/* ---- at a pose ---- */

/* A temporary room for one pose of a layer, aligned as malloc does; 0 bytes without a mixture. */
size_t exi_mixture_room_size(const exi_trajectories *paths);

/* The parts of the room. */
typedef struct exi_mixture_rooms {
    double *weights, *shares, *bounded; /* x' [example_count], s and s' [corner_count] */
    double *factors;                    /* [2][node_stride]: a and sinc of the turns */
    float *turns;                       /* [3][node_stride]: sum of x'_k w_k */
    float *places;                      /* [3][node_stride]: l, then y */
    float *steps;                       /* [6][edge_stride]: sums of the steps */
    float *rotations;                   /* [node_count][12]: columns of R, each padded to four */
    float *spots;                       /* [node_count][4]: l */
    float *pulls;                       /* [node_stride][4]: B^T W r */
    float *matrices;                    /* [node_count][EXI_MATRIX_FLOATS] */
} exi_mixture_rooms;

/* Places the nodes: weights and shares are set, matrices are the result. */
void exi_mixture_place(const exi_trajectories *paths, const exi_mixture_rooms *rooms);

/* Brings weights back and sets the amounts of the layer's correctors among its floats [form_count]. Returns the weights
 * that replace the given ones, in the room. */
const double *exi_mixture_weigh(const exi_trajectories *paths, const double *weights, void *room, float *floats);

/* Places the nodes for the weights of the last exi_mixture_weigh with that room. Their matrices, in the room, belong to
 * the path from then on. */
void exi_mixture_open(const exi_trajectories *paths, void *room, exi_trajectory *path);

/* Places the nodes at an example, as above. Returns their matrices [node_count][EXI_MATRIX_FLOATS]: a rotation minus
 * the identity, and an offset. */
const float *exi_mixture_at_example(const exi_trajectories *paths, int example, void *room);

/* Computes the matrix of a vertex (three rows of four) from those of its nodes, in double. */
void exi_mixture_matrix(const exi_trajectories *paths, const float *matrices, int vertex, double m[12]);

/* The same at an example without a room, and from the data given for the nodes: for reading back. */
void exi_mixture_matrix_at(const exi_trajectories *paths, int example, int vertex, double m[12]);

#endif
