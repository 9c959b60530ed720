/*
 * Spots that someone said are no markers: no_markers.csv, scan,x,y,z.
 */
#include "author/base/array.h"
#include "author/scan/label/label_scans.h"
#include "author/scan/session/session.h"
#include "author/scan/session/table.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <exemplar/author/base.h>

#include <stdlib.h>

bool exi_is_refused(const exi_refused *refused, int count, int scan, const double position[3]) {
    for (int i = 0; i < count; i++) {
        double apart[3];
        exi_subtract(refused[i].position, position, apart);
        if (refused[i].scan == scan && exi_dot3(apart, apart) < EXI_SAME_PLACE * EXI_SAME_PLACE)
            return true;
    }
    return false;
}

static ex_result read_rows(const ex_scan_session *session, const char *path, exi_refused **refused, int *count,
                           ex_error *error) {
    static const char *const columns[] = {"scan", "x", "y", "z", NULL};
    exi_table table;
    ex_result result = exi_table_read(path, columns, 4, &table, error);
    if (result != EX_OK)
        return result;
    exi_refused *rows = exi_array_allocate((size_t)table.row_count, sizeof *rows);
    if (!rows)
        result = ex_error_memory(error, path, (size_t)table.row_count * sizeof *rows);
    for (int i = 0; i < table.row_count && result == EX_OK; i++) {
        exi_refused *r = &rows[*count];
        r->scan = ex_scan_session_find(session, exi_table_text(&table, i, exi_table_column(&table, "scan")));
        result = exi_table_triple(&table, i, columns + 1, true, r->position, error);
        ex_scan_from_files(session, r->position);
        *count += r->scan >= 0;
    }
    exi_table_free(&table);
    if (result == EX_OK) {
        *refused = rows;
    } else {
        free(rows);
        *count = 0;
    }
    return result;
}

ex_result exi_refused_read(const ex_scan_session *session, exi_refused **refused, int *count, ex_error *error) {
    char *path = ex_scan_path(session, "", "no_markers", ".csv");
    *refused = NULL;
    *count = 0;
    if (!path)
        return ex_error_memory(error, "a path", 0);
    const ex_result result = exi_scan_is_there(path) ? read_rows(session, path, refused, count, error) : EX_OK;
    free(path);
    return result;
}

ex_result exi_refused_write(const ex_scan_session *session, const exi_refused *refused, int count, ex_error *error) {
    ex_file_writer writer;
    char *path = ex_scan_path(session, "", "no_markers", ".csv");
    if (!path)
        return ex_error_memory(error, "a path", 0);
    const ex_result result = ex_file_open(&writer, path, error);
    free(path);
    if (result != EX_OK)
        return result;
    ex_file_printf(&writer, "scan,x,y,z\n");
    for (int i = 0; i < count; i++) {
        char number[32];
        double at[3] = {refused[i].position[0], refused[i].position[1], refused[i].position[2]};
        ex_scan_to_files(session, at);
        exi_label_write_name(&writer, session->scans[refused[i].scan].name);
        for (int c = 0; c < 3; c++) {
            ex_format_float(number, (float)at[c]);
            ex_file_printf(&writer, ",%s", number);
        }
        ex_file_printf(&writer, "\n");
    }
    return ex_file_commit(&writer, error);
}
