/*
 * Results: error messages and misuse reports of the runtime and authoring. Callable from any thread.
 */
#ifndef EXI_RESULT_H
#define EXI_RESULT_H

#include <exemplar/base.h>

/* Calls the misuse hook. Always returns false, so that a check reads: if (!rig) return exi_misuse(…). */
bool exi_misuse(const char *function, const char *what);

/* True for an object; a NULL in its place is reported. Inline, so that an accessor pays one comparison. */
static inline bool exi_is_given(const void *object, const char *function, const char *what) {
    return object ? true : exi_misuse(function, what);
}

/* The same for functions that return a result: also writes the message. Returns EX_ERROR_ARGUMENT. */
ex_result exi_misuse_error(ex_error *error, const char *function, const char *what);

#endif
