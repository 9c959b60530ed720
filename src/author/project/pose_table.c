/*
 * Tables of poses as CSV: a header of axis names, one pose a line. Rotations take four columns, NAME.x to NAME.w; `time`
 * is in seconds. Columns that are missing stay at rest, unknown ones are errors. Fields may stand in double quotes.
 */
#include "author/formats/file.h"
#include "author/formats/number.h"
#include "author/mesh/array.h"
#include "author/project/project.h"
#include "runtime/base/result.h"

#include <stdlib.h>
#include <string.h>

enum { TIME_COLUMN = -1, FIELD_SIZE = 512 };

typedef struct table_reader {
    const ex_rig *rig;
    const char *path;
    const char *at, *end;
    int line;
    int *columns; /* place in a pose, or TIME_COLUMN */
    int column_count;
    size_t column_capacity, input_capacity, time_capacity;
    bool has_time;
    ex_error *error;
} table_reader;

/* The next field of the line into `field`, trimmed. Sets *last at the end of the line. False where it is too long, has a
 * NUL in it, or a quote is left open. */
static bool next_field(table_reader *r, char field[FIELD_SIZE], bool *last) {
    size_t size = 0;
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t'))
        r->at++;
    bool quoted = r->at < r->end && *r->at == '"';
    if (quoted)
        r->at++;
    for (;; r->at++) {
        if (r->at == r->end || (!quoted && (*r->at == ',' || *r->at == '\n')))
            break;
        if (quoted && *r->at == '"') {
            if (r->at + 1 < r->end && r->at[1] == '"')
                r->at++;
            else
                break;
        }
        if (size + 1 >= FIELD_SIZE || *r->at == 0)
            return false;
        field[size++] = *r->at;
    }
    if (quoted) {
        if (r->at == r->end)
            return false;
        r->at++;
        while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\r'))
            r->at++;
        if (r->at < r->end && *r->at != ',' && *r->at != '\n')
            return false;
    }
    while (!quoted && size > 0 && (field[size - 1] == ' ' || field[size - 1] == '\t' || field[size - 1] == '\r'))
        size--;
    field[size] = 0;
    *last = r->at == r->end || *r->at == '\n';
    if (r->at < r->end)
        r->at++;
    return true;
}

static ex_result bad_field(table_reader *r) {
    return exi_error(r->error, EX_ERROR_FORMAT, "%s:%d: a field is no text, or longer than %d bytes, or its quote is left open",
                     r->path, r->line, FIELD_SIZE - 1);
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
        if (axis.kind != EX_AXIS_SCALAR && part && strlen(input) == length - 2 && strncmp(input, name, length - 2) == 0) {
            *place = offset + (name[length - 1] == 'w' ? 3 : name[length - 1] - 'x');
            return EX_OK;
        }
        if (axis.kind != EX_AXIS_SCALAR && strcmp(input, name) == 0)
            return exi_error(r->error, EX_ERROR_DATA, "%s:%d: '%s' is a rotation: its columns are %s.x, %s.y, %s.z, %s.w",
                             r->path, r->line, name, name, name, name, name);
    }
    return exi_error_within(r->error, exi_unknown_input(r->rig, name, r->error), "%s:%d", r->path, r->line);
}

static ex_result read_header(table_reader *r) {
    char field[FIELD_SIZE];
    for (bool last = false; !last;) {
        if (!next_field(r, field, &last))
            return bad_field(r);
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
            return result;
        for (int i = 0; i < r->column_count; i++)
            if (r->columns[i] == place)
                return exi_error(r->error, EX_ERROR_DATA, "%s:%d: column '%s' is there twice", r->path, r->line, field);
        r->columns[r->column_count++] = place;
    }
    return EX_OK;
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
        const char *at = field, *end = field + strlen(field);
        double value = 0;
        if (!exi_parse_double(&at, end, &value) || at != end)
            return exi_error(r->error, EX_ERROR_DATA, "%s:%d: '%s' is not a number", r->path, r->line, field);
        *(r->columns[column] == TIME_COLUMN ? time : inputs + r->columns[column]) = value;
    }
    if (column < r->column_count)
        return exi_error(r->error, EX_ERROR_FORMAT, "%s:%d: there are %d fields, and the header has %d", r->path, r->line,
                         column, r->column_count);
    return EX_OK;
}

static bool blank_line(const table_reader *r) {
    const char *at = r->at;
    while (at < r->end && (*at == ' ' || *at == '\t' || *at == '\r'))
        at++;
    return at == r->end || *at == '\n';
}

static void skip_line(table_reader *r) {
    while (r->at < r->end && *r->at++ != '\n')
        ;
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

ex_result ex_pose_table_read(const char *path, const ex_rig *rig, ex_pose_table *table, ex_error *error) {
    *table = (ex_pose_table){0};
    char *text = NULL;
    size_t size = 0;
    ex_result result = exi_file_read(path, &text, &size, error);
    if (result != EX_OK)
        return result;
    table_reader r = {.rig = rig, .path = path, .at = text, .end = text + size, .line = 1, .error = error};
    if (size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
        r.at += 3;
    result = blank_line(&r) ? exi_error(error, EX_ERROR_FORMAT, "%s: the first line must name the axes", path)
                            : read_header(&r);
    for (r.line = 2; result == EX_OK && r.at < r.end; r.line++) {
        if (blank_line(&r))
            skip_line(&r);
        else
            result = add_row(&r, table);
    }
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
