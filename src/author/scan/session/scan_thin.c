/*
 * Thins meshes by clustering vertices in a grid (Rossignac and Borrel 1993): all vertices of a mesh in one cell that
 * face one of six ways become one, at their mean. So the two sides of an ear or a finger stay apart. The cell grows
 * until few enough are left.
 */
#include "author/base/array.h"
#include "author/mesh/mesh_check.h"
#include "author/scan/session/session.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* All vertices of a mesh in a cell that face one way. */
typedef struct cell {
    int64_t key[3];
    int mesh, way; /* way -1: empty */
    int number;    /* of the new vertex in its mesh */
    int count;
    double at[3], normal[3];
    float colour[3];
} cell;

typedef struct thinning {
    ex_mesh *const *meshes;
    int mesh_count;
    double (**normals)[3]; /* [mesh_count]: of vertices; NULL for points without normals */
    double low[3], size;
    size_t capacity, count; /* capacity: a power of 2 */
    cell *cells;
} thinning;

/* ---- the grid ---- */

static size_t place_of(const thinning *t, const int64_t key[3], int mesh, int way) {
    const uint64_t mixed = (uint64_t)key[0] * 73856093U ^ (uint64_t)key[1] * 19349663U ^ (uint64_t)key[2] * 83492791U ^
                           (uint64_t)(8 * mesh + way) * 2654435761U;
    size_t at = (size_t)((mixed ^ mixed >> 23) * 0x9E3779B97F4A7C15U >> 20) & (t->capacity - 1);
    while (t->cells[at].way >= 0 && (t->cells[at].way != way || t->cells[at].mesh != mesh ||
                                     memcmp(t->cells[at].key, key, 3 * sizeof *key) != 0))
        at = (at + 1) & (t->capacity - 1);
    return at;
}

static bool grow(thinning *t, size_t capacity) {
    cell *old = t->cells, *made = exi_array_allocate(capacity, sizeof *made);
    const size_t before = t->capacity;
    if (!made)
        return false;
    for (size_t i = 0; i < capacity; i++)
        made[i].way = -1;
    t->cells = made;
    t->capacity = capacity;
    for (size_t i = 0; old && i < before; i++)
        if (old[i].way >= 0)
            made[place_of(t, old[i].key, old[i].mesh, old[i].way)] = old[i];
    free(old);
    return true;
}

static bool is_finite(const double *p) {
    return isfinite(p[0]) && isfinite(p[1]) && isfinite(p[2]);
}

/* The cell of a vertex, made if it is new; NULL without memory, or if the vertex is not finite (*bad). */
static cell *find_cell(thinning *t, int mesh, size_t vertex, bool *bad) {
    const double *p = t->meshes[mesh]->positions + 3 * vertex;
    const double *normal = t->normals[mesh] ? t->normals[mesh][vertex] : NULL;
    int64_t key[3];
    int way = 0;
    *bad = !is_finite(p);
    if (*bad)
        return NULL;
    for (int k = 0; k < 3; k++) {
        key[k] = (int64_t)floor((p[k] - t->low[k]) / t->size);
        way = normal && fabs(normal[k]) > fabs(normal[way]) ? k : way;
    }
    way += normal && normal[way] < 0 ? 3 : 0;
    if (2 * t->count >= t->capacity && !grow(t, 2 * t->capacity))
        return NULL;
    cell *c = &t->cells[place_of(t, key, mesh, way)];
    if (c->way < 0) {
        *c = (cell){.mesh = mesh, .way = way, .number = -1};
        memcpy(c->key, key, sizeof key);
        t->count++;
    }
    return c;
}

/* ---- sizes ---- */

/* Normals of vertices, from faces; of points, their own. */
static bool find_normals(thinning *t, int mesh, double *area) {
    const ex_mesh *m = t->meshes[mesh];
    const bool cloud = m->face_count == 0;
    if (cloud && (m->normal_count != m->vertex_count || !m->normals))
        return true;
    double(*normals)[3] = t->normals[mesh] = calloc((size_t)m->vertex_count + 1, sizeof *normals);
    if (!normals)
        return false;
    if (cloud)
        memcpy(normals, m->normals, (size_t)m->vertex_count * sizeof *normals);
    for (int f = 0; f < m->face_count; f++) {
        const int *c = m->corners + m->face_offsets[f];
        for (int k = 2; k < m->face_offsets[f + 1] - m->face_offsets[f]; k++) {
            const double *p = m->positions + 3 * (size_t)c[0];
            double a[3], b[3], n[3];
            exi_subtract(m->positions + 3 * (size_t)c[k - 1], p, a);
            exi_subtract(m->positions + 3 * (size_t)c[k], p, b);
            exi_cross(a, b, n);
            if (!is_finite(n))
                continue;
            *area += sqrt(exi_dot3(n, n)) / 2;
            for (int i = 0; i < 3; i++) {
                normals[c[0]][i] += n[i];
                normals[c[k - 1]][i] += n[i];
                normals[c[k]][i] += n[i];
            }
        }
    }
    return true;
}

/* Counts cells of the present size, and stops at `most`. Returns how many there would be, about; 0 without memory. */
static double count_cells(thinning *t, int most, double total) {
    double done = 0;
    free(t->cells);
    t->cells = NULL;
    t->capacity = t->count = 0;
    if (!grow(t, 1 << 14))
        return 0;
    for (int m = 0; m < t->mesh_count; m++)
        for (size_t v = 0; v < (size_t)t->meshes[m]->vertex_count; v++) {
            bool bad;
            if (!find_cell(t, m, v, &bad) && !bad)
                return 0;
            done++;
            if (t->count > (size_t)most)
                return fmax((double)t->count * total / done, (double)most + 1);
        }
    return fmax((double)t->count, 1);
}

/* ---- the thinned mesh ---- */

/* Numbers the cells of a mesh in the order of its vertices, and sums. numbers [vertex_count]: -1 if not finite. */
static int fill_cells(thinning *t, int mesh, int *numbers) {
    const ex_mesh *m = t->meshes[mesh];
    int count = 0;
    for (size_t v = 0; v < (size_t)m->vertex_count; v++) {
        bool bad;
        cell *c = find_cell(t, mesh, v, &bad);
        numbers[v] = -1;
        if (!c)
            continue;
        c->number = c->number < 0 ? count++ : c->number;
        numbers[v] = c->number;
        c->count++;
        for (int k = 0; k < 3; k++) {
            c->at[k] += m->positions[3 * v + (size_t)k];
            c->normal[k] += t->normals[mesh] ? t->normals[mesh][v][k] : 0;
            c->colour[k] += m->colours ? m->colours[3 * v + (size_t)k] : 0;
        }
    }
    return count;
}

/* Writes a face with the new vertices; false if nothing is left of it. */
static bool keep_face(const int *from, int count, const int *numbers, int *to, int *kept) {
    *kept = 0;
    for (int i = 0; i < count; i++) {
        const int number = numbers[from[i]];
        if (number < 0)
            return false;
        if (*kept == 0 || to[*kept - 1] != number)
            to[(*kept)++] = number;
    }
    while (*kept > 1 && to[*kept - 1] == to[0])
        (*kept)--;
    for (int i = 0; i < *kept; i++)
        for (int j = 0; j < i; j++)
            if (to[i] == to[j])
                return false;
    return *kept > 2;
}

static bool thin_mesh(thinning *t, int mesh) {
    ex_mesh *m = t->meshes[mesh], *made = ex_mesh_create();
    int *numbers = exi_array_allocate((size_t)m->vertex_count, sizeof *numbers);
    const int count = numbers ? fill_cells(t, mesh, numbers) : 0;
    const bool cloud = m->face_count == 0, faces = !cloud, normals = cloud && t->normals[mesh];
    bool good = made && numbers;
    if (good) {
        made->vertex_count = count;
        made->positions = exi_array_allocate(3 * (size_t)count, sizeof *made->positions);
        made->colours = m->colours ? exi_array_allocate(3 * (size_t)count, sizeof *made->colours) : NULL;
        made->normals = normals ? exi_array_allocate(3 * (size_t)count, sizeof *made->normals) : NULL;
        made->normal_count = normals ? count : 0;
        made->corners = exi_array_allocate((size_t)m->corner_count, sizeof *made->corners);
        made->face_offsets = faces ? exi_array_allocate((size_t)m->face_count + 1, sizeof *made->face_offsets) : NULL;
        good = made->positions && made->corners && (!m->colours || made->colours) && (!normals || made->normals) &&
               (!faces || made->face_offsets);
    }
    for (size_t i = 0; good && i < t->capacity; i++) {
        const cell *c = &t->cells[i];
        const size_t to = 3 * (size_t)c->number;
        if (c->way < 0 || c->mesh != mesh)
            continue;
        for (size_t k = 0; k < 3; k++) {
            made->positions[to + k] = c->at[k] / c->count;
            if (made->colours)
                made->colours[to + k] = c->colour[k] / (float)c->count;
            if (made->normals)
                made->normals[to + k] = c->normal[k];
        }
        if (made->normals)
            (void)exi_unit3(made->normals + to);
    }
    if (good && faces)
        made->face_offsets[0] = 0;
    for (int f = 0; good && f < m->face_count; f++) {
        int kept;
        if (!keep_face(m->corners + m->face_offsets[f], m->face_offsets[f + 1] - m->face_offsets[f], numbers,
                       made->corners + made->corner_count, &kept))
            continue;
        made->corner_count += kept;
        made->face_offsets[++made->face_count] = made->corner_count;
    }
    free(numbers);
    if (good) {
        const ex_mesh held = *m;
        *m = *made;
        *made = held;
    }
    ex_mesh_destroy(made);
    return good;
}

/* ---- entry point ---- */

static void find_low(thinning *t, double high[3]) {
    for (int k = 0; k < 3; k++) {
        t->low[k] = INFINITY;
        high[k] = -INFINITY;
    }
    for (int m = 0; m < t->mesh_count; m++)
        for (size_t v = 0; v < (size_t)t->meshes[m]->vertex_count; v++) {
            const double *p = t->meshes[m]->positions + 3 * v;
            for (int k = 0; k < 3 && is_finite(p); k++) {
                t->low[k] = fmin(t->low[k], p[k]);
                high[k] = fmax(high[k], p[k]);
            }
        }
}

ex_result ex_scan_thin(ex_mesh *const *meshes, int count, int most, double *spacing, ex_error *error) {
    if (!meshes || count < 0 || most < 1)
        return exi_misuse_error(error, __func__, "no meshes, or no vertices to keep");
    thinning t = {.meshes = meshes, .mesh_count = count};
    double total = 0, area = 0, high[3];
    ex_result result = EX_OK;
    if (spacing)
        *spacing = 0;
    for (int m = 0; m < count && result == EX_OK; m++) {
        total += meshes[m]->vertex_count;
        result = meshes[m]->face_count > 0 ? exi_mesh_check_faces(meshes[m], error) : EX_OK;
    }
    if (result != EX_OK || total <= most)
        return result;
    t.normals = calloc((size_t)count, sizeof *t.normals);
    bool good = t.normals != NULL;
    for (int m = 0; m < count && good; m++)
        good = find_normals(&t, m, &area);
    find_low(&t, high);
    const double size = fmax(fmax(high[0] - t.low[0], high[1] - t.low[1]), high[2] - t.low[2]);
    /* Without faces, a person's surface is about as large as the square of their height. */
    t.size = fmax(sqrt((area > 0 ? area : size * size) / most), 1e-9 * size);
    for (double cells = (double)most + 1; good && size > 0 && cells > most;) {
        cells = count_cells(&t, most, total);
        good = cells > 0;
        if (cells > most)
            t.size *= 1.02 * sqrt(cells / most);
    }
    for (int m = 0; m < count && good; m++)
        good = thin_mesh(&t, m);
    for (int m = 0; t.normals && m < count; m++)
        free(t.normals[m]);
    free(t.normals);
    free(t.cells);
    if (spacing)
        *spacing = t.size;
    return good ? EX_OK : ex_error_memory(error, "a thinner scan", (size_t)most * sizeof(cell));
}
