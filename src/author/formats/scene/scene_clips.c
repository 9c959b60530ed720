/*
 * The animations of a scene alone: its nodes and animations, without skins and looks. A mesh that an animation morphs
 * becomes one point with the same morph targets, all zero, so that their names and weights stay.
 */
#include "author/formats/scene/scene.h"

#include "author/base/array.h"

#include <stdlib.h>
#include <string.h>

bool exi_scene_copy_nodes(const ex_scene *from, ex_scene *to) {
    for (int n = 0; n < from->node_count; n++) {
        const ex_scene_node *node = &from->nodes[n];
        if (ex_scene_add_node(to, node->name, node->parent, -1) < 0)
            return false;
        to->nodes[n].transform = node->transform;
        to->nodes[n].hidden = node->hidden;
    }
    return true;
}

static bool copy_channel(const ex_scene_channel *from, ex_scene_channel *to) {
    const size_t keys = (size_t)from->key_count;
    const size_t values = keys * (size_t)from->width * (from->interpolation == EX_SCENE_CUBICSPLINE ? 3 : 1);
    *to = *from;
    to->times = exi_array_copy(from->times, keys, sizeof *to->times);
    to->values = exi_array_copy(from->values, values, sizeof *to->values);
    return to->times && to->values;
}

bool exi_scene_copy_animations(const ex_scene *from, ex_scene *to) {
    bool good = true;
    to->animations = calloc((size_t)from->animation_count + 1, sizeof *to->animations);
    for (int i = 0; to->animations && good && i < from->animation_count; i++) {
        const ex_scene_animation *animation = &from->animations[i];
        ex_scene_animation *made = &to->animations[to->animation_count++];
        made->name = animation->name ? exi_text_copy(animation->name, strlen(animation->name)) : NULL;
        made->channels = calloc((size_t)animation->channel_count + 1, sizeof *made->channels);
        good = made->channels && (made->name || !animation->name);
        for (int c = 0; good && c < animation->channel_count; c++)
            good = copy_channel(&animation->channels[c], &made->channels[made->channel_count++]);
    }
    return good && to->animations;
}

/* ---- morphed meshes ---- */

static bool fill_point(const ex_scene_mesh *from, ex_scene_mesh *to) {
    const size_t targets = (size_t)from->target_count;
    to->primitives = calloc(1, sizeof *to->primitives);
    if (!to->primitives)
        return false;
    to->primitive_count = 1;
    to->target_count = from->target_count;
    ex_scene_primitive *p = to->primitives;
    *p = (ex_scene_primitive){.mode = EX_SCENE_POINTS, .material = -1, .vertex_count = 1};
    p->positions = calloc(3, sizeof *p->positions);
    p->targets = calloc(targets, sizeof *p->targets);
    to->target_names = from->target_names ? calloc(targets, sizeof *to->target_names) : NULL;
    to->weights = from->weights ? exi_array_copy(from->weights, targets, sizeof *to->weights) : NULL;
    bool good =
        p->positions && p->targets && (to->target_names || !from->target_names) && (to->weights || !from->weights);
    for (size_t t = 0; good && t < targets; t++) {
        const char *name = from->target_names ? from->target_names[t] : NULL;
        p->targets[t].positions = calloc(3, sizeof *p->positions);
        if (name)
            to->target_names[t] = exi_text_copy(name, strlen(name));
        good = p->targets[t].positions && (!name || to->target_names[t]);
    }
    return good;
}

/* Gives a node a mesh of one point with the targets of its own. */
static bool add_point(const ex_scene *from, int node, ex_scene *to) {
    ex_scene_mesh *meshes = realloc(to->meshes, ((size_t)to->mesh_count + 1) * sizeof *meshes);
    if (!meshes)
        return false;
    to->meshes = meshes;
    meshes[to->mesh_count] = (ex_scene_mesh){0};
    to->nodes[node].mesh = to->mesh_count++;
    const ex_scene_node *own = &from->nodes[node];
    if (own->weights) {
        to->nodes[node].weights = exi_array_copy(own->weights, (size_t)own->weight_count, sizeof *own->weights);
        to->nodes[node].weight_count = to->nodes[node].weights ? own->weight_count : 0;
        if (!to->nodes[node].weights)
            return false;
    }
    return fill_point(&from->meshes[own->mesh], &meshes[to->mesh_count - 1]);
}

static bool add_points(const ex_scene *from, ex_scene *to) {
    for (int i = 0; i < from->animation_count; i++)
        for (int c = 0; c < from->animations[i].channel_count; c++) {
            const ex_scene_channel *channel = &from->animations[i].channels[c];
            if (channel->path == EX_SCENE_WEIGHTS && to->nodes[channel->node].mesh < 0 &&
                !add_point(from, channel->node, to))
                return false;
        }
    return true;
}

ex_result exi_scene_copy_clips(const ex_scene *from, ex_scene **made, ex_error *error) {
    ex_scene *to = *made = ex_scene_create();
    if (to && exi_scene_copy_nodes(from, to) && add_points(from, to) && exi_scene_copy_animations(from, to))
        return EX_OK;
    ex_scene_destroy(to);
    *made = NULL;
    return ex_error_memory(error, "the clips", (size_t)from->node_count * sizeof *from->nodes);
}
