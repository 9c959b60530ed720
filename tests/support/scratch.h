/* scratch.h - a folder for a test that writes files, empty at the start and removed at the end. */
#ifndef EXEMPLAR_TESTS_SCRATCH_H
#define EXEMPLAR_TESTS_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>

/* cmocka set-up and tear-down of a group or a test. */
int scratch_set_up(void **state);
int scratch_tear_down(void **state);

/* The path of a file in it. Valid until the fourth call after this one. */
const char *scratch_path(const char *name);

/* Write and read complete files, and fail the test on an error. Release what is read with free. */
void scratch_write(const char *name, const void *bytes, size_t size);
char *scratch_read(const char *name, size_t *size);

/* Number of entries in the folder, including hidden ones. */
int scratch_entry_count(void);

/* Number of calls of fsync so far; in tests it does nothing else. */
int scratch_sync_count(void);

#endif
