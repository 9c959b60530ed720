/*
 * Results: how the runtime and authoring say what went wrong, and how they report misuse. Callable from any thread.
 */
#ifndef EXI_RESULT_H
#define EXI_RESULT_H

#include <exemplar/base.h>

#if defined(__GNUC__)
#define EXI_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define EXI_PRINTF(text, first)
#endif

/* Writes the sentence (its middle left out where it is longer than EX_ERROR_SIZE) and returns result. error may be
 * NULL. */
ex_result exi_error(ex_error *error, ex_result result, const char *format, ...) EXI_PRINTF(3, 4);

/* Puts "where: " in front of the sentence that is there, for callers who know the file, layer or key it is about.
 * Returns result, so that it can stand in a return. Does nothing where result is EX_OK or error is NULL. */
ex_result exi_error_within(ex_error *error, ex_result result, const char *format, ...) EXI_PRINTF(3, 4);

/* The usual sentence for memory: what it was wanted for, and how much. */
ex_result exi_error_memory(ex_error *error, const char *what, size_t size);

/* Tells the misuse hook; always false, so that a check reads: if (!rig) return exi_misuse(…). */
bool exi_misuse(const char *function, const char *what);

/* The same for functions that return a result: also writes the sentence. Returns EX_ERROR_ARGUMENT. */
ex_result exi_misuse_error(ex_error *error, const char *function, const char *what);

#endif
