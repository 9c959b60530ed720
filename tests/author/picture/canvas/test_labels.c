/* Labels: columns worked by hand and against all possible ones on a grid, first free places, truncated texts. */
#include "support/check.h"
#include "support/fail_alloc.h"

#include "author/picture/canvas/labels.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void spreads_by_hand(void **state) {
    (void)state;
    /* Three that want 50 are placed around it; one far away stays. */
    double centres[4] = {50, 90, 50, 50};
    assert_true(ex_labels_spread(centres, 4, 10, 0, 100));
    assert_row_near(centres, ((double[]){40, 90, 50, 60}), 4, 1e-12);
    /* At the end of the room they are pushed back. */
    double low[3] = {-20, 3, 100};
    assert_true(ex_labels_spread(low, 3, 10, 0, 100));
    assert_row_near(low, ((double[]){5, 15, 95}), 3, 1e-12);
    /* The entire room, and too little of it. */
    double full[4] = {1, 2, 3, 4};
    assert_true(ex_labels_spread(full, 4, 10, 0, 40));
    assert_row_near(full, ((double[]){5, 15, 25, 35}), 4, 1e-12);
    assert_false(ex_labels_spread(full, 4, 10, 0, 39));
    assert_near(full[2], 25, 0);
}

/* No other placement on a grid has a smaller sum of squares. */
static void spreads_as_little_as_possible(void **state) {
    (void)state;
    uint64_t random = 3;
    for (int round = 0; round < 200; round++) {
        double wanted[3], centres[3], sum = 0;
        for (int i = 0; i < 3; i++)
            centres[i] = wanted[i] = random_between(&random, -5, 25);
        assert_true(ex_labels_spread(centres, 3, 4, 0, 20));
        int order[3] = {0, 1, 2};
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 2; j++)
                if (wanted[order[j]] > wanted[order[j + 1]]) {
                    const int t = order[j];
                    order[j] = order[j + 1];
                    order[j + 1] = t;
                }
        for (int i = 0; i < 3; i++) {
            assert_true(centres[i] >= 2 - 1e-9 && centres[i] <= 18 + 1e-9);
            sum += (centres[i] - wanted[i]) * (centres[i] - wanted[i]);
        }
        assert_true(centres[order[1]] - centres[order[0]] >= 4 - 1e-9);
        assert_true(centres[order[2]] - centres[order[1]] >= 4 - 1e-9);
        for (double a = 2; a <= 10; a += 0.25)
            for (double b = a + 4; b <= 14; b += 0.25)
                for (double c = b + 4; c <= 18; c += 0.25) {
                    const double d[3] = {a - wanted[order[0]], b - wanted[order[1]], c - wanted[order[2]]};
                    assert_true(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] >= sum - 1e-9);
                }
    }
}

static void takes_the_first_free_place(void **state) {
    (void)state;
    ex_canvas *canvas = NULL;
    assert_int_equal(ex_canvas_create_svg(200, 100, ex_colour_grey(255), NULL, NULL, &canvas, NULL), EX_OK);
    exi_labels labels = {.bounds = {0, 0, 200, 100}};
    const ex_lettering type = {.size = 10, .colour = ex_colour_grey(0)};
    exi_label_place places[EXI_LABEL_AROUND];
    int drawn = 0;
    exi_labels_around(100, 50, 6, places);
    for (int i = 0; i < 20; i++)
        drawn += exi_labels_draw(&labels, canvas, places, EXI_LABEL_AROUND, &type, "name");
    assert_true(drawn >= 4 && drawn < EXI_LABEL_AROUND);
    assert_int_equal(exi_canvas_text_count(canvas), drawn);
    for (int i = 0; i < drawn; i++)
        for (int k = 0; k < i; k++)
            assert_false(exi_box_overlaps(exi_canvas_text(canvas, i, NULL), exi_canvas_text(canvas, k, NULL)));
    /* Nothing leaves the bounds. */
    exi_labels_around(199, 50, 6, places);
    assert_true(exi_labels_draw(&labels, canvas, places, EXI_LABEL_AROUND, &type, "name"));
    assert_true(exi_canvas_text(canvas, drawn, NULL).x1 <= 200);
    exi_labels_around(300, 50, 6, places);
    assert_false(exi_labels_draw(&labels, canvas, places, EXI_LABEL_AROUND, &type, "name"));
    exi_labels_free(&labels);
    ex_canvas_destroy(canvas);
}

static void boxes_that_touch_do_not_overlap(void **state) {
    (void)state;
    const ex_box a = {0, 0, 10, 10};
    assert_false(exi_box_overlaps(a, (ex_box){10, 0, 20, 10}));
    assert_false(exi_box_overlaps(a, (ex_box){0, -5, 10, 0}));
    assert_false(exi_box_overlaps(a, (ex_box){2, 20, 8, 30}));
    assert_false(exi_box_overlaps(a, (ex_box){2, -30, 8, -20}));
    assert_false(exi_box_overlaps(a, (ex_box){20, 2, 30, 8}));
    assert_false(exi_box_overlaps(a, (ex_box){-30, 2, -20, 8}));
    assert_true(exi_box_overlaps(a, (ex_box){9.9, 9.9, 20, 20}));
    assert_true(exi_box_overlaps(a, (ex_box){2, 2, 3, 3}));
}

static void long_texts_are_cut(void **state) {
    (void)state;
    char buffer[EX_LABEL_SIZE], longer[600];
    assert_string_equal(ex_label_fit(buffer, "thin", 10, 100), "thin");
    ex_label_fit(buffer, "a name that is too long", 10, 60);
    assert_true(ex_text_width(buffer) * 10 <= 60);
    assert_non_null(strstr(buffer, "\xE2\x80\xA6"));
    assert_memory_equal(buffer, "a na", 4);
    assert_string_equal(ex_label_fit(buffer, "anything", 10, 0), "\xE2\x80\xA6");
    for (int i = 0; i < 299; i++)
        memcpy(longer + 2 * i, "\xC3\xA9", 3);
    ex_label_fit(buffer, longer, 10, 1e9);
    assert_true(strlen(buffer) < EX_LABEL_SIZE && strlen(buffer) % 2 == 1); /* complete letters and … */
}

static ex_result attempt(void *context) {
    (void)context;
    double centres[3] = {1, 2, 3};
    return ex_labels_spread(centres, 3, 1, 0, 10) ? EX_OK : EX_ERROR_MEMORY;
}

static void memory_may_run_out(void **state) {
    (void)state;
    assert_int_equal(fail_alloc_sweep(attempt, NULL), 2);
    exi_labels labels = {.bounds = {0, 0, 9, 9}};
    fail_alloc_arm(1);
    exi_labels_take(&labels, (ex_box){0, 0, 1, 1});
    fail_alloc_arm(0);
    assert_true(labels.failed);
    assert_false(exi_labels_is_free(&labels, (ex_box){5, 5, 6, 6}));
    exi_labels_free(&labels);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spreads_by_hand),
        cmocka_unit_test(spreads_as_little_as_possible),
        cmocka_unit_test(takes_the_first_free_place),
        cmocka_unit_test(boxes_that_touch_do_not_overlap),
        cmocka_unit_test(long_texts_are_cut),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
