/*
 * Checks that a scene, which its owner may have changed, is consistent, as evaluation, conversion and writing require.
 */
#include "author/formats/scene/scene.h"

#include "author/base/array.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Checks an array of floats; the other arguments name it in errors. */
static ex_result check_floats(const float *numbers, size_t count, size_t width, const char *what, const char *where,
                              ex_error *error) {
    for (size_t i = 0; numbers && i < count * width; i++)
        if (!isfinite(numbers[i]))
            return ex_error_set(error, EX_ERROR_DATA, "%s: %s %zu (counting from 0) is not finite", where, what,
                                i / width);
    return EX_OK;
}

static ex_result check_doubles(const double *numbers, int count, const char *what, const char *where, ex_error *error) {
    for (int i = 0; numbers && i < count; i++)
        if (!isfinite(numbers[i]))
            return ex_error_set(error, EX_ERROR_DATA, "%s: %s is not finite", where, what);
    return EX_OK;
}

/* Checks a reference: -1 or an index below count. */
static ex_result check_number(int number, int count, const char *what, const char *where, ex_error *error) {
    if (number >= -1 && number < count)
        return EX_OK;
    return ex_error_set(error, EX_ERROR_DATA, "%s: refers to %s %d, but there are %d", where, what, number, count);
}

/* ---- meshes ---- */

static ex_result check_indices(const ex_scene_primitive *p, const char *where, ex_error *error) {
    if ((p->index_count > 0) != (p->indices != NULL))
        return ex_error_set(error, EX_ERROR_DATA, "%s: %d indices, but %s", where, p->index_count,
                            p->indices ? "a list of them" : "no list of them");
    for (int i = 0; i < p->index_count; i++)
        if (p->indices[i] < 0 || p->indices[i] >= p->vertex_count)
            return ex_error_set(error, EX_ERROR_DATA, "%s: index %d (counting from 0) is vertex %d, but there are %d",
                                where, i, p->indices[i], p->vertex_count);
    return EX_OK;
}

static ex_result check_influences(const ex_scene_primitive *p, const char *where, ex_error *error) {
    if (p->influence_count == 0)
        return EX_OK;
    if (p->influence_count < 0 || !p->joints || !p->weights)
        return ex_error_set(error, EX_ERROR_DATA, "%s: %d influences per vertex, but joints or weights are missing",
                            where, p->influence_count);
    for (size_t v = 0; v < (size_t)p->vertex_count; v++) {
        double sum = 0;
        for (size_t k = 0; k < (size_t)p->influence_count; k++) {
            float weight = p->weights[v * (size_t)p->influence_count + k];
            if (!(weight >= 0) || !isfinite(weight))
                return ex_error_set(
                    error, EX_ERROR_DATA,
                    "%s: vertex %zu (counting from 0) has a joint weight of %g, which should be 0 or more", where, v,
                    (double)weight);
            sum += (double)weight;
        }
        if (!(sum > 0))
            return ex_error_set(error, EX_ERROR_DATA, "%s: the joint weights of vertex %zu (counting from 0) sum to 0",
                                where, v);
    }
    return EX_OK;
}

static ex_result check_primitive(const ex_scene *scene, const ex_scene_mesh *mesh, const ex_scene_primitive *p,
                                 const char *where, ex_error *error) {
    if (p->mode < EX_SCENE_POINTS || p->mode > EX_SCENE_TRIANGLE_FAN)
        return ex_error_set(error, EX_ERROR_DATA, "%s: mode %d is not one of the seven that glTF defines", where,
                            (int)p->mode);
    if (p->vertex_count < 1 || !p->positions)
        return ex_error_set(error, EX_ERROR_DATA, "%s: has no vertices", where);
    size_t n = (size_t)p->vertex_count;
    const struct {
        const float *numbers;
        size_t width;
        const char *what;
    } tables[] = {{p->positions, 3, "position"},
                  {p->normals, 3, "normal"},
                  {p->tangents, 4, "tangent"},
                  {p->texcoords[0], 2, "texture coordinate"},
                  {p->texcoords[1], 2, "second texture coordinate"},
                  {p->colours, 4, "colour"}};
    ex_result result = check_number(p->material, scene->material_count, "material", where, error);
    for (size_t i = 0; i < sizeof tables / sizeof *tables && result == EX_OK; i++)
        result = check_floats(tables[i].numbers, n, tables[i].width, tables[i].what, where, error);
    if (result == EX_OK)
        result = check_indices(p, where, error);
    if (result == EX_OK)
        result = check_influences(p, where, error);
    if (result == EX_OK && mesh->target_count > 0 && !p->targets)
        result = ex_error_set(error, EX_ERROR_DATA, "%s: lacks the mesh's %d morph targets", where, mesh->target_count);
    for (int t = 0; t < mesh->target_count && result == EX_OK; t++) {
        const ex_scene_target *target = &p->targets[t];
        result = check_floats(target->positions, n, 3, "position of a morph target", where, error);
        if (result == EX_OK)
            result = check_floats(target->normals, n, 3, "normal of a morph target", where, error);
        if (result == EX_OK)
            result = check_floats(target->tangents, n, 3, "tangent of a morph target", where, error);
    }
    return result;
}

static ex_result check_mesh(const ex_scene *scene, int number, ex_error *error) {
    const ex_scene_mesh *mesh = &scene->meshes[number];
    char where[64];
    snprintf(where, sizeof where, "meshes[%d]", number);
    if (mesh->primitive_count < 1)
        return ex_error_set(error, EX_ERROR_DATA, "%s: has no primitives", where);
    ex_result result = check_doubles(mesh->weights, mesh->target_count, "a weight", where, error);
    for (int p = 0; p < mesh->primitive_count && result == EX_OK; p++) {
        snprintf(where, sizeof where, "meshes[%d].primitives[%d]", number, p);
        result = check_primitive(scene, mesh, &mesh->primitives[p], where, error);
    }
    return result;
}

/* ---- nodes ---- */

/* Checks the joints that a node's mesh refers to against the node's skin. */
static ex_result check_joints(const ex_scene *scene, const ex_scene_node *node, const char *where, ex_error *error) {
    if (node->mesh < 0 || node->skin < 0)
        return EX_OK;
    const ex_scene_mesh *mesh = &scene->meshes[node->mesh];
    int joint_count = scene->skins[node->skin].joint_count;
    for (int i = 0; i < mesh->primitive_count; i++) {
        const ex_scene_primitive *p = &mesh->primitives[i];
        if (p->influence_count == 0)
            return ex_error_set(error, EX_ERROR_DATA,
                                "%s: has a skin, but meshes[%d].primitives[%d] has no joints and "
                                "weights",
                                where, node->mesh, i);
        size_t influences = (size_t)p->influence_count;
        for (size_t k = 0; k < (size_t)p->vertex_count * influences; k++)
            if (p->joints[k] >= joint_count)
                return ex_error_set(
                    error, EX_ERROR_DATA,
                    "%s: vertex %zu of meshes[%d].primitives[%d] refers to joint %d, but skins[%d] has %d "
                    "joints",
                    where, k / influences, node->mesh, i, p->joints[k], node->skin, joint_count);
    }
    return EX_OK;
}

static ex_result check_node(const ex_scene *scene, int number, ex_error *error) {
    const ex_scene_node *node = &scene->nodes[number];
    char where[64];
    snprintf(where, sizeof where, "nodes[%d]", number);
    ex_result result = check_number(node->parent, scene->node_count, "node", where, error);
    if (result == EX_OK)
        result = check_number(node->mesh, scene->mesh_count, "mesh", where, error);
    if (result == EX_OK)
        result = check_number(node->skin, scene->skin_count, "skin", where, error);
    if (result == EX_OK)
        result = check_doubles(node->transform.translation, 3, "the translation", where, error);
    if (result == EX_OK)
        result = check_doubles(node->transform.rotation, 4, "the rotation", where, error);
    if (result == EX_OK)
        result = check_doubles(node->transform.scale, 3, "the scale", where, error);
    if (result == EX_OK)
        result = check_doubles(node->weights, node->weight_count, "a weight", where, error);
    int targets = node->mesh >= 0 && result == EX_OK ? scene->meshes[node->mesh].target_count : 0;
    if (result == EX_OK && node->weights && node->weight_count != targets)
        result = ex_error_set(error, EX_ERROR_DATA, "%s: has %d weight%s, but its mesh has %d morph target%s", where,
                              node->weight_count, node->weight_count == 1 ? "" : "s", targets, targets == 1 ? "" : "s");
    return result == EX_OK ? check_joints(scene, node, where, error) : result;
}

static ex_result check_circles(const ex_scene *scene, ex_error *error) {
    size_t count = (size_t)scene->node_count;
    int *order = exi_array_allocate(3 * count + 1, sizeof *order);
    if (!order)
        return ex_error_memory(error, "the nodes", 3 * count * sizeof *order);
    ex_result result = EX_OK;
    if (!exi_scene_order(scene, order, order + count)) {
        /* Some node is its own ancestor. From any node that leads to the cycle, as many steps upwards as there are
         * nodes end on it. */
        int at = -1, *walks = order;
        memset(walks, 0, count * sizeof *walks);
        for (int n = 0; n < scene->node_count && (at < 0 || walks[at] != n); n++)
            for (at = n; at >= 0 && walks[at] == 0; at = scene->nodes[at].parent)
                walks[at] = n + 1;
        for (int steps = 0; steps < scene->node_count; steps++)
            at = scene->nodes[at].parent;
        result = ex_error_set(error, EX_ERROR_DATA, "nodes[%d] is its own ancestor: the parents form a loop", at);
    }
    free(order);
    return result;
}

/* ---- skins and animations ---- */

/* owners [node_count]: 1 + the last skin looked at that has the node as a joint. */
static ex_result check_skin(const ex_scene *scene, int number, int *owners, ex_error *error) {
    const ex_scene_skin *skin = &scene->skins[number];
    char where[64];
    snprintf(where, sizeof where, "skins[%d]", number);
    if (skin->joint_count < 1 || !skin->joints)
        return ex_error_set(error, EX_ERROR_DATA, "%s: has no joints", where);
    for (int j = 0; j < skin->joint_count; j++) {
        if (skin->joints[j] < 0 || skin->joints[j] >= scene->node_count)
            return ex_error_set(error, EX_ERROR_DATA, "%s: joint %d is node %d, but there are %d", where, j,
                                skin->joints[j], scene->node_count);
        if (owners[skin->joints[j]] == number + 1)
            return ex_error_set(error, EX_ERROR_DATA, "%s: joint %d is node %d, which is already one of its joints",
                                where, j, skin->joints[j]);
        owners[skin->joints[j]] = number + 1;
    }
    ex_result result = check_number(skin->skeleton, scene->node_count, "node", where, error);
    return result != EX_OK
               ? result
               : check_floats(skin->inverse_binds, (size_t)skin->joint_count, 16, "inverse bind matrix", where, error);
}

static ex_result check_channel(const ex_scene *scene, const ex_scene_channel *channel, const char *where,
                               ex_error *error) {
    if (channel->node < 0 || channel->node >= scene->node_count)
        return ex_error_set(error, EX_ERROR_DATA, "%s: moves node %d, but there are %d", where, channel->node,
                            scene->node_count);
    if (channel->path > EX_SCENE_WEIGHTS || channel->interpolation > EX_SCENE_CUBICSPLINE)
        return ex_error_set(error, EX_ERROR_DATA, "%s: has an unknown path or interpolation", where);
    int width = exi_scene_path_width(scene, channel->node, channel->path);
    if (width == 0 || channel->width != width)
        return ex_error_set(error, EX_ERROR_DATA, "%s: has %d numbers per value, but %d are needed", where,
                            channel->width, width);
    if (channel->key_count < 1 || !channel->times || !channel->values)
        return ex_error_set(error, EX_ERROR_DATA, "%s: has no keys", where);
    ex_result result = check_floats(channel->times, (size_t)channel->key_count, 1, "time", where, error);
    for (int k = 0; k < channel->key_count && result == EX_OK; k++)
        if (channel->times[k] < 0 || (k > 0 && channel->times[k] <= channel->times[k - 1]))
            result = ex_error_set(
                error, EX_ERROR_DATA,
                "%s: the times of keys must increase from 0 or later, but key %d (counting from 0) is at %g s", where,
                k, (double)channel->times[k]);
    size_t values = (size_t)channel->key_count * (channel->interpolation == EX_SCENE_CUBICSPLINE ? 3 : 1);
    if (result == EX_OK && values * (size_t)channel->width > INT_MAX)
        result = ex_error_set(error, EX_ERROR_LIMIT, "%s: has more numbers than a file can hold", where);
    return result != EX_OK ? result
                           : check_floats(channel->values, values, (size_t)channel->width, "value", where, error);
}

static ex_result check_motion(const ex_scene *scene, ex_error *error) {
    int *owners = calloc((size_t)scene->node_count + 1, sizeof *owners);
    ex_result result = owners ? EX_OK : ex_error_memory(error, "the skins", (size_t)scene->node_count * sizeof *owners);
    for (int i = 0; i < scene->skin_count && result == EX_OK; i++)
        result = check_skin(scene, i, owners, error);
    free(owners);
    for (int i = 0; i < scene->animation_count; i++)
        for (int c = 0; c < scene->animations[i].channel_count && result == EX_OK; c++) {
            char where[64];
            snprintf(where, sizeof where, "animations[%d].channels[%d]", i, c);
            result = check_channel(scene, &scene->animations[i].channels[c], where, error);
        }
    return result;
}

static ex_result check_looks(const ex_scene *scene, ex_error *error) {
    char where[64];
    ex_result result = EX_OK;
    for (int i = 0; i < scene->material_count && result == EX_OK; i++) {
        const ex_scene_material *material = &scene->materials[i];
        const double factors[] = {material->metallic, material->roughness, material->alpha_cutoff};
        snprintf(where, sizeof where, "materials[%d]", i);
        result = check_number(material->base_texture, scene->texture_count, "texture", where, error);
        if (result == EX_OK)
            result = check_doubles(material->base_colour, 4, "the base colour", where, error);
        if (result == EX_OK)
            result = check_doubles(factors, 3, "a factor", where, error);
    }
    for (int i = 0; i < scene->texture_count && result == EX_OK; i++) {
        snprintf(where, sizeof where, "textures[%d]", i);
        result = check_number(scene->textures[i].image, scene->image_count, "image", where, error);
    }
    for (int i = 0; i < scene->image_count && result == EX_OK; i++) {
        const ex_scene_image *image = &scene->images[i];
        if (!image->path && (!image->bytes || image->size == 0 || !image->mime_type))
            result = ex_error_set(error, EX_ERROR_DATA, "images[%d]: has neither a file nor bytes with their kind", i);
    }
    return result;
}

ex_result ex_scene_check(const ex_scene *scene, ex_error *error) {
    ex_result result = EX_OK;
    for (int i = 0; i < scene->mesh_count && result == EX_OK; i++)
        result = check_mesh(scene, i, error);
    if (result == EX_OK)
        result = check_motion(scene, error);
    for (int i = 0; i < scene->node_count && result == EX_OK; i++)
        result = check_node(scene, i, error);
    if (result == EX_OK)
        result = check_circles(scene, error);
    return result == EX_OK ? check_looks(scene, error) : result;
}
