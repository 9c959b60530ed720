/*
 * The form that a rig shows of trajectories, in double: the formula of exemplar/shape.h term by term, for reports, for
 * pictures of single bases, and as a reference for the runtime.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "author/base/array.h"
#include "author/trajectory/mixture/mixture.h"
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

/* ---- bases of segments ---- */

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

/* ---- one path per example ---- */

static bool form_of_paths(const ex_trajectories *t, const ex_trajectories_def *def, const double *weights, int basis,
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

/* ---- mixtures ---- */

/* The mixture's forms at one set of weights. */
typedef struct mixing {
    double *weights;   /* [example_count] given, without that of the reference */
    double *counted;   /* [example_count] brought back */
    double *shares;    /* [1 + example_count] */
    double **examples; /* [example_count] of [vertex_count][3] without their screws, NULL where the weight is 0 */
    double *work;
    exi_mixer *mixer;
} mixing;

static bool open_mixing(mixing *m, const ex_trajectories *t, const ex_trajectories_def *def, const double *weights) {
    const size_t count = (size_t)t->example_count, vertices = (size_t)def->vertex_count;
    *m = (mixing){.weights = calloc(count, sizeof *m->weights),
                  .counted = calloc(count, sizeof *m->counted),
                  .shares = calloc(count + 1, sizeof *m->shares),
                  .examples = calloc(count, sizeof *m->examples)};
    bool done = m->weights && m->counted && m->shares && m->examples;
    for (size_t k = 0; done && k < count; k++) {
        m->weights[k] = def->examples[k] ? weights[k] : 0;
        if (m->weights[k] == 0)
            continue;
        m->examples[k] = exi_array_allocate(3 * vertices, sizeof **m->examples);
        done = m->examples[k];
        for (size_t v = 0; done && v < vertices; v++)
            take_back(&t->trajectories[k].screw, t->centre, def->examples[k] + 3 * v, m->examples[k] + 3 * v);
    }
    const exi_mixer_def mixer = {.mixture = &t->mixture,
                                 .vertex_count = def->vertex_count,
                                 .example_count = t->example_count,
                                 .reference = def->reference,
                                 .examples = (const double *const *)m->examples,
                                 .overlaps = t->overlaps};
    done = done && exi_mixer_create(&mixer, &m->mixer);
    m->work = done ? exi_array_allocate(exi_mixer_work_size(m->mixer), sizeof *m->work) : NULL;
    return m->work;
}

static void close_mixing(mixing *m, int example_count) {
    for (int k = 0; m->examples && k < example_count; k++)
        free(m->examples[k]);
    exi_mixer_destroy(m->mixer);
    free(m->examples);
    free(m->work);
    free(m->shares);
    free(m->counted);
    free(m->weights);
}

static bool form_of_mixture(const ex_trajectories *t, const ex_trajectories_def *def, const double *weights,
                            double *positions) {
    const size_t numbers = 3 * (size_t)def->vertex_count;
    double factors[EX_MIXTURE_CORRECTOR_MAX];
    ex_screw screw = {{0}, {0}};
    mixing m;
    const bool done = open_mixing(&m, t, def, weights);
    if (done) {
        exi_mixer_weigh(m.mixer, m.weights, m.counted, factors, m.shares);
        exi_mixer_form(m.mixer, m.counted, positions, m.work);
        for (int j = 0; j < t->mixture.corrector_count; j++)
            for (size_t i = 0; factors[j] != 0 && i < numbers; i++)
                positions[i] += factors[j] * (double)t->mixture.correctors[j][i];
        for (int k = 0; k < t->example_count; k++)
            for (int i = 0; i < 3; i++) {
                screw.turn[i] += m.counted[k] * t->trajectories[k].screw.turn[i];
                screw.move[i] += m.counted[k] * t->trajectories[k].screw.move[i];
            }
        for (size_t i = 0; i < numbers; i += 3) {
            const double point[3] = {positions[i], positions[i + 1], positions[i + 2]};
            exi_screw_point(&screw, t->centre, 1, point, positions + i);
        }
    }
    close_mixing(&m, t->example_count);
    return done;
}

bool ex_trajectories_form(const ex_trajectories *t, const ex_trajectories_def *def, const double *weights, int basis,
                          double *positions) {
    return t->mixture.node_count > 0 && basis <= 0 ? form_of_mixture(t, def, weights, positions)
                                                   : form_of_paths(t, def, weights, basis, positions);
}
