/* Reading and writing complete files: the content is right, failures leave nothing behind, and paths join. */
#define _XOPEN_SOURCE 700

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/fail_alloc.h"
#include "support/scratch.h"
#include "support/skip.h"
#include <exemplar/author/files.h>
#include <exemplar/author/formats.h>

static void check_content(const char *name, const char *expected) {
    size_t size;
    char *bytes = scratch_read(name, &size);
    assert_int_equal(size, strlen(expected));
    assert_memory_equal(bytes, expected, size);
    free(bytes);
}

static void write_file(const char *path, const char *text) {
    ex_file_writer writer;
    assert_int_equal(ex_file_open(&writer, path, NULL), EX_OK);
    ex_file_write(&writer, text, strlen(text));
    assert_int_equal(ex_file_commit(&writer, NULL), EX_OK);
}

static void reads_whole_files(void **state) {
    (void)state;
    char *large = malloc(300001);
    assert_non_null(large);
    for (int i = 0; i < 300001; i++)
        large[i] = (char)(i * 7 % 251);
    scratch_write("large", large, 300001);
    scratch_write("empty", "", 0);
    char *bytes;
    size_t size;
    assert_int_equal(ex_file_read(scratch_path("large"), &bytes, &size, NULL), EX_OK);
    assert_int_equal(size, 300001);
    assert_memory_equal(bytes, large, size);
    assert_int_equal(bytes[size], 0);
    free(bytes);
    assert_int_equal(ex_file_read(scratch_path("empty"), &bytes, &size, NULL), EX_OK);
    assert_int_equal(size, 0);
    assert_int_equal(bytes[0], 0);
    free(bytes);
    free(large);
}

static void reads_pipes(void **state) {
    (void)state;
    const char *path = scratch_path("pipe");
    assert_int_equal(mkfifo(path, 0600), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        FILE *file = fopen(path, "wb");
        for (int i = 0; i < 50000 && file; i++)
            fprintf(file, "%08d\n", i);
        _exit(file && fclose(file) == 0 ? 0 : 1);
    }
    char *bytes;
    size_t size;
    assert_int_equal(ex_file_read(path, &bytes, &size, NULL), EX_OK);
    assert_int_equal(size, 9 * 50000);
    assert_memory_equal(bytes + 9 * 49999, "00049999\n", 10);
    free(bytes);
}

static void says_why_a_file_cannot_be_read(void **state) {
    (void)state;
    char *bytes;
    size_t size;
    ex_error error;
    assert_int_equal(ex_file_read("/nowhere/at/all.obj", &bytes, &size, &error), EX_ERROR_FILE);
    assert_null(bytes);
    assert_string_equal(error.text, "cannot read '/nowhere/at/all.obj': No such file or directory");
    assert_int_equal(ex_file_read("/", &bytes, &size, &error), EX_ERROR_FILE);
    assert_null(bytes);
    assert_string_equal(error.text, "cannot read '/': Is a directory");
}

static void refuses_what_may_have_no_end(void **state) {
    (void)state;
    char *bytes;
    size_t size;
    ex_error error;
    if (access("/dev/zero", R_OK) == 0) {
        assert_int_equal(ex_file_read("/dev/zero", &bytes, &size, &error), EX_ERROR_FILE);
        assert_null(bytes);
        assert_string_equal(error.text, "'/dev/zero' is a device, not a file");
    } else {
        print_message("no /dev/zero here\n");
    }
    assert_int_equal(ex_file_read("/dev/null", &bytes, &size, &error), EX_OK);
    assert_int_equal(size, 0);
    free(bytes);
    const char *path = scratch_path("large");
    scratch_write("large", "", 0);
    if (truncate(path, ((off_t)64 << 30) + 1) != 0) {
        print_message("no file of 64 GB here\n");
        return;
    }
    assert_int_equal(ex_file_read(path, &bytes, &size, &error), EX_ERROR_LIMIT);
    assert_null(bytes);
    assert_non_null(strstr(error.text, "large' is larger than 64 GB"));
    assert_int_equal(unlink(path), 0);
}

static void reads_standard_input(void **state) {
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "words", 5), 5);
    close(ends[1]);
    const int kept = dup(STDIN_FILENO);
    assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    char *bytes;
    size_t size;
    assert_int_equal(ex_file_read("/dev/stdin", &bytes, &size, NULL), EX_OK);
    assert_int_equal(size, 5);
    assert_memory_equal(bytes, "words", 6);
    free(bytes);
    close(ends[0]);
    if (kept >= 0) {
        dup2(kept, STDIN_FILENO);
        close(kept);
    }
}

static void replaces_the_target_only_at_the_end(void **state) {
    (void)state;
    scratch_write("a.txt", "old", 3);
    ex_file_writer writer;
    assert_int_equal(ex_file_open(&writer, scratch_path("a.txt"), NULL), EX_OK);
    ex_file_write(&writer, "new ", 4);
    ex_file_printf(&writer, "%d-%s", 12, "x");
    assert_int_equal(scratch_entry_count(), 2);
    check_content("a.txt", "old");
    assert_int_equal(ex_file_commit(&writer, NULL), EX_OK);
    check_content("a.txt", "new 12-x");
    assert_int_equal(scratch_entry_count(), 1);
}

static void abandons_without_a_trace(void **state) {
    (void)state;
    scratch_write("a.txt", "old", 3);
    ex_file_writer writer;
    assert_int_equal(ex_file_open(&writer, scratch_path("a.txt"), NULL), EX_OK);
    ex_file_write(&writer, "new", 3);
    ex_file_abandon(&writer);
    ex_file_abandon(&writer);
    check_content("a.txt", "old");
    assert_int_equal(scratch_entry_count(), 1);
}

static int mode_of(const char *name) {
    struct stat status;
    assert_int_equal(stat(scratch_path(name), &status), 0);
    return (int)(status.st_mode & 0777);
}

static void gives_the_permissions_of_any_other_file(void **state) {
    (void)state;
    mode_t kept = umask(027);
    write_file(scratch_path("fresh"), "x");
    umask(kept);
    assert_int_equal(mode_of("fresh"), 0640);
    assert_int_equal(chmod(scratch_path("fresh"), 0604), 0);
    write_file(scratch_path("fresh"), "y");
    assert_int_equal(mode_of("fresh"), 0604);
    check_content("fresh", "y");
}

static void follows_links(void **state) {
    (void)state;
    scratch_write("real", "old", 3);
    assert_int_equal(symlink("real", scratch_path("link")), 0);
    write_file(scratch_path("link"), "new");
    check_content("real", "new");
    struct stat status;
    assert_int_equal(lstat(scratch_path("link"), &status), 0);
    assert_true(S_ISLNK(status.st_mode));
}

/* A dangling link: the target is created, through any number of links, and the links stay. */
static void follows_links_that_lead_nowhere(void **state) {
    (void)state;
    assert_int_equal(mkdir(scratch_path("folder"), 0777), 0);
    assert_int_equal(symlink("folder/middle", scratch_path("link")), 0);
    assert_int_equal(symlink("../real", scratch_path("folder/middle")), 0);
    write_file(scratch_path("link"), "new");
    check_content("real", "new");
    struct stat status;
    assert_int_equal(lstat(scratch_path("link"), &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_int_equal(lstat(scratch_path("folder/middle"), &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    /* Links are not replaced either if they form a circle, or lead into a missing folder. */
    ex_file_writer writer;
    ex_error error;
    assert_int_equal(symlink("circle", scratch_path("circle")), 0);
    assert_int_equal(ex_file_open(&writer, scratch_path("circle"), &error), EX_ERROR_FILE);
    assert_non_null(strstr(error.text, "symbolic links"));
    assert_int_equal(symlink("none/real", scratch_path("lost")), 0);
    assert_int_equal(ex_file_open(&writer, scratch_path("lost"), &error), EX_ERROR_FILE);
    assert_non_null(strstr(error.text, "lost': No such file"));
    assert_int_equal(scratch_entry_count(), 5);
}

/* Output of a descriptor before and after keeps its place: it is the same position in the same file. */
static void writes_on_in_a_descriptor(void **state) {
    (void)state;
    int file = open(scratch_path("log"), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    assert_true(file >= 0);
    char name[32];
    snprintf(name, sizeof name, "/dev/fd/%d", file);
    assert_int_equal(write(file, "one ", 4), 4);
    write_file(name, "two ");
    assert_int_equal(write(file, "three", 5), 5);
    close(file);
    check_content("log", "one two three");
    ex_error error;
    ex_file_writer writer;
    assert_int_equal(ex_file_open(&writer, name, &error), EX_ERROR_FILE);
    assert_non_null(strstr(error.text, "Bad file descriptor"));
}

/* Runs in a child whose standard output is the descriptor, or closed with -1; returns its error, or "". */
static void write_to_standard_output(int descriptor, char text[EX_ERROR_SIZE]) {
    int answer[2];
    assert_int_equal(pipe(answer), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        ex_error error = {.text = ""};
        ex_file_writer writer;
        signal(SIGPIPE, SIG_IGN);
        if (descriptor < 0)
            close(STDOUT_FILENO);
        else
            dup2(descriptor, STDOUT_FILENO);
        if (ex_file_open(&writer, "/dev/stdout", &error) == EX_OK) {
            ex_file_printf(&writer, "hello");
            ex_file_commit(&writer, &error);
        }
        _exit(write(answer[1], error.text, sizeof error.text) == sizeof error.text ? 0 : 1);
    }
    close(answer[1]);
    assert_int_equal(read(answer[0], text, EX_ERROR_SIZE), EX_ERROR_SIZE);
    close(answer[0]);
    assert_int_equal(waitpid(child, NULL, 0), child); /* it has copies of the descriptors that the caller will close */
}

static void writes_standard_output(void **state) {
    (void)state;
    char text[EX_ERROR_SIZE], got[16] = "";
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    write_to_standard_output(pair[0], text);
    assert_string_equal(text, "");
    assert_int_equal(read(pair[1], got, sizeof got), 5);
    assert_memory_equal(got, "hello", 5);
    close(pair[1]);
    write_to_standard_output(pair[0], text);
    assert_string_equal(text, "cannot write to standard output: Broken pipe");
    close(pair[0]);
    write_to_standard_output(-1, text);
    assert_string_equal(text, "cannot write to standard output: Bad file descriptor");
    int null = open("/dev/null", O_RDONLY);
    write_to_standard_output(null, text);
    assert_string_equal(text, "cannot write to standard output: Bad file descriptor");
    close(null);
}

/* In a child, because stopping cannot be undone. */
static void stops(void **state) {
    (void)state;
    scratch_write("a.txt", "old", 3);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        ex_error error;
        ex_file_writer writer, late;
        bool good = ex_file_open(&writer, scratch_path("a.txt"), &error) == EX_OK;
        ex_file_write(&writer, "new", 3);
        ex_file_stop();
        good = good && ex_file_commit(&writer, &error) == EX_ERROR_FILE && strstr(error.text, "Interrupted");
        good = good && ex_file_open(&late, scratch_path("b.txt"), &error) == EX_ERROR_FILE;
        _exit(good ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    check_content("a.txt", "old");
    assert_int_equal(scratch_entry_count(), 1);
}

static void says_why_a_file_cannot_be_written(void **state) {
    (void)state;
    ex_file_writer writer;
    ex_error error;
    assert_int_equal(ex_file_open(&writer, "/nowhere/a.txt", &error), EX_ERROR_FILE);
    assert_string_equal(error.text, "cannot write '/nowhere/a.txt': the folder '/nowhere' does not exist");
    ex_file_abandon(&writer);
    assert_int_equal(ex_file_open(&writer, "/", &error), EX_ERROR_FILE);
    assert_string_equal(error.text, "cannot write '/': it is a folder; name a file in it");
    if (geteuid() == 0)
        return; /* root writes everywhere */
    scratch_write("locked", "old", 3);
    assert_int_equal(chmod(scratch_path("locked"), 0444), 0);
    assert_int_equal(ex_file_open(&writer, scratch_path("locked"), &error), EX_ERROR_FILE);
    assert_non_null(strstr(error.text, "Permission denied"));
}

static void writes_devices_directly(void **state) {
    (void)state;
    write_file("/dev/null", "nothing");
    struct stat status;
    assert_int_equal(stat("/dev/null", &status), 0);
    assert_true(S_ISCHR(status.st_mode));
    if (access("/dev/full", W_OK) != 0)
        skip_case("no /dev/full");
    ex_file_writer writer;
    ex_error error;
    assert_int_equal(ex_file_open(&writer, "/dev/full", NULL), EX_OK);
    for (int i = 0; i < 10000; i++)
        ex_file_printf(&writer, "line %d\n", i);
    assert_int_equal(ex_file_commit(&writer, &error), EX_ERROR_FILE);
    assert_string_equal(error.text, "cannot write '/dev/full': No space left on device");
    /* A text so short that only closing writes it. */
    assert_int_equal(ex_file_open(&writer, "/dev/full", NULL), EX_OK);
    ex_file_write(&writer, "x", 1);
    assert_int_equal(ex_file_commit(&writer, &error), EX_ERROR_FILE);
}

/* A limit on the size of files simulates a full disk. */
static void leaves_the_target_alone_when_the_disk_is_full(void **state) {
    (void)state;
    scratch_write("a.txt", "old", 3);
    struct rlimit kept, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &kept), 0);
    small = kept;
    small.rlim_cur = 10000;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    ex_file_writer writer;
    ex_error error;
    assert_int_equal(ex_file_open(&writer, scratch_path("a.txt"), NULL), EX_OK);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    for (int i = 0; i < 10000; i++)
        ex_file_write(&writer, "0123456789", 10);
    ex_result result = ex_file_commit(&writer, &error);
    setrlimit(RLIMIT_FSIZE, &kept);
    signal(SIGXFSZ, handler);
    assert_int_equal(result, EX_ERROR_FILE);
    assert_non_null(strstr(error.text, "a.txt': File too large"));
    check_content("a.txt", "old");
    assert_int_equal(scratch_entry_count(), 1);
}

static void removes_what_is_pending(void **state) {
    (void)state;
    scratch_write("a.txt", "old", 3);
    enum { WRITERS = 20 }; /* more than the list holds: those beyond it are left, and closed by hand */
    ex_file_writer writers[WRITERS];
    char name[32];
    for (int i = 0; i < WRITERS; i++) {
        snprintf(name, sizeof name, "b%d.txt", i);
        assert_int_equal(ex_file_open(&writers[i], scratch_path(name), NULL), EX_OK);
    }
    assert_int_equal(scratch_entry_count(), 1 + WRITERS);
    ex_file_remove_pending();
    assert_int_equal(scratch_entry_count(), 1 + WRITERS - 16);
    ex_file_remove_pending();
    ex_error error;
    assert_int_equal(ex_file_commit(&writers[0], &error), EX_ERROR_FILE);
    for (int i = 1; i < WRITERS; i++)
        ex_file_abandon(&writers[i]);
    assert_int_equal(scratch_entry_count(), 1);
    /* The list has room again. */
    assert_int_equal(ex_file_open(&writers[0], scratch_path("c.txt"), NULL), EX_OK);
    assert_int_equal(scratch_entry_count(), 2);
    ex_file_remove_pending();
    assert_int_equal(scratch_entry_count(), 1);
    ex_file_abandon(&writers[0]);
    /* A committed file is no longer pending. */
    write_file(scratch_path("d.txt"), "done");
    ex_file_remove_pending();
    check_content("d.txt", "done");
}

/* The file and its folder; bulk files neither. */
static void syncs_what_is_work(void **state) {
    (void)state;
    ex_file_writer writer;
    const int before = scratch_sync_count();
    write_file(scratch_path("a.txt"), "work");
    assert_int_equal(scratch_sync_count(), before + 2);
    assert_int_equal(ex_file_open_bulk(&writer, scratch_path("b.txt"), NULL), EX_OK);
    ex_file_write(&writer, "frame", 5);
    assert_int_equal(ex_file_commit(&writer, NULL), EX_OK);
    check_content("b.txt", "frame");
    write_file("/dev/null", "nothing");
    assert_int_equal(scratch_sync_count(), before + 2);
    assert_int_equal(ex_make_directory(scratch_path("c/d"), NULL), EX_OK);
    assert_int_equal(scratch_sync_count(), before + 4);
}

static void never_replaces_if_asked(void **state) {
    (void)state;
    ex_file_writer writer;
    ex_error error;
    assert_int_equal(ex_file_open(&writer, scratch_path("a.txt"), NULL), EX_OK);
    ex_file_write(&writer, "new", 3);
    scratch_write("a.txt", "came in between", 15);
    assert_int_equal(ex_file_commit_new(&writer, &error), EX_ERROR_FILE);
    assert_non_null(strstr(error.text, "a.txt': File exists"));
    check_content("a.txt", "came in between");
    assert_int_equal(ex_file_open(&writer, scratch_path("b.txt"), NULL), EX_OK);
    ex_file_write(&writer, "new", 3);
    assert_int_equal(ex_file_commit_new(&writer, NULL), EX_OK);
    check_content("b.txt", "new");
    assert_int_equal(scratch_entry_count(), 2);
}

static void keeps_the_previous_version(void **state) {
    (void)state;
    struct stat status;
    scratch_write("a.txt", "private", 7);
    scratch_write("precious", "precious", 8);
    assert_int_equal(chmod(scratch_path("a.txt"), 0600), 0);
    assert_int_equal(symlink("a.txt", scratch_path("link")), 0);
    assert_int_equal(symlink("precious", scratch_path("a.txt~")), 0);
    assert_int_equal(ex_file_back_up(scratch_path("link"), "private", 7, NULL), EX_OK);
    check_content("a.txt~", "private");
    check_content("precious", "precious");
    assert_int_equal(lstat(scratch_path("a.txt~"), &status), 0);
    assert_int_equal(status.st_mode, S_IFREG | 0600);
    ex_error error;
    assert_int_equal(ex_file_back_up("/nowhere/a.txt", "x", 1, &error), EX_ERROR_FILE);
    assert_non_null(strstr(error.text, "/nowhere/a.txt~"));
}

static void takes_the_longest_names(void **state) {
    (void)state;
    char name[256];
    memset(name, 'n', 255);
    name[255] = '\0';
    write_file(scratch_path(name), "long");
    check_content(name, "long");
    assert_int_equal(scratch_entry_count(), 1);
}

static void makes_folders(void **state) {
    (void)state;
    struct stat status;
    assert_int_equal(ex_make_directory(scratch_path("a/b//c/"), NULL), EX_OK);
    assert_int_equal(stat(scratch_path("a/b/c"), &status), 0);
    assert_true(S_ISDIR(status.st_mode));
    assert_int_equal(ex_make_directory(scratch_path("a/b"), NULL), EX_OK);
    assert_int_equal(ex_make_directory("/", NULL), EX_OK);
    scratch_write("a/file", "x", 1);
    ex_error error;
    assert_int_equal(ex_make_directory(scratch_path("a/file/d"), &error), EX_ERROR_FILE);
    assert_non_null(strstr(error.text, "a/file': a file has that name"));
}

static void joins_paths(void **state) {
    (void)state;
    static const struct {
        const char *file, *relative, *joined;
    } cases[] = {{"a/b/p.json", "m.obj", "a/b/m.obj"},
                 {"p.json", "m.obj", "m.obj"},
                 {"/p.json", "x/m.obj", "/x/m.obj"},
                 {"a/p.json", "../m.obj", "a/../m.obj"},
                 {"a/p.json", "/m.obj", "/m.obj"},
                 {"a/", "m.obj", "a/m.obj"},
                 {"", "m.obj", "m.obj"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *joined = ex_path_join(cases[i].file, cases[i].relative);
        assert_string_equal(joined, cases[i].joined);
        free(joined);
    }
}

static ex_result read_and_write(void *context) {
    (void)context;
    char *bytes;
    size_t size;
    ex_result result = ex_file_read(scratch_path("a.txt"), &bytes, &size, NULL);
    if (result != EX_OK)
        return result;
    ex_file_writer writer;
    result = ex_file_open(&writer, scratch_path("b.txt"), NULL);
    if (result == EX_OK) {
        ex_file_write(&writer, bytes, size);
        result = ex_file_commit(&writer, NULL);
    }
    free(bytes);
    return result == EX_OK ? ex_make_directory(scratch_path("d/e"), NULL) : result;
}

static void survives_failing_memory(void **state) {
    (void)state;
    scratch_write("a.txt", "text", 4);
    assert_true(fail_alloc_sweep(read_and_write, NULL) >= 4);
    assert_int_equal(scratch_entry_count(), 3);
    fail_alloc_arm(1);
    char *joined = ex_path_join("a", "b");
    fail_alloc_arm(0);
    assert_null(joined);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_set_up, scratch_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(reads_whole_files),
        TEST(reads_pipes),
        TEST(says_why_a_file_cannot_be_read),
        TEST(refuses_what_may_have_no_end),
        TEST(reads_standard_input),
        TEST(replaces_the_target_only_at_the_end),
        TEST(abandons_without_a_trace),
        TEST(gives_the_permissions_of_any_other_file),
        TEST(follows_links),
        TEST(follows_links_that_lead_nowhere),
        TEST(writes_on_in_a_descriptor),
        TEST(writes_standard_output),
        TEST(stops),
        TEST(says_why_a_file_cannot_be_written),
        TEST(writes_devices_directly),
        TEST(leaves_the_target_alone_when_the_disk_is_full),
        TEST(removes_what_is_pending),
        TEST(syncs_what_is_work),
        TEST(never_replaces_if_asked),
        TEST(keeps_the_previous_version),
        TEST(takes_the_longest_names),
        TEST(makes_folders),
        TEST(joins_paths),
        TEST(survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
