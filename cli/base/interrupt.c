/* cli/base/interrupt.c - the signal handler. It calls only functions that are async-signal-safe. */
#define _POSIX_C_SOURCE 200809L

#include "interrupt.h"

#include "report.h"

#include <exemplar/author/files.h>
#include <exemplar/author/formats.h>

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Milliseconds in which further signals count as the first one: programs that end others often send it to them and to
 * their group. */
enum { GRACE = 500 };

static atomic_bool deferring;
static atomic_int noted;
static atomic_llong noted_at;

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1000 * (long long)time.tv_sec + time.tv_nsec / 1000000;
}

static void on_signal(int number) {
    int none = 0;
    if (atomic_load(&deferring) && atomic_compare_exchange_strong(&noted, &none, number)) {
        atomic_store(&noted_at, now());
        ex_file_stop();
        return;
    }
    if (atomic_load(&noted) && now() < atomic_load(&noted_at) + GRACE)
        return;
    if (number != SIGPIPE)
        exi_report_interrupted();
    ex_file_remove_pending();
    _exit(128 + number);
}

void exi_interrupt_catch(void) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        struct sigaction action;
        if (sigaction(numbers[i], NULL, &action) != 0 || action.sa_handler == SIG_IGN)
            continue;
        memset(&action, 0, sizeof action);
        action.sa_handler = on_signal;
        action.sa_flags = SA_RESTART; /* deferred signals must not make reads and writes fail */
        sigemptyset(&action.sa_mask);
        for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++)
            sigaddset(&action.sa_mask, numbers[k]); /* one at a time */
        sigaction(numbers[i], &action, NULL);
    }
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGCHLD, SIG_DFL); /* a parent that ignores it would hide how our own processes end */
}

void exi_interrupt_defer(bool defer) {
    atomic_store(&deferring, defer);
}

int exi_interrupted(void) {
    int number = atomic_load(&noted);
    return number ? 128 + number : 0;
}
