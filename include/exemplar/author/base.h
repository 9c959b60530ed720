/*
 * exemplar/author/base.h - the ground floor of authoring: progress of long work, suggestions for mistyped words, and
 * temporary files of an interrupted program. Any thread may call what is here.
 */
#ifndef EXEMPLAR_AUTHOR_BASE_H
#define EXEMPLAR_AUTHOR_BASE_H

#include <exemplar/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Called now and then during long work, from the calling thread; fraction is in [0, 1]. */
typedef struct ex_progress {
    void (*report)(void *user, const char *what, double fraction);
    void *user;
} ex_progress;

/* The candidate nearest to a mistyped word, or NULL where none is near (more than a third of its letters off). */
EX_API const char *ex_suggest(const char *word, const char *const *candidates, int candidate_count);

/* Removes the temporary files of everything that is being written. For a signal handler that is about to end the
 * process: async-signal-safe. */
EX_API void ex_file_remove_pending(void);

#ifdef __cplusplus
}
#endif
#endif
