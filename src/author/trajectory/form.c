/*
 * The form that a rig shows of trajectories, in double: the formula of exemplar/shape.h term by term, for reports, for
 * pictures of single bases, and as a reference for the runtime.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "author/trajectory/trajectory.h"
#include "runtime/base/vector.h"
#include "runtime/shape/trajectory.inl"

/* Takes an example's end into the frame of the reference: removes the screw. */
static void take_back(const ex_screw *screw, const double centre[3], const double point[3], double out[3]) {
    double turn[3][3], mean[3][3], shift[3], arm[3];
    exi_turn_matrix(screw->turn, turn);
    exi_mean_turn(screw->turn, mean);
    exi_apply(mean, screw->move, shift);
    for (int i = 0; i < 3; i++)
        arm[i] = point[i] - centre[i] - shift[i];
    exi_apply_transpose(turn, arm, arm);
    for (int i = 0; i < 3; i++)
        out[i] = centre[i] + arm[i];
}

/* R~(w) v. */
static void warp(const double w[3], const double v[3], double out[3]) {
    double mean[3][3];
    exi_mean_turn(w, mean);
    exi_apply(mean, v, out);
}

/* True if the basis stored with segment a moves the vertices of segment s. */
static bool moves(const ex_segments *segments, int a, int s) {
    for (; s >= 0; s = segments->parents[s])
        if (s == a)
            return true;
    return false;
}

/* Contribution of all appended bases, or one of them, to segment s with weights x, or for one example with weight 1. */
static void appended(const ex_trajectories *t, const double *weights, int s, int only, double out[3]) {
    out[0] = out[1] = out[2] = 0;
    for (int a = 0; a < t->segments.count; a++) {
        if (!moves(&t->segments, a, s) || (only >= 0 && a != only))
            continue;
        double w[3] = {0}, v[3] = {0}, d[3];
        for (int k = 0; k < t->example_count; k++)
            for (int i = 0; i < 3 && t->trajectories[k].bases; i++) {
                w[i] += weights[k] * t->trajectories[k].bases[6 * a + i];
                v[i] += weights[k] * t->trajectories[k].bases[6 * a + 3 + i];
            }
        warp(w, v, d);
        for (int i = 0; i < 3; i++)
            out[i] += d[i];
    }
}

/* Computes the displacement velocity that brings a vertex to its example (equation 23). */
static void velocity(const ex_trajectories *t, const ex_trajectories_def *def, int example, int v,
                     const double below[3], double u[3]) {
    const ex_trajectory *one = &t->trajectories[example];
    double end[3], w[3] = {0};
    take_back(&one->screw, t->centre, def->examples[example] + 3 * v, end);
    for (int i = 0; i < 3; i++) {
        end[i] -= def->reference[3 * v + i] + below[i];
        w[i] = one->turns ? one->turns[3 * v + i] : 0;
    }
    exi_mean_turn_invert(w, end, u);
}

/* Computes the weights of every example's correctors: x_k q_kj(s_k). */
static void corrector_weights(const ex_trajectories *t, const double *weights, double *out) {
    for (int k = 0; k < t->example_count; k++) {
        double s = 0;
        for (int l = 0; l < t->example_count; l++)
            s += t->overlaps[k * t->example_count + l] * weights[l];
        for (int j = 0; j < t->trajectories[k].corrector_count; j++)
            out[k * EX_CORRECTOR_MAX + j] =
                weights[k] * exi_corrector_amount(t->trajectories[k].curves + (size_t)j * EX_CURVE_SIZE, s);
    }
}

bool ex_trajectories_form(const ex_trajectories *t, const ex_trajectories_def *def, const double *weights, int basis,
                          double *positions) {
    const int count = t->example_count, segments = t->segments.count > 0 ? t->segments.count : 1;
    double *correctors = calloc((size_t)count * EX_CORRECTOR_MAX, sizeof *correctors);
    double *ends = calloc((size_t)count * (size_t)segments * 3, sizeof *ends),
           *single = calloc((size_t)count, sizeof *single);
    double(*now)[3] = calloc((size_t)segments, sizeof *now); /* contributions of the bases */
    const bool done = correctors && ends && single && now;
    ex_screw screw = {{0}, {0}};
    for (int s = 0; done && s < t->segments.count; s++) {
        appended(t, weights, s, basis > 0 ? basis - 1 : -1, now[s]);
        for (int k = 0; k < count; k++) {
            single[k] = 1;
            appended(t, single, s, -1, ends + 3 * ((size_t)k * (size_t)segments + (size_t)s));
            single[k] = 0;
        }
    }
    if (done)
        corrector_weights(t, weights, correctors);
    for (int k = 0; done && k < count; k++)
        for (int i = 0; i < 3; i++) {
            screw.turn[i] += weights[k] * t->trajectories[k].screw.turn[i];
            screw.move[i] += weights[k] * t->trajectories[k].screw.move[i];
        }
    for (int v = 0; done && v < def->vertex_count; v++) {
        const size_t s = t->segments.count > 0 ? t->segments.vertices[v] : 0;
        double w[3] = {0}, u[3] = {0}, d[3] = {0}, point[3];
        for (int k = 0; k < count && basis <= 0; k++) {
            const ex_trajectory *one = &t->trajectories[k];
            double own[3];
            if (!def->examples[k] || weights[k] == 0)
                continue;
            velocity(t, def, k, v, ends + 3 * ((size_t)k * (size_t)segments + s), own);
            for (int i = 0; i < 3; i++) {
                w[i] += one->turns ? weights[k] * one->turns[3 * v + i] : 0;
                u[i] += weights[k] * own[i];
            }
            for (int j = 0; j < one->corrector_count; j++)
                for (int i = 0; i < 3; i++)
                    d[i] += correctors[k * EX_CORRECTOR_MAX + j] * one->correctors[j][3 * v + i];
        }
        warp(w, u, u);
        for (int i = 0; i < 3; i++)
            point[i] = def->reference[3 * v + i] + u[i] + d[i] + (basis == 0 ? 0 : now[s][i]);
        exi_screw_point(&screw, t->centre, 1, point, positions + 3 * v);
    }
    free(correctors);
    free(ends);
    free(single);
    free(now);
    return done;
}
