/*
 * PLY: by hand, every type in every encoding, every error with its sentence, false headers, truncation at every byte,
 * round trips, failing memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <exemplar/author/formats.h>

#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/meshes.h"
#include "support/scratch.h"

/* Parses a block of exactly this size, so that the sanitizer and valgrind see reads beyond it. */
static ex_result parse_exactly(const void *bytes, size_t size, ex_mesh **mesh, ex_error *error) {
    char *exact = malloc(size > 0 ? size : 1);
    assert_non_null(exact);
    memcpy(exact, bytes, size);
    ex_result result = ex_ply_parse(exact, size, "x.ply", mesh, error);
    free(exact);
    return result;
}

static ex_mesh *must_parse(const void *bytes, size_t size) {
    ex_mesh *mesh;
    ex_error error;
    if (parse_exactly(bytes, size, &mesh, &error) != EX_OK)
        fail_msg("%s", error.text);
    return mesh;
}

static void check_ints(const int *items, int count, const int *expected) {
    assert_non_null(items);
    for (int i = 0; i < count; i++)
        assert_int_equal(items[i], expected[i]);
}

/* ---- by hand ---- */

#define QUAD_HEADER                                                                                                    \
    "ply\nformat ascii 1.0\ncomment made by hand\nobj_info x\nelement vertex 4\nproperty float x\nproperty float y\n"  \
    "property float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n"

static const char everything[] =
    "ply\nformat ascii 1.0\nelement camera 2\nproperty float fov\nproperty list uchar int ids\nelement vertex 4\n"
    "property uchar blue\nproperty double z\nproperty float nx\nproperty float ny\nproperty float nz\n"
    "property list uchar short flags\nproperty float x\nproperty uchar red\nproperty uchar green\nproperty float t\n"
    "property float s\nproperty float y\nproperty uchar alpha\nelement nothing 4000000000\nelement face 2\n"
    "property int quality\nproperty list uchar uint vertex_index\nproperty list uchar float weights\n"
    "element edge 1\nproperty int vertex1\nproperty int vertex2\nend_header\n"
    "1.5 0\n2 3 7 8 9\n"
    "255 0.1 0 0 1 0 0 51 0 0.25 0.5 0 9\n0 0 0 0 1 2 1 1 1 0 255 0 1 0 9\n0 0 0 1 0 0 1 0 0 1 1 1 9\n0 0 1 0 0 0 0 0 "
    "0 0 0 1 9\n"
    "7 4 0 1 2 3 0\n8 3 2 1 0 2 0.5 0.5\n0 1\n";

static void reads_everything(void **state) {
    (void)state;
    ex_mesh *mesh = must_parse(everything, sizeof everything - 1);
    assert_int_equal(mesh->vertex_count, 4);
    assert_row_near(mesh->positions, ((double[]){0, 0, 0.1, 1, 0, 0, 1, 1, 0, 0, 1, 0}), 12, 0);
    const float colours[12] = {0.2f, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0};
    assert_memory_equal(mesh->colours, colours, sizeof colours);
    assert_row_near(mesh->normals, ((double[]){0, 0, 1, 0, 0, 1, 0, 1, 0, 1, 0, 0}), 12, 0);
    assert_row_near(mesh->texcoords, ((double[]){0.5, 0.25, 1, 0, 1, 1, 0, 0}), 8, 0);
    assert_int_equal(mesh->face_count, 2);
    check_ints(mesh->face_offsets, 3, (int[]){0, 4, 7});
    check_ints(mesh->corners, 7, (int[]){0, 1, 2, 3, 2, 1, 0});
    check_ints(mesh->corner_texcoords, 7, mesh->corners);
    check_ints(mesh->corner_normals, 7, mesh->corners);
    ex_mesh_destroy(mesh);
}

/* The same quad, with any line ends and spacing. */
static void reads_every_kind_of_line_end(void **state) {
    (void)state;
    static const char quad[] = QUAD_HEADER "0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3\n";
    ex_mesh *first = must_parse(quad, sizeof quad - 1);
    for (int kind = 0; kind < 3; kind++) {
        char text[2 * sizeof quad];
        size_t size = 0;
        for (const char *c = quad; *c; c++) {
            if (*c == '\n' && kind != 2)
                text[size++] = '\r';
            if (*c != '\n' || kind == 0)
                text[size++] = *c;
            else if (kind == 2) {
                text[size++] = ' ';
                text[size++] = '\n';
            }
        }
        ex_mesh *mesh = must_parse(text, size);
        assert_true(meshes_are_same(first, mesh));
        ex_mesh_destroy(mesh);
    }
    const char spread[] = QUAD_HEADER "0 0 0 1 0 0\n\n1\t1 0 0 1\n0 4 0 1 2\n3";
    ex_mesh *mesh = must_parse(spread, sizeof spread - 1);
    assert_true(meshes_are_same(first, mesh));
    ex_mesh_destroy(mesh);
    ex_mesh_destroy(first);
    /* Lines that end with CR alone, and data whose first byte looks like a line end. */
    const char binary[] = "ply\rformat binary_little_endian 1.0\relement vertex 1\rproperty uchar x\rproperty uchar y\r"
                          "property uchar z\rend_header\r\n\r\2";
    mesh = must_parse(binary, sizeof binary - 1);
    assert_row_near(mesh->positions, ((double[]){10, 13, 2}), 3, 0);
    ex_mesh_destroy(mesh);
}

/* Colours in every type, and texture coordinates of corners. */
static void reads_colours(void **state) {
    (void)state;
    static const struct {
        const char *type, *values;
        float expected[3];
    } rows[] = {{"uchar", "255 51 0", {1, 0.2f, 0}},  {"ushort", "65535 13107 0", {1, 0.2f, 0}},
                {"float", "1 0.2 0", {1, 0.2f, 0}},   {"float", "255 51 0", {1, 0.2f, 0}},
                {"double", "0.5 -1 0", {0.5f, 0, 0}}, {"int", "255 51 0", {1, 0.2f, 0}}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[512];
        int size =
            snprintf(text, sizeof text,
                     "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\n"
                     "property %s diffuse_red\nproperty %s diffuse_green\nproperty %s diffuse_blue\nend_header\n"
                     "1 2 3 %s",
                     rows[i].type, rows[i].type, rows[i].type, rows[i].values);
        ex_mesh *mesh = must_parse(text, (size_t)size);
        assert_memory_equal(mesh->colours, rows[i].expected, sizeof rows[i].expected);
        ex_mesh_destroy(mesh);
    }
    const char wedges[] =
        "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
        "element face 3\nproperty list uchar float texcoord\nproperty list uchar int vertex_indices\n"
        "end_header\n0 0 0\n1 0 0\n0 1 0\n6 0 0 1 0 0.5 1 3 0 1 2\n4 9 9 9 9 3 2 1 0\n6 .1 .2 .3 .4 .5 .6 3 1 2 0\n";
    ex_mesh *mesh = must_parse(wedges, sizeof wedges - 1);
    assert_int_equal(mesh->texcoord_count, 6);
    check_ints(mesh->corner_texcoords, 9, (int[]){0, 1, 2, -1, -1, -1, 3, 4, 5});
    assert_row_near(mesh->texcoords, ((double[]){0, 0, 1, 0, 0.5, 1, .1, .2, .3, .4, .5, .6}), 12, 0);
    ex_mesh_destroy(mesh);
    /* An empty list is the last thing in the file. */
    const char none[] =
        "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
        "element face 1\nproperty list uchar int vertex_indices\nproperty list uchar float texcoord\n"
        "end_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2 0";
    mesh = must_parse(none, sizeof none - 1);
    assert_int_equal(mesh->texcoord_count, 0);
    check_ints(mesh->corner_texcoords, 3, (int[]){-1, -1, -1});
    ex_mesh_destroy(mesh);
}

/* ---- every type in every encoding ---- */

static const char *const types[] = {"char", "uchar", "short", "ushort", "int", "uint", "float", "double"};
static const char *const other_types[] = {"int8", "uint8", "int16", "uint16", "int32", "uint32", "float32", "float64"};
static const size_t type_sizes[] = {1, 1, 2, 2, 4, 4, 4, 8};
static const char *const encodings[] = {"ascii", "binary_little_endian", "binary_big_endian"};

static size_t put(char *at, int encoding, int type, double value) {
    if (encoding == 0)
        return (size_t)sprintf(at, "%.17g ", value);
    unsigned char bytes[8];
    int32_t whole = value >= -0x1p31 && value < 0x1p31 ? (int32_t)value : 0;
    uint32_t natural = value >= 0 && value < 0x1p32 ? (uint32_t)value : 0;
    float single = (float)value;
    if (type == 7)
        memcpy(bytes, &value, 8);
    else if (type == 6)
        memcpy(bytes, &single, 4);
    else if (type == 5)
        memcpy(bytes, &natural, 4);
    else
        memcpy(bytes, &whole, 4); /* little end first: narrower types are its first bytes */
    for (size_t i = 0; i < type_sizes[type]; i++)
        at[i] = (char)bytes[encoding == 2 ? type_sizes[type] - 1 - i : i];
    return type_sizes[type];
}

static void reads_every_type(void **state) {
    (void)state;
    static const double extremes[8][3] = {{-128, 127, 1},
                                          {255, 0, 128},
                                          {-32768, 32767, 258},
                                          {65535, 0, 258},
                                          {-2147483648.0, 2147483647, 16909060},
                                          {4294967295.0, 0, 16909060},
                                          {-1.5, 0x1.fffffep127, 0x1p-149},
                                          {0.1, -1e300, 5e-324}};
    int count = 0;
    for (int encoding = 0; encoding < 3; encoding++)
        for (int type = 0; type < 8; type++)
            for (int list = 0; list < 6; list++)
                for (int index = 0; index < 8; index++) {
                    char text[1024];
                    size_t size = (size_t)sprintf(
                        text,
                        "ply\nformat %s 1.0\nelement vertex 3\nproperty %s x\nproperty %s y\nproperty %s z\n"
                        "element face 1\nproperty list %s %s vertex_indices\nend_header\n",
                        encodings[encoding], types[type], other_types[type], types[type], types[list],
                        other_types[index]);
                    for (int v = 0; v < 9; v++)
                        size += put(text + size, encoding, type, extremes[type][v % 3]);
                    size += put(text + size, encoding, list, 3);
                    for (int c = 0; c < 3; c++)
                        size += put(text + size, encoding, index, 2 - c);
                    ex_mesh *mesh = must_parse(text, size);
                    for (int v = 0; v < 9; v++)
                        assert_true(mesh->positions[v] == extremes[type][v % 3]);
                    check_ints(mesh->corners, 3, (int[]){2, 1, 0});
                    ex_mesh_destroy(mesh);
                    count++;
                }
    assert_int_equal(count, 3 * 8 * 6 * 8);
}

/* ---- errors ---- */

#define HEAD  "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
#define FACES "element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n"

static const struct {
    const char *text;
    ex_result result;
    const char *sentence;
} wrong[] = {
    {"", EX_ERROR_FORMAT, "x.ply is empty"},
    {"solid\n", EX_ERROR_FORMAT, "x.ply:1: does not begin with 'ply': this is not a PLY file"},
    {"ply", EX_ERROR_FORMAT, "x.ply:1: the file ends within its header"},
    {"ply\nformat ascii 1.0\nelement vertex 3\n", EX_ERROR_FORMAT, "x.ply:3: the file ends within its header"},
    {"ply\nend_header\n", EX_ERROR_FORMAT, "x.ply:2: the header does not name the format"},
    {"ply\nformat\n", EX_ERROR_FORMAT,
     "x.ply:2: cannot read '' as a format: ascii, binary_little_endian or binary_big_endian is needed here"},
    {"ply\nformat utf8 1.0\n", EX_ERROR_FORMAT,
     "x.ply:2: cannot read 'utf8' as a format: ascii, binary_little_endian or binary_big_endian is needed here"},
    {"ply\nformat ascii 1.0\nhello\n", EX_ERROR_FORMAT, "x.ply:3: cannot read 'hello' as a word of a PLY header"},
    {"ply\nformat ascii 1.0\nproperty float x\n", EX_ERROR_FORMAT, "x.ply:3: a property comes before any element"},
    {"ply\nformat ascii 1.0\nelement vertex\n", EX_ERROR_FORMAT, "x.ply:3: the element lacks its name or its number"},
    {"ply\nformat ascii 1.0\nelement vertex -3\n", EX_ERROR_FORMAT,
     "x.ply:3: cannot read '-3' as a number of elements"},
    {"ply\nformat ascii 1.0\nelement vertex 99999999999999999999999\n", EX_ERROR_FORMAT,
     "x.ply:3: cannot read '99999999999999999999999' as a number of elements"},
    {"ply\nformat ascii 1.0\nelement vertex 3\nproperty float\n", EX_ERROR_FORMAT,
     "x.ply:4: the property lacks its type or its name"},
    {"ply\nformat ascii 1.0\nelement vertex 3\nproperty real x\n", EX_ERROR_FORMAT,
     "x.ply:4: cannot read 'real' as a type"},
    {"ply\nformat ascii 1.0\nelement face 3\nproperty list byte int x\n", EX_ERROR_FORMAT,
     "x.ply:4: cannot read 'byte' as a type"},
    {"ply\nformat ascii 1.0\nelement face 3\nproperty list float int x\n", EX_ERROR_FORMAT,
     "x.ply:4: the length of a list must be a whole number"},
    {"ply\nformat ascii 1.0\nend_header\n", EX_ERROR_FORMAT, "x.ply has no vertices"},
    {"ply\nformat ascii 1.0\nelement vertex 3\nend_header\n", EX_ERROR_DATA, "x.ply:5: the vertices lack x, y or z"},
    {"ply\nformat ascii 1.0\nelement range_grid 3\nend_header\n", EX_ERROR_DATA,
     "x.ply:5: the range grid has no list called vertex_indices, or several, or appears twice"},
    {"ply\nformat ascii 1.0\nelement face 3\nend_header\n", EX_ERROR_DATA,
     "x.ply:5: has faces twice, or before its vertices"},
    {"ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float z\nend_header\n1 2\n", EX_ERROR_DATA,
     "x.ply:7: the vertices lack x, y or z"},
    {HEAD "end_header\n0 0 0\n1 0 0.5\n0 1\n", EX_ERROR_FORMAT,
     "x.ply:11: the file ends too early: copy or export it again"},
    {HEAD "end_header\n0 0 0\n1 nan 0\n0 1 0\n", EX_ERROR_FORMAT, "x.ply:9: cannot read 'nan' as a number"},
    {HEAD "end_header\n0 0 0\n1 0,5 0\n0 1 0\n", EX_ERROR_FORMAT, "x.ply:9: cannot read '0,5' as a number"},
    {HEAD FACES "3 0 1 3\n", EX_ERROR_DATA, "x.ply:13: face 0 (counting from 0) refers to vertex 3, but there are 3"},
    {HEAD FACES "3 0 1 -1\n", EX_ERROR_DATA, "x.ply:13: face 0 (counting from 0) refers to vertex -1, but there are 3"},
    {HEAD FACES "3 0 1 1.5\n", EX_ERROR_FORMAT, "x.ply:13: cannot read '1.5' as a whole number"},
    {HEAD FACES "2 0 1\n", EX_ERROR_DATA, "x.ply:13: face 0 (counting from 0) has 2 corners; it needs at least 3"},
    {HEAD FACES "200 0 1 2\n", EX_ERROR_FORMAT, "x.ply:13: the file ends too early: copy or export it again"},
    {HEAD FACES "1e300 0 1 2\n", EX_ERROR_FORMAT, "x.ply:13: the file ends too early: copy or export it again"},
    {HEAD "element face 1\nproperty list uint float texcoord\nproperty list uchar int vertex_indices\nend_header\n"
          "0 0 0\n1 0 0\n0 1 0\n1e300 3 0 1 2\n",
     EX_ERROR_FORMAT, "x.ply:14: the file ends too early: copy or export it again"},
    {HEAD "element face 1\nproperty list uint float other\nproperty list uchar int vertex_indices\nend_header\n"
          "0 0 0\n1 0 0\n0 1 0\n1e300 3 0 1 2\n",
     EX_ERROR_FORMAT, "x.ply:14: the file ends too early: copy or export it again"},
    {HEAD FACES "3 0 1\n", EX_ERROR_FORMAT, "x.ply:14: the file ends too early: copy or export it again"},
    {HEAD "element face 1\nproperty list uchar int corners\nend_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n", EX_ERROR_DATA,
     "x.ply:12: the faces have no list called vertex_indices, or several"},
    {"ply\nformat ascii 1.0\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n3 0 1 2\n",
     EX_ERROR_DATA, "x.ply:6: has faces twice, or before its vertices"},
    {HEAD "element vertex 1\nproperty float x\nend_header\n0 0 0\n1 0 0\n0 1 0\n1\n", EX_ERROR_DATA,
     "x.ply:12: has two lists of vertices"},
    {HEAD "element x 1\nproperty list char char y\nend_header\n0 0 0\n1 0 0\n0 1 0\n-1\n", EX_ERROR_DATA,
     "x.ply:13: a list has the length -1"},
    /* False headers. */
    {"ply\nformat ascii 1.0\nelement vertex 250000000\nproperty float x\nproperty float y\nproperty float "
     "z\nend_header\n0 0 0\n",
     EX_ERROR_FORMAT, "x.ply:8: the file ends too early: the header states 250000000 of 'vertex'"},
    {"ply\nformat binary_little_endian 1.0\nelement vertex 250000000\nproperty float x\nproperty float y\nproperty "
     "float z\n"
     "end_header\n0123456789abcdef",
     EX_ERROR_FORMAT, "x.ply: the file ends too early: the header states 250000000 of 'vertex'"},
    {"ply\nformat binary_big_endian 1.0\nelement vertex 1844674407370955161\nproperty double x\nproperty double y\n"
     "property double z\nend_header\n",
     EX_ERROR_FORMAT, "x.ply: the file ends too early: the header states 1844674407370955161 of 'vertex'"},
    {HEAD "element face 250000000\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n",
     EX_ERROR_FORMAT, "x.ply:12: the file ends too early: the header states 250000000 of 'face'"},
    {"ply\nformat binary_little_endian 1.0\nelement vertex 1\nproperty uchar x\nproperty uchar y\nproperty uchar z\n"
     "element face 1\nproperty list uint uchar vertex_indices\nend_header\nabc\xff\xff\xff\xff"
     "abc",
     EX_ERROR_FORMAT, "x.ply: the file ends too early: copy or export it again"},
    {"ply\nformat binary_little_endian 1.0\nelement x 1\nproperty list uint double y\nend_header\n\xff\xff\xff\xff"
     "abc",
     EX_ERROR_FORMAT, "x.ply: the file ends too early: copy or export it again"},
    {"ply\nformat binary_little_endian 1.0\nelement vertex 1\nproperty float x\nproperty uchar y\nproperty uchar z\n"
     "end_header\n\xff\xff\xff\xff"
     "ab",
     EX_ERROR_DATA, "x.ply: holds a number that is not finite"},
};

static void says_what_is_wrong(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ex_mesh *mesh = (ex_mesh *)&mesh;
        ex_error error = {.text = "no error"};
        ex_result result = parse_exactly(wrong[i].text, strlen(wrong[i].text), &mesh, &error);
        assert_null(mesh);
        assert_string_equal(error.text, wrong[i].sentence);
        assert_int_equal(result, wrong[i].result);
        assert_int_equal(error.result, wrong[i].result);
    }
    ex_mesh *mesh;
    assert_int_equal(ex_ply_read("/nowhere.ply", &mesh, NULL), EX_ERROR_FILE);
}

/* ---- writing ---- */

static const char *const objs[] = {
    "v 0 0 0\n",
    "v 0 0.1 0 1 0 0.5\nv 1 0 0 0.1 0.2 0.3\nv 0 1 1e300 0 0 0\nf 1 2 3\n",
    "v 0 0 0 0 0 0\nv 1 0 0 1 0.2 0.6\nv 0 1 0.25 1 1 1\nv 9 9 9\nf 1 2 3\nf 3 2 1 4\n",
    "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvt 1 0.1\nvt 0.3 1\nf 1/1 2/2 3/3\nf 1 3 4\nf 3/1 2/2 1/3\n",
    "v 0 0 0\nv 1 0 0\nv 1 1 0\nvt 0 0\nvt 1 0.1\nvt 0.3 1\nf 1/1 2/2 3/3\nf 3/1 2/2 1/3\n",
};

static ex_mesh *through_file(const ex_mesh *mesh, ex_ply_encoding encoding) {
    ex_error error;
    ex_mesh *again = NULL;
    if (ex_ply_write(scratch_path("out.ply"), mesh, encoding, &error) != EX_OK ||
        ex_ply_read(scratch_path("out.ply"), &again, &error) != EX_OK)
        fail_msg("%s", error.text);
    return again;
}

/* Written and read again it is the same; and the first time keeps everything that PLY can hold. */
static void writes_what_it_reads(void **state) {
    (void)state;
    for (int encoding = 0; encoding < 3; encoding++) {
        ex_mesh *mesh = must_parse(everything, sizeof everything - 1),
                *again = through_file(mesh, (ex_ply_encoding)encoding);
        assert_true(meshes_are_same(mesh, again));
        ex_mesh_destroy(again);
        ex_mesh_destroy(mesh);
        for (size_t i = 0; i < sizeof objs / sizeof *objs; i++) {
            assert_int_equal(ex_obj_parse(objs[i], strlen(objs[i]), "x", &mesh, NULL), EX_OK);
            again = through_file(mesh, (ex_ply_encoding)encoding);
            assert_int_equal(ex_mesh_compare_connectivity(mesh, again, NULL), EX_OK);
            assert_memory_equal(again->positions, mesh->positions, (size_t)mesh->vertex_count * 3 * sizeof(double));
            if (mesh->colours)
                assert_memory_equal(again->colours, mesh->colours, (size_t)mesh->vertex_count * 3 * sizeof(float));
            for (int c = 0; mesh->corner_texcoords && c < mesh->corner_count; c++) {
                assert_int_equal(again->corner_texcoords[c] < 0, mesh->corner_texcoords[c] < 0);
                for (int k = 0; k < 2 && mesh->corner_texcoords[c] >= 0; k++)
                    assert_true(again->texcoords[2 * again->corner_texcoords[c] + k] ==
                                mesh->texcoords[2 * mesh->corner_texcoords[c] + k]);
            }
            ex_mesh *third = through_file(again, (ex_ply_encoding)encoding);
            assert_true(meshes_are_same(again, third));
            ex_mesh_destroy(third);
            ex_mesh_destroy(again);
            ex_mesh_destroy(mesh);
        }
    }
}

static void writes_the_fewest_bytes(void **state) {
    (void)state;
    ex_mesh *mesh;
    assert_int_equal(ex_obj_parse(objs[2], strlen(objs[2]), "x", &mesh, NULL), EX_OK);
    assert_int_equal(ex_ply_write(scratch_path("out.ply"), mesh, EX_PLY_ASCII, NULL), EX_OK);
    char *text = scratch_read("out.ply", NULL);
    assert_string_equal(
        text, "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
              "property uchar red\nproperty uchar green\nproperty uchar blue\nelement face 2\n"
              "property list uchar int vertex_indices\nend_header\n0 0 0 0 0 0\n1 0 0 255 51 153\n"
              "0 1 0.25 255 255 255\n9 9 9 255 255 255\n3 0 1 2\n4 2 1 0 3\n");
    free(text);
    assert_int_equal(ex_ply_write(scratch_path("out.ply"), mesh, EX_PLY_BIG_ENDIAN, NULL), EX_OK);
    size_t size;
    text = scratch_read("out.ply", &size);
    const char *body = strstr(text, "end_header\n") + 11;
    assert_int_equal((size_t)(text + size - body), 4 * 15 + 13 + 17);
    assert_memory_equal(body + 15, "\x3f\x80\0\0\0\0\0\0\0\0\0\0\xff\x33\x99", 15);
    free(text);
    ex_mesh_destroy(mesh);
}

/* Every byte of colour comes back, and in one byte. */
static void writes_every_colour(void **state) {
    (void)state;
    ex_mesh *mesh = ex_mesh_create();
    mesh->vertex_count = 256;
    mesh->positions = calloc(256, 3 * sizeof(double));
    mesh->colours = calloc(256, 3 * sizeof(float));
    mesh->face_offsets = calloc(1, sizeof(int));
    assert_true(mesh->positions && mesh->colours && mesh->face_offsets);
    for (int v = 0; v < 256; v++)
        mesh->colours[3 * v] = (float)(v / 255.0);
    for (int encoding = 0; encoding < 3; encoding++) {
        ex_mesh *again = through_file(mesh, (ex_ply_encoding)encoding);
        assert_true(meshes_are_same(mesh, again));
        ex_mesh_destroy(again);
        char *text = scratch_read("out.ply", NULL);
        assert_non_null(strstr(text, "property uchar red"));
        free(text);
    }
    ex_mesh_destroy(mesh);
}

static void refuses_to_write_what_cannot_be_read(void **state) {
    (void)state;
    ex_mesh *mesh;
    ex_error error;
    assert_int_equal(ex_obj_parse(objs[3], strlen(objs[3]), "x", &mesh, NULL), EX_OK);
    const char *path = scratch_path("out.ply");
    mesh->positions[4] = NAN;
    assert_int_equal(ex_ply_write(path, mesh, EX_PLY_ASCII, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "not finite");
    mesh->positions[4] = 0;
    mesh->corners[2] = 4;
    assert_int_equal(ex_ply_write(path, mesh, EX_PLY_ASCII, &error), EX_ERROR_DATA);
    mesh->corners[2] = 2;
    assert_int_equal(ex_ply_write(path, mesh, (ex_ply_encoding)3, &error), EX_ERROR_ARGUMENT);
    assert_int_equal(scratch_entry_count(), 0);
    assert_int_equal(ex_ply_write("/nowhere/out.ply", mesh, EX_PLY_ASCII, &error), EX_ERROR_FILE);
    ex_mesh_destroy(mesh);
}

/* ---- damage and failing memory ---- */

static void survives_damage(void **state) {
    (void)state;
    for (int encoding = 0; encoding < 3; encoding++) {
        ex_mesh *mesh = must_parse(everything, sizeof everything - 1);
        assert_int_equal(ex_ply_write(scratch_path("out.ply"), mesh, (ex_ply_encoding)encoding, NULL), EX_OK);
        ex_mesh_destroy(mesh);
        size_t size;
        char *bytes = scratch_read("out.ply", &size);
        for (size_t cut = 0; cut < size; cut++) {
            ex_error error = {.text = ""};
            ex_result result = parse_exactly(bytes, cut, &mesh, &error);
            /* Text may lack its last line end. */
            assert_true(encoding == 0 && cut == size - 1 ? result == EX_OK : result != EX_OK);
            assert_true(result == EX_OK || strlen(error.text) > 10);
            ex_mesh_destroy(mesh);
        }
        for (size_t at = 0; at < size; at++)
            for (int bit = 0; bit < 8; bit++) {
                bytes[at] = (char)(bytes[at] ^ (1 << bit));
                ex_result result = parse_exactly(bytes, size, &mesh, NULL);
                assert_int_equal(result == EX_OK, mesh != NULL);
                ex_mesh_destroy(mesh);
                bytes[at] = (char)(bytes[at] ^ (1 << bit));
            }
        free(bytes);
    }
}

static ex_result read_and_write_with_little_memory(void *context) {
    (void)context;
    ex_mesh *mesh;
    ex_error error = {.result = EX_OK};
    ex_result result = ex_ply_read(scratch_path("in.ply"), &mesh, &error);
    if ((result == EX_OK) != (mesh != NULL) || error.result != result)
        return EX_ERROR_DATA;
    if (result == EX_OK)
        result = ex_ply_write(scratch_path("out.ply"), mesh, EX_PLY_ASCII, &error);
    ex_mesh_destroy(mesh);
    return result;
}

static void survives_failing_memory(void **state) {
    (void)state;
    scratch_write("in.ply", everything, sizeof everything - 1);
    assert_true(fail_alloc_sweep(read_and_write_with_little_memory, NULL) >= 14);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_set_up, scratch_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_everything),
        cmocka_unit_test(reads_every_kind_of_line_end),
        cmocka_unit_test(reads_colours),
        cmocka_unit_test(reads_every_type),
        cmocka_unit_test(says_what_is_wrong),
        TEST(writes_what_it_reads),
        TEST(writes_the_fewest_bytes),
        TEST(writes_every_colour),
        TEST(refuses_to_write_what_cannot_be_read),
        TEST(survives_damage),
        TEST(survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
