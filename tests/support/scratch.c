/*
 * A folder for tests that write files; see scratch.h. Uses nothing of the code under test.
 */
#define _XOPEN_SOURCE 700

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/scratch.h"

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[256];

/* Waits for no disk: tests write thousands of files. The linker takes this instead of the C library's. */
static int synced;

int fsync(int descriptor) {
    (void)descriptor;
    synced++;
    return 0;
}

int scratch_sync_count(void) {
    return synced;
}

int scratch_set_up(void **state) {
    (void)state;
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/exemplar-test-XXXXXX", base && strlen(base) < 200 ? base : "/tmp");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *where) {
    (void)status;
    (void)kind;
    (void)where;
    return remove(path);
}

int scratch_tear_down(void **state) {
    (void)state;
    return nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

const char *scratch_path(const char *name) {
    static char paths[4][1024];
    static int turn;
    char *path = paths[turn++ % 4];
    assert_true(folder[0]); /* a test without scratch_set_up would write into the root of the disk */
    assert_in_range(snprintf(path, sizeof paths[0], "%s/%s", folder, name), 1, sizeof paths[0] - 1);
    return path;
}

void scratch_write(const char *name, const void *bytes, size_t size) {
    FILE *file = fopen(scratch_path(name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

char *scratch_read(const char *name, size_t *size) {
    FILE *file = fopen(scratch_path(name), "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    long length = ftell(file);
    assert_true(length >= 0);
    rewind(file);
    char *bytes = malloc((size_t)length + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, (size_t)length, file), length);
    bytes[length] = '\0';
    fclose(file);
    if (size)
        *size = (size_t)length;
    return bytes;
}

int scratch_entry_count(void) {
    DIR *directory = opendir(folder);
    assert_non_null(directory);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(directory));)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(directory);
    return count;
}
