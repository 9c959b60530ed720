/*
 * json.h - JSON files: read strictly, with jansson; written with keys in their order and the fewest decimals that read
 * back exactly. Private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_BASE_JSON_H
#define EXEMPLAR_AUTHOR_BASE_JSON_H

#include <exemplar/base.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Parses a text strictly: no key twice, nothing after the value. Release with json_decref. Parse every text with this
 * function: jansson's own report lack of memory as an error of syntax. Results: FORMAT, with the reason in *problem
 * (may be NULL); MEMORY. Then *root is NULL. */
ex_result exi_json_load(const char *text, size_t size, json_t **root, json_error_t *problem);

/* Parses a text or a file; release with json_decref. Errors name file (`name`), line and column. */
ex_result exi_json_parse(const char *text, size_t size, const char *name, json_t **root, ex_error *error);
ex_result exi_json_read(const char *path, json_t **root, ex_error *error);

/* A growing text in memory. If memory runs out, `failed` is set and further writing does nothing. */
typedef struct exi_text {
    char *bytes; /* release with free */
    size_t size, capacity;
    bool failed;
} exi_text;

void exi_text_add(exi_text *text, const char *bytes, size_t size);

/* pretty: spreads objects and lists over several lines, indented by two; those of plain values stay on one line if they
 * fit into 100 columns. Otherwise writes no white space. */
void exi_json_print(const json_t *value, bool pretty, exi_text *text);

/* Writes the value to a file, pretty-printed. value NULL is reported as lack of memory. */
ex_result exi_json_write(const char *path, const json_t *value, ex_error *error);

/* Makes a number as people write it: whole ones without a point. NULL without memory or if it is not finite. */
/* Sets a key and takes the value over, also if it is NULL, which fails. False without memory. */
bool exi_json_set(json_t *object, const char *key, json_t *value);
json_t *exi_json_make_number(double value);
json_t *exi_json_make_numbers(const double *values, int count);

#endif
