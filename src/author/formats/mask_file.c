/*
 * Mask files: text lines `vertex value`, vertices counted from 0.
 */

#include "author/formats/foreign.h"
#include "runtime/base/result.h"

#include <exemplar/author/base.h>
#include <exemplar/author/files.h>
#include <exemplar/author/formats.h>

#include <stdlib.h>
#include <string.h>

static ex_result check_value(double value, double most, const char *path, int line, ex_error *error) {
    if (value >= 0 && value <= most)
        return EX_OK;
    if (most > 1)
        return ex_error_set(error, EX_ERROR_DATA, "%s:%d: %g is negative, or too large for a float", path, line, value);
    return ex_error_set(error, EX_ERROR_DATA, "%s:%d: %g is outside [0, 1]", path, line, value);
}

/* Skips blanks on the line. */
static const char *skip_blanks(const char *at, const char *end) {
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\r'))
        at++;
    return at;
}

/* Parses lines `vertex value`; # starts a comment; vertices that are not named have 0. */
static ex_result parse_mask(const char *text, size_t size, const char *path, int vertex_count, double most, float *mask,
                            ex_error *error) {
    const char *at = text, *end = text + size;
    for (int line = 1; at < end; line++) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        line_end = line_end ? line_end : end;
        const char *comment = memchr(at, '#', (size_t)(line_end - at));
        const char *stop = comment ? comment : line_end;
        int vertex = 0;
        double value = 0;
        at = skip_blanks(at, stop);
        if (at < stop) {
            bool sound = ex_parse_int(&at, stop, &vertex);
            const char *number = skip_blanks(at, stop);
            sound = sound && number > at && ex_parse_double(&number, stop, &value);
            if (!sound || skip_blanks(number, stop) != stop)
                return ex_error_set(error, EX_ERROR_FORMAT, "%s:%d: a line 'vertex value' is needed here", path, line);
            if (vertex < 0 || vertex >= vertex_count)
                return ex_error_set(error, EX_ERROR_DATA,
                                    "%s:%d: there is no vertex %d: the mesh has %d (counting from 0)", path, line,
                                    vertex, vertex_count);
            ex_result result = check_value(value, most, path, line, error);
            if (result != EX_OK)
                return result;
            mask[vertex] = (float)value;
        }
        at = line_end < end ? line_end + 1 : end;
    }
    return EX_OK;
}

ex_result ex_mask_read(const char *path, int vertex_count, double most, float *mask, ex_error *error) {
    char *text = NULL;
    size_t size = 0;
    ex_result result = ex_file_read(path, &text, &size, error);
    if (result == EX_OK)
        result = exi_foreign_explain(error, parse_mask(text, size, path, vertex_count, most, mask, error),
                                     EXI_CONTENT_MASK, path, ".txt", text, size);
    free(text);
    return result;
}
