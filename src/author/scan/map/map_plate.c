/*
 * The thin plate of equation 4 as sums to be minimised, one or two per vertex.
 *
 * Inside: the cotangent Laplacian, which is 0 for every linear function on a flat mesh, however irregular, so that
 * dense vertices do not attract the plate. A quadrilateral counts as the mean of its two triangulations. With the areas
 * A around vertices and their mean,
 *
 *     sqrt(mean A / A_i) sum over j of (cot a_ij + cot b_ij) / 2 (d_j - d_i):
 *
 * squared and summed this is the integral of (Laplacian d)^2 in units of the mean spacing of vertices, as equation 4
 * has it in pixels. Its balance with the measured values depends neither on metres nor on the level.
 *
 * Laplacians do not constrain the edge of the part: there are many harmonic functions, and they oscillate freely there.
 * So each vertex of the edge has the second difference along the edge, where that runs straight, and each quadrilateral
 * that touches the edge has its twist, d_0 - d_1 + d_2 - d_3, as a plate with a free edge has. Both are 0 for linear
 * functions on a regular mesh.
 */
#include "author/scan/map/map.h"

#include "author/base/array.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Limit for nearly degenerate triangles. */
#define COTANGENT_MOST 20.0
/* Largest factor by which a vertex may count more or less because of its area. */
#define UNEVEN_MOST 10.0
/* Cosine of the turn beyond which the part's edge has a corner. */
#define STRAIGHT 0.7

typedef struct builder {
    const exi_map_net *net;
    const float *positions;
    const unsigned char *states;
    exi_plate *plate;
    int *places;   /* [vertex_count] position of a vertex in the current sum; -1: none */
    double *areas; /* [row_count] around the vertex of each row; 0: not a Laplacian */
    bool *on_edge; /* [vertex_count] */
    size_t area_capacity;
} builder;

void exi_plate_free(exi_plate *plate) {
    free(plate->starts);
    free(plate->weights);
    free(plate->vertices);
    free(plate->coefficients);
    *plate = (exi_plate){0};
}

/* ---- sums ---- */

static bool grow(void **array, size_t *capacity, size_t needed, size_t size) {
    void *grown = exi_array_grow(*array, capacity, needed, size);
    if (grown)
        *array = grown;
    return grown != NULL;
}

/* Makes room for one more row of at most `most` entries. Pairs of arrays grow together. */
static bool make_room(builder *b, size_t most) {
    exi_plate *p = b->plate;
    size_t rows = p->row_capacity, entries = p->entry_capacity, areas = b->area_capacity;
    if (!grow((void **)&p->starts, &rows, (size_t)p->row_count + 2, sizeof *p->starts))
        return false;
    rows = p->row_capacity;
    if (!grow((void **)&p->weights, &rows, (size_t)p->row_count + 2, sizeof *p->weights) ||
        !grow((void **)&b->areas, &areas, (size_t)p->row_count + 2, sizeof *b->areas))
        return false;
    p->row_capacity = rows;
    b->area_capacity = areas;
    if (!grow((void **)&p->vertices, &entries, (size_t)p->entry_count + most, sizeof *p->vertices))
        return false;
    entries = p->entry_capacity;
    if (!grow((void **)&p->coefficients, &entries, (size_t)p->entry_count + most, sizeof *p->coefficients))
        return false;
    p->entry_capacity = entries;
    return true;
}

static void add(builder *b, int vertex, double coefficient) {
    exi_plate *p = b->plate;
    if (b->places[vertex] < 0) {
        b->places[vertex] = p->entry_count;
        p->vertices[p->entry_count] = vertex;
        p->coefficients[p->entry_count++] = 0;
    }
    p->coefficients[b->places[vertex]] += coefficient;
}

/* w (d_other - d_vertex) */
static void add_difference(builder *b, int vertex, int other, double w) {
    add(b, other, w);
    add(b, vertex, -w);
}

static void end_row(builder *b, double weight, double area) {
    exi_plate *p = b->plate;
    for (int i = p->starts[p->row_count]; i < p->entry_count; i++)
        b->places[p->vertices[i]] = -1;
    p->weights[p->row_count] = weight;
    b->areas[p->row_count] = area;
    p->starts[++p->row_count] = p->entry_count;
}

/* ---- around a vertex ---- */

static void place(const builder *b, int vertex, double out[3]) {
    for (int c = 0; c < 3; c++)
        out[c] = (double)b->positions[3 * (size_t)vertex + (size_t)c];
}

static double cotangent(const double apex[3], const double p[3], const double q[3]) {
    double a[3], b[3], n[3];
    exi_subtract(p, apex, a);
    exi_subtract(q, apex, b);
    exi_cross(a, b, n);
    const double sine = sqrt(exi_dot3(n, n)), cosine = exi_dot3(a, b);
    if (!(fabs(cosine) < COTANGENT_MOST * sine))
        return cosine > 0 ? COTANGENT_MOST : cosine < 0 ? -COTANGENT_MOST : 0;
    return cosine / sine;
}

/* Adds a triangle's part of the Laplacian of its first vertex, multiplied by `times`; returns its part of the area. */
static double add_triangle(builder *b, int i, int j, int k, double times) {
    double p[3], q[3], r[3], u[3], v[3], n[3];
    place(b, i, p);
    place(b, j, q);
    place(b, k, r);
    add_difference(b, i, k, times * cotangent(q, p, r) / 2);
    add_difference(b, i, j, times * cotangent(r, p, q) / 2);
    exi_subtract(q, p, u);
    exi_subtract(r, p, v);
    exi_cross(u, v, n);
    return times * sqrt(exi_dot3(n, n)) / 6;
}

/* True if all vertices of a face belong to the part. */
static bool is_inside(const builder *b, int face) {
    for (int c = b->net->face_starts[face]; c < b->net->face_starts[face + 1]; c++)
        if (b->states[b->net->corners[c]] == EX_DISPLACEMENT_MAP_OUTSIDE)
            return false;
    return true;
}

/* For other polygons, uses only the triangle at the corner. */
static double add_laplacian(builder *b, int vertex) {
    const exi_map_net *net = b->net;
    double area = 0;
    for (int i = net->vertex_starts[vertex]; i < net->vertex_starts[vertex + 1]; i++) {
        const int corner = net->vertex_corners[i], face = net->corner_faces[corner];
        const int next = exi_map_net_beside(net, corner, 1), before = exi_map_net_beside(net, corner, -1);
        if (!is_inside(b, face))
            continue;
        if (net->face_starts[face + 1] - net->face_starts[face] == 4) {
            const int opposite = exi_map_net_beside(net, corner, 2);
            area += add_triangle(b, vertex, next, opposite, 0.5);
            area += add_triangle(b, vertex, opposite, before, 0.5);
            area += add_triangle(b, vertex, next, before, 0.5);
        } else {
            area += add_triangle(b, vertex, next, before, 1);
        }
    }
    return area;
}

/* Finds the neighbours along the edge of the part and stores at most two; returns their number: 0 inside. */
static int find_edge(const builder *b, int vertex, int sides[2]) {
    const exi_map_net *net = b->net;
    int count = 0;
    for (int i = net->vertex_starts[vertex]; i < net->vertex_starts[vertex + 1]; i++) {
        if (!is_inside(b, net->corner_faces[net->vertex_corners[i]]))
            continue;
        for (int step = -1; step <= 1; step += 2) {
            const int other = exi_map_net_beside(net, net->vertex_corners[i], step);
            int faces = 0;
            for (int k = net->vertex_starts[vertex]; k < net->vertex_starts[vertex + 1]; k++) {
                const int corner = net->vertex_corners[k];
                faces += is_inside(b, net->corner_faces[corner]) &&
                         (exi_map_net_beside(net, corner, 1) == other || exi_map_net_beside(net, corner, -1) == other);
            }
            if (faces != 1)
                continue;
            if (count < 2)
                sides[count] = other;
            count++;
        }
    }
    return count;
}

static void add_along(builder *b, int vertex, const int sides[2]) {
    double p[3], q[3], r[3], u[3], v[3];
    place(b, vertex, p);
    place(b, sides[0], q);
    place(b, sides[1], r);
    exi_subtract(q, p, u);
    exi_subtract(r, p, v);
    const double first = sqrt(exi_dot3(u, u)), second = sqrt(exi_dot3(v, v));
    if (!(first > 0 && second > 0) || exi_dot3(u, v) > -STRAIGHT * first * second)
        return;
    add_difference(b, vertex, sides[0], 2 * second / (first + second));
    add_difference(b, vertex, sides[1], 2 * first / (first + second));
}

static bool add_vertex(builder *b, int vertex, double slack) {
    const exi_map_net *net = b->net;
    int sides[2];
    if (!make_room(b, (size_t)(net->ring_starts[vertex + 1] - net->ring_starts[vertex]) + 1))
        return false;
    const int edges = find_edge(b, vertex, sides);
    b->on_edge[vertex] = edges > 0;
    double area = 0;
    if (edges == 0)
        area = add_laplacian(b, vertex);
    else if (edges == 2)
        add_along(b, vertex, sides);
    end_row(b, slack, area);
    return true;
}

/* ---- twists ---- */

static bool add_twists(builder *b, const double *slacks) {
    const exi_map_net *net = b->net;
    for (int f = 0; f < net->face_count; f++) {
        const int first = net->face_starts[f];
        double slack = 0;
        bool on_edge = false;
        for (int c = first; c < net->face_starts[f + 1]; c++) {
            slack += slacks[net->corners[c]] / 4;
            on_edge = on_edge || b->on_edge[net->corners[c]];
        }
        if (net->face_starts[f + 1] - first != 4 || slack <= 0 || !on_edge || !is_inside(b, f))
            continue;
        if (!make_room(b, 4))
            return false;
        for (int k = 0; k < 4; k++)
            add(b, net->corners[first + k], k % 2 ? -1 : 1);
        end_row(b, slack, 0);
    }
    return true;
}

/* ---- the entry point ---- */

static void scale_rows(builder *b) {
    exi_plate *p = b->plate;
    double sum = 0;
    int count = 0;
    for (int r = 0; r < p->row_count; r++) {
        sum += b->areas[r];
        count += b->areas[r] > 0;
    }
    for (int r = 0; r < p->row_count; r++) {
        if (!(b->areas[r] > 0))
            continue;
        const double ratio = sum / count / b->areas[r];
        p->weights[r] *= ratio > UNEVEN_MOST ? UNEVEN_MOST : ratio < 1 / UNEVEN_MOST ? 1 / UNEVEN_MOST : ratio;
    }
}

bool exi_plate_make(const exi_map_net *net, const float *positions, const unsigned char *states, const double *slacks,
                    exi_plate *plate) {
    *plate = (exi_plate){0};
    builder b = {.net = net, .positions = positions, .states = states, .plate = plate};
    b.places = exi_array_allocate((size_t)net->vertex_count, sizeof *b.places);
    b.on_edge = calloc((size_t)net->vertex_count + 1, sizeof *b.on_edge);
    bool good = b.places && b.on_edge && make_room(&b, 0);
    if (good)
        plate->starts[0] = 0;
    for (int v = 0; good && v < net->vertex_count; v++)
        b.places[v] = -1;
    for (int v = 0; good && v < net->vertex_count; v++)
        good = !(slacks[v] > 0) || add_vertex(&b, v, slacks[v]);
    good = good && add_twists(&b, slacks);
    if (good)
        scale_rows(&b);
    else
        exi_plate_free(plate);
    free(b.places);
    free(b.on_edge);
    free(b.areas);
    return good;
}
