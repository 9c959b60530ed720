/*
 * table.h - tables of a scan session: comma-separated text with a line of column names. Private to src/author/scan.
 */
#ifndef EXEMPLAR_AUTHOR_SCAN_SESSION_TABLE_H
#define EXEMPLAR_AUTHOR_SCAN_SESSION_TABLE_H

#include "author/base/arena.h"

#include <exemplar/base.h>

typedef struct exi_table {
    const char *path;
    int column_count, row_count;
    char **names; /* [column_count] */
    char **cells; /* [row_count][column_count] */
    int *lines;   /* [row_count] line numbers in the file */
    exi_arena arena;
} exi_table;

/* columns: the allowed names, ended by NULL; the first `needed` are required. Errors name file and line. On failure the
 * table is empty. */
ex_result exi_table_read(const char *path, const char *const *columns, int needed, exi_table *table, ex_error *error);
void exi_table_free(exi_table *table);

/* Returns the column's number, or -1. */
int exi_table_column(const exi_table *table, const char *name);
/* Returns "" for a missing column. */
const char *exi_table_text(const exi_table *table, int row, int column);
/* Reads a finite number. An empty cell, or a missing column, leaves the value alone if it is not required. */
ex_result exi_table_number(const exi_table *table, int row, int column, bool needed, double *value, ex_error *error);
/* Reads three columns. */
ex_result exi_table_triple(const exi_table *table, int row, const char *const names[3], bool needed, double value[3],
                           ex_error *error);

#endif
