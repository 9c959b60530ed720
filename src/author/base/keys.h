/*
 * keys.h - taking a JSON object apart by the names of its keys; private to authoring. Getters leave the value alone
 * where the key is absent, and say place and key where its value is of the wrong kind.
 */
#ifndef EXEMPLAR_AUTHOR_BASE_KEYS_H
#define EXEMPLAR_AUTHOR_BASE_KEYS_H

#include "author/base/arena.h"
#include "author/base/values.h"

/* Who reads: where texts are kept, and where what is wrong is said. */
typedef struct exi_reader {
    exi_arena *arena;
    ex_error *error;
} exi_reader;

/* Lists of keys end with NULL. */
ex_result exi_check_keys(exi_reader *r, const json_t *object, const exi_place *place, const char *const *keys);
ex_result exi_require_keys(exi_reader *r, const json_t *object, const exi_place *place, const char *const *keys);

ex_result exi_get_number(exi_reader *r, const json_t *object, const exi_place *place, const char *key, double *value);
ex_result exi_get_bool(exi_reader *r, const json_t *object, const exi_place *place, const char *key, bool *value);
/* A whole number from low to high. */
ex_result exi_get_range(exi_reader *r, const json_t *object, const exi_place *place, const char *key, int low, int high,
                        int *value);
/* Text copied into the arena; an empty one is refused. */
ex_result exi_get_text(exi_reader *r, const json_t *object, const exi_place *place, const char *key, bool needed,
                       const char **text);

/* Which of the words the value is. */
ex_result exi_choose(exi_reader *r, const json_t *value, const exi_place *place, const char *const *words, int count,
                     int *choice);

#endif
