/*
 * Reads a layer's examples and pseudo-examples.
 */
#include "author/project/domains/project_domain.h"
#include "runtime/base/result.h"
#include "runtime/base/text.h"

#include <math.h>
#include <string.h>

/* ---- examples ---- */

/* Reads the form, or the other file of the layer's domain. */
static ex_result read_files(exi_project_reader *r, const json_t *object, const exi_place *place,
                            const ex_project_layer *layer, ex_project_example *example) {
    static const char *const of_forms[] = {"mesh", "skeleton", "sculpt"};
    const exi_project_domain *domain = exi_project_domain_of(layer);
    const bool forms = strcmp(domain->file, of_forms[0]) == 0;
    for (int i = 0; !forms && i < 3; i++)
        if (json_object_get(object, of_forms[i]))
            return ex_error_set(r->keys.error, EX_ERROR_DATA, "%s.%s: an example of a layer of %s has %s instead",
                                place->text, of_forms[i], domain->examples, domain->files);
    ex_result result = exi_refuse_example_keys(r, object, place, layer->domain);
    if (result != EX_OK)
        return result;
    if (json_object_get(object, "skeleton") && !r->view->skeleton)
        return ex_error_set(r->keys.error, EX_ERROR_DATA,
                            "%s.skeleton: an example's own skeleton replaces the project's, which is missing: add "
                            "\"skeleton\": \"FILE.glb\" to the project",
                            place->text);
    if (json_object_get(object, "skeleton") && !domain->targets)
        return ex_error_set(r->keys.error, EX_ERROR_DATA,
                            "%s.skeleton: an example of a layer of %s has the project's bones: one with its own "
                            "belongs in a layer of \"unposed\" forms",
                            place->text, domain->examples);
    if (json_object_get(object, "skeleton") && layer->driven)
        return ex_error_set(
            r->keys.error, EX_ERROR_DATA,
            "%s.skeleton: an example weighed by a driver cannot move joints: it has the project's bones", place->text);
    if (domain->read_example)
        result = domain->read_example(r, object, place, layer, example);
    if (result == EX_OK && !example->reference)
        result = exi_get_text(&r->keys, object, place, domain->file, true, exi_example_file(layer, example));
    if (result == EX_OK)
        result = exi_get_text(&r->keys, object, place, "sculpt", false, &example->sculpt);
    return result == EX_OK ? exi_get_text(&r->keys, object, place, "skeleton", false, &example->skeleton) : result;
}

static ex_result read_example(exi_project_reader *r, const json_t *object, const exi_place *place,
                              const ex_project_layer *layer, ex_project_example *example) {
    static const char *const common[] = {"name",  "mesh",    "sculpt", "skeleton", "at",     "joints",
                                         "muted", "falloff", "metric", "posed",    "locals", NULL};
    const char *keys[EXI_KEYS_MAX];
    exi_domain_example_keys(common, keys);
    const bool direct = exi_layer_is_direct(layer), at = json_object_get(object, "at") != NULL;
    ex_result result = exi_check_keys(&r->keys, object, place, keys);
    if (result == EX_OK)
        result = exi_get_text(&r->keys, object, place, "name", true, &example->name);
    if (result == EX_OK && !exi_is_name(example->name))
        result = ex_error_set(r->keys.error, EX_ERROR_DATA, "%s.name: 1 to %d bytes of readable text are needed",
                              place->text, EXI_NAME_MAX);
    if (result == EX_OK)
        result = read_files(r, object, place, layer, example);
    if (result == EX_OK && direct && at)
        result = ex_error_set(r->keys.error, EX_ERROR_DATA,
                              "%s.at: examples of a direct layer have no place: its axes are its weights", place->text);
    if (result == EX_OK && !direct && !layer->predictor && !at)
        result = ex_error_set(r->keys.error, EX_ERROR_DATA, "%s: \"at\" is missing: it places the example in the space",
                              place->text);
    return result;
}

void exi_drop_muted_axes(const json_t *object, ex_project_layer *layer) {
    const json_t *examples = json_object_get(object, "examples");
    ex_project_axis *axes = (ex_project_axis *)(uintptr_t)layer->axes;
    ex_axis *plain = (ex_axis *)(uintptr_t)layer->weigh.axes;
    int kept = 0, dimension = 0;
    if (!exi_layer_is_direct(layer) || json_array_size(examples) != (size_t)layer->axis_count)
        return; /* refused later, if it is direct */
    for (int i = 0; i < layer->axis_count; i++) {
        if (json_is_true(json_object_get(json_array_get(examples, (size_t)i), "muted")))
            continue;
        axes[kept] = axes[i];
        plain[kept] = plain[i];
        dimension += ex_axis_width(&plain[kept++]);
    }
    if (kept > 0) {
        layer->axis_count = layer->weigh.axis_count = kept;
        layer->dimension = dimension;
    }
}

/* Sorts the examples: those that count, then the muted ones, each in the file's order. */
static ex_result sort_out_muted(exi_project_reader *r, const json_t *list, const exi_place *at, int *order,
                                int *muted_count) {
    const int count = (int)json_array_size(list);
    int kept = 0;
    *muted_count = 0;
    for (int muted = 0; muted < 2; muted++)
        for (int i = 0; i < count; i++) {
            exi_place here = exi_place_index(at, (size_t)i);
            bool is_muted = false;
            ex_result result = exi_get_bool(&r->keys, json_array_get(list, (size_t)i), &here, "muted", &is_muted);
            if (result != EX_OK)
                return result;
            if (is_muted == (muted == 1))
                order[kept++] = i;
            *muted_count += is_muted && muted;
        }
    if (*muted_count == count)
        return ex_error_set(r->keys.error, EX_ERROR_DATA,
                            "%s: all of them are muted: mute the layer instead of its examples", at->text);
    return EX_OK;
}

static ex_result read_poses(exi_project_reader *r, const json_t *list, const exi_place *at,
                            const ex_project_layer *layer, ex_project_example *examples, int count, double *points) {
    const size_t dimension = (size_t)layer->dimension;
    for (int i = 0; i < count; i++) {
        const size_t place = (size_t)examples[i].place;
        exi_place here = exi_place_index(at, place);
        ex_result result = exi_read_pose(r, json_array_get(list, place), &here, layer, points ? i : -1, &examples[i]);
        if (result != EX_OK)
            return result;
        if (examples[i].at && points)
            memcpy(points + (size_t)i * dimension, examples[i].at, dimension * sizeof *points);
    }
    return EX_OK;
}

ex_result exi_read_examples(exi_project_reader *r, const json_t *object, const exi_place *place,
                            ex_project_layer *layer) {
    const json_t *list = json_object_get(object, "examples");
    const size_t axes = json_array_size(json_object_get(object, "space"));
    exi_place at = exi_place_key(place, "examples");
    size_t count = json_array_size(list), dimension = (size_t)layer->dimension;
    if (count == 0)
        return ex_error_set(r->keys.error, EX_ERROR_DATA, "%s: a list of at least one example is needed here", at.text);
    if (layer->driven && count > EX_CONVEX_MAX)
        return ex_error_set(r->keys.error, EX_ERROR_LIMIT, "%s: a driver weighs at most %d examples, but there are %zu",
                            at.text, EX_CONVEX_MAX, count);
    if (count > EX_POINT_MAX)
        return ex_error_set(r->keys.error, EX_ERROR_LIMIT, "%s: a space holds at most %d examples, but there are %zu",
                            at.text, EX_POINT_MAX, count);
    ex_project_example *read = exi_arena_allocate(r->keys.arena, count, sizeof *read);
    ex_project_example *examples = exi_arena_allocate(r->keys.arena, count, sizeof *examples);
    const char **names = exi_arena_allocate(r->keys.arena, count, sizeof *names);
    double *points = exi_arena_allocate(r->keys.arena, count * dimension, sizeof *points);
    int *order = exi_arena_allocate(r->keys.arena, count, sizeof *order), muted = 0;
    if (!read || !examples || !names || !points || !order)
        return ex_error_memory(r->keys.error, "the project", count * sizeof *examples);
    for (size_t i = 0; i < count; i++) {
        exi_place here = exi_place_index(&at, i);
        ex_result result = read_example(r, json_array_get(list, i), &here, layer, &read[i]);
        if (result != EX_OK)
            return result;
        for (size_t k = 0; k < i; k++)
            if (strcmp(read[k].name, read[i].name) == 0)
                return ex_error_set(r->keys.error, EX_ERROR_DATA,
                                    "%s.name: example %zu of this layer is also called '%s'", here.text, k + 1,
                                    read[i].name);
        read[i].place = (int)i;
    }
    if (exi_layer_is_direct(layer) && count != axes)
        return ex_error_set(r->keys.error, EX_ERROR_DATA,
                            "%s: a direct layer needs one example per axis, but there are %zu for %zu axes", at.text,
                            count, axes);
    ex_result result = sort_out_muted(r, list, &at, order, &muted);
    for (size_t i = 0; result == EX_OK && i < count; i++) {
        examples[i] = read[order[i]];
        names[i] = examples[i].name;
    }
    const int kept = (int)count - muted;
    if (result == EX_OK)
        result = read_poses(r, list, &at, layer, examples, kept, points);
    if (result == EX_OK)
        result = read_poses(r, list, &at, layer, examples + kept, muted, NULL);
    layer->examples = examples;
    layer->example_count = layer->weigh.example_count = kept;
    layer->muted_examples = muted > 0 ? examples + kept : NULL;
    layer->muted_count = muted;
    layer->weigh.names = names;
    layer->weigh.points = !ex_weigher_kind_info(layer->weigh.kind)->has_points ? NULL : points;
    const exi_project_domain *domain = exi_project_domain_of(layer);
    return result == EX_OK && domain->check_examples ? domain->check_examples(r, &at, layer) : result;
}

/* ---- pseudo-examples ---- */

static int find_example(const ex_project_example *examples, int count, const char *name) {
    int k = 0;
    while (k < count && strcmp(examples[k].name, name) != 0)
        k++;
    return k < count ? k : -1;
}

static ex_result read_weight(exi_project_reader *r, const json_t *value, const exi_place *at, double *weight) {
    ex_result result = exi_json_number(value, at, weight, r->keys.error);
    if (result == EX_OK && fabs(*weight) > EX_WEIGHT_MAX)
        result = ex_error_set(r->keys.error, EX_ERROR_DATA, "%s: a weight is at most %g either way", at->text,
                              EX_WEIGHT_MAX);
    return result;
}

/* Leaves out the weights of muted examples; the others keep the sum, as when an example is removed (ex_edit_kind). An
 * empty object is a pseudo-example at which no example counts. */
static ex_result read_weights(exi_project_reader *r, const json_t *object, const exi_place *place,
                              const ex_project_layer *layer, const double **weights) {
    double *values = exi_arena_allocate(r->keys.arena, (size_t)layer->example_count, sizeof *values), sum = 0, left = 0;
    if (!values)
        return ex_error_memory(r->keys.error, "the project", (size_t)layer->example_count * sizeof *values);
    if (!json_is_object(object))
        return ex_error_set(r->keys.error, EX_ERROR_DATA, "%s: an object of example names and weights is needed here",
                            place->text);
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value) {
        exi_place at = exi_place_key(place, key);
        const int k = find_example(layer->examples, layer->example_count, key);
        double weight = 0;
        if (k < 0 && find_example(layer->muted_examples, layer->muted_count, key) < 0) {
            const char *near = ex_suggest(key, layer->weigh.names, layer->example_count);
            return near
                       ? ex_error_set(r->keys.error, EX_ERROR_DATA,
                                      "%s: this layer has no example '%s'; did you mean '%s'?", at.text, key, near)
                       : ex_error_set(r->keys.error, EX_ERROR_DATA, "%s: this layer has no example '%s'", at.text, key);
        }
        ex_result result = read_weight(r, value, &at, &weight);
        if (result != EX_OK)
            return result;
        sum += weight;
        left += k < 0 ? 0 : weight;
        if (k >= 0)
            values[k] = weight;
    }
    for (int k = 0; fabs(left) > 1e-12 && left != sum && k < layer->example_count; k++)
        values[k] *= sum / left;
    *weights = values;
    return EX_OK;
}

static ex_result read_pseudo(exi_project_reader *r, const json_t *object, const exi_place *place,
                             const ex_project_layer *layer, ex_pseudo *pseudo) {
    static const char *const keys[] = {"name", "from", "weights", "at", "falloff", "metric", NULL}, *const needed[] = {
                                                                                                        "at", NULL};
    const char *name = NULL;
    ex_result result = exi_check_keys(&r->keys, object, place, keys);
    if (result == EX_OK)
        result = exi_require_keys(&r->keys, object, place, needed);
    if (result == EX_OK)
        result = exi_get_text(&r->keys, object, place, "name", false, &name);
    const json_t *from = json_object_get(object, "from"), *weights = json_object_get(object, "weights");
    if (result == EX_OK && !from == !weights)
        result = ex_error_set(r->keys.error, EX_ERROR_DATA, "%s: a pseudo-example has either \"from\" or \"weights\"",
                              place->text);
    exi_place at = exi_place_key(place, "at");
    if (result == EX_OK)
        result = exi_read_point(r, json_object_get(object, "at"), &at, layer, &pseudo->at);
    at = exi_place_key(place, from ? "from" : "weights");
    if (result == EX_OK)
        result = from ? exi_read_point(r, from, &at, layer, &pseudo->from)
                      : read_weights(r, weights, &at, layer, &pseudo->weights);
    return result;
}

ex_result exi_read_pseudos(exi_project_reader *r, const json_t *object, const exi_place *place,
                           ex_project_layer *layer) {
    const json_t *list = json_object_get(object, "pseudo");
    exi_place at = exi_place_key(place, "pseudo");
    if (!list)
        return EX_OK;
    if (!json_is_array(list))
        return ex_error_set(r->keys.error, EX_ERROR_DATA, "%s: a list of pseudo-examples is needed here", at.text);
    size_t count = json_array_size(list);
    if (count > 0 && exi_layer_is_direct(layer))
        return ex_error_set(r->keys.error, EX_ERROR_DATA, "%s: a direct layer has no space for pseudo-examples",
                            at.text);
    if (count > 0 && layer->driven)
        return ex_error_set(r->keys.error, EX_ERROR_DATA, "%s: a layer weighed by a driver has no pseudo-examples",
                            at.text);
    ex_pseudo *pseudos = exi_arena_allocate(r->keys.arena, count, sizeof *pseudos);
    if (!pseudos)
        return ex_error_memory(r->keys.error, "the project", count * sizeof *pseudos);
    for (size_t i = 0; i < count; i++) {
        exi_place here = exi_place_index(&at, i);
        ex_result result = read_pseudo(r, json_array_get(list, i), &here, layer, &pseudos[i]);
        if (result != EX_OK)
            return result;
    }
    layer->weigh.pseudos = pseudos;
    layer->pseudo_count = layer->weigh.pseudo_count = (int)count;
    return EX_OK;
}
