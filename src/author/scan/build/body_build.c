/*
 * Makes a project from scans, a fit and a template: refits the template, turns every scan into a displacement map, and
 * every part into a layer.
 */
#include "author/scan/build/body_build.h"

#include "author/base/array.h"
#include "author/project/skeleton/skeleton.h"
#include "author/scan/kinematics/kinematics.h"
#include "author/scan/session/session.h"
#include "runtime/base/result.h"

#include <exemplar/author/files.h>
#include <exemplar/author/formats.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *exi_body_path(const exi_body *body, const char *relative) {
    return exi_scan_file(body->session->folder, relative);
}

ex_result exi_body_make_rig(exi_body *body) {
    ex_rig_destroy(body->rig);
    body->rig = NULL;
    return ex_template_rig(&body->template, body->session->levels, &body->rig, body->error);
}

void exi_body_close(exi_body *body) {
    exi_body_free_parts(body);
    ex_rig_destroy(body->rig);
    ex_mesh_destroy(body->template.cage);
    ex_scene_destroy(body->template.scene);
    free(body->poses);
}

ex_result exi_body_check_joints(const exi_body *body, const char *path, const char *kind) {
    const ex_kinematics *kinematics = body->fitted->kinematics;
    const ex_skeleton *skeleton = ex_rig_skeleton(body->rig);
    if (ex_rig_joint_count(body->rig) != kinematics->joint_count)
        return ex_error_kind(body->error,
                             ex_error_set(body->error, EX_ERROR_DATA, "%s has %d joints, but the fit has %d", path,
                                          ex_rig_joint_count(body->rig), kinematics->joint_count),
                             kind);
    for (int j = 0; j < kinematics->joint_count; j++) {
        const char *name = ex_skeleton_name(skeleton, j);
        if (!name || strcmp(name, kinematics->joints[j].name) != 0)
            return ex_error_kind(body->error,
                                 ex_error_set(body->error, EX_ERROR_DATA, "%s has joint '%s' where the fit has '%s'",
                                              path, name ? name : "", kinematics->joints[j].name),
                                 kind);
    }
    return EX_OK;
}

static ex_result read_template(exi_body *body) {
    char *cage = exi_body_path(body, "template/cage.obj"), *scene = exi_body_path(body, "template/body.glb");
    ex_result result = cage && scene ? EX_OK : ex_error_memory(body->error, "a path", 0);
    for (int i = 0; i < 2 && result == EX_OK; i++) {
        if (!exi_scan_is_there(i == 0 ? cage : scene))
            result = ex_error_kind(
                body->error, ex_error_set(body->error, EX_ERROR_FILE, "'%s' does not exist yet", i == 0 ? cage : scene),
                "no_template");
    }
    if (result == EX_OK)
        result = ex_obj_read(cage, &body->template.cage, body->error);
    if (result == EX_OK)
        result = ex_scene_read(scene, &body->template.scene, body->error);
    if (result == EX_OK)
        result = ex_error_within(body->error, exi_body_make_rig(body), "%s", cage);
    if (result == EX_OK)
        result = exi_body_check_joints(body, scene, "old_template");
    if (result == EX_OK) {
        body->level = body->session->levels;
        body->vertex_count = ex_rig_level_vertex_count(body->rig, body->level);
    }
    free(cage);
    free(scene);
    return result;
}

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

/* Records that a scan is not an example; returns the entry for the reason, or NULL. */
static ex_scan_left_out *leave_out(exi_body *body, int scan) {
    body->poses[scan] = -1;
    if (!body->built)
        return NULL;
    ex_scan_left_out *left = &body->built->left_out[body->built->left_count++];
    left->scan = scan;
    return left;
}

/* A scan whose markers do not fit has wrong labels. One in which a joint of its part is undetermined would be an
 * example at the wrong pose. */
static void judge_scan(exi_body *body, int scan, double usual) {
    const ex_kinematics *kinematics = body->fitted->kinematics;
    const ex_scan_part *part = &body->session->parts[body->session->scans[scan].part];
    const bool *opens =
        body->fitted->opens ? body->fitted->opens + (size_t)body->poses[scan] * (size_t)kinematics->joint_count : NULL;
    const int fitted_pose = body->poses[scan];
    const double rms = body->fitted->rms[fitted_pose];
    if (rms > 4 * usual && rms > 0.005) {
        ex_scan_left_out *left = leave_out(body, scan);
        if (left)
            snprintf(left->text, sizeof left->text,
                     "scan '%s' is left out: its markers are %.1f mm from where the fit puts them; check its labels",
                     body->session->scans[scan].name, 1000 * rms);
        return;
    }
    const int beyond = exi_kin_find_beyond(kinematics, &body->fitted->poses[fitted_pose]);
    if (beyond >= 0) {
        ex_scan_left_out *left = leave_out(body, scan);
        const ex_kin_joint *hinge = &kinematics->joints[beyond];
        if (left)
            snprintf(left->text, sizeof left->text,
                     "scan '%s' is left out: '%s' is turned by %.0f degrees there, but its range is %g to %g; check "
                     "its labels",
                     body->session->scans[scan].name, hinge->name,
                     ex_kin_angle(hinge, body->fitted->poses[fitted_pose].rotations[beyond]), hinge->least,
                     hinge->most);
        return;
    }
    for (int i = 0; i < part->joint_count; i++) {
        const int joint = ex_kinematics_find_joint(kinematics, part->joints[i]);
        if (opens && joint >= 0 && opens[joint]) {
            ex_scan_left_out *left = leave_out(body, scan);
            if (left)
                snprintf(left->text, sizeof left->text,
                         "scan '%s' is left out: its markers do not determine the pose of '%s'",
                         body->session->scans[scan].name, part->joints[i]);
            return;
        }
    }
}

ex_result exi_body_find_poses(exi_body *body) {
    const int count = body->session->scan_count;
    double usual = 0;
    ex_result result = check_parts(body);
    if (result == EX_OK)
        result = usual_rms(body, &usual);
    if (result != EX_OK)
        return result;
    body->poses = exi_array_allocate((size_t)count, sizeof *body->poses);
    if (!body->poses)
        return ex_error_memory(body->error, "the poses", 0);
    for (int i = 0; i < count; i++) {
        body->poses[i] = -1;
        for (int k = 0; k < body->fitted->scan_count && body->poses[i] < 0; k++)
            body->poses[i] = strcmp(body->fitted->names[k], body->session->scans[i].name) == 0 ? k : -1;
        if (body->poses[i] >= 0 && i != body->session->reference)
            judge_scan(body, i, usual);
    }
    return EX_OK;
}

static bool are_alike(const exi_body *body, const ex_scan_part *part, int a, int b) {
    for (int i = 0; i < part->joint_count; i++) {
        const int joint = ex_kinematics_find_joint(body->fitted->kinematics, part->joints[i]);
        const double *p = body->fitted->poses[body->poses[a]].rotations[joint];
        const double *q = body->fitted->poses[body->poses[b]].rotations[joint];
        if (fabs(p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3]) < 1 - 1e-12)
            return false;
    }
    return true;
}

/* Checks that examples are apart in the part's space. They are not if a pose was scanned twice, or if the markers did
 * not determine a scan's pose. */
static ex_result check_poses(const exi_body *body) {
    const ex_scan_session *session = body->session;
    for (int i = 0; i < session->scan_count; i++)
        for (int k = i + 1; k < session->scan_count; k++) {
            const ex_scan_part *part = &session->parts[session->scans[i].part];
            if (session->scans[k].part != session->scans[i].part || body->poses[i] < 0 || body->poses[k] < 0 ||
                !are_alike(body, part, i, k))
                continue;
            return ex_error_set(body->error, EX_ERROR_DATA,
                                "scans '%s' and '%s' of part '%s' have the same pose, as far as the fit can tell: "
                                "remove one of them from scan.json, or check its labels",
                                session->scans[i].name, session->scans[k].name, part->name);
        }
    return EX_OK;
}

static ex_result make_folders(const exi_body *body) {
    static const char *const names[] = {"maps", "changes", "masks", "figure"};
    ex_result result = EX_OK;
    for (int i = 0; i < 4 && result == EX_OK; i++) {
        char *path = exi_body_path(body, names[i]);
        result = path ? ex_make_directory(path, body->error) : ex_error_memory(body->error, "a path", 0);
        free(path);
    }
    return result;
}

/* Writes cage.obj, but only if it changed, so that maps made with it stay valid. The skeleton and the skin may differ
 * all the same. */
static ex_result write_cage(const exi_body *body) {
    char *path = exi_body_path(body, "cage.obj"), *skeleton = exi_body_path(body, "skeleton.glb");
    ex_mesh *old = NULL;
    bool same = false;
    ex_result result = path && skeleton ? EX_OK : ex_error_memory(body->error, "a path", 0);
    if (result == EX_OK && ex_obj_read(path, &old, NULL) == EX_OK) {
        const ex_mesh_difference difference = ex_mesh_compare(body->template.cage, old, 0);
        same = ex_mesh_difference_none(&difference);
    }
    if (result == EX_OK && !same)
        result = ex_obj_write(path, body->template.cage, body->error);
    if (result == EX_OK)
        result = ex_skeleton_write(skeleton, body->rig, body->error); /* with the present mesh */
    ex_mesh_destroy(old);
    free(path);
    free(skeleton);
    return result;
}

static ex_result build(exi_body *body) {
    const ex_progress *progress = body->options->progress;
    ex_result result = read_template(body);
    if (result == EX_OK)
        result = exi_body_find_poses(body);
    if (result == EX_OK)
        result = check_poses(body);
    if (result == EX_OK)
        result = exi_body_find_parts(body);
    if (result == EX_OK && progress)
        progress->report(progress->user, "refitting the template", 0);
    if (result == EX_OK && !body->options->keep_cage)
        result = exi_body_refit(body);
    if (result == EX_OK)
        result = make_folders(body);
    if (result == EX_OK)
        result = write_cage(body);
    if (result == EX_OK)
        result = exi_body_make_maps(body);
    if (result == EX_OK)
        result = exi_body_write_changes(body);
    if (result == EX_OK)
        result = exi_body_write_project(body);
    if (result == EX_OK) {
        body->built->vertex_count = body->template.cage->vertex_count;
        body->built->face_count = body->template.cage->face_count;
        body->built->level = body->level;
        body->built->level_count = body->vertex_count;
    }
    return result;
}

ex_result ex_scan_build(const ex_scan_session *session, const ex_scan_fitted *fitted,
                        const ex_scan_build_options *options, ex_scan_built **built, ex_error *error) {
    if (!session || !fitted || !built)
        return exi_misuse_error(error, __func__, "no session, no fit, or no pointer for the result");
    const ex_scan_build_options plain = {0};
    exi_body body = {.session = session, .fitted = fitted, .options = options ? options : &plain, .error = error};
    *built = NULL;
    body.built = calloc(1, sizeof *body.built);
    ex_result result = body.built ? EX_OK : ex_error_memory(error, "the body", sizeof *body.built);
    if (result == EX_OK) {
        body.built->scan_count = session->scan_count;
        body.built->scans = calloc((size_t)session->scan_count, sizeof *body.built->scans);
        body.built->left_out = calloc((size_t)session->scan_count, sizeof *body.built->left_out);
        result = body.built->scans && body.built->left_out ? build(&body) : ex_error_memory(error, "the body", 0);
    }
    exi_body_close(&body);
    if (result == EX_OK)
        *built = body.built;
    else
        ex_scan_built_destroy(body.built);
    return result;
}

void ex_scan_built_destroy(ex_scan_built *built) {
    if (!built)
        return;
    free(built->scans);
    free(built->left_out);
    free(built);
}
