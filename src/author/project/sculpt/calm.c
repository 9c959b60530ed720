/*
 * Makes a layer of a project calm (ex_project_calm).
 */
#include "author/base/json.h"
#include "author/project/sculpt/sculpt.h"

/* Removes a key from every element of a list. */
static void remove_from_all(const json_t *list, const char *key) {
    for (size_t i = 0; i < json_array_size(list); i++)
        json_object_del(json_array_get(list, i), key);
}

static ex_result check_layer(const ex_project_layer *layer, ex_error *error) {
    const ex_weigher_info *info = ex_weigher_kind_info(layer->weigh.kind);
    if (!info->has_points || info->is_driven)
        return ex_error_set(error, EX_ERROR_DATA, "layer '%s' is %s: only a layer with examples in a space can be calm",
                            layer->name, ex_weigher_kind_name(layer->weigh.kind));
    if (layer->offsets.participation == EX_PARTICIPATION_MOVED)
        return ex_error_set(
            error, EX_ERROR_DATA,
            "layer '%s' has \"participation\": \"moved\", which needs a gaussian weigher: take that out "
            "first",
            layer->name);
    return EX_OK;
}

ex_result ex_project_calm(ex_project *project, const char *layer, const ex_build_options *options, ex_error *error) {
    static const char *const reach[] = {"falloff", "metric"};
    ex_error local = {0};
    error = error ? error : &local;
    exi_amendment a;
    const int index = exi_find_layer(&project->view, layer, error);
    ex_result result = index < 0 ? EX_ERROR_DATA : check_layer(&project->view.layers[index], error);
    if (result != EX_OK)
        return result;
    result = exi_amend_open(&a, project, options, error);
    if (result == EX_OK) {
        json_t *object = exi_amend_layer(&a, index);
        for (int i = 0; i < 2; i++) {
            remove_from_all(json_object_get(object, "examples"), reach[i]);
            remove_from_all(json_object_get(object, "pseudo"), reach[i]);
        }
        if (json_object_set_new(object, "weigh", json_pack("{s:s}", "kind", "calm")) != 0)
            result = ex_error_memory(error, "the layer", 0);
    }
    exi_amend_name(&a, "layer '%s' made calm", layer);
    return exi_amend_end(&a, result, error);
}
