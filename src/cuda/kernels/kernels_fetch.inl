/*
 * Copies from global to shared memory that do not hold up the thread, from compute capability 8.0 on; before, usual
 * ones. A thread waits for its own before it, or after a barrier another, reads what was copied.
 */
#ifndef EXI_CUDA_KERNELS_FETCH_INL
#define EXI_CUDA_KERNELS_FETCH_INL

#include <stdint.h>

/* 16 bytes, past the first cache, which what is read once would only empty. Both at multiples of 16 bytes. */
static __device__ __forceinline__ void exi_fetch_16(void *to, const void *from) {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((uint32_t)__cvta_generic_to_shared(to)), "l"(from));
#else
    *(float4 *)to = *(const float4 *)from;
#endif
}

static __device__ __forceinline__ void exi_fetch_4(void *to, const void *from) {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((uint32_t)__cvta_generic_to_shared(to)), "l"(from));
#else
    *(float *)to = *(const float *)from;
#endif
}

/* Until what this thread has fetched is there. */
static __device__ __forceinline__ void exi_fetch_wait(void) {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

#endif
