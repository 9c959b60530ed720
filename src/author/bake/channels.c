/*
 * Channels of a baked animation: values at every frame, the keys kept of them, and values interpolated between keys as
 * viewers do it: linearly, rotations along the shorter arc at constant speed.
 *
 * Keys are chosen by the algorithm of Douglas and Peucker: keep both ends; then, between two neighbouring keys, keep
 * the frame with the largest error, until no error exceeds the channel's limit.
 */
#include "author/bake/bake.h"

#include "author/base/array.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- values ---- */

static void slerp(const float *a, const float *b, double t, float *out) {
    double dot = 0, value[4], length = 0;
    for (int c = 0; c < 4; c++)
        dot += (double)a[c] * (double)b[c];
    const double sign = dot < 0 ? -1 : 1, cosine = fabs(dot) < 1 ? fabs(dot) : 1;
    const double angle = acos(cosine), sine = sin(angle);
    double from = 1 - t, to = t;
    if (sine > 1e-6) {
        from = sin((1 - t) * angle) / sine;
        to = sin(t * angle) / sine;
    }
    for (int c = 0; c < 4; c++) {
        value[c] = from * (double)a[c] + sign * to * (double)b[c];
        length += value[c] * value[c];
    }
    for (int c = 0; c < 4; c++)
        out[c] = (float)(value[c] / sqrt(length));
}

static const float *value_at(const exi_bake_channel *channel, int frame) {
    return channel->values + (size_t)frame * (size_t)channel->width;
}

static void between(const exi_bake *bake, const exi_bake_channel *channel, int a, int b, int frame, float *value) {
    const double t0 = (double)bake->times[a], t1 = (double)bake->times[b];
    const double t = b > a ? ((double)bake->times[frame] - t0) / (t1 - t0) : 0;
    const float *from = value_at(channel, a), *to = value_at(channel, b);
    if (channel->path == EX_SCENE_ROTATION) {
        slerp(from, to, t, value);
        return;
    }
    for (int c = 0; c < channel->width; c++)
        value[c] = (float)((1 - t) * (double)from[c] + t * (double)to[c]);
}

void exi_bake_channel_at(const exi_bake *bake, const exi_bake_channel *channel, int frame, float *value) {
    const size_t bytes = (size_t)channel->width * sizeof *value;
    if (channel->key_count == 0) {
        memcpy(value, channel->usual, bytes);
        return;
    }
    int low = 0, high = channel->key_count - 1; /* the last key at or before the frame */
    while (low < high) {
        const int middle = (low + high + 1) / 2;
        if (channel->keys[middle] <= frame)
            low = middle;
        else
            high = middle - 1;
    }
    const int key = channel->keys[low];
    if (key == frame || low + 1 >= channel->key_count || key > frame)
        memcpy(value, value_at(channel, key), bytes);
    else
        between(bake, channel, key, channel->keys[low + 1], frame, value);
}

/* Approximate distance between two values, in metres at the farthest vertex. */
static double distance(const exi_bake_channel *channel, const float *a, const float *b, const double *extents) {
    double sum = 0, mirrored = 0;
    for (int c = 0; c < channel->width; c++) {
        const double d = (double)a[c] - (double)b[c], m = (double)a[c] + (double)b[c];
        sum += channel->path == EX_SCENE_WEIGHTS ? fabs(d) * extents[c] : d * d;
        mirrored += m * m;
    }
    if (channel->path == EX_SCENE_WEIGHTS)
        return sum;
    if (channel->path == EX_SCENE_ROTATION) {
        const double chord = sqrt(sum < mirrored ? sum : mirrored);
        return channel->reach * 4 * asin(chord < 2 ? chord / 2 : 1);
    }
    return channel->reach * sqrt(sum);
}

/* ---- keys ---- */

/* True if one constant value is near enough to all; with no room at all, if it equals all bit for bit. */
static bool holds(const exi_bake *bake, const exi_bake_channel *channel, const float *value, double room,
                  const double *extents) {
    for (int f = 0; f < bake->frame_count; f++) {
        const float *own = value_at(channel, f);
        if (room > 0 ? !(distance(channel, own, value, extents) <= room)
                     : memcmp(own, value, (size_t)channel->width * sizeof *value) != 0)
            return false;
    }
    return true;
}

/* Returns the frame between two keys with the largest error, or -1 if all are near enough. value [width]. */
static int find_farthest(const exi_bake *bake, const exi_bake_channel *channel, int a, int b, double room,
                         const double *extents, float *value) {
    int worst = -1;
    for (int f = a + 1; f < b; f++) {
        between(bake, channel, a, b, f, value);
        const double off = distance(channel, value_at(channel, f), value, extents);
        if (off > room) {
            room = off;
            worst = f;
        }
    }
    return worst;
}

void exi_bake_choose_keys(const exi_bake *bake, exi_bake_channel *channel, double room, const double *extents,
                          float *value) {
    const int last = bake->frame_count - 1;
    channel->key_count = 0;
    if (!channel->values || holds(bake, channel, channel->usual, room, extents))
        return;
    channel->keys[channel->key_count++] = 0;
    if (holds(bake, channel, channel->values, room, extents))
        return;
    /* Keys after the last settled one are stacked at the array's end, the nearest first. */
    int waiting = bake->frame_count;
    channel->keys[--waiting] = last;
    while (waiting < bake->frame_count) {
        const int a = channel->keys[channel->key_count - 1], b = channel->keys[waiting];
        const int worst = room > 0 ? find_farthest(bake, channel, a, b, room, extents, value) : b > a + 1 ? a + 1 : -1;
        if (worst >= 0) {
            channel->keys[--waiting] = worst;
        } else {
            channel->keys[channel->key_count++] = b;
            waiting++;
        }
    }
}

/* ---- making channels ---- */

static const float *part_of(const ex_transform *transform, ex_scene_path path) {
    return path == EX_SCENE_TRANSLATION ? transform->translation
           : path == EX_SCENE_ROTATION  ? transform->rotation
                                        : transform->scale;
}

static bool open_channel(const exi_bake *bake, exi_bake_channel *channel) {
    const size_t frames = (size_t)bake->frame_count, width = (size_t)channel->width;
    channel->values = exi_array_allocate(frames * width, sizeof *channel->values);
    channel->usual = calloc(width + 1, sizeof *channel->usual);
    channel->keys = exi_array_allocate(frames, sizeof *channel->keys);
    return channel->values && channel->usual && channel->keys;
}

static void fill_weights(const exi_bake *bake, exi_bake_channel *channel) {
    const size_t width = (size_t)channel->width;
    if (bake->rest_weights)
        memcpy(channel->usual, bake->rest_weights, width * sizeof *channel->usual);
    memcpy(channel->values, bake->weights, (size_t)bake->frame_count * width * sizeof *channel->values);
}

static void fill_joint(const exi_bake *bake, exi_bake_channel *channel) {
    const ex_transform rest = ex_skeleton_rest(ex_rig_skeleton(bake->rig), channel->joint);
    const size_t bytes = (size_t)channel->width * sizeof(float);
    memcpy(channel->usual, part_of(&rest, channel->path), bytes);
    for (int f = 0; f < bake->frame_count; f++) {
        const ex_transform *local = &bake->locals[(size_t)f * (size_t)bake->joint_count + (size_t)channel->joint];
        memcpy(channel->values + (size_t)f * (size_t)channel->width, part_of(local, channel->path), bytes);
    }
}

/* Most joints of a long motion only turn. */
static void drop_values(exi_bake_channel *channel) {
    free(channel->values);
    free(channel->keys);
    channel->values = NULL;
    channel->keys = NULL;
}

ex_result exi_bake_make_channels(exi_bake *bake) {
    static const ex_scene_path paths[] = {EX_SCENE_TRANSLATION, EX_SCENE_ROTATION, EX_SCENE_SCALE};
    const int joints = bake->skin ? bake->joint_count : 0;
    const int count = 3 * joints + (bake->target_count > 0 ? 1 : 0);
    bake->channels = calloc((size_t)count + 1, sizeof *bake->channels);
    bool good = bake->channels != NULL;
    for (int i = 0; good && i < count; i++) {
        exi_bake_channel *channel = &bake->channels[bake->channel_count++];
        *channel = i < 3 * joints
                       ? (exi_bake_channel){.joint = i / 3, .path = paths[i % 3], .width = i % 3 == 1 ? 4 : 3}
                       : (exi_bake_channel){.joint = -1, .path = EX_SCENE_WEIGHTS, .width = bake->target_count};
        good = open_channel(bake, channel);
        if (good && channel->joint >= 0)
            fill_joint(bake, channel);
        else if (good)
            fill_weights(bake, channel);
        if (good)
            exi_bake_choose_keys(bake, channel, 0, NULL, NULL);
        if (good && channel->key_count == 0)
            drop_values(channel);
    }
    return good ? EX_OK : ex_error_memory(bake->error, "the animation", (size_t)bake->frame_count * (size_t)count * 16);
}

void exi_bake_play(const exi_bake *bake, float *weights, ex_transform *locals) {
    for (int i = 0; i < bake->channel_count; i++) {
        const exi_bake_channel *channel = &bake->channels[i];
        for (int f = 0; f < bake->frame_count; f++) {
            if (channel->joint < 0) {
                exi_bake_channel_at(bake, channel, f, weights + (size_t)f * (size_t)channel->width);
                continue;
            }
            ex_transform *local = &locals[(size_t)f * (size_t)bake->joint_count + (size_t)channel->joint];
            exi_bake_channel_at(bake, channel, f,
                                channel->path == EX_SCENE_TRANSLATION ? local->translation
                                : channel->path == EX_SCENE_ROTATION  ? local->rotation
                                                                      : local->scale);
        }
    }
}
