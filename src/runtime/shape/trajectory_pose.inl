/*
 * Trajectories at a pose, before any vertex (trajectory warping, equations 24 and 26, and correctors): weights of their
 * forms, the screw, the bases of segments. Common subset of C and CUDA.
 */
#ifndef EXI_TRAJECTORY_POSE_INL
#define EXI_TRAJECTORY_POSE_INL

#include "runtime/shape/trajectories.h"
#include "runtime/shape/trajectory.inl"

/* s_k = sum over l of overlap_kl x_l */
EXI_INLINE double exi_trajectories_time(const exi_trajectories *p, const double *weights, int k) {
    const float *overlaps = (const float *)exi_trajectories_at(p, p->overlaps);
    if (p->overlaps == 0)
        return weights[k];
    double s = 0;
    EXI_ROLLED for (int l = 0; l < p->example_count; l++) s +=
        (double)overlaps[(size_t)k * (size_t)p->example_count + (size_t)l] * weights[l];
    return s;
}

/* Sets the weights of an example's forms among the layer's floats [form_count]: x_k, and x_k q(s_k) for correctors, if
 * there can be any, which is a constant at the call. Returns false if x_k is 0 or the example is the reference: it then
 * does nothing. */
EXI_INLINE bool exi_trajectories_weigh_example(const exi_trajectories *p, const double *weights, int k, bool correctors,
                                               float *floats) {
    const exi_trajectory_example *e = &exi_trajectories_examples(p)[k];
    const float x = (float)weights[k];
    if (k == p->reference)
        return false;
    if (e->turns >= 0)
        floats[e->turns] = x;
    floats[e->velocities] = x;
    if (!correctors)
        return x != 0;
    const double s = x != 0 && e->corrector_count > 0 ? exi_trajectories_time(p, weights, k) : 0;
    EXI_ROLLED for (int j = 0; j < e->corrector_count; j++) {
        const float *curve =
            (const float *)exi_trajectories_at(p, p->curves) + (size_t)(e->first_corrector + j) * EX_CURVE_SIZE;
        floats[e->correctors + j] = x != 0 ? (float)(weights[k] * exi_corrector_amount(curve, s)) : 0.0f;
    }
    return x != 0;
}

/* The blended screw, as the images of the three axes and the move: x + sum over c of (x - centre)_c (turned_c - unit_c)
 * + move. */
EXI_INLINE void exi_trajectories_screw(const exi_trajectories *p, const double *weights, double turned[3][3],
                                       double move[3]) {
    double turn[3] = {0, 0, 0}, along[3] = {0, 0, 0}, a, b, sinc;
    const exi_trajectory_example *examples = exi_trajectories_examples(p);
    EXI_ROLLED for (int k = 0; k < p->example_count; k++) for (int c = 0;
                                                               (examples[k].flags & EXI_PATHS_SCREWS) && c < 3; c++) {
        turn[c] += weights[k] * examples[k].screw.turn[c];
        along[c] += weights[k] * examples[k].screw.move[c];
    }
    exi_turn_factors(exi_turn_square(turn), &a, &b, &sinc);
    exi_turn_combine(turn, along, a, b, move);
    for (int c = 0; c < 3; c++) {
        const double unit[3] = {c == 0 ? 1.0 : 0.0, c == 1 ? 1.0 : 0.0, c == 2 ? 1.0 : 0.0};
        exi_turn_combine(turn, unit, sinc, a, turned[c]);
    }
}

/* The contribution R~(w_a) u_a of segment a alone, with w_a and u_a blended by the weights, or those of the example
 * `only` unless it is -1. */
EXI_INLINE void exi_trajectories_basis(const exi_trajectories *p, const double *weights, int only, int a, double u[3]) {
    const exi_trajectory_example *examples = exi_trajectories_examples(p);
    const float *bases = (const float *)exi_trajectories_at(p, p->bases);
    double w[3] = {0, 0, 0};
    u[0] = u[1] = u[2] = 0;
    EXI_ROLLED for (int k = only < 0 ? 0 : only; k < (only < 0 ? p->example_count : only + 1); k++) {
        const double x = only < 0 ? weights[k] : 1;
        if (examples[k].bases < 0 || x == 0)
            continue;
        const float *basis = bases + 6 * ((size_t)examples[k].bases * (size_t)p->segment_count + (size_t)a);
        for (int c = 0; c < 3; c++) {
            w[c] += x * (double)basis[c];
            u[c] += x * (double)basis[3 + c];
        }
    }
    exi_turn_mean(w, u, u);
}

#endif
