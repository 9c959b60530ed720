/*
 * Weighers of every kind: what they share. A definition is checked and copied into one block, pseudo-examples are
 * turned into rows of weights (Shape by Example, section 4: the rows of F~ are the bases of the real examples alone at
 * the place a pseudo-example was taken from), and the kind solves its own tables.
 */
#include "runtime/weigh/weigher.h"

#include "runtime/base/memory.h"
#include "runtime/base/result.h"

#include <math.h>
#include <string.h>

static const exi_weigher_kind *const kinds[EX_WEIGHER_COUNT] = {
    [EX_WEIGHER_CARDINAL] = &exi_weigher_cardinal, [EX_WEIGHER_DIRECT] = &exi_weigher_direct,
    [EX_WEIGHER_SHEPARD] = &exi_weigher_shepard,   [EX_WEIGHER_NEAREST] = &exi_weigher_nearest,
    [EX_WEIGHER_GAUSSIAN] = &exi_weigher_gaussian, [EX_WEIGHER_CONVEX] = &exi_weigher_convex,
};

const char *ex_kernel_name(ex_kernel kernel) {
    static const char *const names[] = {
#define NAME(id, text) text,
        EX_KERNEL_LIST(NAME)
#undef NAME
    };
    return (unsigned)kernel < EX_KERNEL_COUNT ? names[kernel] : "unknown kernel";
}

const char *ex_weigher_kind_name(ex_weigher_kind kind) {
    static const char *const names[] = {
#define NAME(id, text) text,
        EX_WEIGHER_LIST(NAME)
#undef NAME
    };
    return (unsigned)kind < EX_WEIGHER_COUNT ? names[kind] : "unknown weigher";
}

ex_weigher_def ex_weigher_def_default(void) {
    return (ex_weigher_def){.kind = EX_WEIGHER_CARDINAL,
                            .kernel = EX_KERNEL_BSPLINE,
                            .linear = true,
                            .radius = 1,
                            .power = 2,
                            .neighbours = 8};
}

/* ---- checking a definition ---- */

static ex_result check_counts(const ex_weigher_def *def, ex_error *error) {
    if ((unsigned)def->kind >= EX_WEIGHER_COUNT)
        return exi_error(error, EX_ERROR_ARGUMENT, "kind %d is not a kind of weigher", (int)def->kind);
    if (def->axis_count < 1 || !def->axes)
        return exi_error(error, EX_ERROR_ARGUMENT, "a space needs at least one axis");
    if (def->axis_count > EX_AXIS_MAX && kinds[def->kind]->has_points)
        return exi_error(error, EX_ERROR_LIMIT, "a space has at most %d axes, this one %d", EX_AXIS_MAX,
                         def->axis_count);
    if (def->example_count < 1)
        return exi_error(error, EX_ERROR_ARGUMENT, "a space needs at least one example");
    if (def->pseudo_count < 0)
        return exi_error(error, EX_ERROR_ARGUMENT, "the number of pseudo-examples is negative");
    if (def->example_count > EX_POINT_MAX || def->pseudo_count > EX_POINT_MAX - def->example_count)
        return exi_error(error, EX_ERROR_LIMIT, "a space holds at most %d examples and pseudo-examples together",
                         EX_POINT_MAX);
    if ((!def->points && kinds[def->kind]->has_points) || (!def->pseudos && def->pseudo_count > 0))
        return exi_error(error, EX_ERROR_ARGUMENT, "points or pseudo-examples are missing");
    return EX_OK;
}

static const double *first_not_finite(const double *values, int count) {
    for (int i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return values + i;
    return NULL;
}

static ex_result check_points(const ex_weigher_def *def, int dimension, ex_error *error) {
    for (int i = 0; kinds[def->kind]->has_points && i < def->example_count; i++) {
        const double *point = def->points + (size_t)i * (size_t)dimension;
        const double *bad = first_not_finite(point, dimension);
        if (bad && def->names && def->names[i])
            return exi_error(error, EX_ERROR_DATA, "example '%s': number %d of its place is not finite", def->names[i],
                             (int)(bad - point));
        if (bad)
            return exi_error(error, EX_ERROR_DATA, "example %d: number %d of its place is not finite", i,
                             (int)(bad - point));
    }
    for (int i = 0; i < def->pseudo_count; i++) {
        const ex_pseudo *p = &def->pseudos[i];
        if (!p->at || (!p->from == !p->weights))
            return exi_error(error, EX_ERROR_ARGUMENT,
                             "pseudo-example %d needs a place, and either where it is drawn from or its weights", i);
        if (first_not_finite(p->at, dimension) || (p->from && first_not_finite(p->from, dimension)) ||
            (p->weights && first_not_finite(p->weights, def->example_count)))
            return exi_error(error, EX_ERROR_DATA, "pseudo-example %d holds a number that is not finite", i);
        for (int k = 0; p->weights && k < def->example_count; k++)
            if (fabs(p->weights[k]) > EX_WEIGHT_MAX)
                return exi_error(error, EX_ERROR_ARGUMENT,
                                 "pseudo-example %d has a weight of %g: at most %g either way", i, p->weights[k],
                                 EX_WEIGHT_MAX);
    }
    return EX_OK;
}

static ex_result check_definition(const ex_weigher_def *def, ex_error *error) {
    ex_result result = check_counts(def, error);
    int dimension = 0;
    for (int i = 0; result == EX_OK && i < def->axis_count; i++) {
        result = exi_axis_check(&def->axes[i], i, error);
        dimension += result == EX_OK ? ex_axis_width(&def->axes[i]) : 0;
        if (result == EX_OK && def->axes[i].kind == EX_AXIS_DRIVER && def->kind != EX_WEIGHER_CONVEX)
            result = exi_error(error, EX_ERROR_ARGUMENT,
                               "axis %d is a driver's form, which only a convex weigher weighs", i);
    }
    if (result == EX_OK)
        result = kinds[def->kind]->check(def, error);
    return result == EX_OK ? check_points(def, dimension, error) : result;
}

/* ---- the block ---- */

/* Numbers in the table of sets. */
static size_t set_table_count(const ex_weigher *w) {
    return (size_t)w->set_count * (exi_set_words(w->example_count) + 1) + (size_t)w->set_weight_count;
}

bool exi_weigher_layout(ex_weigher *w) {
    const size_t n = (size_t)exi_point_count(w), p = (size_t)w->pseudo_count, d = (size_t)w->dimension;
    const bool has_points = kinds[w->kind]->has_points;
    exi_size total = {.bytes = sizeof *w};
    w->axes = exi_size_add(&total, (size_t)w->axis_count, sizeof(exi_axis_record), 8);
    w->rotations = exi_size_add(&total, (size_t)w->rotation_count, sizeof(exi_rotation_metric), 8);
    w->sets = exi_size_add(&total, (set_table_count(w) + 1) / 2, sizeof(double), 8);
    w->points = exi_size_add(&total, has_points ? n * d : 0, sizeof(double), 8);
    w->pseudo_from = exi_size_add(&total, p * d, sizeof(double), 8);
    w->pseudo_given = exi_size_add(&total, p, sizeof(double), 8);
    w->pseudo_rows = exi_size_add(&total, p * (size_t)w->example_count, sizeof(double), 8);
    w->features = exi_size_add(&total, has_points ? n * (size_t)w->feature_count : 0, sizeof(double), 8);
    w->own = exi_size_add(&total, kinds[w->kind]->own_count ? kinds[w->kind]->own_count(w) : 0, sizeof(double), 8);
    w->size = total.bytes;
    return !total.overflow;
}

static ex_weigher make_head(const ex_weigher_def *def) {
    ex_weigher head = {.kind = (uint32_t)def->kind,
                       .axis_count = def->axis_count,
                       .example_count = def->example_count,
                       .pseudo_count = def->pseudo_count};
    /* Parameters of other kinds are left at zero, so that they cannot make two equal weighers differ. */
    if (def->kind == EX_WEIGHER_CARDINAL) {
        head.kernel = (uint32_t)def->kernel;
        head.flags = def->linear ? EXI_WEIGHER_LINEAR : 0;
        head.radius = def->radius;
        head.ridge = def->ridge;
    } else if (def->kind == EX_WEIGHER_SHEPARD) {
        head.power = def->power;
    } else if (def->kind == EX_WEIGHER_NEAREST) {
        head.neighbours = def->neighbours;
        head.flags = def->paper_form ? EXI_WEIGHER_PAPER_FORM : 0;
    } else if (def->kind == EX_WEIGHER_GAUSSIAN) {
        head.ridge = def->ridge;
        exi_gaussian_head(&head, def);
    } else if (def->kind == EX_WEIGHER_CONVEX) {
        head.ridge = def->ridge;
    }
    if (kinds[def->kind]->angular)
        head.flags |= EXI_WEIGHER_ANGULAR;
    for (int i = 0; i < def->axis_count; i++) {
        head.dimension += ex_axis_width(&def->axes[i]);
        head.scalar_count += def->axes[i].kind == EX_AXIS_SCALAR;
        head.rotation_count += exi_is_rotation(def->axes[i].kind);
        head.feature_count += exi_feature_width(def->axes[i].kind);
    }
    return head;
}

static void store_axes(ex_weigher *w, const ex_weigher_def *def) {
    exi_axis_record *axis = (exi_axis_record *)(void *)exi_table_mut(w, w->axes);
    exi_rotation_metric *rotation = (exi_rotation_metric *)(void *)exi_table_mut(w, w->rotations);
    for (int i = 0; i < def->axis_count; i++) {
        axis[i] = exi_axis_store(&def->axes[i], kinds[w->kind]->angular);
        if (exi_is_rotation(def->axes[i].kind))
            *rotation++ = (exi_rotation_metric){exi_feature_width(def->axes[i].kind), axis[i].true_scale};
    }
}

static void store_points(ex_weigher *w, const ex_weigher_def *def) {
    const size_t d = (size_t)w->dimension, n = (size_t)w->example_count;
    double *points = exi_table_mut(w, w->points), *from = exi_table_mut(w, w->pseudo_from);
    double *given = exi_table_mut(w, w->pseudo_given), *rows = exi_table_mut(w, w->pseudo_rows);
    if (!kinds[w->kind]->has_points)
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

/* Weights of the real examples alone at the places that pseudo-examples are drawn from. */
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
        return exi_error_memory(error, "pseudo-examples in sets", size);
    ex_result result = ex_weigher_create(&real, allocator, &weigher, error);
    for (int i = 0; result == EX_OK && i < def->pseudo_count; i++) {
        double *row = exi_table_mut(w, w->pseudo_rows) + (size_t)i * (size_t)w->example_count;
        if (!def->pseudos[i].from)
            continue;
        if (!set_weights) {
            ex_weigher_evaluate(weigher, def->pseudos[i].from, row);
            continue;
        }
        ex_weigher_evaluate_sets(weigher, def->pseudos[i].from, row, set_weights);
        exi_gaussian_set_drawn(w, i, set_weights);
    }
    ex_weigher_destroy(weigher);
    if (set_weights)
        exi_release(allocator, set_weights, size);
    return result;
}

ex_result ex_weigher_create(const ex_weigher_def *def, const ex_allocator *allocator, ex_weigher **weigher,
                            ex_error *error) {
    if (!def || !weigher)
        return exi_misuse_error(error, __func__, "no definition, or nowhere to put the weigher");
    *weigher = NULL;
    ex_result result = check_definition(def, error);
    if (result != EX_OK)
        return result;
    ex_weigher head = make_head(def);
    if (!exi_weigher_layout(&head))
        return exi_error(error, EX_ERROR_LIMIT, "the space is too large");
    ex_weigher *w = exi_block_create(allocator, (size_t)head.size);
    if (!w)
        return exi_error_memory(error, "a space", (size_t)head.size);
    *w = head;
    store_axes(w, def);
    store_points(w, def);
    if (w->kind == EX_WEIGHER_GAUSSIAN)
        exi_gaussian_store(w, def);
    result = resolve_pseudos(w, def, allocator, error);
    if (result == EX_OK && kinds[w->kind]->solve)
        result = kinds[w->kind]->solve(w, def->names, allocator, error);
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

static void evaluate_convex(const ex_weigher *w, const double *point, double *weights, void *state, void *scratch) {
    double clean[EXI_FEATURE_MAX];
    exi_point_clean(w, point, clean);
    exi_convex_evaluate(w, clean, weights, state, scratch);
}

static void evaluate_features(const ex_weigher *w, const double *point, double *weights) {
    double clean[EXI_FEATURE_MAX], features[EXI_FEATURE_MAX];
    exi_point_clean(w, point, clean);
    exi_point_features(w, clean, features);
    kinds[w->kind]->evaluate(w, features, weights);
}

void ex_weigher_evaluate(const ex_weigher *weigher, const double *point, double *weights) {
    if (!weigher || !weights) {
        exi_misuse(__func__, "no weigher, or nowhere to put the weights");
        return;
    }
    if (!kinds[weigher->kind]->has_points)
        exi_point_clean(weigher, point, weights);
    else if (weigher->kind == EX_WEIGHER_CONVEX)
        evaluate_convex(weigher, point, weights, NULL, NULL);
    else
        evaluate_features(weigher, point, weights);
}

void ex_weigher_evaluate_from(const ex_weigher *weigher, const double *point, double *weights, void *state,
                              void *scratch) {
    if (!weigher || !weights || weigher->kind != EX_WEIGHER_CONVEX)
        ex_weigher_evaluate(weigher, point, weights);
    else
        evaluate_convex(weigher, point, weights, state, scratch);
}

void ex_weigher_evaluate_sets(const ex_weigher *weigher, const double *point, double *weights, double *set_weights) {
    if (!weigher || (!set_weights && weigher->set_count > 0)) {
        exi_misuse(__func__, "no weigher, or nowhere to put the weights");
        return;
    }
    if (weigher->set_count == 0) {
        if (weights)
            ex_weigher_evaluate(weigher, point, weights);
        return;
    }
    double clean[EXI_FEATURE_MAX], features[EXI_FEATURE_MAX];
    exi_point_clean(weigher, point, clean);
    exi_point_features(weigher, clean, features);
    exi_gaussian_evaluate_sets(weigher, features, weights, set_weights);
}

/* ---- looking inside ---- */

ex_weigher_kind ex_weigher_get_kind(const ex_weigher *weigher) {
    return (ex_weigher_kind)weigher->kind;
}

int ex_weigher_axis_count(const ex_weigher *weigher) {
    return weigher->axis_count;
}

int ex_weigher_example_count(const ex_weigher *weigher) {
    return weigher->example_count;
}

int ex_weigher_pseudo_count(const ex_weigher *weigher) {
    return weigher->pseudo_count;
}

int ex_weigher_dimension(const ex_weigher *weigher) {
    return weigher->dimension;
}

const double *ex_weigher_point(const ex_weigher *weigher, int index) {
    if (!kinds[weigher->kind]->has_points || index < 0 || index >= exi_point_count(weigher))
        return NULL;
    return exi_table(weigher, weigher->points) + (size_t)index * (size_t)weigher->dimension;
}

int ex_weigher_set_weight_count(const ex_weigher *weigher) {
    return (int)weigher->set_weight_count;
}

double ex_weigher_distance(const ex_weigher *weigher, const double *a, const double *b) {
    if (!kinds[weigher->kind]->has_points)
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
    *condition = 1;
    if (weigher->kind == EX_WEIGHER_GAUSSIAN)
        return exi_gaussian_condition(weigher, allocator, condition, error);
    if (weigher->kind != EX_WEIGHER_CARDINAL)
        return EX_OK;
    return exi_cardinal_condition(weigher, allocator, condition, error);
}

void ex_weigher_describe(const ex_weigher *weigher, ex_weigher_def *def, ex_axis *axes, ex_pseudo *pseudos) {
    const ex_weigher *w = weigher;
    *def = ex_weigher_def_default();
    def->kind = (ex_weigher_kind)w->kind;
    def->axis_count = w->axis_count;
    def->example_count = w->example_count;
    def->pseudo_count = w->pseudo_count;
    def->axes = axes;
    def->pseudos = pseudos;
    def->points = ex_weigher_point(w, 0);
    if (w->kind == EX_WEIGHER_CARDINAL) {
        def->kernel = (ex_kernel)w->kernel;
        def->linear = (w->flags & EXI_WEIGHER_LINEAR) != 0;
        def->radius = w->radius;
        def->ridge = w->ridge;
    } else if (w->kind == EX_WEIGHER_SHEPARD) {
        def->power = w->power;
    } else if (w->kind == EX_WEIGHER_NEAREST) {
        def->neighbours = w->neighbours;
        def->paper_form = (w->flags & EXI_WEIGHER_PAPER_FORM) != 0;
    } else if (w->kind == EX_WEIGHER_GAUSSIAN) {
        def->ridge = w->ridge;
        exi_gaussian_describe(w, def);
    } else if (w->kind == EX_WEIGHER_CONVEX) {
        def->ridge = w->ridge;
    }
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
