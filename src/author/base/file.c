/*
 * Whole files: read into memory, written through a temporary file and a rename, and removed when a signal ends the
 * process.
 *
 * A file is synced before it takes its name, and its folder after: otherwise a power cut could leave the name with an
 * empty file, because many file systems write names before contents.
 *
 * Temporary files are opened with O_EXCL and mode 0666 instead of mkstemp, so that the kernel applies the umask;
 * reading the umask would mean setting it, which other threads would notice.
 */
#define _XOPEN_SOURCE 700

#include "author/base/file.h"
#include "author/base/temporary.h"
#include "runtime/base/result.h"

#include <exemplar/author/base.h>
#include <exemplar/author/files.h>

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STANDARD_OUTPUT    "/dev/stdout"
#define PENDING_COUNT      16
#define PENDING_SIZE       4096
#define TEMPORARY_ATTEMPTS 64
#define READ_MOST          ((uint64_t)64 << 30) /* bytes of a file; more means an endless pipe */
#define LINK_COUNT         40                   /* links to links, the same limit as the kernel's */

/* Existing temporary files. Copies in static memory: a signal handler must not touch memory being released. */
typedef enum pending_state { PENDING_FREE, PENDING_FILLED, PENDING_ARMED, PENDING_REMOVED } pending_state;
static struct {
    atomic_int state;
    char path[PENDING_SIZE];
} pending[PENDING_COUNT];

/* True if no more files may be written. */
static atomic_bool stopped;

enum { REASON_SIZE = 128 };

static const char *reason_text(char reason[REASON_SIZE], int errno_value) {
    if (strerror_r(errno_value, reason, REASON_SIZE) != 0)
        snprintf(reason, REASON_SIZE, "error %d", errno_value);
    return reason;
}

static ex_result no_memory(ex_error *error, const char *doing, const char *path) {
    return ex_error_set(error, EX_ERROR_MEMORY, "not enough memory to %s '%s'", doing, path);
}

ex_result ex_file_error(ex_error *error, const char *doing, const char *path, int errno_value) {
    char reason[REASON_SIZE];
    if (errno_value == ENOMEM)
        return no_memory(error, doing, path);
    return ex_error_set(error, EX_ERROR_FILE, "cannot %s '%s': %s", doing, path, reason_text(reason, errno_value));
}

/* True if the first `size` bytes of a path name something; false also without memory. */
static bool folder_exists(const char *path, size_t size) {
    struct stat status;
    char *folder = malloc(size + 1);
    if (folder) {
        memcpy(folder, path, size);
        folder[size] = '\0';
    }
    const bool exists = folder && stat(folder, &status) == 0;
    free(folder);
    return exists;
}

ex_result exi_file_write_error(ex_error *error, const char *path, int errno_value) {
    char reason[REASON_SIZE];
    const char *slash = strrchr(path, '/');
    const int folder = slash && slash > path ? (int)(slash - path) : 1;
    const bool missing = slash && errno_value == ENOENT && !folder_exists(path, (size_t)folder);
    if (errno_value == EISDIR)
        return ex_error_set(error, EX_ERROR_FILE, "cannot write '%s': it is a folder; name a file in it", path);
    if (missing)
        return ex_error_set(error, EX_ERROR_FILE, "cannot write '%s': the folder '%.*s' does not exist", path, folder,
                            path);
    if (errno_value == ENOTDIR && slash)
        return ex_error_set(error, EX_ERROR_FILE, "cannot write '%s': '%.*s' is not a folder", path, folder, path);
    if (strcmp(path, STANDARD_OUTPUT) != 0)
        return ex_file_error(error, "write", path, errno_value);
    return ex_error_set(error, EX_ERROR_FILE, "cannot write to standard output: %s", reason_text(reason, errno_value));
}

/* ---- reading ---- */

static ex_result too_large(ex_error *error, const char *path) {
    return ex_error_set(error, EX_ERROR_LIMIT, "'%s' is larger than 64 GB, the most that can be read", path);
}

/* True if reading will end. A device may have no end; a terminal has one, and the null device is always at its end. */
static bool has_end(int descriptor, const struct stat *status) {
    struct stat null;
    if (!S_ISCHR(status->st_mode) && !S_ISBLK(status->st_mode))
        return true;
    return isatty(descriptor) || (stat("/dev/null", &null) == 0 && null.st_rdev == status->st_rdev);
}

/* Reads to the end of the descriptor. On failure the caller must still free *bytes. */
static ex_result read_all(int descriptor, size_t expected, const char *path, char **bytes, size_t *size,
                          ex_error *error) {
    size_t capacity = expected, used = 0;
    if (capacity > READ_MOST)
        return too_large(error, path);
    *bytes = malloc(capacity + 1);
    if (!*bytes)
        return no_memory(error, "read", path);
    for (;;) {
        if (used == capacity) {
            /* A regular file ends here. Reading one more byte tells: only a pipe or a growing file continues. */
            char one;
            ssize_t count = read(descriptor, &one, 1);
            if (count == 0)
                break;
            if (count < 0 && errno == EINTR)
                continue;
            if (count < 0)
                return ex_file_error(error, "read", path, errno);
            if (used >= READ_MOST)
                return too_large(error, path);
            size_t larger = capacity + capacity / 2 + 65536;
            char *moved = larger > capacity && larger < SIZE_MAX ? realloc(*bytes, larger + 1) : NULL;
            if (!moved)
                return no_memory(error, "read", path);
            *bytes = moved;
            capacity = larger;
            moved[used++] = one;
            continue;
        }
        size_t wanted = capacity - used;
        ssize_t count = read(descriptor, *bytes + used, wanted < (1u << 30) ? wanted : (1u << 30));
        if (count == 0)
            break;
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return ex_file_error(error, "read", path, errno);
        used += (size_t)count;
    }
    (*bytes)[used] = '\0';
    *size = used;
    return EX_OK;
}

ex_result ex_file_read(const char *path, char **bytes, size_t *size, ex_error *error) {
    *bytes = NULL;
    *size = 0;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return ex_file_error(error, "read", path, errno);
    struct stat status = {0};
    size_t expected = 0;
    const bool known = fstat(descriptor, &status) == 0;
    if (known && !has_end(descriptor, &status)) {
        close(descriptor);
        return ex_error_set(error, EX_ERROR_FILE, "'%s' is a device, not a file", path);
    }
    if (known && S_ISREG(status.st_mode) && status.st_size > 0) {
        if ((uintmax_t)status.st_size >= SIZE_MAX) {
            close(descriptor);
            return no_memory(error, "read", path);
        }
        expected = (size_t)status.st_size;
    }
    ex_result result = read_all(descriptor, expected, path, bytes, size, error);
    close(descriptor);
    if (result != EX_OK) {
        free(*bytes);
        *bytes = NULL;
    }
    return result;
}

/* ---- writing ---- */

static char *copy_text(const char *text) {
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    return copy ? memcpy(copy, text, size) : NULL;
}

/* Registers a path as pending. Returns -1 if there is no room; a signal then leaves the file behind. */
static int register_pending(const char *path) {
    size_t size = strlen(path) + 1;
    for (int slot = 0; slot < PENDING_COUNT && size <= PENDING_SIZE; slot++) {
        int state = PENDING_FREE;
        if (!atomic_compare_exchange_strong(&pending[slot].state, &state, PENDING_FILLED))
            continue;
        memcpy(pending[slot].path, path, size);
        atomic_store(&pending[slot].state, PENDING_ARMED);
        return slot;
    }
    return -1;
}

static void unregister_pending(ex_file_writer *writer) {
    if (writer->slot >= 0)
        atomic_store(&pending[writer->slot].state, PENDING_FREE);
    writer->slot = -1;
}

void ex_file_remove_pending(void) {
    int kept = errno;
    for (int slot = 0; slot < PENDING_COUNT; slot++) {
        int state = PENDING_ARMED;
        if (atomic_compare_exchange_strong(&pending[slot].state, &state, PENDING_REMOVED))
            unlink(pending[slot].path);
    }
    errno = kept;
}

static void close_writer(ex_file_writer *writer) {
    if (writer->file)
        fclose(writer->file);
    unregister_pending(writer);
    free(writer->temporary);
    free(writer->target);
    free(writer->path);
    *writer = (ex_file_writer){.slot = -1};
}

/* Opens a new temporary file next to the target. Returns its descriptor, or -1 with errno set. */
static int open_temporary(ex_file_writer *writer) {
    for (int attempt = 0; attempt < TEMPORARY_ATTEMPTS; attempt++) {
        writer->temporary = exi_temporary_name(writer->target);
        if (!writer->temporary) {
            errno = ENOMEM;
            return -1;
        }
        /* Registered before it exists, so that a signal can never leave it behind. */
        writer->slot = register_pending(writer->temporary);
        int descriptor = open(writer->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor >= 0 && exi_temporary_claim(descriptor))
            return descriptor;
        int reason = descriptor >= 0 ? EEXIST : errno;
        if (descriptor >= 0)
            close(descriptor);
        unregister_pending(writer);
        free(writer->temporary);
        writer->temporary = NULL;
        errno = reason;
        if (reason != EEXIST)
            return -1;
    }
    return -1;
}

/* Returns the descriptor of this process that a path refers to, or -1. */
static int descriptor_of(const char *path) {
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    if (strcmp(path, STANDARD_OUTPUT) == 0)
        return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0)
        return STDERR_FILENO;
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        size_t size = strlen(folders[i]);
        const char *cursor = path + size, *end = path + strlen(path);
        int number = -1;
        if (strncmp(path, folders[i], size) == 0 && ex_parse_int(&cursor, end, &number) && cursor == end)
            return number;
    }
    return -1;
}

/* Resolves a path that does not exist, or a link to one that does not: returns the name for a new file, to be freed.
 * NULL with errno set. */
static char *follow_links(const char *path) {
    char *name = copy_text(path);
    struct stat status;
    for (int i = 0; name && lstat(name, &status) == 0 && S_ISLNK(status.st_mode); i++) {
        char text[PENDING_SIZE];
        ssize_t size = i < LINK_COUNT ? readlink(name, text, sizeof text - 1) : -1;
        char *next = NULL;
        if (size >= 0) {
            text[size] = '\0';
            next = ex_path_join(name, text);
        } else if (i == LINK_COUNT) {
            errno = ELOOP;
        }
        int reason = errno;
        free(name);
        errno = reason;
        if (size < 0)
            return NULL;
        name = next;
    }
    if (!name)
        errno = ENOMEM;
    return name;
}

char *exi_file_target(const char *path, int *mode) {
    struct stat status;
    *mode = -1;
    if (stat(path, &status) != 0)
        return errno == ENOENT ? follow_links(path) : NULL;
    if (!S_ISREG(status.st_mode)) {
        errno = S_ISDIR(status.st_mode) ? EISDIR : EEXIST;
        return NULL;
    }
    if (access(path, W_OK) != 0)
        return NULL; /* the rename would succeed, and overwrite a file that was protected on purpose */
    *mode = (int)(status.st_mode & 0777);
    return realpath(path, NULL);
}

/* Duplicates a descriptor, which keeps its position in the file; opening it again would start at the first byte. -1
 * with errno set if it is closed or read-only. */
static int copy_descriptor(int descriptor) {
    int flags = fcntl(descriptor, F_GETFL);
    if (flags < 0)
        return -1;
    if ((flags & O_ACCMODE) == O_RDONLY) {
        errno = EBADF;
        return -1;
    }
    return fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
}

/* Returns the descriptor to write to, or -1 with errno set. */
static int open_target(ex_file_writer *writer) {
    int given = descriptor_of(writer->path);
    if (given >= 0)
        return copy_descriptor(given);
    struct stat status;
    if (stat(writer->path, &status) == 0 && !S_ISREG(status.st_mode))
        return open(writer->path, O_WRONLY | O_APPEND | O_CLOEXEC);
    int mode;
    writer->target = exi_file_target(writer->path, &mode);
    if (!writer->target)
        return -1;
    /* The files of a set are synced together, and its folder is new. */
    if (exi_temporary_holds(writer->target))
        writer->sync = false;
    else
        exi_temporary_clear(writer->target);
    int descriptor = open_temporary(writer);
    if (descriptor >= 0 && mode >= 0)
        (void)fchmod(descriptor, (mode_t)mode); /* best effort: not every file system has modes */
    return descriptor;
}

static ex_result open_writer(ex_file_writer *writer, const char *path, bool sync, ex_error *error) {
    *writer = (ex_file_writer){.slot = -1, .sync = sync};
    writer->path = copy_text(path);
    if (!writer->path)
        return no_memory(error, "write", path);
    int descriptor = -1;
    if (atomic_load(&stopped))
        errno = EINTR;
    else
        descriptor = open_target(writer);
    if (descriptor >= 0) {
        writer->file = fdopen(descriptor, "wb");
        if (writer->file)
            return EX_OK;
        int reason = errno;
        close(descriptor);
        errno = reason;
    }
    int reason = errno;
    if (writer->temporary)
        unlink(writer->temporary);
    close_writer(writer);
    return reason == ENOMEM ? no_memory(error, "write", path) : exi_file_write_error(error, path, reason);
}

ex_result ex_file_open(ex_file_writer *writer, const char *path, ex_error *error) {
    return open_writer(writer, path, true, error);
}

ex_result ex_file_open_bulk(ex_file_writer *writer, const char *path, ex_error *error) {
    return open_writer(writer, path, false, error);
}

void ex_file_stop(void) {
    atomic_store(&stopped, true);
}

bool exi_file_stopped(void) {
    return atomic_load(&stopped);
}

void ex_file_write(ex_file_writer *writer, const void *data, size_t size) {
    if (writer->failure != 0 || size == 0)
        return;
    errno = 0;
    if (fwrite(data, 1, size, writer->file) != size)
        writer->failure = errno != 0 ? errno : EIO;
}

void ex_file_printf(ex_file_writer *writer, const char *format, ...) {
    if (writer->failure != 0)
        return;
    va_list arguments;
    va_start(arguments, format);
    errno = 0;
    if (vfprintf(writer->file, format, arguments) < 0)
        writer->failure = errno != 0 ? errno : EIO;
    va_end(arguments);
}

bool exi_file_sync(int descriptor) {
    if (fsync(descriptor) == 0)
        return true;
    return errno == EINVAL || errno == ENOTSUP || errno == ENOSYS || errno == EROFS; /* a file system without it */
}

/* Gives the temporary file a name that no file has; false with errno set, EEXIST if one has. */
static bool give_new_name(const char *temporary, const char *name) {
    if (link(temporary, name) == 0) {
        unlink(temporary);
        return true;
    }
    if (errno == EEXIST)
        return false;
    /* A file system without links: first reserve the name with an empty file. */
    const int file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (file < 0)
        return false;
    close(file);
    if (rename(temporary, name) == 0)
        return true;
    const int reason = errno;
    unlink(name);
    errno = reason;
    return false;
}

/* Brings the file to the disk and ends the writing of it; the copy of its descriptor keeps its lock. */
static int end_file(ex_file_writer *writer) {
    const int lock = writer->temporary ? fcntl(fileno(writer->file), F_DUPFD_CLOEXEC, 0) : -1;
    errno = 0;
    if (writer->failure == 0 && writer->temporary && writer->sync &&
        (fflush(writer->file) != 0 || !exi_file_sync(fileno(writer->file))))
        writer->failure = errno != 0 ? errno : EIO;
    /* fclose reports errors of the last flush, and those that a network file system delayed. */
    errno = 0;
    if (fclose(writer->file) != 0 && writer->failure == 0)
        writer->failure = errno != 0 ? errno : EIO;
    writer->file = NULL;
    if (writer->failure == 0 && writer->temporary && atomic_load(&stopped))
        writer->failure = EINTR;
    return lock;
}

static ex_result commit(ex_file_writer *writer, bool only_new, ex_error *error) {
    const int lock = end_file(writer);
    if (writer->failure == 0 && writer->temporary &&
        !(only_new ? give_new_name(writer->temporary, writer->target) : rename(writer->temporary, writer->target) == 0))
        writer->failure = errno;
    if (writer->failure == 0 && writer->temporary && writer->sync)
        exi_sync_folder_of(writer->target);
    ex_result result = EX_OK;
    if (writer->failure != 0) {
        result = exi_file_write_error(error, writer->path, writer->failure);
        if (writer->temporary)
            unlink(writer->temporary);
    }
    if (lock >= 0)
        close(lock);
    close_writer(writer);
    return result;
}

ex_result ex_file_commit(ex_file_writer *writer, ex_error *error) {
    return commit(writer, false, error);
}

ex_result ex_file_commit_new(ex_file_writer *writer, ex_error *error) {
    return commit(writer, true, error);
}

void ex_file_abandon(ex_file_writer *writer) {
    if (!writer->file)
        return;
    if (writer->temporary)
        unlink(writer->temporary);
    close_writer(writer);
}

/* ---- keeping the previous version ---- */

char *exi_file_backup_path(const char *path) {
    char *real = realpath(path, NULL);
    const size_t size = strlen(real ? real : path);
    char *backup = malloc(size + 2);
    if (backup) {
        memcpy(backup, real ? real : path, size);
        memcpy(backup + size, "~", 2);
    }
    free(real);
    return backup;
}

ex_result ex_file_back_up(const char *path, const void *bytes, size_t size, ex_error *error) {
    struct stat status;
    ex_file_writer writer;
    char *backup = exi_file_backup_path(path);
    if (!backup)
        return no_memory(error, "write", path);
    if (lstat(backup, &status) == 0 && S_ISLNK(status.st_mode))
        unlink(backup);
    ex_result result = ex_file_open(&writer, backup, error);
    free(backup);
    if (result != EX_OK)
        return result;
    if (writer.temporary && stat(path, &status) == 0)
        (void)fchmod(fileno(writer.file), status.st_mode & 0777); /* what is private stays private */
    ex_file_write(&writer, bytes, size);
    return ex_file_commit(&writer, error);
}

/* ---- paths ---- */

static ex_result make_one(const char *path, ex_error *error) {
    if (mkdir(path, 0777) == 0) {
        exi_sync_folder_of(path);
        return EX_OK;
    }
    int reason = errno;
    struct stat status;
    if (stat(path, &status) == 0) {
        if (S_ISDIR(status.st_mode))
            return EX_OK;
        return ex_error_set(error, EX_ERROR_FILE, "cannot make the folder '%s': a file has that name", path);
    }
    return ex_file_error(error, "make the folder", path, reason);
}

ex_result ex_make_directory(const char *path, ex_error *error) {
    char *part = copy_text(path);
    if (!part)
        return no_memory(error, "make the folder", path);
    ex_result result = EX_OK;
    for (char *end = part + 1; *part && result == EX_OK; end++) {
        if (*end != '/' && *end != '\0')
            continue;
        char kept = *end;
        *end = '\0';
        result = make_one(part, error);
        *end = kept;
        if (kept == '\0')
            break;
    }
    free(part);
    return result;
}

char *ex_path_join(const char *file, const char *relative) {
    const char *slash = relative[0] == '/' ? NULL : strrchr(file, '/');
    size_t folder_size = slash ? (size_t)(slash - file) + 1 : 0;
    size_t relative_size = strlen(relative) + 1;
    char *joined = malloc(folder_size + relative_size);
    if (!joined)
        return NULL;
    memcpy(joined, file, folder_size);
    memcpy(joined + folder_size, relative, relative_size);
    return joined;
}

bool ex_path_ends_with(const char *path, const char *ending) {
    size_t length = strlen(path), size = strlen(ending);
    if (length < size)
        return false;
    for (size_t i = 0; i < size; i++) {
        char c = path[length - size + i];
        if ((c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) != ending[i])
            return false;
    }
    return true;
}
