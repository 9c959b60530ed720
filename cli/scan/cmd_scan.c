/*
 * exemplar scan - builds a posable body from range scans with markers: a command whose subcommands have a help page
 * each (scan_*.c). This file has their shared functions.
 */
#define _POSIX_C_SOURCE 200809L /* struct timespec in struct stat */

#include "scan.h"

#include "cli/base/files.h"
#include "cli/base/lock.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Says what was found about the files, once for all steps of 'scan run'. */
static void say_axes(const ex_scan_session *s) {
    static bool said;
    static const struct {
        double metres;
        const char *name;
    } units[] = {{1, "metres"}, {0.01, "centimetres"}, {0.001, "millimetres"}, {0.0254, "inches"}};
    const char *unit = "metres";
    if (said)
        return;
    said = true;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        unit = s->unit == units[i].metres ? units[i].name : unit;
    if ((s->unit_found && s->unit != 1) || (s->up_found && strcmp(s->up, "y") != 0))
        exi_print_to(stderr,
                     "exemplar: %s: the scans are read in %s with %s up, as %s tells: \"unit\" and \"up\" in "
                     "scan.json say otherwise\n",
                     s->folder, unit, s->up, s->axes_from);
    else if (s->up_open)
        exi_print_to(stderr,
                     "exemplar: %s: %s does not tell which axis of the scans is up: y is taken, and \"up\" in "
                     "scan.json says otherwise\n",
                     s->folder, s->axes_from);
}

ex_scan_session *exi_scan_open(const ex_call *call) {
    ex_scan_session *session = NULL;
    ex_error error = {0};
    if (ex_scan_session_read(call->arguments[0], &session, &error) == EX_OK) {
        if (!call->quiet)
            say_axes(session);
        return session;
    }
    exi_failed(&error);
    return NULL;
}

ex_scan_session *exi_scan_open_to_change(const ex_call *call) {
    static bool locked; /* by an earlier step of 'scan run' */
    if (!locked)
        exi_lock_folder(call->arguments[0], call->quiet);
    locked = true;
    return exi_scan_open(call);
}

int exi_scan_find(const ex_scan_session *session, const char *name) {
    const int scan = ex_scan_session_find(session, name);
    if (scan >= 0)
        return scan;
    const char **names = calloc((size_t)session->scan_count + 1, sizeof *names);
    for (int i = 0; names && i < session->scan_count; i++)
        names[i] = session->scans[i].name;
    const char *near = names ? ex_suggest(name, names, session->scan_count) : NULL;
    free((void *)names);
    exi_failed_text("the session has no scan '%s'%s%s%s", name, near ? ": did you mean '" : "", near ? near : "",
                    near ? "'?" : ": name one with --scan");
    return -1;
}

bool *exi_scan_choose(const ex_scan_session *session, const ex_word_list *names) {
    bool *chosen = calloc((size_t)session->scan_count + 1, sizeof *chosen);
    if (!chosen)
        exi_failed_memory();
    for (int i = 0; chosen && i < names->count; i++) {
        const int scan = exi_scan_find(session, names->words[i]);
        if (scan < 0) {
            free(chosen);
            return NULL;
        }
        chosen[scan] = true;
    }
    return chosen;
}

bool exi_scan_can_write(const ex_scan_session *session, const char *kind, const char *name) {
    char *folder = ex_scan_path(session, "", kind, ""), *path = ex_scan_path(session, kind, name, "");
    bool can = folder && path;
    if (!can)
        exi_failed_memory();
    else if (kind[0])
        can = exi_output_folder_check(folder);
    if (can && name[0] && exi_file_exists(folder))
        can = exi_output_writable(path);
    free(folder);
    free(path);
    return can;
}

ex_scan_fitted *exi_scan_open_fit(const ex_scan_session *session) {
    ex_scan_fitted *fitted = NULL;
    ex_error error = {0};
    char *path = ex_scan_path(session, "", "fit", ".json");
    if (!path)
        exi_failed_memory();
    else if (!exi_file_exists(path))
        exi_failed_text("'%s' does not exist yet: 'exemplar scan fit %s' makes it", path, session->folder);
    else if (ex_scan_fitted_read(path, &fitted, &error) != EX_OK)
        exi_failed(&error);
    free(path);
    return fitted;
}

bool exi_scan_is_newer(const char *made, const char *from) {
    struct stat a, b;
    if (stat(made, &a) != 0 || stat(from, &b) != 0)
        return false;
    return a.st_mtim.tv_sec > b.st_mtim.tv_sec ||
           (a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec >= b.st_mtim.tv_nsec);
}

/* ---- the command ---- */

static const ex_command *const commands[] = {
    /* in the order of the work */
    &cmd_scan_run,   &cmd_scan_simulate, &cmd_scan_markers,  &cmd_scan_label,      &cmd_scan_fit,  &cmd_scan_template,
    &cmd_scan_build, &cmd_scan_report,   &cmd_scan_register, &cmd_scan_articulate, &cmd_scan_carry};
enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

static int run(const ex_call *call) {
    const char *words[COMMAND_COUNT], *word = call->arguments[0];
    for (int i = 0; i < COMMAND_COUNT; i++)
        words[i] = commands[i]->name + strlen("scan ");
    const char *near = ex_suggest(word, words, COMMAND_COUNT);
    if (near)
        return exi_wrong_usage(call->command, "there is no '%s' here: did you mean 'scan %s'?", word, near);
    return exi_wrong_usage(call->command,
                           "there is no '%s' here: use simulate, markers, label, fit, template, build, report, "
                           "register, articulate, carry or run",
                           word);
}

const ex_command cmd_scan = {
    .name = "scan",
    .summary = "make a body that can be posed, from scans of one person",
    .usage = "scan run DIR\n"
             "scan simulate RIG.glb --poses FILE.csv -o DIR\n"
             "scan markers|label|fit|template|carry|build|report DIR ...\n"
             "scan fit FILE.c3d ...\n"
             "scan register TEMPLATE.obj SCAN.ply ... -o OUT.obj\n"
             "scan articulate FILE... -o RIG.glb",
    .description = "A scan session is a folder with a scan.json and the scans of one person in many\n"
                   "poses. With the skeleton \"full\", a template person is carried to the scans:\n"
                   "\n"
                   "  1. give every scan landmarks, or find the markers painted on it and name them\n"
                   "  2. carry the template to the scans, and register it\n"
                   "  3. make a rig from the registered scans\n"
                   "\n"
                   "With other skeletons, a cage is made from the skeleton:\n"
                   "\n"
                   "  1. find the markers on the scans, and name them\n"
                   "  2. fit a skeleton and the poses to the markers\n"
                   "  3. make a cage that follows the skeleton\n"
                   "  4. turn every scan into a map of displacements of the cage's smooth surface,\n"
                   "     and fill its holes\n"
                   "  5. make the maps the examples of a rig\n"
                   "\n"
                   "'scan run' does all steps, and continues where it was stopped. Each command\n"
                   "has its own help page: 'exemplar scan fit -h'.",
    .examples = "exemplar demo body -o body\n"
                "exemplar scan run body\n"
                "exemplar scan report body",
    .argument_min = 1,
    .argument_max = -1,
    .run = run,
    .commands = commands,
    .command_count = COMMAND_COUNT,
};
