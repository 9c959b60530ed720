/*
 * Refits the cage (section 4.3): for each part, at the pose of one of its scans in the middle of the others, control
 * points move so that the limit surface passes through the scanned surface. They are then moved back to the reference
 * pose, and blended by the parts' masks. The mirror image of a part is refitted to the reference scan itself, because
 * no person is symmetric; places that this scan does not show take the form of the part's own side.
 */
#include "author/base/array.h"
#include "author/scan/build/body_build.h"
#include "runtime/base/result.h"

#include <math.h>
#include <stdlib.h>

/* Returns the session's average scan if it is of the part; else the one whose pose is nearest to all others of the
 * part. */
static int choose_scan(const exi_body *body, int part) {
    const ex_scan_session *session = body->session;
    const ex_scan_part *p = &session->parts[part];
    int best = -1;
    double least = 0;
    for (int a = 0; a < body->example_count; a++) {
        const int i = body->examples[a].scan;
        double sum = 0;
        if (body->examples[a].part != part)
            continue;
        if (i == session->average)
            return i;
        for (int b = 0; b < body->example_count; b++) {
            const int k = body->examples[b].scan;
            if (body->examples[b].part != part)
                continue;
            for (int j = 0; j < p->joint_count; j++) {
                const int joint = ex_kinematics_find_joint(body->fitted->kinematics, p->joints[j]);
                const double *first = body->fitted->poses[body->poses[i]].rotations[joint];
                const double *second = body->fitted->poses[body->poses[k]].rotations[joint];
                const double dot =
                    fabs(first[0] * second[0] + first[1] * second[1] + first[2] * second[2] + first[3] * second[3]);
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

/* Adds the squares of the displacements at the control points that were measured. */
static void add_squares(const exi_body *body, const ex_displacement_map *map, double *square, int *counted) {
    for (int v = 0; v < ex_rig_vertex_count(body->rig); v++) {
        if (map->states[v] == EX_DISPLACEMENT_MAP_HIT || map->states[v] == EX_DISPLACEMENT_MAP_FAIRED) {
            *square += (double)map->displacements[v] * (double)map->displacements[v];
            (*counted)++;
        }
    }
}

/* Computes the cage that a map of a scan gives. */
static ex_result refit_scan(const exi_body *body, int scan, const ex_displacement_map *map, float *positions) {
    ex_transform *joints = exi_array_allocate((size_t)ex_rig_joint_count(body->rig), sizeof *joints);
    if (!joints)
        return ex_error_memory(body->error, "a pose", 0);
    ex_template_pose(body->fitted->kinematics, &body->fitted->poses[body->poses[scan]], joints);
    ex_result result = ex_displacement_map_refit(body->rig, body->level, joints, map, positions, body->error);
    free(joints);
    return result;
}

/* Adds a part's control points, weighted by its mask. */
static void add_part(const exi_body *body, const exi_body_part *part, const float *positions, double *sums,
                     double *weights) {
    for (int v = 0; v < ex_rig_vertex_count(body->rig); v++) {
        const double mask = (double)part->mask[v]; /* cage vertices keep their numbers at every level */
        if (mask == 0)
            continue;
        weights[v] += mask;
        for (int c = 0; c < 3; c++)
            sums[3 * v + c] += mask * (double)positions[3 * v + c];
    }
}

typedef struct refit {
    double reach, square;
    int counted;
    float *positions;
    double *sums, *weights;
} refit;

/* Fits the control points of a part, and those of its mirror image. */
static ex_result fit_part(const exi_body *body, int part, refit *r) {
    const int scan = choose_scan(body, part);
    ex_displacement_map *map = NULL;
    ex_result result = exi_body_cast(body, scan, r->reach, body->parts[part].covered, &map);
    if (result == EX_OK)
        result = ex_displacement_map_fill(map, body->rig, body->level, NULL, NULL, body->error);
    if (result == EX_OK) {
        add_squares(body, map, &r->square, &r->counted);
        result = refit_scan(body, scan, map, r->positions);
    }
    if (result == EX_OK)
        add_part(body, &body->parts[part], r->positions, r->sums, r->weights);
    for (int q = body->session->part_count; q < body->part_count && result == EX_OK; q++) {
        ex_displacement_map *other = NULL;
        if (body->parts[q].part != &body->session->parts[part])
            continue;
        result = exi_body_other_side(body, &body->parts[q], map->displacements, r->reach, false, &other);
        if (result == EX_OK)
            result = refit_scan(body, body->session->reference, other, r->positions);
        if (result == EX_OK) {
            add_squares(body, other, &r->square, &r->counted);
            add_part(body, &body->parts[q], r->positions, r->sums, r->weights);
        }
        ex_displacement_map_destroy(other);
    }
    ex_displacement_map_destroy(map);
    return result;
}

/* rms: previous distance of the surface from the scans. */
static ex_result refit_once(exi_body *body, double reach, double *rms) {
    const size_t control = (size_t)ex_rig_vertex_count(body->rig);
    double *cage = body->template.cage->positions;
    refit r = {.reach = reach,
               .positions = exi_array_allocate(3 * control, sizeof *r.positions),
               .sums = calloc(4 * control, sizeof *r.sums)};
    ex_result result =
        r.positions && r.sums ? EX_OK : ex_error_memory(body->error, "the cage", 4 * control * sizeof *r.sums);
    r.weights = r.sums ? r.sums + 3 * control : NULL;
    for (int p = 0; p < body->session->part_count && result == EX_OK; p++)
        result = fit_part(body, p, &r);
    if (result == EX_OK) {
        for (size_t i = 0; i < 3 * control; i++) {
            const double w = r.weights[i / 3]; /* masks sum to 1 where there are any */
            cage[i] = (double)(float)(w > 0 ? r.sums[i] / w : cage[i]);
        }
        *rms = r.counted > 0 ? sqrt(r.square / r.counted) : 0;
        result = exi_body_make_rig(body);
    }
    free(r.positions);
    free(r.sums);
    return result;
}

/* Refits twice: once the template is near, rays find what they missed, and far hits can be recognised as wrong. */
ex_result exi_body_refit(exi_body *body) {
    ex_result result = refit_once(body, body->session->reach, &body->built->refitted);
    return result == EX_OK ? refit_once(body, body->session->reach / 2, &body->built->remaining) : result;
}
