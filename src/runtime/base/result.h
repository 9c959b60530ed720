/*
 * Results: how the runtime and authoring say what went wrong, and how they report misuse. Callable from any thread.
 */
#ifndef EXI_RESULT_H
#define EXI_RESULT_H

#include <exemplar/base.h>

/* The names under which the libraries' own sources know them. */
#define exi_error        ex_error_set
#define exi_error_within ex_error_within
#define exi_error_memory ex_error_memory
#define exi_error_kind   ex_error_kind

/* Tells the misuse hook; always false, so that a check reads: if (!rig) return exi_misuse(…). */
bool exi_misuse(const char *function, const char *what);

/* The same for functions that return a result: also writes the sentence. Returns EX_ERROR_ARGUMENT. */
ex_result exi_misuse_error(ex_error *error, const char *function, const char *what);

#endif
