/*
 * The inside of a rig: one block, a head and tables behind it at byte offsets, no pointers. Offsets of tables that a
 * rig does not have are those of an empty table. Forms stand last, weighers as they were solved.
 */
#ifndef EXI_RIG_H
#define EXI_RIG_H

#include "runtime/shape/forms.h"
#include "runtime/weigh/weigher.h"

#include <exemplar/rig.h>

/* The most layers, axes, examples or notes: the directory of a pack then stays below 4 GB. */
#define EXI_TABLE_MAX 10000000

enum { EXI_RIG_SEAMS = 1, EXI_RIG_TEXCOORDS = 2, EXI_RIG_NORMALS = 4 };

/* The numbers that size every table; the same in memory and in the pack. */
typedef struct exi_rig_counts {
    int32_t vertices, splits, faces, corners, triangles;
    int32_t layers, inputs, axes, examples, notes;
    uint32_t flags;
    uint32_t string_size;
} exi_rig_counts;

typedef struct exi_input_record {
    uint32_t name, unit; /* into strings */
    int32_t offset;      /* in a pose */
    int32_t reserved;
    exi_axis_record axis;
} exi_input_record;

typedef struct exi_layer_record {
    uint32_t name;
    int32_t axis_count, example_count, first_axis, first_example, reserved;
    uint64_t weigher, weigher_size; /* offset in the rig, bytes */
} exi_layer_record;

typedef struct exi_note_record {
    char kind[EX_NOTE_KIND_SIZE];
    uint64_t data, size;
} exi_note_record;

struct ex_rig {
    uint64_t size;
    exi_rig_counts counts;
    int32_t pose_size;
    int32_t largest_dimension; /* of a layer's point */
    uint64_t strings;          /* [string_size] bytes, each string ends with 0 */
    uint64_t inputs;           /* [inputs] exi_input_record */
    uint64_t layers;           /* [layers] exi_layer_record */
    uint64_t axis_inputs;      /* [axes] int32_t */
    uint64_t example_names;    /* [examples] uint32_t into strings */
    uint64_t sources;          /* [splits] uint32_t, with EXI_RIG_SEAMS */
    uint64_t faces;            /* [faces] uint32_t */
    uint64_t corners;          /* [corners] uint32_t */
    uint64_t triangles;        /* [triangles][3] uint32_t */
    uint64_t texcoords;        /* [splits][2] float */
    uint64_t normals;          /* [splits][3] float */
    uint64_t notes;            /* [notes] exi_note_record */
    uint64_t forms;            /* ex_forms */
};

static inline const void *exi_rig_at(const ex_rig *rig, uint64_t offset) {
    return (const char *)rig + offset;
}
static inline void *exi_rig_at_mut(ex_rig *rig, uint64_t offset) {
    return (char *)rig + offset;
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
static inline const char *exi_rig_string(const ex_rig *rig, uint32_t offset) {
    return (const char *)exi_rig_at(rig, rig->strings) + offset;
}
static inline const ex_forms *exi_rig_forms(const ex_rig *rig) {
    return exi_rig_at(rig, rig->forms);
}

/*
 * Makes the block: counts and forms' storage are given, sizes of weighers [layers] and notes [notes] too. The block is
 * zero but for its head, the forms' head, and the offsets and sizes in the layer and note records.
 */
ex_result exi_rig_allocate(const exi_rig_counts *counts, ex_storage storage, const size_t *weigher_sizes,
                           const size_t *note_sizes, const ex_allocator *allocator, ex_rig **rig, ex_error *error);

/* Sets pose_size and largest_dimension when inputs, layers and weighers are in place. */
void exi_rig_measure_pose(ex_rig *rig);

/* What is wrong with the tables of a mesh, in a sentence: indices out of range, sources out of order, numbers not
 * finite. positions are not looked at. */
ex_result exi_rig_check_mesh(const ex_rig_mesh *mesh, ex_error *error);

#endif
