/*
 * Numbers by name: found, kept, changed; many at once; memory that runs out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "author/base/names.h"

#include "support/fail_alloc.h"
#include <exemplar/base.h>

static void by_hand(void **state) {
    (void)state;
    exi_names names;
    assert_true(exi_names_open(&names, 3));
    assert_null(exi_names_find(&names, "hip"));
    exi_names_add(&names, "hip", 4);
    exi_names_add(&names, "", 5);
    exi_names_add(&names, "hip", 6); /* the first stays */
    assert_int_equal(*exi_names_find(&names, "hip"), 4);
    assert_int_equal(*exi_names_find(&names, ""), 5);
    assert_null(exi_names_find(&names, "hi"));
    *exi_names_find(&names, "hip") = 7;
    assert_int_equal(*exi_names_find(&names, "hip"), 7);
    exi_names_close(&names);
}

static void many(void **state) {
    (void)state;
    enum { COUNT = 65535 };
    static char texts[COUNT][24];
    exi_names names;
    assert_true(exi_names_open(&names, COUNT));
    for (int i = 0; i < COUNT; i++) {
        snprintf(texts[i], sizeof texts[i], "joint %d", i);
        exi_names_add(&names, texts[i], i);
    }
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(*exi_names_find(&names, texts[i]), i);
    assert_null(exi_names_find(&names, "joint 65535"));
    exi_names_close(&names);
}

static ex_result open_once(void *context) {
    (void)context;
    exi_names names;
    if (!exi_names_open(&names, 100))
        return EX_ERROR_MEMORY;
    exi_names_close(&names);
    return EX_OK;
}

static void memory(void **state) {
    (void)state;
    assert_true(fail_alloc_sweep(open_once, NULL) == 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_hand), cmocka_unit_test(many), cmocka_unit_test(memory)};
    return cmocka_run_group_tests_name("author.project.names", tests, NULL, NULL);
}
