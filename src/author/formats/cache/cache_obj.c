/*
 * Numbered OBJ files as a point cache: NAME_0001.obj, NAME_0002.obj, …, a whole mesh per frame, all of the same
 * connectivity. Files of other programs are found too: NAME1.obj, NAME.0001.obj, NAME-1.obj. They are written as a set
 * of files (file_set.c), so that an incomplete cache never appears at its place, and an older one never loses some of
 * its frames.
 */
#define _XOPEN_SOURCE 700

#include "author/formats/cache/cache.h"

#include "author/base/array.h"
#include "author/base/file.h"
#include "author/mesh/mesh_normals.h"

#include <exemplar/author/base.h>
#include <exemplar/author/formats.h>

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { ENDING = 4, DIGITS_LEAST = 4, NUMBER_SIZE = 24 };

/* ---- finding files ---- */

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* Texts between a name and its number. Frames are written with the first. */
static const char *const joints[] = {"_", "", ".", "-", " "};
enum { JOINT_COUNT = sizeof joints / sizeof joints[0] };

/* Returns the number of a file NAME in a folder whose frames begin with start, or -1. */
static int number_of(const char *name, const char *start) {
    const size_t size = strlen(start), length = strlen(name);
    int number = -1;
    if (length <= size + ENDING || strncmp(name, start, size) != 0 || !ex_path_ends_with(name, ".obj"))
        return -1;
    const char *at = name + size, *end = name + length - ENDING;
    return is_digit(*at) && ex_parse_int(&at, end, &number) && at == end ? number : -1;
}

typedef struct numbered {
    char *name;
    int number;
} numbered;

static int compare_numbers(const void *a, const void *b) {
    const numbered *x = a, *y = b;
    return x->number != y->number ? (x->number < y->number ? -1 : 1) : strcmp(x->name, y->name);
}

typedef struct listing {
    numbered *items;
    size_t capacity;
    int count;
} listing;

static void free_listing(listing *l) {
    for (int i = 0; i < l->count; i++)
        free(l->items[i].name);
    free(l->items);
}

static bool add_name(listing *l, const char *name, int number) {
    numbered *items = exi_array_grow(l->items, &l->capacity, (size_t)l->count + 1, sizeof *items);
    if (!items)
        return false;
    l->items = items;
    items[l->count] = (numbered){exi_text_copy(name, strlen(name)), number};
    if (!items[l->count].name)
        return false;
    l->count++;
    return true;
}

/* Lists the files whose paths are the first `size` bytes of path, the joint, a number and .obj. */
static ex_result list_frames(const char *path, size_t size, const char *joint, listing *l, ex_error *error) {
    char *prefix = malloc(size + strlen(joint) + 1);
    if (!prefix)
        return ex_error_memory(error, "the frames", size);
    snprintf(prefix, size + strlen(joint) + 1, "%.*s%s", (int)size, path, joint);
    const char *slash = strrchr(prefix, '/'), *start = slash ? slash + 1 : prefix;
    char *folder = slash ? exi_text_copy(prefix, (size_t)(slash - prefix) + 1) : exi_text_copy(".", 1);
    DIR *directory = folder ? opendir(folder) : NULL;
    ex_result result = EX_OK;
    if (!folder)
        result = ex_error_memory(error, "the frames", size);
    else if (!directory)
        result = ex_file_error(error, "read the folder", folder, errno);
    for (struct dirent *entry; result == EX_OK && (entry = readdir(directory));) {
        const int number = number_of(entry->d_name, start);
        if (number >= 0 && !add_name(l, entry->d_name, number))
            result = ex_error_memory(error, "the frames", (size_t)l->count * sizeof *l->items);
    }
    if (directory)
        closedir(directory);
    free(folder);
    free(prefix);
    if (l->count > 0)
        qsort(l->items, (size_t)l->count, sizeof *l->items, compare_numbers);
    for (int i = 1; i < l->count && result == EX_OK; i++)
        if (l->items[i].number == l->items[i - 1].number)
            result = ex_error_set(error, EX_ERROR_DATA, "'%s' and '%s' are both frame %d: remove one of them",
                                  l->items[i - 1].name, l->items[i].name, l->items[i].number);
    return result;
}

static bool is_file(const char *path) {
    struct stat status;
    return stat(path, &status) == 0;
}

/* Lists the files NAME_1.obj, … or NAME1.obj, … that a path NAME.obj stands for. The joint that we write comes first,
 * before NAME.obj itself, which is often the mesh of the frames. Without it, there must be one other, and no NAME.obj:
 * NAME2.obj may be anything. */
static ex_result list_named(const char *path, size_t size, listing *l, ex_error *error) {
    const bool digit = size > 0 && is_digit(path[size - 1]); /* 1 is no name of 10, 11, … */
    ex_result result = list_frames(path, size, joints[0], l, error);
    for (int j = 1; result == EX_OK && (l->count == 0 || j > 1) && j < JOINT_COUNT; j++) {
        listing other = {0};
        if (digit && joints[j][0] == 0)
            continue;
        result = list_frames(path, size, joints[j], &other, error);
        if (result == EX_OK && l->count > 0 && other.count > 0)
            result = ex_error_set(error, EX_ERROR_DATA,
                                  "'%s' may mean '%s' and '%s', which are numbered in two ways: name one of the files",
                                  path, l->items[0].name, other.items[0].name);
        if (result == EX_OK && other.count > 0 && is_file(path))
            result = ex_error_set(error, EX_ERROR_DATA,
                                  "'%s' is a file, and may also mean '%s': name one of the numbered files if you mean "
                                  "them, or move the file to another folder",
                                  path, other.items[0].name);
        if (result == EX_OK && other.count > 0)
            *l = other;
        else
            free_listing(&other);
    }
    return result;
}

static bool is_listed(const listing *l, const char *name) {
    for (int i = 0; i < l->count; i++)
        if (strcmp(l->items[i].name, name) == 0)
            return true;
    return false;
}

/* Lists the frames that a path means: those that it is one of, those that it names without a number, or one mesh. A
 * name may end in a digit itself: shirt_v2.obj for shirt_v2_0001.obj. */
static ex_result list_meant(const char *path, listing *l, ex_error *error) {
    const size_t whole = strlen(path) - ENDING;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t size = whole;
    listing named = {0};
    while (size > 0 && is_digit(path[size - 1]))
        size--;
    ex_result result = list_named(path, whole, &named, error);
    if (result == EX_OK && size < whole)
        result = list_frames(path, size, "", l, error);
    if (result == EX_OK && named.count > 0 && l->count > 1 && is_listed(l, name))
        result = ex_error_set(error, EX_ERROR_DATA,
                              "'%s' is a frame beside '%s', and a name of '%s': name one of the files that you mean",
                              path, l->items[strcmp(l->items[0].name, name) == 0].name, named.items[0].name);
    if (result == EX_OK && named.count > 0) {
        free_listing(l);
        *l = named;
    } else {
        free_listing(&named);
    }
    if (result == EX_OK && l->count == 0 && !add_name(l, name, -1))
        result = ex_error_memory(error, "the frames", strlen(path));
    return result;
}

static ex_result find_frames(const char *path, exi_obj_frames *frames, ex_error *error) {
    listing l = {0};
    ex_result result = list_meant(path, &l, error);
    if (result == EX_OK) {
        frames->paths = calloc((size_t)l.count, sizeof *frames->paths);
        frames->numbers = calloc((size_t)l.count, sizeof *frames->numbers);
        for (; frames->paths && frames->numbers && frames->count < l.count; frames->count++) {
            frames->numbers[frames->count] = l.items[frames->count].number;
            frames->paths[frames->count] = ex_path_join(path, l.items[frames->count].name);
            if (!frames->paths[frames->count])
                break;
        }
        if (frames->count < l.count)
            result = ex_error_memory(error, "the frames", (size_t)l.count * sizeof *frames->paths);
    }
    free_listing(&l);
    return result;
}

/* ---- reading ---- */

ex_result exi_obj_frames_open(const char *path, exi_obj_frames *frames, ex_error *error) {
    *frames = (exi_obj_frames){0};
    ex_result result = find_frames(path, frames, error);
    if (result == EX_OK)
        result = ex_obj_read(frames->paths[0], &frames->mesh, error);
    if (result != EX_OK)
        exi_obj_frames_close(frames);
    return result;
}

ex_result exi_obj_frames_read(const exi_obj_frames *frames, int frame, float *positions, ex_error *error) {
    ex_mesh *mesh = NULL;
    ex_result result = ex_obj_read(frames->paths[frame], &mesh, error);
    if (result != EX_OK)
        return result;
    result = ex_error_within(error, ex_mesh_compare_connectivity(frames->mesh, mesh, error), "%s and %s differ",
                             frames->paths[0], frames->paths[frame]);
    for (size_t i = 0; result == EX_OK && i < 3 * (size_t)mesh->vertex_count; i++)
        positions[i] = (float)mesh->positions[i];
    ex_mesh_destroy(mesh);
    return result;
}

void exi_obj_frames_close(exi_obj_frames *frames) {
    for (int f = 0; f < frames->count; f++)
        free(frames->paths[f]);
    free(frames->paths);
    free(frames->numbers);
    ex_mesh_destroy(frames->mesh);
    *frames = (exi_obj_frames){0};
}

/* ---- writing ---- */

/* Digits of the last frame's number. */
static int frame_digits(int frame_count) {
    int digits = DIGITS_LEAST;
    for (int most = frame_count / 10000; most > 0 && digits < 10; most /= 10)
        digits++;
    return digits;
}

char *ex_cache_frame_path(const char *path, int frame, int frame_count) {
    const size_t size = strlen(path) + NUMBER_SIZE,
                 stem = strlen(path) - (ex_path_ends_with(path, ".obj") ? ENDING : 0);
    char *made = malloc(size);
    if (made) {
        memcpy(made, path, stem);
        snprintf(made + stem, size - stem, "_%0*d.obj", frame_digits(frame_count), frame + 1);
    }
    return made;
}

/* Copies a mesh without data that depend on its positions. */
static ex_mesh *bare_copy(const ex_mesh *mesh) {
    ex_mesh *copy = ex_mesh_copy(mesh);
    if (copy)
        exi_mesh_drop_normals(copy);
    return copy;
}

/* Path of a frame in the hidden folder; the text lives until the next call. */
static const char *hidden_path(const exi_obj_writer *w, int frame) {
    snprintf(w->hidden, w->size, "%s/%s_%0*d.obj", ex_file_set_folder(w->set), w->name, w->digits, frame + 1);
    return w->hidden;
}

ex_result exi_obj_writer_open(exi_obj_writer *w, const char *path, int frame_count, const ex_mesh *mesh,
                              ex_error *error) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char *folder = exi_text_copy(path, (size_t)(name - path));
    *w = (exi_obj_writer){.digits = frame_digits(frame_count)};
    w->name = exi_text_copy(name, strlen(name) - ENDING);
    w->mesh = bare_copy(mesh);
    ex_result result =
        folder && w->name && w->mesh
            ? ex_error_within(error, ex_file_set_open(folder, true, &w->set, error), "cannot write '%s'", path)
            : ex_error_memory(error, "the frames", sizeof *mesh);
    free(folder);
    if (result == EX_OK) {
        w->size = strlen(ex_file_set_folder(w->set)) + strlen(name) + NUMBER_SIZE;
        w->hidden = malloc(w->size);
        if (!w->hidden)
            result = ex_error_memory(error, "the frames", w->size);
    }
    if (result != EX_OK)
        exi_obj_writer_finish(w, false, NULL);
    return result;
}

ex_result exi_obj_writer_add(exi_obj_writer *w, const float *positions, ex_error *error) {
    for (size_t i = 0; i < 3 * (size_t)w->mesh->vertex_count; i++)
        w->mesh->positions[i] = (double)positions[i];
    const ex_result result = ex_obj_write(hidden_path(w, w->written), w->mesh, error);
    if (result != EX_OK)
        exi_file_set_name_places(w->set, error);
    w->written += result == EX_OK;
    return result;
}

ex_result exi_obj_writer_finish(exi_obj_writer *w, bool keep, ex_error *error) {
    ex_result result = EX_OK;
    if (keep)
        result = ex_file_set_commit(w->set, NULL, error);
    else
        ex_file_set_abandon(w->set, NULL);
    ex_mesh_destroy(w->mesh);
    free(w->name);
    free(w->hidden);
    *w = (exi_obj_writer){0};
    return result;
}
