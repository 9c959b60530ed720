/*
 * Masks of layers and of regions: a value in [0, 1] per vertex, from a text file, from a group of faces, from a vertex
 * colour, or as the sum of the skin weights of some joints.
 */
#include "author/formats/array.h"
#include "author/formats/file.h"
#include "author/formats/number.h"
#include "author/project/project.h"
#include "runtime/base/result.h"

#include <stdlib.h>
#include <string.h>

static ex_result check_value(double value, double most, const char *path, int line, ex_error *error) {
    if (value >= 0 && value <= most)
        return EX_OK;
    if (most > 1)
        return exi_error(error, EX_ERROR_DATA, "%s:%d: %g is negative, or too large for a float", path, line, value);
    return exi_error(error, EX_ERROR_DATA, "%s:%d: %g is outside [0, 1]", path, line, value);
}

/* Past blanks on the line. */
static const char *skip_blanks(const char *at, const char *end) {
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\r'))
        at++;
    return at;
}

/* Lines `vertex value`; # starts a comment; vertices that are not named have 0. */
static ex_result parse_mask(const char *text, size_t size, const char *path, int vertex_count, double most, float *mask,
                            ex_error *error) {
    const char *at = text, *end = text + size;
    for (int line = 1; at < end; line++) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        line_end = line_end ? line_end : end;
        const char *comment = memchr(at, '#', (size_t)(line_end - at));
        const char *stop = comment ? comment : line_end;
        int vertex = 0;
        double value = 0;
        at = skip_blanks(at, stop);
        if (at < stop) {
            bool sound = exi_parse_int(&at, stop, &vertex);
            const char *number = skip_blanks(at, stop);
            sound = sound && number > at && exi_parse_double(&number, stop, &value);
            if (!sound || skip_blanks(number, stop) != stop)
                return exi_error(error, EX_ERROR_FORMAT, "%s:%d: a line 'vertex value' is needed here", path, line);
            if (vertex < 0 || vertex >= vertex_count)
                return exi_error(error, EX_ERROR_DATA, "%s:%d: there is no vertex %d: the mesh has %d, counted from 0",
                                 path, line, vertex, vertex_count);
            ex_result result = check_value(value, most, path, line, error);
            if (result != EX_OK)
                return result;
            mask[vertex] = (float)value;
        }
        at = line_end < end ? line_end + 1 : end;
    }
    return EX_OK;
}

static ex_result read_file(const char *path, int vertex_count, double most, float *mask, ex_error *error) {
    char *text = NULL;
    size_t size = 0;
    ex_result result = exi_file_read(path, &text, &size, error);
    if (result == EX_OK)
        result = parse_mask(text, size, path, vertex_count, most, mask, error);
    free(text);
    return result;
}

ex_result exi_mask_read(const char *path, int vertex_count, double most, float *mask, ex_error *error) {
    return read_file(path, vertex_count, most, mask, error);
}

static ex_result mask_from_file(const ex_project_view *view, const char *source, int vertex_count, double most,
                                float *mask, ex_error *error) {
    char *path = exi_path_join(view->path, source);
    if (!path)
        return exi_error_memory(error, "a mask", strlen(source));
    const ex_result result = read_file(path, vertex_count, most, mask, error);
    free(path);
    return result;
}

bool exi_names_group(const char *line, const char *name) {
    size_t length = strlen(name);
    for (const char *at = line; *at;) {
        size_t word = strcspn(at, " \t");
        if (word == length && strncmp(at, name, length) == 0)
            return true;
        at += word + strspn(at + word, " \t");
    }
    return strcmp(line, name) == 0;
}

ex_result exi_mask_from_group(const ex_mesh *mesh, const char *name, float *mask, ex_error *error) {
    bool found = false;
    for (int f = 0; mesh->face_groups && f < mesh->face_count; f++) {
        int group = mesh->face_groups[f];
        if (group < 0 || !exi_names_group(mesh->group_names[group], name))
            continue;
        found = true;
        for (int c = mesh->face_offsets[f]; c < mesh->face_offsets[f + 1]; c++)
            mask[mesh->corners[c]] = 1;
    }
    if (found)
        return EX_OK;
    const char *near = ex_suggest(name, (const char *const *)mesh->group_names, mesh->group_count);
    return near ? exi_error(error, EX_ERROR_DATA, "the mesh has no group '%s'; did you mean '%s'?", name, near)
                : exi_error(error, EX_ERROR_DATA, "the mesh has no faces in a group '%s'", name);
}

static ex_result mask_from_colour(const ex_mesh *mesh, char channel, float *mask, ex_error *error) {
    int c = channel == 'r' ? 0 : channel == 'g' ? 1 : 2;
    if (!mesh->colours)
        return exi_error(error, EX_ERROR_DATA, "the mesh has no vertex colours to take a mask from");
    for (int v = 0; v < mesh->vertex_count; v++) {
        mask[v] = mesh->colours[3 * (size_t)v + (size_t)c];
        if (!(mask[v] >= 0 && mask[v] <= 1))
            return exi_error(error, EX_ERROR_DATA, "the colour of vertex %d is outside [0, 1]", v);
    }
    return EX_OK;
}

/* A joint that is named twice counts once. That the skeleton has them all was checked (exi_project_check_joints). */
static ex_result mask_from_joints(const ex_project_mask *source, const ex_skeleton *skeleton, const ex_skin *skin,
                                  float *mask, ex_error *error) {
    if (!skeleton || !skin)
        return exi_error(error, EX_ERROR_DATA, "no joint moves the mesh, so there are no skin weights to sum");
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
    return good ? EX_OK : exi_error_memory(error, "a mask", count + most * 8);
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
        return exi_error_memory(error, "a mask", count * sizeof *values);
    memset(values, 0, count * sizeof *values);
    ex_result result = EX_OK;
    if (source->kind == EX_MASK_FILE)
        result = mask_from_file(view, source->source, mesh->vertex_count, most, values, error);
    else if (source->kind == EX_MASK_GROUP)
        result = exi_mask_from_group(mesh, source->source, values, error);
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
    return exi_error_within(error, result, "layer '%s', mask", layer->name);
}
