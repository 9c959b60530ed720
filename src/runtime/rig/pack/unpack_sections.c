/*
 * Takes the sections of a pack in order. Every size is computed from the counts, or from records in earlier sections,
 * and compared with the directory: a false count finds no section of its size. Sizes are 64 bits wide and products of
 * 32-bit numbers that are not negative, times at most 64: they cannot overflow.
 */
#include "runtime/base/checksum.h"
#include "runtime/base/result.h"
#include "runtime/rig/domains/domain.h"

#include <string.h>

/* ---- one section ---- */

static exi_pack_entry entry_of(const exi_unpack *u, uint32_t section) {
    exi_pack_entry entry;
    memcpy(&entry, u->pack + sizeof u->header + (size_t)section * sizeof entry, sizeof entry);
    return entry;
}

/* Takes the next section of the directory, which must be of this kind. */
static bool take_any(exi_unpack *u, ex_section_kind kind, exi_pack_entry *entry, ex_error *error) {
    if (u->next >= u->header.section_count) {
        exi_unpack_damaged(error, "a section is missing");
        return false;
    }
    *entry = entry_of(u, u->next);
    if (entry->kind != (uint32_t)kind || entry->offset % 16 != 0 || entry->offset < u->end ||
        entry->offset > u->header.size || entry->size > u->header.size - entry->offset) {
        exi_unpack_damaged(error, "a section is not where or what the directory says");
        return false;
    }
    if (u->next == 0 || entry_of(u, u->next - 1).kind != (uint32_t)kind)
        u->first[kind] = u->next;
    u->count[kind]++;
    u->end = entry->offset + entry->size;
    u->next++;
    if (exi_checksum(u->pack + entry->offset, (size_t)entry->size) != entry->checksum) {
        ex_error_set(error, EX_ERROR_CHECKSUM, "section %u of the rig %s", (unsigned)u->next - 1,
                     exi_unpack_rearranged);
        return false;
    }
    return true;
}

/* The same with its index, and with at least that size, or exactly that size. */
bool exi_unpack_take_least(exi_unpack *u, ex_section_kind kind, int index, uint64_t least, ex_error *error) {
    exi_pack_entry entry;
    if (!take_any(u, kind, &entry, error))
        return false;
    if (entry.index == (uint32_t)index && entry.size >= least)
        return true;
    exi_unpack_damaged(error, "a section is not the one that the directory names, or is too short");
    return false;
}

bool exi_unpack_take(exi_unpack *u, ex_section_kind kind, int index, uint64_t size, ex_error *error) {
    if (!exi_unpack_take_least(u, kind, index, size, error))
        return false;
    if (entry_of(u, u->next - 1).size == size)
        return true;
    exi_unpack_damaged(error, "a section does not have the size that the counts need");
    return false;
}

const char *exi_unpack_section(const exi_unpack *u, ex_section_kind kind, int n, exi_pack_entry *entry) {
    const uint32_t at = u->first[kind] + (uint32_t)n;
    if (entry)
        *entry = (exi_pack_entry){0};
    if (at >= u->next)
        return NULL;
    exi_pack_entry own = entry_of(u, at);
    if (own.kind != (uint32_t)kind)
        return NULL;
    if (entry)
        *entry = own;
    return u->pack + own.offset;
}

const char *exi_unpack_find(const exi_unpack *u, ex_section_kind kind, int index, exi_pack_entry *entry) {
    uint32_t low = 0, high = u->count[kind];
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (entry_of(u, u->first[kind] + middle).index < (uint32_t)index)
            low = middle + 1;
        else
            high = middle;
    }
    exi_pack_entry own = {.index = 0};
    const char *bytes = low < u->count[kind] ? exi_unpack_section(u, kind, (int)low, &own) : NULL;
    const bool found = bytes && own.index == (uint32_t)index;
    if (entry)
        *entry = found ? own : (exi_pack_entry){0};
    return found ? bytes : NULL;
}

/* ---- counts ---- */

static bool within(int32_t value, int32_t low, int32_t high) {
    return value >= low && value <= high;
}

static bool sound_counts(const exi_rig_counts *c) {
    const bool refined = (c->refinement & EXI_REFINED) != 0, limit = (c->refinement & EXI_REFINED_LIMIT) != 0;
    return c->vertices >= 1 && c->splits >= c->vertices && c->faces >= 0 && c->corners >= 0 && c->triangles >= 0 &&
           within(c->layers, 0, EXI_TABLE_MAX) && within(c->axes, 0, EXI_TABLE_MAX) && within(c->inputs, 0, c->axes) &&
           within(c->examples, 0, EXI_TABLE_MAX) && within(c->notes, 0, EXI_TABLE_MAX) && c->flags <= 7 &&
           within(c->forms, 0, c->examples) && within(c->joints, 0, EX_JOINT_MAX) &&
           within(c->skin_sets, 0, c->joints > 0 ? EX_INFLUENCE_MAX / 4 : 0) &&
           within(c->skinning, 0, EX_SKINNING_COUNT - 1) && within(c->shifts, 0, c->joints > 0 ? c->examples : 0) &&
           within(c->textures, 0, c->layers) && within(c->refinement, 0, EXI_REFINED | EXI_REFINED_LIMIT) &&
           within(c->levels, 0, refined ? 32 : 0) && (refined || !limit) &&
           within(c->level, limit ? EX_LEVEL_LIMIT : 0, c->levels) && within(c->offsets, 0, c->examples) &&
           within(c->trajectories, 0, c->examples) && within(c->drivers, 0, 1) &&
           within(c->driver_keys, 0, c->drivers ? c->examples : 0) &&
           within(c->displacements, 0, c->levels > 0 && !limit ? c->examples : 0);
}

/* An older file of this format has fewer counts; those that it lacks are 0. */
static bool take_counts(exi_unpack *u, ex_error *error) {
    if (!exi_unpack_take_least(u, EX_SECTION_COUNTS, 0, 0, error))
        return false;
    exi_pack_entry entry;
    const char *bytes = exi_unpack_section(u, EX_SECTION_COUNTS, 0, &entry);
    if (entry.size > sizeof u->counts || entry.size % 4 != 0) {
        exi_unpack_damaged(error, "it has counts that this version does not know");
        return false;
    }
    memcpy(&u->counts, bytes, (size_t)entry.size);
    if (sound_counts(&u->counts))
        return true;
    exi_unpack_unsound(error, "counts");
    return false;
}

/* ---- records that determine the following sections ---- */

exi_layer_record exi_unpack_layer(const exi_unpack *u, int layer) {
    exi_layer_record record;
    memcpy(&record, exi_unpack_section(u, EX_SECTION_LAYERS, 0, NULL) + (size_t)layer * sizeof record, sizeof record);
    return record;
}

exi_pack_joint exi_unpack_joint(const exi_unpack *u, int joint) {
    exi_pack_joint record;
    memcpy(&record, exi_unpack_section(u, EX_SECTION_JOINTS, 0, NULL) + (size_t)joint * sizeof record, sizeof record);
    return record;
}

exi_texture_record exi_unpack_texture(const exi_unpack *u, int texture) {
    exi_texture_record record;
    memcpy(&record, exi_unpack_section(u, EX_SECTION_TEXTURES, 0, NULL) + (size_t)texture * sizeof record,
           sizeof record);
    return record;
}

exi_level_record exi_unpack_level(const exi_unpack *u, int level) {
    const exi_rig_counts *c = &u->counts;
    if (level == 0)
        return (exi_level_record){.vertices = c->vertices,
                                  .splits = c->splits,
                                  .faces = c->faces,
                                  .corners = c->corners,
                                  .triangles = c->triangles,
                                  .flags = c->flags & ~(uint32_t)EXI_RIG_NORMALS};
    exi_pack_level record;
    memcpy(&record, exi_unpack_section(u, EX_SECTION_LEVELS, 0, NULL) + (size_t)(level - 1) * sizeof record,
           sizeof record);
    return (exi_level_record){.vertices = record.vertices,
                              .splits = record.splits,
                              .faces = record.faces,
                              .corners = record.corners,
                              .triangles = record.triangles,
                              .flags = record.flags};
}

/* True if a layer's record is valid, except its start. The domain checks the fields that only it uses. */
static bool sound_layer(const exi_rig_counts *c, exi_layer_record layer, int textures) {
    if (!within(layer.domain, 0, EX_DOMAIN_COUNT - 1) || layer.axis_count < 1 || layer.example_count < 1)
        return false;
    const exi_domain *domain = exi_domains[layer.domain];
    const uint32_t flags =
        EXI_LAYER_MUTED | (domain->targets && c->drivers ? EXI_LAYER_DRIVEN | EXI_LAYER_PREDICTED : 0u);
    return (!domain->sound || domain->sound(&layer, textures)) && layer.texture == -1 && layer.frame == 0 &&
           (layer.flags & ~flags) == 0 && layer.first_weight == 0 && layer.weight_count == 0;
}

/* True if layers follow each other without gaps, and the examples of each domain match its count. */
static bool sound_layers(const exi_unpack *u) {
    const exi_rig_counts *c = &u->counts;
    int64_t axes = 0, examples = 0, forms = 0, keys = 0, driven = 0, of[EX_DOMAIN_COUNT] = {0};
    int textures = 0;
    for (int i = 0; i < c->layers; i++) {
        const exi_layer_record layer = exi_unpack_layer(u, i);
        if (!sound_layer(c, layer, textures) || layer.first_axis != axes || layer.first_example != examples ||
            layer.first_form != forms)
            return false;
        textures += layer.texture == textures;
        axes += layer.axis_count;
        examples += layer.example_count;
        forms += exi_domains[layer.domain]->forms ? layer.example_count : 0;
        of[layer.domain] += layer.example_count;
        driven += (layer.flags & EXI_LAYER_DRIVEN) != 0;
        keys += exi_layer_has_keys(layer.flags) ? layer.example_count : 0;
        if (axes > c->axes || examples > c->examples)
            return false;
    }
    for (int d = 0; d < EX_DOMAIN_COUNT; d++)
        if (exi_domains[d]->counted &&
            *(const int32_t *)(const void *)((const char *)c + exi_domains[d]->counted) != of[d])
            return false;
    return axes == c->axes && examples == c->examples && textures == c->textures && keys == c->driver_keys &&
           (driven > 0) == (c->drivers == 1);
}

static bool sound_textures(const exi_unpack *u) {
    for (int i = 0; i < u->counts.textures; i++) {
        const exi_texture_record texture = exi_unpack_texture(u, i);
        if (!within(texture.width, 1, EXI_TEXTURE_MAX) || !within(texture.height, 1, EXI_TEXTURE_MAX) ||
            !within(texture.srgb, 0, 1))
            return false;
    }
    return true;
}

static bool sound_levels(const exi_unpack *u) {
    for (int i = 1; i <= u->counts.levels; i++) {
        const exi_level_record level = exi_unpack_level(u, i);
        if (level.vertices < 1 || level.splits < level.vertices || level.faces < 0 || level.corners < 0 ||
            level.triangles < 0 || level.flags > (EXI_RIG_SEAMS | EXI_RIG_TEXCOORDS))
            return false;
    }
    return true;
}

/* ---- all ---- */

static bool take_shifts(exi_unpack *u, ex_error *error) {
    int64_t last = -1;
    for (int i = 0; i < u->counts.shifts; i++) {
        exi_pack_entry entry;
        if (!take_any(u, EX_SECTION_SHIFTS, &entry, error))
            return false;
        if (entry.index <= last || entry.index >= (uint32_t)u->counts.examples ||
            entry.size != (uint64_t)u->counts.joints * 3 * sizeof(float)) {
            exi_unpack_damaged(error, "the joints of its examples are out of order or of another number");
            return false;
        }
        last = entry.index;
    }
    return true;
}

/* Takes the sections of the layers' domains of the kinds first to last. */
static bool take_domains(exi_unpack *u, ex_section_kind first, ex_section_kind last, ex_error *error) {
    for (ex_section_kind kind = first; kind <= last; kind++)
        for (int l = 0; l < u->counts.layers; l++) {
            const exi_layer_record layer = exi_unpack_layer(u, l);
            const exi_domain_section *section = exi_domain_find_section(exi_domains[layer.domain], kind);
            if (section && section->of_layer && !section->take(u, l, -1, l, error))
                return false;
            for (int k = 0; section && !section->of_layer && k < layer.example_count; k++)
                if (!section->take(u, l, k, exi_example_index(&layer, k), error))
                    return false;
        }
    return true;
}

/* Takes the driver, then the regions of every driven layer, then the driver in each of their examples. Their contents
 * are checked when a rig's driver is made (drive_source.c). */
static bool take_driver(exi_unpack *u, ex_error *error) {
    if (u->counts.drivers == 0)
        return true;
    if (!exi_unpack_take_least(u, EX_SECTION_DRIVER, 0, 0, error))
        return false;
    for (int list = 0; list < 2; list++)
        for (int i = 0; i < u->counts.layers; i++) {
            const exi_layer_record layer = exi_unpack_layer(u, i);
            if (!(layer.flags & EXI_LAYER_DRIVEN))
                continue;
            if (list == 0 && !exi_unpack_take_least(u, EX_SECTION_REGIONS, i, 0, error))
                return false;
            for (int k = 0; list == 1 && exi_layer_has_keys(layer.flags) && k < layer.example_count; k++)
                if (!exi_unpack_take_least(u, EX_SECTION_DRIVER_KEY, layer.first_example + k, 0, error))
                    return false;
        }
    return true;
}

static bool take_level_tables(exi_unpack *u, ex_section_kind kind, uint32_t flag, ex_error *error) {
    for (int i = 0; i <= u->counts.levels; i++) {
        const exi_level_record level = exi_unpack_level(u, i);
        const uint64_t sizes[EX_SECTION_KIND_COUNT] = {[EX_SECTION_SOURCES] = (uint64_t)level.splits * 4,
                                                       [EX_SECTION_FACES] = (uint64_t)level.faces * 4,
                                                       [EX_SECTION_CORNERS] = (uint64_t)level.corners * 4,
                                                       [EX_SECTION_TRIANGLES] = (uint64_t)level.triangles * 12,
                                                       [EX_SECTION_TEXCOORDS] = (uint64_t)level.splits * 8};
        if ((!flag || level.flags & flag) && !exi_unpack_take(u, kind, i, sizes[kind], error))
            return false;
    }
    return true;
}

/* Takes sections of one kind, numbered from `first`. size is exact, or the minimum. */
static bool take_list(exi_unpack *u, ex_section_kind kind, int first, int count, uint64_t size, bool exact,
                      ex_error *error) {
    for (int i = first; i < first + count; i++)
        if (exact ? !exi_unpack_take(u, kind, i, size, error) : !exi_unpack_take_least(u, kind, i, size, error))
            return false;
    return true;
}

static bool sound(bool is, const char *what, ex_error *error) {
    if (!is)
        exi_unpack_unsound(error, what);
    return is;
}

static bool take_records(exi_unpack *u, ex_error *error) {
    const exi_rig_counts *c = &u->counts;
    return exi_unpack_take(u, EX_SECTION_STRINGS, 0, c->string_size, error) &&
           exi_unpack_take(u, EX_SECTION_INPUTS, 0, (uint64_t)c->inputs * sizeof(exi_input_record), error) &&
           exi_unpack_take(u, EX_SECTION_LAYERS, 0, (uint64_t)c->layers * sizeof(exi_layer_record), error) &&
           sound(sound_layers(u), "layers", error) &&
           exi_unpack_take(u, EX_SECTION_AXES, 0, (uint64_t)c->axes * 4, error) &&
           exi_unpack_take(u, EX_SECTION_EXAMPLES, 0, (uint64_t)c->examples * 4, error) &&
           take_list(u, EX_SECTION_WEIGHER, 0, c->layers, sizeof(ex_weigher), false, error) &&
           take_list(u, EX_SECTION_JOINTS, 0, c->joints > 0, (uint64_t)c->joints * sizeof(exi_pack_joint), true,
                     error) &&
           take_shifts(u, error) &&
           take_list(u, EX_SECTION_TEXTURES, 0, c->textures > 0, (uint64_t)c->textures * sizeof(exi_texture_record),
                     true, error) &&
           sound(sound_textures(u), "textures", error) && take_domains(u, EX_SECTION_IMAGE, EX_SECTION_IMAGE, error);
}

ex_result exi_unpack_take_all(exi_unpack *u, ex_error *error) {
    const exi_rig_counts *c = &u->counts;
    if (!take_counts(u, error))
        return error->result;
    const uint64_t splits = (uint64_t)c->splits;
    const bool limit = (c->refinement & EXI_REFINED_LIMIT) != 0;
    bool taken =
        take_records(u, error) &&
        take_list(u, EX_SECTION_LEVELS, 0, c->levels > 0, (uint64_t)c->levels * sizeof(exi_pack_level), true, error) &&
        sound(sound_levels(u), "levels", error) &&
        take_list(u, EX_SECTION_STENCILS, 1, c->levels + limit, sizeof(exi_pack_stencils), false, error) &&
        take_level_tables(u, EX_SECTION_SOURCES, EXI_RIG_SEAMS, error) &&
        take_level_tables(u, EX_SECTION_FACES, 0, error) && take_level_tables(u, EX_SECTION_CORNERS, 0, error) &&
        take_list(u, EX_SECTION_NOTE, 0, c->notes, sizeof(exi_note_record), false, error) &&
        take_level_tables(u, EX_SECTION_TRIANGLES, 0, error) &&
        exi_unpack_take(u, EX_SECTION_POSITIONS, 0, splits * 12, error) &&
        take_level_tables(u, EX_SECTION_TEXCOORDS, EXI_RIG_TEXCOORDS, error) &&
        take_list(u, EX_SECTION_NORMALS, 0, (c->flags & EXI_RIG_NORMALS) != 0, splits * 12, true, error) &&
        take_list(u, EX_SECTION_INVERSE_BINDS, 0, c->joints > 0, (uint64_t)c->joints * 64, true, error) &&
        take_list(u, EX_SECTION_SKIN_JOINTS, 0, c->skin_sets, splits * 8, true, error) &&
        take_list(u, EX_SECTION_SKIN_WEIGHTS, 0, c->skin_sets, splits * 16, true, error) &&
        take_domains(u, EX_SECTION_TARGET, EX_SECTION_MASK, error) && take_driver(u, error) &&
        take_domains(u, EX_SECTION_DRIVER_KEY + 1, EX_SECTION_KIND_COUNT - 1, error);
    if (!taken)
        return error->result;
    return u->next == u->header.section_count
               ? EX_OK
               : exi_unpack_damaged(error, "it has sections that this version does not know");
}
