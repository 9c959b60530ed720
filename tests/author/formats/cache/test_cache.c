/* Point caches: bytes by hand, round trips, complete files or none, and every kind of invalid cache. */
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
#include <sys/stat.h>

#include <cmocka.h>

enum { VERTICES = 4, FRAMES = 3 };

static const double times[FRAMES] = {0.5, 0.75, 1};
static const float frames[FRAMES][VERTICES][3] = {
    {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}},
    {{0, 0, 1.5f}, {1, 0, 1e-20f}, {1, 1, 0}, {0, 1, -3e30f}},
    {{0.1f, 0, 2}, {1, 0, 2}, {1, 0.3f, 2}, {0, 1, 2}},
};

/* A square. */
static ex_mesh *square(void) {
    static const char text[] = "v 9 9 9\nv 9 9 8\nv 9 8 8\nv 8 8 8\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nvn 0 0 1\ng side\n"
                               "f 1/1/1 2/2/1 3/3/1 4/4/1\n";
    ex_mesh *mesh = NULL;
    assert_int_equal(ex_obj_parse(text, strlen(text), "square.obj", &mesh, NULL), EX_OK);
    return mesh;
}

static void write_cache(const char *name, int count) {
    ex_mesh *mesh = square();
    ex_cache_writer *writer = NULL;
    ex_error error = {0};
    if (ex_cache_create(scratch_path(name), VERTICES, count, times, mesh, &writer, &error) != EX_OK)
        fail_msg("%s", error.text);
    for (int f = 0; f < count; f++)
        assert_int_equal(ex_cache_write(writer, &frames[f][0][0], &error), EX_OK);
    if (ex_cache_finish(writer, true, &error) != EX_OK)
        fail_msg("%s", error.text);
    ex_mesh_destroy(mesh);
}

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

static void kinds(void **state) {
    (void)state;
    assert_int_equal(ex_cache_kind_of("a.pc2"), EX_CACHE_PC2);
    assert_int_equal(ex_cache_kind_of("b/a.MDD"), EX_CACHE_MDD);
    assert_int_equal(ex_cache_kind_of("a_0001.Obj"), EX_CACHE_OBJ);
    assert_int_equal(ex_cache_kind_of("pc2"), EX_CACHE_KIND_COUNT);
    assert_int_equal(ex_cache_kind_of("a.usd"), EX_CACHE_KIND_COUNT);
}

/* Frames in any order come back to the bit. */
static void round_trips(void **state) {
    (void)state;
    static const char *const names[] = {"c.pc2", "c.mdd", "c.obj"};
    static const char *const opened[] = {"c.pc2", "c.mdd", "c_0002.obj"};
    for (int k = 0; k < 3; k++) {
        write_cache(names[k], FRAMES);
        ex_cache_reader *reader = open_cache(opened[k]);
        const ex_cache_info info = ex_cache_get_info(reader);
        assert_int_equal(info.kind, k);
        assert_int_equal(info.vertex_count, VERTICES);
        assert_int_equal(info.frame_count, FRAMES);
        assert_true(info.start == (k < 2 ? 0.5 : 0) && info.step == (k < 2 ? 0.25 : 1 / 24.0));
        for (int i = 0; i < 2 * FRAMES; i++) {
            const int f = (i * 2) % FRAMES;
            float positions[VERTICES][3];
            assert_int_equal(ex_cache_read(reader, f, &positions[0][0], NULL), EX_OK);
            assert_memory_equal(positions, frames[f], sizeof positions);
            assert_true(ex_cache_time(reader, f) == (k < 2 ? times[f] : f / 24.0));
        }
        ex_cache_close(reader);
    }
    ex_cache_close(NULL);
    /* The files, and nothing hidden next to them. */
    assert_int_equal(scratch_entry_count(), 2 + FRAMES);
    /* Each has the complete mesh, except for its normals. */
    ex_mesh *mesh = NULL;
    assert_int_equal(ex_obj_read(scratch_path("c_0003.obj"), &mesh, NULL), EX_OK);
    assert_int_equal(mesh->texcoord_count, 4);
    assert_int_equal(mesh->normal_count, 0);
    assert_string_equal(mesh->group_names[0], "side");
    ex_mesh_destroy(mesh);
    /* Under the requested name. */
    ex_cache_reader *reader = open_cache("c.obj");
    assert_int_equal(ex_cache_get_info(reader).frame_count, FRAMES);
    ex_cache_close(reader);
}

static void one_frame(void **state) {
    (void)state;
    static const char *const names[] = {"c.pc2", "c.mdd", "c.obj"};
    for (int k = 0; k < 3; k++) {
        write_cache(names[k], 1);
        ex_cache_reader *reader = open_cache(names[k]);
        const ex_cache_info info = ex_cache_get_info(reader);
        assert_int_equal(info.frame_count, 1);
        assert_true(info.step == 0);
        ex_cache_close(reader);
    }
}

/* The bytes of both kinds for a single vertex at (1, -2, 0.5). */
static void bytes(void **state) {
    (void)state;
    static const unsigned char pc2[] = {'P', 'O',  'I', 'N', 'T',  'C',  'A',  'C',  'H', 'E',  '2', 0,    1,    0,
                                        0,   0,    1,   0,   0,    0,    0,    0,    0,   0x3F, 0,   0,    0x80, 0x3E,
                                        2,   0,    0,   0,   0,    0,    0x80, 0x3F, 0,   0,    0,   0xC0, 0,    0,
                                        0,   0x3F, 0,   0,   0x80, 0x3F, 0,    0,    0,   0xC0, 0,   0,    0,    0x3F};
    static const unsigned char mdd[] = {0,    0,    0,    2,    0,    0, 0,    1, 0x3F, 0, 0,    0, 0x3F, 0x40,
                                        0,    0,    0x3F, 0x80, 0,    0, 0xC0, 0, 0,    0, 0x3F, 0, 0,    0,
                                        0x3F, 0x80, 0,    0,    0xC0, 0, 0,    0, 0x3F, 0, 0,    0};
    const float place[3] = {1, -2, 0.5f};
    for (int k = 0; k < 2; k++) {
        ex_cache_writer *writer = NULL;
        const char *name = k ? "b.mdd" : "b.pc2";
        size_t size = 0;
        assert_int_equal(ex_cache_create(scratch_path(name), 1, 2, times, NULL, &writer, NULL), EX_OK);
        for (int f = 0; f < 2; f++)
            assert_int_equal(ex_cache_write(writer, place, NULL), EX_OK);
        assert_int_equal(ex_cache_finish(writer, true, NULL), EX_OK);
        char *written = scratch_read(name, &size);
        assert_int_equal(size, k ? sizeof mdd : sizeof pc2);
        assert_memory_equal(written, k ? mdd : pc2, size);
        free(written);
    }
}

/* Nothing exists before the end, and nothing if frames are missing, not finite, or aborted. */
static void whole_or_nothing(void **state) {
    (void)state;
    static const char *const names[] = {"w.pc2", "w.mdd", "w.obj"};
    const float bad[VERTICES][3] = {{0, 0, 0}, {0, 0, 0}, {0, NAN, 0}};
    ex_mesh *mesh = square();
    for (int k = 0; k < 3; k++) {
        for (int way = 0; way < 3; way++) {
            ex_cache_writer *writer = NULL;
            ex_error error = {0};
            char path[1000];
            snprintf(path, sizeof path, "%s", scratch_path(names[k]));
            assert_int_equal(ex_cache_create(path, VERTICES, 2, times, mesh, &writer, &error), EX_OK);
            assert_int_equal(ex_cache_write(writer, &frames[0][0][0], &error), EX_OK);
            if (way == 1) {
                assert_int_equal(ex_cache_write(writer, &bad[0][0], &error), EX_ERROR_DATA);
                assert_sentence(&error, EX_ERROR_DATA, "in frame 2, vertex 2");
            }
            if (way == 2)
                assert_int_equal(ex_cache_write(writer, &frames[1][0][0], &error), EX_OK);
            FILE *early = fopen(k == 2 ? scratch_path("w_0001.obj") : path, "rb");
            assert_null(early);
            assert_int_equal(ex_cache_finish(writer, way < 2, &error), way < 2 ? EX_ERROR_DATA : EX_OK);
            if (way < 2)
                assert_sentence(&error, EX_ERROR_DATA, "1 of 2 frames were given");
            assert_int_equal(scratch_entry_count(), 0);
        }
    }
    assert_int_equal(ex_cache_finish(NULL, true, NULL), EX_OK);
    ex_mesh_destroy(mesh);
}

static void refuses_to_write(void **state) {
    (void)state;
    ex_cache_writer *writer = NULL;
    ex_error error = {0};
    assert_int_equal(ex_cache_create(scratch_path("a.usd"), 1, 1, times, NULL, &writer, &error), EX_ERROR_ARGUMENT);
    assert_sentence(&error, EX_ERROR_ARGUMENT, "point caches are written as .pc2, .mdd, .abc or numbered .obj");
    assert_int_equal(ex_cache_create(scratch_path("none/a.pc2"), 1, 1, times, NULL, &writer, &error), EX_ERROR_FILE);
    ex_mesh *mesh = square();
    assert_int_equal(ex_cache_create(scratch_path("none/a.obj"), VERTICES, 1, times, mesh, &writer, &error),
                     EX_ERROR_FILE);
    assert_sentence(&error, EX_ERROR_FILE, "none/a.obj");
    ex_mesh_destroy(mesh);
    const double falling[2] = {1, 1}, wild[1] = {INFINITY};
    assert_int_equal(ex_cache_create(scratch_path("a.mdd"), 1, 2, falling, NULL, &writer, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "the time of frame 2 is 1: times must increase");
    assert_int_equal(ex_cache_create(scratch_path("a.mdd"), 1, 1, wild, NULL, &writer, &error), EX_ERROR_DATA);
    assert_null(writer);
    assert_int_equal(scratch_entry_count(), 0);
}

/* ---- invalid files ---- */

static void change(const char *name, size_t at, const char *bytes, size_t size) {
    size_t whole = 0;
    char *text = scratch_read(name, &whole);
    memcpy(text + at, bytes, size);
    scratch_write("bad", text, whole);
    char path[1000];
    snprintf(path, sizeof path, "%s", scratch_path("bad"));
    assert_int_equal(rename(path, scratch_path(strstr(name, "pc2") ? "bad.pc2" : "bad.mdd")), 0);
    free(text);
}

static void refuses_pc2(void **state) {
    (void)state;
    write_cache("c.pc2", FRAMES);
    static const struct {
        size_t at;
        const char *bytes;
        size_t size;
        ex_result result;
        const char *word;
    } cases[] = {
        {0, "p", 1, EX_ERROR_FORMAT, "is no PC2 file"},
        {12, "\x02", 1, EX_ERROR_VERSION, "this is version 2 of PC2"},
        {16, "\xFF\xFF\xFF\xFF", 4, EX_ERROR_DATA, "states -1 vertices and 3 frames"},
        {16, "\0", 1, EX_ERROR_DATA, "states 0 vertices"},
        {28, "\0\0\0\x80", 4, EX_ERROR_DATA, "-2147483648 frames"},
        {28, "\x04", 1, EX_ERROR_DATA, "3 of 4 frames of 4 vertices"},
        {28, "\xFF\xFF\xFF\x7F", 4, EX_ERROR_DATA, "3 of 2147483647 frames"},
        {16, "\xFF\xFF\xFF\x7F", 4, EX_ERROR_DATA, "0 of 3 frames"},
        {28, "\x02", 1, EX_ERROR_DATA, "48 bytes more than 2 frames of 4 vertices need"},
        {20, "\0\0\xC0\x7F", 4, EX_ERROR_DATA, "which are not valid times"},
        {24, "\0\0\0\0", 4, EX_ERROR_DATA, "which are not valid times"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        change("c.pc2", cases[i].at, cases[i].bytes, cases[i].size);
        check_failure("bad.pc2", cases[i].result, cases[i].word);
    }
    change("c.pc2", 32 + 48 + 12 + 4, "\0\0\x80\xFF", 4);
    ex_cache_reader *reader = open_cache("bad.pc2");
    float positions[3 * VERTICES];
    ex_error error = {0};
    assert_int_equal(ex_cache_read(reader, 0, positions, &error), EX_OK);
    assert_int_equal(ex_cache_read(reader, 1, positions, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "in frame 2, vertex 1 (counting from 0) is not a number");
    ex_cache_close(reader);
}

static void refuses_mdd(void **state) {
    (void)state;
    write_cache("c.mdd", FRAMES);
    static const struct {
        size_t at;
        const char *bytes;
        size_t size;
        const char *word;
    } cases[] = {
        {0, "\xFF\xFF\xFF\xFF", 4, "4 vertices and -1 frames"}, {4, "\0\0\0\0", 4, "0 vertices"},
        {0, "\x7F\xFF\xFF\xFF", 4, "0 of 2147483647 frames"},   {3, "\x04", 1, "2 of 4 frames of 4 vertices"},
        {8, "\x7F\xC0\0\0", 4, "the time of frame 1"},          {16, "\0\0\0\0", 4, "the time of frame 3 is 0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        change("c.mdd", cases[i].at, cases[i].bytes, cases[i].size);
        check_failure("bad.mdd", EX_ERROR_DATA, cases[i].word);
    }
}

/* A cache truncated anywhere is refused. */
static void cut_anywhere(void **state) {
    (void)state;
    static const char *const names[] = {"c.pc2", "c.mdd"};
    for (int k = 0; k < 2; k++) {
        size_t size = 0;
        write_cache(names[k], FRAMES);
        char *text = scratch_read(names[k], &size);
        for (size_t cut = 0; cut < size; cut++) {
            ex_cache_reader *reader = NULL;
            scratch_write(names[k], text, cut);
            assert_int_not_equal(ex_cache_open(scratch_path(names[k]), &reader, NULL), EX_OK);
        }
        free(text);
    }
    check_failure("none.pc2", EX_ERROR_FILE, "none.pc2");
    check_failure("none.usda", EX_ERROR_FILE, "none.usda");
    scratch_write("a.usda", "#usda", 5);
    check_failure("a.usda", EX_ERROR_FORMAT, "a point cache is read from .pc2, .mdd, .abc or numbered .obj files");
    check_failure("c.pc2/x.pc2", EX_ERROR_FILE, "x.pc2");
}

static void write_text(const char *name, const char *text) {
    scratch_write(name, text, strlen(text));
}

static void numbered_files(void **state) {
    (void)state;
    write_text("m_9.obj", "v 9 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    write_text("m_10.obj", "v 10 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    write_text("m_008.OBJ", "v 8 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    write_text("m_8x.obj", "garbage");
    write_text("m_.obj", "garbage");
    write_text("mm_8.obj", "garbage");
    ex_cache_reader *reader = open_cache("m_9.obj");
    assert_int_equal(ex_cache_get_info(reader).frame_count, 3);
    for (int f = 0; f < 3; f++) {
        float positions[9];
        assert_int_equal(ex_cache_read(reader, f, positions, NULL), EX_OK);
        assert_true(positions[0] == (float)(8 + f));
    }
    ex_cache_close(reader);
    write_text("m_10.obj", "v 10 0 0\nv 1 0 0\nv 0 1 0\nf 1 3 2\n");
    reader = open_cache("m_9.obj");
    float positions[9];
    ex_error error = {0};
    assert_int_equal(ex_cache_read(reader, 2, positions, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "m_10.obj differ");
    ex_cache_close(reader);
    write_text("m_8.obj", "v 8 0 0\n");
    check_failure("m_9.obj", EX_ERROR_DATA, "both frame 8");
    write_text("single.obj", "v 8 0 0\n");
    reader = open_cache("single.obj");
    assert_int_equal(ex_cache_get_info(reader).frame_count, 1);
    ex_cache_close(reader);
    check_failure("gone.obj", EX_ERROR_FILE, "gone.obj");
    check_failure("gone/x_1.obj", EX_ERROR_FILE, "gone");
    write_text("e_1.obj", "# nothing\n");
    check_failure("e_1.obj", EX_ERROR_FORMAT, "e_1.obj");
}

static void write_triangle(const char *name) {
    write_text(name, "v 9 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
}

/* Opens the cache; checks the number of frames and the first file's number. */
static void check_found(const char *name, int count, int number) {
    ex_cache_reader *reader = open_cache(name);
    assert_int_equal(ex_cache_get_info(reader).frame_count, count);
    assert_int_equal(ex_cache_number(reader, 0), number);
    ex_cache_close(reader);
}

/* Names of other programs: with other texts between name and number, with spaces, with digits in the name. */
static void names_of_numbered_files(void **state) {
    (void)state;
    static const char *const files[] = {"shell1.obj",         "shell2.obj",    "shell10.obj",  "my shell 3.obj",
                                        "my shell 4.obj",     "sim.0007.obj",  "sim.0008.obj", "d-5.obj",
                                        "a_v2_0011.obj",      "a_v2_0012.obj", "a_v2.obj",     "shot_01_take3_1.obj",
                                        "shot_01_take3_2.obj"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        write_triangle(files[i]);
    check_found("shell.obj", 3, 1);
    check_found("shell1.obj", 3, 1);
    check_found("my shell.obj", 2, 3);
    check_found("my shell 4.obj", 2, 3);
    check_found("sim.obj", 2, 7);
    check_found("d.obj", 1, 5);
    check_found("a_v2.obj", 2, 11); /* also a mesh of that name: the form that we write comes first */
    check_found("a_v2_0012.obj", 2, 11);
    check_found("shot_01_take3.obj", 2, 1);
    /* a mesh of that name beside names of other programs: neither wins */
    write_triangle("shell.obj");
    check_failure("shell.obj", EX_ERROR_DATA, "shell.obj' is a file, and may also mean 'shell1.obj'");
    check_found("shell1.obj", 3, 1);
    /* the form that we write wins */
    write_triangle("shell_0004.obj");
    check_found("shell.obj", 1, 4);
    /* two others are refused, and so is a frame that is a name too */
    write_triangle("sim1.obj");
    check_failure("sim.obj", EX_ERROR_DATA, "numbered in two ways: name one of the files");
    write_triangle("a_v1.obj");
    check_failure("a_v2.obj", EX_ERROR_DATA, "is a frame beside 'a_v1.obj', and a name of 'a_v2_0011.obj'");
    check_found("a_v1.obj", 2, 1);
    check_found("a_v2_0011.obj", 2, 11);
    write_triangle("alone.obj");
    check_found("alone.obj", 1, -1);
    write_cache("c.pc2", FRAMES);
    check_found("c.pc2", FRAMES, -1);
}

/* More than 9999 frames get more digits; unusable names leave nothing. */
static void places(void **state) {
    (void)state;
    ex_mesh *mesh = square();
    ex_cache_writer *writer = NULL;
    ex_error error = {0};
    double *many = malloc(12345 * sizeof *many);
    assert_non_null(many);
    for (int i = 0; i < 12345; i++)
        many[i] = i;
    assert_int_equal(ex_cache_create(scratch_path("p.obj"), VERTICES, 12345, many, mesh, &writer, &error), EX_OK);
    assert_int_equal(ex_cache_finish(writer, false, &error), EX_OK);
    free(many);
    assert_int_equal(scratch_entry_count(), 0);
    /* A folder has the name of the second frame. */
    assert_int_equal(mkdir(scratch_path("q_0002.obj"), 0777), 0);
    assert_int_equal(ex_cache_create(scratch_path("q.obj"), VERTICES, 2, times, mesh, &writer, &error), EX_OK);
    for (int f = 0; f < 2; f++)
        assert_int_equal(ex_cache_write(writer, &frames[f][0][0], &error), EX_OK);
    assert_int_equal(ex_cache_finish(writer, true, &error), EX_ERROR_FILE);
    assert_sentence(&error, EX_ERROR_FILE, "q_0002.obj");
    assert_int_equal(scratch_entry_count(), 1);
    ex_mesh_destroy(mesh);
}

/* ---- memory ---- */

static ex_result all_once(void *context) {
    const char *path = context;
    ex_mesh *mesh = NULL;
    ex_result result = ex_obj_parse("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", 32, "t.obj", &mesh, NULL);
    ex_cache_writer *writer = NULL;
    ex_cache_reader *reader = NULL;
    const float positions[9] = {0};
    float read[9];
    if (result == EX_OK)
        result = ex_cache_create(path, 3, 1, times, mesh, &writer, NULL);
    if (result == EX_OK)
        result = ex_cache_write(writer, positions, NULL);
    const ex_result finished = ex_cache_finish(writer, result == EX_OK, NULL);
    result = result == EX_OK ? finished : result;
    if (result == EX_OK)
        result = ex_cache_open(path, &reader, NULL);
    if (result == EX_OK)
        result = ex_cache_read(reader, 0, read, NULL);
    ex_cache_close(reader);
    ex_mesh_destroy(mesh);
    return result;
}

static void survives_without_memory(void **state) {
    (void)state;
    static const char *const names[] = {"c.pc2", "c.mdd", "c.obj"};
    for (int k = 0; k < 3; k++) {
        char path[1000];
        snprintf(path, sizeof path, "%s", scratch_path(names[k]));
        assert_true(fail_alloc_sweep(all_once, path) > 5);
    }
    assert_int_equal(scratch_entry_count(), 3); /* nothing hidden is left behind */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_set_up, scratch_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds),
        TEST(round_trips),
        TEST(one_frame),
        TEST(bytes),
        TEST(whole_or_nothing),
        TEST(refuses_to_write),
        TEST(refuses_pc2),
        TEST(refuses_mdd),
        TEST(cut_anywhere),
        TEST(numbered_files),
        TEST(names_of_numbered_files),
        TEST(places),
        TEST(survives_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
