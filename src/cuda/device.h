/*
 * Host data of an uploaded rig, and the conversion of CUDA's errors to results. Private to the room.
 */
#ifndef EXI_CUDA_DEVICE_H
#define EXI_CUDA_DEVICE_H

#include "cuda/lay/lay.h"
#include "runtime/weigh/weigher.h"

#include <exemplar/cuda.h>

/* A layer's weigher as uploaded, to compare edited ones with. */
typedef struct exi_cuda_weigher {
    ex_weigher head;
    uint64_t at; /* offset in the block */
} exi_cuda_weigher;

/* One block of host memory (memory.h). */
struct ex_cuda_rig {
    exi_gpu head;
    exi_gpu_levels levels;
    void *memory; /* the device's block */
    size_t size;
    int device;                              /* its device */
    uint32_t muted[EXI_GPU_MUTED_WORDS];     /* layers that the rig leaves out */
    uint32_t displaces[EXI_GPU_MUTED_WORDS]; /* layers that are displacements */
    exi_cuda_weigher weighers[];             /* [layer_count] */
};

/* Returns EX_OK, or DEVICE (MEMORY if the device is out of memory) with a message: what was tried, and CUDA's text.
 * Clears CUDA's own record of the error, so that the next call starts afresh. */
ex_result exi_cuda_result(int status, const char *what, ex_error *error);

/* Returns EX_OK if the rig's device is current in this thread; else ARGUMENT, or DEVICE. */
ex_result exi_cuda_check_device(const ex_cuda_rig *rig, ex_error *error);

#endif
