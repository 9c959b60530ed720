/*
 * Checked allocation for authoring. Every size that a file decides goes through here, so that a file that claims more
 * than the address space fails with "not enough memory" instead of getting a small block.
 */
#include "author/base/array.h"

#include "runtime/base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void *exi_array_allocate(size_t count, size_t size) {
    size_t bytes;
    if (!exi_multiply(count, size, &bytes))
        return NULL;
    return malloc(bytes > 0 ? bytes : 1);
}

void *exi_array_copy(const void *items, size_t count, size_t size) {
    void *copy = exi_array_allocate(count, size);
    if (copy && count > 0)
        memcpy(copy, items, count * size);
    return copy;
}

void *exi_array_grow(void *array, size_t *capacity, size_t needed, size_t size) {
    if (array && needed <= *capacity)
        return array;
    size_t larger = *capacity <= SIZE_MAX / 2 ? *capacity * 2 : needed;
    if (larger < needed)
        larger = needed;
    if (larger < 16)
        larger = 16;
    size_t bytes;
    void *moved = exi_multiply(larger, size, &bytes) ? realloc(array, bytes) : NULL;
    if (moved)
        *capacity = larger;
    return moved;
}

char *exi_text_copy(const char *text, size_t size) {
    char *copy = size < SIZE_MAX ? malloc(size + 1) : NULL;
    if (!copy)
        return NULL;
    if (size > 0)
        memcpy(copy, text, size);
    copy[size] = '\0';
    return copy;
}

/* FNV-1a over words of eight bytes. */
uint64_t exi_bytes_hash(const void *bytes, size_t size) {
    uint64_t hash = 0xCBF29CE484222325u;
    for (size_t at = 0; at < size; at += 8) {
        uint64_t word = 0;
        memcpy(&word, (const char *)bytes + at, size - at < 8 ? size - at : 8);
        hash = (hash ^ word) * 0x100000001B3u;
        hash ^= hash >> 29;
    }
    return hash;
}
