/*
 * Counterparts of names, by the words for left and right in them; and of vertices, by their positions at rest.
 *
 * If a mesh is symmetric, mirroring its positions and reversing its faces gives the mesh again, with its vertices in
 * another order. So counterparts are found like the order of a sculpt (reorder.h), which tells vertices at one place
 * apart by their faces: an upper lip stays an upper lip. If faces are not symmetric (the diagonals of triangles all run
 * one way), positions alone decide, and vertices at one place are paired in their order.
 */
#include "author/base/array.h"
#include "author/project/sculpt/mirror_pose.h"
#include "author/project/sculpt/reorder.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- names ---- */

static const char *const pairs[][2] = {{"left", "right"}, {"Left", "Right"}, {"LEFT", "RIGHT"}, {"l", "r"}, {"L", "R"}};

static bool is_letter(char c) {
    return isalpha((unsigned char)c) || (unsigned char)c >= 0x80;
}

/* True if the word at `at` is a separate word: "leftover", "bright" and "Copyright" are neither left nor right. A
 * capital before or after it begins another word, but not next to a single letter. */
static bool stands_alone(const char *name, const char *at, size_t length) {
    const char before = at > name ? at[-1] : ' ', after = at[length];
    if (length == 1)
        return !isalnum((unsigned char)before) && !isalnum((unsigned char)after) && (unsigned char)before < 0x80 &&
               (unsigned char)after < 0x80;
    if (isupper((unsigned char)at[1]))
        return !is_letter(before) && !is_letter(after);
    if (isupper((unsigned char)at[0]))
        return !islower((unsigned char)after) && (unsigned char)after < 0x80;
    return !is_letter(before) && !islower((unsigned char)after) && (unsigned char)after < 0x80;
}

/* Returns the word for a side that begins at `at`, or NULL; *other is the one for the other side. */
static const char *side_at(const char *name, const char *at, const char **other) {
    for (size_t p = 0; p < sizeof pairs / sizeof *pairs; p++)
        for (int side = 0; side < 2; side++) {
            const size_t length = strlen(pairs[p][side]);
            *other = pairs[p][!side];
            if (strncmp(at, pairs[p][side], length) == 0 && stands_alone(name, at, length))
                return pairs[p][side];
        }
    return NULL;
}

char *ex_mirror_name(const char *name) {
    char *mirrored = exi_array_allocate(2 * strlen(name) + 1, 1), *to = mirrored;
    const char *at = name, *other;
    while (mirrored && *at) {
        const char *side = side_at(name, at, &other);
        if (side) {
            memcpy(to, other, strlen(other));
            to += strlen(other);
            at += strlen(side);
        } else {
            *to++ = *at++;
        }
    }
    if (mirrored)
        *to = 0;
    return mirrored;
}

ex_side exi_side_of_name(const char *name) {
    bool sides[2] = {false, false};
    const char *other;
    for (const char *at = name; *at;) {
        const char *side = side_at(name, at, &other);
        if (side)
            sides[tolower((unsigned char)side[0]) == 'r'] = true;
        at += side ? strlen(side) : 1;
    }
    return sides[0] == sides[1] ? EX_SIDE_NONE : sides[0] ? EX_SIDE_LEFT : EX_SIDE_RIGHT;
}

/* ---- vertices ---- */

static void mirror_positions(const ex_mesh *mesh, int plane, double offset, double *out) {
    memcpy(out, mesh->positions, 3 * (size_t)mesh->vertex_count * sizeof *out);
    for (size_t i = (size_t)plane; i < 3 * (size_t)mesh->vertex_count; i += 3)
        out[i] = 2 * offset - out[i];
}

/* Reverses all faces. */
static void turn_faces(ex_mesh *mesh) {
    for (int f = 0; f < mesh->face_count; f++)
        for (int a = mesh->face_offsets[f], b = mesh->face_offsets[f + 1] - 1; a < b; a++, b--) {
            const int corner = mesh->corners[a];
            mesh->corners[a] = mesh->corners[b];
            mesh->corners[b] = corner;
        }
}

static double distance(const double *a, const double *b) {
    return hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]);
}

/* True if the map takes every vertex to one near its mirror image, and back. */
static bool is_sound(const ex_mesh *mesh, const double *images, double room, const int *map) {
    for (int v = 0; v < mesh->vertex_count; v++)
        if (map[map[v]] != v || !(distance(mesh->positions + 3 * (size_t)map[v], images + 3 * (size_t)v) <= room))
            return false;
    return true;
}

/* Positions sorted along an axis other than the mirrored one, to find those near a point. */
typedef struct sorted {
    double key;
    int vertex;
} sorted;

static int compare_sorted(const void *a, const void *b) {
    const sorted *x = a, *y = b;
    return x->key != y->key ? (x->key < y->key ? -1 : 1) : (x->vertex > y->vertex) - (x->vertex < y->vertex);
}

static int first_above(const sorted *list, int count, double key) {
    int low = 0, high = count;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (list[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns the nearest vertex to the point that is not taken: the vertex itself before others, else the first of the
 * nearest; -1: none. */
static int find_nearest(const ex_mesh *mesh, const sorted *list, const double *point, int axis, double room,
                        const int *map, int self) {
    int best = -1;
    double least = room;
    for (int i = first_above(list, mesh->vertex_count, point[axis] - room);
         i < mesh->vertex_count && list[i].key <= point[axis] + room; i++) {
        const int v = list[i].vertex;
        const double d = distance(mesh->positions + 3 * (size_t)v, point);
        const bool better = d < least || (d == least && (best < 0 || v == self || (best != self && v < best)));
        if (map[v] < 0 && d <= room && better) {
            best = v;
            least = d;
        }
    }
    return best;
}

/* Returns the longer of the two other axes of the mesh: along the shorter one, a flat mesh has all its vertices at one
 * place. */
static int longer_axis(const ex_mesh *mesh, int plane) {
    double sides[3];
    for (int c = 0; c < 3; c++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t i = (size_t)c; i < 3 * (size_t)mesh->vertex_count; i += 3) {
            low = mesh->positions[i] < low ? mesh->positions[i] : low;
            high = mesh->positions[i] > high ? mesh->positions[i] : high;
        }
        sides[c] = high - low;
    }
    const int a = (plane + 1) % 3, b = (plane + 2) % 3;
    return sides[a] >= sides[b] ? a : b;
}

/* Pairs by positions alone. Returns the number of vertices without a counterpart; *first is the first of them. */
static int pair_by_position(const ex_mesh *mesh, const double *images, int plane, double room, sorted *list, int *map,
                            int *first) {
    const int axis = longer_axis(mesh, plane);
    int alone = 0;
    for (int v = 0; v < mesh->vertex_count; v++) {
        list[v] = (sorted){mesh->positions[3 * (size_t)v + (size_t)axis], v};
        map[v] = -1;
    }
    qsort(list, (size_t)mesh->vertex_count, sizeof *list, compare_sorted);
    for (int v = 0; v < mesh->vertex_count; v++) {
        const int other = map[v] >= 0 ? map[v] : find_nearest(mesh, list, images + 3 * (size_t)v, axis, room, map, v);
        if (other >= 0) {
            map[v] = other;
            map[other] = v;
        } else {
            *first = alone++ == 0 ? v : *first;
        }
    }
    return alone;
}

static ex_result refuse(const ex_mesh *mesh, int plane, double offset, double room, int alone, int first,
                        ex_error *error) {
    const double *p = mesh->positions + 3 * (size_t)first;
    return ex_error_set(
        error, EX_ERROR_DATA,
        "the mesh is not symmetric about %c=%g: %d of %d vertices have no counterpart within %g, the first "
        "being vertex %d at %g %g %g",
        "xyz"[plane], offset, alone, mesh -> vertex_count, room, first, p[0], p[1], p[2]);
}

ex_result ex_mesh_mirror_map(const ex_mesh *mesh, int plane, double offset, double tolerance, int **map,
                             ex_error *error) {
    const size_t count = (size_t)mesh->vertex_count;
    const double room = (tolerance > 0 ? tolerance : 1e-4) * ex_mesh_size(mesh);
    *map = NULL;
    if (plane < 0 || plane > 2 || !isfinite(offset))
        return exi_misuse_error(error, "ex_mesh_mirror_map", "the plane must be 0, 1 or 2, at a finite position");
    ex_mesh *image = ex_mesh_copy(mesh);
    sorted *list = exi_array_allocate(count, sizeof *list);
    int *found = exi_array_allocate(count, sizeof *found), alone = 0, first = 0;
    bool failed = !image || !list || !found;
    if (!failed) {
        mirror_positions(mesh, plane, offset, image->positions);
        turn_faces(image);
        if (!exi_find_order_by_position(mesh, image, room, found, &failed) ||
            !is_sound(mesh, image->positions, 4 * room, found))
            alone = pair_by_position(mesh, image->positions, plane, room, list, found, &first);
    }
    ex_result result = failed ? ex_error_memory(error, "mirroring", count * (sizeof *list + sizeof *found)) : EX_OK;
    if (result == EX_OK && alone > 0)
        result = refuse(mesh, plane, offset, room, alone, first, error);
    if (result == EX_OK) {
        *map = found;
        found = NULL;
    }
    ex_mesh_destroy(image);
    free(list);
    free(found);
    return result;
}
