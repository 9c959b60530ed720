/*
 * Gets values of a glTF file's JSON tree by key, and checks their kind and range.
 */
#include "author/formats/gltf/gltf_reader.h"

#include "author/base/array.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Whole numbers up to this are exact as JSON numbers, however they are written. */
#define LARGEST_WHOLE 9007199254740992.0

ex_result exi_gltf_fail(const exi_gltf *g, ex_result result, const char *where, const char *format, ...) {
    char sentence[EX_ERROR_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    if (!where || !*where)
        return ex_error_set(g->error, result, "%s: %s", g->path, sentence);
    return ex_error_set(g->error, result, "%s: %s: %s", g->path, where, sentence);
}

ex_result exi_gltf_no_memory(const exi_gltf *g) {
    return ex_error_set(g->error, EX_ERROR_MEMORY, "%s: not enough memory for the scene", g->path);
}

ex_result exi_gltf_allocate(const exi_gltf *g, int count, size_t size, void **memory) {
    *memory = exi_array_allocate((size_t)count, size);
    if (!*memory)
        return exi_gltf_no_memory(g);
    memset(*memory, 0, (size_t)count * size);
    return EX_OK;
}

/* True for a whole number, which may also be written as 3.0. */
static bool whole(const json_t *value, double *number) {
    if (!json_is_number(value))
        return false;
    *number = json_number_value(value);
    return *number == floor(*number) && fabs(*number) <= LARGEST_WHOLE;
}

ex_result exi_gltf_get_int(const exi_gltf *g, const json_t *object, const char *key, int low, int high,
                           const char *where, int *value) {
    const json_t *found = json_object_get(object, key);
    double number;
    if (!found)
        return EX_OK;
    if (!whole(found, &number) || number < low || number > high)
        return exi_gltf_fail(g, EX_ERROR_DATA, where, "%s must be a whole number from %d to %d", key, low, high);
    *value = (int)number;
    return EX_OK;
}

ex_result exi_gltf_get_size(const exi_gltf *g, const json_t *object, const char *key, const char *where,
                            size_t *value) {
    const json_t *found = json_object_get(object, key);
    double number;
    if (!found)
        return EX_OK;
    if (!whole(found, &number) || number < 0 || number > (double)(SIZE_MAX / 2))
        return exi_gltf_fail(g, EX_ERROR_DATA, where, "%s must be a whole number that is not negative", key);
    *value = (size_t)number;
    return EX_OK;
}

ex_result exi_gltf_get_bool(const exi_gltf *g, const json_t *object, const char *key, const char *where, bool *value) {
    const json_t *found = json_object_get(object, key);
    if (!found)
        return EX_OK;
    if (!json_is_boolean(found))
        return exi_gltf_fail(g, EX_ERROR_DATA, where, "%s must be true or false", key);
    *value = json_is_true(found);
    return EX_OK;
}

ex_result exi_gltf_get_number(const exi_gltf *g, const json_t *object, const char *key, const char *where,
                              double *value) {
    const json_t *found = json_object_get(object, key);
    if (!found)
        return EX_OK;
    if (!json_is_number(found))
        return exi_gltf_fail(g, EX_ERROR_DATA, where, "%s must be a number", key);
    *value = json_number_value(found);
    return EX_OK;
}

ex_result exi_gltf_get_numbers(const exi_gltf *g, const json_t *object, const char *key, int count, const char *where,
                               double *values, bool *present) {
    const json_t *found = json_object_get(object, key);
    if (present)
        *present = found != NULL;
    if (!found)
        return EX_OK;
    bool good = json_is_array(found) && json_array_size(found) == (size_t)count;
    for (int i = 0; i < count && good; i++) {
        const json_t *number = json_array_get(found, (size_t)i);
        good = json_is_number(number);
        values[i] = json_number_value(number);
    }
    return good ? EX_OK : exi_gltf_fail(g, EX_ERROR_DATA, where, "%s must be a list of %d numbers", key, count);
}

ex_result exi_gltf_get_reference(const exi_gltf *g, const json_t *object, const char *key, int count, const char *what,
                                 const char *where, int *value) {
    const json_t *found = json_object_get(object, key);
    double number;
    if (!found)
        return EX_OK;
    if (!whole(found, &number) || number < 0)
        return exi_gltf_fail(g, EX_ERROR_DATA, where, "%s must be the number of %s %s", key,
                             strchr("aeiou", what[0]) ? "an" : "a", what);
    if (number >= count)
        return exi_gltf_fail(g, EX_ERROR_DATA, where, "%s is %s %.0f, but the file has %d", key, what, number, count);
    *value = (int)number;
    return EX_OK;
}

ex_result exi_gltf_get_text(const exi_gltf *g, const json_t *object, const char *key, const char *where, char **text) {
    const json_t *found = json_object_get(object, key);
    *text = NULL;
    if (!found)
        return EX_OK;
    if (!json_is_string(found))
        return exi_gltf_fail(g, EX_ERROR_DATA, where, "%s must be text", key);
    *text = exi_text_copy(json_string_value(found), json_string_length(found));
    return *text ? EX_OK : exi_gltf_no_memory(g);
}

ex_result exi_gltf_get_array(const exi_gltf *g, const json_t *object, const char *key, bool objects_only,
                             const char *where, json_t **array, int *count) {
    *array = json_object_get(object, key);
    *count = 0;
    if (!*array)
        return EX_OK;
    if (!json_is_array(*array) || json_array_size(*array) >= INT_MAX / 4)
        return exi_gltf_fail(g, EX_ERROR_DATA, where, "%s must be a list", key);
    *count = (int)json_array_size(*array);
    for (int i = 0; i < *count && objects_only; i++)
        if (!json_is_object(json_array_get(*array, (size_t)i)))
            return exi_gltf_fail(g, EX_ERROR_DATA, where, "%s[%d] must be an object", key, i);
    return EX_OK;
}

ex_result exi_gltf_get_object(const exi_gltf *g, const json_t *object, const char *key, const char *where,
                              json_t **value) {
    *value = json_object_get(object, key);
    if (*value && !json_is_object(*value))
        return exi_gltf_fail(g, EX_ERROR_DATA, where, "%s must be an object", key);
    return EX_OK;
}
