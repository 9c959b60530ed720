/*
 * Falloffs by leave-one-out cross-validation (Rippa 1999). Let Phi be the matrix of the kernels at the points and F the
 * values there. The error of predicting the value at point i from the others is
 *
 *     e_i = (Phi^-1 F)_i / (Phi^-1)_ii.
 *
 * The value at a point is a sum of examples, F = W X with a row of W for each point (1 at an example, given weights at
 * a pseudo-example, 0 at a zero), so |e_i|^2 needs only the inner products G = X X' of the examples. The search varies
 * the logarithm of one factor on all default falloffs: on a grid, then by golden section.
 */
#include "author/project/build/falloff.h"

#include "author/base/array.h"
#include "runtime/base/dense.h"
#include "runtime/base/result.h"
#include "runtime/weigh/gaussian.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GRID = 20, GOLDEN_STEPS = 14 };
/* Range of factors searched, as powers of 2. */
static const double lowest = -2, highest = 3;

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
    size_t points, examples;
    double usual;
    double *falloffs; /* [points][axis_count] */
    double *matrix;   /* [points][2 points] */
    double *rows;     /* [points][examples]: W */
    double *solved;   /* [examples] */
    bool failed;      /* true if memory ran out */
} search;

static void set_falloffs(const search *s, double factor) {
    for (size_t i = 0; i < s->points * (size_t)s->def.axis_count; i++)
        s->falloffs[i] = s->given && s->given[i] > 0 ? s->given[i] : factor * s->usual;
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
    for (size_t i = 0; i < s->examples; i++)
        for (size_t k = 0; k < s->examples; k++)
            sum += x[i] * s->gram[i * s->examples + k] * x[k];
    return sum > 0 ? sum : 0;
}

/* Returns the sum of |e_i|^2; infinite if the system is worse conditioned than a gaussian weigher accepts unchanged. */
static double sum_errors(const search *s, const ex_weigher *w) {
    const size_t n = s->points, m = s->examples;
    double sum = 0;
    fill(s, w);
    if (!(ex_weigher_get_ridge(w).condition <= EX_CONDITION_LIMIT) || exi_solve(s->matrix, (int)n, (int)n) == 0)
        return INFINITY;
    for (size_t i = 0; i < n; i++) {
        const double *inverse = s->matrix + i * 2 * n + n;
        memset(s->solved, 0, m * sizeof *s->solved);
        for (size_t k = 0; k < n; k++)
            for (size_t e = 0; e < m; e++)
                s->solved[e] += inverse[k] * s->rows[k * m + e];
        sum += square(s, s->solved) / (inverse[i] * inverse[i]);
    }
    return isfinite(sum) ? sum : INFINITY;
}

static double try_factor(search *s, double power) {
    ex_weigher *w = NULL;
    set_falloffs(s, exp2(power));
    const ex_result result = ex_weigher_create(&s->def, NULL, &w, NULL);
    s->failed = s->failed || result == EX_ERROR_MEMORY;
    const double sum = result == EX_OK ? sum_errors(s, w) : INFINITY;
    ex_weigher_destroy(w);
    return sum;
}

/* ---- the search ---- */

static double find_best(search *s, double *best_sum) {
    const double step = (highest - lowest) / GRID, ratio = 0.6180339887498949;
    double best = 0, low, high;
    *best_sum = INFINITY;
    for (int i = 0; i <= GRID && !s->failed; i++) {
        const double sum = try_factor(s, lowest + i * step);
        best = sum < *best_sum ? lowest + i * step : best;
        *best_sum = sum < *best_sum ? sum : *best_sum;
    }
    if (!isfinite(*best_sum))
        return 0;
    low = best - step > lowest ? best - step : lowest;
    high = best + step < highest ? best + step : highest;
    double a = high - ratio * (high - low), b = low + ratio * (high - low);
    double sum_a = try_factor(s, a), sum_b = try_factor(s, b);
    for (int i = 0; i < GOLDEN_STEPS && !s->failed; i++) {
        if (sum_a < sum_b) {
            high = b;
            b = a;
            sum_b = sum_a;
            sum_a = try_factor(s, a = high - ratio * (high - low));
        } else {
            low = a;
            a = b;
            sum_a = sum_b;
            sum_b = try_factor(s, b = low + ratio * (high - low));
        }
    }
    const double found = sum_a < sum_b ? a : b, sum = sum_a < sum_b ? sum_a : sum_b;
    best = sum < *best_sum ? found : best;
    *best_sum = sum < *best_sum ? sum : *best_sum;
    return best;
}

/* Returns the mean distance to the nearest other point; 0 if the space cannot be solved. */
static double usual_falloff(search *s) {
    ex_weigher *w = NULL;
    ex_weigher_def def = s->def;
    double sum = 0, *nearest = s->matrix + s->points * s->points;
    def.falloffs = s->given;
    const ex_result result = ex_weigher_create(&def, NULL, &w, NULL);
    s->failed = result == EX_ERROR_MEMORY;
    if (result == EX_OK && exi_measure_places(w, NULL, s->matrix, nearest, NULL) == EX_OK)
        for (size_t i = 0; i < s->points; i++)
            sum += nearest[i];
    ex_weigher_destroy(w);
    return sum / (double)s->points;
}

static bool open_search(search *s) {
    s->falloffs = exi_array_allocate(s->points * (size_t)s->def.axis_count, sizeof *s->falloffs);
    s->matrix = exi_array_allocate(2 * s->points * s->points, sizeof *s->matrix);
    s->rows = exi_array_allocate(s->points * s->examples, sizeof *s->rows);
    s->solved = exi_array_allocate(s->examples, sizeof *s->solved);
    s->def.falloffs = s->falloffs;
    return s->falloffs && s->matrix && s->rows && s->solved;
}

/* Returns the sum of squares of the values at all points, once W is filled in: all there is to predict. */
static double sum_values(const search *s) {
    double sum = 0;
    for (size_t i = 0; i < s->points; i++)
        sum += square(s, s->rows + i * s->examples);
    return sum;
}

ex_result exi_falloff_choose(const ex_weigher_def *weigh, const double *gram, exi_falloff_choice *choice,
                             ex_error *error) {
    search s = {.def = *weigh,
                .given = weigh->falloffs,
                .gram = gram,
                .examples = (size_t)weigh->example_count,
                .points = (size_t)weigh->example_count + (size_t)weigh->pseudo_count};
    double sum = INFINITY;
    *choice = (exi_falloff_choice){.factor = 1};
    if (s.points < 3 || s.points > EXI_FALLOFF_POINTS)
        return EX_OK;
    s.usual = open_search(&s) ? usual_falloff(&s) : 0;
    s.failed = s.failed || !s.falloffs || !s.matrix || !s.rows || !s.solved;
    if (!s.failed && s.usual > 0) {
        const double sum_usual = try_factor(&s, 0), values = sum_values(&s);
        const double power = values > 0 ? find_best(&s, &sum) : 0;
        if (isfinite(sum) && !s.failed) {
            *choice = (exi_falloff_choice){.factor = exp2(power),
                                           .usual = s.usual,
                                           .error = sqrt(sum / values),
                                           .error_usual = sqrt(sum_usual / values)};
            set_falloffs(&s, choice->factor);
            choice->falloffs = s.falloffs;
            s.falloffs = NULL;
        }
    }
    free(s.falloffs);
    free(s.matrix);
    free(s.rows);
    free(s.solved);
    return s.failed ? ex_error_memory(error, "choosing falloffs", 2 * s.points * s.points * sizeof(double)) : EX_OK;
}
