/*
 * Packs with right checksums and wrong contents, as an attacker could write them. The layout of the file is the
 * contract here (docs/reference/rig.md), so this test knows its records.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/base/checksum.h"
#include "runtime/rig/pack/pack.h"
#include "support/check.h"
#include "support/failing_allocator.h"
#include "support/whole_rigs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *pack;
static size_t pack_size;

static int set_up_with(int parts) {
    whole_rig w;
    whole_rig_open(&w, 5, parts);
    ex_rig *rig = rig_of(&w.def);
    pack = pack_of(rig, &pack_size);
    ex_rig_destroy(rig);
    whole_rig_close(&w);
    return 0;
}

static int set_up(void **state) {
    (void)state;
    return set_up_with(0);
}

static int set_up_whole(void **state) {
    (void)state;
    return set_up_with(WHOLE_ALL & ~WHOLE_PATHS); /* test_trajectory.c tells lies about those */
}

static int tear_down(void **state) {
    (void)state;
    free(pack);
    return 0;
}

static exi_pack_header *header_of(char *bytes) {
    return (exi_pack_header *)(void *)bytes;
}

static exi_pack_entry *entries_of(char *bytes) {
    return (exi_pack_entry *)(void *)(bytes + sizeof(exi_pack_header));
}

static exi_pack_entry *find(char *bytes, ex_section_kind kind, uint32_t index) {
    for (uint32_t i = 0; i < header_of(bytes)->section_count; i++)
        if (entries_of(bytes)[i].kind == (uint32_t)kind && entries_of(bytes)[i].index == index)
            return &entries_of(bytes)[i];
    fail_msg("no section %d, %u", (int)kind, (unsigned)index);
    return NULL;
}

static void *section(char *bytes, ex_section_kind kind, uint32_t index) {
    return bytes + find(bytes, kind, index)->offset;
}

static void seal_header(char *bytes) {
    exi_pack_header *header = header_of(bytes);
    header->checksum = 0;
    header->checksum = exi_checksum(bytes, header->header_size);
}

/* Makes every checksum right again, where sections are still within the pack. */
static void seal(char *bytes) {
    for (uint32_t i = 0; i < header_of(bytes)->section_count; i++) {
        exi_pack_entry *entry = &entries_of(bytes)[i];
        if (entry->offset <= pack_size && entry->size <= pack_size - entry->offset)
            entry->checksum = exi_checksum(bytes + entry->offset, (size_t)entry->size);
    }
    seal_header(bytes);
}

/* Unpacks in memory that ends with the pack. A resulting rig must be usable. */
static ex_result try_unpack(const char *bytes, size_t size, ex_error *error) {
    char *copy = malloc(size);
    memcpy(copy, bytes, size);
    failing_allocator f;
    failing_allocator_open(&f);
    f.limit = 10000000;
    ex_rig *rig = NULL;
    *error = (ex_error){0};
    ex_result result = ex_rig_unpack(copy, size, NULL, &f.allocator, &rig, error);
    free(copy);
    assert_true((result == EX_OK) == (rig != NULL));
    if (rig)
        use_rig(rig);
    else
        assert_sentence(error, result, " ");
    ex_rig_destroy(rig);
    failing_allocator_close(&f);
    return result;
}

/* ---- one lie at a time ---- */

/* Place of a changed number: in the header, in a section's entry of the directory, in the section. */
enum { HEADER = 0, ENTRY = 100, SECTION = 200 };
typedef enum manner { BYTE, WORD, WORD_ADD, LONG, LONG_ADD, REAL } manner;

typedef struct lie {
    const char *what;
    int place; /* HEADER, or ENTRY or SECTION plus the section's kind */
    uint32_t index;
    size_t at; /* from there */
    manner how;
    uint64_t value;
    double real;
    bool more; /* the next change belongs to the same lie */
} lie;

static const lie lies[] = {
    {"no vertices", SECTION + EX_SECTION_COUNTS, 0, offsetof(exi_rig_counts, vertices), WORD, .value = 0},
    {"more vertices than split ones", SECTION + EX_SECTION_COUNTS, 0, offsetof(exi_rig_counts, vertices), WORD,
     .value = 8},
    {"a vertex more", SECTION + EX_SECTION_COUNTS, 0, offsetof(exi_rig_counts, vertices), WORD_ADD, .value = 1},
    {"a vertex less", SECTION + EX_SECTION_COUNTS, 0, offsetof(exi_rig_counts, vertices), WORD_ADD,
     .value = UINT32_MAX},
    {"a split vertex more", SECTION + EX_SECTION_COUNTS, 0, offsetof(exi_rig_counts, splits), WORD_ADD, .value = 1},
    {"negative split vertices", SECTION + EX_SECTION_COUNTS, 0, offsetof(exi_rig_counts, splits), WORD,
     .value = 0x80000000},
    {"a face more", SECTION + EX_SECTION_COUNTS, 0, offsetof(exi_rig_counts, faces), WORD_ADD, .value = 1},
    {"negative corners", SECTION + EX_SECTION_COUNTS, 0, offsetof(exi_rig_counts, corners), WORD, .value = UINT32_MAX},
    {"many triangles", SECTION + EX_SECTION_COUNTS, 0, offsetof(exi_rig_counts, triangles), WORD, .value = INT32_MAX},
    {"a layer more", SECTION + EX_SECTION_COUNTS, 0, offsetof(exi_rig_counts, layers), WORD_ADD, .value = 1},
    {"a layer less", SECTION + EX_SECTION_COUNTS, 0, offsetof(exi_rig_counts, layers), WORD_ADD, .value = UINT32_MAX},
    {"many layers", SECTION + EX_SECTION_COUNTS, 0, offsetof(exi_rig_counts, layers), WORD, .value = INT32_MAX},
    {"many examples", SECTION + EX_SECTION_COUNTS, 0, offsetof(exi_rig_counts, examples), WORD, .value = INT32_MAX},
    {"many notes", SECTION + EX_SECTION_COUNTS, 0, offsetof(exi_rig_counts, notes), WORD, .value = INT32_MAX},
    {"negative notes", SECTION + EX_SECTION_COUNTS, 0, offsetof(exi_rig_counts, notes), WORD, .value = UINT32_MAX},
    {"an input more", SECTION + EX_SECTION_COUNTS, 0, offsetof(exi_rig_counts, inputs), WORD_ADD, .value = 1},
    {"an axis more", SECTION + EX_SECTION_COUNTS, 0, offsetof(exi_rig_counts, axes), WORD_ADD, .value = 1},
    {"unknown flags", SECTION + EX_SECTION_COUNTS, 0, offsetof(exi_rig_counts, flags), WORD, .value = 0xFF},
    {"no seams", SECTION + EX_SECTION_COUNTS, 0, offsetof(exi_rig_counts, flags), WORD,
     .value = EXI_RIG_TEXCOORDS | EXI_RIG_NORMALS},
    {"long strings", SECTION + EX_SECTION_COUNTS, 0, offsetof(exi_rig_counts, string_size), WORD, .value = UINT32_MAX},
    {"a section more", HEADER, 0, offsetof(exi_pack_header, section_count), WORD_ADD, .value = 1},
    {"nothing but a header", HEADER, 0, offsetof(exi_pack_header, size), LONG, .value = sizeof(exi_pack_header)},
    {"another kind", ENTRY + EX_SECTION_FACES, 0, offsetof(exi_pack_entry, kind), WORD, .value = EX_SECTION_NOTE},
    {"another index", ENTRY + EX_SECTION_TARGET, 3, offsetof(exi_pack_entry, index), WORD, .value = 4},
    {"behind the end", ENTRY + EX_SECTION_TARGET, 0, offsetof(exi_pack_entry, offset), LONG, .value = 1 << 20},
    {"far away", ENTRY + EX_SECTION_TARGET, 0, offsetof(exi_pack_entry, offset), LONG, .value = UINT64_MAX - 15},
    {"over the end", ENTRY + EX_SECTION_TARGET, 6, offsetof(exi_pack_entry, offset), LONG_ADD, .value = 16},
    {"in the header", ENTRY + EX_SECTION_POSITIONS, 0, offsetof(exi_pack_entry, offset), LONG, .value = 0},
    {"not aligned", ENTRY + EX_SECTION_POSITIONS, 0, offsetof(exi_pack_entry, offset), LONG_ADD, .value = 4},
    {"on another section", ENTRY + EX_SECTION_TARGET, 1, offsetof(exi_pack_entry, offset), LONG_ADD,
     .value = (uint64_t)-96},
    {"an endless section", ENTRY + EX_SECTION_NOTE, 0, offsetof(exi_pack_entry, size), LONG, .value = UINT64_MAX},
    {"a short note", ENTRY + EX_SECTION_NOTE, 1, offsetof(exi_pack_entry, size), LONG, .value = 31},
    {"a short weigher", ENTRY + EX_SECTION_WEIGHER, 0, offsetof(exi_pack_entry, size), LONG, .value = 80},
    {"an empty weigher", ENTRY + EX_SECTION_WEIGHER, 0, offsetof(exi_pack_entry, size), LONG, .value = 0},
    {"a name outside", SECTION + EX_SECTION_INPUTS, 0, 1 * sizeof(exi_input_record) + offsetof(exi_input_record, name),
     WORD, .value = 100000},
    {"a name far outside", SECTION + EX_SECTION_INPUTS, 0,
     1 * sizeof(exi_input_record) + offsetof(exi_input_record, name), WORD, .value = 0xFFFFFFF0},
    {"a unit outside", SECTION + EX_SECTION_INPUTS, 0, 2 * sizeof(exi_input_record) + offsetof(exi_input_record, unit),
     WORD, .value = 100000},
    {"an empty name", SECTION + EX_SECTION_INPUTS, 0, 1 * sizeof(exi_input_record) + offsetof(exi_input_record, name),
     WORD, .value = 13},
    {"a name within a character", SECTION + EX_SECTION_INPUTS, 0,
     1 * sizeof(exi_input_record) + offsetof(exi_input_record, name), WORD, .value = 6},
    {"an input somewhere else", SECTION + EX_SECTION_INPUTS, 0,
     2 * sizeof(exi_input_record) + offsetof(exi_input_record, offset), WORD, .value = 1000000},
    {"an input before the first", SECTION + EX_SECTION_INPUTS, 0, offsetof(exi_input_record, offset), WORD,
     .value = UINT32_MAX},
    {"an unknown kind", SECTION + EX_SECTION_INPUTS, 0, offsetof(exi_input_record, axis.kind), REAL, .real = 4},
    {"between two kinds", SECTION + EX_SECTION_INPUTS, 0, offsetof(exi_input_record, axis.kind), REAL, .real = 0.5},
    {"no kind", SECTION + EX_SECTION_INPUTS, 0, offsetof(exi_input_record, axis.kind), REAL, .real = NAN},
    {"another width", SECTION + EX_SECTION_INPUTS, 0, offsetof(exi_input_record, axis.kind), REAL,
     .real = EX_AXIS_ROTATION},
    {"no rest", SECTION + EX_SECTION_INPUTS, 0, offsetof(exi_input_record, axis.rest), REAL, .real = NAN},
    {"an empty range", SECTION + EX_SECTION_INPUTS, 0, offsetof(exi_input_record, axis.max), REAL, .real = 0},
    {"controls in a name", SECTION + EX_SECTION_STRINGS, 0, 1, BYTE, .value = '\n'},
    {"a broken character", SECTION + EX_SECTION_STRINGS, 0, 1, BYTE, .value = 0xFF},
    {"a layer's name outside", SECTION + EX_SECTION_LAYERS, 0, offsetof(exi_layer_record, name), WORD,
     .value = INT32_MAX},
    {"negative axes", SECTION + EX_SECTION_LAYERS, 0, offsetof(exi_layer_record, axis_count), WORD,
     .value = (uint32_t)-2},
    {"many axes", SECTION + EX_SECTION_LAYERS, 0, offsetof(exi_layer_record, axis_count), WORD, .value = INT32_MAX},
    {"axes moved", SECTION + EX_SECTION_LAYERS, 0, sizeof(exi_layer_record) + offsetof(exi_layer_record, first_axis),
     WORD, .value = 3},
    {"an axis of the next layer", SECTION + EX_SECTION_LAYERS, 0,
     sizeof(exi_layer_record) + offsetof(exi_layer_record, axis_count), WORD_ADD, .value = 1, .more = true},
    {"an axis of the next layer", SECTION + EX_SECTION_LAYERS, 0,
     2 * sizeof(exi_layer_record) + offsetof(exi_layer_record, first_axis), WORD_ADD, .value = 1, .more = true},
    {"an axis of the next layer", SECTION + EX_SECTION_LAYERS, 0,
     2 * sizeof(exi_layer_record) + offsetof(exi_layer_record, axis_count), WORD_ADD, .value = UINT32_MAX},
    {"an axis of the layer before", SECTION + EX_SECTION_LAYERS, 0,
     sizeof(exi_layer_record) + offsetof(exi_layer_record, axis_count), WORD_ADD, .value = UINT32_MAX, .more = true},
    {"an axis of the layer before", SECTION + EX_SECTION_LAYERS, 0,
     2 * sizeof(exi_layer_record) + offsetof(exi_layer_record, first_axis), WORD_ADD, .value = UINT32_MAX,
     .more = true},
    {"an axis of the layer before", SECTION + EX_SECTION_LAYERS, 0,
     2 * sizeof(exi_layer_record) + offsetof(exi_layer_record, axis_count), WORD_ADD, .value = 1},
    {"examples moved", SECTION + EX_SECTION_LAYERS, 0,
     sizeof(exi_layer_record) + offsetof(exi_layer_record, first_example), WORD, .value = 2},
    {"examples exchanged", SECTION + EX_SECTION_LAYERS, 0, offsetof(exi_layer_record, example_count), WORD, .value = 2,
     .more = true},
    {"examples exchanged", SECTION + EX_SECTION_LAYERS, 0,
     sizeof(exi_layer_record) + offsetof(exi_layer_record, example_count), WORD, .value = 3, .more = true},
    {"examples exchanged", SECTION + EX_SECTION_LAYERS, 0,
     sizeof(exi_layer_record) + offsetof(exi_layer_record, first_example), WORD, .value = 2},
    {"an example's name outside", SECTION + EX_SECTION_EXAMPLES, 0, 3 * 4, WORD, .value = 100000},
    {"an axis without input", SECTION + EX_SECTION_AXES, 0, 0, WORD, .value = UINT32_MAX},
    {"an input behind the last", SECTION + EX_SECTION_AXES, 0, 2 * 4, WORD, .value = RIG_INPUTS},
    {"a rotation behind the last", SECTION + EX_SECTION_AXES, 0, 1 * 4, WORD, .value = RIG_INPUTS},
    {"an input of another width", SECTION + EX_SECTION_AXES, 0, 1 * 4, WORD, .value = 0},
    {"a source outside", SECTION + EX_SECTION_SOURCES, 0, 6 * 4, WORD, .value = 5},
    {"a source far outside", SECTION + EX_SECTION_SOURCES, 0, 0, WORD, .value = INT32_MAX},
    {"a source skipped", SECTION + EX_SECTION_SOURCES, 0, 1 * 4, WORD, .value = 0, .more = true},
    {"a source skipped", SECTION + EX_SECTION_SOURCES, 0, 2 * 4, WORD, .value = 2},
    {"a face of two", SECTION + EX_SECTION_FACES, 0, 0, WORD, .value = 2},
    {"sizes that wrap around", SECTION + EX_SECTION_FACES, 0, 0, WORD, .value = 0xFFFFFFFC, .more = true},
    {"sizes that wrap around", SECTION + EX_SECTION_FACES, 0, 4, WORD, .value = 11},
    {"a corner outside", SECTION + EX_SECTION_CORNERS, 0, 6 * 4, WORD, .value = 7},
    {"a triangle outside", SECTION + EX_SECTION_TRIANGLES, 0, 0, WORD, .value = UINT32_MAX},
    {"no position", SECTION + EX_SECTION_POSITIONS, 0, 4 * 4, WORD, .value = 0x7FC00000},
    {"no texture coordinate", SECTION + EX_SECTION_TEXCOORDS, 0, 4 * 4, WORD, .value = 0x7F800000},
    {"no normal", SECTION + EX_SECTION_NORMALS, 0, 4 * 4, WORD, .value = 0xFFC00000},
    {"no difference", SECTION + EX_SECTION_TARGET, 5, 2 * 4, WORD, .value = 0x7F800000},
    {"no weigher's kind", SECTION + EX_SECTION_WEIGHER, 0, offsetof(ex_weigher, kind), WORD, .value = EX_WEIGHER_COUNT},
    {"another kind of weigher", SECTION + EX_SECTION_WEIGHER, 0, offsetof(ex_weigher, kind), WORD,
     .value = EX_WEIGHER_DIRECT},
    {"no kernel", SECTION + EX_SECTION_WEIGHER, 0, offsetof(ex_weigher, kernel), WORD, .value = EX_KERNEL_COUNT},
    {"flags of a weigher", SECTION + EX_SECTION_WEIGHER, 0, offsetof(ex_weigher, flags), WORD, .value = 8},
    {"another number of vertices", SECTION + EX_SECTION_WEIGHER, 0, offsetof(ex_weigher, size), LONG_ADD, .value = 8},
    {"many axes of a weigher", SECTION + EX_SECTION_WEIGHER, 0, offsetof(ex_weigher, axis_count), WORD,
     .value = 1 << 28},
    {"negative axes of a weigher", SECTION + EX_SECTION_WEIGHER, 0, offsetof(ex_weigher, axis_count), WORD,
     .value = UINT32_MAX},
    {"another dimension", SECTION + EX_SECTION_WEIGHER, 0, offsetof(ex_weigher, dimension), WORD, .value = 4},
    {"scalars for rotations", SECTION + EX_SECTION_WEIGHER, 0, offsetof(ex_weigher, scalar_count), WORD, .value = 2,
     .more = true},
    {"scalars for rotations", SECTION + EX_SECTION_WEIGHER, 0, offsetof(ex_weigher, rotation_count), WORD, .value = 0,
     .more = true},
    {"scalars for rotations", SECTION + EX_SECTION_WEIGHER, 0, offsetof(ex_weigher, dimension), WORD, .value = 2},
    {"many features", SECTION + EX_SECTION_WEIGHER, 0, offsetof(ex_weigher, feature_count), WORD, .value = 1 << 20},
    {"features too few, and sizes to match", SECTION + EX_SECTION_WEIGHER, 0, offsetof(ex_weigher, feature_count), WORD,
     .value = 4, .more = true},
    {"features too few", SECTION + EX_SECTION_WEIGHER, 0, offsetof(ex_weigher, size), LONG_ADD, .value = (uint64_t)-32,
     .more = true},
    {"features too few", SECTION + EX_SECTION_WEIGHER, 0, offsetof(ex_weigher, own), LONG_ADD, .value = (uint64_t)-32,
     .more = true},
    {"features too few", ENTRY + EX_SECTION_WEIGHER, 0, offsetof(exi_pack_entry, size), LONG_ADD,
     .value = (uint64_t)-32},
    {"many examples of a weigher", SECTION + EX_SECTION_WEIGHER, 0, offsetof(ex_weigher, example_count), WORD,
     .value = 1 << 30},
    {"pseudo-examples for examples", SECTION + EX_SECTION_WEIGHER, 0, offsetof(ex_weigher, example_count), WORD,
     .value = 2, .more = true},
    {"pseudo-examples for examples", SECTION + EX_SECTION_WEIGHER, 0, offsetof(ex_weigher, pseudo_count), WORD,
     .value = 2},
    {"negative pseudo-examples", SECTION + EX_SECTION_WEIGHER, 0, offsetof(ex_weigher, pseudo_count), WORD,
     .value = UINT32_MAX},
    {"points outside", SECTION + EX_SECTION_WEIGHER, 0, offsetof(ex_weigher, points), LONG, .value = 1 << 20},
    {"tables outside", SECTION + EX_SECTION_WEIGHER, 0, offsetof(ex_weigher, own), LONG, .value = UINT64_MAX - 7},
    {"no radius", SECTION + EX_SECTION_WEIGHER, 0, offsetof(ex_weigher, radius), REAL, .real = NAN},
    {"no power", SECTION + EX_SECTION_WEIGHER, 1, offsetof(ex_weigher, power), REAL, .real = INFINITY},
    {"an example more than axes", SECTION + EX_SECTION_WEIGHER, 2, offsetof(ex_weigher, example_count), WORD,
     .value = 3},
    {"another kind of axis", SECTION + EX_SECTION_WEIGHER, 0, sizeof(ex_weigher) + offsetof(exi_axis_record, kind),
     REAL, .real = EX_AXIS_TWIST},
    {"no kind of axis", SECTION + EX_SECTION_WEIGHER, 0,
     sizeof(ex_weigher) + sizeof(exi_axis_record) + offsetof(exi_axis_record, kind), REAL, .real = 1e9},
    {"no scale", SECTION + EX_SECTION_WEIGHER, 0, sizeof(ex_weigher) + offsetof(exi_axis_record, true_scale), REAL,
     .real = 0},
    {"another width of rotation", SECTION + EX_SECTION_WEIGHER, 0, sizeof(ex_weigher) + 2 * sizeof(exi_axis_record),
     REAL, .real = 1e6},
    {"a place that is no number", SECTION + EX_SECTION_WEIGHER, 0,
     sizeof(ex_weigher) + 2 * sizeof(exi_axis_record) + sizeof(exi_rotation_metric), REAL, .real = NAN},
};

/* For a rig with everything: layers arm, paint, belly, joints, bumps, mix; its inputs 4 to 7 read joints. */
#define COUNT_OF(field) SECTION + EX_SECTION_COUNTS, 0, offsetof(exi_rig_counts, field)
#define INPUT_OF(number, field)                                                                                        \
    SECTION + EX_SECTION_INPUTS, 0, (number) * sizeof(exi_input_record) + offsetof(exi_input_record, field)
#define LAYER_OF(number, field)                                                                                        \
    SECTION + EX_SECTION_LAYERS, 0, (number) * sizeof(exi_layer_record) + offsetof(exi_layer_record, field)
#define JOINT_OF(number, field)                                                                                        \
    SECTION + EX_SECTION_JOINTS, 0, (number) * sizeof(exi_pack_joint) + offsetof(exi_pack_joint, field)
#define TEXTURE_OF(field) SECTION + EX_SECTION_TEXTURES, 0, offsetof(exi_texture_record, field)
#define LEVEL_OF(number, field)                                                                                        \
    SECTION + EX_SECTION_LEVELS, 0, (number) * sizeof(exi_pack_level) + offsetof(exi_pack_level, field)
#define STENCIL_OF(number, field) SECTION + EX_SECTION_STENCILS, number, offsetof(exi_pack_stencils, field)
#define NAN_BITS                  0x7FC00000

static const lie whole_lies[] = {
    {"a form more", COUNT_OF(forms), WORD_ADD, .value = 1},
    {"negative forms", COUNT_OF(forms), WORD, .value = UINT32_MAX},
    {"a joint more", COUNT_OF(joints), WORD_ADD, .value = 1},
    {"no joints", COUNT_OF(joints), WORD, .value = 0},
    {"too many joints", COUNT_OF(joints), WORD, .value = EX_JOINT_MAX + 1},
    {"a set of influences more", COUNT_OF(skin_sets), WORD_ADD, .value = 1},
    {"many sets of influences", COUNT_OF(skin_sets), WORD, .value = 1 << 20},
    {"no skin", COUNT_OF(skin_sets), WORD, .value = 0},
    {"no method of skinning", COUNT_OF(skinning), WORD, .value = EX_SKINNING_COUNT},
    {"a shift more", COUNT_OF(shifts), WORD_ADD, .value = 1},
    {"no shifts", COUNT_OF(shifts), WORD, .value = 0},
    {"a texture more", COUNT_OF(textures), WORD_ADD, .value = 1},
    {"a texture less", COUNT_OF(textures), WORD, .value = 1},
    {"a level more", COUNT_OF(levels), WORD, .value = 3},
    {"a level less", COUNT_OF(levels), WORD, .value = 1},
    {"many levels", COUNT_OF(levels), WORD, .value = 1 << 30},
    {"a level that is not there", COUNT_OF(level), WORD, .value = 3},
    {"no level", COUNT_OF(level), WORD, .value = (uint32_t)-2},
    {"no limit", COUNT_OF(refinement), WORD, .value = EXI_REFINED},
    {"not refined", COUNT_OF(refinement), WORD, .value = 0},
    {"a limit alone", COUNT_OF(refinement), WORD, .value = EXI_REFINED_LIMIT},
    {"refined somehow", COUNT_OF(refinement), WORD, .value = 7},
    {"offsets that are not there", COUNT_OF(offsets), WORD_ADD, .value = 1},
    {"counts that are longer", ENTRY + EX_SECTION_COUNTS, 0, offsetof(exi_pack_entry, size), LONG, .value = 108},
    {"counts that are odd", ENTRY + EX_SECTION_COUNTS, 0, offsetof(exi_pack_entry, size), LONG, .value = 87},
    {"counts that are short", ENTRY + EX_SECTION_COUNTS, 0, offsetof(exi_pack_entry, size), LONG, .value = 48},
    {"no counts", ENTRY + EX_SECTION_COUNTS, 0, offsetof(exi_pack_entry, size), LONG, .value = 0},
    {"a joint that does not exist", INPUT_OF(4, joint), WORD, .value = WHOLE_JOINTS},
    {"no joint", INPUT_OF(4, joint), WORD, .value = (uint32_t)-2},
    {"a dial that reads", INPUT_OF(4, joint), WORD, .value = (uint32_t)-1},
    {"a dial that reads an angle", INPUT_OF(0, reading), WORD, .value = EX_READING_ANGLE},
    {"a joint's input in the pose", INPUT_OF(4, offset), WORD, .value = 0},
    {"a dial of a joint", INPUT_OF(0, joint), WORD, .value = 0},
    {"no reading", INPUT_OF(4, reading), WORD, .value = EX_READING_NONE},
    {"an unknown reading", INPUT_OF(4, reading), WORD, .value = EX_READING_KIND_COUNT},
    {"a negative reading", INPUT_OF(4, reading), WORD, .value = UINT32_MAX},
    {"a rotation for a number", INPUT_OF(4, reading), WORD, .value = EX_READING_ROTATION},
    {"a number for a rotation", INPUT_OF(5, reading), WORD, .value = EX_READING_ANGLE},
    {"no part of a rotation", INPUT_OF(5, part), WORD, .value = EX_AXIS_KIND_COUNT},
    {"a swing about nothing", INPUT_OF(5, part), WORD, .value = EX_AXIS_SWING},
    {"about nothing", INPUT_OF(4, about), REAL, .real = 0},
    {"its direction has no length", INPUT_OF(4, about), REAL, .real = NAN},
    {"no middle", INPUT_OF(4, middle), REAL, .real = INFINITY},
    {"no unit of a slide", INPUT_OF(6, slide_unit), REAL, .real = NAN},
    {"a negative unit", INPUT_OF(6, slide_unit), REAL, .real = -1},
    {"no domain", LAYER_OF(0, domain), WORD, .value = EX_DOMAIN_COUNT},
    {"a negative domain", LAYER_OF(0, domain), WORD, .value = UINT32_MAX},
    {"forms for pixels", LAYER_OF(1, domain), WORD, .value = EX_DOMAIN_FORM},
    {"pixels for forms", LAYER_OF(0, domain), WORD, .value = EX_DOMAIN_PIXELS},
    {"forms elsewhere", LAYER_OF(3, first_form), WORD_ADD, .value = 1},
    {"forms before the first", LAYER_OF(0, first_form), WORD, .value = UINT32_MAX},
    {"a texture of forms", LAYER_OF(0, texture), WORD, .value = 0},
    {"no texture", LAYER_OF(1, texture), WORD, .value = UINT32_MAX},
    {"a texture that is not there", LAYER_OF(4, texture), WORD, .value = 2},
    {"a texture before its turn", LAYER_OF(1, texture), WORD, .value = 1},
    {"a texture of another size", LAYER_OF(4, texture), WORD, .value = 0},
    {"a layer without axes", LAYER_OF(1, axis_count), WORD, .value = 0},
    {"a layer without examples", LAYER_OF(1, example_count), WORD, .value = 0},
    {"a joint's name outside", JOINT_OF(2, name), WORD, .value = 1 << 20},
    {"a parent that is not there", JOINT_OF(2, parent), WORD, .value = WHOLE_JOINTS},
    {"a parent far below", JOINT_OF(2, parent), WORD, .value = 0x80000000},
    {"its own parent", JOINT_OF(2, parent), WORD, .value = 2},
    {"a circle of parents", JOINT_OF(2, parent), WORD, .value = 3},
    {"no place of a joint", JOINT_OF(3, rest.translation), WORD, .value = NAN_BITS},
    {"no rotation of a joint", JOINT_OF(3, rest.rotation), WORD, .value = 0x7F800000},
    {"no scale of a joint", JOINT_OF(3, rest.scale), WORD, .value = NAN_BITS},
    {"an endless bone", JOINT_OF(3, rest.scale), WORD, .value = 0x7F7FFFFF},
    {"no bind", SECTION + EX_SECTION_INVERSE_BINDS, 0, 0, WORD, .value = NAN_BITS},
    {"a bind without inverse", SECTION + EX_SECTION_INVERSE_BINDS, 0, 0, LONG, .value = 0, .more = true},
    {"a bind without inverse", SECTION + EX_SECTION_INVERSE_BINDS, 0, 8, LONG, .value = 0},
    {"a bind of perspective", SECTION + EX_SECTION_INVERSE_BINDS, 0, 64 + 3 * 4, WORD, .value = 1},
    {"a bind of another size", SECTION + EX_SECTION_INVERSE_BINDS, 0, 64 + 15 * 4, WORD, .value = 0x40000000},
    {"a joint of a vertex outside", SECTION + EX_SECTION_SKIN_JOINTS, 0, 0, BYTE, .value = WHOLE_JOINTS},
    {"a joint in the second set outside", SECTION + EX_SECTION_SKIN_JOINTS, 1, 6 * 8 + 1, BYTE, .value = 0xFF},
    {"no weight", SECTION + EX_SECTION_SKIN_WEIGHTS, 0, 0, WORD, .value = NAN_BITS},
    {"a negative weight", SECTION + EX_SECTION_SKIN_WEIGHTS, 0, 0, WORD, .value = 0xBF800000},
    {"weights of 0", SECTION + EX_SECTION_SKIN_WEIGHTS, 0, 0, WORD, .value = 0},
    {"a shift that is no number", SECTION + EX_SECTION_SHIFTS, 8, 4, WORD, .value = NAN_BITS},
    {"a shift of no example", ENTRY + EX_SECTION_SHIFTS, 8, offsetof(exi_pack_entry, index), WORD, .value = 22},
    {"a shift of offsets", ENTRY + EX_SECTION_SHIFTS, 8, offsetof(exi_pack_entry, index), WORD, .value = 13},
    {"a shift of pixels", ENTRY + EX_SECTION_SHIFTS, 8, offsetof(exi_pack_entry, index), WORD, .value = 3},
    {"a short shift", ENTRY + EX_SECTION_SHIFTS, 8, offsetof(exi_pack_entry, size), LONG_ADD, .value = (uint64_t)-12},
    {"a texture's name outside", TEXTURE_OF(name), WORD, .value = 1 << 20},
    {"no width", TEXTURE_OF(width), WORD, .value = 0},
    {"a negative width", TEXTURE_OF(width), WORD, .value = (uint32_t)-WHOLE_WIDTH},
    {"a wide texture", TEXTURE_OF(width), WORD, .value = 0x40000000},
    {"a high texture", TEXTURE_OF(height), WORD, .value = 32768},
    {"no colours", TEXTURE_OF(srgb), WORD, .value = 2},
    {"an image of another example", ENTRY + EX_SECTION_IMAGE, 4, offsetof(exi_pack_entry, index), WORD, .value = 5},
    {"a short image", ENTRY + EX_SECTION_IMAGE, 4, offsetof(exi_pack_entry, size), LONG, .value = 23},
    {"a level without vertices", LEVEL_OF(0, vertices), WORD, .value = 0},
    {"a level of more vertices", LEVEL_OF(1, vertices), WORD_ADD, .value = UINT32_MAX},
    {"a level of negative splits", LEVEL_OF(0, splits), WORD, .value = 0x80000000},
    {"a level of negative faces", LEVEL_OF(0, faces), WORD, .value = UINT32_MAX},
    {"a level of many corners", LEVEL_OF(1, corners), WORD, .value = INT32_MAX},
    {"a level of negative triangles", LEVEL_OF(1, triangles), WORD, .value = UINT32_MAX},
    {"a level with normals", LEVEL_OF(0, flags), WORD, .value = 7},
    {"a level without its seams", LEVEL_OF(0, flags), WORD, .value = EXI_RIG_TEXCOORDS},
    {"stencils of other vertices", STENCIL_OF(1, vertex_count), WORD_ADD, .value = 1},
    {"negative weights", STENCIL_OF(1, weight_count), WORD, .value = 0x80000000},
    {"many weights", STENCIL_OF(2, weight_count), WORD, .value = INT32_MAX},
    {"a weight less", STENCIL_OF(3, weight_count), WORD_ADD, .value = UINT32_MAX},
    {"tangents that are not there", STENCIL_OF(1, has_tangents), WORD, .value = 1},
    {"no tangents", STENCIL_OF(3, has_tangents), WORD, .value = 0},
    {"tangents of some kind", STENCIL_OF(3, has_tangents), WORD, .value = 2},
    {"stencils to come", STENCIL_OF(1, reserved), WORD, .value = 1},
    {"rows that begin late", SECTION + EX_SECTION_STENCILS, 1, 16, WORD, .value = 1},
    {"rows that fall", SECTION + EX_SECTION_STENCILS, 1, 16 + 4 * 4, WORD, .value = 0},
    {"rows far outside", SECTION + EX_SECTION_STENCILS, 2, 16 + 3 * 4, WORD, .value = INT32_MAX},
    {"rows before the first", SECTION + EX_SECTION_STENCILS, 2, 16 + 3 * 4, WORD, .value = 0x80000000},
    {"the last row outside", SECTION + EX_SECTION_STENCILS, 1, 16 + 12 * 4, WORD_ADD, .value = 1},
    {"the last row short", SECTION + EX_SECTION_STENCILS, 1, 16 + 12 * 4, WORD_ADD, .value = UINT32_MAX},
    {"a control vertex outside", SECTION + EX_SECTION_STENCILS, 1, 16 + 14 * 4, WORD, .value = 5},
    {"a control vertex below", SECTION + EX_SECTION_STENCILS, 1, 16 + 13 * 4, WORD, .value = UINT32_MAX},
    {"a refined source outside", SECTION + EX_SECTION_SOURCES, 1, 12 * 4, WORD, .value = 12},
    {"a refined face of two", SECTION + EX_SECTION_FACES, 2, 0, WORD, .value = 2},
    {"a refined corner outside", SECTION + EX_SECTION_CORNERS, 2, 0, WORD, .value = 19},
    {"a refined triangle outside", SECTION + EX_SECTION_TRIANGLES, 1, 0, WORD, .value = 13},
    {"no refined texture coordinate", SECTION + EX_SECTION_TEXCOORDS, 1, 0, WORD, .value = NAN_BITS},
    {"no difference", SECTION + EX_SECTION_TARGET, 12, 2 * 4, WORD, .value = 0x7F800000},
    {"a frame of forms", LAYER_OF(0, frame), WORD, .value = EX_OFFSET_FRAME_SKINNED},
    {"no frame", LAYER_OF(6, frame), WORD, .value = EX_OFFSET_FRAME_COUNT},
    {"sets of forms", LAYER_OF(0, flags), WORD, .value = EXI_LAYER_MOVED},
    {"sets of another weigher", LAYER_OF(6, flags), WORD, .value = EXI_LAYER_MOVED},
    {"no sets", LAYER_OF(8, flags), WORD, .value = 0},
    {"flags of a layer", LAYER_OF(8, flags), WORD, .value = 7},
    {"weights of a layer", LAYER_OF(8, weight_count), WORD, .value = 3},
    {"weights elsewhere", LAYER_OF(7, first_weight), WORD, .value = 3},
    {"offsets for forms", LAYER_OF(0, domain), WORD, .value = EX_DOMAIN_OFFSETS},
    {"forms for offsets", LAYER_OF(6, domain), WORD, .value = EX_DOMAIN_FORM},
    {"an offset outside", SECTION + EX_SECTION_OFFSET_PLACES, 13, 0, WORD, .value = 6},
    {"an offset far outside", SECTION + EX_SECTION_OFFSET_PLACES, 13, 0, WORD, .value = UINT32_MAX},
    {"offsets out of order", SECTION + EX_SECTION_OFFSET_PLACES, 14, 0, WORD, .value = 4},
    {"an offset that is no number", SECTION + EX_SECTION_OFFSET_VALUES, 15, 4, WORD, .value = NAN_BITS},
    {"a list of offsets too long", ENTRY + EX_SECTION_OFFSET_PLACES, 13, offsetof(exi_pack_entry, size), LONG_ADD,
     .value = 4},
    {"values too short", ENTRY + EX_SECTION_OFFSET_VALUES, 13, offsetof(exi_pack_entry, size), LONG_ADD,
     .value = (uint64_t)-12},
    {"offsets of another example", ENTRY + EX_SECTION_OFFSET_PLACES, 13, offsetof(exi_pack_entry, index), WORD,
     .value = 12},
    {"a target of pixels", ENTRY + EX_SECTION_TARGET, 2, offsetof(exi_pack_entry, index), WORD, .value = 3},
};

static void put(char *at, const lie *l) {
    uint32_t word;
    uint64_t whole;
    memcpy(&word, at, sizeof word);
    memcpy(&whole, at, sizeof whole);
    word = (uint32_t)l->value + (l->how == WORD_ADD ? word : 0);
    whole = l->value + (l->how == LONG_ADD ? whole : 0);
    if (l->how == BYTE)
        *at = (char)l->value;
    else if (l->how == REAL)
        memcpy(at, &l->real, sizeof l->real);
    else if (l->how == WORD || l->how == WORD_ADD)
        memcpy(at, &word, sizeof word);
    else
        memcpy(at, &whole, sizeof whole);
}

static void tell(char *bytes, const lie *l) {
    char *at = bytes;
    if (l->place >= SECTION)
        at = section(bytes, (ex_section_kind)(l->place - SECTION), l->index);
    else if (l->place >= ENTRY)
        at = (char *)find(bytes, (ex_section_kind)(l->place - ENTRY), l->index);
    put(at + l->at, l);
}

static void refuse(const lie *list, size_t count) {
    char *copy = malloc(pack_size);
    int believed = 0;
    for (size_t i = 0; i < count; i++) {
        memcpy(copy, pack, pack_size);
        for (; list[i].more; i++)
            tell(copy, &list[i]);
        tell(copy, &list[i]);
        assert_true(memcmp(copy, pack, pack_size) != 0);
        seal(copy);
        ex_error error;
        ex_result result = try_unpack(copy, pack_size, &error);
        if (result == EX_OK || result == EX_ERROR_CHECKSUM || result == EX_ERROR_MEMORY) {
            print_error("%s: result %d, '%s'\n", list[i].what, (int)result, error.text);
            believed++;
        }
    }
    free(copy);
    assert_int_equal(believed, 0);
}

static void lies_are_refused(void **state) {
    (void)state;
    refuse(lies, sizeof lies / sizeof *lies);
}

static void lies_about_everything_are_refused(void **state) {
    (void)state;
    refuse(whole_lies, sizeof whole_lies / sizeof *whole_lies);
}

/* The second offset at the place of the first. */
static void offsets_ascend(void **state) {
    (void)state;
    char *copy = malloc(pack_size);
    int tried = 0;
    for (uint32_t i = 0; i < header_of(pack)->section_count; i++) {
        const exi_pack_entry *entry = &entries_of(pack)[i];
        if (entry->kind != EX_SECTION_OFFSET_PLACES || entry->size < 8)
            continue;
        memcpy(copy, pack, pack_size);
        memcpy(copy + entry->offset + 4, pack + entry->offset, 4);
        seal(copy);
        ex_error error;
        assert_int_equal(try_unpack(copy, pack_size, &error), EX_ERROR_DATA);
        tried++;
    }
    assert_true(tried >= 3);
    free(copy);
}

/* A NaN weight or tangent of the limit; their places follow from the head. */
static void stencils_are_numbers(void **state) {
    (void)state;
    char *copy = malloc(pack_size);
    exi_pack_stencils head;
    memcpy(&head, section(pack, EX_SECTION_STENCILS, 3), sizeof head);
    const size_t weights = sizeof head + ((size_t)head.vertex_count + 1 + (size_t)head.weight_count) * 4;
    const uint32_t bad = NAN_BITS;
    for (size_t i = 0; i < 3 * (size_t)head.weight_count; i++) {
        memcpy(copy, pack, pack_size);
        memcpy((char *)section(copy, EX_SECTION_STENCILS, 3) + weights + 4 * i, &bad, sizeof bad);
        seal(copy);
        ex_error error;
        assert_int_equal(try_unpack(copy, pack_size, &error), EX_ERROR_DATA);
        assert_non_null(strstr(error.text, "limit"));
    }
    free(copy);
}

/* Rows without weights for more vertices than the level has; the section has the length in its head. */
static void stencils_are_those_of_their_level(void **state) {
    (void)state;
    char *copy = malloc(pack_size);
    memcpy(copy, pack, pack_size);
    exi_pack_stencils *head = section(copy, EX_SECTION_STENCILS, 1);
    head->vertex_count += 2 * head->weight_count;
    head->weight_count = 0;
    memset(head + 1, 0, (size_t)find(copy, EX_SECTION_STENCILS, 1)->size - sizeof *head);
    seal(copy);
    ex_error error;
    assert_int_equal(try_unpack(copy, pack_size, &error), EX_ERROR_DATA);
    free(copy);
}

/* Counts that a file of this format does not have are 0. */
static void counts_may_be_fewer(void **state) {
    (void)state;
    char *copy = malloc(pack_size);
    memcpy(copy, pack, pack_size);
    find(copy, EX_SECTION_COUNTS, 0)->size = offsetof(exi_rig_counts, joints);
    seal(copy);
    ex_error error;
    assert_int_equal(try_unpack(copy, pack_size, &error), EX_OK);
    free(copy);
}

/* More counts than this version has are those of another format. */
static void counts_may_not_be_more(void **state) {
    (void)state;
    const size_t room = 16, end = ex_pack_section(pack, 0).offset + sizeof(exi_rig_counts);
    char *copy = calloc(1, pack_size + room); /* everything after the counts moves */
    memcpy(copy, pack, end);
    memcpy(copy + end + room, pack + end, pack_size - end);
    for (uint32_t i = 1; i < header_of(copy)->section_count; i++)
        entries_of(copy)[i].offset += room;
    exi_pack_entry *counts = &entries_of(copy)[0];
    counts->size += room;
    counts->checksum = exi_checksum(copy + counts->offset, (size_t)counts->size);
    header_of(copy)->size += room;
    seal_header(copy);
    ex_error error;
    assert_int_equal(try_unpack(copy, pack_size + room, &error), EX_ERROR_FORMAT);
    assert_non_null(strstr(error.text, "counts that this version does not know"));
    free(copy);
}

/* A limit belongs to a refined rig, also without levels. */
static void a_limit_needs_stencils(void **state) {
    (void)state;
    char *copy = malloc(pack_size);
    memcpy(copy, pack, pack_size);
    ((exi_rig_counts *)section(copy, EX_SECTION_COUNTS, 0))->refinement = EXI_REFINED_LIMIT;
    seal(copy);
    ex_error error;
    assert_int_equal(try_unpack(copy, pack_size, &error), EX_ERROR_DATA);
    free(copy);
}

static int set_up_limit(void **state) {
    (void)state;
    return set_up_with(WHOLE_LIMIT);
}

static void the_truth_is_believed(void **state) {
    (void)state;
    char *copy = malloc(pack_size);
    memcpy(copy, pack, pack_size);
    seal(copy);
    assert_memory_equal(copy, pack, pack_size);
    ex_error error;
    assert_int_equal(try_unpack(copy, pack_size, &error), EX_OK);
    free(copy);
}

/* Places of tables in memory differ from build to build, so they must not be in a file. */
static void places_in_memory_are_not_stored(void **state) {
    (void)state;
    for (int i = 0; i < RIG_LAYERS; i++)
        assert_int_equal(((exi_layer_record *)section(pack, EX_SECTION_LAYERS, 0))[i].weigher, 0);
    for (uint32_t i = 0; i < RIG_NOTES; i++)
        assert_int_equal(((exi_note_record *)section(pack, EX_SECTION_NOTE, i))->data, 0);
}

/* Without its 0 the last name would continue into the following bytes. */
static void the_last_name_must_end(void **state) {
    (void)state;
    char *copy = malloc(pack_size);
    memcpy(copy, pack, pack_size);
    ((char *)section(copy, EX_SECTION_STRINGS, 0))[find(copy, EX_SECTION_STRINGS, 0)->size - 1] = 'x';
    seal(copy);
    ex_error error;
    assert_int_equal(try_unpack(copy, pack_size, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "names");
    free(copy);
}

/* Every word of the pack, set to the most harmful values: refused, or a usable rig. */
static void every_word_may_lie(void **state) {
    (void)state;
    static const uint32_t values[] = {0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x7FEFFFFF, 0xFFF00000};
    char *copy = malloc(pack_size);
    for (size_t at = 8; at < pack_size; at += 4)
        for (size_t v = 0; v < sizeof values / sizeof *values + 2; v++) {
            memcpy(copy, pack, pack_size);
            uint32_t word;
            memcpy(&word, copy + at, sizeof word);
            word = v < 7 ? values[v] : v == 7 ? word + 1 : word - 1;
            memcpy(copy + at, &word, sizeof word);
            if (header_of(copy)->section_count != header_of(pack)->section_count ||
                header_of(copy)->header_size != header_of(pack)->header_size)
                continue;
            ex_error error;
            seal(copy);
            try_unpack(copy, pack_size, &error);
        }
    free(copy);
}

/* Notes have their own size in the file; the section's is the one used. */
static void a_note_cannot_claim_more(void **state) {
    (void)state;
    char *copy = malloc(pack_size);
    memcpy(copy, pack, pack_size);
    exi_note_record *note = section(copy, EX_SECTION_NOTE, 0);
    note->size = 1 << 30;
    note->data = UINT64_MAX - 15;
    memset(note->kind, 'k', sizeof note->kind);
    seal(copy);
    ex_error error;
    try_unpack(copy, pack_size, &error);
    ex_rig *rig = NULL;
    if (ex_rig_unpack(copy, pack_size, NULL, NULL, &rig, NULL) == EX_OK) {
        assert_int_equal(ex_rig_attachment(rig, 0).size, 10);
        assert_true(strlen(ex_rig_attachment(rig, 0).kind) < EX_ATTACHMENT_KIND_SIZE);
    }
    ex_rig_destroy(rig);
    free(copy);
}

/* Many examples that all point at one section: a small file must not allocate a large rig. */
static void a_section_cannot_serve_twice(void **state) {
    (void)state;
    enum { VERTICES = 4000, EXAMPLES = 2000 };
    sample_rig s;
    sample_rig_open(&s, VERTICES);
    static const char *names[EXAMPLES];
    static char name_room[EXAMPLES][16];
    static ex_axis axes[EXAMPLES];
    static const float *deltas[EXAMPLES];
    for (int i = 0; i < EXAMPLES; i++) {
        snprintf(name_room[i], sizeof name_room[i], "e%d", i);
        names[i] = name_room[i];
        axes[i] = ex_axis_scalar(0, 1, 0);
        deltas[i] = s.deltas[0];
    }
    s.layers[2].weigh.axes = axes;
    s.layers[2].weigh.axis_count = s.layers[2].weigh.example_count = EXAMPLES;
    s.layers[2].axis_names = s.layers[2].example_names = names;
    s.layers[2].form.deltas = deltas;
    s.def.layers = &s.layers[2];
    s.def.layer_count = 1;
    ex_rig *rig = rig_of(&s.def);
    size_t size = 0;
    char *whole = pack_of(rig, &size);
    ex_rig_destroy(rig);
    sample_rig_close(&s);
    exi_pack_entry *first = find(whole, EX_SECTION_TARGET, 0);
    for (uint32_t i = 1; i < EXAMPLES; i++) {
        exi_pack_entry *entry = first + i;
        entry->offset = first->offset;
        entry->checksum = first->checksum;
    }
    const size_t cut = (size_t)(first->offset + first->size); /* half a megabyte instead of a hundred */
    header_of(whole)->size = cut;
    seal_header(whole);
    failing_allocator f;
    failing_allocator_open(&f);
    ex_error error = {0};
    ex_result result = ex_rig_unpack(whole, cut, NULL, &f.allocator, &rig, &error);
    free(whole);
    if (result == EX_OK)
        ex_rig_destroy(rig);
    if (f.largest > 20 * cut)
        fail_msg("a file of %zu bytes asked for %zu", cut, f.largest);
    assert_int_equal(result, EX_ERROR_FORMAT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_truth_is_believed),
        cmocka_unit_test(lies_are_refused),
        cmocka_unit_test(counts_may_be_fewer),
        cmocka_unit_test(counts_may_not_be_more),
        cmocka_unit_test(places_in_memory_are_not_stored),
        cmocka_unit_test(the_last_name_must_end),
        cmocka_unit_test(every_word_may_lie),
        cmocka_unit_test(a_note_cannot_claim_more),
        cmocka_unit_test(a_section_cannot_serve_twice),
    };
    const struct CMUnitTest whole_tests[] = {
        cmocka_unit_test(the_truth_is_believed), cmocka_unit_test(lies_about_everything_are_refused),
        cmocka_unit_test(stencils_are_numbers),  cmocka_unit_test(stencils_are_those_of_their_level),
        cmocka_unit_test(offsets_ascend),        cmocka_unit_test(the_last_name_must_end),
        cmocka_unit_test(every_word_may_lie),
    };
    const struct CMUnitTest limit_tests[] = {
        cmocka_unit_test(the_truth_is_believed),
        cmocka_unit_test(a_limit_needs_stencils),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down) +
           cmocka_run_group_tests_name("with a limit alone", limit_tests, set_up_limit, tear_down) +
           cmocka_run_group_tests_name("with everything", whole_tests, set_up_whole, tear_down);
}
