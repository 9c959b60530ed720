/*
 * Chooses the settings of the regression by cross-validation over takes: each fold leaves whole takes out, since
 * neighbouring frames are nearly the same. With D_k the squared distances of states by their numbers of kind k, each
 * kind scaled to a total variance of 1, states are d^2 = sum over k of w_k^2 D_k apart, and kernel ridge regression
 * predicts the left out coefficients:
 *
 *     y = K_test (K + ridge I)^-1 Y,    K = exp(-d^2 / 2 width^2), or inner products for a linear regression.
 *
 * The search changes one setting at a time: how much motion counts, the width, how much sizes count; each with several
 * ridges.
 */
#include "author/base/array.h"
#include "author/drive/motion/drive_motion.h"

#include "runtime/base/dense.h"

#include <exemplar/maths.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* MOST: frames that are compared, evenly spread. FOLDS: takes are left out in this many groups, at most. */
enum { MOST = 900, FOLDS = 5, RIDGES = 4 };
static const double ridges[RIDGES] = {0.3, 0.1, 0.01, 0.001};

typedef struct selecting {
    exi_motion_learner *l;
    int count;   /* frames */
    int *frames; /* [count]: index among the learner's */
    int *folds;  /* [count] */
    int fold_count;
    float *distances[EX_STATE_KIND_COUNT]; /* [count][count] each */
    double *norms[EX_STATE_KIND_COUNT];    /* [count] each: squared distance from the mean */
    double *kernel;                        /* [count][count] */
    double *system;                        /* room of a solve */
    int tried, tries;
} selecting;

/* ---- distances ---- */

void exi_motion_scales(const exi_motion_learner *l, const double weights[EX_STATE_KIND_COUNT], double *means,
                       double *scales) {
    const size_t length = (size_t)l->state_length, frames = (size_t)l->frame_count;
    const int moving = l->plan.driver.driver.frame_count;
    memset(means, 0, length * sizeof *means);
    memset(scales, 0, length * sizeof *scales);
    for (size_t f = 0; f < frames; f++)
        for (size_t i = 0; i < length; i++)
            means[i] += (double)l->states[f * length + i] / (double)frames;
    for (size_t f = 0; f < frames; f++)
        for (size_t i = 0; i < length; i++) {
            const double d = (double)l->states[f * length + i] - means[i];
            scales[i] += d * d / (double)frames;
        }
    for (int k = 0; k < EX_STATE_KIND_COUNT; k++) {
        const int from = ex_state_start(moving, (ex_state_kind)k), to = ex_state_start(moving, (ex_state_kind)(k + 1));
        double variance = 0;
        for (int i = from; i < to; i++)
            variance += scales[i];
        for (int i = from; i < to; i++)
            scales[i] = variance > 1e-12 ? weights[k] / sqrt(variance) : 0;
    }
}

static ex_result measure_distances(selecting *s) {
    const exi_motion_learner *l = s->l;
    const size_t length = (size_t)l->state_length, n = (size_t)s->count;
    const int moving = l->plan.driver.driver.frame_count;
    double ones[EX_STATE_KIND_COUNT];
    double *means = exi_array_allocate(length, sizeof *means), *scales = exi_array_allocate(length, sizeof *scales);
    float *scaled = exi_array_allocate(n * length, sizeof *scaled);
    const bool room = means && scales && scaled;
    if (room) {
        for (int k = 0; k < EX_STATE_KIND_COUNT; k++)
            ones[k] = 1;
        exi_motion_scales(l, ones, means, scales);
        for (size_t f = 0; f < n; f++)
            for (size_t i = 0; i < length; i++)
                scaled[f * length + i] =
                    (float)(((double)l->states[(size_t)s->frames[f] * length + i] - means[i]) * scales[i]);
    }
    for (int k = 0; room && k < EX_STATE_KIND_COUNT; k++) {
        const size_t from = (size_t)ex_state_start(moving, (ex_state_kind)k);
        const size_t count = (size_t)ex_state_start(moving, (ex_state_kind)(k + 1)) - from;
        for (size_t a = 0; a < n; a++)
            s->norms[k][a] = exi_motion_dot(scaled + a * length + from, scaled + a * length + from, count);
        for (size_t a = 0; a < n; a++)
            for (size_t b = 0; b <= a; b++) {
                const double product = exi_motion_dot(scaled + a * length + from, scaled + b * length + from, count);
                const double d = s->norms[k][a] + s->norms[k][b] - 2 * product;
                s->distances[k][a * n + b] = s->distances[k][b * n + a] = (float)(d > 0 ? d : 0);
            }
    }
    free(means);
    free(scales);
    free(scaled);
    return room ? EX_OK : ex_error_memory(l->error, "states", n * length * sizeof(float));
}

/* ---- one setting ---- */

static double distance_sq(const selecting *s, const double *weights, size_t a, size_t b) {
    double sum = 0;
    for (int k = 0; k < EX_STATE_KIND_COUNT; k++)
        sum += weights[k] * weights[k] * (double)s->distances[k][a * (size_t)s->count + b];
    return sum;
}

static void fill_kernel(const selecting *s, const exi_motion_choice *c) {
    const size_t n = (size_t)s->count;
    double *norms = s->system; /* used later */
    for (size_t a = 0; a < n; a++) {
        norms[a] = 0;
        for (int k = 0; k < EX_STATE_KIND_COUNT; k++)
            norms[a] += c->weights[k] * c->weights[k] * s->norms[k][a];
    }
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++) {
            const double d = distance_sq(s, c->weights, a, b);
            s->kernel[a * n + b] =
                c->width > 0 ? ex_exp(-d / (2 * c->width * c->width)) : 0.5 * (norms[a] + norms[b] - d) + 1;
        }
}

/* Predicts a fold from the others. Returns the sum of squared errors of its coefficients; -1 if there is no solution.
 */
static double leave_out(const selecting *s, int fold, double ridge) {
    const exi_motion_learner *l = s->l;
    const size_t n = (size_t)s->count, forms = (size_t)l->form_count;
    size_t rows = 0;
    for (size_t a = 0; a < n; a++)
        rows += s->folds[a] != fold;
    const size_t width = rows + forms;
    size_t row = 0;
    for (size_t a = 0; a < n; a++) {
        if (s->folds[a] == fold)
            continue;
        double *to = s->system + row * width;
        size_t column = 0;
        for (size_t b = 0; b < n; b++)
            if (s->folds[b] != fold)
                to[column++] = s->kernel[a * n + b];
        to[row] += ridge;
        memcpy(to + rows, l->coefficients + (size_t)s->frames[a] * forms, forms * sizeof *to);
        row++;
    }
    if (!exi_solve_definite(s->system, (int)rows, (int)forms))
        return -1;
    double total = 0;
    for (size_t a = 0; a < n; a++) {
        if (s->folds[a] != fold)
            continue;
        for (size_t i = 0; i < forms; i++) {
            double sum = 0;
            size_t b = 0;
            for (size_t other = 0; other < n; other++)
                if (s->folds[other] != fold)
                    sum += s->kernel[a * n + other] * s->system[b++ * width + rows + i];
            const double e = sum - l->coefficients[(size_t)s->frames[a] * forms + i];
            total += e * e;
        }
    }
    return total;
}

/* Tries a setting with all ridges, and keeps it if it is better than `best`. */
static ex_result try_setting(selecting *s, exi_motion_choice setting, exi_motion_choice *best) {
    fill_kernel(s, &setting);
    for (int r = 0; r < RIDGES; r++) {
        double total = 0;
        for (int fold = 0; fold < s->fold_count && total >= 0; fold++) {
            const double squares = leave_out(s, fold, ridges[r]);
            total = squares < 0 ? -1 : total + squares;
            const ex_result told = exi_motion_tell(s->l, "choosing what counts",
                                                   (s->tried + (r + (fold + 1.0) / s->fold_count) / RIDGES) / s->tries);
            if (told != EX_OK)
                return told;
        }
        setting.ridge = ridges[r];
        setting.error = sqrt(total / ((double)s->count * s->l->refs.driven_count) + s->l->form_square);
        if (total >= 0 && (best->error < 0 || setting.error < best->error))
            *best = setting;
    }
    s->tried++;
    return EX_OK;
}

/* ---- the search ---- */

static void set_motion(exi_motion_choice *c, double part) {
    c->weights[EX_STATE_VELOCITY] = c->weights[EX_STATE_SPIN] = part;
    c->weights[EX_STATE_ACCELERATION] = 0.6 * part;
    c->weights[EX_STATE_WHIRL] = 0.4 * part;
}

static ex_result search(selecting *s, exi_motion_choice *best) {
    static const double motions[] = {0.5, 0.25, 1, 0}, widths[] = {4, 16, 0}, sizes[] = {0.5};
    exi_motion_choice setting = {
        .weights = {[EX_STATE_TURN] = 1, [EX_STATE_PLACE] = 1, [EX_STATE_UP] = 0.3}, .width = 8, .error = -1};
    ex_result result = EX_OK;
    *best = setting;
    s->tries = 8;
    for (int i = 0; result == EX_OK && i < 4; i++) {
        set_motion(&setting, motions[i]);
        result = try_setting(s, setting, best);
    }
    for (int i = 0; result == EX_OK && i < 3; i++) {
        setting = *best;
        setting.width = widths[i];
        result = try_setting(s, setting, best);
    }
    for (int i = 0; result == EX_OK && i < 1; i++) {
        setting = *best;
        setting.weights[EX_STATE_SIZE] = sizes[i];
        result = try_setting(s, setting, best);
    }
    if (result == EX_OK && best->error < 0)
        result = ex_error_set(s->l->error, EX_ERROR_DATA, "the motion of the driver does not tell its frames apart");
    return result;
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Finds the distance from other takes that 99 of 100 frames stay below. */
static void find_familiar(const selecting *s, exi_motion_choice *best) {
    const size_t n = (size_t)s->count;
    double *nearest = s->system;
    for (size_t a = 0; a < n; a++) {
        nearest[a] = INFINITY;
        for (size_t b = 0; b < n; b++) {
            const double d = s->folds[a] != s->folds[b] ? distance_sq(s, best->weights, a, b) : INFINITY;
            nearest[a] = d < nearest[a] ? d : nearest[a];
        }
    }
    qsort(nearest, n, sizeof *nearest, compare);
    best->familiar = sqrt(nearest[(n - 1) * 99 / 100]);
}

/* Takes go to folds in turn. */
static void make_folds(selecting *s) {
    s->fold_count = s->l->take_count < FOLDS ? s->l->take_count : FOLDS;
    for (int i = 0; i < s->count; i++)
        s->folds[i] = s->l->takes[s->frames[i]] % s->fold_count;
}

static ex_result open(selecting *s) {
    exi_motion_learner *l = s->l;
    s->count = l->frame_count < MOST ? l->frame_count : MOST;
    const size_t n = (size_t)s->count;
    s->frames = exi_array_allocate(n, sizeof *s->frames);
    s->folds = exi_array_allocate(n, sizeof *s->folds);
    s->kernel = exi_array_allocate(n * n, sizeof *s->kernel);
    s->system = exi_array_allocate(n * (n + (size_t)l->form_count), sizeof *s->system);
    bool room = s->frames && s->folds && s->kernel && s->system;
    for (int k = 0; k < EX_STATE_KIND_COUNT; k++) {
        s->distances[k] = exi_array_allocate(n * n, sizeof(float));
        s->norms[k] = exi_array_allocate(n, sizeof(double));
        room = room && s->distances[k] && s->norms[k];
    }
    if (!room)
        return ex_error_memory(l->error, "choosing what counts", n * n * 48);
    for (int i = 0; i < s->count; i++)
        s->frames[i] = (int)((int64_t)i * l->frame_count / s->count);
    make_folds(s);
    return measure_distances(s);
}

ex_result exi_motion_select(exi_motion_learner *l) {
    selecting s = {.l = l};
    ex_result result = open(&s);
    if (result == EX_OK)
        result = search(&s, &l->choice);
    if (result == EX_OK)
        find_familiar(&s, &l->choice);
    free(s.frames);
    free(s.folds);
    free(s.kernel);
    free(s.system);
    for (int k = 0; k < EX_STATE_KIND_COUNT; k++) {
        free(s.distances[k]);
        free(s.norms[k]);
    }
    return result;
}
