/*
 * Paths kept from one build or check to the next: rigs are the same to the byte, forms and options that differ are
 * found anew, and old entries go while they are in use.
 */
#define _XOPEN_SOURCE 700

#include "author/project/bars.h"

#include "support/fail_alloc.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* A layer of three poses. */
#define TEXT(weigh, how, place, second)                                                                                \
    "{'exemplar': 1, 'mesh': 'm.obj', 'layers': [{'name': 'l', 'space': [{'name': 'd', 'min': -1, 'max': 1}], "        \
    "'weigh': {" weigh "}, 'shape': 'trajectory', 'trajectory': {" how "}, 'examples': [{'name': 'rest', "             \
    "'reference': true, 'at': {'d': 0}}, {'name': 'high', 'mesh': 'a.obj', 'at': {'d': " place "}}, "                  \
    "{'name': 'low', 'mesh': '" second "', 'at': {'d': -1}}]}]}"
#define CALM "'kind': 'calm'"
/* A layer of one pose. */
#define ONE                                                                                                            \
    "{'exemplar': 1, 'mesh': 'm.obj', 'layers': [{'name': 'l', 'space': [{'name': 'd', 'min': 0, 'max': 1}], "         \
    "'weigh': "                                                                                                        \
    "{'kind': 'direct'}, 'shape': 'trajectory', 'examples': [{'name': 'high', 'mesh': 'a.obj'}]}]}"

/* Counts the reports of paths being found: none if they were kept. */
static bool count_finding(void *user, const char *what, double fraction) {
    (void)fraction;
    *(int *)user += strcmp(what, "finding trajectories") == 0;
    return true;
}

/* Builds with and without kept paths, and expects the same bytes. Returns true if paths were found. */
static bool finds(ex_kept_paths *kept, const char *text) {
    ex_project *project = parse_project(text);
    ex_rig *plain = build_project(project), *rig = NULL;
    ex_error error = {0};
    int count = 0;
    const ex_progress progress = {.report = count_finding, .user = &count};
    const ex_build_options how = {.progress = &progress, .kept_paths = kept};
    if (ex_project_build(project, &how, &rig, &error) != EX_OK)
        fail_msg("%s", error.text);
    check_same_rig(plain, rig);
    ex_rig_destroy(plain);
    ex_rig_destroy(rig);
    ex_project_destroy(project);
    return count > 0;
}

static void spaces_keep_paths(void **state) {
    (void)state;
    ex_kept_paths *kept = ex_kept_paths_create(0);
    assert_true(finds(kept, TEXT(CALM, "", "1", "b.obj")));
    assert_false(finds(kept, TEXT(CALM, "", "1", "b.obj")));
    assert_false(finds(kept, TEXT(CALM, "", "0.7", "b.obj")));
    assert_false(finds(kept, TEXT("'kind': 'cardinal', 'kernel': 'thin_plate'", "", "0.7", "b.obj")));
    ex_kept_paths_destroy(kept);
}

static void forms_and_options_find_new_ones(void **state) {
    (void)state;
    ex_kept_paths *kept = ex_kept_paths_create(0);
    assert_true(finds(kept, TEXT(CALM, "", "1", "b.obj")));
    assert_true(finds(kept, TEXT(CALM, "", "1", "t.obj")));
    assert_true(finds(kept, TEXT(CALM, "'correctors': 1", "1", "b.obj")));
    assert_true(finds(kept, TEXT(CALM, "'mode': 'paper'", "1", "b.obj")));
    assert_true(finds(kept, TEXT(CALM, "'mode': 'paper', 'weights': {'pose': 2}", "1", "b.obj")));
    /* All of them are still there. */
    assert_false(finds(kept, TEXT(CALM, "", "1", "b.obj")));
    assert_false(finds(kept, TEXT(CALM, "", "1", "t.obj")));
    assert_false(finds(kept, TEXT(CALM, "'correctors': 1", "1", "b.obj")));
    ex_kept_paths_destroy(kept);
}

/* Finds ten layers of one size, and uses the first after each. Returns how many of the others are still there. */
static int keep_ten(size_t most) {
    ex_kept_paths *kept = ex_kept_paths_create(most);
    char texts[10][1000];
    int stay = 0;
    for (int i = 0; i < 10; i++) {
        char name[16];
        snprintf(name, sizeof name, "b%d.obj", i);
        write_bar(name, -0.3 - 0.1 * i);
        snprintf(texts[i], sizeof texts[i], TEXT(CALM, "'correctors': 0", "1", "%s"), name);
        assert_true(finds(kept, texts[i]));
        finds(kept, texts[0]);
    }
    /* the newest first: each one that is found anew puts another out */
    for (int i = 9; i > 0 && !finds(kept, texts[i]); i--)
        stay++;
    ex_kept_paths_destroy(kept);
    return stay;
}

static void bytes_are_bounded(void **state) {
    (void)state;
    assert_int_equal(keep_ten(0), 9);
    assert_int_equal(keep_ten(1), 0);
    /* as many stay as fit: one of these layers has between 1 and 100 KB */
    int before = 0;
    for (size_t most = 1024; most < (size_t)1 << 20; most *= 2) {
        const int stay = keep_ten(most);
        assert_true(stay >= before);
        if (before > 0 && stay < 9)
            assert_true(stay >= 2 * before);
        before = stay;
    }
    assert_int_equal(before, 9);
}

static void checks_and_builds_share_them(void **state) {
    (void)state;
    ex_kept_paths *kept = ex_kept_paths_create(0);
    ex_project *project = parse_project(TEXT(CALM, "", "1", "b.obj"));
    ex_check *plain = NULL, *first = NULL, *second = NULL;
    ex_error error;
    const ex_check_options how = {.kept_paths = kept};
    assert_int_equal(ex_project_check(project, NULL, &plain, &error), EX_OK);
    assert_int_equal(ex_project_check(project, &how, &first, &error), EX_OK);
    assert_false(finds(kept, TEXT(CALM, "", "1", "b.obj"))); /* the check has found them */
    assert_int_equal(ex_project_check(project, &how, &second, &error), EX_OK);
    assert_int_equal(plain->finding_count, first->finding_count);
    assert_int_equal(plain->finding_count, second->finding_count);
    for (int i = 0; i < plain->finding_count; i++) {
        assert_string_equal(plain->findings[i].text, first->findings[i].text);
        assert_string_equal(plain->findings[i].text, second->findings[i].text);
    }
    ex_check_destroy(plain);
    ex_check_destroy(first);
    ex_check_destroy(second);
    ex_project_destroy(project);
    ex_kept_paths_destroy(kept);
}

/* A project with more layers than the bytes hold: the first leave the list while the rig still needs them. */
static void entries_in_use_stay(void **state) {
    (void)state;
    char text[9000];
    size_t size = (size_t)snprintf(text, sizeof text, "{'exemplar': 1, 'mesh': 'm.obj', 'layers': [");
    for (int i = 0; i < 10; i++)
        size += (size_t)snprintf(text + size, sizeof text - size,
                                 "%s{'name': 'l%d', 'space': [{'name': 'd%d', 'min': 0, 'max': 1}], 'weigh': {'kind': "
                                 "'direct'}, 'shape': 'trajectory', 'trajectory': {'correctors': %d}, 'examples': "
                                 "[{'name': 'high', 'mesh': 'a.obj'}]}",
                                 i > 0 ? ", " : "", i, i, i);
    snprintf(text + size, sizeof text - size, "]}");
    ex_kept_paths *kept = ex_kept_paths_create(1);
    assert_true(finds(kept, text));
    assert_true(finds(kept, text)); /* ten layers do not fit */
    ex_kept_paths_destroy(kept);
}

/* Like finds, as another process would: with an empty list and that folder. */
static bool finds_beside(const char *folder, size_t most, const char *text) {
    ex_kept_paths *kept = ex_kept_paths_create(0);
    assert_true(ex_kept_paths_use_folder(kept, scratch_path(folder), most));
    const bool found = finds(kept, text);
    ex_kept_paths_destroy(kept);
    return found;
}

/* The only file in a folder, opened; -1 if there is none or more. */
static int only_file(const char *folder) {
    DIR *listing = opendir(scratch_path(folder));
    int file = -1, count = 0;
    assert_non_null(listing);
    for (struct dirent *entry; (entry = readdir(listing));)
        if (entry->d_name[0] != '.' && count++ == 0)
            file = openat(dirfd(listing), entry->d_name, O_RDWR);
    closedir(listing);
    return count == 1 ? file : -1;
}

static size_t size_in(const char *folder) {
    struct stat status;
    const int file = only_file(folder);
    assert_int_equal(fstat(file, &status), 0);
    close(file);
    return (size_t)status.st_size;
}

/* Changes a byte of the only file in the folder, or cuts it short there. */
static void damage(const char *folder, double where, bool cut) {
    const off_t at = (off_t)(where * (double)(size_in(folder) - 1));
    const int file = only_file(folder);
    char byte = 0;
    assert_true(pread(file, &byte, 1, at) == 1);
    byte = (char)(byte ^ 1);
    assert_true(cut ? ftruncate(file, at) == 0 : pwrite(file, &byte, 1, at) == 1);
    close(file);
}

static void a_folder_outlives_the_process(void **state) {
    (void)state;
    static const char *const ways[] = {"", "'correctors': 0", "'mode': 'paper'", "'mode': 'paper', 'bases': true"};
    ex_kept_paths *none = ex_kept_paths_create(0);
    assert_false(ex_kept_paths_use_folder(none, "", 0));
    ex_kept_paths_destroy(none);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        char text[1000];
        snprintf(text, sizeof text, TEXT(CALM, "%s", "1", "b.obj"), ways[i]);
        assert_true(finds_beside("kept/paths", 0, text));
        assert_false(finds_beside("kept/paths", 0, text));
    }
    assert_false(finds_beside("kept/paths", 0, TEXT("'kind': 'cardinal'", "", "0.7", "b.obj")));
    assert_true(finds_beside("kept/paths", 0, TEXT(CALM, "", "1", "t.obj")));
    /* a single example has correctors of its own */
    assert_true(finds_beside("kept/paths", 0, ONE));
    assert_false(finds_beside("kept/paths", 0, ONE));
}

static void damaged_files_are_none(void **state) {
    (void)state;
    for (int i = 0; i <= 20; i++) {
        finds_beside("hurt", 0, ONE);
        assert_false(finds_beside("hurt", 0, ONE));
        damage("hurt", 0.05 * i, i % 2 == 0);
        assert_true(finds_beside("hurt", 0, ONE)); /* and writes it again */
    }
}

/* A folder with room for two and a half files of one size keeps the two used last. */
static void a_folder_is_bounded(void **state) {
    (void)state;
    char texts[3][1000];
    for (int i = 0; i < 3; i++)
        snprintf(texts[i], sizeof texts[i], TEXT(CALM, "'correctors': 0", "1", "%s"),
                 i == 0   ? "b.obj"
                 : i == 1 ? "t.obj"
                          : "a.obj");
    for (int i = 0; i < 3; i++)
        assert_true(finds_beside("small", 1, texts[i]));
    assert_false(finds_beside("small", 1, texts[2])); /* the newest stays, however large */
    const size_t most = size_in("small") * 5 / 2;
    assert_true(finds_beside("two", most, texts[0]));
    assert_true(finds_beside("two", most, texts[1]));
    assert_false(finds_beside("two", most, texts[0]));
    assert_true(finds_beside("two", most, texts[2]));
    assert_false(finds_beside("two", most, texts[0]));
    assert_false(finds_beside("two", most, texts[2]));
    assert_true(finds_beside("two", most, texts[1]));
}

/* Builds twice, the second time with the paths of the first, if there was memory to keep them. */
static ex_result build_twice(const ex_project *project, const char *folder) {
    ex_kept_paths *kept = ex_kept_paths_create(0);
    const ex_build_options how = {.kept_paths = kept};
    if (kept && folder)
        ex_kept_paths_use_folder(kept, scratch_path(folder), 0);
    ex_result result = EX_OK;
    for (int i = 0; i < 2 && result == EX_OK; i++) {
        ex_rig *rig = NULL;
        ex_error error = {0};
        result = ex_project_build(project, &how, &rig, &error);
        assert_int_equal(rig != NULL, result == EX_OK);
        ex_rig_destroy(rig);
    }
    ex_kept_paths_destroy(kept);
    return result;
}

/* Fails one allocation after the other. Returns how often the build went well all the same. */
static int fail_each(const ex_project *project, bool has_folder, bool is_full) {
    int unkept = 0;
    for (int nth = 1, reached = 1; reached; nth++) {
        char folder[32] = "full";
        if (!is_full)
            snprintf(folder, sizeof folder, "new%d", nth);
        fail_alloc_arm(nth);
        const ex_result result = build_twice(project, has_folder ? folder : NULL);
        reached = fail_alloc_reached();
        fail_alloc_arm(0);
        assert_true(result == EX_OK || (reached && result == EX_ERROR_MEMORY));
        unkept += reached && result == EX_OK;
    }
    return unkept;
}

static void memory_may_fail(void **state) {
    (void)state;
    ex_project *project = parse_project(TEXT(CALM, "'correctors': 0", "1", "b.obj"));
    const int plain = fail_each(project, false, false);
    assert_true(plain >= 2);                              /* the list, and an entry */
    assert_true(fail_each(project, true, false) > plain); /* and a file that is not written */
    assert_int_equal(build_twice(project, "full"), EX_OK);
    assert_true(fail_each(project, true, true) > plain); /* or not read */
    ex_project_destroy(project);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spaces_keep_paths),      cmocka_unit_test(forms_and_options_find_new_ones),
        cmocka_unit_test(bytes_are_bounded),      cmocka_unit_test(checks_and_builds_share_them),
        cmocka_unit_test(entries_in_use_stay),    cmocka_unit_test(a_folder_outlives_the_process),
        cmocka_unit_test(damaged_files_are_none), cmocka_unit_test(a_folder_is_bounded),
        cmocka_unit_test(memory_may_fail),
    };
    return cmocka_run_group_tests_name("author.project.kept_paths", tests, write_bars, scratch_tear_down);
}
