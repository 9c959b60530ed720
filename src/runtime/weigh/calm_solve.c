/*
 * The solve of the calm weigher. With K the rounded distances between points, B the plane's basis and F the required
 * weights:
 *
 *   K r + B c + 1 a = F,    1' r = 0,    B' r = 0
 *
 * -K is positive definite where 1' r = 0 (Schoenberg, 1938: distances are conditionally negative definite), as long as
 * the rounding, which only changes the diagonal, is not too large. Differences to the first point take the constant
 * out: for i and j from 1 on,
 *
 *   G_ij = K_i0 + K_0j - K_ij - K_00,    G r = B~ c - F~,    B~' G^-1 B~ c = B~' G^-1 F~
 *
 * with B~ and F~ relative to row 0. G is positive definite and solved by Cholesky's method.
 */
#include "runtime/base/dense.h"
#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/weigh/calm.h"
#include "runtime/weigh/calm.inl"
#include "runtime/weigh/plane.h"

#include <math.h>
#include <string.h>

/* The radius of rounding as a share of the distance to the nearest other point, per unit of overshoot, and at most.
 * Measured in one dimension, the rounding's own overshoot is 0.05 at a share of 0.25. */
static const double rounding = 2.5, rounding_most = 0.5;

double exi_calm_share(double overshoot) {
    return fmin(rounding * overshoot, rounding_most);
}

typedef struct scratch {
    double *distances; /* [n][n] */
    double *nearest;   /* [n] */
    double *system;    /* [n - 1][n - 1 + rank + m]: G | B~ | F~, then | X_B | X_F */
    double *rows;      /* [pseudo_count][m]: required weights of pseudo-examples, before the bound */
    double *fit;       /* [s][s + m]: the small system, and [1 + s][m]: its result */
    double *unit;      /* [m] */
    double *plane;     /* exi_plane_work */
    void *memory;
    size_t size;
} scratch;

static ex_result open_scratch(const ex_weigher *w, size_t columns, const ex_allocator *allocator, scratch *sc,
                              ex_error *error) {
    const size_t n = (size_t)exi_point_count(w), m = (size_t)w->example_count, s = (size_t)w->scalar_count;
    exi_size total = {0};
    const size_t distances = exi_size_add(&total, n * n, sizeof(double), 8);
    const size_t nearest = exi_size_add(&total, n, sizeof(double), 8);
    const size_t system = exi_size_add(&total, n * (n + columns), sizeof(double), 8);
    const size_t rows = exi_size_add(&total, (size_t)w->pseudo_count * m, sizeof(double), 8);
    const size_t fit = exi_size_add(&total, s * (s + m) + (1 + s) * m, sizeof(double), 8);
    const size_t unit = exi_size_add(&total, m, sizeof(double), 8);
    const size_t plane = exi_size_add(&total, exi_plane_work(w), sizeof(double), 8);
    char *memory = total.overflow ? NULL : exi_allocate(allocator, total.bytes);
    if (!memory)
        return ex_error_memory(error, "solving the space", total.bytes);
    *sc = (scratch){.distances = (double *)(void *)(memory + distances),
                    .nearest = (double *)(void *)(memory + nearest),
                    .system = (double *)(void *)(memory + system),
                    .rows = (double *)(void *)(memory + rows),
                    .fit = (double *)(void *)(memory + fit),
                    .unit = (double *)(void *)(memory + unit),
                    .plane = (double *)(void *)(memory + plane),
                    .memory = memory,
                    .size = total.bytes};
    return EX_OK;
}

/* ---- required weights ---- */

static double remainder_of(const double *row, int m) {
    double remainder = 1;
    for (int i = 0; i < m; i++)
        remainder -= row[i];
    return fabs(remainder) < 1e-9 ? 0 : remainder; /* rounding, where they sum to 1 */
}

/*
 * Weights that a pseudo-example was given are what it must have after the bound was kept, so the solve needs the
 * weights before. Where the bound leaves them alone they are the same; it is raised for given weights that it would
 * change. A bound near 0 changes all but 0 and 1: there the weights before are found.
 */
static double raise_bound(const ex_weigher *w, double bound) {
    const double *row = exi_table(w, w->pseudo_rows);
    for (int p = 0; p < w->pseudo_count; p++, row += w->example_count) {
        exi_calm_sums sums = {0};
        if (exi_table(w, w->pseudo_given)[p] == 0)
            continue;
        for (int i = 0; i < w->example_count; i++)
            exi_calm_add(&sums, row[i], INFINITY);
        exi_calm_add(&sums, remainder_of(row, w->example_count), INFINITY);
        const double alone = -sums.lowest / EXI_CALM_KNEE;
        const double together =
            sums.minus * sums.squares / (EXI_CALM_KNEE * EXI_CALM_KNEE * sums.plus * sums.plus) * (1 + 1e-12);
        bound = fmax(bound, fmax(alone, together));
    }
    return bound;
}

/*
 * A given weight q comes out of a weight v by t v + (1 - t) v^2/((v + d) S) = q, with t the share that is left free, d
 * EXI_CALM_DRAW, and S the sum of v^2/(v + d) over all weights and the remainder. Below 0 it is t v = q.
 */
static double before(double q, double t, double inverse_sum) {
    const double d = EXI_CALM_DRAW, a = t + (1 - t) * inverse_sum, b = q - t * d;
    if (!(q > 0))
        return q < 0 ? q / t : 0;
    return (b + sqrt(b * b + 4 * a * q * d)) / (2 * a);
}

/* Finds the weights before the bound for given ones [m]: those of the sum S that gives them a sum of 1. */
static void find_before(double *row, const double *given, int m, double bound) {
    const double t = bound / EXI_CALM_FREE;
    const double remainder = remainder_of(given, m);
    double low = 0, high = 2;
    for (int round = 0; round < 200 && high - low > 1e-16 * high; round++) {
        const double sum = (low + high) / 2;
        double total = before(remainder, t, 1 / sum);
        for (int i = 0; i < m; i++)
            total += before(given[i], t, 1 / sum);
        *(total < 1 ? &low : &high) = sum;
    }
    for (int i = 0; i < m; i++)
        row[i] = before(given[i], t, 2 / (low + high));
}

/* Fills rows, and sets the bound. */
static void require(ex_weigher *w, double *rows) {
    const size_t m = (size_t)w->example_count;
    const double *given = exi_table(w, w->pseudo_rows);
    double *bound = exi_calm_bound(w);
    *bound = raise_bound(w, exi_own_parameters(w)[0]);
    for (size_t p = 0; p < (size_t)w->pseudo_count; p++) {
        if (exi_table(w, w->pseudo_given)[p] != 0 && *bound < EXI_CALM_FREE)
            find_before(rows + p * m, given + p * m, (int)m, *bound);
        else
            memcpy(rows + p * m, given + p * m, m * sizeof *rows);
    }
}

/* Row j of F. */
static const double *required(const ex_weigher *w, const scratch *sc, int j) {
    const int m = w->example_count;
    if (j >= m)
        return sc->rows + (size_t)(j - m) * (size_t)m;
    memset(sc->unit, 0, (size_t)m * sizeof *sc->unit);
    sc->unit[j] = 1;
    return sc->unit;
}

/* ---- the system ---- */

static double kernel(const scratch *sc, const double *radii, int n, int i, int j) {
    return exi_calm_kernel(sc->distances[(size_t)i * (size_t)n + (size_t)j], radii[j]);
}

/* Writes G into rows of `width`. Kernels of different points are plain distances, whatever the rounding. */
static void set_matrix(const ex_weigher *w, const scratch *sc, const double *radii, double *system, size_t width) {
    const int n = exi_point_count(w);
    const double *first = sc->distances, corner = kernel(sc, radii, n, 0, 0);
    for (int i = 1; i < n; i++) {
        double *row = system + (size_t)(i - 1) * width;
        const double *distances = sc->distances + (size_t)i * (size_t)n;
        for (int j = 1; j < n; j++)
            row[j - 1] = first[i] + first[j] - distances[j] - corner;
        row[i - 1] = 2 * first[i] - kernel(sc, radii, n, i, i) - corner;
    }
}

static void set_sides(const ex_weigher *w, const scratch *sc, const exi_plane_basis *b, size_t width) {
    const int n = exi_point_count(w), m = w->example_count;
    const double *row = required(w, sc, 0);
    for (int j = 1; j < n; j++)
        memcpy(sc->system + (size_t)(j - 1) * width + n - 1 + b->rank, row, (size_t)m * sizeof *row);
    for (int j = 1; j < n; j++) {
        double *side = sc->system + (size_t)(j - 1) * width + n - 1;
        row = required(w, sc, j);
        for (int i = 0; i < m; i++)
            side[b->rank + i] = row[i] - side[b->rank + i];
        for (int a = 0; a < b->rank; a++)
            side[a] = b->u[(size_t)a * (size_t)n + (size_t)j] - b->u[(size_t)a * (size_t)n];
    }
}

/* c from B~' X_B c = B~' X_F, [rank][m]. small [rank][rank + m]. Returns false if that is singular. */
static bool fit_plane(const ex_weigher *w, const scratch *sc, const exi_plane_basis *b, size_t width, double *small,
                      double *c) {
    const int n = exi_point_count(w), m = w->example_count, rank = b->rank;
    const size_t columns = (size_t)rank + (size_t)m;
    memset(small, 0, (size_t)rank * columns * sizeof *small);
    for (int j = 1; j < n; j++) {
        const double *x = sc->system + (size_t)(j - 1) * width + n - 1;
        for (int a = 0; a < rank; a++) {
            const double u = b->u[(size_t)a * (size_t)n + (size_t)j] - b->u[(size_t)a * (size_t)n];
            double *row = small + (size_t)a * columns;
            for (int k = 0; k < rank; k++)
                row[k] += u * x[k];
            for (int i = 0; i < m; i++)
                row[rank + i] += u * x[rank + i];
        }
    }
    if (rank > 0 && exi_solve(small, rank, m) == 0)
        return false;
    for (int a = 0; a < rank; a++)
        memcpy(c + (size_t)a * (size_t)m, small + (size_t)a * columns + rank, (size_t)m * sizeof *c);
    return true;
}

/* target += factor * source */
static inline void add_row(double *restrict target, const double *restrict source, double factor, int count) {
    for (int i = 0; i < count; i++)
        target[i] += factor * source[i];
}

/* r = X_B c - X_F, and r_0 that brings the sum to 0. */
static void set_radial(const ex_weigher *w, const scratch *sc, const exi_plane_basis *b, size_t width, const double *c,
                       double *radial) {
    const int n = exi_point_count(w), m = w->example_count;
    memset(radial, 0, (size_t)m * sizeof *radial);
    for (int j = 1; j < n; j++) {
        const double *x = sc->system + (size_t)(j - 1) * width + n - 1;
        double *row = radial + (size_t)j * (size_t)m;
        for (int i = 0; i < m; i++)
            row[i] = -x[b->rank + i];
        for (int a = 0; a < b->rank; a++)
            add_row(row, c + (size_t)a * (size_t)m, x[a], m);
        add_row(radial, row, -1, m);
    }
}

/* a = F_0 - K_0 r - B_0 c */
static void set_constant(const ex_weigher *w, const scratch *sc, const exi_plane_basis *b, const exi_cardinal *t,
                         const double *c, double *constant) {
    const int n = exi_point_count(w), m = w->example_count;
    memcpy(constant, required(w, sc, 0), (size_t)m * sizeof *constant);
    for (int j = 0; j < n; j++)
        add_row(constant, t->radial + (size_t)j * (size_t)m, -kernel(sc, t->inverse_radii, n, 0, j), m);
    for (int a = 0; a < b->rank; a++)
        add_row(constant, c + (size_t)a * (size_t)m, -b->u[(size_t)a * (size_t)n], m);
}

/* Solves for G | B~ | F~ in system. Columns of F~ are mostly 0, and the solve uses that if they are the last. A
 * rounding that is too large for the points is halved, and at last left out. */
static ex_result factor(const ex_weigher *w, const scratch *sc, const exi_plane_basis *b, double *radii,
                        ex_error *error) {
    const int n = exi_point_count(w), sides = w->example_count + b->rank;
    const size_t width = (size_t)(n - 1) + (size_t)sides;
    double share = exi_calm_share(exi_own_parameters(w)[0]);
    for (int attempt = 0; attempt < 6; attempt++, share = attempt < 5 ? share / 2 : 0) {
        for (int j = 0; j < n; j++)
            radii[j] = share * sc->nearest[j];
        set_matrix(w, sc, radii, sc->system, width);
        set_sides(w, sc, b, width);
        if (exi_solve_definite(sc->system, n - 1, sides))
            return EX_OK;
    }
    return ex_error_set(error, EX_ERROR_SINGULAR,
                        "the space cannot be solved: some examples are nearly at the same place; move or remove one");
}

ex_result exi_calm_solve(ex_weigher *w, const char *const *names, const ex_allocator *allocator, ex_error *error) {
    const size_t m = (size_t)w->example_count, s = (size_t)w->scalar_count;
    scratch sc;
    ex_result result = open_scratch(w, m + s, allocator, &sc, error);
    if (result != EX_OK)
        return result;
    const exi_cardinal t = exi_cardinal_tables(w);
    double *small = sc.fit, *constant = small + s * (s + m), *c = constant + m;
    require(w, sc.rows);
    result = exi_measure_places(w, names, sc.distances, sc.nearest, error);
    if (result == EX_OK) {
        exi_plane_mean(w, t.mean);
        const exi_plane_basis b = exi_plane_find(w, t.mean, sc.plane);
        const size_t width = (size_t)(exi_point_count(w) - 1) + m + (size_t)b.rank;
        result = factor(w, &sc, &b, t.inverse_radii, error);
        if (result == EX_OK && !fit_plane(w, &sc, &b, width, small, c))
            result =
                ex_error_set(error, EX_ERROR_SINGULAR, "the space cannot be solved: spread the examples more evenly");
        if (result == EX_OK) {
            set_radial(w, &sc, &b, width, c, t.radial);
            set_constant(w, &sc, &b, &t, c, constant);
            exi_plane_set(w, &t, &b, constant, c);
        }
    }
    exi_release(allocator, sc.memory, sc.size);
    return result;
}

ex_result exi_calm_condition(const ex_weigher *w, const ex_allocator *allocator, double *condition, ex_error *error) {
    const int n = exi_point_count(w);
    scratch sc;
    ex_result result = open_scratch(w, 2 * (size_t)n, allocator, &sc, error);
    if (result != EX_OK)
        return result;
    result = exi_measure_places(w, NULL, sc.distances, sc.nearest, error);
    if (result == EX_OK && n > 1) {
        set_matrix(w, &sc, exi_cardinal_tables(w).inverse_radii, sc.system, (size_t)(n - 1));
        *condition = exi_condition(sc.system, n - 1, sc.system + (size_t)(n - 1) * (size_t)(n - 1));
    }
    exi_release(allocator, sc.memory, sc.size);
    return result;
}
