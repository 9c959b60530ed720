/*
 * cli/bake/gpu.h - the tool's interface to the GPU: CUDA support, devices, frames of a bake, and measurements. Only
 * gpu.c uses CUDA; in a build without CUDA every function here reports that.
 */
#ifndef EXEMPLAR_CLI_GPU_H
#define EXEMPLAR_CLI_GPU_H

#include "cli/base/command.h"
#include "cli/base/emit.h"

#include <exemplar/author/bake.h>

/* Prints "cuda" and "gpus" of 'info --capabilities'. */
void exi_gpu_print(void);
void exi_gpu_print_json(exi_emitter *json);

/* EX_OK if a GPU can be used; otherwise DEVICE, with a sentence that says what is missing. */
ex_result exi_gpu_ready(ex_error *error);

/* Evaluates the frames of a point cache on the first GPU, into page-locked memory. Results: ARGUMENT (a rig with a
 * driver), DEVICE, MEMORY. */
typedef struct exi_gpu_frames exi_gpu_frames;
ex_result exi_gpu_frames_create(const ex_rig *rig, int level, const bool *muted, int frame_count, exi_gpu_frames **made,
                                ex_error *error);
void exi_gpu_frames_destroy(exi_gpu_frames *frames);
ex_bake_evaluator exi_gpu_frames_evaluator(exi_gpu_frames *frames);

/* Runs 'exemplar bench --gpu [NAME]' and returns its exit code. */
int exi_gpu_bench_command(const ex_call *call, const char *name, int repeat);

#endif
