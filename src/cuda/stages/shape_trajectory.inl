/*
 * One trajectory layer for many instances: a vertex's path is mesh + mask (R~(w) u + correctors + its segment's
 * contribution), moved by the screw (trajectory.c), where w and u are sums over examples, x_k w_k and y_k u_k. With one
 * example the cross products are the vertex's own (without_weight of trajectory_kernel.c):
 *
 *   R~(x w) y u = y u + a(x^2 z) x y (w x u) + b(x^2 z) x^2 y (w x (w x u)),   z = |w|^2
 *
 * So the vertex's data is computed once, the instance's data once, and little work is left for each pair. x and y
 * differ only in 16-bit storage, where weights are rounded form by form. The choice of polynomial depends on |w|^2
 * only, as in exi_turn_mean_float: vertices that coincide stay together. Common subset of C and CUDA.
 *
 * The numbers of examples and correctors are constants at the call: those of the path or more, with surplus ones 0; no
 * examples means one velocity and no turns. Loops run to the maximum, and the constants cut them down.
 */
#ifndef EXI_CUDA_SHAPE_PATH_INL
#define EXI_CUDA_SHAPE_PATH_INL

#include "cuda/stages/shape.inl"

/* Maximum numbers that fit into a thread's registers. */
enum { EXI_PATH_EXAMPLES = 8, EXI_PATH_CORRECTORS = EX_CORRECTOR_MAX };

/* True if the rig consists of this only. */
EXI_INLINE bool exi_gpu_is_alone(const exi_gpu *g, const exi_gpu_job *j) {
    const exi_gpu_trajectory *path = &g->alone;
    return g->path_count == 1 && g->sum_forms == 0 && !path->sum && g->mixed_nodes == 0 &&
           path->turn_count <= EXI_PATH_EXAMPLES && path->velocity_count <= EXI_PATH_EXAMPLES &&
           path->corrector_count <= EXI_PATH_CORRECTORS && !(j->skinned && g->skin_joints) &&
           !g->offset_starts[EX_OFFSET_FRAME_REST] && !g->offset_starts[EX_OFFSET_FRAME_SKINNED];
}

/* Returns the smallest number of examples for the functions below. */
EXI_INLINE int exi_trajectory_examples(const exi_gpu_trajectory *path) {
    const int most = path->turn_count > path->velocity_count ? path->turn_count : path->velocity_count;
    return path->turn_count == 0 && most <= 1 ? 0 : most;
}

/* ---- an instance ---- */

/* In groups of four numbers, which take one load. */
typedef struct exi_trajectory_record {
    float weights[2 * EXI_PATH_EXAMPLES]; /* x_k, y_k; for one example or none x^2 / 16, y, x y, x^2 y */
    float correctors[EXI_PATH_CORRECTORS];
    float active;     /* 0: the layer does nothing */
    float rows[3][4]; /* the screw: rotation and offset; the identity if there is none */
} exi_trajectory_record;

/* The weight of a form: its factor without the scale of its numbers. */
EXI_INLINE float exi_trajectory_weight(const exi_gpu *g, const float *factors, int form) {
    const float scale = g->storage == EX_STORAGE_FLOAT ? 1.0f : EXI_GPU_READ(g->scales + form);
    return scale != 0.0f ? factors[form] / scale : 0.0f;
}

/* Makes the record of an instance; one that does nothing stays at the mesh. True if the screw moves it. */
EXI_INLINE bool exi_trajectory_open(const exi_gpu *g, const exi_gpu_work *work, int instance, int examples,
                                    int correctors, exi_trajectory_record *record) {
    const float *factors = work->factors + (size_t)instance * (size_t)g->forms;
    const exi_gpu_motion *motion = work->motions + instance;
    const int turn = g->alone.first_form, velocity = turn + g->alone.turn_count;
    const int corrector = velocity + g->alone.velocity_count;
    const bool active = motion->active != 0, moves = active && motion->moves != 0;
    for (int k = 0; k < (examples > 1 ? examples : 1); k++) {
        const float x = active && k < g->alone.turn_count ? exi_trajectory_weight(g, factors, turn + k) : 0.0f;
        const float y = active && k < g->alone.velocity_count ? exi_trajectory_weight(g, factors, velocity + k) : 0.0f;
        record->weights[2 * k] = examples > 1 ? x : x * x * (2.0f / EXI_TURN_FAR);
        record->weights[2 * k + 1] = y;
        if (examples <= 1) {
            record->weights[2] = x * y;
            record->weights[3] = x * x * y;
        }
    }
    for (int k = 0; k < correctors; k++)
        record->correctors[k] =
            active && k < g->alone.corrector_count ? exi_trajectory_weight(g, factors, corrector + k) : 0.0f;
    record->active = active ? 1.0f : 0.0f;
    for (int r = 0; r < 3; r++) {
        const float *row = motion->turn + 3 * r, *centre = motion->centre;
        for (int c = 0; c < 3; c++)
            record->rows[r][c] = (moves ? row[c] : 0.0f) + (r == c ? 1.0f : 0.0f);
        record->rows[r][3] =
            moves ? motion->move[r] - (row[0] * centre[0] + (row[1] * centre[1] + row[2] * centre[2])) : 0.0f;
    }
    return moves;
}

/* ---- a vertex ---- */

/* Unweighted, but with the scales of 16-bit numbers. One example has its cross products, several have w. */
typedef struct exi_trajectory_vertex {
    float mesh[3];
    float u[EXI_PATH_EXAMPLES][3], w[EXI_PATH_EXAMPLES][3];
    float first[3], second[3], z; /* w x u, w x (w x u), |w|^2 */
    float forms[EXI_PATH_CORRECTORS][3];
} exi_trajectory_vertex;

/* Reads the form, or 0 if there is none. */
EXI_INLINE void exi_trajectory_read_form(const exi_gpu *g, int form, bool is_there, int vertex, float out[3]) {
    const size_t at = exi_gpu_place(vertex, g->forms, form);
    const bool is_float = g->storage == EX_STORAGE_FLOAT;
    const float scale = is_float || !is_there ? 1.0f : EXI_GPU_READ(g->scales + form);
    for (int c = 0; c < 3; c++)
        out[c] = is_there ? scale * exi_gpu_number(g, at + (size_t)(c * EXI_GPU_TILE), is_float) : 0.0f;
}

EXI_INLINE void exi_trajectory_cross(const float a[3], const float b[3], float out[3]) {
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

EXI_INLINE void exi_trajectory_read_vertex(const exi_gpu *g, int vertex, int examples, int correctors,
                                           exi_trajectory_vertex *v) {
    const int turn = g->alone.first_form, velocity = turn + g->alone.turn_count;
    const int corrector = velocity + g->alone.velocity_count;
    for (int c = 0; c < 3; c++)
        v->mesh[c] = EXI_GPU_READ(g->base + exi_gpu_place(vertex, 1, 0) + c * EXI_GPU_TILE);
    EXI_UNROLLED
    for (int k = 0; k < EXI_PATH_EXAMPLES; k++) {
        if (k < examples || k == 0)
            exi_trajectory_read_form(g, velocity + k, k < g->alone.velocity_count, vertex, v->u[k]);
        if (k < examples)
            exi_trajectory_read_form(g, turn + k, k < g->alone.turn_count, vertex, v->w[k]);
    }
    EXI_UNROLLED
    for (int k = 0; k < EXI_PATH_CORRECTORS; k++)
        if (k < correctors)
            exi_trajectory_read_form(g, corrector + k, k < g->alone.corrector_count, vertex, v->forms[k]);
    if (examples == 1) {
        v->z = v->w[0][0] * v->w[0][0] + v->w[0][1] * v->w[0][1] + v->w[0][2] * v->w[0][2];
        exi_trajectory_cross(v->w[0], v->u[0], v->first);
        exi_trajectory_cross(v->w[0], v->first, v->second);
    }
}

/* ---- a vertex of an instance ---- */

/* A vertex of an instance before its turn is known: out + a first_scale first + b second_scale second. */
typedef struct exi_trajectory_site {
    float out[3], first[3], second[3], first_scale, second_scale;
    float t; /* |w|^2 / 16 - 1: the polynomials hold up to 1 */
} exi_trajectory_site;

EXI_INLINE void exi_trajectory_add_correctors(const exi_trajectory_vertex *v, const exi_trajectory_record *record,
                                              int correctors, float out[3]) {
    float weights[8];
    if (correctors > 0)
        exi_gpu_load4(record->correctors, weights);
    if (correctors > 4)
        exi_gpu_load4(record->correctors + 4, weights + 4);
    EXI_UNROLLED
    for (int k = 0; k < EXI_PATH_CORRECTORS; k++)
        for (int c = 0; k < correctors && c < 3; c++)
            out[c] += weights[k] * v->forms[k][c];
}

EXI_INLINE void exi_trajectory_begin_one(const exi_trajectory_vertex *v, const exi_trajectory_record *record,
                                         exi_trajectory_site *s) {
    float weights[4];
    exi_gpu_load4(record->weights, weights);
    for (int c = 0; c < 3; c++) {
        s->out[c] = v->mesh[c] + weights[1] * v->u[0][c];
        s->first[c] = v->first[c];
        s->second[c] = v->second[c];
    }
    s->t = v->z * weights[0] - 1.0f;
    s->first_scale = weights[2];
    s->second_scale = weights[3];
}

EXI_INLINE void exi_trajectory_begin_several(const exi_trajectory_vertex *v, const exi_trajectory_record *record,
                                             int examples, exi_trajectory_site *s) {
    float w[3] = {0.0f, 0.0f, 0.0f}, u[3] = {0.0f, 0.0f, 0.0f}, weights[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    EXI_UNROLLED
    for (int k = 0; k < EXI_PATH_EXAMPLES; k++) {
        if (k < examples && k % 2 == 0)
            exi_gpu_load4(record->weights + 2 * k, weights);
        for (int c = 0; k < examples && c < 3; c++) {
            w[c] += weights[k % 2 * 2] * v->w[k][c];
            u[c] += weights[k % 2 * 2 + 1] * v->u[k][c];
        }
    }
    exi_trajectory_cross(w, u, s->first);
    exi_trajectory_cross(w, s->first, s->second);
    s->t = (w[0] * w[0] + w[1] * w[1] + w[2] * w[2]) * (2.0f / EXI_TURN_FAR) - 1.0f;
    s->first_scale = s->second_scale = 1.0f;
    for (int c = 0; c < 3; c++)
        s->out[c] = v->mesh[c] + u[c];
}

/* Without turns, the position itself, to out. */
EXI_INLINE void exi_trajectory_begin(const exi_trajectory_vertex *v, const exi_trajectory_record *record, int examples,
                                     int correctors, exi_trajectory_site *s) {
    if (examples > 1)
        exi_trajectory_begin_several(v, record, examples, s);
    else if (examples == 1)
        exi_trajectory_begin_one(v, record, s);
    else
        for (int c = 0; c < 3; c++)
            s->out[c] = v->mesh[c] + record->weights[1] * v->u[0][c];
    exi_trajectory_add_correctors(v, record, correctors, s->out);
}

typedef struct exi_trajectory_factors {
    float a, b;
} exi_trajectory_factors;

/* a and b of trajectory.inl. */
EXI_INLINE exi_trajectory_factors exi_trajectory_near(float t) {
    const float as[] = EXI_TURN_A, bs[] = EXI_TURN_B;
    exi_trajectory_factors factors;
    factors.a = as[EXI_TURN_DEGREE];
    factors.b = bs[EXI_TURN_DEGREE];
    for (int i = EXI_TURN_DEGREE; i-- > 0;) {
        factors.a = factors.a * t + as[i];
        factors.b = factors.b * t + bs[i];
    }
    return factors;
}

/* The same for turns beyond the polynomials, which occur only in blends: a = 2 s^2 / z, b = (1 - 2 s c / |w|) / z, with
 * s and c sine and cosine of |w| / 2. An error e of s or c gives an error of e / |w| in the turned vector, and the root
 * one of 1e-7: float is enough, and needs no call that takes registers. Turns of more than 1e5 radians count as
 * infinite, as in exi_turn_factors. */
EXI_INLINE exi_trajectory_factors exi_trajectory_far(float t) {
    const float z = (t + 1.0f) * (EXI_TURN_FAR / 2.0f);
    const float over = exi_gpu_over_root(z), angle = z * over, turns = (float)(int32_t)(angle * 0.159154943f + 0.5f);
    /* 2 pi in two parts; the first times fewer than 2^14 turns is exact. */
    const float half = 0.5f * ((angle - turns * 6.28125f) - turns * 0.00193530718f), square = half * half;
    const float s =
        half * (1.0f + square * (-0.16666648f +
                                 square * (0.008332899f + square * (-0.00019800816f + square * 2.5903237e-06f))));
    const float c =
        0.99999994f +
        square * (-0.49999905f + square * (0.041663576f + square * (-0.0013853633f + square * 2.315228e-05f)));
    const bool endless = !(z < 1e10f);
    const float over_sq = over * over;
    exi_trajectory_factors factors;
    factors.a = endless ? 0.0f : 2.0f * s * s * over_sq;
    factors.b = endless ? over_sq : (1.0f - 2.0f * s * c * over) * over_sq;
    return factors;
}

EXI_INLINE void exi_trajectory_turn(exi_trajectory_site *s, exi_trajectory_factors factors) {
    const float a = factors.a * s->first_scale, b = factors.b * s->second_scale;
    for (int c = 0; c < 3; c++)
        s->out[c] = s->out[c] + a * s->first[c] + b * s->second[c];
}

/* Adds the contribution of the vertex's segment. */
EXI_INLINE void exi_trajectory_shift(const exi_gpu *g, int vertex, const exi_trajectory_record *record,
                                     const float *appended, float x[3]) {
    const uint16_t *segments = (const uint16_t *)(g->block + g->alone.segments);
    const float *shift = appended + 3 * (g->alone.first_segment + (int)EXI_GPU_READ(segments + vertex));
    for (int c = 0; c < 3; c++)
        x[c] += record->active != 0.0f ? EXI_GPU_READ(shift + c) : 0.0f;
}

/* The screw. */
EXI_INLINE void exi_trajectory_move(const exi_trajectory_record *record, float x[3]) {
    float moved[3];
    for (int r = 0; r < 3; r++) {
        float row[4];
        exi_gpu_load4(record->rows[r], row);
        moved[r] = row[0] * x[0] + (row[1] * x[1] + (row[2] * x[2] + row[3]));
    }
    for (int r = 0; r < 3; r++)
        x[r] = moved[r];
}

EXI_INLINE void exi_trajectory_mask(const exi_gpu *g, int vertex, const exi_trajectory_vertex *v, float x[3]) {
    const float mask = EXI_GPU_READ((const float *)(g->block + g->alone.mask) + vertex);
    for (int c = 0; c < 3; c++)
        x[c] = v->mesh[c] + mask * (x[c] - v->mesh[c]);
}

#endif
