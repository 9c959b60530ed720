/*
 * Memory: checked sizes, the allocator hook, and blocks. A runtime object is one block without pointers, preceded by
 * the allocator it came from. Also the serial default of the task hook.
 */
#ifndef EXI_MEMORY_H
#define EXI_MEMORY_H

#include <exemplar/base.h>

/* Alignment of objects, and of the tables in them that kernels stream through. */
#define EXI_ALIGN 64

/* A size that remembers if any step of its computation overflowed. */
typedef struct exi_size {
    size_t bytes;
    bool overflow;
} exi_size;

/* Appends count * size bytes, aligned, and returns their offset. */
size_t exi_size_add(exi_size *total, size_t count, size_t size, size_t align);

/* Computes a * b; returns false if the product does not fit. */
bool exi_multiply(size_t a, size_t b, size_t *product);

/* Allocates scratch memory. allocator may be NULL. Returns NULL if there is no memory; size 0 gives memory too. */
void *exi_allocate(const ex_allocator *allocator, size_t size);
void exi_release(const ex_allocator *allocator, void *memory, size_t size);

/* Creates and destroys a zeroed block of `size` bytes, aligned to EXI_ALIGN, that remembers its allocator. */
void *exi_block_create(const ex_allocator *allocator, size_t size);
void exi_block_destroy(void *block);

void exi_run(const ex_tasks *tasks, int count, int grain, ex_task_body body, void *context);

#endif
