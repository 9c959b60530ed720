/*
 * Reads JSON files strictly: no duplicate keys, nothing after the value.
 *
 * jansson's parser must not see a failed allocation. It ignores that its buffer for a token could not grow, and then
 * writes beyond another one; elsewhere it says "string or '}' expected". So its allocation functions are replaced by
 * ones that call the previous ones and list the blocks of the text being parsed. If one cannot be had, they leave the
 * parser with longjmp, and the blocks are released. A program that sets functions of its own later gets jansson's
 * behaviour.
 */
#include "author/base/json.h"
#include "runtime/base/result.h"

#include <exemplar/author/files.h>

#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The text that a thread is parsing, and a hash table of the blocks that jansson holds for it. */
typedef struct parsing {
    jmp_buf out;
    void **blocks; /* [capacity], at most half of them in use; NULL for a free place */
    size_t count, capacity;
} parsing;

static _Thread_local parsing *now;
static json_malloc_t allocate_before;
static json_free_t release_before;

static size_t first_place(const parsing *p, const void *memory) {
    const uint64_t unit = (uint64_t)(uintptr_t)memory >> 4; /* blocks are 16 bytes apart */
    return (size_t)((unit >> 6) * 0x9E3779B97F4A7C15 >> 20 << 6 | (unit & 63)) & (p->capacity - 1);
}

/* The place of a block, or the free one where it would be. */
static size_t find_place(const parsing *p, const void *memory) {
    size_t i = first_place(p, memory);
    while (p->blocks[i] && p->blocks[i] != memory)
        i = (i + 1) & (p->capacity - 1);
    return i;
}

/* Makes room for another block; false without memory. */
static bool make_room(parsing *p) {
    if (2 * p->count < p->capacity)
        return true;
    parsing larger = {.capacity = p->capacity ? 2 * p->capacity : 64};
    larger.blocks = calloc(larger.capacity, sizeof *larger.blocks);
    if (!larger.blocks)
        return false;
    for (size_t i = 0; i < p->capacity; i++)
        if (p->blocks[i])
            larger.blocks[find_place(&larger, p->blocks[i])] = p->blocks[i];
    free(p->blocks);
    p->blocks = larger.blocks;
    p->capacity = larger.capacity;
    return true;
}

/* Moves later blocks into the gap if it is between them and their first place. */
static void forget(parsing *p, const void *memory) {
    const size_t mask = p->capacity - 1;
    size_t gap = p->count > 0 ? find_place(p, memory) : 0;
    if (p->count == 0 || !p->blocks[gap])
        return;
    for (size_t i = (gap + 1) & mask; p->blocks[i]; i = (i + 1) & mask)
        if (((i - first_place(p, p->blocks[i])) & mask) >= ((i - gap) & mask)) {
            p->blocks[gap] = p->blocks[i];
            gap = i;
        }
    p->blocks[gap] = NULL;
    p->count--;
}

static void *allocate(size_t size) {
    parsing *p = now;
    if (!p)
        return allocate_before(size);
    void *memory = make_room(p) ? allocate_before(size) : NULL;
    if (!memory)
        longjmp(p->out, 1);
    p->blocks[find_place(p, memory)] = memory;
    p->count++;
    return memory;
}

static void release(void *memory) {
    if (now && memory)
        forget(now, memory);
    release_before(memory);
}

/* Before main, so that no thread is using jansson. */
__attribute__((constructor)) static void replace_functions(void) {
    json_get_alloc_funcs(&allocate_before, &release_before);
    json_set_alloc_funcs(allocate, release);
}

/* A program that unloads this library goes on with jansson. */
__attribute__((destructor)) static void restore_functions(void) {
    json_malloc_t allocate_now;
    json_free_t release_now;
    json_get_alloc_funcs(&allocate_now, &release_now);
    if (allocate_now == allocate && release_now == release)
        json_set_alloc_funcs(allocate_before, release_before);
}

/* Parses into *root, which is NULL if that fails; false without memory. */
static bool parse(parsing *p, const char *text, size_t size, json_t **root, json_error_t *problem) {
    if (setjmp(p->out) != 0)
        return false;
    now = p;
    *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, problem);
    return *root || json_error_code(problem) != json_error_out_of_memory;
}

ex_result exi_json_load(const char *text, size_t size, json_t **root, json_error_t *problem) {
    json_error_t local;
    problem = problem ? problem : &local;
    *problem = (json_error_t){0};
    *root = NULL;
    parsing p = {.blocks = NULL};
    const bool enough = parse(&p, text, size, root, problem);
    now = NULL;
    for (size_t i = 0; !enough && i < p.capacity; i++)
        if (p.blocks[i])
            release_before(p.blocks[i]);
    free(p.blocks);
    if (*root)
        return EX_OK;
    if (enough && (json_error_code(problem) == json_error_null_character ||
                   json_error_code(problem) == json_error_null_byte_in_key))
        snprintf(problem->text, sizeof problem->text, "a text has the character NUL (\\u0000) in it: remove that");
    return enough && problem->text[0] ? EX_ERROR_FORMAT : EX_ERROR_MEMORY;
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
