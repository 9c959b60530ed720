/*
 * exemplar farm merge - makes the results of a plan from its pieces: one cache, one rig, one folder of each. Every
 * piece is checked byte by byte. Results are written whole or not at all; if a piece is missing or damaged, it is
 * named.
 */
#define _GNU_SOURCE

#include "farm.h"

#include "cli/base/emit.h"
#include "cli/base/files.h"
#include "cli/base/interrupt.h"
#include "common/array.h"
#include "common/pool.h"
#include "piece.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool clean;

static const ex_option options[] = {
    {.name = "clean", .help = "remove the pieces afterwards, to save disk", .flag = &clean},
};

enum { NAMED_MOST = 5, NOTES_MOST = 10 };

/* ---- before ---- */

static bool all_done(const ex_call *call, const exi_farm *farm) {
    ex_error error = {.result = EX_OK};
    exi_farm_state *states = array_allocate((size_t)farm->task_count, sizeof *states);
    int missing = 0;
    if (!states || exi_farm_states(farm, states, &error) != EX_OK) {
        (void)(states ? exi_failed(&error) : exi_failed_memory());
        free(states);
        return false;
    }
    for (int i = 0; i < farm->task_count; i++)
        missing += states[i] != EXI_FARM_DONE;
    for (int i = 0, named = 0; i < farm->task_count && named < NAMED_MOST && missing; i++)
        if (states[i] != EXI_FARM_DONE) {
            static const char *const words[] = {"not begun", "done", "running", "failed", "lost"};
            exi_failed_text("the piece of task %d (%s) is missing: %s", i + 1, farm->tasks[i].name, words[states[i]]);
            named++;
        }
    if (missing > NAMED_MOST)
        exi_failed_text("and %d more", missing - NAMED_MOST);
    if (missing)
        exi_failed_text("%d of %d pieces are missing, so nothing was merged: 'exemplar farm status %s' says more",
                        missing, farm->task_count, call->arguments[0]);
    free(states);
    return missing == 0;
}

/* True for tables of points in a folder that results go to: an earlier merge may have added names to them. */
static bool is_replaced(const exi_farm *farm, const char *path) {
    const json_t *results = json_object_get(farm->plan, "results");
    for (size_t i = 0; i < json_array_size(results); i++) {
        const json_t *result = json_array_get(results, i);
        const char *output = exi_farm_text(result, "output");
        const size_t size = strlen(output);
        if (strcmp(exi_farm_text(result, "kind"), "files") == 0 && strncmp(path, output, size) == 0 &&
            strncmp(path + size, "/labels", 7) == 0)
            return true;
    }
    return false;
}

/* An input that changed after the plan makes its pieces old. One that is gone does not matter, unless times are read
 * from it. */
static ex_result check_inputs(const exi_farm *farm, ex_error *error) {
    const json_t *inputs = json_object_get(farm->plan, "inputs");
    for (size_t i = 0; i < json_array_size(inputs); i++) {
        const json_t *input = json_array_get(inputs, i);
        const char *path = exi_farm_text(input, "path");
        if (!exi_file_exists(path) || is_replaced(farm, path))
            continue;
        const ex_result result = exi_farm_check_input(input, 0, error);
        if (result != EX_OK)
            return result;
    }
    return EX_OK;
}

/* ---- files ---- */

static ex_result make_folder_of(const char *path, ex_error *error) {
    char *copy = text_copy(path), *slash = copy ? strrchr(copy, '/') : NULL;
    ex_result result = copy ? EX_OK : ex_error_memory(error, "a path", strlen(path));
    if (slash && slash > copy) {
        *slash = 0;
        result = ex_make_directory(copy, error);
    }
    free(copy);
    return result;
}

/* True if a file of a piece belongs to a result of kind "files". */
static bool is_wanted(const json_t *result, const char *name) {
    const char *below = exi_farm_text(result, "below");
    const json_t *without = json_object_get(result, "without");
    bool wanted = strncmp(name, below, strlen(below)) == 0;
    for (size_t i = 0; wanted && i < json_array_size(without); i++) {
        const char *folder = json_string_value(json_array_get(without, i));
        wanted = strncmp(name, folder, strlen(folder)) != 0;
    }
    return wanted;
}

/* Takes one file, or all files of a result, to their places. Many files are not synced one by one. */
static ex_result take_files(const exi_farm *farm, int task, const char *name, const json_t *of, ex_error *error) {
    const char *output = exi_farm_text(of, "output");
    exi_piece piece;
    char *path = exi_farm_piece_path(farm, task);
    ex_result result = path ? exi_piece_open(path, farm->tasks[task].fingerprint, &piece, error)
                            : ex_error_memory(error, "a path", 64);
    const size_t skip = strlen(exi_farm_text(of, "below"));
    bool found = !name;
    for (int i = 0; result == EX_OK && i < piece.file_count; i++) {
        const char *one = piece.files[i].name;
        if (name ? strcmp(one, name) != 0 : !is_wanted(of, one))
            continue;
        char *to = name ? text_copy(output) : exi_path_inside(output, one + skip, "");
        found = true;
        result = to ? make_folder_of(to, error) : ex_error_memory(error, "a path", 64);
        if (result == EX_OK)
            result = exi_piece_extract(&piece, i, to, name != NULL, error);
        free(to);
    }
    if (result == EX_OK && !found)
        result = ex_error_kind(error, ex_error_set(error, EX_ERROR_DATA, "the piece '%s' has no '%s'", path, name),
                               "bad_piece");
    if (path)
        exi_piece_close(&piece);
    free(path);
    return result;
}

/* ---- results ---- */

typedef struct merge {
    const ex_call *call;
    const exi_farm *farm;
    int frames, files, bad;
    double seconds, memory, bytes;
    json_t *notes;
    ex_error *error;
} merge;

static ex_result check_piece(const exi_farm *farm, int task, ex_error *error) {
    exi_piece piece;
    char *path = exi_farm_piece_path(farm, task);
    ex_result result = path ? exi_piece_open(path, farm->tasks[task].fingerprint, &piece, error)
                            : ex_error_memory(error, "a path", 64);
    if (result == EX_OK)
        result = exi_piece_check(&piece, error);
    if (path)
        exi_piece_close(&piece);
    free(path);
    return result;
}

static ex_result make_result(merge *m, const json_t *result) {
    const char *kind = exi_farm_text(result, "kind"), *output = exi_farm_text(result, "output");
    const json_t *parts = json_object_get(result, "parts"), *tasks = json_object_get(result, "tasks");
    ex_result made = make_folder_of(output, m->error);
    int frames = 0;
    if (made == EX_OK && strcmp(kind, "cache") == 0) {
        made = exi_farm_join_cache(m->farm, result, &frames, &m->bad, m->error);
        m->frames += frames;
    }
    for (size_t i = 0; made == EX_OK && strcmp(kind, "file") == 0 && i < json_array_size(parts); i++) {
        const json_t *part = json_array_get(parts, i);
        m->bad = (int)json_integer_value(json_array_get(part, 0));
        made = take_files(m->farm, m->bad, json_string_value(json_array_get(part, 1)), result, m->error);
    }
    /* All pieces are checked before the first file is written: a folder is not left half new. */
    for (size_t i = 0; made == EX_OK && strcmp(kind, "files") == 0 && i < json_array_size(tasks); i++) {
        m->bad = (int)json_integer_value(json_array_get(tasks, i));
        made = check_piece(m->farm, m->bad, m->error);
    }
    for (size_t i = 0; made == EX_OK && strcmp(kind, "files") == 0 && i < json_array_size(tasks); i++) {
        m->bad = (int)json_integer_value(json_array_get(tasks, i));
        made = take_files(m->farm, m->bad, NULL, result, m->error);
    }
    m->files += made == EX_OK;
    return made;
}

/* Adds up what the pieces' records say. */
static ex_result read_records(merge *m) {
    ex_result result = EX_OK;
    for (int i = 0; result == EX_OK && i < m->farm->task_count; i++) {
        exi_piece piece;
        char *path = exi_farm_piece_path(m->farm, i);
        m->bad = i;
        result = path ? exi_piece_open(path, m->farm->tasks[i].fingerprint, &piece, m->error)
                      : ex_error_memory(m->error, "a path", 64);
        if (result == EX_OK) {
            const double memory = exi_farm_number(piece.record, "memory");
            m->seconds += exi_farm_number(piece.record, "seconds");
            m->memory = memory > m->memory ? memory : m->memory;
            for (int k = 0; k < piece.file_count; k++)
                m->bytes += (double)piece.files[k].size;
            const json_t *notes = json_object_get(piece.record, "notes");
            for (size_t n = 0; n < json_array_size(notes); n++) {
                char text[2000];
                snprintf(text, sizeof text, "%s: %s", m->farm->tasks[i].name,
                         json_string_value(json_array_get(notes, n)));
                json_array_append_new(m->notes, json_string(text));
            }
        }
        if (path)
            exi_piece_close(&piece);
        free(path);
    }
    return result;
}

/* Also pieces of earlier plans, and damaged ones. */
static void remove_pieces(const exi_farm *farm) {
    static const char *const rooms[] = {"pieces", "failed"};
    for (int i = 0; i < 2; i++) {
        char *path = exi_farm_path(farm, rooms[i], "", "");
        DIR *folder = path ? opendir(path) : NULL;
        for (const struct dirent *entry; folder && (entry = readdir(folder));)
            if (ex_path_ends_with(entry->d_name, ".piece"))
                (void)unlinkat(dirfd(folder), entry->d_name, 0);
        if (folder)
            closedir(folder);
        free(path);
    }
}

static ex_result write_report(const merge *m, double took) {
    const char *host = exi_farm_text(m->farm->plan, "machine");
    ex_file_writer writer;
    json_t *report = json_pack(
        "{s:s, s:s, s:s, s:i, s:i, s:i, s:f, s:f, s:f, s:f, s:O, s:O}", "version",
        exi_farm_text(m->farm->plan, "version"), "machine", host, "simd", exi_farm_text(m->farm->plan, "simd"), "tasks",
        m->farm->task_count, "results", m->files, "frames", m->frames, "seconds", m->seconds, "memory", m->memory,
        "bytes", m->bytes, "merge_seconds", took, "made", json_object_get(m->farm->plan, "results"), "notes", m->notes);
    char *text = report ? json_dumps(report, JSON_INDENT(1)) : NULL,
         *path = exi_farm_path(m->farm, "report.json", "", "");
    ex_result result =
        text && path ? ex_file_open(&writer, path, m->error) : ex_error_memory(m->error, "a report", 1024);
    if (result == EX_OK) {
        ex_file_write(&writer, text, strlen(text));
        result = ex_file_commit(&writer, m->error);
    }
    free(text);
    free(path);
    json_decref(report);
    return result;
}

/* A path as people write it from here. */
static const char *from_here(const char *path) {
    static char here[4096];
    const size_t size = getcwd(here, sizeof here) ? strlen(here) : 0;
    return size > 1 && strncmp(path, here, size) == 0 && path[size] == '/' ? path + size + 1 : path;
}

static void print(const merge *m, double took) {
    char a[EXI_TEXT_SIZE], b[EXI_TEXT_SIZE], c[EXI_TEXT_SIZE];
    if (m->call->json) {
        exi_emitter json = exi_emit_start(stdout);
        exi_emit_open(&json, NULL, '{');
        exi_emit_number(&json, "results", m->files);
        exi_emit_number(&json, "frames", m->frames);
        exi_emit_number(&json, "bytes", m->bytes);
        exi_emit_number(&json, "seconds", m->seconds);
        exi_emit_number(&json, "memory", m->memory);
        exi_emit_number(&json, "notes", (double)json_array_size(m->notes));
        exi_emit_close(&json, '}');
        exi_emit_end(&json);
        return;
    }
    const json_t *results = json_object_get(m->farm->plan, "results");
    exi_print("%s from %s", exi_text_count(a, m->files, "result"), exi_text_count(b, m->farm->task_count, "piece"));
    if (m->frames > 0)
        exi_print(", %s", exi_text_count(a, m->frames, "frame"));
    exi_print(", %s, %s\n", exi_text_bytes(b, m->bytes), exi_text_seconds(c, took));
    for (size_t i = 0; i < json_array_size(results) && i < NAMED_MOST; i++)
        exi_print("  %s\n", from_here(exi_farm_text(json_array_get(results, i), "output")));
    if (json_array_size(results) > NAMED_MOST)
        exi_print("  and %d more\n", (int)json_array_size(results) - NAMED_MOST);
    exi_print("The tasks took %s in all, at most %s of memory.\n", exi_text_seconds(a, m->seconds),
              exi_text_bytes(b, m->memory));
}

static void print_notes(const merge *m) {
    const size_t count = json_array_size(m->notes);
    for (size_t i = 0; i < count && i < NOTES_MOST; i++)
        exi_failed_text("%s", json_string_value(json_array_get(m->notes, i)));
    if (count > NOTES_MOST)
        exi_failed_text("and %d more notes, in %s/report.json", (int)count - NOTES_MOST, m->call->arguments[0]);
}

/* Results are independent of each other: threads make them side by side. */
typedef struct outcome {
    ex_result result;
    ex_error error;
    int frames, files, bad;
} outcome;

typedef struct merging {
    const merge *m;
    const json_t *results;
    outcome *outcomes; /* [results] */
    atomic_int done;
    atomic_bool stop;
    exi_progress progress; /* shown by the thread that began */
    pthread_t thread;
} merging;

static void make_results(void *context, int first, int last) {
    merging *g = context;
    for (int i = first; i < last; i++) {
        outcome *o = &g->outcomes[i];
        merge one = *g->m;
        one.error = &o->error;
        one.frames = one.files = 0;
        one.bad = -1;
        if (atomic_load(&g->stop) || exi_interrupted())
            o->result = ex_error_set(&o->error, EX_ERROR_FILE, "interrupted");
        else
            o->result = make_result(&one, json_array_get(g->results, (size_t)i));
        o->frames = one.frames;
        o->files = one.files;
        o->bad = one.bad;
        if (o->result != EX_OK)
            atomic_store(&g->stop, true);
        const int done = atomic_fetch_add(&g->done, 1) + 1;
        if (pthread_equal(pthread_self(), g->thread))
            exi_progress_step(&g->progress, "merging", (double)done / (double)json_array_size(g->results));
    }
}

/* Makes all results. On failure, the error is of the first one that was tried and failed. */
static ex_result make_all(merge *m) {
    const json_t *results = json_object_get(m->farm->plan, "results");
    const int count = (int)json_array_size(results);
    merging g = {.m = m,
                 .results = results,
                 .outcomes = calloc((size_t)count + 1, sizeof *g.outcomes),
                 .thread = pthread_self()};
    exi_pool *pool = exi_pool_create(m->call->threads < count ? m->call->threads : count);
    const ex_tasks *tasks = exi_pool_tasks(pool);
    ex_result result = g.outcomes ? EX_OK : ex_error_memory(m->error, "results", (size_t)count * sizeof *g.outcomes);
    exi_progress_start(&g.progress, m->call);
    exi_interrupt_defer(true); /* several files may belong together */
    if (result == EX_OK && tasks)
        tasks->run(tasks->user, count, 1, make_results, &g);
    else if (result == EX_OK)
        make_results(&g, 0, count);
    exi_interrupt_defer(false);
    exi_progress_end(&g.progress);
    for (int pass = 0; pass < 2 && result == EX_OK; pass++)
        for (int i = 0; g.outcomes && i < count && result == EX_OK; i++) {
            const outcome *o = &g.outcomes[i];
            if (o->result != EX_OK && (pass == 1 || strcmp(o->error.text, "interrupted") != 0)) {
                *m->error = o->error;
                m->bad = o->bad;
                result = o->result;
            }
            m->frames += pass == 0 ? o->frames : 0;
            m->files += pass == 0 ? o->files : 0;
        }
    exi_pool_destroy(pool);
    free(g.outcomes);
    return result;
}

static int merge_all(const ex_call *call, const exi_farm *farm) {
    ex_error error = {.result = EX_OK};
    merge m = {.call = call, .farm = farm, .bad = -1, .notes = json_array(), .error = &error};
    const double start = exi_clock();
    ex_result result = check_inputs(farm, &error);
    if (result == EX_OK)
        result = read_records(&m);
    if (result == EX_OK) {
        char *mark = exi_farm_mark_name(farm, 0); /* for the folders that results are joined in */
        if (mark)
            exi_farm_mark(mark);
        m.bad = -1;
        result = make_all(&m);
        if (mark)
            exi_farm_unmark(mark);
        free(mark);
    }
    const double took = exi_clock() - start;
    if (result == EX_OK)
        result = write_report(&m, took);
    const bool damaged = result != EX_OK && m.bad >= 0 && error.kind && strcmp(error.kind, "bad_piece") == 0;
    int code = EX_EXIT_DONE;
    if (damaged)
        (void)exi_farm_reject(farm, m.bad, strstr(error.text, " has no '") ? error.text : NULL);
    if (result != EX_OK && exi_interrupted()) {
        exi_failed_text("interrupted: results that were finished are there, and the same command makes the others");
        code = exi_interrupted();
    } else if (result != EX_OK) {
        code = exi_failed(&error);
        if (damaged)
            exi_failed_text("it belongs to task %d (%s): 'exemplar farm retry %s' makes it again", m.bad + 1,
                            farm->tasks[m.bad].name, call->arguments[0]);
    } else {
        if (clean)
            remove_pieces(farm);
        exi_farm_sweep(farm);
        if (!call->quiet)
            print_notes(&m);
        if (call->json || !call->quiet)
            print(&m, took);
    }
    json_decref(m.notes);
    return code;
}

static int run(const ex_call *call) {
    exi_farm farm;
    if (!exi_farm_open_argument(call, &farm))
        return EX_EXIT_FAILED;
    const int code = all_done(call, &farm) ? merge_all(call, &farm) : EX_EXIT_FAILED;
    exi_farm_close(&farm);
    return code;
}

const ex_command cmd_farm_merge = {
    .name = "farm merge",
    .summary = "make the results from the pieces",
    .usage = "farm merge DIR [--clean]",
    .description = "Joins the pieces of a plan: one cache for every garment and animation, one rig,\n"
                   "one folder. The results have the same bytes as if one process had made them.\n"
                   "\n"
                   "Every piece is checked. If one is missing, nothing is written, and it is named.\n"
                   "If one is damaged, it is named and put aside, and 'exemplar farm retry' makes it\n"
                   "again. DIR/report.json has the time, memory and notes of all tasks.",
    .examples = "exemplar farm merge job",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .json = true,
    .argument_min = 1,
    .argument_max = 1,
    .run = run,
};
