/*
 * From the posed cage to the surface, for one vertex of one instance: position(v) = sum over k of w_vk cage(k); limit
 * normal t1 x t2 normalised, where t1, t2 are such sums as well; displacement along it (domain_displacement.c of the
 * runtime: S = T + d n, d the sum over layers and examples of weight times displacement); and the normal of a vertex
 * from its ring: with q_i its neighbours relative to it, the sum over chains of q_i x q_(i+1).
 *
 * Common subset of C and CUDA. Lanes of a warp are vertices of a tile: tables are read 128 bytes at a time, the cage's
 * vertices in place.
 */
#ifndef EXI_CUDA_SURFACE_INL
#define EXI_CUDA_SURFACE_INL

#include "cuda/block.h"
#include "cuda/machine.h"
#include "runtime/refine/limit.inl"

/* ---- refined positions ---- */

EXI_INLINE const float *exi_gpu_cage(const exi_gpu *g, const exi_gpu_job *j, int instance) {
    return j->cage + (size_t)instance * (size_t)g->vertices * 3;
}

EXI_INLINE void exi_gpu_refine_position(const exi_gpu *g, const exi_gpu_job *j, int instance, int vertex,
                                        float position[3]) {
    const float *cage = exi_gpu_cage(g, j, instance);
    const uint32_t *starts = j->level.tile_starts + vertex / EXI_GPU_TILE;
    size_t at = (size_t)starts[0] * EXI_GPU_TILE + (size_t)(vertex % EXI_GPU_TILE);
    const size_t end = (size_t)starts[1] * EXI_GPU_TILE;
    float x = 0, y = 0, z = 0;
    for (; at < end; at += EXI_GPU_TILE) {
        const float *from = cage + 3 * (size_t)j->level.support[at];
        const float weight = j->level.weights[at];
        x += weight * from[0];
        y += weight * from[1];
        z += weight * from[2];
    }
    position[0] = x;
    position[1] = y;
    position[2] = z;
}

/* Computes the position, and the limit normal of a level with tangents. */
EXI_INLINE void exi_gpu_refine_both(const exi_gpu *g, const exi_gpu_job *j, int instance, int vertex, float position[3],
                                    float normal[3]) {
    const float *cage = exi_gpu_cage(g, j, instance);
    const uint32_t *starts = j->level.tile_starts + vertex / EXI_GPU_TILE;
    const size_t lane = (size_t)(vertex % EXI_GPU_TILE);
    float sums[3][3];
    for (int t = 0; t < 3; t++)
        for (int c = 0; c < 3; c++)
            sums[t][c] = 0;
    for (size_t row = starts[0]; row < starts[1]; row++) {
        const size_t at = row * EXI_GPU_TILE + lane;
        const float *tangents = j->level.tangents + 2 * row * EXI_GPU_TILE + lane;
        const float *from = cage + 3 * (size_t)j->level.support[at];
        const float point[3] = {from[0], from[1], from[2]};
        const float weights[3] = {j->level.weights[at], tangents[0], tangents[EXI_GPU_TILE]};
        for (int t = 0; t < 3; t++)
            for (int c = 0; c < 3; c++)
                sums[t][c] += weights[t] * point[c];
    }
    for (int c = 0; c < 3; c++)
        position[c] = sums[0][c];
    exi_limit_normal(sums[1], sums[2], normal);
}

/* ---- displacement ---- */

/* Sums one layer with the weights of its examples; those of weight 0 are not read. */
EXI_INLINE float exi_gpu_displacement_sum(const exi_gpu_displacement *d, const float *weights, int slot) {
    float sum = 0;
    for (int k = 0; k < d->example_count; k++) {
        const float weight = weights[k];
        const size_t at = (size_t)k * (size_t)d->stride + (size_t)slot;
        if (weight == 0)
            continue;
        if (d->storage == EX_STORAGE_FLOAT)
            sum += ((const float *)d->values)[at] * weight;
        else
            sum += (float)((const int16_t *)d->values)[at] * (weight * d->scales[k]);
    }
    return sum;
}

/* Returns the displacement of a vertex along its limit normal, by all layers that are not muted. */
EXI_INLINE float exi_gpu_displacement_of(const exi_gpu *g, const exi_gpu_job *j, int instance, int vertex) {
    const float *weights = j->work.weights + (size_t)instance * (size_t)g->examples;
    float sum = 0;
    for (int i = 0; i < g->displacement_count; i++) {
        const exi_gpu_displacement *d = &g->displacements[i];
        const int slot = d->slots[vertex];
        /* here the job is the kernel's own argument, and its words have addresses (layers.inl) */
        const bool muted = (j->muted[d->layer / 32] >> (d->layer % 32) & 1u) != 0;
        if (slot >= 0 && !muted)
            sum += exi_gpu_displacement_sum(d, weights + d->first_example, slot);
    }
    return sum;
}

/* ---- a vertex of a level ---- */

/* With the limit normal, and displaced if the job is: for a level with tangents. */
EXI_INLINE void exi_gpu_refine_full(const exi_gpu *g, const exi_gpu_job *j, int instance, int vertex, float position[3],
                                    float normal[3]) {
    exi_gpu_refine_both(g, j, instance, vertex, position, normal);
    if (j->displaced) {
        const float amount = exi_gpu_displacement_of(g, j, instance, vertex);
        for (int c = 0; c < 3; c++)
            position[c] += amount * normal[c];
    }
}

/* normal NULL: not written. If the job is displaced, the normal is that of the limit surface under it. */
EXI_INLINE void exi_gpu_refine(const exi_gpu *g, const exi_gpu_job *j, int instance, int vertex, float position[3],
                               float normal[3]) {
    float own[3];
    if (normal || j->displaced)
        exi_gpu_refine_full(g, j, instance, vertex, position, normal ? normal : own);
    else
        exi_gpu_refine_position(g, j, instance, vertex, position);
}

/* ---- normals from rings ---- */

/* Threshold for the square of the sum divided by that of the terms' size. Float loses digits if the faces' vectors
 * cancel or the faces are needles; above the threshold, normals are within 1e-5. */
#define EXI_GPU_RING_SQ 1e-4f

/* Sums the ring in double and stores the sum as float, as the runtime does with areas: faces smaller than 1e-22 across
 * have none. */
EXI_INLINE void exi_gpu_normal_slowly(const exi_gpu_job *j, const float *positions, int vertex, float normal[3]) {
    const size_t stride = (size_t)j->position_stride;
    const float *here = positions + (size_t)vertex * stride;
    const uint32_t end = j->level.ring_starts[vertex + 1];
    double sum[3] = {0, 0, 0}, before[3] = {0, 0, 0};
    for (uint32_t i = j->level.ring_starts[vertex]; i < end; i++) {
        const uint32_t entry = j->level.rings[i];
        const float *there = positions + (size_t)(entry & ~EXI_GPU_RING_START) * stride;
        double q[3], term[3];
        for (int c = 0; c < 3; c++) {
            q[c] = (double)there[c] - (double)here[c];
            before[c] = entry & EXI_GPU_RING_START ? 0 : before[c];
        }
        exi_cross(before, q, term);
        for (int c = 0; c < 3; c++) {
            sum[c] += term[c];
            before[c] = q[c];
        }
    }
    for (int c = 0; c < 3; c++)
        sum[c] = (double)(float)sum[c];
    const bool sound = exi_unit3(sum);
    for (int c = 0; c < 3; c++)
        normal[c] = sound ? (float)sum[c] : 0;
}

/* The sum over a ring, and the squares of its terms' sizes. */
typedef struct exi_gpu_ring_sum {
    float x, y, z, size;
} exi_gpu_ring_sum;

/* sum += before x q, then before = q. Written so that all of it can be multiply-adds. */
EXI_INLINE void exi_gpu_ring_add(exi_gpu_ring_sum *sum, float before[3], float x, float y, float z) {
    sum->x = sum->x + before[1] * z - before[2] * y;
    sum->y = sum->y + before[2] * x - before[0] * z;
    sum->z = sum->z + before[0] * y - before[1] * x;
    sum->size = sum->size + x * x + y * y + z * z; /* at least the sum of |q_i| |q_(i+1)| */
    before[0] = x;
    before[1] = y;
    before[2] = z;
}

/* Computes the unit normal; false if float is not accurate enough. */
EXI_INLINE bool exi_gpu_ring_end(const exi_gpu_ring_sum *sum, float normal[3]) {
    const float square = sum->x * sum->x + sum->y * sum->y + sum->z * sum->z;
    if (!exi_square_is_usual(square, sum->size * sum->size * EXI_GPU_RING_SQ))
        return false;
    const float scale = exi_gpu_over_root(square);
    normal[0] = sum->x * scale;
    normal[1] = sum->y * scale;
    normal[2] = sum->z * scale;
    return true;
}

/* Sums the ring from the instance's positions. */
EXI_INLINE exi_gpu_ring_sum exi_gpu_sum_ring(const exi_gpu_job *j, const float *positions, int vertex) {
    const size_t stride = (size_t)j->position_stride;
    const float *here = positions + (size_t)vertex * stride;
    const float hx = here[0], hy = here[1], hz = here[2];
    const uint32_t end = j->level.ring_starts[vertex + 1];
    exi_gpu_ring_sum sum = {0, 0, 0, 0};
    float before[3] = {0, 0, 0};
    for (uint32_t i = j->level.ring_starts[vertex]; i < end; i++) {
        const uint32_t entry = j->level.rings[i];
        const float *there = positions + (size_t)(entry & ~EXI_GPU_RING_START) * stride;
        if (entry & EXI_GPU_RING_START)
            before[0] = before[1] = before[2] = 0;
        exi_gpu_ring_add(&sum, before, there[0] - hx, there[1] - hy, there[2] - hz);
    }
    return sum;
}

/* Computes the unit normal of a vertex of job->positions; 0 0 0 if the faces around have none, or there are no
 * faces. */
EXI_INLINE void exi_gpu_normal(const exi_gpu_job *j, int instance, int vertex, float normal[3]) {
    const float *positions = j->positions + (size_t)instance * (size_t)j->position_instance;
    const exi_gpu_ring_sum sum = exi_gpu_sum_ring(j, positions, vertex);
    if (!exi_gpu_ring_end(&sum, normal))
        exi_gpu_normal_slowly(j, positions, vertex, normal);
}

#endif
