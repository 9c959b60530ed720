/*
 * Thins a scan to points with normals: the area-weighted mean of everything in a cell of a grid that faces roughly the
 * same way. So views may overlap, a scan may have millions of triangles or a few large ones, and noise averages out. A
 * mesh's normals come from its triangles: averaged at vertices, then over each triangle, since at a noise of 1 mm and
 * samples every 3 mm single triangles are off by 25 degrees.
 */
#include "author/scan/register/register.h"

#include "author/base/array.h"
#include "author/mesh/mesh_check.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A large triangle is cut into at most PIECES^2. */
enum { PIECES = 256, PROBES = 64, SIXTH = 6 };

/* Everything in a cell that faces one of six ways. */
typedef struct cell {
    int64_t key[3];
    int way; /* 0 to 5; -1: the cell is empty */
    double at[3], normal[3], weight;
} cell;

typedef struct grid {
    double size;
    const double *low, *high; /* box */
    size_t capacity;          /* a power of 2 */
    size_t count;
    cell *cells;
    double area, left_out;
} grid;

/* ---- the grid ---- */

static size_t place_of(const grid *g, const int64_t key[3], int way) {
    const uint64_t mixed = (uint64_t)key[0] * 73856093U ^ (uint64_t)key[1] * 19349663U ^ (uint64_t)key[2] * 83492791U ^
                           (uint64_t)way * 2654435761U;
    size_t at = (size_t)((mixed ^ mixed >> 23) * 0x9E3779B97F4A7C15U >> 20) & (g->capacity - 1);
    while (g->cells[at].way >= 0 && (g->cells[at].way != way || memcmp(g->cells[at].key, key, 3 * sizeof *key) != 0))
        at = (at + 1) & (g->capacity - 1);
    return at;
}

static bool grow(grid *g, size_t capacity) {
    cell *old = g->cells;
    const size_t before = g->capacity;
    cell *made = exi_array_allocate(capacity, sizeof *made);
    if (!made)
        return false;
    for (size_t i = 0; i < capacity; i++)
        made[i].way = -1;
    g->cells = made;
    g->capacity = capacity;
    for (size_t i = 0; i < before; i++)
        if (old[i].way >= 0)
            made[place_of(g, old[i].key, old[i].way)] = old[i];
    free(old);
    return true;
}

/* Adds a point; false without memory. weight: its area. */
static bool add(grid *g, const double at[3], const double normal[3], double weight) {
    int64_t key[3];
    int way = 0;
    g->area += weight;
    for (int k = 0; k < 3; k++) {
        if (!(at[k] >= g->low[k] && at[k] <= g->high[k])) {
            g->left_out += weight;
            return true;
        }
        key[k] = (int64_t)floor((at[k] - g->low[k]) / g->size);
        way = fabs(normal[k]) > fabs(normal[way]) ? k : way;
    }
    if (2 * g->count >= g->capacity && !grow(g, 2 * g->capacity))
        return false;
    way += normal[way] < 0 ? 3 : 0;
    cell *c = &g->cells[place_of(g, key, way)];
    if (c->way < 0) {
        *c = (cell){.way = way};
        memcpy(c->key, key, sizeof key);
        g->count++;
    }
    for (int k = 0; k < 3; k++) {
        c->at[k] += weight * at[k];
        c->normal[k] += weight * normal[k];
    }
    c->weight += weight;
    return true;
}

/* ---- meshes ---- */

static void corner_at(const ex_mesh *mesh, int vertex, double out[3]) {
    memcpy(out, mesh->positions + 3 * (size_t)vertex, 3 * sizeof *out);
}

/* Twice the area of corners a, b, c as a vector. */
static void area_vector(double p[3][3], double out[3]) {
    double a[3], b[3];
    exi_subtract(p[1], p[0], a);
    exi_subtract(p[2], p[0], b);
    exi_cross(a, b, out);
}

/* Adds a triangle, cut into pieces no longer than a cell. normals: of its corners. */
static bool add_triangle(grid *g, double p[3][3], double normals[3][3]) {
    double vector[3], normal[3], longest = 0;
    area_vector(p, vector);
    const double area = sqrt(exi_dot3(vector, vector)) / 2;
    for (int k = 0; k < 3; k++) {
        double d[3];
        exi_subtract(p[(k + 1) % 3], p[k], d);
        longest = fmax(longest, exi_dot3(d, d));
        normal[k] = normals[0][k] + normals[1][k] + normals[2][k];
    }
    if (!(area > 0) || !exi_unit3(normal))
        return true;
    const double wanted = ceil(sqrt(longest) / g->size);
    const int pieces = wanted > PIECES ? PIECES : wanted > 1 ? (int)wanted : 1;
    for (int i = 0; i < pieces; i++)
        for (int j = 0; j < 2 * (pieces - i) - 1; j++) {
            /* In row i, even j are upright pieces, odd ones upside down. */
            const double u = (i + (j % 2 ? 2 : 1) / 3.0) / pieces, v = (j / 2 + (j % 2 ? 2 : 1) / 3.0) / pieces;
            double at[3];
            for (int k = 0; k < 3; k++)
                at[k] = (1 - u - v) * p[0][k] + u * p[1][k] + v * p[2][k];
            if (!add(g, at, normal, area / pieces / pieces))
                return false;
        }
    return true;
}

static bool add_mesh(grid *g, const ex_mesh *mesh) {
    double(*normals)[3] = calloc((size_t)mesh->vertex_count + 1, sizeof *normals);
    bool good = normals != NULL;
    for (int pass = 0; pass < 2 && good; pass++) {
        for (int f = 0; f < mesh->face_count && good; f++) {
            const int *c = mesh->corners + mesh->face_offsets[f];
            for (int k = 2; k < mesh->face_offsets[f + 1] - mesh->face_offsets[f] && good; k++) {
                const int corners[3] = {c[0], c[k - 1], c[k]};
                double p[3][3], n[3][3];
                for (int i = 0; i < 3; i++) {
                    corner_at(mesh, corners[i], p[i]);
                    memcpy(n[i], normals[corners[i]], sizeof n[i]);
                }
                if (pass == 1) {
                    good = add_triangle(g, p, n);
                    continue;
                }
                area_vector(p, n[0]);
                for (int i = 0; i < 9; i++)
                    normals[corners[i / 3]][i % 3] += n[0][i % 3];
            }
        }
        for (int v = 0; v < mesh->vertex_count && pass == 0; v++)
            (void)exi_unit3(normals[v]);
    }
    free(normals);
    return good;
}

static bool add_points(grid *g, const ex_mesh *mesh) {
    for (int v = 0; v < mesh->vertex_count; v++) {
        double at[3], normal[3];
        corner_at(mesh, v, at);
        memcpy(normal, mesh->normals + 3 * (size_t)v, sizeof normal);
        if (exi_unit3(normal) && !add(g, at, normal, g->size * g->size))
            return false;
    }
    return true;
}

/* ---- the result ---- */

void exi_reg_scan_free(exi_reg_scan *scan) {
    free(scan->points);
    free(scan->areas);
    free(scan->rims);
    *scan = (exi_reg_scan){0};
}

static int order_cells(const void *a, const void *b) {
    const cell *x = a, *y = b;
    for (int k = 0; k < 3; k++)
        if (x->key[k] != y->key[k])
            return x->key[k] < y->key[k] ? -1 : 1;
    return x->way - y->way;
}

/* Turns the cells to points, in an order that does not depend on that of the scans. cloud: areas are those of cells. */
static bool finish(grid *g, bool cloud, exi_reg_scan *scan) {
    size_t kept = 0;
    for (size_t i = 0; i < g->capacity; i++)
        if (g->cells[i].way >= 0)
            g->cells[kept++] = g->cells[i];
    qsort(g->cells, kept, sizeof *g->cells, order_cells);
    scan->points = exi_array_allocate(kept, sizeof *scan->points);
    scan->areas = exi_array_allocate(kept, sizeof *scan->areas);
    scan->rims = exi_array_allocate(kept, 1);
    if (!scan->points || !scan->areas || !scan->rims)
        return false;
    memset(scan->rims, -1, kept);
    for (size_t i = 0; i < kept; i++) {
        cell *c = &g->cells[i];
        if (!exi_unit3(c->normal))
            continue;
        for (int k = 0; k < 3; k++) {
            scan->points[scan->count].at[k] = (float)(c->at[k] / c->weight);
            scan->points[scan->count].normal[k] = (float)c->normal[k];
        }
        scan->areas[scan->count++] = (float)(cloud ? g->size * g->size : c->weight);
    }
    scan->area = g->area;
    scan->left_out = g->left_out;
    return true;
}

static int order_floats(const void *a, const void *b) {
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Finds the median, over some points, of the distance to the sixth nearest. */
static void measure_spacing(exi_reg_scan *scan) {
    float found[PROBES];
    int probes = 0;
    for (int p = 0; p < PROBES && scan->count > SIXTH; p++) {
        const exi_reg_point *own = &scan->points[(int64_t)p * scan->count / PROBES];
        float near[SIXTH + 1];
        for (int k = 0; k <= SIXTH; k++)
            near[k] = INFINITY;
        for (int i = 0; i < scan->count; i++) {
            const exi_reg_point *other = &scan->points[i];
            float sq = 0, facing = 0;
            for (int k = 0; k < 3; k++) {
                sq += (own->at[k] - other->at[k]) * (own->at[k] - other->at[k]);
                facing += own->normal[k] * other->normal[k];
            }
            if (!(sq < near[SIXTH]) || !(facing > 0))
                continue;
            int at = SIXTH;
            for (; at > 0 && near[at - 1] > sq; at--)
                near[at] = near[at - 1];
            near[at] = sq;
        }
        if (isfinite(near[SIXTH]))
            found[probes++] = near[SIXTH];
    }
    qsort(found, (size_t)probes, sizeof *found, order_floats);
    scan->spacing = probes > 0 ? sqrt((double)found[probes / 2]) : 0;
}

static ex_result check(const ex_mesh *mesh, int number, int count, ex_error *error) {
    ex_result result = EX_OK;
    if (mesh->vertex_count < 1)
        result = ex_error_set(error, EX_ERROR_DATA, "the scan is empty");
    for (size_t i = 0; i < 3 * (size_t)mesh->vertex_count && result == EX_OK; i++)
        if (!isfinite(mesh->positions[i]) || fabs(mesh->positions[i]) > 1e12)
            result = ex_error_set(error, EX_ERROR_DATA,
                                  "vertex %zu of the scan is not finite: clean the scan, or export it again", i / 3);
    if (result == EX_OK && mesh->face_count == 0 && (mesh->normal_count != mesh->vertex_count || !mesh->normals))
        result = ex_error_set(error, EX_ERROR_DATA,
                              "the scan has points without faces or normals: mesh it, or export it with a normal at "
                              "every point");
    if (result == EX_OK && mesh->face_count > 0)
        result = exi_mesh_check_faces(mesh, error);
    if (result != EX_OK && count > 1)
        ex_error_within(error, result, "view %d", number + 1);
    return result;
}

ex_result exi_reg_scan_make(const ex_mesh *const *scans, int scan_count, double cell_size, int most,
                            const double low[3], const double high[3], exi_reg_scan *scan, ex_error *error) {
    ex_result result = EX_OK;
    bool cloud = true, small = false;
    *scan = (exi_reg_scan){0};
    for (int i = 0; i < scan_count && result == EX_OK; i++) {
        result = check(scans[i], i, scan_count, error);
        cloud = cloud && result == EX_OK && scans[i]->face_count == 0;
    }
    while (result == EX_OK && !small) {
        grid g = {.size = cell_size, .low = low, .high = high};
        bool good = grow(&g, 1 << 14);
        for (int i = 0; i < scan_count && good; i++)
            good = scans[i]->face_count > 0 ? add_mesh(&g, scans[i]) : add_points(&g, scans[i]);
        small = good && g.count <= (size_t)most;
        if (small)
            good = finish(&g, cloud, scan);
        cell_size *= good ? 1.1 * sqrt((double)g.count / most) : 1;
        free(g.cells);
        if (!good)
            result = ex_error_memory(error, "the points of the scan", g.count * 2 * sizeof *g.cells);
    }
    if (result == EX_OK)
        measure_spacing(scan);
    else
        exi_reg_scan_free(scan);
    return result;
}
