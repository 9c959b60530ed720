/*
 * A list of blocks. A project has a few hundred pieces, so tighter packing would gain nothing.
 */
#include "author/base/arena.h"

#include "runtime/base/memory.h"

#include <stdlib.h>
#include <string.h>

typedef struct exi_arena_block {
    struct exi_arena_block *next;
    double data[]; /* aligned for everything a project holds */
} exi_arena_block;

void *exi_arena_allocate(exi_arena *arena, size_t count, size_t size) {
    size_t bytes = 0;
    if (!exi_multiply(count, size, &bytes) || bytes > (size_t)-1 - sizeof(exi_arena_block))
        return NULL;
    exi_arena_block *block = calloc(1, sizeof *block + bytes);
    if (!block)
        return NULL;
    block->next = arena->blocks;
    arena->blocks = block;
    return block->data;
}

char *exi_arena_text(exi_arena *arena, const char *text) {
    size_t size = strlen(text) + 1;
    char *copy = exi_arena_allocate(arena, size, 1);
    return copy ? memcpy(copy, text, size) : NULL;
}

void exi_arena_free(exi_arena *arena) {
    while (arena->blocks) {
        exi_arena_block *block = arena->blocks;
        arena->blocks = block->next;
        free(block);
    }
}
