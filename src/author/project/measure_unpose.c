/*
 * Un-posing an example (Shape by Example, equation 7): the palette of its whole pose, and the form at rest that this
 * palette would move to the sculpted one. A joint's local transform is its rest and what the pose says relative to it:
 *
 *     translation = rest translation + rest rotation * relative translation,
 *     rotation = rest rotation * relative rotation,    scale = rest scale * relative scale.
 */
#include "author/formats/array.h"
#include "author/project/measure.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"
#include "runtime/pose/transform.h"

#include <math.h>
#include <stdlib.h>

/* Everything on the way, in one place to be released. */
typedef struct posing {
    ex_transform *locals; /* [joint_count] */
    float *shifts;        /* [joint_count][3] */
    float *matrices;      /* [joint_count][12] */
    float *centres;       /* [joint_count][3] */
    void *scratch, *palette;
    float *posed, *base; /* [vertex_count][3] */
} posing;

static bool open_posing(posing *p, const exi_measure *m) {
    const size_t joints = m->joint_count, count = 3 * (size_t)m->mesh->vertex_count;
    *p = (posing){.locals = exi_array_allocate(joints, sizeof *p->locals),
                  .shifts = exi_array_allocate(joints, 3 * sizeof *p->shifts),
                  .matrices = exi_array_allocate(joints, 12 * sizeof *p->matrices),
                  .centres = exi_array_allocate(joints, 3 * sizeof *p->centres),
                  .scratch = exi_array_allocate(ex_skeleton_scratch_size(m->skeleton), 1),
                  .palette = exi_array_allocate(ex_palette_size(m->view->skinning, (int)joints), 1),
                  .posed = exi_array_allocate(count, sizeof *p->posed),
                  .base = exi_array_allocate(count, sizeof *p->base)};
    return p->locals && p->shifts && p->matrices && p->centres && p->scratch && p->palette && p->posed && p->base;
}

static void close_posing(posing *p) {
    free(p->locals);
    free(p->shifts);
    free(p->matrices);
    free(p->centres);
    free(p->scratch);
    free(p->palette);
    free(p->posed);
    free(p->base);
}

static ex_transform compose(const ex_transform *rest, const ex_transform *relative) {
    const ex_transform none = ex_transform_identity();
    exi_local a, b;
    double moved[3], turned[4];
    exi_local_read(rest, &none, &a);
    exi_local_read(relative, &none, &b);
    exi_rotate(a.rotation, b.translation, moved);
    exi_quaternion_multiply(a.rotation, b.rotation, turned);
    ex_transform out;
    for (int c = 0; c < 3; c++) {
        out.translation[c] = (float)(a.translation[c] + moved[c]);
        out.scale[c] = (float)(a.scale[c] * b.scale[c]);
    }
    for (int c = 0; c < 4; c++)
        out.rotation[c] = (float)turned[c];
    return out;
}

static const ex_palette *make_palette(const exi_measure *m, const ex_project_example *example, const float *shifts,
                                      posing *p) {
    for (size_t j = 0; j < m->joint_count; j++)
        p->locals[j] = ex_skeleton_rest(m->skeleton, (int)j);
    for (int i = 0; i < example->joint_count; i++) {
        const int joint = ex_skeleton_find(m->skeleton, example->joints[i].name);
        if (joint >= 0)
            p->locals[joint] = compose(&p->locals[joint], &example->joints[i].relative);
    }
    for (size_t i = 0; i < 3 * m->joint_count; i++)
        p->shifts[i] = (float)(m->shift[i] + (shifts ? (double)shifts[i] : 0));
    ex_skeleton_evaluate(m->skeleton, &(ex_skeleton_input){.locals = p->locals, .shifts = p->shifts},
                         &(ex_skeleton_output){.matrices = p->matrices, .centres = p->centres}, p->scratch);
    return ex_palette_make(&(ex_palette_def){.method = m->view->skinning,
                                             .joint_count = (int)m->joint_count,
                                             .matrices = p->matrices,
                                             .centres = p->centres},
                           p->palette);
}

static ex_result round_form(const exi_measure *m, const ex_mesh *form, posing *p, ex_error *error) {
    for (size_t i = 0; i < 3 * (size_t)form->vertex_count; i++) {
        p->posed[i] = (float)form->positions[i];
        p->base[i] = (float)m->base[i];
        if (!isfinite(p->posed[i]))
            return exi_error(error, EX_ERROR_DATA, "vertex %zu is too far away for a float", i / 3);
    }
    return EX_OK;
}

/* Un-poses again with a higher limit: what is damped then and was not before. rest is not written to. */
static bool find_near(const exi_measure *m, const ex_palette *palette, const posing *p, exi_measured *out) {
    const size_t vertices = (size_t)m->mesh->vertex_count;
    double *unused = exi_array_allocate(3 * vertices, sizeof *unused);
    out->near = exi_array_allocate(vertices, sizeof *out->near);
    if (!unused || !out->near) {
        free(unused);
        return false;
    }
    const int count = ex_skin_unpose(m->skin, palette,
                                     &(ex_unpose_job){.posed = p->posed,
                                                      .rest = p->base,
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

ex_result exi_measure_unpose(const exi_measure *m, const ex_project_example *example, const ex_mesh *form,
                             const float *shifts, double *rest, exi_measured *out, ex_error *error) {
    if (!m->skeleton || !m->skin)
        return exi_error(error, EX_ERROR_DATA,
                         "it cannot be un-posed, because no joint moves the mesh: name a \"skeleton\" with a skin, or "
                         "let the layer's \"shape\" be \"positions\"");
    posing p;
    const size_t vertices = (size_t)m->mesh->vertex_count;
    out->damped = exi_array_allocate(vertices, sizeof *out->damped);
    ex_result result = open_posing(&p, m) && out->damped
                           ? round_form(m, form, &p, error)
                           : exi_error_memory(error, "un-posing", vertices * (24 + sizeof *out->damped));
    if (result == EX_OK) {
        const ex_palette *palette = make_palette(m, example, shifts, &p);
        out->damped_count = ex_skin_unpose(m->skin, palette,
                                           &(ex_unpose_job){.posed = p.posed,
                                                            .rest = p.base,
                                                            .out = rest,
                                                            .damped = out->damped,
                                                            .damped_capacity = (int)vertices});
        if (m->near_limit > 0 && !find_near(m, palette, &p, out))
            result = exi_error_memory(error, "un-posing", vertices * sizeof *out->near);
    }
    close_posing(&p);
    return result;
}
