/*
 * The private folder of a task. It holds files of the pieces that the task needs, and, if the task works on a folder (a
 * scan session), links to what is there: so commands write beside their inputs as usual, and nobody else sees it.
 */
#define _GNU_SOURCE

#include "farm.h"

#include "cli/base/files.h"
#include "common/array.h"
#include "piece.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Makes the folders above a path. */
static ex_result make_folders(const char *path, ex_error *error) {
    char *copy = text_copy(path), *slash = copy ? strrchr(copy, '/') : NULL;
    if (!slash) {
        free(copy);
        return ex_error_memory(error, "a path", strlen(path));
    }
    *slash = 0;
    const ex_result result = ex_make_directory(copy, error);
    free(copy);
    return result;
}

/* Small files are copied: a command may change them, and writing follows links. */
#define SMALL (1 << 20)

static bool is_small(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && info.st_size <= SMALL;
}

static ex_result copy(const char *from, const char *to, ex_error *error) {
    ex_file_writer writer;
    char *bytes = NULL;
    size_t size = 0;
    ex_result result = ex_file_read(from, &bytes, &size, error);
    if (result == EX_OK)
        result = ex_file_open_bulk(&writer, to, error);
    if (result == EX_OK) {
        ex_file_write(&writer, bytes, size);
        result = ex_file_commit(&writer, error);
    }
    free(bytes);
    return result;
}

static ex_result link_one(const char *room, const char *session, const char *name, ex_error *error) {
    char *inner = exi_path_inside(room, "session", ""), *from = exi_path_inside(session, name, ""),
         *to = inner ? exi_path_inside(inner, name, "") : NULL;
    ex_result result = from && to ? make_folders(to, error) : ex_error_memory(error, "a path", 64);
    if (result == EX_OK)
        result = is_small(from)           ? copy(from, to, error)
                 : symlink(from, to) == 0 ? EX_OK
                                          : ex_file_error(error, "make", to, errno);
    free(inner);
    free(from);
    free(to);
    return result;
}

/* Unpacks a piece into the room. */
static ex_result unpack(const exi_farm *farm, int task, const char *room, ex_error *error) {
    exi_piece piece;
    char *path = exi_farm_piece_path(farm, task);
    ex_result result = path ? exi_piece_open(path, farm->tasks[task].fingerprint, &piece, error)
                            : ex_error_memory(error, "a path", 64);
    for (int i = 0; result == EX_OK && i < piece.file_count; i++) {
        char *to = exi_path_inside(room, piece.files[i].name, "");
        result = to ? make_folders(to, error) : ex_error_memory(error, "a path", 64);
        if (result == EX_OK)
            result = exi_piece_extract(&piece, i, to, false, error);
        free(to);
    }
    if (path)
        exi_piece_close(&piece);
    if (result == EX_ERROR_DATA)
        (void)exi_farm_reject(farm, task, NULL);
    free(path);
    return result;
}

/* ---- lists of files ---- */

/* Adds regular files below a folder to names: {"path": "inode.size.time"}. prefix: of the folder in the room. */
static bool list(const char *folder, const char *prefix, json_t *names) {
    DIR *stream = opendir(folder);
    bool whole = stream != NULL;
    for (const struct dirent *entry; whole && (entry = readdir(stream));) {
        struct stat info;
        char stamp[96];
        if (entry->d_name[0] == '.')
            continue;
        char *path = exi_path_inside(folder, entry->d_name, ""),
             *name = prefix[0] ? exi_path_inside(prefix, entry->d_name, "") : text_copy(entry->d_name);
        whole = path && name;
        const bool there = whole && lstat(path, &info) == 0;
        if (there && S_ISDIR(info.st_mode)) {
            whole = list(path, name, names);
        } else if (there && S_ISREG(info.st_mode)) {
            snprintf(stamp, sizeof stamp, "%llu.%lld.%lld.%ld", (unsigned long long)info.st_ino,
                     (long long)info.st_size, (long long)info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
            whole = json_object_set_new(names, name, json_string(stamp)) == 0;
        }
        free(path);
        free(name);
    }
    if (stream)
        closedir(stream);
    return whole;
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

json_t *exi_farm_room_made(const char *room, const json_t *before) {
    json_t *now = json_object(), *made = json_array();
    bool whole = now && made && list(room, "", now);
    const char **names = array_allocate(json_object_size(now), sizeof *names);
    size_t count = 0;
    const char *name;
    json_t *stamp;
    whole = whole && names;
    if (whole)
        json_object_foreach(now, name, stamp) {
            if (!json_equal(stamp, json_object_get(before, name)))
                names[count++] = name;
        }
    qsort(names, whole ? count : 0, sizeof *names, by_text);
    for (size_t i = 0; whole && i < count; i++)
        whole = json_array_append_new(made, json_string(names[i])) == 0;
    free(names);
    json_decref(now);
    if (whole)
        return made;
    json_decref(made);
    return NULL;
}

/* ---- opening ---- */

/* scratch/FINGERPRINT.HOST.PID-XXXXXX, after the mark, in TMPDIR if that is set: a local disk, on most farms. */
static char *name_room(const exi_farm *farm, int task) {
    const char *local = getenv("TMPDIR");
    char *mark = exi_farm_mark_name(farm, task), *room = NULL;
    const char *name = mark ? strrchr(mark, '/') + 1 : NULL;
    if (mark && local && local[0] == '/' && exi_file_is_folder(local)) {
        room = malloc(strlen(local) + strlen(name) + 32);
        if (room)
            sprintf(room, "%s/exemplar-%s-XXXXXX", local, name);
    } else if (mark) {
        room = exi_farm_path(farm, "scratch", name, "-XXXXXX");
    }
    free(mark);
    return room;
}

char *exi_farm_room_open(const exi_farm *farm, int task, json_t *before, ex_error *error) {
    const json_t *json = farm->tasks[task].json, *links = json_object_get(json, "links"),
                 *needs = json_object_get(json, "needs"), *folders = json_object_get(json, "folders");
    char *room = name_room(farm, task);
    ex_result result = room ? EX_OK : ex_error_memory(error, "a path", 64);
    if (result == EX_OK && !mkdtemp(room)) {
        result = ex_file_error(error, "make", room, errno);
        free(room);
        return NULL;
    }
    for (size_t i = 0; result == EX_OK && i < json_array_size(folders); i++) {
        char *path = exi_path_inside(room, json_string_value(json_array_get(folders, i)), "");
        result = path ? ex_make_directory(path, error) : ex_error_memory(error, "a path", 64);
        free(path);
    }
    for (size_t i = 0; result == EX_OK && i < json_array_size(links); i++)
        result = link_one(room, exi_farm_text(json, "session"), json_string_value(json_array_get(links, i)), error);
    for (size_t i = 0; result == EX_OK && i < json_array_size(needs); i++)
        result = unpack(farm, (int)json_integer_value(json_array_get(needs, i)), room, error);
    if (result == EX_OK && !list(room, "", before))
        result = ex_error_memory(error, "a list of files", 1024);
    if (result == EX_OK)
        return room;
    if (room)
        exi_farm_remove_tree(room);
    free(room);
    return NULL;
}
