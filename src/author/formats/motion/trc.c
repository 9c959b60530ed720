/*
 * TRC files (Motion Analysis): markers over time as tab-separated text. Five lines come before the frames:
 *
 *     PathFileType  4  (X/Y/Z)  NAME
 *     DataRate  CameraRate  NumFrames  NumMarkers  Units  …      names of
 *     100       100         2          1           mm     …      values
 *     Frame#  Time  NAME  (two empty cells)  NAME …
 *                   X1  Y1  Z1  …
 *
 * A frame is a line: its number, its time, three numbers for every marker; empty cells if it was not seen.
 *
 * Writers differ. Where the meaning is clear, other files are read too, with a note: cells divided by blanks or by
 * several tabs, no line of X1 Y1 Z1, no Time, counts that are not true.
 */
#include "author/base/array.h"
#include "author/formats/foreign.h"
#include "author/formats/motion/markers.h"

#include <exemplar/author/base.h>
#include <exemplar/author/files.h>

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Limit on markers times frames for each byte of the file: lines may end early if no more markers are seen, but a file
 * of only such lines could claim unlimited memory. */
enum { AMPLE = 64 };

typedef struct cell {
    const char *text;
    size_t size;
} cell;

typedef struct trc {
    const char *path;
    const char *at, *end; /* of the file */
    const char *line_end; /* of the present line */
    const char *cell;     /* start of its next cell; NULL after the last */
    int line;
    ex_markers *markers;
    bool blanks;  /* cells are divided by blanks: there is no tab in the line of names */
    bool no_time; /* there is no column of times */
    bool doubled; /* a line had more tabs than it needs */
    bool unit_stated;
    double metres;
    ex_error *error;
} trc;

static ex_result fail(const trc *r, ex_result result, const char *format, ...) EX_PRINTF(3, 4);
static ex_result fail(const trc *r, ex_result result, const char *format, ...) {
    char sentence[EX_ERROR_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    return ex_error_set(r->error, result, "%s:%d: %s", r->path, r->line, sentence);
}

static ex_result no_memory(const trc *r) {
    return ex_error_set(r->error, EX_ERROR_MEMORY, "%s: not enough memory for the markers", r->path);
}

/* ---- lines and cells ---- */

/* Goes to the next line. False at the end. Lines end with LF, CR LF or CR. */
static bool next_line(trc *r) {
    if (r->line > 0) {
        r->at = r->line_end;
        if (r->at < r->end && *r->at == '\r')
            r->at++;
        if (r->at < r->end && *r->at == '\n')
            r->at++;
    }
    r->line += r->line < INT_MAX;
    r->cell = r->line_end = r->at;
    while (r->line_end < r->end && *r->line_end != '\n' && *r->line_end != '\r')
        r->line_end++;
    return r->at < r->end;
}

static bool is_space(char c) {
    return c == ' ' || c == '\t';
}

/* Returns the next cell, trimmed; empty after the last. */
static cell next_cell(trc *r) {
    cell found = {.text = ""};
    if (!r->cell)
        return found;
    const char *start = r->cell, *stop = start;
    while (r->blanks && start < r->line_end && is_space(*start))
        start++;
    stop = start;
    while (stop < r->line_end && *stop != '\t' && !(r->blanks && *stop == ' '))
        stop++;
    r->cell = stop < r->line_end ? stop + 1 : NULL;
    while (start < stop && *start == ' ')
        start++;
    while (stop > start && stop[-1] == ' ')
        stop--;
    found.text = start;
    found.size = (size_t)(stop - start);
    return found;
}

/* Returns the next word between blanks and tabs; empty after the last. */
static cell next_word(trc *r) {
    const bool blanks = r->blanks;
    r->blanks = true;
    const cell found = next_cell(r);
    r->blanks = blanks;
    return found;
}

static int count_words(const trc *r) {
    trc copy = *r;
    int count = 0;
    while (next_word(&copy).size > 0)
        count++;
    return count;
}

/* Returns the next cell that is not empty; empty after the last. */
static cell next_full_cell(trc *r) {
    cell found = next_cell(r);
    while (found.size == 0 && r->cell)
        found = next_cell(r);
    return found;
}

static int count_full_cells(const trc *r) {
    trc copy = *r;
    int count = 0;
    while (next_full_cell(&copy).size > 0)
        count++;
    return count;
}

/* Number of cells up to the last that is not empty. */
static int count_cells(const trc *r) {
    trc copy = *r;
    int count = 0, last = 0;
    while (copy.cell) {
        count++;
        last = next_cell(&copy).size > 0 ? count : last;
    }
    return last;
}

static bool line_is_empty(const trc *r) {
    for (const char *c = r->at; c < r->line_end; c++)
        if (*c != ' ' && *c != '\t')
            return false;
    return true;
}

/* Goes to the next line that is not empty. */
static bool next_full_line(trc *r) {
    while (next_line(r))
        if (!line_is_empty(r))
            return true;
    return false;
}

enum { SHOWN = 24 };
static const char *show(cell c, char text[SHOWN]) {
    const size_t size = c.size < SHOWN - 1 ? c.size : SHOWN - 1;
    for (size_t i = 0; i < size; i++)
        text[i] = (char)(c.text[i] >= ' ' && c.text[i] <= '~' ? c.text[i] : '?');
    text[size] = '\0';
    return text;
}

static bool is_word(cell c, const char *word) {
    char text[SHOWN];
    return c.size < SHOWN && exi_markers_same_word(show(c, text), word);
}

static bool number_of(cell c, double *number) {
    const char *at = c.text;
    return ex_parse_double(&at, c.text + c.size, number) && at == c.text + c.size;
}

/* True if the line's first cell that is not empty is a number, as in a frame. */
static bool is_number_start(const trc *r) {
    trc copy = *r;
    double number;
    return number_of(next_word(&copy), &number);
}

/* ---- the header ---- */

/* Names and values are paired word by word if there are as many of both, otherwise cell by cell. */
static ex_result read_values(trc *r, const trc *names, int *frames, int *markers) {
    trc keys = *names;
    char text[SHOWN];
    double rate = 0, frame_count = -1, marker_count = -1;
    const bool by_words = count_words(names) == count_words(r);
    while (keys.cell && r->cell) {
        const cell key = by_words ? next_word(&keys) : next_cell(&keys), value = by_words ? next_word(r) : next_cell(r);
        double *number = is_word(key, "DataRate")     ? &rate
                         : is_word(key, "NumFrames")  ? &frame_count
                         : is_word(key, "NumMarkers") ? &marker_count
                                                      : NULL;
        if (number && !number_of(value, number))
            return fail(r, EX_ERROR_FORMAT, "'%s' is not a number; it is below '%.*s'", show(value, text),
                        (int)key.size, key.text);
        if (!is_word(key, "Units") || value.size == 0)
            continue;
        free(r->markers->unit);
        r->markers->unit = exi_text_copy(value.text, value.size);
        r->unit_stated = true;
        if (!r->markers->unit)
            return no_memory(r);
    }
    if (!(frame_count >= 1 && frame_count <= INT_MAX && marker_count >= 1 && marker_count <= INT_MAX))
        return fail(r, EX_ERROR_DATA, "NumFrames and NumMarkers are both needed here, and must be at least 1");
    if (!r->markers->unit && !(r->markers->unit = exi_text_copy("mm", 2)))
        return no_memory(r);
    r->metres = exi_markers_unit(r->markers->unit);
    if (r->metres == 0)
        return fail(r, EX_ERROR_DATA, "the unit below 'Units' is unknown: it must be mm, cm, m, in or ft");
    r->markers->rate = rate > 0 ? rate : 0;
    *frames = (int)frame_count;
    *markers = (int)marker_count;
    return EX_OK;
}

static ex_result read_heading(trc *r, int *frames, int *markers) {
    next_full_line(r);
    if (!is_word(next_word(r), "PathFileType"))
        return fail(r, EX_ERROR_FORMAT, "this is not a TRC file: it does not begin with PathFileType");
    if (!next_full_line(r))
        return fail(r, EX_ERROR_FORMAT, "the file ends where the line with DataRate is needed");
    const trc names = *r;
    if (!next_full_line(r))
        return fail(r, EX_ERROR_FORMAT, "the file ends where the values below DataRate are needed");
    return read_values(r, &names, frames, markers);
}

/* Frame#, Frame, FRAME # */
static bool begins_names(trc *r) {
    const cell first = next_full_cell(r);
    const trc after = *r;
    if (is_word(first, "Frame") && next_full_cell(r).text[0] == '#')
        return true;
    if (is_word(first, "Frame"))
        *r = after;
    return is_word(first, "Frame#") || is_word(first, "Frame") || is_word(first, "Frame #") || is_word(first, "Field#");
}

static bool begins_with(cell c, const char *word) {
    cell start = c;
    start.size = strlen(word);
    return c.size >= start.size && is_word(start, word);
}

static ex_result add_name(trc *r, size_t *capacity, cell name) {
    ex_markers *markers = r->markers;
    char **names = exi_array_grow(markers->names, capacity, (size_t)markers->marker_count + 1, sizeof *markers->names);
    if (!names)
        return no_memory(r);
    markers->names = names;
    names[markers->marker_count] = exi_text_copy(name.text, name.size);
    if (!names[markers->marker_count])
        return no_memory(r);
    markers->marker_count++;
    return EX_OK;
}

/* After Frame# and Time, what is not empty is a name, with any number of tabs between. Names are needed for all columns
 * of the first frame. */
static ex_result read_names(trc *r, int promised) {
    size_t capacity = 0;
    const bool any = next_full_line(r);
    r->blanks = any && !memchr(r->at, '\t', (size_t)(r->line_end - r->at));
    if (!any || !begins_names(r))
        return fail(r, EX_ERROR_FORMAT, "the line with Frame#, Time and the markers' names is needed here");
    const char *const after = r->cell;
    r->no_time = !begins_with(next_full_cell(r), "Time");
    r->cell = r->no_time ? after : r->cell;
    for (cell name = next_full_cell(r); name.size > 0; name = next_full_cell(r)) {
        const ex_result result = add_name(r, &capacity, name);
        if (result != EX_OK)
            return result;
    }
    if (r->markers->marker_count == 0)
        return fail(r, EX_ERROR_DATA, "there are no names of markers after Frame# and Time");
    /* The line of X1 Y1 Z1, if it is there. */
    const trc here = *r;
    trc ahead = *r;
    if (!next_line(&ahead))
        return fail(&ahead, EX_ERROR_FORMAT, "the file ends where the line with X1, Y1, Z1 is needed");
    const bool coordinates = line_is_empty(&ahead) || !is_number_start(&ahead);
    const int line = r->line;
    *r = coordinates ? ahead : here;
    /* The columns decide if the count of markers is not true. */
    ahead = *r;
    while (next_full_line(&ahead) && !is_number_start(&ahead) && coordinates && ahead.line < line + 3)
        *r = ahead;
    if (r->markers->marker_count != promised) {
        ahead = *r;
        const int first = r->no_time ? 1 : 2;
        const bool sure = next_full_line(&ahead) && count_cells(&ahead) == first + 3 * r->markers->marker_count;
        if (!sure)
            return ex_error_set(r->error, EX_ERROR_DATA, "%s:%d: there are %d names, but NumMarkers is %d", r->path,
                                line, r->markers->marker_count, promised);
        if (!exi_markers_note(r->markers, "NumMarkers is %d, but there are %d names and columns: these are read",
                              promised, r->markers->marker_count))
            return no_memory(r);
    }
    return exi_markers_tidy_names(r->markers) ? EX_OK : no_memory(r);
}

/* ---- frames ---- */

/* Counts the lines with frames. A count that is not true is noted; a file whose last line is cut is refused. */
static ex_result check_frame_count(trc *r, int promised, size_t size, int *frames) {
    trc ahead = *r, last = *r;
    int count = 0;
    bool ended = false;
    while (count < INT_MAX && next_full_line(&ahead)) {
        count++;
        last = ahead;
        ended = ahead.line_end < ahead.end;
    }
    const int columns = (r->no_time ? 1 : 2) + 3 * r->markers->marker_count;
    if (count < promised && (count == 0 || !ended || count_cells(&last) < columns))
        return fail(&ahead, EX_ERROR_DATA, "the file ends too early: it has %d of %d frames", count, promised);
    if (count != promised &&
        !exi_markers_note(r->markers, "NumFrames is %d, but there are %d frames: all are read", promised, count))
        return no_memory(r);
    if ((uint64_t)count * (uint64_t)r->markers->marker_count > AMPLE * (uint64_t)size)
        return fail(r, EX_ERROR_LIMIT,
                    "the lines are too short for %d markers: write empty cells for markers that were not seen",
                    r->markers->marker_count);
    *frames = count;
    return EX_OK;
}

static ex_result read_coordinate(const trc *r, int marker, cell c, double *value) {
    char text[SHOWN];
    *value = NAN;
    if (c.size == 0 || is_word(c, "nan") || is_word(c, "-nan") || is_word(c, "-") || is_word(c, "NA"))
        return EX_OK;
    if (!number_of(c, value) && memchr(c.text, ',', c.size))
        return fail(r, EX_ERROR_DATA,
                    "'%s' of marker '%s' has a comma: export the file with a point in numbers, as in 12.5",
                    show(c, text), r->markers->names[marker]);
    if (!number_of(c, value) || !(fabs(*value *= r->metres) <= EXI_MARKER_FAR))
        return fail(r, EX_ERROR_DATA, "'%s' is not a coordinate of marker '%s', or is too large", show(c, text),
                    r->markers->names[marker]);
    return EX_OK;
}

/* True if every second cell of the line is empty. */
static bool is_doubled(const trc *r) {
    trc copy = *r;
    for (int i = 0; copy.cell; i++)
        if (next_cell(&copy).size > 0 && i % 2 == 1)
            return false;
    return true;
}

/* The next number of a frame: cells may be divided by two tabs each, or by any number of them if none is missing. */
typedef enum spacing { SPACING_PLAIN, SPACING_DOUBLED, SPACING_ANY } spacing;

static cell next_number(trc *r, spacing how) {
    const cell found = how == SPACING_ANY ? next_full_cell(r) : next_cell(r);
    if (how == SPACING_DOUBLED)
        next_cell(r);
    return found;
}

static ex_result read_frame(trc *r, int frame, float *positions) {
    const int columns = (r->no_time ? 1 : 2) + 3 * r->markers->marker_count;
    spacing how = SPACING_PLAIN;
    if (count_cells(r) > columns)
        how = is_doubled(r) ? SPACING_DOUBLED : count_full_cells(r) == columns ? SPACING_ANY : SPACING_PLAIN;
    r->doubled = r->doubled || how != SPACING_PLAIN;
    const cell number = next_number(r, how);
    char text[SHOWN];
    double value;
    if (!number_of(number, &value) || !(fabs(value) <= INT_MAX))
        return fail(r, EX_ERROR_FORMAT, "'%s' is not the number of a frame", show(number, text));
    if (frame == 0)
        r->markers->first_frame = (int)value;
    if (!r->no_time)
        next_number(r, how);
    for (int m = 0; m < r->markers->marker_count; m++) {
        double x[3];
        for (int i = 0; i < 3; i++) {
            const ex_result result = read_coordinate(r, m, next_number(r, how), &x[i]);
            if (result != EX_OK)
                return result;
        }
        const bool seen = !isnan(x[0]) && !isnan(x[1]) && !isnan(x[2]) && !(x[0] == 0 && x[1] == 0 && x[2] == 0);
        for (int i = 0; i < 3; i++)
            positions[3 * m + i] = seen ? (float)x[i] : NAN;
    }
    while (r->cell) {
        const cell more = next_cell(r);
        if (more.size > 0)
            return fail(r, EX_ERROR_DATA, "'%s' comes after the last of %d markers", show(more, text),
                        r->markers->marker_count);
    }
    return EX_OK;
}

static ex_result read_frames(trc *r, int count) {
    ex_markers *markers = r->markers;
    const size_t row = 3 * (size_t)markers->marker_count;
    markers->positions = (size_t)count <= SIZE_MAX / sizeof(float) / row
                             ? exi_array_allocate((size_t)count * row, sizeof *markers->positions)
                             : NULL;
    ex_result result = markers->positions ? EX_OK : no_memory(r);
    for (int f = 0; f < count && result == EX_OK; f++) {
        next_full_line(r);
        result = read_frame(r, f, markers->positions + (size_t)f * row);
    }
    markers->frame_count = count;
    if (result != EX_OK)
        return result;
    if (r->doubled &&
        !exi_markers_note(markers, "lines have more tabs than columns: the numbers are read in their order"))
        return no_memory(r);
    return exi_markers_settle(markers, NULL, "+Y", r->unit_stated, r->error);
}

ex_result ex_trc_parse(const char *text, size_t size, const char *name, ex_markers **markers, ex_error *error) {
    if (!markers || !name || (!text && size > 0))
        return exi_misuse_error(error, __func__, "no text, no name, or no pointer for the markers");
    *markers = NULL;
    text = text ? text : "";
    trc r = {.path = name, .at = text, .end = text + size, .error = error, .markers = calloc(1, sizeof **markers)};
    int frames = 0, count = 0;
    if (size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
        r.at += 3;
    ex_result result = r.markers ? read_heading(&r, &frames, &count) : no_memory(&r);
    if (result == EX_OK)
        result = read_names(&r, count);
    if (result == EX_OK)
        result = check_frame_count(&r, frames, size, &frames);
    if (result == EX_OK)
        result = read_frames(&r, frames);
    if (result == EX_OK)
        *markers = r.markers;
    else
        ex_markers_destroy(r.markers);
    return exi_foreign_explain(error, result, EXI_CONTENT_MARKERS, name, ".trc", text, size);
}

ex_result ex_trc_read(const char *path, ex_markers **markers, ex_error *error) {
    if (!path || !markers)
        return exi_misuse_error(error, __func__, "no path, or no pointer for the markers");
    char *text = NULL;
    size_t size = 0;
    *markers = NULL;
    ex_result result = ex_file_read(path, &text, &size, error);
    if (result == EX_OK)
        result = ex_trc_parse(text, size, path, markers, error);
    free(text);
    return result;
}
