/*
 * Tables of poses as CSV: a header of axis names, one pose per line. Rotations take four columns, NAME.x to NAME.w;
 * joint:NAME.x to joint:NAME.w turn a joint; `time` is in seconds. Inputs without columns stay at rest; unknown names
 * are errors. Fields may be in double quotes; lines end with LF, CR LF or CR.
 */
#include "author/base/array.h"
#include "author/base/csv.h"
#include "author/formats/foreign.h"
#include "author/project/model/project.h"
#include "runtime/base/memory.h"
#include "runtime/base/result.h"

#include <exemplar/author/base.h>
#include <exemplar/author/files.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIELD_SIZE = EXI_FIELD_SIZE, PART_SIZE = FIELD_SIZE + 4 };

/* Subject of a column. */
typedef enum subject_kind { SUBJECT_TIME, SUBJECT_JOINT, SUBJECT_AXIS } subject_kind;
typedef struct subject {
    subject_kind kind;
    int index;      /* index of the joint or the input */
    int width;      /* number of columns: 1 or 4 */
    int columns[4]; /* indices of its columns; -1: missing */
} subject;

typedef struct table_reader {
    const ex_rig *rig;
    const char *path;
    exi_csv csv;
    subject *subjects; /* in the order in which the header first names them */
    int subject_count;
    size_t subject_capacity;
    int column_count;
    double *rows; /* [row_count][column_count] as in the file */
    int row_count;
    size_t row_capacity;
    ex_error *error;
} table_reader;

/* Returns the separator that some programs use instead of a comma, if a field or the rest of the line has it. */
static const char *wrong_separator(const char *text) {
    return strchr(text, ';') ? "semicolons" : strchr(text, '\t') ? "tabs" : NULL;
}

static ex_result bad_separator(table_reader *r, const char *separator) {
    return ex_error_set(r->error, EX_ERROR_FORMAT, "%s:%d: columns are separated by commas, not by %s", r->path,
                        r->csv.line, separator);
}

static ex_result bad_field(table_reader *r) {
    return ex_error_set(r->error, EX_ERROR_FORMAT,
                        "%s:%d: a field is not text, or longer than %d bytes, or its quote is not closed", r->path,
                        r->csv.line, FIELD_SIZE - 1);
}

/* ---- the header ---- */

/* Finds the subject of a column, and which of its numbers it holds. */
static ex_result find_subject(table_reader *r, const char *name, subject *found, int *part) {
    const size_t length = strlen(name);
    const char *end = length > 2 && name[length - 2] == '.' ? strchr("xyzw", name[length - 1]) : NULL;
    char whole[FIELD_SIZE];
    snprintf(whole, sizeof whole, "%.*s", (int)(end ? length - 2 : length), name);
    *found = (subject){.kind = SUBJECT_AXIS, .width = 1, .columns = {-1, -1, -1, -1}};
    *part = 0;
    if (strcmp(name, "time") == 0) {
        found->kind = SUBJECT_TIME;
        return EX_OK;
    }
    const int scalar = ex_rig_input_find(r->rig, name), rotation = ex_rig_input_find(r->rig, whole);
    const int joint = exi_find_rig_joint(r->rig, whole);
    if (scalar >= 0 && ex_rig_input_axis(r->rig, scalar).kind == EX_AXIS_DRIVER)
        return ex_error_kind(r->error,
                             ex_error_set(r->error, EX_ERROR_DATA,
                                          "%s:%d: '%s' is the form of a driver, which a table cannot hold", r->path,
                                          r->csv.line, name),
                             "driver_in_table");
    const bool is_rotation = rotation >= 0 && ex_rig_input_axis(r->rig, rotation).kind != EX_AXIS_SCALAR &&
                             ex_rig_input_axis(r->rig, rotation).kind != EX_AXIS_DRIVER;
    if (scalar >= 0 && ex_rig_input_axis(r->rig, scalar).kind == EX_AXIS_SCALAR) {
        found->index = scalar;
        return EX_OK;
    }
    if (!is_rotation && joint < 0) {
        const bool named_joint = strncmp(name, "joint:", 6) == 0;
        const ex_result result = exi_unknown_input(r->rig, named_joint, named_joint ? whole + 6 : name, r->error);
        return ex_error_within(r->error, result, "%s:%d", r->path, r->csv.line);
    }
    if (!end)
        return ex_error_set(r->error, EX_ERROR_DATA,
                            "%s:%d: '%s' is a rotation: its columns are %s.x, %s.y, %s.z, %s.w", r->path, r->csv.line,
                            name, name, name, name, name);
    found->kind = is_rotation ? SUBJECT_AXIS : SUBJECT_JOINT;
    found->index = is_rotation ? rotation : joint;
    found->width = 4;
    *part = name[length - 1] == 'w' ? 3 : name[length - 1] - 'x';
    return EX_OK;
}

static ex_result add_column(table_reader *r, const char *name) {
    subject found;
    int part = 0, i = 0;
    ex_result result = find_subject(r, name, &found, &part);
    if (result != EX_OK)
        return result;
    while (i < r->subject_count && (r->subjects[i].kind != found.kind || r->subjects[i].index != found.index))
        i++;
    if (i == r->subject_count) {
        subject *subjects =
            exi_array_grow(r->subjects, &r->subject_capacity, (size_t)r->subject_count + 1, sizeof *subjects);
        if (!subjects)
            return ex_error_memory(r->error, "the table's columns", r->subject_capacity * sizeof *subjects);
        r->subjects = subjects;
        r->subjects[r->subject_count++] = found;
    }
    if (r->subjects[i].columns[part] >= 0)
        return ex_error_set(r->error, EX_ERROR_DATA, "%s:%d: column '%s' appears twice", r->path, r->csv.line, name);
    r->subjects[i].columns[part] = r->column_count++;
    return EX_OK;
}

static ex_result read_header(table_reader *r) {
    char field[FIELD_SIZE];
    for (bool last = false; !last;) {
        if (!exi_csv_field(&r->csv, field, &last))
            return r->csv.at < r->csv.end && *r->csv.at == ';' ? bad_separator(r, "semicolons") : bad_field(r);
        if (field[0] == 0)
            return ex_error_set(r->error, EX_ERROR_DATA, "%s:%d: column %d has no name", r->path, r->csv.line,
                                r->column_count + 1);
        ex_result result = add_column(r, field);
        if (result != EX_OK)
            return result == EX_ERROR_DATA && wrong_separator(field) ? bad_separator(r, wrong_separator(field))
                                                                     : result;
    }
    return EX_OK;
}

/* Returns the name of a subject, or of one of its columns, as in the header. */
static const char *subject_name(const table_reader *r, const subject *s, int part, char name[PART_SIZE]) {
    static const char *const ends[] = {".x", ".y", ".z", ".w"};
    if (s->kind == SUBJECT_TIME)
        return "time";
    const char *of = s->kind == SUBJECT_JOINT ? ex_skeleton_name(ex_rig_skeleton(r->rig), s->index)
                                              : ex_rig_input_name(r->rig, s->index);
    snprintf(name, PART_SIZE, "%s%s%s", s->kind == SUBJECT_JOINT ? "joint:" : "", of,
             s->width == 4 && part >= 0 ? ends[part] : "");
    return name;
}

/* A rotation needs all of its columns or none: rest and part of another rotation do not mix. */
static ex_result check_header(table_reader *r) {
    for (int i = 0; i < r->subject_count; i++) {
        const subject *s = &r->subjects[i];
        char missing[4 * PART_SIZE] = "", name[PART_SIZE];
        int missing_count = 0;
        for (int k = 0; k < s->width; k++) {
            if (s->columns[k] >= 0)
                continue;
            strcat(missing, missing_count++ ? ", " : "");
            strcat(missing, subject_name(r, s, k, name));
        }
        if (missing_count > 0)
            return ex_error_set(r->error, EX_ERROR_DATA,
                                "%s:1: the rotation '%s' needs four columns, but %s %s missing", r->path,
                                subject_name(r, s, -1, name), missing, missing_count == 1 ? "is" : "are");
    }
    return EX_OK;
}

/* ---- rows ---- */

static const char *column_name(const table_reader *r, int column, char name[PART_SIZE]) {
    for (int i = 0; i < r->subject_count; i++)
        for (int k = 0; k < r->subjects[i].width; k++)
            if (r->subjects[i].columns[k] == column)
                return subject_name(r, &r->subjects[i], k, name);
    return "";
}

static ex_result read_number(table_reader *r, int column, const char *field, double *value) {
    const char *at = field, *end = field + strlen(field);
    if (ex_parse_double(&at, end, value) && at == end)
        return EX_OK;
    char name[PART_SIZE];
    if (at == end)
        return ex_error_set(r->error, EX_ERROR_DATA, "%s:%d: there is no number in column '%s'", r->path, r->csv.line,
                            column_name(r, column, name));
    return ex_error_set(r->error, EX_ERROR_DATA, "%s:%d: '%s' in column '%s' is not a number", r->path, r->csv.line,
                        field, column_name(r, column, name));
}

/* Gathers one or four numbers of a row. */
static void gather(const subject *s, const double *row, double value[4]) {
    for (int k = 0; k < s->width; k++)
        value[k] = row[s->columns[k]];
}

static bool reaches(const table_reader *r, const subject *s, const double *value) {
    if (s->kind != SUBJECT_AXIS)
        return true;
    const ex_axis_source source = ex_rig_input_source(r->rig, s->index);
    return source.joint < 0 || exi_reading_reaches(&source.reading, value);
}

/* Refuses four zeros, which are no rotation, and joints moved too far. */
static ex_result check_row(table_reader *r, const double *row) {
    for (int i = 0; i < r->subject_count; i++) {
        double q[4] = {0};
        char name[PART_SIZE];
        gather(&r->subjects[i], row, q);
        if (r->subjects[i].width == 4 && !(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] > 1e-20))
            return ex_error_set(r->error, EX_ERROR_DATA,
                                "%s:%d: all four numbers of '%s' are 0, which is not a rotation: rest is 0 0 0 1",
                                r->path, r->csv.line, subject_name(r, &r->subjects[i], -1, name));
        if (!reaches(r, &r->subjects[i], q))
            return ex_error_set(r->error, EX_ERROR_DATA,
                                "%s:%d: '%s' is %g: no joint can be moved or stretched that far", r->path, r->csv.line,
                                subject_name(r, &r->subjects[i], -1, name), q[0]);
    }
    return EX_OK;
}

static ex_result read_row(table_reader *r, double *row) {
    char field[FIELD_SIZE];
    int column = 0;
    for (bool last = false; !last; column++) {
        if (!exi_csv_field(&r->csv, field, &last))
            return bad_field(r);
        if (column >= r->column_count)
            return ex_error_set(r->error, EX_ERROR_FORMAT, "%s:%d: there are more fields than the header's %d", r->path,
                                r->csv.line, r->column_count);
        ex_result result = read_number(r, column, field, &row[column]);
        if (result != EX_OK)
            return result;
    }
    if (column < r->column_count)
        return ex_error_set(r->error, EX_ERROR_FORMAT, "%s:%d: there %s %d field%s, but the header has %d", r->path,
                            r->csv.line, column == 1 ? "is" : "are", column, column == 1 ? "" : "s", r->column_count);
    return check_row(r, row);
}

static ex_result add_row(table_reader *r) {
    size_t width = (size_t)r->column_count, count = (size_t)r->row_count;
    double *rows = exi_array_grow(r->rows, &r->row_capacity, (count + 1) * width, sizeof *rows);
    if (!rows || r->row_count == INT_MAX)
        return ex_error_memory(r->error, "the table of poses", count * width * sizeof *rows);
    r->rows = rows;
    r->row_count++;
    return read_row(r, rows + count * width);
}

/* ---- the table ---- */

/* Sets whole joints first, since an axis changes only what it reads of its joint. */
static void set_pose(const table_reader *r, const double *row, const ex_pose *pose) {
    double value[4];
    ex_rig_rest_pose(r->rig, pose);
    for (int i = 0; i < r->subject_count; i++)
        if (r->subjects[i].kind == SUBJECT_JOINT) {
            gather(&r->subjects[i], row, value);
            exi_turn_joint(r->rig, r->subjects[i].index, value, pose);
        }
    for (int i = 0; i < r->subject_count; i++)
        if (r->subjects[i].kind == SUBJECT_AXIS) {
            gather(&r->subjects[i], row, value);
            ex_rig_set_input(r->rig, r->subjects[i].index, value, pose);
        }
}

/* Allocates poses and their arrays in one block, and times, if the table has them, in another. */
static ex_result make_table(table_reader *r, ex_pose_table *table) {
    const size_t count = (size_t)r->row_count, inputs = (size_t)ex_rig_pose_size(r->rig),
                 joints = (size_t)ex_rig_joint_count(r->rig);
    exi_size size = {0}, pose_size = {0};
    exi_size_add(&pose_size, inputs, sizeof(double), sizeof(double));
    const size_t joints_at = exi_size_add(&pose_size, joints, sizeof(ex_transform), sizeof(double));
    exi_size_add(&pose_size, 0, 1, sizeof(double));
    exi_size_add(&size, count, sizeof(ex_pose), sizeof(double));
    const size_t first = exi_size_add(&size, count, pose_size.bytes, sizeof(double));
    const subject *time = NULL;
    for (int i = 0; i < r->subject_count; i++)
        time = r->subjects[i].kind == SUBJECT_TIME ? &r->subjects[i] : time;
    char *block = size.overflow || pose_size.overflow ? NULL : malloc(size.bytes + 1);
    double *times = time ? exi_array_allocate(count, sizeof *times) : NULL;
    table->poses = (ex_pose *)(void *)block;
    table->times = times;
    if (!block || (time && !times))
        return ex_error_memory(r->error, "the table of poses", size.bytes);
    for (size_t i = 0; i < count; i++) {
        char *at = block + first + i * pose_size.bytes;
        const double *row = r->rows + i * (size_t)r->column_count;
        table->poses[i] = (ex_pose){.inputs = (double *)(void *)at,
                                    .joints = joints ? (ex_transform *)(void *)(at + joints_at) : NULL};
        set_pose(r, row, &table->poses[i]);
        if (time)
            times[i] = row[time->columns[0]];
    }
    table->pose_count = r->row_count;
    return EX_OK;
}

/* True for text of two bytes per character, which some programs save: it has a byte order mark, or zeros among its
 * first letters. */
static bool is_utf16(const char *text, size_t size) {
    if (size >= 2 && (memcmp(text, "\xFF\xFE", 2) == 0 || memcmp(text, "\xFE\xFF", 2) == 0))
        return true;
    return size >= 4 && memchr(text, 0, 4) != NULL;
}

static ex_result read_text(table_reader *r) {
    size_t size = (size_t)(r->csv.end - r->csv.at);
    if (is_utf16(r->csv.at, size))
        return ex_error_set(r->error, EX_ERROR_FORMAT, "%s: this is UTF-16: save the table as UTF-8 or plain ASCII",
                            r->path);
    if (size >= 3 && memcmp(r->csv.at, "\xEF\xBB\xBF", 3) == 0)
        r->csv.at += 3;
    if (exi_csv_skip_blank_line(&r->csv))
        return ex_error_set(r->error, EX_ERROR_FORMAT, "%s: the first line must name the axes", r->path);
    ex_result result = read_header(r);
    if (result == EX_OK)
        result = check_header(r);
    while (result == EX_OK && r->csv.at < r->csv.end)
        if (!exi_csv_skip_blank_line(&r->csv))
            result = add_row(r);
    if (result == EX_OK && r->row_count == 0)
        result = ex_error_set(r->error, EX_ERROR_DATA, "%s has no rows: each row below its header is a pose", r->path);
    return result;
}

ex_result exi_pose_table_parse(const char *text, size_t size, const char *path, const ex_rig *rig, ex_pose_table *table,
                               ex_error *error) {
    *table = (ex_pose_table){0};
    table_reader r = {
        .rig = rig, .path = path, .csv = {.at = text, .end = text + size, .next_line = 1}, .error = error};
    ex_result result = read_text(&r);
    if (result == EX_OK)
        result = make_table(&r, table);
    if (result != EX_OK)
        ex_pose_table_free(table);
    free(r.subjects);
    free(r.rows);
    return exi_foreign_explain(error, result, EXI_CONTENT_POSES, path, ".csv", text, size);
}

ex_result ex_pose_table_read(const char *path, const ex_rig *rig, ex_pose_table *table, ex_error *error) {
    *table = (ex_pose_table){0};
    char *text = NULL;
    size_t size = 0;
    ex_result result = ex_file_read(path, &text, &size, error);
    if (result == EX_OK)
        result = exi_pose_table_parse(text, size, path, rig, table, error);
    free(text);
    return result;
}

void ex_pose_table_free(ex_pose_table *table) {
    free(table->poses);
    free(table->times);
    *table = (ex_pose_table){0};
}
