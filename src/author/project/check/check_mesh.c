/*
 * Checks the mesh, and forms against it: that they can be read, that floats can hold them, their size, and their
 * connectivity, with a way to repair it.
 */
#include "author/project/check/check.h"
#include "author/project/sculpt/reorder.h"
#include "author/project/sculpt/sculpt.h"
#include "author/project/skeleton/skeleton.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdlib.h>

/* Reports vertices that no float can hold; true if there are none. */
static bool fits_floats(exi_checker *c, const ex_mesh *mesh, const char *name, const char *where) {
    int count = 0, first = 0;
    for (int v = 0; v < mesh->vertex_count; v++) {
        bool fits = true;
        for (size_t i = 3 * (size_t)v; i < 3 * (size_t)v + 3; i++)
            fits = fits && isfinite((float)mesh->positions[i]);
        if (!fits)
            first = count++ == 0 ? v : first;
    }
    if (count > 1)
        exi_check_add(c, EX_SEVERITY_ERROR, "not_finite", where, first,
                      "'%s': vertex %d and %d more (counting from 0) are too far away for a float", name, first,
                      count - 1);
    else if (count == 1)
        exi_check_add(c, EX_SEVERITY_ERROR, "not_finite", where, first,
                      "'%s': vertex %d (counting from 0) is too far away for a float", name, first);
    return count == 0;
}

/* True if any triangle of a face's fan has an area. */
static bool has_area(const ex_mesh *mesh) {
    for (int f = 0; f < mesh->face_count; f++)
        for (int k = mesh->face_offsets[f] + 1; k + 1 < mesh->face_offsets[f + 1]; k++) {
            const double *a = mesh->positions + 3 * (size_t)mesh->corners[mesh->face_offsets[f]];
            const double *b = mesh->positions + 3 * (size_t)mesh->corners[k];
            const double *d = mesh->positions + 3 * (size_t)mesh->corners[k + 1];
            double one[3], two[3], normal[3];
            for (int i = 0; i < 3; i++) {
                one[i] = b[i] - a[i];
                two[i] = d[i] - a[i];
            }
            exi_cross(one, two, normal);
            if (exi_dot3(normal, normal) > 0)
                return true;
        }
    return false;
}

void exi_check_mesh(exi_checker *c) {
    ex_error error = {0};
    exi_check_progress(c, "mesh");
    if (exi_project_read_mesh(c->view, c->view->mesh, &c->mesh, &error) != EX_OK) {
        exi_check_failure(c, "unreadable", "mesh", &error);
        return;
    }
    if (!fits_floats(c, c->mesh, c->view->mesh, "mesh")) {
        ex_mesh_destroy(c->mesh);
        c->mesh = NULL;
        return;
    }
    /* Round as in a rig: differences are measured from the rounded mesh. */
    for (size_t i = 0; i < 3 * (size_t)c->mesh->vertex_count; i++)
        c->mesh->positions[i] = (double)(float)c->mesh->positions[i];
    c->size = ex_mesh_size(c->mesh);
    c->size = c->size > 0 ? c->size : 1;
    if (c->mesh->face_count == 0)
        exi_check_add(c, EX_SEVERITY_WARNING, "no_faces", "mesh", 0, "'%s' has no faces: viewers will show points",
                      c->view->mesh);
    else if (!has_area(c->mesh))
        exi_check_add(c, EX_SEVERITY_WARNING, "no_area", "mesh", c->mesh->face_count,
                      "'%s': all faces have their corners on a line or in one place, so there is nothing to see",
                      c->view->mesh);
}

/* ---- forms ---- */

/* True if the form has the face count of the mesh at a refined level. */
static bool is_refined(const exi_checker *c, const ex_mesh *form) {
    const ex_mesh *mesh = c->mesh;
    const bool triangles = c->view->subdivision.scheme == EX_SCHEME_LOOP;
    double faces = triangles ? 4 * (mesh->corner_count - 2.0 * mesh->face_count) : mesh->corner_count;
    for (int l = 1; c->view->subdivide && l <= EX_SUBDIVIDE_LEVELS; l++, faces *= 4)
        if (form->face_count > mesh->face_count && form->face_count == faces)
            return true;
    return false;
}

static const char *repair_hint(exi_checker *c, const ex_mesh *form) {
    if (form->vertex_count != c->mesh->vertex_count) {
        if (is_refined(c, form))
            return "it is as fine as the mesh once it is subdivided: examples are forms of the mesh itself, the "
                   "cage";
        if (form->vertex_count > c->mesh->vertex_count && exi_place_count(form, &c->failed) == c->mesh->vertex_count)
            return "merging vertices at the same position would leave as many as the mesh has: they were split on "
                   "export, as happens at seams of textures and normals";
        return "it is another mesh: export it again from the one that the project names";
    }
    switch (exi_find_order(c->mesh, form, NULL, &c->failed)) {
    case EXI_ORDER_FACES:
        return "its vertices are in the mesh's order, but its faces are not, or begin at another corner: export it "
               "again with the order of faces kept";
    case EXI_ORDER_TEXCOORDS:
        return "it is the same mesh with its vertices in another order: export it again with the vertex order kept, or "
               "match it by texture coordinates";
    case EXI_ORDER_POSITIONS:
        return "it is the same mesh with its vertices in another order: export it again with the vertex order kept, or "
               "match it by rest position";
    default:
        return "no other order of its vertices, by texture coordinates or by rest position, gives the mesh's faces: "
               "export it again from the mesh that the project names, with the vertex order kept";
    }
}

static bool fits_mesh(exi_checker *c, const ex_project_example *example, const ex_mesh *form, const char *where) {
    ex_error error = {0};
    if (ex_mesh_compare_connectivity(c->mesh, form, &error) == EX_OK) {
        char text[200];
        if (exi_form_has_other_unit(c->size, form, c->view->unit, text, sizeof text) &&
            exi_form_has_other_unit(c->size * exi_skeleton_scale(c->skeleton), form, c->view->unit, text, sizeof text))
            exi_check_add(c, EX_SEVERITY_WARNING, "size", where, ex_mesh_size(form) / c->size, "'%s' (%s) %s",
                          example->name, example->mesh, text);
        return true;
    }
    exi_check_add(c, EX_SEVERITY_ERROR, "connectivity", where, 0, "'%s' (%s): %s; %s", example->name, example->mesh,
                  error.text, repair_hint(c, form));
    return false;
}

ex_mesh *exi_check_read_form(exi_checker *c, const ex_project_example *example, const char *where) {
    ex_mesh *form = NULL;
    ex_error error = {0};
    if (exi_project_read_mesh(c->view, example->mesh, &form, &error) != EX_OK) {
        exi_check_failure(c, "unreadable", where, &error);
        return NULL;
    }
    const bool finite = fits_floats(c, form, example->name, where);
    if ((c->mesh && !fits_mesh(c, example, form, where)) || !finite) {
        ex_mesh_destroy(form);
        form = NULL;
    }
    return form;
}
