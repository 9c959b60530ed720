/*
 * Falloffs that keep weights calm between the points and still predict points from each other. Let Phi be the matrix of
 * the kernels at the points and F the values there. The error of predicting the value at point i from the others, with
 * their falloffs as they are, is (Rippa 1999)
 *
 *     e_i = (Phi^-1 F)_i / (Phi^-1)_ii.
 *
 * The value at a point is a sum of examples, F = W X with a row of W for each point (1 at an example, given weights at
 * a pseudo-example, 0 at a zero), so |e_i|^2 needs only the inner products G = X X' of the examples. The search
 * minimises
 *
 *     cost = min(E, 1) + min(D, 1) + R(x)
 *     E = sum |e_i|^2 / sum |F_i|^2       1: as wrong as predicting nothing
 *     D = mean (1 - phi(m_i)' Phi^-1 1)^2 the dip halfway from point i to its nearest one, m_i; 1: nothing is left
 * there x = max(-w_k, w_k - 1)              over examples k that move anything, at places of the range and at all m_i
 *     R = t^2 for t <= 1, 3 t^2 beyond,   t = max(0, x - 0.1) / 0.15
 *
 * The first two terms are at most 1 each, and R is at most 1 up to x = 0.25 and above 3 beyond. So weights beyond 0.25
 * are never chosen if any falloff tried keeps them within. Leave-one-out alone prefers wide kernels for smooth values,
 * whose weights swing, and needles for examples that have nothing in common; D is against those.
 *
 * The falloffs tried are a factor times the default, the same for all points, and a factor times each point's own
 * distance to its nearest one. Only the latter suit gaps of different sizes. The search varies the logarithm of the
 * factor: on a grid for both, then by golden section for the better one. The cost has several minima, so the result is
 * never worse than the grid.
 *
 * Tried and dropped: the size of what weights outside of [0, 1] add to the form, |sum (w_k - clamp(w_k)) X_k|. On grids
 * of smooth forms many small weights below 0 add up to that form, as they should, and narrow kernels were chosen.
 */
#include "author/project/build/falloff.h"

#include "author/base/array.h"
#include "author/project/build/swing.h"
#include "runtime/base/dense.h"
#include "runtime/base/result.h"
#include "runtime/weigh/gaussian.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GRID = 20, GOLDEN_STEPS = 14, PLACES = 512 };
/* Range of factors searched, as powers of 2. */
static const double lowest = -2, highest = 3;
/* Weights may leave [0, 1] freely by the first, and by the second at the price of predicting nothing. */
static const double free_swing = 0.1, dear_swing = 0.25;
/* Own falloffs must be better by this fraction: on even spaces they are the same but for rounding. */
static const double better = 1e-6;

/* ---- inner products ---- */

static double multiply_offsets(const ex_offsets *a, const ex_offsets *b) {
    double sum = 0;
    for (int i = 0, k = 0; i < a->count && k < b->count;) {
        if (a->vertices[i] == b->vertices[k]) {
            const float *x = a->deltas + 3 * (size_t)i++, *y = b->deltas + 3 * (size_t)k++;
            sum += (double)x[0] * (double)y[0] + (double)x[1] * (double)y[1] + (double)x[2] * (double)y[2];
        } else if (a->vertices[i] < b->vertices[k]) {
            i++;
        } else {
            k++;
        }
    }
    return sum;
}

double *exi_gram_of_offsets(const ex_offsets *offsets, int count) {
    const size_t n = (size_t)count;
    double *gram = exi_array_allocate(n * n, sizeof *gram);
    for (size_t i = 0; gram && i < n; i++)
        for (size_t k = 0; k <= i; k++)
            gram[i * n + k] = gram[k * n + i] = multiply_offsets(&offsets[i], &offsets[k]);
    return gram;
}

double *exi_gram_of_rows(const float *const *rows, int count, size_t numbers) {
    const size_t n = (size_t)count;
    double *gram = exi_array_allocate(n * n, sizeof *gram);
    for (size_t i = 0; gram && i < n; i++)
        for (size_t k = 0; k <= i; k++) {
            double sum = 0;
            for (size_t c = 0; c < numbers; c++)
                sum += (double)rows[i][c] * (double)rows[k][c];
            gram[i * n + k] = gram[k * n + i] = sum;
        }
    return gram;
}

/* ---- one factor ---- */

typedef struct search {
    ex_weigher_def def;
    const double *given; /* [points][axis_count] or NULL */
    const double *gram;
    size_t points, examples, dimension;
    double usual;     /* mean of nearest */
    double values;    /* sum |F_i|^2, once W is filled in */
    double *nearest;  /* [points]: distance to the nearest other point */
    double *falloffs; /* [points][axis_count] */
    double *matrix;   /* [points][2 points] */
    double *rows;     /* [points][examples]: W */
    double *solved;   /* [points] */
    double *places;   /* [points + PLACES][dimension]: halfway to the nearest point; in the range */
    bool own;         /* true to try factors on nearest, else on usual */
    bool failed;      /* true if memory ran out */
} search;

static void set_falloffs(const search *s, double factor) {
    const size_t axes = (size_t)s->def.axis_count;
    for (size_t i = 0; i < s->points * axes; i++)
        s->falloffs[i] =
            s->given && s->given[i] > 0 ? s->given[i] : factor * (s->own ? s->nearest[i / axes] : s->usual);
}

/* Fills in Phi with the unit matrix next to it, and W. */
static void fill(const search *s, const ex_weigher *w) {
    const exi_gaussian tables = exi_gaussian_tables(w);
    const double *pseudos = exi_table(w, w->pseudo_rows);
    const size_t n = s->points, m = s->examples;
    for (size_t i = 0; i < n; i++) {
        double *row = s->matrix + i * 2 * n;
        for (size_t k = 0; k < n; k++) {
            row[k] = exi_gaussian_kernel(w, &tables, exi_features(w, (int)i), (int)k);
            row[n + k] = i == k;
        }
        for (size_t k = 0; k < m; k++)
            s->rows[i * m + k] = i < m ? (double)(i == k) : pseudos[(i - m) * m + k];
    }
}

/* x' G x */
static double square(const search *s, const double *x) {
    double sum = 0;
    for (size_t i = 0; i < s->examples; i++) {
        const double *row = s->gram + i * s->examples;
        double along = 0;
        for (size_t k = 0; k < s->examples && x[i] != 0; k++)
            along += row[k] * x[k];
        sum += x[i] * along;
    }
    return sum > 0 ? sum : 0;
}

/* Returns the sum of squares of the values at all points, once W is filled in: all there is to predict. */
static double sum_values(const search *s) {
    double sum = 0;
    for (size_t i = 0; i < s->points; i++)
        sum += square(s, s->rows + i * s->examples);
    return sum;
}

/* Returns the sum of |e_i|^2, given the inverse of Phi next to it. */
static double sum_errors(const search *s) {
    const size_t n = s->points, m = s->examples;
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        const double *inverse = s->matrix + i * 2 * n + n;
        memcpy(s->solved, inverse, m * sizeof *s->solved); /* W begins with the identity */
        for (size_t k = m; k < n; k++)
            for (size_t e = 0; e < m; e++)
                s->solved[e] += inverse[k] * s->rows[k * m + e];
        sum += square(s, s->solved) / (inverse[i] * inverse[i]);
    }
    return sum;
}

/* Returns D, given the inverse of Phi. */
static double measure_dip(const search *s, const ex_weigher *w) {
    const exi_gaussian tables = exi_gaussian_tables(w);
    const size_t n = s->points;
    double sum = 0, features[EXI_FEATURE_MAX];
    for (size_t i = 0; i < n; i++) {
        s->solved[i] = 0;
        for (size_t k = 0; k < n; k++)
            s->solved[i] += s->matrix[i * 2 * n + n + k];
    }
    for (size_t i = 0; i < n; i++) {
        double left = 1;
        exi_point_features(w, s->places + i * s->dimension, features);
        for (size_t k = 0; k < n; k++)
            left -= exi_gaussian_kernel(w, &tables, features, (int)k) * s->solved[k];
        sum += left * left;
    }
    return sum / (double)n;
}

static double cost_of(double error_sq, double dip, const exi_falloff_worth *worth) {
    const double swing = fmax(-worth->low, worth->high - 1);
    const double t = fmax(0, swing - free_swing) / (dear_swing - free_swing);
    return fmin(error_sq, 1) + fmin(dip, 1) + (t <= 1 ? 1 : 3) * t * t;
}

/* Finds the lowest and highest weight. Stops, and returns false, once they alone cost more than the limit. */
static bool measure_swing(const search *s, const ex_weigher *w, double limit, exi_falloff_worth *worth) {
    for (size_t i = 0; i < s->points + PLACES; i++) {
        ex_weigher_evaluate(w, s->places + i * s->dimension, s->solved);
        for (size_t k = 0; k < s->examples; k++) {
            if (!(s->gram[k * s->examples + k] > 0)) /* adds nothing, whatever its weight */
                continue;
            worth->low = fmin(worth->low, s->solved[k]);
            worth->high = fmax(worth->high, s->solved[k]);
        }
        if (cost_of(0, 0, worth) > limit)
            return false;
    }
    return true;
}

/* The cost is infinite if the system is worse conditioned than a gaussian weigher accepts unchanged, or if it is above
 * the limit anyway. */
static exi_falloff_worth measure_worth(search *s, const ex_weigher *w, double limit) {
    exi_falloff_worth worth = {.error = INFINITY, .high = 1, .cost = INFINITY};
    fill(s, w);
    s->values = sum_values(s);
    if (!(ex_weigher_get_ridge(w).condition <= EX_CONDITION_LIMIT) || !measure_swing(s, w, limit, &worth) ||
        exi_solve(s->matrix, (int)s->points, (int)s->points) == 0)
        return worth;
    const double error_sq = sum_errors(s) / s->values, dip = measure_dip(s, w);
    const double cost = cost_of(error_sq, dip, &worth);
    if (isfinite(cost)) {
        worth.error = sqrt(error_sq);
        worth.dip = sqrt(dip);
        worth.cost = cost;
    }
    return worth;
}

static exi_falloff_worth try_factor(search *s, double power, double limit) {
    exi_falloff_worth worth = {.error = INFINITY, .cost = INFINITY};
    ex_weigher *w = NULL;
    set_falloffs(s, exp2(power));
    const ex_result result = ex_weigher_create(&s->def, NULL, &w, NULL);
    s->failed = s->failed || result == EX_ERROR_MEMORY;
    if (result == EX_OK)
        worth = measure_worth(s, w, limit);
    ex_weigher_destroy(w);
    return worth;
}

/* ---- the search ---- */

typedef struct found {
    double power;
    bool own;
    exi_falloff_worth worth;
} found;

static void take_better(const search *s, double power, exi_falloff_worth worth, found *best) {
    if (worth.cost < best->worth.cost * (s->own == best->own ? 1 : 1 - better))
        *best = (found){.power = power, .own = s->own, .worth = worth};
}

static void search_grid(search *s, bool own, found *best) {
    s->own = own;
    for (int i = 0; i <= GRID && !s->failed; i++) {
        const double power = lowest + i * (highest - lowest) / GRID;
        take_better(s, power, try_factor(s, power, best->worth.cost), best);
    }
}

/* Golden section between the neighbours of the best on the grid. */
static void search_between(search *s, found *best) {
    const double step = (highest - lowest) / GRID, ratio = 0.6180339887498949;
    double low = fmax(best->power - step, lowest), high = fmin(best->power + step, highest);
    double a = high - ratio * (high - low), b = low + ratio * (high - low);
    s->own = best->own;
    exi_falloff_worth at_a = try_factor(s, a, INFINITY), at_b = try_factor(s, b, INFINITY);
    for (int i = 0; i < GOLDEN_STEPS && !s->failed; i++) {
        take_better(s, a, at_a, best);
        take_better(s, b, at_b, best);
        if (at_a.cost < at_b.cost) {
            high = b;
            b = a;
            at_b = at_a;
            at_a = try_factor(s, a = high - ratio * (high - low), INFINITY);
        } else {
            low = a;
            a = b;
            at_a = at_b;
            at_b = try_factor(s, b = low + ratio * (high - low), INFINITY);
        }
    }
    take_better(s, a, at_a, best);
    take_better(s, b, at_b, best);
}

/* ---- the space ---- */

/* Writes the point halfway between two clean points; rotations on the shorter way. */
static void halve(const ex_weigher_def *def, const double *a, const double *b, double *half) {
    for (int i = 0; i < def->axis_count; i++) {
        const int width = ex_axis_width(&def->axes[i]);
        double along = 0;
        for (int c = 0; c < width; c++)
            along += a[c] * b[c];
        for (int c = 0; c < width; c++)
            half[c] = width == 1 ? (a[c] + b[c]) / 2 : a[c] + (along < 0 ? -b[c] : b[c]);
        a += width;
        b += width;
        half += width;
    }
}

/* Fills in the place halfway from each point to its nearest, given all distances in the matrix. */
static void place_halves(const search *s, const ex_weigher *w) {
    double from[EXI_FEATURE_MAX], to[EXI_FEATURE_MAX], half[EXI_FEATURE_MAX];
    for (size_t i = 0; i < s->points; i++) {
        size_t near = i == 0;
        for (size_t k = 0; k < s->points; k++)
            if (k != i && s->matrix[i * s->points + k] < s->matrix[i * s->points + near])
                near = k;
        exi_point_clean(w, ex_weigher_point(w, (int)i), from);
        exi_point_clean(w, ex_weigher_point(w, (int)near), to);
        halve(&s->def, from, to, half);
        exi_point_clean(w, half, s->places + i * s->dimension);
    }
}

/* Measures the points and fills in all places. usual stays 0 if the space cannot be solved. */
static void measure_space(search *s) {
    ex_weigher *w = NULL;
    ex_weigher_def def = s->def;
    def.falloffs = s->given;
    const ex_result result = ex_weigher_create(&def, NULL, &w, NULL);
    s->failed = result == EX_ERROR_MEMORY;
    if (result == EX_OK && exi_measure_places(w, NULL, s->matrix, s->nearest, NULL) == EX_OK) {
        for (size_t i = 0; i < s->points; i++)
            s->usual += s->nearest[i] / (double)s->points;
        place_halves(s, w);
        for (int i = 0; i < PLACES; i++)
            exi_axes_sample(def.axes, def.axis_count, i, s->places + (s->points + (size_t)i) * s->dimension);
    }
    ex_weigher_destroy(w);
}

/* ---- the choice ---- */

static bool open_search(search *s) {
    const size_t n = s->points;
    for (int i = 0; i < s->def.axis_count; i++)
        s->dimension += (size_t)ex_axis_width(&s->def.axes[i]);
    s->nearest = exi_array_allocate(n, sizeof *s->nearest);
    s->falloffs = exi_array_allocate(n * (size_t)s->def.axis_count, sizeof *s->falloffs);
    s->matrix = exi_array_allocate(2 * n * n, sizeof *s->matrix);
    s->rows = exi_array_allocate(n * s->examples, sizeof *s->rows);
    s->solved = exi_array_allocate(n, sizeof *s->solved);
    s->places = exi_array_allocate((n + PLACES) * s->dimension, sizeof *s->places);
    s->def.falloffs = s->falloffs;
    return s->nearest && s->falloffs && s->matrix && s->rows && s->solved && s->places;
}

static void close_search(search *s) {
    free(s->nearest);
    free(s->falloffs);
    free(s->matrix);
    free(s->rows);
    free(s->solved);
    free(s->places);
}

static void search_all(search *s, exi_falloff_choice *choice) {
    found best = {.worth.cost = INFINITY};
    const exi_falloff_worth worth_usual = try_factor(s, 0, INFINITY);
    if (!(s->values > 0))
        return;
    search_grid(s, false, &best);
    search_grid(s, true, &best);
    if (!isfinite(best.worth.cost))
        return;
    search_between(s, &best);
    if (s->failed)
        return;
    *choice = (exi_falloff_choice){.factor = exp2(best.power),
                                   .own = best.own,
                                   .usual = s->usual,
                                   .worth = best.worth,
                                   .worth_usual = worth_usual};
    s->own = best.own;
    set_falloffs(s, choice->factor);
    choice->falloffs = s->falloffs;
    s->falloffs = NULL;
}

ex_result exi_falloff_choose(const ex_weigher_def *weigh, const double *gram, exi_falloff_choice *choice,
                             ex_error *error) {
    search s = {.def = *weigh,
                .given = weigh->falloffs,
                .gram = gram,
                .examples = (size_t)weigh->example_count,
                .points = (size_t)weigh->example_count + (size_t)weigh->pseudo_count};
    *choice = (exi_falloff_choice){.factor = 1};
    if (s.points < 3 || s.points > EXI_FALLOFF_POINTS)
        return EX_OK;
    if (open_search(&s))
        measure_space(&s);
    else
        s.failed = true;
    if (!s.failed && s.usual > 0)
        search_all(&s, choice);
    close_search(&s);
    return s.failed ? ex_error_memory(error, "choosing falloffs", 2 * s.points * s.points * sizeof(double)) : EX_OK;
}
