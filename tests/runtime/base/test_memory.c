/*
 * Sizes that remember an overflow, blocks that remember their allocator, and the task hook's default.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/base/memory.h"
#include "support/fail_alloc.h"
#include "support/failing_allocator.h"

#include <string.h>

static void sizes_add_up_aligned(void **state) {
    (void)state;
    exi_size total = {.bytes = 3};
    assert_int_equal(exi_size_add(&total, 5, 2, 8), 8);
    assert_int_equal(total.bytes, 18);
    assert_int_equal(exi_size_add(&total, 0, 100, 64), 64);
    assert_int_equal(total.bytes, 64);
    assert_int_equal(exi_size_add(&total, 1, 1, 1), 64);
    assert_int_equal(total.bytes, 65);
    assert_int_equal(exi_size_add(&total, 7, 0, 16), 80);
    assert_int_equal(total.bytes, 80);
    assert_false(total.overflow);
}

static void overflow_is_remembered(void **state) {
    (void)state;
    static const struct {
        size_t before, count, size, align;
        bool overflow;
    } cases[] = {
        {0, SIZE_MAX, 1, 1, false},        {0, SIZE_MAX, 2, 1, true},      /* the product */
        {0, SIZE_MAX / 2 + 1, 2, 1, true},                                 /* the product, exactly 2^64 */
        {0, SIZE_MAX / 4, 4, 4, false},    {1, SIZE_MAX, 1, 1, true},      /* the sum */
        {1, SIZE_MAX - 1, 1, 1, false},    {SIZE_MAX - 3, 0, 1, 64, true}, /* the alignment */
        {SIZE_MAX - 63, 0, 1, 64, false},  {SIZE_MAX - 63, 64, 1, 64, true}, {SIZE_MAX - 63, 63, 1, 64, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        exi_size total = {.bytes = cases[i].before};
        exi_size_add(&total, cases[i].count, cases[i].size, cases[i].align);
        if (total.overflow != cases[i].overflow)
            fail_msg("case %zu", i);
    }
    exi_size total = {.bytes = 1};
    exi_size_add(&total, SIZE_MAX, 1, 1);
    exi_size_add(&total, 1, 1, 1);
    assert_true(total.overflow);
}

static void products_are_checked(void **state) {
    (void)state;
    size_t product = 99;
    assert_true(exi_multiply(0, SIZE_MAX, &product));
    assert_int_equal(product, 0);
    assert_true(exi_multiply(SIZE_MAX, 1, &product));
    assert_true(product == SIZE_MAX);
    assert_true(exi_multiply(7, 6, &product));
    assert_int_equal(product, 42);
    assert_false(exi_multiply(SIZE_MAX / 2 + 1, 2, &product));
    assert_false(exi_multiply(2, SIZE_MAX / 2 + 1, &product));
    assert_true(exi_multiply(SIZE_MAX / 3, 3, &product));
}

static void blocks_are_zero_and_aligned(void **state) {
    (void)state;
    failing_allocator f;
    failing_allocator_open(&f);
    const ex_allocator *allocators[] = {NULL, &f.allocator};
    for (int a = 0; a < 2; a++)
        for (size_t size = 0; size < 300; size += 37) {
            unsigned char *block = exi_block_create(allocators[a], size);
            assert_non_null(block);
            assert_int_equal((uintptr_t)block % EXI_ALIGN, 0);
            for (size_t i = 0; i < size; i++)
                assert_int_equal(block[i], 0);
            memset(block, 0xFF, size);
            exi_block_destroy(block);
        }
    assert_int_equal(f.made, 9);
    failing_allocator_close(&f);
    exi_block_destroy(NULL);
}

static void scratch_memory_is_aligned_and_of_any_size(void **state) {
    (void)state;
    failing_allocator f;
    failing_allocator_open(&f);
    const ex_allocator *allocators[] = {NULL, &f.allocator};
    for (int a = 0; a < 2; a++)
        for (size_t size = 0; size < 200; size += 33) {
            char *memory = exi_allocate(allocators[a], size);
            assert_non_null(memory);
            assert_int_equal((uintptr_t)memory % EXI_ALIGN, 0);
            memset(memory, 1, size);
            exi_release(allocators[a], memory, size);
        }
    exi_release(&f.allocator, NULL, 10);
    failing_allocator_close(&f);
}

static void without_memory_there_is_null(void **state) {
    (void)state;
    failing_allocator f;
    failing_allocator_open(&f);
    failing_allocator_arm(&f, 1);
    assert_null(exi_block_create(&f.allocator, 10));
    failing_allocator_arm(&f, 1);
    assert_null(exi_allocate(&f.allocator, 10));
    failing_allocator_close(&f);
    fail_alloc_arm(1);
    void *memory = exi_allocate(NULL, 10);
    fail_alloc_arm(0);
    assert_null(memory);
    assert_null(exi_allocate(NULL, SIZE_MAX));
    assert_null(exi_allocate(NULL, SIZE_MAX - 100));
    assert_null(exi_block_create(NULL, SIZE_MAX));
    assert_null(exi_block_create(NULL, SIZE_MAX - 63));
}

typedef struct calls {
    int count, begin, end, hook_count, hook_grain;
} calls;

static void note_call(void *context, int begin, int end) {
    calls *c = context;
    c->count++;
    c->begin = begin;
    c->end = end;
}

static void note_hook(void *user, int count, int grain, ex_task_body body, void *context) {
    (void)body;
    (void)context;
    calls *c = user;
    c->hook_count = count;
    c->hook_grain = grain;
}

static void work_goes_to_the_hook_if_there_is_enough(void **state) {
    (void)state;
    calls c = {0};
    ex_tasks tasks = {note_hook, &c}, none = {0};
    exi_run(NULL, 10, 2, note_call, &c);
    exi_run(&none, 10, 2, note_call, &c);
    assert_int_equal(c.count, 2);
    assert_int_equal(c.begin, 0);
    assert_int_equal(c.end, 10);
    exi_run(&tasks, 0, 2, note_call, &c);
    exi_run(NULL, -1, 2, note_call, &c);
    assert_int_equal(c.count, 2);
    assert_int_equal(c.hook_count, 0);
    exi_run(&tasks, 2, 2, note_call, &c);
    assert_int_equal(c.count, 3);
    exi_run(&tasks, 3, 2, note_call, &c);
    assert_int_equal(c.count, 3);
    assert_int_equal(c.hook_count, 3);
    assert_int_equal(c.hook_grain, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_add_up_aligned),
        cmocka_unit_test(overflow_is_remembered),
        cmocka_unit_test(products_are_checked),
        cmocka_unit_test(blocks_are_zero_and_aligned),
        cmocka_unit_test(scratch_memory_is_aligned_and_of_any_size),
        cmocka_unit_test(without_memory_there_is_null),
        cmocka_unit_test(work_goes_to_the_hook_if_there_is_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
