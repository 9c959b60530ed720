/*
 * Saved versions of a file. A version is one file: a line of JSON that says what the change was and where other files
 * were kept, then the bytes of the project. It exists completely or not at all, since it is written as every file is
 * (file.c). Kept files are links to the old ones, or copies where the file system has no links. The tool replaces files
 * by renaming new ones to their names, so a link keeps the old content.
 *
 * Undo keeps the present state as N.redo, brings the state of the newest .undo back, and removes it. If the process is
 * killed on the way, a version stays whose state is the present one; the next step skips it.
 */
#define _XOPEN_SOURCE 700

#include "author/base/array.h"
#include "author/base/file.h"
#include "author/base/json.h"
#include "runtime/base/result.h"
#include "runtime/base/text.h"

#include <exemplar/author/history.h>

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The two kinds of versions, by the ending of their files. */
static const char *const endings[] = {".undo", ".redo"};
enum { UNDO, REDO };
/* Longest name of a version's file, with the slash before it. */
enum { ROOM = 64 };

/* ---- places ---- */

/* The place of a project and of its versions. */
typedef struct place {
    char *path;   /* of the project, symbolic links followed */
    char *folder; /* of its versions */
    char *room;   /* for the path of a version's file */
} place;

static void close_place(place *p) {
    free(p->path);
    free(p->folder);
    free(p->room);
    *p = (place){0};
}

static ex_result open_place(const char *path, place *p, ex_error *error) {
    struct stat status;
    const bool link = lstat(path, &status) == 0 && S_ISLNK(status.st_mode);
    *p = (place){.path = link ? realpath(path, NULL) : NULL};
    if (!p->path && !(link && errno == ENOMEM))
        p->path = exi_text_copy(path, strlen(path)); /* as given, for messages */
    const char *slash = p->path ? strrchr(p->path, '/') : NULL;
    const int start = slash ? (int)(slash + 1 - p->path) : 0;
    const size_t size = p->path ? strlen(p->path) + sizeof "..versions" : 0;
    p->folder = p->path ? malloc(size) : NULL;
    p->room = p->path ? malloc(size + ROOM) : NULL;
    if (!p->folder || !p->room) {
        close_place(p);
        return ex_error_memory(error, "a path", strlen(path));
    }
    sprintf(p->folder, "%.*s.%s.versions", start, p->path, p->path + start);
    return EX_OK;
}

/* Returns FOLDER/NUMBER.undo; with part >= 0, FOLDER/NUMBER.undo.PART, a kept file. Valid until the next call. */
static const char *version_path(const place *p, int kind, long number, int part) {
    const int length = sprintf(p->room, "%s/%06ld%s", p->folder, number, endings[kind]);
    if (part >= 0)
        snprintf(p->room + length, ROOM / 3, ".%d", part);
    return p->room;
}

/* Returns the number of a version from the name of its file; -1 for other files. */
static long number_of(const char *name, int kind) {
    char *end;
    const long number = name[0] >= '0' && name[0] <= '9' ? strtol(name, &end, 10) : -1;
    return number > 0 && strcmp(end, endings[kind]) == 0 ? number : -1;
}

static int compare_numbers(const void *a, const void *b) {
    const long x = *(const long *)a, y = *(const long *)b;
    return (x < y) - (x > y);
}

/* Lists the numbers of versions, the newest first. Release with free. */
static ex_result list_versions(const place *p, int kind, long **numbers, int *count, ex_error *error) {
    DIR *folder = opendir(p->folder);
    size_t room = 0;
    *numbers = NULL;
    *count = 0;
    if (!folder)
        return errno == ENOENT || errno == ENOTDIR ? EX_OK : ex_file_error(error, "read", p->folder, errno);
    for (const struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        const long number = number_of(entry->d_name, kind);
        if (number < 0)
            continue;
        if ((size_t)*count == room) {
            long *more = realloc(*numbers, (room = 2 * room + 16) * sizeof *more);
            if (!more) {
                free(*numbers);
                closedir(folder);
                *numbers = NULL;
                return ex_error_memory(error, "the versions", room * sizeof *more);
            }
            *numbers = more;
        }
        (*numbers)[(*count)++] = number;
    }
    closedir(folder);
    if (*count > 0)
        qsort(*numbers, (size_t)*count, sizeof **numbers, compare_numbers);
    return EX_OK;
}

/* ---- one version ---- */

/* A version as read: its head, and the bytes of the project. */
typedef struct version {
    char *content;
    const char *bytes;
    size_t size;
    json_t *head; /* what, time, files: a list of paths; the one at index i was kept as NUMBER.undo.i */
} version;

static void close_version(version *v) {
    free(v->content);
    json_decref(v->head);
    *v = (version){0};
}

static ex_result read_version(const place *p, int kind, long number, version *v, ex_error *error) {
    const char *path = version_path(p, kind, number, -1);
    size_t size = 0;
    *v = (version){0};
    ex_result result = ex_file_read(path, &v->content, &size, error);
    const char *end = result == EX_OK ? memchr(v->content, '\n', size) : NULL;
    if (result == EX_OK)
        result = end ? exi_json_load(v->content, (size_t)(end - v->content), &v->head, NULL) : EX_ERROR_FORMAT;
    if (result == EX_OK &&
        (!json_is_string(json_object_get(v->head, "what")) || !json_is_string(json_object_get(v->head, "time")) ||
         !json_is_array(json_object_get(v->head, "files"))))
        result = EX_ERROR_FORMAT;
    if (result == EX_ERROR_FORMAT)
        ex_error_set(error, result, "'%s' is damaged: remove it to reach the versions before it", path);
    else if (result == EX_ERROR_MEMORY)
        ex_error_memory(error, "a version", size);
    if (result != EX_OK) {
        close_version(v);
        return result;
    }
    v->bytes = end + 1;
    v->size = size - (size_t)(v->bytes - v->content);
    return EX_OK;
}

static const char *file_of(const version *v, size_t i) {
    return json_string_value(json_array_get(json_object_get(v->head, "files"), i));
}

static size_t file_count(const version *v) {
    return json_array_size(json_object_get(v->head, "files"));
}

/* Removes a version and the files that it kept; allocates nothing. */
static void remove_version(const place *p, int kind, long number) {
    bool more = unlink(version_path(p, kind, number, -1)) == 0;
    for (int part = 0; more; part++)
        more = unlink(version_path(p, kind, number, part)) == 0;
    rmdir(p->folder); /* only if it is empty */
}

/* ---- files ---- */

static ex_result write_bytes(const char *path, const char *like, const void *first, size_t first_size,
                             const void *second, size_t second_size, ex_error *error) {
    struct stat status;
    ex_file_writer writer;
    ex_result result = ex_file_open(&writer, path, error);
    if (result != EX_OK)
        return result;
    if (writer.temporary && like && stat(like, &status) == 0)
        (void)fchmod(fileno(writer.file), status.st_mode & 0777); /* what is private stays private */
    ex_file_write(&writer, first, first_size);
    ex_file_write(&writer, second, second_size);
    return ex_file_commit(&writer, error);
}

/* Makes `to` a file with the content of `from`. */
static ex_result copy_file(const char *from, const char *to, ex_error *error) {
    char *bytes = NULL;
    size_t size = 0;
    ex_result result = ex_file_read(from, &bytes, &size, error);
    if (result == EX_OK)
        result = write_bytes(to, from, bytes, size, "", 0, error);
    free(bytes);
    return result;
}

/* Keeps a file; *kept is false if there is none. */
static ex_result keep_file(const place *p, const char *relative, int kind, long number, int part, bool *kept,
                           ex_error *error) {
    char *from = ex_path_join(p->path, relative);
    const char *to = version_path(p, kind, number, part);
    struct stat status;
    ex_result result = from ? EX_OK : ex_error_memory(error, "a path", strlen(relative));
    *kept = result == EX_OK && stat(from, &status) == 0 && S_ISREG(status.st_mode);
    if (*kept) {
        unlink(to);
        if (link(from, to) != 0)
            result = copy_file(from, to, error);
    }
    free(from);
    return result;
}

/* Writes a version of the present files and of `bytes`. */
static ex_result write_version(const place *p, int kind, long number, const version *v, const char *const *files,
                               int count, ex_error *error) {
    json_t *list = json_array();
    exi_text head = {0};
    ex_result result = list ? EX_OK : ex_error_memory(error, "a version", 0);
    for (int i = 0, part = 0; i < count && result == EX_OK; i++) {
        bool kept = false;
        result = keep_file(p, files[i], kind, number, part, &kept, error);
        part += kept;
        if (kept && json_array_append_new(list, json_string(files[i])) != 0)
            result = ex_error_memory(error, "a version", 0);
    }
    json_t *all = json_pack("{s:O, s:O, s:o}", "what", json_object_get(v->head, "what"), "time",
                            json_object_get(v->head, "time"), "files", list);
    if (all)
        exi_json_print(all, false, &head);
    exi_text_add(&head, "\n", 1);
    if (result == EX_OK && (!all || head.failed))
        result = ex_error_memory(error, "a version", 0);
    if (result == EX_OK)
        result =
            write_bytes(version_path(p, kind, number, -1), p->path, head.bytes, head.size, v->bytes, v->size, error);
    for (int part = 0; result != EX_OK && part < count; part++)
        unlink(version_path(p, kind, number, part));
    free(head.bytes);
    json_decref(all);
    return result;
}

/* ---- keeping ---- */

struct ex_history_kept {
    place place;
    long number;
    long *undo, *redo; /* the versions before, the newest first */
    int undo_count, redo_count;
};

static json_t *make_head(const char *what) {
    char text[32] = "";
    struct tm parts;
    const time_t now = time(NULL);
    if (gmtime_r(&now, &parts))
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return json_pack("{s:s, s:s}", "what", what && what[0] && exi_is_text(what) ? what : "changed", "time", text);
}

/* Makes the folder of versions; the project's own must be there. */
static ex_result make_folder(const char *folder, ex_error *error) {
    struct stat status;
    if (mkdir(folder, 0777) == 0 || (errno == EEXIST && stat(folder, &status) == 0 && S_ISDIR(status.st_mode)))
        return EX_OK;
    return ex_file_error(error, "make the folder", folder, errno);
}

static void close_kept(ex_history_kept *kept) {
    if (!kept)
        return;
    close_place(&kept->place);
    free(kept->undo);
    free(kept->redo);
    free(kept);
}

ex_result ex_history_keep(const ex_history_change *change, ex_history_kept **kept, ex_error *error) {
    ex_history_kept *made = calloc(1, sizeof *made);
    version v = {.bytes = change->bytes, .size = change->size, .head = make_head(change->what)};
    *kept = NULL;
    ex_result result =
        made && v.head ? open_place(change->path, &made->place, error) : ex_error_memory(error, "a version", 0);
    if (result == EX_OK)
        result = make_folder(made->place.folder, error);
    if (result == EX_OK)
        result = list_versions(&made->place, UNDO, &made->undo, &made->undo_count, error);
    if (result == EX_OK)
        result = list_versions(&made->place, REDO, &made->redo, &made->redo_count, error);
    if (result == EX_OK) {
        made->number = made->undo_count > 0 ? made->undo[0] + 1 : 1;
        result = write_version(&made->place, UNDO, made->number, &v, change->files, change->file_count, error);
    }
    json_decref(v.head);
    if (result == EX_OK) {
        *kept = made;
        return EX_OK;
    }
    if (made && made->place.folder)
        rmdir(made->place.folder); /* only if it is empty */
    close_kept(made);
    return result;
}

void ex_history_commit(ex_history_kept *kept) {
    if (!kept)
        return;
    for (int i = 0; i < kept->redo_count; i++)
        remove_version(&kept->place, REDO, kept->redo[i]);
    for (int i = EX_HISTORY_MAX - 1; i < kept->undo_count; i++)
        remove_version(&kept->place, UNDO, kept->undo[i]);
    close_kept(kept);
}

void ex_history_abandon(ex_history_kept *kept) {
    if (!kept)
        return;
    remove_version(&kept->place, UNDO, kept->number);
    close_kept(kept);
}

/* ---- lists ---- */

void ex_history_destroy(ex_history *history) {
    if (!history)
        return;
    for (int i = 0; i < history->undo_count; i++)
        free((void *)(uintptr_t)history->undo[i].what), free((void *)(uintptr_t)history->undo[i].time);
    for (int i = 0; i < history->redo_count; i++)
        free((void *)(uintptr_t)history->redo[i].what), free((void *)(uintptr_t)history->redo[i].time);
    free(history->undo);
    free(history->redo);
    free(history);
}

static char *copy_word(const version *v, const char *key) {
    const char *text = json_string_value(json_object_get(v->head, key));
    return exi_text_copy(text, strlen(text));
}

static ex_result read_list(const place *p, int kind, ex_history_version **list, int *count, ex_error *error) {
    long *numbers = NULL;
    int most = 0;
    ex_result result = list_versions(p, kind, &numbers, &most, error);
    *list = exi_array_allocate((size_t)most, sizeof **list);
    if (result == EX_OK && !*list)
        result = ex_error_memory(error, "the versions", (size_t)most * sizeof **list);
    for (int i = 0; i < most && result == EX_OK; i++) {
        version v;
        result = read_version(p, kind, numbers[i], &v, error);
        if (result != EX_OK)
            break;
        ex_history_version *entry = &(*list)[(*count)++];
        *entry = (ex_history_version){.what = copy_word(&v, "what"), .time = copy_word(&v, "time")};
        if (!entry->what || !entry->time)
            result = ex_error_memory(error, "the versions", 0);
        close_version(&v);
    }
    free(numbers);
    return result;
}

ex_result ex_history_read(const char *path, ex_history **history, ex_error *error) {
    place p;
    *history = NULL;
    ex_result result = open_place(path, &p, error);
    if (result != EX_OK)
        return result;
    ex_history *made = calloc(1, sizeof *made);
    result = made ? read_list(&p, UNDO, &made->undo, &made->undo_count, error)
                  : ex_error_memory(error, "the versions", sizeof *made);
    if (result == EX_OK)
        result = read_list(&p, REDO, &made->redo, &made->redo_count, error);
    close_place(&p);
    if (result != EX_OK) {
        ex_history_destroy(made);
        return result;
    }
    *history = made;
    return EX_OK;
}

/* ---- steps ---- */

/* Present content of the project; none if the file is gone. */
typedef struct present {
    char *bytes;
    size_t size;
} present;

static ex_result read_present(const place *p, present *now, ex_error *error) {
    *now = (present){0};
    return access(p->path, F_OK) == 0 ? ex_file_read(p->path, &now->bytes, &now->size, error) : EX_OK;
}

/* True if the file at `path` is the one that was kept. */
static bool is_kept_file(const place *p, int kind, long number, size_t part, const char *path) {
    struct stat a, b;
    return stat(path, &a) == 0 && stat(version_path(p, kind, number, (int)part), &b) == 0 && a.st_ino == b.st_ino &&
           a.st_dev == b.st_dev;
}

/* Finds out if a version is the present state: of a change that was not made. */
static ex_result compare_present(const place *p, int kind, long number, const version *v, const present *now,
                                 bool *same, ex_error *error) {
    *same = now->bytes && now->size == v->size && memcmp(now->bytes, v->bytes, v->size) == 0;
    for (size_t i = 0; *same && i < file_count(v); i++) {
        char *path = ex_path_join(p->path, file_of(v, i));
        if (!path)
            return ex_error_memory(error, "a path", 0);
        *same = is_kept_file(p, kind, number, i, path);
        free(path);
    }
    return EX_OK;
}

/* Puts the kept files of a version into their places. */
static ex_result put_files(const place *p, int kind, long number, const version *v, ex_error *error) {
    ex_result result = EX_OK;
    for (size_t i = 0; i < file_count(v) && result == EX_OK; i++) {
        char *to = ex_path_join(p->path, file_of(v, i));
        result = to ? EX_OK : ex_error_memory(error, "a path", 0);
        if (result == EX_OK && !is_kept_file(p, kind, number, i, to))
            result = copy_file(version_path(p, kind, number, (int)i), to, error);
        free(to);
    }
    return result;
}

/* Keeps the present state as a version of the other kind, and brings that of `v` back. */
static ex_result exchange(const place *p, int kind, long number, const version *v, const present *now,
                          ex_error *error) {
    const int other = kind == UNDO ? REDO : UNDO;
    const size_t count = file_count(v);
    const char **files = exi_array_allocate(count, sizeof *files);
    long *numbers = NULL, mine = 1;
    int others = 0;
    version back = {.bytes = now->bytes ? now->bytes : "", .size = now->size, .head = v->head};
    ex_result result = files ? list_versions(p, other, &numbers, &others, error) : ex_error_memory(error, "a path", 0);
    for (size_t i = 0; files && i < count; i++)
        files[i] = file_of(v, i);
    if (result == EX_OK && now->bytes) {
        mine = others > 0 ? numbers[0] + 1 : 1;
        result = write_version(p, other, mine, &back, files, (int)count, error);
    }
    if (result == EX_OK) {
        version kept = {0};
        result = put_files(p, kind, number, v, error);
        if (result == EX_OK)
            result = write_bytes(p->path, p->path, v->bytes, v->size, "", 0, error);
        if (result == EX_OK) {
            remove_version(p, kind, number);
        } else if (now->bytes) {
            if (count > 0 && read_version(p, other, mine, &kept, NULL) == EX_OK)
                put_files(p, other, mine, &kept, NULL);
            close_version(&kept);
            remove_version(p, other, mine);
        }
    }
    free(numbers);
    free(files);
    return result;
}

ex_result ex_history_step(const char *path, bool redo, int *count, ex_error *error) {
    const int kind = redo ? REDO : UNDO;
    place p;
    present now;
    long *numbers = NULL;
    int versions = 0, steps = 0;
    ex_result result = open_place(path, &p, error);
    if (result != EX_OK)
        return result;
    result = read_present(&p, &now, error);
    if (result == EX_OK)
        result = list_versions(&p, kind, &numbers, &versions, error);
    for (int i = 0; i < versions && result == EX_OK && steps == 0; i++) {
        version v;
        bool same = false;
        result = read_version(&p, kind, numbers[i], &v, error);
        if (result != EX_OK)
            break;
        result = compare_present(&p, kind, numbers[i], &v, &now, &same, error);
        if (result == EX_OK && same) {
            remove_version(&p, kind, numbers[i]);
        } else if (result == EX_OK) {
            result = exchange(&p, kind, numbers[i], &v, &now, error);
            steps = result == EX_OK;
        }
        close_version(&v);
    }
    if (count)
        *count = steps;
    free(now.bytes);
    free(numbers);
    close_place(&p);
    return result;
}
