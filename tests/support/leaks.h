/*
 * leaks.h - memory of the code under test that nobody has released. fail_alloc.c reports every allocation of the test
 * and of the static libraries in it; skip.c fails a group of cases that leaves more behind than it found. Any threads.
 */
#ifndef EXEMPLAR_TESTS_LEAKS_H
#define EXEMPLAR_TESTS_LEAKS_H

#include <stddef.h>

/* Memory may be NULL. */
void leaks_note(void *memory);
/* Ignores memory that came from elsewhere, such as from libc. */
void leaks_forget(const void *memory);
/* Returns the number of allocations that were noted and not forgotten. */
size_t leaks_count(void);

#endif
