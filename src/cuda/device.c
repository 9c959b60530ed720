/*
 * Devices, memory and copies, and the conversion of CUDA's errors to results. Messages name what was tried, since
 * CUDA's own do not.
 */
#include "cuda/device.h"

#include "runtime/base/result.h"

#include <cuda_runtime_api.h>

#include <stdio.h>
#include <string.h>

ex_result exi_cuda_result(int status, const char *what, ex_error *error) {
    const cudaError_t said = (cudaError_t)status;
    if (said == cudaSuccess)
        return EX_OK;
    (void)cudaGetLastError();
    if (said == cudaErrorMemoryAllocation)
        return ex_error_set(error, EX_ERROR_MEMORY, "%s: not enough memory is left", what);
    return ex_error_set(error, EX_ERROR_DEVICE, "%s: CUDA says '%s'", what, cudaGetErrorString(said));
}

ex_result exi_cuda_check_device(const ex_cuda_rig *rig, ex_error *error) {
    int current = 0;
    const ex_result result = exi_cuda_result((int)cudaGetDevice(&current), "asking which GPU is current", error);
    if (result == EX_OK && current != rig->device)
        return ex_error_set(
            error, EX_ERROR_ARGUMENT,
            "the rig was uploaded to GPU %d, and GPU %d is current in this thread: call cudaSetDevice(%d)", rig->device,
            current, rig->device);
    return result;
}

int ex_cuda_device_count(void) {
    int count = 0;
    if (cudaGetDeviceCount(&count) == cudaSuccess)
        return count;
    (void)cudaGetLastError();
    return 0;
}

static ex_result check_number(int device, ex_error *error) {
    const int count = ex_cuda_device_count();
    if (device < 0 || device >= count)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "there is no GPU %d: this program sees %d", device, count);
    return EX_OK;
}

ex_result ex_cuda_use_device(int device, ex_error *error) {
    const ex_result result = check_number(device, error);
    return result == EX_OK ? exi_cuda_result((int)cudaSetDevice(device), "choosing a GPU", error) : result;
}

ex_result ex_cuda_get_device(int device, ex_cuda_device *info, ex_error *error) {
    if (!info)
        return exi_misuse_error(error, __func__, "no pointer for the result");
    ex_result result = check_number(device, error);
    if (result != EX_OK)
        return result;
    struct cudaDeviceProp properties;
    int current = 0;
    result = exi_cuda_result((int)cudaGetDeviceProperties(&properties, device), "looking at a GPU", error);
    if (result != EX_OK)
        return result;
    *info = (ex_cuda_device){.major = properties.major,
                             .minor = properties.minor,
                             .multiprocessors = properties.multiProcessorCount,
                             .memory = properties.totalGlobalMem};
    snprintf(info->name, sizeof info->name, "%.127s", properties.name);
    (void)cudaDriverGetVersion(&info->driver);
    (void)cudaRuntimeGetVersion(&info->runtime);
    (void)cudaGetDevice(&current);
    size_t total = 0;
    if (cudaSetDevice(device) == cudaSuccess)
        (void)cudaMemGetInfo(&info->memory_free, &total);
    (void)cudaSetDevice(current);
    return EX_OK;
}

const char *ex_cuda_number_name(ex_cuda_number number) {
    static const char *const names[] = {
#define NAME(value, text) text,
        EX_CUDA_NUMBER_LIST(NAME)
#undef NAME
    };
    return (unsigned)number < (unsigned)EX_CUDA_NUMBER_COUNT ? names[number] : "unknown";
}

/* ---- memory ---- */

static ex_result allocated(int status, const char *whose, size_t size, ex_error *error) {
    char what[96];
    snprintf(what, sizeof what, "taking %.1f MB of %s", 1e-6 * (double)size, whose);
    return exi_cuda_result(status, what, error);
}

ex_result ex_cuda_allocate(size_t size, void **memory, ex_error *error) {
    if (!memory)
        return exi_misuse_error(error, __func__, "no pointer for the memory");
    *memory = NULL;
    return allocated((int)cudaMalloc(memory, size > 0 ? size : 1), "the GPU's memory", size, error);
}

/* CUDA remembers errors, which the next launch would report as its own. */
void ex_cuda_release(void *memory) {
    if (memory && cudaFree(memory) != cudaSuccess)
        (void)cudaGetLastError();
}

ex_result ex_cuda_allocate_host(size_t size, void **memory, ex_error *error) {
    if (!memory)
        return exi_misuse_error(error, __func__, "no pointer for the memory");
    *memory = NULL;
    return allocated((int)cudaMallocHost(memory, size > 0 ? size : 1), "page-locked memory", size, error);
}

void ex_cuda_release_host(void *memory) {
    if (memory && cudaFreeHost(memory) != cudaSuccess)
        (void)cudaGetLastError();
}

ex_result ex_cuda_copy(void *to, const void *from, size_t size, ex_cuda_stream stream, ex_error *error) {
    if (size == 0)
        return EX_OK;
    return exi_cuda_result((int)cudaMemcpyAsync(to, from, size, cudaMemcpyDefault, stream), "copying", error);
}

ex_result ex_cuda_wait(ex_cuda_stream stream, ex_error *error) {
    return exi_cuda_result((int)cudaStreamSynchronize(stream), "waiting for the GPU", error);
}
