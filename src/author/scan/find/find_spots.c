/*
 * Finds markers from each vertex's colour distance to the skin. Starting at the extremes, it groups neighbours of
 * similar colour, and drops groups that are too large, too small, too long, not isolated, or too near the edge (Allen,
 * Curless, Popovic 2002, section 2.3). A group extends to half of its colour's distance from the skin, where paint
 * covers half of a sample.
 */
#include "author/base/array.h"
#include "author/scan/find/find.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BINS = 4096 };

static const double pi = 3.14159265358979323846;

double exi_find_share(const exi_finder *f, int v, const double reference[3], double *aside_sq) {
    const float *r = f->residuals[v];
    double along = 0, length_sq = 0, own_sq = 0;
    for (int k = 0; k < 3; k++) {
        along += (double)r[k] * reference[k];
        length_sq += reference[k] * reference[k];
        own_sq += (double)r[k] * (double)r[k];
    }
    const double aside = own_sq - along * along / length_sq;
    *aside_sq = aside > 0 ? aside / length_sq : 0;
    return along / length_sq;
}

/* Chooses the threshold from the mesh: several times the median distance of its vertices, and more than a tan line. */
static double find_threshold(const exi_finder *f) {
    int counts[BINS] = {0}, total = 0, below = 0, bin = 0;
    for (int v = 0; v < f->vertex_count; v++) {
        if (f->states[v] == EXI_FIND_LONE)
            continue;
        const int at = (int)(f->strengths[v] * BINS);
        counts[at < BINS ? at : BINS - 1]++;
        total++;
    }
    while (bin < BINS - 1 && below + counts[bin] <= total / 2)
        below += counts[bin++];
    const double median = (bin + 0.5) / BINS, least = 0.06, most = 0.15;
    const double threshold = 4 * median;
    return threshold < least ? least : threshold > most ? most : threshold;
}

/* ---- the extremes ---- */

typedef struct extreme {
    float strength;
    int vertex;
} extreme;

static int order_extremes(const void *a, const void *b) {
    const extreme *first = a, *second = b;
    if (first->strength != second->strength)
        return first->strength > second->strength ? -1 : 1;
    return first->vertex < second->vertex ? -1 : 1;
}

/* ---- groups ---- */

/* Collects in the queue, from a vertex on, all connected vertices with at least this share of the reference and no
 * other colour, until the area is reached. Returns their number. */
static int grow(exi_finder *f, int seed, const double reference[3], double least, double most_area) {
    int count = 0;
    double area = 0;
    f->stamp++;
    f->stamps[seed] = f->stamp;
    f->queue[count++] = seed;
    for (int i = 0; i < count && area <= most_area; i++) {
        const int v = f->queue[i];
        area += (double)f->areas[v];
        for (int e = f->starts[v]; e < f->starts[v + 1]; e++) {
            const int u = f->others[e];
            double aside_sq;
            if (f->taken[u] || f->stamps[u] == f->stamp || exi_find_share(f, u, reference, &aside_sq) < least ||
                aside_sq > 0.25)
                continue;
            f->stamps[u] = f->stamp;
            f->queue[count++] = u;
        }
    }
    return count;
}

/* Computes the mean of the group in the queue. */
static void average(const exi_finder *f, int count, double reference[3]) {
    double sum[3] = {0}, total = 0;
    for (int i = 0; i < count; i++) {
        const int v = f->queue[i];
        const double area = (double)f->areas[v] + 1e-12;
        for (int k = 0; k < 3; k++)
            sum[k] += area * (double)f->residuals[v][k];
        total += area;
    }
    for (int k = 0; k < 3; k++)
        reference[k] = sum[k] / total;
}

/* Marks the group and its rim as taken: no other group can use them. */
static void take(exi_finder *f, int count, double strength) {
    for (int i = 0; i < count; i++)
        f->taken[f->queue[i]] = 1;
    for (int i = 0; i < count; i++) {
        const int v = f->queue[i];
        for (int e = f->starts[v]; e < f->starts[v + 1]; e++)
            if ((double)f->strengths[f->others[e]] < 0.6 * strength)
                f->taken[f->others[e]] = 1;
    }
}

static bool has_size(const exi_finder *f, int count) {
    double area = 0;
    for (int i = 0; i < count; i++)
        area += (double)f->areas[f->queue[i]];
    const double size = 2 * sqrt(area / pi);
    return size >= f->options.least * f->options.size && size <= f->options.most * f->options.size;
}

static ex_result judge(exi_finder *f, int seed, double threshold, ex_error *error) {
    const double marker = pi / 4 * f->options.size * f->options.size;
    double reference[3] = {(double)f->residuals[seed][0], (double)f->residuals[seed][1], (double)f->residuals[seed][2]};
    int count = grow(f, seed, reference, 0.7, marker); /* an extreme is farther out than its group */
    average(f, count, reference);
    count = grow(f, seed, reference, 0.5, INFINITY);
    const int stamp = f->stamp;
    const double strength =
        sqrt(reference[0] * reference[0] + reference[1] * reference[1] + reference[2] * reference[2]);
    exi_spot_found spot;
    const bool found = strength >= threshold && has_size(f, count) && exi_find_place(f, count, stamp, reference, &spot);
    take(f, count, strength);
    if (!found)
        return EX_OK;
    exi_spot_found *grown = exi_array_grow(f->spots, &f->spot_capacity, (size_t)f->spot_count + 1, sizeof *grown);
    if (!grown)
        return ex_error_memory(error, "the markers found", ((size_t)f->spot_count + 1) * sizeof *grown);
    f->spots = grown;
    f->spots[f->spot_count++] = spot;
    return EX_OK;
}

ex_result exi_find_spots(exi_finder *f, ex_error *error) {
    const double threshold = f->options.threshold > 0 ? f->options.threshold : find_threshold(f);
    ex_result result = EX_OK;
    int count = 0, at = 0;
    for (int v = 0; v < f->vertex_count; v++)
        count += (double)f->strengths[v] >= threshold;
    extreme *extremes = exi_array_allocate((size_t)count, sizeof *extremes);
    f->taken = calloc((size_t)f->vertex_count + 1, 1);
    if (!extremes || !f->taken) {
        free(extremes);
        return ex_error_memory(error, "a scan's markers", (size_t)count * sizeof *extremes);
    }
    for (int v = 0; v < f->vertex_count; v++)
        if ((double)f->strengths[v] >= threshold)
            extremes[at++] = (extreme){f->strengths[v], v};
    qsort(extremes, (size_t)count, sizeof *extremes, order_extremes);
    for (int i = 0; i < count && result == EX_OK; i++)
        if (!f->taken[extremes[i].vertex])
            result = judge(f, extremes[i].vertex, threshold, error);
    free(extremes);
    return result;
}
