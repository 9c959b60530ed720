/*
 * The surface between two forms: alignment, and what every triangle does.
 *
 * Alignment is the rigid motion that takes the start onto the end with the least sum of squared distances, weighted by
 * the start's areas; as a screw, x(t) = c + R(t w)(x - c) + t R~(t w) m, so that R~(w) m is how far the centroid goes.
 * What is left goes on in the frame of the start. There a triangle's deformation D takes edges to edges and the unit
 * normal to the unit normal; D = R S, S being the identity along the normal. In the triangle's plane, with coordinates
 * (u, v) and T = [dx/du dx/dv] (3 x 2), G = T^T T: R restricted to the plane is T G^(-1/2), and S is G^(1/2), both by
 * the closed form for 2 x 2 matrices: with s = sqrt(det G) and q = sqrt(trace G + 2 s), G^(1/2) = (G + s I) / q.
 *
 * A rotation vector is one of many: w (1 + 2 pi k / |w|) turns alike at the end, not half-way. Neighbours are to take
 * the same way. Triangles are visited along a tree of least differences in rotation (Prim's, from the least turned of
 * the largest component), each taking the k that brings it nearest to the triangle that it was reached from; other
 * components are reached over their links.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "author/formats/array.h"
#include "author/trajectory/surface.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"
#include "runtime/pose/matrix.h"

#define PI 3.14159265358979323846

/* ---- alignment ---- */

void exi_surface_fit(int count, const double *weights, const double *from, const double *to, double rotation[3][3],
                     double from_centre[3], double to_centre[3]) {
    double total = 0, m[12] = {0}, stretch[3][3];
    for (int i = 0; i < 3; i++)
        from_centre[i] = to_centre[i] = 0;
    for (int v = 0; v < count; v++) {
        total += weights[v];
        for (int i = 0; i < 3; i++) {
            from_centre[i] += weights[v] * from[3 * v + i];
            to_centre[i] += weights[v] * to[3 * v + i];
        }
    }
    for (int i = 0; i < 3; i++) {
        from_centre[i] = total > 0 ? from_centre[i] / total : 0;
        to_centre[i] = total > 0 ? to_centre[i] / total : 0;
    }
    for (int v = 0; v < count; v++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                m[4 * i + j] += weights[v] * (to[3 * v + i] - to_centre[i]) * (from[3 * v + j] - from_centre[j]);
    exi_polar(m, rotation, stretch);
}

static void align(ex_between *b, const double *weights) {
    double rotation[3][3], shift[3];
    double end_centre[3];
    exi_surface_fit(b->vertex_count, weights, b->start, b->end, rotation, b->centre, end_centre);
    exi_turn_vector(rotation, b->screw.turn);
    exi_subtract(end_centre, b->centre, shift);
    exi_mean_turn_invert(b->screw.turn, shift, b->screw.move);
    for (int v = 0; v < b->vertex_count; v++) {
        double arm[3];
        exi_subtract(b->end + 3 * v, end_centre, arm);
        exi_apply_transpose(rotation, arm, arm);
        for (int i = 0; i < 3; i++)
            b->aligned[3 * v + i] = b->centre[i] + arm[i];
    }
}

/* ---- triangles ---- */

void exi_surface_frame(const ex_between *b, int triangle, double e1[3], double e2[3]) {
    const int *corners = b->triangles + 3 * triangle;
    exi_subtract(b->start + 3 * corners[1], b->start + 3 * corners[0], e1);
    exi_unit3(e1);
    exi_cross(b->normals + 3 * triangle, e1, e2);
}

/* Area, normal and slopes of a triangle at the start; all zero where it has no area to speak of, or is too thin. */
static void measure(ex_between *b, int triangle, double least) {
    const int *c = b->triangles + 3 * triangle;
    double e1[3], e2[3], n[3];
    exi_subtract(b->start + 3 * c[1], b->start + 3 * c[0], e1);
    exi_subtract(b->start + 3 * c[2], b->start + 3 * c[0], e2);
    exi_cross(e1, e2, n);
    const double area = 0.5 * sqrt(exi_dot3(n, n));
    double *slopes = b->slopes + 9 * triangle;
    memset(slopes, 0, 9 * sizeof *slopes);
    double longest = fmax(exi_dot3(e1, e1), exi_dot3(e2, e2)), e3[3];
    exi_subtract(b->start + 3 * c[2], b->start + 3 * c[1], e3);
    longest = fmax(longest, exi_dot3(e3, e3));
    if (!(area > least && area >= b->thin * longest))
        return;
    b->areas[triangle] = area;
    for (int i = 0; i < 3; i++)
        b->normals[3 * triangle + i] = n[i] /= 2 * area;
    double a[3], d[3]; /* the slope of corner 1 is perpendicular to edge 2 and the other way round */
    exi_cross(e2, n, a);
    exi_cross(n, e1, d);
    for (int i = 0; i < 3; i++) {
        slopes[3 + i] = a[i] / (2 * area);
        slopes[6 + i] = d[i] / (2 * area);
        slopes[i] = -slopes[3 + i] - slopes[6 + i];
    }
}

/* The derivative of a form along the plane's direction e. */
static void derive(const ex_between *b, int triangle, const double *form, const double e[3], double out[3]) {
    const double *slopes = b->slopes + 9 * triangle;
    out[0] = out[1] = out[2] = 0;
    for (int k = 0; k < 3; k++) {
        const double along = exi_dot3(slopes + 3 * k, e);
        for (int i = 0; i < 3; i++)
            out[i] += along * form[3 * b->triangles[3 * triangle + k] + i];
    }
}

/* Rotation and stretch from the start to the aligned end. false where the end has no area. */
static bool decompose(ex_between *b, int triangle, double rotation[3][3]) {
    double e1[3], e2[3], p[3], q[3];
    exi_surface_frame(b, triangle, e1, e2);
    derive(b, triangle, b->aligned, e1, p);
    derive(b, triangle, b->aligned, e2, q);
    const double xx = exi_dot3(p, p), xy = exi_dot3(p, q), yy = exi_dot3(q, q);
    const double s = sqrt(fmax(xx * yy - xy * xy, 0)), r = sqrt(xx + yy + 2 * s);
    double *stretch = b->stretches + 6 * triangle;
    const double root[3] = {r > 0 ? (xx + s) / r : 0, r > 0 ? xy / r : 0, r > 0 ? (yy + s) / r : 0};
    const double *n = b->normals + 3 * triangle;
    static const int rows[6] = {0, 1, 2, 0, 0, 1}, columns[6] = {0, 1, 2, 1, 2, 2};
    for (int k = 0; k < 6; k++) {
        const int i = rows[k], j = columns[k];
        stretch[k] =
            root[0] * e1[i] * e1[j] + root[1] * (e1[i] * e2[j] + e2[i] * e1[j]) + root[2] * e2[i] * e2[j] + n[i] * n[j];
    }
    if (!(s > 1e-12 * (xx + yy)))
        return false;
    const double factor = 1 / (s * r), c1 = (yy + s) * factor, c2 = -xy * factor, c3 = (xx + s) * factor;
    double f1[3], f2[3], f3[3];
    for (int i = 0; i < 3; i++) {
        f1[i] = c1 * p[i] + c2 * q[i];
        f2[i] = c2 * p[i] + c3 * q[i];
    }
    exi_cross(f1, f2, f3);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            rotation[i][j] = f1[i] * e1[j] + f2[i] * e2[j] + f3[i] * n[j];
    return true;
}

/* ---- branches ---- */

/* Across which edges triangles touch: neighbours[3 t + k] is a triangle, or -1. Of more than two at one edge, pairs. */
typedef struct half_edge {
    int low, high, side; /* side: 3 * triangle + corner */
} half_edge;

static int compare_edges(const void *a, const void *b) {
    const half_edge *x = a, *y = b;
    if (x->low != y->low)
        return x->low < y->low ? -1 : 1;
    if (x->high != y->high)
        return x->high < y->high ? -1 : 1;
    return x->side < y->side ? -1 : x->side > y->side;
}

bool exi_surface_neighbours(int triangle_count, const int *triangles, int *neighbours) {
    const size_t count = 3 * (size_t)triangle_count;
    half_edge *edges = exi_array_allocate(count, sizeof *edges);
    if (!edges)
        return false;
    for (size_t i = 0; i < count; i++) {
        const int a = triangles[i], b = triangles[i % 3 == 2 ? i - 2 : i + 1];
        edges[i] = (half_edge){a < b ? a : b, a < b ? b : a, (int)i};
        neighbours[i] = -1;
    }
    qsort(edges, count, sizeof *edges, compare_edges);
    for (size_t i = 0; i + 1 < count; i++)
        if (edges[i].low == edges[i + 1].low && edges[i].high == edges[i + 1].high) {
            neighbours[edges[i].side] = edges[i + 1].side / 3;
            neighbours[edges[i + 1].side] = edges[i].side / 3;
            i++;
        }
    free(edges);
    return true;
}

/* A heap of triangles to visit, the least difference first; ties by number, so that nothing is left to chance. */
typedef struct visit {
    float difference;
    int triangle, from;
} visit;

typedef struct heap {
    visit *items;
    size_t count, capacity;
} heap;

static bool earlier(const visit *a, const visit *b) {
    return a->difference != b->difference ? a->difference < b->difference : a->triangle < b->triangle;
}

static bool push(heap *h, visit item) {
    visit *grown = exi_array_grow(h->items, &h->capacity, h->count + 1, sizeof *h->items);
    if (!grown)
        return false;
    h->items = grown;
    size_t i = h->count++;
    for (; i > 0 && earlier(&item, &h->items[(i - 1) / 2]); i = (i - 1) / 2)
        h->items[i] = h->items[(i - 1) / 2];
    h->items[i] = item;
    return true;
}

static visit pop(heap *h) {
    const visit first = h->items[0], last = h->items[--h->count];
    size_t i = 0;
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= h->count)
            break;
        if (child + 1 < h->count && earlier(&h->items[child + 1], &h->items[child]))
            child++;
        if (!earlier(&h->items[child], &last))
            break;
        h->items[i] = h->items[child];
        i = child;
    }
    if (h->count)
        h->items[i] = last;
    return first;
}

/* The vector of the same rotation that is nearest to `near`. */
static void nearest_branch(double w[3], const double near[3]) {
    const double angle = sqrt(exi_dot3(w, w));
    if (angle < 1e-9)
        return;
    const double k = nearbyint((exi_dot3(near, w) / angle - angle) / (2 * PI));
    for (int i = 0; i < 3; i++)
        w[i] *= 1 + 2 * PI * k / angle;
}

/* How far two principal rotations differ: the sine of half the angle between them. */
static float difference(const float *quaternions, int a, int b) {
    double dot = 0;
    for (int i = 0; i < 4; i++)
        dot += (double)quaternions[4 * a + i] * quaternions[4 * b + i];
    return (float)sqrt(fmax(1 - dot * dot, 0));
}

/* Visits the component of `root`, reached from a triangle of another, or from none (-1). */
static bool spread(ex_between *b, const float *quaternions, bool *visited, heap *h, int root, int from) {
    static const double none[3] = {0};
    h->count = 0;
    if (!push(h, (visit){0, root, from}))
        return false;
    while (h->count) {
        const visit next = pop(h);
        if (visited[next.triangle])
            continue;
        visited[next.triangle] = true;
        double *turn = b->turns + 3 * next.triangle;
        if (isnan(turn[0])) /* has no rotation of its own */
            memcpy(turn, next.from >= 0 ? b->turns + 3 * next.from : none, 3 * sizeof *turn);
        else if (next.from >= 0)
            nearest_branch(turn, b->turns + 3 * next.from);
        for (int k = 0; k < 3; k++) {
            const int other = b->neighbours[3 * next.triangle + k];
            if (other >= 0 && !visited[other] &&
                !push(h, (visit){difference(quaternions, next.triangle, other), other, next.triangle}))
                return false;
        }
    }
    return true;
}

static int first_triangle(const ex_between *b, int vertex) {
    const int begin = b->triangle_starts[vertex];
    return begin < b->triangle_starts[vertex + 1] ? b->triangle_list[begin] / 3 : -1;
}

/* Over every link that leads from what was visited to what was not. *on: whether there was any. */
static bool follow_links(ex_between *b, const float *quaternions, bool *visited, heap *h, bool *on) {
    bool done = true;
    *on = false;
    for (int l = 0; done && l < b->link_count; l++) {
        const int one = first_triangle(b, b->links[l].vertices[0]), two = first_triangle(b, b->links[l].vertices[1]);
        if (one < 0 || two < 0 || visited[one] == visited[two])
            continue;
        done =
            visited[one] ? spread(b, quaternions, visited, h, two, one) : spread(b, quaternions, visited, h, one, two);
        *on = true;
    }
    return done;
}

typedef struct turned {
    double angle;
    int triangle;
} turned;

static int compare_turned(const void *a, const void *b) {
    const turned *x = a, *y = b;
    if (x->angle != y->angle)
        return x->angle < y->angle ? -1 : 1;
    return x->triangle < y->triangle ? -1 : x->triangle > y->triangle;
}

/* By the number of its vertices; the first of equals. -1 without memory. */
static int largest_component(const ex_between *b) {
    int *counts = calloc((size_t)b->component_count + 1, sizeof *counts), largest = 0;
    if (!counts)
        return -1;
    for (int v = 0; v < b->vertex_count; v++)
        counts[b->components[v]]++;
    for (int c = 1; c < b->component_count; c++)
        largest = counts[c] > counts[largest] ? c : largest;
    free(counts);
    return largest;
}

static bool choose_branches(ex_between *b) {
    const int count = b->triangle_count;
    float *quaternions = exi_array_allocate(4 * (size_t)count, sizeof *quaternions);
    bool *visited = calloc((size_t)count + 1, sizeof *visited);
    turned *order = exi_array_allocate((size_t)count, sizeof *order);
    heap h = {0};
    bool done = quaternions && visited && order && exi_surface_neighbours(count, b->triangles, b->neighbours);
    for (int t = 0; done && t < count; t++) {
        const bool has = !isnan(b->turns[3 * t]);
        const double angle = has ? sqrt(exi_dot3(b->turns + 3 * t, b->turns + 3 * t)) : 0;
        const double factor = angle > 1e-9 ? sin(angle / 2) / angle : 0.5;
        for (int i = 0; i < 3; i++)
            quaternions[4 * t + i] = has ? (float)(factor * b->turns[3 * t + i]) : 0;
        quaternions[4 * t + 3] = (float)cos(angle / 2);
        order[t] = (turned){has ? angle : 10, t}; /* those without come last */
    }
    if (done)
        qsort(order, (size_t)count, sizeof *order, compare_turned);
    const int largest = largest_component(b);
    done = done && largest >= 0;
    for (int pass = 0; pass < 2; pass++) /* the second: what no link reached */
        for (int i = 0; done && i < count; i++) {
            const int root = order[i].triangle;
            if (visited[root] || (pass == 0 && b->components[b->triangles[3 * root]] != largest))
                continue;
            done = spread(b, quaternions, visited, &h, root, -1);
            for (bool on = true; done && on;) /* whatever links lead to from here, and from there */
                done = follow_links(b, quaternions, visited, &h, &on);
        }
    free(h.items);
    free(order);
    free(visited);
    free(quaternions);
    return done;
}

/* ---- the whole ---- */

static void list_triangles(ex_between *b) {
    for (int i = 0; i < 3 * b->triangle_count; i++)
        b->triangle_starts[b->triangles[i] + 1]++;
    for (int v = 0; v < b->vertex_count; v++)
        b->triangle_starts[v + 1] += b->triangle_starts[v];
    for (int i = 0; i < 3 * b->triangle_count; i++)
        b->triangle_list[b->triangle_starts[b->triangles[i]]++] = i;
    for (int v = b->vertex_count; v > 0; v--)
        b->triangle_starts[v] = b->triangle_starts[v - 1];
    b->triangle_starts[0] = 0;
}

static double box_diagonal(int count, const double *points) {
    double square = 0;
    for (int i = 0; i < 3 && count; i++) {
        double low = points[i], high = points[i];
        for (int v = 1; v < count; v++) {
            low = points[3 * v + i] < low ? points[3 * v + i] : low;
            high = points[3 * v + i] > high ? points[3 * v + i] : high;
        }
        square += (high - low) * (high - low);
    }
    return sqrt(square);
}

ex_result exi_surface_measure(ex_between *b, ex_error *error) {
    b->size = box_diagonal(b->vertex_count, b->start);
    const double least = 1e-12 * b->size * b->size;
    list_triangles(b);
    for (int t = 0; t < b->triangle_count; t++) {
        measure(b, t, least);
        for (int k = 0; k < 3; k++)
            b->vertex_areas[b->triangles[3 * t + k]] += b->areas[t] / 3;
    }
    double total = 0;
    for (int v = 0; v < b->vertex_count; v++)
        total += b->vertex_areas[v];
    if (total > 0) {
        align(b, b->vertex_areas);
    } else { /* points, or nothing but triangles without area: all count alike */
        double *ones = exi_array_allocate((size_t)b->vertex_count, sizeof *ones);
        if (!ones)
            return exi_error_memory(error, "weights of vertices", (size_t)b->vertex_count * sizeof *ones);
        for (int v = 0; v < b->vertex_count; v++)
            ones[v] = 1;
        align(b, ones);
        free(ones);
    }
    for (int t = 0; t < b->triangle_count; t++) {
        double rotation[3][3];
        b->stretches[6 * t] = b->stretches[6 * t + 1] = b->stretches[6 * t + 2] = 1;
        if (b->areas[t] > 0 && decompose(b, t, rotation))
            exi_turn_vector(rotation, b->turns + 3 * t);
        else
            b->turns[3 * t] = NAN;
    }
    return EX_OK;
}

ex_result exi_surface_branch(ex_between *b, ex_error *error) {
    return choose_branches(b) ? EX_OK
                              : exi_error_memory(error, "branches of rotations", 60 * (size_t)b->triangle_count);
}
