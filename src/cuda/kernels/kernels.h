/*
 * The kernels as the host calls them: each puts its work into the stream and returns what CUDA says of the launch, 0
 * being good. block.h says which file runs what.
 */
#ifndef EXI_CUDA_KERNELS_H
#define EXI_CUDA_KERNELS_H

#include "cuda/block.h"

#include <exemplar/cuda.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Weights, factors, palettes of every instance. */
int exi_gpu_run_prepare(const exi_gpu *gpu, const exi_gpu_job *job, ex_cuda_stream stream);
/* Vertices of the cage, to job->cage or, where that is NULL, to job->positions. `prepared` is false where the kernel is
 * to prepare each instance itself, block by block, in place of exi_gpu_run_prepare: for a few instances. */
int exi_gpu_run_shape(const exi_gpu *gpu, const exi_gpu_job *job, bool prepared, ex_cuda_stream stream);
/* Whether the shape kernel can prepare by itself, in a block's shared memory, and that is worth it. */
bool exi_gpu_can_fuse(const exi_gpu *gpu, const exi_gpu_job *job);
/* Vertices of a level from job->cage, displaced where job->displaced; limit normals to job->normals. */
int exi_gpu_run_refine(const exi_gpu *gpu, const exi_gpu_job *job, ex_cuda_stream stream);
/* Normals from rings, of job->positions to job->normals. */
int exi_gpu_run_normals(const exi_gpu_job *job, ex_cuda_stream stream);
/* One array of entries from floats close together in source order, [count][level vertices][3]. */
typedef struct exi_gpu_writing {
    const float *from;
    ex_cuda_array to; /* strides filled in */
    float frame[4];
    float last; /* the fourth number of 16-bit entries */
    bool split, in_frame;
} exi_gpu_writing;
int exi_gpu_run_write(const exi_gpu_job *job, const exi_gpu_writing *writing, ex_cuda_stream stream);
/* Whether the crowd's kernel does what is asked: forms and linear skinning or none, on this device. */
bool exi_crowd_suits(const exi_gpu *gpu, const exi_gpu_job *job);
/* From factors and palettes to positions and, where asked, normals. */
int exi_crowd_run(const exi_gpu *gpu, const exi_gpu_job *job, bool normals, ex_cuda_stream stream);
/* Boxes of positions as job has them. */
int exi_gpu_run_boxes(const exi_gpu_job *job, float *boxes, ex_cuda_stream stream);

#ifdef __cplusplus
}
#endif
#endif
