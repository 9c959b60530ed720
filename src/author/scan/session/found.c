/*
 * Reads and writes found/NAME.csv: x,y,z,r,g,b,size,view,strength, one marker per line.
 */
#include "author/base/array.h"
#include "author/scan/find/find.h"
#include "author/scan/session/table.h"

#include <exemplar/author/base.h>
#include <exemplar/author/files.h>

#include <limits.h>
#include <math.h>
#include <stdlib.h>

static const char *const places[3] = {"x", "y", "z"}, *const colours[3] = {"r", "g", "b"};

static ex_result read_marker(const exi_table *table, int row, ex_found_marker *marker, ex_error *error) {
    double view = 0;
    ex_result result = exi_table_triple(table, row, places, true, marker->position, error);
    if (result == EX_OK)
        result = exi_table_triple(table, row, colours, true, marker->colour, error);
    if (result == EX_OK)
        result = exi_table_number(table, row, exi_table_column(table, "size"), false, &marker->size, error);
    if (result == EX_OK)
        result = exi_table_number(table, row, exi_table_column(table, "view"), false, &view, error);
    if (result == EX_OK)
        result = exi_table_number(table, row, exi_table_column(table, "strength"), false, &marker->strength, error);
    if (result != EX_OK)
        return result;
    for (int k = 0; k < 3; k++)
        if (!(marker->colour[k] >= 0 && marker->colour[k] <= 255))
            return ex_error_set(error, EX_ERROR_DATA, "%s:%d: a colour must be from 0 to 255", table->path,
                                table->lines[row]);
    if (!(view >= 0 && view <= INT_MAX && view == floor(view)))
        return ex_error_set(error, EX_ERROR_DATA, "%s:%d: there is no view %g (counting from 0)", table->path,
                            table->lines[row], view);
    marker->view = (int)view;
    return EX_OK;
}

ex_result ex_found_read(const char *path, ex_found_marker **markers, int *count, ex_error *error) {
    static const char *const columns[] = {"x", "y", "z", "r", "g", "b", "size", "view", "strength", NULL};
    exi_table table;
    *markers = NULL;
    *count = 0;
    ex_result result = exi_table_read(path, columns, 6, &table, error);
    if (result != EX_OK)
        return result;
    ex_found_marker *made = calloc((size_t)table.row_count + 1, sizeof *made);
    if (!made)
        result = ex_error_memory(error, "the markers found", (size_t)table.row_count * sizeof *made);
    for (int i = 0; i < table.row_count && result == EX_OK; i++)
        result = read_marker(&table, i, &made[i], error);
    if (result == EX_OK) {
        *markers = made;
        *count = table.row_count;
    } else {
        free(made);
    }
    exi_table_free(&table);
    return result;
}

/* Rounds to keep the file short and no more precise than a scanner. */
static void put(ex_file_writer *writer, double value, double steps, char end) {
    char text[33];
    const double rounded = rint(value * steps) / steps;
    int size = ex_format_double(text, isfinite(rounded) && rounded != 0 ? rounded : 0);
    text[size++] = end;
    ex_file_write(writer, text, (size_t)size);
}

ex_result ex_found_write(const char *path, const ex_found_marker *markers, int count, ex_error *error) {
    ex_file_writer writer;
    ex_result result = ex_file_open(&writer, path, error);
    if (result != EX_OK)
        return result;
    ex_file_printf(&writer, "x,y,z,r,g,b,size,view,strength\n");
    for (int i = 0; i < count; i++) {
        const ex_found_marker *m = &markers[i];
        for (int k = 0; k < 3; k++)
            put(&writer, m->position[k], 1e6, ',');
        for (int k = 0; k < 3; k++)
            put(&writer, m->colour[k], 1, ',');
        put(&writer, m->size, 1e5, ',');
        ex_file_printf(&writer, "%d,", m->view);
        put(&writer, m->strength, 1e4, '\n');
    }
    return ex_file_commit(&writer, error);
}
