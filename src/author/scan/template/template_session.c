/*
 * Makes the template of a scan session: moves scans of the reference to the base of the fitted skeleton, and writes the
 * files that the body is built from.
 */
#include "author/scan/template/template.h"

#include "author/scan/session/session.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <exemplar/author/files.h>
#include <exemplar/author/formats.h>

#include <stdlib.h>
#include <string.h>

/* Moves the base of the scan's pose onto that of the skeleton, which is not turned. */
static void bring_back(const ex_kinematics *kinematics, const ex_kin_pose *pose, ex_mesh *mesh) {
    const double *q = pose->rotations[0], back[4] = {-q[0], -q[1], -q[2], q[3]};
    for (int v = 0; v < mesh->vertex_count; v++) {
        double *p = mesh->positions + 3 * (size_t)v, away[3];
        exi_subtract(p, pose->translation, away);
        exi_rotate(back, away, away);
        exi_along(kinematics->joints[0].translation, away, 1, p);
    }
}

static ex_result generate(const ex_scan_session *session, const ex_scan_fitted *fitted, ex_template **made,
                          ex_error *error) {
    const int reference = session->reference, count = session->scans[reference].file_count;
    ex_mesh **meshes = NULL;
    int pose = -1;
    for (int i = 0; i < fitted->scan_count && pose < 0; i++)
        pose = strcmp(fitted->names[i], session->scans[reference].name) == 0 ? i : -1;
    if (pose < 0)
        return ex_error_kind(error,
                             ex_error_set(error, EX_ERROR_DATA, "the fit has no pose of the reference scan '%s'",
                                          session->scans[reference].name),
                             "old_fit");
    ex_result result = ex_scan_meshes(session, reference, &meshes, error);
    if (result != EX_OK)
        return result;
    for (int i = 0; i < count; i++)
        bring_back(fitted->kinematics, &fitted->poses[pose], meshes[i]);
    const ex_template_options options = {
        .scans = (const ex_mesh *const *)meshes, .scan_count = count, .neutral = (const double(*)[4])fitted->neutral};
    result = ex_template_create(fitted->kinematics, &options, made, error);
    for (int i = 0; i < count; i++)
        ex_mesh_destroy(meshes[i]);
    free(meshes);
    return result;
}

static ex_result take(const char *path, const ex_scan_fitted *fitted, ex_template **made, ex_error *error) {
    ex_mesh *mesh = NULL;
    ex_result result = ex_mesh_read(path, &mesh, error);
    if (result != EX_OK)
        return result;
    const ex_template_options options = {.cage = mesh};
    result = ex_error_within(error, ex_template_create(fitted->kinematics, &options, made, error), "'%s'", path);
    ex_mesh_destroy(mesh);
    return result;
}

ex_result ex_scan_template(const ex_scan_session *session, const ex_scan_fitted *fitted, const char *cage,
                           ex_template **made, ex_error *error) {
    ex_error local = {.result = EX_OK};
    error = error ? error : &local;
    *made = NULL;
    if (cage)
        return take(cage, fitted, made, error);
    if (!session->cage)
        return generate(session, fitted, made, error);
    char *path = exi_scan_file(session->folder, session->cage);
    ex_result result = path ? take(path, fitted, made, error) : ex_error_memory(error, "a path", strlen(session->cage));
    free(path);
    return result;
}

ex_result ex_scan_template_write(const ex_scan_session *session, const ex_template *made, ex_error *error) {
    ex_file_set *set = NULL;
    char *folder = exi_scan_file(session->folder, "template"), *cage = NULL, *scene = NULL;
    ex_result result = folder ? ex_make_directory(folder, error) : ex_error_memory(error, "a path", 0);
    if (result == EX_OK)
        result = ex_file_set_open(folder, false, &set, error);
    if (result == EX_OK) {
        cage = exi_scan_file(ex_file_set_folder(set), "cage.obj");
        scene = exi_scan_file(ex_file_set_folder(set), "body.glb");
        result = cage && scene ? ex_scene_write(scene, made->scene, error) : ex_error_memory(error, "a path", 0);
    }
    if (result == EX_OK)
        result = ex_obj_write(cage, made->cage, error);
    if (result == EX_OK)
        result = ex_file_set_commit(set, "cage.obj", error);
    else
        ex_file_set_abandon(set, error);
    free(folder);
    free(cage);
    free(scene);
    return result;
}
