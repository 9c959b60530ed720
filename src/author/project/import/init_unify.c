/*
 * Makes one scene of all parts of a character, with one skin (init_unify.h).
 */
#include "author/project/import/init_unify.h"

#include "author/base/array.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- moving vertices ---- */

static void move_points(const double m[16], float *points, size_t count, double w) {
    for (size_t v = 0; v < count; v++) {
        float *p = points + 3 * v;
        const double x[3] = {(double)p[0], (double)p[1], (double)p[2]};
        for (int r = 0; r < 3; r++)
            p[r] = (float)(m[r] * x[0] + m[4 + r] * x[1] + m[8 + r] * x[2] + w * m[12 + r]);
    }
}

/* Normals turn by the cofactors, whose determinant has the sign of the matrix. */
static void turn_normals(const double m[16], float *normals, size_t count) {
    double rows[3][3];
    for (int i = 0; i < 3; i++)
        exi_cross(m + 4 * ((i + 1) % 3), m + 4 * ((i + 2) % 3), rows[i]);
    const double sign = exi_dot3(rows[0], m) < 0 ? -1 : 1;
    for (size_t v = 0; v < count; v++) {
        double out[3];
        for (int r = 0; r < 3; r++)
            out[r] = sign * (rows[0][r] * (double)normals[3 * v] + rows[1][r] * (double)normals[3 * v + 1] +
                             rows[2][r] * (double)normals[3 * v + 2]);
        if (exi_normalise(out, 3))
            for (int r = 0; r < 3; r++)
                normals[3 * v + (size_t)r] = (float)out[r];
    }
}

static void move_primitive(const double m[16], ex_scene_primitive *p, int target_count) {
    const size_t count = (size_t)p->vertex_count;
    move_points(m, p->positions, count, 1);
    if (p->normals)
        turn_normals(m, p->normals, count);
    for (int t = 0; p->targets && t < target_count; t++)
        if (p->targets[t].positions)
            move_points(m, p->targets[t].positions, count, 0);
}

/* ---- copies ---- */

static float *copy_floats(const float *from, size_t count, bool *good) {
    float *copy = from ? exi_array_copy(from, count, sizeof *copy) : NULL;
    *good = *good && (copy || !from);
    return copy;
}

/* Copies the triangles of a primitive as a list; with `turned`, each the other way round. */
static bool copy_triangles(const ex_scene_primitive *from, bool turned, ex_scene_primitive *to) {
    const int most = exi_scene_triangle_count(from);
    if (most == 0)
        return true;
    to->indices = exi_array_allocate(3 * (size_t)most, sizeof *to->indices);
    to->index_count = 0;
    for (int t = 0; to->indices && t < most; t++) {
        int triangle[3];
        if (!exi_scene_triangle(from, t, triangle))
            continue;
        for (int k = 0; k < 3; k++)
            to->indices[to->index_count++] = triangle[turned ? 2 - k : k];
    }
    if (to->indices && to->index_count == 0) {
        free(to->indices);
        to->indices = NULL;
        to->mode = EX_SCENE_POINTS;
        return true;
    }
    to->mode = EX_SCENE_TRIANGLES;
    return to->indices != NULL;
}

/* Copies what the project keeps: normals of targets and tangents are made anew. */
static bool copy_primitive(const ex_scene_primitive *from, int target_count, bool turned, ex_scene_primitive *to) {
    const size_t count = (size_t)from->vertex_count, influences = count * (size_t)from->influence_count;
    bool good = true;
    *to = (ex_scene_primitive){.mode = exi_scene_triangle_count(from) > 0 ? EX_SCENE_TRIANGLES : EX_SCENE_POINTS,
                               .material = from->material,
                               .vertex_count = from->vertex_count,
                               .empty_count = from->empty_count,
                               .first_empty = from->first_empty,
                               .influence_count = from->influence_count};
    to->positions = copy_floats(from->positions, 3 * count, &good);
    to->normals = copy_floats(from->normals, 3 * count, &good);
    to->texcoords[0] = copy_floats(from->texcoords[0], 2 * count, &good);
    to->texcoords[1] = copy_floats(from->texcoords[1], 2 * count, &good);
    to->colours = copy_floats(from->colours, 4 * count, &good);
    to->weights = copy_floats(influences > 0 ? from->weights : NULL, influences, &good);
    to->joints = influences > 0 ? exi_array_copy(from->joints, influences, sizeof *to->joints) : NULL;
    to->targets = target_count > 0 ? calloc((size_t)target_count, sizeof *to->targets) : NULL;
    good = good && (to->joints || influences == 0) && (to->targets || target_count == 0);
    for (int t = 0; good && from->targets && t < target_count; t++)
        to->targets[t].positions = copy_floats(from->targets[t].positions, 3 * count, &good);
    return good && copy_triangles(from, turned, to);
}

static bool copy_texts(const ex_scene_mesh *from, ex_scene_mesh *to) {
    const size_t targets = (size_t)from->target_count;
    bool good = true;
    if (from->name) {
        to->name = exi_text_copy(from->name, strlen(from->name));
        good = to->name != NULL;
    }
    if (good && from->target_names) {
        to->target_names = calloc(targets + 1, sizeof *to->target_names);
        good = to->target_names != NULL;
    }
    for (size_t t = 0; good && from->target_names && t < targets; t++)
        if (from->target_names[t]) {
            to->target_names[t] = exi_text_copy(from->target_names[t], strlen(from->target_names[t]));
            good = to->target_names[t] != NULL;
        }
    if (good && from->weights) {
        to->weights = exi_array_copy(from->weights, targets, sizeof *to->weights);
        good = to->weights != NULL;
    }
    return good;
}

/* ---- parts ---- */

/* Joins a primitive to the common skin as its own skin had it. */
static void carry_over(const exi_unify *u, int skin, ex_scene_primitive *p, int target_count) {
    const exi_bound_skin *bound = &u->skins[skin];
    for (size_t k = 0; k < (size_t)p->vertex_count * (size_t)p->influence_count; k++)
        p->joints[k] = (uint16_t)bound->joints[p->joints[k]];
    if (!bound->still)
        move_primitive(bound->carry, p, target_count);
}

/* Hangs a primitive on the nearest joint at or above its node. */
static bool hang(const exi_unify *u, int node, ex_scene_primitive *p, int target_count) {
    const size_t count = (size_t)p->vertex_count;
    double product[16], inverse[16], carry[16];
    const int joint = exi_unify_joint_above(u, node, product);
    free(p->joints);
    free(p->weights);
    p->influence_count = 1;
    p->empty_count = 0;
    p->joints = exi_array_allocate(count, sizeof *p->joints);
    p->weights = exi_array_allocate(count, sizeof *p->weights);
    if (!p->joints || !p->weights)
        return false;
    for (size_t v = 0; v < count; v++) {
        p->joints[v] = (uint16_t)joint;
        p->weights[v] = 1;
    }
    if (exi_scene_matrix_invert(u->joints[joint].inverse_bind, inverse))
        exi_scene_matrix_multiply(inverse, product, carry);
    else
        memcpy(carry, product, sizeof carry);
    move_primitive(carry, p, target_count);
    return true;
}

static bool is_mirrored(const double m[16]) {
    double cross[3];
    exi_cross(m, m + 4, cross);
    return exi_dot3(cross, m + 8) < 0;
}

/* Adds the mesh of a node as a mesh of its own: each node has its own place. */
static bool add_mesh(exi_unify *u, int node) {
    const ex_scene_node *from = &u->from->nodes[node];
    const ex_scene_mesh *mesh = &u->from->meshes[from->mesh];
    ex_scene_mesh *made = &u->to->meshes[u->to->mesh_count];
    *made = (ex_scene_mesh){.target_count = mesh->target_count};
    made->primitives = calloc((size_t)mesh->primitive_count, sizeof *made->primitives);
    u->to->nodes[node].mesh = u->to->mesh_count++;
    u->to->nodes[node].skin = u->joint_count > 0 ? 0 : -1;
    bool good = made->primitives && copy_texts(mesh, made);
    if (good && from->weights) {
        u->to->nodes[node].weights = exi_array_copy(from->weights, (size_t)from->weight_count, sizeof *from->weights);
        u->to->nodes[node].weight_count = u->to->nodes[node].weights ? from->weight_count : 0;
        good = u->to->nodes[node].weights != NULL;
    }
    /* A node that mirrors turns the front of faces round, also that of a skin it does not move (glTF 2.0, 3.7.4). */
    const bool mirrored = is_mirrored(u->worlds + 16 * (size_t)node);
    for (int i = 0; good && i < mesh->primitive_count; i++) {
        const ex_scene_primitive *p = &mesh->primitives[i];
        const bool skinned = exi_unify_is_skinned(u->from, node, p);
        made->primitive_count = i + 1;
        good = copy_primitive(p, mesh->target_count, mirrored && u->joint_count > 0, &made->primitives[i]);
        if (good && skinned)
            carry_over(u, from->skin, &made->primitives[i], mesh->target_count);
        else if (good && u->joint_count > 0)
            good = hang(u, node, &made->primitives[i], mesh->target_count);
    }
    return good;
}

/* Copies the meshes of a file without any nodes, which shows all of them. */
static bool copy_meshes(exi_unify *u) {
    bool good = true;
    for (int m = 0; good && m < u->from->mesh_count; m++) {
        const ex_scene_mesh *mesh = &u->from->meshes[m];
        ex_scene_mesh *made = &u->to->meshes[u->to->mesh_count++];
        *made = (ex_scene_mesh){.target_count = mesh->target_count};
        made->primitives = calloc((size_t)mesh->primitive_count, sizeof *made->primitives);
        good = made->primitives && copy_texts(mesh, made);
        for (int i = 0; good && i < mesh->primitive_count; i++) {
            made->primitive_count = i + 1;
            good = copy_primitive(&mesh->primitives[i], mesh->target_count, false, &made->primitives[i]);
        }
    }
    return good;
}

static bool add_meshes(exi_unify *u) {
    u->to->meshes =
        exi_array_allocate((size_t)u->from->node_count + (size_t)u->from->mesh_count, sizeof *u->to->meshes);
    bool good = u->to->meshes != NULL;
    if (good && u->from->node_count == 0)
        return copy_meshes(u);
    for (int n = 0; good && n < u->from->node_count; n++)
        if (u->init->wanted[n] && u->from->nodes[n].mesh >= 0)
            good = add_mesh(u, n);
    return good;
}

static bool add_skin(exi_unify *u) {
    ex_scene_skin *skin = u->joint_count > 0 ? calloc(1, sizeof *skin) : NULL;
    const size_t count = (size_t)u->joint_count;
    if (!skin)
        return u->joint_count == 0;
    u->to->skins = skin;
    u->to->skin_count = 1;
    *skin = (ex_scene_skin){.joint_count = u->joint_count, .skeleton = -1};
    skin->joints = exi_array_allocate(count, sizeof *skin->joints);
    skin->inverse_binds = exi_array_allocate(16 * count, sizeof *skin->inverse_binds);
    for (size_t j = 0; skin->joints && skin->inverse_binds && j < count; j++) {
        skin->joints[j] = u->joints[j].node;
        for (size_t i = 0; i < 16; i++)
            skin->inverse_binds[16 * j + i] = (float)u->joints[j].inverse_bind[i];
    }
    return skin->joints && skin->inverse_binds;
}

/* ---- the whole ---- */

static ex_result no_memory(const exi_unify *u, ex_error *error) {
    return ex_error_memory(error, "the character", (size_t)u->from->node_count * sizeof *u->from->nodes);
}

static ex_result make(exi_unify *u, ex_error *error) {
    ex_result result = exi_scene_copy_looks(u->from, &u->to, error);
    if (result == EX_OK && !exi_scene_copy_nodes(u->from, u->to))
        result = no_memory(u, error);
    if (result == EX_OK)
        result = exi_unify_bind(u, error);
    if (result == EX_OK && u->joint_count > UINT16_MAX)
        result = ex_error_set(error, EX_ERROR_LIMIT, "the character has %d joints; at most %d are supported",
                              u->joint_count, UINT16_MAX);
    if (result == EX_OK && !(add_meshes(u) && add_skin(u) && exi_scene_copy_animations(u->from, u->to)))
        result = no_memory(u, error);
    return result;
}

ex_result exi_init_unify(exi_init *init, const ex_scene *from, int main_skin, ex_error *error) {
    const size_t nodes = (size_t)from->node_count;
    exi_unify u = {.init = init, .from = from, .worlds = init->worlds, .main = main_skin};
    u.joint_of = exi_array_allocate(nodes, sizeof *u.joint_of);
    u.skins = calloc((size_t)from->skin_count + 1, sizeof *u.skins);
    for (size_t n = 0; u.joint_of && n < nodes; n++)
        u.joint_of[n] = -1;
    ex_result result = u.joint_of && u.skins ? make(&u, error) : no_memory(&u, error);
    for (int s = 0; u.skins && s < from->skin_count; s++)
        free(u.skins[s].joints);
    free(u.skins);
    free(u.joint_of);
    free(u.joints);
    if (result == EX_OK)
        init->scene = u.to;
    else
        ex_scene_destroy(u.to);
    return result;
}
