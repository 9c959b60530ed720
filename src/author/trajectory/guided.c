/*
 * Guided mode: trajectories that are as rigid as possible at every t.
 *
 * A path is a velocity pair (or a straight line, if examples have no angular velocities) and correctors, x(t) = pair(t)
 * + sum over j of b_j(t) c_j. The curves b_j are found as follows. Rigid in-betweens are made at the inner Chebyshev
 * points of [0, 1], where a polynomial through them and the ends stays close to them in between; r(t) is the residual
 * of the pair. Powers of t could serve as b_j, but fewer curves are enough if they are taken from the motion itself.
 * All triangles together determine them: with the weight W = (t (1 - t))^(-3/4), since near the ends the in-betweens
 * are stretched least and should be followed most closely, and with
 *
 *   C(a, b) = W_a W_b sum over triangles of <grad r(t_a), grad r(t_b)>
 *
 * (gradients, since they measure stretch; every triangle counts the same, as in the final measure), the eigenvectors
 * B_j of C with the largest eigenvalues are the curves that leave the smallest residual, b_j = B_j / W. A limb that
 * rotates rigidly by an angle needs two of them, sine and cosine of a fraction of that angle, whatever the number of
 * vertices. Between the samples a curve is t (1 - t) r(2t - 1) with a polynomial r of degree 6 (exemplar/shape.h).
 *
 * The c_j are not fitted to the in-betweens, since each of these folds differently. They minimise the energy of the
 * in-betweens over all samples at once, sum W^2 E(x(t)), by the same local and global steps (rigid.c): with g(t) the
 * pull of triangles and links at a sample, L dc_j = sum over samples of B_j W g. The B_j are orthonormal, so every
 * corrector is one solve with the matrix that is already factorised. For the same number of values per vertex this
 * halves the stretch that a fit leaves.
 *
 * The number of correctors is the smallest with which, at every second sample, the 99th and 99.9th percentiles of
 * stretch are within NEAR and NEARER times those of the rigid in-between.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "author/base/array.h"
#include "author/base/progress.h"
#include "author/trajectory/guided.h"
#include "runtime/base/dense.h"
#include "runtime/base/functions.inl"
#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#define PI        3.14159265358979323846
#define NEAR      1.5
#define NEARER    2.0
#define NOTHING   2e-4 /* of stretch: too small to be seen */
#define MOST      5    /* most correctors tried */
#define FEW_STEPS 10   /* for the in-betweens that the curves are taken from, and for each number of correctors tried */
#define STEPS     30   /* more steps for the number chosen */

double exi_sample_time(int sample) {
    double sine, cosine;
    exi_sin_cos(PI * (sample + 1) / (EXI_SAMPLES + 1), &sine, &cosine);
    return 0.5 * (1 - cosine);
}

typedef struct fitting {
    const ex_trajectories_def *def;
    int example;
    const ex_between *between;
    double *paths; /* [EXI_SAMPLES][vertex_count][3]: in-betweens, then the residual of the pair, then the pair */
    double *work;  /* [EXI_SAMPLES] blocks of exi_between_work_size */
    double *turns; /* [vertex_count][3], or NULL */
    double basis[EXI_SAMPLES][EXI_SAMPLES]; /* [corrector][sample]: B_j */
    double rigid[EXI_SAMPLES][4];           /* percentiles of stretch of the rigid in-betweens */
    int count;                              /* number of correctors */
    double *now, *last, *at; /* [count][vertex_count][3] each: c_j after a step, before it, and its start */
} fitting;

static double *work_of(const fitting *f, int sample) {
    return f->work + (size_t)sample * exi_between_work_size(f->between);
}

/* Reports progress from the calling thread; done is the fraction of this example's work. */
static ex_result tell(const fitting *f, double done, ex_error *error) {
    const double fraction = (f->example + done) / f->def->example_count;
    return exi_progress_tell(f->def->progress, "finding trajectories", fraction) ? EX_OK : exi_progress_stopped(error);
}

/* ---- in-betweens ---- */

/* Makes the in-betweens that paths are compared with, with all their steps; a few samples are enough. */
static void make_references(void *context, int begin, int end) {
    fitting *f = context;
    const size_t n = 3 * (size_t)f->between->vertex_count;
    for (int k = 2 * begin + 1; k < 2 * end; k += 2)
        exi_between_rigid(f->between, exi_sample_time(k), f->between->iterations, f->paths + (size_t)k * n,
                          work_of(f, k));
}

/* Makes the in-betweens for the curves: the first steps change most, and later ones fold each differently. */
static void make_samples(void *context, int begin, int end) {
    fitting *f = context;
    const size_t n = 3 * (size_t)f->between->vertex_count;
    const int steps = f->between->iterations < FEW_STEPS ? f->between->iterations : FEW_STEPS;
    for (int k = begin; k < end; k++)
        exi_between_rigid(f->between, exi_sample_time(k), steps, f->paths + (size_t)k * n, work_of(f, k));
}

/* ---- curves ---- */

static void gram(const fitting *f, double c[EXI_SAMPLES][EXI_SAMPLES]) {
    const ex_between *b = f->between;
    const size_t n = 3 * (size_t)b->vertex_count;
    memset(c, 0, sizeof(double) * EXI_SAMPLES * EXI_SAMPLES);
    for (int t = 0; t < b->triangle_count; t++) {
        double g[EXI_SAMPLES][6]; /* derivatives along the plane's two directions */
        const double *plane = b->planes + 8 * (size_t)t;
        const int *v = b->triangles + 3 * (size_t)t;
        if (b->areas[t] == 0)
            continue;
        for (int k = 0; k < EXI_SAMPLES; k++) {
            const double *r = f->paths + (size_t)k * n;
            /* Copied: gcc 12 for x86-64 reads past the last vertex when it vectorises this in place. */
            double x[3][3];
            for (int i = 0; i < 3; i++)
                memcpy(x[i], r + 3 * (size_t)v[i], sizeof x[i]);
            for (int i = 0; i < 3; i++) {
                const double d1 = x[1][i] - x[0][i], d2 = x[2][i] - x[0][i];
                g[k][i] = plane[0] * d1 + plane[2] * d2;
                g[k][3 + i] = plane[1] * d1 + plane[3] * d2;
            }
        }
        for (int a = 0; a < EXI_SAMPLES; a++)
            for (int k = 0; k <= a; k++)
                for (int i = 0; i < 6; i++)
                    c[a][k] += g[a][i] * g[k][i];
    }
    for (int a = 0; a < EXI_SAMPLES; a++)
        for (int k = 0; k <= a; k++)
            c[k][a] = c[a][k];
}

static double weight(int sample) {
    const double t = exi_sample_time(sample), root = sqrt(t * (1 - t));
    return 1 / (root * sqrt(root));
}

/* Finds the eigenvectors of the weighted Gram matrix, largest first, by its singular values: it is symmetric and
 * positive semidefinite. */
static void find_curves(fitting *f) {
    double c[EXI_SAMPLES][EXI_SAMPLES], v[EXI_SAMPLES][EXI_SAMPLES], s[EXI_SAMPLES];
    int order[EXI_SAMPLES];
    gram(f, c);
    for (int a = 0; a < EXI_SAMPLES; a++)
        for (int b = 0; b < EXI_SAMPLES; b++)
            c[a][b] *= weight(a) * weight(b);
    exi_svd(&c[0][0], EXI_SAMPLES, EXI_SAMPLES, &v[0][0], s);
    for (int i = 0; i < EXI_SAMPLES; i++)
        order[i] = i;
    for (int i = 1; i < EXI_SAMPLES; i++)
        for (int k = i; k > 0 && s[order[k]] > s[order[k - 1]]; k--) {
            const int swap = order[k];
            order[k] = order[k - 1];
            order[k - 1] = swap;
        }
    for (int j = 0; j < EXI_SAMPLES; j++)
        memcpy(f->basis[j], v[order[j]], sizeof f->basis[j]);
}

/* Computes the coefficients of r, with t (1 - t) r(2t - 1) through the curve's values at the samples. */
static void curve_coefficients(const double basis[EXI_SAMPLES], float *curve) {
    double m[EXI_SAMPLES][EXI_SAMPLES + 1];
    for (int k = 0; k < EXI_SAMPLES; k++) {
        const double t = exi_sample_time(k);
        double power = 1;
        for (int i = 0; i < EXI_SAMPLES; i++, power *= 2 * t - 1)
            m[k][i] = power;
        m[k][EXI_SAMPLES] = basis[k] / (weight(k) * t * (1 - t));
    }
    exi_solve(&m[0][0], EXI_SAMPLES, 1);
    for (int i = 0; i < EXI_SAMPLES; i++)
        curve[i] = (float)m[i][EXI_SAMPLES];
}

/* ---- the velocity pair ---- */

static void pair_form(const fitting *f, double t, double *form) {
    const ex_between *b = f->between;
    for (int v = 0; v < b->vertex_count; v++) {
        double d[3];
        exi_subtract(b->aligned + 3 * v, b->start + 3 * v, d);
        if (f->turns) {
            double w[3], mean[3][3];
            exi_mean_turn_invert(f->turns + 3 * v, d, d);
            for (int i = 0; i < 3; i++)
                w[i] = t * f->turns[3 * v + i];
            exi_mean_turn(w, mean);
            exi_apply(mean, d, d);
        }
        for (int i = 0; i < 3; i++)
            form[3 * v + i] = b->start[3 * v + i] + t * d[i];
    }
}

/* ---- correctors ---- */

/* Computes the path at a sample, with the correctors at `from`. */
static void path_form(const fitting *f, int sample, const double *from, double *form) {
    const size_t n = 3 * (size_t)f->between->vertex_count;
    memcpy(form, f->paths + (size_t)sample * n, n * sizeof *form);
    for (int j = 0; j < f->count; j++) {
        const double factor = f->basis[j][sample] / weight(sample), *c = from + (size_t)j * n;
        for (size_t i = 0; i < n; i++)
            form[i] += factor * c[i];
    }
}

/* Computes for every sample the pull of its triangles and links, at the beginning of its work memory. */
static void pull(void *context, int begin, int end) {
    fitting *f = context;
    const ex_between *b = f->between;
    const size_t n = 3 * (size_t)b->vertex_count;
    for (int k = begin; k < end; k++) {
        double *right = work_of(f, k), *form = right + n;
        path_form(f, k, f->at, form);
        memset(right, 0, n * sizeof *right);
        exi_local_step(b, exi_sample_time(k), form, (exi_facing *)(right + 3 * n), right);
        exi_links_pull(b, exi_sample_time(k), form, right);
    }
}

/* Takes the step for every corrector. */
static void follow(void *context, int begin, int end) {
    fitting *f = context;
    const size_t n = 3 * (size_t)f->between->vertex_count;
    for (int j = begin; j < end; j++) {
        double *c = f->now + (size_t)j * n;
        memset(c, 0, n * sizeof *c);
        for (int k = 0; k < EXI_SAMPLES; k++) {
            const double factor = f->basis[j][k] * weight(k), *right = work_of(f, k);
            for (size_t i = 0; i < n; i++)
                c[i] += factor * right[i];
        }
        exi_between_solve_change(f->between, c, work_of(f, j));
        const double *at = f->at + (size_t)j * n;
        for (size_t i = 0; i < n; i++)
            c[i] += at[i];
    }
}

static ex_result take_steps(fitting *f, int steps, double before, double after, ex_error *error) {
    const size_t size = 3 * (size_t)f->between->vertex_count * (size_t)f->count;
    double momentum = 1;
    if (f->count == 0)
        return EX_OK;
    memcpy(f->at, f->now, size * sizeof *f->at);
    memcpy(f->last, f->now, size * sizeof *f->last);
    for (int k = 0; k < steps; k++) {
        const ex_result result = tell(f, before + (after - before) * k / steps, error);
        if (result != EX_OK)
            return result;
        exi_run(f->between->tasks, EXI_SAMPLES, 1, pull, f);
        exi_run(f->between->tasks, f->count, 1, follow, f);
        exi_advance(size, f->now, f->last, f->at, &momentum);
        memcpy(f->last, f->now, size * sizeof *f->last);
    }
    return EX_OK;
}

/* Projects the residual onto a curve: the corrector's start value. */
static void project(const fitting *f, int corrector, double *c) {
    const size_t n = 3 * (size_t)f->between->vertex_count;
    memset(c, 0, n * sizeof *c);
    for (int k = 0; k < EXI_SAMPLES; k++) {
        const double factor = f->basis[corrector][k] * weight(k), *path = f->paths + (size_t)k * n;
        for (size_t i = 0; i < n; i++)
            c[i] += factor * path[i];
    }
}

/* ---- number of correctors ---- */

/* Computes the percentiles of stretch of a form at a sample; moves the form by the screw. */
static ex_result percentiles(const fitting *f, int sample, double *form, double out[4], ex_error *error) {
    ex_stretch stretch;
    exi_between_move(f->between, exi_sample_time(sample), form);
    const ex_result result = ex_between_stretch(f->between, exi_sample_time(sample), form, &stretch, NULL, error);
    memcpy(out, stretch.percentiles, sizeof stretch.percentiles);
    return result;
}

/* Computes the largest ratios, over samples with references, of percentiles of stretch to the rigid in-between's. */
static ex_result measure(const fitting *f, double ratios[4], ex_error *error) {
    double *form = f->work + 3 * (size_t)f->between->vertex_count;
    ex_result result = EX_OK;
    memset(ratios, 0, 4 * sizeof *ratios);
    for (int k = 1; result == EX_OK && k < EXI_SAMPLES; k += 2) {
        double found[4];
        path_form(f, k, f->now, form);
        result = percentiles(f, k, form, found, error);
        for (int i = 0; result == EX_OK && i < 4; i++) {
            const double ratio = found[i] / (f->rigid[k][i] + NOTHING);
            ratios[i] = ratio > ratios[i] ? ratio : ratios[i];
        }
    }
    return result;
}

static bool near_enough(const double ratios[4]) {
    return ratios[2] <= NEAR && ratios[3] <= NEARER;
}

/* Chooses the number of correctors, or takes the one wanted; begun holds the start values of [MOST or wanted]. */
static ex_result choose(fitting *f, int wanted, const double *begun, double ratios[4], ex_error *error) {
    const size_t n = 3 * (size_t)f->between->vertex_count;
    if (wanted >= 0) {
        f->count = wanted;
        memcpy(f->now, begun, (size_t)wanted * n * sizeof *begun);
        const ex_result result = take_steps(f, FEW_STEPS + STEPS, 0.4, 1, error);
        return result == EX_OK ? measure(f, ratios, error) : result;
    }
    ex_result result = measure(f, ratios, error); /* a rigid motion needs none */
    bool enough = near_enough(ratios);
    while (result == EX_OK && !enough && f->count < MOST) {
        memcpy(f->now + (size_t)f->count * n, begun + (size_t)f->count * n, n * sizeof *begun);
        f->count++;
        if (f->count > 1) /* one is hardly ever enough: not worth the steps */
            result = take_steps(f, FEW_STEPS, 0.4 + 0.05 * f->count, 0.45 + 0.05 * f->count, error);
        if (result == EX_OK)
            result = measure(f, ratios, error);
        enough = near_enough(ratios);
    }
    if (result == EX_OK && f->count > 0) {
        result = take_steps(f, STEPS, 0.65, 1, error);
        if (result == EX_OK)
            result = measure(f, ratios, error);
    }
    return result;
}

/* ---- entry points ---- */

/* Stores correctors as the rig has them: in float, with mean 0, since the screw moves the form as a whole. */
static ex_result store(const fitting *f, ex_trajectory *trajectory, ex_error *error) {
    const ex_between *b = f->between;
    const size_t n = 3 * (size_t)b->vertex_count;
    float **list = calloc(EX_CORRECTOR_MAX, sizeof *list);
    float *curves = calloc(EX_CORRECTOR_MAX, EX_CURVE_SIZE * sizeof *curves);
    trajectory->correctors = (const float *const *)list;
    trajectory->curves = curves;
    for (int j = 0; list && curves && j < f->count; j++) {
        const double *c = f->now + (size_t)j * n;
        double mean[3] = {0}, total = 0;
        for (int v = 0; v < b->vertex_count; v++) {
            total += b->vertex_areas[v];
            for (int i = 0; i < 3; i++)
                mean[i] += b->vertex_areas[v] * c[3 * v + i];
        }
        list[j] = exi_array_allocate(n, sizeof **list);
        if (!list[j])
            break;
        for (size_t i = 0; i < n; i++)
            list[j][i] = (float)(c[i] - (total > 0 ? mean[i % 3] / total : 0));
        curve_coefficients(f->basis[j], curves + (size_t)j * EX_CURVE_SIZE);
        trajectory->corrector_count = j + 1;
    }
    return trajectory->corrector_count == f->count && list && curves
               ? EX_OK
               : ex_error_memory(error, "correctors", n * sizeof(float));
}

static ex_result measure_rigid(fitting *f, ex_error *error) {
    const size_t n = 3 * (size_t)f->between->vertex_count;
    ex_result result = tell(f, 0.05, error);
    if (result != EX_OK)
        return result;
    exi_run(f->between->tasks, EXI_SAMPLES / 2, 1, make_references, f);
    result = tell(f, 0.25, error);
    for (int k = 1; result == EX_OK && k < EXI_SAMPLES; k += 2)
        result = percentiles(f, k, f->paths + (size_t)k * n, f->rigid[k], error);
    return result;
}

static ex_result find_turns(fitting *f, ex_trajectory *trajectory, ex_error *error) {
    const size_t n = 3 * (size_t)f->between->vertex_count;
    f->turns = exi_array_allocate(n, sizeof *f->turns);
    float *turns = exi_array_allocate(n, sizeof *turns);
    trajectory->turns = turns;
    if (!f->turns || !turns)
        return ex_error_memory(error, "angular velocities", n * sizeof *f->turns);
    const ex_result result = exi_guided_turns(f->between, f->paths, f->turns, error);
    for (size_t i = 0; i < n; i++) /* rounded as in the rig */
        f->turns[i] = turns[i] = (float)f->turns[i];
    return result;
}

static ex_result fit(fitting *f, bool turning, ex_trajectory *trajectory, double ratios[4], ex_error *error) {
    const size_t n = 3 * (size_t)f->between->vertex_count;
    const int wanted = f->def->options.corrector_count, most = wanted < 0 ? MOST : wanted;
    ex_result result = measure_rigid(f, error);
    if (result != EX_OK)
        return result;
    exi_run(f->between->tasks, EXI_SAMPLES, 1, make_samples, f);
    if (turning)
        result = find_turns(f, trajectory, error);
    if (result != EX_OK)
        return result;
    const size_t size = (size_t)(most > 0 ? most : 1) * n;
    double *begun = exi_array_allocate(size, sizeof *begun);
    f->now = exi_array_allocate(3 * size, sizeof *f->now);
    if (!begun || !f->now) {
        free(begun);
        return ex_error_memory(error, "correctors", 4 * size * sizeof *begun);
    }
    f->last = f->now + size;
    f->at = f->last + size;
    for (int k = 0; k < EXI_SAMPLES; k++) {
        double *path = f->paths + (size_t)k * n;
        pair_form(f, exi_sample_time(k), f->work);
        for (size_t i = 0; i < n; i++)
            path[i] -= f->work[i];
    }
    find_curves(f);
    for (int j = 0; j < most; j++)
        project(f, j, begun + (size_t)j * n);
    for (int k = 0; k < EXI_SAMPLES; k++)
        pair_form(f, exi_sample_time(k), f->paths + (size_t)k * n);
    result = choose(f, wanted, begun, ratios, error);
    free(begun);
    return result == EX_OK ? store(f, trajectory, error) : result;
}

ex_result exi_guided_fit(const ex_trajectories_def *def, const ex_between *between, int example,
                         ex_trajectories *trajectories, ex_error *error) {
    const size_t n = 3 * (size_t)between->vertex_count;
    const size_t work = exi_between_work_size(between);
    fitting f = {.def = def,
                 .example = example,
                 .between = between,
                 .paths = exi_array_allocate(EXI_SAMPLES * n, sizeof(double)),
                 .work = exi_array_allocate(EXI_SAMPLES * work, sizeof(double))};
    int others = 0;
    for (int k = 0; k < def->example_count; k++)
        others += def->examples[k] != NULL;
    const bool turning = def->options.turns < 0 ? others > 1 : def->options.turns > 0;
    ex_result result = EX_OK;
    if (!f.paths || !f.work)
        result = ex_error_memory(error, "in-betweens", EXI_SAMPLES * (n + work) * sizeof(double));
    if (result == EX_OK)
        result = fit(&f, turning, &trajectories->trajectories[example], trajectories->fits[example].rigid, error);
    free(f.now);
    free(f.turns);
    free(f.paths);
    free(f.work);
    return result;
}
