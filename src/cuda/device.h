/*
 * The host's side of an uploaded rig, and how CUDA's errors become results. Private to the room.
 */
#ifndef EXI_CUDA_DEVICE_H
#define EXI_CUDA_DEVICE_H

#include "cuda/lay/lay.h"
#include "runtime/weigh/weigher.h"

#include <exemplar/cuda.h>

/* A layer's weigher as it was uploaded, with which edited ones are compared. */
typedef struct exi_cuda_weigher {
    ex_weigher head;
    uint64_t at; /* in the block */
} exi_cuda_weigher;

/* One block of the host's memory (memory.h). */
struct ex_cuda_rig {
    exi_gpu head;
    exi_gpu_levels levels;
    void *memory; /* the device's block */
    size_t size;
    int device;                              /* where that is */
    uint32_t muted[EXI_GPU_MUTED_WORDS];     /* as the rig leaves layers out */
    uint32_t displaces[EXI_GPU_MUTED_WORDS]; /* which layers are displacements */
    exi_cuda_weigher weighers[];             /* [layer_count] */
};

/* EX_OK, or DEVICE (MEMORY where the device has none left) with a sentence: what was tried, and what CUDA says. Clears
 * CUDA's own note of the error, so that the next call starts afresh. */
ex_result exi_cuda_result(int status, const char *what, ex_error *error);

/* EX_OK where the rig's device is current in this thread; else ARGUMENT, or DEVICE. */
ex_result exi_cuda_check_device(const ex_cuda_rig *rig, ex_error *error);

#endif
