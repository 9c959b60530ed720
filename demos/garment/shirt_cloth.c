/*
 * The shirt of the demo `shirt`, made from the figure's flesh: the skin of slightly wider flesh, cut open by a ball
 * around the neck, planes across the forearms and a plane below the hips. Triangles beyond a cut are removed; vertices
 * at the new edges are moved onto the cut, and all vertices are evened out along the shirt and along its edges.
 */
#include "shirt.h"

#include "common/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIDER   0.017   /* metres wider than the figure */
#define SPACING 0.01705 /* of the lattice for the shirt: about 5000 vertices */

#define HEM 0.835 /* height of the lower edge */

enum { ROUNDS = 24 }; /* rounds of smoothing */

/* Distance beyond the nearest cut, negative on the shirt; and the direction of that cut. */
static double beyond(const double p[3], double way[3]) {
    static const double neck[3] = {0, 1.515, 0.012}, neck_radius = 0.100, hem = HEM;
    static const double cuff[3] = {0.535, 1.095, -0.015}, arm[3] = {0.759, -0.651, 0};
    const double side = p[0] < 0 ? -1 : 1;
    double from_neck[3], squared = 0, along = 0;
    for (int c = 0; c < 3; c++) {
        from_neck[c] = p[c] - neck[c];
        squared += from_neck[c] * from_neck[c];
        along += arm[c] * ((c == 0 ? side * p[c] : p[c]) - cuff[c]);
    }
    const double distance = sqrt(squared), above = neck_radius - distance, below = hem - p[1];
    const double most = above > along ? (above > below ? above : below) : along > below ? along : below;
    for (int c = 0; c < 3; c++)
        way[c] = most == above   ? -from_neck[c] / distance
                 : most == along ? (c == 0 ? side : 1) * arm[c]
                 : c == 1        ? -1
                                 : 0;
    return most;
}

/* Removes the triangles whose middle is beyond a cut, and vertices left without triangles. */
static bool cut(ex_mesh *mesh) {
    int *places = array_allocate((size_t)mesh->vertex_count, sizeof *places), corners = 0, vertices = 0;
    if (!places)
        return false;
    for (int v = 0; v < mesh->vertex_count; v++)
        places[v] = -1;
    for (int f = 0; f < mesh->face_count; f++) {
        double middle[3] = {0, 0, 0}, way[3];
        for (int i = 0; i < 9; i++)
            middle[i % 3] += mesh->positions[3 * (size_t)mesh->corners[3 * f + i / 3] + (size_t)(i % 3)] / 3;
        for (int i = 0; beyond(middle, way) < 0 && i < 3; i++) {
            places[mesh->corners[3 * f + i]] = 0;
            mesh->corners[corners++] = mesh->corners[3 * f + i];
        }
    }
    for (int v = 0; v < mesh->vertex_count; v++)
        if (places[v] == 0) {
            memmove(mesh->positions + 3 * (size_t)vertices, mesh->positions + 3 * (size_t)v, 3 * sizeof(double));
            places[v] = vertices++;
        }
    for (int h = 0; h < corners; h++)
        mesh->corners[h] = places[mesh->corners[h]];
    mesh->vertex_count = vertices;
    mesh->corner_count = corners;
    mesh->face_count = corners / 3;
    free(places);
    return true;
}

/* Neighbours of a vertex, each counted from both sides of their edge; at an edge of the shirt, where an edge has one
 * side, only those along it. */
typedef struct neighbourhood {
    double sum[3], edge_sum[3];
    int count, edge_count;
} neighbourhood;

static int next(int h) {
    return h % 3 == 2 ? h - 2 : h + 1;
}

/* edge[h]: true if half-edge h, from corner h to the next, has no other half. */
static bool find_edges(const ex_mesh *mesh, bool *edge) {
    int *first = array_allocate((size_t)mesh->vertex_count, sizeof *first);
    int *after = array_allocate((size_t)mesh->corner_count, sizeof *after);
    const bool room = first && after;
    for (int v = 0; room && v < mesh->vertex_count; v++)
        first[v] = -1;
    for (int h = 0; room && h < mesh->corner_count; h++) {
        after[h] = first[mesh->corners[h]];
        first[mesh->corners[h]] = h;
    }
    for (int h = 0; room && h < mesh->corner_count; h++) {
        int other = first[mesh->corners[next(h)]];
        while (other >= 0 && mesh->corners[next(other)] != mesh->corners[h])
            other = after[other];
        edge[h] = other < 0;
    }
    free(first);
    free(after);
    return room;
}

static void look_around(const ex_mesh *mesh, const bool *edge, neighbourhood *around) {
    memset(around, 0, (size_t)mesh->vertex_count * sizeof *around);
    for (int h = 0; h < mesh->corner_count; h++) {
        const int ends[2] = {mesh->corners[h], mesh->corners[next(h)]};
        for (int i = 0; i < 2; i++) {
            neighbourhood *n = &around[ends[i]];
            for (int c = 0; c < 3; c++) {
                const double other = mesh->positions[3 * (size_t)ends[1 - i] + (size_t)c];
                n->sum[c] += other;
                n->edge_sum[c] += edge[h] ? other : 0;
            }
            n->count++;
            n->edge_count += edge[h];
        }
    }
}

static void even_out(const exi_creature_flesh *flesh, const neighbourhood *around, double p[3]) {
    const bool open = around->edge_count > 0;
    for (int c = 0; c < 3; c++) {
        const double mean = open ? around->edge_sum[c] / around->edge_count : around->sum[c] / around->count;
        p[c] += 0.5 * (mean - p[c]);
    }
    for (int i = 0; i < 3; i++) { /* alternately onto the shirt and, at an edge, onto the cut */
        double way[3];
        exi_creature_project(flesh, p);
        const double off = open ? beyond(p, way) : 0;
        for (int c = 0; open && c < 3; c++)
            p[c] -= off * way[c];
    }
}

static bool relax(const exi_creature_flesh *flesh, ex_mesh *mesh) {
    bool *edge = array_allocate((size_t)mesh->corner_count, sizeof *edge);
    neighbourhood *around = array_allocate((size_t)mesh->vertex_count, sizeof *around);
    const bool done = edge && around && find_edges(mesh, edge);
    for (int round = 0; done && round < ROUNDS; round++) {
        look_around(mesh, edge, around);
        for (int v = 0; v < mesh->vertex_count; v++)
            even_out(flesh, &around[v], mesh->positions + 3 * (size_t)v);
    }
    free(edge);
    free(around);
    return done;
}

ex_mesh *exi_shirt_cloth(void) {
    exi_creature_flesh flesh;
    exi_shirt_flesh(&flesh, true, WIDER);
    ex_mesh *mesh = exi_creature_flesh_mesh(&flesh, SPACING);
    if (!mesh || !cut(mesh) || !relax(&flesh, mesh)) {
        ex_mesh_destroy(mesh);
        return NULL;
    }
    return mesh;
}

bool exi_shirt_is_sewn(const double place[3]) {
    double way[3];
    return beyond(place, way) > -1e-6 && place[1] > HEM + 0.01;
}
