/*
 * Makes triangles between neighbouring samples of a range image, two per cell of the grid, unless the depth jumps
 * between them: that is an edge of what is seen, not a surface. A cell is cut along the diagonal that gives more
 * triangles, or else the less steep one.
 */
#include "author/base/array.h"
#include "author/scan/simulate/simulate.h"
#include "runtime/base/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Largest ratio of depth to width of an edge: about what grazing rays give. */
#define STEEPEST 4.0

/* Corners (row, column) of the first and the second triangle, counter-clockwise as seen from the head. */
static const int cell_corners[2][2][3][2] = {{{{0, 0}, {0, 1}, {1, 1}}, {{0, 0}, {1, 1}, {1, 0}}},
                                             {{{0, 0}, {0, 1}, {1, 0}}, {{1, 1}, {1, 0}, {0, 1}}}};

static size_t sample_at(const exi_range_view *view, int row, int column) {
    return (size_t)row * (size_t)view->column_count + (size_t)column;
}

static size_t cell_at(const exi_range_view *view, int row, int column) {
    return (size_t)row * (size_t)(view->column_count - 1) + (size_t)column;
}

/* ---- cells ---- */

static bool is_triangle(const exi_range_view *view, double noise, int row, int column, const int corners[3][2]) {
    for (int i = 0; i < 3; i++) {
        const int *a = corners[i], *b = corners[(i + 1) % 3];
        const double jump = fabs((double)view->depths[sample_at(view, row + a[0], column + a[1])] -
                                 (double)view->depths[sample_at(view, row + b[0], column + b[1])]);
        const double length = hypot((b[0] - a[0]) * view->pitch[1], (b[1] - a[1]) * view->pitch[0]);
        if (!(jump <= STEEPEST * length + 3 * noise)) /* or one of them is missing */
            return false;
    }
    return true;
}

static unsigned char connect_cell(const exi_range_view *view, double noise, int row, int column) {
    int counts[2];
    unsigned char cells[2];
    for (int turned = 0; turned < 2; turned++) {
        const bool first = is_triangle(view, noise, row, column, cell_corners[turned][0]),
                   second = is_triangle(view, noise, row, column, cell_corners[turned][1]);
        counts[turned] = first + second;
        cells[turned] = (unsigned char)((first ? EXI_CELL_FIRST : 0) | (second ? EXI_CELL_SECOND : 0) |
                                        (turned ? EXI_CELL_TURNED : 0));
    }
    const float *low = view->depths + sample_at(view, row, column), *high = low + view->column_count;
    const bool flatter = fabsf(low[1] - high[0]) < fabsf(low[0] - high[1]);
    return counts[1] > counts[0] || (counts[1] == counts[0] && flatter) ? cells[1] : cells[0];
}

/* Calls visit with the samples of every triangle. */
static void visit_triangles(const exi_range_view *view, void (*visit)(void *context, const size_t samples[3]),
                            void *context) {
    for (int row = 0; row + 1 < view->row_count; row++)
        for (int column = 0; column + 1 < view->column_count; column++) {
            const int cell = view->cells[cell_at(view, row, column)];
            for (int i = 0; i < 2; i++) {
                const int(*corners)[2] = cell_corners[(cell & EXI_CELL_TURNED) != 0][i];
                size_t samples[3];
                if (!(cell & (i == 0 ? EXI_CELL_FIRST : EXI_CELL_SECOND)))
                    continue;
                for (int k = 0; k < 3; k++)
                    samples[k] = sample_at(view, row + corners[k][0], column + corners[k][1]);
                visit(context, samples);
            }
        }
}

static void mark_used(void *context, const size_t samples[3]) {
    exi_range_view *view = context;
    for (int k = 0; k < 3; k++) /* marks in the sign of a number that is never negative, which needs no memory */
        view->slants[samples[k]] = -fabsf(view->slants[samples[k]]);
}

void exi_view_connect(exi_range_view *view, double noise) {
    const size_t count = (size_t)view->row_count * (size_t)view->column_count;
    for (int row = 0; row + 1 < view->row_count; row++)
        for (int column = 0; column + 1 < view->column_count; column++)
            view->cells[cell_at(view, row, column)] = connect_cell(view, noise, row, column);
    visit_triangles(view, mark_used, view);
    for (size_t i = 0; i < count; i++) {
        if (!signbit(view->slants[i]))
            view->depths[i] = NAN;
        view->slants[i] = fabsf(view->slants[i]);
    }
}

bool exi_view_look(const exi_range_view *view, double across, double along, double *depth, double *slant,
                   double colour[3]) {
    double c = across / view->pitch[0] - view->first_column, r = along / view->pitch[1] - view->first_row;
    if (!(c >= 0 && r >= 0 && c < view->column_count - 1 && r < view->row_count - 1))
        return false;
    const int column = (int)c, row = (int)r, cell = view->cells[cell_at(view, row, column)];
    const bool turned = cell & EXI_CELL_TURNED;
    c -= column;
    r -= row;
    const int which = turned ? r + c > 1 : r > c;
    if (!(cell & (which == 0 ? EXI_CELL_FIRST : EXI_CELL_SECOND)))
        return false;
    const double weights[2][2][3] = {{{1 - c, c - r, r}, {1 - r, c, r - c}},
                                     {{1 - c - r, c, r}, {c + r - 1, 1 - c, 1 - r}}};
    *depth = *slant = 0;
    for (int i = 0; i < 3; i++) {
        const int *corner = cell_corners[turned][which][i];
        const size_t at = sample_at(view, row + corner[0], column + corner[1]);
        const double weight = weights[turned][which][i];
        *depth += weight * (double)view->depths[at];
        *slant += weight * (double)view->slants[at];
        for (int k = 0; colour && k < 3; k++)
            colour[k] = (i > 0 ? colour[k] : 0) + weight * view->colours[at][k];
    }
    return true;
}

/* ---- meshes ---- */

ex_result exi_coloured_mesh(int vertex_count, const float (*positions)[3], const unsigned char (*colours)[3],
                            int triangle_count, const int (*triangles)[3], ex_mesh **made, ex_error *error) {
    const size_t vertices = (size_t)vertex_count, corners = 3 * (size_t)triangle_count;
    ex_mesh *mesh = ex_mesh_create();
    if (mesh) {
        mesh->positions = exi_array_allocate(3 * vertices, sizeof *mesh->positions);
        mesh->colours = exi_array_allocate(3 * vertices, sizeof *mesh->colours);
        mesh->face_offsets = exi_array_allocate((size_t)triangle_count + 1, sizeof *mesh->face_offsets);
        mesh->corners = exi_array_allocate(corners, sizeof *mesh->corners);
    }
    if (!mesh || !mesh->positions || !mesh->colours || !mesh->face_offsets || !mesh->corners) {
        ex_mesh_destroy(mesh);
        return ex_error_memory(error, "a scanned mesh", vertices * 36 + corners * 6);
    }
    mesh->vertex_count = vertex_count;
    mesh->face_count = triangle_count;
    mesh->corner_count = (int)corners;
    for (size_t i = 0; i < 3 * vertices; i++) {
        mesh->positions[i] = (double)positions[i / 3][i % 3];
        mesh->colours[i] = (float)(colours[i / 3][i % 3] / 255.0);
    }
    for (int f = 0; f <= triangle_count; f++)
        mesh->face_offsets[f] = 3 * f;
    for (size_t i = 0; i < corners; i++)
        mesh->corners[i] = triangles[i / 3][i % 3];
    *made = mesh;
    return EX_OK;
}

typedef struct triangle_list {
    const int *numbers; /* of samples among the vertices; -1: none */
    int (*triangles)[3];
    int count;
} triangle_list;

static void add_triangle(void *context, const size_t samples[3]) {
    triangle_list *list = context;
    for (int k = 0; list->triangles && k < 3; k++)
        list->triangles[list->count][k] = list->numbers[samples[k]];
    list->count++;
}

ex_result exi_view_mesh(const exi_range_view *view, ex_mesh **mesh, ex_error *error) {
    const size_t count = (size_t)view->row_count * (size_t)view->column_count;
    triangle_list list = {.count = 0};
    int vertex_count = 0;
    visit_triangles(view, add_triangle, &list);
    int *numbers = exi_array_allocate(count, sizeof *numbers);
    float(*positions)[3] = exi_array_allocate(count, sizeof *positions);
    unsigned char(*colours)[3] = exi_array_allocate(count, sizeof *colours);
    int(*triangles)[3] = exi_array_allocate((size_t)list.count, sizeof *triangles);
    ex_result result = numbers && positions && colours && triangles
                           ? EX_OK
                           : ex_error_memory(error, "a scanned mesh", count * 20 + (size_t)list.count * 12);
    for (size_t i = 0; result == EX_OK && i < count; i++) {
        const double across = (view->first_column + (int)(i % (size_t)view->column_count)) * view->pitch[0];
        numbers[i] = isnan(view->depths[i]) ? -1 : vertex_count;
        if (numbers[i] < 0)
            continue;
        for (int k = 0; k < 3; k++)
            positions[vertex_count][k] = (float)(across * view->right[k] + (double)view->depths[i] * view->head[k]);
        positions[vertex_count][1] =
            (float)((view->first_row + (int)(i / (size_t)view->column_count)) * view->pitch[1]);
        memcpy(colours[vertex_count++], view->colours[i], 3);
    }
    if (result == EX_OK) {
        list = (triangle_list){.numbers = numbers, .triangles = triangles};
        visit_triangles(view, add_triangle, &list);
        result = exi_coloured_mesh(vertex_count, (const float(*)[3])positions, (const unsigned char(*)[3])colours,
                                   list.count, (const int(*)[3])triangles, mesh, error);
    }
    free(numbers);
    free(positions);
    free(colours);
    free(triangles);
    return result;
}
