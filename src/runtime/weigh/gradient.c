/*
 * Derivatives of weights by the numbers of a point, by the chain rule. A point p has features f(p), which limits change
 * to g(f), and an axis that fades has a factor c(f):
 *
 *   W = c w(g),    dW/dp = (c (dw/dg) (dg/df) + w dc/df) (df/dp)
 *
 * A kind computes w and dw/dg; everything else is here. df/dp of a rotation includes its scaling to unit length, so
 * that the four numbers of a quaternion have derivatives that do not depend on its length but for a factor, and are
 * perpendicular to it. They are computed as products of a row with the matrix df/dp, never the matrix itself.
 */
#include "runtime/weigh/gradient.h"

#include "runtime/base/result.h"
#include "runtime/weigh/limits.inl"
#include "runtime/weigh/point.inl"

#include <math.h>
#include <string.h>

/* Step of differences, as a share of the size of a number. Weights of a driver are pieces of linear functions: there
 * the step is only as long as rounding needs. For others, errors of the formula and of rounding are both about 1e-12.
 */
static const double difference_step = 2e-4, driver_step = 1e-6;

/* ---- distances and kernels ---- */

double exi_rotation_slopes(const double *a, const double *b, int width, bool angular, double *half) {
    double minus = 0, plus = 0;
    for (int i = 0; i < width; i++) {
        minus += (a[i] - b[i]) * (a[i] - b[i]);
        plus += (a[i] + b[i]) * (a[i] + b[i]);
    }
    const double distance = exi_rotation_distance(a, b, width, angular);
    double by_minus, by_plus; /* half of the derivatives of the square by a - b and a + b, over these */
    if (!angular) {
        by_minus = width == 4 ? plus : 1;
        by_plus = width == 4 ? minus : 0;
    } else {
        /* distance = k atan(s / l), s and l the roots of S and L; its slope by S is k l / (2 s (S + L)), and s may be
           0. Where l is 0, the distance is largest and has a corner. */
        const bool swapped = width == 4 && plus < minus;
        const double small = swapped ? plus : minus, large = swapped ? minus : plus;
        const double k = (width == 4 ? 4 : 2) / 3.14159265358979323846, s = sqrt(small), l = sqrt(large);
        const double ratio = s > 0 ? distance / s : l > 0 ? k / l : 0;
        const double slope = l > 0 ? k * ratio / (l * (small + large)) : 0;
        by_minus = swapped ? -slope * small : slope * large;
        by_plus = swapped ? slope * large : -slope * small;
    }
    for (int i = 0; i < width; i++)
        half[i] = by_minus * (a[i] - b[i]) + by_plus * (a[i] + b[i]);
    return distance;
}

double exi_distance_slopes(const ex_weigher *w, const double *features, int point, double *half) {
    const double *centre = exi_features(w, point);
    const exi_rotation_metric *rotation = (const exi_rotation_metric *)(const void *)exi_table(w, w->rotations);
    const bool angular = (w->flags & EXI_WEIGHER_ANGULAR) != 0;
    int place = w->scalar_count;
    for (int i = 0; i < place; i++)
        half[i] = features[i] - centre[i];
    for (int i = 0; i < w->rotation_count; i++) {
        const int width = (int)rotation[i].width;
        (void)exi_rotation_slopes(features + place, centre + place, width, angular, half + place);
        for (int k = 0; k < width; k++)
            half[place + k] *= rotation[i].scale * rotation[i].scale;
        place += width;
    }
    return exi_feature_distance(w, features, centre);
}

double exi_kernel_slope(int kernel, double r) {
    const double a = 1 - 0.5 * r;
    switch (kernel) {
    case EX_KERNEL_BSPLINE:
        return r >= 2 ? 0 : r >= 1 ? -(2 - r) * (2 - r) / (2 * r) : 1.5 * r - 2;
    case EX_KERNEL_GAUSSIAN:
        return -exi_exp(-0.5 * r * r);
    case EX_KERNEL_WENDLAND:
        return r >= 2 ? 0 : -5 * a * a * a;
    case EX_KERNEL_INVERSE_MULTIQUADRIC:
        return -1 / ((1 + r * r) * sqrt(1 + r * r));
    case EX_KERNEL_THIN_PLATE:
        return r > 1e-150 ? 2 * exi_log(r) + 1 : 0;
    case EX_KERNEL_BIHARMONIC:
        return r > 0 ? 1 / r : 0;
    case EX_KERNEL_TRIHARMONIC:
        return 3 * r;
    default: /* EX_KERNEL_MULTIQUADRIC */
        return 1 / sqrt(1 + r * r);
    }
}

/* ---- rows ---- */

void exi_gradient_clear(const ex_weigher *w, double *rows, size_t stride) {
    for (size_t i = 0; i < (size_t)w->example_count; i++)
        memset(rows + i * stride, 0, (size_t)w->feature_count * sizeof *rows);
}

void exi_gradient_add(double *rows, size_t stride, const double *weights, int m, double factor, const double *slopes,
                      int count) {
    for (int i = 0; i < m; i++, rows += stride) {
        const double by = weights[i] * factor;
        for (int f = 0; by != 0 && f < count; f++)
            rows[f] += by * slopes[f];
    }
}

void exi_gradient_spread(const ex_weigher *w, int point, double factor, const double *slopes, double *rows,
                         size_t stride) {
    const size_t m = (size_t)w->example_count, at = (size_t)point;
    const double one = 1;
    if (at < m)
        exi_gradient_add(rows + at * stride, stride, &one, 1, factor, slopes, w->feature_count);
    else
        exi_gradient_add(rows, stride, exi_table(w, w->pseudo_rows) + (at - m) * m, w->example_count, factor, slopes,
                         w->feature_count);
}

/* ---- from point to features ---- */

/* A query, and what the chain rule needs. */
typedef struct query {
    double clean[EXI_FEATURE_MAX];
    double features[EXI_FEATURE_MAX]; /* held, if there are limits */
    double held[EXI_FEATURE_MAX];     /* scalars: the derivative of the held feature */
    double fading[EXI_FEATURE_MAX];   /* derivatives of the factor */
    double factor;
    bool limited, fades;
} query;

/* True if a scalar's own value counts: it is finite, and within what cleaning leaves alone. */
static bool counts(const exi_axis_record *axis, const double *value) {
    return value && isfinite(*value) && exi_axis_clean_scalar(axis, *value) == *value;
}

/* Derivative of exi_limit_soften. */
static double soften_slope(double x, double soft) {
    const double t = x / soft;
    return t < 2 ? (1 - 0.5 * t) * (1 - 1.5 * t) : 0;
}

/* Derivative of exi_limit_bell. */
static double bell_slope(double excess, double width) {
    const double t = excess / width;
    return t > 0 && t < 1 ? -4 * t * (1 - t * t) / width : 0;
}

/* Multiplies the factor of a query by one more, whose derivatives are at `place`. */
static void add_factor(query *q, int count, double factor, int place, const double *slopes, int width) {
    for (int f = 0; f < count; f++)
        q->fading[f] *= factor;
    for (int f = 0; f < width; f++)
        q->fading[place + f] += q->factor * slopes[f];
    q->factor *= factor;
    q->fades = true;
}

/* exi_limit_scalar, and its derivatives. */
static void limit_scalar(const ex_weigher *w, const exi_limit_record *record, int place, query *q) {
    const double before = q->features[place];
    const double above = before - record->high, below = record->low - before;
    const double factor = exi_limit_scalar(record, &q->features[place]);
    q->held[place] = 1;
    if (record->limit == EX_LIMIT_EXTRAPOLATE || !(above > 0 || below > 0))
        return;
    q->held[place] = above > 0 ? soften_slope(above, record->high_soft) : soften_slope(below, record->low_soft);
    if (record->limit != EX_LIMIT_FADE)
        return;
    const double slope = above > 0 ? bell_slope(above, record->width) : -bell_slope(below, record->width);
    add_factor(q, w->feature_count, factor, place, &slope, 1);
}

/* One axis of exi_limit_rotations, and its derivatives: those of the distance from the nearest point. */
static void limit_rotation(const ex_weigher *w, const exi_limit_record *record, const exi_rotation_metric *rotation,
                           int place, query *q) {
    const bool angular = (w->flags & EXI_WEIGHER_ANGULAR) != 0;
    const int width = (int)rotation->width;
    double nearest = INFINITY, half[4], slopes[4] = {0, 0, 0, 0};
    for (int j = 0; record->limit == EX_LIMIT_FADE && j < exi_point_count(w); j++) {
        const double distance =
            exi_rotation_slopes(q->features + place, exi_features(w, j) + place, width, angular, half);
        if (!(distance * rotation->scale < nearest))
            continue;
        nearest = distance * rotation->scale;
        for (int k = 0; k < width; k++)
            slopes[k] = distance > 0 ? half[k] / distance * rotation->scale : 0;
    }
    if (record->limit != EX_LIMIT_FADE)
        return;
    const double excess = nearest - record->width;
    for (int k = 0; k < width; k++)
        slopes[k] *= bell_slope(excess, record->width);
    add_factor(q, w->feature_count, exi_limit_bell(excess, record->width), place, slopes, width);
}

static void open_query(const ex_weigher *w, const double *point, query *q) {
    exi_point_clean(w, point, q->clean);
    exi_point_features(w, q->clean, q->features);
    q->factor = 1;
    q->fades = false;
    q->limited = (w->flags & EXI_WEIGHER_LIMITS) != 0;
    if (!q->limited)
        return;
    const exi_limit_record *limit = exi_limits(w);
    const exi_rotation_metric *rotation = (const exi_rotation_metric *)(const void *)exi_table(w, w->rotations);
    memset(q->fading, 0, (size_t)w->feature_count * sizeof *q->fading);
    for (int i = 0, scalar = 0, place = w->scalar_count; i < w->axis_count; i++)
        if (exi_axes(w)[i].kind == EX_AXIS_SCALAR) {
            limit_scalar(w, &limit[i], scalar++, q);
        } else {
            limit_rotation(w, &limit[i], rotation, place, q);
            place += (int)rotation++->width;
        }
}

/* Product of derivatives by the features of a rotation with those of the features by the unit quaternion q. */
static void rotation_back(const exi_axis_record *axis, const double q[4], const double *row, double out[4]) {
    double n[3] = {axis->about[0], axis->about[1], axis->about[2]};
    if (axis->kind == EX_AXIS_ROTATION) {
        memcpy(out, row, 4 * sizeof *out);
        return;
    }
    exi_normalise(n, 3);
    if (axis->kind == EX_AXIS_TWIST) { /* (n a, w) over its length, a = u . n */
        const double a = exi_dot3(q, n), length_sq = a * a + q[3] * q[3], by_a = exi_dot3(row, n), by_w = row[3];
        const bool sound = length_sq >= 1e-24;
        const double across = sound ? (by_a * q[3] - by_w * a) / (length_sq * sqrt(length_sq)) : 0;
        for (int k = 0; k < 3; k++)
            out[k] = n[k] * across * q[3];
        out[3] = -across * a;
        return;
    }
    /* n + 2 w u x n + 2 u x (u x n) = n + 2 w u x n + 2 u (u . n) - 2 n (u . u) */
    double un[3], nr[3];
    exi_cross(q, n, un);
    exi_cross(n, row, nr);
    const double along = exi_dot3(q, n), turned = exi_dot3(q, row), both = exi_dot3(n, row);
    for (int k = 0; k < 3; k++)
        out[k] = 2 * (q[3] * nr[k] + along * row[k] + turned * n[k] - 2 * both * q[k]);
    out[3] = 2 * exi_dot3(un, row);
}

/* Length of a quaternion as given, which cleaning scaled to 1; INFINITY if it was replaced. */
static double given_length(const double *given) {
    double q[4];
    if (!given || !exi_all_finite(given, 4))
        return INFINITY;
    memcpy(q, given, sizeof q);
    if (!exi_normalise(q, 4))
        return INFINITY;
    double length = 0;
    for (int k = 0; k < 4; k++)
        length += given[k] * q[k];
    return length;
}

/* Turns a row of derivatives by features into one by the numbers of the point. */
static void row_back(const ex_weigher *w, const double *point, const query *q, const double *features, double *out) {
    const exi_axis_record *axis = exi_axes(w);
    const double *scalar = features, *rotation = features + w->scalar_count, *clean = q->clean;
    for (int i = 0; i < w->axis_count; i++, axis++) {
        if (axis->kind == EX_AXIS_SCALAR) {
            *out++ = counts(axis, point) ? *scalar * axis->true_scale : 0;
            scalar++;
            clean++;
            point = point ? point + 1 : NULL;
            continue;
        }
        double by[4], along = 0;
        const double length = given_length(point);
        rotation_back(axis, clean, rotation, by);
        for (int k = 0; k < 4; k++)
            along += by[k] * clean[k];
        for (int k = 0; k < 4; k++)
            *out++ = (by[k] - along * clean[k]) / length;
        rotation += exi_feature_width((ex_axis_kind)axis->kind);
        clean += 4;
        point = point ? point + 4 : NULL;
    }
}

/* The derivative of the features along a direction of the point, as far as limits let it pass. */
static void features_along(const ex_weigher *w, const double *point, const query *q, const double *direction,
                           double *along) {
    /* One row for each feature; a direction is used for few of them, so this is short rather than quick. */
    double row[EXI_FEATURE_MAX], back[EXI_FEATURE_MAX];
    memset(row, 0, (size_t)w->feature_count * sizeof *row);
    for (int f = 0; f < w->feature_count; f++) {
        row[f] = 1;
        row_back(w, point, q, row, back);
        row[f] = along[f] = 0;
        for (int k = 0; k < w->dimension; k++)
            along[f] += back[k] * direction[k];
    }
}

/* ---- differences ---- */

/* Size of each number of a point, for the step of differences. */
static double size_of(const ex_weigher *w, const exi_axis_record *axis, const double *clean, int numbers) {
    if (axis->kind == EX_AXIS_SCALAR)
        return axis->max - axis->min;
    if (axis->kind != EX_AXIS_DRIVER)
        return 1;
    /* Inner products: the largest square of an example's driver form, or what is given. */
    const int offset = (int)(axis - exi_axes(w)) == 0 ? 0 : 1;
    const double *points = exi_table(w, w->points) + offset;
    double size = 0;
    for (int i = 0; w->pseudo_from > w->points && i < w->example_count; i++)
        size = fmax(size, fabs(points[(size_t)i * (size_t)w->dimension + (size_t)i]));
    for (int i = 0; i < numbers; i++)
        size = fmax(size, fabs(clean[i]));
    return size > 0 ? size : 1;
}

/* Differences of fourth order around the cleaned point: (8 (w(h) - w(-h)) - w(2h) + w(-2h)) / (12 h). */
static void take_differences(const ex_weigher *w, const double *point, double *weights, double *derivatives) {
    static const double steps[4] = {1, -1, 2, -2}, factors[4] = {8, -8, -1, 1};
    const size_t m = (size_t)w->example_count, d = (size_t)w->dimension;
    double clean[EXI_FEATURE_MAX];
    exi_point_clean(w, point, clean);
    const exi_axis_record *axis = exi_axes(w);
    for (size_t first = 0; first < d; axis++) {
        const int numbers = axis->kind == EX_AXIS_SCALAR ? 1 : axis->kind == EX_AXIS_DRIVER ? w->example_count : 4;
        const double h =
            (axis->kind == EX_AXIS_DRIVER ? driver_step : difference_step) * size_of(w, axis, clean + first, numbers);
        const double *given = point ? point + first : NULL;
        const double length = axis->kind == EX_AXIS_SCALAR   ? counts(axis, given) ? 1 : INFINITY
                              : axis->kind == EX_AXIS_DRIVER ? given && exi_all_finite(given, numbers) ? 1 : INFINITY
                                                             : given_length(given);
        for (size_t k = first; k < first + (size_t)numbers; k++) {
            const double middle = clean[k];
            for (size_t i = 0; i < m; i++)
                derivatives[i * d + k] = 0;
            for (int s = 0; s < 4; s++) {
                clean[k] = middle + steps[s] * h;
                ex_weigher_evaluate(w, clean, weights);
                for (size_t i = 0; i < m; i++)
                    derivatives[i * d + k] += factors[s] * weights[i] / (12 * h * length);
            }
            clean[k] = middle;
        }
        first += (size_t)numbers;
    }
    ex_weigher_evaluate(w, point, weights);
}

/* ---- entry points ---- */

bool exi_weigher_passes(const ex_weigher *w) {
    const exi_weigher_kind *kind = exi_weigher_kind_of(w->kind);
    return !kind->evaluate && !kind->evaluate_point;
}

/* True if number i of the point counts, where the numbers are the weights. */
static bool passes(const ex_weigher *w, const double *point, int i) {
    const exi_axis_record *axis = exi_axes(w);
    if (axis->kind == EX_AXIS_DRIVER)
        return point && exi_all_finite(point, w->example_count);
    return point && counts(&axis[i], &point[i]);
}

void exi_weigher_pass_along(const ex_weigher *w, const double *point, const double *direction, double *along) {
    for (int i = 0; i < w->example_count; i++)
        along[i] = direction[i] != 0 && passes(w, point, i) ? direction[i] : 0;
}

static void pass_on(const ex_weigher *w, const double *point, double *derivatives) {
    const size_t m = (size_t)w->example_count;
    memset(derivatives, 0, m * m * sizeof *derivatives);
    for (size_t i = 0; i < m; i++)
        derivatives[i * m + i] = passes(w, point, (int)i);
}

static void take_gradient(const ex_weigher *w, const double *point, double *weights, double *derivatives) {
    const exi_weigher_kind *kind = exi_weigher_kind_of(w->kind);
    if (exi_weigher_passes(w)) {
        exi_point_clean(w, point, weights);
        pass_on(w, point, derivatives);
        return;
    }
    if (!kind->gradient) {
        take_differences(w, point, weights, derivatives);
        return;
    }
    query q;
    double row[EXI_FEATURE_MAX];
    open_query(w, point, &q);
    kind->gradient(w, q.features, weights, derivatives, (size_t)w->dimension);
    for (int i = 0; i < w->example_count; i++, derivatives += w->dimension) {
        for (int f = 0; f < w->feature_count; f++) {
            row[f] = derivatives[f] * (q.limited && f < w->scalar_count ? q.held[f] : 1) * q.factor;
            row[f] += q.fades ? weights[i] * q.fading[f] : 0;
        }
        row_back(w, point, &q, row, derivatives);
        weights[i] *= q.factor;
    }
}

void ex_weigher_gradient(const ex_weigher *weigher, const double *point, double *weights, double *derivatives) {
    if (!weigher || !weights || !derivatives)
        exi_misuse(__func__, "no weigher, or no pointer for the weights or their derivatives");
    else
        take_gradient(weigher, point, weights, derivatives);
}

void ex_weigher_gradient_many(const ex_weigher *weigher, int count, const double *points, double *weights,
                              double *derivatives) {
    if (!weigher || count < 0 || (count > 0 && (!points || !weights || !derivatives))) {
        exi_misuse(__func__, "no weigher, points, weights or derivatives, or a negative number of points");
        return;
    }
    const size_t m = (size_t)weigher->example_count, d = (size_t)weigher->dimension;
    for (size_t i = 0; i < (size_t)count; i++)
        take_gradient(weigher, points + i * d, weights + i * m, derivatives + i * m * d);
}

void exi_weigher_sets_along(const ex_weigher *w, const double *point, const double *direction, double *set_weights,
                            double *along) {
    const exi_weigher_kind *kind = exi_weigher_kind_of(w->kind);
    query q;
    double by[EXI_FEATURE_MAX], fading = 0;
    open_query(w, point, &q);
    features_along(w, point, &q, direction, by);
    for (int f = 0; f < w->feature_count; f++) {
        fading += q.fades ? q.fading[f] * by[f] : 0;
        by[f] *= q.limited && f < w->scalar_count ? q.held[f] : 1;
    }
    kind->evaluate_sets(w, q.features, NULL, set_weights);
    kind->sets_along(w, q.features, by, along);
    for (size_t i = 0; i < (size_t)w->set_weight_count; i++) {
        along[i] = q.factor * along[i] + fading * set_weights[i];
        set_weights[i] *= q.factor;
    }
}
