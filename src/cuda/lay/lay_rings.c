/*
 * Rings of neighbours, from which the GPU computes normals: the sum of the area vectors of the faces around a vertex v
 * is half the sum of (a - v) x (b - v) over the edges (a, b) of those faces that do not end at v.
 *
 * A face contributes a piece of chain: its corners after v in order, up to the one before v. Pieces are joined where
 * one ends and another starts at the same vertex, so that a closed fan of k triangles has k + 1 entries, not 2 k.
 * Irregular cases (borders, edges of three faces, flipped faces) make several chains, whose sum is the same.
 *
 * Linear in the entries: a table over all vertices lists the current pieces that start there.
 */
#include "cuda/lay/lay.h"

#include "runtime/base/memory.h"
#include "runtime/base/result.h"

#include <string.h>

#define NONE UINT32_MAX

/* A corner of a face, in the list of its vertex. */
typedef struct corner {
    uint32_t begin, end; /* of the face, in `vertices` */
    uint32_t at;
} corner;

typedef struct fans {
    uint32_t *vertices; /* [corners]: vertex of each corner */
    uint32_t *starts;   /* [vertices + 1] into corners */
    corner *corners;    /* [corners], by vertex and then in the order of the faces */
    uint32_t *heads;    /* [vertices]: first of the pieces that start there, from 1; 0: none */
    /* of the current vertex, [corners]: as many as it has are in use */
    uint32_t *below; /* next piece with the same start, from 1; 0: none */
    uint32_t *next;  /* piece joined to the end of this one */
    uint8_t *states;
    void *memory;
    size_t size;
} fans;

enum { JOINED = 1, DONE = 2 };

/* ---- the corners of each vertex ---- */

static uint32_t vertex_of(const ex_rig_mesh *mesh, uint32_t split) {
    return mesh->split_source ? mesh->split_source[split] : split;
}

static ex_result allocate(const ex_rig_mesh *mesh, const ex_allocator *allocator, fans *f, ex_error *error) {
    const size_t vertices = (size_t)mesh->vertex_count, corners = (size_t)mesh->corner_count;
    exi_size total = {0};
    const size_t at[7] = {exi_size_add(&total, corners, sizeof *f->vertices, EXI_ALIGN),
                          exi_size_add(&total, vertices + 1, sizeof *f->starts, EXI_ALIGN),
                          exi_size_add(&total, corners, sizeof *f->corners, EXI_ALIGN),
                          exi_size_add(&total, vertices, sizeof *f->heads, EXI_ALIGN),
                          exi_size_add(&total, corners, sizeof *f->below, EXI_ALIGN),
                          exi_size_add(&total, corners, sizeof *f->next, EXI_ALIGN),
                          exi_size_add(&total, corners, sizeof *f->states, EXI_ALIGN)};
    if (total.overflow)
        return ex_error_set(error, EX_ERROR_LIMIT, "the faces are too many for this machine's memory");
    char *memory = exi_allocate(allocator, total.bytes);
    if (!memory)
        return ex_error_memory(error, "the rings of neighbours", total.bytes);
    *f = (fans){.vertices = (void *)(memory + at[0]),
                .starts = (void *)(memory + at[1]),
                .corners = (void *)(memory + at[2]),
                .heads = (void *)(memory + at[3]),
                .below = (void *)(memory + at[4]),
                .next = (void *)(memory + at[5]),
                .states = (void *)(memory + at[6]),
                .memory = memory,
                .size = total.bytes};
    memset(f->starts, 0, (vertices + 1) * sizeof *f->starts);
    memset(f->heads, 0, vertices * sizeof *f->heads);
    return EX_OK;
}

/* Counts become ends; filling from the back turns them into starts, with faces in order. */
static void gather(const ex_rig_mesh *mesh, fans *f) {
    for (int c = 0; c < mesh->corner_count; c++) {
        f->vertices[c] = vertex_of(mesh, mesh->corners[c]);
        f->starts[f->vertices[c]]++;
    }
    for (int v = 0; v < mesh->vertex_count; v++)
        f->starts[v + 1] += f->starts[v];
    uint32_t end = (uint32_t)mesh->corner_count;
    for (int face = mesh->face_count - 1; face >= 0; face--) {
        const uint32_t begin = end - mesh->face_sizes[face];
        for (uint32_t c = end; c-- > begin;)
            f->corners[--f->starts[f->vertices[c]]] = (corner){.begin = begin, .end = end, .at = c};
        end = begin;
    }
}

/* ---- the ring of one vertex ---- */

static uint32_t first_of(const fans *f, const corner *c) {
    return f->vertices[c->at + 1 < c->end ? c->at + 1 : c->begin];
}

static uint32_t last_of(const fans *f, const corner *c) {
    return f->vertices[c->at > c->begin ? c->at - 1 : c->end - 1];
}

/* Joins pieces: each takes the first free one of those that start where it ends. */
static void join(fans *f, const corner *corners, uint32_t count) {
    for (uint32_t i = count; i-- > 0;) {
        uint32_t *head = &f->heads[first_of(f, &corners[i])];
        f->below[i] = *head;
        *head = i + 1;
        f->states[i] = 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t *head = &f->heads[last_of(f, &corners[i])];
        f->next[i] = *head ? *head - 1 : NONE;
        if (*head) {
            f->states[*head - 1] |= JOINED;
            *head = f->below[*head - 1];
        }
    }
    for (uint32_t i = 0; i < count; i++)
        f->heads[first_of(f, &corners[i])] = 0;
}

/* Writes a chain from piece i on, to NULL while measuring; returns its length. A closed chain ends with its first
 * entry. */
static uint64_t write_chain(fans *f, const corner *corners, uint32_t i, uint32_t *ring) {
    uint64_t count = 0;
    for (uint32_t piece = i; piece != NONE && !(f->states[piece] & DONE); piece = f->next[piece]) {
        const corner *c = &corners[piece];
        const uint32_t size = c->end - c->begin;
        f->states[piece] |= DONE;
        if (!ring) {
            count += size - 1 - (count > 0);
            continue;
        }
        for (uint32_t k = count > 0 ? 2 : 1, at = c->at + k; k < size; k++, at++) {
            const uint32_t there = f->vertices[at < c->end ? at : at - size];
            ring[count] = count == 0 ? there | EXI_GPU_RING_START : there;
            count++;
        }
    }
    return count;
}

/* Open chains start with a piece that has no predecessor; the remaining ones are closed. */
static uint64_t write_ring(fans *f, uint32_t vertex, uint32_t *ring) {
    const corner *corners = f->corners + f->starts[vertex];
    const uint32_t count = f->starts[vertex + 1] - f->starts[vertex];
    uint64_t length = 0;
    join(f, corners, count);
    for (uint32_t i = 0; i < count; i++)
        if (!(f->states[i] & JOINED))
            length += write_chain(f, corners, i, ring ? ring + length : NULL);
    for (uint32_t i = 0; i < count; i++)
        if (!(f->states[i] & DONE))
            length += write_chain(f, corners, i, ring ? ring + length : NULL);
    return length;
}

ex_result exi_lay_rings(const ex_rig_mesh *mesh, exi_lay *lay, exi_gpu_level *level, ex_error *error) {
    const size_t vertices = (size_t)mesh->vertex_count;
    const void *at = NULL;
    uint64_t total = 0;
    fans f = {0};
    const ex_result result = allocate(mesh, lay->allocator, &f, error);
    if (result != EX_OK)
        return result;
    gather(mesh, &f);
    for (int v = 0; v < mesh->vertex_count; v++)
        total += write_ring(&f, (uint32_t)v, NULL);
    uint32_t *starts = exi_lay_take(lay, vertices + 1, sizeof *starts, &at);
    level->ring_starts = at;
    uint32_t *rings = total <= UINT32_MAX ? exi_lay_take(lay, (size_t)total, sizeof *rings, &at) : NULL;
    level->rings = total > 0 ? at : NULL;
    level->has_rings = 1;
    uint64_t used = 0;
    for (int v = 0; rings && v < mesh->vertex_count; v++) {
        starts[v] = (uint32_t)used;
        used += write_ring(&f, (uint32_t)v, rings + used);
        starts[v + 1] = (uint32_t)used;
    }
    exi_release(lay->allocator, f.memory, f.size);
    if (total > UINT32_MAX)
        return ex_error_set(
            error, EX_ERROR_LIMIT,
            "faces with thousands of corners have too many neighbours for the GPU: cut them into smaller ones");
    return EX_OK;
}
