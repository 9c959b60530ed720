/*
 * Reads keys of JSON objects, and reports their errors.
 */
#include "author/base/keys.h"

#include "runtime/base/result.h"

#include <exemplar/author/base.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

static int count_keys(const char *const *keys) {
    int count = 0;
    while (keys[count])
        count++;
    return count;
}

/* "a", "b", "c" */
/* "a", "b" or "c", where last is " or ". */
static void list_words(const char *const *words, int count, const char *last, char *list, size_t size) {
    size_t used = 0;
    list[0] = 0;
    for (int i = 0; i < count && used < size; i++)
        used += (size_t)snprintf(list + used, size - used, "%s\"%s\"",
                                 i == 0          ? ""
                                 : i < count - 1 ? ", "
                                                 : last,
                                 words[i]);
}

ex_result exi_check_keys(exi_reader *r, const json_t *object, const exi_place *place, const char *const *keys) {
    if (!json_is_object(object))
        return ex_error_set(r->error, EX_ERROR_DATA, "%s: an object { … } is needed here", place->text);
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value) {
        int i = 0;
        while (keys[i] && strcmp(keys[i], key) != 0)
            i++;
        if (keys[i])
            continue;
        exi_place at = exi_place_key(place, key);
        const char *near = ex_suggest(key, keys, count_keys(keys));
        if (near)
            return ex_error_set(r->error, EX_ERROR_DATA, "%s: unknown key; did you mean \"%s\"?", at.text, near);
        char list[200];
        list_words(keys, count_keys(keys), " and ", list, sizeof list);
        return ex_error_set(r->error, EX_ERROR_DATA, "%s: unknown key; known here are %s", at.text, list);
    }
    return EX_OK;
}

ex_result exi_require_keys(exi_reader *r, const json_t *object, const exi_place *place, const char *const *keys) {
    for (int i = 0; keys[i]; i++)
        if (!json_object_get(object, keys[i])) {
            exi_place at = exi_place_key(place, keys[i]);
            return ex_error_set(r->error, EX_ERROR_DATA, "%s: missing", at.text);
        }
    return EX_OK;
}

ex_result exi_get_number(exi_reader *r, const json_t *object, const exi_place *place, const char *key, double *value) {
    const json_t *given = json_object_get(object, key);
    exi_place at = exi_place_key(place, key);
    return given ? exi_json_number(given, &at, value, r->error) : EX_OK;
}

ex_result exi_get_bool(exi_reader *r, const json_t *object, const exi_place *place, const char *key, bool *value) {
    const json_t *given = json_object_get(object, key);
    exi_place at = exi_place_key(place, key);
    if (given && !json_is_boolean(given))
        return ex_error_set(r->error, EX_ERROR_DATA, "%s: true or false is needed here", at.text);
    if (given)
        *value = json_is_true(given);
    return EX_OK;
}

ex_result exi_get_range(exi_reader *r, const json_t *object, const exi_place *place, const char *key, int low, int high,
                        int *value) {
    const json_t *given = json_object_get(object, key);
    exi_place at = exi_place_key(place, key);
    if (!given)
        return EX_OK;
    if (!json_is_integer(given) || json_integer_value(given) < low || json_integer_value(given) > high)
        return ex_error_set(r->error, EX_ERROR_DATA, "%s: a whole number from %d to %d is needed here", at.text, low,
                            high);
    *value = (int)json_integer_value(given);
    return EX_OK;
}

ex_result exi_get_text(exi_reader *r, const json_t *object, const exi_place *place, const char *key, bool needed,
                       const char **text) {
    const json_t *given = json_object_get(object, key);
    exi_place at = exi_place_key(place, key);
    if (!given && !needed)
        return EX_OK;
    if (!given)
        return ex_error_set(r->error, EX_ERROR_DATA, "%s: missing", at.text);
    if (json_is_string(given) && json_string_length(given) == 0)
        return ex_error_set(r->error, EX_ERROR_DATA, "%s: must not be empty", at.text);
    if (!json_is_string(given) || strlen(json_string_value(given)) != json_string_length(given))
        return ex_error_set(r->error, EX_ERROR_DATA, "%s: a text in quotes is needed here", at.text);
    *text = exi_arena_text(r->arena, json_string_value(given));
    return *text ? EX_OK : ex_error_memory(r->error, "the project", json_string_length(given));
}

ex_result exi_choose(exi_reader *r, const json_t *value, const exi_place *place, const char *const *words, int count,
                     int *choice) {
    const char *word = json_string_value(value);
    for (int i = 0; word && i < count; i++)
        if (strcmp(words[i], word) == 0) {
            *choice = i;
            return EX_OK;
        }
    const char *near = word ? ex_suggest(word, words, count) : NULL;
    if (near)
        return ex_error_set(r->error, EX_ERROR_DATA, "%s: unknown value \"%s\"; did you mean \"%s\"?", place->text,
                            word, near);
    char list[200];
    list_words(words, count, " or ", list, sizeof list);
    return ex_error_set(r->error, EX_ERROR_DATA, "%s: %s is needed here", place->text, list);
}
