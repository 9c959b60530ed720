/*
 * Files of segments: text lines `face segment`, faces counted from 1 as in OBJ files, segments from 0.
 */
#include "author/project/build/project_trajectories.h"

#include "runtime/base/result.h"

#include <exemplar/author/base.h>
#include <exemplar/author/files.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *skip_blanks(const char *at, const char *end) {
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\r'))
        at++;
    return at;
}

/* Parses one line without its comment; the line is not empty. */
static ex_result parse_line(const char *at, const char *stop, const char *path, int line, int face_count, int *segments,
                            ex_error *error) {
    int face = 0, segment = 0;
    bool sound = ex_parse_int(&at, stop, &face);
    const char *second = skip_blanks(at, stop);
    sound = sound && second > at && ex_parse_int(&second, stop, &segment);
    if (!sound || skip_blanks(second, stop) != stop)
        return ex_error_set(error, EX_ERROR_FORMAT, "%s:%d: a line 'face segment' is needed here", path, line);
    if (face < 1 || face > face_count)
        return ex_error_set(error, EX_ERROR_DATA, "%s:%d: there is no face %d: the mesh has %d (counting from 1)", path,
                            line, face, face_count);
    if (segment < 0 || segment >= EX_SEGMENT_MAX)
        return ex_error_set(error, EX_ERROR_DATA, "%s:%d: segments are numbered 0 to %d, but this is %d", path, line,
                            EX_SEGMENT_MAX - 1, segment);
    if (segments[face - 1] >= 0 && segments[face - 1] != segment)
        return ex_error_set(error, EX_ERROR_DATA,
                            "%s:%d: face %d is already in segment %d, so it cannot be in segment %d too", path, line,
                            face, segments[face - 1], segment);
    segments[face - 1] = segment;
    return EX_OK;
}

static ex_result parse(const char *text, size_t size, const char *path, int face_count, int *segments,
                       ex_error *error) {
    const char *at = text, *end = text + size;
    ex_result result = EX_OK;
    for (int line = 1; result == EX_OK && at < end; line++) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        line_end = line_end ? line_end : end;
        const char *comment = memchr(at, '#', (size_t)(line_end - at));
        const char *stop = comment ? comment : line_end;
        at = skip_blanks(at, stop);
        if (at < stop)
            result = parse_line(at, stop, path, line, face_count, segments, error);
        at = line_end < end ? line_end + 1 : end;
    }
    return result;
}

ex_result exi_segments_read(const char *path, int face_count, int *segments, ex_error *error) {
    char *text = NULL;
    size_t size = 0;
    ex_result result = ex_file_read(path, &text, &size, error);
    for (int f = 0; f < face_count; f++)
        segments[f] = -1;
    if (result == EX_OK)
        result = parse(text, size, path, face_count, segments, error);
    free(text);
    return result;
}

ex_result exi_segments_write(const char *path, int face_count, const int *segments, ex_error *error) {
    ex_file_writer writer;
    ex_result result = ex_file_open(&writer, path, error);
    if (result != EX_OK)
        return result;
    for (int f = 0; f < face_count; f++) {
        char line[32];
        if (segments[f] >= 0)
            ex_file_write(&writer, line, (size_t)snprintf(line, sizeof line, "%d %d\n", f + 1, segments[f]));
    }
    return ex_file_commit(&writer, error);
}
