/*
 * projects.h - shared by the tests of projects: texts with ' for ", forms of four vertices, and calls that fail the
 * test with the library's own sentence.
 */
#ifndef EXEMPLAR_TESTS_PROJECTS_H
#define EXEMPLAR_TESTS_PROJECTS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <exemplar/author.h>

#include "support/scratch.h"

/* The text with ' turned into ". Release with free. */
static inline char *with_quotes(const char *text) {
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    assert_non_null(copy);
    memcpy(copy, text, size);
    for (char *c = copy; *c; c++)
        if (*c == '\'')
            *c = '"';
    return copy;
}

static inline ex_result try_parse(const char *text, ex_project **project, ex_error *error) {
    char *copy = with_quotes(text);
    ex_result result = ex_project_parse(copy, strlen(copy), scratch_path("x.json"), project, error);
    free(copy);
    return result;
}

static inline ex_project *parse_project(const char *text) {
    ex_project *project = NULL;
    ex_error error = {0};
    if (try_parse(text, &project, &error) != EX_OK)
        fail_msg("%s", error.text);
    return project;
}

static inline ex_rig *build_project(const ex_project *project) {
    ex_rig *rig = NULL;
    ex_error error = {0};
    if (ex_project_build(project, NULL, &rig, &error) != EX_OK)
        fail_msg("%s", error.text);
    return rig;
}

static inline ex_rig *build_text(const char *text) {
    ex_project *project = parse_project(text);
    ex_rig *rig = build_project(project);
    ex_project_destroy(project);
    return rig;
}

typedef struct stopper {
    int calls, most;
} stopper;

static inline bool stop_at_most(void *user, const char *what, double fraction) {
    stopper *s = user;
    (void)what, (void)fraction;
    return ++s->calls < s->most;
}

/* Building stops at whichever report says so, reports no more and gives no rig. */
static inline void check_stops(const ex_project *project) {
    stopper s = {.most = 1 << 30};
    const ex_progress progress = {stop_at_most, &s};
    const ex_build_options options = {.progress = &progress};
    ex_rig *rig = NULL;
    assert_int_equal(ex_project_build(project, &options, &rig, NULL), EX_OK);
    ex_rig_destroy(rig);
    const int total = s.calls;
    for (int most = 1; most <= total; most += total < 100 ? 1 : 17) {
        ex_error error = {0};
        s = (stopper){.most = most};
        assert_int_equal(ex_project_build(project, &options, &rig, &error), EX_ERROR_FILE);
        assert_null(rig);
        assert_int_equal(s.calls, most);
        assert_non_null(strstr(error.text, "stopped before it was finished"));
    }
}

static inline void write_text(const char *name, const char *text) {
    scratch_write(name, text, strlen(text));
}

/* A square of one face, its corners lifted to the given heights. */
static inline void write_square(const char *name, double a, double b, double c, double d) {
    char text[400];
    snprintf(text, sizeof text, "v 0 0 %.17g\nv 1 0 %.17g\nv 1 1 %.17g\nv 0 1 %.17g\nf 1 2 3 4\n", a, b, c, d);
    write_text(name, text);
}

/* The rig's packed bytes. Release with free. */
static inline char *pack_of(const ex_rig *rig, size_t *size) {
    *size = ex_rig_pack_size(rig);
    assert_true(*size > 0);
    char *bytes = malloc(*size);
    assert_non_null(bytes);
    assert_int_equal(ex_rig_pack(rig, bytes, *size, NULL), EX_OK);
    return bytes;
}

static inline void check_same_rig(const ex_rig *a, const ex_rig *b) {
    size_t size_a, size_b;
    char *bytes_a = pack_of(a, &size_a), *bytes_b = pack_of(b, &size_b);
    assert_int_equal(size_a, size_b);
    assert_memory_equal(bytes_a, bytes_b, size_a);
    free(bytes_a);
    free(bytes_b);
}

/* Unpacks, builds the written project, and compares; twice, because the second project must equal the first. */
static inline void check_round_trip(const char *text) {
    static int number;
    ex_rig *rig = build_text(text);
    for (int turn = 0; turn < 2; turn++) {
        char folder[64];
        ex_error error;
        ex_project *project = NULL;
        snprintf(folder, sizeof folder, "round%d/%d", number, turn);
        if (ex_project_unpack(rig, scratch_path(folder), "again", false, &error) != EX_OK)
            fail_msg("%s", error.text);
        strcat(folder, "/again.json");
        if (ex_project_read(scratch_path(folder), &project, &error) != EX_OK)
            fail_msg("%s", error.text);
        ex_rig *again = build_project(project);
        check_same_rig(rig, again);
        ex_project_destroy(project);
        ex_rig_destroy(rig);
        rig = again;
    }
    number++;
    ex_rig_destroy(rig);
}

static inline void evaluate(const ex_rig *rig, const double *inputs, float *positions, double *weights) {
    void *scratch = malloc(ex_rig_scratch_size(rig, NULL, 1));
    assert_non_null(scratch);
    const ex_pose pose = {.inputs = (double *)inputs};
    ex_rig_evaluate(rig, &pose, &(ex_output){.positions = positions, .weights = weights}, NULL, scratch);
    free(scratch);
}

static inline void check_near(double value, double expected, double tolerance) {
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.17g is not %.17g", value, expected);
}

static inline void check_same_axis(const ex_axis *a, const ex_axis *b) {
    assert_int_equal(a->kind, b->kind);
    assert_true(a->min == b->min && a->max == b->max && a->rest == b->rest);
    assert_true(a->scale == b->scale && a->clamp == b->clamp);
    assert_memory_equal(a->rest_rotation, b->rest_rotation, sizeof a->rest_rotation);
    assert_memory_equal(a->about, b->about, sizeof a->about);
}

/* A cube of six squares with a texture seam at every edge, hard normals, groups, materials, colours and creases; grown
 * along y to `height`, with its top moved by `lean` along x. */
static inline void write_cube(const char *name, double height, double lean) {
    static const int faces[6][4] = {{1, 2, 3, 4}, {8, 7, 6, 5}, {1, 5, 6, 2}, {2, 6, 7, 3}, {3, 7, 8, 4}, {4, 8, 5, 1}};
    char text[4000] = "mtllib cube.mtl\n";
    size_t size = strlen(text);
    for (int v = 0; v < 8; v++) {
        int top = v >= 4, x = v % 4 == 1 || v % 4 == 2, z = v % 4 >= 2;
        size += (size_t)snprintf(text + size, sizeof text - size, "v %.17g %.17g %d %g 0.5 %g\n", x + top * lean,
                                 top * height, z, v / 8.0, top ? 1.0 : 0.25);
    }
    size += (size_t)snprintf(text + size, sizeof text - size,
                             "vt 0 0\nvt 1 0\nvt 1 1\nvt 0.1 0.9\nvn 0 -1 0\nvn 0 1 0\nvn 0 0 -1\nvn 1 0 0\nvn 0 0 "
                             "1\nvn -1 0 0\n");
    for (int f = 0; f < 6; f++) {
        size += (size_t)snprintf(text + size, sizeof text - size, "g %s\nusemtl %s\nf",
                                 f == 0   ? "bottom"
                                 : f == 1 ? "top lid"
                                          : "side",
                                 f < 3 ? "red" : "blue");
        for (int i = 0; i < 4; i++)
            size += (size_t)snprintf(text + size, sizeof text - size, " %d/%d/%d", faces[f][i], i + 1, f + 1);
        size += (size_t)snprintf(text + size, sizeof text - size, "\n");
    }
    snprintf(text + size, sizeof text - size, "t crease 2/1/0 0 1 2.5\nt mark 0/0/2 one two\n");
    write_text(name, text);
}

#endif
