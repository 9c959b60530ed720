/*
 * Masks of layers and of regions: a value in [0, 1] per vertex, from a text file, a group of faces, a vertex colour, or
 * the sum of the skin weights of some joints.
 */
#include "author/base/array.h"
#include "author/mesh/groups.h"
#include "author/project/model/project.h"
#include "author/project/skeleton/skeleton.h"
#include "runtime/base/result.h"

#include <exemplar/author/files.h>
#include <exemplar/author/formats.h>

#include <stdlib.h>
#include <string.h>

static ex_result mask_from_file(const ex_project_view *view, const char *source, int vertex_count, double most,
                                float *mask, ex_error *error) {
    char *path = ex_path_join(view->path, source);
    if (!path)
        return ex_error_memory(error, "a mask", strlen(source));
    const ex_result result = ex_mask_read(path, vertex_count, most, mask, error);
    free(path);
    return result;
}

static ex_result mask_from_colour(const ex_mesh *mesh, char channel, float *mask, ex_error *error) {
    int c = channel == 'r' ? 0 : channel == 'g' ? 1 : 2;
    if (!mesh->colours)
        return ex_error_set(error, EX_ERROR_DATA, "the mesh has no vertex colours to take a mask from");
    for (int v = 0; v < mesh->vertex_count; v++) {
        mask[v] = mesh->colours[3 * (size_t)v + (size_t)c];
        if (!(mask[v] >= 0 && mask[v] <= 1))
            return ex_error_set(error, EX_ERROR_DATA, "the colour of vertex %d is outside [0, 1]", v);
    }
    return EX_OK;
}

/* A joint that is named twice counts once. exi_project_check_joints has checked that the skeleton has them all. */
static ex_result mask_from_joints(const ex_project_mask *source, const ex_skeleton *skeleton, const ex_skin *skin,
                                  float *mask, ex_error *error) {
    if (!skeleton || !skin)
        return ex_error_set(error, EX_ERROR_DATA, "no joint moves the mesh, so there are no skin weights to sum");
    const size_t most = (size_t)ex_skin_get_info(skin).influence_most, count = (size_t)ex_skin_joint_count(skin);
    bool *wanted = calloc(count, sizeof *wanted);
    uint32_t *joints = exi_array_allocate(most, sizeof *joints);
    float *weights = exi_array_allocate(most, sizeof *weights);
    const bool good = wanted && joints && weights;
    for (int i = 0; good && i < source->joint_count; i++) {
        const int joint = ex_skeleton_find(skeleton, source->joints[i]);
        if (joint >= 0)
            wanted[joint] = true;
    }
    for (int v = 0; good && v < ex_skin_vertex_count(skin); v++) {
        const int influences = ex_skin_influences(skin, v, joints, weights);
        double sum = 0;
        for (int i = 0; i < influences; i++)
            sum += wanted[joints[i]] ? (double)weights[i] : 0;
        mask[v] = sum < 1 ? (float)sum : 1.0F;
    }
    free(wanted);
    free(joints);
    free(weights);
    return good ? EX_OK : ex_error_memory(error, "a mask", count + most * 8);
}

ex_result exi_project_read_values(const ex_project_view *view, const ex_project_mask *source, double most,
                                  const ex_mesh *mesh, const ex_skeleton *skeleton, const ex_skin *skin, float **mask,
                                  ex_error *error) {
    *mask = NULL;
    if (source->kind == EX_MASK_NONE)
        return EX_OK;
    size_t count = (size_t)mesh->vertex_count;
    float *values = exi_array_allocate(count, sizeof *values);
    if (!values)
        return ex_error_memory(error, "a mask", count * sizeof *values);
    memset(values, 0, count * sizeof *values);
    ex_result result = EX_OK;
    if (source->kind == EX_MASK_FILE)
        result = mask_from_file(view, source->source, mesh->vertex_count, most, values, error);
    else if (source->kind == EX_MASK_GROUP)
        result = ex_mask_from_group(mesh, source->source, values, error);
    else if (source->kind == EX_MASK_JOINTS)
        result = mask_from_joints(source, skeleton, skin, values, error);
    else
        result = mask_from_colour(mesh, source->source[0], values, error);
    if (result != EX_OK)
        free(values);
    else
        *mask = values;
    return result;
}

ex_result exi_project_read_mask(const ex_project_view *view, const ex_project_layer *layer, const ex_mesh *mesh,
                                const ex_skeleton *skeleton, const ex_skin *skin, float **mask, ex_error *error) {
    const ex_result result = exi_project_read_values(view, &layer->mask, 1, mesh, skeleton, skin, mask, error);
    return ex_error_within(error, result, "layer '%s', mask", layer->name);
}

ex_result ex_project_read_mask(const ex_project *project, int layer, float **values, int *vertex_count,
                               ex_error *error) {
    const ex_project_view *view = ex_project_get(project);
    ex_skeleton *skeleton = NULL;
    ex_skin *skin = NULL;
    ex_mesh *mesh = NULL;
    *values = NULL;
    *vertex_count = 0;
    ex_result result = exi_project_read_mesh(view, view->mesh, &mesh, error);
    if (result == EX_OK && view->layers[layer].mask.kind == EX_MASK_JOINTS)
        result = exi_skeleton_read(view, mesh, &skeleton, &skin, error);
    if (result == EX_OK)
        result = exi_project_read_mask(view, &view->layers[layer], mesh, skeleton, skin, values, error);
    if (result == EX_OK && *values)
        *vertex_count = mesh->vertex_count;
    ex_skeleton_destroy(skeleton);
    ex_skin_destroy(skin);
    ex_mesh_destroy(mesh);
    return result;
}
