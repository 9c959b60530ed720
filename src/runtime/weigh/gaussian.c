/*
 * The gaussian weigher, the interpolation of pose space (Lewis, Cordner, Fong: Pose Space Deformation, 2000, equation
 * 1): one basis per point, each with its own width, and no plane, so that weights tend to 0 far from every example.
 *
 *   w(p) = phi(p)' Phi^-1 F,    phi_k(p) = exp(-r_k^2 / 2),    Phi_jk = phi_k(p_j)
 *
 * F is the identity for examples, with one more row for every pseudo-example. r_k^2 is the sum over the axes of the
 * squares of distance / falloff, or d' M_k d over the scalar axes. For sets of examples, the same system is solved
 * without the rows and columns of other examples (gaussian_solve.c); the kernels are the same, and evaluation shares
 * them.
 */
#include "runtime/weigh/gaussian.h"

#include "runtime/base/result.h"
#include "runtime/weigh/gradient.h"

#include <math.h>
#include <string.h>

/* Range of falloffs: others are useless and could overflow; 0 is the default. */
static const double falloff_min = 1e-100, falloff_max = 1e100;
/* Tolerated asymmetry of a metric, relative to its diagonal: rounding of units. */
static const double symmetric = 1e-9;
/* Number of kernels kept at a time while sets are evaluated. */
enum { CHUNK = 128 };

static const ex_parameter parameters[] = {
    {EXI_PARAMETER("ridge", ridge),
     .help = "Above 0, examples are no longer matched exactly, and the result swings less between them. At 0, a small "
             "ridge is added if examples can hardly be told apart.",
     .most = INFINITY, .usual = {1e-9, 1}},
};

static size_t own_count(const ex_weigher *w) {
    const size_t n = (size_t)exi_point_count(w), s = (size_t)w->scalar_count;
    const bool metrics = (w->flags & EXI_WEIGHER_METRICS) != 0;
    return sizeof(exi_ridge_record) / sizeof(double) + 2 * n * (size_t)w->axis_count +
           (metrics ? n * (s * s + exi_factor_size(w)) : 0) + n * (size_t)w->example_count +
           (size_t)w->set_square_count + (size_t)w->pseudo_count * (size_t)w->set_weight_count;
}

/* ---- checking a definition ---- */

static int scalar_count(const ex_weigher_def *def) {
    int count = 0;
    for (int a = 0; a < def->axis_count; a++)
        count += def->axes[a].kind == EX_AXIS_SCALAR;
    return count;
}

static ex_result check_falloffs(const ex_weigher_def *def, ex_error *error) {
    char point[200];
    for (int k = 0; k < def->example_count + def->pseudo_count; k++)
        for (int a = 0; a < def->axis_count; a++) {
            const double falloff = def->falloffs[(size_t)k * (size_t)def->axis_count + (size_t)a];
            if (falloff == 0 || (falloff >= falloff_min && falloff <= falloff_max))
                continue;
            exi_point_text(def->names, def->example_count, k, point, sizeof point);
            if (!isfinite(falloff))
                return ex_error_set(error, EX_ERROR_DATA, "%s: its falloff along axis %d is not a finite number", point,
                                    a);
            return ex_error_set(error, EX_ERROR_ARGUMENT,
                                "%s: its falloff along axis %d is %g: it must be above 0 (from %g to %g), or 0 for the "
                                "default",
                                point, a, falloff, falloff_min, falloff_max);
        }
    return EX_OK;
}

/* Definiteness is checked when they are factored. */
static ex_result check_metrics(const ex_weigher_def *def, ex_error *error) {
    const size_t s = (size_t)scalar_count(def);
    char point[200];
    for (int k = 0; k < def->example_count + def->pseudo_count; k++) {
        const double *metric = def->metrics + (size_t)k * s * s;
        bool finite = true, even = true;
        for (size_t i = 0; i < s * s; i++)
            finite = finite && isfinite(metric[i]);
        for (size_t i = 0; finite && i < s; i++)
            for (size_t j = 0; j < i; j++)
                even = even && fabs(metric[i * s + j] - metric[j * s + i]) <=
                                   symmetric * sqrt(fabs(metric[i * s + i])) * sqrt(fabs(metric[j * s + j]));
        if (finite && even)
            continue;
        exi_point_text(def->names, def->example_count, k, point, sizeof point);
        if (!finite)
            return ex_error_set(error, EX_ERROR_DATA, "%s: its metric holds a number that is not finite", point);
        return ex_error_set(error, EX_ERROR_ARGUMENT, "%s: its metric is not symmetric", point);
    }
    return EX_OK;
}

static int set_size(const uint32_t *set, int example_count) {
    int size = 0;
    for (int k = 0; k < example_count; k++)
        size += exi_set_has(set, k);
    return size;
}

static ex_result check_sets(const ex_weigher_def *def, ex_error *error) {
    const size_t words = exi_set_words(def->example_count);
    int64_t together = 0;
    if (def->set_count < 0 || (def->set_count > 0 && !def->sets))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "sets of examples are missing, or their number is negative");
    for (int i = 0; i < def->set_count; i++) {
        const uint32_t *set = def->sets + (size_t)i * words;
        const int size = set_size(set, def->example_count);
        if (size == 0)
            return ex_error_set(error, EX_ERROR_ARGUMENT, "set %d of examples is empty", i);
        if (def->example_count % 32 != 0 && set[words - 1] >> (def->example_count % 32) != 0)
            return ex_error_set(error, EX_ERROR_ARGUMENT, "set %d names an example that does not exist: there are %d",
                                i, def->example_count);
        together += size;
    }
    if (together > INT32_MAX)
        return ex_error_set(error, EX_ERROR_LIMIT, "%d sets of examples are too many", def->set_count);
    return EX_OK;
}

static ex_result check(const ex_weigher_def *def, ex_error *error) {
    ex_result result = def->falloffs ? check_falloffs(def, error) : EX_OK;
    if (result == EX_OK && def->metrics)
        result = check_metrics(def, error);
    return result == EX_OK ? check_sets(def, error) : result;
}

/* ---- storage ---- */

static bool any_above_0(const double *values, size_t count) {
    for (size_t i = 0; values && i < count; i++)
        if (values[i] != 0)
            return true;
    return false;
}

static void count(ex_weigher *head, const ex_weigher_def *def) {
    const size_t n = (size_t)exi_point_count(head), s = (size_t)scalar_count(def);
    head->flags |= any_above_0(def->metrics, n * s * s) ? EXI_WEIGHER_METRICS : 0;
    head->set_count = def->set_count;
    for (int i = 0; i < def->set_count; i++) {
        uint64_t size =
            (uint64_t)set_size(def->sets + (size_t)i * exi_set_words(def->example_count), def->example_count);
        head->set_weight_count += size;
        head->set_square_count += size * size;
    }
}

static void store(ex_weigher *w, const ex_weigher_def *def) {
    const exi_gaussian t = exi_gaussian_tables(w);
    const size_t n = (size_t)exi_point_count(w), s = (size_t)w->scalar_count;
    const size_t words = exi_set_words(w->example_count), set_count = (size_t)w->set_count;
    if (def->falloffs)
        memcpy(t.falloffs, def->falloffs, n * (size_t)w->axis_count * sizeof *t.falloffs);
    if (t.metrics)
        memcpy(t.metrics, def->metrics, n * s * s * sizeof *t.metrics);
    uint32_t *sets = (uint32_t *)(void *)exi_table_mut(w, w->sets);
    uint32_t *sizes = sets + set_count * words, *members = sizes + set_count;
    if (set_count > 0)
        memcpy(sets, def->sets, set_count * words * sizeof *sets);
    for (size_t i = 0; i < set_count; i++)
        for (int k = 0; k < w->example_count; k++)
            if (exi_set_has(sets + i * words, k)) {
                *members++ = (uint32_t)k;
                sizes[i]++;
            }
}

static void describe(const ex_weigher *w, ex_weigher_def *def) {
    const exi_gaussian t = exi_gaussian_tables(w);
    def->falloffs = t.falloffs;
    def->metrics = t.metrics;
    def->sets = w->set_count > 0 ? exi_weigher_sets(w) : NULL;
    def->set_count = w->set_count;
}

static ex_ridge get_ridge(const ex_weigher *w) {
    const exi_ridge_record *record = exi_gaussian_tables(w).record;
    return (ex_ridge){.ridge = record->ridge,
                      .condition = record->certainty > 0 ? 1 / record->certainty : INFINITY,
                      .point = (int)record->point,
                      .falloff = record->falloff};
}

/* The point to blame must be valid, since callers look it up. */
static bool is_sound(const ex_weigher *w) {
    const double point = exi_gaussian_tables(w).record->point;
    return point >= -1 && point < exi_point_count(w) && point == floor(point);
}

/* ---- evaluation ---- */

/* target += factor * source */
static inline void add_row(double *restrict target, const double *restrict source, double factor, int count) {
    for (int i = 0; i < count; i++)
        target[i] += factor * source[i];
}

/* Computes the kernels of points [first, first + count) together, since they are independent. */
static void set_kernels(const ex_weigher *w, const exi_gaussian *t, const double *features, int first, int count,
                        double *kernels) {
    for (int k = 0; k < count; k++)
        kernels[k] = exi_gaussian_kernel(w, t, features, first + k);
}

/* Adds the contributions of these points to the weights of all examples. */
static void add_to_all(const ex_weigher *w, const exi_gaussian *t, const double *kernels, int first, int count,
                       double *weights) {
    const int m = w->example_count;
    for (int k = 0; k < count; k++)
        if (kernels[k] != 0)
            add_row(weights, t->radial + (size_t)(first + k) * (size_t)m, kernels[k], m);
}

static void evaluate(const ex_weigher *w, const double *features, double *weights) {
    const int n = exi_point_count(w);
    const exi_gaussian t = exi_gaussian_tables(w);
    double kernels[CHUNK];
    memset(weights, 0, (size_t)w->example_count * sizeof *weights);
    for (int first = 0; first < n; first += CHUNK) {
        const int count = n - first < CHUNK ? n - first : CHUNK;
        set_kernels(w, &t, features, first, count, kernels);
        add_to_all(w, &t, kernels, first, count, weights);
    }
}

/* Adds the contributions of points [first, first + count), whose kernels are given, to every set. */
static void add_to_sets(const ex_weigher *w, const exi_gaussian *t, const double *kernels, int first, int count,
                        double *set_weights) {
    const uint32_t *sizes = exi_weigher_sets(w) + (size_t)w->set_count * exi_set_words(w->example_count);
    const uint32_t *members = sizes + w->set_count;
    const double *row = t->set_radial;
    const int m = w->example_count, last = first + count;
    const int first_pseudo = first > m ? first : m;
    for (int i = 0; i < w->set_count; i++) {
        const int size = (int)sizes[i];
        for (int k = 0; k < size; k++) {
            const int point = (int)members[k];
            if (point >= first && point < last && kernels[point - first] != 0)
                add_row(set_weights, row + (size_t)k * (size_t)size, kernels[point - first], size);
        }
        row += (size_t)size * (size_t)size;
        for (int point = first_pseudo; point < last; point++)
            add_row(set_weights, row + (size_t)(point - m) * (size_t)size, kernels[point - first], size);
        row += (size_t)w->pseudo_count * (size_t)size;
        members += size;
        set_weights += size;
    }
}

static void evaluate_sets(const ex_weigher *w, const double *features, double *weights, double *set_weights) {
    const int n = exi_point_count(w);
    const exi_gaussian t = exi_gaussian_tables(w);
    double kernels[CHUNK];
    if (weights)
        memset(weights, 0, (size_t)w->example_count * sizeof *weights);
    memset(set_weights, 0, (size_t)w->set_weight_count * sizeof *set_weights);
    for (int first = 0; first < n; first += CHUNK) {
        const int count = n - first < CHUNK ? n - first : CHUNK;
        set_kernels(w, &t, features, first, count, kernels);
        if (weights)
            add_to_all(w, &t, kernels, first, count, weights);
        add_to_sets(w, &t, kernels, first, count, set_weights);
    }
}

/* phi_k at a row of features, and its derivatives [feature_count]: those of -r_k^2/2, times phi_k. */
static double kernel_slopes(const ex_weigher *w, const exi_gaussian *t, const double *features, int k, double *slopes) {
    const int s = w->scalar_count;
    const double *centre = exi_features(w, k), *inverse = t->inverse + (size_t)k * (size_t)w->axis_count;
    const double kernel = exi_gaussian_kernel(w, t, features, k);
    memset(slopes, 0, (size_t)w->feature_count * sizeof *slopes);
    const double *u = t->factors ? t->factors + (size_t)k * exi_factor_size(w) : NULL;
    for (int a = 0; a < s; a++) {
        double along = 0;
        for (int b = a; u && b < s; b++)
            along += u[b - a] * (features[b] - centre[b]);
        for (int b = a; u && b < s; b++)
            slopes[b] -= kernel * along * u[b - a];
        if (u)
            u += s - a;
        else
            slopes[a] = -kernel * (features[a] - centre[a]) * inverse[a] * inverse[a];
    }
    const exi_rotation_metric *rotation = (const exi_rotation_metric *)(const void *)exi_table(w, w->rotations);
    for (int i = 0, place = s; i < w->rotation_count; i++) {
        const int width = (int)rotation[i].width;
        double half[4];
        (void)exi_rotation_slopes(features + place, centre + place, width, false, half);
        for (int f = 0; f < width; f++)
            slopes[place + f] = -kernel * half[f] * inverse[s + i] * inverse[s + i];
        place += width;
    }
    return kernel;
}

static void gradient(const ex_weigher *w, const double *features, double *weights, double *rows, size_t stride) {
    const exi_gaussian t = exi_gaussian_tables(w);
    const size_t m = (size_t)w->example_count;
    double slopes[EXI_FEATURE_MAX];
    exi_gradient_clear(w, rows, stride);
    for (int k = 0; k < exi_point_count(w); k++)
        if (kernel_slopes(w, &t, features, k, slopes) != 0)
            exi_gradient_add(rows, stride, t.radial + (size_t)k * m, w->example_count, 1, slopes, w->feature_count);
    evaluate(w, features, weights);
}

/* Weights are linear in the kernels: their derivatives are sums of those of the kernels. */
static void sets_along(const ex_weigher *w, const double *features, const double *direction, double *set_weights) {
    const int n = exi_point_count(w);
    const exi_gaussian t = exi_gaussian_tables(w);
    double kernels[CHUNK], slopes[EXI_FEATURE_MAX];
    memset(set_weights, 0, (size_t)w->set_weight_count * sizeof *set_weights);
    for (int first = 0; first < n; first += CHUNK) {
        const int count = n - first < CHUNK ? n - first : CHUNK;
        for (int k = 0; k < count; k++) {
            (void)kernel_slopes(w, &t, features, first + k, slopes);
            kernels[k] = 0;
            for (int f = 0; f < w->feature_count; f++)
                kernels[k] += slopes[f] * direction[f];
        }
        add_to_sets(w, &t, kernels, first, count, set_weights);
    }
}

const exi_weigher_kind exi_weigher_gaussian = {
    .info = {.help = "Exact at the examples. Each example has a falloff, and does nothing far away.",
             EXI_PARAMETERS(parameters),
             .has_points = true,
             .has_falloffs = true,
             .has_sets = true,
             .has_condition = true,
             .raises_ridge = true,
             .has_gpu_code = true},
    .flags = EXI_WEIGHER_METRICS,
    .check = check,
    .count = count,
    .own_count = own_count,
    .store = store,
    .solve = exi_gaussian_solve,
    .evaluate = evaluate,
    .gradient = gradient,
    .sets_along = sets_along,
    .evaluate_sets = evaluate_sets,
    .draw_sets = exi_gaussian_draw_sets,
    .condition = exi_gaussian_condition,
    .get_ridge = get_ridge,
    .describe = describe,
    .is_sound = is_sound,
};
