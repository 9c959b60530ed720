/*
 * Computes the colour of the skin, and each vertex's distance from it: the broad Laplacian filter of Allen, Curless and
 * Popovic (2002, section 2.3) on a mesh. It makes markers stand out and removes shadows, hair and the tan of the skin.
 *
 * In OKLab, where equal distances look equally different, the skin's colour at a point is the geometric median of the
 * colours around it, weighted by area and distance. Unlike a mean it ignores the marker itself and others next to it.
 * To keep the time linear whatever the sampling, the median is computed over cells: pieces of the surface that are
 * connected within a cube of two thirds of a marker. Cells know their neighbours along the surface, so that an arm does
 * not see the trunk next to it. A vertex gets the medians of the cells around it, blended by distance.
 */
#include "author/base/array.h"
#include "author/scan/find/find.h"

#include <exemplar/author/colour.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Maximum number of neighbours that count: a cell has six or eight, unless the mesh is tangled; the limit keeps time
 * linear. */
enum { CELLS_SEEN = 192, NEIGHBOURS_SEEN = 48, ROUNDS = 8 };

typedef struct cell {
    double place[3], colour[3], area; /* sums, then means */
    double skin[3];
} cell;

typedef struct cells {
    int count;
    cell *items;
    int *of;              /* [vertex_count] the vertex's cell, or -1 */
    int *starts, *others; /* neighbours */
    int *stamps, *queue;  /* [count] */
} cells;

static void free_cells(cells *c) {
    free(c->items);
    free(c->of);
    free(c->starts);
    free(c->others);
    free(c->stamps);
    free(c->queue);
}

/* ---- cells ---- */

static int root_of(int *parents, int v) {
    while (parents[v] != v) {
        parents[v] = parents[parents[v]];
        v = parents[v];
    }
    return v;
}

static bool same_cube(const exi_finder *f, int a, int b, double side) {
    const double *p = exi_find_position(f, a), *q = exi_find_position(f, b);
    for (int k = 0; k < 3; k++)
        if (floor(p[k] / side) != floor(q[k] / side))
            return false;
    return true;
}

/* Joins vertices within cubes; then numbers cells in the order of their first vertices. */
static bool make_cells(const exi_finder *f, cells *c, double side) {
    const int n = f->vertex_count;
    int *parents = exi_array_allocate((size_t)n, sizeof *parents);
    c->of = exi_array_allocate((size_t)n, sizeof *c->of);
    if (!parents || !c->of) {
        free(parents);
        return false;
    }
    for (int v = 0; v < n; v++)
        parents[v] = v;
    for (int v = 0; v < n; v++)
        for (int e = f->starts[v]; e < f->starts[v + 1]; e++) {
            const int u = f->others[e];
            if (u < v && same_cube(f, u, v, side)) {
                const int a = root_of(parents, u), b = root_of(parents, v);
                parents[a < b ? b : a] = a < b ? a : b;
            }
        }
    for (int v = 0; v < n; v++) {
        const int root = root_of(parents, v); /* never after v */
        c->of[v] = f->states[v] == EXI_FIND_LONE ? -1 : root == v ? c->count++ : c->of[root];
    }
    free(parents);
    c->items = calloc((size_t)c->count + 1, sizeof *c->items);
    c->stamps = calloc((size_t)c->count + 1, sizeof *c->stamps);
    c->queue = exi_array_allocate((size_t)c->count, sizeof *c->queue);
    return c->items && c->stamps && c->queue;
}

static void measure_cells(const exi_finder *f, cells *c) {
    for (int v = 0; v < f->vertex_count; v++) {
        if (c->of[v] < 0)
            continue;
        cell *item = &c->items[c->of[v]];
        const double area = (double)f->areas[v] + 1e-12; /* so that vertices of faces without area count too */
        const double *p = exi_find_position(f, v);
        for (int k = 0; k < 3; k++) {
            item->place[k] += area * p[k];
            item->colour[k] += area * (double)f->colours[v][k];
        }
        item->area += area;
    }
    for (int i = 0; i < c->count; i++)
        for (int k = 0; k < 3; k++) {
            c->items[i].place[k] /= c->items[i].area;
            c->items[i].colour[k] /= c->items[i].area;
        }
}

/* Lists the neighbours of all vertices of a cell, each once. Vertices are grouped by cell first. */
static bool link_cells(const exi_finder *f, cells *c) {
    const int n = f->vertex_count;
    int *first = calloc((size_t)c->count + 2, sizeof *first), *members = exi_array_allocate((size_t)n, sizeof *members);
    size_t capacity = 0;
    int used = 0;
    c->starts = exi_array_allocate((size_t)c->count + 1, sizeof *c->starts);
    bool good = first && members && c->starts;
    for (int v = 0; good && v < n; v++)
        if (c->of[v] >= 0)
            first[c->of[v] + 2]++;
    for (int i = 0; good && i < c->count; i++)
        first[i + 2] += first[i + 1];
    for (int v = 0; good && v < n; v++)
        if (c->of[v] >= 0)
            members[first[c->of[v] + 1]++] = v;
    for (int i = 0; good && i < c->count; i++) {
        c->starts[i] = used;
        c->stamps[i] = i + 1;
        for (int m = first[i]; good && m < first[i + 1]; m++) {
            const int v = members[m];
            for (int e = f->starts[v]; good && e < f->starts[v + 1]; e++) {
                const int other = c->of[f->others[e]];
                if (c->stamps[other] == i + 1 || used - c->starts[i] == NEIGHBOURS_SEEN)
                    continue;
                c->stamps[other] = i + 1;
                int *grown = exi_array_grow(c->others, &capacity, (size_t)used + 1, sizeof *grown);
                good = grown != NULL;
                c->others = grown ? grown : c->others;
                if (good)
                    c->others[used++] = other;
            }
        }
    }
    if (good) {
        c->starts[c->count] = used;
        memset(c->stamps, 0, (size_t)c->count * sizeof *c->stamps);
    }
    free(first);
    free(members);
    return good;
}

/* ---- the skin ---- */

static double distance_sq(const double a[3], const double b[3]) {
    return (a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]);
}

/* Computes the geometric median of the colours around a cell (E. Weiszfeld's iteration), within `reach` along the
 * surface. */
static void find_median(cells *c, int centre, double reach) {
    double weights[CELLS_SEEN], median[3] = {0};
    cell *item = &c->items[centre];
    int count = 0;
    c->stamps[centre] = centre + 1;
    c->queue[count++] = centre;
    for (int i = 0; i < count; i++) {
        const int at = c->queue[i];
        const double d = distance_sq(item->place, c->items[at].place) / (reach * reach);
        weights[i] = c->items[at].area * exp(-2 * d);
        for (int e = c->starts[at]; e < c->starts[at + 1] && count < CELLS_SEEN; e++) {
            const int other = c->others[e];
            if (c->stamps[other] == centre + 1 || distance_sq(item->place, c->items[other].place) > reach * reach)
                continue;
            c->stamps[other] = centre + 1;
            c->queue[count++] = other;
        }
    }
    for (int round = 0; round < ROUNDS; round++) {
        double sum[3] = {0}, total = 0;
        for (int i = 0; i < count; i++) {
            const double *colour = c->items[c->queue[i]].colour;
            const double apart = round == 0 ? 1 : sqrt(distance_sq(median, colour)) + 0.01;
            const double weight = weights[i] / apart;
            for (int k = 0; k < 3; k++)
                sum[k] += weight * colour[k];
            total += weight;
        }
        for (int k = 0; k < 3; k++)
            median[k] = sum[k] / total;
    }
    memcpy(item->skin, median, sizeof median);
}

static void take_skin(exi_finder *f, const cells *c, double side) {
    for (int v = 0; v < f->vertex_count; v++) {
        double sum[3] = {0}, total = 0, length_sq = 0;
        if (c->of[v] < 0)
            continue;
        const int own = c->of[v];
        for (int e = c->starts[own] - 1; e < c->starts[own + 1]; e++) {
            const cell *item = &c->items[e < c->starts[own] ? own : c->others[e]];
            const double weight = exp(-distance_sq(exi_find_position(f, v), item->place) / (side * side)) + 1e-9;
            for (int k = 0; k < 3; k++)
                sum[k] += weight * item->skin[k];
            total += weight;
        }
        for (int k = 0; k < 3; k++) {
            const double residual = (double)f->colours[v][k] - sum[k] / total;
            f->residuals[v][k] = (float)residual;
            length_sq += residual * residual;
        }
        f->strengths[v] = (float)sqrt(length_sq);
    }
}

static void take_colours(exi_finder *f) {
    for (int v = 0; v < f->vertex_count; v++) {
        unsigned char codes[3];
        double lab[3];
        if (f->states[v] == EXI_FIND_LONE)
            continue;
        for (int k = 0; k < 3; k++) {
            const float colour = f->mesh->colours[3 * (size_t)v + (size_t)k];
            codes[k] = (unsigned char)(colour < 0 ? 0 : colour > 1 ? 255 : 255 * colour + 0.5f);
        }
        ex_colour_to_oklab((ex_colour){codes[0], codes[1], codes[2], 1}, lab);
        for (int k = 0; k < 3; k++)
            f->colours[v][k] = (float)lab[k];
    }
}

ex_result exi_find_skin(exi_finder *f, ex_error *error) {
    const size_t n = (size_t)f->vertex_count;
    const double side = f->options.size * 2 / 3, reach = 2.5 * f->options.size;
    cells c = {0};
    f->colours = calloc(n + 1, sizeof *f->colours);
    f->residuals = calloc(n + 1, sizeof *f->residuals);
    f->strengths = calloc(n + 1, sizeof *f->strengths);
    bool good = f->colours && f->residuals && f->strengths;
    if (good) {
        take_colours(f);
        good = make_cells(f, &c, side);
    }
    if (good) {
        measure_cells(f, &c);
        good = link_cells(f, &c);
    }
    for (int i = 0; good && i < c.count; i++)
        find_median(&c, i, reach);
    if (good)
        take_skin(f, &c, side);
    free_cells(&c);
    return good ? EX_OK : ex_error_memory(error, "a scan's colours", n * sizeof *f->colours);
}
