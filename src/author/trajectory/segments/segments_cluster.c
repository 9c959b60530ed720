/*
 * Clusters triangles that rotate alike: mean shift (Comaniciu and Meer) over the rotation vectors of all examples, 3 K
 * numbers per triangle, weighted by area.
 *
 * The kernel is a Gaussian of half the bandwidth: two parts of similar area whose rotations differ by more than the
 * bandwidth each have a maximum of the density, closer ones share one. Triangles are first gathered in the cells of a
 * grid, an eighth of the bandwidth wide, so that the work is linear in the triangles. If that gives more than CELLS
 * cells, as with many examples of soft motion, the grid is made coarser.
 */
#include "author/base/array.h"
#include "author/trajectory/matrix.h"
#include "author/trajectory/segments/segments.h"
#include "runtime/base/functions.inl"
#include "runtime/base/memory.h"
#include "runtime/base/result.h"

#include <stdlib.h>

#define CELLS      1024
#define STEPS      200
#define DEGREES    20.0
#define TO_RADIANS 0.017453292519943295
#define LEAST_SIDE 1e-6

typedef struct cells {
    int dimension, count;
    int *table;      /* [TABLE]: cell + 1, 0: free */
    int *places;     /* [CELLS][dimension] on the grid */
    double *areas;   /* [CELLS] */
    double *means;   /* [CELLS][dimension] */
    double *modes;   /* [CELLS][dimension] */
    double *heights; /* [CELLS]: density at the mode */
    int *place;      /* [dimension]: scratch memory */
    double width;    /* of the kernel */
} cells;

#define TABLE (4 * CELLS)

static double coordinate(const exi_segments_input *in, int example, int triangle, int k) {
    const ex_between *b = in->betweens[example];
    return b ? b->turns[3 * (size_t)triangle + (size_t)k] : 0;
}

/* Returns the cell of c->place, adding it if it is new; -1: there are too many. */
static int find_cell(cells *c) {
    uint64_t hash = 1469598103934665603u;
    for (int k = 0; k < c->dimension; k++)
        hash = (hash ^ (uint64_t)(int64_t)c->place[k]) * 1099511628211u;
    for (size_t slot = (hash ^ hash >> 32) % TABLE;; slot = (slot + 1) % TABLE) {
        int cell = c->table[slot] - 1;
        size_t size = (size_t)c->dimension * sizeof *c->place;
        if (cell >= 0 && memcmp(&c->places[(size_t)cell * (size_t)c->dimension], c->place, size) == 0)
            return cell;
        if (cell >= 0)
            continue;
        if (c->count == CELLS)
            return -1;
        memcpy(&c->places[(size_t)c->count * (size_t)c->dimension], c->place, size);
        c->table[slot] = ++c->count;
        return c->count - 1;
    }
}

/* Gathers triangles in cells `side` wide. False if there are too many cells. */
static bool gather(const exi_segments_input *in, cells *c, double side, int *clusters) {
    c->count = 0;
    memset(c->table, 0, TABLE * sizeof *c->table);
    memset(c->areas, 0, CELLS * sizeof *c->areas);
    memset(c->means, 0, CELLS * (size_t)c->dimension * sizeof *c->means);
    for (int t = 0; t < in->any->triangle_count; t++) {
        double area = in->any->areas[t];
        clusters[t] = -1;
        if (area == 0)
            continue;
        for (int k = 0; k < c->dimension; k++)
            c->place[k] = (int)floor(coordinate(in, k / 3, t, k % 3) / side + 0.5); /* rest is in the middle */
        int cell = find_cell(c);
        if (cell < 0)
            return false;
        clusters[t] = cell;
        c->areas[cell] += area;
        for (int k = 0; k < c->dimension; k++)
            c->means[cell * c->dimension + k] += area * coordinate(in, k / 3, t, k % 3);
    }
    for (int i = 0; i < c->count * c->dimension; i++)
        c->means[i] /= c->areas[i / c->dimension];
    return true;
}

static double distance_sq(const double *a, const double *b, int count) {
    double sum = 0;
    for (int k = 0; k < count; k++)
        sum += (a[k] - b[k]) * (a[k] - b[k]);
    return sum;
}

/* Climbs from the means of cells to maxima of the density; next, the scratch memory of a step, follows the modes. */
static void climb(void *context, int begin, int end) {
    cells *c = context;
    double width_sq = c->width * c->width;
    for (int i = begin; i < end; i++) {
        double *x = &c->modes[(size_t)i * (size_t)c->dimension];
        double *next = &c->modes[(size_t)(CELLS + i) * (size_t)c->dimension];
        memcpy(x, &c->means[(size_t)i * (size_t)c->dimension], (size_t)c->dimension * sizeof *x);
        for (int step = 0; step < STEPS; step++) {
            double height = 0;
            memset(next, 0, (size_t)c->dimension * sizeof *next);
            for (int j = 0; j < c->count; j++) {
                const double *mean = &c->means[(size_t)j * (size_t)c->dimension];
                double far_sq = distance_sq(x, mean, c->dimension) / width_sq;
                double weight = far_sq < 32 ? c->areas[j] * exi_exp(-far_sq / 2) : 0;
                height += weight;
                for (int k = 0; k < c->dimension && weight > 0; k++)
                    next[k] += weight * mean[k];
            }
            for (int k = 0; k < c->dimension; k++)
                next[k] /= height;
            double moved_sq = distance_sq(x, next, c->dimension);
            memcpy(x, next, (size_t)c->dimension * sizeof *x);
            c->heights[i] = height;
            if (moved_sq < 1e-6 * width_sq)
                break;
        }
    }
}

/* Joins cells whose modes are no farther apart than the kernel is wide into one cluster, the highest mode first. Modes
 * become indices into the list of clusters. */
static int join_modes(const cells *c, int *labels) {
    int count = 0, order[CELLS], leaders[CELLS];
    for (int i = 0; i < c->count; i++) {
        int at = i;
        for (; at > 0 && c->heights[order[at - 1]] < c->heights[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    for (int k = 0; k < c->count; k++) {
        int i = order[k], found = 0;
        while (found < count && distance_sq(&c->modes[i * c->dimension], &c->modes[leaders[found] * c->dimension],
                                            c->dimension) > c->width * c->width)
            found++;
        if (found == count)
            leaders[count++] = i;
        labels[i] = found;
    }
    return count;
}

static bool allocate(cells *c) {
    size_t d = (size_t)c->dimension;
    c->table = exi_array_allocate(TABLE, sizeof *c->table);
    c->places = exi_array_allocate(CELLS * d, sizeof *c->places);
    c->areas = exi_array_allocate(CELLS, sizeof *c->areas);
    c->means = exi_array_allocate(CELLS * d, sizeof *c->means);
    c->modes = exi_array_allocate(2 * CELLS * d, sizeof *c->modes);
    c->heights = exi_array_allocate(CELLS, sizeof *c->heights);
    c->place = exi_array_allocate(d, sizeof *c->place);
    return c->table && c->places && c->areas && c->means && c->modes && c->heights && c->place;
}

static void release(cells *c) {
    free(c->table);
    free(c->places);
    free(c->areas);
    free(c->means);
    free(c->modes);
    free(c->heights);
    free(c->place);
}

ex_result exi_segments_cluster(const exi_segments_input *in, int *clusters, ex_error *error) {
    double bandwidth = (in->options->segment_angle > 0 ? in->options->segment_angle : DEGREES) * TO_RADIANS;
    cells c = {.dimension = 3 * in->example_count, .width = bandwidth / 2};
    int labels[CELLS];
    bool allocated = allocate(&c);
    if (allocated) {
        /* a place on the grid must fit in an int, however narrow the kernel */
        double side = bandwidth / 8 > LEAST_SIDE ? bandwidth / 8 : LEAST_SIDE;
        while (!gather(in, &c, side, clusters))
            side *= 2;
        exi_run(in->any->tasks, c.count, 16, climb, &c);
        join_modes(&c, labels);
        for (int t = 0; t < in->any->triangle_count; t++)
            clusters[t] = clusters[t] < 0 ? -1 : labels[clusters[t]];
    }
    release(&c);
    return allocated ? EX_OK : ex_error_memory(error, "clusters of rotations", CELLS * 100 * (size_t)c.dimension);
}
