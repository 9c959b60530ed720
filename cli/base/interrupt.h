/*
 * cli/base/interrupt.h - handles Ctrl-C and kill: removes temporary files, prints a line, and exits with the signal's
 * code (130, 143).
 *
 * The handler runs in the main thread (the pool's workers block signals), so while it removes the main thread's
 * temporary files nobody writes new ones. That is not enough where workers write files or where several files belong
 * together: such work defers signals. A deferred signal is noted and stops the library's writing (ex_file_stop): the
 * work fails soon and in order, and the command removes what it wrote. A second signal does not wait, if it comes more
 * than half a second later.
 *
 * A pipe closed by its reader ends the tool in the same way, but silently and with 141, as it ends other programs. A
 * file that reaches the limit on its size (ulimit -f) is a failed write like any other.
 */
#ifndef EXEMPLAR_CLI_INTERRUPT_H
#define EXEMPLAR_CLI_INTERRUPT_H

#include <stdbool.h>

/* Installs the handler. Signals that the parent process ignores stay ignored. */
void exi_interrupt_catch(void);

/* true: from now on a signal is only noted. false: signals act at once again. */
void exi_interrupt_defer(bool defer);

/* Exit code for the signal that was noted, or 0. Any thread. */
int exi_interrupted(void);

#endif
