/*
 * Weights from 0 to 1. glTF lets a weight be any number, but programs show it as a slider, and some hold it to the
 * slider's ends: Blender 3.4 widens them for a weight's first key alone. Weights that interpolate examples go below 0
 * and above 1 between them. So a target is made larger by its largest weight where that is above 1, and where weights
 * go below 0 a second one moves the other way:
 *
 *     w d = max(w, 0)/a (a d) + max(-w, 0)/b (-b d),     a, b the largest of w and of -w over the frames, at least 1
 *
 * Between two keys both run straight, and so does what they add up to: nothing else changes.
 */
#include "author/bake/bake.h"

#include "author/formats/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ex_result no_memory(const exi_bake *bake) {
    return exi_error_memory(bake->error, "morph targets", (size_t)bake->vertex_count * 16);
}

/* The largest weight of a target over the frames, with sign -1 the largest of those below 0; 0 where there is none. */
static float largest(const exi_bake *bake, size_t k, float sign) {
    float most = 0;
    for (size_t f = 0; f < (size_t)bake->frame_count; f++) {
        const float weight = sign * bake->weights[f * (size_t)bake->target_count + k];
        most = weight > most ? weight : most;
    }
    return most;
}

/* Adds what moves as target k does, `factor` times as far. */
static ex_result add_multiple(exi_bake *bake, size_t k, float factor) {
    const size_t size = strlen(bake->targets[k].name) + 16;
    char *name = malloc(size);
    if (!name)
        return no_memory(bake);
    snprintf(name, size, "%s (less)", bake->targets[k].name);
    exi_bake_target *made = exi_bake_add_target(bake, name);
    free(name);
    if (!made)
        return EX_ERROR_MEMORY;
    const exi_bake_target *from = &bake->targets[k]; /* adding may have moved it */
    made->vertices = exi_array_copy(from->vertices, (size_t)from->count, sizeof *made->vertices);
    made->deltas = exi_array_copy(from->deltas, (size_t)from->count, 3 * sizeof *made->deltas);
    if (!made->vertices || !made->deltas)
        return no_memory(bake);
    made->count = from->count;
    for (size_t i = 0; i < 3 * (size_t)made->count; i++)
        made->deltas[i] *= factor;
    return EX_OK;
}

/* Weights of target k, once it is `factor` times itself, in column `to`; those of the other sign become 0. */
static void spread(const exi_bake *bake, size_t k, float factor, float *weights, size_t total, size_t to) {
    for (size_t f = 0; f < (size_t)bake->frame_count; f++) {
        const float weight = bake->weights[f * (size_t)bake->target_count + k] / factor;
        weights[f * total + to] = weight > 0 ? weight : 0;
    }
}

ex_result exi_bake_bound_weights(exi_bake *bake) {
    const size_t before = (size_t)bake->target_count;
    size_t total = before;
    for (size_t k = 0; k < before; k++)
        total += largest(bake, k, 1) > 0 && largest(bake, k, -1) > 0;
    float *weights = exi_array_allocate((size_t)bake->frame_count * total, sizeof *weights);
    if (!weights)
        return no_memory(bake);
    /* The weights keep their first width until all targets have been looked at. */
    ex_result result = EX_OK;
    size_t next = before;
    const exi_bake first = *bake;
    for (size_t k = 0; result == EX_OK && k < before; k++) {
        const float above = largest(&first, k, 1), below = largest(&first, k, -1);
        const float up = above > 1 ? above : 1, down = below > 1 ? -below : -1;
        if (above > 0 && below > 0) {
            result = add_multiple(bake, k, down);
            spread(&first, k, down, weights, total, next++);
        }
        const float factor = below > 0 && !(above > 0) ? down : up;
        spread(&first, k, factor, weights, total, k);
        for (size_t i = 0; factor != 1 && i < 3 * (size_t)bake->targets[k].count; i++)
            bake->targets[k].deltas[i] *= factor;
    }
    free(bake->weights);
    bake->weights = weights;
    return result;
}
