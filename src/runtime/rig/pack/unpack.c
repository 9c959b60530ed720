/*
 * Loads a rig from the bytes of a file. Nothing in them is trusted. Framing, header, directory and checksums are
 * checked first (unpack_frame.c), then every count against the size of its section (unpack_sections.c), then everything
 * that the parts' rooms check when they make a part (unpack_parts.c), every index against its table, and every number
 * for being finite (unpack_check.c). Memory is allocated only after the bytes that fill it have been seen.
 */
#include "runtime/rig/pack/unpack.h"

#include "runtime/base/result.h"
#include "runtime/rig/domains/domain.h"
#include "runtime/rig/drive/drive.h"

#include <string.h>

/* Data gathered before the block's size is known. */
typedef struct loading {
    exi_making m;
    const exi_unpack *u;
    ex_rig_mesh *meshes; /* [levels + 1], pointing to the tables of the file */
    ex_skin *skin;
    ex_stencils *stencils;
} loading;

/* ---- gathering ---- */

/* Returns the rig's counts: those of the file without what the options leave out. A rig without its levels remembers
 * that there were some, and cannot be packed. */
static exi_rig_counts counts_of(const exi_unpack *u, bool without_levels) {
    exi_rig_counts counts = u->counts;
    if (without_levels) {
        counts.levels = counts.level = 0;
        counts.refinement &= EXI_REFINED;
    }
    return counts;
}

/* Allocates arrays, whose lengths are numbers of sections that exist. */
static ex_result open_loading(loading *l, ex_error *error) {
    const exi_unpack *u = l->u;
    exi_making *m = &l->m;
    m->counts = counts_of(u, m->options.without_levels);
    m->refinement = exi_unpack_refinement(u);
    ex_result result = exi_making_open(m, error);
    l->meshes = exi_making_keep(m, (size_t)m->counts.levels + 1, sizeof *l->meshes);
    if (result == EX_OK && !l->meshes)
        result = ex_error_memory(error, "loading the rig", sizeof *l->meshes);
    if (result != EX_OK)
        return result;
    exi_pack_entry entry;
    for (int i = 0; i < m->counts.layers; i++) {
        exi_unpack_section(u, EX_SECTION_WEIGHER, i, &entry);
        m->weigher_sizes[i] = (size_t)entry.size;
        m->layers[i] = exi_unpack_layer(u, i);
    }
    for (int i = 0; i < m->counts.notes; i++) {
        exi_unpack_section(u, EX_SECTION_NOTE, i, &entry);
        m->note_sizes[i] = (size_t)entry.size - sizeof(exi_note_record);
    }
    for (int i = 0; i <= m->counts.levels; i++)
        m->levels[i] = exi_unpack_level(u, i);
    return EX_OK;
}

static void close_loading(loading *l) {
    exi_making_close(&l->m);
    ex_skin_destroy(l->skin);
    ex_stencils_destroy(l->stencils);
}

/* Finds the tables of every level in the file. */
static ex_result find_meshes(loading *l, ex_error *error) {
    const exi_unpack *u = l->u;
    for (int i = 0, sources = 0, texcoords = 0; i <= l->m.counts.levels; i++) {
        const exi_level_record *level = &l->m.levels[i];
        ex_rig_mesh *mesh = &l->meshes[i];
        *mesh = (ex_rig_mesh){.vertex_count = level->vertices,
                              .split_count = level->splits,
                              .face_count = level->faces,
                              .corner_count = level->corners,
                              .face_sizes = (const void *)exi_unpack_section(u, EX_SECTION_FACES, i, NULL),
                              .corners = (const void *)exi_unpack_section(u, EX_SECTION_CORNERS, i, NULL),
                              .triangle_count = level->triangles,
                              .triangles = (const void *)exi_unpack_section(u, EX_SECTION_TRIANGLES, i, NULL)};
        if (level->flags & EXI_RIG_SEAMS)
            mesh->split_source = (const void *)exi_unpack_section(u, EX_SECTION_SOURCES, sources++, NULL);
        if (level->flags & EXI_RIG_TEXCOORDS)
            mesh->texcoords = (const void *)exi_unpack_section(u, EX_SECTION_TEXCOORDS, texcoords++, NULL);
        if (i == 0 && u->counts.flags & EXI_RIG_NORMALS)
            mesh->normals = (const void *)exi_unpack_section(u, EX_SECTION_NORMALS, 0, NULL);
        ex_result result = exi_rig_check_mesh(mesh, error);
        if (result != EX_OK)
            return i > 0 ? ex_error_within(error, result, "the rig's level %d", i) : result;
    }
    return EX_OK;
}

static ex_result find_first_splits(loading *l, ex_error *error) {
    const uint32_t *sources = l->m.sources = l->meshes[0].split_source;
    if (!sources)
        return EX_OK;
    uint32_t *gather = exi_making_keep(&l->m, (size_t)l->u->counts.vertices, sizeof *gather);
    if (!gather)
        return ex_error_memory(error, "loading the rig", (size_t)l->u->counts.vertices * sizeof *gather);
    for (size_t i = (size_t)l->u->counts.splits; i-- > 0;)
        gather[sources[i]] = (uint32_t)i;
    l->m.gather = gather;
    return EX_OK;
}

static ex_result make_parts(loading *l, ex_error *error) {
    exi_making *m = &l->m;
    ex_result result = exi_unpack_skeleton(l->u, m->allocator, &m->skeleton, error);
    if (result == EX_OK)
        result = exi_unpack_skin(l->u, m->gather, m->allocator, &l->skin, error);
    if (result == EX_OK && !m->options.without_levels)
        result = exi_unpack_stencils(l->u, m->allocator, &l->stencils, error);
    m->skin = l->skin;
    m->stencils = l->stencils;
    for (int i = 0; result == EX_OK && i <= m->counts.levels; i++)
        result = exi_rig_make_frames(&l->meshes[i], &m->options, m->allocator, &m->normals[i], &m->tangents[i], error);
    return result == EX_OK ? exi_making_layers(m, error) : result;
}

/* ---- filling ---- */

static void copy(ex_rig *rig, uint64_t offset, const void *bytes, size_t count, size_t size) {
    if (bytes && count * size > 0)
        memcpy(exi_rig_at_mut(rig, offset), bytes, count * size);
}

static void copy_section(ex_rig *rig, const exi_unpack *u, ex_section_kind kind, int n, uint64_t offset) {
    exi_pack_entry entry;
    const char *bytes = exi_unpack_section(u, kind, n, &entry);
    if (bytes)
        copy(rig, offset, bytes, (size_t)entry.size, 1);
}

static void fill_layers(ex_rig *rig, const exi_unpack *u) {
    for (int i = 0; i < rig->counts.layers; i++)
        copy_section(rig, u, EX_SECTION_WEIGHER, i, exi_rig_layers(rig)[i].weigher);
    exi_shift_record *shifts = exi_rig_at_mut(rig, rig->shifts);
    for (int i = 0; i < rig->counts.shifts; i++) {
        exi_pack_entry entry;
        exi_unpack_section(u, EX_SECTION_SHIFTS, i, &entry);
        shifts[i].example = (int32_t)entry.index;
        copy_section(rig, u, EX_SECTION_SHIFTS, i, shifts[i].data);
    }
}

static void fill_joints(ex_rig *rig, const exi_unpack *u) {
    uint32_t *names = exi_rig_at_mut(rig, rig->joint_names);
    for (int i = 0; i < rig->counts.joints; i++)
        names[i] = exi_unpack_joint(u, i).name;
}

static void fill_notes(ex_rig *rig, const exi_unpack *u) {
    exi_note_record *notes = exi_rig_at_mut(rig, rig->notes);
    for (int i = 0; i < rig->counts.notes; i++) {
        const char *bytes = exi_unpack_section(u, EX_SECTION_NOTE, i, NULL);
        memcpy(notes[i].kind, bytes, EX_ATTACHMENT_KIND_SIZE);
        notes[i].kind[EX_ATTACHMENT_KIND_SIZE - 1] = 0;
        copy(rig, notes[i].data, bytes + sizeof(exi_note_record), (size_t)notes[i].size, 1);
    }
}

static void fill_meshes(ex_rig *rig, const ex_rig_mesh *meshes) {
    for (int i = 0; i <= rig->counts.levels; i++) {
        const exi_level_record *level = &exi_rig_levels(rig)[i];
        const ex_rig_mesh *mesh = &meshes[i];
        copy(rig, level->sources, mesh->split_source, (size_t)mesh->split_count, sizeof(uint32_t));
        copy(rig, level->face_sizes, mesh->face_sizes, (size_t)mesh->face_count, sizeof(uint32_t));
        copy(rig, level->corner_splits, mesh->corners, (size_t)mesh->corner_count, sizeof(uint32_t));
        copy(rig, level->triangle_splits, mesh->triangles, (size_t)mesh->triangle_count, 3 * sizeof(uint32_t));
        copy(rig, level->texcoords, mesh->texcoords, (size_t)mesh->split_count, 2 * sizeof(float));
    }
    copy(rig, rig->normals, meshes[0].normals, (size_t)meshes[0].split_count, 3 * sizeof(float));
}

static ex_result fill(ex_rig *rig, loading *l, ex_error *error) {
    const exi_unpack *u = l->u;
    copy_section(rig, u, EX_SECTION_STRINGS, 0, rig->strings);
    copy_section(rig, u, EX_SECTION_INPUTS, 0, rig->inputs);
    copy_section(rig, u, EX_SECTION_AXES, 0, rig->axis_inputs);
    copy_section(rig, u, EX_SECTION_EXAMPLES, 0, rig->example_names);
    copy_section(rig, u, EX_SECTION_TEXTURES, 0, rig->textures);
    fill_layers(rig, u);
    fill_joints(rig, u);
    fill_notes(rig, u);
    fill_meshes(rig, l->meshes);
    ex_result result = exi_unpack_check(&l->m, rig, error);
    if (result != EX_OK)
        return result;
    exi_rig_measure_pose(rig);
    int bad = 0;
    const void *positions = exi_unpack_section(u, EX_SECTION_POSITIONS, 0, NULL);
    if (!exi_forms_set_base(exi_rig_at_mut(rig, rig->forms), positions, l->m.gather, &bad))
        return ex_error_set(error, EX_ERROR_DATA, "the rig's mesh: vertex %d is not finite", bad);
    return exi_making_fill(&l->m, rig, error);
}

/* Attaches the driver from its sections, by layer and by example. */
static ex_result attach_driver(const exi_unpack *u, const ex_allocator *allocator, ex_rig **rig, ex_error *error) {
    if (u->counts.drivers == 0)
        return EX_OK;
    exi_size total = {0};
    const size_t regions_at = exi_size_add(&total, (size_t)u->counts.layers, sizeof(exi_bytes), 16);
    const size_t keys_at = exi_size_add(&total, (size_t)u->counts.examples, sizeof(exi_bytes), 16);
    char *memory = total.overflow ? NULL : exi_allocate(allocator, total.bytes);
    if (!memory)
        return ex_error_memory(error, "loading the rig", total.bytes);
    memset(memory, 0, total.bytes);
    exi_bytes *regions = (exi_bytes *)(void *)(memory + regions_at), *keys = (exi_bytes *)(void *)(memory + keys_at);
    exi_drive_source source = {.regions = regions, .keys = keys};
    exi_pack_entry entry;
    source.driver.data = exi_unpack_section(u, EX_SECTION_DRIVER, 0, &entry);
    source.driver.size = (size_t)entry.size;
    for (int i = 0, n = 0; i < u->counts.layers; i++)
        if (exi_unpack_layer(u, i).flags & EXI_LAYER_DRIVEN) {
            const void *data = exi_unpack_section(u, EX_SECTION_REGIONS, n++, &entry);
            regions[i] = (exi_bytes){data, (size_t)entry.size};
        }
    for (int n = 0; n < u->counts.driver_keys; n++) {
        const void *data = exi_unpack_section(u, EX_SECTION_DRIVER_KEY, n, &entry);
        keys[entry.index] = (exi_bytes){data, (size_t)entry.size};
    }
    ex_result result = exi_drive_attach(&source, allocator, rig, error);
    exi_release(allocator, memory, total.bytes);
    return result;
}

/* ---- entry point ---- */

ex_result ex_rig_unpack(const void *bytes, size_t size, const ex_rig_options *options, const ex_allocator *allocator,
                        ex_rig **rig, ex_error *error) {
    if (!bytes || !rig || (uintptr_t)bytes % 4 != 0 || (options && (unsigned)options->storage >= EX_STORAGE_COUNT))
        return exi_misuse_error(
            error, __func__, "no bytes, bytes that are not aligned to 4, unknown storage, or no pointer for the rig");
    *rig = NULL;
    ex_error local = {0};
    error = error ? error : &local;
    exi_unpack u;
    ex_result result = exi_unpack_open(bytes, size, allocator, &u, error);
    if (result == EX_OK)
        result = exi_unpack_take_all(&u, error);
    if (result != EX_OK)
        return result;
    loading l = {.u = &u, .m = {.file = &u, .allocator = allocator}};
    if (options)
        l.m.options = *options;
    ex_rig *made = NULL;
    result = open_loading(&l, error);
    if (result == EX_OK)
        result = find_meshes(&l, error);
    if (result == EX_OK)
        result = find_first_splits(&l, error);
    if (result == EX_OK)
        result = make_parts(&l, error);
    if (result == EX_OK)
        result = exi_making_allocate(&l.m, &made, error);
    if (result == EX_OK)
        result = fill(made, &l, error);
    close_loading(&l);
    if (result == EX_OK)
        result = attach_driver(&u, allocator, &made, error);
    if (result == EX_OK)
        *rig = made;
    else
        ex_rig_destroy(made);
    return result;
}
