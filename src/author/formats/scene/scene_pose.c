/*
 * Evaluates a scene's nodes at a time: keys interpolated as in glTF 2.0, appendix C, world matrices, and skinning
 * (section 3.7.3). All in double.
 *
 *   step      v(t) = v_k                                                    t_k ≤ t < t_(k+1)
 *   linear    v(t) = (1 − u) v_k + u v_(k+1),   u = (t − t_k) / (t_(k+1) − t_k)
 *   rotation  v(t) = sin(α(1 − u))/sin α · v_k + s sin(αu)/sin α · v_(k+1),   cos α = |v_k · v_(k+1)|, s its sign
 *   cubic     v(t) = (2u³ − 3u² + 1) v_k + d(u³ − 2u² + u) b_k + (3u² − 2u³) v_(k+1) + d(u³ − u²) a_(k+1),
 *             d = t_(k+1) − t_k, a and b the tangents in and out
 */
#include "author/formats/scene/scene.h"

#include "author/base/array.h"
#include "runtime/base/vector.h"

#include <stdlib.h>
#include <string.h>

/* ---- keys ---- */

/* Returns the key at or before the time; -1 before the first. */
static int find_key(const ex_scene_channel *channel, double time) {
    int low = -1, high = channel->key_count;
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if ((double)channel->times[middle] <= time)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Returns the numbers of a key: part 0 is the tangent in, 1 the value, 2 the tangent out. */
static const float *key_values(const ex_scene_channel *channel, int key, int part) {
    size_t row = channel->interpolation == EX_SCENE_CUBICSPLINE ? 3 * (size_t)key + (size_t)part : (size_t)key;
    return channel->values + row * (size_t)channel->width;
}

static void take_key(const ex_scene_channel *channel, int key, double *out) {
    const float *values = key_values(channel, key, 1);
    for (int i = 0; i < channel->width; i++)
        out[i] = (double)values[i];
}

static void slerp(const float *from, const float *to, double u, double out[4]) {
    double a[4], b[4], cosine = 0;
    for (int i = 0; i < 4; i++) {
        a[i] = (double)from[i];
        b[i] = (double)to[i];
    }
    if (!exi_normalise(a, 4) || !exi_normalise(b, 4)) {
        memcpy(out, a, sizeof a);
        return;
    }
    for (int i = 0; i < 4; i++)
        cosine += a[i] * b[i];
    double sign = cosine < 0 ? -1 : 1, left = 1 - u, right = u;
    /* The angle from both the sum and the difference: the arc cosine alone is inaccurate if the two nearly agree. */
    double sum_sq = 0, difference_sq = 0;
    for (int i = 0; i < 4; i++) {
        sum_sq += (a[i] + sign * b[i]) * (a[i] + sign * b[i]);
        difference_sq += (a[i] - sign * b[i]) * (a[i] - sign * b[i]);
    }
    double angle = 2 * atan2(sqrt(difference_sq), sqrt(sum_sq));
    if (angle > 1e-8) {
        left = sin(angle * (1 - u)) / sin(angle);
        right = sin(angle * u) / sin(angle);
    }
    for (int i = 0; i < 4; i++)
        out[i] = left * a[i] + right * sign * b[i];
}

static void sample_channel(const ex_scene_channel *channel, double time, double *out) {
    int key = find_key(channel, time);
    if (key < 0 || key == channel->key_count - 1 || channel->interpolation == EX_SCENE_STEP) {
        take_key(channel, key < 0 ? 0 : key, out);
        return;
    }
    double start = (double)channel->times[key], d = (double)channel->times[key + 1] - start, u = (time - start) / d;
    const float *from = key_values(channel, key, 1), *to = key_values(channel, key + 1, 1);
    if (channel->interpolation == EX_SCENE_LINEAR && channel->path == EX_SCENE_ROTATION) {
        slerp(from, to, u, out);
    } else if (channel->interpolation == EX_SCENE_LINEAR) {
        for (int i = 0; i < channel->width; i++)
            out[i] = (1 - u) * (double)from[i] + u * (double)to[i];
    } else {
        const float *leaving = key_values(channel, key, 2), *arriving = key_values(channel, key + 1, 0);
        double u2 = u * u, u3 = u2 * u;
        for (int i = 0; i < channel->width; i++)
            out[i] = (2 * u3 - 3 * u2 + 1) * (double)from[i] + d * (u3 - 2 * u2 + u) * (double)leaving[i] +
                     (3 * u2 - 2 * u3) * (double)to[i] + d * (u3 - u2) * (double)arriving[i];
    }
}

/* ---- nodes ---- */

void ex_scene_sample(const ex_scene *scene, int animation, double time, ex_scene_transform *transforms) {
    if (animation < -1 || animation >= scene->animation_count) {
        exi_misuse("ex_scene_sample", "there is no such animation");
        return;
    }
    for (int n = 0; n < scene->node_count; n++)
        transforms[n] = scene->nodes[n].transform;
    const ex_scene_animation *chosen = animation >= 0 ? &scene->animations[animation] : NULL;
    for (int c = 0; chosen && c < chosen->channel_count; c++) {
        const ex_scene_channel *channel = &chosen->channels[c];
        ex_scene_transform *transform = &transforms[channel->node];
        if (channel->path == EX_SCENE_TRANSLATION)
            sample_channel(channel, time, transform->translation);
        else if (channel->path == EX_SCENE_SCALE)
            sample_channel(channel, time, transform->scale);
        else if (channel->path == EX_SCENE_ROTATION) {
            sample_channel(channel, time, transform->rotation);
            exi_normalise(transform->rotation, 4);
        }
    }
}

void ex_scene_sample_weights(const ex_scene *scene, int animation, double time, int node, double *weights) {
    if (animation < -1 || animation >= scene->animation_count || node < 0 || node >= scene->node_count ||
        scene->nodes[node].mesh < 0) {
        exi_misuse("ex_scene_sample_weights", "there is no such animation, or no such node with a mesh");
        return;
    }
    const ex_scene_mesh *mesh = &scene->meshes[scene->nodes[node].mesh];
    const double *own = scene->nodes[node].weights ? scene->nodes[node].weights : mesh->weights;
    for (int t = 0; t < mesh->target_count; t++)
        weights[t] = own ? own[t] : 0;
    const ex_scene_animation *chosen = animation >= 0 ? &scene->animations[animation] : NULL;
    for (int c = 0; chosen && c < chosen->channel_count; c++)
        if (chosen->channels[c].node == node && chosen->channels[c].path == EX_SCENE_WEIGHTS)
            sample_channel(&chosen->channels[c], time, weights);
}

double ex_scene_duration(const ex_scene *scene, int animation) {
    if (animation < 0 || animation >= scene->animation_count)
        return exi_misuse("ex_scene_duration", "there is no such animation");
    const ex_scene_animation *chosen = &scene->animations[animation];
    double last = 0;
    for (int c = 0; c < chosen->channel_count; c++) {
        double end = (double)chosen->channels[c].times[chosen->channels[c].key_count - 1];
        last = end > last ? end : last;
    }
    return last;
}

ex_result ex_scene_worlds(const ex_scene *scene, const ex_scene_transform *transforms, double *worlds,
                          ex_error *error) {
    size_t count = (size_t)scene->node_count;
    int *order = exi_array_allocate(3 * count + 1, sizeof *order);
    if (!order)
        return ex_error_memory(error, "the nodes", 3 * count * sizeof *order);
    ex_result result = EX_OK;
    if (!exi_scene_order(scene, order, order + count))
        result = ex_error_set(error, EX_ERROR_DATA, "a node is its own ancestor: the parents form a loop");
    for (size_t i = 0; i < count && result == EX_OK; i++) {
        int n = order[i], parent = scene->nodes[n].parent;
        double local[16];
        exi_scene_matrix_from_transform(transforms ? &transforms[n] : &scene->nodes[n].transform, local);
        if (parent >= 0)
            exi_scene_matrix_multiply(worlds + 16 * (size_t)parent, local, worlds + 16 * (size_t)n);
        else
            memcpy(worlds + 16 * (size_t)n, local, sizeof local);
    }
    free(order);
    return result;
}

void ex_scene_skin_matrices(const ex_scene *scene, int skin, const double *worlds, double *matrices) {
    if (skin < 0 || skin >= scene->skin_count) {
        exi_misuse("ex_scene_skin_matrices", "there is no such skin");
        return;
    }
    const ex_scene_skin *chosen = &scene->skins[skin];
    for (size_t j = 0; j < (size_t)chosen->joint_count; j++) {
        const double *world = worlds + 16 * (size_t)chosen->joints[j];
        if (!chosen->inverse_binds) {
            memcpy(matrices + 16 * j, world, 16 * sizeof *world);
            continue;
        }
        double inverse_bind[16];
        for (size_t i = 0; i < 16; i++)
            inverse_bind[i] = (double)chosen->inverse_binds[16 * j + i];
        exi_scene_matrix_multiply(world, inverse_bind, matrices + 16 * j);
    }
}
