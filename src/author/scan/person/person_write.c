/*
 * Writes a person's body (ex_scan_body_write). Markers get places in the frames of their bones: the mean over scans of
 * R^T (o - p), so that poses can be found from markers alone.
 */
#include "author/base/arena.h"
#include "author/base/array.h"
#include "author/scan/kinematics/kinematics.h"
#include "author/scan/session/session.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <exemplar/author/files.h>
#include <exemplar/author/formats.h>
#include <exemplar/author/scan_body.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A marker that a scan shows, in the frames of all joints: [joint_count]. */
typedef struct seen_marker {
    int site;
    double (*locals)[3];
} seen_marker;

typedef struct marker_list {
    seen_marker *seen;
    int count;
    size_t capacity;
    exi_arena arena;
} marker_list;

static ex_result add_labels(const ex_scan_session *session, int scan, const ex_kinematics *kinematics,
                            const ex_kin_pose *pose, marker_list *list, ex_error *error) {
    char *path = ex_scan_path(session, "labels", session->scans[scan].name, ".csv");
    const size_t joints = (size_t)kinematics->joint_count;
    double(*rotations)[4] = exi_arena_allocate(&list->arena, joints, sizeof *rotations);
    double(*places)[3] = exi_arena_allocate(&list->arena, joints, sizeof *places);
    ex_labelled *labelled = NULL;
    int count = 0;
    ex_result result = path && rotations && places ? EX_OK : ex_error_memory(error, "the markers", joints * 56);
    if (result == EX_OK && exi_scan_is_there(path))
        result = ex_scan_labels_read(session, path, &labelled, &count, error);
    if (result == EX_OK)
        ex_kin_frames(kinematics, pose, rotations, places);
    for (int i = 0; result == EX_OK && i < count; i++) {
        const int site = ex_kinematics_find_site(kinematics, labelled[i].name);
        if (site < 0 || labelled[i].confidence < 0.9)
            continue;
        seen_marker *grown = exi_array_grow(list->seen, &list->capacity, (size_t)list->count + 1, sizeof *grown);
        list->seen = grown ? grown : list->seen;
        double(*locals)[3] = grown ? exi_arena_allocate(&list->arena, joints, sizeof *locals) : NULL;
        if (!locals) {
            result = ex_error_memory(error, "the markers", joints * sizeof *locals);
            break;
        }
        list->seen[list->count++] = (seen_marker){.site = site, .locals = locals};
        for (size_t j = 0; j < joints; j++) {
            double back[4], away[3];
            exi_conjugate(rotations[j], back);
            exi_subtract(labelled[i].position, places[j], away);
            exi_rotate(back, away, locals[j]);
        }
    }
    ex_labels_free(labelled, count);
    free(path);
    return result;
}

/* Mean place of a marker in a joint's frame, and the mean square of its distances from there; infinite if no scan shows
 * it. */
static double marker_scatter(const marker_list *list, int site, int joint, double mean[3]) {
    double sum[3] = {0}, squares = 0;
    int count = 0;
    for (int i = 0; i < list->count; i++) {
        if (list->seen[i].site != site)
            continue;
        for (int c = 0; c < 3; c++)
            sum[c] += list->seen[i].locals[joint][c];
        squares += exi_dot3(list->seen[i].locals[joint], list->seen[i].locals[joint]);
        count++;
    }
    for (int c = 0; c < 3; c++)
        mean[c] = count > 0 ? sum[c] / count : 0;
    return count > 0 ? squares / count - exi_dot3(mean, mean) : INFINITY;
}

/* Puts a marker on the joint that moves it: the session's own, or the one above or below, if it stays nearer to its
 * place there. The skin of an upper forearm hardly follows its twist. */
static void place_marker(const marker_list *list, ex_kinematics *k, int site) {
    ex_site *s = &k->sites[site];
    const int own = s->joint;
    double mean[3], least = marker_scatter(list, site, own, s->local);
    s->placed = isfinite(least);
    for (int j = 0; s->placed && j < k->joint_count; j++) {
        if (k->joints[j].parent != own && k->joints[own].parent != j)
            continue;
        const double scatter = marker_scatter(list, site, j, mean);
        if (!(scatter < 0.8 * least))
            continue;
        least = scatter;
        s->joint = j;
        memcpy(s->local, mean, sizeof mean);
    }
}

/* Gives a skeleton the markers of the session. */
static ex_result add_markers(const ex_scan_session *session, const ex_scan_body *body, ex_kinematics *k,
                             ex_error *error) {
    const ex_kinematics *from = session->kinematics;
    marker_list list = {0};
    k->sites = calloc((size_t)from->site_count + 1, sizeof *k->sites);
    ex_result result = k->sites ? EX_OK : ex_error_memory(error, "the markers", 0);
    for (int s = 0; result == EX_OK && s < from->site_count; s++) {
        const int joint = ex_kinematics_find_joint(k, from->joints[from->sites[s].joint].name);
        if (joint < 0)
            continue;
        ex_site *site = &k->sites[k->site_count++];
        *site = (ex_site){.name = exi_text_copy(from->sites[s].name, strlen(from->sites[s].name)), .joint = joint};
        memcpy(site->colour, from->sites[s].colour, sizeof site->colour);
        result = site->name ? EX_OK : ex_error_memory(error, "the markers", 0);
    }
    for (int i = 0; i < body->scan_count && result == EX_OK; i++)
        result = add_labels(session, body->scans[i], k, &body->articulated->poses[i], &list, error);
    for (int s = 0; result == EX_OK && s < k->site_count; s++)
        place_marker(&list, k, s);
    free(list.seen);
    exi_arena_free(&list.arena);
    return result;
}

/* True if a joint turns about its axis in all scans, but for two degrees. */
static bool is_hinge(const ex_scan_body *body, int joint) {
    const ex_articulated *a = body->articulated;
    const ex_kin_joint *of = &a->kinematics->joints[joint];
    bool hinge = of->freedom == EX_FREEDOM_HINGE;
    for (int i = 0; hinge && i < body->scan_count + body->held_count; i++) {
        const ex_kin_pose *pose = i < body->scan_count ? &a->poses[i] : &body->measured->poses[i];
        double across[3];
        exi_cross(of->axis, pose->rotations[joint], across);
        hinge = sqrt(exi_dot3(across, across)) < sin(0.5 * 0.035);
    }
    return hinge;
}

static ex_result write_fit(const ex_scan_session *session, const ex_scan_body *body, ex_error *error) {
    const ex_articulated *a = body->articulated;
    char *path = ex_scan_path(session, "", "fit", ".json");
    const int count = body->scan_count + body->held_count;
    ex_scan_fitted fitted = {.kinematics = ex_kinematics_copy(a->kinematics),
                             .scan_count = count,
                             .names = exi_array_allocate((size_t)count, sizeof *fitted.names),
                             .poses = exi_array_allocate((size_t)count, sizeof *fitted.poses),
                             .rms = exi_array_allocate((size_t)count, sizeof *fitted.rms)};
    ex_result result = path && fitted.kinematics && fitted.names && fitted.poses && fitted.rms
                           ? EX_OK
                           : ex_error_memory(error, "the fit", (size_t)count);
    for (int i = 0; result == EX_OK && i < count; i++) {
        fitted.names[i] = session->scans[body->scans[i]].name;
        fitted.poses[i] = i < body->scan_count ? a->poses[i] : body->measured->poses[i];
        fitted.rms[i] = i < body->scan_count ? a->rms[i] : body->measured->forms[i].skinned_rms;
    }
    for (int j = 1; result == EX_OK && j < fitted.kinematics->joint_count; j++)
        if (!is_hinge(body, j))
            fitted.kinematics->joints[j].freedom = EX_FREEDOM_BALL;
    if (result == EX_OK)
        result = add_markers(session, body, fitted.kinematics, error);
    if (result == EX_OK)
        result = ex_scan_fitted_write(path, &fitted, error);
    ex_kinematics_destroy(fitted.kinematics);
    free(fitted.names);
    free(fitted.poses);
    free(fitted.rms);
    free(path);
    return result;
}

/* Writes poses.csv: a pose per scan and second, as a motion. Of q and -q, which are one rotation, the one nearer to the
 * row above is written. */
static ex_result write_poses(const ex_scan_session *session, const ex_scan_body *body, ex_error *error) {
    static const char parts[] = "xyzw";
    const ex_kinematics *k = body->articulated->kinematics;
    char *path = ex_scan_path(session, "", "poses", ".csv");
    double(*last)[4] = calloc((size_t)k->joint_count, sizeof *last);
    ex_file_writer writer;
    ex_result result = path && last ? ex_file_open(&writer, path, error)
                                    : ex_error_memory(error, "the poses", (size_t)k->joint_count * sizeof *last);
    if (result == EX_OK) {
        ex_file_printf(&writer, "time");
        for (int j = 0; j < k->joint_count; j++)
            for (int i = 0; i < 4; i++)
                ex_file_printf(&writer, ",joint:%s.%c", k->joints[j].name, parts[i]);
        for (int s = 0; s < body->scan_count; s++) {
            ex_file_printf(&writer, "\n%d", s);
            for (int j = 0; j < k->joint_count; j++) {
                const double *q = body->articulated->poses[s].rotations[j], *p = last[j];
                const double sign = q[0] * p[0] + q[1] * p[1] + q[2] * p[2] + q[3] * p[3] < 0 ? -1 : 1;
                for (int i = 0; i < 4; i++) {
                    char number[32];
                    last[j][i] = sign * q[i];
                    ex_format_float(number, (float)last[j][i]);
                    ex_file_printf(&writer, ",%s", number);
                }
            }
        }
        ex_file_printf(&writer, "\n");
        result = ex_file_commit(&writer, error);
    }
    free(path);
    free(last);
    return result;
}

ex_result ex_scan_body_write(const ex_scan_session *session, const ex_scan_body *body, ex_error *error) {
    if (!session || !body || !body->rig)
        return exi_misuse_error(error, __func__, "no session, or no body");
    char *path = ex_scan_path(session, "", "body", ".glb");
    ex_result result = path ? ex_rig_write(path, body->rig, error) : ex_error_memory(error, "a path", 0);
    if (result == EX_OK)
        result = write_fit(session, body, error);
    if (result == EX_OK)
        result = write_poses(session, body, error);
    free(path);
    return result;
}
