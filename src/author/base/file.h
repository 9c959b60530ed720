/*
 * file.h - whole files in, whole files out, and paths; private to authoring and the tool.
 *
 * A file is written into a temporary file in the folder of its target, which takes the target's name only when
 * everything has been written: a reader sees the old file or the new one, never half of one. Symbolic links are
 * followed, also to a target that is not there yet. A path that names a descriptor of this process (/dev/stdout,
 * /dev/stderr, /dev/fd/N) stands for that descriptor itself, which is written on from where it is. Any thread may
 * write; an exi_file_writer belongs to one of them.
 */
#ifndef EXEMPLAR_AUTHOR_BASE_FILE_H
#define EXEMPLAR_AUTHOR_BASE_FILE_H

#include "runtime/base/result.h"

#include <stdio.h>

/* The whole file in *bytes (release with free), followed by a NUL that *size does not count. Pipes and terminals work
 * too; other devices, and more than 64 GB, are refused. */
ex_result exi_file_read(const char *path, char **bytes, size_t *size, ex_error *error);

typedef struct exi_file_writer {
    FILE *file;      /* NULL when not open */
    char *path;      /* as the caller named it, for errors */
    char *target;    /* the file that is replaced: path with symbolic links followed */
    char *temporary; /* NULL where the target is a device, a pipe or a descriptor and is written directly */
    int slot;        /* in the list of pending temporary files, or -1 */
    int failure;     /* errno of the first write that failed, or 0 */
} exi_file_writer;

/* Starts a file. On failure the writer is closed, and nothing exists that did not exist before. */
ex_result exi_file_open(exi_file_writer *writer, const char *path, ex_error *error);

/* Failures (a full disk) are kept and reported by exi_file_commit; writing after one does nothing. */
void exi_file_write(exi_file_writer *writer, const void *data, size_t size);

/* As printf. Not for floating point numbers, which printf writes as the locale wants: see number.h. */
void exi_file_printf(exi_file_writer *writer, const char *format, ...) EXI_PRINTF(2, 3);

/* Ends the file: the target is now what was written, or, on failure, what it was before. Closes the writer. */
ex_result exi_file_commit(exi_file_writer *writer, ex_error *error);

/* Ends the file without touching the target. Does nothing to a writer that is closed already. */
void exi_file_abandon(exi_file_writer *writer);

/* From now on no file can be opened, and none that is being written will reach its target: all fail as interrupted. For
 * a signal handler that wants long work to end in order; async-signal-safe. */
void exi_file_stop(void);

/* Makes a folder and those above it; one that is there already is no error. */
ex_result exi_make_directory(const char *path, ex_error *error);

/* `relative` as seen from the folder of `file`; an absolute path is kept. Release with free; NULL without memory. */
char *exi_path_join(const char *file, const char *relative);

/* Whether a path ends with this, in lower case; letters of the path may be of either. */
bool exi_path_ends_with(const char *path, const char *ending);

/* Sets "cannot DOING 'PATH': the reason errno_value stands for" and returns EX_ERROR_FILE. */
ex_result exi_file_error(ex_error *error, const char *doing, const char *path, int errno_value);

#endif
