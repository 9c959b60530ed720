/*
 * number.h - numbers in text files, the same in every locale; private to authoring and the tool.
 *
 * Readers take a number that begins exactly at *cursor and move it past the last character that belongs to the number;
 * what follows is the caller's to judge. Where there is no number, they return false and leave *cursor and *value
 * alone.
 */
#ifndef EXEMPLAR_AUTHOR_BASE_NUMBER_H
#define EXEMPLAR_AUTHOR_BASE_NUMBER_H

#include <stdbool.h>

/* A decimal number with optional sign, point and exponent, rounded correctly; false too where it is beyond double.
 * inf, nan and hexadecimal numbers are not numbers here. */
bool exi_parse_double(const char **cursor, const char *end, double *value);

/* Decimal digits with an optional sign; false too where they are beyond int. */
bool exi_parse_int(const char **cursor, const char *end, int *value);

/*
 * The fewest significant digits that exi_parse_double reads back as the same value (and, for the second, rounds to the
 * same float). Written plainly from 1e-5 up to 1e16 (0.001, 100000), beyond that with an exponent where that is shorter
 * (1e20). Returns the length; the text ends with NUL. value must be finite.
 */
int exi_format_double(char buffer[32], double value);
int exi_format_float(char buffer[32], float value);

#endif
