/*
 * Writes arrays of numbers into one buffer: views and accessors, equal bytes only once.
 */
#include "author/formats/gltf/gltf_writer.h"

#include "author/base/array.h"
#include "runtime/base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { UNSIGNED_BYTE = 5121, UNSIGNED_SHORT = 5123, UNSIGNED_INT = 5125, FLOAT = 5126 };
enum { ARRAY_BUFFER = 34962, ELEMENT_BUFFER = 34963 };

enum { KNOWN_LISTS = 1 << 16 };

struct exi_gltf_known {
    int next; /* number of the next array of the same list, counting from 1; 0 at its end */
    uint64_t hash;
    size_t offset, size;
    int component, width, accessor;
    exi_gltf_use use;
};

void exi_gltf_set(exi_gltf_writer *w, json_t *object, const char *key, json_t *value) {
    if (json_object_set_new(object, key, value) != 0)
        w->failed = true;
}

void exi_gltf_set_filled(exi_gltf_writer *w, json_t *object, const char *key, json_t *value) {
    if (!value || json_array_size(value) + json_object_size(value) > 0)
        exi_gltf_set(w, object, key, value);
    else
        json_decref(value);
}

void exi_gltf_append(exi_gltf_writer *w, json_t *array, json_t *value) {
    if (json_array_append_new(array, value) != 0)
        w->failed = true;
}

void exi_gltf_set_name(exi_gltf_writer *w, json_t *object, const char *name) {
    if (!name)
        return;
    char *copy = exi_text_copy(name, strlen(name));
    for (char *c = copy; c && *c; c++)
        *c = (unsigned char)*c < 0x20 || *c == 0x7F ? ' ' : *c;
    const bool valid = !copy || exi_is_text(copy); /* which refuses control characters; JSON has them */
    for (size_t i = 0; !valid && name[i]; i++)
        copy[i] = (unsigned char)name[i] >= 0x80 ? '?' : name[i];
    exi_gltf_set(w, object, "name", copy ? json_string(valid ? name : copy) : NULL);
    free(copy);
}

json_t *exi_gltf_number(double value) {
    bool whole = value == floor(value) && fabs(value) < 1e15 && !(value == 0 && signbit(value));
    return whole ? json_integer((json_int_t)value) : json_real(value);
}

json_t *exi_gltf_numbers(exi_gltf_writer *w, const double *values, int count) {
    json_t *list = json_array();
    for (int i = 0; i < count; i++)
        exi_gltf_append(w, list, exi_gltf_number(values[i]));
    if (!list)
        w->failed = true;
    return list;
}

int exi_gltf_add_view(exi_gltf_writer *w, const void *bytes, size_t size, exi_gltf_use use) {
    exi_text_add(&w->bin, "\0\0\0", (4 - w->bin.size % 4) % 4);
    size_t offset = w->bin.size;
    exi_text_add(&w->bin, bytes, size);
    json_t *view =
        json_pack("{s:i, s:I, s:I}", "buffer", 0, "byteOffset", (json_int_t)offset, "byteLength", (json_int_t)size);
    if (use != EXI_GLTF_DATA)
        exi_gltf_set(w, view, "target", json_integer(use == EXI_GLTF_VERTICES ? ARRAY_BUFFER : ELEMENT_BUFFER));
    exi_gltf_append(w, w->views, view);
    return (int)json_array_size(w->views) - 1;
}

static int find_known(const exi_gltf_writer *w, const exi_gltf_known *wanted, const void *bytes) {
    for (int i = w->known_first ? w->known_first[wanted->hash % KNOWN_LISTS] : 0; i > 0; i = w->known[i - 1].next) {
        const exi_gltf_known *k = &w->known[i - 1];
        if (k->hash == wanted->hash && k->size == wanted->size && k->component == wanted->component &&
            k->width == wanted->width && k->use == wanted->use && !w->bin.failed &&
            memcmp(w->bin.bytes + k->offset, bytes, k->size) == 0)
            return k->accessor;
    }
    return -1;
}

static void add_bounds(exi_gltf_writer *w, json_t *accessor, const float *values, int count, int width) {
    double low[16], high[16];
    for (int c = 0; c < width; c++) {
        low[c] = high[c] = (double)values[c];
        for (size_t i = 1; i < (size_t)count; i++) {
            double value = (double)values[i * (size_t)width + (size_t)c];
            low[c] = value < low[c] ? value : low[c];
            high[c] = value > high[c] ? value : high[c];
        }
    }
    exi_gltf_set(w, accessor, "min", exi_gltf_numbers(w, low, width));
    exi_gltf_set(w, accessor, "max", exi_gltf_numbers(w, high, width));
}

static int add_accessor(exi_gltf_writer *w, const void *bytes, size_t size, int component, int count, int width,
                        exi_gltf_use use, const float *bounds) {
    static const char *const types[] = {"SCALAR", "VEC2", "VEC3", "VEC4"};
    exi_gltf_known known = {
        .hash = exi_bytes_hash(bytes, size), .size = size, .component = component, .width = width, .use = use};
    int found = find_known(w, &known, bytes);
    if (found >= 0) {
        json_t *accessor = json_array_get(w->accessors, (size_t)found);
        if (bounds && !json_object_get(accessor, "min"))
            add_bounds(w, accessor, bounds, count, width);
        return found;
    }
    int view = exi_gltf_add_view(w, bytes, size, use);
    known.offset = w->bin.size - size;
    json_t *accessor = json_pack("{s:i, s:i, s:i, s:s}", "bufferView", view, "componentType", component, "count", count,
                                 "type", width == 16 ? "MAT4" : types[width - 1]);
    if (bounds && accessor)
        add_bounds(w, accessor, bounds, count, width);
    exi_gltf_append(w, w->accessors, accessor);
    known.accessor = (int)json_array_size(w->accessors) - 1;
    exi_gltf_known *moved = exi_array_grow(w->known, &w->known_capacity, w->known_count + 1, sizeof *moved);
    w->known = moved ? moved : w->known;
    if (!w->known_first)
        w->known_first = calloc(KNOWN_LISTS, sizeof *w->known_first);
    if (!moved || !w->known_first) {
        w->failed = true;
        return known.accessor;
    }
    int *first = &w->known_first[known.hash % KNOWN_LISTS];
    known.next = *first;
    w->known[w->known_count++] = known;
    *first = (int)w->known_count;
    return known.accessor;
}

int exi_gltf_add_floats(exi_gltf_writer *w, const float *values, int count, int width, exi_gltf_use use, bool bounds) {
    size_t size = (size_t)count * (size_t)width * sizeof *values;
    return add_accessor(w, values, size, FLOAT, count, width, use, bounds ? values : NULL);
}

int exi_gltf_add_indices(exi_gltf_writer *w, const int *values, int count, int vertex_count) {
    /* The largest number of two bytes means "primitive restart" to some viewers, so it is not used for a vertex. */
    if (vertex_count > 65535)
        return add_accessor(w, values, (size_t)count * sizeof *values, UNSIGNED_INT, count, 1, EXI_GLTF_INDICES, NULL);
    uint16_t *narrow = exi_array_allocate((size_t)count, sizeof *narrow);
    if (!narrow) {
        w->failed = true;
        return 0;
    }
    for (int i = 0; i < count; i++)
        narrow[i] = (uint16_t)values[i];
    int accessor =
        add_accessor(w, narrow, (size_t)count * sizeof *narrow, UNSIGNED_SHORT, count, 1, EXI_GLTF_INDICES, NULL);
    free(narrow);
    return accessor;
}

int exi_gltf_add_joints(exi_gltf_writer *w, const uint16_t *values, int count) {
    size_t total = 4 * (size_t)count;
    bool small = true;
    for (size_t i = 0; i < total && small; i++)
        small = values[i] < 256;
    if (!small)
        return add_accessor(w, values, total * sizeof *values, UNSIGNED_SHORT, count, 4, EXI_GLTF_VERTICES, NULL);
    uint8_t *narrow = exi_array_allocate(total, 1);
    if (!narrow) {
        w->failed = true;
        return 0;
    }
    for (size_t i = 0; i < total; i++)
        narrow[i] = (uint8_t)values[i];
    int accessor = add_accessor(w, narrow, total, UNSIGNED_BYTE, count, 4, EXI_GLTF_VERTICES, NULL);
    free(narrow);
    return accessor;
}

/* Finds rows that are not all 0, their indices in `places` [count]. Returns their number. */
static int find_rows(const float *values, int count, int *places) {
    int found = 0;
    for (int i = 0; i < count; i++) {
        const float *row = values + 3 * (size_t)i;
        if (row[0] != 0 || row[1] != 0 || row[2] != 0)
            places[found++] = i;
    }
    return found;
}

/* Writes indices of rows in the fewest bytes. Returns the view; *component receives their type. */
static int add_places(exi_gltf_writer *w, const int *places, int found, int count, int *component) {
    *component = UNSIGNED_INT;
    if (count > 65536)
        return exi_gltf_add_view(w, places, (size_t)found * sizeof *places, EXI_GLTF_DATA);
    *component = UNSIGNED_SHORT;
    uint16_t *narrow = exi_array_allocate((size_t)found, sizeof *narrow);
    if (!narrow) {
        w->failed = true;
        return 0;
    }
    for (int i = 0; i < found; i++)
        narrow[i] = (uint16_t)places[i];
    int view = exi_gltf_add_view(w, narrow, (size_t)found * sizeof *narrow, EXI_GLTF_DATA);
    free(narrow);
    return view;
}

static int add_sparse(exi_gltf_writer *w, const float *values, int count, const int *places, int found, bool bounds) {
    json_t *accessor = json_pack("{s:i, s:i, s:s}", "componentType", FLOAT, "count", count, "type", "VEC3");
    if (bounds && accessor)
        add_bounds(w, accessor, values, count, 3);
    float *rows = exi_array_allocate((size_t)found, 3 * sizeof *rows);
    for (size_t i = 0; rows && i < (size_t)found; i++)
        memcpy(rows + 3 * i, values + 3 * (size_t)places[i], 3 * sizeof *rows);
    if (rows && found > 0) { /* without any row, an accessor without bytes is all 0 */
        int component;
        int indices = add_places(w, places, found, count, &component);
        int view = exi_gltf_add_view(w, rows, (size_t)found * 3 * sizeof *rows, EXI_GLTF_DATA);
        exi_gltf_set(w, accessor, "sparse",
                     json_pack("{s:i, s:{s:i, s:i}, s:{s:i}}", "count", found, "indices", "bufferView", indices,
                               "componentType", component, "values", "bufferView", view));
    }
    w->failed = w->failed || !rows;
    free(rows);
    exi_gltf_append(w, w->accessors, accessor);
    return (int)json_array_size(w->accessors) - 1;
}

int exi_gltf_add_differences(exi_gltf_writer *w, const float *values, int count, bool bounds) {
    int *places = exi_array_allocate((size_t)count, sizeof *places);
    if (!places) {
        w->failed = true;
        return 0;
    }
    const int found = find_rows(values, count, places);
    /* Programs must expand sparse accessors: worth it if that saves at least a third of the bytes. */
    const bool sparse = 16 * (size_t)found <= 8 * (size_t)count;
    int accessor = sparse ? add_sparse(w, values, count, places, found, bounds)
                          : exi_gltf_add_floats(w, values, count, 3, EXI_GLTF_VERTICES, bounds);
    free(places);
    return accessor;
}
