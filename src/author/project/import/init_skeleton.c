/*
 * Writes a scene's skin to a separate file: the joints, the nodes above them, whose transforms move them too, and the
 * mesh with its weights in the order of the project's vertices, so that reading needs no search by position.
 */
#include "author/project/import/init.h"

#include "author/base/array.h"
#include "author/base/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- nodes ---- */

/* numbers [node_count]: index of a node in the new scene, -1 if it is left out. */
static void number_nodes(const ex_scene *scene, const ex_scene_skin *skin, int *numbers) {
    int count = 0;
    for (int n = 0; n < scene->node_count; n++)
        numbers[n] = -1;
    for (int i = 0; i < skin->joint_count; i++)
        for (int n = skin->joints[i]; n >= 0 && numbers[n] < 0; n = scene->nodes[n].parent)
            numbers[n] = 0;
    for (int n = 0; n < scene->node_count; n++)
        if (numbers[n] >= 0)
            numbers[n] = count++;
}

static bool add_nodes(const exi_init *init, const int *numbers, ex_scene *made) {
    for (int n = 0; n < init->scene->node_count; n++) {
        const ex_scene_node *from = &init->scene->nodes[n];
        if (numbers[n] < 0)
            continue;
        const int node = ex_scene_add_node(made, from->name, -1, -1);
        if (node < 0)
            return false;
        made->nodes[node].transform = from->transform;
    }
    for (int n = 0; n < init->scene->node_count; n++)
        if (numbers[n] >= 0 && init->scene->nodes[n].parent >= 0)
            made->nodes[numbers[n]].parent = numbers[init->scene->nodes[n].parent];
    return true;
}

/* Joints are found by name, so each needs a unique one. The number stored with a name is the next to try as a suffix,
 * since a file may give all its joints the same name. */
static bool joint_taken(const void *context, const char *name) {
    return exi_names_find(context, name) != NULL;
}

static void make_unique(char name[EXI_NAME_MAX + 1], const exi_names *names) {
    int *next = exi_names_find(names, name);
    if (next)
        *next = exi_name_make_unique(name, *next, joint_taken, names);
}

static bool rename_joints(const exi_init *init, exi_names *names) {
    const ex_scene *scene = init->scene;
    for (int i = 0; i < scene->skins[0].joint_count; i++) {
        ex_scene_node *node = &scene->nodes[scene->skins[0].joints[i]];
        char name[EXI_NAME_MAX + 1];
        if (node->name && node->name[0])
            exi_name_clean(node->name, name);
        else
            snprintf(name, sizeof name, "joint %d", i);
        const bool clean = node->name && strcmp(node->name, name) == 0;
        make_unique(name, names);
        if (node->name && strcmp(node->name, name) == 0) {
            exi_names_add(names, node->name, 2);
            continue;
        }
        if (node->name && node->name[0])
            exi_init_note(init, "joint '%s' is called '%s' in the project, because names %s", node->name, name,
                          clean ? "must be unique" : "are short and have no control characters");
        char *copy = exi_text_copy(name, strlen(name));
        if (!copy)
            return false;
        free(node->name);
        node->name = copy;
        exi_names_add(names, node->name, 2);
    }
    return true;
}

bool exi_init_name_joints(const exi_init *init) {
    exi_names names;
    if (init->scene->skin_count == 0)
        return true;
    const bool good = exi_names_open(&names, init->scene->skins[0].joint_count) && rename_joints(init, &names);
    exi_names_close(&names);
    return good;
}

static bool add_skin(const exi_init *init, const int *numbers, ex_scene *made) {
    const ex_scene_skin *from = &init->scene->skins[0];
    ex_scene_skin *skin = made->skins = calloc(1, sizeof *skin);
    if (!skin)
        return false;
    made->skin_count = 1;
    skin->skeleton = -1;
    skin->joints = exi_array_allocate((size_t)from->joint_count, sizeof *skin->joints);
    if (from->inverse_binds)
        skin->inverse_binds = exi_array_copy(from->inverse_binds, (size_t)from->joint_count, 16 * sizeof(float));
    if (!skin->joints || (from->inverse_binds && !skin->inverse_binds))
        return false;
    skin->joint_count = from->joint_count;
    for (int i = 0; i < from->joint_count; i++)
        skin->joints[i] = numbers[from->joints[i]];
    return true;
}

/* ---- the mesh ---- */

static const ex_scene_primitive *primitive_of(const exi_init *init, const exi_scene_part *part) {
    return &init->scene->meshes[part->mesh].primitives[part->primitive];
}

static void fill_influences(const exi_init *init, ex_scene_primitive *made) {
    const size_t most = (size_t)made->influence_count;
    for (int i = 0; i < init->part_count; i++) {
        const ex_scene_primitive *from = primitive_of(init, &init->parts[i]);
        const size_t own = (size_t)from->influence_count;
        for (size_t v = 0; v < (size_t)from->vertex_count; v++)
            for (size_t k = 0; k < most; k++) {
                const size_t at = exi_init_vertex(init, &init->parts[i], v) * most + k;
                made->joints[at] = k < own ? from->joints[v * own + k] : 0;
                made->weights[at] = k < own ? from->weights[v * own + k] : 0;
            }
    }
}

static bool fill_primitive(const exi_init *init, ex_scene_primitive *p) {
    const size_t count = (size_t)init->mesh->vertex_count;
    *p = (ex_scene_primitive){.mode = init->mesh->corner_count > 0 ? EX_SCENE_TRIANGLES : EX_SCENE_POINTS,
                              .material = -1,
                              .vertex_count = init->mesh->vertex_count};
    for (int i = 0; i < init->part_count; i++) {
        const int own = primitive_of(init, &init->parts[i])->influence_count;
        p->influence_count = own > p->influence_count ? own : p->influence_count;
    }
    const size_t influences = count * (size_t)p->influence_count;
    p->positions = exi_array_allocate(3 * count, sizeof *p->positions);
    p->joints = exi_array_allocate(influences, sizeof *p->joints);
    p->weights = exi_array_allocate(influences, sizeof *p->weights);
    if (init->mesh->corner_count > 0) {
        p->indices = exi_array_copy(init->mesh->corners, (size_t)init->mesh->corner_count, sizeof *p->indices);
        p->index_count = p->indices ? init->mesh->corner_count : 0;
    }
    if (!p->positions || !p->joints || !p->weights || p->index_count != init->mesh->corner_count)
        return false;
    for (size_t i = 0; i < 3 * count; i++)
        p->positions[i] = (float)init->mesh->positions[i];
    fill_influences(init, p);
    return true;
}

static bool add_mesh(const exi_init *init, ex_scene *made) {
    made->meshes = calloc(1, sizeof *made->meshes);
    if (!made->meshes)
        return false;
    made->mesh_count = 1;
    made->meshes[0].primitives = calloc(1, sizeof *made->meshes[0].primitives);
    if (!made->meshes[0].primitives)
        return false;
    made->meshes[0].primitive_count = 1;
    const int node = fill_primitive(init, &made->meshes[0].primitives[0]) ? ex_scene_add_node(made, NULL, -1, 0) : -1;
    if (node >= 0)
        made->nodes[node].skin = 0;
    return node >= 0;
}

/* ---- the whole ---- */

ex_result exi_init_make_skeleton(exi_init *init, ex_error *error) {
    int *numbers = exi_array_allocate((size_t)init->scene->node_count, sizeof *numbers);
    ex_scene *made = init->skeleton = ex_scene_create();
    bool good = numbers && made;
    if (good) {
        number_nodes(init->scene, &init->scene->skins[0], numbers);
        good = add_nodes(init, numbers, made) && add_skin(init, numbers, made) && add_mesh(init, made);
    }
    free(numbers);
    return good ? EX_OK : ex_error_memory(error, "the skeleton", (size_t)init->mesh->vertex_count * 48);
}
