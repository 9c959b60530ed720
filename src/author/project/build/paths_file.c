/*
 * Kept paths as files, so that another process finds them too: one file for each layer of trajectories, named by its
 * key, in one folder.
 *
 * A file is a head and the arrays of ex_trajectories in the order of `pass`, which both reads and writes. The head has
 * the version of the library, which may find other paths than the last one, the key, and a hash of the rest. A file
 * that differs in any of these is no file. Numbers are as this machine stores them: a folder belongs to one machine.
 * Reading a file makes it the newest; the oldest ones go once all of them exceed a number of bytes.
 */
#define _POSIX_C_SOURCE 200809L

#include "author/base/array.h"
#include "author/project/build/project_trajectories.h"

#include <exemplar/author/files.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENDING ".paths"

typedef struct head {
    char magic[8], version[24];
    exi_paths_key key;
    uint64_t size, hash; /* of the rest */
} head;

static head head_of(const exi_paths_key *key, const char *bytes, size_t size) {
    head made;
    memset(&made, 0, sizeof made); /* padding, too */
    memcpy(made.magic, "expaths1", sizeof made.magic);
    snprintf(made.version, sizeof made.version, "%s", EX_VERSION_TEXT);
    made.key.vertex_count = key->vertex_count;
    made.key.triangle_count = key->triangle_count;
    made.key.example_count = key->example_count;
    made.key.hash = key->hash;
    made.size = size;
    made.hash = exi_bytes_hash(bytes, size);
    return made;
}

/* ---- the arrays, read or written ---- */

typedef struct stream {
    bool reads;
    char *bytes;
    size_t size, at, capacity;
    bool failed; /* no memory, or no more bytes */
} stream;

static void pass_bytes(stream *s, void *data, size_t size) {
    if (s->failed)
        return;
    if (s->reads) {
        s->failed = size > s->size - s->at;
        if (!s->failed)
            memcpy(data, s->bytes + s->at, size);
    } else {
        char *bytes = exi_array_grow(s->bytes, &s->capacity, s->at + size, 1);
        s->failed = !bytes;
        if (bytes) {
            s->bytes = bytes;
            memcpy(bytes + s->at, data, size);
            s->size = s->at + size;
        }
    }
    if (!s->failed)
        s->at += size;
}

/* An array of that many bytes, or NULL. */
static void *pass_array(stream *s, const void *array, size_t size) {
    char is_there = array != NULL;
    void *data = (void *)(uintptr_t)array;
    pass_bytes(s, &is_there, 1);
    if (s->reads)
        data = !s->failed && is_there && size <= s->size - s->at ? malloc(size + 1) : NULL;
    s->failed = s->failed || (is_there && !data);
    if (is_there)
        pass_bytes(s, data, size);
    return data;
}

static void pass_count(stream *s, int *count, int most) {
    pass_bytes(s, count, sizeof *count);
    if (s->failed || *count < 0 || *count > most) {
        s->failed = true;
        if (s->reads)
            *count = 0;
    }
}

static const float *const *pass_rows(stream *s, const float *const *rows, int count, size_t size) {
    const float **made = s->reads && count > 0 ? calloc((size_t)count, sizeof *made) : NULL;
    s->failed = s->failed || (s->reads && count > 0 && !made);
    for (int j = 0; j < count && !s->failed; j++) {
        const float *row = pass_array(s, s->reads ? NULL : rows[j], size);
        if (made)
            made[j] = row;
    }
    return s->reads ? made : rows;
}

static void pass_path(stream *s, ex_trajectory *path, size_t row, int segment_count) {
    pass_bytes(s, &path->screw, sizeof path->screw);
    pass_count(s, &path->corrector_count, EX_CORRECTOR_MAX);
    path->turns = pass_array(s, path->turns, row);
    path->correctors = pass_rows(s, path->correctors, path->corrector_count, row);
    path->curves = pass_array(s, path->curves, (size_t)path->corrector_count * EX_CURVE_SIZE * sizeof *path->curves);
    path->bases = pass_array(s, path->bases, (size_t)segment_count * 6 * sizeof *path->bases);
}

static void pass_mixture(stream *s, ex_mixture *m, size_t examples, size_t vertices) {
    pass_count(s, &m->node_count, EX_NODE_MAX);
    pass_count(s, &m->edge_count, EX_NODE_EDGE_MAX);
    pass_count(s, &m->corrector_count, EX_MIXTURE_CORRECTOR_MAX);
    pass_count(s, &m->term_count, EX_MIXTURE_TERM_MAX);
    const size_t nodes = 3 * (size_t)m->node_count, edges = (size_t)m->edge_count, terms = (size_t)m->term_count;
    m->places = pass_array(s, m->places, (1 + examples) * nodes * sizeof *m->places);
    m->turns = pass_array(s, m->turns, examples * nodes * sizeof *m->turns);
    m->edges = pass_array(s, m->edges, 2 * edges * sizeof *m->edges);
    m->edge_weights = pass_array(s, m->edge_weights, edges * sizeof *m->edge_weights);
    m->nodes = pass_array(s, m->nodes, vertices * EX_NODE_SHARES * sizeof *m->nodes);
    m->shares = pass_array(s, m->shares, vertices * EX_NODE_SHARES * sizeof *m->shares);
    m->correctors = pass_rows(s, m->correctors, m->corrector_count, 3 * vertices * sizeof(float));
    m->terms = pass_array(s, m->terms, terms * sizeof *m->terms);
    m->curves = pass_array(s, m->curves, (size_t)m->corrector_count * terms * sizeof *m->curves);
}

static void pass(stream *s, ex_trajectories *t, const exi_paths_key *key) {
    const size_t examples = (size_t)key->example_count, vertices = (size_t)key->vertex_count;
    pass_bytes(s, t->centre, sizeof t->centre);
    pass_bytes(s, t->rigid, sizeof t->rigid);
    pass_count(s, &t->segments.count, EX_SEGMENT_MAX);
    t->segments.parents = pass_array(s, t->segments.parents, (size_t)t->segments.count * sizeof *t->segments.parents);
    t->segments.vertices = pass_array(s, t->segments.vertices, vertices * sizeof *t->segments.vertices);
    t->triangle_segments =
        pass_array(s, t->triangle_segments, (size_t)key->triangle_count * sizeof *t->triangle_segments);
    t->overlaps = pass_array(s, t->overlaps, examples * examples * sizeof *t->overlaps);
    t->fits = pass_array(s, t->fits, examples * sizeof *t->fits);
    for (size_t k = 0; k < examples && !s->failed; k++)
        pass_path(s, &t->trajectories[k], 3 * vertices * sizeof(float), t->segments.count);
    pass_mixture(s, &t->mixture, examples, vertices);
}

/* ---- files ---- */

/* FOLDER/HASH.paths; false if that is too long. */
static bool name_of(const char *folder, const exi_paths_key *key, char *path, size_t size) {
    const int used = snprintf(path, size, "%s/%016llx" ENDING, folder, (unsigned long long)key->hash);
    return used > 0 && (size_t)used < size;
}

/* The paths in the bytes of a file; NULL if they are not those of the key. */
static ex_trajectories *decode(const exi_paths_key *key, char *bytes, size_t size) {
    head own, wanted;
    if (size < sizeof own)
        return NULL;
    memcpy(&own, bytes, sizeof own);
    wanted = head_of(key, bytes + sizeof own, size - sizeof own);
    ex_trajectories *made = memcmp(&own, &wanted, sizeof own) == 0 ? calloc(1, sizeof *made) : NULL;
    if (made)
        made->trajectories = calloc((size_t)key->example_count + 1, sizeof *made->trajectories);
    if (!made || !made->trajectories) {
        free(made);
        return NULL;
    }
    made->example_count = key->example_count;
    stream s = {.reads = true, .bytes = bytes + sizeof own, .size = size - sizeof own};
    pass(&s, made, key);
    if (s.failed || s.at != s.size) {
        ex_trajectories_destroy(made);
        return NULL;
    }
    return made;
}

ex_trajectories *exi_paths_file_read(const char *folder, const exi_paths_key *key) {
    char path[EXI_PATHS_FOLDER_SIZE + 32], *bytes = NULL;
    size_t size = 0;
    ex_error ignored = {0};
    if (!name_of(folder, key, path, sizeof path) || ex_file_read(path, &bytes, &size, &ignored) != EX_OK)
        return NULL;
    ex_trajectories *found = decode(key, bytes, size);
    free(bytes);
    if (found)
        (void)utimensat(AT_FDCWD, path, NULL, 0);
    return found;
}

typedef struct old_file {
    char name[40];
    struct timespec time;
    size_t size;
} old_file;

static int by_age(const void *left, const void *right) {
    const struct timespec a = ((const old_file *)left)->time, b = ((const old_file *)right)->time;
    if (a.tv_sec != b.tv_sec)
        return a.tv_sec < b.tv_sec ? -1 : 1;
    return (a.tv_nsec > b.tv_nsec) - (a.tv_nsec < b.tv_nsec);
}

/* Removes the oldest files until the rest is small enough; `newest` stays, however large. */
static void make_room(const char *folder, const char *newest, size_t most) {
    DIR *listing = opendir(folder);
    old_file *files = NULL;
    size_t capacity = 0, count = 0, size = 0;
    for (struct dirent *entry; listing && (entry = readdir(listing));) {
        struct stat status;
        const size_t length = strlen(entry->d_name), end = strlen(ENDING);
        if (length <= end || length >= sizeof files->name || strcmp(entry->d_name + length - end, ENDING) != 0 ||
            fstatat(dirfd(listing), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        old_file *grown = exi_array_grow(files, &capacity, count + 1, sizeof *files);
        if (!grown)
            break;
        files = grown;
        strcpy(files[count].name, entry->d_name);
        files[count].time = status.st_mtim;
        files[count].size = (size_t)status.st_size;
        size += files[count++].size;
    }
    if (files && size > most)
        qsort(files, count, sizeof *files, by_age);
    for (size_t i = 0; i < count && size > most; i++) {
        if (strcmp(files[i].name, newest) == 0)
            continue;
        (void)unlinkat(dirfd(listing), files[i].name, 0);
        size -= files[i].size;
    }
    free(files);
    if (listing)
        closedir(listing);
}

void exi_paths_file_write(const char *folder, size_t most, const exi_paths_key *key, const ex_trajectories *found) {
    char path[EXI_PATHS_FOLDER_SIZE + 32];
    ex_file_writer writer;
    ex_error ignored = {0};
    stream s = {.reads = false};
    ex_trajectories copy = *found; /* writing changes nothing in the arrays */
    pass(&s, &copy, key);
    if (!s.failed && name_of(folder, key, path, sizeof path) && ex_make_directory(folder, &ignored) == EX_OK &&
        ex_file_open_bulk(&writer, path, &ignored) == EX_OK) {
        const head own = head_of(key, s.bytes, s.size);
        ex_file_write(&writer, &own, sizeof own);
        ex_file_write(&writer, s.bytes, s.size);
        if (ex_file_commit(&writer, &ignored) == EX_OK)
            make_room(folder, strrchr(path, '/') + 1, most);
    }
    free(s.bytes);
}
