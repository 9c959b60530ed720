/*
 * Principal directions of rows of numbers: orthonormal rows f_i that hold most of the variance of rows r_t, by subspace
 * iteration. From rows B, the coefficients c_t = B r_t and the new rows sum over t of c_t r_t^T, made orthonormal. It
 * starts from sums of rows with random signs, which miss no direction (Halko, Martinsson, Tropp 2011).
 */
#include "author/drive/motion/motion_rows.h"

#include "author/base/array.h"
#include "runtime/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ITERATIONS: usual number. BATCH: rows that are added by one run of tasks. */
enum { ITERATIONS = 6, BATCH = 16 };

/* Eight sums that do not depend on each other. */
double exi_motion_dot(const float *a, const float *b, size_t count) {
    double total = 0;
    size_t i = 0;
    while (i + 8 <= count) {
        float sums[8] = {0};
        const size_t end = i + 256 < count / 8 * 8 ? i + 256 : count / 8 * 8;
        for (; i < end; i += 8)
            for (size_t k = 0; k < 8; k++)
                sums[k] += a[i + k] * b[i + k];
        for (int k = 0; k < 8; k++)
            total += (double)sums[k];
    }
    for (; i < count; i++)
        total += (double)a[i] * (double)b[i];
    return total;
}

void exi_motion_add(float *to, const float *row, double factor, size_t count) {
    const float f = (float)factor;
    for (size_t i = 0; i < count; i++)
        to[i] += f * row[i];
}

void exi_motion_orthonormal(float *rows, int count, size_t length) {
    double longest = 0;
    for (int k = 0; k < count; k++) {
        const double square = exi_motion_dot(rows + (size_t)k * length, rows + (size_t)k * length, length);
        longest = square > longest ? square : longest;
    }
    for (int k = 0; k < count; k++) {
        float *row = rows + (size_t)k * length;
        for (int pass = 0; pass < 2; pass++) {
            for (int j = 0; j < k; j++) {
                const float *other = rows + (size_t)j * length;
                exi_motion_add(row, other, -exi_motion_dot(row, other, length), length);
            }
            const double square = exi_motion_dot(row, row, length);
            /* In the second pass, rows have the length 1 already, and lose only rounding errors. */
            const double least = pass == 0 ? 1e-12 * longest : 0.01;
            const float scale = square > least && square > 0 ? (float)(1 / sqrt(square)) : 0;
            for (size_t i = 0; i < length; i++)
                row[i] *= scale;
        }
    }
}

/* 1 or -1, from the mixed bits of two numbers. */
static double sign(uint32_t row, uint32_t k) {
    uint32_t n = row * 0x9e3779b1u + k * 0x85ebca6bu + 1;
    n = (n ^ n >> 16) * 0x7feb352du;
    n = (n ^ n >> 15) * 0x846ca68bu;
    return (n ^ n >> 16) & 1 ? 1 : -1;
}

typedef struct iterating {
    int pass;
    size_t first, count, length; /* rows of the batch */
    const float *rows[BATCH];
    const float *basis;
    float *sums;
} iterating;

/* Adds the rows of a batch to some sums: each sum takes rows in their order, whatever the tasks. */
static void add_batch(void *context, int begin, int end) {
    const iterating *t = context;
    for (int k = begin; k < end; k++)
        for (size_t b = 0; b < t->count; b++)
            exi_motion_add(t->sums + (size_t)k * t->length, t->rows[b],
                           t->pass == 0 ? sign((uint32_t)(t->first + b), (uint32_t)k)
                                        : exi_motion_dot(t->basis + (size_t)k * t->length, t->rows[b], t->length),
                           t->length);
}

bool exi_motion_principal_rows(const exi_motion_rows *rows, int iterations, int count, float *basis,
                               const exi_motion_watch *watch, const ex_tasks *tasks) {
    const size_t length = rows->length, size = (size_t)count * length;
    float *room = exi_array_allocate(BATCH * length, sizeof *room);
    float *sums = exi_array_allocate(size, sizeof *sums);
    bool done = room && sums;
    for (int pass = 0; done && pass <= iterations; pass++) {
        memset(sums, 0, size * sizeof *sums);
        for (size_t first = 0; done && first < rows->count; first += BATCH) {
            iterating t = {.pass = pass, .first = first, .length = length, .basis = basis, .sums = sums};
            t.count = rows->count - first < BATCH ? rows->count - first : BATCH;
            for (size_t b = 0; b < t.count; b++)
                t.rows[b] = rows->get(rows->user, first + b, room + b * length);
            exi_run(tasks, count, 1, add_batch, &t);
            for (size_t b = 0; done && watch && b < t.count; b++) {
                const double part = (double)(first + b + 1) / (double)rows->count;
                done = watch->go_on(watch->user, (pass + part) / (iterations + 1));
            }
        }
        if (done) {
            memcpy(basis, sums, size * sizeof *basis);
            exi_motion_orthonormal(basis, count, length);
        }
    }
    free(room);
    free(sums);
    return done;
}

static const float *get_centred(const void *user, size_t row, float *room) {
    const exi_motion_table *t = user;
    for (size_t i = 0; i < t->length; i++)
        room[i] = t->data[row * t->length + i] - t->mean[i];
    return room;
}

exi_motion_rows exi_motion_rows_of(const exi_motion_table *table, size_t count) {
    return (exi_motion_rows){.count = count, .length = table->length, .get = get_centred, .user = table};
}

bool exi_motion_principal(const float *data, size_t rows, size_t length, const float *mean, int count, float *basis,
                          const exi_motion_watch *watch) {
    const exi_motion_table table = {.data = data, .mean = mean, .length = length};
    const exi_motion_rows all = exi_motion_rows_of(&table, rows);
    return exi_motion_principal_rows(&all, ITERATIONS, count, basis, watch, NULL);
}

typedef struct projecting {
    const float *basis, *row;
    size_t length;
    double *products;
} projecting;

static void project_rows(void *context, int begin, int end) {
    const projecting *p = context;
    for (int r = begin; r < end; r++)
        p->products[r] = exi_motion_dot(p->basis + (size_t)r * p->length, p->row, p->length);
}

void exi_motion_project(const float *basis, size_t rows, const float *row, size_t length, double *products,
                        const ex_tasks *tasks) {
    projecting p = {basis, row, length, products};
    exi_run(tasks, (int)rows, 8, project_rows, &p);
}

/* By Jacobi rotations. */
void exi_motion_diagonalise(double *a, int n, double *vectors) {
    const size_t size = (size_t)n;
    memset(vectors, 0, size * size * sizeof *vectors);
    for (size_t i = 0; i < size; i++)
        vectors[i * size + i] = 1;
    for (int sweep = 0; sweep < 30; sweep++) {
        double off = 0, on = 0;
        for (size_t i = 0; i < size; i++)
            for (size_t j = 0; j < size; j++)
                *(i == j ? &on : &off) += a[i * size + j] * a[i * size + j];
        if (!(off > 1e-24 * on))
            return;
        for (size_t p = 0; p + 1 < size; p++)
            for (size_t q = p + 1; q < size; q++) {
                const double apq = a[p * size + q];
                if (!(fabs(apq) > 1e-300))
                    continue;
                const double theta = (a[q * size + q] - a[p * size + p]) / (2 * apq);
                const double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
                const double c = 1 / sqrt(t * t + 1), s = t * c;
                for (size_t i = 0; i < size; i++) {
                    const double x = a[i * size + p], y = a[i * size + q];
                    a[i * size + p] = c * x - s * y;
                    a[i * size + q] = s * x + c * y;
                }
                for (size_t i = 0; i < size; i++) {
                    const double x = a[p * size + i], y = a[q * size + i];
                    a[p * size + i] = c * x - s * y;
                    a[q * size + i] = s * x + c * y;
                    const double v = vectors[p * size + i], w = vectors[q * size + i];
                    vectors[p * size + i] = c * v - s * w;
                    vectors[q * size + i] = s * v + c * w;
                }
            }
    }
}

/* Sorts rows of vectors by falling diagonal entries. */
static void sort_vectors(const double *a, int n, double *vectors, double *sorted) {
    const size_t size = (size_t)n;
    for (size_t i = 0; i < size; i++) {
        size_t rank = 0;
        for (size_t j = 0; j < size; j++)
            rank += a[j * size + j] > a[i * size + i] || (a[j * size + j] == a[i * size + i] && j < i);
        memcpy(sorted + rank * size, vectors + i * size, size * sizeof *sorted);
    }
    memcpy(vectors, sorted, size * size * sizeof *vectors);
}

bool exi_motion_align(double *products, int count, float *rows, size_t length, double *coefficients, size_t frames) {
    const size_t n = (size_t)count;
    double *vectors = exi_array_allocate(n * n, sizeof *vectors), *sorted = exi_array_allocate(n * n, sizeof *sorted);
    double *column = exi_array_allocate(n, sizeof *column);
    const bool room = vectors && sorted && column;
    if (room) {
        exi_motion_diagonalise(products, count, vectors);
        sort_vectors(products, count, vectors, sorted);
        for (size_t i = 0; i < length; i++) {
            for (size_t k = 0; k < n; k++)
                column[k] = (double)rows[k * length + i];
            for (size_t k = 0; k < n; k++) {
                double sum = 0;
                for (size_t j = 0; j < n; j++)
                    sum += vectors[k * n + j] * column[j];
                rows[k * length + i] = (float)sum;
            }
        }
        for (size_t f = 0; f < frames; f++) {
            memcpy(column, coefficients + f * n, n * sizeof *column);
            for (size_t k = 0; k < n; k++) {
                double sum = 0;
                for (size_t j = 0; j < n; j++)
                    sum += vectors[k * n + j] * column[j];
                coefficients[f * n + k] = sum;
            }
        }
    }
    free(vectors);
    free(sorted);
    free(column);
    return room;
}
