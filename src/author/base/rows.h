/*
 * rows.h - finds equal rows of a table by hashing; private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_BASE_ROWS_H
#define EXEMPLAR_AUTHOR_BASE_ROWS_H

#include <stdbool.h>
#include <stdint.h>

/* Rows, referred to by index. Equal rows must have equal hashes: start with 0 and mix in everything that matters. */
typedef struct exi_rows {
    const void *context;
    uint64_t (*hash)(const void *context, int row);
    bool (*same)(const void *context, int a, int b);
} exi_rows;

uint64_t exi_mix(uint64_t hash, uint64_t bits);
/* 0 and -0 are the same number. */
uint64_t exi_mix_number(uint64_t hash, double number);

/* first [count]: for each row, the first row equal to it. False without memory. */
bool exi_rows_find_first(const exi_rows *rows, int count, int *first);

#endif
