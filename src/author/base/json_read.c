/*
 * Reads JSON files strictly: no duplicate keys, nothing after the value.
 *
 * jansson's parser says "string or '}' expected", or nothing, if memory runs out. So its allocation function is
 * replaced by one that calls the previous one and notes in its thread if that failed. A program that sets allocation
 * functions of its own later does no harm: lack of memory is then recognised only where jansson reports it.
 */
#include "author/base/json.h"
#include "runtime/base/result.h"

#include <exemplar/author/files.h>

#include <stdlib.h>
#include <string.h>

static json_malloc_t allocate_before;
static _Thread_local bool memory_ran_out;

static void *allocate(size_t size) {
    void *memory = allocate_before(size);
    memory_ran_out = memory_ran_out || !memory;
    return memory;
}

/* Before main, so that no thread is using jansson. */
__attribute__((constructor)) static void watch_memory(void) {
    json_free_t release;
    json_get_alloc_funcs(&allocate_before, &release);
    json_set_alloc_funcs(allocate, release);
}

ex_result exi_json_load(const char *text, size_t size, json_t **root, json_error_t *problem) {
    json_error_t local;
    problem = problem ? problem : &local;
    *problem = (json_error_t){0};
    memory_ran_out = false;
    *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, problem);
    if (*root)
        return EX_OK;
    const bool reported = json_error_code(problem) == json_error_out_of_memory || !problem->text[0];
    return memory_ran_out || reported ? EX_ERROR_MEMORY : EX_ERROR_FORMAT;
}

ex_result exi_json_parse(const char *text, size_t size, const char *name, json_t **root, ex_error *error) {
    json_error_t json_error;
    if (size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
        text += 3;
        size -= 3;
    }
    const ex_result result = exi_json_load(text, size, root, &json_error);
    if (result == EX_OK)
        return EX_OK;
    if (result == EX_ERROR_MEMORY)
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
