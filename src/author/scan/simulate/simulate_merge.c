/*
 * Merges several views into one mesh, by signed distances on a grid (Curless, Levoy 1996, which the paper uses as
 * well). A grid point near a surface that a view saw has a distance in front of it or behind it; views are averaged,
 * weighted by how squarely they saw it. The surface is where the sum changes its sign, and ends at a cell with a corner
 * that no view saw anything near. So unseen areas are holes, and areas seen twice appear once. A cell on the surface
 * gets one vertex, the mean of the crossings of its edges, and each crossed edge becomes two triangles between the four
 * cells around it (surface nets, Gibson 1998), which needs no table of cases.
 *
 * The grid is swept in layers of equal height, and only blocks with a sample nearby are visited, so that memory grows
 * with a layer and time with the surface.
 */
#include "author/base/array.h"
#include "author/scan/simulate/simulate.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 8 };

typedef struct merger {
    const exi_range_view *views;
    int view_count;
    double size, reach;      /* of a cell; distance from a surface within which its distance is known */
    int first[3], counts[3]; /* corners of the grid, in units of size */
    int blocks[3];
    unsigned char *near; /* [blocks[1]][blocks[0]][blocks[2]]: true if a sample is near */
    float *layers[2];    /* [counts[0]][counts[2]] distances, NAN if unknown; of two layers */
    int *cells[2];       /* likewise: vertices of the cells below the upper layer, and of those one layer down; -1:
                            none */
    float (*positions)[3];
    unsigned char (*colours)[3];
    size_t position_capacity, colour_capacity, triangle_capacity;
    int vertex_count;
    int (*triangles)[3];
    int triangle_count;
    bool failed;
} merger;

static void sample_point(const exi_range_view *view, int row, int column, float depth, double point[3]) {
    for (int k = 0; k < 3; k++)
        point[k] = (view->first_column + column) * view->pitch[0] * view->right[k] + (double)depth * view->head[k];
    point[1] = (view->first_row + row) * view->pitch[1];
}

/* Calls visit with every sample's point. */
static void visit_samples(merger *m, void (*visit)(merger *m, const double point[3])) {
    for (int i = 0; i < m->view_count; i++) {
        const exi_range_view *view = &m->views[i];
        for (int row = 0; row < view->row_count; row++)
            for (int column = 0; column < view->column_count; column++) {
                const float depth = view->depths[(size_t)row * (size_t)view->column_count + (size_t)column];
                double point[3];
                if (isnan(depth))
                    continue;
                sample_point(view, row, column, depth, point);
                visit(m, point);
            }
    }
}

/* ---- extent of the grid ---- */

/* counts hold the last corner for now. */
static void grow_box(merger *m, const double point[3]) {
    for (int k = 0; k < 3; k++) {
        const int low = (int)floor((point[k] - m->reach) / m->size) - 1,
                  high = (int)ceil((point[k] + m->reach) / m->size) + 1;
        m->first[k] = low < m->first[k] ? low : m->first[k];
        m->counts[k] = high > m->counts[k] ? high : m->counts[k];
    }
}

static void mark_blocks(merger *m, const double point[3]) {
    int low[3], high[3];
    for (int k = 0; k < 3; k++) {
        low[k] = ((int)floor((point[k] - m->reach) / m->size) - m->first[k]) / BLOCK;
        high[k] = ((int)ceil((point[k] + m->reach) / m->size) - m->first[k]) / BLOCK;
    }
    for (int y = low[1]; y <= high[1]; y++)
        for (int x = low[0]; x <= high[0]; x++)
            for (int z = low[2]; z <= high[2]; z++)
                m->near[((size_t)y * (size_t)m->blocks[0] + (size_t)x) * (size_t)m->blocks[2] + (size_t)z] = 1;
}

static ex_result open_grid(merger *m, ex_error *error) {
    size_t block_count = 1;
    for (int k = 0; k < 3; k++) {
        m->first[k] = INT_MAX;
        m->counts[k] = INT_MIN;
    }
    visit_samples(m, grow_box);
    for (int k = 0; k < 3; k++) {
        m->counts[k] = m->counts[k] < m->first[k] ? 0 : m->counts[k] - m->first[k] + 1;
        m->blocks[k] = (m->counts[k] + BLOCK - 1) / BLOCK;
        block_count *= (size_t)m->blocks[k];
    }
    const size_t layer = (size_t)m->counts[0] * (size_t)m->counts[2];
    m->near = exi_array_allocate(block_count, 1);
    for (int i = 0; i < 2; i++) {
        m->layers[i] = exi_array_allocate(layer, sizeof(float));
        m->cells[i] = exi_array_allocate(layer, sizeof(int));
    }
    if (!m->near || !m->layers[0] || !m->layers[1] || !m->cells[0] || !m->cells[1])
        return ex_error_memory(error, "merging views", block_count + layer * 16);
    memset(m->near, 0, block_count);
    for (size_t i = 0; i < layer; i++) {
        m->layers[0][i] = m->layers[1][i] = NAN;
        m->cells[0][i] = m->cells[1][i] = -1;
    }
    visit_samples(m, mark_blocks);
    return EX_OK;
}

/* ---- distances ---- */

/* Computes the distance of a point in front of a view's surface (behind it: below 0), and its weight; returns false if
 * the view saw nothing near. A ray that grazes a limb soon leaves it again, so little is known behind it. */
static bool measure(const merger *m, const exi_range_view *view, const double point[3], double *distance,
                    double *weight, double colour[3]) {
    double depth, slant;
    const double across = point[0] * view->right[0] + point[2] * view->right[2];
    if (!exi_view_look(view, across, point[1], &depth, &slant, colour))
        return false;
    const double along = exi_dot3(point, view->head) - depth, least = slant > 0.5 ? slant : 0.5;
    *distance = along * slant;
    *weight = slant * slant;
    return fabs(along) * least <= m->reach;
}

static float distance_at(const merger *m, const double point[3]) {
    double sum = 0, weights = 0;
    for (int i = 0; i < m->view_count; i++) {
        double distance, weight;
        if (!measure(m, &m->views[i], point, &distance, &weight, NULL))
            continue;
        sum += weight * distance;
        weights += weight;
    }
    return weights > 0 ? (float)(sum / weights) : NAN;
}

static void fill_layer(const merger *m, int y, float *layer) {
    const unsigned char *near = m->near + (size_t)(y / BLOCK) * (size_t)m->blocks[0] * (size_t)m->blocks[2];
    for (int x = 0; x < m->counts[0]; x++)
        for (int z = 0; z < m->counts[2]; z++) {
            const double point[3] = {(m->first[0] + x) * m->size, (m->first[1] + y) * m->size,
                                     (m->first[2] + z) * m->size};
            const bool is_near = near[(size_t)(x / BLOCK) * (size_t)m->blocks[2] + (size_t)(z / BLOCK)] != 0;
            layer[(size_t)x * (size_t)m->counts[2] + (size_t)z] = is_near ? distance_at(m, point) : NAN;
        }
}

/* ---- the surface ---- */

/* Takes the colour from the view that sees it best. */
static void vertex_colour(const merger *m, const double point[3], unsigned char out[3]) {
    double best = 0, colour[3], found[3] = {128, 128, 128};
    for (int i = 0; i < m->view_count; i++) {
        double distance, weight;
        if (measure(m, &m->views[i], point, &distance, &weight, colour) && weight > best) {
            best = weight;
            memcpy(found, colour, sizeof found);
        }
    }
    for (int k = 0; k < 3; k++)
        out[k] = (unsigned char)round(found[k]);
}

static int add_vertex(merger *m, const double point[3]) {
    const size_t needed = (size_t)m->vertex_count + 1;
    void *positions = exi_array_grow(m->positions, &m->position_capacity, needed, sizeof *m->positions);
    if (positions)
        m->positions = positions;
    void *colours = exi_array_grow(m->colours, &m->colour_capacity, needed, sizeof *m->colours);
    if (colours)
        m->colours = colours;
    if (!positions || !colours || m->vertex_count == INT_MAX) {
        m->failed = true;
        return -1;
    }
    for (int k = 0; k < 3; k++)
        m->positions[m->vertex_count][k] = (float)point[k];
    vertex_colour(m, point, m->colours[m->vertex_count]);
    return m->vertex_count++;
}

/* Returns the vertex of a cell whose corners are known (bits of a corner's number: x, y, z), or -1. */
static int cell_vertex(merger *m, int x, int y, int z) {
    double values[8], sum[3] = {0, 0, 0};
    int crossings = 0;
    for (int i = 0; i < 8; i++) {
        const size_t at = (size_t)(x + (i & 1)) * (size_t)m->counts[2] + (size_t)(z + (i >> 2));
        values[i] = (double)m->layers[i >> 1 & 1][at];
        if (isnan(values[i]))
            return -1;
    }
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 3; k++) {
            const int other = i | 1 << k;
            if (other == i || (values[i] < 0) == (values[other] < 0))
                continue;
            const double t = values[i] / (values[i] - values[other]);
            for (int a = 0; a < 3; a++)
                sum[a] += (i >> a & 1) + (a == k ? t : 0);
            crossings++;
        }
    if (crossings == 0)
        return -1;
    const int cell[3] = {x, y, z};
    double point[3];
    for (int a = 0; a < 3; a++)
        point[a] = (m->first[a] + cell[a] + sum[a] / crossings) * m->size;
    return add_vertex(m, point);
}

static double apart_sq(const merger *m, int a, int b) {
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        const double d = (double)m->positions[a][k] - (double)m->positions[b][k];
        sum += d * d;
    }
    return sum;
}

/* Adds two triangles between the vertices of four cells around an edge, along the shorter diagonal. */
static void add_quad(merger *m, const int around[4], bool outwards) {
    int v[4];
    for (int i = 0; i < 4; i++) {
        v[i] = around[outwards ? i : 3 - i];
        if (v[i] < 0)
            return;
    }
    const int turn = apart_sq(m, v[0], v[2]) > apart_sq(m, v[1], v[3]);
    void *triangles =
        exi_array_grow(m->triangles, &m->triangle_capacity, (size_t)m->triangle_count + 2, sizeof *m->triangles);
    if (!triangles || m->triangle_count > INT_MAX / 3 - 2) {
        m->failed = true;
        return;
    }
    m->triangles = triangles;
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 3; k++)
            m->triangles[m->triangle_count + i][k] = v[(turn + (k == 0 ? 0 : k + i)) % 4];
    m->triangle_count += 2;
}

static bool is_crossed(float a, float b) {
    return !isnan(a) && !isnan(b) && (a < 0) != (b < 0);
}

/* Adds edges from a corner of the lower layer: upwards, and along x and z, where the cells of both layers meet. */
static void add_edges(merger *m, int x, int z) {
    const size_t at = (size_t)x * (size_t)m->counts[2] + (size_t)z, row = (size_t)m->counts[2];
    const int *upper = m->cells[1], *lower = m->cells[0];
    const float here = m->layers[0][at];
    if (x > 0 && z > 0 && is_crossed(here, m->layers[1][at])) {
        const int around[4] = {upper[at - row - 1], upper[at - row], upper[at], upper[at - 1]};
        add_quad(m, around, here < 0);
    }
    if (z > 0 && x + 1 < m->counts[0] && is_crossed(here, m->layers[0][at + row])) {
        const int around[4] = {lower[at - 1], upper[at - 1], upper[at], lower[at]};
        add_quad(m, around, here < 0);
    }
    if (x > 0 && z + 1 < m->counts[2] && is_crossed(here, m->layers[0][at + 1])) {
        const int around[4] = {lower[at - row], lower[at], upper[at], upper[at - row]};
        add_quad(m, around, here < 0);
    }
}

static void sweep(merger *m) {
    const size_t row = (size_t)m->counts[2];
    if (m->counts[1] > 0)
        fill_layer(m, 0, m->layers[1]);
    for (int y = 0; y + 1 < m->counts[1] && !m->failed; y++) {
        float *layer = m->layers[0];
        int *cells = m->cells[0];
        m->layers[0] = m->layers[1];
        m->layers[1] = layer;
        m->cells[0] = m->cells[1];
        m->cells[1] = cells;
        fill_layer(m, y + 1, m->layers[1]);
        for (int x = 0; x + 1 < m->counts[0]; x++)
            for (int z = 0; z + 1 < m->counts[2]; z++)
                m->cells[1][(size_t)x * row + (size_t)z] = cell_vertex(m, x, y, z);
        for (int x = 0; x < m->counts[0]; x++)
            for (int z = 0; z < m->counts[2]; z++)
                add_edges(m, x, z);
    }
}

/* Removes vertices that no triangle uses: cells at the edge of what was seen. */
static bool compact(merger *m) {
    int *numbers = exi_array_allocate((size_t)m->vertex_count, sizeof *numbers), count = 0;
    if (!numbers)
        return false;
    for (int v = 0; v < m->vertex_count; v++)
        numbers[v] = -1;
    for (int i = 0; i < 3 * m->triangle_count; i++)
        numbers[m->triangles[i / 3][i % 3]] = 0;
    for (int v = 0; v < m->vertex_count; v++) {
        if (numbers[v] < 0)
            continue;
        numbers[v] = count;
        memmove(m->positions[count], m->positions[v], sizeof m->positions[v]);
        memmove(m->colours[count++], m->colours[v], sizeof m->colours[v]);
    }
    for (int i = 0; i < 3 * m->triangle_count; i++)
        m->triangles[i / 3][i % 3] = numbers[m->triangles[i / 3][i % 3]];
    m->vertex_count = count;
    free(numbers);
    return true;
}

ex_result exi_views_merge(const exi_range_view *views, int count, double size, ex_mesh **mesh, ex_error *error) {
    merger m = {.views = views, .view_count = count, .size = size, .reach = 3 * size};
    ex_result result = open_grid(&m, error);
    if (result == EX_OK) {
        sweep(&m);
        m.failed = m.failed || !compact(&m);
        result = m.failed ? ex_error_memory(error, "merging views", (size_t)m.triangle_count * 24)
                          : exi_coloured_mesh(m.vertex_count, (const float(*)[3])m.positions,
                                              (const unsigned char(*)[3])m.colours, m.triangle_count,
                                              (const int(*)[3])m.triangles, mesh, error);
    }
    for (int i = 0; i < 2; i++) {
        free(m.layers[i]);
        free(m.cells[i]);
    }
    free(m.near);
    free(m.positions);
    free(m.colours);
    free(m.triangles);
    return result;
}
