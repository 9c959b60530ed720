/*
 * glue_layer.c - contents of layers, and edits of their spaces. An edit replaces the layer's weigher only in this rig;
 * after a failure the layer is unchanged.
 */
#include "glue.h"

#include <stdio.h>
#include <stdlib.h>

const char *EXPORT(layer_name)(const page_rig *r, int layer) {
    return ex_rig_layer_name(r->rig, layer);
}
const char *EXPORT(example_name)(const page_rig *r, int l, int k) {
    return ex_rig_example_name(r->rig, l, k);
}
int EXPORT(layer_input)(const page_rig *r, int layer, int axis) {
    return ex_rig_layer_input(r->rig, layer, axis);
}

/* The layer's present numbers, including edits. */
void EXPORT(layer_numbers)(const page_rig *r, int layer, int numbers[11]) {
    const ex_weigher *weigher = glue_weigher(r, layer);
    numbers[0] = (int)ex_rig_layer_domain(r->rig, layer);
    numbers[1] = r->muted[layer];
    numbers[2] = (int)ex_weigher_get_kind(weigher);
    numbers[3] = ex_weigher_axis_count(weigher);
    numbers[4] = ex_weigher_example_count(weigher);
    numbers[5] = ex_weigher_pseudo_count(weigher);
    numbers[6] = ex_weigher_dimension(weigher);
    numbers[7] = ex_rig_first_example(r->rig, layer);
    numbers[8] = ex_rig_layer_texture(r->rig, layer);
    numbers[9] = (int)ex_rig_layer_frame(r->rig, layer);
    numbers[10] = r->edited[layer] != NULL;
}

void EXPORT(layer_mute)(page_rig *r, int layer, bool muted) {
    r->muted[layer] = muted;
}

/* ---- forms ---- */

/* The mask [vertex_count]; false if the layer has none, or if the mask is part of the examples. */
bool EXPORT(layer_mask)(const page_rig *r, int layer, float *mask) {
    return ex_rig_layer_mask(r->rig, layer, mask);
}
/* An example minus the mesh [vertex_count][3]; not for pixels. */
void EXPORT(example_delta)(const page_rig *r, int l, int k, float *delta) {
    ex_rig_example_delta(r->rig, l, k, delta);
}
const unsigned char *EXPORT(example_image)(const page_rig *r, int l, int k) {
    return ex_rig_example_image(r->rig, l, k);
}
const float *EXPORT(example_driver)(const page_rig *r, int l, int k) {
    return ex_rig_example_driver(r->rig, l, k);
}
bool EXPORT(example_joints)(const page_rig *r, int l, int k, ex_transform *joints) {
    return ex_rig_example_joints(r->rig, l, k, joints);
}

/* ---- the space ---- */

const double *EXPORT(layer_point)(const page_rig *r, int l, int k) {
    return ex_weigher_point(glue_weigher(r, l), k);
}

/* Weights [count][example_count] at points [count][dimension]. */
void EXPORT(layer_weigh)(const page_rig *r, int layer, int count, const double *points, double *weights) {
    const ex_weigher *weigher = glue_weigher(r, layer);
    const int dimension = ex_weigher_dimension(weigher), examples = ex_weigher_example_count(weigher);
    for (int i = 0; i < count; i++)
        ex_weigher_evaluate(weigher, points + (size_t)i * (size_t)dimension, weights + (size_t)i * (size_t)examples);
}

double EXPORT(layer_distance)(const page_rig *r, int layer, const double *a, const double *b) {
    return ex_weigher_distance(glue_weigher(r, layer), a, b);
}

bool EXPORT(layer_condition)(const page_rig *r, int layer, double *condition) {
    return ex_weigher_condition(glue_weigher(r, layer), NULL, condition, &glue_error) == EX_OK;
}

/* Ridge, condition without it, the point that causes it or -1, its largest falloff. */
void EXPORT(layer_ridge)(const page_rig *r, int layer, double numbers[4]) {
    const ex_ridge ridge = ex_weigher_get_ridge(glue_weigher(r, layer));
    numbers[0] = ridge.ridge;
    numbers[1] = ridge.condition;
    numbers[2] = ridge.point;
    numbers[3] = ridge.falloff;
}

/* Point that a pseudo-example borrows its weights from, or its given weights: one of the two, the other is 0. */
bool EXPORT(layer_pseudo)(const page_rig *r, int layer, int pseudo, const double *places[2]) {
    const ex_weigher *weigher = glue_weigher(r, layer);
    ex_pseudo *pseudos = glue_zeros((size_t)ex_weigher_pseudo_count(weigher), sizeof *pseudos);
    ex_weigher_def def;
    if (!pseudos)
        return false;
    ex_weigher_describe(weigher, &def, NULL, pseudos);
    places[0] = pseudos[pseudo].from;
    places[1] = pseudos[pseudo].weights;
    free(pseudos);
    return true;
}

/* Falloffs [points][axis_count], 0 for the default; NULL if the layer has none. */
const double *EXPORT(layer_falloffs)(const page_rig *r, int layer) {
    ex_weigher_def def;
    ex_weigher_describe(glue_weigher(r, layer), &def, NULL, NULL);
    return def.falloffs;
}

/* ---- edits ---- */

static void replace(page_rig *r, int layer, ex_weigher *weigher) {
    ex_weigher_destroy(r->edited[layer]);
    r->edited[layer] = weigher;
}

void EXPORT(layer_reset)(page_rig *r, int layer) {
    replace(r, layer, NULL);
}

/* Applies edits in order and solves once. Each is six numbers: kind and index as in ex_edit, and the starts of at,
 * from, weights and falloff among the values, -1 for those that it does not have. */
bool EXPORT(layer_edit)(page_rig *r, int layer, int count, const int (*words)[6], const double *values) {
    ex_edit *edits = glue_zeros((size_t)count, sizeof *edits);
    ex_weigher *edited = NULL;
    if (!edits)
        return false;
    for (int i = 0; i < count; i++) {
        const double *parts[4];
        for (int part = 0; part < 4; part++)
            parts[part] = words[i][2 + part] >= 0 ? values + words[i][2 + part] : NULL;
        edits[i] = (ex_edit){(ex_edit_kind)words[i][0], words[i][1], parts[0], parts[1], parts[2], parts[3]};
    }
    const bool done = ex_weigher_edit(glue_weigher(r, layer), edits, count, NULL, &edited, &glue_error) == EX_OK;
    free(edits);
    if (done)
        replace(r, layer, edited);
    return done;
}

/* The parameters of the layer's kind, in their order. */
void EXPORT(layer_settings)(const page_rig *r, int layer, double *values) {
    const ex_weigher_info *info = ex_weigher_get_info(glue_weigher(r, layer));
    ex_weigher_def def;
    ex_weigher_describe(glue_weigher(r, layer), &def, NULL, NULL);
    for (int i = 0; i < info->parameter_count; i++)
        values[i] = ex_parameter_get(&info->parameters[i], &def);
}

static bool refuse_layer(const page_rig *r, int layer, const char *why) {
    char text[sizeof glue_error.text];
    snprintf(text, sizeof text, "the layer '%s' %s", ex_rig_layer_name(r->rig, layer), why);
    return glue_failed(EX_ERROR_ARGUMENT, text);
}

/* False for a weigher that evaluation could not use in this layer. */
static bool may_be(const page_rig *r, int layer, const ex_weigher *from, ex_weigher_kind kind) {
    if (ex_rig_layer_moved(r->rig, layer) && !ex_weigher_kind_info(kind)->has_sets)
        return refuse_layer(r, layer,
                            "weighs vertices among the examples that move them, which only a gaussian weigher can: "
                            "leave it gaussian, or take \"participation\": \"moved\" out of the project");
    if (ex_rig_layer_predictor(r->rig, layer))
        return refuse_layer(r, layer, "follows motion: its weights are learned, and there is nothing to set");
    if (ex_rig_layer_regions(r->rig, layer, NULL, NULL) > 1)
        return refuse_layer(r, layer, "has a weigher for each region of its driver: change it in the project");
    if (ex_weigher_kind_info(kind)->has_points && !ex_weigher_point(from, 0))
        return refuse_layer(r, layer, "has no points, for its axes are its weights: give its examples places");
    return true;
}

/* Sets another kind with all of its parameters; false if one is out of range. */
static bool set_kind(ex_weigher_def *def, ex_weigher_kind kind, const double *values) {
    const ex_weigher_info *info = ex_weigher_kind_info(kind);
    def->kind = kind;
    for (int i = 0; i < info->parameter_count; i++) {
        const ex_parameter *parameter = &info->parameters[i];
        ex_error why = {0};
        if (ex_parameter_check(parameter, values[i], &why) != EX_OK) {
            char text[sizeof glue_error.text];
            snprintf(text, sizeof text, "%s %g: %s", parameter->name, values[i], why.text);
            return glue_failed(why.result, text);
        }
        ex_parameter_set(parameter, def, values[i]);
    }
    return true;
}

/* Makes a weigher with the same points and pseudo-examples, and other parameters or limits of its axes; NULL:
 * unchanged. */
static ex_weigher *make(const page_rig *r, int layer, const ex_weigher *from, ex_weigher_kind kind,
                        const double *values, const int *limits) {
    const int axis_count = ex_weigher_axis_count(from), example_count = ex_weigher_example_count(from);
    ex_axis *axes = glue_zeros((size_t)axis_count, sizeof *axes);
    ex_pseudo *pseudos = glue_zeros((size_t)ex_weigher_pseudo_count(from), sizeof *pseudos);
    const char **names = glue_zeros((size_t)example_count, sizeof *names);
    ex_weigher *weigher = NULL;
    if (axes && pseudos && names) {
        ex_weigher_def def;
        ex_weigher_describe(from, &def, axes, pseudos); /* also falloffs, metrics and sets, if it has them */
        for (int k = 0; k < example_count; k++)
            names[k] = ex_rig_example_name(r->rig, layer, k);
        def.names = names;
        for (int i = 0; limits && i < axis_count; i++)
            axes[i].limit = (ex_limit)limits[i];
        if (!values || set_kind(&def, kind, values))
            (void)ex_weigher_create(&def, NULL, &weigher, &glue_error);
    }
    free(axes);
    free(pseudos);
    free(names);
    return weigher;
}

/* Weighs the same points and pseudo-examples in another way: a kind, and all of its parameters. If the axes have become
 * the weights, the points are those of the file. */
bool EXPORT(layer_set)(page_rig *r, int layer, int kind, const double *values) {
    const ex_weigher *from = glue_weigher(r, layer);
    if (!ex_weigher_get_info(from)->has_points)
        from = ex_rig_weigher(r->rig, layer);
    ex_weigher *weigher = may_be(r, layer, from, (ex_weigher_kind)kind)
                              ? make(r, layer, from, (ex_weigher_kind)kind, values, NULL)
                              : NULL;
    if (weigher)
        replace(r, layer, weigher);
    return weigher != NULL;
}

/* Limits of the axes [axis_count], as in ex_limit. */
bool EXPORT(layer_limits)(const page_rig *r, int layer, int *limits) {
    const ex_weigher *weigher = glue_weigher(r, layer);
    const int axis_count = ex_weigher_axis_count(weigher);
    ex_axis *axes = glue_zeros((size_t)axis_count, sizeof *axes);
    ex_weigher_def def;
    if (!axes)
        return false;
    ex_weigher_describe(weigher, &def, axes, NULL);
    for (int i = 0; i < axis_count; i++)
        limits[i] = (int)axes[i].limit;
    free(axes);
    return true;
}

/* Weighs the same points in the same way, with these limits. */
bool EXPORT(layer_limit)(page_rig *r, int layer, const int *limits) {
    const ex_weigher *from = glue_weigher(r, layer);
    const ex_weigher_kind kind = ex_weigher_get_kind(from);
    ex_weigher *weigher = may_be(r, layer, from, kind) ? make(r, layer, from, kind, NULL, limits) : NULL;
    if (weigher)
        replace(r, layer, weigher);
    return weigher != NULL;
}

ex_weigher *glue_copy(const page_rig *r, int layer) {
    const ex_weigher *weigher = glue_weigher(r, layer);
    return make(r, layer, weigher, ex_weigher_get_kind(weigher), NULL, NULL);
}
