/*
 * How a rig's block is laid out, and the checks on a mesh that creation and unpacking share.
 */
#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/rig/rig.h"

#include <math.h>

static size_t table(exi_size *total, int count, size_t size) {
    return exi_size_add(total, (size_t)count, size, 16);
}

/* Everything but weighers, notes and forms, whose sizes are not in the counts. */
static void place_tables(ex_rig *rig, exi_size *total) {
    const exi_rig_counts *c = &rig->counts;
    bool seams = (c->flags & EXI_RIG_SEAMS) != 0;
    rig->inputs = table(total, c->inputs, sizeof(exi_input_record));
    rig->layers = table(total, c->layers, sizeof(exi_layer_record));
    rig->notes = table(total, c->notes, sizeof(exi_note_record));
    rig->axis_inputs = table(total, c->axes, sizeof(int32_t));
    rig->example_names = table(total, c->examples, sizeof(uint32_t));
    rig->strings = exi_size_add(total, c->string_size, 1, 16);
    rig->sources = table(total, seams ? c->splits : 0, sizeof(uint32_t));
    rig->faces = table(total, c->faces, sizeof(uint32_t));
    rig->corners = table(total, c->corners, sizeof(uint32_t));
    rig->triangles = table(total, c->triangles, 3 * sizeof(uint32_t));
    rig->texcoords = table(total, c->flags & EXI_RIG_TEXCOORDS ? c->splits : 0, 2 * sizeof(float));
    rig->normals = table(total, c->flags & EXI_RIG_NORMALS ? c->splits : 0, 3 * sizeof(float));
}

ex_result exi_rig_allocate(const exi_rig_counts *counts, ex_storage storage, const size_t *weigher_sizes,
                           const size_t *note_sizes, const ex_allocator *allocator, ex_rig **rig, ex_error *error) {
    ex_rig head = {.counts = *counts};
    ex_forms forms = {.vertex_count = counts->vertices, .example_count = counts->examples, .storage = (int32_t)storage};
    exi_size total = {.bytes = sizeof head};
    place_tables(&head, &total);
    uint64_t variable = total.bytes;
    for (int i = 0; i < counts->layers; i++)
        exi_size_add(&total, weigher_sizes[i], 1, 16);
    for (int i = 0; i < counts->notes; i++)
        exi_size_add(&total, note_sizes[i], 1, 16);
    bool fits = exi_forms_layout(&forms) && (size_t)forms.size == forms.size;
    head.forms = exi_size_add(&total, (size_t)forms.size, 1, EXI_ALIGN);
    head.size = total.bytes;
    if (!fits || total.overflow)
        return exi_error(error, EX_ERROR_LIMIT, "the rig is too large for this machine's memory");
    ex_rig *made = exi_block_create(allocator, total.bytes);
    if (!made)
        return exi_error_memory(error, "the rig", total.bytes);
    *made = head;
    *(ex_forms *)exi_rig_at_mut(made, head.forms) = forms;
    exi_size place = {.bytes = (size_t)variable};
    exi_layer_record *layers = exi_rig_at_mut(made, head.layers);
    for (int i = 0; i < counts->layers; i++) {
        layers[i].weigher = exi_size_add(&place, weigher_sizes[i], 1, 16);
        layers[i].weigher_size = weigher_sizes[i];
    }
    exi_note_record *notes = exi_rig_at_mut(made, head.notes);
    for (int i = 0; i < counts->notes; i++) {
        notes[i].data = exi_size_add(&place, note_sizes[i], 1, 16);
        notes[i].size = note_sizes[i];
    }
    *rig = made;
    return EX_OK;
}

void exi_rig_measure_pose(ex_rig *rig) {
    rig->pose_size = 0;
    for (int i = 0; i < rig->counts.inputs; i++) {
        ex_axis axis = exi_axis_restore(&exi_rig_inputs(rig)[i].axis);
        rig->pose_size += ex_axis_width(&axis);
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
