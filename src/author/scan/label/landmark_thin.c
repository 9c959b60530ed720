/*
 * Thins scans for a page: vertices in one cell of a grid become one, the one of them that is nearest to their mean, so
 * that it stays on the surface. Views of one scan overlap, and merge in the same cells.
 */
#include "author/base/array.h"
#include "author/scan/label/label_scans.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct thinning {
    const ex_mesh *const *meshes;
    int mesh_count, vertex_count, triangle_count;
    double low[3], extent;
    uint64_t *keys; /* [slot_count]: cell + 1, or 0 */
    int *slots;     /* [slot_count]: number of the cell */
    size_t slot_count;
    int *cells; /* [vertex_count] */
} thinning;

static void measure(thinning *t) {
    double high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int c = 0; c < 3; c++)
        t->low[c] = INFINITY;
    for (int m = 0; m < t->mesh_count; m++) {
        const ex_mesh *mesh = t->meshes[m];
        t->vertex_count += mesh->vertex_count;
        t->triangle_count += mesh->corner_count - 2 * mesh->face_count;
        for (int i = 0; i < 3 * mesh->vertex_count; i++) {
            t->low[i % 3] = fmin(t->low[i % 3], mesh->positions[i]);
            high[i % 3] = fmax(high[i % 3], mesh->positions[i]);
        }
    }
    for (int c = 0; c < 3; c++)
        t->extent = fmax(t->extent, high[c] - t->low[c]);
}

/* Returns the slot of a key, its own or a free one. */
static size_t find_slot(const thinning *t, uint64_t key) {
    size_t slot = (size_t)(key * 0x9e3779b97f4a7c15u >> 20) & (t->slot_count - 1);
    while (t->keys[slot] && t->keys[slot] != key)
        slot = (slot + 1) & (t->slot_count - 1);
    return slot;
}

/* Numbers the cells of all vertices; returns how many there are. */
static int divide(thinning *t, double size) {
    int count = 0, v = 0;
    memset(t->keys, 0, t->slot_count * sizeof *t->keys);
    for (int m = 0; m < t->mesh_count; m++)
        for (int i = 0; i < t->meshes[m]->vertex_count; i++, v++) {
            uint64_t key = 1;
            for (int c = 0; c < 3; c++)
                key += (uint64_t)((t->meshes[m]->positions[3 * i + c] - t->low[c]) / size) << 20 * c;
            const size_t slot = find_slot(t, key);
            if (!t->keys[slot])
                t->slots[slot] = count++;
            t->keys[slot] = key;
            t->cells[v] = t->slots[slot];
        }
    return count;
}

/* Chooses a vertex for each cell: nearest to the mean. */
static ex_result choose(const thinning *t, exi_thinned *made, ex_error *error) {
    const size_t n = (size_t)made->vertex_count;
    double(*means)[3] = exi_array_allocate(n, sizeof *means), *least = exi_array_allocate(n, sizeof *least);
    int *counts = exi_array_allocate(n, sizeof *counts), v = 0;
    const bool memory = means && least && counts;
    for (size_t i = 0; memory && i < n; i++) {
        memset(means[i], 0, sizeof means[i]);
        counts[i] = 0;
        least[i] = INFINITY;
    }
    for (int m = 0; memory && m < t->mesh_count; m++)
        for (int i = 0; i < t->meshes[m]->vertex_count; i++, v++) {
            counts[t->cells[v]]++;
            for (int c = 0; c < 3; c++)
                means[t->cells[v]][c] += t->meshes[m]->positions[3 * i + c];
        }
    v = 0;
    for (int m = 0; memory && m < t->mesh_count; m++)
        for (int i = 0; i < t->meshes[m]->vertex_count; i++, v++) {
            const int cell = t->cells[v];
            const double *at = t->meshes[m]->positions + 3 * (size_t)i;
            double off = 0;
            for (int c = 0; c < 3; c++)
                off += (at[c] - means[cell][c] / counts[cell]) * (at[c] - means[cell][c] / counts[cell]);
            if (off >= least[cell])
                continue;
            least[cell] = off;
            memcpy(made->positions[cell], at, sizeof made->positions[cell]);
            if (made->colours && t->meshes[m]->colours)
                memcpy(made->colours[cell], t->meshes[m]->colours + 3 * (size_t)i, sizeof made->colours[cell]);
        }
    free(means);
    free(least);
    free(counts);
    return memory ? EX_OK : ex_error_memory(error, "the page", n * sizeof *means);
}

static int compare_triangles(const void *a, const void *b) {
    return memcmp(a, b, 3 * sizeof(int));
}

/* Triangles that keep their three corners, each once. They begin with the smallest corner, and keep their side. */
static void map_triangles(const thinning *t, exi_thinned *made) {
    int first = 0, count = 0;
    for (int m = 0; m < t->mesh_count; m++) {
        const ex_mesh *mesh = t->meshes[m];
        for (int f = 0; f < mesh->face_count; f++)
            for (int k = mesh->face_offsets[f] + 1; k + 1 < mesh->face_offsets[f + 1]; k++) {
                const int corners[3] = {t->cells[first + mesh->corners[mesh->face_offsets[f]]],
                                        t->cells[first + mesh->corners[k]], t->cells[first + mesh->corners[k + 1]]};
                if (corners[0] == corners[1] || corners[1] == corners[2] || corners[2] == corners[0])
                    continue;
                const int start =
                    corners[0] < corners[1] ? (corners[0] < corners[2] ? 0 : 2) : (corners[1] < corners[2] ? 1 : 2);
                for (int c = 0; c < 3; c++)
                    made->triangles[count][c] = corners[(start + c) % 3];
                count++;
            }
        first += mesh->vertex_count;
    }
    qsort(made->triangles, (size_t)count, sizeof *made->triangles, compare_triangles);
    for (int i = 0; i < count; i++)
        if (i == 0 || compare_triangles(made->triangles[i], made->triangles[i - 1]) != 0)
            memmove(made->triangles[made->triangle_count++], made->triangles[i], sizeof *made->triangles);
}

void exi_thinned_free(exi_thinned *thinned) {
    free(thinned->positions);
    free(thinned->colours);
    free(thinned->triangles);
    *thinned = (exi_thinned){0};
}

ex_result exi_thin(const ex_mesh *const *meshes, int count, int most, exi_thinned *thinned, ex_error *error) {
    thinning t = {.meshes = meshes, .mesh_count = count};
    bool coloured = false;
    *thinned = (exi_thinned){0};
    measure(&t);
    for (t.slot_count = 16; t.slot_count < 2 * (size_t)t.vertex_count;)
        t.slot_count *= 2;
    for (int m = 0; m < count; m++)
        coloured = coloured || meshes[m]->colours;
    t.keys = exi_array_allocate(t.slot_count, sizeof *t.keys);
    t.slots = exi_array_allocate(t.slot_count, sizeof *t.slots);
    t.cells = exi_array_allocate((size_t)t.vertex_count, sizeof *t.cells);
    bool memory = t.keys && t.slots && t.cells;
    if (memory && t.vertex_count <= most) {
        thinned->vertex_count = t.vertex_count;
        for (int v = 0; v < t.vertex_count; v++)
            t.cells[v] = v;
    } else if (memory) {
        /* A surface has as many cells as its area has squares of their size; 4 mm of a person to begin with. */
        for (double size = t.extent / 450;; size *= 1.02 * sqrt((double)thinned->vertex_count / most)) {
            thinned->vertex_count = divide(&t, size);
            if (thinned->vertex_count <= most)
                break;
        }
    }
    const size_t n = (size_t)thinned->vertex_count;
    if (memory) {
        thinned->positions = exi_array_allocate(n, sizeof *thinned->positions);
        thinned->colours = coloured ? exi_array_allocate(n, sizeof *thinned->colours) : NULL;
        thinned->triangles = exi_array_allocate((size_t)t.triangle_count, sizeof *thinned->triangles);
        memory = thinned->positions && (!coloured || thinned->colours) && thinned->triangles;
    }
    if (memory && coloured)
        memset(thinned->colours, 0, n * sizeof *thinned->colours);
    ex_result result = memory ? choose(&t, thinned, error)
                              : ex_error_memory(error, "the page", (size_t)t.vertex_count * sizeof *t.cells);
    if (result == EX_OK)
        map_triangles(&t, thinned);
    else
        exi_thinned_free(thinned);
    free(t.keys);
    free(t.slots);
    free(t.cells);
    return result;
}
