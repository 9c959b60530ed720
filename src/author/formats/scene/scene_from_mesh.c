/*
 * Makes scenes from editable meshes: one primitive for every pair of group and material, cut into triangles, with
 * vertices split where corners differ in texture coordinate or normal.
 */
#include "author/formats/scene/scene.h"

#include "author/base/array.h"
#include "author/base/names.h"
#include "author/mesh/mesh_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A corner, and the attributes by which its vertex splits. */
typedef struct corner_key {
    int vertex, texcoord, normal, corner;
} corner_key;

/* State for one mesh. Primitives whose group and material have one hash form a list: first[hash], next[primitive]; so
 * do the faces of a primitive, in their order: faces[primitive], next_face[face]. */
typedef struct maker {
    const ex_mesh *mesh;
    ex_error *error;
    const int *material_numbers; /* [material_count of the mesh] in the scene */
    int *triangles, triangle_count;
    int *first, *next, *groups, *materials, *faces, *last_faces, *next_face;
    int primitive_count;
    corner_key *keys;   /* of one primitive at a time */
    int *corner_vertex; /* [corner_count] vertex in the primitive, of one primitive at a time */
} maker;

static ex_result no_memory(const maker *m) {
    return ex_error_memory(m->error, "the mesh", (size_t)m->mesh->corner_count * sizeof(corner_key));
}

/* ---- faces to primitives ---- */

static int find_primitive(maker *m, int group, int material) {
    const uint64_t mixed = ((uint64_t)(unsigned)group << 32 | (unsigned)material) * 0x9E3779B97F4A7C15u >> 16;
    int *link = &m->first[mixed % ((uint64_t)m->mesh->face_count + 1)];
    while (*link >= 0) {
        if (m->groups[*link] == group && m->materials[*link] == material)
            return *link;
        link = &m->next[*link];
    }
    int made = m->primitive_count++;
    *link = made;
    m->next[made] = -1;
    m->groups[made] = group;
    m->materials[made] = material;
    m->faces[made] = m->last_faces[made] = -1;
    return made;
}

static ex_result sort_faces(maker *m) {
    const ex_mesh *mesh = m->mesh;
    size_t faces = (size_t)mesh->face_count, corners = (size_t)mesh->corner_count;
    int **lists[] = {&m->next, &m->groups, &m->materials, &m->faces, &m->last_faces, &m->next_face};
    bool good = true;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        *lists[i] = exi_array_allocate(faces, sizeof **lists[i]);
        good = good && *lists[i];
    }
    m->first = exi_array_allocate(faces + 1, sizeof(int));
    m->keys = exi_array_allocate(corners, sizeof *m->keys);
    m->corner_vertex = exi_array_allocate(corners, sizeof(int));
    if (!good || !m->first || !m->keys || !m->corner_vertex)
        return no_memory(m);
    for (size_t i = 0; i <= faces; i++)
        m->first[i] = -1;
    for (int f = 0; f < mesh->face_count; f++) {
        int group = mesh->face_groups ? mesh->face_groups[f] : -1;
        int material = mesh->face_materials ? mesh->face_materials[f] : -1;
        if (group < -1 || group >= mesh->group_count || material < -1 || material >= mesh->material_count)
            return ex_error_set(m->error, EX_ERROR_DATA,
                                "face %d of the mesh (counting from 0) has a group or material that does not exist", f);
        int primitive = find_primitive(m, group, material);
        int *link = m->faces[primitive] < 0 ? &m->faces[primitive] : &m->next_face[m->last_faces[primitive]];
        *link = m->last_faces[primitive] = f;
        m->next_face[f] = -1;
    }
    return EX_OK;
}

/* ---- vertices of a primitive ---- */

static int compare_keys(const void *a, const void *b) {
    const int *x = (const int *)a, *y = (const int *)b;
    for (int i = 0; i < 4; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return 0;
}

/* Fills keys with one entry per vertex of the primitive, and corner_vertex for its corners. Returns how many. */
static int split_vertices(maker *m, int primitive) {
    const ex_mesh *mesh = m->mesh;
    size_t count = 0;
    for (int f = m->faces[primitive]; f >= 0; f = m->next_face[f])
        for (int c = mesh->face_offsets[f]; c < mesh->face_offsets[f + 1]; c++)
            m->keys[count++] = (corner_key){.vertex = mesh->corners[c],
                                            .texcoord = mesh->corner_texcoords ? mesh->corner_texcoords[c] : -1,
                                            .normal = mesh->corner_normals ? mesh->corner_normals[c] : -1,
                                            .corner = c};
    qsort(m->keys, count, sizeof *m->keys, compare_keys);
    int made = 0;
    for (size_t i = 0; i < count; i++) {
        corner_key key = m->keys[i];
        if (made == 0 || memcmp(&key, &m->keys[made - 1], 3 * sizeof(int)) != 0)
            m->keys[made++] = key;
        m->corner_vertex[key.corner] = made - 1;
    }
    return made;
}

static ex_result fill_positions(const maker *m, ex_scene_primitive *p) {
    for (size_t v = 0; v < (size_t)p->vertex_count; v++)
        for (size_t k = 0; k < 3; k++) {
            p->positions[3 * v + k] = (float)m->mesh->positions[3 * (size_t)p->sources[v] + k];
            if (!isfinite(p->positions[3 * v + k]))
                return ex_error_set(m->error, EX_ERROR_DATA,
                                    "vertex %d of the mesh (counting from 0) is not finite as a float", p->sources[v]);
        }
    for (size_t v = 0; p->colours && v < (size_t)p->vertex_count; v++)
        for (size_t k = 0; k < 4; k++)
            p->colours[4 * v + k] = k < 3 ? m->mesh->colours[3 * (size_t)p->sources[v] + k] : 1;
    return EX_OK;
}

static void fill_corners(const maker *m, ex_scene_primitive *p) {
    const ex_mesh *mesh = m->mesh;
    for (size_t v = 0; v < (size_t)p->vertex_count; v++) {
        const corner_key *key = &m->keys[v];
        if (p->texcoords[0]) {
            const double *from = key->texcoord >= 0 ? mesh->texcoords + 2 * (size_t)key->texcoord : NULL;
            p->texcoords[0][2 * v] = from ? (float)from[0] : 0;
            p->texcoords[0][2 * v + 1] = from ? (float)(1 - from[1]) : 0;
        }
        for (size_t k = 0; p->normals && k < 3; k++)
            p->normals[3 * v + k] = (float)mesh->normals[3 * (size_t)key->normal + k];
    }
}

static ex_result make_primitive(maker *m, int number, ex_scene_primitive *p) {
    const ex_mesh *mesh = m->mesh;
    size_t n, indices = 0, at = 0;
    for (int f = m->faces[number]; f >= 0; f = m->next_face[f])
        indices += 3 * (size_t)(mesh->face_offsets[f + 1] - mesh->face_offsets[f] - 2);
    p->mode = EX_SCENE_TRIANGLES;
    p->material = m->materials[number] >= 0 ? m->material_numbers[m->materials[number]] : -1;
    p->vertex_count = split_vertices(m, number);
    n = (size_t)p->vertex_count;
    bool any_texcoord = false, all_normals = true;
    for (size_t v = 0; v < n; v++) {
        any_texcoord = any_texcoord || m->keys[v].texcoord >= 0;
        all_normals = all_normals && m->keys[v].normal >= 0;
    }
    p->positions = exi_array_allocate(3 * n, sizeof *p->positions);
    p->sources = exi_array_allocate(n, sizeof *p->sources);
    p->indices = exi_array_allocate(indices, sizeof *p->indices);
    p->texcoords[0] = any_texcoord ? exi_array_allocate(2 * n, sizeof(float)) : NULL;
    p->normals = all_normals ? exi_array_allocate(3 * n, sizeof(float)) : NULL;
    p->colours = mesh->colours ? exi_array_allocate(4 * n, sizeof(float)) : NULL;
    if (!p->positions || !p->sources || !p->indices || (any_texcoord && !p->texcoords[0]) ||
        (all_normals && !p->normals) || (mesh->colours && !p->colours))
        return no_memory(m);
    for (size_t v = 0; v < n; v++)
        p->sources[v] = m->keys[v].vertex;
    fill_corners(m, p);
    /* A face of n corners has n - 2 triangles, and these are in the order of the faces. */
    for (int f = m->faces[number]; f >= 0; f = m->next_face[f])
        for (int t = mesh->face_offsets[f] - 2 * f; t < mesh->face_offsets[f + 1] - 2 * (f + 1); t++)
            for (size_t k = 0; k < 3; k++)
                p->indices[at++] = m->corner_vertex[m->triangles[3 * (size_t)t + k]];
    p->index_count = (int)at;
    return fill_positions(m, p);
}

/* Turns a mesh without faces into points. */
static ex_result make_points(maker *m, ex_scene_primitive *p) {
    size_t n = (size_t)m->mesh->vertex_count;
    *p = (ex_scene_primitive){.mode = EX_SCENE_POINTS, .material = -1, .vertex_count = m->mesh->vertex_count};
    p->positions = exi_array_allocate(3 * n, sizeof *p->positions);
    p->sources = exi_array_allocate(n, sizeof *p->sources);
    p->colours = m->mesh->colours ? exi_array_allocate(4 * n, sizeof *p->colours) : NULL;
    if (!p->positions || !p->sources || (m->mesh->colours && !p->colours))
        return no_memory(m);
    for (size_t v = 0; v < n; v++)
        p->sources[v] = (int)v;
    return fill_positions(m, p);
}

static ex_result make_primitives(maker *m, ex_scene_mesh *out) {
    const ex_mesh *mesh = m->mesh;
    if (mesh->vertex_count == 0)
        return ex_error_set(m->error, EX_ERROR_DATA, "the mesh has no vertices");
    ex_result result = exi_mesh_check_faces(mesh, m->error);
    if (result == EX_OK && mesh->face_count > 0)
        result = ex_mesh_triangulate(mesh, &m->triangles, &m->triangle_count, m->error);
    if (result == EX_OK && mesh->face_count > 0)
        result = sort_faces(m);
    if (result != EX_OK)
        return result;
    int count = mesh->face_count > 0 ? m->primitive_count : 1;
    out->primitives = exi_array_allocate((size_t)count, sizeof *out->primitives);
    if (!out->primitives)
        return no_memory(m);
    for (int p = 0; p < count && result == EX_OK; p++) {
        out->primitives[p] = (ex_scene_primitive){0};
        out->primitive_count = p + 1;
        result = mesh->face_count > 0 ? make_primitive(m, p, &out->primitives[p]) : make_points(m, &out->primitives[p]);
    }
    return result;
}

/* ---- into the scene ---- */

/* Makes room for the mesh and its materials, without counting them yet. */
static bool make_room(ex_scene *scene, int material_count) {
    ex_scene_mesh *meshes = realloc(scene->meshes, ((size_t)scene->mesh_count + 1) * sizeof *meshes);
    if (meshes)
        scene->meshes = meshes;
    if (!meshes || material_count == 0)
        return meshes != NULL;
    ex_scene_material *materials =
        realloc(scene->materials, ((size_t)scene->material_count + (size_t)material_count) * sizeof *materials);
    if (materials)
        scene->materials = materials;
    return materials != NULL;
}

/* Numbers the mesh's materials: those that the scene has by their names, the others after its last; *added: how many
 * those others are. False without memory. */
static bool number_materials(const ex_scene *scene, const ex_mesh *mesh, int *numbers, int *added) {
    exi_names known;
    if (!exi_names_open(&known, scene->material_count))
        return false;
    for (int i = 0; i < scene->material_count; i++)
        if (scene->materials[i].name)
            exi_names_add(&known, scene->materials[i].name, i);
    for (int i = 0; i < mesh->material_count; i++) {
        const int *number = exi_names_find(&known, mesh->material_names[i]);
        numbers[i] = number ? *number : scene->material_count + (*added)++;
    }
    exi_names_close(&known);
    return true;
}

static bool add_materials(ex_scene *scene, const ex_mesh *mesh, const int *numbers) {
    int before = scene->material_count;
    for (int i = 0; i < mesh->material_count; i++) {
        if (numbers[i] < scene->material_count)
            continue;
        ex_scene_material *material = &scene->materials[scene->material_count];
        *material = exi_scene_default_material();
        material->metallic = 0; /* a material with only a name is not metallic */
        material->name = exi_text_copy(mesh->material_names[i], strlen(mesh->material_names[i]));
        if (!material->name) {
            while (scene->material_count > before)
                free(scene->materials[--scene->material_count].name);
            return false;
        }
        scene->material_count++;
    }
    return true;
}

static void free_maker(maker *m) {
    free(m->triangles);
    free(m->first);
    free(m->next);
    free(m->groups);
    free(m->materials);
    free(m->faces);
    free(m->last_faces);
    free(m->next_face);
    free(m->keys);
    free(m->corner_vertex);
}

ex_result ex_scene_add_mesh(ex_scene *scene, const ex_mesh *mesh, const char *name, int *number, ex_error *error) {
    int *numbers = exi_array_allocate((size_t)mesh->material_count, sizeof *numbers);
    maker m = {.mesh = mesh, .error = error, .material_numbers = numbers};
    ex_scene_mesh made = {0};
    int added = 0;
    ex_result result =
        numbers && number_materials(scene, mesh, numbers, &added) ? make_primitives(&m, &made) : no_memory(&m);
    if (result == EX_OK && name) {
        made.name = exi_text_copy(name, strlen(name));
        if (!made.name)
            result = no_memory(&m);
    }
    if (result == EX_OK && (!make_room(scene, added) || !add_materials(scene, mesh, numbers)))
        result = no_memory(&m);
    free_maker(&m);
    free(numbers);
    if (result != EX_OK) {
        exi_scene_free_mesh(&made);
        return result;
    }
    if (number)
        *number = scene->mesh_count;
    scene->meshes[scene->mesh_count++] = made;
    return EX_OK;
}
