/*
 * Forms laid out for blending: sizes, filling, reading back (forms.h describes the layout).
 */
#include "runtime/shape/forms.h"

#include "runtime/base/memory.h"
#include "runtime/base/result.h"

#include <math.h>
#include <string.h>

static float *base_tiles(const ex_forms *f) {
    return (float *)((uintptr_t)f + (uintptr_t)f->base);
}

static float *scales(const ex_forms *f) {
    return (float *)((uintptr_t)f + (uintptr_t)f->scales);
}

static size_t tile_start(const ex_forms *f, int tile, int example) {
    return ((size_t)tile * (size_t)f->example_count + (size_t)example) * EXI_TILE_FLOATS;
}

static float *float_tile(const ex_forms *f, int tile, int example) {
    return (float *)((uintptr_t)f + (uintptr_t)f->tiles) + tile_start(f, tile, example);
}

static int16_t *short_tile(const ex_forms *f, int tile, int example) {
    return (int16_t *)((uintptr_t)f + (uintptr_t)f->tiles) + tile_start(f, tile, example);
}

static int16_t to_short(float value, float largest) {
    return (int16_t)(largest > 0 ? lrintf(fmaxf(-32767.0f, fminf(32767.0f, value / largest * 32767.0f))) : 0);
}

bool exi_forms_layout(ex_forms *f) {
    f->tile_count = f->vertex_count / EXI_TILE + (f->vertex_count % EXI_TILE != 0);
    size_t number = f->storage == EX_STORAGE_FLOAT ? sizeof(float) : sizeof(uint16_t);
    size_t tiles = 0;
    exi_size total = {.bytes = sizeof *f};
    f->base = exi_size_add(&total, (size_t)f->tile_count, EXI_TILE_FLOATS * sizeof(float), EXI_ALIGN);
    f->scales = exi_size_add(&total, (size_t)f->example_count, sizeof(float), EXI_ALIGN);
    bool fits = exi_multiply((size_t)f->tile_count, (size_t)f->example_count, &tiles);
    f->tiles = exi_size_add(&total, tiles, EXI_TILE_FLOATS * number, EXI_ALIGN);
    f->size = total.bytes;
    return fits && !total.overflow;
}

/* Returns the largest absolute value of one example, or -1, with the vertex, if a number is not finite. */
static float largest_value(const ex_forms *f, const float *values, const uint32_t *gather, const float *mask,
                           int *bad_vertex) {
    float largest = 0;
    for (int v = 0; v < f->vertex_count; v++) {
        const float *source = values + 3 * (gather ? (size_t)gather[v] : (size_t)v);
        for (int c = 0; c < 3; c++) {
            float value = fabsf(mask ? source[c] * mask[v] : source[c]);
            if (!isfinite(value)) {
                *bad_vertex = v;
                return -1;
            }
            largest = value > largest ? value : largest;
        }
    }
    return largest;
}

bool exi_forms_set_base(ex_forms *f, const float *positions, const uint32_t *gather, int *bad_vertex) {
    if (largest_value(f, positions, gather, NULL, bad_vertex) < 0)
        return false;
    float *tiles = base_tiles(f);
    for (int v = 0; v < f->vertex_count; v++) {
        const float *source = positions + 3 * (gather ? (size_t)gather[v] : (size_t)v);
        float *tile = tiles + (size_t)(v / EXI_TILE) * EXI_TILE_FLOATS + v % EXI_TILE;
        for (int c = 0; c < 3; c++)
            tile[c * EXI_TILE] = source[c];
    }
    return true;
}

bool exi_forms_set_example(ex_forms *f, int example, const float *deltas, const uint32_t *gather, const float *mask,
                           int *bad_vertex) {
    float largest = largest_value(f, deltas, gather, mask, bad_vertex);
    if (largest < 0)
        return false;
    float scale = largest / 32767.0f;
    scales(f)[example] = scale;
    for (int v = 0; v < f->vertex_count; v++) {
        const float *source = deltas + 3 * (gather ? (size_t)gather[v] : (size_t)v);
        for (int c = 0; c < 3; c++) {
            float value = mask ? source[c] * mask[v] : source[c];
            if (f->storage == EX_STORAGE_FLOAT)
                float_tile(f, v / EXI_TILE, example)[c * EXI_TILE + v % EXI_TILE] = value;
            else
                short_tile(f, v / EXI_TILE, example)[c * EXI_TILE + v % EXI_TILE] = to_short(value, largest);
        }
    }
    return true;
}

void exi_forms_get_base_vertex(const ex_forms *f, int vertex, float position[3]) {
    const float *tile = base_tiles(f) + (size_t)(vertex / EXI_TILE) * EXI_TILE_FLOATS + vertex % EXI_TILE;
    for (int c = 0; c < 3; c++)
        position[c] = tile[c * EXI_TILE];
}

void exi_forms_get_vertex(const ex_forms *f, int example, int vertex, float delta[3]) {
    const int i = vertex % EXI_TILE, tile = vertex / EXI_TILE;
    for (int c = 0; c < 3; c++)
        delta[c] = f->storage == EX_STORAGE_FLOAT
                       ? float_tile(f, tile, example)[c * EXI_TILE + i]
                       : (float)short_tile(f, tile, example)[c * EXI_TILE + i] * scales(f)[example];
}

void exi_forms_get_base(const ex_forms *f, float *positions) {
    for (int v = 0; v < f->vertex_count; v++)
        exi_forms_get_base_vertex(f, v, positions + 3 * (size_t)v);
}

void exi_forms_get_example(const ex_forms *f, int example, float *delta) {
    for (int v = 0; v < f->vertex_count; v++)
        exi_forms_get_vertex(f, example, v, delta + 3 * (size_t)v);
}

static ex_result check_def(const ex_forms_def *def, ex_error *error) {
    if (def->vertex_count < 0 || def->example_count < 0 || (unsigned)def->storage >= EX_STORAGE_COUNT)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "a count is negative, or the storage is unknown");
    if ((def->vertex_count > 0 && !def->base) || (def->example_count > 0 && !def->deltas))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "base or examples are missing");
    return EX_OK;
}

static ex_result fill(ex_forms *forms, const ex_forms_def *def, ex_error *error) {
    int bad = 0;
    if (!exi_forms_set_base(forms, def->base, NULL, &bad))
        return ex_error_set(error, EX_ERROR_DATA, "base: vertex %d is not finite", bad);
    for (int k = 0; k < def->example_count; k++)
        if (!exi_forms_set_example(forms, k, def->deltas[k], NULL, NULL, &bad))
            return ex_error_set(error, EX_ERROR_DATA, "example %d: vertex %d is not finite", k + 1, bad);
    return EX_OK;
}

ex_result ex_forms_create(const ex_forms_def *def, const ex_allocator *allocator, ex_forms **forms, ex_error *error) {
    if (!def || !forms)
        return exi_misuse_error(error, __func__, "no definition, or no pointer for the forms");
    *forms = NULL;
    ex_result result = check_def(def, error);
    if (result != EX_OK)
        return result;
    ex_forms head = {
        .vertex_count = def->vertex_count, .example_count = def->example_count, .storage = (int32_t)def->storage};
    if (!exi_forms_layout(&head))
        return ex_error_set(error, EX_ERROR_LIMIT, "the forms are too large for this machine's memory");
    ex_forms *made = exi_block_create(allocator, (size_t)head.size);
    if (!made)
        return ex_error_memory(error, "the forms", (size_t)head.size);
    *made = head;
    result = fill(made, def, error);
    if (result != EX_OK)
        exi_block_destroy(made);
    else
        *forms = made;
    return result;
}

void ex_forms_destroy(ex_forms *forms) {
    exi_block_destroy(forms);
}

int ex_forms_vertex_count(const ex_forms *forms) {
    return forms->vertex_count;
}

int ex_forms_example_count(const ex_forms *forms) {
    return forms->example_count;
}
