/*
 * Reads JSON files strictly: no duplicate keys, nothing after the value.
 */
#include "author/base/json.h"
#include "runtime/base/result.h"

#include <exemplar/author/files.h>

#include <stdlib.h>
#include <string.h>

ex_result exi_json_parse(const char *text, size_t size, const char *name, json_t **root, ex_error *error) {
    json_error_t json_error = {0};
    if (size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
        text += 3;
        size -= 3;
    }
    *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &json_error);
    if (*root)
        return EX_OK;
    /* jansson reports nothing if memory runs out half-way. */
    if (json_error_code(&json_error) == json_error_out_of_memory || !json_error.text[0])
        return ex_error_memory(error, name, size);
    if (size == 0)
        return ex_error_set(error, EX_ERROR_FORMAT, "%s is empty", name);
    return ex_error_set(error, EX_ERROR_FORMAT, "%s:%d:%d: %s", name, json_error.line, json_error.column,
                        json_error.text);
}

ex_result exi_json_read(const char *path, json_t **root, ex_error *error) {
    char *text = NULL;
    size_t size = 0;
    *root = NULL;
    ex_result result = ex_file_read(path, &text, &size, error);
    if (result == EX_OK)
        result = exi_json_parse(text, size, path, root, error);
    free(text);
    return result;
}
