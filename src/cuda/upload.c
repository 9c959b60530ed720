/*
 * Uploading a rig: laid out by the host (lay.c) for the address that its block has on the device, then one copy. Edited
 * weighers are copied over those that stand in the block.
 */
#include "cuda/device.h"

#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/rig/rig.h"

#include <cuda_runtime_api.h>

#include <string.h>

/* ---- creation ---- */

/* exi_lay_place: the block's home on the device. */
static ex_result place(void *user, size_t size, uintptr_t *base, ex_error *error) {
    ex_cuda_rig *made = user;
    ex_result result = ex_cuda_allocate(size, &made->memory, error);
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

/* block: as it was laid out on the host. */
static ex_result note_weighers(const ex_rig *rig, const char *block, ex_cuda_rig *made, ex_error *error) {
    const size_t count = (size_t)rig->counts.layers, size = count * sizeof *made->weighers;
    const exi_gpu_layer *layers = (const void *)(block + ((const char *)made->head.layers - made->head.block));
    if (count == 0)
        return EX_OK;
    made->weighers = exi_allocate(made->allocator, size);
    if (!made->weighers)
        return exi_error_memory(error, "the rig's weighers", size);
    for (size_t l = 0; l < count; l++)
        made->weighers[l] = (exi_cuda_weigher){.head = *ex_rig_weigher(rig, (int)l), .at = layers[l].weigher};
    return EX_OK;
}

ex_result ex_cuda_rig_create(const ex_rig *rig, const ex_allocator *allocator, ex_cuda_rig **made, ex_error *error) {
    if (!rig || !made)
        return exi_misuse_error(error, __func__, "no rig, or nowhere to put the uploaded one");
    *made = NULL;
    ex_cuda_rig *own = exi_allocate(allocator, sizeof *own);
    if (!own)
        return exi_error_memory(error, "an uploaded rig", sizeof *own);
    *own = (ex_cuda_rig){.allocator = allocator};
    void *block = NULL;
    size_t size = 0;
    note_layers(rig, own);
    ex_result result = exi_gpu_lay(rig, place, own, allocator, &block, &size, &own->head, &own->levels, error);
    if (result == EX_OK)
        result = note_weighers(rig, block, own, error);
    if (result == EX_OK)
        result =
            exi_cuda_result(cudaMemcpy(own->memory, block, size, cudaMemcpyHostToDevice), "uploading the rig", error);
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
    if (rig->weighers)
        exi_release(rig->allocator, rig->weighers, (size_t)rig->head.layer_count * sizeof *rig->weighers);
    exi_release(rig->allocator, rig, sizeof *rig);
}

size_t ex_cuda_rig_size(const ex_cuda_rig *rig) {
    return rig->size;
}

/* ---- edits ---- */

ex_result ex_cuda_set_weigher(ex_cuda_rig *rig, int layer, const ex_weigher *weigher, ex_cuda_stream stream,
                              ex_error *error) {
    if (!rig || !weigher || layer < 0 || layer >= rig->head.layer_count)
        return exi_misuse_error(error, __func__, "no rig or weigher, or no such layer");
    const ex_weigher *own = &rig->weighers[layer].head;
    if (weigher->example_count != own->example_count || weigher->dimension != own->dimension ||
        weigher->set_weight_count != own->set_weight_count || weigher->set_count != own->set_count ||
        weigher->set_square_count != own->set_square_count)
        return exi_error(error, EX_ERROR_ARGUMENT,
                         "the weigher has another number of examples, axes or sets than layer %d", layer);
    ex_weigher largest = *own;
    largest.pseudo_count += EXI_GPU_MORE_POINTS;
    const size_t room = exi_weigher_layout(&largest) ? (size_t)largest.size : (size_t)own->size;
    if (weigher->pseudo_count > own->pseudo_count + EXI_GPU_MORE_POINTS || (size_t)weigher->size > room)
        return exi_error(error, EX_ERROR_ARGUMENT,
                         "the weigher has %d pseudo-examples, and layer %d was uploaded with room for %d: upload the "
                         "rig again",
                         weigher->pseudo_count, layer, own->pseudo_count + EXI_GPU_MORE_POINTS);
    if (rig->head.lacks & exi_gpu_weigher_has(weigher)) /* from now on kernels are those that have it too */
        rig->head.lacks &= ~exi_gpu_weigher_has(weigher);
    return exi_cuda_result(cudaMemcpyAsync((char *)rig->memory + rig->weighers[layer].at, weigher,
                                           (size_t)weigher->size, cudaMemcpyHostToDevice, stream),
                           "replacing a weigher", error);
}
