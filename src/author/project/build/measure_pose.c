/*
 * The whole pose of an example as the joints' palette. A joint's local transform combines its rest with the pose's
 * transform relative to it:
 *
 *     translation = rest translation + rest rotation * relative translation,
 *     rotation = rest rotation * relative rotation,    scale = rest scale * relative scale.
 *
 * The mesh moves as in evaluation: the layers of rest forms, the skin, then the layers in the frame `skinned`, turned
 * by each vertex's rotation.
 */
#include "author/base/array.h"
#include "author/project/build/measure.h"
#include "runtime/base/vector.h"
#include "runtime/pose/local.inl"

#include <stdlib.h>
#include <string.h>

static bool allocate(exi_posing *p, const exi_measure *m) {
    const size_t joints = m->joint_count;
    *p = (exi_posing){.locals = exi_array_allocate(joints, sizeof *p->locals),
                      .shifts = exi_array_allocate(joints, 3 * sizeof *p->shifts),
                      .matrices = exi_array_allocate(joints, 12 * sizeof *p->matrices),
                      .centres = exi_array_allocate(joints, 3 * sizeof *p->centres),
                      .turns = exi_array_allocate(joints, 4 * sizeof *p->turns),
                      .scratch = exi_array_allocate(ex_skeleton_scratch_size(m->skeleton), 1),
                      .memory = exi_array_allocate(ex_palette_size(m->view->skinning, (int)joints), 1)};
    return p->locals && p->shifts && p->matrices && p->centres && p->turns && p->scratch && p->memory;
}

void exi_posing_close(exi_posing *p) {
    free(p->locals);
    free(p->shifts);
    free(p->matrices);
    free(p->centres);
    free(p->turns);
    free(p->scratch);
    free(p->memory);
    *p = (exi_posing){0};
}

ex_transform exi_pose_compose(const ex_transform *rest, const ex_transform *relative) {
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

bool exi_posing_open(exi_posing *p, const exi_measure *m, const ex_project_example *example, const float *shifts) {
    if (m->carried)
        return exi_posing_open_carried(p, m, example);
    if (!allocate(p, m))
        return false;
    exi_example_joints(m->skeleton, example, p->locals);
    for (size_t i = 0; i < 3 * m->joint_count; i++)
        p->shifts[i] = (float)(m->shift[i] + (shifts ? (double)shifts[i] : 0));
    ex_skeleton_evaluate(m->skeleton, &(ex_skeleton_input){.locals = p->locals, .shifts = p->shifts},
                         &(ex_skeleton_output){.matrices = p->matrices, .centres = p->centres, .turns = p->turns},
                         p->scratch);
    p->palette = ex_palette_make(&(ex_palette_def){.method = m->view->skinning,
                                                   .joint_count = (int)m->joint_count,
                                                   .matrices = p->matrices,
                                                   .centres = p->centres,
                                                   .rotations = m->turned != NULL,
                                                   .turns = p->turns,
                                                   .scale = ex_skeleton_scale(m->skeleton)},
                                 p->memory);
    return true;
}

static bool is_zero(const double v[3]) {
    return v[0] == 0 && v[1] == 0 && v[2] == 0;
}

bool exi_posing_turn(const exi_posing *p, const exi_measure *m, float sign, float *positions) {
    const int vertices = m->mesh->vertex_count;
    int count = 0;
    for (int v = 0; m->turned && v < vertices; v++)
        count += !is_zero(m->turned + 3 * (size_t)v);
    if (count == 0)
        return true;
    uint32_t *list = exi_array_allocate((size_t)count, sizeof *list);
    float *vectors = exi_array_allocate((size_t)count, 3 * sizeof *vectors);
    for (int v = 0, at = 0; list && vectors && v < vertices; v++) {
        const double *turned = m->turned + 3 * (size_t)v;
        if (is_zero(turned))
            continue;
        for (int c = 0; c < 3; c++)
            vectors[3 * at + c] = sign * (float)turned[c];
        list[at++] = (uint32_t)v;
    }
    if (list && vectors)
        ex_skin_turn(m->skin, p->palette,
                     &(ex_turn_job){.count = count, .vertices = list, .vectors = vectors, .positions = positions});
    const bool done = list && vectors;
    free(list);
    free(vectors);
    return done;
}

bool exi_posing_apply(const exi_posing *p, const exi_measure *m, float *positions) {
    const size_t count = 3 * (size_t)m->mesh->vertex_count;
    for (size_t i = 0; i < count; i++)
        positions[i] = (float)(m->base[i] + (!p && m->turned ? m->turned[i] : 0));
    if (!p)
        return true;
    ex_skin_apply(m->skin, p->palette,
                  &(ex_skin_job){.end = m->mesh->vertex_count, .positions = positions, .out_positions = positions});
    return exi_posing_turn(p, m, 1, positions);
}
