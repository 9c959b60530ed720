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
    int32_t frame;        /* offsets: ex_frame */
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
    char kind[EX_NOTE_KIND_SIZE];
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
    uint64_t strings;          /* [string_size] bytes, each string ends with 0 */
    uint64_t inputs;           /* [inputs] exi_input_record */
    uint64_t layers;           /* [layers] exi_layer_record */
    uint64_t axis_inputs;      /* [axes] int32_t */
    uint64_t example_names;    /* [examples] uint32_t into strings */
    uint64_t joint_names;      /* [joints] uint32_t into strings; they stand in the skeleton too */
    uint64_t shifts;           /* [shifts] exi_shift_record */
    uint64_t textures;         /* [textures] exi_texture_record */
    uint64_t images;           /* [examples] uint64_t: where an example's image stands; 0 for forms */
    uint64_t weight_examples;  /* [weights] uint32_t: which of its layer's examples a weight belongs to */
    uint64_t offset_counts;    /* [examples] exi_offset_count */
    uint64_t paths;            /* [layers] uint64_t: where a layer's exi_paths stand; 0 for others */
    uint64_t displacements;    /* [layers] uint64_t: where a layer's exi_displacements stand; 0 for others */
    uint64_t levels;           /* [levels + 1] exi_level_record; 0 is the mesh itself */
    uint64_t normals;          /* [splits][3] float, at rest */
    uint64_t notes;            /* [notes] exi_note_record */
    uint64_t skeleton;         /* parts; 0 where there is none */
    uint64_t skin;
    uint64_t stencils;
    uint64_t patches[EX_FRAME_COUNT]; /* exi_patches */
    uint64_t forms;                   /* ex_forms: the examples that are forms, then those of trajectories */
    uint64_t drive;                   /* exi_drive (drive.h) */
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

/* The trajectories of a layer; NULL where it has none. */
static inline const exi_paths *exi_rig_paths_of(const ex_rig *rig, int layer) {
    const uint64_t *paths = exi_rig_at(rig, rig->paths);
    return rig->counts.trajectories > 0 ? exi_rig_part(rig, paths[layer]) : NULL;
}

/* Whether a layer's examples are whole forms: they have targets, and may bring joints. */
static inline bool exi_has_targets(int32_t domain) {
    return domain == EX_DOMAIN_FORM || domain == EX_DOMAIN_TRAJECTORY;
}
static inline int exi_image_count(const exi_rig_counts *c) {
    return c->examples - c->forms - c->offsets - c->trajectories - c->displacements;
}

/* A block of another room that goes into a rig; every such block starts with its size. NULL: none. */
static inline size_t exi_part_size(const void *block) {
    return block ? (size_t) * (const uint64_t *)block : 0;
}

/*
 * What a rig is made of, as creation and unpacking gather it. Sizes of everything that is not in the counts; the parts
 * are copied in by exi_rig_allocate, tables are left zero for the caller.
 */
typedef struct exi_rig_contents {
    exi_rig_counts counts;
    ex_storage storage;
    const ex_weigher *const *weighers; /* [layers]; NULL: only room for them is made */
    const size_t *weigher_sizes;       /* [layers] */
    const size_t *note_sizes;          /* [notes] */
    const size_t *image_sizes;         /* [examples], 0 for forms; or NULL: no images */
    const exi_level_record *levels;    /* [levels + 1]: counts and flags; the mesh first */
    const ex_normals *const *normals;  /* [levels + 1], each may be NULL */
    const ex_tangents *const *tangents;
    const ex_skeleton *skeleton;
    const ex_skin *skin;
    const ex_stencils *stencils;
    const exi_patches *patches[EX_FRAME_COUNT]; /* each may be NULL */
    int weights;
    const exi_paths *const *paths;                 /* [layers], each may be NULL; or NULL */
    int path_forms;                                /* of all of them */
    const exi_displacements *const *displacements; /* [layers], each may be NULL; or NULL */
} exi_rig_contents;

/*
 * The offsets of all layers on their way into a rig (offsets.c). The caller makes the layers, from a definition or from
 * a file; first_weight is set here.
 */
typedef struct exi_rig_offsets {
    exi_offset_layer *layers; /* [layer_count]; example_count is 0 for layers of other domains */
    exi_incidence *sets;      /* [layer_count] */
    int layer_count, weights;
    int at;         /* the layer that was looked at last */
    uint32_t *bits; /* the largest layer's sets, as a weigher has them; or NULL */
    size_t bits_size;
    exi_patches *patches[EX_FRAME_COUNT];
    void *entries; /* of layers from a file; or NULL */
    size_t entries_size;
    const ex_allocator *allocator;
    void *memory;
    size_t size;
} exi_rig_offsets;

/* Room for the layers; then, when they are filled in, the sets; then the patches. Close also after failure. */
ex_result exi_rig_offsets_open(exi_rig_offsets *offsets, int layer_count, const ex_allocator *allocator,
                               ex_error *error);
ex_result exi_rig_offsets_find_sets(exi_rig_offsets *offsets, int mesh_count, ex_error *error);
ex_result exi_rig_offsets_lay(exi_rig_offsets *offsets, int mesh_count, ex_error *error);
void exi_rig_offsets_close(exi_rig_offsets *offsets);
/* The sets of a layer as ex_weigher_def has them; until the next call. */
const uint32_t *exi_rig_offsets_bits(exi_rig_offsets *offsets, int layer);
/* Writes what follows from them into a rig whose layers and mesh are filled in. */
void exi_rig_offsets_fill(const exi_rig_offsets *offsets, ex_rig *rig);

/*
 * The trajectories of all layers on their way into a rig (paths.c). Their forms stand behind all others.
 */
typedef struct exi_rig_paths {
    exi_paths **layers; /* [layer_count], NULL for layers of other domains */
    int layer_count, form_count;
    void *room; /* exi_paths_room_size; or NULL where there are none */
    size_t room_size;
    ex_trajectory *entries; /* [trajectories] of a file; or NULL */
    size_t entries_size;
    const ex_allocator *allocator;
    void *memory;
    size_t size;
} exi_rig_paths;

/* Opens without any; then layer after layer. Close also after failure. */
ex_result exi_rig_paths_open(exi_rig_paths *paths, const exi_rig_counts *counts, const ex_allocator *allocator,
                             ex_error *error);
ex_result exi_rig_paths_add(exi_rig_paths *paths, int layer, const exi_paths_def *def, int first_form, ex_error *error);
void exi_rig_paths_close(exi_rig_paths *paths);
/* Sets what evaluation asks of all layers together. */
void exi_rig_paths_measure(ex_rig *rig);

/*
 * The displacements of all layers on their way into a rig (rig_displacements.c).
 */
typedef struct exi_rig_displacements {
    exi_displacements **layers; /* [layer_count], NULL for layers of other domains; or NULL */
    int layer_count;
    const ex_allocator *allocator;
    size_t size;
} exi_rig_displacements;

/* Opens without any; then layer after layer. Close also after failure. */
ex_result exi_rig_displacements_open(exi_rig_displacements *displacements, const exi_rig_counts *counts,
                                     const ex_allocator *allocator, ex_error *error);
ex_result exi_rig_displacements_add(exi_rig_displacements *displacements, int layer, const ex_layer_def *from,
                                    int vertex_count, ex_storage storage, ex_error *error);
void exi_rig_displacements_close(exi_rig_displacements *displacements);
/* Sets displaced_layers. */
void exi_rig_displacements_measure(ex_rig *rig);
/* The displacements of a layer; NULL where it has none. */
const exi_displacements *exi_rig_displacements_of(const ex_rig *rig, int layer);

/* Every vertex that an example of a layer of offsets moves, ascending. */
void exi_rig_visit_offsets(const ex_rig *rig, int layer, int example, exi_offset_visit visit, void *context);

/* The split vertices of a vertex: the first, and how many. */
uint32_t exi_rig_splits(const ex_rig *rig, uint32_t vertex, uint32_t *count);

/*
 * Makes the block. It is zero but for its head, the forms' head, the parts, and all offsets and sizes in the records of
 * layers, notes, shifts, images and levels (whose counts are set too).
 */
ex_result exi_rig_allocate(const exi_rig_contents *contents, const ex_allocator *allocator, ex_rig **rig,
                           ex_error *error);

/* Whether an axis can take what a reading gives: a number or a rotation, about a direction that is one. */
bool exi_reading_suits(const ex_reading *reading, const ex_axis *axis);

/* Sets pose_size and largest_dimension when inputs, layers and weighers are in place. */
void exi_rig_measure_pose(ex_rig *rig);

/* What is wrong with the tables of a mesh, in a sentence: indices out of range, sources out of order, numbers not
 * finite. positions are not looked at. */
ex_result exi_rig_check_mesh(const ex_rig_mesh *mesh, ex_error *error);

/* The rig's parts that follow from its meshes: normals and tangents of a level as the options want them, each NULL
 * where it is left out. Release with their own destroy functions. */
ex_result exi_rig_make_frames(const ex_rig_mesh *mesh, const ex_rig_options *options, const ex_allocator *allocator,
                              ex_normals **normals, ex_tangents **tangents, ex_error *error);

#endif
