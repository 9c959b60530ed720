/*
 * Refits the cage (section 4.3): for each part, at the pose of one of its scans in the middle of the others, control
 * points move so that the limit surface passes through the scanned surface. They are then moved back to the reference
 * pose, and blended by the parts' masks. If parts are mirrored, so is the cage.
 */
#include "author/base/array.h"
#include "author/scan/build/body_build.h"
#include "runtime/base/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Returns the session's average scan if it is of the part; else the one whose pose is nearest to all others of the
 * part. */
static int choose_scan(const exi_body *body, int part) {
    const ex_scan_session *session = body->session;
    const ex_scan_part *p = &session->parts[part];
    int best = -1;
    double least = 0;
    if (session->scans[session->average].part == part && body->poses[session->average] >= 0)
        return session->average;
    for (int i = 0; i < session->scan_count; i++) {
        double sum = 0;
        if (session->scans[i].part != part || body->poses[i] < 0)
            continue;
        for (int k = 0; k < session->scan_count; k++) {
            if (session->scans[k].part != part || body->poses[k] < 0)
                continue;
            for (int j = 0; j < p->joint_count; j++) {
                const int joint = ex_kinematics_find_joint(body->fitted->kinematics, p->joints[j]);
                const double *a = body->fitted->poses[body->poses[i]].rotations[joint];
                const double *b = body->fitted->poses[body->poses[k]].rotations[joint];
                const double dot = fabs(a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]);
                sum += acos(dot > 1 ? 1 : dot);
            }
        }
        if (best < 0 || sum < least) {
            best = i;
            least = sum;
        }
    }
    return best;
}

/* Computes the cage that fits a part's scan, and the mean square of its previous error at the control points. */
static ex_result fit_part(const exi_body *body, int part, double reach, float *positions, double *square,
                          int *counted) {
    const int scan = choose_scan(body, part), control = ex_rig_vertex_count(body->rig);
    ex_displacement_map *map = NULL;
    ex_transform *joints = exi_array_allocate((size_t)ex_rig_joint_count(body->rig), sizeof *joints);
    ex_result result = joints ? EX_OK : ex_error_memory(body->error, "a pose", 0);
    if (result == EX_OK)
        ex_template_pose(body->fitted->kinematics, &body->fitted->poses[body->poses[scan]], joints);
    if (result == EX_OK)
        result = exi_body_cast(body, scan, reach, body->parts[part].covered, &map);
    if (result == EX_OK)
        result = ex_displacement_map_fill(map, body->rig, body->level, NULL, NULL, body->error);
    for (int v = 0; v < control && result == EX_OK; v++) {
        if (map->states[v] == EX_DISPLACEMENT_MAP_HIT || map->states[v] == EX_DISPLACEMENT_MAP_FAIRED) {
            *square += (double)map->displacements[v] * (double)map->displacements[v];
            (*counted)++;
        }
    }
    if (result == EX_OK)
        result = ex_displacement_map_refit(body->rig, body->level, joints, map, positions, body->error);
    ex_displacement_map_destroy(map);
    free(joints);
    return result;
}

/* Adds a part's control points, weighted by its mask. */
static void add_part(const exi_body *body, const exi_body_part *part, const float *positions, const int *mirror,
                     double *sums, double *weights) {
    const double middle = body->fitted->kinematics->joints[0].translation[0];
    for (int v = 0; v < ex_rig_vertex_count(body->rig); v++) {
        const int from = part->mirrored ? mirror[v] : v; /* cage vertices keep their numbers at every level */
        const double mask = (double)part->mask[v];
        const float *p = positions + 3 * from;
        if (mask == 0)
            continue;
        weights[v] += mask;
        sums[3 * v] += mask * (part->mirrored ? 2 * middle - (double)p[0] : (double)p[0]);
        sums[3 * v + 1] += mask * (double)p[1];
        sums[3 * v + 2] += mask * (double)p[2];
    }
}

/* Replaces both halves by the mean of themselves and the other's mirror image, so that maps can be mirrored exactly. */
static void make_symmetric(const exi_body *body, double *positions) {
    const double middle = body->fitted->kinematics->joints[0].translation[0];
    for (int v = 0; v < ex_rig_vertex_count(body->rig); v++) {
        const int other = body->mirror[v];
        if (other < v)
            continue;
        double *a = positions + 3 * v, *b = positions + 3 * other;
        const double x = ((a[0] - middle) - (b[0] - middle)) / 2, y = (a[1] + b[1]) / 2, z = (a[2] + b[2]) / 2;
        memcpy(a, (const double[3]){middle + x, y, z}, 3 * sizeof *a);
        memcpy(b, (const double[3]){middle - x, y, z}, 3 * sizeof *b);
    }
}

/* rms: previous distance of the surface from the scans. */
static ex_result refit_once(exi_body *body, double reach, double *rms) {
    const size_t control = (size_t)ex_rig_vertex_count(body->rig);
    float *positions = exi_array_allocate(3 * control, sizeof *positions);
    double *sums = calloc(4 * control, sizeof *sums), *weights = sums ? sums + 3 * control : NULL, square = 0;
    double *cage = body->template.cage->positions;
    int counted = 0;
    ex_result result = positions && sums ? EX_OK : ex_error_memory(body->error, "the cage", 4 * control * sizeof *sums);
    for (int p = 0; p < body->session->part_count && result == EX_OK; p++) {
        result = fit_part(body, p, reach, positions, &square, &counted);
        for (int q = 0; q < body->part_count && result == EX_OK; q++) {
            if (body->parts[q].part == &body->session->parts[p])
                add_part(body, &body->parts[q], positions, body->mirror, sums, weights);
        }
    }
    if (result == EX_OK) {
        for (size_t i = 0; i < 3 * control; i++) {
            const double w = weights[i / 3]; /* masks sum to 1 where there are any */
            cage[i] = w > 0 ? sums[i] / w : cage[i];
        }
        if (body->mirror)
            make_symmetric(body, cage);
        for (size_t i = 0; i < 3 * control; i++)
            cage[i] = (double)(float)cage[i];
        *rms = counted > 0 ? sqrt(square / counted) : 0;
        result = exi_body_make_rig(body);
    }
    free(positions);
    free(sums);
    return result;
}

/* Refits twice: once the template is near, rays find what they missed, and far hits can be recognised as wrong. */
ex_result exi_body_refit(exi_body *body) {
    ex_result result = refit_once(body, body->session->reach, &body->built->refitted);
    return result == EX_OK ? refit_once(body, body->session->reach / 2, &body->built->remaining) : result;
}
