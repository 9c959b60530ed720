/*
 * The cells of a sheet: values along its axes, and the examples or pseudo-examples of the slice among them (Shape by
 * Example, figures 4, 5 and 9). Values are even over the range, with some beyond it. A column or row moves to the value
 * of the examples near it if they agree; otherwise an example moves only the nearest cell.
 */
#include "author/picture/plot/plot.h"
#include "author/picture/sheet/slice.h"

#include "author/base/array.h"
#include "runtime/base/result.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An example or a pseudo-example of the slice. */
typedef struct mark {
    int layer, number;
    bool pseudo;
    exi_plot_point place;
} mark;

typedef struct marks {
    mark *list;
    int count, capacity;
} marks;

/* ---- values along an axis ---- */

static bool is_same(const ex_axis *axis, double a, double b) {
    return fabs(a - b) <= 1e-6 * (axis->max - axis->min);
}

/* Returns the number of forms beyond one end: spaced like those in the range, the last exactly as far as requested. */
static int count_beyond(double beyond, int count) {
    const int wanted = (int)round(beyond * (count - 1));
    return beyond > 0 ? wanted > 1 ? wanted : 1 : 0;
}

static ex_result set_values(exi_slice_axis *a, int count, const double beyond[2], ex_error *error) {
    const double range = a->axis.max - a->axis.min;
    const int below = a->axis.clamp ? 0 : count_beyond(beyond[0], count);
    const int above = a->axis.clamp ? 0 : count_beyond(beyond[1], count);
    a->count = below + count + above;
    a->values = exi_array_allocate((size_t)a->count, sizeof *a->values);
    if (!a->values)
        return ex_error_memory(error, "a sheet", (size_t)a->count * sizeof *a->values);
    for (int i = 0; i < below; i++)
        a->values[i] = a->axis.min - beyond[0] * range * (below - i) / below;
    for (int i = 0; i < count; i++)
        a->values[below + i] = i == count - 1 ? a->axis.max : a->axis.min + range * i / (count - 1);
    for (int i = 0; i < above; i++)
        a->values[below + count + i] = a->axis.max + beyond[1] * range * (i + 1) / above;
    return EX_OK;
}

/* Returns the index of the nearest value, if it is within half the distance to the next; else -1. */
static int find_nearest(const exi_slice_axis *a, double value) {
    int best = 0;
    for (int i = 1; i < a->count; i++)
        if (fabs(a->values[i] - value) < fabs(a->values[best] - value))
            best = i;
    if (a->count == 1)
        return 0;
    const int next = (value > a->values[best] && best < a->count - 1) || best == 0 ? best + 1 : best - 1;
    const double half = fabs(a->values[next] - a->values[best]) / 2;
    return fabs(a->values[best] - value) <= half * (1 + 1e-9) ? best : -1;
}

/* Returns the common value of the examples nearest to value i, or of the pseudo-examples if there is no example; value
 * i if they differ. */
static double find_agreed(const exi_slice_axis *a, int axis, int i, const marks *m) {
    for (int pseudo = 0; pseudo < 2; pseudo++) {
        double agreed = NAN;
        for (int k = 0; k < m->count; k++) {
            const double value = m->list[k].place.at[axis];
            if (m->list[k].pseudo != (bool)pseudo || find_nearest(a, value) != i)
                continue;
            if (!isnan(agreed) && !is_same(&a->axis, agreed, value))
                return a->values[i];
            agreed = isnan(agreed) ? value : agreed;
        }
        if (!isnan(agreed))
            return agreed;
    }
    return a->values[i];
}

static ex_result move_values(exi_slice_axis *a, int axis, const marks *m, ex_error *error) {
    double *moved = exi_array_allocate((size_t)a->count, sizeof *moved);
    if (!moved)
        return ex_error_memory(error, "a sheet", 0);
    for (int i = 0; i < a->count; i++)
        moved[i] = find_agreed(a, axis, i, m);
    memcpy(a->values, moved, (size_t)a->count * sizeof *moved);
    free(moved);
    return EX_OK;
}

/* ---- examples of the slice ---- */

static bool add_mark(marks *m, mark one) {
    if (!one.place.placed || !one.place.on_slice)
        return true;
    if (m->count == m->capacity) {
        const int capacity = m->capacity > 0 ? 2 * m->capacity : 16;
        mark *grown = realloc(m->list, (size_t)capacity * sizeof *grown);
        if (!grown)
            return false;
        m->list = grown;
        m->capacity = capacity;
    }
    m->list[m->count++] = one;
    return true;
}

/* Only a layer that reads all axes of the sheet has places on it. */
static bool reads_axes(const ex_sheet_def *def, int layer) {
    const int count = ex_weigher_axis_count(ex_rig_weigher(def->rig, layer));
    int found = 0;
    for (int a = 0; a < count; a++)
        for (int i = 0; i < def->axis_count; i++)
            found += ex_rig_layer_input(def->rig, layer, a) == def->axes[i];
    return found == def->axis_count && (def->textures || ex_rig_layer_stage(def->rig, layer) != EX_STAGE_TEXTURE);
}

/* True for a pseudo-example that only keeps a layer of offsets from acting somewhere: there is no form to show. */
static bool holds_nothing(const ex_pseudo *pseudo, int example_count) {
    bool none = pseudo->weights != NULL;
    for (int k = 0; none && k < example_count; k++)
        none = pseudo->weights[k] == 0;
    return none;
}

static bool add_pseudos(const exi_plot *plot, const ex_weigher *weigher, int layer, marks *m) {
    ex_weigher_def def;
    ex_pseudo *pseudos = exi_array_allocate((size_t)plot->pseudo_count + 1, sizeof *pseudos);
    bool good = pseudos != NULL;
    if (good)
        ex_weigher_describe(weigher, &def, NULL, pseudos);
    for (int k = 0; good && k < plot->pseudo_count; k++)
        good = holds_nothing(&pseudos[k], plot->example_count) || add_mark(m, (mark){layer, k, true, plot->pseudos[k]});
    free(pseudos);
    return good;
}

static ex_result find_marks_of(const ex_sheet_def *def, int layer, marks *m, ex_error *error) {
    const ex_plot_def slice = {.rig = def->rig,
                               .layer = layer,
                               .axis_count = def->axis_count,
                               .axes = {def->axes[0], def->axes[1]},
                               .pose = def->pose,
                               .scale = 1};
    exi_plot plot;
    ex_result result = exi_plot_open(&plot, &slice, error);
    if (result != EX_OK)
        return result;
    bool good = true;
    for (int k = 0; good && k < plot.example_count; k++)
        good = add_mark(m, (mark){layer, k, false, plot.examples[k]});
    good = good && add_pseudos(&plot, ex_rig_weigher(def->rig, layer), layer, m);
    exi_plot_close(&plot);
    return good ? EX_OK : ex_error_memory(error, "the examples of a sheet", 0);
}

static ex_result find_marks(const ex_sheet_def *def, marks *m, ex_error *error) {
    ex_result result = EX_OK;
    for (int layer = 0; result == EX_OK && layer < ex_rig_layer_count(def->rig); layer++)
        if (reads_axes(def, layer))
            result = find_marks_of(def, layer, m, error);
    return result;
}

/* ---- cells ---- */

static bool is_beyond(const exi_slice *s, const double values[2]) {
    for (int i = 0; i < s->axis_count; i++) {
        const ex_axis *axis = &s->axes[i].axis;
        const double slack = 1e-6 * (axis->max - axis->min);
        if (values[i] < axis->min - slack || values[i] > axis->max + slack)
            return true;
    }
    return false;
}

static void place_mark(exi_slice *s, const mark *m) {
    const int column = find_nearest(&s->axes[0], m->place.at[0]);
    const int row = s->axis_count == 2 ? find_nearest(&s->axes[1], m->place.at[1]) : 0;
    exi_cell *cell = column < 0 || row < 0 ? NULL : &s->cells[row * s->axes[0].count + column];
    if (!cell || cell->kind == EXI_CELL_EXAMPLE || cell->kind == EXI_CELL_PSEUDO) {
        s->hidden_count++;
        return;
    }
    cell->kind = m->pseudo ? EXI_CELL_PSEUDO : EXI_CELL_EXAMPLE;
    cell->layer = m->layer;
    cell->number = m->number;
    for (int i = 0; i < s->axis_count; i++) {
        cell->moved |= !is_same(&s->axes[i].axis, cell->values[i], m->place.at[i]);
        cell->values[i] = m->place.at[i];
    }
    cell->has_from = m->pseudo && m->place.has_from;
    memcpy(cell->from, m->place.from, sizeof cell->from);
    *(m->pseudo ? &s->pseudo_count : &s->example_count) += 1;
}

static ex_result set_cells(exi_slice *s, const marks *m, ex_error *error) {
    s->cells = calloc((size_t)exi_slice_cell_count(s), sizeof *s->cells);
    if (!s->cells)
        return ex_error_memory(error, "a sheet", (size_t)exi_slice_cell_count(s) * sizeof *s->cells);
    for (int i = 0; i < exi_slice_cell_count(s); i++) {
        exi_cell *cell = &s->cells[i];
        cell->values[0] = s->axes[0].values[i % s->axes[0].count];
        cell->values[1] = s->axes[1].values[i / s->axes[0].count];
        cell->kind = is_beyond(s, cell->values) ? EXI_CELL_BEYOND : EXI_CELL_BETWEEN;
    }
    for (int pseudo = 0; pseudo < 2; pseudo++)
        for (int k = 0; k < m->count; k++)
            if (m->list[k].pseudo == (bool)pseudo)
                place_mark(s, &m->list[k]);
    return EX_OK;
}

/* ---- all of it ---- */

static ex_result check_axis(const ex_sheet_def *def, int i, ex_error *error) {
    if (def->axes[i] < 0 || def->axes[i] >= ex_rig_input_count(def->rig))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "there is no axis %d for a sheet: the rig has %d", def->axes[i],
                            ex_rig_input_count(def->rig));
    const char *name = ex_rig_input_name(def->rig, def->axes[i]);
    if (ex_rig_input_axis(def->rig, def->axes[i]).kind == EX_AXIS_DRIVER)
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "the axis '%s' is a driver axis, which has no single value for a sheet: name a scalar "
                            "axis, and give the driver a form (%s=FILE.obj)",
                            name, name);
    if (ex_rig_input_axis(def->rig, def->axes[i]).kind != EX_AXIS_SCALAR)
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "the axis '%s' is a rotation, which has no single value for a sheet: name a scalar axis, "
                            "and set the rotation (%s=x30)",
                            name, name);
    if (i == 1 && def->axes[0] == def->axes[1])
        return ex_error_set(error, EX_ERROR_ARGUMENT, "the axis '%s' is given twice: name two different ones", name);
    if (def->counts[i] < 2 || def->counts[i] > EX_SHEET_FORM_MAX)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "%d forms along the axis '%s' are not possible: use 2 to %d",
                            def->counts[i], name, EX_SHEET_FORM_MAX);
    for (int k = 0; k < 2; k++)
        if (!(def->beyond[i][k] >= 0 && def->beyond[i][k] <= 10))
            return ex_error_set(error, EX_ERROR_ARGUMENT,
                                "%g ranges beyond the axis '%s' are not possible: use 0 to 10", def->beyond[i][k],
                                name);
    return EX_OK;
}

static ex_result check(const ex_sheet_def *def, ex_error *error) {
    if (!def || !def->rig)
        return exi_misuse_error(error, "ex_sheet_image", "no definition or no rig");
    if (def->axis_count < 1 || def->axis_count > 2)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "a sheet has one axis or two, not %d", def->axis_count);
    if (def->cell < EX_SHEET_CELL_MIN || def->cell > EX_SHEET_CELL_MAX)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "forms of %d pixels are not possible: use %d to %d", def->cell,
                            EX_SHEET_CELL_MIN, EX_SHEET_CELL_MAX);
    ex_result result = EX_OK;
    for (int i = 0; result == EX_OK && i < def->axis_count; i++)
        result = check_axis(def, i, error);
    return result;
}

/* Sets the suffix of numbers: angles of joints are in degrees, which few projects say. */
static void set_unit(exi_slice_axis *a, const ex_rig *rig) {
    static const char *const degrees[] = {"\xC2\xB0", "deg", "degree", "degrees"};
    const char *unit = ex_rig_input_unit(rig, a->input);
    const ex_axis_source source = ex_rig_input_source(rig, a->input);
    bool is_angle = unit[0] == '\0' && source.joint >= 0 && source.reading.kind == EX_READING_ANGLE;
    for (size_t i = 0; i < sizeof degrees / sizeof degrees[0]; i++)
        is_angle |= strcmp(unit, degrees[i]) == 0;
    snprintf(a->unit_text, sizeof a->unit_text, "%s%s", is_angle || !unit[0] ? "" : " ", is_angle ? degrees[0] : unit);
    a->unit = a->unit_text;
}

static ex_result open_axes(exi_slice *s, ex_error *error) {
    ex_result result = EX_OK;
    s->axes[1] = (exi_slice_axis){.input = -1, .name = "", .unit = ""};
    for (int i = 0; result == EX_OK && i < s->axis_count; i++) {
        exi_slice_axis *a = &s->axes[i];
        *a = (exi_slice_axis){.input = s->def->axes[i],
                              .axis = ex_rig_input_axis(s->rig, s->def->axes[i]),
                              .name = ex_rig_input_name(s->rig, s->def->axes[i])};
        set_unit(a, s->rig);
        result = set_values(a, s->def->counts[i], s->def->beyond[i], error);
    }
    if (result == EX_OK && s->axis_count == 1) {
        s->axes[1].values = calloc(1, sizeof *s->axes[1].values);
        s->axes[1].count = 1;
        result = s->axes[1].values ? EX_OK : ex_error_memory(error, "a sheet", 0);
    }
    return result;
}

ex_result exi_slice_open(exi_slice *s, const ex_sheet_def *def, ex_error *error) {
    *s = (exi_slice){.def = def};
    marks found = {.list = NULL};
    ex_result result = check(def, error);
    if (result != EX_OK)
        return result;
    s->rig = def->rig;
    s->axis_count = def->axis_count;
    result = open_axes(s, error);
    if (result == EX_OK && (double)s->axes[0].count * s->axes[1].count > EX_SHEET_FORM_MAX)
        result = ex_error_set(
            error, EX_ERROR_LIMIT,
            "a sheet of %d by %d forms is too large: at most %d fit; ask for fewer, or go less far beyond the range",
            s->axes[0].count, s->axes[1].count, EX_SHEET_FORM_MAX);
    if (result == EX_OK)
        result = find_marks(def, &found, error);
    for (int i = 0; result == EX_OK && i < s->axis_count; i++)
        result = move_values(&s->axes[i], i, &found, error);
    if (result == EX_OK)
        result = set_cells(s, &found, error);
    free(found.list);
    return result;
}

void exi_slice_close(exi_slice *s) {
    for (int i = 0; s->cells && i < exi_slice_cell_count(s); i++)
        ex_image_destroy(s->cells[i].picture);
    free(s->cells);
    free(s->axes[0].values);
    free(s->axes[1].values);
    ex_mesh_destroy(s->mesh);
    ex_looks_destroy(s->looks);
    *s = (exi_slice){.def = NULL};
}
