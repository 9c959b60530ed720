/*
 * Moving frames of a driver (DrivenShape, 2.7): the rigid motion x -> R (x - r) + p that brings weighted vertices x_i
 * of the reference nearest to their current positions y_i. r and p are the weighted means, and R is the rotation that
 * maximises tr(R^T M), with M = sum of w_i y_i (x_i - r)^T.
 *
 * R as a unit quaternion is the eigenvector of the largest eigenvalue of Davenport's symmetric 4 x 4 matrix K. The
 * eigenvalue is found by Newton's method on the characteristic polynomial from above, where it cannot overshoot; the
 * vector is a column of the adjugate of K - l I. Two Newton steps on the rotation itself then make R^T M symmetric to
 * the last digits: they restore the accuracy that the polynomial loses if eigenvalues are close. If all columns vanish
 * (vertices on a line, for example), Jacobi rotations find some eigenvector: the shape does not determine which.
 */
#include "runtime/weigh/driver.h"
#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/base/simd.h"
#include "runtime/base/vector.h"

#include <string.h>

/* ---- the nearest rotation ---- */

static void davenport(const double m[3][3], double k[4][4]) {
    const double trace = m[0][0] + m[1][1] + m[2][2];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            k[i][j] = m[i][j] + m[j][i] - (i == j ? trace : 0);
    k[0][3] = k[3][0] = m[2][1] - m[1][2];
    k[1][3] = k[3][1] = m[0][2] - m[2][0];
    k[2][3] = k[3][2] = m[1][0] - m[0][1];
    k[3][3] = trace;
}

static double minor3(const double a[4][4], int r, int c) {
    int rows[3], columns[3], n = 0;
    for (int i = 0; i < 4; i++)
        if (i != r)
            rows[n++] = i;
    n = 0;
    for (int i = 0; i < 4; i++)
        if (i != c)
            columns[n++] = i;
#define AT(i, j) a[rows[i]][columns[j]]
    return AT(0, 0) * (AT(1, 1) * AT(2, 2) - AT(1, 2) * AT(2, 1)) -
           AT(0, 1) * (AT(1, 0) * AT(2, 2) - AT(1, 2) * AT(2, 0)) +
           AT(0, 2) * (AT(1, 0) * AT(2, 1) - AT(1, 1) * AT(2, 0));
#undef AT
}

/* Returns the largest root of det(K - l I) = l^4 + c2 l^2 + c1 l + c0: K has no trace, c2 = -2 |M|^2, c1 = -8 det M. M
 * has unit length. */
static double largest_root(const double m[3][3], double determinant_of_k) {
    const double c1 =
        -8 * (m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
              m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]));
    double l = 1.7320508075688772; /* upper bound of the sum of singular values of a matrix of unit length */
    for (int i = 0; i < 64; i++) {
        const double l2 = l * l, value = ((l2 - 2) * l + c1) * l + determinant_of_k;
        const double slope = (4 * l2 - 4) * l + c1;
        if (!(slope > 0))
            break;
        const double step = value / slope;
        l -= step;
        if (!(step > 1e-14))
            break;
    }
    return l;
}

/* Finds an eigenvector of the largest eigenvalue by Jacobi rotations. */
static void eigenvector(double k[4][4], double q[4]) {
    double v[4][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
    for (int sweep = 0; sweep < 12; sweep++)
        for (int a = 0; a < 3; a++)
            for (int b = a + 1; b < 4; b++) {
                if (!(fabs(k[a][b]) > 1e-300))
                    continue;
                const double theta = (k[b][b] - k[a][a]) / (2 * k[a][b]);
                const double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
                const double c = 1 / sqrt(t * t + 1), s = t * c;
                for (int i = 0; i < 4; i++) {
                    const double x = k[i][a], y = k[i][b];
                    k[i][a] = c * x - s * y;
                    k[i][b] = s * x + c * y;
                }
                for (int i = 0; i < 4; i++) {
                    const double x = k[a][i], y = k[b][i];
                    k[a][i] = c * x - s * y;
                    k[b][i] = s * x + c * y;
                }
                for (int i = 0; i < 4; i++) {
                    const double x = v[i][a], y = v[i][b];
                    v[i][a] = c * x - s * y;
                    v[i][b] = s * x + c * y;
                }
            }
    /* Among equal ones the last, which for a zero matrix is the identity. */
    int best = 3;
    for (int i = 2; i >= 0; i--)
        best = k[i][i] > k[best][best] + 1e-13 ? i : best;
    for (int i = 0; i < 4; i++)
        q[i] = v[i][best];
}

static void matrix_of(const double q[4], double r[3][3]) {
    for (int c = 0; c < 3; c++) {
        double column[3];
        exi_rotate(q, (double[3]){c == 0, c == 1, c == 2}, column);
        for (int i = 0; i < 3; i++)
            r[i][c] = column[i];
    }
}

/* Turns q by a small rotation so that A = R^T M becomes symmetric: (tr(S) I - S) w = the axial vector of A - A^T, S the
 * symmetric part. Does nothing if the system is nearly singular. */
static void polish(const double m[3][3], double q[4]) {
    double r[3][3], a[3][3], n[3][3], w[3] = {0}, determinant;
    matrix_of(q, r);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            a[i][j] = r[0][i] * m[0][j] + r[1][i] * m[1][j] + r[2][i] * m[2][j];
    const double trace = a[0][0] + a[1][1] + a[2][2];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            n[i][j] = (i == j ? trace : 0) - (a[i][j] + a[j][i]) / 2;
    const double axial[3] = {a[2][1] - a[1][2], a[0][2] - a[2][0], a[1][0] - a[0][1]};
    double c0[3], c1[3], c2[3];
    exi_cross(n[1], n[2], c0);
    exi_cross(n[2], n[0], c1);
    exi_cross(n[0], n[1], c2);
    determinant = exi_dot3(n[0], c0);
    if (!(determinant > 1e-9))
        return;
    for (int i = 0; i < 3; i++)
        w[i] = (c0[i] * axial[0] + c1[i] * axial[1] + c2[i] * axial[2]) / determinant / 2;
    double turn[4] = {w[0], w[1], w[2], 1};
    if (!(exi_dot3(w, w) < 0.01))
        return;
    exi_quaternion_multiply(q, turn, q);
    (void)exi_normalise(q, 4);
}

void exi_nearest_rotation(const double matrix[3][3], double r[3][3]) {
    double m[3][3], k[4][4], q[4] = {0, 0, 0, 1};
    memcpy(m, matrix, sizeof m);
    if (exi_normalise(&m[0][0], 9)) {
        davenport(m, k);
        double determinant = 0;
        for (int c = 0; c < 4; c++)
            determinant += (c % 2 ? -1 : 1) * k[0][c] * minor3(k, 0, c);
        const double l = largest_root(m, determinant);
        for (int i = 0; i < 4; i++)
            k[i][i] -= l;
        /* The adjugate of a singular symmetric matrix is a multiple of q q^T: its largest diagonal entry selects the
         * column. */
        double largest = 0;
        int column = 3;
        for (int c = 3; c >= 0; c--) {
            const double size = fabs(minor3(k, c, c));
            if (size > largest) {
                largest = size;
                column = c;
            }
        }
        for (int i = 0; i < 4; i++)
            q[i] = ((i + column) % 2 ? -1 : 1) * minor3(k, column, i);
        for (int i = 0; i < 4; i++)
            k[i][i] += l;
        if (!(largest > 1e-7) || !exi_normalise(q, 4))
            eigenvector(k, q);
        polish(m, q);
        polish(m, q);
    }
    matrix_of(q, r);
}

/* ---- the driver ---- */

static ex_result check(const ex_driver_def *def, ex_error *error) {
    if (!def || def->vertex_count < 1 || !def->reference || def->frame_count < 1 || !def->starts || !def->vertices ||
        !def->weights)
        return exi_misuse_error(error, __func__, "a driver needs vertices and at least one frame");
    if (def->frame_count > EX_DRIVER_FRAME_MAX)
        return ex_error_set(error, EX_ERROR_LIMIT, "a driver has at most %d moving frames, not %d", EX_DRIVER_FRAME_MAX,
                            def->frame_count);
    for (int v = 0; v < 3 * def->vertex_count; v++)
        if (!isfinite(def->reference[v]))
            return ex_error_set(error, EX_ERROR_DATA, "vertex %d of the driver is not finite", v / 3);
    for (int f = 0; f < def->frame_count; f++)
        if (def->starts[f + 1] < def->starts[f] || def->starts[0] != 0)
            return ex_error_set(error, EX_ERROR_DATA, "the driver's frame %d has a negative number of vertices", f);
    for (uint32_t i = 0; i < def->starts[def->frame_count]; i++)
        if (def->vertices[i] >= (uint32_t)def->vertex_count || !(def->weights[i] > 0) || !isfinite(def->weights[i]))
            return ex_error_set(
                error, EX_ERROR_DATA,
                "entry %u of the driver's frames: vertex %u of %d has weight %g (weights must be above 0)", (unsigned)i,
                (unsigned)def->vertices[i], def->vertex_count, (double)def->weights[i]);
    return EX_OK;
}

static void fill_frame(const ex_driver_def *def, int f, exi_frame_group *groups, double centre[3], double *square) {
    const uint32_t from = def->starts[f], to = def->starts[f + 1];
    double sum = 0;
    for (uint32_t i = from; i < to; i++)
        sum += (double)def->weights[i];
    for (uint32_t i = from; i < to; i++)
        for (int c = 0; c < 3; c++)
            centre[c] += (double)def->weights[i] / sum * (double)def->reference[3 * def->vertices[i] + (size_t)c];
    for (uint32_t i = from; i < (to - from + 3) / 4 * 4 + from; i++) {
        exi_frame_group *group = &groups[(i - from) / 4];
        const uint32_t lane = (i - from) % 4, vertex = def->vertices[i < to ? i : to - 1];
        const double weight = i < to ? (double)def->weights[i] / sum : 0;
        group->vertices[lane] = vertex;
        group->weights[lane] = (float)weight;
        for (int c = 0; c < 3; c++) {
            const double place = (double)def->reference[3 * (size_t)vertex + (size_t)c] - centre[c];
            group->places[c][lane] = (float)(weight * place);
            *square += weight * place * place;
        }
    }
}

ex_result ex_driver_create(const ex_driver_def *def, const ex_allocator *allocator, ex_driver **driver,
                           ex_error *error) {
    ex_result result = check(def, error);
    if (result != EX_OK)
        return result;
    exi_size total = {.bytes = sizeof(ex_driver)};
    size_t groups = 0;
    for (int f = 0; f < def->frame_count; f++)
        groups += (def->starts[f + 1] - def->starts[f] + 3) / 4;
    const size_t starts = exi_size_add(&total, (size_t)def->frame_count + 1, sizeof(uint32_t), 16);
    const size_t centres = exi_size_add(&total, (size_t)def->frame_count, 3 * sizeof(double), 16);
    const size_t squares = exi_size_add(&total, (size_t)def->frame_count, sizeof(double), 16);
    const size_t fits = exi_size_add(&total, groups, sizeof(exi_frame_group), 16);
    ex_driver *made = total.overflow ? NULL : exi_block_create(allocator, total.bytes);
    if (!made)
        return ex_error_memory(error, "the driver", total.bytes);
    *made = (ex_driver){.size = total.bytes,
                        .vertex_count = def->vertex_count,
                        .frame_count = def->frame_count,
                        .starts = starts,
                        .centres = centres,
                        .squares = squares,
                        .groups = fits};
    uint32_t *group_starts = exi_driver_at(made, starts);
    for (int f = 0; f < def->frame_count; f++) {
        group_starts[f + 1] = group_starts[f] + (def->starts[f + 1] - def->starts[f] + 3) / 4;
        fill_frame(def, f, (exi_frame_group *)exi_driver_at(made, fits) + group_starts[f],
                   (double *)exi_driver_at(made, centres) + 3 * f, (double *)exi_driver_at(made, squares) + f);
    }
    *driver = made;
    return EX_OK;
}

void ex_driver_destroy(ex_driver *driver) {
    exi_block_destroy(driver);
}

int ex_driver_vertex_count(const ex_driver *driver) {
    return driver ? driver->vertex_count : 0;
}

int ex_driver_frame_count(const ex_driver *driver) {
    return driver ? driver->frame_count : 0;
}

/* RUN: groups summed in float. SUMS: means, products and squares, as below. */
enum { RUN = 8, SUMS = 13 };

/* Sums over groups of w d (3), d (w x)^T (9) and w |d|^2, with d the distance from the origin, which is one of the
 * vertices, so that a driver far away loses no digits. In float over a few dozen vertices, and then in double. */
static void sum_groups(const exi_frame_group *groups, uint32_t count, const float *form, const float *origin,
                       double totals[SUMS]) {
    const exi_quad from[3] = {exi_quad_splat(origin[0]), exi_quad_splat(origin[1]), exi_quad_splat(origin[2])};
    for (uint32_t begin = 0; begin < count; begin += RUN) {
        const uint32_t end = count - begin < RUN ? count : begin + RUN;
        exi_quad sums[SUMS];
        for (int i = 0; i < SUMS; i++)
            sums[i] = exi_quad_splat(0);
        for (uint32_t g = begin; g < end; g++) {
            exi_quad y[4], places[3];
            const exi_quad w = exi_quad_load(groups[g].weights);
            for (int i = 0; i < 4; i++)
                y[i] = exi_quad_load_three(form + 3 * (size_t)groups[g].vertices[i]);
            exi_quad_transpose(y);
            for (int c = 0; c < 3; c++) {
                y[c] = exi_quad_sub(y[c], from[c]);
                places[c] = exi_quad_load(groups[g].places[c]);
            }
            for (int r = 0; r < 3; r++) {
                const exi_quad weighted = exi_quad_mul(w, y[r]);
                sums[r] = exi_quad_add(sums[r], weighted);
                sums[12] = exi_quad_madd(weighted, y[r], sums[12]);
                for (int c = 0; c < 3; c++)
                    sums[3 + 3 * r + c] = exi_quad_madd(y[r], places[c], sums[3 + 3 * r + c]);
            }
        }
        for (int i = 0; i < SUMS; i++) {
            float four[4];
            exi_quad_store(four, sums[i]);
            totals[i] += (double)four[0] + (double)four[1] + (double)four[2] + (double)four[3];
        }
    }
}

static void place_frame(const exi_frame_group *groups, uint32_t count, const double centre[3], double square,
                        const float *form, float matrix[12], float *size) {
    static const float identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    const float *origin = form + 3 * (size_t)(count > 0 ? groups[0].vertices[0] : 0);
    double totals[SUMS] = {0}, product[3][3], rotation[3][3], all = 0;
    sum_groups(groups, count, form, origin, totals);
    for (int i = 0; i < SUMS - 1; i++)
        all += totals[i];
    const double *mean = totals, left = totals[12] - exi_dot3(mean, mean);
    const bool known = count > 0 && isfinite(all);
    if (size)
        *size = known && square > 0 && left >= 0 && left < 1e30 ? (float)sqrt(left / square) : 1;
    if (!matrix)
        return;
    memcpy(matrix, identity, sizeof identity);
    if (!known)
        return;
    memcpy(product, totals + 3, sizeof product);
    exi_nearest_rotation((const double(*)[3])product, rotation);
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++)
            matrix[4 * r + c] = (float)rotation[r][c];
        matrix[4 * r + 3] = (float)((double)origin[r] + mean[r] - exi_dot3(rotation[r], centre));
    }
}

static void measure(const ex_driver *driver, const float *form, float *matrices, float *sizes) {
    const uint32_t *starts = exi_driver_at(driver, driver->starts);
    const exi_frame_group *groups = exi_driver_at(driver, driver->groups);
    const double *centres = exi_driver_at(driver, driver->centres), *squares = exi_driver_at(driver, driver->squares);
    for (int f = 0; f < driver->frame_count; f++)
        place_frame(groups + starts[f], starts[f + 1] - starts[f], centres + 3 * (size_t)f, squares[f], form,
                    matrices ? matrices + 12 * (size_t)f : NULL, sizes ? sizes + f : NULL);
}

void exi_driver_measure(const ex_driver *driver, const float *form, float *matrices, float *sizes) {
    measure(driver, form, matrices, sizes);
}

void ex_driver_sizes(const ex_driver *driver, const float *form, float *sizes) {
    measure(driver, form, NULL, sizes);
}

void ex_driver_place(const ex_driver *driver, const float *form, float *matrices) {
    measure(driver, form, matrices, NULL);
}
