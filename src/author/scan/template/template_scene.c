/*
 * Makes a scene of a template's skeleton and skin: a node per joint, with identity rotations, and the cage with its
 * weights. Groups faces by joint.
 */
#include "author/scan/template/template.h"

#include "author/base/array.h"
#include "runtime/base/result.h"

#include <stdlib.h>
#include <string.h>

/* ---- groups ---- */

/* Returns the joint that moves the face's corners most; if equal the last, which is the lowest. */
static int strongest(const ex_mesh *mesh, int face, const exi_share *shares, int joint_count, double *sums) {
    int best = 0;
    for (int j = 0; j < joint_count; j++)
        sums[j] = 0;
    for (int c = mesh->face_offsets[face]; c < mesh->face_offsets[face + 1]; c++) {
        const exi_share *share = &shares[mesh->corners[c]];
        for (int i = 0; i < share->count; i++)
            sums[share->joints[i]] += share->weights[i];
    }
    for (int j = 0; j < joint_count; j++)
        best = sums[j] >= sums[best] - 1e-9 ? j : best;
    return best;
}

ex_result exi_template_groups(const ex_kinematics *kinematics, const exi_share *shares, ex_mesh *mesh,
                              ex_error *error) {
    const size_t joints = (size_t)kinematics->joint_count, faces = (size_t)mesh->face_count;
    double *sums = exi_array_allocate(joints, sizeof *sums);
    int *groups = exi_array_allocate(faces, sizeof *groups), *numbers = exi_array_allocate(joints, sizeof *numbers);
    char **names = calloc(joints, sizeof *names);
    bool good = sums && groups && numbers && names;
    int count = 0;
    for (size_t j = 0; good && j < joints; j++)
        numbers[j] = -1;
    for (int f = 0; good && f < mesh->face_count; f++)
        groups[f] =
            mesh->face_groups ? mesh->face_groups[f] : strongest(mesh, f, shares, kinematics->joint_count, sums);
    for (size_t j = 0; good && j < joints; j++) { /* in joint order */
        for (size_t f = 0; f < faces && numbers[j] < 0; f++)
            numbers[j] = groups[f] == (int)j ? count : -1;
        if (numbers[j] >= 0) {
            names[count] = exi_text_copy(kinematics->joints[j].name, strlen(kinematics->joints[j].name));
            good = names[count++] != NULL;
        }
    }
    for (size_t f = 0; good && f < faces; f++)
        groups[f] = numbers[groups[f]];
    free(sums);
    free(numbers);
    if (!good) {
        for (int i = 0; names && i < count; i++)
            free(names[i]);
        free(names);
        free(groups);
        return ex_error_memory(error, "the template", joints * sizeof *names);
    }
    free(mesh->face_groups);
    mesh->face_groups = groups;
    mesh->group_names = names;
    mesh->group_count = count;
    return EX_OK;
}

/* ---- the scene ---- */

static bool add_joints(ex_scene *scene, const ex_kinematics *kinematics) {
    const size_t count = (size_t)kinematics->joint_count;
    double(*places)[3] = exi_array_allocate(count, sizeof *places);
    ex_scene_skin *skin = scene->skins = calloc(1, sizeof *skin);
    bool good = places && skin;
    if (good) {
        scene->skin_count = 1;
        skin->skeleton = -1;
        skin->joints = exi_array_allocate(count, sizeof *skin->joints);
        skin->inverse_binds = exi_array_allocate(count, 16 * sizeof *skin->inverse_binds);
        skin->joint_count = kinematics->joint_count;
        good = skin->joints && skin->inverse_binds;
    }
    for (int j = 0; good && j < kinematics->joint_count; j++) {
        const ex_kin_joint *joint = &kinematics->joints[j];
        const int node = ex_scene_add_node(scene, joint->name, joint->parent, -1);
        float *matrix = skin->inverse_binds + 16 * (size_t)j;
        good = node >= 0;
        if (!good)
            break;
        skin->joints[j] = node;
        memset(matrix, 0, 16 * sizeof *matrix);
        for (int c = 0; c < 3; c++) {
            places[j][c] = joint->translation[c] + (joint->parent >= 0 ? places[joint->parent][c] : 0);
            scene->nodes[node].transform.translation[c] = joint->translation[c];
            matrix[5 * c] = 1;
            matrix[12 + c] = (float)-places[j][c];
        }
        matrix[15] = 1;
    }
    free(places);
    return good;
}

static bool fill_influences(const exi_share *shares, ex_scene_primitive *p) {
    size_t most = 1;
    for (int v = 0; v < p->vertex_count; v++)
        most = (size_t)shares[v].count > most ? (size_t)shares[v].count : most;
    most = most > 4 ? 8 : 4; /* sets of four, as files have them */
    p->influence_count = (int)most;
    p->joints = exi_array_allocate((size_t)p->vertex_count * most, sizeof *p->joints);
    p->weights = exi_array_allocate((size_t)p->vertex_count * most, sizeof *p->weights);
    for (int v = 0; p->joints && p->weights && v < p->vertex_count; v++)
        for (size_t i = 0; i < most; i++) {
            const bool has = i < (size_t)shares[v].count;
            p->joints[(size_t)v * most + i] = (uint16_t)(has ? shares[v].joints[i] : 0);
            p->weights[(size_t)v * most + i] = (float)(has ? shares[v].weights[i] : 0);
        }
    return p->joints && p->weights;
}

static ex_result fill_primitive(const ex_mesh *mesh, const exi_share *shares, ex_scene_primitive *p, ex_error *error) {
    int count;
    const size_t numbers = 3 * (size_t)mesh->vertex_count;
    *p = (ex_scene_primitive){.mode = EX_SCENE_TRIANGLES, .material = -1, .vertex_count = mesh->vertex_count};
    ex_result result = ex_mesh_triangulate(mesh, &p->indices, &count, error);
    if (result != EX_OK)
        return result;
    p->index_count = 3 * count;
    for (int i = 0; i < p->index_count; i++)
        p->indices[i] = mesh->corners[p->indices[i]];
    p->positions = exi_array_allocate(numbers, sizeof *p->positions);
    for (size_t i = 0; p->positions && i < numbers; i++)
        p->positions[i] = (float)mesh->positions[i];
    return p->positions && fill_influences(shares, p) ? EX_OK : ex_error_memory(error, "the template", numbers * 4);
}

static ex_result add_mesh(ex_scene *scene, const ex_mesh *mesh, const exi_share *shares, ex_error *error) {
    scene->meshes = calloc(1, sizeof *scene->meshes);
    if (!scene->meshes)
        return ex_error_memory(error, "the template", sizeof *scene->meshes);
    scene->mesh_count = 1;
    scene->meshes[0].primitives = calloc(1, sizeof *scene->meshes[0].primitives);
    if (!scene->meshes[0].primitives)
        return ex_error_memory(error, "the template", sizeof *scene->meshes[0].primitives);
    scene->meshes[0].primitive_count = 1;
    ex_result result = fill_primitive(mesh, shares, &scene->meshes[0].primitives[0], error);
    const int node = result == EX_OK ? ex_scene_add_node(scene, "cage", -1, 0) : -1;
    if (node >= 0)
        scene->nodes[node].skin = 0;
    return result == EX_OK && node < 0 ? ex_error_memory(error, "the template", sizeof *scene->nodes) : result;
}

ex_result exi_template_scene(const ex_kinematics *kinematics, const ex_mesh *mesh, const exi_share *shares,
                             ex_scene **made, ex_error *error) {
    ex_scene *scene = ex_scene_create();
    ex_result result = scene && add_joints(scene, kinematics)
                           ? add_mesh(scene, mesh, shares, error)
                           : ex_error_memory(error, "the template", (size_t)kinematics->joint_count * 100);
    if (result != EX_OK) {
        ex_scene_destroy(scene);
        scene = NULL;
    }
    *made = scene;
    return result;
}
