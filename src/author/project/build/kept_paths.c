/*
 * Paths kept from one build or check to the next. They depend on the mesh, the forms of the examples and the options of
 * the layer, not on its space: moving an example or changing the weigher finds the same ones again.
 *
 * Entries are compared by the number of vertices, triangles and examples and by a hash of 64 bits over all numbers. An
 * entry is freed once nobody uses it and it has left the list, which holds those used last, up to a number of bytes.
 * The lock is held for a few steps only, never while paths are found, read or written. With a folder, paths that are
 * not in the list are looked for in its files (paths_file.c).
 */
#include "author/base/array.h"
#include "author/base/rows.h"
#include "author/project/build/project_trajectories.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Bytes in the list: layers of a project and some steps of undo. A mixture of a body has about 10 MB. */
static const size_t kept_bytes = (size_t)256 << 20;
/* Bytes in the folder: some projects. */
static const size_t folder_bytes = (size_t)512 << 20;

struct exi_kept_entry {
    exi_paths_key key;
    ex_trajectories *found;
    size_t size;          /* bytes of the paths */
    int users;            /* the list is one, too */
    exi_kept_entry *next; /* among those that leave together */
};

struct ex_kept_paths {
    atomic_flag lock;
    size_t most, size;        /* bytes that may be kept, and that are */
    exi_kept_entry **entries; /* [count], the last used first */
    size_t capacity;
    int count;
    char folder[EXI_PATHS_FOLDER_SIZE]; /* "" for none */
    size_t folder_most;
};

static void take_lock(ex_kept_paths *kept) {
    while (atomic_flag_test_and_set_explicit(&kept->lock, memory_order_acquire))
        ;
}

static void release_lock(ex_kept_paths *kept) {
    atomic_flag_clear_explicit(&kept->lock, memory_order_release);
}

ex_kept_paths *ex_kept_paths_create(size_t most) {
    ex_kept_paths *kept = calloc(1, sizeof *kept);
    if (kept) {
        atomic_flag_clear(&kept->lock);
        kept->most = most > 0 ? most : kept_bytes;
    }
    return kept;
}

bool ex_kept_paths_use_folder(ex_kept_paths *kept, const char *folder, size_t most) {
    const size_t size = strlen(folder);
    if (size == 0 || size >= sizeof kept->folder)
        return false;
    memcpy(kept->folder, folder, size + 1);
    kept->folder_most = most > 0 ? most : folder_bytes;
    return true;
}

/* Takes one user away; returns the entry if it was the last. */
static exi_kept_entry *leave(exi_kept_entry *entry) {
    return entry && --entry->users == 0 ? entry : NULL;
}

static void free_entry(exi_kept_entry *entry) {
    if (entry)
        ex_trajectories_destroy(entry->found);
    free(entry);
}

void ex_kept_paths_destroy(ex_kept_paths *kept) {
    for (int i = 0; kept && i < kept->count; i++)
        free_entry(leave(kept->entries[i]));
    if (kept)
        free(kept->entries);
    free(kept);
}

/* ---- sizes ---- */

/* Bytes of the arrays that grow with the mesh, the examples and the nodes. */
static size_t size_of(const ex_trajectories *t, const exi_paths_key *key) {
    const size_t vertices = (size_t)key->vertex_count, row = 3 * sizeof(float) * vertices;
    const ex_mixture *m = &t->mixture;
    const size_t nodes = (size_t)m->node_count, examples = (size_t)t->example_count;
    size_t size = sizeof *t + examples * (sizeof *t->trajectories + sizeof *t->fits + sizeof *t->overlaps);
    for (size_t k = 0; t->trajectories && k < examples; k++) {
        const ex_trajectory *path = &t->trajectories[k];
        size += (path->turns ? row : 0) + (size_t)path->corrector_count * row;
        size += path->bases ? (size_t)t->segments.count * 6 * sizeof(float) : 0;
    }
    if (nodes > 0) {
        size += (2 * examples + 1) * nodes * 3 * sizeof(float);
        size += (size_t)m->edge_count * (2 * sizeof *m->edges + sizeof *m->edge_weights);
        size += vertices * EX_NODE_SHARES * (sizeof *m->nodes + sizeof *m->shares);
        size += (size_t)m->corrector_count * (row + (size_t)m->term_count * sizeof *m->curves);
        size += (size_t)m->term_count * sizeof *m->terms;
    }
    size += t->segments.count > 0 ? vertices * sizeof *t->segments.vertices : 0;
    return size + (t->triangle_segments ? (size_t)key->triangle_count * sizeof *t->triangle_segments : 0);
}

/* ---- keys ---- */

static uint64_t mix_options(uint64_t hash, const ex_trajectory_options *o) {
    const int whole[] = {(int)o->mode,        o->iterations,       o->corrector_count, o->without_pose,
                         o->without_rotation, o->without_gradient, o->bases,           o->root,
                         o->segments != NULL};
    const double numbers[] = {o->pose_weight, o->rotation_weight, o->gradient_weight, o->segment_angle};
    hash = exi_mix(hash, exi_bytes_hash(whole, sizeof whole));
    return exi_mix(hash, exi_bytes_hash(numbers, sizeof numbers));
}

exi_paths_key exi_paths_key_of(const ex_trajectories_def *def) {
    const size_t size = 3 * (size_t)def->vertex_count * sizeof(double), triangles = (size_t)def->triangle_count;
    uint64_t hash = mix_options(0, &def->options);
    hash = exi_mix(hash, exi_bytes_hash(def->triangles, 3 * triangles * sizeof *def->triangles));
    hash = exi_mix(hash, exi_bytes_hash(def->reference, size));
    for (int k = 0; k < def->example_count; k++)
        hash = exi_mix(hash, def->examples[k] ? exi_bytes_hash(def->examples[k], size) : 0);
    if (def->options.segments)
        hash = exi_mix(hash, exi_bytes_hash(def->options.segments, triangles * sizeof *def->options.segments));
    return (exi_paths_key){def->vertex_count, def->triangle_count, def->example_count, hash};
}

static bool is_same(const exi_paths_key *a, const exi_paths_key *b) {
    return a->vertex_count == b->vertex_count && a->triangle_count == b->triangle_count &&
           a->example_count == b->example_count && a->hash == b->hash;
}

/* ---- the list ---- */

/* Moves the entry at i to the front. */
static void bring_forward(ex_kept_paths *kept, int i) {
    exi_kept_entry *entry = kept->entries[i];
    memmove(kept->entries + 1, kept->entries, (size_t)i * sizeof *kept->entries);
    kept->entries[0] = entry;
}

/* Takes entries from the end until the rest is small enough; the first stays, however large. Returns those that nobody
 * uses any more, as a chain. */
static exi_kept_entry *make_room(ex_kept_paths *kept) {
    exi_kept_entry *left = NULL;
    while (kept->count > 1 && kept->size > kept->most) {
        exi_kept_entry *last = kept->entries[--kept->count];
        kept->size -= last->size;
        if (leave(last)) {
            last->next = left;
            left = last;
        }
    }
    return left;
}

static exi_kept_entry *find_in_list(ex_kept_paths *kept, const exi_paths_key *key) {
    exi_kept_entry *found = NULL;
    take_lock(kept);
    for (int i = 0; !found && i < kept->count; i++)
        if (is_same(&kept->entries[i]->key, key)) {
            found = kept->entries[i];
            found->users++;
            bring_forward(kept, i);
        }
    release_lock(kept);
    return found;
}

static exi_kept_entry *add_to_list(ex_kept_paths *kept, const exi_paths_key *key, ex_trajectories *found) {
    exi_kept_entry *entry = malloc(sizeof *entry), *left = NULL;
    if (!entry)
        return NULL;
    *entry = (exi_kept_entry){.key = *key, .found = found, .size = size_of(found, key), .users = 2};
    take_lock(kept);
    exi_kept_entry **entries =
        exi_array_grow(kept->entries, &kept->capacity, (size_t)kept->count + 1, sizeof(exi_kept_entry *));
    if (entries) {
        kept->entries = entries;
        entries[kept->count++] = entry;
        kept->size += entry->size;
        bring_forward(kept, kept->count - 1);
        left = make_room(kept);
    }
    release_lock(kept);
    if (!entries) {
        free(entry);
        entry = NULL;
    }
    while (left) {
        exi_kept_entry *next = left->next;
        free_entry(left);
        left = next;
    }
    return entry;
}

exi_kept_entry *exi_kept_paths_find(ex_kept_paths *kept, const exi_paths_key *key) {
    exi_kept_entry *entry = find_in_list(kept, key);
    ex_trajectories *read = !entry && kept->folder[0] ? exi_paths_file_read(kept->folder, key) : NULL;
    if (!read)
        return entry;
    entry = add_to_list(kept, key, read);
    if (!entry)
        ex_trajectories_destroy(read);
    return entry;
}

exi_kept_entry *exi_kept_paths_add(ex_kept_paths *kept, const exi_paths_key *key, ex_trajectories *found) {
    if (kept->folder[0])
        exi_paths_file_write(kept->folder, kept->folder_most, key, found);
    return add_to_list(kept, key, found);
}

ex_trajectories *exi_kept_entry_paths(const exi_kept_entry *entry) {
    return entry->found;
}

void exi_kept_paths_release(ex_kept_paths *kept, exi_kept_entry *entry) {
    take_lock(kept);
    exi_kept_entry *left = leave(entry);
    release_lock(kept);
    free_entry(left);
}
