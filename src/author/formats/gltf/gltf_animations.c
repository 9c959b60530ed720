/*
 * Reads animations: each channel with the keys of its sampler (glTF 2.0, section 3.11).
 */
#include "author/formats/gltf/gltf_reader.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the index of a word in a list, or -1. */
static int find_word(const json_t *value, const char *const *words, int count) {
    for (int i = 0; i < count && json_is_string(value); i++)
        if (strcmp(json_string_value(value), words[i]) == 0)
            return i;
    return -1;
}

/* Reads node and path; *used is false if the channel moves nothing that is kept. */
static ex_result read_target(exi_gltf *g, const json_t *json, ex_scene_channel *channel, const char *where,
                             bool *used) {
    static const char *const paths[] = {"translation", "rotation", "scale", "weights"};
    json_t *target;
    *used = false;
    ex_result result = exi_gltf_get_object(g, json, "target", where, &target);
    channel->node = -1;
    if (result == EX_OK)
        result = exi_gltf_get_reference(g, target, "node", g->scene->node_count, "node", where, &channel->node);
    if (result != EX_OK)
        return result;
    int path = find_word(json_object_get(target, "path"), paths, 4);
    if (path < 0 && !json_is_string(json_object_get(target, "path")))
        return exi_gltf_fail(g, EX_ERROR_DATA, where, "target.path is missing");
    const char *why = channel->node < 0 ? "names no node" : path < 0 ? "has an unknown path" : NULL;
    if (!why) {
        channel->path = (ex_scene_path)path;
        channel->width = exi_scene_path_width(g->scene, channel->node, channel->path);
        if (channel->width == 0)
            why = "moves weights of a node that has no morph targets";
    }
    if (why)
        return exi_scene_note(g->scene, "%s: %s, and is ignored", where, why) ? EX_OK : exi_gltf_no_memory(g);
    *used = true;
    return EX_OK;
}

static ex_result read_interpolation(exi_gltf *g, const json_t *sampler, ex_scene_channel *channel, const char *where) {
    static const char *const words[] = {"STEP", "LINEAR", "CUBICSPLINE"};
    const json_t *value = json_object_get(sampler, "interpolation");
    int found = value ? find_word(value, words, 3) : EX_SCENE_LINEAR;
    if (found < 0)
        return exi_gltf_fail(g, EX_ERROR_DATA, where, "interpolation is not STEP, LINEAR or CUBICSPLINE");
    channel->interpolation = (ex_scene_interpolation)found;
    return EX_OK;
}

/* Scales rotations to length 1; leaves them unchanged if they nearly have it. */
static ex_result check_rotations(const exi_gltf *g, ex_scene_channel *channel, const char *where) {
    size_t step = channel->interpolation == EX_SCENE_CUBICSPLINE ? 12 : 4, start = step == 12 ? 4 : 0;
    for (size_t k = 0; k < (size_t)channel->key_count; k++) {
        float *q = channel->values + k * step + start;
        double length_sq = 0;
        for (int i = 0; i < 4; i++)
            length_sq += (double)q[i] * (double)q[i];
        if (!(length_sq > 0))
            return exi_gltf_fail(g, EX_ERROR_DATA, where, "key %zu (counting from 0) is a zero quaternion", k);
        if (fabs(length_sq - 1) > 1e-3)
            for (int i = 0; i < 4; i++)
                q[i] = (float)((double)q[i] / sqrt(length_sq));
    }
    return EX_OK;
}

/* Morph weights are stored as one number per element, the others as vectors. */
static ex_result read_values(exi_gltf *g, int output, ex_scene_channel *channel, const char *where) {
    size_t rows = (size_t)channel->key_count * (channel->interpolation == EX_SCENE_CUBICSPLINE ? 3 : 1);
    bool scalars = channel->path == EX_SCENE_WEIGHTS;
    size_t expected = rows * (scalars ? (size_t)channel->width : 1);
    int count = 0;
    ex_result result = exi_gltf_floats(g, output, scalars ? 1 : channel->width, -1, where, &channel->values, &count);
    if (result == EX_OK && (size_t)count != expected)
        return exi_gltf_fail(g, EX_ERROR_DATA, where, "accessor %d has %d element%s, but %zu are needed for %d key%s",
                             output, count, count == 1 ? "" : "s", expected, channel->key_count,
                             channel->key_count == 1 ? "" : "s");
    return result == EX_OK && channel->path == EX_SCENE_ROTATION ? check_rotations(g, channel, where) : result;
}

static ex_result read_channel(exi_gltf *g, const json_t *json, json_t *samplers, int sampler_count,
                              ex_scene_channel *channel, const char *where, bool *used) {
    int sampler = -1, input = -1, output = -1;
    ex_result result = read_target(g, json, channel, where, used);
    if (result != EX_OK || !*used)
        return result;
    result = exi_gltf_get_reference(g, json, "sampler", sampler_count, "sampler", where, &sampler);
    const json_t *chosen = sampler >= 0 ? json_array_get(samplers, (size_t)sampler) : NULL;
    if (result == EX_OK)
        result = exi_gltf_get_reference(g, chosen, "input", g->accessor_count, "accessor", where, &input);
    if (result == EX_OK)
        result = exi_gltf_get_reference(g, chosen, "output", g->accessor_count, "accessor", where, &output);
    if (result == EX_OK && (input < 0 || output < 0))
        result = exi_gltf_fail(g, EX_ERROR_DATA, where, "its sampler, or the sampler's input or output, is missing");
    if (result == EX_OK)
        result = read_interpolation(g, chosen, channel, where);
    if (result == EX_OK)
        result = exi_gltf_floats(g, input, 1, -1, where, &channel->times, &channel->key_count);
    return result == EX_OK ? read_values(g, output, channel, where) : result;
}

/* Moves keys at the time of the key before them, which is how programs write a jump, to the next number. Returns how
 * many there are. */
static int part_keys(ex_scene_channel *channel) {
    int count = 0;
    float before = 0;
    for (int k = 0; k < channel->key_count; k++) {
        const float time = channel->times[k];
        if (k > 0 && time == before) {
            channel->times[k] = nextafterf(channel->times[k - 1], INFINITY);
            count++;
        }
        before = time;
    }
    return count;
}

static ex_result read_animation(exi_gltf *g, const json_t *json, ex_scene_animation *animation, int number) {
    char where[EXI_WHERE_SIZE];
    json_t *samplers, *channels;
    int sampler_count, count, parted = 0;
    void *memory;
    snprintf(where, sizeof where, "animations[%d]", number);
    ex_result result = exi_gltf_get_text(g, json, "name", where, &animation->name);
    if (result == EX_OK)
        result = exi_gltf_get_array(g, json, "samplers", true, where, &samplers, &sampler_count);
    if (result == EX_OK)
        result = exi_gltf_get_array(g, json, "channels", true, where, &channels, &count);
    if (result != EX_OK)
        return result;
    result = exi_gltf_allocate(g, count, sizeof *animation->channels, &memory);
    animation->channels = memory;
    for (int c = 0; c < count && result == EX_OK; c++) {
        bool used = false;
        ex_scene_channel *channel = &animation->channels[animation->channel_count];
        *channel = (ex_scene_channel){0};
        snprintf(where, sizeof where, "animations[%d].channels[%d]", number, c);
        animation->channel_count++;
        result = read_channel(g, json_array_get(channels, (size_t)c), samplers, sampler_count, channel, where, &used);
        if (!used)
            animation->channel_count--;
        else if (result == EX_OK)
            parted += part_keys(channel);
    }
    if (result == EX_OK && parted > 0 &&
        !exi_scene_note(g->scene, "animations[%d]: %d key%s at the time of the key before, and come%s right after it",
                        number, parted, parted == 1 ? " is" : "s are", parted == 1 ? "s" : ""))
        return exi_gltf_no_memory(g);
    return result;
}

ex_result exi_gltf_read_animations(exi_gltf *g) {
    json_t *animations;
    int count;
    void *memory;
    ex_result result = exi_gltf_get_array(g, g->root, "animations", true, "", &animations, &count);
    if (result != EX_OK || count == 0)
        return result;
    result = exi_gltf_allocate(g, count, sizeof *g->scene->animations, &memory);
    g->scene->animations = memory;
    for (int i = 0; i < count && result == EX_OK; i++) {
        g->scene->animation_count = i + 1;
        result = read_animation(g, json_array_get(animations, (size_t)i), &g->scene->animations[i], i);
    }
    return result;
}
