/*
 * Errors at poses never scanned: distances from every vertex of the body to the nearest point of the rig's true
 * surface; likewise for the template without displacements, with those of the nearest scans alone, and with those of
 * the reference pose.
 */
#include "author/base/array.h"
#include "author/mesh/mesh_search.h"
#include "author/scan/report/scan_report.h"
#include "author/scan/session/session.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <exemplar/author/formats.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Computes the fitted skeleton's pose for a true pose: the same rotations, and the base moved alike. */
static void bring_pose(const ex_scan_fitted *truth, int pose, const ex_kinematics *fitted, double (*rotations)[4],
                       ex_kin_pose *out) {
    const ex_kinematics *known = truth->kinematics;
    double off[3], turned[3];
    for (int j = 0; j < fitted->joint_count; j++) {
        const int same = ex_kinematics_find_joint(known, fitted->joints[j].name);
        memcpy(rotations[j], (const double[4]){0, 0, 0, 1}, sizeof rotations[j]);
        if (same < 0)
            continue;
        memcpy(rotations[j], truth->poses[pose].rotations[same], sizeof rotations[j]);
        if (fitted->joints[j].freedom == EX_FREEDOM_HINGE && known->joints[same].freedom == EX_FREEDOM_HINGE) {
            /* By the same angle, about the fitted axis. */
            const double half = ex_kin_angle(&known->joints[same], rotations[j]) * (3.14159265358979323846 / 360);
            for (int c = 0; c < 3; c++)
                rotations[j][c] = sin(half) * fitted->joints[j].axis[c];
            rotations[j][3] = cos(half);
        }
    }
    for (int c = 0; c < 3; c++)
        off[c] = fitted->joints[0].translation[c] - known->joints[0].translation[c];
    exi_rotate(rotations[0], off, turned);
    for (int c = 0; c < 3; c++)
        out->translation[c] = truth->poses[pose].translation[c] + turned[c];
    out->rotations = rotations;
}

/* ---- displacements ---- */

typedef enum variant { BODY, TEMPLATE, NEAREST, OLD, VARIANTS } variant;

/* d += mask times the weighted maps, or times their changes; nearest: only the heaviest. */
static void add_part(const exi_scan_work *work, const exi_body_part *part, const double *weights, bool nearest,
                     float *d) {
    const exi_body *body = &work->body;
    const int count = body->example_count;
    const bool add = body->session->add;
    int best = 0;
    for (int i = 1; i < count; i++)
        best = weights[i] > weights[best] ? i : best;
    for (int i = 0; i < count; i++) {
        const double weight = nearest ? i == best : weights[i];
        if (weight == 0 || !work->maps[i])
            continue;
        for (int v = 0; v < body->vertex_count; v++) {
            const double mask = (double)part->mask[v];
            if (mask > 0)
                d[v] += (float)((add ? exi_body_change(mask) : mask) * weight *
                                exi_body_change_at(body, part, work->maps[i], v));
        }
    }
}

static void displace(const exi_scan_work *work, variant kind, double (*rotations)[4], double (*rest)[4],
                     double *weights, float *d) {
    const exi_body *body = &work->body;
    memset(d, 0, (size_t)body->vertex_count * sizeof *d);
    if (kind != TEMPLATE && body->session->add)
        exi_body_base(body, d);
    for (int p = 0; p < body->part_count && kind != TEMPLATE; p++) {
        exi_scan_weigh(body, &body->parts[p], kind == OLD ? rest : rotations, -1, body->session->neighbours, weights);
        add_part(work, &body->parts[p], weights, kind == NEAREST, d);
    }
}

/* ---- poses ---- */

typedef struct room {
    double (*rotations)[4], (*rest)[4];
    double *weights;
    ex_transform *joints;
    float *positions, *normals, *d;
    void *scratch;
} room;

static void free_room(room *r) {
    free(r->rotations);
    free(r->rest);
    free(r->weights);
    free(r->joints);
    free(r->positions);
    free(r->normals);
    free(r->d);
    free(r->scratch);
}

static bool make_room(const exi_body *body, room *r) {
    const size_t joints = (size_t)body->fitted->kinematics->joint_count, count = (size_t)body->vertex_count;
    const ex_evaluation evaluation = {.level = body->level};
    *r = (room){.rotations = exi_array_allocate(joints, sizeof *r->rotations),
                .rest = exi_array_allocate(joints, sizeof *r->rest),
                .weights = exi_array_allocate((size_t)body->example_count, sizeof *r->weights),
                .joints = exi_array_allocate(joints, sizeof *r->joints),
                .positions = exi_array_allocate(3 * count, sizeof *r->positions),
                .normals = exi_array_allocate(3 * count, sizeof *r->normals),
                .d = exi_array_allocate(count, sizeof *r->d),
                .scratch = malloc(ex_rig_scratch_size(body->rig, &evaluation, 1))};
    for (size_t j = 0; r->rest && j < joints; j++)
        memcpy(r->rest[j], (const double[4]){0, 0, 0, 1}, sizeof r->rest[j]);
    return r->rotations && r->rest && r->weights && r->joints && r->positions && r->normals && r->d && r->scratch;
}

static void measure_pose(const exi_scan_work *work, const exi_search *truth, const ex_kin_pose *pose, room *r,
                         exi_distances all[VARIANTS]) {
    const exi_body *body = &work->body;
    const ex_evaluation evaluation = {.level = body->level, .tasks = work->tasks};
    const ex_output output = {.positions = r->positions, .normals = r->normals};
    ex_template_pose(body->fitted->kinematics, pose, r->joints);
    ex_rig_evaluate(body->rig, &(ex_pose){.joints = r->joints}, &output, &evaluation, r->scratch);
    for (int kind = 0; kind < VARIANTS; kind++) {
        displace(work, (variant)kind, r->rotations, r->rest, r->weights, r->d);
        for (int v = 0; v < body->vertex_count; v++) {
            ex_closest closest;
            float p[3];
            for (int c = 0; c < 3; c++)
                p[c] = r->positions[3 * v + c] + r->d[v] * r->normals[3 * v + c];
            if (ex_bounds_closest(truth->bounds, p, INFINITY, &closest))
                exi_distances_add(&all[kind], sqrt((double)closest.distance_sq));
        }
    }
}

ex_result exi_report_held(exi_scan_work *work, const ex_scan_fitted *truth) {
    exi_body *body = &work->body;
    exi_distances all[VARIANTS] = {{0}};
    room r;
    ex_result result = make_room(body, &r) ? EX_OK : ex_error_memory(work->error, "the report", 0);
    for (int i = 0; i < truth->scan_count && result == EX_OK; i++) {
        char name[300];
        exi_search surface = {0};
        ex_mesh *mesh = NULL;
        ex_kin_pose pose;
        if (ex_scan_session_find(body->session, truth->names[i]) >= 0)
            continue;
        snprintf(name, sizeof name, "truth/surface/%s.ply", truth->names[i]);
        char *path = exi_body_path(body, name);
        if (!path) {
            result = ex_error_memory(work->error, "a path", 0);
            break;
        }
        if (exi_scan_is_there(path)) {
            result = ex_ply_read(path, &mesh, work->error);
            if (result == EX_OK)
                result = exi_search_make(&surface, (const ex_mesh *const *)&mesh, 1, work->error);
            if (result == EX_OK) {
                bring_pose(truth, i, body->fitted->kinematics, r.rotations, &pose);
                measure_pose(work, &surface, &pose, &r, all);
                work->report->held.pose_count++;
            }
            exi_search_free(&surface);
            ex_mesh_destroy(mesh);
        }
        free(path);
    }
    free_room(&r);
    ex_scan_distance *const out[VARIANTS] = {&work->report->held.body, &work->report->held.plain,
                                             &work->report->held.nearest, &work->report->held.old};
    for (int kind = 0; kind < VARIANTS; kind++) {
        if (all[kind].failed && result == EX_OK)
            result = ex_error_memory(work->error, "the report", 0);
        *out[kind] = exi_distances_sum(&all[kind]);
    }
    return result;
}
