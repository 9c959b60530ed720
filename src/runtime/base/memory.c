/*
 * The allocator hook with malloc as its default, and blocks.
 */
#include "runtime/base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

bool exi_multiply(size_t a, size_t b, size_t *product) {
    if (b != 0 && a > SIZE_MAX / b)
        return false;
    *product = a * b;
    return true;
}

size_t exi_size_add(exi_size *total, size_t count, size_t size, size_t align) {
    size_t start = (total->bytes + align - 1) / align * align;
    size_t bytes = 0;
    if (start < total->bytes || !exi_multiply(count, size, &bytes) || start + bytes < start)
        total->overflow = true;
    else
        total->bytes = start + bytes;
    return start;
}

/* malloc guarantees 16 bytes; its original pointer is stored just before the aligned memory. */
static void *default_allocate(void *user, size_t size) {
    (void)user;
    if (size > SIZE_MAX - 2 * EXI_ALIGN)
        return NULL;
    char *raw = malloc(size + 2 * EXI_ALIGN);
    if (!raw)
        return NULL;
    char *aligned = raw + EXI_ALIGN + (EXI_ALIGN - (uintptr_t)raw % EXI_ALIGN) % EXI_ALIGN;
    memcpy(aligned - sizeof raw, &raw, sizeof raw);
    return aligned;
}

static void default_release(void *user, void *memory, size_t size) {
    (void)user;
    (void)size;
    char *raw = NULL;
    memcpy(&raw, (char *)memory - sizeof raw, sizeof raw);
    free(raw);
}

static const ex_allocator default_allocator = {default_allocate, default_release, NULL};

void *exi_allocate(const ex_allocator *allocator, size_t size) {
    const ex_allocator *a = allocator ? allocator : &default_allocator;
    return a->allocate(a->user, size ? size : 1);
}

void exi_release(const ex_allocator *allocator, void *memory, size_t size) {
    const ex_allocator *a = allocator ? allocator : &default_allocator;
    if (memory)
        a->release(a->user, memory, size ? size : 1);
}

/* Stored in the EXI_ALIGN bytes before a block. */
typedef struct block_head {
    ex_allocator allocator;
    size_t size;
} block_head;

void *exi_block_create(const ex_allocator *allocator, size_t size) {
    const ex_allocator *a = allocator ? allocator : &default_allocator;
    if (size > SIZE_MAX - EXI_ALIGN)
        return NULL;
    char *memory = a->allocate(a->user, size + EXI_ALIGN);
    if (!memory)
        return NULL;
    block_head head = {.allocator = *a, .size = size + EXI_ALIGN};
    memset(memory, 0, size + EXI_ALIGN);
    memcpy(memory, &head, sizeof head);
    return memory + EXI_ALIGN;
}

void exi_block_destroy(void *block) {
    if (!block)
        return;
    char *memory = (char *)block - EXI_ALIGN;
    block_head head;
    memcpy(&head, memory, sizeof head);
    head.allocator.release(head.allocator.user, memory, head.size);
}

void exi_run(const ex_tasks *tasks, int count, int grain, ex_task_body body, void *context) {
    if (count <= 0)
        return;
    if (tasks && tasks->run && count > grain)
        tasks->run(tasks->user, count, grain, body, context);
    else
        body(context, 0, count);
}
