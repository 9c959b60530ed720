/*
 * The shape stage: the position of one vertex of the cage in one instance, from the results of prepare in exi_gpu_work.
 * Like shape_chunk of the runtime's evaluate.c: base and sum of forms (Shape by Example, equation 3), trajectories
 * (trajectory_kernel.c), offsets at rest, the skin, offsets in the skin's frame. In float. Common subset of C and CUDA.
 *
 * Tables of the rig are read by EXI_GPU_READ, through the read-only cache; data of an instance is not, since it may be
 * in shared memory. Loops for rare vertices are EXI_ROLLED: unrolled, they would take registers and code size from all.
 */
#ifndef EXI_CUDA_SHAPE_INL
#define EXI_CUDA_SHAPE_INL

#include "cuda/block.h"
#include "cuda/machine.h"
#include "runtime/pose/turn.inl"
#include "runtime/shape/trajectory.inl"

/* ---- forms ---- */

enum { EXI_GPU_TILE_NUMBERS = 3 * EXI_GPU_TILE, EXI_GPU_AT_ONCE = 4 };

/* Offset of a vertex's numbers in a table of tiles with `forms` forms, at the form `first`. */
EXI_INLINE size_t exi_gpu_place(int vertex, int forms, int first) {
    return ((size_t)(vertex / EXI_GPU_TILE) * (size_t)forms + (size_t)first) * EXI_GPU_TILE_NUMBERS +
           (size_t)(vertex % EXI_GPU_TILE);
}

EXI_INLINE float exi_gpu_number(const exi_gpu *g, size_t at, bool is_float) {
    return is_float ? EXI_GPU_READ((const float *)g->numbers + at)
                    : (float)EXI_GPU_READ((const int16_t *)g->numbers + at);
}

/* sum += factor * form, over `count` forms. Several at a time, so that their loads do not wait for each other; those
 * with factor 0 are not read. is_float is a constant at the call. */
EXI_INLINE void exi_gpu_sum_stored(const exi_gpu *g, const float *factors, size_t at, int count, bool is_float,
                                   float sum[3]) {
    for (int k = 0; k < count; k += EXI_GPU_AT_ONCE) {
        float factor[EXI_GPU_AT_ONCE], number[EXI_GPU_AT_ONCE][3];
        for (int i = 0; i < EXI_GPU_AT_ONCE; i++)
            factor[i] = k + i < count ? factors[k + i] : 0.0f;
        for (int i = 0; i < EXI_GPU_AT_ONCE; i++, at += EXI_GPU_TILE_NUMBERS)
            for (int c = 0; c < 3; c++)
                number[i][c] = factor[i] != 0.0f ? exi_gpu_number(g, at + (size_t)(c * EXI_GPU_TILE), is_float) : 0.0f;
        for (int i = 0; i < EXI_GPU_AT_ONCE; i++)
            for (int c = 0; c < 3; c++)
                sum[c] += factor[i] * number[i][c];
    }
}

/* factors: of all forms. */
EXI_INLINE void exi_gpu_sum_forms(const exi_gpu *g, const float *factors, int first, int count, int vertex,
                                  float sum[3]) {
    const size_t at = exi_gpu_place(vertex, g->forms, first);
    if (g->storage == EX_STORAGE_FLOAT)
        exi_gpu_sum_stored(g, factors + first, at, count, true, sum);
    else
        exi_gpu_sum_stored(g, factors + first, at, count, false, sum);
}

/* ---- trajectories ---- */

/* d = (x + turn (x - centre) + move) - mesh, with x = mesh + d. */
EXI_INLINE void exi_gpu_screw(const exi_gpu_motion *motion, const float mesh[3], float d[3]) {
    float from[3];
    for (int c = 0; c < 3; c++)
        from[c] = mesh[c] - motion->centre[c] + d[c];
    for (int r = 0; r < 3; r++) {
        const float *row = motion->turn + 3 * r;
        d[r] = row[0] * from[0] + (row[1] * from[1] + (row[2] * from[2] + (d[r] + motion->move[r])));
    }
}

/* The nodes that move a vertex. */
typedef struct exi_gpu_nodes {
    uint16_t nodes[EX_NODE_SHARES];
    float shares[EX_NODE_SHARES];
} exi_gpu_nodes;

/* nodes: a table of a mixture, nodes or places_in_group. */
EXI_INLINE exi_gpu_nodes exi_gpu_read_nodes(const exi_gpu *g, uint64_t nodes, uint64_t shares, int vertex) {
    const uint16_t *from = (const uint16_t *)(const void *)(g->block + nodes) + EX_NODE_SHARES * (size_t)vertex;
    const float *weights = (const float *)(const void *)(g->block + shares) + EX_NODE_SHARES * (size_t)vertex;
    exi_gpu_nodes in;
#if defined(__CUDA_ARCH__)
    const ushort4 four = __ldg((const ushort4 *)from);
    const float4 heavy = __ldg((const float4 *)weights);
    in.nodes[0] = four.x;
    in.nodes[1] = four.y;
    in.nodes[2] = four.z;
    in.nodes[3] = four.w;
    in.shares[0] = heavy.x;
    in.shares[1] = heavy.y;
    in.shares[2] = heavy.z;
    in.shares[3] = heavy.w;
#else
    memcpy(in.nodes, from, sizeof in.nodes);
    memcpy(in.shares, weights, sizeof in.shares);
#endif
    return in;
}

/* d = d + A (mesh + d) + t, with the sum of the matrices of the vertex's nodes. */
EXI_INLINE void exi_gpu_mix_move(const float *matrices, const exi_gpu_nodes *in, const float mesh[3], float d[3]) {
    float m[12], from[3];
    EXI_UNROLLED
    for (int i = 0; i < EX_NODE_SHARES; i++) {
        EXI_UNROLLED
        for (int r = 0; r < 3; r++) {
            float row[4];
            exi_gpu_load4(matrices + 12 * (int)in->nodes[i] + 4 * r, row);
            for (int c = 0; c < 4; c++)
                m[4 * r + c] = i == 0 ? in->shares[0] * row[c] : m[4 * r + c] + in->shares[i] * row[c];
        }
    }
    for (int c = 0; c < 3; c++)
        from[c] = mesh[c] + d[c];
    for (int r = 0; r < 3; r++)
        d[r] += m[4 * r] * from[0] + (m[4 * r + 1] * from[1] + (m[4 * r + 2] * from[2] + m[4 * r + 3]));
}

/* position += mask (path - mesh). factors: of all forms; appended: of all segments; matrices: of all
 * nodes. */
EXI_INLINE void exi_gpu_add_trajectory(const exi_gpu *g, const exi_gpu_trajectory *path, const exi_gpu_motion *motion,
                                       const float *factors, const float *appended, const float *matrices, int vertex,
                                       const float mesh[3], float position[3]) {
    const int velocities = path->first_form + path->turn_count;
    float d[3] = {0.0f, 0.0f, 0.0f};
    exi_gpu_sum_forms(g, factors, velocities, path->velocity_count, vertex, d);
    if (path->turn_count > 0) {
        float w[3] = {0.0f, 0.0f, 0.0f};
        exi_gpu_sum_forms(g, factors, path->first_form, path->turn_count, vertex, w);
        exi_turn_mean_float(w, d, d);
    }
    if (EXI_GPU_HAS(g, EXI_GPU_MIXTURES) && path->mixture.node_count > 0) {
        const exi_gpu_nodes in = exi_gpu_read_nodes(g, path->mixture.nodes, path->mixture.shares, vertex);
        exi_gpu_mix_move(matrices + 12 * path->mixture.first_node, &in, mesh, d);
    }
    if (path->corrector_count > 0)
        exi_gpu_sum_forms(g, factors, velocities + path->velocity_count, path->corrector_count, vertex, d);
    if (path->segments) {
        const uint16_t *segments = (const uint16_t *)(g->block + path->segments);
        const float *shift = appended + 3 * (path->first_segment + (int)EXI_GPU_READ(segments + vertex));
        for (int c = 0; c < 3; c++)
            d[c] += shift[c];
    }
    if (motion->moves)
        exi_gpu_screw(motion, mesh, d);
    const float mask = path->mask ? EXI_GPU_READ((const float *)(g->block + path->mask) + vertex) : 1.0f;
    for (int c = 0; c < 3; c++)
        position[c] += mask * d[c];
}

EXI_INLINE void exi_gpu_add_trajectories(const exi_gpu *g, const exi_gpu_work *work, int instance, int vertex,
                                         const float mesh[3], float position[3]) {
    const float *factors = work->factors + (size_t)instance * (size_t)g->forms;
    const exi_gpu_motion *motions = work->motions + (size_t)instance * (size_t)g->path_count;
    const float *appended = work->appended + 3 * (size_t)instance * (size_t)g->segments;
    const float *matrices = work->matrices + 12 * (size_t)instance * (size_t)g->mixed_nodes;
    for (int i = 0; i < g->path_count; i++) {
        const exi_gpu_trajectory *path = &g->paths[i];
        if (path->sum)
            exi_gpu_sum_forms(g, factors, path->first_form,
                              path->turn_count + path->velocity_count + path->corrector_count, vertex, position);
        else if (motions[i].active)
            exi_gpu_add_trajectory(g, path, &motions[i], factors, appended, matrices, vertex, mesh, position);
    }
}

/* ---- offsets ---- */

EXI_INLINE exi_gpu_offset exi_gpu_read_offset(const exi_gpu_offset *from) {
#if defined(__CUDA_ARCH__)
    const float4 four = __ldg((const float4 *)from);
    exi_gpu_offset offset;
    offset.delta[0] = four.x;
    offset.delta[1] = four.y;
    offset.delta[2] = four.z;
    offset.weight = __float_as_uint(four.w);
    return offset;
#else
    return *from;
#endif
}

/* The sum of a vertex's offsets of one frame; weights: of the instance. */
EXI_INLINE void exi_gpu_sum_offsets(const exi_gpu *g, ex_offset_frame frame, const float *weights, int vertex,
                                    float sum[3]) {
    const uint32_t end = EXI_GPU_READ(g->offset_starts[frame] + vertex + 1);
    for (uint32_t i = EXI_GPU_READ(g->offset_starts[frame] + vertex); i < end; i++) {
        const exi_gpu_offset offset = exi_gpu_read_offset(g->offsets[frame] + i);
        const float weight = weights[offset.weight];
        for (int c = 0; c < 3; c++)
            sum[c] += weight * offset.delta[c];
    }
}

/* ---- skin ---- */

/* The influences of a vertex: the first four, then the others. */
typedef struct exi_gpu_influences {
    uint16_t joints[4];
    float weights[4];
    int count;           /* number of these, at least 1; unused ones have weight 0 */
    uint32_t begin, end; /* of long_joints */
} exi_gpu_influences;

EXI_INLINE void exi_gpu_read_influences(const exi_gpu *g, int vertex, exi_gpu_influences *in) {
    const uint16_t *joints = g->skin_joints + 4 * (size_t)vertex;
    const float *weights = g->skin_weights + 4 * (size_t)vertex;
#if defined(__CUDA_ARCH__)
    const ushort4 four = __ldg((const ushort4 *)joints);
    const float4 heavy = __ldg((const float4 *)weights);
    in->joints[0] = four.x;
    in->joints[1] = four.y;
    in->joints[2] = four.z;
    in->joints[3] = four.w;
    in->weights[0] = heavy.x;
    in->weights[1] = heavy.y;
    in->weights[2] = heavy.z;
    in->weights[3] = heavy.w;
#else
    memcpy(in->joints, joints, sizeof in->joints);
    memcpy(in->weights, weights, sizeof in->weights);
#endif
    in->count = 1;
    for (int i = 1; i < 4; i++)
        in->count += in->weights[i] != 0.0f;
    in->begin = in->end = 0;
    if (g->long_starts && in->weights[3] != 0.0f) {
        in->begin = EXI_GPU_READ(g->long_starts + vertex);
        in->end = EXI_GPU_READ(g->long_starts + vertex + 1);
    }
}

EXI_INLINE void exi_gpu_add_matrix(const float *m, float weight, float sum[12]) {
    for (int r = 0; r < 3; r++) {
        float row[4];
        exi_gpu_load4(m + 4 * r, row);
        for (int c = 0; c < 4; c++)
            sum[4 * r + c] += weight * row[c];
    }
}

/* x = (sum of weight * matrix) x */
EXI_INLINE void exi_gpu_move_linear(const exi_gpu *g, const float *palette, const exi_gpu_influences *in, float x[3]) {
    float m[12] = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f}, out[3];
    for (int i = 0; i < 4; i++)
        if (i < in->count)
            exi_gpu_add_matrix(palette + 12 * (int)in->joints[i], in->weights[i], m);
    EXI_ROLLED
    for (uint32_t i = in->begin; i < in->end; i++)
        exi_gpu_add_matrix(palette + 12 * (int)EXI_GPU_READ(g->long_joints + i), EXI_GPU_READ(g->long_weights + i), m);
    for (int r = 0; r < 3; r++)
        out[r] = m[4 * r + 2] * x[2] + (m[4 * r + 1] * x[1] + (m[4 * r] * x[0] + m[4 * r + 3]));
    for (int r = 0; r < 3; r++)
        x[r] = out[r];
}

/* sum += weight * numbers, four at a time. The signs of quaternions are those of the pose (dual.inl). */
EXI_INLINE void exi_gpu_add_four(const float *from, float weight, float sum[4]) {
    float four[4];
    exi_gpu_load4(from, four);
    for (int i = 0; i < 4; i++)
        sum[i] += weight * four[i];
}

EXI_INLINE void exi_gpu_add_dual(const float *from, float weight, float sum[8]) {
    exi_gpu_add_four(from, weight, sum);
    exi_gpu_add_four(from + 4, weight, sum + 4);
}

/* Replaces a sum that has cancelled by the numbers of the heaviest influence, as exi_rotation_settle does. */
EXI_INLINE void exi_gpu_settle(const float *pivot, int count, float *sum) {
    const float length_sq = sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2] + sum[3] * sum[3];
    if (length_sq > EXI_DUAL_LEAST)
        return;
    for (int i = 0; i < count; i++)
        sum[i] = pivot[i];
}

/* x = G x, with G the rigid motion of the blended dual quaternions: x + 2 (w u x x + u x (u x x)) and the translation 2
 * d q* of exi_dual_matrix, all divided by |q|^2. */
EXI_INLINE void exi_gpu_move_dual(const exi_gpu *g, const float *duals, const exi_gpu_influences *in, float x[3]) {
    const float *first = duals + 8 * (int)in->joints[0];
    float q[8], moved[3];
    exi_gpu_load4(first, q);
    exi_gpu_load4(first + 4, q + 4);
    for (int i = 0; i < 8; i++)
        q[i] *= in->weights[0];
    for (int i = 1; i < 4; i++)
        if (i < in->count)
            exi_gpu_add_dual(duals + 8 * (int)in->joints[i], in->weights[i], q);
    EXI_ROLLED
    for (uint32_t i = in->begin; i < in->end; i++)
        exi_gpu_add_dual(duals + 8 * (int)EXI_GPU_READ(g->long_joints + i), EXI_GPU_READ(g->long_weights + i), q);
    exi_gpu_settle(first, 8, q);
    const float *d = q + 4, s = 2.0f / (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    moved[0] = s * (q[3] * d[0] - d[3] * q[0] + (q[1] * d[2] - q[2] * d[1]));
    moved[1] = s * (q[3] * d[1] - d[3] * q[1] + (q[2] * d[0] - q[0] * d[2]));
    moved[2] = s * (q[3] * d[2] - d[3] * q[2] + (q[0] * d[1] - q[1] * d[0]));
    exi_rotation_turn(q, x, x);
    for (int c = 0; c < 3; c++)
        x[c] += moved[c];
}

/* The blended rotation of a vertex, not of unit length, as in sum_rotations of turn.c. */
EXI_INLINE void exi_gpu_sum_rotations(const exi_gpu *g, const float *duals, const exi_gpu_influences *in, float q[4]) {
    const float *first = duals + 8 * (int)in->joints[0];
    exi_gpu_load4(first, q);
    for (int i = 0; i < 4; i++)
        q[i] *= in->weights[0];
    for (int i = 1; i < 4; i++)
        if (i < in->count)
            exi_gpu_add_four(duals + 8 * (int)in->joints[i], in->weights[i], q);
    EXI_ROLLED
    for (uint32_t i = in->begin; i < in->end; i++)
        exi_gpu_add_four(duals + 8 * (int)EXI_GPU_READ(g->long_joints + i), EXI_GPU_READ(g->long_weights + i), q);
    exi_gpu_settle(first, 4, q);
}

/* Applies the skin, and offsets in its frame. */
EXI_INLINE void exi_gpu_skin(const exi_gpu *g, const exi_gpu_work *work, int instance, int vertex,
                             const float offset[3], float x[3]) {
    const float *palette = work->palette + 12 * (size_t)instance * (size_t)g->joints;
    const float *duals = work->duals ? work->duals + 8 * (size_t)instance * (size_t)g->joints : NULL;
    const bool dual = g->skinning == EX_SKINNING_DUAL_QUATERNION;
    exi_gpu_influences in;
    exi_gpu_read_influences(g, vertex, &in);
    if (!dual || work->stretched[instance])
        exi_gpu_move_linear(g, palette, &in, x);
    if (dual)
        exi_gpu_move_dual(g, duals, &in, x);
    if (offset[0] == 0.0f && offset[1] == 0.0f && offset[2] == 0.0f)
        return;
    float q[4], turned[3];
    exi_gpu_sum_rotations(g, duals, &in, q);
    exi_rotation_turn(q, offset, turned);
    for (int c = 0; c < 3; c++)
        x[c] += turned[c];
}

/* ---- stage ---- */

EXI_INLINE void exi_gpu_shape(const exi_gpu *g, const exi_gpu_job *j, int instance, int vertex, float position[3]) {
    const exi_gpu_work *work = &j->work;
    const float *base = g->base + exi_gpu_place(vertex, 1, 0);
    const float *weights = work->offset_weights + (size_t)instance * (size_t)g->offset_weights;
    float mesh[3], offset[3] = {0.0f, 0.0f, 0.0f};
    for (int c = 0; c < 3; c++)
        position[c] = mesh[c] = EXI_GPU_READ(base + c * EXI_GPU_TILE);
    if (g->sum_forms > 0)
        exi_gpu_sum_forms(g, work->factors + (size_t)instance * (size_t)g->forms, 0, g->sum_forms, vertex, position);
    if (g->path_count > 0)
        exi_gpu_add_trajectories(g, work, instance, vertex, mesh, position);
    if (g->offset_starts[EX_OFFSET_FRAME_REST])
        exi_gpu_sum_offsets(g, EX_OFFSET_FRAME_REST, weights, vertex, offset);
    for (int c = 0; c < 3; c++) {
        position[c] += offset[c];
        offset[c] = 0.0f;
    }
    if (g->offset_starts[EX_OFFSET_FRAME_SKINNED])
        exi_gpu_sum_offsets(g, EX_OFFSET_FRAME_SKINNED, weights, vertex, offset);
    if (j->skinned && g->skin_joints)
        exi_gpu_skin(g, work, instance, vertex, offset, position);
    else /* a form that is not posed is not turned */
        for (int c = 0; c < 3; c++)
            position[c] += offset[c];
}

#endif
