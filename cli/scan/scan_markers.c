/* exemplar scan markers - finds markers on the scans of a session. */
#include "scan.h"

#include "cli/base/emit.h"
#include "cli/base/files.h"
#include "cli/base/interrupt.h"
#include "common/pool.h"
#include "cli/drive/drive.h"

#include "common/array.h"

#include <exemplar/author/base.h>
#include <exemplar/author/files.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *size_text, *threshold_text, *picture;
static bool force;

static const ex_option options[] = {
    {.name = "size", .argument = "LENGTH", .help = "width of markers (default: 12mm)", .text = &size_text},
    {.name = "threshold",
     .argument = "T",
     .help = "smallest difference of a marker's colour from the skin, from 0 to 1: 0.05 finds faint markers and false "
             "ones, 0.2 only strong ones (default: found from each scan)",
     .text = &threshold_text},
    {.name = "picture",
     .argument = "DIR",
     .help = "write DIR/NAME.png: each scan from four sides, with rings around the markers found",
     .text = &picture},
    {.name = "force", .help = "search scans again whose markers were found before", .flag = &force},
};

/* One scan to process. */
typedef struct job {
    int scan;
    bool kept; /* true if found by an earlier run */
    ex_found_marker *markers;
    int count;
    ex_result result;
    ex_error error;
} job;

typedef struct work {
    const ex_scan_session *session;
    ex_find_options options;
    bool again;
    job *jobs;
    int first; /* first of those now in progress */
} work;

/* ---- one scan ---- */

static bool is_newest(const ex_scan_session *session, const ex_scan_entry *scan, const char *path) {
    for (int i = 0; i < scan->file_count; i++) {
        char *mesh = exi_path_inside(session->folder, scan->files[i], "");
        const bool newer = mesh && exi_scan_is_newer(path, mesh);
        free(mesh);
        if (!newer)
            return false;
    }
    return true;
}

/* Replaces "view 2: …" in a sentence by the file of that view. */
static void name_view(const ex_scan_entry *scan, ex_error *error) {
    const char *at = error->text + strlen("view "), *end = error->text + strlen(error->text);
    char rest[EX_ERROR_SIZE];
    int view = 0;
    if (scan->file_count > 1 && (strncmp(error->text, "view ", 5) != 0 || !ex_parse_int(&at, end, &view) || view < 1 ||
                                 view > scan->file_count || strncmp(at, ": ", 2) != 0))
        return;
    snprintf(rest, sizeof rest, "%s", scan->file_count > 1 ? at + 2 : error->text);
    snprintf(error->text, sizeof error->text, "%.200s: %.300s", scan->files[view > 0 ? view - 1 : 0], rest);
}

static ex_result find(const work *w, job *j) {
    const ex_scan_entry *scan = &w->session->scans[j->scan];
    char *path = ex_scan_path(w->session, "found", scan->name, ".csv");
    ex_mesh **meshes = NULL;
    ex_result result = EX_OK;
    if (!path) {
        j->error = (ex_error){.result = EX_ERROR_MEMORY, .text = "not enough memory"};
        return EX_ERROR_MEMORY;
    }
    j->kept = !w->again && is_newest(w->session, scan, path);
    if (j->kept) {
        result = ex_scan_found_read(w->session, path, &j->markers, &j->count, &j->error);
    } else {
        result = ex_scan_meshes(w->session, j->scan, &meshes, &j->error);
        if (result == EX_OK) {
            result = ex_find_markers(meshes, scan->file_count, &w->options, &j->markers, &j->count, &j->error);
            if (result == EX_ERROR_DATA)
                name_view(scan, &j->error);
        }
        if (result == EX_OK)
            result = ex_scan_found_write(w->session, path, j->markers, j->count, &j->error);
        for (int i = 0; meshes && i < scan->file_count; i++)
            ex_mesh_destroy(meshes[i]);
        free(meshes);
    }
    free(path);
    return result;
}

static void find_some(void *context, int begin, int end) {
    work *w = context;
    for (int i = begin; i < end; i++)
        w->jobs[w->first + i].result = find(w, &w->jobs[w->first + i]);
}

/* ---- the result ---- */

static int order_counts(const void *a, const void *b) {
    return *(const int *)a - *(const int *)b;
}

/* Usual number of markers on scans whose first part is this one: the median; -1 if there are too few scans. */
static int usual_count(const work *w, int job_count, int part) {
    int *counts = array_allocate((size_t)job_count, sizeof *counts), count = 0;
    for (int i = 0; counts && i < job_count; i++)
        if (w->jobs[i].result == EX_OK && w->session->scans[w->jobs[i].scan].parts[0] == part)
            counts[count++] = w->jobs[i].count;
    if (count > 1)
        qsort(counts, (size_t)count, sizeof *counts, order_counts);
    const int usual = count < 3 ? -1 : counts[count / 2];
    free(counts);
    return usual;
}

/* Warns about scans that are probably wrong. */
static void warn(const work *w, int job_count) {
    const int painted = w->session->kinematics ? w->session->kinematics->site_count : 0;
    char count[EXI_TEXT_SIZE];
    for (int i = 0; i < job_count; i++) {
        const job *j = &w->jobs[i];
        const ex_scan_entry *scan = &w->session->scans[j->scan];
        if (j->result != EX_OK)
            continue;
        const int usual = usual_count(w, job_count, scan->parts[0]);
        exi_text_count(count, j->count, "marker");
        if (j->count == 0)
            exi_failed_text(
                "%s: no marker was found: give their width with --size, or a lower --threshold if they are faint",
                scan->name);
        else if (usual > 0 && j->count < usual / 2)
            exi_failed_text("%s: %s found, but other scans of '%s' show %d: is part of it missing?", scan->name, count,
                            w->session->parts[scan->parts[0]].name, usual);
        else if (painted > 0 && j->count > painted + painted / 10 + 1)
            exi_failed_text(
                "%s: %s found, but only %d were painted: a higher --threshold, or --size, leaves out other spots",
                scan->name, count, painted);
        else if (usual > 0 && j->count > 2 * usual)
            exi_failed_text("%s: %s found, but other scans of '%s' show %d: does it show something else too?",
                            scan->name, count, w->session->parts[scan->parts[0]].name, usual);
    }
}

static void print_json(const work *w, int job_count) {
    exi_emitter json = exi_emit_start(stdout);
    exi_emit_open(&json, NULL, '{');
    exi_emit_text(&json, "session", w->session->folder);
    exi_emit_open(&json, "scans", '[');
    for (int i = 0; i < job_count; i++) {
        const job *j = &w->jobs[i];
        exi_emit_open(&json, NULL, '{');
        exi_emit_text(&json, "name", w->session->scans[j->scan].name);
        exi_emit_number(&json, "markers", j->result == EX_OK ? (double)j->count : (double)NAN);
        exi_emit_bool(&json, "kept", j->kept);
        exi_emit_text(&json, "error", j->result == EX_OK ? NULL : j->error.text);
        exi_emit_close(&json, '}');
    }
    exi_emit_close(&json, ']');
    exi_emit_close(&json, '}');
    exi_emit_end(&json);
}

static void print_text(const work *w, int job_count) {
    char count[EXI_TEXT_SIZE];
    int width = 4, total = 0, scans = 0;
    for (int i = 0; i < job_count; i++) {
        const int length = exi_plain_width(w->session->scans[w->jobs[i].scan].name);
        width = length > width ? length : width;
    }
    for (int i = 0; i < job_count; i++) {
        const job *j = &w->jobs[i];
        if (j->result != EX_OK)
            continue;
        exi_print("  %-*s  %4d%s\n", width, w->session->scans[j->scan].name, j->count, j->kept ? "  kept" : "");
        total += j->count;
        scans++;
    }
    exi_print("%s: %s on ", w->session->folder, exi_text_count(count, total, "marker"));
    exi_print("%s\n", exi_text_count(count, scans, "scan"));
}

/* ---- the command ---- */

/* Chooses the named scans, or all. False after printing an error. */
static bool choose(const ex_call *call, const ex_scan_session *session, job *jobs, int *count) {
    *count = 0;
    for (int i = 0; call->argument_count == 1 && i < session->scan_count; i++)
        jobs[(*count)++].scan = i;
    for (int i = 1; i < call->argument_count; i++) {
        const int scan = ex_scan_session_find(session, call->arguments[i]);
        if (scan < 0) {
            exi_failed_text("there is no scan '%s' in '%s'", call->arguments[i], session->folder);
            return false;
        }
        for (int k = 0; k < *count; k++)
            if (jobs[k].scan == scan) {
                exi_failed_text("scan '%s' is given twice", call->arguments[i]);
                return false;
            }
        jobs[(*count)++].scan = scan;
    }
    return true;
}

static bool draw(const ex_call *call, work *w, int job_count, exi_progress *progress, const ex_tasks *tasks) {
    ex_error error = {0};
    ex_result result = ex_make_directory(picture, &error);
    for (int i = 0; i < job_count && result == EX_OK && !exi_interrupted(); i++) {
        const job *j = &w->jobs[i];
        exi_progress_step(progress, "drawing", (double)i / job_count);
        if (j->result == EX_OK)
            result = exi_scan_draw_found(w->session, j->scan, j->markers, j->count, picture, tasks, &error);
    }
    (void)call;
    exi_progress_end(progress);
    if (result != EX_OK)
        exi_failed(&error);
    return result == EX_OK;
}

static int find_all(const ex_call *call, work *w, int job_count) {
    exi_progress progress;
    ex_error error = {0};
    bool good = true;
    char *folder = ex_scan_path(w->session, "found", "", "");
    const ex_result result = folder ? ex_make_directory(folder, &error) : EX_ERROR_MEMORY;
    free(folder);
    if (result != EX_OK)
        return folder ? exi_failed(&error) : exi_failed_memory();
    exi_pool *pool = exi_pool_create(call->threads);
    const ex_tasks *tasks = exi_pool_tasks(pool);
    exi_progress_start(&progress, call);
    exi_interrupt_defer(true); /* workers write files */
    for (w->first = 0; w->first < job_count && !exi_interrupted(); w->first += call->threads) {
        const int left = job_count - w->first, some = left < call->threads ? left : call->threads;
        exi_progress_step(&progress, "finding markers", (double)w->first / job_count);
        if (tasks)
            tasks->run(tasks->user, some, 1, find_some, w);
        else
            find_some(w, 0, some);
    }
    exi_progress_end(&progress);
    for (int i = 0; i < job_count && !exi_interrupted(); i++)
        if (w->jobs[i].result != EX_OK) {
            exi_failed_text("%s: %s", w->session->scans[w->jobs[i].scan].name, w->jobs[i].error.text);
            good = false;
        }
    if (picture && !exi_interrupted())
        good = draw(call, w, job_count, &progress, tasks) && good;
    exi_interrupt_defer(false);
    exi_pool_destroy(pool);
    if (exi_interrupted()) {
        exi_failed_text("interrupted");
        return exi_interrupted();
    }
    if (call->json)
        print_json(w, job_count);
    else if (!call->quiet)
        print_text(w, job_count);
    if (!call->quiet)
        warn(w, job_count);
    return good ? EX_EXIT_DONE : EX_EXIT_FAILED;
}

static bool read_options(const ex_call *call, ex_find_options *found) {
    const char *at = threshold_text, *end = threshold_text ? threshold_text + strlen(threshold_text) : NULL;
    if (!exi_drive_length_read(call, "size", size_text, &found->size))
        return false;
    if (threshold_text &&
        !(ex_parse_double(&at, end, &found->threshold) && at == end && found->threshold > 0 && found->threshold <= 1)) {
        exi_wrong_usage(call->command, "--threshold needs a number above 0 and up to 1, not '%s'", threshold_text);
        return false;
    }
    if (found->size > 0)
        return true;
    exi_wrong_usage(call->command, "--size needs a length above 0");
    return false;
}

static int run(const ex_call *call) {
    work w = {.options = ex_find_options_default(), .again = force || size_text || threshold_text};
    int job_count = 0, exit_code = EX_EXIT_FAILED;
    if (!read_options(call, &w.options))
        return EX_EXIT_USAGE;
    if (picture && !exi_output_folder_check(picture))
        return EX_EXIT_FAILED;
    ex_scan_session *session = exi_scan_open_to_change(call);
    if (!session)
        return EX_EXIT_FAILED;
    session->points = 0; /* spots of paint need every sample */
    w.session = session;
    w.jobs = calloc((size_t)session->scan_count + 1, sizeof *w.jobs);
    if (!w.jobs)
        exi_failed_memory();
    else if (exi_scan_can_write(session, "found", "") && choose(call, session, w.jobs, &job_count))
        exit_code = find_all(call, &w, job_count);
    for (int i = 0; w.jobs && i < job_count; i++)
        free(w.jobs[i].markers);
    free(w.jobs);
    ex_scan_session_destroy(session);
    return exit_code;
}

const ex_command cmd_scan_markers = {
    .name = "scan markers",
    .summary = "find painted markers on the scans of a session",
    .usage = "scan markers DIR [SCAN ...] [--size LENGTH] [--picture DIR]",
    .description = "Looks for spots of paint on the coloured meshes of a session, or of the scans\n"
                   "that you name, and writes found/SCAN.csv with their positions, colours and\n"
                   "sizes. A marker is a round spot whose colour differs from the skin around it.\n"
                   "Moles are too small, shadows have no rim, and spots at the edge of a view are\n"
                   "left to another view. A marker that several views show becomes one.\n"
                   "\n"
                   "Scans whose markers were found since the scan last changed are skipped, unless\n"
                   "you give --force, --size or --threshold. A scan that cannot be read is named,\n"
                   "and the others go on. A note on stderr names scans with far fewer or more\n"
                   "markers than usual.",
    .examples = "exemplar scan markers body\n"
                "exemplar scan markers body arm_03 --size 10mm --picture look",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .json = true,
    .argument_min = 1,
    .argument_max = -1,
    .run = run,
};
