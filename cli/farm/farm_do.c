/*
 * exemplar farm do - makes one piece, on whatever machine this runs. Every engine calls it, once for a task or more
 * often: a task whose piece is there has nothing to do, and of two processes at the same task the later one replaces
 * the piece by the same bytes.
 */
#define _GNU_SOURCE

#include "farm.h"

#include "cli/base/files.h"
#include "cli/base/interrupt.h"
#include "hash.h"
#include "piece.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Seconds to wait for a file that another machine wrote: network file systems show it late. */
#define PATIENCE 60.0
#define LOOK_MS  500

/* ---- what must hold before ---- */

/* The program must be the one of the plan: another may give other bytes. */
static ex_result check_program(const exi_farm *farm, const exi_farm_program *program, ex_error *error) {
    char build[EXI_HASH_DIGITS + 1];
    const char *machine = exi_farm_text(farm->plan, "machine"), *version = exi_farm_text(farm->plan, "version"),
               *wanted = exi_farm_text(farm->plan, "build"), *simd = exi_farm_text(farm->plan, "simd");
    if (strcmp(machine, program->machine) != 0)
        return ex_error_set(error, EX_ERROR_DATA,
                            "the plan was made on %s and this machine is %s, which rounds differently: keep a plan to "
                            "machines of one kind",
                            machine, program->machine);
    if (strcmp(version, program->version) != 0 ||
        (wanted[0] && strcmp(wanted, exi_hash_text(build, program->build)) != 0))
        return ex_error_set(
            error, EX_ERROR_DATA,
            "the plan was made by another build of exemplar (version %s, build %.8s; here is version %s, "
            "build %.8s): install the same one, or plan again",
            version, wanted, program->version, exi_hash_text(build, program->build));
    if (strcmp(simd, program->simd) != 0 && !ex_simd_use(simd))
        return ex_error_set(error, EX_ERROR_DATA,
                            "the plan needs the instruction set %s, which this machine does not have: plan with "
                            "EX_SIMD=%s in the environment, so that all machines give the same bytes",
                            simd, program->simd);
    return EX_OK;
}

static ex_result check_inputs(const exi_farm *farm, const json_t *task, ex_error *error) {
    const json_t *list = json_object_get(task, "inputs"), *inputs = json_object_get(farm->plan, "inputs");
    ex_result result = EX_OK;
    for (size_t i = 0; result == EX_OK && i < json_array_size(list); i++)
        result = exi_farm_check_input(json_array_get(inputs, (size_t)json_integer_value(json_array_get(list, i))),
                                      PATIENCE / 6, error);
    return result;
}

/* Waits for the pieces that the task needs. One that failed is not waited for. */
static ex_result await_needs(const exi_farm *farm, const json_t *task, ex_error *error) {
    const json_t *needs = json_object_get(task, "needs");
    double waited = 0;
    for (size_t i = 0; i < json_array_size(needs);) {
        const int need = (int)json_integer_value(json_array_get(needs, i));
        if (exi_farm_has_piece(farm, need)) {
            i++;
            continue;
        }
        json_t *failure = exi_farm_failure(farm, need);
        const bool hopeless = failure || waited >= PATIENCE || exi_interrupted();
        json_decref(failure);
        if (hopeless)
            (void)exi_farm_reject(farm, need, NULL);
        if (hopeless)
            return ex_error_set(error, EX_ERROR_DATA, "task %d (%s) comes first, and its piece is not there", need + 1,
                                farm->tasks[need].name);
        exi_farm_pause_ms(LOOK_MS);
        waited += 0.001 * LOOK_MS;
    }
    return EX_OK;
}

/* ---- the work ---- */

typedef struct work {
    const exi_farm *farm;
    const exi_farm_program *program;
    int task;
    char *mark, *room;
    FILE *log;
    json_t *before, *notes, *lines;
    double seconds, memory;
    char how[160]; /* it failed */
    int code;
    pthread_mutex_t lock;
    pthread_cond_t end; /* of the task */
    bool ended;
} work;

static FILE *open_log(const exi_farm *farm, int task) {
    char *path = exi_farm_path(farm, "logs", farm->tasks[task].piece, ".log");
    FILE *log = path ? fopen(path, "a") : NULL;
    free(path);
    return log;
}

/* Puts the folder that a task works on in place of its private copy, which nobody finds afterwards. */
static json_t *with_real_path(const work *w, const char *line) {
    const char *session = exi_farm_text(w->farm->tasks[w->task].json, "session"), *found = NULL;
    char *room = exi_path_inside(w->room, "session", ""), *text = NULL;
    size_t size = 0;
    FILE *stream = room && session[0] ? open_memstream(&text, &size) : NULL;
    for (; stream && (found = strstr(line, room)); line = found + strlen(room))
        fprintf(stream, "%.*s%s", (int)(found - line), line, session);
    if (stream) {
        fputs(line, stream);
        fclose(stream);
    }
    json_t *real = json_string(text ? text : line);
    free(text);
    free(room);
    return real;
}

static void keep_lines(const work *w, const json_t *from, json_t *to) {
    for (size_t i = 0; i < json_array_size(from); i++)
        json_array_append_new(to, with_real_path(w, json_string_value(json_array_get(from, i))));
}

/* Says how a command ended; false if it is not done. */
static bool judge(work *w, const exi_farm_run *run) {
    w->seconds += run->seconds;
    w->memory = run->memory > w->memory ? run->memory : w->memory;
    keep_lines(w, run->notes, w->notes);
    json_array_clear(w->lines);
    keep_lines(w, run->lines, w->lines);
    if (run->code == EX_EXIT_DONE)
        return true;
    w->code = run->stopped || run->code > 128 ? run->code : EX_EXIT_FAILED;
    if (run->code > 128)
        snprintf(w->how, sizeof w->how,
                 run->code == 137 ? "killed (signal 9), often for lack of memory: retry with more --memory"
                                  : "ended by signal %d",
                 run->code - 128);
    else
        snprintf(w->how, sizeof w->how, "exit code %d", run->code);
    return false;
}

static ex_result run_commands(work *w, ex_error *error) {
    const json_t *commands = json_object_get(w->farm->tasks[w->task].json, "commands");
    char threads[16];
    snprintf(threads, sizeof threads, "%d", (int)exi_farm_number(w->farm->plan, "threads"));
    for (size_t i = 0; i < json_array_size(commands); i++) {
        exi_farm_run run = {.code = 0};
        /* The number of threads changes no bytes, so it is no part of the plan's commands. */
        json_t *words = json_deep_copy(json_array_get(commands, i)), *more = json_pack("[s, s]", "--threads", threads);
        const ex_result result = json_array_extend(words, more) == 0
                                     ? exi_farm_spawn(w->program->path, words, w->room, w->log, &run, error)
                                     : ex_error_memory(error, "a command", 64);
        json_decref(words);
        json_decref(more);
        const bool done = result == EX_OK && judge(w, &run);
        json_decref(run.lines);
        json_decref(run.notes);
        if (result != EX_OK)
            return result;
        const size_t lines = json_array_size(w->lines);
        const char *line = lines ? json_string_value(json_array_get(w->lines, lines - 1)) : "";
        if (!done)
            return ex_error_set(error, EX_ERROR_DATA, "task %d (%s) failed: %s%s%s", w->task + 1,
                                w->farm->tasks[w->task].name, w->how, line[0] ? ": " : "",
                                strncmp(line, "exemplar: ", 10) == 0 ? line + 10 : line);
    }
    return EX_OK;
}

/* True if the task made a file of this name; for NAME.obj also NAME_0001.obj. */
static bool has_made(const json_t *names, const char *name) {
    const char *dot = strrchr(name, '.');
    const size_t stem = dot ? (size_t)(dot - name) : strlen(name);
    for (size_t i = 0; i < json_array_size(names); i++) {
        const char *one = json_string_value(json_array_get(names, i));
        if (strcmp(one, name) == 0 ||
            (strcmp(name + stem, ".obj") == 0 && strncmp(one, name, stem) == 0 && one[stem] == '_'))
            return true;
    }
    return false;
}

/* Each output that a command names must be there. */
static ex_result check_made(const work *w, const json_t *names, ex_error *error) {
    const json_t *commands = json_object_get(w->farm->tasks[w->task].json, "commands");
    for (size_t c = 0; c < json_array_size(commands); c++) {
        const json_t *words = json_array_get(commands, c);
        for (size_t i = 0; i + 1 < json_array_size(words); i++) {
            const char *word = json_string_value(json_array_get(words, i + 1)), *slash = strrchr(word, '/');
            if (strcmp(json_string_value(json_array_get(words, i)), "-o") == 0 && strncmp(word, "@/", 2) == 0 &&
                strchr(slash, '.') && !has_made(names, word + 2))
                return ex_error_set(error, EX_ERROR_DATA, "task %d (%s) ended well and wrote no '%s'", w->task + 1,
                                    w->farm->tasks[w->task].name, slash + 1);
        }
    }
    return EX_OK;
}

static ex_result write_piece(work *w, ex_error *error) {
    const exi_farm_task *task = &w->farm->tasks[w->task];
    char host[256] = "unknown";
    (void)gethostname(host, sizeof host - 1);
    json_t *names = exi_farm_room_made(w->room, w->before), *inputs = json_array();
    const json_t *list = json_object_get(task->json, "inputs");
    for (size_t i = 0; i < json_array_size(list); i++)
        json_array_append(inputs, json_array_get(json_object_get(w->farm->plan, "inputs"),
                                                 (size_t)json_integer_value(json_array_get(list, i))));
    json_t *record =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:O, s:o, s:f, s:f, s:s, s:O}", "piece", task->piece, "task", task->name,
                  "version", w->program->version, "machine", w->program->machine, "simd",
                  exi_farm_text(w->farm->plan, "simd"), "commands", json_object_get(task->json, "commands"), "inputs",
                  inputs, "seconds", w->seconds, "memory", w->memory, "host", host, "notes", w->notes);
    char *path = exi_farm_piece_path(w->farm, w->task);
    ex_result result = names && record && path ? check_made(w, names, error) : ex_error_memory(error, "a piece", 1024);
    if (result == EX_OK)
        result = exi_piece_write(path, w->room, names, record, error);
    json_decref(names);
    json_decref(record);
    free(path);
    return result;
}

static ex_result make(work *w, ex_error *error) {
    const exi_farm *farm = w->farm;
    ex_result result = check_program(farm, w->program, error);
    if (result == EX_OK)
        result = check_inputs(farm, farm->tasks[w->task].json, error);
    if (result == EX_OK)
        result = await_needs(farm, farm->tasks[w->task].json, error);
    if (result != EX_OK)
        return result;
    w->room = exi_farm_room_open(farm, w->task, w->before, error);
    if (!w->room)
        return error->result;
    result = run_commands(w, error);
    if (result == EX_OK)
        result = check_inputs(farm, farm->tasks[w->task].json, error); /* nobody changed them meanwhile */
    return result == EX_OK ? write_piece(w, error) : result;
}

/* Gives signs of life until the task has ended, whatever it is doing: hashing, waiting, unpacking, running, writing. */
static void *keep_beating(void *user) {
    work *w = user;
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL); /* signals are for the first thread */
    pthread_mutex_lock(&w->lock);
    while (!w->ended) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += EXI_FARM_BEAT;
        if (pthread_cond_timedwait(&w->end, &w->lock, &until) == ETIMEDOUT)
            exi_farm_mark(w->mark);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static int do_task(const ex_call *call, const exi_farm *farm, const exi_farm_program *program, int task) {
    ex_error error = {.result = EX_OK};
    if (exi_farm_has_piece(farm, task)) {
        if (!call->quiet)
            exi_print_to(stderr, "exemplar: task %d (%s) is done already\n", task + 1, farm->tasks[task].name);
        return EX_EXIT_DONE;
    }
    work w = {.farm = farm,
              .program = program,
              .task = task,
              .mark = exi_farm_mark_name(farm, task),
              .lock = PTHREAD_MUTEX_INITIALIZER,
              .end = PTHREAD_COND_INITIALIZER};
    pthread_t beat;
    w.before = json_object();
    w.notes = json_array();
    w.lines = json_array();
    if (!w.mark || !w.before || !w.notes || !w.lines)
        return exi_failed_memory();
    exi_interrupt_defer(true);
    exi_farm_forget(farm, task); /* an old failure tells those that need this task nothing any more */
    exi_farm_mark(w.mark);
    const bool beating = pthread_create(&beat, NULL, keep_beating, &w) == 0;
    w.log = open_log(farm, task);
    /* The instruction set of the plan, also for what is started from here. */
    setenv("EX_SIMD", exi_farm_text(farm->plan, "simd"), 1);
    const ex_result result = make(&w, &error);
    if (beating) {
        pthread_mutex_lock(&w.lock);
        w.ended = true;
        pthread_cond_signal(&w.end);
        pthread_mutex_unlock(&w.lock);
        pthread_join(beat, NULL);
    }
    if (w.room)
        exi_farm_remove_tree(w.room);
    int code = EX_EXIT_DONE;
    if (result == EX_OK) {
        exi_farm_forget(farm, task);
    } else {
        if (json_array_size(w.lines) == 0 || !w.how[0])
            json_array_append_new(w.lines, json_string(error.text));
        exi_farm_fail(farm, task,
                      w.how[0]        ? w.how
                      : w.seconds > 0 ? "it could not write its piece"
                                      : "it refused to start",
                      w.lines);
        code = exi_failed(&error);
        code = w.code > 128 ? w.code : exi_interrupted() ? exi_interrupted() : code;
    }
    exi_farm_unmark(w.mark);
    exi_interrupt_defer(false);
    if (w.log)
        fclose(w.log);
    json_decref(w.before);
    json_decref(w.notes);
    json_decref(w.lines);
    free(w.mark);
    free(w.room);
    return code;
}

static int run(const ex_call *call) {
    ex_error error = {.result = EX_OK};
    exi_farm farm;
    exi_farm_program program;
    if (!exi_farm_open_argument(call, &farm))
        return EX_EXIT_FAILED;
    int code = EX_EXIT_FAILED;
    const int task = exi_farm_find(&farm, call->arguments[1]);
    if (task < 0)
        exi_failed_text("the plan in '%s' has no task '%s': it has tasks 1 to %d", farm.folder, call->arguments[1],
                        farm.task_count);
    else if (exi_farm_program_find(call->program, &program, &error) != EX_OK)
        exi_failed(&error);
    else
        code = do_task(call, &farm, &program, task);
    if (task >= 0)
        exi_farm_program_free(&program);
    exi_farm_close(&farm);
    return code;
}

const ex_command cmd_farm_do = {
    .name = "farm do",
    .summary = "make one piece of a plan",
    .usage = "farm do DIR TASK",
    .description = "Runs one task of a plan, by its number or by the name of its piece, and writes\n"
                   "its piece. Engines call this; the lists that 'exemplar farm plan' and\n"
                   "'exemplar farm submit --to list' write consist of such lines.\n"
                   "\n"
                   "A piece that is there and fits is not made again. A task that fails leaves a\n"
                   "record for 'exemplar farm status', and no piece. It works in a private folder\n"
                   "in TMPDIR, or in DIR/scratch if that is not set.",
    .examples = "exemplar farm do job 17",
    .argument_min = 2,
    .argument_max = 2,
    .run = run,
};
