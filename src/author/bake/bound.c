/*
 * Weights from 0 to 1. glTF lets a weight be any number, but programs show it as a slider, and some hold it to the
 * slider's ends: Blender 3.4 widens them for a weight's first key alone. Weights that interpolate examples go below 0
 * and above 1 between them.
 *
 * A target of the rig's own is made larger by its largest weight where that is above 1, and where weights go below 0 a
 * second one moves the other way:
 *
 *     w d = max(w, 0)/a (a d) + max(-w, 0)/b (-b d),     a, b the largest of w and of -w over the frames, at least 1
 *
 * Between two keys both run straight, and so does what they add up to. Targets of a decomposition mean nothing by
 * themselves, and their number was asked for: the mesh itself takes what every frame has of them,
 *
 *     rest + w d = (rest + l d) + (w - l)/(h - l) ((h - l) d),     l, h the least and the largest of w and 0
 *
 * and the file says that its weights at rest are -l/(h - l).
 */
#include "author/bake/bake.h"

#include "author/formats/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ex_result no_memory(const exi_bake *bake) {
    return exi_error_memory(bake->error, "morph targets", (size_t)bake->vertex_count * 16);
}

/* The largest weight of a target over the frames, with sign -1 the largest of their negatives; at least `most`. */
static float largest(const exi_bake *bake, size_t k, float sign, float most) {
    for (size_t f = 0; f < (size_t)bake->frame_count; f++) {
        const float weight = sign * bake->weights[f * (size_t)bake->target_count + k];
        most = weight > most ? weight : most;
    }
    return most;
}

static void enlarge(exi_bake_target *target, float factor) {
    for (size_t i = 0; factor != 1 && i < 3 * (size_t)target->count; i++)
        target->deltas[i] *= factor;
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
    enlarge(made, factor);
    return EX_OK;
}

/* The least weight goes into the mesh; the others run from 0 to 1. */
static void shift(exi_bake *bake, size_t k) {
    exi_bake_target *target = &bake->targets[k];
    const size_t width = (size_t)bake->target_count;
    const float low = -largest(bake, k, -1, 0), range = largest(bake, k, 1, 0) - low;
    if (!(low < 0))
        return;
    for (size_t i = 0; i < (size_t)target->count; i++)
        for (size_t c = 0; c < 3; c++)
            bake->rest[3 * (size_t)target->vertices[i] + c] += low * target->deltas[3 * i + c];
    for (size_t f = 0; f < (size_t)bake->frame_count; f++) {
        float *weight = &bake->weights[f * width + k];
        *weight = *weight > low ? (*weight - low) / range : 0;
    }
    bake->rest_weights[k] = -low / range;
    enlarge(target, range);
}

/* Weights of target k, once it is `factor` times itself, in column `to`; those of the other sign become 0. */
static void spread(const exi_bake *bake, size_t k, float factor, float *weights, size_t total, size_t to) {
    for (size_t f = 0; f < (size_t)bake->frame_count; f++) {
        const float weight = bake->weights[f * (size_t)bake->target_count + k] / factor;
        weights[f * total + to] = weight > 0 ? weight : 0;
    }
}

ex_result exi_bake_bound_weights(exi_bake *bake) {
    const size_t own = (size_t)bake->own_count, before = (size_t)bake->target_count;
    size_t total = before;
    for (size_t k = 0; k < own; k++)
        total += largest(bake, k, 1, 0) > 0 && largest(bake, k, -1, 0) > 0;
    float *weights = exi_array_allocate((size_t)bake->frame_count * total, sizeof *weights);
    bake->rest_weights = calloc(total + 1, sizeof *bake->rest_weights);
    if (!weights || !bake->rest_weights) {
        free(weights);
        return no_memory(bake);
    }
    for (size_t k = own; k < before; k++)
        shift(bake, k);
    ex_result result = EX_OK;
    size_t next = before;
    const exi_bake first = *bake; /* adding targets widens the rows; these weights have the width that they had */
    for (size_t k = 0; result == EX_OK && k < before; k++) {
        const float above = largest(&first, k, 1, 0), below = largest(&first, k, -1, 0);
        const float up = above > 1 ? above : 1, down = below > 1 ? -below : -1;
        if (above > 0 && below > 0) {
            result = add_multiple(bake, k, down);
            spread(&first, k, down, weights, total, next++);
        }
        const float factor = below > 0 && !(above > 0) ? down : up;
        spread(&first, k, factor, weights, total, k);
        enlarge(&bake->targets[k], factor);
    }
    free(bake->weights);
    bake->weights = weights;
    return result;
}
