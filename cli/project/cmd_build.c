/* exemplar build - builds a rig file from a project. */
#include "cli/base/command.h"
#include "cli/base/files.h"
#include "common/pool.h"
#include "cli/base/report.h"
#include "cli/base/rigs.h"
#include "damped.h"
#include "watch.h"

#include <stdlib.h>
#include <time.h>

static const char *output;
static bool watch;

static const ex_option options[] = {
    {.name = "output",
     .letter = 'o',
     .argument = "RIG.glb",
     .help = "output file (default: beside the project, with .glb instead of .json; - is standard output)",
     .text = &output},
    {.name = "watch",
     .letter = 'w',
     .help = "build again whenever the project or one of its files changes, until Ctrl-C",
     .flag = &watch},
};

/* One build: its result and its notes. */
typedef struct building {
    const ex_call *call;
    const char *path, *target;
    exi_watch watch;
    exi_damped_list damped;
    ex_form_axes axes;         /* of the project's files */
    ex_kept_paths *kept_paths; /* while watching; else NULL */
} building;

/* Prints "14:03:27 " in front of every line while watching. */
static void print_time(const building *b, FILE *file) {
    char text[16];
    const time_t now = time(NULL);
    const struct tm *local = localtime(&now);
    if (watch && !b->call->json && local && strftime(text, sizeof text, "%H:%M:%S", local) > 0)
        exi_print_to(file, "%s ", text);
}

static int failed(const building *b, const ex_error *error) {
    print_time(b, stderr);
    return exi_failed(error);
}

/* A rig written over one of its source files could never be built again. */
static ex_result check_target(const building *b, ex_error *error) {
    const char *source = exi_is_standard_output(b->target) ? NULL : exi_watch_find(&b->watch, b->target);
    if (!source)
        return EX_OK;
    error->result = EX_ERROR_FILE;
    snprintf(error->text, sizeof error->text, "'%s' is a file that the project uses: give another name with -o",
             source);
    return error->result;
}

static ex_result read_project(building *b, ex_project **project, ex_error *error) {
    exi_watch_note(&b->watch);
    ex_result result = ex_project_read(b->path, project, error);
    if (result == EX_OK && !exi_watch_follow(&b->watch, ex_project_get(*project))) {
        *error = (ex_error){.result = EX_ERROR_MEMORY};
        result = EX_ERROR_MEMORY;
    }
    return result == EX_OK ? check_target(b, error) : result;
}

/* Notes a choice or addition of the build. */
static void on_note(void *user, const char *text) {
    const building *b = user;
    print_time(b, stderr);
    exi_print_to(stderr, "exemplar: %s\n", text);
}

/* Reads and builds; NULL after printing an error. */
static ex_rig *build_rig(building *b) {
    ex_error error = {.result = EX_OK};
    ex_project *project = NULL;
    ex_rig *rig = NULL;
    exi_progress progress;
    exi_pool *pool = exi_pool_create(b->call->threads);
    exi_progress_start(&progress, b->call);
    ex_result result = read_project(b, &project, &error);
    if (result == EX_OK) {
        ex_build_options how = {.progress = &progress.hook,
                                .damped = &b->damped.hook,
                                .note = b->call->quiet ? NULL : on_note,
                                .note_user = b,
                                .tasks = exi_pool_tasks(pool),
                                .kept_paths = b->kept_paths};
        result = ex_project_build(project, &how, &rig, &error);
    }
    if (result == EX_OK)
        b->axes = (ex_form_axes){.unit = ex_project_get(project)->unit, .z_up = ex_project_get(project)->z_up};
    exi_progress_end(&progress);
    exi_pool_destroy(pool);
    ex_project_destroy(project);
    if (result != EX_OK)
        failed(b, &error);
    return rig;
}

static int write_rig(const building *b, const ex_rig *rig, double start) {
    const bool to_stdout = exi_is_standard_output(b->target);
    ex_error error = {.result = b->damped.failed ? EX_ERROR_MEMORY : EX_OK};
    if (b->damped.failed || ex_rig_write_for(to_stdout ? "/dev/stdout" : b->target, rig, b->axes, &error) != EX_OK)
        return failed(b, &error);
    if (!b->call->quiet)
        exi_damped_print(&b->damped, rig);
    if ((b->call->json || !b->call->quiet) && !to_stdout) {
        print_time(b, stdout);
        exi_rig_print_line(stdout, b->call->json, b->target, rig, exi_clock() - start, &b->damped);
    }
    return EX_EXIT_DONE;
}

static int build_once(building *b) {
    const double start = exi_clock();
    exi_damped_start(&b->damped);
    ex_rig *rig = build_rig(b);
    const int exit_code = rig ? write_rig(b, rig, start) : EX_EXIT_FAILED;
    exi_damped_free(&b->damped);
    ex_rig_destroy(rig);
    return exit_code;
}

static void say_what_is_watched(const building *b) {
    const int named = b->watch.count - 1;
    if (b->call->quiet)
        return;
    print_time(b, stderr);
    if (named > 0)
        exi_print_to(stderr, "exemplar: watching %s and the %d file%s it is made from, until Ctrl-C\n", b->path, named,
                     named == 1 ? "" : "s");
    else
        exi_print_to(stderr, "exemplar: watching %s, until Ctrl-C\n", b->path);
}

/* Builds after every change, until a signal ends it (interrupt.h). */
static int build_watching(building *b) {
    b->kept_paths = ex_kept_paths_create(0); /* without it, builds are only slower */
    for (bool first = true;; first = false) {
        build_once(b);
        if (fflush(stdout) != 0)
            return EX_EXIT_FAILED; /* main prints the error */
        if (first)
            say_what_is_watched(b);
        exi_watch_wait(&b->watch);
    }
}

static int build(const ex_call *call, const char *path, const char *target) {
    building b = {.call = call, .path = path, .target = target};
    int exit_code = EX_EXIT_DONE;
    if (!exi_output_check(call->command, target, ".glb", path, &exit_code))
        return exit_code;
    if (!exi_watch_start(&b.watch, path))
        exit_code = exi_failed_memory();
    else
        exit_code = watch ? build_watching(&b) : build_once(&b);
    ex_kept_paths_destroy(b.kept_paths);
    exi_watch_free(&b.watch);
    return exit_code;
}

static int run(const ex_call *call) {
    const char *path = call->arguments[0];
    if (output && exi_is_standard_output(output) && (call->json || watch))
        return exi_wrong_usage(call->command, watch ? "--watch needs a file to write to, not standard output"
                                                    : "the rig and --json cannot both go to standard output");
    if (!exi_expect_kind(path, EXI_FILE_PROJECT))
        return EX_EXIT_FAILED;
    if (output)
        return build(call, path, output);
    char *beside = exi_path_with_ending(path, ".glb");
    if (!beside)
        return exi_failed_memory();
    int exit_code = build(call, path, beside);
    free(beside);
    return exit_code;
}

const ex_command cmd_build = {
    .name = "build",
    .summary = "build a project into a rig",
    .usage = "build PROJECT.json [-o RIG.glb] [--watch]",
    .description = "Reads the project and its forms, solves the space of every layer and writes\n"
                   "the rig: a .glb file that the runtime loads and any glTF viewer opens, with\n"
                   "the examples as morph targets. The same project always gives the same bytes.\n"
                   "The file is written completely or not at all.\n"
                   "\n"
                   "Prints one line: vertices, layers, examples, file size, time. Vertices that\n"
                   "skinning makes collapse at an example's pose cannot be un-posed exactly. They\n"
                   "are damped, and listed on stderr with their error.\n"
                   "\n"
                   "With --watch, a build that fails says why, and the next change is tried again.",
    .examples = "exemplar build blob/blob.json\n"
                "exemplar build blob/blob.json --watch\n"
                "exemplar build blob/blob.json -o /tmp/blob.glb --json",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .json = true,
    .argument_min = 1,
    .argument_max = 1,
    .run = run,
};
