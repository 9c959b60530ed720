/*
 * Paths kept from one build or check to the next. They depend on the mesh, the forms of the examples and the options of
 * the layer, not on its space: moving an example or changing the weigher finds the same ones again.
 *
 * Entries are compared by the number of vertices, triangles and examples and by a hash of 64 bits over all numbers. An
 * entry is freed once nobody uses it and it has left the list, which holds those used last. The lock is held for a few
 * steps only, never while paths are found.
 */
#include "author/base/array.h"
#include "author/base/rows.h"
#include "author/project/build/project_trajectories.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Entries in the list: layers of a project and some steps of undo. A mixture of a body has about 10 MB. */
enum { KEPT_MOST = 8 };

struct exi_kept_entry {
    exi_paths_key key;
    ex_trajectories *found;
    int users; /* the list is one, too */
};

struct ex_kept_paths {
    atomic_flag lock;
    exi_kept_entry *entries[KEPT_MOST]; /* the last used first; NULL: empty */
};

static void take_lock(ex_kept_paths *kept) {
    while (atomic_flag_test_and_set_explicit(&kept->lock, memory_order_acquire))
        ;
}

static void release_lock(ex_kept_paths *kept) {
    atomic_flag_clear_explicit(&kept->lock, memory_order_release);
}

ex_kept_paths *ex_kept_paths_create(void) {
    ex_kept_paths *kept = calloc(1, sizeof *kept);
    if (kept)
        atomic_flag_clear(&kept->lock);
    return kept;
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
    for (int i = 0; kept && i < KEPT_MOST; i++)
        free_entry(leave(kept->entries[i]));
    free(kept);
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

/* Moves entry i, or a new one in the place of the last, to the front. Returns the one that leaves. */
static exi_kept_entry *bring_forward(ex_kept_paths *kept, int i, exi_kept_entry *entry) {
    exi_kept_entry *leaving = kept->entries[i] == entry ? NULL : kept->entries[i];
    memmove(kept->entries + 1, kept->entries, (size_t)i * sizeof *kept->entries);
    kept->entries[0] = entry;
    return leaving;
}

exi_kept_entry *exi_kept_paths_find(ex_kept_paths *kept, const exi_paths_key *key) {
    exi_kept_entry *found = NULL;
    take_lock(kept);
    for (int i = 0; !found && i < KEPT_MOST && kept->entries[i]; i++)
        if (is_same(&kept->entries[i]->key, key)) {
            found = kept->entries[i];
            found->users++;
            bring_forward(kept, i, found);
        }
    release_lock(kept);
    return found;
}

exi_kept_entry *exi_kept_paths_add(ex_kept_paths *kept, const exi_paths_key *key, ex_trajectories *found) {
    exi_kept_entry *entry = malloc(sizeof *entry);
    if (!entry)
        return NULL;
    *entry = (exi_kept_entry){.key = *key, .found = found, .users = 2};
    take_lock(kept);
    exi_kept_entry *left = leave(bring_forward(kept, KEPT_MOST - 1, entry));
    release_lock(kept);
    free_entry(left);
    return entry;
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
