/*
 * The packed form of a rig: a header and a directory of sections, each with its own checksum, then the sections
 * (docs/reference/rig.md). Sections that a glTF viewer reads too (positions, texture coordinates, normals, triangles,
 * skin, targets) are in the form that glTF requires: split vertices, triples of float. Little-endian.
 */
#include "runtime/rig/pack/pack.h"

#include "runtime/base/checksum.h"
#include "runtime/base/result.h"
#include "runtime/rig/domains/domain.h"
#include "runtime/rig/drive/drive.h"

#include <string.h>

/* ---- the list of sections of a rig ---- */

typedef struct section_list {
    exi_pack_entry *entries; /* NULL: count only */
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

static const exi_level_record *level_of(const ex_rig *rig, int level) {
    return &exi_rig_levels(rig)[level];
}

/* Adds a table that every level has, or those levels with the flag. */
static void add_level_tables(section_list *list, const ex_rig *rig, ex_section_kind kind, uint32_t flag) {
    for (int i = 0; i <= rig->counts.levels; i++) {
        const exi_level_record *level = level_of(rig, i);
        const uint64_t sizes[EX_SECTION_KIND_COUNT] = {
            [EX_SECTION_SOURCES] = (uint64_t)level->splits * sizeof(uint32_t),
            [EX_SECTION_FACES] = (uint64_t)level->faces * sizeof(uint32_t),
            [EX_SECTION_CORNERS] = (uint64_t)level->corners * sizeof(uint32_t),
            [EX_SECTION_TRIANGLES] = (uint64_t)level->triangles * 3 * sizeof(uint32_t),
            [EX_SECTION_TEXCOORDS] = (uint64_t)level->splits * 2 * sizeof(float)};
        if (!flag || level->flags & flag)
            add_section(list, kind, i, sizes[kind]);
    }
}

/* Adds the sections of the layers' domains of the kinds first to last. */
static void add_domain_sections(section_list *list, const ex_rig *rig, ex_section_kind first, ex_section_kind last) {
    for (ex_section_kind kind = first; kind <= last; kind++)
        for (int l = 0; l < rig->counts.layers; l++) {
            const exi_layer_record *layer = &exi_rig_layers(rig)[l];
            const exi_domain_section *section = exi_domain_find_section(exi_domains[layer->domain], kind);
            uint64_t size = 0;
            if (section && section->of_layer && section->size(rig, l, -1, &size))
                add_section(list, kind, l, size);
            for (int k = 0; section && !section->of_layer && k < layer->example_count; k++)
                if (section->size(rig, l, k, &size))
                    add_section(list, kind, exi_example_index(layer, k), size);
        }
}

/* Adds the driver, the regions of the layers that it weighs, and its form in their examples. */
static void add_driver(section_list *list, const ex_rig *rig) {
    const exi_drive *drive = exi_rig_drive(rig);
    if (!drive)
        return;
    const exi_drive_key *keys = exi_drive_at(drive, drive->keys);
    add_section(list, EX_SECTION_DRIVER, 0, drive->section_size);
    for (int l = 0; l < drive->layer_count; l++)
        add_section(list, EX_SECTION_REGIONS, exi_drive_layers(drive)[l].layer,
                    exi_drive_layers(drive)[l].regions_size);
    for (int i = 0; i < rig->counts.examples; i++)
        if (keys[i].size > 0)
            add_section(list, EX_SECTION_DRIVER_KEY, i, keys[i].size);
}

static void add_stencils(section_list *list, const ex_rig *rig) {
    const ex_stencils *stencils = exi_rig_part(rig, rig->stencils);
    for (int i = 1; i <= rig->counts.levels; i++)
        add_section(list, EX_SECTION_STENCILS, i, exi_pack_stencils_size(stencils, i));
    if (rig->counts.refinement & EXI_REFINED_LIMIT)
        add_section(list, EX_SECTION_STENCILS, rig->counts.levels + 1,
                    exi_pack_stencils_size(stencils, EX_LEVEL_LIMIT));
}

static void list_small_sections(const ex_rig *rig, section_list *list) {
    const exi_rig_counts *c = &rig->counts;
    const uint64_t joints = (uint64_t)c->joints;
    add_section(list, EX_SECTION_COUNTS, 0, sizeof *c);
    add_section(list, EX_SECTION_STRINGS, 0, c->string_size);
    add_section(list, EX_SECTION_INPUTS, 0, (uint64_t)c->inputs * sizeof(exi_input_record));
    add_section(list, EX_SECTION_LAYERS, 0, (uint64_t)c->layers * sizeof(exi_layer_record));
    add_section(list, EX_SECTION_AXES, 0, (uint64_t)c->axes * sizeof(int32_t));
    add_section(list, EX_SECTION_EXAMPLES, 0, (uint64_t)c->examples * sizeof(uint32_t));
    for (int i = 0; i < c->layers; i++)
        add_section(list, EX_SECTION_WEIGHER, i, exi_rig_layers(rig)[i].weigher_size);
    if (joints > 0)
        add_section(list, EX_SECTION_JOINTS, 0, joints * sizeof(exi_pack_joint));
    for (int i = 0; i < c->shifts; i++)
        add_section(list, EX_SECTION_SHIFTS, exi_rig_shifts(rig)[i].example, joints * 3 * sizeof(float));
    if (c->textures > 0)
        add_section(list, EX_SECTION_TEXTURES, 0, (uint64_t)c->textures * sizeof(exi_texture_record));
    add_domain_sections(list, rig, EX_SECTION_IMAGE, EX_SECTION_IMAGE);
}

static void list_sections(const ex_rig *rig, section_list *list) {
    const exi_rig_counts *c = &rig->counts;
    const uint64_t splits = (uint64_t)c->splits;
    list_small_sections(rig, list);
    if (c->levels > 0)
        add_section(list, EX_SECTION_LEVELS, 0, (uint64_t)c->levels * sizeof(exi_pack_level));
    add_stencils(list, rig);
    add_level_tables(list, rig, EX_SECTION_SOURCES, EXI_RIG_SEAMS);
    add_level_tables(list, rig, EX_SECTION_FACES, 0);
    add_level_tables(list, rig, EX_SECTION_CORNERS, 0);
    for (int i = 0; i < c->notes; i++)
        add_section(list, EX_SECTION_NOTE, i, sizeof(exi_note_record) + exi_rig_notes(rig)[i].size);
    add_level_tables(list, rig, EX_SECTION_TRIANGLES, 0);
    add_section(list, EX_SECTION_POSITIONS, 0, splits * 3 * sizeof(float));
    add_level_tables(list, rig, EX_SECTION_TEXCOORDS, EXI_RIG_TEXCOORDS);
    if (c->flags & EXI_RIG_NORMALS)
        add_section(list, EX_SECTION_NORMALS, 0, splits * 3 * sizeof(float));
    if (c->joints > 0)
        add_section(list, EX_SECTION_INVERSE_BINDS, 0, (uint64_t)c->joints * 16 * sizeof(float));
    for (int i = 0; i < c->skin_sets; i++)
        add_section(list, EX_SECTION_SKIN_JOINTS, i, splits * 4 * sizeof(uint16_t));
    for (int i = 0; i < c->skin_sets; i++)
        add_section(list, EX_SECTION_SKIN_WEIGHTS, i, splits * 4 * sizeof(float));
    add_domain_sections(list, rig, EX_SECTION_TARGET, EX_SECTION_MASK);
    add_driver(list, rig);
    add_domain_sections(list, rig, EX_SECTION_DRIVER_KEY + 1, EX_SECTION_KIND_COUNT - 1);
}

static uint64_t header_size(int section_count) {
    return sizeof(exi_pack_header) + (uint64_t)section_count * sizeof(exi_pack_entry);
}

static int count_sections(const ex_rig *rig) {
    section_list list = {0};
    list_sections(rig, &list);
    return list.count;
}

/* Returns the reason why a rig cannot be packed, or NULL if it can. */
static const char *lack_of(const ex_rig *rig) {
    if (ex_rig_storage(rig) != EX_STORAGE_FLOAT)
        return "a rig in 16-bit storage cannot be packed: files are float, load it that way";
    if (rig->counts.refinement & EXI_REFINED && !rig->stencils)
        return "a rig that was loaded without its levels cannot be packed: load it with them";
    return NULL;
}

size_t ex_rig_pack_size(const ex_rig *rig) {
    if (!rig || lack_of(rig))
        return 0;
    section_list list = {.cursor = header_size(count_sections(rig))};
    list_sections(rig, &list);
    return list.cursor <= SIZE_MAX ? (size_t)list.cursor : 0;
}

/* ---- writing ---- */

/* Works from the end: split vertices never come before their source. */
void exi_pack_spread(const ex_rig *rig, float *values) {
    if (!(rig->counts.flags & EXI_RIG_SEAMS))
        return;
    const uint32_t *sources = exi_rig_at(rig, level_of(rig, 0)->sources);
    for (size_t i = (size_t)rig->counts.splits; i-- > 0;)
        memmove(values + 3 * i, values + 3 * (size_t)sources[i], 3 * sizeof(float));
}

/* Clears offsets in memory, which do not belong in the file. */
static void write_layers(const ex_rig *rig, void *out) {
    exi_layer_record *layers = out;
    for (int i = 0; i < rig->counts.layers; i++) {
        layers[i] = exi_rig_layers(rig)[i];
        layers[i].weigher = 0;
        layers[i].first_weight = layers[i].weight_count = 0;
    }
}

/* Writes a section of a layer's domain. */
static void write_domain_section(const ex_rig *rig, const exi_pack_entry *entry, void *out) {
    for (int l = 0; l < rig->counts.layers; l++) {
        const exi_layer_record *layer = &exi_rig_layers(rig)[l];
        const exi_domain_section *section =
            exi_domain_find_section(exi_domains[layer->domain], (ex_section_kind)entry->kind);
        const int example = (int)entry->index - layer->first_example;
        if (section && section->of_layer && (int)entry->index == l)
            section->write(rig, l, -1, out);
        else if (section && !section->of_layer && example >= 0 && example < layer->example_count)
            section->write(rig, l, example, out);
    }
}

static void write_note(const ex_rig *rig, int index, void *out) {
    exi_note_record note = exi_rig_notes(rig)[index];
    memcpy((char *)out + sizeof note, exi_rig_at(rig, note.data), (size_t)note.size);
    note.data = 0;
    memcpy(out, &note, sizeof note);
}

static void write_levels(const ex_rig *rig, void *out) {
    exi_pack_level *levels = out;
    for (int i = 0; i < rig->counts.levels; i++) {
        const exi_level_record *level = level_of(rig, i + 1);
        levels[i] = (exi_pack_level){level->vertices, level->splits,    level->faces,
                                     level->corners,  level->triangles, level->flags};
    }
}

/* Returns the offset in memory of a section that is stored unchanged; 0 for others. */
static uint64_t place_in_memory(const ex_rig *rig, const exi_pack_entry *entry, int place) {
    const int index = (int)entry->index;
    switch ((ex_section_kind)entry->kind) {
    case EX_SECTION_STRINGS:
        return rig->strings;
    case EX_SECTION_INPUTS:
        return rig->inputs;
    case EX_SECTION_AXES:
        return rig->axis_inputs;
    case EX_SECTION_EXAMPLES:
        return rig->example_names;
    case EX_SECTION_WEIGHER:
        return exi_rig_layers(rig)[index].weigher;
    case EX_SECTION_SHIFTS:
        return exi_rig_shifts(rig)[place].data;
    case EX_SECTION_TEXTURES:
        return rig->textures;
    case EX_SECTION_SOURCES:
        return level_of(rig, index)->sources;
    case EX_SECTION_FACES:
        return level_of(rig, index)->face_sizes;
    case EX_SECTION_CORNERS:
        return level_of(rig, index)->corner_splits;
    case EX_SECTION_TRIANGLES:
        return level_of(rig, index)->triangle_splits;
    case EX_SECTION_TEXCOORDS:
        return level_of(rig, index)->texcoords;
    case EX_SECTION_NORMALS:
        return rig->normals;
    case EX_SECTION_DRIVER:
        return rig->drive + exi_rig_drive(rig)->section;
    case EX_SECTION_REGIONS:
        return rig->drive + exi_drive_layer_of(rig, index)->regions;
    case EX_SECTION_DRIVER_KEY:
        return rig->drive +
               ((const exi_drive_key *)exi_drive_at(exi_rig_drive(rig), exi_rig_drive(rig)->keys))[index].data;
    default:
        return 0;
    }
}

/* `place` counts the sections of one kind. */
static void write_section(const ex_rig *rig, const exi_pack_entry *entry, int place, void *out) {
    const int index = (int)entry->index;
    const uint64_t from = place_in_memory(rig, entry, place);
    switch ((ex_section_kind)entry->kind) {
    case EX_SECTION_COUNTS:
        memcpy(out, &rig->counts, sizeof rig->counts);
        break;
    case EX_SECTION_LAYERS:
        write_layers(rig, out);
        break;
    case EX_SECTION_JOINTS:
        exi_pack_joints(rig, out);
        break;
    case EX_SECTION_LEVELS:
        write_levels(rig, out);
        break;
    case EX_SECTION_STENCILS:
        exi_pack_stencil_rows(exi_rig_part(rig, rig->stencils), index <= rig->counts.levels ? index : EX_LEVEL_LIMIT,
                              out);
        break;
    case EX_SECTION_NOTE:
        write_note(rig, index, out);
        break;
    case EX_SECTION_POSITIONS:
        exi_forms_get_base(exi_rig_forms(rig), out);
        exi_pack_spread(rig, out);
        break;
    case EX_SECTION_INVERSE_BINDS:
        exi_pack_inverse_binds(exi_rig_part(rig, rig->skeleton), out);
        break;
    case EX_SECTION_SKIN_JOINTS:
        exi_pack_skin(rig, index, out, NULL);
        break;
    case EX_SECTION_SKIN_WEIGHTS:
        exi_pack_skin(rig, index, NULL, out);
        break;
    default:
        if (from > 0 && entry->size > 0)
            memcpy(out, exi_rig_at(rig, from), (size_t)entry->size);
        else if (from == 0)
            write_domain_section(rig, entry, out);
        break;
    }
}

ex_result ex_rig_pack(const ex_rig *rig, void *bytes, size_t size, ex_error *error) {
    if (!rig)
        return exi_misuse_error(error, __func__, "no rig");
    const char *lack = lack_of(rig);
    size_t needed = ex_rig_pack_size(rig);
    if (needed == 0)
        return ex_error_set(error, lack ? EX_ERROR_ARGUMENT : EX_ERROR_LIMIT, "%s",
                            lack ? lack : "the rig is too large to be packed on this machine");
    if (!bytes || size < needed)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "the pack needs %zu bytes, but there is room for %zu", needed,
                            size);
    memset(bytes, 0, needed);
    exi_pack_header header = {.format = EX_FORMAT, .size = needed};
    memcpy(header.magic, EXI_PACK_MAGIC, sizeof header.magic);
    header.section_count = (uint32_t)count_sections(rig);
    header.header_size = (uint32_t)header_size((int)header.section_count);
    exi_pack_entry *entries = (exi_pack_entry *)(void *)((char *)bytes + sizeof header);
    section_list list = {.entries = entries, .cursor = header.header_size};
    list_sections(rig, &list);
    for (int i = 0, place = 0; i < list.count; i++) {
        char *out = (char *)bytes + entries[i].offset;
        place = i > 0 && entries[i].kind == entries[i - 1].kind ? place + 1 : 0;
        write_section(rig, &entries[i], place, out);
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
