/*
 * obj_scan.h - splits an OBJ or OFF file into lines and words, and reports errors with line numbers; private to their
 * readers.
 *
 * Lines end with LF, CR LF or CR; a backslash before the end of a line joins the next one to it; '#' at the start of a
 * word begins a comment. Nothing is copied, so a line may be as long as the file.
 */
#ifndef EXEMPLAR_AUTHOR_FORMATS_OBJ_OBJ_SCAN_H
#define EXEMPLAR_AUTHOR_FORMATS_OBJ_OBJ_SCAN_H

#include "runtime/base/result.h"

typedef struct exi_obj_scan {
    const char *at, *end;
    int line;         /* counts from 1 */
    const char *name; /* name of the file, for errors */
    ex_error *error;  /* or NULL */
} exi_obj_scan;

static inline bool exi_obj_is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\v' || c == '\f';
}

static inline bool exi_obj_is_line_end(char c) {
    return c == '\n' || c == '\r';
}

/* True at a backslash that joins two lines. */
static inline bool exi_obj_at_joint(const exi_obj_scan *scan) {
    return *scan->at == '\\' && scan->at + 1 < scan->end && exi_obj_is_line_end(scan->at[1]);
}

/* True at the end of a word. */
static inline bool exi_obj_at_word_end(const exi_obj_scan *scan) {
    return scan->at == scan->end || exi_obj_is_blank(*scan->at) || exi_obj_is_line_end(*scan->at) ||
           exi_obj_at_joint(scan);
}

/* Moves to the next word of the line. False if there is none. */
bool exi_obj_next_word(exi_obj_scan *scan);

/* Moves past the word that starts here. Returns its length. */
size_t exi_obj_skip_word(exi_obj_scan *scan);

/* Moves to the start of the next line, past joined ones. */
void exi_obj_next_line(exi_obj_scan *scan);

/* Reads the next word as a number. `what` names the number in errors: "a coordinate". */
ex_result exi_obj_read_double(exi_obj_scan *scan, const char *what, double *value);
ex_result exi_obj_read_int(exi_obj_scan *scan, const char *what, int *value);

/* Fails if the line continues. */
ex_result exi_obj_expect_line_end(exi_obj_scan *scan);

/* Sets the error to FILE:LINE: and the sentence; returns result. */
ex_result exi_obj_fail(const exi_obj_scan *scan, int line, ex_result result, const char *format, ...) EX_PRINTF(4, 5);

/* Common errors. */
ex_result exi_obj_no_memory(const exi_obj_scan *scan);
ex_result exi_obj_unreadable(const exi_obj_scan *scan, const char *word, const char *what);

#endif
