/*
 * Mixtures of an instance (exemplar/shape.h has the formula). First, with the weights: weights brought back, shares,
 * amounts of correctors. Then, in a stage of its own, the nodes: from their turns and the edges between them to a
 * matrix each. Common subset of C and CUDA.
 *
 * Several instances, `side` of them, go through the stage of nodes together, so that its tables, about 230 KB for 150
 * nodes and 8 examples, are read once for all of them. side is a constant at the call.
 */
#ifndef EXI_CUDA_PREPARE_MIXTURE_INL
#define EXI_CUDA_PREPARE_MIXTURE_INL

#include "cuda/machine.h"
#include "cuda/stages/layers.inl"
#include "cuda/work.h"
#include "runtime/shape/mixture_pose.inl"

/* Maximum number of instances that go through the stage of nodes together. */
enum { EXI_MIX_SIDE = 4 };
/* Terms, and corners and rows of a product of one instance or of several, that are read at a time, so that their loads
 * do not wait for each other. More take longer: code must be fetched too, and registers are few. */
enum { EXI_MIX_TERMS = 12, EXI_MIX_CORNERS = 5, EXI_MIX_ROWS = 10, EXI_MIX_MANY_CORNERS = 2, EXI_MIX_MANY_ROWS = 4 };

/* ---- weights ---- */

EXI_INLINE const float *exi_gpu_mix_table(const exi_gpu *g, uint64_t table) {
    return (const float *)(const void *)(g->block + table);
}

/* Returns the weights of a path's examples: those of a mixture brought back. */
EXI_INLINE const double *exi_gpu_path_weights(const exi_gpu *g, const exi_gpu_job *j, int instance, int path) {
    const bool mixed = EXI_GPU_HAS(g, EXI_GPU_MIXTURES) && g->paths[path].mixture.node_count > 0;
    return (mixed ? j->work.mixed : j->work.doubles) + (size_t)instance * (size_t)g->examples +
           g->layers[g->paths[path].layer].first_example;
}

EXI_INLINE void exi_gpu_mix_weight(const exi_gpu *g, const exi_gpu_job *j, int instance, int item) {
    const exi_gpu_layer *layer = &g->layers[exi_gpu_layer_of(g, item, EXI_GPU_EXAMPLES)];
    const size_t first = (size_t)instance * (size_t)g->examples + (size_t)layer->first_example;
    if (layer->path < 0 || g->paths[layer->path].mixture.node_count == 0)
        return;
    j->work.mixed[first + (size_t)(item - layer->first_example)] = exi_mixture_weight(
        exi_gpu_trajectories(g, &g->paths[layer->path]), j->work.doubles + first, item - layer->first_example);
}

/* Returns the shares of an instance, which the bounded shares follow. */
EXI_INLINE double *exi_gpu_mix_shares(const exi_gpu *g, const exi_gpu_work *work, int instance,
                                      const exi_gpu_mixture *m) {
    return work->shares + 2 * ((size_t)instance * (size_t)g->mixed_corners + (size_t)m->first_corner);
}

/* As exi_mixture_shares, by a warp. */
EXI_INLINE void exi_gpu_mix_set_shares(const exi_gpu *g, const exi_gpu_job *j, int instance, int path, exi_warp warp) {
    const exi_gpu_mixture *m = &g->paths[path].mixture;
    const double *weights = exi_gpu_path_weights(g, j, instance, path); /* 0 of the reference */
    double *shares = exi_gpu_mix_shares(g, &j->work, instance, m), *bounded = shares + m->corner_count;
    double sum = 0.0, whole = 0.0;
    if (m->node_count == 0)
        return;
    EXI_ROLLED for (int i = 1 + warp.lane; i < m->corner_count; i += warp.lanes) sum += weights[i - 1];
    sum = exi_warp_sum(warp, sum);
    EXI_ROLLED for (int i = warp.lane; i < m->corner_count; i += warp.lanes) {
        const double share = i == 0 ? 1.0 - sum : weights[i - 1];
        shares[i] = share;
        bounded[i] = share < 0.0 ? share / (1.0 - 4.0 * share) : share;
        whole += bounded[i];
    }
    whole = exi_warp_sum(warp, whole);
    EXI_ROLLED for (int i = warp.lane; i < m->corner_count; i += warp.lanes) bounded[i] /= whole;
}

EXI_INLINE void exi_gpu_mix_set_terms(const exi_gpu *g, const exi_gpu_job *j, int instance, int path, exi_team team) {
    const exi_gpu_mixture *m = &g->paths[path].mixture;
    const ex_mixture_term *terms = (const ex_mixture_term *)(const void *)(g->block + m->terms);
    const double *bounded = exi_gpu_mix_shares(g, &j->work, instance, m) + m->corner_count;
    double *values = j->work.terms + (size_t)instance * (size_t)g->mixed_terms + m->first_term;
    EXI_ROLLED for (int t = team.lane; t < m->term_count; t += team.lanes) values[t] =
        exi_mixture_term(&terms[t], bounded);
}

/* The amounts of a path's correctors, among its factors. Up to eight lanes take a corrector each, and the others of a
 * warp the same correctors with other terms. The first share says how far the weights' sum is above 1. */
EXI_INLINE void exi_gpu_mix_set_amounts(const exi_gpu *g, const exi_gpu_job *j, int instance, int path, exi_warp warp) {
    const exi_gpu_trajectory *record = &g->paths[path];
    const exi_gpu_mixture *m = &record->mixture;
    const double *values = j->work.terms + (size_t)instance * (size_t)g->mixed_terms + m->first_term;
    const float *curves = exi_gpu_mix_table(g, m->curves);
    float *amounts = j->work.factors + (size_t)instance * (size_t)g->forms + record->first_form + record->turn_count +
                     record->velocity_count;
    const int count = m->node_count > 0 ? record->corrector_count : 0, width = warp.lanes < 8 ? warp.lanes : 8;
    const int step = warp.lanes / width;
    EXI_ROLLED for (int first = width * warp.index; first < count; first += width * warp.count) {
        const int k = first + warp.lane % width, own = k < count ? k : count - 1;
        double sum = 0.0;
        EXI_ROLLED for (int t = warp.lane / width; t < m->term_count; t += EXI_MIX_TERMS * step) {
            float numbers[EXI_MIX_TERMS];
            EXI_UNROLLED for (int i = 0; i < EXI_MIX_TERMS; i++) numbers[i] =
                t + i * step < m->term_count
                    ? EXI_GPU_READ(curves + (size_t)(t + i * step) * (size_t)count + (size_t)own)
                    : 0.0f;
            EXI_UNROLLED for (int i = 0; i < EXI_MIX_TERMS; i++) if (t + i * step < m->term_count) sum +=
                values[t + i * step] * (double)numbers[i];
        }
        sum = exi_warp_sum_apart(warp, sum, width);
        const double rest = *exi_gpu_mix_shares(g, &j->work, instance, m), excess = rest < 0.0 ? -rest : 0.0;
        if (k < count && warp.lane < width)
            amounts[k] = (float)(sum / (1.0 + 8.0 * excess * excess));
    }
}

/* Weights brought back, and all that follows from them but the nodes. All threads of a team must call it, after a
 * barrier; the results of others are there after the next one. */
EXI_INLINE void exi_gpu_mix_weigh(const exi_gpu *g, const exi_gpu_job *j, int instance, exi_team team) {
    const exi_warp warp = exi_team_warp(team);
    EXI_ROLLED for (int i = team.lane; i < g->examples; i += team.lanes) exi_gpu_mix_weight(g, j, instance, i);
    EXI_TEAM_SYNC(team);
    EXI_ROLLED for (int i = warp.index; i < g->path_count; i += warp.count)
        exi_gpu_mix_set_shares(g, j, instance, i, warp);
    EXI_TEAM_SYNC(team);
    EXI_ROLLED for (int i = 0; i < g->path_count; i++) exi_gpu_mix_set_terms(g, j, instance, i, team);
    EXI_TEAM_SYNC(team);
    EXI_ROLLED for (int i = 0; i < g->path_count; i++) exi_gpu_mix_set_amounts(g, j, instance, i, warp);
}

/* ---- nodes ---- */

/* A layer at one instance, and its part of the room (exi_gpu_mix_room). */
typedef struct exi_gpu_mix {
    int instance;
    float *weights;   /* [corner_count]: 0 for the mesh, x' */
    float *shares;    /* [corner_count]: half of s */
    float *rotations; /* [9][stride]: w in the first three rows, then R, row by row */
    float *places;    /* [3][stride]: l, then y */
    float *pulls;     /* [stride][4] */
    float *ways;      /* [3][edge_count]; then the parts of the product [parts][3][stride] */
    float *matrices;  /* [node_count][12] */
} exi_gpu_mix;

/* Instances that go through the stage together: side of them from `first` on. Those after the last repeat it. */
typedef struct exi_gpu_mixes {
    int first, last, side; /* side is a constant at the call */
    int path, parts;       /* parts: number of threads that share a product */
    float *room;           /* [side] of exi_gpu_mix_room floats */
} exi_gpu_mixes;

EXI_INLINE exi_gpu_mix exi_gpu_mix_open(const exi_gpu *g, const exi_gpu_job *j, const exi_gpu_mixes *all, int s) {
    const exi_gpu_mixture *m = &g->paths[all->path].mixture;
    const size_t stride = (size_t)m->node_stride;
    float *room = all->room + (size_t)s * exi_gpu_mix_room(g, all->parts);
    exi_gpu_mix mix;
    mix.instance = all->first + s < all->last ? all->first + s : all->last;
    mix.weights = room;
    mix.shares = room + m->corner_count;
    room += (2 * (size_t)m->corner_count + 3) / 4 * 4;
    mix.rotations = room;
    mix.places = room + 9 * stride;
    mix.pulls = room + 12 * stride;
    mix.ways = room + 16 * stride;
    mix.matrices = j->work.matrices + 12 * ((size_t)mix.instance * (size_t)g->mixed_nodes + (size_t)m->first_node);
    return mix;
}

/* Weights and shares of a corner, in float. */
EXI_INLINE void exi_gpu_mix_blend(const exi_gpu *g, const exi_gpu_job *j, const exi_gpu_mixes *all, int item) {
    const exi_gpu_mixture *m = &g->paths[all->path].mixture;
    const exi_gpu_mix mix = exi_gpu_mix_open(g, j, all, item / m->corner_count);
    const double *weights = exi_gpu_path_weights(g, j, mix.instance, all->path);
    const double *shares = exi_gpu_mix_shares(g, &j->work, mix.instance, m);
    const int corner = item % m->corner_count;
    mix.weights[corner] = corner > 0 ? (float)weights[corner - 1] : 0.0f;
    mix.shares[corner] = (float)(0.5 * shares[corner]);
}

/* Sums of turns and places of node n. */
EXI_INLINE void exi_gpu_mix_sum(const exi_gpu *g, const exi_gpu_job *j, const exi_gpu_mixes *all, int n) {
    const exi_gpu_mixture *m = &g->paths[all->path].mixture;
    const size_t stride = (size_t)m->node_stride;
    const float *turns = exi_gpu_mix_table(g, m->turns) + n, *places = exi_gpu_mix_table(g, m->places) + n;
    float w[EXI_MIX_SIDE][3], l[EXI_MIX_SIDE][3];
    EXI_UNROLLED for (int s = 0; s < all->side; s++) for (int c = 0; c < 3; c++) {
        w[s][c] = 0.0f;
        l[s][c] = EXI_GPU_READ(places + (size_t)c * stride);
    }
    EXI_BY_FOUR for (int k = 1; k < m->corner_count; k++) {
        float turn[3], place[3];
        for (int c = 0; c < 3; c++) {
            turn[c] = EXI_GPU_READ(turns + (size_t)(3 * k - 3 + c) * stride);
            place[c] = EXI_GPU_READ(places + (size_t)(3 * k + c) * stride);
        }
        EXI_UNROLLED for (int s = 0; s < all->side; s++) {
            const float x = exi_gpu_mix_open(g, j, all, s).weights[k];
            for (int c = 0; c < 3; c++) {
                w[s][c] += x * turn[c];
                l[s][c] += x * place[c];
            }
        }
    }
    EXI_UNROLLED for (int s = 0; s < all->side; s++) {
        const exi_gpu_mix mix = exi_gpu_mix_open(g, j, all, s);
        for (int c = 0; c < 3; c++) {
            mix.rotations[(size_t)c * stride + (size_t)n] = w[s][c];
            mix.places[(size_t)c * stride + (size_t)n] = l[s][c];
        }
    }
}

/* The rotation of a node in one of the instances. */
EXI_INLINE void exi_gpu_mix_turn(const exi_gpu *g, const exi_gpu_job *j, const exi_gpu_mixes *all, int item) {
    const exi_gpu_mixture *m = &g->paths[all->path].mixture;
    const exi_gpu_mix mix = exi_gpu_mix_open(g, j, all, item / m->node_count);
    const size_t stride = (size_t)m->node_stride, n = (size_t)(item % m->node_count);
    float *to = mix.rotations + n, *rows = mix.matrices + 12 * n;
    const double w[3] = {(double)to[0], (double)to[stride], (double)to[2 * stride]}, square = exi_turn_square(w);
    double rotation[9], a, b, sinc;
    if (square <= EXI_MIXTURE_NEAR)
        exi_mixture_factors(square, &a, &sinc);
    else
        exi_turn_factors(square, &a, &b, &sinc);
    exi_mixture_rotation_of(w, a, sinc, rotation);
    for (int i = 0; i < 9; i++) {
        to[(size_t)i * stride] = (float)(rotation[i] + (i % 4 == 0 ? 1.0 : 0.0));
        rows[i / 3 * 4 + i % 3] = (float)rotation[i];
    }
}

/* way += R_n step */
EXI_INLINE void exi_gpu_mix_add_way(const float *rotations, size_t stride, int n, const float step[3], float way[3]) {
    for (int r = 0; r < 3; r++) {
        const float *row = rotations + (size_t)(3 * r) * stride + (size_t)n;
        way[r] += row[0] * step[0] + (row[stride] * step[1] + row[2 * stride] * step[2]);
    }
}

/* W r of edge e. */
EXI_INLINE void exi_gpu_mix_edge(const exi_gpu *g, const exi_gpu_job *j, const exi_gpu_mixes *all, int e) {
    const exi_gpu_mixture *m = &g->paths[all->path].mixture;
    const size_t nodes = (size_t)m->node_stride, edges = (size_t)m->edge_stride;
    const int corners = all->side == 1 ? EXI_MIX_CORNERS : EXI_MIX_MANY_CORNERS;
    const float *steps = exi_gpu_mix_table(g, m->steps) + e;
    const uint16_t *ends = (const uint16_t *)(const void *)(g->block + m->edges) + 2 * (size_t)e;
    const int from = EXI_GPU_READ(ends), to = EXI_GPU_READ(ends + 1);
    const float weight = EXI_GPU_READ(exi_gpu_mix_table(g, m->pulls) + e);
    float sums[EXI_MIX_SIDE][6];
    EXI_UNROLLED for (int s = 0; s < all->side; s++) for (int c = 0; c < 6; c++) sums[s][c] = 0.0f;
    EXI_ROLLED for (int k = 0; k < m->corner_count; k += corners) {
        float step[EXI_MIX_CORNERS][6];
        EXI_UNROLLED for (int i = 0; i < corners; i++) for (int c = 0; c < 6; c++) step[i][c] =
            k + i < m->corner_count ? EXI_GPU_READ(steps + (size_t)(6 * (k + i) + c) * edges) : 0.0f;
        EXI_UNROLLED for (int s = 0; s < all->side; s++) {
            const float *shares = exi_gpu_mix_open(g, j, all, s).shares;
            EXI_UNROLLED for (int i = 0; i < corners; i++) {
                const float share = k + i < m->corner_count ? shares[k + i] : 0.0f;
                for (int c = 0; c < 6; c++)
                    sums[s][c] += share * step[i][c];
            }
        }
    }
    EXI_UNROLLED for (int s = 0; s < all->side; s++) {
        const exi_gpu_mix mix = exi_gpu_mix_open(g, j, all, s);
        float way[3];
        for (int c = 0; c < 3; c++)
            way[c] = mix.places[(size_t)c * nodes + (size_t)from] - mix.places[(size_t)c * nodes + (size_t)to];
        exi_gpu_mix_add_way(mix.rotations, nodes, from, sums[s], way);
        exi_gpu_mix_add_way(mix.rotations, nodes, to, sums[s] + 3, way);
        for (int c = 0; c < 3; c++)
            mix.ways[(size_t)c * (size_t)m->edge_count + (size_t)e] = weight * way[c];
    }
}

/* B^T W r of a node in one of the instances, from its edges in their order. */
EXI_INLINE void exi_gpu_mix_pull(const exi_gpu *g, const exi_gpu_job *j, const exi_gpu_mixes *all, int item) {
    const exi_gpu_mixture *m = &g->paths[all->path].mixture;
    const exi_gpu_mix mix = exi_gpu_mix_open(g, j, all, item / m->node_count);
    const int n = item % m->node_count;
    const uint32_t *starts = (const uint32_t *)(const void *)(g->block + m->end_starts) + n;
    const uint16_t *ends = (const uint16_t *)(const void *)(g->block + m->ends);
    const uint32_t last = EXI_GPU_READ(starts + 1);
    float pull[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    EXI_BY_FOUR for (uint32_t i = EXI_GPU_READ(starts); i < last; i++) {
        const int end = EXI_GPU_READ(ends + i);
        const float sign = end % 2 ? 1.0f : -1.0f;
        for (int c = 0; c < 3; c++)
            pull[c] += sign * mix.ways[(size_t)c * (size_t)m->edge_count + (size_t)(end / 2)];
    }
    for (int c = 0; c < 4; c++)
        mix.pulls[4 * (size_t)n + (size_t)c] = pull[c];
}

/* One part of the product of M, for four nodes. M is symmetric. */
EXI_INLINE void exi_gpu_mix_multiply(const exi_gpu *g, const exi_gpu_job *j, const exi_gpu_mixes *all, int item) {
    const exi_gpu_mixture *m = &g->paths[all->path].mixture;
    const int quads = m->node_stride / 4, part = item / quads, first = item % quads * 4;
    const size_t stride = (size_t)m->node_stride;
    const int begin = part * m->node_count / all->parts, end = (part + 1) * m->node_count / all->parts;
    const int rows = all->side == 1 ? EXI_MIX_ROWS : EXI_MIX_MANY_ROWS;
    const float *solve = exi_gpu_mix_table(g, m->solve) + first;
    float sums[EXI_MIX_SIDE][3][4];
    EXI_UNROLLED for (int s = 0; s < all->side; s++) for (int c = 0; c < 12; c++) sums[s][c / 4][c % 4] = 0.0f;
    EXI_ROLLED for (int n = begin; n < end; n += rows) {
        float row[EXI_MIX_ROWS][4];
        EXI_UNROLLED for (int i = 0; i < rows; i++) if (n + i < end)
            exi_gpu_load4(solve + (size_t)(n + i) * stride, row[i]);
        EXI_UNROLLED for (int i = 0; i < rows; i++) if (n + i < end) EXI_UNROLLED for (int s = 0; s < all->side; s++) {
            float pull[4];
            exi_gpu_load4(exi_gpu_mix_open(g, j, all, s).pulls + 4 * (n + i), pull);
            for (int c = 0; c < 3; c++)
                for (int k = 0; k < 4; k++)
                    sums[s][c][k] += row[i][k] * pull[c];
        }
    }
    EXI_UNROLLED for (int s = 0; s < all->side; s++) {
        float *to = exi_gpu_mix_open(g, j, all, s).ways + (size_t)(3 * part) * stride + (size_t)first;
        for (int c = 0; c < 3; c++)
            for (int i = 0; i < 4; i++)
                to[(size_t)c * stride + (size_t)i] = sums[s][c][i];
    }
}

/* The place of a node in one of the instances, and the offset of its matrix. */
EXI_INLINE void exi_gpu_mix_place(const exi_gpu *g, const exi_gpu_job *j, const exi_gpu_mixes *all, int item) {
    const exi_gpu_mixture *m = &g->paths[all->path].mixture;
    const exi_gpu_mix mix = exi_gpu_mix_open(g, j, all, item / m->node_count);
    const size_t stride = (size_t)m->node_stride, n = (size_t)(item % m->node_count);
    const float *starts = exi_gpu_mix_table(g, m->places) + n;
    float *rows = mix.matrices + 12 * n, turn[9], start[3], place[3];
    for (int i = 0; i < 9; i++)
        turn[i] = rows[i / 3 * 4 + i % 3];
    for (int c = 0; c < 3; c++) {
        start[c] = EXI_GPU_READ(starts + (size_t)c * stride);
        place[c] = mix.places[(size_t)c * stride + n];
    }
    EXI_ROLLED for (int i = 0; i < all->parts; i++) for (int c = 0; c < 3; c++) place[c] +=
        mix.ways[(size_t)(3 * i + c) * stride + n];
    exi_mixture_affine(turn, start, place, rows);
    if (!j->work.motions[mix.instance * g->path_count + all->path]
             .active) /* then nothing moves, not by rounding either */
        for (int i = 0; i < 12; i++)
            rows[i] = 0.0f;
}

/* ---- stage ---- */

/* The nodes of a path. Phases take a node or an edge in all instances, where they read tables, and otherwise in one. A
 * thread has the same items in the phases of turns and of places. Loops are short: fetching code that runs once takes
 * longer than running it. */
EXI_INLINE void exi_gpu_mix_nodes(const exi_gpu *g, const exi_gpu_job *j, const exi_gpu_mixes *all, exi_team team) {
    const exi_gpu_mixture *m = &g->paths[all->path].mixture;
    const int nodes = all->side * m->node_count, products = m->node_stride / 4 * all->parts;
    EXI_ROLLED for (int i = team.lane; i < all->side * m->corner_count; i += team.lanes)
        exi_gpu_mix_blend(g, j, all, i);
    EXI_TEAM_SYNC(team);
    EXI_ROLLED for (int n = team.lane; n < m->node_count; n += team.lanes) exi_gpu_mix_sum(g, j, all, n);
    EXI_TEAM_SYNC(team);
    EXI_ROLLED for (int i = team.lane; i < nodes; i += team.lanes) exi_gpu_mix_turn(g, j, all, i);
    EXI_TEAM_SYNC(team);
    EXI_ROLLED for (int e = team.lane; e < m->edge_count; e += team.lanes) exi_gpu_mix_edge(g, j, all, e);
    EXI_TEAM_SYNC(team);
    EXI_ROLLED for (int i = team.lane; i < nodes; i += team.lanes) exi_gpu_mix_pull(g, j, all, i);
    EXI_TEAM_SYNC(team);
    EXI_ROLLED for (int i = team.lane; i < products; i += team.lanes) exi_gpu_mix_multiply(g, j, all, i);
    EXI_TEAM_SYNC(team);
    EXI_ROLLED for (int i = team.lane; i < nodes; i += team.lanes) exi_gpu_mix_place(g, j, all, i);
    EXI_TEAM_SYNC(team);
}

#endif
