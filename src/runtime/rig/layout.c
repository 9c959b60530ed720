/*
 * Layout of a rig's block, and checks and tables shared by creation and unpacking: checks of a mesh, and its tables of
 * normals and tangents.
 */
#include "runtime/base/result.h"
#include "runtime/rig/domains/domain.h"

#include <math.h>
#include <string.h>

uint64_t exi_place(exi_placing *p, int count, size_t size) {
    return exi_size_add(&p->total, (size_t)count, size, 16);
}

uint64_t exi_place_part(exi_placing *p, const void *block) {
    size_t size = exi_part_size(block);
    if (size == 0)
        return 0;
    uint64_t offset = exi_size_add(&p->total, size, 1, EXI_ALIGN);
    if (p->rig)
        memcpy(exi_rig_at_mut(p->rig, offset), block, size);
    return offset;
}

static void place_records(exi_placing *p) {
    const exi_rig_counts *c = &p->head.counts;
    p->head.inputs = exi_place(p, c->inputs, sizeof(exi_input_record));
    p->head.layers = exi_place(p, c->layers, sizeof(exi_layer_record));
    p->head.notes = exi_place(p, c->notes, sizeof(exi_note_record));
    p->head.shifts = exi_place(p, c->shifts, sizeof(exi_shift_record));
    p->head.textures = exi_place(p, c->textures, sizeof(exi_texture_record));
    p->head.levels = exi_place(p, c->levels + 1, sizeof(exi_level_record));
    p->head.axis_inputs = exi_place(p, c->axes, sizeof(int32_t));
    p->head.parts = exi_place(p, c->layers, sizeof(uint64_t));
    p->head.example_names = exi_place(p, c->examples, sizeof(uint32_t));
    p->head.joint_names = exi_place(p, c->joints, sizeof(uint32_t));
    p->head.strings = exi_size_add(&p->total, c->string_size, 1, 16);
    p->head.normals = exi_place(p, c->flags & EXI_RIG_NORMALS ? c->splits : 0, 3 * sizeof(float));
}

static void place_level(exi_placing *p, const exi_making *m, int index) {
    exi_level_record level = m->levels[index];
    level.sources = exi_place(p, level.flags & EXI_RIG_SEAMS ? level.splits : 0, sizeof(uint32_t));
    level.face_sizes = exi_place(p, level.faces, sizeof(uint32_t));
    level.corner_splits = exi_place(p, level.corners, sizeof(uint32_t));
    level.triangle_splits = exi_place(p, level.triangles, 3 * sizeof(uint32_t));
    level.texcoords = exi_place(p, level.flags & EXI_RIG_TEXCOORDS ? level.splits : 0, 2 * sizeof(float));
    level.normals = exi_place_part(p, m->normals[index]);
    level.tangents = exi_place_part(p, m->tangents[index]);
    if (p->rig)
        ((exi_level_record *)exi_rig_at_mut(p->rig, p->rig->levels))[index] = level;
}

static void place_weighers(exi_placing *p, const exi_making *m) {
    exi_layer_record *layers = p->rig ? exi_rig_at_mut(p->rig, p->rig->layers) : NULL;
    for (int i = 0; i < m->counts.layers; i++) {
        uint64_t offset = exi_size_add(&p->total, m->weigher_sizes[i], 1, 16);
        if (!layers)
            continue;
        layers[i] = m->layers[i];
        layers[i].weigher = offset;
        layers[i].weigher_size = m->weigher_sizes[i];
        if (m->weighers[i])
            memcpy(exi_rig_at_mut(p->rig, offset), m->weighers[i], m->weigher_sizes[i]);
    }
}

static void place_notes_and_shifts(exi_placing *p, const exi_making *m) {
    exi_note_record *notes = p->rig ? exi_rig_at_mut(p->rig, p->rig->notes) : NULL;
    for (int i = 0; i < m->counts.notes; i++) {
        uint64_t offset = exi_size_add(&p->total, m->note_sizes[i], 1, 16);
        if (notes) {
            notes[i].data = offset;
            notes[i].size = m->note_sizes[i];
        }
    }
    exi_shift_record *shifts = p->rig ? exi_rig_at_mut(p->rig, p->rig->shifts) : NULL;
    for (int i = 0; i < m->counts.shifts; i++) {
        uint64_t offset = exi_place(p, m->counts.joints, 3 * sizeof(float));
        if (shifts)
            shifts[i].data = offset;
    }
}

/* Places the domains' data of all layers, then the blocks of the layers. */
static void place_domains(exi_placing *p, exi_making *m) {
    for (int d = 0; d < EX_DOMAIN_COUNT; d++)
        if (p->head.domains >> d & 1U && exi_domains[d]->place)
            exi_domains[d]->place(m, p);
    for (int l = 0; l < m->counts.layers; l++) {
        const uint64_t offset = exi_place_part(p, m->parts[l]);
        if (p->rig)
            ((uint64_t *)exi_rig_at_mut(p->rig, p->rig->parts))[l] = offset;
    }
}

static void place_all(exi_placing *p, exi_making *m, const ex_forms *forms) {
    p->total = (exi_size){.bytes = sizeof(ex_rig)};
    place_records(p);
    for (int i = 0; i <= m->counts.levels; i++)
        place_level(p, m, i);
    place_weighers(p, m);
    place_notes_and_shifts(p, m);
    p->head.skeleton = exi_place_part(p, m->skeleton);
    p->head.skin = exi_place_part(p, m->skin);
    p->head.stencils = exi_place_part(p, m->stencils);
    place_domains(p, m);
    p->head.forms = exi_size_add(&p->total, (size_t)forms->size, 1, EXI_ALIGN);
    p->head.size = p->total.bytes;
}

ex_result exi_making_allocate(exi_making *m, ex_rig **rig, ex_error *error) {
    ex_forms forms = {.vertex_count = m->counts.vertices,
                      .example_count = m->counts.forms + m->more_forms,
                      .storage = (int32_t)m->options.storage};
    bool fits = exi_forms_layout(&forms) && (size_t)forms.size == forms.size;
    exi_placing p = {.head = {.counts = m->counts, .refinement = m->refinement}};
    for (int l = 0; l < m->counts.layers; l++)
        p.head.domains |= 1U << m->layers[l].domain;
    place_all(&p, m, &forms);
    if (!fits || p.total.overflow)
        return ex_error_set(error, EX_ERROR_LIMIT, "the rig is too large for this machine's memory");
    ex_rig *made = exi_block_create(m->allocator, p.total.bytes);
    if (!made)
        return ex_error_memory(error, "the rig", p.total.bytes);
    *made = p.head;
    p.rig = made;
    place_all(&p, m, &forms);
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
                   : ex_error_set(error, EX_ERROR_DATA,
                                  "the mesh has %d split vertices for %d vertices, but no map between them",
                                  mesh->split_count, mesh->vertex_count);
    int64_t last = -1;
    for (int i = 0; i < mesh->split_count; i++) {
        int64_t source = mesh->split_source[i];
        if (source != last && source != last + 1)
            return ex_error_set(error, EX_ERROR_DATA, "split vertex %d comes from vertex %lld, out of order", i,
                                (long long)source);
        last = source;
    }
    if (last + 1 != mesh->vertex_count)
        return ex_error_set(error, EX_ERROR_DATA, "vertex %lld has no split vertex", (long long)(last + 1));
    return EX_OK;
}

static ex_result check_indices(const uint32_t *indices, size_t count, int limit, const char *what, ex_error *error) {
    for (size_t i = 0; i < count; i++)
        if (indices[i] >= (uint32_t)limit)
            return ex_error_set(error, EX_ERROR_DATA, "%s %zu refers to vertex %u, but there are %d", what, i,
                                (unsigned)indices[i], limit);
    return EX_OK;
}

static ex_result check_floats(const float *values, size_t count, int width, const char *what, ex_error *error) {
    for (size_t i = 0; values && i < count * (size_t)width; i++)
        if (!isfinite(values[i]))
            return ex_error_set(error, EX_ERROR_DATA, "%s %zu is not finite", what, i / (size_t)width);
    return EX_OK;
}

ex_result exi_rig_check_mesh(const ex_rig_mesh *mesh, ex_error *error) {
    if (mesh->vertex_count < 1)
        return ex_error_set(error, EX_ERROR_DATA, "the mesh has no vertices");
    if (mesh->split_count < mesh->vertex_count || mesh->face_count < 0 || mesh->corner_count < 0 ||
        mesh->triangle_count < 0)
        return ex_error_set(error, EX_ERROR_DATA, "the counts of the mesh contradict each other");
    ex_result result = check_sources(mesh, error);
    uint64_t corners = 0;
    for (int i = 0; result == EX_OK && i < mesh->face_count; i++) {
        corners += mesh->face_sizes[i];
        if (mesh->face_sizes[i] < 3)
            result = ex_error_set(error, EX_ERROR_DATA, "face %d has fewer than three corners", i);
    }
    if (result == EX_OK && corners != (uint64_t)mesh->corner_count)
        result = ex_error_set(error, EX_ERROR_DATA, "the faces have %llu corners, not %d", (unsigned long long)corners,
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

/* Converts faces to the layout of ex_normals: offsets, and corners that are source vertices. */
static ex_result make_normals(const ex_rig_mesh *mesh, const ex_allocator *allocator, ex_normals **normals,
                              ex_error *error) {
    exi_size total = {0};
    size_t offsets_at = exi_size_add(&total, (size_t)mesh->face_count + 1, sizeof(int), 8);
    size_t corners_at = exi_size_add(&total, (size_t)mesh->corner_count, sizeof(int), 8);
    char *memory = total.overflow ? NULL : exi_allocate(allocator, total.bytes);
    if (!memory)
        return ex_error_memory(error, "the normals", total.bytes);
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
