/*
 * Memory: checked sizes, the allocator hook, and blocks: a runtime object is one block without pointers, with the
 * allocator it came from remembered in front of it. Also the task hook's serial default.
 */
#ifndef EXI_MEMORY_H
#define EXI_MEMORY_H

#include <exemplar/base.h>

/* Objects start at multiples of this, and so do the tables in them that kernels stream through. */
#define EXI_ALIGN 64

/* A size that remembers whether any step of its making overflowed. */
typedef struct exi_size {
    size_t bytes;
    bool overflow;
} exi_size;

/* Adds count * size bytes behind what is there, aligned; returns the offset at which they start. */
size_t exi_size_add(exi_size *total, size_t count, size_t size, size_t align);

/* a * b, or false where the product does not fit. */
bool exi_multiply(size_t a, size_t b, size_t *product);

/* Scratch memory. allocator may be NULL. NULL without memory; size 0 gives memory too. */
void *exi_allocate(const ex_allocator *allocator, size_t size);
void exi_release(const ex_allocator *allocator, void *memory, size_t size);

/* A zeroed block of `size` bytes aligned to EXI_ALIGN that remembers its allocator; and its end. */
void *exi_block_create(const ex_allocator *allocator, size_t size);
void exi_block_destroy(void *block);

void exi_run(const ex_tasks *tasks, int count, int grain, ex_task_body body, void *context);

#endif
