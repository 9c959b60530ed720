/*
 * Principal forms of the driven mesh in the moving frames of its driver: orthonormal rows f_i that hold most of the
 * variance of u_t - mean, where u_t is the form of frame t, un-posed. Found by subspace iteration: from rows B, the
 * coefficients c_t = B (u_t - mean) and the new rows sum over t of c_t (u_t - mean)^T, made orthonormal. It starts from
 * sums of frames with random signs, which miss no direction (Halko, Martinsson, Tropp 2011). Frames are spread evenly,
 * as many as fit in memory; a further pass over all frames follows if those are not all.
 */
#include "author/base/array.h"
#include "author/drive/motion/drive_motion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* HELD: frames that are held in memory, at most. SPARE: rows beside those wanted, so that the last ones converge.
 * ITERATIONS: over the frames held. */
enum { HELD = 1500, SPARE = 8, ITERATIONS = 6 };

/* ---- rows ---- */

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

static void add(float *to, const float *row, double factor, size_t count) {
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
                add(row, other, -exi_motion_dot(row, other, length), length);
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

bool exi_motion_principal(const float *data, size_t rows, size_t length, const float *mean, int count, float *basis,
                          const exi_motion_watch *watch) {
    float *centred = exi_array_allocate(length, sizeof *centred);
    float *sums = exi_array_allocate((size_t)count * length, sizeof *sums);
    bool done = centred && sums;
    for (int pass = 0; done && pass <= ITERATIONS; pass++) {
        memset(sums, 0, (size_t)count * length * sizeof *sums);
        for (size_t r = 0; done && r < rows; r++) {
            for (size_t i = 0; i < length; i++)
                centred[i] = data[r * length + i] - mean[i];
            for (int k = 0; k < count; k++)
                add(sums + (size_t)k * length, centred,
                    pass == 0 ? sign((uint32_t)r, (uint32_t)k)
                              : exi_motion_dot(basis + (size_t)k * length, centred, length),
                    length);
            done = !watch || watch->go_on(watch->user, (pass + (double)(r + 1) / (double)rows) / (ITERATIONS + 1));
        }
        if (done) {
            memcpy(basis, sums, (size_t)count * length * sizeof *basis);
            exi_motion_orthonormal(basis, count, length);
        }
    }
    free(centred);
    free(sums);
    return done;
}

/* Eigenvectors of a symmetric matrix, by Jacobi rotations; vectors as rows. */
static void diagonalise(double *a, int n, double *vectors) {
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
        diagonalise(products, count, vectors);
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

/* ---- frames ---- */

/* Reads a frame's driven form and un-poses it: its difference from the mesh, [driven vertices][3]. */
static ex_result read_form(exi_motion_learner *l, int frame, float *out) {
    const size_t numbers = 3 * (size_t)l->refs.driven_count;
    const ex_result result = exi_references_read(&l->refs, frame, l->driver_form, l->driven_form, l->error);
    if (result != EX_OK)
        return result;
    exi_moving_frames_place(&l->carrier, l->driver_form, NULL, NULL);
    exi_moving_frames_unpose(&l->carrier, l->driven_form, l->driver_form);
    for (size_t i = 0; i < numbers; i++)
        out[i] = (float)(l->carrier.unposed[i] - (double)l->rig_mesh.positions[i]);
    return EX_OK;
}

typedef struct finding {
    size_t numbers; /* of a form */
    int rows;       /* forms wanted, and spare ones */
    int held;       /* frames in memory */
    bool all;       /* they are all */
    float *data;    /* [held][numbers] */
    float *basis;   /* [rows][numbers] */
    float *form;    /* [numbers] */
    double *coefficients, *products;
} finding;

static int held_frame(const exi_motion_learner *l, const finding *f, int i) {
    return (int)((int64_t)i * l->frame_count / f->held);
}

/* Tells how far the principal forms are. */
typedef struct telling {
    exi_motion_learner *learner;
    ex_result result;
} telling;

static bool tell_part(void *user, double part) {
    telling *t = user;
    t->result = exi_motion_tell(t->learner, "finding forms", 0.15 + 0.15 * part);
    return t->result == EX_OK;
}

static ex_result hold_frames(exi_motion_learner *l, finding *f) {
    for (int i = 0; i < f->held; i++) {
        ex_result result = read_form(l, l->frames[held_frame(l, f, i)], f->data + (size_t)i * f->numbers);
        if (result == EX_OK)
            result = exi_motion_tell(l, "reading clothes", 0.15 * (i + 1) / f->held);
        if (result != EX_OK)
            return result;
    }
    for (size_t k = 0; k < f->numbers; k++) {
        double sum = 0;
        for (int i = 0; i < f->held; i++)
            sum += (double)f->data[(size_t)i * f->numbers + k];
        l->mean[k] = (float)(sum / f->held);
    }
    telling told = {.learner = l, .result = EX_OK};
    const exi_motion_watch watch = {tell_part, &told};
    if (exi_motion_principal(f->data, (size_t)f->held, f->numbers, l->mean, f->rows, f->basis, &watch))
        return EX_OK;
    return told.result != EX_OK ? told.result
                                : ex_error_memory(l->error, "forms", (size_t)f->rows * f->numbers * sizeof(float));
}

/* A further iteration, over all frames. */
static ex_result refine(exi_motion_learner *l, finding *f) {
    float *sums = calloc((size_t)f->rows * f->numbers, sizeof *sums);
    double *mean = calloc(f->numbers, sizeof *mean);
    ex_result result =
        sums && mean ? EX_OK : ex_error_memory(l->error, "forms", (size_t)f->rows * f->numbers * sizeof *sums);
    for (int i = 0; result == EX_OK && i < l->frame_count; i++) {
        result = read_form(l, l->frames[i], f->form);
        for (size_t k = 0; result == EX_OK && k < f->numbers; k++) {
            mean[k] += (double)f->form[k] / l->frame_count;
            f->form[k] -= l->mean[k];
        }
        for (int r = 0; result == EX_OK && r < f->rows; r++)
            add(sums + (size_t)r * f->numbers, f->form,
                exi_motion_dot(f->basis + (size_t)r * f->numbers, f->form, f->numbers), f->numbers);
        if (result == EX_OK)
            result = exi_motion_tell(l, "reading clothes", 0.3 + 0.35 * (i + 1) / l->frame_count);
    }
    if (result == EX_OK) {
        memcpy(f->basis, sums, (size_t)f->rows * f->numbers * sizeof *sums);
        exi_motion_orthonormal(f->basis, f->rows, f->numbers);
        for (size_t k = 0; k < f->numbers; k++)
            l->mean[k] = (float)mean[k];
    }
    free(sums);
    free(mean);
    return result;
}

/* The last pass: coefficients of all frames, and what is left of them. */
static ex_result measure(exi_motion_learner *l, finding *f) {
    const size_t rows = (size_t)f->rows;
    double left = 0;
    for (int i = 0; i < l->frame_count; i++) {
        double *c = f->coefficients + (size_t)i * rows;
        const float *form = f->all ? f->data + (size_t)i * f->numbers : f->form;
        ex_result result = f->all ? EX_OK : read_form(l, l->frames[i], f->form);
        if (result == EX_OK)
            result = exi_motion_tell(l, "reading clothes", 0.65 + 0.35 * (i + 1) / l->frame_count);
        if (result != EX_OK)
            return result;
        for (size_t k = 0; k < f->numbers; k++) {
            f->form[k] = form[k] - l->mean[k];
            left += (double)f->form[k] * (double)f->form[k];
        }
        for (size_t r = 0; r < rows; r++)
            c[r] = exi_motion_dot(f->basis + r * f->numbers, f->form, f->numbers);
        for (size_t r = 0; r < rows; r++)
            for (size_t s = 0; s < rows; s++)
                f->products[r * rows + s] += c[r] * c[s];
    }
    if (!exi_motion_align(f->products, f->rows, f->basis, f->numbers, f->coefficients, (size_t)l->frame_count))
        return ex_error_memory(l->error, "forms", rows * rows * sizeof(double));
    for (int i = 0; i < l->frame_count; i++)
        for (int k = 0; k < l->form_count; k++) {
            const double c = f->coefficients[(size_t)i * rows + (size_t)k];
            l->coefficients[(size_t)i * (size_t)l->form_count + (size_t)k] = c;
            left -= c * c;
        }
    memcpy(l->forms, f->basis, (size_t)l->form_count * f->numbers * sizeof *l->forms);
    l->form_square = left > 0 ? left / ((double)l->frame_count * l->refs.driven_count) : 0;
    return EX_OK;
}

ex_result exi_motion_find_forms(exi_motion_learner *l) {
    finding f = {.numbers = 3 * (size_t)l->refs.driven_count};
    const int wanted = l->def->form_count;
    l->form_count = wanted < l->frame_count ? wanted : l->frame_count;
    f.rows = l->form_count + SPARE < l->frame_count ? l->form_count + SPARE : l->frame_count;
    const size_t fit = l->memory / (f.numbers * sizeof(float));
    const int most = fit < HELD ? (int)fit : HELD;
    f.held = l->frame_count < most ? l->frame_count : most > f.rows ? most : f.rows;
    f.all = f.held == l->frame_count;
    const size_t rows = (size_t)f.rows, frames = (size_t)l->frame_count;
    f.data = exi_array_allocate((size_t)f.held * f.numbers, sizeof(float));
    f.basis = exi_array_allocate(rows * f.numbers, sizeof(float));
    f.form = exi_array_allocate(f.numbers, sizeof(float));
    f.coefficients = exi_array_allocate(frames * rows, sizeof(double));
    f.products = calloc(rows * rows, sizeof(double));
    l->mean = exi_array_allocate(f.numbers, sizeof(float));
    l->forms = exi_array_allocate((size_t)l->form_count * f.numbers, sizeof(float));
    l->coefficients = exi_array_allocate(frames * (size_t)l->form_count, sizeof(double));
    ex_result result =
        f.data && f.basis && f.form && f.coefficients && f.products && l->mean && l->forms && l->coefficients
            ? EX_OK
            : ex_error_memory(l->error, "forms", ((size_t)f.held + 2 * rows) * f.numbers * 4);
    if (result == EX_OK)
        result = hold_frames(l, &f);
    if (result == EX_OK && !f.all) {
        free(f.data);
        f.data = NULL;
        result = refine(l, &f);
    }
    if (result == EX_OK)
        result = measure(l, &f);
    free(f.data);
    free(f.basis);
    free(f.form);
    free(f.coefficients);
    free(f.products);
    return result;
}
