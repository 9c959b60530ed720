/*
 * Results: how the runtime and authoring say what went wrong, and how they report misuse. Callable from any thread.
 */
#ifndef EXI_RESULT_H
#define EXI_RESULT_H

#include <exemplar/base.h>

/* Tells the misuse hook; always false, so that a check reads: if (!rig) return exi_misuse(…). */
bool exi_misuse(const char *function, const char *what);

/* The same for functions that return a result: also writes the sentence. Returns EX_ERROR_ARGUMENT. */
ex_result exi_misuse_error(ex_error *error, const char *function, const char *what);

#endif
