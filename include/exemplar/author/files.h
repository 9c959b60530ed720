/*
 * exemplar/author/files.h - whole files in, whole files out, and paths.
 *
 * A file is written into a temporary file in the folder of its target, which takes the target's name only when
 * everything has been written: a reader sees the old file or the new one, never half of one. Symbolic links are
 * followed, also to a target that is not there yet. A path that names a descriptor of this process (/dev/stdout,
 * /dev/stderr, /dev/fd/N) stands for that descriptor itself, which is written on from where it is. Any thread may
 * write; an ex_file_writer belongs to one of them.
 */
#ifndef EXEMPLAR_AUTHOR_FILES_H
#define EXEMPLAR_AUTHOR_FILES_H

#include <exemplar/base.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The whole file in *bytes (release with free), followed by a NUL that *size does not count. Pipes and terminals work
 * too; other devices, and more than 64 GB, are refused. Results: FILE, MEMORY. */
EX_API ex_result ex_file_read(const char *path, char **bytes, size_t *size, ex_error *error);

/* A file that is being written; the caller's memory, the library's fields. */
typedef struct ex_file_writer {
    FILE *file;      /* NULL when not open */
    char *path;      /* as the caller named it, for errors */
    char *target;    /* the file that is replaced: path with symbolic links followed */
    char *temporary; /* NULL where the target is a device, a pipe or a descriptor and is written directly */
    int slot;        /* in the list of pending temporary files, or -1 */
    int failure;     /* errno of the first write that failed, or 0 */
} ex_file_writer;

/* Starts a file; end it with ex_file_commit or ex_file_abandon. On failure the writer is closed, and nothing exists
 * that did not exist before. Results: FILE, MEMORY. */
EX_API ex_result ex_file_open(ex_file_writer *writer, const char *path, ex_error *error);

/* Failures (a full disk) are kept and reported by ex_file_commit; writing after one does nothing. */
EX_API void ex_file_write(ex_file_writer *writer, const void *data, size_t size);

/* As printf. Not for floating point numbers, which printf writes as the locale wants: see ex_format_double. */
EX_API void ex_file_printf(ex_file_writer *writer, const char *format, ...) EX_PRINTF(2, 3);

/* Ends the file: the target is now what was written, or, on failure, what it was before. Closes the writer. Results:
 * FILE, MEMORY. */
EX_API ex_result ex_file_commit(ex_file_writer *writer, ex_error *error);

/* Ends the file without touching the target. Does nothing to a writer that is closed already. */
EX_API void ex_file_abandon(ex_file_writer *writer);

/* From now on no file can be opened, and none that is being written will reach its target: all fail as interrupted. For
 * a signal handler that wants long work to end in order; async-signal-safe. */
EX_API void ex_file_stop(void);

/* Removes the temporary files of everything that is being written. For a signal handler that is about to end the
 * process: async-signal-safe. */
EX_API void ex_file_remove_pending(void);

/* Makes a folder and those above it; one that is there already is no error. Results: FILE, MEMORY. */
EX_API ex_result ex_make_directory(const char *path, ex_error *error);

/* `relative` as seen from the folder of `file`; an absolute path is kept. Release with free; NULL without memory. */
EX_API char *ex_path_join(const char *file, const char *relative);

/* True if the path ends with this, which is in lower case; letters of the path may be of either. */
EX_API bool ex_path_ends_with(const char *path, const char *ending);

/* Sets "cannot DOING 'PATH': the reason errno_value stands for" and returns EX_ERROR_FILE. */
EX_API ex_result ex_file_error(ex_error *error, const char *doing, const char *path, int errno_value);

#ifdef __cplusplus
}
#endif
#endif
