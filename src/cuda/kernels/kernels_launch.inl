/*
 * What launches of kernels go by, on the host's side: how many multiprocessors there are, and how many instances a
 * block goes through so that all of them are busy to the end.
 */
#ifndef EXI_CUDA_KERNELS_LAUNCH_INL
#define EXI_CUDA_KERNELS_LAUNCH_INL

#include <cuda_runtime.h>

/* The rows that a grid can have. */
#define EXI_LAUNCH_ROWS_MOST 65535

/* Of the device that is current; where CUDA does not say, as many as large ones have. */
static inline int exi_launch_multiprocessors(void) {
    int device = 0, count = 0;
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device) != cudaSuccess || count < 1)
        return 128;
    return count;
}

/* How many instances make a run, a multiple of `step`, so that groups times runs are as many blocks or, since a few
 * more would have to wait for all of them, somewhat fewer. */
static inline int exi_launch_choose_run(int groups, int blocks, int count, int step) {
    int runs = blocks / groups > 1 ? blocks / groups : 1;
    runs = runs < EXI_LAUNCH_ROWS_MOST ? runs : EXI_LAUNCH_ROWS_MOST;
    return ((count + runs - 1) / runs + step - 1) / step * step;
}

#endif
