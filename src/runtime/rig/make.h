/*
 * A rig on its way, from a definition (create.c) or from a file (pack/unpack.c): what is gathered before the size of
 * its block is known. Private to the room.
 */
#ifndef EXI_RIG_MAKE_H
#define EXI_RIG_MAKE_H

#include "runtime/base/memory.h"
#include "runtime/rig/rig.h"

typedef struct exi_unpack exi_unpack;

typedef struct exi_making {
    const ex_allocator *allocator;
    ex_rig_options options;
    const ex_rig_def *def;    /* or NULL: it comes from a file */
    const exi_unpack *file;   /* or NULL: it comes from a definition */
    const uint32_t *gather;   /* file: [vertices] the first split vertex of each; NULL: itself */
    const uint32_t *sources;  /* file: [splits] the vertex of each; NULL: itself */
    exi_rig_counts counts;    /* of the rig */
    exi_layer_record *layers; /* [layers]: as they will stand in the rig, but for names and weighers */
    ex_weigher **weighers;    /* [layers], each NULL where only room is made for it */
    size_t *weigher_sizes;    /* [layers] */
    size_t *note_sizes;       /* [notes] */
    exi_level_record *levels; /* [levels + 1]: counts and flags; the mesh first */
    ex_normals **normals;     /* [levels + 1], each may be NULL */
    ex_tangents **tangents;   /* likewise */
    ex_skeleton *skeleton;    /* or NULL */
    const ex_skin *skin;      /* another's; or NULL */
    const ex_stencils *stencils;
    void **parts;               /* [layers]: blocks of the layers' domains, each may be NULL */
    void *own[EX_DOMAIN_COUNT]; /* of all layers of a domain together; NULL until the domain has set it */
    int weights;                /* of all layers of offsets */
    int more_forms;             /* behind those of the layers whose examples are forms */
    uint64_t string_size;       /* so far */
    uint32_t string_cursor;     /* in the rig, as it is filled */
    void *kept;                 /* exi_making_keep */
} exi_making;

/* Arrays for counts that are set, all zero. Close also after failure. */
ex_result exi_making_open(exi_making *making, ex_error *error);
void exi_making_close(exi_making *making);

/* Memory of zeros that lasts until the making is closed; NULL without memory. */
void *exi_making_keep(exi_making *making, size_t count, size_t size);

/* Lets the domain of every layer make what it needs, from the definition or the file, and then of all layers together.
 */
ex_result exi_making_layers(exi_making *making, ex_error *error);

/* layout.c: makes the block. It is zero but for its head, the forms' head, the parts, and all offsets and sizes in the
 * records of layers, notes, shifts, images and levels (whose counts are set too). */
ex_result exi_making_allocate(exi_making *making, ex_rig **rig, ex_error *error);

/* Lets the domains fill what is theirs, when records, meshes and the forms' base are in place. */
ex_result exi_making_fill(exi_making *making, ex_rig *rig, ex_error *error);

/* Copies a string to the next free place in the rig; where. */
uint32_t exi_making_add_string(exi_making *making, ex_rig *rig, const char *text);

/*
 * Laying the block out (layout.c). Everything is placed twice by the same functions: once to learn the size, with rig
 * NULL, and once to write offsets into records and to copy parts in.
 */
typedef struct exi_placing {
    exi_size total;
    ex_rig head;
    ex_rig *rig; /* NULL: only count */
} exi_placing;

/* Room for a table; where. */
uint64_t exi_place(exi_placing *placing, int count, size_t size);
/* A block of another room, copied in; 0 where there is none. */
uint64_t exi_place_part(exi_placing *placing, const void *block);

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
