/*
 * The predictor of a layer that follows motion: its known states, its step, and the kinds of number that count.
 */
#include "cli/base/report.h"
#include "cli/info/layers.h"

static ex_predictor_def describe(const exi_layer *layer) {
    ex_predictor_def def;
    ex_predictor_describe(layer->predictor, NULL, &def);
    return def;
}

static bool any(const float *numbers, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (numbers[i] != 0)
            return true;
    return false;
}

/* True if a kind of number changes the weights. */
static bool counts(const ex_predictor_def *def, ex_state_kind kind) {
    const int first = ex_state_start(def->frame_count, kind), end = ex_state_start(def->frame_count, kind + 1);
    return any(def->scales + first, (size_t)(end - first));
}

static bool is_linear(const ex_predictor_def *def) {
    return !any(def->pulls, (size_t)def->landmark_count * (size_t)def->weight_count);
}

void exi_layer_print_predictor(const exi_layer *layer) {
    if (layer->predictor_file)
        exi_print("  predictor %s\n", layer->predictor_file);
    if (!layer->predictor)
        return;
    const ex_predictor_def def = describe(layer);
    char states[EXI_TEXT_SIZE], components[EXI_TEXT_SIZE], step[EXI_TEXT_SIZE];
    exi_print("  predictor %s %s, %s, motion over %s\n", is_linear(&def) ? "linear, knows" : "of Gaussians around",
              exi_text_count(states, def.landmark_count, "known state"),
              exi_text_count(components, def.component_count, "component"), exi_text_seconds(step, def.step));
    exi_print("    counts ");
    bool first = true;
    for (int kind = 0; kind < EX_STATE_KIND_COUNT; kind++)
        if (counts(&def, (ex_state_kind)kind)) {
            exi_print("%s%s", first ? "" : ", ", ex_state_kind_name((ex_state_kind)kind));
            first = false;
        }
    exi_print("%s\n", first ? "nothing" : "");
}

void exi_layer_emit_predictor(const exi_layer *layer, exi_emitter *json) {
    if (layer->predictor_file)
        exi_emit_text(json, "predictor", layer->predictor_file);
    if (!layer->predictor)
        return;
    const ex_predictor_def def = describe(layer);
    exi_emit_open(json, "predictor", '{');
    exi_emit_number(json, "known_states", def.landmark_count);
    exi_emit_number(json, "components", def.component_count);
    exi_emit_number(json, "frames", def.frame_count);
    exi_emit_number(json, "step", def.step);
    exi_emit_bool(json, "linear", is_linear(&def));
    exi_emit_open(json, "counts", '[');
    for (int kind = 0; kind < EX_STATE_KIND_COUNT; kind++)
        if (counts(&def, (ex_state_kind)kind))
            exi_emit_text(json, NULL, ex_state_kind_name((ex_state_kind)kind));
    exi_emit_close(json, ']');
    exi_emit_close(json, '}');
}
