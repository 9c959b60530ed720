/*
 * Checks of a rig's definition: names, counts, and the consistency of mesh, skeleton, skin, levels and layers. Checks
 * that other rooms make at creation (spaces, skins) are left to them.
 */
#include "runtime/base/result.h"
#include "runtime/base/text.h"
#include "runtime/rig/create.h"
#include "runtime/rig/domains/domain.h"
#include "runtime/weigh/predictor.h"

#include <math.h>
#include <string.h>

/* ---- layers ---- */

static ex_result check_names(const char *const *names, int count, const char *what, ex_error *error) {
    for (int i = 0; i < count; i++) {
        if (!names || !names[i] || !exi_is_name(names[i]))
            return ex_error_set(error, EX_ERROR_ARGUMENT,
                                "%s %d needs a name: readable text of at most %d bytes, without control characters",
                                what, i, EXI_NAME_MAX);
        for (int j = 0; j < i; j++)
            if (strcmp(names[i], names[j]) == 0)
                return ex_error_set(error, EX_ERROR_ARGUMENT, "%s '%s' appears twice", what, names[i]);
    }
    return EX_OK;
}

ex_result exi_check_mask(const ex_layer_def *layer, int vertex_count, ex_error *error) {
    for (int v = 0; layer->mask && v < vertex_count; v++)
        if (!(layer->mask[v] >= 0 && layer->mask[v] <= 1))
            return ex_error_set(error, EX_ERROR_DATA, "the mask at vertex %d is %g, outside [0, 1]", v,
                                (double)layer->mask[v]);
    return EX_OK;
}

static ex_result check_layer(const ex_layer_def *layer, ex_error *error) {
    if (layer->weigh.axis_count < 1 || layer->weigh.example_count < 1)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "a space needs at least one axis and at least one example");
    if ((unsigned)layer->domain >= EX_DOMAIN_COUNT)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "unknown domain");
    ex_result result = check_names(layer->axis_names, layer->weigh.axis_count, "axis", error);
    if (result == EX_OK)
        result = check_names(layer->example_names, layer->weigh.example_count, "example", error);
    if (result != EX_OK)
        return result;
    for (int i = 0; layer->weigh.axes && i < layer->weigh.axis_count; i++) {
        if (layer->weigh.axes[i].kind == EX_AXIS_DRIVER) /* its width is set later */
            continue;
        result = exi_axis_check(&layer->weigh.axes[i], i, error);
        if (result != EX_OK)
            return ex_error_within(error, result, "'%s'", layer->axis_names[i]);
    }
    return EX_OK;
}

static ex_result check_sources(const ex_layer_def *layer, const ex_rig_def *def, ex_error *error) {
    for (int i = 0; layer->sources && layer->weigh.axes && i < layer->weigh.axis_count; i++) {
        const ex_axis_source *source = &layer->sources[i];
        const ex_axis *axis = &layer->weigh.axes[i];
        if (source->joint == -1)
            continue;
        if (!def->skeleton || source->joint < 0 || source->joint >= ex_skeleton_joint_count(def->skeleton))
            return ex_error_set(error, EX_ERROR_ARGUMENT, "axis '%s' reads joint %d, which does not exist",
                                layer->axis_names[i], source->joint);
        if (!exi_reading_suits(&source->reading, axis))
            return ex_error_set(error, EX_ERROR_ARGUMENT,
                                "axis '%s': its joint reading does not match its kind, or its direction has no length",
                                layer->axis_names[i]);
    }
    return EX_OK;
}

ex_result exi_check_shifts(const ex_layer_def *layer, const ex_rig_def *def, ex_error *error) {
    for (int k = 0; layer->form.shifts && k < layer->weigh.example_count; k++) {
        if (!layer->form.shifts[k])
            continue;
        if (!def->skeleton)
            return ex_error_set(error, EX_ERROR_ARGUMENT, "example '%s' moves joints, but the rig has no skeleton",
                                layer->example_names[k]);
        for (int i = 0; i < 3 * ex_skeleton_joint_count(def->skeleton); i++)
            if (!isfinite(layer->form.shifts[k][i]))
                return ex_error_set(error, EX_ERROR_DATA, "example '%s': the position of joint '%s' is not finite",
                                    layer->example_names[k], ex_skeleton_name(def->skeleton, i / 3));
    }
    return EX_OK;
}

/* ---- the driver ---- */

/* The contents of its tables are checked when they are written (drive_source.c). */
static ex_result check_driver(const ex_rig_def *def, ex_error *error) {
    const ex_rig_driver *d = def->driver;
    if (!d)
        return EX_OK;
    if (!d->name || !exi_is_name(d->name) || d->driver.vertex_count < 1 || !d->driver.reference ||
        d->driver.frame_count < 1 || !d->driver.starts || !d->driver.vertices || !d->driver.weights ||
        d->triangle_count < 1 || !d->triangles || d->bind_count < 0 ||
        (d->bind_count > 0 && (!d->binds || !d->vertex_binds)))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "a driver needs a name, vertices, triangles and moving frames");
    if ((unsigned)d->residual >= EX_RESIDUAL_COUNT || !(d->thickness >= 0) || !isfinite(d->thickness))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "unknown residual, or the thickness is below 0");
    for (int f = 0; d->joints && f < d->driver.frame_count; f++) {
        if (d->joints[f] >= 0 && !def->skeleton)
            return ex_error_set(error, EX_ERROR_ARGUMENT,
                                "a moving frame follows a joint, but the rig has no skeleton");
        if (d->joints[f] < -1 || (d->joints[f] >= 0 && d->joints[f] >= ex_skeleton_joint_count(def->skeleton)))
            return ex_error_set(error, EX_ERROR_ARGUMENT, "moving frame %d follows joint %d, which does not exist", f,
                                d->joints[f]);
    }
    for (int l = 0; l < def->layer_count; l++)
        if (ex_weigher_kind_info(def->layers[l].weigh.kind)->is_driven)
            return EX_OK;
    return ex_error_set(error, EX_ERROR_ARGUMENT, "no layer is weighed by the driver '%s'", d->name);
}

static ex_result check_predicted(const ex_layer_def *layer, const ex_rig_def *def, ex_error *error) {
    const ex_predictor *p = layer->driven.predictor;
    if (layer->domain != EX_DOMAIN_FORM || layer->weigh.axis_count != 1)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "a layer that follows motion holds forms, and has one axis");
    if (!p || p->weight_count != layer->weigh.example_count || p->frame_count != def->driver->driver.frame_count)
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "a layer that follows motion needs a predictor for its examples and the driver's frames");
    return EX_OK;
}

/* Checks a layer that the driver weighs: a convex or motion weigher with a driver axis of the driver's name. */
static ex_result check_driven(const ex_layer_def *layer, const ex_rig_def *def, ex_error *error) {
    const bool is_driven = ex_weigher_kind_info(layer->weigh.kind)->is_driven;
    int axis = -1;
    for (int i = 0; layer->weigh.axes && i < layer->weigh.axis_count; i++)
        axis = layer->weigh.axes[i].kind == EX_AXIS_DRIVER ? i : axis;
    if (axis < 0 && !is_driven)
        return EX_OK;
    if (axis < 0 || !is_driven || layer->weigh.axis_count > 2)
        return ex_error_set(
            error, EX_ERROR_ARGUMENT,
            "a convex weigher has one driver axis and at most one scalar axis, a motion weigher one driver axis; no "
            "other weigher has a driver axis");
    if (!def->driver || strcmp(def->driver->name, layer->axis_names[axis]) != 0)
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "axis '%s' is a driver axis, but the rig has no driver of that name",
                            layer->axis_names[axis]);
    if (!exi_domains[layer->domain]->targets || layer->form.shifts)
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "a layer weighed by a driver holds forms or trajectories, and cannot move joints");
    if (layer->weigh.example_count > EX_CONVEX_MAX)
        return ex_error_set(error, EX_ERROR_LIMIT, "a driver has at most %d keys, not %d", EX_CONVEX_MAX,
                            layer->weigh.example_count);
    if (ex_weigher_kind_info(layer->weigh.kind)->is_predicted)
        return check_predicted(layer, def, error);
    if (!layer->driven.keys || layer->driven.view_count < 1 || !layer->driven.views)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "a layer weighed by a driver needs keys and at least one view");
    for (int k = 0; k < layer->weigh.example_count; k++)
        if (!layer->driven.keys[k])
            return ex_error_set(error, EX_ERROR_ARGUMENT, "example '%s' has no driver form", layer->example_names[k]);
    return EX_OK;
}

/* ---- mesh, skeleton, levels ---- */

static ex_result check_tables(const ex_rig_mesh *mesh, ex_error *error) {
    if ((mesh->face_count > 0 && (!mesh->face_sizes || !mesh->corners)) ||
        (mesh->triangle_count > 0 && !mesh->triangles))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "the mesh has faces or triangles, but not their corners");
    return exi_rig_check_mesh(mesh, error);
}

static ex_result check_skin(const ex_rig_def *def, ex_error *error) {
    if ((unsigned)def->skinning >= EX_SKINNING_COUNT)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "unknown skinning method");
    if (!def->skin)
        return EX_OK;
    if (!def->skeleton || ex_skin_joint_count(def->skin) != ex_skeleton_joint_count(def->skeleton))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "the skin has %d joints, and the skeleton %d",
                            ex_skin_joint_count(def->skin), def->skeleton ? ex_skeleton_joint_count(def->skeleton) : 0);
    if (ex_skin_vertex_count(def->skin) != def->mesh.vertex_count)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "the skin has %d vertices, and the mesh %d",
                            ex_skin_vertex_count(def->skin), def->mesh.vertex_count);
    return EX_OK;
}

static ex_result check_levels(const ex_rig_def *def, ex_error *error) {
    if (!def->stencils)
        return def->level == 0 ? EX_OK
                               : ex_error_set(error, EX_ERROR_ARGUMENT,
                                              "level %d was asked for, but the rig has no refined levels", def->level);
    const int levels = ex_stencils_level_count(def->stencils);
    if (ex_stencils_control_count(def->stencils) != def->mesh.vertex_count || (levels > 0 && !def->levels))
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "the stencils belong to another mesh, or their faces are missing");
    if (!ex_stencils_has(def->stencils, def->level))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "the stencils have no level %d", def->level);
    for (int i = 0; i < levels; i++) {
        const ex_rig_mesh *mesh = &def->levels[i];
        if (mesh->vertex_count != ex_stencils_vertex_count(def->stencils, i + 1))
            return ex_error_set(error, EX_ERROR_ARGUMENT, "level %d has %d vertices, but its stencils have %d", i + 1,
                                mesh->vertex_count, ex_stencils_vertex_count(def->stencils, i + 1));
        ex_result result = check_tables(mesh, error);
        if (result != EX_OK)
            return ex_error_within(error, result, "level %d", i + 1);
    }
    /* Its points are those of the last level's vertices, and it uses the faces of that level. */
    const int last = ex_stencils_vertex_count(def->stencils, levels);
    if (ex_stencils_has(def->stencils, EX_LEVEL_LIMIT) &&
        ex_stencils_vertex_count(def->stencils, EX_LEVEL_LIMIT) != last)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "the limit has %d vertices, but the last level has %d",
                            ex_stencils_vertex_count(def->stencils, EX_LEVEL_LIMIT), last);
    return EX_OK;
}

ex_result exi_rig_check_def(const ex_rig_def *def, ex_error *error) {
    if (!def->mesh.positions || def->layer_count < 0 || def->note_count < 0 || (def->layer_count > 0 && !def->layers) ||
        (def->note_count > 0 && !def->notes) || (unsigned)def->options.storage >= EX_STORAGE_COUNT)
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "the rig has no positions, a negative count, or an unknown storage");
    ex_result result = check_tables(&def->mesh, error);
    if (result == EX_OK)
        result = check_skin(def, error);
    if (result == EX_OK)
        result = check_levels(def, error);
    if (result == EX_OK)
        result = check_driver(def, error);
    for (int l = 0; result == EX_OK && l < def->layer_count; l++) {
        const ex_layer_def *layer = &def->layers[l];
        if (!layer->name || !exi_is_name(layer->name))
            return ex_error_set(error, EX_ERROR_ARGUMENT, "layer %d needs a name", l);
        for (int other = 0; other < l; other++)
            if (strcmp(layer->name, def->layers[other].name) == 0)
                return ex_error_set(error, EX_ERROR_ARGUMENT, "layer '%s' appears twice", layer->name);
        result = check_layer(layer, error);
        if (result == EX_OK)
            result = check_sources(layer, def, error);
        if (result == EX_OK)
            result = check_driven(layer, def, error);
        if (result == EX_OK)
            result = exi_domains[layer->domain]->check(layer, def, error);
        result = ex_error_within(error, result, "layer '%s'", layer->name);
    }
    for (int i = 0; result == EX_OK && i < def->note_count; i++)
        if (!def->notes[i].kind || strlen(def->notes[i].kind) >= EX_ATTACHMENT_KIND_SIZE ||
            !exi_is_name(def->notes[i].kind) || (def->notes[i].size > 0 && !def->notes[i].data))
            result = ex_error_set(error, EX_ERROR_ARGUMENT, "note %d needs a kind of at most %d characters, and data",
                                  i, EX_ATTACHMENT_KIND_SIZE - 1);
    return result;
}
