/* cli/base/change.h - shared by commands that change a project in place. */
#ifndef EXEMPLAR_CLI_CHANGE_H
#define EXEMPLAR_CLI_CHANGE_H

#include "command.h"
#include "report.h"

#include <exemplar/author.h>

/* A change of a project in progress. */
typedef struct exi_change {
    const ex_call *call;
    ex_project *project;
    exi_progress progress;
    ex_build_options options; /* pass this to the library */
    exi_notes notes;
    int lock; /* while held, no other command changes the project */
} exi_change;

/* Waits for other commands that change the project, and reads it; false after printing an error. Signals are deferred
 * from here to the end. */
bool exi_change_open(exi_change *change, const ex_call *call, const char *path);
/* Prints the result, notes first, and returns the exit code. `result` is the library's. */
int exi_change_end(exi_change *change, ex_result result, const ex_error *error);
void exi_change_close(exi_change *change);

#endif
