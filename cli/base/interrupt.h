/*
 * cli/interrupt.h - Ctrl-C and kill: temporary files go, a line says so, the exit code says which signal it was (130,
 * 143).
 *
 * The handler runs in the main thread (the pool's workers block signals), so while it removes the main thread's
 * temporary files nobody writes new ones. Where workers write files, or where several files belong together, that is
 * not enough: such work defers signals. A deferred signal is noted and stops the library's writing (ex_file_stop): the
 * work fails soon and in order, and the command takes back what it wrote. A second signal does not wait.
 *
 * A pipe that its reader has closed ends the tool in the same way, but silently and with 141, as it ends other
 * programs. A file that reaches the limit on its size (ulimit -f) is a failed write like any other.
 */
#ifndef EXEMPLAR_CLI_INTERRUPT_H
#define EXEMPLAR_CLI_INTERRUPT_H

#include <stdbool.h>

/* Installs the handler; a signal that the parent ignores stays ignored. */
void exi_interrupt_catch(void);

/* From now on a signal is only noted; or, with false, acts at once again. */
void exi_interrupt_defer(bool defer);

/* The exit code for the signal that was noted, or 0. Any thread. */
int exi_interrupted(void);

#endif
