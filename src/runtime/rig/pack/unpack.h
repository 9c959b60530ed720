/*
 * Steps of unpacking; private to the room. First the framing and the directory are checked, then every section is taken
 * in order, and only then is memory allocated: by that time, all counts are backed by bytes of the file.
 */
#ifndef EXI_UNPACK_H
#define EXI_UNPACK_H

#include "runtime/rig/make.h"
#include "runtime/rig/pack/pack.h"

struct exi_unpack {
    const char *pack; /* aligned to 4 */
    exi_pack_header header;
    exi_rig_counts counts; /* as the file has them */
    uint32_t next;         /* sections taken so far */
    uint64_t end;          /* end of the last section: sections follow each other, and no byte is used twice */
    uint32_t first[EX_SECTION_KIND_COUNT]; /* the first section of each kind */
    uint32_t count[EX_SECTION_KIND_COUNT]; /* number of sections taken of each kind */
};

/* Errors: the file is incomplete; one of its tables contradicts others. */
ex_result exi_unpack_damaged(ex_error *error, const char *what);
ex_result exi_unpack_unsound(ex_error *error, const char *what);
extern const char exi_unpack_rearranged[];

/* unpack_frame.c: finds the pack in the bytes, and checks header and directory. */
ex_result exi_unpack_open(const char *bytes, size_t size, const ex_allocator *allocator, exi_unpack *u,
                          ex_error *error);

/* unpack_sections.c: takes every section; checks the counts, the layers' records and all sizes. */
ex_result exi_unpack_take_all(exi_unpack *u, ex_error *error);
/* Takes the next section of the directory, with that kind, index and size (exi_unpack_take_least: at least that size).
 * Returns false, with an error, if it is a different section. */
bool exi_unpack_take(exi_unpack *u, ex_section_kind kind, int index, uint64_t size, ex_error *error);
bool exi_unpack_take_least(exi_unpack *u, ex_section_kind kind, int index, uint64_t least, ex_error *error);
/* Returns the bytes of the n-th section of a kind that was taken; NULL if there is none. */
const char *exi_unpack_section(const exi_unpack *u, ex_section_kind kind, int n, exi_pack_entry *entry);
/* The same by index, for a kind whose sections have ascending indices. */
const char *exi_unpack_find(const exi_unpack *u, ex_section_kind kind, int index, exi_pack_entry *entry);
/* Copies of records, which need not be aligned in the file. */
exi_layer_record exi_unpack_layer(const exi_unpack *u, int layer);
exi_pack_joint exi_unpack_joint(const exi_unpack *u, int joint);
exi_texture_record exi_unpack_texture(const exi_unpack *u, int texture);
/* Counts and flags of a level; 0 is the mesh. */
exi_level_record exi_unpack_level(const exi_unpack *u, int level);

/* unpack_parts.c: skeleton, skin and stencils; NULL if the file has none. gather: the first split vertex of every
 * vertex, or NULL. */
ex_result exi_unpack_skeleton(const exi_unpack *u, const ex_allocator *allocator, ex_skeleton **skeleton,
                              ex_error *error);
ex_result exi_unpack_skin(const exi_unpack *u, const uint32_t *gather, const ex_allocator *allocator, ex_skin **skin,
                          ex_error *error);
/* Describes the levels by their records and the heads of their stencils. */
ex_rig_refinement exi_unpack_refinement(const exi_unpack *u);
ex_result exi_unpack_stencils(const exi_unpack *u, const ex_allocator *allocator, ex_stencils **stencils,
                              ex_error *error);

/* unpack_check.c: checks names, inputs, layers with their weighers, shifts and textures of a rig whose records are
 * filled. */
ex_result exi_unpack_check(exi_making *making, const ex_rig *rig, ex_error *error);

#endif
