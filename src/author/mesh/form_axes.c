/*
 * Turns a mesh from metres with y up to the unit and the up axis of a project's files.
 */
#include <exemplar/author/mesh.h>

#include <stddef.h>

/* y up becomes z up: y is z, and z is -y. */
static void turn(double v[3]) {
    const double y = v[1];
    v[1] = 0 - v[2]; /* never -0 */
    v[2] = y;
}

void ex_mesh_to_axes(ex_mesh *mesh, ex_form_axes axes) {
    for (size_t v = 0; v < (size_t)mesh->vertex_count; v++) {
        double *p = mesh->positions + 3 * v;
        if (axes.z_up)
            turn(p);
        for (int c = 0; c < 3 && axes.unit > 0 && axes.unit != 1; c++)
            p[c] /= axes.unit;
    }
    for (size_t n = 0; axes.z_up && n < (size_t)mesh->normal_count; n++)
        turn(mesh->normals + 3 * n);
}
