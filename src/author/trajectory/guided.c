/*
 * Guided mode: trajectories that follow as-rigid-as-possible in-betweens at every t.
 *
 * In-betweens x(t) are made at the inner Chebyshev points of [0, 1], where a polynomial through them and the ends stays
 * close to them in between. What a velocity pair (or a straight line, where examples have no angular velocities) leaves
 * of them, r(t), is given to correctors: r(t) ~ sum over j of b_j(t) c_j. Powers of t would do as b_j; fewer do where
 * the curves are taken from the motion itself. All triangles together say which: with the weight 1 / (t (1 - t))^(3/4),
 * since near the ends the in-betweens are stretched least and are to be followed closest, and with
 *
 *   C(a, b) = sum over triangles of <grad r(t_a), grad r(t_b)>
 *
 * (gradients: what stretches; every triangle alike, as it is counted in the end), the eigenvectors of C with the
 * largest eigenvalues are the curves that leave the least. A limb that turns as one by an angle needs two of them, sine
 * and cosine of that angle's part, whatever the number of vertices. Between the samples a curve is t (1 - t) r(2t - 1)
 * with a polynomial r of degree 6 (exemplar/shape.h).
 *
 * The number of correctors is the least with which, at every sample, the 99th and 99.9th percentile of stretch are
 * within NEAR and NEARER times the in-between's.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "author/formats/array.h"
#include "author/trajectory/guided.h"
#include "runtime/base/dense.h"
#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#define PI      3.14159265358979323846
#define NEAR    1.5
#define NEARER  2.0
#define NOTHING 2e-4 /* of stretch: nobody sees it */
#define MOST    5    /* correctors that are tried */

double exi_sample_time(int sample) {
    return 0.5 * (1 - cos(PI * (sample + 1) / (EXI_SAMPLES + 1)));
}

double exi_curve(const float *curve, double s) {
    const double at = s < 0 ? 0 : s > 1 ? 1 : s, x = 2 * at - 1;
    double r = 0;
    for (int i = EX_CURVE_SIZE - 1; i >= 0; i--)
        r = r * x + curve[i];
    return s < 0 ? r : s > 1 ? r * (1 - s) / s : (1 - s) * r;
}

typedef struct fitting {
    const ex_between *between;
    double *paths; /* [EXI_SAMPLES][vertex_count][3]: in-betweens, then what is left of them */
    double *work;  /* [EXI_SAMPLES] of exi_between_work_size */
    double *turns; /* [vertex_count][3], or NULL */
    double curves[EXI_SAMPLES][EXI_SAMPLES]; /* [corrector][sample]: b_j */
    double rigid[EXI_SAMPLES][4];            /* percentiles of stretch of the in-betweens */
    const ex_progress *progress;
    ex_result result;
} fitting;

/* ---- in-betweens ---- */

static void make_samples(void *context, int begin, int end) {
    fitting *f = context;
    const size_t n = 3 * (size_t)f->between->vertex_count;
    for (int k = begin; k < end; k++)
        exi_between_rigid(f->between, exi_sample_time(k), f->paths + (size_t)k * n,
                          f->work + (size_t)k * exi_between_work_size(f->between));
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
            for (int i = 0; i < 3; i++) {
                const double d1 = r[3 * v[1] + i] - r[3 * v[0] + i], d2 = r[3 * v[2] + i] - r[3 * v[0] + i];
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
    const double t = exi_sample_time(sample);
    return pow(t * (1 - t), -0.75);
}

/* Eigenvectors of the weighted Gram matrix, by its singular values: it is symmetric and not negative. Largest first. */
static void find_curves(fitting *f, double basis[EXI_SAMPLES][EXI_SAMPLES]) {
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
        for (int k = 0; k < EXI_SAMPLES; k++) {
            basis[j][k] = v[order[j]][k];
            f->curves[j][k] = basis[j][k] / weight(k);
        }
}

/* The coefficients of r with t (1 - t) r(2t - 1) through the curve's values at the samples. */
static void curve_coefficients(const double values[EXI_SAMPLES], float *curve) {
    double m[EXI_SAMPLES][EXI_SAMPLES + 1];
    for (int k = 0; k < EXI_SAMPLES; k++) {
        const double t = exi_sample_time(k);
        double power = 1;
        for (int i = 0; i < EXI_SAMPLES; i++, power *= 2 * t - 1)
            m[k][i] = power;
        m[k][EXI_SAMPLES] = values[k] / (t * (1 - t));
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

/* ---- how many ---- */

/* The worst ratios, over the samples, of percentiles of stretch to the in-between's, with so many correctors. */
static ex_result measure(fitting *f, const ex_trajectory *trajectory, double ratios[4], ex_error *error) {
    const ex_between *b = f->between;
    const size_t n = 3 * (size_t)b->vertex_count;
    double *form = f->work;
    memset(ratios, 0, 4 * sizeof *ratios);
    for (int k = 0; k < EXI_SAMPLES; k++) {
        const double t = exi_sample_time(k);
        ex_stretch stretch;
        pair_form(f, t, form);
        for (int j = 0; j < trajectory->corrector_count; j++) {
            const double factor = t * exi_curve(trajectory->curves + (size_t)j * EX_CURVE_SIZE, t);
            for (size_t i = 0; i < n; i++)
                form[i] += factor * (double)trajectory->correctors[j][i];
        }
        exi_between_move(b, t, form);
        const ex_result result = ex_between_stretch(b, t, form, &stretch, NULL, error);
        if (result != EX_OK)
            return result;
        for (int i = 0; i < 4; i++) {
            const double ratio = stretch.percentiles[i] / (f->rigid[k][i] + NOTHING);
            ratios[i] = ratio > ratios[i] ? ratio : ratios[i];
        }
    }
    return EX_OK;
}

static ex_result measure_rigid(fitting *f, ex_error *error) {
    const size_t n = 3 * (size_t)f->between->vertex_count;
    for (int k = 0; k < EXI_SAMPLES; k++) {
        ex_stretch stretch;
        memcpy(f->work, f->paths + (size_t)k * n, n * sizeof *f->work);
        exi_between_move(f->between, exi_sample_time(k), f->work);
        const ex_result result = ex_between_stretch(f->between, exi_sample_time(k), f->work, &stretch, NULL, error);
        if (result != EX_OK)
            return result;
        memcpy(f->rigid[k], stretch.percentiles, sizeof f->rigid[k]);
    }
    return EX_OK;
}

/* ---- the whole ---- */

/* Corrector j: the part of what is left along its curve. */
static float *make_corrector(const fitting *f, const double basis[EXI_SAMPLES]) {
    const size_t n = 3 * (size_t)f->between->vertex_count;
    float *values = exi_array_allocate(n, sizeof *values);
    for (size_t i = 0; values && i < n; i++) {
        double sum = 0;
        for (int k = 0; k < EXI_SAMPLES; k++)
            sum += basis[k] * weight(k) * f->paths[(size_t)k * n + i];
        values[i] = (float)sum;
    }
    return values;
}

static ex_result add_correctors(fitting *f, int wanted, ex_trajectory *trajectory, double ratios[4], ex_error *error) {
    double basis[EXI_SAMPLES][EXI_SAMPLES];
    float **list = calloc(EX_CORRECTOR_MAX, sizeof *list),
          *curves = calloc(EX_CORRECTOR_MAX, EX_CURVE_SIZE * sizeof *curves);
    trajectory->correctors = (const float *const *)list;
    trajectory->curves = curves;
    if (!list || !curves)
        return exi_error_memory(error, "correctors", 0);
    find_curves(f, basis);
    const int most = wanted < 0 ? MOST : wanted < EXI_SAMPLES ? wanted : EXI_SAMPLES;
    ex_result result = measure(f, trajectory, ratios, error);
    for (int j = 0; result == EX_OK && j < most; j++) {
        if (wanted < 0 && ratios[2] <= NEAR && ratios[3] <= NEARER)
            break;
        list[j] = make_corrector(f, basis[j]);
        if (!list[j])
            return exi_error_memory(error, "correctors", 3 * sizeof(float) * (size_t)f->between->vertex_count);
        curve_coefficients(f->curves[j], curves + (size_t)j * EX_CURVE_SIZE);
        trajectory->corrector_count = j + 1;
        if (wanted < 0 || j + 1 == most)
            result = measure(f, trajectory, ratios, error);
    }
    return result;
}

static ex_result fit(fitting *f, const ex_trajectories_def *def, bool turning, ex_trajectory *trajectory,
                     double ratios[4], ex_error *error) {
    const ex_between *b = f->between;
    const size_t n = 3 * (size_t)b->vertex_count;
    exi_run(b->tasks, EXI_SAMPLES, 1, make_samples, f);
    if (def->progress)
        def->progress->report(def->progress->user, "following in-betweens", 0.8);
    ex_result result = measure_rigid(f, error);
    if (result == EX_OK && turning) {
        f->turns = exi_array_allocate(n, sizeof *f->turns);
        float *turns = exi_array_allocate(n, sizeof *turns);
        trajectory->turns = turns;
        if (!f->turns || !turns)
            return exi_error_memory(error, "angular velocities", n * sizeof *f->turns);
        result = exi_guided_turns(b, f->paths, f->turns, error);
        for (size_t i = 0; i < n; i++) /* as the rig will have them */
            f->turns[i] = turns[i] = (float)f->turns[i];
    }
    if (result != EX_OK)
        return result;
    for (int k = 0; k < EXI_SAMPLES; k++) {
        double *path = f->paths + (size_t)k * n;
        pair_form(f, exi_sample_time(k), f->work);
        for (size_t i = 0; i < n; i++)
            path[i] -= f->work[i];
    }
    return add_correctors(f, def->options.corrector_count, trajectory, ratios, error);
}

ex_result exi_guided_fit(const ex_trajectories_def *def, const ex_between *between, int example,
                         ex_trajectories *trajectories, ex_error *error) {
    const size_t n = 3 * (size_t)between->vertex_count;
    const size_t work = exi_between_work_size(between) > n ? exi_between_work_size(between) : n;
    fitting f = {.between = between,
                 .paths = exi_array_allocate(EXI_SAMPLES * n, sizeof(double)),
                 .work = exi_array_allocate(EXI_SAMPLES * work, sizeof(double))};
    int others = 0;
    for (int k = 0; k < def->example_count; k++)
        others += def->examples[k] != NULL;
    const bool turning = def->options.turns < 0 ? others > 1 : def->options.turns > 0;
    ex_result result = EX_OK;
    if (!f.paths || !f.work)
        result = exi_error_memory(error, "in-betweens", EXI_SAMPLES * (n + work) * sizeof(double));
    if (result == EX_OK)
        result = fit(&f, def, turning, &trajectories->trajectories[example], trajectories->fits[example].rigid, error);
    free(f.turns);
    free(f.paths);
    free(f.work);
    return result;
}
