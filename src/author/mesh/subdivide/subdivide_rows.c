/*
 * Rows of weights over the control vertices. A level's rows are sums of the rows of the level before, so that any level
 * is one sum away from the cage. A row is accumulated in a dense array with a list of the entries in use, so its cost
 * depends on what it adds, not on the size of the cage.
 */
#include "author/base/array.h"
#include "author/mesh/subdivide/subdivide.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

bool exi_row_sum_allocate(exi_row_sum *sum, int control_count) {
    const size_t count = (size_t)control_count;
    *sum = (exi_row_sum){0};
    sum->sums = exi_array_allocate(count, sizeof *sum->sums);
    sum->used = exi_array_allocate(count, sizeof *sum->used);
    sum->is_used = exi_array_allocate(count, 1);
    if (!sum->sums || !sum->used || !sum->is_used)
        return false;
    for (size_t i = 0; i < count; i++)
        sum->sums[i][0] = sum->sums[i][1] = sum->sums[i][2] = 0;
    memset(sum->is_used, 0, count);
    return true;
}

void exi_row_sum_free(exi_row_sum *sum) {
    free(sum->sums);
    free(sum->used);
    free(sum->is_used);
    *sum = (exi_row_sum){0};
}

static void add_control(exi_row_sum *sum, int k, const double weights[3], double factor) {
    if (!sum->is_used[k]) {
        sum->is_used[k] = 1;
        sum->used[sum->used_count++] = k;
    }
    for (int c = 0; c < 3; c++)
        sum->sums[k][c] += weights[c] * factor;
}

void exi_row_sum_add(exi_row_sum *sum, int v, double weight, double tangent_1, double tangent_2) {
    const double weights[3] = {weight, tangent_1, tangent_2};
    if (weight == 0 && tangent_1 == 0 && tangent_2 == 0)
        return;
    if (!sum->source) {
        add_control(sum, v, weights, 1.0);
        return;
    }
    const exi_rows *rows = sum->source;
    for (int i = rows->offsets[v]; i < rows->offsets[v + 1]; i++)
        add_control(sum, rows->indices[i], weights, rows->weights[i]);
}

bool exi_rows_allocate(exi_rows *rows, int vertex_count, bool tangents) {
    *rows = (exi_rows){.capacity = 8 * (size_t)vertex_count + 16};
    rows->offsets = exi_array_allocate((size_t)vertex_count + 1, sizeof *rows->offsets);
    rows->indices = exi_array_allocate(rows->capacity, sizeof *rows->indices);
    rows->weights = exi_array_allocate(rows->capacity, sizeof *rows->weights);
    rows->tangents = tangents ? exi_array_allocate(rows->capacity, 2 * sizeof *rows->tangents) : NULL;
    if (!rows->offsets || !rows->indices || !rows->weights || (tangents && !rows->tangents))
        return false;
    rows->offsets[0] = 0;
    return true;
}

void exi_rows_free(exi_rows *rows) {
    free(rows->offsets);
    free(rows->indices);
    free(rows->weights);
    free(rows->tangents);
    *rows = (exi_rows){0};
}

/* Reserves room for `needed` weights in all three arrays. If one of them fails, those already moved stay moved. */
static bool reserve(exi_rows *rows, size_t needed) {
    if (needed <= rows->capacity)
        return true;
    size_t grown = rows->capacity, same = grown, same_again = grown;
    int *indices = exi_array_grow(rows->indices, &grown, needed, sizeof *indices);
    if (!indices)
        return false;
    rows->indices = indices;
    double *weights = exi_array_grow(rows->weights, &same, needed, sizeof *weights);
    if (!weights)
        return false;
    rows->weights = weights;
    if (rows->tangents) {
        double *tangents = exi_array_grow(rows->tangents, &same_again, needed, 2 * sizeof *tangents);
        if (!tangents)
            return false;
        rows->tangents = tangents;
    }
    rows->capacity = grown;
    return true;
}

static int compare_ints(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* Rows are short on ordinary meshes, and long at poles and large polygons. */
static void sort_used(int *used, int count) {
    if (count > 64) {
        qsort(used, (size_t)count, sizeof *used, compare_ints);
        return;
    }
    for (int i = 1; i < count; i++) {
        int k = used[i], j = i;
        for (; j > 0 && used[j - 1] > k; j--)
            used[j] = used[j - 1];
        used[j] = k;
    }
}

bool exi_rows_append(exi_rows *rows, exi_row_sum *sum) {
    const size_t needed = rows->count + (size_t)sum->used_count;
    rows->too_many = needed > INT_MAX;
    if (rows->too_many || !reserve(rows, needed))
        return false;
    sort_used(sum->used, sum->used_count);
    for (int i = 0; i < sum->used_count; i++) {
        int k = sum->used[i];
        rows->indices[rows->count] = k;
        rows->weights[rows->count] = sum->sums[k][0];
        for (size_t c = 0; c < 2 && rows->tangents; c++)
            rows->tangents[2 * rows->count + c] = sum->sums[k][1 + c];
        rows->count++;
        sum->sums[k][0] = sum->sums[k][1] = sum->sums[k][2] = 0;
        sum->is_used[k] = 0;
    }
    sum->used_count = 0;
    rows->offsets[++rows->vertex_count] = (int)rows->count;
    return true;
}
