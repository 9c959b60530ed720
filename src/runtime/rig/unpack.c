/*
 * A rig from the bytes of a file. Nothing in them is believed: framing, header, directory and checksums first, then
 * every count against the size of its section, every index against its table, every number for being finite. Memory is
 * asked for only when the bytes that fill it have been seen.
 */
#include "runtime/base/checksum.h"
#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/base/text.h"
#include "runtime/rig/pack.h"

#include <math.h>
#include <string.h>

/* ---- framing ---- */

static uint32_t read_u32(const char *bytes) {
    uint32_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

static ex_result damaged(ex_error *error, const char *what) {
    return exi_error(error, EX_ERROR_FORMAT, "this is no whole rig: %s", what);
}

static const char rearranged[] =
    "was changed after Exemplar wrote it, or another program rearranged it: build it again from its project";

/* The BIN chunk of a .glb; a bare pack is its own. */
static ex_result find_pack(const char *bytes, size_t size, const char **pack, size_t *pack_size, ex_error *error) {
    if (size >= 8 && memcmp(bytes, EXI_PACK_MAGIC, 8) == 0) {
        *pack = bytes;
        *pack_size = size;
        return EX_OK;
    }
    if (size < 12 || memcmp(bytes, "glTF", 4) != 0)
        return exi_error(error, EX_ERROR_FORMAT, "this is not a rig: it does not begin like a .glb file");
    if (read_u32(bytes + 4) != 2)
        return exi_error(error, EX_ERROR_FORMAT, "this .glb file has version %u, not 2", (unsigned)read_u32(bytes + 4));
    size_t length = read_u32(bytes + 8);
    if (length > size)
        return damaged(error, "the .glb file ends before the length that it states");
    if (length < 12)
        return damaged(error, "the .glb file states a length that cannot be");
    size_t at = 12;
    for (int chunk = 0; length - at >= 8; chunk++) {
        size_t chunk_size = read_u32(bytes + at);
        uint32_t kind = read_u32(bytes + at + 4);
        if (chunk_size > length - at - 8 || chunk_size % 4 != 0)
            return damaged(error, "a chunk of the .glb file is cut off");
        if (kind == 0x004E4942 && chunk == 1) {
            *pack = bytes + at + 8;
            *pack_size = chunk_size;
            return EX_OK;
        }
        at += 8 + chunk_size;
    }
    return exi_error(error, EX_ERROR_FORMAT, "this .glb file has no binary chunk, so it holds no rig");
}

/* ---- header and directory ---- */

static bool sound_counts(const exi_rig_counts *c) {
    return c->vertices >= 1 && c->splits >= c->vertices && c->faces >= 0 && c->corners >= 0 && c->triangles >= 0 &&
           c->layers >= 0 && c->inputs >= 0 && c->axes >= 0 && c->examples >= 0 && c->notes >= 0 &&
           c->layers <= EXI_TABLE_MAX && c->axes <= EXI_TABLE_MAX && c->examples <= EXI_TABLE_MAX &&
           c->notes <= EXI_TABLE_MAX && c->flags <= 7;
}

static ex_result read_header(const char *pack, size_t size, exi_pack_header *header, ex_error *error) {
    if (size < sizeof *header || memcmp(pack, EXI_PACK_MAGIC, 8) != 0)
        return exi_error(error, EX_ERROR_FORMAT,
                         "this .glb file has no Exemplar pack at the start of its binary chunk: it is not a rig, or "
                         "another program rearranged it (then build it again from its project)");
    memcpy(header, pack, sizeof *header);
    if (header->format < 1)
        return damaged(error, "its format number is 0");
    if (header->format > EX_FORMAT)
        return exi_error(error, EX_ERROR_VERSION,
                         "this rig has format %u, and this version of Exemplar (%s) reads up to %d: use a newer one",
                         (unsigned)header->format, EX_VERSION_TEXT, EX_FORMAT);
    if (header->size > size)
        return damaged(error, "the file ends before the rig does");
    uint64_t entries = (uint64_t)header->section_count * sizeof(exi_pack_entry);
    if (header->header_size != sizeof *header + entries || header->header_size > header->size)
        return damaged(error, "its directory does not fit");
    return EX_OK;
}

static ex_result check_header(const char *pack, const exi_pack_header *header, const ex_allocator *allocator,
                              ex_error *error) {
    char *copy = exi_allocate(allocator, header->header_size);
    if (!copy)
        return exi_error_memory(error, "the rig's directory", header->header_size);
    memcpy(copy, pack, header->header_size);
    exi_pack_header blank = *header;
    blank.checksum = 0;
    memcpy(copy, &blank, sizeof blank);
    bool same = exi_checksum(copy, header->header_size) == header->checksum;
    exi_release(allocator, copy, header->header_size);
    if (!same)
        return exi_error(error, EX_ERROR_CHECKSUM, "the rig's header %s", rearranged);
    return sound_counts(&header->counts) ? EX_OK
                                         : exi_error(error, EX_ERROR_DATA, "the rig's counts contradict each other");
}

/* ---- sections ---- */

typedef struct reader {
    const char *pack;
    const exi_pack_header *header;
    int next;
    uint64_t end; /* of the section before: sections stand one behind the other, and no byte serves twice */
} reader;

static const uint64_t any_size = UINT64_MAX;

/* The next section of the directory, which must be this one; NULL where it is not, or its bytes are not sound. */
static const char *take(reader *r, ex_section_kind kind, int index, uint64_t size, exi_pack_entry *entry,
                        ex_error *error) {
    if ((uint32_t)r->next >= r->header->section_count) {
        damaged(error, "a section is missing");
        return NULL;
    }
    memcpy(entry, r->pack + sizeof *r->header + (size_t)r->next * sizeof *entry, sizeof *entry);
    r->next++;
    if (entry->kind != (uint32_t)kind || entry->index != (uint32_t)index || (size != any_size && entry->size != size) ||
        entry->offset % 16 != 0 || entry->offset < r->end || entry->offset > r->header->size ||
        entry->size > r->header->size - entry->offset) {
        damaged(error, "a section is not where or what the directory promises");
        return NULL;
    }
    r->end = entry->offset + entry->size;
    const char *bytes = r->pack + entry->offset;
    if (exi_checksum(bytes, (size_t)entry->size) != entry->checksum) {
        exi_error(error, EX_ERROR_CHECKSUM, "section %d of the rig %s", r->next - 1, rearranged);
        return NULL;
    }
    return bytes;
}

/* Where every section is. Arrays of the caller: weighers [layers], notes [notes], targets [examples]. */
typedef struct sections {
    const char *strings, *inputs, *layers, *axes, *examples, *sources, *faces, *corners, *triangles;
    const char *positions, *texcoords, *normals;
    const char **weighers, **notes, **targets;
    size_t *weigher_sizes, *note_sizes; /* note sizes without the record */
} sections;

static bool take_table(reader *r, ex_section_kind kind, int count, size_t size, const char **bytes, ex_error *error) {
    exi_pack_entry entry;
    *bytes = take(r, kind, 0, (uint64_t)count * size, &entry, error);
    return *bytes != NULL;
}

static bool take_list(reader *r, ex_section_kind kind, int count, uint64_t size, const char **bytes, size_t *sizes,
                      size_t record, ex_error *error) {
    for (int i = 0; i < count; i++) {
        exi_pack_entry entry;
        bytes[i] = take(r, kind, i, size, &entry, error);
        if (bytes[i] && entry.size < record) {
            damaged(error, "a section is too short");
            return false;
        }
        if (!bytes[i])
            return false;
        if (sizes)
            sizes[i] = (size_t)entry.size - record;
    }
    return true;
}

static bool take_all(reader *r, sections *s, ex_error *error) {
    const exi_rig_counts *c = &r->header->counts;
    const size_t triple = 3 * sizeof(float);
    return take_table(r, EX_SECTION_STRINGS, 1, c->string_size, &s->strings, error) &&
           take_table(r, EX_SECTION_INPUTS, c->inputs, sizeof(exi_input_record), &s->inputs, error) &&
           take_table(r, EX_SECTION_LAYERS, c->layers, sizeof(exi_layer_record), &s->layers, error) &&
           take_table(r, EX_SECTION_AXES, c->axes, sizeof(int32_t), &s->axes, error) &&
           take_table(r, EX_SECTION_EXAMPLES, c->examples, sizeof(uint32_t), &s->examples, error) &&
           take_list(r, EX_SECTION_WEIGHER, c->layers, any_size, s->weighers, s->weigher_sizes, 0, error) &&
           (!(c->flags & EXI_RIG_SEAMS) ||
            take_table(r, EX_SECTION_SOURCES, c->splits, sizeof(uint32_t), &s->sources, error)) &&
           take_table(r, EX_SECTION_FACES, c->faces, sizeof(uint32_t), &s->faces, error) &&
           take_table(r, EX_SECTION_CORNERS, c->corners, sizeof(uint32_t), &s->corners, error) &&
           take_list(r, EX_SECTION_NOTE, c->notes, any_size, s->notes, s->note_sizes, sizeof(exi_note_record), error) &&
           take_table(r, EX_SECTION_TRIANGLES, c->triangles, 3 * sizeof(uint32_t), &s->triangles, error) &&
           take_table(r, EX_SECTION_POSITIONS, c->splits, triple, &s->positions, error) &&
           (!(c->flags & EXI_RIG_TEXCOORDS) ||
            take_table(r, EX_SECTION_TEXCOORDS, c->splits, 2 * sizeof(float), &s->texcoords, error)) &&
           (!(c->flags & EXI_RIG_NORMALS) ||
            take_table(r, EX_SECTION_NORMALS, c->splits, triple, &s->normals, error)) &&
           take_list(r, EX_SECTION_TARGET, c->examples, (uint64_t)c->splits * triple, s->targets, NULL, 0, error);
}

/* ---- filling ---- */

static void copy(ex_rig *rig, uint64_t offset, const char *bytes, size_t count, size_t size) {
    if (bytes && count * size > 0)
        memcpy(exi_rig_at_mut(rig, offset), bytes, count * size);
}

static void fill_tables(ex_rig *rig, const sections *s) {
    const exi_rig_counts *c = &rig->counts;
    copy(rig, rig->strings, s->strings, c->string_size, 1);
    copy(rig, rig->inputs, s->inputs, (size_t)c->inputs, sizeof(exi_input_record));
    copy(rig, rig->axis_inputs, s->axes, (size_t)c->axes, sizeof(int32_t));
    copy(rig, rig->example_names, s->examples, (size_t)c->examples, sizeof(uint32_t));
    copy(rig, rig->sources, s->sources, (size_t)c->splits, sizeof(uint32_t));
    copy(rig, rig->faces, s->faces, (size_t)c->faces, sizeof(uint32_t));
    copy(rig, rig->corners, s->corners, (size_t)c->corners, sizeof(uint32_t));
    copy(rig, rig->triangles, s->triangles, (size_t)c->triangles, 3 * sizeof(uint32_t));
    copy(rig, rig->texcoords, s->texcoords, (size_t)c->splits, 2 * sizeof(float));
    copy(rig, rig->normals, s->normals, (size_t)c->splits, 3 * sizeof(float));
    exi_layer_record *layers = exi_rig_at_mut(rig, rig->layers);
    for (int i = 0; i < c->layers; i++) {
        exi_layer_record layer;
        memcpy(&layer, s->layers + (size_t)i * sizeof layer, sizeof layer);
        layer.weigher = layers[i].weigher;
        layer.weigher_size = layers[i].weigher_size;
        layers[i] = layer;
        copy(rig, layer.weigher, s->weighers[i], s->weigher_sizes[i], 1);
    }
    exi_note_record *notes = exi_rig_at_mut(rig, rig->notes);
    for (int i = 0; i < c->notes; i++) {
        memcpy(notes[i].kind, s->notes[i], EX_NOTE_KIND_SIZE);
        notes[i].kind[EX_NOTE_KIND_SIZE - 1] = 0;
        copy(rig, notes[i].data, s->notes[i] + sizeof(exi_note_record), s->note_sizes[i], 1);
    }
}

static ex_result unsound(ex_error *error, const char *what) {
    return exi_error(error, EX_ERROR_DATA, "the rig's %s contradict each other", what);
}

static bool sound_string(const ex_rig *rig, uint32_t offset, bool may_be_empty) {
    if (offset >= rig->counts.string_size)
        return false;
    return may_be_empty ? exi_is_text(exi_rig_string(rig, offset)) : exi_is_name(exi_rig_string(rig, offset));
}

static ex_result check_inputs(const ex_rig *rig, ex_error *error) {
    const exi_rig_counts *c = &rig->counts;
    if (c->string_size > 0 && exi_rig_string(rig, c->string_size - 1)[0] != 0)
        return unsound(error, "names");
    for (int i = 0, offset = 0; i < c->inputs; i++) {
        const exi_input_record *input = &exi_rig_inputs(rig)[i];
        if (!sound_string(rig, input->name, false) || !sound_string(rig, input->unit, true) ||
            input->offset != offset || !(input->axis.kind >= 0 && input->axis.kind < EX_AXIS_KIND_COUNT) ||
            input->axis.kind != floor(input->axis.kind))
            return unsound(error, "inputs");
        ex_axis axis = exi_axis_restore(&input->axis);
        if (exi_axis_check(&axis, i, NULL) != EX_OK)
            return unsound(error, "inputs");
        offset += ex_axis_width(&axis);
    }
    const uint32_t *names = exi_rig_at(rig, rig->example_names);
    for (int i = 0; i < c->examples; i++)
        if (!sound_string(rig, names[i], false))
            return unsound(error, "names");
    return EX_OK;
}

static bool sound_layer_axes(const ex_rig *rig, const exi_layer_record *layer, const ex_weigher *weigher) {
    const int32_t *inputs = (const int32_t *)exi_rig_at(rig, rig->axis_inputs) + layer->first_axis;
    for (int i = 0; i < layer->axis_count; i++) {
        if (inputs[i] < 0 || inputs[i] >= rig->counts.inputs)
            return false;
        bool scalar = exi_rig_inputs(rig)[inputs[i]].axis.kind == EX_AXIS_SCALAR;
        if (scalar != (exi_axes(weigher)[i].kind == EX_AXIS_SCALAR))
            return false;
    }
    return true;
}

static ex_result check_layers(const ex_rig *rig, ex_error *error) {
    const exi_rig_counts *c = &rig->counts;
    int64_t axes = 0, examples = 0;
    for (int i = 0; i < c->layers; i++) {
        const exi_layer_record *layer = &exi_rig_layers(rig)[i];
        const ex_weigher *weigher = ex_rig_weigher(rig, i);
        if (!sound_string(rig, layer->name, false) || layer->first_axis != axes || layer->first_example != examples ||
            layer->axis_count < 0 || layer->example_count < 0)
            return unsound(error, "layers");
        axes += layer->axis_count;
        examples += layer->example_count;
        if (axes > c->axes || examples > c->examples)
            return unsound(error, "layers");
        ex_result result = exi_weigher_validate(weigher, (size_t)layer->weigher_size, error);
        if (result != EX_OK)
            return result;
        if (weigher->axis_count != layer->axis_count || weigher->example_count != layer->example_count ||
            !sound_layer_axes(rig, layer, weigher))
            return unsound(error, "layers and their spaces");
    }
    return axes == c->axes && examples == c->examples ? EX_OK : unsound(error, "layers");
}

/* The first split vertex of every source vertex: where a form's own vertices stand. */
static void first_splits(const ex_rig *rig, uint32_t *gather) {
    const uint32_t *sources = exi_rig_at(rig, rig->sources);
    for (size_t i = (size_t)rig->counts.splits; i-- > 0;)
        gather[sources[i]] = (uint32_t)i;
}

static ex_result fill_forms(ex_rig *rig, const sections *s, const uint32_t *gather, ex_error *error) {
    ex_forms *forms = exi_rig_at_mut(rig, rig->forms);
    int bad = 0;
    if (!exi_forms_set_base(forms, (const float *)(const void *)s->positions, gather, &bad))
        return exi_error(error, EX_ERROR_DATA, "the rig's mesh: vertex %d is not finite", bad);
    for (int k = 0; k < rig->counts.examples; k++)
        if (!exi_forms_set_example(forms, k, (const float *)(const void *)s->targets[k], gather, NULL, &bad))
            return exi_error(error, EX_ERROR_DATA, "example %d of the rig: vertex %d is not finite", k, bad);
    return EX_OK;
}

static ex_result fill(ex_rig *rig, const sections *s, const ex_allocator *allocator, ex_error *error) {
    fill_tables(rig, s);
    ex_result result = check_inputs(rig, error);
    if (result == EX_OK)
        result = check_layers(rig, error);
    ex_rig_mesh mesh = ex_rig_get_mesh(rig);
    if (result == EX_OK)
        result = exi_rig_check_mesh(&mesh, error);
    if (result != EX_OK)
        return result;
    exi_rig_measure_pose(rig);
    if (!mesh.split_source)
        return fill_forms(rig, s, NULL, error);
    size_t size = (size_t)rig->counts.vertices * sizeof(uint32_t);
    uint32_t *gather = exi_allocate(allocator, size);
    if (!gather)
        return exi_error_memory(error, "loading the rig", size);
    first_splits(rig, gather);
    result = fill_forms(rig, s, gather, error);
    exi_release(allocator, gather, size);
    return result;
}

/* ---- the entry point ---- */

/* Room for the lists in sections; their counts are bounded by the directory that has been seen. */
static ex_result open_lists(const exi_pack_header *header, const ex_allocator *allocator, sections *s, void **memory,
                            size_t *size, ex_error *error) {
    const exi_rig_counts *c = &header->counts;
    if ((uint64_t)c->layers + (uint64_t)c->notes + (uint64_t)c->examples > header->section_count)
        return damaged(error, "a section is missing");
    size_t pointers = (size_t)c->layers + (size_t)c->notes + (size_t)c->examples;
    size_t sizes = (size_t)c->layers + (size_t)c->notes;
    *size = pointers * sizeof(char *) + sizes * sizeof(size_t);
    *memory = exi_allocate(allocator, *size);
    if (!*memory)
        return exi_error_memory(error, "the rig's directory", *size);
    s->weighers = *memory;
    s->notes = s->weighers + c->layers;
    s->targets = s->notes + c->notes;
    s->weigher_sizes = (size_t *)(void *)(s->targets + c->examples);
    s->note_sizes = s->weigher_sizes + c->layers;
    return EX_OK;
}

ex_result ex_rig_unpack(const void *bytes, size_t size, ex_storage storage, const ex_allocator *allocator, ex_rig **rig,
                        ex_error *error) {
    if (!bytes || !rig || (uintptr_t)bytes % 4 != 0 || (unsigned)storage >= EX_STORAGE_COUNT)
        return exi_misuse_error(
            error, __func__, "no bytes, bytes that are not aligned to 4, unknown storage, or nowhere to put the rig");
    *rig = NULL;
    ex_error local = {0};
    error = error ? error : &local;
    const char *pack = NULL;
    size_t pack_size = 0;
    exi_pack_header header = {0};
    ex_result result = find_pack(bytes, size, &pack, &pack_size, error);
    if (result == EX_OK)
        result = read_header(pack, pack_size, &header, error);
    if (result == EX_OK)
        result = check_header(pack, &header, allocator, error);
    sections s = {0};
    void *lists = NULL;
    size_t lists_size = 0;
    if (result == EX_OK)
        result = open_lists(&header, allocator, &s, &lists, &lists_size, error);
    if (result != EX_OK)
        return result;
    reader r = {.pack = pack, .header = &header, .end = header.header_size};
    ex_rig *made = NULL;
    if (!take_all(&r, &s, error))
        result = error->result;
    else if ((uint32_t)r.next != header.section_count)
        result = damaged(error, "it has sections that this version does not know");
    else
        result = exi_rig_allocate(&header.counts, storage, s.weigher_sizes, s.note_sizes, allocator, &made, error);
    if (result == EX_OK)
        result = fill(made, &s, allocator, error);
    exi_release(allocator, lists, lists_size);
    if (result == EX_OK)
        *rig = made;
    else
        ex_rig_destroy(made);
    return result;
}
