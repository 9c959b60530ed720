/*
 * Bytes of a gathered file: numbers, texts, meshes and options, in the order of the calls, each padded to eight bytes.
 * Sixteen bytes at the end hold the size and the checksum of all before. Counts are checked against the bytes that are
 * left before anything is allocated.
 */
#include "author/drive/gather/gathered.h"

#include "author/base/array.h"
#include "author/mesh/mesh_check.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { UNIT = 8 };

/* ---- checksum: as runtime/base/checksum.h, for bytes that come one after the other ---- */

static uint64_t mix(uint64_t state, uint64_t word) {
    state = (state ^ word) * 0xD6E8FEB86659FD93u;
    return state ^ state >> 32;
}

static uint64_t mix_bytes(uint64_t state, const char *bytes, size_t size) {
    for (size_t i = 0; i < size; i += UNIT) {
        uint64_t word = 0;
        memcpy(&word, bytes + i, size - i < UNIT ? size - i : UNIT);
        state = mix(state, word);
    }
    return state;
}

static const uint64_t first_state = 0x9E3779B97F4A7C15u;

/* ---- writing ---- */

void exi_out_start(exi_out *out, ex_file_writer *file) {
    *out = (exi_out){.file = file, .checksum = first_state};
}

void exi_out_bytes(exi_out *out, const void *bytes, size_t size) {
    static const char zeros[UNIT];
    const size_t padding = (UNIT - size % UNIT) % UNIT;
    if (size > 0)
        ex_file_write(out->file, bytes, size);
    if (padding > 0)
        ex_file_write(out->file, zeros, padding);
    out->checksum = mix_bytes(out->checksum, bytes, size);
    out->size += size + padding;
}

void exi_out_int(exi_out *out, int64_t value) {
    exi_out_bytes(out, &value, sizeof value);
}

void exi_out_number(exi_out *out, double value) {
    exi_out_bytes(out, &value, sizeof value);
}

void exi_out_text(exi_out *out, const char *text) {
    exi_out_int(out, text ? (int64_t)strlen(text) : -1);
    if (text)
        exi_out_bytes(out, text, strlen(text));
}

/* An array that may be missing. */
static void put_array(exi_out *out, const void *items, int count, size_t size) {
    exi_out_int(out, items ? count : -1);
    if (items)
        exi_out_bytes(out, items, (size_t)count * size);
}

static void put_texts(exi_out *out, char *const *texts, int count) {
    exi_out_int(out, count);
    for (int i = 0; i < count; i++)
        exi_out_text(out, texts[i]);
}

void exi_out_mesh(exi_out *out, const ex_mesh *m) {
    put_array(out, m->positions, m->vertex_count, 3 * sizeof *m->positions);
    put_array(out, m->colours, m->vertex_count, 3 * sizeof *m->colours);
    put_array(out, m->texcoords, m->texcoord_count, 2 * sizeof *m->texcoords);
    put_array(out, m->normals, m->normal_count, 3 * sizeof *m->normals);
    exi_out_int(out, m->face_count);
    put_array(out, m->face_offsets, m->face_offsets ? m->face_count + 1 : 0, sizeof *m->face_offsets);
    put_array(out, m->corners, m->corner_count, sizeof *m->corners);
    put_array(out, m->corner_texcoords, m->corner_count, sizeof *m->corner_texcoords);
    put_array(out, m->corner_normals, m->corner_count, sizeof *m->corner_normals);
    put_texts(out, m->group_names, m->group_count);
    put_array(out, m->face_groups, m->face_count, sizeof *m->face_groups);
    put_texts(out, m->material_names, m->material_count);
    put_array(out, m->face_materials, m->face_count, sizeof *m->face_materials);
    exi_out_text(out, m->material_library);
    exi_out_int(out, m->tag_count);
    for (int i = 0; i < m->tag_count; i++) {
        const ex_tag *tag = &m->tags[i];
        exi_out_text(out, tag->name);
        put_array(out, tag->ints, tag->int_count, sizeof *tag->ints);
        put_array(out, tag->floats, tag->float_count, sizeof *tag->floats);
        put_texts(out, tag->strings, tag->string_count);
    }
}

void exi_out_options(exi_out *out, const ex_drive_options *o, ex_learn_method method, int driver_count,
                     int driven_count) {
    exi_out_int(out, (int64_t)o->frame);
    exi_out_text(out, o->frame == EX_WHOLE_FRAME_FIT ? o->frame_group : NULL);
    exi_out_int(out, o->frame == EX_WHOLE_FRAME_JOINT ? o->frame_joint : 0);
    put_array(out, o->driver_weights, driver_count, sizeof *o->driver_weights);
    if (method != EX_LEARN_MOTION)
        return;
    exi_out_int(out, o->frames);
    exi_out_number(out, o->fit);
    exi_out_int(out, o->influences);
    exi_out_int(out, o->bind_count);
    for (int b = 0; b < o->bind_count; b++)
        put_array(out, o->binds[b].triangles, o->binds[b].triangle_count, sizeof *o->binds[b].triangles);
    if (o->bind_count > 0)
        put_array(out, o->vertex_binds, driven_count, sizeof *o->vertex_binds);
}

void exi_out_end(exi_out *out) {
    const uint64_t end[2] = {out->size, mix(out->checksum, out->size)};
    ex_file_write(out->file, end, sizeof end);
}

/* ---- reading ---- */

bool exi_in_start(exi_in *in, const char *bytes, size_t size, uint64_t *checksum) {
    uint64_t end[2];
    if (size < sizeof end || size % UNIT != 0)
        return false;
    *in = (exi_in){.bytes = bytes, .size = size - sizeof end, .arena = in->arena};
    memcpy(end, bytes + in->size, sizeof end);
    *checksum = end[1];
    return end[0] == in->size && end[1] == mix(mix_bytes(first_state, bytes, in->size), in->size);
}

const void *exi_in_bytes(exi_in *in, size_t count, size_t size) {
    const size_t left = in->size - in->at;
    if (in->failed || (size > 0 && count > left / size)) {
        in->failed = true;
        return NULL;
    }
    const char *here = in->bytes + in->at;
    in->at += (count * size + UNIT - 1) / UNIT * UNIT; /* not beyond the end: all sizes are multiples of UNIT */
    return here;
}

const float *exi_in_floats(exi_in *in, size_t count, size_t width) {
    const float *items = exi_in_bytes(in, count, width * sizeof *items);
    for (size_t i = 0; items && i < count * width; i++)
        if (!(fabsf(items[i]) < 1e18F)) {
            in->failed = true;
            return NULL;
        }
    return items;
}

const double *exi_in_doubles(exi_in *in, size_t count, size_t width) {
    const double *items = exi_in_bytes(in, count, width * sizeof *items);
    for (size_t i = 0; items && i < count * width; i++)
        if (!(fabs(items[i]) < 1e40)) {
            in->failed = true;
            return NULL;
        }
    return items;
}

int64_t exi_in_long(exi_in *in) {
    const int64_t *value = exi_in_bytes(in, 1, sizeof *value);
    return value ? *value : 0;
}

int exi_in_int(exi_in *in, int least, int most) {
    const int64_t value = exi_in_long(in);
    if (in->failed || value < least || value > most) {
        in->failed = true;
        return 0;
    }
    return (int)value;
}

double exi_in_number(exi_in *in) {
    const double *value = exi_in_doubles(in, 1, 1);
    return value ? *value : 0;
}

/* Copies of texts and arrays are released with free, as a mesh does. */
static void *keep(exi_in *in, const void *items, size_t count, size_t size) {
    void *copy = in->failed ? NULL : exi_array_copy(items, count, size);
    if (!copy && !in->failed)
        in->failed = in->no_memory = true;
    return copy;
}

static char *get_text(exi_in *in) {
    const int size = exi_in_int(in, -1, INT_MAX);
    const char *bytes = in->failed || size < 0 ? NULL : exi_in_bytes(in, (size_t)size, 1);
    if (!bytes)
        return NULL;
    if (memchr(bytes, 0, (size_t)size)) {
        in->failed = true;
        return NULL;
    }
    char *copy = exi_text_copy(bytes, (size_t)size);
    if (!copy)
        in->failed = in->no_memory = true;
    return copy;
}

const char *exi_in_text(exi_in *in) {
    char *text = get_text(in), *kept = text ? exi_arena_text(in->arena, text) : NULL;
    if (text && !kept)
        in->failed = in->no_memory = true;
    free(text);
    return kept;
}

/* An array of a count that is known, or NULL if it is missing and may be. */
static void *get_array(exi_in *in, int count, size_t size, bool optional) {
    const int there = exi_in_int(in, -1, INT_MAX);
    if (in->failed || (there < 0 && optional))
        return NULL;
    if (there != count) {
        in->failed = true;
        return NULL;
    }
    const void *items = exi_in_bytes(in, (size_t)count, size);
    return items ? keep(in, items, (size_t)count, size) : NULL;
}

/* The count of the array that comes next; 0 if it is missing. */
static int see_count(const exi_in *in) {
    exi_in ahead = *in;
    const int count = exi_in_int(&ahead, -1, INT_MAX);
    return count > 0 ? count : 0;
}

static char **get_texts(exi_in *in, int *count) {
    const int there = exi_in_int(in, 0, INT_MAX);
    if (in->failed || (size_t)there > (in->size - in->at) / UNIT) {
        in->failed = true;
        return NULL;
    }
    char **texts = calloc((size_t)there + 1, sizeof *texts);
    if (!texts) {
        in->failed = in->no_memory = true;
        return NULL;
    }
    *count = there;
    for (int i = 0; i < there; i++) {
        texts[i] = get_text(in);
        in->failed |= !texts[i];
    }
    return texts;
}

static void check_numbers(exi_in *in, const double *numbers, size_t count) {
    for (size_t i = 0; numbers && i < count; i++)
        in->failed |= !isfinite(numbers[i]);
}

static void check_places(exi_in *in, const int *places, int count, int least, int end) {
    for (int i = 0; places && i < count; i++)
        in->failed |= places[i] < least || places[i] >= end;
}

static void get_tags(exi_in *in, ex_mesh *m) {
    const int count = exi_in_int(in, 0, INT_MAX);
    if (in->failed || (size_t)count > (in->size - in->at) / UNIT) {
        in->failed = true;
        return;
    }
    m->tags = calloc((size_t)count + 1, sizeof *m->tags);
    if (!m->tags) {
        in->failed = in->no_memory = true;
        return;
    }
    m->tag_count = count;
    for (int i = 0; i < count && !in->failed; i++) {
        ex_tag *tag = &m->tags[i];
        tag->name = get_text(in);
        in->failed |= !tag->name;
        tag->int_count = see_count(in);
        tag->ints = get_array(in, tag->int_count, sizeof *tag->ints, true);
        tag->float_count = see_count(in);
        tag->floats = get_array(in, tag->float_count, sizeof *tag->floats, true);
        check_numbers(in, tag->floats, (size_t)tag->float_count);
        tag->strings = get_texts(in, &tag->string_count);
    }
}

ex_mesh *exi_in_mesh(exi_in *in) {
    ex_error ignored;
    ex_mesh *m = ex_mesh_create();
    if (!m) {
        in->failed = in->no_memory = true;
        return NULL;
    }
    m->vertex_count = see_count(in);
    m->positions = get_array(in, m->vertex_count, 3 * sizeof *m->positions, false);
    m->colours = get_array(in, m->vertex_count, 3 * sizeof *m->colours, true);
    m->texcoord_count = see_count(in);
    m->texcoords = get_array(in, m->texcoord_count, 2 * sizeof *m->texcoords, true);
    m->normal_count = see_count(in);
    m->normals = get_array(in, m->normal_count, 3 * sizeof *m->normals, true);
    m->face_count = exi_in_int(in, 0, INT_MAX - 1);
    m->face_offsets = get_array(in, m->face_count + 1, sizeof *m->face_offsets, m->face_count == 0);
    m->corner_count = see_count(in);
    m->corners = get_array(in, m->corner_count, sizeof *m->corners, m->face_count == 0);
    m->corner_texcoords = get_array(in, m->corner_count, sizeof *m->corner_texcoords, true);
    m->corner_normals = get_array(in, m->corner_count, sizeof *m->corner_normals, true);
    m->group_names = get_texts(in, &m->group_count);
    m->face_groups = get_array(in, m->face_count, sizeof *m->face_groups, true);
    m->material_names = get_texts(in, &m->material_count);
    m->face_materials = get_array(in, m->face_count, sizeof *m->face_materials, true);
    m->material_library = get_text(in);
    if (!in->failed)
        get_tags(in, m);
    if (!in->failed) {
        in->failed |= m->vertex_count < 1;
        check_numbers(in, m->positions, 3 * (size_t)m->vertex_count);
        check_numbers(in, m->texcoords, 2 * (size_t)m->texcoord_count);
        check_numbers(in, m->normals, 3 * (size_t)m->normal_count);
        for (size_t i = 0; m->colours && i < 3 * (size_t)m->vertex_count; i++)
            in->failed |= !isfinite(m->colours[i]);
        check_places(in, m->corner_texcoords, m->corner_count, -1, m->texcoord_count);
        check_places(in, m->corner_normals, m->corner_count, -1, m->normal_count);
        check_places(in, m->face_groups, m->face_count, -1, m->group_count);
        check_places(in, m->face_materials, m->face_count, -1, m->material_count);
        in->failed |= exi_mesh_check_faces(m, &ignored) != EX_OK;
    }
    if (!in->failed)
        return m;
    ex_mesh_destroy(m);
    return NULL;
}

static const void *get_place(exi_in *in, int *count, size_t size) {
    *count = exi_in_int(in, -1, INT_MAX);
    return in->failed || *count < 0 ? NULL : exi_in_bytes(in, (size_t)*count, size);
}

void exi_in_options(exi_in *in, ex_drive_options *o, ex_learn_method method, int driver_count, int driven_count) {
    int count = 0;
    o->frame = (ex_whole_frame)exi_in_int(in, 0, EX_WHOLE_FRAME_COUNT - 1);
    o->frame_group = exi_in_text(in);
    o->frame_joint = exi_in_int(in, INT_MIN, INT_MAX);
    o->driver_weights = get_place(in, &count, sizeof *o->driver_weights);
    in->failed |= o->driver_weights && count != driver_count;
    for (int v = 0; o->driver_weights && !in->failed && v < driver_count; v++)
        in->failed |= !(o->driver_weights[v] >= 0) || !isfinite(o->driver_weights[v]);
    if (method != EX_LEARN_MOTION)
        return;
    o->frames = exi_in_int(in, -1, EX_DRIVER_FRAME_MAX);
    o->fit = exi_in_number(in);
    o->influences = exi_in_int(in, 1, EX_INFLUENCE_MAX);
    in->failed |= !(o->fit > 0);
    o->bind_count = exi_in_int(in, 0, EX_BIND_MAX);
    ex_bind *binds = exi_arena_allocate(in->arena, (size_t)o->bind_count + 1, sizeof *binds);
    if (!binds)
        in->failed = in->no_memory = true;
    for (int b = 0; !in->failed && b < o->bind_count; b++)
        binds[b].triangles = get_place(in, &binds[b].triangle_count, sizeof *binds[b].triangles);
    o->binds = o->bind_count > 0 ? binds : NULL;
    if (o->bind_count > 0) {
        o->vertex_binds = get_place(in, &count, sizeof *o->vertex_binds);
        in->failed |= !o->vertex_binds || count != driven_count;
    }
}
