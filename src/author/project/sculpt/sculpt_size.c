/*
 * Sculpts in another unit. Programs differ in their unit of length, and most exporters write bare numbers: a sculpt
 * that is a hundred times as large as the mesh is in centimetres, not a giant.
 */
#include "author/base/array.h"
#include "author/project/sculpt/sculpt.h"
#include "author/project/skeleton/skeleton.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* A form larger or smaller than the mesh by this factor is in another unit. */
static const double far_larger = 20;
/* In sizes of the mesh: the box of a form that is farther off is at another place. */
static const double far_away = 5;

static const struct {
    const char *name;
    double metres;
} units[] = {{"millimetres", 0.001}, {"centimetres", 0.01}, {"inches", 0.0254}, {"metres", 1}};

/* Returns the unit that is within a factor of 1.4 of a length in metres, or -1. */
static int find_unit(double metres) {
    for (int i = 0; i < (int)(sizeof units / sizeof *units); i++)
        if (fabs(log(metres / units[i].metres)) < log(1.4))
            return i;
    return -1;
}

bool exi_form_has_other_unit(double own, const ex_mesh *form, double unit, char *text, size_t size) {
    const double ratio = own > 0 ? ex_mesh_size(form) / own : 1;
    if (!(ratio > 0) || (ratio <= far_larger && ratio >= 1 / far_larger))
        return false;
    const int from = find_unit(unit / ratio), to = find_unit(unit);
    const char *wanted = to >= 0 ? units[to].name : "the project's unit";
    if (from >= 0)
        snprintf(text, size,
                 "is %.3g times as large as the mesh: it is likely in %s; export it in %s, or scale it by %.3g", ratio,
                 units[from].name, wanted, units[from].metres / unit);
    else
        snprintf(text, size,
                 "is %.3g times as large as the mesh: it is likely in another unit; export it in %s, or scale it by "
                 "%.2g",
                 ratio, wanted, 1 / ratio);
    return true;
}

static void find_centre(const ex_mesh *mesh, double centre[3]) {
    for (int c = 0; c < 3; c++) {
        double least = INFINITY, most = -INFINITY;
        for (size_t i = (size_t)c; i < 3 * (size_t)mesh->vertex_count; i += 3) {
            least = fmin(least, mesh->positions[i]);
            most = fmax(most, mesh->positions[i]);
        }
        centre[c] = (least + most) / 2;
    }
}

/* Skins positions in metres at rest, in place. False without memory. */
static bool skin_at_rest(const ex_skeleton *skeleton, const ex_skin *skin, float *positions) {
    const int joints = ex_skeleton_joint_count(skeleton);
    float *matrices = exi_array_allocate((size_t)joints, 12 * sizeof *matrices);
    void *scratch = exi_array_allocate(ex_skeleton_scratch_size(skeleton), 1);
    void *memory = exi_array_allocate(ex_palette_size(EX_SKINNING_LINEAR, joints), 1);
    const bool fits = matrices && scratch && memory;
    if (fits) {
        ex_skeleton_evaluate(skeleton, NULL, &(ex_skeleton_output){.matrices = matrices}, scratch);
        const ex_palette_def def = {.method = EX_SKINNING_LINEAR, .joint_count = joints, .matrices = matrices};
        ex_skin_apply(
            skin, ex_palette_make(&def, memory),
            &(ex_skin_job){.end = ex_skin_vertex_count(skin), .positions = positions, .out_positions = positions});
    }
    free(matrices);
    free(scratch);
    free(memory);
    return fits;
}

/* Poses the mesh, given as in its file, at rest: a mesh bound in centimetres is as large as people see it. If the
 * skeleton cannot be read, building reports that. False without memory. */
static bool pose_at_rest(const ex_project_view *view, ex_mesh *mesh) {
    ex_mesh *read = NULL;
    ex_skeleton *skeleton = NULL;
    ex_skin *skin = NULL;
    ex_error unused;
    ex_result result = view->skeleton ? exi_project_read_mesh(view, view->mesh, &read, &unused) : EX_OK;
    if (!read)
        return result != EX_ERROR_MEMORY;
    for (size_t i = 0; i < 3 * (size_t)read->vertex_count; i++)
        read->positions[i] = (double)(float)read->positions[i];
    const size_t count = 3 * (size_t)read->vertex_count;
    result = exi_skeleton_read(view, read, &skeleton, &skin, &unused);
    bool fits = result != EX_ERROR_MEMORY;
    if (result == EX_OK && skin && read->vertex_count == mesh->vertex_count) {
        float *positions = exi_array_allocate(count, sizeof *positions);
        for (size_t i = 0; positions && i < count; i++)
            positions[i] = (float)read->positions[i];
        fits = positions && skin_at_rest(skeleton, skin, positions);
        for (size_t i = 0; fits && i < count; i += 3)
            exi_project_unconvert(view, positions + i, mesh->positions + i);
        free(positions);
    }
    ex_skeleton_destroy(skeleton);
    ex_skin_destroy(skin);
    ex_mesh_destroy(read);
    return fits;
}

static ex_result check_size(const ex_project_view *view, const char *path, const ex_mesh *mesh, const ex_mesh *sculpt,
                            ex_error *error) {
    char text[200];
    double a[3], b[3];
    if (exi_form_has_other_unit(ex_mesh_size(mesh), sculpt, view->unit, text, sizeof text))
        return ex_error_kind(error, ex_error_set(error, EX_ERROR_DATA, "%s %s", path, text), "other_unit");
    find_centre(mesh, a);
    find_centre(sculpt, b);
    const double off = hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]), size = ex_mesh_size(mesh);
    if (off > far_away * size && off > far_away * ex_mesh_size(sculpt))
        return ex_error_kind(
            error,
            ex_error_set(error, EX_ERROR_DATA,
                         "%s is %.3g times the mesh's size away from the mesh: export it at the origin "
                         "of the mesh, with its transform applied",
                         path, off / size),
            "far_away");
    return EX_OK;
}

ex_result exi_sculpt_check_size(const ex_project_view *view, const char *path, const ex_mesh *mesh,
                                const ex_mesh *sculpt, ex_error *error) {
    if (mesh->vertex_count == 0 || sculpt->vertex_count == 0)
        return EX_OK;
    ex_mesh *posed = ex_mesh_copy(mesh);
    const ex_result result = posed && pose_at_rest(view, posed)
                                 ? check_size(view, path, posed, sculpt, error)
                                 : ex_error_memory(error, "a form", (size_t)mesh->vertex_count * 24);
    ex_mesh_destroy(posed);
    return result;
}
