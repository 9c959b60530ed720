/* Making forms: errors are named by example and vertex, sizes that overflow are refused, failing memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/check.h"
#include "support/failing_allocator.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>

#include <exemplar/shape.h>

enum { VERTICES = 21 };

static float base[3 * VERTICES], first[3 * VERTICES], second[3 * VERTICES];
static const float *const deltas[2] = {first, second};

static ex_forms_def sound_def(void) {
    return (ex_forms_def){.vertex_count = VERTICES, .example_count = 2, .base = base, .deltas = deltas};
}

static void assert_refused(const ex_forms_def *def, ex_result result, const char *word) {
    failing_allocator f;
    failing_allocator_open(&f);
    ex_forms *forms = NULL;
    ex_error error = {0};
    assert_int_equal(ex_forms_create(def, &f.allocator, &forms, &error), result);
    assert_null(forms);
    assert_sentence(&error, result, word);
    assert_int_equal(ex_forms_create(def, &f.allocator, &forms, NULL), result);
    failing_allocator_close(&f);
}

static void wrong_definitions_are_refused(void **state) {
    (void)state;
    ex_forms_def def = sound_def();
    def.vertex_count = -1;
    assert_refused(&def, EX_ERROR_ARGUMENT, "negative");
    def = sound_def();
    def.example_count = -1;
    assert_refused(&def, EX_ERROR_ARGUMENT, "negative");
    def = sound_def();
    def.storage = EX_STORAGE_COUNT;
    assert_refused(&def, EX_ERROR_ARGUMENT, "storage");
    def = sound_def();
    def.base = NULL;
    assert_refused(&def, EX_ERROR_ARGUMENT, "missing");
    def = sound_def();
    def.deltas = NULL;
    assert_refused(&def, EX_ERROR_ARGUMENT, "missing");
    def = sound_def();
    def.vertex_count = def.example_count = INT_MAX;
    assert_refused(&def, EX_ERROR_LIMIT, "too large");
    def = sound_def();
    def.vertex_count = INT_MAX; /* fits in numbers, not in this allocator */
    assert_refused(&def, EX_ERROR_MEMORY, "MB");
}

/* Every vertex and coordinate, NaN and infinities, in the base and in an example. */
static void numbers_that_are_none_are_named(void **state) {
    (void)state;
    static const float bad[] = {NAN, INFINITY, -INFINITY};
    float *tables[] = {base, first, second};
    static const char *const names[] = {"base", "example 1", "example 2"};
    for (int storage = 0; storage < EX_STORAGE_COUNT; storage++)
        for (int table = 0; table < 3; table++)
            for (int i = 0; i < 3 * VERTICES; i++) {
                ex_forms_def def = sound_def();
                def.storage = (ex_storage)storage;
                tables[table][i] = bad[i % 3];
                char word[64];
                snprintf(word, sizeof word, "%s: vertex %d ", names[table], i / 3);
                assert_refused(&def, EX_ERROR_DATA, word);
                tables[table][i] = 0;
            }
}

static ex_result create(void *context, const ex_allocator *allocator) {
    ex_forms *forms = NULL;
    ex_result result = ex_forms_create(context, allocator, &forms, NULL);
    assert_true((result == EX_OK) == (forms != NULL));
    ex_forms_destroy(forms);
    return result;
}

static void one_allocation_and_it_may_fail(void **state) {
    (void)state;
    ex_forms_def def = sound_def();
    assert_int_equal(failing_allocator_sweep(create, &def), 1);
    def.storage = EX_STORAGE_16_BIT;
    assert_int_equal(failing_allocator_sweep(create, &def), 1);
    ex_forms_destroy(NULL);
}

/* 12 bytes per vertex, 12 or 6 per vertex and example, and not much more. */
static void sizes_are_as_stated(void **state) {
    (void)state;
    static float many[3 * 4096];
    const float *const list[4] = {many, many, many, many};
    static const size_t per_vertex[] = {12, 6};
    for (int storage = 0; storage < EX_STORAGE_COUNT; storage++) {
        ex_forms_def def = {
            .vertex_count = 4096, .example_count = 4, .base = many, .deltas = list, .storage = (ex_storage)storage};
        failing_allocator f;
        failing_allocator_open(&f);
        assert_int_equal(create(&def, &f.allocator), EX_OK);
        size_t least = 4096 * (12 + 4 * per_vertex[storage]);
        assert_in_range(f.largest, least, least + 1024);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_definitions_are_refused),
        cmocka_unit_test(numbers_that_are_none_are_named),
        cmocka_unit_test(one_allocation_and_it_may_fail),
        cmocka_unit_test(sizes_are_as_stated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
