/*
 * A scene as it stands: the joined form, with the vertices of every skin where its joints put them,
 *
 *     x = sum of w M p,    M = world of the joint times its inverse bind matrix.
 *
 * A node that mirrors turns the front of its faces round, also those of a skin (glTF 2.0, 3.7.4).
 */
#include "author/base/array.h"
#include "author/formats/scene/scene.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <exemplar/author/scene.h>

#include <stdlib.h>
#include <string.h>

static bool mirrors(const double m[16]) {
    double cross[3];
    exi_cross(m, m + 4, cross);
    return exi_dot3(cross, m + 8) < 0;
}

/* Moves a vertex by a matrix. Its normal turns by the cofactors with the sign of the determinant, which keeps it on its
 * side. */
static void move(const double m[16], double *position, double *normal) {
    double out[3], rows[3][3];
    for (int r = 0; r < 3; r++)
        out[r] = m[r] * position[0] + m[4 + r] * position[1] + m[8 + r] * position[2] + m[12 + r];
    memcpy(position, out, sizeof out);
    if (!normal)
        return;
    for (int i = 0; i < 3; i++)
        exi_cross(m + 4 * ((i + 1) % 3), m + 4 * ((i + 2) % 3), rows[i]);
    const double sign = exi_dot3(rows[0], m) < 0 ? -1 : 1;
    for (int r = 0; r < 3; r++)
        out[r] = sign * (rows[0][r] * normal[0] + rows[1][r] * normal[1] + rows[2][r] * normal[2]);
    if (exi_normalise(out, 3))
        memcpy(normal, out, sizeof out);
}

static void stand(const ex_scene_primitive *p, const double *matrices, double *positions, double *normals) {
    const size_t most = (size_t)p->influence_count;
    for (size_t v = 0; v < (size_t)p->vertex_count; v++) {
        double m[16] = {0};
        for (size_t i = 0; i < most; i++)
            for (size_t k = 0; k < 16; k++)
                m[k] += (double)p->weights[v * most + i] * matrices[16 * (size_t)p->joints[v * most + i] + k];
        move(m, positions + 3 * v, normals && p->normals ? normals + 3 * v : NULL);
    }
}

/* Turns the faces of a part the other way round. */
static void turn_faces(ex_mesh *mesh, int part) {
    for (int f = 0; f < mesh->face_count; f++) {
        if (mesh->face_groups[f] != part)
            continue;
        int *lists[] = {mesh->corners, mesh->corner_texcoords, mesh->corner_normals};
        for (size_t l = 0; l < sizeof lists / sizeof *lists; l++)
            for (int i = mesh->face_offsets[f], k = mesh->face_offsets[f + 1] - 1; lists[l] && i < k; i++, k--) {
                const int corner = lists[l][i];
                lists[l][i] = lists[l][k];
                lists[l][k] = corner;
            }
    }
}

static ex_result stand_parts(const ex_scene *scene, const exi_scene_part *parts, int count, const double *worlds,
                             ex_mesh *mesh, ex_error *error) {
    int next = 0; /* the first vertex that no part has had */
    for (int i = 0; i < count; i++) {
        const exi_scene_part *part = &parts[i];
        const ex_scene_primitive *p = &scene->meshes[part->mesh].primitives[part->primitive];
        const int skin = part->node >= 0 ? scene->nodes[part->node].skin : -1;
        const bool shared = part->first_vertex < next;
        next = shared ? next : part->first_vertex + p->vertex_count;
        if (skin < 0 || p->influence_count == 0)
            continue;
        if (mirrors(worlds + 16 * (size_t)part->node))
            turn_faces(mesh, i);
        if (shared)
            continue;
        double *matrices = exi_array_allocate(16 * (size_t)scene->skins[skin].joint_count, sizeof *matrices);
        if (!matrices)
            return ex_error_memory(error, "the joints", (size_t)scene->skins[skin].joint_count * 16 * sizeof(double));
        ex_scene_skin_matrices(scene, skin, worlds, matrices);
        stand(p, matrices, mesh->positions + 3 * (size_t)part->first_vertex,
              mesh->normals ? mesh->normals + 3 * (size_t)part->first_vertex : NULL);
        free(matrices);
    }
    return EX_OK;
}

ex_result ex_scene_to_standing(const ex_scene *scene, ex_mesh **made, ex_error *error) {
    exi_scene_part *parts = NULL;
    int count = 0;
    *made = NULL;
    bool *shown = exi_scene_find_shown(scene);
    double *worlds = exi_array_allocate(16 * (size_t)scene->node_count, sizeof *worlds);
    ex_result result = shown && worlds ? ex_scene_check(scene, error) : ex_error_memory(error, "the nodes", 0);
    if (result == EX_OK)
        result = ex_scene_worlds(scene, NULL, worlds, error);
    if (result == EX_OK)
        result = exi_scene_join(scene, shown, made, &parts, &count, error);
    if (result == EX_OK)
        result = stand_parts(scene, parts, count, worlds, *made, error);
    if (result != EX_OK) {
        ex_mesh_destroy(*made);
        *made = NULL;
    }
    free(parts);
    free(worlds);
    free(shown);
    return result;
}
