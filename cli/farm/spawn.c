/* Runs a command of the tool as a process of its own, and keeps what it says. */
#define _GNU_SOURCE

#include "farm.h"

#include "cli/base/interrupt.h"
#include "common/array.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LINE_SIZE = 1000, LINES_KEPT = 40, NOTES_KEPT = 40, POLL_MS = 500 };

/* ---- what it says ---- */

typedef struct listener {
    FILE *log;
    json_t *lines, *notes;
    char line[LINE_SIZE + 1];
    size_t size;
} listener;

/* True for "exemplar: following the driver, 45% done, 12 s left", and "exemplar: learning will take about 19 s". */
static bool is_progress(const char *line) {
    const char *done = strstr(line, "% done");
    return (done && done > line && done[-1] >= '0' && done[-1] <= '9') || strstr(line, " will take about ");
}

/* Ends the present line. Bytes that are not UTF-8 make it no text for JSON: then it is left out there. */
static void end_line(listener *l) {
    l->line[l->size] = 0;
    l->size = 0;
    if (!l->line[0] || is_progress(l->line))
        return;
    if (json_array_size(l->lines) >= LINES_KEPT)
        json_array_remove(l->lines, 0);
    json_array_append_new(l->lines, json_string(l->line));
    if (strncmp(l->line, "exemplar: ", 10) == 0 && json_array_size(l->notes) < NOTES_KEPT)
        json_array_append_new(l->notes, json_string(l->line + 10));
}

static void hear(listener *l, const char *bytes, size_t size) {
    if (l->log) {
        fwrite(bytes, 1, size, l->log);
        fflush(l->log);
    }
    for (size_t i = 0; i < size; i++)
        if (bytes[i] == '\n')
            end_line(l);
        else if (l->size < LINE_SIZE)
            l->line[l->size++] = bytes[i];
}

/* ---- the process ---- */

/* Words with the folder put in; [count + 2] with the program in front and NULL behind. Caller frees each but the first.
 */
static char **make_words(const char *program, const json_t *words, const char *folder) {
    const size_t count = json_array_size(words), length = strlen(folder);
    char **argv = calloc(count + 2, sizeof *argv);
    bool whole = argv != NULL;
    for (size_t i = 0; whole && i < count; i++) {
        const char *word = json_string_value(json_array_get(words, i));
        const bool inside = word[0] == '@' && word[1] == '/';
        argv[i + 1] = malloc(length + strlen(word) + 1);
        whole = argv[i + 1] != NULL;
        if (whole)
            sprintf(argv[i + 1], "%s%s", inside ? folder : "", inside ? word + 1 : word);
    }
    if (argv)
        argv[0] = (char *)program;
    if (whole)
        return argv;
    for (size_t i = 1; argv && argv[i]; i++)
        free(argv[i]);
    free(argv);
    return NULL;
}

static void free_words(char **argv) {
    for (size_t i = 1; argv[i]; i++)
        free(argv[i]);
    free(argv);
}

/* The child: nothing but calls that are safe after fork. */
static void become(char **argv, int output, pid_t parent) {
    static const char failed[] = "exemplar: this program cannot be started again\n";
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* no work that nobody waits for */
    if (getppid() != parent)
        _exit(127);
    (void)dup2(output, STDOUT_FILENO);
    (void)dup2(output, STDERR_FILENO);
    execv(argv[0], argv);
    const ssize_t written = write(STDERR_FILENO, failed, sizeof failed - 1);
    (void)written;
    _exit(127);
}

/* Listens until the process has closed its output. */
static bool attend(listener *l, int input, pid_t child) {
    bool stopped = false;
    for (;;) {
        char bytes[4096];
        struct pollfd wait = {.fd = input, .events = POLLIN};
        const int ready = poll(&wait, 1, POLL_MS);
        if (exi_interrupted() && !stopped) {
            stopped = true;
            kill(child, SIGTERM);
        }
        if (ready <= 0)
            continue;
        const ssize_t got = read(input, bytes, sizeof bytes);
        if (got > 0)
            hear(l, bytes, (size_t)got);
        else if (got == 0 || errno != EINTR)
            return stopped;
    }
}

ex_result exi_farm_spawn(const char *program, const json_t *words, const char *folder, FILE *log, exi_farm_run *run,
                         ex_error *error) {
    int ends[2];
    struct rusage used = {.ru_maxrss = 0};
    listener l = {.log = log, .lines = json_array(), .notes = json_array()};
    char **argv = make_words(program, words, folder);
    *run = (exi_farm_run){.lines = l.lines, .notes = l.notes};
    if (!argv || !l.lines || !l.notes) {
        if (argv)
            free_words(argv);
        return ex_error_memory(error, "a command", 1024);
    }
    if (pipe2(ends, O_CLOEXEC) != 0) {
        free_words(argv);
        return ex_file_error(error, "start", program, errno);
    }
    const double start = exi_clock();
    const pid_t parent = getpid(), child = fork();
    if (child == 0)
        become(argv, ends[1], parent);
    const int failure = errno;
    close(ends[1]);
    free_words(argv);
    if (child < 0) {
        close(ends[0]);
        return ex_file_error(error, "start", program, failure);
    }
    run->stopped = attend(&l, ends[0], child);
    if (l.size > 0)
        end_line(&l);
    close(ends[0]);
    int status = 0;
    pid_t ended;
    while ((ended = wait4(child, &status, 0, &used)) < 0 && errno == EINTR)
        ;
    if (ended < 0)
        return ex_file_error(error, "wait for", program, errno);
    run->seconds = exi_clock() - start;
    run->memory = 1024.0 * (double)used.ru_maxrss;
    run->code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return EX_OK;
}
