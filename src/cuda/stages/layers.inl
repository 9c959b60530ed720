/*
 * Access to a layer in the stages: if it is muted, its weigher, its trajectories, and the layer of an axis, a point or
 * an example. Common subset of C and CUDA.
 */
#ifndef EXI_CUDA_LAYERS_INL
#define EXI_CUDA_LAYERS_INL

#include "cuda/block.h"
#include "runtime/shape/trajectories.h"
#include "runtime/weigh/block.h"

/* Selects the word without taking an address, so that a kernel's job stays in registers. */
EXI_INLINE bool exi_gpu_is_muted(const exi_gpu *g, const exi_gpu_job *j, int layer) {
    uint32_t word = j->muted[0];
    if (EXI_GPU_HAS(g, EXI_GPU_LAYERS))
        for (int i = 1; i < EXI_GPU_MUTED_WORDS; i++)
            word = i == layer / 32 ? j->muted[i] : word;
    return (word >> (layer % 32) & 1) != 0;
}

EXI_INLINE const ex_weigher *exi_gpu_weigher(const exi_gpu *g, const exi_gpu_layer *layer) {
    return (const ex_weigher *)(const void *)(g->front + layer->weigher);
}

EXI_INLINE const exi_trajectories *exi_gpu_trajectories(const exi_gpu *g, const exi_gpu_trajectory *path) {
    return (const exi_trajectories *)(const void *)(g->front + path->paths);
}

/* ---- the layer of an item ---- */

typedef enum exi_gpu_item { EXI_GPU_AXES, EXI_GPU_POINTS, EXI_GPU_EXAMPLES } exi_gpu_item;

EXI_INLINE int exi_gpu_first_of(const exi_gpu_layer *layer, exi_gpu_item kind) {
    return kind == EXI_GPU_AXES     ? layer->first_axis
           : kind == EXI_GPU_POINTS ? layer->first_point
                                    : layer->first_example;
}

/* Returns the last layer whose items start at or before this one; kind is a constant at the call. */
EXI_INLINE int exi_gpu_layer_of(const exi_gpu *g, int item, exi_gpu_item kind) {
    int low = 0, high = g->layer_count;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (exi_gpu_first_of(&g->layers[middle], kind) <= item)
            low = middle;
        else
            high = middle;
    }
    return low;
}

#endif
