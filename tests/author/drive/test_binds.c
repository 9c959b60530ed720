/*
 * Files of binds: groups by name and by colour, entries that overlap, sentences for what is wrong, memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/scratch.h"
#include "support/sleeves.h"

static const char file[] = "binds.json";

static ex_drive_binds *must_read(const sleeve *s, const char *text) {
    ex_drive_binds *binds = NULL;
    ex_error error = {0};
    scratch_write(file, text, strlen(text));
    if (ex_drive_read_binds(scratch_path(file), s->driver, s->driven, &binds, &error) != EX_OK)
        fail_msg("%s", error.text);
    return binds;
}

/* An arm of 11 rings and 4 sides: 80 triangles, the first 40 of them "upper". A sleeve of 7 rings, of which the last
 * two rows of faces are "cuff". */
static void test_groups(void **state) {
    (void)state;
    sleeve s;
    sleeve_open(&s, 11, 4);
    ex_drive_binds *b = must_read(&s, "{\"binds\": [{\"driven\": \"cuff\", \"driver\": \"lower\"}]}");
    assert_int_equal(b->bind_count, 1);
    assert_int_equal(b->binds[0].triangle_count, 40);
    for (int t = 0; t < 40; t++)
        assert_int_equal(b->binds[0].triangles[t], 40 + t);
    for (int v = 0; v < s.driven->vertex_count; v++)
        assert_int_equal(b->vertex_binds[v], v / 4 >= 4 ? 0 : 1);
    ex_drive_free_binds(b);

    /* Vertices of the seam see both. */
    b = must_read(&s, "{\"binds\": [{\"driven\": [\"cuff\"], \"driver\": [\"lower\"]},"
                      "{\"driven\": \"body\", \"driver\": \"upper\"}]}");
    assert_int_equal(b->bind_count, 3);
    for (int v = 0; v < s.driven->vertex_count; v++) {
        const ex_bind *bind = &b->binds[b->vertex_binds[v]];
        assert_int_equal(bind->triangle_count, v / 4 == 4 ? 80 : 40);
        assert_int_equal(bind->triangles[0], v / 4 > 4 ? 40 : 0);
    }
    ex_drive_free_binds(b);
    sleeve_close(&s);
}

static void test_colours(void **state) {
    (void)state;
    sleeve s;
    sleeve_open(&s, 11, 4);
    s.driver->colours = calloc(3 * (size_t)s.driver->vertex_count, sizeof(float));
    s.driven->colours = calloc(3 * (size_t)s.driven->vertex_count, sizeof(float));
    for (int v = 0; v < s.driver->vertex_count; v++) {
        s.driver->colours[3 * v] = 0.5F;
        s.driver->colours[3 * v + 1] = v < 4 ? 0.6F : 0.2F; /* the first ring is green */
    }
    for (int v = 0; v < s.driven->vertex_count; v++)
        s.driven->colours[3 * v + 2] = v == 5 ? 0.1F : 0;
    ex_drive_binds *b =
        must_read(&s, "{\"binds\": [{\"driven\": {\"colour\": \"b\"}, \"driver\": {\"colour\": \"g\"}}]}");
    assert_int_equal(b->bind_count, 1);
    assert_int_equal(b->binds[0].triangle_count, 8); /* of the first row of faces */
    for (int v = 0; v < s.driven->vertex_count; v++)
        assert_int_equal(b->vertex_binds[v], v != 5);
    ex_drive_free_binds(b);
    sleeve_close(&s);
}

static void test_wrong(void **state) {
    (void)state;
    static const struct {
        const char *text;
        ex_result result;
        const char *word;
    } cases[] = {
        {"", EX_ERROR_FORMAT, "empty"},
        {"{\"binds\": [}", EX_ERROR_FORMAT, "binds.json:1"},
        {"[]", EX_ERROR_DATA, "binds"},
        {"{}", EX_ERROR_DATA, "list of 1"},
        {"{\"binds\": []}", EX_ERROR_DATA, "list of 1"},
        {"{\"bind\": []}", EX_ERROR_DATA, "bind"},
        {"{\"binds\": [3]}", EX_ERROR_DATA, "binds[0]"},
        {"{\"binds\": [{\"driven\": \"cuff\"}]}", EX_ERROR_DATA, "binds[0].driver"},
        {"{\"binds\": [{\"driven\": \"cufs\", \"driver\": \"lower\"}]}", EX_ERROR_DATA, "did you mean 'cuff'"},
        {"{\"binds\": [{\"driven\": \"cuff\", \"driver\": \"qqqqq\"}]}", EX_ERROR_DATA, "'qqqqq'"},
        {"{\"binds\": [{\"driven\": \"cuff\", \"driver\": []}]}", EX_ERROR_DATA, "group"},
        {"{\"binds\": [{\"driven\": \"cuff\", \"driver\": [1]}]}", EX_ERROR_DATA, "driver[0]"},
        {"{\"binds\": [{\"driven\": {\"colour\": \"x\"}, \"driver\": \"lower\"}]}", EX_ERROR_DATA, "\"r\""},
        {"{\"binds\": [{\"driven\": {\"colour\": \"r\"}, \"driver\": \"lower\"}]}", EX_ERROR_DATA, "no vertex colours"},
        {"{\"binds\": [{\"driven\": \"cuff\", \"driver\": \"lower\", \"x\": 1}]}", EX_ERROR_DATA, "x"},
    };
    sleeve s;
    sleeve_open(&s, 11, 4);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ex_drive_binds *binds = NULL;
        ex_error error = {0};
        scratch_write(file, cases[i].text, strlen(cases[i].text));
        assert_int_equal(ex_drive_read_binds(scratch_path(file), s.driver, s.driven, &binds, &error), cases[i].result);
        assert_null(binds);
        assert_sentence(&error, cases[i].result, cases[i].word);
        assert_sentence(&error, cases[i].result, file);
    }
    sleeve_close(&s);
}

static ex_result attempt(void *context) {
    const sleeve *s = context;
    ex_drive_binds *binds = NULL;
    ex_error error;
    const ex_result result = ex_drive_read_binds(scratch_path(file), s->driver, s->driven, &binds, &error);
    ex_drive_free_binds(binds);
    return result;
}

static void test_memory(void **state) {
    (void)state;
    static const char text[] = "{\"binds\": [{\"driven\": \"cuff\", \"driver\": \"lower\"},"
                               "{\"driven\": \"body\", \"driver\": \"upper\"}]}";
    sleeve s;
    sleeve_open(&s, 11, 4);
    scratch_write(file, text, sizeof text - 1);
    assert_true(fail_alloc_sweep(attempt, &s) > 6);
    sleeve_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_colours),
        cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, scratch_set_up, scratch_tear_down);
}
