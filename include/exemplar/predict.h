/*
 * exemplar/predict.h - weights from the motion of a driver: clothes that remember.
 *
 * A predictor looks at the moving frames of a driver (exemplar/weigh.h): how they lie to each other, where down is, how
 * fast they move and turn, and how that changes. It returns the weights of the forms that such motion had while it was
 * learned: a ridge regression, linear or with a Gaussian kernel around landmark states. It is immutable and holds no
 * motion itself. What came before is a history, which the caller owns, one for each character.
 *
 * Far from everything it learned, a regression guesses. So a predictor measures how far a state is from the nearest
 * known one, and fades to a blend of the nearest known states.
 */
#ifndef EXEMPLAR_PREDICT_H
#define EXEMPLAR_PREDICT_H

#include <exemplar/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Maximum numbers of moving frames, components, landmarks and weights of a predictor. */
#define EX_PREDICTOR_FRAME_MAX     256
#define EX_PREDICTOR_COMPONENT_MAX 256
#define EX_PREDICTOR_LANDMARK_MAX  16384
#define EX_PREDICTOR_WEIGHT_MAX    1024

/* Kinds of number in a state, in their order, with the names that reports use. A frame's numbers are in the frame of
 * the whole driver, which is the last one. */
#define EX_STATE_LIST(X)                                                                                               \
    X(EX_STATE_TURN, "turn")                 /* nine of each part: its rotation */                                     \
    X(EX_STATE_PLACE, "place")               /* three of each part: its position */                                    \
    X(EX_STATE_UP, "up")                     /* three: the direction against gravity */                                \
    X(EX_STATE_VELOCITY, "velocity")         /* three of each frame: m/s */                                            \
    X(EX_STATE_SPIN, "spin")                 /* three of each frame: 1/s */                                            \
    X(EX_STATE_ACCELERATION, "acceleration") /* three of each frame: m/s^2 */                                          \
    X(EX_STATE_WHIRL, "whirl")               /* three of each frame: 1/s^2, the change of spin */                      \
    X(EX_STATE_SIZE, "size")                 /* one of each frame: its size over that of the reference; tells bodies   \
                                                apart */

typedef enum ex_state_kind {
#define EX_STATE_ENUM(name, text) name,
    EX_STATE_LIST(EX_STATE_ENUM)
#undef EX_STATE_ENUM
        EX_STATE_KIND_COUNT
} ex_state_kind;

/* Returns the name of a kind of number. */
EX_API const char *ex_state_kind_name(ex_state_kind kind);
/* Returns the length of a state for a driver of frame_count moving frames, and the place where a kind begins;
 * EX_STATE_KIND_COUNT: its length. */
EX_API int ex_state_start(int frame_count, ex_state_kind kind);

/* Definition of a predictor. A state x becomes y = scales (x - mean), number by number, and y the components z = C y,
 * of which C has orthonormal rows; landmarks are states as components. The weights are base + slopes z + sum over
 * landmarks of k(z) pulls, with k = exp(-d^2 / 2 width^2) and d^2 = |z - landmark|^2 + max(0, |y|^2 - |z|^2 - outside).
 */
typedef struct ex_predictor_def {
    int frame_count;      /* of the driver, at least 2: the last one is the whole */
    const float *centres; /* [frame_count][3]: the middle of each frame at rest */
    float up[3];          /* the direction against gravity, of length 1 */
    double step;          /* seconds, over which motion is measured, above 0 */
    double fastest;       /* m/s: a driver that moves faster was moved by a cut */
    bool sizes;           /* true if the driver's sizes matter */
    int component_count, landmark_count, weight_count;
    const float *mean;       /* [state length] */
    const float *scales;     /* [state length] */
    const float *components; /* [state length][component_count] */
    const float *landmarks;  /* [landmark_count][component_count] */
    const float *base;       /* [weight_count] */
    const float *slopes;     /* [component_count][weight_count] */
    const float *pulls;      /* [landmark_count][weight_count] */
    const float *known;      /* [landmark_count][weight_count]: the weights that were right there */
    double width;            /* of the kernel, above 0 */
    double familiar;         /* distance from the nearest landmark that learning met, above 0 */
    double outside;          /* |y|^2 - |z|^2 that learning met: what the components do not see */
} ex_predictor_def;

/* A learned regression from motion to weights, immutable. */
typedef struct ex_predictor ex_predictor;

/* Makes a predictor, in one allocation. Copies everything. Results: ARGUMENT, DATA (a number that is not finite),
 * LIMIT, MEMORY. */
EX_API ex_result ex_predictor_create(const ex_predictor_def *def, const ex_allocator *allocator,
                                     ex_predictor **predictor, ex_error *error);
EX_API void ex_predictor_destroy(ex_predictor *predictor);
/* Gets the definition. Pointers point into the predictor, but for landmarks, which is the caller's array
 * [landmark_count][component_count] or NULL. */
EX_API void ex_predictor_describe(const ex_predictor *predictor, float *landmarks, ex_predictor_def *def);

/* Returns the bytes of a history, aligned as malloc does; zeros are an empty one. */
EX_API size_t ex_predictor_history_size(const ex_predictor *predictor);

/*
 * Computes the state of a driver, [ex_state_start(frame_count, EX_STATE_KIND_COUNT)], and adds it to the history.
 * matrices [frame_count][12]: the frames' motions (ex_driver_place). sizes [frame_count] (ex_driver_sizes), or NULL:
 * all 1. elapsed: seconds since the last call with this history, at any frame rate. 0 begins anew, and so do more than
 * a second, a history that is NULL, and a driver that moves faster than `fastest`: it then stands still.
 * Numbers of a state are finite, whatever frames and history hold.
 */
EX_API void ex_predictor_observe(const ex_predictor *predictor, const float *matrices, const float *sizes,
                                 double elapsed, void *history, float *state);

/* Returns the bytes of scratch, aligned as malloc does. */
EX_API size_t ex_predictor_scratch_size(const ex_predictor *predictor);
/*
 * Predicts the weights [weight_count] of a state. Returns how far the state is from what was learned: the distance from
 * the nearest landmark over `familiar`. Up to 1 it is as near as learning met; from 1.5 to 3 the weights fade to those
 * of the nearest known states. Allocates nothing and cannot fail; equal states give equal bytes.
 */
EX_API double ex_predictor_evaluate(const ex_predictor *predictor, const float *state, double *weights, void *scratch);

#ifdef __cplusplus
}
#endif
#endif
