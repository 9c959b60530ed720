/*
 * Arrays of numbers: accessors (glTF 2.0, section 3.6.2) of every component type, with strides, normalised integers,
 * sparse substitution, and zeros if no view is named. Normalised integers c mean c/255, c/65535, max(c/127, −1),
 * max(c/32767, −1).
 *
 * Every size is checked before use. The decoded size of a file is bounded by the file's own size, so that a few bytes
 * that claim gigabytes of zeros, or ten thousand primitives over one array, end in an error.
 */
#include "author/formats/gltf/gltf_reader.h"

#include "author/base/array.h"
#include "runtime/base/memory.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTE = 5120, UNSIGNED_BYTE = 5121, SHORT = 5122, UNSIGNED_SHORT = 5123, UNSIGNED_INT = 5125, FLOAT = 5126 };

/* Numbers in a buffer: `count` elements, `stride` bytes apart; bytes NULL for zeros. */
typedef struct strip {
    const unsigned char *bytes;
    size_t stride;
} strip;

typedef struct accessor {
    int number, count, component, width;
    bool normalised;
    strip values;
    int sparse_count, sparse_component;
    strip sparse_indices, sparse_values;
    char where[EXI_WHERE_SIZE];
} accessor;

static size_t component_size(int component) {
    return component <= UNSIGNED_BYTE ? 1 : component <= UNSIGNED_SHORT ? 2 : 4;
}

static bool is_component(int component) {
    return component >= BYTE && component <= FLOAT && component != 5124;
}

static int width_of(const char *type) {
    static const struct {
        const char *type;
        int width;
    } types[] = {{"SCALAR", 1}, {"VEC2", 2}, {"VEC3", 3}, {"VEC4", 4}, {"MAT4", 16}};
    for (size_t i = 0; type && i < sizeof types / sizeof *types; i++)
        if (strcmp(type, types[i].type) == 0)
            return types[i].width;
    return 0;
}

static uint32_t load_bits(const unsigned char *bytes, size_t size) {
    uint32_t bits = 0;
    for (size_t i = 0; i < size; i++)
        bits |= (uint32_t)bytes[i] << (8 * i);
    return bits;
}

static double load(const accessor *a, const unsigned char *bytes) {
    uint32_t bits = load_bits(bytes, component_size(a->component));
    float number;
    switch (a->component) {
    case BYTE: {
        double value = (double)(int8_t)(uint8_t)bits;
        return !a->normalised ? value : value < -127 ? -1.0 : value / 127.0;
    }
    case UNSIGNED_BYTE:
        return a->normalised ? bits / 255.0 : bits;
    case SHORT: {
        double value = (double)(int16_t)(uint16_t)bits;
        return !a->normalised ? value : value < -32767 ? -1.0 : value / 32767.0;
    }
    case UNSIGNED_SHORT:
        return a->normalised ? bits / 65535.0 : bits;
    case UNSIGNED_INT:
        return bits;
    default:
        memcpy(&number, &bits, sizeof number);
        return (double)number;
    }
}

/* ---- the limit ---- */

ex_result exi_gltf_unfold(exi_gltf *g, size_t bytes, const char *where) {
    if (bytes > g->budget - g->unfolded)
        return exi_gltf_fail(g, EX_ERROR_LIMIT, where,
                             "the file would expand to more than %.0f MB, the most for its size (%.0f MB, and %zu "
                             "times the file): export it without sparse accessors, and with vertices of its own for "
                             "each primitive",
                             (double)g->budget / 1e6, (double)EXI_GLTF_UNFOLDED_SURE / 1e6, EXI_GLTF_UNFOLDED_PER_BYTE);
    g->unfolded += bytes;
    return EX_OK;
}

/* ---- parsing accessors ---- */

/* Finds count elements of `element` bytes in a view, from the object's byteOffset on. */
static ex_result find_strip(exi_gltf *g, const json_t *object, size_t count, size_t element, const char *where,
                            strip *found) {
    int view = -1;
    size_t offset = 0, size = 0, stride = 0, span = 0;
    const unsigned char *bytes = NULL;
    ex_result result = exi_gltf_get_reference(g, object, "bufferView", g->view_count, "bufferView", where, &view);
    if (result == EX_OK)
        result = exi_gltf_get_size(g, object, "byteOffset", where, &offset);
    if (result != EX_OK || view < 0)
        return result;
    result = exi_gltf_view(g, view, &bytes, &size, &stride);
    if (result != EX_OK)
        return result;
    if (stride == 0)
        stride = element;
    if (stride < element)
        return exi_gltf_fail(g, EX_ERROR_DATA, where,
                             "bufferViews[%d] has a byteStride of %zu, but an element takes %zu", view, stride,
                             element);
    if (!exi_multiply(count - 1, stride, &span) || span > SIZE_MAX - element || offset > size ||
        span + element > size - offset)
        return exi_gltf_fail(g, EX_ERROR_DATA, where,
                             "%zu elements from byte %zu on do not fit into the %zu bytes of bufferViews[%d]", count,
                             offset, size, view);
    *found = (strip){bytes + offset, stride};
    return EX_OK;
}

static ex_result read_sparse(exi_gltf *g, accessor *a, const json_t *json) {
    json_t *sparse, *indices = NULL, *values = NULL;
    ex_result result = exi_gltf_get_object(g, json, "sparse", a->where, &sparse);
    if (result != EX_OK || !sparse)
        return result;
    result = exi_gltf_get_int(g, sparse, "count", 1, a->count, a->where, &a->sparse_count);
    if (result == EX_OK)
        result = exi_gltf_get_object(g, sparse, "indices", a->where, &indices);
    if (result == EX_OK)
        result = exi_gltf_get_object(g, sparse, "values", a->where, &values);
    if (result != EX_OK)
        return result;
    if (a->sparse_count == 0 || !indices || !values)
        return exi_gltf_fail(g, EX_ERROR_DATA, a->where, "sparse lacks its count, indices or values");
    result = exi_gltf_get_int(g, indices, "componentType", BYTE, FLOAT, a->where, &a->sparse_component);
    if (result == EX_OK && a->sparse_component != UNSIGNED_BYTE && a->sparse_component != UNSIGNED_SHORT &&
        a->sparse_component != UNSIGNED_INT)
        result = exi_gltf_fail(g, EX_ERROR_DATA, a->where, "the sparse indices are not unsigned whole numbers");
    size_t element = component_size(a->component) * (size_t)a->width;
    if (result == EX_OK)
        result = find_strip(g, indices, (size_t)a->sparse_count, component_size(a->sparse_component), a->where,
                            &a->sparse_indices);
    if (result == EX_OK)
        result = find_strip(g, values, (size_t)a->sparse_count, element, a->where, &a->sparse_values);
    if (result == EX_OK && (!a->sparse_indices.bytes || !a->sparse_values.bytes))
        result = exi_gltf_fail(g, EX_ERROR_DATA, a->where, "sparse lacks a bufferView");
    return result;
}

static ex_result read_accessor(exi_gltf *g, int number, accessor *a) {
    const json_t *json = json_array_get(g->accessor_list, (size_t)number);
    *a = (accessor){.number = number};
    snprintf(a->where, sizeof a->where, "accessors[%d]", number);
    const json_t *type = json_object_get(json, "type");
    a->width = width_of(json_string_value(type));
    ex_result result = exi_gltf_get_int(g, json, "componentType", BYTE, FLOAT, a->where, &a->component);
    if (result == EX_OK)
        result = exi_gltf_get_int(g, json, "count", 1, INT_MAX / 4, a->where, &a->count);
    if (result == EX_OK)
        result = exi_gltf_get_bool(g, json, "normalized", a->where, &a->normalised);
    if (result != EX_OK)
        return result;
    if (!is_component(a->component) || a->count == 0)
        return exi_gltf_fail(g, EX_ERROR_DATA, a->where, "%s",
                             a->count == 0 ? "count is missing" : "componentType is not one that glTF defines");
    if (a->width == 0 || (a->width == 16 && a->component != FLOAT))
        return exi_gltf_fail(g, EX_ERROR_DATA, a->where, "type '%.20s' cannot be used here",
                             json_is_string(type) ? json_string_value(type) : "");
    result =
        find_strip(g, json, (size_t)a->count, component_size(a->component) * (size_t)a->width, a->where, &a->values);
    return result == EX_OK ? read_sparse(g, a, json) : result;
}

/* Opens an accessor for a use, and subtracts its decoded size from the file's budget. */
static ex_result open_accessor(exi_gltf *g, int number, int expected, const char *where, accessor *a) {
    ex_result result = read_accessor(g, number, a);
    if (result != EX_OK)
        return result;
    if (expected >= 0 && a->count != expected)
        return exi_gltf_fail(g, EX_ERROR_DATA, where, "accessor %d has %d elements, but %d are needed", number,
                             a->count, expected);
    return exi_gltf_unfold(g, (size_t)a->count * (size_t)a->width * 4, where);
}

static ex_result wrong_width(const exi_gltf *g, const accessor *a, const char *where, const char *wanted) {
    return exi_gltf_fail(g, EX_ERROR_DATA, where, "accessor %d has %d numbers per element; it needs %s", a->number,
                         a->width, wanted);
}

/* ---- decoding ---- */

/* Finds the index at which element i's sparse value goes. False if indices do not rise or are out of range. */
static bool sparse_place(const accessor *a, int i, long *last, size_t *place) {
    uint32_t at =
        load_bits(a->sparse_indices.bytes + (size_t)i * a->sparse_indices.stride, component_size(a->sparse_component));
    if (at >= (uint32_t)a->count || (long)at <= *last)
        return false;
    *last = (long)at;
    *place = at;
    return true;
}

static ex_result wrong_sparse(const exi_gltf *g, const accessor *a, int i) {
    return exi_gltf_fail(g, EX_ERROR_DATA, a->where,
                         "sparse index %d (counting from 0) is out of order, or beyond the %d elements", i, a->count);
}

/* Decodes one element into `out`. False if a number is not finite. */
static bool decode(const accessor *a, const unsigned char *bytes, float *out) {
    size_t size = component_size(a->component);
    for (size_t k = 0; k < (size_t)a->width; k++) {
        out[k] = (float)load(a, bytes + k * size);
        if (!isfinite(out[k]))
            return false;
    }
    return true;
}

/* out [count][row]; fills the first `width` of each row. */
static ex_result decode_floats(const exi_gltf *g, const accessor *a, size_t row, float *out) {
    for (size_t i = 0; i < (size_t)a->count && a->values.bytes; i++)
        if (!decode(a, a->values.bytes + i * a->values.stride, out + i * row))
            return exi_gltf_fail(g, EX_ERROR_DATA, a->where, "element %zu (counting from 0) is not finite", i);
    long last = -1;
    for (int s = 0; s < a->sparse_count; s++) {
        size_t place = 0;
        if (!sparse_place(a, s, &last, &place))
            return wrong_sparse(g, a, s);
        if (!decode(a, a->sparse_values.bytes + (size_t)s * a->sparse_values.stride, out + place * row))
            return exi_gltf_fail(g, EX_ERROR_DATA, a->where, "sparse value %d (counting from 0) is not finite", s);
    }
    return EX_OK;
}

static ex_result make_floats(exi_gltf *g, const accessor *a, size_t row, float fill, float **values) {
    size_t total = (size_t)a->count * row;
    *values = exi_array_allocate(total, sizeof **values);
    if (!*values)
        return exi_gltf_no_memory(g);
    for (size_t i = 0; i < total; i++)
        (*values)[i] = row > (size_t)a->width && i % row == row - 1 ? fill : 0.0f;
    ex_result result = decode_floats(g, a, row, *values);
    if (result != EX_OK) {
        free(*values);
        *values = NULL;
    }
    return result;
}

ex_result exi_gltf_floats(exi_gltf *g, int number, int width, int expected, const char *where, float **values,
                          int *count) {
    accessor a;
    *values = NULL;
    ex_result result = open_accessor(g, number, expected, where, &a);
    if (result != EX_OK)
        return result;
    if (a.width != width)
        return wrong_width(g, &a, where, (const char *[]){"1", "2", "3", "4", "16"}[width < 5 ? width - 1 : 4]);
    if (count)
        *count = a.count;
    return make_floats(g, &a, (size_t)width, 0, values);
}

ex_result exi_gltf_colours(exi_gltf *g, int number, int expected, const char *where, float **values) {
    accessor a;
    *values = NULL;
    ex_result result = open_accessor(g, number, expected, where, &a);
    if (result != EX_OK)
        return result;
    return a.width == 3 || a.width == 4 ? make_floats(g, &a, 4, 1, values) : wrong_width(g, &a, where, "3 or 4");
}

/* Decodes integers into out. False if one is too large. */
static bool decode_ints(const accessor *a, const unsigned char *bytes, int most, int *out) {
    size_t size = component_size(a->component);
    for (size_t k = 0; k < (size_t)a->width; k++) {
        uint32_t value = load_bits(bytes + k * size, size);
        if (value > (uint32_t)most)
            return false;
        out[k] = (int)value;
    }
    return true;
}

/* out [count][width], filled with zeros. */
static ex_result decode_all_ints(const exi_gltf *g, const accessor *a, int most, const char *where, int *out) {
    size_t row = (size_t)a->width, bad = SIZE_MAX;
    for (size_t i = 0; i < (size_t)a->count && a->values.bytes && bad == SIZE_MAX; i++)
        if (!decode_ints(a, a->values.bytes + i * a->values.stride, most, out + i * row))
            bad = i;
    long last = -1;
    for (int s = 0; s < a->sparse_count && bad == SIZE_MAX; s++) {
        size_t place = 0;
        if (!sparse_place(a, s, &last, &place))
            return wrong_sparse(g, a, s);
        if (!decode_ints(a, a->sparse_values.bytes + (size_t)s * a->sparse_values.stride, most, out + place * row))
            bad = place;
    }
    return bad == SIZE_MAX
               ? EX_OK
               : exi_gltf_fail(g, EX_ERROR_DATA, where,
                               "element %zu (counting from 0) of accessor %d is larger than %d", bad, a->number, most);
}

ex_result exi_gltf_ints(exi_gltf *g, int number, int width, int expected, int most, const char *where, int **values,
                        int *count) {
    accessor a;
    *values = NULL;
    ex_result result = open_accessor(g, number, expected, where, &a);
    if (result != EX_OK)
        return result;
    if (a.width != width)
        return wrong_width(g, &a, where, width == 1 ? "1" : "4");
    if (a.component != UNSIGNED_BYTE && a.component != UNSIGNED_SHORT && a.component != UNSIGNED_INT)
        return exi_gltf_fail(g, EX_ERROR_DATA, where, "accessor %d does not hold unsigned whole numbers", number);
    size_t row = (size_t)width, total = (size_t)a.count * row;
    *values = exi_array_allocate(total, sizeof **values);
    if (!*values)
        return exi_gltf_no_memory(g);
    memset(*values, 0, total * sizeof **values);
    *count = a.count;
    result = decode_all_ints(g, &a, most, where, *values);
    if (result != EX_OK) {
        free(*values);
        *values = NULL;
    }
    return result;
}
