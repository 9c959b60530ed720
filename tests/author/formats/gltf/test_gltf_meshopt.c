/*
 * glTF compressed with meshopt: a quantised grid with every mode and filter, written by the library meshoptimizer and
 * compared with the numbers that went in; buffers without bytes; every error with its sentence; damage; bombs; failing
 * memory. tests/oracle/gltf_oracle.py compares with a decoder that does not use the library.
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

#include <meshoptimizer.h>

#include <exemplar/author/formats.h>

#include "author/formats/gltf/meshopt_codecs.h"
#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/scenes.h"

enum { SIDE = 20, COUNT = SIDE * SIDE, CORNERS = (SIDE - 1) * (SIDE - 1) * 6, KEYS = 5, FILE_MAX = 1 << 16 };

/* The numbers before they were compressed. */
typedef struct grid {
    uint16_t positions[COUNT][4]; /* the fourth pads */
    float normals[COUNT][4], tangents[COUNT][4], moves[COUNT][3];
    uint16_t texcoords[COUNT][2];
    unsigned indices[CORNERS];
    float times[KEYS], turns[KEYS][4];
} grid;

typedef struct file {
    unsigned char bin[FILE_MAX];
    size_t size;
    char views[FILE_MAX];
    int view_count;
} file;

static void make_grid(grid *g) {
    unsigned *corner = g->indices;
    for (int i = 0; i < COUNT; i++) {
        const int x = i % SIDE, y = i / SIDE;
        const double slope = 0.1 * (x - 9), length = sqrt(1 + slope * slope + 0.01 * y * y);
        const float normal[4] = {(float)(slope / length), (float)(0.1 * y / length), (float)(1 / length), 0};
        const float tangent[4] = {normal[2], 0, -normal[0], i % 2 ? -1 : 1};
        const float across = sqrtf(tangent[0] * tangent[0] + tangent[2] * tangent[2]);
        memcpy(g->normals[i], normal, sizeof normal);
        for (int c = 0; c < 4; c++)
            g->tangents[i][c] = c < 3 ? tangent[c] / across : tangent[c];
        g->positions[i][0] = (uint16_t)(700 * x);
        g->positions[i][1] = (uint16_t)(700 * y);
        g->positions[i][2] = (uint16_t)(40 * x * x);
        g->texcoords[i][0] = (uint16_t)(3449 * x);
        g->texcoords[i][1] = (uint16_t)(65535 - 3449 * y);
        for (int c = 0; c < 3; c++)
            g->moves[i][c] = (float)(x < 3 ? 0 : 0.37 * x * (c + 1) - y);
        if (x < SIDE - 1 && y < SIDE - 1) {
            const unsigned v = (unsigned)i, around[6] = {v, v + 1, v + SIDE, v + SIDE, v + 1, v + SIDE + 1};
            memcpy(corner, around, sizeof around);
            corner += 6;
        }
    }
    for (int k = 0; k < KEYS; k++) {
        const double half = 0.3 * k;
        const float turn[4] = {(float)(0.6 * sin(half)), (float)(0.8 * sin(half)), 0, (float)cos(half)};
        g->times[k] = 0.25f * (float)k;
        memcpy(g->turns[k], turn, sizeof turn);
    }
}

/* Adds a compressed view. Its own buffer is the second, which has no bytes. */
static void add_view(file *f, size_t packed, size_t count, size_t stride, const char *rest) {
    char text[400], step[32] = "";
    assert_true(packed > 0);
    if (strstr(rest, "ATTRIBUTES"))
        snprintf(step, sizeof step, ",\"byteStride\":%zu", stride);
    snprintf(text, sizeof text,
             "%s{\"buffer\":1,\"byteOffset\":0,\"byteLength\":%zu%s,\"extensions\":{\"EXT_meshopt_compression\":{"
             "\"buffer\":0,\"byteOffset\":%zu,\"byteLength\":%zu,\"byteStride\":%zu,\"count\":%zu,%s}}}",
             f->view_count++ ? "," : "", count * stride, step, f->size, packed, stride, count, rest);
    strcat(f->views, text);
    f->size += (packed + 3) & ~(size_t)3;
    assert_true(f->size < FILE_MAX);
}

static void add_attributes(file *f, const void *values, size_t count, size_t stride, const char *filter) {
    char rest[80];
    snprintf(rest, sizeof rest, "\"mode\":\"ATTRIBUTES\"%s%s%s", filter ? ",\"filter\":\"" : "", filter ? filter : "",
             filter ? "\"" : "");
    add_view(f, meshopt_encodeVertexBuffer(f->bin + f->size, FILE_MAX - f->size, values, count, stride), count, stride,
             rest);
}

static void make_file(file *f, const grid *g) {
    static unsigned char filtered[COUNT * 16];
    memset(f, 0, sizeof *f);
    meshopt_encodeIndexVersion(1);
    add_attributes(f, g->positions, COUNT, 8, NULL);
    meshopt_encodeFilterOct(filtered, COUNT, 4, 8, &g->normals[0][0]);
    add_attributes(f, filtered, COUNT, 4, "OCTAHEDRAL");
    meshopt_encodeFilterOct(filtered, COUNT, 8, 16, &g->tangents[0][0]);
    add_attributes(f, filtered, COUNT, 8, "OCTAHEDRAL");
    add_attributes(f, g->texcoords, COUNT, 4, "NONE");
    meshopt_encodeFilterExp(filtered, COUNT, 12, 15, &g->moves[0][0]);
    add_attributes(f, filtered, COUNT, 12, "EXPONENTIAL");
    add_view(f, meshopt_encodeIndexBuffer(f->bin + f->size, FILE_MAX - f->size, g->indices, CORNERS), CORNERS, 2,
             "\"mode\":\"TRIANGLES\"");
    add_view(f, meshopt_encodeIndexSequence(f->bin + f->size, FILE_MAX - f->size, g->indices, CORNERS), CORNERS, 4,
             "\"mode\":\"INDICES\"");
    add_attributes(f, g->times, KEYS, 4, NULL);
    meshopt_encodeFilterQuat(filtered, KEYS, 8, 16, &g->turns[0][0]);
    add_attributes(f, filtered, KEYS, 8, "QUATERNION");
}

static const char frame[] =
    "{\"asset\":{\"version\":\"2.0\"},\"extensionsUsed\":[\"EXT_meshopt_compression\",\"KHR_mesh_quantization\"],"
    "\"extensionsRequired\":[\"EXT_meshopt_compression\",\"KHR_mesh_quantization\"],"
    "\"nodes\":[{\"mesh\":0,\"scale\":[0.001,0.001,0.001]}],"
    "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0,\"NORMAL\":1,\"TANGENT\":2,\"TEXCOORD_0\":3},"
    "\"indices\":5,\"targets\":[{\"POSITION\":4}]},"
    "{\"attributes\":{\"POSITION\":0},\"indices\":6,\"targets\":[{\"POSITION\":4}]}]}],"
    "\"animations\":[{\"channels\":[{\"sampler\":0,\"target\":{\"node\":0,\"path\":\"rotation\"}}],"
    "\"samplers\":[{\"input\":7,\"output\":8}]}],\"accessors\":["
    "{\"bufferView\":0,\"componentType\":5123,\"count\":400,\"type\":\"VEC3\"},"
    "{\"bufferView\":1,\"componentType\":5120,\"count\":400,\"type\":\"VEC3\",\"normalized\":true},"
    "{\"bufferView\":2,\"componentType\":5122,\"count\":400,\"type\":\"VEC4\",\"normalized\":true},"
    "{\"bufferView\":3,\"componentType\":5123,\"count\":400,\"type\":\"VEC2\",\"normalized\":true},"
    "{\"bufferView\":4,\"componentType\":5126,\"count\":400,\"type\":\"VEC3\"},"
    "{\"bufferView\":5,\"componentType\":5123,\"count\":2166,\"type\":\"SCALAR\"},"
    "{\"bufferView\":6,\"componentType\":5125,\"count\":2166,\"type\":\"SCALAR\"},"
    "{\"bufferView\":7,\"componentType\":5126,\"count\":5,\"type\":\"SCALAR\"},"
    "{\"bufferView\":8,\"componentType\":5122,\"count\":5,\"type\":\"VEC4\",\"normalized\":true}],"
    "\"buffers\":[{\"byteLength\":SIZE},{\"byteLength\":65536,\"extensions\":{\"EXT_meshopt_compression\":{"
    "\"fallback\":"
    "true}}}],\"bufferViews\":[VIEWS]}";

static char *make_json(const file *f) {
    char size[24];
    snprintf(size, sizeof size, "%zu", f->size);
    char *sized = replace_text(frame, "SIZE", size), *json = replace_text(sized, "VIEWS", f->views);
    free(sized);
    return json;
}

/* Parses a block of exactly this size, so that the sanitizer and valgrind see reads beyond it. */
static ex_result parse(const char *json, const file *f, ex_scene **scene, ex_error *error) {
    size_t size;
    char *glb = make_glb(json, f->bin, f->size, &size);
    const ex_result result = ex_scene_parse(glb, size, "x.glb", false, scene, error);
    free(glb);
    return result;
}

/* ---- reading ---- */

/* Triangles may start at another corner. */
static void assert_same_triangles(const int *read, const unsigned *written) {
    for (int t = 0; t < CORNERS; t += 3) {
        int turn = 0;
        while (turn < 3 && (unsigned)read[t + turn] != written[t])
            turn++;
        assert_in_range(turn, 0, 2);
        for (int k = 0; k < 3; k++)
            assert_int_equal(read[t + (turn + k) % 3], written[t + k]);
    }
}

static void check_scene(const ex_scene *scene, const grid *g) {
    const ex_scene_primitive *p = &scene->meshes[0].primitives[0];
    assert_int_equal(p->vertex_count, COUNT);
    for (size_t v = 0; v < COUNT; v++) {
        for (size_t c = 0; c < 3; c++) {
            assert_true(p->positions[3 * v + c] == (float)g->positions[v][c]);
            assert_near(p->normals[3 * v + c], g->normals[v][c], 0.02);
            assert_near(p->tangents[4 * v + c], g->tangents[v][c], 1e-4);
            assert_near(p->targets[0].positions[3 * v + c], g->moves[v][c], 0.003);
        }
        assert_true(p->tangents[4 * v + 3] == g->tangents[v][3]);
        for (size_t c = 0; c < 2; c++)
            assert_near(p->texcoords[0][2 * v + c], g->texcoords[v][c] / 65535.0, 1e-7);
    }
    assert_int_equal(p->index_count, CORNERS);
    assert_same_triangles(p->indices, g->indices);
    assert_int_equal(scene->meshes[0].primitives[1].index_count, CORNERS);
    for (int i = 0; i < CORNERS; i++)
        assert_int_equal(scene->meshes[0].primitives[1].indices[i], g->indices[i]);
    const ex_scene_channel *channel = &scene->animations[0].channels[0];
    assert_int_equal(channel->key_count, KEYS);
    for (size_t k = 0; k < KEYS; k++) {
        double dot = 0;
        assert_true(channel->times[k] == g->times[k]);
        for (size_t c = 0; c < 4; c++)
            dot += (double)channel->values[4 * k + c] * (double)g->turns[k][c];
        assert_near(fabs(dot), 1, 1e-4);
    }
}

static void reads_every_mode_and_filter(void **state) {
    (void)state;
    static grid g;
    static file f;
    ex_scene *scene;
    ex_error error;
    make_grid(&g);
    make_file(&f, &g);
    char *json = make_json(&f);
    for (int name = 0; name < 2; name++) {
        /* The same under Khronos's name. */
        for (char *at = json; name && (at = strstr(at, "EXT_meshopt")) != NULL; at++)
            memcpy(at, "KHR", 3);
        if (parse(json, &f, &scene, &error) != EX_OK)
            fail_msg("%s", error.text);
        check_scene(scene, &g);
        assert_int_equal(scene->note_count, 0);
        /* The node scales whole numbers to the size of the figure. */
        ex_mesh *mesh = NULL;
        assert_int_equal(ex_scene_to_form(scene, &mesh, NULL), EX_OK);
        assert_near(mesh->positions[3 * (COUNT - 1)], 13.3, 1e-6);
        ex_mesh_destroy(mesh);
        ex_scene_destroy(scene);
    }
    free(json);
}

/* Random data of every stride and smoothness, decoded here and by the library. */
static void decodes_as_the_library_does(void **state) {
    (void)state;
    enum { MOST = 700, BYTES = MOST * 256 };
    static unsigned char values[BYTES], packed[BYTES * 2 + 4096], ours[BYTES], theirs[BYTES];
    static unsigned indices[3 * MOST];
    uint64_t random = 3;
    for (int round = 0; round < 300; round++) {
        const size_t count = 1 + random_bits(&random) % MOST, stride = 4 + 4 * (random_bits(&random) >> 20) % 256;
        const unsigned noise = 1U << (random_bits(&random) >> 30 & 7);
        for (size_t i = 0; i < count * stride; i++)
            values[i] = (unsigned char)((i < stride ? 0U : values[i - stride]) + (random_bits(&random) >> 33) % noise);
        size_t size = meshopt_encodeVertexBuffer(packed, sizeof packed, values, count, stride);
        assert_true(size > 0 && exi_meshopt_attributes(packed, size, count, stride, ours));
        assert_memory_equal(ours, values, count * stride);
        assert_false(exi_meshopt_attributes(packed, size - 1, count, stride, ours));

        /* Triangles around each other, and some that jump. */
        for (size_t t = 0; t < count; t++)
            for (size_t c = 0; c < 3; c++)
                indices[3 * t + c] = (unsigned)(random_bits(&random) >> 33) % 8 == 0
                                         ? (unsigned)(random_bits(&random) >> 33) % (unsigned)(count + 2)
                                         : (unsigned)(t + (c + t % 2 * c) % 3);
        meshopt_encodeIndexVersion(round % 2);
        const size_t width = round % 3 == 0 ? 4 : 2;
        size = meshopt_encodeIndexBuffer(packed, sizeof packed, indices, 3 * count);
        assert_int_equal(meshopt_decodeIndexBuffer(theirs, 3 * count, width, packed, size), 0);
        assert_true(exi_meshopt_triangles(packed, size, 3 * count, width, ours));
        assert_memory_equal(ours, theirs, 3 * count * width);
        size = meshopt_encodeIndexSequence(packed, sizeof packed, indices, 3 * count);
        assert_int_equal(meshopt_decodeIndexSequence(theirs, 3 * count, width, packed, size), 0);
        assert_true(exi_meshopt_sequence(packed, size, 3 * count, width, ours));
        assert_memory_equal(ours, theirs, 3 * count * width);
    }
}

/* The same for filters, of vectors in all directions. Roundings may differ by one. */
static void filters_as_the_library_does(void **state) {
    (void)state;
    enum { MANY = 2000 };
    static float vectors[MANY][4], floats[MANY];
    static unsigned char ours[MANY * 8], theirs[MANY * 8];
    uint64_t random = 11;
    for (int i = 0; i < MANY; i++) {
        double length = 0, v[4];
        for (int c = 0; c < 4; c++) {
            v[c] = random_between(&random, -1, 1);
            length += v[c] * v[c];
        }
        for (int c = 0; c < 4; c++)
            vectors[i][c] = (float)(v[c] / sqrt(length)); /* a unit quaternion; its first three, a direction */
        floats[i] = (float)(v[0] * pow(2, 40 * v[1]));
    }
    for (size_t size = 1; size <= 2; size++) {
        static float directions[MANY][4];
        for (int i = 0; i < MANY; i++) {
            const float *v = vectors[i], length = sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
            for (int c = 0; c < 4; c++)
                directions[i][c] = c < 3 ? v[c] / length : v[c];
        }
        meshopt_encodeFilterOct(ours, MANY, 4 * size, size == 1 ? 8 : 12, &directions[0][0]);
        memcpy(theirs, ours, sizeof ours);
        exi_meshopt_octahedral(ours, MANY, 4 * size);
        meshopt_decodeFilterOct(theirs, MANY, 4 * size);
        for (size_t i = 0; i < (size_t)MANY * 4; i++) {
            const int a = size == 1 ? (int8_t)ours[i] : ((int16_t *)(void *)ours)[i];
            const int b = size == 1 ? (int8_t)theirs[i] : ((int16_t *)(void *)theirs)[i];
            assert_in_range(a - b + 1, 0, 2);
            assert_near(a / (size == 1 ? 127.0 : 32767.0), directions[i / 4][i % 4], size == 1 ? 0.02 : 0.002);
        }
    }
    meshopt_encodeFilterQuat(ours, MANY, 8, 14, &vectors[0][0]);
    memcpy(theirs, ours, sizeof ours);
    exi_meshopt_quaternion(ours, MANY);
    meshopt_decodeFilterQuat(theirs, MANY, 8);
    for (size_t i = 0; i < (size_t)MANY * 4; i++)
        assert_in_range(((int16_t *)(void *)ours)[i] - ((int16_t *)(void *)theirs)[i] + 1, 0, 2);
    meshopt_encodeFilterExp(ours, MANY, 4, 20, floats);
    memcpy(theirs, ours, sizeof ours);
    exi_meshopt_exponential(ours, MANY);
    meshopt_decodeFilterExp(theirs, MANY, 4);
    assert_memory_equal(ours, theirs, (size_t)MANY * 4);
}

/* ---- errors ---- */

static void says_what_is_wrong(void **state) {
    (void)state;
    static const struct {
        const char *find, *by, *sentence;
    } wrong[] = {
        {"\"mode\":\"ATTRIBUTES\"", "\"mode\":\"SPIRALS\"", "its mode 'SPIRALS' is not known"},
        {"\"mode\":\"ATTRIBUTES\"", "\"mode\":7", "its mode '(not a text)' is not known"},
        {"\"filter\":\"OCTAHEDRAL\"", "\"filter\":\"COLOR\"", "its filter 'COLOR' is not known"},
        {"\"filter\":\"OCTAHEDRAL\"", "\"filter\":\"QUATERNION\"", "byteStride does not fit the filter"},
        {"\"mode\":\"TRIANGLES\"", "\"mode\":\"TRIANGLES\",\"filter\":\"EXPONENTIAL\"", "only attributes can have"},
        {"\"byteStride\":2,\"count\":2166", "\"byteStride\":2,\"count\":2165", "count is not a multiple of 3"},
        {"\"byteStride\":2,\"count\":2166", "\"byteStride\":3,\"count\":2166", "byteStride is not 2 or 4"},
        {"\"byteStride\":8,\"count\":400", "\"byteStride\":6,\"count\":400", "byteStride is not a multiple of 4"},
        {"\"byteStride\":8,\"count\":400", "\"byteStride\":260,\"count\":400", "byteStride is not a multiple of 4"},
        {"\"byteStride\":8,\"count\":400", "\"byteStride\":8", "count or byteStride is missing"},
        {"\"byteStride\":8,\"count\":400", "\"byteStride\":8,\"count\":399", "but its compressed bytes hold 3192"},
        {"\"byteStride\":8,\"count\":400", "\"byteStride\":8,\"count\":500", "compressed bytes are damaged"},
        {"\"byteStride\":8,\"count\":400", "\"byteStride\":8,\"count\":-1", "count must be a whole number"},
        {"\"buffer\":0,\"byteOffset\":0,", "\"buffer\":7,\"byteOffset\":0,", "buffer is buffer 7, but the file has 2"},
        {"\"buffer\":0,\"byteOffset\":0,", "\"buffer\":0,\"byteOffset\":99999,", "reaches to byte"},
        {"\"buffer\":0,\"byteOffset\":0,", "\"buffer\":1,\"byteOffset\":0,", "buffers[1]: has no bytes"},
        {"\"buffer\":0,\"byteOffset\":0,", "\"byteOffset\":0,", "buffer or mode is missing"},
    };
    static grid g;
    static file f;
    make_grid(&g);
    make_file(&f, &g);
    char *json = make_json(&f);
    ex_scene *scene;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ex_error error = {.text = ""};
        char *changed = replace_text(json, wrong[i].find, wrong[i].by);
        if (parse(changed, &f, &scene, &error) != EX_ERROR_DATA)
            fail_msg("%s is taken", wrong[i].by);
        assert_sentence(&error, EX_ERROR_DATA, wrong[i].sentence);
        free(changed);
    }
    ex_error error = {.text = ""};
    f.bin[0] = 0xA7; /* a later version */
    assert_int_equal(parse(json, &f, &scene, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "compressed with version 7 of a meshopt codec");
    assert_sentence(&error, EX_ERROR_DATA, "export with EXT_meshopt_compression");
    free(json);
}

/* Many views of the same bytes, each used once. */
static void refuses_bombs(void **state) {
    (void)state;
    enum { VERTICES = 1 << 16, TIMES = 90 };
    static const uint32_t zeros[VERTICES][4];
    static file f;
    static char json[1 << 17];
    size_t at = 0;
    memset(&f, 0, sizeof f);
    f.size = meshopt_encodeVertexBuffer(f.bin, FILE_MAX, zeros, VERTICES, 16);
    assert_in_range(f.size, 1, 20000);
#define PUT(...) at += (size_t)snprintf(json + at, sizeof json - at, __VA_ARGS__)
    PUT("{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"byteLength\":%zu}],\"meshes\":[{\"primitives\":[", f.size);
    for (int i = 0; i < TIMES; i++)
        PUT("%s{\"attributes\":{\"POSITION\":%d}}", i ? "," : "", i);
    PUT("]}],\"accessors\":[");
    for (int i = 0; i < TIMES; i++)
        PUT("%s{\"bufferView\":%d,\"componentType\":5126,\"count\":1,\"type\":\"VEC3\"}", i ? "," : "", i);
    PUT("],\"bufferViews\":[");
    for (int i = 0; i < TIMES; i++)
        PUT("%s{\"buffer\":0,\"byteLength\":1048576,\"byteStride\":16,\"extensions\":{\"EXT_meshopt_compression\":{"
            "\"buffer\":0,\"byteLength\":%zu,\"byteStride\":16,\"count\":65536,\"mode\":\"ATTRIBUTES\"}}}",
            i ? "," : "", f.size);
    PUT("]}");
    ex_scene *scene;
    ex_error error;
    assert_int_equal(parse(json, &f, &scene, &error), EX_ERROR_LIMIT);
    assert_sentence(&error, EX_ERROR_LIMIT, "would expand to more than 64 times its size");
}

static void survives_damage(void **state) {
    (void)state;
    static grid g;
    static file f;
    make_grid(&g);
    make_file(&f, &g);
    char *json = make_json(&f);
    for (size_t i = 0; i < f.size; i += 7)
        for (int change = 0; change < 3; change++) {
            static const unsigned char by[] = {0x01, 0x80, 0xFF};
            ex_scene *scene;
            ex_error error = {.text = ""};
            f.bin[i] ^= by[change];
            const ex_result result = parse(json, &f, &scene, &error);
            assert_true(result == EX_OK ? scene != NULL : error.result == result && error.text[0]);
            ex_scene_destroy(scene);
            f.bin[i] ^= by[change];
        }
    free(json);
}

typedef struct block {
    char *bytes;
    size_t size;
} block;

static ex_result read_with_little_memory(void *context) {
    const block *glb = context;
    ex_scene *scene;
    ex_error error = {.result = EX_OK};
    const ex_result result = ex_scene_parse(glb->bytes, glb->size, "x.glb", false, &scene, &error);
    if ((result == EX_OK) != (scene != NULL) || error.result != result)
        return EX_ERROR_DATA;
    ex_scene_destroy(scene);
    return result;
}

static void survives_failing_memory(void **state) {
    (void)state;
    static grid g;
    static file f;
    make_grid(&g);
    make_file(&f, &g);
    char *json = make_json(&f);
    block glb = {.size = 0};
    glb.bytes = make_glb(json, f.bin, f.size, &glb.size);
    assert_true(fail_alloc_sweep(read_with_little_memory, &glb) > 50);
    free(glb.bytes);
    free(json);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_mode_and_filter),
        cmocka_unit_test(decodes_as_the_library_does),
        cmocka_unit_test(filters_as_the_library_does),
        cmocka_unit_test(says_what_is_wrong),
        cmocka_unit_test(refuses_bombs),
        cmocka_unit_test(survives_damage),
        cmocka_unit_test(survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
