/* exemplar check - lists everything that is wrong or weak in a project, worst first. */
#include "cli/base/change.h"
#include "cli/base/command.h"
#include "cli/base/files.h"
#include "cli/base/interrupt.h"
#include "cli/base/report.h"
#include "common/pool.h"
#include "findings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int samples, mixtures = -1; /* not given */
static bool mend;

static const ex_option options[] = {
    {.name = "samples",
     .argument = "N",
     .help = "number of points of each space at which weights are checked (default: 4096, at most 10 million)",
     .count = &samples,
     .count_max = 10000000},
    {.name = "mixtures",
     .argument = "N",
     .help = "layers of trajectories: number of random mixtures to measure, besides ten times as many chosen ones "
             "(default: 10); 0: no mixtures at all",
     .count = &mixtures,
     .count_min = -1,
     .count_max = 10000},
    {.name = "mend",
     .help = "apply the remedies that the findings name, and check again: layers whose weights swing become calm. "
             "'exemplar undo' takes it back",
     .flag = &mend},
};

static const char *const headings[] = {
    [EX_SEVERITY_ERROR] = "errors",
    [EX_SEVERITY_WARNING] = "warnings",
    [EX_SEVERITY_NOTE] = "notes",
};

/* Prints the place of a finding, and if there are several layers, the name of its own. */
static void print_place(const ex_project_view *view, const char *where) {
    int layer;
    exi_print("%s", where);
    if (view->layer_count > 1 && sscanf(where, "layers[%d]", &layer) == 1 && layer >= 0 && layer < view->layer_count)
        exi_print(" (%s)", view->layers[layer].name);
}

static void print_group(const ex_project_view *view, const ex_check *check, ex_severity severity) {
    bool any = false;
    for (int i = 0; i < check->finding_count; i++) {
        const ex_finding *finding = &check->findings[i];
        if (finding->severity != severity)
            continue;
        if (!any)
            exi_print("%s:\n", headings[severity]);
        any = true;
        const char *where = finding->where ? finding->where : "";
        exi_print("  ");
        print_place(view, where);
        exi_print("%s%s  [%s]\n", *where ? ": " : "", finding->text, finding->kind);
    }
}

/* Prints the commands that show and mend mixtures. */
static void print_poses(const ex_call *call, const ex_project_view *view, const ex_check *check) {
    char *rig = exi_path_with_ending(call->arguments[0], ".glb");
    for (int i = 0; rig && i < check->finding_count; i++) {
        const ex_finding *finding = &check->findings[i];
        if (finding->severity != EX_SEVERITY_WARNING || !finding->pose)
            continue;
        print_place(view, finding->where);
        exi_print(", after 'exemplar build ");
        exi_print_word(call->arguments[0]);
        exi_print("':\n  exemplar render ");
        exi_print_word(rig);
        exi_print(" %s -o worst.png\n  exemplar pose ", finding->pose);
        exi_print_word(rig);
        exi_print(" %s --level cage --no-normals -o between.obj\n  # sculpt between.obj\n  exemplar example add ",
                  finding->pose);
        exi_print_word(call->arguments[0]);
        exi_print(" --name between --at %s between.obj\n", finding->pose);
    }
    free(rig);
}

/* With --quiet, notes are omitted: errors and warnings are the data. */
static void print_text(const ex_call *call, const ex_project_view *view, const ex_check *check) {
    print_group(view, check, EX_SEVERITY_ERROR);
    print_group(view, check, EX_SEVERITY_WARNING);
    if (call->quiet)
        return;
    print_group(view, check, EX_SEVERITY_NOTE);
    bool remedy = false;
    for (int i = 0; i < check->finding_count; i++)
        remedy = remedy || check->findings[i].remedy;
    if (remedy)
        exi_print("'exemplar check %s --mend' makes layers calm where that helps\n", call->arguments[0]);
    print_poses(call, view, check);
    char errors[EXI_TEXT_SIZE], warnings[EXI_TEXT_SIZE];
    exi_print("%s: %s, %s\n", call->arguments[0], exi_text_count(errors, check->error_count, "error"),
              exi_text_count(warnings, check->warning_count, "warning"));
}

static int unreadable(const ex_call *call, const ex_error *error) {
    if (call->json)
        exi_findings_print_unreadable(stdout, "", error->text);
    return exi_failed(error);
}

/* ---- mending ---- */

/* Returns the layer of a finding with a remedy: its index, or -1. */
static int layer_of(const ex_finding *finding) {
    int layer = -1;
    return finding->remedy && sscanf(finding->where, "layers[%d]", &layer) == 1 ? layer : -1;
}

/* Makes every layer calm that has such a finding. `change` is open. Returns the exit code. */
static int mend_layers(exi_change *change, const ex_check *check) {
    const ex_project_view *view = ex_project_get(change->project);
    ex_error error = {.result = EX_OK};
    int exit_code = EX_EXIT_DONE;
    bool any = false;
    for (int l = 0; exit_code == EX_EXIT_DONE && l < view->layer_count; l++) {
        bool wanted = false;
        for (int i = 0; i < check->finding_count; i++)
            wanted = wanted || layer_of(&check->findings[i]) == l;
        if (!wanted)
            continue;
        char name[EXI_TEXT_SIZE];
        snprintf(name, sizeof name, "%s", view->layers[l].name);
        exit_code = exi_change_end(change, ex_project_calm(change->project, name, &change->options, &error), &error);
        if (exit_code == EX_EXIT_DONE && !change->call->quiet && !change->call->json)
            exi_print("%s: layer '%s' is now calm\n", change->call->arguments[0], name);
        any = true;
        view = ex_project_get(change->project);
    }
    if (!any && !change->call->quiet && !change->call->json)
        exi_print("%s: nothing to mend\n", change->call->arguments[0]);
    return exit_code;
}

static int run_mend(const ex_call *call) {
    exi_change change;
    ex_error error = {.result = EX_OK};
    ex_check *check = NULL;
    if (!exi_change_open(&change, call, call->arguments[0]))
        return EX_EXIT_FAILED;
    /* Nothing that it mends is about mixtures. */
    ex_check_options how = {.sample_count = samples, .mixture_count = -1, .progress = &change.progress.hook};
    const ex_result result = ex_project_check(change.project, &how, &check, &error);
    const int exit_code = result == EX_OK ? mend_layers(&change, check) : exi_change_end(&change, result, &error);
    ex_check_destroy(check);
    exi_change_close(&change);
    return exit_code;
}

static int run(const ex_call *call) {
    if (mend) {
        const int exit_code = run_mend(call);
        if (exit_code != EX_EXIT_DONE)
            return exit_code;
    }
    if (!exi_expect_kind(call->arguments[0], EXI_FILE_PROJECT))
        return EX_EXIT_FAILED;
    ex_error error = {.result = EX_OK};
    ex_project *project = NULL;
    if (ex_project_read(call->arguments[0], &project, &error) != EX_OK)
        return unreadable(call, &error);
    exi_progress progress;
    exi_progress_start(&progress, call);
    exi_pool *pool = exi_pool_create(call->threads);
    ex_check_options how = {.sample_count = samples,
                            .progress = &progress.hook,
                            .mixture_count = mixtures == 0  ? -1
                                             : mixtures > 0 ? mixtures
                                                            : 0,
                            .tasks = exi_pool_tasks(pool)};
    ex_check *check = NULL;
    ex_result result = ex_project_check(project, &how, &check, &error);
    exi_pool_destroy(pool);
    exi_progress_end(&progress);
    if (result == EX_OK && call->json)
        exi_findings_print_json(stdout, check);
    else if (result == EX_OK)
        print_text(call, ex_project_get(project), check);
    ex_project_destroy(project);
    if (result != EX_OK && exi_interrupted()) { /* what was mended stays */
        exi_report_interrupted();
        return exi_interrupted();
    }
    if (result != EX_OK)
        return exi_failed(&error);
    int exit_code = check->error_count > 0 ? EX_EXIT_FAILED : EX_EXIT_DONE;
    ex_check_destroy(check);
    return exit_code;
}

const ex_command cmd_check = {
    .name = "check",
    .summary = "find errors and weak spots in a project",
    .usage = "check PROJECT.json [--mend] [--json]",
    .description = "Reads the whole project and lists all findings, errors first. Each line names\n"
                   "the place in the project file and ends with the kind of finding. It looks for:\n"
                   "\n"
                   "  - examples at the same or nearly the same place, and spaces that are hard to\n"
                   "    solve\n"
                   "  - examples that the others predict badly (leave-one-out), and weights that\n"
                   "    leave [-0.5, 1.5] inside the range, with a remedy that was tried\n"
                   "  - how far an example acts beyond its neighbours\n"
                   "  - forms with another connectivity, and if another vertex order repairs it\n"
                   "  - vertices that cannot be un-posed safely\n"
                   "  - layers that disturb earlier ones\n"
                   "  - paths, and mixtures of examples on them, that stretch or fold more than\n"
                   "    as-rigid-as-possible forms\n"
                   "  - skeletons that do not fit, and skin weights that do not sum to 1\n"
                   "  - surfaces that cannot be subdivided, images of another size, forms in another\n"
                   "    unit, numbers that are not finite\n"
                   "\n"
                   "The exit code is 1 if there are errors; warnings and notes leave it at 0.",
    .examples = "exemplar check blob/blob.json\n"
                "exemplar check blob/blob.json --mend\n"
                "exemplar check blob/blob.json --json --samples 20000",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .json = true,
    .argument_min = 1,
    .argument_max = 1,
    .run = run,
};
