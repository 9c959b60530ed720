/*
 * Local rotations and scales: the local step of as-rigid-as-possible deformation (O. Sorkine, M. Alexa, 2007).
 *
 * With edges e = p_i - p_j at rest, B_i the vertex's rotation at the beginning of a level and d = x_i - x_j,
 *
 *   S_i = sum of w_ij d (B_i e)^T,   (A + h^2 K) Y = S,   R_i = (the rotation that maximises tr(Q^T Y_i)) B_i.
 *
 * A is the diagonal of areas and K the Laplacian, so corrections are averaged over a width h of the surface. A wide one
 * turns limbs as a whole and bends them only over that width; it also takes far fewer steps. Bends of the start stay,
 * since only the correction to B is averaged.
 *
 * The scale of a vertex is that of its edges, sum of w d.(R e) / sum of w |e|^2, averaged likewise and drawn to 1 by
 * PRIOR: parts of a person may be larger than those of the template, but smoothly.
 */
#include "author/scan/register/register.h"

#include "author/base/array.h"
#include "runtime/base/memory.h"
#include "runtime/base/vector.h"
#include "runtime/weigh/driver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PRIOR       0.15
#define SCALE_LEAST 0.7
#define SCALE_MOST  1.4
enum { GRAIN = 512 };

void exi_reg_turns_free(exi_reg_turns *t) {
    free(t->forms);
    free(t->bases);
    free(t->rotations);
    free(t->scales);
    free(t->work);
    free(t->sums);
    exi_factor_destroy(t->smooth);
    exi_factor_destroy(t->smooth_scales);
    *t = (exi_reg_turns){0};
}

void exi_reg_turns_settle(exi_reg_turns *t, const double (*x)[3]) {
    const size_t n = (size_t)t->shape->count;
    memcpy(t->forms, x, n * sizeof *t->forms);
    memset(t->rotations, 0, n * sizeof *t->rotations);
    for (size_t v = 0; v < n; v++) {
        for (int k = 0; k < 3; k++)
            t->rotations[v][k][k] = 1;
        t->scales[v] = 1;
    }
    memcpy(t->bases, t->rotations, n * sizeof *t->bases);
}

ex_result exi_reg_turns_make(const exi_reg_shape *shape, exi_reg_turns *t, ex_error *error) {
    const size_t n = (size_t)shape->count;
    *t = (exi_reg_turns){.shape = shape};
    t->forms = exi_array_copy(shape->rest, n, sizeof *t->forms);
    t->bases = calloc(n, sizeof *t->bases);
    t->rotations = calloc(n, sizeof *t->rotations);
    t->scales = exi_array_allocate(n, sizeof *t->scales);
    t->sums = exi_array_allocate(9 * n, sizeof *t->sums);
    if (!t->forms || !t->bases || !t->rotations || !t->scales || !t->sums) {
        exi_reg_turns_free(t);
        return ex_error_memory(error, "the rotations of the template", n * 28 * sizeof(double));
    }
    exi_reg_turns_settle(t, (const double(*)[3])shape->rest);
    return EX_OK;
}

/* Factorises A + width^2 K. */
static ex_result make_smoother(const exi_reg_shape *s, double width, exi_factor **factor, ex_error *error) {
    const size_t entries = (size_t)s->starts[s->count];
    double *values = exi_array_allocate(entries, sizeof *values);
    if (!values)
        return ex_error_memory(error, "the rotations of the template", entries * sizeof *values);
    for (size_t e = 0; e < entries; e++)
        values[e] = width * width * s->values[e];
    for (int v = 0; v < s->count; v++)
        values[s->starts[v]] += s->areas[v];
    ex_result result = EX_OK;
    if (*factor)
        result = exi_factor_refactor(*factor, values, NULL, error);
    else
        result = exi_factor_create(&(exi_symmetric){s->count, s->starts, s->rows, values}, NULL, factor, error);
    free(values);
    return result;
}

ex_result exi_reg_turns_widen(exi_reg_turns *t, double width, double scale_width, ex_error *error) {
    ex_result result = EX_OK;
    memcpy(t->bases, t->rotations, (size_t)t->shape->count * sizeof *t->bases);
    if (width > 0) {
        result = make_smoother(t->shape, width, &t->smooth, error);
    } else {
        exi_factor_destroy(t->smooth);
        t->smooth = NULL;
    }
    if (result == EX_OK && scale_width > 0 && !t->smooth_scales)
        result = make_smoother(t->shape, scale_width, &t->smooth_scales, error);
    const exi_factor *any = t->smooth ? t->smooth : t->smooth_scales;
    if (result == EX_OK && any && !t->work) {
        t->work = malloc(exi_factor_work_size(any));
        if (!t->work)
            result = ex_error_memory(error, "the rotations of the template", exi_factor_work_size(any));
    }
    return result;
}

static void times(const double m[3][3], const double v[3], double out[3]) {
    const double x = exi_dot3(m[0], v), y = exi_dot3(m[1], v), z = exi_dot3(m[2], v);
    out[0] = x;
    out[1] = y;
    out[2] = z;
}

/* Adds what edge a b adds to the sum of vertex a. */
static void add_edge(exi_reg_turns *t, const double (*x)[3], int a, int b, double w) {
    double e[3], d[3], *sum = t->sums + 9 * (size_t)a;
    exi_subtract(t->forms[a], t->forms[b], e);
    exi_subtract(x[a], x[b], d);
    times((const double(*)[3])t->bases[a], e, e);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            sum[3 * i + k] += w * d[i] * e[k];
}

/* Averages [count][9], three columns at a time. */
static void smooth_sums(exi_reg_turns *t, double *three) {
    const size_t n = (size_t)t->shape->count;
    for (size_t part = 0; part < 3; part++) {
        for (size_t v = 0; v < n; v++)
            memcpy(three + 3 * v, t->sums + 9 * v + 3 * part, 3 * sizeof *three);
        exi_factor_solve(t->smooth, three, t->work);
        for (size_t v = 0; v < n; v++)
            memcpy(t->sums + 9 * v + 3 * part, three + 3 * v, 3 * sizeof *three);
    }
}

static void turn_some(void *context, int begin, int end) {
    exi_reg_turns *t = context;
    for (int v = begin; v < end; v++) {
        double q[3][3], m[3][3];
        memcpy(m, t->sums + 9 * (size_t)v, sizeof m);
        exi_nearest_rotation((const double(*)[3])m, q);
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++)
                t->rotations[v][i][k] =
                    q[i][0] * t->bases[v][0][k] + q[i][1] * t->bases[v][1][k] + q[i][2] * t->bases[v][2][k];
    }
}

/* seen and own [count] are work memory. */
static void find_scales(exi_reg_turns *t, const double (*x)[3], double *seen, double *own) {
    const exi_reg_shape *s = t->shape;
    memset(seen, 0, (size_t)s->count * sizeof *seen);
    memset(own, 0, (size_t)s->count * sizeof *own);
    for (int v = 0; v < s->count; v++)
        for (int i = s->starts[v] + 1; i < s->starts[v + 1]; i++)
            for (int side = 0; side < 2; side++) {
                const int a = side ? s->rows[i] : v, b = side ? v : s->rows[i];
                double e[3], d[3];
                exi_subtract(t->forms[a], t->forms[b], e);
                exi_subtract(x[a], x[b], d);
                own[a] -= s->values[i] * exi_dot3(e, e);
                times((const double(*)[3])t->rotations[a], e, e);
                seen[a] -= s->values[i] * exi_dot3(d, e);
            }
    for (int v = 0; v < s->count; v++) {
        const double ratio = own[v] > 0 ? seen[v] / own[v] : 1;
        const double bound = ratio > SCALE_LEAST ? ratio < SCALE_MOST ? ratio : SCALE_MOST : SCALE_LEAST;
        seen[v] = s->areas[v] * ((1 - PRIOR) * bound + PRIOR);
    }
    exi_factor_solve_1(t->smooth_scales, seen, t->work);
    memcpy(t->scales, seen, (size_t)s->count * sizeof *seen);
}

void exi_reg_turns_find(exi_reg_turns *t, const double (*x)[3], const ex_tasks *tasks) {
    const exi_reg_shape *s = t->shape;
    memset(t->sums, 0, 9 * (size_t)s->count * sizeof *t->sums);
    for (int v = 0; v < s->count; v++)
        for (int i = s->starts[v] + 1; i < s->starts[v + 1]; i++) {
            add_edge(t, x, v, s->rows[i], -s->values[i]);
            add_edge(t, x, s->rows[i], v, -s->values[i]);
        }
    /* The rotations of this step are not needed yet, so their memory serves. */
    if (t->smooth)
        smooth_sums(t, &t->rotations[0][0][0]);
    exi_run(tasks, s->count, GRAIN, turn_some, t);
    if (t->smooth_scales)
        find_scales(t, x, t->sums, t->sums + s->count);
}
