/*
 * Brings weights into the range from 0 to 1. glTF lets a weight be any number, but programs show it as a slider, and
 * some clamp it to the slider's ends: Blender 3.4 widens them only for a weight's first key. Weights that interpolate
 * examples go below 0 and above 1 between them. So the rest mesh absorbs the part of a target that every frame has in
 * common,
 *
 *     rest + w d = (rest + l d) + (w - l)/(h - l) ((h - l) d),     l the least of w and 0, h the largest of w and 1
 *
 * This costs no target, and the file's weights at rest become -l/(h - l). Between two keys both sides are linear, so
 * nothing else changes.
 */
#include "author/bake/bake.h"

#include <stdlib.h>

static void bound(exi_bake *bake, size_t k) {
    const size_t width = (size_t)bake->target_count, frames = (size_t)bake->frame_count;
    exi_bake_target *target = &bake->targets[k];
    float low = 0, high = 1;
    for (size_t f = 0; f < frames; f++) {
        const float weight = bake->weights[f * width + k];
        low = weight < low ? weight : low;
        high = weight > high ? weight : high;
    }
    const float range = high - low;
    if (range == 1)
        return;
    bake->rest_weights[k] = -low / range;
    for (size_t f = 0; f < frames; f++)
        bake->weights[f * width + k] = (bake->weights[f * width + k] - low) / range;
    for (size_t i = 0; i < 3 * (size_t)target->count; i++) {
        bake->rest[3 * (size_t)target->vertices[i / 3] + i % 3] += low * target->deltas[i];
        target->deltas[i] *= range;
    }
}

ex_result exi_bake_bound_weights(exi_bake *bake) {
    const size_t count = (size_t)bake->target_count;
    bake->rest_weights = calloc(count + 1, sizeof *bake->rest_weights);
    if (!bake->rest_weights)
        return ex_error_memory(bake->error, "the weights", (count + 1) * sizeof *bake->rest_weights);
    for (size_t k = 0; k < count; k++)
        bound(bake, k);
    return EX_OK;
}
