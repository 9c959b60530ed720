/*
 * One trajectory between two forms, for many instances: a vertex's path is mesh + R~(x w) x u, with correctors, what
 * its segment appends, and the screw of the whole (trajectory.c). With one example the cross products are the vertex's
 * own (without_weight of trajectory_blend.c):
 *
 *   R~(x w) y u = y u + a(x^2 z) x y (w x u) + b(x^2 z) x^2 y (w x (w x u)),   z = |w|^2
 *
 * So what is the vertex's is worked out once, what is the instance's once, and little is left for both together. x and
 * y differ only in 16-bit storage, where weights are rounded form by form. Which polynomial serves depends on x^2 z
 * alone, as in exi_turn_mean_float: vertices that coincide stay together. Common subset of C and CUDA.
 */
#ifndef EXI_CUDA_SHAPE_PATH_INL
#define EXI_CUDA_SHAPE_PATH_INL

#include "cuda/shape.inl"

/* The most correctors; and with turns, which take registers too. */
enum { EXI_PATH_CORRECTORS = EX_CORRECTOR_MAX, EXI_PATH_TURNED_CORRECTORS = 3 };

/* Whether this is all that there is to a rig. */
EXI_INLINE bool exi_gpu_is_alone(const exi_gpu *g, const exi_gpu_job *j) {
    const exi_gpu_path *path = &g->alone;
    return g->path_count == 1 && g->sum_forms == 0 && !path->sum && !path->mask && path->turn_count <= 1 &&
           path->velocity_count == 1 &&
           path->corrector_count <= (path->turn_count > 0 ? EXI_PATH_TURNED_CORRECTORS : EXI_PATH_CORRECTORS) &&
           !(j->skinned && g->skin_joints) && !g->offset_starts[EX_FRAME_REST] && !g->offset_starts[EX_FRAME_SKINNED];
}

/* ---- an instance ---- */

/* In groups of four numbers, which are one load. */
typedef struct exi_path_record {
    float slope, velocity, first, second; /* x^2 / 16, y, x y, x^2 y */
    float correctors[EXI_PATH_CORRECTORS];
    float moves;      /* 1: the screw moves it; -1: the layer does nothing; else 0 */
    float rows[3][4]; /* the screw: rotation and offset */
} exi_path_record;

/* The weight of a form: its factor without the scale of its numbers. */
EXI_INLINE float exi_path_weight(const exi_gpu *g, const float *factors, int form) {
    const float scale = g->storage == EX_STORAGE_FLOAT ? 1.0f : EXI_GPU_READ(g->scales + form);
    return scale != 0.0f ? factors[form] / scale : 0.0f;
}

/* The record of an instance; one that does nothing stays at the mesh. */
EXI_INLINE void exi_path_open(const exi_gpu *g, const exi_gpu_work *work, int instance, exi_path_record *record) {
    const float *factors = work->factors + (size_t)instance * (size_t)g->forms;
    const exi_gpu_motion *motion = work->motions + instance;
    const int velocity = g->alone.first_form + g->alone.turn_count;
    const bool active = motion->active != 0, turns = active && g->alone.turn_count > 0;
    const float x = turns ? exi_path_weight(g, factors, g->alone.first_form) : 0.0f;
    const float y = active ? exi_path_weight(g, factors, velocity) : 0.0f;
    record->slope = x * x * (2.0f / EXI_TURN_FAR);
    record->velocity = y;
    record->first = x * y;
    record->second = x * x * y;
    for (int k = 0; k < EXI_PATH_CORRECTORS; k++)
        record->correctors[k] =
            active && k < g->alone.corrector_count ? exi_path_weight(g, factors, velocity + 1 + k) : 0.0f;
    record->moves = active && motion->moves ? 1.0f : active ? 0.0f : -1.0f;
    for (int r = 0; r < 3 && record->moves > 0.0f; r++) {
        const float *turn = motion->turn + 3 * r, *centre = motion->centre;
        for (int c = 0; c < 3; c++)
            record->rows[r][c] = turn[c] + (r == c ? 1.0f : 0.0f);
        record->rows[r][3] = motion->move[r] - (turn[0] * centre[0] + (turn[1] * centre[1] + turn[2] * centre[2]));
    }
}

/* ---- a vertex ---- */

/* Without any weight, but with the scales of 16-bit numbers: mesh, u, w x u, w x (w x u), z, correctors. */
typedef struct exi_path_vertex {
    float mesh[3], u[3], first[3], second[3], z, forms[EXI_PATH_CORRECTORS][3];
} exi_path_vertex;

EXI_INLINE void exi_path_read_form(const exi_gpu *g, int form, int vertex, float out[3]) {
    const size_t at = exi_gpu_place(vertex, g->forms, form);
    const bool is_float = g->storage == EX_STORAGE_FLOAT;
    const float scale = is_float ? 1.0f : EXI_GPU_READ(g->scales + form);
    for (int c = 0; c < 3; c++)
        out[c] = scale * exi_gpu_number(g, at + (size_t)(c * EXI_GPU_TILE), is_float);
}

EXI_INLINE void exi_path_cross(const float a[3], const float b[3], float out[3]) {
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/* turns: whether the path has any; correctors: as many as it has or more. Constants where this is called. */
EXI_INLINE void exi_path_read_vertex(const exi_gpu *g, int vertex, bool turns, int correctors, exi_path_vertex *v) {
    const int velocity = g->alone.first_form + g->alone.turn_count;
    float w[3] = {0.0f, 0.0f, 0.0f};
    for (int c = 0; c < 3; c++)
        v->mesh[c] = EXI_GPU_READ(g->base + exi_gpu_place(vertex, 1, 0) + c * EXI_GPU_TILE);
    exi_path_read_form(g, velocity, vertex, v->u);
    if (turns)
        exi_path_read_form(g, g->alone.first_form, vertex, w);
    for (int k = 0; k < EXI_PATH_CORRECTORS; k++)
        for (int c = 0; c < 3; c++)
            v->forms[k][c] = 0.0f;
    for (int k = 0; k < EXI_PATH_CORRECTORS; k++)
        if (k < correctors && k < g->alone.corrector_count)
            exi_path_read_form(g, velocity + 1 + k, vertex, v->forms[k]);
    v->z = w[0] * w[0] + w[1] * w[1] + w[2] * w[2];
    exi_path_cross(w, v->u, v->first);
    exi_path_cross(w, v->first, v->second);
}

/* ---- both ---- */

typedef struct exi_path_factors {
    float a, b;
} exi_path_factors;

/* z / 16 - 1 at an instance: beyond 1, the polynomials do not hold. */
EXI_INLINE float exi_path_turn(const exi_path_vertex *v, const exi_path_record *record) {
    return v->z * record->slope - 1.0f;
}

/* a and b of trajectory.inl. */
EXI_INLINE exi_path_factors exi_path_near(float t) {
    const float as[] = EXI_TURN_A, bs[] = EXI_TURN_B;
    exi_path_factors factors;
    factors.a = as[EXI_TURN_DEGREE];
    factors.b = bs[EXI_TURN_DEGREE];
    for (int i = EXI_TURN_DEGREE; i-- > 0;) {
        factors.a = factors.a * t + as[i];
        factors.b = factors.b * t + bs[i];
    }
    return factors;
}

/* The same for turns beyond the polynomials, which are rare: a call on the GPU, so that the registers it takes are not
 * taken from all. */
#if defined(__CUDACC__)
#define EXI_APART static __host__ __device__ __noinline__ __attribute__((unused))
#else
#define EXI_APART static inline
#endif
EXI_APART exi_path_factors exi_path_far(float t) {
    exi_path_factors factors;
    exi_turn_factors_far((t + 1.0f) * (EXI_TURN_FAR / 2.0f), &factors.a, &factors.b);
    return factors;
}

/* All but turns and the screw. shift: what the vertex's segment appends, or NULL; whether there is one, and correctors,
 * are constants where this is called. */
EXI_INLINE void exi_path_place(const exi_path_vertex *v, const exi_path_record *record, int correctors,
                               const float *shift, float out[3]) {
    for (int c = 0; c < 3; c++) {
        out[c] = v->mesh[c] + record->velocity * v->u[c];
        for (int k = 0; k < EXI_PATH_CORRECTORS; k++)
            if (k < correctors)
                out[c] += record->correctors[k] * v->forms[k][c];
    }
    if (shift && record->moves >= 0.0f)
        for (int c = 0; c < 3; c++)
            out[c] += EXI_GPU_READ(shift + c);
}

/* What the turn adds to the way. */
EXI_INLINE void exi_path_add_turn(const exi_path_vertex *v, const exi_path_record *record, exi_path_factors factors,
                                  float out[3]) {
    const float a = factors.a * record->first, b = factors.b * record->second;
    for (int c = 0; c < 3; c++)
        out[c] += a * v->first[c] + b * v->second[c];
}

/* The screw. */
EXI_INLINE void exi_path_move(const exi_path_record *record, float x[3]) {
    float moved[3];
    for (int r = 0; r < 3; r++) {
        const float *row = record->rows[r];
        moved[r] = row[0] * x[0] + (row[1] * x[1] + (row[2] * x[2] + row[3]));
    }
    for (int r = 0; r < 3; r++)
        x[r] = moved[r];
}

#endif
