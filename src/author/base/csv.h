/*
 * csv.h - comma-separated text, field by field; private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_BASE_CSV_H
#define EXEMPLAR_AUTHOR_BASE_CSV_H

#include <stdbool.h>
#include <stddef.h>

/* Size of the longest field, with its NUL. */
#define EXI_FIELD_SIZE 512

/* Position in a text that ends with NUL at `end`. */
typedef struct exi_csv {
    const char *at, *end;
    int line;      /* line on which the last field read begins */
    int next_line; /* line on which the next field begins */
} exi_csv;

/* Reads the next field of the line into `field`, trimmed. Sets *last at the end of the line. False if the field is too
 * long, contains a NUL, or has an open quote. */
bool exi_csv_field(exi_csv *csv, char field[EXI_FIELD_SIZE], bool *last);

/* Skips an empty line; false if the line is not empty. */
bool exi_csv_skip_blank_line(exi_csv *csv);

#endif
