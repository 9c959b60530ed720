/* The folder of a plan: reads it, names its files, and identifies the program that works on it. */
#define _GNU_SOURCE

#include "farm.h"

#include "cli/base/files.h"
#include "cli/base/interrupt.h"
#include "common/array.h"
#include "hash.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define OPEN_AGAIN 3
#define LOOK_MS    500

/* ---- the program ---- */

ex_result exi_farm_program_find(const char *called_by, exi_farm_program *program, ex_error *error) {
    struct utsname system;
    *program = (exi_farm_program){.path = realpath("/proc/self/exe", NULL)};
    if (!program->path)
        program->path = realpath(called_by, NULL);
    if (!program->path)
        return ex_file_error(error, "find", called_by, errno);
    snprintf(program->version, sizeof program->version, "%s", ex_version().text);
    snprintf(program->machine, sizeof program->machine, "%.60s", uname(&system) == 0 ? system.machine : "unknown");
    snprintf(program->simd, sizeof program->simd, "%s", ex_simd_name());
    return exi_hash_file(program->path, &program->build, error);
}

void exi_farm_program_free(exi_farm_program *program) {
    free(program->path);
    program->path = NULL;
}

/* ---- reading ---- */

const char *exi_farm_text(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

double exi_farm_number(const json_t *object, const char *key) {
    return json_number_value(json_object_get(object, key));
}

static ex_result broken(const exi_farm *farm, const char *file, ex_error *error) {
    return ex_error_set(error, EX_ERROR_DATA, "'%s/%s' is damaged: plan again ('exemplar farm plan')", farm->folder,
                        file);
}

/* Reads a task from its line. */
static bool parse_task(const exi_farm *farm, const char *line, size_t size, exi_farm_task *task) {
    json_decref(task->json);
    *task = (exi_farm_task){.json = json_loadb(line, size, JSON_REJECT_DUPLICATES, NULL)};
    task->name = exi_farm_text(task->json, "name");
    task->piece = exi_farm_text(task->json, "piece");
    task->stage = (int)exi_farm_number(task->json, "stage");
    task->seconds = exi_farm_number(task->json, "seconds");
    return json_is_array(json_object_get(task->json, "commands")) && exi_hash_parse(task->piece, &task->fingerprint) &&
           task->stage >= 0 && task->stage < farm->stage_count;
}

/* Reads no more of a task than its fingerprint, the last value of its line: a process that runs one of 10 000 tasks
 * need not read all. */
static bool skim_task(const char *line, size_t size, exi_farm_task *task) {
    static const char key[] = "\"piece\":\"", end[] = "\"}";
    const size_t tail = sizeof key - 1 + EXI_HASH_DIGITS + sizeof end - 1;
    char piece[EXI_HASH_DIGITS + 1];
    if (size < tail || memcmp(line + size - tail, key, sizeof key - 1) != 0)
        return false;
    snprintf(piece, sizeof piece, "%.16s", line + size - tail + sizeof key - 1);
    *task = (exi_farm_task){.json = json_pack("{s:s}", "piece", piece), .name = ""};
    task->piece = exi_farm_text(task->json, "piece");
    return exi_hash_parse(task->piece, &task->fingerprint);
}

/* Takes one line of tasks.jsonl. */
static ex_result add_task(exi_farm *farm, size_t *room, const char *line, size_t size, bool skim, ex_error *error) {
    exi_farm_task *tasks = array_grow(farm->tasks, room, (size_t)farm->task_count + 1, sizeof *tasks);
    if (!tasks)
        return ex_error_memory(error, "a plan", (size_t)farm->task_count * sizeof *tasks);
    farm->tasks = tasks;
    exi_farm_task *task = &tasks[farm->task_count++];
    *task = (exi_farm_task){.json = NULL};
    return (skim && skim_task(line, size, task)) || parse_task(farm, line, size, task)
               ? EX_OK
               : broken(farm, "tasks.jsonl", error);
}

/* Reads the task that is called so, and those that it needs, in full. */
static ex_result complete(exi_farm *farm, const char *word, const char *bytes, size_t size, ex_error *error) {
    const int wanted = exi_farm_find(farm, word);
    unsigned char *takes = calloc((size_t)farm->task_count + 1, 1);
    bool sound = takes != NULL;
    if (sound && wanted >= 0)
        takes[wanted] = 1;
    for (int round = 0; wanted >= 0 && sound && round < 2; round++) {
        const char *line = bytes;
        for (int t = 0; sound && t < farm->task_count; t++) {
            const char *end = memchr(line, '\n', (size_t)(bytes + size - line));
            end = end ? end : bytes + size;
            if (takes[t])
                sound = parse_task(farm, line, (size_t)(end - line), &farm->tasks[t]);
            line = end + 1;
        }
        const json_t *needs = json_object_get(farm->tasks[wanted].json, "needs");
        takes[wanted] = 0;
        for (size_t i = 0; sound && i < json_array_size(needs); i++) {
            const json_int_t need = json_integer_value(json_array_get(needs, i));
            sound = need >= 0 && need < farm->task_count;
            if (sound)
                takes[need] = 1;
        }
    }
    free(takes);
    return sound ? EX_OK : broken(farm, "tasks.jsonl", error);
}

static ex_result read_tasks(exi_farm *farm, const char *word, ex_error *error) {
    char *path = exi_path_inside(farm->folder, "tasks.jsonl", ""), *bytes = NULL, text[EXI_HASH_DIGITS + 1];
    size_t size = 0, room = 0;
    ex_result result =
        path ? ex_file_read(path, &bytes, &size, error) : ex_error_memory(error, "a path", strlen(farm->folder));
    free(path);
    exi_hash hash = exi_hash_start();
    exi_hash_add(&hash, bytes, result == EX_OK ? size : 0);
    /* plan.json is written last: another hash means that someone is writing the two just now, or changed one. */
    if (result == EX_OK && strcmp(exi_hash_text(text, exi_hash_value(&hash)), exi_farm_text(farm->plan, "tasks")) != 0)
        result = broken(farm, "tasks.jsonl", error);
    for (char *line = bytes; result == EX_OK && line < bytes + size;) {
        char *end = memchr(line, '\n', (size_t)(bytes + size - line));
        end = end ? end : bytes + size;
        result = add_task(farm, &room, line, (size_t)(end - line), word != NULL, error);
        line = end + 1;
    }
    if (result == EX_OK && word)
        result = complete(farm, word, bytes, size, error);
    free(bytes);
    return result;
}

static ex_result open_once(const char *folder, const char *word, exi_farm *farm, ex_error *error) {
    *farm = (exi_farm){.folder = realpath(folder, NULL)};
    if (!farm->folder)
        return ex_file_error(error, "read", folder, errno);
    char *path = exi_path_inside(farm->folder, "plan.json", "");
    if (!path)
        return ex_error_memory(error, "a path", strlen(folder));
    if (!exi_file_exists(path)) {
        free(path);
        return ex_error_set(error, EX_ERROR_FILE, "'%s' has no plan: 'exemplar farm plan JOB.json -o %s' makes one",
                            folder, folder);
    }
    char *bytes = NULL;
    size_t size = 0;
    ex_result result = ex_file_read(path, &bytes, &size, error);
    farm->plan = result == EX_OK ? json_loadb(bytes, size, JSON_REJECT_DUPLICATES, NULL) : NULL;
    free(bytes);
    free(path);
    if (result != EX_OK)
        return result;
    farm->stage_count = (int)json_array_size(json_object_get(farm->plan, "stages"));
    if (!json_is_object(farm->plan) || farm->stage_count == 0)
        return broken(farm, "plan.json", error);
    return read_tasks(farm, word, error);
}

ex_result exi_farm_open_task(const char *folder, const char *word, exi_farm *farm, ex_error *error) {
    ex_result result = open_once(folder, word, farm, error);
    /* Two files that do not belong together may be a plan that is being written, or that a network shows late. */
    for (int again = 0; result == EX_ERROR_DATA && again < OPEN_AGAIN && !exi_interrupted(); again++) {
        exi_farm_close(farm);
        exi_farm_pause_ms(LOOK_MS);
        result = open_once(folder, word, farm, error);
    }
    return result;
}

ex_result exi_farm_open(const char *folder, exi_farm *farm, ex_error *error) {
    return exi_farm_open_task(folder, NULL, farm, error);
}

void exi_farm_close(exi_farm *farm) {
    for (int i = 0; i < farm->task_count; i++)
        json_decref(farm->tasks[i].json);
    free(farm->tasks);
    json_decref(farm->plan);
    free(farm->folder);
    *farm = (exi_farm){.folder = NULL};
}

bool exi_farm_open_argument(const ex_call *call, exi_farm *farm) {
    ex_error error = {.result = EX_OK};
    const char *task = call->argument_count > 1 ? call->arguments[1] : NULL;
    if (exi_farm_open_task(call->arguments[0], task, farm, &error) == EX_OK)
        return true;
    exi_failed(&error);
    exi_farm_close(farm);
    return false;
}

/* ---- names ---- */

char *exi_farm_path(const exi_farm *farm, const char *room, const char *name, const char *ending) {
    const size_t size = strlen(farm->folder) + strlen(room) + strlen(name) + strlen(ending) + 3;
    char *path = malloc(size);
    if (path)
        snprintf(path, size, "%s/%s%s%s%s", farm->folder, room, name[0] ? "/" : "", name, ending);
    return path;
}

char *exi_farm_piece_path(const exi_farm *farm, int task) {
    return exi_farm_path(farm, "pieces", farm->tasks[task].piece, ".piece");
}

int exi_farm_find(const exi_farm *farm, const char *word) {
    const char *cursor = word, *end = word + strlen(word);
    int number = 0;
    if (strlen(word) == EXI_HASH_DIGITS) {
        for (int i = 0; i < farm->task_count; i++)
            if (strcmp(farm->tasks[i].piece, word) == 0)
                return i;
        return -1;
    }
    return ex_parse_int(&cursor, end, &number) && cursor == end && number >= 1 && number <= farm->task_count
               ? number - 1
               : -1;
}

/* Adds a word to a line in quotes that every shell takes as they are. */
static void quote(FILE *stream, const char *word) {
    fputc('\'', stream);
    for (; *word; word++)
        if (*word == '\'')
            fputs("'\\''", stream);
        else
            fputc(*word, stream);
    fputc('\'', stream);
}

char *exi_farm_line(const exi_farm *farm, int task, const char *program) {
    char *line = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&line, &size);
    if (!stream)
        return NULL;
    if (program)
        fputs(program, stream);
    else
        quote(stream, exi_farm_text(farm->plan, "program"));
    fputs(" farm do ", stream);
    quote(stream, farm->folder);
    fprintf(stream, " %s", farm->tasks[task].piece);
    return fclose(stream) == 0 ? line : (free(line), NULL);
}

/* ---- inputs ---- */

void exi_farm_pause_ms(long ms) {
    const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    (void)nanosleep(&time, NULL);
}

/* Size and time are compared; if only the time differs, as after a copy, the bytes are. */
/* The same for all files of a folder as one input. */
static ex_result check_folder(const json_t *input, ex_error *error) {
    const char *path = exi_farm_text(input, "path");
    exi_folder_facts facts;
    char text[EXI_HASH_DIGITS + 1];
    uint64_t hash = 0;
    ex_result result = exi_hash_folder(path, &facts, NULL, error);
    if (result != EX_OK ||
        (facts.size == exi_farm_number(input, "size") && facts.time == exi_farm_number(input, "time") &&
         facts.count == (int)exi_farm_number(input, "files")))
        return result;
    result = exi_hash_folder(path, &facts, &hash, error);
    if (result == EX_OK && strcmp(exi_hash_text(text, hash), exi_farm_text(input, "hash")) != 0)
        return ex_error_set(error, EX_ERROR_DATA, "files in '%s' have changed since the plan was made: plan again",
                            path);
    return result;
}

ex_result exi_farm_check_input(const json_t *input, double patience, ex_error *error) {
    const char *path = exi_farm_text(input, "path");
    struct stat info;
    char text[EXI_HASH_DIGITS + 1];
    uint64_t hash = 0;
    ex_result result = EX_OK;
    for (double waited = 0; stat(path, &info) != 0; waited += 0.001 * LOOK_MS) {
        const int failure = errno;
        if ((failure != ENOENT && failure != ESTALE) || waited >= patience || exi_interrupted())
            return ex_file_error(error, "read", path, failure);
        exi_farm_pause_ms(LOOK_MS);
    }
    if (S_ISDIR(info.st_mode))
        return check_folder(input, error);
    const double time = (double)info.st_mtim.tv_sec + 1e-9 * (double)info.st_mtim.tv_nsec;
    const bool same_size = (double)info.st_size == exi_farm_number(input, "size");
    if (same_size && time == exi_farm_number(input, "time"))
        return EX_OK;
    if (same_size)
        result = exi_hash_file(path, &hash, error);
    if (result == EX_OK && (!same_size || strcmp(exi_hash_text(text, hash), exi_farm_text(input, "hash")) != 0))
        return ex_error_set(error, EX_ERROR_DATA, "'%s' has changed since the plan was made: plan again", path);
    return result;
}
