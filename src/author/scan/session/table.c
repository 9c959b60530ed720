/*
 * Reads tables of a scan session as text; numbers are parsed cell by cell, so that errors can name the cell.
 */
#include "author/scan/session/table.h"

#include "author/base/array.h"
#include "author/base/csv.h"
#include "runtime/base/result.h"

#include <exemplar/author/base.h>
#include <exemplar/author/files.h>
#include <exemplar/author/project.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS_MOST = 64 };

static ex_result read_names(exi_csv *csv, const char *const *columns, exi_table *table, ex_error *error) {
    char field[EXI_FIELD_SIZE];
    int known = 0;
    while (columns[known])
        known++;
    table->names = exi_arena_allocate(&table->arena, COLUMNS_MOST, sizeof *table->names);
    if (!table->names)
        return ex_error_memory(error, table->path, COLUMNS_MOST * sizeof *table->names);
    for (bool last = false; !last; table->column_count++) {
        int found = -1;
        if (table->column_count == COLUMNS_MOST || !exi_csv_field(csv, field, &last))
            return ex_error_set(error, EX_ERROR_FORMAT, "%s:1: this is not a line of column names between commas",
                                table->path);
        for (int i = 0; i < known && found < 0; i++)
            found = strcmp(field, columns[i]) == 0 ? i : -1;
        if (found < 0) {
            const char *near = ex_suggest(field, columns, known);
            return ex_error_set(error, EX_ERROR_DATA, "%s:1: this table has no column '%s'%s%s%s", table->path, field,
                                near ? ": did you mean '" : "", near ? near : "", near ? "'?" : "");
        }
        if (exi_table_column(table, field) >= 0)
            return ex_error_set(error, EX_ERROR_DATA, "%s:1: column '%s' appears twice", table->path, field);
        table->names[table->column_count] = exi_arena_text(&table->arena, field);
        if (!table->names[table->column_count])
            return ex_error_memory(error, table->path, sizeof field);
    }
    return EX_OK;
}

static ex_result read_row(exi_csv *csv, exi_table *table, size_t *cells, size_t *lines, ex_error *error) {
    char field[EXI_FIELD_SIZE];
    const size_t width = (size_t)table->column_count, row = (size_t)table->row_count;
    char **grown = exi_array_grow(table->cells, cells, (row + 1) * width, sizeof *grown);
    table->cells = grown ? grown : table->cells;
    int *more = grown ? exi_array_grow(table->lines, lines, row + 1, sizeof *more) : NULL;
    if (!more)
        return ex_error_memory(error, table->path, (row + 1) * width * sizeof *grown);
    table->lines = more;
    int column = 0;
    for (bool last = false; !last; column++) {
        if (!exi_csv_field(csv, field, &last))
            return ex_error_set(error, EX_ERROR_FORMAT, "%s:%d: this is not a line of values between commas",
                                table->path, csv->line);
        if (column >= table->column_count)
            return ex_error_set(error, EX_ERROR_DATA, "%s:%d: there are more values than the %d columns", table->path,
                                csv->line, table->column_count);
        char *copy = exi_arena_text(&table->arena, field);
        if (!copy)
            return ex_error_memory(error, table->path, sizeof field);
        table->cells[row * width + (size_t)column] = copy;
    }
    if (column < table->column_count)
        return ex_error_set(error, EX_ERROR_DATA, "%s:%d: there is no value for column '%s'", table->path, csv->line,
                            table->names[column]);
    table->lines[row] = csv->line;
    table->row_count++;
    return EX_OK;
}

static ex_result read_all(const char *text, size_t size, const char *const *columns, int needed, exi_table *table,
                          ex_error *error) {
    exi_csv csv = {.at = text, .end = text + size, .line = 1, .next_line = 1};
    size_t cells = 0, lines = 0;
    if (size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
        csv.at += 3;
    if (csv.at == csv.end)
        return ex_error_set(error, EX_ERROR_FORMAT, "%s is empty", table->path);
    ex_result result = read_names(&csv, columns, table, error);
    for (int i = 0; i < needed && result == EX_OK; i++) {
        if (exi_table_column(table, columns[i]) < 0)
            result = ex_error_set(error, EX_ERROR_DATA, "%s:1: column '%s' is missing", table->path, columns[i]);
    }
    while (result == EX_OK && csv.at < csv.end) {
        if (!exi_csv_skip_blank_line(&csv))
            result = read_row(&csv, table, &cells, &lines, error);
    }
    return result;
}

ex_result exi_table_read(const char *path, const char *const *columns, int needed, exi_table *table, ex_error *error) {
    char *text = NULL;
    size_t size = 0;
    *table = (exi_table){.path = path};
    ex_result result = ex_file_read(path, &text, &size, error);
    if (result == EX_OK)
        result = read_all(text, size, columns, needed, table, error);
    free(text);
    if (result != EX_OK)
        exi_table_free(table);
    return result;
}

void exi_table_free(exi_table *table) {
    free(table->cells);
    free(table->lines);
    exi_arena_free(&table->arena);
    *table = (exi_table){0};
}

int exi_table_column(const exi_table *table, const char *name) {
    for (int i = 0; i < table->column_count; i++) {
        if (strcmp(table->names[i], name) == 0)
            return i;
    }
    return -1;
}

const char *exi_table_text(const exi_table *table, int row, int column) {
    return column < 0 ? "" : table->cells[(size_t)row * (size_t)table->column_count + (size_t)column];
}

ex_result exi_table_number(const exi_table *table, int row, int column, bool needed, double *value, ex_error *error) {
    const char *text = exi_table_text(table, row, column), *at = text, *end = text + strlen(text);
    double number;
    if (!text[0] && !needed)
        return EX_OK;
    if (!text[0] || !ex_parse_double(&at, end, &number) || at != end || !isfinite(number))
        return ex_error_set(error, EX_ERROR_DATA, "%s:%d: '%s' in column '%s' is not a number", table->path,
                            table->lines[row], text, column < 0 ? "" : table->names[column]);
    *value = number;
    return EX_OK;
}

ex_result exi_table_triple(const exi_table *table, int row, const char *const names[3], bool needed, double value[3],
                           ex_error *error) {
    ex_result result = EX_OK;
    for (int i = 0; i < 3 && result == EX_OK; i++) {
        const int column = exi_table_column(table, names[i]);
        if (column < 0 && needed)
            return ex_error_set(error, EX_ERROR_DATA, "%s:%d: there is no column '%s'", table->path, table->lines[row],
                                names[i]);
        result = exi_table_number(table, row, column, needed, &value[i], error);
    }
    return result;
}
