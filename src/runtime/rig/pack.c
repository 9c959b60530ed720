/*
 * The packed form of a rig: a header with counts and a directory of sections, each with its own checksum, then the
 * sections (docs/rig-format.md). Sections that a glTF viewer reads too (positions, texture coordinates, normals,
 * triangles, targets) are in the form that glTF wants: split vertices, triples of float. Little-endian.
 */
#include "runtime/rig/pack.h"

#include "runtime/base/checksum.h"
#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/rig/rig.h"

#include <string.h>

/* ---- the list of sections of a rig ---- */

typedef struct section_list {
    exi_pack_entry *entries; /* NULL: only count */
    int count;
    uint64_t cursor;
} section_list;

static void add_section(section_list *list, ex_section_kind kind, int index, uint64_t size) {
    list->cursor = (list->cursor + 15) / 16 * 16;
    if (list->entries)
        list->entries[list->count] =
            (exi_pack_entry){.kind = (uint32_t)kind, .index = (uint32_t)index, .offset = list->cursor, .size = size};
    list->count++;
    list->cursor += size;
}

static void list_sections(const ex_rig *rig, section_list *list) {
    const exi_rig_counts *c = &rig->counts;
    const uint64_t splits = (uint64_t)c->splits;
    add_section(list, EX_SECTION_STRINGS, 0, c->string_size);
    add_section(list, EX_SECTION_INPUTS, 0, (uint64_t)c->inputs * sizeof(exi_input_record));
    add_section(list, EX_SECTION_LAYERS, 0, (uint64_t)c->layers * sizeof(exi_layer_record));
    add_section(list, EX_SECTION_AXES, 0, (uint64_t)c->axes * sizeof(int32_t));
    add_section(list, EX_SECTION_EXAMPLES, 0, (uint64_t)c->examples * sizeof(uint32_t));
    for (int i = 0; i < c->layers; i++)
        add_section(list, EX_SECTION_WEIGHER, i, exi_rig_layers(rig)[i].weigher_size);
    if (c->flags & EXI_RIG_SEAMS)
        add_section(list, EX_SECTION_SOURCES, 0, splits * sizeof(uint32_t));
    add_section(list, EX_SECTION_FACES, 0, (uint64_t)c->faces * sizeof(uint32_t));
    add_section(list, EX_SECTION_CORNERS, 0, (uint64_t)c->corners * sizeof(uint32_t));
    for (int i = 0; i < c->notes; i++)
        add_section(list, EX_SECTION_NOTE, i, sizeof(exi_note_record) + exi_rig_notes(rig)[i].size);
    add_section(list, EX_SECTION_TRIANGLES, 0, (uint64_t)c->triangles * 3 * sizeof(uint32_t));
    add_section(list, EX_SECTION_POSITIONS, 0, splits * 3 * sizeof(float));
    if (c->flags & EXI_RIG_TEXCOORDS)
        add_section(list, EX_SECTION_TEXCOORDS, 0, splits * 2 * sizeof(float));
    if (c->flags & EXI_RIG_NORMALS)
        add_section(list, EX_SECTION_NORMALS, 0, splits * 3 * sizeof(float));
    for (int i = 0; i < c->examples; i++)
        add_section(list, EX_SECTION_TARGET, i, splits * 3 * sizeof(float));
}

static uint64_t header_size(int section_count) {
    return sizeof(exi_pack_header) + (uint64_t)section_count * sizeof(exi_pack_entry);
}

static int count_sections(const ex_rig *rig) {
    section_list list = {0};
    list_sections(rig, &list);
    return list.count;
}

size_t ex_rig_pack_size(const ex_rig *rig) {
    if (!rig || ex_rig_storage(rig) != EX_STORAGE_FLOAT)
        return 0;
    section_list list = {.cursor = header_size(count_sections(rig))};
    list_sections(rig, &list);
    return list.cursor <= SIZE_MAX ? (size_t)list.cursor : 0;
}

/* ---- writing ---- */

/* [vertices][3] to [splits][3], in place from the end: split vertices never stand before their source. */
static void spread_to_splits(const ex_rig *rig, float *values) {
    if (!(rig->counts.flags & EXI_RIG_SEAMS))
        return;
    const uint32_t *sources = exi_rig_at(rig, rig->sources);
    for (size_t i = (size_t)rig->counts.splits; i-- > 0;)
        memmove(values + 3 * i, values + 3 * (size_t)sources[i], 3 * sizeof(float));
}

static void write_layers(const ex_rig *rig, void *out) {
    exi_layer_record *layers = out;
    memcpy(layers, exi_rig_layers(rig), (size_t)rig->counts.layers * sizeof *layers);
    for (int i = 0; i < rig->counts.layers; i++)
        layers[i].weigher = 0; /* where it stands in memory is no business of the file */
}

static void write_section(const ex_rig *rig, const exi_pack_entry *entry, void *out) {
    const size_t size = (size_t)entry->size;
    switch ((ex_section_kind)entry->kind) {
    case EX_SECTION_STRINGS:
        memcpy(out, exi_rig_at(rig, rig->strings), size);
        break;
    case EX_SECTION_INPUTS:
        memcpy(out, exi_rig_at(rig, rig->inputs), size);
        break;
    case EX_SECTION_LAYERS:
        write_layers(rig, out);
        break;
    case EX_SECTION_AXES:
        memcpy(out, exi_rig_at(rig, rig->axis_inputs), size);
        break;
    case EX_SECTION_EXAMPLES:
        memcpy(out, exi_rig_at(rig, rig->example_names), size);
        break;
    case EX_SECTION_WEIGHER:
        memcpy(out, ex_rig_weigher(rig, (int)entry->index), size);
        break;
    case EX_SECTION_SOURCES:
        memcpy(out, exi_rig_at(rig, rig->sources), size);
        break;
    case EX_SECTION_FACES:
        memcpy(out, exi_rig_at(rig, rig->faces), size);
        break;
    case EX_SECTION_CORNERS:
        memcpy(out, exi_rig_at(rig, rig->corners), size);
        break;
    case EX_SECTION_NOTE: {
        exi_note_record note = exi_rig_notes(rig)[entry->index];
        memcpy((char *)out + sizeof note, exi_rig_at(rig, note.data), (size_t)note.size);
        note.data = 0;
        memcpy(out, &note, sizeof note);
        break;
    }
    case EX_SECTION_TRIANGLES:
        memcpy(out, exi_rig_at(rig, rig->triangles), size);
        break;
    case EX_SECTION_POSITIONS:
        exi_forms_get_base(exi_rig_forms(rig), out);
        spread_to_splits(rig, out);
        break;
    case EX_SECTION_TEXCOORDS:
        memcpy(out, exi_rig_at(rig, rig->texcoords), size);
        break;
    case EX_SECTION_NORMALS:
        memcpy(out, exi_rig_at(rig, rig->normals), size);
        break;
    case EX_SECTION_TARGET:
        exi_forms_get_example(exi_rig_forms(rig), (int)entry->index, out);
        spread_to_splits(rig, out);
        break;
    case EX_SECTION_KIND_COUNT:
        break;
    }
}

ex_result ex_rig_pack(const ex_rig *rig, void *bytes, size_t size, ex_error *error) {
    size_t needed = ex_rig_pack_size(rig);
    if (needed == 0)
        return exi_error(error, EX_ERROR_ARGUMENT,
                         "a rig in 16-bit storage cannot be packed: files are float, load it that way");
    if (!bytes || size < needed)
        return exi_error(error, EX_ERROR_ARGUMENT, "the pack needs %zu bytes, there is room for %zu", needed, size);
    memset(bytes, 0, needed);
    exi_pack_header header = {.format = EX_FORMAT, .size = needed, .counts = rig->counts};
    memcpy(header.magic, EXI_PACK_MAGIC, sizeof header.magic);
    header.section_count = (uint32_t)count_sections(rig);
    header.header_size = (uint32_t)header_size((int)header.section_count);
    exi_pack_entry *entries = (exi_pack_entry *)(void *)((char *)bytes + sizeof header);
    section_list list = {.entries = entries, .cursor = header.header_size};
    list_sections(rig, &list);
    for (int i = 0; i < list.count; i++) {
        char *out = (char *)bytes + entries[i].offset;
        write_section(rig, &entries[i], out);
        entries[i].checksum = exi_checksum(out, (size_t)entries[i].size);
    }
    memcpy(bytes, &header, sizeof header);
    header.checksum = exi_checksum(bytes, header.header_size);
    memcpy(bytes, &header, sizeof header);
    return EX_OK;
}

/* ---- the directory ---- */

size_t ex_pack_header_size(const void *pack) {
    exi_pack_header header;
    memcpy(&header, pack, sizeof header);
    return header.header_size;
}

int ex_pack_section_count(const void *pack) {
    exi_pack_header header;
    memcpy(&header, pack, sizeof header);
    return (int)header.section_count;
}

ex_section ex_pack_section(const void *pack, int section) {
    exi_pack_entry entry;
    memcpy(&entry, (const char *)pack + sizeof(exi_pack_header) + (size_t)section * sizeof entry, sizeof entry);
    return (ex_section){.kind = (ex_section_kind)entry.kind,
                        .index = (int)entry.index,
                        .offset = (size_t)entry.offset,
                        .size = (size_t)entry.size};
}
