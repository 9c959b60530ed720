/*
 * array.h - memory whose size comes from a file: checked sizes, and arrays that grow by doubling. Private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_BASE_ARRAY_H
#define EXEMPLAR_AUTHOR_BASE_ARRAY_H

#include <stddef.h>
#include <stdint.h>

/* Allocates count * size bytes, at least one so that NULL always means failure. Also NULL if the product overflows. */
void *exi_array_allocate(size_t count, size_t size);

/* Copies count items; NULL without memory. */
void *exi_array_copy(const void *items, size_t count, size_t size);

/*
 * Returns the array with room for `needed` items. Moves it and raises *capacity if necessary. NULL without memory;
 * array and *capacity are then unchanged.
 */
void *exi_array_grow(void *array, size_t *capacity, size_t needed, size_t size);

/* Copies a text of known length and ends it with NUL; NULL without memory. */
char *exi_text_copy(const char *text, size_t size);

/* Returns a hash of the bytes, for finding equal ones; not safe against someone who looks for collisions. */
uint64_t exi_bytes_hash(const void *bytes, size_t size);

#endif
