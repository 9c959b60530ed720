/*
 * Splits an OBJ file into lines and words, by the rules in the header.
 */
#include "author/formats/obj/obj_scan.h"

#include "runtime/base/result.h"

#include <exemplar/author/base.h>

#include <stdarg.h>
#include <stdio.h>

#define WORD_SHOWN 40

/* Skips one line end, of one or two characters. */
static void skip_line_end(exi_obj_scan *scan) {
    if (*scan->at == '\r' && scan->at + 1 < scan->end && scan->at[1] == '\n')
        scan->at++;
    scan->at++;
    scan->line++;
}

bool exi_obj_next_word(exi_obj_scan *scan) {
    for (;;) {
        while (scan->at < scan->end && exi_obj_is_blank(*scan->at))
            scan->at++;
        if (scan->at == scan->end || exi_obj_is_line_end(*scan->at) || *scan->at == '#')
            return false;
        if (!exi_obj_at_joint(scan))
            return true;
        scan->at++;
        skip_line_end(scan);
    }
}

size_t exi_obj_skip_word(exi_obj_scan *scan) {
    const char *start = scan->at;
    while (!exi_obj_at_word_end(scan))
        scan->at++;
    return (size_t)(scan->at - start);
}

void exi_obj_next_line(exi_obj_scan *scan) {
    while (exi_obj_next_word(scan))
        exi_obj_skip_word(scan);
    /* A backslash in a comment does not join lines: comments contain Windows paths that end with one. */
    while (scan->at < scan->end && !exi_obj_is_line_end(*scan->at))
        scan->at++;
    if (scan->at < scan->end)
        skip_line_end(scan);
}

ex_result exi_obj_fail(const exi_obj_scan *scan, int line, ex_result result, const char *format, ...) {
    char sentence[EX_ERROR_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    return ex_error_set(scan->error, result, "%s:%d: %s", scan->name, line, sentence);
}

ex_result exi_obj_no_memory(const exi_obj_scan *scan) {
    return exi_obj_fail(scan, scan->line, EX_ERROR_MEMORY, "not enough memory for the mesh");
}

ex_result exi_obj_unreadable(const exi_obj_scan *scan, const char *word, const char *what) {
    char shown[WORD_SHOWN + 4];
    int size = 0;
    exi_obj_scan rest = *scan;
    for (rest.at = word; !exi_obj_at_word_end(&rest) && size < WORD_SHOWN; rest.at++)
        shown[size++] = (char)(*rest.at > ' ' && *rest.at <= '~' ? *rest.at : '?');
    snprintf(shown + size, sizeof shown - (size_t)size, "%s", exi_obj_at_word_end(&rest) ? "" : "...");
    return exi_obj_fail(scan, scan->line, EX_ERROR_FORMAT, "cannot read '%s' as %s", shown, what);
}

static ex_result missing(const exi_obj_scan *scan, const char *what) {
    return exi_obj_fail(scan, scan->line, EX_ERROR_FORMAT, "the line ends where %s is needed", what);
}

ex_result exi_obj_read_double(exi_obj_scan *scan, const char *what, double *value) {
    if (!exi_obj_next_word(scan))
        return missing(scan, what);
    const char *word = scan->at;
    if (!ex_parse_double(&scan->at, scan->end, value) || !exi_obj_at_word_end(scan))
        return exi_obj_unreadable(scan, word, what);
    return EX_OK;
}

ex_result exi_obj_read_int(exi_obj_scan *scan, const char *what, int *value) {
    if (!exi_obj_next_word(scan))
        return missing(scan, what);
    const char *word = scan->at;
    if (!ex_parse_int(&scan->at, scan->end, value) || !exi_obj_at_word_end(scan))
        return exi_obj_unreadable(scan, word, what);
    return EX_OK;
}

ex_result exi_obj_expect_line_end(exi_obj_scan *scan) {
    if (!exi_obj_next_word(scan))
        return EX_OK;
    return exi_obj_unreadable(scan, scan->at, "anything: the line should end here");
}
