/*
 * The end of planning: hashes of the inputs, fingerprints of the tasks, and the files of the plan.
 *
 * A fingerprint is a hash of everything that decides the bytes of a piece: version, build, kind of processor and
 * instruction set of the program; the commands; the hashes of the inputs; the fingerprints of the tasks it needs.
 */
#define _GNU_SOURCE

#include "planner.h"

#include "cli/base/files.h"
#include "hash.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- hashes ---- */

/* Hashes of the plan that is in the folder already, by path, size and time: a second plan need not read everything
 * again. */
static json_t *known_hashes(const char *output) {
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

ex_result exi_planner_hash(exi_planner *p) {
    exi_progress progress;
    json_t *known = known_hashes(p->output), *input;
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

void exi_planner_sign(exi_planner *p) {
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
        exi_hash_add_text(&hash, p->any_build ? "" : exi_hash_text(text, p->program->build));
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

static ex_result make_folders(const char *output, ex_error *error) {
    static const char *const rooms[] = {"pieces", "running", "failed", "logs", "scratch", "submitted"};
    ex_result result = EX_OK;
    for (size_t i = 0; result == EX_OK && i < sizeof rooms / sizeof *rooms; i++) {
        char *path = exi_path_inside(output, rooms[i], "");
        result = path ? ex_make_directory(path, error) : ex_error_memory(error, "a path", 64);
        free(path);
    }
    return result;
}

static ex_result write_file(const char *output, const char *name, const char *bytes, size_t size, ex_error *error) {
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
ex_result exi_planner_write(exi_planner *p) {
    char *lines = NULL, text[EXI_HASH_DIGITS + 1], build[EXI_HASH_DIGITS + 1];
    size_t size = 0, t;
    json_t *task;
    FILE *stream = open_memstream(&lines, &size);
    bool whole = stream != NULL;
    json_array_foreach(p->tasks, t, task) whole =
        whole && json_dumpf(task, stream, JSON_COMPACT) == 0 && fputc('\n', stream) != EOF;
    whole = stream && fclose(stream) == 0 && whole;
    ex_result result = whole ? make_folders(p->output, p->error) : ex_error_memory(p->error, "a plan", 1024);
    exi_hash hash = exi_hash_start();
    exi_hash_add(&hash, lines, whole ? size : 0);
    json_object_set_new(
        p->job, "threads",
        json_integer(json_object_get(p->job, "threads") ? json_integer_value(json_object_get(p->job, "threads")) : 1));
    char *job = realpath(p->job_path, NULL);
    json_t *plan = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:O, s:s, s:O, s:O, s:O}", "version", p->program->version,
                             "machine", p->program->machine, "simd", p->program->simd, "build",
                             p->any_build ? "" : exi_hash_text(build, p->program->build), "program", p->program->path,
                             "job", job ? job : p->job_path, "threads", json_object_get(p->job, "threads"), "tasks",
                             exi_hash_text(text, exi_hash_value(&hash)), "stages", p->stages, "inputs", p->inputs,
                             "results", p->results);
    char *description = plan ? json_dumps(plan, JSON_INDENT(1)) : NULL;
    if (result == EX_OK && !description)
        result = ex_error_memory(p->error, "a plan", 1024);
    if (result == EX_OK)
        result = write_file(p->output, "tasks.jsonl", lines, size, p->error);
    if (result == EX_OK)
        result = write_file(p->output, "plan.json", description, strlen(description), p->error);
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
ex_result exi_farm_write_lists(const exi_farm *farm, ex_error *error) {
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
