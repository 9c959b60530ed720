/*
 * Trajectories of one layer: creating them, filling their forms, evaluating them. trajectories.h has their block.
 */
#ifndef EXI_TRAJECTORY_H
#define EXI_TRAJECTORY_H

#include "runtime/shape/forms.h"
#include "runtime/shape/trajectories.h"

/* Maximum number of forms in one table: keeps offsets in a tile within 32 bits. */
#define EXI_FORM_MAX 40000000

/* Definition of a layer; names are for errors, or NULL. */
typedef struct exi_trajectories_def {
    int vertex_count, example_count;
    ex_storage storage;
    const ex_trajectory *trajectories; /* [example_count] */
    const char *const *names;
    int reference;
    double centre[3];
    const float *overlaps;
    const float *mask;
    ex_segments segments;
    ex_mixture mixture;
} exi_trajectories_def;

/* Makes the block, without per-vertex data; release it with exi_block_destroy. Results: ARGUMENT, DATA, MEMORY,
 * LIMIT. */
ex_result exi_trajectories_create(const exi_trajectories_def *def, const ex_allocator *allocator,
                                  exi_trajectories **paths, ex_error *error);

/* Per-vertex data of an example: each [vertex_count][3], with the delta at gather[v] if there is a gather. */
typedef struct exi_trajectory_numbers {
    const float *turns;
    const float *const *correctors;
    const float *delta;
    const uint32_t *gather;
} exi_trajectory_numbers;

/*
 * Writes an example's forms: u moves every vertex from where its stored w points to its delta (equation 23). The forms'
 * base must be set. room has exi_trajectories_room_size bytes, aligned as malloc does. With a mixture, d takes the
 * place of u. Results: DATA (names the vertex).
 */
ex_result exi_trajectories_fill(exi_trajectories *paths, ex_forms *forms, int example,
                                const exi_trajectory_numbers *numbers, void *room, ex_error *error);
size_t exi_trajectories_room_size(const exi_trajectories *paths);
/* Writes the correctors of the layer's mixture, each [vertex_count][3]. Results: DATA. */
ex_result exi_trajectories_fill_mixture(const exi_trajectories *paths, ex_forms *forms, const float *const *correctors,
                                        ex_error *error);

/* Read back the input: [vertex_count][3]. The corrector is the mixture's if example is -1. False, and zeros, if an
 * example has no turns. The delta is exact in float storage; in 16-bit storage it is the end of the path. */
bool exi_trajectories_get_turns(const exi_trajectories *paths, const ex_forms *forms, int example, float *turns);
void exi_trajectories_get_corrector(const exi_trajectories *paths, const ex_forms *forms, int example, int corrector,
                                    float *values);
void exi_trajectories_get_delta(const exi_trajectories *paths, const ex_forms *forms, int example, float *delta);

/* ---- evaluation ---- */

/* Length of a layer's turns at a pose, which selects the polynomials: one choice for all vertices, so that vertices
 * that coincide and move alike stay together to the bit. */
typedef enum exi_trajectory_reach { EXI_REACH_NEAR, EXI_REACH_FAR, EXI_REACH_ANY } exi_trajectory_reach;

/* A layer at one pose. */
typedef struct exi_trajectory {
    exi_sum turns, velocities, correctors;
    float centre[3], turn[9],
        move[3];                  /* the screw: x + turn (x - centre) + move; turn is a rotation minus the identity */
    float rotation[9], offset[3]; /* the same as rotation x + offset */
    bool moves;                   /* true if there is a screw */
    exi_trajectory_reach reach;   /* largest length of turns */
    float a[8], b[8], slope;      /* polynomials of trajectory.inl for that reach: in z, or in slope z - 1 */
    const float (*shifts)[3];     /* [segment_count]: appended by a segment and those above it; or NULL */
    const uint16_t *segments;     /* with shifts */
    const float *mask;            /* or NULL */
    const float *matrices;        /* of the mixture's nodes (mixture.h); or NULL */
    const uint16_t *nodes;        /* [vertices of all tiles][EX_NODE_SHARES], with matrices */
    const float *shares;          /* the same */
} exi_trajectory;

/* Computes the weights of the layer's forms [form_count]: x_k, and x_k q(s_k) for correctors. A layer with a mixture
 * gets the weights of exi_mixture_weigh, here and below; its correctors are left alone. Returns false if all x_k are 0,
 * except that of the reference: the layer then does nothing. */
bool exi_trajectories_weigh(const exi_trajectories *paths, const double *weights, float *floats);

/* Computes everything that is needed once per pose. floats: weights of all forms. terms and shifts have room for the
 * layer's forms and segments and remain in use; room is temporary memory for segments. */
void exi_trajectories_open(const exi_trajectories *paths, const ex_forms *forms, const double *weights,
                           const float *floats, exi_term *terms, double (*room)[3], float (*shifts)[3],
                           exi_trajectory *path);

/* Blends tiles begin to end, with paths. */
void exi_trajectories_blend_tiles(const ex_forms *forms, const exi_blend *blend, int begin, int end);

#endif
