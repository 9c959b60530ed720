/*
 * Tables of poses as CSV: a header of axis names, one pose a line. Rotations take four columns, NAME.x to NAME.w;
 * `time` is in seconds. Axes without columns stay at rest, unknown ones are errors. Fields may stand in double quotes;
 * lines end with LF, CR LF or CR.
 */
#include "author/formats/array.h"
#include "author/formats/file.h"
#include "author/formats/number.h"
#include "author/project/project.h"
#include "runtime/base/result.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIME_COLUMN = -1, FIELD_SIZE = 512, PART_SIZE = FIELD_SIZE + 4 };

typedef struct table_reader {
    const ex_rig *rig;
    const char *path;
    const char *at, *end;
    int line;      /* where the field that was read last begins */
    int next_line; /* where the next one does */
    int *columns;  /* place in a pose, or TIME_COLUMN */
    int column_count;
    size_t column_capacity, input_capacity, time_capacity;
    bool has_time;
    ex_error *error;
} table_reader;

static bool at_line_end(const table_reader *r) {
    return r->at == r->end || *r->at == '\n' || *r->at == '\r';
}

/* Passes over one line end, if there is one here. */
static void skip_line_end(table_reader *r) {
    if (r->at == r->end || !at_line_end(r))
        return;
    if (*r->at == '\r' && r->at + 1 < r->end && r->at[1] == '\n')
        r->at++;
    r->at++;
    r->next_line++;
}

static void skip_blanks(table_reader *r) {
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t'))
        r->at++;
}

/* The next field of the line into `field`, trimmed. Sets *last at the end of the line. False where it is too long, has
 * a NUL in it, or a quote is left open. */
static bool next_field(table_reader *r, char field[FIELD_SIZE], bool *last) {
    size_t size = 0;
    r->line = r->next_line;
    skip_blanks(r);
    bool quoted = r->at < r->end && *r->at == '"';
    if (quoted)
        r->at++;
    for (;; r->at++) {
        if (r->at == r->end || (!quoted && (*r->at == ',' || at_line_end(r))))
            break;
        if (quoted && *r->at == '"') {
            if (r->at + 1 < r->end && r->at[1] == '"')
                r->at++;
            else
                break;
        }
        if (size + 1 >= FIELD_SIZE || *r->at == 0)
            return false;
        if (*r->at == '\n' || (*r->at == '\r' && r->at[1] != '\n'))
            r->next_line++; /* the text ends with NUL: there is always one more byte to look at */
        field[size++] = *r->at;
    }
    if (quoted) {
        if (r->at == r->end)
            return false;
        r->at++;
        skip_blanks(r);
        if (!at_line_end(r) && *r->at != ',')
            return false;
    }
    while (!quoted && size > 0 && (field[size - 1] == ' ' || field[size - 1] == '\t'))
        size--;
    field[size] = 0;
    *last = at_line_end(r);
    if (*last)
        skip_line_end(r);
    else
        r->at++;
    return true;
}

/* What some programs put between columns instead, where a field or the rest of the line has it. */
static const char *wrong_separator(const char *text) {
    return strchr(text, ';') ? "semicolons" : strchr(text, '\t') ? "tabs" : NULL;
}

static ex_result bad_separator(table_reader *r, const char *separator) {
    return exi_error(r->error, EX_ERROR_FORMAT, "%s:%d: columns are separated by commas, not by %s", r->path, r->line,
                     separator);
}

static ex_result bad_field(table_reader *r) {
    return exi_error(r->error, EX_ERROR_FORMAT,
                     "%s:%d: a field is no text, or longer than %d bytes, or its quote is left open", r->path, r->line,
                     FIELD_SIZE - 1);
}

/* Where a column's number goes in a pose. */
static ex_result find_column(table_reader *r, const char *name, int *place) {
    if (strcmp(name, "time") == 0) {
        *place = TIME_COLUMN;
        r->has_time = true;
        return EX_OK;
    }
    size_t length = strlen(name);
    for (int i = 0; i < ex_rig_input_count(r->rig); i++) {
        const char *input = ex_rig_input_name(r->rig, i);
        ex_axis axis = ex_rig_input_axis(r->rig, i);
        int offset = ex_rig_input_offset(r->rig, i);
        if (axis.kind == EX_AXIS_SCALAR && strcmp(input, name) == 0) {
            *place = offset;
            return EX_OK;
        }
        const char *part = length > 2 && name[length - 2] == '.' ? strchr("xyzw", name[length - 1]) : NULL;
        if (axis.kind != EX_AXIS_SCALAR && part && strlen(input) == length - 2 &&
            strncmp(input, name, length - 2) == 0) {
            *place = offset + (name[length - 1] == 'w' ? 3 : name[length - 1] - 'x');
            return EX_OK;
        }
        if (axis.kind != EX_AXIS_SCALAR && strcmp(input, name) == 0)
            return exi_error(r->error, EX_ERROR_DATA,
                             "%s:%d: '%s' is a rotation: its columns are %s.x, %s.y, %s.z, %s.w", r->path, r->line,
                             name, name, name, name, name);
    }
    return exi_error_within(r->error, exi_unknown_input(r->rig, name, r->error), "%s:%d", r->path, r->line);
}

static ex_result read_header(table_reader *r) {
    char field[FIELD_SIZE];
    for (bool last = false; !last;) {
        if (!next_field(r, field, &last))
            return r->at < r->end && *r->at == ';' ? bad_separator(r, "semicolons") : bad_field(r);
        int *columns = exi_array_grow(r->columns, &r->column_capacity, (size_t)r->column_count + 1, sizeof *columns);
        if (!columns)
            return exi_error_memory(r->error, "the table's columns", r->column_capacity);
        r->columns = columns;
        int place = 0;
        if (field[0] == 0)
            return exi_error(r->error, EX_ERROR_DATA, "%s:%d: column %d has no name", r->path, r->line,
                             r->column_count + 1);
        ex_result result = find_column(r, field, &place);
        if (result != EX_OK)
            return wrong_separator(field) ? bad_separator(r, wrong_separator(field)) : result;
        for (int i = 0; i < r->column_count; i++)
            if (r->columns[i] == place)
                return exi_error(r->error, EX_ERROR_DATA, "%s:%d: column '%s' is there twice", r->path, r->line, field);
        r->columns[r->column_count++] = place;
    }
    return EX_OK;
}

static bool has_column(const table_reader *r, int place) {
    for (int i = 0; i < r->column_count; i++)
        if (r->columns[i] == place)
            return true;
    return false;
}

/* A rotation has all of its columns or none: rest and a part of another rotation do not mix. */
static ex_result check_rotations(table_reader *r) {
    for (int i = 0; i < ex_rig_input_count(r->rig); i++) {
        ex_axis axis = ex_rig_input_axis(r->rig, i);
        const char *name = ex_rig_input_name(r->rig, i);
        char missing[4 * PART_SIZE] = "";
        int missing_count = 0;
        for (int k = 0; axis.kind != EX_AXIS_SCALAR && k < 4; k++) {
            if (has_column(r, ex_rig_input_offset(r->rig, i) + k))
                continue;
            char part[PART_SIZE];
            snprintf(part, sizeof part, "%s%s.%c", missing_count++ ? ", " : "", name, "xyzw"[k]);
            strcat(missing, part);
        }
        if (missing_count > 0 && missing_count < 4)
            return exi_error(r->error, EX_ERROR_DATA, "%s:1: the rotation '%s' needs four columns, and %s %s missing",
                             r->path, name, missing, missing_count == 1 ? "is" : "are");
    }
    return EX_OK;
}

/* Four zeros turn nothing anywhere. */
static ex_result check_row_rotations(table_reader *r, const double *inputs) {
    for (int i = 0; i < ex_rig_input_count(r->rig); i++) {
        ex_axis axis = ex_rig_input_axis(r->rig, i);
        const double *q = inputs + ex_rig_input_offset(r->rig, i);
        if (axis.kind == EX_AXIS_SCALAR || q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] > 1e-20)
            continue;
        return exi_error(r->error, EX_ERROR_DATA,
                         "%s:%d: all four numbers of '%s' are 0, which is no rotation: rest is 0 0 0 1", r->path,
                         r->line, ex_rig_input_name(r->rig, i));
    }
    return EX_OK;
}

/* The name of a column, as the header gives it. */
static const char *column_name(const table_reader *r, int column, char name[PART_SIZE]) {
    int place = r->columns[column];
    if (place == TIME_COLUMN)
        return "time";
    for (int i = 0; i < ex_rig_input_count(r->rig); i++) {
        ex_axis axis = ex_rig_input_axis(r->rig, i);
        int part = place - ex_rig_input_offset(r->rig, i);
        if (part < 0 || part >= ex_axis_width(&axis))
            continue;
        const char *input = ex_rig_input_name(r->rig, i);
        if (axis.kind == EX_AXIS_SCALAR)
            return input;
        snprintf(name, PART_SIZE, "%s.%c", input, "xyzw"[part]);
        break;
    }
    return name;
}

static ex_result read_number(table_reader *r, int column, const char *field, double *value) {
    const char *at = field, *end = field + strlen(field);
    if (exi_parse_double(&at, end, value) && at == end)
        return EX_OK;
    char name[PART_SIZE];
    if (at == end)
        return exi_error(r->error, EX_ERROR_DATA, "%s:%d: there is no number in column '%s'", r->path, r->line,
                         column_name(r, column, name));
    return exi_error(r->error, EX_ERROR_DATA, "%s:%d: '%s' in column '%s' is not a number", r->path, r->line, field,
                     column_name(r, column, name));
}

static ex_result read_row(table_reader *r, double *inputs, double *time) {
    char field[FIELD_SIZE];
    int column = 0;
    for (bool last = false; !last; column++) {
        if (!next_field(r, field, &last))
            return bad_field(r);
        if (column >= r->column_count)
            return exi_error(r->error, EX_ERROR_FORMAT, "%s:%d: there are more fields than the %d of the header",
                             r->path, r->line, r->column_count);
        double value = 0;
        ex_result result = read_number(r, column, field, &value);
        if (result != EX_OK)
            return result;
        *(r->columns[column] == TIME_COLUMN ? time : inputs + r->columns[column]) = value;
    }
    if (column < r->column_count)
        return exi_error(r->error, EX_ERROR_FORMAT, "%s:%d: there %s %d field%s, and the header has %d", r->path,
                         r->line, column == 1 ? "is" : "are", column, column == 1 ? "" : "s", r->column_count);
    return check_row_rotations(r, inputs);
}

/* Passes over a line without anything in it; false where there is something. */
static bool skip_blank_line(table_reader *r) {
    skip_blanks(r);
    if (!at_line_end(r))
        return false;
    skip_line_end(r);
    return true;
}

static ex_result add_row(table_reader *r, ex_pose_table *table) {
    size_t width = (size_t)ex_rig_pose_size(r->rig), count = (size_t)table->pose_count;
    double *inputs = exi_array_grow(table->inputs, &r->input_capacity, (count + 1) * width + 1, sizeof *inputs);
    if (inputs)
        table->inputs = inputs;
    double *times = exi_array_grow(table->times, &r->time_capacity, count + 1, sizeof *times);
    if (times)
        table->times = times;
    if (!inputs || !times || table->pose_count == 0x7FFFFFFF)
        return exi_error_memory(r->error, "the table of poses", count * width * sizeof *inputs);
    ex_rig_rest_pose(r->rig, table->inputs + count * width);
    table->times[count] = 0;
    ex_result result = read_row(r, table->inputs + count * width, &table->times[count]);
    table->pose_count++;
    return result;
}

/* Two bytes a character, as some programs save text: with a byte order mark, or seen by the zeros in its first letters.
 */
static bool is_utf16(const char *text, size_t size) {
    if (size >= 2 && (memcmp(text, "\xFF\xFE", 2) == 0 || memcmp(text, "\xFE\xFF", 2) == 0))
        return true;
    return size >= 4 && memchr(text, 0, 4) != NULL;
}

static ex_result read_text(table_reader *r, ex_pose_table *table) {
    size_t size = (size_t)(r->end - r->at);
    if (is_utf16(r->at, size))
        return exi_error(r->error, EX_ERROR_FORMAT, "%s: this is UTF-16: save the table as UTF-8 or plain ASCII",
                         r->path);
    if (size >= 3 && memcmp(r->at, "\xEF\xBB\xBF", 3) == 0)
        r->at += 3;
    if (skip_blank_line(r))
        return exi_error(r->error, EX_ERROR_FORMAT, "%s: the first line must name the axes", r->path);
    ex_result result = read_header(r);
    if (result == EX_OK)
        result = check_rotations(r);
    while (result == EX_OK && r->at < r->end)
        if (!skip_blank_line(r))
            result = add_row(r, table);
    return result;
}

ex_result ex_pose_table_read(const char *path, const ex_rig *rig, ex_pose_table *table, ex_error *error) {
    *table = (ex_pose_table){0};
    char *text = NULL;
    size_t size = 0;
    ex_result result = exi_file_read(path, &text, &size, error);
    if (result != EX_OK)
        return result;
    table_reader r = {.rig = rig, .path = path, .at = text, .end = text + size, .next_line = 1, .error = error};
    result = read_text(&r, table);
    if (result != EX_OK)
        ex_pose_table_free(table);
    else if (!r.has_time) {
        free(table->times);
        table->times = NULL;
    }
    free(r.columns);
    free(text);
    return result;
}

void ex_pose_table_free(ex_pose_table *table) {
    free(table->inputs);
    free(table->times);
    *table = (ex_pose_table){0};
}
