/*
 * Reads how a layer weighs: its kind, and the parameters in that kind's table.
 */
#include "author/base/array.h"
#include "author/project/model/reader.h"
#include "runtime/base/result.h"

#include <limits.h>
#include <stdlib.h>

/* Keys that are not parameters of the weigher: read_falloff.c and read_driver.c read them. */
static const char *const reach_keys[] = {"falloff", "metric", NULL};
static const char *const driver_keys[] = {"driver_weights", "one_region", "regions", NULL};
static const char *const motion_keys[] = {"driver_weights", "predictor", NULL};

static ex_result refuse_reach(exi_project_reader *r, const json_t *weigh, const exi_place *place) {
    for (int i = 0; reach_keys[i]; i++)
        if (json_object_get(weigh, reach_keys[i]))
            return ex_error_set(r->keys.error, EX_ERROR_DATA,
                                "%s.%s: only weighers of \"kind\": \"gaussian\" have this", place->text, reach_keys[i]);
    return EX_OK;
}

static ex_result check_keys(exi_project_reader *r, const json_t *weigh, const exi_place *place,
                            const ex_weigher_info *info) {
    const char *const *const more = info->has_falloffs   ? reach_keys
                                    : info->is_predicted ? motion_keys
                                    : info->is_driven    ? driver_keys
                                                         : NULL;
    const char **keys = exi_array_allocate((size_t)info->parameter_count + 8, sizeof *keys);
    int count = 0;
    if (!keys)
        return ex_error_memory(r->keys.error, "the project", 0);
    keys[count++] = "kind";
    for (int i = 0; more && more[i]; i++)
        keys[count++] = more[i];
    for (int i = 0; i < info->parameter_count; i++)
        keys[count++] = info->parameters[i].name;
    keys[count] = NULL;
    const ex_result result = exi_check_keys(&r->keys, weigh, place, keys);
    free(keys);
    return result;
}

static ex_result read_word(exi_project_reader *r, const json_t *given, const exi_place *place,
                           const ex_parameter *parameter, int *choice) {
    const char **words = exi_array_allocate((size_t)parameter->word_count, sizeof *words);
    if (!words)
        return ex_error_memory(r->keys.error, "the project", 0);
    for (int i = 0; i < parameter->word_count; i++)
        words[i] = parameter->words[i].name;
    const ex_result result = exi_choose(&r->keys, given, place, words, parameter->word_count, choice);
    free(words);
    return result;
}

/* Reads a parameter; the default is def's value. Ranges of numbers are checked when all are read. */
static ex_result read_parameter(exi_project_reader *r, const json_t *weigh, const exi_place *place,
                                const ex_parameter *parameter, ex_weigher_def *def) {
    const json_t *given = json_object_get(weigh, parameter->name);
    const exi_place at = exi_place_key(place, parameter->name);
    double value = ex_parameter_get(parameter, def);
    int whole = (int)value;
    bool on = value != 0;
    ex_result result = EX_OK;
    if (!given)
        return EX_OK;
    if (parameter->type == EX_PARAMETER_NUMBER) {
        result = exi_get_number(&r->keys, weigh, place, parameter->name, &value);
    } else if (parameter->type == EX_PARAMETER_SWITCH) {
        result = exi_get_bool(&r->keys, weigh, place, parameter->name, &on);
        value = on;
    } else {
        result = parameter->type == EX_PARAMETER_CHOICE
                     ? read_word(r, given, &at, parameter, &whole)
                     : exi_get_range(&r->keys, weigh, place, parameter->name, (int)parameter->least,
                                     parameter->most < INT_MAX ? (int)parameter->most : INT_MAX, &whole);
        value = whole;
    }
    if (result == EX_OK)
        ex_parameter_set(parameter, def, value);
    return result;
}

static ex_result read_kind(exi_project_reader *r, const json_t *weigh, const exi_place *place, ex_weigher_kind *kind) {
    const json_t *given = json_object_get(weigh, "kind");
    const exi_place at = exi_place_key(place, "kind");
    const int count = ex_weigher_kind_count();
    int choice = (int)*kind;
    if (!given)
        return EX_OK;
    const char **names = exi_array_allocate((size_t)count, sizeof *names);
    if (!names)
        return ex_error_memory(r->keys.error, "the project", 0);
    for (int i = 0; i < count; i++)
        names[i] = ex_weigher_kind_name((ex_weigher_kind)i);
    const ex_result result = exi_choose(&r->keys, given, &at, names, count, &choice);
    free(names);
    *kind = (ex_weigher_kind)choice;
    return result;
}

ex_result exi_read_weigh(exi_project_reader *r, const json_t *layer, const exi_place *place, ex_weigher_def *def) {
    const json_t *weigh = json_object_get(layer, "weigh");
    const exi_place at = exi_place_key(place, "weigh");
    *def = ex_weigher_def_default();
    if (!weigh)
        return EX_OK;
    if (!json_is_object(weigh))
        return ex_error_set(r->keys.error, EX_ERROR_DATA,
                            "%s: an object such as {\"kind\": \"cardinal\"} is needed here", at.text);
    ex_result result = read_kind(r, weigh, &at, &def->kind);
    const ex_weigher_info *info = ex_weigher_kind_info(def->kind);
    if (result == EX_OK && !info->has_falloffs)
        result = refuse_reach(r, weigh, &at);
    if (result == EX_OK)
        result = check_keys(r, weigh, &at, info);
    for (int i = 0; result == EX_OK && i < info->parameter_count; i++)
        result = read_parameter(r, weigh, &at, &info->parameters[i], def);
    if (result != EX_OK)
        return result;
    const ex_parameter *wrong = ex_weigher_check_parameters(def, r->keys.error);
    return wrong ? ex_error_within(r->keys.error, EX_ERROR_DATA, "%s.%s", at.text, wrong->name) : EX_OK;
}
