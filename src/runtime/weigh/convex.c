/*
 * The convex weigher (Kim, Vendrovsky: DrivenShape, 2008, section 2.2): finds the weights, not negative and of sum 1,
 * whose blend of the examples' driver forms P_k is nearest to the driver's form b. It uses inner products only, since a
 * driver has thousands of vertices and a space a dozen examples: with G = <P_i, P_j> and p = <P_k, b>,
 *
 *   |sum w_k P_k - b|^2 = w'Gw - 2 p'w + <b, b>     (equations 1 to 4, with g = -2p)
 *
 * If several blends are equally near, one must be chosen, without a jump as b moves. A ridge on w alone would prefer
 * even blends, and miss an example that lies between others. So the objective is
 *
 *   1/2 |sum w_k P_k - b|^2 + ridge/2 (sum w_k |P_k - b|^2 + e |w|^2)
 *
 * which prefers blends of near examples. At an example, both distances are 0 for its own weight, so it is reached
 * exactly while e is below half of the smallest squared distance between two examples. e is chosen that way; it also
 * decides if the distances are equal (the corners of a square). Examples at the same place count as the first of them.
 *
 * G is relative to the mean of the examples, so that only rounding depends on the origin of the forms, and has a
 * constant added to all its entries, which changes nothing for weights of sum 1 and makes it definite.
 *
 * With a scalar axis, examples of equal value form a database, which is solved separately. Between two neighbours on
 * the axis, the weights are interpolated linearly; beyond the ends they are constant.
 */
#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/weigh/simplex.h"
#include "runtime/weigh/weigher.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double ridge_default = 1e-9;
/* Tolerances of the Gram matrix: asymmetry relative to its diagonal, and indefiniteness relative to its trace. */
static const double symmetric = 1e-9, definite = 1e-10;
/* Squares above this could overflow in intermediate results. Products with b may: with such large numbers only the
 * nearest example remains. */
static const double square_max = 1e200;

typedef struct database {
    double value;  /* on the scalar axis */
    double first;  /* of `order` */
    double size;   /* number of its examples, without those at the place of another */
    double matrix; /* offset of its matrix in `matrices` */
    double word;   /* offset of its support in the caller's state */
} database;

/* The kind's own tables, in this order, for n examples. */
typedef struct tables {
    double *database_count;
    database *databases; /* [n]; ascending in value; unused ones are 0 */
    double *order;       /* [n]: examples, database by database, ascending in each */
    double *mean;        /* [n], in that order: <P_k, mean of its database> */
    double *local;       /* [n]: ridge/2 |P_k - mean|^2 */
    double *matrices;    /* [n n]: [size][size] for every database */
} tables;

static tables tables_of(const ex_weigher *w) {
    const size_t n = (size_t)w->example_count;
    tables t;
    t.database_count = exi_table_mut((ex_weigher *)(uintptr_t)w, w->own);
    t.databases = (database *)(void *)(t.database_count + 1);
    t.order = (double *)(t.databases + n);
    t.mean = t.order + n;
    t.local = t.mean + n;
    t.matrices = t.local + n;
    return t;
}

static const ex_parameter parameters[] = {
    {EXI_PARAMETER("ridge", ridge),
     .help = "Decides between blends that fit equally well: larger values prefer examples that are near. 0 means 1e-9.",
     .most = 1, .usual = {1e-9, 1}, .rare = true},
};

static size_t own_count(const ex_weigher *w) {
    const size_t n = (size_t)w->example_count;
    return 1 + n * (sizeof(database) / sizeof(double) + 3) + n * n;
}

/* Offsets of the driver's numbers, and of the scalar, in a point. */
static int driver_at(const ex_weigher *w) {
    return exi_axes(w)[0].kind == EX_AXIS_DRIVER ? 0 : 1;
}
static int scalar_at(const ex_weigher *w) {
    return driver_at(w) == 0 ? w->example_count : 0;
}
/* <P_i, P_j>, the mean of both orders, so that it is symmetric to the bit. */
static double product(const ex_weigher *w, int i, int j) {
    const double *at = exi_table(w, w->points) + driver_at(w);
    const size_t d = (size_t)w->dimension;
    return 0.5 * (at[(size_t)i * d + (size_t)j] + at[(size_t)j * d + (size_t)i]);
}

/* ---- checking a definition ---- */

static ex_result check_gram(const ex_weigher_def *def, int driver, int dimension, ex_error *error) {
    const double *at = def->points + (driver == 0 ? 0 : 1);
    const size_t n = (size_t)def->example_count, d = (size_t)dimension;
    char one[200], other[200];
    for (size_t i = 0; i < n; i++) {
        const double square = at[i * d + i];
        exi_point_text(def->names, def->example_count, (int)i, one, sizeof one);
        if (!(square >= 0) || !(square <= square_max))
            return ex_error_set(error, EX_ERROR_DATA,
                                "%s: the product of its driver form with itself is %g: not a square, or too large", one,
                                square);
        for (size_t j = 0; j < i; j++) {
            const double a = at[i * d + j], b = at[j * d + i];
            if (fabs(a - b) <= symmetric * sqrt(square) * sqrt(at[j * d + j]))
                continue;
            exi_point_text(def->names, def->example_count, (int)j, other, sizeof other);
            return ex_error_set(error, EX_ERROR_DATA,
                                "%s and %s: the product of their driver forms is %g in one's row and %g in the other's",
                                one, other, a, b);
        }
    }
    return EX_OK;
}

static ex_result check(const ex_weigher_def *def, ex_error *error) {
    int drivers = 0, driver = 0, scalars = 0, dimension = 0;
    for (int i = 0; i < def->axis_count; i++) {
        drivers += def->axes[i].kind == EX_AXIS_DRIVER;
        scalars += def->axes[i].kind == EX_AXIS_SCALAR;
        driver = def->axes[i].kind == EX_AXIS_DRIVER ? i : driver;
        dimension += ex_axis_width(&def->axes[i]);
    }
    if (drivers != 1 || scalars > 1 || drivers + scalars != def->axis_count)
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "a convex weigher has one driver axis and at most one scalar axis");
    if (def->axes[driver].width != def->example_count)
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "axis %d: the driver axis has %d numbers for %d examples: it needs one for each", driver,
                            def->axes[driver].width, def->example_count);
    if (def->pseudo_count != 0)
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "a convex weigher cannot have pseudo-examples: it blends forms of the driver only");
    for (size_t i = 0; i < (size_t)def->example_count * (size_t)dimension; i++)
        if (!isfinite(def->points[i]))
            return EX_OK; /* the check of points reports this next, with its name */
    return check_gram(def, driver, dimension, error);
}

/* ---- solving ---- */

/* Sorts databases by value, and into each its examples, without those at the place of an earlier one. */
static void sort_databases(const ex_weigher *w, const tables *t) {
    const double *values = exi_table(w, w->points) + scalar_at(w);
    const size_t n = (size_t)w->example_count, d = (size_t)w->dimension;
    const bool several = w->scalar_count > 0;
    double last = -INFINITY;
    size_t count = 0, next = 0, matrix = 0, word = 0;
    while (count < n) {
        double value = several ? INFINITY : 0;
        for (size_t i = 0; several && i < n; i++)
            if (values[i * d] > last && values[i * d] < value)
                value = values[i * d];
        if (!isfinite(value))
            break;
        const size_t first = next;
        for (size_t i = 0; i < n; i++) {
            bool is_new = !several || values[i * d] == value;
            for (size_t k = first; is_new && k < next; k++) {
                const int a = (int)i, b = (int)t->order[k];
                const double squares = product(w, a, a) + product(w, b, b);
                is_new = squares - 2 * product(w, a, b) > 64 * DBL_EPSILON * squares;
            }
            if (is_new)
                t->order[next++] = (double)i;
        }
        const size_t size = next - first;
        t->databases[count++] = (database){value, (double)first, (double)size, (double)matrix, (double)word};
        matrix += size * size;
        word += (size + 31) / 32;
        last = value;
        if (!several)
            break;
    }
    *t->database_count = (double)count;
}

/* Computes the matrix of one database, and the constants of its linear term. */
static void solve_database(const ex_weigher *w, const tables *t, const database *base) {
    const size_t size = (size_t)base->size, first = (size_t)base->first;
    const double *order = t->order + first, ridge = w->ridge > 0 ? w->ridge : ridge_default;
    double *mean = t->mean + first, *matrix = t->matrices + (size_t)base->matrix;
    double middle = 0, largest = 0, trace = 0, nearest = INFINITY;
    for (size_t i = 0; i < size; i++) {
        double sum = 0;
        for (size_t j = 0; j < size; j++)
            sum += matrix[i * size + j] = product(w, (int)order[i], (int)order[j]);
        mean[i] = sum / (double)size;
        middle += mean[i] / (double)size;
        largest = matrix[i * size + i] > largest ? matrix[i * size + i] : largest;
        for (size_t j = 0; j < i; j++) {
            const double square = matrix[i * size + i] - 2 * matrix[i * size + j] + matrix[j * size + j];
            nearest = square < nearest ? square : nearest;
        }
    }
    for (size_t i = 0; i < size; i++) {
        for (size_t j = 0; j < size; j++)
            matrix[i * size + j] += middle - (mean[i] + mean[j]);
        const double square = matrix[i * size + i] > 0 ? matrix[i * size + i] : 0;
        t->local[first + i] = 0.5 * ridge * square;
        trace += square;
    }
    const double constant = trace > 0 ? trace / (double)size : 1;
    /* Larger than the rounding error of the definite matrix. */
    const double least = 32 * DBL_EPSILON * sqrt((double)size) * (largest + constant);
    const double even = size > 1 && 0.25 * ridge * nearest > least ? 0.25 * ridge * nearest : least;
    for (size_t i = 0; i < size; i++) {
        for (size_t j = 0; j < size; j++)
            matrix[i * size + j] += constant;
        matrix[i * size + i] += even;
    }
}

/* Checks that G is positive semi-definite within rounding: that G plus a small diagonal has a Cholesky factor, computed
 * in the triangle `factor`. */
static ex_result check_definite(const ex_weigher *w, const char *const *names, double *factor, ex_error *error) {
    const int n = w->example_count;
    double trace = 0;
    for (int i = 0; i < n; i++)
        trace += product(w, i, i);
    const double little = definite * trace;
    double *row = factor;
    for (int i = 0; i < n; row += ++i) {
        const double *other = factor;
        for (int j = 0; j <= i; other += ++j) {
            double sum = product(w, i, j) + (i == j ? little : 0);
            for (int k = 0; k < j; k++)
                sum -= row[k] * other[k];
            if (j < i) {
                row[j] = other[j] > 0 ? sum / other[j] : 0;
                continue;
            }
            if (sum < 0) {
                char text[200];
                exi_point_text(names, n, i, text, sizeof text);
                return ex_error_set(error, EX_ERROR_DATA,
                                    "%s: its products with itself and the forms before it cannot be those of a driver "
                                    "form (they are not a positive semi-definite matrix)",
                                    text);
            }
            row[i] = sqrt(sum);
        }
    }
    return EX_OK;
}

static ex_result solve(ex_weigher *w, const char *const *names, const ex_allocator *allocator, ex_error *error) {
    const size_t n = (size_t)w->example_count, size = n * (n + 1) / 2 * sizeof(double);
    double *factor = exi_allocate(allocator, size);
    if (!factor)
        return ex_error_memory(error, "a convex space", size);
    ex_result result = check_definite(w, names, factor, error);
    exi_release(allocator, factor, size);
    if (result != EX_OK)
        return result;
    const tables t = tables_of(w);
    sort_databases(w, &t);
    for (size_t i = 0; i < (size_t)*t.database_count; i++)
        solve_database(w, &t, &t.databases[i]);
    return EX_OK;
}

/* ---- evaluation ---- */

static int largest_database(const ex_weigher *w) {
    const tables t = tables_of(w);
    double largest = 0;
    for (int i = 0; i < (int)*t.database_count; i++)
        largest = t.databases[i].size > largest ? t.databases[i].size : largest;
    return (int)largest;
}

/* Returns the example with exactly these products, which then takes all the weight, however near others are; -1:
 * none. */
static int find_example(const ex_weigher *w, const double *order, int size, const double *row) {
    const double *at = exi_table(w, w->points) + driver_at(w);
    const size_t n = (size_t)w->example_count, d = (size_t)w->dimension;
    for (int i = 0; i < size; i++) {
        const double *own = at + (size_t)order[i] * d;
        if (own[0] == row[0] && own[n - 1] == row[n - 1] && memcmp(own, row, n * sizeof *row) == 0)
            return i;
    }
    return -1;
}

/* Adds `share` times one database's weights. linear is room for its size. */
static void add_database(const ex_weigher *w, const database *base, const double *row, double share, int room,
                         double *linear, uint32_t *state, void *scratch, double *weights) {
    const tables t = tables_of(w);
    const int size = (int)base->size;
    const size_t first = (size_t)base->first;
    const double *order = t.order + first, *mean = t.mean + first, *local = t.local + first;
    const exi_simplex problem = {size, (size_t)size, t.matrices + (size_t)base->matrix};
    const double ridge = w->ridge > 0 ? w->ridge : ridge_default;
    const int hit = find_example(w, order, size, row);
    if (hit >= 0 || size == 1) {
        weights[(int)order[hit >= 0 ? hit : 0]] += share;
        return;
    }
    double middle = 0;
    for (int i = 0; i < size; i++) {
        linear[i] = row[(int)order[i]] - mean[i];
        middle += linear[i] / size;
    }
    for (int i = 0; i < size; i++)
        linear[i] = local[i] - (1 + ridge) * (linear[i] - middle);
    exi_simplex_solve(&problem, linear, room, state ? state + (size_t)base->word : NULL, scratch, linear);
    for (int i = 0; i < size; i++)
        weights[(int)order[i]] += share * linear[i];
}

static void evaluate_in(const ex_weigher *w, const double *clean, double *weights, uint32_t *state, int room,
                        double *linear, void *scratch) {
    const tables t = tables_of(w);
    const database *base = t.databases;
    const double *row = clean + driver_at(w);
    const int last = (int)*t.database_count - 1;
    memset(weights, 0, (size_t)w->example_count * sizeof *weights);
    if (last == 0) {
        add_database(w, base, row, 1, room, linear, state, scratch, weights);
        return;
    }
    const double value = clean[scalar_at(w)];
    int i = 0;
    while (i < last - 1 && value >= base[i + 1].value)
        i++;
    double part = (value - base[i].value) / (base[i + 1].value - base[i].value);
    part = part > 0 ? part < 1 ? part : 1 : 0;
    if (part < 1)
        add_database(w, &base[i], row, 1 - part, room, linear, state, scratch, weights);
    if (part > 0)
        add_database(w, &base[i + 1], row, part, room, linear, state, scratch, weights);
}

static void evaluate_point(const ex_weigher *w, const double *clean, double *weights, void *state, void *scratch) {
    const int size = largest_database(w);
    if (scratch) {
        double *linear = scratch;
        evaluate_in(w, clean, weights, state, size, linear, linear + size);
        return;
    }
    /* The same size as exi_simplex_scratch_size for these. */
    double linear[EX_CONVEX_MAX];
    double
        memory[EX_CONVEX_STACK * (EX_CONVEX_STACK + 1) / 2 + 5 * EX_CONVEX_STACK + EX_CONVEX_MAX + EX_CONVEX_MAX / 8];
    evaluate_in(w, clean, weights, state, size < EX_CONVEX_STACK ? size : EX_CONVEX_STACK, linear, memory);
}

static size_t state_size(const ex_weigher *w) {
    const tables t = tables_of(w);
    const database *last = &t.databases[(int)*t.database_count - 1];
    return ((size_t)last->word + ((size_t)last->size + 31) / 32 + 1) / 2 * 8;
}

size_t exi_convex_scratch_size(int example_count) {
    return (size_t)example_count * sizeof(double) + exi_simplex_scratch_size(example_count, example_count);
}

static size_t scratch_size(const ex_weigher *w) {
    return exi_convex_scratch_size(largest_database(w));
}

double ex_weigher_hull_distance_sq(const ex_weigher *weigher, const double *point, double self, const double *weights) {
    const ex_weigher *w = weigher;
    if (!w || !point || !weights) {
        exi_misuse(__func__, "no weigher, no point or no weights");
        return 0;
    }
    if (w->kind != EX_WEIGHER_CONVEX)
        return 0;
    const double *row = point + driver_at(w);
    double sum = self;
    for (int i = 0; i < w->example_count; i++) {
        double along = 0;
        for (int j = 0; weights[i] != 0 && j < w->example_count; j++)
            along += weights[j] != 0 ? weights[j] * (product(w, i, j) - row[i]) : 0;
        sum += weights[i] * (along - row[i]);
    }
    return sum > 0 ? sum : 0;
}

/* ---- stored weighers ---- */

/* True if the axes are a driver as wide as the number of examples, and a scalar or none. */
static bool is_sound_head(const ex_weigher *w) {
    return w->example_count <= EX_CONVEX_MAX && w->scalar_count <= 1 && w->axis_count == w->scalar_count + 1 &&
           w->rotation_count == 0 && w->dimension == w->example_count + w->scalar_count &&
           w->feature_count == w->scalar_count && w->pseudo_count == 0;
}

/* True if evaluation stays inside the block: sizes and offsets are consistent, and every example exists. */
static bool is_sound(const ex_weigher *w) {
    const tables t = tables_of(w);
    const int n = w->example_count;
    const double count = *t.database_count;
    double first = 0, matrix = 0, word = 0;
    if (!(count >= 1 && count <= n) || count != floor(count) || (w->scalar_count == 0 && count != 1))
        return false;
    for (int i = 0; i < (int)count; i++) {
        const database *base = &t.databases[i];
        if (base->first != first || base->matrix != matrix || base->word != word || !(base->size >= 1) ||
            base->size != floor(base->size) || !(first + base->size <= n) ||
            (i > 0 && !(base->value > t.databases[i - 1].value)))
            return false;
        first += base->size;
        matrix += base->size * base->size;
        word += floor((base->size + 31) / 32);
    }
    for (int i = 0; i < (int)first; i++)
        if (!(t.order[i] >= 0 && t.order[i] < n) || t.order[i] != floor(t.order[i]))
            return false;
    return true;
}

const exi_weigher_kind exi_weigher_convex = {
    .info = {.help =
                 "The blend of the driver's forms that is nearest to its current form. Weights stay between 0 and 1.",
             EXI_PARAMETERS(parameters),
             .has_points = true,
             .is_driven = true},
    .check = check,
    .own_count = own_count,
    .solve = solve,
    .evaluate_point = evaluate_point,
    .state_size = state_size,
    .scratch_size = scratch_size,
    .edit = exi_convex_edit,
    .is_sound_head = is_sound_head,
    .is_sound = is_sound,
};
