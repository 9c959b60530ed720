/*
 * The calm weigher: exact at examples, smooth, and without the ringing of other radial bases.
 *
 *   v_i(p) = sum over points j of r_ji |p - p_j|~ + plane_i(p)
 *
 * The kernel is the distance itself, rounded near its point. In one dimension that is the straight line from example
 * to example with rounded corners, in three the biharmonic spline. A pair of near points acts on far ones by their
 * difference, which never exceeds 1, so crowded examples do not ring; with kernels that grow faster it does.
 *
 * Then a bound is kept, wherever the points are: v becomes w, with every w_i within [-overshoot, 1 + overshoot] and the
 * same sum (calm.inl). Above 1 that is proved for up to 747 examples at 0.1, not for any number. Weights that are already
 * within 3/4 of that are not changed. docs/mathematics.md ("Calm weights") has the formulas, and what was compared.
 */
#include "runtime/weigh/calm.inl"
#include "runtime/weigh/calm.h"
#include "runtime/weigh/gradient.h"
#include "runtime/weigh/weigher.h"

#include <math.h>
#include <string.h>

/* Points whose kernels are computed together. */
#define CHUNK 32

static const ex_parameter parameters[] = {
    {EXI_PARAMETER("overshoot", overshoot),
     .help = "How far a weight may leave 0 to 1 between examples. At 0 it never does, and the motion slows down to a "
             "stop at every example.",
     .preset = 0.1, .most = 1, .usual = {0, 0.3}},
    {EXI_PARAMETER("linear", linear),
     .help = "Examples on a straight line are joined by a straight line. Without it, weights fade to an even blend "
             "outside of the examples.",
     .type = EX_PARAMETER_SWITCH, .preset = 1, .rare = true},
};

static size_t own_count(const ex_weigher *w) {
    const size_t n = (size_t)exi_point_count(w), m = (size_t)w->example_count, s = (size_t)w->scalar_count;
    return n + s + (1 + s) * m + n * m + 1;
}

/* ---- evaluation ---- */

void exi_calm_add_rows(double *restrict weights, const double *restrict rows, const double *restrict kernels, int count,
                       int m) {
    int k = 0;
    for (; k + 4 <= count; k += 4) {
        const double *a = rows + (size_t)k * (size_t)m, *b = a + m, *c = b + m, *d = c + m;
        const double ka = kernels[k], kb = kernels[k + 1], kc = kernels[k + 2], kd = kernels[k + 3];
        for (int i = 0; i < m; i++)
            weights[i] += (ka * a[i] + kb * b[i]) + (kc * c[i] + kd * d[i]);
    }
    for (; k < count; k++) {
        const double *a = rows + (size_t)k * (size_t)m;
        for (int i = 0; i < m; i++)
            weights[i] += kernels[k] * a[i];
    }
}

void exi_calm_evaluate_free(const ex_weigher *w, const double *features, double *weights) {
    const int n = exi_point_count(w), m = w->example_count;
    const exi_cardinal t = exi_cardinal_tables(w);
    memcpy(weights, t.plane, (size_t)m * sizeof *weights);
    if (w->flags & EXI_WEIGHER_LINEAR)
        for (int a = 0; a < w->scalar_count; a++) {
            const double x = features[a] - t.mean[a];
            const double *slope = t.plane + (size_t)(1 + a) * (size_t)m;
            for (int i = 0; i < m; i++)
                weights[i] += x * slope[i];
        }
    double kernels[CHUNK];
    for (int first = 0; first < n; first += CHUNK) {
        const int count = n - first < CHUNK ? n - first : CHUNK;
        for (int k = 0; k < count; k++)
            kernels[k] = exi_calm_kernel(exi_feature_distance(w, features, exi_features(w, first + k)),
                                         t.inverse_radii[first + k]);
        exi_calm_add_rows(weights, t.radial + (size_t)first * (size_t)m, kernels, count, m);
    }
}

void exi_calm_keep_bound(double *weights, int count, double bound) {
    exi_calm_sums sums = {0};
    double remainder = 1;
    for (int i = 0; i < count; i++)
        remainder -= weights[i];
    const double raised = bound < EXI_CALM_FREE ? EXI_CALM_FREE : bound;
    for (int i = 0; i < count; i++)
        exi_calm_add(&sums, weights[i], raised);
    exi_calm_add(&sums, remainder, raised);
    if (exi_calm_is_within(&sums, bound))
        return;
    exi_calm_change change = exi_calm_plan(&sums, bound, count + 1);
    double second[3] = {0, 0, 0};
    for (int i = 0; i < count; i++)
        exi_calm_measure(&change, weights[i], second);
    exi_calm_measure(&change, remainder, second);
    exi_calm_finish(&change, sums.plus, second);
    for (int i = 0; i < count; i++)
        weights[i] = exi_calm_weight(&change, weights[i]);
}

static void evaluate(const ex_weigher *w, const double *features, double *weights) {
    exi_calm_evaluate_free(w, features, weights);
    exi_calm_keep_bound(weights, w->example_count, *exi_calm_bound(w));
}

/* ---- derivatives ---- */

/* Derivative of exi_calm_bend by x. */
static double bend_slope(double x, double limit) {
    const double knee = EXI_CALM_KNEE * limit, room = limit - knee;
    return x > knee ? room * room / ((room + x - knee) * (room + x - knee)) : 1;
}

/* Derivative of exi_calm_small by x. */
static double small_slope(double x, double soft) {
    return x * (x + 2 * soft) / ((x + soft) * (x + soft));
}

/* A change that keeps the bound, with the sums it was made from, and how it changes as all weights move. */
typedef struct moving {
    exi_calm_change change;
    exi_calm_sums sums;
    double second[3];
    bool limited;              /* true if all that is below 0 together is limited */
    double less, scale, drawn; /* derivatives of the change */
} moving;

/* The derivative of exi_calm_minus. */
static double minus_slope(const moving *m, double weight, double by) {
    const exi_calm_change *c = &m->change;
    const double y = exi_calm_bend(-weight, c->bound), dy = -by * bend_slope(-weight, c->bound);
    return dy * (1 - c->less * small_slope(y, c->soft_minus)) - m->less * exi_calm_small(y, c->soft_minus);
}

/* Sets the derivatives of the change for weights that move along `by`, every stride-th number; the remainder moves by
 * minus their sum. */
static void move_change(const double *weights, const double *by, size_t stride, int count, double remainder,
                        moving *m) {
    const exi_calm_change *c = &m->change;
    double rest = 0, plus = 0, squares = 0, minus = 0, second[3] = {0, 0, 0};
    for (int i = 0; i <= count; i++) {
        const double weight = i < count ? weights[i] : remainder, along = i < count ? by[(size_t)i * stride] : rest;
        rest -= along;
        plus += weight >= 0 ? along : 0;
        squares += weight >= 0 ? 2 * weight * along : 0;
        minus -= weight < 0 ? along * bend_slope(-weight, c->bound) : 0;
    }
    m->less = m->scale = m->drawn = 0;
    if (m->limited) { /* 1 - bend(minus, room) / minus; bend has the degree 1 in both */
        const double total = m->sums.minus;
        const double room = EXI_CALM_KNEE * c->bound * m->sums.plus * m->sums.plus / m->sums.squares;
        const double moved = room * (2 * plus / m->sums.plus - squares / m->sums.squares);
        const double bent = exi_calm_bend(total, room), slope = bend_slope(total, room);
        m->less = bent * minus / (total * total) - (slope * minus + (bent - slope * total) / room * moved) / total;
    }
    rest = 0;
    for (int i = 0; i <= count; i++) {
        const double weight = i < count ? weights[i] : remainder, along = i < count ? by[(size_t)i * stride] : rest;
        rest -= along;
        if (weight < 0) {
            second[0] += minus_slope(m, weight, along);
            continue;
        }
        second[1] += along * small_slope(weight, c->soft_plus);
        second[2] += c->free < 1 ? along * small_slope(weight, EXI_CALM_DRAW) : 0;
    }
    if (c->scale > 0)
        m->scale = (plus - second[0] - c->scale * second[1]) / m->second[1];
    m->drawn = -second[2] * c->drawn * c->drawn;
}

/* The derivative of exi_calm_weight. */
static double weight_slope(const moving *m, double weight, double by) {
    const exi_calm_change *c = &m->change;
    const double bounded = weight < 0 ? -minus_slope(m, weight, by)
                                      : by * (1 - c->scale * small_slope(weight, c->soft_plus)) -
                                            m->scale * exi_calm_small(weight, c->soft_plus);
    if (!(c->free < 1))
        return bounded;
    const double drawn = weight > 0 ? by * small_slope(weight, EXI_CALM_DRAW) * c->drawn +
                                          exi_calm_small(weight, EXI_CALM_DRAW) * m->drawn
                                    : 0;
    return c->free * bounded + (1 - c->free) * drawn;
}

/* Changes derivatives of weights [count] before the bound into those after it: the first `width` numbers of rows. */
static void bound_rows(const double *weights, int count, double bound, double *rows, size_t stride, int width) {
    moving m = {.sums = {0}};
    double remainder = 1;
    for (int i = 0; i < count; i++)
        remainder -= weights[i];
    const double raised = bound < EXI_CALM_FREE ? EXI_CALM_FREE : bound;
    for (int i = 0; i <= count; i++)
        exi_calm_add(&m.sums, i < count ? weights[i] : remainder, raised);
    if (exi_calm_is_within(&m.sums, bound))
        return;
    m.change = exi_calm_plan(&m.sums, bound, count + 1);
    m.limited = m.change.less > 0;
    for (int i = 0; i <= count; i++)
        exi_calm_measure(&m.change, i < count ? weights[i] : remainder, m.second);
    exi_calm_finish(&m.change, m.sums.plus, m.second);
    for (int f = 0; f < width; f++) {
        move_change(weights, rows + f, stride, count, remainder, &m);
        for (int i = 0; i < count; i++)
            rows[(size_t)i * stride + (size_t)f] = weight_slope(&m, weights[i], rows[(size_t)i * stride + (size_t)f]);
    }
}

static void gradient(const ex_weigher *w, const double *features, double *weights, double *rows, size_t stride) {
    const int n = exi_point_count(w), m = w->example_count;
    const exi_cardinal t = exi_cardinal_tables(w);
    double half[EXI_FEATURE_MAX];
    exi_gradient_clear(w, rows, stride);
    for (int i = 0; (w->flags & EXI_WEIGHER_LINEAR) && i < m; i++)
        for (int a = 0; a < w->scalar_count; a++)
            rows[(size_t)i * stride + (size_t)a] = t.plane[(size_t)(1 + a) * (size_t)m + (size_t)i];
    for (int j = 0; j < n; j++) {
        const double distance = exi_distance_slopes(w, features, j, half), radius = t.inverse_radii[j];
        const double u = distance < radius ? distance / radius : 0;
        const double slope = distance < radius ? (1.5 - 0.5 * u * u) / radius : distance > 0 ? 1 / distance : 0;
        exi_gradient_add(rows, stride, t.radial + (size_t)j * (size_t)m, m, slope, half, w->feature_count);
    }
    exi_calm_evaluate_free(w, features, weights);
    bound_rows(weights, m, *exi_calm_bound(w), rows, stride, w->feature_count);
    exi_calm_keep_bound(weights, m, *exi_calm_bound(w));
}

/* Sizes a division and a loop's end by nothing but counts; a bound from a file must be one. */
static bool is_sound(const ex_weigher *w) {
    const exi_cardinal t = exi_cardinal_tables(w);
    for (int j = 0; j < exi_point_count(w); j++)
        if (!(t.inverse_radii[j] >= 0))
            return false;
    return *exi_calm_bound(w) >= exi_own_parameters(w)[0];
}

const exi_weigher_kind exi_weigher_calm = {
    .info = {.help = "Exact at the examples, smooth, and calm between and beyond them however they are spaced.",
             EXI_PARAMETERS(parameters),
             .has_points = true,
             .has_condition = true,
             .has_gpu_code = true},
    .holds = true,
    .own_count = own_count,
    .solve = exi_calm_solve,
    .resolve = exi_calm_resolve,
    .draw = exi_calm_evaluate_free,
    .evaluate = evaluate,
    .gradient = gradient,
    .condition = exi_calm_condition,
    .is_sound = is_sound,
};
