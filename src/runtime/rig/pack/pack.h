/*
 * Header, directory and records of a pack, in the layout of the file (docs/reference/rig.md). No padding,
 * little-endian. Inputs, layers, notes and textures are records of rig.h too; fields that hold offsets in memory are 0
 * in the file.
 */
#ifndef EXI_PACK_H
#define EXI_PACK_H

#include "runtime/rig/rig.h"

#define EXI_PACK_MAGIC "EXEMPLAR"

typedef struct exi_pack_header {
    char magic[8];
    uint32_t format;
    uint32_t header_size; /* header and directory together */
    uint32_t section_count;
    uint32_t reserved;
    uint64_t size;     /* of the whole pack */
    uint64_t checksum; /* of header and directory, with this field 0 */
} exi_pack_header;

typedef struct exi_pack_entry {
    uint32_t kind, index;
    uint64_t offset, size; /* from the start of the pack */
    uint64_t checksum;
} exi_pack_entry;

typedef struct exi_pack_joint {
    uint32_t name; /* into strings */
    int32_t parent;
    ex_transform rest;
} exi_pack_joint;

/* A refined level. */
typedef struct exi_pack_level {
    int32_t vertices, splits, faces, corners, triangles;
    uint32_t flags;
} exi_pack_level;

/* Precedes the rows of a level: offsets [vertex_count + 1] and indices [weight_count] as int32_t, weights
 * [weight_count] and, if it has them, tangents [weight_count][2] as float. */
typedef struct exi_pack_stencils {
    int32_t vertex_count, weight_count;
    uint32_t has_tangents, reserved;
} exi_pack_stencils;

/* A trajectory layer. Followed by its examples; overlaps (float [examples] squared) if it has them; curves of all
 * correctors (float [EX_CURVE_SIZE] each); bases of the examples that have them (float [segments][6] each); parents
 * (int32_t [segments]) and, if there are segments, those of the vertices (uint16_t [vertices]). */
typedef struct exi_pack_trajectories {
    int32_t reference, segments;
    uint32_t flags; /* EXI_PACK_… */
    uint32_t reserved;
    double centre[3];
} exi_pack_trajectories;

enum { EXI_PACK_OVERLAPS = 1, EXI_PACK_MASK = 2, EXI_PACK_MIXTURE = 4 };

typedef struct exi_pack_trajectory {
    ex_screw screw;
    int32_t correctors;
    uint32_t flags; /* EXI_PATHS_TURNS, EXI_PATHS_BASES */
} exi_pack_trajectory;

/* The mixture of a trajectory layer. Followed by places (float [1 + examples][nodes][3]), turns (float
 * [examples][nodes][3]), weights of edges (float [edges]), edges (uint16_t [edges][2]), terms (ex_mixture_term
 * [terms]), curves (float [correctors][terms]), shares (float [vertices][EX_NODE_SHARES]), nodes of the vertices
 * (uint16_t [vertices][EX_NODE_SHARES]), correctors (float [correctors][vertices][3]). */
typedef struct exi_pack_mixture {
    int32_t nodes, edges, terms, correctors;
} exi_pack_mixture;

_Static_assert(sizeof(exi_pack_mixture) == 16, "the file format has no padding");
_Static_assert(sizeof(ex_mixture_term) == 8, "the file format has no padding");
_Static_assert(sizeof(exi_pack_trajectories) == 40, "the file format has no padding");
_Static_assert(sizeof(exi_pack_trajectory) == 56, "the file format has no padding");
_Static_assert(sizeof(exi_pack_header) == 40, "the file format has no padding");
_Static_assert(sizeof(exi_pack_entry) == 32, "the file format has no padding");
_Static_assert(sizeof(exi_rig_counts) == 26 * 4, "the file format has no padding");
_Static_assert(sizeof(exi_input_record) == 16 + 14 * 8 + 5 * 8 + 8, "the file format has no padding");
_Static_assert(sizeof(exi_layer_record) == 64, "the file format has no padding");
_Static_assert(sizeof(exi_note_record) == 32, "the file format has no padding");
_Static_assert(sizeof(exi_texture_record) == 16, "the file format has no padding");
_Static_assert(sizeof(exi_pack_joint) == 48, "the file format has no padding");
_Static_assert(sizeof(exi_pack_level) == 24, "the file format has no padding");
_Static_assert(sizeof(exi_pack_stencils) == 16, "the file format has no padding");
_Static_assert(sizeof(ex_weigher) == 168, "the file format has no padding");

/* pack_parts.c: write the sections of skeleton, skin and stencils. out is zeroed. */
void exi_pack_joints(const ex_rig *rig, void *out);
void exi_pack_inverse_binds(const ex_skeleton *skeleton, float *out);
/* Influences 4 * set to 4 * set + 3 of every split vertex; one of joints and weights is NULL. */
void exi_pack_skin(const ex_rig *rig, int set, uint16_t *joints, float *weights);
/* level as in ex_stencils, EX_LEVEL_LIMIT included. */
uint64_t exi_pack_stencils_size(const ex_stencils *stencils, int level);
void exi_pack_stencil_rows(const ex_stencils *stencils, int level, void *out);

/* pack.c: spreads [vertices][3] to [splits][3], in place. */
void exi_pack_spread(const ex_rig *rig, float *values);

#endif
