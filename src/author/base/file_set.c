/*
 * Sets of files that replace other files as a whole.
 *
 * The files are written into a hidden folder of the directory. Then, one after the other, a file that is in the way
 * gets a second name in "old" in that folder, and the new one takes its place. Both are renames within a directory,
 * which need no space on the disk. If one of them fails, those before it are undone in reverse order.
 */
#define _XOPEN_SOURCE 700

#include "author/base/array.h"
#include "author/base/file.h"
#include "author/base/temporary.h"
#include "runtime/base/result.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ATTEMPTS = 64 };

struct ex_file_set {
    char *prefix; /* of the files' places: "FOLDER/", or "" */
    char *folder; /* the hidden folder */
    DIR *listing; /* of the hidden folder; its descriptor holds the lock */
    bool bulk;    /* true if the files are not synced */
};

static bool is_dots(const char *name) {
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static char *join(const char *start, const char *middle, const char *end) {
    const size_t size = strlen(start) + strlen(middle) + strlen(end) + 1;
    char *text = malloc(size);
    if (text)
        snprintf(text, size, "%s%s%s", start, middle, end);
    return text;
}

/* ---- starting and ending ---- */

static void destroy(ex_file_set *set) {
    if (set->listing)
        closedir(set->listing);
    free(set->folder);
    free(set->prefix);
    free(set);
}

/* Makes and locks the hidden folder; false with errno set. */
static bool make_folder(ex_file_set *set, const char *model) {
    for (int i = 0; i < ATTEMPTS; i++) {
        set->folder = exi_temporary_name(model);
        if (!set->folder) {
            errno = ENOMEM;
            return false;
        }
        const bool made = mkdir(set->folder, 0777) == 0;
        set->listing = made ? opendir(set->folder) : NULL;
        if (set->listing && exi_temporary_claim(dirfd(set->listing)))
            return true;
        const int reason = errno;
        if (set->listing)
            closedir(set->listing);
        if (made)
            rmdir(set->folder);
        free(set->folder);
        set->listing = NULL;
        set->folder = NULL;
        errno = reason;
        /* ENOENT after mkdir: another process took it for a dead one before it was locked. */
        if (made ? reason != ENOENT && reason != EWOULDBLOCK : reason != EEXIST)
            return false;
    }
    return false;
}

static ex_result open_error(ex_error *error, const char *directory, int errno_value) {
    if (errno_value == ENOMEM)
        return ex_error_memory(error, "a set of files", strlen(directory));
    if (errno_value == ENOENT)
        return ex_error_set(error, EX_ERROR_FILE, "the folder '%s' does not exist", directory);
    return ex_file_error(error, "write into the folder", directory, errno_value);
}

ex_result ex_file_set_open(const char *directory, bool bulk, ex_file_set **set, ex_error *error) {
    *set = NULL;
    const size_t length = strlen(directory);
    ex_file_set *made = calloc(1, sizeof *made);
    if (made)
        *made = (ex_file_set){.prefix = join(directory, length == 0 || directory[length - 1] == '/' ? "" : "/", ""),
                              .bulk = bulk};
    char *model = made && made->prefix ? join(made->prefix, "set", "") : NULL;
    ex_result result = model ? EX_OK : ex_error_memory(error, "a set of files", sizeof *made);
    if (result == EX_OK && exi_file_stopped()) {
        result = exi_file_write_error(error, directory, EINTR);
    } else if (result == EX_OK) {
        exi_temporary_clear(model);
        if (!make_folder(made, model))
            result = open_error(error, length ? directory : ".", errno);
    }
    free(model);
    if (result == EX_OK)
        *set = made;
    else if (made)
        destroy(made);
    return result;
}

const char *ex_file_set_folder(const ex_file_set *set) {
    return set->folder;
}

void exi_file_set_name_places(const ex_file_set *set, ex_error *error) {
    if (!error)
        return;
    const size_t length = strlen(set->folder), shorter = strlen(set->prefix);
    for (char *at = error->text; (at = strstr(at, set->folder));) {
        const size_t skipped = at[length] == '/' ? length + 1 : length;
        memcpy(at, set->prefix, shorter);
        memmove(at + shorter, at + skipped, strlen(at + skipped) + 1);
        at += shorter;
    }
}

/* Allocates nothing, so that lack of memory leaves nothing behind. */
void ex_file_set_abandon(ex_file_set *set, ex_error *error) {
    if (!set)
        return;
    exi_file_set_name_places(set, error);
    rewinddir(set->listing);
    for (struct dirent *entry; (entry = readdir(set->listing));)
        if (!is_dots(entry->d_name))
            unlinkat(dirfd(set->listing), entry->d_name, 0);
    rmdir(set->folder);
    destroy(set);
}

/* ---- the files ---- */

typedef struct item {
    char *hidden, *place; /* paths; place: as the caller would name it */
    char *target;         /* the place with symbolic links followed */
    char *old;            /* path of the replaced file's second name */
    bool exists;          /* true if there is a file to replace */
    bool saved, moved;    /* true if the second name exists; if the new file is in its place */
} item;

typedef struct items {
    item *list;
    int count;
    size_t capacity;
} items;

static void free_items(items *all) {
    for (int i = 0; i < all->count; i++) {
        free(all->list[i].hidden);
        free(all->list[i].place);
        free(all->list[i].target);
        free(all->list[i].old);
    }
    free(all->list);
}

static bool add_item(const ex_file_set *set, const char *name, items *all) {
    item *list = exi_array_grow(all->list, &all->capacity, (size_t)all->count + 1, sizeof *list);
    if (!list)
        return false;
    all->list = list;
    item *one = &list[all->count++];
    *one = (item){.hidden = join(set->folder, "/", name),
                  .place = join(set->prefix, "", name),
                  .old = join(set->folder, "/old/", name)};
    return one->hidden && one->place && one->old;
}

static int compare_places(const void *a, const void *b) {
    return strcmp(((const item *)a)->place, ((const item *)b)->place);
}

/* Lists the files in a fixed order, `last` at the end. */
static ex_result list_items(const ex_file_set *set, const char *last, items *all, ex_error *error) {
    bool good = true;
    rewinddir(set->listing);
    for (struct dirent *entry; good && (entry = readdir(set->listing));)
        good = is_dots(entry->d_name) || add_item(set, entry->d_name, all);
    if (!good)
        return ex_error_memory(error, "a set of files", (size_t)all->count * sizeof *all->list);
    if (all->count > 0)
        qsort(all->list, (size_t)all->count, sizeof *all->list, compare_places);
    for (int i = 0; last && i + 1 < all->count; i++)
        if (strcmp(all->list[i].place + strlen(set->prefix), last) == 0) {
            const item moved = all->list[i];
            memmove(&all->list[i], &all->list[i + 1], (size_t)(all->count - i - 1) * sizeof moved);
            all->list[all->count - 1] = moved;
            break;
        }
    return EX_OK;
}

/* Brings a complete file to the disk. */
static bool sync_file(const char *path) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    const bool good = exi_file_sync(file);
    const int reason = errno;
    close(file);
    errno = reason;
    return good;
}

/* Checks that the file may take its place, and prepares it. */
static ex_result prepare(const ex_file_set *set, item *one, ex_error *error) {
    int mode;
    one->target = exi_file_target(one->place, &mode);
    one->exists = mode >= 0;
    if (one->exists)
        (void)chmod(one->hidden, (mode_t)mode); /* best effort: not every file system has modes */
    if (one->target && (set->bulk || sync_file(one->hidden)))
        return EX_OK;
    return errno == ENOMEM ? ex_error_memory(error, "a set of files", strlen(one->place))
                           : exi_file_write_error(error, one->place, errno);
}

/* ---- moving ---- */

/* Replaces one file; false with errno set. */
static bool move(item *one) {
    if (one->exists) {
        /* A file system without links: the file has no name for a moment. */
        one->saved = link(one->target, one->old) == 0 || rename(one->target, one->old) == 0;
        if (!one->saved)
            return false;
    }
    one->moved = rename(one->hidden, one->target) == 0;
    return one->moved;
}

/* Undoes `move`, whether it succeeded or not. False if the old file could not be put back. */
static bool undo(item *one) {
    if (!one->exists)
        return !one->moved || unlink(one->target) == 0;
    if (!one->saved)
        return true;
    struct stat here, there;
    if (!one->moved && stat(one->target, &here) == 0 && stat(one->old, &there) == 0 && here.st_ino == there.st_ino)
        return unlink(one->old) == 0; /* rename does nothing if both are the same file */
    return rename(one->old, one->target) == 0;
}

static ex_result move_all(const ex_file_set *set, items *all, ex_error *error) {
    int done = 0;
    while (done < all->count && move(&all->list[done]))
        done++;
    if (done == all->count)
        return EX_OK;
    ex_error why;
    const char *place = all->list[done].place;
    if (errno == EXDEV)
        ex_error_set(&why, EX_ERROR_FILE, "cannot write '%s': it is a link to another disk: remove the link first",
                     place);
    else
        exi_file_write_error(&why, place, errno);
    const item *lost = NULL;
    for (int i = done; i >= 0; i--)
        if (!undo(&all->list[i]))
            lost = &all->list[i];
    if (lost)
        return ex_error_set(error, EX_ERROR_FILE, "%.400s; '%s' could not be put back: its old version is in '%s/old'",
                            why.text, lost->place, set->folder);
    return ex_error_set(error, EX_ERROR_FILE, "%s", why.text);
}

/* Syncs the folders of the places: the directory itself, and those that links lead to. */
static void sync_folders(const ex_file_set *set, const items *all) {
    if (set->bulk || all->count == 0)
        return;
    exi_sync_folder_of(all->list[0].place);
    for (int i = 0; i < all->count; i++) {
        struct stat status;
        if (lstat(all->list[i].place, &status) == 0 && S_ISLNK(status.st_mode))
            exi_sync_folder_of(all->list[i].target);
    }
}

ex_result ex_file_set_commit(ex_file_set *set, const char *last, ex_error *error) {
    items all = {0};
    ex_result result = list_items(set, last, &all, error);
    for (int i = 0; i < all.count && result == EX_OK; i++)
        result = prepare(set, &all.list[i], error);
    if (result == EX_OK && exi_file_stopped())
        result = exi_file_write_error(error, all.count > 0 ? all.list[0].place : set->prefix, EINTR);
    if (result == EX_OK && mkdirat(dirfd(set->listing), "old", 0777) != 0)
        result = ex_file_error(error, "make the folder", set->folder, errno);
    if (result == EX_OK) {
        result = move_all(set, &all, error);
        if (result == EX_OK)
            sync_folders(set, &all);
        for (int i = 0; result == EX_OK && i < all.count; i++)
            if (all.list[i].saved)
                unlink(all.list[i].old);
        unlinkat(dirfd(set->listing), "old", AT_REMOVEDIR); /* stays if a file could not be put back */
    }
    free_items(&all);
    ex_file_set_abandon(set, NULL);
    return result;
}
