/*
 * arena.h - memory that is released all at once, as for a parsed project. Private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_BASE_ARENA_H
#define EXEMPLAR_AUTHOR_BASE_ARENA_H

#include <stddef.h>

typedef struct exi_arena {
    struct exi_arena_block *blocks;
} exi_arena;

/* Returns count * size bytes, zeroed; NULL without memory. */
void *exi_arena_allocate(exi_arena *arena, size_t count, size_t size);
char *exi_arena_text(exi_arena *arena, const char *text);
void exi_arena_free(exi_arena *arena);

#endif
