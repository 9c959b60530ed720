/*
 * Files of a template person that was carried to a session: registered scans, the person with a skin, skeleton and
 * poses.
 */
#include "author/base/array.h"
#include "author/scan/person/person.h"
#include "author/scan/session/session.h"
#include "author/scan/template/template.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <exemplar/author/files.h>
#include <exemplar/author/formats.h>

#include <stdlib.h>
#include <string.h>

ex_result exi_carry_write_registered(exi_carry *w, const exi_carry_scan *o, const ex_registered *registered) {
    char *path = ex_scan_path(w->session, "registered", w->session->scans[o->scan].name, ".ply");
    ex_mesh *mesh = path ? ex_mesh_copy(w->mesh) : NULL;
    ex_result result = mesh ? EX_OK : exi_carry_no_memory(w);
    if (mesh) {
        const size_t numbers = 3 * (size_t)w->vertex_count;
        memcpy(mesh->positions, registered->vertices, numbers * sizeof *mesh->positions);
        free(mesh->colours);
        mesh->colours = exi_array_allocate(numbers, sizeof *mesh->colours);
        result = mesh->colours ? EX_OK : exi_carry_no_memory(w);
        for (size_t i = 0; mesh->colours && i < numbers; i++)
            mesh->colours[i] = registered->confidences[i / 3];
    }
    if (result == EX_OK)
        result = ex_mesh_write(path, mesh, w->error);
    ex_mesh_destroy(mesh);
    free(path);
    return result;
}

/* ---- the person ---- */

static ex_kinematics *person_kinematics(const exi_carry *w) {
    ex_kinematics *k = ex_kinematics_copy(w->human->kinematics);
    for (int j = 0; k && j < k->joint_count; j++)
        for (int c = 0; c < 3; c++)
            k->joints[j].translation[c] =
                w->joints[j][c] - (k->joints[j].parent < 0 ? 0 : w->joints[k->joints[j].parent][c]);
    return k;
}

static ex_result write_template(exi_carry *w, const ex_kinematics *kinematics) {
    char *folder = exi_scan_file(w->session->folder, "template"),
         *path = exi_scan_file(w->session->folder, "template/body.glb");
    exi_share *shares = exi_array_allocate((size_t)w->vertex_count, sizeof *shares);
    ex_scene *scene = NULL;
    ex_result result = folder && path && shares ? ex_make_directory(folder, w->error) : exi_carry_no_memory(w);
    for (int v = 0; shares && v < w->vertex_count; v++) {
        shares[v] = (exi_share){0};
        for (int i = 0; i < EXI_HUMAN_INFLUENCES; i++) {
            const size_t at = (size_t)v * EXI_HUMAN_INFLUENCES + (size_t)i;
            if (w->human->weights[at] > 0)
                exi_share_add(&shares[v], w->human->joints[at], (double)w->human->weights[at]);
        }
    }
    memcpy(w->mesh->positions, w->rest, (size_t)w->vertex_count * sizeof *w->rest);
    if (result == EX_OK)
        result = exi_template_scene(kinematics, w->mesh, shares, &scene, w->error);
    if (result == EX_OK)
        result = ex_scene_write(path, scene, w->error);
    ex_scene_destroy(scene);
    free(shares);
    free(folder);
    free(path);
    return result;
}

static ex_result write_fit(exi_carry *w, ex_kinematics *kinematics) {
    char *path = exi_scan_file(w->session->folder, "fit.json");
    ex_scan_fitted fitted = {.kinematics = kinematics,
                             .names = exi_array_allocate((size_t)w->one_count, sizeof *fitted.names),
                             .poses = exi_array_allocate((size_t)w->one_count, sizeof *fitted.poses),
                             .rms = exi_array_allocate((size_t)w->one_count, sizeof *fitted.rms)};
    ex_result result = path && fitted.names && fitted.poses && fitted.rms ? EX_OK : exi_carry_no_memory(w);
    for (int i = 0; result == EX_OK && i < w->one_count; i++) {
        if (w->ones[i].report->left_out)
            continue;
        fitted.names[fitted.scan_count] = w->session->scans[w->ones[i].scan].name;
        fitted.poses[fitted.scan_count] = w->ones[i].pose;
        fitted.rms[fitted.scan_count++] = w->ones[i].report->anchor_rms;
    }
    if (result == EX_OK)
        result = ex_scan_fitted_write(path, &fitted, w->error);
    free(fitted.names);
    free(fitted.poses);
    free(fitted.rms);
    free(path);
    return result;
}

ex_result exi_carry_write_person(exi_carry *w) {
    ex_kinematics *kinematics = person_kinematics(w);
    ex_result result = kinematics ? write_template(w, kinematics) : exi_carry_no_memory(w);
    if (result == EX_OK)
        result = write_fit(w, kinematics);
    ex_kinematics_destroy(kinematics);
    return result;
}
