/*
 * skip.c - see skip.h. The linker's --wrap puts __wrap__cmocka_run_group_tests between main and cmocka, which itself
 * returns 0 if cases were skipped or memory was not released.
 */
#include "support/skip.h"
#include "support/leaks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include <exemplar/base.h>

enum { SKIPPED = 77 };

static bool skipped;

void skip_case(const char *reason) {
    print_message("skipped: %s\n", reason);
    skipped = true;
    skip();
}

const char *data_folder(void) {
    const char *folder = getenv("EX_DATA");
    return folder && folder[0] ? folder : EX_DATA;
}

const char *need_data(const char *name) {
    static char path[2000];
    snprintf(path, sizeof path, "%s/%s", data_folder(), name);
    if (access(path, R_OK) != 0) {
        char reason[300];
        snprintf(reason, sizeof reason, "no data at EX_DATA (%s)", name);
        skip_case(reason);
    }
    return path;
}

int __real__cmocka_run_group_tests(const char *name, const struct CMUnitTest *tests, size_t count,
                                   CMFixtureFunction set_up, CMFixtureFunction tear_down);
int __wrap__cmocka_run_group_tests(const char *name, const struct CMUnitTest *tests, size_t count,
                                   CMFixtureFunction set_up, CMFixtureFunction tear_down);

int __wrap__cmocka_run_group_tests(const char *name, const struct CMUnitTest *tests, size_t count,
                                   CMFixtureFunction set_up, CMFixtureFunction tear_down) {
    /* As in the tool: all tests can run with a narrower instruction set. */
    const char *set = getenv("EX_SIMD");
    if (set && set[0] && !ex_simd_use(set)) {
        print_message("skipped: no instruction set %s here\n", set);
        return SKIPPED;
    }
    const size_t before = leaks_count();
    const int failed = __real__cmocka_run_group_tests(name, tests, count, set_up, tear_down);
    /* A case that fails or is skipped jumps out, and leaves its memory behind. */
    if (!failed && !skipped && leaks_count() > before) {
        print_error("%zu allocations of %s were not released\n", leaks_count() - before, name);
        return 1;
    }
    return failed ? 1 : skipped ? SKIPPED : 0;
}
