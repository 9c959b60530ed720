/*
 * The linear step: the minimum over x of
 *
 *   L^2 sum over edges of w |x_i - x_j - (T_i + T_j) (p_i - p_j) / 2|^2
 *     + sum over pulls of m |N (u - q)|^2,   u = b_0 x_a + b_1 x_b + b_2 x_c,   N^T N = c I + (1 - c) n n^T,
 *
 * with T = scale rotation held. With c = 1 the three coordinates are separate systems with one matrix. Otherwise,
 * they are coupled, and conjugate gradients solve for them together. The preconditioner is the matrix that each
 * coordinate would have if every pull counted c + (1 - c) / 3 in all directions: it is exact for c = 1.
 */
#include "author/scan/register/register.h"

#include "author/base/array.h"
#include "runtime/base/vector.h"

#include <stdlib.h>
#include <string.h>

/* Share of the edges' weight that holds a vertex where it is: parts that nothing pulls have a solution then. */
#define HOLD 1e-6
/* Conjugate gradients: of the step's right-hand side. Steps follow each other, so an exact one would be wasted. */
#define TOLERANCE 1e-3
enum { ITERATIONS = 30 };

struct exi_reg_system {
    const exi_reg_shape *shape;
    double *stiff;  /* [entries] L^2 K, with the hold */
    double *values; /* [entries] of the preconditioner */
    double *right;  /* [count][3] */
    double *moves;  /* [count][3] */
    double *work, *cg_work;
    exi_factor *factor;
    double length;
    const exi_reg_pull *pulls;
    int pull_count;
};

void exi_reg_system_free(exi_reg_system *s) {
    if (!s)
        return;
    free(s->stiff);
    free(s->values);
    free(s->right);
    free(s->moves);
    free(s->work);
    free(s->cg_work);
    exi_factor_destroy(s->factor);
    free(s);
}

ex_result exi_reg_system_make(const exi_reg_shape *shape, exi_reg_system **system, ex_error *error) {
    const size_t n = (size_t)shape->count, entries = (size_t)shape->starts[shape->count];
    exi_reg_system *s = calloc(1, sizeof *s);
    *system = NULL;
    if (s) {
        s->shape = shape;
        s->stiff = exi_array_allocate(entries, sizeof *s->stiff);
        s->values = exi_array_allocate(entries, sizeof *s->values);
        s->right = exi_array_allocate(3 * n, sizeof *s->right);
        s->moves = exi_array_allocate(3 * n, sizeof *s->moves);
        s->cg_work = malloc(exi_cg_work_size(3 * shape->count));
    }
    if (!s || !s->stiff || !s->values || !s->right || !s->moves || !s->cg_work) {
        exi_reg_system_free(s);
        return ex_error_memory(error, "the linear system of the template", entries * 16 + n * 200);
    }
    *system = s;
    return EX_OK;
}

/* Adds to the entry of two vertices, if they share an edge. */
static void add_entry(exi_reg_system *s, int a, int b, double value) {
    const int column = a < b ? a : b, row = a < b ? b : a;
    int low = s->shape->starts[column], high = s->shape->starts[column + 1];
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (s->shape->rows[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < s->shape->starts[column + 1] && s->shape->rows[low] == row)
        s->values[low] += value;
}

ex_result exi_reg_system_set(exi_reg_system *s, double length, const exi_reg_pull *pulls, int count, ex_error *error) {
    const exi_reg_shape *shape = s->shape;
    const size_t entries = (size_t)shape->starts[shape->count];
    s->length = length;
    s->pulls = pulls;
    s->pull_count = count;
    for (size_t e = 0; e < entries; e++)
        s->stiff[e] = length * length * shape->values[e];
    for (int v = 0; v < shape->count; v++)
        s->stiff[shape->starts[v]] += HOLD * (s->stiff[shape->starts[v]] + shape->areas[v]);
    memcpy(s->values, s->stiff, entries * sizeof *s->values);
    for (int i = 0; i < count; i++) {
        const exi_reg_pull *p = &pulls[i];
        const double w = p->weight * (p->across + (1 - p->across) / 3);
        for (int a = 0; a < 3; a++)
            for (int b = 0; b <= a; b++)
                if (p->shares[a] * p->shares[b] != 0) /* an entry off the diagonal stands for both */
                    add_entry(s, p->vertices[a], p->vertices[b], w * p->shares[a] * p->shares[b]);
    }
    if (s->factor)
        return exi_factor_refactor(s->factor, s->values, NULL, error);
    ex_result result = exi_factor_create(&(exi_symmetric){shape->count, shape->starts, shape->rows, s->values}, NULL,
                                         &s->factor, error);
    if (result == EX_OK && !s->work) {
        s->work = malloc(exi_factor_work_size(s->factor));
        if (!s->work)
            result = ex_error_memory(error, "the linear system of the template", exi_factor_work_size(s->factor));
    }
    return result;
}

/* Adds m N^T N (target share - u) of a pull to its vertices; with `from` 0 the negative of the matrix' product. */
static void add_pull(const exi_reg_pull *p, const double *x, double from, double sign, double *y) {
    double d[3];
    for (int k = 0; k < 3; k++) {
        d[k] = from * p->target[k];
        for (int c = 0; c < 3; c++)
            d[k] -= p->shares[c] != 0 ? p->shares[c] * x[3 * (size_t)p->vertices[c] + (size_t)k] : 0;
    }
    const double along = (1 - p->across) * exi_dot3(p->normal, d);
    for (int k = 0; k < 3; k++) {
        const double force = sign * p->weight * (p->across * d[k] + along * p->normal[k]);
        for (int c = 0; c < 3; c++)
            if (p->shares[c] != 0)
                y[3 * (size_t)p->vertices[c] + (size_t)k] += p->shares[c] * force;
    }
}

static void apply(void *user, const double *x, double *y) {
    const exi_reg_system *s = user;
    const exi_reg_shape *shape = s->shape;
    exi_symmetric_apply(&(exi_symmetric){shape->count, shape->starts, shape->rows, s->stiff}, 3, x, y);
    for (int i = 0; i < s->pull_count; i++)
        add_pull(&s->pulls[i], x, 0, -1, y);
}

static void precondition(void *user, const double *r, double *z) {
    const exi_reg_system *s = user;
    memcpy(z, r, 3 * (size_t)s->shape->count * sizeof *z);
    exi_factor_solve(s->factor, z, s->work);
}

void exi_reg_system_step(exi_reg_system *s, const exi_reg_turns *turns, double (*x)[3]) {
    const exi_reg_shape *shape = s->shape;
    const size_t n = (size_t)shape->count;
    memset(s->right, 0, 3 * n * sizeof *s->right);
    memset(s->moves, 0, 3 * n * sizeof *s->moves);
    for (int a = 0; a < shape->count; a++)
        for (int i = shape->starts[a] + 1; i < shape->starts[a + 1]; i++) {
            const int b = shape->rows[i];
            const double w = -s->length * s->length * shape->values[i];
            double e[3];
            exi_subtract(turns->forms[a], turns->forms[b], e);
            for (int k = 0; k < 3; k++) {
                const double wanted = (turns->scales[a] * exi_dot3(turns->rotations[a][k], e) +
                                       turns->scales[b] * exi_dot3(turns->rotations[b][k], e)) /
                                      2;
                const double force = w * (wanted - (x[a][k] - x[b][k]));
                s->right[3 * (size_t)a + (size_t)k] += force;
                s->right[3 * (size_t)b + (size_t)k] -= force;
            }
        }
    for (int i = 0; i < s->pull_count; i++)
        add_pull(&s->pulls[i], &x[0][0], 1, 1, s->right);
    (void)exi_cg(&(exi_cg_def){.n = 3 * shape->count,
                               .apply = apply,
                               .precondition = precondition,
                               .user = s,
                               .tolerance = TOLERANCE,
                               .iteration_most = ITERATIONS},
                 s->right, s->moves, s->cg_work);
    for (size_t v = 0; v < n; v++)
        for (size_t k = 0; k < 3; k++)
            x[v][k] += s->moves[3 * v + k];
}
