/*
 * Stored weighers that no definition could have made, though their sizes agree: evaluating them would write outside.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/weigh/weigher.h"

#include <stdlib.h>
#include <string.h>

enum { AXES = 3 };

/* A direct weigher whose axes are of the given kind, with the layout that its counts require. Release with free. */
static ex_weigher *make_direct(ex_axis_kind kind) {
    const bool scalar = kind == EX_AXIS_SCALAR;
    ex_weigher head = {.kind = EX_WEIGHER_DIRECT,
                       .axis_count = AXES,
                       .example_count = AXES,
                       .scalar_count = scalar ? AXES : 0,
                       .rotation_count = scalar ? 0 : AXES,
                       .dimension = scalar ? AXES : 4 * AXES,
                       .feature_count = scalar ? AXES : 4 * AXES};
    assert_true(exi_weigher_layout(&head));
    ex_weigher *w = calloc(1, (size_t)head.size);
    assert_non_null(w);
    *w = head;
    ex_axis axis = scalar ? ex_axis_scalar(0, 1, 0) : ex_axis_rotation(kind, NULL);
    for (int i = 0; i < AXES; i++) {
        ((exi_axis_record *)(void *)exi_table_mut(w, w->axes))[i] = exi_axis_store(&axis, false);
        if (!scalar)
            ((exi_rotation_metric *)(void *)exi_table_mut(w, w->rotations))[i] = (exi_rotation_metric){4, 1};
    }
    return w;
}

static void a_direct_weigher_has_numbers_for_axes(void **state) {
    (void)state;
    ex_weigher *w = make_direct(EX_AXIS_SCALAR);
    assert_int_equal(exi_weigher_validate(w, (size_t)w->size, NULL), EX_OK);
    free(w);
    w = make_direct(EX_AXIS_ROTATION);
    ex_error error = {0};
    assert_int_equal(exi_weigher_validate(w, (size_t)w->size, &error), EX_ERROR_DATA);
    assert_string_equal(error.text, "a stored space is damaged");
    free(w);
}

static void sizes_must_agree(void **state) {
    (void)state;
    ex_weigher *w = make_direct(EX_AXIS_SCALAR);
    assert_int_equal(exi_weigher_validate(w, (size_t)w->size - 8, NULL), EX_ERROR_DATA);
    w->flags = EXI_WEIGHER_LINEAR;
    assert_int_equal(exi_weigher_validate(w, (size_t)w->size, NULL), EX_ERROR_DATA);
    free(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_direct_weigher_has_numbers_for_axes),
        cmocka_unit_test(sizes_must_agree),
    };
    return cmocka_run_group_tests_name("runtime.weigh.validate", tests, NULL, NULL);
}
