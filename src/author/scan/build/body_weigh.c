/*
 * Computes weights of a part's examples at a pose, as the rig's weigher `nearest` does (equation 5 with the next
 * distance): for decisions made before there is a rig, and for leaving scans out.
 */
#include "author/scan/build/body_build.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

static double distance(const exi_body *body, const exi_body_part *part, int scan, double (*rotations)[4]) {
    const ex_kinematics *kinematics = body->fitted->kinematics;
    double square = 0;
    for (int i = 0; i < part->part->joint_count; i++) {
        const int joint = ex_kinematics_find_joint(kinematics, part->part->joints[i]);
        const int seen = part->mirrored ? exi_body_other_joint(body, joint) : joint;
        const double *a = body->fitted->poses[body->poses[scan]].rotations[joint];
        double b[4], part_of_turn;
        memcpy(b, rotations[seen], sizeof b);
        if (part->mirrored)
            exi_body_mirror_joint(body, seen, rotations[seen], b);
        if (kinematics->joints[joint].freedom == EX_FREEDOM_HINGE) {
            part_of_turn =
                (ex_kin_angle(&kinematics->joints[joint], a) - ex_kin_angle(&kinematics->joints[joint], b)) / 180;
        } else {
            const double dot = fabs(a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]);
            part_of_turn = 2 * acos(dot > 1 ? 1 : dot) / PI;
        }
        square += part_of_turn * part_of_turn;
    }
    return sqrt(square);
}

void exi_scan_weigh(const exi_body *body, const exi_body_part *part, double (*rotations)[4], int without,
                    int neighbours, double *weights) {
    const int count = body->example_count, own = (int)(part->part - body->session->parts);
    double sum = 0, threshold;
    int left = neighbours + 1, last = -1;
    /* Below 0: a distance not chosen yet; above: a chosen one. */
    for (int i = 0; i < count; i++) {
        const bool counts = i != without && body->examples[i].part == own;
        weights[i] = counts ? -distance(body, part, body->examples[i].scan, rotations) - 1e-12 : 0;
    }
    /* Choose the nearest one by one; the remaining ones are farther. */
    for (; left > 0; left--) {
        int best = -1;
        for (int i = 0; i < count; i++) {
            if (weights[i] < 0 && (best < 0 || weights[i] > weights[best]))
                best = i;
        }
        if (best < 0)
            break;
        weights[best] = -weights[best];
        last = best;
    }
    /* If all are within reach there is no next one, and nothing is subtracted. */
    threshold = left == 0 && last >= 0 ? 1 / weights[last] : 0;
    for (int i = 0; i < count; i++)
        sum += weights[i] > 0 ? 1 / weights[i] - threshold : 0;
    const bool even = !(sum > 0); /* all equally far */
    for (int i = 0; i < count && even; i++)
        sum += weights[i] > 0;
    for (int i = 0; i < count; i++)
        weights[i] = weights[i] > 0 ? (even ? 1 : 1 / weights[i] - threshold) / sum : 0;
}
