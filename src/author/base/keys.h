/*
 * keys.h - reads JSON objects key by key; private to authoring. Getters leave the value unchanged if the key is absent,
 * and report place and key if its value is of the wrong kind.
 */
#ifndef EXEMPLAR_AUTHOR_BASE_KEYS_H
#define EXEMPLAR_AUTHOR_BASE_KEYS_H

#include "author/base/arena.h"
#include "author/base/values.h"

/* State of a reader: the memory for texts, and the error. */
typedef struct exi_reader {
    exi_arena *arena;
    ex_error *error;
} exi_reader;

/* Lists of keys end with NULL. */
ex_result exi_check_keys(exi_reader *r, const json_t *object, const exi_place *place, const char *const *keys);
ex_result exi_require_keys(exi_reader *r, const json_t *object, const exi_place *place, const char *const *keys);

ex_result exi_get_number(exi_reader *r, const json_t *object, const exi_place *place, const char *key, double *value);
ex_result exi_get_bool(exi_reader *r, const json_t *object, const exi_place *place, const char *key, bool *value);
/* Gets a whole number from low to high. */
ex_result exi_get_range(exi_reader *r, const json_t *object, const exi_place *place, const char *key, int low, int high,
                        int *value);
/* Gets a text, copied into the arena; refuses an empty one. */
ex_result exi_get_text(exi_reader *r, const json_t *object, const exi_place *place, const char *key, bool needed,
                       const char **text);

/* Finds the value among the words. */
ex_result exi_choose(exi_reader *r, const json_t *value, const exi_place *place, const char *const *words, int count,
                     int *choice);

#endif
