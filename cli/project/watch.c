/* cli/project/watch.c - watches files by polling, not by a service of the kernel: works on every file system, and for
 * files that come and go. */
#define _POSIX_C_SOURCE 200809L

#include "watch.h"

#include "cli/base/named.h"

#include <exemplar/author/cache.h>
#include <exemplar/author/files.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LOOK_EVERY_NANOSECONDS 250000000L

static exi_file_stamp stamp_of(const char *path) {
    struct stat status;
    if (stat(path, &status) != 0)
        return (exi_file_stamp){.exists = false};
    return (exi_file_stamp){.exists = true,
                            .device = (unsigned long long)status.st_dev,
                            .number = (unsigned long long)status.st_ino,
                            .size = (unsigned long long)status.st_size,
                            .time = status.st_mtim};
}

static bool same_stamp(const exi_file_stamp *a, const exi_file_stamp *b) {
    return a->exists == b->exists && a->device == b->device && a->number == b->number && a->size == b->size &&
           a->time.tv_sec == b->time.tv_sec && a->time.tv_nsec == b->time.tv_nsec;
}

/* Takes ownership of path, and frees it if memory runs out or it is already in the list. */
static bool add_path(exi_watch *watch, char *path) {
    for (int i = 0; path && i < watch->count; i++)
        if (strcmp(watch->paths[i], path) == 0) {
            free(path);
            return true;
        }
    const size_t count = (size_t)watch->count + 1;
    char **paths = path ? realloc(watch->paths, count * sizeof *paths) : NULL;
    if (paths)
        watch->paths = paths;
    exi_file_stamp *stamps = paths ? realloc(watch->stamps, count * sizeof *stamps) : NULL;
    if (!stamps) {
        free(path);
        return false;
    }
    watch->stamps = stamps;
    stamps[watch->count] = stamp_of(path);
    paths[watch->count++] = path;
    return true;
}

bool exi_watch_start(exi_watch *watch, const char *project) {
    *watch = (exi_watch){.count = 0};
    return add_path(watch, strdup(project));
}

void exi_watch_free(exi_watch *watch) {
    for (int i = 0; i < watch->count; i++)
        free(watch->paths[i]);
    free(watch->paths);
    free(watch->stamps);
    *watch = (exi_watch){.count = 0};
}

void exi_watch_note(exi_watch *watch) {
    for (int i = 0; i < watch->count; i++)
        watch->stamps[i] = stamp_of(watch->paths[i]);
}

/* Context of a walk over a project's files. */
typedef struct following {
    exi_watch *watch;
    const char *project;
} following;

static bool add_named(void *user, const char *relative, const char *where) {
    const following *f = user;
    (void)where;
    char *path = ex_path_join(f->project, relative);
    if (path)
        path[ex_cache_file_length(path)] = '\0';
    return add_path(f->watch, path);
}

bool exi_watch_follow(exi_watch *watch, const ex_project_view *view) {
    while (watch->count > 1)
        free(watch->paths[--watch->count]);
    return exi_named_files(view, false, add_named, &(following){.watch = watch, .project = view->path});
}

/* Looks at the files again after a while; true if one of them differs from its note. Notes all. */
static bool look(exi_watch *watch) {
    bool changed = false;
    nanosleep(&(struct timespec){.tv_nsec = LOOK_EVERY_NANOSECONDS}, NULL);
    for (int i = 0; i < watch->count; i++) {
        const exi_file_stamp now = stamp_of(watch->paths[i]);
        changed = changed || !same_stamp(&now, &watch->stamps[i]);
        watch->stamps[i] = now;
    }
    return changed;
}

void exi_watch_wait(exi_watch *watch) {
    while (!look(watch))
        continue;
    while (look(watch))
        continue;
}

const char *exi_watch_find(const exi_watch *watch, const char *path) {
    const exi_file_stamp wanted = stamp_of(path);
    for (int i = 0; wanted.exists && i < watch->count; i++)
        if (watch->stamps[i].exists && watch->stamps[i].device == wanted.device &&
            watch->stamps[i].number == wanted.number)
            return watch->paths[i];
    return NULL;
}
