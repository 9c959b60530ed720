/* exemplar undo, exemplar redo - step through the saved versions of a project. */
#include "cli/base/command.h"
#include "cli/base/emit.h"
#include "cli/base/files.h"
#include "cli/base/interrupt.h"
#include "cli/base/lock.h"
#include "cli/base/report.h"

#include <exemplar/author.h>

#include <string.h>

static int steps = 1;
static bool list;

static const ex_option undo_options[] = {
    {.name = "steps",
     .letter = 'n',
     .argument = "N",
     .help = "number of changes to take back (default: 1)",
     .count = &steps,
     .count_max = EX_HISTORY_MAX},
    {.name = "list", .letter = 'l', .help = "list the saved versions instead", .flag = &list},
};

static const ex_option redo_options[] = {
    {.name = "steps",
     .letter = 'n',
     .argument = "N",
     .help = "number of changes to make again (default: 1)",
     .count = &steps,
     .count_max = EX_HISTORY_MAX},
    {.name = "list", .letter = 'l', .help = "list the saved versions instead", .flag = &list},
};

/* ---- lists ---- */

static void emit_versions(exi_emitter *json, const char *key, const ex_history_version *versions, int count) {
    exi_emit_open(json, key, '[');
    for (int i = 0; i < count; i++) {
        exi_emit_open(json, NULL, '{');
        exi_emit_number(json, "step", i + 1);
        exi_emit_text(json, "what", versions[i].what);
        exi_emit_text(json, "time", versions[i].time);
        exi_emit_close(json, '}');
    }
    exi_emit_close(json, ']');
}

/* "undo  2  2026-03-01 12:30:00  example 'bent' added" */
static void print_versions(const char *verb, const ex_history_version *versions, int count) {
    for (int i = 0; i < count; i++) {
        char time[24] = "";
        snprintf(time, sizeof time, "%.10s %.8s", versions[i].time,
                 strlen(versions[i].time) > 11 ? versions[i].time + 11 : "");
        exi_print("%s %3d  %s  %s\n", verb, i + 1, time, versions[i].what);
    }
}

static void print_list(const ex_call *call, const ex_history *history) {
    if (call->json) {
        exi_emitter json = exi_emit_start(stdout);
        exi_emit_open(&json, NULL, '{');
        emit_versions(&json, "undo", history->undo, history->undo_count);
        emit_versions(&json, "redo", history->redo, history->redo_count);
        exi_emit_close(&json, '}');
        exi_emit_end(&json);
        return;
    }
    print_versions("undo", history->undo, history->undo_count);
    print_versions("redo", history->redo, history->redo_count);
    if (history->undo_count + history->redo_count == 0 && !call->quiet)
        exi_print("%s: no saved versions\n", call->arguments[0]);
}

/* ---- steps ---- */

static int refuse_steps(const ex_call *call, bool redo, int count) {
    const char *path = call->arguments[0];
    if (count == 0)
        return exi_failed_text(redo ? "%s: there is nothing to redo" : "%s: there is nothing to undo", path);
    return exi_failed_text("%s: there %s only %d change%s to %s: 'exemplar undo %s --list' shows %s", path,
                           count == 1 ? "is" : "are", count, count == 1 ? "" : "s", redo ? "redo" : "undo", path,
                           count == 1 ? "it" : "them");
}

/* Goes back to what the file was in between if a step fails: every step can be taken back. */
static ex_result take_steps(const char *path, bool redo, int *made, ex_error *error) {
    ex_result result = EX_OK;
    *made = 0;
    while (*made < steps && result == EX_OK) {
        int one = 0;
        result = ex_history_step(path, redo, &one, error);
        if (result == EX_OK && one == 0)
            break;
        *made += result == EX_OK;
    }
    for (int i = 0; result != EX_OK && i < *made; i++)
        ex_history_step(path, !redo, NULL, NULL);
    return result;
}

static void print_steps(const ex_call *call, bool redo, const ex_history_version *versions, int made) {
    const char *path = call->arguments[0], *verb = redo ? "redone" : "undone";
    if (call->json) {
        exi_emitter json = exi_emit_start(stdout);
        exi_emit_open(&json, NULL, '{');
        exi_emit_text(&json, "project", path);
        emit_versions(&json, verb, versions, made);
        exi_emit_close(&json, '}');
        exi_emit_end(&json);
    } else if (!call->quiet) {
        for (int i = 0; i < made; i++)
            exi_print("%s: %s: %s\n", path, verb, versions[i].what);
    }
}

static int step(const ex_call *call, bool redo) {
    const char *path = call->arguments[0];
    ex_error error = {.result = EX_OK};
    ex_history *history = NULL;
    int made = 0;
    const int lock = list ? -1 : exi_lock_folder_of(path, call->quiet);
    ex_result result = ex_history_read(path, &history, &error);
    int exit_code = EX_EXIT_DONE;
    if (result == EX_OK && list) {
        print_list(call, history);
    } else if (result == EX_OK && steps > (redo ? history->redo_count : history->undo_count)) {
        exit_code = refuse_steps(call, redo, redo ? history->redo_count : history->undo_count);
    } else if (result == EX_OK) {
        exi_interrupt_defer(true);
        result = take_steps(path, redo, &made, &error);
        if (result == EX_OK && made < steps)
            exit_code = refuse_steps(call, redo, made);
        if (result == EX_OK && made > 0)
            print_steps(call, redo, redo ? history->redo : history->undo, made);
    }
    ex_history_destroy(history);
    exi_lock_release(lock);
    return result == EX_OK ? exit_code : exi_failed(&error);
}

static int run(const ex_call *call, bool redo) {
    if (!exi_file_exists(call->arguments[0]) && !list) {
        /* A project that was deleted comes back; only its folder of versions must be there. */
        ex_history *history = NULL;
        ex_error error = {.result = EX_OK};
        const bool known = ex_history_read(call->arguments[0], &history, &error) == EX_OK &&
                           history->undo_count + history->redo_count > 0;
        ex_history_destroy(history);
        if (!known)
            return exi_failed_text("cannot read '%s': No such file or directory", call->arguments[0]);
    } else if (!exi_expect_kind(call->arguments[0], EXI_FILE_PROJECT)) {
        return EX_EXIT_FAILED;
    }
    return step(call, redo);
}

static int run_undo(const ex_call *call) {
    return run(call, false);
}

static int run_redo(const ex_call *call) {
    return run(call, true);
}

const ex_command cmd_undo = {
    .name = "undo",
    .summary = "undo changes to a project",
    .usage = "undo PROJECT.json [--steps N]\n"
             "undo PROJECT.json --list",
    .description = "Brings the project back as it was before the last change by 'exemplar example',\n"
                   "by a save in the editor, or by another 'undo'. The last 100 changes are kept\n"
                   "in the folder .PROJECT.json.versions next to the project. A sculpt's file stays\n"
                   "on disk when its example is removed, so it is there when the example returns.\n"
                   "\n"
                   "What the project is now is kept too: 'exemplar redo' brings it back, also what\n"
                   "you edited by hand. A new change ends that. Build the rig again after undo.\n"
                   "\n"
                   "--list shows what each step takes back, the last change first, with its time in\n"
                   "UTC; then what can be redone.",
    .examples = "exemplar undo arm/arm.json\n"
                "exemplar undo arm/arm.json --steps 3\n"
                "exemplar undo arm/arm.json --list",
    .options = undo_options,
    .option_count = sizeof undo_options / sizeof undo_options[0],
    .json = true,
    .argument_min = 1,
    .argument_max = 1,
    .run = run_undo,
};

const ex_command cmd_redo = {
    .name = "redo",
    .summary = "redo changes that 'undo' took back",
    .usage = "redo PROJECT.json [--steps N]\n"
             "redo PROJECT.json --list",
    .description = "Brings the project back as it was before the last 'exemplar undo'. Nothing can\n"
                   "be redone after another change. Build the rig again afterwards.",
    .examples = "exemplar redo arm/arm.json\n"
                "exemplar redo arm/arm.json --steps 3",
    .options = redo_options,
    .option_count = sizeof redo_options / sizeof redo_options[0],
    .json = true,
    .argument_min = 1,
    .argument_max = 1,
    .run = run_redo,
};
