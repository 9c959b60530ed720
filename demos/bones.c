/*
 * Skeletons and skins of demos, as scenes: joints are the scene's first nodes, with the axes of the world and bound at
 * their positions, and a formula gives the weights of every vertex from its place at rest.
 */
#include "bones.h"

#include "common/array.h"

#include <stdlib.h>
#include <string.h>

/* glTF requires index 0 for joints without weight. */
static bool skin_primitive(const exi_bones *bones, ex_scene_primitive *primitive) {
    const size_t count = (size_t)primitive->vertex_count;
    primitive->influence_count = BONES_MAX;
    primitive->joints = array_allocate(BONES_MAX * count, sizeof *primitive->joints);
    primitive->weights = array_allocate(BONES_MAX * count, sizeof *primitive->weights);
    if (!primitive->joints || !primitive->weights)
        return false;
    for (size_t v = 0; v < count; v++) {
        const float *p = primitive->positions + 3 * v;
        float *weights = primitive->weights + BONES_MAX * v;
        bones->weigh((const double[3]){(double)p[0], (double)p[1], (double)p[2]}, weights);
        for (int i = 0; i < BONES_MAX; i++)
            primitive->joints[BONES_MAX * v + (size_t)i] = weights[i] > 0 ? (uint16_t)i : 0;
    }
    return true;
}

static bool add_skin(const exi_bones *bones, ex_scene *scene) {
    ex_scene_skin *skin = scene->skins = calloc(1, sizeof *scene->skins);
    if (!skin)
        return false;
    scene->skin_count = 1;
    skin->joint_count = bones->count;
    skin->skeleton = 0;
    skin->name = text_copy(bones->name);
    skin->joints = array_allocate((size_t)bones->count, sizeof *skin->joints);
    skin->inverse_binds = calloc((size_t)bones->count, 16 * sizeof *skin->inverse_binds);
    if (!skin->name || !skin->joints || !skin->inverse_binds)
        return false;
    for (int j = 0; j < bones->count; j++) {
        float *m = skin->inverse_binds + 16 * j;
        skin->joints[j] = j;
        m[0] = m[5] = m[10] = m[15] = 1;
        for (int c = 0; c < 3; c++)
            m[12 + c] = 0 - (float)bones->bones[j].place[c];
    }
    return true;
}

static bool add_joints(const exi_bones *bones, ex_scene *scene) {
    for (int j = 0; j < bones->count; j++) {
        const exi_bone *bone = &bones->bones[j], *parent = bone->parent < 0 ? NULL : &bones->bones[bone->parent];
        if (ex_scene_add_node(scene, bone->name, bone->parent, -1) != j)
            return false;
        /* Rounded to float, so that joints and inverse binds cancel. */
        for (int c = 0; c < 3; c++)
            scene->nodes[j].transform.translation[c] =
                (double)(float)bone->place[c] - (parent ? (double)(float)parent->place[c] : 0);
    }
    return true;
}

/* The vertices must be the project's, one by one. A scene splits them at texture seams, so this mesh has none. */
static ex_mesh *without_seams(const ex_mesh *rest) {
    ex_mesh *bare = ex_mesh_copy(rest);
    if (bare) {
        free(bare->texcoords);
        free(bare->corner_texcoords);
        bare->texcoords = NULL;
        bare->corner_texcoords = NULL;
        bare->texcoord_count = 0;
    }
    return bare;
}

ex_result exi_bones_scene(const exi_bones *bones, const ex_mesh *rest, ex_scene **scene, ex_error *error) {
    ex_scene *made = ex_scene_create();
    ex_mesh *bare = without_seams(rest);
    int mesh = -1, node = -1;
    ex_result result = EX_OK;
    bool memory = made && bare && add_joints(bones, made) && add_skin(bones, made);
    if (memory)
        result = ex_scene_add_mesh(made, bare, bones->name, &mesh, error);
    ex_mesh_destroy(bare);
    if (memory && result == EX_OK) {
        node = ex_scene_add_node(made, bones->name, -1, mesh);
        memory = node >= 0 && skin_primitive(bones, &made->meshes[mesh].primitives[0]);
    }
    if (!memory || result != EX_OK) {
        ex_scene_destroy(made);
        return memory ? result : ex_error_memory(error, "a skin", 0);
    }
    made->nodes[node].skin = 0;
    *scene = made;
    return EX_OK;
}

ex_result exi_bones_write(const exi_bones *bones, const ex_mesh *rest, const char *directory, ex_error *error) {
    ex_scene *scene = NULL;
    ex_result result = exi_bones_scene(bones, rest, &scene, error);
    if (result == EX_OK)
        result = exi_demo_write_scene(directory, "skeleton.glb", scene, error);
    ex_scene_destroy(scene);
    return result;
}
