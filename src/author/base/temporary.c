/*
 * Names, locks and removal of temporary files; see temporary.h.
 *
 * A temporary is removed only while its lock is held, and a new one is used only if it still has a name after it was
 * locked. So a process that clears a folder and one that starts a file never disagree.
 */
#define _XOPEN_SOURCE 700

#include "author/base/temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ENDING        ".exemplar"
#define NAME_SIZE     200  /* of the target's name; on most systems a file name may have 255 bytes */
#define PATH_SIZE     4096 /* of a path; systems open no longer ones */
#define FOREIGN_AFTER (24 * 3600)

enum { CHANCE = 6, HOST = 4, TAIL = 1 + CHANCE + 1 + HOST + sizeof ENDING - 1, CLEARED = 64 };

static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";

static void put_digits(char *text, uint64_t number, int count) {
    for (int i = 0; i < count; i++, number /= 36)
        text[i] = digits[number % 36];
}

/* The characters that stand for this host: FNV-1a of its name. */
static void name_host(char text[HOST]) {
    char name[256] = "";
    uint64_t hash = 14695981039346656037u;
    gethostname(name, sizeof name - 1);
    for (const char *c = name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    put_digits(text, hash >> 16, HOST);
}

static size_t folder_size(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

char *exi_temporary_name(const char *target) {
    static atomic_uint calls;
    const size_t folder = folder_size(target), whole = strlen(target + folder);
    const size_t size = whole < NAME_SIZE ? whole : NAME_SIZE;
    char *name = malloc(folder + 1 + size + TAIL + 1);
    if (!name)
        return NULL;
    memcpy(name, target, folder);
    char *at = name + folder;
    *at++ = '.';
    memcpy(at, target + folder, size);
    at += size;
    *at++ = '.';
    uint64_t seed = ((uint64_t)time(NULL) << 32) ^ ((uint64_t)getpid() << 12) ^ atomic_fetch_add(&calls, 1);
    put_digits(at, ((seed ^ (seed >> 31)) * 0x9e3779b97f4a7c15u) >> 8, CHANCE);
    at += CHANCE;
    *at++ = '-';
    name_host(at);
    memcpy(at + HOST, ENDING, sizeof ENDING);
    return name;
}

/* Returns where the tail of a temporary's name starts, or NULL if it is another name. */
static const char *find_tail(const char *name, size_t length) {
    if (length < (size_t)TAIL + 1 || name[0] != '.')
        return NULL;
    const char *tail = name + length - TAIL;
    if (tail[0] != '.' || tail[1 + CHANCE] != '-' ||
        memcmp(tail + TAIL - (sizeof ENDING - 1), ENDING, sizeof ENDING - 1) != 0)
        return NULL;
    return strspn(tail + 1, digits) == CHANCE && strspn(tail + 2 + CHANCE, digits) == HOST ? tail : NULL;
}

bool exi_temporary_holds(const char *path) {
    size_t end = folder_size(path);
    while (end > 0 && path[end - 1] == '/')
        end--;
    size_t start = end;
    while (start > 0 && path[start - 1] != '/')
        start--;
    return find_tail(path + start, end - start) != NULL;
}

bool exi_temporary_claim(int descriptor) {
    struct stat status;
    if (flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return false;
    return fstat(descriptor, &status) != 0 || status.st_nlink > 0;
}

/* ---- clearing ---- */

/* Removes a dead set of files. One that died while it replaced another holds the only copy of that: it stays, because
 * "old" is not empty. */
static void remove_folder(int above, const char *name, int folder) {
    const int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *listing = again >= 0 ? fdopendir(again) : NULL;
    if (!listing) {
        if (again >= 0)
            close(again);
        return;
    }
    const bool empty = unlinkat(folder, "old", AT_REMOVEDIR) == 0 || errno == ENOENT;
    for (struct dirent *entry; empty && (entry = readdir(listing));)
        unlinkat(folder, entry->d_name, 0);
    closedir(listing);
    unlinkat(above, name, AT_REMOVEDIR);
}

static void remove_dead(int folder, const char *name, const char *tail) {
    char host[HOST];
    struct stat status;
    /* A lock over a network needs a file that is open for writing. */
    int temporary = openat(folder, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (temporary < 0 && errno == EISDIR)
        temporary = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (temporary < 0)
        return;
    name_host(host);
    if (flock(temporary, LOCK_EX | LOCK_NB) == 0 && fstat(temporary, &status) == 0 &&
        (memcmp(tail + 2 + CHANCE, host, HOST) == 0 || time(NULL) - status.st_mtime > FOREIGN_AFTER)) {
        if (S_ISREG(status.st_mode))
            unlinkat(folder, name, 0);
        else if (S_ISDIR(status.st_mode))
            remove_folder(folder, name, temporary);
    }
    close(temporary);
}

/* True the first time for each folder; of many folders, the last ones are remembered. */
static bool is_first_time(const struct stat *folder) {
    static atomic_ullong cleared[CLEARED];
    static atomic_uint next;
    const unsigned long long key = ((unsigned long long)folder->st_dev * 0x9e3779b97f4a7c15u ^ folder->st_ino) | 1;
    for (int i = 0; i < CLEARED; i++)
        if (atomic_load(&cleared[i]) == key)
            return false;
    atomic_store(&cleared[atomic_fetch_add(&next, 1) % CLEARED], key);
    return true;
}

/* Opens the folder of a file; -1 if that is not possible. */
static int open_folder_of(const char *path) {
    char folder[PATH_SIZE];
    const size_t size = folder_size(path);
    if (size + 2 > sizeof folder)
        return -1; /* nor can the file be opened */
    memcpy(folder, path, size);
    strcpy(folder + size, size > 0 ? "" : ".");
    return open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

void exi_temporary_clear(const char *path) {
    struct stat status;
    const int folder = open_folder_of(path);
    if (folder < 0)
        return;
    DIR *listing = fstat(folder, &status) == 0 && is_first_time(&status) ? fdopendir(folder) : NULL;
    if (!listing) {
        close(folder);
        return;
    }
    for (struct dirent *entry; (entry = readdir(listing));) {
        const char *tail = find_tail(entry->d_name, strlen(entry->d_name));
        if (tail)
            remove_dead(folder, entry->d_name, tail);
    }
    closedir(listing);
}

/* ---- syncing ---- */

void exi_sync_folder_of(const char *path) {
    const int folder = open_folder_of(path);
    if (folder < 0)
        return;
    (void)fsync(folder);
    close(folder);
}
