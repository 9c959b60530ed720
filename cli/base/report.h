/*
 * cli/base/report.h - the tool's output other than data: failures, progress, and numbers for people.
 *
 * Failures and progress go to stderr. Progress is one bar on a terminal, or a line every five seconds elsewhere; work
 * that takes less than a second shows nothing. Main thread only, except exi_report_interrupted.
 */
#ifndef EXEMPLAR_CLI_REPORT_H
#define EXEMPLAR_CLI_REPORT_H

#include "command.h"
#include "plain.h"

#include <exemplar/author/project.h>

#include <stdarg.h>
#include <stdio.h>

/* Prints "PREFIX: SENTENCE" and "SUFFIX" on stderr; all of it is plain text (plain.h). */
void exi_message(const char *prefix, const char *suffix, const char *format, va_list list)
    __attribute__((format(printf, 3, 0)));

/* Prints "exemplar: SENTENCE" on stderr and returns EX_EXIT_FAILED. */
int exi_failed(const ex_error *error);
/* End of the sentence that names the command or option that helps; "" if none does. */
const char *exi_hint(const ex_error *error);
/* True if the library recognised the format of a file, and cannot read it. */
bool exi_is_foreign(const ex_error *error);
/* "exemplar: not enough memory", likewise. */
int exi_failed_memory(void);
int exi_failed_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Notes of the library, kept until the work is done, because a failure prints only one sentence. */
typedef struct exi_notes {
    char **texts; /* [count] */
    int count;
    const char *path; /* in front of notes on stderr; may be NULL */
} exi_notes;

/* For hooks of the library, with exi_notes as user. Prints the note at once if there is not enough memory to keep it.
 */
void exi_notes_keep(void *notes, const char *text);
void exi_notes_free(exi_notes *notes);

/* Prints "exemplar: PATH: SENTENCE" on stderr for each note. */
void exi_notes_print(const char *path, char *const *notes, int count);

/* True if standard output is a terminal: numbers that differ from run to run are only for people. */
bool exi_report_is_terminal(void);

/* Seconds on a monotonic clock. */
double exi_clock(void);

/* "131 kB", "12 ms", "1 layer", "5 layers": written to the caller's buffer, which is returned. */
#define EXI_TEXT_SIZE 48
const char *exi_text_bytes(char buffer[EXI_TEXT_SIZE], double bytes);
const char *exi_text_seconds(char buffer[EXI_TEXT_SIZE], double seconds);
/* "4.2 mm", "1.3 m"; "-" below 0. */
const char *exi_text_length(char buffer[EXI_TEXT_SIZE], double metres);
const char *exi_text_count(char buffer[EXI_TEXT_SIZE], int count, const char *singular);

typedef struct exi_progress {
    ex_progress hook; /* for the library; asks it to stop once a signal was noted */
    bool quiet, terminal, shown;
    double start, last;
} exi_progress;

void exi_progress_start(exi_progress *progress, const ex_call *call);
/* Reports progress of work that the tool itself divides. */
void exi_progress_step(exi_progress *progress, const char *what, double fraction);
/* Removes the bar. Call it before printing anything else. */
void exi_progress_end(exi_progress *progress);

/* For the signal handler: prints on a separate line that the work was interrupted. Async-signal-safe. */
void exi_report_interrupted(void);

#endif
