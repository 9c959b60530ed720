/*
 * Trajectories at given weights (trajectory warping, equations 24 and 26, and correctors):
 *
 *   path(v) = screw(mesh(v) + R~(w(v)) u(v) + shift(segment(v)) + sum over k, j of x_k q_kj(s_k) c_kj(v))
 *
 * This file computes the data needed once per pose, in double: weights of all forms, the screw, contributions of
 * segments, and the choice of polynomials. The pass over the vertices is in trajectory_kernel.c, and the nodes of a
 * mixture are in mixture_kernel.c.
 */
#include "runtime/shape/trajectory.h"

#include "runtime/shape/trajectory_bases.h"
#include "runtime/shape/trajectory_pose.inl"

#include <math.h>
#include <string.h>

/* ---- once per pose ---- */

bool exi_trajectories_weigh(const exi_trajectories *p, const double *weights, float *floats) {
    bool any = false;
    for (int k = 0; k < p->example_count; k++)
        any |= exi_trajectories_weigh_example(p, weights, k, true, floats);
    return any;
}

static void set_screw(const exi_trajectories *p, const double *weights, exi_trajectory *path) {
    double move[3], turned[3][3];
    exi_trajectories_screw(p, weights, turned, move);
    for (int c = 0; c < 3; c++) {
        for (int r = 0; r < 3; r++)
            path->turn[3 * r + c] = (float)(turned[c][r] - (r == c));
        path->centre[c] = (float)p->centre[c];
        path->move[c] = (float)move[c];
    }
    for (int r = 0; r < 3; r++) { /* c - R c + move */
        double offset = move[r];
        for (int c = 0; c < 3; c++) {
            path->rotation[3 * r + c] = (float)(turned[c][r]);
            offset += p->centre[c] * ((r == c) - turned[c][r]);
        }
        path->offset[r] = (float)offset;
    }
    path->moves = true;
}

static void set_reach(const exi_trajectories *p, const double *weights, exi_trajectory *path) {
    const exi_trajectory_example *examples = exi_trajectories_examples(p);
    double longest = 0;
    for (int k = 0; k < p->example_count; k++)
        longest += fabs(weights[k]) * (double)examples[k].longest;
    longest *= 1.001; /* 16-bit storage rounds weights */
    path->reach = longest * longest <= (double)EXI_TURN_NEAR  ? EXI_REACH_NEAR
                  : longest * longest <= (double)EXI_TURN_FAR ? EXI_REACH_FAR
                                                              : EXI_REACH_ANY;
}

static void set_polynomials(exi_trajectory *path) {
    static const float near_a[EXI_TURN_DEGREE + 1] = EXI_TURN_NEAR_A, near_b[EXI_TURN_DEGREE + 1] = EXI_TURN_NEAR_B;
    static const float far_a[EXI_TURN_DEGREE + 1] = EXI_TURN_A, far_b[EXI_TURN_DEGREE + 1] = EXI_TURN_B;
    const bool near = path->reach == EXI_REACH_NEAR;
    memcpy(path->a, near ? near_a : far_a, sizeof path->a);
    memcpy(path->b, near ? near_b : far_b, sizeof path->b);
    path->slope = 2 / EXI_TURN_FAR;
}

void exi_trajectories_open(const exi_trajectories *p, const ex_forms *forms, const double *weights, const float *floats,
                           exi_term *terms, double (*room)[3], float (*shifts)[3], exi_trajectory *path) {
    const exi_trajectory_example *examples = exi_trajectories_examples(p);
    int turns = 0, velocities = 0;
    for (int k = 0; k < p->example_count; k++) {
        turns += examples[k].turns >= 0;
        velocities += examples[k].velocities >= 0;
    }
    *path = (exi_trajectory){.mask = p->mask ? exi_trajectories_at(p, p->mask) : NULL};
    const int first[3] = {p->first_form, p->first_form + turns, p->first_form + turns + velocities};
    exi_forms_set_terms(forms, floats, first[0], turns, false, terms, &path->turns);
    exi_forms_set_terms(forms, floats, first[1], velocities, false, terms + turns, &path->velocities);
    exi_forms_set_terms(forms, floats, first[2], p->corrector_count, false, terms + turns + velocities,
                        &path->correctors);
    set_reach(p, weights, path);
    set_polynomials(path);
    if (p->flags & EXI_PATHS_SCREWS)
        set_screw(p, weights, path);
    if (p->flags & EXI_PATHS_BASES) {
        exi_trajectories_append(p, weights, -1, room);
        for (int a = 0; a < p->segment_count; a++)
            for (int c = 0; c < 3; c++)
                shifts[a][c] = (float)room[a][c];
        path->shifts = (const float(*)[3])shifts;
        path->segments = exi_trajectories_at(p, p->segments);
    }
}

/* ---- one turn ---- */

void ex_turn_apply(const double w[3], const double v[3], double out[3]) {
    exi_turn_apply(w, v, out);
}

void ex_turn_mean(const double w[3], const double v[3], double out[3]) {
    exi_turn_mean(w, v, out);
}

void ex_turn_mean_inverse(const double w[3], const double v[3], double out[3]) {
    exi_turn_mean_inverse(w, v, out);
}
