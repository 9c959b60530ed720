/*
 * Layout of a rig: one block with a head and tables at byte offsets, without pointers. A table that the rig does not
 * have has the offset of an empty table; a missing part has offset 0. Parts (weighers, skeleton, skin, stencils,
 * normals, tangents) are the blocks of their own rooms, copied unchanged. Forms come last, except for a driver.
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

/* Maximum number of layers, axes, examples or notes: keeps the directory of a pack below 4 GB. */
#define EXI_TABLE_MAX 10000000

/* Maximum width and height of a texture in pixels. */
#define EXI_TEXTURE_MAX 32768

enum { EXI_RIG_SEAMS = 1, EXI_RIG_TEXCOORDS = 2, EXI_RIG_NORMALS = 4 };

/* Counts that determine the size of every table; the same in memory and in the pack. New ones go last: an older file
 * has fewer, and those it lacks are 0. */
typedef struct exi_rig_counts {
    int32_t vertices, splits, faces, corners, triangles;
    int32_t layers, inputs, axes, examples, notes;
    uint32_t flags;
    uint32_t string_size;
    int32_t forms;         /* examples that are forms: those of layers of that domain, in order */
    int32_t joints;        /* 0: no skeleton */
    int32_t skin_sets;     /* sets of four influences; 0: no skin */
    int32_t skinning;      /* ex_skinning */
    int32_t shifts;        /* examples that bring joint positions */
    int32_t textures;      /* names of textures */
    int32_t levels;        /* refined levels */
    int32_t level;         /* default level */
    int32_t refinement;    /* EXI_REFINED_… */
    int32_t offsets;       /* examples that are offsets */
    int32_t trajectories;  /* examples that are trajectories */
    int32_t drivers;       /* 1: the rig has a driver */
    int32_t driver_keys;   /* examples that have a form of the driver */
    int32_t displacements; /* examples that are displacements */
} exi_rig_counts;

/* Refinement besides the levels. REFINED without stencils: the levels were left out. */
enum { EXI_REFINED = 1, EXI_REFINED_LIMIT = 2 };

typedef struct exi_layer_record {
    uint32_t name;
    int32_t axis_count, example_count, first_axis, first_example;
    int32_t domain;
    int32_t first_form;             /* forms: index of its first example among the forms */
    int32_t texture;                /* pixels: its texture; else -1 */
    uint32_t flags;                 /* EXI_LAYER_… */
    int32_t frame;                  /* offsets: ex_offset_frame */
    int32_t first_weight;           /* offsets: index of its first weight; 0 in a file */
    int32_t weight_count;           /* offsets: one per example, or one per set and example in it; 0 in a file */
    uint64_t weigher, weigher_size; /* offset in the rig, bytes */
} exi_layer_record;

/* Offsets of the joints in an example. */
typedef struct exi_shift_record {
    int32_t example; /* among all; ascending */
    int32_t reserved;
    uint64_t data; /* [joints][3] float: offset in the rig */
} exi_shift_record;

/* Number of vertices that an example of an offset layer moves, and of their split vertices. */
typedef struct exi_offset_count {
    uint32_t vertices, splits;
} exi_offset_count;

typedef struct exi_texture_record {
    uint32_t name;
    int32_t width, height, srgb;
} exi_texture_record;

/* Faces of a refined level: sizes, and offsets of its tables. */
typedef struct exi_level_record {
    int32_t vertices, splits, faces, corners, triangles;
    uint32_t flags;
    uint64_t sources, face_sizes, corner_splits, triangle_splits, texcoords; /* offsets in the rig */
    uint64_t normals, tangents;                                              /* parts; 0 if left out */
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
    int32_t weights;           /* of all offset layers */
    int32_t most_weights;      /* largest of one offset layer */
    int32_t path_layers;       /* trajectory layers */
    int32_t segments;          /* of all trajectory layers */
    int32_t most_segments;     /* largest of one trajectory layer */
    int32_t displaced_layers;  /* displacement layers; 0 if the levels are left out */
    uint32_t domains;          /* bit d is set if there are layers of domain d */
    uint32_t reserved;
    ex_rig_refinement refinement; /* also if the levels are left out */
    uint64_t mixing;              /* bytes of the rooms of all mixtures (shape/mixture.h) */
    uint64_t strings;             /* [string_size] bytes, zero-terminated strings */
    uint64_t inputs;              /* [inputs] exi_input_record */
    uint64_t layers;              /* [layers] exi_layer_record */
    uint64_t axis_inputs;         /* [axes] int32_t */
    uint64_t example_names;       /* [examples] uint32_t into strings */
    uint64_t joint_names;         /* [joints] uint32_t into strings; the skeleton has them too */
    uint64_t shifts;              /* [shifts] exi_shift_record */
    uint64_t textures;            /* [textures] exi_texture_record */
    uint64_t images;              /* [examples] uint64_t: offset of each example's image; 0 for forms */
    uint64_t weight_examples;     /* [weights] uint32_t: example of its layer that each weight belongs to */
    uint64_t offset_counts;       /* [examples] exi_offset_count */
    uint64_t parts;               /* [layers] uint64_t: offset of the block of a layer's domain; 0: none */
    uint64_t levels;              /* [levels + 1] exi_level_record; 0 is the mesh itself */
    uint64_t normals;             /* [splits][3] float, at rest */
    uint64_t notes;               /* [notes] exi_note_record */
    uint64_t skeleton;            /* parts; 0 if there is none */
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
/* Returns a part, or NULL if the rig does not have it. */
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

/* Returns the block that a layer's domain made for it, or NULL. */
static inline const void *exi_rig_layer_part(const ex_rig *rig, int layer) {
    return exi_rig_part(rig, ((const uint64_t *)exi_rig_at(rig, rig->parts))[layer]);
}

/* Return the trajectories of a layer (domains/domain_trajectory.c) and its displacements
 * (domains/domain_displacement.c); NULL if it has none. */
const exi_trajectories *exi_rig_trajectories_of(const ex_rig *rig, int layer);
const exi_displacements *exi_rig_displacements_of(const ex_rig *rig, int layer);

/* Returns the size of another room's block that goes into a rig; every such block starts with its size. NULL: 0. */
static inline size_t exi_part_size(const void *block) {
    return block ? (size_t) * (const uint64_t *)block : 0;
}

/* Returns the first split vertex of a vertex, and their number. */
uint32_t exi_rig_splits(const ex_rig *rig, uint32_t vertex, uint32_t *count);

/* True if there is such a layer, or such an example of it; otherwise reports misuse of `function`. */
bool exi_rig_has_layer(const ex_rig *rig, int layer, const char *function);
bool exi_rig_has_example(const ex_rig *rig, int layer, int example, const char *function);

#endif
