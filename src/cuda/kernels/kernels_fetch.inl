/*
 * Asynchronous copies from global to shared memory, from compute capability 8.0 on; normal copies before. A thread must
 * wait for its own copies before it reads the data, or before a barrier after which another thread does.
 */
#ifndef EXI_CUDA_KERNELS_FETCH_INL
#define EXI_CUDA_KERNELS_FETCH_INL

#include <stdint.h>

/* Copies 16 bytes, bypassing the first-level cache, which data that is read once would only evict. Both at multiples of
 * 16 bytes. */
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

/* Waits until this thread's fetches have arrived. */
static __device__ __forceinline__ void exi_fetch_wait(void) {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

#endif
