/*
 * Runs tasks as processes of this machine, a few at a time. A task starts when the pieces that it needs are there.
 * Tasks that another process works on are left for last: their pieces will probably be there by then.
 */
#define _GNU_SOURCE

#include "farm.h"

#include "cli/base/interrupt.h"
#include "common/array.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TRIES = 3, POLL_MS = 20, LOOK_EVERY = 50 };

typedef enum phase { WAITING, STARTED, FINISHED, BROKEN, SKIPPED } phase;

typedef struct slot {
    pid_t child; /* 0: free */
    int task;
} slot;

typedef struct pool {
    const exi_farm_order *order;
    const exi_farm *farm;
    int slot_count;
    slot *slots;
    unsigned char *phases, *tries; /* [task_count] */
    exi_farm_state *states;        /* as seen last */
    int wanted, finished, broken, running;
    double weight, weight_done;
    bool stopping;
} pool;

/* Expected seconds; if they are not known, all tasks count alike. */
static double weight_of(const pool *p, int task) {
    return p->farm->tasks[task].seconds > 0 ? p->farm->tasks[task].seconds : 1;
}

static bool start(pool *p, slot *free_slot, int task) {
    const pid_t parent = getpid(), child = fork();
    if (child == 0) {
        const char *const argv[] = {p->order->program->path,    "farm", "do", p->farm->folder,
                                    p->farm->tasks[task].piece, "-q",   NULL};
        (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != parent)
            _exit(127);
        /* The words of a task are in its log, and in its failure. */
        const int nothing = open("/dev/null", O_WRONLY);
        if (nothing >= 0) {
            (void)dup2(nothing, STDOUT_FILENO);
            (void)dup2(nothing, STDERR_FILENO);
        }
        setpgid(0, 0); /* Ctrl-C is for the pool, which passes it on */
        execv(argv[0], (char *const *)argv);
        _exit(127);
    }
    if (child < 0)
        return false;
    *free_slot = (slot){child, task};
    p->phases[task] = STARTED;
    p->tries[task]++;
    p->running++;
    return true;
}

/* Takes note of a process that ended. */
static void end(pool *p, slot *s, int status) {
    const int task = s->task;
    s->child = 0;
    p->running--;
    const bool well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    /* One that is killed after its last act has done its work. */
    if (well || exi_farm_has_piece(p->farm, task)) {
        if (!well)
            exi_farm_forget(p->farm, task);
        p->phases[task] = FINISHED;
        p->finished++;
        p->weight_done += weight_of(p, task);
        return;
    }
    const int killed = WIFSIGNALED(status)         ? WTERMSIG(status)
                       : WEXITSTATUS(status) > 128 ? WEXITSTATUS(status) - 128
                                                   : 0;
    if (p->stopping) {
        p->phases[task] = WAITING;
    } else if (killed && p->tries[task] < TRIES) {
        exi_farm_forget(p->farm, task);
        p->phases[task] = WAITING;
    } else {
        json_t *known = exi_farm_failure(p->farm, task);
        if (!known) {
            char how[64];
            snprintf(how, sizeof how, "killed by signal %d, %d times", killed, p->tries[task]);
            exi_farm_fail(p->farm, task, killed ? how : "it could not be started", NULL);
        }
        json_decref(known);
        p->phases[task] = BROKEN;
        p->broken++;
    }
}

static void reap(pool *p) {
    for (int i = 0; i < p->slot_count; i++) {
        int status = 0;
        const pid_t ended = p->slots[i].child ? waitpid(p->slots[i].child, &status, WNOHANG) : 0;
        if (ended > 0)
            end(p, &p->slots[i], status);
        else if (ended < 0 && errno == ECHILD)
            end(p, &p->slots[i], EX_EXIT_FAILED << 8);
    }
}

/* 1: all pieces that it needs are there; 0: not yet; -1: one will not come. */
static int ready(const pool *p, int task) {
    const json_t *needs = json_object_get(p->farm->tasks[task].json, "needs");
    int all = 1;
    for (size_t i = 0; i < json_array_size(needs); i++) {
        const int need = (int)json_integer_value(json_array_get(needs, i));
        if (p->phases[need] == BROKEN || p->phases[need] == SKIPPED)
            return -1;
        if (p->phases[need] != FINISHED)
            all = 0;
    }
    return all;
}

/* Starts what can be started. others: also tasks that other processes work on. */
static bool fill(pool *p, bool others) {
    int task = 0;
    for (int i = 0; i < p->slot_count; i++) {
        if (p->slots[i].child)
            continue;
        for (; task < p->farm->task_count; task++) {
            if (p->phases[task] != WAITING || (!others && p->states[task] == EXI_FARM_RUNNING))
                continue;
            const int can = ready(p, task);
            if (can < 0) {
                p->phases[task] = SKIPPED;
                p->broken++;
            }
            if (can > 0)
                break;
        }
        if (task == p->farm->task_count)
            return true;
        if (!start(p, &p->slots[i], task++))
            return false;
    }
    return true;
}

static void stop(pool *p) {
    p->stopping = true;
    for (int i = 0; i < p->slot_count; i++)
        if (p->slots[i].child)
            kill(p->slots[i].child, SIGTERM);
}

/* Looks which tasks others have finished, or are working on. */
static void look(pool *p) {
    ex_error error = {.result = EX_OK};
    if (exi_farm_states(p->farm, p->states, &error) != EX_OK)
        return;
    for (int i = 0; i < p->farm->task_count; i++)
        if (p->phases[i] == WAITING && p->states[i] == EXI_FARM_DONE) {
            p->phases[i] = FINISHED;
            p->finished++;
            p->weight_done += weight_of(p, i);
        }
}

static int report(const pool *p) {
    const ex_call *call = p->order->call;
    char a[EXI_TEXT_SIZE];
    if (p->stopping) {
        exi_failed_text("interrupted: %d of %d tasks are done; run the same command to resume", p->finished, p->wanted);
        return exi_interrupted();
    }
    for (int i = 0, named = 0; i < p->farm->task_count && named < 5; i++) {
        json_t *failure = p->phases[i] == BROKEN ? exi_farm_failure(p->farm, i) : NULL;
        if (p->phases[i] != BROKEN)
            continue;
        const json_t *lines = json_object_get(failure, "lines");
        const char *line = json_string_value(json_array_get(lines, json_array_size(lines) - 1));
        line = line && strncmp(line, "exemplar: ", 10) == 0 ? line + 10 : line;
        exi_failed_text("task %d (%s) failed: %s", i + 1, p->farm->tasks[i].name,
                        line ? line : exi_farm_text(failure, "how"));
        json_decref(failure);
        named++;
    }
    if (p->broken > 0)
        return exi_failed_text("%d of %d tasks are not done: 'exemplar farm status %s' says more, and 'exemplar farm "
                               "retry' runs them again",
                               p->broken, p->wanted, call->arguments[0]);
    if (!call->quiet) {
        exi_print("%s done: exemplar farm merge ", exi_text_count(a, p->finished, "task"));
        exi_print_word(call->arguments[0]);
        exi_print("\n");
    }
    return EX_EXIT_DONE;
}

static bool work(pool *p) {
    exi_progress progress;
    exi_progress_start(&progress, p->order->call);
    bool good = true;
    for (int round = 0; p->finished + p->broken < p->wanted || p->running > 0; round++) {
        const struct timespec wait = {.tv_nsec = POLL_MS * 1000000L};
        reap(p);
        if (exi_interrupted() && !p->stopping)
            stop(p);
        if (p->stopping && p->running == 0)
            break;
        if (round % LOOK_EVERY == 0 && !p->stopping)
            look(p);
        if (!p->stopping && p->running < p->slot_count) {
            good = fill(p, false);
            if (good && p->running < p->slot_count && round % LOOK_EVERY == 0)
                good = fill(p, p->running == 0);
        }
        if (!good) {
            exi_failed_text("a process cannot be started: %s", strerror(errno));
            stop(p);
        }
        if (p->weight > 0)
            exi_progress_step(&progress, "running tasks", p->weight_done / p->weight);
        (void)nanosleep(&wait, NULL);
    }
    exi_progress_end(&progress);
    return good;
}

int exi_farm_to_local(const exi_farm_order *order) {
    const exi_farm *farm = order->farm;
    const int threads = (int)exi_farm_number(farm->plan, "threads"),
              jobs = order->jobs > 0 ? order->jobs : order->call->threads / (threads > 0 ? threads : 1);
    pool p = {.order = order, .farm = farm, .slot_count = jobs > 0 ? jobs : 1};
    p.slots = calloc((size_t)p.slot_count, sizeof *p.slots);
    p.phases = calloc((size_t)farm->task_count + 1, 1);
    p.tries = calloc((size_t)farm->task_count + 1, 1);
    p.states = array_allocate((size_t)farm->task_count, sizeof *p.states);
    int code = EX_EXIT_FAILED;
    if (!p.slots || !p.phases || !p.tries || !p.states) {
        exi_failed_memory();
    } else {
        ex_error error = {.result = EX_OK};
        (void)exi_farm_states(farm, p.states, &error);
        for (int i = 0; i < farm->task_count; i++) {
            p.wanted += order->wanted[i];
            p.weight += order->wanted[i] ? weight_of(&p, i) : 0;
            p.phases[i] = order->wanted[i] ? WAITING : p.states[i] == EXI_FARM_DONE ? FINISHED : SKIPPED;
        }
        exi_interrupt_defer(true);
        const bool good = work(&p);
        exi_interrupt_defer(false);
        code = good ? report(&p) : EX_EXIT_FAILED;
    }
    free(p.slots);
    free(p.phases);
    free(p.tries);
    free(p.states);
    return code;
}
