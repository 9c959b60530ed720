/* cli/base/report.c - prints failures, progress and numbers. */
#define _POSIX_C_SOURCE 200809L

#include "report.h"

#include "interrupt.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BAR_AFTER_SECONDS  1.0
#define BAR_EVERY_SECONDS  0.1
#define LINE_EVERY_SECONDS 5.0
#define BAR_CELLS          24
#define BAR_COLUMNS        79
/* Work this old, and done to this part, tells how long it will take; before, a guess would be far off. */
#define LEFT_AFTER_SECONDS 10.0
#define LEFT_AFTER_PART    0.02
#define MESSAGE_SIZE       8192 /* room for two paths of the greatest length */

/* True while a bar is on the terminal; the signal handler reads it. */
static volatile sig_atomic_t bar_shown;

void exi_message(const char *prefix, const char *suffix, const char *format, va_list list) {
    char sentence[MESSAGE_SIZE];
    vsnprintf(sentence, sizeof sentence, format, list);
    exi_print_to(stderr, "%s: %s%s\n", prefix, sentence, suffix);
}

int exi_failed_text(const char *format, ...) {
    va_list list;
    va_start(list, format);
    exi_message("exemplar", "", format, list);
    va_end(list);
    return EX_EXIT_FAILED;
}

int exi_failed_memory(void) {
    return exi_failed_text("%s", ex_result_text(EX_ERROR_MEMORY));
}

int exi_failed(const ex_error *error) {
    return exi_failed_text("%s%s", error->text[0] ? error->text : ex_result_text(error->result), exi_hint(error));
}

void exi_notes_keep(void *user, const char *text) {
    exi_notes *notes = user;
    char **texts = realloc(notes->texts, (size_t)(notes->count + 1) * sizeof *texts);
    char *copy = texts ? strdup(text) : NULL;
    notes->texts = texts ? texts : notes->texts;
    if (copy)
        notes->texts[notes->count++] = copy;
    else
        exi_failed_text("%s%s%s", notes->path ? notes->path : "", notes->path ? ": " : "", text);
}

void exi_notes_free(exi_notes *notes) {
    for (int i = 0; i < notes->count; i++)
        free(notes->texts[i]);
    free(notes->texts);
    *notes = (exi_notes){.texts = NULL};
}

void exi_notes_print(const char *path, char *const *notes, int count) {
    for (int i = 0; i < count; i++)
        exi_failed_text("%s: %s", path, notes[i]);
}

bool exi_report_is_terminal(void) {
    return isatty(STDOUT_FILENO) == 1;
}

double exi_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

const char *exi_text_bytes(char buffer[EXI_TEXT_SIZE], double bytes) {
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
    int unit = 0;
    while (bytes >= 999.5 && unit < 4) {
        bytes /= 1000;
        unit++;
    }
    snprintf(buffer, EXI_TEXT_SIZE, "%.*f %s", unit > 0 && bytes < 9.95 ? 1 : 0, bytes, units[unit]);
    return buffer;
}

const char *exi_text_seconds(char buffer[EXI_TEXT_SIZE], double seconds) {
    if (seconds < 0.9995)
        snprintf(buffer, EXI_TEXT_SIZE, "%.*f ms", seconds < 0.00995 ? 1 : 0, seconds * 1e3);
    else
        snprintf(buffer, EXI_TEXT_SIZE, "%.1f s", seconds);
    return buffer;
}

const char *exi_text_length(char buffer[EXI_TEXT_SIZE], double metres) {
    if (metres < 0)
        snprintf(buffer, EXI_TEXT_SIZE, "-");
    else if (metres < 1)
        snprintf(buffer, EXI_TEXT_SIZE, "%.*f mm", metres < 0.1 ? 2 : 1, 1000 * metres);
    else
        snprintf(buffer, EXI_TEXT_SIZE, "%.3f m", metres);
    return buffer;
}

const char *exi_text_count(char buffer[EXI_TEXT_SIZE], int count, const char *singular) {
    /* The two words used here whose plural does not end in s. */
    const char *plural = strcmp(singular, "vertex") == 0 ? "vertices" : strcmp(singular, "axis") == 0 ? "axes" : NULL;
    if (count != 1 && plural)
        snprintf(buffer, EXI_TEXT_SIZE, "%d %s", count, plural);
    else
        snprintf(buffer, EXI_TEXT_SIZE, "%d %s%s", count, singular, count == 1 ? "" : "s");
    return buffer;
}

/* Says how long the rest will take if it goes on as before; nothing too early. */
static const char *text_left(char buffer[EXI_TEXT_SIZE], double seconds, double fraction) {
    const double left = fraction > 0 ? seconds * (1 - fraction) / fraction : 0;
    buffer[0] = '\0';
    if (seconds < LEFT_AFTER_SECONDS || fraction < LEFT_AFTER_PART || left < 1)
        return buffer;
    if (left < 90)
        snprintf(buffer, EXI_TEXT_SIZE, ", %.0f s left", left);
    else if (left < 90 * 60)
        snprintf(buffer, EXI_TEXT_SIZE, ", %.0f min left", left / 60);
    else
        snprintf(buffer, EXI_TEXT_SIZE, ", %.0f h left", left / 3600);
    return buffer;
}

static void draw_bar(const char *what, double fraction, const char *left) {
    char bar[BAR_CELLS + 1];
    int filled = (int)(fraction * BAR_CELLS);
    for (int i = 0; i < BAR_CELLS; i++)
        bar[i] = i < filled ? '#' : '.';
    bar[BAR_CELLS] = '\0';
    exi_print_to(stderr, "\r%-32.32s [%s] %3.0f%%%-14s", what, bar, 100 * fraction, left);
    fflush(stderr);
}

static void erase_bar(void) {
    exi_print_to(stderr, "\r%*s\r", BAR_COLUMNS, "");
    fflush(stderr);
}

void exi_progress_step(exi_progress *progress, const char *what, double fraction) {
    double now = exi_clock();
    double wait = progress->terminal ? BAR_EVERY_SECONDS : LINE_EVERY_SECONDS;
    if (progress->quiet || now - progress->start < BAR_AFTER_SECONDS || now - progress->last < wait)
        return;
    char left[EXI_TEXT_SIZE];
    progress->last = now;
    fraction = fraction > 0 ? fraction < 1 ? fraction : 1 : 0;
    if (progress->terminal) {
        progress->shown = true;
        bar_shown = 1;
        draw_bar(what, fraction, text_left(left, now - progress->start, fraction));
    } else {
        exi_print_to(stderr, "exemplar: %s, %.0f%% done%s\n", what, 100 * fraction,
                     text_left(left, now - progress->start, fraction));
    }
}

static bool on_report(void *user, const char *what, double fraction) {
    exi_progress_step(user, what, fraction);
    return exi_interrupted() == 0;
}

void exi_progress_start(exi_progress *progress, const ex_call *call) {
    double now = exi_clock();
    *progress = (exi_progress){.hook = {.report = on_report, .user = progress},
                               .quiet = call->quiet,
                               .terminal = isatty(STDERR_FILENO) == 1,
                               .start = now,
                               .last = now};
}

void exi_progress_end(exi_progress *progress) {
    if (progress->shown) {
        erase_bar();
        progress->shown = false;
        bar_shown = 0;
    }
}

void exi_report_interrupted(void) {
    static const char line[] = "\nexemplar: interrupted\n";
    size_t skipped = bar_shown ? 0 : 1;
    ssize_t written = write(STDERR_FILENO, line + skipped, sizeof line - 1 - skipped);
    (void)written;
}
