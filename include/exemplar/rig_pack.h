/*
 * exemplar/rig_pack.h - the packed form of a rig, which is the BIN chunk of a rig file (docs/reference/rig.md).
 *
 * ex_rig_unpack (exemplar/rig.h) reads it.
 */
#ifndef EXEMPLAR_RIG_PACK_H
#define EXEMPLAR_RIG_PACK_H

#include <exemplar/rig.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the size of a rig in its packed form, in bytes. 0 for a rig that cannot be packed: one in 16-bit storage,
 * since files are float, or one made or loaded without its levels. */
EX_API size_t ex_rig_pack_size(const ex_rig *rig);

/* Writes the packed form, which is the BIN chunk of a rig file. bytes is aligned to 8. The same rig gives the same
 * bytes. */
EX_API ex_result ex_rig_pack(const ex_rig *rig, void *bytes, size_t size, ex_error *error);

/* Kinds of section in a pack, for programs that wrap it in a file (docs/reference/rig.md). */
typedef enum ex_section_kind {
    EX_SECTION_COUNTS = 1,
    EX_SECTION_STRINGS,
    EX_SECTION_INPUTS,
    EX_SECTION_LAYERS,
    EX_SECTION_AXES,     /* input that each axis of each layer reads */
    EX_SECTION_EXAMPLES, /* names of examples */
    EX_SECTION_WEIGHER,  /* index: layer */
    EX_SECTION_JOINTS,   /* names, parents, rest transforms */
    EX_SECTION_SHIFTS,   /* index: example among all; joints */
    EX_SECTION_TEXTURES, /* names and sizes */
    EX_SECTION_IMAGE,    /* index: example among all; rows of red green blue alpha */
    EX_SECTION_LEVELS,   /* counts of every level */
    EX_SECTION_STENCILS, /* index: level, or level_count + 1 for the limit */
    EX_SECTION_SOURCES,  /* split_source; index: level, also for FACES and CORNERS */
    EX_SECTION_FACES,
    EX_SECTION_CORNERS,
    EX_SECTION_NOTE,      /* index: note */
    EX_SECTION_TRIANGLES, /* index: level */
    EX_SECTION_POSITIONS, /* split vertices */
    EX_SECTION_TEXCOORDS, /* index: level */
    EX_SECTION_NORMALS,
    EX_SECTION_INVERSE_BINDS, /* joints; 16 numbers, column after column, as in glTF */
    EX_SECTION_SKIN_JOINTS,   /* index: set of four influences; split vertices, 4 x uint16_t */
    EX_SECTION_SKIN_WEIGHTS,  /* the same, 4 x float */
    EX_SECTION_TARGET,        /* index: example among all; split vertices */
    EX_SECTION_OFFSET_PLACES, /* index: example among all; split vertices that move, ascending, uint32_t */
    EX_SECTION_OFFSET_VALUES, /* the same, 3 x float */
    EX_SECTION_TRAJECTORIES,  /* index: layer; reference, counts, centre, overlaps, segments, curves, screws, bases */
    EX_SECTION_TURNS,         /* index: example among all; vertices, 3 x float */
    EX_SECTION_CORRECTORS,    /* index: example among all; corrector after corrector; vertices, 3 x float */
    EX_SECTION_MASK,          /* index: layer; vertices, float */
    EX_SECTION_DRIVER,        /* counts, reference, frames, influences, triangles, settling */
    EX_SECTION_REGIONS,    /* index: layer; views, influences; then its mixture's numbers for the driver's vertices */
    EX_SECTION_DRIVER_KEY, /* index: example among all; the driver's vertices, 3 x float; then joints; then its
                              trajectory's numbers for them */
    EX_SECTION_DISPLACED,  /* index: layer; refined vertices that are displaced, ascending, uint32_t */
    EX_SECTION_DISPLACEMENTS, /* index: example among all; one float per displaced vertex */
    EX_SECTION_MIXTURE,       /* index: layer; nodes, edges, terms, curves, shares of the vertices, correctors */
    EX_SECTION_KIND_COUNT
} ex_section_kind;

/* A section of a pack: its kind and its place. */
typedef struct ex_section {
    ex_section_kind kind;
    int index;
    size_t offset; /* from the start of the pack */
    size_t size;
} ex_section;

/* Returns the bytes of header and directory at the start of a pack made by ex_rig_pack. */
EX_API size_t ex_pack_header_size(const void *pack);
/* Return the number of sections, and one of them. */
EX_API int ex_pack_section_count(const void *pack);
EX_API ex_section ex_pack_section(const void *pack, int section);

#ifdef __cplusplus
}
#endif
#endif
