/*
 * Sculpts in another unit. Programs differ in their unit of length, and most exporters write bare numbers: a sculpt
 * that is a hundred times as large as the mesh is in centimetres, not a giant.
 */
#include "author/project/sculpt/sculpt.h"

#include <math.h>
#include <stdio.h>

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

bool exi_form_has_other_unit(const ex_mesh *mesh, const ex_mesh *form, double unit, char *text, size_t size) {
    const double own = ex_mesh_size(mesh), ratio = own > 0 ? ex_mesh_size(form) / own : 1;
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

ex_result exi_sculpt_check_size(const ex_project_view *view, const char *path, const ex_mesh *mesh,
                                const ex_mesh *sculpt, ex_error *error) {
    char text[200];
    double a[3], b[3];
    if (mesh->vertex_count == 0 || sculpt->vertex_count == 0)
        return EX_OK;
    if (exi_form_has_other_unit(mesh, sculpt, view->unit, text, sizeof text))
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
