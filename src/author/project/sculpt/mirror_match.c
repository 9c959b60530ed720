/*
 * Counterparts of vertices in a mirror (mirror_match.h).
 *
 * A mesh that is symmetric throughout is matched like a mesh in another order (reorder.h). On any other, vertices with
 * one single vertex near their mirror image, and the other way round, are the seeds. From the seeds, matching grows
 * over the faces: if a face has the edge a b, and both have counterparts a' and b', then the face with the edge b' a'
 * is its mirror image, and their other corners belong together. That tells touching lips apart, and goes on where the
 * positions are not symmetric. A region of such matches is kept only if it is mirrored throughout, with all its faces.
 * Vertices that are left are paired by position, then by the nearest point.
 */
#include "author/project/sculpt/mirror_match.h"

#include "author/base/array.h"
#include "author/project/sculpt/reorder.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the surface ---- */

static void add_normals(exi_standing *s) {
    for (int t = 0; t < s->triangle_count; t++) {
        const uint32_t *v = s->triangles + 3 * (size_t)t;
        double a[3], b[3], n[3];
        exi_subtract(s->positions + 3 * (size_t)v[1], s->positions + 3 * (size_t)v[0], a);
        exi_subtract(s->positions + 3 * (size_t)v[2], s->positions + 3 * (size_t)v[0], b);
        exi_cross(a, b, n);
        for (int k = 0; k < 3; k++)
            for (int c = 0; c < 3; c++)
                s->normals[3 * (size_t)v[k] + (size_t)c] += n[c];
    }
    for (int v = 0; v < s->mesh->vertex_count; v++)
        exi_normalise(s->normals + 3 * (size_t)v, 3);
}

static double box_size(const double *positions, size_t count) {
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (size_t i = 0; i < 3 * count; i++) {
        low[i % 3] = fmin(low[i % 3], positions[i]);
        high[i % 3] = fmax(high[i % 3], positions[i]);
    }
    return count > 0 ? hypot(hypot(high[0] - low[0], high[1] - low[1]), high[2] - low[2]) : 0;
}

ex_result exi_standing_open(exi_standing *s, const ex_mesh *mesh, const float *positions, ex_error *error) {
    const size_t count = 3 * (size_t)mesh->vertex_count;
    int *corners = NULL;
    *s = (exi_standing){.mesh = mesh,
                        .positions = exi_array_allocate(count, sizeof *s->positions),
                        .normals = calloc(count + 1, sizeof *s->normals)};
    if (!s->positions || !s->normals)
        return ex_error_memory(error, "mirroring", count * sizeof *s->positions);
    for (size_t i = 0; i < count; i++)
        s->positions[i] = (double)positions[i];
    s->size = box_size(s->positions, count / 3);
    ex_result result = ex_mesh_triangulate(mesh, &corners, &s->triangle_count, error);
    if (result != EX_OK)
        return result;
    const size_t total = 3 * (size_t)s->triangle_count;
    s->triangles = exi_array_allocate(total, sizeof *s->triangles);
    for (size_t i = 0; s->triangles && i < total; i++)
        s->triangles[i] = (uint32_t)mesh->corners[corners[i]];
    free(corners);
    if (!s->triangles)
        return ex_error_memory(error, "mirroring", total * sizeof *s->triangles);
    add_normals(s);
    const ex_tree_def def = {.vertex_count = mesh->vertex_count,
                             .positions = positions,
                             .triangle_count = s->triangle_count,
                             .triangles = s->triangles};
    result = ex_tree_create(&def, NULL, &s->tree, error);
    if (result == EX_OK) {
        s->memory = exi_array_allocate(ex_bounds_size(s->tree), 1);
        s->surface = s->memory ? ex_bounds_fit(s->tree, positions, 0, s->memory, NULL) : NULL;
        result = s->surface ? EX_OK : ex_error_memory(error, "mirroring", ex_bounds_size(s->tree));
    }
    return result;
}

void exi_standing_close(exi_standing *s) {
    free(s->positions);
    free(s->normals);
    free(s->triangles);
    ex_tree_destroy(s->tree);
    free(s->memory);
    *s = (exi_standing){0};
}

static double distance(const double *a, const double *b) {
    return hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]);
}

static bool looks_along(const exi_standing *s, int triangle, const double normal[3]) {
    const uint32_t *v = s->triangles + 3 * (size_t)triangle;
    double a[3], b[3], n[3];
    exi_subtract(s->positions + 3 * (size_t)v[1], s->positions + 3 * (size_t)v[0], a);
    exi_subtract(s->positions + 3 * (size_t)v[2], s->positions + 3 * (size_t)v[0], b);
    exi_cross(a, b, n);
    return exi_dot3(n, normal) >= 0;
}

/* If the nearest triangle is the far side of something thin, a point a little above the near side finds that side. */
double exi_standing_nearest(const exi_standing *s, const double p[3], const double normal[3], ex_closest *closest) {
    float at[3];
    for (int c = 0; c < 3; c++)
        at[c] = (float)p[c];
    if (!ex_bounds_closest(s->surface, at, INFINITY, closest))
        return INFINITY;
    if (!looks_along(s, closest->triangle, normal)) {
        ex_closest above;
        for (int c = 0; c < 3; c++)
            at[c] = (float)(p[c] + 0.005 * s->size * normal[c]);
        if (ex_bounds_closest(s->surface, at, INFINITY, &above) && looks_along(s, above.triangle, normal))
            *closest = above;
    }
    const double found[3] = {(double)closest->point[0], (double)closest->point[1], (double)closest->point[2]};
    return distance(found, p);
}

/* ---- the state of matching ---- */

/* An edge of a face as it runs, for finding it by its vertices. */
typedef struct edge {
    int a, b;
    int corner; /* of a, in the mesh */
} edge;

typedef struct matching {
    const exi_standing *s;
    const ex_mesh *mesh;
    double *images; /* [vertex_count][3] */
    double room, reach;
    double seed_room; /* largest distance of a seed */
    int *map;         /* [vertex_count] or -1 */
    int *order;       /* vertices by a coordinate */
    double *keys;     /* [vertex_count] that coordinate, in that order */
    int along;        /* that coordinate */
    edge *edges;      /* [corner_count], sorted */
    int *faces;       /* [corner_count]: face of each corner */
    int *valences;    /* [vertex_count]: number of faces */
    int *queue;       /* [face_count] faces to look at; a ring */
    bool *queued;     /* [face_count] */
    int *face_lists;  /* [corner_count] faces of each vertex, from face_starts[v] */
    int *face_starts;
    int head, waiting;
} matching;

static bool open_matching(matching *m, const exi_standing *s, const exi_plane *plane) {
    const size_t vertices = (size_t)s->mesh->vertex_count, corners = (size_t)s->mesh->corner_count,
                 faces = (size_t)s->mesh->face_count;
    m->s = s;
    m->mesh = s->mesh;
    m->images = exi_array_allocate(3 * vertices, sizeof *m->images);
    m->map = exi_array_allocate(vertices, sizeof *m->map);
    m->order = exi_array_allocate(vertices, sizeof *m->order);
    m->keys = exi_array_allocate(vertices, sizeof *m->keys);
    m->edges = exi_array_allocate(corners, sizeof *m->edges);
    m->faces = exi_array_allocate(corners, sizeof *m->faces);
    m->valences = calloc(vertices + 1, sizeof *m->valences);
    m->queue = exi_array_allocate(faces, sizeof *m->queue);
    m->queued = calloc(faces + 1, sizeof *m->queued);
    m->face_lists = exi_array_allocate(corners, sizeof *m->face_lists);
    m->face_starts = calloc(vertices + 2, sizeof *m->face_starts);
    if (!m->images || !m->map || !m->order || !m->keys || !m->edges || !m->faces || !m->valences || !m->queue ||
        !m->queued || !m->face_lists || !m->face_starts)
        return false;
    for (size_t v = 0; v < vertices; v++) {
        exi_plane_point(plane, s->positions + 3 * v, m->images + 3 * v);
        m->map[v] = -1;
    }
    return true;
}

static void close_matching(matching *m) {
    free(m->images);
    free(m->map);
    free(m->order);
    free(m->keys);
    free(m->edges);
    free(m->faces);
    free(m->valences);
    free(m->queue);
    free(m->queued);
    free(m->face_lists);
    free(m->face_starts);
}

static double off(const matching *m, int v, int w) {
    return distance(m->images + 3 * (size_t)v, m->s->positions + 3 * (size_t)w);
}

/* ---- by position ---- */

typedef struct keyed {
    double key;
    int vertex;
} keyed;

static int compare_keyed(const void *a, const void *b) {
    const keyed *x = a, *y = b;
    return x->key != y->key ? (x->key < y->key ? -1 : 1) : (x->vertex > y->vertex) - (x->vertex < y->vertex);
}

/* Sorts the vertices along the longest side of the box. */
static bool sort_vertices(matching *m) {
    const size_t count = (size_t)m->mesh->vertex_count;
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    keyed *list = exi_array_allocate(count, sizeof *list);
    for (size_t i = 0; i < 3 * count; i++) {
        low[i % 3] = fmin(low[i % 3], m->s->positions[i]);
        high[i % 3] = fmax(high[i % 3], m->s->positions[i]);
    }
    for (int c = 1; c < 3; c++)
        m->along = high[c] - low[c] > high[m->along] - low[m->along] ? c : m->along;
    for (size_t v = 0; list && v < count; v++)
        list[v] = (keyed){m->s->positions[3 * v + (size_t)m->along], (int)v};
    if (list)
        qsort(list, count, sizeof *list, compare_keyed);
    for (size_t i = 0; list && i < count; i++) {
        m->order[i] = list[i].vertex;
        m->keys[i] = list[i].key;
    }
    free(list);
    return list != NULL;
}

static int first_above(const matching *m, double key) {
    int low = 0, high = m->mesh->vertex_count;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (m->keys[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns the vertex without a counterpart that is nearest to the image of v within the room: v itself before others,
 * else the first of the nearest; -1: none. *near is the number of vertices there, with a counterpart or not. */
static int find_near(const matching *m, int v, double room, int *near) {
    const double key = m->images[3 * (size_t)v + (size_t)m->along];
    int best = -1;
    double least = room;
    *near = 0;
    for (int i = first_above(m, key - room); i < m->mesh->vertex_count && m->keys[i] <= key + room; i++) {
        const int w = m->order[i];
        const double d = off(m, v, w);
        *near += d <= room;
        const bool better = d < least || (d == least && (best < 0 || w == v || (best != v && w < best)));
        if (m->map[w] < 0 && d <= room && better) {
            best = w;
            least = d;
        }
    }
    return best;
}

/* Pairs vertices by position. unique: only those that are alone at their place, on both sides. Returns the number of
 * vertices that were paired. */
static int pair_by_position(matching *m, double room, bool unique) {
    int count = 0;
    for (int v = 0; v < m->mesh->vertex_count; v++) {
        int near, back;
        const int w = m->map[v] < 0 ? find_near(m, v, room, &near) : -1;
        if (w < 0 || (unique && (near > 1 || find_near(m, w, room, &back) != v || back > 1)))
            continue;
        m->map[v] = w;
        m->map[w] = v;
        count += v == w ? 1 : 2;
    }
    return count;
}

/* Finds seeds: farther away if the mesh is hardly symmetric anywhere. */
static void find_seeds(matching *m) {
    const int enough = m->mesh->vertex_count / 20;
    double room = m->room;
    for (int count = pair_by_position(m, room, true); count < enough && 3 * room <= m->seed_room; room *= 3)
        count += pair_by_position(m, 3 * room, true);
}

/* ---- by topology ---- */

static int compare_edges(const void *a, const void *b) {
    const edge *x = a, *y = b;
    return x->a != y->a ? (x->a > y->a) - (x->a < y->a) : (x->b > y->b) - (x->b < y->b);
}

static void list_edges(matching *m) {
    const ex_mesh *mesh = m->mesh;
    for (int f = 0; f < mesh->face_count; f++) {
        const int begin = mesh->face_offsets[f], end = mesh->face_offsets[f + 1];
        for (int c = begin; c < end; c++) {
            m->edges[c] = (edge){mesh->corners[c], mesh->corners[c + 1 < end ? c + 1 : begin], c};
            m->faces[c] = f;
            m->valences[mesh->corners[c]]++;
        }
    }
    qsort(m->edges, (size_t)mesh->corner_count, sizeof *m->edges, compare_edges);
    for (int v = 0; v < mesh->vertex_count; v++)
        m->face_starts[v + 1] = m->face_starts[v] + m->valences[v];
    for (int f = 0; f < mesh->face_count; f++)
        for (int c = mesh->face_offsets[f]; c < mesh->face_offsets[f + 1]; c++)
            m->face_lists[m->face_starts[mesh->corners[c]]++] = f;
    for (int v = mesh->vertex_count; v > 0; v--)
        m->face_starts[v] = m->face_starts[v - 1];
    m->face_starts[0] = 0;
}

/* Returns the corner at which the edge a b begins; -1: no face has it; -2: several have. */
static int find_edge(const matching *m, int a, int b) {
    const edge wanted = {a, b, 0};
    const edge *found = bsearch(&wanted, m->edges, (size_t)m->mesh->corner_count, sizeof wanted, compare_edges);
    if (!found)
        return -1;
    const bool before = found > m->edges && compare_edges(found - 1, &wanted) == 0;
    const bool after = found + 1 < m->edges + m->mesh->corner_count && compare_edges(found + 1, &wanted) == 0;
    return before || after ? -2 : found->corner;
}

static void push_face(matching *m, int face) {
    if (m->queued[face])
        return;
    m->queued[face] = true;
    m->queue[(m->head + m->waiting++) % m->mesh->face_count] = face;
}

static void push_faces_of(matching *m, int v) {
    for (int i = m->face_starts[v]; i < m->face_starts[v + 1]; i++)
        push_face(m, m->face_lists[i]);
}

static int step(int corner, int by, int begin, int end) {
    const int count = end - begin;
    return begin + ((corner - begin + by) % count + count) % count;
}

/* Pairs the other corners of the face with those of its mirror image, which the edge at `corner` finds. */
static void follow_face(matching *m, int face, int corner) {
    const ex_mesh *mesh = m->mesh;
    const int begin = mesh->face_offsets[face], end = mesh->face_offsets[face + 1];
    const int a = mesh->corners[corner], b = mesh->corners[step(corner, 1, begin, end)];
    if (m->map[a] < 0 || m->map[b] < 0 || find_edge(m, a, b) < 0)
        return;
    const int there = find_edge(m, m->map[b], m->map[a]);
    const int other = there >= 0 ? m->faces[there] : -1;
    if (other < 0 || mesh->face_offsets[other + 1] - mesh->face_offsets[other] != end - begin)
        return;
    for (int k = 2; k < end - begin; k++) {
        const int v = mesh->corners[step(corner, k, begin, end)];
        const int w = mesh->corners[step(there, 1 - k, mesh->face_offsets[other], mesh->face_offsets[other + 1])];
        if (m->map[v] == w)
            continue;
        if (m->map[v] >= 0 || m->map[w] >= 0 || m->valences[v] != m->valences[w] || off(m, v, w) > m->reach)
            return;
        m->map[v] = w;
        m->map[w] = v;
        push_faces_of(m, v);
        push_faces_of(m, w);
    }
}

/* Grows from the matched vertices over the faces. */
static void grow(matching *m) {
    for (int f = 0; f < m->mesh->face_count; f++)
        push_face(m, f);
    while (m->waiting > 0) {
        const int face = m->queue[m->head];
        m->head = (m->head + 1) % m->mesh->face_count;
        m->waiting--;
        m->queued[face] = false;
        for (int c = m->mesh->face_offsets[face]; c < m->mesh->face_offsets[face + 1]; c++)
            follow_face(m, face, c);
    }
}

static bool is_far(const matching *m, int v) {
    return off(m, v, m->map[v]) > m->room;
}

/* True if a face at v has a corner without a counterpart, or an edge without a mirror image. */
static bool is_torn(const matching *m, int v) {
    const ex_mesh *mesh = m->mesh;
    bool torn = false;
    for (int i = m->face_starts[v]; !torn && i < m->face_starts[v + 1]; i++) {
        const int begin = mesh->face_offsets[m->face_lists[i]], end = mesh->face_offsets[m->face_lists[i] + 1];
        for (int c = begin; !torn && c < end; c++) {
            const int a = m->map[mesh->corners[c]], b = m->map[mesh->corners[step(c, 1, begin, end)]];
            torn = a < 0 || b < 0 || find_edge(m, b, a) == -1;
        }
    }
    return torn;
}

/* Adds a far vertex to the region, with its counterpart. */
static void add_to_region(const matching *m, bool *seen, int *region, int *count, int v) {
    if (m->map[v] < 0 || seen[v] || !is_far(m, v))
        return;
    for (int k = 0; k < 2; k++, v = m->map[v])
        if (!seen[v]) {
            seen[v] = true;
            region[(*count)++] = v;
        }
}

/* Drops regions of pairs by topology alone that are not mirrored throughout. Over a regular grid, pairs can go astray
 * for long before they meet a contradiction. False without memory. */
static bool drop_torn(matching *m) {
    const ex_mesh *mesh = m->mesh;
    bool *seen = calloc((size_t)mesh->vertex_count + 1, sizeof *seen);
    int *region = exi_array_allocate((size_t)mesh->vertex_count, sizeof *region);
    const bool open = seen && region;
    for (int start = 0; open && start < mesh->vertex_count; start++) {
        int count = 0;
        bool torn = false;
        add_to_region(m, seen, region, &count, start);
        for (int i = 0; i < count; i++) {
            const int v = region[i];
            torn = torn || is_torn(m, v);
            for (int f = m->face_starts[v]; f < m->face_starts[v + 1]; f++)
                for (int c = mesh->face_offsets[m->face_lists[f]]; c < mesh->face_offsets[m->face_lists[f] + 1]; c++)
                    add_to_region(m, seen, region, &count, mesh->corners[c]);
        }
        for (int i = 0; torn && i < count; i++)
            m->map[region[i]] = -1;
    }
    free(seen);
    free(region);
    return open;
}

/* ---- the whole ---- */

/* Matches a mesh that is symmetric throughout. */
static bool match_whole(matching *m, bool *failed) {
    ex_mesh *here = ex_mesh_copy(m->mesh), *image = ex_mesh_copy(m->mesh);
    const size_t count = (size_t)m->mesh->vertex_count;
    bool sound = false;
    *failed = !here || !image;
    if (!*failed) {
        memcpy(here->positions, m->s->positions, 3 * count * sizeof *here->positions);
        memcpy(image->positions, m->images, 3 * count * sizeof *image->positions);
        for (int f = 0; f < image->face_count; f++)
            for (int a = image->face_offsets[f], b = image->face_offsets[f + 1] - 1; a < b; a++, b--) {
                const int corner = image->corners[a];
                image->corners[a] = image->corners[b];
                image->corners[b] = corner;
            }
        sound = exi_find_order_by_position(here, image, m->room, m->map, failed);
        for (size_t v = 0; sound && v < count; v++)
            sound = m->map[m->map[v]] == (int)v && off(m, (int)v, m->map[v]) <= m->room;
    }
    ex_mesh_destroy(here);
    ex_mesh_destroy(image);
    for (size_t v = 0; !sound && v < count; v++)
        m->map[v] = -1;
    return sound;
}

static exi_counterpart find_counterpart(const matching *m, const exi_plane *plane, int v) {
    exi_counterpart found = {.vertices = {m->map[v], -1, -1}, .shares = {1, 0, 0}};
    if (m->map[v] >= 0) {
        found.distance = off(m, v, m->map[v]);
        found.match = found.distance <= m->room ? EX_MATCH_SYMMETRIC : EX_MATCH_TOPOLOGY;
        return found;
    }
    double normal[3];
    ex_closest closest;
    exi_plane_direction(plane, m->s->normals + 3 * (size_t)v, normal);
    found.match = EX_MATCH_NEAREST;
    found.distance = exi_standing_nearest(m->s, m->images + 3 * (size_t)v, normal, &closest);
    if (closest.triangle < 0)
        return found;
    const uint32_t *corners = m->s->triangles + 3 * (size_t)closest.triangle;
    const double u = (double)closest.u, w = (double)closest.v;
    found.shares[0] = 1 - u - w;
    found.shares[1] = u;
    found.shares[2] = w;
    for (int k = 0; k < 3; k++)
        found.vertices[k] = (int)corners[k];
    return found;
}

ex_result exi_mirror_match(const exi_standing *s, const exi_plane *plane, double room, double reach,
                           exi_counterpart **counterparts, ex_error *error) {
    const size_t count = (size_t)s->mesh->vertex_count;
    matching m = {.room = room, .reach = reach, .seed_room = fmin(reach, 0.005 * s->size)};
    bool failed = false;
    exi_counterpart *found = exi_array_allocate(count, sizeof *found);
    const bool open = open_matching(&m, s, plane) && found && sort_vertices(&m);
    if (open && !match_whole(&m, &failed) && !failed) {
        find_seeds(&m);
        list_edges(&m);
        grow(&m);
        failed = !drop_torn(&m);
        pair_by_position(&m, room, false);
    }
    for (size_t v = 0; open && v < count; v++)
        found[v] = find_counterpart(&m, plane, (int)v);
    close_matching(&m);
    if (!open || failed) {
        free(found);
        return ex_error_memory(error, "mirroring", count * sizeof *found);
    }
    *counterparts = found;
    return EX_OK;
}
