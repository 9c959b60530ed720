/*
 * Labels a session: makes labels/ from found/ and from names given by hand.
 *
 * A scan that already has automatic labels is left alone unless it is to be labelled again; it still helps to find
 * bones and markers. Names given by hand are kept as in the file, before the added ones.
 */
#include "author/base/arena.h"
#include "author/base/array.h"
#include "author/scan/label/label_scans.h"
#include "author/scan/session/session.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <exemplar/author/base.h>
#include <exemplar/author/files.h>

#include <stdlib.h>
#include <string.h>

typedef struct work {
    const ex_scan_session *session;
    const ex_scan_label_options *options;
    exi_arena arena;
    ex_label_scan *scans; /* [scan_count] */
    ex_labelled **files;  /* [scan_count]: contents of labels/ */
    int *file_counts;
    ex_found_marker **found;
    ex_label **labels;
    exi_refused *refused; /* spots that are no markers, as someone said */
    int refused_count;
    ex_scan_labelling *result;
} work;

/* ---- files ---- */

ex_result exi_label_check_names(const ex_scan_session *session, const char *path, const ex_labelled *rows, int count,
                                ex_error *error) {
    const ex_kinematics *k = session->kinematics;
    for (int i = 0; i < count; i++) {
        if (ex_kinematics_find_site(k, rows[i].name) >= 0)
            continue;
        const char **names = exi_array_allocate((size_t)k->site_count, sizeof *names);
        for (int s = 0; names && s < k->site_count; s++)
            names[s] = k->sites[s].name;
        const char *near = names ? ex_suggest(rows[i].name, names, k->site_count) : NULL;
        free((void *)names);
        return ex_error_set(error, EX_ERROR_DATA, "%s: the session has no marker '%s'%s%s%s", path, rows[i].name,
                            near ? ": did you mean '" : "", near ? near : "", near ? "'?" : "");
    }
    return EX_OK;
}

ex_result exi_label_read(const ex_scan_session *session, const char *kind, int scan, ex_labelled **labelled, int *count,
                         ex_error *error) {
    char *path = ex_scan_path(session, kind, session->scans[scan].name, ".csv");
    *labelled = NULL;
    *count = 0;
    if (!path)
        return ex_error_memory(error, "a path", 0);
    ex_result result = exi_scan_is_there(path) ? ex_scan_labels_read(session, path, labelled, count, error) : EX_OK;
    if (result == EX_OK && strcmp(kind, "labels") == 0)
        result = exi_label_check_names(session, path, *labelled, *count, error);
    free(path);
    return result;
}

ex_result exi_label_write(const ex_scan_session *session, const char *kind, int scan, const ex_labelled *labelled,
                          int count, ex_error *error) {
    char *path = ex_scan_path(session, kind, session->scans[scan].name, ".csv");
    if (!path)
        return ex_error_memory(error, "a path", 0);
    char *folder = ex_path_join(path, ".");
    ex_result result = folder ? ex_make_directory(folder, error) : ex_error_memory(error, "a path", 0);
    if (result == EX_OK)
        result = ex_scan_labels_write(session, path, labelled, count, error);
    free(folder);
    free(path);
    return result;
}

/* ---- input ---- */

/* Returns the joints that a scan's parts solve for; for the reference only the base. */
static const bool *find_solved(work *w, int scan) {
    const ex_kinematics *k = w->session->kinematics;
    const ex_scan_entry *entry = &w->session->scans[scan];
    bool *solved = exi_arena_allocate(&w->arena, (size_t)k->joint_count, sizeof *solved);
    if (!solved)
        return NULL;
    solved[0] = true;
    for (int p = 0; p < entry->part_count && scan != w->session->reference; p++) {
        const ex_scan_part *part = &w->session->parts[entry->parts[p]];
        for (int i = 0; i < part->solve_count; i++) {
            const int joint = ex_kinematics_find_joint(k, part->solves[i]);
            if (joint >= 0)
                solved[joint] = true;
        }
    }
    return solved;
}

static ex_result read_scan(work *w, int i, ex_error *error) {
    const ex_scan_entry *entry = &w->session->scans[i];
    ex_label_scan *scan = &w->scans[i];
    char *path = ex_scan_path(w->session, "found", entry->name, ".csv");
    if (!path)
        return ex_error_memory(error, "a path", 0);
    ex_result result = ex_scan_found_read(w->session, path, &w->found[i], &scan->found_count, error);
    free(path);
    if (result == EX_OK)
        result = exi_label_read(w->session, "labels", i, &w->files[i], &w->file_counts[i], error);
    if (result != EX_OK)
        return result;
    int markers = 0;
    for (int f = 0; f < scan->found_count; f++)
        if (!exi_is_refused(w->refused, w->refused_count, i, w->found[i][f].position))
            w->found[i][markers++] = w->found[i][f];
    scan->found_count = markers;
    int by_hand = 0; /* those first: the array up to there is final */
    for (int n = 0; n < w->file_counts[i]; n++)
        if (w->files[i][n].by_hand) {
            const ex_labelled label = w->files[i][n];
            memmove(&w->files[i][by_hand + 1], &w->files[i][by_hand], (size_t)(n - by_hand) * sizeof label);
            w->files[i][by_hand++] = label;
        }
    scan->name = entry->name;
    scan->found = w->found[i];
    scan->start = entry->posed ? &entry->pose : NULL;
    scan->solved = find_solved(w, i);
    scan->done = i == w->session->reference ||
                 (by_hand < w->file_counts[i] && !(w->options && w->options->redo && w->options->redo[i]));
    scan->given = w->files[i];
    scan->given_count = scan->done ? w->file_counts[i] : by_hand;
    w->labels[i] = exi_arena_allocate(&w->arena, (size_t)scan->found_count, sizeof **w->labels);
    w->result->found[i] = scan->found_count;
    w->result->by_hand[i] = by_hand;
    w->result->kept[i] = scan->done;
    return scan->solved && w->labels[i] ? EX_OK : ex_error_memory(error, "the labels", 0);
}

/* ---- output ---- */

static ex_result add_doubt(work *w, size_t *capacity, const ex_doubt *doubt, ex_error *error) {
    ex_scan_labelling *r = w->result;
    ex_doubt *grown = exi_array_grow(r->doubts, capacity, (size_t)r->doubt_count + 1, sizeof *grown);
    if (!grown)
        return ex_error_memory(error, "the doubtful markers", (size_t)r->doubt_count * sizeof *grown);
    r->doubts = grown;
    grown[r->doubt_count++] = *doubt;
    return EX_OK;
}

/* Writes the final labels, then the recognised ones. */
static ex_result write_scan(work *w, int i, ex_error *error) {
    const ex_label_scan *scan = &w->scans[i];
    const ex_kinematics *k = w->session->kinematics;
    ex_labelled *rows = exi_array_allocate((size_t)(scan->given_count + scan->found_count), sizeof *rows);
    int count = scan->given_count;
    if (!rows)
        return ex_error_memory(error, "the labels", (size_t)count * sizeof *rows);
    if (count > 0)
        memcpy(rows, scan->given, (size_t)count * sizeof *rows);
    for (int s = 0; s < k->site_count; s++) {
        bool given = false;
        for (int g = 0; g < scan->given_count && !given; g++)
            given = strcmp(scan->given[g].name, k->sites[s].name) == 0;
        for (int f = 0; f < scan->found_count && !given; f++) {
            const ex_label *label = &w->labels[i][f];
            if (label->site != s)
                continue;
            rows[count] = (ex_labelled){.name = k->sites[s].name, .confidence = label->confidence};
            memcpy(rows[count++].position, scan->found[f].position, sizeof rows->position);
        }
    }
    const ex_result result = exi_label_write(w->session, "labels", i, rows, count, error);
    free(rows);
    return result;
}

/* True if a marker was found where the name is. */
static bool was_found(const ex_label_scan *scan, const ex_labelled *named) {
    for (int f = 0; f < scan->found_count; f++) {
        double apart[3];
        exi_subtract(scan->found[f].position, named->position, apart);
        if (exi_dot3(apart, apart) < EXI_SAME_PLACE * EXI_SAME_PLACE)
            return true;
    }
    return false;
}

static ex_result take_stock(work *w, int i, size_t *capacity, ex_error *error) {
    const ex_label_scan *scan = &w->scans[i];
    ex_result result = EX_OK;
    for (int g = 0; g < scan->given_count && result == EX_OK; g++) {
        const ex_labelled *given = &scan->given[g];
        w->result->sure[i] += given->confidence >= EX_LABEL_SURE;
        w->result->not_found[i] += given->confidence >= EX_LABEL_SURE && !was_found(scan, given);
        ex_doubt doubt = {.scan = i,
                          .site = ex_kinematics_find_site(w->session->kinematics, given->name),
                          .other = -1,
                          .confidence = given->confidence};
        memcpy(doubt.position, given->position, sizeof doubt.position);
        if (given->confidence < EX_LABEL_SURE)
            result = add_doubt(w, capacity, &doubt, error);
    }
    for (int f = 0; f < scan->found_count && !scan->done && result == EX_OK; f++) {
        const ex_label *label = &w->labels[i][f];
        bool given = label->site < 0;
        for (int g = 0; g < scan->given_count && !given; g++)
            given = strcmp(scan->given[g].name, w->session->kinematics->sites[label->site].name) == 0;
        if (given)
            continue;
        ex_doubt doubt = {.scan = i, .site = label->site, .other = label->other, .confidence = label->confidence};
        memcpy(doubt.position, scan->found[f].position, sizeof doubt.position);
        w->result->sure[i] += label->confidence >= EX_LABEL_SURE;
        if (label->confidence < EX_LABEL_SURE)
            result = add_doubt(w, capacity, &doubt, error);
    }
    return result;
}

static ex_result write_doubts(const work *w, ex_error *error) {
    const ex_kinematics *k = w->session->kinematics;
    ex_file_writer writer;
    char *path = ex_scan_path(w->session, "labels", "doubtful", ".csv");
    if (!path)
        return ex_error_memory(error, "a path", 0);
    ex_result result = ex_file_open(&writer, path, error);
    free(path);
    if (result != EX_OK)
        return result;
    ex_file_printf(&writer, "scan,marker,x,y,z,confidence,other\n");
    for (int i = 0; i < w->result->doubt_count; i++) {
        const ex_doubt *d = &w->result->doubts[i];
        char number[32];
        double at[3] = {d->position[0], d->position[1], d->position[2]};
        ex_scan_to_files(w->session, at);
        exi_label_write_name(&writer, w->session->scans[d->scan].name);
        ex_file_printf(&writer, ",");
        exi_label_write_name(&writer, k->sites[d->site].name);
        for (int c = 0; c < 3; c++) {
            ex_format_float(number, (float)at[c]);
            ex_file_printf(&writer, ",%s", number);
        }
        ex_format_double(number, (double)(int)(1000 * d->confidence) / 1000);
        ex_file_printf(&writer, ",%s,", number);
        exi_label_write_name(&writer, d->other >= 0 ? k->sites[d->other].name : "");
        ex_file_printf(&writer, "\n");
    }
    return ex_file_commit(&writer, error);
}

/* ---- entry points ---- */

static ex_scan_labelling *create_result(int scan_count) {
    const size_t n = (size_t)scan_count;
    ex_scan_labelling *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    *r = (ex_scan_labelling){.scan_count = scan_count,
                             .found = calloc(n + 1, sizeof *r->found),
                             .sure = calloc(n + 1, sizeof *r->sure),
                             .by_hand = calloc(n + 1, sizeof *r->by_hand),
                             .kept = calloc(n + 1, sizeof *r->kept),
                             .not_found = calloc(n + 1, sizeof *r->not_found)};
    if (r->found && r->sure && r->by_hand && r->kept && r->not_found)
        return r;
    ex_scan_labelling_destroy(r);
    return NULL;
}

void ex_scan_labelling_destroy(ex_scan_labelling *labels) {
    if (!labels)
        return;
    free(labels->found);
    free(labels->sure);
    free(labels->by_hand);
    free(labels->kept);
    free(labels->not_found);
    free(labels->doubts);
    free(labels);
}

/* Poses of the fit to start a scan from. */
enum { OTHERS = 5 };

/* Finds poses of scans near this one in the list; returns their number. */
static int find_others(const work *w, int scan, ex_kin_pose others[OTHERS]) {
    const ex_scan_fitted *known = w->options->known;
    int count = 0;
    for (int away = 1; away < w->session->scan_count && count < OTHERS; away++)
        for (int side = -1; side <= 1 && count < OTHERS; side += 2) {
            const int other = scan + side * away;
            for (int k = 0; k < known->scan_count && other >= 0 && other < w->session->scan_count; k++)
                if (strcmp(known->names[k], w->session->scans[other].name) == 0) {
                    others[count++] = known->poses[k];
                    break;
                }
        }
    return count;
}

/* Labels each of the chosen scans alone, with a skeleton that is known. */
static ex_result label_alone(work *w, ex_error *error) {
    const ex_kinematics *own = w->session->kinematics, *known = w->options->known->kinematics;
    size_t capacity = 0;
    bool same = known->joint_count == own->joint_count && known->site_count == own->site_count;
    for (int s = 0; same && s < own->site_count; s++)
        same = strcmp(known->sites[s].name, own->sites[s].name) == 0;
    if (!same)
        return ex_error_kind(error, ex_error_set(error, EX_ERROR_DATA, "fit.json has other joints or markers"),
                             "old_fit");
    ex_result result = EX_OK;
    for (int i = 0; i < w->session->scan_count && result == EX_OK; i++) {
        ex_kin_pose others[OTHERS];
        if (!w->options->only[i])
            continue;
        result = read_scan(w, i, error);
        if (result == EX_OK && !w->scans[i].done)
            result = exi_label_known(known, &w->scans[i], others, find_others(w, i, others), w->labels[i], error);
        if (result == EX_OK && !w->scans[i].done)
            result = write_scan(w, i, error);
        if (result == EX_OK)
            result = take_stock(w, i, &capacity, error);
    }
    return result;
}

static ex_result label_session(work *w, ex_error *error) {
    const ex_scan_session *session = w->session;
    const size_t n = (size_t)session->scan_count;
    size_t capacity = 0;
    bool any = false;
    ex_result result = EX_OK;
    w->scans = exi_arena_allocate(&w->arena, n, sizeof *w->scans);
    w->files = exi_arena_allocate(&w->arena, n, sizeof *w->files);
    w->file_counts = exi_arena_allocate(&w->arena, n, sizeof *w->file_counts);
    w->found = exi_arena_allocate(&w->arena, n, sizeof *w->found);
    w->labels = exi_arena_allocate(&w->arena, n, sizeof *w->labels);
    w->result = create_result(session->scan_count);
    if (!w->scans || !w->files || !w->file_counts || !w->found || !w->labels || !w->result)
        return ex_error_memory(error, "the labels", n * sizeof *w->scans);
    result = exi_refused_read(session, &w->refused, &w->refused_count, error);
    if (result == EX_OK && w->options && w->options->known && w->options->only)
        return label_alone(w, error);
    for (int i = 0; i < session->scan_count && result == EX_OK; i++) {
        result = read_scan(w, i, error);
        any = any || !w->scans[i].done;
    }
    if (result == EX_OK && w->file_counts[session->reference] == 0)
        result =
            ex_error_set(error, EX_ERROR_DATA, "the reference scan '%s' has no labels: name its markers by hand first",
                         session->scans[session->reference].name);
    const ex_label_scans_def def = {.kinematics = session->kinematics,
                                    .scan_count = session->scan_count,
                                    .scans = w->scans,
                                    .reference = session->reference,
                                    .progress = w->options ? w->options->progress : NULL,
                                    .tasks = w->options ? w->options->tasks : NULL};
    if (result == EX_OK && any)
        result = ex_label_scans(&def, w->labels, NULL, error);
    for (int i = 0; i < session->scan_count && result == EX_OK; i++) {
        if (!w->scans[i].done)
            result = write_scan(w, i, error);
        if (result == EX_OK)
            result = take_stock(w, i, &capacity, error);
    }
    return result == EX_OK ? write_doubts(w, error) : result;
}

ex_result ex_scan_label(const ex_scan_session *session, const ex_scan_label_options *options,
                        ex_scan_labelling **labels, ex_error *error) {
    work w = {.session = session, .options = options};
    if (!session || !labels)
        return exi_misuse_error(error, "ex_scan_label", "no session, or no room for the result");
    *labels = NULL;
    const ex_result result = label_session(&w, error);
    for (int i = 0; w.files && w.found && w.file_counts && i < session->scan_count; i++) {
        ex_labels_free(w.files[i], w.file_counts[i]);
        free(w.found[i]);
    }
    free(w.refused);
    exi_arena_free(&w.arena);
    if (result == EX_OK)
        *labels = w.result;
    else
        ex_scan_labelling_destroy(w.result);
    return result;
}
