/*
 * Errors of joints, bones, axes and labels against the truth of a simulated session. Both skeletons have frames
 * parallel to the world in the reference, so rotations can be compared directly. The centre of a hinge cannot be seen
 * along its axis, so the directions of the joint's own axis and of its parent's do not count.
 */
#include "author/base/array.h"
#include "author/scan/report/scan_report.h"
#include "author/scan/session/table.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEGREES (180 / 3.14159265358979323846)

static void set_name(char out[64], const char *name) {
    snprintf(out, 64, "%s", name);
}

/* ---- angles ---- */

static double angle_between(const double a[4], const double b[4]) {
    const double dot = fabs(a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]);
    return 2 * acos(dot > 1 ? 1 : dot) * DEGREES;
}

static bool is_solved(const exi_body *body, int scan, const char *joint) {
    const ex_scan_entry *entry = &body->session->scans[scan];
    for (int p = 0; p < entry->part_count; p++) {
        const ex_scan_part *part = &body->session->parts[entry->parts[p]];
        for (int i = 0; i < part->solve_count; i++) {
            if (strcmp(part->solves[i], joint) == 0)
                return true;
        }
    }
    return false;
}

static int find_name(const ex_scan_fitted *fitted, const char *name) {
    for (int k = 0; k < fitted->scan_count; k++) {
        if (strcmp(fitted->names[k], name) == 0)
            return k;
    }
    return -1;
}

/* Over the scans that are examples; counts rotations that the fit reports as undetermined. */
static void measure_angles(const exi_body *body, const ex_scan_fitted *truth, ex_scan_joints *out) {
    const ex_kinematics *fitted = body->fitted->kinematics;
    double square = 0;
    int count = 0;
    for (int i = 0; i < body->session->scan_count; i++) {
        const char *name = body->session->scans[i].name;
        const int scan = find_name(body->fitted, name), known = find_name(truth, name);
        if (scan < 0 || known < 0 || i == body->session->reference)
            continue;
        out->left_out += body->poses[i] < 0;
        for (int j = 0; j < fitted->joint_count; j++) {
            const int same = ex_kinematics_find_joint(truth->kinematics, fitted->joints[j].name);
            if (same < 0 || (j > 0 && !is_solved(body, i, fitted->joints[j].name)))
                continue;
            if (body->fitted->opens && body->fitted->opens[(size_t)scan * (size_t)fitted->joint_count + (size_t)j]) {
                out->open_count++;
                continue;
            }
            if (body->poses[i] < 0)
                continue;
            const double off =
                angle_between(body->fitted->poses[scan].rotations[j], truth->poses[known].rotations[same]);
            square += off * off;
            count++;
            if (off > out->angle_high) {
                out->angle_high = off;
                set_name(out->angle_joint, fitted->joints[j].name);
                set_name(out->angle_scan, name);
            }
        }
    }
    out->angle_rms = count > 0 ? sqrt(square / count) : 0;
}

/* ---- bones and axes ---- */

/* Removes the direction of an axis from v, and from the axis that of another removed before. */
static void take_out(double v[3], double axis[3], const double before[3]) {
    const double along = exi_dot3(axis, before);
    for (int c = 0; c < 3; c++)
        axis[c] -= along * before[c];
    if (exi_dot3(axis, axis) < 1e-4)
        return;
    exi_normalise(axis, 3);
    const double part = exi_dot3(v, axis);
    for (int c = 0; c < 3; c++)
        v[c] -= part * axis[c];
}

static bool was_turned(const exi_body *body, int joint) {
    for (int i = 0; i < body->session->scan_count; i++) {
        if (body->poses[i] >= 0 && is_solved(body, i, body->fitted->kinematics->joints[joint].name))
            return true;
    }
    return false;
}

static void measure_bones(const exi_body *body, const ex_kinematics *known, ex_scan_joints *out) {
    const ex_kinematics *fitted = body->fitted->kinematics;
    for (int j = 1; j < fitted->joint_count; j++) {
        const ex_kin_joint *a = &fitted->joints[j];
        const int same = ex_kinematics_find_joint(known, a->name);
        double off[3], own[3] = {0}, above[3] = {0};
        if (same < 1 || !was_turned(body, j))
            continue;
        const ex_kin_joint *b = &known->joints[same];
        for (int c = 0; c < 3; c++) {
            off[c] = a->translation[c] - b->translation[c];
            if (a->parent == 0) /* the starting position of the base is a choice */
                off[c] += fitted->joints[0].translation[c] - known->joints[0].translation[c];
        }
        if (a->freedom == EX_FREEDOM_HINGE) {
            memcpy(own, b->axis, sizeof own);
            take_out(off, own, above);
            const double dot = exi_dot3(a->axis, b->axis), angle = acos(dot > 1 ? 1 : dot < -1 ? -1 : dot) * DEGREES;
            if (angle > out->axis) {
                out->axis = angle;
                set_name(out->axis_joint, a->name);
            }
        }
        if (fitted->joints[a->parent].freedom == EX_FREEDOM_HINGE) {
            memcpy(above, known->joints[b->parent].axis, sizeof above);
            take_out(off, above, own);
        }
        const double length = sqrt(exi_dot3(off, off));
        if (length > out->place) {
            out->place = length;
            set_name(out->place_joint, a->name);
        }
    }
}

/* ---- labels ---- */

static ex_result measure_labels(const exi_scan_work *work, int scan, ex_scan_labels *out) {
    static const char *const columns[] = {"marker", "x", "y", "z", "visible", NULL};
    static const char *const places[] = {"x", "y", "z"};
    const ex_scan_session *session = work->body.session;
    char *labels = ex_scan_path(session, "labels", session->scans[scan].name, ".csv");
    char *markers = ex_scan_path(session, "truth/markers", session->scans[scan].name, ".csv");
    exi_table table = {0};
    ex_labelled *labelled = NULL;
    int count = 0;
    ex_result result = labels && markers ? exi_table_read(markers, columns, 5, &table, work->error)
                                         : ex_error_memory(work->error, "a path", 0);
    /* A scan without labels has no sure ones. */
    if (result == EX_OK && ex_scan_labels_read(session, labels, &labelled, &count, NULL) != EX_OK)
        count = 0;
    for (int i = 0; i < count; i++)
        out->sure += labelled[i].confidence >= 0.9;
    for (int row = 0; row < table.row_count && result == EX_OK; row++) {
        const char *name = exi_table_text(&table, row, exi_table_column(&table, "marker"));
        double place[3], visible = 0;
        result = exi_table_triple(&table, row, places, true, place, work->error);
        if (result == EX_OK)
            result = exi_table_number(&table, row, exi_table_column(&table, "visible"), true, &visible, work->error);
        out->visible += result == EX_OK && visible != 0;
        for (int i = 0; i < count && result == EX_OK; i++) {
            double square = 0;
            if (labelled[i].confidence < 0.9 || strcmp(labelled[i].name, name) != 0)
                continue;
            for (int c = 0; c < 3; c++)
                square += (labelled[i].position[c] - place[c]) * (labelled[i].position[c] - place[c]);
            const bool right = square < 0.01 * 0.01;
            out->right += right;
            out->had += right && visible != 0;
        }
    }
    if (labelled)
        ex_labels_free(labelled, count);
    exi_table_free(&table);
    free(labels);
    free(markers);
    return result;
}

ex_result exi_report_truth(exi_scan_work *work, const ex_scan_fitted *truth) {
    const ex_scan_session *session = work->body.session;
    ex_result result = EX_OK;
    measure_angles(&work->body, truth, &work->report->joints);
    measure_bones(&work->body, truth->kinematics, &work->report->joints);
    for (int i = 0; i < session->scan_count && result == EX_OK; i++) {
        if (i != session->reference)
            result = measure_labels(work, i, &work->report->labels);
    }
    return result;
}
