/*
 * Measuring on a mesh that a driver moves (DrivenShape, 2.7). An example's whole pose is then the motion of the moving
 * frames on the driver's form there, blended as dual quaternions; at the driver's rest form there is no motion. A layer
 * that the driver weighs is evaluated as it will be at runtime, by a rig of that layer.
 */
#include "author/base/array.h"
#include "author/project/build/measure.h"
#include "runtime/base/result.h"
#include "runtime/pose/frame_tree.h"

#include <stdlib.h>
#include <string.h>

/* ---- poses ---- */

/* Places frames that follow a joint at the joints of the example. */
static bool place_joints(const exi_measure *m, const ex_project_example *example, float *matrices) {
    const ex_rig_driver *driver = &m->driver->driving.driver;
    const size_t joints = m->joint_count;
    if (!driver->joints || !m->skeleton)
        return true;
    ex_transform *locals = exi_array_allocate(joints, sizeof *locals);
    float *moved = exi_array_allocate(joints, 12 * sizeof *moved);
    void *scratch = exi_array_allocate(ex_skeleton_scratch_size(m->skeleton), 1);
    const bool fits = locals && moved && scratch;
    if (fits) {
        exi_example_joints(m->skeleton, example, locals);
        ex_skeleton_evaluate(m->skeleton, &(ex_skeleton_input){.locals = locals},
                             &(ex_skeleton_output){.matrices = moved}, scratch);
    }
    for (int f = 0; fits && f < driver->driver.frame_count; f++)
        if (driver->joints[f] >= 0)
            memcpy(matrices + 12 * (size_t)f, moved + 12 * (size_t)driver->joints[f], 12 * sizeof *matrices);
    free(locals);
    free(moved);
    free(scratch);
    return fits;
}

bool exi_posing_open_carried(exi_posing *p, const exi_measure *m, const ex_project_example *example) {
    const int frames = m->driver->driving.driver.driver.frame_count;
    const float *form = exi_project_driver_form(m->driver, example);
    *p = (exi_posing){.matrices = exi_array_allocate((size_t)frames, 12 * sizeof *p->matrices),
                      .memory = exi_array_allocate(ex_palette_size(EX_SKINNING_DUAL_QUATERNION, frames), 1)};
    if (!p->matrices || !p->memory)
        return false;
    memset(p->matrices, 0, (size_t)frames * 12 * sizeof *p->matrices);
    for (int f = 0; f < frames; f++)
        p->matrices[12 * f] = p->matrices[12 * f + 5] = p->matrices[12 * f + 10] = 1;
    if (form)
        ex_driver_place(m->driver->driver, form, p->matrices);
    if (!place_joints(m, example, p->matrices))
        return false;
    ex_palette *palette = ex_palette_make(
        &(ex_palette_def){.method = EX_SKINNING_DUAL_QUATERNION, .joint_count = frames, .matrices = p->matrices},
        p->memory);
    if (m->driver->links)
        exi_frame_tree_follow(m->driver->links, palette);
    p->palette = palette;
    return true;
}

/* ---- layers that the driver weighs ---- */

ex_result exi_measure_driven_rig(const exi_measure *m, const ex_layer_def *def, ex_rig **rig, ex_error *error) {
    const size_t count = 3 * (size_t)m->mesh->vertex_count;
    ex_rig_driver driver = m->driver->driving.driver;
    float *positions = exi_array_allocate(count, sizeof *positions);
    if (!positions)
        return ex_error_memory(error, "a layer", count * sizeof *positions);
    for (size_t i = 0; i < count; i++)
        positions[i] = (float)m->mesh->positions[i];
    driver.residual = EX_RESIDUAL_NONE;
    driver.push = false;
    ex_rig_def whole = ex_rig_def_default();
    whole.mesh = (ex_rig_mesh){
        .vertex_count = m->mesh->vertex_count, .split_count = m->mesh->vertex_count, .positions = positions};
    whole.layers = def;
    whole.layer_count = 1;
    whole.skeleton = m->skeleton;
    whole.driver = &driver;
    whole.options = (ex_rig_options){.without_normals = true, .without_levels = true};
    const ex_result result = ex_rig_create(&whole, NULL, rig, error);
    free(positions);
    return result;
}

ex_result exi_measure_add_driven(exi_measure *m, int layer, const ex_layer_def *def, ex_error *error) {
    if (m->view->layers[layer].muted)
        return EX_OK;
    const ex_result result = exi_measure_driven_rig(m, def, &m->weighed[layer].own, error);
    m->weighed[layer].rig = m->weighed[layer].own;
    return result;
}

void exi_measure_take_driven(exi_measure *m, int layer, const ex_rig *rig) {
    if (!m->view->layers[layer].muted)
        m->weighed[layer] = (exi_weighed){.rig = rig, .layer = layer};
}

/* Sets the layer's scalar axis, which it may have next to the driver, from any source. */
static void set_scalar(const exi_weighed *w, const ex_project_layer *layer, const double *point, const ex_pose *pose) {
    for (int i = 0; i < layer->axis_count; i++)
        if (layer->axes[i].axis.kind == EX_AXIS_SCALAR)
            ex_rig_set_input(w->rig, ex_rig_layer_input(w->rig, w->layer, i), point, pose);
}

bool exi_measure_add_weighed(const exi_measure *m, int layer, const exi_weighed *w, const ex_project_example *at,
                             double *sum) {
    const size_t count = 3 * (size_t)m->mesh->vertex_count;
    const ex_evaluation evaluation = {.unskinned = true, .unsettled = true};
    bool *muted = exi_array_allocate((size_t)ex_rig_layer_count(w->rig), sizeof *muted);
    float *form = exi_array_allocate(count, sizeof *form);
    void *scratch = exi_array_allocate(ex_rig_scratch_size(w->rig, &evaluation, 1), 1);
    ex_pose pose = ex_pose_create(w->rig);
    const bool fits = muted && form && scratch && pose.inputs;
    for (int l = 0; fits && l < ex_rig_layer_count(w->rig); l++)
        muted[l] = l != w->layer;
    if (fits && at && m->skeleton)
        exi_example_joints(m->skeleton, at, pose.joints);
    if (fits && at)
        set_scalar(w, &m->view->layers[layer], at->points[layer], &pose);
    if (fits) {
        pose.driver = at ? exi_project_driver_form(m->driver, at) : NULL;
        ex_rig_evaluate(w->rig, &pose, &(ex_output){.positions = form},
                        &(ex_evaluation){.unskinned = true, .unsettled = true, .muted = muted}, scratch);
    }
    for (size_t i = 0; fits && i < count; i++)
        sum[i] += (double)form[i] - (double)(float)m->mesh->positions[i];
    free(pose.inputs);
    free(scratch);
    free(form);
    free(muted);
    return fits;
}
