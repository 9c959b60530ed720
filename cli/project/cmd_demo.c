/* exemplar demo - writes and builds sample projects that the program itself generates. */
#define _POSIX_C_SOURCE 200809L

#include "cli/base/command.h"
#include "cli/base/emit.h"
#include "cli/base/files.h"
#include "cli/base/interrupt.h"
#include "cli/base/keep.h"
#include "cli/base/lock.h"
#include "cli/base/report.h"
#include "cli/base/rigs.h"
#include "common/pool.h"

#include "demos/demos.h"

#include <exemplar/author/base.h>
#include <exemplar/author/files.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *output;
static bool force, all, quick;
static int takes;

static const ex_option options[] = {
    {.name = "output",
     .letter = 'o',
     .argument = "DIR",
     .help = "output folder (default: ./NAME); without NAME, write the quick demos, each into its own folder in it",
     .text = &output},
    {.name = "force",
     .letter = 'f',
     .help = "write into a folder that is not empty, and overwrite files of the same names",
     .flag = &force},
    {.name = "all", .help = "without NAME: also the slow and large demos", .flag = &all},
    {.name = "quick", .help = "body: a coarse one from a dozen scans, in seconds", .flag = &quick},
    {.name = "takes",
     .argument = "N",
     .help =
         "sleeve, shirt, outfit: simulate this many further motions, driver_take_01.pc2 and so on, to learn from with "
         "'drive learn --method motion'",
     .count = &takes,
     .count_max = 99},
};

/* Writes a demo into a folder and builds it there. */
static ex_result fill(const ex_demo *demo, const char *folder, const exi_demo_options *how, ex_rig **rig,
                      ex_error *error) {
    const ex_build_options building = {.progress = how->progress, .tasks = how->tasks};
    char *project_path = exi_path_inside(folder, demo->name, ".json");
    char *rig_path = exi_path_inside(folder, demo->name, ".glb");
    ex_project *project = NULL;
    ex_result result = project_path && rig_path ? exi_demo_write(demo, folder, how, error)
                                                : ex_error_memory(error, "a path", strlen(folder));
    if (result == EX_OK)
        result = ex_project_read(project_path, &project, error);
    if (result == EX_OK)
        result = ex_project_build(project, &building, rig, error);
    if (result == EX_OK)
        result = ex_rig_write(rig_path, *rig, error);
    ex_project_destroy(project);
    free(project_path);
    free(rig_path);
    return result;
}

/* The same as a set of files, which appear together; a project that they replace is kept. A session appears step by
 * step, since it can be resumed. */
static ex_result fill_whole(const ex_demo *demo, const char *folder, const exi_demo_options *how, ex_rig **rig,
                            ex_error *error) {
    ex_file_set *set = NULL;
    ex_history_kept *kept = NULL;
    char *project = exi_path_inside("", demo->name, ".json"), *rig_path = exi_path_inside(folder, demo->name, ".glb");
    ex_result result =
        project && rig_path ? ex_file_set_open(folder, false, &set, error) : ex_error_memory(error, "a path", 0);
    if (result == EX_OK)
        result = fill(demo, ex_file_set_folder(set), how, rig, error);
    if (result == EX_OK)
        result = exi_keep_project(folder, demo->name, "replaced by 'demo'", &kept, error);
    if (result == EX_OK)
        result = ex_file_set_commit(set, project, error);
    else
        ex_file_set_abandon(set, error);
    /* The project got its place after the rig, which the editor would take for the rig of an earlier project. */
    if (result == EX_OK)
        (void)utimensat(AT_FDCWD, rig_path, NULL, 0);
    exi_keep_end(kept, result);
    free(project);
    free(rig_path);
    return result;
}

/* Writes and builds one demo into a folder. Returns the rig, or NULL after printing an error or because of an
 * interrupt. */
static ex_rig *make_demo(const ex_call *call, const ex_demo *demo, const char *folder) {
    ex_error error = {.result = EX_OK};
    exi_progress progress;
    ex_rig *rig = NULL;
    exi_pool *pool = exi_pool_create(call->threads);
    ex_result result = ex_make_directory(folder, &error);
    const int lock = result == EX_OK ? exi_lock_folder(folder, call->quiet) : -1;
    exi_interrupt_defer(true);
    exi_progress_start(&progress, call);
    const exi_demo_options how = {
        .progress = &progress.hook, .tasks = exi_pool_tasks(pool), .quick = quick, .takes = takes};
    if (result == EX_OK)
        result = (demo->session ? fill : fill_whole)(demo, folder, &how, &rig, &error);
    exi_lock_release(lock);
    exi_progress_end(&progress);
    exi_interrupt_defer(false);
    exi_pool_destroy(pool);
    if (result != EX_OK) {
        if (!exi_interrupted())
            exi_failed(&error);
        ex_rig_destroy(rig);
        return NULL;
    }
    return rig;
}

/* Prints a value between rest and the far end for up to two dials, so that the suggested commands show something. */
static void print_some_pose(const ex_rig *rig) {
    int printed = 0;
    for (int i = 0; i < ex_rig_input_count(rig) && printed < 2; i++) {
        ex_axis axis = ex_rig_input_axis(rig, i);
        if (axis.kind == EX_AXIS_SCALAR) {
            char number[32];
            double end = axis.max - axis.rest >= axis.rest - axis.min ? axis.max : axis.min;
            ex_format_double(number, axis.rest + 0.75 * (end - axis.rest));
            exi_print(" %s=%s", ex_rig_input_name(rig, i), number);
            printed++;
        }
    }
}

/* A demo in progress. */
typedef struct demo_job {
    const ex_call *call;
    const ex_demo *demo;
    const char *folder;
    char *project, *rig, *posed, *picture; /* paths */
    bool next;                             /* true to print what to try next */
} demo_job;

static void print_next_word(const demo_job *job, const char *word) {
    char *inside = word[0] == '@' ? exi_path_inside(job->folder, word + 1, "") : NULL;
    exi_print(" ");
    exi_print_word(inside                         ? inside
                   : strcmp(word, "RIG") == 0     ? job->rig
                   : strcmp(word, "FOLDER") == 0  ? job->folder
                   : strcmp(word, "OUT.obj") == 0 ? job->posed
                   : strcmp(word, "OUT.png") == 0 ? job->picture
                                                  : word);
    free(inside);
}

/* Prints a command to try next. Of its words, RIG, FOLDER, OUT.obj, OUT.png and POSE stand for what the demo wrote, and
 * @NAME for a file in its folder. */
static void print_next(const demo_job *job, const ex_rig *rig, const char *words) {
    exi_print("  ");
    exi_print_word(job->call->program);
    for (const char *at = words; *at; at += strspn(at, " ")) {
        char word[64];
        const size_t length = strcspn(at, " ");
        snprintf(word, sizeof word, "%.*s", (int)length, at);
        if (length >= sizeof word) /* too long for a word that stands for something */
            exi_print(" %.*s", (int)length, at);
        else if (strcmp(word, "POSE") == 0)
            print_some_pose(rig);
        else
            print_next_word(job, word);
        at += length;
    }
    exi_print("\n");
}

/* Commands for a garment try the learnt rig on the motion that it was not trained on. */
static void print_commands(const demo_job *job, const ex_rig *rig) {
    static const char *const garment[] = {"drive keys RIG",
                                          "drive apply RIG --driver @driver_unseen.pc2 -o @followed.pc2",
                                          "drive report RIG --driver @driver_unseen.pc2 --truth @driven_unseen.pc2 "
                                          "--picture @report.png",
                                          NULL};
    static const char *const other[] = {"info RIG", "weights RIG POSE", "pose RIG POSE -o OUT.obj",
                                        "render RIG POSE -o OUT.png", NULL};
    const char *const *list = job->demo->next ? job->demo->next : job->demo->garment ? garment : other;
    exi_print("\nTry next:\n");
    for (; *list; list++)
        print_next(job, rig, *list);
}

static void print_demo(const demo_job *job, const ex_rig *rig, double seconds) {
    if (job->call->json) {
        exi_rig_print_line(stdout, true, job->rig, rig, seconds, NULL);
        return;
    }
    if (job->call->quiet)
        return;
    exi_print("%s: %s\n%s\n", job->demo->name, job->demo->summary, job->project);
    exi_rig_print_line(stdout, false, job->rig, rig, seconds, NULL);
    if (job->next)
        print_commands(job, rig);
}

/* Keeps an unfinished session, which can be resumed. */
static int leave_session(const demo_job *job) {
    char *scan = exi_path_inside(job->folder, "scan", ".json");
    const char *program = job->call->program;
    if (!exi_interrupted()) {
        free(scan);
        return EX_EXIT_FAILED;
    }
    if (scan && exi_file_exists(scan))
        exi_failed_text("interrupted: finished steps are kept, and '%s scan run %s' continues from there", program,
                        job->folder);
    else
        exi_failed_text("interrupted: finished scans are kept, and the same command with --force continues from there");
    free(scan);
    return exi_interrupted();
}

static int write_job(const demo_job *job) {
    if (!job->project || !job->rig || !job->posed || !job->picture)
        return exi_failed_memory();
    if (!exi_output_new_folder_check(job->folder, force))
        return EX_EXIT_FAILED;
    exi_folder folder;
    if (!exi_folder_note(&folder, job->folder))
        return EX_EXIT_FAILED;
    double start = exi_clock();
    ex_rig *rig = make_demo(job->call, job->demo, job->folder);
    int exit_code = rig ? EX_EXIT_DONE : EX_EXIT_FAILED;
    if (rig)
        print_demo(job, rig, exi_clock() - start);
    else if (job->demo->session)
        exit_code = leave_session(job);
    else
        exi_folder_undo(&folder);
    if (!rig && !job->demo->session && exi_interrupted()) { /* other demos may be there, and stay */
        exi_failed_text("interrupted: what was written of the demo '%s' has been removed", job->demo->name);
        exit_code = exi_interrupted();
    }
    ex_rig_destroy(rig);
    exi_folder_forget(&folder);
    return exit_code;
}

static int write_demo(const ex_call *call, const ex_demo *demo, const char *folder, bool next) {
    demo_job job = {.call = call,
                    .demo = demo,
                    .folder = folder,
                    .project = exi_path_inside(folder, demo->name, ".json"),
                    .rig = exi_path_inside(folder, demo->name, ".glb"),
                    .posed = exi_path_inside(folder, "posed", ".obj"),
                    .picture = exi_path_inside(folder, "posed", ".png"),
                    .next = next};
    int exit_code = write_job(&job);
    free(job.project);
    free(job.rig);
    free(job.posed);
    free(job.picture);
    return exit_code;
}

static int write_all(const ex_call *call) {
    int last = ex_demo_count - 1;
    while (!all && exi_demo_is_long(&ex_demos[last]))
        last--;
    for (int i = 0; i <= last; i++) {
        if (exi_demo_is_long(&ex_demos[i]) && !all)
            continue;
        char *folder = exi_path_inside(output ? output : "", ex_demos[i].name, "");
        int exit_code = folder ? write_demo(call, &ex_demos[i], folder, i == last) : exi_failed_memory();
        free(folder);
        if (exit_code != EX_EXIT_DONE)
            return exit_code;
    }
    return EX_EXIT_DONE;
}

/* Names the demos, with what each shows. */
static int list_demos(const ex_call *call) {
    exi_emitter json = {NULL, false};
    if (call->json) {
        json = exi_emit_start(stdout);
        exi_emit_open(&json, NULL, '{');
        exi_emit_open(&json, "demos", '[');
    }
    for (int i = 0; i < ex_demo_count; i++) {
        const ex_demo *demo = &ex_demos[i];
        if (!call->json) {
            exi_print("%-9s %s\n", demo->name, demo->summary);
            continue;
        }
        exi_emit_open(&json, NULL, '{');
        exi_emit_text(&json, "name", demo->name);
        exi_emit_text(&json, "summary", demo->summary);
        exi_emit_bool(&json, "long", exi_demo_is_long(demo));
        exi_emit_close(&json, '}');
    }
    if (call->json) {
        exi_emit_close(&json, ']');
        exi_emit_close(&json, '}');
        exi_emit_end(&json);
    } else if (!call->quiet) {
        exi_print("\n'%s demo NAME' writes one of them and builds it.\n", call->program);
    }
    return EX_EXIT_DONE;
}

static int unknown_demo(const ex_call *call) {
    const char *candidates[64];
    int count = 0;
    for (; count < ex_demo_count && count < 64; count++)
        candidates[count] = ex_demos[count].name;
    const char *name = call->arguments[0];
    const char *near = ex_suggest(name, candidates, count);
    if (near)
        return exi_wrong_usage(call->command, "there is no demo '%s': did you mean '%s'?", name, near);
    return exi_wrong_usage(call->command, "there is no demo '%s'", name);
}

static int run(const ex_call *call) {
    if (call->argument_count == 0 && (quick || takes > 0))
        return exi_wrong_usage(call->command, "--%s needs the name of a demo", quick ? "quick" : "takes");
    if (call->argument_count == 0)
        return output || all || force ? write_all(call) : list_demos(call);
    for (int i = 0; i < ex_demo_count; i++)
        if (strcmp(ex_demos[i].name, call->arguments[0]) == 0 && quick && strcmp(ex_demos[i].name, "body") != 0)
            return exi_wrong_usage(call->command, "--quick goes with 'body', not with '%s'", ex_demos[i].name);
        else if (strcmp(ex_demos[i].name, call->arguments[0]) == 0 && takes > 0 && !ex_demos[i].garment)
            return exi_wrong_usage(call->command, "--takes goes with 'sleeve', 'shirt' and 'outfit', not with '%s'",
                                   ex_demos[i].name);
        else if (strcmp(ex_demos[i].name, call->arguments[0]) == 0 && all)
            return exi_wrong_usage(call->command, "--all writes every demo: leave out '%s'", ex_demos[i].name);
        else if (strcmp(ex_demos[i].name, call->arguments[0]) == 0)
            return write_demo(call, &ex_demos[i], output ? output : ex_demos[i].name, true);
    return unknown_demo(call);
}

static const char *demo_name(int index) {
    return index < ex_demo_count ? ex_demos[index].name : NULL;
}

const ex_command cmd_demo = {
    .name = "demo",
    .summary = "write and build sample projects",
    .usage = "demo [NAME] [-o DIR] [--force] [--all]\n"
             "demo body [-o DIR] [--quick] [--force]",
    .description = "Writes a project with forms that the program makes itself, builds the rig, and\n"
                   "prints what was written and commands to try next. NAME is one of: blob, arm,\n"
                   "face, elbow, twist, shoulder, emotion, bar, stretch, cylinder, creature,\n"
                   "heads, sleeve, shirt, outfit, human, strides, scanned, body. Without NAME, it\n"
                   "lists them; with -o alone, it writes all but the last seven, which take longer\n"
                   "or more room.\n"
                   "\n"
                   "'human' is a dressed person over gender, age, muscle and weight, with skins,\n"
                   "expressions, sculpts at the joints and a walk. Its folder takes 110 MB.\n"
                   "'strides' has her standing, striding, running and kicking, and mixes these\n"
                   "along paths that turn.\n"
                   "\n"
                   "'sleeve', 'shirt' and 'outfit' simulate cloth on a moving driver and learn\n"
                   "from it, which takes up to a minute. They also write the caches of two\n"
                   "motions: driver_train.pc2 and driven_train.pc2 to learn from,\n"
                   "driver_unseen.pc2 and driven_unseen.pc2 to try the rig on. The driver of\n"
                   "'outfit' is the person of 'human': any motion of hers, baked to a cache, moves\n"
                   "the clothes.\n"
                   "\n"
                   "'scanned' scans a man in clothes in six poses, and makes a body from the scans\n"
                   "with a template person, in about a minute. The folder is a scan session\n"
                   "('exemplar scan') and a project, 70 MB in all.\n"
                   "\n"
                   "'body' makes a person (subject.glb), scans it in 96 poses and makes a body\n"
                   "from the scans, in minutes. The folder is a scan session of 600 MB ('exemplar\n"
                   "scan'); 'exemplar scan run DIR' continues after an interruption.\n"
                   "\n"
                   "A folder that is not empty is left alone unless you give --force.",
    .examples = "exemplar demo\n"
                "exemplar demo blob\n"
                "exemplar demo human\n"
                "exemplar demo shirt\n"
                "exemplar demo body --quick -o person\n"
                "exemplar demo -o demos --force",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .json = true,
    .argument_min = 0,
    .argument_max = 1,
    .argument_name = demo_name,
    .run = run,
};
