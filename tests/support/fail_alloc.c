/* Makes a chosen allocation fail; see fail_alloc.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/fail_alloc.h"
#include "support/leaks.h"

#include <stdlib.h>

/* Names provided by the linker. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void __real_free(void *memory);
void __wrap_free(void *memory);

/* jansson's; NULL in programs without it. */
__attribute__((weak)) void json_set_alloc_funcs(void *(*allocate)(size_t size), void (*release)(void *memory));

static int until_failure; /* 0: none */
static bool reached;

static bool fails_now(void) {
    if (until_failure == 0 || --until_failure > 0)
        return false;
    reached = true;
    return true;
}

void *__wrap_malloc(size_t size) {
    void *memory = fails_now() ? NULL : __real_malloc(size);
    leaks_note(memory);
    return memory;
}

void *__wrap_calloc(size_t count, size_t size) {
    void *memory = fails_now() ? NULL : __real_calloc(count, size);
    leaks_note(memory);
    return memory;
}

void *__wrap_realloc(void *memory, size_t size) {
    if (fails_now())
        return NULL;
    leaks_forget(memory); /* before another thread can get the same address */
    void *moved = __real_realloc(memory, size);
    leaks_note(moved || size == 0 ? moved : memory);
    return moved;
}

void __wrap_free(void *memory) {
    leaks_forget(memory);
    __real_free(memory);
}

/* Early, because the authoring library keeps the functions that it finds (json_read.c). */
__attribute__((constructor(101))) static void wrap_jansson(void) {
    if (json_set_alloc_funcs)
        json_set_alloc_funcs(__wrap_malloc, __wrap_free);
}

void fail_alloc_arm(int n) {
    until_failure = n;
    reached = false;
}

bool fail_alloc_reached(void) {
    return reached;
}

int fail_alloc_next(int n) {
    const int all = 48, part = 24;
    return n + 1 + (n >= all && getenv("EX_SPARSE") ? n / part : 0);
}

int fail_alloc_sweep(ex_result (*attempt)(void *context), void *context) {
    for (int n = 1;; n = fail_alloc_next(n)) {
        fail_alloc_arm(n);
        ex_result result = attempt(context);
        const bool failed = reached;
        const int made = n - until_failure;
        fail_alloc_arm(0);
        if (!failed) {
            assert_int_equal(result, EX_OK);
            return made;
        }
        if (result != EX_ERROR_MEMORY)
            fail_msg("allocation %d failed, and the result was %d", n, (int)result);
    }
}
