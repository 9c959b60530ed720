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

/* ---- hashes ---- */

/* Hashes of the plan that is in the folder already, by path, size and time: a second plan need not read everything
 * again. */
static json_t *known_hashes(void) {
    ex_error error = {.result = EX_OK};
    exi_farm old;
    json_t *known = json_object();
    char key[5000];
    if (exi_farm_open(output, &old, &error) == EX_OK) {
        const json_t *inputs = json_object_get(old.plan, "inputs");
        for (size_t i = 0; i < json_array_size(inputs); i++) {
            const json_t *input = json_array_get(inputs, i);
            snprintf(key, sizeof key, "%s %.0f %.9f", exi_farm_text(input, "path"), exi_farm_number(input, "size"),
                     exi_farm_number(input, "time"));
            json_object_set(known, key, json_object_get(input, "hash"));
        }
    }
    exi_farm_close(&old);
    return known;
}

static ex_result hash_inputs(exi_planner *p) {
    exi_progress progress;
    json_t *known = known_hashes(), *input;
    size_t i;
    double total = 0, done = 0;
    ex_result result = EX_OK;
    json_array_foreach(p->inputs, i, input) total += exi_farm_number(input, "size");
    exi_progress_start(&progress, p->call);
    json_array_foreach(p->inputs, i, input) {
        char key[5000], text[EXI_HASH_DIGITS + 1];
        uint64_t hash = 0;
        snprintf(key, sizeof key, "%s %.0f %.9f", exi_farm_text(input, "path"), exi_farm_number(input, "size"),
                 exi_farm_number(input, "time"));
        json_t *old = json_object_get(known, key);
        if (old)
            json_object_set(input, "hash", old);
        else {
            exi_folder_facts facts;
            result = json_object_get(input, "files")
                         ? exi_hash_folder(exi_farm_text(input, "path"), &facts, &hash, p->error)
                         : exi_hash_file(exi_farm_text(input, "path"), &hash, p->error);
            json_object_set_new(input, "hash", json_string(exi_hash_text(text, hash)));
        }
        if (result != EX_OK)
            break;
        done += exi_farm_number(input, "size");
        exi_progress_step(&progress, "reading the inputs", total > 0 ? done / total : 1);
    }
    exi_progress_end(&progress);
    json_decref(known);
    return result;
}

/* ---- fingerprints ---- */

static void add_words(exi_hash *hash, const json_t *words) {
    for (size_t i = 0; i < json_array_size(words); i++)
        exi_hash_add_text(hash, json_string_value(json_array_get(words, i)));
    exi_hash_add_text(hash, "");
}

static void sign_tasks(exi_planner *p) {
    char text[EXI_HASH_DIGITS + 1];
    json_t *task;
    size_t t;
    json_array_foreach(p->tasks, t, task) {
        const json_t *commands = json_object_get(task, "commands"), *inputs = json_object_get(task, "inputs"),
                     *needs = json_object_get(task, "needs");
        exi_hash hash = exi_hash_start();
        exi_hash_add_text(&hash, p->program->version);
        exi_hash_add_text(&hash, p->program->machine);
        exi_hash_add_text(&hash, p->program->simd);
        exi_hash_add_text(&hash, any_build ? "" : exi_hash_text(text, p->program->build));
        for (size_t i = 0; i < json_array_size(commands); i++)
            add_words(&hash, json_array_get(commands, i));
        for (size_t i = 0; i < json_array_size(inputs); i++)
            exi_hash_add_text(
                &hash, exi_farm_text(json_array_get(p->inputs, (size_t)json_integer_value(json_array_get(inputs, i))),
                                     "hash"));
        exi_hash_add_text(&hash, exi_farm_text(task, "session"));
        add_words(&hash, json_object_get(task, "links"));
        for (size_t i = 0; i < json_array_size(needs); i++)
            exi_hash_add_text(
                &hash,
                exi_farm_text(json_array_get(p->tasks, (size_t)json_integer_value(json_array_get(needs, i))), "piece"));
        json_object_set_new(task, "piece", json_string(exi_hash_text(text, exi_hash_value(&hash))));
    }
}

/* ---- writing ---- */

static ex_result make_folders(ex_error *error) {
    static const char *const rooms[] = {"pieces", "running", "failed", "logs", "scratch", "submitted"};
    ex_result result = EX_OK;
    for (size_t i = 0; result == EX_OK && i < sizeof rooms / sizeof *rooms; i++) {
        char *path = exi_path_inside(output, rooms[i], "");
        result = path ? ex_make_directory(path, error) : ex_error_memory(error, "a path", 64);
        free(path);
    }
    return result;
}

static ex_result write_file(const char *name, const char *bytes, size_t size, ex_error *error) {
    ex_file_writer writer;
    char *path = exi_path_inside(output, name, "");
    ex_result result = path ? ex_file_open(&writer, path, error) : ex_error_memory(error, "a path", 64);
    if (result == EX_OK) {
        ex_file_write(&writer, bytes, size);
        result = ex_file_commit(&writer, error);
    }
    free(path);
    return result;
}

/* tasks.jsonl first, then plan.json with its hash. */
static ex_result write_plan(exi_planner *p) {
    char *lines = NULL, text[EXI_HASH_DIGITS + 1], build[EXI_HASH_DIGITS + 1];
    size_t size = 0, t;
    json_t *task;
    FILE *stream = open_memstream(&lines, &size);
    bool whole = stream != NULL;
    json_array_foreach(p->tasks, t, task) whole =
        whole && json_dumpf(task, stream, JSON_COMPACT) == 0 && fputc('\n', stream) != EOF;
    whole = stream && fclose(stream) == 0 && whole;
    ex_result result = whole ? make_folders(p->error) : ex_error_memory(p->error, "a plan", 1024);
    exi_hash hash = exi_hash_start();
    exi_hash_add(&hash, lines, whole ? size : 0);
    json_object_set_new(
        p->job, "threads",
        json_integer(json_object_get(p->job, "threads") ? json_integer_value(json_object_get(p->job, "threads")) : 1));
    char *job = realpath(p->job_path, NULL);
    json_t *plan = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:O, s:s, s:O, s:O, s:O}", "version", p->program->version,
                             "machine", p->program->machine, "simd", p->program->simd, "build",
                             any_build ? "" : exi_hash_text(build, p->program->build), "program", p->program->path,
                             "job", job ? job : p->job_path, "threads", json_object_get(p->job, "threads"), "tasks",
                             exi_hash_text(text, exi_hash_value(&hash)), "stages", p->stages, "inputs", p->inputs,
                             "results", p->results);
    char *description = plan ? json_dumps(plan, JSON_INDENT(1)) : NULL;
    if (result == EX_OK && !description)
        result = ex_error_memory(p->error, "a plan", 1024);
    if (result == EX_OK)
        result = write_file("tasks.jsonl", lines, size, p->error);
    if (result == EX_OK)
        result = write_file("plan.json", description, strlen(description), p->error);
    free(description);
    free(job);
    free(lines);
    json_decref(plan);
    return result;
}

/* Removes lists of a former plan that had more stages. */
static void remove_lists(const exi_farm *farm) {
    for (int s = farm->stage_count, there = 1; there; s++) {
        char name[32];
        snprintf(name, sizeof name, "stage-%d", s + 1);
        char *path = exi_path_inside(farm->folder, name, ".txt");
        there = path && remove(path) == 0;
        free(path);
    }
}

/* stage-1.txt and so on: one command a line. */
static ex_result write_lists(const exi_farm *farm, ex_error *error) {
    ex_result result = EX_OK;
    for (int s = 0; result == EX_OK && s < farm->stage_count; s++) {
        ex_file_writer writer;
        char name[32];
        snprintf(name, sizeof name, "stage-%d", s + 1);
        char *path = exi_path_inside(farm->folder, name, ".txt");
        result = path ? ex_file_open(&writer, path, error) : ex_error_memory(error, "a path", 64);
        for (int t = 0; result == EX_OK && t < farm->task_count; t++) {
            char *line = farm->tasks[t].stage == s ? exi_farm_line(farm, t, NULL) : NULL;
            if (line)
                ex_file_printf(&writer, "%s\n", line);
            free(line);
        }
        if (result == EX_OK)
            result = ex_file_commit(&writer, error);
        free(path);
    }
    remove_lists(farm);
    return result;
}

/* ---- saying what it costs ---- */

/* "2.5 h of one core". */
static const char *text_span(char text[EXI_TEXT_SIZE], double seconds) {
    if (seconds < 90)
        return exi_text_seconds(text, seconds);
    if (seconds < 90 * 60)
        snprintf(text, EXI_TEXT_SIZE, "%.0f min", seconds / 60);
    else if (seconds < 100 * 3600)
        snprintf(text, EXI_TEXT_SIZE, "%.1f h", seconds / 3600);
    else
        snprintf(text, EXI_TEXT_SIZE, "%.0f days", seconds / 86400);
    return text;
}

static void print_json(const exi_farm *farm, int done) {
    exi_emitter json = exi_emit_start(stdout);
    exi_emit_open(&json, NULL, '{');
    exi_emit_text(&json, "folder", farm->folder);
    exi_emit_number(&json, "tasks", farm->task_count);
    exi_emit_number(&json, "done", done);
    exi_emit_number(&json, "results", (double)json_array_size(json_object_get(farm->plan, "results")));
    exi_emit_open(&json, "stages", '[');
    for (int s = 0; s < farm->stage_count; s++) {
        const json_t *stage = json_array_get(json_object_get(farm->plan, "stages"), (size_t)s);
        exi_emit_open(&json, NULL, '{');
        exi_emit_text(&json, "name", exi_farm_text(stage, "name"));
        exi_emit_number(&json, "tasks", exi_farm_number(stage, "count"));
        exi_emit_number(&json, "seconds", exi_farm_number(stage, "seconds"));
        exi_emit_number(&json, "memory", exi_farm_number(stage, "memory"));
        exi_emit_number(&json, "disk", exi_farm_number(stage, "disk"));
        exi_emit_close(&json, '}');
    }
    exi_emit_close(&json, ']');
    exi_emit_close(&json, '}');
    exi_emit_end(&json);
}

static void print_plan(const exi_farm *farm, int done) {
    char a[EXI_TEXT_SIZE], b[EXI_TEXT_SIZE], c[EXI_TEXT_SIZE];
    double seconds = 0, longest = 0;
    bool known = true;
    exi_print("%s: %s in %s", output, exi_text_count(a, farm->task_count, "task"),
              exi_text_count(b, farm->stage_count, "stage"));
    exi_print(", for %s\n", exi_text_count(a, (int)json_array_size(json_object_get(farm->plan, "results")), "result"));
    for (int s = 0; s < farm->stage_count; s++) {
        const json_t *stage = json_array_get(json_object_get(farm->plan, "stages"), (size_t)s);
        const double takes = exi_farm_number(stage, "seconds");
        exi_print("  %d %-10s %8s", s + 1, exi_farm_text(stage, "name"),
                  exi_text_count(a, (int)exi_farm_number(stage, "count"), "task"));
        if (takes > 0)
            exi_print(", up to %s each, %s of memory, %s of pieces", text_span(a, exi_farm_number(stage, "longest")),
                      exi_text_bytes(b, exi_farm_number(stage, "memory")),
                      exi_text_bytes(c, exi_farm_number(stage, "disk")));
        exi_print("\n");
        known = known && takes > 0;
        seconds += takes;
        longest += exi_farm_number(stage, "longest");
    }
    if (known)
        exi_print("About %s of one core; at best %s.\n", text_span(a, seconds), text_span(b, longest));
    if (done > 0)
        exi_print("%s there already.\n", done == 1 ? "1 piece is" : (snprintf(a, sizeof a, "%d pieces are", done), a));
    exi_print("Next: exemplar farm submit ");
    exi_print_word(output);
    exi_print("\n");
}

/* Reads the plan back, writes the lists, and reports. */
static int finish(const ex_call *call) {
    ex_error error = {.result = EX_OK};
    exi_farm farm;
    exi_farm_state *states = NULL;
    int done = 0;
    ex_result result = exi_farm_open(output, &farm, &error);
    if (result == EX_OK)
        result = write_lists(&farm, &error);
    if (result == EX_OK) {
        states = malloc((size_t)farm.task_count * sizeof *states + 1);
        result = states ? exi_farm_states(&farm, states, &error) : ex_error_memory(&error, "a plan", 64);
    }
    for (int i = 0; result == EX_OK && i < farm.task_count; i++)
        done += states[i] == EXI_FARM_DONE;
    if (result == EX_OK && call->json)
        print_json(&farm, done);
    else if (result == EX_OK && !call->quiet)
        print_plan(&farm, done);
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
        result = hash_inputs(p);
    if (result == EX_OK) {
        sign_tasks(p);
        result = write_plan(p);
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
