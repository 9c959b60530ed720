/*
 * cli/report.h - what the tool says besides data: failures, progress, and numbers for people.
 *
 * Failures and progress go to stderr. A progress is one bar on a terminal, or a line every five seconds elsewhere; work
 * that is done within a second shows nothing. Main thread only, except exi_report_interrupted.
 */
#ifndef EXEMPLAR_CLI_REPORT_H
#define EXEMPLAR_CLI_REPORT_H

#include "command.h"

#include <exemplar/author/project.h>

#include <stdarg.h>
#include <stdio.h>

/* The text with control characters as escapes (\n, \x1b), so that whatever is named in a message, it stays on its
 * line and leaves the terminal alone. */
void exi_print_plain(FILE *file, const char *text);

/* Prints "PREFIX: SENTENCE" and "SUFFIX" on stderr, the sentence by exi_print_plain. */
void exi_message(const char *prefix, const char *suffix, const char *format, va_list list)
    __attribute__((format(printf, 3, 0)));

/* Prints "exemplar: SENTENCE" on stderr and returns EX_EXIT_FAILED. */
int exi_failed(const ex_error *error);
/* The end of the sentence that says which command or option helps; "" where none does. */
const char *exi_hint(const ex_error *error);
int exi_failed_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints "exemplar: PATH: SENTENCE" on stderr for each of some notes about a file. */
void exi_notes_print(const char *path, char *const *notes, int count);

/* Whether standard output is a terminal: figures that differ from run to run are for people alone. */
bool exi_report_is_terminal(void);

/* Seconds on a clock that only goes forwards. */
double exi_clock(void);

/* "131 kB", "12 ms", "1 layer", "5 layers": into the caller's buffer, which is returned. */
#define EXI_TEXT_SIZE 48
const char *exi_text_bytes(char buffer[EXI_TEXT_SIZE], double bytes);
const char *exi_text_seconds(char buffer[EXI_TEXT_SIZE], double seconds);
/* "4.2 mm", "1.3 m"; "-" below 0. */
const char *exi_text_length(char buffer[EXI_TEXT_SIZE], double metres);
const char *exi_text_count(char buffer[EXI_TEXT_SIZE], int count, const char *singular);

typedef struct exi_progress {
    ex_progress hook; /* for the library; asks it to stop where a signal was noted */
    bool quiet, terminal, shown;
    double start, last;
} exi_progress;

void exi_progress_start(exi_progress *progress, const ex_call *call);
/* For work that the tool itself divides. */
void exi_progress_step(exi_progress *progress, const char *what, double fraction);
/* Takes the bar away. To be called before anything else is printed. */
void exi_progress_end(exi_progress *progress);

/* For the signal handler: says that the work was interrupted, on a line of its own. Safe inside a handler. */
void exi_report_interrupted(void);

#endif
