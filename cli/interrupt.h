/*
 * cli/interrupt.h - Ctrl-C and kill: temporary files go, the exit code says which signal it was (130, 143).
 *
 * The handler runs in the main thread (the pool's workers block signals), so while it removes the main thread's
 * temporary files nobody writes new ones. Where workers write files, that is not so: such work defers signals, looks at
 * exi_interrupted between two files and ends by itself. A second signal then does not wait.
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
