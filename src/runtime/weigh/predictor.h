/*
 * Layout of a predictor: one block without pointers, which a rig file stores as it is.
 */
#ifndef EXI_WEIGH_PREDICTOR_H
#define EXI_WEIGH_PREDICTOR_H

#include <exemplar/predict.h>

/* Landmarks are stored in groups of this many, with their first components side by side, then their second ones, … */
enum { EXI_LANDMARK_GROUP = 16 };

/* Followed by tables of floats, in the order of `exi_predictor_tables`. */
struct ex_predictor {
    uint64_t size; /* of the whole block in bytes */
    int32_t frame_count, component_count, landmark_count, weight_count;
    uint32_t sizes, reserved;
    float up[3], spare;
    double step, fastest, width, familiar, outside;
};

_Static_assert(sizeof(ex_predictor) == 88, "the file format has no padding");

/* The tables of a predictor. */
typedef struct exi_predictor_tables {
    const float *centres;    /* [frame_count][3] */
    const float *mean;       /* [state length] */
    const float *scales;     /* [state length] */
    const float *components; /* [state length][component_count] */
    const float *landmarks;  /* [groups][component_count][EXI_LANDMARK_GROUP]; 0 after the last one */
    const float *base;       /* [weight_count] */
    const float *slopes;     /* [component_count][weight_count] */
    const float *pulls;      /* [landmark_count][weight_count] */
    const float *known;      /* the same */
} exi_predictor_tables;

exi_predictor_tables exi_predictor_find(const ex_predictor *predictor);

/* Computes the components [component_count] of a state, with room for its scaled numbers, scaled [state length].
 * Returns the square of what the components do not see, beyond what learning met. */
float exi_predictor_project(const ex_predictor *predictor, const float *state, float *scaled, float *components);

/* True if bytes from a file, aligned to 4, are a predictor that can be evaluated; copies its head. */
bool exi_predictor_is_sound(const void *bytes, size_t size, ex_predictor *head);

#endif
