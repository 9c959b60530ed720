/*
 * Header and directory of a pack, as they stand in the file (docs/rig-format.md). No padding, little-endian.
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
    exi_rig_counts counts;
} exi_pack_header;

typedef struct exi_pack_entry {
    uint32_t kind, index;
    uint64_t offset, size; /* from the start of the pack */
    uint64_t checksum;
} exi_pack_entry;

_Static_assert(sizeof(exi_pack_header) == 88, "the file format has no padding");
_Static_assert(sizeof(exi_pack_entry) == 32, "the file format has no padding");
_Static_assert(sizeof(exi_input_record) == 16 + 14 * 8, "the file format has no padding");
_Static_assert(sizeof(exi_layer_record) == 40, "the file format has no padding");
_Static_assert(sizeof(exi_note_record) == 32, "the file format has no padding");
_Static_assert(sizeof(ex_weigher) == 144, "the file format has no padding");

#endif
