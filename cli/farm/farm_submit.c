/*
 * exemplar farm submit, exemplar farm retry - hands tasks to an engine: all that have no piece yet, or those that
 * failed and those behind them.
 */
#define _GNU_SOURCE

#include "farm.h"

#include "cli/base/files.h"
#include "common/array.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *engine, *partition, *time_limit, *memory, *account, *list_output, *program;
static ex_word_list extra;
static int jobs;

#define ENGINE_OPTIONS                                                                                                 \
    {.name = "to",                                                                                                     \
     .values = "local|slurm|list",                                                                                     \
     .argument = "ENGINE",                                                                                             \
     .help = "local: processes on this machine; slurm: arrays of jobs; list: files of commands, for GNU parallel, "    \
             "OpenCue's cuecmd and others (default: local; for retry: the last one)",                                  \
     .text = &engine},                                                                                                 \
        {.name = "jobs",                                                                                               \
         .argument = "N",                                                                                              \
         .help = "local: processes at once (default: the number of cores, over \"threads\" of the job)",               \
         .count = &jobs,                                                                                               \
         .count_max = 1024},                                                                                           \
        {.name = "partition", .argument = "NAME", .help = "slurm: the partition", .text = &partition},                 \
        {.name = "time",                                                                                               \
         .argument = "LIMIT",                                                                                          \
         .help = "slurm: time limit of a task, as sbatch has it",                                                      \
         .text = &time_limit},                                                                                         \
        {.name = "memory",                                                                                             \
         .argument = "SIZE",                                                                                           \
         .help = "slurm: memory of a task, as sbatch --mem has it (default: "                                          \
                 "measured, plus 25%; if nothing was measured, the cluster's)",                                        \
         .text = &memory},                                                                                             \
        {.name = "account", .argument = "NAME", .help = "slurm: the account to charge", .text = &account},             \
        {.name = "sbatch",                                                                                             \
         .argument = "OPTION=VALUE",                                                                                   \
         .help = "slurm: further options of sbatch, without dashes: qos=low nice=100",                                 \
         .words = &extra},                                                                                             \
        {.name = "program",                                                                                            \
         .argument = "COMMAND",                                                                                        \
         .help =                                                                                                       \
             "slurm, list: the tool as tasks call it, such as 'apptainer exec exemplar.sif exemplar' (default: this "  \
             "program's path)",                                                                                        \
         .text = &program},                                                                                            \
    {                                                                                                                  \
        .name = "output", .letter = 'o', .argument = "FILE",                                                           \
        .help = "list: write all commands to this file, stage "                                                        \
                "after stage (default: one file a stage, in DIR)",                                                     \
        .text = &list_output                                                                                           \
    }

static const ex_option options[] = {ENGINE_OPTIONS};

/* ---- engines ---- */

static const struct {
    const char *name;
    int (*submit)(const exi_farm_order *order);
} engines[] = {{"local", exi_farm_to_local}, {"slurm", exi_farm_to_slurm}, {"list", exi_farm_to_list}};
enum { ENGINE_COUNT = (int)(sizeof engines / sizeof engines[0]) };

static int find_engine(const ex_call *call, const char *name) {
    const char *names[ENGINE_COUNT];
    for (int i = 0; i < ENGINE_COUNT; i++) {
        names[i] = engines[i].name;
        if (strcmp(name, names[i]) == 0)
            return i;
    }
    const char *near = ex_suggest(name, names, ENGINE_COUNT);
    if (near)
        exi_wrong_usage(call->command, "there is no engine '%s': did you mean '%s'?", name, near);
    else
        exi_wrong_usage(call->command, "--to needs local, slurm or list, not '%s'", name);
    return -1;
}

/* Writes down how tasks were submitted, for retry. */
static void remember(const exi_farm *farm, const char *name) {
    ex_error error = {.result = EX_OK};
    ex_file_writer writer;
    char *path = exi_farm_path(farm, "submitted", "last.json", "");
    json_t *record = json_pack("{s:s, s:I, s:s, s:s, s:s, s:s, s:s, s:i}", "engine", name, "time",
                               (json_int_t)time(NULL), "partition", partition ? partition : "", "limit",
                               time_limit ? time_limit : "", "memory", memory ? memory : "", "account",
                               account ? account : "", "program", program ? program : "", "jobs", jobs);
    json_t *words = json_array();
    for (int i = 0; i < extra.count; i++)
        json_array_append_new(words, json_string(extra.words[i]));
    json_object_set_new(record, "sbatch", words);
    char *text = record ? json_dumps(record, JSON_INDENT(1)) : NULL;
    if (path && text && ex_file_open_bulk(&writer, path, &error) == EX_OK) {
        ex_file_printf(&writer, "%s\n", text);
        (void)ex_file_commit(&writer, &error);
    }
    free(text);
    free(path);
    json_decref(record);
}

/* Options that were not given again are those of the last submit. The texts stay in `last`. */
static void recall(const json_t *last) {
    const struct {
        const char *key;
        const char **text;
    } texts[] = {{"engine", &engine}, {"partition", &partition}, {"limit", &time_limit},
                 {"memory", &memory}, {"account", &account},     {"program", &program}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!*texts[i].text && exi_farm_text(last, texts[i].key)[0])
            *texts[i].text = exi_farm_text(last, texts[i].key);
    if (!jobs)
        jobs = (int)exi_farm_number(last, "jobs");
    const json_t *words = json_object_get(last, "sbatch");
    for (size_t i = 0; extra.count < EX_WORDS_MAX && i < json_array_size(words); i++)
        extra.words[extra.count++] = json_string_value(json_array_get(words, i));
}

/* ---- which tasks ---- */

/* True if the task needs one that is wanted and comes before it. */
static bool is_behind(const exi_farm *farm, const unsigned char *wanted, int task) {
    const json_t *needs = json_object_get(farm->tasks[task].json, "needs");
    for (size_t i = 0; i < json_array_size(needs); i++)
        if (wanted[json_integer_value(json_array_get(needs, i))])
            return true;
    return false;
}

/* Marks those that a wanted task needs and nobody makes. */
static void want_needs(const exi_farm *farm, const exi_farm_state *states, unsigned char *wanted) {
    for (int i = farm->task_count - 1; i >= 0; i--) {
        const json_t *needs = json_object_get(farm->tasks[i].json, "needs");
        for (size_t k = 0; wanted[i] && k < json_array_size(needs); k++) {
            const int need = (int)json_integer_value(json_array_get(needs, k));
            wanted[need] = wanted[need] || (states[need] != EXI_FARM_DONE && states[need] != EXI_FARM_RUNNING);
        }
    }
}

/* Marks what to run; returns how many, or -1 after an error. failed: receives the failures that are forgotten, by
 * number. */
static int choose(const exi_farm *farm, bool again, unsigned char *wanted, json_t *failed) {
    ex_error error = {.result = EX_OK};
    exi_farm_state *states = array_allocate((size_t)farm->task_count, sizeof *states);
    int count = 0;
    if (!states || exi_farm_states(farm, states, &error) != EX_OK) {
        (void)(states ? exi_failed(&error) : exi_failed_memory());
        free(states);
        return -1;
    }
    for (int i = 0; i < farm->task_count; i++) {
        const bool failure = states[i] == EXI_FARM_FAILED || states[i] == EXI_FARM_LOST;
        wanted[i] = states[i] != EXI_FARM_DONE && (!again || failure);
    }
    if (again)
        want_needs(farm, states, wanted);
    for (int i = 0; i < farm->task_count; i++) {
        wanted[i] = wanted[i] || (states[i] != EXI_FARM_DONE && is_behind(farm, wanted, i));
        if (wanted[i] && (states[i] == EXI_FARM_FAILED || states[i] == EXI_FARM_LOST)) {
            json_t *record = exi_farm_failure(farm, i);
            json_array_append_new(failed, json_pack("[i, o]", i, record ? record : json_pack("{s:s}", "how", "lost")));
            exi_farm_forget(farm, i);
        }
        count += wanted[i];
    }
    free(states);
    return count;
}

/* Tasks that failed before, and were not submitted again, have still failed: else 'farm retry' would pass them over. */
static void keep_failures(const exi_farm *farm, const unsigned char *wanted, const json_t *failed) {
    for (size_t i = 0; i < json_array_size(failed); i++) {
        const json_t *pair = json_array_get(failed, i);
        const int task = (int)json_integer_value(json_array_get(pair, 0));
        if (wanted[task]) /* engines clear those that they have submitted */
            exi_farm_fail_again(farm, task, json_array_get(pair, 1));
    }
}

static void say_nothing_to_do(const exi_farm *farm, bool again, const char *folder) {
    ex_error error = {.result = EX_OK};
    exi_farm_state *states = array_allocate((size_t)farm->task_count, sizeof *states);
    char text[EXI_TEXT_SIZE];
    int left = 0;
    if (states && exi_farm_states(farm, states, &error) == EX_OK)
        for (int i = 0; i < farm->task_count; i++)
            left += states[i] == EXI_FARM_LEFT;
    free(states);
    if (again && left > 0)
        exi_print("No task has failed; %s not begun: 'exemplar farm submit %s' submits what is left.\n",
                  left == 1 ? "1 task has" : (snprintf(text, sizeof text, "%d tasks have", left), text), folder);
    else if (again)
        exi_print("No task has failed.\n");
    else
        exi_print("All tasks are done: 'exemplar farm merge' makes the results.\n");
}

/* An option of another engine that was given; NULL if there is none. */
static const char *stray_of(const char *name) {
    const bool slurm = strcmp(name, "slurm") == 0, list = strcmp(name, "list") == 0;
    return !slurm && partition           ? "partition"
           : !slurm && time_limit        ? "time"
           : !slurm && memory            ? "memory"
           : !slurm && account           ? "account"
           : !slurm && extra.count > 0   ? "sbatch"
           : !list && list_output        ? "output"
           : !list && !slurm && program  ? "program"
           : (list || slurm) && jobs > 0 ? "jobs"
                                         : NULL;
}

static int hand_over(const ex_call *call, bool again) {
    exi_farm farm;
    exi_farm_program here = {.path = NULL};
    ex_error error = {.result = EX_OK};
    json_t *last = NULL;
    if (!exi_farm_open_argument(call, &farm))
        return EX_EXIT_FAILED;
    char *path = exi_farm_path(&farm, "submitted", "last.json", "");
    if (again && path)
        last = json_load_file(path, 0, NULL);
    free(path);
    const char *recalled = exi_farm_text(last, "engine"), *name = engine ? engine : recalled[0] ? recalled : "local";
    const char *stray = stray_of(name);
    const int found = stray ? -1 : find_engine(call, name);
    if (stray)
        exi_wrong_usage(call->command, "--%s does not go with --to %s: 'exemplar farm submit -h' says with which",
                        stray, name);
    recall(last);
    int code = found < 0 ? EX_EXIT_USAGE : EX_EXIT_FAILED;
    unsigned char *wanted = calloc((size_t)farm.task_count + 1, 1);
    json_t *failed = json_array();
    const int count = found < 0          ? -1
                      : wanted && failed ? choose(&farm, again, wanted, failed)
                                         : (exi_failed_memory(), -1);
    if (count == 0) {
        code = EX_EXIT_DONE;
        if (!call->quiet)
            say_nothing_to_do(&farm, again, call->arguments[0]);
    } else if (count > 0 && exi_farm_program_find(call->program, &here, &error) != EX_OK) {
        exi_failed(&error);
    } else if (count > 0) {
        exi_farm_sweep(&farm);
        const bool local = engines[found].submit == exi_farm_to_local;
        if (local)
            remember(&farm, name);
        code = engines[found].submit(&(exi_farm_order){.call = call,
                                                       .farm = &farm,
                                                       .program = &here,
                                                       .command = program,
                                                       .wanted = wanted,
                                                       .jobs = jobs,
                                                       .partition = partition,
                                                       .time = time_limit,
                                                       .memory = memory,
                                                       .account = account,
                                                       .output = list_output,
                                                       .extra = &extra});
        if (code == EX_EXIT_DONE && !local)
            remember(&farm, name);
        else if (!local)
            keep_failures(&farm, wanted, failed);
    }
    free(wanted);
    json_decref(failed);
    exi_farm_program_free(&here);
    exi_farm_close(&farm);
    json_decref(last);
    return code;
}

static int run_submit(const ex_call *call) {
    return hand_over(call, false);
}

static int run_retry(const ex_call *call) {
    return hand_over(call, true);
}

const ex_command cmd_farm_submit = {
    .name = "farm submit",
    .summary = "hand the tasks of a plan to an engine",
    .usage = "farm submit DIR [--to local] [--jobs N]\n"
             "farm submit DIR --to slurm [--partition P] [--time T] ...\n"
             "farm submit DIR --to list [-o FILE]",
    .description = "Runs or submits all tasks that have no piece yet.\n"
                   "\n"
                   "local runs them on this machine and waits. Ctrl-C stops it; the same command\n"
                   "resumes. A process that was killed is started again, three times at most.\n"
                   "\n"
                   "slurm submits one array of jobs a stage (several, if MaxArraySize is smaller);\n"
                   "a stage begins when the one before it has ended. It does not wait: 'exemplar\n"
                   "farm status' says how far it is. The folder must be on a file system that all\n"
                   "nodes see.\n"
                   "\n"
                   "list writes one command a line for any other engine. Commands of a stage are\n"
                   "independent; stages run one after the other.\n"
                   "\n"
                   "Submitting twice is safe, but tasks that are still queued or running are then\n"
                   "run twice.",
    .examples = "exemplar farm submit job\n"
                "exemplar farm submit job --to slurm --partition cpu --time 1:00:00\n"
                "exemplar farm submit job --to list -o commands.txt\n"
                "parallel -j8 < commands.txt",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .argument_min = 1,
    .argument_max = 1,
    .run = run_submit,
};

const ex_command cmd_farm_retry = {
    .name = "farm retry",
    .summary = "submit failed and lost tasks again",
    .usage = "farm retry DIR [--to ENGINE]",
    .description = "Submits the tasks that failed, those of which nothing was heard for a minute,\n"
                   "and those that wait for them. Options that you leave out are those of the last\n"
                   "'exemplar farm submit'.",
    .examples = "exemplar farm retry job\n"
                "exemplar farm retry job --to slurm --memory 16G",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .argument_min = 1,
    .argument_max = 1,
    .run = run_retry,
};
