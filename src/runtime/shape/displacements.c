/*
 * Displacement maps: d(v) = mask(v) * sum over k of w_k d_k(v) (Allen, Curless and Popovic 2002, equation 2), in metres
 * along the limit normal; the mask is multiplied into d_k when it is set.
 *
 * A blend reads 4 bytes per listed vertex and example with a non-zero weight (2 in 16 bit), once: with the eight
 * nearest examples 32 bytes per vertex, a fifth of what refining the vertex reads. displacements_kernel.c has the sum.
 */
#include "runtime/shape/displacements.h"

#include "runtime/base/memory.h"
#include "runtime/base/result.h"

#include <math.h>
#include <string.h>

static void *at(const exi_displacements *d, uint64_t offset) {
    return (void *)((uintptr_t)d + (uintptr_t)offset);
}

static float *floats_of(const exi_displacements *d, uint32_t example) {
    return (float *)at(d, d->values) + (size_t)example * (size_t)d->stride;
}

static int16_t *shorts_of(const exi_displacements *d, uint32_t example) {
    return (int16_t *)at(d, d->values) + (size_t)example * (size_t)d->stride;
}

/* ---- creation ---- */

int exi_displacements_list(const float *const *maps, int example_count, int vertex_count, const float *mask,
                           uint32_t *vertices) {
    int count = 0;
    for (int v = 0; v < vertex_count; v++) {
        bool displaced = false;
        for (int k = 0; k < example_count && !displaced; k++)
            displaced = !((mask ? maps[k][v] * mask[v] : maps[k][v]) == 0);
        if (displaced && vertices)
            vertices[count] = (uint32_t)v;
        count += displaced;
    }
    return count;
}

ex_result exi_displacements_create(const exi_displacements_def *def, const ex_allocator *allocator,
                                   exi_displacements **made, ex_error *error) {
    const size_t listed = (size_t)def->listed_count, number = def->storage == EX_STORAGE_FLOAT ? 4 : 2;
    exi_displacements head = {.vertex_count = def->vertex_count,
                              .listed_count = def->listed_count,
                              .example_count = def->example_count,
                              .storage = (int32_t)def->storage,
                              .stride = (listed + EXI_DISPLACED_TILE - 1) / EXI_DISPLACED_TILE * EXI_DISPLACED_TILE};
    exi_size total = {.bytes = sizeof head};
    size_t row = 0;
    const bool fits = exi_multiply((size_t)head.stride, number, &row);
    head.vertices = exi_size_add(&total, listed, sizeof(uint32_t), EXI_ALIGN);
    head.scales = exi_size_add(&total, (size_t)def->example_count, sizeof(float), EXI_ALIGN);
    head.peaks = exi_size_add(&total, (size_t)def->example_count, sizeof(float), EXI_ALIGN);
    head.values = exi_size_add(&total, (size_t)def->example_count, row, EXI_ALIGN);
    head.size = total.bytes;
    if (!fits || total.overflow)
        return ex_error_set(error, EX_ERROR_LIMIT, "the displacements are too large for this machine's memory");
    exi_displacements *block = exi_block_create(allocator, total.bytes);
    if (!block)
        return ex_error_memory(error, "the displacements", total.bytes);
    *block = head;
    if (def->vertices && listed > 0)
        memcpy(at(block, head.vertices), def->vertices, listed * sizeof(uint32_t));
    *made = block;
    return EX_OK;
}

static float value_of(const exi_displacements *d, const float *values, bool dense, const float *mask, int i) {
    const uint32_t v = exi_displacements_vertices(d)[i];
    const float value = values[dense ? v : (uint32_t)i];
    return mask ? value * mask[v] : value;
}

bool exi_displacements_set(exi_displacements *d, int example, const float *values, bool dense, const float *mask,
                           uint32_t *bad_vertex) {
    float largest = 0;
    for (int i = 0; i < d->listed_count; i++) {
        const float size = fabsf(value_of(d, values, dense, mask, i));
        if (!isfinite(size)) {
            *bad_vertex = exi_displacements_vertices(d)[i];
            return false;
        }
        largest = size > largest ? size : largest;
    }
    ((float *)at(d, d->scales))[example] = largest / 32767.0F;
    ((float *)at(d, d->peaks))[example] = largest;
    for (int i = 0; i < d->listed_count; i++) {
        const float value = value_of(d, values, dense, mask, i);
        if (d->storage == EX_STORAGE_FLOAT)
            floats_of(d, (uint32_t)example)[i] = value;
        else
            shorts_of(d, (uint32_t)example)[i] = (int16_t)(largest > 0 ? lrintf(value / largest * 32767.0F) : 0);
    }
    return true;
}

void exi_displacements_get(const exi_displacements *d, int example, float *values) {
    const float scale = ((const float *)at(d, d->scales))[example];
    for (int i = 0; i < d->listed_count; i++)
        values[i] = d->storage == EX_STORAGE_FLOAT ? floats_of(d, (uint32_t)example)[i]
                                                   : (float)shorts_of(d, (uint32_t)example)[i] * scale;
}

/* ---- summing ---- */

/* Returns the index of the first listed vertex not below `vertex`. */
static int find(const uint32_t *vertices, int count, int vertex) {
    int low = 0, high = count;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (vertices[middle] < (uint32_t)vertex)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void exi_displacements_add(const exi_displacements *d, const exi_displacement_term *terms, int term_count, int begin,
                           int end, float *out) {
    const uint32_t *vertices = exi_displacements_vertices(d);
    const int first = find(vertices, d->listed_count, begin), last = find(vertices, d->listed_count, end);
    if (first == last || term_count == 0)
        return;
    /* Whole tiles; numbers beyond the piece are summed but not used. */
    const int start = first / EXI_DISPLACED_TILE * EXI_DISPLACED_TILE;
    const int tile_count = (last - start + EXI_DISPLACED_TILE - 1) / EXI_DISPLACED_TILE;
    float sums[EXI_DISPLACED + 2 * EXI_DISPLACED_TILE];
    const exi_displacement_sum sum_of = {.floats = d->storage == EX_STORAGE_FLOAT ? at(d, d->values) : NULL,
                                         .shorts = at(d, d->values),
                                         .scales = at(d, d->scales),
                                         .stride = (size_t)d->stride,
                                         .terms = terms,
                                         .term_count = term_count};
    exi_displacements_sum(&sum_of, (size_t)start, tile_count, sums);
    const float *sum = sums + (first - start);
    const int count = last - first;
    if (vertices[last - 1] - vertices[first] == (uint32_t)count - 1) {
        float *to = out + (vertices[first] - (uint32_t)begin);
        for (int i = 0; i < count; i++)
            to[i] += sum[i];
        return;
    }
    for (int i = 0; i < count; i++)
        out[vertices[first + i] - (uint32_t)begin] += sum[i];
}

double exi_displacements_bound(const exi_displacements *d, const exi_displacement_term *terms, int term_count) {
    const float *peaks = at(d, d->peaks);
    double bound = 0;
    for (int k = 0; k < term_count; k++)
        bound += fabs((double)terms[k].weight) * (double)peaks[terms[k].example];
    return bound;
}
