/*
 * Makes a clip from an animation of a glTF scene. Its joints are the nodes that are joints of a skin, and those above
 * them; in a scene without skins, all nodes.
 */
#include "author/base/array.h"
#include "author/formats/scene/scene.h"
#include "author/motion/motion.h"
#include "runtime/base/result.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_SIZE = 40 };

/* A node's part in a clip. */
typedef enum node_part { PART_NONE, PART_ABOVE, PART_JOINT } node_part;

typedef struct taking {
    const ex_scene *scene;
    const ex_scene_animation *animation;
    int number;
    node_part *parts; /* [node_count] */
    int *places;      /* [node_count] index in its skin, or -1 */
    int *order;       /* [node_count] nodes, each after its parent */
    int *joints;      /* [node_count] index in the clip, or -1 */
    ex_scene_transform *transforms;
    ex_clip *clip;
    ex_error *error;
} taking;

static ex_result no_memory(const taking *t) {
    return ex_error_memory(t->error, "the animation", (size_t)t->scene->node_count * sizeof(ex_transform));
}

/* ---- nodes ---- */

static void find_parts(taking *t) {
    const ex_scene *scene = t->scene;
    for (int n = 0; n < scene->node_count; n++) {
        t->parts[n] = scene->skin_count > 0 ? PART_NONE : PART_JOINT;
        t->places[n] = -1;
    }
    for (int s = scene->skin_count - 1; s >= 0; s--)
        for (int j = 0; j < scene->skins[s].joint_count; j++) {
            t->parts[scene->skins[s].joints[j]] = PART_JOINT;
            t->places[scene->skins[s].joints[j]] = j;
        }
    for (int i = scene->node_count - 1; i >= 0; i--) {
        const int n = t->order[i], parent = scene->nodes[n].parent;
        if (t->parts[n] != PART_NONE && parent >= 0 && t->parts[parent] == PART_NONE)
            t->parts[parent] = PART_ABOVE;
    }
}

static bool is_joints_name(const taking *t, const char *name) {
    for (int n = 0; n < t->scene->node_count; n++)
        if (t->parts[n] == PART_JOINT && t->scene->nodes[n].name && strcmp(t->scene->nodes[n].name, name) == 0)
            return true;
    return false;
}

/* Returns the node's own name, as skeletons of projects do. If a node above the joints has the same name as a joint,
 * the joint keeps it. */
static char *name_of(const taking *t, int node) {
    const char *own = t->scene->nodes[node].name;
    char made[NAME_SIZE];
    if (own && own[0] && (t->parts[node] == PART_JOINT || !is_joints_name(t, own)))
        return exi_text_copy(own, strlen(own));
    if (t->places[node] >= 0)
        snprintf(made, sizeof made, "joint %d", t->places[node]);
    else
        snprintf(made, sizeof made, "node %d", node);
    return exi_text_copy(made, strlen(made));
}

static ex_transform round_transform(const ex_scene_transform *t) {
    ex_transform out;
    for (int c = 0; c < 3; c++) {
        out.translation[c] = (float)t->translation[c];
        out.scale[c] = (float)t->scale[c];
    }
    for (int c = 0; c < 4; c++)
        out.rotation[c] = (float)t->rotation[c];
    return out;
}

static ex_result take_joints(taking *t) {
    ex_clip *clip = t->clip;
    const size_t count = (size_t)t->scene->node_count;
    clip->joints = calloc(count + 1, sizeof *clip->joints);
    if (!clip->joints)
        return no_memory(t);
    for (size_t i = 0; i < count; i++) {
        const int n = t->order[i], parent = t->scene->nodes[n].parent;
        t->joints[n] = -1;
        if (t->parts[n] == PART_NONE)
            continue;
        ex_clip_joint *joint = &clip->joints[clip->joint_count];
        *joint = (ex_clip_joint){.name = name_of(t, n),
                                 .parent = parent >= 0 ? t->joints[parent] : -1,
                                 .rest = round_transform(&t->scene->nodes[n].transform)};
        if (!joint->name)
            return no_memory(t);
        t->joints[n] = clip->joint_count++;
    }
    return EX_OK;
}

/* Sets the ground to the lowest joint at rest. */
static ex_result find_ground(taking *t) {
    exi_world *worlds = exi_array_allocate((size_t)t->clip->joint_count, sizeof *worlds);
    bool first = true;
    if (!worlds)
        return no_memory(t);
    exi_clip_worlds(t->clip, -1, worlds);
    for (int n = 0; n < t->scene->node_count; n++) {
        if (t->parts[n] != PART_JOINT)
            continue;
        const double y = worlds[t->joints[n]].matrix[7];
        t->clip->ground = first || y < t->clip->ground ? y : t->clip->ground;
        first = false;
    }
    free(worlds);
    return EX_OK;
}

/* ---- dials ---- */

static const char *target_name(const ex_scene_mesh *mesh, int target, char made[NAME_SIZE]) {
    if (mesh->target_names && mesh->target_names[target] && mesh->target_names[target][0])
        return mesh->target_names[target];
    snprintf(made, NAME_SIZE, "target%d", target);
    return made;
}

static bool has_dial(const ex_clip *clip, const char *name) {
    for (int d = 0; d < clip->dial_count; d++)
        if (strcmp(clip->dials[d].name, name) == 0)
            return true;
    return false;
}

/* Adds a dial: the weight of a node's target at the clip's times. */
static ex_result add_dial(taking *t, const char *name, size_t *capacity) {
    ex_clip *clip = t->clip;
    ex_clip_dial *dials = exi_array_grow(clip->dials, capacity, (size_t)clip->dial_count + 1, sizeof *dials);
    if (!dials)
        return no_memory(t);
    clip->dials = dials;
    ex_clip_dial dial = {exi_text_copy(name, strlen(name)),
                         exi_array_allocate((size_t)clip->frame_count, sizeof *dial.values)};
    if (!dial.name || !dial.values) {
        free(dial.name);
        free(dial.values);
        return no_memory(t);
    }
    dials[clip->dial_count++] = dial;
    return EX_OK;
}

/* Targets of one name in several meshes become one dial; the first node's weights count. */
static ex_result take_weights(taking *t, int node, size_t *capacity) {
    const ex_scene_mesh *mesh = &t->scene->meshes[t->scene->nodes[node].mesh];
    const size_t count = (size_t)mesh->target_count;
    double *weights = exi_array_allocate(count, sizeof *weights);
    int *dials = exi_array_allocate(count, sizeof *dials);
    ex_result result = weights && dials ? EX_OK : no_memory(t);
    for (int i = 0; i < mesh->target_count && result == EX_OK; i++) {
        char made[NAME_SIZE];
        const char *name = target_name(mesh, i, made);
        dials[i] = has_dial(t->clip, name) ? -1 : t->clip->dial_count;
        if (dials[i] >= 0)
            result = add_dial(t, name, capacity);
    }
    for (int f = 0; f < t->clip->frame_count && result == EX_OK; f++) {
        ex_scene_sample_weights(t->scene, t->number, t->clip->times[f], node, weights);
        for (size_t i = 0; i < count; i++)
            if (dials[i] >= 0)
                t->clip->dials[dials[i]].values[f] = (float)weights[i];
    }
    free(weights);
    free(dials);
    return result;
}

static ex_result take_dials(taking *t) {
    size_t capacity = 0;
    ex_result result = EX_OK;
    for (int c = 0; c < t->animation->channel_count && result == EX_OK; c++) {
        const ex_scene_channel *channel = &t->animation->channels[c];
        if (channel->path == EX_SCENE_WEIGHTS && t->scene->nodes[channel->node].mesh >= 0)
            result = take_weights(t, channel->node, &capacity);
    }
    return result;
}

/* ---- frames ---- */

static void take_frame(taking *t, int frame) {
    const size_t joints = (size_t)t->clip->joint_count;
    ex_transform *locals = t->clip->locals + (size_t)frame * joints;
    ex_scene_sample(t->scene, t->number, t->clip->times[frame], t->transforms);
    for (int n = 0; n < t->scene->node_count; n++) {
        const int j = t->joints[n];
        double along = 0;
        if (j < 0)
            continue;
        locals[j] = round_transform(&t->transforms[n]);
        for (int i = 0; frame > 0 && i < 4; i++)
            along += (double)locals[j].rotation[i] * (double)(locals - joints)[j].rotation[i];
        for (int i = 0; along < 0 && i < 4; i++)
            locals[j].rotation[i] = -locals[j].rotation[i];
    }
}

static ex_result take_frames(taking *t, const double *times, int count) {
    ex_clip *clip = t->clip;
    clip->frame_count = count;
    clip->times = exi_array_copy(times, (size_t)count, sizeof *times);
    clip->locals = exi_array_allocate((size_t)count * ((size_t)clip->joint_count + 1), sizeof *clip->locals);
    if (!clip->times || !clip->locals)
        return no_memory(t);
    for (int f = 0; f < count; f++)
        take_frame(t, f);
    for (int c = 0; c < t->animation->channel_count; c++) {
        const ex_scene_channel *channel = &t->animation->channels[c];
        clip->root_moves = clip->root_moves || (channel->path == EX_SCENE_TRANSLATION && t->joints[channel->node] >= 0);
    }
    return take_dials(t);
}

ex_result exi_scene_to_clip_at(const ex_scene *scene, int animation, const double *times, int count, ex_clip **clip,
                               ex_error *error) {
    const size_t nodes = (size_t)scene->node_count;
    taking t = {.scene = scene, .animation = &scene->animations[animation], .number = animation, .error = error};
    *clip = NULL;
    t.parts = exi_array_allocate(nodes, sizeof *t.parts);
    t.places = exi_array_allocate(nodes, sizeof *t.places);
    t.order = exi_array_allocate(3 * nodes + 1, sizeof *t.order);
    t.joints = exi_array_allocate(nodes, sizeof *t.joints);
    t.transforms = exi_array_allocate(nodes, sizeof *t.transforms);
    t.clip = calloc(1, sizeof *t.clip);
    ex_result result = t.parts && t.places && t.order && t.joints && t.transforms && t.clip ? EX_OK : no_memory(&t);
    if (result == EX_OK && !exi_scene_order(scene, t.order, t.order + nodes))
        result = ex_error_set(error, EX_ERROR_DATA, "a node is its own ancestor: the parents form a loop");
    if (result == EX_OK) {
        find_parts(&t);
        result = take_joints(&t);
    }
    if (result == EX_OK)
        result = find_ground(&t);
    if (result == EX_OK)
        result = take_frames(&t, times, count);
    if (result == EX_OK)
        *clip = t.clip;
    else
        ex_clip_destroy(t.clip);
    free(t.parts);
    free(t.places);
    free(t.order);
    free(t.joints);
    free(t.transforms);
    return result;
}

/* ---- times ---- */

static int compare_times(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

ex_result exi_scene_key_times(const ex_scene *scene, int animation, double **times, int *count, ex_error *error) {
    const ex_scene_animation *chosen = &scene->animations[animation];
    size_t all = 1, used = 0, kept = 0;
    for (int c = 0; c < chosen->channel_count; c++)
        all += (size_t)chosen->channels[c].key_count;
    *times = exi_array_allocate(all, sizeof **times);
    if (!*times)
        return ex_error_memory(error, "the keys of the animation", all * sizeof **times);
    for (int c = 0; c < chosen->channel_count; c++)
        for (int k = 0; k < chosen->channels[c].key_count; k++)
            (*times)[used++] = (double)chosen->channels[c].times[k];
    if (used == 0)
        (*times)[used++] = 0;
    qsort(*times, used, sizeof **times, compare_times);
    for (size_t i = 0; i < used; i++)
        if (kept == 0 || (*times)[i] > (*times)[kept - 1])
            (*times)[kept++] = (*times)[i];
    if (kept > INT_MAX) {
        free(*times);
        *times = NULL;
        return ex_error_set(error, EX_ERROR_LIMIT, "the animation has too many keys");
    }
    *count = (int)kept;
    return EX_OK;
}

static ex_result even_times(double duration, double fps, double **times, int *count, ex_error *error) {
    const double steps = floor(duration * fps + 1e-6);
    if (!(steps < INT_MAX - 1))
        return ex_error_set(error, EX_ERROR_LIMIT, "%g frames per second for %g s are too many", fps, duration);
    *count = (int)steps + 1;
    *times = exi_array_allocate((size_t)*count, sizeof **times);
    for (int i = 0; *times && i < *count; i++)
        (*times)[i] = i / fps;
    return *times ? EX_OK : ex_error_memory(error, "the times of the motion", (size_t)*count * sizeof **times);
}

ex_result ex_scene_to_clip(const ex_scene *scene, int animation, double fps, ex_clip **clip, ex_error *error) {
    if (!scene || !clip || animation < 0 || animation >= scene->animation_count || !(fps >= 0 && fps <= 1e9))
        return exi_misuse_error(error, __func__,
                                "no scene with such an animation, no rate, or no pointer for the clip");
    double *times = NULL;
    int count = 0;
    *clip = NULL;
    ex_result result = fps > 0 ? even_times(ex_scene_duration(scene, animation), fps, &times, &count, error)
                               : exi_scene_key_times(scene, animation, &times, &count, error);
    if (result == EX_OK)
        result = exi_scene_to_clip_at(scene, animation, times, count, clip, error);
    free(times);
    return result;
}
