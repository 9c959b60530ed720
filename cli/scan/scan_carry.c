/* exemplar scan carry - carries a template person to the scans of a session, and registers it. */
#include "scan.h"

#include "cli/base/emit.h"
#include "cli/base/interrupt.h"
#include "common/pool.h"

#include <stdlib.h>
#include <string.h>

static bool reference_only, screen, figure_only, force;
static ex_word_list names;

static const ex_option options[] = {
    {.name = "force", .help = "do everything again, even if an earlier run left records", .flag = &force},
    {.name = "reference-only", .help = "find figure and pose of the reference alone", .flag = &reference_only},
    {.name = "figure-only", .help = "find the person's figure, and register the reference alone", .flag = &figure_only},
    {.name = "scan",
     .argument = "NAME",
     .help = "register this scan, and do nothing else; may be given several times",
     .words = &names},
    {.name = "screen", .help = "with --scan: only pose it, and see whether it is of this person", .flag = &screen},
};

/* True if a step is about this scan. */
static bool is_about(const ex_scan_session *session, int scan) {
    bool about = names.count == 0;
    for (int i = 0; i < names.count && !about; i++)
        about = strcmp(names.words[i], session->scans[scan].name) == 0;
    return about;
}

static void print_text(const ex_scan_session *session, const ex_scan_carried *carried) {
    char a[EXI_TEXT_SIZE], b[EXI_TEXT_SIZE], c[EXI_TEXT_SIZE], d[EXI_TEXT_SIZE];
    int count = 0;
    exi_print("%-20s %9s %12s %12s %7s\n", "", "points", "of points", "of surface", "seen");
    for (int i = 0; i < carried->scan_count; i++) {
        const ex_carried_scan *scan = &carried->scans[i];
        const bool done = !scan->left_out && is_about(session, scan->scan) && (scan->seen > 0 || !figure_only);
        count += done;
        if (done)
            exi_print("%-20s %9d %12s %12s %5.0f %%\n", session->scans[scan->scan].name, scan->anchor_count,
                      exi_text_length(a, scan->anchor_rms), exi_text_length(b, scan->rms), 100 * scan->seen);
    }
    exi_print("%s: a person of %s in %s, %.1f s\n", session->folder, exi_text_length(c, carried->height),
              exi_text_count(d, count, "scan"), carried->seconds);
}

static void print_left_out(const ex_scan_session *session, const ex_carried_scan *scan) {
    const char *name = session->scans[scan->scan].name;
    char *picture = scan->pictured ? ex_scan_path(session, "look", name, ".png") : NULL;
    exi_failed_text("scan '%s' is left out: %s%s%s", name, scan->reason, picture ? "; see " : "",
                    picture ? picture : "");
    free(picture);
}

static void print_json(const ex_scan_session *session, const ex_scan_carried *carried) {
    exi_emitter json = exi_emit_start(stdout);
    exi_emit_open(&json, NULL, '{');
    exi_emit_text(&json, "session", session->folder);
    exi_emit_number(&json, "height", carried->height);
    exi_emit_text(&json, "unseen", carried->unseen);
    exi_emit_open(&json, "scans", '[');
    for (int i = 0; i < carried->scan_count; i++) {
        const ex_carried_scan *scan = &carried->scans[i];
        exi_emit_open(&json, NULL, '{');
        exi_emit_text(&json, "name", session->scans[scan->scan].name);
        exi_emit_text(&json, "left_out", scan->left_out ? scan->reason : NULL);
        char *picture = scan->pictured ? ex_scan_path(session, "look", session->scans[scan->scan].name, ".png") : NULL;
        exi_emit_text(&json, "picture", picture);
        free(picture);
        exi_emit_number(&json, "points", scan->anchor_count);
        exi_emit_number(&json, "points_rms", scan->anchor_rms);
        exi_emit_number(&json, "figure_rms", scan->figure_rms);
        exi_emit_number(&json, "rms", scan->rms);
        exi_emit_number(&json, "seen", scan->seen);
        exi_emit_number(&json, "flipped", scan->flipped_count);
        exi_emit_number(&json, "scan_points", scan->point_count);
        exi_emit_close(&json, '}');
    }
    exi_emit_close(&json, ']');
    exi_emit_close(&json, '}');
    exi_emit_end(&json);
}

/* Says which scans were thinned. */
static void say_thinned(const ex_scan_session *session, const ex_scan_carried *carried) {
    int count = 0, most = 0;
    for (int i = 0; i < carried->scan_count; i++) {
        count += carried->scans[i].point_count < carried->scans[i].read_count;
        most = carried->scans[i].read_count > carried->scans[most].read_count ? i : most;
    }
    if (count > 0)
        exi_print_to(stderr,
                     "exemplar: %d of %d scans were thinned, '%s' from %d to %d points: \"points\" in scan.json "
                     "sets the limit\n",
                     count, carried->scan_count, session->scans[carried->scans[most].scan].name,
                     carried->scans[most].read_count, carried->scans[most].point_count);
}

/* True if the files of this step can be written. */
static bool can_write(const ex_scan_session *session) {
    if (reference_only || screen)
        return exi_scan_can_write(session, "carried", "");
    if (figure_only || names.count > 0)
        return exi_scan_can_write(session, "carried", "") && exi_scan_can_write(session, "registered", "");
    return exi_scan_can_write(session, "", "fit.json") && exi_scan_can_write(session, "registered", "") &&
           exi_scan_can_write(session, "template", "body.glb");
}

static int check_usage(const ex_call *call) {
    if (screen && names.count == 0)
        return exi_wrong_usage(call->command, "--screen needs the name of a scan: --scan NAME");
    if (reference_only + figure_only + (names.count > 0) > 1)
        return exi_wrong_usage(call->command,
                               "--reference-only, --figure-only and --scan are different steps: give one "
                               "of them");
    return EX_EXIT_DONE;
}

static int run(const ex_call *call) {
    if (check_usage(call) != EX_EXIT_DONE)
        return EX_EXIT_USAGE;
    /* Different scans may be done at the same time: each process writes files of its own. */
    ex_scan_session *session = names.count > 0 ? exi_scan_open(call) : exi_scan_open_to_change(call);
    if (!session)
        return EX_EXIT_FAILED;
    bool *scans = exi_scan_choose(session, &names);
    ex_error error = {0};
    ex_scan_carried *carried = NULL;
    exi_progress progress;
    ex_result result = EX_OK;
    if (!session->person) {
        exi_failed_text(
            "%s: this session has a cage and no template person: \"template\": \"human\" in scan.json gives "
            "it one",
            session->folder);
        free(scans);
        ex_scan_session_destroy(session);
        return EX_EXIT_FAILED;
    }
    if (!scans || !can_write(session)) {
        free(scans);
        ex_scan_session_destroy(session);
        return EX_EXIT_FAILED;
    }
    exi_pool *pool = exi_pool_create(call->threads);
    exi_progress_start(&progress, call);
    const ex_scan_carry_options how = {.progress = &progress.hook,
                                       .tasks = exi_pool_tasks(pool),
                                       .force = force,
                                       .scans = names.count > 0 ? scans : NULL,
                                       .step = reference_only    ? EX_SCAN_CARRY_REFERENCE
                                               : figure_only     ? EX_SCAN_CARRY_FIGURE
                                               : names.count < 1 ? EX_SCAN_CARRY_ALL
                                               : screen          ? EX_SCAN_CARRY_SCREEN
                                                                 : EX_SCAN_CARRY_SCAN};
    result = ex_scan_carry(session, &how, &carried, &error);
    exi_progress_end(&progress);
    exi_pool_destroy(pool);
    for (int i = 0; result == EX_OK && !call->quiet && i < carried->scan_count; i++)
        if (carried->scans[i].left_out && is_about(session, carried->scans[i].scan) && !reference_only)
            print_left_out(session, &carried->scans[i]);
    const bool whole = how.step == EX_SCAN_CARRY_ALL;
    if (result == EX_OK && !call->quiet && whole)
        say_thinned(session, carried);
    if (result == EX_OK && !call->quiet && whole && carried->unseen[0])
        exi_failed_text("no scan shows the skin at these joints, so it is that of a usual person with this figure: %s",
                        carried->unseen);
    if (result != EX_OK)
        exi_failed(&error);
    else if (call->json)
        print_json(session, carried);
    else if (!call->quiet && (whole || how.step == EX_SCAN_CARRY_FIGURE || how.step == EX_SCAN_CARRY_SCAN))
        print_text(session, carried);
    free(scans);
    ex_scan_carried_destroy(carried);
    ex_scan_session_destroy(session);
    return result == EX_OK ? EX_EXIT_DONE : EX_EXIT_FAILED;
}

const ex_command cmd_scan_carry = {
    .name = "scan carry",
    .summary = "carry a template person to the scans, and register it",
    .usage = "scan carry DIR [--force]\n"
             "scan carry DIR --reference-only | --figure-only [--force]\n"
             "scan carry DIR --scan NAME ... [--screen] [--force]",
    .description = "Finds the figure of the person and the pose of every scan, then moves the\n"
                   "template's skin onto each scan. Nothing has to be measured. The reference scan\n"
                   "needs landmarks (landmarks/NAME.csv) or named markers (labels/NAME.csv), at\n"
                   "least six, spread over the body; so do the others, with the same names. The\n"
                   "template knows the landmarks head_top, nose, chin, neck_back, breastbone, navel,\n"
                   "and with .L or .R: shoulder_top, elbow_tip, wrist_top, fingertip, knee,\n"
                   "ankle_outside, heel, toe_tip. Frames of a sequence (\"frames\" in scan.json) need\n"
                   "landmarks on the first alone: each starts from the pose of the last.\n"
                   "Scans are meshes or points in any unit, with any axis up, which are found from\n"
                   "the names, or said by \"unit\" and \"up\" in scan.json.\n"
                   "\n"
                   "Writes registered/NAME.ply, where a vertex is as light as it is sure;\n"
                   "template/body.glb, the person with arms held out; and fit.json, the skeleton\n"
                   "and the poses. Prints how far points and surface are from the template, and how\n"
                   "much of the body each scan shows. A scan that does not show this person is left\n"
                   "out, and the reason goes to stderr; look/NAME.png is a picture of it, with the\n"
                   "template and the points. A reference that is no person is refused in the same\n"
                   "way, with exit status 1.\n"
                   "\n"
                   "The work can be divided among processes, and the files are the same. Run\n"
                   "--reference-only; --scan NAME --screen for every scan, in any order and at the\n"
                   "same time; --figure-only; --scan NAME for every scan, likewise; at last 'scan\n"
                   "carry DIR'. Each leaves records in carried/ for the next. Frames of a sequence\n"
                   "depend on each other: give those of one sequence to one process.",
    .examples = "exemplar scan carry anna\n"
                "exemplar scan carry anna --scan reach --scan squat",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .json = true,
    .argument_min = 1,
    .argument_max = 1,
    .run = run,
};
