/*
 * Makes the template (Allen, Curless, Popovic 2002, section 4.1): a Catmull-Clark cage that follows the skeleton,
 * generated from it or given as a mesh.
 */
#include "author/scan/template/template.h"

#include "author/base/array.h"
#include "author/mesh/mesh_check.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void ex_template_destroy(ex_template *made) {
    if (!made)
        return;
    ex_mesh_destroy(made->cage);
    ex_scene_destroy(made->scene);
    free(made);
}

/* ---- generated ---- */

/* Least distance of a control point from the middle, as a fraction of its surface point's. */
#define NEAR_MIDDLE 0.4

static void surface_point(const exi_spoke *spoke, double point[3]) {
    const double radius = spoke->radius * (isnan(spoke->ratio) ? 1 : spoke->ratio);
    exi_along(spoke->centre, spoke->direction, radius < spoke->most ? radius : spoke->most, point);
}

static ex_mesh *mesh_of(const exi_plan *plan) {
    ex_mesh *mesh = ex_mesh_create();
    const size_t vertices = (size_t)plan->spoke_count, faces = (size_t)plan->face_count;
    if (!mesh)
        return NULL;
    mesh->positions = exi_array_allocate(3 * vertices, sizeof *mesh->positions);
    free(mesh->face_offsets);
    mesh->face_offsets = exi_array_allocate(faces + 1, sizeof *mesh->face_offsets);
    mesh->corners = exi_array_allocate(4 * faces, sizeof *mesh->corners);
    mesh->face_groups = exi_array_allocate(faces, sizeof *mesh->face_groups);
    if (!mesh->positions || !mesh->face_offsets || !mesh->corners || !mesh->face_groups) {
        ex_mesh_destroy(mesh);
        return NULL;
    }
    mesh->vertex_count = plan->spoke_count;
    mesh->face_count = plan->face_count;
    mesh->corner_count = 4 * plan->face_count;
    for (size_t v = 0; v < vertices; v++)
        surface_point(&plan->spokes[v], mesh->positions + 3 * v);
    for (size_t f = 0; f < faces; f++) {
        memcpy(mesh->corners + 4 * f, plan->faces[f].corners, sizeof plan->faces[f].corners);
        mesh->face_offsets[f] = 4 * (int)f;
        mesh->face_groups[f] = plan->faces[f].joint;
    }
    mesh->face_offsets[faces] = mesh->corner_count;
    return mesh;
}

/* Keeps control points on their surface points' side of the middle: between legs and at the neck, where the surface
 * bends most, they would cross. */
static void keep_sides(const exi_plan *plan, ex_mesh *mesh) {
    for (int v = 0; v < mesh->vertex_count; v++) {
        const exi_spoke *spoke = &plan->spokes[v];
        double point[3], *x = &mesh->positions[3 * (size_t)v];
        surface_point(spoke, point);
        const double wanted = point[0] - plan->bones->plane, least = NEAR_MIDDLE * wanted;
        if (spoke->mirror >= 0 && (*x - plan->bones->plane) * (wanted > 0 ? 1 : -1) < fabs(least))
            *x = plan->bones->plane + least;
    }
}

/* Flattens caps, at the distance where the body ends: their corners have three or four faces, and would otherwise be at
 * different heights. */
static void flatten_tips(const exi_plan *plan, ex_mesh *mesh) {
    for (int t = 0; t < plan->tip_count; t++) {
        const exi_tip *tip = &plan->tips[t];
        const double *along = plan->bones->all[tip->bone].direction;
        double height = 0;
        for (int v = tip->first; v < tip->first + tip->count; v++)
            height += (exi_dot3(plan->spokes[v].centre, along) + EXI_TIP_ROUND * plan->spokes[v].radius) / tip->count;
        for (int v = tip->first; v < tip->first + tip->count; v++) {
            double *p = mesh->positions + 3 * (size_t)v;
            exi_along(p, along, height - exi_dot3(p, along), p);
        }
    }
}

/* Mirrors exactly: sums of both sides run in different orders, so they would differ by rounding. */
static void mirror_vertices(const exi_plan *plan, ex_mesh *mesh) {
    for (int v = 0; v < mesh->vertex_count; v++)
        if (plan->spokes[v].mirror > v) {
            double *other = mesh->positions + 3 * (size_t)plan->spokes[v].mirror;
            memcpy(other, mesh->positions + 3 * (size_t)v, 3 * sizeof *other);
            other[0] = 2 * plan->bones->plane - other[0];
        }
}

/* kinematics: in the pose of the bones, in which the cage is planned; reference: the same in the reference. */
static ex_result generate(const ex_kinematics *kinematics, const ex_kinematics *reference, const exi_bones *bones,
                          const ex_template_options *options, ex_mesh **mesh, exi_share **shares, ex_error *error) {
    exi_plan plan;
    exi_cage_carry carry = {0};
    ex_result result = exi_plan_make(kinematics, bones, &plan, error);
    if (result != EX_OK)
        return result;
    result = exi_cage_carry_open(&carry, reference, options->neutral, bones, error);
    if (result == EX_OK && options->scan_count > 0)
        result = exi_widths_by_scans(&plan, &carry, options->scans, options->scan_count, error);
    if (result == EX_OK) {
        *mesh = mesh_of(&plan);
        *shares = exi_array_allocate((size_t)plan.spoke_count, sizeof **shares);
        if (!*mesh || !*shares)
            result = ex_error_memory(error, "the template", (size_t)plan.spoke_count * sizeof **shares);
    }
    if (result == EX_OK)
        result = exi_template_meet(*mesh, error);
    if (result == EX_OK) {
        keep_sides(&plan, *mesh);
        flatten_tips(&plan, *mesh);
        mirror_vertices(&plan, *mesh);
        for (int v = 0; v < plan.spoke_count; v++) {
            double *p = (*mesh)->positions + 3 * (size_t)v;
            (*shares)[v] = plan.spokes[v].share;
            exi_cage_carry_point(&carry, &plan.spokes[v].share, p, p, NULL);
        }
    }
    exi_cage_carry_close(&carry);
    exi_plan_free(&plan);
    return result;
}

/* ---- given ---- */

static ex_result check_given(const ex_mesh *mesh, ex_error *error) {
    const ex_subdivide_def def = {.scheme = EX_SCHEME_CATMULL_CLARK, .levels = 1};
    ex_subdivision *subdivision = NULL;
    if (mesh->face_count == 0)
        return ex_error_set(error, EX_ERROR_DATA, "the mesh has no faces");
    for (int v = 0; v < mesh->vertex_count; v++)
        for (int c = 0; c < 3; c++)
            if (!isfinite(mesh->positions[3 * (size_t)v + (size_t)c]))
                return ex_error_set(error, EX_ERROR_DATA, "vertex %d has a coordinate that is not finite", v);
    ex_result result = exi_mesh_check_faces(mesh, error);
    if (result == EX_OK)
        result = ex_mesh_subdivide(mesh, &def, &subdivision, error);
    ex_subdivision_destroy(subdivision);
    return result;
}

/* Drops the groups of the given mesh, which those of joints replace. */
static void forget_groups(ex_mesh *mesh) {
    for (int i = 0; i < mesh->group_count; i++)
        free(mesh->group_names[i]);
    free(mesh->group_names);
    free(mesh->face_groups);
    mesh->group_names = NULL;
    mesh->face_groups = NULL;
    mesh->group_count = 0;
}

static ex_result take_given(const exi_bones *bones, const ex_mesh *given, ex_mesh **mesh, exi_share **shares,
                            ex_error *error) {
    ex_result result = ex_error_within(error, check_given(given, error), "the cage");
    if (result != EX_OK)
        return result;
    *mesh = ex_mesh_copy(given);
    *shares = exi_array_allocate((size_t)given->vertex_count, sizeof **shares);
    if (!*mesh || !*shares)
        return ex_error_memory(error, "the template", (size_t)given->vertex_count * sizeof **shares);
    forget_groups(*mesh);
    exi_template_given(bones, given, *shares);
    return EX_OK;
}

ex_result ex_template_create(const ex_kinematics *kinematics, const ex_template_options *options, ex_template **made,
                             ex_error *error) {
    static const ex_template_options none = {.scan_count = 0};
    ex_error local = {.result = EX_OK};
    exi_bones bones = {0};
    exi_share *shares = NULL;
    ex_kinematics *neutral = NULL;
    options = options ? options : &none;
    error = error ? error : &local;
    *made = NULL;
    ex_template *t = calloc(1, sizeof *t);
    ex_result result = t ? EX_OK : ex_error_memory(error, "the template", sizeof *t);
    if (result == EX_OK && options->neutral && !options->cage) {
        neutral = ex_kinematics_copy(kinematics);
        result = neutral ? ex_kinematics_rebase(neutral, options->neutral, false, NULL, 0, error)
                         : ex_error_memory(error, "the template", 0);
    }
    if (result == EX_OK)
        result = exi_bones_make(neutral ? neutral : kinematics, &bones, error);
    if (result == EX_OK && options->cage)
        result = take_given(&bones, options->cage, &t->cage, &shares, error);
    else if (result == EX_OK)
        result = generate(neutral ? neutral : kinematics, kinematics, &bones, options, &t->cage, &shares, error);
    if (result == EX_OK)
        result = exi_template_groups(kinematics, shares, t->cage, error);
    if (result == EX_OK)
        result = exi_template_scene(kinematics, t->cage, shares, &t->scene, error);
    if (result != EX_OK) {
        ex_template_destroy(t);
        t = NULL;
    }
    *made = t;
    free(shares);
    ex_kinematics_destroy(neutral);
    exi_bones_free(&bones);
    return result;
}
