/*
 * The state of tasks, from the files of the folder alone. pieces/FINGERPRINT.piece: done. running/FINGERPRINT.HOST.PID:
 * a process works on it and renews the file's time every few seconds. failed/FINGERPRINT: a record of the last failure.
 */
#define _GNU_SOURCE

#include "farm.h"

#include "cli/base/files.h"
#include "common/array.h"
#include "hash.h"
#include "piece.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FAILURE_LINES 8
/* Private folders of other hosts are left alone for this many seconds. */
#define SWEEP_AFTER 3600.0

static void host_name(char name[256]) {
    if (gethostname(name, 255) != 0)
        snprintf(name, 256, "unknown");
    name[255] = 0;
}

/* The host as marks have it: with the number of its process namespace, since containers on one host may share its name,
 * and count processes anew. */
static void mark_host(char name[300]) {
    char host[256];
    struct stat info;
    host_name(host);
    snprintf(name, 300, "%s-%llx", host,
             stat("/proc/self/ns/pid", &info) == 0 ? (unsigned long long)info.st_ino : 0ull);
}

/* ---- marks ---- */

char *exi_farm_mark_name(const exi_farm *farm, int task) {
    char host[300], name[400];
    mark_host(host);
    snprintf(name, sizeof name, "%s.%s.%ld", farm->tasks[task].piece, host, (long)getpid());
    return exi_farm_path(farm, "running", name, "");
}

void exi_farm_mark(const char *mark) {
    const int file = open(mark, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0)
        return;
    (void)futimens(file, NULL);
    close(file);
}

void exi_farm_unmark(const char *mark) {
    (void)unlink(mark);
}

/* True if the process of a mark "FINGERPRINT.HOST.PID", or of a folder with more behind it, is known to be gone. */
static bool is_dead(const char *name) {
    char host[300];
    mark_host(host);
    const char *dot = strrchr(name, '.');
    const size_t length = strlen(host);
    if (!dot || dot < name + EXI_HASH_DIGITS + 1 || (size_t)(dot - name) != EXI_HASH_DIGITS + 1 + length ||
        strncmp(name + EXI_HASH_DIGITS + 1, host, length) != 0)
        return false;
    const long pid = strtol(dot + 1, NULL, 10);
    return pid > 0 && kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

/* Seconds since a file changed; -1 if it is gone. */
static double age(int folder, const char *name) {
    struct stat info;
    if (fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) != 0)
        return -1;
    const double seconds = difftime(time(NULL), info.st_mtime);
    return seconds > 0 ? seconds : 0; /* clocks of machines differ */
}

/* ---- listing ---- */

typedef struct sorted {
    uint64_t fingerprint;
    int task;
} sorted;

static int by_fingerprint(const void *a, const void *b) {
    const uint64_t x = ((const sorted *)a)->fingerprint, y = ((const sorted *)b)->fingerprint;
    return x < y ? -1 : x > y;
}

/* The task that a file's name begins with; -1 if it is not in the plan. */
static int find(const sorted *order, int count, const char *name) {
    char text[EXI_HASH_DIGITS + 1];
    snprintf(text, sizeof text, "%.16s", name);
    sorted key = {.task = -1};
    if (!exi_hash_parse(text, &key.fingerprint))
        return -1;
    const sorted *found = bsearch(&key, order, (size_t)count, sizeof key, by_fingerprint);
    return found ? found->task : -1;
}

static bool ends_with(const char *name, const char *ending) {
    const size_t a = strlen(name), b = strlen(ending);
    return a >= b && strcmp(name + a - b, ending) == 0;
}

/* Sets the state of tasks that one folder knows something about. */
static ex_result list(const exi_farm *farm, const char *room, const sorted *order, exi_farm_state *states,
                      ex_error *error) {
    char *path = exi_farm_path(farm, room, "", "");
    DIR *folder = path ? opendir(path) : NULL;
    const int failure = errno;
    const bool running = strcmp(room, "running") == 0, pieces = strcmp(room, "pieces") == 0;
    for (const struct dirent *entry; folder && (entry = readdir(folder));) {
        const int task = find(order, farm->task_count, entry->d_name);
        if (task < 0 || states[task] == EXI_FARM_DONE || (pieces && !ends_with(entry->d_name, ".piece")) ||
            ends_with(entry->d_name, ".new"))
            continue;
        if (!pieces && !running && strlen(entry->d_name) != EXI_HASH_DIGITS)
            continue; /* a damaged piece that was put aside */
        if (running) {
            const double silent = age(dirfd(folder), entry->d_name);
            const bool lost = silent > EXI_FARM_SILENT || is_dead(entry->d_name);
            if (silent >= 0 && (!lost || states[task] == EXI_FARM_LEFT))
                states[task] = lost ? EXI_FARM_LOST : EXI_FARM_RUNNING;
        } else if (states[task] != EXI_FARM_RUNNING) {
            states[task] = pieces ? EXI_FARM_DONE : EXI_FARM_FAILED;
        }
    }
    const ex_result result = !path                         ? ex_error_memory(error, "a path", 64)
                             : folder || failure == ENOENT ? EX_OK
                                                           : ex_file_error(error, "read", path, failure);
    if (folder)
        closedir(folder);
    free(path);
    return result;
}

ex_result exi_farm_states(const exi_farm *farm, exi_farm_state *states, ex_error *error) {
    sorted *order = array_allocate((size_t)farm->task_count, sizeof *order);
    if (!order)
        return ex_error_memory(error, "a plan", (size_t)farm->task_count * sizeof *order);
    for (int i = 0; i < farm->task_count; i++) {
        states[i] = EXI_FARM_LEFT;
        order[i] = (sorted){farm->tasks[i].fingerprint, i};
    }
    qsort(order, (size_t)farm->task_count, sizeof *order, by_fingerprint);
    /* A piece counts more than anything; a process at work more than an old failure; that more than a lost process. */
    ex_result result = list(farm, "pieces", order, states, error);
    if (result == EX_OK)
        result = list(farm, "running", order, states, error);
    if (result == EX_OK)
        result = list(farm, "failed", order, states, error);
    free(order);
    return result;
}

bool exi_farm_has_piece(const exi_farm *farm, int task) {
    ex_error error = {.result = EX_OK};
    exi_piece piece;
    char *path = exi_farm_piece_path(farm, task);
    if (!path)
        return false;
    const bool fits = exi_piece_open(path, farm->tasks[task].fingerprint, &piece, &error) == EX_OK;
    exi_piece_close(&piece);
    free(path);
    return fits;
}

/* ---- failures ---- */

/* Writes a small file whole. Not by the library, which writes nothing once a signal was noted. */
static void write_whole(const char *path, const char *text) {
    char *temporary = malloc(strlen(path) + 32);
    if (!temporary)
        return;
    sprintf(temporary, "%s.%ld.new", path, (long)getpid());
    const int file = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    const size_t size = strlen(text);
    const bool whole = file >= 0 && write(file, text, size) == (ssize_t)size;
    if (file >= 0 && (close(file) != 0 || !whole || rename(temporary, path) != 0))
        (void)unlink(temporary);
    free(temporary);
}

void exi_farm_fail(const exi_farm *farm, int task, const char *how, const json_t *lines) {
    char host[256];
    host_name(host);
    char *path = exi_farm_path(farm, "failed", farm->tasks[task].piece, "");
    const size_t count = json_array_size(lines), first = count > FAILURE_LINES ? count - FAILURE_LINES : 0;
    json_t *last = json_array();
    for (size_t i = first; i < count; i++)
        json_array_append(last, json_array_get(lines, i));
    json_t *record = json_pack("{s:s, s:s, s:s, s:I, s:o}", "task", farm->tasks[task].name, "how", how, "host", host,
                               "time", (json_int_t)time(NULL), "lines", last);
    char *text = record ? json_dumps(record, JSON_COMPACT) : NULL;
    /* If a full disk has no room for it, the task counts as left: it has no piece. */
    if (path && text)
        write_whole(path, text);
    free(text);
    json_decref(record);
    free(path);
}

void exi_farm_fail_again(const exi_farm *farm, int task, const json_t *record) {
    char *path = exi_farm_path(farm, "failed", farm->tasks[task].piece, ""), *text = json_dumps(record, JSON_COMPACT);
    if (path && text)
        write_whole(path, text);
    free(text);
    free(path);
}

bool exi_farm_reject(const exi_farm *farm, int task, const char *why) {
    ex_error error = {.result = EX_OK};
    exi_piece piece;
    char *path = exi_farm_piece_path(farm, task),
         *aside = exi_farm_path(farm, "failed", farm->tasks[task].piece, ".piece");
    bool damaged = false;
    if (path && aside) {
        if (exi_piece_open(path, farm->tasks[task].fingerprint, &piece, &error) == EX_OK)
            (void)exi_piece_check(&piece, &error);
        exi_piece_close(&piece);
        damaged = (why || (error.result != EX_OK && error.kind && strcmp(error.kind, "bad_piece") == 0)) &&
                  rename(path, aside) == 0;
    }
    json_t *lines = damaged ? json_pack("[s]", why ? why : error.text) : NULL;
    if (damaged)
        exi_farm_fail(farm, task, "damaged", lines);
    json_decref(lines);
    free(path);
    free(aside);
    return damaged;
}

json_t *exi_farm_failure(const exi_farm *farm, int task) {
    char *path = exi_farm_path(farm, "failed", farm->tasks[task].piece, "");
    json_t *record = path ? json_load_file(path, 0, NULL) : NULL;
    free(path);
    return record;
}

void exi_farm_forget(const exi_farm *farm, int task) {
    char *path = exi_farm_path(farm, "failed", farm->tasks[task].piece, ""),
         *marks = exi_farm_path(farm, "running", "", "");
    DIR *folder = marks ? opendir(marks) : NULL;
    if (path)
        (void)unlink(path);
    for (const struct dirent *entry; folder && (entry = readdir(folder));)
        if (strncmp(entry->d_name, farm->tasks[task].piece, EXI_HASH_DIGITS) == 0 &&
            (is_dead(entry->d_name) || age(dirfd(folder), entry->d_name) > EXI_FARM_SILENT))
            (void)unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder)
        closedir(folder);
    free(marks);
    free(path);
}

/* ---- clearing away ---- */

static void remove_inside(int folder, const char *name) {
    struct stat info;
    if (fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) != 0)
        return;
    if (!S_ISDIR(info.st_mode)) {
        (void)unlinkat(folder, name, 0);
        return;
    }
    const int inner = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *list = inner >= 0 ? fdopendir(inner) : NULL;
    for (const struct dirent *entry; list && (entry = readdir(list));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            remove_inside(inner, entry->d_name);
    if (list)
        closedir(list);
    (void)unlinkat(folder, name, AT_REMOVEDIR);
}

void exi_farm_remove_tree(const char *path) {
    remove_inside(AT_FDCWD, path);
}

/* Removes folders PREFIX + FINGERPRINT.HOST.PID whose process is gone. marks: a folder with signs of life, for those of
 * other hosts; NULL: they are left alone. */
static void sweep(const char *path, const char *prefix, const char *marks) {
    DIR *folder = path ? opendir(path) : NULL, *alive = marks ? opendir(marks) : NULL;
    const size_t skip = strlen(prefix);
    for (const struct dirent *entry; folder && (entry = readdir(folder));) {
        char text[EXI_HASH_DIGITS + 1];
        uint64_t fingerprint;
        if (strncmp(entry->d_name, prefix, skip) != 0)
            continue;
        const char *name = entry->d_name + skip;
        snprintf(text, sizeof text, "%.16s", name);
        /* Folders have more behind the name of their mark: FINGERPRINT.HOST.PID-MORE. */
        const char *dot = strrchr(name, '.'), *more = dot ? strchr(dot, '-') : NULL;
        char mark[400];
        snprintf(mark, sizeof mark, "%.*s", more ? (int)(more - name) : (int)strlen(name), name);
        const double sign = alive ? age(dirfd(alive), mark) : 0, old = age(dirfd(folder), entry->d_name);
        if (exi_hash_parse(text, &fingerprint) &&
            (is_dead(name) || (old > SWEEP_AFTER && (sign < 0 || sign > SWEEP_AFTER))))
            remove_inside(dirfd(folder), entry->d_name);
    }
    if (alive)
        closedir(alive);
    if (folder)
        closedir(folder);
}

/* Removes marks of processes that are gone. */
static void sweep_marks(const char *path) {
    DIR *folder = path ? opendir(path) : NULL;
    for (const struct dirent *entry; folder && (entry = readdir(folder));)
        if (entry->d_name[0] != '.' && (is_dead(entry->d_name) || age(dirfd(folder), entry->d_name) > SWEEP_AFTER))
            (void)unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder)
        closedir(folder);
}

void exi_farm_sweep(const exi_farm *farm) {
    const char *local = getenv("TMPDIR");
    char *path = exi_farm_path(farm, "scratch", "", ""), *marks = exi_farm_path(farm, "running", "", "");
    sweep(path, "", marks);
    sweep_marks(marks);
    if (local && local[0] == '/')
        sweep(local, "exemplar-", NULL);
    free(path);
    free(marks);
}
