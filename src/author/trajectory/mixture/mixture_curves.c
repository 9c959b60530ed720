/*
 * Curves of correctors over the simplex of shares. With what the nodes leave at sample a as r_a, and weights W,
 *
 *   C(a, b) = W_a W_b sum over triangles of <grad r_a, grad r_b>
 *
 * in the space of what the terms of curves can express. Its eigenvectors B_j with the largest eigenvalues, over W, are
 * the curves that leave the smallest residual.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "author/base/array.h"
#include "author/trajectory/mixture/mixture.h"
#include "runtime/base/dense.h"
#include "runtime/base/memory.h"
#include "runtime/base/result.h"

#define DEPENDENT 1e-3 /* singular values of terms below this fraction of the largest count as 0 */

/* ---- C ---- */

typedef struct gram {
    const exi_curves *curves;
    double *matrix; /* [sample_count] squared */
} gram;

static double product(const float *a, const float *b, size_t count) {
    double sums[4] = {0};
    for (size_t i = 0; i < count / 4 * 4; i += 4)
        for (size_t k = 0; k < 4; k++)
            sums[k] += (double)a[i + k] * (double)b[i + k];
    for (size_t i = count / 4 * 4; i < count; i++)
        sums[0] += (double)a[i] * (double)b[i];
    return sums[0] + sums[1] + (sums[2] + sums[3]);
}

static void fill_gram(void *context, int begin, int end) {
    const gram *g = context;
    const exi_curves *f = g->curves;
    const size_t width = (size_t)f->width, count = (size_t)f->plan->sample_count;
    for (size_t a = (size_t)begin; a < (size_t)end; a++)
        for (size_t b = 0; b <= a; b++)
            g->matrix[a * count + b] = g->matrix[b * count + a] =
                f->weights[a] * f->weights[b] * product(f->gradients + a * width, f->gradients + b * width, width);
}

/* The space of functions over the samples that curves can express: an orthonormal basis [size][sample_count], and the
 * coefficients [size][term_count] of its functions over W. */
typedef struct space {
    int size;
    double *functions, *coefficients;
} space;

static bool find_space(const exi_curves *f, space *s) {
    const size_t samples = (size_t)f->plan->sample_count, terms = (size_t)f->plan->term_count;
    double *columns = exi_array_allocate(terms * samples, sizeof *columns);
    double *v = exi_array_allocate(terms * terms, sizeof *v), *sizes = exi_array_allocate(terms, sizeof *sizes);
    double *shares = exi_array_allocate((size_t)f->plan->example_count + 1, sizeof *shares), largest = 0;
    *s = (space){.functions = columns, .coefficients = v};
    if (!columns || !v || !sizes || !shares) {
        free(sizes);
        free(shares);
        return false;
    }
    for (size_t a = 0; a < samples; a++) {
        const double *sample = f->plan->samples + a * (size_t)f->plan->example_count;
        shares[0] = 1;
        for (int k = 0; k < f->plan->example_count; k++) {
            shares[1 + k] = sample[k];
            shares[0] -= sample[k];
        }
        for (size_t t = 0; t < terms; t++)
            columns[t * samples + a] = f->weights[a] * exi_term_value(&f->plan->terms[t], shares);
    }
    exi_svd(columns, (int)samples, (int)terms, v, sizes);
    for (size_t t = 0; t < terms; t++)
        largest = fmax(largest, sizes[t]);
    for (size_t t = 0; t < terms; t++) {
        if (!(sizes[t] > DEPENDENT * largest))
            continue;
        for (size_t a = 0; a < samples; a++)
            columns[(size_t)s->size * samples + a] = columns[t * samples + a] / sizes[t];
        for (size_t k = 0; k < terms; k++)
            v[(size_t)s->size * terms + k] = v[t * terms + k] / sizes[t];
        s->size++;
    }
    free(sizes);
    free(shares);
    return true;
}

/* C in that space: matrix [size][size]. */
static void restrict_gram(const exi_curves *f, const double *whole, const space *s, double *row, double *matrix) {
    const size_t samples = (size_t)f->plan->sample_count, size = (size_t)s->size;
    for (size_t i = 0; i < size; i++) {
        const double *u = s->functions + i * samples;
        memset(row, 0, samples * sizeof *row);
        for (size_t a = 0; a < samples; a++)
            for (size_t b = 0; b < samples; b++)
                row[b] += u[a] * whole[a * samples + b];
        for (size_t k = 0; k < size; k++) {
            matrix[i * size + k] = 0;
            for (size_t b = 0; b < samples; b++)
                matrix[i * size + k] += row[b] * s->functions[k * samples + b];
        }
    }
}

/* Returns the number of curves: the fewest that leave little enough. values: eigenvalues. */
static int choose_count(const exi_curves *f, const double *values, const int *order, int size) {
    const int most = f->most < size ? f->most : size;
    int count = 0;
    double left = 0;
    for (int i = 0; i < size; i++)
        left += values[order[i]];
    while (count < most && left > f->enough)
        left -= values[order[count++]];
    return f->enough < 0 ? most : count;
}

ex_result exi_curves_find(exi_curves *f, const ex_tasks *tasks, ex_error *error) {
    const size_t samples = (size_t)f->plan->sample_count, terms = (size_t)f->plan->term_count;
    space s = {0};
    gram g = {.curves = f, .matrix = exi_array_allocate(samples * samples, sizeof *g.matrix)};
    bool done = g.matrix && find_space(f, &s);
    const size_t size = (size_t)s.size;
    double *matrix = exi_array_allocate(size * size, sizeof *matrix), *v = exi_array_allocate(size * size, sizeof *v);
    double *values = exi_array_allocate(size + samples, sizeof *values);
    int *order = exi_array_allocate(size, sizeof *order);
    done = done && matrix && v && values && order;
    if (done) {
        exi_run(tasks, f->plan->sample_count, 1, fill_gram, &g);
        restrict_gram(f, g.matrix, &s, values + size, matrix);
        exi_svd(matrix, s.size, s.size, v, values);
        for (int i = 0; i < s.size; i++)
            order[i] = i;
        for (int i = 1; i < s.size; i++)
            for (int k = i; k > 0 && values[order[k]] > values[order[k - 1]]; k--) {
                const int swap = order[k];
                order[k] = order[k - 1];
                order[k - 1] = swap;
            }
        f->count = choose_count(f, values, order, s.size);
        f->basis = calloc((size_t)f->count * samples + 1, sizeof *f->basis);
        f->curves = calloc((size_t)f->count * terms + 1, sizeof *f->curves);
        done = f->basis && f->curves;
    }
    for (size_t j = 0; done && j < (size_t)f->count; j++)
        for (size_t i = 0; i < size; i++) {
            const double part = v[(size_t)order[j] * size + i];
            for (size_t a = 0; a < samples; a++)
                f->basis[j * samples + a] += part * s.functions[i * samples + a];
            for (size_t t = 0; t < terms; t++)
                f->curves[j * terms + t] += part * s.coefficients[i * terms + t];
        }
    free(order);
    free(values);
    free(v);
    free(matrix);
    free(s.functions);
    free(s.coefficients);
    free(g.matrix);
    return done ? EX_OK : ex_error_memory(error, "the curves of a mixture", samples * terms * sizeof(double));
}
