/*
 * csv.h - comma-separated text, field by field; private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_BASE_CSV_H
#define EXEMPLAR_AUTHOR_BASE_CSV_H

#include <stdbool.h>
#include <stddef.h>

/* The longest field, and its NUL. */
#define EXI_FIELD_SIZE 512

/* Where one is in a text that ends with NUL at `end`. */
typedef struct exi_csv {
    const char *at, *end;
    int line;      /* where the field that was read last begins */
    int next_line; /* where the next one does */
} exi_csv;

/* The next field of the line into `field`, trimmed. Sets *last at the end of the line. False where it is too long, has
 * a NUL in it, or a quote is left open. */
bool exi_csv_field(exi_csv *csv, char field[EXI_FIELD_SIZE], bool *last);

/* Passes over a line without anything in it; false where there is something. */
bool exi_csv_skip_blank_line(exi_csv *csv);

#endif
