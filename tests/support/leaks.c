/*
 * Live allocations, see leaks.h: a set of addresses by open addressing. A removed entry leaves a mark, which the next
 * growth drops.
 */
#include "support/leaks.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

/* Provided by the linker; the set must not note its own memory. */
void *__real_calloc(size_t count, size_t size);
void __real_free(void *memory);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uintptr_t *slots;
static size_t slot_count, used, live; /* used: entries and marks */
static const uintptr_t removed = 1;   /* no address */

/* Returns the entry's place, or the empty one where the search ends. */
static size_t find(uintptr_t address) {
    size_t at = (size_t)((uint64_t)address * 0x9E3779B97F4A7C15u >> 20) & (slot_count - 1);
    while (slots[at] != 0 && slots[at] != address)
        at = (at + 1) & (slot_count - 1);
    return at;
}

static void grow(void) {
    uintptr_t *old = slots;
    const size_t old_count = slot_count;
    while (slot_count < 4 * (live + 256))
        slot_count = slot_count ? 2 * slot_count : 1024;
    slots = __real_calloc(slot_count, sizeof *slots);
    if (!slots)
        abort();
    for (size_t i = 0; i < old_count; i++)
        if (old[i] > removed)
            slots[find(old[i])] = old[i];
    used = live;
    __real_free(old);
}

void leaks_note(void *memory) {
    if (!memory)
        return;
    pthread_mutex_lock(&lock);
    if (2 * (used + 1) > slot_count)
        grow();
    slots[find((uintptr_t)memory)] = (uintptr_t)memory;
    used++;
    live++;
    pthread_mutex_unlock(&lock);
}

void leaks_forget(const void *memory) {
    if (!memory)
        return;
    pthread_mutex_lock(&lock);
    const size_t at = slot_count > 0 ? find((uintptr_t)memory) : 0;
    if (slot_count > 0 && slots[at] == (uintptr_t)memory) {
        slots[at] = removed;
        live--;
    }
    pthread_mutex_unlock(&lock);
}

size_t leaks_count(void) {
    pthread_mutex_lock(&lock);
    const size_t count = live;
    pthread_mutex_unlock(&lock);
    return count;
}
