/*
 * Minimises 1/2 w'Hw + h'w over the simplex, by Wolfe's method (Finding the nearest point in a polytope, 1976), which
 * is the primal active-set method for this set of constraints. For a support S, the weights that may be above 0, the
 * minimum subject to sum w = 1 only is
 *
 *   w = L^-T (u - m v),   L L' = H_SS,   L u = -h_S,   L v = 1,   m = (v'u - 1) / v'v.
 *
 * If one of its weights is not above 0, move towards it to the boundary of the simplex, and remove the weights that
 * became 0. If all are above 0, add the example along which the objective falls most steeply; stop if there is none.
 * The objective falls with every step that moves, so no support occurs twice. L, u and v are updated: adding an example
 * adds a row, removing one takes a few rotations.
 *
 * The result must not depend on the start. So H_SS is finally factored again in the order of the examples, whatever the
 * order in which they were added. The result of a warm start is used only if every weight and every multiplier is
 * clearly different from 0; otherwise the search starts again without it.
 */
#include "runtime/weigh/simplex.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Thresholds for clearly different from 0: weights; multipliers, in rounding errors of the gradient; pivots relative to
 * the diagonal. */
static const double clear_weight = 1e-9, clear_multiplier = 1e3, clear_pivot = 1e-6;

enum { OUTSIDE, INSIDE, TRIED };

typedef struct solver {
    const exi_simplex *problem;
    const double *linear;
    int room, size, steps;
    bool in_order;    /* true if L equals the factor of the support in the order of its examples */
    double noise;     /* rounding error of the gradient */
    double *factor;   /* L: rows one after the other, i + 1 numbers in row i */
    double *u, *v;    /* [room] */
    double *current;  /* [room]: the weights, in the order of `members` */
    double *target;   /* [room]: the minimum over the support */
    double *gradient; /* [n] */
    int *members;     /* [room]: the support */
    uint8_t *places;  /* [n]: inside, outside, or tried from here without success */
} solver;

size_t exi_simplex_scratch_size(int count, int room) {
    const size_t n = (size_t)count, r = (size_t)room;
    return (r * (r + 1) / 2 + 4 * r + n) * sizeof(double) + (r * sizeof(int) + n + 7) / 8 * 8;
}

static void open_solver(solver *s, const exi_simplex *problem, const double *linear, int room, void *scratch) {
    const size_t n = (size_t)problem->count, r = (size_t)room;
    double *next = scratch, largest = 0;
    *s = (solver){.problem = problem, .linear = linear, .room = room};
    s->factor = next;
    s->u = s->factor + r * (r + 1) / 2;
    s->v = s->u + r;
    s->current = s->v + r;
    s->target = s->current + r;
    s->gradient = s->target + r;
    s->members = (int *)(void *)(s->gradient + n);
    s->places = (uint8_t *)(s->members + r);
    for (size_t j = 0; j < n; j++) {
        const double size = fabs(linear[j]) + problem->matrix[j * problem->stride + j];
        largest = size > largest ? size : largest;
    }
    s->noise = 16 * DBL_EPSILON * largest;
}

/* ---- the factor ---- */

static double *row_of(const solver *s, int i) {
    return s->factor + (size_t)i * ((size_t)i + 1) / 2;
}

static double dot(const double *a, const double *b, int count) {
    double even = 0, odd = 0;
    int k = 0;
    for (; k + 1 < count; k += 2) {
        even += a[k] * b[k];
        odd += a[k + 1] * b[k + 1];
    }
    return k < count ? even + odd + a[k] * b[k] : even + odd;
}

/* Adds one example. H is definite only within rounding if examples depend on each other: pivots have a floor. */
static void append(solver *s, int example) {
    const int i = s->size;
    const double *h = s->problem->matrix + (size_t)example * s->problem->stride;
    double *row = row_of(s, i);
    const double *other = s->factor;
    for (int k = 0; k < i; other += ++k)
        row[k] = (h[s->members[k]] - dot(row, other, k)) / other[k];
    const double left = h[example] - dot(row, row, i), least = 8 * DBL_EPSILON * h[example];
    row[i] = sqrt(left > least ? left : least > 0 ? least : DBL_MIN);
    s->u[i] = (-s->linear[example] - dot(row, s->u, i)) / row[i];
    s->v[i] = (1 - dot(row, s->v, i)) / row[i];
    s->in_order = i == 0 || (s->in_order && s->members[i - 1] < example);
    s->members[i] = example;
    s->current[i] = 0;
    s->places[example] = INSIDE;
    s->size++;
}

static void rotate(double c, double d, double *a, double *b) {
    const double x = *a, y = *b;
    *a = c * x + d * y;
    *b = c * y - d * x;
}

/* Removes one example: deletes row k, and rotations of columns make the rows below triangular again. */
static void drop(solver *s, int k) {
    s->places[s->members[k]] = OUTSIDE;
    s->in_order = s->in_order && k == s->size - 1;
    for (int c = k; c + 1 < s->size; c++) {
        const double *pivot = row_of(s, c + 1) + c;
        const double length = sqrt(pivot[0] * pivot[0] + pivot[1] * pivot[1]);
        const double cosine = pivot[0] / length, sine = pivot[1] / length;
        for (int i = c + 1; i < s->size; i++)
            rotate(cosine, sine, row_of(s, i) + c, row_of(s, i) + c + 1);
        rotate(cosine, sine, &s->u[c], &s->u[c + 1]);
        rotate(cosine, sine, &s->v[c], &s->v[c + 1]);
    }
    for (int i = k + 1; i < s->size; i++) {
        memmove(row_of(s, i - 1), row_of(s, i), (size_t)i * sizeof(double));
        s->members[i - 1] = s->members[i];
        s->current[i - 1] = s->current[i];
    }
    s->size--;
}

/* Computes the minimum subject to sum w = 1 on the support, into target. */
static void solve_support(solver *s) {
    const int size = s->size;
    if (size == 1) { /* exact, without rounding */
        s->target[0] = 1;
        return;
    }
    const double m = (dot(s->v, s->u, size) - 1) / dot(s->v, s->v, size);
    double *restrict w = s->target;
    for (int i = 0; i < size; i++)
        w[i] = s->u[i] - m * s->v[i];
    for (int i = size - 1; i >= 0; i--) {
        const double *row = row_of(s, i);
        const double value = w[i] / row[i];
        w[i] = value;
        for (int k = 0; k < i; k++)
            w[k] -= value * row[k];
    }
}

/* ---- steps ---- */

/* Starts again with these examples, in order: `wanted` holds one bit for each. */
static void begin(solver *s, const uint32_t *wanted) {
    s->size = 0;
    s->in_order = true;
    memset(s->places, OUTSIDE, (size_t)s->problem->count);
    for (int j = 0; j < s->problem->count && s->size < s->room; j++)
        if (wanted[j / 32] >> (j % 32) & 1)
            append(s, j);
}

/* Starts with the example that is best alone. */
static void begin_nearest(solver *s) {
    const exi_simplex *p = s->problem;
    double least = INFINITY;
    int nearest = 0;
    for (int j = 0; j < p->count; j++) {
        const double value = 0.5 * p->matrix[(size_t)j * p->stride + (size_t)j] + s->linear[j];
        if (value < least) {
            least = value;
            nearest = j;
        }
    }
    s->size = 0;
    memset(s->places, OUTSIDE, (size_t)p->count);
    append(s, nearest);
    s->current[0] = 1;
}

/* Shrinks a given support until its minimum lies inside the simplex, by removing weights that are not above 0. */
static void shrink_to_fit(solver *s) {
    for (;;) {
        int kept = 0;
        solve_support(s);
        for (int i = 0; i < s->size; i++)
            kept += s->target[i] > 0;
        if (kept == s->size)
            break;
        const int size = s->size;
        s->size = 0;
        for (int i = 0; i < size; i++) {
            const int example = s->members[i];
            if (s->target[i] > 0)
                append(s, example);
            else
                s->places[example] = OUTSIDE;
        }
        if (kept == 0) {
            begin_nearest(s);
            return;
        }
    }
    memcpy(s->current, s->target, (size_t)s->size * sizeof *s->current);
}

/* Moves from the current weights to the minimum over the support, or over the part of it that stays above 0. */
static void descend(solver *s) {
    for (;;) {
        double part = 1;
        int first = -1; /* the first to reach 0 */
        solve_support(s);
        for (int i = 0; i < s->size; i++) {
            const double w = s->current[i], x = s->target[i];
            if (!(x > 0) && (first < 0 || w < part * (w - x))) {
                first = i;
                part = w < w - x ? w / (w - x) : 1;
            }
        }
        if (first < 0)
            break;
        s->steps++;
        for (int i = s->size - 1; i >= 0; i--) {
            const double w = s->current[i], x = s->target[i];
            if (i == first || (!(x > 0) && !(w > part * (w - x)) && s->size > 1))
                drop(s, i);
            else
                s->current[i] = w + part * (x - w);
        }
    }
    memcpy(s->current, s->target, (size_t)s->size * sizeof *s->current);
}

/* Computes the gradient Hw + h everywhere; returns its weighted mean over the support. */
static double set_gradient(solver *s) {
    const int n = s->problem->count;
    const size_t stride = s->problem->stride;
    const double *matrix = s->problem->matrix;
    double *restrict gradient = s->gradient;
    memcpy(gradient, s->linear, (size_t)n * sizeof *gradient);
    int i = 0;
    for (; i + 3 < s->size; i += 4) {
        const double *restrict a = matrix + (size_t)s->members[i] * stride;
        const double *restrict b = matrix + (size_t)s->members[i + 1] * stride;
        const double *restrict c = matrix + (size_t)s->members[i + 2] * stride;
        const double *restrict d = matrix + (size_t)s->members[i + 3] * stride;
        const double wa = s->current[i], wb = s->current[i + 1], wc = s->current[i + 2], wd = s->current[i + 3];
        for (int j = 0; j < n; j++)
            gradient[j] += (wa * a[j] + wb * b[j]) + (wc * c[j] + wd * d[j]);
    }
    for (; i < s->size; i++) {
        const double *restrict a = matrix + (size_t)s->members[i] * stride;
        const double wa = s->current[i];
        for (int j = 0; j < n; j++)
            gradient[j] += wa * a[j];
    }
    double level = 0;
    for (i = 0; i < s->size; i++)
        level += s->current[i] * gradient[s->members[i]];
    return level;
}

/* Goes from a support whose minimum is inside the simplex to the optimum. Returns the smallest multiplier of the
 * others. */
static double optimise(solver *s) {
    const int limit = 16 * s->problem->count + 64;
    for (;;) {
        const double level = set_gradient(s);
        double least = INFINITY;
        int steepest = -1;
        for (int j = 0; j < s->problem->count; j++)
            if (s->places[j] == OUTSIDE && s->gradient[j] - level < least) {
                least = s->gradient[j] - level;
                steepest = j;
            }
        if (least >= -s->noise || s->size == s->room || s->steps >= limit)
            return least;
        const bool in_order = s->in_order;
        s->steps++;
        append(s, steepest);
        solve_support(s);
        if (!(s->target[s->size - 1] > 0)) { /* it only looked like a descent, by rounding */
            drop(s, s->size - 1);
            s->in_order = in_order;
            s->places[steepest] = TRIED;
            continue;
        }
        descend(s);
        for (int j = 0; j < s->problem->count; j++)
            s->places[j] = s->places[j] == INSIDE ? INSIDE : OUTSIDE;
    }
}

/* Computes the same weights from a factor that does not depend on the order in which the examples came. */
static void put_in_order(solver *s) {
    if (s->in_order)
        return;
    s->size = 0;
    for (int j = 0; j < s->problem->count; j++)
        if (s->places[j] == INSIDE)
            append(s, j);
    solve_support(s);
    memcpy(s->current, s->target, (size_t)s->size * sizeof *s->current);
}

static bool is_clear_cut(const solver *s, double multiplier) {
    if (!(multiplier > clear_multiplier * s->noise) && s->size < s->problem->count)
        return false;
    for (int i = 0; i < s->size; i++) {
        const double pivot = row_of(s, i)[i],
                     diagonal = s->problem->matrix[(size_t)s->members[i] * (s->problem->stride + 1)];
        if (!(s->current[i] > clear_weight) || !(pivot * pivot > clear_pivot * diagonal))
            return false;
    }
    return true;
}

int exi_simplex_solve(const exi_simplex *problem, const double *linear, int room, uint32_t *support, void *scratch,
                      double *weights) {
    const int n = problem->count, words = (n + 31) / 32;
    solver s;
    open_solver(&s, problem, linear, room < n ? room : n, scratch);
    bool found = false;
    if (support) {
        begin(&s, support);
        if (s.size > 0) {
            shrink_to_fit(&s);
            const double multiplier = optimise(&s);
            put_in_order(&s);
            found = is_clear_cut(&s, multiplier) && (s.size < s.room || s.room == n);
        }
    }
    if (!found) {
        s.steps = 0;
        begin_nearest(&s);
        optimise(&s);
        put_in_order(&s);
    }
    double sum = 0;
    for (int i = 0; i < s.size; i++)
        sum += s.current[i] > 0 ? s.current[i] : 0;
    memset(weights, 0, (size_t)n * sizeof *weights);
    if (support)
        memset(support, 0, (size_t)words * sizeof *support);
    for (int i = 0; i < s.size; i++)
        if (s.current[i] > 0) {
            weights[s.members[i]] = s.current[i] / sum;
            if (support)
                support[s.members[i] / 32] |= (uint32_t)1 << (s.members[i] % 32);
        }
    return s.steps;
}
