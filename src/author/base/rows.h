/*
 * rows.h - which rows of a table are the same, by hashing; private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_BASE_ROWS_H
#define EXEMPLAR_AUTHOR_BASE_ROWS_H

#include <stdbool.h>
#include <stdint.h>

/* Rows known by their numbers. Rows that are the same have the same hash; start one with 0 and mix in what matters. */
typedef struct exi_rows {
    const void *context;
    uint64_t (*hash)(const void *context, int row);
    bool (*same)(const void *context, int a, int b);
} exi_rows;

uint64_t exi_mix(uint64_t hash, uint64_t bits);
/* Zeros of both signs are the same number. */
uint64_t exi_mix_number(uint64_t hash, double number);

/* first [count]: the first row that is the same as each. False without memory. */
bool exi_rows_find_first(const exi_rows *rows, int count, int *first);

#endif
