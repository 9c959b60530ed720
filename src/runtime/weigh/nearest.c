/*
 * The nearest-neighbour weigher (Allen, Curless, Popovic: Articulated Body Deformation from Range Scan Data, 2002,
 * equation 5): the k nearest points with weight 1/D_i - 1/T, normalised, where the threshold T lets a point fade out
 * before it leaves the set. T is the (k+1)-th distance; at the k-th, as printed, the k-th point always has weight 0 and
 * equidistant points give 0/0 (paper_form keeps that, and shares equally there). Without a (k+1)-th point T is
 * infinite.
 */
#include "runtime/weigh/gradient.h"

#include <math.h>
#include <string.h>

static const ex_parameter_word forms[] = {
    {"next", "at the distance of the next one, so that it fades out before that"},
    {"paper", "at its own distance, as the paper prints it"},
};

static const ex_parameter parameters[] = {
    {EXI_PARAMETER("k", neighbours), .help = "Number of nearest examples that count.", .type = EX_PARAMETER_WHOLE,
     .preset = 8, .least = 1, .most = EX_NEIGHBOUR_MAX, .usual = {1, INFINITY}},
    {EXI_PARAMETER("form", paper_form), .help = "Distance at which a neighbour stops counting.",
     .type = EX_PARAMETER_CHOICE, .words = forms, .word_count = 2, .rare = true},
};

typedef struct neighbour {
    double distance;
    int point;
} neighbour;

/* Finds the nearest points, sorted by distance; ties keep the order of the points. Returns their number. */
static int find_nearest(const ex_weigher *w, const double *features, int wanted, neighbour *found) {
    int count = 0;
    for (int j = 0; j < exi_point_count(w); j++) {
        double d = exi_feature_distance(w, features, exi_features(w, j));
        if (count == wanted && !(d < found[count - 1].distance))
            continue;
        int place = count < wanted ? count++ : count - 1;
        for (; place > 0 && d < found[place - 1].distance; place--)
            found[place] = found[place - 1];
        found[place] = (neighbour){d, j};
    }
    return count;
}

/* All points as near as the threshold share equally: the order of the points does not matter. */
static void share_tie(const ex_weigher *w, const double *features, double distance, double *weights) {
    int count = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int j = 0; j < exi_point_count(w); j++)
            if (exi_feature_distance(w, features, exi_features(w, j)) <= distance * (1 + 1e-12)) {
                count += pass == 0;
                if (pass == 1)
                    exi_spread_share(w, j, 1.0 / count, weights);
            }
}

static void evaluate(const ex_weigher *w, const double *features, double *weights) {
    neighbour found[EX_NEIGHBOUR_MAX + 1];
    const bool paper = (w->flags & EXI_WEIGHER_PAPER_FORM) != 0;
    const int k = w->neighbours;
    const int count = find_nearest(w, features, paper ? k : k + 1, found);
    memset(weights, 0, (size_t)w->example_count * sizeof *weights);
    if (!(found[0].distance > 0)) {
        exi_spread_share(w, found[0].point, 1, weights);
        return;
    }
    /* Shares times the nearest distance: at most 1, whatever the scale. */
    const bool has_threshold = count == (paper ? k : k + 1);
    const double nearest = found[0].distance;
    const double cut = has_threshold ? nearest / found[count - 1].distance : 0;
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += nearest / found[i].distance - cut;
    if (!(sum > 1e-14 * count)) {
        share_tie(w, features, found[count - 1].distance, weights);
        return;
    }
    for (int i = 0; i < count; i++)
        exi_spread_share(w, found[i].point, (nearest / found[i].distance - cut) / sum, weights);
}

/* With u_i = D_1 (1/D_i - 1/T) and D_1, the nearest distance, as a constant: dP_i = (du_i - P_i sum of du) / sum of u.
 * 0 at a point, and where all are as far as the threshold. */
static void gradient(const ex_weigher *w, const double *features, double *weights, double *rows, size_t stride) {
    neighbour found[EX_NEIGHBOUR_MAX + 1];
    const bool paper = (w->flags & EXI_WEIGHER_PAPER_FORM) != 0;
    const int wanted = paper ? w->neighbours : w->neighbours + 1, features_count = w->feature_count;
    const int count = find_nearest(w, features, wanted, found);
    const double nearest = found[0].distance, last = found[count - 1].distance;
    const double cut = count == wanted ? nearest / last : 0;
    double half[EXI_FEATURE_MAX], whole[EXI_FEATURE_MAX], sum = 0;
    evaluate(w, features, weights);
    exi_gradient_clear(w, rows, stride);
    for (int i = 0; nearest > 0 && i < count; i++)
        sum += nearest / found[i].distance - cut;
    if (!(nearest > 0) || !(sum > 1e-14 * count))
        return;
    memset(whole, 0, (size_t)features_count * sizeof *whole);
    for (int i = 0; i < count; i++) { /* du_i, and that of the threshold for each of them */
        const double distance = exi_distance_slopes(w, features, found[i].point, half);
        const double by = -nearest / distance / distance / distance;
        exi_gradient_spread(w, found[i].point, by / sum, half, rows, stride);
        for (int f = 0; f < features_count; f++)
            whole[f] += by * half[f];
    }
    if (count == wanted) {
        (void)exi_distance_slopes(w, features, found[count - 1].point, half);
        const double by = nearest / last / last / last;
        for (int i = 0; i < count; i++)
            exi_gradient_spread(w, found[i].point, by / sum, half, rows, stride);
        for (int f = 0; f < features_count; f++)
            whole[f] += count * by * half[f];
    }
    exi_gradient_add(rows, stride, weights, w->example_count, -1 / sum, whole, features_count);
}

const exi_weigher_kind exi_weigher_nearest = {
    .info = {.help = "Only the nearest examples count. For many examples.",
             EXI_PARAMETERS(parameters),
             .has_points = true,
             .has_gpu_code = true},
    .angular = true,
    .solve = exi_check_places,
    .evaluate = evaluate,
    .gradient = gradient,
};
