/* exemplar scan run - runs all steps of a session, from where it stopped. */
#include "scan.h"

#include "cli/base/files.h"

#include <stdlib.h>

static bool force;

static const ex_option options[] = {
    {.name = "force", .help = "do every step again", .flag = &force},
};

/* True if a file of the session is newer than scan.json and than another of its files. */
static bool is_done(const ex_scan_session *session, const char *kind, const char *name, const char *ending,
                    const char *after, const char *after_ending) {
    char *made = ex_scan_path(session, kind, name, ending), *from = ex_scan_path(session, "", after, after_ending);
    char *whole = ex_scan_path(session, "", "scan", ".json");
    const bool done = made && from && whole && exi_scan_is_newer(made, from) && exi_scan_is_newer(made, whole);
    free(made);
    free(from);
    free(whole);
    return done;
}

/* True if the fit is newer than all labels. */
static bool is_fitted(const ex_scan_session *session) {
    char *fit = ex_scan_path(session, "", "fit", ".json");
    bool done = fit && is_done(session, "", "fit", ".json", "scan", ".json");
    for (int i = 0; i < session->scan_count && done; i++) {
        char *labels = ex_scan_path(session, "labels", session->scans[i].name, ".csv");
        done = labels && (!exi_file_exists(labels) || exi_scan_is_newer(fit, labels));
        free(labels);
    }
    free(fit);
    return done;
}

/* True if every scan has labels: then no markers are left to find or name. */
static bool is_labelled(const ex_scan_session *session) {
    bool done = true;
    for (int i = 0; i < session->scan_count && done; i++) {
        char *labels = ex_scan_path(session, "labels", session->scans[i].name, ".csv");
        done = labels && exi_file_exists(labels);
        free(labels);
    }
    return done;
}

/* True if the rig is newer than template and scans. */
static bool is_built(const ex_scan_session *session) {
    char *rig = ex_scan_path(session, "", "body", ".glb");
    bool done = rig && is_done(session, "", "body", ".glb", "template/cage", ".obj");
    for (int i = 0; i < session->scan_count && done; i++)
        for (int k = 0; k < session->scans[i].file_count && done; k++) {
            char *scan = ex_scan_path(session, "", session->scans[i].files[k], "");
            done = scan && exi_scan_is_newer(rig, scan);
            free(scan);
        }
    free(rig);
    return done;
}

/* True if `made` is newer than every scan and all its points. */
static bool is_after_scans(const ex_scan_session *session, const char *made) {
    bool done = made != NULL;
    for (int i = 0; i < session->scan_count && done; i++) {
        const ex_scan_entry *scan = &session->scans[i];
        char *labels = ex_scan_path(session, "labels", scan->name, ".csv");
        char *landmarks = ex_scan_path(session, "landmarks", scan->name, ".csv");
        done = labels && (!exi_file_exists(labels) || exi_scan_is_newer(made, labels)) && landmarks &&
               (!exi_file_exists(landmarks) || exi_scan_is_newer(made, landmarks));
        for (int k = 0; k < scan->file_count && done; k++) {
            char *file = ex_scan_path(session, "", scan->files[k], "");
            done = file && exi_scan_is_newer(made, file);
            free(file);
        }
        free(labels);
        free(landmarks);
    }
    return done;
}

/* True if every scan has labels or landmarks, or is a frame after another: then no markers need to be found and
 * named. */
static bool has_points(const ex_scan_session *session) {
    bool done = true;
    for (int i = 0; i < session->scan_count && done; i++) {
        char *labels = ex_scan_path(session, "labels", session->scans[i].name, ".csv");
        char *landmarks = ex_scan_path(session, "landmarks", session->scans[i].name, ".csv");
        done = session->scans[i].follows || (labels && exi_file_exists(labels)) ||
               (landmarks && exi_file_exists(landmarks));
        free(labels);
        free(landmarks);
    }
    return done;
}

static int do_step(const ex_call *call, const ex_command *command, bool done) {
    ex_call step = *call;
    if (done && !force)
        return EX_EXIT_DONE;
    step.command = command;
    if (!call->quiet)
        exi_print_to(stderr, "exemplar: %s\n", command->summary);
    return command->run(&step);
}

/* The steps of a session with a template person. */
static int run_person(const ex_call *call, const ex_scan_session *session) {
    char *person = ex_scan_path(session, "template", "body", ".glb");
    const bool named = !session->markers || has_points(session);
    int exit_code = named ? EX_EXIT_DONE : do_step(call, &cmd_scan_markers, false);
    if (exit_code == EX_EXIT_DONE && !named)
        exit_code = do_step(call, &cmd_scan_label, false);
    if (exit_code == EX_EXIT_DONE)
        exit_code =
            do_step(call, &cmd_scan_carry,
                    is_done(session, "template", "body", ".glb", "scan", ".json") && is_after_scans(session, person));
    if (exit_code == EX_EXIT_DONE)
        exit_code = do_step(call, &cmd_scan_build, is_done(session, "", "body", ".glb", "template/body", ".glb"));
    if (exit_code == EX_EXIT_DONE)
        exit_code = do_step(call, &cmd_scan_report, false);
    free(person);
    return exit_code;
}

static int run(const ex_call *call) {
    if (exi_scan_is_registered(call->arguments[0]))
        return exi_scan_run_registered(call);
    ex_scan_session *session = exi_scan_open_to_change(call);
    int exit_code = session ? EX_EXIT_DONE : EX_EXIT_FAILED;
    if (session && session->person) {
        exit_code = run_person(call, session);
        ex_scan_session_destroy(session);
        return exit_code;
    }
    if (exit_code == EX_EXIT_DONE)
        exit_code = do_step(call, &cmd_scan_markers, is_labelled(session));
    if (exit_code == EX_EXIT_DONE)
        exit_code = do_step(call, &cmd_scan_label, is_labelled(session));
    if (exit_code == EX_EXIT_DONE)
        exit_code = do_step(call, &cmd_scan_fit, is_fitted(session));
    if (exit_code == EX_EXIT_DONE)
        exit_code = do_step(call, &cmd_scan_template, is_done(session, "template", "cage", ".obj", "fit", ".json"));
    if (exit_code == EX_EXIT_DONE)
        exit_code = do_step(call, &cmd_scan_build, is_built(session));
    if (exit_code == EX_EXIT_DONE)
        exit_code = do_step(call, &cmd_scan_report, false);
    ex_scan_session_destroy(session);
    return exit_code;
}

const ex_command cmd_scan_run = {
    .name = "scan run",
    .summary = "run all steps of a scan session, from where it stopped",
    .usage = "scan run DIR [--force]",
    .description = "Finds markers on the scans, names them, fits the skeleton, makes the template,\n"
                   "the maps and the rig, and reports. Each step does the same as its own command,\n"
                   "and runs only if its result is missing or out of date.\n"
                   "\n"
                   "The labels of the reference scan must exist: labels/NAME.csv, by hand or by\n"
                   "'exemplar scan label --page'.\n"
                   "\n"
                   "A folder without a scan.json but with meshes of the same vertices and faces is\n"
                   "one body in many poses: 'exemplar scan articulate' makes body.glb of them, and\n"
                   "poses.csv. If template.glb is there, it starts from its skeleton and weights.",
    .examples = "exemplar scan run body",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .argument_min = 1,
    .argument_max = 1,
    .run = run,
};
