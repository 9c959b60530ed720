/* found/NAME.csv: by hand, round trips, every error with its sentence, failing memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include <exemplar/author/scan.h>

#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/scratch.h"

static const ex_found_marker two[2] = {
    {.position = {0.1234567, -1, 1e-9}, .colour = {255, 0.4, 99.6}, .size = 0.0121, .view = 3, .strength = 0.25},
    {.position = {-2.5, 0, 3}, .colour = {1, 2, 3}, .size = 0.01, .view = 0, .strength = 1.0 / 3}};

static void writes_and_reads(void **state) {
    (void)state;
    ex_found_marker *markers;
    int count;
    assert_int_equal(ex_found_write(scratch_path("found.csv"), two, 2, NULL), EX_OK);
    char *text = scratch_read("found.csv", NULL);
    assert_string_equal(text, "x,y,z,r,g,b,size,view,strength\n0.123457,-1,0,255,0,100,0.0121,3,0.25\n"
                              "-2.5,0,3,1,2,3,0.01,0,0.3333\n");
    free(text);
    assert_int_equal(ex_found_read(scratch_path("found.csv"), &markers, &count, NULL), EX_OK);
    assert_int_equal(count, 2);
    assert_row_near(markers[0].position, ((double[]){0.123457, -1, 0}), 3, 0);
    assert_row_near(markers[0].colour, ((double[]){255, 0, 100}), 3, 0);
    assert_true(markers[0].size == 0.0121 && markers[0].view == 3 && markers[0].strength == 0.25);
    assert_int_equal(ex_found_write(scratch_path("again.csv"), markers, count, NULL), EX_OK);
    free(markers);
    text = scratch_read("found.csv", NULL);
    char *again = scratch_read("again.csv", NULL);
    assert_string_equal(text, again);
    free(text);
    free(again);
    /* None; and a file written by hand. */
    assert_int_equal(ex_found_write(scratch_path("found.csv"), NULL, 0, NULL), EX_OK);
    assert_int_equal(ex_found_read(scratch_path("found.csv"), &markers, &count, NULL), EX_OK);
    assert_int_equal(count, 0);
    free(markers);
    scratch_write("found.csv", "r,g,b,z,y,x\n1,2,3,6,5,4\n", 24);
    assert_int_equal(ex_found_read(scratch_path("found.csv"), &markers, &count, NULL), EX_OK);
    assert_row_near(markers[0].position, ((double[]){4, 5, 6}), 3, 0);
    assert_true(markers[0].size == 0 && markers[0].view == 0);
    free(markers);
}

static void says_what_is_wrong(void **state) {
    (void)state;
    static const struct {
        const char *text, *sentence;
    } wrong[] = {
        {"x,y,z,r,g\n", "column 'b' is missing"},
        {"x,y,z,r,g,b,name\n", "this table has no column 'name'"},
        {"x,y,z,r,g,b\n1,2,3,4,5\n", ":2: there is no value for column 'b'"},
        {"x,y,z,r,g,b\n1,2,three,4,5,6\n", ":2: 'three' in column 'z' is not a number"},
        {"x,y,z,r,g,b\n1,2,3,4,5,6\n1,2,3,4,5,256\n", ":3: a colour must be from 0 to 255"},
        {"x,y,z,r,g,b,view\n1,2,3,4,5,6,-1\n", ":2: there is no view -1"},
        {"x,y,z,r,g,b,view\n1,2,3,4,5,6,0.5\n", ":2: there is no view 0.5"},
    };
    ex_found_marker *markers;
    ex_error error;
    int count;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        scratch_write("found.csv", wrong[i].text, strlen(wrong[i].text));
        assert_int_equal(ex_found_read(scratch_path("found.csv"), &markers, &count, &error), EX_ERROR_DATA);
        assert_sentence(&error, EX_ERROR_DATA, wrong[i].sentence);
        assert_null(markers);
    }
    assert_int_equal(ex_found_read("/nowhere.csv", &markers, &count, NULL), EX_ERROR_FILE);
    assert_int_equal(ex_found_write("/nowhere/found.csv", two, 2, NULL), EX_ERROR_FILE);
}

static ex_result with_little_memory(void *context) {
    ex_found_marker *markers;
    int count;
    (void)context;
    ex_result result = ex_found_write(scratch_path("found.csv"), two, 2, NULL);
    if (result != EX_OK)
        return result;
    result = ex_found_read(scratch_path("found.csv"), &markers, &count, NULL);
    free(markers);
    return result;
}

static void survives_failing_memory(void **state) {
    (void)state;
    assert_true(fail_alloc_sweep(with_little_memory, NULL) > 10);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_set_up, scratch_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(writes_and_reads), TEST(says_what_is_wrong), TEST(survives_failing_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
