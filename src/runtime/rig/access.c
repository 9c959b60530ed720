/*
 * Access to a rig. Indices out of range are misuse and give "", -1, NULL or zero.
 */
#include "runtime/base/result.h"
#include "runtime/rig/rig.h"

#include <string.h>

static bool has_rig(const ex_rig *rig, const char *function) {
    return exi_is_given(rig, function, "no rig");
}

bool exi_rig_has_layer(const ex_rig *rig, int layer, const char *function) {
    return rig && layer >= 0 && layer < rig->counts.layers ? true : exi_misuse(function, "no such layer");
}

static bool has_input(const ex_rig *rig, int input, const char *function) {
    return rig && input >= 0 && input < rig->counts.inputs ? true : exi_misuse(function, "no such input");
}

bool exi_rig_has_example(const ex_rig *rig, int layer, int example, const char *function) {
    if (!exi_rig_has_layer(rig, layer, function))
        return false;
    return example >= 0 && example < exi_rig_layers(rig)[layer].example_count ? true
                                                                              : exi_misuse(function, "no such example");
}

int ex_rig_vertex_count(const ex_rig *rig) {
    return has_rig(rig, __func__) ? rig->counts.vertices : 0;
}

int ex_rig_layer_count(const ex_rig *rig) {
    return has_rig(rig, __func__) ? rig->counts.layers : 0;
}

int ex_rig_example_count(const ex_rig *rig) {
    return has_rig(rig, __func__) ? rig->counts.examples : 0;
}

const char *ex_rig_layer_name(const ex_rig *rig, int layer) {
    return exi_rig_has_layer(rig, layer, __func__) ? exi_rig_string(rig, exi_rig_layers(rig)[layer].name) : "";
}

const ex_weigher *ex_rig_weigher(const ex_rig *rig, int layer) {
    return exi_rig_has_layer(rig, layer, __func__) ? exi_rig_at(rig, exi_rig_layers(rig)[layer].weigher) : NULL;
}

int ex_rig_first_example(const ex_rig *rig, int layer) {
    return exi_rig_has_layer(rig, layer, __func__) ? exi_rig_layers(rig)[layer].first_example : -1;
}

const char *ex_rig_example_name(const ex_rig *rig, int layer, int example) {
    if (!exi_rig_has_example(rig, layer, example, __func__))
        return "";
    const uint32_t *names = exi_rig_at(rig, rig->example_names);
    return exi_rig_string(rig, names[exi_rig_layers(rig)[layer].first_example + example]);
}

bool ex_rig_layer_muted(const ex_rig *rig, int layer) {
    return exi_rig_has_layer(rig, layer, __func__) && (exi_rig_layers(rig)[layer].flags & EXI_LAYER_MUTED) != 0;
}

/* ---- inputs ---- */

int ex_rig_input_count(const ex_rig *rig) {
    return has_rig(rig, __func__) ? rig->counts.inputs : 0;
}

const char *ex_rig_input_name(const ex_rig *rig, int input) {
    return has_input(rig, input, __func__) ? exi_rig_string(rig, exi_rig_inputs(rig)[input].name) : "";
}

const char *ex_rig_input_unit(const ex_rig *rig, int input) {
    return has_input(rig, input, __func__) ? exi_rig_string(rig, exi_rig_inputs(rig)[input].unit) : "";
}

ex_axis ex_rig_input_axis(const ex_rig *rig, int input) {
    return has_input(rig, input, __func__) ? exi_axis_restore(&exi_rig_inputs(rig)[input].axis) : (ex_axis){0};
}

ex_axis_source ex_rig_input_source(const ex_rig *rig, int input) {
    if (!has_input(rig, input, __func__))
        return (ex_axis_source){.joint = -1};
    const exi_input_record *record = &exi_rig_inputs(rig)[input];
    return (ex_axis_source){.joint = record->joint, .reading = exi_input_reading(record)};
}

int ex_rig_input_offset(const ex_rig *rig, int input) {
    return has_input(rig, input, __func__) ? exi_rig_inputs(rig)[input].offset : -1;
}

int ex_rig_input_find(const ex_rig *rig, const char *name) {
    if (!rig || !name) {
        exi_misuse(__func__, "no rig or no name");
        return -1;
    }
    for (int i = 0; i < rig->counts.inputs; i++)
        if (strcmp(name, ex_rig_input_name(rig, i)) == 0)
            return i;
    return -1;
}

int ex_rig_layer_input(const ex_rig *rig, int layer, int axis) {
    if (!exi_rig_has_layer(rig, layer, __func__))
        return -1;
    const exi_layer_record *record = &exi_rig_layers(rig)[layer];
    if (axis < 0 || axis >= record->axis_count) {
        exi_misuse(__func__, "no such axis");
        return -1;
    }
    return ((const int32_t *)exi_rig_at(rig, rig->axis_inputs))[record->first_axis + axis];
}

int ex_rig_pose_size(const ex_rig *rig) {
    return has_rig(rig, __func__) ? rig->pose_size : 0;
}

/* ---- skeleton ---- */

const ex_skeleton *ex_rig_skeleton(const ex_rig *rig) {
    return has_rig(rig, __func__) ? exi_rig_part(rig, rig->skeleton) : NULL;
}

const ex_skin *ex_rig_skin(const ex_rig *rig) {
    return has_rig(rig, __func__) ? exi_rig_part(rig, rig->skin) : NULL;
}

ex_skinning ex_rig_skinning(const ex_rig *rig) {
    return has_rig(rig, __func__) ? (ex_skinning)rig->counts.skinning : (ex_skinning)0;
}

int ex_rig_joint_count(const ex_rig *rig) {
    return has_rig(rig, __func__) ? rig->counts.joints : 0;
}

bool ex_rig_example_shifts(const ex_rig *rig, int layer, int example, float *shifts) {
    if (!exi_rig_has_example(rig, layer, example, __func__))
        return false;
    const size_t size = (size_t)rig->counts.joints * 3 * sizeof *shifts;
    const int number = exi_rig_layers(rig)[layer].first_example + example;
    const exi_shift_record *records = exi_rig_shifts(rig);
    for (int i = 0; i < rig->counts.shifts; i++)
        if (records[i].example == number) {
            memcpy(shifts, exi_rig_at(rig, records[i].data), size);
            return true;
        }
    memset(shifts, 0, size);
    return false;
}

/* ---- levels and meshes ---- */

const ex_stencils *ex_rig_stencils(const ex_rig *rig) {
    return has_rig(rig, __func__) ? exi_rig_part(rig, rig->stencils) : NULL;
}

int ex_rig_level_count(const ex_rig *rig) {
    return has_rig(rig, __func__) ? rig->counts.levels : 0;
}

ex_rig_refinement ex_rig_get_refinement(const ex_rig *rig) {
    return has_rig(rig, __func__) ? rig->refinement : (ex_rig_refinement){0};
}

int ex_rig_level(const ex_rig *rig) {
    return has_rig(rig, __func__) ? rig->counts.level : 0;
}

int ex_rig_level_vertex_count(const ex_rig *rig, int level) {
    if (!has_rig(rig, __func__))
        return 0;
    const ex_stencils *stencils = ex_rig_stencils(rig);
    if (level == 0)
        return rig->counts.vertices;
    return stencils && ex_stencils_has(stencils, level) ? ex_stencils_vertex_count(stencils, level) : 0;
}

ex_rig_mesh ex_rig_level_mesh(const ex_rig *rig, int level) {
    if (!has_rig(rig, __func__))
        return (ex_rig_mesh){0};
    if (ex_rig_level_vertex_count(rig, level) == 0) {
        exi_misuse(__func__, "no such level");
        level = 0;
    }
    const exi_level_record *l = &exi_rig_levels(rig)[level == EX_LEVEL_LIMIT ? rig->counts.levels : level];
    return (ex_rig_mesh){.vertex_count = l->vertices,
                         .split_count = l->splits,
                         .split_source = l->flags & EXI_RIG_SEAMS ? exi_rig_at(rig, l->sources) : NULL,
                         .texcoords = l->flags & EXI_RIG_TEXCOORDS ? exi_rig_at(rig, l->texcoords) : NULL,
                         .face_count = l->faces,
                         .corner_count = l->corners,
                         .face_sizes = exi_rig_at(rig, l->face_sizes),
                         .corners = exi_rig_at(rig, l->corner_splits),
                         .triangle_count = l->triangles,
                         .triangles = exi_rig_at(rig, l->triangle_splits)};
}

ex_rig_mesh ex_rig_get_mesh(const ex_rig *rig) {
    if (!has_rig(rig, __func__))
        return (ex_rig_mesh){0};
    ex_rig_mesh mesh = ex_rig_level_mesh(rig, 0);
    mesh.normals = rig->counts.flags & EXI_RIG_NORMALS ? exi_rig_at(rig, rig->normals) : NULL;
    return mesh;
}

void ex_rig_rest_mesh(const ex_rig *rig, float *positions) {
    if (!rig || !positions)
        exi_misuse(__func__, "no rig, or no pointer for the positions");
    else
        exi_forms_get_base(exi_rig_forms(rig), positions);
}

/* ---- textures ---- */

int ex_rig_texture_count(const ex_rig *rig) {
    return has_rig(rig, __func__) ? rig->counts.textures : 0;
}

ex_texture ex_rig_texture(const ex_rig *rig, int texture) {
    if (!rig || texture < 0 || texture >= rig->counts.textures) {
        exi_misuse(__func__, "no such texture");
        return (ex_texture){.name = ""};
    }
    const exi_texture_record *record = &exi_rig_textures(rig)[texture];
    return (ex_texture){.name = exi_rig_string(rig, record->name),
                        .width = record->width,
                        .height = record->height,
                        .srgb = record->srgb != 0};
}

int ex_rig_layer_texture(const ex_rig *rig, int layer) {
    return exi_rig_has_layer(rig, layer, __func__) ? exi_rig_layers(rig)[layer].texture : -1;
}

/* ---- the rest ---- */

ex_storage ex_rig_storage(const ex_rig *rig) {
    return has_rig(rig, __func__) ? (ex_storage)exi_rig_forms(rig)->storage : (ex_storage)0;
}

int ex_rig_attachment_count(const ex_rig *rig) {
    return has_rig(rig, __func__) ? rig->counts.notes : 0;
}

ex_attachment ex_rig_attachment(const ex_rig *rig, int note) {
    if (!rig || note < 0 || note >= rig->counts.notes) {
        exi_misuse(__func__, "no such note");
        return (ex_attachment){.kind = ""};
    }
    const exi_note_record *record = &exi_rig_notes(rig)[note];
    return (ex_attachment){.kind = record->kind, .data = exi_rig_at(rig, record->data), .size = (size_t)record->size};
}
