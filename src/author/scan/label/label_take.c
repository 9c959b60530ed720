/*
 * Files tables that someone made: [scan,]marker,x,y,z[,confidence] or [scan,]landmark,x,y,z. Without a place, a name is
 * taken away; without a name, a spot is no marker. All rows are checked before a file is written.
 */
#include "author/base/array.h"
#include "author/scan/human/human.h"
#include "author/scan/label/label_scans.h"
#include "author/scan/session/session.h"
#include "author/scan/session/table.h"
#include "runtime/base/result.h"
#include "runtime/base/text.h"
#include "runtime/base/vector.h"

#include <exemplar/author/base.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct row {
    int scan;
    const char *name; /* "": no marker */
    bool placed;
    ex_labelled label;
} row;

typedef struct take {
    const ex_scan_session *session;
    exi_table table;
    row *rows; /* [table.row_count] */
    bool landmarks;
    exi_refused *refused;
    int refused_count;
    ex_scan_taken *taken;
    ex_error *error;
} take;

static ex_result no_memory(const take *t) {
    return ex_error_memory(t->error, t->table.path, (size_t)t->table.row_count * sizeof(row));
}

static bool is_near(const double a[3], const double b[3]) {
    double apart[3];
    exi_subtract(a, b, apart);
    return exi_dot3(apart, apart) < EXI_SAME_PLACE * EXI_SAME_PLACE;
}

/* ---- rows ---- */

static ex_result find_scan(const take *t, int at, int *scan) {
    const ex_scan_session *session = t->session;
    const char *name = exi_table_text(&t->table, at, exi_table_column(&t->table, "scan"));
    *scan = ex_scan_session_find(session, name);
    if (*scan >= 0)
        return EX_OK;
    const char **names = exi_array_allocate((size_t)session->scan_count, sizeof *names);
    for (int i = 0; names && i < session->scan_count; i++)
        names[i] = session->scans[i].name;
    const char *near = names ? ex_suggest(name, names, session->scan_count) : NULL;
    free((void *)names);
    return ex_error_set(t->error, EX_ERROR_DATA, "%s:%d: the session has no scan '%s'%s%s%s", t->table.path,
                        t->table.lines[at], name, near ? ": did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static ex_result read_row(const take *t, int at, int scan, row *r) {
    static const char *const places[3] = {"x", "y", "z"};
    const exi_table *table = &t->table;
    const int landmark = exi_table_column(table, "landmark"), confidence = exi_table_column(table, "confidence");
    ex_result result = EX_OK;
    *r = (row){.scan = scan,
               .name = exi_table_text(table, at, landmark >= 0 ? landmark : exi_table_column(table, "marker")),
               .label = {.confidence = 1, .by_hand = !exi_table_text(table, at, confidence)[0]}};
    for (int c = 0; c < 3; c++)
        r->placed = r->placed || exi_table_text(table, at, exi_table_column(table, places[c]))[0];
    if (scan < 0)
        result = find_scan(t, at, &r->scan);
    if (result == EX_OK && ((!r->name[0] && (landmark >= 0 || !r->placed)) || (r->name[0] && !exi_is_name(r->name))))
        return ex_error_set(t->error, EX_ERROR_DATA, "%s:%d: this %s has no name of readable text", table->path,
                            table->lines[at], landmark >= 0 ? "landmark" : "marker");
    if (result == EX_OK && r->placed)
        result = exi_table_triple(table, at, places, true, r->label.position, t->error);
    if (result == EX_OK)
        result = exi_table_number(table, at, confidence, false, &r->label.confidence, t->error);
    if (result == EX_OK && !(r->label.confidence >= 0 && r->label.confidence <= 1))
        result = ex_error_set(t->error, EX_ERROR_DATA, "%s:%d: a confidence must be from 0 to 1", table->path,
                              table->lines[at]);
    if (result == EX_OK && r->placed)
        ex_scan_from_files(t->session, r->label.position);
    for (int c = 0; c < 3 && result == EX_OK; c++)
        if (!isfinite((float)r->label.position[c]))
            result = ex_error_set(t->error, EX_ERROR_DATA, "%s:%d: this place is too far away for a float", table->path,
                                  table->lines[at]);
    for (int i = 0; i < at && result == EX_OK && r->name[0]; i++)
        if (t->rows[i].scan == r->scan && strcmp(t->rows[i].name, r->name) == 0)
            result = ex_error_set(t->error, EX_ERROR_DATA,
                                  "%s:%d: '%s' is already on line %d: one of the two must be another", table->path,
                                  table->lines[at], r->name, table->lines[i]);
    return result;
}

static ex_result read_rows(take *t, const char *path, int scan) {
    static const char *const columns[] = {"x", "y", "z", "marker", "landmark", "scan", "confidence", NULL};
    ex_result result = exi_table_read(path, columns, 3, &t->table, t->error);
    if (result != EX_OK)
        return result;
    const bool marker = exi_table_column(&t->table, "marker") >= 0,
               landmark = exi_table_column(&t->table, "landmark") >= 0,
               column = exi_table_column(&t->table, "scan") >= 0;
    if (marker == landmark)
        return ex_error_set(t->error, EX_ERROR_DATA, "%s:1: a table of names has a column 'marker' or 'landmark'",
                            path);
    if (!column && scan < 0)
        return ex_error_set(t->error, EX_ERROR_DATA,
                            "%s:1: this table does not say of which scan it is: name it "
                            "with --scan, or add a column 'scan'",
                            path);
    t->rows = exi_array_allocate((size_t)t->table.row_count, sizeof *t->rows);
    if (!t->rows)
        return no_memory(t);
    for (int i = 0; i < t->table.row_count && result == EX_OK; i++)
        result = read_row(t, i, column ? -1 : scan, &t->rows[i]);
    return result;
}

/* ---- the kind ---- */

/* Markers in a session with a template person are landmarks if they have only such names. */
static ex_result find_kind(take *t) {
    const ex_scan_session *session = t->session;
    exi_human *human = NULL;
    t->landmarks = exi_table_column(&t->table, "landmark") >= 0;
    if (t->landmarks && !session->person)
        return ex_error_set(t->error, EX_ERROR_DATA,
                            "%s: these are landmarks, and this session has a cage and no template person: "
                            "\"template\": \"human\" in scan.json gives it one",
                            t->table.path);
    if (t->landmarks || !session->person || t->table.row_count == 0)
        return EX_OK;
    for (int i = 0; i < t->table.row_count; i++)
        if (ex_kinematics_find_site(session->kinematics, t->rows[i].name) >= 0)
            return EX_OK;
    char *path = strcmp(session->person, "human") == 0 ? NULL : exi_scan_file(session->folder, session->person);
    const ex_result result = exi_human_read(path, &human, t->error);
    free(path);
    t->landmarks = result == EX_OK;
    for (int i = 0; i < t->table.row_count && t->landmarks; i++)
        t->landmarks = exi_human_find(human, t->rows[i].name) >= 0;
    exi_human_destroy(human);
    return result;
}

static ex_result check_markers(const take *t) {
    ex_result result = EX_OK;
    for (int i = 0; i < t->table.row_count && result == EX_OK && !t->landmarks; i++) {
        const ex_labelled label = {.name = (char *)t->rows[i].name};
        if (label.name[0])
            result = exi_label_check_names(t->session, t->table.path, &label, 1, t->error);
    }
    return result;
}

/* ---- files ---- */

/* True if a row is about the same name, or about the same spot. */
static bool is_replaced(const take *t, int scan, const ex_labelled *old) {
    for (int i = 0; i < t->table.row_count; i++) {
        const row *r = &t->rows[i];
        if (r->scan != scan)
            continue;
        if ((r->name[0] && strcmp(r->name, old->name) == 0) ||
            (!t->landmarks && r->placed && is_near(r->label.position, old->position)))
            return true;
    }
    return false;
}

static ex_result file_scan(take *t, int scan) {
    const char *kind = t->landmarks ? "landmarks" : "labels";
    ex_labelled *old = NULL, *all = NULL;
    int old_count = 0, count = 0;
    for (int i = 0; i < t->table.row_count; i++)
        t->taken->taken[scan] += t->rows[i].scan == scan;
    if (t->taken->taken[scan] == 0)
        return EX_OK;
    ex_result result = exi_label_read(t->session, kind, scan, &old, &old_count, t->error);
    if (result == EX_OK) {
        all = exi_array_allocate((size_t)t->table.row_count + (size_t)old_count, sizeof *all);
        result = all ? EX_OK : no_memory(t);
    }
    for (int i = 0; i < t->table.row_count && result == EX_OK; i++)
        if (t->rows[i].scan == scan && t->rows[i].name[0] && t->rows[i].placed) {
            all[count] = t->rows[i].label;
            all[count++].name = (char *)t->rows[i].name;
        }
    for (int i = 0; i < old_count && result == EX_OK; i++)
        if (!is_replaced(t, scan, &old[i]))
            all[count++] = old[i];
    if (result == EX_OK)
        result = exi_label_write(t->session, kind, scan, all, count, t->error);
    t->taken->totals[scan] = count;
    free(all);
    ex_labels_free(old, old_count);
    return result;
}

/* Notes spots that are no markers; a name takes such a note back. */
static ex_result file_refused(take *t) {
    bool changed = false;
    int kept = 0;
    ex_result result = exi_refused_read(t->session, &t->refused, &t->refused_count, t->error);
    if (result != EX_OK)
        return result;
    exi_refused *all = exi_array_allocate((size_t)t->refused_count + (size_t)t->table.row_count, sizeof *all);
    if (!all)
        return no_memory(t);
    for (int i = 0; i < t->refused_count; i++) {
        bool again = false;
        for (int k = 0; k < t->table.row_count && !again; k++)
            again = t->rows[k].scan == t->refused[i].scan && t->rows[k].placed &&
                    is_near(t->rows[k].label.position, t->refused[i].position);
        changed = changed || again;
        if (!again)
            all[kept++] = t->refused[i];
    }
    for (int k = 0; k < t->table.row_count; k++)
        if (!t->rows[k].name[0]) {
            all[kept].scan = t->rows[k].scan;
            memcpy(all[kept++].position, t->rows[k].label.position, sizeof all->position);
            changed = true;
        }
    if (changed)
        result = exi_refused_write(t->session, all, kept, t->error);
    free(all);
    return result;
}

/* ---- entry points ---- */

void ex_scan_taken_destroy(ex_scan_taken *taken) {
    if (!taken)
        return;
    free(taken->taken);
    free(taken->totals);
    free(taken);
}

static ex_result take_table(take *t, const char *path, int scan) {
    const size_t n = (size_t)t->session->scan_count;
    ex_result result = read_rows(t, path, scan);
    if (result == EX_OK)
        result = find_kind(t);
    if (result == EX_OK)
        result = check_markers(t);
    if (result != EX_OK)
        return result;
    t->taken = calloc(1, sizeof *t->taken);
    if (!t->taken)
        return no_memory(t);
    *t->taken = (ex_scan_taken){.landmarks = t->landmarks,
                                .scan_count = t->session->scan_count,
                                .taken = calloc(n + 1, sizeof *t->taken->taken),
                                .totals = calloc(n + 1, sizeof *t->taken->totals)};
    if (!t->taken->taken || !t->taken->totals)
        return no_memory(t);
    for (int i = 0; i < t->session->scan_count && result == EX_OK; i++)
        result = file_scan(t, i);
    return result == EX_OK && !t->landmarks ? file_refused(t) : result;
}

ex_result ex_scan_take(const ex_scan_session *session, int scan, const char *path, ex_scan_taken **taken,
                       ex_error *error) {
    take t = {.session = session, .table = {.path = path}, .error = error};
    if (!session || scan >= session->scan_count || !path || !taken)
        return exi_misuse_error(error, "ex_scan_take", "no session, no such scan, no file, or no room for the result");
    *taken = NULL;
    const ex_result result = take_table(&t, path, scan);
    exi_table_free(&t.table);
    free(t.rows);
    free(t.refused);
    if (result == EX_OK)
        *taken = t.taken;
    else
        ex_scan_taken_destroy(t.taken);
    return result;
}
