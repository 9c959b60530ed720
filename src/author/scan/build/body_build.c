/*
 * Makes a project from scans, a fit and a template: refits the template, turns every scan into a displacement map, and
 * every part into a layer. Steps of it can be taken apart: the cage, and the maps of each scan.
 */
#include "author/scan/build/body_build.h"

#include "author/project/skeleton/skeleton.h"
#include "author/scan/session/session.h"
#include "runtime/base/result.h"

#include <exemplar/author/files.h>
#include <exemplar/author/formats.h>
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
    exi_body_close_stamps(body);
    ex_rig_destroy(body->rig);
    ex_mesh_destroy(body->template.cage);
    ex_scene_destroy(body->template.scene);
    free(body->poses);
    free(body->examples);
    free(body->frames);
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

static ex_result make_folder(const exi_body *body, const char *name) {
    char *path = exi_body_path(body, name);
    const ex_result result = path ? ex_make_directory(path, body->error) : ex_error_memory(body->error, "a path", 0);
    free(path);
    return result;
}

/* Makes the folders that a step writes to. */
static ex_result make_folders(const exi_body *body) {
    static const char *const names[] = {"maps", "changes", "masks", "figure", "sides"};
    const ex_scan_build_step step = body->options->step;
    ex_result result = EX_OK;
    if (step == EX_SCAN_BUILD_MEASURE)
        return make_folder(body, "measured");
    if (step == EX_SCAN_BUILD_MAP)
        return make_folder(body, "maps");
    for (int i = 0; step == EX_SCAN_BUILD_ALL && i < (body->mirror ? 5 : 4) && result == EX_OK; i++)
        result = make_folder(body, names[i]);
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

/* Takes the cage that an earlier step refitted. */
static ex_result read_cage(exi_body *body) {
    char *path = exi_body_path(body, "cage.obj");
    ex_mesh *cage = NULL, *own = body->template.cage;
    ex_result result = path ? EX_OK : ex_error_memory(body->error, "a path", 0);
    if (result == EX_OK && !exi_scan_is_there(path))
        result = ex_error_kind(body->error, ex_error_set(body->error, EX_ERROR_FILE, "'%s' does not exist yet", path),
                               "no_cage");
    if (result == EX_OK)
        result = ex_obj_read(path, &cage, body->error);
    if (result == EX_OK && (cage->vertex_count != own->vertex_count || cage->corner_count != own->corner_count))
        result = ex_error_kind(
            body->error, ex_error_set(body->error, EX_ERROR_DATA, "'%s' is of another template", path), "no_cage");
    if (result == EX_OK) {
        memcpy(own->positions, cage->positions, 3 * (size_t)own->vertex_count * sizeof *own->positions);
        result = exi_body_make_rig(body);
    }
    ex_mesh_destroy(cage);
    free(path);
    return result;
}

/* Finds the cage of this step, and stamps all maps with it. */
static ex_result find_cage(exi_body *body) {
    const ex_progress *progress = body->options->progress;
    const bool whole = body->options->step == EX_SCAN_BUILD_ALL || body->options->step == EX_SCAN_BUILD_CAGE;
    ex_result result = exi_body_open_stamps(body);
    if (result == EX_OK && !whole)
        result = read_cage(body);
    if (result == EX_OK && whole && progress)
        progress->report(progress->user, "refitting the template", 0);
    if (result == EX_OK && whole && !body->options->keep_cage)
        result = exi_body_refit(body);
    if (result == EX_OK)
        result = make_folders(body);
    if (result == EX_OK && whole)
        result = write_cage(body);
    return result == EX_OK ? exi_body_stamp_maps(body) : result;
}

/* Makes the files that depend on all maps. */
static ex_result finish(exi_body *body) {
    ex_result result = exi_body_write_changes(body);
    if (result == EX_OK)
        result = exi_body_check_sound(body);
    if (result == EX_OK)
        result = exi_body_write_project(body);
    return result;
}

static ex_result build(exi_body *body) {
    const ex_scan_build_step step = body->options->step;
    ex_result result = read_template(body);
    if (result == EX_OK)
        result = exi_body_find_poses(body);
    if (result == EX_OK)
        result = exi_body_check_poses(body);
    if (result == EX_OK)
        result = exi_body_find_parts(body);
    if (result == EX_OK)
        result = find_cage(body);
    if (result == EX_OK && step == EX_SCAN_BUILD_MEASURE)
        result = exi_body_make_measured(body);
    if (result == EX_OK && (step == EX_SCAN_BUILD_ALL || step == EX_SCAN_BUILD_MAP))
        result = exi_body_make_maps(body);
    if (result == EX_OK && step == EX_SCAN_BUILD_ALL)
        result = finish(body);
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
        size_t most = 0; /* each scan once as a whole, and once per part */
        for (int i = 0; i < session->scan_count; i++)
            most += 1 + (size_t)session->scans[i].part_count;
        body.built->left_out = calloc(most, sizeof *body.built->left_out);
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
