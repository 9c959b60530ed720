/*
 * The first stage of evaluation, for a range of poses: places the driver, weighs every layer, places the skeleton, and
 * makes the terms of the blend and the palette.
 */
#include "runtime/base/result.h"
#include "runtime/rig/domains/domain.h"

#include <string.h>

static void gather_point(const ex_rig *rig, const exi_layer_record *layer, const ex_pose *pose, double *point) {
    const int32_t *axis_inputs = (const int32_t *)exi_rig_at(rig, rig->axis_inputs) + layer->first_axis;
    for (int i = 0; i < layer->axis_count; i++) {
        if (exi_rig_inputs(rig)[axis_inputs[i]].axis.kind == EX_AXIS_DRIVER)
            continue; /* the driver's values come from its views */
        ex_rig_get_input(rig, axis_inputs[i], pose, point);
        point += exi_rig_inputs(rig)[axis_inputs[i]].axis.kind == EX_AXIS_SCALAR ? 1 : 4;
    }
}

static const ex_weigher *layer_weigher(const exi_rig_job *j, int layer) {
    const ex_weigher *own = ex_rig_weigher(j->rig, layer);
    const ex_weigher *other = j->weighers ? j->weighers[layer] : NULL;
    if (!other)
        return own;
    if (other->example_count == own->example_count && other->dimension == own->dimension &&
        ex_weigher_set_weight_count(other) == ex_weigher_set_weight_count(own))
        return other;
    exi_misuse("ex_rig_evaluate", "a replaced weigher has another number of examples, axes or sets");
    return own;
}

bool exi_rig_is_muted(const exi_rig_job *j, int layer) {
    return j->muted ? j->muted[layer] : (exi_rig_layers(j->rig)[layer].flags & EXI_LAYER_MUTED) != 0;
}

/* Weighs a layer that the driver weighs. Returns NULL if its vertices have individual weights: it then takes no part in
 * the sum. */
static const double *weigh_driven(const exi_rig_job *j, int l, const ex_pose *pose, void *state, exi_pose_scratch *s) {
    const exi_layer_record *layer = &exi_rig_layers(j->rig)[l];
    const ex_weigher *weigher = layer_weigher(j, l);
    double *weights = s->weights + layer->first_example;
    s->point[0] = 0;
    gather_point(j->rig, layer, pose, s->point);
    const bool regional =
        exi_drive_weigh(j->rig, exi_drive_layer_of(j->rig, l), weigher != ex_rig_weigher(j->rig, l) ? weigher : NULL,
                        s->point[0], &s->drive, weights, state);
    s->regional |= regional;
    return regional ? NULL : weights;
}

/* Returns the weights of a layer's examples, or those of its sets if vertices have their own sets of examples. */
static const double *weigh_layer(const exi_rig_job *j, int l, const ex_pose *pose, exi_pose_scratch *s) {
    const exi_layer_record *layer = &exi_rig_layers(j->rig)[l];
    double *weights = s->weights + layer->first_example;
    gather_point(j->rig, layer, pose, s->point);
    if (layer->flags & EXI_LAYER_MOVED) {
        ex_weigher_evaluate_sets(layer_weigher(j, l), s->point, weights, s->set_weights);
        return s->set_weights;
    }
    ex_weigher_evaluate(layer_weigher(j, l), s->point, weights);
    return weights;
}

/* Muted driven layers have zero region weights too. */
static void mute_driven(const ex_rig *rig, int layer, void *state, exi_pose_scratch *s) {
    const exi_drive_layer *driven = exi_drive_layer_of(rig, layer);
    if (!driven)
        return;
    if (driven->predictor) { /* what it missed is no motion: it begins anew */
        const ex_predictor *predictor = exi_drive_at(exi_rig_drive(rig), driven->predictor);
        if (state)
            memset((char *)state + driven->state, 0, ex_predictor_history_size(predictor));
        return;
    }
    const exi_regions regions = exi_drive_regions(rig, driven, &s->drive, false);
    memset((float *)(uintptr_t)regions.weights, 0,
           (size_t)driven->view_count * (size_t)driven->width * sizeof *regions.weights);
    if (exi_drive_is_keyed(exi_rig_drive(rig))) /* settling reads them, and nothing else writes them */
        memset(s->drive.omegas, 0, (size_t)rig->counts.vertices * (size_t)driven->width * sizeof *s->drive.omegas);
}

static void weigh_layers(const exi_rig_job *j, const ex_pose *pose, void *state, exi_pose_scratch *s) {
    const ex_rig *rig = j->rig;
    s->regional = false;
    for (int l = 0; l < rig->counts.layers; l++) {
        const exi_layer_record *layer = &exi_rig_layers(rig)[l];
        const exi_domain *domain = exi_domains[layer->domain];
        const double *weights = NULL;
        if (exi_rig_is_muted(j, l)) {
            memset(s->weights + layer->first_example, 0, (size_t)layer->example_count * sizeof *s->weights);
            mute_driven(rig, l, state, s);
        } else if (j->given) {
            weights = s->weights + layer->first_example;
            memcpy(s->weights + layer->first_example, j->given + layer->first_example,
                   (size_t)layer->example_count * sizeof *s->weights);
        } else {
            weights = layer->flags & EXI_LAYER_DRIVEN ? weigh_driven(j, l, pose, state, s) : weigh_layer(j, l, pose, s);
        }
        if (domain->weigh)
            domain->weigh(j, l, weights, s);
    }
}

/* Joint positions follow the examples' weights, as forms do: sum over examples of weight times shift. */
static bool sum_shifts(const ex_rig *rig, exi_pose_scratch *s) {
    const int count = 3 * rig->counts.joints;
    const exi_shift_record *records = exi_rig_shifts(rig);
    if (rig->counts.shifts == 0)
        return false;
    memset(s->shifts, 0, (size_t)count * sizeof *s->shifts);
    for (int i = 0; i < rig->counts.shifts; i++) {
        const float weight = (float)s->weights[records[i].example];
        const float *shift = exi_rig_at(rig, records[i].data);
        for (int c = 0; c < count && weight != 0; c++)
            s->shifts[c] += weight * shift[c];
    }
    return true;
}

static const float *place_joints(const ex_rig *rig, const ex_pose *pose, bool turns, exi_pose_scratch *s) {
    ex_skeleton_input input = {.locals = pose ? pose->joints : NULL, .shifts = sum_shifts(rig, s) ? s->shifts : NULL};
    ex_skeleton_output output = {.matrices = s->matrices, .centres = s->centres, .turns = turns ? s->turns : NULL};
    ex_skeleton_evaluate(ex_rig_skeleton(rig), &input, &output, s->skeleton);
    return s->matrices;
}

/* The driver's frames come before the weights, which are measured in them; shifts of joints do not move frames. */
static void place_driver(const exi_rig_job *j, const ex_pose *pose, exi_pose_scratch *s) {
    const ex_rig *rig = j->rig;
    const float *joints = NULL;
    if (exi_rig_drive(rig)->joints) {
        ex_skeleton_input input = {.locals = pose ? pose->joints : NULL};
        ex_skeleton_output output = {.matrices = s->matrices};
        ex_skeleton_evaluate(ex_rig_skeleton(rig), &input, &output, s->skeleton);
        joints = s->matrices;
    }
    exi_drive_place(rig, pose, &s->drive, joints);
}

static void make_palette(const exi_rig_job *j, const ex_pose *pose, exi_pose_scratch *s) {
    const ex_rig *rig = j->rig;
    const bool rotations = rig->patches[EX_OFFSET_FRAME_SKINNED] != 0;
    s->skinned_by = NULL;
    if (!j->skinned)
        return;
    if (!rig->skin) {
        s->skin = exi_drive_at(exi_rig_drive(rig), exi_rig_drive(rig)->skin);
        s->skinned_by = exi_drive_palette(rig, &s->drive, rotations);
        return;
    }
    const bool turns = rotations || ex_rig_skinning(rig) == EX_SKINNING_DUAL_QUATERNION;
    ex_palette_def def = {.method = ex_rig_skinning(rig),
                          .joint_count = rig->counts.joints,
                          .matrices = place_joints(rig, pose, turns, s),
                          .centres = s->centres,
                          .rotations = rotations,
                          .turns = turns ? s->turns : NULL,
                          .scale = ex_skeleton_scale(ex_rig_skeleton(rig))};
    s->skin = ex_rig_skin(rig);
    s->skinned_by = ex_palette_make(&def, s->palette);
}

void exi_rig_weigh(void *context, int begin, int end) {
    const exi_rig_job *j = context;
    for (int i = begin; i < end; i++) {
        exi_pose_scratch *s = &j->scratch[i];
        const ex_output *output = &j->outputs[i];
        const ex_pose *pose = j->poses ? &j->poses[i] : NULL;
        if (exi_rig_drive(j->rig))
            place_driver(j, pose, s);
        s->blend = (exi_blend){.positions = output->positions,
                               .stride = output->position_stride ? output->position_stride : 3 * sizeof(float)};
        if (j->level != 0) /* the cage is kept to be refined; a box alone needs no room for it */
            s->blend = (exi_blend){.positions = output->positions ? s->control : NULL, .stride = 3 * sizeof(float)};
        if (j->settled && output->box && !output->positions) /* except for one that is settled */
            s->blend = (exi_blend){.positions = s->control, .stride = 3 * sizeof(float)};
        weigh_layers(j, pose, j->states ? j->states[i] : NULL, s);
        make_palette(j, pose, s);
        if (output->weights)
            memcpy(output->weights, s->weights, (size_t)j->rig->counts.examples * sizeof *s->weights);
        exi_forms_set_terms(exi_rig_forms(j->rig), s->floats, 0, exi_rig_forms(j->rig)->example_count,
                            exi_rig_drive(j->rig) != NULL, s->terms, &s->blend.sum);
    }
}
