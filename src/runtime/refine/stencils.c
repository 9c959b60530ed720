/*
 * Stencils laid out for evaluation: checks, sizes, filling, reading back (stencils.h describes the layout).
 */
#include "runtime/refine/stencils.h"

#include "runtime/base/memory.h"
#include "runtime/base/result.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- checking ---- */

static ex_result check_row(const ex_stencil_rows *rows, int v, int control_count, const char *where, ex_error *error) {
    for (int i = rows->offsets[v]; i < rows->offsets[v + 1]; i++) {
        int k = rows->indices[i];
        if (k < 0 || k >= control_count)
            return ex_error_set(error, EX_ERROR_DATA, "%s: vertex %d depends on control vertex %d, but there are %d",
                                where, v, k, control_count);
        if (i > rows->offsets[v] && k <= rows->indices[i - 1])
            return ex_error_set(error, EX_ERROR_DATA,
                                "%s: the control vertices of vertex %d are not in ascending order", where, v);
        if (!(fabs(rows->weights[i]) <= (double)FLT_MAX) ||
            (rows->tangents && !(fabs(rows->tangents[2 * (size_t)i]) <= (double)FLT_MAX &&
                                 fabs(rows->tangents[2 * (size_t)i + 1]) <= (double)FLT_MAX)))
            return ex_error_set(error, EX_ERROR_DATA, "%s: a weight of vertex %d is not a finite float", where, v);
    }
    return EX_OK;
}

static ex_result check_rows(const ex_stencil_rows *rows, int control_count, const char *where, ex_error *error) {
    if (rows->vertex_count < 0 || !rows->offsets || (rows->vertex_count > 0 && (!rows->indices || !rows->weights)))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "%s: a count is negative, or an array is missing", where);
    if (rows->offsets[0] != 0)
        return ex_error_set(error, EX_ERROR_DATA, "%s: the offsets begin with %d instead of 0", where,
                            rows->offsets[0]);
    for (int v = 0; v < rows->vertex_count; v++)
        if (rows->offsets[v + 1] < rows->offsets[v])
            return ex_error_set(error, EX_ERROR_DATA, "%s: the offsets decrease after vertex %d", where, v);
    for (int v = 0; v < rows->vertex_count; v++) {
        ex_result result = check_row(rows, v, control_count, where, error);
        if (result != EX_OK)
            return result;
    }
    return EX_OK;
}

static const ex_stencil_rows *rows_of(const ex_stencils_def *def, int table) {
    return table < def->level_count ? &def->levels[table] : def->limit;
}

static ex_result check_def(const ex_stencils_def *def, ex_error *error) {
    if (def->control_count < 0 || def->level_count < 0 || def->level_count > 32 ||
        (def->level_count > 0 && !def->levels))
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "a count is negative, there are more than 32 levels, or none at all");
    for (int t = 0; t < def->level_count + (def->limit != NULL); t++) {
        char where[32] = "limit";
        if (t < def->level_count)
            snprintf(where, sizeof where, "level %d", t + 1);
        ex_result result = check_rows(rows_of(def, t), def->control_count, where, error);
        if (result != EX_OK)
            return result;
    }
    return EX_OK;
}

/* ---- batches ---- */

/* Output of a table; with batches NULL, it only counts. */
typedef struct writer {
    const ex_stencil_rows *rows;
    exi_stencil_batch *batches;
    uint32_t *vertices, *support;
    float *weights, *tangents;
    size_t batch_count, vertex_count, support_count, weight_count;
} writer;

/* Rounds a row's weights to floats that keep the row's sum: the largest absorbs the rounding error. Numbers are `step`
 * apart. */
static void round_row(const double *weights, size_t step, int count, float *out) {
    double sum = 0, rounded = 0;
    int largest = 0;
    for (int i = 0; i < count; i++) {
        out[i] = (float)weights[(size_t)i * step];
        sum += weights[(size_t)i * step];
        rounded += (double)out[i];
        largest = fabsf(out[i]) > fabsf(out[largest]) ? i : largest;
    }
    if (count > 0)
        out[largest] = (float)((double)out[largest] + (sum - rounded));
}

/* Places of a vertex's weights in its batch: that of control vertex i, and those for tangent c. */
static size_t weight_place(const exi_stencil_batch *batch, int place, size_t i) {
    const size_t n = batch->support_count, v = (size_t)place, lane = v % EXI_STENCIL_BLOCK, first = v - lane;
    const size_t left = batch->width - first;
    return batch->width ? first * n + i * (left < EXI_STENCIL_BLOCK ? left : EXI_STENCIL_BLOCK) + lane : v * n + i;
}

static size_t tangent_place(const exi_stencil_batch *batch, int place, size_t i, size_t c) {
    const size_t at = weight_place(batch, place, i), lane = (size_t)place % EXI_STENCIL_PAD;
    return batch->width ? 2 * (at - lane) + EXI_STENCIL_PAD * c + lane : 2 * at + c;
}

/* Writes the weights of a batch's vertex. */
static void put_row(writer *w, const exi_stencil_batch *batch, int place, int v, float *row) {
    const int n = (int)batch->support_count, begin = w->rows->offsets[v];
    float *weights = w->weights + batch->weights;
    float *tangents = w->tangents ? w->tangents + 2 * batch->weights : NULL;
    for (int c = 0; c < (tangents ? 3 : 1); c++) {
        if (c == 0)
            round_row(w->rows->weights + begin, 1, n, row);
        else
            round_row(w->rows->tangents + 2 * (size_t)begin + c - 1, 2, n, row);
        for (int i = 0; i < n; i++) {
            if (c == 0)
                weights[weight_place(batch, place, (size_t)i)] = row[i];
            else
                tangents[tangent_place(batch, place, (size_t)i, (size_t)c - 1)] = row[i];
        }
    }
}

static void put_batch(writer *w, const int *vertices, int count, bool shared, float *row) {
    const ex_stencil_rows *rows = w->rows;
    const int n = rows->offsets[vertices[0] + 1] - rows->offsets[vertices[0]];
    const int width = shared ? (count + EXI_STENCIL_PAD - 1) / EXI_STENCIL_PAD * EXI_STENCIL_PAD : 0;
    if (shared)
        w->weight_count = (w->weight_count + EXI_STENCIL_BLOCK - 1) / EXI_STENCIL_BLOCK * EXI_STENCIL_BLOCK;
    exi_stencil_batch batch = {.support_count = (uint32_t)n,
                               .vertex_count = (uint16_t)count,
                               .width = (uint16_t)width,
                               .vertices = (uint32_t)w->vertex_count,
                               .support = (uint32_t)w->support_count,
                               .weights = w->weight_count};
    if (w->batches) {
        w->batches[w->batch_count] = batch;
        for (int i = 0; i < count; i++) {
            w->vertices[batch.vertices + (uint32_t)i] = (uint32_t)vertices[i];
            put_row(w, &batch, i, vertices[i], row);
        }
        for (int i = 0; i < (shared ? 1 : count); i++)
            for (int k = 0; k < n; k++)
                w->support[batch.support + (uint32_t)(i * n + k)] =
                    (uint32_t)rows->indices[rows->offsets[vertices[i]] + k];
    }
    w->batch_count++;
    w->vertex_count += (size_t)count;
    w->support_count += (size_t)n * (size_t)(shared ? 1 : count);
    w->weight_count += (size_t)n * (size_t)(shared ? width : count);
}

static void put_table(writer *w, const exi_stencil_plan *plan, float *row) {
    const int *offsets = w->rows->offsets;
    for (int b = 0, begin = 0; b < plan->end_count; begin = plan->ends[b++])
        put_batch(w, plan->shared + begin, plan->ends[b] - begin, true, row);
    for (int begin = 0; begin < plan->loose_count;) {
        const int *loose = plan->loose + begin, left = plan->loose_count - begin;
        const int size = offsets[loose[0] + 1] - offsets[loose[0]];
        int count = 1;
        while (count < left && count < EXI_BATCH_LOOSE && offsets[loose[count] + 1] - offsets[loose[count]] == size)
            count++;
        put_batch(w, loose, count, false, row);
        begin += count;
    }
}

/* ---- the block ---- */

static void lay_out(exi_stencil_table *table, const writer *w, exi_size *total) {
    table->vertex_count = w->rows->vertex_count;
    table->weight_count = w->rows->vertex_count > 0 ? w->rows->offsets[w->rows->vertex_count] : 0;
    table->batch_count = (int32_t)w->batch_count;
    table->has_tangents = w->rows->tangents != NULL;
    table->batches = exi_size_add(total, w->batch_count, sizeof(exi_stencil_batch), EXI_ALIGN);
    table->vertices = exi_size_add(total, w->vertex_count, sizeof(uint32_t), EXI_ALIGN);
    table->support = exi_size_add(total, w->support_count, sizeof(uint32_t), EXI_ALIGN);
    table->weights = exi_size_add(total, w->weight_count, sizeof(float), EXI_ALIGN);
    table->tangents = exi_size_add(total, table->has_tangents ? w->weight_count : 0, 2 * sizeof(float), EXI_ALIGN);
}

static void *at(const void *block, uint64_t offset) {
    return (void *)((uintptr_t)block + (uintptr_t)offset);
}

/* Returns the size of the ints for planning plus the floats of the longest row; 0 if that does not fit. */
static size_t work_size(const ex_stencils_def *def, int table_count) {
    size_t most = 0;
    for (int t = 0; t < table_count; t++) {
        size_t size = exi_stencil_plan_size(rows_of(def, t), def->control_count);
        most = size > most ? size : most;
    }
    exi_size total = {0};
    exi_size_add(&total, most, sizeof(int), EXI_ALIGN);
    exi_size_add(&total, (size_t)def->control_count + 1, sizeof(float), EXI_ALIGN);
    return total.overflow ? 0 : total.bytes;
}

/* Plans every table twice, for the sizes and for the filling, so that only one plan is in memory at a time. */
static ex_result build(const ex_stencils_def *def, const ex_allocator *allocator, ex_stencils head, int *work,
                       float *row, ex_stencils **stencils, ex_error *error) {
    exi_stencil_table tables[33];
    exi_stencil_plan plan;
    exi_size total = {.bytes = sizeof head};
    head.tables = exi_size_add(&total, (size_t)head.table_count, sizeof tables[0], EXI_ALIGN);
    for (int t = 0; t < head.table_count; t++) {
        writer counting = {.rows = rows_of(def, t)};
        exi_stencil_plan_make(counting.rows, def->control_count, work, &plan);
        put_table(&counting, &plan, row);
        lay_out(&tables[t], &counting, &total);
    }
    if (total.overflow)
        return ex_error_set(error, EX_ERROR_LIMIT, "the stencils are too large for this machine's memory");
    head.size = total.bytes;
    ex_stencils *made = exi_block_create(allocator, total.bytes);
    if (!made)
        return ex_error_memory(error, "the stencils", total.bytes);
    *made = head;
    memcpy(at(made, head.tables), tables, (size_t)head.table_count * sizeof tables[0]);
    for (int t = 0; t < head.table_count; t++) {
        writer filling = {.rows = rows_of(def, t),
                          .batches = at(made, tables[t].batches),
                          .vertices = at(made, tables[t].vertices),
                          .support = at(made, tables[t].support),
                          .weights = at(made, tables[t].weights),
                          .tangents = tables[t].has_tangents ? at(made, tables[t].tangents) : NULL};
        exi_stencil_plan_make(filling.rows, def->control_count, work, &plan);
        put_table(&filling, &plan, row);
    }
    *stencils = made;
    return EX_OK;
}

ex_result ex_stencils_create(const ex_stencils_def *def, const ex_allocator *allocator, ex_stencils **stencils,
                             ex_error *error) {
    if (!def || !stencils) {
        exi_misuse(__func__, "no definition, or no pointer for the stencils");
        return EX_ERROR_ARGUMENT;
    }
    *stencils = NULL;
    ex_result result = check_def(def, error);
    if (result != EX_OK)
        return result;
    ex_stencils head = {.control_count = def->control_count,
                        .level_count = def->level_count,
                        .has_limit = def->limit != NULL,
                        .table_count = def->level_count + (def->limit != NULL)};
    size_t size = work_size(def, head.table_count);
    if (size == 0)
        return ex_error_set(error, EX_ERROR_LIMIT, "the stencils are too large for this machine's memory");
    char *work = exi_allocate(allocator, size);
    if (!work)
        return ex_error_memory(error, "the stencils", size);
    size_t row = size - ((size_t)def->control_count + 1) * sizeof(float);
    result = build(def, allocator, head, (int *)(void *)work, (float *)(void *)(work + row), stencils, error);
    exi_release(allocator, work, size);
    return result;
}

void ex_stencils_destroy(ex_stencils *stencils) {
    exi_block_destroy(stencils);
}

/* ---- reading ---- */

bool ex_stencils_on_limit(const ex_stencils *s) {
    const exi_stencil_table *tables = at(s, s->tables);
    bool all = s->level_count > 0 && !s->has_limit;
    for (int i = 0; i < s->level_count; i++)
        all = all && tables[i].has_tangents;
    return all;
}

const exi_stencil_table *exi_stencils_table(const ex_stencils *s, int level) {
    const exi_stencil_table *tables = at(s, s->tables);
    if (level == EX_LEVEL_LIMIT && !s->has_limit)
        return ex_stencils_on_limit(s) ? &tables[s->level_count - 1] : NULL;
    if (level == EX_LEVEL_LIMIT)
        return &tables[s->level_count];
    return level > 0 && level <= s->level_count ? &tables[level - 1] : NULL;
}

int ex_stencils_control_count(const ex_stencils *stencils) {
    return stencils->control_count;
}

int ex_stencils_level_count(const ex_stencils *stencils) {
    return stencils->level_count;
}

bool ex_stencils_has(const ex_stencils *stencils, int level) {
    return level == 0 || exi_stencils_table(stencils, level) != NULL;
}

int ex_stencils_vertex_count(const ex_stencils *stencils, int level) {
    const exi_stencil_table *table = exi_stencils_table(stencils, level);
    return table ? table->vertex_count : level == 0 ? stencils->control_count : 0;
}

bool ex_stencils_has_tangents(const ex_stencils *stencils, int level) {
    const exi_stencil_table *table = exi_stencils_table(stencils, level);
    return table && table->has_tangents;
}

size_t ex_stencils_size(const ex_stencils *stencils) {
    return (size_t)stencils->size;
}

int ex_stencils_weight_count(const ex_stencils *stencils, int level) {
    const exi_stencil_table *table = exi_stencils_table(stencils, level);
    return table ? table->weight_count : 0;
}

/* Output of rows: as doubles or, as they are stored, as floats. */
typedef struct rows_out {
    int *offsets, *indices;
    double *weights, *tangents;
    float *float_weights, *float_tangents;
} rows_out;

static void read_row(const ex_stencils *s, const exi_stencil_table *table, const exi_stencil_batch *batch, int place,
                     int begin, const rows_out *out) {
    const uint32_t *support = (const uint32_t *)at(s, table->support) + batch->support;
    const float *weights = (const float *)at(s, table->weights) + batch->weights;
    const float *tangents = (const float *)at(s, table->tangents) + 2 * batch->weights;
    const size_t n = batch->support_count;
    for (size_t i = 0; i < n; i++) {
        size_t to = (size_t)begin + i;
        const float weight = weights[weight_place(batch, place, i)];
        out->indices[to] = (int)support[batch->width ? i : (size_t)place * n + i];
        if (out->weights)
            out->weights[to] = (double)weight;
        else
            out->float_weights[to] = weight;
        for (size_t c = 0; c < 2 && (out->tangents || out->float_tangents); c++) {
            const float tangent = tangents[tangent_place(batch, place, i, c)];
            if (out->tangents)
                out->tangents[2 * to + c] = (double)tangent;
            else
                out->float_tangents[2 * to + c] = tangent;
        }
    }
}

static void read_rows(const ex_stencils *stencils, const exi_stencil_table *table, const rows_out *out) {
    const exi_stencil_batch *batches = at(stencils, table->batches);
    const uint32_t *vertices = at(stencils, table->vertices);
    out->offsets[0] = 0;
    for (int b = 0; b < table->batch_count; b++)
        for (int i = 0; i < batches[b].vertex_count; i++)
            out->offsets[vertices[batches[b].vertices + (uint32_t)i] + 1] = (int)batches[b].support_count;
    for (int v = 0; v < table->vertex_count; v++)
        out->offsets[v + 1] += out->offsets[v];
    for (int b = 0; b < table->batch_count; b++)
        for (int i = 0; i < batches[b].vertex_count; i++)
            read_row(stencils, table, &batches[b], i, out->offsets[vertices[batches[b].vertices + (uint32_t)i]], out);
}

void ex_stencils_read(const ex_stencils *stencils, int level, int *offsets, int *indices, double *weights,
                      double *tangents) {
    const exi_stencil_table *table = stencils ? exi_stencils_table(stencils, level) : NULL;
    if (!table || !offsets || !indices || !weights || (tangents && !table->has_tangents)) {
        exi_misuse(__func__, "no stencils of that level, or no pointer for the rows");
        return;
    }
    read_rows(stencils, table,
              &(rows_out){.offsets = offsets, .indices = indices, .weights = weights, .tangents = tangents});
}

void exi_stencils_read_floats(const ex_stencils *stencils, int level, int *offsets, int *indices, float *weights,
                              float *tangents) {
    read_rows(
        stencils, exi_stencils_table(stencils, level),
        &(rows_out){.offsets = offsets, .indices = indices, .float_weights = weights, .float_tangents = tangents});
}
