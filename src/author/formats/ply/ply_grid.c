/*
 * Range images in PLY, as Stanford's scanners and programs wrote them: obj_info num_cols and num_rows in the header,
 * and an element range_grid with a cell for every sample, row by row, that holds a vertex index, or nothing if nothing
 * was seen. If a file has no faces, triangles between neighbouring cells make it a mesh.
 *
 * Columns run to the right and rows up as seen by the scanner, so that faces point towards it; if vertices have
 * normals, these decide which side is outside. A triangle is left out if an edge is more than four times as long as the
 * median along that direction of the grid: it spans a jump in depth (or surface that was seen at less than 15 degrees).
 */
#include "author/base/array.h"
#include "author/formats/ply/ply.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double jump = 4;

/* The cells' vertices, and lengths of edges. */
typedef struct grid {
    const ex_mesh *mesh;
    const int *cells;
    size_t columns, rows;
    double usual[2]; /* median length along rows and along columns */
} grid;

static ex_result check_grid(const exi_ply *ply, size_t cell_count) {
    const size_t columns = ply->header.columns, rows = ply->header.rows;
    if (columns == 0 || rows == 0)
        return ex_error_set(
            ply->error, EX_ERROR_DATA,
            "%s has a range grid and no faces, but no obj_info num_cols and num_rows that give the size of the grid",
            ply->name);
    if (cell_count % columns != 0 || cell_count / columns != rows)
        return ex_error_set(ply->error, EX_ERROR_DATA,
                            "%s: the range grid has %zu cells, but num_cols and num_rows are %zu times %zu", ply->name,
                            cell_count, columns, rows);
    if (cell_count > INT_MAX / 32)
        return ex_error_set(ply->error, EX_ERROR_LIMIT, "%s: a range grid can have at most %d cells", ply->name,
                            INT_MAX / 32);
    return EX_OK;
}

static double length_sq(const grid *g, int a, int b) {
    const double *p = g->mesh->positions + 3 * (size_t)a, *q = g->mesh->positions + 3 * (size_t)b;
    return (p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]) + (p[2] - q[2]) * (p[2] - q[2]);
}

static int order_numbers(const void *a, const void *b) {
    const double first = *(const double *)a, second = *(const double *)b;
    return (first > second) - (first < second);
}

/* Computes the median length of edges along rows, and along columns; lengths [cells]. */
static void measure(grid *g, double *lengths) {
    for (int way = 0; way < 2; way++) {
        const size_t step = way == 0 ? 1 : g->columns;
        size_t count = 0;
        for (size_t j = 0; j + (size_t)way < g->rows; j++)
            for (size_t i = 0; i + 1 - (size_t)way < g->columns; i++) {
                const int *cell = &g->cells[j * g->columns + i];
                if (cell[0] >= 0 && cell[step] >= 0)
                    lengths[count++] = length_sq(g, cell[0], cell[step]);
            }
        qsort(lengths, count, sizeof *lengths, order_numbers);
        g->usual[way] = count > 0 ? sqrt(lengths[count / 2]) : 0;
    }
}

/* True if both cells hold vertices that are not too far apart, `across` columns and `up` rows from each other. */
static bool is_edge(const grid *g, int a, int b, int across, int up) {
    if (a < 0 || b < 0 || a == b)
        return false;
    const double usual = hypot(across ? g->usual[0] : 0, up ? g->usual[1] : 0);
    return length_sq(g, a, b) <= jump * jump * usual * usual;
}

static void add_triangle(ex_mesh *mesh, int a, int b, int c) {
    int *corners = mesh->corners + mesh->corner_count;
    corners[0] = a, corners[1] = b, corners[2] = c;
    mesh->corner_count += 3;
    mesh->face_offsets[++mesh->face_count] = mesh->corner_count;
}

/* Adds the triangles of a square of cells, from its lower left corner: cut along the shorter diagonal, or, if a corner
 * is missing, along the diagonal that leaves a triangle. */
static void add_square(const grid *g, ex_mesh *mesh, const int *cell) {
    const int ll = cell[0], lr = cell[1], ul = cell[g->columns], ur = cell[g->columns + 1];
    const bool low = is_edge(g, ll, lr, 1, 0), high = is_edge(g, ul, ur, 1, 0);
    const bool left = is_edge(g, ll, ul, 0, 1), right = is_edge(g, lr, ur, 0, 1);
    const bool rising = is_edge(g, ll, ur, 1, 1), falling = is_edge(g, ul, lr, 1, 1);
    const int by_rising = rising ? (low && right) + (high && left) : 0;
    const int by_falling = falling ? (low && left) + (high && right) : 0;
    if (by_rising > by_falling ||
        (by_rising == by_falling && by_rising > 0 && length_sq(g, ll, ur) <= length_sq(g, ul, lr))) {
        if (low && right)
            add_triangle(mesh, ll, lr, ur);
        if (high && left)
            add_triangle(mesh, ll, ur, ul);
    } else if (by_falling > 0) {
        if (low && left)
            add_triangle(mesh, ll, lr, ul);
        if (high && right)
            add_triangle(mesh, lr, ur, ul);
    }
}

/* True if most faces point against the vertices' normals. */
static bool is_inside_out(const ex_mesh *mesh) {
    double sum = 0;
    for (int c = 0; c < mesh->corner_count; c += 3) {
        const int *corners = mesh->corners + c;
        const double *p[3], *n[3];
        for (int k = 0; k < 3; k++) {
            p[k] = mesh->positions + 3 * (size_t)corners[k];
            n[k] = mesh->normals + 3 * (size_t)corners[k];
        }
        for (int k = 0; k < 3; k++) {
            const int i = (k + 1) % 3, j = (k + 2) % 3;
            const double across = (p[1][i] - p[0][i]) * (p[2][j] - p[0][j]) - (p[1][j] - p[0][j]) * (p[2][i] - p[0][i]);
            sum += across * (n[0][k] + n[1][k] + n[2][k]);
        }
    }
    return sum < 0;
}

ex_result exi_ply_grid_faces(const exi_ply *ply, const int *cells, size_t cell_count, ex_mesh *mesh) {
    ex_result result = check_grid(ply, cell_count);
    if (result != EX_OK)
        return result;
    for (size_t i = 0; i < cell_count; i++)
        if (cells[i] >= mesh->vertex_count)
            return ex_error_set(
                ply->error, EX_ERROR_DATA,
                "%s: cell %zu of the range grid (counting from 0) refers to vertex %d, but there are %d", ply->name, i,
                cells[i], mesh->vertex_count);
    grid g = {.mesh = mesh, .cells = cells, .columns = ply->header.columns, .rows = ply->header.rows};
    double *lengths = exi_array_allocate(cell_count, sizeof *lengths);
    free(mesh->face_offsets);
    free(mesh->corners);
    mesh->face_offsets = exi_array_allocate(2 * cell_count + 1, sizeof *mesh->face_offsets);
    mesh->corners = exi_array_allocate(6 * cell_count, sizeof *mesh->corners);
    if (!lengths || !mesh->face_offsets || !mesh->corners) {
        free(lengths);
        return exi_ply_no_memory(ply);
    }
    mesh->face_offsets[0] = 0;
    measure(&g, lengths);
    free(lengths);
    for (size_t j = 0; j + 1 < g.rows; j++)
        for (size_t i = 0; i + 1 < g.columns; i++)
            add_square(&g, mesh, &cells[j * g.columns + i]);
    if (mesh->normals && is_inside_out(mesh))
        for (int c = 0; c < mesh->corner_count; c += 3) {
            const int kept = mesh->corners[c + 1];
            mesh->corners[c + 1] = mesh->corners[c + 2];
            mesh->corners[c + 2] = kept;
        }
    return EX_OK;
}
