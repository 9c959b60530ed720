/*
 * Reads the reach of a gaussian layer's points: `falloff` and `metric`, of the layer and of single points. A falloff is
 * one number for all axes or a list of one for each, in distances of the space, or an object of axis names in each
 * axis's own unit: scalars are multiplied by the axis's scale, degrees of rotations become the chord 2 sin(angle / 2)
 * times the scale. A metric is a matrix over the scalar axes, 1/unit^2: with differences d = u / scale, u' M u = d'
 * (scale M scale) d, so each entry is divided by both scales.
 */
#include "author/project/domains/project_domain.h"
#include "author/project/model/reader.h"
#include "runtime/base/functions.inl"
#include "runtime/base/result.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Falloff and metric of one object of the file; tables are in the arena. */
typedef struct reach {
    const double *falloff; /* [axis_count], 0: the default; or NULL */
    const double *metric;  /* [scalars][scalars], or NULL */
} reach;

static double scale_of(const ex_axis *axis) {
    const double usual = axis->kind == EX_AXIS_SCALAR ? 1 / (axis->max - axis->min) : 0.5;
    return axis->scale > 0 ? axis->scale : usual;
}

static size_t count_scalars(const ex_project_layer *layer) {
    size_t count = 0;
    for (int i = 0; i < layer->axis_count; i++)
        count += layer->axes[i].axis.kind == EX_AXIS_SCALAR;
    return count;
}

/* ---- falloffs ---- */

static ex_result read_positive(exi_project_reader *r, const json_t *value, const exi_place *place, double *number) {
    ex_result result = exi_json_number(value, place, number, r->keys.error);
    if (result == EX_OK && !(*number > 0))
        result = ex_error_set(r->keys.error, EX_ERROR_DATA, "%s: a falloff must be above 0", place->text);
    return result;
}

static ex_result read_list(exi_project_reader *r, const json_t *list, const exi_place *place,
                           const ex_project_layer *layer, double *falloff) {
    if (json_array_size(list) != (size_t)layer->axis_count)
        return ex_error_set(r->keys.error, EX_ERROR_DATA,
                            "%s: one number for each axis is needed here: the list has %zu, but the space has %d axes",
                            place->text, json_array_size(list), layer->axis_count);
    for (int i = 0; i < layer->axis_count; i++) {
        exi_place at = exi_place_index(place, (size_t)i);
        ex_result result = exi_json_number(json_array_get(list, (size_t)i), &at, &falloff[i], r->keys.error);
        if (result == EX_OK && !(falloff[i] >= 0))
            result = ex_error_set(r->keys.error, EX_ERROR_DATA, "%s: a falloff must be above 0, or 0 for the default",
                                  at.text);
        if (result != EX_OK)
            return result;
    }
    return EX_OK;
}

static ex_result read_of_axes(exi_project_reader *r, const json_t *object, const exi_place *place,
                              const ex_project_layer *layer, double *falloff) {
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value) {
        exi_place at = exi_place_key(place, key);
        const char *names[EX_AXIS_MAX];
        double number = 0, sine, cosine;
        int i = 0;
        for (int k = 0; k < layer->axis_count && k < EX_AXIS_MAX; k++)
            names[k] = layer->axes[k].name;
        while (i < layer->axis_count && strcmp(layer->axes[i].name, key) != 0)
            i++;
        if (i == layer->axis_count) {
            const char *near =
                ex_suggest(key, names, layer->axis_count < EX_AXIS_MAX ? layer->axis_count : EX_AXIS_MAX);
            return near ? ex_error_set(r->keys.error, EX_ERROR_DATA,
                                       "%s: this space has no axis '%s'; did you mean '%s'?", at.text, key, near)
                        : ex_error_set(r->keys.error, EX_ERROR_DATA, "%s: this space has no axis '%s'", at.text, key);
        }
        const ex_axis *axis = &layer->axes[i].axis;
        ex_result result = read_positive(r, value, &at, &number);
        if (result == EX_OK && axis->kind != EX_AXIS_SCALAR && number > 180)
            result =
                ex_error_set(r->keys.error, EX_ERROR_DATA,
                             "%s: rotations are at most 180 degrees apart; for more reach, give one number for all "
                             "axes or a list",
                             at.text);
        if (result != EX_OK)
            return result;
        if (axis->kind != EX_AXIS_SCALAR) {
            exi_sin_cos(number * (3.14159265358979323846 / 360), &sine, &cosine);
            number = 2 * sine;
        }
        falloff[i] = number * scale_of(axis);
    }
    return EX_OK;
}

static ex_result read_falloff(exi_project_reader *r, const json_t *value, const exi_place *place,
                              const ex_project_layer *layer, const double **out) {
    const size_t count = (size_t)layer->axis_count;
    double *falloff = exi_arena_allocate(r->keys.arena, count, sizeof *falloff), all = 0;
    if (!falloff)
        return ex_error_memory(r->keys.error, "the project", count * sizeof *falloff);
    ex_result result = EX_OK;
    if (json_is_array(value))
        result = read_list(r, value, place, layer, falloff);
    else if (json_is_object(value))
        result = read_of_axes(r, value, place, layer, falloff);
    else if (json_is_number(value))
        result = read_positive(r, value, place, &all);
    else
        result =
            ex_error_set(r->keys.error, EX_ERROR_DATA,
                         "%s: a number, a list of one number per axis, or an object such as {\"%s\": 30} in the axes' "
                         "units is needed here",
                         place->text, layer->axes[0].name);
    for (size_t i = 0; json_is_number(value) && i < count; i++)
        falloff[i] = all;
    *out = falloff;
    return result;
}

/* ---- metrics ---- */

/* True if Cholesky factors exist. work [n][n] is a copy, and is overwritten. */
static bool is_definite(double *work, size_t n) {
    for (size_t j = 0; j < n; j++) {
        for (size_t k = 0; k < j; k++)
            work[j * n + j] -= work[j * n + k] * work[j * n + k];
        if (!(work[j * n + j] > 0))
            return false;
        work[j * n + j] = sqrt(work[j * n + j]);
        for (size_t i = j + 1; i < n; i++) {
            for (size_t k = 0; k < j; k++)
                work[i * n + j] -= work[i * n + k] * work[j * n + k];
            work[i * n + j] /= work[j * n + j];
        }
    }
    return true;
}

static ex_result read_rows(exi_project_reader *r, const json_t *rows, const exi_place *place, size_t n,
                           double *metric) {
    bool square = json_array_size(rows) == n;
    for (size_t i = 0; square && i < n; i++)
        square = json_array_size(json_array_get(rows, i)) == n;
    if (!square)
        return ex_error_set(r->keys.error, EX_ERROR_DATA,
                            "%s: %zu lists of %zu numbers are needed here, one for each axis that is a number",
                            place->text, n, n);
    for (size_t i = 0; i < n * n; i++) {
        exi_place row = exi_place_index(place, i / n), at = exi_place_index(&row, i % n);
        ex_result result =
            exi_json_number(json_array_get(json_array_get(rows, i / n), i % n), &at, &metric[i], r->keys.error);
        if (result != EX_OK)
            return result;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            const double a = metric[i * n + j], b = metric[j * n + i];
            if (fabs(a - b) > 1e-9 * (fabs(a) + fabs(b)))
                return ex_error_set(r->keys.error, EX_ERROR_DATA,
                                    "%s: a metric must be symmetric, but [%zu][%zu] is %g and [%zu][%zu] is %g",
                                    place->text, i, j, a, j, i, b);
            metric[i * n + j] = b;
        }
    return EX_OK;
}

static ex_result read_metric(exi_project_reader *r, const json_t *value, const exi_place *place,
                             const ex_project_layer *layer, const double **out) {
    static const char *const keys[] = {"scaled", NULL};
    const size_t n = count_scalars(layer);
    const json_t *scaled = json_is_object(value) ? json_object_get(value, "scaled") : NULL;
    exi_place at = scaled ? exi_place_key(place, "scaled") : *place;
    double *metric = exi_arena_allocate(r->keys.arena, n * n, sizeof *metric);
    double *work = exi_arena_allocate(r->keys.arena, n * n, sizeof *work);
    if (n == 0)
        return ex_error_set(
            r->keys.error, EX_ERROR_DATA,
            "%s: a metric is for axes that are numbers, but this space has only rotations: use \"falloff\"",
            place->text);
    if (!metric || !work)
        return ex_error_memory(r->keys.error, "the project", n * n * sizeof *metric);
    ex_result result = json_is_object(value) ? exi_check_keys(&r->keys, value, place, keys) : EX_OK;
    if (result == EX_OK)
        result = read_rows(r, scaled ? scaled : value, &at, n, metric);
    for (int i = 0, row = 0; result == EX_OK && !scaled && i < layer->axis_count; i++) {
        if (layer->axes[i].axis.kind != EX_AXIS_SCALAR)
            continue;
        for (int j = 0, column = 0; j < layer->axis_count; j++)
            if (layer->axes[j].axis.kind == EX_AXIS_SCALAR)
                metric[(size_t)row * n + (size_t)column++] /=
                    scale_of(&layer->axes[i].axis) * scale_of(&layer->axes[j].axis);
        row++;
    }
    if (result == EX_OK) {
        memcpy(work, metric, n * n * sizeof *work);
        if (!is_definite(work, n))
            result = ex_error_set(r->keys.error, EX_ERROR_DATA,
                                  "%s: the matrix is not positive definite, so some distances would not be real",
                                  place->text);
    }
    *out = metric;
    return result;
}

/* ---- all points of a layer ---- */

static ex_result read_reach(exi_project_reader *r, const json_t *object, const exi_place *place,
                            const ex_project_layer *layer, reach *out) {
    const json_t *falloff = json_object_get(object, "falloff"), *metric = json_object_get(object, "metric");
    exi_place falloff_at = exi_place_key(place, "falloff"), metric_at = exi_place_key(place, "metric");
    if ((falloff || metric) && !ex_weigher_kind_info(layer->weigh.kind)->has_falloffs)
        return ex_error_set(r->keys.error, EX_ERROR_DATA,
                            "%s: only the points of a layer with \"weigh\": {\"kind\": "
                            "\"gaussian\"} have this",
                            (falloff ? falloff_at : metric_at).text);
    ex_result result = falloff ? read_falloff(r, falloff, &falloff_at, layer, &out->falloff) : EX_OK;
    return result == EX_OK && metric ? read_metric(r, metric, &metric_at, layer, &out->metric) : result;
}

/* Returns the object of point i in the file; NULL for a zero, which is not in the file. */
static const json_t *object_of(const json_t *layer, const ex_project_layer *view, int i, const exi_place *place,
                               exi_place *at) {
    const bool example = i < view->example_count;
    const exi_place list = exi_place_key(place, example ? "examples" : "pseudo");
    const int number = example ? view->examples[i].place : i - view->example_count;
    *at = exi_place_index(&list, (size_t)number);
    return json_array_get(json_object_get(layer, example ? "examples" : "pseudo"), (size_t)number);
}

/* The layer's values are the defaults of every point, axis by axis. A point's own falloff replaces the layer's
 * metric. falloff, metric: of the point; NULL if no point so far has one. */
static void place_reach(const reach *own, const reach *usual, size_t axes, size_t square, double *falloff,
                        double *metric) {
    const double *m = own->metric ? own->metric : own->falloff ? NULL : usual->metric;
    for (size_t a = 0; falloff && a < axes; a++) {
        if (own->falloff)
            falloff[a] = own->falloff[a];
        if (usual->falloff && !(falloff[a] > 0))
            falloff[a] = usual->falloff[a];
    }
    if (m)
        memcpy(metric, m, square * sizeof *metric);
}

/* Tables are made only if a point needs them: a direct layer may have thousands of axes, and one metric for each. */
static bool need_table(exi_project_reader *r, size_t count, bool needed, double **table) {
    if (needed && !*table)
        *table = exi_arena_allocate(r->keys.arena, count, sizeof **table);
    return !needed || *table;
}

static ex_result read_points(exi_project_reader *r, const json_t *object, const exi_place *place, const reach *usual,
                             ex_project_layer *layer) {
    const size_t axes = (size_t)layer->axis_count, scalars = count_scalars(layer), square = scalars * scalars;
    const size_t count = (size_t)layer->example_count + (size_t)layer->weigh.pseudo_count;
    double *falloffs = NULL, *metrics = NULL;
    for (size_t i = 0; i < count; i++) {
        exi_place at;
        reach own = {0};
        ex_result result = read_reach(r, object_of(object, layer, (int)i, place, &at), &at, layer, &own);
        if (result != EX_OK)
            return result;
        if (!need_table(r, count * axes, own.falloff || usual->falloff, &falloffs) ||
            !need_table(r, count * square, own.metric || usual->metric, &metrics))
            return ex_error_memory(r->keys.error, "the project", count * (axes + square) * sizeof *metrics);
        place_reach(&own, usual, axes, square, falloffs ? falloffs + i * axes : NULL,
                    metrics ? metrics + i * square : NULL);
    }
    layer->weigh.falloffs = falloffs;
    layer->weigh.metrics = metrics;
    return EX_OK;
}

/* Muted points must be valid too, or unmuting them would break the project. */
static ex_result check_muted(exi_project_reader *r, const json_t *object, const exi_place *place,
                             const ex_project_layer *layer) {
    const exi_place list = exi_place_key(place, "examples");
    ex_result result = EX_OK;
    for (int i = 0; result == EX_OK && i < layer->muted_count; i++) {
        const size_t number = (size_t)layer->muted_examples[i].place;
        const exi_place at = exi_place_index(&list, number);
        reach unused = {0};
        result = read_reach(r, json_array_get(json_object_get(object, "examples"), number), &at, layer, &unused);
    }
    return result;
}

ex_result exi_read_falloffs(exi_project_reader *r, const json_t *object, const exi_place *place,
                            ex_project_layer *layer) {
    const json_t *weigh = json_object_get(object, "weigh");
    const json_t *falloff = json_object_get(weigh, "falloff"), *metric = json_object_get(weigh, "metric");
    exi_place at = exi_place_key(place, "weigh"), here = exi_place_key(&at, "falloff");
    reach usual = {0};
    ex_result result = EX_OK;
    if (json_is_string(falloff) && strcmp(json_string_value(falloff), "auto") != 0)
        return ex_error_set(
            r->keys.error, EX_ERROR_DATA,
            "%s: \"auto\", a number, a list of one number per axis, or an object of axis names and numbers "
            "is needed here",
            here.text);
    layer->auto_falloff = json_is_string(falloff);
    if (layer->auto_falloff && exi_project_domain_of(layer)->masked == EXI_MASKED_NOTHING)
        return ex_error_set(r->keys.error, EX_ERROR_DATA, "%s: \"auto\" is for layers of forms: give a number",
                            here.text);
    if (falloff && !layer->auto_falloff)
        result = read_falloff(r, falloff, &here, layer, &usual.falloff);
    here = exi_place_key(&at, "metric");
    if (result == EX_OK && metric)
        result = read_metric(r, metric, &here, layer, &usual.metric);
    if (result == EX_OK)
        result = read_points(r, object, place, &usual, layer);
    return result == EX_OK ? check_muted(r, object, place, layer) : result;
}
