/*
 * array.h - checked sizes and growing arrays, for the programs of this repository: the tool, the demos, the figures and
 * the measurements. They are clients of the installed libraries; common/ holds the little that they share and no
 * library offers. Release everything here with free.
 */
#ifndef EXEMPLAR_COMMON_ARRAY_H
#define EXEMPLAR_COMMON_ARRAY_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Allocates count * size bytes, at least one so that NULL always means failure; also NULL if the product overflows. */
static inline void *array_allocate(size_t count, size_t size) {
    return size && count > SIZE_MAX / size ? NULL : malloc(count && size ? count * size : 1);
}

/* A copy of count items; NULL if out of memory. */
static inline void *array_copy(const void *items, size_t count, size_t size) {
    void *copy = array_allocate(count, size);
    return copy && count ? memcpy(copy, items, count * size) : copy;
}

/* A copy of a text; NULL if out of memory. */
static inline char *text_copy(const char *text) {
    return (char *)array_copy(text, strlen(text) + 1, 1);
}

/*
 * Returns the array with room for `needed` items, reallocated if necessary, with *capacity at least doubled. NULL if
 * out of memory: the array and *capacity are then unchanged.
 */
static inline void *array_grow(void *array, size_t *capacity, size_t needed, size_t size) {
    if (array && needed <= *capacity)
        return array;
    const size_t room = *capacity > needed / 2 ? 2 * *capacity : needed;
    void *grown = room > SIZE_MAX / size ? NULL : realloc(array, room * size);
    if (grown)
        *capacity = room;
    return grown;
}

#endif
