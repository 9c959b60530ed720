/*
 * Writes a rig's skeleton as a glTF file: a node for each joint, a skin with the inverse binds, and the mesh at rest
 * with all of its influences, vertices in source order. Reading it again matches vertices by their order and gives the
 * same bits.
 */
#include "author/project/skeleton/skeleton.h"

#include "author/base/array.h"
#include "runtime/base/result.h"

#include <exemplar/author/formats.h>

#include <stdlib.h>

/* ---- joints ---- */

static bool add_joints(ex_scene *scene, const ex_skeleton *skeleton) {
    for (int j = 0; j < ex_skeleton_joint_count(skeleton); j++) {
        exi_joint_text text;
        const int node =
            ex_scene_add_node(scene, exi_joint_name(skeleton, j, &text), ex_skeleton_parent(skeleton, j), -1);
        if (node < 0)
            return false;
        const ex_transform rest = ex_skeleton_rest(skeleton, j);
        ex_scene_transform *t = &scene->nodes[node].transform;
        for (int c = 0; c < 3; c++) {
            t->translation[c] = (double)rest.translation[c];
            t->scale[c] = (double)rest.scale[c];
        }
        for (int c = 0; c < 4; c++)
            t->rotation[c] = (double)rest.rotation[c];
    }
    return true;
}

static bool add_skin(ex_scene *scene, const ex_skeleton *skeleton) {
    const size_t count = (size_t)ex_skeleton_joint_count(skeleton);
    ex_scene_skin *skin = scene->skins = calloc(1, sizeof *skin);
    if (!skin)
        return false;
    scene->skin_count = 1;
    skin->skeleton = -1;
    skin->joints = exi_array_allocate(count, sizeof *skin->joints);
    skin->inverse_binds = exi_array_allocate(count, 16 * sizeof *skin->inverse_binds);
    if (!skin->joints || !skin->inverse_binds)
        return false;
    skin->joint_count = (int)count;
    for (int j = 0; j < skin->joint_count; j++) {
        float rows[12], *columns = skin->inverse_binds + 16 * (size_t)j;
        ex_skeleton_inverse_bind(skeleton, j, rows);
        skin->joints[j] = j;
        for (int c = 0; c < 4; c++) {
            for (int r = 0; r < 3; r++)
                columns[4 * c + r] = rows[4 * r + c];
            columns[4 * c + 3] = c == 3 ? 1.0F : 0.0F;
        }
    }
    return true;
}

/* ---- the mesh ---- */

static bool fill_influences(const ex_skin *skin, ex_scene_primitive *p) {
    const size_t most = (size_t)ex_skin_get_info(skin).influence_most, count = (size_t)p->vertex_count * most;
    uint32_t *row = exi_array_allocate(most, sizeof *row);
    p->influence_count = (int)most;
    p->joints = exi_array_allocate(count, sizeof *p->joints);
    p->weights = exi_array_allocate(count, sizeof *p->weights);
    const bool good = row && p->joints && p->weights;
    for (int v = 0; good && v < p->vertex_count; v++) {
        const size_t at = (size_t)v * most;
        const size_t own = (size_t)ex_skin_influences(skin, v, row, p->weights + at);
        for (size_t i = 0; i < most; i++) {
            p->joints[at + i] = i < own ? (uint16_t)row[i] : 0;
            p->weights[at + i] = i < own ? p->weights[at + i] : 0;
        }
    }
    free(row);
    return good;
}

static bool fill_primitive(const ex_rig *rig, ex_scene_primitive *p) {
    const ex_rig_mesh mesh = ex_rig_get_mesh(rig);
    const size_t indices = 3 * (size_t)mesh.triangle_count;
    *p = (ex_scene_primitive){
        .mode = indices > 0 ? EX_SCENE_TRIANGLES : EX_SCENE_POINTS, .material = -1, .vertex_count = mesh.vertex_count};
    p->positions = exi_array_allocate(3 * (size_t)mesh.vertex_count, sizeof *p->positions);
    p->indices = indices > 0 ? exi_array_allocate(indices, sizeof *p->indices) : NULL;
    if (!p->positions || (indices > 0 && !p->indices))
        return false;
    ex_rig_rest_mesh(rig, p->positions);
    p->index_count = (int)indices;
    for (size_t i = 0; i < indices; i++)
        p->indices[i] = (int)(mesh.split_source ? mesh.split_source[mesh.triangles[i]] : mesh.triangles[i]);
    return fill_influences(ex_rig_skin(rig), p);
}

static bool add_mesh(ex_scene *scene, const ex_rig *rig) {
    scene->meshes = calloc(1, sizeof *scene->meshes);
    if (!scene->meshes)
        return false;
    scene->mesh_count = 1;
    scene->meshes[0].primitives = calloc(1, sizeof *scene->meshes[0].primitives);
    if (!scene->meshes[0].primitives)
        return false;
    scene->meshes[0].primitive_count = 1;
    const int node = fill_primitive(rig, &scene->meshes[0].primitives[0]) ? ex_scene_add_node(scene, NULL, -1, 0) : -1;
    if (node >= 0)
        scene->nodes[node].skin = 0;
    return node >= 0;
}

/* ---- files ---- */

ex_result ex_skeleton_write(const char *path, const ex_rig *rig, ex_error *error) {
    const ex_skeleton *skeleton = ex_rig_skeleton(rig);
    ex_scene *scene = ex_scene_create();
    bool good = scene && add_joints(scene, skeleton) && add_skin(scene, skeleton);
    if (good && ex_rig_skin(rig) && ex_rig_vertex_count(rig) > 0)
        good = add_mesh(scene, rig);
    ex_result result = good ? ex_scene_write(path, scene, error)
                            : ex_error_memory(error, "the skeleton", (size_t)ex_rig_vertex_count(rig) * 48);
    ex_scene_destroy(scene);
    return result;
}

/* Writes the nodes as siblings, so that reading their positions again adds nothing up. */
ex_result exi_skeleton_write_centres(const char *path, const ex_skeleton *skeleton, const double *centres,
                                     ex_error *error) {
    ex_scene *scene = ex_scene_create();
    bool good = scene != NULL;
    for (int j = 0; good && j < ex_skeleton_joint_count(skeleton); j++) {
        exi_joint_text text;
        const int node = ex_scene_add_node(scene, exi_joint_name(skeleton, j, &text), -1, -1);
        good = node >= 0;
        for (int c = 0; good && c < 3; c++)
            scene->nodes[node].transform.translation[c] = centres[3 * (size_t)j + (size_t)c];
    }
    ex_result result = good ? ex_scene_write(path, scene, error)
                            : ex_error_memory(error, "a skeleton", (size_t)ex_skeleton_joint_count(skeleton) * 200);
    ex_scene_destroy(scene);
    return result;
}
