/*
 * Saved versions of a file: steps there and back, other files that a change replaced, and failing memory.
 * tests/cli/undo.py follows them through the commands, tests/cli/disk.py fails the calls of the system.
 */
#define _XOPEN_SOURCE 700

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/fail_alloc.h"
#include "support/scratch.h"

#include <exemplar/author/files.h>
#include <exemplar/author/history.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[1024];

/* Allocates nothing that could fail. */
static void check_content(const char *name, const char *expected) {
    char text[64];
    FILE *file = fopen(scratch_path(name), "rb");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    assert_string_equal(text, expected);
}

static ex_result write_file(const char *name, const char *text) {
    ex_file_writer writer;
    const ex_result result = ex_file_open(&writer, scratch_path(name), NULL);
    if (result != EX_OK)
        return result;
    ex_file_write(&writer, text, strlen(text));
    return ex_file_commit(&writer, NULL);
}

static const char *const files[] = {"form.obj", "missing.obj"};

/* Keeps "old" and form.obj, and replaces both. */
static ex_result change(const char *what, const char *old, const char *new, const char *form) {
    ex_history_kept *kept = NULL;
    const ex_history_change def = {
        .path = path, .what = what, .bytes = old, .size = strlen(old), .files = files, .file_count = form ? 2 : 0};
    ex_result result = ex_history_keep(&def, &kept, NULL);
    if (result == EX_OK && form)
        result = write_file("form.obj", form);
    if (result == EX_OK)
        result = write_file("a.json", new);
    if (result == EX_OK)
        ex_history_commit(kept);
    else
        ex_history_abandon(kept);
    return result;
}

static void start(void) {
    snprintf(path, sizeof path, "%s", scratch_path("a.json"));
    scratch_write("a.json", "one", 3);
    scratch_write("form.obj", "form one", 8);
}

static void goes_there_and_back(void **state) {
    (void)state;
    ex_history *history = NULL;
    int count = -1;
    start();
    assert_int_equal(change("first", "one", "two", "form two"), EX_OK);
    assert_int_equal(change("second", "two", "three", NULL), EX_OK);
    assert_int_equal(ex_history_read(path, &history, NULL), EX_OK);
    assert_int_equal(history->undo_count, 2);
    assert_int_equal(history->redo_count, 0);
    assert_string_equal(history->undo[0].what, "second");
    assert_string_equal(history->undo[1].what, "first");
    ex_history_destroy(history);
    for (int round = 0; round < 2; round++) {
        assert_int_equal(ex_history_step(path, false, &count, NULL), EX_OK);
        assert_int_equal(count, 1);
        check_content("a.json", "two");
        check_content("form.obj", "form two");
        assert_int_equal(ex_history_step(path, false, &count, NULL), EX_OK);
        check_content("a.json", "one");
        check_content("form.obj", "form one");
        assert_int_equal(ex_history_step(path, false, &count, NULL), EX_OK);
        assert_int_equal(count, 0);
        for (int i = 0; i < 2; i++)
            assert_int_equal(ex_history_step(path, true, NULL, NULL), EX_OK);
        check_content("a.json", "three");
        check_content("form.obj", "form two");
        assert_int_equal(ex_history_step(path, true, &count, NULL), EX_OK);
        assert_int_equal(count, 0);
    }
}

static void leaves_nothing_of_a_change_that_failed(void **state) {
    (void)state;
    ex_history_kept *kept = NULL;
    start();
    const ex_history_change def = {
        .path = path, .what = "x", .bytes = "one", .size = 3, .files = files, .file_count = 2};
    const int before = scratch_entry_count();
    assert_int_equal(ex_history_keep(&def, &kept, NULL), EX_OK);
    assert_int_equal(scratch_entry_count(), before + 1);
    ex_history_abandon(kept);
    assert_int_equal(scratch_entry_count(), before);
    ex_history_commit(NULL);
    ex_history_abandon(NULL);
    ex_history_destroy(NULL);
    ex_error error = {0};
    const ex_history_change nowhere = {.path = "/nowhere/a.json", .what = "x", .bytes = "", .size = 0};
    assert_int_equal(ex_history_keep(&nowhere, &kept, &error), EX_ERROR_FILE);
    assert_null(kept);
    assert_non_null(strstr(error.text, "/nowhere"));
}

static void names_a_change_whatever_its_words(void **state) {
    (void)state;
    ex_history *history = NULL;
    start();
    assert_int_equal(change("words \"quoted\"", "one", "two", NULL), EX_OK);
    assert_int_equal(change("\xff\xfe", "two", "three", NULL), EX_OK); /* no text */
    assert_int_equal(change("", "three", "four", NULL), EX_OK);
    assert_int_equal(change(NULL, "four", "five", NULL), EX_OK);
    assert_int_equal(ex_history_read(path, &history, NULL), EX_OK);
    for (int i = 0; i < 3; i++)
        assert_string_equal(history->undo[i].what, "changed");
    assert_string_equal(history->undo[3].what, "words \"quoted\"");
    ex_history_destroy(history);
    for (int i = 0; i < 4; i++)
        assert_int_equal(ex_history_step(path, false, NULL, NULL), EX_OK);
    check_content("a.json", "one");
}

/* ---- memory ---- */

static ex_result try_change(void *context) {
    (void)context;
    const ex_result result = change("a", "one", "one", "form one");
    return result;
}

static ex_result try_step(void *context) {
    const bool *redo = context;
    int count = 0;
    const ex_result result = ex_history_step(path, *redo, &count, NULL);
    assert_int_equal(count, result == EX_OK);
    check_content("a.json", *redo == (result == EX_OK) ? "two" : "one");
    check_content("form.obj", *redo == (result == EX_OK) ? "form two" : "form one");
    return result;
}

static ex_result try_read(void *context) {
    (void)context;
    ex_history *history = NULL;
    const ex_result result = ex_history_read(path, &history, NULL);
    assert_true((history != NULL) == (result == EX_OK));
    ex_history_destroy(history);
    return result;
}

static void survives_failing_memory(void **state) {
    (void)state;
    bool redo = false;
    start();
    assert_true(fail_alloc_sweep(try_change, NULL) >= 10);
    assert_int_equal(change("b", "one", "two", "form two"), EX_OK);
    assert_true(fail_alloc_sweep(try_read, NULL) >= 5);
    assert_true(fail_alloc_sweep(try_step, &redo) >= 10);
    redo = true;
    assert_true(fail_alloc_sweep(try_step, &redo) >= 10);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_set_up, scratch_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(goes_there_and_back),
        TEST(leaves_nothing_of_a_change_that_failed),
        TEST(names_a_change_whatever_its_words),
        TEST(survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
