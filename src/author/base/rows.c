/*
 * Finds the first of equal rows with a hash table: open addressing, at most half full.
 */
#include "author/base/rows.h"

#include "author/base/array.h"

#include <stdlib.h>
#include <string.h>

uint64_t exi_mix(uint64_t hash, uint64_t bits) {
    hash = (hash ^ bits) * 0xD6E8FEB86659FD93U;
    return hash ^ hash >> 32;
}

uint64_t exi_mix_number(uint64_t hash, double number) {
    const double x = number + 0.0;
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return exi_mix(hash, bits);
}

bool exi_rows_find_first(const exi_rows *rows, int count, int *first) {
    size_t size = 16;
    while (size < 2 * (size_t)count)
        size *= 2;
    int *table = exi_array_allocate(size, sizeof *table);
    if (!table)
        return false;
    for (size_t i = 0; i < size; i++)
        table[i] = -1;
    for (int row = 0; row < count; row++) {
        size_t at = (size_t)rows->hash(rows->context, row) & (size - 1);
        while (table[at] >= 0 && !rows->same(rows->context, table[at], row))
            at = (at + 1) & (size - 1);
        if (table[at] < 0)
            table[at] = row;
        first[row] = table[at];
    }
    free(table);
    return true;
}
