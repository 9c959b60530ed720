/*
 * Alembic files as point caches: archives put together byte by byte, as other programs write them (transforms, several
 * meshes, half and double numbers, all kinds of times, samples that repeat), round trips, and damaged files.
 */
#define _XOPEN_SOURCE 700

#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/scratch.h"

#include <exemplar/author.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- an archive ---- */

#define STREAM 0x8000000000000000u
enum { SIZE_MOST = 1 << 16, PARTS_MOST = 24 };

static unsigned char bytes[SIZE_MOST];
static size_t used;

static void add(const void *data, size_t size) {
    assert_true(used + size <= SIZE_MOST);
    memcpy(bytes + used, data, size);
    used += size;
}

static void add_number(uint64_t number, int size) {
    for (int i = 0; i < size; i++)
        add(&(unsigned char){(unsigned char)(number >> 8 * i)}, 1);
}

static uint64_t stream(const void *data, size_t size) {
    const uint64_t at = used;
    add_number(size, 8);
    add(data, size);
    return at | STREAM;
}

static uint64_t group(int count, const uint64_t *parts) {
    const uint64_t at = used;
    add_number((uint64_t)count, 8);
    for (int i = 0; i < count; i++)
        add_number(parts[i], 8);
    return at;
}

/* A sample: a digest, which differs from sample to sample, and the values. */
static uint64_t sample(const void *values, size_t size, int digest) {
    unsigned char whole[1024] = {(unsigned char)digest};
    assert_true(size <= sizeof whole - 16);
    if (size > 0)
        memcpy(whole + 16, values, size);
    return stream(whole, 16 + size);
}

/* Headers of properties, or of objects. */
typedef struct list {
    unsigned char text[2048];
    size_t size;
    uint64_t parts[PARTS_MOST];
    int count;
} list;

static void put(list *l, uint64_t number, int size) {
    for (int i = 0; i < size; i++)
        l->text[l->size++] = (unsigned char)(number >> 8 * i);
}

static void put_name(list *l, const char *name, int size) {
    put(l, strlen(name), size);
    memcpy(l->text + l->size, name, strlen(name));
    l->size += strlen(name);
}

enum { COMPOUND, SCALAR, ARRAY };
enum { BOOL_ = 0, UINT8 = 1, INT32 = 6, HALF = 9, FLOAT = 10, DOUBLE = 11 };

/* Adds a property with samples that all differ, or that are all equal if stored is 1. sampling 0 is not written. */
static void property(list *l, const char *name, int kind, int type, int extent, int samples, int stored, int sampling,
                     uint64_t reference) {
    put(l, (uint64_t)(kind | type << 4 | extent << 12 | (sampling > 0 ? 0x100 : 0) | (stored == 1 ? 0x800 : 0) | 0x400),
        4);
    put(l, (uint64_t)samples, 1);
    if (sampling > 0)
        put(l, (uint64_t)sampling, 1);
    put_name(l, name, 1);
    l->parts[l->count++] = reference;
}

static void compound(list *l, const char *name, uint64_t reference) {
    put(l, 0, 4);
    put_name(l, name, 1);
    l->parts[l->count++] = reference;
}

static uint64_t end(list *l) {
    l->parts[l->count] = stream(l->text, l->size);
    const uint64_t reference = group(l->count + 1, l->parts);
    *l = (list){0};
    return reference;
}

/* Adds an object to the children of another; the metadata is written out, or is the string of that number. */
static void object(list *l, const char *name, const char *schema, int number, uint64_t reference) {
    char metadata[100];
    put_name(l, name, 4);
    put(l, schema ? 255 : (uint64_t)number, 1);
    if (schema) {
        snprintf(metadata, sizeof metadata, "a=b;schema=%s;c=d", schema);
        put_name(l, metadata, 4);
    }
    if (l->count == 0)
        l->count = 1; /* room for the properties */
    l->parts[l->count++] = reference;
}

static uint64_t end_object(list *l, uint64_t properties) {
    put(l, 0, 8);
    put(l, 0, 8);
    put(l, 0, 8);
    put(l, 0, 8);
    l->count = l->count > 0 ? l->count : 1;
    l->parts[0] = properties;
    return end(l);
}

static void begin(void) {
    used = 0;
    add("Ogawa\xFF\0\1\0\0\0\0\0\0\0\0", 16);
}

/* Ends the archive. samplings: bytes of all after the first, which is 0, 1, 2, … seconds. */
static void finish(const char *name, uint64_t top, const void *samplings, size_t size) {
    static const char string[] = "\x1aschema=AbcGeom_PolyMesh_v1";
    unsigned char times[512] = {1, 0, 0, 0, [10] = 0xF0, [11] = 0x3F, [12] = 1};
    assert_true(size <= sizeof times - 24);
    if (size > 0)
        memcpy(times + 24, samplings, size);
    const uint64_t parts[6] = {stream("\0\0\0\0", 4), stream("\x33\x2A\0\0", 4), top,
                               stream("", 0),         stream(times, 24 + size),  stream(string, sizeof string - 1)};
    const uint64_t root = group(6, parts);
    for (int i = 0; i < 8; i++)
        bytes[8 + i] = (unsigned char)(root >> 8 * i);
    scratch_write(name, (const char *)bytes, used);
}

static size_t one_sampling(unsigned char *to, double period, int count, const double *times) {
    const uint32_t samples = 9, number = (uint32_t)count;
    memcpy(to, &samples, 4);
    memcpy(to + 4, &period, 8);
    memcpy(to + 12, &number, 4);
    memcpy(to + 16, times, (size_t)count * sizeof *times);
    return 16 + (size_t)count * sizeof *times;
}

/* ---- a mesh ---- */

enum { VERTICES = 4 };

static const float square[3][VERTICES][3] = {
    {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}},
    {{0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}},
    {{0, 0, 4}, {1, 0, 4}, {1, 1, 4}, {0, 1, 4}},
};
static const int clockwise[] = {3, 2, 1, 0}, corners[] = {4};

/* The square as float at that number of frames. */
static uint64_t points(int count) {
    uint64_t parts[PARTS_MOST];
    for (int i = 0; i < count; i++) {
        parts[2 * i] = sample(square[i], sizeof square[i], i);
        parts[2 * i + 1] = STREAM;
    }
    return group(2 * count, parts);
}

static uint64_t constant(const void *values, size_t size) {
    const uint64_t parts[2] = {sample(values, size, 1), STREAM};
    return group(2, parts);
}

/* The properties of a mesh whose points have been added. */
static uint64_t mesh(int type, int samples, int stored, int sampling, uint64_t places) {
    list geometry = {0}, own = {0};
    property(&geometry, "P", ARRAY, type, 3, samples, stored, sampling, places);
    property(&geometry, ".faceIndices", ARRAY, INT32, 1, samples, 1, sampling, constant(clockwise, sizeof clockwise));
    property(&geometry, ".faceCounts", ARRAY | SCALAR, INT32, 1, samples, 1, sampling,
             constant(corners, sizeof corners));
    compound(&own, ".geom", end(&geometry));
    list none = {0};
    return end_object(&none, end(&own));
}

/* A transform around the children. values [samples][count]. */
static uint64_t transform(list *children, const unsigned char *ops, int op_count, const double *values, int count,
                          int samples, int sampling, bool inherits) {
    list xform = {0}, own = {0};
    uint64_t parts[PARTS_MOST];
    for (int i = 0; i < samples; i++)
        parts[i] = sample(values + i * count, (size_t)count * sizeof *values, i);
    const uint64_t vals = group(samples, parts);
    parts[0] = sample(&(unsigned char){inherits}, 1, 0);
    property(&xform, ".inherits", SCALAR, BOOL_, 1, 1, 1, 0, group(1, parts));
    parts[0] = sample(ops, (size_t)op_count, 0);
    property(&xform, ".ops", SCALAR, UINT8, op_count, 1, 1, 0, group(1, parts));
    property(&xform, ".vals", SCALAR, DOUBLE, count, samples, samples, sampling, vals);
    compound(&own, ".xform", end(&xform));
    return end_object(children, end(&own));
}

static uint64_t top_of(const char *name, const char *schema, uint64_t reference) {
    list top = {0};
    object(&top, name, schema, 1, reference);
    return end_object(&top, 0);
}

/* ---- reading ---- */

static ex_cache_reader *open_cache(const char *name) {
    ex_cache_reader *reader = NULL;
    ex_error error = {0};
    if (ex_cache_open(scratch_path(name), &reader, &error) != EX_OK)
        fail_msg("%s", error.text);
    return reader;
}

static void check_failure(const char *name, ex_result result, const char *word) {
    ex_cache_reader *reader = (ex_cache_reader *)&result;
    ex_error error = {0};
    assert_int_equal(ex_cache_open(scratch_path(name), &reader, &error), result);
    assert_sentence(&error, result, word);
    assert_null(reader);
}

static void check_vertex(ex_cache_reader *reader, int frame, int vertex, double x, double y, double z) {
    float positions[VERTICES][3];
    const double wanted[3] = {x, y, z};
    assert_int_equal(ex_cache_read(reader, frame, &positions[0][0], NULL), EX_OK);
    for (int i = 0; i < 3; i++)
        assert_true(fabs((double)positions[vertex][i] - wanted[i]) < 1e-6);
}

static void kinds(void **state) {
    (void)state;
    assert_int_equal(ex_cache_kind_of("a.abc"), EX_CACHE_ABC);
    assert_int_equal(ex_cache_kind_of("b/a.ABC:/one/two"), EX_CACHE_ABC);
    assert_int_equal(ex_cache_kind_of("a.abc/two"), EX_CACHE_KIND_COUNT);
    assert_int_equal(ex_cache_kind_of("a.abc:two"), EX_CACHE_KIND_COUNT);
    assert_int_equal(ex_cache_kind_of("abc:/two"), EX_CACHE_KIND_COUNT);
    assert_true(ex_cache_needs_mesh("a.abc") && ex_cache_needs_mesh("a.obj") && !ex_cache_needs_mesh("a.pc2"));
}

/* Three frames at 24 a second, from 1 s on; faces are turned round. */
static void even_times(void **state) {
    (void)state;
    unsigned char times[64];
    const size_t size = one_sampling(times, 1 / 24.0, 1, (const double[]){1});
    begin();
    finish("a.abc", top_of("cloth", NULL, mesh(FLOAT, 3, 3, 1, points(3))), times, size);
    ex_cache_reader *reader = open_cache("a.abc");
    const ex_cache_info info = ex_cache_get_info(reader);
    assert_true(info.kind == EX_CACHE_ABC && info.vertex_count == VERTICES && info.frame_count == 3);
    assert_true(info.start == 1 && fabs(info.step - 1 / 24.0) < 1e-15);
    assert_true(fabs(ex_cache_time(reader, 2) - (1 + 2 / 24.0)) < 1e-15);
    for (int i = 0; i < 6; i++) {
        float positions[VERTICES][3];
        assert_int_equal(ex_cache_read(reader, i * 2 % 3, &positions[0][0], NULL), EX_OK);
        assert_memory_equal(positions, square[i * 2 % 3], sizeof positions);
    }
    const ex_mesh *own = ex_cache_mesh(reader);
    assert_int_equal(own->face_count, 1);
    for (int i = 0; i < 4; i++)
        assert_int_equal(own->corners[i], i);
    assert_string_equal(ex_cache_path(reader, 1), scratch_path("a.abc"));
    ex_cache_close(reader);
    /* By its name, and as a mesh. */
    reader = open_cache("a.abc:/cloth");
    check_vertex(reader, 1, 2, 1, 1, 1);
    ex_cache_close(reader);
    ex_mesh *first = NULL;
    assert_int_equal(ex_mesh_read(scratch_path("a.abc"), &first, NULL), EX_OK);
    assert_int_equal(first->vertex_count, VERTICES);
    assert_true(first->positions[3] == 1);
    ex_mesh_destroy(first);
    check_failure("a.abc:/none", EX_ERROR_DATA, "has no mesh '/none'; it has /cloth");
}

/* Two samples in a cycle of 1 s, and times of their own. */
static void other_times(void **state) {
    (void)state;
    unsigned char times[128];
    size_t size = one_sampling(times, 1, 2, (const double[]){0.25, 0.5});
    begin();
    finish("a.abc", top_of("cloth", NULL, mesh(FLOAT, 3, 3, 1, points(3))), times, size);
    ex_cache_reader *reader = open_cache("a.abc");
    assert_true(ex_cache_time(reader, 0) == 0.25 && ex_cache_time(reader, 1) == 0.5 &&
                ex_cache_time(reader, 2) == 1.25);
    ex_cache_close(reader);
    size = one_sampling(times, 5.617791046444737e306, 3, (const double[]){-1, 2, 7});
    begin();
    finish("a.abc", top_of("cloth", NULL, mesh(FLOAT, 3, 3, 1, points(3))), times, size);
    reader = open_cache("a.abc");
    assert_true(ex_cache_time(reader, 0) == -1 && ex_cache_time(reader, 1) == 2 && ex_cache_time(reader, 2) == 7);
    ex_cache_close(reader);
    static const struct {
        double period;
        int count;
        double times[3];
        const char *word;
    } wrong[] = {{5.617791046444737e306, 2, {0, 1}, "fewer times than samples"},
                 {5.617791046444737e306, 3, {0, 1, 1}, "do not increase"},
                 {0, 1, {0}, "do not increase"},
                 {1, 2, {0, 1}, "do not increase"},
                 {1, 1, {NAN}, "do not increase"},
                 {1, 0, {0}, "fewer times than samples"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        size = one_sampling(times, wrong[i].period, wrong[i].count, wrong[i].times);
        begin();
        finish("a.abc", top_of("cloth", NULL, mesh(FLOAT, 3, 3, 1, points(3))), times, size);
        check_failure("a.abc", EX_ERROR_DATA, wrong[i].word);
    }
}

/* Samples 0 to 5, of which 0 and 1, and 3 to 5, are equal: the header has the first and the last that differ. */
static void repeated_samples(void **state) {
    (void)state;
    list geometry = {0}, own = {0}, none = {0};
    begin();
    const uint64_t places = points(3);
    put(&geometry, ARRAY | FLOAT << 4 | 3 << 12 | 0x200, 4);
    put(&geometry, 6, 1);
    put(&geometry, 2, 1);
    put(&geometry, 3, 1);
    put_name(&geometry, "P", 1);
    geometry.parts[geometry.count++] = places;
    property(&geometry, ".faceIndices", ARRAY, INT32, 1, 6, 1, 0, constant(clockwise, sizeof clockwise));
    property(&geometry, ".faceCounts", ARRAY, INT32, 1, 6, 1, 0, constant(corners, sizeof corners));
    compound(&own, ".geom", end(&geometry));
    finish("a.abc", top_of("cloth", "AbcGeom_SubD_v1", end_object(&none, end(&own))), NULL, 0);
    ex_cache_reader *reader = open_cache("a.abc");
    static const int stored[6] = {0, 0, 1, 2, 2, 2};
    assert_int_equal(ex_cache_get_info(reader).frame_count, 6);
    for (int i = 0; i < 6; i++)
        check_vertex(reader, i, 0, 0, 0, (double)square[stored[i]][0][2]);
    ex_cache_close(reader);
}

/* Half and double numbers. */
static void other_numbers(void **state) {
    (void)state;
    static const uint16_t halves[12] = {0, 0x3C00, 0xC000, 0x3555, 1, 0x7BFF, 0, 0, 0, 0, 0, 0};
    static const double doubles[12] = {0, 1, -2, 0.1, 0, 0, 0, 0, 0, 0, 0, 0};
    for (int i = 0; i < 2; i++) {
        float p[VERTICES][3];
        begin();
        const uint64_t places = i ? constant(doubles, sizeof doubles) : constant(halves, sizeof halves);
        finish("a.abc", top_of("cloth", NULL, mesh(i ? DOUBLE : HALF, 1, 1, 0, places)), NULL, 0);
        ex_cache_reader *reader = open_cache("a.abc");
        assert_true(ex_cache_get_info(reader).frame_count == 1 && ex_cache_get_info(reader).step == 0);
        assert_int_equal(ex_cache_read(reader, 0, &p[0][0], NULL), EX_OK);
        assert_true(p[0][0] == 0 && p[0][1] == 1 && p[0][2] == -2);
        assert_true(i ? p[1][0] == 0.1f : p[1][0] == 1365.0f / 4096 && p[1][1] == 0x1p-24f && p[1][2] == 65504);
        ex_cache_close(reader);
    }
}

/* The last operation acts first, and parents after their children: scale, then a quarter turn about z, then move. */
static void transforms(void **state) {
    (void)state;
    static const unsigned char outer_ops[] = {0x10, 0x20}, inner_ops[] = {0x00};
    static const double outer[2][7] = {{10, 0, 0, 0, 0, 1, 90}, {20, 0, 0, 0, 0, 1, 90}}, inner[] = {2, 3, 1};
    static const unsigned char matrix_ops[] = {0x30, 0x60};
    static const double matrix[] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 5, 6, 7, 1, 90};
    for (int inherits = 0; inherits < 2; inherits++) {
        list children = {0};
        begin();
        object(&children, "cloth", NULL, 1, mesh(FLOAT, 1, 1, 0, points(1)));
        const uint64_t child = transform(&children, inner_ops, 1, inner, 3, 1, 0, inherits);
        object(&children, "inner", "AbcGeom_Xform_v3", 0, child);
        const uint64_t parent = transform(&children, outer_ops, 2, &outer[0][0], 7, 2, 0, true);
        finish("a.abc", top_of("outer", "AbcGeom_Xform_v3", parent), NULL, 0);
        ex_cache_reader *reader = open_cache("a.abc");
        /* The transform has two samples, the points one. (1, 1) is scaled to (2, 3) and turned to (-3, 2). */
        assert_int_equal(ex_cache_get_info(reader).frame_count, 2);
        check_vertex(reader, 0, 2, inherits ? 7 : 2, inherits ? 2 : 3, 0);
        check_vertex(reader, 1, 2, inherits ? 17 : 2, inherits ? 2 : 3, 0);
        assert_true(ex_cache_time(reader, 1) == 1);
        ex_cache_close(reader);
    }
    list children = {0};
    begin();
    object(&children, "cloth", NULL, 1, mesh(FLOAT, 1, 1, 0, points(1)));
    const uint64_t parent = transform(&children, matrix_ops, 2, matrix, 17, 1, 0, true);
    finish("a.abc", top_of("outer", "AbcGeom_Xform_v3", parent), NULL, 0);
    ex_cache_reader *reader = open_cache("a.abc:/outer/cloth");
    check_vertex(reader, 0, 1, 5, 7, 7);
    ex_cache_close(reader);
    /* Values that are missing, and an operation that does not exist. */
    for (int i = 0; i < 2; i++) {
        begin();
        object(&children, "cloth", NULL, 1, mesh(FLOAT, 1, 1, 0, points(1)));
        const uint64_t wrong =
            transform(&children, i ? (const unsigned char[]){0x70, 0} : matrix_ops, 2, matrix, 16, 1, 0, true);
        finish("a.abc", top_of("outer", "AbcGeom_Xform_v3", wrong), NULL, 0);
        check_failure("a.abc", EX_ERROR_DATA, i ? "no valid operations" : "a value has too few bytes");
    }
}

static void several_meshes(void **state) {
    (void)state;
    list top = {0};
    begin();
    object(&top, "body", NULL, 1, mesh(FLOAT, 1, 1, 0, points(1)));
    object(&top, "shirt", NULL, 1, mesh(FLOAT, 2, 2, 0, points(2)));
    finish("a.abc", end_object(&top, 0), NULL, 0);
    check_failure("a.abc", EX_ERROR_DATA, "a.abc has 2 meshes: choose one, as in ");
    check_failure("a.abc", EX_ERROR_DATA, "from /body, /shirt");
    ex_cache_reader *reader = open_cache("a.abc:/shirt");
    assert_int_equal(ex_cache_get_info(reader).frame_count, 2);
    ex_cache_close(reader);
    begin();
    finish("a.abc", top_of("camera", "AbcGeom_Camera_v1", 0), NULL, 0);
    check_failure("a.abc", EX_ERROR_DATA, "there is no mesh");
}

static void refusals(void **state) {
    (void)state;
    static const int wrong[] = {4, 2, 1, 0};
    scratch_write("a.abc", "\x89HDF\r\n\x1a\n", 8);
    check_failure("a.abc", EX_ERROR_FORMAT, "save it as Ogawa");
    scratch_write("a.abc", "Ogawa", 5);
    check_failure("a.abc", EX_ERROR_FORMAT, "cut short");
    scratch_write("a.abc", "Ogawa\0\0\1\0\0\0\0\0\0\0\0", 16);
    check_failure("a.abc", EX_ERROR_DATA, "did not finish it");
    scratch_write("a.abc", "Ogawa\xFF\0\2\0\0\0\0\0\0\0\0", 16);
    check_failure("a.abc", EX_ERROR_VERSION, "version 2 of Ogawa");
    scratch_write("a.abc", "Ogawa\xFF\0\1\0\0\0\0\0\0\0\0", 16);
    check_failure("a.abc", EX_ERROR_DATA, "no objects");
    scratch_write("a.abc", "Ogawa\xFF\0\1\x10\0\0\0\0\0\0\0\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F", 24);
    check_failure("a.abc", EX_ERROR_DATA, "longer than the file");
    scratch_write("a.abc", "Ogawa\xFF\0\1\x80\0\0\0\0\0\0\0", 16);
    check_failure("a.abc", EX_ERROR_DATA, "beyond its end");
    check_failure("none.abc", EX_ERROR_FILE, "none.abc");
    /* Another number of vertices at the second frame, other faces, a vertex that does not exist. */
    for (int i = 0; i < 3; i++) {
        list geometry = {0}, own = {0}, none = {0};
        begin();
        const uint64_t parts[4] = {sample(square[0], sizeof square[0], 1), STREAM,
                                   sample(i == 0 ? clockwise : wrong, i == 0 ? 12 : 16, 2), STREAM};
        property(&geometry, "P", ARRAY, FLOAT, 3, i == 0 ? 2 : 1, i == 0 ? 2 : 1, 0, group(4, parts));
        property(&geometry, ".faceIndices", ARRAY, INT32, 1, i == 1 ? 2 : 1, i == 1 ? 2 : 1, 0,
                 i == 1 ? group(4, (const uint64_t[]){sample(clockwise, 16, 1), STREAM, parts[2], STREAM})
                        : constant(i == 2 ? wrong : clockwise, 16));
        property(&geometry, ".faceCounts", ARRAY, INT32, 1, 1, 1, 0, constant(corners, sizeof corners));
        compound(&own, ".geom", end(&geometry));
        finish("a.abc", top_of("cloth", NULL, end_object(&none, end(&own))), NULL, 0);
        check_failure("a.abc", EX_ERROR_DATA,
                      i == 0   ? "the number of vertices changes"
                      : i == 1 ? "the faces change"
                               : "a vertex that does not exist");
    }
    /* An object inside itself. */
    begin();
    list children = {0};
    const uint64_t at = used + 8 + 4 + 1 + 1 + 32;
    object(&children, "a", NULL, 0, at);
    finish("a.abc", end_object(&children, 0), NULL, 0);
    check_failure("a.abc", EX_ERROR_DATA, "inside each other without end");
    /* Objects that share their children: 3^60 of them. */
    uint64_t shared = 0;
    begin();
    for (int i = 0; i < 60; i++) {
        for (int k = 0; k < 3; k++)
            object(&children, "a", NULL, 0, shared);
        shared = end_object(&children, 0);
    }
    finish("a.abc", shared, NULL, 0);
    check_failure("a.abc", EX_ERROR_DATA, "inside each other without end");
}

/* ---- writing ---- */

static ex_mesh *make_mesh(void) {
    static const char text[] = "v 9 9 9\nv 9 9 8\nv 9 8 8\nv 8 8 8\nf 1 2 3\nf 1 3 4\n";
    ex_mesh *made = NULL;
    (void)ex_obj_parse(text, strlen(text), "square.obj", &made, NULL);
    return made; /* NULL without memory */
}

static void write_cache(const char *name, int count, const double *times) {
    ex_mesh *faces = make_mesh();
    ex_cache_writer *writer = NULL;
    ex_error error = {0};
    if (ex_cache_create(scratch_path(name), VERTICES, count, times, faces, &writer, &error) != EX_OK)
        fail_msg("%s", error.text);
    for (int f = 0; f < count; f++)
        assert_int_equal(ex_cache_write(writer, &square[f % 3][0][0], &error), EX_OK);
    if (ex_cache_finish(writer, true, &error) != EX_OK)
        fail_msg("%s", error.text);
    ex_mesh_destroy(faces);
}

/* Frames, times and faces come back, for few frames, for many (whose counts take two bytes), and at uneven times. */
static void round_trips(void **state) {
    (void)state;
    static double times[300];
    static const int counts[] = {1, 3, 300, 3};
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < counts[k]; i++)
            times[i] = 0.5 + i * 0.25 + (k == 3 && i == 1 ? 0.1 : 0);
        write_cache("c.abc", counts[k], times);
        ex_cache_reader *reader = open_cache(k == 1 ? "c.abc:/c/cShape" : "c.abc");
        const ex_cache_info info = ex_cache_get_info(reader);
        assert_int_equal(info.vertex_count, VERTICES);
        assert_int_equal(info.frame_count, counts[k]);
        for (int i = 0; i < counts[k]; i++) {
            float positions[VERTICES][3];
            assert_true(ex_cache_time(reader, i) == times[i]);
            assert_int_equal(ex_cache_read(reader, i, &positions[0][0], NULL), EX_OK);
            assert_memory_equal(positions, square[i % 3], sizeof positions);
        }
        ex_mesh *faces = make_mesh();
        assert_int_equal(ex_mesh_compare_connectivity(faces, ex_cache_mesh(reader), NULL), EX_OK);
        ex_mesh_destroy(faces);
        ex_cache_close(reader);
    }
    assert_int_equal(scratch_entry_count(), 1);
}

static void incomplete(void **state) {
    (void)state;
    static const double times[2] = {0, 1};
    ex_mesh *faces = make_mesh();
    ex_cache_writer *writer = NULL;
    ex_error error = {0};
    assert_int_equal(ex_cache_create(scratch_path("c.abc:/a"), VERTICES, 2, times, faces, &writer, &error),
                     EX_ERROR_ARGUMENT);
    assert_int_equal(ex_cache_create(scratch_path("c.abc"), VERTICES, 2, times, faces, &writer, &error), EX_OK);
    assert_int_equal(ex_cache_write(writer, &square[0][0][0], &error), EX_OK);
    assert_int_equal(ex_cache_finish(writer, true, &error), EX_ERROR_DATA);
    assert_int_equal(scratch_entry_count(), 0);
    ex_mesh_destroy(faces);
}

/* ---- damage ---- */

static void read_all(const char *name) {
    ex_cache_reader *reader = NULL;
    ex_error error = {0};
    float positions[3 * 64];
    const ex_result result = ex_cache_open(scratch_path(name), &reader, &error);
    assert_int_equal(result == EX_OK, reader != NULL);
    if (result != EX_OK)
        assert_true(strlen(error.text) > 0);
    const ex_cache_info info = reader ? ex_cache_get_info(reader) : (ex_cache_info){0};
    for (int i = 0; info.vertex_count <= 64 && i < info.frame_count && i < 8; i++)
        (void)ex_cache_read(reader, i, positions, &error);
    ex_cache_close(reader);
}

/* Every length and every byte changed: one sentence or a cache, no crash, no endless loop. */
static void damage(const char *name) {
    static const unsigned char flips[] = {0x01, 0x80, 0xFF};
    size_t size = 0;
    char *whole = scratch_read(name, &size);
    ex_cache_close(open_cache(name));
    for (size_t i = 0; i < size; i++) {
        ex_cache_reader *reader = NULL;
        scratch_write("d.abc", whole, i);
        assert_true(ex_cache_open(scratch_path("d.abc"), &reader, NULL) != EX_OK);
        for (size_t k = 0; k < sizeof flips; k++) {
            whole[i] = (char)(whole[i] ^ flips[k]);
            scratch_write("d.abc", whole, size);
            read_all("d.abc");
            whole[i] = (char)(whole[i] ^ flips[k]);
        }
    }
    free(whole);
}

static void damaged_files(void **state) {
    (void)state;
    static const double times[2] = {0, 1}, values[2][7] = {{10, 0, 0, 0, 0, 1, 90}, {20, 0, 0, 0, 0, 1, 90}};
    list children = {0};
    write_cache("c.abc", 2, times);
    damage("c.abc");
    begin();
    object(&children, "cloth", NULL, 1, mesh(FLOAT, 2, 2, 0, points(2)));
    const uint64_t parent = transform(&children, (const unsigned char[]){0x10, 0x20}, 2, &values[0][0], 7, 2, 0, true);
    finish("a.abc", top_of("outer", "AbcGeom_Xform_v3", parent), NULL, 0);
    damage("a.abc");
}

static ex_result all_once(void *context) {
    static const double times[2] = {0, 1};
    const char *path = context;
    ex_mesh *faces = make_mesh();
    ex_cache_writer *writer = NULL;
    ex_cache_reader *reader = NULL;
    ex_result result = faces ? ex_cache_create(path, VERTICES, 2, times, faces, &writer, NULL) : EX_ERROR_MEMORY;
    for (int f = 0; result == EX_OK && f < 2; f++)
        result = ex_cache_write(writer, &square[f][0][0], NULL);
    const ex_result finished = ex_cache_finish(writer, result == EX_OK, NULL);
    result = result == EX_OK ? finished : result;
    if (result == EX_OK)
        result = ex_cache_open(path, &reader, NULL);
    ex_cache_close(reader);
    ex_mesh_destroy(faces);
    return result;
}

static void survives_without_memory(void **state) {
    (void)state;
    char path[1000];
    snprintf(path, sizeof path, "%s", scratch_path("c.abc"));
    assert_true(fail_alloc_sweep(all_once, path) > 20);
    assert_int_equal(scratch_entry_count(), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_set_up, scratch_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds), TEST(even_times), TEST(other_times),    TEST(repeated_samples),
        TEST(other_numbers),     TEST(transforms), TEST(several_meshes), TEST(refusals),
        TEST(round_trips),       TEST(incomplete), TEST(damaged_files),  TEST(survives_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
