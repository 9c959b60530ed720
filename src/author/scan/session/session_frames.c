/*
 * Frames of a sequence in scan.json: {"name": "walk", "frames": "walk/f*.ply"} becomes a scan for each file, walk_001,
 * walk_002 …, in the order of the numbers in their names. Each but the first follows the one before it.
 */
#define _POSIX_C_SOURCE 200809L

#include "author/base/array.h"
#include "author/base/json.h"
#include "author/scan/session/session.h"
#include "runtime/base/result.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES_MOST = 20000 };

typedef struct file_list {
    char **names;
    int count;
    size_t capacity;
} file_list;

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* Orders names by the numbers in them: f2 before f10. */
static int order_names(const void *first, const void *second) {
    const char *a = *(char *const *)first, *b = *(char *const *)second;
    while (*a && *b) {
        if (is_digit(*a) && is_digit(*b)) {
            char *after_a = NULL, *after_b = NULL;
            const unsigned long x = strtoul(a, &after_a, 10), y = strtoul(b, &after_b, 10);
            if (x != y)
                return x < y ? -1 : 1;
            a = after_a;
            b = after_b;
        } else if (*a != *b) {
            return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
        } else {
            a++;
            b++;
        }
    }
    const int left = *a ? 1 : *b ? -1 : 0;
    return left ? left : strcmp(*(char *const *)first, *(char *const *)second);
}

static void free_list(file_list *list) {
    for (int i = 0; i < list->count; i++)
        free(list->names[i]);
    free(list->names);
}

/* Lists files [count] of a folder that begin and end so. False without memory. */
static bool list_files(const char *folder, const char *begin, size_t begin_size, const char *end, file_list *list) {
    DIR *directory = opendir(folder);
    const size_t end_size = strlen(end);
    bool good = true;
    for (struct dirent *entry; directory && good && (entry = readdir(directory));) {
        const size_t size = strlen(entry->d_name);
        if (entry->d_name[0] == '.' || size < begin_size + end_size || list->count >= FRAMES_MOST ||
            memcmp(entry->d_name, begin, begin_size) != 0 || strcmp(entry->d_name + size - end_size, end) != 0)
            continue;
        char **grown = exi_array_grow(list->names, &list->capacity, (size_t)list->count + 1, sizeof *grown);
        list->names = grown ? grown : list->names;
        char *name = grown ? malloc(size + 1) : NULL;
        good = name != NULL;
        if (good) {
            memcpy(name, entry->d_name, size + 1);
            list->names[list->count++] = name;
        }
    }
    if (directory)
        closedir(directory);
    if (list->count > 1)
        qsort(list->names, (size_t)list->count, sizeof *list->names, order_names);
    return good;
}

/* Appends a scan for each frame of an entry. */
static ex_result add_frames(const char *folder, const json_t *entry, const exi_place *place, json_t *scans,
                            ex_error *error) {
    const char *pattern = json_string_value(json_object_get(entry, "frames")),
               *name = json_string_value(json_object_get(entry, "name"));
    const char *slash = pattern ? strrchr(pattern, '/') : NULL, *file = slash ? slash + 1 : pattern,
               *star = pattern ? strchr(pattern, '*') : NULL;
    if (!name || !star || star < file || strchr(star + 1, '*') || json_object_get(entry, "files"))
        return ex_error_set(
            error, EX_ERROR_DATA,
            "%s: a sequence has a name and, instead of files, \"frames\": a pattern with one *, such as "
            "\"walk/*.ply\"",
            place->text);
    const int inside = (int)(slash ? slash - pattern : 0);
    char relative[1024], title[192];
    file_list list = {0};
    snprintf(relative, sizeof relative, "%.*s", inside > 900 ? 900 : inside, pattern);
    char *path = exi_scan_file(folder, slash ? relative : ".");
    bool good = path && list_files(path, file, (size_t)(star - file), star + 1, &list);
    ex_result result = good ? EX_OK : ex_error_memory(error, "the frames", 0);
    if (good && list.count == 0)
        result = ex_error_set(error, EX_ERROR_DATA, "%s.frames: there is no file '%s'", place->text, pattern);
    for (int i = 0; i < list.count && result == EX_OK; i++) {
        json_t *scan = json_copy((json_t *)entry);
        snprintf(title, sizeof title, "%.120s_%0*d", name, list.count > 999 ? 5 : 3, i + 1);
        snprintf(relative, sizeof relative, "%.*s%s%.500s", inside > 400 ? 400 : inside, pattern, slash ? "/" : "",
                 list.names[i]);
        good = scan && json_object_del(scan, "frames") == 0 &&
               json_object_set_new(scan, "name", json_string(title)) == 0 &&
               json_object_set_new(scan, "files", json_pack("[s]", relative)) == 0 &&
               (i == 0 || json_object_set_new(scan, "follows", json_true()) == 0);
        if (good && i > 0)
            json_object_del(scan, "pose");
        if (!good || json_array_append_new(scans, scan) != 0)
            result = ex_error_memory(error, "the frames", 0);
    }
    free_list(&list);
    free(path);
    return result;
}

ex_result exi_scan_expand_frames(const char *folder, json_t *root, ex_error *error) {
    const exi_place whole = {""}, at = exi_place_key(&whole, "scans");
    const json_t *from = json_object_get(root, "scans");
    json_t *scans = json_array();
    ex_result result = scans ? EX_OK : ex_error_memory(error, "the session", 0);
    bool any = false;
    for (size_t i = 0; result == EX_OK && i < json_array_size(from); i++) {
        json_t *entry = json_array_get(from, i);
        const exi_place place = exi_place_index(&at, i);
        any = any || json_object_get(entry, "frames");
        if (json_object_get(entry, "frames"))
            result = add_frames(folder, entry, &place, scans, error);
        else if (json_array_append(scans, entry) != 0)
            result = ex_error_memory(error, "the session", 0);
    }
    if (result == EX_OK && any && json_object_set(root, "scans", scans) != 0)
        result = ex_error_memory(error, "the session", 0);
    json_decref(scans);
    return result;
}
