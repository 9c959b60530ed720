/*
 * Data computed from the weights of an instance: the factors of forms, the weights of offsets, the motion of trajectory
 * layers (their screw, the contributions of their segments), and, in 16-bit storage, factors rounded as in
 * exi_forms_set_terms. Common subset of C and CUDA.
 */
#ifndef EXI_CUDA_PREPARE_FACTORS_INL
#define EXI_CUDA_PREPARE_FACTORS_INL

#include "cuda/machine.h"
#include "cuda/stages/layers.inl"
#include "cuda/stages/prepare_mixture.inl"
#include "runtime/rig/pack/records.h"
#include "runtime/shape/terms.inl"
#include "runtime/shape/trajectory_pose.inl"

/* Smaller weights of offsets count as 0 (domain_offsets.c). */
EXI_INLINE float exi_gpu_offset_weight(double weight) {
    return fabs(weight) < 1e-12 ? 0.0f : (float)weight;
}

/* Copies an example's weight to its uses: muted layers have weights of 0. */
EXI_INLINE void exi_gpu_use_weight(const exi_gpu *g, const exi_gpu_job *j, int instance, int item) {
    const exi_gpu_layer *layer = &g->layers[exi_gpu_layer_of(g, item, EXI_GPU_EXAMPLES)];
    const double *weights = j->work.doubles + (size_t)instance * (size_t)g->examples;
    float *factors = j->work.factors + (size_t)instance * (size_t)g->forms;
    const int example = item - layer->first_example;
    j->work.weights[(size_t)instance * (size_t)g->examples + (size_t)item] = (float)weights[item];
    if (layer->domain == EX_DOMAIN_FORM) {
        factors[layer->first_form + example] = (float)weights[item];
    } else if (EXI_GPU_HAS(g, EXI_GPU_OFFSETS) && layer->domain == EX_DOMAIN_OFFSETS &&
               !(layer->flags & EXI_LAYER_MOVED)) {
        j->work.offset_weights[(size_t)instance * (size_t)g->offset_weights + (size_t)(layer->first_weight + example)] =
            exi_gpu_offset_weight(weights[item]);
    } else if (EXI_GPU_HAS(g, EXI_GPU_PATHS) && layer->domain == EX_DOMAIN_TRAJECTORY) {
        const exi_gpu_trajectory *path = &g->paths[layer->path];
        exi_trajectories_weigh_example(exi_gpu_trajectories(g, path), exi_gpu_path_weights(g, j, instance, layer->path),
                                       example, EXI_GPU_HAS(g, EXI_GPU_CORRECTORS), factors + path->first_form);
    }
}

EXI_INLINE void exi_gpu_set_motion(const exi_gpu *g, const exi_gpu_job *j, int instance, int path) {
    const exi_gpu_trajectory *record = &g->paths[path];
    const exi_trajectories *p = exi_gpu_trajectories(g, record);
    const double *weights = exi_gpu_path_weights(g, j, instance, path);
    exi_gpu_motion *motion = &j->work.motions[(size_t)instance * (size_t)g->path_count + (size_t)path];
    int active = 0;
    EXI_ROLLED for (int k = 0; k < p->example_count; k++) active |= k != p->reference && (float)weights[k] != 0;
    motion->active = active;
    const bool moves = EXI_GPU_HAS(g, EXI_GPU_SCREWS) && active && (p->flags & EXI_PATHS_SCREWS);
    motion->moves = moves;
    motion->reserved = 0;
    if (!moves)
        return;
    double turned[3][3], move[3];
    exi_trajectories_screw(p, weights, turned, move);
    for (int c = 0; c < 3; c++) {
        for (int r = 0; r < 3; r++)
            motion->turn[3 * r + c] = (float)(turned[c][r] - (r == c ? 1.0 : 0.0));
        motion->centre[c] = (float)p->centre[c];
        motion->move[c] = (float)move[c];
    }
}

/* Computes the contribution of each segment of a path; then the sums with those above, without roots. */
EXI_INLINE void exi_gpu_set_bases(const exi_gpu *g, const exi_gpu_job *j, int instance, int path, exi_team team) {
    const exi_gpu_trajectory *record = &g->paths[path];
    const exi_trajectories *p = exi_gpu_trajectories(g, record);
    const double *weights =
        j->work.doubles + (size_t)instance * (size_t)g->examples + g->layers[record->layer].first_example;
    const int32_t *parents = (const int32_t *)exi_trajectories_at(p, p->parents);
    double *bases = j->work.bases + 3 * ((size_t)instance * (size_t)g->segments + (size_t)record->first_segment);
    EXI_ROLLED for (int a = team.lane; a < record->segment_count; a += team.lanes) if (parents[a] >= 0)
        exi_trajectories_basis(p, weights, -1, a, bases + 3 * (size_t)a);
}

EXI_INLINE void exi_gpu_append(const exi_gpu *g, const exi_gpu_job *j, int instance, int path, exi_team team) {
    const exi_gpu_trajectory *record = &g->paths[path];
    const exi_trajectories *p = exi_gpu_trajectories(g, record);
    const int32_t *parents = (const int32_t *)exi_trajectories_at(p, p->parents);
    const size_t first = 3 * ((size_t)instance * (size_t)g->segments + (size_t)record->first_segment);
    EXI_ROLLED for (int a = team.lane; a < record->segment_count; a += team.lanes) {
        double sum[3] = {0, 0, 0};
        EXI_ROLLED for (int b = a; parents[b] >= 0; b = parents[b]) for (int c = 0; c < 3; c++) sum[c] +=
            j->work.bases[first + 3 * (size_t)b + (size_t)c];
        for (int c = 0; c < 3; c++)
            j->work.appended[first + 3 * (size_t)a + (size_t)c] = (float)sum[c];
    }
}

/* Trajectories, after all weights are computed. */
EXI_INLINE void exi_gpu_set_trajectories(const exi_gpu *g, const exi_gpu_job *j, int instance, exi_team team) {
    EXI_ROLLED for (int i = team.lane; i < g->path_count; i += team.lanes) exi_gpu_set_motion(g, j, instance, i);
    if (!EXI_GPU_HAS(g, EXI_GPU_BASES))
        return;
    EXI_ROLLED for (int i = 0; i < g->path_count; i++) exi_gpu_set_bases(g, j, instance, i, team);
    EXI_TEAM_SYNC(team);
    EXI_ROLLED for (int i = 0; i < g->path_count; i++) exi_gpu_append(g, j, instance, i, team);
}

/* ---- 16-bit storage: weights are rounded, one sum at a time ---- */

/* Adds the sizes of the weights of a range of forms. */
EXI_INLINE void exi_gpu_measure(const exi_gpu *g, const float *factors, int first, int count, exi_warp warp,
                                double *sum, double *largest) {
    EXI_ROLLED for (int i = warp.lane; i < count; i += warp.lanes) {
        const double size = exi_short_size(factors[first + i], g->scales[first + i]);
        *sum += size;
        *largest = size > *largest ? size : *largest;
    }
}

EXI_INLINE void exi_gpu_round(const exi_gpu *g, float *factors, int first, int count, exi_warp warp, double unit) {
    EXI_ROLLED for (int i = warp.lane; i < count; i += warp.lanes) factors[first + i] =
        unit > 0 ? (float)exi_short_whole(factors[first + i], g->scales[first + i], unit) * (float)unit : 0.0f;
}

/* Sum 0 is that of all forms and of paths that are plain sums; then turns, velocities and correctors of each other
 * path. */
EXI_INLINE void exi_gpu_round_sum(const exi_gpu *g, float *factors, int index, exi_warp warp) {
    double sum = 0, largest = 0;
    if (index == 0) {
        exi_gpu_measure(g, factors, 0, g->sum_forms, warp, &sum, &largest);
        EXI_ROLLED for (int i = 0; i < g->path_count; i++) {
            const exi_gpu_trajectory p = g->paths[i];
            if (p.sum)
                exi_gpu_measure(g, factors, p.first_form, p.turn_count + p.velocity_count + p.corrector_count, warp,
                                &sum, &largest);
        }
        const double unit = exi_short_unit(exi_warp_sum(warp, sum), exi_warp_largest(warp, largest), g->forms);
        exi_gpu_round(g, factors, 0, g->sum_forms, warp, unit);
        EXI_ROLLED for (int i = 0; i < g->path_count; i++) {
            const exi_gpu_trajectory p = g->paths[i];
            if (p.sum)
                exi_gpu_round(g, factors, p.first_form, p.turn_count + p.velocity_count + p.corrector_count, warp,
                              unit);
        }
        return;
    }
    const exi_gpu_trajectory p = g->paths[(index - 1) / 3];
    const int part = (index - 1) % 3;
    const int first = p.first_form + (part > 0 ? p.turn_count : 0) + (part > 1 ? p.velocity_count : 0);
    const int count = part == 0 ? p.turn_count : part == 1 ? p.velocity_count : p.corrector_count;
    if (p.sum)
        return;
    exi_gpu_measure(g, factors, first, count, warp, &sum, &largest);
    const double unit = exi_short_unit(exi_warp_sum(warp, sum), exi_warp_largest(warp, largest), count);
    exi_gpu_round(g, factors, first, count, warp, unit);
}

#endif
