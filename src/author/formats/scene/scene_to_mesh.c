/*
 * Makes editable meshes from scenes: joins primitives, with vertices in their order.
 */
#include "author/formats/scene/scene.h"

#include "author/base/array.h"
#include "runtime/base/vector.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One primitive to be added to the mesh. */
typedef struct piece {
    exi_scene_part part; /* the primitive, and the index of its first vertex */
    const ex_scene_mesh *mesh;
    const ex_scene_primitive *primitive;
    const double *matrix;    /* [16], or NULL for none */
    const char *name;        /* of the group, before it is adapted for files */
    int number;              /* index of the primitive in its mesh, or -1 if it is the only one */
    exi_scene_texcoords use; /* of texture coordinates */
    bool shared;             /* true if its vertices are those of an earlier piece */
    int next;                /* number of the next piece of the same hash, counting from 1; 0 for none */
} piece;

enum { PIECE_LISTS = 1 << 12 };

typedef struct plan {
    const ex_scene *scene;
    piece *pieces;
    int piece_count;
    int lists[PIECE_LISTS]; /* pieces with vertices of their own, by hash: number of the newest, from 1; 0 for none */
    int vertex_count, face_count;
    exi_scene_texcoords *uses; /* [material_count], then that of no material */
    size_t part_most;          /* vertices or triangles that the mesh may have */
    bool texcoords, normals, colours, materials;
} plan;

/* ---- shared vertices ---- */

static bool same_floats(const float *a, const float *b, int count, size_t width) {
    return (a == NULL) == (b == NULL) && (!a || memcmp(a, b, (size_t)count * width * sizeof *a) == 0);
}

static bool same_vertices(const ex_scene_mesh *mesh, const ex_scene_primitive *a, const ex_scene_primitive *b) {
    int n = a->vertex_count;
    if (n != b->vertex_count || a->influence_count != b->influence_count ||
        !same_floats(a->positions, b->positions, n, 3))
        return false;
    size_t influences = (size_t)a->influence_count;
    if (!same_floats(a->normals, b->normals, n, 3) || !same_floats(a->tangents, b->tangents, n, 4) ||
        !same_floats(a->texcoords[0], b->texcoords[0], n, 2) || !same_floats(a->texcoords[1], b->texcoords[1], n, 2) ||
        !same_floats(a->colours, b->colours, n, 4) || !same_floats(a->weights, b->weights, n, influences) ||
        (a->joints && memcmp(a->joints, b->joints, (size_t)n * influences * sizeof *a->joints) != 0))
        return false;
    for (int t = 0; t < mesh->target_count; t++)
        if (!same_floats(a->targets[t].positions, b->targets[t].positions, n, 3) ||
            !same_floats(a->targets[t].normals, b->targets[t].normals, n, 3) ||
            !same_floats(a->targets[t].tangents, b->targets[t].tangents, n, 3))
            return false;
    return true;
}

/* ---- planning ---- */

/* Nodes may repeat a mesh; the joined mesh may have this many times the vertices of all meshes, or the second number
 * if that is more. A forest in a few kilobytes would fill the memory. */
enum { REPEAT_MOST = 16, REPEAT_SURE = 1 << 20 };

static size_t repeat_most(const ex_scene *scene) {
    size_t count = 0;
    for (int m = 0; m < scene->mesh_count; m++)
        for (int i = 0; i < scene->meshes[m].primitive_count; i++) {
            const ex_scene_primitive *primitive = &scene->meshes[m].primitives[i];
            const size_t vertices = (size_t)primitive->vertex_count;
            const size_t triangles = (size_t)exi_scene_triangle_count(primitive);
            count += vertices > triangles ? vertices : triangles;
        }
    return count > REPEAT_SURE / REPEAT_MOST ? count * REPEAT_MOST : REPEAT_SURE;
}

static ex_result check_repeats(const plan *p, ex_error *error) {
    if ((size_t)p->vertex_count <= p->part_most && (size_t)p->face_count <= p->part_most)
        return EX_OK;
    return ex_error_set(error, EX_ERROR_LIMIT,
                        "the nodes repeat meshes until the form would have more than %zu vertices or triangles, the "
                        "most for these meshes: delete nodes, or join them into one mesh and export again",
                        p->part_most);
}

/* Texture coordinates as the piece's material uses them; NULL for none. */
static const float *texcoords_of(const piece *from) {
    return from->use.set == 0 || from->use.set == 1 ? from->primitive->texcoords[from->use.set] : NULL;
}

static ex_result find_uses(plan *p, ex_error *error) {
    const int count = p->scene->material_count;
    p->uses = exi_array_allocate((size_t)count + 1, sizeof *p->uses);
    bool found = p->uses != NULL;
    for (int i = 0; found && i <= count; i++)
        found = exi_scene_find_texcoords(i < count ? &p->scene->materials[i] : NULL, &p->uses[i]);
    return found ? EX_OK : ex_error_memory(error, "the mesh", 0);
}

static ex_result add_piece(plan *p, piece added, int mesh_start, ex_error *error) {
    const ex_scene_primitive *primitive = added.primitive;
    added.use = p->uses[primitive->material >= 0 ? primitive->material : p->scene->material_count];
    /* Lists are newest first, so those of an earlier mesh end the search. */
    const uint64_t hash = exi_bytes_hash(primitive->positions, 3 * (size_t)primitive->vertex_count * sizeof(float));
    int *list = &p->lists[(hash + (uint64_t)mesh_start) % PIECE_LISTS];
    for (int i = *list; i > mesh_start && !added.shared; i = p->pieces[i - 1].next)
        if (added.use.set == p->pieces[i - 1].use.set &&
            memcmp(added.use.matrix, p->pieces[i - 1].use.matrix, sizeof added.use.matrix) == 0 &&
            same_vertices(added.mesh, p->pieces[i - 1].primitive, primitive)) {
            added.shared = true;
            added.part.first_vertex = p->pieces[i - 1].part.first_vertex;
        }
    if (!added.shared) {
        added.next = *list;
        *list = p->piece_count + 1;
        if (primitive->vertex_count > INT_MAX / 4 - p->vertex_count)
            return ex_error_set(error, EX_ERROR_LIMIT, "a mesh can have at most %d vertices", INT_MAX / 4);
        added.part.first_vertex = p->vertex_count;
        p->vertex_count += primitive->vertex_count;
    }
    int triangle[3], count = exi_scene_triangle_count(primitive);
    for (int t = 0; t < count; t++)
        p->face_count += exi_scene_triangle(primitive, t, triangle);
    if (p->face_count > INT_MAX / 4)
        return ex_error_set(error, EX_ERROR_LIMIT, "a mesh can have at most %d faces", INT_MAX / 4);
    p->texcoords = p->texcoords || texcoords_of(&added);
    p->normals = p->normals || primitive->normals;
    p->colours = p->colours || primitive->colours;
    p->materials = p->materials || primitive->material >= 0;
    p->pieces[p->piece_count++] = added;
    return check_repeats(p, error);
}

static ex_result add_pieces(plan *p, int node, int number, const char *name, const double *matrix, ex_error *error) {
    const ex_scene_mesh *mesh = &p->scene->meshes[number];
    int start = p->piece_count;
    ex_result result = EX_OK;
    for (int i = 0; i < mesh->primitive_count && result == EX_OK; i++)
        result = add_piece(p,
                           (piece){.part = {.node = node, .mesh = number, .primitive = i},
                                   .mesh = mesh,
                                   .primitive = &mesh->primitives[i],
                                   .matrix = matrix,
                                   .name = name         ? name
                                           : mesh->name ? mesh->name
                                                        : "mesh",
                                   .number = mesh->primitive_count > 1 ? i : -1},
                           start, error);
    return result;
}

/* ---- filling in ---- */

/* Transforms normals by the cofactors of the upper left 3×3; their determinant has the sign of the matrix. */
static void turn_normal(const double m[16], double v[3]) {
    double rows[3][3], out[3];
    for (int i = 0; i < 3; i++)
        exi_cross(m + 4 * ((i + 1) % 3), m + 4 * ((i + 2) % 3), rows[i]);
    double sign = exi_dot3(rows[0], m) < 0 ? -1 : 1;
    for (int r = 0; r < 3; r++)
        out[r] = sign * (rows[0][r] * v[0] + rows[1][r] * v[1] + rows[2][r] * v[2]);
    exi_normalise(out, 3);
    memcpy(v, out, sizeof out);
}

static void place(const double m[16], double v[3]) {
    double out[3];
    for (int r = 0; r < 3; r++)
        out[r] = m[r] * v[0] + m[4 + r] * v[1] + m[8 + r] * v[2] + m[12 + r];
    memcpy(v, out, sizeof out);
}

static void fill_vertices(const plan *p, const piece *from, ex_mesh *mesh) {
    const ex_scene_primitive *s = from->primitive;
    const float *texcoords = texcoords_of(from);
    for (size_t v = 0; v < (size_t)s->vertex_count && !from->shared; v++) {
        size_t to = (size_t)from->part.first_vertex + v;
        for (size_t k = 0; k < 3; k++) {
            mesh->positions[3 * to + k] = (double)s->positions[3 * v + k];
            if (p->normals)
                mesh->normals[3 * to + k] = s->normals ? (double)s->normals[3 * v + k] : 0;
            if (p->colours)
                mesh->colours[3 * to + k] = s->colours ? s->colours[4 * v + k] : 1;
        }
        if (p->texcoords) {
            const float *uv = texcoords ? texcoords + 2 * v : NULL;
            const double(*m)[3] = from->use.matrix;
            for (size_t k = 0; k < 2; k++)
                mesh->texcoords[2 * to + k] = uv ? m[k][0] * (double)uv[0] + m[k][1] * (double)uv[1] + m[k][2] : 0;
            mesh->texcoords[2 * to + 1] = uv ? 1 - mesh->texcoords[2 * to + 1] : 0;
        }
        if (from->matrix) {
            place(from->matrix, mesh->positions + 3 * to);
            if (s->normals)
                turn_normal(from->matrix, mesh->normals + 3 * to);
        }
    }
}

static bool mirrors(const double *m) {
    double cross[3];
    if (!m)
        return false;
    exi_cross(m, m + 4, cross);
    return exi_dot3(cross, m + 8) < 0;
}

static void fill_faces(const plan *p, int number, ex_mesh *mesh) {
    const piece *from = &p->pieces[number];
    const ex_scene_primitive *s = from->primitive;
    const float *texcoords = texcoords_of(from);
    const bool mirrored = mirrors(from->matrix);
    int triangle[3], count = exi_scene_triangle_count(s);
    for (int t = 0; t < count; t++) {
        if (!exi_scene_triangle(s, t, triangle))
            continue;
        int face = mesh->face_count++;
        for (int k = 0; k < 3; k++) {
            int corner = mesh->corner_count++, vertex = from->part.first_vertex + triangle[mirrored ? 2 - k : k];
            mesh->corners[corner] = vertex;
            if (p->texcoords)
                mesh->corner_texcoords[corner] = texcoords ? vertex : -1;
            if (p->normals)
                mesh->corner_normals[corner] = s->normals ? vertex : -1;
        }
        mesh->face_offsets[face + 1] = mesh->corner_count;
        mesh->face_groups[face] = number;
        if (p->materials)
            mesh->face_materials[face] = s->material;
    }
}

/* Makes a name of a group: one word, since blanks separate them. */
static char *make_name(const char *name, int number) {
    char suffix[16] = "";
    if (number >= 0)
        snprintf(suffix, sizeof suffix, ".%d", number);
    size_t size = strlen(name), suffix_size = strlen(suffix);
    char *made = exi_array_allocate(size + suffix_size + 1, 1);
    if (!made)
        return NULL;
    memcpy(made, name, size);
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)made[i] <= 0x20 || made[i] == 0x7F)
            made[i] = '_';
    memcpy(made + size, suffix, suffix_size + 1);
    return made;
}

static bool make_names(const plan *p, ex_mesh *mesh) {
    mesh->group_names = exi_array_allocate((size_t)p->piece_count, sizeof *mesh->group_names);
    for (int i = 0; mesh->group_names && i < p->piece_count; i++) {
        mesh->group_names[i] = make_name(p->pieces[i].name, p->pieces[i].number);
        if (!mesh->group_names[i])
            return false;
        mesh->group_count++;
    }
    if (!mesh->group_names || !p->materials)
        return mesh->group_names != NULL;
    mesh->material_names = exi_scene_material_names(p->scene);
    mesh->material_count = mesh->material_names ? p->scene->material_count : 0;
    return mesh->material_names != NULL;
}

static bool make_arrays(const plan *p, ex_mesh *mesh) {
    size_t vertices = (size_t)p->vertex_count, faces = (size_t)p->face_count;
    mesh->vertex_count = p->vertex_count;
    mesh->positions = exi_array_allocate(3 * vertices, sizeof *mesh->positions);
    mesh->face_offsets = exi_array_allocate(faces + 1, sizeof *mesh->face_offsets);
    mesh->corners = exi_array_allocate(3 * faces, sizeof *mesh->corners);
    mesh->face_groups = exi_array_allocate(faces, sizeof *mesh->face_groups);
    if (!mesh->positions || !mesh->face_offsets || !mesh->corners || !mesh->face_groups)
        return false;
    mesh->face_offsets[0] = 0;
    if (p->colours)
        mesh->colours = exi_array_allocate(3 * vertices, sizeof *mesh->colours);
    if (p->materials)
        mesh->face_materials = exi_array_allocate(faces, sizeof *mesh->face_materials);
    if (p->texcoords) {
        mesh->texcoord_count = p->vertex_count;
        mesh->texcoords = exi_array_allocate(2 * vertices, sizeof *mesh->texcoords);
        mesh->corner_texcoords = exi_array_allocate(3 * faces, sizeof *mesh->corner_texcoords);
    }
    if (p->normals) {
        mesh->normal_count = p->vertex_count;
        mesh->normals = exi_array_allocate(3 * vertices, sizeof *mesh->normals);
        mesh->corner_normals = exi_array_allocate(3 * faces, sizeof *mesh->corner_normals);
    }
    return (!p->colours || mesh->colours) && (!p->materials || mesh->face_materials) &&
           (!p->texcoords || (mesh->texcoords && mesh->corner_texcoords)) &&
           (!p->normals || (mesh->normals && mesh->corner_normals));
}

static ex_result carry_out(const plan *p, ex_mesh **made, ex_error *error) {
    ex_mesh *mesh = ex_mesh_create();
    if (!mesh || !make_arrays(p, mesh) || !make_names(p, mesh)) {
        ex_mesh_destroy(mesh);
        return ex_error_memory(error, "the mesh", (size_t)p->vertex_count * 3 * sizeof(double));
    }
    for (int i = 0; i < p->piece_count; i++) {
        fill_vertices(p, &p->pieces[i], mesh);
        fill_faces(p, i, mesh);
    }
    *made = mesh;
    return EX_OK;
}

/* ---- entry points ---- */

ex_result ex_scene_to_mesh(const ex_scene *scene, int mesh, ex_mesh **made, int *first_vertices, ex_error *error) {
    *made = NULL;
    if (mesh < 0 || mesh >= scene->mesh_count)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "there is no mesh %d: the scene has %d", mesh, scene->mesh_count);
    const ex_scene_mesh *chosen = &scene->meshes[mesh];
    plan p = {.scene = scene, .part_most = repeat_most(scene)};
    p.pieces = exi_array_allocate((size_t)chosen->primitive_count, sizeof *p.pieces);
    ex_result result = p.pieces ? find_uses(&p, error) : ex_error_memory(error, "the mesh", 0);
    if (result == EX_OK)
        result = add_pieces(&p, -1, mesh, NULL, NULL, error);
    if (result == EX_OK)
        result = carry_out(&p, made, error);
    for (int i = 0; result == EX_OK && first_vertices && i < p.piece_count; i++)
        first_vertices[i] = p.pieces[i].part.first_vertex;
    free(p.uses);
    free(p.pieces);
    return result;
}

bool *exi_scene_find_shown(const ex_scene *scene) {
    size_t nodes = (size_t)scene->node_count;
    int *order = exi_array_allocate(3 * nodes + 1, sizeof *order);
    bool *shown = exi_array_allocate(nodes, sizeof *shown);
    if (order && shown)
        exi_scene_order(scene, order, order + nodes);
    for (int i = 0; order && shown && i < scene->node_count; i++) {
        const ex_scene_node *node = &scene->nodes[order[i]];
        shown[order[i]] = node->parent < 0 ? !node->hidden : shown[node->parent];
    }
    if (!order) {
        free(shown);
        shown = NULL;
    }
    free(order);
    return shown;
}

/* Plans the pieces of all wanted nodes with a mesh; of all meshes if there is no node at all. */
static ex_result plan_form(plan *p, const bool *wanted, const double *worlds, ex_error *error) {
    const ex_scene *scene = p->scene;
    ex_result result = EX_OK;
    for (int n = 0; n < scene->node_count && result == EX_OK; n++) {
        const ex_scene_node *node = &scene->nodes[n];
        if (node->mesh < 0 || !wanted[n])
            continue;
        const double *matrix = node->skin >= 0 ? NULL : worlds + 16 * (size_t)n;
        result = add_pieces(p, n, node->mesh, node->name, matrix, error);
    }
    for (int m = 0; scene->node_count == 0 && m < scene->mesh_count && result == EX_OK; m++)
        result = add_pieces(p, -1, m, NULL, NULL, error);
    if (result == EX_OK && p->piece_count == 0)
        result = ex_error_set(error, EX_ERROR_DATA, "there is no mesh in the scene%s",
                              scene->animation_count > 0 ? ", only motion: 'exemplar bake RIG.glb --motion FILE' plays "
                                                           "it on a rig whose joints have the same names"
                                                         : "");
    return result;
}

static size_t count_pieces(const ex_scene *scene) {
    size_t count = 0;
    for (int n = 0; n < scene->node_count; n++)
        if (scene->nodes[n].mesh >= 0)
            count += (size_t)scene->meshes[scene->nodes[n].mesh].primitive_count;
    for (int m = 0; scene->node_count == 0 && m < scene->mesh_count; m++)
        count += (size_t)scene->meshes[m].primitive_count;
    return count;
}

ex_result exi_scene_join(const ex_scene *scene, const bool *wanted, ex_mesh **made, exi_scene_part **parts,
                         int *part_count, ex_error *error) {
    *made = NULL;
    plan p = {.scene = scene, .part_most = repeat_most(scene)};
    p.pieces = exi_array_allocate(count_pieces(scene), sizeof *p.pieces);
    double *worlds = exi_array_allocate(16 * (size_t)scene->node_count, sizeof *worlds);
    exi_scene_part *list = parts ? exi_array_allocate(count_pieces(scene), sizeof *list) : NULL;
    ex_result result =
        p.pieces && worlds && (!parts || list) ? EX_OK : ex_error_memory(error, "the mesh", count_pieces(scene));
    if (result == EX_OK)
        result = ex_scene_worlds(scene, NULL, worlds, error);
    if (result == EX_OK)
        result = find_uses(&p, error);
    if (result == EX_OK)
        result = plan_form(&p, wanted, worlds, error);
    if (result == EX_OK)
        result = carry_out(&p, made, error);
    if (result == EX_OK && parts) {
        for (int i = 0; i < p.piece_count; i++)
            list[i] = p.pieces[i].part;
        *parts = list;
        *part_count = p.piece_count;
    } else {
        free(list);
    }
    free(worlds);
    free(p.uses);
    free(p.pieces);
    return result;
}

ex_result ex_scene_to_form(const ex_scene *scene, ex_mesh **made, ex_error *error) {
    *made = NULL;
    bool *shown = exi_scene_find_shown(scene);
    ex_result result =
        shown ? exi_scene_join(scene, shown, made, NULL, NULL, error) : ex_error_memory(error, "the mesh", 0);
    free(shown);
    return result;
}
