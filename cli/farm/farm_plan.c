/* exemplar farm plan - makes a plan from the description of a job, and says what it will cost. */
#define _GNU_SOURCE

#include "planner.h"

#include "cli/base/emit.h"
#include "cli/base/files.h"
#include "common/array.h"
#include "hash.h"

#include <exemplar/author/cache.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *output, *minutes_text;
static int pieces;
static bool no_sample, any_build;

#define MINUTES_DEFAULT 5.0

static const ex_option options[] = {
    {.name = "output", .letter = 'o', .argument = "DIR", .help = "folder of the plan", .text = &output},
    {.name = "pieces",
     .argument = "N",
     .help = "number of pieces that each stage is cut into, where it can be cut (default: by --minutes)",
     .count = &pieces,
     .count_max = 1000000},
    {.name = "minutes",
     .argument = "M",
     .help = "target time of a piece, for drive apply and bake (default: 5)",
     .text = &minutes_text},
    {.name = "no-sample",
     .help = "time nothing; drive apply and bake are then cut only with --pieces",
     .flag = &no_sample},
    {.name = "any-build",
     .help = "let other builds of the same version make pieces, whose bytes may then differ in the last digits",
     .flag = &any_build},
};

/* Kinds of work. */
static const exi_farm_work *const works[] = {
    &exi_farm_work_apply, &exi_farm_work_learn, &exi_farm_work_bake,    &exi_farm_work_scan,
    &exi_farm_work_warp,  &exi_farm_work_sheet, &exi_farm_work_figures,
};
enum { WORK_COUNT = (int)(sizeof works / sizeof works[0]) };

/* ---- the job ---- */

static ex_result read_job(exi_planner *p, const exi_farm_work **work) {
    char *bytes = NULL, *real = realpath(p->job_path, NULL), *slash = real ? strrchr(real, '/') : NULL;
    size_t size = 0;
    json_error_t problem;
    const char *names[WORK_COUNT + 1];
    if (!real)
        return ex_file_error(p->error, "read", p->job_path, errno);
    *(slash > real ? slash : slash + 1) = 0;
    p->job_folder = real;
    const ex_result result = ex_file_read(p->job_path, &bytes, &size, p->error);
    if (result != EX_OK)
        return result;
    p->job = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, &problem);
    free(bytes);
    if (!p->job)
        return ex_error_set(p->error, EX_ERROR_FORMAT, "%s: line %d, column %d: %s", p->job_path, problem.line,
                            problem.column, problem.text);
    if (!json_is_object(p->job))
        return exi_job_wrong(p, "a job is an object, {\"work\": \"drive apply\", ...}");
    const char *name = exi_farm_text(p->job, "work");
    for (int i = 0; i < WORK_COUNT; i++) {
        names[i] = works[i]->name;
        if (strcmp(name, names[i]) == 0)
            *work = works[i];
    }
    if (!*work) {
        const char *near = name[0] ? ex_suggest(name, names, WORK_COUNT) : NULL;
        return near ? exi_job_wrong(p, "there is no work \"%s\": did you mean \"%s\"?", name, near)
                    : exi_job_wrong(p, "\"work\" must be one of \"drive apply\", \"drive learn\", \"bake\", \"scan\", "
                                       "\"warp\", \"sheet\" and \"figures\"");
    }
    const json_t *given = json_object_get(p->job, "options");
    if (given && !json_is_object(given))
        return exi_job_wrong(p, "\"options\" must be an object, such as {\"fps\": 30}");
    const json_t *threads = json_object_get(p->job, "threads");
    if (threads && (!json_is_integer(threads) || json_integer_value(threads) < 1 || json_integer_value(threads) > 1024))
        return exi_job_wrong(p, "\"threads\" must be a whole number, at least 1");
    return exi_job_check_keys(p, p->job, (*work)->keys);
}

static int finish(const ex_call *call) {
    ex_error error = {.result = EX_OK};
    exi_farm farm;
    exi_farm_state *states = NULL;
    int done = 0;
    ex_result result = exi_farm_open(output, &farm, &error);
    if (result == EX_OK)
        result = exi_farm_write_lists(&farm, &error);
    if (result == EX_OK) {
        states = malloc((size_t)farm.task_count * sizeof *states + 1);
        result = states ? exi_farm_states(&farm, states, &error) : ex_error_memory(&error, "a plan", 64);
    }
    for (int i = 0; result == EX_OK && i < farm.task_count; i++)
        done += states[i] == EXI_FARM_DONE;
    if (result == EX_OK && call->json)
        exi_farm_print_plan_json(&farm, done);
    else if (result == EX_OK && !call->quiet)
        exi_farm_print_plan(&farm, output, done);
    free(states);
    exi_farm_close(&farm);
    return result == EX_OK ? EX_EXIT_DONE : exi_failed(&error);
}

/* Takes folders that ".." leaves again out of a path: they may not be there yet. */
static void shorten(char *path) {
    for (char *up; (up = strstr(path, "/../"));) {
        char *from = up;
        while (from > path && from[-1] != '/')
            from--;
        from = from > path ? from - 1 : up;
        memmove(from, up + 3, strlen(up + 3) + 1);
    }
}

/* Identifies a file whatever name it has; false if there is none. */
static bool identify(const char *path, char key[64]) {
    struct stat info;
    char *plain = path ? text_copy(path) : NULL;
    bool there = plain && stat(plain, &info) == 0;
    if (plain && !there) {
        shorten(plain);
        there = stat(plain, &info) == 0;
    }
    free(plain);
    if (!there)
        return false;
    snprintf(key, 64, "%llx.%llx", (unsigned long long)info.st_dev, (unsigned long long)info.st_ino);
    return true;
}

/* Results must not replace what they are made from. Files of a folder may: a step that adds to a table of points does.
 */
static ex_result check_outputs(const exi_planner *p) {
    json_t *there = json_object();
    ex_result result = there ? EX_OK : ex_error_memory(p->error, "a plan", 64);
    char key[64];
    for (size_t i = 0; i < json_array_size(p->inputs); i++)
        if (identify(exi_farm_text(json_array_get(p->inputs, i), "path"), key))
            json_object_set_new(there, key, json_true());
    for (size_t i = 0; result == EX_OK && i < json_array_size(p->results); i++) {
        const json_t *made = json_array_get(p->results, i);
        const char *path = exi_farm_text(made, "output"), *kind = exi_farm_text(made, "kind");
        const bool numbered = strcmp(kind, "cache") == 0 && ex_cache_kind_of(path) == EX_CACHE_OBJ;
        char *frame = numbered ? ex_cache_frame_path(path, 0, (int)exi_farm_number(made, "frames")) : NULL;
        if (strcmp(kind, "files") != 0 && identify(numbered ? frame : path, key) && json_object_get(there, key))
            result = exi_job_wrong(p, "'%s' is also an input and would be overwritten: choose another \"output\"",
                                   numbered ? frame : path);
        free(frame);
    }
    json_decref(there);
    return result;
}

static ex_result make_plan(exi_planner *p) {
    const exi_farm_work *work = NULL;
    ex_result result = read_job(p, &work);
    if (result == EX_OK)
        result = work->plan(p);
    if (result == EX_OK && json_array_size(p->tasks) == 0)
        result = exi_job_wrong(p, "there is nothing to do");
    if (result == EX_OK)
        result = check_outputs(p);
    if (result == EX_OK)
        result = exi_planner_hash(p);
    if (result == EX_OK) {
        exi_planner_sign(p);
        result = exi_planner_write(p);
    }
    return result;
}

/* A folder that has something in it, and no plan, is not ours. */
static bool folder_is_free(void) {
    char *plan = exi_path_inside(output, "plan.json", "");
    const bool ours = plan && (exi_file_exists(plan) || !exi_file_exists(output) || exi_folder_is_empty(output));
    free(plan);
    if (!ours)
        exi_failed_text("'%s' is in use and has no plan: choose another folder with -o", output);
    return ours && exi_output_folder_check(output);
}

static int run(const ex_call *call) {
    ex_error error = {.result = EX_OK};
    exi_farm_program program = {.path = NULL};
    double minutes = MINUTES_DEFAULT;
    if (!output)
        return exi_wrong_usage(call->command, "-o DIR is required: it names the folder of the plan");
    if (minutes_text) {
        const char *cursor = minutes_text, *end = cursor + strlen(cursor);
        if (!ex_parse_double(&cursor, end, &minutes) || cursor != end || !(minutes > 0 && minutes < 1e6))
            return exi_wrong_usage(call->command, "--minutes needs a number above 0, not '%s'", minutes_text);
    }
    if (!folder_is_free())
        return EX_EXIT_FAILED;
    if (exi_farm_program_find(call->program, &program, &error) != EX_OK) {
        exi_farm_program_free(&program);
        return exi_failed(&error);
    }
    exi_planner p = {.call = call,
                     .program = &program,
                     .job_path = call->arguments[0],
                     .pieces = pieces,
                     .minutes = minutes,
                     .output = output,
                     .any_build = any_build,
                     .sample = !no_sample,
                     .inputs = json_array(),
                     .input_numbers = json_object(),
                     .stages = json_array(),
                     .tasks = json_array(),
                     .results = json_array(),
                     .outputs = json_object(),
                     .items = json_array(),
                     .kept = json_array(),
                     .keys = json_object(),
                     .error = &error};
    const ex_result result =
        p.inputs && p.input_numbers && p.stages && p.tasks && p.results && p.outputs && p.items && p.kept && p.keys
            ? make_plan(&p)
            : ex_error_memory(&error, "a plan", 64);
    json_t *owned[] = {p.inputs,  p.input_numbers, p.stages, p.tasks, p.results,
                       p.outputs, p.items,         p.kept,   p.keys,  p.job};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        json_decref(owned[i]);
    free(p.job_folder);
    exi_farm_program_free(&program);
    return result == EX_OK ? finish(call) : exi_failed(&error);
}

const ex_command cmd_farm_plan = {
    .name = "farm plan",
    .summary = "cut a job into tasks",
    .usage = "farm plan JOB.json -o DIR [--pieces N]",
    .description = "Reads the description of a job and makes a folder with its plan: stages of\n"
                   "tasks. Each task is one command, or a few, and writes one piece. Nothing is\n"
                   "computed yet, except for a few frames that are timed.\n"
                   "Prints how many tasks there are, and their time, memory and disk.\n"
                   "\n"
                   "A job is a JSON file; its paths are relative to it. \"work\" says what to do:\n"
                   "  drive apply  \"garments\" x \"drivers\": clothes for animations, cut by frames\n"
                   "  drive learn  \"sequences\": gathered one by one, then one rig of all\n"
                   "  bake         \"rigs\" x \"motions\": caches, cut by frames, or .glb files\n"
                   "  scan         \"sessions\": markers and maps of scans, a body of each session\n"
                   "  warp         \"pairs\", or \"from\" x \"to\": rigs of paths between forms\n"
                   "  sheet        \"rigs\": grids of forms, cut by cells\n"
                   "  figures      the papers' figures, one by one, and their page\n"
                   "\n"
                   "\"output\" names the results, with {garment}, {driver}, {rig} and so on.\n"
                   "\"options\" has options of the command, {\"fps\": 30, \"untangle\": true}; a list\n"
                   "gives an option several times. \"frames\": \"A:B\" takes a part of all animations.\n"
                   "\"threads\" is the number of threads of a task (default: 1).\n"
                   "\n"
                   "Planning again into the same folder keeps all pieces that still fit.",
    .examples = "exemplar farm plan job.json -o job\n"
                "exemplar farm plan job.json -o job --pieces 200",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .json = true,
    .argument_min = 1,
    .argument_max = 1,
    .run = run,
};
