/*
 * Trajectories of one layer: making them, filling their forms, evaluating them. trajectories.h has the block that they are.
 */
#ifndef EXI_TRAJECTORY_H
#define EXI_TRAJECTORY_H

#include "runtime/shape/forms.h"
#include "runtime/shape/trajectories.h"

/* The most forms in one table: places in a tile then stay within 32 bits. */
#define EXI_FORM_MAX 40000000

/* What a layer is made of; names are used in errors, or NULL. */
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
} exi_trajectories_def;

/* The block, without what is there for every vertex; give it back with exi_block_destroy. Results: ARGUMENT, DATA,
 * MEMORY, LIMIT. */
ex_result exi_trajectories_create(const exi_trajectories_def *def, const ex_allocator *allocator,
                                  exi_trajectories **paths, ex_error *error);

/* The numbers of an example's vertices: each [vertex_count][3], the delta at gather[v] where there is a gather. */
typedef struct exi_trajectory_numbers {
    const float *turns;
    const float *const *correctors;
    const float *delta;
    const uint32_t *gather;
} exi_trajectory_numbers;

/*
 * Writes an example's forms: u is what brings every vertex to its delta from where its stored w points (equation 23).
 * The forms' base must be set. room has exi_trajectories_room_size bytes. Results: DATA, the vertex named.
 */
ex_result exi_trajectories_fill(exi_trajectories *paths, ex_forms *forms, int example,
                                const exi_trajectory_numbers *numbers, void *room, ex_error *error);
size_t exi_trajectories_room_size(int vertex_count);

/* Reads back what was given: [vertex_count][3]. False, and zeros, where an example has no turns. The delta is exact in
 * float storage; else it is where the path ends. */
bool exi_trajectories_get_turns(const exi_trajectories *paths, const ex_forms *forms, int example, float *turns);
void exi_trajectories_get_corrector(const exi_trajectories *paths, const ex_forms *forms, int example, int corrector,
                                    float *values);
void exi_trajectories_get_delta(const exi_trajectories *paths, const ex_forms *forms, int example, float *delta);

/* ---- evaluation ---- */

/* How long the turns of a layer are at a pose, which decides on polynomials: one choice for all vertices, so that those
 * which coincide and go alike stay together to the bit. */
typedef enum exi_trajectory_reach { EXI_REACH_NEAR, EXI_REACH_FAR, EXI_REACH_ANY } exi_trajectory_reach;

/* A layer at one pose. */
typedef struct exi_trajectory {
    exi_sum turns, velocities, correctors;
    float centre[3], turn[9],
        move[3];                  /* the screw: x + turn (x - centre) + move; turn is a rotation less the identity */
    float rotation[9], offset[3]; /* the same as rotation x + offset */
    bool moves;                   /* whether there is a screw */
    exi_trajectory_reach reach;   /* how long turns may be */
    float a[8], b[8], slope;      /* the polynomials of trajectory.inl up to there: in z, or in slope z - 1 */
    const float (*shifts)[3];     /* [segment_count]: what it and the segments above append; or NULL */
    const uint16_t *segments;     /* with shifts */
    const float *mask;            /* or NULL */
} exi_trajectory;

/* The weights of the layer's forms [form_count]: x_k, and x_k q(s_k) for correctors. False where all x_k are 0, of the
 * reference apart: then the layer does nothing. */
bool exi_trajectories_weigh(const exi_trajectories *paths, const double *weights, float *floats);

/* Everything that is worked out once a pose. floats: weights of all forms; terms and shifts have room for the layer's
 * forms and segments and are kept; room is for segments, too, and is not. */
void exi_trajectories_open(const exi_trajectories *paths, const ex_forms *forms, const double *weights,
                           const float *floats, exi_term *terms, double (*room)[3], float (*shifts)[3],
                           exi_trajectory *path);

/* Tiles begin to end of a blend with paths. */
void exi_trajectories_blend_tiles(const ex_forms *forms, const exi_blend *blend, int begin, int end);

#endif
