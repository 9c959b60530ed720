/*
 * exemplar/author/history.h - saved versions of a project file: undo and redo.
 *
 * Before a program replaces a project, it keeps the present content as a version. Versions are in the hidden folder
 * .NAME.versions next to the project, NAME being the project's file name: N.undo for what undo brings back, N.redo for
 * what redo brings back. A version also holds other files that its change replaced. The last EX_HISTORY_MAX changes are
 * kept. Every version is on the disk before anything is replaced, so a full disk or a power cut loses nothing. The
 * caller makes sure that nobody else changes the project meanwhile. Any thread, one project per thread.
 */
#ifndef EXEMPLAR_AUTHOR_HISTORY_H
#define EXEMPLAR_AUTHOR_HISTORY_H

#include <exemplar/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Largest number of versions to undo; older ones are removed. */
#define EX_HISTORY_MAX 100

/* A change that is about to be made. */
typedef struct ex_history_change {
    const char *path;         /* the project's file; symbolic links are followed */
    const char *what;         /* a few words for a list: "example 'bent' added" */
    const void *bytes;        /* content of the file now */
    size_t size;              /* in bytes */
    const char *const *files; /* [file_count]: other files that the change replaces, relative to the project's folder;
                                 missing ones are left out */
    int file_count;
} ex_history_change;

/* A version that was kept for a change in progress. */
typedef struct ex_history_kept ex_history_kept;

/* Keeps the present content. End it with ex_history_commit or ex_history_abandon. Results: FILE, MEMORY; then nothing
 * was kept. */
EX_API ex_result ex_history_keep(const ex_history_change *change, ex_history_kept **kept, ex_error *error);
/* The change was made: what could be redone is removed, and so are versions beyond the limit. NULL is fine. */
EX_API void ex_history_commit(ex_history_kept *kept);
/* The change was not made: the version is removed again. NULL is fine. */
EX_API void ex_history_abandon(ex_history_kept *kept);

/* One saved version. */
typedef struct ex_history_version {
    const char *what; /* the change that undo takes back, or that redo makes again */
    const char *time; /* of that change: "2026-03-01T12:30:00Z" */
} ex_history_version;

/* The saved versions of a project. */
typedef struct ex_history {
    ex_history_version *undo; /* [undo_count], the last change first */
    int undo_count;
    ex_history_version *redo; /* [redo_count], the next one first */
    int redo_count;
} ex_history;

/* Lists the saved versions; a project without any has none. Release with ex_history_destroy. Results: FILE, FORMAT,
 * MEMORY. */
EX_API ex_result ex_history_read(const char *path, ex_history **history, ex_error *error);
/* Releases a list. NULL is fine. */
EX_API void ex_history_destroy(ex_history *history);

/*
 * Takes the last change back; with `redo`, makes the change again that was last taken back. The present content becomes
 * a version of the other kind, so nothing is lost, not even what was edited by hand. Files that the change replaced
 * come back; files that it added stay. *count, which may be NULL, is the number of steps made: 1, or 0 if there was no
 * version left. On failure project and files are unchanged. Results: FILE, FORMAT (a damaged version), MEMORY.
 */
EX_API ex_result ex_history_step(const char *path, bool redo, int *count, ex_error *error);

#ifdef __cplusplus
}
#endif
#endif
