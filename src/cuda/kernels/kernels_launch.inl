/*
 * Launch parameters, on the host: the number of multiprocessors, and the number of instances per block that keeps all
 * of them busy to the end.
 */
#ifndef EXI_CUDA_KERNELS_LAUNCH_INL
#define EXI_CUDA_KERNELS_LAUNCH_INL

#include <cuda_runtime.h>

/* Maximum number of rows of a grid. */
#define EXI_LAUNCH_ROWS_MOST 65535

/* Returns that of the current device; if CUDA does not tell, that of a large one. */
static inline int exi_launch_multiprocessors(void) {
    int device = 0, count = 0;
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device) != cudaSuccess || count < 1)
        return 128;
    return count;
}

/* Returns the number of instances per run, a multiple of `step`, so that groups times runs give about `blocks` blocks,
 * rather fewer than more, since a few more would have to wait for all others. */
static inline int exi_launch_choose_run(int groups, int blocks, int count, int step) {
    int runs = blocks / groups > 1 ? blocks / groups : 1;
    runs = runs < EXI_LAUNCH_ROWS_MOST ? runs : EXI_LAUNCH_ROWS_MOST;
    return ((count + runs - 1) / runs + step - 1) / step * step;
}

#endif
