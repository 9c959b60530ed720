/*
 * skip.h - skips cases that cannot run here, and finds data outside the repository. A case that is skipped prints
 * "skipped: REASON"; a program in which none failed and some were skipped exits with 77, which ctest shows as Skipped
 * and scripts/test counts by reason.
 */
#ifndef EXEMPLAR_TESTS_SKIP_H
#define EXEMPLAR_TESTS_SKIP_H

/* Ends the running case. Text in parentheses at the end of the reason is a detail: reasons are counted by the rest. */
void skip_case(const char *reason);

/* The folder of the data: the environment's EX_DATA, or else the build's. It may not exist. */
const char *data_folder(void);

/* The path of a file or folder in it, valid until the next call. If it does not exist, the running case is skipped. */
const char *need_data(const char *name);

#endif
