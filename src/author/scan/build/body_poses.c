/*
 * Chooses the examples: the scans whose poses are known, each as one of its parts. A scan whose markers do not fit has
 * wrong labels, and is none. A joint that the markers leave open, or a hinge beyond its range, would put the example at
 * a wrong pose: the scan is then left out of the parts that depend on this joint, and stays in its others.
 */
#include "author/base/array.h"
#include "author/scan/build/body_build.h"
#include "author/scan/kinematics/kinematics.h"
#include "runtime/base/result.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Parts come from scan.json, which may be newer than the fit. */
static ex_result check_parts(const exi_body *body) {
    for (int p = 0; p < body->session->part_count; p++) {
        const ex_scan_part *part = &body->session->parts[p];
        for (int i = 0; i < part->joint_count; i++) {
            if (ex_kinematics_find_joint(body->fitted->kinematics, part->joints[i]) < 0)
                return ex_error_kind(body->error,
                                     ex_error_set(body->error, EX_ERROR_DATA, "part '%s': the fit has no joint '%s'",
                                                  part->name, part->joints[i]),
                                     "old_fit");
        }
    }
    return EX_OK;
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Computes the typical distance of markers from their predictions, over all fitted scans. */
static ex_result usual_rms(const exi_body *body, double *usual) {
    const size_t count = (size_t)body->fitted->scan_count;
    double *sorted = exi_array_copy(body->fitted->rms, count, sizeof *sorted);
    if (!sorted)
        return ex_error_memory(body->error, "the poses", count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare);
    *usual = sorted[count / 2];
    free(sorted);
    return EX_OK;
}

/* ---- left out ---- */

/* Records that a scan, or one of its parts, is left out, and why. */
static void record(const exi_body *body, int scan, int part, const char *why) {
    const ex_scan_entry *entry = &body->session->scans[scan];
    if (!body->built)
        return;
    ex_scan_left_out *left = &body->built->left_out[body->built->left_count++];
    left->scan = scan;
    left->part = entry->part_count > 1 ? part : -1;
    if (left->part < 0)
        snprintf(left->text, sizeof left->text, "scan '%s' is left out: %s", entry->name, why);
    else
        snprintf(left->text, sizeof left->text, "scan '%s' is left out of part '%s': %s", entry->name,
                 body->session->parts[part].name, why);
}

void exi_body_leave_out(exi_body *body, int example, const char *why) {
    record(body, body->examples[example].scan, body->examples[example].part, why);
    body->examples[example].part = -1;
}

static bool has_joint(const ex_kinematics *kinematics, const ex_scan_part *part, int joint) {
    for (int i = 0; i < part->joint_count; i++) {
        if (strcmp(part->joints[i], kinematics->joints[joint].name) == 0)
            return true;
    }
    return false;
}

/* True if the part covers the joint's bone, or one that hangs on it. */
static bool moves_cover(const ex_kinematics *kinematics, const ex_scan_part *part, int joint) {
    for (int i = 0; i < part->cover_count; i++) {
        for (int j = ex_kinematics_find_joint(kinematics, part->covers[i]); j >= 0; j = kinematics->joints[j].parent) {
            if (j == joint)
                return true;
        }
    }
    return false;
}

/* Returns the first joint of the part that the scan leaves open; -1: none. */
static int find_open(const exi_body *body, int scan, const ex_scan_part *part) {
    const ex_kinematics *kinematics = body->fitted->kinematics;
    const bool *opens =
        body->fitted->opens ? body->fitted->opens + (size_t)body->poses[scan] * (size_t)kinematics->joint_count : NULL;
    for (int i = 0; i < part->joint_count && opens; i++) {
        const int joint = ex_kinematics_find_joint(kinematics, part->joints[i]);
        if (joint >= 0 && opens[joint])
            return joint;
    }
    return -1;
}

/* Judges one part of a scan; false: it is left out, and the reason is recorded. */
static bool judge_part(exi_body *body, int scan, int part) {
    const ex_kinematics *kinematics = body->fitted->kinematics;
    const ex_kin_pose *pose = &body->fitted->poses[body->poses[scan]];
    const ex_scan_part *own = &body->session->parts[part];
    const int open = find_open(body, scan, own), beyond = exi_kin_find_beyond(kinematics, pose);
    char why[200];
    if (beyond >= 0 && (has_joint(kinematics, own, beyond) || moves_cover(kinematics, own, beyond))) {
        const ex_kin_joint *hinge = &kinematics->joints[beyond];
        snprintf(why, sizeof why, "'%s' is turned by %.0f degrees there, but its range is %g to %g; check its labels",
                 hinge->name, ex_kin_angle(hinge, pose->rotations[beyond]), hinge->least, hinge->most);
    } else if (open >= 0) {
        snprintf(why, sizeof why, "its markers do not determine the pose of '%s'", kinematics->joints[open].name);
    } else {
        return true;
    }
    record(body, scan, part, why);
    return false;
}

/* Adds the scan as an example of each of its parts. The reference is not judged: nothing is turned there. */
static void add_examples(exi_body *body, int scan, double usual) {
    const ex_scan_entry *entry = &body->session->scans[scan];
    const bool judged = scan != body->session->reference;
    const double rms = body->fitted->rms[body->poses[scan]];
    const int first = body->example_count;
    if (judged && rms > 4 * usual && rms > 0.005) {
        char why[120];
        snprintf(why, sizeof why, "its markers are %.1f mm from where the fit puts them; check its labels", 1000 * rms);
        body->poses[scan] = -1;
        record(body, scan, -1, why);
        return;
    }
    for (int k = 0; k < entry->part_count; k++) {
        if (!judged || judge_part(body, scan, entry->parts[k]))
            body->examples[body->example_count++] = (exi_body_example){scan, entry->parts[k]};
    }
    body->poses[scan] = body->example_count > first ? body->poses[scan] : -1;
}

static ex_result find_frames(exi_body *body) {
    const ex_kinematics *kinematics = body->fitted->kinematics;
    const size_t joints = (size_t)kinematics->joint_count;
    body->frames = exi_array_allocate(joints, sizeof *body->frames);
    if (!body->frames)
        return ex_error_memory(body->error, "the poses", joints * sizeof *body->frames);
    for (size_t j = 0; j < joints; j++)
        memcpy(body->frames[j], (const double[4]){0, 0, 0, 1}, sizeof body->frames[j]);
    if (body->fitted->neutral)
        ex_kin_frames(kinematics, &(ex_kin_pose){.rotations = body->fitted->neutral}, body->frames, NULL);
    return EX_OK;
}

ex_result exi_body_find_poses(exi_body *body) {
    const int count = body->session->scan_count;
    double usual = 0;
    size_t most = 0;
    ex_result result = check_parts(body);
    if (result == EX_OK)
        result = usual_rms(body, &usual);
    if (result == EX_OK)
        result = find_frames(body);
    if (result != EX_OK)
        return result;
    for (int i = 0; i < count; i++)
        most += (size_t)body->session->scans[i].part_count;
    body->poses = exi_array_allocate((size_t)count, sizeof *body->poses);
    body->examples = exi_array_allocate(most, sizeof *body->examples);
    if (!body->poses || !body->examples)
        return ex_error_memory(body->error, "the poses", most * sizeof *body->examples);
    for (int i = 0; i < count; i++) {
        body->poses[i] = -1;
        for (int k = 0; k < body->fitted->scan_count && body->poses[i] < 0; k++)
            body->poses[i] = strcmp(body->fitted->names[k], body->session->scans[i].name) == 0 ? k : -1;
        if (body->poses[i] >= 0)
            add_examples(body, i, usual);
    }
    return EX_OK;
}

/* ---- poses that are alike ---- */

static bool are_alike(const exi_body *body, const int *joints, int joint_count, int a, int b) {
    for (int i = 0; i < joint_count; i++) {
        const double *p = body->fitted->poses[body->poses[a]].rotations[joints[i]];
        const double *q = body->fitted->poses[body->poses[b]].rotations[joints[i]];
        if (fabs(p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3]) < 1 - 1e-12)
            return false;
    }
    return true;
}

/* Compares an example with those after it; joints: of its part, [joint_count]. */
static ex_result check_pose(exi_body *body, int a, const int *joints, int joint_count) {
    const ex_scan_session *session = body->session;
    const int part = body->examples[a].part, first = body->examples[a].scan;
    for (int b = a + 1; b < body->example_count; b++) {
        const int second = body->examples[b].scan;
        if (body->examples[b].part != part || !are_alike(body, joints, joint_count, first, second))
            continue;
        if (session->scans[second].part_count > 1 && second != session->reference) {
            char why[200];
            snprintf(why, sizeof why, "it has the same pose there as scan '%.128s'", session->scans[first].name);
            exi_body_leave_out(body, b, why);
            continue;
        }
        return ex_error_set(body->error, EX_ERROR_DATA,
                            "scans '%s' and '%s' of part '%s' have the same pose, as far as the fit can tell: remove "
                            "one of them from scan.json, or check its labels",
                            session->scans[first].name, session->scans[second].name, session->parts[part].name);
    }
    return EX_OK;
}

/* Examples are alike if a pose was scanned twice, or if the markers did not determine a scan's pose. */
ex_result exi_body_check_poses(exi_body *body) {
    size_t most = 1;
    for (int p = 0; p < body->session->part_count; p++)
        most = (size_t)body->session->parts[p].joint_count > most ? (size_t)body->session->parts[p].joint_count : most;
    int *joints = exi_array_allocate(most, sizeof *joints);
    ex_result result = joints ? EX_OK : ex_error_memory(body->error, "the poses", most * sizeof *joints);
    for (int a = 0; a < body->example_count && result == EX_OK; a++) {
        if (body->examples[a].part < 0)
            continue;
        const ex_scan_part *part = &body->session->parts[body->examples[a].part];
        for (int i = 0; i < part->joint_count; i++)
            joints[i] = ex_kinematics_find_joint(body->fitted->kinematics, part->joints[i]);
        result = check_pose(body, a, joints, part->joint_count);
    }
    free(joints);
    return result;
}
