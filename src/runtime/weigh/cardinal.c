/*
 * The cardinal weigher: one basis per example, 1 at its own example and 0 at the others, made of a plane and radial
 * bases (Sloan, Rose, Cohen: Shape by Example, 2001, equations 2 and 4 to 6).
 *
 *   w_i(p) = sum over points j of r_ji R(|p - p_j| / rho_j) + plane_i(p)
 *
 * Kernels that are positive definite are solved in two stages: the plane by least squares against F, the residual by Q
 * r = F - plane. F is the identity for examples, with one more row for every pseudo-example. Other kernels (thin plate
 * and related ones) are solved together with the plane, with r orthogonal to it: [Q B; B' 0] [r; c] = [F; 0].
 */
#include "runtime/base/dense.h"
#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/weigh/gradient.h"
#include "runtime/weigh/plane.h"
#include "runtime/weigh/weigher.h"

#include <math.h>
#include <string.h>

static size_t own_count(const ex_weigher *w) {
    size_t n = (size_t)exi_point_count(w), m = (size_t)w->example_count, s = (size_t)w->scalar_count;
    return n + s + (1 + s) * m + n * m;
}

/* ---- parameters ---- */

static const ex_parameter_word kernels[] = {
    [EX_KERNEL_BSPLINE] = {"bspline", "acts near the examples only; a good start"},
    [EX_KERNEL_GAUSSIAN] = {"gaussian", "bell-shaped and soft, and never quite 0"},
    [EX_KERNEL_WENDLAND] = {"wendland", "acts near the examples only, smoother than bspline"},
    [EX_KERNEL_INVERSE_MULTIQUADRIC] = {"inverse_multiquadric", "wide and soft"},
    [EX_KERNEL_THIN_PLATE] = {"thin_plate", "bends like a thin metal plate through the examples"},
    [EX_KERNEL_BIHARMONIC] = {"biharmonic", "tight, and as straight as possible between examples"},
    [EX_KERNEL_TRIHARMONIC] = {"triharmonic", "the smoothest through many examples"},
    [EX_KERNEL_MULTIQUADRIC] = {"multiquadric", "between tight and smooth"},
};
_Static_assert(sizeof kernels / sizeof kernels[0] == EX_KERNEL_COUNT, "every kernel has its words");

static const ex_parameter parameters[] = {
    {EXI_PARAMETER("kernel", kernel), .help = "Shape of an example's influence.", .type = EX_PARAMETER_CHOICE,
     .words = kernels, .word_count = EX_KERNEL_COUNT},
    {EXI_PARAMETER("linear", linear),
     .help = "Fit a plane through the examples first. Beyond the examples, forms extrapolate along it; without it, "
             "they return to the mean.",
     .type = EX_PARAMETER_SWITCH, .preset = 1},
    {EXI_PARAMETER("radius", radius),
     .help = "Reach of each example, as a multiple of the distance to its nearest neighbour. Larger values are "
             "smoother, and harder to solve.",
     .preset = 1, .above = true, .most = INFINITY, .usual = {0.25, 4}},
    {EXI_PARAMETER("ridge", ridge),
     .help = "Above 0, examples are no longer matched exactly, and the result swings less between them.",
     .most = INFINITY, .usual = {1e-9, 1}},
};

static const ex_parameter *check_parameters(const ex_weigher_def *def, ex_error *error) {
    const bool second_order = def->kernel == EX_KERNEL_THIN_PLATE || def->kernel == EX_KERNEL_TRIHARMONIC;
    if (def->linear || !second_order)
        return NULL;
    ex_error_set(error, EX_ERROR_ARGUMENT, "kernel \"%s\" needs the linear part: leave it on, or use another kernel",
                 ex_kernel_name(def->kernel));
    return &parameters[1];
}

/* ---- radii ---- */

/* Turns nearest distances into inverse radii, in place; the coupled kernels share their mean. */
static void set_radii(const ex_weigher *w, double *radii) {
    const int n = exi_point_count(w);
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += radii[i];
    for (int i = 0; i < n; i++)
        radii[i] = 1.0 / ((exi_kernel_is_coupled((int)w->kernel) ? sum / n : radii[i]) * w->radius);
}

/* ---- the two solves ---- */

static void kernel_row(const ex_weigher *w, const exi_cardinal *t, const double *distances, int i, double *row) {
    const int n = exi_point_count(w);
    for (int j = 0; j < n; j++)
        row[j] = exi_kernel((int)w->kernel, distances[(size_t)i * (size_t)n + (size_t)j] * t->inverse_radii[j]);
    row[i] += exi_kernel_is_negative((int)w->kernel) ? -w->ridge : w->ridge;
}

static ex_result singular(const ex_weigher *w, ex_error *error) {
    return ex_error_set(error, EX_ERROR_SINGULAR,
                        "the space cannot be solved with kernel %s: spread the examples more evenly, set a small "
                        "\"ridge\" (1e-6), or use another kernel",
                        ex_kernel_name((ex_kernel)w->kernel));
}

/* target += factor * source */
static inline void add_row(double *restrict target, const double *restrict source, double factor, int count) {
    for (int i = 0; i < count; i++)
        target[i] += factor * source[i];
}

/* Projects F onto the constant [m] and onto the basis [rank][m]. An example's row of F has a single 1. */
static void project(const ex_weigher *w, const exi_plane_basis *b, double *constant, double *coefficients) {
    const int n = exi_point_count(w), m = w->example_count;
    const double *pseudo_rows = exi_table(w, w->pseudo_rows);
    for (int i = 0; i < m; i++)
        constant[i] = 1;
    for (int j = m; j < n; j++)
        add_row(constant, pseudo_rows + (size_t)(j - m) * (size_t)m, 1, m);
    for (int i = 0; i < m; i++)
        constant[i] /= n;
    for (int a = 0; a < b->rank; a++) {
        const double *u = b->u + (size_t)a * (size_t)n;
        double *row = coefficients + (size_t)a * (size_t)m;
        memcpy(row, u, (size_t)m * sizeof *row);
        for (int j = m; j < n; j++)
            add_row(row, pseudo_rows + (size_t)(j - m) * (size_t)m, u[j], m);
    }
}

/* Least squares by projection onto the basis, then the residual. system [n][n + m]; f [rank + 1][m]. */
static ex_result solve_stages(const ex_weigher *w, const exi_cardinal *t, const exi_plane_basis *b,
                              const double *distances, double *system, double *f, ex_error *error) {
    const int n = exi_point_count(w), m = w->example_count;
    const size_t width = (size_t)n + (size_t)m;
    double *constant = f, *coefficients = f + m;
    project(w, b, constant, coefficients);
    for (int j = 0; j < n; j++) {
        kernel_row(w, t, distances, j, system + (size_t)j * width);
        exi_plane_row(w, j, system + (size_t)j * width + n);
    }
    for (int j = 0; j < n; j++) {
        double *q = system + (size_t)j * width + n;
        for (int i = 0; i < m; i++)
            q[i] -= constant[i];
        for (int a = 0; a < b->rank; a++)
            add_row(q, coefficients + (size_t)a * (size_t)m, -b->u[(size_t)a * (size_t)n + (size_t)j], m);
    }
    if (exi_solve(system, n, m) == 0)
        return singular(w, error);
    for (int j = 0; j < n; j++)
        memcpy(t->radial + (size_t)j * (size_t)m, system + (size_t)j * width + n, (size_t)m * sizeof *system);
    exi_plane_set(w, t, b, constant, coefficients);
    return EX_OK;
}

/*
 * Rows of [Q gB; gB' 0], where B is the constant 1/sqrt(n) and the basis. The factor g, which is returned, brings B to
 * the size of Q's largest entry, so that a pivot in B is not taken for a vanishing one. width is the row length of
 * system.
 */
static double coupled_matrix(const ex_weigher *w, const exi_cardinal *t, const exi_plane_basis *b,
                             const double *distances, double *system, size_t width) {
    const int n = exi_point_count(w), rank = b->rank;
    double g = 1;
    memset(system, 0, (size_t)(n + 1 + rank) * width * sizeof *system);
    for (int j = 0; j < n; j++) {
        kernel_row(w, t, distances, j, system + (size_t)j * width);
        for (int i = 0; i < n; i++)
            g = fmax(g, fabs(system[(size_t)j * width + (size_t)i]));
    }
    for (int j = 0; j < n; j++) {
        double *row = system + (size_t)j * width;
        row[n] = system[(size_t)n * width + (size_t)j] = g / sqrt((double)n);
        for (int a = 0; a < rank; a++)
            row[n + 1 + a] = system[(size_t)(n + 1 + a) * width + (size_t)j] =
                g * b->u[(size_t)a * (size_t)n + (size_t)j];
    }
    return g;
}

static ex_result solve_coupled(const ex_weigher *w, const exi_cardinal *t, const exi_plane_basis *b,
                               const double *distances, double *system, double *f, ex_error *error) {
    const int n = exi_point_count(w), m = w->example_count, size = n + 1 + b->rank;
    const size_t width = (size_t)size + (size_t)m;
    const double g = coupled_matrix(w, t, b, distances, system, width);
    for (int j = 0; j < n; j++)
        exi_plane_row(w, j, system + (size_t)j * width + size);
    if (exi_solve(system, size, m) == 0)
        return singular(w, error);
    for (int j = 0; j < n; j++)
        memcpy(t->radial + (size_t)j * (size_t)m, system + (size_t)j * width + size, (size_t)m * sizeof *system);
    for (int a = 0; a < b->rank + 1; a++)
        memcpy(f + (size_t)a * (size_t)m, system + (size_t)(n + a) * width + size, (size_t)m * sizeof *f);
    for (int i = 0; i < (b->rank + 1) * m; i++)
        f[i] *= i < m ? g / sqrt((double)n) : g;
    exi_plane_set(w, t, b, f, f + m);
    return EX_OK;
}

/* ---- entry points ---- */

/* Scratch of a solve: distances, the augmented system, the plane's fit, the basis. */
typedef struct scratch {
    double *distances, *system, *fit, *basis;
    size_t size;
    void *memory;
} scratch;

/* columns: right-hand sides next to the matrix. */
static ex_result open_scratch(const ex_weigher *w, size_t columns, const ex_allocator *allocator, scratch *sc,
                              ex_error *error) {
    size_t n = (size_t)exi_point_count(w), m = (size_t)w->example_count, s = (size_t)w->scalar_count;
    exi_size total = {0};
    size_t distances = exi_size_add(&total, n * n, sizeof(double), 8);
    size_t system = exi_size_add(&total, (n + 1 + s) * (n + 1 + s + columns), sizeof(double), 8);
    size_t fit = exi_size_add(&total, (s + 1) * m, sizeof(double), 8);
    size_t basis_size = exi_size_add(&total, exi_plane_work(w), sizeof(double), 8);
    sc->size = total.bytes;
    sc->memory = total.overflow ? NULL : exi_allocate(allocator, total.bytes);
    if (!sc->memory)
        return ex_error_memory(error, "solving the space", total.bytes);
    char *memory = sc->memory;
    sc->distances = (double *)(void *)(memory + distances);
    sc->system = (double *)(void *)(memory + system);
    sc->fit = (double *)(void *)(memory + fit);
    sc->basis = (double *)(void *)(memory + basis_size);
    return EX_OK;
}

/* True if the required weights sum to 1 at every point, as they do at examples: weights then sum to 1 everywhere. */
static bool sums_to_one(const ex_weigher *w) {
    const double *rows = exi_table(w, w->pseudo_rows);
    for (int p = 0; p < w->pseudo_count; p++) {
        double sum = 0;
        for (int i = 0; i < w->example_count; i++)
            sum += *rows++;
        if (fabs(sum - 1) > 1e-9)
            return false;
    }
    return true;
}

static ex_result solve(ex_weigher *w, const char *const *names, const ex_allocator *allocator, ex_error *error) {
    scratch sc;
    ex_result result = open_scratch(w, (size_t)w->example_count, allocator, &sc, error);
    if (result != EX_OK)
        return result;
    exi_cardinal t = exi_cardinal_tables(w);
    if (exi_kernel_is_coupled((int)w->kernel) && sums_to_one(w))
        w->flags |= EXI_WEIGHER_SUM_1;
    result = exi_measure_places(w, names, sc.distances, t.inverse_radii, error);
    if (result == EX_OK) {
        set_radii(w, t.inverse_radii);
        exi_plane_mean(w, t.mean);
        const exi_plane_basis b = exi_plane_find(w, t.mean, sc.basis);
        result = exi_kernel_is_coupled((int)w->kernel)
                     ? solve_coupled(w, &t, &b, sc.distances, sc.system, sc.fit, error)
                     : solve_stages(w, &t, &b, sc.distances, sc.system, sc.fit, error);
    }
    exi_release(allocator, sc.memory, sc.size);
    return result;
}

/* Growing kernels cancel far from the points, and their rounding errors grow with them: the error of the sum is spread
 * evenly. */
static void restore_sum(double *weights, int count) {
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += weights[i];
    double excess = (sum - 1) / count;
    for (int i = 0; i < count; i++)
        weights[i] -= excess;
}

static void evaluate(const ex_weigher *w, const double *features, double *weights) {
    const int n = exi_point_count(w), m = w->example_count, s = w->scalar_count;
    const exi_cardinal t = exi_cardinal_tables(w);
    memcpy(weights, t.plane, (size_t)m * sizeof *weights);
    for (int a = 0; a < s; a++) {
        double x = features[a] - t.mean[a];
        const double *slope = t.plane + (size_t)(1 + a) * (size_t)m;
        for (int i = 0; i < m; i++)
            weights[i] += x * slope[i];
    }
    for (int j = 0; j < n; j++) {
        double value = exi_cardinal_kernel(w, &t, features, j);
        if (value == 0)
            continue;
        const double *row = t.radial + (size_t)j * (size_t)m;
        for (int i = 0; i < m; i++)
            weights[i] += value * row[i];
    }
    if (w->flags & EXI_WEIGHER_SUM_1)
        restore_sum(weights, m);
}

/* Derivatives of the same sum; those of the kernels are R'/r times those of half of r^2. */
static void gradient(const ex_weigher *w, const double *features, double *weights, double *rows, size_t stride) {
    const int n = exi_point_count(w), m = w->example_count, s = w->scalar_count;
    const exi_cardinal t = exi_cardinal_tables(w);
    double half[EXI_FEATURE_MAX];
    exi_gradient_clear(w, rows, stride);
    for (int i = 0; i < m; i++)
        for (int a = 0; a < s; a++)
            rows[(size_t)i * stride + (size_t)a] = t.plane[(size_t)(1 + a) * (size_t)m + (size_t)i];
    for (int j = 0; j < n; j++) {
        const double inverse = t.inverse_radii[j], distance = exi_distance_slopes(w, features, j, half);
        const double slope = exi_kernel_slope((int)w->kernel, distance * inverse) * inverse * inverse;
        if (slope != 0)
            exi_gradient_add(rows, stride, t.radial + (size_t)j * (size_t)m, m, slope, half, w->feature_count);
    }
    for (int f = 0; (w->flags & EXI_WEIGHER_SUM_1) && f < w->feature_count; f++) {
        double sum = 0;
        for (int i = 0; i < m; i++)
            sum += rows[(size_t)i * stride + (size_t)f];
        for (int i = 0; i < m; i++)
            rows[(size_t)i * stride + (size_t)f] -= sum / m;
    }
    evaluate(w, features, weights);
}

static ex_result measure_condition(const ex_weigher *w, const ex_allocator *allocator, double *condition,
                                   ex_error *error) {
    scratch sc;
    ex_result result = open_scratch(w, (size_t)(exi_point_count(w) + 1 + w->scalar_count), allocator, &sc, error);
    if (result != EX_OK)
        return result;
    const int n = exi_point_count(w);
    exi_cardinal t = exi_cardinal_tables(w);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            sc.distances[(size_t)i * (size_t)n + (size_t)j] =
                exi_feature_distance(w, exi_features(w, i), exi_features(w, j));
    int size = n;
    size_t matrix_bytes = (size_t)(n + 1 + w->scalar_count) * (size_t)(n + 1 + w->scalar_count) * sizeof(double);
    double *matrix = exi_allocate(allocator, matrix_bytes);
    if (!matrix) {
        exi_release(allocator, sc.memory, sc.size);
        return ex_error_memory(error, "the condition number", matrix_bytes);
    }
    if (exi_kernel_is_coupled((int)w->kernel)) {
        const exi_plane_basis b = exi_plane_find(w, t.mean, sc.basis);
        size = n + 1 + b.rank;
        coupled_matrix(w, &t, &b, sc.distances, matrix, (size_t)size);
    } else {
        for (int i = 0; i < n; i++)
            kernel_row(w, &t, sc.distances, i, matrix + (size_t)i * (size_t)n);
    }
    *condition = exi_condition(matrix, size, sc.system);
    exi_release(allocator, matrix, matrix_bytes);
    exi_release(allocator, sc.memory, sc.size);
    return EX_OK;
}

const exi_weigher_kind exi_weigher_cardinal = {
    .info = {.help = "Exact at the examples and smooth between them. Extrapolates beyond them.",
             EXI_PARAMETERS(parameters),
             .has_points = true,
             .has_condition = true,
             .has_gpu_code = true},
    .flags = EXI_WEIGHER_SUM_1,
    .check_parameters = check_parameters,
    .own_count = own_count,
    .solve = solve,
    .evaluate = evaluate,
    .gradient = gradient,
    .condition = measure_condition,
};
