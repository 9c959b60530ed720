/*
 * exemplar/author/files.h - reading and writing whole files, and paths.
 *
 * A file is written to a temporary file in the folder of its target, which takes the target's name only once everything
 * is on the disk. A reader sees the old file or the new one, never half of one, even after a power cut. Symbolic links
 * are followed, even to a target that does not exist yet. A path that names a descriptor of this process (/dev/stdout,
 * /dev/stderr, /dev/fd/N) means that descriptor itself; writing continues at its current position. Any thread may
 * write; an ex_file_writer belongs to one thread.
 *
 * Temporary files are called .NAME.xxxxxx-hhhh.exemplar, and are locked while their process lives. A process that is
 * killed leaves its own; the next one that writes into that folder removes them. Files of other names are never
 * removed.
 */
#ifndef EXEMPLAR_AUTHOR_FILES_H
#define EXEMPLAR_AUTHOR_FILES_H

#include <exemplar/base.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Reads the whole file into *bytes (release with free), followed by a NUL that *size does not count. Pipes and
 * terminals work too; other devices, and more than 64 GB, are refused. Results: FILE, MEMORY. */
EX_API ex_result ex_file_read(const char *path, char **bytes, size_t *size, ex_error *error);

/* A file being written. The caller provides the memory; the library owns the fields. */
typedef struct ex_file_writer {
    FILE *file;      /* NULL when not open */
    char *path;      /* as the caller named it, for errors */
    char *target;    /* the file to replace: path with symbolic links followed */
    char *temporary; /* NULL if the target is a device, a pipe or a descriptor, which is written directly */
    int slot;        /* in the list of pending temporary files, or -1 */
    int failure;     /* errno of the first failed write, or 0 */
    bool sync;       /* true if ex_file_commit waits for the disk */
} ex_file_writer;

/* Starts a file; end it with ex_file_commit or ex_file_abandon. On failure the writer is closed and nothing new exists.
 * Results: FILE, MEMORY. */
EX_API ex_result ex_file_open(ex_file_writer *writer, const char *path, ex_error *error);

/* Like ex_file_open, for one of many files that can be made again: frames, pictures, caches. ex_file_commit then does
 * not wait for the disk, so after a power cut the file may be empty. */
EX_API ex_result ex_file_open_bulk(ex_file_writer *writer, const char *path, ex_error *error);

/* Writes bytes. Failures (a full disk) are kept and reported by ex_file_commit; writing after one does nothing. */
EX_API void ex_file_write(ex_file_writer *writer, const void *data, size_t size);

/* Writes text as printf does. Not for floating-point numbers, which printf writes in the locale's format: use
 * ex_format_double. */
EX_API void ex_file_printf(ex_file_writer *writer, const char *format, ...) EX_PRINTF(2, 3);

/* Ends the file and closes the writer: the target now has the new contents, or on failure the old ones. Results: FILE,
 * MEMORY. */
EX_API ex_result ex_file_commit(ex_file_writer *writer, ex_error *error);

/* Like ex_file_commit, but never replaces a file: fails if one of that name exists by now. */
EX_API ex_result ex_file_commit_new(ex_file_writer *writer, ex_error *error);

/* Ends the file without touching the target. Does nothing if the writer is already closed. */
EX_API void ex_file_abandon(ex_file_writer *writer);

/* Writes the content that a file has now to PATH~, before it is replaced. Symbolic links of the file are followed; if
 * PATH~ is one, it is replaced itself. PATH~ gets the permissions of the file. Results: FILE, MEMORY. */
EX_API ex_result ex_file_back_up(const char *path, const void *bytes, size_t size, ex_error *error);

/*
 * A set of files that replaces another one as a whole: a project with its forms, the frames of an animation. Its files
 * are written into a hidden folder, by any function that takes a path. When all are complete, they are moved to their
 * places. If that fails part of the way, the files that were replaced come back: the directory holds the old set or the
 * new one. Other files in the directory stay. A set belongs to one thread; any thread may write its files.
 *
 * A process that is killed while it moves files, within milliseconds, leaves those that it replaced in
 * .set.xxxxxx-hhhh.exemplar/old. They are never removed by a program.
 */
typedef struct ex_file_set ex_file_set;

/* Starts a set of files for an existing directory ("" for the current one). bulk: its files can be made again and are
 * not synced; otherwise all are on the disk before the first is moved. End it with ex_file_set_commit or
 * ex_file_set_abandon. Results: FILE, MEMORY. */
EX_API ex_result ex_file_set_open(const char *directory, bool bulk, ex_file_set **set, ex_error *error);

/* Returns the folder to write the files into, without folders inside it. Valid until the set ends. */
EX_API const char *ex_file_set_folder(const ex_file_set *set);

/* Moves the files to their places and releases the set. last: name of the file that is moved last, such as the project
 * that names all others; may be NULL. On failure, the directory is as it was before. Results: FILE, MEMORY. */
EX_API ex_result ex_file_set_commit(ex_file_set *set, const char *last, ex_error *error);

/* Removes the files of the set and releases it. In the error's sentence, which may be NULL, files get the names that
 * they would have had. set may be NULL. */
EX_API void ex_file_set_abandon(ex_file_set *set, ex_error *error);

/* Stops all writing: from now on no file can be opened, and no file being written reaches its target. All calls fail as
 * interrupted. For a signal handler that wants long work to end cleanly; async-signal-safe. */
EX_API void ex_file_stop(void);

/* Removes the temporary files of all files being written. For a signal handler that is about to end the process;
 * async-signal-safe. */
EX_API void ex_file_remove_pending(void);

/* Makes a folder and its parents; an existing one is no error. Results: FILE, MEMORY. */
EX_API ex_result ex_make_directory(const char *path, ex_error *error);

/* Returns `relative` resolved against the folder of `file`; an absolute path is kept. Release with free; NULL without
 * memory. */
EX_API char *ex_path_join(const char *file, const char *relative);

/* Returns true if the path ends with `ending`, which is in lower case; the path's case is ignored. */
EX_API bool ex_path_ends_with(const char *path, const char *ending);

/* Sets "cannot DOING 'PATH': REASON", with the reason for errno_value, and returns EX_ERROR_FILE. ENOMEM gives "not
 * enough memory to DOING 'PATH'" and EX_ERROR_MEMORY. */
EX_API ex_result ex_file_error(ex_error *error, const char *doing, const char *path, int errno_value);

#ifdef __cplusplus
}
#endif
#endif
