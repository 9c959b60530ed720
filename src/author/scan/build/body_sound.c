/*
 * Refuses what is no body: in the reference, the surface must not stick out of the scan that it was made from. Only
 * hits count in maps, so a cage beside the body has small displacements all the same. With s the point of the scan
 * nearest to a vertex v, and n its normal, v sticks out if (v - s) n exceeds half the reach. Places behind the scan are
 * not judged: no scanner sees all around.
 */
#include "author/base/array.h"
#include "author/mesh/mesh_search.h"
#include "author/scan/build/body_build.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Largest part of the body's surface that may stick out. */
#define OUT_MOST 0.02

/* Returns the height of a point over the nearest point of the scan, along its normal. */
static double height_over(const exi_search *scan, const float p[3]) {
    ex_closest closest;
    double normal[3], height = 0;
    if (!ex_bounds_closest(scan->bounds, p, INFINITY, &closest) || !exi_search_normal(scan, closest.triangle, normal))
        return 0;
    for (int c = 0; c < 3; c++)
        height += normal[c] * ((double)p[c] - (double)closest.point[c]);
    return height;
}

/* Returns the share of the covered vertices that stick out. */
static double measure(const exi_body *body, const exi_search *scan, const float *places, const float *normals,
                      const float *base) {
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
        out += height_over(scan, p) > body->session->reach / 2;
    }
    return all > 0 ? (double)out / all : 0;
}

ex_result exi_body_check_sound(const exi_body *body) {
    const int scan = body->session->reference, files = body->session->scans[scan].file_count;
    const size_t count = (size_t)body->vertex_count;
    const ex_evaluation evaluation = {.level = body->level, .tasks = body->options->tasks};
    if (body->poses[scan] < 0)
        return EX_OK;
    exi_search search = {0};
    ex_transform *joints = exi_array_allocate((size_t)ex_rig_joint_count(body->rig), sizeof *joints);
    float *places = exi_array_allocate(3 * count, sizeof *places);
    float *normals = exi_array_allocate(3 * count, sizeof *normals), *base = exi_array_allocate(count, sizeof *base);
    void *scratch = malloc(ex_rig_scratch_size(body->rig, &evaluation, 1));
    ex_mesh **meshes = NULL;
    ex_result result = joints && places && normals && base && scratch
                           ? ex_scan_meshes(body->session, scan, &meshes, body->error)
                           : ex_error_memory(body->error, "the body", 7 * count * sizeof *places);
    if (result == EX_OK)
        result = exi_search_make(&search, (const ex_mesh *const *)meshes, files, body->error);
    if (result == EX_OK) {
        const ex_output output = {.positions = places, .normals = normals};
        ex_template_pose(body->fitted->kinematics, &body->fitted->poses[body->poses[scan]], joints);
        ex_rig_evaluate(body->rig, &(ex_pose){.joints = joints}, &output, &evaluation, scratch);
        exi_body_base(body, base);
        const double out = measure(body, &search, places, normals, base);
        if (out > OUT_MOST)
            result = ex_error_set(body->error, EX_ERROR_DATA,
                                  "this is no body: in the reference, %.1f %% of its surface sticks out of the scan by "
                                  "more than %.0f mm; check bones and neutral pose in fit.json, and look at "
                                  "template/cage.obj over the scan",
                                  100 * out, 500 * body->session->reach);
    }
    exi_search_free(&search);
    for (int i = 0; meshes && i < files; i++)
        ex_mesh_destroy(meshes[i]);
    free(meshes);
    free(joints);
    free(places);
    free(normals);
    free(base);
    free(scratch);
    return result;
}
