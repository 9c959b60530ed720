/*
 * Layers of trajectories: forms at rest, which the mesh reaches along paths that turn. Reads how their paths are found,
 * and which example is the reference where they all start.
 */
#include "author/project/domains/project_domain.h"
#include "runtime/base/result.h"

#include <exemplar/author/trajectory.h>

#include <stdlib.h>
#include <string.h>

/* More steps than this are a typing error. */
enum { ITERATIONS_MOST = 1000 };

/* Keys common to both ways of finding paths, then those of one of them. Projects of 0.1.0 may have
 * "turns", which is ignored: guided paths always turn. */
static const char *const keys[] = {"mode",  "iterations",    "correctors", "turns",    "terms", "weights",
                                   "bases", "segment_angle", "root",       "segments", NULL};
enum { FIRST_GUIDED = 2, FIRST_PAPER = 4 };

static const char *const terms[] = {"pose", "rotation", "gradient", NULL};

static ex_result refuse_other_mode(exi_project_reader *r, const json_t *object, const exi_place *place,
                                   ex_trajectory_mode mode) {
    for (int i = FIRST_GUIDED; keys[i]; i++)
        if (json_object_get(object, keys[i]) && (i < FIRST_PAPER) != (mode == EX_TRAJECTORY_GUIDED))
            return ex_error_set(r->keys.error, EX_ERROR_DATA, "%s.%s: only \"mode\": \"%s\" has this", place->text,
                                keys[i],
                                ex_trajectory_mode_name(i < FIRST_PAPER ? EX_TRAJECTORY_GUIDED : EX_TRAJECTORY_PAPER));
    return EX_OK;
}

/* ---- guided ---- */

static bool is_auto(const json_t *value) {
    return json_is_string(value) && strcmp(json_string_value(value), "auto") == 0;
}

static ex_result read_guided(exi_project_reader *r, const json_t *object, const exi_place *place,
                             ex_trajectory_options *o) {
    const json_t *correctors = json_object_get(object, "correctors");
    if (correctors && !is_auto(correctors)) {
        if (!json_is_integer(correctors) || json_integer_value(correctors) < 0 ||
            json_integer_value(correctors) > EX_MIXTURE_CORRECTOR_MAX)
            return ex_error_set(r->keys.error, EX_ERROR_DATA,
                                "%s.correctors: a whole number from 0 to %d or \"auto\" is needed here", place->text,
                                EX_MIXTURE_CORRECTOR_MAX);
        o->corrector_count = (int)json_integer_value(correctors);
    }
    return EX_OK;
}

/* ---- paper ---- */

static ex_result read_terms(exi_project_reader *r, const json_t *object, const exi_place *place,
                            ex_trajectory_options *o) {
    const json_t *list = json_object_get(object, "terms");
    exi_place at = exi_place_key(place, "terms");
    bool has[3] = {false, false, false};
    if (!list)
        return EX_OK;
    if (json_array_size(list) == 0)
        return ex_error_set(r->keys.error, EX_ERROR_DATA,
                            "%s: a list of at least one of \"pose\", \"rotation\" and \"gradient\" is needed here",
                            at.text);
    for (size_t i = 0; i < json_array_size(list); i++) {
        exi_place here = exi_place_index(&at, i);
        int term = 0;
        ex_result result = exi_choose(&r->keys, json_array_get(list, i), &here, terms, 3, &term);
        if (result == EX_OK && has[term])
            result = ex_error_set(r->keys.error, EX_ERROR_DATA, "%s: \"%s\" is already in this list", here.text,
                                  terms[term]);
        if (result != EX_OK)
            return result;
        has[term] = true;
    }
    o->without_pose = !has[0];
    o->without_rotation = !has[1];
    o->without_gradient = !has[2];
    return EX_OK;
}

static ex_result read_weights(exi_project_reader *r, const json_t *object, const exi_place *place,
                              ex_trajectory_options *o) {
    double *const weights[] = {&o->pose_weight, &o->rotation_weight, &o->gradient_weight};
    const bool without[] = {o->without_pose, o->without_rotation, o->without_gradient};
    const json_t *given = json_object_get(object, "weights");
    exi_place at = exi_place_key(place, "weights");
    ex_result result = given ? exi_check_keys(&r->keys, given, &at, terms) : EX_OK;
    for (int i = 0; result == EX_OK && i < 3; i++) {
        result = exi_get_number(&r->keys, given, &at, terms[i], weights[i]);
        if (result == EX_OK && json_object_get(given, terms[i]) && !(*weights[i] > 0 && *weights[i] <= 1e6))
            result = ex_error_set(r->keys.error, EX_ERROR_DATA,
                                  "%s.%s: must be above 0 and at most 1e6: a term is left out by \"terms\"", at.text,
                                  terms[i]);
        if (result == EX_OK && json_object_get(given, terms[i]) && without[i])
            result =
                ex_error_set(r->keys.error, EX_ERROR_DATA, "%s.%s: \"terms\" leaves this one out", at.text, terms[i]);
    }
    return result;
}

static ex_result read_paper(exi_project_reader *r, const json_t *object, const exi_place *place,
                            ex_project_layer *layer, ex_trajectory_options *o) {
    ex_result result = read_terms(r, object, place, o);
    if (result == EX_OK)
        result = read_weights(r, object, place, o);
    if (result == EX_OK)
        result = exi_get_bool(&r->keys, object, place, "bases", &o->bases);
    if (result == EX_OK)
        result = exi_get_number(&r->keys, object, place, "segment_angle", &o->segment_angle);
    if (result == EX_OK && json_object_get(object, "segment_angle") &&
        !(o->segment_angle > 0 && o->segment_angle <= 180))
        result = ex_error_set(r->keys.error, EX_ERROR_DATA, "%s.segment_angle: must be above 0 and at most 180 degrees",
                              place->text);
    if (result == EX_OK)
        result = exi_get_range(&r->keys, object, place, "root", 0, EX_SEGMENT_MAX - 1, &o->root);
    return result == EX_OK ? exi_get_text(&r->keys, object, place, "segments", false, &layer->trajectory.segments)
                           : result;
}

/* ---- the layer ---- */

static ex_result read_layer(exi_project_reader *r, const json_t *object, const exi_place *place,
                            ex_project_layer *layer) {
    static const char *const modes[] = {
#define NAME(id, text) text,
        EX_TRAJECTORY_LIST(NAME)
#undef NAME
    };
    const json_t *given = json_object_get(object, "trajectory");
    exi_place at = exi_place_key(place, "trajectory"), here = exi_place_key(&at, "mode");
    if (given && ex_weigher_kind_info(layer->weigh.kind)->is_driven)
        return ex_error_set(
            r->keys.error, EX_ERROR_DATA,
            "%s: in a layer weighed by a driver, paths follow those of the driver, and there is nothing to choose",
            at.text);
    ex_trajectory_options *o = exi_arena_allocate(r->keys.arena, 1, sizeof *o);
    if (!o)
        return ex_error_memory(r->keys.error, "the project", sizeof *o);
    *o = ex_trajectory_options_default();
    layer->trajectory.options = o;
    if (!given)
        return EX_OK;
    int mode = (int)o->mode;
    ex_result result = exi_check_keys(&r->keys, given, &at, keys);
    if (result == EX_OK && json_object_get(given, "mode"))
        result = exi_choose(&r->keys, json_object_get(given, "mode"), &here, modes, EX_TRAJECTORY_MODE_COUNT, &mode);
    o->mode = (ex_trajectory_mode)mode;
    if (result == EX_OK)
        result = refuse_other_mode(r, given, &at, o->mode);
    if (result == EX_OK)
        result = exi_get_range(&r->keys, given, &at, "iterations", 1, ITERATIONS_MOST, &o->iterations);
    if (result != EX_OK)
        return result;
    return o->mode == EX_TRAJECTORY_GUIDED ? read_guided(r, given, &at, o) : read_paper(r, given, &at, layer, o);
}

/* ---- the reference ---- */

static ex_result read_reference(exi_project_reader *r, const json_t *object, const exi_place *place,
                                const ex_project_layer *layer, ex_project_example *example) {
    const json_t *mesh = json_object_get(object, "mesh");
    ex_result result = exi_get_bool(&r->keys, object, place, "reference", &example->reference);
    if (result != EX_OK || !example->reference)
        return result;
    if (ex_weigher_kind_info(layer->weigh.kind)->is_driven)
        return ex_error_set(
            r->keys.error, EX_ERROR_DATA,
            "%s.reference: in a layer weighed by a driver no example is the reference: all of them start from the mesh",
            place->text);
    if (!ex_weigher_kind_info(layer->weigh.kind)->has_points)
        return ex_error_set(
            r->keys.error, EX_ERROR_DATA,
            "%s.reference: in a direct layer no example is the reference: it is the mesh, where all axes "
            "are 0",
            place->text);
    if (json_object_get(object, "skeleton"))
        return ex_error_set(r->keys.error, EX_ERROR_DATA,
                            "%s.skeleton: the reference is the project's mesh, and has the project's bones",
                            place->text);
    if (mesh && (!json_is_string(mesh) || strcmp(json_string_value(mesh), r->view->mesh) != 0))
        return ex_error_set(
            r->keys.error, EX_ERROR_DATA,
            "%s.mesh: the reference is the project's mesh, \"%s\": leave this out, or name it as the project's mesh",
            place->text, r->view->mesh);
    example->mesh = r->view->mesh;
    return EX_OK;
}

static ex_result check_reference(exi_project_reader *r, const exi_place *at, const ex_project_layer *layer) {
    int first = -1;
    if (!ex_weigher_kind_info(layer->weigh.kind)->has_points || layer->driven)
        return EX_OK;
    for (int k = 0; k < layer->example_count; k++) {
        if (layer->examples[k].reference && first >= 0)
            return ex_error_set(r->keys.error, EX_ERROR_DATA, "%s[%d].reference: '%s' is already the reference",
                                at->text, layer->examples[k].place, layer->examples[first].name);
        first = layer->examples[k].reference ? k : first;
    }
    for (int k = 0; first < 0 && k < layer->muted_count; k++)
        if (layer->muted_examples[k].reference)
            return ex_error_set(
                r->keys.error, EX_ERROR_DATA,
                "%s[%d].muted: '%s' is the reference, which all others start from, so it cannot be muted", at->text,
                layer->muted_examples[k].place, layer->muted_examples[k].name);
    if (first < 0)
        return ex_error_set(r->keys.error, EX_ERROR_DATA,
                            "%s: the example that is the mesh itself, which the others start from, must say "
                            "\"reference\": true",
                            at->text);
    if (layer->example_count == 1)
        return ex_error_set(r->keys.error, EX_ERROR_DATA,
                            "%s: the reference alone moves nothing: add a form for it to move to", at->text);
    return EX_OK;
}

/* ---- unpacking ---- */

static bool describe(const ex_rig *rig, int layer, const ex_weigher_def *def, const json_t *paths, json_t *object) {
    (void)def;
    return exi_unpack_describe_trajectories(rig, layer, paths, object);
}

static void free_layer(exi_building *b, int index, ex_layer_def *layer) {
    exi_build_free_form(b, index, layer);
    exi_project_trajectories_close(&b->paths[index]);
    free((void *)(uintptr_t)layer->mask);
}

const exi_project_domain exi_project_domain_trajectory = {.examples = "trajectories",
                                                          .file = "mesh",
                                                          .files = "a \"mesh\"",
                                                          .ending = ".obj",
                                                          .file_at = offsetof(ex_project_example, mesh),
                                                          .targets = true,
                                                          .keys = {{"trajectory", "this"}},
                                                          .example_keys = {{"reference", "a reference"}},
                                                          .read = read_layer,
                                                          .read_example = read_reference,
                                                          .check_examples = check_reference,
                                                          .build = exi_build_forms,
                                                          .free = free_layer,
                                                          .check = exi_check_forms,
                                                          .describe = describe,
                                                          .write = exi_unpack_write_forms,
                                                          .compare_example = exi_difference_forms,
                                                          .compare = exi_difference_trajectories};
