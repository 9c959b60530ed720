/*
 * The regression from states to coefficients, with the settings that cross-validation chose. States become components:
 * principal directions of the scaled states. Kernel ridge regression on landmark states (Nystroem's method) minimises
 *
 *     |K a - Y|^2 + ridge a^T K_l a,    (K^T K + ridge K_l) a = K^T Y,
 *
 * with K the kernel of all frames and the landmarks, K_l that of the landmarks among themselves. If every frame is a
 * landmark, that is (K_l + ridge I) a = Y. A linear regression is solved in the components.
 */
#include "author/base/array.h"
#include "author/drive/motion/drive_motion.h"

#include "runtime/base/dense.h"

#include <exemplar/maths.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* COMPONENTS: at most. SAMPLED: frames from which components and distances are found. */
enum { COMPONENTS = 64, SAMPLED = 2000 };

/* Speeds below this, in m/s, are no cut. */
static const double least_speed = 1;

typedef struct regressing {
    exi_motion_learner *l;
    size_t length, frames, components, landmarks, forms;
    double *means, *scales;               /* [length] */
    float *mean, *scale;                  /* the same */
    float *basis;                         /* [components][length] */
    float *table;                         /* [length][components] */
    float *places;                        /* [frames][components] */
    float *marks;                         /* [landmarks][components] */
    float *base, *slopes, *pulls, *known; /* of forms + 1 weights */
    double *sizes;                        /* [forms]: spread of the coefficients, the unit of their weights */
    double outside, familiar;
} regressing;

static size_t landmark_frame(const regressing *r, size_t mark) {
    return mark * r->frames / r->landmarks;
}

/* ---- components ---- */

static void scale_state(const regressing *r, size_t frame, float *out) {
    const float *state = r->l->states + frame * r->length;
    for (size_t i = 0; i < r->length; i++)
        out[i] = (state[i] - r->mean[i]) * r->scale[i];
}

static int compare(const void *a, const void *b) {
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static ex_result find_components(regressing *r) {
    const size_t sampled = r->frames < SAMPLED ? r->frames : SAMPLED;
    float *data = exi_array_allocate(sampled * r->length, sizeof *data), *zeros = calloc(r->length, sizeof *zeros);
    float *row = exi_array_allocate(r->length, sizeof *row), *left = exi_array_allocate(r->frames, sizeof *left);
    bool room = data && zeros && row && left;
    for (size_t i = 0; room && i < sampled; i++)
        scale_state(r, i * r->frames / sampled, data + i * r->length);
    room = room && exi_motion_principal(data, sampled, r->length, zeros, (int)r->components, r->basis, NULL);
    for (size_t f = 0; room && f < r->frames; f++) {
        scale_state(r, f, row);
        double unseen = exi_motion_dot(row, row, r->length);
        for (size_t c = 0; c < r->components; c++) {
            const double z = exi_motion_dot(r->basis + c * r->length, row, r->length);
            r->places[f * r->components + c] = (float)z;
            unseen -= z * z;
        }
        left[f] = (float)(unseen > 0 ? unseen : 0);
    }
    if (room) {
        qsort(left, r->frames, sizeof *left, compare);
        r->outside = 1.5 * (double)left[(r->frames - 1) * 999 / 1000];
        for (size_t i = 0; i < r->length; i++)
            for (size_t c = 0; c < r->components; c++)
                r->table[i * r->components + c] = r->basis[c * r->length + i];
        for (size_t m = 0; m < r->landmarks; m++)
            memcpy(r->marks + m * r->components, r->places + landmark_frame(r, m) * r->components,
                   r->components * sizeof(float));
    }
    free(data);
    free(zeros);
    free(row);
    free(left);
    return room ? EX_OK : ex_error_memory(r->l->error, "components", (sampled + r->frames) * r->length * sizeof(float));
}

/* ---- regression ---- */

static double distance_sq(const regressing *r, const float *a, const float *b) {
    double sum = 0;
    for (size_t c = 0; c < r->components; c++) {
        const double d = (double)a[c] - (double)b[c];
        sum += d * d;
    }
    return sum;
}

/* The kernel of a place with all landmarks; returns the squared distance of the nearest. */
static double fill_row(const regressing *r, const float *place, double *row) {
    const double width = r->l->choice.width;
    double least = INFINITY;
    for (size_t m = 0; m < r->landmarks; m++) {
        const double d = distance_sq(r, place, r->marks + m * r->components);
        least = d < least ? d : least;
        row[m] = ex_exp(-d / (2 * width * width));
    }
    return least;
}

/* Finds the familiar distance: that of other takes, but at least that from the landmarks, which may be few. squares
 * [count]: of the distances from the nearest landmark; they are sorted. */
static void set_familiar(regressing *r, float *squares, size_t count) {
    qsort(squares, count, sizeof *squares, compare);
    const double far = sqrt((double)squares[(count - 1) * 99 / 100]);
    r->familiar = far > r->l->choice.familiar ? far : r->l->choice.familiar;
}

/* The same without a kernel, from frames spread evenly. */
static ex_result find_familiar(regressing *r) {
    const size_t sampled = r->frames < SAMPLED ? r->frames : SAMPLED;
    float *nearest = exi_array_allocate(sampled, sizeof *nearest);
    if (!nearest)
        return ex_error_memory(r->l->error, "the regression", sampled * sizeof *nearest);
    for (size_t i = 0; i < sampled; i++) {
        const float *place = r->places + i * r->frames / sampled * r->components;
        double least = INFINITY;
        for (size_t m = 0; m < r->landmarks; m++) {
            const double d = distance_sq(r, place, r->marks + m * r->components);
            least = d < least ? d : least;
        }
        nearest[i] = (float)least;
    }
    set_familiar(r, nearest, sampled);
    free(nearest);
    return EX_OK;
}

/* Adds rows to K^T K | K^T Y, several at a time. */
enum { BATCH = 16 };
static void add_rows(const regressing *r, double rows[], size_t count, const double *const targets[], double *system) {
    const size_t n = r->landmarks, width = n + r->forms;
    for (size_t i = 0; i < n; i++) {
        double *to = system + i * width;
        for (size_t b = 0; b < count; b++) {
            const double *row = rows + b * n;
            const double k = row[i];
            for (size_t j = i; j < n; j++)
                to[j] += k * row[j];
            for (size_t j = 0; j < r->forms; j++)
                to[n + j] += k * targets[b][j];
        }
    }
}

static ex_result fill_system(regressing *r, double *system) {
    const size_t n = r->landmarks, width = n + r->forms;
    const double *y = r->l->coefficients;
    double *rows = exi_array_allocate(BATCH * n, sizeof *rows);
    const double *targets[BATCH];
    float *nearest = exi_array_allocate(r->frames, sizeof *nearest);
    ex_result result =
        rows && nearest ? EX_OK : ex_error_memory(r->l->error, "the regression", BATCH * n * sizeof *rows);
    memset(system, 0, n * width * sizeof *system);
    size_t count = 0;
    for (size_t f = 0; result == EX_OK && f < r->frames; f++) {
        nearest[f] = (float)fill_row(r, r->places + f * r->components, rows + count * n);
        targets[count++] = y + f * r->forms;
        if (n < r->frames && (count == BATCH || f + 1 == r->frames))
            add_rows(r, rows, count, targets, system);
        if (n == r->frames) {
            memcpy(system + f * width, rows, n * sizeof *rows);
            memcpy(system + f * width + n, y + f * r->forms, r->forms * sizeof *y);
        }
        count = n == r->frames || count == BATCH ? 0 : count;
        if (f % 64 == 0)
            result = exi_motion_tell(r->l, "learning from all frames", 0.8 * (double)f / (double)r->frames);
    }
    for (size_t m = 0; result == EX_OK && m < n; m++) {
        if (n == r->frames) {
            system[m * width + m] += r->l->choice.ridge;
            continue;
        }
        fill_row(r, r->marks + m * r->components, rows);
        for (size_t j = m; j < n; j++)
            system[m * width + j] += r->l->choice.ridge * rows[j];
    }
    if (result == EX_OK)
        set_familiar(r, nearest, r->frames);
    free(rows);
    free(nearest);
    return result;
}

/* Solves a copy of the system with more and more on its diagonal, until it can be. */
static bool solve(const double *system, double *copy, size_t n, size_t m) {
    double trace = 0;
    for (size_t i = 0; i < n; i++)
        trace += system[i * (n + m) + i] / (double)n;
    for (double more = 1e-12; more < 1e-2; more *= 100) {
        memcpy(copy, system, n * (n + m) * sizeof *copy);
        for (size_t i = 0; i < n; i++)
            copy[i * (n + m) + i] += more * trace;
        if (exi_solve_definite(copy, (int)n, (int)m))
            return true;
    }
    return false;
}

static ex_result regress_kernel(regressing *r) {
    const size_t n = r->landmarks, width = n + r->forms;
    double *system = exi_array_allocate(n * width, sizeof *system), *copy = exi_array_allocate(n * width, sizeof *copy);
    ex_result result =
        system && copy ? EX_OK : ex_error_memory(r->l->error, "the regression", 2 * n * width * sizeof *system);
    if (result == EX_OK)
        result = fill_system(r, system);
    if (result == EX_OK && !solve(system, copy, n, r->forms))
        result = ex_error_set(r->l->error, EX_ERROR_SINGULAR, "the motion of the driver has no regression");
    for (size_t m = 0; result == EX_OK && m < n; m++)
        for (size_t i = 0; i < r->forms; i++)
            r->pulls[m * (r->forms + 1) + i + 1] = (float)(copy[m * width + n + i] / r->sizes[i]);
    free(system);
    free(copy);
    return result;
}

static ex_result regress_linear(regressing *r) {
    const size_t n = r->components + 1, width = n + r->forms;
    double *system = calloc(n * width, sizeof *system), *copy = exi_array_allocate(n * width, sizeof *copy);
    ex_result result =
        system && copy ? EX_OK : ex_error_memory(r->l->error, "the regression", 2 * n * width * sizeof *system);
    for (size_t f = 0; result == EX_OK && f < r->frames; f++)
        for (size_t i = 0; i < n; i++) {
            const double zi = i < r->components ? (double)r->places[f * r->components + i] : 1;
            for (size_t j = 0; j < n; j++)
                system[i * width + j] += zi * (j < r->components ? (double)r->places[f * r->components + j] : 1);
            for (size_t j = 0; j < r->forms; j++)
                system[i * width + n + j] += zi * r->l->coefficients[f * r->forms + j];
        }
    for (size_t i = 0; result == EX_OK && i < n; i++)
        system[i * width + i] += r->l->choice.ridge;
    if (result == EX_OK && !solve(system, copy, n, r->forms))
        result = ex_error_set(r->l->error, EX_ERROR_SINGULAR, "the motion of the driver has no regression");
    for (size_t i = 0; result == EX_OK && i < n; i++)
        for (size_t j = 0; j < r->forms; j++) {
            const float value = (float)(copy[i * width + n + j] / r->sizes[j]);
            if (i < r->components)
                r->slopes[i * (r->forms + 1) + j + 1] = value;
            else
                r->base[j + 1] = value;
        }
    free(system);
    free(copy);
    return result == EX_OK ? find_familiar(r) : result;
}

/* ---- the predictor ---- */

static ex_result make(regressing *r) {
    exi_motion_learner *l = r->l;
    const double fastest = l->fastest > least_speed ? l->fastest : least_speed;
    const ex_predictor_def def = {.frame_count = l->plan.driver.driver.frame_count,
                                  .centres = l->centres,
                                  .up = {l->up[0], l->up[1], l->up[2]},
                                  .step = l->step,
                                  .fastest = EXI_MOTION_CUT * fastest,
                                  .sizes = l->choice.weights[EX_STATE_SIZE] > 0,
                                  .component_count = (int)r->components,
                                  .landmark_count = (int)r->landmarks,
                                  .weight_count = (int)r->forms + 1,
                                  .mean = r->mean,
                                  .scales = r->scale,
                                  .components = r->table,
                                  .landmarks = r->marks,
                                  .base = r->base,
                                  .slopes = r->slopes,
                                  .pulls = r->pulls,
                                  .known = r->known,
                                  .width = l->choice.width > 0 ? l->choice.width : 1,
                                  .familiar = r->familiar > 1e-3 ? r->familiar : 1e-3,
                                  .outside = r->outside};
    return ex_predictor_create(&def, NULL, &l->predictor, l->error);
}

static void find_sizes(regressing *r) {
    for (size_t i = 0; i < r->forms; i++) {
        double sum = 0;
        for (size_t f = 0; f < r->frames; f++) {
            const double c = r->l->coefficients[f * r->forms + i];
            sum += c * c / (double)r->frames;
        }
        r->sizes[i] = sum > 1e-20 ? sqrt(sum) : 1;
    }
    r->base[0] = 1;
    for (size_t m = 0; m < r->landmarks; m++) {
        r->known[m * (r->forms + 1)] = 1;
        for (size_t i = 0; i < r->forms; i++)
            r->known[m * (r->forms + 1) + i + 1] =
                (float)(r->l->coefficients[landmark_frame(r, m) * r->forms + i] / r->sizes[i]);
    }
}

static ex_result open(regressing *r) {
    const exi_motion_learner *l = r->l;
    const size_t most = (size_t)l->def->landmark_count, weights = r->forms + 1;
    r->landmarks = r->frames < most ? r->frames : most;
    r->components = r->frames < COMPONENTS ? r->frames : COMPONENTS;
    r->means = exi_array_allocate(r->length, sizeof(double));
    r->scales = exi_array_allocate(r->length, sizeof(double));
    r->mean = exi_array_allocate(r->length, sizeof(float));
    r->scale = exi_array_allocate(r->length, sizeof(float));
    r->basis = exi_array_allocate(r->components * r->length, sizeof(float));
    r->table = exi_array_allocate(r->components * r->length, sizeof(float));
    r->places = exi_array_allocate(r->frames * r->components, sizeof(float));
    r->marks = exi_array_allocate(r->landmarks * r->components, sizeof(float));
    r->base = calloc(weights, sizeof(float));
    r->slopes = calloc(r->components * weights, sizeof(float));
    r->pulls = calloc(r->landmarks * weights, sizeof(float));
    r->known = calloc(r->landmarks * weights, sizeof(float));
    r->sizes = exi_array_allocate(r->forms, sizeof(double));
    if (!r->means || !r->scales || !r->mean || !r->scale || !r->basis || !r->table || !r->places || !r->marks ||
        !r->base || !r->slopes || !r->pulls || !r->known || !r->sizes)
        return ex_error_memory(l->error, "the regression", r->frames * r->components * sizeof(float));
    exi_motion_scales(l, l->choice.weights, r->means, r->scales);
    for (size_t i = 0; i < r->length; i++) {
        r->mean[i] = (float)r->means[i];
        r->scale[i] = (float)r->scales[i];
    }
    find_sizes(r);
    return EX_OK;
}

ex_result exi_motion_regress(exi_motion_learner *l) {
    regressing r = {
        .l = l, .length = (size_t)l->state_length, .frames = (size_t)l->frame_count, .forms = (size_t)l->form_count};
    ex_result result = open(&r);
    if (result == EX_OK)
        result = find_components(&r);
    if (result == EX_OK)
        result = l->choice.width > 0 ? regress_kernel(&r) : regress_linear(&r);
    if (result == EX_OK)
        result = make(&r);
    /* Forms in the unit of their weights. */
    const size_t numbers = 3 * (size_t)l->refs.driven_count;
    for (size_t i = 0; result == EX_OK && i < r.forms; i++)
        for (size_t k = 0; k < numbers; k++)
            l->forms[i * numbers + k] *= (float)r.sizes[i];
    free(r.means);
    free(r.scales);
    free(r.mean);
    free(r.scale);
    free(r.basis);
    free(r.table);
    free(r.places);
    free(r.marks);
    free(r.base);
    free(r.slopes);
    free(r.pulls);
    free(r.known);
    free(r.sizes);
    return result;
}
