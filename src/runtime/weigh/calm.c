/*
 * The calm weigher: exact at examples, smooth, and without the ringing of other radial bases.
 *
 *   v_i(p) = sum over points j of r_ji |p - p_j|~ + plane_i(p)
 *
 * The kernel is the distance itself, rounded near its point. In one dimension that is the straight line from example
 * to example with rounded corners, in three the biharmonic spline. A pair of near points acts on far ones by their
 * difference, which never exceeds 1, so crowded examples do not ring; with kernels that grow faster it does.
 *
 * Then a bound is kept, whatever the points are: v becomes w, with every w_i within [-overshoot, 1 + overshoot] and the
 * same sum (calm.inl). Weights that are already within 3/4 of that are not changed. docs/mathematics.md ("Calm
 * weights") has the formulas, and what was compared.
 */
#include "runtime/weigh/calm.inl"
#include "runtime/weigh/calm.h"
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
    .condition = exi_calm_condition,
    .is_sound = is_sound,
};
