/*
 * Stretch of an in-between's triangles, compared with the shape that each would have if it were free.
 *
 * A triangle with edges a, b at the start has S a, S b at the end, up to a rotation; a free triangle would have the
 * edges a' = ((1 - t) I + t S) a and b' at t. Laid out flat, a' = (l, 0) and b' = (m, h), the map from there to its
 * edges p, q in the form has the columns
 *
 *     f = p / l,    g = (q - (m / l) p) / h
 *
 * and the eigenvalues of its metric against the other are the squared singular values of [f g],
 *
 *     lambda = (f.f + g.g) / 2 +- sqrt(((f.f - g.g) / 2)^2 + (f.g)^2).
 *
 * Edges are used instead of the metrics' matrices, since the determinant of a narrow triangle's matrix is a difference
 * of large numbers. A rigid motion changes none of this; only to find flipped triangles, normals are moved by the
 * screw.
 */
#include "author/trajectory/trajectory.h"

#include "author/base/array.h"
#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdlib.h>

/* Triangles measured together; each block counts its flipped ones, whichever thread measures it. */
enum { BLOCK = 1024 };

typedef struct measurement {
    const ex_between *between;
    double t;
    const double *positions;
    double (*screw)[3]; /* the screw's rotation at t */
    double *values;     /* [triangle_count] */
    int *flipped;       /* per block */
} measurement;

/* ---- one triangle ---- */

/* out = ((1 - t) I + t S) edge */
static void stretch_edge(const double s[6], double t, const double edge[3], double out[3]) {
    const double x = edge[0], y = edge[1], z = edge[2], rest = 1 - t;
    out[0] = rest * x + t * (s[0] * x + s[3] * y + s[4] * z);
    out[1] = rest * y + t * (s[3] * x + s[1] * y + s[5] * z);
    out[2] = rest * z + t * (s[4] * x + s[5] * y + s[2] * z);
}

/* Stretch of the edges p, q against a, b; 0 if a and b span no area. */
static double edges_stretch(const double a[3], const double b[3], const double p[3], const double q[3]) {
    double normal[3], f[3], g[3];
    exi_cross(a, b, normal);
    const double l = sqrt(exi_dot3(a, a)), h = sqrt(exi_dot3(normal, normal)) / l, m = exi_dot3(a, b) / l;
    if (!(l > 0 && h > 0))
        return 0;
    for (int i = 0; i < 3; i++) {
        f[i] = p[i] / l;
        g[i] = (q[i] - m * f[i]) / h;
    }
    const double ff = exi_dot3(f, f), gg = exi_dot3(g, g), fg = exi_dot3(f, g);
    const double middle = (ff + gg) / 2, radius = sqrt((ff - gg) * (ff - gg) / 4 + fg * fg);
    if (!(middle + radius < INFINITY)) /* NaN too: it must neither count as small nor break the order */
        return INFINITY;
    const double low = middle - radius > 0 ? middle - radius : 0;
    const double more = fabs(sqrt(middle + radius) - 1), less = fabs(sqrt(low) - 1);
    return more > less ? more : less;
}

static const double *corner(const measurement *m, const double *positions, int triangle, int i) {
    return positions + 3 * (size_t)m->between->triangles[3 * (size_t)triangle + (size_t)i];
}

static void find_edges(const measurement *m, const double *positions, int triangle, double a[3], double b[3]) {
    const double *origin = corner(m, positions, triangle, 0);
    exi_subtract(corner(m, positions, triangle, 1), origin, a);
    exi_subtract(corner(m, positions, triangle, 2), origin, b);
}

/* True if the normal of the edges p, q is more than a right angle away from the start's, rotated to t. */
static bool is_flipped(const measurement *m, int triangle, const double p[3], const double q[3]) {
    const double *whole = m->between->turns + 3 * (size_t)triangle;
    const double part[3] = {m->t * whole[0], m->t * whole[1], m->t * whole[2]};
    double r[3][3], turned[3], wanted[3], normal[3];
    exi_turn_matrix(part, r);
    exi_apply(r, m->between->normals + 3 * (size_t)triangle, turned);
    exi_apply(m->screw, turned, wanted);
    exi_cross(p, q, normal);
    return exi_dot3(normal, wanted) < 0;
}

static void measure_blocks(void *context, int begin, int end) {
    const measurement *m = context;
    const ex_between *between = m->between;
    for (int block = begin; block < end; block++) {
        const int first = block * BLOCK, left = between->triangle_count - first, count = left < BLOCK ? left : BLOCK;
        int flipped = 0;
        for (int i = first; i < first + count; i++) {
            m->values[i] = 0;
            if (!(between->areas[i] > 0))
                continue;
            double a[3], b[3], p[3], q[3], a_alone[3], b_alone[3];
            find_edges(m, between->start, i, a, b);
            find_edges(m, m->positions, i, p, q);
            stretch_edge(between->stretches + 6 * (size_t)i, m->t, a, a_alone);
            stretch_edge(between->stretches + 6 * (size_t)i, m->t, b, b_alone);
            m->values[i] = edges_stretch(a_alone, b_alone, p, q);
            flipped += is_flipped(m, i, p, q);
        }
        m->flipped[block] = flipped;
    }
}

/* ---- percentiles ---- */

static void swap(double *a, double *b) {
    const double c = *a;
    *a = *b;
    *b = c;
}

/*
 * Moves the values of [low, high) so that the one at k is where sorting would put it, with smaller ones before and
 * larger ones after it (Hoare's selection with three parts, so that many equal values cost no more).
 */
static void put_in_place(double *values, size_t low, size_t high, size_t k) {
    while (high - low > 1) {
        const double x = values[low], y = values[low + (high - low) / 2], z = values[high - 1];
        const double pivot = x < y ? (y < z ? y : x < z ? z : x) : (x < z ? x : y < z ? z : y);
        size_t below = low, at = low, above = high; /* [low, below) less, [below, at) equal, [above, high) more */
        while (at < above) {
            if (values[at] < pivot)
                swap(&values[at++], &values[below++]);
            else if (values[at] > pivot)
                swap(&values[at], &values[--above]);
            else
                at++;
        }
        if (k < below)
            high = below;
        else if (k >= above)
            low = above;
        else
            return;
    }
}

/* Interpolates linearly between neighbouring values. Reorders the values. */
static void find_percentiles(double *values, size_t count, double percentiles[4]) {
    static const double parts[4] = {0.5, 0.9, 0.99, 0.999};
    size_t sorted = 0; /* values before it are in place, or smaller */
    for (int i = 0; i < 4; i++) {
        percentiles[i] = 0;
        if (count == 0)
            continue;
        const double place = parts[i] * (double)(count - 1);
        const size_t lower = (size_t)place, upper = lower + 1 < count ? lower + 1 : lower;
        const double rest = place - (double)lower;
        put_in_place(values, sorted, count, lower);
        put_in_place(values, lower, count, upper);
        sorted = lower;
        percentiles[i] = values[lower];
        if (rest > 0 && values[upper] > values[lower])
            percentiles[i] += rest * (values[upper] - values[lower]);
    }
}

/* Copies the values of the triangles with area to `kept`. */
static size_t keep_values(const ex_between *between, const double *values, double *kept) {
    size_t count = 0;
    for (int i = 0; i < between->triangle_count; i++)
        if (between->areas[i] > 0)
            kept[count++] = values[i];
    return count;
}

ex_result ex_between_stretch(const ex_between *between, double t, const double *positions, ex_stretch *stretch,
                             double *values, ex_error *error) {
    if (!between || !positions || !stretch)
        return exi_misuse_error(error, __func__, "no in-between, no positions, or no pointer for the answer");
    const size_t count = (size_t)between->triangle_count, block_count = (count + BLOCK - 1) / BLOCK;
    measurement m = {.between = between, .t = t, .positions = positions};
    double *kept = exi_array_allocate(count, sizeof *kept);
    double *own = values ? NULL : exi_array_allocate(count, sizeof *own);
    m.values = values ? values : own;
    m.flipped = exi_array_allocate(block_count, sizeof *m.flipped);
    ex_result result = EX_OK;
    if (kept && m.values && m.flipped) {
        const double part[3] = {t * between->screw.turn[0], t * between->screw.turn[1], t * between->screw.turn[2]};
        double screw[3][3];
        exi_turn_matrix(part, screw);
        m.screw = screw;
        exi_run(between->tasks, (int)block_count, 1, measure_blocks, &m);
        stretch->flipped = 0;
        for (size_t block = 0; block < block_count; block++)
            stretch->flipped += m.flipped[block];
        find_percentiles(kept, keep_values(between, m.values, kept), stretch->percentiles);
    } else {
        result = ex_error_memory(error, "the stretch of triangles", count * (values ? 1 : 2) * sizeof *kept);
    }
    free(m.flipped);
    free(own);
    free(kept);
    return result;
}
