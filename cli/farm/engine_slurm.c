/*
 * Submits tasks to Slurm: one array of jobs a stage, or several if the cluster's MaxArraySize is smaller. An element of
 * an array runs one line of a list of commands. A stage waits until the stage before has ended, well or not: a task
 * that misses a piece says so, and others that do not need it go on.
 */
#define _GNU_SOURCE

#include "farm.h"

#include "cli/base/files.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ARRAY_DEFAULT 1001
#define MEMORY_MORE   1.25
#define MEMORY_LEAST  (64.0 * 1024 * 1024)

/* ---- asking Slurm ---- */

/* Runs a program of Slurm and takes the first `size` bytes that it prints. Returns its exit code; 127 if it is not
 * there. */
static int ask(char *const *argv, char *text, size_t size) {
    int ends[2];
    text[0] = 0;
    if (pipe(ends) != 0)
        return 127;
    const pid_t child = fork();
    if (child == 0) {
        (void)dup2(ends[1], STDOUT_FILENO);
        (void)dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        execvp(argv[0], argv);
        _exit(127);
    }
    close(ends[1]);
    size_t filled = 0;
    char rest[512];
    for (;;) {
        const bool room = filled + 1 < size;
        const ssize_t got = read(ends[0], room ? text + filled : rest, room ? size - 1 - filled : sizeof rest);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        filled += room ? (size_t)got : 0;
    }
    text[filled] = 0;
    close(ends[0]);
    int status = 0;
    pid_t ended = -1;
    while (child > 0 && (ended = waitpid(child, &status, 0)) < 0 && errno == EINTR)
        ;
    return ended > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 127;
}

/* Elements that an array may have: MaxArraySize is the largest index plus one, and lines count from 1. */
static int array_most(void) {
    char text[65536];
    char *argv[] = {"scontrol", "show", "config", NULL};
    const char *found = ask(argv, text, sizeof text) == 0 ? strstr(text, "MaxArraySize") : NULL;
    const char *equals = found ? strchr(found, '=') : NULL;
    const long most = equals ? strtol(equals + 1, NULL, 10) : ARRAY_DEFAULT;
    return most > 2 ? (int)(most < 1000000 ? most - 1 : 1000000) : ARRAY_DEFAULT - 1;
}

/* ---- one array ---- */

/* Writes the commands of tasks [count] and the script that runs one of them. */
static ex_result write_array(const exi_farm_order *order, const char *name, const int *tasks, int count, char **script,
                             ex_error *error) {
    ex_file_writer writer;
    char *list = exi_farm_path(order->farm, "submitted", name, ".txt");
    *script = exi_farm_path(order->farm, "submitted", name, ".sh");
    ex_result result = list && *script ? ex_file_open(&writer, list, error) : ex_error_memory(error, "a path", 64);
    for (int i = 0; result == EX_OK && i < count; i++) {
        char *line = exi_farm_line(order->farm, tasks[i], order->command);
        if (line)
            ex_file_printf(&writer, "%s\n", line);
        else
            result = ex_error_memory(error, "a command", 64);
        free(line);
    }
    if (result == EX_OK)
        result = ex_file_commit(&writer, error);
    if (result == EX_OK)
        result = ex_file_open(&writer, *script, error);
    if (result == EX_OK) {
        /* The path has no quotes: exi_farm_to_slurm has looked. */
        ex_file_printf(&writer,
                       "#!/bin/sh\n# One line of a list of commands, by the index of this job in its array.\n"
                       "line=$(sed -n \"${SLURM_ARRAY_TASK_ID}p\" '%s')\n"
                       "[ -n \"$line\" ] || { echo \"exemplar: there is no line ${SLURM_ARRAY_TASK_ID} in '%s'\" >&2; "
                       "exit 1; }\n"
                       "eval \"exec $line\"\n",
                       list, list);
        result = ex_file_commit(&writer, error);
    }
    free(list);
    return result;
}

/* Memory that the tasks are expected to need, in megabytes; 0 if that is not known. */
static long megabytes(const exi_farm *farm, const int *tasks, int count) {
    double most = 0;
    for (int i = 0; i < count; i++)
        most = fmax(most, exi_farm_number(farm->tasks[tasks[i]].json, "memory"));
    return most > 0 ? (long)ceil(fmax(MEMORY_MORE * most, MEMORY_LEAST) / (1024 * 1024)) : 0;
}

typedef struct line {
    char *words[EX_WORDS_MAX + 32];
    int count;
    bool failed;
} line;

__attribute__((format(printf, 2, 3))) static void add(line *l, const char *format, ...) {
    va_list list;
    va_start(list, format);
    if (vasprintf(&l->words[l->count], format, list) < 0)
        l->failed = true;
    else
        l->count++;
    va_end(list);
}

/* Removes the files of an array that was not submitted. */
static void discard(const exi_farm *farm, const char *name) {
    static const char *const endings[] = {".txt", ".sh"};
    for (int i = 0; i < 2; i++) {
        char *path = exi_farm_path(farm, "submitted", name, endings[i]);
        if (path)
            (void)unlink(path);
        free(path);
    }
}

/* The number of a job, "123" or "123;cluster", among warnings; NULL if there is none. */
static const char *find_job(const char *text) {
    const char *found = NULL;
    for (const char *at = text; at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL)
        if (at[0] >= '0' && at[0] <= '9' && strspn(at, "0123456789") == strcspn(at, ";\n"))
            found = at;
    return found;
}

/* The last line of a text, which is cut there. */
static const char *last_line(char *text) {
    size_t size = strlen(text);
    while (size > 0 && text[size - 1] == '\n')
        text[--size] = 0;
    const char *end = strrchr(text, '\n');
    return end ? end + 1 : text;
}

/* Submits one array; its number goes to *job. depends: numbers of jobs with colons in front, or "". */
static bool submit(const exi_farm_order *order, const char *name, const int *tasks, int count, const char *depends,
                   char job[64], ex_error *error) {
    char *script = NULL, answer[4096] = "";
    line l = {.count = 0};
    if (write_array(order, name, tasks, count, &script, error) != EX_OK) {
        free(script);
        return false;
    }
    const int threads = (int)exi_farm_number(order->farm->plan, "threads");
    const long memory = megabytes(order->farm, tasks, count);
    char *log = exi_farm_path(order->farm, "logs", name, ".%a.slurm");
    add(&l, "sbatch");
    add(&l, "--parsable");
    add(&l, "--requeue");
    add(&l, "--job-name=exemplar-%s", strrchr(order->farm->folder, '/') + 1);
    add(&l, "--array=1-%d", count);
    add(&l, "--cpus-per-task=%d", threads > 0 ? threads : 1);
    add(&l, "--output=%s", log ? log : "/dev/null");
    add(&l, "--open-mode=append");
    add(&l, "--chdir=%s", order->farm->folder);
    if (depends[0])
        add(&l, "--dependency=afterany%s", depends);
    if (order->partition)
        add(&l, "--partition=%s", order->partition);
    if (order->time)
        add(&l, "--time=%s", order->time);
    if (order->account)
        add(&l, "--account=%s", order->account);
    if (order->memory)
        add(&l, "--mem=%s", order->memory);
    else if (memory > 0)
        add(&l, "--mem=%ldM", memory);
    for (int i = 0; i < order->extra->count; i++)
        add(&l, "--%s", order->extra->words[i]);
    add(&l, "%s", script);
    l.words[l.count] = NULL;
    const int code = l.failed ? 127 : ask(l.words, answer, sizeof answer);
    for (int i = 0; i < l.count; i++)
        free(l.words[i]);
    free(log);
    if (code != 0)
        discard(order->farm, name);
    free(script);
    const char *number = find_job(answer);
    snprintf(job, 64, "%.*s", number ? (int)strcspn(number, ";\n") : 0, number ? number : "");
    const char *said = last_line(answer);
    if (code == 127)
        ex_error_set(error, EX_ERROR_FILE,
                     "sbatch cannot be started: install Slurm's client, or use --to local or --to list");
    else if (code != 0)
        ex_error_set(error, EX_ERROR_DATA, "sbatch refused '%s': %s", name, said);
    else if (!job[0])
        ex_error_set(error, EX_ERROR_DATA, "sbatch gave no number of a job for '%s': %s", name, said);
    return code == 0 && job[0];
}

/* ---- all ---- */

int exi_farm_to_slurm(const exi_farm_order *order) {
    ex_error error = {.result = EX_OK};
    const exi_farm *farm = order->farm;
    const int most = array_most();
    int *tasks = malloc((size_t)farm->task_count * sizeof *tasks + 1), arrays = 0, all = 0;
    char *before = strdup(""), a[EXI_TEXT_SIZE], b[EXI_TEXT_SIZE], first[64] = "", last[64] = "";
    bool good = tasks && before;
    if (!good) {
        exi_failed_memory();
    } else if (strpbrk(farm->folder, "'\"\\\n%")) {
        exi_failed_text("Slurm would misread the folder's name '%s': choose one without quotes and percent signs",
                        farm->folder);
        good = false;
    }
    for (int s = 0; good && s < farm->stage_count; s++) {
        char *now = strdup("");
        for (int t = 0; good && now && t < farm->task_count;) {
            int count = 0;
            for (; t < farm->task_count && count < most; t++)
                if (order->wanted[t] && farm->tasks[t].stage == s)
                    tasks[count++] = t;
            if (count == 0)
                break;
            char name[96], job[64], *longer = NULL;
            snprintf(name, sizeof name, "slurm-%lld-%ld-%d", (long long)time(NULL), (long)getpid(), ++arrays);
            good = submit(order, name, tasks, count, before, job, &error);
            snprintf(last, sizeof last, "%s", good ? job : "");
            if (arrays == 1)
                snprintf(first, sizeof first, "%s", last);
            if (good && asprintf(&longer, "%s:%s", now, job) >= 0) {
                free(now);
                now = longer;
                all += count;
                for (int i = 0; i < count; i++)
                    order->wanted[tasks[i]] = 0;
            }
        }
        if (now && now[0]) {
            free(before);
            before = now;
        } else {
            free(now);
        }
    }
    free(tasks);
    if (!good && error.result != EX_OK)
        exi_failed(&error);
    if (!good && all > 0)
        exi_failed_text("%d tasks had been submitted before, in jobs from %s on: they run, and 'exemplar farm submit' "
                        "submits the others",
                        all, first);
    if (good && !order->call->quiet) {
        exi_print("%s submitted to Slurm as ", exi_text_count(a, all, "task"));
        if (arrays == 1)
            exi_print("job %s\n", first);
        else
            exi_print("%s, jobs %s to %s\n", exi_text_count(b, arrays, "array"), first, last);
        exi_print("Next: exemplar farm status ");
        exi_print_word(order->call->arguments[0]);
        exi_print("\n");
    }
    free(before);
    return good ? EX_EXIT_DONE : EX_EXIT_FAILED;
}
