/*
 * Uploads a rig: the host lays it out (lay.c) for its address on the device, then copies it at once. Edited weighers
 * are copied over those in the block.
 */
#include "cuda/device.h"

#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/rig/rig.h"

#include <cuda_runtime_api.h>

#include <string.h>

/* ---- creation ---- */

/* exi_lay_place: allocates the block on the device. */
static ex_result place(void *user, size_t size, uintptr_t *base, ex_error *error) {
    ex_cuda_rig *made = user;
    ex_result result = exi_cuda_result((int)cudaGetDevice(&made->device), "asking which GPU is current", error);
    if (result == EX_OK)
        result = ex_cuda_allocate(size, &made->memory, error);
    *base = (uintptr_t)made->memory;
    made->size = size;
    return result;
}

static void note_layers(const ex_rig *rig, ex_cuda_rig *made) {
    for (int l = 0; l < rig->counts.layers; l++) {
        const exi_layer_record *layer = &exi_rig_layers(rig)[l];
        const uint32_t bit = 1U << (l % 32);
        if (layer->flags & EXI_LAYER_MUTED)
            made->muted[l / 32] |= bit;
        if (layer->domain == EX_DOMAIN_DISPLACEMENT)
            made->displaces[l / 32] |= bit;
    }
}

/* block: as laid out on the host. */
static void note_weighers(const ex_rig *rig, const char *block, ex_cuda_rig *made) {
    const exi_gpu_layer *layers = (const void *)(block + ((const char *)made->head.layers - made->head.block));
    for (int l = 0; l < rig->counts.layers; l++)
        made->weighers[l] = (exi_cuda_weigher){.head = *ex_rig_weigher(rig, l), .at = layers[l].weigher};
}

/* CUDA returns from a copy before the last of it has arrived, and streams that do not wait for the default stream could
 * read too early. */
static ex_result upload(const ex_cuda_rig *made, const void *block, ex_error *error) {
    cudaError_t said = cudaMemcpy(made->memory, block, made->size, cudaMemcpyHostToDevice);
    if (said == cudaSuccess)
        said = cudaStreamSynchronize(NULL);
    return exi_cuda_result((int)said, "uploading the rig", error);
}

ex_result ex_cuda_rig_create(const ex_rig *rig, const ex_allocator *allocator, ex_cuda_rig **made, ex_error *error) {
    if (!rig || !made)
        return exi_misuse_error(error, __func__, "no rig, or no pointer for the uploaded one");
    *made = NULL;
    const size_t bytes = sizeof(ex_cuda_rig) + (size_t)rig->counts.layers * sizeof(exi_cuda_weigher);
    ex_cuda_rig *own = exi_block_create(allocator, bytes);
    if (!own)
        return ex_error_memory(error, "an uploaded rig", bytes);
    void *block = NULL;
    size_t size = 0;
    ex_result result = exi_gpu_lay(rig, place, own, allocator, &block, &size, &own->head, &own->levels, error);
    if (result == EX_OK) { /* it refuses more layers than there is room for */
        note_layers(rig, own);
        note_weighers(rig, block, own);
        result = upload(own, block, error);
    }
    if (block)
        exi_release(allocator, block, size);
    if (result == EX_OK)
        *made = own;
    else
        ex_cuda_rig_destroy(own);
    return result;
}

void ex_cuda_rig_destroy(ex_cuda_rig *rig) {
    if (!rig)
        return;
    ex_cuda_release(rig->memory);
    exi_block_destroy(rig);
}

size_t ex_cuda_rig_size(const ex_cuda_rig *rig) {
    return rig->size;
}

/* ---- edits ---- */

static bool is_alike(const ex_weigher *a, const ex_weigher *b) {
    return a->example_count == b->example_count && a->dimension == b->dimension && a->axis_count == b->axis_count &&
           a->scalar_count == b->scalar_count && a->set_count == b->set_count &&
           a->set_weight_count == b->set_weight_count && a->set_square_count == b->set_square_count;
}

static ex_result check_weigher(const ex_weigher *own, int layer, const ex_weigher *weigher, ex_error *error) {
    const ex_weigher_kind kind = ex_weigher_get_kind(weigher);
    if (!ex_weigher_kind_info(kind)->has_gpu_code)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "the weigher for layer %d is of kind '%s', which has no GPU code",
                            layer, ex_weigher_kind_name(kind));
    if (!is_alike(weigher, own))
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "the weigher has another number of examples, axes or sets than layer %d", layer);
    const size_t room = exi_gpu_weigher_room(own);
    if (weigher->pseudo_count > own->pseudo_count + EXI_GPU_MORE_POINTS)
        return ex_error_set(
            error, EX_ERROR_ARGUMENT,
            "the weigher has %d pseudo-examples, but layer %d was uploaded with room for %d: upload the rig again",
            weigher->pseudo_count, layer, own->pseudo_count + EXI_GPU_MORE_POINTS);
    if ((size_t)weigher->size > room)
        return ex_error_set(
            error, EX_ERROR_ARGUMENT,
            "the weigher takes %zu bytes, but layer %d was uploaded with room for %zu: upload the rig again",
            (size_t)weigher->size, layer, room);
    return EX_OK;
}

/* A graph would copy from the weigher each time it is launched, when the weigher may no longer exist. */
static ex_result check_stream(ex_cuda_stream stream, ex_error *error) {
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    const ex_result result = exi_cuda_result((int)cudaStreamIsCapturing(stream, &status), "replacing a weigher", error);
    if (result == EX_OK && status != cudaStreamCaptureStatusNone)
        return ex_error_set(
            error, EX_ERROR_ARGUMENT,
            "a weigher cannot be replaced in a stream that is being captured: replace it before or after");
    return result;
}

/* CUDA copies memory that is not page-locked before it returns; page-locked memory may still be read afterwards. */
static cudaError_t copy_weigher(void *to, const ex_weigher *weigher, ex_cuda_stream stream) {
    struct cudaPointerAttributes from;
    cudaError_t said = cudaMemcpyAsync(to, weigher, (size_t)weigher->size, cudaMemcpyHostToDevice, stream);
    if (said == cudaSuccess)
        said = cudaPointerGetAttributes(&from, weigher);
    if (said == cudaSuccess && from.type != cudaMemoryTypeUnregistered)
        said = cudaStreamSynchronize(stream);
    return said;
}

ex_result ex_cuda_set_weigher(ex_cuda_rig *rig, int layer, const ex_weigher *weigher, ex_cuda_stream stream,
                              ex_error *error) {
    if (!rig || !weigher || layer < 0 || layer >= rig->head.layer_count)
        return exi_misuse_error(error, __func__, "no rig or weigher, or no such layer");
    ex_result result = check_weigher(&rig->weighers[layer].head, layer, weigher, error);
    if (result == EX_OK)
        result = exi_cuda_check_device(rig, error);
    if (result == EX_OK)
        result = check_stream(stream, error);
    if (result != EX_OK)
        return result;
    if (rig->head.lacks & exi_gpu_weigher_has(weigher)) /* from now on, kernels include this feature */
        rig->head.lacks &= ~exi_gpu_weigher_has(weigher);
    return exi_cuda_result((int)copy_weigher((char *)rig->memory + rig->weighers[layer].at, weigher, stream),
                           "replacing a weigher", error);
}
