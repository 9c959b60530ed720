/*
 * Writes what applying a driven rig makes: all vertices, or those of a group of faces, in the unit of the output.
 */
#include "author/drive/apply/apply.h"

#include "author/base/array.h"
#include "author/base/names.h"
#include "author/mesh/groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- a group ---- */

/* Picks the group's vertices, in ascending order. Free *picked always. */
static ex_result pick_group(const ex_mesh *mesh, const char *name, int **picked, int *picked_count, ex_error *error) {
    float *mask = calloc((size_t)mesh->vertex_count, sizeof *mask);
    int *made = *picked = exi_array_allocate((size_t)mesh->vertex_count, sizeof *made);
    ex_result result = mask && made ? EX_OK : ex_error_memory(error, "a group", (size_t)mesh->vertex_count * 8);
    if (result == EX_OK)
        result = ex_mask_from_group(mesh, name, mask, error);
    *picked_count = 0;
    for (int v = 0; result == EX_OK && v < mesh->vertex_count; v++)
        if (mask[v] > 0)
            made[(*picked_count)++] = v;
    free(mask);
    return result;
}

/* Tags refer to vertices of the whole mesh and would be wrong in a part of it. */
static void drop_tags(ex_mesh *mesh) {
    for (int t = 0; t < mesh->tag_count; t++) {
        ex_tag *tag = &mesh->tags[t];
        for (int i = 0; i < tag->string_count; i++)
            free(tag->strings[i]);
        free(tag->strings);
        free(tag->floats);
        free(tag->ints);
        free(tag->name);
    }
    mesh->tag_count = 0;
}

/* Reduces a mesh to the group's faces and its vertices, picked [picked_count], with the data of their corners. */
static ex_result cut_mesh(const int *picked, int picked_count, const char *name, ex_mesh *mesh, ex_error *error) {
    int *numbers = exi_array_allocate((size_t)mesh->vertex_count, sizeof *numbers);
    int faces = 0, corners = 0;
    if (!numbers)
        return ex_error_memory(error, "a group", (size_t)mesh->vertex_count * sizeof *numbers);
    for (int i = 0; i < picked_count; i++) {
        numbers[picked[i]] = i;
        memmove(mesh->positions + 3 * (size_t)i, mesh->positions + 3 * (size_t)picked[i], 3 * sizeof(double));
        if (mesh->colours)
            memmove(mesh->colours + 3 * (size_t)i, mesh->colours + 3 * (size_t)picked[i], 3 * sizeof(float));
    }
    for (int f = 0; f < mesh->face_count; f++) {
        const int from = mesh->face_offsets[f], to = mesh->face_offsets[f + 1], group = mesh->face_groups[f];
        if (group < 0 || !exi_names_group(mesh->group_names[group], name))
            continue;
        mesh->face_offsets[faces] = corners;
        mesh->face_groups[faces] = group;
        if (mesh->face_materials)
            mesh->face_materials[faces] = mesh->face_materials[f];
        faces++;
        for (int c = from; c < to; c++, corners++) {
            mesh->corners[corners] = numbers[mesh->corners[c]];
            if (mesh->corner_texcoords)
                mesh->corner_texcoords[corners] = mesh->corner_texcoords[c];
            if (mesh->corner_normals)
                mesh->corner_normals[corners] = mesh->corner_normals[c];
        }
    }
    mesh->face_offsets[faces] = corners;
    mesh->vertex_count = picked_count;
    mesh->face_count = faces;
    mesh->corner_count = corners;
    drop_tags(mesh);
    free(numbers);
    return EX_OK;
}

ex_result ex_drive_mesh(const ex_rig *rig, const char *group, ex_mesh **mesh, ex_error *error) {
    if (!rig || !mesh)
        return exi_misuse_error(error, __func__, "no rig, or no pointer for the mesh");
    int *picked = NULL, count = 0;
    *mesh = NULL;
    ex_result result = ex_rig_to_mesh(rig, NULL, mesh, error);
    if (result == EX_OK && group)
        result = pick_group(*mesh, group, &picked, &count, error);
    if (result == EX_OK && group)
        result = cut_mesh(picked, count, group, *mesh, error);
    free(picked);
    if (result != EX_OK) {
        ex_mesh_destroy(*mesh);
        *mesh = NULL;
    }
    return result;
}

/* ---- the output ---- */

static ex_result open_group(exi_apply_output *o, ex_error *error) {
    ex_mesh *mesh = NULL;
    ex_result result = ex_rig_to_mesh(o->def->rig, NULL, &mesh, error);
    if (result == EX_OK)
        result = pick_group(mesh, o->def->group, &o->picked, &o->picked_count, error);
    if (result == EX_OK && !(o->written = exi_array_allocate((size_t)o->vertex_count, 3 * sizeof *o->written)))
        result = ex_error_memory(error, "a group", (size_t)o->vertex_count * 12);
    ex_mesh_destroy(mesh);
    return result;
}

ex_result exi_apply_output_open(exi_apply_output *o, const ex_apply_def *def, const ex_cache_reader *driver,
                                int frame_count, ex_error *error) {
    ex_mesh *mesh = NULL;
    double *times = exi_array_allocate((size_t)frame_count, sizeof *times);
    *o = (exi_apply_output){.def = def, .vertex_count = ex_rig_vertex_count(def->rig)};
    ex_result result =
        times ? EX_OK : ex_error_memory(error, "the times of frames", (size_t)frame_count * sizeof *times);
    if (result == EX_OK && def->group)
        result = open_group(o, error);
    if (result == EX_OK && ex_cache_needs_mesh(def->output))
        result = ex_drive_mesh(def->rig, def->group, &mesh, error);
    for (int f = 0; result == EX_OK && f < frame_count; f++)
        times[f] = ex_drive_time(driver, def->first + f, def->rate);
    if (result == EX_OK)
        result = ex_cache_create(def->output, def->group ? o->picked_count : o->vertex_count, frame_count, times, mesh,
                                 &o->writer, error);
    ex_mesh_destroy(mesh);
    free(times);
    return result;
}

ex_result exi_apply_output_write(const exi_apply_output *o, int frame, float *made, ex_error *error) {
    const double scale = o->def->driven_scale > 0 ? o->def->driven_scale : 1;
    for (size_t i = 0; i < 3 * (size_t)o->vertex_count; i++) {
        made[i] = (float)((double)made[i] / scale);
        if (!isfinite(made[i]))
            return ex_error_set(error, EX_ERROR_DATA,
                                "in frame %d, vertex %zu (counting from 0) is too far away for a float",
                                o->def->first + frame + 1, i / 3);
    }
    for (int i = 0; i < o->picked_count; i++)
        memcpy(o->written + 3 * (size_t)i, made + 3 * (size_t)o->picked[i], 3 * sizeof(float));
    return ex_cache_write(o->writer, o->picked ? o->written : made, error);
}
