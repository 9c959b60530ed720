/*
 * Builds the faces of a rig's level in source vertices, the rings of vertices that share a face, and the level's
 * surface at a pose.
 */
#include "author/scan/map/map.h"

#include "author/base/array.h"
#include "runtime/base/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the net ---- */

void exi_map_net_free(exi_map_net *net) {
    free(net->face_starts);
    free(net->corners);
    free(net->vertex_starts);
    free(net->vertex_corners);
    free(net->corner_faces);
    free(net->ring_starts);
    free(net->ring);
    *net = (exi_map_net){0};
}

int exi_map_net_beside(const exi_map_net *net, int corner, int step) {
    const int face = net->corner_faces[corner], first = net->face_starts[face];
    const int count = net->face_starts[face + 1] - first;
    return net->corners[first + (corner - first + step + count) % count];
}

static void copy_faces(const ex_rig_mesh *mesh, exi_map_net *net) {
    net->face_starts[0] = 0;
    for (int f = 0; f < mesh->face_count; f++) {
        net->face_starts[f + 1] = net->face_starts[f] + (int)mesh->face_sizes[f];
        for (int c = net->face_starts[f]; c < net->face_starts[f + 1]; c++)
            net->corner_faces[c] = f;
    }
    for (int c = 0; c < mesh->corner_count; c++)
        net->corners[c] = (int)(mesh->split_source ? mesh->split_source[mesh->corners[c]] : mesh->corners[c]);
}

static void sort_corners(exi_map_net *net, int corner_count) {
    memset(net->vertex_starts, 0, ((size_t)net->vertex_count + 1) * sizeof *net->vertex_starts);
    for (int c = 0; c < corner_count; c++)
        net->vertex_starts[net->corners[c] + 1]++;
    for (int v = 0; v < net->vertex_count; v++)
        net->vertex_starts[v + 1] += net->vertex_starts[v];
    for (int c = corner_count - 1; c >= 0; c--) /* from the end, so that starts end up at their final values */
        net->vertex_corners[--net->vertex_starts[net->corners[c] + 1]] = c;
    memmove(net->vertex_starts, net->vertex_starts + 1, (size_t)net->vertex_count * sizeof *net->vertex_starts);
    net->vertex_starts[net->vertex_count] = corner_count;
}

static int compare_ints(const void *a, const void *b) {
    const int x = *(const int *)a, y = *(const int *)b;
    return x < y ? -1 : x > y;
}

/* Writes the ring of v into out, or only counts it if out is NULL. marks [vertex_count] hold v + 1 for visited
 * vertices. */
static int gather_ring(const exi_map_net *net, int v, int *marks, int *out) {
    int count = 0;
    marks[v] = v + 1;
    for (int i = net->vertex_starts[v]; i < net->vertex_starts[v + 1]; i++) {
        const int face = net->corner_faces[net->vertex_corners[i]];
        for (int c = net->face_starts[face]; c < net->face_starts[face + 1]; c++) {
            const int other = net->corners[c];
            if (marks[other] == v + 1)
                continue;
            marks[other] = v + 1;
            if (out)
                out[count] = other;
            count++;
        }
    }
    if (out)
        qsort(out, (size_t)count, sizeof *out, compare_ints);
    return count;
}

static bool make_rings(exi_map_net *net) {
    const size_t vertices = (size_t)net->vertex_count;
    int *marks = calloc(vertices + 1, sizeof *marks);
    if (!marks)
        return false;
    net->ring_starts[0] = 0;
    for (int v = 0; v < net->vertex_count; v++)
        net->ring_starts[v + 1] = net->ring_starts[v] + gather_ring(net, v, marks, NULL);
    net->ring = exi_array_allocate((size_t)net->ring_starts[net->vertex_count], sizeof *net->ring);
    if (net->ring) {
        memset(marks, 0, vertices * sizeof *marks);
        for (int v = 0; v < net->vertex_count; v++)
            gather_ring(net, v, marks, net->ring + net->ring_starts[v]);
    }
    free(marks);
    return net->ring != NULL;
}

ex_result exi_map_net_make(const ex_rig *rig, int level, exi_map_net *net, ex_error *error) {
    *net = (exi_map_net){.vertex_count = ex_rig_level_vertex_count(rig, level)};
    if (net->vertex_count == 0)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "the rig has %d levels of subdivision, so there is no level %d",
                            ex_rig_level_count(rig), level);
    const ex_rig_mesh mesh = ex_rig_level_mesh(rig, level);
    const size_t corners = (size_t)mesh.corner_count, vertices = (size_t)net->vertex_count;
    net->face_count = mesh.face_count;
    net->face_starts = exi_array_allocate((size_t)mesh.face_count + 1, sizeof(int));
    net->corners = exi_array_allocate(corners, sizeof(int));
    net->corner_faces = exi_array_allocate(corners, sizeof(int));
    net->vertex_starts = exi_array_allocate(vertices + 1, sizeof(int));
    net->vertex_corners = exi_array_allocate(corners, sizeof(int));
    net->ring_starts = exi_array_allocate(vertices + 1, sizeof(int));
    bool good = net->face_starts && net->corners && net->corner_faces && net->vertex_starts && net->vertex_corners &&
                net->ring_starts;
    if (good) {
        copy_faces(&mesh, net);
        sort_corners(net, mesh.corner_count);
        good = make_rings(net);
    }
    if (good)
        return EX_OK;
    exi_map_net_free(net);
    return ex_error_memory(error, "the faces of the template", corners * 12 + vertices * 48);
}

/* ---- the surface ---- */

void exi_map_surface_free(exi_map_surface *surface) {
    free(surface->positions);
    free(surface->normals);
    *surface = (exi_map_surface){0};
}

ex_result exi_map_surface_make(const ex_rig *rig, int level, const ex_transform *joints, const ex_tasks *tasks,
                               exi_map_surface *surface, ex_error *error) {
    const size_t count = (size_t)ex_rig_level_vertex_count(rig, level), joint_count = (size_t)ex_rig_joint_count(rig);
    const ex_evaluation evaluation = {.level = level, .tasks = tasks};
    const size_t scratch_size = ex_rig_scratch_size(rig, &evaluation, 1);
    surface->positions = calloc(3 * count + 1, sizeof *surface->positions);
    surface->normals = calloc(3 * count + 1, sizeof *surface->normals);
    void *scratch = malloc(scratch_size + 1);
    ex_transform *own = joints ? exi_array_copy(joints, joint_count, sizeof *own) : NULL;
    const bool good = surface->positions && surface->normals && scratch && (own || !joints);
    if (good)
        ex_rig_evaluate(rig, &(ex_pose){.joints = own},
                        &(ex_output){.positions = surface->positions, .normals = surface->normals}, &evaluation,
                        scratch);
    free(scratch);
    free(own);
    if (good)
        return EX_OK;
    exi_map_surface_free(surface);
    return ex_error_memory(error, "the surface of the template", scratch_size + count * 24);
}

void exi_map_displace(const exi_map_surface *surface, const ex_displacement_map *map, int vertex, double out[3]) {
    const double d = (double)map->displacements[vertex];
    for (int c = 0; c < 3; c++) {
        const size_t at = 3 * (size_t)vertex + (size_t)c;
        out[c] = (double)surface->positions[at] + d * (double)surface->normals[at];
    }
}

ex_result exi_map_check(const ex_displacement_map *map, int vertex_count, const char *what, ex_error *error) {
    if (map->vertex_count != vertex_count)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "%s has %d vertices, but this level of the template has %d", what,
                            map->vertex_count, vertex_count);
    for (int v = 0; v < vertex_count; v++)
        if (!isfinite(map->displacements[v]) || map->states[v] >= EX_DISPLACEMENT_MAP_STATE_COUNT)
            return ex_error_set(error, EX_ERROR_DATA,
                                "%s: the displacement of vertex %d is not finite, or its state is unknown", what, v);
    return EX_OK;
}
