/*
 * Forms: rest form(v) = mesh(v) + sum_l mask_l(v) sum_k w_lk d_lk(v). Layers are written l, examples k, vertices v;
 * masks are multiplied into d. An example is one of the rig's forms, which evaluation sums tile by tile
 * (shape/blend.c).
 */
#include "runtime/base/result.h"
#include "runtime/rig/jacobian.h"

static ex_result check(const ex_layer_def *layer, const ex_rig_def *def, ex_error *error) {
    for (int k = 0; k < layer->weigh.example_count; k++)
        if (!layer->form.deltas || !layer->form.deltas[k])
            return ex_error_set(error, EX_ERROR_ARGUMENT, "example '%s' has no form", layer->example_names[k]);
    ex_result result = exi_check_mask(layer, def->mesh.vertex_count, error);
    return result == EX_OK ? exi_check_shifts(layer, def, error) : result;
}

static ex_result fill(exi_making *m, ex_rig *rig, int layer, ex_error *error) {
    ex_forms *forms = exi_rig_at_mut(rig, rig->forms);
    const exi_layer_record *record = &m->layers[layer];
    for (int k = 0; k < record->example_count; k++) {
        const void *from = m->def ? (const void *)m->def->layers[layer].form.deltas[k]
                                  : exi_unpack_find(m->file, EX_SECTION_TARGET, exi_example_index(record, k), NULL);
        const float *mask = m->def ? m->def->layers[layer].mask : NULL;
        int bad = 0;
        if (!exi_forms_set_example(forms, record->first_form + k, from, m->gather, mask, &bad))
            return exi_within_example(m, layer, k,
                                      ex_error_set(error, EX_ERROR_DATA, "vertex %d is not finite%s", bad,
                                                   m->def ? ", or too far away for a float" : ""),
                                      error);
    }
    return EX_OK;
}

/* ---- files ---- */

bool exi_target_size(const ex_rig *rig, int layer, int example, uint64_t *size) {
    (void)layer, (void)example;
    *size = (uint64_t)rig->counts.splits * 3 * sizeof(float);
    return true;
}

void exi_target_write(const ex_rig *rig, int layer, int example, void *out) {
    ex_rig_example_delta(rig, layer, example, out);
    exi_pack_spread(rig, out);
}

bool exi_target_take(exi_unpack *u, int layer, int example, int index, ex_error *error) {
    (void)layer, (void)example;
    return exi_unpack_take(u, EX_SECTION_TARGET, index, (uint64_t)u->counts.splits * 3 * sizeof(float), error);
}

static const exi_domain_section sections[] = {
    {EX_SECTION_TARGET, false, exi_target_size, exi_target_write, exi_target_take}};

/* ---- evaluation ---- */

static void weigh(const exi_rig_job *j, int layer, const double *weights, exi_pose_scratch *s) {
    const exi_layer_record *record = &exi_rig_layers(j->rig)[layer];
    float *factors = s->floats + record->first_form;
    for (int k = 0; k < record->example_count; k++)
        factors[k] = weights ? (float)weights[k] : 0;
}

static void differentiate(exi_jacobian *j, int layer, const double *weights, const double *along) {
    const exi_layer_record *record = &exi_rig_layers(j->rig)[layer];
    for (int k = 0; k < record->example_count; k++) {
        exi_forms_get_example(exi_rig_forms(j->rig), record->first_form + k, j->room);
        for (size_t i = 0; i < j->size; i++)
            j->form[i] += weights[k] * (double)j->room[i];
        for (int c = 0; c < j->columns; c++) {
            const double by = along[(size_t)c * (size_t)record->example_count + (size_t)k];
            double *out = exi_column_of(j->along, c, j->size);
            for (size_t i = 0; by != 0 && i < j->size; i++)
                out[i] += by * (double)j->room[i];
        }
    }
}

static void delta(const ex_rig *rig, int layer, int example, float *out) {
    exi_forms_get_example(exi_rig_forms(rig), exi_rig_layers(rig)[layer].first_form + example, out);
}

const exi_domain exi_domain_form = {.stage = EX_STAGE_REST,
                                    .forms = true,
                                    .targets = true,
                                    .gpu = true,
                                    .counted = offsetof(exi_rig_counts, forms),
                                    .check = check,
                                    .fill = fill,
                                    .sections = sections,
                                    .section_count = 1,
                                    .weigh = weigh,
                                    .differentiate = differentiate,
                                    .delta = delta};
