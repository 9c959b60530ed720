/*
 * Turns hits that cannot be right back into holes.
 *
 * Patches: vertices are connected if the slope of the displaced surface over the template is at most one and a half. A
 * patch of a few vertices that is connected to nothing is a piece of another surface, or a shred at the edge of a view.
 *
 * Folds (figure 4(b)): where the template's inward bend is sharper than its distance from the surface allows, rays
 * cross, and faces of the displaced surface are turned over. Seen along the template's normal, a folded face has hardly
 * any area or a negative one. Noise does not cause folds, since it moves vertices along the normals. After the corners
 * of a fold have been filled from around, others may still lie on the wrong side of each other, so filling, checking
 * and clearing are repeated a few times.
 */
#include "author/scan/map/map.h"

#include "author/base/array.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEEPEST 1.5
/* Least remaining fraction of a face's area, seen along the template's normal, and of an edge's length along the
 * edge. */
#define LEAST_AREA 0.05
/* A patch with fewer vertices than PATCH_LEAST, and with less than one in PATCH_PART of all hits, is removed. */
enum { PATCH_LEAST = 50, PATCH_PART = 200 };
enum { UNFOLDINGS = 5 };

/* ---- patches ---- */

static int find_root(int *parents, int v) {
    while (parents[v] != v) {
        parents[v] = parents[parents[v]];
        v = parents[v];
    }
    return v;
}

static bool hangs_together(const exi_map_surface *surface, const ex_displacement_map *map, double noise, int a, int b) {
    double sum = 0;
    for (size_t c = 0; c < 3; c++) {
        const double step =
            (double)surface->positions[3 * (size_t)a + c] - (double)surface->positions[3 * (size_t)b + c];
        sum += step * step;
    }
    const double rise = fabs((double)map->displacements[a] - (double)map->displacements[b]);
    return rise <= STEEPEST * sqrt(sum) + noise;
}

static ex_result reject_patches(const exi_map_net *net, const exi_map_surface *surface, double noise,
                                ex_displacement_map *map, ex_error *error) {
    const size_t count = (size_t)net->vertex_count;
    int *parents = exi_array_allocate(count, sizeof *parents), *sizes = calloc(count + 1, sizeof *sizes);
    int hits = 0;
    for (int v = 0; parents && v < net->vertex_count; v++)
        parents[v] = v;
    for (int v = 0; parents && sizes && v < net->vertex_count; v++) {
        if (map->states[v] != EX_DISPLACEMENT_MAP_HIT)
            continue;
        hits++;
        for (int i = net->ring_starts[v]; i < net->ring_starts[v + 1]; i++) {
            const int other = net->ring[i];
            if (other < v && map->states[other] == EX_DISPLACEMENT_MAP_HIT &&
                hangs_together(surface, map, noise, v, other))
                parents[find_root(parents, v)] = find_root(parents, other);
        }
    }
    for (int v = 0; parents && sizes && v < net->vertex_count; v++)
        sizes[find_root(parents, v)]++;
    const int least = hits / PATCH_PART < PATCH_LEAST ? hits / PATCH_PART : PATCH_LEAST;
    for (int v = 0; parents && sizes && v < net->vertex_count; v++)
        if (map->states[v] == EX_DISPLACEMENT_MAP_HIT && sizes[find_root(parents, v)] < least) {
            map->states[v] = EX_DISPLACEMENT_MAP_FILLED;
            map->displacements[v] = 0;
        }
    const bool good = parents && sizes;
    free(parents);
    free(sizes);
    return good ? EX_OK : ex_error_memory(error, "patches of the scan", count * 8);
}

/* ---- folds ---- */

static void read_position(const exi_map_surface *surface, int vertex, double out[3]) {
    for (int c = 0; c < 3; c++)
        out[c] = (double)surface->positions[3 * (size_t)vertex + (size_t)c];
}

/* Computes the cross product of the edges at a corner of three points. */
static void corner_area(double p[3][3], double out[3]) {
    double a[3], b[3];
    exi_subtract(p[1], p[0], a);
    exi_subtract(p[2], p[0], b);
    exi_cross(a, b, out);
}

/*
 * True if a corner of a face is turned over, or an edge runs backwards. Only the latter shows behind the centre of a
 * bowl, where a face is turned half round and faces the same way. Considers known vertices only.
 */
static bool is_folded(const exi_map_net *net, const exi_map_surface *surface, const ex_displacement_map *map,
                      const bool *known, int face) {
    for (int c = net->face_starts[face]; c < net->face_starts[face + 1]; c++) {
        const int corner[3] = {net->corners[c], exi_map_net_beside(net, c, 1), exi_map_net_beside(net, c, -1)};
        double before[3][3], after[3][3], p[3], q[3];
        if (!known[corner[0]] || !known[corner[1]])
            continue;
        for (int k = 0; k < 3; k++) {
            read_position(surface, corner[k], before[k]);
            exi_map_displace(surface, map, corner[k], after[k]);
        }
        exi_subtract(before[1], before[0], p);
        exi_subtract(after[1], after[0], q);
        if (exi_dot3(p, p) > 0 && exi_dot3(p, q) < LEAST_AREA * exi_dot3(p, p))
            return true;
        corner_area(before, p);
        corner_area(after, q);
        if (known[corner[2]] && exi_dot3(p, p) > 0 && exi_dot3(p, q) < LEAST_AREA * exi_dot3(p, p))
            return true;
    }
    return false;
}

/* Work arrays for finding folds: vertices to consider, and those of holes that contain folds. */
typedef struct unfolding {
    bool *known;  /* [vertex_count] */
    bool *queued; /* [vertex_count] */
    int *queue;   /* [vertex_count] */
} unfolding;

/* Clears a hit; returns true if it was one. */
static bool clear(ex_displacement_map *map, int v) {
    const bool hit = map->states[v] == EX_DISPLACEMENT_MAP_HIT;
    if (hit) {
        map->states[v] = EX_DISPLACEMENT_MAP_FILLED;
        map->displacements[v] = 0;
    }
    return hit;
}

/*
 * Clears the hits of folded faces: of `map` where `seen`, the same map or one in which folds were filled, is folded. A
 * fold inside a filled hole is caused by the values around it, so all hits around it are cleared. Returns the number
 * cleared.
 */
static int clear_folds(const exi_map_net *net, const exi_map_surface *surface, const ex_displacement_map *seen,
                       ex_displacement_map *map, unfolding *u) {
    int cleared = 0, count = 0;
    for (int v = 0; v < net->vertex_count; v++) {
        u->known[v] =
            seen == map ? seen->states[v] == EX_DISPLACEMENT_MAP_HIT : seen->states[v] != EX_DISPLACEMENT_MAP_OUTSIDE;
        u->queued[v] = false;
    }
    for (int f = 0; f < net->face_count; f++)
        if (is_folded(net, surface, seen, u->known, f))
            for (int c = net->face_starts[f]; c < net->face_starts[f + 1]; c++) {
                const int v = net->corners[c];
                if (u->known[v] && !u->queued[v])
                    u->queue[count++] = v;
                u->queued[v] = true;
            }
    for (int at = 0; at < count; at++) {
        const int v = u->queue[at];
        cleared += clear(map, v);
        for (int i = net->ring_starts[v]; seen != map && i < net->ring_starts[v + 1]; i++) {
            const int other = net->ring[i];
            if (u->queued[other] || !u->known[other])
                continue;
            u->queued[other] = true;
            if (map->states[other] == EX_DISPLACEMENT_MAP_HIT)
                cleared += clear(map, other);
            else
                u->queue[count++] = other;
        }
    }
    return cleared;
}

/* Makes a copy in which cleared hits are to be filled and other holes do not exist. */
static void copy_folds(const ex_displacement_map *map, const bool *holes, ex_displacement_map *copy) {
    memcpy(copy->displacements, map->displacements, (size_t)map->vertex_count * sizeof *map->displacements);
    for (int v = 0; v < map->vertex_count; v++)
        copy->states[v] = holes[v] ? EX_DISPLACEMENT_MAP_OUTSIDE : map->states[v];
}

static ex_result reject_folds(const exi_map_net *net, const exi_map_surface *surface, ex_displacement_map *map,
                              ex_error *error) {
    const size_t count = (size_t)net->vertex_count;
    ex_displacement_map *copy = ex_displacement_map_create(net->vertex_count);
    bool *holes = exi_array_allocate(count, sizeof *holes);
    unfolding u = {.known = exi_array_allocate(count, sizeof *u.known),
                   .queued = exi_array_allocate(count, sizeof *u.queued),
                   .queue = exi_array_allocate(count, sizeof *u.queue)};
    ex_result result =
        copy && holes && u.known && u.queued && u.queue ? EX_OK : ex_error_memory(error, "folds", count * 12);
    if (result == EX_OK) {
        for (size_t v = 0; v < count; v++)
            holes[v] = map->states[v] != EX_DISPLACEMENT_MAP_HIT;
        int cleared = clear_folds(net, surface, map, map, &u);
        for (int i = 0; i < UNFOLDINGS && cleared > 0 && result == EX_OK; i++) {
            copy_folds(map, holes, copy);
            result = exi_map_smooth(copy, net, surface->positions, NULL, NULL, error);
            if (result == EX_OK)
                cleared = clear_folds(net, surface, copy, map, &u);
        }
    }
    ex_displacement_map_destroy(copy);
    free(u.known);
    free(u.queued);
    free(u.queue);
    free(holes);
    return result;
}

ex_result exi_map_reject(const exi_map_net *net, const exi_map_surface *surface, double noise, ex_displacement_map *map,
                         ex_error *error) {
    ex_result result = reject_patches(net, surface, noise, map, error);
    if (result == EX_OK)
        result = reject_folds(net, surface, map, error);
    return result == EX_OK ? reject_patches(net, surface, noise, map, error) : result; /* folds cut some off */
}
