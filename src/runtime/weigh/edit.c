/*
 * Edits of a space: the definition inside a weigher is copied, changed, and solved again into a new weigher. The old
 * one does not change, so a frame that is being drawn with it is not disturbed. Falloffs and metrics, which some kinds
 * have for every point, and sets of examples follow the points.
 */
#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/weigh/weigher.h"

#include <string.h>

/* A definition that can grow: every array has room for all the edits. */
typedef struct draft {
    int dimension, example_count, pseudo_count;
    int row_count, row_size; /* room in rows */
    double *points;          /* [..][dimension] */
    double *at, *from;       /* [..][dimension] */
    double *rows;            /* [row_count][row_size], zero where nothing was given */
    bool *given;             /* [..] */
    int *origins;            /* [row_size + row_count]: the old point that a point is, or -1 */
    ex_pseudo *pseudos;      /* [..] */
    ex_axis *axes;
    /* Kinds without falloffs have axis_count 0 here, and no metrics and sets. Pseudo-examples come after row_size. */
    int axis_count, metric_size; /* numbers per point in these: */
    double *falloffs, *metrics;  /* [row_size + row_count][..] */
    int set_count, words;        /* words of a set that has row_size examples */
    uint32_t *sets;              /* [set_count][words] */
    void *memory;
    size_t size;
} draft;

static ex_result open_draft(const ex_weigher *w, int edit_count, const ex_allocator *allocator, draft *d,
                            ex_error *error) {
    size_t dimension = (size_t)w->dimension;
    size_t examples = (size_t)w->example_count + (size_t)edit_count;
    size_t pseudos = (size_t)w->pseudo_count + (size_t)edit_count;
    exi_size total = {0};
    size_t points = exi_size_add(&total, examples * dimension, sizeof(double), 8);
    size_t at = exi_size_add(&total, pseudos * dimension, sizeof(double), 8);
    size_t from = exi_size_add(&total, pseudos * dimension, sizeof(double), 8);
    size_t rows = exi_size_add(&total, pseudos * examples, sizeof(double), 8);
    size_t list = exi_size_add(&total, pseudos, sizeof(ex_pseudo), 8);
    const bool has_falloffs = exi_weigher_kind_of(w->kind)->info.has_falloffs;
    size_t axis_count = has_falloffs ? (size_t)w->axis_count : 0, words = exi_set_words((int)examples);
    size_t metric_size = w->flags & EXI_WEIGHER_METRICS ? (size_t)w->scalar_count * (size_t)w->scalar_count : 0;
    size_t falloffs = exi_size_add(&total, (examples + pseudos) * axis_count, sizeof(double), 8);
    size_t metrics = exi_size_add(&total, (examples + pseudos) * metric_size, sizeof(double), 8);
    size_t sets = exi_size_add(&total, (size_t)w->set_count * words, sizeof(uint32_t), 8);
    size_t axes = exi_size_add(&total, (size_t)w->axis_count, sizeof(ex_axis), 8);
    size_t origins = exi_size_add(&total, examples + pseudos, sizeof(int), 8);
    size_t given = exi_size_add(&total, pseudos, sizeof(bool), 1);
    char *memory = total.overflow ? NULL : exi_allocate(allocator, total.bytes);
    if (!memory)
        return ex_error_memory(error, "editing a space", total.bytes);
    *d = (draft){.dimension = w->dimension,
                 .example_count = w->example_count,
                 .pseudo_count = w->pseudo_count,
                 .row_count = (int)pseudos,
                 .row_size = (int)examples,
                 .points = (double *)(void *)(memory + points),
                 .at = (double *)(void *)(memory + at),
                 .from = (double *)(void *)(memory + from),
                 .rows = (double *)(void *)(memory + rows),
                 .given = (bool *)(void *)(memory + given),
                 .origins = (int *)(void *)(memory + origins),
                 .pseudos = (ex_pseudo *)(void *)(memory + list),
                 .axes = (ex_axis *)(void *)(memory + axes),
                 .axis_count = (int)axis_count,
                 .metric_size = (int)metric_size,
                 .falloffs = (double *)(void *)(memory + falloffs),
                 .metrics = (double *)(void *)(memory + metrics),
                 .set_count = w->set_count,
                 .words = (int)words,
                 .sets = (uint32_t *)(void *)(memory + sets),
                 .memory = memory,
                 .size = total.bytes};
    return EX_OK;
}

static double *row_of(double *table, int row, int width) {
    return table + (size_t)row * (size_t)width;
}

/* ---- data of some kinds ---- */

/* Returns a point's row in falloffs, metrics and origins. */
static int own_row(const draft *d, bool pseudo, int index) {
    return pseudo ? d->row_size + index : index;
}

static void fill_own(const ex_weigher *w, draft *d, const ex_weigher_def *def) {
    const size_t words = exi_set_words(w->example_count);
    for (int i = 0; i < exi_point_count(w); i++) {
        const int row = own_row(d, i >= w->example_count, i < w->example_count ? i : i - w->example_count);
        d->origins[row] = i;
        if (d->axis_count > 0)
            memcpy(row_of(d->falloffs, row, d->axis_count), def->falloffs + (size_t)i * (size_t)d->axis_count,
                   (size_t)d->axis_count * sizeof(double));
        if (d->metric_size > 0)
            memcpy(row_of(d->metrics, row, d->metric_size), def->metrics + (size_t)i * (size_t)d->metric_size,
                   (size_t)d->metric_size * sizeof(double));
    }
    memset(d->sets, 0, (size_t)d->set_count * (size_t)d->words * sizeof *d->sets);
    for (int i = 0; i < d->set_count; i++)
        memcpy(d->sets + (size_t)i * (size_t)d->words, def->sets + (size_t)i * words, words * sizeof *d->sets);
}

/* falloff NULL: the default. Removes a metric, which would replace it. */
static void set_own(draft *d, bool pseudo, int index, const double *falloff) {
    double *own = row_of(d->falloffs, own_row(d, pseudo, index), d->axis_count);
    d->origins[own_row(d, pseudo, index)] = -1;
    for (int a = 0; a < d->axis_count; a++)
        own[a] = falloff ? falloff[a] : 0;
    memset(row_of(d->metrics, own_row(d, pseudo, index), d->metric_size), 0, (size_t)d->metric_size * sizeof(double));
}

/* Closes the gap of row `index` of `count`. */
static void remove_row(double *table, int index, int count, int width) {
    memmove(row_of(table, index, width), row_of(table, index + 1, width),
            (size_t)(count - 1 - index) * (size_t)width * sizeof(double));
}

static void remove_own(draft *d, bool pseudo, int index, int count) {
    int *origin = d->origins + own_row(d, pseudo, index);
    memmove(origin, origin + 1, (size_t)(count - 1 - index) * sizeof *origin);
    remove_row(row_of(d->falloffs, own_row(d, pseudo, 0), d->axis_count), index, count, d->axis_count);
    remove_row(row_of(d->metrics, own_row(d, pseudo, 0), d->metric_size), index, count, d->metric_size);
}

static void put_in_set(uint32_t *set, int example, bool in) {
    const uint32_t bit = (uint32_t)1 << (example % 32);
    set[example / 32] = in ? set[example / 32] | bit : set[example / 32] & ~bit;
}

/* Removes an example from every set, and sets that become empty. */
static void remove_from_sets(draft *d, int index, int example_count) {
    int left = 0;
    for (int i = 0; i < d->set_count; i++) {
        uint32_t *set = d->sets + (size_t)i * (size_t)d->words;
        bool any = false;
        for (int k = 0; k < example_count; k++) {
            const bool in = k < example_count - 1 && exi_set_has(set, k < index ? k : k + 1);
            put_in_set(set, k, in);
            any = any || in;
        }
        if (any)
            memmove(d->sets + (size_t)left++ * (size_t)d->words, set, (size_t)d->words * sizeof *set);
    }
    d->set_count = left;
}

/* Moves rows of pseudo-examples up behind the examples, and packs the words of sets. */
static void finish_own(draft *d, ex_weigher_def *def) {
    const size_t words = exi_set_words(d->example_count);
    memmove(row_of(d->falloffs, d->example_count, d->axis_count), row_of(d->falloffs, d->row_size, d->axis_count),
            (size_t)d->pseudo_count * (size_t)d->axis_count * sizeof(double));
    memmove(row_of(d->metrics, d->example_count, d->metric_size), row_of(d->metrics, d->row_size, d->metric_size),
            (size_t)d->pseudo_count * (size_t)d->metric_size * sizeof(double));
    memmove(d->origins + d->example_count, d->origins + d->row_size, (size_t)d->pseudo_count * sizeof *d->origins);
    for (int i = 0; i < d->set_count; i++)
        memmove(d->sets + (size_t)i * words, d->sets + (size_t)i * (size_t)d->words, words * sizeof *d->sets);
    def->falloffs = d->axis_count > 0 ? d->falloffs : NULL;
    def->metrics = d->metric_size > 0 ? d->metrics : NULL;
    def->sets = d->set_count > 0 ? d->sets : NULL;
    def->set_count = d->set_count;
}

/* ---- edits ---- */

static void fill_draft(const ex_weigher *w, draft *d, ex_weigher_def *def) {
    const size_t point = (size_t)d->dimension * sizeof(double);
    ex_weigher_describe(w, def, d->axes, d->pseudos);
    memcpy(d->points, def->points, (size_t)d->example_count * point);
    fill_own(w, d, def);
    memset(d->rows, 0, (size_t)d->row_count * (size_t)d->row_size * sizeof(double));
    for (int i = 0; i < d->pseudo_count; i++) {
        const ex_pseudo *p = &d->pseudos[i];
        memcpy(row_of(d->at, i, d->dimension), p->at, point);
        d->given[i] = p->weights != NULL;
        if (p->weights)
            memcpy(row_of(d->rows, i, d->row_size), p->weights, (size_t)d->example_count * sizeof(double));
        else
            memcpy(row_of(d->from, i, d->dimension), p->from, point);
    }
}

/* Given weights without the removed example, scaled to their old sum. */
static void remove_weight(double *row, int index, int count) {
    double sum = 0, left = 0;
    for (int i = 0; i < count; i++)
        sum += row[i];
    left = sum - row[index];
    memmove(row + index, row + index + 1, (size_t)(count - 1 - index) * sizeof *row);
    row[count - 1] = 0;
    for (int i = 0; left * left > 1e-24 && i < count - 1; i++)
        row[i] *= sum / left;
}

static void set_pseudo(draft *d, int index, const ex_edit *edit) {
    const size_t point = (size_t)d->dimension * sizeof(double);
    memcpy(row_of(d->at, index, d->dimension), edit->at, point);
    if (edit->weights) {
        double *row = row_of(d->rows, index, d->row_size);
        memset(row, 0, (size_t)d->row_size * sizeof *row);
        memcpy(row, edit->weights, (size_t)d->example_count * sizeof *row);
        d->given[index] = true;
    } else if (edit->from) {
        memcpy(row_of(d->from, index, d->dimension), edit->from, point);
        d->given[index] = false;
    }
}

static ex_result apply_falloff(draft *d, const ex_edit *edit, ex_error *error) {
    const int count = d->example_count + d->pseudo_count;
    if (d->axis_count == 0)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "the points of this weigher have no falloffs");
    if (edit->index < 0 || edit->index >= count)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "there is no point %d: the space has %d", edit->index, count);
    if (!edit->falloff)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "the edit gives no falloff");
    const bool pseudo = edit->index >= d->example_count;
    set_own(d, pseudo, pseudo ? edit->index - d->example_count : edit->index, edit->falloff);
    return EX_OK;
}

static ex_result apply(draft *d, const ex_edit *edit, ex_error *error) {
    const bool pseudo = edit->kind >= EX_EDIT_MOVE_PSEUDO && edit->kind <= EX_EDIT_REMOVE_PSEUDO;
    const bool add = edit->kind == EX_EDIT_ADD_EXAMPLE || edit->kind == EX_EDIT_ADD_PSEUDO;
    const bool remove = edit->kind == EX_EDIT_REMOVE_EXAMPLE || edit->kind == EX_EDIT_REMOVE_PSEUDO;
    const int count = pseudo ? d->pseudo_count : d->example_count;
    if ((unsigned)edit->kind > EX_EDIT_FALLOFF)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "%d is not a kind of edit", (int)edit->kind);
    if (edit->kind == EX_EDIT_FALLOFF)
        return apply_falloff(d, edit, error);
    if (!add && (edit->index < 0 || edit->index >= count))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "there is no %s %d: the space has %d",
                            pseudo ? "pseudo-example" : "example", edit->index, count);
    if (!remove && !edit->at)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "the edit gives no place");
    if (edit->kind == EX_EDIT_MOVE_PSEUDO && edit->from && edit->weights)
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "a pseudo-example borrows the weights of a place or is given weights, not both");
    if (edit->kind == EX_EDIT_ADD_PSEUDO && !edit->from == !edit->weights)
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "a new pseudo-example needs either a place to borrow weights from, or weights");
    switch (edit->kind) {
    case EX_EDIT_MOVE_EXAMPLE:
        d->origins[edit->index] = -1;
        memcpy(row_of(d->points, edit->index, d->dimension), edit->at, (size_t)d->dimension * sizeof(double));
        break;
    case EX_EDIT_ADD_EXAMPLE:
        set_own(d, false, d->example_count, edit->falloff);
        memcpy(row_of(d->points, d->example_count++, d->dimension), edit->at, (size_t)d->dimension * sizeof(double));
        break;
    case EX_EDIT_REMOVE_EXAMPLE:
        if (d->example_count == 1)
            return ex_error_set(error, EX_ERROR_ARGUMENT, "the last example of a space cannot be removed");
        remove_row(d->points, edit->index, d->example_count, d->dimension);
        remove_own(d, false, edit->index, d->example_count);
        remove_from_sets(d, edit->index, d->example_count);
        for (int i = 0; i < d->pseudo_count; i++)
            remove_weight(row_of(d->rows, i, d->row_size), edit->index, d->example_count);
        d->example_count--;
        break;
    case EX_EDIT_MOVE_PSEUDO:
        d->origins[own_row(d, true, edit->index)] = -1;
        set_pseudo(d, edit->index, edit);
        break;
    case EX_EDIT_ADD_PSEUDO:
        set_own(d, true, d->pseudo_count, edit->falloff);
        set_pseudo(d, d->pseudo_count++, edit);
        break;
    case EX_EDIT_REMOVE_PSEUDO:
        remove_own(d, true, edit->index, d->pseudo_count);
        remove_row(d->at, edit->index, d->pseudo_count, d->dimension);
        remove_row(d->from, edit->index, d->pseudo_count, d->dimension);
        remove_row(d->rows, edit->index, d->pseudo_count, d->row_size);
        memmove(d->given + edit->index, d->given + edit->index + 1,
                (size_t)(d->pseudo_count - 1 - edit->index) * sizeof *d->given);
        d->pseudo_count--;
        break;
    case EX_EDIT_FALLOFF:
        break;
    }
    return EX_OK;
}

ex_result ex_weigher_edit(const ex_weigher *weigher, const ex_edit *edits, int edit_count,
                          const ex_allocator *allocator, ex_weigher **edited, ex_error *error) {
    if (!weigher || !edited || edit_count < 0 || (edit_count > 0 && !edits))
        return exi_misuse_error(error, __func__, "no weigher, no edits, or no pointer for the result");
    *edited = NULL;
    const exi_weigher_kind *kind = exi_weigher_kind_of(weigher->kind);
    if (!kind->info.has_points)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "a %s weigher has no space to edit: its axes are its weights",
                            ex_weigher_kind_name((ex_weigher_kind)weigher->kind));
    if (edit_count > EX_POINT_MAX)
        return ex_error_set(error, EX_ERROR_LIMIT, "at most %d edits at once", EX_POINT_MAX);
    if (kind->edit)
        return kind->edit(weigher, edits, edit_count, allocator, edited, error);
    draft d = {0};
    ex_result result = open_draft(weigher, edit_count, allocator, &d, error);
    if (result != EX_OK)
        return result;
    ex_weigher_def def;
    fill_draft(weigher, &d, &def);
    for (int i = 0; result == EX_OK && i < edit_count; i++)
        result = apply(&d, &edits[i], error);
    for (int i = 0; i < d.pseudo_count; i++)
        d.pseudos[i] = (ex_pseudo){.at = row_of(d.at, i, d.dimension),
                                   .from = d.given[i] ? NULL : row_of(d.from, i, d.dimension),
                                   .weights = d.given[i] ? row_of(d.rows, i, d.row_size) : NULL};
    finish_own(&d, &def);
    def.points = d.points;
    def.example_count = d.example_count;
    def.pseudo_count = d.pseudo_count;
    if (result == EX_OK)
        result = exi_weigher_create_from(&def, weigher, d.origins, allocator, edited, error);
    exi_release(allocator, d.memory, d.size);
    return result;
}
