/*
 * Preparation of an instance: everything that is computed once per pose and used by all vertices. Weights come first,
 * since rest positions of joints may follow them (exi_gpu.shifts).
 */
#ifndef EXI_CUDA_PREPARE_INL
#define EXI_CUDA_PREPARE_INL

#include "cuda/stages/prepare_pose.inl"
#include "cuda/stages/prepare_weigh.inl"

EXI_INLINE void exi_gpu_prepare(const exi_gpu *g, const exi_gpu_job *j, int instance, exi_team team) {
    exi_gpu_weigh(g, j, instance, team);
    exi_gpu_pose(g, j, instance, team);
}

#endif
