/*
 * json.h - JSON files: read strictly, by jansson; written with keys in their order and the fewest decimals that read
 * back. Private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_BASE_JSON_H
#define EXEMPLAR_AUTHOR_BASE_JSON_H

#include <exemplar/base.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* The value of a text, or of a file (json_decref it). Errors name file, line and column; `name` stands for the file. */
ex_result exi_json_parse(const char *text, size_t size, const char *name, json_t **root, ex_error *error);
ex_result exi_json_read(const char *path, json_t **root, ex_error *error);

/* Text in memory that grows. After a failure for lack of memory, `failed` is set and writing does nothing. */
typedef struct exi_text {
    char *bytes; /* release with free */
    size_t size, capacity;
    bool failed;
} exi_text;

void exi_text_add(exi_text *text, const char *bytes, size_t size);

/* pretty: objects and lists over several lines, indented by two; those of plain values that fit into 100 columns on
 * one. Otherwise without any white space. */
void exi_json_print(const json_t *value, bool pretty, exi_text *text);

/* The file is the value, printed for people. value NULL counts as a lack of memory. */
ex_result exi_json_write(const char *path, const json_t *value, ex_error *error);

/* Numbers as people write them: whole ones without a point. NULL without memory or for a number that is not finite. */
json_t *exi_json_make_number(double value);
json_t *exi_json_make_numbers(const double *values, int count);

#endif
