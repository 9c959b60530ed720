/*
 * The inside of a rig: one block, a head and tables behind it at byte offsets, no pointers. Offsets of tables that a
 * rig does not have are those of an empty table; of parts that it does not have, 0. Parts (weighers, skeleton, skin,
 * stencils, normals, tangents) are the blocks of their own rooms, copied as they are. Forms stand last, but for a
 * driver.
 */
#ifndef EXI_RIG_H
#define EXI_RIG_H

#include "runtime/rig/pack/records.h"
#include "runtime/shape/displacements.h"
#include "runtime/shape/forms.h"
#include "runtime/shape/patches.h"
#include "runtime/shape/trajectory.h"
#include "runtime/weigh/weigher.h"

#include <exemplar/rig_inspect.h>
#include <exemplar/rig_pack.h>

typedef struct exi_drive exi_drive;

/* The most layers, axes, examples or notes: the directory of a pack then stays below 4 GB. */
#define EXI_TABLE_MAX 10000000

/* The most pixels along a side of a texture. */
#define EXI_TEXTURE_MAX 32768

enum { EXI_RIG_SEAMS = 1, EXI_RIG_TEXCOORDS = 2, EXI_RIG_NORMALS = 4 };

/* The numbers that size every table; the same in memory and in the pack. New ones go to the end: a file that is older
 * has fewer, and those it lacks are 0. */
typedef struct exi_rig_counts {
    int32_t vertices, splits, faces, corners, triangles;
    int32_t layers, inputs, axes, examples, notes;
    uint32_t flags;
    uint32_t string_size;
    int32_t forms;         /* examples that are forms: those of layers of that domain, in their order */
    int32_t joints;        /* 0: no skeleton */
    int32_t skin_sets;     /* sets of four influences; 0: no skin */
    int32_t skinning;      /* ex_skinning */
    int32_t shifts;        /* examples that bring joint positions */
    int32_t textures;      /* names of textures */
    int32_t levels;        /* refined levels */
    int32_t level;         /* shown unless asked otherwise */
    int32_t refinement;    /* EXI_REFINED_… */
    int32_t offsets;       /* examples that are offsets */
    int32_t trajectories;  /* examples that are trajectories */
    int32_t drivers;       /* 1: it has a driver */
    int32_t driver_keys;   /* examples that have one's form */
    int32_t displacements; /* examples that are displacements */
} exi_rig_counts;

/* What there is of refinement beyond the levels. REFINED without stencils: the levels were left out. */
enum { EXI_REFINED = 1, EXI_REFINED_LIMIT = 2 };

typedef struct exi_layer_record {
    uint32_t name;
    int32_t axis_count, example_count, first_axis, first_example;
    int32_t domain;
    int32_t first_form;   /* forms: the number of its first example among the forms */
    int32_t texture;      /* pixels: which; else -1 */
    uint32_t flags;       /* EXI_LAYER_… */
    int32_t frame;        /* offsets: ex_offset_frame */
    int32_t first_weight; /* offsets: the number of its first weight; 0 in a file */
    int32_t weight_count; /* offsets: one for every example, or for every set and example of it; 0 in a file */
    uint64_t weigher, weigher_size; /* offset in the rig, bytes */
} exi_layer_record;

/* By how much joints are elsewhere in an example. */
typedef struct exi_shift_record {
    int32_t example; /* among all; ascending */
    int32_t reserved;
    uint64_t data; /* [joints][3] float: offset in the rig */
} exi_shift_record;

/* Vertices that an example of a layer of offsets moves, and the split vertices that they are. */
typedef struct exi_offset_count {
    uint32_t vertices, splits;
} exi_offset_count;

typedef struct exi_texture_record {
    uint32_t name;
    int32_t width, height, srgb;
} exi_texture_record;

/* The faces of a refined level: sizes, and where its tables stand. */
typedef struct exi_level_record {
    int32_t vertices, splits, faces, corners, triangles;
    uint32_t flags;
    uint64_t sources, face_sizes, corner_splits, triangle_splits, texcoords; /* offsets in the rig */
    uint64_t normals, tangents;                                              /* parts; 0 where left out */
} exi_level_record;

typedef struct exi_note_record {
    char kind[EX_ATTACHMENT_KIND_SIZE];
    uint64_t data, size;
} exi_note_record;

struct ex_rig {
    uint64_t size;
    exi_rig_counts counts;
    int32_t pose_size;
    int32_t largest_dimension; /* of a layer's point */
    int32_t weights;           /* of all layers of offsets */
    int32_t most_weights;      /* of one layer of them */
    int32_t path_layers;       /* layers of trajectories */
    int32_t segments;          /* of all of them */
    int32_t most_segments;     /* of one of them */
    int32_t displaced_layers;  /* layers of displacements; 0 where the levels are left out */
    uint32_t domains;          /* bit d: there are layers of domain d */
    uint32_t reserved;
    uint64_t strings;         /* [string_size] bytes, each string ends with 0 */
    uint64_t inputs;          /* [inputs] exi_input_record */
    uint64_t layers;          /* [layers] exi_layer_record */
    uint64_t axis_inputs;     /* [axes] int32_t */
    uint64_t example_names;   /* [examples] uint32_t into strings */
    uint64_t joint_names;     /* [joints] uint32_t into strings; they stand in the skeleton too */
    uint64_t shifts;          /* [shifts] exi_shift_record */
    uint64_t textures;        /* [textures] exi_texture_record */
    uint64_t images;          /* [examples] uint64_t: where an example's image stands; 0 for forms */
    uint64_t weight_examples; /* [weights] uint32_t: which of its layer's examples a weight belongs to */
    uint64_t offset_counts;   /* [examples] exi_offset_count */
    uint64_t parts;           /* [layers] uint64_t: where the block of a layer's domain stands; 0: it has none */
    uint64_t levels;          /* [levels + 1] exi_level_record; 0 is the mesh itself */
    uint64_t normals;         /* [splits][3] float, at rest */
    uint64_t notes;           /* [notes] exi_note_record */
    uint64_t skeleton;        /* parts; 0 where there is none */
    uint64_t skin;
    uint64_t stencils;
    uint64_t patches[EX_OFFSET_FRAME_COUNT]; /* exi_patches */
    uint64_t forms;                          /* ex_forms: the examples that are forms, then those of trajectories */
    uint64_t drive;                          /* exi_drive (drive.h) */
};

static inline const void *exi_rig_at(const ex_rig *rig, uint64_t offset) {
    return (const char *)rig + offset;
}
static inline void *exi_rig_at_mut(ex_rig *rig, uint64_t offset) {
    return (char *)rig + offset;
}
/* A part, or NULL where the rig does not have it. */
static inline const void *exi_rig_part(const ex_rig *rig, uint64_t offset) {
    return offset ? (const char *)rig + offset : NULL;
}
static inline const exi_layer_record *exi_rig_layers(const ex_rig *rig) {
    return exi_rig_at(rig, rig->layers);
}
static inline const exi_input_record *exi_rig_inputs(const ex_rig *rig) {
    return exi_rig_at(rig, rig->inputs);
}
static inline const exi_note_record *exi_rig_notes(const ex_rig *rig) {
    return exi_rig_at(rig, rig->notes);
}
static inline const exi_shift_record *exi_rig_shifts(const ex_rig *rig) {
    return exi_rig_at(rig, rig->shifts);
}
static inline const exi_texture_record *exi_rig_textures(const ex_rig *rig) {
    return exi_rig_at(rig, rig->textures);
}
static inline const exi_level_record *exi_rig_levels(const ex_rig *rig) {
    return exi_rig_at(rig, rig->levels);
}
static inline const char *exi_rig_string(const ex_rig *rig, uint32_t offset) {
    return (const char *)exi_rig_at(rig, rig->strings) + offset;
}
static inline const ex_forms *exi_rig_forms(const ex_rig *rig) {
    return exi_rig_at(rig, rig->forms);
}

/* The block that a layer's domain made for it, or NULL. */
static inline const void *exi_rig_layer_part(const ex_rig *rig, int layer) {
    return exi_rig_part(rig, ((const uint64_t *)exi_rig_at(rig, rig->parts))[layer]);
}

/* The trajectories of a layer (domains/domain_trajectory.c) and its displacements (domains/domain_displacement.c); NULL
 * where it has none. */
const exi_trajectories *exi_rig_trajectories_of(const ex_rig *rig, int layer);
const exi_displacements *exi_rig_displacements_of(const ex_rig *rig, int layer);

/* A block of another room that goes into a rig; every such block starts with its size. NULL: none. */
static inline size_t exi_part_size(const void *block) {
    return block ? (size_t) * (const uint64_t *)block : 0;
}

/* The split vertices of a vertex: the first, and how many. */
uint32_t exi_rig_splits(const ex_rig *rig, uint32_t vertex, uint32_t *count);

/* Whether there is such a layer, or such an example of it; if not, misuse is said of the function. */
bool exi_rig_has_layer(const ex_rig *rig, int layer, const char *function);
bool exi_rig_has_example(const ex_rig *rig, int layer, int example, const char *function);

#endif
