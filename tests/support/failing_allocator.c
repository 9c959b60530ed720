/* An allocator that fails on purpose; see failing_allocator.h. Head and guard take 64 bytes each around the memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/fail_alloc.h"
#include "support/failing_allocator.h"

#include <stdlib.h>
#include <string.h>

enum { SIDE = 64, GARBAGE = 0xA5, GUARD = 0x5C, GONE = 0xDD };

typedef struct head {
    void *raw;
    size_t size;
} head;

static void *allocate(void *user, size_t size) {
    failing_allocator *f = user;
    f->made++;
    f->largest = size > f->largest ? size : f->largest;
    if (f->until_failure > 0 && --f->until_failure == 0) {
        f->reached = true;
        return NULL;
    }
    if (size > f->limit)
        return NULL;
    char *raw = malloc(size + 3 * SIDE);
    if (!raw)
        return NULL;
    char *memory = raw + SIDE + (SIDE - (uintptr_t)raw % SIDE) % SIDE;
    head h = {raw, size};
    memcpy(memory - sizeof h, &h, sizeof h);
    memset(memory, GARBAGE, size);
    memset(memory + size, GUARD, SIDE);
    f->live++;
    return memory;
}

static void release(void *user, void *memory, size_t size) {
    failing_allocator *f = user;
    assert_non_null(memory);
    head h;
    memcpy(&h, (char *)memory - sizeof h, sizeof h);
    if (h.size != size)
        fail_msg("%zu bytes were asked for, and %zu given back", h.size, size);
    for (size_t i = 0; i < SIDE; i++)
        if (((unsigned char *)memory)[size + i] != GUARD)
            fail_msg("byte %zu behind the %zu that were asked for was written", i, size);
    memset(memory, GONE, size);
    f->live--;
    free(h.raw);
}

void failing_allocator_open(failing_allocator *f) {
    *f = (failing_allocator){.allocator = {allocate, release, f}, .limit = 1000000000};
}

void failing_allocator_arm(failing_allocator *f, int n) {
    f->until_failure = n;
    f->reached = false;
    f->made = 0;
    f->largest = 0;
}

void failing_allocator_close(failing_allocator *f) {
    if (f->live != 0)
        fail_msg("%d allocations were never given back", f->live);
}

int failing_allocator_sweep(ex_result (*attempt)(void *context, const ex_allocator *allocator), void *context) {
    failing_allocator f;
    failing_allocator_open(&f);
    for (int n = 1;; n = fail_alloc_next(n)) {
        failing_allocator_arm(&f, n);
        ex_result result = attempt(context, &f.allocator);
        failing_allocator_close(&f);
        if (!f.reached) {
            assert_int_equal(result, EX_OK);
            return f.made;
        }
        if (result != EX_ERROR_MEMORY)
            fail_msg("allocation %d failed, and the result was %d", n, (int)result);
    }
}
