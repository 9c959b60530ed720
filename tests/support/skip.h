/*
 * skip.h - cases that cannot run here, and data beyond the repository. A case that is skipped prints "skipped: REASON";
 * a program in which none failed and some were skipped exits with 77, which ctest shows as Skipped and scripts/test
 * counts by reason.
 */
#ifndef EXEMPLAR_TESTS_SKIP_H
#define EXEMPLAR_TESTS_SKIP_H

/* Ends the running case. What stands in parentheses at the end of the reason is a detail: reasons are counted by the
 * rest. */
void skip_case(const char *reason);

/* The folder of the data: the environment's EX_DATA, or else the build's. It may not be there. */
const char *data_folder(void);

/* The path of a file or folder in it, valid until the next call. Where there is none, the running case is skipped. */
const char *need_data(const char *name);

#endif
