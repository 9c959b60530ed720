/*
 * Refuses what is no body: in the reference, the surface must not stick out of the scan that it was made from. Only
 * hits count in maps, so a cage beside the body has small displacements all the same. With s the point of the scan
 * nearest to a vertex v, and n its normal, v sticks out if (v - s) n exceeds half the reach. Places behind the scan are
 * not judged: no scanner sees all around.
 */
#include "author/base/array.h"
#include "author/scan/build/body_build.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <exemplar/settle.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Largest part of the body's surface that may stick out. */
#define OUT_MOST 0.02

typedef struct surface {
    float *positions;
    int *corners;
    uint32_t *triangles;
    ex_tree *tree;
    void *memory;
    const ex_bounds *fit;
} surface;

static void close_surface(surface *s) {
    free(s->positions);
    free(s->corners);
    free(s->triangles);
    ex_tree_destroy(s->tree);
    free(s->memory);
}

static ex_result open_surface(surface *s, const ex_mesh *mesh, ex_error *error) {
    const size_t numbers = 3 * (size_t)mesh->vertex_count;
    int count = 0;
    *s = (surface){0};
    ex_result result = ex_mesh_triangulate(mesh, &s->corners, &count, error);
    if (result != EX_OK)
        return result;
    s->positions = exi_array_allocate(numbers, sizeof *s->positions);
    s->triangles = exi_array_allocate(3 * (size_t)count, sizeof *s->triangles);
    if (!s->positions || !s->triangles)
        return ex_error_memory(error, "a scan", numbers * sizeof *s->positions);
    for (size_t i = 0; i < numbers; i++)
        s->positions[i] = (float)mesh->positions[i];
    for (size_t i = 0; i < 3 * (size_t)count; i++)
        s->triangles[i] = (uint32_t)mesh->corners[s->corners[i]];
    const ex_tree_def def = {.vertex_count = mesh->vertex_count,
                             .positions = s->positions,
                             .triangle_count = count,
                             .triangles = s->triangles};
    result = ex_tree_create(&def, NULL, &s->tree, error);
    if (result != EX_OK)
        return result;
    s->memory = exi_array_allocate(ex_bounds_size(s->tree), 1);
    if (!s->memory)
        return ex_error_memory(error, "a scan", ex_bounds_size(s->tree));
    s->fit = ex_bounds_fit(s->tree, s->positions, 0, s->memory, NULL);
    return EX_OK;
}

/* Returns the height of a point over the nearest point of the scan, along its normal. */
static double height_over(const surface *surfaces, int count, const float p[3]) {
    double nearest = INFINITY, height = 0;
    for (int i = 0; i < count; i++) {
        const surface *s = &surfaces[i];
        ex_closest closest;
        if (!ex_bounds_closest(s->fit, p, INFINITY, &closest) || (double)closest.distance_sq >= nearest)
            continue;
        double corners[3][3], a[3], b[3], normal[3], away[3];
        nearest = (double)closest.distance_sq;
        for (int k = 0; k < 3; k++)
            for (int c = 0; c < 3; c++)
                corners[k][c] = (double)s->positions[3 * (size_t)s->triangles[3 * closest.triangle + k] + (size_t)c];
        exi_subtract(corners[1], corners[0], a);
        exi_subtract(corners[2], corners[0], b);
        exi_cross(a, b, normal);
        for (int c = 0; c < 3; c++)
            away[c] = (double)p[c] - corners[0][c];
        height = exi_unit3(normal) ? exi_dot3(away, normal) : 0;
    }
    return height;
}

/* Returns the share of the covered vertices that stick out. */
static double measure(const exi_body *body, const surface *surfaces, int count, const float *places,
                      const float *normals, const float *base) {
    int out = 0, all = 0;
    for (int v = 0; v < body->vertex_count; v++) {
        float p[3];
        bool covered = false;
        for (int q = 0; q < body->part_count && !covered; q++)
            covered = body->parts[q].mask[v] > 0;
        if (!covered)
            continue;
        for (int c = 0; c < 3; c++)
            p[c] = places[3 * v + c] + base[v] * normals[3 * v + c];
        all++;
        out += height_over(surfaces, count, p) > body->session->reach / 2;
    }
    return all > 0 ? (double)out / all : 0;
}

ex_result exi_body_check_sound(const exi_body *body) {
    const int scan = body->session->reference, files = body->session->scans[scan].file_count;
    const size_t count = (size_t)body->vertex_count;
    const ex_evaluation evaluation = {.level = body->level, .tasks = body->options->tasks};
    if (body->poses[scan] < 0)
        return EX_OK;
    surface *surfaces = calloc((size_t)files, sizeof *surfaces);
    ex_transform *joints = exi_array_allocate((size_t)ex_rig_joint_count(body->rig), sizeof *joints);
    float *places = exi_array_allocate(3 * count, sizeof *places);
    float *normals = exi_array_allocate(3 * count, sizeof *normals), *base = exi_array_allocate(count, sizeof *base);
    void *scratch = malloc(ex_rig_scratch_size(body->rig, &evaluation, 1));
    ex_mesh **meshes = NULL;
    ex_result result = surfaces && joints && places && normals && base && scratch
                           ? ex_scan_meshes(body->session, scan, &meshes, body->error)
                           : ex_error_memory(body->error, "the body", 7 * count * sizeof *places);
    for (int i = 0; i < files && result == EX_OK; i++)
        result = open_surface(&surfaces[i], meshes[i], body->error);
    if (result == EX_OK) {
        const ex_output output = {.positions = places, .normals = normals};
        ex_template_pose(body->fitted->kinematics, &body->fitted->poses[body->poses[scan]], joints);
        ex_rig_evaluate(body->rig, &(ex_pose){.joints = joints}, &output, &evaluation, scratch);
        exi_body_base(body, base);
        const double out = measure(body, surfaces, files, places, normals, base);
        if (out > OUT_MOST)
            result = ex_error_set(body->error, EX_ERROR_DATA,
                                  "this is no body: in the reference, %.1f %% of its surface sticks out of the scan by "
                                  "more than %.0f mm; check bones and neutral pose in fit.json, and look at "
                                  "template/cage.obj over the scan",
                                  100 * out, 500 * body->session->reach);
    }
    for (int i = 0; i < files; i++) {
        if (surfaces)
            close_surface(&surfaces[i]);
        if (meshes)
            ex_mesh_destroy(meshes[i]);
    }
    free(surfaces);
    free(meshes);
    free(joints);
    free(places);
    free(normals);
    free(base);
    free(scratch);
    return result;
}
