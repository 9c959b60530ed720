/*
 * The template's rest form: areas of vertices, and a Laplacian of its edges with cotangent weights,
 *
 *   w_ij = (cot a + cot b) / 2,  a and b the angles opposite to the edge,  at least LEAST,
 *
 * times the mean stiffness of both ends. Parts that share no edge with the largest one (eyes, teeth, clothes) are
 * linked to it at a few vertices, so that they follow. If the start is larger or smaller than the rest form, as after
 * an alignment with scale, the rest form is scaled by the median ratio of their edges.
 */
#include "author/scan/register/register.h"

#include "author/base/array.h"
#include "author/mesh/mesh_check.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bounds of a cotangent and of an edge's weight: slivers would make the matrix indefinite or stiff. */
#define MOST  4.0
#define LEAST 0.05
/* Links of each part, and their weight. */
enum { LINKS = 12 };
#define LINK_WEIGHT 0.5

typedef struct edge {
    int low, high;
    double weight;
} edge;

void exi_reg_shape_free(exi_reg_shape *shape) {
    free(shape->rest);
    free(shape->triangles);
    free(shape->around_starts);
    free(shape->around);
    free(shape->areas);
    free(shape->loose);
    free(shape->starts);
    free(shape->rows);
    free(shape->values);
    *shape = (exi_reg_shape){0};
}

/* ---- triangles ---- */

static ex_result copy_triangles(const ex_mesh *mesh, exi_reg_shape *s, ex_error *error) {
    int *corners = NULL;
    ex_result result = ex_mesh_triangulate(mesh, &corners, &s->triangle_count, error);
    if (result != EX_OK)
        return result;
    const size_t count = 3 * (size_t)s->triangle_count;
    s->triangles = exi_array_allocate(count, sizeof *s->triangles);
    s->around_starts = calloc((size_t)s->count + 2, sizeof *s->around_starts);
    s->around = exi_array_allocate(count, sizeof *s->around);
    if (!s->triangles || !s->around_starts || !s->around) {
        free(corners);
        return ex_error_memory(error, "the template", count * 8);
    }
    for (size_t i = 0; i < count; i++) {
        s->triangles[i] = (uint32_t)mesh->corners[corners[i]];
        s->around_starts[s->triangles[i] + 2]++;
    }
    for (int v = 0; v < s->count; v++)
        s->around_starts[v + 2] += s->around_starts[v + 1];
    for (size_t i = 0; i < count; i++)
        s->around[s->around_starts[s->triangles[i] + 1]++] = (int)(i / 3);
    free(corners);
    return EX_OK;
}

static void measure_areas(exi_reg_shape *s) {
    for (size_t t = 0; t < (size_t)s->triangle_count; t++) {
        const uint32_t *c = s->triangles + 3 * t;
        double a[3], b[3], n[3];
        exi_subtract(s->rest[c[1]], s->rest[c[0]], a);
        exi_subtract(s->rest[c[2]], s->rest[c[0]], b);
        exi_cross(a, b, n);
        const double area = sqrt(exi_dot3(n, n)) / 2;
        for (int k = 0; k < 3; k++)
            s->areas[c[k]] += area / 3;
        s->area += area;
    }
    int used = 0;
    for (int v = 0; v < s->count; v++) {
        s->loose[v] = s->around_starts[v] == s->around_starts[v + 1];
        used += !s->loose[v];
    }
    s->edge = sqrt(s->area / used);
    for (int v = 0; v < s->count; v++)
        s->areas[v] = fmax(s->areas[v], 1e-3 * s->edge * s->edge);
}

void exi_reg_shape_points(const exi_reg_shape *s, const double (*x)[3], exi_reg_point *points) {
    for (int v = 0; v < s->count; v++) {
        double sum[3] = {0};
        for (int i = s->around_starts[v]; i < s->around_starts[v + 1]; i++) {
            const uint32_t *c = s->triangles + 3 * (size_t)s->around[i];
            double a[3], b[3], n[3];
            exi_subtract(x[c[1]], x[c[0]], a);
            exi_subtract(x[c[2]], x[c[0]], b);
            exi_cross(a, b, n);
            for (int k = 0; k < 3; k++)
                sum[k] += n[k];
        }
        const bool some = exi_unit3(sum);
        for (int k = 0; k < 3; k++) {
            points[v].at[k] = (float)x[v][k];
            points[v].normal[k] = some ? (float)sum[k] : 0;
        }
    }
}

/* ---- edges ---- */

static double cotangent(const double a[3], const double b[3], const double c[3]) {
    double p[3], q[3], n[3];
    exi_subtract(b, a, p);
    exi_subtract(c, a, q);
    exi_cross(p, q, n);
    const double across = sqrt(exi_dot3(n, n)), along = exi_dot3(p, q);
    return along > MOST * across ? MOST : along < -MOST * across || !(across > 0) ? -MOST : along / across;
}

static int order_edges(const void *a, const void *b) {
    const edge *x = a, *y = b;
    return x->low != y->low ? (x->low < y->low ? -1 : 1) : x->high != y->high ? (x->high < y->high ? -1 : 1) : 0;
}

static int root_of(int *parents, int v) {
    while (parents[v] != v) {
        parents[v] = parents[parents[v]];
        v = parents[v];
    }
    return v;
}

/* Returns the nearest vertex of a part, at rest. */
static int nearest_of(const exi_reg_shape *s, const int *parts, int part, int vertex) {
    int best = -1;
    double least = INFINITY;
    for (int v = 0; v < s->count; v++) {
        double d[3];
        if (parts[v] != part)
            continue;
        exi_subtract(s->rest[v], s->rest[vertex], d);
        const double sq = exi_dot3(d, d);
        if (sq < least) {
            least = sq;
            best = v;
        }
    }
    return best;
}

/* Links parts to the largest one. parts, sizes and done [count] are work memory. */
static int link_parts(const exi_reg_shape *s, int *parts, int *sizes, int *done, edge *edges, int count, size_t most) {
    int largest = -1;
    for (int v = 0; v < s->count; v++)
        parts[v] = v;
    for (int e = 0; e < count; e++)
        parts[root_of(parts, edges[e].low)] = root_of(parts, edges[e].high);
    for (int v = 0; v < s->count; v++)
        parts[v] = s->loose[v] ? v : root_of(parts, v);
    for (int v = 0; v < s->count; v++)
        if (++sizes[parts[v]] && (largest < 0 || sizes[parts[v]] > sizes[largest]))
            largest = parts[v];
    for (int v = 0; v < s->count; v++) {
        const int part = parts[v], step = (sizes[part] + LINKS - 1) / LINKS;
        if (part == largest || s->loose[v] || done[part]++ % step != 0 || (size_t)count >= most)
            continue;
        const int other = nearest_of(s, parts, largest, v);
        edges[count++] = (edge){v < other ? v : other, v < other ? other : v, LINK_WEIGHT};
    }
    return count;
}

static ex_result make_matrix(exi_reg_shape *s, edge *edges, int count, ex_error *error) {
    int kept = 0;
    qsort(edges, (size_t)count, sizeof *edges, order_edges);
    for (int e = 0; e < count; e++)
        if (kept > 0 && edges[kept - 1].low == edges[e].low && edges[kept - 1].high == edges[e].high)
            edges[kept - 1].weight += edges[e].weight;
        else
            edges[kept++] = edges[e];
    const size_t entries = (size_t)kept + (size_t)s->count;
    s->starts = exi_array_allocate((size_t)s->count + 1, sizeof *s->starts);
    s->rows = exi_array_allocate(entries, sizeof *s->rows);
    s->values = exi_array_allocate(entries, sizeof *s->values);
    if (!s->starts || !s->rows || !s->values)
        return ex_error_memory(error, "the edges of the template", entries * 12);
    for (int v = 0, e = 0, at = 0; v < s->count; v++) {
        s->starts[v] = at;
        s->rows[at] = v;
        s->values[at++] = 0;
        for (; e < kept && edges[e].low == v; e++) {
            s->rows[at] = edges[e].high;
            s->values[at++] = edges[e].weight;
        }
        s->starts[v + 1] = at;
    }
    return EX_OK;
}

/* Bounds the weights, multiplies them by the stiffness, and fills in signs and diagonal. */
static void finish_matrix(exi_reg_shape *s, const float *stiffness) {
    for (int v = 0; v < s->count; v++)
        for (int e = s->starts[v] + 1; e < s->starts[v + 1]; e++) {
            const int other = s->rows[e];
            double w = fmax(s->values[e], LEAST);
            if (stiffness)
                w *= ((double)stiffness[v] + (double)stiffness[other]) / 2;
            s->values[e] = -w;
            s->values[s->starts[v]] += w;
            s->values[s->starts[other]] += w;
        }
}

static ex_result make_edges(exi_reg_shape *s, const float *stiffness, ex_error *error) {
    const size_t n = (size_t)s->count, most = 3 * (size_t)s->triangle_count + n;
    edge *edges = exi_array_allocate(most, sizeof *edges);
    int *work = calloc(3 * n + 1, sizeof *work), count = 0;
    ex_result result =
        edges && work ? EX_OK : ex_error_memory(error, "the edges of the template", most * sizeof *edges);
    for (size_t t = 0; t < (size_t)s->triangle_count && result == EX_OK; t++)
        for (int k = 0; k < 3; k++) {
            const uint32_t *c = s->triangles + 3 * t;
            const int a = (int)c[k], b = (int)c[(k + 1) % 3], d = (int)c[(k + 2) % 3];
            if (b != d) /* opposite to a */
                edges[count++] =
                    (edge){b < d ? b : d, b < d ? d : b, cotangent(s->rest[a], s->rest[b], s->rest[d]) / 2};
        }
    if (result == EX_OK) {
        count = link_parts(s, work, work + n, work + 2 * n, edges, count, most);
        result = make_matrix(s, edges, count, error);
    }
    if (result == EX_OK)
        finish_matrix(s, stiffness);
    free(edges);
    free(work);
    return result;
}

/* ---- closest points ---- */

/* By C. Ericson, Real-Time Collision Detection (2005), section 5.1.5. */
double exi_reg_closest(const double a[3], const double b[3], const double c[3], const double q[3], double shares[3]) {
    double ab[3], ac[3], aq[3], bq[3], cq[3];
    exi_subtract(b, a, ab);
    exi_subtract(c, a, ac);
    exi_subtract(q, a, aq);
    exi_subtract(q, b, bq);
    exi_subtract(q, c, cq);
    const double d1 = exi_dot3(ab, aq), d2 = exi_dot3(ac, aq), d3 = exi_dot3(ab, bq), d4 = exi_dot3(ac, bq);
    const double d5 = exi_dot3(ab, cq), d6 = exi_dot3(ac, cq);
    const double va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;
    double v = 0, w = 0;
    if (d1 <= 0 && d2 <= 0) {
        v = w = 0;
    } else if (d3 >= 0 && d4 <= d3) {
        v = 1;
    } else if (d6 >= 0 && d5 <= d6) {
        w = 1;
    } else if (vc <= 0 && d1 >= 0 && d3 <= 0) {
        v = d1 / (d1 - d3);
    } else if (vb <= 0 && d2 >= 0 && d6 <= 0) {
        w = d2 / (d2 - d6);
    } else if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) {
        w = (d4 - d3) / (d4 - d3 + d5 - d6);
        v = 1 - w;
    } else {
        v = vb / (va + vb + vc);
        w = vc / (va + vb + vc);
    }
    shares[0] = fmax(0, 1 - v - w); /* not below 0 by rounding */
    shares[1] = v;
    shares[2] = w;
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        const double d = aq[k] - v * ab[k] - w * ac[k];
        sum += d * d;
    }
    return sum;
}

/* ---- size ---- */

static int order_numbers(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double length_of(const double a[3], const double b[3]) {
    double d[3];
    exi_subtract(a, b, d);
    return sqrt(exi_dot3(d, d));
}

/* Scales the rest form by the median ratio of the start's edges to its own. */
static ex_result scale_rest(const double (*start)[3], exi_reg_shape *s, ex_error *error) {
    double *ratios = exi_array_allocate(3 * (size_t)s->triangle_count, sizeof *ratios);
    size_t count = 0;
    if (!ratios)
        return ex_error_memory(error, "the edges of the template", 3 * (size_t)s->triangle_count * sizeof *ratios);
    for (size_t i = 0; i < 3 * (size_t)s->triangle_count; i++) {
        const uint32_t a = s->triangles[i], b = s->triangles[i % 3 == 2 ? i - 2 : i + 1];
        const double own = length_of(s->rest[a], s->rest[b]);
        if (own > 0)
            ratios[count++] = length_of(start[a], start[b]) / own;
    }
    qsort(ratios, count, sizeof *ratios, order_numbers);
    const double ratio = count > 0 && ratios[count / 2] > 0 ? ratios[count / 2] : 1;
    for (int v = 0; v < s->count; v++)
        for (int k = 0; k < 3; k++)
            s->rest[v][k] *= ratio;
    free(ratios);
    return EX_OK;
}

static double box_size(const double (*x)[3], int count) {
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        double low = INFINITY, high = -INFINITY;
        for (int v = 0; v < count; v++) {
            low = fmin(low, x[v][k]);
            high = fmax(high, x[v][k]);
        }
        sum += (high - low) * (high - low);
    }
    return sqrt(sum);
}

ex_result exi_reg_shape_make(const ex_register_def *def, exi_reg_shape *s, ex_error *error) {
    const ex_mesh *mesh = def->mesh;
    *s = (exi_reg_shape){.count = mesh->vertex_count};
    s->rest = exi_array_copy(mesh->positions, (size_t)s->count, sizeof *s->rest);
    s->areas = calloc((size_t)s->count + 1, sizeof *s->areas);
    s->loose = calloc((size_t)s->count + 1, sizeof *s->loose);
    ex_result result = s->rest && s->areas && s->loose
                           ? EX_OK
                           : ex_error_memory(error, "the template", (size_t)s->count * sizeof *s->rest);
    if (result == EX_OK)
        result = copy_triangles(mesh, s, error);
    if (result == EX_OK && def->start)
        result = scale_rest(def->start, s, error);
    if (result == EX_OK) {
        s->size = box_size((const double(*)[3])s->rest, s->count);
        measure_areas(s);
        if (!(s->area > 0))
            result = ex_error_set(error, EX_ERROR_DATA, "the template's faces have no area");
    }
    if (result == EX_OK)
        result = make_edges(s, def->stiffness, error);
    if (result != EX_OK)
        exi_reg_shape_free(s);
    return result;
}
