/*
 * How a rig's block is laid out, and what creation and unpacking share: checks on a mesh, and the tables of normals and
 * tangents that follow from it.
 */
#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/rig/rig.h"

#include <math.h>
#include <string.h>

/*
 * Everything is placed twice by the same function: once to learn the size, with rig NULL, and once to write offsets
 * into the records and to copy the parts in.
 */
typedef struct placing {
    const exi_rig_contents *contents;
    exi_size total;
    ex_rig head;
    ex_rig *rig; /* NULL: only count */
} placing;

static size_t place(placing *p, int count, size_t size) {
    return exi_size_add(&p->total, (size_t)count, size, 16);
}

/* A block of another room, copied in; 0 where there is none. */
static uint64_t place_part(placing *p, const void *block) {
    size_t size = exi_part_size(block);
    if (size == 0)
        return 0;
    uint64_t offset = exi_size_add(&p->total, size, 1, EXI_ALIGN);
    if (p->rig)
        memcpy(exi_rig_at_mut(p->rig, offset), block, size);
    return offset;
}

static void place_records(placing *p) {
    const exi_rig_counts *c = &p->head.counts;
    p->head.inputs = place(p, c->inputs, sizeof(exi_input_record));
    p->head.layers = place(p, c->layers, sizeof(exi_layer_record));
    p->head.notes = place(p, c->notes, sizeof(exi_note_record));
    p->head.shifts = place(p, c->shifts, sizeof(exi_shift_record));
    p->head.textures = place(p, c->textures, sizeof(exi_texture_record));
    p->head.images = place(p, p->contents->image_sizes ? c->examples : 0, sizeof(uint64_t));
    p->head.levels = place(p, c->levels + 1, sizeof(exi_level_record));
    p->head.axis_inputs = place(p, c->axes, sizeof(int32_t));
    p->head.weight_examples = place(p, p->contents->weights, sizeof(uint32_t));
    p->head.offset_counts = place(p, c->offsets > 0 ? c->examples : 0, sizeof(exi_offset_count));
    p->head.paths = place(p, c->trajectories > 0 ? c->layers : 0, sizeof(uint64_t));
    p->head.displacements = place(p, c->displacements > 0 ? c->layers : 0, sizeof(uint64_t));
    p->head.example_names = place(p, c->examples, sizeof(uint32_t));
    p->head.joint_names = place(p, c->joints, sizeof(uint32_t));
    p->head.strings = exi_size_add(&p->total, c->string_size, 1, 16);
    p->head.normals = place(p, c->flags & EXI_RIG_NORMALS ? c->splits : 0, 3 * sizeof(float));
}

static void place_level(placing *p, int index) {
    exi_level_record level = p->contents->levels[index];
    level.sources = place(p, level.flags & EXI_RIG_SEAMS ? level.splits : 0, sizeof(uint32_t));
    level.face_sizes = place(p, level.faces, sizeof(uint32_t));
    level.corner_splits = place(p, level.corners, sizeof(uint32_t));
    level.triangle_splits = place(p, level.triangles, 3 * sizeof(uint32_t));
    level.texcoords = place(p, level.flags & EXI_RIG_TEXCOORDS ? level.splits : 0, 2 * sizeof(float));
    level.normals = place_part(p, p->contents->normals ? p->contents->normals[index] : NULL);
    level.tangents = place_part(p, p->contents->tangents ? p->contents->tangents[index] : NULL);
    if (p->rig)
        ((exi_level_record *)exi_rig_at_mut(p->rig, p->rig->levels))[index] = level;
}

static void place_weighers_and_notes(placing *p) {
    const exi_rig_contents *from = p->contents;
    exi_layer_record *layers = p->rig ? exi_rig_at_mut(p->rig, p->rig->layers) : NULL;
    for (int i = 0; i < from->counts.layers; i++) {
        uint64_t offset = exi_size_add(&p->total, from->weigher_sizes[i], 1, 16);
        if (!layers)
            continue;
        layers[i].weigher = offset;
        layers[i].weigher_size = from->weigher_sizes[i];
        if (from->weighers)
            memcpy(exi_rig_at_mut(p->rig, offset), from->weighers[i], from->weigher_sizes[i]);
    }
    exi_note_record *notes = p->rig ? exi_rig_at_mut(p->rig, p->rig->notes) : NULL;
    for (int i = 0; i < from->counts.notes; i++) {
        uint64_t offset = exi_size_add(&p->total, from->note_sizes[i], 1, 16);
        if (notes) {
            notes[i].data = offset;
            notes[i].size = from->note_sizes[i];
        }
    }
}

static void place_shifts_and_images(placing *p) {
    const exi_rig_contents *from = p->contents;
    exi_shift_record *shifts = p->rig ? exi_rig_at_mut(p->rig, p->rig->shifts) : NULL;
    for (int i = 0; i < from->counts.shifts; i++) {
        uint64_t offset = place(p, from->counts.joints, 3 * sizeof(float));
        if (shifts)
            shifts[i].data = offset;
    }
    uint64_t *images = p->rig ? exi_rig_at_mut(p->rig, p->rig->images) : NULL;
    for (int i = 0; from->image_sizes && i < from->counts.examples; i++) {
        uint64_t offset = exi_size_add(&p->total, from->image_sizes[i], 1, 16);
        if (images)
            images[i] = from->image_sizes[i] > 0 ? offset : 0;
    }
}

static void place_paths(placing *p) {
    for (int i = 0; p->contents->paths && i < p->contents->counts.layers; i++) {
        const uint64_t offset = place_part(p, p->contents->paths[i]);
        if (p->rig)
            ((uint64_t *)exi_rig_at_mut(p->rig, p->rig->paths))[i] = offset;
    }
}

static void place_displacements(placing *p) {
    for (int i = 0; p->contents->displacements && i < p->contents->counts.layers; i++) {
        const uint64_t offset = place_part(p, p->contents->displacements[i]);
        if (p->rig)
            ((uint64_t *)exi_rig_at_mut(p->rig, p->rig->displacements))[i] = offset;
    }
}

static void place_all(placing *p, const ex_forms *forms) {
    p->total = (exi_size){.bytes = sizeof(ex_rig)};
    place_records(p);
    for (int i = 0; i <= p->contents->counts.levels; i++)
        place_level(p, i);
    place_weighers_and_notes(p);
    place_shifts_and_images(p);
    p->head.skeleton = place_part(p, p->contents->skeleton);
    p->head.skin = place_part(p, p->contents->skin);
    p->head.stencils = place_part(p, p->contents->stencils);
    for (int i = 0; i < EX_FRAME_COUNT; i++)
        p->head.patches[i] = place_part(p, p->contents->patches[i]);
    place_paths(p);
    place_displacements(p);
    p->head.forms = exi_size_add(&p->total, (size_t)forms->size, 1, EXI_ALIGN);
    p->head.size = p->total.bytes;
}

ex_result exi_rig_allocate(const exi_rig_contents *contents, const ex_allocator *allocator, ex_rig **rig,
                           ex_error *error) {
    ex_forms forms = {.vertex_count = contents->counts.vertices,
                      .example_count = contents->counts.forms + contents->path_forms,
                      .storage = (int32_t)contents->storage};
    bool fits = exi_forms_layout(&forms) && (size_t)forms.size == forms.size;
    placing p = {.contents = contents, .head = {.counts = contents->counts, .weights = contents->weights}};
    place_all(&p, &forms);
    if (!fits || p.total.overflow)
        return exi_error(error, EX_ERROR_LIMIT, "the rig is too large for this machine's memory");
    ex_rig *made = exi_block_create(allocator, p.total.bytes);
    if (!made)
        return exi_error_memory(error, "the rig", p.total.bytes);
    *made = p.head;
    p.rig = made;
    place_all(&p, &forms);
    *(ex_forms *)exi_rig_at_mut(made, made->forms) = forms;
    *rig = made;
    return EX_OK;
}

void exi_rig_measure_pose(ex_rig *rig) {
    rig->pose_size = 0;
    for (int i = 0; i < rig->counts.inputs; i++) {
        ex_axis axis = exi_axis_restore(&exi_rig_inputs(rig)[i].axis);
        rig->pose_size += exi_rig_inputs(rig)[i].offset >= 0 ? ex_axis_width(&axis) : 0;
    }
    rig->largest_dimension = 0;
    for (int i = 0; i < rig->counts.layers; i++) {
        int dimension = ex_weigher_dimension(ex_rig_weigher(rig, i));
        rig->largest_dimension = dimension > rig->largest_dimension ? dimension : rig->largest_dimension;
    }
}

/* ---- checks on a mesh ---- */

static ex_result check_sources(const ex_rig_mesh *mesh, ex_error *error) {
    if (!mesh->split_source)
        return mesh->split_count == mesh->vertex_count
                   ? EX_OK
                   : exi_error(error, EX_ERROR_DATA, "the mesh has %d split vertices for %d, and no map between them",
                               mesh->split_count, mesh->vertex_count);
    int64_t last = -1;
    for (int i = 0; i < mesh->split_count; i++) {
        int64_t source = mesh->split_source[i];
        if (source != last && source != last + 1)
            return exi_error(error, EX_ERROR_DATA, "split vertex %d comes from vertex %lld, out of order", i,
                             (long long)source);
        last = source;
    }
    if (last + 1 != mesh->vertex_count)
        return exi_error(error, EX_ERROR_DATA, "vertex %lld has no split vertex", (long long)(last + 1));
    return EX_OK;
}

static ex_result check_indices(const uint32_t *indices, size_t count, int limit, const char *what, ex_error *error) {
    for (size_t i = 0; i < count; i++)
        if (indices[i] >= (uint32_t)limit)
            return exi_error(error, EX_ERROR_DATA, "%s %zu refers to vertex %u of %d", what, i, (unsigned)indices[i],
                             limit);
    return EX_OK;
}

static ex_result check_floats(const float *values, size_t count, int width, const char *what, ex_error *error) {
    for (size_t i = 0; values && i < count * (size_t)width; i++)
        if (!isfinite(values[i]))
            return exi_error(error, EX_ERROR_DATA, "%s %zu is not finite", what, i / (size_t)width);
    return EX_OK;
}

ex_result exi_rig_check_mesh(const ex_rig_mesh *mesh, ex_error *error) {
    if (mesh->vertex_count < 1)
        return exi_error(error, EX_ERROR_DATA, "the mesh has no vertices");
    if (mesh->split_count < mesh->vertex_count || mesh->face_count < 0 || mesh->corner_count < 0 ||
        mesh->triangle_count < 0)
        return exi_error(error, EX_ERROR_DATA, "the counts of the mesh contradict each other");
    ex_result result = check_sources(mesh, error);
    uint64_t corners = 0;
    for (int i = 0; result == EX_OK && i < mesh->face_count; i++) {
        corners += mesh->face_sizes[i];
        if (mesh->face_sizes[i] < 3)
            result = exi_error(error, EX_ERROR_DATA, "face %d has fewer than three corners", i);
    }
    if (result == EX_OK && corners != (uint64_t)mesh->corner_count)
        result = exi_error(error, EX_ERROR_DATA, "the faces have %llu corners, not %d", (unsigned long long)corners,
                           mesh->corner_count);
    if (result == EX_OK)
        result = check_indices(mesh->corners, (size_t)mesh->corner_count, mesh->split_count, "corner", error);
    if (result == EX_OK)
        result = check_indices(mesh->triangles, 3 * (size_t)mesh->triangle_count, mesh->split_count, "triangle corner",
                               error);
    if (result == EX_OK)
        result = check_floats(mesh->texcoords, (size_t)mesh->split_count, 2, "texture coordinate", error);
    if (result == EX_OK)
        result = check_floats(mesh->normals, (size_t)mesh->split_count, 3, "normal", error);
    return result;
}

/* ---- normals and tangents ---- */

/* Faces as ex_normals wants them: offsets, and corners that are source vertices. */
static ex_result make_normals(const ex_rig_mesh *mesh, const ex_allocator *allocator, ex_normals **normals,
                              ex_error *error) {
    exi_size total = {0};
    size_t offsets_at = exi_size_add(&total, (size_t)mesh->face_count + 1, sizeof(int), 8);
    size_t corners_at = exi_size_add(&total, (size_t)mesh->corner_count, sizeof(int), 8);
    char *memory = total.overflow ? NULL : exi_allocate(allocator, total.bytes);
    if (!memory)
        return exi_error_memory(error, "the normals", total.bytes);
    int *offsets = (int *)(void *)(memory + offsets_at), *corners = (int *)(void *)(memory + corners_at);
    offsets[0] = 0;
    for (int f = 0; f < mesh->face_count; f++)
        offsets[f + 1] = offsets[f] + (int)mesh->face_sizes[f];
    for (int c = 0; c < mesh->corner_count; c++)
        corners[c] = (int)(mesh->split_source ? mesh->split_source[mesh->corners[c]] : mesh->corners[c]);
    ex_normals_def def = {.vertex_count = mesh->vertex_count,
                          .face_count = mesh->face_count,
                          .face_offsets = offsets,
                          .corners = corners,
                          .weighting = EX_NORMAL_BY_AREA};
    ex_result result = ex_normals_create(&def, allocator, normals, error);
    exi_release(allocator, memory, total.bytes);
    return result;
}

ex_result exi_rig_make_frames(const ex_rig_mesh *mesh, const ex_rig_options *options, const ex_allocator *allocator,
                              ex_normals **normals, ex_tangents **tangents, ex_error *error) {
    ex_result result = EX_OK;
    *normals = NULL;
    *tangents = NULL;
    if (options->without_normals || mesh->face_count == 0)
        return EX_OK;
    result = make_normals(mesh, allocator, normals, error);
    if (result == EX_OK && mesh->texcoords && mesh->triangle_count > 0 && !options->without_tangents) {
        ex_tangents_def def = {.vertex_count = mesh->vertex_count,
                               .split_count = mesh->split_count,
                               .split_source = mesh->split_source,
                               .texcoords = mesh->texcoords,
                               .triangle_count = mesh->triangle_count,
                               .triangles = mesh->triangles};
        result = ex_tangents_create(&def, allocator, tangents, error);
    }
    return result;
}
