/*
 * One call of ex_rig_jacobian: its arguments, and what its stages hand on. Private to the room. Everything is in
 * double; columns are numbers of inputs, and arrays [columns][…] have one derivative of each number for each of them.
 */
#ifndef EXI_RIG_JACOBIAN_H
#define EXI_RIG_JACOBIAN_H

#include "runtime/pose/joint.inl"
#include "runtime/rig/domains/domain.h"

/* A column: the number of an input that changes. */
typedef struct exi_column {
    int32_t input, number;
} exi_column;

struct exi_jacobian {
    const ex_rig *rig;
    const ex_pose *pose; /* or NULL */
    const ex_evaluation *evaluation;
    bool skinned;
    int columns, vertices, joints;
    size_t size; /* of one form, in numbers: 3 vertices */
    exi_column *column;
    double *form, *along;              /* [size], [columns][size]: at rest, then posed */
    double *turned, *turned_along;     /* offsets that are added after posing; NULL if there are none */
    float *room;                       /* [size] */
    float *numbers;                    /* [rig->weights] */
    double *shifts, *shifts_along;     /* [joints][3] */
    double *worlds, *worlds_along;     /* [joints][12] */
    double *matrices, *matrices_along; /* the same, for skinning */
    double *turns, *turns_along;       /* [joints][4]; NULL if nothing is turned */
    double *point, *direction;         /* [largest_dimension] */
    double *weights, *weights_along;   /* of one layer: examples, or its sets */
    double *rows;                      /* its derivatives by the point */
    float *shapes;                     /* [4][size] */
    double *layer_weights;             /* of one layer, as it likes */
    double *all_weights;               /* [examples] */
    bool *muted;                       /* [layers] */
    float *control;                    /* [size], for a refined level */
    void *scratch;                     /* for exi_jacobian_shape, and for refinement */
};

/* The derivatives of a form or of another table by a column. */
static inline double *exi_column_of(double *along, int column, size_t size) {
    return along + (size_t)column * size;
}

/* Computes the form at rest [size] that a layer alone gives with these weights of its examples. */
void exi_jacobian_shape(exi_jacobian *j, int layer, const double *weights, float *positions);

/* The transform of a joint, and its derivatives by a column: those of the input that the column belongs to. */
const ex_transform *exi_jacobian_local(const exi_jacobian *j, int joint);
void exi_jacobian_local_along(const exi_jacobian *j, int column, int joint, exi_local *along);

/* jacobian_pose.c: poses the form and its derivatives, in place, and adds what is added after that. */
void exi_jacobian_pose(exi_jacobian *j);

/* evaluate.c: the form at rest for given weights of all examples; scratch of ex_rig_scratch_size for one pose. */
void exi_rig_shape(const ex_rig *rig, const double *weights, const bool *muted, const ex_tasks *tasks, float *positions,
                   void *scratch);

#endif
