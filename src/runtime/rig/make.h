/*
 * A rig under construction, from a definition (create.c) or from a file (pack/unpack.c): data gathered before the size
 * of its block is known. Private to the room.
 */
#ifndef EXI_RIG_MAKE_H
#define EXI_RIG_MAKE_H

#include "runtime/base/memory.h"
#include "runtime/rig/rig.h"

typedef struct exi_unpack exi_unpack;

typedef struct exi_making {
    const ex_allocator *allocator;
    ex_rig_options options;
    const ex_rig_def *def;   /* or NULL: it comes from a file */
    const exi_unpack *file;  /* or NULL: it comes from a definition */
    const uint32_t *gather;  /* file: [vertices] first split vertex of each; NULL: itself */
    const uint32_t *sources; /* file: [splits] vertex of each; NULL: itself */
    exi_rig_counts counts;   /* of the rig */
    ex_rig_refinement refinement;
    exi_layer_record *layers; /* [layers]: records as in the rig, except names and weighers */
    ex_weigher **weighers;    /* [layers], NULL for those that only get room */
    size_t *weigher_sizes;    /* [layers] */
    size_t *note_sizes;       /* [notes] */
    exi_level_record *levels; /* [levels + 1]: counts and flags; the mesh first */
    ex_normals **normals;     /* [levels + 1], each may be NULL */
    ex_tangents **tangents;   /* the same */
    ex_skeleton *skeleton;    /* or NULL */
    const ex_skin *skin;      /* belongs to others; or NULL */
    const ex_stencils *stencils;
    void **parts;               /* [layers]: blocks of the layers' domains, each may be NULL */
    void *own[EX_DOMAIN_COUNT]; /* data of all layers of a domain together; NULL until the domain sets it */
    int weights;                /* weights of all offset layers */
    int more_forms;             /* forms after those of the layers whose examples are forms */
    uint64_t string_size;       /* so far */
    uint32_t string_cursor;     /* in the rig, while it is filled */
    void *kept;                 /* memory from exi_making_keep */
} exi_making;

/* Allocates zeroed arrays for the counts that are set. Close it even after failure. */
ex_result exi_making_open(exi_making *making, ex_error *error);
void exi_making_close(exi_making *making);

/* Returns zeroed memory that lasts until the making is closed, or NULL. */
void *exi_making_keep(exi_making *making, size_t count, size_t size);

/* Lets the domain of every layer make its data from the definition or the file, and then the data of all layers
 * together. */
ex_result exi_making_layers(exi_making *making, ex_error *error);

/* layout.c: makes the block. It is zero except for its head, the forms' head, the parts, and all offsets and sizes in
 * the records of layers, notes, shifts, images and levels (whose counts are set too). */
ex_result exi_making_allocate(exi_making *making, ex_rig **rig, ex_error *error);

/* Lets the domains fill their data, after records, meshes and the forms' base are in place. */
ex_result exi_making_fill(exi_making *making, ex_rig *rig, ex_error *error);

/* Copies a string to the next free place in the rig and returns that place. */
uint32_t exi_making_add_string(exi_making *making, ex_rig *rig, const char *text);

/*
 * Layout of the block (layout.c). Everything is placed twice by the same functions: once to learn the size, with rig
 * NULL, and once to write offsets into records and to copy parts.
 */
typedef struct exi_placing {
    exi_size total;
    ex_rig head;
    ex_rig *rig; /* NULL: count only */
} exi_placing;

/* Reserves room for a table and returns its offset. */
uint64_t exi_place(exi_placing *placing, int count, size_t size);
/* Copies in a block of another room and returns its offset; 0 if there is none. */
uint64_t exi_place_part(exi_placing *placing, const void *block);

/* True if an axis can take the value of a reading: both a number or both a rotation, about a valid direction. */
bool exi_reading_suits(const ex_reading *reading, const ex_axis *axis);

/* Sets pose_size and largest_dimension, after inputs, layers and weighers are in place. */
void exi_rig_measure_pose(ex_rig *rig);

/* Checks the tables of a mesh: indices out of range, sources out of order, numbers not finite. Ignores positions. */
ex_result exi_rig_check_mesh(const ex_rig_mesh *mesh, ex_error *error);

/* Makes the normals and tangents of a level as the options require; NULL for each that is left out. Release them with
 * their own destroy functions. */
ex_result exi_rig_make_frames(const ex_rig_mesh *mesh, const ex_rig_options *options, const ex_allocator *allocator,
                              ex_normals **normals, ex_tangents **tangents, ex_error *error);

#endif
