/*
 * Shared by weighers of every kind. A definition is checked and copied into one block, pseudo-examples are turned into
 * rows of weights (Shape by Example, section 4: the rows of F~ are the bases of the real examples alone at the source
 * of a pseudo-example), and the kind solves its own tables.
 */
#include "runtime/weigh/weigher.h"
#include "runtime/weigh/limits.inl"

#include "runtime/base/memory.h"
#include "runtime/base/result.h"

#include <math.h>
#include <string.h>

const char *ex_kernel_name(ex_kernel kernel) {
    static const char *const names[] = {
#define NAME(id, text) text,
        EX_KERNEL_LIST(NAME)
#undef NAME
    };
    return (unsigned)kernel < EX_KERNEL_COUNT ? names[kernel] : "unknown kernel";
}

static const exi_weigher_kind *kind_of(const ex_weigher *w) {
    return exi_weigher_kinds[w->kind];
}

/* ---- checking a definition ---- */

static ex_result check_counts(const ex_weigher_def *def, bool has_points, ex_error *error) {
    if (def->axis_count < 1 || !def->axes)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "a space needs at least one axis");
    if (def->axis_count > EX_AXIS_MAX && has_points)
        return ex_error_set(error, EX_ERROR_LIMIT, "a space has at most %d axes; this one has %d", EX_AXIS_MAX,
                            def->axis_count);
    if (def->example_count < 1)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "a space needs at least one example");
    if (def->pseudo_count < 0)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "the number of pseudo-examples is negative");
    if (def->example_count > EX_POINT_MAX || def->pseudo_count > EX_POINT_MAX - def->example_count)
        return ex_error_set(error, EX_ERROR_LIMIT, "a space holds at most %d examples and pseudo-examples together",
                            EX_POINT_MAX);
    if ((!def->points && has_points) || (!def->pseudos && def->pseudo_count > 0))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "points or pseudo-examples are missing");
    return EX_OK;
}

static const double *first_not_finite(const double *values, int count) {
    for (int i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return values + i;
    return NULL;
}

static ex_result check_points(const ex_weigher_def *def, int dimension, ex_error *error) {
    const bool has_points = ex_weigher_kind_info(def->kind)->has_points;
    for (int i = 0; has_points && i < def->example_count; i++) {
        const double *point = def->points + (size_t)i * (size_t)dimension;
        const double *bad = first_not_finite(point, dimension);
        if (bad && def->names && def->names[i])
            return ex_error_set(error, EX_ERROR_DATA, "example '%s': number %d of its place is not finite",
                                def->names[i], (int)(bad - point) + 1);
        if (bad)
            return ex_error_set(error, EX_ERROR_DATA, "example %d: number %d of its place is not finite", i + 1,
                                (int)(bad - point) + 1);
    }
    for (int i = 0; i < def->pseudo_count; i++) {
        const ex_pseudo *p = &def->pseudos[i];
        if (!p->at || (!p->from == !p->weights))
            return ex_error_set(
                error, EX_ERROR_ARGUMENT,
                "pseudo-example %d needs a place, and either a place to borrow weights from, or weights", i + 1);
        if (first_not_finite(p->at, dimension) || (p->from && first_not_finite(p->from, dimension)) ||
            (p->weights && first_not_finite(p->weights, def->example_count)))
            return ex_error_set(error, EX_ERROR_DATA, "pseudo-example %d holds a number that is not finite", i + 1);
        for (int k = 0; p->weights && k < def->example_count; k++)
            if (fabs(p->weights[k]) > EX_WEIGHT_MAX)
                return ex_error_set(error, EX_ERROR_ARGUMENT,
                                    "pseudo-example %d has a weight of %g: at most %g either way", i + 1, p->weights[k],
                                    EX_WEIGHT_MAX);
    }
    return EX_OK;
}

static ex_result check_axes(const ex_weigher_def *def, int *dimension, ex_error *error) {
    for (int i = 0; i < def->axis_count; i++) {
        const ex_result result = exi_axis_check(&def->axes[i], i, error);
        if (result != EX_OK)
            return result;
        if (def->axes[i].kind == EX_AXIS_DRIVER && !ex_weigher_kind_info(def->kind)->is_driven)
            return ex_error_set(error, EX_ERROR_ARGUMENT,
                                "axis %d is a driver axis, which a %s weigher cannot weigh: use a convex weigher", i,
                                ex_weigher_kind_name(def->kind));
        *dimension += ex_axis_width(&def->axes[i]);
    }
    return EX_OK;
}

static ex_result check_parameters(const ex_weigher_def *def, ex_error *error) {
    const ex_parameter *wrong = ex_weigher_check_parameters(def, error);
    if (!wrong)
        return EX_OK;
    const double value = ex_parameter_get(wrong, def);
    if (wrong->type == EX_PARAMETER_SWITCH)
        return ex_error_within(error, EX_ERROR_ARGUMENT, "%s %s", wrong->name, value != 0 ? "true" : "false");
    return ex_error_within(error, EX_ERROR_ARGUMENT, "%s %g", wrong->name, value);
}

static ex_result check_definition(const ex_weigher_def *def, ex_error *error) {
    const exi_weigher_kind *kind = exi_weigher_kind_of((uint32_t)def->kind);
    if (!kind)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "kind %d is not a kind of weigher", (int)def->kind);
    int dimension = 0;
    ex_result result = check_counts(def, kind->info.has_points, error);
    if (result == EX_OK)
        result = check_axes(def, &dimension, error);
    if (result == EX_OK)
        result = check_parameters(def, error);
    if (result == EX_OK && kind->check)
        result = kind->check(def, error);
    return result == EX_OK ? check_points(def, dimension, error) : result;
}

/* ---- the block ---- */

/* Computes the features of a query, held where axes hold or fade. Returns the factor by which its weights fade. */
static double query_features(const ex_weigher *w, const double *point, double *features) {
    double clean[EXI_FEATURE_MAX];
    exi_point_clean(w, point, clean);
    exi_point_features(w, clean, features);
    if (!(w->flags & EXI_WEIGHER_LIMITS))
        return 1;
    const exi_limit_record *limit = exi_limits(w);
    double factor = exi_limit_rotations(w, features);
    for (int i = 0, scalar = 0; i < w->axis_count; i++)
        if (exi_axes(w)[i].kind == EX_AXIS_SCALAR)
            factor *= exi_limit_scalar(&limit[i], &features[scalar++]);
    return factor;
}

static void fade(double *weights, size_t count, double factor) {
    for (size_t i = 0; factor < 1 && i < count; i++)
        weights[i] *= factor;
}

/* Returns the length of the table of sets. */
static size_t set_table_count(const ex_weigher *w) {
    return (size_t)w->set_count * (exi_set_words(w->example_count) + 1) + (size_t)w->set_weight_count;
}

bool exi_weigher_layout(ex_weigher *w) {
    const size_t n = (size_t)exi_point_count(w), p = (size_t)w->pseudo_count, d = (size_t)w->dimension;
    const exi_weigher_kind *kind = kind_of(w);
    const bool has_points = kind->info.has_points;
    exi_size total = {.bytes = sizeof *w};
    w->axes = exi_size_add(&total, (size_t)w->axis_count, sizeof(exi_axis_record), 8);
    w->rotations = exi_size_add(&total, (size_t)w->rotation_count, sizeof(exi_rotation_metric), 8);
    w->sets = exi_size_add(&total, (set_table_count(w) + 1) / 2, sizeof(double), 8);
    w->points = exi_size_add(&total, has_points ? n * d : 0, sizeof(double), 8);
    w->pseudo_from = exi_size_add(&total, p * d, sizeof(double), 8);
    w->pseudo_given = exi_size_add(&total, p, sizeof(double), 8);
    w->pseudo_rows = exi_size_add(&total, p * (size_t)w->example_count, sizeof(double), 8);
    w->features = exi_size_add(&total, has_points ? n * (size_t)w->feature_count : 0, sizeof(double), 8);
    exi_size_add(&total, (size_t)exi_own_parameter_count(w->kind), sizeof(double), 8);
    w->own = exi_size_add(&total, kind->own_count ? kind->own_count(w) : 0, sizeof(double), 8);
    exi_size_add(&total, w->flags & EXI_WEIGHER_LIMITS ? (size_t)w->axis_count : 0, sizeof(exi_limit_record), 8);
    w->size = total.bytes;
    return !total.overflow;
}

static ex_weigher make_head(const ex_weigher_def *def) {
    ex_weigher head = {.kind = (uint32_t)def->kind,
                       .axis_count = def->axis_count,
                       .example_count = def->example_count,
                       .pseudo_count = def->pseudo_count};
    const exi_weigher_kind *kind = kind_of(&head);
    /* Parameters of other kinds stay zero, so that they cannot make two equal weighers differ. */
    exi_parameters_to_head(&head, def);
    head.flags |= kind->angular ? EXI_WEIGHER_ANGULAR : 0;
    head.flags |= exi_limits_needed(kind, def->axes, def->axis_count) ? EXI_WEIGHER_LIMITS : 0;
    for (int i = 0; i < def->axis_count; i++) {
        head.dimension += ex_axis_width(&def->axes[i]);
        head.scalar_count += def->axes[i].kind == EX_AXIS_SCALAR;
        head.rotation_count += exi_is_rotation(def->axes[i].kind);
        head.feature_count += exi_feature_width(def->axes[i].kind);
    }
    if (kind->count)
        kind->count(&head, def);
    return head;
}

static void store_axes(ex_weigher *w, const ex_weigher_def *def) {
    exi_axis_record *axis = (exi_axis_record *)(void *)exi_table_mut(w, w->axes);
    exi_rotation_metric *rotation = (exi_rotation_metric *)(void *)exi_table_mut(w, w->rotations);
    for (int i = 0; i < def->axis_count; i++) {
        axis[i] = exi_axis_store(&def->axes[i], kind_of(w)->angular);
        if (exi_is_rotation(def->axes[i].kind))
            *rotation++ = (exi_rotation_metric){exi_feature_width(def->axes[i].kind), axis[i].true_scale};
    }
}

static void store_points(ex_weigher *w, const ex_weigher_def *def) {
    const size_t d = (size_t)w->dimension, n = (size_t)w->example_count;
    double *points = exi_table_mut(w, w->points), *from = exi_table_mut(w, w->pseudo_from);
    double *given = exi_table_mut(w, w->pseudo_given), *rows = exi_table_mut(w, w->pseudo_rows);
    if (!kind_of(w)->info.has_points)
        return;
    memcpy(points, def->points, n * d * sizeof *points);
    for (size_t i = 0; i < (size_t)w->pseudo_count; i++) {
        const ex_pseudo *p = &def->pseudos[i];
        memcpy(points + (n + i) * d, p->at, d * sizeof *points);
        given[i] = p->weights != NULL;
        if (p->weights)
            memcpy(rows + i * n, p->weights, n * sizeof *rows);
        else
            memcpy(from + i * d, p->from, d * sizeof *from);
    }
    double clean[EXI_FEATURE_MAX];
    for (int i = 0; i < exi_point_count(w); i++) {
        exi_point_clean(w, points + (size_t)i * d, clean);
        exi_point_features(w, clean, exi_table_mut(w, w->features) + (size_t)i * (size_t)w->feature_count);
    }
}

/* Computes the row of a pseudo-example from the weigher of the real examples. */
static void draw_row(const ex_weigher *real, const double *from, double *row) {
    double features[EXI_FEATURE_MAX];
    if (!kind_of(real)->draw) {
        ex_weigher_evaluate(real, from, row);
        return;
    }
    (void)query_features(real, from, features);
    kind_of(real)->draw(real, features, row);
}

/* Computes the weights of the real examples alone at the sources of pseudo-examples. */
static ex_result resolve_pseudos(ex_weigher *w, const ex_weigher_def *def, const ex_allocator *allocator,
                                 ex_error *error) {
    bool needed = false;
    for (int i = 0; i < def->pseudo_count; i++)
        needed = needed || def->pseudos[i].from;
    if (!needed)
        return EX_OK;
    ex_weigher_def real = *def;
    real.pseudos = NULL;
    real.pseudo_count = 0;
    ex_weigher *weigher = NULL;
    const size_t size = (size_t)w->set_weight_count * sizeof(double);
    double *set_weights = size > 0 ? exi_allocate(allocator, size) : NULL;
    if (size > 0 && !set_weights)
        return ex_error_memory(error, "pseudo-examples in sets", size);
    ex_result result = ex_weigher_create(&real, allocator, &weigher, error);
    for (int i = 0; result == EX_OK && i < def->pseudo_count; i++) {
        double *row = exi_table_mut(w, w->pseudo_rows) + (size_t)i * (size_t)w->example_count;
        if (!def->pseudos[i].from)
            continue;
        if (!set_weights) {
            draw_row(weigher, def->pseudos[i].from, row);
            continue;
        }
        ex_weigher_evaluate_sets(weigher, def->pseudos[i].from, row, set_weights);
        kind_of(w)->draw_sets(w, i, set_weights);
    }
    ex_weigher_destroy(weigher);
    if (set_weights)
        exi_release(allocator, set_weights, size);
    return result;
}

ex_result ex_weigher_create(const ex_weigher_def *def, const ex_allocator *allocator, ex_weigher **weigher,
                            ex_error *error) {
    if (!def || !weigher)
        return exi_misuse_error(error, __func__, "no definition, or no pointer for the weigher");
    return exi_weigher_create_from(def, NULL, NULL, allocator, weigher, error);
}

ex_result exi_weigher_create_from(const ex_weigher_def *def, const ex_weigher *old, const int *origins,
                                  const ex_allocator *allocator, ex_weigher **weigher, ex_error *error) {
    *weigher = NULL;
    ex_result result = check_definition(def, error);
    if (result != EX_OK)
        return result;
    ex_weigher head = make_head(def);
    if (!exi_weigher_layout(&head))
        return ex_error_set(error, EX_ERROR_LIMIT, "the space is too large");
    ex_weigher *w = exi_block_create(allocator, (size_t)head.size);
    if (!w)
        return ex_error_memory(error, "a space", (size_t)head.size);
    *w = head;
    store_axes(w, def);
    store_points(w, def);
    if (w->flags & EXI_WEIGHER_LIMITS)
        exi_limits_set(w);
    exi_parameters_store(w, def);
    if (kind_of(w)->store)
        kind_of(w)->store(w, def);
    result = resolve_pseudos(w, def, allocator, error);
    bool done = false;
    if (result == EX_OK && old && kind_of(w)->resolve)
        result = kind_of(w)->resolve(w, old, origins, allocator, &done, error);
    if (result == EX_OK && !done && kind_of(w)->solve)
        result = kind_of(w)->solve(w, def->names, allocator, error);
    if (result != EX_OK) {
        ex_weigher_destroy(w);
        return result;
    }
    *weigher = w;
    return EX_OK;
}

void ex_weigher_destroy(ex_weigher *weigher) {
    exi_block_destroy(weigher);
}

/* ---- evaluation ---- */

void exi_spread_share(const ex_weigher *w, int point, double share, double *weights) {
    if (point < w->example_count) {
        weights[point] += share;
        return;
    }
    const double *row = exi_table(w, w->pseudo_rows) + (size_t)(point - w->example_count) * (size_t)w->example_count;
    for (int i = 0; i < w->example_count; i++)
        weights[i] += share * row[i];
}

static void evaluate(const ex_weigher *w, const double *point, double *weights, void *state, void *scratch) {
    const exi_weigher_kind *kind = kind_of(w);
    double clean[EXI_FEATURE_MAX], features[EXI_FEATURE_MAX];
    if (kind->evaluate) {
        const double factor = query_features(w, point, features);
        kind->evaluate(w, features, weights);
        fade(weights, (size_t)w->example_count, factor);
    } else if (kind->evaluate_point) {
        exi_point_clean(w, point, clean);
        kind->evaluate_point(w, clean, weights, state, scratch);
    } else {
        exi_point_clean(w, point, weights);
    }
}

void ex_weigher_evaluate(const ex_weigher *weigher, const double *point, double *weights) {
    if (!weigher || !weights)
        exi_misuse(__func__, "no weigher, or no pointer for the weights");
    else
        evaluate(weigher, point, weights, NULL, NULL);
}

void ex_weigher_evaluate_from(const ex_weigher *weigher, const double *point, double *weights, void *state,
                              void *scratch) {
    if (!weigher || !weights)
        exi_misuse(__func__, "no weigher, or no pointer for the weights");
    else
        evaluate(weigher, point, weights, state, scratch);
}

void ex_weigher_evaluate_many(const ex_weigher *weigher, int count, const double *points, double *weights) {
    if (!weigher || count < 0 || (count > 0 && (!points || !weights))) {
        exi_misuse(__func__, "no weigher, points or weights, or a negative number of points");
        return;
    }
    for (size_t i = 0; i < (size_t)count; i++)
        evaluate(weigher, points + i * (size_t)weigher->dimension, weights + i * (size_t)weigher->example_count, NULL,
                 NULL);
}

static bool is_there(const ex_weigher *weigher, const char *function) {
    return exi_is_given(weigher, function, "no weigher");
}

size_t ex_weigher_state_size(const ex_weigher *weigher) {
    return is_there(weigher, __func__) && kind_of(weigher)->state_size ? kind_of(weigher)->state_size(weigher) : 0;
}

size_t ex_weigher_scratch_size(const ex_weigher *weigher) {
    return is_there(weigher, __func__) && kind_of(weigher)->scratch_size ? kind_of(weigher)->scratch_size(weigher) : 0;
}

void ex_weigher_evaluate_sets(const ex_weigher *weigher, const double *point, double *weights, double *set_weights) {
    if (!weigher || (!set_weights && weigher->set_count > 0)) {
        exi_misuse(__func__, "no weigher, or no pointer for the weights");
        return;
    }
    if (weigher->set_count == 0) {
        if (weights)
            ex_weigher_evaluate(weigher, point, weights);
        return;
    }
    double features[EXI_FEATURE_MAX];
    const double factor = query_features(weigher, point, features);
    kind_of(weigher)->evaluate_sets(weigher, features, weights, set_weights);
    fade(set_weights, (size_t)weigher->set_weight_count, factor);
    if (weights)
        fade(weights, (size_t)weigher->example_count, factor);
}

/* ---- access ---- */

ex_weigher_kind ex_weigher_get_kind(const ex_weigher *weigher) {
    return is_there(weigher, __func__) ? (ex_weigher_kind)weigher->kind : (ex_weigher_kind)0;
}

int ex_weigher_axis_count(const ex_weigher *weigher) {
    return is_there(weigher, __func__) ? weigher->axis_count : 0;
}

int ex_weigher_example_count(const ex_weigher *weigher) {
    return is_there(weigher, __func__) ? weigher->example_count : 0;
}

int ex_weigher_pseudo_count(const ex_weigher *weigher) {
    return is_there(weigher, __func__) ? weigher->pseudo_count : 0;
}

int ex_weigher_dimension(const ex_weigher *weigher) {
    return is_there(weigher, __func__) ? weigher->dimension : 0;
}

const double *ex_weigher_point(const ex_weigher *weigher, int index) {
    if (!is_there(weigher, __func__) || !kind_of(weigher)->info.has_points || index < 0 ||
        index >= exi_point_count(weigher))
        return NULL;
    return exi_table(weigher, weigher->points) + (size_t)index * (size_t)weigher->dimension;
}

int ex_weigher_set_weight_count(const ex_weigher *weigher) {
    return is_there(weigher, __func__) ? (int)weigher->set_weight_count : 0;
}

double ex_weigher_distance(const ex_weigher *weigher, const double *a, const double *b) {
    if (!is_there(weigher, __func__) || !kind_of(weigher)->info.has_points)
        return 0;
    double clean[EXI_FEATURE_MAX], features[2][EXI_FEATURE_MAX];
    exi_point_clean(weigher, a, clean);
    exi_point_features(weigher, clean, features[0]);
    exi_point_clean(weigher, b, clean);
    exi_point_features(weigher, clean, features[1]);
    return exi_feature_distance(weigher, features[0], features[1]);
}

ex_result ex_weigher_condition(const ex_weigher *weigher, const ex_allocator *allocator, double *condition,
                               ex_error *error) {
    if (!weigher || !condition)
        return exi_misuse_error(error, __func__, "no weigher, or no pointer for the condition");
    *condition = 1;
    return kind_of(weigher)->condition ? kind_of(weigher)->condition(weigher, allocator, condition, error) : EX_OK;
}

ex_ridge ex_weigher_get_ridge(const ex_weigher *weigher) {
    if (!is_there(weigher, __func__))
        return (ex_ridge){.point = -1};
    if (kind_of(weigher)->get_ridge)
        return kind_of(weigher)->get_ridge(weigher);
    return (ex_ridge){.ridge = weigher->ridge, .condition = 1, .point = -1};
}

void ex_weigher_describe(const ex_weigher *weigher, ex_weigher_def *def, ex_axis *axes, ex_pseudo *pseudos) {
    const ex_weigher *w = weigher;
    if (!weigher || !def) {
        exi_misuse(__func__, "no weigher, or no pointer for the definition");
        return;
    }
    *def = ex_weigher_def_default();
    def->kind = (ex_weigher_kind)w->kind;
    def->axis_count = w->axis_count;
    def->example_count = w->example_count;
    def->pseudo_count = w->pseudo_count;
    def->axes = axes;
    def->pseudos = pseudos;
    def->points = ex_weigher_point(w, 0);
    exi_parameters_describe(w, def);
    if (kind_of(w)->describe)
        kind_of(w)->describe(w, def);
    for (int i = 0; axes && i < w->axis_count; i++)
        axes[i] = exi_axis_restore(&exi_axes(w)[i]);
    for (int i = 0; pseudos && i < w->pseudo_count; i++) {
        bool given = exi_table(w, w->pseudo_given)[i] != 0;
        size_t row = (size_t)i;
        pseudos[i].at = ex_weigher_point(w, w->example_count + i);
        pseudos[i].from = given ? NULL : exi_table(w, w->pseudo_from) + row * (size_t)w->dimension;
        pseudos[i].weights = given ? exi_table(w, w->pseudo_rows) + row * (size_t)w->example_count : NULL;
    }
}
