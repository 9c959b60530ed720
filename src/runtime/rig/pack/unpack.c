/*
 * A rig from the bytes of a file. Nothing in them is believed: framing, header, directory and checksums first
 * (unpack_frame.c), then every count against the size of its section (unpack_sections.c), then what the parts' own
 * rooms check when they make a part (unpack_parts.c), every index against its table and every number for being finite
 * (unpack_check.c). Memory is asked for only when the bytes that fill it have been seen.
 */
#include "runtime/rig/pack/unpack.h"

#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/rig/drive/drive.h"

#include <string.h>

/* What is gathered before the block's size is known. */
typedef struct loading {
    const exi_unpack *u;
    const ex_allocator *allocator;
    ex_rig_options options;
    exi_rig_contents contents;
    ex_rig_mesh *meshes; /* [levels + 1], of the file's own tables */
    ex_normals **normals;
    ex_tangents **tangents;
    ex_skeleton *skeleton;
    ex_skin *skin;
    ex_stencils *stencils;
    exi_rig_offsets offsets;
    exi_rig_paths paths;
    exi_rig_displacements displacements;
    uint32_t *gather; /* [vertices]: the first split vertex of each, where a form's own vertices stand; NULL: itself */
    size_t gather_size;
    void *memory;
    size_t size;
} loading;

/* ---- gathering ---- */

/* The rig's counts: the file's, less what the options leave out. A rig that lacks its levels remembers that it has
 * them: it cannot be packed. */
static exi_rig_counts counts_of(const loading *l) {
    exi_rig_counts counts = l->u->counts;
    if (l->options.without_levels) {
        counts.levels = counts.level = 0;
        counts.refinement &= EXI_REFINED;
    }
    return counts;
}

/* Arrays of the contents; their lengths are numbers of sections that have been seen. */
static ex_result open_loading(loading *l, ex_error *error) {
    const exi_rig_counts c = counts_of(l);
    const size_t levels = (size_t)c.levels + 1;
    exi_size total = {0};
    const size_t weighers = exi_size_add(&total, (size_t)c.layers, sizeof(size_t), 8);
    const size_t notes = exi_size_add(&total, (size_t)c.notes, sizeof(size_t), 8);
    const size_t images = exi_size_add(&total, (size_t)c.examples, sizeof(size_t), 8);
    const size_t records = exi_size_add(&total, levels, sizeof(exi_level_record), 8);
    const size_t meshes = exi_size_add(&total, levels, sizeof(ex_rig_mesh), 8);
    const size_t normals = exi_size_add(&total, levels, sizeof(ex_normals *), 8);
    const size_t tangents = exi_size_add(&total, levels, sizeof(ex_tangents *), 8);
    char *memory = total.overflow ? NULL : exi_allocate(l->allocator, total.bytes);
    if (!memory)
        return exi_error_memory(error, "loading the rig", total.bytes);
    memset(memory, 0, total.bytes);
    l->memory = memory;
    l->size = total.bytes;
    l->meshes = (ex_rig_mesh *)(void *)(memory + meshes);
    l->normals = (ex_normals **)(void *)(memory + normals);
    l->tangents = (ex_tangents **)(void *)(memory + tangents);
    l->contents = (exi_rig_contents){.counts = c,
                                     .storage = l->options.storage,
                                     .weigher_sizes = (size_t *)(void *)(memory + weighers),
                                     .note_sizes = (size_t *)(void *)(memory + notes),
                                     .image_sizes = c.textures > 0 ? (size_t *)(void *)(memory + images) : NULL,
                                     .levels = (exi_level_record *)(void *)(memory + records)};
    exi_pack_entry entry;
    for (int i = 0; i < c.layers; i++) {
        exi_unpack_section(l->u, EX_SECTION_WEIGHER, i, &entry);
        ((size_t *)(void *)(memory + weighers))[i] = (size_t)entry.size;
    }
    for (int i = 0; i < c.notes; i++) {
        exi_unpack_section(l->u, EX_SECTION_NOTE, i, &entry);
        ((size_t *)(void *)(memory + notes))[i] = (size_t)entry.size - sizeof(exi_note_record);
    }
    for (int i = 0; i < exi_image_count(&c); i++) {
        exi_unpack_section(l->u, EX_SECTION_IMAGE, i, &entry);
        ((size_t *)(void *)(memory + images))[entry.index] = (size_t)entry.size;
    }
    for (int i = 0; i <= c.levels; i++)
        ((exi_level_record *)(void *)(memory + records))[i] = exi_unpack_level(l->u, i);
    return EX_OK;
}

static void close_loading(loading *l) {
    for (int i = 0; l->memory && i <= l->contents.counts.levels; i++) {
        ex_normals_destroy(l->normals[i]);
        ex_tangents_destroy(l->tangents[i]);
    }
    ex_skeleton_destroy(l->skeleton);
    ex_skin_destroy(l->skin);
    ex_stencils_destroy(l->stencils);
    exi_rig_offsets_close(&l->offsets);
    exi_rig_paths_close(&l->paths);
    exi_rig_displacements_close(&l->displacements);
    if (l->gather)
        exi_release(l->allocator, l->gather, l->gather_size);
    if (l->memory)
        exi_release(l->allocator, l->memory, l->size);
}

/* The tables of every level, as they stand in the file. */
static ex_result find_meshes(loading *l, ex_error *error) {
    const exi_unpack *u = l->u;
    for (int i = 0, sources = 0, texcoords = 0; i <= l->contents.counts.levels; i++) {
        const exi_level_record *level = &l->contents.levels[i];
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
            return i > 0 ? exi_error_within(error, result, "the rig's level %d", i) : result;
    }
    return EX_OK;
}

static ex_result find_first_splits(loading *l, ex_error *error) {
    const uint32_t *sources = l->meshes[0].split_source;
    if (!sources)
        return EX_OK;
    l->gather_size = (size_t)l->u->counts.vertices * sizeof *l->gather;
    l->gather = exi_allocate(l->allocator, l->gather_size);
    if (!l->gather)
        return exi_error_memory(error, "loading the rig", l->gather_size);
    for (size_t i = (size_t)l->u->counts.splits; i-- > 0;)
        l->gather[sources[i]] = (uint32_t)i;
    return EX_OK;
}

static ex_result make_parts(loading *l, ex_error *error) {
    ex_result result = exi_unpack_skeleton(l->u, l->allocator, &l->skeleton, error);
    if (result == EX_OK)
        result = exi_unpack_skin(l->u, l->gather, l->allocator, &l->skin, error);
    if (result == EX_OK && !l->options.without_levels)
        result = exi_unpack_stencils(l->u, l->allocator, &l->stencils, error);
    for (int i = 0; result == EX_OK && i <= l->contents.counts.levels; i++)
        result = exi_rig_make_frames(&l->meshes[i], &l->options, l->allocator, &l->normals[i], &l->tangents[i], error);
    if (result == EX_OK)
        result = exi_unpack_offsets(l->u, l->gather, l->meshes[0].split_source, l->allocator, &l->offsets, error);
    if (result == EX_OK)
        result = exi_unpack_paths(l->u, l->options.storage, l->allocator, &l->paths, error);
    if (result == EX_OK)
        result = exi_unpack_displacements(l->u, &l->contents.counts, l->stencils, l->options.storage, l->allocator,
                                          &l->displacements, error);
    l->contents.weights = l->offsets.weights;
    l->contents.paths = (const exi_paths *const *)l->paths.layers;
    l->contents.path_forms = l->paths.form_count;
    l->contents.displacements = (const exi_displacements *const *)l->displacements.layers;
    for (int i = 0; i < EX_FRAME_COUNT; i++)
        l->contents.patches[i] = l->offsets.patches[i];
    l->contents.skeleton = l->skeleton;
    l->contents.skin = l->skin;
    l->contents.stencils = l->stencils;
    l->contents.normals = (const ex_normals *const *)l->normals;
    l->contents.tangents = (const ex_tangents *const *)l->tangents;
    return result;
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
    exi_layer_record *layers = exi_rig_at_mut(rig, rig->layers);
    for (int i = 0; i < rig->counts.layers; i++) {
        exi_layer_record layer = exi_unpack_layer(u, i);
        layer.weigher = layers[i].weigher;
        layer.weigher_size = layers[i].weigher_size;
        layers[i] = layer;
        copy_section(rig, u, EX_SECTION_WEIGHER, i, layer.weigher);
    }
    exi_shift_record *shifts = exi_rig_at_mut(rig, rig->shifts);
    for (int i = 0; i < rig->counts.shifts; i++) {
        exi_pack_entry entry;
        exi_unpack_section(u, EX_SECTION_SHIFTS, i, &entry);
        shifts[i].example = (int32_t)entry.index;
        copy_section(rig, u, EX_SECTION_SHIFTS, i, shifts[i].data);
    }
    for (int i = 0; i < exi_image_count(&rig->counts); i++) {
        exi_pack_entry entry;
        exi_unpack_section(u, EX_SECTION_IMAGE, i, &entry);
        copy_section(rig, u, EX_SECTION_IMAGE, i, ((const uint64_t *)exi_rig_at(rig, rig->images))[entry.index]);
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
        memcpy(notes[i].kind, bytes, EX_NOTE_KIND_SIZE);
        notes[i].kind[EX_NOTE_KIND_SIZE - 1] = 0;
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

static ex_result fill_forms(ex_rig *rig, const loading *l, ex_error *error) {
    ex_forms *forms = exi_rig_at_mut(rig, rig->forms);
    int bad = 0;
    const char *positions = exi_unpack_section(l->u, EX_SECTION_POSITIONS, 0, NULL);
    if (!exi_forms_set_base(forms, (const float *)(const void *)positions, l->gather, &bad))
        return exi_error(error, EX_ERROR_DATA, "the rig's mesh: vertex %d is not finite", bad);
    for (int i = 0, target = 0, form = 0; i < rig->counts.layers; i++) {
        const exi_layer_record *layer = &exi_rig_layers(rig)[i];
        for (int k = 0; layer->domain == EX_DOMAIN_FORM && k < layer->example_count; k++) {
            const char *bytes = exi_unpack_section(l->u, EX_SECTION_TARGET, target + k, NULL);
            if (!exi_forms_set_example(forms, form++, (const float *)(const void *)bytes, l->gather, NULL, &bad))
                return exi_error(error, EX_ERROR_DATA, "example %d of the rig: vertex %d is not finite",
                                 layer->first_example + k, bad);
        }
        if (layer->domain == EX_DOMAIN_TRAJECTORY) {
            ex_result result = exi_unpack_fill_paths(l->u, &l->paths, i, target, l->gather, rig, error);
            if (result != EX_OK)
                return result;
        }
        target += exi_has_targets(layer->domain) ? layer->example_count : 0;
    }
    return EX_OK;
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
    ex_result result = exi_unpack_check(rig, error);
    if (result == EX_OK)
        result = exi_unpack_check_sets(rig, &l->offsets, error);
    if (result != EX_OK)
        return result;
    exi_rig_offsets_fill(&l->offsets, rig);
    exi_rig_measure_pose(rig);
    exi_rig_paths_measure(rig);
    exi_rig_displacements_measure(rig);
    return fill_forms(rig, l, error);
}

/* The driver's sections, by layer and by example. */
static ex_result attach_driver(const exi_unpack *u, const ex_allocator *allocator, ex_rig **rig, ex_error *error) {
    if (u->counts.drivers == 0)
        return EX_OK;
    exi_size total = {0};
    const size_t regions_at = exi_size_add(&total, (size_t)u->counts.layers, sizeof(exi_bytes), 16);
    const size_t keys_at = exi_size_add(&total, (size_t)u->counts.examples, sizeof(exi_bytes), 16);
    char *memory = total.overflow ? NULL : exi_allocate(allocator, total.bytes);
    if (!memory)
        return exi_error_memory(error, "loading the rig", total.bytes);
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

/* ---- the entry point ---- */

ex_result ex_rig_unpack(const void *bytes, size_t size, const ex_rig_options *options, const ex_allocator *allocator,
                        ex_rig **rig, ex_error *error) {
    if (!bytes || !rig || (uintptr_t)bytes % 4 != 0 || (options && (unsigned)options->storage >= EX_STORAGE_COUNT))
        return exi_misuse_error(
            error, __func__, "no bytes, bytes that are not aligned to 4, unknown storage, or nowhere to put the rig");
    *rig = NULL;
    ex_error local = {0};
    error = error ? error : &local;
    exi_unpack u;
    ex_result result = exi_unpack_open(bytes, size, allocator, &u, error);
    if (result == EX_OK)
        result = exi_unpack_take_all(&u, error);
    if (result != EX_OK)
        return result;
    loading l = {.u = &u, .allocator = allocator, .options = options ? *options : (ex_rig_options){0}};
    ex_rig *made = NULL;
    result = open_loading(&l, error);
    if (result == EX_OK)
        result = find_meshes(&l, error);
    if (result == EX_OK)
        result = find_first_splits(&l, error);
    if (result == EX_OK)
        result = make_parts(&l, error);
    if (result == EX_OK)
        result = exi_rig_allocate(&l.contents, allocator, &made, error);
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
