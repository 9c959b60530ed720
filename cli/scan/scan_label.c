/* exemplar scan label - names markers of scans: automatically, from a table, or by hand on a page. */
#include "scan.h"

#include "cli/base/emit.h"
#include "cli/base/files.h"
#include "common/pool.h"

#include "common/array.h"

#include <stdlib.h>
#include <string.h>

static const char *csv, *page, *scan_name;
static bool force, landmarks;

static const ex_option options[] = {
    {.name = "csv",
     .argument = "FILE.csv",
     .help = "take names that a page gave, or a table [scan,]marker,x,y,z. Without the column, it is of the scan that "
             "the file is named after, or of --scan",
     .text = &csv},
    {.name = "page",
     .argument = "FILE.html",
     .help = "write a page: to name markers of --scan, or of the reference and all scans with doubtful markers; or to "
             "click landmarks of --scan, or of all scans",
     .text = &page},
    {.name = "landmarks",
     .help = "with --page: a page to click landmarks, for a template person; default if the session has no table of "
             "markers",
     .flag = &landmarks},
    {.name = "scan",
     .argument = "NAME",
     .help = "name of the scan; alone: label it with the skeleton of fit.json",
     .text = &scan_name},
    {.name = "force", .letter = 'f', .help = "label scans again that were labelled automatically", .flag = &force},
};

/* ---- the result ---- */

static void print_json(const ex_scan_session *session, const ex_scan_labelling *labels) {
    const ex_site *sites = session->kinematics->sites;
    exi_emitter json = exi_emit_start(stdout);
    exi_emit_open(&json, NULL, '{');
    exi_emit_text(&json, "session", session->folder);
    exi_emit_open(&json, "scans", '[');
    for (int i = 0; i < labels->scan_count; i++) {
        exi_emit_open(&json, NULL, '{');
        exi_emit_text(&json, "name", session->scans[i].name);
        exi_emit_number(&json, "found", labels->found[i]);
        exi_emit_number(&json, "sure", labels->sure[i]);
        exi_emit_number(&json, "by_hand", labels->by_hand[i]);
        exi_emit_number(&json, "not_found", labels->not_found[i]);
        exi_emit_bool(&json, "kept", labels->kept[i]);
        exi_emit_close(&json, '}');
    }
    exi_emit_close(&json, ']');
    exi_emit_open(&json, "doubtful", '[');
    for (int i = 0; i < labels->doubt_count; i++) {
        const ex_doubt *doubt = &labels->doubts[i];
        exi_emit_open(&json, NULL, '{');
        exi_emit_text(&json, "scan", session->scans[doubt->scan].name);
        exi_emit_text(&json, "marker", sites[doubt->site].name);
        exi_emit_text(&json, "other", doubt->other >= 0 ? sites[doubt->other].name : NULL);
        exi_emit_number(&json, "confidence", doubt->confidence);
        exi_emit_numbers(&json, "at", doubt->position, 3);
        exi_emit_close(&json, '}');
    }
    exi_emit_close(&json, ']');
    exi_emit_close(&json, '}');
    exi_emit_end(&json);
}

static void print_text(const ex_scan_session *session, const ex_scan_labelling *labels) {
    const ex_site *sites = session->kinematics->sites;
    char count[EXI_TEXT_SIZE];
    int found = 0, sure = 0, not_found = 0, kept = 0;
    for (int i = 0; i < labels->scan_count; i++) {
        found += labels->found[i];
        sure += labels->sure[i] - labels->not_found[i];
        not_found += labels->not_found[i];
        kept += labels->kept[i] && i != session->reference;
    }
    exi_print("%s: %s, %d markers found, %d of them named for sure, %d doubtful", session->folder,
              exi_text_count(count, labels->scan_count, "scan"), found, sure, labels->doubt_count);
    if (not_found > 0)
        exi_print("; %d more named by hand, where none was found", not_found);
    if (kept > 0)
        exi_print("; %s labelled before and left alone", exi_text_count(count, kept, "scan"));
    exi_print("\n");
    if (labels->doubt_count > 0)
        exi_print("  %-16s %-16s %10s  %s\n", "scan", "marker", "confidence", "or");
    for (int i = 0; i < labels->doubt_count; i++) {
        const ex_doubt *doubt = &labels->doubts[i];
        exi_print("  %-16s %-16s %10.2f  %s\n", session->scans[doubt->scan].name, sites[doubt->site].name,
                  doubt->confidence, doubt->other >= 0 ? sites[doubt->other].name : "");
    }
}

/* Warns about scans in which nothing is certain: they have nothing in common with the reference, or their names agree
 * with each other and not with those of the other scans. */
static int warn(const ex_scan_session *session, const ex_scan_labelling *labels, const bool *only) {
    int exit_code = EX_EXIT_DONE;
    for (int i = 0; i < labels->scan_count; i++) {
        int doubts = 0;
        if (only && !only[i])
            continue;
        for (int d = 0; d < labels->doubt_count; d++)
            doubts += labels->doubts[d].scan == i;
        if (labels->sure[i] == 0 && doubts > 0)
            exit_code = exi_failed_text(
                "scan '%s' is left out: its %d markers do not fit the skeleton of the other scans: it shows another "
                "person, or a limb was taken for another: name some by hand (--page)",
                session->scans[i].name, labels->found[i]);
        else if (labels->sure[i] == 0)
            exit_code =
                exi_failed_text("scan '%s' seems to have no marker in common with the reference '%s', among the %d "
                                "found on it: name some by hand (--page)",
                                session->scans[i].name, session->scans[session->reference].name, labels->found[i]);
    }
    return exit_code;
}

/* ---- the three ways ---- */

/* True if markers were found on all scans; false after printing an error. Notes the labels that are older than the
 * markers. */
static bool check_found(const ex_scan_session *session, const bool *only, bool *redo) {
    for (int i = 0; i < session->scan_count; i++) {
        if (only && !only[i])
            continue;
        char *found = ex_scan_path(session, "found", session->scans[i].name, ".csv");
        char *labels = ex_scan_path(session, "labels", session->scans[i].name, ".csv");
        const bool memory = found && labels, there = memory && exi_file_exists(found);
        if (!memory)
            exi_failed_memory();
        else if (!there)
            exi_failed_text("'%s' does not exist yet: 'exemplar scan markers %s' makes it", found, session->folder);
        else
            redo[i] = force || !exi_scan_is_newer(labels, found);
        free(found);
        free(labels);
        if (!there)
            return false;
    }
    return true;
}

/* only, known: of --scan; else NULL. */
static int label(const ex_call *call, const ex_scan_session *session, const bool *only, const ex_scan_fitted *known) {
    bool *redo = array_allocate((size_t)session->scan_count, sizeof *redo);
    exi_progress progress;
    ex_error error = {0};
    ex_scan_labelling *labels = NULL;
    if (!redo)
        return exi_failed_memory();
    if (!check_found(session, only, redo)) {
        free(redo);
        return EX_EXIT_FAILED;
    }
    exi_pool *pool = exi_pool_create(call->threads);
    exi_progress_start(&progress, call);
    const ex_scan_label_options how = {
        .redo = redo, .progress = &progress.hook, .tasks = exi_pool_tasks(pool), .known = known, .only = only};
    const ex_result result = ex_scan_label(session, &how, &labels, &error);
    exi_progress_end(&progress);
    exi_pool_destroy(pool);
    free(redo);
    if (result != EX_OK)
        return exi_failed(&error);
    if (call->json)
        print_json(session, labels);
    else if (!call->quiet)
        print_text(session, labels);
    const int exit_code = warn(session, labels, only);
    ex_scan_labelling_destroy(labels);
    return exit_code;
}

/* Labels one scan with the skeleton of fit.json. */
static int label_one(const ex_call *call, const ex_scan_session *session) {
    bool *only = array_allocate((size_t)session->scan_count, sizeof *only);
    const int scan = exi_scan_find(session, scan_name);
    ex_scan_fitted *known = only && scan >= 0 ? exi_scan_open_fit(session) : NULL;
    int exit_code = only ? EX_EXIT_FAILED : exi_failed_memory();
    for (int i = 0; known && i < session->scan_count; i++)
        only[i] = i == scan;
    if (known)
        exit_code = label(call, session, only, known);
    ex_scan_fitted_destroy(known);
    free(only);
    return exit_code;
}

/* Prints what was filed, and which scans need more landmarks. */
static void print_taken(const ex_scan_session *session, const ex_scan_taken *taken) {
    enum { LEAST = 6 };
    const char *kind = taken->landmarks ? "landmarks" : "labels";
    char counted[EXI_TEXT_SIZE];
    for (int i = 0; i < taken->scan_count; i++) {
        if (taken->taken[i] == 0)
            continue;
        exi_print("%s/%s.csv: %s taken from %s", kind, session->scans[i].name,
                  exi_text_count(counted, taken->taken[i], taken->landmarks ? "landmark" : "label"), csv);
        if (taken->totals[i] != taken->taken[i])
            exi_print(", it has %d now", taken->totals[i]);
        if (taken->landmarks && taken->totals[i] < LEAST)
            exi_print("; it needs %d more", LEAST - taken->totals[i]);
        exi_print("\n");
    }
}

/* A table without the column is of --scan, or of the scan that it is named after. */
static int take(const ex_call *call, const ex_scan_session *session) {
    ex_error error = {0};
    ex_scan_taken *taken = NULL;
    char *stem = exi_path_stem(csv);
    int scan = -1, exit_code = EX_EXIT_FAILED;
    if (!stem) {
        exi_failed_memory();
    } else if (scan_name && (scan = exi_scan_find(session, scan_name)) < 0) {
        /* said */
    } else {
        scan = scan_name ? scan : ex_scan_session_find(session, stem);
        if (ex_scan_take(session, scan, csv, &taken, &error) == EX_OK) {
            exit_code = EX_EXIT_DONE;
            if (!call->quiet)
                print_taken(session, taken);
        } else {
            exi_failed(&error);
        }
    }
    ex_scan_taken_destroy(taken);
    free(stem);
    return exit_code;
}

/* True for the reference, and for scans with uncertain labels. */
static bool is_doubtful(const ex_scan_session *session, int scan) {
    ex_labelled *labelled = NULL;
    ex_found_marker *found = NULL;
    int count = 0, found_count = 0, sure = 0;
    char *path = ex_scan_path(session, "labels", session->scans[scan].name, ".csv");
    char *spots = ex_scan_path(session, "found", session->scans[scan].name, ".csv");
    if (path && exi_file_exists(path))
        ex_scan_labels_read(session, path, &labelled, &count, NULL);
    if (spots)
        ex_scan_found_read(session, spots, &found, &found_count, NULL);
    bool doubtful = count == 0 || scan == session->reference;
    for (int i = 0; i < count; i++) {
        doubtful = doubtful || labelled[i].confidence < EX_LABEL_SURE;
        sure++;
    }
    ex_labels_free(labelled, count);
    free(found);
    free(path);
    free(spots);
    return doubtful || 2 * sure < found_count;
}

/* Chooses the scans of a page; returns their number, 0 after printing an error. */
static int choose_scans(const ex_scan_session *session, int *scans) {
    int count = 0;
    const int only = scan_name ? exi_scan_find(session, scan_name) : -1;
    if (scan_name && only < 0)
        return 0;
    if (landmarks && !scan_name)
        scans[count++] = session->reference;
    for (int i = 0; i < session->scan_count; i++)
        if (scan_name ? i == only : landmarks ? i != session->reference : is_doubtful(session, i))
            scans[count++] = i;
    return count;
}

static int write_page(const ex_call *call, const ex_scan_session *session) {
    int *scans = array_allocate((size_t)session->scan_count, sizeof *scans), count = 0, exit_code = EX_EXIT_FAILED;
    bool *redo = array_allocate((size_t)session->scan_count, sizeof *redo);
    exi_progress progress;
    ex_error error = {0};
    char counted[EXI_TEXT_SIZE], bytes[EXI_TEXT_SIZE];
    landmarks = landmarks || (session->person && !session->markers);
    if (!scans || !redo)
        exit_code = exi_failed_memory();
    else if (!exi_output_check(call->command, page, ".html", NULL, &exit_code))
        count = 0;
    else if (landmarks || check_found(session, NULL, redo))
        count = choose_scans(session, scans);
    if (count > 0) {
        exi_pool *pool = exi_pool_create(call->threads);
        exi_progress_start(&progress, call);
        const ex_result result =
            landmarks ? ex_scan_landmark_page(session, scans, count, page, &progress.hook, &error)
                      : ex_scan_label_page(session, scans, count, page, &progress.hook, exi_pool_tasks(pool), &error);
        exi_progress_end(&progress);
        exi_pool_destroy(pool);
        exit_code = result == EX_OK ? EX_EXIT_DONE : exi_failed(&error);
        if (result == EX_OK && !call->quiet)
            exi_print("%s: %s, %s\n", page, exi_text_count(counted, count, "scan"),
                      exi_text_bytes(bytes, exi_file_size(page)));
    }
    free(scans);
    free(redo);
    return exit_code;
}

static int run(const ex_call *call) {
    if (csv && page)
        return exi_wrong_usage(call->command, "--csv and --page do not go together: run one after the other");
    if (landmarks && !page)
        return exi_wrong_usage(call->command, "--landmarks goes with --page: it writes a page to click them on");
    const bool alone = scan_name && !csv && !page; /* several at the same time, each with a file of its own */
    ex_scan_session *session = page || alone ? exi_scan_open(call) : exi_scan_open_to_change(call);
    if (!session)
        return EX_EXIT_FAILED;
    int exit_code = EX_EXIT_FAILED;
    if (page)
        exit_code = write_page(call, session);
    else if (exi_scan_can_write(session, "labels", "") &&
             (!csv || !session->person || exi_scan_can_write(session, "landmarks", "")))
        exit_code = csv ? take(call, session) : alone ? label_one(call, session) : label(call, session, NULL, NULL);
    ex_scan_session_destroy(session);
    return exit_code;
}

const ex_command cmd_scan_label = {
    .name = "scan label",
    .summary = "name markers of scans, or click landmarks",
    .usage = "scan label DIR [--force] [--json]\n"
             "scan label DIR --scan NAME [--force] [--json]\n"
             "scan label DIR --csv FILE.csv [--scan NAME]\n"
             "scan label DIR --page FILE.html [--landmarks] [--scan NAME]",
    .description = "Names the markers of all scans of a session. It starts from the markers found\n"
                   "on them ('exemplar scan markers') and from the names of the reference scan's\n"
                   "markers in labels/NAME.csv. It uses their colours, distances on a rigid bone,\n"
                   "and the positions that the skeleton allows. Poses need not be known. Bones and\n"
                   "markers are fitted in between, and markers that the reference does not show\n"
                   "are found from other scans.\n"
                   "\n"
                   "labels/NAME.csv of each scan has marker,x,y,z,confidence. A name is sure from\n"
                   "a confidence of 0.9. Doubtful ones are listed, also in labels/doubtful.csv:\n"
                   "answer them on a page (--page), one file for any browser that works without a\n"
                   "network, and hand in the CSV that it gives (--csv). What you answered is never\n"
                   "asked again: a line without confidence was named by hand and is never changed,\n"
                   "and no_markers.csv has spots that are no markers. Scans that were labelled\n"
                   "before are left alone, unless new markers were found on them.\n"
                   "\n"
                   "With --scan alone, names the markers of that scan with the skeleton of fit.json,\n"
                   "from 'scan fit' of other scans. Names depend on no other scan then, and many\n"
                   "processes can name one scan each. 'scan label DIR' lists the doubtful ones.\n"
                   "\n"
                   "For a template person without markers, --page writes a page to click\n"
                   "landmarks: every scan can be turned, and the page says where each landmark is.\n"
                   "Six on every scan are enough to start, a dozen is good. --csv files them in\n"
                   "landmarks/NAME.csv, in the coordinates of the scan's own files. With markers,\n"
                   "--landmarks asks for that page.",
    .examples = "exemplar scan label body\n"
                "exemplar scan label body --page names.html\n"
                "exemplar scan label body --csv ~/Downloads/names.csv\n"
                "exemplar scan label anna --page landmarks.html\n"
                "exemplar scan label anna --csv ~/Downloads/landmarks.csv",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .json = true,
    .argument_min = 1,
    .argument_max = 1,
    .run = run,
};
