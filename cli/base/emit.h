/*
 * cli/emit.h - writes JSON to a stream as it comes, on one line: commas, escapes and numbers are right by construction.
 *
 * Keys are NULL inside arrays and for the outermost value. Text that is not UTF-8 (names from old files) has its bad
 * bytes replaced by U+FFFD; a number that is not finite becomes null. Numbers have the fewest digits that read back the
 * same.
 */
#ifndef EXEMPLAR_CLI_EMIT_H
#define EXEMPLAR_CLI_EMIT_H

#include <stdbool.h>
#include <stdio.h>

typedef struct exi_emitter {
    FILE *file;
    bool comma; /* a value stands before, at this level */
} exi_emitter;

exi_emitter exi_emit_start(FILE *file);
/* Ends the line. */
void exi_emit_end(exi_emitter *json);

void exi_emit_open(exi_emitter *json, const char *key, char bracket);     /* '{' or '[' */
void exi_emit_close(exi_emitter *json, char bracket);                     /* '}' or ']' */
void exi_emit_text(exi_emitter *json, const char *key, const char *text); /* NULL: null */
void exi_emit_number(exi_emitter *json, const char *key, double value);
void exi_emit_bool(exi_emitter *json, const char *key, bool value);
void exi_emit_numbers(exi_emitter *json, const char *key, const double *values, int count);

/* ---- text that people gave ---- */

/* True for UTF-8 without control characters. */
bool exi_is_readable(const char *text);
/* The length of the text, or the largest one up to `most` bytes that cuts no character. */
int exi_readable_cut(const char *text, int most);

#endif
