/*
 * Solves of the gaussian weigher (gaussian.c): (Phi + ridge I) X = F over all points, and over the points of every set.
 *
 * With individual falloffs, Phi is not symmetric, and can be singular although all points are well apart (falloffs
 * 0.56, 0.975 and 0.69 at 0, 0.5 and 0.97). If its condition number in the 1-norm is above EX_CONDITION_LIMIT, a ridge
 * grows by factors of ten until that of Phi + ridge I is not; this ends, since a ridge above the number of points
 * dominates every row. The point to blame: the near-null right singular vector of Phi shows which points can hardly be
 * told apart, and among those, the one that reaches farthest beyond its neighbour covers the others.
 */
#include "runtime/base/dense.h"
#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/weigh/gaussian.h"

#include <math.h>
#include <string.h>

/* Inverses of the first and last ridge tried: powers of ten that a double holds exactly. */
static const double ridge_part = 1e12, ridge_part_end = 1e-9;
/* A point takes part in the near-null vector if its entry is at least this fraction of the largest. */
static const double takes_part = 0.3;
/* A pivot of a metric below this fraction of its diagonal counts as 0. */
static const double definite = 1e-12;

/* Scratch of the solves. */
typedef struct scratch {
    double *phi;     /* [n][n] */
    double *matrix;  /* [largest][largest]: rows and columns of phi for a set */
    double *inverse; /* [n][2 n] */
    double *nearest; /* [n] */
    double *rows;    /* [pseudo_count][m]: F below the identity */
    double *vector;  /* [2][n] */
    double *metric;  /* [2 s + 1][s] */
    int *points;     /* [n]: the points of a set */
    double common;   /* the default falloff */
    size_t size;
    void *memory;
} scratch;

/* One of the systems. */
typedef struct linear_system {
    const int *points; /* [size], or NULL: all of them */
    int size, count;   /* number of points, and of examples among them */
    double *matrix;    /* [size][size] */
    double *radial;    /* [size][count] */
} linear_system;

static const uint32_t *set_sizes(const ex_weigher *w) {
    return exi_weigher_sets(w) + (size_t)w->set_count * exi_set_words(w->example_count);
}

/* whole: true for the solves, false for a condition number only. */
static ex_result open_scratch(const ex_weigher *w, bool whole, const ex_allocator *allocator, scratch *sc,
                              ex_error *error) {
    const size_t n = (size_t)exi_point_count(w), m = (size_t)w->example_count, p = (size_t)w->pseudo_count;
    const size_t s = w->flags & EXI_WEIGHER_METRICS ? (size_t)w->scalar_count : 0;
    size_t largest = 0;
    for (int i = 0; whole && i < w->set_count; i++)
        largest = set_sizes(w)[i] + p > largest ? set_sizes(w)[i] + p : largest;
    exi_size total = {0};
    const size_t phi = exi_size_add(&total, n * n, sizeof(double), 8);
    const size_t inverse = exi_size_add(&total, 2 * n * n, sizeof(double), 8);
    const size_t matrix = exi_size_add(&total, largest * largest, sizeof(double), 8);
    const size_t nearest = exi_size_add(&total, whole ? n : 0, sizeof(double), 8);
    const size_t rows = exi_size_add(&total, whole ? p * m : 0, sizeof(double), 8);
    const size_t vector = exi_size_add(&total, whole ? 2 * n : 0, sizeof(double), 8);
    const size_t metric = exi_size_add(&total, whole ? (2 * s + 1) * s : 0, sizeof(double), 8);
    const size_t points = exi_size_add(&total, whole ? n : 0, sizeof(int), 8);
    *sc = (scratch){.size = total.bytes, .memory = total.overflow ? NULL : exi_allocate(allocator, total.bytes)};
    if (!sc->memory)
        return ex_error_memory(error, "solving the space", total.bytes);
    char *memory = sc->memory;
    sc->phi = (double *)(void *)(memory + phi);
    sc->inverse = (double *)(void *)(memory + inverse);
    sc->matrix = (double *)(void *)(memory + matrix);
    sc->nearest = (double *)(void *)(memory + nearest);
    sc->rows = (double *)(void *)(memory + rows);
    sc->vector = (double *)(void *)(memory + vector);
    sc->metric = (double *)(void *)(memory + metric);
    sc->points = (int *)(void *)(memory + points);
    return EX_OK;
}

/* ---- falloffs and metrics ---- */

/* Falloff along axis a, in the order of the definition. */
static double true_falloff(const ex_weigher *w, const exi_gaussian *t, double common, int point, int a) {
    const double given = t->falloffs[(size_t)point * (size_t)w->axis_count + (size_t)a];
    return given > 0 ? given : common;
}

static void set_falloffs(const ex_weigher *w, const exi_gaussian *t, double common) {
    for (int k = 0; k < exi_point_count(w); k++) {
        double *scalar = t->inverse + (size_t)k * (size_t)w->axis_count, *rotation = scalar + w->scalar_count;
        for (int a = 0; a < w->axis_count; a++) {
            const double falloff = true_falloff(w, t, common, k, a);
            if (exi_axes(w)[a].kind == EX_AXIS_SCALAR)
                *scalar++ = 1 / falloff;
            else
                *rotation++ = exi_axes(w)[a].true_scale / falloff;
        }
    }
}

/* Computes M = U' U with rows of U from the diagonal on; false if M is not positive definite. */
static bool factor(const double *metric, int s, double *u) {
    const double *first = u;
    for (int i = 0; i < s; i++)
        for (int j = i; j < s; j++) {
            double sum = metric[(size_t)i * (size_t)s + (size_t)j];
            const double *row = first;
            for (int k = 0; k < i; row += s - k++)
                sum -= row[i - k] * row[j - k];
            if (i == j && !(sum > definite * metric[(size_t)i * (size_t)s + (size_t)i]))
                return false;
            *u = i == j ? sqrt(sum) : sum / row[0];
            u++;
        }
    return true;
}

/* Points without a metric get their falloffs on the diagonal, so that evaluation need not distinguish. */
static ex_result set_factors(const ex_weigher *w, const exi_gaussian *t, const char *const *names, ex_error *error) {
    const int s = w->scalar_count;
    for (int k = 0; t->metrics && k < exi_point_count(w); k++) {
        const double *metric = t->metrics + (size_t)k * (size_t)s * (size_t)s;
        const double *inverse = t->inverse + (size_t)k * (size_t)w->axis_count;
        double *u = t->factors + (size_t)k * exi_factor_size(w);
        bool given = false;
        for (size_t i = 0; i < (size_t)s * (size_t)s; i++)
            given = given || metric[i] != 0;
        for (int a = 0; !given && a < s; u += s - a++)
            u[0] = inverse[a];
        if (given && !factor(metric, s, u)) {
            char point[200];
            exi_point_text(names, w->example_count, k, point, sizeof point);
            return ex_error_set(error, EX_ERROR_ARGUMENT, "%s: its metric is not positive definite", point);
        }
    }
    return EX_OK;
}

/* Returns a point's falloff in its widest direction. */
static double largest_falloff(const ex_weigher *w, const exi_gaussian *t, const scratch *sc, int point) {
    const size_t s = (size_t)w->scalar_count;
    double largest = 0;
    bool metric = false;
    for (size_t i = 0; t->metrics && i < s * s; i++)
        metric = metric || t->metrics[(size_t)point * s * s + i] != 0;
    for (int a = 0; a < w->axis_count; a++) {
        const double falloff = true_falloff(w, t, sc->common, point, a);
        if (!(metric && exi_axes(w)[a].kind == EX_AXIS_SCALAR) && falloff > largest)
            largest = falloff;
    }
    if (!metric)
        return largest;
    const double *u = t->factors + (size_t)point * exi_factor_size(w);
    double *columns = sc->metric, *values = columns + 2 * s * s;
    memset(columns, 0, s * s * sizeof *columns);
    for (size_t i = 0; i < s; i++) /* columns as rows: the singular values are the same */
        for (size_t j = i; j < s; j++)
            columns[i * s + j] = *u++;
    exi_svd(columns, (int)s, (int)s, columns + s * s, values);
    for (size_t i = 0; i < s; i++)
        largest = 1 / values[i] > largest ? 1 / values[i] : largest;
    return largest;
}

/* ---- the point to blame ---- */

static int point_of(const linear_system *y, int i) {
    return y->points ? y->points[i] : i;
}

/*
 * Finds the near-null right singular vector by inverse iteration. The inverse of the system with its ridge is
 * available; if the smallest singular value is isolated, every column of it is nearly that vector, and the longest most
 * closely.
 */
static const double *near_null(const scratch *sc, int size) {
    const size_t n = (size_t)size, width = 2 * n;
    const double *inverse = sc->inverse + n;
    double *x = sc->vector, *y = x + n, most = -1;
    size_t longest = 0;
    for (size_t j = 0; j < n; j++) {
        double sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += fabs(inverse[i * width + j]);
        longest = sum > most ? j : longest;
        most = sum > most ? sum : most;
    }
    for (size_t i = 0; i < n; i++)
        x[i] = inverse[i * width + longest];
    for (int pass = 0; pass < 3; pass++) {
        double size_sq = 0;
        for (size_t i = 0; i < n; i++)
            size_sq += x[i] * x[i];
        memset(y, 0, n * sizeof *y);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++)
                y[j] += inverse[i * width + j] * x[i] / sqrt(size_sq);
        for (size_t i = 0; i < n; i++) {
            x[i] = 0;
            for (size_t j = 0; j < n; j++)
                x[i] += inverse[i * width + j] * y[j];
        }
    }
    return x;
}

static void blame(const ex_weigher *w, const exi_gaussian *t, const scratch *sc, const linear_system *y,
                  exi_ridge_record *record) {
    const double *x = near_null(sc, y->size);
    double largest = 0, worst = -1;
    for (int i = 0; i < y->size; i++)
        largest = fabs(x[i]) > largest ? fabs(x[i]) : largest;
    for (int i = 0; i < y->size; i++) {
        if (!(fabs(x[i]) >= takes_part * largest))
            continue;
        double nearest = INFINITY;
        for (int j = 0; j < y->size; j++) {
            double d = exi_feature_distance(w, exi_features(w, point_of(y, i)), exi_features(w, point_of(y, j)));
            nearest = j != i && d < nearest ? d : nearest;
        }
        const double falloff = largest_falloff(w, t, sc, point_of(y, i));
        if (falloff / nearest > worst) {
            worst = falloff / nearest;
            record->point = point_of(y, i);
            record->falloff = falloff;
        }
    }
}

/* ---- solves ---- */

/* The diagonal of Phi is 1, so that a ridge tried before need not be subtracted. */
static double condition_with(const scratch *sc, const linear_system *y, double ridge) {
    const size_t step = (size_t)y->size + 1;
    for (size_t i = 0; i < (size_t)y->size; i++)
        y->matrix[i * step] = 1 + ridge;
    return exi_condition(y->matrix, y->size, sc->inverse);
}

/* X = (Phi + ridge I)^-1 F; the rows of F come after an identity. */
static void apply_inverse(const scratch *sc, const linear_system *y) {
    const size_t n = (size_t)y->size, m = (size_t)y->count;
    for (size_t i = 0; i < n; i++) {
        const double *inverse = sc->inverse + (2 * i + 1) * n;
        double *x = y->radial + i * m;
        memcpy(x, inverse, m * sizeof *x);
        for (size_t j = m; j < n; j++)
            for (size_t k = 0; k < m; k++)
                x[k] += inverse[j] * sc->rows[(j - m) * m + k];
    }
}

/* F is in sc->rows. record receives the result. */
static ex_result solve_system(const ex_weigher *w, const exi_gaussian *t, const scratch *sc, const linear_system *y,
                              exi_ridge_record *record, ex_error *error) {
    double condition = condition_with(sc, y, 0);
    *record = (exi_ridge_record){.ridge = w->ridge, .certainty = 1 / condition, .point = -1};
    if (w->ridge > 0) {
        condition = condition_with(sc, y, w->ridge);
    } else if (!(condition <= EX_CONDITION_LIMIT)) {
        for (double part = ridge_part; part > ridge_part_end; part /= 10) {
            record->ridge = 1 / part;
            condition = condition_with(sc, y, record->ridge);
            if (condition <= EX_CONDITION_LIMIT)
                break;
        }
        blame(w, t, sc, y, record);
    }
    if (!isfinite(condition))
        return ex_error_set(error, EX_ERROR_SINGULAR,
                            "the space cannot be solved with a ridge of %g: use another, or 0", w->ridge);
    apply_inverse(sc, y);
    return EX_OK;
}

void exi_gaussian_draw_sets(ex_weigher *w, int pseudo, const double *set_weights) {
    const uint32_t *sizes = set_sizes(w);
    double *radial = exi_gaussian_tables(w).set_radial;
    for (int i = 0; i < w->set_count; i++) {
        const size_t size = sizes[i];
        memcpy(radial + (size + (size_t)pseudo) * size, set_weights, size * sizeof *radial);
        radial += (size + (size_t)w->pseudo_count) * size;
        set_weights += size;
    }
}

/* The system of one set: its rows of F are the given weights of its examples, or what exi_gaussian_draw_sets stored in
 * place of the solution. */
static linear_system set_system(const ex_weigher *w, const scratch *sc, const uint32_t *members, int count,
                                double *radial) {
    const size_t n = (size_t)exi_point_count(w), m = (size_t)count, p = (size_t)w->pseudo_count;
    const double *given = exi_table(w, w->pseudo_given), *rows = exi_table(w, w->pseudo_rows);
    linear_system y = {
        .points = sc->points, .size = (int)(m + p), .count = count, .matrix = sc->matrix, .radial = radial};
    for (size_t i = 0; i < m + p; i++)
        sc->points[i] = i < m ? (int)members[i] : w->example_count + (int)(i - m);
    for (size_t i = 0; i < m + p; i++)
        for (size_t j = 0; j < m + p; j++)
            y.matrix[i * (m + p) + j] = sc->phi[(size_t)sc->points[i] * n + (size_t)sc->points[j]];
    for (size_t i = 0; i < p; i++)
        for (size_t k = 0; k < m; k++)
            sc->rows[i * m + k] =
                given[i] != 0 ? rows[i * (size_t)w->example_count + members[k]] : radial[(m + i) * m + k];
    return y;
}

static void keep_worse(exi_ridge_record *kept, const exi_ridge_record *other) {
    const double own = kept->own;
    if (other->ridge > kept->ridge || (other->ridge == kept->ridge && other->certainty < kept->certainty))
        *kept = *other;
    kept->own = own;
}

static ex_result solve_sets(const ex_weigher *w, const exi_gaussian *t, const scratch *sc, ex_error *error) {
    const uint32_t *sizes = set_sizes(w), *members = sizes + w->set_count;
    double *radial = t->set_radial;
    for (int i = 0; i < w->set_count; i++) {
        const linear_system y = set_system(w, sc, members, (int)sizes[i], radial);
        exi_ridge_record record;
        ex_result result = solve_system(w, t, sc, &y, &record, error);
        if (result != EX_OK)
            return ex_error_within(error, result, "set %d of examples", i);
        if (i == 0) /* if there are sets, only theirs count */
            *t->record = (exi_ridge_record){.own = t->record->own, .certainty = 2, .point = -1};
        keep_worse(t->record, &record);
        members += y.count;
        radial += (size_t)y.size * (size_t)y.count;
    }
    return EX_OK;
}

static void set_phi(const ex_weigher *w, const exi_gaussian *t, double *phi) {
    for (int j = 0; j < exi_point_count(w); j++)
        for (int k = 0; k < exi_point_count(w); k++)
            *phi++ = exi_gaussian_kernel(w, t, exi_features(w, j), k);
}

ex_result exi_gaussian_solve(ex_weigher *w, const char *const *names, const ex_allocator *allocator, ex_error *error) {
    const int n = exi_point_count(w);
    const exi_gaussian t = exi_gaussian_tables(w);
    scratch sc;
    ex_result result = open_scratch(w, true, allocator, &sc, error);
    if (result != EX_OK)
        return result;
    result = exi_measure_places(w, names, sc.phi, sc.nearest, error);
    if (result == EX_OK) {
        for (int k = 0; k < n; k++)
            sc.common += sc.nearest[k] / n;
        set_falloffs(w, &t, sc.common);
        result = set_factors(w, &t, names, error);
    }
    if (result == EX_OK) {
        const linear_system y = {.size = n, .count = w->example_count, .matrix = sc.phi, .radial = t.radial};
        set_phi(w, &t, sc.phi);
        if (w->pseudo_count > 0)
            memcpy(sc.rows, exi_table(w, w->pseudo_rows),
                   (size_t)w->pseudo_count * (size_t)w->example_count * sizeof *sc.rows);
        result = solve_system(w, &t, &sc, &y, t.record, error);
        t.record->own = t.record->ridge;
    }
    if (result == EX_OK)
        result = solve_sets(w, &t, &sc, error);
    exi_release(allocator, sc.memory, sc.size);
    return result;
}

ex_result exi_gaussian_condition(const ex_weigher *w, const ex_allocator *allocator, double *condition,
                                 ex_error *error) {
    const exi_gaussian t = exi_gaussian_tables(w);
    scratch sc;
    ex_result result = open_scratch(w, false, allocator, &sc, error);
    if (result != EX_OK)
        return result;
    const linear_system y = {.size = exi_point_count(w), .matrix = sc.phi};
    set_phi(w, &t, sc.phi);
    *condition = condition_with(&sc, &y, t.record->own);
    exi_release(allocator, sc.memory, sc.size);
    return EX_OK;
}
