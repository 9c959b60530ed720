/*
 * cli/base/emit.h - writes JSON to a stream incrementally, on one line: commas, escapes and numbers are right by
 * construction.
 *
 * Keys are NULL inside arrays and for the outermost value. In text that is not UTF-8 (names from old files) U+FFFD
 * replaces the bad bytes; a number that is not finite becomes null. Numbers have the fewest digits that read back the
 * same.
 */
#ifndef EXEMPLAR_CLI_EMIT_H
#define EXEMPLAR_CLI_EMIT_H

#include <stdbool.h>
#include <stdio.h>

typedef struct exi_emitter {
    FILE *file;
    bool comma; /* true if this level has a value already */
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

/* ---- text from users ---- */

/* True if the text is UTF-8 without control characters. */
bool exi_is_readable(const char *text);
/* Length of the text, or the largest length up to `most` bytes that cuts no character. */
int exi_readable_cut(const char *text, int most);

#endif
