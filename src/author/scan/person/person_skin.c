/*
 * The skin of a template person: the part of it that scans can show, and its registration to a scan.
 */
#include "author/base/array.h"
#include "author/mesh/mesh_search.h"
#include "author/scan/fit/fit.h"
#include "author/scan/person/person.h"
#include "author/scan/session/session.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Hands and feet keep their form: scans hardly show fingers. */
static const float stiff_ends = 8;
/* Determinant of blended rotations below which skin tells nothing of its neutral pose; rounds of smoothing. */
static const double collapse = 0.3;
enum { SMOOTHINGS = 60 };

/* ---- the outside ---- */

/* Vertices that face other skin closely on all sides, as in the mouth, are never seen. */
ex_result exi_carry_find_outside(exi_carry *w) {
    const ex_mesh *mesh = w->human->mesh;
    const size_t count = (size_t)w->vertex_count;
    exi_search skin = {0};
    double(*normals)[3] = exi_array_allocate(count, sizeof *normals);
    const ex_result result = normals ? exi_search_make(&skin, &mesh, 1, w->error) : exi_carry_no_memory(w);
    if (result == EX_OK)
        exi_human_normals(w->human, (const double(*)[3])(const void *)mesh->positions, normals);
    for (size_t v = 0; result == EX_OK && v < count; v++) {
        double across[2][3];
        int open = 0;
        exi_fit_across(normals[v], across);
        for (int k = 0; k < 13; k++) { /* along the normal, and on two cones around it */
            const double angle = 1.0471975511965976 * (k % 6), tilt = k == 0 ? 0 : k < 7 ? 0.5 : 1.1;
            ex_ray ray = {.t_min = 0.002F, .t_max = 0.5F};
            for (int c = 0; c < 3; c++) {
                ray.origin[c] = skin.positions[3 * v + (size_t)c];
                ray.direction[c] =
                    (float)(normals[v][c] + tilt * (cos(angle) * across[0][c] + sin(angle) * across[1][c]));
            }
            open += !ex_bounds_blocked(skin.bounds, &ray);
        }
        w->matching[v] = open >= 2 ? 1 : 0;
    }
    exi_search_free(&skin);
    free(normals);
    return result;
}

void exi_carry_set_stiffness(exi_carry *w) {
    for (int v = 0; v < w->vertex_count; v++) {
        double ends = 0;
        for (int i = 0; i < EXI_HUMAN_INFLUENCES; i++) {
            const size_t at = (size_t)v * EXI_HUMAN_INFLUENCES + (size_t)i;
            bool end = true; /* the joint is the last of its limb */
            for (int j = 0; j < w->joint_count; j++)
                end = end && w->human->kinematics->joints[j].parent != w->human->joints[at];
            if (end && strcmp(w->human->kinematics->joints[w->human->joints[at]].name, "head") != 0)
                ends += (double)w->human->weights[at];
        }
        w->stiffness[v] = 1 + (stiff_ends - 1) * (float)ends;
    }
}

/* ---- one scan ---- */

void exi_carry_pose(exi_carry *w, const ex_kin_pose *pose, double (*vertices)[3]) {
    exi_human_frames(w->human, (const double(*)[3])w->joints, pose, w->rotations, w->posed);
    exi_human_skin(w->human, (const double(*)[3])w->rest, (const double(*)[3])w->joints,
                   (const double(*)[9])w->rotations, (const double(*)[3])w->posed, vertices);
}

ex_result exi_carry_register(exi_carry *w, exi_carry_scan *o, const exi_carry_input *in, ex_registered **registered) {
    ex_register_def def = ex_register_def_default();
    exi_carry_pose(w, &o->pose, (double(*)[3])(void *)w->mesh->positions);
    def.mesh = w->mesh;
    def.scans = in->scan.meshes;
    def.scan_count = in->scan.mesh_count;
    def.anchors = in->anchors;
    def.anchor_count = exi_carry_anchors(w, o, true, in->anchors);
    def.stiffness = w->stiffness;
    def.matching = w->matching;
    def.noise = w->session->noise;
    def.tasks = w->options->tasks;
    const ex_result result = ex_register(&def, registered, w->error);
    if (result != EX_OK)
        return ex_error_within(w->error, result, "scan '%s'", w->session->scans[o->scan].name);
    int outside = 0, seen = 0;
    for (int v = 0; v < w->vertex_count; v++) {
        outside += w->matching[v] > 0;
        seen += w->matching[v] > 0 && (*registered)->confidences[v] > 0.1F;
    }
    o->report->anchor_count = def.anchor_count;
    o->report->anchor_rms = (*registered)->anchor_rms;
    o->report->rms = (*registered)->rms;
    o->report->seen = outside > 0 ? (double)seen / outside : 0;
    o->report->flipped_count = (*registered)->flipped_count;
    return EX_OK;
}

/* Solves m x = b, and returns the determinant of m: near 0 for skin that collapses. */
static double solve(const double m[9], const double b[3], double x[3]) {
    double c[3][3];
    for (int i = 0; i < 3; i++)
        exi_cross(m + 3 * ((i + 1) % 3), m + 3 * ((i + 2) % 3), c[i]);
    const double det = exi_dot3(m, c[0]);
    for (int i = 0; i < 3; i++)
        x[i] = det != 0 ? (b[0] * c[0][i] + b[1] * c[1][i] + b[2] * c[2][i]) / det : 0;
    return det;
}

/* Lets displacements [vertex_count] that are little known follow their neighbours'. known: [vertex_count]. */
static void smooth(const ex_mesh *mesh, const double *known, double (*displacements)[3], double (*sums)[4]) {
    for (int k = 0; k < SMOOTHINGS; k++) {
        memset(sums, 0, (size_t)mesh->vertex_count * sizeof *sums);
        for (int f = 0; f < mesh->face_count; f++) {
            const int begin = mesh->face_offsets[f], end = mesh->face_offsets[f + 1];
            for (int c = begin; c < end; c++) {
                const int u = mesh->corners[c], v = mesh->corners[c + 1 < end ? c + 1 : begin];
                for (int i = 0; i < 3; i++) {
                    sums[u][i] += displacements[v][i];
                    sums[v][i] += displacements[u][i];
                }
                sums[u][3]++;
                sums[v][3]++;
            }
        }
        for (int v = 0; v < mesh->vertex_count; v++)
            for (int i = 0; sums[v][3] > 0 && i < 3; i++)
                displacements[v][i] = known[v] * displacements[v][i] + (1 - known[v]) * sums[v][i] / sums[v][3];
    }
}

/* Un-poses the registered reference, where it was seen, and makes it the person. Skin that nobody saw, or that
 * collapses, moves with its neighbours. */
ex_result exi_carry_take_person(exi_carry *w, const exi_carry_scan *o, const ex_registered *registered) {
    const size_t count = (size_t)w->vertex_count;
    double(*moved)[3] = exi_array_allocate(count, sizeof *moved), (*sums)[4] = exi_array_allocate(count, sizeof *sums);
    double *known = exi_array_allocate(count, sizeof *known);
    const ex_result result = moved && sums && known ? EX_OK : exi_carry_no_memory(w);
    exi_human_frames(w->human, (const double(*)[3])w->joints, &o->pose, w->rotations, w->posed);
    for (size_t v = 0; result == EX_OK && v < count; v++) {
        double m[9] = {0}, shift[3] = {0}, d[3], x[3];
        for (int i = 0; i < EXI_HUMAN_INFLUENCES; i++) {
            const size_t at = v * EXI_HUMAN_INFLUENCES + (size_t)i;
            const double weight = (double)w->human->weights[at], *r = w->rotations[w->human->joints[at]];
            const double *from = w->joints[w->human->joints[at]], *to = w->posed[w->human->joints[at]];
            for (int k = 0; k < 9; k++)
                m[k] += weight * r[k];
            for (int c = 0; c < 3; c++)
                shift[c] += weight * (to[c] - r[3 * c] * from[0] - r[3 * c + 1] * from[1] - r[3 * c + 2] * from[2]);
        }
        exi_subtract(registered->vertices[v], shift, d);
        const double det = solve(m, d, x);
        known[v] = det > collapse ? (double)registered->confidences[v] * (det - collapse) / (1 - collapse) : 0;
        for (int c = 0; c < 3; c++)
            moved[v][c] = known[v] > 0 ? x[c] - w->rest[v][c] : 0;
    }
    if (result == EX_OK)
        smooth(w->human->mesh, known, moved, sums);
    for (size_t v = 0; result == EX_OK && v < count; v++)
        for (int c = 0; c < 3; c++)
            w->rest[v][c] += moved[v][c];
    free(moved);
    free(sums);
    free(known);
    return result;
}
