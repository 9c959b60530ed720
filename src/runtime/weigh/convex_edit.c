/*
 * Edits of a convex space. Each example's point contains products with all others, as rows and columns of one Gram
 * matrix: adding an example adds a row and a column, and so on. As for other kinds (edit.c), the definition is copied,
 * changed, and solved again into a new weigher.
 */
#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/weigh/weigher.h"

#include <string.h>

typedef struct draft {
    int count, room; /* number of examples, and room for them */
    int scalar;      /* axes besides the driver: 0 or 1 */
    bool scalar_first;
    double *gram;   /* [room][room] */
    double *values; /* [room] on the scalar axis */
    double *points; /* [room][room + scalar], filled at the end */
} draft;

static double *gram_at(const draft *d, int i, int j) {
    return d->gram + (size_t)i * (size_t)d->room + (size_t)j;
}

/* Sets row, column and value of example `index`, from a point that is `width` examples wide. */
static void set_example(draft *d, int index, const double *at, int width) {
    const double *row = at + (d->scalar_first ? 1 : 0);
    for (int j = 0; j < width; j++)
        *gram_at(d, index, j) = *gram_at(d, j, index) = row[j];
    d->values[index] = d->scalar == 0 ? 0 : d->scalar_first ? at[0] : row[width];
}

static void remove_example(draft *d, int index) {
    const size_t behind = (size_t)(d->count - 1 - index) * sizeof(double);
    for (int i = 0; i < d->count; i++)
        memmove(gram_at(d, i, index), gram_at(d, i, index + 1), behind);
    for (int i = index; i + 1 < d->count; i++)
        memcpy(gram_at(d, i, 0), gram_at(d, i + 1, 0), (size_t)(d->count - 1) * sizeof(double));
    memmove(d->values + index, d->values + index + 1, behind);
    d->count--;
}

static ex_result apply(draft *d, const ex_edit *edit, ex_error *error) {
    if ((unsigned)edit->kind > EX_EDIT_FALLOFF)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "%d is not a kind of edit", (int)edit->kind);
    if (edit->kind > EX_EDIT_REMOVE_EXAMPLE)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "a convex weigher has no %s to edit",
                            edit->kind == EX_EDIT_FALLOFF ? "falloffs" : "pseudo-examples");
    if (edit->kind != EX_EDIT_ADD_EXAMPLE && (edit->index < 0 || edit->index >= d->count))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "there is no example %d: the space has %d", edit->index,
                            d->count);
    if (edit->kind != EX_EDIT_REMOVE_EXAMPLE && !edit->at)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "the edit gives no place");
    if (edit->kind == EX_EDIT_MOVE_EXAMPLE) {
        set_example(d, edit->index, edit->at, d->count);
    } else if (edit->kind == EX_EDIT_ADD_EXAMPLE) {
        d->count++;
        set_example(d, d->count - 1, edit->at, d->count);
    } else if (d->count == 1) {
        return ex_error_set(error, EX_ERROR_ARGUMENT, "the last example of a space cannot be removed");
    } else {
        remove_example(d, edit->index);
    }
    return EX_OK;
}

static void fill_points(const draft *d) {
    double *out = d->points;
    for (int i = 0; i < d->count; i++) {
        if (d->scalar_first)
            *out++ = d->values[i];
        memcpy(out, gram_at(d, i, 0), (size_t)d->count * sizeof *out);
        out += d->count;
        if (d->scalar > 0 && !d->scalar_first)
            *out++ = d->values[i];
    }
}

ex_result exi_convex_edit(const ex_weigher *w, const ex_edit *edits, int edit_count, const ex_allocator *allocator,
                          ex_weigher **edited, ex_error *error) {
    draft d = {.count = w->example_count, .room = w->example_count, .scalar = w->scalar_count};
    for (int i = 0; i < edit_count; i++)
        d.room += edits[i].kind == EX_EDIT_ADD_EXAMPLE;
    d.scalar_first = exi_axes(w)[0].kind == EX_AXIS_SCALAR;
    const size_t room = (size_t)d.room;
    exi_size total = {0};
    const size_t gram = exi_size_add(&total, room * room, sizeof(double), 8);
    const size_t values = exi_size_add(&total, room, sizeof(double), 8);
    const size_t points = exi_size_add(&total, room * (room + 1), sizeof(double), 8);
    char *memory = total.overflow ? NULL : exi_allocate(allocator, total.bytes);
    if (!memory)
        return ex_error_memory(error, "editing a space", total.bytes);
    d.gram = (double *)(void *)(memory + gram);
    d.values = (double *)(void *)(memory + values);
    d.points = (double *)(void *)(memory + points);
    for (int i = 0; i < w->example_count; i++)
        set_example(&d, i, ex_weigher_point(w, i), w->example_count);
    ex_result result = EX_OK;
    for (int i = 0; result == EX_OK && i < edit_count; i++)
        result = apply(&d, &edits[i], error);
    if (result == EX_OK) {
        ex_axis axes[2];
        ex_weigher_def def;
        ex_weigher_describe(w, &def, axes, NULL);
        axes[d.scalar_first ? 1 : 0] = ex_axis_driver(d.count);
        fill_points(&d);
        def.points = d.points;
        def.example_count = d.count;
        result = ex_weigher_create(&def, allocator, edited, error);
    }
    exi_release(allocator, memory, total.bytes);
    return result;
}
