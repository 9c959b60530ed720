/*
 * The Shepard weigher: w_i is proportional to 1 / D_i^power, with its limit at the points: at a point, that point takes
 * all. Weights are never negative, sum to 1, and are flat at every point for powers above 1.
 */
#include "runtime/weigh/gradient.h"

#include <math.h>
#include <string.h>

static const ex_parameter parameters[] = {
    {EXI_PARAMETER("power", power),
     .help = "Rate at which an example's weight falls off with distance. Larger values come closer to using the "
             "nearest example alone.",
     .preset = 2, .above = true, .most = 64, .usual = {0.5, 8}},
};

/* Shares are relative to the nearest distance, (nearest / D)^power, so that nothing overflows near a point. */
static void evaluate(const ex_weigher *w, const double *features, double *weights) {
    const int n = exi_point_count(w);
    memset(weights, 0, (size_t)w->example_count * sizeof *weights);
    double nearest = INFINITY;
    int nearest_point = 0;
    for (int j = 0; j < n; j++) {
        double d = exi_feature_distance(w, features, exi_features(w, j));
        if (d < nearest) {
            nearest = d;
            nearest_point = j;
        }
    }
    if (!(nearest > 0)) {
        exi_spread_share(w, nearest_point, 1, weights);
        return;
    }
    double sum = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int j = 0; j < n; j++) {
            double ratio = nearest / exi_feature_distance(w, features, exi_features(w, j));
            double share = w->power == 2.0 ? ratio * ratio : exi_exp(w->power * exi_log(ratio));
            if (pass == 0)
                sum += share;
            else
                exi_spread_share(w, j, share / sum, weights);
        }
}

/* With shares P_j of sum 1: dP_j = P_j (l_j - sum of P_k l_k), where l_j = -power/2 d(D_j^2) / D_j^2. 0 at a point:
 * weights are flat there, or have a corner. */
static void gradient(const ex_weigher *w, const double *features, double *weights, double *rows, size_t stride) {
    const int n = exi_point_count(w), count = w->feature_count;
    double half[EXI_FEATURE_MAX], mean[EXI_FEATURE_MAX], nearest = INFINITY, sum = 0;
    evaluate(w, features, weights);
    exi_gradient_clear(w, rows, stride);
    for (int j = 0; j < n; j++)
        nearest = fmin(nearest, exi_feature_distance(w, features, exi_features(w, j)));
    if (!(nearest > 0))
        return;
    memset(mean, 0, (size_t)count * sizeof *mean);
    for (int pass = 0; pass < 2; pass++) {
        for (int j = 0; j < n; j++) {
            const double distance = exi_distance_slopes(w, features, j, half);
            const double share = exi_exp(w->power * exi_log(nearest / distance));
            for (int f = 0; f < count; f++)
                half[f] *= -w->power / distance / distance;
            for (int f = 0; pass == 0 && f < count; f++)
                mean[f] += share * half[f];
            for (int f = 0; pass == 1 && f < count; f++)
                half[f] -= mean[f] / sum;
            if (pass == 1)
                exi_gradient_spread(w, j, share / sum, half, rows, stride);
            else
                sum += share;
        }
    }
}

const exi_weigher_kind exi_weigher_shepard = {
    .info = {.help = "Weights stay between 0 and 1. The form lingers a little at each example.",
             EXI_PARAMETERS(parameters),
             .has_points = true,
             .has_gpu_code = true},
    .angular = true,
    .solve = exi_check_places,
    .evaluate = evaluate,
    .gradient = gradient,
};
