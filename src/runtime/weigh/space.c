/*
 * Spaces: axes, and the features by which points of a space are compared (docs/design.md, "Spaces").
 */
#include "runtime/base/result.h"
#include "runtime/base/text.h"
#include "runtime/weigh/point.inl"
#include "runtime/weigh/weigher.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

ex_axis ex_axis_scalar(double min, double max, double rest) {
    return (ex_axis){.kind = EX_AXIS_SCALAR, .min = min, .max = max, .rest = rest, .rest_rotation = {0, 0, 0, 1}};
}

ex_axis ex_axis_rotation(ex_axis_kind kind, const double about[3]) {
    ex_axis axis = {.kind = kind, .max = 1, .rest_rotation = {0, 0, 0, 1}, .about = {0, 1, 0}};
    for (int i = 0; about && i < 3; i++)
        axis.about[i] = about[i];
    return axis;
}

ex_axis ex_axis_driver(int example_count) {
    return (ex_axis){.kind = EX_AXIS_DRIVER, .max = 1, .rest_rotation = {0, 0, 0, 1}, .width = example_count};
}

int ex_axis_width(const ex_axis *axis) {
    return axis->kind == EX_AXIS_SCALAR ? 1 : axis->kind == EX_AXIS_DRIVER ? axis->width : 4;
}

ex_result exi_axis_check(const ex_axis *axis, int index, ex_error *error) {
    if ((unsigned)axis->kind >= EX_AXIS_KIND_COUNT)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "axis %d: kind %d is not a kind of axis", index, (int)axis->kind);
    if ((unsigned)axis->limit >= EX_LIMIT_COUNT)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "axis %d: %d is not a limit", index, (int)axis->limit);
    if (axis->kind == EX_AXIS_DRIVER && (axis->width < 1 || axis->width > EX_CONVEX_MAX))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "axis %d: a driver axis with %d examples: 1 to %d are allowed",
                            index, axis->width, EX_CONVEX_MAX);
    if (axis->kind == EX_AXIS_SCALAR) {
        if (!isfinite(axis->min) || !isfinite(axis->max) || !isfinite(axis->rest))
            return ex_error_set(error, EX_ERROR_DATA, "axis %d: min, max and rest must be finite numbers", index);
        if (axis->max > axis->min && !isnormal(axis->max - axis->min))
            return ex_error_set(error, EX_ERROR_ARGUMENT,
                                "axis %d: the range from %g to %g is too wide or too narrow for a number", index,
                                axis->min, axis->max);
        if (!(axis->max > axis->min))
            return ex_error_set(error, EX_ERROR_ARGUMENT, "axis %d: max (%g) must be greater than min (%g)", index,
                                axis->max, axis->min);
    }
    const double size = axis->kind == EX_AXIS_SCALAR ? axis->scale * (axis->max - axis->min) : axis->scale;
    if (!(axis->scale >= 0) || !(size <= 1e60))
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "axis %d: scale %g is negative, or so large that distances overflow", index, axis->scale);
    if (axis->kind == EX_AXIS_SCALAR || axis->kind == EX_AXIS_DRIVER)
        return EX_OK;
    if (!exi_all_finite(axis->rest_rotation, 4) || !exi_all_finite(axis->about, 3))
        return ex_error_set(error, EX_ERROR_DATA, "axis %d: its rest rotation and direction must be finite numbers",
                            index);
    double about[3] = {axis->about[0], axis->about[1], axis->about[2]};
    if (axis->kind != EX_AXIS_ROTATION && !exi_normalise(about, 3))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "axis %d: the direction to turn about is zero", index);
    return EX_OK;
}

static double default_scale(const ex_axis *axis, bool angular) {
    if (axis->kind == EX_AXIS_SCALAR)
        return 1.0 / (axis->max - axis->min);
    return angular ? 1.0 : 0.5;
}

exi_axis_record exi_axis_store(const ex_axis *axis, bool angular) {
    if (axis->kind == EX_AXIS_DRIVER)
        return (exi_axis_record){.kind = EX_AXIS_DRIVER, .max = axis->width, .true_scale = 1};
    exi_axis_record record = {.kind = (double)axis->kind,
                              .min = axis->min,
                              .max = axis->max,
                              .rest = axis->rest,
                              .scale = axis->scale,
                              .true_scale = axis->scale > 0 ? axis->scale : default_scale(axis, angular),
                              .ends = (axis->clamp ? 1 : 0) + 2 * (int)axis->limit};
    if (axis->kind == EX_AXIS_SCALAR)
        return record;
    for (int i = 0; i < 3; i++)
        record.about[i] = axis->about[i];
    for (int i = 0; i < 4; i++)
        record.rest_rotation[i] = axis->rest_rotation[i];
    /* Quaternions of unit length are kept unchanged, so that storing a stored axis changes nothing. */
    const double *q = record.rest_rotation;
    double length_sq = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    if (fabs(length_sq - 1) > 1e-14 && !exi_normalise(record.rest_rotation, 4))
        record.rest_rotation[3] = 1;
    return record;
}

ex_axis exi_axis_restore(const exi_axis_record *record) {
    if (record->kind == EX_AXIS_DRIVER)
        return ex_axis_driver(record->max >= 0 && record->max <= EX_CONVEX_MAX ? (int)record->max : 0);
    ex_axis axis = {.kind = (ex_axis_kind)record->kind,
                    .min = record->min,
                    .max = record->max,
                    .rest = record->rest,
                    .scale = record->scale,
                    .limit = EX_LIMIT_COUNT};
    /* A damaged record gets a limit that no check accepts. */
    if (record->ends >= 0 && record->ends < 2 * EX_LIMIT_COUNT && record->ends == floor(record->ends)) {
        axis.clamp = exi_axis_clamps(record);
        axis.limit = exi_axis_limit(record);
    }
    for (int i = 0; i < 3; i++)
        axis.about[i] = record->about[i];
    for (int i = 0; i < 4; i++)
        axis.rest_rotation[i] = record->rest_rotation[i];
    return axis;
}

bool exi_axis_is_same_input(const ex_axis *a, const ex_axis *b) {
    if (a->kind == EX_AXIS_SCALAR || b->kind == EX_AXIS_SCALAR)
        return a->kind == b->kind && a->rest == b->rest;
    if (a->kind == EX_AXIS_DRIVER || b->kind == EX_AXIS_DRIVER)
        return a->kind == b->kind;
    exi_axis_record x = exi_axis_store(a, false), y = exi_axis_store(b, false);
    return exi_rotation_distance(x.rest_rotation, y.rest_rotation, 4, false) < 1e-9;
}

void exi_point_clean(const ex_weigher *w, const double *point, double *clean) {
    const exi_axis_record *axis = exi_axes(w);
    for (int i = 0; i < w->axis_count; i++, axis++) {
        if (axis->kind == EX_AXIS_SCALAR) {
            *clean++ = exi_axis_clean_scalar(axis, point ? *point++ : axis->rest);
            continue;
        }
        if (axis->kind == EX_AXIS_DRIVER) { /* the others are scalars: the same offset in the first example's point */
            const bool has_points = w->pseudo_from > w->points;
            const double *rest = has_points ? exi_table(w, w->points) + (i == 0 ? 0 : 1) : NULL;
            const double *row = point && exi_all_finite(point, w->example_count) ? point : rest;
            if (row)
                memcpy(clean, row, (size_t)w->example_count * sizeof *clean);
            else
                memset(clean, 0, (size_t)w->example_count * sizeof *clean);
            clean += w->example_count;
            point = point ? point + w->example_count : NULL;
            continue;
        }
        exi_axis_clean_rotation(axis, point, clean);
        clean += 4;
        point = point ? point + 4 : NULL;
    }
}

void exi_point_features(const ex_weigher *w, const double *clean, double *features) {
    const exi_axis_record *axis = exi_axes(w);
    double *scalar = features, *rotation = features + w->scalar_count;
    for (int i = 0; i < w->axis_count; i++, axis++) {
        if (axis->kind == EX_AXIS_SCALAR) {
            *scalar++ = exi_axis_scalar_feature(axis, *clean++);
            continue;
        }
        if (axis->kind == EX_AXIS_DRIVER) {
            clean += w->example_count;
            continue;
        }
        exi_axis_rotation_features(axis, clean, rotation);
        rotation += exi_feature_width((ex_axis_kind)axis->kind);
        clean += 4;
    }
}

/* ---- points at the same place ---- */

void exi_point_text(const char *const *names, int example_count, int point, char *text, size_t size) {
    if (point >= example_count)
        snprintf(text, size, "pseudo-example %d", point - example_count + 1);
    else if (names && names[point])
        snprintf(text, size, "example '%.*s'", exi_text_cut(names[point], 150), names[point]);
    else
        snprintf(text, size, "example %d", point + 1);
}

ex_result exi_same_place(const ex_weigher *w, const char *const *names, int i, int j, ex_error *error) {
    char first[200], second[200];
    exi_point_text(names, w->example_count, i, first, sizeof first);
    exi_point_text(names, w->example_count, j, second, sizeof second);
    return ex_error_set(error, EX_ERROR_SINGULAR,
                        "%s and %s are at the same place in the space: move or remove one of them", first, second);
}

ex_result exi_measure_places(const ex_weigher *w, const char *const *names, double *distances, double *nearest,
                             ex_error *error) {
    const int n = exi_point_count(w);
    double largest = 0;
    for (int i = 0; i < n; i++)
        nearest[i] = n == 1 ? 1 : DBL_MAX;
    for (int i = 0; i < n; i++) {
        distances[(size_t)i * (size_t)n + (size_t)i] = 0;
        for (int j = i + 1; j < n; j++) {
            double d = exi_feature_distance(w, exi_features(w, i), exi_features(w, j));
            distances[(size_t)i * (size_t)n + (size_t)j] = distances[(size_t)j * (size_t)n + (size_t)i] = d;
            nearest[i] = d < nearest[i] ? d : nearest[i];
            nearest[j] = d < nearest[j] ? d : nearest[j];
            largest = d > largest ? d : largest;
        }
    }
    for (int i = 0; i < n; i++)
        for (int j = i + 1; nearest[i] <= EXI_ONE_PLACE * largest && j < n; j++)
            if (distances[(size_t)i * (size_t)n + (size_t)j] <= EXI_ONE_PLACE * largest)
                return exi_same_place(w, names, i, j, error);
    return EX_OK;
}

ex_result exi_check_places(ex_weigher *w, const char *const *names, const ex_allocator *allocator, ex_error *error) {
    (void)allocator;
    double nearest = INFINITY, largest = 0;
    int first = 0, second = 0;
    for (int i = 0; i < exi_point_count(w); i++)
        for (int j = i + 1; j < exi_point_count(w); j++) {
            double d = exi_feature_distance(w, exi_features(w, i), exi_features(w, j));
            largest = d > largest ? d : largest;
            if (d < nearest) {
                nearest = d;
                first = i;
                second = j;
            }
        }
    return nearest <= EXI_ONE_PLACE * largest ? exi_same_place(w, names, first, second, error) : EX_OK;
}
