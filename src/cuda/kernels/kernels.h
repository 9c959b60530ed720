/*
 * Launches of the kernels: each function queues its work in the stream and returns CUDA's status of the launch, 0 for
 * success. block.h lists the files.
 */
#ifndef EXI_CUDA_KERNELS_H
#define EXI_CUDA_KERNELS_H

#include "cuda/block.h"

#include <exemplar/cuda.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Computes weights, factors and palettes of every instance. */
int exi_gpu_run_prepare(const exi_gpu *gpu, const exi_gpu_job *job, ex_cuda_stream stream);
/* Computes the matrices of the nodes of mixtures, after exi_gpu_run_prepare. */
int exi_gpu_run_nodes(const exi_gpu *gpu, const exi_gpu_job *job, ex_cuda_stream stream);
/* Computes vertices of the cage, to job->cage or, if that is NULL, to job->positions. If `prepared` is false, the
 * kernel prepares each instance itself, block by block, instead of exi_gpu_run_prepare: for a few instances. */
int exi_gpu_run_shape(const exi_gpu *gpu, const exi_gpu_job *job, bool prepared, ex_cuda_stream stream);
/* True if the shape kernel can prepare instances itself, in a block's shared memory, and that is faster. */
bool exi_gpu_can_fuse(const exi_gpu *gpu, const exi_gpu_job *job);
/* Computes vertices of a level from job->cage, displaced if job->displaced; limit normals to job->normals. */
int exi_gpu_run_refine(const exi_gpu *gpu, const exi_gpu_job *job, ex_cuda_stream stream);
/* Computes normals from rings, of job->positions to job->normals. */
int exi_gpu_run_normals(const exi_gpu_job *job, ex_cuda_stream stream);
/* One output array, from packed floats in source order, [count][level vertices][3]. */
typedef struct exi_gpu_writing {
    const float *from;
    ex_cuda_array to; /* strides filled in */
    float frame[4];
    float last; /* the fourth number of 16-bit entries */
    bool split, in_frame;
} exi_gpu_writing;
int exi_gpu_run_write(const exi_gpu_job *job, const exi_gpu_writing *writing, ex_cuda_stream stream);
/* True if the crowd's kernel can do the job: forms and linear skinning or none, on this device. */
bool exi_crowd_suits(const exi_gpu *gpu, const exi_gpu_job *job);
/* Computes positions and, if requested, normals from factors and palettes. */
int exi_crowd_run(const exi_gpu *gpu, const exi_gpu_job *job, bool normals, ex_cuda_stream stream);
/* Computes the boxes of job's positions. */
int exi_gpu_run_boxes(const exi_gpu_job *job, float *boxes, ex_cuda_stream stream);

#ifdef __cplusplus
}
#endif
#endif
