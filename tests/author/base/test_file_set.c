/*
 * Sets of files: they appear together, replace what is there, and leave nothing behind. tests/cli/disk.py fails every
 * call of the system on the way.
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

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void check_content(const char *name, const char *expected) {
    char *bytes = scratch_read(name, NULL);
    assert_string_equal(bytes, expected);
    free(bytes);
}

static ex_result write_into(const ex_file_set *set, const char *name, const char *text, ex_error *error) {
    char path[1024];
    ex_file_writer writer;
    snprintf(path, sizeof path, "%s/%s", ex_file_set_folder(set), name);
    const ex_result result = ex_file_open(&writer, path, error);
    if (result != EX_OK)
        return result;
    ex_file_write(&writer, text, strlen(text));
    return ex_file_commit(&writer, error);
}

static ex_file_set *open_set(bool bulk) {
    ex_file_set *set = NULL;
    assert_int_equal(ex_file_set_open(scratch_path(""), bulk, &set, NULL), EX_OK);
    assert_int_equal(write_into(set, "a.txt", "new a", NULL), EX_OK);
    assert_int_equal(write_into(set, "b.txt", "new b", NULL), EX_OK);
    return set;
}

static void appears_as_a_whole(void **state) {
    (void)state;
    scratch_write("a.txt", "old a", 5);
    scratch_write("mine.txt", "mine", 4);
    assert_int_equal(chmod(scratch_path("a.txt"), 0640), 0);
    ex_file_set *set = open_set(false);
    check_content("a.txt", "old a");
    assert_int_equal(scratch_entry_count(), 3);
    assert_int_equal(ex_file_set_commit(set, "a.txt", NULL), EX_OK);
    check_content("a.txt", "new a");
    check_content("b.txt", "new b");
    check_content("mine.txt", "mine");
    assert_int_equal(scratch_entry_count(), 3);
    struct stat status;
    assert_int_equal(stat(scratch_path("a.txt"), &status), 0);
    assert_int_equal(status.st_mode & 0777, 0640);
}

/* Files are synced once, at the end, and then the folder; bulk files are not. */
static void syncs_at_the_end(void **state) {
    (void)state;
    const int before = scratch_sync_count();
    ex_file_set *set = open_set(false);
    assert_int_equal(scratch_sync_count(), before);
    assert_int_equal(ex_file_set_commit(set, NULL, NULL), EX_OK);
    assert_int_equal(scratch_sync_count(), before + 3);
    assert_int_equal(ex_file_set_commit(open_set(true), NULL, NULL), EX_OK);
    assert_int_equal(scratch_sync_count(), before + 3);
}

static void leaves_nothing_if_abandoned(void **state) {
    (void)state;
    ex_error error = {0};
    ex_file_set *set = open_set(false);
    ex_error_set(&error, EX_ERROR_FILE, "cannot write '%s/c.txt', nor '%s/d.txt'", ex_file_set_folder(set),
                 ex_file_set_folder(set));
    ex_file_set_abandon(set, &error);
    ex_file_set_abandon(NULL, &error);
    assert_int_equal(scratch_entry_count(), 0);
    char expected[1024];
    snprintf(expected, sizeof expected, "cannot write '%s', nor '%s'", scratch_path("c.txt"), scratch_path("d.txt"));
    assert_string_equal(error.text, expected);
}

/* The second file cannot take its place: the first is as before. */
static void refuses_before_it_moves(void **state) {
    (void)state;
    ex_error error;
    scratch_write("a.txt", "old a", 5);
    assert_int_equal(mkdir(scratch_path("b.txt"), 0777), 0);
    assert_int_equal(ex_file_set_commit(open_set(false), NULL, &error), EX_ERROR_FILE);
    assert_non_null(strstr(error.text, "b.txt': it is a folder"));
    check_content("a.txt", "old a");
    assert_int_equal(scratch_entry_count(), 2);
    ex_file_set *set = NULL;
    assert_int_equal(ex_file_set_open("/nowhere/at/all", false, &set, &error), EX_ERROR_FILE);
    assert_string_equal(error.text, "the folder '/nowhere/at/all' does not exist");
    assert_null(set);
}

static ex_result write_set(void *context) {
    (void)context;
    ex_file_set *set = NULL;
    ex_result result = ex_file_set_open(scratch_path(""), false, &set, NULL);
    if (result == EX_OK)
        result = write_into(set, "a.txt", "new a", NULL);
    if (result == EX_OK)
        result = write_into(set, "b.txt", "new b", NULL);
    if (result == EX_OK)
        return ex_file_set_commit(set, "a.txt", NULL);
    ex_file_set_abandon(set, NULL);
    assert_int_equal(scratch_entry_count(), 1);
    return result;
}

static void survives_failing_memory(void **state) {
    (void)state;
    scratch_write("a.txt", "old a", 5);
    assert_true(fail_alloc_sweep(write_set, NULL) >= 10);
    check_content("a.txt", "new a");
    assert_int_equal(scratch_entry_count(), 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_set_up, scratch_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(appears_as_a_whole),      TEST(syncs_at_the_end),        TEST(leaves_nothing_if_abandoned),
        TEST(refuses_before_it_moves), TEST(survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
