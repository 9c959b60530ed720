/*
 * Un-poses an example (Shape by Example, equation 7): finds the form at rest that the palette of its whole pose moves
 * to the sculpted one, after subtracting the layers added after skinning.
 */
#include "author/base/array.h"
#include "author/project/build/measure.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"
#include "runtime/pose/matrix.h"

#include <math.h>
#include <stdlib.h>

/* The posed form, and the base that damped directions tend to. */
typedef struct forms {
    float *posed, *base; /* [vertex_count][3] */
} forms;

static ex_result round_form(const exi_measure *m, const ex_mesh *form, const forms *f, ex_error *error) {
    for (size_t i = 0; i < 3 * (size_t)form->vertex_count; i++) {
        f->posed[i] = (float)form->positions[i];
        f->base[i] = (float)m->base[i];
        if (!isfinite(f->posed[i]))
            return ex_error_set(error, EX_ERROR_DATA, "vertex %zu is too far away for a float", i / 3);
    }
    return EX_OK;
}

/* Un-poses again with a higher limit, to find vertices that are damped only then. Does not write rest. */
static bool find_near(const exi_measure *m, const ex_palette *palette, const forms *f, exi_measured *out) {
    const size_t vertices = (size_t)m->mesh->vertex_count;
    double *unused = exi_array_allocate(3 * vertices, sizeof *unused);
    out->near = exi_array_allocate(vertices, sizeof *out->near);
    if (!unused || !out->near) {
        free(unused);
        return false;
    }
    const int count = ex_skin_unpose(m->skin, palette,
                                     &(ex_unpose_job){.posed = f->posed,
                                                      .rest = f->base,
                                                      .out = unused,
                                                      .limit = m->near_limit,
                                                      .damped = out->near,
                                                      .damped_capacity = (int)vertices});
    for (int i = 0, damped = 0; i < count; i++) {
        if (damped < out->damped_count && out->damped[damped].vertex == out->near[i].vertex)
            damped++;
        else
            out->near[out->near_count++] = out->near[i];
    }
    free(unused);
    return true;
}

/*
 * Corrects a form at rest for the rounding of evaluation. Dual quaternions of a mesh bound in another unit move a
 * vertex by a product of two matrices in float, and lose about two bits more than one matrix does. One Newton step
 * takes them back: x += M^-1 (posed - evaluated), except for vertices that were damped.
 */
static bool correct_rounding(const exi_measure *m, const ex_palette *palette, const forms *f, const exi_measured *out,
                             double *rest) {
    const int vertices = m->mesh->vertex_count;
    float *moved = exi_array_allocate((size_t)vertices, 3 * sizeof *moved);
    if (!moved)
        return false;
    for (size_t i = 0; i < 3 * (size_t)vertices; i++)
        moved[i] = (float)rest[i];
    ex_skin_apply(m->skin, palette, &(ex_skin_job){.end = vertices, .positions = moved, .out_positions = moved});
    for (int v = 0, damped = 0; v < vertices; v++) {
        double matrix[12], inverse[12], off[3];
        ex_skin_vertex_matrix(m->skin, palette, v, matrix);
        const bool is_damped = damped < out->damped_count && out->damped[damped].vertex == v;
        damped += is_damped;
        if (is_damped || !exi_matrix_invert(matrix, inverse))
            continue;
        for (size_t c = 0; c < 3; c++)
            off[c] = (double)f->posed[3 * (size_t)v + c] - (double)moved[3 * (size_t)v + c];
        for (size_t c = 0; c < 3; c++)
            rest[3 * (size_t)v + c] += exi_dot3(inverse + 4 * c, off);
    }
    free(moved);
    return true;
}

ex_result exi_measure_no_skin(ex_error *error) {
    return ex_error_set(error, EX_ERROR_DATA,
                        "it cannot be un-posed, because no joint moves the mesh: name a \"skeleton\" with a skin, or "
                        "set the layer's \"shape\" to \"positions\"");
}

ex_result exi_measure_unpose(const exi_measure *m, const exi_posing *p, const ex_mesh *form, double *rest,
                             exi_measured *out, ex_error *error) {
    const size_t vertices = (size_t)m->mesh->vertex_count;
    forms f = {.posed = exi_array_allocate(3 * vertices, sizeof *f.posed),
               .base = exi_array_allocate(3 * vertices, sizeof *f.base)};
    out->damped = exi_array_allocate(vertices, sizeof *out->damped);
    ex_result result = f.posed && f.base && out->damped
                           ? round_form(m, form, &f, error)
                           : ex_error_memory(error, "un-posing", vertices * (24 + sizeof *out->damped));
    if (result == EX_OK && !exi_posing_turn(p, m, -1, f.posed))
        result = ex_error_memory(error, "un-posing", vertices * 16);
    if (result == EX_OK) {
        out->damped_count = ex_skin_unpose(m->skin, p->palette,
                                           &(ex_unpose_job){.posed = f.posed,
                                                            .rest = f.base,
                                                            .out = rest,
                                                            .damped = out->damped,
                                                            .damped_capacity = (int)vertices});
        const bool rounds_twice = m->view->skinning == EX_SKINNING_DUAL_QUATERNION && m->skeleton && !m->carried &&
                                  ex_skeleton_scale(m->skeleton) != 1;
        if (rounds_twice && !correct_rounding(m, p->palette, &f, out, rest))
            result = ex_error_memory(error, "un-posing", vertices * 12);
        if (m->near_limit > 0 && !find_near(m, p->palette, &f, out))
            result = ex_error_memory(error, "un-posing", vertices * sizeof *out->near);
    }
    free(f.posed);
    free(f.base);
    return result;
}
