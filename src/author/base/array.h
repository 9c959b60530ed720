/*
 * array.h - memory whose size comes from a file: checked sizes and arrays that grow by doubling; private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_BASE_ARRAY_H
#define EXEMPLAR_AUTHOR_BASE_ARRAY_H

#include <stddef.h>

/* count * size bytes, at least one so that NULL always means failure; also NULL where the product overflows. */
void *exi_array_allocate(size_t count, size_t size);

/* A copy of count items; NULL without memory. */
void *exi_array_copy(const void *items, size_t count, size_t size);

/*
 * The array with room for `needed` items, moved and *capacity raised where that takes it. NULL without memory: the
 * array and *capacity are then as before.
 */
void *exi_array_grow(void *array, size_t *capacity, size_t needed, size_t size);

/* A copy of a text of known length, ended by NUL; NULL without memory. */
char *exi_text_copy(const char *text, size_t size);

#endif
