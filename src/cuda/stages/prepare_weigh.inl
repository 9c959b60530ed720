/*
 * Weights of an instance: the same as weigh_layers of evaluate.c for a pose, by a team of threads.
 *
 * Latency dominates here, not work. So layers do not have separate phases: the axes of all layers are read side by
 * side, then the kernels of all points, then the weights of all examples, then everything that follows from the weights
 * (prepare_factors.inl); each item looks up its layer. A rig of thirty layers takes as many phases as one of a single
 * layer.
 */
#ifndef EXI_CUDA_PREPARE_WEIGH_INL
#define EXI_CUDA_PREPARE_WEIGH_INL

#include "cuda/machine.h"
#include "cuda/stages/layers.inl"
#include "cuda/stages/prepare_factors.inl"
#include "cuda/stages/prepare_pose.inl"
#include "runtime/weigh/calm.inl"
#include "runtime/weigh/cardinal.inl"
#include "runtime/weigh/gaussian.inl"
#include "runtime/weigh/limits.inl"
#include "runtime/weigh/point.inl"

/* ---- axes ---- */

/* Returns the place of an axis's features in its layer's row: scalars come first, then rotations. */
EXI_INLINE int exi_gpu_feature_place(const exi_gpu *g, const ex_weigher *w, int axis) {
    if (!EXI_GPU_HAS(g, EXI_GPU_READINGS))
        return axis;
    const exi_axis_record *axes = exi_axes(w);
    const bool scalar = axes[axis].kind == EX_AXIS_SCALAR;
    int place = scalar ? 0 : w->scalar_count;
    if (w->rotation_count == 0)
        return axis;
    EXI_ROLLED for (int i = 0; i < axis; i++) {
        const int kind = (int)axes[i].kind;
        if ((kind == EX_AXIS_SCALAR) == scalar)
            place += exi_feature_width((ex_axis_kind)kind);
    }
    return place;
}

/* Computes an axis of a layer at the pose: its features, or, for a weigher without points, its cleaned number. */
EXI_INLINE void exi_gpu_weigh_axis(const exi_gpu *g, const exi_gpu_job *j, int instance, int item) {
    const int l = exi_gpu_layer_of(g, item, EXI_GPU_AXES);
    const exi_gpu_layer *layer = &g->layers[l];
    if (exi_gpu_is_muted(g, j, l))
        return;
    const ex_weigher *w = exi_gpu_weigher(g, layer);
    const exi_axis_record *axis = &exi_axes(w)[item - layer->first_axis];
    const int own = item - layer->first_axis;
    double *row = j->work.points + (size_t)instance * (size_t)g->features + layer->first_feature;
    double *features = row + exi_gpu_feature_place(g, w, own);
    double value[4] = {0, 0, 0, 0}, clean[4];
    exi_gpu_input(g, j, instance, g->axis_inputs[item], value);
    if (!EXI_GPU_HAS(g, EXI_GPU_READINGS) || axis->kind == EX_AXIS_SCALAR) {
        const double number = exi_axis_clean_scalar(axis, value[0]);
        *features = w->kind == EX_WEIGHER_DIRECT ? number : exi_axis_scalar_feature(axis, number);
        if (EXI_GPU_HAS(g, EXI_GPU_CALM) && (w->flags & EXI_WEIGHER_LIMITS))
            row[w->dimension + own] = exi_limit_scalar(&exi_limits(w)[own], features);
        return;
    }
    if (EXI_GPU_HAS(g, EXI_GPU_CALM) && (w->flags & EXI_WEIGHER_LIMITS))
        row[w->dimension + own] = 1;
    exi_axis_clean_rotation(axis, value, clean);
    exi_axis_rotation_features(axis, clean, features);
}

/* The factor by which the axes of a layer with limits fade its weights. */
EXI_INLINE double exi_gpu_fade(const exi_gpu *g, const exi_gpu_job *j, int instance, const exi_gpu_layer *layer) {
    const ex_weigher *w = exi_gpu_weigher(g, layer);
    const double *row = j->work.points + (size_t)instance * (size_t)g->features + layer->first_feature;
    double factor = exi_limit_rotations(w, row);
    EXI_ROLLED for (int i = 0; i < w->axis_count; i++) factor *= row[w->dimension + i];
    return factor;
}

/* ---- points ---- */

/* As exi_feature_distance. */
EXI_INLINE double exi_gpu_distance(const exi_gpu *g, const ex_weigher *w, const double *features, int point) {
    const exi_rotation_metric *rotations = (const exi_rotation_metric *)(const void *)exi_table(w, w->rotations);
    const int rotation_count = EXI_GPU_HAS(g, EXI_GPU_READINGS) ? w->rotation_count : 0;
    return exi_distance(features, exi_features(w, point), w->scalar_count, rotations, rotation_count,
                        (w->flags & EXI_WEIGHER_ANGULAR) != 0);
}

/* Computes the kernel of a point, or its distance for weighers that need all distances first. */
EXI_INLINE void exi_gpu_weigh_point(const exi_gpu *g, const exi_gpu_job *j, int instance, int item) {
    const int l = exi_gpu_layer_of(g, item, EXI_GPU_POINTS);
    const exi_gpu_layer *layer = &g->layers[l];
    const ex_weigher *w = exi_gpu_weigher(g, layer);
    const int point = item - layer->first_point;
    if (exi_gpu_is_muted(g, j, l) || w->kind == EX_WEIGHER_DIRECT || point >= exi_point_count(w))
        return;
    const double *features = j->work.points + (size_t)instance * (size_t)g->features + layer->first_feature;
    double value;
    if (EXI_GPU_HAS(g, EXI_GPU_GAUSSIAN) && w->kind == EX_WEIGHER_GAUSSIAN) {
        const exi_gaussian t = exi_gaussian_tables(w);
        value = exi_gaussian_kernel(w, &t, features, point);
    } else {
        value = exi_gpu_distance(g, w, features, point);
        if (EXI_GPU_HAS(g, EXI_GPU_CARDINAL) && w->kind == EX_WEIGHER_CARDINAL)
            value = exi_kernel(EXI_GPU_HAS(g, EXI_GPU_KERNELS) ? (int)w->kernel : EX_KERNEL_BSPLINE,
                               value * exi_cardinal_tables(w).inverse_radii[point]);
        if (EXI_GPU_HAS(g, EXI_GPU_CALM) && w->kind == EX_WEIGHER_CALM)
            value = exi_calm_kernel(value, exi_cardinal_tables(w).inverse_radii[point]);
    }
    j->work.kernels[(size_t)instance * (size_t)g->points + (size_t)item] = value;
}

/* ---- shares of weighers by distance: one warp per layer ---- */

/* Finds the nearest of the points that come after (distance, point) in order; among equally near ones, the first. */
EXI_INLINE void exi_gpu_next_nearest(const double *distances, int count, exi_warp warp, double *distance, int *point) {
    double least = INFINITY;
    int at = count;
    EXI_ROLLED for (int i = warp.lane; i < count; i += warp.lanes) {
        const double d = distances[i];
        if ((d > *distance || (d == *distance && i > *point)) && (d < least || at == count)) {
            least = d;
            at = i;
        }
    }
    exi_warp_least(warp, &least, &at);
    *distance = least;
    *point = at;
}

/* (nearest / D)^power divided by their sum (shepard.c). */
EXI_INLINE void exi_gpu_share_shepard(const ex_weigher *w, double *shares, double nearest, exi_warp warp) {
    const int n = exi_point_count(w);
    double sum = 0;
    EXI_ROLLED for (int i = warp.lane; i < n; i += warp.lanes) {
        const double ratio = nearest / shares[i];
        shares[i] = w->power == 2.0 ? ratio * ratio : exi_exp(w->power * exi_log(ratio));
        sum += shares[i];
    }
    sum = exi_warp_sum(warp, sum);
    EXI_ROLLED for (int i = warp.lane; i < n; i += warp.lanes) shares[i] /= sum;
}

/* nearest / D - nearest / T divided by their sum, of the k nearest (nearest.c); if that is 0 / 0, equal shares for all
 * points as near as the threshold. */
EXI_INLINE void exi_gpu_share_nearest(const ex_weigher *w, double *shares, double nearest, int first, exi_warp warp) {
    const int n = exi_point_count(w);
    const int wanted = (w->flags & EXI_WEIGHER_PAPER_FORM) ? w->neighbours : w->neighbours + 1;
    const int count = wanted < n ? wanted : n;
    double last = nearest;
    int last_point = first;
    EXI_ROLLED for (int k = 1; k < count; k++) exi_gpu_next_nearest(shares, n, warp, &last, &last_point);
    const double cut = count == wanted ? nearest / last : 0;
    double sum = 0, ties = 0;
    EXI_ROLLED for (int i = warp.lane; i < n; i += warp.lanes) {
        const double d = shares[i];
        if (d < last || (d == last && i <= last_point))
            sum += nearest / d - cut;
        ties += d <= last * (1 + 1e-12) ? 1 : 0;
    }
    sum = exi_warp_sum(warp, sum);
    ties = exi_warp_sum(warp, ties);
    EXI_ROLLED for (int i = warp.lane; i < n; i += warp.lanes) {
        const double d = shares[i];
        if (!(sum > 1e-14 * count))
            shares[i] = d <= last * (1 + 1e-12) ? 1 / ties : 0;
        else
            shares[i] = d < last || (d == last && i <= last_point) ? (nearest / d - cut) / sum : 0;
    }
}

/* Turns distances of a layer's points into shares, in place. At a point, that point takes all. */
EXI_INLINE void exi_gpu_share(const exi_gpu *g, const exi_gpu_job *j, int instance, int l, exi_warp warp) {
    const exi_gpu_layer *layer = &g->layers[l];
    const ex_weigher *w = exi_gpu_weigher(g, layer);
    if (exi_gpu_is_muted(g, j, l) || (w->kind != EX_WEIGHER_SHEPARD && w->kind != EX_WEIGHER_NEAREST))
        return;
    double *shares = j->work.kernels + (size_t)instance * (size_t)g->points + layer->first_point;
    const int n = exi_point_count(w);
    double nearest = -1;
    int first = 0;
    exi_gpu_next_nearest(shares, n, warp, &nearest, &first);
    if (!(nearest > 0)) {
        EXI_ROLLED for (int i = warp.lane; i < n; i += warp.lanes) shares[i] = i == first ? 1 : 0;
    } else if (w->kind == EX_WEIGHER_SHEPARD) {
        exi_gpu_share_shepard(w, shares, nearest, warp);
    } else {
        exi_gpu_share_nearest(w, shares, nearest, first, warp);
    }
}

/* ---- examples ---- */

/* The sum of count numbers, `stride` apart, times the kernels. */
EXI_INLINE double exi_gpu_dot(const double *kernels, const double *numbers, size_t stride, int count, double sum) {
    for (int i = 0; i < count; i++)
        sum += kernels[i] * numbers[(size_t)i * stride];
    return sum;
}

EXI_INLINE double exi_gpu_weight(const exi_gpu *g, const ex_weigher *w, const double *features, const double *kernels,
                                 int example) {
    const int m = w->example_count;
    if (!EXI_GPU_HAS(g, EXI_GPU_BY_POINTS) || w->kind == EX_WEIGHER_DIRECT)
        return features[example];
    /* start of its column, and the terms besides the kernels' sum */
    const double *column;
    double weight = 0;
    int n = exi_point_count(w);
    if ((EXI_GPU_HAS(g, EXI_GPU_CARDINAL) && w->kind == EX_WEIGHER_CARDINAL) ||
        (EXI_GPU_HAS(g, EXI_GPU_CALM) && w->kind == EX_WEIGHER_CALM)) {
        const exi_cardinal t = exi_cardinal_tables(w);
        weight = t.plane[example];
        EXI_ROLLED for (int a = 0; a < w->scalar_count; a++) weight +=
            (features[a] - t.mean[a]) * t.plane[(size_t)(1 + a) * (size_t)m + (size_t)example];
        column = t.radial;
    } else if (EXI_GPU_HAS(g, EXI_GPU_GAUSSIAN) && w->kind == EX_WEIGHER_GAUSSIAN) {
        column = exi_gaussian_tables(w).radial;
    } else {
        column = exi_table(w, w->pseudo_rows);
        weight = kernels[example];
        kernels += m;
        n = w->pseudo_count;
    }
    return exi_gpu_dot(kernels, column + example, (size_t)m, n, weight);
}

EXI_INLINE void exi_gpu_weigh_example(const exi_gpu *g, const exi_gpu_job *j, int instance, int item) {
    const int l = exi_gpu_layer_of(g, item, EXI_GPU_EXAMPLES);
    const exi_gpu_layer *layer = &g->layers[l];
    double weight = 0;
    if (!exi_gpu_is_muted(g, j, l))
        weight = exi_gpu_weight(g, exi_gpu_weigher(g, layer),
                                j->work.points + (size_t)instance * (size_t)g->features + layer->first_feature,
                                j->work.kernels + (size_t)instance * (size_t)g->points + layer->first_point,
                                item - layer->first_example);
    j->work.doubles[(size_t)instance * (size_t)g->examples + (size_t)item] = weight;
}

/* Spreads the rounding error of the sum of growing kernels evenly (cardinal.c). */
EXI_INLINE void exi_gpu_restore_sum(const exi_gpu *g, const exi_gpu_job *j, int instance, int l, exi_warp warp) {
    const exi_gpu_layer *layer = &g->layers[l];
    if (exi_gpu_is_muted(g, j, l) || !(exi_gpu_weigher(g, layer)->flags & EXI_WEIGHER_SUM_1))
        return;
    double *weights = j->work.doubles + (size_t)instance * (size_t)g->examples + layer->first_example;
    double sum = 0;
    EXI_ROLLED for (int i = warp.lane; i < layer->example_count; i += warp.lanes) sum += weights[i];
    const double excess = (exi_warp_sum(warp, sum) - 1) / layer->example_count;
    EXI_ROLLED for (int i = warp.lane; i < layer->example_count; i += warp.lanes) weights[i] -= excess;
}

/* Keeps the bound of a calm layer (exi_calm_keep_bound), without branches that depend on the weights. */
EXI_INLINE void exi_gpu_keep_bound(const ex_weigher *w, double *weights, int count, exi_warp warp) {
    const double bound = *exi_calm_bound(w), raised = bound < EXI_CALM_FREE ? EXI_CALM_FREE : bound;
    exi_calm_sums sums = {0, 0, 0, 0};
    double sum = 0, second[3] = {0, 0, 0};
    EXI_ROLLED for (int i = warp.lane; i < count; i += warp.lanes) {
        sum += weights[i];
        exi_calm_add(&sums, weights[i], raised);
    }
    const double remainder = 1 - exi_warp_sum(warp, sum);
    sums.plus = exi_warp_sum(warp, sums.plus);
    sums.squares = exi_warp_sum(warp, sums.squares);
    sums.minus = exi_warp_sum(warp, sums.minus);
    exi_calm_add(&sums, remainder, raised);
    exi_calm_change change = exi_calm_plan(&sums, bound, count + 1);
    EXI_ROLLED for (int i = warp.lane; i < count; i += warp.lanes) exi_calm_measure(&change, weights[i], second);
    for (int k = 0; k < 3; k++)
        second[k] = exi_warp_sum(warp, second[k]);
    exi_calm_measure(&change, remainder, second);
    exi_calm_finish(&change, sums.plus, second);
    EXI_ROLLED for (int i = warp.lane; i < count; i += warp.lanes) weights[i] = exi_calm_weight(&change, weights[i]);
}

/* Bounds the weights of a calm layer, and fades those of a layer whose axes fade. */
EXI_INLINE void exi_gpu_calm(const exi_gpu *g, const exi_gpu_job *j, int instance, int l, exi_warp warp) {
    const exi_gpu_layer *layer = &g->layers[l];
    const ex_weigher *w = exi_gpu_weigher(g, layer);
    if (exi_gpu_is_muted(g, j, l) || (w->kind != EX_WEIGHER_CALM && !(w->flags & EXI_WEIGHER_LIMITS)))
        return;
    double *weights = j->work.doubles + (size_t)instance * (size_t)g->examples + layer->first_example;
    if (w->kind == EX_WEIGHER_CALM)
        exi_gpu_keep_bound(w, weights, layer->example_count, warp);
    if (!(w->flags & EXI_WEIGHER_LIMITS))
        return;
    const double factor = exi_gpu_fade(g, j, instance, layer);
    EXI_ROLLED for (int i = warp.lane; i < layer->example_count; i += warp.lanes) weights[i] *= factor;
}

/* ---- offsets ---- */

/* Computes a weight of offsets that are weighed by sets of examples. */
EXI_INLINE void exi_gpu_weigh_set(const exi_gpu *g, const exi_gpu_job *j, int instance, int item) {
    const exi_gpu_set_weight at = g->set_weights[item];
    double weight = 0;
    if (at.size == 0)
        return;
    if (!exi_gpu_is_muted(g, j, at.layer)) {
        const exi_gpu_layer *layer = &g->layers[at.layer];
        const ex_weigher *w = exi_gpu_weigher(g, layer);
        const double *kernels = j->work.kernels + (size_t)instance * (size_t)g->points + layer->first_point;
        const uint32_t *members =
            exi_weigher_sets(w) + (size_t)w->set_count * exi_set_words(w->example_count) + w->set_count + at.first;
        const double *column =
            exi_gaussian_tables(w).set_radial + at.squares + (size_t)w->pseudo_count * at.first + at.column;
        EXI_ROLLED for (int k = 0; k < at.size; k++) weight += kernels[members[k]] * column[(size_t)k * at.size];
        weight = exi_gpu_dot(kernels + w->example_count, column + (size_t)at.size * at.size, at.size, w->pseudo_count,
                             weight);
        if (EXI_GPU_HAS(g, EXI_GPU_CALM) && (w->flags & EXI_WEIGHER_LIMITS))
            weight *= exi_gpu_fade(g, j, instance, layer);
    }
    j->work.offset_weights[(size_t)instance * (size_t)g->offset_weights + (size_t)item] = exi_gpu_offset_weight(weight);
}

/* ---- stage ---- */

/* No barrier is needed where a thread continues with its own results: the same thread has the same example in every
 * phase. */
EXI_INLINE void exi_gpu_weigh(const exi_gpu *g, const exi_gpu_job *j, int instance, exi_team team) {
    const exi_warp warp = exi_team_warp(team);
    EXI_ROLLED for (int i = team.lane; i < g->axes; i += team.lanes) exi_gpu_weigh_axis(g, j, instance, i);
    EXI_TEAM_SYNC(team);
    if (EXI_GPU_HAS(g, EXI_GPU_BY_POINTS)) {
        EXI_ROLLED for (int i = team.lane; i < g->points; i += team.lanes) exi_gpu_weigh_point(g, j, instance, i);
        EXI_TEAM_SYNC(team);
    }
    if (EXI_GPU_HAS(g, EXI_GPU_SHARES)) {
        EXI_ROLLED for (int l = warp.index; l < g->layer_count; l += warp.count) exi_gpu_share(g, j, instance, l, warp);
        EXI_TEAM_SYNC(team);
    }
    EXI_ROLLED for (int i = team.lane; i < g->examples; i += team.lanes) exi_gpu_weigh_example(g, j, instance, i);
    if (EXI_GPU_HAS(g, EXI_GPU_SETS))
        EXI_ROLLED for (int i = team.lane; g->set_weights && i < g->offset_weights; i += team.lanes)
            exi_gpu_weigh_set(g, j, instance, i);
    if (EXI_GPU_HAS(g, EXI_GPU_KERNELS)) {
        EXI_TEAM_SYNC(team);
        EXI_ROLLED for (int l = warp.index; l < g->layer_count; l += warp.count)
            exi_gpu_restore_sum(g, j, instance, l, warp);
    }
    if (EXI_GPU_HAS(g, EXI_GPU_CALM)) {
        EXI_TEAM_SYNC(team);
        EXI_ROLLED for (int l = warp.index; l < g->layer_count; l += warp.count) exi_gpu_calm(g, j, instance, l, warp);
    }
    if (EXI_GPU_HAS(g, EXI_GPU_KERNELS | EXI_GPU_PATHS | EXI_GPU_CALM))
        EXI_TEAM_SYNC(team);
    if (EXI_GPU_HAS(g, EXI_GPU_MIXTURES))
        exi_gpu_mix_weigh(g, j, instance, team);
    EXI_ROLLED for (int i = team.lane; i < g->examples; i += team.lanes) exi_gpu_use_weight(g, j, instance, i);
    if (EXI_GPU_HAS(g, EXI_GPU_PATHS))
        exi_gpu_set_trajectories(g, j, instance, team);
    if (EXI_GPU_HAS(g, EXI_GPU_SHORTS) && g->storage != EX_STORAGE_FLOAT) {
        EXI_TEAM_SYNC(team);
        EXI_ROLLED for (int i = warp.index; i < 1 + 3 * g->path_count; i += warp.count)
            exi_gpu_round_sum(g, j->work.factors + (size_t)instance * (size_t)g->forms, i, warp);
    }
    EXI_TEAM_SYNC(team);
}

#endif
